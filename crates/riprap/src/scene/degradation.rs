//! Laws by which stones of a material break and wear, and what has become of the stones of a run.

use super::{Bodies, BuildError, Item, Scene};
use crate::math::Vec3;
use crate::shape::{Outline, Shape};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// The load that a stone of the reference size survives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// A stress [Pa]: see [`crate::degradation::breaking_stress`]. Two opposite forces `F` on a
    /// round stone of diameter `d` give `F/d²`.
    Stress(f64),
    /// The force of one contact [N].
    PeakForce(f64),
}

/// When stones of a material break. A stone splits along a plane into two pieces.
///
/// With a modulus `m` the strength is that of the weakest link: a stone of size `d` survives the
/// stress `σ` with the probability `exp(−(d/d₀)³ (σ/σ₀)^m)`. Each stone draws its quantile from the
/// seed of the scene and its id. In planar scenes the exponent of the size is 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fragmentation {
    /// The strength: `σ₀` at the size `d₀`, which 37 % of the stones survive, or all stones' if
    /// there is no modulus.
    pub strength: Strength,
    /// Weibull modulus `m` [–]; `None` for stones without scatter and size effect.
    pub weibull: Option<f64>,
    /// Size `d₀` for which the strength holds [m].
    pub reference_size: f64,
    /// Pieces smaller than this become dust [m].
    pub smallest: f64,
    /// Time over which the load is averaged [s]; the step if that is longer.
    pub average: f64,
}

impl Fragmentation {
    /// Stones that break at a stress [Pa], without scatter; pieces smaller than `smallest` [m]
    /// become dust.
    pub fn stress(strength: f64, smallest: f64) -> Fragmentation {
        let strength = Strength::Stress(strength);
        Fragmentation { strength, weibull: None, reference_size: 1.0, smallest, average: 0.0 }
    }

    /// Stones that break at a contact force [N], without scatter; pieces smaller than `smallest`
    /// [m] become dust.
    pub fn peak_force(strength: f64, smallest: f64) -> Fragmentation {
        let strength = Strength::PeakForce(strength);
        Fragmentation { strength, weibull: None, reference_size: 1.0, smallest, average: 0.0 }
    }

    /// Lets strengths scatter with a Weibull modulus [–] about that of a reference size [m].
    pub fn weibull(mut self, modulus: f64, reference_size: f64) -> Fragmentation {
        (self.weibull, self.reference_size) = (Some(modulus), reference_size);
        self
    }

    /// Averages the load over a time [s].
    pub fn average(mut self, time: f64) -> Fragmentation {
        self.average = time;
        self
    }

    /// The load that a stone of a size [m] survives [Pa or N], for its survival quantile [–]:
    /// `σ₀ (d/d₀)^(−3/m) (−ln u)^(1/m)`. A force is a stress times the square of the size, in
    /// planar scenes times the size.
    pub fn strength_of(&self, size: f64, quantile: f64, planar: bool) -> f64 {
        let (strength, power) = match self.strength {
            Strength::Stress(stress) => (stress, 0.0),
            Strength::PeakForce(force) => (force, if planar { 1.0 } else { 2.0 }),
        };
        let Some(m) = self.weibull else { return strength };
        let dimension = if planar { 2.0 } else { 3.0 };
        let ratio = size / self.reference_size;
        strength * ratio.powf(power - dimension / m) * (-quantile.ln()).powf(1.0 / m)
    }
}

/// Wear by friction: each contact takes a volume `K W/H` from the stone (Archard), where `W` is its
/// work of friction. It is cut off in chamfers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wear {
    /// Wear coefficient `K` [–].
    pub coefficient: f64,
    /// Hardness `H` [Pa].
    pub hardness: f64,
    /// Volume of a chamfer, relative to that of the stone [–].
    pub chamfer: f64,
    /// Corners of a stone at most; beyond that, those whose removal loses the least volume go.
    pub max_corners: usize,
}

impl Wear {
    /// Wear with a coefficient `K` [–] and a hardness `H` [Pa], in chamfers of a thousandth of a
    /// stone.
    pub fn new(coefficient: f64, hardness: f64) -> Wear {
        Wear { coefficient, hardness, chamfer: 1e-3, max_corners: 40 }
    }

    /// Sets the volume of a chamfer, relative to that of the stone [–].
    pub fn chamfer(mut self, share: f64) -> Wear {
        self.chamfer = share;
        self
    }

    /// Volume worn off per work of friction [m³/J].
    pub fn rate(&self) -> f64 {
        self.coefficient / self.hardness
    }
}

