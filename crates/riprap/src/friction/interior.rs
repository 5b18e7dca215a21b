//! A primal-dual interior-point method for exact friction: Mehrotra's predictor and corrector with the scaling of Nesterov and
//! Todd in the cones, and the shift of De Saxcé `μ ‖u_t‖ n` updated in each iteration. Some twenty factorizations of `W` plus a
//! block for each contact, whatever contacts are open, stick or slide, and however many impulses have the same velocities: where
//! sweeps and other methods go back and forth between the states of many contacts, it converges to 1e-9.
//!
//! With `x = (μ r_n, r_t)` and `z = (û_n / μ, u_t)` both cones are `‖x_t‖ ≤ x_n`, and `x · z = r · û = 0` in the solution.
//! Convex problems: L. Vandenberghe, *The CVXOPT linear and quadratic cone program solvers*, 2010; friction: V. Acary and others,
//! *Second order cone programming for frictional contact mechanics using interior point algorithm*, 2022.

use super::order::Order;
use super::packed::{Iterate, Packed};
use super::residual::squared;
use super::symmetric::Symmetric;
use super::{Law, Measure};
use crate::math::length2;

/// Distance of the first iterate from the vertices of the cones, in units of the free velocities.
const START: f64 = 10.0;
/// Fraction of the way to the boundary of a cone that a step may take.
const INSIDE: f64 = 0.99;
/// The products of impulses and velocities stay above this fraction of the errors of the velocities.
const BEHIND: f64 = 0.1;
/// Steps shorter than this are replaced by a step towards the middle of the cones.
const SHORT: f64 = 0.1;
/// Iterations before giving up, and iterations without a better residual: the residual stays the same for some while the
/// products of impulses and velocities of contacts that neither press nor move become small.
const MOST: usize = 80;
const PATIENCE: usize = 30;
/// Added to tangential directions without friction, in which nothing moves.
const STIFF: f64 = 1e8;
/// Added to bilateral constraints, which may be redundant.
const REGULAR: f64 = 1e-11;

/// The cone of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cone {
    /// With this friction, exact or relaxed.
    Friction { friction: f64, exact: bool },
    /// Only the normal impulse and velocity.
    Normal,
    /// No cone: the velocity vanishes.
    Bilateral,
}

impl Cone {
    fn of(law: Law) -> Cone {
        match law {
            Law::Coulomb { friction } if friction > 0.0 => Cone::Friction { friction, exact: true },
            Law::Cone { friction } if friction > 0.0 => Cone::Friction { friction, exact: false },
            Law::Coulomb { .. } | Law::Cone { .. } => Cone::Normal,
            Law::Bilateral | Law::Rolling => Cone::Bilateral,
        }
    }

    /// The factor of normal impulses.
    fn scale(self) -> f64 {
        match self {
            Cone::Friction { friction, .. } => friction,
            Cone::Normal | Cone::Bilateral => 1.0,
        }
    }

    /// The part of a velocity that belongs to the cone, scaled.
    fn velocity(self, u: [f64; 3]) -> [f64; 3] {
        match self {
            Cone::Friction { friction, .. } => [u[0] / friction, u[1], u[2]],
            Cone::Normal => [u[0], 0.0, 0.0],
            Cone::Bilateral => [0.0; 3],
        }
    }
}

/// A contact during the iteration.
#[derive(Clone, Copy, Debug)]
struct Point {
    cone: Cone,
    x: [f64; 3],
    z: [f64; 3],
    /// The scaling: `S x = S⁻¹ z = λ`.
    s: [[f64; 3]; 3],
    inverse: [[f64; 3]; 3],
    lambda: [f64; 3],
    /// Error of the velocity: `z` minus that of `x`.
    error: [f64; 3],
    dx: [f64; 3],
    dz: [f64; 3],
}

/// State of the iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Interior {
    matrix: Symmetric,
    points: Vec<Point>,
    right: Vec<[f64; 3]>,
    step: Vec<[f64; 3]>,
    moved: Vec<[f64; 4]>,
    /// Number of iterations, and multiplications so far.
    pub(super) count: usize,
    pub(super) work: f64,
}

impl Interior {
    /// Finds the pattern of the factors. Returns false if they take more than `most` multiplications.
    pub(super) fn plan(&mut self, packed: &Packed, order: &Order, most: f64) -> bool {
        self.matrix.plan(packed, order, most)
    }

