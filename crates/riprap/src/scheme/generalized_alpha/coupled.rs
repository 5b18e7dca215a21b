//! The coupled iteration: corrections of the smooth motion, of positions and of velocities in one
//! linear system, Eqs. (43), (44).
//!
//! Position corrections and velocity jumps change the forces by `K_t δU` and `C_t δW`. Sequential steps leave this to
//! the next iteration, which converges slowly if `h² K_t` exceeds `M`. Here `δU = M⁻¹ g_qᵀ ν − U`
//! and `δW = M⁻¹ g_qᵀ Λ − W` are eliminated from the first row of Eq. (44), which leaves one
//! complementarity problem in `λ̃`, `ν` and `Λ`. Of the second derivatives, `G_p` and `G_v` are
//! left out: they are multiplied by `U` and `ν`, which are of order `h`, and by `W` and `Λ` over one step.

use super::newton::Newton;
use super::problems::Near;
use super::{Coefficients, GeneralizedAlpha};
use crate::friction::{Condition, Mixed};
use crate::scene::Scene;

/// Effect of one multiplier: on `ṽ`, on `U` and on `W`.
#[derive(Clone, Debug, Default)]
struct Effect {
    smooth: Vec<f64>,
    position: Vec<f64>,
    velocity: Vec<f64>,
}

/// Which condition a row imposes.
#[derive(Clone, Copy, Debug)]
enum Level {
    /// `g_q ṽ = 0`, by bilateral row.
    Smooth(usize),
    /// `g(q)`, by row.
    Position(usize),
    /// `g_q v`, by row.
    Velocity(usize),
}

/// Buffers of the coupled iteration.
#[derive(Default)]
pub(super) struct Coupled {
    mixed: Mixed,
    effects: Vec<Effect>,
    levels: Vec<Level>,
    /// `∂(g_q ṽ)/∂q` of the bilateral rows.
    curvatures: Vec<Vec<f64>>,
}

impl Newton {
    /// One coupled iteration. Returns the largest correction relative to the velocities, and where
    /// it is.
    pub(super) fn correct_coupled(
        &mut self,
        scheme: &GeneralizedAlpha,
        scene: &Scene,
        h: f64,
        c: &Coefficients,
    ) -> (f64, usize) {
        let by_q = c.position_by_velocity(h);
        // Which contacts take part is decided as in the sequential iteration.
        let lambda = self.lambda.clone();
        self.smooth_motion(h, c, true);
        self.lambda = lambda;
        let mut force = Vec::with_capacity(self.e.n_v());
        for i in 0..self.e.n_v() {
            self.dx[i] = by_q * self.dv[i] - self.correction[i];
        }
        self.assemble(scene, Near::Predicted);
        // The smooth motion with U, W and the multipliers of this iteration set to zero.
        force.extend(self.groups.residual.iter().map(|r| -r));
        self.groups.multiply_stiffness(&self.e, &self.correction, 1.0, &mut force);
        self.groups.multiply_damping(&self.e, &self.jump, 1.0, &mut force);
        self.groups.solve_smooth(&self.e, &mut force);
        let mut coupled = std::mem::take(&mut self.coupled);
        coupled.collect(self, by_q, h);
        coupled.fill(self, &force, by_q);
        coupled.mixed.solve();
        let result = coupled.apply(self, scheme, force, h, c);
        self.coupled = coupled;
        result
    }
}

