//! The error measure by which every solver is judged: the natural map of the complementarity
//! between impulses in Coulomb's cone and (shifted) velocities in its dual.

use super::{BlockVelocities, ContactProblem, Delassus, Law, Operator};

/// How far impulses are from solving a contact problem.
///
/// With `û = u + μ‖u_t‖ n` (exact Coulomb) and `w̄ = tr W / 3N`, the natural map is
/// `F = w̄ r − P_K(w̄ r − û)`; it vanishes exactly at a solution and is a velocity [m/s].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// `‖F‖₂` [m/s].
    pub natural_map: f64,
    /// `w̄ ‖r‖₂`: the impulses as velocities [m/s].
    pub impulses: f64,
    /// `‖q‖₂`, the free velocities [m/s].
    pub free: f64,
    /// `‖u‖₂`, the velocities including the impulses [m/s].
    pub velocities: f64,
    /// Worst approach velocity, `max(−u_n, 0)`, or remaining velocity of a joint [m/s].
    pub approach: f64,
}

impl Residual {
    /// `‖F‖ / w̄‖r‖` [–]: the stopping criterion in simulations. Nearby open contacts do not enter
    /// the denominator, so they do not make a solve look better.
    pub fn relative_to_impulses(&self) -> f64 {
        match self.natural_map {
            0.0 => 0.0,
            f if self.impulses > 0.0 => share(f, self.impulses),
            f => share(f, self.free),
        }
    }

    /// Adds the squares of one contact: its impulse as a velocity, its free velocity and `(W I)^α`,
    /// all [m/s]; likewise the limit of a moment of rolling resistance.
    pub(super) fn note(&mut self, law: Law, r: [f64; 3], q: [f64; 3], wr: [f64; 3], limit: f64) {
        let u = [wr[0] + q[0], wr[1] + q[1], wr[2] + q[2]];
        self.natural_map += squared(law.natural_map(r, u, limit));
        self.impulses += squared(r);
        self.free += squared(q);
        self.velocities += squared(u);
        self.approach = self.approach.max(law.approach(u));
    }

    /// Converts to another unit of velocity.
    fn times(self, factor: f64) -> Residual {
        Residual {
            natural_map: self.natural_map * factor,
            impulses: self.impulses * factor,
            free: self.free * factor,
            velocities: self.velocities * factor,
            approach: self.approach * factor,
        }
    }

    /// Converts sums of squares to norms.
    pub(super) fn roots(self) -> Residual {
        Residual {
            natural_map: self.natural_map.sqrt(),
            impulses: self.impulses.sqrt(),
            free: self.free.sqrt(),
            velocities: self.velocities.sqrt(),
            approach: self.approach,
        }
    }

    /// `‖F‖ / max(‖q‖, w̄‖r‖, ‖u‖)` [–]: the measure used for stored collections of problems.
    pub fn relative_to_all(&self) -> f64 {
        let scale = self.free.max(self.impulses).max(self.velocities);
        if scale > 0.0 { share(self.natural_map, scale) } else { 0.0 }
    }
}

/// `part / whole`, where nothing counts as a small fraction of an overflowed value.
fn share(part: f64, whole: f64) -> f64 {
    if whole.is_finite() { part / whole } else { f64::INFINITY }
}

/// A power of two by which to multiply velocities so that their squares neither overflow nor
/// underflow, given the largest of them [m/s]; 1 if not needed.
pub(super) fn unit(largest: f64) -> f64 {
    match largest {
        x if (1e-75..1e75).contains(&x) || x == 0.0 || !x.is_finite() => 1.0,
        x => 2f64.powi(-(x.log2() as i32).clamp(-1000, 1000)),
    }
}

/// The reference of the residual that stops a solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Measure {
    /// [`Residual::relative_to_impulses`]: for simulations.
    #[default]
    Impulses,
    /// [`Residual::relative_to_all`]: for collections of problems.
    All,
}

impl Measure {
    /// The residual in this measure [–].
    pub fn of(self, residual: &Residual) -> f64 {
        match self {
            Measure::Impulses => residual.relative_to_impulses(),
            Measure::All => residual.relative_to_all(),
        }
    }
}

/// Measures how well `impulses` solve `problem`. Velocities are computed from the impulses.
pub fn residual(problem: &ContactProblem, impulses: &[[f64; 3]]) -> Residual {
    let mut velocity = BlockVelocities::new();
    match &problem.w {
        Delassus::Factored(w) => {
            w.start(impulses, &mut velocity);
            measure(w, problem, impulses, &velocity)
        }
        Delassus::Blocks(w) => measure(w, problem, impulses, &velocity),
    }
}

/// Like [`residual`], if the block velocities are already those of the impulses.
pub(super) fn measure<W: Operator>(
    w: &W,
    problem: &ContactProblem,
    impulses: &[[f64; 3]],
    velocity: &BlockVelocities,
) -> Residual {
    if impulses.is_empty() {
        return Residual::default();
    }
    let mobility = w.trace() / (3.0 * impulses.len() as f64);
    let unit = unit(problem.largest_free());
    let mut sum = Residual::default();
    for (a, r) in impulses.iter().enumerate() {
        let q = problem.v_rel_free[a].map(|x| unit * x);
        let wr = w.velocity(a, impulses, velocity).map(|x| unit * x);
        let r = r.map(|x| unit * (mobility * x));
        let limit = unit * (mobility * problem.limit(a, impulses));
        sum.note(problem.laws[a], r, q, wr, limit);
    }
    sum.roots().times(1.0 / unit)
}

#[inline]
pub(super) fn squared(x: [f64; 3]) -> f64 {
    x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_neighbours_do_not_make_a_solve_look_better() {
        let r = Residual {
            natural_map: 1.0,
            impulses: 10.0,
            free: 1000.0,
            velocities: 900.0,
            approach: 0.0,
        };
        assert_eq!(r.relative_to_impulses(), 0.1);
        assert_eq!(r.relative_to_all(), 1e-3);
    }

    #[test]
    fn nothing_is_a_small_fraction_of_an_overflowed_value() {
        let r = Residual { natural_map: 1.0, impulses: f64::INFINITY, ..Residual::default() };
        assert_eq!(r.relative_to_all(), f64::INFINITY);
        assert_eq!(r.relative_to_impulses(), f64::INFINITY);
    }

    #[test]
    fn squares_of_scaled_velocities_of_any_magnitude_are_finite() {
        for x in [5e-324, 1e-308, 3e-150, 1e-20, 1.0, 1e20, 1e150, 1.7e308] {
            let y = unit(x) * x;
            assert!((1e-75..1e75).contains(&y), "{x:e} {y:e}");
        }
        assert_eq!([unit(0.0), unit(2.5), unit(f64::NAN)], [1.0; 3]);
    }
}
