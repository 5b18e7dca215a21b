// Meshes of the bodies: solids with edges, spheres, walls and ground. Order of drawing: ground, walls behind,
// lines inside, solids, edges, walls in front. Walls are drawn twice, before the solids and faintly after
// them, so that stones behind a wall stay visible.

import * as THREE from "three";
import type { Frame, Model } from "../data/protocol";
import type { Geometry, Group } from "./geometry";
import { Detail, MAX_FINE_TRIANGLES, type Viewer } from "./detail";
import {
  DEPTH_FRAGMENT, EDGE_FRAGMENT, FACE_FRAGMENT, GROUND_FRAGMENT, INSTANCE_VERTEX, PICK_FRAGMENT, SOLID_VERTEX,
} from "./shaders";

/** Order of drawing. */
export const ORDER = { background: -10, ground: 0, wallBehind: 1, lines: 2, depth: 3, solid: 4, edge: 5, wallFront: 6, overlay: 8 };

type Uniforms = Record<string, THREE.IUniform>;

/** Options of the drawing of bodies. */
export interface Look {
  /** Opacity of stones and machines, 0 to 1. */
  solidOpacity: number;
  /** Opacity of walls, 0 to 1. */
  wallOpacity: number;
  walls: boolean;
  ground: boolean;
  edges: boolean;
  cutting: boolean;
  planar: boolean;
}

function material(vertexShader: string, fragmentShader: string, uniforms: Uniforms, more: THREE.ShaderMaterialParameters = {}) {
  return new THREE.RawShaderMaterial({
    glslVersion: THREE.GLSL3, vertexShader, fragmentShader, uniforms, transparent: true, ...more,
  });
}

/** All meshes of one model. */
export class Bodies {
  readonly scene = new THREE.Group();
  /** Meshes that show the index of the body: first those that are picked first. */
  readonly pickSolids = new THREE.Scene();
  readonly pickWalls = new THREE.Scene();
  /** Meshes that cast shadows. */
  readonly casters = new THREE.Scene();
  private readonly detail: Detail;
  private readonly chosenFaces: THREE.BufferGeometry;
  private readonly chosenEdges: THREE.BufferGeometry;
  /** Groups with all details, and with those that are visible. */
  private readonly full: THREE.Group[] = [];
  private readonly reduced: THREE.Group[] = [];
  private readonly geometries: THREE.BufferGeometry[] = [];
  private readonly materials: THREE.Material[] = [];
  private readonly solidFaces: THREE.RawShaderMaterial[] = [];
  private readonly solidDepth: THREE.Mesh[] = [];
  private readonly plainDepth: THREE.RawShaderMaterial[] = [];
  private readonly edges: THREE.LineSegments[] = [];
  private readonly wallMeshes: THREE.Object3D[] = [];
  private readonly groundMeshes: THREE.Object3D[] = [];
  /** Faces of walls behind the solids, and the same ones in front of them. */
  private wallFaces: THREE.Material | null = null;
  private wallCover: THREE.Object3D | null = null;
  private readonly wallBehind: Uniforms;
  private readonly wallFront: Uniforms;
  private readonly opacity = { value: 1 };

  constructor(model: Model, readonly geometry: Geometry, private readonly uniforms: Uniforms) {
    this.wallBehind = { ...uniforms, uOpacity: { value: 0.4 } };
    this.wallFront = { ...uniforms, uOpacity: { value: 0.1 } };
    const vertices = new THREE.BufferAttribute(geometry.vertex, 3);
    const bodies = new THREE.BufferAttribute(geometry.body, 1);
    const make = (index: THREE.BufferAttribute) => {
      const g = this.own(new THREE.BufferGeometry());
      g.setAttribute("position", vertices);
      g.setAttribute("body", bodies);
      g.setIndex(index);
      return g;
    };
    const indices = (list: Uint32Array<ArrayBuffer>) => make(new THREE.BufferAttribute(list, 1));
    this.detail = new Detail(model, geometry);
    this.chosenFaces = make(this.detail.triangles);
    this.chosenEdges = make(this.detail.edges);
    this.addSolid(this.reduced, this.chosenFaces, SOLID_VERTEX, {});
    this.addEdges(this.reduced, this.chosenEdges);
    if (!this.isLarge) {
      this.addSolid(this.full, indices(geometry.solids.triangle), SOLID_VERTEX, {});
      this.addEdges(this.full, indices(geometry.solids.edge));
    }
    if (geometry.spheres.length > 0) {
      this.addSolid(this.always, this.own(spheres(model, geometry.spheres)), INSTANCE_VERTEX, { SMOOTH: 1 });
    }
    if (geometry.walls.triangle.length > 0) this.addWalls(geometry.walls, indices);
    if (geometry.ground.triangle.length > 0) this.addGround(indices(geometry.ground.triangle));
    if (geometry.planes.triangle.length > 0) this.addPlanes(indices(geometry.planes.triangle));
  }

