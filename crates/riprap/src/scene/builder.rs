//! From a description to a [`Scene`]: errors are collected, and `build` reports them all.

use super::checks::{check_cohesion, check_law, overlaps};
use super::degradation::{check_stones, degrades};
use super::mechanism::keep_contacts_direct;
use super::population::check_population;
use super::{
    Bodies, Body, BodyDescription, BodyJoint, BuildError, BuildErrors, Cell, ContactLaw, Detection,
    Flexible, Insertion, Item, Kind, Load, Locks, Material, MechanismId, Motion, On, PairLaw,
    PairTable, PointContact, Removal, ResolvedPoint, Rope, Scene, State, Twist,
};
use crate::detect::{Collider, ColliderSet, Geometry, Method};
use crate::flexible::Structure;
use crate::math::{Mat3, Pose, Vec3};
use crate::multibody::{Link, Mechanism, Multibody};
use crate::shape::{MassProperties, Shape};
use std::collections::HashMap;
use std::sync::Arc;

/// Collects a description; [`SceneBuilder::build`] checks and freezes it.
///
/// ```
/// use riprap::prelude::*;
///
/// let rock = Material::new("rock").density(2700.0).friction(0.6);
/// let steel = Material::new("steel").density(7800.0).friction(0.3);
/// let mut scene = Scene::builder();
/// scene.gravity([0.0, 0.0, -9.81]);
/// scene.pair("rock", "steel", PairLaw::combined(&rock, &steel));
/// scene.add_fixed(Shape::open_box([0.4, 0.4, 0.3], 0.02)?, Pose::IDENTITY, &steel);
/// let stone = scene.add(BodyDescription::new(Shape::cuboid([0.05; 3])?, &rock).at([0.0, 0.0, 0.1]), &rock);
///
/// // All mistakes are reported together.
/// scene.add(BodyDescription::new(Shape::sphere(0.05)?, &rock).at([0.0, 0.0, 0.1]), &rock);
/// let errors = scene.build().unwrap_err();
/// assert!(errors.to_string().contains("overlap"));
/// # let _ = stone;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SceneBuilder {
    pub(super) gravity: Option<Vec3>,
    pub(super) drag: f64,
    pub(super) seed: u64,
    pub(super) planar: bool,
    pub(super) materials: Vec<Material>,
    pairs: Vec<(String, String, PairLaw)>,
    pub(super) cell: Option<Cell>,
    pub(super) bodies: Vec<BodyDescription>,
    alert: Option<f64>,
    method: Method,
    largest_overlap: f64,
    pub(super) mechanisms: Vec<Mechanism>,
    pub(super) flexible: Vec<Flexible>,
    pub(super) point_contacts: Vec<PointContact>,
    pub(super) joints: Vec<BodyJoint>,
    pub(super) ropes: Vec<Rope>,
    pub(super) apart: Vec<(On, On)>,
    pub(super) insertions: Vec<Insertion>,
    pub(super) removals: Vec<Removal>,
    pub(super) errors: Vec<BuildError>,
}

impl Default for SceneBuilder {
    fn default() -> Self {
        SceneBuilder {
            gravity: None,
            drag: 0.0,
            seed: 0,
            planar: false,
            materials: Vec::new(),
            pairs: Vec::new(),
            cell: None,
            bodies: Vec::new(),
            alert: None,
            method: Method::default(),
            largest_overlap: 1e-3,
            mechanisms: Vec::new(),
            flexible: Vec::new(),
            point_contacts: Vec::new(),
            joints: Vec::new(),
            ropes: Vec::new(),
            apart: Vec::new(),
            insertions: Vec::new(),
            removals: Vec::new(),
            errors: Vec::new(),
        }
    }
}

impl SceneBuilder {
    /// Sets the drag on free bodies [1/s], none by default; see [`Scene::drag`].
    pub fn drag(&mut self, rate: f64) -> &mut Self {
        self.drag = rate.max(0.0);
        self
    }

    /// Sets the seed from which stones draw their strengths, 0 by default; see [`super::Fragmentation`].
    pub fn seed(&mut self, seed: u64) -> &mut Self {
        self.seed = seed;
        self
    }