    /// Multiplications of a factorization, and of the rest of an iteration.
    pub(super) fn works(&self, packed: &Packed) -> [f64; 2] {
        let [factor, solve] = self.matrix.work();
        [factor, 4.0 * solve + 6.0 * packed.work() + 600.0 * packed.len() as f64]
    }

    /// Iterates until the residual is small enough, or no longer decreases, or `most` multiplications are used up. Leaves the best
    /// impulses, and returns their residual.
    pub(super) fn run(
        &mut self,
        packed: &Packed,
        at: &mut Iterate,
        (measure, enough): (Measure, f64),
        most: f64,
        stop: &dyn Fn() -> bool,
    ) -> f64 {
        self.start(packed);
        let mut best = (f64::INFINITY, at.r.clone());
        let mut last_gain = 0;
        let end = self.work + most;
        for k in 0..MOST {
            at.r.clear();
            at.r.extend(self.points.iter().map(|p| [p.x[0] / p.cone.scale(), p.x[1], p.x[2]]));
            packed.velocities(at);
            let now = packed.relative(at, measure);
            if now < 0.9 * best.0 {
                last_gain = k;
            }
            if now < best.0 {
                best.0 = now;
                best.1.clone_from(&at.r);
            }
            let over = now <= enough || k - last_gain >= PATIENCE || self.work >= end || stop();
            self.count += 1;
            self.work += self.works(packed).iter().sum::<f64>();
            if over || !self.advance(packed, at) {
                break;
            }
        }
        at.r.clone_from(&best.1);
        packed.velocities(at);
        best.0
    }

    /// Begins well inside the cones.
    fn start(&mut self, packed: &Packed) {
        let n = packed.len().max(1) as f64;
        let free = (packed.free.iter().map(|q| squared(*q)).sum::<f64>() / n).sqrt();
        let cones = packed.laws.iter().map(|law| Cone::of(*law));
        let mean = cones.clone().map(Cone::scale).sum::<f64>() / n;
        let zero = [0.0; 3];
        self.points.clear();
        self.points.extend(cones.map(|cone| {
            let inside = f64::from(u8::from(cone != Cone::Bilateral)) * START * free;
            let (x, z) = ([inside * mean, 0.0, 0.0], [inside / mean, 0.0, 0.0]);
            let (s, inverse) = ([zero; 3], [zero; 3]);
            Point { cone, x, z, s, inverse, lambda: zero, error: zero, dx: zero, dz: zero }
        }));
    }

    /// One iteration from the velocities `at`. Returns false if rounding leaves no interior.
    fn advance(&mut self, packed: &Packed, at: &Iterate) -> bool {
        let (mut gap, mut cones) = (0.0, 0);
        for (p, u) in self.points.iter_mut().zip(&at.u) {
            let u = [u[0], u[1], u[2]];
            if p.cone == Cone::Bilateral {
                p.error = [-u[0], -u[1], -u[2]];
                continue;
            }
            let own = p.cone.velocity(u);
            p.error = std::array::from_fn(|i| p.z[i] - own[i]);
            if let Cone::Friction { exact: true, .. } = p.cone {
                p.error[0] -= length2(p.z[1], p.z[2]);
            }
            if !p.rescale() {
                return false;
            }
            gap += dot(p.x, p.z);
            cones += 1;
        }
        let mean = gap / f64::from(cones.max(1));
        let points = &self.points;
        if !self.matrix.factor_with(packed, |a| points[a].block()) {
            return false;
        }
        // Predictor: straight to the boundary.
        let all = |p: &Point| product(p.lambda, p.lambda).map(|x| -x);
        if !self.solve(packed, all) {
            return false;
        }
        let part = self.longest().min(1.0);
        let ahead = |p: &Point| {
            let (x, z) = (along(p.x, part, p.dx), along(p.z, part, p.dz));
            if p.cone == Cone::Bilateral { 0.0 } else { dot(x, z) }
        };
        let reached = self.points.iter().map(ahead).sum::<f64>() / f64::from(cones.max(1));
        // Not faster than the velocities agree: otherwise the iterates come too near to the surface.
        let behind = |p: &Point| dot(p.x, p.error).abs();
        let behind = BEHIND * self.points.iter().map(behind).sum::<f64>() / f64::from(cones.max(1));
        let centre = (reached / mean).powi(3).clamp(1e-6, 1.0) * mean;
        let centre = centre.max(behind).min(mean);
        // Corrector: its second order, and back towards the middle.
        let corrected = |p: &Point| {
            let second = product(times(&p.s, p.dx), times(&p.inverse, p.dz));
            let first = product(p.lambda, p.lambda);
            let middle = [centre, 0.0, 0.0];
            std::array::from_fn(|i| middle[i] - first[i] - second[i])
        };
        if !self.solve(packed, corrected) {
            return false;
        }
        let mut part = (INSIDE * self.longest()).min(1.0);
        if part < SHORT {
            // A point near the surface blocks the way: towards the middle.
            let middle = |p: &Point| {
                let first = product(p.lambda, p.lambda);
                [mean - first[0], -first[1], -first[2]]
            };
            if !self.solve(packed, middle) {
                return false;
            }
            part = (INSIDE * self.longest()).min(1.0);
        }
        for p in &mut self.points {
            (p.x, p.z) = (along(p.x, part, p.dx), along(p.z, part, p.dz));
        }
        part > 1e-10
    }

