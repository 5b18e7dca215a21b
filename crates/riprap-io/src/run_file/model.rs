//! What a run file contains, in memory: the bodies of a run ([`Model`]), their motion in a frame ([`Poses`]) and their
//! contacts ([`ContactSet`]). Bodies are numbered by their row in the model.

use serde::{Deserialize, Serialize};

/// The bodies of a run and their shapes. They change only if stones break or wear.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Name of each body.
    pub names: Vec<String>,
    /// Names of the materials.
    pub materials: Vec<String>,
    /// Id of each body; ids are never used again in a run.
    pub ids: Vec<u32>,
    /// Kind of each body.
    pub kinds: Vec<Kind>,
    /// Material of each body, an index into `materials`.
    pub material: Vec<u32>,
    /// Mass of each body [kg]; 0 if it is held or has a prescribed motion.
    pub mass: Vec<f32>,
    /// Size of each body: the diameter of the sphere of equal volume [m]; 0 for a half-space.
    pub size: Vec<f32>,
    /// Radius of a body that is a sphere [m]; it has no faces. 0 for others.
    pub radius: Vec<f32>,
    /// Whether the faces of a body are only a patch that shows a half-space.
    pub unbounded: Vec<bool>,
    /// First vertex of each body, and the number of vertices.
    pub first_vertex: Vec<u32>,
    /// Vertices of all bodies in the frame of their body [m].
    pub vertices: Vec<[f32; 3]>,
    /// First face of each body, and the number of faces.
    pub first_face: Vec<u32>,
    /// First entry of each face in `face_vertices`, and their number.
    pub face_offsets: Vec<u32>,
    /// Corners of the faces, anticlockwise as seen from outside; indices into `vertices`.
    pub face_vertices: Vec<u32>,
    /// The mechanisms.
    pub mechanisms: Vec<MechanismInfo>,
    /// The flexible bodies.
    pub flexible: Vec<FlexibleInfo>,
    /// Whether all motion is in the plane z = 0.
    pub planar: bool,
    /// Acceleration of gravity [m/s²].
    pub gravity: [f64; 3],
}

/// Vertices of a flexible body, at most.
const MAX_TUBE: usize = 1 << 24;

impl Model {
    /// The direction that is up: against gravity, or z, or y in planar scenes.
    pub fn up(&self) -> [f64; 3] {
        let length = self.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        match (length > 0.0 && length.is_finite(), self.planar) {
            (true, _) => self.gravity.map(|g| -g / length),
            (false, true) => [0.0, 1.0, 0.0],
            (false, false) => [0.0, 0.0, 1.0],
        }
    }

    /// Whether the lengths of all lists agree and all indices are in range.
    pub(super) fn is_consistent(&self) -> bool {
        let n = self.names.len();
        let lengths = [
            self.ids.len(),
            self.kinds.len(),
            self.material.len(),
            self.mass.len(),
            self.size.len(),
            self.radius.len(),
            self.unbounded.len(),
        ];
        let starts = |starts: &[u32], n: usize, total: usize| {
            starts.len() == n + 1
                && starts[0] == 0
                && starts[n] as usize == total
                && starts.is_sorted()
        };
        let n_faces = self.face_offsets.len().saturating_sub(1);
        let n_vertices = self.vertices.len();
        let body = |index: &u32| (*index as usize) < n;
        let mechanism = |m: &MechanismInfo| {
            let joints = m.joints.iter().flat_map(|joint| [joint.parent, joint.child]);
            let loops = m.loops.iter().flat_map(|closure| [closure.a, closure.b]);
            m.bodies.iter().all(body) && joints.chain(loops).flatten().all(|index| body(&index))
        };
        let flexible = |f: &FlexibleInfo| {
            f.nodes > 0
                && f.first.checked_add(f.nodes).is_some_and(|end| end as usize <= n)
                && f.nodes as usize * f.outline.len() <= MAX_TUBE
        };
        lengths.iter().all(|length| *length == n)
            && starts(&self.first_vertex, n, n_vertices)
            && starts(&self.first_face, n, n_faces)
            && starts(&self.face_offsets, n_faces, self.face_vertices.len())
            && self.face_vertices.iter().all(|vertex| (*vertex as usize) < n_vertices)
            && self.material.iter().all(|k| (*k as usize) < self.materials.len().max(1))
            && self.mechanisms.iter().all(mechanism)
            && self.flexible.iter().all(flexible)
    }
}

/// How a body moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Free: a stone.
    Free,
    /// Held: a wall.
    Fixed,
    /// With a prescribed motion.
    Driven,
    /// Part of a mechanism.
    Mechanism,
    /// A node of a flexible body.
    Node,
}

