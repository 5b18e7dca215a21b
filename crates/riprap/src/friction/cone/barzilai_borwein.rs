//! The spectral projected gradient method (Birgin, Martínez and Raydan 2000) with the step lengths of Barzilai
//! and Borwein (1988), in the form for quadratic functions, where the line search needs no trials
//! (Pospíšil and Dostál 2018).

use super::{ConeOptions, ConeProblem, Velocities, Watch, add, dot3, solve_with};
use crate::friction::{Buffers, ContactProblem, ContactSolver, Impulses, Scratch, SolveReport};
use crate::math::bytes_of;

/// Iterations whose largest value the nonmonotone line search compares with.
const MEMORY: usize = 10;
/// Sufficient decrease of the line search.
const DECREASE: f64 = 1e-4;
/// Iterations after which the velocities, updated by differences, are computed from scratch.
const REFRESH: usize = 50;

/// Spectral projected gradients for cone complementarity problems: one product with `N` per
/// iteration, steps of Barzilai and Borwein, nonmonotone line search.
#[derive(Clone, Copy, Debug, Default)]
pub struct BarzilaiBorwein {
    /// When to stop.
    pub options: ConeOptions,
}

impl BarzilaiBorwein {
    /// Stops at a residual [–]; see [`ConeOptions::tolerance`].
    pub fn tolerance(tolerance: f64) -> BarzilaiBorwein {
        BarzilaiBorwein { options: ConeOptions::tolerance(tolerance) }
    }
}

impl ContactSolver for BarzilaiBorwein {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        solve_with(&self.options, problem, impulses, scratch, |cone, x, watch, scratch| {
            run(cone, x, watch, scratch)
        })
    }
}

/// Buffers of the method.
#[derive(Default)]
struct Directions {
    /// `P(γ − α ∇) − γ`.
    direction: Vec<f64>,
    /// The velocities of the iterate and of the direction.
    v: Velocities,
    v_direction: Velocities,
}

impl Buffers for Directions {
    fn bytes(&self) -> usize {
        bytes_of(&self.direction) + bytes_of(&self.v) + bytes_of(&self.v_direction)
    }
}

fn run(cone: &ConeProblem, x: &mut [f64], watch: &mut Watch, scratch: &mut Scratch) {
    let Directions { direction, v, v_direction } = scratch.of::<Directions>();
    cone.start(x, v);
    if watch.note(cone, x, v) {
        return;
    }
    // Values relative to that of the start, of the last iterations.
    let (mut values, mut value) = ([0.0; MEMORY], 0.0);
    // The diagonal of `N` is one.
    let mut alpha = 1.0;
    while watch.next() {
        let (mut length, mut slope) = (0.0, 0.0);
        let curvature = cone.step(v, (direction, v_direction), |rows, gradient| {
            let x = rows.load(x);
            let new = rows.descend(x, alpha, gradient);
            let direction = [new[0] - x[0], new[1] - x[1], new[2] - x[2]];
            length += dot3(direction, direction);
            slope += dot3(gradient, direction);
            direction
        });
        if !(length + curvature).is_finite() {
            return;
        }
        // The projection guarantees ∇ · d ≤ −‖d‖²/α; near the solution the product is round-off.
        let slope = slope.min(-length / alpha);
        let largest = values.iter().fold(f64::NEG_INFINITY, |m: f64, v| m.max(*v));
        let fraction = line_search(slope, curvature, largest - value);
        value += fraction * (slope + 0.5 * fraction * curvature);
        values[watch.iterations % MEMORY] = value;
        add(x, fraction, direction);
        add(v.as_flattened_mut(), fraction, v_direction.as_flattened());
        // A flat direction: as far as possible.
        alpha = if curvature > 1e-12 * length { length / curvature } else { 1e4 };
        let done = watch.note(cone, x, v);
        if done || watch.iterations.is_multiple_of(REFRESH) {
            cone.start(x, v);
            // Small differences keep their digits.
            values.iter_mut().for_each(|v| *v -= value);
            value = 0.0;
            if done && watch.note(cone, x, v) {
                return;
            }
        }
    }
}

/// The largest fraction of a direction, up to 1, at which the value does not exceed the largest of
/// the last ones, `above` over the current value, by more than sufficient decrease allows:
/// `f + β s + β² c/2 ≤ f_max + δ β s`.
fn line_search(slope: f64, curvature: f64, above: f64) -> f64 {
    if curvature <= 0.0 {
        return 1.0;
    }
    let exact = -slope / curvature;
    let half = (1.0 - DECREASE) * exact;
    let most = half + (half * half + 2.0 * above.max(0.0) / curvature).sqrt();
    if most.is_nan() { 1.0 } else { most.min(1.0) }
}
