// Runs all tests: `npm test`. Browser tests are skipped, with a line that says so, if there is no browser.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

const folder = new URL(".", import.meta.url).pathname;
const files = readdirSync(folder).filter((name) => name.endsWith(".test.mjs")).map((name) => folder + name);
const { noBrowser } = await import("./browser.mjs");
if (noBrowser) console.log(noBrowser);
const result = spawnSync(process.execPath, ["--test", "--test-concurrency=1", "--test-reporter=spec", ...files], { stdio: "inherit" });
process.exit(result.status ?? 1);
