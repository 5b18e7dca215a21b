//! The logarithm of rigid motions and its derivatives, by rational functions and series: bitwise reproducible on every machine.
//!
//! For a rotation `R = exp(ψ)` and a translation `p`, the logarithm is `(u, ψ)` with `u = A(ψ) p`, where
//!
//! `A(ψ) = I − ½ ψ̃ + c(ψ·ψ) ψ̃²`,  `c(θ²) = (1 − (θ/2) cot(θ/2)) / θ²`.
//!
//! `A` is also the inverse of the tangent operator of rotations: `ψ̇ = Aᵀ ω` for `Ṙ = R ω̃`.

use crate::math::{Mat3, Quat, Vec3};

/// The rotation vector of a rotation, of length π at most [rad].
pub(super) fn rotation_vector(rotation: Quat) -> Vec3 {
    let (mut w, mut v) = (rotation.w, Vec3::new(rotation.i, rotation.j, rotation.k));
    if w < 0.0 {
        (w, v) = (-w, -v);
    }
    // Halve the angle until the series of the arcsine needs few terms.
    let mut scale = 2.0;
    while v.norm_squared() > 0.01 && scale < 64.0 {
        let root = (0.5 * (1.0 + w)).sqrt();
        v /= 2.0 * root;
        w = root;
        scale *= 2.0;
    }
    // asin(s)/s = Σ (2k)! / (4ᵏ k!² (2k + 1)) s²ᵏ; the next term is below 1e-18.
    let x = v.norm_squared();
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..9 {
        let k = f64::from(k);
        term *= x * (2.0 * k - 1.0) / (2.0 * k);
        sum += term / (2.0 * k + 1.0);
    }
    v * (scale * sum)
}

/// `c(x)`, `c'(x)` and `c''(x)` for `0 ≤ x ≤ π²`: the pole at 4π² and a series of the rest, whose terms fall by 16.
fn coefficient(x: f64) -> [f64; 3] {
    // 2 (ζ(2k) − 1) / (2π)²ᵏ
    const REST: [f64; 13] = [
        0.032_672_741_512_164_45,
        1.056_411_070_533_47e-4,
        5.637_370_282_876_845e-7,
        3.357_141_926_657_451e-9,
        2.074_287_290_416_604_6e-11,
        1.300_048_213_869_897_4e-13,
        8.196_052_055_691_009e-16,
        5.180_118_196_169_724e-18,
        3.277_539_174_701_792e-20,
        2.074_740_187_859_360_5e-22,
        1.313_624_180_716_653_4e-24,
        8.318_003_195_189_264e-27,
        5.267_262_996_834_231e-29,
    ];
    let four_pi_squared = 4.0 * std::f64::consts::PI * std::f64::consts::PI;
    let pole = 1.0 / (four_pi_squared - x);
    let (mut c, mut c1, mut c2) = (0.0, 0.0, 0.0);
    for a in REST.iter().rev() {
        c2 = c2 * x + 2.0 * c1;
        c1 = c1 * x + c;
        c = c * x + a;
    }
    [c + 2.0 * pole, c1 + 2.0 * pole * pole, c2 + 4.0 * pole * pole * pole]
}

/// The matrix of `x ↦ a × x`.
pub(super) fn cross(a: Vec3) -> Mat3 {
    a.cross_matrix()
}

/// `A(ψ)` and its derivatives at one rotation vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tangent {
    /// `ψ` [rad].
    pub psi: Vec3,
    x: f64,
    c: [f64; 3],
    /// `A(ψ)`.
    pub a: Mat3,
}

impl Tangent {
    pub fn new(psi: Vec3) -> Tangent {
        let x = psi.norm_squared();
        let c = coefficient(x);
        let square = psi * psi.transpose() - Mat3::identity() * x;
        Tangent { psi, x, c, a: Mat3::identity() - cross(psi) * 0.5 + square * c[0] }
    }

