//! Rotation of a free rigid body: angular momentum and kinetic energy are conserved to round-off at
//! any speed.
//!
//! In the body frame the momentum `Π = Rᵀ L` follows `Π̇ = Π × J⁻¹ Π`. It stays on the sphere `|Π|
//! = |L|` and on the ellipsoid `Π·J⁻¹ Π = 2 E`. A substep is the explicit midpoint rule, which
//! stays on the sphere because it only rotates the body; then the body is rotated a little further,
//! along the gradient of the energy on the sphere, back onto the ellipsoid. The correction is of
//! third order in the angle of a substep, so the order of the step is two.

use crate::math::{Mat3, Pose, Quat, Vec3, parallel, turn};
use crate::scene::{Bodies, Scene, State, Twist};

/// Largest angle of a substep [rad].
const SUBSTEP: f64 = 0.25;
/// Largest angle in one call [rad]: half a million substeps. Beyond this, the final orientation is
/// noise.
pub(super) const LARGEST_ANGLE: f64 = 1e5;
/// Angle below which the change of `ω` over the step is at rounding level [rad].
const STILL: f64 = 1e-8;
/// Angle below which the midpoint rule conserves the energy to rounding by itself [rad].
const SLOW: f64 = 1e-5;

/// Rotations of the tumbling bodies at `q_m`, a time `before` [s] after the state.
pub(super) fn predict(scene: &Scene, state: &State, before: f64, q_m: &mut [Pose]) {
    let bodies = scene.bodies();
    parallel::for_each(q_m, |i, q| {
        if spins(bodies, i, &state.v[i]) {
            let (j, inverse) = (&bodies.inertia[i], &bodies.inverse_inertia[i]);
            q.rotation = rotate(state.q[i].rotation, state.v[i].angular, before, j, inverse);
        }
    });
}

/// Carries the angular momentum of the step at `q_m` over to its end: rotations of the tumbling
/// bodies a time `after` [s] later, and `ω = J(q_next)⁻¹ L`.
pub(super) fn finish(
    scene: &Scene,
    q_m: &[Pose],
    after: f64,
    q_next: &mut [Pose],
    v: &mut [Twist],
) {
    let bodies = scene.bodies();
    parallel::for_each_both(q_next, v, |i, q, v| {
        if !bodies.tumbles[i] || v.angular == Vec3::zeros() {
            return;
        }
        let from = q_m[i].rotation;
        let momentum = bodies.inertia_w(i, &from) * v.angular;
        q.rotation = if spins(bodies, i, v) {
            rotate(from, v.angular, after, &bodies.inertia[i], &bodies.inverse_inertia[i])
        } else {
            let end = bodies.inverse_inertia_w(i, &q.rotation) * momentum;
            turn(from, end * after)
        };
        v.angular = bodies.inverse_inertia_w(i, &q.rotation) * momentum;
    });
}

/// Whether a body rotates freely. A locked axis takes up momentum, so in that case the velocity is
/// kept instead.
fn spins(bodies: &Bodies, i: usize, v: &Twist) -> bool {
    bodies.tumbles[i] && v.angular != Vec3::zeros() && !bodies.locks[i].0[3..].contains(&true)
}

/// The rotation after a time `dt` [s] of a body with angular velocity `spin` [rad/s] in the world and no torque. `inertia` and its
/// `inverse` are those in the body frame.
pub(super) fn rotate(rotation: Quat, spin: Vec3, dt: f64, inertia: &Mat3, inverse: &Mat3) -> Quat {
    if spin.norm() * dt < STILL {
        return turn(rotation, spin * dt);
    }
    let mut rotation = rotation;
    let mut momentum = inertia * (rotation.inverse() * spin);
    let energy = momentum.dot(&(inverse * momentum));
    let mut left = dt;
    while left > 0.0 {
        let speed = (inverse * momentum).norm();
        let step = if speed * left > SUBSTEP { SUBSTEP / speed } else { left };
        left -= step;
        let mut turned = midpoint(&momentum, step, inverse);
        if speed * step > SLOW {
            turned = onto_energy(turned, &momentum, energy, inverse);
        }
        momentum = turned.inverse() * momentum;
        rotation = Quat::new_normalize(rotation.into_inner() * turned.into_inner());
        if !speed.is_finite() {
            break;
        }
    }
    rotation
}

/// The rotation of the body frame over a time, by the angular velocity at the midpoint.
fn midpoint(momentum: &Vec3, dt: f64, inverse: &Mat3) -> Quat {
    let half = turn(Quat::identity(), inverse * momentum * (0.5 * dt));
    turn(Quat::identity(), inverse * (half.inverse() * momentum) * dt)
}

