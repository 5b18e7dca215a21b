//! The geometrically exact beam element of Sonneville, Cardona and Brüls, *Computer Methods in Applied Mechanics and Engineering*
//! 268, 2014: the strain is the logarithm of the motion from one node to the next, constant along the element.

use super::logarithm::{Tangent, cross, rotation_vector};
use crate::math::{Mat3, Pose, Vec3};

/// One element between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BeamElement {
    /// Length at rest [m].
    pub length: f64,
    /// Strain at rest: stretch and shears [–], torsion and curvatures [1/m].
    pub rest: [Vec3; 2],
    /// `EA, GA_y, GA_z` [N] and `GJ, EI_y, EI_z` [N m²].
    pub stiffness: [Vec3; 2],
    /// Kelvin–Voigt damping: stress per rate of stress [s].
    pub damping: f64,
}

/// Velocity of a node as the element uses it: linear in the world, angular in the frame of the section.
pub(super) type NodeVelocity = [Vec3; 2];

/// Forces on the two nodes: `[force, moment]` of the first, then of the second; forces in the world, moments in the
/// frames of the sections [N, N m].
pub(super) type NodeForces = [Vec3; 4];

/// Blocks of a matrix of an element, rows and columns as in [`NodeForces`].
pub(super) type NodeMatrix = [[Mat3; 4]; 4];

/// The motion from the first node to the second.
struct Relative {
    rotation_a: Mat3,
    /// Position of the second node in the frame of the first [m].
    p: Vec3,
    t: Tangent,
    /// `∂(A p)/∂ψ`.
    d: Mat3,
}

impl Relative {
    fn new(a: &Pose, b: &Pose) -> Relative {
        let psi = rotation_vector(a.rotation.inverse() * b.rotation);
        let p = a.inverse_vector(b.position - a.position);
        let t = Tangent::new(psi);
        Relative {
            rotation_a: a.rotation.to_rotation_matrix().into_inner(),
            p,
            t,
            d: t.derivative(p),
        }
    }

    /// `u` and `ψ`: the logarithm [m, rad].
    fn logarithm(&self) -> [Vec3; 2] {
        [self.t.a * self.p, self.t.psi]
    }

    /// Derivatives of `p` and of `ψ` with respect to a motion of the second node, a rotation of the first and one of the
    /// second. A motion of the first node is the opposite of one of the second.
    fn variations(&self) -> [(Mat3, Mat3); 3] {
        [
            (self.rotation_a.transpose(), Mat3::zeros()),
            (cross(self.p), -self.t.a),
            (Mat3::zeros(), self.t.a.transpose()),
        ]
    }

    /// Rates of `p` and of `ψ`.
    fn rates(&self, va: &NodeVelocity, vb: &NodeVelocity) -> [Vec3; 2] {
        let apart = self.rotation_a.transpose() * (vb[0] - va[0]);
        [apart + self.p.cross(&va[1]), self.t.a.transpose() * vb[1] - self.t.a * va[1]]
    }

    /// Forces on the nodes by a stress `(n, m)`: `−Bᵀ (n, m)`, where `B` maps velocities to rates of the logarithm.
    fn forces(&self, [n, m]: [Vec3; 2]) -> NodeForces {
        let g = self.t.a.transpose() * n;
        let h = self.d.transpose() * n + m;
        let force = self.rotation_a * g;
        [force, self.t.a.transpose() * h + self.p.cross(&g), -force, -(self.t.a * h)]
    }
}

/// The logarithm of the motion from one frame to another: `u` [m] and `ψ` [rad].
pub(super) fn logarithm(a: &Pose, b: &Pose) -> [Vec3; 2] {
    Relative::new(a, b).logarithm()
}

impl BeamElement {
    /// Elastic stress: forces [N] and moments [N m].
    fn elastic(&self, r: &Relative) -> [Vec3; 2] {
        let d = r.logarithm();
        [0, 1].map(|k| self.stiffness[k].component_mul(&(d[k] / self.length - self.rest[k])))
    }

