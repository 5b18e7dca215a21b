//! Measures of a packing at one time: coordination, rattlers, solid fraction, stress, fabric, normal
//! forces, slope of its surface and segregation, of all free bodies or of those in a box.

mod passing;
mod surface;

pub use passing::{Flow, Impact, impacts};
pub use surface::Slope;

use super::{Fabric, ForceDistribution, Frame};
use crate::math::{Lattice, Mat3, Vec3};
use crate::scene::Cell;

/// An axis-aligned box; its z is ignored in planar scenes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// Lowest corner [m].
    pub min: Vec3,
    /// Highest corner [m].
    pub max: Vec3,
}

impl Region {
    /// All of space.
    pub const EVERYWHERE: Region = Region {
        min: Vec3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
        max: Vec3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
    };

    /// The whole cell of a periodic scene; unbounded in directions without a period.
    pub fn of_cell(cell: &Cell) -> Region {
        let bound =
            |k: usize, side: usize, open: f64| cell.ranges()[k].map_or(open, |range| range[side]);
        Region {
            min: Vec3::from_fn(|k, _| bound(k, 0, f64::NEG_INFINITY)),
            max: Vec3::from_fn(|k, _| bound(k, 1, f64::INFINITY)),
        }
    }

    /// The same region without bounds along z if the scene is planar.
    fn of_scene(self, planar: bool) -> Region {
        let Region { mut min, mut max } = self;
        if planar {
            (min.z, max.z) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        Region { min, max }
    }

    fn contains(&self, p: Vec3) -> bool {
        (0..3).all(|k| self.min[k] <= p[k] && p[k] <= self.max[k])
    }

    /// Fraction of the segment from `a` to `b` that is inside [–].
    fn share(&self, a: Vec3, b: Vec3) -> f64 {
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for k in 0..3 {
            let d = b[k] - a[k];
            if d == 0.0 {
                if a[k] < self.min[k] || a[k] > self.max[k] {
                    return 0.0;
                }
                continue;
            }
            let (s, t) = ((self.min[k] - a[k]) / d, (self.max[k] - a[k]) / d);
            enter = enter.max(s.min(t));
            leave = leave.min(s.max(t));
        }
        (leave - enter).max(0.0)
    }
}

/// Numbers of touching bodies per free body [–]; NaN without bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordination {
    /// Mean number of bodies, free or not, that touch a free body.
    pub all: f64,
    /// The same without rattlers: neither as bodies nor as neighbours.
    pub without_rattlers: f64,
    /// Fraction of the free bodies that are rattlers: they touch fewer than two bodies, not counting
    /// rattlers.
    pub rattlers: f64,
}

/// Normal forces between touching bodies; those of several contact points of a pair are added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NormalForces {
    /// Count, mean, maximum and density, in bins of a tenth of the mean.
    pub distribution: ForceDistribution,
    /// The force that 90 % do not exceed, interpolated between two forces [N].
    pub percentile_90: f64,
    /// Participation number `(Σf)²/(N Σf²)` [–]: 1 if all forces are equal, 1/N if one carries everything.
    pub participation: f64,
}

impl NormalForces {
    /// Statistics of positive forces [N].
    pub fn of(mut forces: Vec<f64>) -> NormalForces {
        let distribution = ForceDistribution::of(&forces, 0.1);
        forces.sort_by(f64::total_cmp);
        let place = 0.9 * forces.len().saturating_sub(1) as f64;
        let at = |k: usize| forces.get(k).copied().unwrap_or(0.0);
        let (below, above) = (at(place as usize), at(place.ceil() as usize));
        let (sum, squares) =
            (forces.iter().sum::<f64>(), forces.iter().map(|f| f * f).sum::<f64>());
        NormalForces {
            percentile_90: below + (above - below) * place.fract(),
            participation: if squares > 0.0 {
                sum * sum / (forces.len() as f64 * squares)
            } else {
                0.0
            },
            distribution,
        }
    }
}