/// The same rotation, corrected so that `Π·J⁻¹ Π` is `energy` after it.
fn onto_energy(mut turned: Quat, momentum: &Vec3, energy: f64, inverse: &Mat3) -> Quat {
    for _ in 0..4 {
        let now = turned.inverse() * momentum;
        let spin = inverse * now;
        let off = 0.5 * (now.dot(&spin) - energy);
        let gradient = now.cross(&spin);
        let slope = gradient.norm_squared();
        // Below the first limit the error is rounding. The second applies so close to a principal
        // axis that the energy is no longer linear in the correction; there it differs from that of
        // the axis only by rounding.
        if off.abs() <= 4e-16 * energy || off.abs() * energy > slope {
            break;
        }
        turned *= turn(Quat::identity(), gradient * (off / slope));
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENTS: [f64; 3] = [1.0, 2.0, 2.7];

    fn tensors() -> (Mat3, Mat3) {
        // Not along the axes of the body frame.
        let r = Quat::from_euler_angles(0.3, -0.7, 1.1).to_rotation_matrix();
        let j = r.matrix() * Mat3::from_diagonal(&Vec3::from(MOMENTS)) * r.matrix().transpose();
        (j, j.try_inverse().unwrap())
    }

    /// Angular velocity in the world for a momentum in the world.
    fn spin_of(rotation: &Quat, momentum: &Vec3, inverse: &Mat3) -> Vec3 {
        rotation * (inverse * (rotation.inverse() * momentum))
    }

    /// Rotation and momentum after `n` steps.
    fn run(spin: Vec3, dt: f64, n: usize) -> (Quat, f64) {
        let (j, inverse) = tensors();
        let mut rotation = Quat::identity();
        let momentum = j * spin;
        let energy = momentum.dot(&spin);
        let mut worst: f64 = 0.0;
        for _ in 0..n {
            let spin = spin_of(&rotation, &momentum, &inverse);
            rotation = rotate(rotation, spin, dt, &j, &inverse);
            let now = momentum.dot(&spin_of(&rotation, &momentum, &inverse));
            worst = worst.max((now - energy).abs() / energy);
        }
        (rotation, worst)
    }

    #[test]
    fn energy_is_conserved_at_any_angle_per_step() {
        let direction = Vec3::new(0.3, 1.0, -0.4);
        for angle in [1e-7, 1e-4, 1e-2, 0.1, 1.0, 10.0, 1000.0] {
            let (_, worst) = run(direction * (angle / 1e-3), 1e-3, 300);
            assert!(worst < 1e-12, "angle {angle}: {worst:e}");
        }
    }

    #[test]
    fn rotation_about_or_near_a_principal_axis_conserves_its_energy() {
        let r = Quat::from_euler_angles(0.3, -0.7, 1.1);
        for axis in [Vec3::x(), Vec3::y(), Vec3::z()] {
            for tilt in [0.0, 1e-12, 1e-6, 1e-3] {
                let spin = r * (axis + tilt * Vec3::new(1.0, -1.0, 0.5)) * 40.0;
                let (_, worst) = run(spin, 1e-2, 500);
                assert!(worst < 1e-12, "{axis:?} {tilt:e}: {worst:e}");
            }
        }
    }

    #[test]
    fn the_rotation_is_of_second_order() {
        let spin = Vec3::new(1.0, 1.5, 0.7);
        let (exact, _) = run(spin, 4.0 / 64000.0, 64000);
        let error = |n: usize| run(spin, 4.0 / n as f64, n).0.angle_to(&exact);
        let (coarse, fine) = (error(200), error(400));
        let order = (coarse / fine).log2();
        assert!((order - 2.0).abs() < 0.05, "{coarse:e} {fine:e} {order}");
    }

    #[test]
    fn a_symmetric_top_precesses_as_in_closed_form() {
        // J = diag(a, a, c): R(t) = exp(t L/a) R₀ exp(t (1/c − 1/a) Π₃ e₃), with L in the world.
        let (a, c): (f64, f64) = (2.0, 0.5);
        let j = Mat3::from_diagonal(&Vec3::new(a, a, c));
        let inverse = j.try_inverse().unwrap();
        let spin = Vec3::new(3.0, 0.0, 5.0);
        let (momentum, n, dt) = (j * spin, 20_000, 1e-4);
        let mut rotation = Quat::identity();
        for _ in 0..n {
            let spin = spin_of(&rotation, &momentum, &inverse);
            rotation = rotate(rotation, spin, dt, &j, &inverse);
        }
        let t = n as f64 * dt;
        let own = Vec3::z() * (t * (1.0 / c - 1.0 / a) * momentum.z);
        let exact = turn(Quat::identity(), momentum * (t / a)) * turn(Quat::identity(), own);
        // Second order: an angle of 6e-4 rad per step gives a relative error of 1e-7.
        assert!(rotation.angle_to(&exact) < 1e-5, "{:e}", rotation.angle_to(&exact));
    }
}
