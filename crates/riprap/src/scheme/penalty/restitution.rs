//! Restitution of the normal laws with the force clamped at zero, and the damping that gives a
//! wanted restitution.

/// The smallest restitution that damping gives [–]: `e⁻²`, that of critical damping under the
/// linear law. A smaller one would need more damping and with it shorter steps.
pub const SMALLEST_RESTITUTION: f64 = 0.135_335_283_236_612_7;

/// Restitution of the linear law with damping ratio `ζ = c/(2√(k m))` up to 1 [–], for a contact
/// that ends when its force vanishes (Schwager and Pöschel 2007): `e = exp(−2ζ arccos ζ/√(1−ζ²))`.
pub fn linear_restitution(ratio: f64) -> f64 {
    let root = (1.0 - ratio * ratio).sqrt();
    // arccos ζ / √(1−ζ²) → 1 for ζ → 1.
    let turn = if root > 1e-6 { ratio.acos() / root } else { 1.0 };
    (-2.0 * ratio * turn).exp()
}

/// Duration of a collision under the linear law times `√(k/m)` [–]: `2 arccos ζ/√(1−ζ²)`, `π`
/// without damping.
pub fn linear_duration(ratio: f64) -> f64 {
    let root = (1.0 - ratio * ratio).sqrt();
    if root > 1e-6 { 2.0 * ratio.acos() / root } else { 2.0 }
}

/// The damping ratio of the linear law for a restitution [–]; 1 below [`SMALLEST_RESTITUTION`].
pub fn linear_ratio(restitution: f64) -> f64 {
    invert(linear_restitution, restitution, 1.0)
}

/// Restitution of Hertz's law with viscoelastic dissipation [–], for a contact that ends when its
/// force vanishes.
///
/// With `ρ = 4/3 E* √R / m` and the impact velocity `v`, lengths in units of `(v²/ρ)^(2/5)` and
/// velocities in units of `v`, the motion is `ẍ = −(x^(3/2) + β √x ẋ)`, `x = 0`, `ẋ = 1`, with
/// the only parameter `β = 3/2 A ρ^(2/5) v^(1/5)`. To first order, `e = 1 − 1.15344 β`.
pub fn hertz_restitution(damping: f64) -> f64 {
    // In the variable τ = √t the motion is smooth from its start on: x ≈ τ².
    const STEP: f64 = 1.0 / 256.0;
    let force = |x: f64, v: f64| x.max(0.0).sqrt() * (x + damping * v);
    let rate = |tau: f64, x: f64, v: f64| [2.0 * tau * v, -2.0 * tau * force(x, v)];
    let (mut tau, mut x, mut v) = (0.0, 0.0, 1.0);
    loop {
        let a = rate(tau, x, v);
        let b = rate(tau + 0.5 * STEP, x + 0.5 * STEP * a[0], v + 0.5 * STEP * a[1]);
        let c = rate(tau + 0.5 * STEP, x + 0.5 * STEP * b[0], v + 0.5 * STEP * b[1]);
        let d = rate(tau + STEP, x + STEP * c[0], v + STEP * c[1]);
        let sum = |k: usize| STEP / 6.0 * (a[k] + 2.0 * (b[k] + c[k]) + d[k]);
        let (x_next, v_next) = (x + sum(0), v + sum(1));
        // The force vanishes, and with it the change of velocity.
        if v_next < 0.0 && x_next + damping * v_next <= 0.0 || tau > 100.0 {
            return -v.min(v_next);
        }
        (tau, x, v) = (tau + STEP, x_next, v_next);
    }
}

/// `β` of Hertz's law for a restitution [–]; that of [`SMALLEST_RESTITUTION`] below it.
pub fn hertz_damping(restitution: f64) -> f64 {
    invert(hertz_restitution, restitution.max(SMALLEST_RESTITUTION), 8.0)
}

/// The argument between 0 and `largest` at which a decreasing function has a value.
fn invert(f: impl Fn(f64) -> f64, value: f64, largest: f64) -> f64 {
    let [mut low, mut high] = [0.0, largest];
    if value >= f(low) {
        return low;
    }
    if value <= f(high) {
        return high;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *(if f(middle) > value { &mut low } else { &mut high }) = middle;
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_damping_ratio_of_a_restitution_gives_it_back() {
        for e in [1.0, 0.99, 0.8, 0.5, 0.2, 0.14] {
            // Bisection to rounding.
            assert!((linear_restitution(linear_ratio(e)) - e).abs() < 1e-12, "{e}");
        }
        assert_eq!(linear_ratio(1.0), 0.0);
        assert_eq!([linear_ratio(0.0), linear_ratio(0.1)], [1.0; 2], "critical damping");
        assert!((linear_restitution(1.0) - SMALLEST_RESTITUTION).abs() < 1e-16);
    }

    #[test]
    fn the_closed_form_of_the_linear_law_is_continuous_up_to_critical_damping() {
        for f in [linear_restitution, linear_duration] {
            // The slope at ζ = 1 is finite: 4/3 e⁻² and −4/3.
            assert!((f(1.0 - 1e-9) - f(1.0)).abs() < 1e-8);
        }
        assert!((linear_duration(0.0) - std::f64::consts::PI).abs() < 1e-15);
    }

    #[test]
    fn a_weakly_damped_hertz_contact_loses_what_the_series_says() {
        // Ramírez et al. 1999: e = 1 − C₁ β + 3/5 C₁² β² with C₁ = 1.153449; the next term is β³.
        let (c, beta) = (1.153_449, 1e-2);
        let series = 1.0 - c * beta + 0.6 * c * c * beta * beta;
        assert!((hertz_restitution(beta) - series).abs() < 3.0 * beta.powi(3));
        // The force ends like x^(3/2), which limits the order of the last step.
        assert!((hertz_restitution(0.0) - 1.0).abs() < 1e-6, "{}", hertz_restitution(0.0));
    }

    #[test]
    fn the_damping_of_a_hertz_contact_gives_its_restitution_back() {
        for e in [0.95, 0.7, 0.4, 0.15] {
            // The end of the contact is found to a step of the integration; the force vanishes there.
            assert!((hertz_restitution(hertz_damping(e)) - e).abs() < 1e-6, "{e}");
        }
        assert_eq!(hertz_damping(0.0), hertz_damping(SMALLEST_RESTITUTION));
    }
}
