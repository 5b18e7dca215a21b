// The application: runs, their drawings, the time and the settings. Each picture is prepared here: which frames
// are needed, which are shown, and how they are coloured.

import { fieldInfo, type FieldName } from "./colour/fields";
import type { Contacts, Model } from "./data/protocol";
import type { Run } from "./data/run";
import { messageOf } from "./data/errors";
import { Painter } from "./painter";
import { Player, usualSpeed } from "./player";
import { LEVELS, type Quality, type QualityControl } from "./quality";
import { positionOf } from "./scene/pose";
import { Stage } from "./scene/stage";
import { World, type Bounds } from "./scene/world";
import { Selection } from "./selection";
import { defaultSettings, type Settings } from "./settings";

/** Events to which panels listen. */
export type AppEvent = "time" | "runs" | "settings" | "picked" | "range" | "series";

export class App {
  readonly player = new Player();
  readonly settings: Settings;
  readonly worlds: World[];
  readonly painter: Painter;
  readonly selection: Selection;
  /** Number of pictures drawn per second. */
  fps = 0;
  /** Time from the start of the page to the first picture with bodies [ms]. */
  firstPicture: number | null = null;
  /** Number of times that were shown. */
  shownTimes = 0;
  /** Draws a picture at every opportunity, for measurements. */
  continuous = false;
  private readonly listeners = new Map<AppEvent, (() => void)[]>();
  /** Times of failed requests for models, by run and number [ms]. */
  private readonly failures = new Map<string, number>();
  private dirty = true;
  private restyle = true;
  private shownTime = NaN;
  private lastTick = 0;
  private waiting = false;
  private pictures: number[] = [];
  private sizes: Bounds | null = null;

  constructor(
    readonly stage: Stage,
    readonly runs: Run[],
    readonly quality: QualityControl,
    private readonly report: (message: string | null) => void,
  ) {
    this.settings = defaultSettings(runs[0].info.planar);
    this.worlds = runs.map((run) => new World(run, stage.shared));
    stage.worlds.push(...this.worlds);
    this.painter = new Painter(this.settings, this.worlds, () => this.emit("range"));
    this.selection = new Selection(this.worlds, () => {
      this.changed();
      this.emit("picked");
    }, report);
    stage.camera.changed = () => {
      stage.markDetail();
      this.dirty = true;
    };
    if (runs[0].info.planar) stage.camera.setPlanar();
    else stage.camera.setUp(runs[0].info.up);
    for (const run of runs) run.trouble = (error) => this.report(messageOf(error));
  }

  on(event: AppEvent, listener: () => void): void {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
  }

  emit(event: AppEvent): void {
    for (const listener of this.listeners.get(event) ?? []) listener();
  }

  /** Loads the first frames and shows them. */
  async start(): Promise<void> {
    const duration = Math.max(...this.runs.map((r) => r.lastTime - (r.times[0] ?? 0)));
    this.player.speed = usualSpeed(Math.max(duration, ...this.runs.map((r) => r.info.until ?? 0)));
    this.updateRange();
    await Promise.all(this.worlds.map((world) => this.showFirst(world)));
    this.fit();
    this.player.loop = false;
    const loop = (now: number) => {
      requestAnimationFrame(loop);
      this.safeTick(now);
    };
    loop(performance.now());
  }

  /** Error of the last picture. */
  private broken: string | null = null;

  /** Prepares and draws a picture. An error is shown once, and the next picture is tried again. */
  private safeTick(now: number): void {
    try {
      this.tick(now);
      this.broken = null;
    } catch (error) {
      const message = `the picture cannot be drawn: ${messageOf(error)}`;
      if (message !== this.broken) this.report(message);
      this.broken = message;
    }
  }

  private async showFirst(world: World): Promise<void> {
    const { run } = world;
    if (run.nFrames === 0) return;
    const [frame, model] = await Promise.all([run.frames.request(0), run.model(run.modelOf[0])]);
    world.setModel(model, frame);
    world.show({ a: frame, b: null, mix: 0 });
  }

