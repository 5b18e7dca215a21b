//! Cone complementarity problems: random ones for all solvers, layers of spheres of any size, and their times: `riprap bench cone`.

use super::exponent;
use riprap::friction::{
    Admm, Apgd, BarzilaiBorwein, ConeOptions, ConeProblem, ContactProblem, ContactSolver, Delassus,
    Factored, InteriorPoint, InverseMass, Law, ProjectedGaussSeidel, ProjectedJacobi, Scratch,
};
use riprap::math::{Vec3, tangents};
use serde::Serialize;
use std::time::Instant;

/// Solvers of cone complementarity problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConeSolver {
    /// [`Apgd`].
    Apgd,
    /// [`BarzilaiBorwein`].
    BarzilaiBorwein,
    /// [`ProjectedGaussSeidel`].
    GaussSeidel,
    /// [`ProjectedJacobi`].
    Jacobi,
    /// [`Admm`].
    Admm,
    /// [`InteriorPoint`].
    InteriorPoint,
}

impl ConeSolver {
    /// All of them; the oracle is the last.
    pub const ALL: [ConeSolver; 6] = [
        ConeSolver::Apgd,
        ConeSolver::BarzilaiBorwein,
        ConeSolver::GaussSeidel,
        ConeSolver::Jacobi,
        ConeSolver::Admm,
        ConeSolver::InteriorPoint,
    ];

    /// Its name, as commands spell it.
    pub fn name(self) -> &'static str {
        match self {
            ConeSolver::Apgd => "apgd",
            ConeSolver::BarzilaiBorwein => "barzilai-borwein",
            ConeSolver::GaussSeidel => "gauss-seidel",
            ConeSolver::Jacobi => "jacobi",
            ConeSolver::Admm => "admm",
            ConeSolver::InteriorPoint => "interior-point",
        }
    }

    /// The solver with the given options.
    pub fn build(self, options: ConeOptions) -> Box<dyn ContactSolver> {
        match self {
            ConeSolver::Apgd => Box::new(Apgd { options }),
            ConeSolver::BarzilaiBorwein => Box::new(BarzilaiBorwein { options }),
            ConeSolver::GaussSeidel => {
                Box::new(ProjectedGaussSeidel { options, ..Default::default() })
            }
            ConeSolver::Jacobi => Box::new(ProjectedJacobi { options, ..Default::default() }),
            ConeSolver::Admm => Box::new(Admm { options }),
            ConeSolver::InteriorPoint => Box::new(InteriorPoint { options }),
        }
    }
}

/// Reproducible random numbers (SplitMix64).
struct Random(u64);

impl Random {
    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn range(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.unit()
    }

    fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    /// A vector with components up to `size`, in the plane if `flat` is 0.
    fn vector(&mut self, size: f64, flat: f64) -> Vec3 {
        let mut v = Vec3::from_fn(|_, _| self.range(-size, size));
        v.z *= flat;
        v
    }
}

/// Gaps of random problems over the time step [m/s]. The smallest bounds the impulses: without it two faces of a wedge could push
/// against each other without end.
const GAPS: [f64; 2] = [0.02, 0.2];

/// What random problems consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 3 to 12 bodies with mass ratios up to 1e4 and 4 to 30 constraints: contacts with `μ` from 0 to 1, some of them redundant,
    /// ropes, bilateral constraints of one to three rows.
    Mixed,
    /// Fewer constraints than degrees of freedom, `μ` near 1 and little sliding: impulses are unique, and often no contact slides.
    Sticking,
}

