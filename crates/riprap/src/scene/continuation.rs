//! A new run from the end of another one: the state of one scene carried over to a changed scene, by the names of bodies,
//! mechanisms, flexible bodies, joints and ropes.
//!
//! What is the same in both scenes keeps its positions, velocities and impulses bit for bit; the report [`Continued`] lists the rest.
//! Bodies that were inserted carry over with their insertion, and those that were removed stay away.

mod cells;
mod degradation;
mod groups;
mod impulses;
mod population;
mod report;

pub use report::{Continued, DriveJump, Matching};

use super::checks::overlaps;
use super::{Bodies, BuildErrors, Motion, Scene, State, Twist};
use crate::math::{Pose, Vec3};
use crate::shape::{Shape, ShapeError};
use cells::Cells;
use impulses::Renamed;
use std::borrow::Cow;
use std::collections::HashMap;

/// How a state is carried over to a changed scene.
///
/// ```
/// use riprap::prelude::*;
/// use riprap::scene::Continuation;
///
/// let rubber = Material::new("rubber").density(1100.0).friction(0.8);
/// let mut scene = Scene::builder();
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &rubber);
/// let ball = BodyDescription::new(Shape::sphere(0.1)?, &rubber).named("ball");
/// scene.add(ball.clone().at([0.0, 0.0, 0.15]), &rubber);
/// let mut run = Simulation::new(scene.build()?, MoreauJean::new(1e-3))?;
/// run.until(0.5, &mut ())?;
///
/// // The ball lies on the floor; a second one is dropped on it.
/// scene.add(ball.named("second").at([0.0, 0.0, 0.4]), &rubber);
/// let changed = scene.build()?;
/// let (state, report) = Continuation::default().state(run.scene(), run.state(), &changed)?;
/// assert_eq!(state.q[..2], run.state().q[..]);
/// assert_eq!(report.bodies.new, ["second"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Continuation {
    /// Time at which the new run starts [s]. Laws of time are evaluated from there.
    pub time: f64,
    /// Overlap that is accepted where a new body, or one with another shape, meets others: a fraction of the smaller body's
    /// size [–].
    pub largest_overlap: f64,
}

impl Default for Continuation {
    fn default() -> Continuation {
        Continuation { time: 0.0, largest_overlap: 1e-3 }
    }
}

/// Why a state cannot be carried over.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContinuationError {
    /// No name occurs in both scenes.
    #[error(
        "nothing carries over: no body, mechanism or flexible body of the scene has a name that occurs in the other run; bodies are matched by name"
    )]
    NothingMatches,
    /// One scene is planar and the other is not.
    #[error("a planar scene cannot start from one in space, nor the reverse")]
    Dimension,
    /// New bodies overlap those that are where the other run left them.
    #[error("where the other run ended, {0}")]
    Overlap(BuildErrors),
    /// The periodic cell is the same, but not its strain.
    #[error(
        "the other run ended with a shear strain of {reached:.9} of the periodic cell, and the new one starts with {starts:.9}: images would jump, \
         while bodies stay where they are; let the time go on (`start_time = \"continue\"`), or describe a strain that starts at {reached:.9} \
         (`shear_strain`)"
    )]
    Strain {
        /// Strain at the end of the other run [–].
        reached: f64,
        /// Strain at the start of the new one [–].
        starts: f64,
    },
    /// A new joint does not hold where the other run ended.
    #[error(
        "joint `{joint}` is new, and its two points are {distance:.2e} m apart where the other run ended: joints are placed at the positions that \
         the scene describes; describe its bodies at the positions they have reached, or use a joint of the other scene"
    )]
    JointApart {
        /// Its name.
        joint: String,
        /// Distance of its points [m].
        distance: f64,
    },
    /// The shape of a broken or worn stone is not valid.
    #[error("the shape of a broken or worn stone is damaged: {0}")]
    Stone(#[from] ShapeError),
}

