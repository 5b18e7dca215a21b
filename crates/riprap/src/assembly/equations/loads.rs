//! Forces and torques given by laws of time and state, in the residual of a free body. Tangents are differences with respect to
//! the position and velocity of that body; those with respect to other bodies are left out, so that `K` and `C` keep their
//! groups, and Newton's iteration converges linearly in them.

use crate::math::{Pose, Twist, Vec3, turn};
use crate::scene::{Push, Scene};

/// Step of the differences, relative to the grain size and to 1 for angles, and relative to 1 for velocities.
const STEP: f64 = 1e-6;

/// Subtracts the loads on free body `i` from its residual, and adds their tangents to the 6×6 matrices `K` and `C`.
pub(super) fn add(
    scene: &Scene,
    t: f64,
    (q, v): (&[Pose], &[Twist]),
    i: usize,
    tangents: Option<(&mut [f64], &mut [f64])>,
    residual: &mut [f64],
) {
    let Some(load) = scene.loads().iter().position(|(body, _)| scene.slot(*body) == i) else {
        return;
    };
    let six = |push: Option<Push>| {
        push.map_or([0.0; 6], |Push { force: f, torque: m, .. }| [f.x, f.y, f.z, m.x, m.y, m.z])
    };
    let now = six(scene.push(load, t, q, v));
    residual.iter_mut().zip(now).for_each(|(r, f)| *r -= f);
    let Some((stiffness, damping)) = tangents else { return };
    let (mut q, mut v) = (q.to_vec(), v.to_vec());
    let (pose, twist) = (q[i], v[i]);
    for column in 0..6 {
        let axis = Vec3::ith(column % 3, 1.0);
        let length = if column < 3 { scene.grain_size() } else { 1.0 };
        let mut sides = [[0.0; 6]; 2];
        for (side, sign) in sides.iter_mut().zip([-1.0, 1.0]) {
            let step = axis * (sign * STEP * length);
            q[i] = match column < 3 {
                true => Pose { position: pose.position + step, ..pose },
                false => Pose { rotation: turn(pose.rotation, step), ..pose },
            };
            *side = six(scene.push(load, t, &q, &v));
        }
        q[i] = pose;
        for row in 0..6 {
            stiffness[6 * row + column] -= (sides[1][row] - sides[0][row]) / (2.0 * STEP * length);
        }
        for (side, sign) in sides.iter_mut().zip([-1.0, 1.0]) {
            let step = axis * (sign * STEP);
            match column < 3 {
                true => v[i].linear = twist.linear + step,
                false => v[i].angular = twist.angular + step,
            }
            *side = six(scene.push(load, t, &q, &v));
        }
        v[i] = twist;
        for row in 0..6 {
            damping[6 * row + column] -= (sides[1][row] - sides[0][row]) / (2.0 * STEP);
        }
    }
}
