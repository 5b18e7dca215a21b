//! Bodies that are inserted and removed during a run: their description, and what has become of it.

mod checks;

pub(super) use checks::check_population;

use super::degradation::Lost;
use super::{Bodies, BuildError, Item, Locks, Material, Scene, SceneBuilder, mixed};
use crate::math::Vec3;
use crate::shape::{MassProperties, Shape};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The shapes of inserted bodies, as a function of their number, which counts from 0. The same number must always give the
/// same shape: a resumed run asks again.
///
/// ```
/// use riprap::grains::{Grading, seeded};
/// use riprap::prelude::*;
///
/// let ball = Shape::sphere(0.01)?;
/// let pea = Supply::same(ball.clone());
/// let mixture = Supply::cycle(vec![ball.clone(), ball, Shape::cuboid([0.03; 3])?]);
///
/// // Sizes from a sieve curve.
/// let gravel = Grading::named("EN 12620 gravel 4-8")?;
/// let gravel = Supply::new(move |k| Shape::sphere(0.5 * gravel.sample(&mut seeded(k))).unwrap_or_else(|_| Shape::nothing()));
/// assert!(matches!(mixture.at(5), Shape::Polyhedron(_)) && gravel.at(7).volume() == gravel.at(7).volume());
/// # let _ = pea;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Supply(Arc<dyn Fn(u64) -> Shape + Send + Sync>);

impl Supply {
    /// Shapes from a function of the number of the body.
    pub fn new(shape: impl Fn(u64) -> Shape + Send + Sync + 'static) -> Supply {
        Supply(Arc::new(shape))
    }

    /// The same shape for all bodies.
    pub fn same(shape: Shape) -> Supply {
        Supply::new(move |_| shape.clone())
    }

    /// Shapes of a list, one after the other, again and again.
    pub fn cycle(shapes: Vec<Shape>) -> Supply {
        let n = shapes.len().max(1) as u64;
        Supply::new(move |k| shapes.get((k % n) as usize).cloned().unwrap_or_else(Shape::nothing))
    }

    /// The shape of a body by its number.
    pub fn at(&self, number: u64) -> Shape {
        (self.0)(number)
    }
}

impl fmt::Debug for Supply {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Supply")
    }
}

/// When bodies are inserted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Bodies per second [1/s].
    Rate(f64),
    /// Mass per second [kg/s].
    MassRate(f64),
    /// All at once.
    AtOnce,
}

/// Bodies that are inserted during a run, with the names `name-1`, `name-2`, …: in a box, at random places where they touch
/// nothing, in a periodic cell no images either. A body for which there is no room waits, and the others wait behind it.
///
/// ```
/// use riprap::prelude::*;
///
/// let rock = Material::new("rock").density(2700.0).friction(0.5);
/// let mut scene = Scene::builder();
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &rock);
/// let balls = Supply::same(Shape::sphere(0.02)?);
/// scene.insert(Insertion::new("feed", balls, &rock).within([-0.2, -0.2, 0.5], [0.2, 0.2, 0.8]).rate(50.0), &rock);
/// scene.remove(Removal::outside([-0.1, -0.1, -1.0], [0.1, 0.1, 1.0]));
///
/// let mut run = Simulation::new(scene.build()?, MoreauJean::new(1e-3))?;
/// run.until(1.0, &mut ())?;
/// let account = &run.state().population.account;
/// assert_eq!(account.inserted, 50);
/// assert_eq!(run.scene().bodies().n_movable() as u64, account.inserted - account.removed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Insertion {
    /// Name, unique in the scene; its bodies are numbered from 1.
    pub name: String,
    /// Shapes of the bodies.
    pub supply: Supply,
    /// Name of their material, which has a density.
    pub material: String,
    /// Lower and upper corner of the box in which their bounding spheres appear [m]. Along an axis on which a sphere is too
    /// large, its centre is in the middle.
    pub within: [Vec3; 2],
    /// When they are inserted.
    pub pace: Pace,
    /// When the first one is inserted [s].
    pub start: f64,
    /// Bodies that would be due at this time [s] or later are not inserted.
    pub until: f64,
    /// Number of bodies at most.
    pub count: Option<u64>,
    /// Their velocity, in a sheared periodic cell relative to its flow [m/s].
    pub velocity: Vec3,
    /// Their angular velocity [rad/s].
    pub angular_velocity: Vec3,
    /// Whether they have random orientations.
    pub turned: bool,
    /// Seed of places and orientations; that of the scene by default.
    pub seed: Option<u64>,
}

