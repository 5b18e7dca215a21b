//! The description of a simulation: bodies, materials and their contact laws, checked and frozen as
//! a [`Scene`].
//!
//! Three kinds of data, never mixed: the [`Scene`] does not change once built, the [`State`] is
//! everything needed to resume a run, and the workspace of a scheme holds data that can be
//! recomputed.

mod body;
mod builder;
mod cell;
mod chain;
mod checks;
mod continuation;
mod degradation;
mod error;
mod flexible;
mod held;
mod joint;
mod load;
mod material;
mod mechanism;
mod pieces;
mod population;
mod rope;
mod state;

pub use crate::math::Twist;
pub use body::{Bodies, BodyDescription, Kind, Law, Locks, Motion};
pub use builder::SceneBuilder;
pub use cell::Cell;
pub use chain::{Chain, ChainEnd, ChainLayout, Course, Tie};
pub use continuation::{Continuation, ContinuationError, Continued, DriveJump, Matching};
pub use degradation::{
    Break, CornerWear, DegradationAccount, DegradationState, Fragmentation, Lost, MeanLoad, Piece,
    Strength, Wear, survival_quantile,
};
pub use error::{BuildError, BuildErrors, Item};
pub use flexible::{Elements, Flexible, FlexibleId, NodeShape};
pub use joint::{BodyJoint, Hold, ResolvedJoint};
pub use load::{Load, LoadInputs, Push, Servo, StateLaw};
pub use material::{ContactLaw, Material, PairLaw, PairTable};
pub use mechanism::{Carried, MechanismId, On, PointContact, ResolvedPoint};
pub use population::{
    FeedState, InsertedBody, Insertion, Pace, Population, PopulationAccount, PopulationState,
    Removal, Supply, Where,
};
pub use rope::{ResolvedRope, Rope, RopeId};
pub use state::{
    AlphaState, ConstraintMultipliers, ConstraintOf, ContactMultipliers, ContactSpring, EventCount,
    HeldClass, HeldContact, PenaltyState, RigidEventsState, RopeState, SchemeState, State,
    WarmContact, WarmMoment,
};

pub(crate) use degradation::{mixed, motion_of};
pub(crate) use mechanism::{place_links, twist};
pub(crate) use pieces::{Added, Edit, Origin, Renumbering, carry_stones, differs, record};
pub(crate) use population::{Fresh, SOON, seed_of};

use crate::detect::{Collider, ColliderSet, Method};
use crate::flexible::Structure;
use crate::math::{Pose, Vec3, parallel, turn};
use crate::multibody::{Link, Multibody};
use crate::shape::Shape;
use std::sync::Arc;

/// Handle of a body: an id that is assigned once and valid for the whole run. [`Scene::slot`] gives
/// the index of the body in the arrays of a [`State`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Body(pub u32);

/// Gap up to which cohesion acts if none is given, relative to the mean grain size [–].
pub(crate) const COHESION_RANGE: f64 = 0.01;

/// Settings of contact detection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detection {
    /// Gap up to which contacts enter the contact problem [m].
    pub alert: f64,
    /// Extra width of the neighbour list [m]; affects only speed.
    pub skin: f64,
    /// Method for pairs of polyhedra.
    pub method: Method,
}

/// Everything that does not change during a run.
#[derive(Clone, Debug)]
pub struct Scene {
    pub(crate) gravity: Vec3,
    pub(crate) drag: f64,
    pub(crate) planar: bool,
    pub(crate) bodies: Bodies,
    pub(crate) colliders: Vec<Collider>,
    pub(crate) collider_set: ColliderSet,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) materials: Vec<Material>,
    pub(crate) pairs: PairTable,
    pub(crate) cell: Option<Cell>,
    pub(crate) detection: Detection,
    pub(crate) grain_size: f64,
    pub(crate) resolution: f64,
    pub(crate) mechanisms: Vec<Multibody>,
    /// First body of each mechanism; the others follow it.
    pub(crate) first_links: Vec<u32>,
    pub(crate) flexible: Vec<Structure>,
    pub(crate) apart: Vec<(u32, u32)>,
    pub(crate) points: Vec<ResolvedPoint>,
    pub(crate) joints: Vec<ResolvedJoint>,
    pub(crate) ropes: Vec<ResolvedRope>,
    /// Forces given by laws, and servos, with the bodies on which they act.
    pub(crate) loads: Vec<(Body, Load)>,
    pub(crate) initial: State,
    /// Seed of the strengths of stones.
    pub(crate) seed: u64,
    /// Whether stones of some material break or wear.
    pub(crate) degrades: bool,
    /// What is inserted and removed during a run, if anything is.
    pub(crate) population: Option<Arc<Population>>,
}

impl Scene {
    /// An empty description.
    pub fn builder() -> SceneBuilder {
        SceneBuilder::default()
    }

    /// The initial state.
    pub fn initial_state(&self) -> State {
        self.initial.clone()
    }

    /// Acceleration of gravity [m/s²].
    pub fn gravity(&self) -> Vec3 {
        self.gravity
    }

    /// Rate of the drag on free bodies [1/s]: a force `−rate m v` and a torque `−rate J ω`, like
    /// that of a viscous fluid.
    pub fn drag(&self) -> f64 {
        self.drag
    }

    /// Sets the rate of the drag on free bodies [1/s]; 0 means none. It serves to bring grains to
    /// rest before a study starts: friction alone does not damp a stone that hangs on two points.
    pub fn set_drag(&mut self, rate: f64) {
        self.drag = rate.max(0.0);
    }

    /// Whether the scene is planar (in the x–y plane).
    pub fn is_planar(&self) -> bool {
        self.planar
    }