  private readonly always: THREE.Group[] = [];

  /** Whether levels of detail are always used. */
  get isLarge(): boolean {
    return this.triangles > MAX_FINE_TRIANGLES;
  }

  /** Draws all details, or those chosen by `detail`; returns whether the latter are drawn. */
  reduce(on: boolean): boolean {
    const reduced = on || this.isLarge;
    for (const group of this.full) group.visible = !reduced;
    for (const group of this.reduced) group.visible = reduced;
    return reduced;
  }

  /** Chooses the levels of detail with at most `limit` triangles of full detail. */
  updateDetail(frame: Frame, viewer: Viewer, limit: number): void {
    this.detail.update(frame, viewer, limit);
    this.chosenFaces.setDrawRange(0, this.detail.nTriangles);
    this.chosenEdges.setDrawRange(0, this.detail.nEdges);
  }

  /** Group below `parent`, remembered in a set. */
  private group(set: THREE.Group[], parent: THREE.Object3D): THREE.Group {
    const group = new THREE.Group();
    set.push(group);
    parent.add(group);
    return group;
  }

  private own<G extends THREE.BufferGeometry>(geometry: G): G {
    this.geometries.push(geometry);
    return geometry;
  }

  private mesh(g: THREE.BufferGeometry, m: THREE.Material, order: number, parent: THREE.Object3D): THREE.Mesh {
    this.materials.push(m);
    const mesh = new THREE.Mesh(g, m);
    mesh.frustumCulled = false;
    mesh.renderOrder = order;
    parent.add(mesh);
    return mesh;
  }

