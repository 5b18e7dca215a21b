// One run: its times, models, frames and contacts, loaded when they are needed.

import { BoundedCache, Store } from "./cache";
import { Series } from "./csv";
import { DataError } from "./errors";
import {
  normalForce, parseContacts, parseFrame, parseHistory, parseModel,
  type Contacts, type Frame, type History, type Model, type RunInfo,
} from "./protocol";
import { decodeRrb } from "./rrb";
import { textOf, type Source } from "./source";

/** Memory for frames and for contacts of one run [bytes]. */
const FRAME_MEMORY = 256 << 20;
const CONTACT_MEMORY = 128 << 20;
const MODEL_MEMORY = 384 << 20;

/** A piece of the series that is shorter ends where the file ends [bytes]. */
const SHORT_PIECE = 1 << 20;

/** A run and what is loaded of it. */
export class Run {
  /** Time of each frame [s]. */
  times: number[] = [];
  /** Model number of each frame. */
  modelOf: number[] = [];
  readonly series = new Series();
  readonly frames: Store<Frame>;
  readonly contacts: Store<Contacts>;
  private readonly models = new Map<number, Promise<Model>>();
  private readonly modelSizes = new BoundedCache<{ bytes: number }>(MODEL_MEMORY);
  /** Called when a frame or contacts cannot be read. */
  trouble: (error: unknown) => void = () => undefined;
  private seriesBytes = 0;
  private readonly decoder = new TextDecoder();
  private busy: Promise<void> | null = null;
  private seriesBusy: Promise<void> | null = null;

  constructor(
    readonly source: Source,
    readonly number: number,
    readonly info: RunInfo,
  ) {
    const report = (_: number, error: unknown) => this.trouble(error);
    this.frames = new Store((k) => this.loadFrame(k), FRAME_MEMORY, 4, report);
    this.contacts = new Store((k) => this.loadContacts(k), CONTACT_MEMORY, 2, report);
  }

  get title(): string {
    return this.info.title ?? this.info.name;
  }

  get nFrames(): number {
    return this.times.length;
  }

  get lastTime(): number {
    return this.times[this.times.length - 1] ?? 0;
  }

  /** Loads the times of frames that are not known yet. */
  async grow(): Promise<void> {
    // Two concurrent requests would add the same frames twice.
    while (this.busy) await this.busy;
    this.busy = this.loadTimes().finally(() => (this.busy = null));
    return this.busy;
  }

  private async loadTimes(): Promise<void> {
    const path = `api/${this.number}/times?from=${this.times.length}`;
    if (!this.source.has(path)) return;
    const rrb = decodeRrb(await this.source.bytes(path), path);
    const n = rrb.rows("time");
    const times = rrb.f64("time", n);
    const models = rrb.u32("model", n);
    for (let i = 0; i < n; i++) {
      if (!Number.isFinite(times[i])) throw new DataError(`${path}: the time of frame ${this.times.length} is not a number`);
      this.times.push(times[i]);
      this.modelOf.push(models[i]);
    }
  }

  /** Loads what was added to `series.csv`. */
  async growSeries(): Promise<void> {
    if (!this.info.hasSeries) return;
    // Two concurrent requests would add the same rows twice.
    while (this.seriesBusy) await this.seriesBusy;
    this.seriesBusy = this.loadSeries().finally(() => (this.seriesBusy = null));
    return this.seriesBusy;
  }

  /** Loads the rest of the series, which the server sends in pieces. */
  private async loadSeries(): Promise<void> {
    for (;;) {
      const bytes = await this.loadPiece();
      // The end of a file in progress is short; what follows is loaded with the next update.
      if (bytes === 0 || !this.source.live || (this.info.state === "running" && bytes < SHORT_PIECE)) return;
    }
  }

