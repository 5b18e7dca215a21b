//! Reduces the noise of few light samples: light is averaged over neighbouring pixels of the same plane, colours and lines stay sharp.

use glam::Vec3A;

use super::shade::Seen;

/// Pixels on each side over which light is averaged.
const REACH: usize = 3;
/// Distance from the plane of a pixel at which others no longer count [px].
const PLANE: f32 = 1.5;

/// The colour of a pixel with the mean light of its surroundings.
pub(super) fn colour(seen: &[Seen], size: [usize; 2], at: [usize; 2]) -> [f32; 3] {
    let [width, height] = size;
    let own = &seen[at[1] * width + at[0]];
    // Background and pixels with edges, where normals differ, are left alone.
    if own.normal.length_squared() < 0.9 {
        return own.colour.to_array();
    }
    let (mut sum, mut weights) = (Vec3A::ZERO, 0.0);
    let range = |k: usize, end: usize| k.saturating_sub(REACH)..(k + REACH + 1).min(end);
    for y in range(at[1], height) {
        for x in range(at[0], width) {
            let other = &seen[y * width + x];
            let weight = alike(own, other);
            sum += weight * light(other);
            weights += weight;
        }
    }
    (own.paint * sum / weights).to_array()
}

/// How much two pixels belong to the same plane, from 0 to 1.
fn alike(own: &Seen, other: &Seen) -> f32 {
    let bend = 1.0 - (own.normal - other.normal).length_squared() / 0.03;
    let step = (other.point - own.point).dot(own.normal).abs() / own.pixel.max(1e-30);
    bend.max(0.0) * (1.0 - step / PLANE).max(0.0)
}

/// Light on the surface of a pixel.
fn light(seen: &Seen) -> Vec3A {
    seen.colour / seen.paint.max(Vec3A::splat(1e-4))
}
