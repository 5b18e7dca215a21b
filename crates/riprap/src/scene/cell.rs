//! Periodic cells: a volume that is repeated in one to three directions, possibly sheared (Lees and
//! Edwards 1972).

use super::population::SAMPLE;
use super::{BuildError, Insertion, Item, Scene, SceneBuilder};
use crate::detect::Geometry;
use crate::math::{Lattice, Vec3};
use std::fmt;
use std::sync::Arc;

/// A periodic cell: bodies meet the images of others beyond its boundaries.
///
/// Positions in a [`State`](super::State) are not wrapped: a body that leaves the cell goes on, and
/// its image enters on the other side. Two bodies touch through their nearest images, so a cell must
/// be larger than two of its largest bodies in each periodic direction.
///
/// In a sheared cell the image above in y is displaced along x by `γ L_y`, where `γ` is the shear
/// strain, and moves faster by `γ̇ L_y`. Velocities are those of a body where it is, not wrapped: the
/// mean flow is `v_x = γ̇ y` everywhere, and nothing jumps when a body crosses a boundary. Free bodies
/// start with this flow in addition to the velocity of their description, and so do inserted ones. Kinetic
/// energies are those of velocities relative to it.
///
/// ```
/// use riprap::prelude::*;
///
/// let glass = Material::new("glass").density(2500.0).restitution(0.9);
/// let mut scene = Scene::builder();
/// scene.gravity([0.0; 3]).periodic(Cell::new().x([0.0, 0.1]).y([0.0, 0.1]).z([0.0, 0.1]));
/// let ball = || BodyDescription::new(Shape::sphere(0.01).unwrap(), &glass);
/// let left = scene.add(ball().at([0.02, 0.05, 0.05]).velocity([-1.0, 0.0, 0.0]), &glass);
/// let right = scene.add(ball().at([0.08, 0.05, 0.05]), &glass);
///
/// // The gap between them is 2 cm, through the boundary at x = 0.
/// let mut run = Simulation::new(scene.build()?, MoreauJean::new(1e-3))?;
/// run.until(0.03, &mut ())?;
/// assert!((run.velocity(right).linear.x + 0.95).abs() < 1e-9);
/// assert!((run.velocity(left).linear.x + 0.05).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cell {
    ranges: [Option<[f64; 2]>; 3],
    shear: Option<Shear>,
    at_rest: bool,
}

/// The shear strain of a cell as a function of time.
#[derive(Clone)]
enum Shear {
    /// A constant rate [1/s].
    Rate(f64),
    /// A strain [–].
    Strain(Arc<dyn Fn(f64) -> f64 + Send + Sync>),
}

impl fmt::Debug for Shear {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Shear::Rate(rate) => write!(f, "Rate({rate})"),
            Shear::Strain(_) => f.write_str("Strain"),
        }
    }
}

impl Cell {
    /// A cell that is not periodic in any direction yet.
    pub fn new() -> Cell {
        Cell::default()
    }

    /// Makes it periodic along x, between two positions [m].
    pub fn x(self, range: [f64; 2]) -> Cell {
        self.along(0, range)
    }

    /// Makes it periodic along y, between two positions [m].
    pub fn y(self, range: [f64; 2]) -> Cell {
        self.along(1, range)
    }

    /// Makes it periodic along z, between two positions [m].
    pub fn z(self, range: [f64; 2]) -> Cell {
        self.along(2, range)
    }

    /// Makes it periodic along an axis, 0 for x to 2 for z, between two positions [m].
    ///
    /// # Panics
    ///
    /// Panics if there is no such axis.
    pub fn along(mut self, axis: usize, range: [f64; 2]) -> Cell {
        self.ranges[axis] = Some(range);
        self
    }

    /// Shears it with a constant rate [1/s]: the flow along x grows with y, `v_x = γ̇ y`.
    pub fn shear_rate(mut self, rate: f64) -> Cell {
        self.shear = Some(Shear::Rate(rate));
        self
    }

