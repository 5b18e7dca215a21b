// Everything that is drawn of one run: the bodies of the current model at the shown time, and lines.

import * as THREE from "three";
import { colouredBodies, colours, evaluate, originsOf, type FieldName, type Origins, type Range } from "../colour/fields";
import { Kind, type Contacts, type Frame, type Model, type Vec3 } from "../data/protocol";
import type { Run } from "../data/run";
import { Bodies, ORDER, type Look } from "./bodies";
import type { Viewer } from "./detail";
import { boundsOf, prepare, type Geometry } from "./geometry";
import { addAxes, addChains, addForces, addJoints, addNormals, addRopes, addTrail, largestForce, typicalSize } from "./lines";
import type { Shown } from "./pose";
import { Poses } from "./poses";
import { Ribbons } from "./ribbons";
import { Shadow } from "./shadow";
import { bodyTexture, runUniforms, type SharedUniforms } from "./uniforms";

/** Which lines are drawn. */
export interface LineOptions {
  chains: boolean;
  normals: boolean;
  forces: boolean;
  axes: boolean;
  joints: boolean;
  ropes: boolean;
  /** Width of the force chains relative to the usual one. */
  chainScale: number;
}

/** A path to draw: points x, y, z and how many of them lie before the shown time. */
export interface Trail {
  points: Float32Array;
  end: number;
}

/** Box in the world [m]. */
export interface Bounds {
  low: Vec3;
  high: Vec3;
}

/** The drawing of one run. */
export class World {
  readonly scene = new THREE.Scene();
  readonly uniforms = runUniforms();
  model: Model | null = null;
  bodies: Bodies | null = null;
  shown: Shown | null = null;
  /** Positions at the first frame. */
  origins: Origins | undefined;
  coloured = new Uint8Array(0);
  /** Largest contact force of the frames seen so far [N]: the scale of chains and arrows. */
  largest = 0;
  /** Radius of the scene [m]. */
  reach = 1;
  private geometry: Geometry | null = null;
  private poses: Poses | null = null;
  private colourTexture: THREE.DataTexture | null = null;
  private readonly inner: Ribbons;
  private readonly overlay: Ribbons;
  private shadow: Shadow | null = null;
  private shadowStale = true;
  private size = 1;

  constructor(readonly run: Run, private readonly shared: SharedUniforms) {
    this.inner = new Ribbons(shared, ORDER.lines);
    this.overlay = new Ribbons(shared, ORDER.overlay, true);
    this.scene.add(this.inner.mesh, this.overlay.mesh);
  }

  /** Replaces the model; `frame` is a frame with it. */
  setModel(model: Model, frame: Frame): void {
    if (this.model === model) return;
    this.bodies?.dispose();
    if (this.bodies) this.scene.remove(this.bodies.scene);
    this.poses?.dispose();
    this.colourTexture?.dispose();
    this.model = model;
    this.geometry = prepare(model, frame, this.run.info, this.geometry?.containers);
    this.coloured = colouredBodies(model) as Uint8Array<ArrayBuffer>;
    this.origins ??= originsOf(model, frame);
    this.poses = new Poses(model.n, this.uniforms);
    this.colourTexture = bodyTexture(model.n, 1, "byte");
    this.uniforms.uColours.value = this.colourTexture;
    this.bodies = new Bodies(model, this.geometry, { ...this.shared, ...this.uniforms });
    this.scene.add(this.bodies.scene);
    this.size = typicalSize(model);
    this.shown = null;
  }

  /** Shows a state; the frames must belong to the model. */
  show(shown: Shown): void {
    if (!this.poses || shown.a.n !== this.model?.n) return;
    this.poses.show(shown.a, shown.b, shown.mix);
    this.shown = shown;
    this.shadowStale = true;
  }

  /** Values of a field at the shown frame. */
  values(field: FieldName, contacts: Contacts | undefined): Float32Array | null {
    return this.model && this.shown ? evaluate(field, this.model, this.shown.a, contacts, this.origins) : null;
  }

