// Picked bodies, their histories and trails.

import { messageOf } from "./data/errors";
import type { History } from "./data/protocol";
import { countUntil } from "./data/run";
import type { Trail, World } from "./scene/world";

/** A picked body: it is found again by its id when the model changes. */
export interface Picked {
  run: number;
  id: number;
  name: string;
  history: History | null;
}

const MAX_PICKED = 4;

const keyOf = ({ run, id }: Picked): string => `${run}/${id}`;

/** Shortest time between two readings of the histories of a growing run [ms]. */
const REFRESH = 2000;

/** The bodies that are picked. */
export class Selection {
  picked: Picked[] = [];
  private refreshed = -Infinity;
  private timer = 0;
  /** Histories that are being read, by run and id, and whether to read them again afterwards. */
  private readonly reading = new Map<string, boolean>();

  constructor(
    private readonly worlds: World[],
    /** Called when the selection or a history has changed. */
    private readonly changed: () => void,
    private readonly report: (message: string) => void,
  ) {}

  /** The body picked last. */
  get last(): Picked | undefined {
    return this.picked[this.picked.length - 1];
  }

  /** Picks the body of a run with an id, beside the others if `add`. */
  pick(run: number, id: number, add = false): void {
    const { model } = this.worlds[run];
    const name = model?.names[model.id.indexOf(id)] ?? "";
    const picked: Picked = { run, id, name, history: null };
    const others = add ? this.picked.filter((p) => p.run !== run || p.id !== id) : [];
    this.picked = [...others, picked].slice(-MAX_PICKED);
    this.changed();
    if (!this.reading.has(keyOf(picked))) this.load(picked);
  }

  clear(): void {
    if (this.picked.length === 0) return;
    this.picked = [];
    this.changed();
  }

  /** Reads the histories again after a run has grown. */
  refresh(): void {
    if (this.timer !== 0) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.refreshed = performance.now();
      for (const picked of this.picked) this.load(picked);
    }, Math.max(0, this.refreshed + REFRESH - performance.now()));
  }

  /** Reads a history. There is one request per body: what is asked meanwhile is asked once more after its answer. */
  private load(body: Picked): void {
    const key = keyOf(body);
    if (this.reading.has(key)) {
      this.reading.set(key, true);
      return;
    }
    this.reading.set(key, false);
    const current = () => this.picked.find((picked) => keyOf(picked) === key);
    this.worlds[body.run].run.history(body.id).then(
      (history) => {
        const picked = current();
        if (!picked) return;
        picked.history = history;
        this.changed();
      },
      (error: unknown) => {
        if (current()) this.report(messageOf(error));
      },
    ).finally(() => {
      const again = this.reading.get(key);
      this.reading.delete(key);
      if (again && current()) this.load(body);
    });
  }

  /** Index of the body picked last in a run, or −1. */
  indexIn(world: World): number {
    const { last } = this;
    return last && this.worlds[last.run] === world ? (world.model?.id.indexOf(last.id) ?? -1) : -1;
  }

  /** Paths of the picked bodies of a run up to a time [s]. */
  trails(world: World, time: number): Trail[] {
    return this.picked.flatMap(({ run, history }) =>
      this.worlds[run] === world && history
        ? [{ points: history.position, end: countUntil(history.time, time) }]
        : []);
  }
}
