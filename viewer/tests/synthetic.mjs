// Synthetic runs with known positions, velocities and forces: stones fall into a box and come to rest, a
// linkage turns, a beam bends and a rope follows the linkage.
import { encodeRrb } from "./encode.mjs";

const G = 9.81;

/** Repeatable random numbers in [0, 1). */
function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const sub = (a, b) => a.map((x, i) => x - b[i]);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/** Convex hull of a few points in general position: every triple with all others on one side. */
function hull(points) {
  const triangles = [];
  for (let i = 0; i < points.length; i++)
    for (let j = i + 1; j < points.length; j++)
      for (let k = j + 1; k < points.length; k++) {
        const n = cross(sub(points[j], points[i]), sub(points[k], points[i]));
        const sides = points.filter((_, l) => l !== i && l !== j && l !== k).map((p) => dot(n, sub(p, points[i])));
        if (sides.every((s) => s < 0)) triangles.push([i, j, k]);
        else if (sides.every((s) => s > 0)) triangles.push([i, k, j]);
      }
  return triangles;
}

function edgesOf(triangles) {
  const edges = new Map();
  for (const t of triangles)
    for (let i = 0; i < 3; i++) {
      const [a, b] = [t[i], t[(i + 1) % 3]];
      edges.set(`${Math.min(a, b)} ${Math.max(a, b)}`, [a, b]);
    }
  return [...edges.values()];
}

/** Irregular polyhedron of unit size. */
function stoneShape(next) {
  const stretch = [0.85 + 0.3 * next(), 0.75 + 0.25 * next(), 0.6 + 0.3 * next()];
  const points = [];
  const n = 13 + Math.floor(4 * next());
  for (let i = 0; i < n; i++) {
    const z = 1 - (2 * i + 1) / n + 0.15 * (next() - 0.5);
    const angle = 2.39996 * i + 0.7 * (next() - 0.5);
    const r = Math.sqrt(Math.max(0, 1 - z * z));
    points.push([0.56 * stretch[0] * r * Math.cos(angle), 0.56 * stretch[1] * r * Math.sin(angle), 0.56 * stretch[2] * z]);
  }
  const triangle = hull(points);
  return { vertex: points, triangle, edge: edgesOf(triangle) };
}

/** Cuboid with half sizes, optionally displaced. */
function cuboid([x, y, z], [cx, cy, cz] = [0, 0, 0]) {
  const vertex = [];
  for (const k of [-1, 1]) for (const j of [-1, 1]) for (const i of [-1, 1]) vertex.push([cx + i * x, cy + j * y, cz + k * z]);
  const quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
  const triangle = quads.flatMap(([a, b, c, d]) => [[a, b, c], [a, c, d]]);
  const edge = [[0, 1], [1, 3], [3, 2], [2, 0], [4, 5], [5, 7], [7, 6], [6, 4], [0, 4], [1, 5], [2, 6], [3, 7]];
  return { vertex, triangle, edge };
}

function merge(shapes) {
  const all = { vertex: [], triangle: [], edge: [] };
  for (const s of shapes) {
    const first = all.vertex.length;
    all.vertex.push(...s.vertex);
    all.triangle.push(...s.triangle.map((t) => t.map((i) => i + first)));
    all.edge.push(...s.edge.map((t) => t.map((i) => i + first)));
  }
  return all;
}

function quaternion(axis, angle) {
  const s = Math.sin(angle / 2);
  return [axis[0] * s, axis[1] * s, axis[2] * s, Math.cos(angle / 2)];
}

/** A run with `stones` stones and `frames` frames, 0.02 s apart. `planar`, `bare` (no machine) and `wall` (a vertical half-space) are options. */
export class SyntheticRun {
  constructor({ name = "pour", title = "Pour into a box", stones = 1000, frames = 251, seed = 1, planar = false, bare = false, wall = false, materials = ["granite", "basalt", "steel", "rubber"],
    breaksAt = Infinity, state = "finished", generation } = {}) {
    Object.assign(this, { name, title, stones, frames, planar, breaksAt, state, generation, materials, dt: 0.02 });
    this.bodies = [];
    const next = random(seed);
    if (planar) this.addDiscs(next);
    else this.addStones(next);
    if (!bare && !planar) this.addMachine();
    if (wall) this.addWall();
  }

  add(body) {
    this.bodies.push({ kind: 0, material: 0, size: 0.02, mass: 0, radius: 0, unbounded: 0, shape: null, ...body });
    return this.bodies.length - 1;
  }

