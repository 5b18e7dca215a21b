//! The overdamped relaxation of the paper with implicit steps: the backward Euler method for
//! `M δq̇ = H f(δq) − R`. A step solves `λ M (δq' − δq) = H f(δq') − R` with a few damped Newton
//! iterations. `λ`, the inverse of the step, falls while these converge, and the last steps, with
//! `λ ≈ 0`, are Newton's method for `H f = R` itself. Newton's method alone fails where many contacts
//! slide or open. As friction may allow several equilibria, the path matters: it is that of the
//! explicit relaxation, with the same `M`, from contacts that just touch.
//!
//! The tangent is not symmetric where contacts slide, because friction depends on the normal force.

use super::super::InverseMass;
use super::RestProblem;
use super::krylov::Krylov;
use super::network::{Network, Point, Rule};
use crate::friction::elimination::{Block, Elimination};
use crate::math::Mat3;

/// `λ` of the first step, and its smallest value.
const FIRST: f64 = 1e-2;
const SMALLEST: f64 = 1e-9;
/// Newton iterations of a step, and the factor by which they reduce its error.
const ITERATIONS: usize = 6;
const ACCURACY: f64 = 0.3;
/// Products of blocks in a factorization above which systems with `λ` of at least [`SOFT`] are first
/// solved roughly: to an accuracy, within a number of iterations.
const LARGE: f64 = 5e5;
const SOFT: f64 = 1e-5;
const ROUGHLY: f64 = 1e-2;
const PRODUCTS: usize = 150;

/// The system of one step.
struct System {
    elimination: Elimination<6>,
    /// Positions of the blocks of each contact, for all pairs of its sides in order.
    places: Vec<usize>,
    diagonals: Vec<usize>,
    /// `M` of each block, scaled to the mean stiffness of springs of 1 N/m: linear and angular
    /// parts.
    masses: Vec<([f64; 3], [[f64; 3]; 3])>,
    /// Mean stiffness of the contacts under their law [N/m].
    scale: f64,
}

impl System {
    fn new(problem: &RestProblem, network: &Network) -> System {
        let mut elimination = Elimination::default();
        elimination.plan(&network.neighbours());
        let (mut places, mut stiffness) = (Vec::new(), vec![[0.0; 6]; network.n_blocks]);
        for a in 0..network.n_contacts() {
            let c = network.tangent(a, [0.0; 3], Rule::Closed);
            for i in network.sides(a) {
                for j in network.sides(a) {
                    places.push(elimination.position(i.block, j.block));
                }
                for (k, d) in stiffness[i.block as usize].iter_mut().enumerate() {
                    *d += (0..3).map(|r| c[r][r] * i.rows[r][k] * i.rows[r][k]).sum::<f64>();
                }
            }
        }
        let masses = masses(problem, &stiffness);
        let diagonals = (0..network.n_blocks as u32).map(|b| elimination.position(b, b)).collect();
        System { elimination, places, diagonals, masses, scale: 1.0 }
    }

    /// `M x` of a block.
    fn weigh(&self, b: usize, x: &[f64; 6]) -> [f64; 6] {
        let (linear, angular) = &self.masses[b];
        std::array::from_fn(|k| match k {
            0..3 => linear[k] * x[k],
            _ => (0..3).map(|j| angular[k - 3][j] * x[3 + j]).sum(),
        })
    }

    /// Assembles and factors `K + λ M` at some deformations; false if it is singular.
    fn factor(&mut self, network: &Network, xi: &[[f64; 3]], lambda: f64) -> bool {
        let blocks = self.elimination.clear();
        let mut places = self.places.iter();
        for (a, xi) in xi.iter().enumerate() {
            let c = network.tangent(a, *xi, Rule::Coulomb);
            let sides = network.sides(a);
            for i in sides {
                for j in sides {
                    let place = places.next().expect("one for each pair of sides");
                    add_stiffness(&mut blocks[*place], &i.rows, &c, &j.rows);
                }
            }
        }
        for (b, place) in self.diagonals.iter().enumerate() {
            add_mass(&self.masses[b], &network.free[b], lambda * self.scale, &mut blocks[*place]);
        }
        self.elimination.factor()
    }

    /// Solves `(K + λ M) x = b` in place: roughly if that is faster and good enough, else by
    /// elimination; false if it is singular.
    fn solve(
        &mut self,
        network: &Network,
        xi: &[[f64; 3]],
        lambda: f64,
        b: &mut Vec<[f64; 6]>,
    ) -> bool {
        let large = self.elimination.work() > LARGE;
        if large && lambda >= SOFT && self.approximate(network, xi, lambda, b) {
            return true;
        }
        let regular = self.factor(network, xi, lambda);
        if regular {
            self.elimination.solve(b);
        }
        regular
    }