    /// The step for which `λ ∘ (S dx + S⁻¹ dz)` is what `target` says, and the error of the velocities vanishes.
    fn solve(&mut self, packed: &Packed, target: impl Fn(&Point) -> [f64; 3]) -> bool {
        self.right.clear();
        self.right.extend(self.points.iter().map(|p| {
            let towards = match p.cone {
                Cone::Bilateral => [0.0; 3],
                _ => times(&p.s, quotient(p.lambda, target(p))),
            };
            let right: [f64; 3] = std::array::from_fn(|i| towards[i] + p.error[i]);
            [right[0] * p.cone.scale(), right[1], right[2]]
        }));
        self.step.clear();
        self.step.resize(self.points.len(), [0.0; 3]);
        // The second solve removes the errors of the factors, and the asymmetry of `W`.
        let mut rest = self.right.clone();
        for _ in 0..2 {
            self.matrix.solve(&mut rest);
            for ((step, more), p) in self.step.iter_mut().zip(&rest).zip(&self.points) {
                step[0] += more[0];
                if p.cone != Cone::Normal {
                    (step[1], step[2]) = (step[1] + more[1], step[2] + more[2]);
                }
            }
            self.moved.clear();
            self.moved.resize(self.points.len(), [0.0; 4]);
            for (a, step) in self.step.iter().enumerate() {
                packed.push(a, *step, &mut self.moved);
            }
            for (a, p) in self.points.iter().enumerate() {
                let (moved, own) = (self.moved[a], times(&p.block(), self.step[a]));
                rest[a] = std::array::from_fn(|i| self.right[a][i] - moved[i] - own[i]);
                if p.cone == Cone::Normal {
                    (rest[a][1], rest[a][2]) = (0.0, 0.0);
                }
            }
        }
        let mut finite = true;
        for ((p, step), moved) in self.points.iter_mut().zip(&self.step).zip(&self.moved) {
            p.dx = [step[0] * p.cone.scale(), step[1], step[2]];
            let moved = p.cone.velocity([moved[0], moved[1], moved[2]]);
            p.dz = match p.cone {
                Cone::Bilateral => [0.0; 3],
                _ => std::array::from_fn(|i| moved[i] - p.error[i]),
            };
            finite &= p.dx.iter().chain(&p.dz).all(|x| x.is_finite());
        }
        finite
    }

    /// How far the step can go within all cones.
    fn longest(&self) -> f64 {
        let of = |p: &Point| match p.cone {
            Cone::Bilateral => f64::INFINITY,
            _ => room(p.x, p.dx).min(room(p.z, p.dz)),
        };
        self.points.iter().map(of).fold(f64::INFINITY, f64::min)
    }
}

