// Pictures (PNG) and videos (WebM) of the scene with title, time and legend.

import type { App } from "./app";
import { LEVELS } from "./quality";
import { drawLegend } from "./ui/legend";

/** Pictures per second of videos. */
const VIDEO_RATE = 30;
/** A browser that does not draw, for example in a hidden tab, is not waited for longer [ms]. */
const LATE = 500;

/** Draws the scene and its labels onto a canvas. */
export function compose(app: App, target: HTMLCanvasElement, dark: boolean): void {
  app.stage.setQuality(LEVELS[0]);
  app.stage.render(performance.now());
  const { canvas } = app.stage;
  if (target.width !== canvas.width || target.height !== canvas.height) {
    target.width = canvas.width;
    target.height = canvas.height;
  }
  const context = target.getContext("2d");
  if (!context) return;
  context.drawImage(canvas, 0, 0);
  const scale = canvas.width / app.stage.width;
  context.fillStyle = dark ? "#eceef2" : "#1c1e22";
  context.font = `${14 * scale}px system-ui, sans-serif`;
  app.worlds.forEach((world, i) => {
    const text = `${world.run.title}   ${app.player.time.toFixed(3)} s`;
    context.fillText(text, (app.stage.tile(i).left + 16) * scale, 26 * scale);
  });
  drawLegend(context, app, scale, dark);
}

/** Offers a file for saving. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Name for a file of the run: only characters that are safe everywhere. */
function fileName(app: App, ending: string): string {
  const name = app.runs[0].info.name.replace(/[^A-Za-z0-9._-]+/g, "-") || "run";
  return `${name}-${app.player.time.toFixed(3)}s.${ending}`;
}

/** The scene as a PNG. */
export async function picture(app: App, dark: boolean): Promise<Blob> {
  const target = document.createElement("canvas");
  compose(app, target, dark);
  const blob = await new Promise<Blob | null>((resolve) => target.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("the browser could not make a picture of this size; make the window smaller");
  return blob;
}

export async function savePicture(app: App, dark: boolean): Promise<void> {
  save(await picture(app, dark), fileName(app, "png"));
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => window.setTimeout(resolve, ms));
}

/** Waits until the browser has drawn twice: a slow one hands a requested frame over later than after its time. */
function drawn(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
}

/** Records the run from the shown time to its end, or until `stop` is aborted. */
export async function video(app: App, dark: boolean, stop: AbortSignal, progress: (share: number) => void): Promise<Blob> {
  const type = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"].find((t) => MediaRecorder.isTypeSupported(t));
  if (!type) throw new Error("this browser cannot record WebM videos; use Chromium or Firefox");
  const target = document.createElement("canvas");
  compose(app, target, dark);
  const stream = target.captureStream(0);
  const track = stream.getVideoTracks()[0] as CanvasCaptureMediaStreamTrack;
  const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 12_000_000 });
  const parts: Blob[] = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  const finished = new Promise<void>((resolve, reject) => {
    recorder.onstop = () => resolve();
    recorder.onerror = () => reject(new Error("the browser stopped recording"));
  });
  const { player } = app;
  const [from, end] = [player.time < player.end ? player.time : player.start, player.end];
  player.pause();
  recorder.start();
  recorder.pause();
  try {
    for (let n = 0; ; n++) {
      const time = from + (n * player.speed) / VIDEO_RATE;
      player.seek(time);
      await app.settled(stop);
      if (stop.aborted) break;
      // The recorder runs only while a finished picture is shown, so loading does not slow the video down.
      recorder.resume();
      compose(app, target, dark);
      track.requestFrame();
      await Promise.all([sleep(1000 / VIDEO_RATE), Promise.race([drawn(), sleep(LATE)])]);
      recorder.pause();
      progress((time - from) / (end - from || 1));
      if (time >= end) break;
    }
  } finally {
    if (recorder.state !== "inactive") recorder.stop();
    await finished;
    track.stop();
  }
  return new Blob(parts, { type: "video/webm" });
}

export async function saveVideo(app: App, dark: boolean, stop: AbortSignal, progress: (share: number) => void): Promise<void> {
  save(await video(app, dark, stop, progress), fileName(app, "webm"));
}
