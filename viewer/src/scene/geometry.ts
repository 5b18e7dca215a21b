// Geometry of a model, prepared once: one vertex buffer for all bodies, and lists of triangles and edges for
// stones and machines, for walls, and for the patches that show half-spaces: ground, and planes that are walls.

import { OCTAHEDRON_VERTICES, octahedra } from "./detail";
import { Kind, type Flexible, type Frame, type Model, type RunInfo, type Vec3 } from "../data/protocol";
import { turn } from "./pose";

/** Triangles and edges of a group of bodies, as indices into the common vertices. */
export interface Group {
  bodies: number[];
  triangle: Uint32Array<ArrayBuffer>;
  edge: Uint32Array<ArrayBuffer>;
}

/** Vertices of all bodies and the groups in which they are drawn. */
export interface Geometry {
  vertex: Float32Array<ArrayBuffer>;
  body: Uint32Array<ArrayBuffer>;
  solids: Group;
  walls: Group;
  ground: Group;
  /** Steep half-spaces: walls without bounds. */
  planes: Group;
  spheres: number[];
  /** Ids of moving bodies that contain stones and are drawn like walls. */
  containers: ReadonlySet<number>;
  /** Triangles of flexible bodies. */
  tubes: Uint32Array;
  /** First vertex of the octahedra that stand for distant solids. */
  firstOctahedron: number;
  /** Centre and half size of the box around each body, in its frame [m]. */
  centre: Float32Array;
  half: Float32Array;
}

/** What the drawing needs to know about the scene. */
export type SceneKind = Pick<RunInfo, "up" | "planar">;

/** A half-space is ground if its surface is less steep than 60°: the cosine of this angle. */
const GROUND_SLOPE = 0.5;

/** Prepares the geometry of a model at a frame. Half-spaces of planar scenes are ground, as their strips lie in the picture. `known` are the ids of the containers of an earlier model. */
export function prepare(model: Model, frame: Frame, kind: SceneKind, known: ReadonlySet<number> | null = null): Geometry {
  const { centre, half } = boxes(model);
  const containers = known
    ? new Set([...model.id.keys()].filter((i) => known.has(model.id[i])))
    : findContainers(model, frame, centre, half);
  const solids: number[] = [];
  const walls: number[] = [];
  const ground: number[] = [];
  const planes: number[] = [];
  const spheres: number[] = [];
  for (let i = 0; i < model.n; i++) {
    if (model.radius[i] > 0) spheres.push(i);
    else if (model.firstTriangle[i + 1] === model.firstTriangle[i]) continue;
    else if (model.unbounded[i]) (kind.planar || isGround(model, frame, i, kind.up) ? ground : planes).push(i);
    else if (model.kind[i] === Kind.Wall || containers.has(i)) walls.push(i);
    else solids.push(i);
  }
  const tubes = model.flexible.filter((f) => f.outline.length >= 3).map(tube);
  const merged = mergeVertices(model, gather(model, solids), tubes, octahedra(solids, centre, half));
  const ids = new Set([...containers].map((i) => model.id[i]));
  const [wallGroup, groundGroup, planeGroup] = [walls, ground, planes].map((bodies) => gather(model, bodies));
  return { ...merged, containers: ids, walls: wallGroup, ground: groundGroup, planes: planeGroup, spheres, centre, half };
}

/** Whether the patch of a half-space faces upwards. */
function isGround(model: Model, frame: Frame, body: number, up: Vec3): boolean {
  const [a, b, c] = [0, 1, 2].map((k) => {
    const v = model.triangle[3 * model.firstTriangle[body] + k];
    return Array.from(model.vertex.subarray(3 * v, 3 * v + 3));
  });
  const [u, w] = [b, c].map((p) => p.map((x, d) => x - a[d]));
  const normal = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
  const [x, y, z, s] = frame.rotation.subarray(4 * body, 4 * body + 4);
  const turned = turn([x, y, z, s], normal);
  const slope = turned.reduce((sum, n, d) => sum + n * up[d], 0) / (Math.hypot(...turned) || 1);
  return slope > GROUND_SLOPE;
}

/** Boxes of all bodies in their frames. */
function boxes(model: Model): { centre: Float32Array; half: Float32Array } {
  const centre = new Float32Array(3 * model.n);
  const half = new Float32Array(3 * model.n);
  for (let i = 0; i < model.n; i++) {
    for (let d = 0; d < 3; d++) {
      let low = Infinity;
      let high = -Infinity;
      for (let v = model.firstVertex[i]; v < model.firstVertex[i + 1]; v++) {
        const x = model.vertex[3 * v + d];
        if (x < low) low = x;
        if (x > high) high = x;
      }
      const empty = low > high;
      centre[3 * i + d] = empty ? 0 : (low + high) / 2;
      half[3 * i + d] = empty ? Math.max(model.radius[i], 0) : (high - low) / 2;
    }
  }
  return { centre, half };
}

/** Driven bodies and parts of mechanisms are drawn like walls if most stones are inside their boxes (drums, buckets). */
function findContainers(model: Model, frame: Frame, centre: Float32Array, half: Float32Array): Set<number> {
  const found = new Set<number>();
  const stones = [...model.kind.keys()].filter((i) => model.kind[i] === Kind.Stone);
  const sample = stones.filter((_, k) => k % Math.ceil(stones.length / 200) === 0);
  for (let i = 0; i < model.n; i++) {
    if (model.kind[i] !== Kind.Driven && model.kind[i] !== Kind.Mechanism) continue;
    const [x, y, z, w] = frame.rotation.subarray(4 * i, 4 * i + 4);
    const inside = sample.filter((s) => {
      const offset = [0, 1, 2].map((d) => frame.position[3 * s + d] - frame.position[3 * i + d]);
      const local = turn([-x, -y, -z, w], offset);
      return local.every((at, d) => Math.abs(at - centre[3 * i + d]) <= half[3 * i + d]);
    });
    if (2 * inside.length > sample.length) found.add(i);
  }
  return found;
}