impl Coupled {
    /// Rows and effects of all multipliers: `λ̃` of bilateral rows, `ν` and `Λ` of bilateral rows
    /// and contacts.
    fn collect(&mut self, newton: &Newton, by_q: f64, h: f64) {
        let Newton { e, bilateral, groups, problems, gradients, .. } = newton;
        let (n, m_b) = (e.n_v(), bilateral.len());
        self.levels.clear();
        self.levels.extend((0..m_b).map(Level::Smooth));
        self.levels.extend(problems.position_rows(m_b).map(Level::Position));
        self.levels.extend(problems.velocity_rows(m_b).map(Level::Velocity));
        self.effects.resize_with(self.levels.len().max(self.effects.len()), Effect::default);
        for (effect, level) in self.effects.iter_mut().zip(&self.levels) {
            for x in [&mut effect.smooth, &mut effect.position, &mut effect.velocity] {
                x.clear();
                x.resize(n, 0.0);
            }
            match *level {
                Level::Smooth(i) => problems.rows().add_to(i, 1.0, &mut effect.smooth),
                Level::Position(i) => {
                    effect.position.copy_from_slice(problems.response(i));
                    groups.multiply_stiffness(e, &effect.position, -1.0, &mut effect.smooth);
                }
                Level::Velocity(i) => {
                    effect.velocity.copy_from_slice(problems.response(i));
                    groups.multiply_damping(e, &effect.velocity, -1.0, &mut effect.smooth);
                    if problems.is_tangential(i) {
                        let displaced = effect.position.iter_mut().zip(&effect.velocity);
                        displaced.for_each(|(u, w)| *u = 0.5 * h * w);
                        groups.multiply_stiffness(e, &effect.position, -1.0, &mut effect.smooth);
                    }
                }
            }
            groups.solve_smooth(e, &mut effect.smooth);
        }
        self.curvatures.resize_with(m_b, Vec::new);
        for (i, curvature) in self.curvatures.iter_mut().enumerate() {
            curvature.clear();
            curvature.extend(gradients[i].iter().map(|g| g / by_q));
            problems.rows().add_to(i, -1.0 / by_q, curvature);
        }
    }

    /// The problem `y = D x + b`; `start` is the correction of `ṽ` where all multipliers vanish.
    fn fill(&mut self, newton: &Newton, start: &[f64], by_q: f64) {
        let Newton { bilateral, problems, correction, v_smooth, .. } = newton;
        let rows = problems.rows();
        let m = self.levels.len();
        let Coupled { mixed, effects, levels, curvatures } = self;
        mixed.reset(m);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for (i, level) in levels.iter().enumerate() {
            for (j, x) in effects.iter().enumerate().take(m) {
                mixed.d[i * m + j] = match *level {
                    Level::Smooth(r) => {
                        let moved = by_q * dot(&curvatures[r], &x.smooth);
                        rows.dot(r, &x.smooth) + moved + dot(&curvatures[r], &x.position)
                    }
                    Level::Position(r) => by_q * rows.dot(r, &x.smooth) + rows.dot(r, &x.position),
                    Level::Velocity(r) => rows.dot(r, &x.smooth) + rows.dot(r, &x.velocity),
                };
            }
            mixed.b[i] = match *level {
                Level::Smooth(r) => {
                    let moved = by_q * dot(&curvatures[r], start) - dot(&curvatures[r], correction);
                    rows.velocity(r, v_smooth) + rows.dot(r, start) + moved
                }
                Level::Position(r) => {
                    let gap = problems.gap(r, &bilateral.residual, &newton.unilateral);
                    gap + by_q * rows.dot(r, start) - rows.dot(r, correction)
                }
                Level::Velocity(r) => {
                    let impact = problems.impact(r);
                    rows.velocity(r, v_smooth) + rows.dot(r, start) + impact
                }
            };
        }
        let m_b = bilateral.len();
        mixed.x.fill(0.0);
        mixed.x[..m_b].copy_from_slice(&newton.lambda);
        mixed.conditions.resize(m_b, Condition::Bilateral);
        problems.position_conditions(m_b, mixed);
        problems.velocity_conditions(m_b, &newton.unilateral, mixed);
    }

    /// Applies the solution to the iterate.
    fn apply(
        &self,
        newton: &mut Newton,
        scheme: &GeneralizedAlpha,
        mut dv: Vec<f64>,
        h: f64,
        c: &Coefficients,
    ) -> (f64, usize) {
        let m_b = newton.bilateral.len();
        let n = dv.len();
        let (mut position, mut velocity) = (vec![0.0; n], vec![0.0; n]);
        for (x, effect) in self.mixed.x.iter().zip(&self.effects) {
            for i in 0..n {
                dv[i] += x * effect.smooth[i];
                position[i] += x * effect.position[i];
                velocity[i] += x * effect.velocity[i];
            }
        }
        newton.lambda.clear();
        newton.lambda.extend_from_slice(&self.mixed.x[..m_b]);
        newton.problems.store(m_b, &self.mixed.x[m_b..]);
        newton.apply(scheme, dv, position, velocity, h, c)
    }
}
