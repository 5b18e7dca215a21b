//! Forces on a mechanism: springs, dampers, stops, and laws with phases that depend on time,
//! positions and velocities.

use super::tree::{NONE, Spatial, Tree, TreeScratch};
use crate::math::Vec3;
use std::fmt;
use std::sync::Arc;

/// Inputs of a law.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Time [s].
    pub t: f64,
    /// Positions of the mechanism [m, rad].
    pub q: &'a [f64],
    /// Velocities of the mechanism [m/s, rad/s].
    pub v: &'a [f64],
    /// Values latched at the start of phases.
    pub latched: &'a [f64],
}

/// A function of the state of a mechanism.
#[derive(Clone)]
pub struct Signal(Arc<dyn Fn(&Inputs) -> f64 + Send + Sync>);

impl Signal {
    /// A signal from a closure.
    pub fn new(law: impl Fn(&Inputs) -> f64 + Send + Sync + 'static) -> Signal {
        Signal(Arc::new(law))
    }

    /// Always the same value.
    pub fn constant(value: f64) -> Signal {
        Signal::new(move |_| value)
    }

    /// Its value.
    pub fn at(&self, inputs: &Inputs) -> f64 {
        (self.0)(inputs)
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Signal")
    }
}

/// A prescribed coordinate: position, velocity and acceleration at a time [m, rad; per s; per s²].
#[derive(Clone)]
pub struct JointMotion(Arc<dyn Fn(f64) -> [f64; 3] + Send + Sync>);

impl JointMotion {
    /// From a closure that returns position, velocity and acceleration.
    pub fn new(law: impl Fn(f64) -> [f64; 3] + Send + Sync + 'static) -> JointMotion {
        JointMotion(Arc::new(law))
    }

    /// A motor with constant speed [m/s, rad/s] that is at `start` [m, rad] at t = 0.
    pub fn constant_speed(start: f64, speed: f64) -> JointMotion {
        JointMotion::new(move |t| [start + speed * t, speed, 0.0])
    }

    /// Position, velocity and acceleration at a time [s].
    pub fn at(&self, t: f64) -> [f64; 3] {
        (self.0)(t)
    }
}

impl fmt::Debug for JointMotion {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JointMotion")
    }
}

/// When a phase ends.
#[derive(Clone, Debug)]
pub enum Until {
    /// At a time [s].
    Time(f64),
    /// As soon as the signal is nonzero.
    Condition(Signal),
}

/// One phase of a law.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Values stored when the phase starts: slot in [`Inputs::latched`], and the value.
    pub latch: Vec<(usize, Signal)>,
    /// The components of the force: 1 for a joint, 6 for a body (force, then torque).
    pub values: Vec<Signal>,
    /// When the next phase takes over; `None` for never.
    pub until: Option<Until>,
}

impl Phase {
    /// A phase that lasts forever, with one component.
    pub fn forever(value: Signal) -> Phase {
        Phase { latch: Vec::new(), values: vec![value], until: None }
    }

    /// A phase with one component, which lasts forever unless it is given an end.
    ///
    /// ```
    /// use riprap::prelude::*;
    ///
    /// // Lowers a load until it is at 0.2 m or for 1 s, then holds the height reached.
    /// let mut m = Mechanism::new("hoist");
    /// let load = m.prismatic(GROUND, Axis::Z, [0.0, 0.0, 1.0], MassProperties::point(2.0, [0.0; 3]));
    /// let height = m.latch_slot();
    /// let phases = vec![
    ///     Phase::new(|x| 15.0 - 30.0 * x.v[0]).until_when(|x| x.q[0] <= -0.8 || x.t >= 1.0),
    ///     Phase::new(move |x| 20.0 - 1e4 * (x.q[0] - x.latched[height])).latching(height, |x| x.q[0]),
    /// ];
    /// m.actuate_in_phases("winch", m.coordinate(load, 0), phases);
    /// ```
    pub fn new(law: impl Fn(&Inputs) -> f64 + Send + Sync + 'static) -> Phase {
        Phase::forever(Signal::new(law))
    }

