// Panel beside the scene: colours, what is shown, contacts, cut planes, camera and bodies.

import type { App } from "../app";
import type { ViewName } from "../camera";
import type { Run } from "../data/run";
import { FIELDS, type FieldName } from "../colour/fields";
import { button, check, el, format, section, select, slider } from "./dom";

type Check = ReturnType<typeof check>;
const percent = (v: number) => `${Math.round(100 * v)} %`;

/** All controls of the picture. */
export class Controls {
  readonly element = el("aside", { class: "controls", "aria-label": "Controls" });
  private readonly refresh: (() => void)[] = [];

  constructor(private readonly app: App) {
    this.element.append(
      section("Colour", true, ...this.colour()),
      section("Show", true, ...this.show()),
      section("Contacts", true, ...this.contacts()),
      section("Cut", false, ...this.cuts()),
      section("Camera", true, ...this.camera()),
      section("Find", false, ...this.find()),
      ...app.runs.map((run) => runSection(run, app.runs.length > 1)),
    );
    app.on("settings", () => this.update());
    app.on("range", () => this.update());
    this.update();
  }

  private update(): void {
    for (const refresh of this.refresh) refresh();
  }

  /** Check box bound to a setting. */
  private toggle(label: string, get: () => boolean, set: (on: boolean) => void, shortcut = ""): Check {
    const box = check(label, get(), (on) => {
      set(on);
      this.app.changed();
    }, shortcut);
    this.refresh.push(() => (box.box.checked = get()));
    return box;
  }

  private colour(): HTMLElement[] {
    const { app } = this;
    const field = select("By", FIELDS.map((f) => [f.name, f.label]), app.settings.field, (v) => app.setField(v as FieldName));
    const refused = el("p", { class: "hint refused", role: "status" });
    const limit = (label: string, end: "min" | "max") => {
      const input = el("input", { type: "number", step: "any", "aria-label": `${label} of the colours` });
      const judge = (reason: string) => {
        refused.textContent = reason;
        input.setAttribute("aria-invalid", String(reason !== ""));
      };
      input.addEventListener("change", () => {
        const { min, max } = app.painter.range ?? { min: 0, max: 1 };
        const value = Number(input.value);
        const range = { min, max, [end]: value };
        if (input.value === "" || !Number.isFinite(value)) judge("A limit is a number.");
        else if (range.min >= range.max) judge(end === "min" ? `The lower limit must be below the upper one, ${format(max)}.` : `The upper limit must be above the lower one, ${format(min)}.`);
        else {
          judge("");
          app.settings.range = range;
          app.changed();
        }
      });
      // What was refused is replaced by the limit in use.
      const show = () => (input.value = app.painter.range ? short(app.painter.range[end]) : "");
      input.addEventListener("blur", show);
      this.refresh.push(() => {
        if (document.activeElement === input) return;
        show();
        input.setAttribute("aria-invalid", "false");
      });
      return input;
    };
    const automatic = button("Limits of the run", () => {
      refused.textContent = "";
      app.settings.range = null;
      app.changed();
    });
    const limits = el("div", { class: "limits" }, limit("Lower limit", "min"), el("span", {}, "to"), limit("Upper limit", "max"), automatic, refused);
    this.refresh.push(() => {
      field.menu.value = app.settings.field;
      limits.hidden = app.settings.field === "plain" || app.settings.field === "material";
      automatic.disabled = app.settings.range === null;
    });
    return [field, limits];
  }

  private show(): HTMLElement[] {
    const { settings } = this.app;
    const { look, lines } = settings;
    const opacity = (label: string, key: "solidOpacity" | "wallOpacity") => {
      const row = slider(label, { min: 0, max: 1, step: 0.01, value: look[key] }, percent, (v) => {
        look[key] = v;
        this.app.changed();
      });
      this.refresh.push(() => row.set(look[key]));
      return row;
    };
    return [
      this.toggle("Walls", () => look.walls, (on) => (look.walls = on), "W"),
      opacity("Opacity of walls", "wallOpacity"),
      opacity("Opacity of stones", "solidOpacity"),
      this.toggle("Ground", () => look.ground, (on) => (look.ground = on), "G"),
      this.toggle("Edges", () => look.edges, (on) => (look.edges = on), "E"),
      this.toggle("Shadows", () => settings.shadows, (on) => (settings.shadows = on), "H"),
      this.toggle("Joints and loops", () => lines.joints, (on) => (lines.joints = on), "J"),
      this.toggle("Frames of mechanisms", () => lines.axes, (on) => (lines.axes = on), "A"),
      this.toggle("Ropes", () => lines.ropes, (on) => (lines.ropes = on)),
      this.toggle("Trails of picked bodies", () => settings.trails, (on) => (settings.trails = on), "T"),
      this.toggle("Smooth motion", () => settings.interpolate, (on) => (settings.interpolate = on), "M"),
    ];
  }

