//! Coefficients of the generalized-α method and of the θ-method.

/// Numerical coefficients of one step, Eq. (31).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficients {
    /// `α_m` [–].
    pub alpha_m: f64,
    /// `α_f` [–].
    pub alpha_f: f64,
    /// `β` [–].
    pub beta: f64,
    /// `γ` [–].
    pub gamma: f64,
}

impl Coefficients {
    /// The coefficients of Chung and Hulbert for a spectral radius at infinite frequency.
    pub fn new(rho: f64) -> Coefficients {
        let alpha_m = (2.0 * rho - 1.0) / (rho + 1.0);
        let alpha_f = rho / (rho + 1.0);
        let gamma = 0.5 + alpha_f - alpha_m;
        let beta = 0.25 * (gamma + 0.5) * (gamma + 0.5);
        Coefficients { alpha_m, alpha_f, beta, gamma }
    }

    /// The θ-method with `θ = 1/(1 + ρ∞)`, written in the same form: `γ = θ`, `a = ṽ̇`.
    pub fn theta(rho: f64) -> Coefficients {
        let theta = 1.0 / (1.0 + rho);
        Coefficients { alpha_m: 0.0, alpha_f: 0.0, beta: theta * theta, gamma: theta }
    }

    /// Change of `ṽ̇` per change of `ṽ` over a step `h` [1/s], Eq. (41b).
    pub fn acceleration_by_velocity(&self, h: f64) -> f64 {
        (1.0 - self.alpha_m) / ((1.0 - self.alpha_f) * self.gamma * h)
    }

    /// Change of `q` per change of `ṽ` over a step `h` [s], Eq. (41c).
    pub fn position_by_velocity(&self, h: f64) -> f64 {
        h * self.beta / self.gamma
    }

    /// The pseudo-acceleration at the end of a step, Eq. (30e).
    pub fn pseudo(&self, acceleration: f64, acceleration_n: f64, pseudo_n: f64) -> f64 {
        let mean = (1.0 - self.alpha_f) * acceleration + self.alpha_f * acceleration_n;
        (mean - self.alpha_m * pseudo_n) / (1.0 - self.alpha_m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_second_order_and_unconditionally_stable() {
        for k in 0..=10 {
            let c = Coefficients::new(f64::from(k) / 10.0);
            assert!((c.gamma - 0.5 - c.alpha_f + c.alpha_m).abs() < 1e-15);
            assert!(c.alpha_m <= c.alpha_f && c.alpha_f <= 0.5);
            assert!(c.beta >= 0.25 + 0.5 * (c.alpha_f - c.alpha_m) - 1e-15);
        }
    }

    #[test]
    fn without_dissipation_it_is_the_trapezoidal_rule_of_the_midpoint() {
        let c = Coefficients::new(1.0);
        assert_eq!((c.alpha_m, c.alpha_f, c.gamma, c.beta), (0.5, 0.5, 0.5, 0.25));
    }

    #[test]
    fn the_spectral_radius_at_infinite_frequency_is_the_parameter() {
        // An oscillator with ω h = 1e6: the recursion of (q, h v, h² a) over many steps.
        for rho in [0.2, 0.5, 0.8, 0.95] {
            let c = Coefficients::new(rho);
            let w2 = 1e12;
            let (mut q, mut v, mut a, mut acc) = (1.0, 0.3, 0.2, -w2);
            let mut sizes = Vec::new();
            for _ in 0..200 {
                // acc' = −w2 q', linear in acc'.
                let fixed = (c.alpha_f * acc - c.alpha_m * a) / (1.0 - c.alpha_m);
                let share = (1.0 - c.alpha_f) / (1.0 - c.alpha_m);
                let q0 = q + v + (0.5 - c.beta) * a + c.beta * fixed;
                let next = -w2 * q0 / (1.0 + w2 * c.beta * share);
                let pseudo = c.pseudo(next, acc, a);
                q += v + (0.5 - c.beta) * a + c.beta * pseudo;
                v += (1.0 - c.gamma) * a + c.gamma * pseudo;
                (a, acc) = (pseudo, next);
                sizes.push(v.abs().max(a.abs()));
            }
            // A double root: n ρⁿ; compared over the last hundred steps.
            let rate = (sizes[199] / sizes[99] * (100.0 / 200.0)).powf(0.01);
            assert!((rate - rho).abs() < 0.02, "{rho}: {rate}");
        }
    }
}
