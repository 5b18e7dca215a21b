//! Probes: bodies, mechanisms, joints, point contacts, ropes, packings and planes recorded in `series.csv`.

use serde::ser::SerializeMap;

use super::super::fields::{Kind, Table};
use super::super::keys::{Choice, In, Names, WriteKeys, keys, table, words};
use super::contacts::Normal;
use super::grains::{COLUMN, Column};
use super::{LENGTH, POSITIVE_LENGTH, SceneFile, Vector};

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
    /// Acceleration of the centre of mass [m/s²].
    Acceleration,
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
        Force "force": "sum of the contact forces, the force of a joint on the second body, or that of a point contact on the body of its point: mean and maximum [N], impulse [N s]",
        Torque "torque": "of the contact forces about the origin of the shape, or about `point`; or the torque of a joint on the second body, about the position of the joint on it: mean and maximum [N m], impulse [N m s]",
        NormalForce "normal_force": "of a body: sum of the magnitudes of its normal contact forces: mean and maximum [N], impulse [N s]",
        InertialForce "inertial_force": "of a body with a mass: mass times acceleration, from the change of velocity in a step: mean and maximum [N], change of momentum [N s]",
        Acceleration "acceleration": "of the centre of mass of a body, from the change of velocity in a step: mean and maximum [m/s²], change of velocity [m/s]",
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
    /// Force on the body of the point [N].
    Force,
    /// Impulse [N s] and position correction [kg m].
    Multipliers,
}

words! {
    ContactQuantity {
        Gap "gap": "of a point contact: gap [m] and its rate [m/s]",
        Force "force": "see above",
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

/// Measures of the free bodies, or of those in a box, in columns of `series.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionProbe {
    /// Prefix of the column names; unique among the probes.
    pub name: String,
    /// The box; `None` for all of space.
    pub region: Option<Column>,
    /// The recorded quantities, in column order.
    pub quantities: Vec<RegionQuantity>,
}

/// A measure of a packing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionQuantity {
    /// Mean number of touching bodies [–].
    Coordination,
    /// Fraction of rattlers [–].
    Rattlers,
    /// Solid fraction [–].
    SolidFraction,
    /// Mean stress [Pa].
    Stress,
    /// Fabric tensor and anisotropy [–].
    Fabric,
    /// Statistics of normal forces.
    NormalForces,
    /// Slope of the free surface [rad].
    Slope,
    /// Correlation of size and height [–].
    Segregation,
}

impl RegionQuantity {
    /// Whether it is a mean over a volume.
    pub fn needs_box(self) -> bool {
        matches!(self, RegionQuantity::SolidFraction | RegionQuantity::Stress)
    }

    /// Whether it needs a vertical direction.
    pub fn needs_gravity(self) -> bool {
        matches!(self, RegionQuantity::Slope | RegionQuantity::Segregation)
    }
}

words! {
    RegionQuantity {
        Coordination "coordination": "of a region: mean number of bodies that touch a free body, without rattlers and with all bodies [–]",
        Rattlers "rattlers": "of a region: fraction of the free bodies that are rattlers, that is, touch fewer than two bodies; repeated without the rattlers until none are left [–]",
        SolidFraction "solid_fraction": "of a box: fraction of its volume occupied by free bodies, in planar scenes of its area [–]",
        Stress "stress": "of a box: mean stress since the previous row from contact forces and velocity fluctuations, and its mean normal component, compression positive [Pa], in planar scenes [N/m]",
        Fabric "fabric": "of a region: fabric tensor of the contact normals and its anisotropy [–]",
        NormalForces "normal_forces": "of a region: mean, 90th percentile and maximum of the normal forces between bodies [N], and their participation number [–]",
        Slope "slope": "of a region: angle of the plane that fits the highest bodies best, and the direction in which it descends, from x towards y [rad]",
        Segregation "segregation": "of a region: correlation of size and height of the free bodies, 1 if larger ones are higher [–]",
    }
}

table! {
    /// A plane through which free bodies pass.
    PASSAGE = "passage", "plane of a probe";
    pub struct Passage {
        /// A point of the plane.
        point: Vector = Polar(&LENGTH), Required;
        /// Normal, in the direction in which mass counts as positive.
        normal: Vector = Axis, Required, with Normal;
        /// Only bodies that pass within this distance of `point` count.
        radius: Option<f64> = POSITIVE_LENGTH, Optional;
    }
}

/// A plane whose flow of mass is recorded in columns of `series.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaneProbe {
    /// Prefix of the column names; unique among the probes.
    pub name: String,
    /// The plane.
    pub plane: Passage,
    /// The recorded quantities, in column order.
    pub quantities: Vec<PlaneQuantity>,
}

/// A quantity of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaneQuantity {
    /// Mass per time [kg/s].
    FlowRate,
}

