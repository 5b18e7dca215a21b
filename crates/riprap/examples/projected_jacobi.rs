//! A contact solver outside the crate: projected Jacobi, plugged into a run.
//!
//! All contacts take a step against their velocity simultaneously and are projected onto their
//! cones: `r ← r + ω (P(r − û/w) − r)`. Simple and parallel, but slow to converge; a natural first
//! solver for another device. It reads the problem only through [`ProblemArrays`].
//!
//! ```sh
//! cargo run --release --example projected_jacobi
//! ```

use riprap::friction::{
    Buffers, ContactProblem, ContactSolver, Factored, Impulses, ProblemArrays, Scratch,
    SolveReport, residual,
};
use riprap::prelude::*;

/// Projected Jacobi for factored problems.
struct ProjectedJacobi {
    /// Residual at which to stop [–].
    tolerance: f64,
    /// Iterations before giving up.
    max_iterations: usize,
}

/// Its scratch: kept between steps by the workspace of the scheme.
#[derive(Default)]
struct Work {
    arrays: ProblemArrays,
    /// Velocities of the blocks: linear and angular [m/s, rad/s].
    velocity: Vec<[Vec3; 2]>,
    /// Number of contacts of each block.
    degree: Vec<f64>,
}

impl Buffers for Work {}

impl Work {
    /// `M⁻¹ H I` from the arrays.
    fn push_all(&mut self, impulses: &[[f64; 3]]) {
        let Work { arrays: p, velocity, .. } = self;
        velocity.clear();
        velocity.resize(p.inverse_mass.len(), [Vec3::zeros(); 2]);
        for a in 0..p.blocks.len() {
            let push: Vec3 = (0..3).map(|k| Vec3::from(p.frames[a][k]) * impulses[a][k]).sum();
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                let b = p.blocks[a][side];
                if b == Factored::NONE {
                    continue;
                }
                let (b, arm) = (b as usize, Vec3::from(p.arms[a][side]));
                let [xx, yy, zz, xy, xz, yz] = p.inverse_inertia[b];
                let t = arm.cross(&push);
                let spin = Vec3::new(
                    xx * t.x + xy * t.y + xz * t.z,
                    xy * t.x + yy * t.y + yz * t.z,
                    xz * t.x + yz * t.y + zz * t.z,
                );
                velocity[b][0] += push.component_mul(&Vec3::from(p.inverse_mass[b])) * sign;
                velocity[b][1] += spin * sign;
            }
        }
    }

    /// Velocity at a contact, `V_free + Hᵀ v` [m/s].
    fn velocity_at(&self, a: usize) -> [f64; 3] {
        let p = &self.arrays;
        let mut relative = Vec3::zeros();
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let b = p.blocks[a][side];
            if b != Factored::NONE {
                let [linear, angular] = self.velocity[b as usize];
                relative += (linear + angular.cross(&Vec3::from(p.arms[a][side]))) * sign;
            }
        }
        std::array::from_fn(|k| p.v_rel_free[a][k] + Vec3::from(p.frames[a][k]).dot(&relative))
    }
}

impl ContactSolver for ProjectedJacobi {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        let work = scratch.of::<Work>();
        let grains_only = work.arrays.fill(problem) && work.arrays.rows.is_empty();
        assert!(grains_only, "this example solves contacts between grains and walls");
        work.degree.clear();
        work.degree.resize(work.arrays.inverse_mass.len() + 1, 0.0);
        for block in work.arrays.blocks.as_flattened() {
            let last = work.degree.len() - 1;
            work.degree[(*block as usize).min(last)] += 1.0;
        }
        let mut report = SolveReport::default();
        while report.sweeps < self.max_iterations {
            work.push_all(impulses);
            for a in 0..impulses.len() {
                let (w, u) = (&work.arrays.diagonal[a], work.velocity_at(a));
                let law = work.arrays.laws[a];
                let slide = law.friction().unwrap_or(0.0) * u[1].hypot(u[2]);
                // A step size that is safe even though all neighbours move too.
                let of = |b: u32| work.degree.get(b as usize).copied().unwrap_or(1.0);
                let neighbours = work.arrays.blocks[a].map(of).into_iter().fold(1.0, f64::max);
                let step =
                    1.0 / ((w[0][0] + w[1][1] + w[2][2]) * neighbours).max(f64::MIN_POSITIVE);
                let r = impulses[a];
                let ahead = [r[0] - step * (u[0] + slide), r[1] - step * u[1], r[2] - step * u[2]];
                impulses[a] = law.project(ahead, 0.0);
            }
            report.sweeps += 1;
            if report.sweeps % 10 == 0 {
                let now = residual(problem, impulses);
                report.residual = now.relative_to_impulses();
                report.approach = now.approach * problem.approach_scale;
                report.converged = report.residual <= self.tolerance;
                if report.converged {
                    break;
                }
            }
        }
        report
    }
}

/// Twenty-seven balls that fall onto a plane and form a heap.
fn heap(solver: impl ContactSolver + 'static) -> Result<Simulation, Box<dyn std::error::Error>> {
    let rock = Material::new("rock").density(2700.0).friction(0.5);
    let mut scene = Scene::builder();
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &rock);
    for k in 0..27 {
        let (x, y, z) = (k % 3, k / 3 % 3, k / 9);
        let at = [0.021 * x as f64, 0.021 * y as f64 + 0.004 * z as f64, 0.011 + 0.021 * z as f64];
        scene.add(BodyDescription::new(Shape::sphere(0.01)?, &rock).at(at), &rock);
    }
    Ok(Simulation::new(scene.build()?, MoreauJean::new(1e-3).solver(solver))?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tolerance = 1e-5;
    let mut ours = heap(ProjectedJacobi { tolerance, max_iterations: 100_000 })?;
    let mut theirs = heap(GaussSeidel::tolerance(tolerance))?;
    let (jacobi, seidel) = (ours.until(0.1, &mut ())?, theirs.until(0.1, &mut ())?);
    let centre =
        |run: &Simulation| run.state().q[1..].iter().map(|q| q.position.z).sum::<f64>() / 27.0;
    println!(
        "projected Jacobi  {:.1} iterations per step, mean height {:.6} m",
        jacobi.mean_sweeps(),
        centre(&ours)
    );
    println!(
        "Gauss–Seidel      {:.1} sweeps per step,     mean height {:.6} m",
        seidel.mean_sweeps(),
        centre(&theirs)
    );
    assert!(jacobi.unconverged == 0, "{jacobi}");
    assert!((centre(&ours) - centre(&theirs)).abs() < 1e-5, "two solvers, one solution");
    Ok(())
}

#[test]
fn two_solvers_give_the_same_heap() {
    main().unwrap();
}
