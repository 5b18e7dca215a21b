// What the user can change about the picture.

import type { FieldName } from "./colour/fields";
import type { Look } from "./scene/bodies";
import type { LineOptions } from "./scene/world";

/** Cut plane across one axis: everything on one side is removed. */
export interface Cut {
  on: boolean;
  /** Place between the ends of the scene, 0 to 1. */
  at: number;
  /** Whether the lower side is removed instead of the upper one. */
  flip: boolean;
}

export interface Settings {
  field: FieldName;
  /** Limits of the colours set by hand, or `null` for those of the run. */
  range: { min: number; max: number } | null;
  look: Look;
  lines: LineOptions;
  trails: boolean;
  interpolate: boolean;
  shadows: boolean;
  cuts: [Cut, Cut, Cut];
}

export function defaultSettings(planar: boolean): Settings {
  const cut = (): Cut => ({ on: false, at: 0.5, flip: false });
  return {
    field: "plain",
    range: null,
    look: { solidOpacity: 1, wallOpacity: planar ? 1 : 0.35, walls: true, ground: true, edges: true, cutting: false, planar },
    lines: { chains: false, normals: false, forces: false, axes: false, joints: true, ropes: true, chainScale: 1 },
    trails: true,
    interpolate: true,
    shadows: !planar,
    cuts: [cut(), cut(), cut()],
  };
}
