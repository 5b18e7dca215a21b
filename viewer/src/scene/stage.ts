// The canvas: renderer, background, light, and one view per run side by side with a common camera.

import * as THREE from "three";
import { OrbitCamera } from "../camera";
import { LEVELS, type Quality } from "../quality";
import type { Bounds, World } from "./world";
import { BACKGROUND_FRAGMENT, BACKGROUND_VERTEX } from "./shaders";
import { sharedUniforms } from "./uniforms";

/** Colours of a theme as shares of red, green and blue. */
export interface StageTheme {
  top: [number, number, number];
  bottom: [number, number, number];
  ground: [number, number, number];
  edge: number;
}

const GAP = 2;

/** Draws all runs. */
export class Stage {
  readonly shared = sharedUniforms();
  readonly camera = new OrbitCamera();
  readonly renderer: THREE.WebGLRenderer;
  readonly worlds: World[] = [];
  /** Quality of the next picture. */
  quality: Quality = LEVELS[0];
  shadows = true;
  /** Width and height of the canvas [CSS pixels]. */
  width = 1;
  height = 1;
  private readonly background = new THREE.Scene();
  private readonly backgroundUniforms = { uTop: { value: new THREE.Vector3() }, uBottom: { value: new THREE.Vector3() } };
  private readonly pickTarget = new THREE.WebGLRenderTarget(1, 1);
  private detailTime = 0;
  private detailStale = true;

