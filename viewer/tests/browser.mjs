// A browser for the tests, and pages in it that collect their errors.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

/** The browser: `CHROMIUM`, or the first one in the search path and `/usr/bin`. */
function findBrowser() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const folders = [...(process.env.PATH ?? "").split(delimiter).filter(Boolean), "/usr/bin"];
  const names = ["chromium", "chromium-browser", "google-chrome"];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path)) ?? "";
}

const PATH = findBrowser();
const FLAGS = [
  "--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
];

/** Reason why browser tests cannot run, or `false`. */
export const noBrowser = existsSync(PATH) ? false : `SKIPPED: there is no browser${PATH && ` at ${PATH}`}; set CHROMIUM`;

let browser;

/** Opens a page; `page.errors` lists what went wrong in it. */
export async function open(url, options = {}) {
  browser ??= await chromium.launch({ executablePath: PATH, args: FLAGS });
  const page = await browser.newPage({ viewport: { width: 1000, height: 640 }, ...options });
  page.errors = [];
  page.on("pageerror", (error) => page.errors.push(error.message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) page.errors.push(message.text());
  });
  await page.goto(url);
  return page;
}

/** Opens a page and waits for the first picture. */
export async function openReady(url, options) {
  const page = await open(url, options);
  await page.evaluate(async () => {
    await window.riprap.ready;
    await window.riprap.settled();
  });
  return page;
}

export async function closeBrowser() {
  await browser?.close();
  browser = undefined;
}

/** Colours of the scene as it is drawn: width, height and RGBA bytes. */
export async function pixels(page) {
  const data = (await page.locator("canvas.canvas").screenshot()).toString("base64");
  const picture = await page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const bytes = context.getImageData(0, 0, image.width, image.height).data;
    let text = "";
    for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return { width: image.width, height: image.height, text };
  }, data);
  return { width: picture.width, height: picture.height, data: Buffer.from(picture.text, "latin1") };
}

/** Share of pixels that differ between two pictures. */
export function difference(a, b) {
  let count = 0;
  for (let i = 0; i < a.data.length; i += 4) {
    if (Math.abs(a.data[i] - b.data[i]) + Math.abs(a.data[i + 1] - b.data[i + 1]) + Math.abs(a.data[i + 2] - b.data[i + 2]) > 30) count++;
  }
  return (4 * count) / a.data.length;
}
