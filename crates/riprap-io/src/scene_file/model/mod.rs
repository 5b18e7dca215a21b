//! A scene as it was described in a file: plain data in SI units and radians, with all defaults filled in and
//! all names resolved. Nothing of the file format is left in it; the builder of the simulator starts from here.

mod mechanism;

pub use mechanism::*;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::expression::Expression;
use crate::grain_table::GrainTable;
use crate::mesh::Mesh;
use crate::scans::Scan;

/// A vector along x, y, z.
pub type Vector = [f64; 3];
/// A unit quaternion w, x, y, z: it turns vectors from the frame of the shape to the world.
pub type Quaternion = [f64; 4];

/// A scene read from a file. See [`SceneFile::read`] and [`SceneFile::parse`].
#[derive(Clone, Debug, PartialEq)]
pub struct SceneFile {
    /// What the scene shows, in words.
    pub title: Option<String>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Gravity [m/s²].
    pub gravity: Vector,
    /// Whether everything moves in the plane x–y; z, rx and ry of every body are then held.
    pub planar: bool,
    /// Time steps and output.
    pub run: Run,
    /// When contact forces are good enough.
    pub solver: Solver,
    /// How contacts are found.
    pub contact: Contact,
    /// Numbers with a name, for expressions, in the order of the file.
    pub parameters: Vec<Parameter>,
    /// Materials, in the order of the file.
    pub materials: Vec<Material>,
    /// Contact parameters of certain pairs of materials; see [`SceneFile::pair`].
    pub pairs: Vec<Pair>,
    /// Shapes with a name, in the order of the file.
    pub shapes: Vec<NamedShape>,
    /// Single bodies, in the order of the file.
    pub bodies: Vec<Body>,
    /// Groups of grains, in the order of the file.
    pub grains: Vec<Grains>,
    /// Articulated systems, in the order of the file.
    pub mechanisms: Vec<Mechanism>,
    /// Joints between bodies, in the order of the file.
    pub joints: Vec<BodyJoint>,
    /// Contacts between chosen points and planes, in the order of the file.
    pub point_contacts: Vec<PointContact>,
    /// Pairs of bodies that pass through each other.
    pub ignored_contacts: Vec<[Target; 2]>,
    /// Bodies that are followed in `series.csv`.
    pub probes: Vec<Probe>,
    /// Mechanisms whose forces are followed in `series.csv`.
    pub mechanism_probes: Vec<MechanismProbe>,
    /// Joints that are followed in `series.csv`.
    pub joint_probes: Vec<JointProbe>,
    /// The text it was read from, for messages.
    pub source: Source,
}

/// Where the things of a scene are written, as byte ranges of the text. Two scenes that differ only in this are
/// equal.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The file; empty if the scene did not come from one.
    pub path: PathBuf,
    /// The text.
    pub text: Arc<str>,
    /// Places of [`SceneFile::shapes`].
    pub shapes: Vec<Range<usize>>,
    /// Places of [`SceneFile::bodies`].
    pub bodies: Vec<Range<usize>>,
    /// Places of [`SceneFile::grains`].
    pub grains: Vec<Range<usize>>,
    /// Places of [`SceneFile::mechanisms`].
    pub mechanisms: Vec<MechanismSource>,
    /// Places of [`SceneFile::joints`].
    pub joints: Vec<Range<usize>>,
    /// Places of [`SceneFile::point_contacts`].
    pub point_contacts: Vec<Range<usize>>,
}

/// Where the parts of a mechanism are written; what a URDF file brought stands where that file is named.
#[derive(Clone, Debug, Default)]
pub struct MechanismSource {
    /// The mechanism itself.
    pub whole: Range<usize>,
    /// Places of [`Mechanism::bodies`].
    pub bodies: Vec<Range<usize>>,
    /// Places of [`Mechanism::joints`].
    pub joints: Vec<Range<usize>>,
    /// Places of [`Mechanism::loops`].
    pub loops: Vec<Range<usize>>,
    /// Places of [`Mechanism::springs`].
    pub springs: Vec<Range<usize>>,
    /// Places of [`Mechanism::forces`].
    pub forces: Vec<Range<usize>>,
}

impl PartialEq for Source {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Time steps and output.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// How time advances.
    pub scheme: TimeScheme,
    /// Time step [s], greater than 0; the largest one if the scheme chooses its steps.
    pub dt: f64,
    /// Time at which the run ends [s].
    pub until: f64,
    /// Time between two outputs [s], at least `dt`.
    pub output_every: f64,
    /// Whether frames for ParaView are written.
    pub frames: bool,
    /// Time between two checkpoints [s], at least `dt`; `None`: none are written.
    pub checkpoint_every: Option<f64>,
    /// What happens when the solver stops short of its tolerances.
    pub on_unconverged: OnUnconverged,
}

