//! Where the energy of a run goes, and how often bodies touch: sums over the steps.

use super::{Balance, Frame};
use crate::assembly::{Moment, rope_rate};
use crate::math::Vec3;
use crate::scene::{SchemeState, Twist};
use serde::{Deserialize, Serialize};

/// Energies [J] at the last step, and dissipated energies [J] since the account was opened, by cause.
///
/// The work of an impulse is its product with the mean of the relative velocities before and after
/// the step, which for constant masses is exactly the change of kinetic energy that it causes.
///
/// ```
/// use riprap::prelude::*;
///
/// let steel = Material::new("steel").density(7800.0).friction(0.3);
/// let mut scene = Scene::builder();
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &steel);
/// let block = BodyDescription::new(Shape::cuboid([0.1; 3])?, &steel).at([0.0, 0.0, 0.05]);
/// scene.add(block.velocity([1.0, 0.0, 0.0]), &steel);
///
/// let mut run = Simulation::new(scene.build()?, MoreauJean::new(1e-3))?;
/// let mut account = EnergyAccount::open(&run.frame());
/// while run.time() < 0.5 {
///     run.step()?;
///     account.add(&run.frame());
/// }
/// // 7.8 kg at 1 m/s: friction has taken all of it.
/// assert!((account.friction - 3.9).abs() < 1e-6 && account.impact.abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyAccount {
    /// Total energy when the account was opened [J].
    pub initial: f64,
    /// Kinetic energy [J].
    pub kinetic: f64,
    /// Potential energy, including that of springs, of elasticity and of soft contacts [J]; see
    /// [`Balance::potential`].
    pub potential: f64,
    /// Energy dissipated by the normal impulses of contacts, or by their damping [J].
    pub impact: f64,
    /// Energy dissipated by friction [J].
    pub friction: f64,
    /// Energy dissipated by rolling resistance [J].
    pub rolling: f64,
    /// Energy dissipated by ropes that tighten [J].
    pub ropes: f64,
    /// Energy taken by adhesive forces [J]: what it took to separate shapes, less what was gained
    /// when they came within the range of cohesion.
    pub cohesion: f64,
    /// Last step that was added.
    step: u64,
}

impl EnergyAccount {
    /// An account that starts at a frame.
    pub fn open(frame: &Frame) -> EnergyAccount {
        let Balance { kinetic, potential, .. } = frame.balance();
        let (initial, step) = (kinetic + potential, frame.state.step);
        EnergyAccount { initial, kinetic, potential, step, ..EnergyAccount::default() }
    }

    /// All energy dissipated by contacts and ropes [J].
    pub fn dissipated(&self) -> f64 {
        self.impact + self.friction + self.rolling + self.ropes + self.cohesion
    }

    /// The rest of the balance [J], positive if it was added: work of drives, of the shear of a periodic
    /// cell, of forces with a law and of dampers, and the error of the time integration.
    pub fn other(&self) -> f64 {
        self.kinetic + self.potential + self.dissipated() - self.initial
    }

    /// Adds the step that led to a frame; a frame that was added before changes nothing.
    pub fn add(&mut self, frame: &Frame) {
        if frame.state.step <= self.step {
            return;
        }
        self.step = frame.state.step;
        self.read_energies(frame);
        if let SchemeState::Penalty(soft) = &frame.state.scheme {
            (self.impact, self.friction) = (soft.damped, soft.rubbed);
            self.add_ropes(frame);
            return;
        }
        if let SchemeState::RigidEvents(events) = &frame.state.scheme {
            (self.impact, self.friction) = (events.impact, events.friction);
            return;
        }
        let (system, after) = (&frame.work.system, &frame.state.v);
        let before = system.v_n();
        let contacts = frame.work.contacts();
        for (k, (c, r)) in contacts.active().zip(frame.work.impulses()).enumerate() {
            let arms = system.arms(&c);
            let mean = |side: usize| {
                let b = c.bodies[side] as usize;
                let linear = before[b].linear + after[b].linear;
                0.5 * (linear + (before[b].angular + after[b].angular).cross(&arms[side]))
            };
            let mut relative = mean(1) - mean(0);
            if let Some(shear) = system.shear_velocity(&c, Moment::Mean) {
                relative += shear;
            }
            let normal = c.point.normal * r[0];
            let pulled = contacts.adhesion(k) * c.point.normal.dot(&relative);
            self.impact -= normal.dot(&relative) + pulled;
            self.cohesion += pulled;
            self.friction -= (c.impulse_w(r) - normal).dot(&relative);
        }
        self.add_ropes(frame);
        let colliders = frame.scene.colliders();
        for moment in &frame.state.warm_moments {
            let spin = |c: u32| {
                let b = colliders[c as usize].body as usize;
                0.5 * (before[b].angular + after[b].angular)
            };
            let relative = spin(moment.colliders[1]) - spin(moment.colliders[0]);
            self.rolling -= Vec3::from(moment.moment_w).dot(&relative);
        }
    }

