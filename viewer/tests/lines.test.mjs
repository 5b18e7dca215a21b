// Lines of a frame, trails, updates of runs, data inside a page, numbers in plots.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { load, unload } from "./load.mjs";
import { SyntheticRun } from "./synthetic.mjs";

const { addChains, addJoints, addRopes, addTrail, addForces, typicalSize, largestForce } = await load("scene/lines.ts");
const { decodeRrb } = await load("data/rrb.ts");
const { parseModel, parseFrame, parseContacts, parseHistory } = await load("data/protocol.ts");
const { EmbeddedSource, embeddedSource } = await load("data/embedded.ts");
const { Feed } = await load("data/feed.ts");
const { Run, forceOn } = await load("data/run.ts");
const { Selection } = await load("selection.ts");
const { ticks } = await load("ui/plot.ts");
const { niceStep } = await load("scene/world.ts");
const { format } = await load("ui/dom.ts");
after(unload);

const run = new SyntheticRun({ stones: 60, frames: 60 });
const read = (file, parse, ...more) => parse(decodeRrb(new Uint8Array(file).buffer, "f"), ...more);
const model = read(run.model(0), parseModel);
const shown = { a: read(run.frame(59), parseFrame), b: null, mix: 0 };
const contacts = read(run.contacts(59), parseContacts, model.n);

/** Stands for the ribbons and keeps what is added. */
function recorder() {
  const list = [];
  const keep = (a, b, width) => list.push({ a: [...a], b: [...b], width });
  return { list, add: keep, addArrow: keep };
}

const close = (a, b, tolerance = 1e-5) => a.every((x, d) => Math.abs(x - b[d]) < tolerance);

test("chains join the centres of stones, as wide as their share of the largest force", () => {
  const out = recorder();
  const size = typicalSize(model);
  const largest = largestForce(contacts);
  addChains(out, model, shown, contacts, size, largest);
  const expected = run.contactList(59).filter((c) => c.force / largest >= 0.004);
  assert.equal(out.list.length, expected.length);
  expected.forEach((c, k) => {
    const centre = run.motion(run.bodies[c.b], 59 * run.dt).position;
    assert.ok(close(out.list[k].b, centre));
    assert.ok(Math.abs(out.list[k].width - 0.75 * size * (c.force / largest)) < 1e-6);
    if (c.a === run.stones) assert.ok(close(out.list[k].a, c.point), "from the wall at the contact point");
  });
});

test("the largest force arrow is four stones long", () => {
  const out = recorder();
  addForces(out, contacts, 0.02, largestForce(contacts));
  const longest = Math.max(...out.list.map(({ a, b }) => Math.hypot(...a.map((x, d) => x - b[d]))));
  assert.ok(Math.abs(longest - 0.08) < 1e-6);
});

test("joints are drawn where the linkage has them, and its loop is closed", () => {
  const out = recorder();
  addJoints(out, model, shown, 0.1);
  const { crank, coupler, rocker, end } = run.linkageAt(59 * run.dt);
  for (const at of [crank.at, coupler.at, rocker.at, end]) {
    assert.ok(out.list.some(({ a, b }) => close(a.map((x, d) => (x + b[d]) / 2), at)), `${at}`);
  }
  const last = out.list[out.list.length - 1];
  assert.ok(close(last.a, end) && close(last.b, end), "both points of the loop coincide");
});

test("ropes pass through their points, and trails end at the shown time", () => {
  const ropes = recorder();
  addRopes(ropes, shown, 0.01);
  assert.equal(ropes.list.length, 2);
  assert.ok(close(ropes.list[1].b, run.linkageAt(59 * run.dt).end));
  const trail = recorder();
  addTrail(trail, Float32Array.of(0, 0, 0, 1, 0, 0, NaN, 0, 0, 3, 0, 0, 4, 0, 0), 4, 0);
  assert.deepEqual(trail.list.map(({ a, b }) => [a[0], b[0]]), [[0, 1]]);
});

test("trails of long runs end at the shown time, also those of bodies that appear later", async () => {
  const long = new SyntheticRun({ stones: 5, frames: 500, breaksAt: 250 });
  const world = { run: { history: async (id) => read(long.history(id), parseHistory) }, model: { names: [], id: Uint32Array.of(1003, 5_000_000) } };
  const selection = new Selection([world], () => undefined, assert.fail);
  selection.pick(0, 1003);
  selection.pick(0, 5_000_000, true);
  await new Promise(setImmediate);
  const times = selection.picked.map(({ history }) => history.time);
  assert.deepEqual(times.map((t) => t.length), [167, 83]);
  for (const k of [0, 100, 249, 252, 400, 499]) {
    // Every third frame is in the histories.
    const last = (trail) => Math.round(times[trail][selection.trails(world, k * long.dt)[trail].end - 1] / long.dt);
    assert.equal(last(0), k - (k % 3));
    if (k < 252) assert.equal(selection.trails(world, k * long.dt)[1].end, 0);
    else assert.equal(last(1), k - (k % 3));
  }
});

