// What the page does when something goes wrong: errors while drawing, slow and refused answers, wrong input.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { closeBrowser, difference, noBrowser, openReady, pixels } from "./browser.mjs";
import { startServer } from "./fake-server.mjs";

const options = { skip: noBrowser || (process.env.RIPRAP_VIEW_URL ? "needs synthetic data" : false) };
const state = (page) => page.evaluate(() => window.riprap.state());
const servers = [];

async function serve(settings = {}) {
  const server = await startServer(settings);
  servers.push(server);
  return server;
}

after(async () => {
  await closeBrowser();
  for (const server of servers) await server.close();
});

test("an error while drawing is shown, and the pictures after it are drawn", options, async () => {
  const server = await serve({ runs: [{ stones: 30, frames: 60 }] });
  const page = await openReady(server.url);
  await page.evaluate(() => {
    const prototype = WebGL2RenderingContext.prototype;
    window.draw = prototype.drawElements;
    prototype.drawElements = () => {
      throw new Error("no more memory");
    };
    window.riprap.play();
  });
  await page.getByText("the picture cannot be drawn: no more memory").waitFor();
  const before = await pixels(page);
  await page.evaluate(() => (WebGL2RenderingContext.prototype.drawElements = window.draw));
  await page.waitForFunction(() => window.riprap.state().frame > 20);
  await page.evaluate(() => window.riprap.pause());
  await page.evaluate(() => window.riprap.settled());
  assert.ok(difference(before, await pixels(page)) > 0.01);
  await page.close();
});

test("errors that nobody expected are shown", options, async () => {
  const server = await serve({ runs: [{ stones: 10, frames: 3 }] });
  server.control.wait = (path) => (path === "api/events" ? 1500 : 0);
  const page = await openReady(server.url);
  await page.evaluate(() => void setTimeout(() => {
    throw new Error("in a timer");
  }));
  await page.getByText("Unexpected error: in a timer").waitFor();
  // A connection that opens later takes back its own message only.
  await page.waitForTimeout(2000);
  assert.ok(await page.getByText("Unexpected error: in a timer").isVisible());
  await page.evaluate(() => void Promise.reject(new Error("in a promise")));
  await page.getByText("Unexpected error: in a promise").waitFor();
  await page.close();
});

test("the history of a body is asked for once at a time while a run grows", options, async () => {
  const server = await serve({ runs: [{ stones: 30, frames: 60 }], live: 100 });
  server.control.wait = (path) => (path.includes("/history/") ? 2800 : 0);
  const page = await openReady(server.url);
  for (let k = 0; k < 5; k++) {
    await page.evaluate(() => window.riprap.pickAt(...window.riprap.project(29)));
    await page.keyboard.press("Escape");
  }
  await page.evaluate(() => window.riprap.pickAt(...window.riprap.project(29)));
  await page.getByRole("slider", { name: /Speed \[m\/s\]: from/ }).waitFor();
  const first = await page.getByRole("slider", { name: /Speed/ }).getAttribute("aria-valuemax");
  await page.waitForTimeout(7000);
  assert.equal(server.histories, 1);
  const asked = server.asked.filter((path) => path.includes("/history/")).length;
  assert.ok(asked >= 3 && asked <= 5, `${asked} requests`);
  assert.ok(Number(await page.getByRole("slider", { name: /Speed/ }).getAttribute("aria-valuemax")) > Number(first) + 0.5);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a run is played and recorded to its end although a model cannot be read", options, async () => {
  const server = await serve({ runs: [{ stones: 10, frames: 12, breaksAt: 6 }] });
  server.control.refuse = (path) => path.includes("/model/1");
  const page = await openReady(server.url, { viewport: { width: 640, height: 480 } });
  assert.ok((await page.evaluate(() => window.riprap.videoSize())) > 2000);
  await page.getByText("refused by the test").waitFor();
  assert.equal((await state(page)).frame, 11);
  // Once it can be read, it is shown.
  await page.evaluate(() => window.riprap.setFrame(2));
  server.control.refuse = () => false;
  await page.waitForTimeout(1100);
  await page.evaluate(() => window.riprap.setFrame(9));
  await page.waitForFunction(() => window.riprap.state().shownTime > 0.17);
  await page.close();
});

test("a recording that waits for frames can be stopped", options, async () => {
  const server = await serve({ runs: [{ stones: 10, frames: 30 }] });
  const page = await openReady(server.url, { viewport: { width: 640, height: 480 } });
  server.control.wait = (path) => (/frame\/([5-9]|\d\d)$/.test(path) ? 1e6 : 0);
  const download = page.waitForEvent("download");
  await page.keyboard.press("x");
  await page.getByRole("button", { name: "Stop" }).waitFor();
  await page.waitForTimeout(500);
  await page.getByRole("button", { name: "Stop" }).click();
  assert.match((await download).suggestedFilename(), /\.webm$/);
  await page.getByRole("button", { name: "Video" }).waitFor();
  await page.close();
});

test("an update that fails is repeated until it succeeds, also without a further event", options, async () => {
  const server = await serve({ runs: [{ stones: 20, frames: 5 }] });
  const page = await openReady(server.url);
  server.control.refuse = (path) => path.endsWith("/times");
  server.runs[0].frames = 9;
  server.send({ run: 0, n_frames: 9, state: "finished" });
  await page.getByText("refused by the test").waitFor();
  assert.equal((await state(page)).nFrames, 5);
  server.control.refuse = () => false;
  await page.waitForFunction(() => window.riprap.state().nFrames === 9);
  await page.getByRole("alert").waitFor({ state: "hidden" });
  await page.close();
});