impl Continuation {
    /// The state of `to` that continues `state`, a state of `from`, and what carries over and what does not. Both scenes are
    /// as described, even if stones of them have broken.
    pub fn state(
        &self,
        from: &Scene,
        state: &State,
        to: &Scene,
    ) -> Result<(State, Continued), ContinuationError> {
        if from.planar != to.planar {
            return Err(ContinuationError::Dimension);
        }
        let mut report = Continued { from_time: state.t, time: self.time, ..Continued::default() };
        let cells = Cells::compare(self, from, state, to, &mut report)?;
        let (population, ids) = population::carry(self, from, state, to, &mut report);
        let degradation = degradation::carry(from, state, to, &ids, &mut report);
        let start = State { degradation, population, ..to.initial_state() };
        let old = condition(from, state)?;
        let new = condition(to, &start)?;
        let State { degradation, population, .. } = start;
        let (old, new) = (&*old, &*new);
        let mut map = Sources::find(old, new, &mut report);
        if !report.matches_anything() {
            return Err(ContinuationError::NothingMatches);
        }
        let mut next = State { t: self.time, step: 0, ..new.initial_state() };
        (next.degradation, next.population) = (degradation, population);
        for slot in 0..new.bodies.len() {
            let known = report.placed_by_law.len();
            let at = self.place(old, state, new, (&map, &cells), slot, &mut report);
            if report.placed_by_law.len() > known {
                // It touches other bodies than before.
                (map.same[slot], map.identical) = (false, false);
            }
            (next.q[slot], next.v[slot]) = at;
        }
        groups::mechanisms(self, old, state, new, &map, &mut next, &mut report);
        groups::flexible(old, state, new, &map, &mut next);
        groups::ropes(old, state, new, &mut next, &mut report);
        degradation::lists(state, &map.bodies, &mut next.degradation);
        impulses::carry(
            self,
            &Renamed::new(old, new, &map),
            old,
            state,
            new,
            &mut next,
            &mut report,
        );
        self.check((old, state), new, (&map, &cells), &next)?;
        Ok((next, report))
    }

    /// Pose and velocity of a body that belongs to no mechanism and no flexible body.
    fn place(
        &self,
        old: &Scene,
        state: &State,
        new: &Scene,
        (map, cells): (&Sources, &Cells),
        slot: usize,
        report: &mut Continued,
    ) -> (Pose, Twist) {
        let (a, b) = (&old.bodies, &new.bodies);
        let described = (new.initial.q[slot], new.initial.v[slot]);
        let motion = b.motion[slot].as_ref();
        let driven = motion.map(|motion| motion.at(self.time));
        let start = |(mut q, v): (Pose, Twist)| match driven {
            Some((position, velocity)) => {
                q.position = position.unwrap_or(q.position);
                (q, velocity)
            }
            None => (q, v),
        };
        let Some(from) = map.bodies[slot].filter(|_| new.is_single(slot)) else {
            return start(described);
        };
        let name = || b.names[slot].clone();
        if a.is_held(from) {
            // It has not moved: its place is the one that the scene describes.
            if old.initial.q[from] != described.0 && b.names[slot] != Bodies::WORLD {
                report.placed_anew.push(name());
            }
            return start(described);
        }
        let (mut q, mut v) = cells.place(state.q[from], state.v[from]);
        if b.locks[slot].0[0] {
            v.linear.x = state.v[from].linear.x;
        }
        let shift = b.centre[slot] - a.centre[from];
        if shift != Vec3::zeros() {
            let arm = q.rotation * shift;
            q.position += arm;
            v.linear += v.angular.cross(&arm);
        }
        if b.is_held(slot) {
            report.held.push(name());
            return (q, Twist::default());
        }
        if motion.is_some() {
            let (placed, v) = start((q, v));
            if (placed.position - q.position).norm() > 1e-6 * new.grain_size {
                report.placed_by_law.push(name());
            }
            return (placed, v);
        }
        if b.locks[slot] != a.locks[from] || a.motion[from].is_some() {
            let free = |k: usize| if b.locks[slot].0[k] { 0.0 } else { 1.0 };
            v.linear = Vec3::from_fn(|k, _| v.linear[k] * free(k));
            v.angular = Vec3::from_fn(|k, _| v.angular[k] * free(k + 3));
        }
        (q, v)
    }

