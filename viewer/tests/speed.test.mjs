// Measurements with software rendering, for comparison only: pictures per second and the time to the first one.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { closeBrowser, noBrowser, openReady } from "./browser.mjs";
import { startServer } from "./fake-server.mjs";

const options = { skip: noBrowser || (process.env.RIPRAP_VIEW_URL ? "needs synthetic data" : false) };
after(closeBrowser);

for (const stones of [1000, 5000, 100_000]) {
  test(`pictures per second with ${stones} stones`, options, async (t) => {
    const server = await startServer({ runs: [{ stones, frames: 20 }] });
    const page = await openReady(server.url, { viewport: { width: 1280, height: 800 } });
    const fps = await page.evaluate(() => window.riprap.measureFps(3));
    const played = await page.evaluate(() => window.riprap.measureFps(3, true));
    const { first, quality, triangles, cacheBytes } = await page.evaluate(() => ({ ...window.riprap.state(), first: window.riprap.firstPicture }));
    const { width, height } = await page.locator("canvas.canvas").evaluate(({ clientWidth, clientHeight }) => ({ width: clientWidth, height: clientHeight }));
    t.diagnostic(`${stones} stones (${triangles} triangles): ${fps.toFixed(1)} pictures per second while the camera turns, ${played.toFixed(1)} while playing, with software rendering, a scene of ${width} × ${height} pixels at quality level ${quality}; ` +
      `first picture after ${(first / 1000).toFixed(2)} s; frames in memory ${(cacheBytes / 1e6).toFixed(1)} MB`);
    assert.ok(fps > 0 && played > 0);
    assert.deepEqual(page.errors, []);
    await page.close();
    await server.close();
  });
}

test("the first picture of 5000 stones and 500 frames appears, and its time is reported", options, async (t) => {
  const server = await startServer({ runs: [{ stones: 5000, frames: 500 }] });
  const page = await openReady(server.url, { viewport: { width: 1280, height: 800 } });
  const ms = await page.evaluate(() => window.riprap.firstPicture);
  t.diagnostic(`first picture after ${(ms / 1000).toFixed(2)} s with software rendering`);
  assert.ok(ms > 0);
  await page.close();
  await server.close();
});