  private contacts(): HTMLElement[] {
    const { settings } = this.app;
    const { lines } = settings;
    const width = slider("Width of chains", { min: 0.2, max: 4, step: 0.1, value: 1 }, (v) => `${v}×`, (v) => {
      lines.chainScale = v;
      this.app.changed();
    });
    const chains = check("Force chains", lines.chains, (on) => this.app.setChains(on), "K");
    const scale = el("p", { class: "hint" });
    const update = () => {
      chains.box.checked = lines.chains;
      width.hidden = !lines.chains;
      const largest = Math.max(...this.app.worlds.map((w) => w.largest));
      scale.hidden = !(lines.chains || lines.forces) || largest === 0;
      scale.textContent = `Largest force so far: ${format(largest)} N`;
    };
    this.refresh.push(update);
    this.app.on("time", update);
    return [
      chains,
      width,
      scale,
      this.toggle("Contact normals", () => lines.normals, (on) => (lines.normals = on), "N"),
      this.toggle("Contact forces", () => lines.forces, (on) => (lines.forces = on), "V"),
    ];
  }

  private cuts(): HTMLElement[] {
    const { app } = this;
    return ["x", "y", "z"].map((axis, d) => {
      const cut = app.settings.cuts[d];
      const position = slider("Position", { min: 0, max: 1, step: 0.005, value: cut.at }, (v) => `${format(app.cutPosition(d, v))} m`, (v) => {
        cut.at = v;
        app.changed();
      });
      position.input.setAttribute("aria-label", `Position of the cut across ${axis}`);
      const side = this.toggle(`Remove the lower side of ${axis}`, () => cut.flip, (on) => (cut.flip = on));
      this.refresh.push(() => {
        position.hidden = side.hidden = !cut.on;
        position.set(cut.at);
      });
      return el("div", {}, this.toggle(`Cut across ${axis}`, () => cut.on, (on) => (cut.on = on)), position, side);
    });
  }

  private camera(): HTMLElement[] {
    const { app } = this;
    const { camera } = app.stage;
    const views: [ViewName, string][] = [["front", "Front"], ["side", "Side"], ["top", "Top"], ["iso", "Iso"]];
    const buttons = views.map(([name, label], i) => button(label, () => camera.view(name), { shortcut: String(i + 1) }));
    return [
      el("div", { class: "row views" }, ...buttons, button("Fit", () => app.fit(), { shortcut: "F" })),
      this.toggle("Orthographic", () => camera.orthographic, (on) => (camera.orthographic = on), "O"),
    ];
  }

  private find(): HTMLElement[] {
    const { app } = this;
    const input = el("input", { type: "search", "aria-label": "Id or name of a body", placeholder: "Id or name" });
    const answer = el("p", { class: "hint", role: "status" });
    const form = el("form", { class: "row" }, input, el("button", { type: "submit" }, "Pick"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const found = findBody(app, input.value.trim());
      answer.textContent = found ? "" : `No body has the id or name “${input.value}”.`;
      if (found) app.selection.pick(found.run, found.id);
    });
    return [form, answer];
  }
}

/** Number with four significant digits, as fields for numbers accept it. */
function short(x: number): string {
  const size = Math.abs(x);
  return x === 0 || (size >= 1e-3 && size < 1e5) ? String(Number(x.toPrecision(4))) : x.toExponential(3).replace("e+", "e");
}

/** Facts about a run; its summary is loaded when the section is opened. */
function runSection(run: Run, several: boolean): HTMLElement {
  const table = el("dl", { class: "properties" });
  const fill = (facts: [string, unknown][]) => {
    table.replaceChildren(...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]));
  };
  const own = (): [string, unknown][] => [["Folder", run.info.name], ["State", run.info.state], ["Frames", run.nFrames], ["Version", run.info.version]];
  const details = section(several ? `Run ${run.number + 1}` : "Run", false, table);
  details.addEventListener("toggle", () => {
    if (!details.open) return;
    fill(own());
    run.summary().then(
      (text) => fill([...own(), ...(text ? factsOf(JSON.parse(text)) : [])]),
      () => fill([...own(), ["Summary", "not available"]]),
    );
  });
  return details;
}

/** Plain values of a summary by name. */
function factsOf(summary: unknown): [string, unknown][] {
  if (typeof summary !== "object" || summary === null) return [];
  return Object.entries(summary)
    .filter(([, value]) => ["number", "string", "boolean"].includes(typeof value))
    .map(([name, value]) => [name.replaceAll("_", " "), typeof value === "number" ? format(value) : value]);
}

/** Body with an id or a name in any run. */
export function findBody(app: App, text: string): { run: number; id: number } | null {
  for (const [run, { model }] of app.worlds.entries()) {
    if (!model || text === "") continue;
    const byName = model.names.indexOf(text);
    const index = byName >= 0 ? byName : model.id.indexOf(Number(text));
    if (index >= 0) return { run, id: model.id[index] };
  }
  return null;
}