    /// Ends the phase at a time [s].
    pub fn until(mut self, time: f64) -> Phase {
        self.until = Some(Until::Time(time));
        self
    }

    /// Ends the phase once a condition holds.
    pub fn until_when(
        mut self,
        condition: impl Fn(&Inputs) -> bool + Send + Sync + 'static,
    ) -> Phase {
        let holds = Signal::new(move |inputs| f64::from(u8::from(condition(inputs))));
        self.until = Some(Until::Condition(holds));
        self
    }

    /// Stores a value in a slot ([`super::Mechanism::latch_slot`]) when the phase starts.
    pub fn latching(
        mut self,
        slot: usize,
        value: impl Fn(&Inputs) -> f64 + Send + Sync + 'static,
    ) -> Phase {
        self.latch.push((slot, Signal::new(value)));
        self
    }
}

/// The target of a force.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// A column of `v`.
    Column(u32),
    /// A point of a body [m]; components along the axes of the body or of the world.
    Body { body: u32, point: Vec3, in_body: bool },
}

/// A force with a law.
#[derive(Clone, Debug)]
pub(super) struct LawForce {
    pub name: String,
    pub target: Target,
    pub phases: Vec<Phase>,
}

impl LawForce {
    /// When a phase ends. The last one has no successor, so it never ends.
    fn end(&self, phase: u32) -> Option<&Until> {
        let last = phase as usize + 1 >= self.phases.len();
        if last { None } else { self.phases[phase as usize].until.as_ref() }
    }

    fn over(&self, phase: u32, inputs: &Inputs) -> bool {
        match self.end(phase) {
            None => false,
            Some(Until::Time(end)) => reached(inputs.t, *end),
            Some(Until::Condition(signal)) => signal.at(inputs) != 0.0,
        }
    }
}

/// Spring, damper and stops of a coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointSpring {
    /// Stiffness [N/m, N m/rad].
    pub stiffness: f64,
    /// Force-free position [m, rad].
    pub rest: f64,
    /// Damping [N s/m, N m s/rad].
    pub damping: f64,
}

/// Soft limits of a coordinate: a spring and damper that act beyond them and never pull.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stops {
    /// Lower limit [m, rad]; −∞ for none.
    pub lower: f64,
    /// Upper limit [m, rad]; ∞ for none.
    pub upper: f64,
    /// Stiffness beyond the limits [N/m, N m/rad].
    pub stiffness: f64,
    /// Damping beyond the limits [N s/m, N m s/rad].
    pub damping: f64,
}

impl Stops {
    /// Force on the coordinate [N, N m] and stored energy [J].
    fn force(&self, q: f64, v: f64) -> (f64, f64) {
        let (depth, sign) = if q < self.lower {
            (self.lower - q, 1.0)
        } else if q > self.upper {
            (q - self.upper, -1.0)
        } else {
            return (0.0, 0.0);
        };
        let push = (self.stiffness * depth - self.damping * v * sign).max(0.0);
        (sign * push, 0.5 * self.stiffness * depth * depth)
    }

    /// Stiffness [N/m, N m/rad] and damping [N s/m, N m s/rad] at a position and velocity.
    pub(super) fn tangents(&self, q: f64, v: f64) -> (f64, f64) {
        if self.force(q, v).0 == 0.0 { (0.0, 0.0) } else { (self.stiffness, self.damping) }
    }
}

/// The kind of a point-to-point element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PointSpring {
    /// Along the line between the points.
    Line {
        /// Stiffness [N/m].
        stiffness: f64,
        /// Damping [N s/m].
        damping: f64,
        /// Force-free length [m].
        length: f64,
    },
    /// Isotropic, force-free where the points coincide.
    Bushing {
        /// Stiffness [N/m].
        stiffness: f64,
        /// Damping [N s/m].
        damping: f64,
    },
}

/// A point-to-point element between two bodies.
#[derive(Clone, Debug)]
pub(super) struct PointElement {
    pub name: String,
    pub spring: PointSpring,
    pub a: (u32, Vec3),
    pub b: (u32, Vec3),
}

