//! URDF files: links become bodies, joints become joints. In both formats, the frame of a body is that of its
//! parent joint, at coordinate 0.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use urdf_rs::{Geometry, JointType};

use super::super::document::excerpt;
use super::super::keys::ReadKeys;
use super::super::model::{
    BodyShape, Drive, Joint, JointKind, JointSpring, Mass, MechanismBody, MeshTreatment, Part,
    Quaternion, Shape, ShapeRef, Stops, UrdfLimits, Vector,
};
use super::super::units::Dimension;
use super::super::values::Entries;
use super::bodies::{Inertias, check_inertia};
use super::links::{cross, dot, follow};
use super::mechanisms::{JointPart, Parts, fixed};
use super::{Converter, did_you_mean};
use crate::regular::read_limited;
use crate::unit_vector::unit;

/// Maximum size of a URDF file [bytes].
const MAX_BYTES: u64 = 16 << 20;
/// Maximum nesting of its elements.
const MAX_DEPTH: usize = 64;
/// Number of sides of the prism that approximates a cylinder.
const CORNERS: usize = 24;

/// The settings of the scene for a URDF file.
struct Wishes {
    /// Where the file is named.
    span: Range<usize>,
    /// The path of the file as given by the user, for messages.
    name: String,
    /// The folder of the file.
    folder: PathBuf,
    material: Option<usize>,
    limits: Option<UrdfLimits>,
}

