// Messages: a line above the scene for temporary problems, and a page for errors that prevent any display.

import { button, el } from "./dom";

/** Line with the last message. */
export class Banner {
  readonly element = el("div", { class: "banner", role: "alert", hidden: true });
  private readonly text = el("span");
  private from = "";

  constructor() {
    this.element.append(this.text, button("Dismiss message", () => this.show(null, this.from), { icon: "close" }));
  }

  /** Shows a message from a part of the viewer; `null` takes its last message back, but not those of others. */
  show(message: string | null, from: string): void {
    if (message === null && from !== this.from) return;
    this.from = from;
    this.element.hidden = message === null;
    this.text.textContent = message ?? "";
  }
}

/** Replaces the page by a message. */
export function showFailure(parent: HTMLElement, title: string, message: string, hint: string): void {
  parent.replaceChildren(
    el("main", { class: "failure", role: "alert" }, el("h1", {}, title), el("p", {}, message), el("p", { class: "hint" }, hint),
      button("Try again", () => window.location.reload())),
  );
}