impl Run {
    /// Lets a scheme that chooses its steps end exactly at `until`: `dt` becomes the nearest shorter part of it.
    pub fn fit(&mut self) {
        if let TimeScheme::DormandPrince { .. } = self.scheme
            && self.until > 0.0
        {
            self.dt = self.until / (self.until / self.dt - 1e-9).ceil().max(1.0);
        }
    }
}

/// How time advances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeScheme {
    /// Steps of equal length, for everything that touches.
    MoreauJean {
        /// Parameter θ [–], 0.5 to 1.
        theta: f64,
    },
    /// Steps of fifth order that choose their length, for mechanisms without contacts.
    DormandPrince {
        /// Relative error of a step [–].
        tolerance: f64,
    },
}

/// What happens when the solver stops short of its tolerances in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnUnconverged {
    /// Go on silently.
    Accept,
    /// Go on, and say so.
    Warn,
    /// Stop the run.
    Fail,
}

/// How the contact problem is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolverMethod {
    /// Accelerated Gauss–Seidel over colours, in vectors and on several threads.
    Coloured,
    /// Gauss–Seidel accelerated by conjugate gradients, contact after contact.
    ConjugateGradient,
    /// Plain Gauss–Seidel.
    GaussSeidel,
}

/// How contact forces are found, and when those of a step are good enough: all tolerances are met.
#[derive(Clone, Debug, PartialEq)]
pub struct Solver {
    /// How the contact problem is solved.
    pub method: SolverMethod,
    /// Residual of the contact laws [–].
    pub tolerance: f64,
    /// Largest approach velocity left at a contact, times `dt`, over the grain size [–].
    pub approach_tolerance: f64,
    /// Root mean square of the relative change of velocity in the last sweep [–].
    pub velocity_change_tolerance: f64,
    /// Largest relative change of velocity in the last sweep [–].
    pub max_velocity_change_tolerance: f64,
    /// Sweeps before the solver gives up.
    pub max_sweeps: u32,
}

/// How contacts are found.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// Gap below which a pair takes part in the contact problem [m]; `None`: 1 % of the mean grain size.
    pub alert: Option<f64>,
    /// Method for pairs of polyhedra.
    pub detection: Detection,
}

/// Method of the narrow phase for pairs of polyhedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// Axes of faces and edges are tried.
    SeparatingAxes,
    /// A plane between both bodies is rotated until it fits.
    CommonPlane,
}

/// A material.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Its name.
    pub name: String,
    /// Density [kg/m³]; `None` only if every free body of this material has a given mass.
    pub density: Option<f64>,
    /// Coefficient of friction [–].
    pub friction: f64,
    /// Coefficient of restitution [–], 0 to 1.
    pub restitution: f64,
    /// Rolling resistance [m].
    pub rolling: f64,
}

/// How two materials meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Indices into [`SceneFile::materials`].
    pub between: [usize; 2],
    /// Coefficient of friction [–].
    pub friction: f64,
    /// Coefficient of restitution [–], 0 to 1.
    pub restitution: f64,
    /// Law in the normal direction.
    pub law: NormalLaw,
    /// Rolling resistance [m].
    pub rolling: f64,
}

/// Contact law in the normal direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormalLaw {
    /// No approach after the step, with Newton's restitution.
    MoreauNewton,
    /// No overlap after the step; without restitution.
    QuasiShock,
}

impl NormalLaw {
    /// The law that is taken where none is given.
    pub fn for_restitution(restitution: f64) -> Self {
        if restitution == 0.0 { Self::QuasiShock } else { Self::MoreauNewton }
    }
}

/// A shape with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedShape {
    /// Its name.
    pub name: String,
    /// The shape.
    pub shape: Shape,
}