    /// Checks that new bodies and joints fit to those that are carried over.
    fn check(
        &self,
        (old, before): (&Scene, &State),
        new: &Scene,
        (map, cells): (&Sources, &Cells),
        state: &State,
    ) -> Result<(), ContinuationError> {
        let fresh = |slot: u32| !map.same[slot as usize];
        let moved = |[i, j]: [u32; 2]| {
            let known = map.bodies[i as usize].zip(map.bodies[j as usize]);
            known.is_some_and(|(a, b)| {
                let to = |q: &[Pose], i: usize, j: usize| q[j].position - q[i].position;
                let distances = [to(&before.q, a, b), to(&state.q, i as usize, j as usize)];
                cells.changes(distances, 1e-6 * new.grain_size)
            })
        };
        let concerned = |[i, j]: [u32; 2]| fresh(i) || fresh(j) || moved([i, j]);
        if self.largest_overlap.is_finite() && (cells.differ() || map.same.contains(&false)) {
            let found = overlaps(new, (self.time, &state.q), self.largest_overlap, concerned);
            if !found.is_empty() {
                return Err(ContinuationError::Overlap(BuildErrors(found)));
            }
        }
        for joint in &new.joints {
            if old.joints.iter().any(|known| known.name == joint.name) {
                continue;
            }
            let distance = joint.apart(&state.q);
            if distance > 1e-3 * new.grain_size {
                return Err(ContinuationError::JointApart { joint: joint.name.clone(), distance });
            }
        }
        Ok(())
    }
}

/// Where the bodies of the new scene come from.
pub(super) struct Sources {
    /// Old slot of each new body, if it continues one.
    pub bodies: Vec<Option<usize>>,
    /// Whether a new body continues one with the same shape.
    pub same: Vec<bool>,
    /// Old index of each new mechanism, if it continues one.
    pub mechanisms: Vec<Option<usize>>,
    /// The same for the flexible bodies.
    pub flexible: Vec<Option<usize>>,
    /// Whether all numbers of bodies, colliders and coordinates are the same in both scenes.
    pub identical: bool,
}

impl Sources {
    fn find(old: &Scene, new: &Scene, report: &mut Continued) -> Sources {
        let mechanisms = groups::match_mechanisms(old, new, report);
        let flexible = groups::match_flexible(old, new, report);
        let names = old.bodies.names.iter().map(String::as_str);
        let slots: HashMap<&str, usize> = names.zip(0..).collect();
        let n = new.bodies.len();
        let mut map = Sources {
            bodies: vec![None; n],
            same: vec![false; n],
            mechanisms,
            flexible,
            identical: false,
        };
        let mut continued = vec![false; old.bodies.len()];
        for slot in 0..n {
            let from = slots.get(new.bodies.names[slot].as_str()).copied();
            let from = from.filter(|from| map.belongs(old, *from, new, slot));
            map.bodies[slot] = from;
            let single = new.is_single(slot) && new.bodies.names[slot] != Bodies::WORLD;
            let Some(from) = from else {
                if single {
                    report.bodies.new.push(new.bodies.names[slot].clone());
                }
                continue;
            };
            continued[from] = true;
            let same = same_shape(&old.shapes[from], &new.shapes[slot]);
            map.same[slot] = same && !(single && new.moved_by_hand(slot, old, from));
            if single {
                report.bodies.matched += 1;
            }
            let name = || new.bodies.names[slot].clone();
            if !same {
                report.changed_shapes.push(name());
            }
            let mass = [old.bodies.mass[from], new.bodies.mass[slot]];
            if mass[0] != mass[1] && mass.iter().all(|m| m.is_finite()) {
                report.changed_masses.push((name(), mass));
            }
            if single && old.bodies.is_held(from) && new.bodies.movable[slot] {
                report.released.push(name());
            }
        }
        let gone = |slot: &usize| !continued[*slot] && old.is_single(*slot);
        let gone = (0..old.bodies.len()).filter(gone).map(|slot| old.bodies.names[slot].clone());
        report.bodies.missing = gone.filter(|name| name != Bodies::WORLD).collect();
        map.identical = map.is_identical(old, new);
        map
    }