  addStones(next) {
    const shapes = Array.from({ length: 48 }, () => stoneShape(next));
    const d = 0.02;
    const side = Math.max(3, Math.round(Math.cbrt(this.stones * 1.6)));
    this.width = side * d;
    for (let i = 0; i < this.stones; i++) {
      const [ix, iy, iz] = [i % side, Math.floor(i / side) % side, Math.floor(i / side / side)];
      const scale = d * (0.8 + 0.5 * next());
      const base = shapes[Math.floor(next() * shapes.length)];
      const shift = (iz % 2) * 0.4;
      const rest = [
        (ix + 0.3 + shift + 0.3 * (next() - 0.5) - (side - 1) / 2 - 0.5) * d * 0.96,
        (iy + 0.3 + shift + 0.3 * (next() - 0.5) - (side - 1) / 2 - 0.5) * d * 0.96,
        (iz * 0.82 + 0.5 + 0.25 * (next() - 0.5)) * d,
      ];
      const axis = [next() - 0.5, next() - 0.5, next() - 0.5];
      const length = Math.hypot(...axis) || 1;
      this.add({
        name: `stone-${i}`, material: i % 7 === 0 ? 1 : 0, size: scale, mass: 2700 * 0.5 * scale ** 3,
        shape: { ...base, vertex: base.vertex.map((p) => p.map((x) => x * scale)) },
        fall: { rest, height: 0.05 + 1.5 * rest[2] + 0.02 * next(), axis: axis.map((x) => x / length), phase: 6 * next(), spin: 4 * (next() - 0.5), grid: [ix, iy, iz], side },
      });
    }
    const [w, t] = [this.width / 2, 0.004];
    const h = Math.max(0.06, Math.ceil(this.stones / side / side) * d * 0.82 * 0.5 + 0.02);
    const plates = [cuboid([t, w + t, h], [-w - t, 0, h]), cuboid([t, w + t, h], [w + t, 0, h]),
      cuboid([w, t, h], [0, -w - t, h]), cuboid([w, t, h], [0, w + t, h]), cuboid([w + 2 * t, w + 2 * t, t], [0, 0, -t])];
    this.add({ name: "box", kind: 1, material: 2, size: 2 * w, shape: merge(plates) });
    const g = 6 * this.width;
    this.add({
      name: "ground", kind: 1, material: 2, size: g, unbounded: 1, at: [0, 0, -2 * t],
      shape: { vertex: [[-g, -g, 0], [g, -g, 0], [g, g, 0], [-g, g, 0]], triangle: [[0, 1, 2], [0, 2, 3]], edge: [[0, 1], [1, 2], [2, 3], [3, 0]] },
    });
  }

  /** A half-space behind the box, and a machine before it that casts a shadow. */
  addWall() {
    const g = 4 * this.width;
    this.add({
      name: "cliff", kind: 1, material: 2, size: g, unbounded: 1, at: [0, 0.7 * this.width, 0],
      shape: { vertex: [[-g, 0, -g], [-g, 0, g], [g, 0, g], [g, 0, -g]].reverse(), triangle: [[0, 1, 2], [0, 2, 3]], edge: [[0, 1], [1, 2], [2, 3], [3, 0]] },
    });
  }

  addDiscs(next) {
    const side = Math.ceil(Math.sqrt(this.stones));
    this.width = side * 0.02;
    for (let i = 0; i < this.stones; i++) {
      const n = 7;
      const vertex = Array.from({ length: n }, (_, k) => [0.01 * Math.cos((2 * Math.PI * k) / n), 0.01 * Math.sin((2 * Math.PI * k) / n), 0]);
      const triangle = Array.from({ length: n - 2 }, (_, k) => [0, k + 1, k + 2]);
      this.add({
        name: `disc-${i}`, size: 0.02, mass: 0.01, shape: { vertex, triangle, edge: vertex.map((_, k) => [k, (k + 1) % n]) },
        fall: { rest: [(i % side) * 0.02, Math.floor(i / side) * 0.02, 0], height: 0, axis: [0, 0, 1], phase: next(), spin: 0, grid: [i % side, 0, 0], side },
      });
    }
  }

