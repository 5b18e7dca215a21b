// Panel of the picked body: its properties, its state at the shown time, and plots of its history.

import type { App } from "../app";
import { KIND_NAMES } from "../data/protocol";
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
    app.on("time", () => this.updateState());
    this.update();
  }

  private update(): void {
    const { player } = this.app;
    const { picked, last } = this.app.selection;
    this.element.hidden = !last;
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
    const world = worlds[last.run];
    const { model, shown } = world;
    const i = model?.id.indexOf(last.id) ?? -1;
    if (!model || !shown || i < 0) {
      this.table.replaceChildren(...row("Id", String(last.id)), ...row("State", "not present at this time"));
      return;
    }
    const three = (a: Float32Array) => Array.from(a.subarray(3 * i, 3 * i + 3));
    const list = (v: number[]) => v.map(format).join(", ");
    const velocity = three(shown.a.velocity);
    const contacts = this.app.contactsOf(world);
    this.table.replaceChildren(
      ...row("Id", String(last.id)),
      ...row("Kind", KIND_NAMES[model.kind[i]] ?? "body"),
      ...row("Material", model.materials[model.material[i]] ?? "–"),
      ...row("Mass [kg]", model.mass[i] > 0 ? format(model.mass[i]) : "held"),
      ...row("Size [m]", format(model.size[i])),
      ...row("Position [m]", list(three(shown.a.position))),
      ...row("Velocity [m/s]", list(velocity)),
      ...row("Speed [m/s]", format(Math.hypot(...velocity))),
      ...row("Angular velocity [rad/s]", list(three(shown.a.angularVelocity))),
      ...row("Normal contact force [N]", contacts ? format(forceOn(contacts, i)) : "–"),
    );
    for (const plot of this.plots) plot.setTime(player.time);
  }
}

function row(name: string, value: string): HTMLElement[] {
  return [el("dt", {}, name), el("dd", {}, value)];
}