/// A contact point between two bodies that touch, at least one of which is free.
struct Touch {
    slots: [usize; 2],
    /// Index of the pair of bodies.
    pair: usize,
    point: Vec3,
    /// In a periodic cell, the vectors from the centre of mass of the first body and of the nearest image of
    /// the second to the point [m].
    arms: Option<[Vec3; 2]>,
    normal: Vec3,
    /// Mean force on the second body over the step [N].
    force: Vec3,
}

/// The free bodies of a frame and what they touch. Bodies of mechanisms, nodes of flexible bodies and
/// bodies that are fixed or have a prescribed motion are not free, but touch free bodies.
///
/// Bodies touch if their gap is at most 1e-6 of the mean grain size, or if they exert a force on each
/// other. Contacts and forces are those of the step that led to the frame; before the first step
/// there are none.
///
/// ```
/// use riprap::prelude::*;
/// use riprap::simulation::{Measures, Region};
///
/// let rock = Material::new("rock").density(1000.0).friction(0.5);
/// let mut scene = Scene::builder();
/// scene.gravity([0.0, 0.0, -9.81]);
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &rock);
/// scene.add(BodyDescription::new(Shape::cuboid([0.2; 3])?, &rock).at([0.0, 0.0, 0.1]), &rock);
/// let mut run = Simulation::new(scene.build()?, MoreauJean::new(1e-3))?;
/// run.until(0.01, &mut ())?;
///
/// let cube = Region { min: Vec3::new(-0.1, -0.1, 0.0), max: Vec3::new(0.1, 0.1, 0.2) };
/// let (frame, half) = (run.frame(), 0.5 * 1000.0 * 9.81 * 0.2);
/// let measures = Measures::of(&frame);
/// assert!((measures.stress(&cube)[(2, 2)] - half).abs() < 1e-3 * half);
/// assert_eq!(measures.coordination(&Region::EVERYWHERE).all, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Measures<'a> {
    frame: Frame<'a>,
    /// Whether each body is free.
    free: Vec<bool>,
    touches: Vec<Touch>,
    /// The touching pairs, sorted.
    pairs: Vec<[usize; 2]>,
    /// Images of a periodic cell at the time of the frame.
    lattice: Option<Lattice>,
}

