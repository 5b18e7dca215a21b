//! Growth of the cost of Dantzig's algorithm with the number of contacts, beside that of Gauss–Seidel: `riprap bench dantzig`.

use super::exponent;
use riprap::friction::{
    Class, ContactProblem, ContactSolver, Dantzig, Delassus, Factored, ForceProblem, Friction,
    GaussSeidel, GaussSeidelOptions, InverseMass, Law, Outcome, Scratch,
};
use serde::Serialize;
use std::time::Instant;

/// Coefficient of friction of all contacts [–].
const FRICTION: f64 = 0.5;

/// What the bodies are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Packing {
    /// Discs on a triangular lattice between two walls.
    Discs,
    /// A wall of bricks, each on two others and with two points on each: half of the contacts are redundant.
    Bricks,
}

impl Packing {
    /// Both of them.
    pub const ALL: [Packing; 2] = [Packing::Discs, Packing::Bricks];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Packing::Discs => "discs",
            Packing::Bricks => "bricks",
        }
    }
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct DantzigBench {
    /// Approximate numbers of contacts.
    pub contacts: Vec<usize>,
    /// Most contacts for the algorithm as published.
    pub published: usize,
    /// Residual to which Gauss–Seidel solves, relative to all data [–].
    pub tolerance: f64,
    /// Number of repetitions; the fastest counts.
    pub repetitions: u32,
}

/// Times for one packing.
#[derive(Clone, Debug, Serialize)]
pub struct DantzigTime {
    /// The packing.
    pub packing: Packing,
    /// Number of bodies.
    pub bodies: usize,
    /// Number of contacts.
    pub contacts: usize,
    /// Time from nothing [s].
    pub cold: f64,
    /// Time from the lists of a problem with other loads [s].
    pub lists: f64,
    /// Time from its lists and forces [s].
    pub forces: f64,
    /// Time of the algorithm as published [s], and its pivots; `None` if the problem is too large or was not solved.
    pub published: Option<(f64, usize)>,
    /// Whether all these solves succeeded.
    pub solved: bool,
    /// Worst violation of (27) [–].
    pub residual: f64,
    /// Time of Gauss–Seidel from nothing, and from the impulses of the other problem [s].
    pub gauss_seidel: [f64; 2],
    /// Its sweeps.
    pub sweeps: [usize; 2],
    /// Whether it converged.
    pub converged: bool,
}

/// Results of [`dantzig`].
#[derive(Clone, Debug, Serialize)]
pub struct DantzigResult {
    /// Times by packing and size.
    pub times: Vec<DantzigTime>,
    /// Exponents of the times over the number of contacts for each packing: from nothing, from lists, from forces, as published,
    /// Gauss–Seidel from nothing and from impulses [–].
    pub exponents: Vec<[Option<f64>; 6]>,
}

/// Bodies and contacts.
struct Stack {
    w: Factored,
    bodies: usize,
}

/// A contact: blocks, point, normal.
type Touch = ([usize; 2], [f64; 2], [f64; 2]);

/// No body.
const WALL: usize = usize::MAX;

impl Stack {
    fn new(centres: &[[f64; 2]], turn: f64, touches: &[Touch]) -> Stack {
        let mut w = Factored::default();
        // Masses differ by up to 40 %.
        let scale = |k: usize| 1.0 + 0.4 * ((k * k + 1) as f64).sin();
        w.reset((0..centres.len()).map(|k| InverseMass {
            linear: [scale(k), scale(k), 0.0],
            angular: [0.0, 0.0, turn * scale(k), 0.0, 0.0, 0.0],
        }));
        for &(blocks, [x, y], [u, v]) in touches {
            let arm = |k: usize| match centres.get(k) {
                Some(centre) => [x - centre[0], y - centre[1], 0.0],
                None => [0.0; 3],
            };
            let block = |k: usize| if k == WALL { Factored::NONE } else { k as u32 };
            let frame = [[u, v, 0.0], [-v, u, 0.0], [0.0, 0.0, 1.0]];
            w.push(blocks.map(block), frame, blocks.map(arm));
        }
        Stack { w, bodies: centres.len() }
    }