/// A shape in its own frame; all lengths in metres.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A ball about the origin.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// A cuboid about the origin.
    Box {
        /// Full lengths along x, y, z [m].
        size: Vector,
    },
    /// Everything below a plane through the origin; only on fixed and moving bodies.
    HalfSpace {
        /// Unit vector that points out of the solid [–].
        normal: Vector,
    },
    /// The convex hull of points that do not lie in one plane.
    Polyhedron {
        /// Points [m], at least four.
        points: Vec<Vector>,
    },
    /// A triangle mesh from a file.
    Mesh {
        /// The file, as an absolute path.
        file: PathBuf,
        /// Factor on the coordinates of the file [–].
        scale: f64,
        /// How the mesh takes part in contacts.
        treatment: MeshTreatment,
        /// The content of the file, not yet scaled.
        mesh: Arc<Mesh>,
    },
    /// Several convex shapes fixed to each other.
    Compound {
        /// The parts; none of them is a compound, an open box or a half-space.
        parts: Vec<Part>,
    },
    /// Five walls around a cavity that is open above: x and y centred, z from 0 up.
    OpenBox {
        /// Inner lengths along x, y, z [m].
        size: Vector,
        /// Thickness of the walls [m].
        wall: f64,
    },
    /// A disc about the origin, in planar scenes.
    Disc {
        /// Radius [m].
        radius: f64,
        /// Length along z [m].
        thickness: f64,
    },
    /// The convex hull of points in the plane, in planar scenes.
    Polygon {
        /// Points [m], at least three, not on one line.
        points: Vec<[f64; 2]>,
        /// Length along z [m].
        thickness: f64,
    },
}

/// How a mesh takes part in contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshTreatment {
    /// As its convex hull.
    Hull,
    /// As several convex parts.
    Parts {
        /// Largest number of parts.
        max_parts: u32,
    },
}

/// A part of a compound shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The shape.
    pub shape: ShapeRef,
    /// Its origin in the frame of the compound [m].
    pub position: Vector,
    /// Its rotation in the frame of the compound.
    pub rotation: Quaternion,
}

/// A shape described in place, or one with a name.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeRef {
    /// Index into [`SceneFile::shapes`].
    Named(usize),
    /// The shape itself.
    Inline(Shape),
}

/// One body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Its name; no other body has it.
    pub name: String,
    /// Its shape.
    pub shape: ShapeRef,
    /// Index into [`SceneFile::materials`].
    pub material: usize,
    /// Origin of the shape at the start [m]. With [`Translation::Position`] its value at t = 0.
    pub position: Vector,
    /// Rotation of the shape at the start.
    pub rotation: Quaternion,
    /// Mass properties; `None`: from density and shape.
    pub mass: Option<Mass>,
    /// How it moves.
    pub kind: BodyKind,
}

/// Mass properties that were given.
#[derive(Clone, Debug, PartialEq)]
pub struct Mass {
    /// Mass [kg].
    pub mass: f64,
    /// Inertia about the centre of mass, along the axes of the shape [kg m²], symmetric and physical;
    /// `None`: that of the shape, scaled to the mass.
    pub inertia: Option<[Vector; 3]>,
    /// Centre of mass in the frame of the shape [m]; `None`: that of the shape.
    pub centre: Option<Vector>,
}

/// How a body moves.
#[derive(Clone, Debug, PartialEq)]
pub enum BodyKind {
    /// Under forces and contacts.
    Free {
        /// Velocity of the centre of mass at the start [m/s].
        velocity: Vector,
        /// Angular velocity at the start, in the world frame [rad/s].
        angular_velocity: Vector,
        /// Directions of the world that are held: x, y, z, rx, ry, rz.
        locked: [bool; 6],
        /// Constant force at the centre of mass, in the world frame [N].
        force: Vector,
        /// Constant torque, in the world frame [N m].
        torque: Vector,
    },
    /// Not at all.
    Fixed,
    /// As prescribed.
    Moving(Motion),
}

/// A prescribed motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Motion of the origin of the shape.
    pub translation: Translation,
    /// Angular velocity in the world frame [rad/s].
    pub angular_velocity: [Component; 3],
}

/// Prescribed motion of a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Translation {
    /// By its velocity [m/s].
    Velocity([Component; 3]),
    /// By its position [m].
    Position([Component; 3]),
}

/// A component of a prescribed motion.
#[derive(Clone, Debug, PartialEq)]
pub enum Component {
    /// A constant, in SI.
    Constant(f64),
    /// A function of the time `t` [s], in SI.
    Expression(Expression),
}

impl Component {
    /// The value at time `t` [s], in SI.
    pub fn at(&self, t: f64) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Expression(law) => law.evaluate(&[t]),
        }
    }
}

/// Many free bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Grains {
    /// Name of the group; its bodies are `name-1`, `name-2`, …
    pub name: String,
    /// Index into [`SceneFile::materials`]; it has a density.
    pub material: usize,
    /// Seed of their random choices.
    pub seed: u64,
    /// Their shapes and sizes.
    pub shape: GrainShape,
    /// Where they are.
    pub placement: Placement,
}

impl Grains {
    /// How many grains there are.
    pub fn count(&self) -> u64 {
        match &self.placement {
            Placement::Lattice { counts, .. } => counts.iter().map(|n| u64::from(*n)).product(),
            Placement::Rain { count, .. } => u64::from(*count),
            Placement::File { table, .. } => table.grains.len() as u64,
        }
    }
}

