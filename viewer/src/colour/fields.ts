// Quantities by which bodies are coloured, evaluated for one frame.

import { Kind, normalForce, type Contacts, type Frame, type Model } from "../data/protocol";
import { NO_VALUE, categorical, machine, sequential, varied, type Rgb } from "./maps";

export type FieldName = "plain" | "speed" | "force" | "displacement" | "size" | "material" | "coordination";

/** Description of a field for menus and the legend. */
export interface FieldInfo {
  name: FieldName;
  label: string;
  unit: string;
  needsContacts: boolean;
}

export const FIELDS: FieldInfo[] = [
  { name: "plain", label: "Plain", unit: "", needsContacts: false },
  { name: "speed", label: "Speed", unit: "m/s", needsContacts: false },
  { name: "force", label: "Normal contact force", unit: "N", needsContacts: true },
  { name: "displacement", label: "Displacement", unit: "m", needsContacts: false },
  { name: "size", label: "Size", unit: "m", needsContacts: false },
  { name: "material", label: "Material", unit: "", needsContacts: false },
  { name: "coordination", label: "Coordination number", unit: "–", needsContacts: true },
];

export function fieldInfo(name: FieldName): FieldInfo {
  return FIELDS.find((f) => f.name === name) ?? FIELDS[0];
}

/** Positions of the first frame by id, for displacements. */
export type Origins = Map<number, [number, number, number]>;

/** Positions of all bodies of a frame by id. */
export function originsOf(model: Model, frame: Frame): Origins {
  const origins: Origins = new Map();
  for (let i = 0; i < model.n; i++) {
    origins.set(model.id[i], [frame.position[3 * i], frame.position[3 * i + 1], frame.position[3 * i + 2]]);
  }
  return origins;
}

/** Which bodies are coloured by a field: stones, or everything that moves if there are none. */
export function colouredBodies(model: Model): Uint8Array {
  const stones = model.kind.includes(Kind.Stone);
  return Uint8Array.from(model.kind, (k) => (stones ? k === Kind.Stone : k !== Kind.Wall) ? 1 : 0);
}

/** Sum of normal contact forces on each body [N]. */
export function forces(contacts: Contacts, n: number): Float32Array {
  const sums = new Float32Array(n);
  for (let c = 0; c < contacts.m; c++) {
    const f = normalForce(contacts, c);
    sums[contacts.bodies[2 * c]] += f;
    sums[contacts.bodies[2 * c + 1]] += f;
  }
  return sums;
}

/** Number of bodies that press on each body. Several points of one pair count once. */
export function coordination(contacts: Contacts, n: number): Float32Array {
  const counts = new Float32Array(n);
  const pairs = new Set<number>();
  for (let c = 0; c < contacts.m; c++) {
    if (normalForce(contacts, c) === 0) continue;
    const a = contacts.bodies[2 * c];
    const b = contacts.bodies[2 * c + 1];
    const key = Math.min(a, b) * n + Math.max(a, b);
    if (pairs.has(key)) continue;
    pairs.add(key);
    counts[a]++;
    counts[b]++;
  }
  return counts;
}

/** Values of a field for all bodies; NaN where there is none. */
export function evaluate(
  field: FieldName, model: Model, frame: Frame, contacts: Contacts | undefined, origins: Origins | undefined,
): Float32Array {
  const n = model.n;
  const none = () => new Float32Array(n).fill(NaN);
  switch (field) {
    case "speed":
      return Float32Array.from({ length: n }, (_, i) =>
        Math.hypot(frame.velocity[3 * i], frame.velocity[3 * i + 1], frame.velocity[3 * i + 2]));
    case "displacement":
      return origins ? displacements(model, frame, origins) : none();
    case "size":
      return model.size;
    case "force":
      return contacts ? forces(contacts, n) : none();
    case "coordination":
      return contacts ? coordination(contacts, n) : none();
    case "material":
      return Float32Array.from(model.material);
    case "plain":
      return none();
  }
}

function displacements(model: Model, frame: Frame, origins: Origins): Float32Array {
  const { position: p } = frame;
  return Float32Array.from({ length: model.n }, (_, i) => {
    const o = origins.get(model.id[i]);
    return o ? Math.hypot(p[3 * i] - o[0], p[3 * i + 1] - o[1], p[3 * i + 2] - o[2]) : NaN;
  });
}

/** Range of values [unit of the field]. */
export interface Range {
  min: number;
  max: number;
  /** Whether values above `max` exist: it is then the 99th percentile of a frame. */
  above: boolean;
}

/** Number of bodies from which the automatic range ends at the 99th percentile. */
const MANY = 200;

/** Automatic range of one frame over the coloured bodies; it starts at 0 except for the size. */
export function rangeOf(field: FieldName, values: Float32Array, coloured: Uint8Array): Range | null {
  const known = values.filter((v, i) => coloured[i] === 1 && Number.isFinite(v)).sort();
  if (known.length === 0) return null;
  const last = known[known.length - 1];
  const exact = field === "size" || field === "coordination" || known.length < MANY;
  const max = exact ? last : known[Math.floor(0.99 * (known.length - 1))];
  return { min: field === "size" ? known[0] : 0, max: max > 0 ? max : last, above: max > 0 && max < last };
}

/** Smallest range that covers both. */
export function union(a: Range | null, b: Range | null): Range | null {
  if (!a || !b) return a ?? b;
  const above = (a.max === b.max && (a.above || b.above)) || (a.max > b.max ? a.above : b.above);
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max), above };
}

/** Colour of a body that is not coloured by a field; `number` counts the bodies of machines. */
function plainColour(model: Model, i: number, number: number): Rgb {
  switch (model.kind[i]) {
    // Stones differ slightly, so that they can be told apart.
    case Kind.Stone: return varied(categorical(0), model.id[i]);
    case Kind.Wall: return [150, 160, 172];
    case Kind.Node: return machine(Math.max(0, model.flexible.findIndex((f) => i >= f.first && i < f.first + f.nodes)));
    default: return machine(number);
  }
}

/** Fourth byte of bodies that stay opaque when stones are made see-through. */
const MACHINE_ALPHA = 128;

/** Names of the materials of several models, each once: the same material has the same colour in all runs. */
export function materialNames(models: (Model | null)[]): string[] {
  return [...new Set(models.flatMap((model) => model?.materials ?? []))];
}

/** Colours of all bodies as RGBA bytes, `values` mapped from `range`; `materials` are the numbers of the materials in the legend. */
export function colours(
  field: FieldName, model: Model, values: Float32Array, coloured: Uint8Array, range: Range | null, out: Uint8Array, materials: number[] = [],
): void {
  const span = range && range.max > range.min ? range.max - range.min : 1;
  let machines = 0;
  for (let i = 0; i < model.n; i++) {
    let colour: Rgb;
    if (field === "material" && model.kind[i] !== Kind.Wall) colour = categorical(materials[model.material[i]] ?? model.material[i]);
    else if (field === "plain" || field === "material" || coloured[i] === 0) colour = plainColour(model, i, machines);
    else colour = range && Number.isFinite(values[i]) ? sequential((values[i] - range.min) / span) : NO_VALUE;
    if (model.kind[i] === Kind.Driven || model.kind[i] === Kind.Mechanism) machines++;
    out[4 * i] = colour[0];
    out[4 * i + 1] = colour[1];
    out[4 * i + 2] = colour[2];
    out[4 * i + 3] = model.kind[i] === Kind.Stone ? 255 : MACHINE_ALPHA;
  }
}