impl Point {
    /// The scaling of Nesterov and Todd. Returns false if rounding left the interior.
    fn rescale(&mut self) -> bool {
        let (x, z) = (self.x, self.z);
        let (size_x, size_z) = (depth(x).sqrt(), depth(z).sqrt());
        let inside = size_x > 0.0 && size_z > 0.0 && x[0] > 0.0 && z[0] > 0.0;
        if !(inside && size_x.is_finite() && size_z.is_finite()) {
            return false;
        }
        let (x, z) = (x.map(|c| c / size_x), z.map(|c| c / size_z));
        let half = 2.0 * (0.5 * (1.0 + dot(x, z))).sqrt();
        let w = [(z[0] + x[0]) / half, (z[1] - x[1]) / half, (z[2] - x[2]) / half];
        let beta = (size_z / size_x).sqrt();
        let norm = (2.0 * (w[0] + 1.0)).sqrt();
        let v = [(w[0] + 1.0) / norm, w[1] / norm, w[2] / norm];
        let turned = [v[0], -v[1], -v[2]];
        let sign = [1.0, -1.0, -1.0];
        for i in 0..3 {
            for j in 0..3 {
                let j_ij = if i == j { sign[i] } else { 0.0 };
                self.s[i][j] = beta * (2.0 * v[i] * v[j] - j_ij);
                self.inverse[i][j] = (2.0 * turned[i] * turned[j] - j_ij) / beta;
            }
        }
        self.lambda = times(&self.s, self.x);
        depth(self.lambda) > 0.0
    }

    /// `D S² D`: what the complementarity adds to `W`.
    fn block(&self) -> [[f64; 3]; 3] {
        let d = [self.cone.scale(), 1.0, 1.0];
        let diagonal = |x: [f64; 3]| [[x[0], 0.0, 0.0], [0.0, x[1], 0.0], [0.0, 0.0, x[2]]];
        match self.cone {
            Cone::Bilateral => diagonal([REGULAR; 3]),
            Cone::Normal => diagonal([self.s[0][0] * self.s[0][0], STIFF, STIFF]),
            Cone::Friction { .. } => std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    d[i] * d[j] * (0..3).map(|k| self.s[i][k] * self.s[k][j]).sum::<f64>()
                })
            }),
        }
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn along(x: [f64; 3], part: f64, d: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| x[i] + part * d[i])
}

fn times(a: &[[f64; 3]; 3], x: [f64; 3]) -> [f64; 3] {
    [dot(a[0], x), dot(a[1], x), dot(a[2], x)]
}

/// `x_n² − ‖x_t‖²`, positive inside the cone.
fn depth(x: [f64; 3]) -> f64 {
    let t = length2(x[1], x[2]);
    (x[0] - t) * (x[0] + t)
}

/// The product of Jordan: `(a · b, a_n b_t + b_n a_t)`.
fn product(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [dot(a, b), a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]]
}

/// The `y` with `λ ∘ y = d`.
fn quotient(l: [f64; 3], d: [f64; 3]) -> [f64; 3] {
    let (depth, across) = (depth(l), l[1] * d[1] + l[2] * d[2]);
    let normal = (l[0] * d[0] - across) / depth;
    [normal, (d[1] - l[1] * normal) / l[0], (d[2] - l[2] * normal) / l[0]]
}

