//! The semi-smooth Newton iteration of one step: Algorithm 1.
//!
//! All three steps of an iteration use one linearization, at the current positions. The
//! complementarity problems of steps 2 and 3 are solved exactly in every iteration instead of with
//! one update of the active sets; the discrete solution is the same.

use super::coupled::Coupled;
use super::problems::{Near, Problems};
use super::{Coefficients, GeneralizedAlpha, Variant};
use crate::assembly::Contacts;
use crate::assembly::equations::{
    Bilateral, Configuration, Equations, Groups, Key, Unilateral, move_prescribed,
};
use crate::friction::{Condition, Mixed};
use crate::math::Buffers;
use crate::multibody::Control;
use crate::scene::{Scene, Twist};

/// The coupled iteration takes over where a sequential one reduces corrections by less than this
/// factor [–].
const SLOW: f64 = 0.1;

/// Tangents are renewed where an iteration reduces corrections by less than this factor [–].
const RENEW: f64 = 1e-2;

/// After this many iterations contact points move with their bodies: where the points that detection
/// reports alternate between two choices, the iteration would not converge otherwise.
const FREEZE: usize = 6;

/// Why an iteration failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Failure {
    /// Too many iterations; the velocity with the largest correction.
    NotConverged(usize),
    /// A velocity has no inertia.
    NoInertia(usize),
}

/// Buffers of the scheme: the scene's equations, the start of the step and the iterate.
#[derive(Default)]
pub(super) struct Newton {
    pub e: Equations,
    pub bilateral: Bilateral,
    pub unilateral: Unilateral,
    pub groups: Groups,
    pub mixed: Mixed,
    pub problems: Problems,
    pub coupled: Coupled,
    /// Whether this step uses the coupled iteration.
    pub is_coupled: bool,
    /// Whether tangents are evaluated in this iteration.
    pub fresh: bool,
    pub controls: Vec<Control>,
    /// Positions, velocities and accelerations at the start.
    pub at_n: Configuration,
    pub v_n: Vec<f64>,
    pub twists_n: Vec<Twist>,
    pub acceleration_n: Vec<f64>,
    pub pseudo_n: Vec<f64>,
    /// Largest distance of a moving body from the world origin [m].
    pub extent: f64,
    /// The start with prescribed bodies moved to the end of the step, and their velocities.
    pub base: Configuration,
    pub moving: Vec<Twist>,
    /// The iterate: `ṽ`, `ṽ̇`, `W`, `U`, `v`, `q̃`, `q`, `λ̃`.
    pub v_smooth: Vec<f64>,
    pub acceleration: Vec<f64>,
    pub jump: Vec<f64>,
    pub correction: Vec<f64>,
    pub v: Vec<f64>,
    pub smooth_at: Configuration,
    pub at: Configuration,
    pub lambda: Vec<f64>,
    pub dx: Vec<f64>,
    /// Correction of `ṽ` and of the multipliers of the smooth motion.
    pub dv: Vec<f64>,
    pub gradients: Vec<Vec<f64>>,
    pub responses: Vec<Vec<f64>>,
    /// Contacts of all substeps of the step, with their impulses.
    pub step_contacts: Vec<(Key, [f64; 3])>,
}

impl Buffers for Newton {}

impl Newton {
    /// Solves the discrete equations of a step from `t` over `h` [s]. Returns the number of iterations.
    pub(super) fn solve(
        &mut self,
        scheme: &GeneralizedAlpha,
        scene: &Scene,
        t: f64,
        h: f64,
        contacts: &mut Contacts,
    ) -> Result<usize, Failure> {
        let c = scheme.coefficients();
        self.predict(scene, t, h, &c);
        if scheme.variant == Variant::MoreauJean {
            self.activate(scene, t, h, &c, contacts);
        }
        let mut last = f64::INFINITY;
        let mut worst = 0;
        self.fresh = true;
        for i in 1..=scheme.max_iterations {
            self.linearize(scheme.variant, scene, t, h, &c, (contacts, i));
            self.groups.factor_mass(&self.e).map_err(Failure::NoInertia)?;
            let (error, at) = match scheme.variant {
                Variant::SmoothIndex3 => self.correct_index_3(scene, h, &c, scheme.tolerance),
                Variant::Ggl if self.is_coupled => self.correct_coupled(scheme, scene, h, &c),
                _ => self.correct(scheme, scene, h, &c),
            };
            if !error.is_finite() {
                return Err(Failure::NotConverged(at));
            }
            worst = at;
            // Near rounding level corrections stop decreasing.
            if error <= scheme.tolerance
                || i >= 6 && error <= 1e3 * scheme.tolerance && error >= last
            {
                self.move_to(scheme.variant, scene, t, h, &c);
                return Ok(i);
            }
            // Sequential steps converge slowly where forces change much with U and W.
            let was_coupled = self.is_coupled;
            let slow = i >= 3 && error > SLOW * last || i + 1 >= scheme.max_iterations / 2;
            self.is_coupled |= slow && scheme.variant == Variant::Ggl;
            // Tangents are renewed only while corrections decrease slowly.
            self.fresh = error > RENEW * last || self.is_coupled != was_coupled;
            last = error;
        }
        Err(Failure::NotConverged(worst))
    }

