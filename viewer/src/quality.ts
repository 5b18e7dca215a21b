// Quality while the picture moves: shadows, edges, details and resolution are reduced in this order until the frame rate suffices.

/** What is drawn at a level. */
export interface Quality {
  shadows: boolean;
  edges: boolean;
  /** Triangles drawn with full detail. */
  triangles: number;
  /** Pixels per pixel of the screen, at most. */
  resolution: number;
}

export const LEVELS: Quality[] = [
  { shadows: true, edges: true, triangles: Infinity, resolution: 1 },
  { shadows: false, edges: true, triangles: Infinity, resolution: 1 },
  { shadows: false, edges: false, triangles: 250_000, resolution: 1 },
  { shadows: false, edges: false, triangles: 60_000, resolution: 0.75 },
  { shadows: false, edges: false, triangles: 12_000, resolution: 0.5 },
];

/** Time between two pictures that is too long, and far too long [ms]. */
const TOO_LONG = 45;
const FAR_TOO_LONG = 8 * TOO_LONG;

/** Number of late pictures that lower the quality; those far too late count twice. */
const PATIENCE = 4;

/** Time between two pictures that leaves room for a better quality [ms], and how many of them in a row raise it. */
const SHORT = 25;
const RECOVERY = 60;

/** Pictures further apart do not belong to one movement [ms]. */
const PAUSE = 1500;

/** Chooses the level from the times of pictures. */
export class QualityControl {
  /** Level while moving; 0 is the best. */
  level = 0;
  /** Best level, also that of a picture that stands still: not 0 only without a graphics card. */
  best = 0;
  private last = -Infinity;
  private late = 0;
  private short = 0;
  /** Short times in a row that raise the quality; more after each attempt that failed. */
  private recovery = RECOVERY;
  private raised = false;

  constructor(
    /** Whether the level may change. */
    readonly adaptive = true,
  ) {}

  /** A picture was drawn at `now` [ms]. */
  drawn(now: number): void {
    const gap = now - this.last;
    this.last = now;
    if (!this.adaptive || gap > PAUSE) return;
    this.short = gap <= SHORT ? this.short + 1 : 0;
    if (gap <= TOO_LONG) this.late = Math.max(0, this.late - 1);
    else this.late += gap > FAR_TOO_LONG ? 2 : 1;
    // After several pictures that are far too late, each further one lowers the quality.
    if (this.late >= PATIENCE) this.lower(gap > FAR_TOO_LONG ? PATIENCE - 2 : 0);
    else if (this.short >= this.recovery) this.raise();
  }

  /** Lowers the quality; `late` pictures count towards the next level. */
  private lower(late: number): void {
    this.late = late;
    this.level = Math.min(LEVELS.length - 1, this.level + 1);
    if (this.raised) this.recovery = Math.min(2 * this.recovery, 16 * RECOVERY);
    this.raised = false;
  }

  private raise(): void {
    this.short = 0;
    if (this.level <= this.best) return;
    this.level--;
    this.raised = true;
  }

  get moving(): Quality {
    return LEVELS[this.level];
  }

  /** Whether the movement has ended at `now` [ms]. */
  rests(now: number): boolean {
    return now - this.last > 350;
  }
}

/** Whether pictures are computed without a graphics card. */
export function isSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}
