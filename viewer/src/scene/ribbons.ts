// Lines of any width: instances of a quad that turns towards the camera.

import * as THREE from "three";
import type { Rgb } from "../colour/maps";
import { RIBBON_FRAGMENT, RIBBON_VERTEX } from "./shaders";
import type { SharedUniforms } from "./uniforms";

type Point = ArrayLike<number>;

/** A changing set of line segments. */
export class Ribbons {
  readonly mesh: THREE.Mesh;
  private geometry = new THREE.InstancedBufferGeometry();
  private readonly material: THREE.RawShaderMaterial;
  private capacity = 0;
  private count = 0;
  private a = new Float32Array(0);
  private b = new Float32Array(0);
  private width = new Float32Array(0);
  private colour = new Float32Array(0);

  constructor(uniforms: SharedUniforms, order: number, onTop = false) {
    this.material = new THREE.RawShaderMaterial({
      glslVersion: THREE.GLSL3, vertexShader: RIBBON_VERTEX, fragmentShader: RIBBON_FRAGMENT,
      uniforms: { ...uniforms }, transparent: true, side: THREE.DoubleSide, depthTest: !onTop, depthWrite: !onTop,
    });
    this.mesh = new THREE.Mesh(this.geometry, this.material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = order;
    this.reserve(64);
  }

  clear(): void {
    this.count = 0;
  }

  /** Adds a segment; `width` in [m] if positive, in pixels if negative; opacity 0 to 1. */
  add(a: Point, b: Point, width: number, [red, green, blue]: Rgb, opacity = 1): void {
    if (this.count === this.capacity) this.reserve(2 * this.capacity);
    const k = this.count++;
    for (let d = 0; d < 3; d++) {
      this.a[3 * k + d] = a[d];
      this.b[3 * k + d] = b[d];
    }
    this.width[k] = width;
    this.colour[4 * k] = red / 255;
    this.colour[4 * k + 1] = green / 255;
    this.colour[4 * k + 2] = blue / 255;
    this.colour[4 * k + 3] = opacity;
  }

  /** Adds an arrow: a shaft and two barbs. */
  addArrow(a: Point, b: Point, width: number, colour: Rgb): void {
    this.add(a, b, width, colour);
    const d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    const smallest = d.map(Math.abs).indexOf(Math.min(...d.map(Math.abs)));
    const e = [0, 0, 0];
    e[smallest] = 1;
    const s = [d[1] * e[2] - d[2] * e[1], d[2] * e[0] - d[0] * e[2], d[0] * e[1] - d[1] * e[0]];
    const scale = 0.12 * (Math.hypot(...d) / (Math.hypot(...s) || 1));
    for (const sign of [-1, 1]) {
      this.add(b, [0, 1, 2].map((i) => b[i] - 0.25 * d[i] + sign * scale * s[i]), width, colour);
    }
  }

  /** Sends the segments to the graphics card. */
  commit(): void {
    const g = this.geometry;
    for (const name of ["instanceA", "instanceB", "instanceWidth", "instanceColour"]) {
      const attribute = g.getAttribute(name) as THREE.BufferAttribute;
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, this.count * attribute.itemSize);
      attribute.needsUpdate = true;
    }
    g.instanceCount = this.count;
    this.mesh.visible = this.count > 0;
  }

  private reserve(capacity: number): void {
    const larger = (old: Float32Array, size: number) => {
      const data = new Float32Array(size * capacity);
      data.set(old);
      return data;
    };
    this.a = larger(this.a, 3);
    this.b = larger(this.b, 3);
    this.width = larger(this.width, 1);
    this.colour = larger(this.colour, 4);
    this.capacity = capacity;
    this.geometry.dispose();
    const g = new THREE.InstancedBufferGeometry();
    g.setAttribute("position", new THREE.Float32BufferAttribute([-1, 0, 0, 1, 0, 0, 1, 1, 0, -1, 1, 0], 3));
    g.setIndex([0, 1, 2, 0, 2, 3]);
    const instance = (name: string, data: Float32Array<ArrayBuffer>, size: number) => {
      const attribute = new THREE.InstancedBufferAttribute(data, size);
      attribute.setUsage(THREE.DynamicDrawUsage);
      g.setAttribute(name, attribute);
    };
    instance("instanceA", this.a as Float32Array<ArrayBuffer>, 3);
    instance("instanceB", this.b as Float32Array<ArrayBuffer>, 3);
    instance("instanceWidth", this.width as Float32Array<ArrayBuffer>, 1);
    instance("instanceColour", this.colour as Float32Array<ArrayBuffer>, 4);
    g.instanceCount = 0;
    this.geometry = g;
    this.mesh.geometry = g;
  }

  dispose(): void {
    this.geometry.dispose();
    this.material.dispose();
  }
}
