//! Probes: bodies, mechanisms, joints, point contacts and ropes recorded in `series.csv`.

use serde::ser::SerializeMap;

use super::super::fields::{Kind, Table};
use super::super::keys::{Choice, Names, WriteKeys, keys, words};
use super::{LENGTH, SceneFile, Vector};

/// A body whose motion is recorded in columns of `series.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Prefix of the column names; unique among the probes.
    pub name: String,
    /// The body.
    pub body: Target,
    /// The recorded point, in the frame of the body [m]; the origin unless the body belongs to a mechanism or is a node of
    /// a flexible body.
    pub point: Vector,
    /// The other body, if only the contacts with it are recorded.
    pub contact_with: Option<Target>,
    /// The recorded quantities, in column order.
    pub quantities: Vec<Quantity>,
}

/// A body, a grain, a body of a mechanism or a node of a flexible body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Index into [`SceneFile::bodies`].
    Body(usize),
    /// A grain.
    Grain {
        /// Index into [`SceneFile::grains`].
        group: usize,
        /// Index in the group, from 0; names count from 1.
        index: usize,
    },
    /// A body of a mechanism.
    MechanismBody {
        /// Index into [`SceneFile::mechanisms`].
        mechanism: usize,
        /// Index into [`Mechanism::bodies`](super::Mechanism::bodies).
        body: usize,
    },
    /// A node of a flexible body.
    Node {
        /// Index into [`SceneFile::flexible`].
        flexible: usize,
        /// Number of the node, from 0.
        node: usize,
    },
}

impl SceneFile {
    /// The name of a body or grain; `mechanism/body` for a body of a mechanism, `flexible/3` for a
    /// node of a flexible body.
    pub fn target_name(&self, target: Target) -> String {
        match target {
            Target::Body(body) => self.bodies[body].name.clone(),
            Target::Grain { group, index } => format!("{}-{}", self.grains[group].name, index + 1),
            Target::MechanismBody { mechanism, body } => {
                let mechanism = &self.mechanisms[mechanism];
                format!("{}/{}", mechanism.name, mechanism.bodies[body].name)
            }
            Target::Node { flexible, node } => format!("{}/{node}", self.flexible[flexible].name),
        }
    }

    /// The name of a body, or `world`.
    pub(in super::super) fn target_or_world(&self, target: Option<Target>) -> String {
        target.map_or("world".into(), |target| self.target_name(target))
    }
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
    /// Torque of the contact forces about the recorded point [N m].
    Torque,
    /// Sum of the normal contact forces, regardless of their directions [N].
    NormalForce,
    /// Mass times acceleration [N].
    InertialForce,
    /// Number of contacts.
    Contacts,
    /// Work of the contact forces on the body since the start [J].
    Work,
}

words! {
    Quantity {
        Position "position": "of the origin of the shape, or of `point` [m]",
        Velocity "velocity": "of the origin of the shape, or of `point` [m/s]",
        Rotation "rotation": "quaternion w, x, y, z [–]",
        AngularVelocity "angular_velocity": "in the world frame [rad/s]",
        Force "force": "sum of the contact forces, or the force of a joint on the second body: mean and maximum [N], impulse [N s]",
        Torque "torque": "of the contact forces about the origin of the shape, or about `point`; or the torque of a joint on the second body, about the position of the joint on it: mean and maximum [N m], impulse [N m s]",
        NormalForce "normal_force": "of a body: sum of the magnitudes of its normal contact forces: mean and maximum [N], impulse [N s]",
        InertialForce "inertial_force": "of a body with a mass: mass times acceleration, from the change of velocity in a step: mean and maximum [N], change of momentum [N s]",
        Contacts "contacts": "number of contacts, including near ones that carry no force [–]",
        Work "work": "done by the contact forces on the body since the start [J]",
    }
}

/// A mechanism whose forces are recorded in columns of `series.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct MechanismProbe {
    /// Prefix of the column names; unique among the probes.
    pub name: String,
    /// Index into [`SceneFile::mechanisms`].
    pub mechanism: usize,
    /// The recorded quantities, in column order.
    pub quantities: Vec<MechanismQuantity>,
}

/// A quantity of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MechanismQuantity {
    /// Forces with a law, and springs between points.
    Forces,
    /// Forces in the loops.
    LoopForces,
    /// Forces transmitted by the joints.
    JointForces,
    /// Kinetic and potential energy [J].
    Energy,
    /// Residuals and multipliers of the loops.
    Multipliers,
}