words! {
    PlaneQuantity {
        FlowRate "flow_rate": "of a plane: mass of the free bodies whose centre passes it along its normal, less that in the opposite direction: mean per time [kg/s], and sum since the start [kg]",
    }
}

/// Joins lists of words.
const fn joined<const N: usize>(
    lists: &[&[(&'static str, &'static str)]],
) -> [(&'static str, &'static str); N] {
    let mut all = [("", ""); N];
    let (mut k, mut list) = (0, 0);
    while list < lists.len() {
        let mut i = 0;
        while i < lists[list].len() {
            all[k] = lists[list][i];
            (i, k) = (i + 1, k + 1);
        }
        list += 1;
    }
    assert!(k == N, "the number of quantities");
    all
}

/// Number of different quantities.
const N_QUANTITIES: usize = 29;

/// All quantities. Those of joints and point contacts with the same name as one of bodies or mechanisms are described there.
const QUANTITIES: &[(&str, &str)] = &{
    let (forces, rest) = MechanismQuantity::WORDS.split_at(3);
    let (energy, multipliers) = rest.split_at(1);
    joined::<N_QUANTITIES>(&[
        Quantity::WORDS,
        forces,
        &[JointQuantity::WORDS[2]],
        energy,
        &[ContactQuantity::WORDS[0]],
        multipliers,
        RopeQuantity::WORDS,
        RegionQuantity::WORDS,
        PlaneQuantity::WORDS,
    ])
};
static QUANTITY: Kind = Kind::Choice(QUANTITIES);

pub(crate) static PROBE: Table = Table {
    name: "probe",
    title: "[[probe]]",
    doc: "A body, mechanism, joint, point contact or rope whose motion and forces are recorded in columns of `series.csv`, or a measure of many bodies. Coordinates of mechanisms are \
          recorded without a probe: `MECHANISM.COORDINATE.q` and `.v`, for driven ones also `.force`, all at the time of the row. \
          For a force, the columns over the interval since the previous row are its mean `NAME.force_mean_x` to `_z`, its \
          largest magnitude in a step `NAME.force_max` and its impulse `NAME.impulse_x` to `_z`; for a torque, \
          `NAME.torque_mean_x`, `NAME.torque_max`, `NAME.angular_impulse_x` and so on; for a normal force, \
          `NAME.normal_force_mean`, `NAME.normal_force_max` and `NAME.normal_impulse`; for an inertial force, \
          `NAME.inertial_force_mean_x`, `NAME.inertial_force_max`, `NAME.momentum_change_x` and so on; for an acceleration, \
          `NAME.acceleration_mean_x`, `NAME.acceleration_max`, `NAME.velocity_change_x` and so on. `NAME` is the name of the probe; for \
          mechanisms it is followed by the name of the force or joint, and the forces are those of the equations of motion at \
          the end of each step, with the mean contact forces of that step. The scalars of mechanisms are \
          `FORCE.force_mean`, `.force_max` and `.impulse` on a coordinate; `SPRING.tension_mean`, `.tension_max`, \
          `.tension_impulse` and `.length`; `COORDINATE.drive_mean`, `.drive_max` and `.drive_impulse` of driven coordinates; and \
          `LOOP.x_mean`, `.x_max`, `.x_impulse` and so on for each equation. The columns of joints between bodies are in the world \
          frame, with `JOINT.error` and `.error_angle` at the time of the row. The columns of a point contact are `NAME.gap`, \
          `.gap_velocity`, those of a force, `.impulse_n`, `.impulse_t1`, `.impulse_t2` and `.nu`; the multipliers of a joint or loop are \
          `NAME.EQUATION.lambda`, `.impulse`, `.nu`, `.residual` and `.residual_velocity` (`NAME.LOOP.EQUATION…` for a mechanism). \
          The columns of a rope are `NAME.tension_mean`, `.tension_max`, `.tension_impulse`, `.slack` and `.broken`. \
          The columns of a region are `NAME.coordination`, `.coordination_all`, `.rattlers`, `.solid_fraction`, `.stress_xx` to `_yz`, \
          `.pressure`, `.fabric_xx` to `_yz`, `.anisotropy`, `.normal_force_mean`, `.normal_force_p90`, `.normal_force_max`, \
          `.participation`, `.slope`, `.slope_direction` and `.segregation`, at the time of the row with the contact forces of the last \
          step, except for the stress, which is the mean since the previous row; NaN where there is nothing to measure. Those of a plane are `NAME.flow_rate`, the mean since the previous row, and `.passed_mass`.",
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
        /// A box whose free bodies and contacts are measured, or `"all"`, instead of a body; in a periodic scene `"all"` is the cell. Bodies belong to the box if their
        /// centre of mass does, contacts if their point does; in planar scenes z is ignored.
        region: OneOf(&[Choice(&[("all", "all free bodies")]), Table(&COLUMN)]), Optional;
        /// A plane that free bodies pass, instead of a body.
        plane: Table(&PASSAGE), Optional;
        /// The recorded point, in the frame of the body; for bodies of mechanisms and nodes of flexible bodies.
        point: Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
        /// Another body: forces, work and number of contacts are those of the contacts with it alone.
        contact_with: Refers("body"), Optional;
        /// Recorded quantities.
        quantities: List { of: &QUANTITY, min: 1, max: N_QUANTITIES }, Computed("`[\"position\", \"velocity\"]`; for a mechanism `[\"forces\"]`, for a joint `[\"force\"]`, for a point contact `[\"gap\"]`, for a rope `[\"tension\", \"slack\"]`, for a region `[\"coordination\", \"rattlers\"]`, for a plane `[\"flow_rate\"]`");
        /// Unique prefix of the column names.
        name: Name, Computed("the name of the body (with `/` replaced by `.`), mechanism, joint, point contact or rope; `region` or `plane`");
    }],
    tag: None,
};

