//! Values with their first two derivatives in time, propagated through every operation of an expression: the exact
//! velocity and acceleration of a prescribed motion. Functions with kinks or jumps are differentiated on the branch
//! taken.

/// A value with its first and second derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Jet {
    pub value: f64,
    pub rate: f64,
    pub second: f64,
}

impl Jet {
    pub const fn constant(value: f64) -> Self {
        Self { value, rate: 0.0, second: 0.0 }
    }

    /// `f(x)` from `f`, `f'` and `f''` at `x`.
    pub fn chain(self, [f, f1, f2]: [f64; 3]) -> Self {
        let rate = times(f1, self.rate);
        let second = times(f2, self.rate * self.rate) + times(f1, self.second);
        Self { value: f, rate, second }
    }

    pub fn is_constant(self) -> bool {
        self.rate == 0.0 && self.second == 0.0
    }

    /// `x^y`, with `value` as computed by the caller.
    pub fn power(self, y: Self, value: f64) -> Self {
        if y.is_constant() {
            let (x, n) = (self.value, y.value);
            // x² and x³ have derivatives at 0 even if x^(n-2) is undefined there.
            let first = times(n, x.powf(n - 1.0));
            let second = times(n * (n - 1.0), x.powf(n - 2.0));
            return self.chain([value, first, second]);
        }
        // x^y = exp(w) with w = y ln x.
        let w = y * self.chain([self.value.ln(), 1.0 / self.value, -1.0 / self.value.powi(2)]);
        w.chain([value; 3])
    }

    pub fn atan2(self, x: Self) -> Self {
        let y = self;
        let square = x.value * x.value + y.value * y.value;
        let turn = x.value * y.rate - y.value * x.rate;
        let bend = x.value * y.second - y.value * x.second;
        let growth = x.value * x.rate + y.value * y.rate;
        Self {
            value: y.value.atan2(x.value),
            rate: turn / square,
            second: bend / square - 2.0 * turn * growth / (square * square),
        }
    }
}

/// A product in which 0 times infinity is 0: a constant has no rate, however steep the function.
fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

impl std::ops::Neg for Jet {
    type Output = Self;

    fn neg(self) -> Self {
        Self { value: -self.value, rate: -self.rate, second: -self.second }
    }
}

impl std::ops::Add for Jet {
    type Output = Self;

    fn add(self, b: Self) -> Self {
        Self {
            value: self.value + b.value,
            rate: self.rate + b.rate,
            second: self.second + b.second,
        }
    }
}

impl std::ops::Sub for Jet {
    type Output = Self;

    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

impl std::ops::Mul for Jet {
    type Output = Self;

    fn mul(self, b: Self) -> Self {
        let (a, b) = (self, b);
        Self {
            value: a.value * b.value,
            rate: times(a.rate, b.value) + times(a.value, b.rate),
            second: times(a.second, b.value)
                + 2.0 * times(a.rate, b.rate)
                + times(a.value, b.second),
        }
    }
}

impl std::ops::Div for Jet {
    type Output = Self;

    fn div(self, b: Self) -> Self {
        // From a = c b: a' = c' b + c b', a'' = c'' b + 2 c' b' + c b''.
        let value = self.value / b.value;
        let rate = (self.rate - times(value, b.rate)) / b.value;
        let second = (self.second - 2.0 * times(rate, b.rate) - times(value, b.second)) / b.value;
        Self { value, rate, second }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn jet() -> impl Strategy<Value = Jet> {
        let part = || prop_oneof![Just(0.0), -3.0..3.0];
        (part(), part(), part()).prop_map(|(value, rate, second)| Jet { value, rate, second })
    }

    /// A jet whose value is away from zero.
    fn divisor() -> impl Strategy<Value = Jet> {
        (0.5..3.0_f64, any::<bool>(), jet()).prop_map(|(size, negative, jet)| Jet {
            value: if negative { -size } else { size },
            ..jet
        })
    }

    /// Equal up to some roundings of numbers of size `scale`.
    #[track_caller]
    fn assert_near(a: Jet, b: Jet, scale: f64) {
        for (a, b) in [(a.value, b.value), (a.rate, b.rate), (a.second, b.second)] {
            assert!((a - b).abs() <= 1e-12 * scale, "{a} {b}");
        }
    }

    const SIN: fn(f64) -> [f64; 3] = |x| [x.sin(), x.cos(), -x.sin()];
    const COS: fn(f64) -> [f64; 3] = |x| [x.cos(), -x.sin(), -x.cos()];
    const EXP: fn(f64) -> [f64; 3] = |x| [x.exp(); 3];
    const LN: fn(f64) -> [f64; 3] = |x| [x.ln(), 1.0 / x, -1.0 / (x * x)];

    proptest! {
        #[test]
        fn jets_form_a_ring(a in jet(), b in jet(), c in jet()) {
            prop_assert_eq!(a + b, b + a);
            assert_near(a * b, b * a, 1e2);
            prop_assert_eq!(a - a, Jet::constant(0.0));
            prop_assert_eq!(a * Jet::constant(1.0), a);
            assert_near(a * (b + c), a * b + a * c, 1e3);
            assert_near((a * b) * c, a * (b * c), 1e3);
        }

        #[test]
        fn division_undoes_multiplication(a in jet(), b in divisor()) {
            assert_near(a * b / b, a, 1e4);
            assert_near(b / b, Jet::constant(1.0), 1e4);
        }

        #[test]
        fn powers_are_repeated_products_also_of_negative_numbers(a in divisor()) {
            let power = |n: f64| a.power(Jet::constant(n), a.value.powf(n));
            assert_near(power(2.0), a * a, 1e2);
            assert_near(power(3.0), a * a * a, 1e3);
            assert_near(power(-1.0), Jet::constant(1.0) / a, 1e3);
            assert_near(power(5.0) / power(4.0), a, 1e6);
        }

        #[test]
        fn exponential_and_logarithm_undo_each_other(a in jet(), b in divisor()) {
            let exp = a.chain(EXP(a.value));
            assert_near(exp.chain(LN(exp.value)), a, 1e3);
            // b^a = exp(a ln b), for positive b.
            let b = Jet { value: b.value.abs(), ..b };
            let w = a * b.chain(LN(b.value));
            let power = b.power(a, b.value.powf(a.value));
            assert_near(power, w.chain(EXP(w.value)), 1e6);
        }

        #[test]
        fn sine_and_cosine_stay_on_the_circle(a in jet()) {
            let (sin, cos) = (a.chain(SIN(a.value)), a.chain(COS(a.value)));
            assert_near(sin * sin + cos * cos, Jet::constant(1.0), 1e3);
            // Within half a revolution, the direction of the point on the circle is the angle itself.
            let angle = sin.atan2(cos);
            if a.value.abs() < 3.1 {
                assert_near(angle, a, 1e3);
            }
        }
    }

    #[test]
    fn what_does_not_change_has_no_rate_however_steep_the_function() {
        let still = Jet::constant(0.0);
        assert_eq!(still.chain([0.0, f64::INFINITY, f64::NEG_INFINITY]), still);
        assert!(still.is_constant() && (still * Jet::constant(2.0)).is_constant());
        let root = still.power(Jet::constant(0.5), 0.0);
        assert_eq!(root, still);
        // A varying argument gives the infinite slope.
        let moving = Jet { rate: 1.0, ..still };
        assert_eq!(moving.power(Jet::constant(0.5), 0.0).rate, f64::INFINITY);
    }
}