impl PointElement {
    /// Force on the second body at its point [N] and stored energy [J]; `d` and `v` are the second point's position
    /// and velocity relative to the first.
    pub(super) fn force(&self, d: Vec3, v: Vec3) -> (Vec3, f64) {
        match self.spring {
            PointSpring::Bushing { stiffness, damping } => {
                (d * -stiffness - v * damping, 0.5 * stiffness * d.norm_squared())
            }
            PointSpring::Line { stiffness, damping, length } => {
                let now = d.norm();
                let energy = 0.5 * stiffness * (now - length) * (now - length);
                if now == 0.0 {
                    return (Vec3::zeros(), energy);
                }
                let u = d / now;
                (u * (-stiffness * (now - length) - damping * u.dot(&v)), energy)
            }
        }
    }
}

/// All forces of a mechanism except gravity.
#[derive(Clone, Debug, Default)]
pub(super) struct Forces {
    /// Column, its coordinate in `q` and the spring.
    pub springs: Vec<(u32, u32, JointSpring)>,
    pub stops: Vec<(u32, u32, Stops)>,
    pub points: Vec<PointElement>,
    pub laws: Vec<LawForce>,
    /// Columns with a limited speed [m/s, rad/s].
    pub speed_limits: Vec<(u32, f64)>,
    /// Number of latched values.
    pub n_latched: usize,
}

/// Current phase of each law, and its latched values.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Control {
    /// Phase of each law.
    pub phase: Vec<u32>,
    /// Latched values.
    pub latched: Vec<f64>,
}

impl Forces {
    /// All laws in their initial phase at a state.
    pub fn begin(&self, t: f64, q: &[f64], v: &[f64]) -> Control {
        let mut control =
            Control { phase: vec![0; self.laws.len()], latched: vec![0.0; self.n_latched] };
        for law in &self.laws {
            Self::latch(&law.phases[0], t, q, v, &mut control);
        }
        control
    }

    fn latch(phase: &Phase, t: f64, q: &[f64], v: &[f64], control: &mut Control) {
        for (slot, signal) in &phase.latch {
            let value = signal.at(&Inputs { t, q, v, latched: &control.latched });
            control.latched[*slot] = value;
        }
    }

    /// Whether a law would change its phase at this state.
    pub fn due(&self, t: f64, q: &[f64], v: &[f64], control: &Control) -> bool {
        let inputs = Inputs { t, q, v, latched: &control.latched };
        self.laws.iter().zip(&control.phase).any(|(law, &phase)| law.over(phase, &inputs))
    }

    /// The next time at which a phase ends by time [s].
    pub fn next_time(&self, control: &Control) -> f64 {
        let ends = self.laws.iter().zip(&control.phase).map(|(law, &phase)| match law.end(phase) {
            Some(Until::Time(end)) => *end,
            _ => f64::INFINITY,
        });
        ends.fold(f64::INFINITY, f64::min)
    }

    /// Advances every law to the phase that is due at this state, latching values as phases start.
    /// A law passes through each of its phases at most once.
    pub fn switch(&self, t: f64, q: &[f64], v: &[f64], control: &mut Control) {
        for (k, law) in self.laws.iter().enumerate() {
            while law.over(control.phase[k], &Inputs { t, q, v, latched: &control.latched }) {
                control.phase[k] += 1;
                Self::latch(&law.phases[control.phase[k] as usize], t, q, v, control);
            }
        }
    }

    /// Adds the force of a law at a state: to `force` (per column) or to the wrenches of the bodies.
    fn add_law(
        law: &LawForce,
        phase: u32,
        inputs: &Inputs,
        tree: &Tree,
        w: &mut TreeScratch,
        force: &mut [f64],
    ) {
        let values = &law.phases[phase as usize].values;
        match law.target {
            Target::Column(c) => force[c as usize] += values[0].at(inputs),
            Target::Body { body, point, in_body } => {
                let value = |k: usize| values.get(k).map_or(0.0, |s| s.at(inputs));
                let mut push = Vec3::new(value(0), value(1), value(2));
                let mut torque = Vec3::new(value(3), value(4), value(5));
                if in_body {
                    let r = tree.rotation(w, body);
                    push = r * push;
                    torque = r * torque;
                }
                let arm = tree.arm(w, body, &point);
                add_wrench(w, body, arm, push, torque);
            }
        }
    }