    /// Sets the acceleration of gravity [m/s²]; the default is 9.81 downwards (−z, or −y in a
    /// planar scene).
    pub fn gravity(&mut self, gravity: [f64; 3]) -> &mut Self {
        self.gravity = Some(Vec3::from(gravity));
        self
    }

    /// Makes the scene planar, in the x–y plane: z, rx and ry of every body are locked.
    pub fn planar(&mut self) -> &mut Self {
        self.planar = true;
        self
    }

    /// Sets the gap up to which contacts are detected [m]; the default is 1 % of the mean grain
    /// size, or the largest gap at which shapes adhere.
    pub fn alert(&mut self, alert: f64) -> &mut Self {
        self.alert = Some(alert);
        self
    }

    /// Sets how polyhedra are tested against each other.
    pub fn detection(&mut self, method: Method) -> &mut Self {
        self.method = method;
        self
    }

    /// Sets the initial overlap that is accepted, as a fraction of the smaller body's size [–]; the
    /// default is 1e-3.
    pub fn accept_overlap(&mut self, share: f64) -> &mut Self {
        self.largest_overlap = share;
        self
    }

    /// Registers a material. Bodies register theirs when added with [`SceneBuilder::add`].
    pub fn material(&mut self, material: &Material) -> &mut Self {
        match self.materials.iter().find(|m| m.name == material.name) {
            Some(known) if known == material => {}
            Some(_) => self.errors.push(BuildError::Duplicate {
                what: "different materials",
                name: material.name.clone(),
            }),
            None => self.materials.push(material.clone()),
        }
        self
    }

    /// Sets the law between two materials, instead of the one derived from both.
    pub fn pair(&mut self, a: &str, b: &str, law: PairLaw) -> &mut Self {
        self.pairs.push((a.to_owned(), b.to_owned(), law));
        self
    }

    /// Adds a body and its material.
    pub fn add(&mut self, body: BodyDescription, material: &Material) -> Body {
        self.material(material);
        self.add_body(body)
    }

    /// Adds a body whose material is registered separately.
    pub fn add_body(&mut self, body: BodyDescription) -> Body {
        self.bodies.push(body);
        Body(self.bodies.len() as u32 - 1)
    }

    /// The bodies so far, in the order of their handles.
    pub fn bodies(&self) -> &[BodyDescription] {
        &self.bodies
    }

    /// The description of a body so far, to complete it, for example with laws that refer to bodies that were added later.
    pub fn description_mut(&mut self, body: Body) -> Option<&mut BodyDescription> {
        self.bodies.get_mut(body.0 as usize)
    }

    /// Adds a fixed body.
    pub fn add_fixed(&mut self, shape: Shape, pose: Pose, material: &Material) -> Body {
        let mut body = BodyDescription::new(shape, material).fixed();
        body.pose = pose;
        self.add(body, material)
    }

    /// Inserts bodies during the run, and registers their material.
    pub fn insert(&mut self, insertion: Insertion, material: &Material) -> &mut Self {
        self.material(material);
        self.insertions.push(insertion);
        self
    }

    /// Removes bodies during the run.
    pub fn remove(&mut self, removal: Removal) -> &mut Self {
        self.removals.push(removal);
        self
    }

    /// Adds the body that stands for the world, if something is attached to it and there is none.
    fn add_world(&self, bodies: &mut Bodies, shapes: &mut Vec<Shape>, initial: &mut State) {
        if self.needs_world() && !bodies.names.iter().any(|n| n == Bodies::WORLD) {
            bodies.push_world();
            shapes.push(Shape::nothing());
            initial.q.push(Pose::IDENTITY);
            initial.v.push(Twist::default());
        }
    }

