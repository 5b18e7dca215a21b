// The page: header, scene with legend, panels on both sides, timeline.

import type { App } from "../app";
import { connectPointer } from "../camera";
import { messageOf } from "../data/errors";
import { savePicture, saveVideo } from "../export";
import { connectCameraKeys, connectKeyboard, shortcuts } from "../keyboard";
import type { Banner } from "./banner";
import { BodyPanel } from "./body";
import { Controls } from "./controls";
import { button, el } from "./dom";
import { Help } from "./help";
import { Legend } from "./legend";
import { SeriesPlots } from "./plots";
import { Theme } from "./theme";
import { Timeline } from "./timeline";

const STATE_TEXT = { running: "running", finished: "finished", interrupted: "interrupted", failed: "failed", unknown: "" };

/** All parts of the page and their connections. */
export class Layout {
  readonly plots: SeriesPlots;
  readonly legend: Legend;
  private readonly theme: Theme;
  private readonly help = new Help();
  private readonly controls: Controls;
  private readonly timeline: Timeline;
  private readonly body: BodyPanel;
  private readonly side = el("aside", { class: "side", "aria-label": "Body and plots" });
  private readonly titles = el("div", { class: "titles" });
  private readonly videoButton: HTMLButtonElement;
  private readonly labels = el("div", { class: "tile-labels", "aria-hidden": "true" });
  private recording: AbortController | null = null;

  constructor(root: HTMLElement, private readonly app: App, private readonly canvas: HTMLCanvasElement, private readonly banner: Banner) {
    this.theme = new Theme((_, stage) => {
      app.stage.setTheme(stage);
      app.invalidate();
      app.emit("time");
    });
    this.controls = new Controls(app);
    this.timeline = new Timeline(app);
    this.legend = new Legend(app);
    this.body = new BodyPanel(app);
    this.plots = new SeriesPlots(app);
    this.side.append(this.body.element, this.plots.element);
    this.videoButton = button("Video", () => this.toggleVideo(), { shortcut: "X" });
    const scene = el("main", { class: "scene" }, this.labels, this.legend.element, banner.element);
    scene.prepend(canvas);
    root.replaceChildren(this.header(), el("div", { class: "middle" }, this.controls.element, scene, this.side), this.timeline.element, this.help.element);
    this.connect(scene);
    this.theme.apply();
    this.update();
  }

  private header(): HTMLElement {
    return el("header", {},
      el("h1", {}, "riprap"),
      this.titles,
      el("div", { class: "tools", role: "toolbar", "aria-label": "Tools" },
        button("Controls", () => this.toggleControls(), { shortcut: "B" }),
        button("Plots", () => this.togglePlots(), { shortcut: "D" }),
        button("Picture", () => this.savePicture(), { shortcut: "P" }),
        this.videoButton,
        button("Light or dark", () => this.theme.toggle(), { icon: "theme", shortcut: "I" }),
        button("Help", () => this.help.toggle(), { icon: "?", shortcut: "?" })));
  }

  private connect(scene: HTMLElement): void {
    const { app, canvas } = this;
    let add = false;
    canvas.addEventListener("pointerup", (event) => (add = event.shiftKey), { capture: true });
    connectPointer(canvas, app.stage.camera, (x, y) => app.pickAt(x, y, add));
    connectCameraKeys(canvas, app);
    const list = shortcuts(app, {
      toggle: () => this.timeline.toggle(),
      follow: () => this.timeline.follow(!app.player.live),
      loop: () => this.timeline.toggleLoop(),
      speed: (by) => this.timeline.changeSpeed(by),
      picture: () => this.savePicture(),
      video: () => this.toggleVideo(),
      theme: () => this.theme.toggle(),
      help: () => this.help.toggle(),
      controls: () => this.toggleControls(),
      plots: () => this.togglePlots(),
    });
    this.help.fill(list);
    connectKeyboard(list);
    const resize = () => {
      app.stage.resize(scene.clientWidth, scene.clientHeight, Math.min(2, window.devicePixelRatio || 1));
      app.invalidate();
    };
    resize();
    new ResizeObserver(resize).observe(scene);
    app.on("runs", () => this.update());
    app.on("picked", () => this.update());
    app.on("series", () => this.update());
  }

  private update(): void {
    const { runs } = this.app;
    this.titles.replaceChildren(...runs.map((run) => el("span", { class: "run-title" },
      el("strong", {}, run.title), el("span", { class: `state ${run.info.state}` }, STATE_TEXT[run.info.state]))));
    this.labels.replaceChildren(...(runs.length > 1 ? runs.map((run) => el("span", {}, run.title)) : []));
    document.title = `${runs.map((run) => run.title).join(" | ")} – riprap`;
    this.side.hidden = this.body.element.hidden && (this.plots.element.hidden || !this.plotsOpen);
    this.plots.element.style.display = this.plotsOpen ? "" : "none";
  }

  private plotsOpen = false;

  private toggleControls(): void {
    this.controls.element.hidden = !this.controls.element.hidden;
  }

  togglePlots(): void {
    this.plotsOpen = !this.plotsOpen;
    if (this.plotsOpen) this.plots.addFirst();
    this.update();
  }

  private savePicture(): void {
    savePicture(this.app, this.theme.name === "dark").catch((error: unknown) => this.banner.show(messageOf(error), "export"));
  }

  private toggleVideo(): void {
    if (this.recording) {
      this.recording.abort();
      return;
    }
    this.recording = new AbortController();
    const label = (text: string) => (this.videoButton.textContent = text);
    saveVideo(this.app, this.theme.name === "dark", this.recording.signal, (share) => label(`Stop (${Math.round(100 * share)} %)`))
      .catch((error: unknown) => this.banner.show(messageOf(error), "export"))
      .finally(() => {
        this.recording = null;
        label("Video");
      });
  }
}