words! {
    MechanismQuantity {
        Forces "forces": "of a mechanism: laws [N, N m], tensions [N] and lengths [m] of its springs, forces of its drives [N, N m]",
        LoopForces "loop_forces": "of a mechanism: forces and moments in its loops, acting on the body of `b`, along the axes of `a`; for loops with an axis, `z` is along the axis and `x` and `y` are perpendicular to it [N, N m]",
        JointForces "joint_forces": "of a mechanism: force and moment that each joint transmits to its child, in the world frame [N, N m]",
        Energy "energy": "of a mechanism: kinetic and potential energy [J]",
        Multipliers "multipliers": "of the scheme `generalized-alpha` in the last step. Of a point contact: impulse Λ along normal and tangents [N s] and position correction ν [kg m]. Of a joint or the loops of a mechanism, for each equation: smooth multiplier λ̃ [N, N m], impulse Λ, ν, and residuals at position and velocity level",
    }
}

/// A joint between bodies whose force is recorded in columns of `series.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct JointProbe {
    /// Prefix of the column names; unique among the probes.
    pub name: String,
    /// Index into [`SceneFile::joints`].
    pub joint: usize,
    /// The recorded quantities, in column order.
    pub quantities: Vec<JointQuantity>,
}

/// A quantity of a joint between bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointQuantity {
    /// Force on the second body [N].
    Force,
    /// Torque on the second body [N m].
    Torque,
    /// Constraint error [m, rad].
    Error,
    /// Residuals and multipliers of its equations.
    Multipliers,
}

words! {
    JointQuantity {
        Force "force": "see above",
        Torque "torque": "see above",
        Error "error": "of a joint: constraint error, as the distance between its positions on the two bodies along constrained translations [m] and the angle of constrained rotations [rad]",
        Multipliers "multipliers": "see above",
    }
}

/// A point contact that is recorded in columns of `series.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactProbe {
    /// Prefix of the column names; unique among the probes.
    pub name: String,
    /// Index into [`SceneFile::point_contacts`].
    pub contact: usize,
    /// The recorded quantities, in column order.
    pub quantities: Vec<ContactQuantity>,
}

/// A quantity of a point contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactQuantity {
    /// Gap [m] and its rate [m/s].
    Gap,
    /// Impulse [N s] and position correction [kg m].
    Multipliers,
}

words! {
    ContactQuantity {
        Gap "gap": "of a point contact: gap [m] and its rate [m/s]",
        Multipliers "multipliers": "see above",
    }
}

/// A rope that is recorded in columns of `series.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct RopeProbe {
    /// Prefix of the column names; unique among the probes.
    pub name: String,
    /// Index into [`SceneFile::ropes`].
    pub rope: usize,
    /// The recorded quantities, in column order.
    pub quantities: Vec<RopeQuantity>,
}

/// A quantity of a rope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RopeQuantity {
    /// Tension [N].
    Tension,
    /// Slack [m] and whether it is broken.
    Slack,
}

words! {
    RopeQuantity {
        Tension "tension": "of a rope: mean and maximum [N], impulse [N s]",
        Slack "slack": "of a rope: length minus that of its path [m], negative if it is stretched, and whether it is broken (1) or not (0)",
    }
}

/// All quantities. Forces and torques of joints are described with those of bodies, multipliers with those of mechanisms.
const QUANTITIES: &[(&str, &str)] = &{
    let [body, mechanism] = [Quantity::WORDS, MechanismQuantity::WORDS];
    let mut all = [JointQuantity::WORDS[2]; 19];
    let mut i = 0;
    while i < body.len() {
        all[i] = body[i];
        i += 1;
    }
    (all[10], all[11], all[12], all[14]) = (mechanism[0], mechanism[1], mechanism[2], mechanism[3]);
    (all[15], all[16]) = (ContactQuantity::WORDS[0], mechanism[4]);
    (all[17], all[18]) = (RopeQuantity::WORDS[0], RopeQuantity::WORDS[1]);
    all
};
static QUANTITY: Kind = Kind::Choice(QUANTITIES);