    /// The symmetric part of the derivative of `A(ψ) p` with respect to `ψ`: that of `c ψ̃² p`.
    fn even(&self, p: Vec3) -> Mat3 {
        let (psi, [c, c1, _]) = (self.psi, self.c);
        let along = psi.dot(&p);
        let z = psi * along - p * self.x;
        (z * (2.0 * c1) - p * (2.0 * c)) * psi.transpose()
            + psi * p.transpose() * c
            + Mat3::identity() * (c * along)
    }

    /// `∂(A p)/∂ψ`.
    pub fn derivative(&self, p: Vec3) -> Mat3 {
        cross(p) * 0.5 + self.even(p)
    }

    /// `∂(Aᵀ p)/∂ψ`.
    pub fn derivative_transposed(&self, p: Vec3) -> Mat3 {
        cross(p) * -0.5 + self.even(p)
    }

    /// The Hessian of `n · A(ψ) p` with respect to `ψ`.
    pub fn hessian(&self, n: Vec3, p: Vec3) -> Mat3 {
        let (psi, [c, c1, c2]) = (self.psi, self.c);
        let (np, n_psi, p_psi) = (n.dot(&p), n.dot(&psi), p.dot(&psi));
        // Q = n · ψ̃² p and its gradient.
        let q = n_psi * p_psi - np * self.x;
        let w = n * p_psi + p * n_psi - psi * (2.0 * np);
        let mixed = psi * w.transpose();
        let outer = n * p.transpose();
        Mat3::identity() * (2.0 * c1 * q - 2.0 * c * np)
            + psi * psi.transpose() * (4.0 * c2 * q)
            + (mixed + mixed.transpose()) * (2.0 * c1)
            + (outer + outer.transpose()) * c
    }

    /// `Ȧ` at the rate `ψ̇`.
    pub fn rate(&self, rate: Vec3) -> Mat3 {
        let (psi, [c, c1, _]) = (self.psi, self.c);
        let along = psi.dot(&rate);
        let mixed = psi * rate.transpose();
        (psi * psi.transpose() - Mat3::identity() * self.x) * (2.0 * c1 * along)
            + (mixed + mixed.transpose() - Mat3::identity() * (2.0 * along)) * c
            - cross(rate) * 0.5
    }

