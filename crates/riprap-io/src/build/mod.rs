//! From a scene file to a scene: shapes are built, grains are generated and placed, and everything is passed to the
//! builder of the simulator. Its errors are returned as [`SceneErrors`] with their location in the file.

mod bed;
mod flexible;
mod grains;
mod loads;
mod mechanisms;
mod memory;
mod notes;
mod population;
mod settle;
mod shapes;

pub use settle::{Settled, Settling};

use std::ops::Range;

use riprap::friction::{
    Admm, Apgd, BarzilaiBorwein, Coloured, ConeOptions, ConjugateGradient, ContactSolver,
    GaussSeidel, GaussSeidelOptions, InteriorPoint, ProjectedGaussSeidel, ProjectedJacobi,
};
use riprap::math::{Mat3, Pose, Quat, Vec3};
use riprap::multibody::{GROUND, Link, Marker, Mechanism, Part};
use riprap::scene::{
    Body, BodyDescription, BodyJoint, BuildError, FlexibleId, Item, Kind, Law, Locks, MechanismId,
    Motion, On, PairLaw, PointContact, Rope, Scene, SceneBuilder,
};
use riprap::scheme::{
    ConeComplementarity, DormandPrince, FrictionLaw, GeneralizedAlpha, MoreauJean, Penalty,
    RigidEvents, Scheme,
};
use riprap::shape::Shape;
use riprap::simulation::OnUnconverged;

use crate::scene_file::{
    self as file, BodyKind, Component, Problem, Quaternion, SceneErrors, SceneFile, SolverMethod,
    Target, TimeScheme, Translation, Vector,
};
use crate::stop::Stop;

/// A scene ready to run.
#[derive(Clone, Debug)]
pub struct Built {
    /// The scene. Its bodies are those of [`SceneFile::bodies`], followed by the groups of grains, the bodies of the
    /// mechanisms and the nodes of the flexible bodies.
    pub scene: Scene,
    /// The groups of grains, in file order.
    pub groups: Vec<Group>,
    /// The settling before t = 0, if any.
    pub settling: Option<Settling>,
    /// For each mechanism, the links of its bodies.
    links: Vec<Vec<u32>>,
}

/// A group of grains in a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Indices of its bodies.
    pub bodies: Range<usize>,
    /// Sieve sizes or diameters of its grains [m]; empty if they all have one given shape.
    pub sizes: Vec<f64>,
}

impl Built {
    /// The body that a target of the file refers to.
    pub fn body(&self, target: Target) -> Body {
        let index = match target {
            Target::MechanismBody { mechanism, body } => {
                let link = Link(self.links[mechanism][body]);
                return self.scene.link_body(MechanismId(mechanism as u32), link);
            }
            Target::Node { flexible, node } => {
                return self.scene.node_body(FlexibleId(flexible as u32), node as u32);
            }
            Target::Body(index) => index,
            Target::Grain { group, index } => self.groups[group].bodies.start + index,
        };
        Body(index as u32)
    }
}

impl SceneFile {
    /// Builds the scene. Mistakes found at this stage are collected, each with its location in the file.
    pub fn build(&self) -> Result<Built, SceneErrors> {
        self.build_within(memory::available())
    }