  addMachine() {
    const w = this.width;
    const z = 1.25 * w + 0.1;
    this.first = this.bodies.length;
    const bar = (length, y) => cuboid([length / 2, 0.05 * w, 0.04 * w], [length / 2, y, 0]);
    this.linkage = { z, ground: 0.8 * w, crank: 0.25 * w, coupler: 0.7 * w, rocker: 0.5 * w };
    for (const [name, length, y] of [["crank", this.linkage.crank, 0], ["coupler", this.linkage.coupler, 0.11 * w], ["rocker", this.linkage.rocker, 0]]) {
      this.add({ name, kind: 3, material: 2, size: length, mass: 1, shape: bar(length, y), link: name });
    }
    for (let i = 0; i < 8; i++) {
      this.add({ name: `ball-${i}`, kind: 0, material: 3, size: 0.03, mass: 0.1, radius: 0.015, ball: [(-0.45 + 0.13 * i) * w, -0.3 * w, z * 1.05] });
    }
    this.firstNode = this.bodies.length;
    for (let i = 0; i < 9; i++) this.add({ name: "beam", kind: 4, material: 3, size: 0.02, mass: 0.1, node: i });
  }

  /** Angles of the linkage at a time: crank, coupler and rocker, which close the loop. */
  linkageAt(t) {
    const { z, ground, crank, coupler, rocker } = this.linkage;
    const a = 1.2 * t;
    const origin = [-ground / 2, 0.2 * this.width, z];
    const p = [crank * Math.cos(a), crank * Math.sin(a)];
    const q = [ground - p[0], -p[1]];
    const d = Math.hypot(...q);
    const base = Math.atan2(q[1], q[0]);
    const inner = Math.acos((coupler ** 2 + d * d - rocker ** 2) / (2 * coupler * d));
    const b = base + inner;
    const end = [p[0] + coupler * Math.cos(b), p[1] + coupler * Math.sin(b)];
    const c = Math.atan2(end[1], end[0] - ground);
    const world = ([x, y]) => [origin[0] + x, origin[1], origin[2] + y];
    const pose = (angle) => quaternion([0, -1, 0], angle);
    return {
      crank: { at: world([0, 0]), rotation: pose(a) },
      coupler: { at: world(p), rotation: pose(b) },
      rocker: { at: world([ground, 0]), rotation: pose(c) },
      end: world(end),
    };
  }

  times(from) {
    const n = Math.max(0, this.frames - from);
    return encodeRrb({}, {
      time: [Float64Array.from({ length: n }, (_, i) => (from + i) * this.dt), [n]],
      model: [Uint32Array.from({ length: n }, (_, i) => (from + i >= this.breaksAt ? 1 : 0)), [n]],
    });
  }

  /** Description; without a frame the kind of scene is not known. */
  info() {
    const w = this.width / 2;
    const base = {
      name: this.name, title: this.title, state: this.state, version: "0.1.0", seed: 1, generation: this.generation,
      n_frames: this.frames, models: 1, until: 5, has_series: this.frames > 0,
    };
    if (this.frames === 0) return { ...base, planar: false, up: [0, 0, 1], gravity: [0, 0, 0], bounds: [[0, 0, 0], [0, 0, 0]] };
    const bounds = this.planar ? [[0, 0, 0], [2 * w, 2 * w, 0]] : [[-w, -w, 0], [w, w, 2 * w]];
    const up = this.planar ? [0, 1, 0] : [0, 0, 1];
    return { ...base, planar: this.planar, up, gravity: up.map((x) => -G * x), bounds };
  }

  mechanism() {
    if (this.first === undefined) return [];
    const [crank, coupler, rocker] = [this.first, this.first + 1, this.first + 2];
    const joint = (name, parent, child) => ({ name, kind: "revolute", parent, child, at: [0, 0, 0], axis: [0, 1, 0] });
    return [{
      name: "linkage", bodies: [crank, coupler, rocker],
      joints: [joint("drive", -1, crank), joint("pin", crank, coupler), joint("pivot", -1, rocker)],
      loops: [{ name: "closure", kind: "point", a: coupler, b: rocker, at_a: [this.linkage.coupler, 0, 0], at_b: [this.linkage.rocker, 0, 0] }],
    }];
  }

