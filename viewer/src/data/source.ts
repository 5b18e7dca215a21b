// Where the data come from: the server next to the page, or the page itself (see `embedded.ts`).

import { SourceError, messageOf } from "./errors";

/** Answers the paths of the protocol, for example `api/0/frame/12`. */
export interface Source {
  /** Whether runs can grow while the page is open. */
  readonly live: boolean;
  /** Whether a path can be answered; the network always tries. */
  has(path: string): boolean;
  bytes(path: string): Promise<ArrayBuffer>;
}

/** The server that delivered the page. */
export class NetworkSource implements Source {
  readonly live = true;

  has(): boolean {
    return true;
  }

  async bytes(path: string): Promise<ArrayBuffer> {
    let response: Response;
    try {
      response = await fetch(path);
    } catch (error) {
      throw new SourceError(`no answer to ${path}: is \`riprap view\` still running? (${messageOf(error)})`);
    }
    if (!response.ok) throw new SourceError(`${path}: ${await refusal(response)}`);
    try {
      return await response.arrayBuffer();
    } catch (error) {
      throw new SourceError(`${path}: the answer broke off (${messageOf(error)})`);
    }
  }
}

/** Reason given by the server in `{"error": "text"}`, or the status. */
async function refusal(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null);
  const reason = (body as { error?: unknown } | null)?.error;
  return typeof reason === "string" ? reason : `status ${response.status}`;
}

/** Text of an answer. */
export async function textOf(source: Source, path: string): Promise<string> {
  return new TextDecoder().decode(await source.bytes(path));
}

/** JSON of an answer. */
export async function jsonOf(source: Source, path: string): Promise<unknown> {
  const text = await textOf(source, path);
  try {
    return JSON.parse(text);
  } catch {
    throw new SourceError(`${path}: the answer is not JSON`);
  }
}