/// The largest `t` for which `x + t d` is in the cone, for an `x` inside; infinite if all are.
fn room(x: [f64; 3], d: [f64; 3]) -> f64 {
    let t = length2(d[1], d[2]);
    let a = (d[0] - t) * (d[0] + t);
    let b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    let c = depth(x);
    let root = (b * b - a * c).max(0.0).sqrt();
    let positive = |t: &f64| *t > 0.0 && t.is_finite();
    let ends = [c / (-b + root), c / (-b - root)];
    let on_surface = b * b >= a * c;
    let first = ends.into_iter().filter(positive).fold(f64::INFINITY, f64::min);
    // Rounding may hide that the way leads through the vertex.
    let vertex = if d[0] < 0.0 { -x[0] / d[0] } else { f64::INFINITY };
    if on_surface { first.min(vertex) } else { vertex }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::fixtures::{random_problem, tower_with_gaps, unique_problem};
    use crate::friction::{ContactSolver, ExactInteriorPoint, Scratch, residual};
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    fn inside(rng: &mut Pcg64) -> [f64; 3] {
        let t: [f64; 2] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
        [length2(t[0], t[1]) + rng.random_range(0.001..1.0), t[0], t[1]]
    }

    #[test]
    fn the_scaling_maps_impulses_and_velocities_to_the_same_point() {
        let mut rng = Pcg64::seed_from_u64(3);
        for _ in 0..1000 {
            let zero = [0.0; 3];
            let cone = Cone::Friction { friction: 0.5, exact: true };
            let (x, z) = (inside(&mut rng), inside(&mut rng));
            let (s, inverse) = ([zero; 3], [zero; 3]);
            let mut p =
                Point { cone, x, z, s, inverse, lambda: zero, error: zero, dx: zero, dz: zero };
            assert!(p.rescale());
            let other = times(&p.inverse, z);
            for i in 0..3 {
                assert!((p.lambda[i] - other[i]).abs() < 1e-9 * p.lambda[0], "{p:?}");
                let unit = times(&p.inverse, times(&p.s, x));
                assert!((unit[i] - x[i]).abs() < 1e-9 * x[0], "{p:?}");
            }
        }
    }

    #[test]
    fn a_quotient_times_its_divisor_is_the_dividend() {
        let mut rng = Pcg64::seed_from_u64(4);
        for _ in 0..1000 {
            let l = inside(&mut rng);
            let d: [f64; 3] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
            let back = product(l, quotient(l, d));
            let size = 1.0 / depth(l);
            assert!((0..3).all(|i| (back[i] - d[i]).abs() < 1e-12 * size), "{l:?} {d:?} {back:?}");
        }
    }

    #[test]
    fn the_longest_step_ends_on_the_surface() {
        let mut rng = Pcg64::seed_from_u64(5);
        for _ in 0..1000 {
            let x = inside(&mut rng);
            let d: [f64; 3] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
            let t = room(x, d);
            if t.is_finite() {
                assert!(depth(along(x, t, d)).abs() < 1e-9 * (1.0 + t * t), "{x:?} {d:?} {t}");
                assert!(depth(along(x, 0.999 * t, d)) > 0.0);
            } else {
                assert!(depth(along(x, 1e6, d)) >= 0.0 && x[0] + 1e6 * d[0] > 0.0);
            }
        }
    }

    #[test]
    fn problems_with_one_solution_are_solved_to_it() {
        for seed in 0..20 {
            let problem = unique_problem(seed);
            let mut reference = Vec::new();
            let sweeps = crate::friction::GaussSeidel::tolerance(1e-13);
            sweeps.solve(&problem, &mut reference, &mut Scratch::default());
            let mut found = Vec::new();
            let solver = ExactInteriorPoint::tolerance(1e-8);
            let report = solver.solve(&problem, &mut found, &mut Scratch::default());
            assert!(report.converged, "seed {seed}: {report:?}");
            let largest = reference.as_flattened().iter().fold(0.0f64, |m, x| m.max(x.abs()));
            for (a, b) in reference.as_flattened().iter().zip(found.as_flattened()) {
                assert!((a - b).abs() < 1e-6 * largest, "seed {seed}: {a} {b}");
            }
        }
    }

    #[test]
    fn towers_with_small_gaps_are_solved_with_few_iterations() {
        for seed in 0..5 {
            let problem = tower_with_gaps(50, seed);
            let mut found = Vec::new();
            let solver = ExactInteriorPoint::tolerance(1e-9);
            let report = solver.solve(&problem, &mut found, &mut Scratch::default());
            assert!(report.converged && report.sweeps <= 60, "seed {seed}: {report:?}");
            assert!(residual(&problem, &found).relative_to_all() <= 1.001e-9);
        }
    }

    #[test]
    fn without_friction_nothing_acts_along_the_contacts() {
        let mut problem = unique_problem(3);
        problem.laws.fill(Law::Coulomb { friction: 0.0 });
        let mut found = Vec::new();
        let solver = ExactInteriorPoint::tolerance(1e-8);
        let report = solver.solve(&problem, &mut found, &mut Scratch::default());
        assert!(report.converged, "{report:?}");
        assert!(found.iter().all(|r| r[1] == 0.0 && r[2] == 0.0));
    }

    #[test]
    fn impulses_are_in_their_cones_wherever_it_stops() {
        for seed in 0..20 {
            let problem = random_problem(seed, 30, 60);
            let mut found = Vec::new();
            let solver = ExactInteriorPoint::tolerance(1e-12);
            let report = solver.solve(&problem, &mut found, &mut Scratch::default());
            assert!(report.sweeps <= MOST + 2, "seed {seed}: {report:?}");
            // Where the shift does not settle it stops early, but never far from a solution.
            assert!(report.residual < 1e-2, "seed {seed}: {report:?}");
            for (r, law) in found.iter().zip(&problem.laws) {
                let limit = law.friction().unwrap_or(0.0) * r[0];
                assert!(r[0] >= 0.0 && length2(r[1], r[2]) <= limit * (1.0 + 1e-12), "{r:?}");
            }
        }
    }
}
