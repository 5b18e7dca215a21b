//! A scene as described in a file: plain data in SI units and radians, with all defaults filled in and
//! all names resolved. It is independent of the file format, and the simulator is built from it.
//!
//! The name, type and meaning of each key are defined here too, next to the member it becomes: see [`keys`](super::keys).

mod bodies;
mod contacts;
mod degradation;
mod flexible;
mod grains;
mod joints;
mod loads;
mod mechanism;
mod periodic;
mod population;
mod probes;
mod ropes;
mod run;
mod shapes;

pub use bodies::*;
pub use contacts::*;
pub use flexible::*;
pub use grains::*;
pub use joints::*;
pub use loads::*;
pub use mechanism::*;
pub use periodic::*;
pub use population::*;
pub use probes::*;
pub use ropes::*;
pub(super) use run::is_adaptive;
pub use run::*;
pub use shapes::*;

pub use riprap::detect::Method;
pub use riprap::scene::{ContactLaw, Hold, Material, PairLaw, Tie};
pub use riprap::simulation::OnUnconverged;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::fields::{Kind, Limits, Table};
use super::keys::{codec, keys};
use super::units::Dimension;

/// The largest number of grains in a scene.
pub(super) const MAX_GRAINS: i64 = 10_000_000;
/// The largest number of points, parts or sieves in a list.
const MANY: usize = 1_000_000;

const DENSITY: Kind = Kind::Quantity(Dimension::DENSITY, Limits::Positive);
const TIME: Kind = Kind::Quantity(Dimension::TIME, Limits::Positive);
static LENGTH: Kind = Kind::Quantity(Dimension::LENGTH, Limits::Any);
static POSITIVE_LENGTH: Kind = Kind::Quantity(Dimension::LENGTH, Limits::Positive);
static ACCELERATION: Kind = Kind::Quantity(Dimension::ACCELERATION, Limits::Any);
static NUMBER: Kind = Kind::Number(Limits::Any);

static PARAMETER: Kind = Kind::Value;
static MECHANISM_KIND: Kind = Kind::Table(&MECHANISM);
static FLEXIBLE_KIND: Kind = Kind::Table(&FLEXIBLE);
static BODY_KIND: Kind = Kind::Table(&BODY);
static GRAINS_KIND: Kind = Kind::Table(&GRAINS);
static PAIR_KIND: Kind = Kind::Table(&PAIR);
static JOINT_KIND: Kind = Kind::Table(&joints::JOINT);
static POINT_CONTACT_KIND: Kind = Kind::Table(&POINT_CONTACT);
static IGNORE_CONTACT_KIND: Kind = Kind::Table(&IGNORE_CONTACT);
static ROPE_KIND: Kind = Kind::Table(&ROPE);
static CHAIN_KIND: Kind = Kind::Table(&CHAIN);
static INSERT_KIND: Kind = Kind::Table(&INSERT);
static REMOVE_KIND: Kind = Kind::Table(&REMOVE);
static PROBE_KIND: Kind = Kind::Table(&PROBE);

/// A vector along x, y, z.
pub type Vector = [f64; 3];
/// A unit quaternion w, x, y, z that rotates vectors from the frame of the shape to the world frame.
pub type Quaternion = [f64; 4];

