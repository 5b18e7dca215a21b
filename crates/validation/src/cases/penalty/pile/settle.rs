//! Pours spheres into a box with a given scheme, and measures the pile at rest.

use riprap::grains::{lattice, seeded};
use riprap::prelude::*;
use std::collections::HashMap;
use std::f64::consts::PI;

/// Mean diameter of the spheres [m].
pub const DIAMETER: f64 = 0.02;
/// Acceleration of gravity [m/s²].
pub const GRAVITY: f64 = 9.81;
const DENSITY: f64 = 2500.0;
/// A pile is at rest when the kinetic energy per sphere is below this fraction of `m g d` [–].
pub const REST: f64 = 1e-5;
/// Forces are averaged over this time after the pile has come to rest [s].
const WINDOW: f64 = 0.05;
/// Two spheres touch when their mean normal force exceeds this fraction of the weight of a sphere of the mean diameter [–].
const TOUCH: f64 = 1e-3;

/// Spheres and box.
#[derive(Clone, Copy)]
pub struct Pile {
    /// Places along x, y, z.
    pub counts: [usize; 3],
    /// Number of spheres.
    pub n: usize,
    /// Inner width of the box [m].
    pub width: f64,
    /// Upper end of the bulk [m], below the free surface. Its other faces are one diameter from walls and floor.
    pub height: f64,
    /// Restitution of all contacts [–].
    pub restitution: f64,
    /// Earliest and latest end of the pouring [s].
    pub until: [f64; 2],
}

/// One pile at rest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settled {
    /// Fraction of the volume of the bulk inside of spheres [–]; overlaps count once.
    pub packing: f64,
    /// Mean number of spheres that touch a sphere of the bulk [–].
    pub coordination: f64,
    /// The same for spheres that carry others, contacts with those that do not left out [–].
    pub carrying: f64,
    /// Fraction of the spheres of the bulk that carry no other [–].
    pub idle: f64,
    /// Contacts of the last step alone, over [`Settled::coordination`] [–].
    pub at_once: f64,
    /// Mean overlap of contacts in the bulk over the mean diameter [–].
    pub overlap: f64,
    /// Kinetic energy per sphere over `m g d` [–].
    pub kinetic: f64,
    /// Simulated time [s].
    pub time: f64,
}

/// Spheres of 18 to 22 mm from a loose lattice with random shifts fall into a box.
fn scene(pile: &Pile, seed: u64) -> (SceneBuilder, Vec<f64>) {
    let rock = Material::new("rock").density(DENSITY).friction(0.5).restitution(pile.restitution);
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -GRAVITY]);
    let w = pile.width;
    let walls = [
        ([0.0, 0.0, 1.0], [0.0, 0.0, 0.0]),
        ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([-1.0, 0.0, 0.0], [w, 0.0, 0.0]),
        ([0.0, 1.0, 0.0], [0.0, 0.0, 0.0]),
        ([0.0, -1.0, 0.0], [0.0, w, 0.0]),
    ];
    for (normal, at) in walls {
        scene.add_fixed(Shape::half_space(normal).expect("a unit normal"), Pose::at(at), &rock);
    }
    let spacing = 0.03;
    let margin = 0.5 * (w - spacing * (pile.counts[0] - 1) as f64);
    let poses =
        lattice([margin, margin, 0.02], [spacing; 3], pile.counts, 3.5e-3, &mut seeded(seed));
    let mut radii = Vec::new();
    for (k, pose) in poses.into_iter().take(pile.n).enumerate() {
        // Sizes spread evenly by the golden ratio, so that the spheres do not order.
        let radius = 9e-3 + 2e-3 * (0.618_033_988_75 * (k + 1) as f64).fract();
        let shape = Shape::sphere(radius).expect("positive");
        scene.add(BodyDescription::new(shape, &rock).at(pose.position.into()), &rock);
        radii.push(radius);
    }
    (scene, radii)
}

/// Kinetic energy per sphere over `m g d` [–].
fn kinetic(run: &Simulation, n: usize) -> f64 {
    run.frame().balance().kinetic / (n as f64 * weight() * DIAMETER)
}