    /// Shears it by a strain [–] that depends on time [s].
    pub fn shear_strain(mut self, strain: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Cell {
        self.shear = Some(Shear::Strain(Arc::new(strain)));
        self
    }

    /// Lets free bodies, described or inserted, start with the velocities of their description alone, without the flow.
    pub fn starting_at_rest(mut self) -> Cell {
        self.at_rest = true;
        self
    }

    /// Whether free bodies start without the flow.
    pub(super) fn starts_at_rest(&self) -> bool {
        self.at_rest
    }

    /// Whether it is sheared.
    pub fn is_sheared(&self) -> bool {
        self.shear.is_some()
    }

    /// The range of the cell in each direction [m]; `None` without a period.
    pub fn ranges(&self) -> [Option<[f64; 2]>; 3] {
        self.ranges
    }

    /// Shear strain at a time [–].
    pub fn strain(&self, t: f64) -> f64 {
        match &self.shear {
            None => 0.0,
            Some(Shear::Rate(rate)) => rate * t,
            Some(Shear::Strain(strain)) => strain(t),
        }
    }

    /// Mean shear rate over a time `dt` [s] from `t` [1/s].
    pub fn mean_rate(&self, t: f64, dt: f64) -> f64 {
        match &self.shear {
            None => 0.0,
            Some(Shear::Rate(rate)) => *rate,
            Some(Shear::Strain(strain)) => (strain(t + dt) - strain(t)) / dt,
        }
    }

    /// Its images at a time.
    pub fn lattice(&self, t: f64) -> Lattice {
        Lattice::new(&self.ranges, self.strain(t))
    }

    /// The same cell held at its initial strain.
    pub(super) fn held(&self) -> Cell {
        let strain = self.strain(0.0);
        let still = Cell { shear: None, ..self.clone() };
        if strain == 0.0 { still } else { still.shear_strain(move |_| strain) }
    }

    /// Shear rate at a time [1/s].
    pub fn rate(&self, t: f64) -> f64 {
        self.mean_rate(t, FLOW_OVER)
    }

    /// Velocity at a position of the flow with which free bodies start [m/s].
    pub fn initial_flow(&self, position: Vec3) -> Vec3 {
        self.starting_flow(0.0, position)
    }

    /// Velocity at a position of the flow with which free bodies start at a time [m/s].
    pub(crate) fn starting_flow(&self, t: f64, position: Vec3) -> Vec3 {
        let rate = if self.at_rest { 0.0 } else { self.rate(t) };
        Vec3::new(rate * position.y, 0.0, 0.0)
    }
}

/// The time over which shear rates are measured [s].
const FLOW_OVER: f64 = 1e-6;

const AXES: [&str; 3] = ["x", "y", "z"];

impl SceneBuilder {
    /// Repeats the scene periodically.
    pub fn periodic(&mut self, cell: Cell) -> &mut Self {
        self.cell = Some(cell);
        self
    }