    /// Builds the scene unless it would need more than `memory` [bytes].
    fn build_within(&self, memory: u64) -> Result<Built, SceneErrors> {
        let mut problems = Vec::new();
        memory::check(self, memory, &mut problems);
        if !problems.is_empty() {
            return Err(self.errors(problems));
        }
        let named = self.named_shapes(&mut problems);
        let mut bodies = self.body_descriptions(&named, &mut problems);
        let mut groups = Vec::new();
        for (index, grains) in self.grains.iter().enumerate() {
            let first = bodies.len();
            match grains::generate(self, grains, None) {
                Ok((grains, sizes)) => {
                    bodies.extend(grains);
                    let bodies = first..bodies.len();
                    groups.push(Group { name: self.grains[index].name.clone(), bodies, sizes });
                }
                Err(message) => {
                    let message = format!("grains `{}`: {message}", grains.name);
                    problems.push(Problem::new(place(&self.source.grains, index), message));
                }
            }
        }
        let mechanisms: Vec<Mechanism> = (0..self.mechanisms.len())
            .map(|index| self.mechanism(index, &named, &mut problems))
            .collect();
        let flexible = self.flexible_bodies(&named, &mut problems);
        if !problems.is_empty() {
            return Err(self.errors(problems));
        }

        // A run that starts from the end of another one takes its grains from there.
        let settling = match self.run.start_from {
            Some(_) => None,
            None => settle::Plan::new(self, &groups),
        };
        let mut builder = self.builder();
        for body in &bodies {
            builder.add_body(body.clone());
        }
        for mechanism in mechanisms {
            builder.add_mechanism(mechanism);
        }
        for body in flexible {
            builder.add_flexible(body);
        }
        let links: Vec<Vec<u32>> = self.mechanisms.iter().map(mechanisms::links).collect();
        let on = |target: Target| match target {
            Target::Body(index) => On::Body(Body(index as u32)),
            Target::Grain { group, index } => {
                let group: &Group = &groups[group];
                On::Body(Body((group.bodies.start + index) as u32))
            }
            Target::MechanismBody { mechanism, body } => {
                On::Link(MechanismId(mechanism as u32), Link(links[mechanism][body]))
            }
            Target::Node { flexible, node } => On::Node(FlexibleId(flexible as u32), node as u32),
        };
        let placed = self.placed(&builder)?;
        for joint in &self.joints {
            builder.add_joint(joint_of(joint, on, &bodies, placed.as_ref()));
        }
        for contact in &self.point_contacts {
            let place = |body: Option<Target>, at: Vector| (body.map_or(On::World, on), at.into());
            let file::PointContact { name, point, plane, friction, restitution, law } =
                contact.clone();
            builder.add_point_contact(PointContact {
                name,
                point: place(point.body, point.position),
                plane: place(plane.body, plane.position),
                normal: plane.normal.into(),
                law: PairLaw { friction, restitution, law, ..PairLaw::SMOOTH },
            });
        }
        for rope in &self.ropes {
            let file::Rope { name, points, length, breaking_load } = rope.clone();
            let place = |p: &file::Place| (p.body.map_or(On::World, on), p.position.into());
            let path = points.iter().map(place).collect();
            builder.add_rope(Rope { name, path, length, breaking_load });
        }
        for [a, b] in &self.ignored_contacts {
            builder.ignore_contact(on(*a), on(*b));
        }
        self.add_population(&mut builder, &mut problems);
        if !problems.is_empty() {
            return Err(self.errors(problems));
        }
        let scene = builder.build().map_err(|errors| self.build_errors(&errors.0))?;
        let settling = match settling {
            None => None,
            Some(plan) => {
                let built = plan.build(&builder, &scene);
                Some(built.map_err(|errors| self.build_errors(&errors.0))?)
            }
        };
        let built = Built { scene, groups, settling, links };
        self.check_stop(&built)?;
        Ok(built)
    }

    /// Checks that the stop condition names what the scene has.
    fn check_stop(&self, built: &Built) -> Result<(), SceneErrors> {
        if self.run.stop.is_none() {
            return Ok(());
        }
        let columns = crate::output::series_columns(self, built);
        Stop::new(self, &columns).map(|_| ()).map_err(|problem| self.errors(vec![problem]))
    }

    /// The description of a mechanism by its index, for scenes that are built by other means.
    ///
    /// # Panics
    ///
    /// Panics if there is no mechanism with this index.
    pub fn mechanism_description(&self, index: usize) -> Result<Mechanism, SceneErrors> {
        let mut problems = Vec::new();
        let named = self.named_shapes(&mut problems);
        let mechanism = self.mechanism(index, &named, &mut problems);
        if problems.is_empty() { Ok(mechanism) } else { Err(self.errors(problems)) }
    }

