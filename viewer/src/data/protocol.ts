// What `riprap view` sends: runs, models (geometry), frames (poses) and contacts. The functions here turn
// answers into typed values and reject what would be drawn wrongly or read out of range.

import { DataError } from "./errors";
import type { Rrb } from "./rrb";

export type Vec3 = [number, number, number];

/** Kind of a body in the models. */
export const Kind = { Stone: 0, Wall: 1, Driven: 2, Mechanism: 3, Node: 4 } as const;
export const KIND_NAMES = ["stone", "wall", "driven body", "body of a mechanism", "node of a flexible body"];

export type RunState = "running" | "finished" | "interrupted" | "failed" | "unknown";

/** Description of a run. Lengths in [m], times in [s]. */
export interface RunInfo {
  name: string;
  title: string | null;
  state: RunState;
  version: string;
  planar: boolean;
  up: Vec3;
  bounds: [Vec3, Vec3] | null;
  nFrames: number;
  /** Another number means that the run was started again or cut back. */
  generation: number;
  until: number | null;
  hasSeries: boolean;
}

/** Joint of a mechanism; bodies are indices, −1 is the world. */
export interface Joint {
  name: string;
  kind: string;
  parent: number;
  child: number;
  at: Vec3;
  axis: Vec3 | null;
}

/** Closed loop of a mechanism: two points that coincide. */
export interface Loop {
  name: string;
  kind: string;
  a: number;
  b: number;
  atA: Vec3;
  atB: Vec3;
}

export interface Mechanism {
  name: string;
  bodies: number[];
  joints: Joint[];
  loops: Loop[];
}

/** Flexible body: an outline [m] in the y, z plane of its nodes, swept along them. */
export interface Flexible {
  name: string;
  first: number;
  nodes: number;
  outline: [number, number][];
}

/** Geometry of all bodies, valid for all frames with its number. */
export interface Model {
  n: number;
  names: string[];
  materials: string[];
  mechanisms: Mechanism[];
  flexible: Flexible[];
  id: Uint32Array;
  kind: Uint8Array;
  material: Uint32Array;
  size: Float32Array;
  mass: Float32Array;
  radius: Float32Array;
  unbounded: Uint8Array;
  firstVertex: Uint32Array;
  vertex: Float32Array;
  firstTriangle: Uint32Array;
  triangle: Uint32Array;
  firstEdge: Uint32Array;
  edge: Uint32Array;
}

/** Poses and velocities of all bodies at one time. */
export interface Frame {
  time: number;
  model: number;
  n: number;
  position: Float32Array;
  rotation: Float32Array;
  velocity: Float32Array;
  angularVelocity: Float32Array;
  firstRopePoint: Uint32Array;
  ropePoint: Float32Array;
  tension: Float32Array;
  bytes: number;
}

/** Contacts of one frame; forces [N] act on the second body. */
export interface Contacts {
  time: number;
  m: number;
  point: Float32Array;
  force: Float32Array;
  normal: Float32Array;
  gap: Float32Array;
  bodies: Uint32Array;
  bytes: number;
}

