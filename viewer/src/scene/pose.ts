// Points of bodies in the world, evaluated between two frames as the shaders do.

import type { Frame, Vec3 } from "../data/protocol";

/** State shown: frame `a`, a share `mix` of the way to frame `b`. */
export interface Shown {
  a: Frame;
  b: Frame | null;
  mix: number;
}

/** Position of the frame of a body [m]. */
export function positionOf({ a, b, mix }: Shown, body: number): Vec3 {
  const at = (d: number) => {
    const p = a.position[3 * body + d];
    return b && mix > 0 ? p + mix * (b.position[3 * body + d] - p) : p;
  };
  return [at(0), at(1), at(2)];
}

/** Rotation of a body as a unit quaternion x, y, z, w. */
export function rotationOf({ a, b, mix }: Shown, body: number): [number, number, number, number] {
  const q = Array.from(a.rotation.subarray(4 * body, 4 * body + 4));
  if (b && mix > 0) {
    const r = b.rotation.subarray(4 * body, 4 * body + 4);
    const sign = q[0] * r[0] + q[1] * r[1] + q[2] * r[2] + q[3] * r[3] < 0 ? -1 : 1;
    for (let d = 0; d < 4; d++) q[d] += mix * (sign * r[d] - q[d]);
    const length = Math.hypot(...q) || 1;
    for (let d = 0; d < 4; d++) q[d] /= length;
  }
  return q as [number, number, number, number];
}

/** A vector of the frame of the body, in the world. */
export function turn([x, y, z, w]: readonly number[], v: readonly number[]): Vec3 {
  const t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])];
  return [
    v[0] + w * t[0] + y * t[2] - z * t[1],
    v[1] + w * t[1] + z * t[0] - x * t[2],
    v[2] + w * t[2] + x * t[1] - y * t[0],
  ];
}

/** A point of the frame of the body, in the world; the world itself is body −1. */
export function pointOf(shown: Shown, body: number, point: Vec3): Vec3 {
  if (body < 0) return point;
  const p = positionOf(shown, body);
  const d = turn(rotationOf(shown, body), point);
  return [p[0] + d[0], p[1] + d[1], p[2] + d[2]];
}
