// Lines of a frame: force chains, contact normals and forces, mechanisms, ropes and trails.

import { heat, machine, type Rgb } from "../colour/maps";
import { Kind, normalForce, type Contacts, type Model, type Vec3 } from "../data/protocol";
import { pointOf, positionOf, rotationOf, turn, type Shown } from "./pose";
import type { Ribbons } from "./ribbons";

const AXIS_COLOURS: Rgb[] = [[205, 66, 60], [66, 150, 70], [60, 105, 205]];
const JOINT: Rgb = [240, 140, 20];
const LOOP: Rgb = [200, 60, 160];
const ROPE: Rgb = [110, 84, 58];

/** Median of a sample of numbers, 0 if there are none. */
export function median(values: ArrayLike<number>): number {
  const step = Math.max(1, Math.floor(values.length / 1000));
  const sample: number[] = [];
  for (let i = 0; i < values.length; i += step) sample.push(values[i]);
  return sample.sort((a, b) => a - b)[sample.length >> 1] ?? 0;
}

/** Typical size of the stones [m]; of all bodies if there are none. */
export function typicalSize(model: Model): number {
  const stones = Array.from(model.size.filter((s, i) => model.kind[i] === Kind.Stone && s > 0));
  if (stones.length > 0) return median(stones);
  return median(Array.from(model.size.filter((s, i) => model.unbounded[i] === 0 && s > 0))) || 1;
}

/** Force chains: lines between the centres of touching bodies, or from a centre to a wall. */
export function addChains(out: Ribbons, model: Model, shown: Shown, contacts: Contacts, size: number, largest: number): void {
  for (let c = 0; c < contacts.m; c++) {
    const share = Math.min(1, normalForce(contacts, c) / (largest || 1));
    if (share < 0.004) continue;
    const ends = [contacts.bodies[2 * c], contacts.bodies[2 * c + 1]].map((i) =>
      model.kind[i] === Kind.Stone ? positionOf(shown, i) : contacts.point.subarray(3 * c, 3 * c + 3));
    out.add(ends[0], ends[1], 0.75 * size * share, heat(share));
  }
}

/** Contact normals, all of the same length [m]. */
export function addNormals(out: Ribbons, contacts: Contacts, size: number): void {
  for (let c = 0; c < contacts.m; c++) {
    const p = contacts.point.subarray(3 * c, 3 * c + 3);
    const n = contacts.normal.subarray(3 * c, 3 * c + 3);
    out.add(p, [0, 1, 2].map((d) => p[d] + 0.6 * size * n[d]), -2, [30, 140, 150]);
  }
}

/** Contact forces as arrows, the largest one four stones long. */
export function addForces(out: Ribbons, contacts: Contacts, size: number, largest: number): void {
  const scale = (4 * size) / (largest || 1);
  for (let c = 0; c < contacts.m; c++) {
    const p = contacts.point.subarray(3 * c, 3 * c + 3);
    const f = contacts.force.subarray(3 * c, 3 * c + 3);
    if (Math.hypot(f[0], f[1], f[2]) * scale < 0.05 * size) continue;
    out.addArrow(p, [0, 1, 2].map((d) => p[d] + scale * f[d]), -2.5, [200, 50, 50]);
  }
}

/** Largest normal force of a frame [N]. */
export function largestForce(contacts: Contacts): number {
  let largest = 0;
  for (let c = 0; c < contacts.m; c++) largest = Math.max(largest, normalForce(contacts, c));
  return largest;
}

/** Frames of the bodies of mechanisms. */
export function addAxes(out: Ribbons, model: Model, shown: Shown, size: number): void {
  for (const i of new Set(model.mechanisms.flatMap((m) => m.bodies))) {
    const p = positionOf(shown, i);
    const q = rotationOf(shown, i);
    AXIS_COLOURS.forEach((colour, d) => {
      const axis = [0, 0, 0];
      axis[d] = size;
      const v = turn(q, axis);
      out.addArrow(p, [p[0] + v[0], p[1] + v[1], p[2] + v[2]], -2.5, colour);
    });
  }
}

/** Joints (axes of rotation or sliding) and loops of mechanisms. */
export function addJoints(out: Ribbons, model: Model, shown: Shown, size: number): void {
  for (const { joints, loops } of model.mechanisms) {
    for (const joint of joints) {
      const p = pointOf(shown, joint.child, joint.at);
      addCross(out, p, 0.16 * size, JOINT);
      if (!joint.axis) continue;
      const v = joint.child < 0 ? joint.axis : turn(rotationOf(shown, joint.child), joint.axis);
      const end = (sign: number) => [0, 1, 2].map((d) => p[d] + sign * size * v[d]);
      if (joint.kind === "prismatic") out.addArrow(end(-0.6), end(0.6), -3, JOINT);
      else out.add(end(-0.6), end(0.6), -4, JOINT);
    }
    for (const loop of loops) {
      const a = pointOf(shown, loop.a, loop.atA);
      const b = pointOf(shown, loop.b, loop.atB);
      addCross(out, a, 0.2 * size, LOOP);
      addCross(out, b, 0.2 * size, LOOP);
      out.add(a, b, -3, LOOP);
    }
  }
}

function addCross(out: Ribbons, p: Vec3, half: number, colour: Rgb): void {
  for (let d = 0; d < 3; d++) {
    const [a, b] = [[...p], [...p]];
    a[d] -= half;
    b[d] += half;
    out.add(a, b, -3, colour);
  }
}

/** Ropes along their points. */
export function addRopes(out: Ribbons, shown: Shown, width: number): void {
  const { firstRopePoint: first, ropePoint: p } = shown.a;
  const moved = shown.b && shown.mix > 0 && shown.b.ropePoint.length === p.length ? shown.b.ropePoint : null;
  const at = (k: number) => [0, 1, 2].map((d) => {
    const x = p[3 * k + d];
    return moved ? x + shown.mix * (moved[3 * k + d] - x) : x;
  });
  for (let r = 0; r + 1 < first.length; r++) {
    for (let k = first[r]; k + 1 < first[r + 1]; k++) out.add(at(k), at(k + 1), width, ROPE);
  }
}

/** Trail of a picked body: points x, y, z in order of time. */
export function addTrail(out: Ribbons, points: Float32Array, end: number, number: number): void {
  const colour = machine(number);
  for (let k = 0; k + 1 < end; k++) {
    const a = points.subarray(3 * k, 3 * k + 3);
    const b = points.subarray(3 * k + 3, 3 * k + 6);
    if (Number.isFinite(a[0] + b[0])) out.add(a, b, -3, colour);
  }
}
