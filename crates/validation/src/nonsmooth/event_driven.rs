//! Event-driven motion of a [`Planar`] body: the reference for any parameters of the scenes.
//!
//! Between events `M v̇ = f + Gᵀ λ` holds with the pivot and the set of persistent contacts constrained at acceleration level. It is
//! integrated by the classical Runge–Kutta method in short legs, after which positions and velocities are projected onto the
//! constraints. An event is a gap that closes or a contact force that vanishes; its time is found by bisection of the leg. An impact
//! obeys Newton's law for all closed contacts at once; the complementarity problem is solved by enumeration. Nothing here uses the
//! time stepping of riprap.

use nalgebra::{DMatrix, DVector, Matrix3, Matrix3xX};

use super::planar::{Planar, Q};

/// Gap below which a contact is closed at an event [m].
const GAP: f64 = 1e-12;
/// Speed below which a closed contact is at rest [m/s]: its bounce would be as low as the round-off of positions.
const REST: f64 = 1e-7;
/// Approach speed below which the restitution is taken as zero, which ends an accumulation of impacts [m/s]. The bounces left out
/// are lower than 1e-12 m.
const LAST_BOUNCE: f64 = 2e-6;

/// An impact.
#[derive(Clone, Debug, PartialEq)]
pub struct Impact {
    /// Time [s].
    pub t: f64,
    /// Rate of the gap before it, of the contact that closes [m/s].
    pub speed: f64,
    /// Sum of the impulses [N s].
    pub impulse: f64,
}

/// A motion at given times.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    /// Times [s].
    pub t: Vec<f64>,
    /// Coordinates [m, rad].
    pub q: Vec<Q>,
    /// Velocities after any impact at the same time [m/s, rad/s].
    pub v: Vec<Q>,
    /// Forces of the persistent contacts [N], one per contact.
    pub force: Vec<Vec<f64>>,
    /// Force of the pivot on the body [N].
    pub pivot: Vec<[f64; 2]>,
    /// The impacts in order.
    pub impacts: Vec<Impact>,
}

/// Position, velocity and the contacts that persist.
struct Body<'a> {
    system: &'a Planar,
    t: f64,
    q: Q,
    v: Q,
    held: Vec<usize>,
    /// Whether a contact has been open since it last closed; only then can it close again.
    armed: Vec<bool>,
}

/// The motion of a body at given times [s], in increasing order, with legs of a given length [s].
pub fn motion(system: &Planar, times: &[f64], leg: f64) -> Motion {
    let [q, v] = system.start;
    let armed = vec![true; system.contacts.len()];
    let mut body = Body { system, t: 0.0, q, v, held: Vec::new(), armed };
    let mut out = Motion::default();
    for &t in times {
        while body.t < t {
            body.leg((t - body.t).min(leg), t, &mut out.impacts);
        }
        out.t.push(t);
        out.q.push(body.q);
        out.v.push(body.v);
        let (acceleration, held) = body.acceleration(&body.q, &body.v);
        let mut force = vec![0.0; system.contacts.len()];
        let mut pivot = acceleration.xy() * system.mass[0] - system.force.xy();
        for (&k, f) in body.held.iter().zip(&held) {
            force[k] = *f;
            pivot -= system.contacts[k].normal * *f;
        }
        out.pivot.push(pivot.into());
        out.force.push(force);
    }
    out
}

