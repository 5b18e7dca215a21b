//! The periodic cells of two runs. The same cell goes on with the same strain; into another one, or out of one, bodies start from their
//! images within the old one. Velocities relative to the flow carry over.

use super::{Continuation, ContinuationError, Continued};
use crate::math::{Lattice, Pose, Vec3};
use crate::scene::{Cell, Scene, State, Twist};

/// The images of both runs where one ends and the other starts.
pub(super) struct Cells {
    old: Option<Lattice>,
    new: Option<Lattice>,
    /// Shear rates before and after [1/s].
    rates: [f64; 2],
    differ: bool,
}

impl Cells {
    /// Compares them; cells with the same boundaries must have the same strain.
    pub fn compare(
        options: &Continuation,
        from: &Scene,
        state: &State,
        to: &Scene,
        report: &mut Continued,
    ) -> Result<Cells, ContinuationError> {
        let (old, new) = (from.lattice(state.t), to.lattice(options.time));
        let ranges = |scene: &Scene| scene.cell().map(Cell::ranges);
        let differ = ranges(from) != ranges(to);
        if let (Some(a), Some(b), false) = (&old, &new, differ) {
            let [reached, starts] = [a.strain(), b.strain()];
            let period = a.period();
            let mut jump = (reached - starts) * period.y;
            if period.x > 0.0 {
                jump -= (jump / period.x).round() * period.x;
            }
            if jump.abs() > 1e-6 * to.grain_size {
                return Err(ContinuationError::Strain { reached, starts });
            }
        }
        let before = from.shear_rate(state.t);
        let after = match to.cell() {
            Some(cell) if !cell.starts_at_rest() => cell.rate(options.time),
            // Velocities are kept as they are.
            _ => before,
        };
        // Rates of laws are differences over a short time.
        let same = (after - before).abs() <= 1e-6 * after.abs().max(before.abs());
        let rates = [before, if same { before } else { after }];
        report.other_cell = differ;
        report.shear_rates = (!same).then_some(rates);
        Ok(Cells { old, new, rates, differ })
    }

    /// Whether the cells have other boundaries, or only one scene has a cell.
    pub fn differ(&self) -> bool {
        self.differ
    }

    /// Pose and velocity in the new run.
    pub fn place(&self, mut q: Pose, mut v: Twist) -> (Pose, Twist) {
        let [before, after] = self.rates;
        if !self.differ && before == after {
            return (q, v);
        }
        let height = q.position.y;
        if let (Some(old), true) = (&self.old, self.differ) {
            q.position = old.wrapped(q.position);
        }
        v.linear.x += after * q.position.y - before * height;
        (q, v)
    }

    /// Whether a vector between two bodies, through nearest images, differs before and after by more than `least` [m].
    pub fn changes(&self, [before, after]: [Vec3; 2], least: f64) -> bool {
        let nearest = |lattice: &Option<Lattice>, d: Vec3| lattice.map_or(d, |l| l.reduced(d));
        let moved = nearest(&self.new, after) - nearest(&self.old, before);
        self.differ && moved.norm() > least
    }
}
