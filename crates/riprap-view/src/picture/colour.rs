//! Colours of pictures: sRGB and linear values, colour maps, palettes.

/// A colour, sRGB components from 0 to 1.
pub type Colour = [f32; 3];

/// Linear light of an sRGB component.
pub(super) fn linear(value: f32) -> f32 {
    if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

/// sRGB component of linear light, as a byte.
pub(super) fn byte(light: f32) -> u8 {
    let light = light.clamp(0.0, 1.0);
    let value =
        if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    (255.0 * value + 0.5) as u8
}

/// Colour of six hexadecimal digits.
pub(super) const fn hex(digits: u32) -> Colour {
    [
        (digits >> 16 & 255) as f32 / 255.0,
        (digits >> 8 & 255) as f32 / 255.0,
        (digits & 255) as f32 / 255.0,
    ]
}

/// Anchors of the map for quantities, from dark blue over green to yellow, of even steps in lightness (viridis).
const SEQUENTIAL: [u32; 11] = [
    0x440154, 0x482475, 0x414487, 0x355f8d, 0x2a788e, 0x21918c, 0x22a884, 0x44bf70, 0x7ad151,
    0xbddf26, 0xfde725,
];

/// Anchors of the map for forces, from pale yellow over orange to dark red.
const HEAT: [u32; 7] = [0xffe9b0, 0xfed16b, 0xfdae4a, 0xf98338, 0xe8502a, 0xc2231f, 0x870a1f];

/// A colour map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColourMap {
    /// Dark blue, green, yellow: quantities of bodies.
    #[default]
    Sequential,
    /// Pale yellow, orange, dark red: forces.
    Heat,
}

impl ColourMap {
    /// The colour at a fraction of the range, from 0 to 1; values outside give the colour of the end.
    pub fn at(self, fraction: f64) -> Colour {
        let anchors: &[u32] = match self {
            ColourMap::Sequential => &SEQUENTIAL,
            ColourMap::Heat => &HEAT,
        };
        let fraction = if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 };
        let place = fraction * (anchors.len() - 1) as f64;
        let k = (place as usize).min(anchors.len() - 2);
        mixed(hex(anchors[k]), hex(anchors[k + 1]), (place - k as f64) as f32)
    }
}

/// Between two colours.
pub(super) fn mixed(a: Colour, b: Colour, part: f32) -> Colour {
    std::array::from_fn(|k| a[k] + part * (b[k] - a[k]))
}

/// Colours of categories, such as materials; the first is that of stones.
const CATEGORIES: [u32; 8] =
    [0xb9ad9c, 0x6f94b8, 0xd0915a, 0x7fa57c, 0xa98bb5, 0xc9b45c, 0x8f8f8f, 0xb86f6f];

/// Colours of the bodies of machines.
const MACHINES: [u32; 6] = [0xd9822b, 0x3f76a8, 0x5b9b62, 0xb5514f, 0x7d6aa6, 0x4f9a9a];

/// The colour of a category.
pub fn category(number: usize) -> Colour {
    hex(CATEGORIES[number % CATEGORIES.len()])
}

/// The colour of a body of a machine.
pub fn machine(number: usize) -> Colour {
    hex(MACHINES[number % MACHINES.len()])
}

/// Colour of walls.
pub const WALL: Colour = hex(0xced4da);

/// A colour that differs slightly in lightness from one number to the next.
pub fn varied(colour: Colour, number: u32) -> Colour {
    let part = f32::from((hashed(number) >> 16 & 255) as u8) / 255.0;
    let lightness = 0.84 + 0.28 * part;
    colour.map(|c| (c * lightness).min(1.0))
}

/// A hash of a number, the same on every machine.
pub(super) fn hashed(number: u32) -> u32 {
    let mut x = number.wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_conversion_to_light_and_back() {
        for value in 0..=255_u8 {
            assert_eq!(byte(linear(f32::from(value) / 255.0)), value);
        }
    }

    #[test]
    fn maps_begin_and_end_with_their_anchors_and_ignore_values_that_are_not_numbers() {
        assert_eq!(ColourMap::Sequential.at(0.0), hex(0x440154));
        assert_eq!(ColourMap::Sequential.at(7.0), hex(0xfde725));
        assert_eq!(ColourMap::Heat.at(f64::NAN), hex(0xffe9b0));
    }
}
