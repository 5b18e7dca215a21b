//! Forces and torques given by laws of time and state, in the free motion.

use super::Interval;
use crate::math::{Mat3, Pose, Twist, Vec3};
use crate::scene::{Push, Scene};

/// Buffers for the loads of one step.
#[derive(Debug, Default)]
pub(super) struct Loads {
    pushes: Vec<Push>,
    /// Velocities of the pushed bodies without these loads.
    without: Vec<Twist>,
    /// Velocities of all bodies at `q_m`.
    middle: Vec<Twist>,
}

impl Loads {
    /// Adds `h M⁻¹ f` of the loads to `v_free` (28), with `f` at the time and the configuration of `q_m`. Velocities are those
    /// at the start of the step and, if `q_m` is later, once more those of that time, which makes smooth motion second-order
    /// with `q_m` midway.
    pub fn push(
        &mut self,
        scene: &Scene,
        step: &Interval,
        (q_m, v_n): (&[Pose], &[Twist]),
        inverse_inertia: &[Mat3],
        v_free: &mut [Twist],
    ) {
        if scene.loads().is_empty() {
            return;
        }
        let Loads { pushes, without, middle } = self;
        let inverse_mass = &scene.bodies().inverse_mass;
        pushes.clear();
        pushes.extend(scene.pushes(step.t_m(), q_m, v_n));
        without.clear();
        without.extend(pushes.iter().map(|push| v_free[push.slot]));
        let add = |pushes: &[Push], without: &[Twist], v_free: &mut [Twist]| {
            for (Push { slot, force, torque }, v) in pushes.iter().zip(without) {
                let lightness = Vec3::from(inverse_mass[*slot]);
                v_free[*slot] = Twist {
                    linear: v.linear + force.component_mul(&lightness) * step.dt,
                    angular: v.angular + inverse_inertia[*slot] * torque * step.dt,
                };
            }
        };
        add(pushes, without, v_free);
        if step.before > 0.0 {
            let part = step.before / step.dt;
            middle.clear();
            middle.extend_from_slice(v_n);
            for (i, v) in middle.iter_mut().enumerate().filter(|(i, _)| scene.bodies().movable[*i])
            {
                v.linear += (v_free[i].linear - v.linear) * part;
                v.angular += (v_free[i].angular - v.angular) * part;
            }
            pushes.clear();
            pushes.extend(scene.pushes(step.t_m(), q_m, middle));
            add(pushes, without, v_free);
        }
    }
}
