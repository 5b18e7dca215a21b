// A small plot of curves over time, with the current time marked. A click moves the time, and so do the arrow keys.

import { el, format } from "./dom";

/** Curve of a plot. */
export interface Curve {
  /** Name shown beside the title, if there are several. */
  label?: string;
  /** Name of a colour of the theme. */
  colour: "--curve-1" | "--curve-2" | "--curve-3";
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  /** Distance between values in `y`, and the first one. */
  stride?: number;
  offset?: number;
}

const HEIGHT = 118;
/** Share of the times that the arrow keys and the page keys move by. */
const STEPS: Record<string, number> = { ArrowLeft: -0.01, ArrowDown: -0.01, ArrowRight: 0.01, ArrowUp: 0.01, PageDown: -0.1, PageUp: 0.1, Home: -1, End: 1 };

const MARGIN = { left: 46, right: 8, top: 6, bottom: 18 };

/** Plot of one quantity. */
export class Plot {
  readonly element: HTMLElement;
  private readonly labels = el("span", { class: "curve-labels" });
  private readonly canvas = el("canvas", { class: "plot", role: "slider", tabindex: 0, "aria-valuenow": 0 });
  private curves: Curve[] = [];
  private time = 0;
  private span: [number, number] = [0, 1];
  private limits: [number, number] = [0, 1];
  /** Parts of the curves to draw at a width, and the width. */
  private drawn: { width: number; parts: number[][] } | null = null;
  /** Place of the mark and theme of the last drawing. */
  private marked = "";

  constructor(readonly title: string, seek: (time: number) => void, close?: HTMLElement) {
    this.canvas.style.height = `${HEIGHT}px`;
    this.canvas.setAttribute("aria-label", title);
    const heading = el("div", { class: "plot-title" }, el("span", {}, title), this.labels);
    if (close) heading.append(close);
    this.element = el("figure", { class: "plot-box" }, heading, this.canvas);
    this.canvas.addEventListener("click", (event) => {
      const share = (event.offsetX - MARGIN.left) / (this.canvas.clientWidth - MARGIN.left - MARGIN.right);
      seek(this.span[0] + Math.min(1, Math.max(0, share)) * (this.span[1] - this.span[0]));
    });
    this.canvas.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      seek(Math.min(this.span[1], Math.max(this.span[0], this.time + step * (this.span[1] - this.span[0]))));
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  setCurves(curves: Curve[], start: number, end: number): void {
    this.curves = curves;
    this.span = [start, end > start ? end : start + 1];
    this.limits = limitsOf(curves);
    this.drawn = null;
    this.marked = "";
    this.labels.replaceChildren(...curves.flatMap(({ label, colour }) => {
      const text = el("span", {}, label ?? "");
      text.style.color = `var(${colour})`;
      return label ? [text] : [];
    }));
    const [low, high] = this.limits;
    this.canvas.setAttribute("aria-label", `${this.title}: from ${format(low)} to ${format(high)}`);
    this.canvas.setAttribute("aria-valuemin", String(this.span[0]));
    this.canvas.setAttribute("aria-valuemax", String(this.span[1]));
    this.draw();
  }

  setTime(time: number): void {
    this.time = time;
    // Only if the mark moves by a part of a pixel, or the colours change.
    const place = Math.round((4 * this.canvas.width * (time - this.span[0])) / (this.span[1] - this.span[0]));
    const mark = `${place} ${document.documentElement.dataset.theme}`;
    if (mark === this.marked) return;
    this.marked = mark;
    this.canvas.setAttribute("aria-valuenow", String(time));
    this.canvas.setAttribute("aria-valuetext", `${format(time)} s`);
    this.draw();
  }

  private draw(): void {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.canvas.clientWidth, HEIGHT];
    if (width < 60) return;
    const [columns, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== columns || this.canvas.height !== rows) [this.canvas.width, this.canvas.height] = [columns, rows];
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(this.canvas);
    const box = { left: MARGIN.left, top: MARGIN.top, width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
    this.drawAxes(context, box, style);
    context.save();
    context.beginPath();
    context.rect(box.left, box.top - 2, box.width, box.height + 4);
    context.clip();
    if (this.drawn?.width !== columns) this.drawn = { width: columns, parts: this.curves.map((curve) => outline(curve, this.span, columns)) };
    const { parts } = this.drawn;
    this.curves.forEach((curve, i) => this.drawCurve(context, box, curve, parts[i], style.getPropertyValue(curve.colour)));
    context.restore();
    const x = box.left + ((this.time - this.span[0]) / (this.span[1] - this.span[0])) * box.width;
    context.strokeStyle = style.getPropertyValue("--accent");
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, box.top);
    context.lineTo(x, box.top + box.height);
    context.stroke();
  }