    /// About `contacts` contacts.
    fn of(packing: Packing, contacts: usize) -> Stack {
        // Discs have about three contacts each, bricks four.
        match packing {
            Packing::Discs => discs(((contacts as f64 / 3.0).sqrt().round() as usize).max(2)),
            Packing::Bricks => bricks(((contacts as f64 / 4.0).sqrt().round() as usize).max(2)),
        }
    }

    /// Accelerations of gravity and of loads that depend on `load`.
    fn b(&self, load: f64) -> Vec<[f64; 3]> {
        let push = |k: usize, i: usize| ((7 * k + 3 * i) as f64).sin();
        let a = |k: usize| {
            [0.3 * push(k, 0) + load * push(k, 1), -10.0 + load * push(k, 2), 0.0, 0.0, 0.0, 0.0]
        };
        let a: Vec<[f64; 6]> = (0..self.bodies).map(a).collect();
        (0..self.w.contacts().len()).map(|c| self.w.to_local(c, &a)).collect()
    }
}

fn discs(side: usize) -> Stack {
    let height = 0.75f64.sqrt();
    let mut centres = Vec::new();
    for row in 0..side {
        for column in 0..side - row % 2 {
            centres.push([column as f64 + 0.5 * (row % 2) as f64, 0.5 + height * row as f64]);
        }
    }
    let mut touches: Vec<Touch> = Vec::new();
    for (k, &[x, y]) in centres.iter().enumerate() {
        if y < 0.6 {
            touches.push(([WALL, k], [x, 0.0], [0.0, 1.0]));
        }
        if x < 0.1 {
            touches.push(([WALL, k], [x - 0.5, y], [1.0, 0.0]));
        }
        if x > side as f64 - 1.1 {
            touches.push(([WALL, k], [x + 0.5, y], [-1.0, 0.0]));
        }
        for (j, &[u, v]) in centres.iter().enumerate().take(k) {
            let n = [x - u, y - v];
            if n[0].hypot(n[1]) < 1.001 {
                touches.push(([j, k], [0.5 * (x + u), 0.5 * (y + v)], n));
            }
        }
    }
    Stack::new(&centres, 8.0, &touches)
}

fn bricks(side: usize) -> Stack {
    let (length, height) = (1.0, 0.5);
    let mut centres: Vec<[f64; 2]> = Vec::new();
    let mut touches: Vec<Touch> = Vec::new();
    for row in 0..side {
        for column in 0..side {
            let x = 1.05 * column as f64 + 0.52 * (row % 2) as f64;
            let (k, base) = (centres.len(), height * row as f64);
            centres.push([x, base + 0.5 * height]);
            if row == 0 {
                for end in [-0.5, 0.5] {
                    touches.push(([WALL, k], [x + end, base], [0.0, 1.0]));
                }
            }
            let below = row.saturating_sub(1) * side..row * side;
            for j in below.filter(|j| (centres[*j][0] - x).abs() < 0.999 * length) {
                let ends = [x.max(centres[j][0]) - 0.5, x.min(centres[j][0]) + 0.5];
                for end in ends {
                    touches.push(([j, k], [end, base], [0.0, 1.0]));
                }
            }
        }
    }
    Stack::new(&centres, 12.0 / (length * length + height * height), &touches)
}

/// The fastest of several runs [s], and what the last one returned.
fn fastest<T>(n: u32, mut run: impl FnMut() -> T) -> (f64, Option<T>) {
    let mut best = (f64::INFINITY, None);
    for _ in 0..n {
        let begin = Instant::now();
        let value = run();
        best = (begin.elapsed().as_secs_f64().min(best.0), Some(value));
    }
    best
}