test("contacts that pull count neither as forces nor as chains", () => {
  const pulling = { ...contacts, force: contacts.force.map((f) => -f) };
  assert.equal(largestForce(pulling), 0);
  assert.equal(forceOn(pulling, 3), 0);
  const out = recorder();
  addChains(out, model, shown, pulling, 0.02, 1);
  assert.equal(out.list.length, 0);
});

/** Page with script elements, as far as the viewer reads it. */
function page(elements) {
  return {
    getElementById: (id) => (id in elements ? { textContent: elements[id].text, getAttribute: () => elements[id].encoding ?? null } : null),
  };
}

test("data inside a page are decompressed, and damaged ones are reported", async () => {
  assert.equal(embeddedSource(page({})), null);
  assert.throws(() => embeddedSource(page({ "riprap-data": { text: "{" } })), /not valid JSON/);
  const packed = deflateRawSync(Buffer.from("hello")).toString("base64");
  const source = new EmbeddedSource(
    page({ good: { text: packed, encoding: "deflate-raw" }, bad: { text: "AAAA", encoding: "deflate-raw" }, odd: { text: "%%%" } }),
    [], new Map([["api/a", "good"], ["api/b", "bad"], ["api/c", "odd"]]),
  );
  assert.equal(new TextDecoder().decode(await source.bytes("api/a")), "hello");
  await assert.rejects(source.bytes("api/b"), /cannot be decompressed/);
  await assert.rejects(source.bytes("api/c"), /not base64/);
  await assert.rejects(source.bytes("api/d"), /not part of this page/);
});

test("without events the server is asked, and silence is reported once it answers no more", async () => {
  globalThis.window = globalThis;
  const [updates, troubles] = [[], []];
  let answers = 1;
  const source = {
    live: true,
    has: () => true,
    async bytes() {
      if (answers-- <= 0) throw new Error("gone");
      return new TextEncoder().encode(JSON.stringify({ runs: [{ n_frames: 4, generation: 7, state: "running" }] })).buffer;
    },
  };
  const feed = new Feed(source, (update) => updates.push(update), (message) => troubles.push(message));
  feed.start();
  await new Promise((resolve) => setTimeout(resolve, 2300));
  feed.stop();
  assert.deepEqual(updates, [{ run: 0, nFrames: 4, generation: 7, state: "running" }]);
  assert.deepEqual(troubles, [null, "gone"]);
});

test("the frame at a time is the last one that is not later", async () => {
  const source = { live: true, has: () => true, bytes: async () => new Uint8Array(run.times(0)).buffer };
  const loaded = new Run(source, 0, { name: "a", title: null, state: "running", hasSeries: false });
  await loaded.grow();
  assert.equal(loaded.nFrames, 60);
  assert.deepEqual([-1, 0, 0.019, 0.02, 0.5, 99].map((t) => loaded.frameAt(t)), [0, 0, 0, 1, 25, 59]);
});

test("concurrent requests for a series add each row once, and its pieces are all read", async () => {
  const file = Buffer.from(`time [s],a\n${Array.from({ length: 50 }, (_, k) => `${k},${k}\n`).join("")}`);
  const source = {
    live: true,
    has: () => true,
    async bytes(path) {
      const from = Number(/from=(\d+)/.exec(path)[1]);
      await new Promise((resolve) => setTimeout(resolve, 1));
      return new Uint8Array(file.subarray(from, from + 100)).buffer;
    },
  };
  const loaded = new Run(source, 0, { name: "a", title: null, state: "finished", hasSeries: true });
  await Promise.all([loaded.growSeries(), loaded.growSeries(), loaded.growSeries()]);
  assert.deepEqual(loaded.series.columns[1], Array.from({ length: 50 }, (_, k) => k));
});

test("numbers in plots are round and short", () => {
  assert.deepEqual(ticks(0, 1, 4).map((x) => x.toFixed(2)), ["0.00", "0.50", "1.00"]);
  assert.deepEqual(ticks(1, 1, 4), []);
  assert.deepEqual([niceStep(0.3), niceStep(7), niceStep(19)], [0.2, 5, 10]);
  assert.deepEqual([0, 1234567, 0.00001, 3.14159, NaN].map(format), ["0", "1.23e6", "1.00e-5", "3.142", "–"]);
});
