//! Rough solutions of the systems of large networks: stabilized biconjugate gradients (van der Vorst
//! 1992) with the diagonal blocks as preconditioner. A short relaxation step of thousands of bodies
//! takes some dozen products with the tangent, where elimination takes billions of operations.

use crate::friction::elimination::{Block, add_to, inverse, times};

/// Solver of systems `A x = b` over blocks of six.
pub(super) struct Krylov {
    inverses: Vec<Block<6>>,
    most: usize,
    accuracy: f64,
}

impl Krylov {
    /// A solver with the given diagonal blocks; `None` if one of them is singular.
    pub(super) fn new(
        diagonals: impl Iterator<Item = Block<6>>,
        accuracy: f64,
        most: usize,
    ) -> Option<Krylov> {
        let inverses: Option<Vec<Block<6>>> = diagonals.map(|block| inverse(&block)).collect();
        Some(Krylov { inverses: inverses?, most, accuracy })
    }

    /// `P⁻¹ x`.
    fn precondition(&self, x: &[[f64; 6]], out: &mut Vec<[f64; 6]>) {
        out.clear();
        out.extend(x.iter().zip(&self.inverses).map(|(x, inverse)| times(inverse, x)));
    }

    /// Replaces the right-hand side by the solution; false if it does not reach the accuracy.
    pub(super) fn solve(
        &self,
        b: &mut Vec<[f64; 6]>,
        product: impl Fn(&[[f64; 6]], &mut Vec<[f64; 6]>),
    ) -> bool {
        // Left preconditioning: the residual is measured in displacements.
        let mut r = Vec::new();
        self.precondition(b, &mut r);
        let begin = norm(&r);
        if begin == 0.0 {
            return true;
        }
        let zero = vec![[0.0; 6]; b.len()];
        let (mut x, mut p, mut v, mut t) = (zero.clone(), zero.clone(), zero.clone(), zero.clone());
        let (shadow, mut work) = (r.clone(), Vec::new());
        let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
        for _ in 0..self.most {
            let next = dot(&shadow, &r);
            let beta = next / rho * (alpha / omega);
            rho = next;
            for ((p, v), r) in flat(&mut p).zip(v.as_flattened()).zip(r.as_flattened()) {
                *p = r + beta * (*p - omega * v);
            }
            product(&p, &mut work);
            self.precondition(&work, &mut v);
            alpha = rho / dot(&shadow, &v);
            add_to(&mut r, -alpha, &v);
            add_to(&mut x, alpha, &p);
            if norm(&r) <= self.accuracy * begin {
                break;
            }
            product(&r, &mut work);
            self.precondition(&work, &mut t);
            omega = dot(&t, &r) / dot(&t, &t);
            add_to(&mut x, omega, &r);
            add_to(&mut r, -omega, &t);
            if norm(&r) <= self.accuracy * begin {
                break;
            }
            if !(rho.is_finite() && omega.is_finite() && rho != 0.0 && omega != 0.0) {
                return false;
            }
        }
        let reached = norm(&r) <= self.accuracy * begin;
        if reached {
            std::mem::swap(b, &mut x);
        }
        reached
    }
}

fn flat(x: &mut [[f64; 6]]) -> impl Iterator<Item = &mut f64> {
    x.as_flattened_mut().iter_mut()
}

fn dot(a: &[[f64; 6]], b: &[[f64; 6]]) -> f64 {
    a.as_flattened().iter().zip(b.as_flattened()).map(|(a, b)| a * b).sum()
}

fn norm(a: &[[f64; 6]]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    #[test]
    fn a_chain_of_random_blocks_is_solved_and_a_hopeless_system_is_reported() {
        let mut rng = Pcg64::seed_from_u64(5);
        let n = 30;
        let mut block = |own: f64| -> Block<6> {
            std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    rng.random_range(-1.0..1.0) + if i == j { own } else { 0.0 }
                })
            })
        };
        let diagonals: Vec<Block<6>> = (0..n).map(|_| block(12.0)).collect();
        let upper: Vec<Block<6>> = (1..n).map(|_| block(0.0)).collect();
        let lower: Vec<Block<6>> = (1..n).map(|_| block(0.0)).collect();
        let product = |x: &[[f64; 6]], out: &mut Vec<[f64; 6]>| {
            out.clear();
            out.extend(x.iter().zip(&diagonals).map(|(x, d)| times(d, x)));
            for k in 0..n - 1 {
                let (up, down) = (times(&upper[k], &x[k + 1]), times(&lower[k], &x[k]));
                (0..6).for_each(|i| out[k][i] += up[i]);
                (0..6).for_each(|i| out[k + 1][i] += down[i]);
            }
        };
        let known: Vec<[f64; 6]> = (0..n).map(|k| [k as f64 - 10.0; 6]).collect();
        let mut b = Vec::new();
        product(&known, &mut b);
        let krylov = Krylov::new(diagonals.iter().copied(), 1e-10, 100).unwrap();
        let right = b.clone();
        assert!(krylov.solve(&mut b, product));
        for (x, y) in b.as_flattened().iter().zip(known.as_flattened()) {
            assert!((x - y).abs() < 1e-6, "{x} {y}");
        }
        // One iteration is not enough; the right-hand side stays.
        let hasty = Krylov::new(diagonals.iter().copied(), 1e-10, 1).unwrap();
        let mut b = right.clone();
        assert!(!hasty.solve(&mut b, product));
        assert_eq!(b, right);
        assert!(Krylov::new([[[0.0; 6]; 6]].into_iter(), 1e-2, 10).is_none());
    }
}
