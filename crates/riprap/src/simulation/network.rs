//! The unique force network of a step: the contact forces of Schwager and Pöschel (2002), Sec. 8,
//! beside those that the scheme found, for free bodies in any scene and after a step of any scheme.

use super::{Body, Frame};
use crate::assembly::{Moment, contact_law};
use crate::friction::{
    ContactStatus, Factored, InverseMass, Law, RestError, RestForces, RestProblem, RestReport,
};
use crate::math::{Vec3, tangents};
use crate::scene::{Push, Scene, State};

/// The resultant that the unique forces have on each body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resultant {
    /// For bodies at rest opposite to their weight and other given forces, for the others that of
    /// the contact forces in the step. At rest are those whose contact forces in the step balance
    /// their given forces within 5 % of their weight.
    #[default]
    Balance,
    /// Opposite to weight and other given forces for all bodies: what cannot rest is listed.
    Rest,
    /// That of the contact forces in the step for all bodies.
    Step,
}

/// A body counts as being at rest if its contact forces balance given forces within this fraction
/// of its weight.
const NEARLY: f64 = 0.05;

/// A contact of a force network.
#[derive(Clone, Copy, Debug)]
pub struct NetworkContact {
    /// The two bodies.
    pub bodies: [Body; 2],
    /// Contact point [m].
    pub point: Vec3,
    /// Normal from the first body to the second [–].
    pub normal: Vec3,
    /// Force of the scheme on the second body [N].
    pub solver: Vec3,
    /// Unique force on the second body [N].
    pub force: Vec3,
    /// What the contact does under the unique force.
    pub status: ContactStatus,
}

impl NetworkContact {
    /// Normal component of the unique force [N].
    pub fn normal_force(&self) -> f64 {
        self.normal.dot(&self.force)
    }
}

/// The force network of a step. Bodies of mechanisms, flexible bodies, fixed and driven bodies are
/// held; forces on them are results.
#[derive(Clone, Debug, Default)]
pub struct ForceNetwork {
    /// The contacts with at least one free body, in the order of the step.
    pub contacts: Vec<NetworkContact>,
    /// The free bodies that carry or touch something, and others.
    pub bodies: Vec<Body>,
    /// Whether each of [`ForceNetwork::bodies`] has the resultant of the step instead of that at rest.
    pub moving: Vec<bool>,
    /// How the unique forces were found.
    pub report: RestReport,
    /// Largest error of the resultant of the scheme's forces at rest, relative to the weight of its
    /// body, over the bodies at rest [–].
    pub solver_residual: f64,
    /// Fastest free body [m/s].
    pub fastest: f64,
}

impl ForceNetwork {
    /// The force network of the last step of a run.
    pub fn of(
        frame: &Frame,
        rest: &RestForces,
        resultant: Resultant,
    ) -> Result<ForceNetwork, RestError> {
        let assembled = Assembled::new(frame);
        let wrenches = assembled.wrenches(frame);
        let moving = assembled.moving(&wrenches, resultant);
        let weights: Vec<f64> =
            assembled.slots.iter().map(|&i| weight(frame, i)).filter(|w| *w > 0.0).collect();
        let all_heavy = weights.len() == assembled.slots.len();
        let required: Vec<[f64; 6]> =
            wrenches.iter().zip(&moving).map(|(w, m)| if *m { w.step } else { w.rest }).collect();
        let sliding = assembled.sliding(frame, &moving);
        let problem = RestProblem {
            sliding: &sliding,
            weights: if all_heavy { &weights } else { &[] },
            ..RestProblem::new(&assembled.contacts, &assembled.laws, &required)
        };
        let found = rest.solve(&problem, &mut Vec::new())?;
        let at_rest = wrenches.iter().zip(&moving).filter(|(_, moves)| !**moves);
        let solver_residual = at_rest.map(|(w, _)| w.error).fold(0.0, f64::max);
        let world = |a: usize, f: [f64; 3]| {
            let [n, t1, t2] = assembled.contacts.contacts()[a].frame.map(Vec3::from);
            n * (f[0] - assembled.seen[a].adhesion) + t1 * f[1] + t2 * f[2]
        };
        let scene = frame.scene;
        let contact = |(a, seen): (usize, &Seen)| NetworkContact {
            bodies: seen.slots.map(|i| scene.body_at(i)),
            point: seen.point,
            normal: seen.normal,
            solver: seen.force,
            force: world(a, found.forces[a]),
            status: found.status[a],
        };
        let speed = |i: &usize| frame.state.v[*i].linear.norm();
        Ok(ForceNetwork {
            contacts: assembled.seen.iter().enumerate().map(contact).collect(),
            bodies: assembled.slots.iter().map(|&i| scene.body_at(i)).collect(),
            moving,
            report: found.report,
            solver_residual,
            fastest: assembled.slots.iter().map(speed).fold(0.0, f64::max),
        })
    }