    /// The initial iterate: accelerations of the start, no impulses. (40)
    fn predict(&mut self, scene: &Scene, t: f64, h: f64, c: &Coefficients) {
        let n = self.e.n_v();
        self.acceleration.clone_from(&self.acceleration_n);
        for x in [&mut self.jump, &mut self.correction, &mut self.v_smooth] {
            x.clear();
            x.resize(n, 0.0);
        }
        for i in 0..n {
            let pseudo = c.pseudo(self.acceleration[i], self.acceleration_n[i], self.pseudo_n[i]);
            self.v_smooth[i] =
                self.v_n[i] + h * ((1.0 - c.gamma) * self.pseudo_n[i] + c.gamma * pseudo);
        }
        self.e.prescribe(scene, t + h, &mut self.v_smooth, &mut self.acceleration);
        self.base.clone_from(&self.at_n);
        move_prescribed(scene, t, h, &mut self.base.q, &mut self.moving);
        self.problems.reset();
        self.lambda.resize(self.bilateral.len(), 0.0);
    }

    /// Positions of the iterate: `q̃` from Eq. (30a), `q = q̃ + U` (30b); velocities `v = ṽ + W` (30d).
    fn move_to(&mut self, variant: Variant, scene: &Scene, t: f64, h: f64, c: &Coefficients) {
        let n = self.e.n_v();
        self.dx.resize(n, 0.0);
        self.v.resize(n, 0.0);
        for i in 0..n {
            let (a, a_n, p_n) = (self.acceleration[i], self.acceleration_n[i], self.pseudo_n[i]);
            self.dx[i] = match variant {
                Variant::MoreauJean => {
                    h * ((1.0 - c.gamma) * self.v_n[i] + c.gamma * self.v_smooth[i])
                }
                _ => {
                    let mean = (0.5 - c.beta) * p_n + c.beta * c.pseudo(a, a_n, p_n);
                    h * (self.v_n[i] + h * mean)
                }
            };
            self.v[i] = self.v_smooth[i] + self.jump[i];
        }
        if variant == Variant::MoreauJean {
            // q = q̃ + h θ W (50h).
            for i in 0..n {
                self.correction[i] = h * c.gamma * self.jump[i];
            }
        }
        let Newton { e, base, smooth_at, at, .. } = self;
        if self.correction.iter().any(|u| *u != 0.0) {
            e.retract(scene, base, &self.dx, t + h, smooth_at);
            e.retract(scene, smooth_at, &self.correction, t + h, at);
        } else {
            e.retract(scene, base, &self.dx, t + h, at);
        }
        e.place(scene, at, &self.v, &self.moving);
    }

    /// Evaluates masses, forces, tangents and constraints at the iterate.
    fn linearize(
        &mut self,
        variant: Variant,
        scene: &Scene,
        t: f64,
        h: f64,
        c: &Coefficients,
        (contacts, iteration): (&mut Contacts, usize),
    ) {
        self.move_to(variant, scene, t, h, c);
        let fresh = self.fresh;
        let Newton { e, bilateral, unilateral, groups, at, .. } = self;
        let motion = (&self.v[..], &self.acceleration[..]);
        groups.evaluate(scene, e, at, motion, (t + h, &self.controls), self.fresh);
        bilateral.evaluate(scene, at, e, &self.v);
        if iteration <= FREEZE {
            contacts.detect_at(scene, &at.q, &self.twists_n, h);
            contacts.touch_points(scene, &at.q);
            unilateral.collect(scene, contacts);
        } else {
            unilateral.follow(at);
        }
        if iteration == FREEZE {
            unilateral.freeze(at);
        }
        self.lambda.resize(bilateral.len(), 0.0);
        // Second derivatives of the constraints: −∂(g_qᵀ λ̃)/∂q in K_t, and G*_s = ∂(g_q ṽ)/∂q.
        let n = e.n_v();
        self.gradients.resize_with(bilateral.len().max(self.gradients.len()), Vec::new);
        for i in 0..bilateral.len() {
            let row = &mut self.gradients[i];
            row.clear();
            row.resize(n, 0.0);
            bilateral.rows.add_to(i, 1.0, row);
            let (lambda, share, v) = (self.lambda[i], c.position_by_velocity(h), &self.v_smooth);
            bilateral.second(scene, at, e, i, |k, l, d| {
                row[l] += share * d * v[k];
                if fresh {
                    groups.add_stiffness(e, k, l, -lambda * d);
                }
            });
        }
    }

