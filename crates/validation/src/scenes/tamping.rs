//! Tamping of a railway track (docquier2020 Sec. 6): ballast in a box around a fixed sleeper, and the tamping machine.
//!
//! The bed is prepared in two steps, so that stones lie below the sleeper as in a track: stones are poured into the empty box, those
//! above the surface and in the place of the sleeper are removed, and the rest settles around the sleeper.

use super::{add_stone, rock};
use crate::mechanisms::{TAMPING_LENGTHS, tamping_machine};
use riprap::grains::{Grading, StoneGenerator, rain, seeded};
use riprap::multibody::{JointMotion, Phase, Signal, Until};
use riprap::prelude::*;
use riprap::shape::Polyhedron;
use serde::{Deserialize, Serialize};

/// Width and height of the sleeper [m]; it is as long as the box is wide.
pub const SLEEPER: [f64; 2] = [0.25, 0.215];
/// Height of the sleeper's underside above the floor [m].
pub const SLEEPER_BOTTOM: f64 = 0.3;
/// Distance from the pivot of an arm to its tip [m].
pub const TIP: f64 = 0.9;
/// Half width of the plates along y [m].
pub const HALF_PLATE: f64 = 0.14;

/// Gains of the control laws (the paper's Table 2): dive [N, N s/m], hold [N/m, N s/m], squeeze [N/m, N s/m].
pub const DIVE: [f64; 2] = [10e3, 3e3];
/// See [`DIVE`].
pub const HOLD: [f64; 2] = [1000e3, 1e3];
/// See [`DIVE`].
pub const SQUEEZE: [f64; 2] = [500e3, 10e3];

/// Description of a bed of ballast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bed {
    /// Inner size of the box along x and y [m].
    pub size: [f64; 2],
    /// Height of the surface [m].
    pub surface: f64,
    /// Scale of the stones relative to EN 13450 31.5–50 mm [–].
    pub scale: f64,
    /// Number of different shapes, which are scaled to all sizes; `None` if every stone has its own shape.
    pub shapes: Option<usize>,
    /// Seed of the stones.
    pub seed: u64,
}

impl Bed {
    /// The bed of the paper: 1.3 × 0.6 m, level with the top of the sleeper; about 6000 stones.
    pub fn full(seed: u64) -> Bed {
        Bed {
            size: [1.3, 0.6],
            surface: SLEEPER_BOTTOM + SLEEPER[1],
            scale: 1.0,
            shapes: None,
            seed,
        }
    }

    /// A smaller box with larger stones, about 400 of them. They resist more than small ones, so fewer of them lie above the
    /// underside of the sleeper, to let the tools get below it.
    pub fn small(seed: u64) -> Bed {
        Bed { size: [1.1, 0.4], surface: 0.4, scale: 1.8, shapes: None, seed }
    }
}

/// Stones at rest around the sleeper.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The box.
    pub bed: Bed,
    /// The stones and their poses.
    pub stones: Vec<(Polyhedron, Pose)>,
}

/// A stored settled bed; the shapes follow from the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    poured: usize,
    stones: Vec<(usize, Pose)>,
}

/// Time step while stones are poured [s].
const POURING: f64 = 5e-4;
/// Solid fraction of a poured bed [–], and the factor by which more stones are poured than fit.
const FILLING: [f64; 2] = [0.56, 1.08];

/// The stones to be poured, each with the index of its shape and its scale if there are few shapes.
fn stones(bed: &Bed) -> Vec<(Polyhedron, usize, f64)> {
    let mut rng = seeded(bed.seed);
    let grading = Grading::named("EN 13450 31.5-50").expect("a known name");
    let generator = StoneGenerator::default();
    let shapes = shapes(bed);
    let wanted = FILLING[0] * FILLING[1] * bed.size[0] * bed.size[1] * bed.surface;
    let (mut stones, mut volume) = (Vec::new(), 0.0);
    while volume < wanted {
        let size = bed.scale * grading.sample(&mut rng);
        let stone = if shapes.is_empty() {
            (generator.generate(size, &mut rng).expect("a stone"), 0, 1.0)
        } else {
            let k = stones.len() % shapes.len();
            // Four digits, so that a table represents it exactly.
            let scale = (1e4 * size / SHAPE).round() / 1e4;
            let corners: Vec<Vec3> = shapes[k].vertices().iter().map(|v| v * scale).collect();
            (Polyhedron::from_points(&corners).expect("a stone"), k, scale)
        };
        volume += stone.0.unit_mass().mass;
        stones.push(stone);
    }
    stones
}