impl Body<'_> {
    /// The acceleration and the forces of the persistent contacts.
    fn acceleration(&self, q: &Q, v: &Q) -> (Q, Vec<f64>) {
        let s = self.system;
        let (inverse, free) = reduced(s, q, v);
        if self.held.is_empty() {
            return (free, Vec::new());
        }
        let g = gradients(s, q, &self.held);
        let drift = DVector::from_iterator(
            self.held.len(),
            self.held.iter().map(|&k| s.curvature(k, q, v) + (s.gradient(k, q) * free).x),
        );
        let force = -solve(&(g.transpose() * inverse * &g), &drift);
        (free + inverse * g * &force, force.iter().copied().collect())
    }

    /// Position and velocity after a Runge–Kutta step of length `h` [s].
    fn ahead(&self, h: f64) -> [Q; 2] {
        let rate = |q: Q, v: Q| [v, self.acceleration(&q, &v).0];
        let (q, v) = (self.q, self.v);
        let k1 = rate(q, v);
        let k2 = rate(q + k1[0] * (0.5 * h), v + k1[1] * (0.5 * h));
        let k3 = rate(q + k2[0] * (0.5 * h), v + k2[1] * (0.5 * h));
        let k4 = rate(q + k3[0] * h, v + k3[1] * h);
        let mean = |i: usize| (k1[i] + (k2[i] + k3[i]) * 2.0 + k4[i]) * (h / 6.0);
        [q + mean(0), v + mean(1)]
    }

    /// Advances by a leg of at most `h` [s], or to the first event in it. A leg that ends within round-off of `end` ends there.
    fn leg(&mut self, mut h: f64, end: f64, impacts: &mut Vec<Impact>) {
        let s = self.system;
        let n = s.contacts.len();
        let (acceleration, _) = self.acceleration(&self.q, &self.v);
        // A contact that was just left must be seen open: the leg ends in the middle of a small bounce.
        for k in (0..n).filter(|k| !self.armed[*k] && !self.held.contains(k)) {
            let speed = s.gap_rate(k, &self.q, &self.v);
            let bend = (s.gradient(k, &self.q) * acceleration).x + s.curvature(k, &self.q, &self.v);
            if speed > REST && bend < 0.0 {
                h = h.min(-0.8 * speed / bend);
            }
        }
        let [q, v] = self.ahead(h);
        let mut first: Option<f64> = None;
        for k in 0..n {
            let root = match self.held.iter().position(|&held| held == k) {
                Some(i) => {
                    let force = |[q, v]: [Q; 2]| self.acceleration(&q, &v).1[i];
                    (force([q, v]) < 0.0).then(|| self.root(h, force))
                }
                None if self.armed[k] => self.closing(k, h, [q, v]),
                None => None,
            };
            first = root.into_iter().chain(first).min_by(f64::total_cmp);
        }
        let [q, v] = first.map_or([q, v], |h| self.ahead(h));
        let t = self.t + first.unwrap_or(h);
        self.t = if first.is_none() && (end - t).abs() < 1e-15 { end } else { t };
        (self.q, self.v) = (q, v);
        self.project();
        for k in 0..n {
            self.armed[k] |= s.gap(k, &self.q) > 0.0;
        }
        if first.is_some() {
            self.event(impacts);
        }
    }

    /// When a gap closes within a leg, if it does: also when it is open again at its end.
    fn closing(&self, k: usize, h: f64, [q, v]: [Q; 2]) -> Option<f64> {
        let s = self.system;
        let gap = |[q, _]: [Q; 2]| s.gap(k, &q);
        let mut until = h;
        if gap([q, v]) > 0.0 {
            let rate = |[q, v]: [Q; 2]| s.gap_rate(k, &q, &v);
            if rate([self.q, self.v]) >= 0.0 || rate([q, v]) <= 0.0 {
                return None;
            }
            until = self.root(h, |at| -rate(at));
            if gap(self.ahead(until)) > 0.0 {
                return None;
            }
        }
        Some(self.root(until, gap))
    }

    /// First sign change of a function that is positive at the start of a leg and not at its end `h` [s].
    fn root(&self, h: f64, f: impl Fn([Q; 2]) -> f64) -> f64 {
        let (mut low, mut high) = (0.0, h);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            *(if f(self.ahead(middle)) > 0.0 { &mut low } else { &mut high }) = middle;
        }
        high
    }

    /// Projects position and velocity onto the pivot and the persistent contacts, in the metric of the mass.
    fn project(&mut self) {
        let s = self.system;
        if self.held.is_empty() && s.pivot.is_none() {
            return;
        }
        for pass in 0..3 {
            let (g, errors) = self.constraints(pass == 2);
            let inverse = s.inverse_mass();
            let lambda = solve(&(g.transpose() * inverse * &g), &errors);
            *(if pass == 2 { &mut self.v } else { &mut self.q }) -= inverse * g * lambda;
        }
    }

    /// Columns `gᵀ` of the pivot and the persistent contacts, and their errors at position or velocity level.
    fn constraints(&self, velocity: bool) -> (Matrix3xX<f64>, DVector<f64>) {
        let (s, q, v) = (self.system, &self.q, &self.v);
        let (mut columns, mut errors) = (Vec::new(), Vec::new());
        if let Some(rows) = s.pivot_gradient(q) {
            let error = if velocity { rows * v } else { s.pivot_error(q) };
            columns.extend(rows.row_iter().map(|row| row.transpose()));
            errors.extend(error.iter());
        }
        for &k in &self.held {
            columns.push(s.gradient(k, q).transpose());
            errors.push(if velocity { s.gap_rate(k, q, v) } else { s.gap(k, q) });
        }
        (Matrix3xX::from_columns(&columns), DVector::from_vec(errors))
    }

    /// Impacts at the closed contacts, then the set of contacts that persist.
    fn event(&mut self, impacts: &mut Vec<Impact>) {
        let s = self.system;
        let rate = |k: usize, v: &Q| s.gap_rate(k, &self.q, v);
        let closed: Vec<usize> = (0..s.contacts.len())
            .filter(|&k| self.held.contains(&k) || s.gap(k, &self.q) < GAP)
            .collect();
        let (inverse, free) = reduced(s, &self.q, &self.v);
        let g = gradients(s, &self.q, &closed);
        let w = g.transpose() * inverse * &g;
        // With unequal speeds and restitution, one contact can drive another back onto the plane.
        for _ in 0..100 {
            let speeds: Vec<f64> = closed.iter().map(|&k| rate(k, &self.v)).collect();
            let slowest = speeds.iter().fold(0.0_f64, |m, u| m.min(*u));
            if slowest > -REST {
                break;
            }
            let after = closed.iter().zip(&speeds).map(|(&k, u)| {
                let e = if u.abs() < LAST_BOUNCE { 0.0 } else { s.contacts[k].restitution };
                (1.0 + e) * u
            });
            let impulses = complementarity(&w, &DVector::from_iterator(closed.len(), after));
            self.v += inverse * &g * &impulses;
            impacts.push(Impact { t: self.t, speed: slowest, impulse: impulses.sum() });
        }
        let resting: Vec<usize> =
            closed.iter().copied().filter(|&k| rate(k, &self.v).abs() < REST).collect();
        let g = gradients(s, &self.q, &resting);
        let bend = resting
            .iter()
            .map(|&k| (s.gradient(k, &self.q) * free).x + s.curvature(k, &self.q, &self.v));
        let bend = DVector::from_iterator(resting.len(), bend);
        let forces = complementarity(&(g.transpose() * inverse * &g), &bend);
        let stays = |(_, f): &(&usize, &f64)| **f > 1e-9 * (1.0 + s.force.norm());
        self.held = resting.iter().zip(&forces).filter(stays).map(|(k, _)| *k).collect();
        for k in closed {
            self.armed[k] = false;
        }
        self.project();
    }
}