/// The survival quantile of a stone, in (0, 1) [–]. It depends only on the seed and on the id of the
/// stone, not on the order in which stones break.
pub fn survival_quantile(seed: u64, id: u32) -> f64 {
    let bits: u64 = Pcg64::seed_from_u64(super::population::seed_of(seed, u64::from(id))).random();
    ((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// The finalizer of splitmix64, which spreads neighbouring numbers over all seeds.
pub(crate) fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A body that differs from the description: a piece of a broken stone, or a worn stone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    /// Its id: see [`super::Body`].
    pub id: u32,
    /// Id of the described or inserted body that it is a part of.
    pub origin: u32,
    /// Its name: that of the broken stone, followed by `.1` or `.2`.
    pub name: String,
    /// Density [kg/m³].
    pub density: f64,
    /// Constant force at the centre of mass [N].
    pub force: [f64; 3],
    /// Constant torque [N m].
    pub torque: [f64; 3],
    /// Its shape, in the frame of the described one.
    pub outline: Outline,
}

/// Mass, momenta and energies [kg; kg m/s; kg m²/s; J] that have left the bodies, or entered with inserted ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lost {
    /// Mass [kg].
    pub mass: f64,
    /// Linear momentum [kg m/s].
    pub momentum: [f64; 3],
    /// Angular momentum about the origin [kg m²/s].
    pub angular_momentum: [f64; 3],
    /// Kinetic energy [J].
    pub kinetic: f64,
    /// Potential energy in gravity, zero at the origin [J].
    pub potential: f64,
}

impl Lost {
    /// Adds `factor` times another one.
    pub fn add(&mut self, other: &Lost, factor: f64) {
        self.mass += factor * other.mass;
        for k in 0..3 {
            self.momentum[k] += factor * other.momentum[k];
            self.angular_momentum[k] += factor * other.angular_momentum[k];
        }
        self.kinetic += factor * other.kinetic;
        self.potential += factor * other.potential;
    }
}

/// Counts and sums since the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DegradationAccount {
    /// Number of stones that broke.
    pub breaks: u64,
    /// Number of pieces that came from them, without dust.
    pub pieces: u64,
    /// Number of chamfers.
    pub chamfers: u64,
    /// What became dust.
    pub dust: Lost,
    /// What was worn off.
    pub worn: Lost,
    /// Work of friction at wearing stones, once for each of them [J].
    pub friction_work: f64,
}

/// The load on a stone, averaged over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeanLoad {
    /// Stress in the frame of the body, tension positive: xx, yy, zz, xy, xz, yz [Pa].
    pub stress: [f64; 6],
    /// Largest force of a contact [N].
    pub peak: f64,
}

/// Volume to be worn off near a corner of a stone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CornerWear {
    /// Index of the corner.
    pub corner: u32,
    /// The volume [m³].
    pub volume: f64,
    /// Sum of the outward contact normals in the frame of the body, weighted by volume [m³].
    pub normal: [f64; 3],
}

/// A stone that has met its strength; it breaks before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Break {
    /// Id of the stone.
    pub id: u32,
    /// Normal of the plane, in the frame of the body [–].
    pub normal: [f64; 3],
}

/// What has become of the stones: everything that a restart needs to continue with the described
/// scene. Empty as long as no material breaks or wears and no body is removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DegradationState {
    /// Bodies that differ from the description, in the order of their slots.
    pub pieces: Vec<Piece>,
    /// Ids of described bodies of which nothing is left.
    pub gone: Vec<u32>,
    /// The next id of a piece or an inserted body; 0 until there is one, or a body is removed.
    pub next_id: u32,
    /// Averaged loads by slot; empty if no load is averaged.
    pub loads: Vec<MeanLoad>,
    /// Volumes to be worn off by slot; empty if nothing wears.
    pub wear: Vec<Vec<CornerWear>>,
    /// Stones that break before the next step.
    pub breaks: Vec<Break>,
    /// Counts and sums.
    pub account: DegradationAccount,
}

impl Scene {
    /// Whether stones of some material break or wear.
    pub fn degrades(&self) -> bool {
        self.degrades
    }

    /// Seed of the strengths of stones.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether a body can break or wear: a free polyhedron or polygon.
    pub(crate) fn can_degrade(&self, slot: usize) -> bool {
        can_degrade(&self.bodies, &self.shapes, slot)
    }

    /// The survival quantile of the body at a slot [–].
    pub fn survival_quantile(&self, slot: usize) -> f64 {
        survival_quantile(self.seed, self.bodies.ids[slot])
    }

    /// Total mass of the free bodies [kg], without mechanisms.
    pub fn free_mass(&self) -> f64 {
        let bodies = &self.bodies;
        let free = |i: &usize| bodies.movable[*i] && bodies.carried[*i].is_none();
        (0..bodies.len()).filter(free).map(|i| bodies.mass[i]).sum()
    }
}

fn can_degrade(bodies: &Bodies, shapes: &[Shape], slot: usize) -> bool {
    bodies.movable[slot]
        && bodies.carried[slot].is_none()
        && matches!(shapes[slot], Shape::Polyhedron(_) | Shape::Polygon(_))
}

