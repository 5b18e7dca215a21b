// Updates of runs in progress: server-sent events, or polling if there are none.

import { messageOf } from "./errors";
import { generationOf, parseRuns, type RunState } from "./protocol";
import { jsonOf, type Source } from "./source";

/** A run that has grown or changed its state. */
export interface Update {
  run: number;
  nFrames: number;
  generation: number;
  state: RunState;
}

/** Time between two questions when there are no events [ms]. */
const INTERVAL = 1000;

/** Reports updates of all runs until `stop` is called. */
export class Feed {
  private events: EventSource | null = null;
  private timer = 0;
  private stopped = false;

  constructor(
    private readonly source: Source,
    private readonly report: (update: Update) => void,
    /** Called with a message when the server does not answer, with `null` when it does again. */
    private readonly trouble: (message: string | null) => void,
  ) {}

  start(): void {
    if (!this.source.live) return;
    if (typeof EventSource === "undefined") {
      this.poll();
      return;
    }
    this.events = new EventSource("api/events");
    this.events.onmessage = (event) => this.receive(String(event.data));
    this.events.onopen = () => {
      this.trouble(null);
      window.clearTimeout(this.timer);
      this.timer = 0;
    };
    this.events.onerror = () => this.poll();
  }

  stop(): void {
    this.stopped = true;
    this.events?.close();
    window.clearTimeout(this.timer);
  }

  private receive(text: string): void {
    try {
      const { run, n_frames, generation, state } = JSON.parse(text) as Record<string, unknown>;
      if (Number.isSafeInteger(run) && Number.isSafeInteger(n_frames)) {
        this.report({ run: run as number, nFrames: n_frames as number, generation: generationOf(generation), state: state as RunState });
      }
    } catch {
      // A damaged event is skipped; the next one repeats its content.
    }
  }

  private poll(): void {
    if (this.timer !== 0 || this.stopped) return;
    this.timer = window.setTimeout(() => void this.ask(), INTERVAL);
  }

  private async ask(): Promise<void> {
    try {
      const runs = parseRuns(await jsonOf(this.source, "api/runs"));
      // Events that have returned in the meantime are newer than this answer.
      if (!this.isOpen) runs.forEach(({ nFrames, generation, state }, run) => this.report({ run, nFrames, generation, state }));
      this.trouble(null);
    } catch (error) {
      this.trouble(messageOf(error));
    }
    this.timer = 0;
    if (!this.isOpen) this.poll();
  }

  private get isOpen(): boolean {
    return this.events !== null && this.events.readyState === EventSource.OPEN;
  }
}