impl<'a> Measures<'a> {
    /// Collects the free bodies of a frame and their contacts.
    pub fn of(frame: &Frame<'a>) -> Measures<'a> {
        let (scene, dt) = (frame.scene, frame.dt);
        let free: Vec<bool> = (0..scene.bodies().len()).map(|i| is_free(frame, i)).collect();
        let close = 1e-6 * scene.grain_size();
        let mut touches = Vec::new();
        for (c, r) in frame.work.contacts().active().zip(frame.work.impulses()) {
            let slots = c.bodies.map(|b| b as usize);
            let force = c.impulse_w(r) / dt;
            if slots.iter().any(|i| free[*i]) && (c.point.gap <= close || force.norm() > 0.0) {
                let (point, normal) = (c.point.point, c.point.normal);
                let system = &frame.work.system;
                let arms = system.lattice().map(|_| system.arms(&c));
                touches.push(Touch { slots, pair: 0, point, arms, normal, force });
            }
        }
        let sorted = |t: &Touch| [t.slots[0].min(t.slots[1]), t.slots[0].max(t.slots[1])];
        let mut pairs: Vec<_> = touches.iter().map(sorted).collect();
        pairs.sort_unstable();
        pairs.dedup();
        for touch in &mut touches {
            touch.pair = pairs.partition_point(|pair| *pair < sorted(touch));
        }
        let lattice = scene.lattice(frame.state.t);
        Measures { frame: *frame, free, touches, pairs, lattice }
    }

    fn planar(&self) -> bool {
        self.frame.scene.is_planar()
    }

    /// The centre of mass of a body [m]; in a periodic cell that of its image within the cell.
    fn centre(&self, i: usize) -> Vec3 {
        let centre = self.frame.state.q[i].position;
        self.lattice.map_or(centre, |lattice| lattice.wrapped(centre))
    }

    /// The free bodies with their centre of mass in a region.
    fn inside(&self, region: &Region) -> impl Iterator<Item = usize> {
        let region = region.of_scene(self.planar());
        (0..self.free.len()).filter(move |&i| self.free[i] && region.contains(self.centre(i)))
    }

    /// Contact points in a region.
    fn touches_in(&self, region: &Region) -> impl Iterator<Item = &Touch> {
        let region = region.of_scene(self.planar());
        let lattice = self.frame.work.system.lattice();
        let place = move |point: Vec3| lattice.map_or(point, |lattice| lattice.wrapped(point));
        self.touches.iter().filter(move |touch| region.contains(place(touch.point)))
    }

    /// Numbers of bodies that touch the free bodies with their centre of mass in a region. Rattlers
    /// are removed repeatedly from the whole packing, until none are left.
    pub fn coordination(&self, region: &Region) -> Coordination {
        let mut count = vec![0_usize; self.free.len()];
        self.pairs.iter().flatten().for_each(|&i| count[i] += 1);
        let first = count.clone();
        let mut rattles = vec![false; self.free.len()];
        loop {
            let loose = |i: &usize| self.free[*i] && !rattles[*i] && count[*i] < 2;
            let next: Vec<usize> = (0..self.free.len()).filter(loose).collect();
            if next.is_empty() {
                break;
            }
            next.into_iter().for_each(|i| rattles[i] = true);
            count.fill(0);
            let kept = self.pairs.iter().filter(|pair| pair.iter().all(|&i| !rattles[i]));
            kept.flatten().for_each(|&i| count[i] += 1);
        }
        let mean = |count: &[usize], of: &[usize]| {
            of.iter().map(|&i| count[i] as f64).sum::<f64>() / of.len() as f64
        };
        let all: Vec<usize> = self.inside(region).collect();
        let held: Vec<usize> = all.iter().copied().filter(|&i| !rattles[i]).collect();
        Coordination {
            all: mean(&first, &all),
            without_rattlers: mean(&count, &held),
            rattlers: 1.0 - held.len() as f64 / all.len() as f64,
        }
    }

    /// Fraction of the volume of a box that free bodies occupy [–]; in planar scenes, of its area. See
    /// [`Shape::content_within`](crate::shape::Shape::content_within) for its accuracy.
    pub fn solid_fraction(&self, region: &Region) -> f64 {
        let Frame { scene, state, .. } = self.frame;
        let near = |at: Vec3, i: usize| {
            let radius = scene.bodies().radius[i];
            let axes = if self.planar() { 2 } else { 3 };
            let meets = |k: usize| at[k] + radius > region.min[k] && at[k] - radius < region.max[k];
            (0..axes).all(meets)
        };
        let images = images_of(self.lattice.as_ref());
        let mut solid = 0.0;
        for i in (0..self.free.len()).filter(|&i| self.free[i]) {
            let (centre, body) = (state.q[i].position, scene.body_at(i));
            let to_cell = self.lattice.map_or(Vec3::zeros(), |lattice| lattice.into_cell(centre));
            for a in images.iter().map(|a| a + to_cell).filter(|a| near(centre + a, i)) {
                let mut pose = scene.shape_pose(state, body);
                pose.position += a;
                solid += scene.shape(body).content_within(&pose, region.min, region.max);
            }
        }
        solid / self.content(region)
    }

    /// Volume of a box [m³], or its area in planar scenes [m²].
    fn content(&self, region: &Region) -> f64 {
        let size = region.max - region.min;
        if self.planar() { size.x * size.y } else { size.x * size.y * size.z }
    }

    /// Mean stress in a box `V` [Pa], compression positive; in planar scenes per length [N/m].
    ///
    /// `σ = 1/V (−Σ sym(f ⊗ l) + Σ m u ⊗ u)`. The first sum (Love and Weber) is over the contacts of
    /// free bodies: `f` is the mean force on the body over the last step, and `l` the part inside `V`
    /// of the segment from its centre of mass to the contact point. The second is the kinetic part:
    /// over the free bodies with their centre of mass in `V`, with velocity `u` relative to the flow of
    /// a sheared cell and to their common velocity. Forces of ropes and joints do not contribute.
    pub fn stress(&self, region: &Region) -> Mat3 {
        let Frame { scene, state, work, .. } = self.frame;
        let within = region.of_scene(self.planar());
        let (middle, lattice) = (work.system.q_m(), work.system.lattice());
        let images = images_of(lattice);
        // The part within the region of the segment from a body to a contact point, over all images.
        let part = |touch: &Touch, side: usize| {
            let (Some(lattice), Some(arms)) = (lattice, touch.arms) else {
                let centre = middle[touch.slots[side]].position;
                return (touch.point - centre) * within.share(centre, touch.point);
            };
            let (arm, point) = (arms[side], lattice.wrapped(touch.point));
            let shares = images.iter().map(|a| within.share(point - arm + a, point + a));
            arm * shares.sum::<f64>()
        };
        let mut sum = Mat3::zeros();
        for touch in &self.touches {
            for (side, force) in [(0, -touch.force), (1, touch.force)] {
                if self.free[touch.slots[side]] {
                    let part = part(touch, side);
                    sum -= (force * part.transpose() + part * force.transpose()) * 0.5;
                }
            }
        }
        let mass = &scene.bodies().mass;
        let total: f64 = self.inside(region).map(|i| mass[i]).sum();
        let rate = scene.cell().map_or(0.0, |cell| cell.mean_rate(state.t, self.frame.dt));
        let beyond_flow = |i: usize| {
            let (v, y) = (state.v[i].linear, state.q[i].position.y);
            if rate == 0.0 { v } else { v - Vec3::x() * (rate * y) }
        };
        let momentum: Vec3 = self.inside(region).map(|i| beyond_flow(i) * mass[i]).sum();
        for i in self.inside(region) {
            let u = beyond_flow(i) - momentum / total;
            sum += u * u.transpose() * mass[i];
        }
        sum / self.content(region)
    }

    /// Fabric of the contacts in a region: each pair of touching bodies counts once, with equal
    /// weights of its contact points. `None` without contacts.
    pub fn fabric(&self, region: &Region) -> Option<Fabric> {
        let mut points = vec![0.0; self.pairs.len()];
        self.touches_in(region).for_each(|touch| points[touch.pair] += 1.0);
        Fabric::of(self.touches_in(region).map(|touch| (touch.normal, 1.0 / points[touch.pair])))
    }

    /// Normal forces of the contacts in a region.
    pub fn normal_forces(&self, region: &Region) -> NormalForces {
        let mut forces = vec![0.0; self.pairs.len()];
        for touch in self.touches_in(region) {
            forces[touch.pair] += touch.normal.dot(&touch.force);
        }
        forces.retain(|f| *f > 0.0);
        NormalForces::of(forces)
    }
}

/// The vectors from what is within a periodic cell to all images that may reach into the cell [m]; only
/// that of length zero without a cell.
fn images_of(lattice: Option<&Lattice>) -> Vec<Vec3> {
    lattice.map_or_else(|| vec![Vec3::zeros()], |lattice| lattice.around().collect())
}

/// Whether a body is free, not moved by a servo, with a shape.
fn is_free(frame: &Frame, i: usize) -> bool {
    let (scene, bodies) = (frame.scene, frame.scene.bodies());
    let alone = bodies.carried[i].is_none() && scene.node_at(i).is_none();
    bodies.movable[i] && alone && bodies.size[i] > 0.0 && !scene.is_servo(i)
}

#[cfg(test)]
mod tests;
