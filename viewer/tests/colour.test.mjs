// Colour maps and the quantities behind them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { load, unload } from "./load.mjs";
import { SyntheticRun } from "./synthetic.mjs";

const { sequential, heat, categorical, machine, varied } = await load("colour/maps.ts");
const { evaluate, rangeOf, union, colouredBodies, coordination, forces, originsOf, colours, materialNames } = await load("colour/fields.ts");
const { decodeRrb } = await load("data/rrb.ts");
const { parseModel, parseFrame, parseContacts } = await load("data/protocol.ts");
after(unload);

const RUST = readFileSync(new URL("../../crates/riprap-view/src/picture/colour.rs", import.meta.url), "utf8");

test("maps and palettes are those of the pictures that riprap renders", () => {
  const table = (name) => new RegExp(`const ${name}: [^=]*=\\s*\\[([^\\]]*)\\]`).exec(RUST)[1].match(/0x[0-9a-f]{6}/g).map(Number);
  const digits = ([r, g, b]) => (r << 16) | (g << 8) | b;
  const all = (name, colour) => table(name).forEach((expected, i, { length }) => assert.equal(digits(colour(i, length - 1)), expected, `${name} ${i}`));
  all("SEQUENTIAL", (i, last) => sequential(i / last));
  all("HEAT", (i, last) => heat(i / last));
  all("CATEGORIES", categorical);
  all("MACHINES", machine);
  // Halfway between the first two anchors, and the variation of two stones by the hash of the renderer.
  assert.deepEqual(sequential(0.05), [70, 19, 101]);
  const lightness = (number) => varied([200, 0, 0], number)[0] / 200;
  for (let id = 0; id < 100; id++) assert.ok(lightness(id) >= 0.84 && lightness(id) <= 1.1201);
});

test("values outside the range take the colours at its ends", () => {
  assert.deepEqual(sequential(-3), sequential(0));
  assert.deepEqual(sequential(1e9), sequential(1));
  assert.deepEqual(categorical(0), categorical(8));
});

const run = new SyntheticRun({ stones: 300, frames: 60 });
const read = (file, parse, ...more) => parse(decodeRrb(new Uint8Array(file).buffer, "f"), ...more);
const model = read(run.model(0), parseModel);

test("speed, displacement and force are those of the data", () => {
  const [first, frame] = [read(run.frame(0), parseFrame), read(run.frame(5), parseFrame)];
  const contacts = read(run.contacts(59), parseContacts, model.n);
  const i = 17;
  const { height } = run.bodies[i].fall;
  const t = Math.min(0.1, Math.sqrt((2 * height) / 9.81));
  const at = (field, f, c) => evaluate(field, model, f, c, originsOf(model, first))[i];
  assert.ok(Math.abs(at("speed", frame) - (t < 0.1 ? 0 : 0.981)) < 1e-5);
  assert.ok(Math.abs(at("displacement", frame) - 0.5 * 9.81 * t * t) < 1e-5);
  const sum = run.contactList(59).filter((c) => c.a === i || c.b === i).reduce((s, c) => s + c.force, 0);
  assert.ok(Math.abs(at("force", frame, contacts) - sum) < 1e-4);
  assert.ok(Number.isNaN(at("force", frame, undefined)));
});

test("several points between two bodies count as one in the coordination number", () => {
  const one = { m: 3, bodies: Uint32Array.of(0, 1, 1, 0, 1, 2), normal: new Float32Array(9).fill(1), force: Float32Array.of(1, 0, 0, 1, 0, 0, 0, 0, 0) };
  assert.deepEqual([...coordination(one, 3)], [1, 1, 0]);
});

test("forces that pull count neither in the sum nor in the coordination number", () => {
  const one = { m: 2, bodies: Uint32Array.of(0, 1, 1, 2), normal: Float32Array.of(0, 0, 1, 0, 0, 1), force: Float32Array.of(9, 0, 2, 0, 0, -5) };
  assert.deepEqual([...forces(one, 3)], [2, 2, 0]);
  assert.deepEqual([...coordination(one, 3)], [1, 1, 0]);
});

test("ranges leave out walls and the largest values of large scenes", () => {
  const coloured = colouredBodies(model);
  assert.equal(coloured[run.stones], 0);
  const values = Float32Array.from({ length: model.n }, (_, i) => i);
  const range = rangeOf("speed", values, coloured);
  assert.deepEqual([range.min, range.above], [0, true]);
  assert.equal(rangeOf("size", model.size, coloured).max, Math.max(...model.size.filter((_, i) => coloured[i])));
  assert.equal(rangeOf("speed", new Float32Array(3).fill(NaN), Uint8Array.of(1, 1, 1)), null);
  assert.deepEqual(union({ min: 0, max: 2, above: true }, { min: -1, max: 1, above: false }), { min: -1, max: 2, above: true });
});

test("a body without a value is grey", () => {
  const out = new Uint8Array(4 * model.n);
  const values = new Float32Array(model.n).fill(NaN);
  values[0] = 1;
  colours("speed", model, values, colouredBodies(model), { min: 0, max: 1, above: false }, out);
  assert.deepEqual([...out.subarray(0, 3)], sequential(1));
  assert.deepEqual([...out.subarray(4, 7)], [170, 172, 176]);
});

test("a material has the same colour in runs that list it at another place", () => {
  const other = { ...model, materials: ["steel", "granite"], material: model.material.map((m) => (m === 0 ? 1 : 0)) };
  const names = materialNames([model, other, null]);
  assert.deepEqual(names, ["granite", "basalt", "steel", "rubber"]);
  const paint = (m) => {
    const out = new Uint8Array(4 * m.n);
    colours("material", m, new Float32Array(m.n), colouredBodies(m), null, out, m.materials.map((name) => names.indexOf(name)));
    return out;
  };
  const [first, second] = [paint(model), paint(other)];
  const stone = model.material.findIndex((m, i) => m === 0 && model.kind[i] === 0);
  assert.deepEqual([...second.subarray(4 * stone, 4 * stone + 3)], [...first.subarray(4 * stone, 4 * stone + 3)]);
  assert.deepEqual([...first.subarray(4 * stone, 4 * stone + 3)], categorical(0));
});