impl Insertion {
    /// Bodies of a material, one per second at the origin unless something else is said.
    pub fn new(name: &str, supply: Supply, material: &Material) -> Insertion {
        Insertion {
            name: name.to_owned(),
            supply,
            material: material.name.clone(),
            within: [Vec3::zeros(); 2],
            pace: Pace::Rate(1.0),
            start: 0.0,
            until: f64::INFINITY,
            count: None,
            velocity: Vec3::zeros(),
            angular_velocity: Vec3::zeros(),
            turned: true,
            seed: None,
        }
    }

    /// Sets the box in which they appear, by its lower and upper corner [m].
    pub fn within(mut self, min: [f64; 3], max: [f64; 3]) -> Self {
        self.within = [min.into(), max.into()];
        self
    }

    /// Inserts a number of bodies per second [1/s].
    pub fn rate(mut self, rate: f64) -> Self {
        self.pace = Pace::Rate(rate);
        self
    }

    /// Inserts a mass per second [kg/s].
    pub fn mass_rate(mut self, rate: f64) -> Self {
        self.pace = Pace::MassRate(rate);
        self
    }

    /// Inserts a number of bodies at a time [s].
    pub fn at(mut self, t: f64, count: u64) -> Self {
        (self.pace, self.start, self.count) = (Pace::AtOnce, t, Some(count));
        self
    }

    /// Sets the number of bodies at most.
    pub fn count(mut self, count: u64) -> Self {
        self.count = Some(count);
        self
    }

    /// Sets when it starts and ends [s].
    pub fn between(mut self, start: f64, until: f64) -> Self {
        (self.start, self.until) = (start, until);
        self
    }

    /// Sets the velocity of new bodies [m/s].
    pub fn velocity(mut self, velocity: [f64; 3]) -> Self {
        self.velocity = velocity.into();
        self
    }

    /// Sets the angular velocity of new bodies [rad/s].
    pub fn spin(mut self, angular_velocity: [f64; 3]) -> Self {
        self.angular_velocity = angular_velocity.into();
        self
    }

    /// Gives new bodies the orientation of their shape, instead of a random one.
    pub fn upright(mut self) -> Self {
        self.turned = false;
        self
    }

    /// Sets the seed of places and orientations.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// When the next body is due [s]; `None` if there are no more.
    pub(crate) fn due(&self, feed: &FeedState) -> Option<f64> {
        let (number, mass) = feed.before;
        let after = match self.pace {
            Pace::Rate(rate) => feed.next.saturating_sub(number) as f64 / rate,
            Pace::MassRate(rate) => (feed.mass - mass) / rate,
            Pace::AtOnce => 0.0,
        };
        let due = self.start.max(feed.from) + after;
        // Sums of steps are rounded.
        (self.count.is_none_or(|n| feed.next < n) && due < self.until - SOON).then_some(due)
    }
}

/// Times that differ by less are the same [s].
pub(crate) const SOON: f64 = 1e-9;

/// Which bodies are removed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Where {
    /// Those with the centre of mass below a height [m]: its z, in planar scenes its y. In a periodic cell it is that of
    /// their image within the cell.
    Below(f64),
    /// Those with the centre of mass outside of a box, given by its lower and upper corner [m]. In a periodic cell it is that
    /// of their image within the cell.
    Outside([Vec3; 2]),
    /// All, once, at a time [s].
    At(f64),
}