/// A random problem whose minimum exists: at rest all gaps stay open and all bilateral constraints hold.
pub fn random_problem(seed: u64, planar: bool, kind: Kind) -> ContactProblem {
    let mut rng = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let flat = if planar { 0.0 } else { 1.0 };
    let sticking = kind == Kind::Sticking;
    let (blocks, constraints) = match kind {
        Kind::Mixed => (3 + rng.below(10), 4 + rng.below(27)),
        Kind::Sticking => (6 + rng.below(6), 3 + rng.below(3)),
    };
    let decades = rng.range(0.0, 4.0);
    let mut w = Factored::default();
    w.reset((0..blocks).map(|_| {
        let inverse = 10f64.powf(rng.range(-0.5, 0.5) * decades);
        let turn = inverse * rng.range(2.0, 10.0);
        match planar {
            true => InverseMass {
                linear: [inverse, inverse, 0.0],
                angular: [0.0, 0.0, turn, 0.0, 0.0, 0.0],
            },
            false => {
                let stretch = rng.range(0.5, 1.0);
                let angular = [turn, stretch * turn, turn, 0.0, 0.0, 0.1 * turn];
                InverseMass { linear: [inverse; 3], angular }
            }
        }
    }));
    let spin = if sticking { 0.05 } else { 1.0 };
    let free: Vec<[f64; 6]> = (0..blocks)
        .map(|_| {
            let (v, turn) = (rng.vector(1.0, flat), rng.vector(spin, 1.0));
            [v.x, v.y, v.z, flat * turn.x, flat * turn.y, turn.z]
        })
        .collect();
    let mut problem = ContactProblem { approach_scale: 1.0, ..Default::default() };
    let mut last = None;
    for _ in 0..constraints {
        // Some share bodies and normal with the one before, as the points of a face do.
        let repeated = last.filter(|_| !sticking && rng.unit() < 0.25);
        let (bodies, normal) = repeated.unwrap_or_else(|| {
            let second = rng.below(blocks) as u32;
            let first = rng.below(blocks) as u32;
            let fixed = first == second || rng.unit() < 0.3;
            let mut normal = rng.vector(1.0, flat).normalize();
            let (a, b) = (&free[first as usize], &free[second as usize]);
            let mut v = Vec3::new(b[0], b[1], b[2]);
            if !fixed {
                v -= Vec3::new(a[0], a[1], a[2]);
            }
            if sticking {
                // Along the approach.
                normal = (-v.normalize() + 0.3 * normal).normalize();
            } else if v.dot(&normal) > 0.0 && rng.unit() < 0.7 {
                // Most approach.
                normal = -normal;
            }
            ([if fixed { Factored::NONE } else { first }, second], normal)
        });
        last = Some((bodies, normal));
        let (t1, t2) = tangents(normal);
        let arm = if sticking { 0.1 } else { 0.5 };
        let arms = [rng.vector(arm, flat).into(), rng.vector(arm, flat).into()];
        let law = match rng.unit() {
            _ if sticking => Law::Cone { friction: rng.range(0.8, 1.0) },
            x if x < 0.15 => Law::Cone { friction: 0.0 },
            x if x < 0.25 => Law::Bilateral,
            _ => Law::Cone { friction: rng.unit() },
        };
        let mut frame = [normal.into(), t1.into(), t2.into()];
        if law == Law::Bilateral && rng.unit() < 0.5 {
            frame[2] = [0.0; 3];
        }
        let a = w.push(bodies, frame, arms);
        let mut v = w.to_local(a, &free);
        if law != Law::Bilateral {
            v[0] += rng.range(GAPS[0], GAPS[1]);
        }
        problem.v_rel_free.push(v);
        problem.laws.push(law);
    }
    problem.w = Delassus::Factored(w);
    problem
}