    /// Checks the description and freezes it; the error lists all mistakes.
    pub fn build(&self) -> Result<Scene, BuildErrors> {
        let mut errors = self.errors.clone();
        self.check_materials(&mut errors);
        self.check_cell(&mut errors);
        let pairs = self.pair_table(&mut errors);
        let names = self.names(&mut errors);

        let mut bodies = Bodies::default();
        let mut colliders = Vec::new();
        let mut initial = State::default();
        for (i, body) in self.bodies.iter().enumerate() {
            let item = Item::Body(names[i].clone());
            self.add_to(body, i, &item, &mut bodies, &mut colliders, &mut initial, &mut errors);
        }
        bodies.names = names;
        let mut shapes: Vec<Shape> = self.bodies.iter().map(|b| b.shape.clone()).collect();
        self.add_world(&mut bodies, &mut shapes, &mut initial);
        let gravity = self.gravity.unwrap_or_else(|| self.default_gravity());
        if !gravity.iter().all(|x| x.is_finite()) {
            let item = Item::Scene;
            errors.push(BuildError::NotFinite { item, what: "gravity" });
            return Err(BuildErrors(errors));
        }
        let mut mechanisms = self.build_mechanisms(
            gravity,
            &mut bodies,
            &mut shapes,
            &mut colliders,
            &mut initial,
            &mut errors,
        );
        let flexible = self.build_flexible(
            gravity,
            &mut bodies,
            &mut shapes,
            &mut colliders,
            &mut initial,
            &mut errors,
        );
        let points = self.resolve_points(&bodies, &mut errors);
        let joints = self.resolve_joints(&bodies, &mut errors);
        let ropes = self.resolve_ropes(&bodies, &mut initial, &mut errors);
        let only_bodies = self.mechanisms.is_empty() && self.flexible.is_empty();
        let population = self.population(&mut errors);
        initial.population = self.initial_population();
        let none_comes = self.insertions.is_empty();
        if !bodies.movable.contains(&true) && only_bodies && none_comes && errors.is_empty() {
            errors.push(BuildError::NothingMoves);
        }
        if !errors.is_empty() {
            return Err(BuildErrors(errors));
        }

        let loads = self.loads();
        let mean_size = mean_size(&bodies, &loads, &self.inserted_sizes());
        let reach = || {
            let lengths = flexible.iter().map(Structure::reach);
            mechanisms.iter().map(Multibody::reach).chain(lengths).max_by(f64::total_cmp)
        };
        let grain_size = mean_size.unwrap_or(1.0);
        let length = mean_size.or_else(reach).unwrap_or(1.0);
        let resolution = smallest_clearance(&points, &initial, length);
        let laws = pairs.all().iter().chain(points.iter().map(|p| &p.law));
        let detection =
            self.detection_of(grain_size, laws).map_err(|error| BuildErrors(vec![error]))?;
        let first_link = |m| bodies.carried_by(MechanismId(m), Link(0)).unwrap_or(0);
        let first_links = (0..mechanisms.len() as u32).map(first_link).collect();
        let apart = self.pairs_apart(&mechanisms, &flexible, &bodies);
        keep_contacts_direct(&mut mechanisms, &bodies, &points, &apart, &mut initial);
        let scene = Scene {
            gravity,
            drag: self.drag,
            planar: self.planar,
            bodies,
            colliders,
            collider_set: ColliderSet::fresh(),
            shapes,
            materials: self.materials.clone(),
            pairs,
            cell: self.cell.clone(),
            detection,
            grain_size,
            resolution,
            apart,
            mechanisms,
            first_links,
            flexible,
            points,
            joints,
            ropes,
            loads,
            initial,
            seed: self.seed,
            degrades: self.materials.iter().any(degrades),
            population: population.map(Arc::new),
        };
        self.check_built(&scene)?;
        Ok(scene)
    }

    /// The checks that need the whole scene.
    fn check_built(&self, scene: &Scene) -> Result<(), BuildErrors> {
        let errors = super::cell::check_sizes(scene);
        if !errors.is_empty() {
            return Err(BuildErrors(errors));
        }
        let mut errors = overlaps(scene, (0.0, &scene.initial.q), self.largest_overlap, |_| true);
        check_stones(scene, &mut errors);
        errors.extend(check_cohesion(scene).err());
        check_population(scene, &mut errors);
        if errors.is_empty() { Ok(()) } else { Err(BuildErrors(errors)) }
    }

    /// The loads that follow laws, with their bodies; laws act on bodies that forces move.
    fn loads(&self) -> Vec<(Body, Load)> {
        let load = |body: &BodyDescription| {
            let servo = match &body.kind {
                Kind::Servo(servo) => Some(servo.clone()),
                Kind::Free => None,
                _ => return Load::default(),
            };
            Load { force: body.force_law.clone(), torque: body.torque_law.clone(), servo }
        };
        let all = self.bodies.iter().enumerate().map(|(id, body)| (Body(id as u32), load(body)));
        all.filter(|(_, load)| !load.is_none()).collect()
    }

