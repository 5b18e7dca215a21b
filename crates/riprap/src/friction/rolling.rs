//! Rolling resistance: bodies in contact resist relative rotation. The moment is at most a length
//! times the normal impulses and opposes the relative spin: Coulomb's law for spins.

use super::residual::squared;

/// One moment of rolling resistance. Like a contact it has three unknowns in the problem: a moment
/// divided by a length as impulse [N s], and the relative spin times that length as velocity [m/s].
/// They follow all contacts and joints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rolling {
    /// The contacts that carry it, as a half-open range.
    pub contacts: [u32; 2],
    /// Largest moment divided by its length and the normal impulses [–].
    pub ratio: f64,
    /// The length that converts a spin to a velocity and an impulse to a moment [m].
    pub length: f64,
}

impl Rolling {
    /// Largest impulse given the impulses at its contacts [N s].
    #[inline]
    pub(super) fn limit(&self, impulses: &[[f64; 3]]) -> f64 {
        let [first, end] = self.contacts.map(|a| a as usize);
        self.ratio * impulses[first..end].iter().map(|r| r[0].max(0.0)).sum::<f64>()
    }
}

/// The next impulse for the velocity `u` produced by the impulse `old`: a step along the velocity,
/// projected onto the ball. The eigenvalues of the block are of similar size, so that the exact
/// solve would gain little.
#[inline]
pub(super) fn solve_rolling(
    block: &[[f64; 3]; 3],
    u: [f64; 3],
    old: [f64; 3],
    limit: f64,
) -> [f64; 3] {
    let mobility = largest(block);
    if mobility <= 0.0 {
        return [0.0; 3];
    }
    into_ball(std::array::from_fn(|i| old[i] - u[i] / mobility), limit)
}

/// A bound for the eigenvalues of a symmetric block: its largest row sum.
pub(super) fn largest(block: &[[f64; 3]; 3]) -> f64 {
    block.iter().map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

/// Projection onto the ball of radius `limit`.
#[inline]
pub(super) fn into_ball(x: [f64; 3], limit: f64) -> [f64; 3] {
    let length = squared(x).sqrt();
    if length <= limit { x } else { x.map(|x| x * (limit / length)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::Law;
    use crate::friction::law::apply;

    #[test]
    fn a_moment_resists_the_spin_up_to_its_limit() {
        let block = [[2.0, 0.1, 0.0], [0.1, 1.0, 0.0], [0.0, 0.0, 1.5]];
        let velocity = |m: [f64; 3], free: [f64; 3]| -> [f64; 3] {
            let own = apply(&block, m);
            std::array::from_fn(|i| own[i] + free[i])
        };
        let solve = |free: [f64; 3], limit: f64| {
            let mut m = [0.0; 3];
            for _ in 0..200 {
                m = solve_rolling(&block, velocity(m, free), m, limit);
            }
            (m, velocity(m, free))
        };
        let map = |m, u, limit| squared(Law::Rolling.natural_map(m, u, limit));
        // If strong enough, it stops the spin.
        let (m, u) = solve([0.3, -0.2, 0.1], 10.0);
        assert!(squared(u) < 1e-28 && map(m, u, 10.0) < 1e-28, "{u:?}");
        // Otherwise it is at its limit and opposes the spin.
        let (m, u) = solve([0.3, -0.2, 0.1], 0.05);
        assert!((squared(m).sqrt() - 0.05).abs() < 1e-15);
        let along: f64 = (0..3).map(|k| m[k] * u[k]).sum();
        assert!((along + 0.05 * squared(u).sqrt()).abs() < 1e-12, "{m:?} {u:?}");
        assert!(map(m, u, 0.05) < 1e-24);
    }

    #[test]
    fn the_limit_is_the_sum_of_the_positive_normal_impulses() {
        let rolling = Rolling { contacts: [1, 4], ratio: 0.5, length: 1.0 };
        let impulses = [[9.0; 3], [1.0, 5.0, 5.0], [-3.0, 0.0, 0.0], [2.0, 0.0, 0.0], [9.0; 3]];
        assert_eq!(rolling.limit(&impulses), 1.5);
    }
}
