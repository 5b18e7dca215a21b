//! The one-contact problem, solved exactly: Signorini and Coulomb for a single contact when all other
//! impulses are known. The innermost step of Gauss–Seidel, Eq. (33).

use crate::math::length2;

/// Slowest approach that counts as one [m/s].
const SLOWEST: f64 = 1e-150;

/// Solves `u = W r + q`, `0 ≤ u_n ⊥ r_n ≥ 0`, `‖r_t‖ ≤ μ r_n`, and `u_t` opposite to `r_t` if it
/// slides, for one contact. `w` is the 3×3 block (rows n, t1, t2) [1/kg], `q` the velocity without
/// this contact's impulse [m/s]; returns `r` [N s].
///
/// Three cases: the contact opens (`r = 0`), it sticks (`u = 0`), or it slides: `u_n = 0` and
/// `u_t = −λ r_t` with one unknown `λ > 0`, the root of `μ r_n(λ) / ‖r_t(λ)‖ = 1`. For `q_n < 0`
/// that root always exists: at `λ = 0` the impulse is outside the cone, for large `λ` it is inside.
/// `W` may be singular in the tangent plane (locked directions), and slightly asymmetric (stored
/// problems).
#[inline]
pub fn solve_contact(w: &[[f64; 3]; 3], q: [f64; 3], friction: f64) -> [f64; 3] {
    let w_nn = w[0][0];
    // Open, or immovable along the normal: no impulse would help. An approach so slow that products
    // with it underflow counts as none.
    if q[0] >= -SLOWEST || w_nn <= 0.0 {
        return [0.0; 3];
    }
    if friction == 0.0 {
        return [-q[0] / w_nn, 0.0, 0.0];
    }
    Sliding::new(w, q, friction).solve()
}

/// The contact with its normal eliminated: `u_n = 0` gives `r_n`, which leaves `(A + λ) r_t = −b`
/// in the tangent plane.
struct Sliding {
    a: [[f64; 2]; 2],
    b: [f64; 2],
    /// `W_nt / W_nn` and `q_n / W_nn`: `r_n = −(s · r_t + d)`.
    s: [f64; 2],
    d: f64,
    w_nn: f64,
    friction: f64,
}

impl Sliding {
    #[inline]
    fn new(w: &[[f64; 3]; 3], q: [f64; 3], friction: f64) -> Sliding {
        let inv = 1.0 / w[0][0];
        let s = [w[0][1] * inv, w[0][2] * inv];
        let d = q[0] * inv;
        let a = [
            [w[1][1] - w[1][0] * s[0], w[1][2] - w[1][0] * s[1]],
            [w[2][1] - w[2][0] * s[0], w[2][2] - w[2][0] * s[1]],
        ];
        let b = [q[1] - w[1][0] * d, q[2] - w[2][0] * d];
        Sliding { a, b, s, d, w_nn: w[0][0], friction }
    }

    /// `(A + λ)⁻¹ x`.
    #[inline]
    fn apply(&self, lambda: f64, x: [f64; 2]) -> [f64; 2] {
        let [[a11, a12], [a21, a22]] = self.a;
        let (a11, a22) = (a11 + lambda, a22 + lambda);
        let inv = 1.0 / (a11 * a22 - a12 * a21);
        [(a22 * x[0] - a12 * x[1]) * inv, (a11 * x[1] - a21 * x[0]) * inv]
    }

    /// Tangential and normal impulse for a given `λ`.
    #[inline]
    fn impulse(&self, lambda: f64) -> ([f64; 2], f64) {
        let t = self.apply(lambda, self.b);
        let r_t = [-t[0], -t[1]];
        (r_t, -(self.s[0] * r_t[0] + self.s[1] * r_t[1] + self.d))
    }

    #[inline]
    fn solve(mut self) -> [f64; 3] {
        let [[a11, a12], [a21, a22]] = self.a;
        let trace = a11 + a22;
        if a11 * a22 - a12 * a21 <= 1e-13 * trace * trace {
            return self.solve_locked(trace);
        }
        let (r_t, r_n) = self.impulse(0.0);
        if length2(r_t[0], r_t[1]) <= self.friction * r_n {
            return [r_n, r_t[0], r_t[1]];
        }
        self.slide(0.0, 0.5 * trace)
    }

