//! Accelerated projected gradient descent (APGD): Nesterov's method with adaptive step and restart,
//! after Mazhar, Heyn, Negrut and Tasora (2015).

use super::{ConeOptions, ConeProblem, Watch, dot, solve_with};
use crate::friction::{Buffers, ContactProblem, ContactSolver, Impulses, Scratch, SolveReport};
use crate::math::bytes_of;

/// Iterations after which the gradient, updated by differences, is computed from scratch.
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
    /// Gradient `N γ + r` at the iterate.
    gradient: Vec<f64>,
    /// The extrapolated point `y` and its gradient.
    y: Vec<f64>,
    y_gradient: Vec<f64>,
    /// The next iterate, its distance from `y`, and `N` times this distance.
    next: Vec<f64>,
    step: Vec<f64>,
    n_step: Vec<f64>,
    velocity: Vec<[f64; 6]>,
}

impl Buffers for Iterates {
    fn bytes(&self) -> usize {
        [&self.gradient, &self.y, &self.y_gradient, &self.next, &self.step, &self.n_step]
            .into_iter()
            .map(bytes_of)
            .sum::<usize>()
            + bytes_of(&self.velocity)
    }
}

impl Iterates {
    /// `next = P(y − ∇/L)` with the smallest tried `L` that bounds the curvature along the step.
    fn advance(&mut self, cone: &ConeProblem, lipschitz: &mut f64) {
        loop {
            self.next.clear();
            let moved = self.y.iter().zip(&self.y_gradient).map(|(y, g)| y - g / *lipschitz);
            self.next.extend(moved);
            cone.project(&mut self.next);
            self.step.clear();
            self.step.extend(self.next.iter().zip(&self.y).map(|(x, y)| x - y));
            cone.apply(&self.step, &mut self.n_step, &mut self.velocity);
            let (curvature, length) = (dot(&self.step, &self.n_step), dot(&self.step, &self.step));
            let too_far = curvature > *lipschitz * length * (1.0 + 1e-12);
            // Also with NaN.
            if !too_far {
                return;
            }
            *lipschitz = (2.0 * *lipschitz).max(curvature / length);
        }
    }
}

fn run(cone: &ConeProblem, x: &mut Vec<f64>, watch: &mut Watch, scratch: &mut Scratch) {
    let it = scratch.of::<Iterates>();
    cone.gradient(x, &mut it.gradient, &mut it.velocity);
    if watch.note(cone, x, &it.gradient) {
        return;
    }
    it.y.clone_from(x);
    it.y_gradient.clone_from(&it.gradient);
    // The diagonal of `N` is one, and so is the smallest possible bound.
    let (mut lipschitz, mut theta) = (1.0, 1.0f64);
    while watch.next() {
        it.advance(cone, &mut lipschitz);
        // θ_{k+1} and β of Nesterov's sequence.
        let square = theta * theta;
        let next_theta = 0.5 * (-square + theta * (square + 4.0).sqrt());
        let mut beta = theta * (1.0 - theta) / (square + next_theta);
        theta = next_theta;
        // Restart when the step points uphill (O'Donoghue and Candès 2015).
        let uphill: f64 = (0..x.len()).map(|i| it.y_gradient[i] * (it.next[i] - x[i])).sum();
        if uphill > 0.0 {
            (beta, theta) = (0.0, 1.0);
        }
        for i in 0..x.len() {
            let (new, gradient) = (it.next[i], it.y_gradient[i] + it.n_step[i]);
            it.y[i] = new + beta * (new - x[i]);
            it.y_gradient[i] = gradient + beta * (gradient - it.gradient[i]);
            (x[i], it.gradient[i]) = (new, gradient);
        }
        lipschitz *= 0.9;
        let done = watch.note(cone, x, &it.gradient);
        if done || watch.iterations.is_multiple_of(REFRESH) {
            cone.gradient(x, &mut it.gradient, &mut it.velocity);
            if done && watch.note(cone, x, &it.gradient) {
                return;
            }
            cone.gradient(&it.y, &mut it.y_gradient, &mut it.velocity);
            if !dot(&it.gradient, &it.gradient).is_finite() {
                return;
            }
        }
    }
}