test("limits of the colours in the wrong order are refused with a reason", options, async () => {
  const server = await serve({ runs: [{ stones: 20, frames: 5 }] });
  const page = await openReady(server.url);
  await page.evaluate(() => window.riprap.setColour("speed"));
  const [lower, upper] = [page.getByLabel("Lower limit of the colours"), page.getByLabel("Upper limit of the colours")];
  await upper.fill("2");
  await upper.press("Enter");
  const { legend } = await state(page);
  assert.deepEqual([legend.min, legend.max], [0, 2]);
  for (const [input, value, reason] of [
    [lower, "2", "The lower limit must be below the upper one, 2."], [lower, "1e9", "The lower limit must be below the upper one, 2."],
    [upper, "0", "The upper limit must be above the lower one, 0."], [upper, "-3", "The upper limit must be above the lower one, 0."],
    [upper, "", "A limit is a number."],
  ]) {
    await input.fill(value);
    await input.press("Enter");
    await page.getByText(reason).waitFor();
    assert.equal(await input.getAttribute("aria-invalid"), "true");
    assert.deepEqual((await state(page)).legend, legend, value);
  }
  await upper.fill("0.75");
  await upper.press("Enter");
  assert.equal((await state(page)).legend.max, 0.75);
  assert.equal(await page.locator(".refused").innerText(), "");
  assert.equal(await upper.getAttribute("aria-invalid"), "false");
  // What was refused does not stay in the field.
  await lower.fill("9");
  await lower.press("Tab");
  assert.equal(await lower.inputValue(), "0");
  await page.close();
});

test("limits of the colours with many digits can be read", options, async () => {
  const server = await serve({ runs: [{ stones: 20, frames: 5 }] });
  const page = await openReady(server.url);
  await page.evaluate(() => window.riprap.setColour("speed"));
  for (const [label, value] of [["Lower", "-0.00001234"], ["Upper", "0.0006059"]]) {
    const input = page.getByLabel(`${label} limit of the colours`);
    await input.fill(value);
    await input.press("Enter");
    await input.blur();
    assert.equal(Number(await input.inputValue()), Number(value));
    const cut = await input.evaluate((element) => {
      const style = getComputedStyle(element);
      const context = document.createElement("canvas").getContext("2d");
      context.font = style.font;
      return context.measureText(element.value).width > element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    });
    assert.equal(cut, false, value);
  }
  await page.close();
});

test("the time can be moved in a plot with the keyboard, and its axis has a unit", options, async () => {
  const server = await serve({ runs: [{ stones: 20, frames: 60 }] });
  const page = await openReady(server.url);
  await page.evaluate(() => {
    window.texts = new Set();
    const fill = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
      window.texts.add(text);
      fill.call(this, text, ...more);
    };
  });
  await page.getByRole("button", { name: "Plots" }).click();
  const plot = page.getByRole("slider", { name: /kinetic_energy/ });
  await plot.focus();
  const end = 59 * 0.02;
  for (const [key, time] of [["End", end], ["ArrowLeft", 0.99 * end], ["PageDown", 0.89 * end], ["Home", 0], ["ArrowRight", 0.01 * end], ["PageUp", 0.11 * end]]) {
    await page.keyboard.press(key);
    assert.ok(Math.abs((await state(page)).time - time) < 1e-9, key);
  }
  assert.equal(await plot.getAttribute("aria-valuetext"), "0.1298 s");
  assert.ok(await page.evaluate(() => window.texts.has("t [s]")));
  await page.close();
});

test("pictures contain the legend of the materials, and both runs use the same colours", options, async () => {
  const server = await serve({ runs: [{ stones: 20, frames: 5 }, { stones: 20, frames: 5, materials: ["steel", "chalk", "granite", "rubber"] }] });
  const page = await openReady(server.url);
  await page.evaluate(() => window.riprap.setColour("material"));
  const legend = page.getByRole("img", { name: "Colours: granite, basalt, steel, rubber, chalk" });
  await legend.waitFor();
  assert.equal(await legend.locator(".material").count(), 5);
  const texts = await page.evaluate(async () => {
    const texts = [];
    const fill = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
      texts.push(text);
      fill.call(this, text, ...more);
    };
    await window.riprap.pictureSize();
    CanvasRenderingContext2D.prototype.fillText = fill;
    return texts;
  });
  for (const text of ["Material", "granite", "basalt", "steel", "rubber", "chalk"]) assert.ok(texts.includes(text), text);
  await page.close();
});

test("a vertical half-space is a translucent wall that can be hidden", options, async () => {
  const server = await serve({ runs: [{ stones: 30, frames: 5, wall: true }] });
  const page = await openReady(server.url);
  await page.keyboard.press("1");
  const picture = async () => {
    await page.evaluate(() => window.riprap.settled());
    await page.waitForTimeout(500);
    await page.evaluate(() => window.riprap.settled());
    return pixels(page);
  };
  const shown = await picture();
  const ground = page.getByRole("checkbox", { name: "Ground" });
  await page.keyboard.press("g");
  assert.equal(await ground.isChecked(), false);
  const without = await picture();
  await page.keyboard.press("w");
  const hidden = await picture();
  // A large part of the picture shows the wall, which is not ground.
  assert.ok(difference(without, shown) < 0.3 * difference(without, hidden), `${difference(without, shown)} ${difference(without, hidden)}`);
  assert.ok(difference(without, hidden) > 0.01);
  await page.close();
});