    /// Distance between the forces of the scheme and the unique ones: relative to the latter in the
    /// L2 norm [–], and the largest difference at a contact [N].
    pub fn distance(&self) -> (f64, f64) {
        let (mut squares, mut sizes, mut largest) = (0.0, 0.0, 0.0_f64);
        for c in &self.contacts {
            let difference = (c.solver - c.force).norm();
            squares += difference * difference;
            sizes += c.force.norm_squared();
            largest = largest.max(difference);
        }
        let relative = if sizes > 0.0 { (squares / sizes).sqrt() } else { 0.0 };
        (relative, largest)
    }

    /// Normal components of the unique forces that are not zero [N].
    pub fn normal_forces(&self) -> Vec<f64> {
        let loaded = self.contacts.iter().filter(|c| c.status != ContactStatus::Open);
        loaded.map(NetworkContact::normal_force).collect()
    }

    /// Normals of the contacts that carry forces [–].
    pub fn normals(&self) -> Vec<Vec3> {
        let loaded = self.contacts.iter().filter(|c| c.status != ContactStatus::Open);
        loaded.map(|c| c.normal).collect()
    }
}

/// The resultant of a body at rest and that of its contact forces in the step [N, N m], and their
/// difference relative to its weight [–].
struct Wrenches {
    rest: [f64; 6],
    step: [f64; 6],
    error: f64,
}

/// A contact of the step.
struct Seen {
    slots: [usize; 2],
    point: Vec3,
    normal: Vec3,
    force: Vec3,
    /// Adhesive force [N].
    adhesion: f64,
    /// Part of the relative velocity that is due to the shear of a periodic cell [m/s].
    shear: Option<Vec3>,
}

/// The contacts of a step as columns of `H` over the free bodies.
struct Assembled {
    contacts: Factored,
    laws: Vec<Law>,
    seen: Vec<Seen>,
    /// Index of each free body in the lists of the scene.
    slots: Vec<usize>,
}

impl Assembled {
    fn new(frame: &Frame) -> Assembled {
        let Frame { scene, state, work, dt, .. } = *frame;
        let (bodies, q) = (scene.bodies(), &state.q);
        let slots: Vec<usize> = (0..bodies.len()).filter(|&i| bodies.movable[i]).collect();
        let mut block = vec![Factored::NONE; bodies.len()];
        slots.iter().enumerate().for_each(|(b, &i)| block[i] = b as u32);
        let mut contacts = Factored::default();
        contacts.reset(slots.iter().map(|&i| {
            let j = bodies.inverse_inertia_w(i, &q[i].rotation);
            let angular = [j[(0, 0)], j[(1, 1)], j[(2, 2)], j[(0, 1)], j[(0, 2)], j[(1, 2)]];
            InverseMass { linear: bodies.inverse_mass[i], angular }
        }));
        let mut assembled = Assembled { contacts, laws: Vec::new(), seen: Vec::new(), slots };
        // Open contacts are in the lists of some laws.
        let touching = 1e-6 * scene.grain_size();
        for (k, (c, r)) in work.contacts().active().zip(work.impulses()).enumerate() {
            let pair = c.bodies.map(|b| b as usize);
            let blocks = pair.map(|i| block[i]);
            let force = c.impulse_w(r) / dt;
            let closed = c.point.gap <= touching || force.norm() > 0.0;
            if blocks == [Factored::NONE; 2] || !closed {
                continue;
            }
            let (point, normal) = (c.point.point, c.point.normal);
            let (t1, t2) = tangents(normal);
            let arms = arms_at(scene, state, point, pair).map(Into::into);
            assembled.contacts.push(blocks, [normal, t1, t2].map(Into::into), arms);
            let law = contact_law(scene, c.point);
            // Contacts that do not slide at the end of the step may have a friction of their own.
            let slides = state.warm_start.get(k).is_some_and(|warm| warm.slides);
            let held = law.static_friction.filter(|_| !slides);
            assembled.laws.push(Law::Coulomb { friction: held.unwrap_or(law.friction) });
            let adhesion = work.contacts().adhesion(k) / dt;
            let shear = work.system.shear_velocity(&c, Moment::End);
            assembled.seen.push(Seen { slots: pair, point, normal, force, adhesion, shear });
        }
        assembled
    }