/// Weight of a sphere of the mean diameter [N].
fn weight() -> f64 {
    PI / 6.0 * DIAMETER.powi(3) * DENSITY * GRAVITY
}

/// Pours a pile and measures it at rest.
pub fn settle(pile: &Pile, seed: u64, scheme: impl Scheme + 'static) -> Settled {
    let (scene, radii) = scene(pile, seed);
    let scene = scene.build().expect("spheres above a floor");
    let first = scene.bodies().len() - radii.len();
    let mut run = Simulation::new(scene, scheme).expect("a valid scheme");
    let [mut time, latest] = pile.until;
    run.until(time, &mut ()).expect("spheres come to rest");
    while kinetic(&run, radii.len()) > REST && time < latest {
        time += 0.02;
        run.until(time, &mut ()).expect("spheres come to rest");
    }
    // Mean normal force and last overlap of each pair over a time in which contacts of rigid bodies may open and close again.
    let steps = (WINDOW / run.scheme().dt()).round() as usize;
    let mut pairs: HashMap<[usize; 2], Pair> = HashMap::new();
    for step in 1..=steps {
        run.step().expect("spheres at rest");
        for c in run.frame().contacts() {
            let [a, b] = c.bodies.map(|b| run.scene().slot(b));
            if a >= first && b >= first {
                let pair = pairs.entry([a - first, b - first]).or_default();
                let normal = c.force.dot(&c.normal);
                pair.force += normal / steps as f64;
                pair.overlap -= c.gap / steps as f64;
                pair.up = c.normal.z;
                pair.at_once = step == steps && normal > TOUCH * weight();
            }
        }
    }
    let centres: Vec<Vec3> = run.state().q[first..].iter().map(|q| q.position).collect();
    let mut settled = measure(pile, &centres, &radii, &pairs);
    settled.kinetic = kinetic(&run, radii.len());
    settled.time = run.state().t;
    settled
}

/// What is known of two spheres.
#[derive(Clone, Copy, Default)]
struct Pair {
    /// Mean normal force [N].
    force: f64,
    /// Mean overlap [m].
    overlap: f64,
    /// Vertical component of the normal, from the first to the second [–].
    up: f64,
    /// Whether they push each other in the last step.
    at_once: bool,
}

fn measure(
    pile: &Pile,
    centres: &[Vec3],
    radii: &[f64],
    pairs: &HashMap<[usize; 2], Pair>,
) -> Settled {
    let [low, high] = bulk(pile);
    let inside: Vec<bool> =
        centres.iter().map(|c| (0..3).all(|i| low[i] < c[i] && c[i] < high[i])).collect();
    let touching: Vec<([usize; 2], Pair)> = pairs
        .iter()
        .filter(|(_, pair)| pair.force > TOUCH * weight())
        .map(|(&ids, &pair)| (ids, pair))
        .collect();
    // A sphere carries another one if it is below the other in a contact.
    let mut carries = vec![false; radii.len()];
    for ([a, b], pair) in &touching {
        carries[if pair.up > 0.0 { *a } else { *b }] = true;
    }
    let spheres = inside.iter().filter(|&&i| i).count() as f64;
    let carriers = (0..radii.len()).filter(|&k| inside[k] && carries[k]).count() as f64;
    // Contacts are counted once per side that is in the bulk.
    let sides = |ids: &[usize; 2]| ids.iter().filter(|&&k| inside[k]).count() as f64;
    let both = |ids: &[usize; 2]| ids.iter().all(|&k| carries[k]);
    let mut all: Vec<f64> = Vec::new();
    let (mut count, mut bearing, mut once) = (0.0, 0.0, 0.0);
    for (ids, pair) in &touching {
        count += sides(ids);
        bearing += if both(ids) { sides(ids) } else { 0.0 };
        if sides(ids) > 0.0 {
            all.push(pair.overlap.max(0.0));
        }
    }
    for (ids, pair) in pairs {
        once += if pair.at_once { sides(ids) } else { 0.0 };
    }
    // A map has no order; the sum must not depend on it.
    all.sort_by(f64::total_cmp);
    Settled {
        packing: packing([low, high], centres, radii),
        coordination: count / spheres,
        carrying: bearing / carriers,
        idle: 1.0 - carriers / spheres,
        at_once: once / count,
        overlap: all.iter().sum::<f64>() / (all.len() as f64 * DIAMETER),
        ..Settled::default()
    }
}