  /** Takes over the times of runs that have grown. */
  updateRange(): void {
    const starts = this.runs.filter((r) => r.nFrames > 0).map((r) => r.times[0]);
    this.player.setRange(starts.length > 0 ? Math.min(...starts) : 0, Math.max(0, ...this.runs.map((r) => r.lastTime)));
    this.emit("runs");
  }

  /** A setting has changed: everything is coloured and drawn again. */
  changed(): void {
    this.restyle = true;
    this.dirty = true;
    this.emit("settings");
  }

  /** Asks for a picture. */
  invalidate(): void {
    this.dirty = true;
  }

  setField(field: FieldName): void {
    this.settings.field = field;
    this.settings.range = null;
    this.changed();
    void this.painter.sample(field).then(() => this.changed());
  }

  /** Force chains make stones see-through, unless the opacity was set by hand. */
  setChains(on: boolean): void {
    const { look, lines } = this.settings;
    lines.chains = on;
    if (on && look.solidOpacity === 1) look.solidOpacity = 0.22;
    else if (!on && look.solidOpacity === 0.22) look.solidOpacity = 1;
    this.changed();
  }

  get needsContacts(): boolean {
    const { lines, field } = this.settings;
    return fieldInfo(field).needsContacts || lines.chains || lines.normals || lines.forces || this.selection.picked.length > 0;
  }

  /** Contacts of the frame shown of a run, if they are loaded. */
  contactsOf(world: World): Contacts | undefined {
    return world.shown ? world.run.contacts.peek(world.run.frameAt(world.shown.a.time)) : undefined;
  }

  /** Prepares and draws the picture at `now` [ms]. */
  tick(now: number): void {
    const dt = Math.min(0.25, Math.max(0, (now - this.lastTick) / 1000));
    this.lastTick = now;
    this.pictures = this.pictures.filter((t) => now - t < 1000);
    const { player } = this;
    const before = { time: player.time, playing: player.playing };
    // The clock waits for frames that are not loaded yet.
    if (!this.waiting) player.advance(dt);
    const moved = player.time !== this.shownTime;
    const presented = (moved || this.waiting || this.restyle) && this.present();
    if (presented || before.time !== player.time || before.playing !== player.playing) this.emit("time");
    if (this.dirty || this.continuous) this.draw(now, this.quality.moving);
    else if (this.stage.quality !== LEVELS[this.quality.best] && this.quality.rests(now)) this.draw(now, LEVELS[this.quality.best]);
  }

  /** Shows the current time in all runs, if everything for it is loaded; returns whether it is shown. */
  private present(): boolean {
    const { time } = this.player;
    const ready = this.worlds.map((world) => this.ready(world, time));
    this.waiting = ready.includes(false);
    if (this.waiting && this.player.live) this.catchUp();
    if (this.waiting && !this.restyle) return false;
    for (const [i, world] of this.worlds.entries()) if (ready[i]) this.place(world, time);
    for (const world of this.worlds) this.paint(world);
    this.restyle = false;
    if (time !== this.shownTime) this.shownTimes++;
    this.shownTime = time;
    this.dirty = true;
    this.stage.markDetail();
    return true;
  }

  /** Shows the newest loaded frames: a run may write frames faster than they are loaded. */
  private catchUp(): void {
    for (const world of this.worlds) {
      const k = this.newestLoaded(world);
      if (k === null) continue;
      if (this.models.get(world.run)?.number !== world.run.modelOf[k]) {
        this.requestModel(world.run, world.run.modelOf[k]);
        continue;
      }
      this.place(world, world.run.times[k]);
      this.paint(world);
      this.dirty = true;
      this.stage.markDetail();
    }
  }