    /// A tangent plane with one locked direction (a planar scene) or two: `A` has rank one or zero,
    /// and no impulse can change the component of `b` along the locked direction.
    #[cold]
    fn solve_locked(&mut self, trace: f64) -> [f64; 3] {
        let [b1, b2] = self.b;
        let scale = length2(b1, b2);
        let limit = -self.friction * self.d;
        if trace <= 1e-12 * self.w_nn {
            return self.solve_rigid(scale, limit);
        }
        // Pseudo-inverse of rank one: A / tr².
        let [[a11, a12], [a21, a22]] = self.a;
        let apply = |x: [f64; 2]| [a11 * x[0] + a12 * x[1], a21 * x[0] + a22 * x[1]];
        let r_t = apply(self.b).map(|x| -x / (trace * trace));
        let reached = apply(r_t);
        let locked = length2(b1 + reached[0], b2 + reached[1]);
        if locked <= 1e-9 * scale {
            let r_n = -(self.s[0] * r_t[0] + self.s[1] * r_t[1] + self.d);
            if length2(r_t[0], r_t[1]) <= self.friction * r_n {
                return [r_n, r_t[0], r_t[1]];
            }
            self.b = reached.map(|x| -x);
        }
        self.slide(1e-12 * trace, 0.5 * trace)
    }

    /// No tangential impulse changes the tangential velocity `b` at a fixed normal impulse: both
    /// tangents are locked, or the contact moves in one direction only, as on a machine with one
    /// degree of freedom.
    fn solve_rigid(&self, scale: f64, limit: f64) -> [f64; 3] {
        let [s1, s2] = self.s;
        let coupling = length2(s1, s2);
        if scale <= 1e-9 * -self.d * self.w_nn * (1.0 + coupling) {
            // It sticks with any impulse that satisfies r_n + s · r_t = −d: take the smallest in
            // the cone.
            let share = coupling.min(self.friction);
            let r_n = -self.d / (1.0 + share * coupling);
            let along = if coupling > 0.0 { share * r_n / coupling } else { 0.0 };
            return [r_n, along * s1, along * s2];
        }
        // It slides along b. If friction would jam it, no impulse of this contact is a solution:
        // omit friction.
        let [b1, b2] = self.b.map(|b| b / scale);
        let grip = 1.0 - self.friction * (s1 * b1 + s2 * b2);
        if grip <= 1e-3 {
            return [-self.d, 0.0, 0.0];
        }
        let (r_n, r_t) = (-self.d / grip, limit / grip);
        [r_n, -r_t * b1, -r_t * b2]
    }

    /// Newton's method on `F(λ) = μ r_n / ‖r_t‖ − 1`, which is nearly linear in `λ`, safeguarded by
    /// a bracket.
    fn slide(&self, low: f64, mobility: f64) -> [f64; 3] {
        let b = length2(self.b[0], self.b[1]);
        let limit = -self.friction * self.d / (1.0 + self.friction * length2(self.s[0], self.s[1]));
        let (mut low, mut high) = (low, b / limit + low);
        let mut lambda = (-b / (self.friction * self.d) - mobility).max(low).min(high);
        let (mut r_t, mut r_n) = self.impulse(lambda);
        for _ in 0..60 {
            let norm2 = r_t[0] * r_t[0] + r_t[1] * r_t[1];
            let ratio = self.friction / norm2.sqrt();
            let value = r_n * ratio - 1.0;
            if value.abs() <= 1e-15 {
                break;
            }
            if value < 0.0 {
                low = lambda;
            } else {
                high = lambda;
            }
            // d r_t / dλ = −(A + λ)⁻¹ r_t, and r_n depends on r_t.
            let t = self.apply(lambda, r_t);
            let dr_n = self.s[0] * t[0] + self.s[1] * t[1];
            let slope = ratio * (dr_n + r_n * (r_t[0] * t[0] + r_t[1] * t[1]) / norm2);
            let newton = lambda - value / slope;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - lambda).abs() <= 1e-15 * (lambda + mobility) {
                break;
            }
            lambda = next;
            (r_t, r_n) = self.impulse(lambda);
        }
        // Exactly on the cone: round-off must not leave a contact outside.
        let norm = length2(r_t[0], r_t[1]);
        let r_n = r_n.max(0.0);
        let scale = if norm > 0.0 { self.friction * r_n / norm } else { 0.0 };
        [r_n, r_t[0] * scale, r_t[1] * scale]
    }
}

