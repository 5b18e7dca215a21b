// Builds one HTML file without external references: scripts and styles are inlined, names are fixed.
import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

/** License of three.js, which is part of the built page. */
const LICENSE = readFileSync(new URL("node_modules/three/LICENSE", import.meta.url), "utf8").trim();

/** Replaces the script and style references of the page by their contents. */
function inlineEverything() {
  return {
    name: "inline-everything",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["viewer.html"];
      let html = String(page.source).replace(/\n\s*\n/g, "\n");
      for (const [name, item] of Object.entries(bundle)) {
        if (item.type === "chunk") {
          const code = item.code.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
          html = html.replace(/<script[^>]*type="module"[^>]*><\/script>/, "");
          html = html.replace("</body>", () => `<script type="module">${code}</script>\n</body>`);
          delete bundle[name];
        } else if (name.endsWith(".css")) {
          html = html.replace(/<link[^>]*rel="stylesheet"[^>]*>/, () => `<style>${String(item.source).trim()}</style>`);
          delete bundle[name];
        }
      }
      page.source = html.replace("</head>", () => `<!-- This page contains three.js:\n${LICENSE} -->\n  </head>`);
    },
  };
}

export default defineConfig({
  base: "./",
  appType: "mpa",
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: true,
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 100_000_000,
    chunkSizeWarningLimit: 2000,
    rollupOptions: { input: "viewer.html" },
  },
  plugins: [inlineEverything()],
});
