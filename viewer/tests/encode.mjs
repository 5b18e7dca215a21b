// Writes RRB files and self-contained pages, as the server does.
import { deflateRawSync } from "node:zlib";

const TYPES = [[Float32Array, "f32"], [Float64Array, "f64"], [Uint8Array, "u8"], [Uint32Array, "u32"], [Int32Array, "i32"]];

/** RRB file with header keys and arrays: `{name: [typed array, shape]}`. */
export function encodeRrb(header, arrays) {
  let offset = 0;
  const entries = {};
  for (const [name, [data, shape]] of Object.entries(arrays)) {
    entries[name] = { type: TYPES.find(([type]) => data instanceof type)[1], shape, offset };
    offset += Math.ceil(data.byteLength / 8) * 8;
  }
  const json = Buffer.from(JSON.stringify({ ...header, arrays: entries }));
  const start = Math.ceil((8 + json.length) / 8) * 8;
  const file = Buffer.alloc(start + offset);
  file.write("RRB1", 0, "latin1");
  file.writeUInt32LE(json.length, 4);
  json.copy(file, 8);
  for (const [name, [data]] of Object.entries(arrays)) {
    Buffer.from(data.buffer, data.byteOffset, data.byteLength).copy(file, start + entries[name].offset);
  }
  return file;
}

/** Page that contains its data: `files` maps paths of the protocol to buffers. */
export function selfContainedPage(page, runs, files) {
  const names = {};
  const scripts = [];
  for (const [i, [path, data]] of Object.entries(files).entries()) {
    names[path] = `riprap-file-${i}`;
    const text = deflateRawSync(data).toString("base64");
    scripts.push(`<script id="riprap-file-${i}" type="application/octet-stream;base64" data-encoding="deflate-raw">${text}</script>`);
  }
  const index = JSON.stringify({ runs, files: names }).replaceAll("<", "\\u003c");
  const data = `<script id="riprap-data" type="application/json">${index}</script>\n${scripts.join("\n")}\n`;
  return page.replace("<!-- riprap-data -->", () => data);
}
