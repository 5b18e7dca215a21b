// Levels of detail for large models: bodies that are large on the screen are drawn with their own faces, the
// others as octahedra with the same extents. The choice is made again when the camera or the frame changes.

import * as THREE from "three";
import type { Frame, Model } from "../data/protocol";
import type { Geometry } from "./geometry";

/** Triangles drawn with full detail; below this number everything is. */
export const MAX_FINE_TRIANGLES = 600_000;

/** Size on the screen from which a body is drawn with its own faces [pixels]. */
const FINE_PIXELS = 7;

const BUCKETS = 96;

/** The camera as the choice needs it. */
export interface Viewer {
  /** From world to clip coordinates. */
  matrix: THREE.Matrix4;
  /** Pixels per metre: at distance 1 m in perspective, everywhere otherwise. */
  scale: number;
  perspective: boolean;
}

/** Corners of an octahedron along the axes, and its faces. */
const CORNERS = [1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1];
const FACES = [0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5];
export const OCTAHEDRON_VERTICES = 6;

/** Vertices of an octahedron for each of `bodies`, in the frame of the body [m]. */
export function octahedra(bodies: number[], centre: Float32Array, half: Float32Array): Float32Array {
  const vertex = new Float32Array(CORNERS.length * bodies.length);
  bodies.forEach((i, k) => {
    for (let v = 0; v < CORNERS.length; v++) {
      // Larger than the box, so that the volume is about that of the body.
      vertex[CORNERS.length * k + v] = centre[3 * i + (v % 3)] + 1.2 * CORNERS[v] * half[3 * i + (v % 3)];
    }
  });
  return vertex;
}

/** Indices of what is drawn: faces of large bodies, octahedra of the others, and edges of the large ones. */
export class Detail {
  readonly triangles: THREE.BufferAttribute;
  readonly edges: THREE.BufferAttribute;
  /** Numbers of indices in use. */
  nTriangles = 0;
  nEdges = 0;
  private readonly bucket: Uint8Array;

  constructor(private readonly model: Model, private readonly geometry: Geometry) {
    const bodies = geometry.solids.bodies.length;
    const fine = Math.min(3 * MAX_FINE_TRIANGLES, geometry.solids.triangle.length);
    this.bucket = new Uint8Array(bodies);
    this.triangles = dynamic(new THREE.BufferAttribute(new Uint32Array(fine + FACES.length * bodies + geometry.tubes.length), 1));
    this.edges = dynamic(new THREE.BufferAttribute(new Uint32Array(2 * fine), 1));
  }

  /** Chooses the detail of every body, with at most `limit` triangles of full detail. */
  update(frame: Frame, viewer: Viewer, limit: number): void {
    const threshold = this.sort(frame, viewer, Math.min(limit, MAX_FINE_TRIANGLES));
    const { model, geometry } = this;
    const triangles = this.triangles.array as Uint32Array;
    const edges = this.edges.array as Uint32Array;
    triangles.set(geometry.tubes);
    let [t, e] = [geometry.tubes.length, 0];
    geometry.solids.bodies.forEach((i, k) => {
      if (this.bucket[k] < threshold) {
        const first = geometry.firstOctahedron + OCTAHEDRON_VERTICES * k;
        for (const corner of FACES) triangles[t++] = first + corner;
        return;
      }
      const faces = model.triangle.subarray(3 * model.firstTriangle[i], 3 * model.firstTriangle[i + 1]);
      triangles.set(faces, t);
      t += faces.length;
      const lines = model.edge.subarray(2 * model.firstEdge[i], 2 * model.firstEdge[i + 1]);
      if (e + lines.length > edges.length) return;
      edges.set(lines, e);
      e += lines.length;
    });
    [this.nTriangles, this.nEdges] = [t, e];
    publish(this.triangles, t);
    publish(this.edges, e);
  }

  /** Sorts bodies into buckets by size on the screen; returns the first bucket that is drawn fine. */
  private sort(frame: Frame, { matrix, scale, perspective }: Viewer, limit: number): number {
    const m = matrix.elements;
    const sums = new Float64Array(BUCKETS);
    this.geometry.solids.bodies.forEach((i, k) => {
      const [x, y, z] = [frame.position[3 * i], frame.position[3 * i + 1], frame.position[3 * i + 2]];
      const w = perspective ? m[3] * x + m[7] * y + m[11] * z + m[15] : 1;
      const right = Math.abs(m[0] * x + m[4] * y + m[8] * z + m[12]);
      const up = Math.abs(m[1] * x + m[5] * y + m[9] * z + m[13]);
      const pixels = (this.model.size[i] * scale) / Math.max(w, 1e-6);
      const margin = 1.15 * Math.abs(w) + this.model.size[i];
      const visible = w > 0 && right < margin && up < margin;
      this.bucket[k] = visible && pixels >= 1 ? Math.min(BUCKETS - 1, Math.floor(8 * Math.log2(pixels))) : 0;
      sums[this.bucket[k]] += this.model.firstTriangle[i + 1] - this.model.firstTriangle[i];
    });
    let threshold = BUCKETS;
    let total = 0;
    const last = Math.ceil(8 * Math.log2(FINE_PIXELS));
    while (threshold > last && total + sums[threshold - 1] <= limit) total += sums[--threshold];
    return threshold;
  }
}

function dynamic<A extends THREE.BufferAttribute>(attribute: A): A {
  attribute.setUsage(THREE.DynamicDrawUsage);
  return attribute;
}

/** Marks the first `count` numbers for upload. */
function publish(attribute: THREE.BufferAttribute, count: number): void {
  attribute.clearUpdateRanges();
  attribute.addUpdateRange(0, count);
  attribute.needsUpdate = true;
}