/// A layer of spheres, six deep, on the ground under its weight over one step, with about the given number of contacts: a cubic
/// lattice with tilted normals.
pub fn layer(contacts: usize) -> ContactProblem {
    const DEPTH: usize = 6;
    // The contacts are DEPTH (3 side² − 2 side): one below each sphere, the others between neighbours.
    let per_level = contacts as f64 / DEPTH as f64;
    let side = (((1.0 + (1.0 + 3.0 * per_level).sqrt()) / 3.0).round() as usize).max(2);
    let mut rng = Random(1);
    let (n, radius) = (side * side * DEPTH, 0.5);
    let mut w = Factored::default();
    w.reset((0..n).map(|_| {
        let (inverse, turn) = (1.0, 2.5 / (radius * radius));
        InverseMass { linear: [inverse; 3], angular: [turn, turn, turn, 0.0, 0.0, 0.0] }
    }));
    let free: Vec<[f64; 6]> = (0..n)
        .map(|_| {
            let v = rng.vector(0.002, 1.0);
            [v.x, v.y, v.z - 0.01, 0.0, 0.0, 0.0]
        })
        .collect();
    let at = |x: usize, y: usize, z: usize| ((y * side + x) * DEPTH + z) as u32;
    let mut problem = ContactProblem { approach_scale: 1.0, ..Default::default() };
    let mut touch = |first: u32, second: u32, axis: Vec3| {
        let normal = (axis + rng.vector(0.2, 1.0)).normalize();
        let (t1, t2) = tangents(normal);
        let arm: [f64; 3] = (radius * normal).into();
        let frame = [normal.into(), t1.into(), t2.into()];
        let a = w.push([first, second], frame, [arm, arm.map(|x| -x)]);
        problem.v_rel_free.push(w.to_local(a, &free));
        problem.laws.push(Law::Cone { friction: rng.range(0.3, 0.6) });
    };
    for y in 0..side {
        for x in 0..side {
            for z in 0..DEPTH {
                let below = if z == 0 { Factored::NONE } else { at(x, y, z - 1) };
                touch(below, at(x, y, z), Vec3::z());
                if x > 0 {
                    touch(at(x - 1, y, z), at(x, y, z), Vec3::x());
                }
                if y > 0 {
                    touch(at(x, y - 1, z), at(x, y, z), Vec3::y());
                }
            }
        }
    }
    problem.w = Delassus::Factored(w);
    problem
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct ConeBench {
    /// Numbers of contacts of the layers.
    pub contacts: Vec<usize>,
    /// Fixed number of iterations of APGD.
    pub iterations: usize,
    /// Residual relative to the impulses to which APGD solves [–].
    pub tolerance: f64,
    /// Number of random problems for all solvers.
    pub problems: usize,
    /// Number of repetitions; the fastest counts.
    pub repetitions: u32,
}

/// APGD on one layer.
#[derive(Clone, Debug, Serialize)]
pub struct LayerTime {
    /// Number of contacts.
    pub contacts: usize,
    /// Number of unknowns.
    pub rows: usize,
    /// Time of the fixed number of iterations [s].
    pub seconds_fixed: f64,
    /// Time to the tolerance [s].
    pub seconds: f64,
    /// Iterations to the tolerance.
    pub iterations: usize,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// One solver on all random problems.
#[derive(Clone, Debug, Serialize)]
pub struct SolverTime {
    /// Its name.
    pub solver: &'static str,
    /// Number of problems solved to a residual of 1e-8 relative to all data.
    pub solved: usize,
    /// Total time of the solved ones [s].
    pub seconds: f64,
    /// Median number of iterations.
    pub iterations: usize,
    /// Time of each problem [s]; infinite if not solved.
    #[serde(skip)]
    pub times: Vec<f64>,
}

/// Results of [`cone`].
#[derive(Clone, Debug, Serialize)]
pub struct ConeResult {
    /// APGD on layers of growing size.
    pub layers: Vec<LayerTime>,
    /// Exponents of the time over the number of contacts, at a fixed number of iterations and at a fixed tolerance [–].
    pub exponents: [Option<f64>; 2],
    /// Number of random problems.
    pub problems: usize,
    /// All solvers on the random problems, half planar, half spatial.
    pub solvers: Vec<SolverTime>,
}

/// The fastest of several solves from zero impulses [s], its iterations and whether it converged.
fn time(solver: &dyn ContactSolver, problem: &ContactProblem, n: u32) -> (f64, usize, bool) {
    let (mut impulses, mut scratch) = (Vec::new(), Scratch::default());
    let mut best = (f64::INFINITY, 0, false);
    for _ in 0..n {
        impulses.clear();
        let begin = Instant::now();
        let report = solver.solve(problem, &mut impulses, &mut scratch);
        let seconds = begin.elapsed().as_secs_f64();
        best = (seconds.min(best.0), report.sweeps, report.converged);
    }
    best
}

/// Measures APGD against the number of contacts, and all solvers on random problems.
pub fn cone(bench: &ConeBench) -> ConeResult {
    let mut layers = Vec::new();
    for contacts in &bench.contacts {
        let problem = layer(*contacts);
        let fixed = ConeOptions {
            max_iterations: bench.iterations,
            // Never reached.
            ..ConeOptions::tolerance(f64::MIN_POSITIVE)
        };
        let (seconds_fixed, _, _) = time(&Apgd { options: fixed }, &problem, bench.repetitions);
        let options = ConeOptions {
            approach_tolerance: f64::INFINITY,
            ..ConeOptions::tolerance(bench.tolerance)
        };
        let (seconds, iterations, converged) = time(&Apgd { options }, &problem, bench.repetitions);
        layers.push(LayerTime {
            contacts: problem.len(),
            rows: ConeProblem::new(&problem).n_rows(),
            seconds_fixed,
            seconds,
            iterations,
            converged,
        });
    }
    let fit = |time: fn(&LayerTime) -> f64| {
        exponent(&layers.iter().map(|l| (l.contacts as f64, time(l))).collect::<Vec<_>>())
    };
    let exponents = [fit(|l| l.seconds_fixed), fit(|l| l.seconds)];
    let options = ConeOptions { max_iterations: 500_000, ..ConeOptions::stored(1e-8) };
    let mut solvers = Vec::new();
    for solver in ConeSolver::ALL {
        let built = solver.build(options);
        let (mut times, mut iterations) = (Vec::new(), Vec::new());
        for k in 0..bench.problems {
            let problem = random_problem(k as u64, k % 2 == 0, Kind::Mixed);
            let (seconds, n, converged) = time(&*built, &problem, bench.repetitions);
            times.push(if converged { seconds } else { f64::INFINITY });
            iterations.push(n);
        }
        iterations.sort_unstable();
        solvers.push(SolverTime {
            solver: solver.name(),
            solved: times.iter().filter(|t| t.is_finite()).count(),
            seconds: times.iter().filter(|t| t.is_finite()).sum(),
            iterations: iterations.get(iterations.len() / 2).copied().unwrap_or(0),
            times,
        });
    }
    ConeResult { layers, exponents, problems: bench.problems, solvers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_has_about_as_many_contacts_as_asked_for_and_three_unknowns_each() {
        for n in [100, 1000, 5000] {
            let problem = layer(n);
            assert!((problem.len() as f64 / n as f64 - 1.0).abs() < 0.35, "{}", problem.len());
            assert_eq!(ConeProblem::new(&problem).n_rows(), 3 * problem.len());
        }
    }

    #[test]
    fn random_problems_contain_every_kind_of_constraint_and_repeat() {
        let (mut planar_rows, mut ropes, mut bilateral) = (0, 0, 0);
        for seed in 0..50 {
            let problem = random_problem(seed, true, Kind::Mixed);
            assert_eq!(problem.v_rel_free, random_problem(seed, true, Kind::Mixed).v_rel_free);
            // No unknown out of the plane.
            let rows = ConeProblem::new(&problem).n_rows();
            assert!(rows <= 2 * problem.len());
            planar_rows += rows;
            ropes += problem.laws.iter().filter(|l| **l == Law::Cone { friction: 0.0 }).count();
            bilateral += problem.laws.iter().filter(|l| **l == Law::Bilateral).count();
        }
        assert!(planar_rows > 0 && ropes > 20 && bilateral > 20);
    }

    #[test]
    fn a_small_bench_fits_exponents_and_solves_its_problems() {
        let bench = ConeBench {
            contacts: vec![100, 400],
            iterations: 5,
            tolerance: 1e-3,
            problems: 4,
            repetitions: 1,
        };
        let result = cone(&bench);
        assert!(result.layers.iter().all(|l| l.converged) && result.exponents[0].is_some());
        assert_eq!(result.solvers.len(), 6);
        assert!(result.solvers[..5].iter().all(|s| s.solved == 4), "{:?}", result.solvers);
    }
}
