// Small helpers for elements. Text always goes through `textContent`: names come from scene files.

type Child = Node | string;

/** Element with attributes; attributes that are `false` are left out. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, string | number | boolean> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

/** Paths of icons in a square of 16 units; fonts draw these symbols differently or not at all. */
const ICONS: Record<string, string> = {
  play: "M4 2.5v11l9.5-5.5z",
  pause: "M3.5 2.5h3.2v11H3.5zM9.3 2.5h3.2v11H9.3z",
  previous: "M3 3h2.2v10H3zM13 3v10L6 8z",
  next: "M10.8 3H13v10h-2.2zM3 3v10l7-5z",
  theme: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13zM8 3.2a4.8 4.8 0 0 1 0 9.6z",
  close: "M3.2 4.6L4.6 3.2L8 6.6l3.4-3.4l1.4 1.4L9.4 8l3.4 3.4l-1.4 1.4L8 9.4l-3.4 3.4l-1.4-1.4L6.6 8z",
};

function drawIcon(path: string): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const shape = document.createElementNS(space, "path");
  shape.setAttribute("d", path);
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.append(shape);
  return svg;
}

/** Replaces the icon and the label of a button. */
export function setIcon(b: HTMLButtonElement, icon: string, label: string): void {
  b.replaceChildren(drawIcon(ICONS[icon]));
  b.setAttribute("aria-label", label);
}

/** Button with a label, an action, and its shortcut in the tooltip. */
export function button(label: string, action: () => void, { icon = "", shortcut = "" } = {}): HTMLButtonElement {
  const title = shortcut ? `${label} (${shortcut})` : label;
  const b = el("button", { type: "button", title });
  if (icon) {
    b.setAttribute("aria-label", label);
    b.append(ICONS[icon] ? drawIcon(ICONS[icon]) : el("span", { "aria-hidden": "true" }, icon));
  } else b.textContent = label;
  b.addEventListener("click", action);
  return b;
}

/** Check box with a label. */
export function check(label: string, value: boolean, change: (on: boolean) => void, shortcut = ""): HTMLLabelElement & { box: HTMLInputElement } {
  const box = el("input", { type: "checkbox" });
  box.checked = value;
  box.addEventListener("change", () => change(box.checked));
  const text = el("span", {}, label);
  const row = el("label", { class: "check", ...(shortcut ? { title: `Shortcut ${shortcut}` } : {}) }, box, text);
  if (shortcut) row.append(el("kbd", { "aria-hidden": "true" }, shortcut));
  return Object.assign(row, { box });
}

/** Slider with a label and its value. */
export function slider(
  label: string, { min, max, step, value }: { min: number; max: number; step: number; value: number },
  show: (v: number) => string, change: (v: number) => void,
): HTMLLabelElement & { input: HTMLInputElement; set: (v: number) => void } {
  const input = el("input", { type: "range", min, max, step });
  input.value = String(value);
  const output = el("output", {}, show(value));
  input.addEventListener("input", () => {
    output.textContent = show(Number(input.value));
    change(Number(input.value));
  });
  const row = el("label", { class: "slider" }, el("span", {}, label), output, input);
  const set = (v: number) => {
    input.value = String(v);
    output.textContent = show(v);
  };
  return Object.assign(row, { input, set });
}

/** Menu with a label. */
export function select(label: string, options: [value: string, text: string][], value: string, change: (v: string) => void) {
  const menu = el("select", {}, ...options.map(([v, text]) => el("option", { value: v }, text)));
  menu.value = value;
  menu.addEventListener("change", () => change(menu.value));
  return Object.assign(el("label", { class: "select" }, el("span", {}, label), menu), { menu });
}

/** Section that can be folded. */
export function section(title: string, open: boolean, ...children: Child[]): HTMLDetailsElement {
  return el("details", { open }, el("summary", {}, title), el("div", { class: "section" }, ...children));
}

/** Number with four significant digits. */
export function format(x: number): string {
  if (!Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(2).replace("e+", "e");
  return String(Number(x.toPrecision(4)));
}