impl Converter<'_> {
    /// Adds the bodies and joints of the URDF file of a mechanism, if there is one, and returns its root.
    pub(super) fn urdf(&mut self, mechanism: &Entries, parts: &mut Parts) -> Option<usize> {
        let Some(name) = mechanism.text("urdf") else {
            for key in ["urdf_material", "urdf_limits", "urdf_joints"] {
                if mechanism.given(key).is_some() {
                    let message = format!("`{key}` is not allowed without `urdf`");
                    self.problems.report(mechanism.key_span(key), message);
                }
            }
            return None;
        };
        let span = mechanism.value_span("urdf");
        if self.planar {
            let message = "URDF files are not available in planar scenes";
            self.problems.report(span.clone(), message);
        }
        let file = self.path(name);
        let limits = mechanism.table("urdf_limits");
        let limits = limits.and_then(|table| UrdfLimits::read_keys(self, table));
        let wishes = Wishes {
            span: span.clone(),
            name: name.to_owned(),
            folder: file.parent().unwrap_or(Path::new("")).to_owned(),
            material: mechanism.get("urdf_material").and_then(|node| self.material_of(node)),
            limits,
        };
        let robot = match read(&file) {
            Ok(robot) => robot,
            Err(message) => {
                self.problems.report(span, message);
                (parts.lost_bodies, parts.lost_joints) = (true, true);
                return None;
            }
        };
        for link in &robot.links {
            let body = self.link(link, &wishes);
            self.add_body(body, span.clone(), parts);
        }
        for joint in &robot.joints {
            self.urdf_joint(joint, &wishes, parts);
        }
        self.urdf_wishes(mechanism, parts);

        // The root is the link that is not the child of any joint.
        let carried: HashSet<usize> = parts.joints.iter().map(|part| part.joint.child).collect();
        (0..parts.bodies.len()).find(|body| !carried.contains(body))
    }

    fn complain(&mut self, wishes: &Wishes, message: impl std::fmt::Display) {
        let message = format!("{}: {message}", excerpt(&wishes.name));
        self.problems.report(wishes.span.clone(), message);
    }

    fn link(&mut self, link: &urdf_rs::Link, wishes: &Wishes) -> MechanismBody {
        let name = legal(&link.name, "-_.");
        let inertial = &link.inertial;
        let (centre, rotation) = pose(&inertial.origin);
        let j = &inertial.inertia;
        let inertia =
            turned([[j.ixx, j.ixy, j.ixz], [j.ixy, j.iyy, j.iyz], [j.ixz, j.iyz, j.izz]], rotation);
        let mass = inertial.mass.value;
        let numbers = inertia.iter().flatten().chain(&centre).chain([&mass]);
        if !numbers.into_iter().all(|x| x.is_finite()) || mass < 0.0 {
            self.complain(
                wishes,
                format_args!("the mass properties of the link `{name}` are invalid"),
            );
        } else if let Err(message) = check_inertia(&inertia, Inertias::AlsoFlat) {
            self.complain(wishes, format_args!("link `{name}`: {message}"));
        }
        let shapes = match wishes.material {
            Some(material) => {
                let shapes = link.collision.iter();
                shapes
                    .filter_map(|collision| {
                        let (position, rotation) = pose(&collision.origin);
                        let shape = self.geometry(&collision.geometry, &name, wishes)?;
                        if !position.iter().chain(&rotation).all(|x| x.is_finite()) {
                            self.complain(
                                wishes,
                                format_args!("link `{name}`: the `origin` of a shape is invalid"),
                            );
                            return None;
                        }
                        let shape = ShapeRef::Inline(shape);
                        Some(BodyShape { shape, material, position, rotation })
                    })
                    .collect()
            }
            None => Vec::new(),
        };
        let mass = Mass { mass, inertia: Some(inertia), centre: Some(centre) };
        MechanismBody { name, mass: Some(mass), shapes }
    }

    fn geometry(&mut self, geometry: &Geometry, link: &str, wishes: &Wishes) -> Option<Shape> {
        let positive = |sizes: &[f64]| sizes.iter().all(|x| *x > 0.0 && x.is_finite());
        let shape = match geometry {
            Geometry::Box { size } if positive(&size.0) => Shape::Box { size: size.0 },
            Geometry::Sphere { radius } if positive(&[*radius]) => {
                Shape::Sphere { radius: *radius }
            }
            Geometry::Cylinder { radius, length } if positive(&[*radius, *length]) => {
                prism(*radius, *length)
            }
            Geometry::Capsule { radius, length } if positive(&[*radius, *length]) => {
                let part = |shape, z| Part {
                    shape: ShapeRef::Inline(shape),
                    position: [0.0, 0.0, z],
                    rotation: super::shapes::UPRIGHT,
                };
                let ball = || Shape::Sphere { radius: *radius };
                let parts = vec![
                    part(prism(*radius, *length), 0.0),
                    part(ball(), 0.5 * length),
                    part(ball(), -0.5 * length),
                ];
                Shape::Compound { parts }
            }
            Geometry::Mesh { filename, scale } => {
                let [x, y, z] = scale.map_or([1.0; 3], |scale| scale.0);
                if !positive(&[x]) || x != y || y != z {
                    let message = format_args!(
                        "link `{link}`: the scale of the mesh must be positive and the same along all axes"
                    );
                    self.complain(wishes, message);
                    return None;
                }
                let file = find(filename, &wishes.folder);
                let mesh = self.mesh_of(file.clone(), &wishes.span)?;
                Shape::Mesh { file, scale: x, treatment: MeshTreatment::Hull, mesh }
            }
            _ => {
                let message = format_args!("link `{link}`: the size of a shape must be positive");
                self.complain(wishes, message);
                return None;
            }
        };
        Some(shape)
    }

    fn urdf_joint(&mut self, joint: &urdf_rs::Joint, wishes: &Wishes, parts: &mut Parts) {
        let name = legal(&joint.name, "_.");
        let index = |link: &str| parts.body_index.get(&legal(link, "-_.")).copied();
        let [parent, child] = [&joint.parent.link, &joint.child.link].map(|link| index(link));
        let (Some(parent), Some(child)) = (parent, child) else {
            let message =
                format_args!("joint `{name}`: there is no link for its `parent` or its `child`");
            self.complain(wishes, message);
            parts.lost_joints = true;
            return;
        };
        let (position, rotation) = pose(&joint.origin);
        if !position.iter().chain(&rotation).all(|x| x.is_finite()) {
            self.complain(wishes, format_args!("the `origin` of the joint `{name}` is invalid"));
        }
        if joint.mimic.is_some() {
            let message =
                format_args!("the joint `{name}` mimics another one, which is not supported");
            self.complain(wishes, message);
        }
        let axis = match unit(joint.axis.xyz.0) {
            Some(axis) => axis,
            None => {
                self.complain(
                    wishes,
                    format_args!("the axis of the joint `{name}` has zero length"),
                );
                [1.0, 0.0, 0.0]
            }
        };
        let kind = match joint.joint_type {
            JointType::Revolute | JointType::Continuous => JointKind::Revolute { axis },
            JointType::Prismatic => JointKind::Prismatic { axis },
            JointType::Fixed => JointKind::Fixed,
            JointType::Floating => JointKind::Free,
            JointType::Planar => JointKind::Planar { axes: plane(axis) },
            JointType::Spherical => JointKind::Spherical,
        };
        let one = matches!(kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. });
        let damping = joint.dynamics.as_ref().map_or(0.0, |dynamics| dynamics.damping);
        if !(damping >= 0.0 && damping.is_finite()) {
            self.complain(wishes, format_args!("the damping of the joint `{name}` is negative"));
        }
        let spring = JointSpring { stiffness: 0.0, rest: 0.0, damping };
        let (lower, upper) = (joint.limit.lower, joint.limit.upper);
        let limited = one && joint.joint_type != JointType::Continuous && lower < upper;
        let end = |limit: f64| limit.is_finite().then_some(limit);
        let limits = wishes.limits.as_ref();
        let limits = limits.filter(|_| limited && (end(lower).or(end(upper)).is_some()));
        let stops = limits.map(|limits| Stops {
            lower: end(lower),
            upper: end(upper),
            stiffness: limits.stiffness,
            damping: limits.damping,
        });
        let mut start = vec![0.0; kind.n_positions()];
        if let Some(at) = kind.n_positions().checked_sub(4)
            && matches!(kind, JointKind::Spherical | JointKind::Free)
        {
            start[at] = 1.0;
        }
        let start_velocity = vec![0.0; kind.n_velocities()];
        let joint = Joint {
            position,
            rotation,
            start,
            start_velocity,
            spring: (one && damping > 0.0).then_some(spring),
            stops,
            kind,
            ..fixed(name, Some(parent), child)
        };
        let (span, child_span) = (wishes.span.clone(), wishes.span.clone());
        let part = JointPart { joint, span, child_span, complete: true };
        self.register_joint(part, &wishes.span, parts);
    }

    /// Initial states and drives of joints of the URDF file.
    fn urdf_wishes(&mut self, mechanism: &Entries, parts: &mut Parts) {
        for (name, key_span, node) in
            mechanism.table("urdf_joints").into_iter().flat_map(Entries::named)
        {
            let Some(entries) = node.table() else { continue };
            let Some(part) = parts.joints.iter_mut().find(|part| part.joint.name == name) else {
                if !parts.lost_joints {
                    let known = parts.joint_names.iter().map(String::as_str);
                    let help = did_you_mean(name, known, "joint");
                    let message = format!("the URDF file has no joint `{}`", excerpt(name));
                    self.problems.advise(key_span.clone(), message, help);
                }
                continue;
            };
            let joint = &mut part.joint;
            let [position, velocity] = match joint.kind {
                JointKind::Revolute { .. } => [Dimension::ANGLE, Dimension::ANGULAR_VELOCITY],
                JointKind::Prismatic { .. } => [Dimension::LENGTH, Dimension::VELOCITY],
                _ => {
                    let message = format!("`{name}` is not revolute, continuous or prismatic");
                    self.problems.report(key_span.clone(), message);
                    continue;
                }
            };
            if entries.given("start").is_some() && entries.given("guess").is_some() {
                let message = "give `start` or `guess`, not both";
                self.problems.report(entries.key_span("guess"), message);
            }
            for (key, held) in [("guess", false), ("start", true)] {
                if let Some(node) = entries.given(key) {
                    joint.start = vec![self.quantity(node, key, position).unwrap_or(0.0)];
                    joint.start_held = held;
                }
            }
            if let Some(node) = entries.given("start_velocity") {
                let value = self.quantity(node, "start_velocity", velocity);
                (joint.start_velocity, joint.start_velocity_held) =
                    (vec![value.unwrap_or(0.0)], true);
            }
            joint.drive = self.drive(entries, Some(velocity));
            follow(&joint.drive, &mut joint.start, &mut joint.start_velocity);
            joint.start_held |= matches!(joint.drive, Drive::Motion(_));
            joint.start_velocity_held |= joint.drive != Drive::None;
        }
    }
}

