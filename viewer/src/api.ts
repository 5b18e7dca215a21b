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
  measureFps(seconds: number, playing?: boolean): Promise<number>;
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
    measureFps: (seconds, playing = false) => measureFps(app, seconds, playing),
    pictureSize: async () => (await picture(app, false)).size,
    videoSize: async () => (await video(app, false, new AbortController().signal, () => undefined)).size,
    get firstPicture() {
      return app.firstPicture;
    },
  };
}

/** Pictures per second while the camera turns, or while the run is played, measured over some seconds. */
async function measureFps(app: App, seconds: number, playing: boolean): Promise<number> {
  app.continuous = !playing;
  if (playing) {
    app.player.loop = true;
    app.player.play();
  }
  const shown = app.shownTimes;
  const start = performance.now();
  let pictures = 0;
  let now = start;
  while (now - start < 1000 * seconds) {
    now = await new Promise<number>((resolve) => requestAnimationFrame(() => resolve(performance.now())));
    if (!playing) app.stage.camera.orbit(0.01, 0);
    // No picture is counted before it is complete.
    app.stage.finish();
    pictures++;
  }
  app.continuous = false;
  app.player.pause();
  // While playing, a picture of a time that was shown before does not count.
  return (1000 * (playing ? app.shownTimes - shown : pictures)) / (performance.now() - start);
}