/** Triangles and edges of some bodies, in their order. */
function gather(model: Model, bodies: number[]): Group {
  const count = (starts: Uint32Array) => bodies.reduce((sum, i) => sum + starts[i + 1] - starts[i], 0);
  const triangle = new Uint32Array(3 * count(model.firstTriangle));
  const edge = new Uint32Array(2 * count(model.firstEdge));
  let t = 0;
  let e = 0;
  for (const i of bodies) {
    const triangles = model.triangle.subarray(3 * model.firstTriangle[i], 3 * model.firstTriangle[i + 1]);
    const edges = model.edge.subarray(2 * model.firstEdge[i], 2 * model.firstEdge[i + 1]);
    triangle.set(triangles, t);
    edge.set(edges, e);
    t += triangles.length;
    e += edges.length;
  }
  return { bodies, triangle, edge };
}

interface Tube {
  vertex: number[];
  body: number[];
  triangle: number[];
}

/** Surface of a flexible body: the outline at each node, joined to the next node, closed at both ends. */
function tube({ first, nodes, outline }: Flexible): Tube {
  const k = outline.length;
  const surface: Tube = { vertex: [], body: [], triangle: [] };
  for (let node = 0; node < nodes; node++) {
    for (const [y, z] of outline) {
      surface.vertex.push(0, y, z);
      surface.body.push(first + node);
    }
  }
  for (let node = 0; node + 1 < nodes; node++) {
    for (let j = 0; j < k; j++) {
      const [a, b] = [node * k + j, node * k + ((j + 1) % k)];
      surface.triangle.push(a, b, b + k, a, b + k, a + k);
    }
  }
  const end = (nodes - 1) * k;
  for (let j = 1; j + 1 < k; j++) {
    surface.triangle.push(0, j + 1, j);
    surface.triangle.push(end, end + j, end + j + 1);
  }
  // An outline in clockwise order would turn the surface inside out.
  const area = outline.reduce((sum, [y, z], j) => sum + y * outline[(j + 1) % k][1] - z * outline[(j + 1) % k][0], 0);
  if (area < 0) for (let t = 0; t < surface.triangle.length; t += 3) swap(surface.triangle, t + 1, t + 2);
  return surface;
}

function swap(list: number[], i: number, j: number): void {
  [list[i], list[j]] = [list[j], list[i]];
}

/** Common vertices with the index of their body: those of the model, of flexible bodies and of octahedra. */
function mergeVertices(
  model: Model, solids: Group, tubes: Tube[], octahedra: Float32Array,
): Pick<Geometry, "vertex" | "body" | "solids" | "tubes" | "firstOctahedron"> {
  const own = model.vertex.length / 3;
  const firstOctahedron = own + tubes.reduce((sum, t) => sum + t.body.length, 0);
  const vertex = new Float32Array(3 * firstOctahedron + octahedra.length);
  const body = new Uint32Array(vertex.length / 3);
  vertex.set(octahedra, 3 * firstOctahedron);
  solids.bodies.forEach((i, k) => {
    const first = firstOctahedron + OCTAHEDRON_VERTICES * k;
    body.fill(i, first, first + OCTAHEDRON_VERTICES);
  });
  vertex.set(model.vertex);
  for (let i = 0; i < model.n; i++) body.fill(i, model.firstVertex[i], model.firstVertex[i + 1]);
  const triangle = new Uint32Array(solids.triangle.length + tubes.reduce((sum, t) => sum + t.triangle.length, 0));
  triangle.set(solids.triangle);
  let v = own;
  let t = solids.triangle.length;
  for (const surface of tubes) {
    vertex.set(surface.vertex, 3 * v);
    body.set(surface.body, v);
    triangle.set(surface.triangle.map((i) => i + v), t);
    v += surface.body.length;
    t += surface.triangle.length;
  }
  return { vertex, body, solids: { ...solids, triangle }, tubes: triangle.slice(solids.triangle.length), firstOctahedron };
}

/** Box around some bodies at a frame: lower and upper corner [m], or `null` if there are none. */
export function boundsOf(
  bodies: Iterable<number>, frame: Frame, geometry: Geometry,
): { low: [number, number, number]; high: [number, number, number] } | null {
  const low: [number, number, number] = [Infinity, Infinity, Infinity];
  const high: [number, number, number] = [-Infinity, -Infinity, -Infinity];
  const { position: p, rotation: q } = frame;
  for (const i of bodies) {
    const [x, y, z, w] = q.subarray(4 * i, 4 * i + 4);
    const rows = [
      [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
      [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
      [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ];
    for (let d = 0; d < 3; d++) {
      let middle = p[3 * i + d];
      let reach = 0;
      for (let e = 0; e < 3; e++) {
        middle += rows[d][e] * geometry.centre[3 * i + e];
        reach += Math.abs(rows[d][e]) * geometry.half[3 * i + e];
      }
      if (!Number.isFinite(middle)) continue;
      low[d] = Math.min(low[d], middle - reach);
      high[d] = Math.max(high[d], middle + reach);
    }
  }
  return low[0] <= high[0] ? { low, high } : null;
}