    /// The resultants of each body, without the adhesive forces: those obey Signorini and Coulomb.
    fn wrenches(&self, frame: &Frame) -> Vec<Wrenches> {
        let bodies = frame.scene.bodies();
        let mut step = vec![[0.0; 6]; self.slots.len()];
        let mut adhesive = step.clone();
        let mut arm = vec![0.0_f64; self.slots.len()];
        for (c, seen) in self.contacts.contacts().iter().zip(&self.seen) {
            let pull = seen.normal * seen.adhesion;
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                let b = c.blocks[side] as usize;
                let Some(sum) = step.get_mut(b) else { continue };
                let place = Vec3::from(c.arms[side]);
                arm[b] = arm[b].max(place.norm());
                let push = seen.force + pull;
                let moment = place.cross(&push);
                for k in 0..3 {
                    sum[k] += sign * push[k];
                    sum[3 + k] += sign * moment[k];
                }
                if seen.adhesion > 0.0 {
                    let moment = place.cross(&pull);
                    for k in 0..3 {
                        adhesive[b][k] += sign * pull[k];
                        adhesive[b][3 + k] += sign * moment[k];
                    }
                }
            }
        }
        let state = frame.state;
        let pushes: Vec<Push> = frame.scene.pushes(state.t, &state.q, &state.v).collect();
        let of = |(b, &i): (usize, &usize)| {
            let mut force = -(frame.scene.gravity() * bodies.mass[i] + bodies.force[i]);
            let mut moment = -bodies.torque[i];
            if let Some(push) = pushes.iter().find(|push| push.slot == i) {
                force -= push.force;
                moment -= push.torque;
            }
            let rest = [force.x, force.y, force.z, moment.x, moment.y, moment.z];
            let rest: [f64; 6] = std::array::from_fn(|k| rest[k] + adhesive[b][k]);
            let free = |k: usize| match k {
                0..3 => bodies.inverse_mass[i][k] > 0.0,
                k => self.contacts.masses()[b].angular[k - 3] > 0.0,
            };
            let squares = (0..6).filter(|k| free(*k)).map(|k| {
                let scale = if k < 3 { 1.0 } else { arm[b].max(1e-12) };
                ((step[b][k] - rest[k]) / scale).powi(2)
            });
            let scale = weight(frame, i).max(force.norm()).max(f64::MIN_POSITIVE);
            Wrenches { rest, step: step[b], error: squares.sum::<f64>().sqrt() / scale }
        };
        self.slots.iter().enumerate().map(of).collect()
    }

    /// Whether each body has the resultant of the step.
    fn moving(&self, wrenches: &[Wrenches], rule: Resultant) -> Vec<bool> {
        let moves = |w: &Wrenches| match rule {
            Resultant::Balance => w.error.is_nan() || w.error > NEARLY,
            Resultant::Rest => false,
            Resultant::Step => true,
        };
        wrenches.iter().map(moves).collect()
    }

    /// The velocity along which a contact of a moving body slides with full friction.
    fn sliding(&self, frame: &Frame, moving: &[bool]) -> Vec<Option<[f64; 2]>> {
        let state = frame.state;
        let slow = 1e-6 * (frame.scene.gravity().norm() * frame.scene.grain_size()).sqrt();
        let velocity = |i: usize, arm: [f64; 3]| {
            let v = &state.v[i];
            v.linear + v.angular.cross(&Vec3::from(arm))
        };
        let contacts = self.contacts.contacts().iter().zip(&self.seen).zip(&self.laws);
        let slides = contacts.map(|((c, seen), law)| {
            let moves = c.blocks.iter().any(|b| moving.get(*b as usize) == Some(&true));
            let [_, t1, t2] = c.frame.map(Vec3::from);
            let mut v = velocity(seen.slots[1], c.arms[1]) - velocity(seen.slots[0], c.arms[0]);
            if let Some(shear) = seen.shear {
                v += shear;
            }
            let (along, f) = ([t1.dot(&v), t2.dot(&v)], seen.force);
            let limit = law.friction().unwrap_or(0.0) * (seen.normal.dot(&f) + seen.adhesion);
            let full = t1.dot(&f).hypot(t2.dot(&f)) >= 0.999 * limit;
            (moves && full && along[0].hypot(along[1]) > slow).then_some(along)
        });
        slides.collect()
    }
}