/// Sieve size of the shapes that are scaled [m].
const SHAPE: f64 = 0.05;

/// The different shapes, if there are few, with their corners rounded to tenths of a millimetre.
fn shapes(bed: &Bed) -> Vec<Polyhedron> {
    let mut rng = seeded(bed.seed ^ 0x57a9e);
    let generator = StoneGenerator::default();
    let shape = |_| {
        let stone = generator.generate(SHAPE, &mut rng).expect("a stone");
        let corners: Vec<Vec3> =
            stone.vertices().iter().map(|v| v.map(|x| (1e4 * x).round() / 1e4)).collect();
        Polyhedron::from_points(&corners).expect("a stone")
    };
    (0..bed.shapes.unwrap_or(0)).map(shape).collect()
}

/// Adds the floor and the walls; they extend above the box, so that no stone can leave it.
fn add_walls(scene: &mut SceneBuilder, bed: &Bed, m: &Material) {
    let [x, y] = bed.size.map(|width| 0.5 * width);
    let planes = [
        ([0.0, 0.0, 1.0], [0.0, 0.0, 0.0]),
        ([1.0, 0.0, 0.0], [-x, 0.0, 0.0]),
        ([-1.0, 0.0, 0.0], [x, 0.0, 0.0]),
        ([0.0, 1.0, 0.0], [0.0, -y, 0.0]),
        ([0.0, -1.0, 0.0], [0.0, y, 0.0]),
    ];
    for (normal, at) in planes {
        scene.add_fixed(Shape::half_space(normal).expect("a unit normal"), Pose::at(at), m);
    }
}

/// The box with its sleeper and stones.
fn add_bed(scene: &mut SceneBuilder, settled: &Settled, m: &Material) -> Vec<Body> {
    add_walls(scene, &settled.bed, m);
    let size = [SLEEPER[0], settled.bed.size[1], SLEEPER[1]];
    let sleeper = Shape::cuboid(size).expect("positive");
    scene.add_fixed(sleeper, Pose::at([0.0, 0.0, SLEEPER_BOTTOM + 0.5 * SLEEPER[1]]), m);
    // Stones at rest overlap slightly: the overlap from the step of an impact remains.
    scene.accept_overlap(0.1);
    let add = |(stone, pose): &(Polyhedron, Pose)| add_stone(scene, stone.clone(), *pose, m);
    settled.stones.iter().map(add).collect()
}

/// Whether a stone intersects the sleeper enlarged by a millimetre. Below its edges, a stone that just misses it may count.
fn meets_sleeper(stone: &Polyhedron, pose: &Pose) -> bool {
    let centre = Vec3::new(0.0, 0.0, SLEEPER_BOTTOM + 0.5 * SLEEPER[1]);
    let reach =
        |d: Vec3| stone.support(pose.inverse_vector(d)).1 + d.dot(&(pose.position - centre));
    let beyond = |d: Vec3, size: f64| reach(d).min(reach(-d)) < -(0.5 * size + 1e-3);
    !(beyond(Vec3::x(), SLEEPER[0]) || beyond(Vec3::z(), SLEEPER[1]))
}

/// Runs until the stones are at rest: in intervals of 0.05 s until their mean speed is below a centimetre per second.
fn come_to_rest(
    scene: &SceneBuilder,
    bodies: &[Body],
    longest: f64,
    correct: bool,
) -> Result<Vec<Pose>, riprap::simulation::Error> {
    let mut run = super::start_corrected(scene, POURING, 1e-3, correct);
    let mut end = 0.0;
    while end < longest {
        end += 0.05;
        run.until(end, &mut ())?;
        let speed = bodies.iter().map(|b| run.velocity(*b).linear.norm()).sum::<f64>();
        if end > 0.2 && speed < 0.01 * bodies.len() as f64 {
            break;
        }
    }
    Ok(bodies.iter().map(|b| run.scene().shape_pose(run.state(), *b)).collect())
}