/// Columns `g_qᵀ` of contacts.
fn gradients(s: &Planar, q: &Q, contacts: &[usize]) -> Matrix3xX<f64> {
    let columns: Vec<Q> = contacts.iter().map(|&k| s.gradient(k, q).transpose()).collect();
    if columns.is_empty() { Matrix3xX::zeros(0) } else { Matrix3xX::from_columns(&columns) }
}

/// The inverse mass and the acceleration without contacts, both with the pivot constrained.
fn reduced(s: &Planar, q: &Q, v: &Q) -> (Matrix3<f64>, Q) {
    let inverse = s.inverse_mass();
    let Some(b) = s.pivot_gradient(q) else {
        return (inverse, inverse * s.force);
    };
    let spread = inverse * b.transpose();
    let middle = (b * spread).try_inverse().expect("a pivot has two independent equations");
    let inverse = inverse - spread * middle * spread.transpose();
    (inverse, inverse * s.force - spread * middle * s.pivot_curvature(q, v))
}

fn solve(a: &DMatrix<f64>, b: &DVector<f64>) -> DVector<f64> {
    a.clone().lu().solve(b).expect("the constraints are independent")
}

/// `z ≥ 0`, `W z + r ≥ 0`, complementary: by enumeration of the active sets, the one with the smallest violation.
fn complementarity(w: &DMatrix<f64>, r: &DVector<f64>) -> DVector<f64> {
    let n = r.len();
    let mut best = (f64::INFINITY, DVector::zeros(n));
    for set in 0..1_u32 << n {
        let active: Vec<usize> = (0..n).filter(|k| set >> k & 1 == 1).collect();
        let mut z = DVector::zeros(n);
        if !active.is_empty() {
            let part = w.select_rows(&active).select_columns(&active);
            let Some(solution) = part.lu().solve(&-r.select_rows(&active)) else { continue };
            active.iter().zip(&solution).for_each(|(&k, x)| z[k] = *x);
        }
        let mut rest = w * &z + r;
        active.iter().for_each(|&k| rest[k] = 0.0);
        let scale = w.amax();
        let violation = z.iter().map(|x| -x * scale).chain(rest.iter().map(|x| -x));
        let violation = violation.fold(0.0, f64::max);
        if violation < best.0 - 1e-12 * r.amax() {
            best = (violation, z);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::super::{BALL, PENDULUM, ROCKING_BLOCK, reference, scene_of};
    use super::*;

    fn planar(text: &str) -> Planar {
        Planar::of(&scene_of(text).unwrap()).unwrap()
    }

    #[test]
    fn a_bouncing_ball_moves_as_the_closed_form_says() {
        let ball = planar(BALL);
        let times: Vec<f64> = (1..=200).map(|k| 0.02 * f64::from(k)).collect();
        let motion = motion(&ball, &times, 5e-3);
        for (t, q) in times.iter().zip(&motion.q) {
            // The closed form includes the bounces that are left out, below 1e-12 m.
            let error = ball.gap(0, q) - super::super::ball_gap(&ball, *t);
            assert!(error.abs() < 1e-11, "{error:.1e} m at {t} s");
        }
        assert_eq!(motion.force.last().unwrap(), &[10.0]);
        let last = motion.impacts.last().unwrap().t;
        assert!((last - super::super::ball_accumulation(&ball)).abs() < 1e-5, "{last}");
    }

    #[test]
    fn the_pendulum_agrees_with_its_stored_reference() {
        let pendulum = planar(PENDULUM);
        let stored = reference::pendulum();
        let times: Vec<f64> = stored.iter().map(|row| row[0]).collect();
        let motion = motion(&pendulum, &times, 1e-3);
        for (row, (q, v)) in stored.iter().zip(motion.q.iter().zip(&motion.v)) {
            let [angle, speed] = [q.z - row[1], v.z - row[2]];
            // The reference has twelve digits and ends its accumulation at another bounce.
            assert!(angle.abs() < 1e-10 && speed.abs() < 1e-5, "{angle:.1e} {speed:.1e} {row:?}");
        }
        let impacts = reference::impacts_of_the_pendulum();
        for (ours, [t, speed, impulse]) in motion.impacts.iter().zip(&impacts).take(40) {
            assert!((ours.t - t).abs() < 1e-11 && (ours.speed - speed).abs() < 1e-10, "{ours:?}");
            assert!((ours.impulse - impulse).abs() < 1e-9, "{ours:?} {impulse}");
        }
        // At rest the obstacle carries 10 N, and the pivot balances it and the weight.
        let ([contact], [x, y]) = (&motion.force.last().unwrap()[..], motion.pivot.last().unwrap())
        else {
            panic!("one contact");
        };
        assert!((contact - 10.0).abs() < 1e-9 && (x + 10.0).abs() < 1e-9, "{contact} {x}");
        assert!((y - 10.0).abs() < 1e-9, "{y}");
    }

    #[test]
    fn the_rocking_block_agrees_with_its_stored_reference() {
        let block = planar(ROCKING_BLOCK);
        let stored = reference::rocking_block();
        let times: Vec<f64> = stored.iter().map(|row| row[0]).collect();
        let motion = motion(&block, &times, 1e-3);
        for (row, q) in stored.iter().zip(&motion.q) {
            let [y, angle] = [q.y - row[1], q.z - row[2]];
            assert!(y.abs() < 1e-9 && angle.abs() < 1e-9, "{y:.1e} {angle:.1e} {row:?}");
        }
    }

    #[test]
    fn complementarity_prefers_the_set_without_violation() {
        let w = DMatrix::from_row_slice(2, 2, &[2.0, -1.0, -1.0, 2.0]);
        let z = complementarity(&w, &DVector::from_vec(vec![-1.0, 3.0]));
        assert!((z - DVector::from_vec(vec![0.5, 0.0])).norm() < 1e-15);
    }
}
