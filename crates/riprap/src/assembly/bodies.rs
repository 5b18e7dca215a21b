//! Free bodies at one configuration: inverse masses, free velocities, and the effect of impulses.
//!
//! The gyroscopic term is treated through the angular momentum: a step conserves `L = J ω` of a
//! body exactly while its inertia rotates with it, so that collisions conserve angular momentum to
//! round-off. To first order in `h` this is `−ω × J ω` of the equations of motion.

use super::Interval;
use super::loads::Loads;
use crate::friction::{Factored, InverseMass};
use crate::math::{Mat3, Pose, Vec3, bytes_of, parallel};
use crate::scene::{Motion, Scene, State, Twist};

/// `M⁻¹`, `f` and the free velocity of all bodies at `q_m`.
#[derive(Debug, Default)]
pub(super) struct FreeBodies {
    inverse_inertia: Vec<Mat3>,
    /// Block of each body in the contact problem; [`Factored::NONE`] if impulses do not move it.
    pub(super) block: Vec<u32>,
    /// Velocities at the start of the step and without contact; those of the mechanisms' bodies are filled in by their own free
    /// motion.
    pub(super) v_n: Vec<Twist>,
    pub(super) v_free: Vec<Twist>,
    loads: Loads,
    n_blocks: u32,
}

impl FreeBodies {
    /// Evaluates masses at `q_m` and the velocity without contact, `v_free = v_n + h M⁻¹ f` (28).
    /// Bodies with a prescribed motion get the velocity of their law at the end of the step.
    pub fn free_motion(&mut self, scene: &Scene, state: &State, step: &Interval, q_m: &[Pose]) {
        let (bodies, dt) = (scene.bodies(), step.dt);
        // The factor by which linear drag reduces a velocity.
        let kept = if scene.drag() > 0.0 { (-scene.drag() * dt).exp() } else { 1.0 };
        let FreeBodies { inverse_inertia, block, v_n, v_free, loads, n_blocks } = self;
        v_n.clone_from(&state.v);
        block.clear();
        *n_blocks = 0;
        block.extend(bodies.movable.iter().map(|&movable| {
            *n_blocks += u32::from(movable);
            if movable { *n_blocks - 1 } else { Factored::NONE }
        }));
        parallel::fill(inverse_inertia, bodies.len(), |i| match bodies.movable[i] {
            true => bodies.inverse_inertia_w(i, &q_m[i].rotation),
            false => Mat3::zeros(),
        });
        parallel::fill(v_free, bodies.len(), |i| {
            let v_n = &state.v[i];
            if !bodies.movable[i] {
                let motion = bodies.motion[i].as_ref();
                return motion.map_or_else(Twist::default, |m| prescribed(m, step, &q_m[i]));
            }
            let mut v_n = *v_n;
            if kept < 1.0 && bodies.carried[i].is_none() {
                v_n.linear *= kept;
                v_n.angular *= kept;
            }
            let inverse = inverse_inertia[i];
            let angular = if bodies.tumbles[i] {
                let momentum = bodies.inertia_w(i, &state.q[i].rotation) * v_n.angular;
                inverse * (momentum + bodies.torque[i] * dt)
            } else {
                v_n.angular + inverse * bodies.torque[i] * dt
            };
            let pull = scene.gravity() + bodies.force[i] / bodies.mass[i];
            let linear = Vec3::from_fn(|k, _| {
                if bodies.inverse_mass[i][k] == 0.0 { 0.0 } else { v_n.linear[k] + dt * pull[k] }
            });
            Twist { linear, angular }
        });
        loads.push(scene, step, (q_m, v_n), inverse_inertia, v_free);
    }

    /// Bytes held by the buffers.
    pub(super) fn bytes(&self) -> usize {
        bytes_of(&self.inverse_inertia)
            + bytes_of(&self.block)
            + bytes_of(&self.v_n)
            + bytes_of(&self.v_free)
    }

    /// Number of blocks of the free bodies.
    pub(super) fn n_blocks(&self) -> u32 {
        self.n_blocks
    }

    /// Inverse masses of the bodies that impulses move, in the order of their blocks.
    pub(super) fn inverse_masses<'a>(
        &'a self,
        scene: &'a Scene,
    ) -> impl Iterator<Item = InverseMass> + 'a {
        let bodies = scene.bodies();
        (0..bodies.len()).filter(|&i| bodies.movable[i]).map(move |i| {
            let j = &self.inverse_inertia[i];
            let angular = [j[(0, 0)], j[(1, 1)], j[(2, 2)], j[(0, 1)], j[(0, 2)], j[(1, 2)]];
            InverseMass { linear: bodies.inverse_mass[i], angular }
        })
    }

    /// `v = v_free + M⁻¹ H I` (28), with the second part given for each block.
    pub fn apply(&self, change: &[[f64; 6]], v: &mut Vec<Twist>) {
        parallel::fill(v, self.v_free.len(), |i| {
            let (free, block) = (&self.v_free[i], self.block[i]);
            if block == Factored::NONE {
                return *free;
            }
            let c = &change[block as usize];
            Twist {
                linear: free.linear + Vec3::new(c[0], c[1], c[2]),
                angular: free.angular + Vec3::new(c[3], c[4], c[5]),
            }
        });
    }
}

/// Velocity at the end of a step of a body with a prescribed motion. A position law is followed by
/// its mean slope around that time, corrected by a fifth of its position error, so that it neither
/// drifts nor oscillates.
fn prescribed(motion: &Motion, step: &Interval, q_m: &Pose) -> Twist {
    let Interval { t_next: t, dt, after, .. } = *step;
    match motion {
        Motion::Velocity { linear, angular } => {
            Twist { linear: linear.at(t), angular: angular.at(t) }
        }
        Motion::Position { linear, angular } => {
            let slope = (linear.at(t + 0.5 * dt) - linear.at(t - 0.5 * dt)) / dt;
            let strayed = linear.at(t) - (q_m.position + slope * after);
            Twist { linear: slope + strayed * (0.2 / after), angular: angular.at(t) }
        }
    }
}