  /** Colours the bodies by values of a field; `materials` is the order of the materials in the legend. */
  paint(field: FieldName, values: Float32Array, range: Range | null, materials: string[]): void {
    if (!this.model || !this.colourTexture) return;
    const numbers = this.model.materials.map((name) => materials.indexOf(name));
    colours(field, this.model, values, this.coloured, range, this.colourTexture.image.data as unknown as Uint8Array, numbers);
    this.colourTexture.needsUpdate = true;
  }

  /** Draws the lines of the shown state. */
  drawLines(options: LineOptions, contacts: Contacts | undefined, trails: Trail[]): void {
    const { model, shown, inner, overlay, size } = this;
    if (!model || !shown) return;
    inner.clear();
    overlay.clear();
    const machine = this.machineSize();
    if (contacts) {
      this.largest = Math.max(this.largest, largestForce(contacts));
      if (options.chains) addChains(inner, model, shown, contacts, size * options.chainScale, this.largest);
      if (options.normals) addNormals(overlay, contacts, size);
      if (options.forces) addForces(overlay, contacts, size, this.largest);
    }
    if (options.axes) addAxes(overlay, model, shown, 0.35 * machine);
    if (options.joints) addJoints(overlay, model, shown, 0.5 * machine);
    if (options.ropes) addRopes(inner, shown, 0.006 * this.reach);
    trails.forEach((trail, i) => addTrail(overlay, trail.points, trail.end, i));
    inner.commit();
    overlay.commit();
  }

  private machineSize(): number {
    const sizes = this.model?.mechanisms.flatMap((m) => m.bodies.map((i) => this.model?.size[i] ?? 0)) ?? [];
    return sizes.length > 0 ? Math.min(Math.max(...sizes), this.reach) : this.size;
  }

  /** Box of what should be seen: stones and machines, and the walls around them unless they are far larger. */
  bounds(): Bounds | null {
    const { model, shown, geometry } = this;
    if (!model || !shown || !geometry) return null;
    const frame = shown.a;
    const bounded = [...model.kind.keys()].filter((i) => !model.unbounded[i]);
    const moving = boundsOf(bounded.filter((i) => model.kind[i] !== Kind.Wall), frame, geometry);
    const all = boundsOf(bounded, frame, geometry);
    if (!moving || !all) return all ?? this.statedBounds();
    return diagonal(all) <= 2.5 * diagonal(moving) ? all : moving;
  }

  private statedBounds(): Bounds | null {
    const stated = this.run.info.bounds;
    return stated ? { low: stated[0], high: stated[1] } : null;
  }

  /** Sets the size of the scene, which scales the ground and the shadows. */
  setReach({ low, high }: Bounds, up: THREE.Vector3): void {
    const u = this.uniforms;
    this.reach = Math.max(diagonal({ low, high }) / 2, 1e-9);
    u.uFitCentre.value.set((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2);
    u.uFitRadius.value = this.reach;
    u.uGrid.value = niceStep(this.reach / 4);
    const side = Math.abs(up.x) > 0.9 ? new THREE.Vector3(0, 1, 0) : new THREE.Vector3(1, 0, 0);
    u.uGridV.value.crossVectors(up, side).normalize();
    u.uGridU.value.crossVectors(u.uGridV.value, up);
    this.shadowStale = true;
  }

  apply(look: Look): void {
    this.bodies?.apply(look);
    this.shadowStale = true;
  }

  /** Chooses the levels of detail with at most `limit` triangles of full detail. */
  updateDetail(viewer: Viewer, limit: number): void {
    if (this.shown) this.bodies?.updateDetail(this.shown.a, viewer, limit);
  }

  /** Draws the shadow map if it is wanted and out of date. */
  updateShadow(renderer: THREE.WebGLRenderer, wanted: boolean, direction: THREE.Vector3): void {
    if (!wanted || !this.bodies) {
      this.uniforms.uShadowOn.value.x = 0;
      this.shadowStale = true;
      return;
    }
    if (!this.shadowStale) return;
    this.shadow ??= new Shadow();
    this.shadow.draw(renderer, this.bodies.casters, this.uniforms, direction, this.uniforms.uFitCentre.value, 1.25 * this.reach);
    this.shadowStale = false;
  }
}

function diagonal({ low, high }: Bounds): number {
  return Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
}

/** 1, 2 or 5 times a power of ten, not above `x`. */
export function niceStep(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const digit = x / power;
  return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}