    /// Step 1 of Algorithm 1: the smooth motion. Leaves the correction of `ṽ` in `dv` and adds that
    /// of `λ̃`. (47)
    pub(super) fn smooth_motion(&mut self, h: f64, c: &Coefficients, with_constraints: bool) {
        let Newton { e, bilateral, groups, mixed, dv, responses, gradients, .. } = self;
        let n = e.n_v();
        let (by_a, by_q) = (c.acceleration_by_velocity(h), c.position_by_velocity(h));
        if self.fresh {
            groups.factor_smooth(e, by_a, 1.0, by_q);
        }
        dv.clear();
        dv.extend(groups.residual.iter().map(|r| -r));
        if !with_constraints {
            groups.solve_smooth(e, dv);
            return;
        }
        let m = bilateral.len();
        for i in 0..m {
            bilateral.rows.add_to(i, self.lambda[i], dv);
        }
        groups.solve_smooth(e, dv);
        if m == 0 {
            return;
        }
        responses.resize_with(m.max(responses.len()), Vec::new);
        mixed.reset(m);
        mixed.x.fill(0.0);
        for (i, x) in responses.iter_mut().enumerate().take(m) {
            x.clear();
            x.resize(n, 0.0);
            bilateral.rows.add_to(i, 1.0, x);
            groups.solve_smooth(e, x);
        }
        for i in 0..m {
            let row = &gradients[i];
            let dot = |x: &[f64]| row.iter().zip(x).map(|(g, x)| g * x).sum::<f64>();
            mixed.b[i] = bilateral.rows.velocity(i, &self.v_smooth) + dot(dv);
            for (j, x) in responses.iter().enumerate().take(m) {
                mixed.d[i * m + j] = dot(x);
            }
            mixed.conditions.push(Condition::Bilateral);
        }
        mixed.solve();
        for (i, x) in responses.iter().enumerate().take(m) {
            let change = mixed.x[i];
            self.lambda[i] += change;
            dv.iter_mut().zip(x).for_each(|(dv, x)| *dv += change * x);
        }
    }

    /// Steps 1 to 3 of Algorithm 1. Returns the largest correction relative to the velocities, and
    /// where it is.
    fn correct(
        &mut self,
        scheme: &GeneralizedAlpha,
        scene: &Scene,
        h: f64,
        c: &Coefficients,
    ) -> (f64, usize) {
        let GeneralizedAlpha { variant, tolerance, .. } = *scheme;
        self.smooth_motion(h, c, variant != Variant::MoreauJean);
        let (n, by_q) = (self.e.n_v(), c.position_by_velocity(h));
        let by_a = c.acceleration_by_velocity(h);
        for i in 0..n {
            self.v_smooth[i] += self.dv[i];
            self.acceleration[i] += by_a * self.dv[i];
        }
        let scale = self.velocity_scale(h, tolerance);
        let mut error = Largest::default();
        error.note(&self.dv, scale);

        // Two complementarity problems with D = g_q M⁻¹ g_qᵀ. (48), (49)
        let near = match variant {
            Variant::MoreauJean => Near::Prepared,
            _ => {
                // q̃ + U − U + …: displacement from q to the new q̃.
                for i in 0..n {
                    self.dx[i] = by_q * self.dv[i] - self.correction[i];
                }
                Near::Predicted
            }
        };
        self.assemble(scene, near);
        // Velocities first: the displacement due to friction depends on their impulses.
        self.dv.clone_from(&self.jump);
        self.project_velocities();
        self.dv.iter_mut().zip(&self.jump).for_each(|(old, new)| *old -= new);
        error.note(&self.dv, scale);
        if variant != Variant::MoreauJean {
            let lift = if variant == Variant::ModifiedLcp { h } else { 0.0 };
            self.dv.clone_from(&self.correction);
            self.project_positions(lift, h);
            self.dv.iter_mut().zip(&self.correction).for_each(|(old, new)| *old -= new);
            error.note(&self.dv, h * scale);
        }
        (error.value, error.at)
    }

