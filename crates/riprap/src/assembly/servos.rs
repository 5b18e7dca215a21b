//! Speed limits of servos in the contact problem: two unilateral rows each, after the joints and before the ropes.
//!
//! A servo pushes with its target force as part of the free motion. With the velocity `u` along its axis and the limit `s`, the
//! rows `0 ≤ s − u ⊥ I₊ ≥ 0` and `0 ≤ s + u ⊥ I₋ ≥ 0` brake it: the drive pushes with exactly its target while `|u| < s`, and
//! its speed never exceeds the limit, whatever the contacts do.

use super::System;
use crate::friction::{ContactProblem, Impulses, Law};
use crate::math::Vec3;
use crate::scene::Scene;

/// The speed limits of one step.
#[derive(Debug, Default)]
pub(super) struct Servos {
    /// Number of rows in the contact problem.
    n_rows: usize,
    /// Impulse of each limit along its axis in the last step [N s, N m s], in the order of the scene: first those of bodies.
    brakes: Vec<f64>,
}

/// Adds the speed limits of servos to the contact problem, after its contacts and joints.
pub fn assemble(scene: &Scene, system: &mut System, problem: &mut ContactProblem) {
    let first = problem.len();
    for (body, servo) in scene.servos().filter(|(_, servo)| servo.speed.is_finite()) {
        let slot = scene.slot(body);
        let (v, axis) = (&system.bodies.v_free[slot], servo.axis);
        let (at, speed) = if servo.turns { (3, v.angular) } else { (0, v.linear) };
        let response = match servo.turns {
            true => scene.bodies().inverse_inertia_w(slot, &system.q_m[slot].rotation) * axis,
            false => axis.component_mul(&Vec3::from(scene.bodies().inverse_mass[slot])),
        };
        for sign in [-1.0, 1.0] {
            let (mut rows, mut solved) = ([0.0; 18], [0.0; 18]);
            for c in 0..3 {
                (rows[at + c], solved[at + c]) = (sign * axis[c], sign * response[c]);
            }
            let w = problem.w.make_factored();
            let none = crate::friction::Factored::NONE;
            w.push([none; 2], [[0.0; 3]; 3], [[0.0; 3]; 2]);
            w.push_rows(system.bodies.block[slot], &rows, &solved);
            problem.v_rel_free.push([servo.speed + sign * axis.dot(&speed), 0.0, 0.0]);
            problem.laws.push(Law::Coulomb { friction: 0.0 });
        }
    }
    system.mechanisms.push_speed_limits(scene, problem);
    system.servos.n_rows = problem.len() - first;
}

impl Servos {
    /// Number of rows in the contact problem.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Starts from zero: the limits act rarely, and then only for the servos themselves.
    pub fn recall(&self, impulses: &mut Impulses) {
        impulses.extend(std::iter::repeat_n([0.0; 3], self.n_rows));
    }

    /// Reads the impulses of the limits, which are the rows from `first`.
    pub fn remember(&mut self, first: usize, impulses: &Impulses) {
        let rows = &impulses[first..first + self.n_rows];
        self.brakes.clear();
        self.brakes.extend(rows.chunks_exact(2).map(|pair| pair[1][0] - pair[0][0]));
    }

    /// Impulses of the limits along their axes in the last step [N s, N m s].
    pub fn brakes(&self) -> &[f64] {
        &self.brakes
    }
}
