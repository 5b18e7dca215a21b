// Poses of two neighbouring frames in textures, between which the shaders interpolate.

import type * as THREE from "three";
import type { Frame } from "../data/protocol";
import { bodyTexture, type RunUniforms } from "./uniforms";

interface Slot {
  texture: THREE.DataTexture;
  frame: Frame | null;
}

/** The two pose textures of a run. */
export class Poses {
  private readonly slots: [Slot, Slot];

  constructor(n: number, private readonly uniforms: RunUniforms) {
    this.slots = [0, 1].map(() => ({ texture: bodyTexture(n, 2, "float"), frame: null })) as [Slot, Slot];
  }

  /** Shows the state between `a` and `b`, `mix` from 0 to 1. */
  show(a: Frame, b: Frame | null, mix: number): void {
    const first = this.slots.find((s) => s.frame === a) ?? this.upload(this.slots.find((s) => s.frame !== b) ?? this.slots[0], a);
    let second = first;
    if (b && mix > 0) {
      const other = first === this.slots[0] ? this.slots[1] : this.slots[0];
      second = other.frame === b ? other : this.upload(other, b);
    }
    this.uniforms.uPoseA.value = first.texture;
    this.uniforms.uPoseB.value = second.texture;
    this.uniforms.uMix.value = second === first ? 0 : mix;
  }

  private upload(slot: Slot, frame: Frame): Slot {
    const data = slot.texture.image.data as unknown as Float32Array;
    const { position: p, rotation: q } = frame;
    for (let i = 0; i < frame.n; i++) {
      const at = 8 * i;
      data[at] = p[3 * i];
      data[at + 1] = p[3 * i + 1];
      data[at + 2] = p[3 * i + 2];
      data[at + 4] = q[4 * i];
      data[at + 5] = q[4 * i + 1];
      data[at + 6] = q[4 * i + 2];
      data[at + 7] = q[4 * i + 3];
    }
    slot.texture.needsUpdate = true;
    slot.frame = frame;
    return slot;
  }

  dispose(): void {
    for (const slot of this.slots) slot.texture.dispose();
  }
}