/// Shapes and sizes of grains.
#[derive(Clone, Debug, PartialEq)]
pub enum GrainShape {
    /// All alike.
    Shape(ShapeRef),
    /// Random convex polyhedra with the axes a ≥ b ≥ c.
    Stones {
        /// Number of vertices wanted, 4 to 100.
        vertices: u32,
        /// c/b [–], 0.05 to 1.
        flatness: f64,
        /// b/a [–], 0.05 to 1.
        elongation: f64,
        /// From rounded, 0, to freshly broken, 1 [–].
        angularity: f64,
        /// Sizes.
        grading: Grading,
    },
    /// Scanned stones: each grain has the shape of one of them, drawn at random.
    Scans {
        /// The folder, as an absolute path.
        folder: PathBuf,
        /// Most corners of a stone, 4 to 100.
        max_vertices: u32,
        /// Its stones, in the order of their files; at least one.
        scans: Arc<Vec<Scan>>,
        /// Sizes.
        grading: Grading,
    },
    /// Spheres.
    Spheres {
        /// Sizes (diameters).
        grading: Grading,
    },
}

/// Sizes of grains.
#[derive(Clone, Debug, PartialEq)]
pub enum Grading {
    /// The name of a standard, such as `EN 13450 31.5-50`; one of those in the reference.
    Standard(String),
    /// Mass that passes each sieve.
    Sieves {
        /// Openings [m], growing.
        sieves: Vec<f64>,
        /// Mass that passes [%], from 0 to 100, never falling; as many as sieves.
        passing: Vec<f64>,
    },
    /// The same mass for every millimetre of size.
    Uniform {
        /// Smallest size [m].
        min: f64,
        /// Largest size [m], at least `min`.
        max: f64,
    },
}

/// Where grains are.
#[derive(Clone, Debug, PartialEq)]
pub enum Placement {
    /// On a regular lattice.
    Lattice {
        /// Number of grains along x, y, z; along z 1 in planar scenes.
        counts: [u32; 3],
        /// Distance along x, y, z [m]; along z 0 in planar scenes.
        spacing: Vector,
        /// The first grain [m].
        origin: Vector,
        /// Largest random displacement along each axis [m]; none along z in planar scenes.
        jitter: f64,
        /// Whether each grain is turned at random.
        random_rotation: bool,
    },
    /// Falling into a column that is open above.
    Rain {
        /// Number of grains.
        count: u32,
        /// Lowest corner of the column [m].
        min: Vector,
        /// Highest corner of the column [m].
        max: Vector,
        /// Let the grains come to rest before the time starts.
        settle: Option<Settle>,
    },
    /// One by one.
    File {
        /// The file, as an absolute path.
        file: PathBuf,
        /// Its content.
        table: Arc<GrainTable>,
    },
}

/// When grains count as settled.
#[derive(Clone, Debug, PartialEq)]
pub struct Settle {
    /// Largest velocity of a settled grain [m/s].
    pub speed: f64,
    /// Longest time that is simulated for it [s].
    pub at_most: f64,
    /// Rate at which velocities fall meanwhile [1/s].
    pub drag: f64,
}

/// A body whose motion becomes columns of `series.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// First part of the names of its columns; no other probe has it.
    pub name: String,
    /// The body.
    pub body: Target,
    /// The point that is followed, in the frame of the body [m]; the origin unless a body of a mechanism.
    pub point: Vector,
    /// What is written, in this order.
    pub quantities: Vec<Quantity>,
}

/// A body, a grain or a body of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Index into [`SceneFile::bodies`].
    Body(usize),
    /// A grain.
    Grain {
        /// Index into [`SceneFile::grains`].
        group: usize,
        /// Which of them, from 0; its name counts from 1.
        index: usize,
    },
    /// A body of a mechanism.
    MechanismBody {
        /// Index into [`SceneFile::mechanisms`].
        mechanism: usize,
        /// Index into [`Mechanism::bodies`].
        body: usize,
    },
}

/// A quantity of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Position of the origin of the shape [m].
    Position,
    /// Velocity of the origin of the shape [m/s].
    Velocity,
    /// Rotation as a quaternion w, x, y, z [–].
    Rotation,
    /// Angular velocity in the world frame [rad/s].
    AngularVelocity,
    /// Sum of the contact forces [N].
    Force,
    /// Torque of the contact forces about the point that is followed [N m].
    Torque,
    /// Number of contacts.
    Contacts,
    /// Work of the contact forces on the body since the begin [J].
    Work,
}

