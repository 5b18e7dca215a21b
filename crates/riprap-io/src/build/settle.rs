//! Settling of grains before t = 0. Only groups with `settle` move; everything else is held at its initial position, so that
//! tools wait for the bed.

use std::ops::Range;

use riprap::scene::{
    BodyDescription, BuildErrors, Kind, Material, MechanismId, Scene, SceneBuilder, State,
};
use riprap::scheme::MoreauJean;
use riprap::simulation::{Error, Frame, Observer, OnUnconverged, RunReport, Simulation};

use super::Group;
use crate::scene_file::{Placement, SceneFile, Settle};

/// Grains count as settled when they have been slow for this long [s]; a grain that is released is also slow at first.
const CALM: f64 = 0.05;
/// … and for at least this many steps.
const CALM_STEPS: u64 = 10;

/// Which groups settle, and when they count as settled.
pub(super) struct Plan {
    groups: Vec<(Range<usize>, f64)>,
    at_most: f64,
    drag: f64,
}

impl Plan {
    /// The plan of a scene; `None` if no group settles.
    pub fn new(scene: &SceneFile, groups: &[Group]) -> Option<Plan> {
        let pairs = scene.grains.iter().zip(groups);
        Plan::of(pairs.filter_map(|(grains, group)| match &grains.placement {
            Placement::Rain { settle: Some(settle), .. } => Some((group.bodies.clone(), settle)),
            _ => None,
        }))
    }

    /// A plan for groups given by their bodies; `None` without groups.
    fn of<'a>(settles: impl IntoIterator<Item = (Range<usize>, &'a Settle)>) -> Option<Plan> {
        let mut plan = Plan { groups: Vec::new(), at_most: 0.0, drag: 0.0 };
        for (bodies, settle) in settles {
            plan.groups.push((bodies, settle.speed));
            plan.at_most = plan.at_most.max(settle.at_most);
            plan.drag = plan.drag.max(settle.drag);
        }
        (!plan.groups.is_empty()).then_some(plan)
    }

    /// The scene in which only the settling groups move; `scene` is the scene of the run.
    pub fn build(
        self,
        mut builder: SceneBuilder,
        bodies: Vec<BodyDescription>,
        scene: &Scene,
    ) -> Result<Settling, BuildErrors> {
        builder.alert(scene.detection().alert);
        builder.accept_overlap(f64::INFINITY); // already checked with all bodies in their actual kinds
        let first_held = bodies.len();
        for (index, mut body) in bodies.into_iter().enumerate() {
            if !self.groups.iter().any(|(group, _)| group.contains(&index)) {
                body.kind = Kind::Fixed;
            }
            builder.add_body(body);
        }
        // Mechanisms and flexible bodies are held at their initial pose, with their shapes in the order of the scene, so that impulses carry over.
        let state = scene.initial_state();
        for (m, system) in scene.mechanisms().iter().enumerate() {
            for link in system.links() {
                let body = scene.link_body(MechanismId(m as u32), link);
                let own = system.shapes().iter().filter(|part| part.link == link);
                for (k, part) in own.enumerate() {
                    let material = Material::new(&part.material);
                    let name = format!("{}#{k}", scene.bodies().names[scene.slot(body)]);
                    let mut held =
                        BodyDescription::new(part.shape.clone(), &material).named(&name).fixed();
                    held.pose = scene.shape_pose(&state, body).compose(&part.pose);
                    builder.add_body(held);
                }
            }
        }
        for slot in (0..scene.flexible().len()).flat_map(|k| scene.nodes_of(k)) {
            let own = scene.colliders().iter().find(|c| c.body as usize == slot);
            let Some(own) = own else { continue };
            let (body, name) = (scene.body_at(slot), &scene.bodies().names[slot]);
            let material = &scene.materials()[own.material as usize];
            let mut held =
                BodyDescription::new(scene.shape(body).clone(), material).named(name).fixed();
            held.pose = scene.shape_pose(&state, body);
            builder.add_body(held);
        }
        let Plan { groups, at_most, drag } = self;
        Ok(Settling { scene: builder.build()?, groups, at_most, drag, first_held })
    }
}

/// The settling before t = 0.
#[derive(Clone, Debug)]
pub struct Settling {
    pub(super) scene: Scene,
    pub(super) groups: Vec<(Range<usize>, f64)>,
    at_most: f64,
    /// Drag during settling, the largest of all groups [1/s].
    drag: f64,
    /// First body that represents a part of a mechanism.
    pub(super) first_held: usize,
}

/// The result of settling.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The initial state of the run, at t = 0.
    pub state: State,
    /// Whether the grains came to rest; otherwise the maximum time was reached, or an observer stopped it.
    pub calm: bool,
    /// Simulated time [s].
    pub time: f64,
    /// Statistics of the steps.
    pub report: RunReport,
}

impl Settling {
    /// The settling of groups, given by indices of their bodies, in a scene that was built from `builder`; `None` without groups.
    pub fn new<'a>(
        settles: impl IntoIterator<Item = (Range<usize>, &'a Settle)>,
        builder: &SceneBuilder,
        scene: &Scene,
    ) -> Result<Option<Settling>, BuildErrors> {
        let plan = Plan::of(settles);
        let bodies = || builder.bodies().to_vec();
        plan.map(|plan| plan.build(builder.without_bodies(), bodies(), scene)).transpose()
    }

    /// Maximum simulated time [s].
    pub fn at_most(&self) -> f64 {
        self.at_most
    }

    /// Lets the grains come to rest, observed by `observer`. `scene` is the scene of the run, and `scheme` that of the
    /// file.
    pub fn run(
        &self,
        scene: &Scene,
        scheme: MoreauJean,
        on_unconverged: OnUnconverged,
        observer: &mut dyn Observer,
    ) -> Result<Settled, Error> {
        let needed = ((CALM / scheme.dt).ceil() as u64).max(CALM_STEPS);
        let mut run = Simulation::new(self.scene.clone(), scheme)?;
        run.on_unconverged(on_unconverged).drag(self.drag).degradation(false);
        let mut watch = Watch { groups: &self.groups, calm: 0, needed, inner: observer };
        let report = run.until(self.at_most, &mut watch)?;
        let calm = watch.calm >= needed;

        // Held bodies keep their initial state; the reference point of their position differs once they are free.
        let mut state = scene.initial_state();
        for (group, _) in &self.groups {
            for index in group.clone() {
                state.q[index] = run.state().q[index];
                state.v[index] = run.state().v[index];
            }
        }
        state.warm_start.clone_from(&run.state().warm_start);
        Ok(Settled { state, calm, time: run.time(), report })
    }
}

/// Counts the steps during which all groups were slow.
struct Watch<'a> {
    groups: &'a [(Range<usize>, f64)],
    calm: u64,
    needed: u64,
    inner: &'a mut dyn Observer,
}

impl Observer for Watch<'_> {
    fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let slow = |(group, speed): &(Range<usize>, f64)| {
            frame.state.v[group.clone()].iter().all(|v| v.linear.norm() < *speed)
        };
        let slow = self.groups.iter().all(slow);
        self.calm = if slow { self.calm + 1 } else { 0 };
        self.inner.observe(frame)
    }

    fn stop(&self) -> bool {
        self.calm >= self.needed || self.inner.stop()
    }
}