    /// Elastic stress and that of the damping.
    fn stress(&self, r: &Relative, va: &NodeVelocity, vb: &NodeVelocity) -> [Vec3; 2] {
        let mut stress = self.elastic(r);
        if self.damping != 0.0 {
            let [p, psi] = r.rates(va, vb);
            let rates = [r.t.a * p + r.d * psi, psi];
            for k in 0..2 {
                let viscosity = self.stiffness[k] * (self.damping / self.length);
                stress[k] += viscosity.component_mul(&rates[k]);
            }
        }
        stress
    }

    /// Forces of elasticity and damping on the nodes.
    pub fn forces(&self, a: &Pose, b: &Pose, va: &NodeVelocity, vb: &NodeVelocity) -> NodeForces {
        let r = Relative::new(a, b);
        r.forces(self.stress(&r, va, vb))
    }

    /// Elastic energy [J].
    pub fn energy(&self, a: &Pose, b: &Pose) -> f64 {
        let r = Relative::new(a, b);
        let (d, stress) = (r.logarithm(), self.elastic(&r));
        let work = |k: usize| stress[k].dot(&(d[k] / self.length - self.rest[k]));
        0.5 * self.length * (work(0) + work(1))
    }

    /// `−∂f/∂q` and `−∂f/∂v` of [`BeamElement::forces`], per unit of the increments of the nodes.
    pub fn tangents(
        &self,
        a: &Pose,
        b: &Pose,
        va: &NodeVelocity,
        vb: &NodeVelocity,
    ) -> (NodeMatrix, NodeMatrix) {
        let r = Relative::new(a, b);
        let t = &r.t;
        let [n, m] = self.stress(&r, va, vb);
        let g = t.a.transpose() * n;
        let h = r.d.transpose() * n + m;
        // Derivatives at constant stress.
        let g_psi = t.derivative_transposed(n);
        let h_psi = t.hessian(n, r.p);
        let (ah_psi, ath_psi) = (t.derivative(h), t.derivative_transposed(h));
        let stiffness = self.stiffness.map(|k| Mat3::from_diagonal(&(k / self.length)));

        let mut k = NodeMatrix::default();
        let mut c = NodeMatrix::default();
        let columns = r.variations();
        let rates = (self.damping != 0.0).then(|| self.rate_variations(&r, va, vb));
        for (j, (p_j, psi_j)) in columns.into_iter().enumerate() {
            let strain = [t.a * p_j + r.d * psi_j, psi_j];
            let mut stress = [stiffness[0] * strain[0], stiffness[1] * strain[1]];
            if let Some(rates) = &rates {
                // The stress of the damping: per velocity, and per motion at the same velocities.
                let viscous = stress.map(|s| s * self.damping);
                place(&mut c, j, force_columns(&r, viscous));
                for i in 0..2 {
                    stress[i] += stiffness[i] * rates[j][i] * self.damping;
                }
            }
            // −δf: material part, then the geometric part.
            let mut column = force_columns(&r, stress);
            let g_j = g_psi * psi_j;
            let h_j = g_psi.transpose() * p_j + h_psi * psi_j;
            let turned = if j == 1 { cross(g) } else { Mat3::zeros() };
            let force = r.rotation_a * (g_j - turned);
            column[0] -= force;
            column[2] += force;
            column[3] += t.a * h_j + ah_psi * psi_j;
            column[1] +=
                cross(g) * p_j - cross(r.p) * g_j - t.a.transpose() * h_j - ath_psi * psi_j;
            place(&mut k, j, column);
        }
        (k, c)
    }

    /// Derivatives of the rates of the logarithm with respect to the motions of [`Relative::variations`], at constant
    /// velocities.
    fn rate_variations(
        &self,
        r: &Relative,
        va: &NodeVelocity,
        vb: &NodeVelocity,
    ) -> [[Mat3; 2]; 3] {
        let t = &r.t;
        let [p_rate, psi_rate] = r.rates(va, vb);
        let apart = r.rotation_a.transpose() * (vb[0] - va[0]);
        let psi_rate_psi = t.derivative_transposed(vb[1]) - t.derivative(va[1]);
        let u_rate_psi =
            t.derivative(p_rate) + r.d * psi_rate_psi + t.rate_derivative(r.p, psi_rate);
        let u_rate_p = t.rate(psi_rate) - t.a * cross(va[1]);
        let mut columns = r
            .variations()
            .map(|(p_j, psi_j)| [u_rate_p * p_j + u_rate_psi * psi_j, psi_rate_psi * psi_j]);
        columns[1][0] += t.a * cross(apart);
        columns
    }
}