/// A mechanism whose forces become columns of `series.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct MechanismProbe {
    /// First part of the names of its columns; no other probe has it.
    pub name: String,
    /// Index into [`SceneFile::mechanisms`].
    pub mechanism: usize,
    /// What is written, in this order.
    pub quantities: Vec<MechanismQuantity>,
}

/// A quantity of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MechanismQuantity {
    /// Forces with a law, and springs between points.
    Forces,
    /// Forces in the loops.
    LoopForces,
    /// What the joints pass on.
    JointForces,
    /// Kinetic and potential energy [J].
    Energy,
}

/// A joint between bodies whose force becomes columns of `series.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct JointProbe {
    /// First part of the names of its columns; no other probe has it.
    pub name: String,
    /// Index into [`SceneFile::joints`].
    pub joint: usize,
    /// What is written, in this order.
    pub quantities: Vec<JointQuantity>,
}

/// A quantity of a joint between bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointQuantity {
    /// Force on the second body [N].
    Force,
    /// Torque on the second body [N m].
    Torque,
    /// How far it is off [m, rad].
    Error,
}

/// A joint between two bodies in absolute coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyJoint {
    /// Its name; no other joint between bodies has it.
    pub name: String,
    /// What it leaves free.
    pub kind: BodyJointKind,
    /// The bodies, of which one at least is free and none belongs to a mechanism; `None`: the world.
    pub between: [Option<Target>; 2],
    /// Its place at the start, in the world frame [m].
    pub position: Vector,
    /// Whether positions are put back on the joint after every step.
    pub project: bool,
}

/// What a joint between bodies leaves free; axes are unit vectors of the world at the start [–].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyJointKind {
    /// All rotations.
    Ball,
    /// Rotation about the axis.
    Hinge {
        /// The axis.
        axis: Vector,
    },
    /// Translation along the axis.
    Slider {
        /// The axis.
        axis: Vector,
    },
    /// Nothing.
    Weld,
}

/// A contact between a chosen point and a chosen plane.
#[derive(Clone, Debug, PartialEq)]
pub struct PointContact {
    /// Its name; no other point contact has it.
    pub name: String,
    /// The point.
    pub point: Place,
    /// A point of the plane, on another body.
    pub plane: Place,
    /// Unit normal of the plane in the frame of its body, to the side where the point may be [–].
    pub normal: Vector,
    /// Coefficient of friction [–].
    pub friction: f64,
    /// Coefficient of restitution [–], 0 to 1.
    pub restitution: f64,
    /// Law in the normal direction.
    pub law: NormalLaw,
}

/// A point fixed to a body or to the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The body; `None`: the world.
    pub body: Option<Target>,
    /// Its place in the frame of the body [m].
    pub position: Vector,
}

impl SceneFile {
    /// How two materials meet, given by their indices: their `[[pair]]`, or else the smaller friction,
    /// restitution and rolling resistance of both.
    ///
    /// # Panics
    ///
    /// If an index is not one of [`SceneFile::materials`].
    pub fn pair(&self, a: usize, b: usize) -> Pair {
        let given = |pair: &&Pair| pair.between == [a, b] || pair.between == [b, a];
        if let Some(pair) = self.pairs.iter().find(given) {
            return pair.clone();
        }
        let (first, second) = (&self.materials[a], &self.materials[b]);
        let restitution = first.restitution.min(second.restitution);
        Pair {
            between: [a, b],
            friction: first.friction.min(second.friction),
            restitution,
            law: NormalLaw::for_restitution(restitution),
            rolling: first.rolling.min(second.rolling),
        }
    }

    /// The shape behind a reference.
    pub fn shape<'a>(&'a self, shape: &'a ShapeRef) -> &'a Shape {
        match shape {
            ShapeRef::Named(index) => &self.shapes[*index].shape,
            ShapeRef::Inline(shape) => shape,
        }
    }

    /// The name of a body or grain; of a body of a mechanism `mechanism/body`.
    pub fn target_name(&self, target: Target) -> String {
        match target {
            Target::Body(body) => self.bodies[body].name.clone(),
            Target::Grain { group, index } => format!("{}-{}", self.grains[group].name, index + 1),
            Target::MechanismBody { mechanism, body } => {
                let mechanism = &self.mechanisms[mechanism];
                format!("{}/{}", mechanism.name, mechanism.bodies[body].name)
            }
        }
    }

    /// The number of bodies, grains included, without those of mechanisms.
    pub fn n_bodies(&self) -> u64 {
        self.bodies.len() as u64 + self.grains.iter().map(Grains::count).sum::<u64>()
    }
}
