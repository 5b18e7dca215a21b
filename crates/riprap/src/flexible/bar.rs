//! Straight bars that stretch: linear elements, small strains.

use super::beam::{chain, check_points};
use super::error::{FlexibleError, Problems};
use super::structure::{Mechanics, Structure, StructureState};
use super::{Elastic, Section};
use crate::math::tridiagonal::Tridiagonal;
use crate::math::{Pose, Vec3};

/// How the mass of a bar is distributed to its nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarMass {
    /// As the linear interpolation of velocities gives it: `ρ A L / 6 · [2 1; 1 2]`.
    #[default]
    Consistent,
    /// Half of the mass of an element at each of its nodes.
    Lumped,
}

/// The description of a straight bar: it stretches along its axis and does nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Name of the body.
    pub name: String,
    /// Points on its axis, in order [m].
    pub points: Vec<[f64; 3]>,
    /// Area of the cross-section [m²].
    pub area: f64,
    /// Material; the shear modulus is not used.
    pub material: Elastic,
    /// Elements between two consecutive points.
    pub elements: usize,
    /// Mass matrix.
    pub mass: BarMass,
    /// Kelvin–Voigt damping: stress per rate of stress [s].
    pub damping: f64,
    /// Whether the first and the last node are held.
    pub clamped: [bool; 2],
    /// Velocity along the axis at the start [m/s].
    pub velocity: f64,
}

impl Bar {
    /// A bar without points, of 1 m² of steel.
    pub fn new(name: &str) -> Bar {
        Bar {
            name: name.to_owned(),
            points: Vec::new(),
            area: 1.0,
            material: Elastic::new(2.1e11, 0.3, 7800.0),
            elements: 1,
            mass: BarMass::Consistent,
            damping: 0.0,
            clamped: [false; 2],
            velocity: 0.0,
        }
    }

    /// Points on the axis, at least two [m].
    pub fn points(mut self, points: &[[f64; 3]]) -> Bar {
        self.points = points.to_vec();
        self
    }

    /// Area of the cross-section [m²].
    pub fn area(mut self, area: f64) -> Bar {
        self.area = area;
        self
    }

    /// The area of this cross-section.
    pub fn section(self, section: Section) -> Bar {
        self.area(section.constants(0.0).area)
    }

    /// Material.
    pub fn material(mut self, material: Elastic) -> Bar {
        self.material = material;
        self
    }

    /// Elements between two consecutive points.
    pub fn elements(mut self, elements: usize) -> Bar {
        self.elements = elements;
        self
    }

    /// Half of the mass of an element at each of its nodes.
    pub fn lumped(mut self) -> Bar {
        self.mass = BarMass::Lumped;
        self
    }

    /// Kelvin–Voigt damping: stress per rate of stress [s].
    pub fn damping(mut self, damping: f64) -> Bar {
        self.damping = damping;
        self
    }

    /// Holds the first node.
    pub fn clamp_start(mut self) -> Bar {
        self.clamped[0] = true;
        self
    }

    /// Holds the last node.
    pub fn clamp_end(mut self) -> Bar {
        self.clamped[1] = true;
        self
    }

    /// Velocity along the axis at the start [m/s], from the first point to the last.
    pub fn velocity(mut self, velocity: f64) -> Bar {
        self.velocity = velocity;
        self
    }

    /// Checks the description and builds the body under `gravity` [m/s²]. Reports all mistakes together.
    pub fn build(&self, gravity: Vec3) -> Result<Structure, FlexibleError> {
        let mut problems = Problems::default();
        check_points(&self.points, self.elements, &mut problems);
        self.check_straight(&mut problems);
        problems.positive("section", "area", self.area, "m²");
        self.material.check(&mut problems);
        if !(self.damping >= 0.0 && self.damping.is_finite()) {
            problems.add("damping", format!("must be at least 0, not {} s", self.damping));
        }
        problems.finite("velocity", "velocity", &[self.velocity]);
        if self.velocity != 0.0 && self.clamped.contains(&true) {
            problems
                .add("velocity", "a clamped bar starts at rest; remove the clamp or the velocity");
        }
        problems.finite("gravity", "gravity", gravity.as_slice());
        problems.finish(&self.name)?;

        let positions = chain(&self.points, self.elements);
        let n = positions.len();
        let axis = (positions[n - 1] - positions[0]).normalize();
        let rotation =
            crate::math::Quat::rotation_between(&Vec3::x(), &axis).unwrap_or_else(|| {
                crate::math::Quat::from_scaled_axis(Vec3::z() * std::f64::consts::PI)
            });
        let q: Vec<Pose> = positions.iter().map(|&position| Pose { position, rotation }).collect();
        let lengths: Vec<f64> =
            q.windows(2).map(|q| axis.dot(&(q[1].position - q[0].position))).collect();

        let mut mass = Tridiagonal::new(1, n);
        let mut weight = vec![0.0; n];
        for (k, length) in lengths.iter().enumerate() {
            let m = self.material.density * self.area * length;
            let (own, other) = match self.mass {
                BarMass::Consistent => (m / 3.0, m / 6.0),
                BarMass::Lumped => (0.5 * m, 0.0),
            };
            for node in [k, k + 1] {
                mass.diagonal[node] += own;
                weight[node] += 0.5 * m;
            }
            mass.upper[k] += other;
            mass.lower[k] += other;
        }
        let mut held = vec![false; n];
        (held[0], held[n - 1]) = (self.clamped[0], self.clamped[1]);
        let stiffness = lengths.iter().map(|l| self.material.young * self.area / l).collect();
        Ok(Structure {
            name: self.name.clone(),
            start: StructureState { q, v: vec![self.velocity; n] },
            held,
            mass,
            gravity,
            weight,
            outline: super::section::circle((self.area / std::f64::consts::PI).sqrt()),
            mechanics: Mechanics::Bar { axis, lengths, stiffness, damping: self.damping },
        })
    }

    fn check_straight(&self, problems: &mut Problems) {
        let points: Vec<Vec3> = self.points.iter().map(|&p| Vec3::from(p)).collect();
        let [first, .., last] = points[..] else { return };
        let whole = last - first;
        for (k, p) in points.iter().enumerate().skip(1) {
            let beside = (p - first).cross(&whole).norm() > 1e-9 * whole.norm_squared();
            let back = (p - points[k - 1]).dot(&whole) <= 0.0;
            if beside || back {
                problems.add(
                    "points",
                    format!("point {} is not on the straight line from the first to the last point, in this order; use a beam", k + 1),
                );
                return;
            }
        }
    }
}