fn measure(bench: &DantzigBench, packing: Packing, contacts: usize) -> DantzigTime {
    let stack = Stack::of(packing, contacts);
    let [other, b] = [stack.b(0.0), stack.b(0.02)];
    let n = b.len();
    let friction = vec![Friction::Static { mu: FRICTION }; n];
    let w = Delassus::Factored(stack.w.clone());
    let [before, problem] = [&other, &b].map(|b| ForceProblem { w: &w, b, friction: &friction });
    let (solver, mut scratch) = (Dantzig::default(), Scratch::default());
    let (mut known, mut classes) = (Vec::new(), Vec::new());
    let first = solver.solve(&before, &mut known, &mut classes, &mut scratch);
    let mut reports = vec![first];
    let mut run = |start: Option<&[Class]>, forces: Option<&[[f64; 3]]>, solver: &Dantzig| {
        let (seconds, report) = fastest(bench.repetitions, || {
            let mut found = forces.unwrap_or_default().to_vec();
            let mut lists = start.unwrap_or_default().to_vec();
            match forces {
                Some(_) => solver.resume(&problem, &mut found, &mut lists, &mut scratch),
                None => solver.solve(&problem, &mut found, &mut lists, &mut scratch),
            }
        });
        (seconds, report.unwrap_or_default())
    };
    let cold = run(None, None, &solver);
    let lists = run(Some(&classes), None, &solver);
    let forces = run(Some(&classes), Some(&known), &solver);
    reports.extend([cold.1, lists.1, forces.1]);
    let published = (n <= bench.published)
        .then(|| run(None, None, &Dantzig { rounds: 0, max_pivots: 100, ..solver }))
        .filter(|(_, report)| report.outcome == Outcome::Solved)
        .map(|(seconds, report)| (seconds, report.pivots));
    let sweeps = gauss_seidel(bench, [other, b], w);
    DantzigTime {
        packing,
        bodies: stack.bodies,
        contacts: n,
        cold: cold.0,
        lists: lists.0,
        forces: forces.0,
        published,
        solved: reports.iter().all(|report| report.outcome == Outcome::Solved),
        residual: reports.iter().map(|report| report.residual).fold(0.0, f64::max),
        gauss_seidel: sweeps.map(|(seconds, ..)| seconds),
        sweeps: sweeps.map(|(_, sweeps, _)| sweeps),
        converged: sweeps.iter().all(|(.., converged)| *converged),
    }
}

/// Gauss–Seidel from nothing, and from the impulses of the other problem: seconds, sweeps, convergence.
fn gauss_seidel(
    bench: &DantzigBench,
    [other, b]: [Vec<[f64; 3]>; 2],
    w: Delassus,
) -> [(f64, usize, bool); 2] {
    let laws = vec![Law::Coulomb { friction: FRICTION }; b.len()];
    let mut problem =
        ContactProblem { w, v_rel_free: other, laws, approach_scale: 1.0, ..Default::default() };
    let options =
        GaussSeidelOptions { max_sweeps: 200_000, ..GaussSeidelOptions::stored(bench.tolerance) };
    let (solver, mut scratch) = (GaussSeidel { options }, Scratch::default());
    let mut known = Vec::new();
    solver.solve(&problem, &mut known, &mut scratch);
    problem.v_rel_free = b;
    [Vec::new(), known].map(|start| {
        let (seconds, report) =
            fastest(bench.repetitions, || solver.solve(&problem, &mut start.clone(), &mut scratch));
        let report = report.unwrap_or_default();
        (seconds, report.sweeps, report.converged)
    })
}

/// Measures both packings at all sizes.
pub fn dantzig(bench: &DantzigBench) -> DantzigResult {
    let mut result = DantzigResult { times: Vec::new(), exponents: Vec::new() };
    for packing in Packing::ALL {
        let times: Vec<DantzigTime> =
            bench.contacts.iter().map(|n| measure(bench, packing, *n)).collect();
        let fit = |time: fn(&DantzigTime) -> Option<f64>| {
            let points = times.iter().filter_map(|t| Some((t.contacts as f64, time(t)?)));
            exponent(&points.collect::<Vec<_>>())
        };
        result.exponents.push([
            fit(|t| Some(t.cold)),
            fit(|t| Some(t.lists)),
            fit(|t| Some(t.forces)),
            fit(|t| t.published.map(|p| p.0)),
            fit(|t| Some(t.gauss_seidel[0])),
            fit(|t| Some(t.gauss_seidel[1])),
        ]);
        result.times.extend(times);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_bench_solves_its_problems_with_about_as_many_contacts_as_asked_for() {
        let bench =
            DantzigBench { contacts: vec![20, 60], published: 60, tolerance: 1e-6, repetitions: 1 };
        let result = dantzig(&bench);
        assert_eq!(result.times.len(), 4);
        for time in &result.times {
            assert!(time.solved && time.residual < 1e-10, "{time:?}");
            assert!((10..120).contains(&time.contacts), "{time:?}");
        }
        assert!(result.exponents.iter().all(|e| e[0].is_some()));
    }
}