    /// Solves the system roughly; false if that takes too long.
    fn approximate(
        &self,
        network: &Network,
        xi: &[[f64; 3]],
        lambda: f64,
        b: &mut Vec<[f64; 6]>,
    ) -> bool {
        let tangent = |(a, xi): (usize, &[f64; 3])| network.tangent(a, *xi, Rule::Coulomb);
        let tangents: Vec<[[f64; 3]; 3]> = xi.iter().enumerate().map(tangent).collect();
        let mut diagonals = vec![[[0.0; 6]; 6]; network.n_blocks];
        for (a, c) in tangents.iter().enumerate() {
            for side in network.sides(a) {
                add_stiffness(&mut diagonals[side.block as usize], &side.rows, c, &side.rows);
            }
        }
        for (b, block) in diagonals.iter_mut().enumerate() {
            add_mass(&self.masses[b], &network.free[b], lambda * self.scale, block);
        }
        let Some(krylov) = Krylov::new(diagonals.into_iter(), ROUGHLY, PRODUCTS) else {
            return false;
        };
        krylov.solve(b, |x, out| {
            out.clear();
            out.extend(x.iter().enumerate().map(|(b, x)| {
                let m = self.weigh(b, x);
                std::array::from_fn(|k| {
                    if network.free[b][k] { lambda * self.scale * m[k] } else { x[k] }
                })
            }));
            for (a, c) in tangents.iter().enumerate() {
                let u = network.deformation(a, x);
                let f = c.map(|row| row[0] * u[0] + row[1] * u[1] + row[2] * u[2]);
                for side in network.sides(a) {
                    let sum = &mut out[side.block as usize];
                    for k in (0..6).filter(|k| network.free[side.block as usize][*k]) {
                        sum[k] -= side.rows[0][k] * f[0]
                            + side.rows[1][k] * f[1]
                            + side.rows[2][k] * f[2];
                    }
                }
            }
        })
    }
}

/// `M` of all blocks in the unit of the stiffness, given by its diagonal. A block without inverse
/// mass, such as one of a mechanism, has its stiffness instead, and 1 where nothing resists.
fn masses(problem: &RestProblem, stiffness: &[[f64; 6]]) -> Vec<([f64; 3], [[f64; 3]; 3])> {
    let inverse = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
    let own = problem.contacts.masses();
    let sum = |list: &[f64]| list.iter().sum::<f64>();
    let all: f64 = own.iter().map(|m| sum(&m.linear.map(inverse))).sum();
    let stiff: f64 = own
        .iter()
        .zip(stiffness)
        .filter(|(m, _)| m.linear.iter().any(|x| *x > 0.0))
        .map(|(_, k)| sum(&k[..3]))
        .sum();
    let scale = if all > 0.0 && stiff > 0.0 { stiff / all } else { 1.0 };
    let of = |(m, k): (&InverseMass, &[f64; 6])| {
        let filled = |m: f64, k: f64| {
            if m > 0.0 {
                scale * m
            } else if k > 0.0 {
                k
            } else {
                1.0
            }
        };
        let linear = std::array::from_fn(|i| filled(inverse(m.linear[i]), k[i]));
        let [xx, yy, zz, xy, xz, yz] = m.angular;
        let tensor = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        let angular = match tensor.try_inverse() {
            Some(i) => std::array::from_fn(|r| std::array::from_fn(|c| scale * i[(r, c)])),
            None => std::array::from_fn(|r| {
                std::array::from_fn(|c| match r == c {
                    true => filled(inverse(tensor[(r, r)]), k[3 + r]),
                    false => 0.0,
                })
            }),
        };
        (linear, angular)
    };
    own.iter().zip(stiffness).map(of).collect()
}

/// Adds `λ M` to a diagonal block, with 1 in locked directions.
fn add_mass(
    (linear, angular): &([f64; 3], [[f64; 3]; 3]),
    free: &[bool; 6],
    lambda: f64,
    block: &mut Block<6>,
) {
    for k in 0..3 {
        block[k][k] += lambda * linear[k];
        (0..3).for_each(|j| block[3 + k][3 + j] += lambda * angular[k][j]);
    }
    for k in (0..6).filter(|k| !free[*k]) {
        block[k] = std::array::from_fn(|j| f64::from(j == k));
    }
}

/// Adds `Aᵀ C B`.
fn add_stiffness(block: &mut Block<6>, a: &[[f64; 6]; 3], c: &[[f64; 3]; 3], b: &[[f64; 6]; 3]) {
    for (c, a) in c.iter().zip(a) {
        let row: [f64; 6] =
            std::array::from_fn(|j| c[0] * b[0][j] + c[1] * b[1][j] + c[2] * b[2][j]);
        for (block, a) in block.iter_mut().zip(a) {
            for (x, row) in block.iter_mut().zip(&row) {
                *x += a * row;
            }
        }
    }
}