  /** Newest frame of a run that is loaded and later than the one shown, or `null`. */
  private newestLoaded({ run, shown }: World): number | null {
    const oldest = shown ? run.frameAt(shown.a.time) + 1 : 0;
    for (let k = run.nFrames - 1; k >= oldest; k--) {
      const complete = !this.needsContacts || run.contacts.peek(k) || run.contacts.hasFailed(k);
      if (complete && run.frames.peek(k)) return k;
    }
    return null;
  }

  /** Whether the frame of a run at `time` can be shown; requests what is missing. */
  private ready(world: World, time: number): boolean {
    const { run } = world;
    if (run.nFrames === 0) return true;
    const k = run.frameAt(time);
    const ahead = this.framesAhead(run, k);
    run.frames.want(ahead);
    if (this.needsContacts) run.contacts.want(ahead);
    const frame = run.frames.peek(k);
    // A frame that cannot be read is passed over.
    if (!frame) return run.frames.hasFailed(k);
    if (this.needsContacts && !run.contacts.peek(k) && !run.contacts.hasFailed(k)) return false;
    const model = run.modelOf[k];
    const next = run.modelOf[k + 1] ?? model;
    if (next !== model) run.model(next).catch(() => undefined);
    if (this.models.get(run)?.number === model) return true;
    this.requestModel(run, model);
    // A model that cannot be read is passed over, too.
    return this.failures.has(`${run.number}/${model}`);
  }

  /** Model in use of each run. */
  private readonly models = new Map<Run, { number: number; model: Model }>();

  private requestModel(run: Run, number: number): void {
    const key = `${run.number}/${number}`;
    const last = this.failures.get(key) ?? -Infinity;
    if (performance.now() - last < 1000) return;
    run.model(number).then(
      (model) => {
        this.models.set(run, { number, model });
        if (this.failures.delete(key)) this.shownTime = NaN;
      },
      (error: unknown) => {
        this.failures.set(key, performance.now());
        this.report(messageOf(error));
      },
    );
  }

  /** Frames that will be needed soon, the most urgent one first. */
  private framesAhead(run: Run, k: number): number[] {
    const frames = [k, k + 1];
    if (this.player.playing) {
      for (let j = 1; j <= 8; j++) {
        const next = run.frameAt(this.player.time + (j * this.player.speed) / 30);
        frames.push(next, next + 1);
      }
    }
    const last = run.nFrames - 1;
    return [...new Set(frames.map((f) => Math.min(f, last)))];
  }

  private place(world: World, time: number): void {
    const { run } = world;
    const k = run.frameAt(time);
    const frame = run.frames.peek(k);
    const { number, model } = this.models.get(run) ?? {};
    if (!frame || !model || number !== run.modelOf[k] || frame.n !== model.n) return;
    if (world.model !== model) {
      world.setModel(model, frame);
      this.restyle = true;
    }
    const next = this.settings.interpolate && run.modelOf[k + 1] === run.modelOf[k] ? run.frames.peek(k + 1) : undefined;
    const span = next ? next.time - frame.time : 0;
    const mix = next && span > 0 ? Math.min(1, Math.max(0, (time - frame.time) / span)) : 0;
    world.show({ a: frame, b: next ?? null, mix });
  }

  private paint(world: World): void {
    const { settings, selection, restyle } = this;
    if (!world.model || !world.shown) return;
    const contacts = this.contactsOf(world);
    this.painter.paint(world, contacts, restyle);
    world.uniforms.uPicked.value = selection.indexIn(world);
    world.drawLines(settings.lines, contacts, settings.trails ? selection.trails(world, this.player.time) : []);
    if (restyle) {
      world.apply({ ...settings.look, cutting: settings.cuts.some((c) => c.on) });
      this.applyCuts();
    }
  }

