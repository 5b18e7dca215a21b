// Colour maps and palettes, the same as in the pictures that `riprap` renders (`picture/colour.rs`).

export type Rgb = [number, number, number];

const hex = (digits: number): Rgb => [(digits >> 16) & 255, (digits >> 8) & 255, digits & 255];

/** Anchors of the map for quantities, from dark blue over green to yellow (viridis). */
const SEQUENTIAL = [
  0x440154, 0x482475, 0x414487, 0x355f8d, 0x2a788e, 0x21918c, 0x22a884, 0x44bf70, 0x7ad151, 0xbddf26, 0xfde725,
].map(hex);

/** Anchors of the map for forces, from pale yellow over orange to dark red. */
const HEAT = [0xffe9b0, 0xfed16b, 0xfdae4a, 0xf98338, 0xe8502a, 0xc2231f, 0x870a1f].map(hex);

/** Colours of categories, such as materials; the first is that of stones. */
const CATEGORIES = [0xb9ad9c, 0x6f94b8, 0xd0915a, 0x7fa57c, 0xa98bb5, 0xc9b45c, 0x8f8f8f, 0xb86f6f].map(hex);

/** Colours of the bodies of machines. */
const MACHINES = [0xd9822b, 0x3f76a8, 0x5b9b62, 0xb5514f, 0x7d6aa6, 0x4f9a9a].map(hex);

/** Colour between anchors at `t` from 0 to 1; values outside are clamped. */
function between(anchors: Rgb[], t: number): Rgb {
  const place = Math.min(1, Math.max(0, t)) * (anchors.length - 1);
  const k = Math.min(Math.floor(place), anchors.length - 2);
  return anchors[k].map((c, d) => Math.round(c + (place - k) * (anchors[k + 1][d] - c))) as Rgb;
}

/** Colour of a quantity at `t` from 0 to 1. */
export function sequential(t: number): Rgb {
  return between(SEQUENTIAL, t);
}

/** Colour of a force at `t` from 0 to 1. */
export function heat(t: number): Rgb {
  return between(HEAT, t);
}

/** Colour of category `i`; the palette repeats. */
export function categorical(i: number): Rgb {
  return CATEGORIES[i % CATEGORIES.length];
}

/** Colour of body `i` of the machines; the palette repeats. */
export function machine(i: number): Rgb {
  return MACHINES[i % MACHINES.length];
}

/** A colour that differs slightly in lightness from one number to the next. */
export function varied(colour: Rgb, number: number): Rgb {
  const lightness = 0.84 + (0.28 * ((hashed(number) >>> 16) & 255)) / 255;
  return colour.map((c) => Math.min(255, c * lightness)) as Rgb;
}

function hashed(number: number): number {
  let x = Math.imul(number, 0x9e3779b9) ^ 0x85ebca6b;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Colour for bodies without a value. */
export const NO_VALUE: Rgb = [170, 172, 176];

/** CSS notation of a colour. */
export function css([r, g, b]: Rgb): string {
  return `rgb(${r}, ${g}, ${b})`;
}
