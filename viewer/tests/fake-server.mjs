// Server that speaks the protocol of `riprap view` with synthetic runs.
//   node tests/fake-server.mjs [--stones N] [--frames N] [--runs 1|2] [--live] [--port P]
// Error modes, for tests: `truncated` (frames end early), `malformed` (a model with indices out of range),
// `refused` (frames answer 500), `no-contacts`, `no-runs`.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { SyntheticRun } from "./synthetic.mjs";

const PAGE = new URL("../dist/viewer.html", import.meta.url);

/** Starts a server; `live` lets runs grow by one frame every `live` milliseconds, `delay` is the time of a frame [ms]. */
export async function startServer({ runs = [{}], live = 0, liveFrames = Infinity, delay = 0, events = true, error = "", port = 0 } = {}) {
  const synthetic = runs.map((options) => new SyntheticRun({ ...options, state: live ? "running" : "finished" }));
  const cache = new Map();
  const listeners = new Set();
  /** What tests change while the server runs: paths that are refused, and the time until an answer [ms]. */
  const control = { refuse: () => false, wait: (path) => (path.includes("/frame/") ? delay : 0) };
  /** Paths that were asked for, and those not answered yet. */
  const asked = [];
  const waiting = [];
  const announce = (response) =>
    synthetic.forEach((run, i) => response.write(`data: ${JSON.stringify({ run: i, n_frames: run.frames, models: 1, state: run.state, generation: run.generation })}\n\n`));
  const timer = live && setInterval(() => {
    for (const run of synthetic) {
      if (run.frames < liveFrames) run.frames += 1;
      else run.state = "finished";
    }
    listeners.forEach(announce);
  }, live);

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    const path = decodeURIComponent(pathname.slice(1));
    try {
      if (path === "api/events" && events) {
        response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
        listeners.add(response);
        response.on("close", () => listeners.delete(response));
        // Without an event the page does not learn that the connection is open.
        return setTimeout(() => announce(response), control.wait(path)).unref();
      }
      asked.push(path);
      const refused = [500, "application/json", JSON.stringify({ error: "refused by the test" })];
      const [status, type, body] = control.refuse(path) ? refused : answer(path, searchParams);
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
      waiting.push(path);
      server.mostWaiting = Math.max(server.mostWaiting ?? 0, waiting.filter((p) => p === path && p.includes("/history/")).length);
      // An answer that is held back for long must not keep the process alive.
      setTimeout(() => {
        waiting.splice(waiting.indexOf(path), 1);
        response.end(body);
      }, control.wait(path)).unref();
    } catch (failure) {
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: `no such thing: ${failure.message}` }));
    }
  });

  function answer(path, query) {
    if (path === "" || path === "index.html") return [200, "text/html; charset=utf-8", readFileSync(PAGE)];
    if (path === "favicon.ico") return [204, "image/x-icon", ""];
    if (path === "api/runs") return json({ format: 1, runs: error === "no-runs" ? [] : synthetic.map((run) => run.info()) });
    const [, number, what, item] = path.split("/");
    const run = synthetic[number];
    if (!run) throw new Error(path);
    const from = Number(query.get("from") ?? 0);
    switch (what) {
      case "times": return binary(run.times(from));
      case "model": return binary(keep(path, () => damagedModel(run.model(Number(item)))));
      case "frame": return frame(run, path, Number(item));
      case "contacts":
        if (error === "no-contacts") throw new Error(path);
        return binary(keep(path, () => run.contacts(Number(item))));
      case "history": return binary(run.history(Number(item)));
      case "series": return [200, "text/csv", Buffer.from(run.series()).subarray(from)];
      case "summary": return json(run.summary());
      default: throw new Error(path);
    }
  }

  function frame(run, path, k) {
    if (k >= run.frames) throw new Error(path);
    if (error === "refused") return [500, "application/json", JSON.stringify({ error: "the frame cannot be read" })];
    const bytes = keep(path, () => run.frame(k));
    return binary(error === "truncated" ? bytes.subarray(0, bytes.length / 2) : bytes);
  }

  function damagedModel(bytes) {
    if (error === "malformed") bytes.fill(0xff, bytes.length - 64);
    return bytes;
  }

  /** Answers are kept, so that the time to prepare them is not measured twice. */
  function keep(path, make) {
    if (!cache.has(path)) {
      if (cache.size > 600) cache.clear();
      cache.set(path, make());
    }
    return cache.get(path);
  }

  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  // A test that fails leaves its server open, which must not keep the process.
  if (port === 0) server.unref();
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    runs: synthetic,
    control,
    asked,
    /** Number of requests for the history of one body that waited at the same time, at most. */
    get histories() {
      return server.mostWaiting ?? 0;
    },
    /** Sends an event. */
    send(event) {
      for (const response of listeners) response.write(`data: ${JSON.stringify(event)}\n\n`);
    },
    close() {
      clearInterval(timer);
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

const binary = (body) => [200, "application/octet-stream", body];
const json = (value) => [200, "application/json", JSON.stringify(value)];

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const option = (name, otherwise) => {
    const i = process.argv.indexOf(`--${name}`);
    return i < 0 ? otherwise : process.argv[i + 1];
  };
  const run = { stones: Number(option("stones", 1000)), frames: Number(option("frames", 251)) };
  const runs = option("runs", "1") === "2" ? [run, { ...run, name: "pour-2", title: "Second pour", seed: 2 }] : [run];
  const server = await startServer({ runs, port: Number(option("port", 8000)), live: process.argv.includes("--live") ? 200 : 0 });
  console.log(server.url);
}