    /// The bodies of a group of grains and their sieve sizes or diameters [m]; on failure, the reason. `shape`, if given, replaces the
    /// shape of a group in which all grains have the same one.
    pub fn grain_bodies(
        &self,
        group: usize,
        shape: Option<&Shape>,
    ) -> Result<(Vec<BodyDescription>, Vec<f64>), String> {
        let grains = self.grains.get(group).ok_or_else(|| format!("there is no group {group}"))?;
        grains::generate(self, grains, shape)
    }

    /// The scene without its joints, if a joint connects a node of a flexible body: for the initial poses of nodes and of bodies
    /// of mechanisms.
    fn placed(&self, builder: &SceneBuilder) -> Result<Option<Scene>, SceneErrors> {
        let on_node = |body: &Option<Target>| matches!(body, Some(Target::Node { .. }));
        if !self.joints.iter().any(|joint| joint.between.iter().any(on_node)) {
            return Ok(None);
        }
        let mut builder = builder.clone();
        builder.accept_overlap(f64::INFINITY); // joined bodies may overlap
        builder.build().map(Some).map_err(|errors| self.build_errors(&errors.0))
    }

    /// The time integration scheme specified in the file.
    pub fn scheme(&self) -> Box<dyn Scheme> {
        match self.run.scheme {
            TimeScheme::MoreauJean { .. } => Box::new(self.moreau_jean()),
            TimeScheme::GeneralizedAlpha { rho, formulation } => {
                Box::new(GeneralizedAlpha::new(self.run.dt).rho(rho).variant(formulation))
            }
            TimeScheme::ConeComplementarity { friction_law, recovery } => {
                let mut scheme = ConeComplementarity::new(self.run.dt).law(friction_law);
                scheme.recovery = recovery.unwrap_or(f64::INFINITY);
                scheme.solver = self.contact_solver(friction_law == FrictionLaw::Cone);
                Box::new(scheme)
            }
            TimeScheme::DormandPrince { tolerance } => {
                Box::new(DormandPrince::new(self.run.dt).tolerance(tolerance))
            }
            TimeScheme::Penalty { .. } => {
                Box::new(self.penalty().unwrap_or(Penalty::new(self.run.dt)))
            }
            TimeScheme::RigidEvents { .. } => Box::new(self.rigid_events()),
        }
    }

    /// The event-driven scheme, with the parameters of the file if it specifies this scheme.
    pub fn rigid_events(&self) -> RigidEvents {
        let mut scheme = RigidEvents::new(self.run.dt);
        if let TimeScheme::RigidEvents {
            dt_min,
            gap_tolerance,
            rest_velocity,
            step_control,
            collision_friction,
            facets,
        } = self.run.scheme
        {
            scheme.dt_min = dt_min.unwrap_or(scheme.dt_min);
            scheme.tolerance = gap_tolerance;
            scheme.rest_velocity = rest_velocity;
            scheme.control = step_control;
            scheme.collision_friction = collision_friction;
            // The cone has an even number of facets.
            scheme.dantzig.facets = 2 * facets.div_ceil(2) as usize;
        }
        scheme
    }

    /// The scheme of soft contact, if the file specifies it. Joints between bodies use the solver of the file.
    pub fn penalty(&self) -> Option<Penalty> {
        let (integrator, law) = self.run.scheme.penalty()?;
        let scheme = Penalty::new(self.run.dt).law(law).integrator(integrator);
        Some(Penalty { solver: self.moreau_jean().solver, ..scheme })
    }

    /// The scheme for contacts, with its solver; it is also used for settling.
    pub fn moreau_jean(&self) -> MoreauJean {
        let mut scheme = MoreauJean::new(self.run.dt);
        if let TimeScheme::MoreauJean { theta, position_correction } = self.run.scheme {
            scheme = scheme.theta(theta);
            scheme.stabilization.overlaps = position_correction;
        }
        scheme.solver = self.contact_solver(false);
        scheme
    }

