// `window.riprap`: the state of the viewer for tests and scripts.

import type { App } from "./app";
import { fieldInfo, type FieldName } from "./colour/fields";
import { picture, video } from "./export";

/** Interface for tests. */
export interface RiprapApi {
  /** Resolves when the first picture is drawn; fails if there is none. */
  ready: Promise<void>;
  state(): Record<string, unknown>;
  pickAt(x: number, y: number): number | null;
  project(body: number, run?: number): [number, number] | null;
  setFrame(k: number): Promise<void>;
  setColour(field: FieldName): Promise<void>;
  setCut(axis: number, on: boolean, at?: number): Promise<void>;
  settled(): Promise<void>;
  play(): void;
  pause(): void;
  measureFps(seconds: number): Promise<number>;
  pictureSize(): Promise<number>;
  videoSize(): Promise<number>;
  readonly firstPicture: number | null;
}

/** Makes the interface of an application. */
export function makeApi(app: App): Omit<RiprapApi, "ready"> {
  const state = () => {
    const info = fieldInfo(app.settings.field);
    const range = app.painter.range;
    return {
      frame: app.frame,
      time: app.player.time,
      shownTime: app.worlds[0].shown?.a.time ?? null,
      nFrames: app.runs[0].nFrames,
      runs: app.runs.length,
      playing: app.player.playing,
      colour: info.name,
      legend: range && info.name !== "plain" ? { min: range.min, max: range.max, unit: info.unit } : null,
      picked: app.selection.picked.map((p) => p.id),
      live: app.player.live,
      fps: app.fps,
      cameras: app.worlds.length,
      quality: app.quality.level,
      triangles: app.worlds[0].bodies?.triangles ?? 0,
      cacheBytes: app.runs[0].frames.bytes,
    };
  };
  return {
    state,
    pickAt: (x, y) => app.pickAt(x, y),
    project: (body, run) => app.project(body, run),
    async setFrame(k) {
      app.setFrame(k);
      await app.atRest();
    },
    async setColour(field) {
      app.setField(field);
      await app.atRest();
    },
    async setCut(axis, on, at = 0.5) {
      Object.assign(app.settings.cuts[axis], { on, at });
      app.changed();
      await app.atRest();
    },
    settled: () => app.atRest(),
    play() {
      app.player.play();
      app.emit("time");
    },
    pause() {
      app.player.pause();
      app.emit("time");
    },
    measureFps: (seconds) => measureFps(app, seconds),
    pictureSize: async () => (await picture(app, false)).size,
    videoSize: async () => (await video(app, false, new AbortController().signal, () => undefined)).size,
    get firstPicture() {
      return app.firstPicture;
    },
  };
}

/** Pictures per second while the camera turns, measured over some seconds. */
async function measureFps(app: App, seconds: number): Promise<number> {
  app.continuous = true;
  const start = performance.now();
  let pictures = 0;
  let now = start;
  while (now - start < 1000 * seconds) {
    now = await new Promise<number>((resolve) => requestAnimationFrame(() => resolve(performance.now())));
    app.stage.camera.orbit(0.01, 0);
    // No picture is counted before it is complete.
    app.stage.finish();
    pictures++;
  }
  app.continuous = false;
  return (1000 * pictures) / (performance.now() - start);
}
