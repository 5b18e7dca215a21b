//! The laws that impulses and velocities obey. The local solve, the set of admissible impulses and
//! the natural map of each law are defined here and nowhere else. A new law is a new variant and an
//! arm in each function here; the compiler reports the few other places that match on laws (which
//! contacts carry impulses in `criteria.rs`, the equations of `newton.rs`). `coloured` solves laws
//! without packs one by one, and `Anderson` and `Accurate` delegate problems with unknown laws to
//! conjugate gradients.

use super::local::{solve_contact, solve_joint};
use super::rolling::{into_ball, largest, solve_rolling};
use crate::math::length2;

/// The law of one triple of unknowns: an impulse `r` [N s] and a velocity `u` [m/s].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Signorini's condition and Coulomb's law with the exact cone: `0 ≤ u_n ⊥ r_n ≥ 0`,
    /// `‖r_t‖ ≤ μ r_n`, and `u_t` opposite to `r_t` if it slides.
    Coulomb {
        /// Coefficient of friction `μ` [–].
        friction: f64,
    },
    /// A bilateral constraint, as in a joint: `u = 0`, any `r`.
    Bilateral,
    /// Rolling resistance: `‖r‖ ≤ limit`, and `u` opposite to `r` if it rolls. The limit follows
    /// from the normal impulses of the contacts that carry the moment; see
    /// [`super::ContactProblem::limit`].
    Rolling,
    /// Cone complementarity, the convex relaxation of Coulomb's law: `r` in Coulomb's cone, `u` in
    /// its dual, `r · u = 0`. Open and sticking contacts are those of Coulomb's law; a sliding
    /// contact opens with `u_n = μ ‖u_t‖`.
    Cone {
        /// Coefficient of friction `μ` [–].
        friction: f64,
    },
}

impl Default for Law {
    /// A contact without friction.
    fn default() -> Self {
        Law::Coulomb { friction: 0.0 }
    }
}

/// One triple of unknowns while all other impulses are fixed.
#[derive(Clone, Copy, Debug)]
pub struct Local<'a> {
    /// `W^αα` [1/kg].
    pub block: &'a [[f64; 3]; 3],
    /// `u = (V_free + W I)^α`, with the current impulse [m/s].
    pub velocity: [f64; 3],
    /// The current impulse [N s].
    pub impulse: [f64; 3],
    /// Largest impulse of [`Law::Rolling`] [N s]; ignored by other laws.
    pub limit: f64,
}

impl Local<'_> {
    /// `V_free + Σ_{β≠α} W^αβ I^β`: the velocity without this impulse [m/s].
    #[inline]
    fn velocity_without(&self) -> [f64; 3] {
        let own = apply(self.block, self.impulse);
        std::array::from_fn(|i| self.velocity[i] - own[i])
    }
}

impl Law {
    /// Coefficient of friction of a contact, exact or relaxed [–]; `None` if the law has none.
    #[inline]
    pub fn friction(self) -> Option<f64> {
        match self {
            Law::Coulomb { friction } | Law::Cone { friction } => Some(friction),
            Law::Bilateral | Law::Rolling => None,
        }
    }

    /// The impulse that obeys the law while all others are fixed [N s]: exact for Coulomb's law and
    /// bilateral constraints, one step of a contraction for rolling resistance and cone
    /// complementarity.
    #[inline]
    pub fn solve(self, at: &Local) -> [f64; 3] {
        match self {
            Law::Coulomb { friction } => solve_contact(at.block, at.velocity_without(), friction),
            Law::Bilateral => solve_joint(at.block, at.velocity_without()),
            Law::Rolling => solve_rolling(at.block, at.velocity, at.impulse, at.limit),
            Law::Cone { friction } => solve_cone(at.block, at.velocity, at.impulse, friction),
        }
    }

    /// The admissible impulse nearest to `x`: in Coulomb's cone `‖x_t‖ ≤ μ x_n`, anywhere, or in
    /// the ball of radius `limit`. All in the same unit.
    #[inline]
    pub fn project(self, x: [f64; 3], limit: f64) -> [f64; 3] {
        match self {
            Law::Coulomb { friction } | Law::Cone { friction } => into_cone(x, friction),
            Law::Bilateral => x,
            Law::Rolling => into_ball(x, limit),
        }
    }