/// Adds the column of the variation `j` to a matrix; a motion of the first node is the opposite of one of the second.
fn place(matrix: &mut NodeMatrix, j: usize, column: [Mat3; 4]) {
    let at = [2, 1, 3][j];
    for (row, block) in matrix.iter_mut().zip(column) {
        row[at] += block;
        if at == 2 {
            row[0] -= block;
        }
    }
}

/// `Bᵀ` times derivatives of the stress.
fn force_columns(r: &Relative, [n, m]: [Mat3; 2]) -> [Mat3; 4] {
    let g = r.t.a.transpose() * n;
    let h = r.d.transpose() * n + m;
    let force = r.rotation_a * g;
    [-force, -(r.t.a.transpose() * h) - cross(r.p) * g, force, r.t.a * h]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::fixtures::{Rng, pose, seeded, vector};
    use crate::math::{Quat, turn};

    fn element(rng: &mut Rng) -> BeamElement {
        let positive = |rng: &mut Rng| vector(rng, 1.0).map(|x| x.abs() + 0.5);
        BeamElement {
            length: 0.8,
            rest: [Vec3::x(), vector(rng, 0.3)],
            stiffness: [positive(rng), positive(rng)],
            damping: 0.4,
        }
    }

    /// Two nodes far from rest.
    fn nodes(rng: &mut Rng) -> [Pose; 2] {
        let a = pose(rng, 2.0);
        let step =
            Pose { position: vector(rng, 1.0), rotation: Quat::from_scaled_axis(vector(rng, 1.2)) };
        [a, a.compose(&step)]
    }

    fn moved(q: [Pose; 2], k: usize, by: f64) -> [Pose; 2] {
        let mut q = q;
        let pose = &mut q[k / 6];
        let mut step = Vec3::zeros();
        step[k % 3] = by;
        if k % 6 < 3 {
            pose.position += step;
        } else {
            pose.rotation = turn(pose.rotation, pose.rotation * step);
        }
        q
    }

    fn entry(m: &NodeMatrix, i: usize, j: usize) -> f64 {
        m[i / 3][j / 3][(i % 3, j % 3)]
    }

    #[test]
    fn forces_are_the_negative_gradient_of_the_energy() {
        let mut rng = seeded(183);
        for _ in 0..20 {
            let (element, q) = (BeamElement { damping: 0.0, ..element(&mut rng) }, nodes(&mut rng));
            let rest = [Vec3::zeros(); 2];
            let forces = element.forces(&q[0], &q[1], &rest, &rest);
            for k in 0..12 {
                let h = 1e-5;
                let at = |h: f64| {
                    let [a, b] = moved(q, k, h);
                    element.energy(&a, &b)
                };
                let slope = (at(h) - at(-h)) / (2.0 * h);
                // Central differences of energies of about 1 J: 1e-10 by rounding and truncation.
                assert!((forces[k / 3][k % 3] + slope).abs() < 1e-8, "{k}");
            }
        }
    }

    #[test]
    fn both_tangents_agree_with_finite_differences() {
        let mut rng = seeded(184);
        for case in 0..40 {
            let mut element = element(&mut rng);
            if case % 2 == 0 {
                element.damping = 0.0;
            }
            let q = nodes(&mut rng);
            let v: [NodeVelocity; 2] = [0; 2].map(|_| [0; 2].map(|_| vector(&mut rng, 1.0)));
            let (k, c) = element.tangents(&q[0], &q[1], &v[0], &v[1]);
            let h = 1e-5;
            for j in 0..12 {
                let at = |h: f64| {
                    let [a, b] = moved(q, j, h);
                    element.forces(&a, &b, &v[0], &v[1])
                };
                let (above, below) = (at(h), at(-h));
                let faster = |h: f64| {
                    let mut v = v;
                    v[j / 6][(j % 6) / 3][j % 3] += h;
                    element.forces(&q[0], &q[1], &v[0], &v[1])
                };
                let (fast, slow) = (faster(h), faster(-h));
                for i in 0..12 {
                    let difference = |x: &NodeForces, y: &NodeForces| {
                        (y[i / 3][i % 3] - x[i / 3][i % 3]) / (2.0 * h)
                    };
                    // Central differences of forces of about 1 N with third derivatives up to 10: 1e-8.
                    let (exact, found) = (difference(&above, &below), entry(&k, i, j));
                    assert!((found - exact).abs() < 1e-7, "k {i} {j}: {found} {exact}");
                    let (exact, found) = (difference(&fast, &slow), entry(&c, i, j));
                    assert!((found - exact).abs() < 1e-8, "c {i} {j}: {found} {exact}");
                }
            }
        }
    }

    #[test]
    fn forces_balance_and_rotate_with_the_element() {
        let mut rng = seeded(185);
        for _ in 0..20 {
            let (element, q) = (element(&mut rng), nodes(&mut rng));
            let v: [NodeVelocity; 2] = [0; 2].map(|_| [0; 2].map(|_| vector(&mut rng, 1.0)));
            let f = element.forces(&q[0], &q[1], &v[0], &v[1]);
            assert!((f[0] + f[2]).norm() < 1e-14);
            let moment = q[0].rotation * f[1]
                + q[1].rotation * f[3]
                + (q[1].position - q[0].position).cross(&f[2]);
            assert!(moment.norm() < 1e-13, "moments about the first node: {moment}");

            // The same element in another frame: forces rotate, moments in the sections stay.
            let frame = pose(&mut rng, 3.0);
            let other = q.map(|q| frame.compose(&q));
            let w = v.map(|[linear, angular]| [frame.rotation * linear, angular]);
            let g = element.forces(&other[0], &other[1], &w[0], &w[1]);
            assert!((frame.rotation * f[0] - g[0]).norm() < 1e-13);
            assert!((f[1] - g[1]).norm() < 1e-13 && (f[3] - g[3]).norm() < 1e-13);

            // A rigid motion of both nodes does not change the logarithm: damping gives no force.
            let (linear, angular) = (vector(&mut rng, 1.0), vector(&mut rng, 1.0));
            let rigid =
                q.map(|q| [linear + angular.cross(&q.position), q.rotation.inverse() * angular]);
            let still = element.forces(&q[0], &q[1], &[Vec3::zeros(); 2], &[Vec3::zeros(); 2]);
            let turning = element.forces(&q[0], &q[1], &rigid[0], &rigid[1]);
            for k in 0..4 {
                assert!((still[k] - turning[k]).norm() < 1e-13);
            }
        }
    }

    #[test]
    fn a_helix_between_its_nodes_is_a_constant_strain() {
        // Half of the element has half of the logarithm: the strain is the same for any division.
        let (u, psi) = (Vec3::new(1.0, 0.1, -0.2), Vec3::new(0.3, 0.5, -0.4));
        let end = |s: f64| {
            let n = 2000;
            // The integral of a constant body velocity.
            (0..n).fold(Pose::IDENTITY, |pose, _| {
                let step = s / f64::from(n);
                let middle = turn(pose.rotation, pose.rotation * psi * (0.5 * step));
                Pose {
                    position: pose.position + middle * u * step,
                    rotation: turn(pose.rotation, pose.rotation * psi * step),
                }
            })
        };
        for s in [0.25, 0.5, 1.0] {
            let [du, dpsi] = logarithm(&Pose::IDENTITY, &end(s));
            // The midpoint rule: second order in 1/2000.
            assert!((du / s - u).norm() < 1e-7 && (dpsi / s - psi).norm() < 1e-12);
        }
    }
}
