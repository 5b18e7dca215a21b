//! Part 5: the equations of motion by the classical Runge–Kutta method; forces follow from the geometry at each stage.

use super::RigidEvents;
use super::forces::{Bodies, Equations, Row, Unsolved, geometry_row};
use super::touch::Touch;
use crate::friction::Scratch;
use crate::math::{Mat3, Pose, Vec3};
use crate::scene::{HeldClass, Motion, Scene, Twist};
use crate::scheme::runge_kutta::{
    Load, Moving, TIMES, WEIGHTS, acceleration, inverse_inertia, law_loads,
};

/// Buffers of the integration.
#[derive(Default)]
pub struct Stages {
    moving: [Vec<Moving>; 4],
    rates: [Vec<Moving>; 4],
    poses: Vec<Pose>,
    twists: Vec<Twist>,
    pub inverse_inertia: Vec<Mat3>,
    free: Vec<Twist>,
    loads: Vec<Load>,
    pub rows: Vec<Row>,
    /// Forces of the contacts on the second body at each stage [N], in the world frame, and the power of friction [W].
    forces: [Vec<Vec3>; 4],
    power: [f64; 4],
    /// Impulses of the contacts over the trial step [N s].
    pub impulses: Vec<Vec3>,
    /// Work of friction over the trial step [J].
    pub rubbed: f64,
    /// The last stage that was evaluated.
    pub stage: usize,
    /// Forces and classes of the contacts at the first stage, the start of the step, if it was evaluated: trial steps of
    /// other lengths have the same.
    first: Option<Vec<([f64; 3], HeldClass)>>,
}

impl Stages {
    /// Forgets the first stage: velocities or contacts at the start have changed.
    pub fn restart(&mut self) {
        self.first = None;
    }
}

/// A step of the integration.
pub struct Leg<'a> {
    pub scheme: &'a RigidEvents,
    pub scene: &'a Scene,
    /// Start [s] and length [s].
    pub t: f64,
    pub h: f64,
}

impl Leg<'_> {
    /// Integrates from `q`, `v` to `q_next`, `v_next`. The contacts that are held stay in contact or break.
    pub fn integrate(
        &self,
        (q, v): (&[Pose], &[Twist]),
        touches: &mut [Touch],
        stages: &mut Stages,
        equations: &mut Equations,
        scratch: &mut Scratch,
        (q_next, v_next): (&mut Vec<Pose>, &mut Vec<Twist>),
    ) -> Result<(), Unsolved> {
        let Leg { scene, t, h, .. } = *self;
        let first = stages.first.take();
        if let Some(first) = &first {
            for (touch, (force, class)) in touches.iter_mut().zip(first) {
                (touch.force, touch.class) = (*force, *class);
            }
        }
        for s in usize::from(first.is_some())..4 {
            stages.stage = s;
            let (at, last) = (TIMES[s] * h, s.checked_sub(1));
            let mut moving = std::mem::take(&mut stages.moving[s]);
            moving.clear();
            moving.extend((0..q.len()).map(|i| {
                let start = Moving::of(&q[i], &v[i]);
                last.map_or(start, |last| start.plus(at, &stages.rates[last][i]))
            }));
            for (m, motion) in moving.iter_mut().zip(&scene.bodies().motion) {
                if let Some(motion) = motion {
                    drive(motion, t + at, self.scheme.dt, m);
                }
            }
            stages.moving[s] = moving;
            self.evaluate(s, touches, stages, equations, scratch)?;
            if s == 0 {
                stages.first = Some(touches.iter().map(|t| (t.force, t.class)).collect());
            }
        }
        stages.first = first.or(stages.first.take());
        stages.impulses.clear();
        stages.impulses.extend((0..touches.len()).map(|k| {
            let sum = |sum: Vec3, s: usize| sum + stages.forces[s][k] * (WEIGHTS[s] * h);
            (0..4).fold(Vec3::zeros(), sum)
        }));
        stages.rubbed = (0..4).map(|s| -WEIGHTS[s] * h * stages.power[s]).sum();
        q_next.clear();
        v_next.clear();
        for i in 0..q.len() {
            let start = Moving::of(&q[i], &v[i]);
            let sum = |m: Moving, s: usize| m.plus(WEIGHTS[s] * h, &stages.rates[s][i]);
            let end = (0..4).fold(start, sum);
            // A body that does not rotate keeps its rotation to the last bit.
            let still = (0..4).all(|s| stages.rates[s][i].rotation == [0.0; 4]);
            let pose = end.pose();
            q_next.push(if still { Pose { rotation: q[i].rotation, ..pose } } else { pose });
            v_next.push(end.twist());
        }
        follow(scene, t + h, self.scheme.dt, q_next, v_next);
        Ok(())
    }

    /// Rates of all bodies at a stage.
    fn evaluate(
        &self,
        s: usize,
        touches: &mut [Touch],
        stages: &mut Stages,
        equations: &mut Equations,
        scratch: &mut Scratch,
    ) -> Result<(), Unsolved> {
        let Leg { scheme, scene, t, h } = *self;
        let Stages {
            moving,
            rates,
            poses,
            twists,
            inverse_inertia: inverse,
            free,
            loads,
            rows,
            ..
        } = stages;
        let (moving, rates) = (&moving[s], &mut rates[s]);
        poses.clear();
        poses.extend(moving.iter().map(Moving::pose));
        twists.clear();
        twists.extend(moving.iter().map(Moving::twist));
        inertias(scene, poses, inverse);
        law_loads(scene, t + TIMES[s] * h, poses, twists, loads);
        free.clear();
        free.extend((0..poses.len()).map(|i| match &scene.bodies().motion[i] {
            Some(motion) => driven(motion, t + TIMES[s] * h, scheme.dt),
            None => {
                let load = |i: usize| loads.get(i).copied().unwrap_or_default();
                let turned = (&poses[i].rotation, &inverse[i]);
                acceleration(scene, i, turned, &twists[i], &load(i))
            }
        }));
        rows.clear();
        rows.extend(touches.iter().map(|touch| geometry_row(touch, (poses, twists), free)));
        let bodies = Bodies { scene, inverse_inertia: inverse };
        for island in 0..equations.islands.len {
            equations.solve(scheme, &bodies, island, rows, touches, scratch)?;
            equations.add_to(free);
        }
        stages.forces[s].clear();
        stages.power[s] = 0.0;
        for (k, touch) in touches.iter().enumerate() {
            let ([n, t1, t2], f) = (rows[k].frame, touch.force);
            if !touch.held {
                stages.forces[s].push(Vec3::zeros());
                continue;
            }
            let rub = t1 * f[1] + t2 * f[2];
            stages.forces[s].push(n * f[0] + rub);
            let slip = touch.velocity(&touch.at(poses, twists), poses, twists);
            stages.power[s] += rub.dot(&slip);
        }
        rates.clear();
        rates.extend(moving.iter().zip(free).map(|(m, a)| Moving {
            linear: a.linear,
            angular: a.angular,
            ..m.drift()
        }));
        Ok(())
    }
}

