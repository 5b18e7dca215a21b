// The RRB container: a JSON header and typed little-endian arrays. Every length and offset is
// checked, so that a damaged or truncated file is reported and never read past its end.

import { DataError } from "./errors";

/** Array of an RRB file. */
export type RrbData = Float32Array | Float64Array | Uint8Array | Uint32Array | Int32Array;

interface Entry {
  data: RrbData;
  shape: number[];
}

const TYPES = {
  f32: Float32Array,
  f64: Float64Array,
  u8: Uint8Array,
  u32: Uint32Array,
  i32: Int32Array,
} as const;

type TypeName = keyof typeof TYPES;

/** Decoded RRB file: header keys and arrays by name. */
export class Rrb {
  constructor(
    /** Where the file came from, for messages. */
    readonly path: string,
    readonly header: Readonly<Record<string, unknown>>,
    private readonly entries: ReadonlyMap<string, Entry>,
    /** Size of the whole file [bytes]. */
    readonly bytes: number,
  ) {}

  has(name: string): boolean {
    return this.entries.has(name);
  }

  f32(name: string, ...shape: number[]): Float32Array<ArrayBuffer> {
    return this.array(name, Float32Array, shape) as Float32Array<ArrayBuffer>;
  }

  f64(name: string, ...shape: number[]): Float64Array<ArrayBuffer> {
    return this.array(name, Float64Array, shape) as Float64Array<ArrayBuffer>;
  }

  u32(name: string, ...shape: number[]): Uint32Array<ArrayBuffer> {
    return this.array(name, Uint32Array, shape) as Uint32Array<ArrayBuffer>;
  }

  u8(name: string, ...shape: number[]): Uint8Array<ArrayBuffer> {
    return this.array(name, Uint8Array, shape) as Uint8Array<ArrayBuffer>;
  }

  /** First dimension of an array. */
  rows(name: string): number {
    return this.entry(name).shape[0] ?? 0;
  }

  /** A finite number of the header. */
  number(name: string): number {
    const value = this.header[name];
    if (typeof value !== "number" || !Number.isFinite(value)) {
      throw new DataError(`${this.path}: the header has no number \`${name}\``);
    }
    return value;
  }

  private entry(name: string): Entry {
    const entry = this.entries.get(name);
    if (!entry) throw new DataError(`${this.path}: the array \`${name}\` is missing`);
    return entry;
  }

  /** The array `name`, whose type and shape must match; −1 matches any length. */
  private array(name: string, type: new (n: number) => RrbData, shape: number[]): RrbData {
    const entry = this.entry(name);
    const matches =
      entry.data instanceof type &&
      entry.shape.length === shape.length &&
      shape.every((n, i) => n === -1 || n === entry.shape[i]);
    if (!matches) {
      throw new DataError(
        `${this.path}: the array \`${name}\` has the shape [${entry.shape.join(", ")}] or a type that do not fit; ` +
          `expected ${type.name}[${shape.map((n) => (n < 0 ? "any" : n)).join(", ")}]`,
      );
    }
    return entry.data;
  }
}

/** Decodes an RRB file; `path` names it in errors. */
export function decodeRrb(buffer: ArrayBuffer, path: string): Rrb {
  const bytes = new Uint8Array(buffer);
  if (bytes.length < 8 || String.fromCharCode(...bytes.subarray(0, 4)) !== "RRB1") {
    throw new DataError(`${path}: not an RRB file (${bytes.length} bytes)`);
  }
  const length = new DataView(buffer).getUint32(4, true);
  if (8 + length > bytes.length) throw new DataError(`${path}: truncated in its header`);
  const header = parseHeader(bytes.subarray(8, 8 + length), path);
  const start = Math.ceil((8 + length) / 8) * 8;
  const entries = new Map<string, Entry>();
  for (const [name, description] of Object.entries(object(header.arrays, path, "arrays"))) {
    entries.set(name, readArray(buffer, start, object(description, path, name), `${path}: array \`${name}\``));
  }
  return new Rrb(path, header, entries, bytes.length);
}

function parseHeader(bytes: Uint8Array, path: string): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new DataError(`${path}: its header is not valid JSON`);
  }
  return object(header, path, "header");
}

function object(value: unknown, path: string, name: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new DataError(`${path}: \`${name}\` is not an object`);
  }
  return value as Record<string, unknown>;
}

function readArray(buffer: ArrayBuffer, start: number, entry: Record<string, unknown>, what: string): Entry {
  const { type, shape, offset } = entry;
  if (typeof type !== "string" || !Object.hasOwn(TYPES, type)) throw new DataError(`${what}: unknown type`);
  if (!Array.isArray(shape) || !shape.every(isCount)) throw new DataError(`${what}: its shape is not a list of counts`);
  if (!isCount(offset) || offset % 8 !== 0) throw new DataError(`${what}: its offset is not a multiple of 8`);
  const make = TYPES[type as TypeName];
  const n = shape.reduce((product: number, k: number) => product * k, 1);
  if (start + offset + n * make.BYTES_PER_ELEMENT > buffer.byteLength) {
    throw new DataError(`${what}: the file ends before the array does (truncated?)`);
  }
  return { data: n === 0 ? new make(0) : new make(buffer, start + offset, n), shape: shape as number[] };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