/** History of one body, in order of time. Frames without the body are left out, and long runs are thinned. */
export interface History {
  time: Float64Array;
  position: Float32Array;
  velocity: Float32Array;
  angularVelocity: Float32Array;
  force: Float32Array;
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;
const text = (value: unknown, otherwise: string) => (typeof value === "string" ? value : otherwise);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

function vector(value: unknown): Vec3 | null {
  return Array.isArray(value) && value.length === 3 && value.every(isNumber) ? (value as Vec3) : null;
}

/** Reads the answer of `api/runs`. */
export function parseRuns(answer: unknown, path = "api/runs"): RunInfo[] {
  if (!isObject(answer) || !Array.isArray(answer.runs)) throw new DataError(`${path}: there is no list of runs`);
  if (answer.format !== undefined && answer.format !== 1) {
    throw new DataError(`${path}: format ${String(answer.format)} is not known to this viewer, which reads format 1`);
  }
  if (answer.runs.length === 0) throw new DataError(`${path}: there is no run to show`);
  return answer.runs.map((run, i) => parseRun(run, `${path}: run ${i}`));
}

function parseRun(run: unknown, what: string): RunInfo {
  if (!isObject(run)) throw new DataError(`${what} is not an object`);
  if (!Number.isSafeInteger(run.n_frames) || (run.n_frames as number) < 0) {
    throw new DataError(`${what}: \`n_frames\` is not a count`);
  }
  const corners = list(run.bounds).map(vector);
  const bounds = corners.length === 2 && corners[0] && corners[1] ? ([corners[0], corners[1]] as [Vec3, Vec3]) : null;
  const states = ["running", "finished", "interrupted", "failed"];
  return {
    name: text(run.name, "run"),
    title: typeof run.title === "string" ? run.title : null,
    state: states.includes(run.state as string) ? (run.state as RunState) : "unknown",
    version: text(run.version, ""),
    planar: run.planar === true,
    up: vector(run.up) ?? [0, 0, 1],
    bounds,
    nFrames: run.n_frames as number,
    generation: generationOf(run.generation),
    until: isNumber(run.until) ? run.until : null,
    hasSeries: run.has_series === true,
  };
}

/** Generation of a run; 0 if it is not given. */
export function generationOf(value: unknown): number {
  return Number.isSafeInteger(value) ? (value as number) : 0;
}

/** Checks that `starts` divides `total` rows among the bodies. */
function checkStarts(starts: Uint32Array, total: number, what: string): void {
  let last = 0;
  for (const start of starts) {
    if (start < last) throw new DataError(`${what} decreases`);
    last = start;
  }
  if (starts[0] !== 0 || last !== total) throw new DataError(`${what} does not cover its ${total} rows`);
}

function checkBelow(indices: Uint32Array, limit: number, what: string): void {
  for (const index of indices) {
    if (index >= limit) throw new DataError(`${what} contains ${index}, but there are only ${limit}`);
  }
}

/** Reads a model. */
export function parseModel(rrb: Rrb): Model {
  const n = rrb.rows("id");
  const names = list(rrb.header.names);
  const model: Model = {
    n,
    names: Array.from({ length: n }, (_, i) => text(names[i], `body ${i}`)),
    materials: list(rrb.header.materials).map((name, i) => text(name, `material ${i}`)),
    mechanisms: list(rrb.header.mechanisms).map((m) => parseMechanism(m, n)),
    flexible: list(rrb.header.flexible).flatMap((f) => parseFlexible(f, n)),
    id: rrb.u32("id", n),
    kind: rrb.u8("kind", n),
    material: rrb.u32("material", n),
    size: rrb.f32("size", n),
    mass: rrb.f32("mass", n),
    radius: rrb.f32("radius", n),
    unbounded: rrb.u8("unbounded", n),
    firstVertex: rrb.u32("first_vertex", n + 1),
    vertex: rrb.f32("vertex", -1, 3),
    firstTriangle: rrb.u32("first_triangle", n + 1),
    triangle: rrb.u32("triangle", -1, 3),
    firstEdge: rrb.u32("first_edge", n + 1),
    edge: rrb.u32("edge", -1, 2),
  };
  const vertices = model.vertex.length / 3;
  checkStarts(model.firstVertex, vertices, `${rrb.path}: \`first_vertex\``);
  checkStarts(model.firstTriangle, model.triangle.length / 3, `${rrb.path}: \`first_triangle\``);
  checkStarts(model.firstEdge, model.edge.length / 2, `${rrb.path}: \`first_edge\``);
  checkBelow(model.triangle, vertices, `${rrb.path}: \`triangle\``);
  checkBelow(model.edge, vertices, `${rrb.path}: \`edge\``);
  return model;
}

function bodyIndex(value: unknown, n: number): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < n ? (value as number) : -1;
}

