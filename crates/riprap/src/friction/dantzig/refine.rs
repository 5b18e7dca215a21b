//! Proximal steps, which remove the effect of the compliance from a solution, and the measure of the
//! result.

use super::attempt::{Attempt, Failure};
use super::island::State;
use super::path::{self, Algebra};

/// Largest residual of a solution [–].
pub(super) const TOLERANCE: f64 = 1e-10;

/// Residual below which only the tolerance on signs separates lists from a solution [–].
const NEARLY: f64 = 1e-7;

/// Residual below which no proximal step is needed [–].
const FINE: f64 = 1e-13;

/// Most proximal steps.
const PROXIMAL: usize = 20;

impl Attempt<'_> {
    /// Removes the effect of the compliance: proximal steps, in which it acts only on the change of
    /// the forces. The lists change only if they turn out to be inconsistent. Returns the residual.
    pub(super) fn refine(&mut self, algebra: &mut impl Algebra) -> Result<f64, Failure> {
        let mut worst = 0;
        for _ in 0..PROXIMAL {
            let (mut residual, mut at) = self.polish(algebra);
            if residual > TOLERANCE && residual < NEARLY {
                self.snap(algebra);
                (residual, at) = self.polish(algebra);
            }
            if residual <= TOLERANCE {
                return Ok(residual);
            }
            worst = at;
            self.path.approach(self.island);
            self.refill();
            self.repair(algebra)?;
        }
        Err(Failure::At(worst))
    }

    /// Moves contacts whose forces are beyond their bounds by less than the tolerance on signs to
    /// the lists of these bounds: cutting the forces off would change accelerations as much.
    fn snap(&mut self, algebra: &mut impl Algebra) {
        for _ in 0..PROXIMAL {
            self.path.approach(self.island);
            if !self.path.evaluate(self.island, algebra) {
                return;
            }
            let (island, path) = (self.island, &mut *self.path);
            let before = path.states.clone();
            for k in 0..island.n_contacts() {
                let normal = island.start[k];
                if path.states[normal] == State::Basic && path.x[normal] < 0.0 {
                    path.states[normal..island.start[k + 1]].fill(State::Out);
                }
                let bound = island.mu[k] * path.x[normal];
                for u in island.axes(k).filter(|u| before[*u] == State::Basic) {
                    if path.states[normal] == State::Basic && path.x[u].abs() > bound {
                        path.states[u] = if path.x[u] > 0.0 { State::Upper } else { State::Lower };
                    }
                }
            }
            if before == path.states {
                return;
            }
        }
    }

    /// Proximal steps with the present lists, until rounding is reached. Returns the residual and
    /// the contact where it is largest.
    pub(super) fn polish(&mut self, algebra: &mut impl Algebra) -> (f64, usize) {
        let mut reached = self.measure(algebra);
        let mut kept = (self.path.x.clone(), self.path.a.clone());
        for _ in 0..PROXIMAL {
            if reached.0 <= FINE {
                break;
            }
            self.path.approach(self.island);
            if !self.path.evaluate(self.island, algebra) {
                break;
            }
            let new = self.measure(algebra);
            if new.0 > 0.5 * reached.0 {
                break;
            }
            reached = new;
            kept = (self.path.x.clone(), self.path.a.clone());
        }
        (self.path.x, self.path.a) = kept;
        reached
    }

    /// Sets forces that violate their bounds by rounding to these, and computes the accelerations.
    /// Returns the worst violation of (27) relative to the largest free acceleration, and its
    /// contact.
    fn measure(&mut self, algebra: &mut impl Algebra) -> (f64, usize) {
        let (island, path) = (self.island, &mut *self.path);
        path.clip(island);
        path::product(island, algebra, &path.x, (self.vectors, self.products), &mut path.a);
        let mut worst = (0.0, 0);
        for u in 0..island.len() {
            path.a[u] += island.b[u];
            let (x, a) = (path.x[u], path.a[u]);
            let violation = if island.is_normal(u) {
                x.min(a)
            } else {
                let bound = island.bound(u) * path.x[island.normal_of(u)];
                x - (x - a).clamp(-bound, bound)
            };
            // NaN counts as the worst.
            let size = if violation.is_nan() { f64::INFINITY } else { violation.abs() };
            if size > worst.0 {
                worst = (size, island.owner[u] as usize);
            }
        }
        worst
    }
}