  private addSolid(set: THREE.Group[], g: THREE.BufferGeometry, vertex: string, defines: Record<string, number>): void {
    const scene = this.group(set, this.scene);
    const uniforms = { ...this.uniforms, uOpacity: this.opacity };
    const face = material(vertex, FACE_FRAGMENT, uniforms, { defines: { ...defines, INSIDE: 1 } });
    face.polygonOffset = true;
    face.polygonOffsetFactor = 1;
    face.polygonOffsetUnits = 1;
    this.mesh(g, face, ORDER.solid, scene);
    this.solidFaces.push(face);
    const first = material(vertex, DEPTH_FRAGMENT, uniforms, { colorWrite: false, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
    this.solidDepth.push(this.mesh(g, first, ORDER.depth, scene));
    const pick = material(vertex, PICK_FRAGMENT, uniforms, { transparent: false });
    this.mesh(g, pick, 0, this.group(set, this.pickSolids));
    const caster = material(vertex, DEPTH_FRAGMENT, { ...uniforms }, { colorWrite: false, transparent: false });
    this.mesh(g, caster, 0, this.group(set, this.casters));
    this.plainDepth.push(first, pick, caster);
  }

  private addEdges(set: THREE.Group[], g: THREE.BufferGeometry): void {
    const m = material(SOLID_VERTEX, EDGE_FRAGMENT, this.uniforms, { depthWrite: false });
    this.materials.push(m);
    const lines = new THREE.LineSegments(g, m);
    lines.frustumCulled = false;
    lines.renderOrder = ORDER.edge;
    this.group(set, this.scene).add(lines);
    this.edges.push(lines);
  }

  private addWalls(group: Group, indices: (list: Uint32Array<ArrayBuffer>) => THREE.BufferGeometry): void {
    const faces = indices(group.triangle);
    const options = { side: THREE.DoubleSide, depthWrite: false, defines: { WALL: 1 } };
    const behind = material(SOLID_VERTEX, FACE_FRAGMENT, this.wallBehind, options);
    const front = material(SOLID_VERTEX, FACE_FRAGMENT, this.wallFront, options);
    this.wallFaces = behind;
    this.wallCover = this.mesh(faces, front, ORDER.wallFront, this.scene);
    this.wallMeshes.push(this.mesh(faces, behind, ORDER.wallBehind, this.scene));
    const lines = new THREE.LineSegments(indices(group.edge), material(SOLID_VERTEX, EDGE_FRAGMENT, this.uniforms, { depthWrite: false }));
    lines.frustumCulled = false;
    lines.renderOrder = ORDER.wallFront;
    this.materials.push(lines.material);
    this.scene.add(lines);
    this.wallMeshes.push(lines);
    this.mesh(faces, material(SOLID_VERTEX, PICK_FRAGMENT, this.uniforms, { transparent: false, side: THREE.DoubleSide }), 0, this.pickWalls);
  }

  private addGround(g: THREE.BufferGeometry): void {
    const offset = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 2 };
    const m = material(SOLID_VERTEX, GROUND_FRAGMENT, this.uniforms, offset);
    this.groundMeshes.push(this.mesh(g, m, ORDER.ground, this.scene));
    this.mesh(g, material(SOLID_VERTEX, PICK_FRAGMENT, this.uniforms, { transparent: false }), 0, this.pickWalls);
  }

  /** Walls without bounds: they fade at the border and receive no shadows, which would show where the patch ends. */
  private addPlanes(g: THREE.BufferGeometry): void {
    const m = material(SOLID_VERTEX, GROUND_FRAGMENT, this.wallBehind, { depthWrite: false, defines: { PLANE: 1 } });
    this.wallMeshes.push(this.mesh(g, m, ORDER.wallBehind, this.scene));
    this.mesh(g, material(SOLID_VERTEX, PICK_FRAGMENT, this.uniforms, { transparent: false }), 0, this.pickWalls);
  }

  private edgesWanted = true;

  /** Draws edges if they are wanted and affordable. */
  showEdges(affordable: boolean): void {
    for (const lines of this.edges) lines.visible = this.edgesWanted && affordable;
  }

  /** Number of triangles of stones and machines. */
  get triangles(): number {
    return this.geometry.solids.triangle.length / 3;
  }

  /** Applies the options of the drawing. */
  apply(look: Look): void {
    const inside = look.cutting || look.planar ? THREE.DoubleSide : THREE.FrontSide;
    const seeThrough = look.solidOpacity < 1;
    this.opacity.value = look.solidOpacity;
    for (const m of this.solidFaces) {
      m.side = inside;
      m.depthWrite = !seeThrough;
      if (look.planar && m.defines.INSIDE) {
        delete m.defines.INSIDE;
        m.defines.FLAT = 1;
        m.needsUpdate = true;
      }
    }
    for (const m of this.plainDepth) m.side = inside;
    for (const mesh of this.solidDepth) mesh.visible = seeThrough && look.solidOpacity > 0.01;
    this.edgesWanted = look.edges && look.solidOpacity > 0.6;
    for (const mesh of this.groundMeshes) mesh.visible = look.ground;
    for (const mesh of this.wallMeshes) mesh.visible = look.walls && look.wallOpacity > 0.01;
    this.wallBehind.uOpacity.value = look.wallOpacity;
    // In front of stones a wall is much fainter than beside them, except when it is solid and hides them.
    const solid = look.wallOpacity > 0.95 && !look.planar;
    if (this.wallFaces) this.wallFaces.depthWrite = solid;
    if (this.wallCover) this.wallCover.visible = look.walls && !solid && !look.planar;
    this.wallFront.uOpacity.value = 0.22 * look.wallOpacity;
  }

  dispose(): void {
    for (const g of this.geometries) g.dispose();
    for (const m of this.materials) m.dispose();
  }
}

/** Instances of a sphere, finer when there are few. */
function spheres(model: Model, bodies: number[]): THREE.InstancedBufferGeometry {
  const level = bodies.length > 20_000 ? 1 : bodies.length > 2000 ? 2 : bodies.length > 200 ? 4 : 8;
  const shape = new THREE.IcosahedronGeometry(1, level);
  const geometry = new THREE.InstancedBufferGeometry();
  geometry.setAttribute("position", shape.getAttribute("position"));
  geometry.setAttribute("instanceBody", new THREE.InstancedBufferAttribute(Uint32Array.from(bodies), 1));
  geometry.setAttribute("instanceCentre", new THREE.InstancedBufferAttribute(new Float32Array(3 * bodies.length), 3));
  const scale = Float32Array.from({ length: 3 * bodies.length }, (_, k) => model.radius[bodies[Math.floor(k / 3)]]);
  geometry.setAttribute("instanceScale", new THREE.InstancedBufferAttribute(scale, 3));
  geometry.instanceCount = bodies.length;
  return geometry;
}
