//! Smooth motion to high accuracy: Dormand and Prince's embedded pair of orders 5 and 4 with adaptive steps, over the
//! independent velocities and all positions, with the loops closed at every stage.
//!
//! Dependent positions are integrated only to start Newton's method near the right branch; the loops overwrite them.

use super::MotionError;
use super::force::Control;
use super::partition::Partition;
use super::pulse::Pulse;
use super::system::{Multibody, MultibodyScratch, MultibodyState};
use super::tree::{Elementary, NONE, Tree};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const C: [f64; 7] = [0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0];
const A: [[f64; 6]; 7] = [
    [0.0; 6],
    [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
/// Fifth-order weights minus fourth-order ones.
const E: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];
/// Absolute tolerance per unit (1 m, 1 rad, …), as a fraction of the relative tolerance.
const ABSOLUTE: f64 = 1e-3;

/// Position in a step that is far from all stages: between the third (0.3) and the fourth (0.8).
const GAP: f64 = 0.55;
/// Below this conditioning of the loops a singular position may be ahead.
const NEAR: f64 = 0.3;
/// Minimum change of conditioning over a step that passes a singular position. Rounding errors of
/// positions are amplified in accelerations by the cube of its inverse: a shorter step, as a tight
/// tolerance would require, loses more digits than it gains.
const CLEAR: f64 = 5e-2;
/// Below this conditioning, integration continues from an earlier state, farther away, if there is one.
const SAFE: f64 = 4e-3;
/// Relative error allowed in such a step if the tolerance is tighter.
const CROSSING: f64 = 1e-9;

/// Buffers of the integrator.
#[derive(Clone, Debug, Default)]
pub struct SmoothScratch {
    rate_q: [Vec<f64>; 7],
    rate_v: [Vec<f64>; 7],
    q: Vec<f64>,
    v: Vec<f64>,
    /// Observer between inner steps.
    pub pulse: Option<Arc<Pulse>>,
}

/// Data that the integrator carries from one interval to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SmoothHistory {
    /// The next step to try [s]; 0 lets the integrator choose.
    pub dt: f64,
    /// Where to continue from if the state is near a singular position.
    pub anchor: Option<Anchor>,
}

/// A nearby state without amplified rounding errors, from which to continue instead of the one it
/// represents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// Time of the state that it represents [s]; it is not used at other times.
    pub stands_for: f64,
    /// Its own time [s].
    pub t: f64,
    /// Positions of all joints [m, rad].
    pub q: Vec<f64>,
    /// Velocities of all joints [m/s, rad/s].
    pub v: Vec<f64>,
}

/// Summary of an adaptive interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SmoothReport {
    /// Steps that met the tolerance.
    pub steps: u64,
    /// Steps that were rejected and repeated.
    pub rejected: u64,
    /// Largest loop residual after a step [m, –].
    pub loop_residual: f64,
}

/// A step to try.
struct Stride {
    /// Its length [s]; negative when going back.
    h: f64,
    /// The time at which a step must end: that of the interval or of a phase [s].
    target: f64,
    /// Whether it passes a singular position.
    crossing: bool,
}