/// A probe of any kind, with the keys to serialize.
pub(in super::super) struct AnyProbe<'a> {
    name: &'a str,
    follows: Follows<'a>,
    point: Option<Vector>,
    contact_with: Option<String>,
    quantities: Vec<&'static str>,
}

/// What a probe records.
enum Follows<'a> {
    /// The key that names the recorded object, and its value.
    Named(&'static str, String),
    Region(Option<&'a Column>),
    Plane(&'a Passage),
}

impl<'a> AnyProbe<'a> {
    fn new<T: Choice>(name: &'a str, follows: Follows<'a>, quantities: &[T]) -> Self {
        let quantities = quantities.iter().map(|quantity| quantity.word()).collect();
        AnyProbe { name, follows, point: None, contact_with: None, quantities }
    }
}

/// All probes: of mechanisms, of joints, of bodies, of point contacts, of ropes, of regions, of planes.
pub(in super::super) fn all_probes(scene: &SceneFile) -> Vec<AnyProbe<'_>> {
    let mechanisms = scene.mechanism_probes.iter().map(|probe| {
        let follows = Follows::Named("mechanism", scene.mechanisms[probe.mechanism].name.clone());
        AnyProbe::new(&probe.name, follows, &probe.quantities)
    });
    let joints = scene.joint_probes.iter().map(|probe| {
        let follows = Follows::Named("joint", scene.joints[probe.joint].name.clone());
        AnyProbe::new(&probe.name, follows, &probe.quantities)
    });
    let bodies = scene.probes.iter().map(|probe| {
        let follows = Follows::Named("body", scene.target_name(probe.body));
        let has_point = matches!(probe.body, Target::MechanismBody { .. } | Target::Node { .. });
        AnyProbe {
            point: has_point.then_some(probe.point),
            contact_with: probe.contact_with.map(|other| scene.target_name(other)),
            ..AnyProbe::new(&probe.name, follows, &probe.quantities)
        }
    });
    let contacts = scene.contact_probes.iter().map(|probe| {
        let name = scene.point_contacts[probe.contact].name.clone();
        AnyProbe::new(&probe.name, Follows::Named("point_contact", name), &probe.quantities)
    });
    let ropes = scene.rope_probes.iter().map(|probe| {
        let follows = Follows::Named("rope", scene.ropes[probe.rope].name.clone());
        AnyProbe::new(&probe.name, follows, &probe.quantities)
    });
    let regions = scene.region_probes.iter().map(|probe| {
        AnyProbe::new(&probe.name, Follows::Region(probe.region.as_ref()), &probe.quantities)
    });
    let planes = scene
        .plane_probes
        .iter()
        .map(|probe| AnyProbe::new(&probe.name, Follows::Plane(&probe.plane), &probe.quantities));
    let objects = mechanisms.chain(joints).chain(bodies).chain(contacts).chain(ropes);
    objects.chain(regions).chain(planes).collect()
}

impl WriteKeys for AnyProbe<'_> {
    fn write_keys<M: SerializeMap>(&self, names: Names<'_>, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("name", self.name)?;
        match &self.follows {
            Follows::Named(key, name) => map.serialize_entry(key, name)?,
            Follows::Region(None) => map.serialize_entry("region", "all")?,
            Follows::Region(Some(column)) => map.serialize_entry("region", &In(names, *column))?,
            Follows::Plane(plane) => map.serialize_entry("plane", &In(names, *plane))?,
        }
        map.serialize_entry("point", &self.point)?;
        map.serialize_entry("contact_with", &self.contact_with)?;
        map.serialize_entry("quantities", &self.quantities)
    }
}