  /** Loads one piece of the series and returns its length [bytes]. */
  private async loadPiece(): Promise<number> {
    const path = this.source.live ? `api/${this.number}/series?from=${this.seriesBytes}` : `api/${this.number}/series`;
    if (!this.source.has(path) || (!this.source.live && this.seriesBytes > 0)) return 0;
    const bytes = await this.source.bytes(path);
    this.seriesBytes += bytes.byteLength;
    this.series.append(this.decoder.decode(bytes, { stream: true }));
    return bytes.byteLength;
  }

  /** Last frame that is not after `time` [s]. */
  frameAt(time: number): number {
    return Math.max(0, countUntil(this.times, time) - 1);
  }

  /** The model with a number. */
  model(m: number): Promise<Model> {
    let model = this.models.get(m);
    if (!model) {
      model = this.loadModel(m);
      model.catch(() => this.models.delete(m));
      this.models.set(m, model);
    }
    this.modelSizes.get(m);
    return model;
  }

  private async loadModel(m: number): Promise<Model> {
    const path = `api/${this.number}/model/${m}`;
    const rrb = decodeRrb(await this.source.bytes(path), path);
    const model = parseModel(rrb);
    this.modelSizes.set(m, { bytes: rrb.bytes });
    for (const known of this.models.keys()) if (known !== m && !this.modelSizes.has(known)) this.models.delete(known);
    return model;
  }

  private async loadFrame(k: number): Promise<Frame> {
    const path = `api/${this.number}/frame/${k}`;
    return parseFrame(decodeRrb(await this.source.bytes(path), path));
  }

  private async loadContacts(k: number): Promise<Contacts> {
    const path = `api/${this.number}/contacts/${k}`;
    const model = await this.model(this.modelOf[k] ?? 0);
    return parseContacts(decodeRrb(await this.source.bytes(path), path), model.n);
  }

  /** Text of `summary.json`, or `null` if there is none. */
  async summary(): Promise<string | null> {
    const path = `api/${this.number}/summary`;
    return this.source.has(path) ? textOf(this.source, path) : null;
  }

  /** History of the body with an id. */
  async history(id: number): Promise<History> {
    const path = `api/${this.number}/history/${id}`;
    if (this.source.has(path)) return parseHistory(decodeRrb(await this.source.bytes(path), path));
    return this.collectHistory(id);
  }

  /** History from the frames of a self-contained page. */
  private async collectHistory(id: number): Promise<History> {
    const n = this.nFrames;
    const history: History = {
      time: new Float64Array(n),
      position: new Float32Array(3 * n).fill(NaN),
      velocity: new Float32Array(3 * n).fill(NaN),
      angularVelocity: new Float32Array(3 * n).fill(NaN),
      force: new Float32Array(n).fill(NaN),
    };
    for (let k = 0; k < n; k++) {
      history.time[k] = this.times[k];
      const frame = await this.frames.request(k);
      const i = (await this.model(frame.model)).id.indexOf(id);
      if (i < 0) continue;
      history.position.set(frame.position.subarray(3 * i, 3 * i + 3), 3 * k);
      history.velocity.set(frame.velocity.subarray(3 * i, 3 * i + 3), 3 * k);
      history.angularVelocity.set(frame.angularVelocity.subarray(3 * i, 3 * i + 3), 3 * k);
      if (this.source.has(`api/${this.number}/contacts/${k}`)) {
        history.force[k] = forceOn(await this.contacts.request(k), i);
      }
    }
    return history;
  }
}

/** Number of ascending times [s] that are not after `time`. */
export function countUntil(times: ArrayLike<number>, time: number): number {
  let low = 0;
  let high = times.length;
  const limit = time + 1e-9 * Math.max(1, Math.abs(time));
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Sum of the normal contact forces on a body [N]. */
export function forceOn(contacts: Contacts, body: number): number {
  let sum = 0;
  for (let c = 0; c < contacts.m; c++) {
    if (contacts.bodies[2 * c] === body || contacts.bodies[2 * c + 1] === body) sum += normalForce(contacts, c);
  }
  return sum;
}