  /** Geometry; in model 1 the first stone has a new id, as if it had broken. */
  model(number) {
    const { bodies } = this;
    const n = bodies.length;
    const start = (key) => {
      const starts = new Uint32Array(n + 1);
      bodies.forEach((b, i) => (starts[i + 1] = starts[i] + (b.shape?.[key].length ?? 0)));
      return starts;
    };
    const [firstVertex, firstTriangle, firstEdge] = [start("vertex"), start("triangle"), start("edge")];
    const vertex = new Float32Array(3 * firstVertex[n]);
    const triangle = new Uint32Array(3 * firstTriangle[n]);
    const edge = new Uint32Array(2 * firstEdge[n]);
    bodies.forEach((b, i) => {
      if (!b.shape) return;
      b.shape.vertex.forEach((p, k) => vertex.set(p, 3 * (firstVertex[i] + k)));
      b.shape.triangle.forEach((t, k) => t.forEach((v, l) => (triangle[3 * (firstTriangle[i] + k) + l] = firstVertex[i] + v)));
      b.shape.edge.forEach((t, k) => t.forEach((v, l) => (edge[2 * (firstEdge[i] + k) + l] = firstVertex[i] + v)));
    });
    const column = (type, key) => [type.from(bodies, (b) => b[key]), [n]];
    const id = Uint32Array.from(bodies, (_, i) => 1000 + i);
    if (number === 1) id[0] = 5_000_000;
    const outline = Array.from({ length: 12 }, (_, i) => [0.008 * Math.cos((i * Math.PI) / 6), 0.008 * Math.sin((i * Math.PI) / 6)]);
    const flexible = this.firstNode === undefined ? [] : [{ name: "beam", first: this.firstNode, nodes: 9, outline }];
    return encodeRrb(
      { names: bodies.map((b) => b.name), materials: this.materials, mechanisms: this.mechanism(), flexible },
      {
        id: [id, [n]], kind: column(Uint8Array, "kind"), material: column(Uint32Array, "material"), size: column(Float32Array, "size"),
        mass: column(Float32Array, "mass"), radius: column(Float32Array, "radius"), unbounded: column(Uint8Array, "unbounded"),
        first_vertex: [firstVertex, [n + 1]], vertex: [vertex, [vertex.length / 3, 3]],
        first_triangle: [firstTriangle, [n + 1]], triangle: [triangle, [triangle.length / 3, 3]],
        first_edge: [firstEdge, [n + 1]], edge: [edge, [edge.length / 2, 2]],
      },
    );
  }

  /** Position, rotation and velocity of a body at a time. */
  motion(b, t) {
    if (b.fall) {
      const { rest, height, axis, phase, spin } = b.fall;
      const landing = Math.sqrt((2 * height) / G);
      const falling = t < landing;
      const flight = Math.min(t, landing);
      return {
        position: [rest[0], rest[1], rest[2] + height - 0.5 * G * flight * flight],
        rotation: quaternion(axis, phase + spin * flight),
        velocity: [0, 0, falling ? -G * t : 0],
        angular: falling ? axis.map((x) => x * spin) : [0, 0, 0],
      };
    }
    const still = { position: b.at ?? [0, 0, 0], rotation: [0, 0, 0, 1], velocity: [0, 0, 0], angular: [0, 0, 0] };
    if (b.link) {
      const { at, rotation } = this.linkageAt(t)[b.link];
      return { ...still, position: at, rotation, angular: [0, -1.2, 0] };
    }
    if (b.ball) return { ...still, position: [b.ball[0], b.ball[1] + 0.02 * Math.sin(3 * t + 40 * b.ball[0]), b.ball[2]] };
    if (b.node !== undefined) {
      const s = b.node / 8;
      const a = 0.5 * Math.sin(2 * t) * s;
      const x = (s - 0.5) * this.width;
      return { ...still, position: [x, -0.5 * this.width, this.linkage.z + 0.5 * a * s * this.width], rotation: quaternion([0, -1, 0], a) };
    }
    return still;
  }

  frame(k) {
    const n = this.bodies.length;
    const t = k * this.dt;
    const [position, velocity, angular] = [new Float32Array(3 * n), new Float32Array(3 * n), new Float32Array(3 * n)];
    const rotation = new Float32Array(4 * n);
    this.bodies.forEach((b, i) => {
      const m = this.motion(b, t);
      position.set(m.position, 3 * i);
      velocity.set(m.velocity, 3 * i);
      angular.set(m.angular, 3 * i);
      rotation.set(m.rotation, 4 * i);
    });
    const arrays = { position: [position, [n, 3]], rotation: [rotation, [n, 4]], velocity: [velocity, [n, 3]], angular_velocity: [angular, [n, 3]] };
    if (this.first !== undefined) {
      const points = [[-0.9 * this.width, 0.2 * this.width, this.linkage.z * 1.2], [0, 0.2 * this.width, this.linkage.z * 1.5], this.linkageAt(t).end];
      arrays.first_rope_point = [Uint32Array.of(0, 3), [2]];
      arrays.rope_point = [Float32Array.from(points.flat()), [3, 3]];
      arrays.tension = [Float32Array.of(120), [1]];
    }
    return encodeRrb({ time: t, step: 10 * k, model: k >= this.breaksAt ? 1 : 0 }, arrays);
  }