/// A scene read from a file. See [`SceneFile::read`] and [`SceneFile::parse`].
///
/// ```
/// use riprap::prelude::*;
/// use riprap_io::scene_file::SceneFile;
///
/// let text = r#"
///     [run]
///     dt = "1 ms"
///     until = "0.1 s"
///
///     [materials.rubber]
///     density = "1100 kg/m^3"
///
///     [[body]]
///     name = "ball"
///     material = "rubber"
///     shape = { type = "sphere", radius = "5 cm" }
/// "#;
/// let file = SceneFile::parse(text, ".")?; // paths in the scene are relative to the second argument
/// let built = file.build()?;
/// let mut run = Simulation::new(built.scene, file.moreau_jean())?;
/// run.until(0.1, &mut ())?;
///
/// // All mistakes are reported at once, each with its location and a suggestion.
/// let errors = SceneFile::parse(&text.replace("radius", "radios"), ".").unwrap_err();
/// assert!(errors.problems.iter().any(|problem| problem.message.contains("radios")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SceneFile {
    /// Free-text description of the scene.
    pub title: Option<String>,
    /// Seed for all random choices.
    pub seed: u64,
    /// Gravity [m/s²].
    pub gravity: Vector,
    /// Whether all motion is in the x–y plane; z, rx and ry of every body are then locked.
    pub planar: bool,
    /// Time steps and output.
    pub run: Run,
    /// Convergence criteria of the contact solver.
    pub solver: Solver,
    /// Contact detection.
    pub contact: Contact,
    /// The periodic cell.
    pub periodic: Option<Periodic>,
    /// Named numbers for expressions, in file order.
    pub parameters: Vec<Parameter>,
    /// Materials, in file order.
    pub materials: Vec<Material>,
    /// Contact parameters of particular pairs of materials; see [`SceneFile::pair`].
    pub pairs: Vec<Pair>,
    /// Named shapes, in file order.
    pub shapes: Vec<NamedShape>,
    /// Single bodies, in file order, then the balls of chains.
    pub bodies: Vec<Body>,
    /// Groups of grains, in file order.
    pub grains: Vec<Grains>,
    /// Articulated systems, in file order.
    pub mechanisms: Vec<Mechanism>,
    /// Flexible bodies, in file order.
    pub flexible: Vec<Flexible>,
    /// Joints between bodies, in file order.
    pub joints: Vec<BodyJoint>,
    /// Contacts between given points and planes, in file order.
    pub point_contacts: Vec<PointContact>,
    /// Ropes: those of chains, then the others, in file order.
    pub ropes: Vec<Rope>,
    /// Pairs of bodies that do not collide.
    pub ignored_contacts: Vec<[Target; 2]>,
    /// Bodies inserted during the run, in file order.
    pub insertions: Vec<Insert>,
    /// Bodies removed during the run, in file order.
    pub removals: Vec<Remove>,
    /// Bodies recorded in `series.csv`.
    pub probes: Vec<Probe>,
    /// Mechanisms whose forces are recorded in `series.csv`.
    pub mechanism_probes: Vec<MechanismProbe>,
    /// Joints recorded in `series.csv`.
    pub joint_probes: Vec<JointProbe>,
    /// Point contacts recorded in `series.csv`.
    pub contact_probes: Vec<ContactProbe>,
    /// Ropes recorded in `series.csv`.
    pub rope_probes: Vec<RopeProbe>,
    /// Measured packings.
    pub region_probes: Vec<RegionProbe>,
    /// Planes that bodies pass.
    pub plane_probes: Vec<PlaneProbe>,
    /// The text it was read from, for messages.
    pub source: Source,
}

/// Where each part of a scene is defined, as byte ranges of the text. Two scenes that differ only in this are
/// equal.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The file; empty if the scene did not come from one.
    pub path: PathBuf,
    /// The text, followed by a line for each option that sets a key.
    pub text: Arc<str>,
    /// Location of [`Run::stop`].
    pub stop: Range<usize>,
    /// Where the options begin in the text, if there are any.
    pub options: Option<usize>,
    /// The options `KEY=VALUE` that set keys.
    pub set: Vec<String>,
    /// Location of [`SceneFile::periodic`].
    pub periodic: Range<usize>,
    /// Locations of [`SceneFile::shapes`].
    pub shapes: Vec<Range<usize>>,
    /// Locations of [`SceneFile::bodies`].
    pub bodies: Vec<Range<usize>>,
    /// Locations of [`SceneFile::grains`].
    pub grains: Vec<Range<usize>>,
    /// Locations of [`SceneFile::mechanisms`].
    pub mechanisms: Vec<MechanismSource>,
    /// Locations of [`SceneFile::flexible`].
    pub flexible: Vec<Range<usize>>,
    /// Locations of [`SceneFile::joints`].
    pub joints: Vec<Range<usize>>,
    /// Locations of [`SceneFile::point_contacts`].
    pub point_contacts: Vec<Range<usize>>,
    /// Locations of [`SceneFile::ropes`].
    pub ropes: Vec<Range<usize>>,
    /// Locations of [`SceneFile::insertions`].
    pub insertions: Vec<Range<usize>>,
    /// Locations of [`SceneFile::removals`].
    pub removals: Vec<Range<usize>>,
}

/// Where the parts of a mechanism are defined; parts from a URDF file have the location where that file is named.
#[derive(Clone, Debug, Default)]
pub struct MechanismSource {
    /// The mechanism itself.
    pub whole: Range<usize>,
    /// Locations of [`Mechanism::bodies`].
    pub bodies: Vec<Range<usize>>,
    /// Locations of [`Mechanism::joints`].
    pub joints: Vec<Range<usize>>,
    /// Locations of [`Mechanism::loops`].
    pub loops: Vec<Range<usize>>,
    /// Locations of [`Mechanism::springs`].
    pub springs: Vec<Range<usize>>,
    /// Locations of [`Mechanism::forces`].
    pub forces: Vec<Range<usize>>,
}