    /// All forces at a state, after [`Tree::motion`]: joint forces into `force`, wrenches into the scratch.
    pub fn evaluate(
        &self,
        tree: &Tree,
        inputs: &Inputs,
        control: &Control,
        w: &mut TreeScratch,
        force: &mut [f64],
    ) {
        force.fill(0.0);
        let (q, v) = (inputs.q, inputs.v);
        for (c, at, s) in &self.springs {
            let (c, at) = (*c as usize, *at);
            let strain = if at == NONE { 0.0 } else { q[at as usize] - s.rest };
            force[c] -= s.stiffness * strain + s.damping * v[c];
        }
        for (c, at, s) in &self.stops {
            force[*c as usize] += s.force(q[*at as usize], v[*c as usize]).0;
        }
        for element in &self.points {
            let (d, rate, pa, pb) = element.seen(tree, w);
            let (push, _) = element.force(d, rate);
            add_wrench(w, element.b.0, pb, push, Vec3::zeros());
            add_wrench(w, element.a.0, pa, -push, Vec3::zeros());
        }
        for (law, &phase) in self.laws.iter().zip(&control.phase) {
            Self::add_law(law, phase, inputs, tree, w, force);
        }
    }

    /// Energy stored in springs and stops [J], after [`Tree::kinematics`].
    pub fn potential(&self, tree: &Tree, q: &[f64], w: &TreeScratch) -> f64 {
        let mut sum = 0.0;
        for (_, at, s) in &self.springs {
            if *at != NONE {
                let strain = q[*at as usize] - s.rest;
                sum += 0.5 * s.stiffness * strain * strain;
            }
        }
        for (_, at, s) in &self.stops {
            sum += s.force(q[*at as usize], 0.0).1;
        }
        for element in &self.points {
            let pa = tree.arm(w, element.a.0, &element.a.1);
            let pb = tree.arm(w, element.b.0, &element.b.1);
            sum += element.force(pb - pa, Vec3::zeros()).1;
        }
        sum
    }
}

impl PointElement {
    /// Distance vector, relative velocity, and both points relative to the reference point.
    pub(super) fn seen(&self, tree: &Tree, w: &TreeScratch) -> (Vec3, Vec3, Vec3, Vec3) {
        let pa = tree.arm(w, self.a.0, &self.a.1);
        let pb = tree.arm(w, self.b.0, &self.b.1);
        let va = Tree::velocity_at(&tree.twist(w, self.a.0), &pa);
        let vb = Tree::velocity_at(&tree.twist(w, self.b.0), &pb);
        (pb - pa, vb - va, pa, pb)
    }

    /// Current tension [N] and length [m], after [`Tree::motion`].
    pub fn tension(&self, tree: &Tree, w: &TreeScratch) -> (f64, f64) {
        let (d, rate, ..) = self.seen(tree, w);
        let (push, _) = self.force(d, rate);
        let length = d.norm();
        (if length > 0.0 { -push.dot(&d) / length } else { 0.0 }, length)
    }
}

/// Whether a time has been reached, up to the rounding error of a sum of steps.
fn reached(t: f64, end: f64) -> bool {
    t >= end - 1e-12 * end.abs().max(1.0)
}

/// Adds a force at a point (relative to the reference point) and a torque to a body.
pub(super) fn add_wrench(w: &mut TreeScratch, body: u32, arm: Vec3, force: Vec3, torque: Vec3) {
    if body != NONE {
        w.wrench[body as usize] += Spatial { angular: arm.cross(&force) + torque, linear: force };
    }
}

#[cfg(test)]
mod tests;