    /// The natural map `r − P(r − û)`, zero if the law holds: `P` is [`Law::project`], and
    /// `û = u + μ‖u_t‖ n` for Coulomb's law (De Saxcé), `u` for the others. `r`, `u` and `limit`
    /// are in the same unit.
    #[inline]
    pub fn natural_map(self, r: [f64; 3], u: [f64; 3], limit: f64) -> [f64; 3] {
        let mut x: [f64; 3] = std::array::from_fn(|i| r[i] - u[i]);
        match self {
            Law::Coulomb { friction } => x[0] -= friction * length2(u[1], u[2]),
            Law::Bilateral => return u,
            Law::Rolling | Law::Cone { .. } => {}
        }
        let p = self.project(x, limit);
        std::array::from_fn(|i| r[i] - p[i])
    }

    /// How fast a velocity violates the law [m/s]: the approach of a contact, any motion of a
    /// bilateral constraint. NaN counts as the worst possible violation.
    pub(super) fn approach(self, u: [f64; 3]) -> f64 {
        match self {
            Law::Rolling => 0.0,
            Law::Coulomb { .. } | Law::Cone { .. } if u[0].is_nan() => f64::INFINITY,
            Law::Coulomb { .. } | Law::Cone { .. } => -u[0],
            Law::Bilateral if u.iter().any(|x| x.is_nan()) => f64::INFINITY,
            // Contradictory constraints must not pass just because their impulses grow.
            Law::Bilateral => u.iter().fold(0.0, |m: f64, x| m.max(x.abs())),
        }
    }
}

/// One step of the fixed point of Anitescu and Tasora (2010) for a single contact, from the impulse
/// `old` and its velocity `u`: `P(old − η u)`, where `1/η` bounds the eigenvalues of the block.
/// Without friction the exact solution.
fn solve_cone(block: &[[f64; 3]; 3], u: [f64; 3], old: [f64; 3], friction: f64) -> [f64; 3] {
    if friction == 0.0 {
        let w_nn = block[0][0];
        // A tangential part of the impulse to start from contributes to `u`.
        let others = block[0][1] * old[1] + block[0][2] * old[2];
        let n = if w_nn > 0.0 { (old[0] - (u[0] - others) / w_nn).max(0.0) } else { 0.0 };
        return [n, 0.0, 0.0];
    }
    let mobility = largest(block);
    if mobility <= 0.0 {
        return [0.0; 3];
    }
    into_cone(std::array::from_fn(|i| old[i] - u[i] / mobility), friction)
}

