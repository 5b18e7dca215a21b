// Bounded storage of frames: at most a given number of bytes is kept, and at most a few requests are under
// way. What is needed next is requested in the order of its use.

/** Least-recently-used cache with a limit in bytes. */
export class BoundedCache<V extends { bytes: number }> {
  private readonly entries = new Map<number, V>();
  private used = 0;

  constructor(
    /** Limit [bytes]; the entry added last is always kept. */
    readonly limit: number,
  ) {}

  /** Bytes in use. */
  get bytes(): number {
    return this.used;
  }

  get(key: number): V | undefined {
    const value = this.entries.get(key);
    if (value !== undefined) {
      this.entries.delete(key);
      this.entries.set(key, value);
    }
    return value;
  }

  has(key: number): boolean {
    return this.entries.has(key);
  }

  set(key: number, value: V): void {
    this.drop(key);
    this.entries.set(key, value);
    this.used += value.bytes;
    for (const oldest of this.entries.keys()) {
      if (this.used <= this.limit || oldest === key) break;
      this.drop(oldest);
    }
  }

  private drop(key: number): void {
    const value = this.entries.get(key);
    if (value === undefined) return;
    this.used -= value.bytes;
    this.entries.delete(key);
  }
}

/** Time after which a failed request may be repeated [ms]. */
const RETRY = 1000;

/** Numbered items loaded on demand and ahead of their use. */
export class Store<V extends { bytes: number }> {
  private readonly cache: BoundedCache<V>;
  private readonly flying = new Map<number, Promise<V>>();
  private readonly failed = new Map<number, number>();
  private ahead: number[] = [];

  constructor(
    private readonly load: (k: number) => Promise<V>,
    limit: number,
    private readonly maxFlying = 4,
    /** Called when an item cannot be loaded. */
    private readonly report: (k: number, error: unknown) => void = () => undefined,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.cache = new BoundedCache(limit);
  }

  /** Bytes in use. */
  get bytes(): number {
    return this.cache.bytes;
  }

  /** The item if it is loaded. */
  peek(k: number): V | undefined {
    return this.cache.get(k);
  }

  /** Requests the item immediately. */
  request(k: number): Promise<V> {
    const known = this.cache.get(k);
    if (known) return Promise.resolve(known);
    const flying = this.flying.get(k);
    if (flying) return flying;
    const promise = this.load(k)
      .then((value) => {
        this.cache.set(k, value);
        this.failed.delete(k);
        return value;
      })
      .catch((error: unknown) => {
        this.failed.set(k, this.now());
        this.report(k, error);
        throw error;
      })
      .finally(() => {
        this.flying.delete(k);
        this.pump();
      });
    this.flying.set(k, promise);
    return promise;
  }

  /** Replaces the list of items to load ahead, the most urgent one first. */
  want(items: number[]): void {
    this.ahead = items;
    this.pump();
  }

  private pump(): void {
    while (this.flying.size < this.maxFlying) {
      const next = this.ahead.find((k) => !this.cache.has(k) && !this.flying.has(k) && !this.failedRecently(k));
      if (next === undefined) return;
      this.request(next).catch(() => undefined);
    }
  }

  /** Whether the last request for the item failed. */
  hasFailed(k: number): boolean {
    return this.failed.has(k);
  }

  private failedRecently(k: number): boolean {
    const time = this.failed.get(k);
    return time !== undefined && this.now() - time < RETRY;
  }
}
