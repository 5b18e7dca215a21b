//! Inertias about the reference point of a tree: of one placed body, of a branch moving as one, and
//! of a branch whose joints are free to move (Featherstone's articulated inertia).

use super::{Node, Spatial, Tree};
use crate::math::{Mat3, Vec3};

/// A placed body: mass, centre relative to the reference point, inertia about the centre (xx, yy,
/// zz, xy, xz, yz).
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    mass: f64,
    centre: Vec3,
    inertia: [f64; 6],
}

impl Placed {
    /// Centre and inertia of a body in world axes.
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

/// An articulated inertia: a symmetric 6×6 matrix, angular part first. Both triangles are stored,
/// so that whole rows can be processed with vector instructions.
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

#[cfg(test)]
mod tests {
    use super::super::Elementary;
    use super::*;
    use crate::math::fixtures::{Rng, rotation, seeded, vector};
    use crate::multibody::fixtures::body;
    use crate::multibody::{GROUND, Joint, Mechanism};

    /// The node of a body, as created by the layout of a mechanism.
    fn node(rng: &mut Rng) -> Node {
        let mut m = Mechanism::new("body");
        let mass = body(rng);
        m.add("body", GROUND, Joint::Spherical, crate::math::Pose::IDENTITY, Some(mass));
        let node = m.tree(Vec3::zeros()).0.nodes[0].clone();
        assert_eq!(node.joint, Elementary::Spherical);
        node
    }

    fn spatial(rng: &mut Rng) -> Spatial {
        Spatial { angular: vector(rng, 2.0), linear: vector(rng, 2.0) }
    }

    fn apart(a: &Spatial, b: &Spatial) -> f64 {
        (a.angular - b.angular).norm() + (a.linear - b.linear).norm()
    }

    /// A body at a random pose: node, rotation, origin.
    fn placed(rng: &mut Rng) -> (Node, Mat3, Vec3, Placed) {
        let (node, arm) = (node(rng), vector(rng, 1.0));
        let r = *rotation(rng).to_rotation_matrix().matrix();
        let placed = Placed::new(&node, &r, &arm);
        (node, r, arm, placed)
    }

    #[test]
    fn a_placed_inertia_is_the_rotated_tensor() {
        let mut rng = seeded(11);
        for _ in 0..40 {
            let (node, r, arm, placed) = placed(&mut rng);
            let expected = r * node.inertia * r.transpose();
            let [xx, yy, zz, xy, xz, yz] = placed.inertia;
            let found = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
            assert!((found - expected).norm() < 1e-14);
            assert!((placed.centre - (arm + r * node.centre)).norm() < 1e-15);
        }
    }

    #[test]
    fn momentum_is_mass_times_the_velocity_of_the_centre_and_spin_about_it() {
        let mut rng = seeded(12);
        for _ in 0..40 {
            let (node, r, _, placed) = placed(&mut rng);
            let twist = spatial(&mut rng);
            let p = Tree::velocity_at(&twist, &placed.centre) * node.mass;
            let spin = r * node.inertia * r.transpose() * twist.angular;
            let expected = Spatial { angular: spin + placed.centre.cross(&p), linear: p };
            let moments = placed.moments();
            assert!(apart(&moments.times(&twist), &expected) < 1e-13);
            // The articulated inertia of a single body is the same map.
            let six = Articulated::of(&moments).times(&twist.array());
            assert!(apart(&Spatial::from(six), &expected) < 1e-13);
        }
    }

    #[test]
    fn moments_of_several_bodies_add_up() {
        let mut rng = seeded(13);
        let (a, b) = (placed(&mut rng).3.moments(), placed(&mut rng).3.moments());
        let mut both = a;
        both.add(&b);
        let mut articulated = Articulated::of(&a);
        articulated.add(&Articulated::of(&b));
        for _ in 0..10 {
            let twist = spatial(&mut rng);
            let sum = a.times(&twist) + b.times(&twist);
            assert!(apart(&both.times(&twist), &sum) < 1e-13);
            assert!(apart(&Spatial::from(articulated.times(&twist.array())), &sum) < 1e-13);
        }
    }

    #[test]
    fn the_rate_of_momentum_agrees_with_finite_differences() {
        let mut rng = seeded(14);
        let h = 1e-5;
        for _ in 0..40 {
            let (node, r, arm, placed) = placed(&mut rng);
            let (twist, acceleration) = (spatial(&mut rng), spatial(&mut rng));
            // A body frame that moves with the twist for a short time; the reference point stays.
            let momentum = |t: f64| {
                let twist = twist + acceleration * t;
                let mean = twist - acceleration * (0.5 * t);
                let turned = crate::math::Quat::from_scaled_axis(mean.angular * t);
                let turned = turned.to_rotation_matrix().matrix() * r;
                let v = Tree::velocity_at(&mean, &arm);
                let curved = mean.angular.cross(&v) * (0.5 * t * t);
                let moments = Placed::new(&node, &turned, &(arm + v * t + curved)).moments();
                moments.times(&twist)
            };
            let rate = (momentum(h) - momentum(-h)) * (0.5 / h);
            // Truncation error of a central difference at velocities of a few rad/s.
            assert!(apart(&rate, &placed.rate(&twist, &acceleration)) < 1e-7);
        }
    }

    #[test]
    fn a_released_direction_carries_no_force_and_the_rest_stays_symmetric() {
        let mut rng = seeded(15);
        for _ in 0..40 {
            let mut inertia = Articulated::of(&placed(&mut rng).3.moments());
            let axis = spatial(&mut rng).array();
            let u = inertia.times(&axis);
            let d: f64 = u.iter().zip(&axis).map(|(u, s)| u * s).sum();
            assert!(d > 0.0);
            inertia.release(&u, 1.0 / d);
            let left = inertia.times(&axis);
            let scale = u.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            assert!(left.iter().all(|x| x.abs() < 1e-13 * scale), "{left:?}");
            for i in 0..6 {
                for j in 0..6 {
                    // u uᵀ / d is rounded in another order on the other side.
                    let pair = inertia.0[i][j] - inertia.0[j][i];
                    assert!(pair.abs() < 1e-15 * (1.0 + scale * scale / d));
                }
            }
        }
    }
}