/// Free bodies that are removed during a run, before the step that follows: their mass, momenta and energies are recorded.
/// Bodies of mechanisms, fixed and driven bodies, those moved by servos and nodes of flexible bodies are never removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Removal {
    /// Which of them.
    pub place: Where,
    /// Patterns of their names, in which `*` stands for any characters: `feed-*` also means pieces of `feed-3`.
    pub bodies: Vec<String>,
}

impl Removal {
    /// Removes bodies below a height [m].
    pub fn below(height: f64) -> Removal {
        Removal { place: Where::Below(height), bodies: vec!["*".to_owned()] }
    }

    /// Removes bodies outside of a box, given by its lower and upper corner [m].
    pub fn outside(min: [f64; 3], max: [f64; 3]) -> Removal {
        let place = Where::Outside([min.into(), max.into()]);
        Removal { place, ..Removal::below(0.0) }
    }

    /// Removes bodies at a time [s].
    pub fn at(t: f64) -> Removal {
        Removal { place: Where::At(t), ..Removal::below(0.0) }
    }

    /// Restricts it to bodies whose names match one of some patterns, such as `feed-*`.
    pub fn only<'a>(mut self, bodies: impl IntoIterator<Item = &'a str>) -> Removal {
        self.bodies = bodies.into_iter().map(str::to_owned).collect();
        self
    }

    /// Whether it is for the body with a name.
    pub fn is_for(&self, name: &str) -> bool {
        self.bodies.iter().any(|pattern| matches(pattern, name))
    }
}

/// Whether a name matches a pattern with `*` for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// What is inserted into a scene and removed from it.
#[derive(Clone, Debug, Default)]
pub struct Population {
    /// The insertions.
    pub insertions: Vec<Insertion>,
    /// Index of the material of each of them.
    pub(crate) materials: Vec<u32>,
    /// Seed of each of them.
    pub(crate) seeds: Vec<u64>,
    /// The removals.
    pub removals: Vec<Removal>,
}

/// Progress of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeedState {
    /// Number of bodies inserted so far, also before this run, which is the number of the next one.
    pub next: u64,
    /// Their mass [kg].
    pub mass: f64,
    /// Number of those that were inserted later than in the step in which they were due, for lack of room.
    pub waited: u64,
    /// Whether the next one is due and waits for room.
    pub waits: bool,
    /// Time up to which insertions are done [s].
    pub seen: f64,
    /// Number and mass [kg] of those that an earlier run inserted, from whose end this one started.
    pub before: (u64, f64),
    /// Time before which nothing is due [s].
    pub from: f64,
}

impl Default for FeedState {
    fn default() -> Self {
        FeedState {
            next: 0,
            mass: 0.0,
            waited: 0,
            waits: false,
            seen: f64::MIN,
            before: (0, 0.0),
            from: f64::MIN,
        }
    }
}

/// A body that was inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsertedBody {
    /// Its id: see [`super::Body`].
    pub id: u32,
    /// Index of the insertion that it comes from.
    pub insertion: u32,
    /// Its number there, from 0.
    pub number: u64,
}

/// Counts and sums of what was inserted and removed since the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PopulationAccount {
    /// Number of bodies inserted.
    pub inserted: u64,
    /// Number of bodies removed; pieces of a stone count one by one.
    pub removed: u64,
    /// What entered with those inserted.
    pub gained: Lost,
    /// What left with those removed.
    pub lost: Lost,
}

/// What has been inserted and removed: everything that a restart needs to continue with the described scene, together with
/// [`super::DegradationState::gone`] for described bodies. Empty in scenes in which nothing is inserted or removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PopulationState {
    /// Progress of each insertion.
    pub feeds: Vec<FeedState>,
    /// Inserted bodies of which something is left, in the order of their slots, which is that of their ids.
    pub inserted: Vec<InsertedBody>,
    /// For each removal, whether it is over: those at a time happen once.
    pub done: Vec<bool>,
    /// Counts and sums.
    pub account: PopulationAccount,
}