impl Source {
    /// The location of a part of [`Run::stop`], whose text is `stop`.
    pub(crate) fn within_stop(&self, stop: &str, part: Range<usize>) -> Range<usize> {
        super::document::inside(&self.text, &self.stop, stop, part)
    }
}

impl PartialEq for Source {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl SceneFile {
    /// The number of bodies, including grains but neither bodies of mechanisms nor nodes of flexible bodies.
    pub fn n_bodies(&self) -> u64 {
        self.bodies.len() as u64 + self.grains.iter().map(Grains::count).sum::<u64>()
    }
}

codec! {
    /// A name that was read, and checked for uniqueness, before the rest of its table.
    OwnName: String,
    |from, _entries, _| Some(std::mem::take(&mut from.own_name)),
    |name, _| name
}

/// The whole file.
pub(crate) static SCENE: Table = Table {
    name: "scene",
    title: "the scene",
    doc: "A scene: materials, bodies, grains, mechanisms and flexible bodies, and how to simulate them.",
    fields: &[keys! {
        /// Free-text description of the scene.
        title: Text, Optional;
        /// Seed for all random choices; generators may have their own.
        seed: Integer(0, i64::MAX), Default("1");
        /// Gravity.
        gravity: Polar(&ACCELERATION), Computed("`[0, 0, -9.81]`; in planar scenes `[0, -9.81, 0]`");
        /// Whether all motion is in the x–y plane: z, rx and ry of every body are locked, and the shapes are `disc`, `polygon`
        /// and `half-space`. Vectors may then have two components.
        planar: Flag, Default("false");
        /// Time steps and output.
        run: Table(&RUN), Required;
        /// Convergence criteria of the contact solver.
        solver: Table(&SOLVER), Default("{}");
        /// Contact detection.
        contact: Table(&CONTACT), Default("{}");
        /// A periodic cell, also sheared, for representative volumes.
        periodic: Table(&PERIODIC), Optional;
        /// Named numbers for expressions: `omega = "1500 rpm"`, or an expression of the parameters above it.
        parameters: Map(&PARAMETER), Default("{}");
        /// Materials by name: `[materials.rock]`.
        materials: Named(&MATERIAL_TABLE), Default("{}");
        /// Contact parameters of two materials: `[[pair]]`.
        pair: List { of: &PAIR_KIND, min: 0, max: MANY }, Default("[]");
        /// Named shapes, to be shared by several bodies: `[shapes.brick]`.
        shapes: Named(&SHAPE), Default("{}");
        /// Individual bodies: `[[body]]`.
        body: List { of: &BODY_KIND, min: 0, max: MANY }, Default("[]");
        /// Groups of bodies: `[[grains]]`.
        grains: List { of: &GRAINS_KIND, min: 0, max: 1000 }, Default("[]");
        /// Articulated systems: `[[mechanism]]`.
        mechanism: List { of: &MECHANISM_KIND, min: 0, max: 1000 }, Default("[]");
        /// Flexible bodies: `[[flexible]]`.
        flexible: List { of: &FLEXIBLE_KIND, min: 0, max: 1000 }, Default("[]");
        /// Joints between bodies: `[[joint]]`.
        joint: List { of: &JOINT_KIND, min: 0, max: 10_000 }, Default("[]");
        /// Contacts between given points and planes: `[[point_contact]]`.
        point_contact: List { of: &POINT_CONTACT_KIND, min: 0, max: 10_000 }, Default("[]");
        /// Ropes and cables: `[[rope]]`.
        rope: List { of: &ROPE_KIND, min: 0, max: MANY }, Default("[]");
        /// Granular chains: `[[chain]]`.
        chain: List { of: &CHAIN_KIND, min: 0, max: 1000 }, Default("[]");
        /// Bodies that do not collide: `[[ignore_contact]]`.
        ignore_contact: List { of: &IGNORE_CONTACT_KIND, min: 0, max: 10_000 }, Default("[]");
        /// Bodies that are inserted during the run: `[[insert]]`.
        insert: List { of: &INSERT_KIND, min: 0, max: 1000 }, Default("[]");
        /// Bodies that are removed during the run: `[[remove]]`.
        remove: List { of: &REMOVE_KIND, min: 0, max: 1000 }, Default("[]");
        /// Bodies, mechanisms, joints, point contacts, ropes, packings and planes recorded in `series.csv`: `[[probe]]`.
        probe: List { of: &PROBE_KIND, min: 0, max: 10_000 }, Default("[]");
    }],
    tag: None,
};