    /// The contact solver; `relaxed` if friction obeys cone complementarity.
    fn contact_solver(&self, relaxed: bool) -> Box<dyn ContactSolver> {
        let solver = &self.solver;
        let options = GaussSeidelOptions {
            tolerance: solver.tolerance,
            refined_tolerance: solver.refined_tolerance,
            approach_tolerance: solver.approach_tolerance,
            velocity_change_tolerance: solver.velocity_change_tolerance,
            max_velocity_change_tolerance: solver.max_velocity_change_tolerance,
            max_sweeps: solver.max_sweeps as usize,
            ..GaussSeidelOptions::default()
        };
        let cone = ConeOptions {
            approach_tolerance: solver.approach_tolerance,
            max_iterations: solver.max_sweeps as usize,
            ..ConeOptions::tolerance(solver.tolerance)
        };
        let usual = if relaxed { SolverMethod::Apgd } else { SolverMethod::Coloured };
        // Grains settle with Coulomb's law, whatever the scheme of the run.
        let method = solver.method.filter(|method| relaxed || !method.is_for_cones());
        match method.unwrap_or(usual) {
            SolverMethod::Coloured => Box::new(Coloured { options, ..Coloured::default() }),
            SolverMethod::ConjugateGradient => Box::new(ConjugateGradient { options }),
            SolverMethod::GaussSeidel => Box::new(GaussSeidel { options }),
            SolverMethod::Apgd => Box::new(Apgd { options: cone }),
            SolverMethod::BarzilaiBorwein => Box::new(BarzilaiBorwein { options: cone }),
            SolverMethod::ProjectedGaussSeidel => {
                Box::new(ProjectedGaussSeidel { options: cone, ..Default::default() })
            }
            SolverMethod::ProjectedJacobi => {
                Box::new(ProjectedJacobi { options: cone, ..Default::default() })
            }
            SolverMethod::Admm => Box::new(Admm { options: cone }),
            SolverMethod::InteriorPoint => Box::new(InteriorPoint { options: cone }),
        }
    }

    /// What happens in a step that does not converge.
    pub fn on_unconverged(&self) -> OnUnconverged {
        self.run.on_unconverged
    }

    /// A builder with everything except the bodies.
    fn builder(&self) -> SceneBuilder {
        let mut builder = Scene::builder();
        builder.gravity(self.gravity).seed(self.seed);
        if self.planar {
            builder.planar();
        }
        // Without contacts overlaps do not matter; where another run ended they are checked later.
        if !self.run.scheme.has_contacts() || self.run.start_from.is_some() {
            builder.accept_overlap(f64::INFINITY);
        }
        if let Some(alert) = self.contact.alert {
            builder.alert(alert);
        }
        builder.detection(self.contact.detection);
        if let Some(cell) = &self.periodic {
            builder.periodic(cell.cell());
        }
        for material in &self.materials {
            builder.material(material);
        }
        for pair in &self.pairs {
            let [a, b] = pair.between.map(|index| &self.materials[index].name);
            builder.pair(a, b, pair.law);
        }
        builder
    }

    /// The named shapes, built once and shared; `None` for invalid ones.
    fn named_shapes(&self, problems: &mut Vec<Problem>) -> Vec<Option<Shape>> {
        let mut named = Vec::new();
        for (index, shape) in self.shapes.iter().enumerate() {
            let shape = shapes::make(self, &shape.shape, 1.0).map_err(|error| {
                let message = format!("shape `{}`: {error}", self.shapes[index].name);
                problems.push(Problem::new(place(&self.source.shapes, index), message));
            });
            named.push(shape.ok());
        }
        named
    }

    /// The individual bodies.
    fn body_descriptions(
        &self,
        named: &[Option<Shape>],
        problems: &mut Vec<Problem>,
    ) -> Vec<BodyDescription> {
        let mut bodies = Vec::new();
        for (index, body) in self.bodies.iter().enumerate() {
            let shape = match &body.shape {
                // Mistakes in named shapes have been reported above.
                file::ShapeRef::Named(shape) => named[*shape].clone(),
                file::ShapeRef::Inline(shape) => shapes::make(self, shape, 1.0)
                    .map_err(|error| {
                        let message = format!("body `{}`: {error}", body.name);
                        problems.push(Problem::new(place(&self.source.bodies, index), message));
                    })
                    .ok(),
            };
            if let Some(shape) = shape {
                bodies.push(self.body_description(body, shape));
            }
        }
        bodies
    }

