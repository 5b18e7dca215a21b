//! Beams in space: their description, the frames of their sections and their masses.

use super::element::{BeamElement, logarithm};
use super::error::{FlexibleError, Problems};
use super::structure::{Mechanics, Structure, StructureState};
use super::{Elastic, Section};
use crate::math::tridiagonal::Tridiagonal;
use crate::math::{Mat3, Pose, Quat, Vec3};

/// Most nodes of a flexible body.
const MAX_NODES: usize = 100_000;

/// What holds an end of a beam.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Support {
    /// Nothing.
    #[default]
    Free,
    /// Its position: the section turns freely.
    Pinned,
    /// Position and orientation.
    Clamped,
}

/// The description of a geometrically exact beam through points in space.
///
/// Each two consecutive points are joined by the same number of elements. The section at an inner node is perpendicular to
/// the bisector of its two neighbours, and that at an end continues the arc of the first or last element. A corner is therefore
/// rounded within the two elements beside it, and points on a circle give the circle.
#[derive(Clone, Debug, PartialEq)]
pub struct Beam {
    /// Name of the body.
    pub name: String,
    /// Points on its axis, in order [m].
    pub points: Vec<[f64; 3]>,
    /// Cross-section.
    pub section: Section,
    /// Direction of the axis z of the first section, as far as it is perpendicular to the beam; by default the world's z, or x
    /// for an upright beam.
    pub up: Option<[f64; 3]>,
    /// Material.
    pub material: Elastic,
    /// Elements between two consecutive points.
    pub elements: usize,
    /// Kelvin–Voigt damping: stress per rate of stress [s].
    pub damping: f64,
    /// What holds the first and the last node.
    pub supports: [Support; 2],
    /// Velocity of the first node at the start [m/s].
    pub velocity: [f64; 3],
    /// Angular velocity of the whole beam about its first node at the start [rad/s], in the world.
    pub angular_velocity: [f64; 3],
}

impl Beam {
    /// A beam without points, of steel with a diameter of 2 cm.
    pub fn new(name: &str) -> Beam {
        Beam {
            name: name.to_owned(),
            points: Vec::new(),
            section: Section::Circle { radius: 0.01 },
            up: None,
            material: Elastic::new(2.1e11, 0.3, 7800.0),
            elements: 1,
            damping: 0.0,
            supports: [Support::Free; 2],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
        }
    }

    /// Points on the axis, at least two [m].
    pub fn points(mut self, points: &[[f64; 3]]) -> Beam {
        self.points = points.to_vec();
        self
    }

    /// Cross-section.
    pub fn section(mut self, section: Section) -> Beam {
        self.section = section;
        self
    }

    /// Direction of the axis z of the first section; the part along the beam does not matter.
    pub fn up(mut self, up: [f64; 3]) -> Beam {
        self.up = Some(up);
        self
    }

    /// Material.
    pub fn material(mut self, material: Elastic) -> Beam {
        self.material = material;
        self
    }

    /// Elements between two consecutive points.
    pub fn elements(mut self, elements: usize) -> Beam {
        self.elements = elements;
        self
    }

    /// Kelvin–Voigt damping: stress per rate of stress [s].
    pub fn damping(mut self, damping: f64) -> Beam {
        self.damping = damping;
        self
    }

    /// Holds position and orientation of the first node.
    pub fn clamp_start(mut self) -> Beam {
        self.supports[0] = Support::Clamped;
        self
    }

    /// Holds position and orientation of the last node.
    pub fn clamp_end(mut self) -> Beam {
        self.supports[1] = Support::Clamped;
        self
    }

    /// What holds the first and the last node.
    pub fn supports(mut self, start: Support, end: Support) -> Beam {
        self.supports = [start, end];
        self
    }

    /// Velocity of the first node [m/s] and angular velocity of the whole beam about it [rad/s], at the start and in the
    /// world.
    pub fn velocity(mut self, linear: [f64; 3], angular: [f64; 3]) -> Beam {
        (self.velocity, self.angular_velocity) = (linear, angular);
        self
    }