/// Solves one joint exactly: the impulse that makes the relative velocity `W r + v` vanish.
/// Equations that the joint does not have are zero rows.
pub fn solve_joint(w: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
    let (mut a, mut b) = (*w, v.map(|x| -x));
    for k in 0..3 {
        // A symmetric positive semi-definite block: a vanishing pivot belongs to an equation that
        // is absent or implied by the others.
        if a[k][k] <= 1e-12 * w[k][k] {
            b[k] = 0.0;
            a[k] = [0.0; 3];
            a[k][k] = 1.0;
            continue;
        }
        for i in k + 1..3 {
            let factor = a[i][k] / a[k][k];
            for j in k..3 {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    let z = b[2] / a[2][2];
    let y = (b[1] - a[1][2] * z) / a[1][1];
    [(b[0] - a[0][1] * y - a[0][2] * z) / a[0][0], y, z]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::Law;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    fn natural_map(r: [f64; 3], u: [f64; 3], friction: f64) -> [f64; 3] {
        Law::Coulomb { friction }.natural_map(r, u, 0.0)
    }

    fn velocity(w: &[[f64; 3]; 3], r: [f64; 3], q: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| w[i][0] * r[0] + w[i][1] * r[1] + w[i][2] * r[2] + q[i])
    }

    #[test]
    fn random_contacts_are_solved_to_round_off() {
        let mut rng = Pcg64::seed_from_u64(1);
        let mut cases = [0; 3];
        for _ in 0..200_000 {
            // A positive definite block with an aspect ratio up to 1e4 between its directions.
            let scale: [f64; 3] = std::array::from_fn(|_| 10f64.powf(rng.random_range(-2.0..0.0)));
            let l: [[f64; 3]; 3] = std::array::from_fn(|i| {
                std::array::from_fn(|_| rng.random_range(-1.0..1.0) * scale[i])
            });
            let w: [[f64; 3]; 3] = std::array::from_fn(|i| {
                std::array::from_fn(|j| (0..3).map(|k| l[i][k] * l[j][k]).sum::<f64>())
            });
            let q: [f64; 3] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
            let mu = 10f64.powf(rng.random_range(-2.0..0.5));
            let r = solve_contact(&w, q, mu);
            let u = velocity(&w, r, q);
            // In units in which the block has trace 3, the error must be at round-off, amplified by
            // the conditioning of the block.
            let rho = (w[0][0] + w[1][1] + w[2][2]) / 3.0;
            let f = natural_map(r.map(|x| x * rho), u, mu);
            let size = (r[0] * rho).max(1.0);
            let det = w[0][0] * (w[1][1] * w[2][2] - w[1][2] * w[1][2])
                - w[0][1] * (w[0][1] * w[2][2] - w[1][2] * w[0][2])
                + w[0][2] * (w[0][1] * w[1][2] - w[1][1] * w[0][2]);
            if det / rho.powi(3) < 1e-6 {
                continue;
            }
            let error = f.iter().fold(0.0f64, |m, x| m.max(x.abs())) / size;
            assert!(error < 1e-9, "error {error:e} for w {w:?}, q {q:?}, mu {mu}");
            cases[if r[0] == 0.0 {
                0
            } else if u[1].hypot(u[2]) < 1e-9 {
                1
            } else {
                2
            }] += 1;
        }
        assert!(cases.iter().all(|&n| n > 10_000), "{cases:?}");
    }

    #[test]
    fn a_locked_direction_carries_no_impulse_unless_something_moves_along_it() {
        let w = [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]];
        let stick = solve_contact(&w, [-1.0, 0.1, 0.0], 0.5);
        assert!((stick[0] - 1.0).abs() < 1e-15 && (stick[1] + 0.05).abs() < 1e-9);
        assert_eq!(stick[2], 0.0);
        // A belt runs along the locked direction: friction follows it and leaves little for the
        // other direction.
        let belt = solve_contact(&w, [-1.0, 0.1, 3.0], 0.5);
        assert!(belt[2] < -0.49 && (belt[1].hypot(belt[2]) - 0.5).abs() < 1e-14);
    }

    #[test]
    fn immovable_contacts_give_finite_impulses() {
        let normal_only = [[2.0, 0.0, 0.0], [0.0; 3], [0.0; 3]];
        assert_eq!(solve_contact(&normal_only, [-1.0, 0.0, 0.0], 0.5), [0.5, 0.0, 0.0]);
        assert_eq!(solve_contact(&normal_only, [-1.0, 3.0, 0.0], 0.5), [0.5, -0.25, 0.0]);
        assert_eq!(solve_contact(&[[0.0; 3]; 3], [-1.0, 1.0, 0.0], 0.5), [0.0; 3]);
    }

    #[test]
    fn a_planar_contact_sticks_and_slides_to_round_off() {
        let w = [[1.0, 0.4, 0.0], [0.4, 2.0, 0.0], [0.0; 3]];
        for q in [[-1.0, 0.1, 0.0], [-1.0, 5.0, 0.0], [-1.0, -5.0, 0.0]] {
            let r = solve_contact(&w, q, 0.6);
            let f = natural_map(r, velocity(&w, r, q), 0.6);
            assert!(f.iter().all(|x| x.abs() < 1e-11), "{q:?} {r:?} {f:?}");
        }
    }

    #[test]
    fn a_frictionless_contact_only_pushes() {
        let w = [[2.0, 0.3, 0.1], [0.3, 1.0, 0.0], [0.1, 0.0, 1.0]];
        assert_eq!(solve_contact(&w, [-1.0, 5.0, 0.0], 0.0), [0.5, 0.0, 0.0]);
        assert_eq!(solve_contact(&w, [1.0, 5.0, 0.0], 0.7), [0.0; 3]);
    }

    #[test]
    fn a_contact_that_moves_in_one_direction_only_is_solved_or_has_no_friction() {
        let h = [0.8, 0.5, -0.3];
        let w: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| h[i] * h[j]));
        // A contact that approaches along h sticks, with an impulse in the cone.
        let q = h.map(|x| -2.0 * x);
        let r = solve_contact(&w, q, 0.3);
        let u: [f64; 3] =
            std::array::from_fn(|i| q[i] + (0..3).map(|j| w[i][j] * r[j]).sum::<f64>());
        assert!(u.iter().all(|x| x.abs() < 1e-12), "{u:?}");
        assert!(length2(r[1], r[2]) <= 0.3 * r[0] * (1.0 + 1e-12));
        // A sliding contact has no normal velocity left and friction against the sliding direction,
        // or none if it would jam.
        for friction in [0.2, 0.9, 5.0] {
            let q = [-1.0, 2.0, 0.5];
            let r = solve_contact(&w, q, friction);
            let u_n = q[0] + (0..3).map(|j| w[0][j] * r[j]).sum::<f64>();
            assert!(u_n.abs() < 1e-12 && r.iter().all(|x| x.is_finite()), "{r:?}");
            assert!(length2(r[1], r[2]) <= friction * r[0] * (1.0 + 1e-12));
        }
    }

    #[test]
    fn denormal_approach_velocities_give_finite_impulses() {
        // A bucket in gravel became NaN because of a normal velocity of −2e-323 m/s, whose products
        // underflow.
        let w = [[10.6, 0.0, 0.0], [0.0, 37.2, 1.5e-15], [0.0, 1.5e-15, 37.2]];
        for exponent in -323..0 {
            let approach = -f64::powi(10.0, exponent);
            let r = solve_contact(&w, [approach, -0.24, -4.4e-5], 0.4);
            assert!(r.iter().all(|x| x.is_finite()), "{approach:e}: {r:?}");
            assert!(length2(r[1], r[2]) <= 0.4 * r[0] * (1.0 + 1e-12));
        }
    }
}