    /// `∂(Ȧ p)/∂ψ` at a constant rate `ψ̇`.
    pub fn rate_derivative(&self, p: Vec3, rate: Vec3) -> Mat3 {
        let (psi, [c, c1, c2]) = (self.psi, self.c);
        let (along, p_psi, p_rate) = (psi.dot(&rate), psi.dot(&p), p.dot(&rate));
        let z = psi * p_psi - p * self.x;
        let turning = psi * p_rate + rate * p_psi - p * (2.0 * along);
        (z * (4.0 * c2 * along) + turning * (2.0 * c1)) * psi.transpose()
            + (Mat3::identity() * p_psi + psi * p.transpose() - p * psi.transpose() * 2.0)
                * (2.0 * c1 * along)
            + (z * (2.0 * c1) - p * (2.0 * c)) * rate.transpose()
            + (Mat3::identity() * p_rate + rate * p.transpose()) * c
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::fixtures::{seeded, vector};

    /// Rotation vectors from nothing to half a turn.
    fn rotation_vectors() -> Vec<Vec3> {
        let mut rng = seeded(181);
        let lengths = [0.0, 1e-12, 1e-6, 1e-3, 0.05, 0.3, 1.0, 2.0, 3.0, 3.13];
        lengths.iter().map(|&length| vector(&mut rng, 1.0).normalize() * length).collect()
    }

    /// The derivative of `f` at `x` by central differences. Its error is about 1e-10 for functions and derivatives
    /// of size 1: step squared, and rounding over the step.
    fn differences(x: Vec3, f: impl Fn(Vec3) -> Vec3) -> Mat3 {
        let h = 1e-5;
        let column = |k: usize| {
            let mut e = Vec3::zeros();
            e[k] = h;
            (f(x + e) - f(x - e)) / (2.0 * h)
        };
        Mat3::from_columns(&[column(0), column(1), column(2)])
    }

    #[test]
    fn the_rotation_vector_inverts_the_exponential_up_to_half_a_turn() {
        for psi in rotation_vectors() {
            let back = rotation_vector(Quat::from_scaled_axis(psi));
            // Near half a turn, w is small and the angle as accurate as the quaternion.
            assert!((back - psi).norm() <= 4e-15 * psi.norm().max(1e-3), "{psi}: {back}");
            let other = Quat::new_unchecked(-Quat::from_scaled_axis(psi).into_inner());
            assert_eq!(rotation_vector(other), back, "both quaternions of a rotation");
        }
    }

    #[test]
    fn the_coefficient_agrees_with_its_closed_form() {
        for theta in [0.5_f64, 1.0, 2.0, 3.0, std::f64::consts::PI] {
            let x = theta * theta;
            let half = 0.5 * theta;
            let exact = (1.0 - half / half.tan()) / x;
            // The closed form loses two digits by cancellation at 0.5 rad.
            assert!((coefficient(x)[0] - exact).abs() < 2e-15, "{theta}");
        }
        // Two units in the last place.
        assert!((coefficient(0.0)[0] - 1.0 / 12.0).abs() < 3e-17);
        assert!((coefficient(0.0)[1] - 1.0 / 720.0).abs() < 1e-18);
        assert!((coefficient(0.0)[2] - 2.0 / 30240.0).abs() < 1e-19);
        for x in [0.01, 1.0, 5.0, 9.5] {
            let h = 1e-4;
            let ([_, a1, a2], [b, b1, _], [d, d1, _]) =
                (coefficient(x), coefficient(x + h), coefficient(x - h));
            assert!(((b - d) / (2.0 * h) - a1).abs() < 1e-11);
            assert!(((b1 - d1) / (2.0 * h) - a2).abs() < 1e-11);
        }
    }

    #[test]
    fn the_tangent_maps_velocities_to_rates_of_the_rotation_vector() {
        let omega = Vec3::new(0.4, -0.7, 0.3);
        for psi in rotation_vectors() {
            if psi.norm() > 3.1 {
                continue; // The differences would step over half a turn.
            }
            let r = Quat::from_scaled_axis(psi);
            let h = 1e-5;
            let at = |h: f64| rotation_vector(r * Quat::from_scaled_axis(omega * h));
            let rate = (at(h) - at(-h)) / (2.0 * h);
            // Central differences, see above; derivatives grow towards half a turn.
            assert!((Tangent::new(psi).a.transpose() * omega - rate).norm() < 2e-9, "{psi}");
        }
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let mut rng = seeded(182);
        for psi in rotation_vectors() {
            let [n, p, rate] = [0; 3].map(|_| vector(&mut rng, 1.0));
            let t = Tangent::new(psi);
            let near = |a: Mat3, b: Mat3| (a - b).amax() < 1e-9;
            assert!(near(t.derivative(p), differences(psi, |psi| Tangent::new(psi).a * p)));
            let transposed = differences(psi, |psi| Tangent::new(psi).a.transpose() * p);
            assert!(near(t.derivative_transposed(p), transposed));
            let gradient = |psi: Vec3| Tangent::new(psi).derivative(p).transpose() * n;
            assert!(near(t.hessian(n, p), differences(psi, gradient)));
            // Ȧ p is the derivative of A p along ψ̇.
            assert!((t.rate(rate) * p - t.derivative(p) * rate).norm() < 1e-14);
            let rates = |psi: Vec3| Tangent::new(psi).rate(rate) * p;
            assert!(near(t.rate_derivative(p, rate), differences(psi, rates)));
        }
    }
}