    /// Whether two bodies with the same name are the same kind of thing: both on their own, or the same part of a mechanism or
    /// flexible body that continues.
    fn belongs(&self, old: &Scene, from: usize, new: &Scene, slot: usize) -> bool {
        let part = |scene: &Scene, slot: usize| {
            let owner = scene.bodies.carried[slot];
            (owner.map(|c| (c.mechanism.index(), c.link)), scene.node_at(slot))
        };
        match (part(old, from), part(new, slot)) {
            ((None, None), (None, None)) => true,
            ((Some((m, _)), _), (Some((n, _)), _)) => self.mechanisms[n] == Some(m),
            ((_, Some((f, i))), (_, Some((g, j)))) => self.flexible[g] == Some(f) && i == j,
            _ => false,
        }
    }

    fn is_identical(&self, old: &Scene, new: &Scene) -> bool {
        let in_order = |map: &[Option<usize>]| map.iter().enumerate().all(|(k, o)| *o == Some(k));
        let joints = |scene: &Scene| -> Vec<_> {
            scene.joints.iter().map(|j| (j.name.clone(), j.hold, j.bodies)).collect()
        };
        old.bodies.len() == new.bodies.len()
            && old.colliders.len() == new.colliders.len()
            && old.points.len() == new.points.len()
            && old.bodies.movable == new.bodies.movable
            && !self.same.contains(&false)
            && in_order(&self.bodies)
            && in_order(&self.mechanisms)
            && in_order(&self.flexible)
            && joints(old) == joints(new)
    }
}

impl Bodies {
    /// Whether a body stays where it is: neither impulses nor a prescribed motion move it.
    fn is_held(&self, slot: usize) -> bool {
        !self.movable[slot] && self.motion[slot].is_none()
    }
}

impl Scene {
    /// Whether the body at a slot is neither part of a mechanism nor a node.
    fn is_single(&self, slot: usize) -> bool {
        self.bodies.carried[slot].is_none() && self.node_at(slot).is_none()
    }

    /// Whether this scene describes a held body at another place than the old one.
    fn moved_by_hand(&self, slot: usize, old: &Scene, from: usize) -> bool {
        old.bodies.is_held(from) && old.initial.q[from] != self.initial.q[slot]
    }
}

impl Motion {
    /// The position at a time [m], if the motion gives it, and the velocity.
    pub(super) fn at(&self, t: f64) -> (Option<Vec3>, Twist) {
        match self {
            Motion::Velocity { linear, angular } => {
                (None, Twist { linear: linear.at(t), angular: angular.at(t) })
            }
            Motion::Position { linear, angular } => {
                let d = 1e-6;
                let slope = (linear.at(t + d) - linear.at(t)) / d;
                (Some(linear.at(t)), Twist { linear: slope, angular: angular.at(t) })
            }
        }
    }
}

/// The described scene with its broken and worn stones, and with the bodies that were inserted and removed.
fn condition<'a>(scene: &'a Scene, state: &State) -> Result<Cow<'a, Scene>, ShapeError> {
    if !super::pieces::differs(state) {
        return Ok(Cow::Borrowed(scene));
    }
    Ok(Cow::Owned(scene.clone().in_condition(state)?))
}

/// Whether two shapes are the same in all bits.
pub(super) fn same_shape(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Polyhedron(a), Shape::Polyhedron(b)) => {
            a.vertices() == b.vertices()
                && a.n_faces() == b.n_faces()
                && (0..a.n_faces()).all(|i| a.face(i) == b.face(i))
        }
        (Shape::Polygon(a), Shape::Polygon(b)) => a.vertices() == b.vertices(),
        (Shape::Compound(a), Shape::Compound(b)) => {
            let (a, b) = (&a.parts, &b.parts);
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && same_shape(&a.1, &b.1))
        }
        // Debug text has all digits of a number.
        _ => format!("{a:?}") == format!("{b:?}"),
    }
}
