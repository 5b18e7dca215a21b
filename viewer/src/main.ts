// Start of the page: finds the data, shows the first frame, and listens for updates.

import "./style.css";
import { makeApi, type RiprapApi } from "./api";
import { App } from "./app";
import { DataError, messageOf } from "./data/errors";
import { embeddedSource } from "./data/embedded";
import { Feed, type Update } from "./data/feed";
import { parseRuns } from "./data/protocol";
import { Run } from "./data/run";
import { NetworkSource, jsonOf, type Source } from "./data/source";
import { QualityControl, isSoftware } from "./quality";
import { Stage } from "./scene/stage";
import { Banner, showFailure } from "./ui/banner";
import { el } from "./ui/dom";
import { Layout } from "./ui/layout";

declare global {
  interface Window {
    riprap?: RiprapApi;
  }
}

const root = document.getElementById("app") ?? document.body;

async function openRuns(source: Source): Promise<Run[]> {
  const infos = parseRuns(await jsonOf(source, "api/runs"));
  const runs = infos.map((info, i) => new Run(source, i, info));
  await Promise.all(runs.map((run) => run.grow()));
  // The description of a run is complete once it has a frame, which may have been written between the two requests.
  if (runs.some((run) => run.info.nFrames === 0 && run.nFrames > 0)) {
    parseRuns(await jsonOf(source, "api/runs")).forEach((info, i) => Object.assign(infos[i], info));
  }
  return runs;
}

/** The canvas, or an explanation why there is none. */
function openStage(canvas: HTMLCanvasElement, antialias: boolean): Stage {
  try {
    return new Stage(canvas, antialias);
  } catch (error) {
    throw new Error(`This browser offers no WebGL 2 (${messageOf(error)}). Switch on hardware acceleration or use another browser.`);
  }
}

/** Whether a run was started again; events may be older than what is loaded, so the server is asked. */
async function isReplaced({ source, number, info }: Run): Promise<boolean> {
  const now = parseRuns(await jsonOf(source, "api/runs"))[number];
  return now.generation !== info.generation || now.nFrames < info.nFrames;
}

/** Takes over an update of a run. */
async function receive(app: App, update: Update): Promise<void> {
  const run = app.runs[update.run];
  if (!run) return;
  const { info } = run;
  if (update.generation !== info.generation || update.nFrames < info.nFrames) {
    // The run was started again: all loaded data are invalid.
    if (await isReplaced(run)) window.location.reload();
    return;
  }
  if (info.nFrames === 0 && update.nFrames > 0) {
    // The description of a run without frames lacks the kind of scene, its size and the series.
    window.location.reload();
    return;
  }
  const changed = update.state !== info.state;
  info.state = update.state;
  info.nFrames = update.nFrames;
  if (update.nFrames === run.nFrames && !changed) return;
  await grow(app, run);
}

/** Loads what a run has gained. */
async function grow(app: App, run: Run): Promise<void> {
  // Frames are shown even if the series cannot be read.
  const series = run.growSeries();
  series.catch(() => undefined);
  await run.grow();
  app.updateRange();
  app.selection.refresh();
  await series;
  app.emit("series");
}

/** Time until a failed update is repeated [ms]; it doubles with each failure, up to the second number. */
const RETRY = [1000, 60_000];

/** Updates runs and repeats what failed, also if no further event comes. */
class Updates {
  private readonly timers = new Map<Run, number>();

  constructor(private readonly app: App, private readonly banner: Banner) {}

  /** Does something for a run; if it fails, the run is updated later. */
  try(run: Run, action: Promise<void>, delay = RETRY[0]): void {
    action.then(
      () => {
        if (delay > RETRY[0]) this.banner.show(null, "updates");
      },
      (error: unknown) => {
        this.banner.show(messageOf(error), "updates");
        window.clearTimeout(this.timers.get(run));
        this.timers.set(run, window.setTimeout(() => this.try(run, grow(this.app, run), Math.min(2 * delay, RETRY[1])), delay));
      },
    );
  }
}

async function start(): Promise<App> {
  const source = embeddedSource(document) ?? new NetworkSource();
  const canvas = el("canvas", { class: "canvas", tabindex: 0, role: "application", "aria-label": "Scene: arrows turn the camera, plus and minus zoom" });
  // `?quality=full` disables reduced quality, for screenshots.
  const full = new URLSearchParams(window.location.search).get("quality") === "full";
  const software = !full && isSoftware();
  const stage = openStage(canvas, !software);
  const runs = await openRuns(source);
  const banner = new Banner();
  const quality = new QualityControl(!full);
  const app = new App(stage, runs, quality, (message) => banner.show(message, "app"));
  if (software) [quality.best, quality.level] = [1, 2];
  new Layout(root, app, canvas, banner);
  const unexpected = (error: unknown) => banner.show(`Unexpected error: ${messageOf(error)}`, "error");
  // Notices of the browser, for example about the sizes of elements, have no error.
  window.addEventListener("error", (event) => event.error && unexpected(event.error));
  window.addEventListener("unhandledrejection", (event) => unexpected(event.reason));
  canvas.addEventListener("webglcontextlost", () => banner.show("The graphics card was reset. Reload the page to continue.", "error"));
  await app.start();
  if (runs.some((run) => run.info.state === "running")) app.player.follow(true);
  const updates = new Updates(app, banner);
  const feed = new Feed(source, (update) => {
    if (runs[update.run]) updates.try(runs[update.run], receive(app, update));
  }, (message) => banner.show(message, "feed"));
  feed.start();
  // Series are not needed for the first picture.
  for (const run of runs) updates.try(run, run.growSeries().then(() => app.emit("series")));
  return app;
}

const started = start();
const ready = started.then((app) => {
  window.riprap = Object.assign(Object.create(makeApi(app)) as RiprapApi, { ready });
});
window.riprap = { ready } as RiprapApi;
ready.catch(() => undefined);

started.catch((error: unknown) => {
  const hint = error instanceof DataError
    ? "The data are damaged or were written by another version of riprap."
    : "Start `riprap view` again if it has ended, then try again.";
  showFailure(root, "The run cannot be shown", messageOf(error), hint);
});