impl Settled {
    /// Pours a bed and lets it settle around the sleeper; reports progress.
    pub fn pour(
        bed: &Bed,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Settled, riprap::simulation::Error> {
        Settled::pour_corrected(bed, false, tell)
    }

    /// The same with the correction of overlaps if `correct`.
    pub fn pour_corrected(
        bed: &Bed,
        correct: bool,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Settled, riprap::simulation::Error> {
        let stones: Vec<Polyhedron> = stones(bed).into_iter().map(|(stone, ..)| stone).collect();
        let n = stones.len();
        tell(&format!("pouring {n} stones"));
        let m = rock(0.7, 0.0);
        let mut scene = Scene::builder();
        add_walls(&mut scene, bed, &m);
        let [x, y] = bed.size.map(|width| 0.5 * width);
        let radii: Vec<f64> = stones.iter().map(|s| s.outer_radius()).collect();
        let mut rng = seeded(bed.seed ^ 0x5eed);
        let places = rain(&radii, [-x, -y, 0.0], [x, y], &mut rng).expect("stones fit the box");
        let add =
            |(stone, pose): (&Polyhedron, Pose)| add_stone(&mut scene, stone.clone(), pose, &m);
        let bodies: Vec<Body> = stones.iter().zip(places).map(add).collect();
        let poses = come_to_rest(&scene, &bodies, 1.5, correct)?;

        let stays = |(stone, pose): &(Polyhedron, Pose)| {
            pose.point(stone.centre()).z < bed.surface && !meets_sleeper(stone, pose)
        };
        let stones = stones.into_iter().zip(poses).filter(stays).collect();
        let mut settled = Settled { bed: bed.clone(), stones };
        tell(&format!("settling {} stones around the sleeper", settled.stones.len()));
        let mut scene = Scene::builder();
        let bodies = add_bed(&mut scene, &settled, &m);
        let poses = come_to_rest(&scene, &bodies, 0.5, correct)?;
        for ((_, pose), rest) in settled.stones.iter_mut().zip(poses) {
            *pose = rest;
        }
        Ok(settled)
    }

    /// Height of the highest corner of a stone [m].
    pub fn top(&self) -> f64 {
        let reach = |(stone, pose): &(Polyhedron, Pose)| {
            stone.support(pose.inverse_vector(Vec3::z())).1 + pose.position.z
        };
        self.stones.iter().map(reach).fold(0.0, f64::max)
    }

    /// The stored form of the bed, from which [`Settled::restore`] recreates it.
    pub fn store(&self) -> Stored {
        let all = stones(&self.bed);
        let mut next = 0;
        let mut find = |(stone, pose): &(Polyhedron, Pose)| {
            while all[next].0.vertices() != stone.vertices() {
                next += 1;
            }
            next += 1;
            (next - 1, *pose)
        };
        let stones = self.stones.iter().map(&mut find).collect();
        Stored { poured: all.len(), stones }
    }

    /// The bed for a scene file, if it has few shapes: the corners of each shape [m] and a table of the stones with that shape. The
    /// stones in the tables are 3 % smaller, so that none overlap.
    pub fn tables(&self) -> Vec<(Polyhedron, String)> {
        use std::fmt::Write;
        let all = stones(&self.bed);
        let head = || String::from("x,y,z,qw,qx,qy,qz,scale\n");
        let mut tables: Vec<_> = shapes(&self.bed).into_iter().map(|s| (s, head())).collect();
        let mut next = all.iter();
        for (stone, pose) in &self.stones {
            let found = next.find(|(s, ..)| s.vertices() == stone.vertices());
            let (_, k, scale) = found.expect("a stone of this bed");
            let (p, r) = (pose.position, pose.rotation.quaternion());
            let _ = writeln!(
                tables[*k].1,
                "{:.6},{:.6},{:.6},{:.6},{:.6},{:.6},{:.6},{:.4}",
                p.x,
                p.y,
                p.z,
                r.w,
                r.i,
                r.j,
                r.k,
                0.97 * scale
            );
        }
        tables
    }

    /// Restores a stored bed of this description; `None` if the stones do not match.
    pub fn restore(bed: &Bed, stored: &Stored) -> Option<Settled> {
        let all = stones(bed);
        let fits = stored.poured == all.len() && stored.stones.iter().all(|(k, _)| *k < all.len());
        let stone = |(k, pose): &(usize, Pose)| (all[*k].0.clone(), *pose);
        fits.then(|| Settled {
            bed: bed.clone(),
            stones: stored.stones.iter().map(stone).collect(),
        })
    }
}

/// Schedule of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Initial height of the support [m].
    pub start: f64,
    /// Height of the support at which the dive ends early [m].
    pub target: f64,
    /// End of the dive [s].
    pub dive: f64,
    /// Time at which the squeeze reaches its full length [s].
    pub squeeze: f64,
    /// Time at which the arms start to open [s].
    pub open: f64,
    /// Time at which the arms are open [s].
    pub opened: f64,
    /// Time at which the machine starts to rise [s].
    pub lift: f64,
    /// Speed of the rise [m/s].
    pub speed: f64,
    /// End of the cycle [s].
    pub end: f64,
}

impl Schedule {
    /// The cycle over stones up to a height [m]: the tips start 2 cm above it, half of which is taken up by their vibration.
    pub fn over(top: f64) -> Schedule {
        // The chassis sags by 7 mm in its bushings.
        let start = top + 0.027 + TIP;
        Schedule {
            start,
            target: 1.03,
            dive: 1.0,
            squeeze: 1.8,
            open: 2.0,
            opened: 2.2,
            lift: 2.2,
            speed: 1.0,
            end: 2.6,
        }
    }

