// Shadow map of the key light, drawn when the poses change.

import * as THREE from "three";
import type { RunUniforms } from "./uniforms";

const SIZE = 2048;

/** Shadow map of one run. */
export class Shadow {
  private readonly target: THREE.WebGLRenderTarget;
  private readonly camera = new THREE.OrthographicCamera();

  constructor() {
    const depth = new THREE.DepthTexture(SIZE, SIZE, THREE.UnsignedIntType);
    depth.compareFunction = THREE.LessEqualCompare;
    depth.minFilter = depth.magFilter = THREE.LinearFilter;
    this.target = new THREE.WebGLRenderTarget(SIZE, SIZE, { depthTexture: depth });
  }

  /** Draws the casters as seen from the light; `direction` points towards it. */
  draw(
    renderer: THREE.WebGLRenderer, casters: THREE.Scene, uniforms: RunUniforms, direction: THREE.Vector3,
    centre: THREE.Vector3, radius: number,
  ): void {
    const { camera } = this;
    camera.left = camera.bottom = -radius;
    camera.right = camera.top = radius;
    camera.near = 0;
    camera.far = 4 * radius;
    camera.position.copy(centre).addScaledVector(direction, 2 * radius);
    camera.up.set(Math.abs(direction.z) > 0.9 ? 1 : 0, 0, Math.abs(direction.z) > 0.9 ? 0 : 1);
    camera.lookAt(centre);
    camera.updateMatrixWorld();
    camera.updateProjectionMatrix();
    uniforms.uShadow.value = null;
    renderer.setRenderTarget(this.target);
    renderer.clear();
    renderer.render(casters, camera);
    renderer.setRenderTarget(null);
    uniforms.uShadow.value = this.target.depthTexture;
    uniforms.uShadowMatrix.value.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    // The bias is about one texel of depth at a slope of 45 degrees.
    uniforms.uShadowOn.value.set(1, 1 / SIZE, 1.2 / SIZE);
  }

  dispose(): void {
    this.target.depthTexture?.dispose();
    this.target.dispose();
  }
}