    fn body_description(&self, body: &file::Body, shape: Shape) -> BodyDescription {
        let mut built = BodyDescription::new(shape, &self.materials[body.material]);
        built.name = body.name.clone();
        built.pose = pose(body.position, body.rotation);
        if let Some(mass) = &body.mass {
            built.mass = Some(mass.mass);
            built.centre = mass.centre.map(Vec3::from);
            built.inertia = mass.inertia.map(|rows| Mat3::from_fn(|i, j| rows[i][j]));
        }
        match &body.kind {
            BodyKind::Fixed => built.kind = Kind::Fixed,
            BodyKind::Moving { motion } => built.kind = Kind::Moving(motion_of(motion)),
            BodyKind::Servo { drive } => built.kind = Kind::Servo(loads::servo(drive)),
            BodyKind::Free { velocity, angular_velocity, locked, force, torque } => {
                built.velocity = Vec3::from(*velocity);
                built.angular_velocity = Vec3::from(*angular_velocity);
                built.locks = Locks(*locked);
                (built.force, built.force_law) = loads::vector(force);
                (built.torque, built.torque_law) = loads::vector(torque);
            }
        }
        built
    }

    /// The mistakes that the builder found, without those that follow from a mechanism or flexible body that could not be built: its bodies are
    /// then missing, so that the scene may have nothing that moves.
    fn build_errors(&self, errors: &[BuildError]) -> SceneErrors {
        let missing = |error: &BuildError| {
            matches!(error, BuildError::Mechanism(_) | BuildError::Flexible(_))
        };
        let missing = errors.iter().any(missing);
        let follows = |error: &BuildError| matches!(error, BuildError::NothingMoves);
        let errors = errors.iter().filter(|error| !(missing && follows(error)));
        self.errors(errors.map(|error| self.problem(error)).collect())
    }

    /// A mistake that the builder found, with its location in the file.
    fn problem(&self, error: &BuildError) -> Problem {
        let span = match error {
            // Of two bodies, the later one in the file is more likely the cause.
            BuildError::Overlap { a, b, .. } => {
                let [a, b] = [a, b].map(|name| self.place_of(name).unwrap_or_default());
                if a.start > b.start { a } else { b }
            }
            BuildError::NotFinite { item, .. }
            | BuildError::OutOfRange { item, .. }
            | BuildError::UnknownMaterial { item, .. }
            | BuildError::NoMass { item, .. }
            | BuildError::BadServo { item, .. }
            | BuildError::FreeHalfSpace { item }
            | BuildError::WrongDimension { item, .. }
            | BuildError::RopeTooShort { item, .. }
            | BuildError::Chain { item, .. }
            | BuildError::CannotDegrade { item, .. }
            | BuildError::Population { item, .. }
            | BuildError::Periodic { item, .. }
            | BuildError::CohesionBeyondAlert { item, .. }
            | BuildError::CohesionRange { item, .. }
            | BuildError::BadInertia { item, .. } => self.item_place(item),
            BuildError::Duplicate { name, .. } => self.place_of(name).unwrap_or_default(),
            BuildError::Mechanism(error) => self.mechanism_place(error),
            BuildError::Flexible(error) => self.flexible_place(&error.name).unwrap_or_default(),
            BuildError::InelasticRestitution { .. } | BuildError::NothingMoves => 0..0,
        };
        let problem = Problem::new(span, error.to_string());
        match error {
            BuildError::NothingMoves => {
                problem.with_help("remove `kind` from a body to make it free, or add [[grains]]")
            }
            _ => problem,
        }
    }