/// Two corners of the bulk [m].
fn bulk(pile: &Pile) -> [Vec3; 2] {
    let [d, far] = [DIAMETER, pile.width - DIAMETER];
    [Vec3::new(d, d, d), Vec3::new(far, far, pile.height)]
}

/// Fraction of a box inside of spheres [–], on a grid of points 1/40 of a diameter apart.
fn packing([low, high]: [Vec3; 2], centres: &[Vec3], radii: &[f64]) -> f64 {
    let spacing = DIAMETER / 40.0;
    let counts: [usize; 3] = std::array::from_fn(|i| ((high[i] - low[i]) / spacing) as usize);
    let at = |i: usize, k: usize| low[i] + (k as f64 + 0.5) * spacing;
    let mut filled = vec![false; counts.iter().product()];
    for (c, &r) in centres.iter().zip(radii) {
        let span = |i: usize| {
            let from = ((c[i] - r - low[i]) / spacing).max(0.0) as usize;
            let to = ((c[i] + r - low[i]) / spacing + 1.0).max(0.0) as usize;
            from..to.min(counts[i])
        };
        for x in span(0) {
            for y in span(1) {
                for z in span(2) {
                    let p = Vec3::new(at(0, x), at(1, y), at(2, z));
                    if (p - c).norm_squared() <= r * r {
                        filled[(x * counts[1] + y) * counts[2] + z] = true;
                    }
                }
            }
        }
    }
    filled.iter().filter(|&&f| f).count() as f64 / filled.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const PILE: Pile = Pile {
        counts: [1; 3],
        n: 3,
        width: 0.12,
        height: 0.1,
        restitution: 0.3,
        until: [0.0, 0.0],
    };

    #[test]
    fn the_packing_fraction_is_that_of_the_union() {
        let corners = [Vec3::zeros(), Vec3::new(0.08, 0.08, 0.08)];
        let sphere = PI / 6.0 * DIAMETER.powi(3) / 0.08f64.powi(3);
        let at = Vec3::new(0.041, 0.0393, 0.04);
        let twice = packing(corners, &[at, at], &[0.01, 0.01]);
        // Points 1/40 of a diameter apart: 33 000 in the sphere, a few hundredths of its shell counted wrongly.
        assert!((twice / sphere - 1.0).abs() < 2e-3, "{}", twice / sphere);
        let half = packing(corners, &[Vec3::new(0.0, 0.04, 0.04)], &[0.01]);
        assert!((half / sphere - 0.5).abs() < 1e-3, "cut by a face: {}", half / sphere);
    }

    #[test]
    fn contacts_are_counted_per_side_in_the_bulk() {
        // One on the other, and a third one in the margin beside the lower one.
        let centres = [[0.03, 0.06, 0.04], [0.03, 0.06, 0.06], [0.01, 0.06, 0.04]];
        let pair = |force: f64, up: f64| Pair { force, up, at_once: true, ..Pair::default() };
        let pairs = HashMap::from([
            ([0, 1], pair(weight(), 1.0)),
            ([0, 2], pair(0.1 * weight(), 0.0)),
            // Too weak.
            ([1, 2], pair(1e-4 * weight(), 0.0)),
        ]);
        let pile = measure(&PILE, &centres.map(Vec3::from), &[0.01; 3], &pairs);
        assert_eq!(pile.coordination, 1.5, "two and one");
        assert_eq!(pile.idle, 0.5, "the upper one carries none");
        assert_eq!(pile.carrying, 1.0, "the lower and the third one");
    }
}
