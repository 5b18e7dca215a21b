// The camera: it turns about a target, with the up direction of the run upwards, in perspective or
// orthographic projection. All runs on the page share it.

import * as THREE from "three";
import type { Vec3 } from "./data/protocol";

export type ViewName = "front" | "side" | "top" | "iso";

/** Azimuth and elevation [rad] of the standard views. */
const VIEWS: Record<ViewName, [number, number]> = {
  front: [-Math.PI / 2, 0],
  side: [0, 0],
  top: [-Math.PI / 2, Math.PI / 2],
  iso: [-0.95, 0.5],
};

const FIELD_OF_VIEW = (32 * Math.PI) / 180;
const MAX_ELEVATION = Math.PI / 2;

/** Camera that orbits a target. */
export class OrbitCamera {
  readonly target = new THREE.Vector3();
  /** Distance from the target [m]. */
  distance = 5;
  /** Angles about the up direction and above the horizon [rad]. */
  azimuth = VIEWS.iso[0];
  elevation = VIEWS.iso[1];
  orthographic = false;
  /** Called after every change. */
  changed: () => void = () => undefined;
  private readonly perspectiveCamera = new THREE.PerspectiveCamera((FIELD_OF_VIEW * 180) / Math.PI);
  private readonly orthographicCamera = new THREE.OrthographicCamera();
  private readonly base = new THREE.Quaternion();
  private radius = 1;

  /** Sets the direction that is shown upwards. */
  setUp(up: Vec3): void {
    const direction = new THREE.Vector3(...up);
    if (direction.lengthSq() > 0) this.base.setFromUnitVectors(new THREE.Vector3(0, 0, 1), direction.normalize());
  }

  /** Planar scenes: looks along −z with y upwards. */
  setPlanar(): void {
    this.base.identity();
    this.orthographic = true;
    [this.azimuth, this.elevation] = VIEWS.top;
  }

  view(name: ViewName): void {
    [this.azimuth, this.elevation] = VIEWS[name];
    this.changed();
  }

  /** Turns by angles [rad]. */
  orbit(right: number, up: number): void {
    this.azimuth -= right;
    this.elevation = Math.min(MAX_ELEVATION, Math.max(-MAX_ELEVATION, this.elevation + up));
    this.changed();
  }

  /** Moves the target by shares of the height of the picture. */
  pan(right: number, up: number): void {
    const { x, y } = this.axes();
    const height = this.height();
    this.target.addScaledVector(x, -right * height).addScaledVector(y, -up * height);
    this.changed();
  }

  /** Multiplies the distance by `factor`. */
  zoom(factor: number): void {
    this.distance = Math.min(1e3 * this.radius, Math.max(1e-3 * this.radius, this.distance * factor));
    this.changed();
  }

  /** Shows the box with corners `low` and `high`, for pictures with the given ratio of width to height. */
  fit(low: Vec3, high: Vec3, aspect: number): void {
    const box = new THREE.Box3(new THREE.Vector3(...low), new THREE.Vector3(...high));
    box.getCenter(this.target);
    this.radius = Math.max(box.getSize(new THREE.Vector3()).length() / 2, 1e-6);
    const { x, y, z } = this.axes();
    const slope = Math.tan(FIELD_OF_VIEW / 2);
    let distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      const p = new THREE.Vector3(
        corner & 1 ? high[0] : low[0], corner & 2 ? high[1] : low[1], corner & 4 ? high[2] : low[2],
      ).sub(this.target);
      const depth = this.orthographic ? 0 : p.dot(z);
      distance = Math.max(distance, Math.abs(p.dot(x)) / (slope * aspect) + depth, Math.abs(p.dot(y)) / slope + depth);
    }
    this.distance = 1.12 * Math.max(distance, 1e-6);
    this.changed();
  }

  /** Height of the picture at the target [m]. */
  height(): number {
    return 2 * this.distance * Math.tan(FIELD_OF_VIEW / 2);
  }

  /** Right, up and backward directions of the picture in the world. */
  axes(): { x: THREE.Vector3; y: THREE.Vector3; z: THREE.Vector3 } {
    const [ca, sa, ce, se] = [Math.cos(this.azimuth), Math.sin(this.azimuth), Math.cos(this.elevation), Math.sin(this.elevation)];
    const turn = (v: THREE.Vector3) => v.applyQuaternion(this.base);
    return {
      x: turn(new THREE.Vector3(-sa, ca, 0)),
      y: turn(new THREE.Vector3(-se * ca, -se * sa, ce)),
      z: turn(new THREE.Vector3(ce * ca, ce * sa, se)),
    };
  }

  /** Up direction of the runs in the world. */
  up(): THREE.Vector3 {
    return new THREE.Vector3(0, 0, 1).applyQuaternion(this.base);
  }

  /** The camera for a picture with the given ratio of width to height; `reach` is the size of the scene [m]. */
  camera(aspect: number, reach: number): THREE.PerspectiveCamera | THREE.OrthographicCamera {
    const camera = this.orthographic ? this.orthographicCamera : this.perspectiveCamera;
    const { x, y, z } = this.axes();
    camera.matrixAutoUpdate = false;
    camera.matrix.makeBasis(x, y, z);
    const back = this.orthographic ? Math.max(this.distance, 4 * reach) : this.distance;
    camera.matrix.setPosition(this.target.clone().addScaledVector(z, back));
    camera.matrixWorld.copy(camera.matrix);
    camera.matrixWorldInverse.copy(camera.matrix).invert();
    if (camera instanceof THREE.PerspectiveCamera) {
      camera.aspect = aspect;
      camera.near = Math.max(this.distance - 3 * reach, 0.004 * this.distance);
      camera.far = this.distance + 8 * reach;
    } else {
      camera.top = this.height() / 2;
      camera.bottom = -camera.top;
      camera.right = camera.top * aspect;
      camera.left = -camera.right;
      camera.near = 0;
      camera.far = back + 8 * reach;
    }
    camera.updateProjectionMatrix();
    return camera;
  }
}

/** Moves the camera with mouse, touch and wheel; `click` gets positions relative to the element [pixels]. */
export function connectPointer(element: HTMLElement, camera: OrbitCamera, click: (x: number, y: number) => void): void {
  const pointers = new Map<number, { x: number; y: number }>();
  let moved = 0;
  let spread = 0;
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (pointers.size === 1) moved = 0;
    spread = 0;
  });
  element.addEventListener("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) return;
    const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    moved += Math.abs(dx) + Math.abs(dy);
    const height = element.clientHeight || 1;
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()];
      const now = Math.hypot(a.x - b.x, a.y - b.y);
      if (spread > 0) camera.zoom(spread / Math.max(now, 1));
      spread = now;
      camera.pan(dx / height / 2, -dy / height / 2);
    } else if (event.shiftKey || (event.buttons & 6) !== 0) camera.pan(dx / height, -dy / height);
    else camera.orbit((4 * dx) / height, (4 * dy) / height);
  });
  const release = (event: PointerEvent) => {
    if (!pointers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && moved < 5 && event.button === 0) {
      const box = element.getBoundingClientRect();
      click(event.clientX - box.left, event.clientY - box.top);
    }
  };
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);
  element.addEventListener("contextmenu", (event) => event.preventDefault());
  element.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 * event.deltaY : event.deltaY;
    camera.zoom(Math.exp(Math.min(200, Math.max(-200, lines)) * 0.0015));
  }, { passive: false });
}