/// Checks the parameters of the laws.
pub(super) fn check_laws(materials: &[super::Material], errors: &mut Vec<BuildError>) {
    for material in materials {
        let mut check = |what, value: f64, fine: bool, range| {
            if !(fine && value.is_finite()) {
                let item = Item::Material(material.name.clone());
                errors.push(BuildError::OutOfRange { item, what, value, range });
            }
        };
        if let Some(f) = &material.fragmentation {
            let (Strength::Stress(s) | Strength::PeakForce(s)) = f.strength;
            check("the strength of its fragmentation", s, s > 0.0, "positive");
            let m = f.weibull.unwrap_or(1.0);
            check("the Weibull modulus", m, (0.1..=1000.0).contains(&m), "between 0.1 and 1000");
            let d = f.reference_size;
            check("the reference size", d, d > 0.0, "a positive length in m");
            let s = f.smallest;
            check("the smallest size of pieces", s, s > 0.0, "a positive length in m");
            let t = f.average;
            check("the averaging time", t, t >= 0.0, "a time of 0 s or more");
        }
        if let Some(w) = &material.wear {
            let (k, h) = (w.coefficient, w.hardness);
            check("the wear coefficient", k, k >= 0.0, "0 or more");
            check("the hardness", h, h > 0.0, "a positive pressure in Pa");
            let share = (1e-9..=0.1).contains(&w.chamfer);
            check("the volume of a chamfer", w.chamfer, share, "between 1e-9 and 0.1 of the stone");
            let n = w.max_corners;
            check("the number of corners", n as f64, (8..=1000).contains(&n), "8 to 1000");
        }
    }
}

/// Whether stones of a material break or wear.
pub(super) fn degrades(material: &super::Material) -> bool {
    material.fragmentation.is_some() || material.wear.is_some()
}

/// Which bodies something refers to: joints, ropes, point contacts and ignored contacts.
pub(super) fn attached(scene: &Scene) -> Vec<bool> {
    let mut attached = vec![false; scene.bodies.len()];
    let joints = scene.joints.iter().map(|j| j.bodies);
    let pairs = scene.points.iter().map(|p| p.bodies).chain(joints);
    let ropes = scene.ropes.iter().flat_map(|r| r.vertices.iter().map(|v| v.0));
    let apart = scene.apart.iter().flat_map(|p| [p.0, p.1]);
    let loads = scene.loads.iter().map(|(body, _)| scene.slot(*body) as u32);
    for b in pairs.flatten().chain(ropes).chain(apart).chain(loads) {
        attached[b as usize] = true;
    }
    attached
}

/// Checks that the free bodies of materials that break or wear can do so.
pub(super) fn check_stones(scene: &Scene, errors: &mut Vec<BuildError>) {
    if !scene.degrades {
        return;
    }
    let Scene { bodies, shapes, .. } = scene;
    let attached = attached(scene);
    for c in &scene.colliders {
        let breaks = degrades(&scene.materials[c.material as usize]);
        let i = c.body as usize;
        if !(breaks && bodies.movable[i] && bodies.carried[i].is_none()) {
            continue;
        }
        let unit = shapes[i].mass_properties(bodies.mass[i] / shapes[i].volume());
        let uniform = unit.is_some_and(|m| {
            (m.centre - bodies.centre[i]).norm() <= 1e-9 * bodies.size[i]
                && (m.inertia - bodies.inertia[i]).norm() <= 1e-9 * m.inertia.norm()
        });
        let problem = if !can_degrade(bodies, shapes, i) {
            "only convex polyhedra and polygons break and wear; use another shape, or another material"
        } else if !uniform {
            "a body that breaks or wears has the centre of mass and inertia of its shape; do not give others, or use \
             another material"
        } else if attached[i] {
            "a body that breaks or wears cannot be held by joints, ropes or point contacts, ignore contacts, or have forces that \
             depend on time or state; use another material"
        } else {
            continue;
        };
        let error =
            BuildError::CannotDegrade { item: Item::Body(bodies.names[i].clone()), problem };
        if errors.last() != Some(&error) {
            errors.push(error);
        }
    }
}

/// Mass, momenta and energies of a rigid body, as in [`crate::simulation::Balance`]; `rate` is that of the flow [1/s].
pub(crate) fn motion_of(scene: &Scene, slot: usize, state: &super::State, rate: f64) -> Lost {
    let (bodies, gravity) = (&scene.bodies, scene.gravity);
    let (q, v, m) = (&state.q[slot], &state.v[slot], bodies.mass[slot]);
    let beyond_flow = v.linear - Vec3::x() * (rate * q.position.y);
    let spin = bodies.inertia_w(slot, &q.rotation) * v.angular;
    let momentum = v.linear * m;
    Lost {
        mass: m,
        momentum: momentum.into(),
        angular_momentum: (q.position.cross(&momentum) + spin).into(),
        kinetic: 0.5 * (m * beyond_flow.norm_squared() + v.angular.dot(&spin)),
        potential: -(gravity * m + bodies.force[slot]).dot(&q.position),
    }
}