/// Projection onto Coulomb's cone.
#[inline]
pub(super) fn into_cone(x: [f64; 3], friction: f64) -> [f64; 3] {
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

/// `W r` for one block.
#[inline]
pub(super) fn apply(w: &[[f64; 3]; 3], r: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| w[i][0] * r[0] + w[i][1] * r[1] + w[i][2] * r[2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    const LAWS: [Law; 6] = [
        Law::Coulomb { friction: 0.0 },
        Law::Coulomb { friction: 0.7 },
        Law::Bilateral,
        Law::Rolling,
        Law::Cone { friction: 0.0 },
        Law::Cone { friction: 0.7 },
    ];
    const LIMIT: f64 = 0.8;

    fn random(rng: &mut Pcg64) -> [f64; 3] {
        std::array::from_fn(|_| rng.random_range(-2.0..2.0))
    }

    fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    #[test]
    fn a_projection_is_admissible_idempotent_and_the_nearest_of_many() {
        let mut rng = Pcg64::seed_from_u64(1);
        for law in LAWS {
            for _ in 0..500 {
                let x = random(&mut rng);
                let p = law.project(x, LIMIT);
                assert!(distance(law.project(p, LIMIT), p) < 1e-14, "{law:?} {x:?}");
                // No other admissible impulse is closer.
                for _ in 0..20 {
                    let other = law.project(random(&mut rng), LIMIT);
                    assert!(distance(x, p) <= distance(x, other) + 1e-14, "{law:?} {x:?}");
                }
            }
        }
    }

    #[test]
    fn projections_do_not_increase_distances() {
        let mut rng = Pcg64::seed_from_u64(2);
        for law in LAWS {
            for _ in 0..1000 {
                let (x, y) = (random(&mut rng), random(&mut rng));
                let projected = distance(law.project(x, LIMIT), law.project(y, LIMIT));
                assert!(projected <= distance(x, y) * (1.0 + 1e-14), "{law:?} {x:?} {y:?}");
            }
        }
    }

    #[test]
    fn the_local_solve_of_every_law_is_a_zero_of_its_natural_map() {
        let mut rng = Pcg64::seed_from_u64(3);
        for law in LAWS {
            for _ in 0..200 {
                // Diagonally dominant and symmetric, of size one.
                let off: [f64; 3] = std::array::from_fn(|_| rng.random_range(-0.2..0.2));
                let block = [[1.0, off[0], off[1]], [off[0], 0.9, off[2]], [off[1], off[2], 1.1]];
                let free = random(&mut rng);
                let velocity = |r: [f64; 3]| -> [f64; 3] {
                    let own = apply(&block, r);
                    std::array::from_fn(|i| free[i] + own[i])
                };
                let mut r = [0.0; 3];
                // Rolling resistance and cone complementarity contract by a factor below 0.6 per
                // step; the others need one step.
                for _ in 0..100 {
                    let at =
                        Local { block: &block, velocity: velocity(r), impulse: r, limit: LIMIT };
                    r = law.solve(&at);
                }
                let f = law.natural_map(r, velocity(r), LIMIT);
                assert!(distance(f, [0.0; 3]) < 1e-12, "{law:?} {free:?}: {r:?} {f:?}");
            }
        }
    }

    #[test]
    fn the_natural_map_vanishes_when_open_sticking_or_sliding_and_not_otherwise() {
        let zero = [0.0; 3];
        let coulomb = Law::Coulomb { friction: 0.7 };
        let map = |r: [f64; 3], u: [f64; 3]| coulomb.natural_map(r, u, 0.0);
        assert_eq!(map(zero, [0.5, 3.0, 0.0]), zero);
        assert_eq!(map([1.0, 0.3, 0.0], zero), zero);
        let f = map([1.0, -0.7, 0.0], [0.0, 2.0, 0.0]);
        assert!(f.iter().all(|x| x.abs() < 1e-15), "{f:?}");
        // Sliding along the impulse, pulling, and penetrating are not solutions.
        assert!(map([1.0, 0.7, 0.0], [0.0, 2.0, 0.0])[1].abs() > 0.1);
        assert!(map([-1.0, 0.0, 0.0], zero)[0].abs() > 0.1);
        assert!(map(zero, [-1.0, 0.0, 0.0])[0].abs() > 0.1);
    }

    #[test]
    fn a_contact_that_slides_under_cone_complementarity_lifts_by_friction_times_its_speed() {
        let cone = Law::Cone { friction: 0.7 };
        let size = |r, u| distance(cone.natural_map(r, u, 0.0), [0.0; 3]);
        assert_eq!(size([0.0; 3], [0.5, 0.5, 0.0]), 0.0);
        assert_eq!(size([1.0, 0.3, 0.0], [0.0; 3]), 0.0);
        // u_n = μ |u_t|, up to round-off.
        assert!(size([1.0, -0.7, 0.0], [1.4, 2.0, 0.0]) < 1e-15);
        // Coulomb's sliding contact is not a solution, nor is one that opens too slowly.
        assert!(size([1.0, -0.7, 0.0], [0.0, 2.0, 0.0]) > 0.1);
        assert!(size([0.0; 3], [0.5, 3.0, 0.0]) > 0.1);
    }

    #[test]
    fn approach_measures_what_each_law_forbids() {
        let coulomb = Law::Coulomb { friction: 0.3 };
        assert_eq!(coulomb.approach([-0.2, 5.0, 0.0]), 0.2);
        assert_eq!(Law::Bilateral.approach([0.1, -0.3, 0.0]), 0.3);
        assert_eq!(Law::Rolling.approach([-1.0; 3]), 0.0);
        assert_eq!(coulomb.approach([f64::NAN, 0.0, 0.0]), f64::INFINITY);
        assert_eq!(Law::Cone { friction: 0.3 }.approach([-0.2, 5.0, 0.0]), 0.2);
        assert_eq!(Law::Bilateral.approach([0.0, f64::NAN, 0.0]), f64::INFINITY);
    }
}
