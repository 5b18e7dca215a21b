// Plots of columns of `series.csv`, chosen from a menu; several at once, and all runs in each.

import type { App } from "../app";
import { button, el } from "./dom";
import { Plot, type Curve } from "./plot";

/** Panel of series plots. */
export class SeriesPlots {
  readonly element = el("section", { class: "card", "aria-label": "Plots of series" });
  private readonly menu = el("select", { "aria-label": "Add a plot" });
  private readonly list = el("div");
  private readonly plots = new Map<string, Plot>();

  constructor(private readonly app: App) {
    this.menu.addEventListener("change", () => {
      this.add(this.menu.value);
      this.menu.value = "";
    });
    this.element.append(el("h2", {}, "Plots"), this.menu, this.list);
    app.on("series", () => this.update());
    app.on("time", () => this.plots.forEach((plot) => plot.setTime(app.player.time)));
    this.update();
  }

  /** Adds the plot of a column, if there is one with this name. */
  add(name: string): void {
    if (name === "" || this.plots.has(name)) return;
    const close = button(`Remove plot of ${name}`, () => this.remove(name), { icon: "close" });
    const plot = new Plot(name, (time) => {
      this.app.player.seek(time);
      this.app.emit("time");
    }, close);
    this.plots.set(name, plot);
    this.list.append(plot.element);
    this.update();
    plot.setTime(this.app.player.time);
  }

  private remove(name: string): void {
    this.plots.get(name)?.element.remove();
    this.plots.delete(name);
    this.menu.focus();
  }

  /** Adds the first column, for example when the panel is opened. */
  addFirst(): void {
    if (this.plots.size === 0) this.add(this.names()[0] ?? "");
  }

  private names(): string[] {
    return [...new Set(this.app.runs.flatMap((run) => run.series.names.slice(1)))];
  }

  private update(): void {
    const names = this.names();
    this.element.hidden = names.length === 0;
    const wanted = ["", ...names];
    if (this.menu.options.length !== wanted.length) {
      this.menu.replaceChildren(...wanted.map((name) => el("option", { value: name }, name || "Add a plot …")));
    }
    for (const [name, plot] of this.plots) plot.setCurves(this.curves(name), this.app.player.start, this.app.player.end);
  }

  private curves(name: string): Curve[] {
    return this.app.runs.flatMap((run, i) => {
      const column = run.series.names.indexOf(name);
      if (column < 0) return [];
      return [{ label: this.app.runs.length > 1 ? run.title : undefined, colour: i === 0 ? "--curve-1" : "--curve-2", x: run.series.columns[0], y: run.series.columns[column] }];
    });
  }
}
