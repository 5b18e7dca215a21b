//! Values with their first two derivatives in time, carried through every operation of an expression: the exact
//! velocity and acceleration of a prescribed motion. Functions with kinks or jumps are differentiated on the branch
//! that they are on.

/// A value, its rate and the rate of its rate.
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
            // x² and x³ at 0 have derivatives, whatever x^(n-2) is there.
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

/// A product in which 0 wins even over infinity: what does not change has no rate, however steep the function.
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
