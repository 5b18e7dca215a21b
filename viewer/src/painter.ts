// Colours of the bodies: values of the chosen quantity, and the limits between which they are mapped.

import { evaluate, fieldInfo, materialNames, rangeOf, union, type FieldName, type Range } from "./colour/fields";
import type { Contacts, Frame } from "./data/protocol";
import type { World } from "./scene/world";
import type { Settings } from "./settings";

/** Frames sampled for the automatic range of colours, as shares of the run: most motion is at its beginning. */
const SAMPLES = [0, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1];

/** Whether a field has numbers, and so a range. */
const hasRange = (field: FieldName) => field !== "plain" && field !== "material";

/** Colours runs and keeps the ranges of all fields. */
export class Painter {
  private readonly ranges = new Map<FieldName, Range | null>();
  /** Frame by which each run was coloured last. */
  private readonly painted = new Map<World, Frame>();

  constructor(
    private readonly settings: Settings,
    private readonly worlds: World[],
    /** Called when the automatic range has become wider. */
    private readonly widened: () => void,
  ) {}

  /** Limits of the colours: set by hand, or those of the frames seen. */
  get range(): Range | null {
    const manual = this.settings.range;
    return manual ? { ...manual, above: false } : (this.ranges.get(this.settings.field) ?? null);
  }

  /** Names of the materials of all runs, in the order of their colours. */
  get materials(): string[] {
    return materialNames(this.worlds.map((world) => world.model));
  }

  /** Colours a run at its shown frame; between two frames only if `always`. */
  paint(world: World, contacts: Contacts | undefined, always: boolean): void {
    const { field } = this.settings;
    if (!world.shown || (!always && this.painted.get(world) === world.shown.a)) return;
    const values = world.values(field, contacts);
    if (!values) return;
    this.painted.set(world, world.shown.a);
    if (hasRange(field)) this.widen(field, rangeOf(field, values, world.coloured));
    world.paint(field, values, this.range, this.materials);
  }

  private widen(field: FieldName, range: Range | null): void {
    const known = this.ranges.get(field) ?? null;
    const wider = union(known, range);
    this.ranges.set(field, wider);
    if (wider?.min !== known?.min || wider?.max !== known?.max) this.widened();
  }

  /** Extends the automatic range of a field by a few frames spread over the runs, while it stays chosen. */
  async sample(field: FieldName): Promise<void> {
    if (!hasRange(field)) return;
    for (const world of this.worlds) {
      const last = world.run.nFrames - 1;
      for (const share of SAMPLES) {
        if (this.settings.field !== field || last < 0) return;
        try {
          await this.sampleFrame(world, field, Math.round(last * share));
        } catch {
          // A frame that cannot be read is reported when it is to be shown.
        }
      }
    }
  }

  private async sampleFrame(world: World, field: FieldName, k: number): Promise<void> {
    const { run } = world;
    const frame = await run.frames.request(k);
    const model = await run.model(frame.model);
    const contacts = fieldInfo(field).needsContacts ? await run.contacts.request(k) : undefined;
    if (model !== world.model) return;
    this.widen(field, rangeOf(field, evaluate(field, model, frame, contacts, world.origins), world.coloured));
  }
}