  private applyCuts(): void {
    const box = this.sizes;
    if (!box) return;
    this.stage.setCuts(this.settings.cuts.map(({ on, at, flip }, axis) => {
      const cut: [number, number, number, number] = [0, 0, 0, 1];
      if (!on) return cut;
      const sign = flip ? -1 : 1;
      cut[axis] = sign;
      cut[3] = sign * this.cutPosition(axis, at);
      return cut;
    }));
  }

  /** Coordinate of a cut plane [m]. */
  cutPosition(axis: number, at: number): number {
    const box = this.sizes;
    return box ? box.low[axis] + at * (box.high[axis] - box.low[axis]) : 0;
  }

  private draw(now: number, quality: Quality): void {
    const { stage } = this;
    // A single change is not a movement.
    stage.setQuality(this.pictures.length === 0 && this.firstPicture !== null ? LEVELS[this.quality.best] : quality);
    stage.shadows = this.settings.shadows && this.worlds.every((w) => !w.bodies?.isLarge);
    this.dirty = stage.render(now);
    if (this.firstPicture === null && this.worlds.some((w) => w.shown)) {
      stage.finish();
      this.firstPicture = performance.now();
    }
    this.quality.drawn(now);
    this.pictures = [...this.pictures, now];
    this.fps = this.pictures.length;
  }

  /** Moves the camera so that stones and machines are seen. */
  fit(): void {
    const boxes = this.worlds.map((w) => w.bounds()).filter((b) => b !== null);
    if (boxes.length === 0) return;
    const low = [0, 1, 2].map((d) => Math.min(...boxes.map((b) => b.low[d])));
    const high = [0, 1, 2].map((d) => Math.max(...boxes.map((b) => b.high[d])));
    this.sizes = { low, high } as Bounds;
    this.stage.fit(this.sizes);
    this.changed();
  }

  /** Picks the body at a point of the canvas [CSS pixels]; empty space clears the picked bodies. */
  pickAt(x: number, y: number, add = false): number | null {
    const hit = this.stage.pick(x, y);
    this.dirty = true;
    const model = hit ? this.worlds[hit.run].model : null;
    if (!hit || !model) {
      this.selection.clear();
      return null;
    }
    this.selection.pick(hit.run, model.id[hit.body], add);
    return model.id[hit.body];
  }

  /** Run whose frames the timeline shows: the one that ends last. */
  get reference(): Run {
    return this.runs.reduce((a, b) => (b.lastTime > a.lastTime ? b : a));
  }

  /** Goes to frame `k` of a run. */
  setFrame(k: number, { times }: Run = this.runs[0]): void {
    if (times.length === 0) return;
    this.player.seek(times[Math.min(times.length - 1, Math.max(0, k))]);
    this.emit("time");
  }

  /** Number of the frame shown of the first run. */
  get frame(): number {
    return this.runs[0].frameAt(this.player.time);
  }

  /** Moves by frames. */
  step(frames: number): void {
    const run = this.reference;
    this.player.pause();
    this.setFrame(run.frameAt(this.player.time) + frames, run);
  }

  /** Place of a body on the canvas [CSS pixels]. */
  project(body: number, run = 0): [number, number] | null {
    const { shown, model } = this.worlds[run];
    if (!shown || !model || body < 0 || body >= model.n) return null;
    return this.stage.project(run, positionOf(shown, body));
  }

  /** Waits until the picture stands still and is drawn with all details. */
  async atRest(): Promise<void> {
    await this.settled();
    const { player, stage } = this;
    while (!player.playing && !player.live && (stage.quality !== LEVELS[this.quality.best] || this.dirty)) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  }

  /** Waits until the picture shows the current time, if it can be drawn, or until `stop` is aborted. */
  async settled(stop?: AbortSignal): Promise<void> {
    for (;;) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      if (stop?.aborted || this.broken !== null) return;
      if (this.shownTime === this.player.time && !this.dirty && !this.waiting) return;
      if (this.runs.every((r) => r.frames.hasFailed(r.frameAt(this.player.time)))) return;
    }
  }
}
