//! Accelerated projected gradient descent (APGD): Nesterov's method with adaptive step and restart,
//! after Mazhar, Heyn, Negrut and Tasora (2015).

use super::{ConeOptions, ConeProblem, Velocities, Watch, dot3, solve_with};
use crate::friction::{Buffers, ContactProblem, ContactSolver, Impulses, Scratch, SolveReport};
use crate::math::bytes_of;

/// Iterations after which the velocities, updated by differences, are computed from scratch.
const REFRESH: usize = 50;

/// Nesterov's accelerated projected gradient method for cone complementarity problems.
///
/// One product with `N` per iteration, and one more for each reduction of the step. The default
/// choice: its cost grows linearly with the number of contacts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Apgd {
    /// When to stop.
    pub options: ConeOptions,
}

impl Apgd {
    /// Stops at a residual [–]; see [`ConeOptions::tolerance`].
    pub fn tolerance(tolerance: f64) -> Apgd {
        Apgd { options: ConeOptions::tolerance(tolerance) }
    }
}

impl ContactSolver for Apgd {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        solve_with(&self.options, problem, impulses, scratch, run)
    }
}

/// Buffers of the method.
#[derive(Default)]
struct Iterates {
    /// The extrapolated point `y`, and the step from it to the next iterate.
    y: Vec<f64>,
    step: Vec<f64>,
    /// The velocities of the iterate, of `y` and of the step.
    v: Velocities,
    v_y: Velocities,
    v_step: Velocities,
}

impl Buffers for Iterates {
    fn bytes(&self) -> usize {
        let velocities = [&self.v, &self.v_y, &self.v_step].into_iter().map(bytes_of);
        velocities.sum::<usize>() + bytes_of(&self.y) + bytes_of(&self.step)
    }
}

impl Iterates {
    /// `step = P(y − ∇/L) − y` with the smallest tried `L` that bounds the curvature along the step.
    /// Returns `∇ · (y + step − x)`.
    fn advance(&mut self, cone: &ConeProblem, x: &[f64], lipschitz: &mut f64) -> f64 {
        let Iterates { y, step, v_y, v_step, .. } = self;
        loop {
            let (mut square, mut slope, length) = (0.0, 0.0, 1.0 / *lipschitz);
            let curvature = cone.step(v_y, (step, v_step), |rows, gradient| {
                let (y, x) = (rows.load(y), rows.load(x));
                let new = rows.descend(y, length, gradient);
                let step = [new[0] - y[0], new[1] - y[1], new[2] - y[2]];
                square += dot3(step, step);
                slope += dot3(gradient, [new[0] - x[0], new[1] - x[1], new[2] - x[2]]);
                step
            });
            let too_far = curvature > *lipschitz * square * (1.0 + 1e-12);
            // Also with NaN.
            if !too_far {
                return slope;
            }
            *lipschitz = (2.0 * *lipschitz).max(curvature / square);
        }
    }
}

/// `x ← y + step`, `y ← x + β (x − x_last)`.
fn extrapolate(x: &mut [f64], y: &mut [f64], step: &[f64], beta: f64) {
    for ((x, y), step) in x.iter_mut().zip(y).zip(step) {
        let new = *y + step;
        *y = new + beta * (new - *x);
        *x = new;
    }
}

fn run(cone: &ConeProblem, x: &mut Vec<f64>, watch: &mut Watch, scratch: &mut Scratch) {
    let it = scratch.of::<Iterates>();
    cone.start(x, &mut it.v);
    if watch.note(cone, x, &it.v) {
        return;
    }
    it.y.clone_from(x);
    it.v_y.clone_from(&it.v);
    // The diagonal of `N` is one, and so is the smallest possible bound.
    let (mut lipschitz, mut theta) = (1.0, 1.0f64);
    while watch.next() {
        let slope = it.advance(cone, x, &mut lipschitz);
        // θ_{k+1} and β of Nesterov's sequence.
        let square = theta * theta;
        let next_theta = 0.5 * (-square + theta * (square + 4.0).sqrt());
        let mut beta = theta * (1.0 - theta) / (square + next_theta);
        theta = next_theta;
        // Restart when the step points uphill (O'Donoghue and Candès 2015).
        if slope > 0.0 {
            (beta, theta) = (0.0, 1.0);
        }
        extrapolate(x, &mut it.y, &it.step, beta);
        // Velocities are linear in the unknowns.
        let [v, v_y] = [&mut it.v, &mut it.v_y].map(|v| v.as_flattened_mut());
        extrapolate(v, v_y, it.v_step.as_flattened(), beta);
        lipschitz *= 0.9;
        let done = watch.note(cone, x, &it.v);
        if done || watch.iterations.is_multiple_of(REFRESH) {
            let square = cone.start(x, &mut it.v);
            if done && watch.note(cone, x, &it.v) {
                return;
            }
            cone.start(&it.y, &mut it.v_y);
            if !square.is_finite() {
                return;
            }
        }
    }
}