    /// Checks the description and builds the body under `gravity` [m/s²]. Reports all mistakes together.
    pub fn build(&self, gravity: Vec3) -> Result<Structure, FlexibleError> {
        let mut problems = Problems::default();
        self.check(&mut problems);
        problems.finite("gravity", "gravity", gravity.as_slice());
        problems.finish(&self.name)?;

        let q = self.frames()?;
        let mut problems = Problems::default();
        let elements = self.build_elements(&q, &mut problems);
        problems.finish(&self.name)?;

        let (mass, weight) = self.masses(&elements);
        let n = q.len();
        let mut held = vec![false; 6 * n];
        for (node, support) in [(0, self.supports[0]), (n - 1, self.supports[1])] {
            let dofs = match support {
                Support::Free => 0,
                Support::Pinned => 3,
                Support::Clamped => 6,
            };
            held[6 * node..6 * node + dofs].fill(true);
        }
        let (linear, angular) = (Vec3::from(self.velocity), Vec3::from(self.angular_velocity));
        let v = q.iter().flat_map(|pose| {
            let v = linear + angular.cross(&(pose.position - q[0].position));
            let omega = pose.inverse_vector(angular);
            [v.x, v.y, v.z, omega.x, omega.y, omega.z]
        });
        let v = v.zip(&held).map(|(v, held)| if *held { 0.0 } else { v }).collect();
        Ok(Structure {
            name: self.name.clone(),
            start: StructureState { q, v },
            held,
            mass,
            gravity,
            weight,
            outline: self.section.outline(),
            mechanics: Mechanics::Beam { elements },
        })
    }

    fn check(&self, problems: &mut Problems) {
        check_points(&self.points, self.elements, problems);
        self.section.check(problems);
        self.material.check(problems);
        if let Some(up) = self.up {
            problems.finite("up", "direction", &up);
            if Vec3::from(up).norm() == 0.0 {
                problems.add("up", "must not be zero");
            }
        }
        if !(self.damping >= 0.0 && self.damping.is_finite()) {
            problems.add("damping", format!("must be at least 0, not {} s", self.damping));
        }
        problems.finite("velocity", "velocity", &self.velocity);
        problems.finite("velocity", "angular velocity", &self.angular_velocity);
        let [linear, angular] = [self.velocity, self.angular_velocity].map(|v| v != [0.0; 3]);
        let [start, end] = self.supports;
        let stops = start != Support::Free && linear
            || start == Support::Clamped && angular
            || end != Support::Free && (linear || angular);
        if stops {
            problems
                .add("velocity", "contradicts the supports, which are at rest; remove one of them");
        }
    }

