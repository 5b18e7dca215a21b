// Reading of data: containers, models, series, caches, the time.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { encodeRrb } from "./encode.mjs";
import { load, unload } from "./load.mjs";
import { SyntheticRun } from "./synthetic.mjs";

const { decodeRrb } = await load("data/rrb.ts");
const { parseModel, parseFrame, parseContacts, parseRuns } = await load("data/protocol.ts");
const { BoundedCache, Store } = await load("data/cache.ts");
const { Series, splitUnit } = await load("data/csv.ts");
const { outline } = await load("ui/plot.ts");
const { Player, usualSpeed } = await load("player.ts");
after(unload);

const exact = (file) => new Uint8Array(file).buffer;
const small = () => encodeRrb({ time: 2.5 }, { a: [Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3]], b: [Uint8Array.of(7, 8, 9), [3]] });

test("an RRB file is decoded as it was written", () => {
  const rrb = decodeRrb(exact(small()), "f");
  assert.equal(rrb.number("time"), 2.5);
  assert.deepEqual([...rrb.f32("a", 2, 3)], [1, 2, 3, 4, 5, 6]);
  assert.deepEqual([...rrb.u8("b", -1)], [7, 8, 9]);
  assert.equal(rrb.rows("a"), 2);
});

test("a wrong type, shape or name is an error that names the array", () => {
  const rrb = decodeRrb(exact(small()), "api/0/frame/1");
  assert.throws(() => rrb.u32("a", 2, 3), /api\/0\/frame\/1.*`a`/);
  assert.throws(() => rrb.f32("a", 3, 2), /`a`/);
  assert.throws(() => rrb.f32("none", 1), /`none` is missing/);
  assert.throws(() => rrb.number("step"), /`step`/);
});

test("a file cut anywhere is reported and never read past its end", () => {
  const file = small();
  for (let n = 0; n < file.length - 8; n++) assert.throws(() => decodeRrb(exact(file.subarray(0, n)), "f"), { name: "DataError" });
});

test("hostile headers are refused", () => {
  const withHeader = (text) => {
    const json = Buffer.from(text);
    const head = Buffer.alloc(8);
    head.write("RRB1");
    head.writeUInt32LE(json.length, 4);
    return exact(Buffer.concat([head, json, Buffer.alloc(64)]));
  };
  const array = (description) => withHeader(JSON.stringify({ arrays: { a: description } }));
  for (const bad of [
    withHeader("{"), withHeader("[]"), withHeader("null"), withHeader('{"arrays":[]}'), withHeader("{}"), array(null),
    array({ type: "f16", shape: [1], offset: 0 }), array({ type: "constructor", shape: [1], offset: 0 }),
    array({ type: "f32", shape: [-1], offset: 0 }), array({ type: "f32", shape: [1.5], offset: 0 }), array({ type: "f32", shape: "3", offset: 0 }),
    array({ type: "f32", shape: [1], offset: 4 }), array({ type: "f32", shape: [1], offset: -8 }), array({ type: "f32", shape: [1], offset: 1e18 }),
    array({ type: "f32", shape: [4294967296, 4294967296], offset: 0 }), exact(Buffer.from("RRB1\xff\xff\xff\xff", "latin1")),
  ]) assert.throws(() => decodeRrb(bad, "f"), { name: "DataError" });
});

test("files with random damage are decoded or refused, and nothing else", () => {
  const file = new SyntheticRun({ stones: 5, frames: 2 }).model(0);
  let seed = 1;
  const next = () => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) / 4294967296;
  for (let round = 0; round < 300; round++) {
    const copy = Buffer.from(file);
    for (let i = 0; i < 4; i++) copy[Math.floor(next() * copy.length)] = Math.floor(256 * next());
    try {
      parseModel(decodeRrb(exact(copy), "f"));
    } catch (error) {
      assert.equal(error.name, "DataError", error.stack);
    }
  }
});

test("a synthetic run passes all checks", () => {
  const run = new SyntheticRun({ stones: 60, frames: 30 });
  const model = parseModel(decodeRrb(exact(run.model(0)), "model"));
  assert.equal(model.n, run.bodies.length);
  assert.equal(model.names[3], "stone-3");
  assert.equal(model.mechanisms[0].joints.length, 3);
  assert.equal(model.flexible[0].nodes, 9);
  assert.equal(parseFrame(decodeRrb(exact(run.frame(3)), "frame")).n, model.n);
  assert.ok(parseContacts(decodeRrb(exact(run.contacts(29)), "contacts"), model.n).m > 50);
});

test("indices out of range are refused", () => {
  const run = new SyntheticRun({ stones: 60, frames: 30 });
  assert.throws(() => parseContacts(decodeRrb(exact(run.contacts(29)), "c"), 3), /`bodies` contains/);
  const model = run.model(0);
  model.fill(0xff, model.length - 16);
  assert.throws(() => parseModel(decodeRrb(exact(model), "m")), /`edge` contains/);
});

test("the list of runs is checked", () => {
  assert.throws(() => parseRuns({ runs: [] }), /no run/);
  assert.throws(() => parseRuns({ format: 2, runs: [{}] }), /format 2/);
  assert.throws(() => parseRuns({ runs: [{ n_frames: -1 }] }), /n_frames/);
  assert.equal(parseRuns({ runs: [{ n_frames: 0, state: "odd" }] })[0].state, "unknown");
  assert.deepEqual([undefined, 3, "3"].map((generation) => parseRuns({ runs: [{ n_frames: 0, generation }] })[0].generation), [0, 3, 0]);
});

