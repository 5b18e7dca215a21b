// The page with runs of the program: `RIPRAP` names the command.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { closeBrowser, noBrowser, openReady, pixels } from "./browser.mjs";

const RIPRAP = process.env.RIPRAP;
const options = { skip: noBrowser || (RIPRAP ? false : "SKIPPED: RIPRAP does not name the command") };
const folder = mkdtempSync(join(tmpdir(), "riprap-viewer-"));
const children = [];
const state = (page) => page.evaluate(() => window.riprap.state());

after(async () => {
  await closeBrowser();
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const SCENE = (until) => `
title = "Cubes <b>&</b> a box"
[run]
dt = "1 ms"
until = "${until} s"
output_every = "20 ms"
[materials.rock]
density = 2700
friction = 0.5
[[body]]
name = "box"
kind = "fixed"
material = "rock"
shape = { type = "open-box", size = [0.5, 0.5, 0.4], wall = 0.02 }
[[grains]]
name = "cubes"
material = "rock"
generator = "lattice"
counts = [4, 4, 3]
spacing = [0.11, 0.11, 0.11]
origin = [-0.165, -0.165, 0.06]
shape = { type = "box", size = [0.08, 0.08, 0.08] }
`;

/** Five thousand stones that fall freely for 500 frames, one per step. */
const STONES = `
[run]
dt = "1 ms"
until = "0.499 s"
output_every = "1 ms"
[materials.rock]
density = 2700
[[grains]]
name = "stones"
material = "rock"
generator = "rain"
stones = { vertices = 25, flatness = 0.75, elongation = 0.75 }
grading = "EN 13450 31.5-50"
count = 5000
box = { min = [-0.5, -0.5, 0], max = [0.5, 0.5, 4] }
`;

function scene(name, until) {
  return write(name, SCENE(until));
}

function write(name, text) {
  const path = join(folder, `${name}.toml`);
  writeFileSync(path, text);
  return path;
}

/** A run that has ended. */
function finished(name, path = scene(name, 0.6)) {
  const out = join(folder, name);
  const done = spawnSync(RIPRAP, ["run", path, "--out", out], { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  return out;
}

/** Starts the command and waits for the address of its viewer. */
function start(...words) {
  const child = spawn(RIPRAP, words, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, DISPLAY: "", WAYLAND_DISPLAY: "" } });
  children.push(child);
  return new Promise((resolve, reject) => {
    let text = "";
    const hear = (data) => {
      text += data;
      const url = /viewer at (http:\S+\/)/.exec(text)?.[1];
      if (url) resolve({ child, url });
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => reject(new Error(`ended with ${code}: ${text}`)));
  });
}

/** An array of a binary answer. */
async function array(url, name) {
  const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
  const length = bytes.readUInt32LE(4);
  const header = JSON.parse(bytes.toString("utf8", 8, 8 + length));
  const { type, shape, offset } = header.arrays[name];
  const begin = Math.ceil((8 + length) / 8) * 8 + offset;
  const count = shape.reduce((a, b) => a * b, 1);
  const read = type === "u32" ? (i) => bytes.readUInt32LE(begin + 4 * i) : (i) => bytes.readFloatLE(begin + 4 * i);
  return Array.from({ length: count }, (_, i) => read(i));
}

test("a run is drawn, and picking and legend agree with its data", options, async () => {
  const { child, url } = await start("view", finished("drawn"), "--no-open", "--port", "0");
  const page = await openReady(url);
  assert.equal((await state(page)).nFrames, 31);
  assert.match(await page.title(), /Cubes <b>&<\/b> a box/);
  const { data, width, height } = await pixels(page);
  const colours = new Set();
  for (let y = 0; y < height; y += 7) for (let x = 0; x < width; x++) colours.add(data.readUIntBE(4 * (y * width + x), 3));
  assert.ok(colours.size > 100, `${colours.size} colours`);
  // A body that is in front at its own centre has the id of the model.
  const ids = await array(`${url}api/0/model/0`, "id");
  const hits = await page.evaluate((n) => {
    const found = [];
    for (let i = 1; i < n; i++) {
      const at = window.riprap.project(i);
      found.push(at && window.riprap.pickAt(at[0], at[1]));
    }
    return found;
  }, ids.length);
  const seen = hits.filter((id, i) => id === ids[i + 1]).length;
  assert.ok(seen >= 5, `${seen} bodies picked at their centres`);
  // Colours by speed cover the speeds of the frames.
  await page.getByRole("combobox", { name: "By" }).selectOption({ label: "Speed" });
  await page.evaluate(() => window.riprap.setFrame(5).then?.(() => 0));
  await page.evaluate(() => window.riprap.settled());
  const velocity = await array(`${url}api/0/frame/5`, "velocity");
  const fastest = Math.max(...ids.map((_, i) => Math.hypot(...velocity.slice(3 * i, 3 * i + 3))));
  const { legend } = await state(page);
  assert.equal(legend.unit, "m/s");
  assert.ok(legend.min <= 1e-6 && legend.max >= 0.999 * fastest, `${JSON.stringify(legend)}, ${fastest}`);
  assert.deepEqual(page.errors, []);
  await page.close();
  child.kill();
});

test("two runs are shown side by side", options, async () => {
  const runs = [finished("first"), finished("second")];
  const { child, url } = await start("view", ...runs, "--no-open", "--port", "0");
  const page = await openReady(url);
  assert.equal((await state(page)).runs, 2);
  assert.deepEqual(page.errors, []);
  await page.close();
  child.kill();
});

test("a run that goes on is followed, and its viewer stays after its end", options, async () => {
  const { child, url } = await start("run", scene("live", 20), "--out", join(folder, "live"), "--view");
  const page = await openReady(url);
  await page.waitForFunction(() => window.riprap.state().nFrames > 3, null, { timeout: 60_000 });
  const before = (await state(page)).nFrames;
  await page.waitForFunction((n) => window.riprap.state().nFrames > n + 5, before, { timeout: 60_000 });
  const now = await state(page);
  assert.ok(now.live && now.frame > before, JSON.stringify(now));
  await page.waitForFunction(() => window.riprap.state().nFrames === 1001, null, { timeout: 120_000 });
  await page.getByText("finished").first().waitFor();
  assert.deepEqual(page.errors, []);
  await page.close();
  child.kill("SIGINT");
  await new Promise((resolve) => child.once("exit", resolve));
});

test("the first picture of a run of 5000 stones and 500 frames appears, and its time is reported", options, async (t) => {
  const out = finished("stones", write("stones", STONES));
  const { child, url } = await start("view", out, "--no-open", "--port", "0");
  // Other programs may use the processor, so the time is reported for several openings and not judged.
  const times = [];
  while (times.length < 3) {
    const page = await openReady(url, { viewport: { width: 1280, height: 800 } });
    assert.equal((await state(page)).nFrames, 500);
    times.push(await page.evaluate(() => window.riprap.firstPicture));
    assert.deepEqual(page.errors, []);
    await page.close();
  }
  t.diagnostic(`first picture after ${times.map((ms) => (ms / 1000).toFixed(2)).join(", ")} s with software rendering`);
  assert.ok(times.every((ms) => ms > 0));
  child.kill();
});

test("a run in a folder that does not exist yet can be followed", options, async () => {
  const out = join(folder, "not", "yet", "there");
  const { child, url } = await start("run", scene("folder", 2), "--out", out, "--view");
  const page = await openReady(url);
  await page.waitForFunction(() => window.riprap?.state?.().nFrames === 101, null, { timeout: 60_000 });
  await page.getByText("finished").first().waitFor();
  assert.deepEqual(page.errors, []);
  await page.close();
  child.kill("SIGINT");
  await new Promise((resolve) => child.once("exit", resolve));
});

test("a run that is killed while it is followed stays in the page", options, async () => {
  const out = join(folder, "followed");
  const run = spawn(RIPRAP, ["run", scene("followed", 200), "--out", out], { stdio: "ignore" });
  children.push(run);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const viewer = await start("view", out, "--no-open", "--port", "0");
  const page = await openReady(viewer.url);
  const { nFrames } = await state(page);
  await page.waitForFunction((n) => window.riprap.state().nFrames > n + 5, nFrames, { timeout: 60_000 });
  run.kill("SIGKILL");
  await new Promise((resolve) => run.once("exit", resolve));
  await page.evaluate(() => window.riprap.setFrame(2));
  assert.equal((await state(page)).frame, 2);
  assert.ok((await state(page)).nFrames > nFrames);
  assert.deepEqual(page.errors, []);
  await page.close();
  viewer.child.kill();
});

test("a run that is killed can be viewed", options, async () => {
  const out = join(folder, "killed");
  const child = spawn(RIPRAP, ["run", scene("killed", 200), "--out", out], { stdio: "ignore" });
  children.push(child);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  const viewer = await start("view", out, "--no-open", "--port", "0");
  const page = await openReady(viewer.url);
  assert.ok((await state(page)).nFrames > 1);
  await page.evaluate(() => window.riprap.setFrame(Infinity));
  await page.evaluate(() => window.riprap.settled());
  assert.deepEqual(page.errors, []);
  await page.close();
  viewer.child.kill();
});

test("a page to share opens from disk", options, async () => {
  const file = join(folder, "shared.html");
  const done = spawnSync(RIPRAP, ["view", finished("shared"), "--html", file], { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stdout, /shared\.html: \d+\.\d MB, all 31 frames/);
  const page = await openReady(`file://${file}`);
  assert.equal((await state(page)).nFrames, 31);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => window.riprap.state().frame > 2);
  assert.deepEqual(page.errors, []);
  await page.close();
});