    /// Frames of the sections: x along the beam, y and z carried along it without torsion.
    fn frames(&self) -> Result<Vec<Pose>, FlexibleError> {
        let positions = chain(&self.points, self.elements);
        let mut problems = Problems::default();
        let directions: Vec<Vec3> =
            positions.windows(2).map(|p| (p[1] - p[0]).normalize()).collect();
        let last = directions.len() - 1;
        let mut along = vec![directions[0]; positions.len()];
        for k in 1..=last {
            let sum = directions[k - 1] + directions[k];
            if sum.norm() < 0.1 {
                problems.add(
                    "points",
                    format!("the beam turns back at node {k}; round the corner with more points"),
                );
            }
            along[k] = sum.normalize();
        }
        problems.finish(&self.name)?;
        // The direction at an end is that at the next node, mirrored at the chord.
        let mirrored = |t: Vec3, chord: Vec3| (chord * (2.0 * chord.dot(&t)) - t).normalize();
        along[0] = if last == 0 { directions[0] } else { mirrored(along[1], directions[0]) };
        along[last + 1] =
            if last == 0 { directions[0] } else { mirrored(along[last], directions[last]) };

        let default = if along[0].z.abs() < 0.9 { Vec3::z() } else { Vec3::x() };
        let up = self.up.map_or(default, Vec3::from).normalize();
        let y = up.cross(&along[0]);
        if y.norm() < 1e-6 {
            let mut problems = Problems::default();
            problems.add("up", "is along the beam at its start; give a direction across it");
            problems.finish(&self.name)?;
        }
        let y = y.normalize();
        let first = Mat3::from_columns(&[along[0], y, along[0].cross(&y)]);
        let mut rotation =
            Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(first));
        let mut poses = Vec::with_capacity(positions.len());
        for (k, &position) in positions.iter().enumerate() {
            if k > 0 {
                let step = Quat::rotation_between(&along[k - 1], &along[k]).unwrap_or_default();
                rotation = Quat::from_quaternion((step * rotation).into_inner());
            }
            poses.push(Pose { position, rotation });
        }
        Ok(poses)
    }

    fn build_elements(&self, q: &[Pose], problems: &mut Problems) -> Vec<BeamElement> {
        let Elastic { young, shear, .. } = self.material;
        let s = self.section.constants(self.material.nu());
        let stiffness = [
            Vec3::new(young * s.area, shear * s.area * s.shear[0], shear * s.area * s.shear[1]),
            Vec3::new(shear * s.torsion, young * s.inertia[0], young * s.inertia[1]),
        ];
        let element = |pair: &[Pose]| {
            let [u, psi] = logarithm(&pair[0], &pair[1]);
            let length = u.norm();
            BeamElement {
                length,
                rest: [u / length, psi / length],
                stiffness,
                damping: self.damping,
            }
        };
        let elements: Vec<BeamElement> = q.windows(2).map(element).collect();
        let fits =
            |e: &BeamElement| e.length.is_finite() && e.stiffness[0].iter().all(|k| k.is_finite());
        if !elements.iter().all(fits) {
            problems.add(
                "section",
                "lengths, section and material give a stiffness that is not finite",
            );
        }
        elements
    }

    /// The consistent mass matrix, and the mass of each node for gravity.
    fn masses(&self, elements: &[BeamElement]) -> (Tridiagonal, Vec<f64>) {
        let n = elements.len() + 1;
        let s = self.section.constants(self.material.nu());
        let density = self.material.density;
        let turning =
            [s.inertia[0] + s.inertia[1], s.inertia[0], s.inertia[1]].map(|i| density * i);
        let mut mass = Tridiagonal::new(6, n);
        let mut weight = vec![0.0; n];
        for (k, element) in elements.iter().enumerate() {
            for dof in 0..6 {
                let per_length = if dof < 3 { density * s.area } else { turning[dof - 3] };
                let m = per_length * element.length;
                let (a, b) = (6 * k + dof, 6 * (k + 1) + dof);
                *mass.entry_mut(a, a) += m / 3.0;
                *mass.entry_mut(b, b) += m / 3.0;
                *mass.entry_mut(a, b) += m / 6.0;
                *mass.entry_mut(b, a) += m / 6.0;
            }
            for node in [k, k + 1] {
                weight[node] += 0.5 * density * s.area * element.length;
            }
        }
        (mass, weight)
    }
}

/// Checks of the points that bars and beams have in common.
pub(super) fn check_points(points: &[[f64; 3]], elements: usize, problems: &mut Problems) {
    if points.len() < 2 {
        problems.add("points", format!("needs at least 2 points, not {}", points.len()));
    }
    for (k, p) in points.iter().enumerate() {
        if !p.iter().all(|x| x.is_finite()) {
            problems.add("points", format!("point {} must be finite, not {p:?}", k + 1));
        }
    }
    for (k, pair) in points.windows(2).enumerate() {
        if pair[0] == pair[1] {
            problems.add("points", format!("points {} and {} are equal", k + 1, k + 2));
        }
    }
    let nodes = elements.saturating_mul(points.len().saturating_sub(1)).saturating_add(1);
    if elements == 0 || nodes > MAX_NODES {
        problems.add(
            "elements",
            format!("must give between 1 element and {MAX_NODES} nodes, not {nodes} nodes"),
        );
    }
}

/// Positions of the nodes.
pub(super) fn chain(points: &[[f64; 3]], elements: usize) -> Vec<Vec3> {
    let mut positions = vec![Vec3::from(points[0])];
    for pair in points.windows(2) {
        let (a, b) = (Vec3::from(pair[0]), Vec3::from(pair[1]));
        for k in 1..elements {
            positions.push(a + (b - a) * (k as f64 / elements as f64));
        }
        positions.push(b);
    }
    positions
}
