// Dialog with the shortcuts.

import type { Shortcut } from "../keyboard";
import { button, el } from "./dom";

const KEY_NAMES: Record<string, string> = { " ": "Space", Escape: "Esc" };

const POINTER: [string, string][] = [
  ["Drag", "Turn the camera"],
  ["Shift or right drag", "Move the camera"],
  ["Wheel or pinch", "Zoom"],
  ["Click", "Pick a body"],
  ["Shift click", "Pick another body"],
  ["Arrows, + and −", "Camera, when the scene has the focus"],
  ["Enter", "Pick the body in the middle of the scene"],
];

/** Help dialog. */
export class Help {
  readonly element = el("dialog", { class: "help", "aria-labelledby": "help-title" });

  fill(list: Shortcut[]): void {
    const keys = list.map(({ key, label }): [string, string] => [KEY_NAMES[key] ?? key.toUpperCase(), label]);
    const rows = (pairs: [string, string][]) =>
      el("dl", { class: "keys" }, ...pairs.flatMap(([key, label]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, label)]));
    this.element.replaceChildren(
      el("div", { class: "card-head" }, el("h2", { id: "help-title" }, "Shortcuts"), button("Close", () => this.element.close(), { icon: "close" })),
      el("h3", {}, "Mouse and touch"), rows(POINTER), el("h3", {}, "Keys"), rows(keys),
    );
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}
