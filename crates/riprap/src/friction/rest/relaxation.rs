//! The overdamped relaxation of the paper, `ξ' = ξ − h a` (39): contacts that approach each other
//! with an acceleration `a` are deformed further. `a = Hᵀ M⁻¹ (H f − R)` are the accelerations that
//! the current forces leave over. They are those of bodies, so they lie in the image of `D`, where
//! the projection is the identity, and the new displacements solve (40) exactly:
//! `δq' = δq + h M⁻¹ (H f − R)`.

use super::RestProblem;
use super::network::{Network, Point, Rule};

/// Growth of the error after which the step is halved [–].
const GROWTH: f64 = 10.0;

/// Relaxes the displacements until all resultants have their tolerance; returns the number of
/// iterations. Blocks without inverse mass do not move.
pub(super) fn solve(
    problem: &RestProblem,
    network: &Network,
    (tolerance, most): (f64, usize),
    dq: &mut [[f64; 6]],
) -> usize {
    let mut h = step(problem, network);
    let mut at = Point::default();
    let (mut least, mut best) = (f64::INFINITY, dq.to_vec());
    for iteration in 0..most {
        let [worst, _] = network.evaluate(dq, Rule::Coulomb, &mut at);
        if worst <= tolerance {
            return iteration;
        }
        // It grows, or is not a number: the contacts are stiffer than at the deformations of the first estimate.
        let grows = iteration > 0 && (worst.is_nan() || worst > GROWTH * least);
        if grows {
            h *= 0.5;
            dq.copy_from_slice(&best);
            continue;
        }
        if worst < least {
            least = worst;
            best.copy_from_slice(dq);
        }
        accelerate(problem, &mut at.excess);
        for (dq, a) in dq.iter_mut().zip(&at.excess) {
            for (q, a) in dq.iter_mut().zip(a) {
                *q += h * a;
            }
        }
    }
    dq.copy_from_slice(&best);
    most
}

/// `M⁻¹ p` in place of `p`.
fn accelerate(problem: &RestProblem, p: &mut [[f64; 6]]) {
    for (p, mass) in p.iter_mut().zip(problem.contacts.masses()) {
        let [x, y, z, u, v, w] = *p;
        let [a, b, c] = mass.linear;
        let [u, v, w] = mass.turn([u, v, w]);
        *p = [a * x, b * y, c * z, u, v, w];
    }
}

/// A stable step: the inverse of the largest eigenvalue of `M⁻¹ K` with all contacts closed, by
/// power iteration [s²].
fn step(problem: &RestProblem, network: &Network) -> f64 {
    let mut x = vec![[0.0; 6]; network.n_blocks];
    for (k, x) in x.as_flattened_mut().iter_mut().enumerate() {
        // No eigenvector is orthogonal to this by symmetry.
        *x = 1.0 + (k as f64 * 0.7).sin();
    }
    let (mut at, mut zero) = (Point::default(), Point::default());
    network.evaluate(&vec![[0.0; 6]; network.n_blocks], Rule::Closed, &mut zero);
    let mut largest = 0.0;
    for _ in 0..60 {
        let size = x.as_flattened().iter().map(|x| x * x).sum::<f64>().sqrt();
        x.as_flattened_mut().iter_mut().for_each(|x| *x /= -size);
        network.evaluate(&x, Rule::Closed, &mut at);
        for (x, zero) in at.excess.as_flattened_mut().iter_mut().zip(zero.excess.as_flattened()) {
            *x -= zero;
        }
        accelerate(problem, &mut at.excess);
        std::mem::swap(&mut x, &mut at.excess);
        largest = x.as_flattened().iter().map(|x| x * x).sum::<f64>().sqrt();
        if largest <= 0.0 {
            return 0.0;
        }
    }
    0.8 / largest
}
