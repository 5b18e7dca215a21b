// Values that all shaders share: the camera, the light, the cut planes, and per run the poses and colours.

import * as THREE from "three";
import { ROW } from "./shaders";

type Uniform<T> = { value: T };
const uniform = <T>(value: T): Uniform<T> => ({ value });

/** Values common to all runs on the page. */
export function sharedUniforms() {
  return {
    uCuts: uniform([0, 1, 2].map(() => new THREE.Vector4())),
    uLight: uniform(new THREE.Vector3(0, 0, 1)),
    uUpView: uniform(new THREE.Vector3(0, 1, 0)),
    uPixel: uniform(1),
    uPerspective: uniform(1),
    uNear: uniform(1e-3),
    uAccent: uniform(new THREE.Vector3(1, 0.45, 0.1)),
    uEdge: uniform(0.3),
    uGround: uniform(new THREE.Vector3(0.8, 0.8, 0.8)),
  };
}

export type SharedUniforms = ReturnType<typeof sharedUniforms>;

/** Values of one run. */
export function runUniforms() {
  return {
    uPoseA: uniform<THREE.Texture | null>(null),
    uPoseB: uniform<THREE.Texture | null>(null),
    uColours: uniform<THREE.Texture | null>(null),
    uMix: uniform(0),
    uPicked: uniform(-1),
    uShadow: uniform<THREE.Texture | null>(null),
    // On or off, size of a texel, bias of the depth.
    uShadowOn: uniform(new THREE.Vector3()),
    uShadowMatrix: uniform(new THREE.Matrix4()),
    uFitCentre: uniform(new THREE.Vector3()),
    uFitRadius: uniform(1),
    uGrid: uniform(1),
    uGridU: uniform(new THREE.Vector3(1, 0, 0)),
    uGridV: uniform(new THREE.Vector3(0, 1, 0)),
  };
}

export type RunUniforms = ReturnType<typeof runUniforms>;

/** Texture with `texels` texels per body. */
export function bodyTexture(n: number, texels: number, type: "float" | "byte"): THREE.DataTexture {
  const width = ROW * texels;
  const height = Math.max(1, Math.ceil(n / ROW));
  const data = type === "float" ? new Float32Array(4 * width * height) : new Uint8Array(4 * width * height);
  const kind = type === "float" ? THREE.FloatType : THREE.UnsignedByteType;
  const texture = new THREE.DataTexture(data, width, height, THREE.RGBAFormat, kind);
  texture.minFilter = texture.magFilter = THREE.NearestFilter;
  texture.generateMipmaps = false;
  return texture;
}