/// Inverse inertias of all bodies at given poses.
pub fn inertias(scene: &Scene, q: &[Pose], out: &mut Vec<Mat3>) {
    out.clear();
    out.extend((0..q.len()).map(|i| inverse_inertia(scene, i, &q[i].rotation)));
}

/// Five-point differences of a function of time with spacing `e` [s]: first and second derivative.
fn differences(f: impl Fn(f64) -> Vec3, t: f64, e: f64) -> [Vec3; 2] {
    let [a, b, c, d, z] = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|k| f(t + k * e));
    let first = ((a - z) + (d - b) * 8.0) / (12.0 * e);
    let second = ((b + d) * 16.0 - (a + z) - c * 30.0) / (12.0 * e * e);
    [first, second]
}

/// Spacing of differences relative to the longest step [–].
const SPACING: f64 = 0.1;

/// Acceleration of a driven body [m/s², rad/s²].
fn driven(motion: &Motion, t: f64, dt: f64) -> Twist {
    let e = SPACING * dt;
    match motion {
        Motion::Velocity { linear, angular } => Twist {
            linear: differences(|t| linear.at(t), t, e)[0],
            angular: differences(|t| angular.at(t), t, e)[0],
        },
        Motion::Position { linear, angular } => Twist {
            linear: differences(|t| linear.at(t), t, e)[1],
            angular: differences(|t| angular.at(t), t, e)[0],
        },
    }
}

/// Velocity, and position where it is given, of a driven body at a time [s].
fn drive(motion: &Motion, t: f64, dt: f64, m: &mut Moving) {
    match motion {
        Motion::Velocity { linear, angular } => {
            (m.linear, m.angular) = (linear.at(t), angular.at(t));
        }
        Motion::Position { linear, angular } => {
            m.linear = differences(|t| linear.at(t), t, SPACING * dt)[0];
            (m.position, m.angular) = (linear.at(t), angular.at(t));
        }
    }
}

/// Velocities, and positions where they are given, of all driven bodies at a time [s].
pub fn follow(scene: &Scene, t: f64, dt: f64, q: &mut [Pose], v: &mut [Twist]) {
    for (i, motion) in scene.bodies().motion.iter().enumerate() {
        if let Some(motion) = motion {
            let mut m = Moving::of(&q[i], &v[i]);
            drive(motion, t, dt, &mut m);
            (q[i].position, v[i]) = (m.position, m.twist());
        }
    }
}
