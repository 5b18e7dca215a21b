// The page in a browser, against synthetic runs or, with RIPRAP_VIEW_URL, against a real server.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { closeBrowser, difference, noBrowser, open, openReady, pixels } from "./browser.mjs";
import { selfContainedPage } from "./encode.mjs";
import { startServer } from "./fake-server.mjs";

const REAL = process.env.RIPRAP_VIEW_URL;
const options = { skip: noBrowser };
const synthetic = { skip: noBrowser || (REAL ? "needs synthetic data" : false) };
const state = (page) => page.evaluate(() => window.riprap.state());
const servers = [];

async function serve(settings = {}) {
  const server = await startServer(settings);
  servers.push(server);
  return server;
}

const base = REAL ? { url: REAL } : noBrowser ? {} : await serve({ runs: [{ stones: 100, frames: 60 }] });

after(async () => {
  await closeBrowser();
  for (const server of servers) await server.close();
});

test("the page loads and stones are drawn without errors", options, async () => {
  const page = await openReady(base.url);
  const { data, width, height } = await pixels(page);
  // The picture differs from a background without bodies: colours vary within the rows of its middle.
  const row = Math.floor(height * 0.6);
  const colours = new Set();
  for (let x = 0; x < width; x++) colours.add(data.readUIntBE(4 * (row * width + x), 3));
  assert.ok(colours.size > 40, `${colours.size} colours`);
  assert.ok((await state(page)).nFrames > 0);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("playing moves the time, and pausing stops it", options, async () => {
  const page = await openReady(base.url);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => window.riprap.state().frame > 2);
  await page.getByRole("button", { name: "Pause" }).click();
  const { time } = await state(page);
  await page.waitForTimeout(200);
  assert.equal((await state(page)).time, time);
  await page.close();
});

test("picking a body shows the body at that place", options, async () => {
  const page = await openReady(base.url);
  await page.evaluate(() => window.riprap.setFrame(Infinity));
  // The first body that is not hidden by another one.
  const hit = await page.evaluate(() => {
    for (let i = 99; i >= 0; i--) {
      const at = window.riprap.project(i);
      const id = at && window.riprap.pickAt(at[0], at[1]);
      if (id !== null && id !== undefined) return { i, at, id };
    }
    return null;
  });
  const box = await page.locator("canvas.canvas").boundingBox();
  await page.keyboard.press("Escape");
  assert.deepEqual((await state(page)).picked, []);
  await page.evaluate(() => window.riprap.settled());
  await page.mouse.click(box.x + hit.at[0], box.y + hit.at[1]);
  assert.deepEqual((await state(page)).picked, [hit.id]);
  const panel = page.getByRole("region", { name: "Picked body" });
  assert.match(await panel.innerText(), new RegExp(`Id\\s+${hit.id}\\b`));
  if (!REAL) {
    assert.equal(hit.id, 1000 + hit.i);
    await page.getByRole("slider", { name: /Speed \[m\/s\]: from/ }).waitFor();
  }
  await page.close();
});

test("the legend shows the range of the data", synthetic, async () => {
  const page = await openReady(base.url);
  const [run] = base.runs;
  const sizes = run.bodies.filter((b) => b.kind === 0).map((b) => Math.fround(b.size));
  await page.getByRole("combobox", { name: "By" }).selectOption("size");
  await page.waitForFunction(() => window.riprap.state().legend);
  const { legend } = await state(page);
  assert.deepEqual(legend, { min: Math.min(...sizes), max: Math.max(...sizes), unit: "m" });
  await page.evaluate(() => window.riprap.setFrame(3));
  await page.evaluate(() => window.riprap.setColour("speed"));
  const fastest = Math.max(...run.bodies.map((b) => Math.hypot(...run.motion(b, 3 * run.dt).velocity)));
  assert.ok((await state(page)).legend.max >= Math.fround(fastest));
  await page.getByRole("img", { name: /Colours: Speed/ }).waitFor();
  await page.close();
});

test("a cut plane removes stones from the picture", options, async () => {
  const page = await openReady(base.url);
  const before = await pixels(page);
  await page.evaluate(() => window.riprap.setCut(0, true, 0.5));
  const cut = await pixels(page);
  assert.ok(difference(before, cut) > 0.01, `${difference(before, cut)}`);
  await page.evaluate(() => window.riprap.setCut(0, false));
  assert.ok(difference(before, await pixels(page)) < 0.002);
  await page.close();
});

test("every way of colouring and every kind of line can be drawn", options, async () => {
  const page = await openReady(base.url);
  const before = await pixels(page);
  await page.evaluate(() => window.riprap.setFrame(Infinity));
  for (const name of ["force", "displacement", "material", "coordination", "plain"]) {
    await page.evaluate((field) => window.riprap.setColour(field), name);
    assert.equal((await state(page)).colour, name);
  }
  for (const key of ["k", "n", "v", "a", "o", "1", "2", "3", "4", "w", "g", "e"]) await page.keyboard.press(key);
  await page.evaluate(() => window.riprap.settled());
  assert.ok(difference(before, await pixels(page)) > 0.01);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a model that changes during the run is replaced", synthetic, async () => {
  const server = await serve({ runs: [{ stones: 30, frames: 20, breaksAt: 10 }] });
  const page = await openReady(server.url);
  await page.evaluate(() => window.riprap.pickAt(...window.riprap.project(29)));
  await page.evaluate(() => window.riprap.setFrame(15));
  await page.getByLabel("Id or name of a body").evaluate((input) => (input.closest("details").open = true));
  await page.getByLabel("Id or name of a body").fill("5000000");
  await page.keyboard.press("Enter");
  assert.deepEqual((await state(page)).picked, [5000000]);
  assert.match(await page.getByRole("region", { name: "Picked body" }).innerText(), /stone-0/);
  await page.close();
});

for (const events of [true, false]) {
  test(`a growing run is followed ${events ? "by events" : "by polling"}`, synthetic, async () => {
    const server = await serve({ runs: [{ stones: 30, frames: 3 }], live: 100, events });
    const page = await openReady(server.url);
    assert.equal((await state(page)).live, true);
    await page.waitForFunction(() => window.riprap.state().nFrames > 8 && window.riprap.state().frame > 8);
    await page.getByRole("button", { name: "Live" }).click();
    const { frame } = await state(page);
    await page.waitForTimeout(400);
    assert.equal((await state(page)).frame, frame);
    await page.close();
  });
}

test("two runs are shown side by side with one time", synthetic, async () => {
  const server = await serve({ runs: [{ stones: 60, frames: 30 }, { stones: 40, frames: 20, title: "Other", seed: 5 }] });
  const page = await openReady(server.url);
  await page.evaluate(() => window.riprap.setFrame(12));
  const shown = await page.evaluate(() => ({ ...window.riprap.state(), a: window.riprap.project(0, 0), b: window.riprap.project(0, 1) }));
  assert.equal(shown.runs, 2);
  assert.ok(shown.b[0] > shown.a[0] + 200);
  assert.ok(await page.evaluate(() => window.riprap.pickAt(...window.riprap.project(39, 1)) !== null));
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a planar run starts in an orthographic view along z", synthetic, async () => {
  const server = await serve({ runs: [{ stones: 100, frames: 5, planar: true }] });
  const page = await openReady(server.url);
  const [a, b, c] = await page.evaluate(() => [0, 9, 90].map((i) => window.riprap.project(i)));
  assert.ok(Math.abs(a[1] - b[1]) < 1e-3 && b[0] > a[0], "x to the right");
  assert.ok(Math.abs(a[0] - c[0]) < 1e-3 && c[1] < a[1], "y upwards");
  assert.equal(await page.evaluate(() => window.riprap.pickAt(...window.riprap.project(55))), 1055);
  await page.close();
});

test("plots show columns of the series, and a click moves the time", synthetic, async () => {
  const page = await openReady(base.url);
  await page.getByRole("button", { name: "Plots" }).click();
  await page.getByLabel("Add a plot").selectOption("contacts [-]");
  const plots = page.locator("section[aria-label='Plots of series'] canvas");
  assert.equal(await plots.count(), 2);
  const box = await plots.first().boundingBox();
  await page.mouse.click(box.x + box.width - 20, box.y + 40);
  assert.ok((await state(page)).time > 0.9 * 59 * 0.02);
  await page.close();
});

test("a page with its data opens from disk", synthetic, async () => {
  const [run] = base.runs;
  const files = { "api/0/times?from=0": run.times(0), "api/0/model/0": run.model(0), "api/0/series": Buffer.from(run.series()), "api/0/summary": Buffer.from("{}") };
  for (let k = 0; k < run.frames; k++) Object.assign(files, { [`api/0/frame/${k}`]: run.frame(k), [`api/0/contacts/${k}`]: run.contacts(k) });
  const html = selfContainedPage(readFileSync(new URL("../dist/viewer.html", import.meta.url), "utf8"), [{ ...run.info(), title: "</script><b>x" }], files);
  const folder = mkdtempSync(join(tmpdir(), "riprap-viewer-"));
  writeFileSync(join(folder, "run.html"), html);
  const page = await openReady(`file://${folder}/run.html`);
  await page.evaluate(() => window.riprap.setFrame(40));
  assert.equal((await state(page)).frame, 40);
  const id = await page.evaluate(() => window.riprap.pickAt(...window.riprap.project(99)));
  await page.getByRole("slider", { name: /Normal contact force \[N\]: from/ }).waitFor();
  assert.ok(id >= 1000);
  assert.equal(await page.locator("header strong").innerText(), "</script><b>x");
  assert.deepEqual(page.errors, []);
  await page.close();
  rmSync(folder, { recursive: true });
});

test("the page asks no other host for anything", options, async () => {
  const page = await open("about:blank");
  const hosts = new Set();
  page.on("request", (request) => hosts.add(new URL(request.url()).host));
  await page.goto(base.url);
  await page.evaluate(() => window.riprap.ready);
  assert.deepEqual([...hosts].filter(Boolean), [new URL(base.url).host]);
  await page.close();
});

for (const [error, text] of [["truncated", /truncated/], ["malformed", /contains/], ["refused", /cannot be read/], ["no-runs", /no run/]]) {
  test(`trouble is explained: ${error}`, synthetic, async () => {
    const server = await serve({ runs: [{ stones: 10, frames: 3 }], error });
    const page = await open(server.url);
    const message = page.getByRole("alert");
    await message.waitFor();
    assert.match(await message.innerText(), text);
    await page.close();
  });
}

test("a server that ends is reported, and the picture stays", synthetic, async () => {
  const server = await startServer({ runs: [{ stones: 10, frames: 3 }] });
  const page = await openReady(server.url);
  await server.close();
  await page.getByText(/is `riprap view` still running/).waitFor();
  assert.equal((await state(page)).nFrames, 3);
  await page.close();
});

test("a browser without WebGL 2 gets an explanation", options, async () => {
  const page = await open("about:blank");
  await page.addInitScript(() => (HTMLCanvasElement.prototype.getContext = () => null));
  await page.goto(base.url);
  await page.getByText(/offers no WebGL 2/).waitFor();
  await page.close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`accessibility checks pass in the ${colorScheme} theme`, options, async () => {
    const page = await openReady(base.url, { colorScheme });
    await page.evaluate(() => window.riprap.setFrame(Infinity));
    await page.evaluate(() => window.riprap.setColour("force"));
    await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
    await page.getByRole("button", { name: "Plots" }).click();
    await page.evaluate(() => window.riprap.pickAt(...(window.riprap.project(99) ?? window.riprap.project(0))));
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
    const check = () => page.evaluate(async () => (await window.axe.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" ")}`));
    assert.deepEqual(await check(), []);
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    assert.deepEqual(await check(), []);
    await page.close();
  });
}

test("every control can be reached with the tabulator key", options, async () => {
  const page = await openReady(base.url);
  // With all that can be opened: sections, plots, and the panel of a picked body.
  await page.evaluate(() => window.riprap.setFrame(Infinity));
  await page.evaluate(() => window.riprap.setColour("speed"));
  await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
  await page.getByRole("button", { name: "Plots" }).click();
  await page.evaluate(() => window.riprap.pickAt(...(window.riprap.project(99) ?? window.riprap.project(0))));
  await page.getByRole("slider", { name: /Speed \[m\/s\]: from/ }).waitFor();
  const wanted = await page.evaluate(() =>
    [...document.querySelectorAll("button, input, select, summary, canvas.canvas, canvas.plot")].filter((e) => e.checkVisibility() && !e.disabled).length);
  const reached = new Set();
  for (let i = 0; i < wanted + 5; i++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const all = [...document.querySelectorAll("button, input, select, summary, canvas.canvas, canvas.plot")];
      return all.indexOf(document.activeElement);
    }));
  }
  reached.delete(-1);
  assert.ok(wanted > 45, `${wanted} controls`);
  assert.equal(reached.size, wanted);
  await page.close();
});

test("pictures and videos can be saved", synthetic, async () => {
  const server = await serve({ runs: [{ stones: 20, frames: 12 }] });
  const page = await openReady(server.url, { viewport: { width: 640, height: 480 } });
  assert.ok((await page.evaluate(() => window.riprap.pictureSize())) > 5000);
  assert.ok((await page.evaluate(() => window.riprap.videoSize())) > 2000);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Picture" }).click();
  assert.match((await download).suggestedFilename(), /^pour-.*\.png$/);
  await page.close();
});

test("every shortcut of a check box changes it", options, async () => {
  const page = await openReady(base.url);
  const rows = await page.locator("label.check:has(kbd)").evaluateAll((labels) =>
    labels.map((label) => [label.querySelector("span").textContent, label.querySelector("kbd").textContent]));
  assert.ok(rows.length >= 10);
  for (const [name, key] of rows) {
    const box = page.getByRole("checkbox", { name });
    const before = await box.isChecked();
    await page.keyboard.press(key.toLowerCase());
    assert.equal(await box.isChecked(), !before, `${key}: ${name}`);
    await page.keyboard.press(key.toLowerCase());
  }
  await page.close();
});

test("limits of the colours can be set by hand and returned to those of the run", options, async () => {
  const page = await openReady(base.url);
  await page.evaluate(() => window.riprap.setColour("size"));
  const automatic = (await state(page)).legend;
  const upper = page.getByLabel("Upper limit of the colours");
  await upper.fill("0.5");
  await upper.press("Enter");
  assert.deepEqual((await state(page)).legend, { ...automatic, max: 0.5 });
  await page.getByRole("img", { name: /to 0.5/ }).waitFor();
  await page.getByRole("button", { name: "Limits of the run" }).click();
  assert.deepEqual((await state(page)).legend, automatic);
  await page.close();
});

test("planar bodies have exactly the colours of the legend", synthetic, async () => {
  const server = await serve({ runs: [{ stones: 25, frames: 3, planar: true }] });
  const page = await openReady(server.url);
  await page.evaluate(() => window.riprap.setColour("material"));
  const [x, y] = (await page.evaluate(() => window.riprap.project(12))).map(Math.round);
  const { data, width } = await pixels(page);
  assert.deepEqual([...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3)], [0xb9, 0xad, 0x9c]);
  await page.close();
});

test("the trail of a picked body is drawn and can be hidden", synthetic, async () => {
  const page = await openReady(base.url);
  await page.evaluate(() => window.riprap.setFrame(Infinity));
  await page.evaluate(() => window.riprap.pickAt(...window.riprap.project(99)));
  await page.getByRole("slider", { name: /Speed \[m\/s\]: from/ }).waitFor();
  await page.evaluate(() => window.riprap.settled());
  const drawn = await pixels(page);
  await page.keyboard.press("t");
  await page.evaluate(() => window.riprap.settled());
  assert.ok(difference(drawn, await pixels(page)) > 1e-4);
  await page.close();
});

test("a run without contacts says so and stays usable", synthetic, async () => {
  const server = await serve({ runs: [{ stones: 20, frames: 5 }], error: "no-contacts" });
  const page = await openReady(server.url);
  await page.keyboard.press("k");
  await page.getByText(/api\/0\/contacts\//).waitFor();
  await page.evaluate(() => window.riprap.setFrame(3));
  assert.equal((await state(page)).frame, 3);
  await page.close();
});

test("a planar run that has no frame yet is shown as such when the first one arrives", synthetic, async () => {
  const server = await serve({ runs: [{ stones: 100, frames: 0, planar: true }] });
  const [run] = server.runs;
  run.state = "running";
  const page = await open(server.url);
  await page.evaluate(() => window.riprap.ready);
  run.frames = 3;
  server.send({ run: 0, n_frames: 3, state: "running" });
  await page.waitForFunction(() => window.riprap?.state?.().nFrames > 2 && window.riprap.project(0) !== null);
  assert.ok(await page.evaluate(() => window.riprap.firstPicture > 0));
  const [a, b, c] = await page.evaluate(() => [0, 9, 90].map((i) => window.riprap.project(i)));
  assert.ok(Math.abs(a[1] - b[1]) < 1e-3 && b[0] > a[0], "x to the right");
  assert.ok(Math.abs(a[0] - c[0]) < 1e-3 && c[1] < a[1], "y upwards");
  assert.equal((await state(page)).live, true);
  await page.getByRole("button", { name: "Plots" }).click();
  await page.getByRole("slider", { name: /kinetic_energy/ }).waitFor();
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a run that is started again is loaded again, whether or not it has fewer frames", synthetic, async () => {
  const server = await serve({ runs: [{ stones: 20, frames: 30, generation: 1 }], live: 200 });
  const page = await openReady(server.url);
  await page.evaluate(() => (window.old = true));
  server.runs[0].frames = 2;
  await page.waitForFunction(() => !window.old && window.riprap?.state?.().nFrames < 20);
  await page.evaluate(() => (window.old = true));
  server.runs[0].generation = 2;
  server.runs[0].frames += 50;
  await page.waitForFunction(() => !window.old && window.riprap?.state?.().nFrames > 50);
  await page.close();
});

test("events that are older than the loaded data do not load the page again", synthetic, async () => {
  const server = await serve({ runs: [{ stones: 20, frames: 30 }] });
  const page = await openReady(server.url);
  await page.evaluate(() => (window.old = true));
  server.send({ run: 0, n_frames: 29, state: "finished" });
  await page.waitForTimeout(500);
  assert.equal(await page.evaluate(() => window.old), true);
  await page.close();
});

test("a run that grows faster than its frames are loaded is shown", synthetic, async () => {
  const server = await serve({ runs: [{ stones: 20, frames: 3 }], live: 100, delay: 500 });
  const page = await open(server.url);
  await page.evaluate(() => window.riprap.ready);
  for (const time of [0.3, 0.5, 0.7]) {
    await page.waitForFunction((t) => window.riprap.state().shownTime > t, time, { timeout: 20_000 });
    const { time: newest, shownTime, live } = await state(page);
    assert.ok(live && shownTime < newest, `${shownTime} s of ${newest} s`);
  }
  await page.close();
});

test("the theme can be changed and is kept", options, async () => {
  const page = await openReady(base.url, { colorScheme: "light" });
  await page.getByRole("button", { name: "Light or dark" }).click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.reload();
  await page.evaluate(() => window.riprap.ready);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.close();
});