    /// Commanded length of the actuator [m] at a time [s].
    pub fn length(&self, t: f64) -> f64 {
        let [open, closed] = TAMPING_LENGTHS;
        let part = if t < self.open {
            (t - self.dive) / (self.squeeze - self.dive)
        } else {
            (self.opened - t) / (self.opened - self.open)
        };
        open + (closed - open) * part.clamp(0.0, 1.0)
    }
}

/// An oscillation about a mean: mean, cosine and sine [m, rad].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Harmonic {
    /// Mean.
    pub mean: f64,
    /// At t = 0, about the mean.
    pub cosine: f64,
    /// A quarter of a period later.
    pub sine: f64,
}

impl Harmonic {
    /// Amplitude: half the peak-to-peak range.
    pub fn amplitude(&self) -> f64 {
        self.cosine.hypot(self.sine)
    }

    /// The oscillation as a prescribed motion with a frequency [Hz].
    fn motion(self, frequency: f64) -> JointMotion {
        let w = std::f64::consts::TAU * frequency;
        JointMotion::new(move |t| {
            let (s, c) = (w * t).sin_cos();
            let x = self.cosine * c + self.sine * s;
            [self.mean + x, w * (self.sine * c - self.cosine * s), -w * w * x]
        })
    }
}

/// Coordinates of the chassis relative to the support.
pub const CHASSIS: [&str; 3] = ["xc", "zc", "thc"];
/// Coordinates that determine all others.
pub const INDEPENDENT: [&str; 6] = ["zs", "xc", "zc", "thc", "phif", "phiL"];

/// Initial motion of the machine: positions and velocities of [`INDEPENDENT`].
pub type Start = [[f64; 2]; 6];

/// The tool of an arm: shaft and plate.
fn tool() -> [Shape; 2] {
    let prism = |top: [f64; 3], bottom: [f64; 3]| {
        let corners = [top, bottom]
            .map(|[x, y, z]| [[-x, -y, z], [-x, y, z], [x, -y, z], [x, y, z]].map(Vec3::from));
        Shape::hull(corners.as_flattened()).expect("a solid")
    };
    [
        prism([0.03, 0.05, -0.25], [0.025, 0.05, -0.78]),
        prism([0.02, HALF_PLATE, -0.76], [0.0075, HALF_PLATE, -TIP]),
    ]
}