/// Reads a URDF file; the message names it.
fn read(file: &Path) -> Result<urdf_rs::Robot, String> {
    let bytes = read_limited(file, MAX_BYTES).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes)
        .map_err(|_| format!("{} is not valid UTF-8 text", file.display()))?;
    if depth(&text) > MAX_DEPTH {
        return Err(format!("{} is nested too deeply", file.display()));
    }
    let robot = urdf_rs::read_from_string(&text)
        .map_err(|error| format!("{} is not a URDF file: {error}", file.display()))?;
    match robot.links.is_empty() {
        true => Err(format!("{} has no links", file.display())),
        false => Ok(robot),
    }
}

/// The nesting depth of the elements of an XML text, which need not be well formed. The parser is recursive, so the depth
/// must be checked first.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let skipped = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>"), ("!", ">")];
        if let Some((_, end)) = skipped.iter().find(|(begin, _)| rest.starts_with(begin)) {
            let Some(at) = rest.find(end) else { break };
            rest = &rest[at + end.len()..];
            continue;
        }
        // A tag ends at the first unquoted `>`.
        let mut quote = None;
        let end = rest.find(|c: char| {
            match quote {
                Some(open) if c == open => quote = None,
                None if c == '"' || c == '\'' => quote = Some(c),
                _ => {}
            }
            c == '>' && quote.is_none()
        });
        let Some(end) = end else { break };
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if tag.starts_with('/') {
            depth = depth.saturating_sub(1);
        } else if !tag.ends_with('/') {
            depth += 1;
            deepest = deepest.max(depth);
        }
    }
    deepest
}

