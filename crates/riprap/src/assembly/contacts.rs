//! From detected points to the contact problem: which are active under their law, their frames, `H`, `V_free`,
//! and the impulses to start from.

use super::Dynamics;
use crate::detect::{ContactPoint, Detector, Query};
use crate::friction::{ContactProblem, Delassus, Impulses};
use crate::math::{Pose, Vec3, tangents};
use crate::scene::{ContactLaw, Scene, State, Twist, WarmContact};

/// A contact that takes part in the contact problem.
#[derive(Clone, Copy, Debug)]
pub struct ActiveContact {
    /// Where and between whom.
    pub point: ContactPoint,
    /// Indices of the two bodies.
    pub bodies: [u32; 2],
    /// Rows n, t1, t2 in the world frame.
    pub frame: [Vec3; 3],
}

/// The contacts of one step and their buffers.
#[derive(Debug, Default)]
pub struct Contacts {
    detector: Detector,
    reach: Vec<f64>,
    motion: Vec<Twist>,
    active: Vec<ActiveContact>,
    deepest: f64,
}

/// Round-off must not decide whether a touching contact counts as closed: gaps below this share of the smaller
/// body's size do.
const CLOSED: f64 = 1e-9;

impl Contacts {
    /// Finds the contact points at `q_m`. Contacts are sought there, not at `q_n`: the scheme enforces
    /// `V_{n+1}` for the contacts active at `q_m`.
    pub fn detect(&mut self, scene: &Scene, q_m: &[Pose], v_free: &[Twist], dt: f64) {
        let bodies = scene.bodies();
        self.reach.clear();
        self.reach.extend((0..bodies.len()).map(|i| {
            let v = &v_free[i];
            let radius = if bodies.radius[i].is_finite() { bodies.radius[i] } else { 0.0 };
            dt * (v.linear.norm() + v.angular.norm() * radius)
        }));
        self.motion.clear();
        self.motion.extend(
            v_free.iter().map(|v| Twist { linear: v.linear * dt, angular: v.angular * dt }),
        );
        let detection = scene.detection();
        self.detector.detect(&Query {
            colliders: scene.colliders(),
            bodies: q_m,
            reach: &self.reach,
            motion: &self.motion,
            alert: detection.alert,
            skin: detection.skin,
            method: detection.method,
        });
    }

    /// Fills the contact problem: `W` in factored form, `V_free` with the shifts of the contact laws, friction.
    pub fn assemble(
        &mut self,
        scene: &Scene,
        dynamics: &Dynamics,
        q_m: &[Pose],
        v_n: &[Twist],
        dt: f64,
        problem: &mut ContactProblem,
    ) {
        if !matches!(problem.w, Delassus::Factored(_)) {
            problem.w = Delassus::default();
        }
        let Delassus::Factored(w) = &mut problem.w else { unreachable!("set just above") };
        w.reset(dynamics.inverse_masses(scene));
        problem.v_rel_free.clear();
        problem.friction.clear();
        problem.approach_scale = dt / scene.grain_size();
        self.active.clear();
        self.deepest = 0.0;

        let v_free = dynamics.free_velocity();
        for point in self.detector.points() {
            let [a, b] = point.colliders.map(|c| &scene.colliders()[c as usize]);
            let (i, j) = (a.body as usize, b.body as usize);
            let law = scene.pairs.law(a.material, b.material);
            self.deepest = self.deepest.min(point.gap);
            let size = smaller_size(scene, i, j);
            if law.law == ContactLaw::MoreauNewton && point.gap > CLOSED * size {
                continue;
            }
            let (t1, t2) = tangents(point.normal);
            let frame = [point.normal, t1, t2];
            let arms = [point.point - q_m[i].position, point.point - q_m[j].position];
            let relative = |v: &[Twist]| {
                v[j].linear + v[j].angular.cross(&arms[1])
                    - v[i].linear
                    - v[i].angular.cross(&arms[0])
            };
            let v_rel = relative(v_free);
            let shift = match law.law {
                ContactLaw::MoreauNewton if law.restitution == 0.0 => 0.0,
                // Eq. (6) to the letter, also where V_n⁻ > 0.
                ContactLaw::MoreauNewton => law.restitution * point.normal.dot(&relative(v_n)),
                ContactLaw::QuasiShock => quasi_shock_gap(point.gap, size) / dt,
            };
            let blocks = [dynamics.block[i], dynamics.block[j]];
            w.push(blocks, frame.map(Into::into), arms.map(Into::into));
            problem.v_rel_free.push([frame[0].dot(&v_rel) + shift, t1.dot(&v_rel), t2.dot(&v_rel)]);
            problem.friction.push(law.friction);
            self.active.push(ActiveContact { point: *point, bodies: [a.body, b.body], frame });
        }
    }