    /// Adds the work of the ropes.
    fn add_ropes(&mut self, frame: &Frame) {
        let (system, after) = (&frame.work.system, &frame.state.v);
        for (rope, state) in frame.scene.ropes().iter().zip(&frame.state.ropes) {
            if state.impulse != 0.0 {
                let rate = |v: &[Twist]| rope_rate(rope, system.q_m(), v);
                self.ropes -= 0.5 * state.impulse * (rate(system.v_n()) + rate(after));
            }
        }
    }

    /// Kinetic and potential energy of a frame.
    fn read_energies(&mut self, frame: &Frame) {
        let Balance { kinetic, potential, .. } = frame.balance();
        (self.kinetic, self.potential) = (kinetic, potential);
    }
}

/// Impulses below this value are rounding errors of the solver [N s]: a fraction of 1e-10 of the
/// momentum of the bodies and of the impulse of gravity in a step.
fn noise(frame: &Frame, pair: [u32; 2]) -> f64 {
    let bodies = frame.scene.bodies();
    let momentum = |b: u32| {
        let (i, weight) = (b as usize, frame.scene.gravity().norm() * frame.dt);
        if bodies.mass[i].is_finite() {
            bodies.mass[i] * (frame.state.v[i].linear.norm() + weight)
        } else {
            0.0
        }
    };
    1e-10 * (momentum(pair[0]) + momentum(pair[1]))
}

/// How many pairs of bodies touch, that is, carry an impulse above rounding errors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactCount {
    /// Pairs that touched in the last step, sorted.
    pub touching: Vec<[u32; 2]>,
    /// Number of times that a pair started to touch.
    pub onsets: u64,
    /// Sum over the steps of the number of touching pairs.
    pub pair_steps: u64,
    /// Number of steps with a touching pair.
    pub contact_steps: u64,
    /// Last step that was added.
    step: u64,
    /// Pairs of the step before.
    before: Vec<[u32; 2]>,
}

impl ContactCount {
    /// Counts the step that led to a frame; a frame that was counted before changes nothing.
    pub fn add(&mut self, frame: &Frame) {
        if frame.state.step <= self.step {
            return;
        }
        self.step = frame.state.step;
        std::mem::swap(&mut self.touching, &mut self.before);
        self.touching.clear();
        let contacts = frame.work.contacts();
        for (k, (c, r)) in contacts.active().zip(frame.work.impulses()).enumerate() {
            if r[0] + contacts.adhesion(k) > noise(frame, c.bodies) {
                let [a, b] = c.bodies.map(|b| frame.scene.body_at(b as usize).0);
                self.touching.push([a.min(b), a.max(b)]);
            }
        }
        self.touching.sort_unstable();
        self.touching.dedup();
        let fresh = |pair: &&[u32; 2]| self.before.binary_search(pair).is_err();
        self.onsets += self.touching.iter().filter(fresh).count() as u64;
        self.pair_steps += self.touching.len() as u64;
        self.contact_steps += u64::from(!self.touching.is_empty());
    }
}
