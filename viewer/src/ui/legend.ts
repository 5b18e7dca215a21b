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
    // The materials change with the model, when stones break.
    for (const event of ["settings", "range", "runs", "time"] as const) app.on(event, () => this.update());
  }

  update(): void {
    const { app } = this;
    const info = fieldInfo(app.settings.field);
    const materials = info.name === "material" ? app.painter.materials : [];
    const range = app.painter.range;
    const key = JSON.stringify([info.name, range, materials]);
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
    const rows = materialRows(materials).map(([name, colour]) => {
      const swatch = el("span", { class: "swatch", hidden: colour === null });
      swatch.style.background = colour ?? "";
      return el("div", { class: "material" }, swatch, el("span", {}, name));
    });
    this.element.replaceChildren(el("div", { class: "title" }, "Material"), ...rows);
  }
}

/** Materials in a legend, at most. */
const MATERIALS = 12;

/** Names and colours of materials, and how many more there are. */
function materialRows(materials: string[]): [name: string, colour: string | null][] {
  const rows = materials.slice(0, MATERIALS).map((name, i): [string, string | null] => [name, css(categorical(i))]);
  if (materials.length > MATERIALS) rows.push([`and ${materials.length - MATERIALS} more`, null]);
  return rows;
}

/** Draws the legend onto a picture; sizes in pixels. */
export function drawLegend(context: CanvasRenderingContext2D, app: App, scale: number, dark: boolean): void {
  const { field } = app.settings;
  if (field === "plain") return;
  if (field === "material") drawMaterials(context, app.painter.materials, scale, dark);
  else drawBar(context, app, scale, dark);
}

/** Draws the list of materials. */
function drawMaterials(context: CanvasRenderingContext2D, materials: string[], scale: number, dark: boolean): void {
  const rows = materialRows(materials);
  context.font = `${12 * scale}px system-ui, sans-serif`;
  const widest = Math.max(50 * scale, ...rows.map(([name]) => context.measureText(name).width));
  const [x, height] = [16 * scale, (20 * rows.length + 28) * scale];
  const y = context.canvas.height - 12 * scale - height;
  context.fillStyle = dark ? "rgba(28,30,34,0.8)" : "rgba(255,255,255,0.8)";
  context.fillRect(x - 8 * scale, y, widest + 38 * scale, height);
  const text = dark ? "#eceef2" : "#1c1e22";
  context.fillStyle = text;
  context.fillText("Material", x, y + 18 * scale);
  rows.forEach(([name, colour], i) => {
    const at = y + (38 + 20 * i) * scale;
    if (colour) {
      context.fillStyle = colour;
      context.fillRect(x, at - 11 * scale, 14 * scale, 14 * scale);
    }
    context.fillStyle = text;
    context.fillText(name, x + 22 * scale, at);
  });
}

/** Draws the bar of the colours with its limits. */
function drawBar(context: CanvasRenderingContext2D, app: App, scale: number, dark: boolean): void {
  const info = fieldInfo(app.settings.field);
  const range = app.painter.range;
  if (!range) return;
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
