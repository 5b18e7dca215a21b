// Takes the pictures of the viewer that README and book show: `RIPRAP` names the command. Run from the root of the repository.
//   riprap run examples/tamping/scene.toml --out out/tamping --until 0.5; riprap run examples/pour/scene.toml --out out/pour
//   RIPRAP=target/release/riprap node viewer/tests/screenshots.mjs
import { spawn } from "node:child_process";
import { closeBrowser, openReady } from "./browser.mjs";

/** Opens the viewer of a run in full quality. */
async function view(folder, colorScheme) {
  const child = spawn(process.env.RIPRAP ?? "riprap", ["view", folder, "--no-open", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      const found = /viewer at (http:\S+\/)/.exec(text)?.[1];
      if (found) resolve(found);
    });
  });
  const page = await openReady(`${url}?quality=full`, { viewport: { width: 1280, height: 800 }, colorScheme });
  return { page, child };
}

async function take({ page, child }, name, prepare) {
  await page.evaluate(() => window.riprap.setFrame(Infinity));
  await page.keyboard.press("f");
  await prepare(page);
  await page.mouse.move(620, 720);
  await page.evaluate(() => window.riprap.settled());
  await page.evaluate(() => document.activeElement?.blur());
  await page.screenshot({ path: `book/src/images/${name}.png` });
  for (const error of page.errors) console.log(`${name}: ${error}`);
  child.kill();
}

async function plots(page, names) {
  await page.getByRole("button", { name: "Plots" }).click();
  for (const name of names) await page.getByLabel("Add a plot").selectOption(name);
}

await take(await view("out/tamping", "light"), "viewer-light", async (page) => {
  await page.evaluate(() => window.riprap.setColour("speed"));
  // Most stones are slow.
  await page.getByLabel("Upper limit of the colours").fill("0.1");
  await page.getByLabel("Upper limit of the colours").press("Enter");
  await page.evaluate(() => window.riprap.settled());
  await plots(page, ["tamper.zs.q [m]", "tamper.drive.force_mean [N m]"]);
});
await take(await view("out/pour", "dark"), "viewer-dark", async (page) => {
  await page.evaluate(() => window.riprap.setColour("material"));
  await page.keyboard.press("k");
  await plots(page, ["contacts [-]"]);
});
await closeBrowser();
