// Legend of the colours: a bar with its limits, or a list of materials.

import { fieldInfo } from "../colour/fields";
import { categorical, css, sequential } from "../colour/maps";
import type { App } from "../app";
import { el, format } from "./dom";

const STOPS = Array.from({ length: 17 }, (_, i) => css(sequential(i / 16)));

/** Legend in a corner of the scene. */
export class Legend {
  readonly element = el("div", { class: "legend", role: "img", hidden: true });
  private shown = "";

  constructor(private readonly app: App) {
    for (const event of ["settings", "range", "runs"] as const) app.on(event, () => this.update());
  }

  update(): void {
    const { app } = this;
    const info = fieldInfo(app.settings.field);
    const materials = app.worlds[0].model?.materials ?? [];
    const range = app.painter.range;
    const key = JSON.stringify([info.name, range, info.name === "material" ? materials : []]);
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = info.name === "plain" || (info.name !== "material" && !range);
    if (info.name === "material") this.showMaterials(materials);
    else if (range) this.showBar(info.label, info.unit, range.min, range.max, range.above);
  }

  private showBar(label: string, unit: string, min: number, max: number, above: boolean): void {
    const title = unit ? `${label} [${unit}]` : label;
    const bar = el("div", { class: "bar" });
    bar.style.background = `linear-gradient(to right, ${STOPS.join(", ")})`;
    const top = `${above ? "≥ " : ""}${format(max)}`;
    const ticks = el("div", { class: "ticks" }, el("span", {}, format(min)), el("span", {}, format((min + max) / 2)), el("span", {}, top));
    this.element.setAttribute("aria-label", `Colours: ${title} from ${format(min)} to ${format(max)}`);
    this.element.replaceChildren(el("div", { class: "title" }, title), bar, ticks);
  }

  private showMaterials(materials: string[]): void {
    this.element.setAttribute("aria-label", `Colours: ${materials.join(", ")}`);
    const rows = materials.slice(0, 12).map((name, i) => {
      const swatch = el("span", { class: "swatch" });
      swatch.style.background = css(categorical(i));
      return el("div", { class: "material" }, swatch, el("span", {}, name));
    });
    if (materials.length > 12) rows.push(el("div", {}, `and ${materials.length - 12} more`));
    this.element.replaceChildren(el("div", { class: "title" }, "Material"), ...rows);
  }
}

/** Draws the legend onto a picture; sizes in pixels. */
export function drawLegend(context: CanvasRenderingContext2D, app: App, scale: number, dark: boolean): void {
  const info = fieldInfo(app.settings.field);
  const range = app.painter.range;
  if (info.name === "plain" || info.name === "material" || !range) return;
  const [x, y, width, height] = [16 * scale, context.canvas.height - 52 * scale, 220 * scale, 12 * scale];
  context.fillStyle = dark ? "rgba(28,30,34,0.8)" : "rgba(255,255,255,0.8)";
  context.fillRect(x - 8 * scale, y - 24 * scale, width + 16 * scale, 64 * scale);
  const gradient = context.createLinearGradient(x, 0, x + width, 0);
  STOPS.forEach((colour, i) => gradient.addColorStop(i / (STOPS.length - 1), colour));
  context.fillStyle = gradient;
  context.fillRect(x, y, width, height);
  context.fillStyle = dark ? "#eceef2" : "#1c1e22";
  context.font = `${12 * scale}px system-ui, sans-serif`;
  context.fillText(`${info.label} [${info.unit}]`, x, y - 8 * scale);
  context.fillText(format(range.min), x, y + 28 * scale);
  context.textAlign = "right";
  context.fillText(`${range.above ? "≥ " : ""}${format(range.max)}`, x + width, y + 28 * scale);
  context.textAlign = "left";
}