    /// Settings of detection for a mean size of grains [m]. All gaps at which shapes adhere are
    /// detected.
    fn detection_of<'a>(
        &self,
        grain_size: f64,
        laws: impl Iterator<Item = &'a PairLaw>,
    ) -> Result<Detection, BuildError> {
        let ranges = laws.filter(|law| law.is_cohesive()).filter_map(|law| law.cohesion_range);
        let alert = self.alert.unwrap_or_else(|| ranges.fold(0.01 * grain_size, f64::max));
        if !(alert >= 0.0 && alert.is_finite()) {
            let (item, range) = (Item::Contact, "a length of 0 m or more");
            return Err(BuildError::OutOfRange { item, what: "alert", value: alert, range });
        }
        Ok(Detection { alert, skin: 0.1 * grain_size, method: self.method })
    }

    /// Gravity on earth, downwards [m/s²].
    pub(super) fn default_gravity(&self) -> Vec3 {
        if self.planar { Vec3::new(0.0, -9.81, 0.0) } else { Vec3::new(0.0, 0.0, -9.81) }
    }

    fn pair_table(&self, errors: &mut Vec<BuildError>) -> PairTable {
        let mut table = PairTable::new(&self.materials);
        for (a, b, law) in &self.pairs {
            let item = Item::Pair(a.clone(), b.clone());
            check_law(&item, law, errors);
            if law.law == ContactLaw::QuasiShock && law.restitution > 0.0 {
                errors.push(BuildError::InelasticRestitution { a: a.clone(), b: b.clone() });
            }
            if let (Some(i), Some(j)) =
                (self.material_index(a, &item, errors), self.material_index(b, &item, errors))
            {
                table.set(i, j, *law);
            }
        }
        table
    }

    pub(super) fn material_index(
        &self,
        name: &str,
        item: &Item,
        errors: &mut Vec<BuildError>,
    ) -> Option<usize> {
        let found = self.materials.iter().position(|m| m.name == name);
        if found.is_none() {
            let known: Vec<&str> = self.materials.iter().map(|m| m.name.as_str()).collect();
            errors.push(BuildError::UnknownMaterial {
                item: item.clone(),
                name: name.to_owned(),
                known: known.join(", "),
            });
        }
        found
    }

    fn names(&self, errors: &mut Vec<BuildError>) -> Vec<String> {
        let mut seen = HashMap::new();
        let mut names = Vec::with_capacity(self.bodies.len());
        for (i, body) in self.bodies.iter().enumerate() {
            let name =
                if body.name.is_empty() { format!("body-{}", i + 1) } else { body.name.clone() };
            if seen.insert(name.clone(), i).is_some() {
                errors.push(BuildError::Duplicate { what: "bodies", name: name.clone() });
            }
            names.push(name);
        }
        names
    }

    fn add_to(
        &self,
        body: &BodyDescription,
        index: usize,
        item: &Item,
        bodies: &mut Bodies,
        colliders: &mut Vec<Collider>,
        initial: &mut State,
        errors: &mut Vec<BuildError>,
    ) {
        let movable = matches!(body.kind, Kind::Free | Kind::Servo(_));
        for (what, value) in [
            ("position", body.pose.position),
            ("velocity", body.velocity),
            ("angular velocity", body.angular_velocity),
            ("force", body.force),
            ("torque", body.torque),
            ("centre of mass", body.centre.unwrap_or_else(Vec3::zeros)),
            ("rotation", body.pose.rotation.imag() * body.pose.rotation.w),
        ] {
            if !value.iter().all(|x| x.is_finite()) {
                errors.push(BuildError::NotFinite { item: item.clone(), what });
            }
        }
        self.check_dimension(body, item, errors);
        let material = self.material_index(&body.material, item, errors).unwrap_or(0);
        let properties = if movable { self.mass_of(body, item, errors) } else { None };
        let locks = match &body.kind {
            Kind::Servo(servo) => {
                servo.check(item, self.planar, errors);
                servo.locks()
            }
            _ if self.planar => body.locks.union(Locks::PLANAR),
            _ => body.locks,
        };

        // Fixed and moving bodies rotate about the origin of their shape, free ones about their
        // centre of mass.
        let massless =
            MassProperties { mass: f64::INFINITY, centre: Vec3::zeros(), inertia: Mat3::zeros() };
        let m = properties.unwrap_or(massless);
        bodies.give_id();
        bodies.push_solid(movable, &m, locks);
        bodies.force.push(body.force);
        bodies.torque.push(body.torque);
        bodies.size.push(body.shape.size().unwrap_or(0.0));
        bodies.motion.push(match &body.kind {
            Kind::Moving(motion) => Some(motion.clone()),
            _ => None,
        });

        let first = colliders.len();
        for (pose, shape) in body.shape.parts() {
            let Some(geometry) = Geometry::of(&shape) else { continue };
            let pose = Pose { position: pose.position - m.centre, rotation: pose.rotation };
            colliders.push(Collider {
                body: index as u32,
                geometry,
                pose,
                material: material as u32,
                movable,
            });
        }
        bodies.radius.push(reach_of(&colliders[first..]));
        bodies.carried.push(None);

        let free = |k: usize| if locks.0[k] { 0.0 } else { 1.0 };
        let position = match &body.kind {
            Kind::Moving(Motion::Position { linear, .. }) => linear.at(0.0),
            _ => body.pose.point(m.centre),
        };
        let velocity = match &self.cell {
            None => body.velocity,
            Some(cell) => body.velocity + cell.initial_flow(position),
        };
        initial.q.push(Pose { position, rotation: body.pose.rotation });
        initial.v.push(match &body.kind {
            Kind::Free | Kind::Servo(_) => Twist {
                linear: Vec3::from_fn(|k, _| velocity[k] * free(k)),
                angular: Vec3::from_fn(|k, _| body.angular_velocity[k] * free(k + 3)),
            },
            Kind::Fixed => Twist::default(),
            Kind::Moving(motion) => motion.at(0.0).1,
        });
    }
}

