// Shortcuts. They work everywhere except in fields for text and numbers; arrows move the camera when the scene
// has the focus.

import type { App } from "./app";
import type { ViewName } from "./camera";
import { FIELDS } from "./colour/fields";

/** A key, what it does, and the action. */
export interface Shortcut {
  key: string;
  label: string;
  action: () => void;
}

/** What the shortcuts need beside the application. */
export interface Actions {
  toggle: () => void;
  follow: () => void;
  loop: () => void;
  speed: (by: number) => void;
  picture: () => void;
  video: () => void;
  theme: () => void;
  help: () => void;
  controls: () => void;
  plots: () => void;
}

/** All shortcuts. */
export function shortcuts(app: App, actions: Actions): Shortcut[] {
  const { settings } = app;
  const flip = <T>(target: T, key: keyof T) => () => {
    target[key] = !target[key] as T[keyof T];
    app.changed();
  };
  const view = (name: ViewName) => () => app.stage.camera.view(name);
  const nextField = () => {
    const i = FIELDS.findIndex((f) => f.name === settings.field);
    app.setField(FIELDS[(i + 1) % FIELDS.length].name);
  };
  return [
    { key: " ", label: "Play or pause", action: actions.toggle },
    { key: ",", label: "Previous frame", action: () => app.step(-1) },
    { key: ".", label: "Next frame", action: () => app.step(1) },
    { key: "Home", label: "First frame", action: () => app.setFrame(0, app.reference) },
    { key: "End", label: "Last frame", action: () => app.setFrame(Infinity, app.reference) },
    { key: "[", label: "Slower", action: () => actions.speed(-1) },
    { key: "]", label: "Faster", action: () => actions.speed(1) },
    { key: "r", label: "Loop", action: actions.loop },
    { key: "l", label: "Follow a growing run", action: actions.follow },
    { key: "f", label: "Fit the view", action: () => app.fit() },
    { key: "1", label: "Front view", action: view("front") },
    { key: "2", label: "Side view", action: view("side") },
    { key: "3", label: "Top view", action: view("top") },
    { key: "4", label: "Isometric view", action: view("iso") },
    { key: "o", label: "Orthographic or perspective", action: flip(app.stage.camera, "orthographic") },
    { key: "c", label: "Next colouring", action: nextField },
    { key: "k", label: "Force chains", action: () => app.setChains(!settings.lines.chains) },
    { key: "n", label: "Contact normals", action: flip(settings.lines, "normals") },
    { key: "v", label: "Contact forces", action: flip(settings.lines, "forces") },
    { key: "w", label: "Walls", action: flip(settings.look, "walls") },
    { key: "g", label: "Ground", action: flip(settings.look, "ground") },
    { key: "e", label: "Edges", action: flip(settings.look, "edges") },
    { key: "h", label: "Shadows", action: flip(settings, "shadows") },
    { key: "j", label: "Joints and loops", action: flip(settings.lines, "joints") },
    { key: "a", label: "Frames of mechanisms", action: flip(settings.lines, "axes") },
    { key: "t", label: "Trails of picked bodies", action: flip(settings, "trails") },
    { key: "m", label: "Smooth motion", action: flip(settings, "interpolate") },
    { key: "b", label: "Controls", action: actions.controls },
    { key: "d", label: "Plots", action: actions.plots },
    { key: "p", label: "Save a picture", action: actions.picture },
    { key: "x", label: "Record a video", action: actions.video },
    { key: "i", label: "Light or dark", action: actions.theme },
    { key: "Escape", label: "Clear picked bodies", action: () => app.selection.clear() },
    { key: "?", label: "This help", action: actions.help },
  ];
}

/** Connects the shortcuts to the page. */
export function connectKeyboard(list: Shortcut[]): void {
  const byKey = new Map(list.map((s) => [s.key, s.action]));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target as HTMLElement;
    if (document.querySelector("dialog[open]") || isTyping(target)) return;
    // The space bar and the arrows belong to the control that has the focus.
    const own = target.closest("button, select, summary, input");
    if (own && [" ", "Home", "End"].includes(event.key)) return;
    if (target instanceof HTMLSelectElement && event.key.length === 1) return;
    const action = byKey.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function isTyping(target: HTMLElement): boolean {
  return target instanceof HTMLInputElement && !["range", "checkbox"].includes(target.type);
}

/** Arrows turn the camera, with shift they move it; plus and minus zoom. */
export function connectCameraKeys(canvas: HTMLElement, app: App): void {
  const { camera } = app.stage;
  const arrows: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  canvas.addEventListener("keydown", (event) => {
    const arrow = arrows[event.key];
    if (arrow && event.shiftKey) camera.pan(-0.05 * arrow[0], -0.05 * arrow[1]);
    else if (arrow) camera.orbit(-0.1 * arrow[0], 0.1 * arrow[1]);
    else if (event.key === "+" || event.key === "=") camera.zoom(0.87);
    else if (event.key === "-") camera.zoom(1.15);
    else if (event.key === "Enter") app.pickAt(app.stage.width / 2, app.stage.height / 2, event.shiftKey);
    else return;
    event.preventDefault();
  });
}
