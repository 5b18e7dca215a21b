// Panel of the picked body: its properties, its state at the shown time, and plots of its history.

import type { App } from "../app";
import { KIND_NAMES, type Contacts, type Frame } from "../data/protocol";
import { forceOn } from "../data/run";
import { button, el, format } from "./dom";
import { Plot, type Curve } from "./plot";

/** Colours of x, y and z. */
const COLOURS = ["--curve-2", "--curve-3", "--curve-1"] as const;

/** Panel of the body picked last. */
export class BodyPanel {
  readonly element = el("section", { class: "card", "aria-label": "Picked body" });
  private readonly table = el("dl", { class: "properties" });
  private readonly heading = el("h2", {}, "");
  private readonly others = el("p", { class: "hint" });
  private readonly plots: Plot[];
  private readonly figures = el("div");
  /** Frame and contacts that the table shows, and its cells. */
  private shown: { id: number; run: number; frame: Frame | null; contacts: Contacts | undefined } | null = null;
  private readonly cells = new Map<string, HTMLElement>();

  constructor(private readonly app: App) {
    const seek = (time: number) => {
      app.player.seek(time);
      app.emit("time");
    };
    this.plots = ["Speed [m/s]", "Position [m]", "Normal contact force [N]"].map((title) => new Plot(title, seek));
    this.figures.append(...this.plots.map((p) => p.element));
    const close = button("Clear picked bodies", () => app.selection.clear(), { icon: "close", shortcut: "Esc" });
    this.element.append(el("div", { class: "card-head" }, this.heading, close), this.table, this.others, this.figures);
    app.on("picked", () => this.update());
    app.on("time", () => {
      if (app.selection.last) this.updateState();
    });
    this.update();
  }

  private update(): void {
    const { player } = this.app;
    const { picked, last } = this.app.selection;
    this.element.hidden = !last;
    this.shown = null;
    if (!last) return;
    this.heading.textContent = last.name === "" ? `Body ${last.id}` : last.name;
    this.others.hidden = picked.length < 2;
    this.others.textContent = `Also picked: ${picked.slice(0, -1).map((p) => p.name || p.id).join(", ")}`;
    this.figures.hidden = !last.history;
    if (last.history) {
      const { time, position, velocity, force } = last.history;
      const speed = Float32Array.from(time, (_, k) => Math.hypot(velocity[3 * k], velocity[3 * k + 1], velocity[3 * k + 2]));
      const axes: Curve[] = COLOURS.map((colour, d) => ({ label: "xyz"[d], colour, x: time, y: position, stride: 3, offset: d }));
      const curves = [[this.single(time, speed)], axes, [this.single(time, force)]];
      this.plots.forEach((plot, i) => plot.setCurves(curves[i], player.start, player.end));
    }
    this.updateState();
  }

  private single(x: Float64Array, y: Float32Array): Curve {
    return { colour: "--curve-1", x, y };
  }

  private updateState(): void {
    const { worlds, player } = this.app;
    const { last } = this.app.selection;
    if (!last) return;
    for (const plot of this.plots) plot.setTime(player.time);
    const world = worlds[last.run];
    const { model, shown } = world;
    const contacts = this.app.contactsOf(world);
    const now = { id: last.id, run: last.run, frame: shown?.a ?? null, contacts };
    // Between two frames of the run nothing changes.
    if (this.shown && Object.entries(now).every(([key, value]) => this.shown?.[key as keyof typeof now] === value)) return;
    this.shown = now;
    const i = model?.id.indexOf(last.id) ?? -1;
    if (!model || !shown || i < 0) {
      this.fill([["Id", String(last.id)], ["State", "not present at this time"]]);
      return;
    }
    const three = (a: Float32Array) => Array.from(a.subarray(3 * i, 3 * i + 3));
    const list = (v: number[]) => v.map(format).join(", ");
    const velocity = three(shown.a.velocity);
    this.fill([
      ["Id", String(last.id)],
      ["Kind", KIND_NAMES[model.kind[i]] ?? "body"],
      ["Material", model.materials[model.material[i]] ?? "–"],
      ["Mass [kg]", model.mass[i] > 0 ? format(model.mass[i]) : "held"],
      ["Size [m]", format(model.size[i])],
      ["Position [m]", list(three(shown.a.position))],
      ["Velocity [m/s]", list(velocity)],
      ["Speed [m/s]", format(Math.hypot(...velocity))],
      ["Angular velocity [rad/s]", list(three(shown.a.angularVelocity))],
      ["Normal contact force [N]", contacts ? format(forceOn(contacts, i)) : "–"],
    ]);
  }

  /** Shows names and values; the elements stay while the names do. */
  private fill(rows: [string, string][]): void {
    if (rows.length !== this.cells.size || rows.some(([name]) => !this.cells.has(name))) {
      this.cells.clear();
      for (const [name] of rows) this.cells.set(name, el("dd"));
      this.table.replaceChildren(...[...this.cells].flatMap(([name, cell]) => [el("dt", {}, name), cell]));
    }
    for (const [name, value] of rows) {
      const cell = this.cells.get(name);
      if (cell && cell.textContent !== value) cell.textContent = value;
    }
  }
}
