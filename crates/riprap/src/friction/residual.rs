//! The one error measure by which every solver is judged: the natural map of the complementarity
//! between impulses in Coulomb's cone and (shifted) velocities in its dual.

use crate::math::length2;

use super::rolling::{ROLLING, rolling_map};
use super::{ContactProblem, Delassus, JOINT, Operator, SolverScratch};

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
    /// `‖u‖₂`, the velocities with the impulses [m/s].
    pub velocities: f64,
    /// Worst approach velocity, `max(−u_n, 0)`, or velocity that a joint leaves [m/s].
    pub approach: f64,
}

impl Residual {
    /// `‖F‖ / w̄‖r‖` [–]: what stops a solver in a simulation. Contacts that are near but open do not
    /// enter the denominator, so a loose neighbourhood does not make a solve look better.
    pub fn relative_to_impulses(&self) -> f64 {
        match self.natural_map {
            0.0 => 0.0,
            f if self.impulses > 0.0 => share(f, self.impulses),
            f => share(f, self.free),
        }
    }

    /// Adds the squares of one contact: its impulse as a velocity, free velocity and `(W I)^α`, all [m/s].
    pub(super) fn note(&mut self, r: [f64; 3], q: [f64; 3], wr: [f64; 3], friction: f64) {
        let u = [wr[0] + q[0], wr[1] + q[1], wr[2] + q[2]];
        self.add(natural_map(r, u, friction), r, q, u);
        // Not a number counts as the worst there is. What a joint lets move counts in every direction: joints that contradict
        // each other must not pass because their impulses grow.
        let approach = if u[0].is_nan() {
            f64::INFINITY
        } else if friction == JOINT {
            u.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
        } else {
            -u[0]
        };
        self.approach = self.approach.max(approach);
    }

    /// As [`Residual::note`], for a moment of rolling resistance with its limit as a velocity [m/s].
    pub(super) fn note_rolling(&mut self, r: [f64; 3], q: [f64; 3], wr: [f64; 3], limit: f64) {
        let u = [wr[0] + q[0], wr[1] + q[1], wr[2] + q[2]];
        self.add(rolling_map(r, u, limit), r, q, u);
    }

    fn add(&mut self, natural_map: [f64; 3], r: [f64; 3], q: [f64; 3], u: [f64; 3]) {
        self.natural_map += squared(natural_map);
        self.impulses += squared(r);
        self.free += squared(q);
        self.velocities += squared(u);
    }

    /// In another unit of velocity.
    fn times(self, factor: f64) -> Residual {
        Residual {
            natural_map: self.natural_map * factor,
            impulses: self.impulses * factor,
            free: self.free * factor,
            velocities: self.velocities * factor,
            approach: self.approach * factor,
        }
    }

    /// From sums of squares to norms.
    pub(super) fn roots(self) -> Residual {
        Residual {
            natural_map: self.natural_map.sqrt(),
            impulses: self.impulses.sqrt(),
            free: self.free.sqrt(),
            velocities: self.velocities.sqrt(),
            approach: self.approach,
        }
    }

    /// `‖F‖ / max(‖q‖, w̄‖r‖, ‖u‖)` [–]: the measure used with stored collections of problems.
    pub fn relative_to_all(&self) -> f64 {
        let scale = self.free.max(self.impulses).max(self.velocities);
        if scale > 0.0 { share(self.natural_map, scale) } else { 0.0 }
    }
}

/// `part / whole`; nothing is a small part of what has overflown.
fn share(part: f64, whole: f64) -> f64 {
    if whole.is_finite() { part / whole } else { f64::INFINITY }
}

/// A power of two by which to multiply velocities, so that their squares are numbers, where `largest` [m/s] is one of them; 1 where it is not
/// needed.
pub(super) fn unit(largest: f64) -> f64 {
    match largest {
        x if (1e-75..1e75).contains(&x) || x == 0.0 || !x.is_finite() => 1.0,
        x => 2f64.powi(-(x.log2() as i32).clamp(-1000, 1000)),
    }
}

/// What a residual is relative to when it stops a solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Measure {
    /// [`Residual::relative_to_impulses`]: in simulations.
    #[default]
    Impulses,
    /// [`Residual::relative_to_all`]: in collections of problems.
    All,
}

impl Measure {
    /// The residual as this measure has it [–].
    pub fn of(self, residual: &Residual) -> f64 {
        match self {
            Measure::Impulses => residual.relative_to_impulses(),
            Measure::All => residual.relative_to_all(),
        }
    }
}

