//! Settling of grains before t = 0. Only groups with `settle` move; everything else is held at its initial position, so that
//! tools wait for the bed.

use std::ops::Range;

use riprap::scene::{Body, BuildErrors, Scene, SceneBuilder, State};
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

    /// The settling of `scene`, which `builder` has built.
    pub fn build(self, builder: &SceneBuilder, scene: &Scene) -> Result<Settling, BuildErrors> {
        let Plan { groups, at_most, drag } = self;
        let moves = |index: usize| groups.iter().any(|(group, _)| group.contains(&index));
        let held = builder.held(scene, moves).build()?;
        Ok(Settling { scene: held, groups, at_most, drag, first_held: builder.n_bodies() })
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
    /// Settling of the groups of `scene`, which `builder` has built: until the grains of each are slower than its speed
    /// [m/s], for at most a time [s]. Velocities decay at the rate `drag` [1/s]; 0 for none.
    ///
    /// ```
    /// use riprap::prelude::*;
    /// use riprap_io::build::Settling;
    ///
    /// let rock = Material::new("rock").density(2700.0).friction(0.5);
    /// let mut scene = Scene::builder();
    /// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &rock);
    /// let ball = (Shape::sphere(0.01)?, Pose::at([0.0, 0.0, 0.02]));
    /// let bed = scene.add_grains("ball", [ball], &rock);
    ///
    /// let built = scene.build()?;
    /// let settling = Settling::new(&scene, &built, &[(&bed, 1e-3)], 1.0, 0.0)?;
    /// let settled = settling.run(&built, MoreauJean::new(1e-3), OnUnconverged::Accept, &mut ())?;
    /// assert!(settled.calm);
    /// let mut run = Simulation::new(built, MoreauJean::new(1e-3))?;
    /// run.set_state(settled.state)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        builder: &SceneBuilder,
        scene: &Scene,
        groups: &[(&[Body], f64)],
        at_most: f64,
        drag: f64,
    ) -> Result<Settling, BuildErrors> {
        let ranges = groups.iter().flat_map(|(bodies, speed)| {
            let follows = |a: &Body, b: &Body| a.0 + 1 == b.0;
            let first = |run: &[Body]| run[0].0 as usize;
            bodies.chunk_by(follows).map(move |run| (first(run)..first(run) + run.len(), *speed))
        });
        Plan { groups: ranges.collect(), at_most, drag }.build(builder, scene)
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
                if let Some(cell) = scene.cell() {
                    state.v[index].linear += cell.initial_flow(state.q[index].position);
                }
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
