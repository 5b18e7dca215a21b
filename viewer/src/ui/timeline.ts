// Bar below the scene: play, step, scrub, speed, loop and live.

import type { App } from "../app";
import { SPEEDS } from "../player";
import { button, check, el, format, select, setIcon } from "./dom";

/** Controls of the time. */
export class Timeline {
  readonly element: HTMLElement;
  private readonly playButton: HTMLButtonElement;
  private readonly scrubber = el("input", { type: "range", class: "scrubber", min: 0, max: 0, step: 1, value: 0, "aria-label": "Frame" });
  private readonly clock = el("output", { class: "clock", "aria-label": "Time" });
  private readonly live: HTMLButtonElement;
  private shownPlaying = false;
  private readonly speed: ReturnType<typeof select>;
  private readonly loop: ReturnType<typeof check>;

  constructor(private readonly app: App) {
    const { player } = app;
    this.playButton = button("Play", () => this.toggle(), { icon: "play", shortcut: "Space" });
    this.playButton.classList.add("play");
    this.scrubber.addEventListener("input", () => {
      player.pause();
      app.setFrame(Number(this.scrubber.value), app.reference);
    });
    const speeds = SPEEDS.map((s): [string, string] => [String(s), `${s}×`]);
    this.speed = select("Speed", speeds, String(player.speed), (v) => (player.speed = Number(v)));
    this.loop = check("Loop", player.loop, (on) => (player.loop = on));
    this.live = button("Live", () => this.follow(!player.live), { shortcut: "L" });
    this.live.classList.add("live");
    this.live.setAttribute("aria-pressed", "false");
    this.element = el("section", { class: "timeline", "aria-label": "Time" },
      this.playButton,
      button("Previous frame", () => app.step(-1), { icon: "previous", shortcut: "," }),
      button("Next frame", () => app.step(1), { icon: "next", shortcut: "." }),
      this.scrubber, this.clock, this.speed, this.loop, this.live);
    app.on("time", () => this.update());
    app.on("runs", () => this.update());
    this.update();
  }

  /** Starts or stops playing. */
  toggle(): void {
    const { player } = this.app;
    if (player.playing) player.pause();
    else player.play();
    this.app.emit("time");
  }

  follow(on: boolean): void {
    this.app.player.follow(on);
    this.app.emit("time");
  }

  toggleLoop(): void {
    this.app.player.loop = this.loop.box.checked = !this.loop.box.checked;
  }

  /** Takes the next speed in the list. */
  changeSpeed(by: number): void {
    const { player } = this.app;
    const i = SPEEDS.indexOf(player.speed) + by;
    player.speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, i))];
    this.update();
  }

  private update(): void {
    const { player, runs, reference } = this.app;
    const frame = reference.frameAt(player.time);
    const last = reference.nFrames - 1;
    if (this.shownPlaying !== player.playing) {
      this.shownPlaying = player.playing;
      setIcon(this.playButton, player.playing ? "pause" : "play", player.playing ? "Pause" : "Play");
    }
    this.scrubber.max = String(Math.max(0, last));
    this.scrubber.value = String(frame);
    this.scrubber.style.setProperty("--done", `${last > 0 ? (100 * frame) / last : 0}%`);
    this.scrubber.setAttribute("aria-valuetext", `frame ${frame} of ${last}, ${format(player.time)} s`);
    const digits = player.end - player.start > 100 ? 1 : 3;
    this.clock.textContent = `${player.time.toFixed(digits)} s`;
    this.clock.title = `frame ${frame} of ${last}`;
    this.speed.menu.value = String(player.speed);
    const growing = runs.some((run) => run.info.state === "running");
    this.live.hidden = !growing && !player.live;
    this.live.setAttribute("aria-pressed", String(player.live));
  }
}