impl Multibody {
    /// Rate of change of the positions for given velocities.
    fn position_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) {
        for node in &self.tree.nodes {
            let (at, c) = (node.q as usize, node.column as usize);
            match node.joint {
                Elementary::Revolute | Elementary::Prismatic => rate[at] = v[c],
                Elementary::Spherical => {
                    let spin = nalgebra::Quaternion::from_imag(Vec3::new(v[c], v[c + 1], v[c + 2]));
                    let turn = Tree::quaternion(&q[at..at + 4]).into_inner() * spin * 0.5;
                    rate[at..at + 4].copy_from_slice(turn.coords.as_slice());
                }
                Elementary::Fixed => {}
            }
        }
    }

    fn normalize(&self, q: &mut [f64]) {
        for node in self.tree.nodes.iter().filter(|n| n.joint == Elementary::Spherical) {
            let part = &mut q[node.q as usize..node.q as usize + 4];
            let length = part.iter().map(|x| x * x).sum::<f64>().sqrt();
            part.iter_mut().for_each(|x| *x /= length);
        }
    }

    /// Closes the loops at `q`, completes `v` and evaluates the rates of stage `k`.
    #[expect(clippy::too_many_arguments)]
    fn stage(
        &self,
        k: usize,
        t: f64,
        control: &Control,
        partition: &Partition,
        q: &mut [f64],
        v: &mut [f64],
        s: &mut SmoothScratch,
        w: &mut MultibodyScratch,
    ) -> Result<f64, MotionError> {
        self.drive(t, q);
        self.normalize(q);
        let closed = self.close(partition, t, q, w)?;
        self.linearize(partition, t, w)?;
        self.expand(partition, t, v, w);
        self.dynamics((q, v), control, partition, t, None, w)?;
        s.rate_q[k].resize(q.len(), 0.0);
        s.rate_v[k].resize(v.len(), 0.0);
        self.position_rate(q, v, &mut s.rate_q[k]);
        s.rate_v[k].copy_from_slice(w.acceleration());
        Ok(closed.residual)
    }

    /// Advances a state from `t` to `t_end` with steps that keep the estimated relative error of
    /// each below `tolerance`. The history is that of the previous interval, or a new one. On error
    /// the state is unchanged.
    pub fn advance(
        &self,
        state: &mut MultibodyState,
        t: f64,
        t_end: f64,
        tolerance: f64,
        history: &mut SmoothHistory,
        s: &mut SmoothScratch,
        w: &mut MultibodyScratch,
    ) -> Result<SmoothReport, MotionError> {
        let SmoothHistory { dt, anchor } = history;
        let mut now = state.clone();
        let mut t = t;
        let mut report = SmoothReport::default();
        let shortest = 1e-13 * t_end.abs().max(1e-3);
        self.switch_phases(t, &mut now);
        if let Some(Anchor { stands_for, t: then, q, v }) = anchor.clone()
            && stands_for == t
            && (q.len(), v.len()) == (now.q.len(), now.v.len())
            && now.control == state.control
        {
            (t, now.q, now.v) = (then, q, v);
        }
        let mut safe: Option<Anchor> = None;
        let (mut q, mut v) = (std::mem::take(&mut s.q), std::mem::take(&mut s.v));
        let mut fresh = true;
        let mut last_error: Option<MotionError> = None;
        // Time until the loops would be singular, and the rate at which their conditioning falls.
        let mut ahead: Option<(f64, f64)> = None;
        while t != t_end {
            if fresh {
                safe = self.arrive(t, &mut now, s, w)?.or(safe);
                ahead = self.singular_ahead(&now, s, w);
                fresh = false;
            }
            if *dt <= 0.0 || dt.is_nan() {
                *dt = self.first_step(&now, tolerance, t_end - t, s);
            }
            let Stride { h, target, crossing } = self.stride(&now.control, t, t_end, *dt, ahead);
            if h.abs() < shortest && (target - t).abs() > shortest {
                return Err(last_error.unwrap_or(MotionError::StepTooSmall { t, dt: h }));
            }
            if s.pulse.as_ref().is_some_and(|pulse| pulse.beat(t, h)) {
                return Err(MotionError::Interrupted { t });
            }
            let tried = self.try_step(&now, t, h, &mut q, &mut v, s, w);
            let (error, residual) = match tried {
                Ok((error, residual)) => {
                    let tolerance = if crossing { tolerance.max(CROSSING) } else { tolerance };
                    (error / tolerance, residual)
                }
                Err(error) => {
                    last_error = Some(error);
                    (f64::INFINITY, 0.0)
                }
            };
            if error.is_nan() || error > 1.0 {
                report.rejected += 1;
                ahead = None;
                let factor =
                    if error.is_finite() { (0.9 * error.powf(-0.2)).max(0.2) } else { 0.37 };
                *dt = h.abs() * factor;
                continue;
            }
            // A condition became true during the step: advance only to that point.
            let end = if (t + h - target).abs() <= shortest { target } else { t + h };
            let mut control = now.control.clone();
            if self.phase_due(end, &q, &v, &now.control) {
                let by_clock = end >= self.next_phase_time(&now.control) - shortest;
                if !by_clock && h > 1e-9 * (t_end.abs() + 1.0) * tolerance.sqrt().max(1e-4) {
                    report.rejected += 1;
                    *dt = 0.5 * h;
                    continue;
                }
                self.forces.switch(end, &q, &v, &mut control);
                *dt = 0.0;
                safe = None;
            } else if !crossing && (h >= *dt * 0.999 || error > 0.5) {
                *dt = h.abs() * (0.9 * error.max(1e-10).powf(-0.2)).min(5.0);
            }
            now.control = control;
            std::mem::swap(&mut now.q, &mut q);
            std::mem::swap(&mut now.v, &mut v);
            t = end;
            report.steps += 1;
            report.loop_residual = report.loop_residual.max(residual);
            fresh = true;
        }
        s.q = q;
        s.v = v;
        // So close to a singular position, velocities have amplified rounding errors: report them,
        // but continue from the anchor.
        let anchored = safe.filter(|_| w.conditioning() < SAFE);
        *anchor = anchored.map(|anchor| Anchor { stands_for: t_end, ..anchor });
        *state = now;
        Ok(report)
    }

    /// Rates at a state that was just reached; its partition is chosen again if it has become
    /// ill-conditioned. Returns the state as an anchor if no singular position is near.
    fn arrive(
        &self,
        t: f64,
        now: &mut MultibodyState,
        s: &mut SmoothScratch,
        w: &mut MultibodyScratch,
    ) -> Result<Option<Anchor>, MotionError> {
        let MultibodyState { q, v, control, partition, .. } = now;
        self.stage(0, t, control, partition, q, v, s, w)?;
        if self.renew_partition(partition, w) {
            self.stage(0, t, control, partition, q, v, s, w)?;
        }
        let clear = !self.closures.is_empty() && w.conditioning() >= SAFE;
        Ok(clear.then(|| Anchor { stands_for: t, t, q: now.q.clone(), v: now.v.clone() }))
    }

    /// The next step to try, of about `dt`, from `t` towards `t_end`. `ahead` is the result of
    /// [`Multibody::singular_ahead`].
    fn stride(
        &self,
        control: &Control,
        t: f64,
        t_end: f64,
        dt: f64,
        ahead: Option<(f64, f64)>,
    ) -> Stride {
        // A step that ends slightly before a target is extended to it, so that no tiny step
        // remains. (Beyond the end, after stepping over a singular position there, the step goes
        // back.)
        let phase_end = self.next_phase_time(control);
        let target = if phase_end > t { t_end.min(phase_end) } else { t_end };
        let way = target - t;
        let mut h = if way.abs() <= 1.01 * dt { way } else { dt.copysign(way) };
        // A singular position ahead is stepped over so that it falls between the stages, where they leave the widest
        // gap, and so far that rounding does not show; first the step before it ends at the right distance.
        let mut crossing = false;
        if let Some((distance, slope)) = ahead
            && h > 0.0
            && distance < 2.0 * h.max(CLEAR / slope)
            && t + distance < target
        {
            let wanted = dt.max(CLEAR / slope);
            // From nearby it is passed before the first inner stage (0.2) instead.
            let over = distance / if distance < 0.12 * wanted { 0.1 } else { GAP };
            if over <= 1.2 * wanted {
                h = over;
                crossing = phase_end >= t + h;
                if !crossing {
                    h = h.min(target - t);
                }
            } else {
                h = distance - GAP * wanted;
            }
        }
        Stride { h, target, crossing }
    }

    /// Whether the loops become singular if the mechanism continues as it is: time until then [s]
    /// and the rate at which the conditioning falls [1/s]. After stage 0.
    fn singular_ahead(
        &self,
        state: &MultibodyState,
        s: &mut SmoothScratch,
        w: &mut MultibodyScratch,
    ) -> Option<(f64, f64)> {
        let now = w.conditioning();
        if now >= NEAR {
            return None;
        }
        // A small displacement: the fastest joint moves by a fraction of the conditioning.
        let fastest = state.v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        if fastest == 0.0 {
            return None;
        }
        let dt = 0.01 * now / fastest;
        s.q.resize(state.q.len(), 0.0);
        self.tree.integrate(&state.q, &state.v, dt, &mut s.q);
        self.tree.kinematics(&s.q, &mut w.tree);
        let slope = (now - self.conditioning_of(&state.partition, w)) / dt;
        (slope > 0.0).then(|| (now / slope, slope))
    }

    /// A first step from the magnitudes of positions, velocities and accelerations.
    fn first_step(
        &self,
        state: &MultibodyState,
        tolerance: f64,
        span: f64,
        s: &SmoothScratch,
    ) -> f64 {
        let size = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let (v, a) = (size(&state.v), size(&s.rate_v[0]));
        let by_velocity = if v > 0.0 { 1.0 / v } else { f64::INFINITY };
        let by_acceleration = if a > 0.0 { (1.0 / a).sqrt() } else { f64::INFINITY };
        (tolerance.powf(0.2) * by_velocity.min(by_acceleration)).min(span)
    }

    /// One step of length `h` into `q`, `v`; the rates of stage 0 are those at the state. Returns
    /// the relative error and the loop residual.
    #[expect(clippy::too_many_arguments)]
    fn try_step(
        &self,
        from: &MultibodyState,
        t: f64,
        h: f64,
        q: &mut Vec<f64>,
        v: &mut Vec<f64>,
        s: &mut SmoothScratch,
        w: &mut MultibodyScratch,
    ) -> Result<(f64, f64), MotionError> {
        let partition = &from.partition;
        let mut residual = 0.0;
        for k in 1..7 {
            q.clone_from(&from.q);
            v.clone_from(&from.v);
            for (a, (rate_q, rate_v)) in A[k].iter().zip(s.rate_q.iter().zip(&s.rate_v)).take(k) {
                if *a != 0.0 {
                    q.iter_mut().zip(rate_q).for_each(|(q, r)| *q += h * a * r);
                    v.iter_mut().zip(rate_v).for_each(|(v, r)| *v += h * a * r);
                }
            }
            residual = self.stage(k, t + C[k] * h, &from.control, partition, q, v, s, w)?;
        }
        // The last stage is the fifth-order result.
        let mut worst = 0.0;
        let mut judge = |rates: &[Vec<f64>; 7], i: usize, size: f64| {
            let error: f64 = E.iter().zip(rates).map(|(e, rate)| e * rate[i]).sum::<f64>() * h;
            let share = error.abs() / (ABSOLUTE + size);
            if share.is_nan() || share > worst {
                worst = share;
            }
        };
        for &c in &partition.independent {
            let c = c as usize;
            judge(&s.rate_v, c, from.v[c].abs().max(v[c].abs()));
            let at = self.tree.columns[c].q;
            if at != NONE {
                let at = at as usize;
                judge(&s.rate_q, at, from.q[at].abs().max(q[at].abs()));
            } else {
                let first = self.tree.nodes[self.tree.columns[c].body as usize].q as usize;
                (first..first + 4).for_each(|at| judge(&s.rate_q, at, 1.0));
            }
        }
        Ok((worst, residual))
    }
}

#[cfg(test)]
mod tests;