/// An inserted body before it has a place.
pub(crate) struct Fresh {
    pub shape: Shape,
    pub mass: MassProperties,
    pub material: u32,
    pub locks: Locks,
}

impl Scene {
    /// What is inserted and removed during a run; `None` if nothing is.
    pub fn population(&self) -> Option<&Population> {
        self.population.as_deref()
    }

    /// Shape and mass of a body of an insertion by its number; `None` if it has no mass.
    pub(crate) fn fresh(&self, insertion: usize, number: u64) -> Option<Fresh> {
        let population = self.population()?;
        let material = *population.materials.get(insertion)?;
        let shape = population.insertions[insertion].supply.at(number);
        let density = self.materials[material as usize].density?;
        let mass = shape.mass_properties(density).filter(|m| m.mass > 0.0)?;
        let locks = if self.planar { Locks::PLANAR } else { Locks::NONE };
        Some(Fresh { shape, mass, material, locks })
    }

    /// Whether bodies of a material are in the scene or can be inserted.
    pub(crate) fn uses_material(&self, material: usize) -> bool {
        let inserted = self.population().map_or(&[][..], |p| &p.materials);
        self.colliders.iter().map(|c| &c.material).chain(inserted).any(|m| *m as usize == material)
    }

    /// Which bodies can be removed, by slot: the free ones, without those that servos move.
    pub(crate) fn removable(&self) -> Vec<bool> {
        let Bodies { movable, carried, .. } = &self.bodies;
        let free = movable.iter().zip(carried).map(|(movable, on)| *movable && on.is_none());
        let mut removable: Vec<bool> = free.collect();
        for (body, _) in self.servos().filter(|(body, _)| self.contains(*body)) {
            removable[self.slot(body)] = false;
        }
        removable
    }
}

/// Number of bodies of an insertion that are checked before a run, and whose sizes count.
pub(super) const SAMPLE: u64 = 100;

impl SceneBuilder {
    /// What is inserted and removed, with materials and seeds; `None` if nothing is.
    pub(super) fn population(&self, errors: &mut Vec<BuildError>) -> Option<Population> {
        let mut population = Population {
            insertions: self.insertions.clone(),
            removals: self.removals.clone(),
            ..Population::default()
        };
        for (k, insertion) in self.insertions.iter().enumerate() {
            let item = Item::Insertion(insertion.name.clone());
            if self.insertions[..k].iter().any(|other| other.name == insertion.name) {
                let name = insertion.name.clone();
                errors.push(BuildError::Duplicate { what: "insertions", name });
            }
            let Some(m) = self.material_index(&insertion.material, &item, errors) else { continue };
            insertion.check(self.planar, &self.materials[m], errors);
            population.materials.push(m as u32);
            let own = insertion.seed.unwrap_or_else(|| seed_of(self.seed, k as u64));
            population.seeds.push(own);
        }
        (!self.insertions.is_empty() || !self.removals.is_empty()).then_some(population)
    }

    /// The state before anything is inserted or removed.
    pub(super) fn initial_population(&self) -> PopulationState {
        PopulationState {
            feeds: vec![FeedState::default(); self.insertions.len()],
            done: vec![false; self.removals.len()],
            ..PopulationState::default()
        }
    }

    /// Sizes of the first bodies of all insertions [m].
    pub(super) fn inserted_sizes(&self) -> Vec<f64> {
        let sizes = |i: &Insertion| -> Vec<f64> {
            let n = SAMPLE.min(i.count.unwrap_or(SAMPLE));
            (0..n).filter_map(|k| i.supply.at(k).size()).filter(|size| *size > 0.0).collect()
        };
        self.insertions.iter().flat_map(sizes).collect()
    }
}

/// A seed for something with a number, from the seed of what it belongs to.
pub(crate) fn seed_of(seed: u64, number: u64) -> u64 {
    mixed(seed.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number.wrapping_add(1))))
}

#[cfg(test)]
mod tests;