test("the cache keeps what was used last within its limit", () => {
  const cache = new BoundedCache(100);
  for (let k = 0; k < 4; k++) cache.set(k, { bytes: 25 });
  cache.get(0);
  cache.set(4, { bytes: 25 });
  assert.equal(cache.has(1), false);
  assert.equal(cache.has(0), true);
  assert.equal(cache.bytes, 100);
  cache.set(9, { bytes: 500 });
  assert.deepEqual([cache.has(9), cache.bytes], [true, 500]);
});

test("a store loads ahead with few requests under way and repeats failures only later", async () => {
  let [flying, most, time] = [0, 0, 0];
  const failures = [];
  const store = new Store(async (k) => {
    most = Math.max(most, ++flying);
    await new Promise((resolve) => setTimeout(resolve, 2));
    flying--;
    if (k === 5) throw new Error("broken");
    return { bytes: 10, k };
  }, 1000, 3, (k) => failures.push(k), () => time);
  store.want([1, 2, 3, 4, 5, 6, 7]);
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.equal(most, 3);
  assert.equal(store.peek(7).k, 7);
  assert.equal(store.hasFailed(5), true);
  store.want([5]);
  assert.deepEqual(failures, [5]);
  time = 5000;
  store.want([5]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(failures, [5, 5]);
});

test("a series may arrive in pieces and end within a line", () => {
  const series = new Series();
  series.append("time [s],\"a, b [J]\"\n0,1");
  series.append(".5\n0.1,");
  assert.equal(series.rows, 1);
  series.append("2\n0.2\n0.3,,4\n0.4,x\n");
  assert.deepEqual(series.names, ["time [s]", "a, b [J]"]);
  assert.deepEqual(series.columns[1].map(String), ["1.5", "2", "NaN"]);
  assert.deepEqual(splitUnit("kinetic_energy [J]"), { name: "kinetic_energy", unit: "J" });
});

test("long series keep their peaks and their ends within a limit of memory", () => {
  const series = new Series(2000);
  const rows = 100_000;
  const value = (k) => (k === 31_234 ? 1e6 : k === 77_777 ? -1e6 : Math.sin(k / 50));
  const lines = Array.from({ length: rows }, (_, k) => `${k},${value(k)},${k < 10 || k > 90_000 ? "" : 1}\n`);
  series.append("time [s],a,b\n");
  for (let k = 0; k < rows; k += 777) series.append(lines.slice(k, k + 777).join(""));
  assert.ok(series.rows >= 250 && 3 * series.rows <= 2000 + 3 * 3, `${series.rows} rows`);
  const [time, a, b] = series.columns;
  assert.deepEqual([Math.max(...a), Math.min(...a)], [1e6, -1e6]);
  assert.deepEqual([time[0], time.at(-1)], [0, rows - 1]);
  assert.ok(time.every((t, k) => k === 0 || t > time[k - 1]), "in order");
  assert.ok(Math.abs(time[a.indexOf(1e6)] - 31_234) < 1000 && Math.abs(time[a.indexOf(-1e6)] - 77_777) < 1000);
  assert.ok(Number.isNaN(b.at(-1)) && b.includes(1));
});

test("plots of many values draw the peaks within each pixel, and gaps", () => {
  const n = 100_000;
  const x = Float64Array.from({ length: n }, (_, k) => k);
  const y = Float64Array.from({ length: n }, (_, k) => (k === 12_345 ? 50 : k === 54_321 ? -70 : k >= 80_000 && k < 81_000 ? NaN : Math.sin(k)));
  const rows = outline({ x, y, colour: "--curve-1" }, [0, n], 200);
  assert.ok(rows.length <= 4 * 200 + 4, `${rows.length} points`);
  assert.ok(rows.includes(12_345) && rows.includes(54_321) && rows.includes(0) && rows.includes(n - 1));
  assert.deepEqual(rows.filter((k) => k < 0), [-1]);
  assert.ok(rows.indexOf(-1) < rows.indexOf(81_000) && rows[rows.indexOf(-1) - 1] === 79_999);
  const drawn = rows.filter((k) => k >= 0);
  assert.ok(drawn.every((k, i) => i === 0 || k > drawn[i - 1]), "in order");
  // Few values are drawn as they are; of several values per row, those of the curve.
  const few = Float64Array.of(3, 1, 2, NaN, 5, 4);
  assert.deepEqual(outline({ x: Float64Array.of(0, 1, 2, 3, 4, 5), y: few, colour: "--curve-1" }, [0, 5], 500), [0, 1, 2, -1, 4, 5]);
  assert.deepEqual(outline({ x: Float64Array.of(0, 0, 0), y: Float32Array.of(9, 1, 9, 7, 9, 4), stride: 2, offset: 1, colour: "--curve-1" }, [0, 1], 10), [0, 1, 2]);
});

test("the player loops, stops at the end and follows a growing run", () => {
  const player = new Player();
  player.setRange(0, 2);
  player.play();
  player.advance(3);
  assert.deepEqual([player.time, player.playing], [2, false]);
  player.loop = true;
  player.play();
  player.advance(2.5);
  assert.equal(player.time, 0.5);
  player.follow(true);
  player.setRange(0, 7);
  assert.equal(player.time, 7);
  assert.deepEqual([usualSpeed(5), usualSpeed(0.01), usualSpeed(400)], [1, 0.001, 50]);
});