function parseMechanism(value: unknown, n: number): Mechanism {
  const m = isObject(value) ? value : {};
  return {
    name: text(m.name, "mechanism"),
    bodies: list(m.bodies).map((b) => bodyIndex(b, n)).filter((b) => b >= 0),
    joints: list(m.joints).filter(isObject).map((j) => ({
      name: text(j.name, "joint"),
      kind: text(j.kind, ""),
      parent: bodyIndex(j.parent, n),
      child: bodyIndex(j.child, n),
      at: vector(j.at) ?? [0, 0, 0],
      axis: vector(j.axis),
    })),
    loops: list(m.loops).filter(isObject).map((l) => ({
      name: text(l.name, "loop"),
      kind: text(l.kind, ""),
      a: bodyIndex(l.a, n),
      b: bodyIndex(l.b, n),
      atA: vector(l.at_a) ?? [0, 0, 0],
      atB: vector(l.at_b) ?? [0, 0, 0],
    })),
  };
}

function parseFlexible(value: unknown, n: number): Flexible[] {
  if (!isObject(value)) return [];
  const first = bodyIndex(value.first, n);
  const nodes = Number.isSafeInteger(value.nodes) ? (value.nodes as number) : 0;
  if (first < 0 || nodes < 2 || first + nodes > n) return [];
  const outline = list(value.outline).filter(
    (p): p is [number, number] => Array.isArray(p) && p.length === 2 && p.every(isNumber),
  );
  return [{ name: text(value.name, "flexible body"), first, nodes, outline }];
}

/** Reads a frame. */
export function parseFrame(rrb: Rrb): Frame {
  const n = rrb.rows("position");
  const ropes = rrb.has("first_rope_point");
  const frame: Frame = {
    time: rrb.number("time"),
    model: rrb.number("model"),
    n,
    position: rrb.f32("position", n, 3),
    rotation: rrb.f32("rotation", n, 4),
    velocity: rrb.f32("velocity", n, 3),
    angularVelocity: rrb.f32("angular_velocity", n, 3),
    firstRopePoint: ropes ? rrb.u32("first_rope_point", -1) : new Uint32Array(0),
    ropePoint: ropes ? rrb.f32("rope_point", -1, 3) : new Float32Array(0),
    tension: ropes ? rrb.f32("tension", -1) : new Float32Array(0),
    bytes: rrb.bytes,
  };
  if (frame.firstRopePoint.length > 0) {
    checkStarts(frame.firstRopePoint, frame.ropePoint.length / 3, `${rrb.path}: \`first_rope_point\``);
  }
  return frame;
}

/** Reads contacts between `n` bodies. */
export function parseContacts(rrb: Rrb, n: number): Contacts {
  const m = rrb.rows("point");
  const contacts: Contacts = {
    time: rrb.number("time"),
    m,
    point: rrb.f32("point", m, 3),
    force: rrb.f32("force", m, 3),
    normal: rrb.f32("normal", m, 3),
    gap: rrb.f32("gap", m),
    bodies: rrb.u32("bodies", m, 2),
    bytes: rrb.bytes,
  };
  checkBelow(contacts.bodies, n, `${rrb.path}: \`bodies\``);
  return contacts;
}

/** Reads the history of a body. */
export function parseHistory(rrb: Rrb): History {
  const n = rrb.rows("time");
  return {
    time: rrb.f64("time", n),
    position: rrb.f32("position", n, 3),
    velocity: rrb.f32("velocity", n, 3),
    angularVelocity: rrb.f32("angular_velocity", n, 3),
    force: rrb.f32("force", n),
  };
}

/** Normal component of contact `c`'s force; 0 if it pulls [N]. */
export function normalForce(contacts: Contacts, c: number): number {
  const { force: f, normal: n } = contacts;
  return Math.max(0, f[3 * c] * n[3 * c] + f[3 * c + 1] * n[3 * c + 1] + f[3 * c + 2] * n[3 * c + 2]);
}