/// Whether an inertia tensor is that of a ball.
pub(super) fn is_round(inertia: &Mat3) -> bool {
    (inertia - Mat3::identity() * inertia[(0, 0)]).abs().max() <= 1e-14 * inertia[(0, 0)]
}

/// Radius of a bounding sphere of the colliders around the origin of a body [m].
pub(super) fn reach_of(colliders: &[Collider]) -> f64 {
    let reach = |c: &Collider| {
        let placed = crate::detect::Placed::new(c, &Pose::IDENTITY);
        placed.centre.norm() + placed.radius
    };
    colliders.iter().map(reach).fold(0.0, f64::max)
}

/// Mean size of the free bodies without those of servos, and of the first of those inserted; if there are none, of the bodies of
/// mechanisms and the nodes of flexible bodies that have a shape.
fn mean_size(bodies: &Bodies, loads: &[(Body, Load)], inserted: &[f64]) -> Option<f64> {
    let mean = |of: &dyn Fn(usize) -> bool, more: &[f64]| {
        let own = (0..bodies.len()).filter(|&i| of(i)).map(|i| bodies.size[i]);
        let sizes: Vec<f64> = own.chain(more.iter().copied()).collect();
        (!sizes.is_empty()).then(|| sizes.iter().sum::<f64>() / sizes.len() as f64)
    };
    let first_node = bodies.first_nodes.first().map_or(bodies.len(), |first| *first as usize);
    let carried = |i: usize| bodies.carried[i].is_some() || i >= first_node;
    let servos: Vec<u32> =
        loads.iter().filter(|(_, load)| load.servo.is_some()).map(|(body, _)| body.0).collect();
    let free = |i: usize| bodies.movable[i] && !servos.contains(&(i as u32));
    let drives = || mean(&|i| bodies.movable[i], &[]);
    mean(&free, inserted)
        .or_else(drives)
        .or_else(|| mean(&|i| carried(i) && bodies.size[i] > 0.0, &[]))
}

/// The smallest initial gap of a point contact [m] that is not closed, at most `size`.
fn smallest_clearance(points: &[ResolvedPoint], initial: &State, size: f64) -> f64 {
    let gap = |c: &ResolvedPoint| {
        let [plane, point] = c.bodies.map(|b| &initial.q[b as usize]);
        let apart = point.point(c.places[1]) - plane.point(c.places[0]);
        plane.vector(c.normal).dot(&apart)
    };
    points.iter().map(gap).filter(|gap| *gap > 1e-6 * size).fold(size, f64::min)
}

#[cfg(test)]
mod tests;