    /// Checks the cell itself, and that everything in the description can be in one.
    pub(super) fn check_cell(&self, errors: &mut Vec<BuildError>) {
        let Some(cell) = &self.cell else { return };
        let mut wrong = |item, problem: String| errors.push(BuildError::Periodic { item, problem });
        for (k, range) in cell.ranges.iter().enumerate() {
            if let Some([low, high]) = range
                && !(low < high && low.is_finite() && high.is_finite())
            {
                let axis = AXES[k];
                wrong(Item::Cell, format!("along {axis} it must end above its start"));
            }
        }
        if cell.ranges == [None; 3] {
            wrong(Item::Cell, "give it a range in at least one direction".into());
        }
        if self.planar && cell.ranges[2].is_some() {
            wrong(Item::Cell, "a planar scene has no period along z".into());
        }
        if cell.shear.is_some() && (cell.ranges[0].is_none() || cell.ranges[1].is_none()) {
            wrong(Item::Cell, "a sheared cell must be periodic along x and y".into());
        }
        if !(cell.strain(0.0).is_finite() && cell.rate(0.0).is_finite()) {
            wrong(Item::Cell, "its shear must be a finite number".into());
        }
        if cell.shear.is_some() && self.drag > 0.0 {
            wrong(Item::Scene, "drag acts against a fluid at rest, but the cell is sheared".into());
        }
        let no_place =
            "cannot be in a periodic cell, where bodies have images; remove it or the cell";
        for m in &self.mechanisms {
            wrong(Item::Cell, format!("mechanism `{}` {no_place}", m.name));
        }
        for f in &self.flexible {
            wrong(Item::Flexible(f.name().to_owned()), format!("a flexible body {no_place}"));
        }
        for p in &self.point_contacts {
            wrong(Item::PointContact(p.name.clone()), format!("a point contact {no_place}"));
        }
        for j in &self.joints {
            wrong(Item::Joint(j.name.clone()), format!("a joint {no_place}"));
        }
        for r in &self.ropes {
            wrong(Item::Rope(r.name.clone()), format!("a rope {no_place}"));
        }
        for m in self.materials.iter().filter(|m| super::degradation::degrades(m)) {
            let problem = "stones that break or wear cannot be in a periodic cell".into();
            wrong(Item::Material(m.name.clone()), problem);
        }
    }
}

/// Checks that half-spaces are parallel to the periods, and that bodies are smaller than half the
/// cell: each pair then meets through one image.
pub(super) fn check_sizes(scene: &Scene) -> Vec<BuildError> {
    let Some(cell) = &scene.cell else { return Vec::new() };
    let (bodies, mut errors) = (&scene.bodies, Vec::new());
    let period = cell.lattice(0.0).period();
    let repeats = |k: &usize| period[*k] > 0.0;
    // Radii of the bodies about their centres, without half-spaces.
    let mut radii: Vec<(f64, usize)> = (0..bodies.len()).map(|i| (0.0, i)).collect();
    for collider in &scene.colliders {
        let i = collider.body as usize;
        let mut wrong = |problem: String| {
            errors
                .push(BuildError::Periodic { item: Item::Body(bodies.names[i].clone()), problem });
        };
        let Geometry::HalfSpace(normal) = &collider.geometry else {
            radii[i].0 = radii[i].0.max(super::builder::reach_of(std::slice::from_ref(collider)));
            continue;
        };
        if cell.is_sheared() {
            wrong("a half-space resists the shear of the cell; remove one of them".into());
        }
        if scene.initial.v[i].angular != Vec3::zeros() {
            wrong("a half-space that rotates cannot be in a periodic cell".into());
        }
        let normal = scene.initial.q[i].vector(collider.pose.vector(*normal));
        for k in (0..3).filter(repeats).filter(|k| normal[*k].abs() > 1e-12) {
            let axis = AXES[k];
            wrong(format!(
                "a half-space must be parallel to {axis} in a cell that is periodic along {axis}; turn it, or \
                 remove the period"
            ));
        }
    }
    let inserted = inserted_radii(scene);
    // Two bodies of an insertion can have the same shape.
    radii.extend(inserted.iter().enumerate().flat_map(|(k, r)| [(*r, bodies.len() + k); 2]));
    radii.sort_by(|a, b| b.0.total_cmp(&a.0));
    let sum: f64 = radii.iter().take(2).map(|r| r.0).sum();
    let needed = 2.0 * (sum + scene.detection.alert);
    for k in (0..3).filter(repeats).filter(|k| period[*k] <= needed) {
        let (axis, length, i) = (AXES[k], period[k], radii[0].1);
        let enlarge = "enlarge the cell";
        let (name, remedy) = match bodies.movable.get(i) {
            Some(true) => (format!("`{}`", bodies.names[i]), enlarge),
            Some(false) => {
                let wall = "enlarge the cell, or use a half-space for a wall";
                (format!("`{}`", bodies.names[i]), wall)
            }
            None => {
                let insertion = scene.population().map(|p| &p.insertions[i - bodies.len()].name);
                let name = insertion.map_or("", String::as_str);
                (format!("a body of insertion `{name}`"), enlarge)
            }
        };
        let problem = format!(
            "it is {length} m long along {axis}, but with {name}, its largest body, it must be longer than \
             {needed:.4} m, twice the sum of the two largest bodies' radii and of the alert distance: only then do \
             two bodies meet through one image; {remedy}"
        );
        errors.push(BuildError::Periodic { item: Item::Cell, problem });
    }
    errors
}

/// The largest radius among the first bodies of each insertion [m].
fn inserted_radii(scene: &Scene) -> Vec<f64> {
    let of = |(k, insertion): (usize, &Insertion)| {
        let n = insertion.count.unwrap_or(SAMPLE).min(SAMPLE);
        let radii = (0..n).filter_map(|number| Some(scene.fresh(k, number)?.radius()));
        radii.fold(0.0, f64::max)
    };
    let insertions = scene.population().map_or(&[][..], |p| &p.insertions);
    insertions.iter().enumerate().map(of).collect()
}

impl Scene {
    /// The periodic cell.
    pub fn cell(&self) -> Option<&Cell> {
        self.cell.as_ref()
    }

    /// Rate of the mean flow `v_x = γ̇ y` at a time [1/s]; 0 without a sheared cell.
    pub fn shear_rate(&self, t: f64) -> f64 {
        self.cell.as_ref().map_or(0.0, |cell| cell.rate(t))
    }

    /// The images of the cell at a time.
    pub fn lattice(&self, t: f64) -> Option<Lattice> {
        self.cell.as_ref().map(|cell| cell.lattice(t))
    }

    /// The image of a point within the cell at a time [m]; the point itself in a scene without a
    /// cell.
    pub fn wrapped(&self, t: f64, point: Vec3) -> Vec3 {
        self.lattice(t).map_or(point, |lattice| lattice.wrapped(point))
    }
}