    /// Applies corrections of the smooth velocity, and new `U` and `W`, found together. Returns the
    /// largest correction relative to the velocities, and where it is.
    pub(super) fn apply(
        &mut self,
        scheme: &GeneralizedAlpha,
        dv: Vec<f64>,
        mut correction: Vec<f64>,
        mut jump: Vec<f64>,
        h: f64,
        c: &Coefficients,
    ) -> (f64, usize) {
        let by_a = c.acceleration_by_velocity(h);
        for (i, dv) in dv.iter().enumerate() {
            self.v_smooth[i] += dv;
            self.acceleration[i] += by_a * dv;
        }
        std::mem::swap(&mut self.correction, &mut correction);
        std::mem::swap(&mut self.jump, &mut jump);
        correction.iter_mut().zip(&self.correction).for_each(|(old, new)| *old -= new);
        jump.iter_mut().zip(&self.jump).for_each(|(old, new)| *old -= new);
        let scale = self.velocity_scale(h, scheme.tolerance);
        let mut error = Largest::default();
        error.note(&dv, scale);
        error.note(&correction, h * scale);
        error.note(&jump, scale);
        (error.value, error.at)
    }

    /// One iteration of the smooth index-3 scheme: constraints at position level only. (51)
    fn correct_index_3(
        &mut self,
        scene: &Scene,
        h: f64,
        c: &Coefficients,
        tolerance: f64,
    ) -> (f64, usize) {
        self.smooth_motion(h, c, false);
        let (n, by_q) = (self.e.n_v(), c.position_by_velocity(h));
        for i in 0..n {
            self.dx[i] = by_q * self.dv[i];
        }
        self.assemble_smooth(scene, by_q);
        self.solve_index_3(h);
        let by_a = c.acceleration_by_velocity(h);
        for i in 0..n {
            self.v_smooth[i] += self.dv[i];
            self.acceleration[i] += by_a * self.dv[i];
        }
        let mut error = Largest::default();
        error.note(&self.dv, self.velocity_scale(h, tolerance));
        (error.value, error.at)
    }

    /// A velocity to compare corrections with [m/s, rad/s]: the largest one, but not so small that the
    /// tolerance would require more digits than positions have.
    fn velocity_scale(&self, h: f64, tolerance: f64) -> f64 {
        let size = |x: &[f64]| x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let speeds = size(&self.v_smooth).max(size(&self.v_n));
        let digits = 4.0 * f64::EPSILON * self.extent / (h * tolerance);
        speeds.max(h * size(&self.acceleration)).max(digits).max(1e-9)
    }

    /// Finds the contacts that are closed at the explicit prediction `q_n + (1−θ) h v_n`. (50d)
    fn activate(
        &mut self,
        scene: &Scene,
        t: f64,
        h: f64,
        c: &Coefficients,
        contacts: &mut Contacts,
    ) {
        let Newton { e, base, at, unilateral, problems, .. } = self;
        let early = (1.0 - c.gamma) * h;
        self.dx.clear();
        self.dx.extend(self.v_n.iter().map(|v| early * v));
        e.retract(scene, base, &self.dx, t + early, at);
        e.place(scene, at, &self.v_n, &self.moving);
        contacts.detect_at(scene, &at.q, &self.twists_n, h);
        contacts.touch_points(scene, &at.q);
        unilateral.collect(scene, contacts);
        problems.prepare(unilateral.contacts.iter().filter(|c| c.gap <= 0.0).map(|c| c.key));
    }

    /// Takes the solution as the start of the next part of the step, and adds its impulses to those
    /// of the step.
    pub(super) fn accept(&mut self, scheme: &GeneralizedAlpha) {
        let c = scheme.coefficients();
        for i in 0..self.e.n_v() {
            let (a, a_n) = (self.acceleration[i], self.acceleration_n[i]);
            self.pseudo_n[i] = c.pseudo(a, a_n, self.pseudo_n[i]);
        }
        std::mem::swap(&mut self.acceleration_n, &mut self.acceleration);
        std::mem::swap(&mut self.at_n, &mut self.at);
        std::mem::swap(&mut self.v_n, &mut self.v);
        self.twists_n.clear();
        self.twists_n.extend_from_slice(self.e.twists());
        for (key, impulse) in self.problems.impulses(&self.unilateral) {
            match self.step_contacts.iter_mut().find(|(k, _)| *k == key) {
                Some((_, sum)) => (0..3).for_each(|i| sum[i] += impulse[i]),
                None => self.step_contacts.push((key, impulse)),
            }
        }
    }
}

/// The largest of several values, and its index.
#[derive(Default)]
struct Largest {
    value: f64,
    at: usize,
}

impl Largest {
    fn note(&mut self, x: &[f64], scale: f64) {
        for (i, x) in x.iter().enumerate() {
            let x = x.abs() / scale;
            // NaN must not pass as small.
            if x > self.value || x.is_nan() {
                (self.value, self.at) = (x, i);
            }
        }
    }
}