    /// Masses, inertias, locks and names of all bodies.
    pub fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// The body with this name.
    pub fn body(&self, name: &str) -> Option<Body> {
        self.bodies.names.iter().position(|n| n == name).map(|i| self.body_at(i))
    }

    /// Index of a body in the arrays of a [`State`] and of [`Bodies`].
    pub fn slot(&self, body: Body) -> usize {
        self.bodies.slots[body.0 as usize] as usize
    }

    /// The body at an index of these arrays.
    pub fn body_at(&self, slot: usize) -> Body {
        Body(self.bodies.ids[slot])
    }

    /// The shape of a body, in its own frame.
    pub fn shape(&self, body: Body) -> &Shape {
        &self.shapes[self.slot(body)]
    }

    /// The mechanisms.
    pub fn mechanisms(&self) -> &[Multibody] {
        &self.mechanisms
    }

    /// The mechanism with this name.
    pub fn mechanism(&self, name: &str) -> Option<MechanismId> {
        self.mechanisms.iter().position(|m| m.name() == name).map(|i| MechanismId(i as u32))
    }

    /// The body of the scene that corresponds to a body of a mechanism.
    pub fn link_body(&self, mechanism: MechanismId, link: Link) -> Body {
        self.body_at((self.first_links[mechanism.index()] + link.0) as usize)
    }

    /// Bodies of a mechanism, as a range of those of the scene.
    pub(crate) fn links_of(&self, mechanism: usize) -> std::ops::Range<usize> {
        let first = self.first_links[mechanism] as usize;
        first..first + self.mechanisms[mechanism].n_links()
    }

    /// Whether a mechanism is a single free body, which moves like the other free bodies.
    pub(crate) fn is_free_body(&self, mechanism: usize) -> bool {
        self.bodies.movable[self.first_links[mechanism] as usize]
    }

    /// Whether any pair of materials or point contact resists rolling.
    pub fn has_rolling(&self) -> bool {
        self.pairs.any_rolling() || self.points.iter().any(|p| p.law.rolling > 0.0)
    }

    /// Whether any pair of materials or point contact is cohesive.
    pub fn has_cohesion(&self) -> bool {
        self.pairs.any_cohesion() || self.points.iter().any(|p| p.law.is_cohesive())
    }

    /// Whether any pair of materials or point contact has a static friction of its own.
    pub fn has_static_friction(&self) -> bool {
        let of_points = || self.points.iter().any(|p| p.law.static_friction.is_some());
        self.pairs.any_static_friction() || of_points()
    }

    /// Gap up to which the cohesion of a law acts [m].
    pub fn cohesion_range(&self, law: &PairLaw) -> f64 {
        law.cohesion_range.unwrap_or(COHESION_RANGE * self.grain_size)
    }

    /// Contacts between chosen points and planes.
    pub fn point_contacts(&self) -> &[ResolvedPoint] {
        &self.points
    }

    /// Joints between bodies.
    pub fn joints(&self) -> &[ResolvedJoint] {
        &self.joints
    }

    /// Ropes.
    pub fn ropes(&self) -> &[ResolvedRope] {
        &self.ropes
    }

    /// The rope with this name.
    pub fn rope(&self, name: &str) -> Option<RopeId> {
        self.ropes.iter().position(|r| r.name == name).map(|i| RopeId(i as u32))
    }

    /// Pairs of bodies without contact, the smaller index first, sorted.
    pub fn pairs_apart(&self) -> &[(u32, u32)] {
        &self.apart
    }

    /// The convex parts that can have contacts.
    pub fn colliders(&self) -> &[Collider] {
        &self.colliders
    }

    /// Identity of the colliders, for caches of contact detection.
    pub fn collider_set(&self) -> ColliderSet {
        self.collider_set
    }

    /// The materials.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// The law of contact between two materials, by their indices in [`Scene::materials`].
    pub fn pair_law(&self, a: usize, b: usize) -> &PairLaw {
        self.pairs.law(a as u32, b as u32)
    }

    /// Settings of contact detection.
    pub fn detection(&self) -> Detection {
        self.detection
    }

    /// Mean size of the free bodies [m]; without any, of the bodies of mechanisms that have a shape;
    /// 1 m if nothing has a shape.
    pub fn grain_size(&self) -> f64 {
        self.grain_size
    }

    /// The reference length for penetrations [m]: the grain size (the reach of the largest
    /// mechanism if nothing has a shape), or the smallest clearance (initial gap of a point contact)
    /// if that is smaller.
    pub fn resolution(&self) -> f64 {
        self.resolution
    }

    /// Pose of the frame in which the body's shape was given (its origin need not be the centre of
    /// mass).
    pub fn shape_pose(&self, state: &State, body: Body) -> Pose {
        let i = self.slot(body);
        let (pose, centre) = (state.q[i], self.bodies.centre[i]);
        Pose { position: pose.position - pose.rotation * centre, rotation: pose.rotation }
    }

    /// Velocity of the origin of that frame [m/s].
    pub fn shape_velocity(&self, state: &State, body: Body) -> Vec3 {
        let i = self.slot(body);
        let arm = state.q[i].rotation * self.bodies.centre[i];
        state.v[i].linear - state.v[i].angular.cross(&arm)
    }

    /// Moves positions along velocities, `q + h v` on the manifold of poses; the result is written
    /// to `out`.
    pub fn integrate(&self, q: &[Pose], v: &[Twist], dt: f64, out: &mut Vec<Pose>) {
        parallel::fill(out, q.len(), |i| Pose {
            position: q[i].position + v[i].linear * dt,
            rotation: if v[i].angular == Vec3::zeros() {
                q[i].rotation
            } else {
                turn(q[i].rotation, v[i].angular * dt)
            },
        });
    }
}

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests;