  private drawAxes(context: CanvasRenderingContext2D, box: Box, style: CSSStyleDeclaration): void {
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = style.getPropertyValue("--muted");
    context.strokeStyle = style.getPropertyValue("--line");
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const y of ticks(...this.limits, 3)) {
      const at = box.top + box.height * (1 - (y - this.limits[0]) / (this.limits[1] - this.limits[0]));
      line(context, box.left, at, box.left + box.width, at);
      context.fillText(format(y), box.left - 5, at);
    }
    context.textBaseline = "top";
    context.fillText("t [s]", box.left - 12, box.top + box.height + 6);
    context.textAlign = "center";
    for (const x of ticks(...this.span, 4)) {
      const at = box.left + (box.width * (x - this.span[0])) / (this.span[1] - this.span[0]);
      context.fillText(format(x), Math.min(at, box.left + box.width - 8), box.top + box.height + 6);
    }
  }

  /** Draws the rows of a curve that are given by `outline`. */
  private drawCurve(context: CanvasRenderingContext2D, box: Box, { x, y, stride = 1, offset = 0 }: Curve, part: number[], colour: string): void {
    const [low, high] = this.limits;
    const toX = (v: number) => box.left + ((v - this.span[0]) / (this.span[1] - this.span[0])) * box.width;
    const toY = (v: number) => box.top + box.height * (1 - (v - low) / (high - low));
    context.strokeStyle = colour;
    context.lineWidth = 1.4;
    context.lineJoin = "round";
    context.beginPath();
    let pen = false;
    for (const k of part) {
      if (k >= 0 && pen) context.lineTo(toX(x[k]), toY(y[stride * k + offset]));
      else if (k >= 0) context.moveTo(toX(x[k]), toY(y[stride * k + offset]));
      pen = k >= 0;
    }
    context.stroke();
  }
}

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

function line(context: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

/**
 * Rows of a curve to draw on so many columns of pixels: the first, the smallest, the largest and the last value of each column, so that no
 * peak is lost. A gap is −1.
 */
export function outline({ x, y, stride = 1, offset = 0 }: Curve, [start, end]: [number, number], columns: number): number[] {
  const rows: number[] = [];
  let [column, first, low, high, last] = [NaN, -1, -1, -1, -1];
  const close = () => {
    if (first < 0) return;
    const [a, b] = low < high ? [low, high] : [high, low];
    for (const k of [first, a, b, last]) if (rows[rows.length - 1] !== k) rows.push(k);
    first = -1;
  };
  for (let k = 0; k < x.length; k++) {
    const value = y[stride * k + offset];
    if (!Number.isFinite(value)) {
      close();
      if (rows.length > 0 && rows[rows.length - 1] !== -1) rows.push(-1);
      continue;
    }
    const at = Math.floor((columns * (x[k] - start)) / (end - start));
    if (at !== column || first < 0) {
      close();
      column = at;
      first = low = high = k;
    }
    if (value < y[stride * low + offset]) low = k;
    if (value > y[stride * high + offset]) high = k;
    last = k;
  }
  close();
  return rows;
}

function limitsOf(curves: Curve[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const { x, y, stride = 1, offset = 0 } of curves) {
    for (let k = 0; k < x.length; k++) {
      const v = y[stride * k + offset];
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  if (low > high) return [0, 1];
  const pad = high > low ? 0.06 * (high - low) : Math.abs(high) * 0.1 || 1;
  return [low - pad, high + pad];
}

/** About `n` round numbers from `low` to `high`. */
export function ticks(low: number, high: number, n: number): number[] {
  const rough = (high - low) / n;
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const digit = rough / power;
  const step = power * (digit > 5 ? 10 : digit > 2 ? 5 : digit > 1 ? 2 : 1);
  const found: number[] = [];
  for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) found.push(Math.abs(v) < 1e-9 * step ? 0 : v);
  return found;
}
