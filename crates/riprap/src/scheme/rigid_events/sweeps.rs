//! The conditions (27) as a residual, which tells whether known forces still fit; and sweeps over the contacts that
//! reduce it, for problems on which the pivots ran out.

use crate::friction::{
    BlockVelocities, Class, Delassus, Factored, ForceProblem, Friction, Operator, solve_contact,
};
use crate::math::length2;

/// Residual at which forces count as exact, relative to the largest acceleration [–].
pub const EXACT: f64 = 1e-12;

/// The largest violation of the conditions (27), as an acceleration relative to those without forces [–]. Sets the
/// accelerations due to `forces`, and the class of each contact.
pub fn residual(
    problem: &ForceProblem,
    forces: &[[f64; 3]],
    classes: &mut Vec<Class>,
    velocity: &mut BlockVelocities,
) -> f64 {
    let Delassus::Factored(w) = problem.w else { return f64::INFINITY };
    w.start(forces, velocity);
    classes.clear();
    let scale = problem.b.as_flattened().iter().fold(f64::MIN_POSITIVE, |m: f64, x| m.max(x.abs()));
    let mut worst = 0.0_f64;
    for (k, (b, f)) in problem.b.iter().zip(forces).enumerate() {
        let change = w.velocity(k, forces, velocity);
        let a: [f64; 3] = std::array::from_fn(|i| b[i] + change[i]);
        let (violation, class) = judge(w, k, &problem.friction[k], a, *f);
        worst = worst.max(violation);
        classes.push(class);
    }
    if worst.is_nan() { f64::INFINITY } else { worst / scale }
}

/// Violation of the conditions at one contact [m/s²], and its class.
fn judge(w: &Factored, k: usize, friction: &Friction, a: [f64; 3], f: [f64; 3]) -> (f64, Class) {
    let block = w.diagonal(k);
    let normal = a[0].min(block[0][0] * f[0]).abs();
    if f[0] <= 0.0 {
        let sideways = length2(f[1], f[2]) * (block[1][1] + block[2][2]);
        return (normal.max(sideways), Class::Breaking);
    }
    match *friction {
        Friction::None => (normal, Class::Static),
        Friction::Sliding { mu, direction } => {
            let off = [0, 1].map(|i| (f[1 + i] - mu * f[0] * direction[i]) * block[1 + i][1 + i]);
            (normal.max(length2(off[0], off[1])), Class::Sliding)
        }
        Friction::Static { mu } => {
            // f_t = P(f_t − a_t/ρ), the projection onto the disc of radius μ f_n.
            let rho = block[1][1].max(block[2][2]);
            if rho <= 0.0 {
                return (normal, Class::Static);
            }
            let locked = |i: usize| block[i][i] <= 1e-12 * rho;
            let free = [1, 2].map(|i| if locked(i) { 0.0 } else { a[i] });
            let trial = [f[1] - free[0] / rho, f[2] - free[1] / rho];
            let (length, limit) = (length2(trial[0], trial[1]), mu * f[0]);
            let cut = if length > limit { limit / length } else { 1.0 };
            let off = [f[1] - cut * trial[0], f[2] - cut * trial[1]];
            let class = if length > limit * (1.0 + 1e-9) { Class::Sliding } else { Class::Static };
            (normal.max(rho * length2(off[0], off[1])), class)
        }
    }
}

/// Improves `forces` until the residual is [`EXACT`], or no sweep is left. Returns the residual [–].
pub fn solve(
    problem: &ForceProblem,
    forces: &mut Vec<[f64; 3]>,
    classes: &mut Vec<Class>,
    velocity: &mut BlockVelocities,
    max_sweeps: usize,
) -> f64 {
    let Delassus::Factored(w) = problem.w else { return f64::INFINITY };
    forces.resize(problem.b.len(), [0.0; 3]);
    w.start(forces, velocity);
    let mut sweeps = 0;
    loop {
        for k in 0..problem.b.len() {
            let change = w.velocity(k, forces, velocity);
            let (block, f) = (w.diagonal(k), forces[k]);
            let a: [f64; 3] = std::array::from_fn(|i| problem.b[k][i] + change[i]);
            let own = |i: usize| block[i][0] * f[0] + block[i][1] * f[1] + block[i][2] * f[2];
            let q: [f64; 3] = std::array::from_fn(|i| a[i] - own(i));
            let new = match problem.friction[k] {
                Friction::None => solve_contact(block, q, 0.0),
                Friction::Static { mu } => solve_contact(block, q, mu),
                Friction::Sliding { mu, direction: [d, e] } => {
                    let grip = block[0][0] + mu * (block[0][1] * d + block[0][2] * e);
                    if q[0] < 0.0 && grip <= 1e-9 * block[0][0] {
                        return f64::INFINITY;
                    }
                    let n = (-q[0] / grip).max(0.0);
                    [n, mu * n * d, mu * n * e]
                }
            };
            let step: [f64; 3] = std::array::from_fn(|i| new[i] - f[i]);
            if step != [0.0; 3] {
                forces[k] = new;
                w.add(k, step, velocity);
            }
        }
        sweeps += 1;
        if sweeps % 8 == 0 || sweeps == 1 {
            let left = residual(problem, forces, classes, velocity);
            if left <= EXACT || sweeps >= max_sweeps || !left.is_finite() {
                return left;
            }
        }
    }
}
