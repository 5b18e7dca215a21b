// Time of the picture: playing at a given speed, looping, and following a run that grows.

/** Speeds offered [s of the run per s]. */
export const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000];

/** Moves the time. */
export class Player {
  /** Time shown [s]. */
  time = 0;
  /** First and last time of the runs [s]. */
  start = 0;
  end = 0;
  playing = false;
  loop = false;
  /** Whether the last frame is followed. */
  live = false;
  /** Simulated seconds per second [–]. */
  speed = 1;

  /** Updates the range of times; with `live` the time follows its end. */
  setRange(start: number, end: number): void {
    this.start = start;
    this.end = end;
    this.time = this.live ? end : Math.min(Math.max(this.time, start), end);
  }

  /** Moves by `dt` seconds of the clock. */
  advance(dt: number): void {
    if (!this.playing) return;
    this.time += dt * this.speed;
    if (this.time < this.end) return;
    if (this.loop && this.end > this.start) this.time = this.start + ((this.time - this.start) % (this.end - this.start));
    else {
      this.time = this.end;
      this.playing = this.live;
    }
  }

  /** Starts playing, from the beginning if the end was reached. */
  play(): void {
    if (this.time >= this.end) this.time = this.start;
    this.live = false;
    this.playing = this.end > this.start;
  }

  pause(): void {
    this.playing = false;
    this.live = false;
  }

  /** Goes to a time [s]. */
  seek(time: number): void {
    this.live = false;
    this.time = Math.min(Math.max(time, this.start), this.end);
  }

  /** Follows the last frame, or stops doing so. */
  follow(on: boolean): void {
    this.live = on;
    if (!on) return;
    this.playing = false;
    this.time = this.end;
  }
}

/** Speed at which a run of this duration [s] takes about ten seconds; real time if that is not far off. */
export function usualSpeed(duration: number): number {
  if (!(duration > 0) || (duration >= 1.5 && duration <= 30)) return 1;
  const wanted = duration / 10;
  return SPEEDS.reduce((best, s) => (Math.abs(Math.log(s / wanted)) < Math.abs(Math.log(best / wanted)) ? s : best));
}