  /** Contacts between neighbours that have landed: the force is the weight above, scattered by the pair. */
  contactList(k) {
    const t = k * this.dt;
    const list = [];
    const landed = (i) => t >= Math.sqrt((2 * this.bodies[i].fall.height) / G);
    const box = this.stones;
    for (let i = 0; i < this.stones; i++) {
      if (!landed(i)) continue;
      const { grid: [x, y, z], side } = this.bodies[i].fall;
      const layer = side * side;
      const above = Math.floor((this.stones - i) / layer);
      const p = this.motion(this.bodies[i], t).position;
      if (z === 0) list.push({ a: box, b: i, point: [p[0], p[1], 0], normal: [0, 0, 1], force: 0.2 * above });
      for (const [step, ok] of [[1, x + 1 < side], [side, y + 1 < side], [layer, true]]) {
        const j = i + step;
        const scatter = ((Math.imul(i + 7 * step, 2654435761) >>> 0) % 1000) / 1000;
        if (!ok || j >= this.stones || !landed(j) || scatter < 0.35) continue;
        const q = this.motion(this.bodies[j], t).position;
        const d = sub(q, p);
        const normal = d.map((c) => c / Math.hypot(...d));
        list.push({ a: i, b: j, point: p.map((c, l) => (c + q[l]) / 2), normal, force: 0.2 * above * scatter ** 3 + 0.01 });
      }
    }
    return list;
  }

  contacts(k) {
    const list = this.planar ? [] : this.contactList(k);
    const m = list.length;
    return encodeRrb({ time: k * this.dt }, {
      point: [Float32Array.from(list.flatMap((c) => c.point)), [m, 3]],
      force: [Float32Array.from(list.flatMap((c) => c.normal.map((x) => x * c.force))), [m, 3]],
      normal: [Float32Array.from(list.flatMap((c) => c.normal)), [m, 3]],
      gap: [new Float32Array(m), [m]],
      bodies: [Uint32Array.from(list.flatMap((c) => [c.a, c.b])), [m, 2]],
    });
  }

  /** History of a body: at most 200 rows, without the frames in which it does not exist. */
  history(id) {
    const i = id === 5_000_000 ? 0 : id - 1000;
    const exists = (k) => i > 0 || (k >= this.breaksAt) === (id === 5_000_000);
    const step = Math.max(1, Math.ceil(this.frames / 200));
    const rows = Array.from({ length: Math.ceil(this.frames / step) }, (_, k) => k * step).filter(exists);
    const n = rows.length;
    const at = rows.map((k) => this.motion(this.bodies[i], k * this.dt));
    return encodeRrb({}, {
      time: [Float64Array.from(rows, (k) => k * this.dt), [n]],
      position: [Float32Array.from(at.flatMap((m) => m.position)), [n, 3]],
      velocity: [Float32Array.from(at.flatMap((m) => m.velocity)), [n, 3]],
      angular_velocity: [Float32Array.from(at.flatMap((m) => m.angular)), [n, 3]],
      force: [Float32Array.from(rows, (k) => Math.max(0, k * this.dt - 0.2)), [n]],
    });
  }

  series() {
    const rows = ["time [s],kinetic_energy [J],potential_energy [J],contacts [-],residual [-]"];
    for (let k = 0; k < this.frames; k++) {
      const t = k * this.dt;
      rows.push([t.toFixed(3), 2 * t * Math.exp(-4 * t), 1 + Math.exp(-3 * t), Math.round(this.stones * (1 - Math.exp(-5 * t)) * 2.2),
        1e-6 * (1 + 0.5 * Math.sin(40 * t))].join(","));
    }
    return `${rows.join("\n")}\n`;
  }

  summary() {
    return { bodies: this.bodies.length, steps: 10 * this.frames, wall_time: 12.5 };
  }
}