/// The machine with its control: held in the air without a schedule, performing the cycle with one. If `imposed` gives
/// oscillations of [`CHASSIS`], the chassis follows them instead of responding to forces.
pub fn machine(
    frequency: f64,
    height: f64,
    schedule: Option<Schedule>,
    start: Option<&Start>,
    imposed: Option<[Harmonic; 3]>,
) -> Mechanism {
    let mut m = tamping_machine(frequency);
    for arm in ["phiL", "phiR"] {
        let link = m.link_named(arm).expect("an arm");
        tool().into_iter().for_each(|shape| m.attach(link, shape, Pose::IDENTITY, "steel"));
    }
    let find = |m: &Mechanism, name: &str| {
        let c = m.coordinate_named(name).expect("a coordinate of the machine");
        (c, m.q_index(c).expect("one coordinate"), c.0 as usize)
    };
    let (support, zq, zv) = find(&m, "zs");
    m.start(support, height);
    let hold =
        move |x: &riprap::multibody::Inputs, at: f64| -HOLD[0] * (x.q[zq] - at) - HOLD[1] * x.v[zv];
    match schedule {
        None => m.actuate("support", support, Signal::new(move |x| hold(x, height))),
        Some(s) => {
            let slot = m.latch_slot();
            let over = Signal::new(move |x| f64::from(x.q[zq] <= s.target || x.t >= s.dive - 1e-9));
            let dive = Phase {
                latch: Vec::new(),
                values: vec![Signal::new(move |x| -DIVE[0] - DIVE[1] * x.v[zv])],
                until: Some(Until::Condition(over)),
            };
            let rise = move |t: f64| s.speed * (t - s.lift).max(0.0);
            let hold = Phase {
                latch: vec![(slot, Signal::new(move |x| x.q[zq]))],
                values: vec![Signal::new(move |x| {
                    hold(x, (x.latched[slot] + rise(x.t)).min(s.start.max(x.latched[slot])))
                })],
                until: None,
            };
            m.actuate_in_phases("support", support, vec![dive, hold]);
        }
    }
    let (actuator, xq, xv) = find(&m, "xa");
    let length = move |t: f64| schedule.map_or(TAMPING_LENGTHS[0], |s| s.length(t));
    let squeeze =
        Signal::new(move |x| -SQUEEZE[0] * (x.q[xq] - length(x.t)) - SQUEEZE[1] * x.v[xv]);
    m.actuate("squeeze", actuator, squeeze);
    for (name, [q, v]) in INDEPENDENT.iter().zip(start.into_iter().flatten()) {
        // A prescribed coordinate starts at the position given by its law.
        if imposed.is_none() || !CHASSIS.contains(name) {
            let (c, _, _) = find(&m, name);
            m.start(c, *q);
            m.start_velocity(c, *v);
        }
    }
    for (name, harmonic) in CHASSIS.iter().zip(imposed.into_iter().flatten()) {
        let (c, _, _) = find(&m, name);
        m.drive(c, harmonic.motion(frequency));
    }
    m
}

/// The machine over the bed.
pub fn tamping(settled: &Settled, machine: Mechanism) -> (SceneBuilder, Vec<Body>, MechanismId) {
    let m = rock(0.7, 0.0);
    let mut scene = Scene::builder();
    let bodies = add_bed(&mut scene, settled, &m);
    scene.material(&Material::new("steel").friction(0.7));
    let id = scene.add_mechanism(machine);
    (scene, bodies, id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A few large stones, below the sleeper.
    fn few() -> Bed {
        Bed { size: [0.6, 0.4], surface: 0.15, scale: 2.5, shapes: None, seed: 3 }
    }

    #[test]
    fn a_bed_is_at_rest_within_its_box_and_restored_as_it_was_stored() {
        let bed = few();
        let settled = Settled::pour(&bed, &mut |_| ()).expect("it comes to rest");
        assert!(settled.stones.len() > 20, "{} stones", settled.stones.len());
        for (stone, pose) in &settled.stones {
            let p = pose.point(stone.centre());
            assert!(p.x.abs() < 0.3 && p.y.abs() < 0.2 && p.z > 0.0 && p.z < 0.2, "{p}");
        }
        let stored = settled.store();
        let again = Settled::restore(&bed, &stored).expect("the same bed");
        assert_eq!(again.store(), stored);
        for (a, b) in settled.stones.iter().zip(&again.stones) {
            assert_eq!((a.0.vertices(), a.1), (b.0.vertices(), b.1));
        }
        assert!(Settled::restore(&Bed { seed: 4, ..bed.clone() }, &stored).is_none());
        let cut = Stored { poured: stored.poured - 1, ..stored };
        assert!(Settled::restore(&bed, &cut).is_none());
    }

    #[test]
    fn stones_in_the_place_of_the_sleeper_are_removed() {
        let stone = Polyhedron::cuboid([0.04; 3]).expect("positive");
        let meets = |x: f64, z: f64| meets_sleeper(&stone, &Pose::at([x, 0.1, z]));
        assert!(meets(0.0, 0.4) && meets(0.144, 0.3) && meets(-0.1, 0.285));
        assert!(!meets(0.147, 0.4) && !meets(0.0, 0.278) && !meets(0.0, 0.54));
    }

    #[test]
    fn the_actuator_closes_and_opens_the_arms_according_to_the_schedule() {
        let s = Schedule::over(0.45);
        let [open, closed] = TAMPING_LENGTHS;
        for (t, length) in [
            (0.0, open),
            (1.0, open),
            (1.4, 0.5 * (open + closed)),
            (1.8, closed),
            (1.99, closed),
            (2.1, 0.5 * (open + closed)),
            (2.5, open),
        ] {
            assert!((s.length(t) - length).abs() < 1e-12, "{t}: {}", s.length(t));
        }
    }
}