    /// The location of something that the builder rejected; empty if the file has none.
    fn item_place(&self, item: &Item) -> Range<usize> {
        let source = &self.source;
        match item {
            Item::Cell => source.periodic.clone(),
            Item::Scene | Item::Contact | Item::Material(_) | Item::Pair(..) | Item::Chain(_) => {
                0..0
            }
            Item::Insertion(name) => {
                let index = self.insertions.iter().position(|one| one.name == *name);
                index.map_or(0..0, |index| place(&source.insertions, index))
            }
            Item::Removal(number) => place(&source.removals, number - 1),
            Item::Rope(name) => {
                let index = self.ropes.iter().position(|rope| rope.name == *name);
                index.map_or(0..0, |index| place(&source.ropes, index))
            }
            Item::Flexible(name) => self.flexible_place(name).unwrap_or_default(),
            Item::Body(name) => self.place_of(name).unwrap_or_default(),
            Item::Link { mechanism, body } => self.part_place(mechanism, &Part::Body(body.clone())),
            Item::Joint(name) => {
                let index = self.joints.iter().position(|joint| joint.name == *name);
                index.map_or(0..0, |index| place(&source.joints, index))
            }
            Item::PointContact(name) => {
                let index = self.point_contacts.iter().position(|one| one.name == *name);
                index.map_or(0..0, |index| place(&source.point_contacts, index))
            }
        }
    }

    /// The location of a body or of the group of a grain.
    fn place_of(&self, name: &str) -> Option<Range<usize>> {
        if let Some(place) = self.flexible_place(name) {
            return Some(place);
        }
        if let Some((mechanism, body)) = name.split_once('/') {
            return Some(self.part_place(mechanism, &Part::Body(body.to_owned())));
        }
        if let Some(index) = self.bodies.iter().position(|body| body.name == name) {
            return self.source.bodies.get(index).cloned();
        }
        let (group, _) = name.rsplit_once('-')?;
        let index = self.grains.iter().position(|grains| grains.name == group)?;
        self.source.grains.get(index).cloned()
    }

    /// Mistakes in file order.
    fn errors(&self, mut problems: Vec<Problem>) -> SceneErrors {
        problems.sort_by_key(|problem| problem.span.start);
        problems.dedup();
        problems.truncate(200);
        let source = &self.source;
        SceneErrors {
            path: source.path.clone(),
            text: source.text.to_string(),
            options: source.options,
            problems,
        }
    }
}

/// A joint between bodies, at their initial poses.
fn joint_of(
    joint: &file::BodyJoint,
    on: impl Fn(Target) -> On,
    bodies: &[BodyDescription],
    placed: Option<&Scene>,
) -> BodyJoint {
    let frame = Marker::at(GROUND, joint.position);
    let frame = joint.axis.map_or(frame, |axis| frame.along(axis.into()));
    let [a, b] = joint.between.map(|body| {
        let on = body.map_or(On::World, &on);
        let pose = match on {
            On::Body(body) => bodies[body.0 as usize].pose,
            On::World => Pose::IDENTITY,
            On::Link(..) | On::Node(..) => placed.map_or(Pose::IDENTITY, |scene| {
                let body = match on {
                    On::Link(mechanism, link) => scene.link_body(mechanism, link),
                    On::Node(flexible, node) => scene.node_body(flexible, node),
                    On::Body(body) => body,
                    On::World => return Pose::IDENTITY,
                };
                scene.shape_pose(&scene.initial_state(), body)
            }),
        };
        (on, pose)
    });
    BodyJoint { project: joint.project, ..BodyJoint::at(&joint.name, joint.hold, frame.pose, a, b) }
}

fn place(spans: &[Range<usize>], index: usize) -> Range<usize> {
    spans.get(index).cloned().unwrap_or_default()
}

fn pose(position: Vector, rotation: Quaternion) -> Pose {
    let [w, x, y, z] = rotation;
    Pose { position: Vec3::from(position), rotation: Quat::new_unchecked([x, y, z, w].into()) }
}

fn motion_of(motion: &file::Motion) -> Motion {
    let law = |components: &[Component; 3]| {
        let components = components.clone();
        Law::new(move |t| Vec3::from_fn(|axis, _| components[axis].at(t)))
    };
    let angular = law(&motion.angular_velocity);
    match &motion.translation {
        Translation::Velocity(linear) => Motion::Velocity { linear: law(linear), angular },
        Translation::Position(linear) => Motion::Position { linear: law(linear), angular },
    }
}

#[cfg(test)]
mod tests;
