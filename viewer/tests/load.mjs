// Loads modules of the viewer, which are written in TypeScript, into node.
import { createServer } from "vite";

let server;

/** The module at a path below `src`. */
export async function load(path) {
  server ??= await createServer({
    root: new URL("..", import.meta.url).pathname,
    configFile: false,
    server: { middlewareMode: true, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true, include: [] },
    appType: "custom",
    logLevel: "error",
  });
  return server.ssrLoadModule(`/src/${path}`);
}

/** Ends the loader, so that node can exit. */
export async function unload() {
  await server?.close();
}