pub(crate) static PROBE: Table = Table {
    name: "probe",
    title: "[[probe]]",
    doc: "A body, mechanism, joint, point contact or rope whose motion and forces are recorded in columns of `series.csv`. Coordinates of mechanisms are \
          recorded without a probe: `MECHANISM.COORDINATE.q` and `.v`, for driven ones also `.force`, all at the time of the row. \
          For a force, the columns over the interval since the previous row are its mean `NAME.force_mean_x` to `_z`, its \
          largest magnitude in a step `NAME.force_max` and its impulse `NAME.impulse_x` to `_z`; for a torque, \
          `NAME.torque_mean_x`, `NAME.torque_max`, `NAME.angular_impulse_x` and so on; for a normal force, \
          `NAME.normal_force_mean`, `NAME.normal_force_max` and `NAME.normal_impulse`; for an inertial force, \
          `NAME.inertial_force_mean_x`, `NAME.inertial_force_max`, `NAME.momentum_change_x` and so on. `NAME` is the name of the probe; for \
          mechanisms it is followed by the name of the force or joint, and the forces are those of the equations of motion at \
          the end of each step, with the mean contact forces of that step. The scalars of mechanisms are \
          `FORCE.force_mean`, `.force_max` and `.impulse` on a coordinate; `SPRING.tension_mean`, `.tension_max`, \
          `.tension_impulse` and `.length`; `COORDINATE.drive_mean`, `.drive_max` and `.drive_impulse` of driven coordinates; and \
          `LOOP.x_mean`, `.x_max`, `.x_impulse` and so on for each equation. The columns of joints between bodies are in the world \
          frame, with `JOINT.error` and `.error_angle` at the time of the row. The columns of a point contact are `NAME.gap`, \
          `.gap_velocity`, `.impulse_n`, `.impulse_t1`, `.impulse_t2` and `.nu`; the multipliers of a joint or loop are \
          `NAME.EQUATION.lambda`, `.impulse`, `.nu`, `.residual` and `.residual_velocity` (`NAME.LOOP.EQUATION…` for a mechanism). \
          The columns of a rope are `NAME.tension_mean`, `.tension_max`, `.tension_impulse`, `.slack` and `.broken`.",
    fields: &[keys! {
        /// Name of a body, of a grain such as `ballast-12`, of a body of a mechanism such as `robot/hand`, or of a node of a
        /// flexible body such as `spring/10`.
        body: Refers("body"), Optional;
        /// Name of a mechanism, instead of a body.
        mechanism: Refers("mechanism"), Optional;
        /// Name of a joint between bodies, instead of a body.
        joint: Refers("joint"), Optional;
        /// Name of a point contact, instead of a body.
        point_contact: Refers("point contact"), Optional;
        /// Name of a rope, instead of a body.
        rope: Refers("rope"), Optional;
        /// The recorded point, in the frame of the body; for bodies of mechanisms and nodes of flexible bodies.
        point: Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
        /// Another body: forces, work and number of contacts are those of the contacts with it alone.
        contact_with: Refers("body"), Optional;
        /// Recorded quantities.
        quantities: List { of: &QUANTITY, min: 1, max: 19 }, Computed("`[\"position\", \"velocity\"]`; for a mechanism `[\"forces\"]`, for a joint `[\"force\"]`, for a point contact `[\"gap\"]`, for a rope `[\"tension\", \"slack\"]`");
        /// Unique prefix of the column names.
        name: Name, Computed("the name of the body (with `/` replaced by `.`), mechanism, joint, point contact or rope");
    }],
    tag: None,
};

/// A probe of any kind, with the keys to serialize.
pub(in super::super) struct AnyProbe<'a> {
    name: &'a str,
    /// The key that names the recorded object, and its value.
    follows: (&'static str, String),
    point: Option<Vector>,
    contact_with: Option<String>,
    quantities: Vec<&'static str>,
}

/// All probes: of mechanisms, of joints, of bodies, of point contacts, of ropes.
pub(in super::super) fn all_probes(scene: &SceneFile) -> Vec<AnyProbe<'_>> {
    fn words<T: Choice>(quantities: &[T]) -> Vec<&'static str> {
        quantities.iter().map(|quantity| quantity.word()).collect()
    }
    let mechanisms = scene.mechanism_probes.iter().map(|probe| AnyProbe {
        name: &probe.name,
        follows: ("mechanism", scene.mechanisms[probe.mechanism].name.clone()),
        point: None,
        contact_with: None,
        quantities: words(&probe.quantities),
    });
    let joints = scene.joint_probes.iter().map(|probe| AnyProbe {
        name: &probe.name,
        follows: ("joint", scene.joints[probe.joint].name.clone()),
        point: None,
        contact_with: None,
        quantities: words(&probe.quantities),
    });
    let bodies = scene.probes.iter().map(|probe| AnyProbe {
        name: &probe.name,
        follows: ("body", scene.target_name(probe.body)),
        point: matches!(probe.body, Target::MechanismBody { .. } | Target::Node { .. })
            .then_some(probe.point),
        contact_with: probe.contact_with.map(|other| scene.target_name(other)),
        quantities: words(&probe.quantities),
    });
    let contacts = scene.contact_probes.iter().map(|probe| AnyProbe {
        name: &probe.name,
        follows: ("point_contact", scene.point_contacts[probe.contact].name.clone()),
        point: None,
        contact_with: None,
        quantities: words(&probe.quantities),
    });
    let ropes = scene.rope_probes.iter().map(|probe| AnyProbe {
        name: &probe.name,
        follows: ("rope", scene.ropes[probe.rope].name.clone()),
        point: None,
        contact_with: None,
        quantities: words(&probe.quantities),
    });
    mechanisms.chain(joints).chain(bodies).chain(contacts).chain(ropes).collect()
}

impl WriteKeys for AnyProbe<'_> {
    fn write_keys<M: SerializeMap>(&self, _: Names<'_>, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("name", self.name)?;
        map.serialize_entry(self.follows.0, &self.follows.1)?;
        map.serialize_entry("point", &self.point)?;
        map.serialize_entry("contact_with", &self.contact_with)?;
        map.serialize_entry("quantities", &self.quantities)
    }
}