    /// Starts from the impulses of the last step, turned into the new frames: by feature where it is still
    /// there, else by the nearest point of the same pair.
    pub fn recall(&self, scene: &Scene, q_m: &[Pose], state: &State, impulses: &mut Impulses) {
        impulses.clear();
        impulses.resize(self.active.len(), [0.0; 3]);
        let old = &state.warm_start;
        let near = 0.05 * scene.grain_size();
        let (mut k, mut first) = (0, 0);
        while k < self.active.len() {
            let colliders = self.active[k].point.colliders;
            let end = k + run_length(&self.active[k..], |c| c.point.colliders == colliders);
            while first < old.len() && old[first].colliders < colliders {
                first += 1;
            }
            let last = first + run_length(&old[first..], |c| c.colliders == colliders);
            recall_pair(&self.active[k..end], &old[first..last], q_m, near, &mut impulses[k..end]);
            k = end;
        }
    }

    /// Remembers the impulses for the next step.
    pub fn remember(&self, q_m: &[Pose], impulses: &Impulses, warm: &mut Vec<WarmContact>) {
        warm.clear();
        warm.extend(self.active.iter().zip(impulses).map(|(c, r)| WarmContact {
            colliders: c.point.colliders,
            feature: c.point.feature,
            point_b: local(c, q_m).into(),
            impulse_w: (c.frame[0] * r[0] + c.frame[1] * r[1] + c.frame[2] * r[2]).into(),
        }));
    }

    /// The contacts of the contact problem, in its order.
    pub fn active(&self) -> &[ActiveContact] {
        &self.active
    }

    /// Deepest overlap found by the last detection, as a positive length [m].
    pub fn penetration(&self) -> f64 {
        0.0 - self.deepest
    }

    /// The detector, for its statistics.
    pub fn detector(&self) -> &Detector {
        &self.detector
    }
}

/// Size of the smaller of two bodies, of which one at least is movable [m].
fn smaller_size(scene: &Scene, i: usize, j: usize) -> f64 {
    let bodies = scene.bodies();
    let size = |k: usize| if bodies.size[k] > 0.0 { bodies.size[k] } else { f64::INFINITY };
    size(i).min(size(j))
}

/// The gap of the quasi-shock law: `max(gap, 0)`. Gaps and overlaps within a ten-millionth of the smaller body's size are what
/// solver tolerances leave behind; they are closed gently, a tenth of them a step, from both sides. Without this
/// feedback towers bend, step by step, by the sum of all solver errors.
fn quasi_shock_gap(gap: f64, size: f64) -> f64 {
    if gap.abs() <= 1e-7 * size { 0.1 * gap } else { gap.max(0.0) }
}

fn run_length<T>(items: &[T], same: impl Fn(&T) -> bool) -> usize {
    items.iter().take_while(|x| same(x)).count()
}

/// The contact point in the frame of the first body.
fn local(c: &ActiveContact, q_m: &[Pose]) -> Vec3 {
    q_m[c.bodies[0] as usize].inverse_point(c.point.point)
}

/// Matches the points of one pair of colliders (at most four on either side).
fn recall_pair(
    new: &[ActiveContact],
    old: &[WarmContact],
    q_m: &[Pose],
    near: f64,
    impulses: &mut [[f64; 3]],
) {
    let (mut used, mut found) = ([false; 4], [false; 4]);
    for (k, c) in new.iter().enumerate().take(4) {
        let same = |w: &WarmContact| w.feature == c.point.feature;
        if let Some(o) = old.iter().take(4).position(same) {
            (used[o], found[k]) = (true, true);
            impulses[k] = turned(&old[o], c);
        }
    }
    for (k, c) in new.iter().enumerate().take(4).filter(|(k, _)| !found[*k]) {
        let at = local(c, q_m);
        let mut best = (near, None);
        for (o, w) in old.iter().enumerate().take(4) {
            let d = (Vec3::from(w.point_b) - at).norm();
            if !used[o] && d < best.0 {
                best = (d, Some(o));
            }
        }
        if let (_, Some(o)) = best {
            used[o] = true;
            impulses[k] = turned(&old[o], c);
        }
    }
}

/// A remembered impulse in the frame of a contact.
fn turned(old: &WarmContact, c: &ActiveContact) -> [f64; 3] {
    let p = Vec3::from(old.impulse_w);
    [c.frame[0].dot(&p).max(0.0), c.frame[1].dot(&p), c.frame[2].dot(&p)]
}