/// A mechanism.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MechanismInfo {
    /// Its name.
    pub name: String,
    /// Its bodies that are in the list of bodies.
    pub bodies: Vec<u32>,
    /// The joints of its tree.
    pub joints: Vec<JointInfo>,
    /// Its loop closures.
    pub loops: Vec<LoopInfo>,
}

/// A joint of a mechanism.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JointInfo {
    /// Its name.
    pub name: String,
    /// Its type as in scene files, such as `revolute`.
    pub kind: String,
    /// The body before the joint; `None` for the world.
    pub parent: Option<u32>,
    /// The body behind the joint.
    pub child: Option<u32>,
    /// Its point in the frame of the child [m].
    pub at: [f64; 3],
    /// Its axis in the frame of the child, if it has one.
    pub axis: Option<[f64; 3]>,
}

/// A loop closure of a mechanism.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoopInfo {
    /// Its name.
    pub name: String,
    /// Its type as in scene files, such as `ball`.
    pub kind: String,
    /// The first body; `None` for the world.
    pub a: Option<u32>,
    /// The second body; `None` for the world.
    pub b: Option<u32>,
    /// Its point in the frame of the first body [m].
    pub at_a: [f64; 3],
    /// Its point in the frame of the second body [m].
    pub at_b: [f64; 3],
}

/// A flexible body: its outline along the nodes, closed at both ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlexibleInfo {
    /// Its name.
    pub name: String,
    /// Its first node, a body; the others follow.
    pub first: u32,
    /// Number of its nodes.
    pub nodes: u32,
    /// Outline of the section: y and z in the frames of the nodes [m].
    pub outline: Vec<[f32; 2]>,
}

/// Poses and velocities of all bodies in a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Poses {
    /// [s]
    pub time: f64,
    /// Number of time steps before the frame.
    pub step: u64,
    /// Number of its [`Model`].
    pub model: u32,
    /// Position of the frame of each body [m]; that of a free body is its centre of mass.
    pub position: Vec<[f64; 3]>,
    /// Rotation of each body, a unit quaternion (x, y, z, w).
    pub rotation: Vec<[f32; 4]>,
    /// Velocity of each centre of mass [m/s].
    pub velocity: Vec<[f32; 3]>,
    /// Angular velocity of each body, in the world frame [rad/s].
    pub angular_velocity: Vec<[f32; 3]>,
    /// The unbroken ropes.
    pub ropes: Vec<Rope>,
}

/// A rope in a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rope {
    /// Its number in the scene.
    pub rope: u32,
    /// Its course [m].
    pub points: Vec<[f32; 3]>,
    /// Mean tension over the last step [N].
    pub tension: f32,
    /// Length it lacks to be taut [m].
    pub slack: f32,
}

/// The surfaces of a frame as ParaView shows them, body by body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceSet {
    /// Time of the surfaces [s]; earlier than that of the frame if they are written less often.
    pub time: f64,
    /// Points [m].
    pub points: Vec<[f32; 3]>,
    /// Corners of all faces, indices into `points`.
    pub corners: Vec<u32>,
    /// End of each face in `corners`.
    pub ends: Vec<u32>,
    /// Id of the body of each face.
    pub bodies: Vec<u32>,
    /// Material of each face, an index into [`Model::materials`].
    pub materials: Vec<u32>,
    /// Speed of the centre of mass of the body of each face [m/s].
    pub speeds: Vec<f32>,
}

/// The contacts of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactSet {
    /// Time of the contacts [s]; earlier than that of the frame if they are written less often.
    pub time: f64,
    /// Contact points [m].
    pub point: Vec<[f32; 3]>,
    /// Force on the second body [N].
    pub force: Vec<[f32; 3]>,
    /// Unit normal, from the first body to the second.
    pub normal: Vec<[f32; 3]>,
    /// Gap, negative where bodies overlap [m].
    pub gap: Vec<f32>,
    /// The two bodies, rows of the model of the frame.
    pub bodies: Vec<[u32; 2]>,
}

impl ContactSet {
    /// The two bodies of each contact and its normal force [N]; 0 if the bodies pull at each other.
    pub fn normal_forces(&self) -> impl Iterator<Item = ([u32; 2], f32)> {
        let forces = self.force.iter().zip(&self.normal).map(|(force, normal)| {
            force.iter().zip(normal).map(|(f, n)| f * n).sum::<f32>().max(0.0)
        });
        self.bodies.iter().copied().zip(forces)
    }
}