/// Measures `impulses` against `problem`. Velocities are computed anew from the impulses.
pub fn residual(
    problem: &ContactProblem,
    impulses: &[[f64; 3]],
    scratch: &mut SolverScratch,
) -> Residual {
    match &problem.w {
        Delassus::Factored(w) => {
            w.start(impulses, scratch);
            measure(w, problem, impulses, scratch)
        }
        Delassus::Blocks(w) => measure(w, problem, impulses, scratch),
    }
}

/// As [`residual`], when the scratch already belongs to the impulses.
pub(super) fn measure<W: Operator>(
    w: &W,
    problem: &ContactProblem,
    impulses: &[[f64; 3]],
    scratch: &SolverScratch,
) -> Residual {
    if impulses.is_empty() {
        return Residual::default();
    }
    let mobility = w.trace() / (3.0 * impulses.len() as f64);
    let unit = unit(problem.largest_free());
    let mut sum = Residual::default();
    for (a, r) in impulses.iter().enumerate() {
        let q = problem.v_rel_free[a].map(|x| unit * x);
        let wr = w.velocity(a, impulses, scratch).map(|x| unit * x);
        let (r, friction) = (r.map(|x| unit * (mobility * x)), problem.friction[a]);
        if friction == ROLLING {
            sum.note_rolling(r, q, wr, unit * (mobility * problem.limit(a, impulses)));
        } else {
            sum.note(r, q, wr, friction);
        }
    }
    sum.roots().times(1.0 / unit)
}

/// `r − P_K(r − û)` for one contact, `r` and `u` in the same unit; `u` itself for a joint.
pub fn natural_map(r: [f64; 3], u: [f64; 3], friction: f64) -> [f64; 3] {
    if friction == JOINT {
        return u;
    }
    let slide = friction * length2(u[1], u[2]);
    let p = project([r[0] - u[0] - slide, r[1] - u[1], r[2] - u[2]], friction);
    [r[0] - p[0], r[1] - p[1], r[2] - p[2]]
}

/// Projection on Coulomb's cone `K = {‖x_t‖ ≤ μ x_n}`; joints and moments have none.
pub(super) fn project(x: [f64; 3], friction: f64) -> [f64; 3] {
    if friction < 0.0 {
        return x;
    }
    let t = length2(x[1], x[2]);
    if friction * t <= -x[0] {
        [0.0; 3]
    } else if t <= friction * x[0] {
        x
    } else {
        let n = (friction * t + x[0]) / (1.0 + friction * friction);
        let s = friction * n / t;
        [n, s * x[1], s * x[2]]
    }
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
    fn nothing_is_a_small_part_of_what_has_overflown() {
        let r = Residual { natural_map: 1.0, impulses: f64::INFINITY, ..Residual::default() };
        assert_eq!(r.relative_to_all(), f64::INFINITY);
        assert_eq!(r.relative_to_impulses(), f64::INFINITY);
    }

    #[test]
    fn velocities_of_any_size_have_squares_in_their_unit() {
        for x in [5e-324, 1e-308, 3e-150, 1e-20, 1.0, 1e20, 1e150, 1.7e308] {
            let y = unit(x) * x;
            assert!((1e-75..1e75).contains(&y), "{x:e} {y:e}");
        }
        assert_eq!([unit(0.0), unit(2.5), unit(f64::NAN)], [1.0; 3]);
    }

    #[test]
    fn the_natural_map_vanishes_when_open_sticking_or_sliding_and_not_otherwise() {
        let zero = [0.0; 3];
        assert_eq!(natural_map(zero, [0.5, 3.0, 0.0], 0.7), zero);
        assert_eq!(natural_map([1.0, 0.3, 0.0], zero, 0.7), zero);
        let f = natural_map([1.0, -0.7, 0.0], [0.0, 2.0, 0.0], 0.7);
        assert!(f.iter().all(|x| x.abs() < 1e-15), "{f:?}");
        // Sliding along the impulse, pulling, and penetrating are no solutions.
        assert!(natural_map([1.0, 0.7, 0.0], [0.0, 2.0, 0.0], 0.7)[1].abs() > 0.1);
        assert!(natural_map([-1.0, 0.0, 0.0], zero, 0.7)[0].abs() > 0.1);
        assert!(natural_map(zero, [-1.0, 0.0, 0.0], 0.7)[0].abs() > 0.1);
    }
}