  /** Fails if there is no WebGL 2. */
  constructor(readonly canvas: HTMLCanvasElement, antialias: boolean) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias, alpha: false, powerPreference: "high-performance" });
    this.renderer.autoClear = false;
    this.renderer.sortObjects = true;
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
    const triangle = new THREE.BufferGeometry();
    triangle.setAttribute("position", new THREE.Float32BufferAttribute([-1, -1, 0, 3, -1, 0, -1, 3, 0], 3));
    const sky = new THREE.Mesh(triangle, new THREE.RawShaderMaterial({
      glslVersion: THREE.GLSL3, vertexShader: BACKGROUND_VERTEX, fragmentShader: BACKGROUND_FRAGMENT,
      uniforms: this.backgroundUniforms, depthTest: false, depthWrite: false,
    }));
    sky.frustumCulled = false;
    this.background.add(sky);
  }

  setTheme(theme: StageTheme): void {
    this.backgroundUniforms.uTop.value.set(...theme.top);
    this.backgroundUniforms.uBottom.value.set(...theme.bottom);
    this.shared.uGround.value.set(...theme.ground);
    this.shared.uEdge.value = theme.edge;
  }

  resize(width: number, height: number, ratio: number): void {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.ratio = ratio;
    this.renderer.setPixelRatio(ratio * this.quality.resolution);
    this.renderer.setSize(this.width, this.height, false);
    this.detailStale = true;
  }

  /** Cut planes: normal and offset each; a zero normal cuts nothing. */
  setCuts(cuts: [number, number, number, number][]): void {
    cuts.forEach((cut, i) => this.shared.uCuts.value[i].set(...cut));
  }

  /** Asks for a choice of levels of detail at the next picture. */
  markDetail(): void {
    this.detailStale = true;
  }

  /** Moves the camera so that everything is seen. */
  fit(bounds: Bounds): void {
    for (const world of this.worlds) world.setReach(bounds, this.camera.up());
    this.camera.fit(bounds.low, bounds.high, this.tile(0).width / this.height);
  }

  /** Part of the canvas for run `i` [CSS pixels from the left]. */
  tile(i: number): { left: number; width: number } {
    const n = Math.max(1, this.worlds.length);
    const width = (this.width - GAP * (n - 1)) / n;
    return { left: i * (width + GAP), width: Math.max(1, width) };
  }

  private ratio = 1;

  /** Changes the quality of the next picture. */
  setQuality(quality: Quality): void {
    if (quality === this.quality) return;
    this.quality = quality;
    this.resize(this.width, this.height, this.ratio);
    this.detailTime = -Infinity;
  }

  /** Draws the picture. Returns whether another one is needed for levels of detail. */
  render(now: number): boolean {
    const { renderer } = this;
    const direction = this.lightDirection();
    const detail = this.detailStale && now - this.detailTime > 120;
    for (const [i, world] of this.worlds.entries()) {
      const { bodies } = world;
      const reduced = bodies?.reduce(bodies.triangles > this.quality.triangles) ?? false;
      bodies?.showEdges(this.quality.edges);
      if (detail && reduced) this.updateDetail(world, this.prepareCamera(i));
      world.updateShadow(renderer, this.shadows && this.quality.shadows, direction);
    }
    if (detail) {
      this.detailTime = now;
      this.detailStale = false;
    }
    renderer.setScissorTest(true);
    for (const [i, world] of this.worlds.entries()) {
      const { left, width } = this.tile(i);
      renderer.setViewport(left, 0, width, this.height);
      renderer.setScissor(left, 0, width, this.height);
      renderer.clear();
      const camera = this.prepareCamera(i);
      renderer.render(this.background, camera);
      renderer.render(world.scene, camera);
    }
    renderer.setScissorTest(false);
    return this.detailStale && this.worlds.some((w) => w.bodies?.isLarge);
  }

  private updateDetail(world: World, camera: THREE.Camera): void {
    const height = this.height * this.renderer.getPixelRatio();
    const perspective = camera instanceof THREE.PerspectiveCamera;
    world.updateDetail({
      matrix: new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse),
      scale: (height / 2) * camera.projectionMatrix.elements[5],
      perspective,
    }, this.quality.triangles);
  }

  /** The key light comes from the upper left of the picture. */
  private lightDirection(): THREE.Vector3 {
    const { x, z } = this.camera.axes();
    const up = this.camera.up();
    const level = z.clone().addScaledVector(up, -z.dot(up));
    if (level.lengthSq() < 1e-6) level.copy(this.camera.axes().y).negate();
    level.normalize();
    // Turned in steps, so that shadows do not follow every movement of the camera.
    const angle = Math.round(Math.atan2(level.y, level.x) / 0.8) * 0.8;
    const steady = Math.abs(up.z) > 0.99 ? new THREE.Vector3(Math.cos(angle), Math.sin(angle), 0) : level;
    const side = Math.abs(up.z) > 0.99 ? new THREE.Vector3().crossVectors(up, steady) : x;
    const direction = steady.clone().multiplyScalar(0.45).addScaledVector(side, -0.5).addScaledVector(up, 1).normalize();
    if (!this.lastLight.equals(direction)) {
      this.lastLight.copy(direction);
      for (const world of this.worlds) world.updateShadow(this.renderer, false, direction);
    }
    return direction;
  }

  private readonly lastLight = new THREE.Vector3();

  /** Camera and values of the shaders for the view of run `i`. */
  prepareCamera(i: number): THREE.PerspectiveCamera | THREE.OrthographicCamera {
    const aspect = this.tile(i).width / this.height;
    const reach = Math.max(...this.worlds.map((w) => w.reach), 1e-9);
    const camera = this.camera.camera(aspect, reach);
    const { shared } = this;
    shared.uLight.value.copy(this.lastLight).transformDirection(camera.matrixWorldInverse);
    shared.uUpView.value.copy(this.camera.up()).transformDirection(camera.matrixWorldInverse);
    shared.uPerspective.value = this.camera.orthographic ? 0 : 1;
    shared.uNear.value = camera.near;
    const pixels = this.height * this.renderer.getPixelRatio();
    shared.uPixel.value = (this.renderer.getPixelRatio() * 2) / camera.projectionMatrix.elements[5] / pixels;
    return camera;
  }

  /** Run and body at a point of the canvas [CSS pixels], or `null`. */
  pick(x: number, y: number): { run: number; body: number } | null {
    for (const [i, world] of this.worlds.entries()) {
      const { left, width } = this.tile(i);
      if (x < left || x >= left + width || !world.bodies) continue;
      const camera = this.prepareCamera(i);
      camera.setViewOffset(Math.round(width), Math.round(this.height), Math.floor(x - left), Math.floor(y), 1, 1);
      camera.updateProjectionMatrix();
      const body = this.bodyAt(world.bodies.pickSolids, camera) ?? this.bodyAt(world.bodies.pickWalls, camera);
      camera.clearViewOffset();
      return body === null ? null : { run: i, body };
    }
    return null;
  }

  private bodyAt(scene: THREE.Scene, camera: THREE.Camera): number | null {
    const { renderer } = this;
    renderer.setRenderTarget(this.pickTarget);
    renderer.setClearColor(0, 0);
    renderer.clear();
    renderer.render(scene, camera);
    const pixel = new Uint8Array(4);
    renderer.readRenderTargetPixels(this.pickTarget, 0, 0, 1, 1, pixel);
    renderer.setRenderTarget(null);
    const index = pixel[0] + 256 * pixel[1] + 65536 * pixel[2];
    return index === 0 ? null : index - 1;
  }

  /** Waits until the picture is complete. */
  finish(): void {
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  }

  /** Place of a point of run `i` on the canvas [CSS pixels]. */
  project(i: number, point: [number, number, number]): [number, number] {
    const p = new THREE.Vector3(...point).project(this.prepareCamera(i));
    const { left, width } = this.tile(i);
    return [left + (0.5 + 0.5 * p.x) * width, (0.5 - 0.5 * p.y) * this.height];
  }
}