/// Improves the displacements until all resultants have their tolerance, or until they no longer
/// improve; returns the number of factorizations.
pub(super) fn solve(
    problem: &RestProblem,
    network: &Network,
    (tolerance, most): (f64, usize),
    cold: bool,
    dq: &mut Vec<[f64; 6]>,
) -> usize {
    if network.n_contacts() == 0 || most == 0 {
        return 0;
    }
    let mut relaxation = Relaxation {
        network,
        system: System::new(problem, network),
        at: Point::default(),
        next: Point::default(),
        trial: dq.clone(),
        left: most,
    };
    relaxation.run(if cold { FIRST } else { SMALLEST }, tolerance, dq);
    most - relaxation.left
}

/// The relaxation and its buffers.
struct Relaxation<'a> {
    network: &'a Network<'a>,
    system: System,
    /// At the current displacements and at those of a trial.
    at: Point,
    next: Point,
    trial: Vec<[f64; 6]>,
    /// Remaining number of factorizations.
    left: usize,
}

impl Relaxation<'_> {
    /// Steps until the resultants have their tolerance.
    fn run(&mut self, mut lambda: f64, tolerance: f64, dq: &mut Vec<[f64; 6]>) {
        let [mut worst, mut error] = self.network.evaluate(dq, Rule::Coulomb, &mut self.at);
        let (mut start, mut idle) = (dq.clone(), 0);
        while worst > tolerance && self.left > 0 && idle < 3 {
            self.system.scale = self.network.mean_stiffness(&self.at.xi);
            let before = self.left;
            start.clone_from(dq);
            if !self.step(&start, lambda, error, dq) {
                dq.clone_from(&start);
                self.network.evaluate(dq, Rule::Coulomb, &mut self.at);
                // After a warm start, a few powers of ten are skipped.
                lambda = (4.0 * lambda).max(1e-5);
                continue;
            }
            let [now, mean] = self.network.evaluate(dq, Rule::Coulomb, &mut self.at);
            // Where there is no equilibrium, long steps no longer change the error.
            let stays = lambda < 1e-6 && (mean - error).abs() < 1e-2 * error;
            idle = if stays { idle + 1 } else { 0 };
            [worst, error] = [now, mean];
            let factor = if before - self.left <= 2 { 0.2 } else { 0.5 };
            lambda = (factor * lambda).max(SMALLEST);
        }
    }

    /// One step from `start`, where the error is `begin`; false if Newton's method does not
    /// converge.
    fn step(
        &mut self,
        start: &[[f64; 6]],
        lambda: f64,
        begin: f64,
        dq: &mut Vec<[f64; 6]>,
    ) -> bool {
        let (mut error, mut change) = (begin, Vec::new());
        for _ in 0..ITERATIONS.min(self.left) {
            self.left -= 1;
            self.measure(&self.at, dq, start, lambda, &mut change);
            if !self.system.solve(self.network, &self.at.xi, lambda, &mut change) {
                return false;
            }
            let Some(after) = self.search(start, lambda, error, dq, &change) else { return false };
            error = after;
            if error < ACCURACY * begin {
                return true;
            }
        }
        false
    }

    /// Goes along a change as far as the error of the step decreases; returns that error.
    fn search(
        &mut self,
        start: &[[f64; 6]],
        lambda: f64,
        error: f64,
        dq: &mut Vec<[f64; 6]>,
        change: &[[f64; 6]],
    ) -> Option<f64> {
        let mut excess = Vec::new();
        for t in [1.0, 0.5, 0.25, 0.125] {
            for ((trial, dq), change) in self.trial.iter_mut().zip(dq.iter()).zip(change) {
                *trial = std::array::from_fn(|k| dq[k] + t * change[k]);
            }
            self.network.evaluate(&self.trial, Rule::Coulomb, &mut self.next);
            let after = self.measure(&self.next, &self.trial, start, lambda, &mut excess);
            if after < (1.0 - 0.1 * t) * error {
                std::mem::swap(dq, &mut self.trial);
                std::mem::swap(&mut self.at, &mut self.next);
                return Some(after);
            }
        }
        None
    }

    /// The excess `H f − R − λ M (δq' − δq)` of a step, and its root mean square relative to the
    /// weights [–].
    fn measure(
        &self,
        at: &Point,
        dq: &[[f64; 6]],
        start: &[[f64; 6]],
        lambda: f64,
        excess: &mut Vec<[f64; 6]>,
    ) -> f64 {
        let Relaxation { network, system, .. } = self;
        excess.clone_from(&at.excess);
        let mut sum = 0.0;
        for (b, excess) in excess.iter_mut().enumerate() {
            let moved = std::array::from_fn(|k| dq[b][k] - start[b][k]);
            let drag = system.weigh(b, &moved);
            for k in (0..6).filter(|k| network.free[b][*k]) {
                excess[k] -= lambda * system.scale * drag[k];
            }
            let error = network.error(b, excess);
            sum += error * error;
        }
        (sum / excess.len().max(1) as f64).sqrt()
    }
}