/// The vectors from two bodies to a contact point [m], in a periodic cell from the nearest image of the
/// second.
fn arms_at(scene: &Scene, state: &State, point: Vec3, [i, j]: [usize; 2]) -> [Vec3; 2] {
    let [a, b] = [i, j].map(|i| point - state.q[i].position);
    [a, scene.lattice(state.t).map_or(b, |lattice| lattice.reduced(b))]
}

/// Weight of a body [N]; 0 without gravity.
fn weight(frame: &Frame, i: usize) -> f64 {
    frame.scene.gravity().norm() * frame.scene.bodies().mass[i]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    /// A cube on a slope of the given angle after a few steps.
    fn cube(angle: f64, friction: f64) -> Simulation {
        let rock = Material::new("rock").density(1000.0).friction(friction);
        let mut scene = Scene::builder();
        scene.gravity([9.81 * angle.sin(), 0.0, -9.81 * angle.cos()]);
        scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock);
        let cube = BodyDescription::new(Shape::cuboid([0.2; 3]).unwrap(), &rock);
        scene.add(cube.at([0.0, 0.0, 0.1]), &rock);
        let scheme = MoreauJean::new(1e-3).solver(GaussSeidel::tolerance(1e-12));
        let mut run = Simulation::new(scene.build().unwrap(), scheme).unwrap();
        run.until(0.02, &mut ()).unwrap();
        run
    }

    #[test]
    fn a_cube_at_rest_and_one_that_slides_have_the_forces_of_their_motion() {
        let weight = 8.0 * 9.81;
        for (angle, resultant, moves) in
            [(0.3_f64, Resultant::Balance, false), (0.6, Resultant::Balance, true)]
        {
            let run = cube(angle, 0.5);
            let network = ForceNetwork::of(&run.frame(), &RestForces::new(), resultant).unwrap();
            assert!(network.report.converged, "{angle}: {:?}", network.report);
            assert_eq!((network.contacts.len(), network.moving[0]), (4, moves));
            let sum: Vec3 = network.contacts.iter().map(|c| c.force).sum();
            assert!((sum.z - weight * angle.cos()).abs() < 1e-6 * weight, "{sum}");
            let friction = if moves { 0.5 * sum.z } else { weight * angle.sin() };
            assert!((sum.x + friction).abs() < 1e-6 * weight, "{sum} {friction}");
            let expected = if moves { ContactStatus::Sliding } else { ContactStatus::Sticking };
            assert!(network.contacts.iter().all(|c| c.status == expected));
            // Friction acts half a cube below the centre and loads the lower edge; the two contacts
            // of an edge are equal.
            let normal = |c: &NetworkContact| c.normal_force();
            for c in &network.contacts {
                let side = c.point.x.signum();
                let share = 0.25 * (sum.z + side * friction);
                assert!((normal(c) - share).abs() < 2e-3 * weight, "{} {share}", normal(c));
            }
        }
        // What cannot rest is listed if it has to.
        let run = cube(0.6, 0.5);
        let rest = ForceNetwork::of(&run.frame(), &RestForces::new(), Resultant::Rest).unwrap();
        assert_eq!(rest.report.unbalanced.len(), 1);
        assert!(rest.fastest > 0.01);
    }
}