/// A valid name: characters that are neither alphanumeric nor `allowed` become `_`.
fn legal(name: &str, allowed: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() || allowed.contains(c) { c } else { '_' };
    match name.trim() {
        "" => "_".to_owned(),
        name => name.chars().map(letter).collect(),
    }
}

/// The file of a mesh: `package://name/path` is searched in the folder of the URDF file and its parents.
fn find(filename: &str, folder: &Path) -> PathBuf {
    let filename = filename.strip_prefix("file://").unwrap_or(filename);
    let Some(rest) = filename.strip_prefix("package://") else { return folder.join(filename) };
    let inner = rest.split_once('/').map_or(rest, |(_, inner)| inner);
    let candidates =
        folder.ancestors().take(4).flat_map(|above| [above.join(inner), above.join(rest)]);
    let found = candidates.into_iter().find(|path| path.is_file());
    found.unwrap_or_else(|| folder.join(inner))
}

/// A cylinder about z as a prism.
fn prism(radius: f64, length: f64) -> Shape {
    let corner = |index: usize| {
        let (sin, cos) = (std::f64::consts::TAU * index as f64 / CORNERS as f64).sin_cos();
        [radius * cos, radius * sin]
    };
    let points =
        (0..CORNERS).map(corner).flat_map(|[x, y]| [-0.5, 0.5].map(|z| [x, y, z * length]));
    Shape::Polyhedron { points: points.collect() }
}

/// Two directions that form a right-handed orthogonal frame with `normal`; x and y if it is z.
fn plane(normal: Vector) -> [Vector; 2] {
    let start = if normal[0].abs() < 0.9 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let along = dot(start, normal);
    let x = std::array::from_fn(|i| start[i] - along * normal[i]);
    let x = unit(x).unwrap_or(start);
    [x, cross(normal, x)]
}

/// Position and rotation of an `origin`: roll, pitch and yaw about fixed axes.
fn pose(origin: &urdf_rs::Pose) -> (Vector, Quaternion) {
    let [r, p, y] = origin.rpy.0.map(|angle| (0.5 * angle).sin_cos());
    let rotation = [
        r.1 * p.1 * y.1 + r.0 * p.0 * y.0,
        r.0 * p.1 * y.1 - r.1 * p.0 * y.0,
        r.1 * p.0 * y.1 + r.0 * p.1 * y.0,
        r.1 * p.1 * y.0 - r.0 * p.0 * y.1,
    ];
    (origin.xyz.0, unit(rotation).unwrap_or(rotation))
}

/// `R J Rᵀ`.
fn turned(j: [Vector; 3], [w, x, y, z]: Quaternion) -> [Vector; 3] {
    if [x, y, z] == [0.0; 3] {
        return j;
    }
    let r = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ];
    let row =
        |a: usize| -> Vector { std::array::from_fn(|k| (0..3).map(|i| r[a][i] * j[i][k]).sum()) };
    let half: [Vector; 3] = [row(0), row(1), row(2)];
    // Both triangles are set from one, so that the matrix stays exactly symmetric.
    std::array::from_fn(|a| std::array::from_fn(|b| dot(half[a.min(b)], r[a.max(b)])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roll_pitch_and_yaw_turn_about_fixed_axes_in_this_order() {
        let quarter = std::f64::consts::FRAC_PI_2;
        let origin =
            urdf_rs::Pose { xyz: Default::default(), rpy: urdf_rs::Vec3([quarter, 0.0, quarter]) };
        let (_, rotation) = pose(&origin);
        // The roll maps y to z, which stays there, and z to -y, then x.
        let j = turned([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]], rotation);
        for (axis, expected) in [3.0, 1.0, 2.0].into_iter().enumerate() {
            assert!((j[axis][axis] - expected).abs() < 1e-15, "{j:?}");
        }
    }

    #[test]
    fn the_nesting_of_xml_is_seen_before_it_is_parsed() {
        assert_eq!(
            depth("<?xml version='1'?><robot><link name='a'/><link><x></x></link></robot>"),
            3
        );
        assert_eq!(depth("<a b='/>'><!-- </a> <c> --><![CDATA[</a>]]><d c=\"'/\"></d></a>"), 2);
        assert_eq!(depth(&"<a>".repeat(1000)), 1000);
    }

    #[test]
    fn the_axes_of_a_plane_are_right_handed() {
        assert_eq!(plane([0.0, 0.0, 1.0]), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        let normal = unit([1.0, -2.0, 0.5]).unwrap();
        let [x, y] = plane(normal);
        for (axis, value) in cross(x, y).into_iter().enumerate() {
            assert!((value - normal[axis]).abs() < 1e-15);
        }
        assert!(dot(x, y).abs() < 1e-15);
    }
}
