// Data inside a self-contained page: one script element per file, compressed and base64-encoded.

import { DataError } from "./errors";
import type { Source } from "./source";

const INDEX = "riprap-data";

/** The data of the page, or `null` if it has none. */
export function embeddedSource(page: Document): EmbeddedSource | null {
  const index = page.getElementById(INDEX)?.textContent;
  if (!index) return null;
  let value: { runs?: unknown; format?: unknown; files?: unknown };
  try {
    value = JSON.parse(index) as typeof value;
  } catch {
    throw new DataError("the index of the data in this page is not valid JSON; write the page again");
  }
  const files = typeof value.files === "object" && value.files !== null ? value.files : {};
  return new EmbeddedSource(page, { format: 1, runs: value.runs }, new Map(Object.entries(files)));
}

/** Files stored in script elements of the page. */
export class EmbeddedSource implements Source {
  readonly live = false;

  constructor(
    private readonly page: Document,
    private readonly runs: unknown,
    private readonly files: ReadonlyMap<string, unknown>,
  ) {}

  has(path: string): boolean {
    return path === "api/runs" || this.files.has(path);
  }

  async bytes(path: string): Promise<ArrayBuffer> {
    if (path === "api/runs") return new TextEncoder().encode(JSON.stringify(this.runs)).buffer as ArrayBuffer;
    const element = this.page.getElementById(String(this.files.get(path) ?? ""));
    if (!element) throw new DataError(`${path} is not part of this page`);
    const packed = decodeBase64(element.textContent ?? "", path);
    const encoding = element.getAttribute("data-encoding");
    if (!encoding) return packed.buffer as ArrayBuffer;
    return inflate(packed, encoding, path);
  }
}

function decodeBase64(text: string, path: string): Uint8Array<ArrayBuffer> {
  try {
    const binary = atob(text.trim());
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
  } catch {
    throw new DataError(`${path}: not base64; the page is damaged`);
  }
}

async function inflate(packed: Uint8Array<ArrayBuffer>, encoding: string, path: string): Promise<ArrayBuffer> {
  try {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream(encoding as CompressionFormat));
    return await new Response(stream).arrayBuffer();
  } catch {
    throw new DataError(`${path}: cannot be decompressed (${encoding}); the page is damaged`);
  }
}
