//! Inertias about the reference point of a tree: of one body in its place, of a branch moving as one, and of a branch
//! whose joints give way (Featherstone's articulated inertia).

use super::{Node, Spatial, Tree};
use crate::math::{Mat3, Vec3};

/// A body where it is: mass, centre relative to the reference point, inertia about the centre (xx, yy, zz, xy, xz, yz).
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    mass: f64,
    centre: Vec3,
    inertia: [f64; 6],
}

impl Placed {
    /// Centre and inertia of a body in the axes of the world.
    #[inline]
    pub(super) fn new(node: &Node, rotation: &Mat3, arm: &Vec3) -> Placed {
        let (a, b) = (rotation * node.flat[0], rotation * node.flat[1]);
        let spin = node.spin;
        Placed {
            mass: node.mass,
            centre: arm + rotation * node.centre,
            inertia: [
                spin - a.x * a.x - b.x * b.x,
                spin - a.y * a.y - b.y * b.y,
                spin - a.z * a.z - b.z * b.z,
                -a.x * a.y - b.x * b.y,
                -a.x * a.z - b.x * b.z,
                -a.y * a.z - b.y * b.z,
            ],
        }
    }

    /// Rate of momentum about the reference point for a twist and an acceleration: `m a_c` and `I α + ω × I ω + c × m a_c`.
    #[inline]
    pub(super) fn rate(&self, twist: &Spatial, acceleration: &Spatial) -> Spatial {
        let (c, w) = (&self.centre, &twist.angular);
        let force = Tree::acceleration_at(acceleration, twist, c) * self.mass;
        let moment = times_symmetric(&self.inertia, &acceleration.angular)
            + w.cross(&times_symmetric(&self.inertia, w))
            + c.cross(&force);
        Spatial { angular: moment, linear: force }
    }

    /// Its moments about the reference point.
    #[inline]
    pub(super) fn moments(&self) -> Moments {
        let (c, i) = (&self.centre, &self.inertia);
        let first = c * self.mass;
        let (xx, yy, zz) = (first.x * c.x, first.y * c.y, first.z * c.z);
        let second = [
            i[0] + yy + zz,
            i[1] + xx + zz,
            i[2] + xx + yy,
            i[3] - first.x * c.y,
            i[4] - first.x * c.z,
            i[5] - first.y * c.z,
        ];
        Moments { mass: self.mass, first, second }
    }
}

/// Mass, first and second moments of a body or a branch about the reference point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    mass: f64,
    first: Vec3,
    /// Upper triangle: xx, yy, zz, xy, xz, yz.
    second: [f64; 6],
}

#[inline]
fn times_symmetric(m: &[f64; 6], x: &Vec3) -> Vec3 {
    Vec3::new(
        m[0] * x.x + m[3] * x.y + m[4] * x.z,
        m[3] * x.x + m[1] * x.y + m[5] * x.z,
        m[4] * x.x + m[5] * x.y + m[2] * x.z,
    )
}

impl Moments {
    /// Momentum of a motion.
    #[inline]
    pub(super) fn times(&self, motion: &Spatial) -> Spatial {
        Spatial {
            angular: times_symmetric(&self.second, &motion.angular)
                + self.first.cross(&motion.linear),
            linear: motion.linear * self.mass + motion.angular.cross(&self.first),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, other: &Moments) {
        self.mass += other.mass;
        self.first += other.first;
        for k in 0..6 {
            self.second[k] += other.second[k];
        }
    }
}

/// An articulated inertia: a symmetric 6×6 matrix, angular part first. Both triangles are kept: whole rows are what a processor
/// works on at once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Articulated([[f64; 6]; 6]);

impl Articulated {
    #[inline]
    pub(super) fn of(m: &Moments) -> Articulated {
        let ([xx, yy, zz, xy, xz, yz], c, m) = (m.second, &m.first, m.mass);
        Articulated([
            [xx, xy, xz, 0.0, -c.z, c.y],
            [xy, yy, yz, c.z, 0.0, -c.x],
            [xz, yz, zz, -c.y, c.x, 0.0],
            [0.0, c.z, -c.y, m, 0.0, 0.0],
            [-c.z, 0.0, c.x, 0.0, m, 0.0],
            [c.y, -c.x, 0.0, 0.0, 0.0, m],
        ])
    }

    #[inline]
    pub(super) fn times(&self, motion: &[f64; 6]) -> [f64; 6] {
        let mut force = [0.0; 6];
        for (row, x) in self.0.iter().zip(motion) {
            for k in 0..6 {
                force[k] += row[k] * x;
            }
        }
        force
    }

    #[inline]
    pub(super) fn add(&mut self, other: &Articulated) {
        for (row, other) in self.0.iter_mut().zip(&other.0) {
            for k in 0..6 {
                row[k] += other[k];
            }
        }
    }

    /// Subtracts `u uᵀ / d`.
    #[inline]
    pub(super) fn release(&mut self, u: &[f64; 6], inverse_d: f64) {
        for (row, x) in self.0.iter_mut().zip(u) {
            let x = x * inverse_d;
            for k in 0..6 {
                row[k] -= x * u[k];
            }
        }
    }
}
