//! The end of a step: state, multipliers, contacts, and the errors of steps that failed.

use super::newton::{Failure, Newton};
use super::start::no_inertia;
use crate::assembly::Contacts;
use crate::assembly::equations::Source;
use crate::assembly::{SystemError, check_finite};
use crate::friction::Impulses;
use crate::math::Vec3;
use crate::scene::{
    AlphaState, ConstraintMultipliers, ConstraintOf, ContactMultipliers, Scene, SchemeState, State,
};
use crate::scheme::StepError;

impl Newton {
    /// Writes the end of the step into `next`. Returns the largest residual of the bilateral constraints
    /// [m, –].
    pub(super) fn finish(
        &mut self,
        scene: &Scene,
        state: &State,
        t_next: f64,
        next: &mut State,
    ) -> Result<f64, StepError> {
        next.mechanisms.resize_with(state.mechanisms.len(), Default::default);
        for (k, old) in state.mechanisms.iter().enumerate() {
            next.mechanisms[k].partition.clone_from(&old.partition);
            next.mechanisms[k].control.clone_from(&self.controls[k]);
        }
        next.flexible.resize_with(state.flexible.len(), Default::default);
        self.e.write(scene, &self.at_n, &self.v_n, next);
        check_finite(scene, &next.q, &next.v, t_next)
            .map_err(|e: SystemError| StepError::from(e))?;
        for (system, new) in scene.mechanisms().iter().zip(&mut next.mechanisms) {
            system.check_finite(&new.v, t_next)?;
            if system.n_equations() > 0 {
                let mut work = system.scratch();
                system.tree().kinematics(&new.q, &mut work.tree);
                system.linearize(&new.partition, t_next, &mut work)?;
                system.renew_partition(&mut new.partition, &mut work);
            }
        }
        next.warm_start.clear();
        next.warm_moments.clear();
        self.joint_impulses(scene, t_next - state.t, next);
        let mut alpha = match std::mem::take(&mut next.scheme) {
            SchemeState::GeneralizedAlpha(alpha) => alpha,
            _ => Box::default(),
        };
        self.multipliers(&mut alpha);
        next.scheme = SchemeState::GeneralizedAlpha(alpha);
        Ok(self.bilateral.residual.iter().fold(0.0, |m: f64, r| m.max(r.abs())))
    }

    fn multipliers(&self, alpha: &mut AlphaState) {
        alpha.acceleration.clone_from(&self.acceleration_n);
        alpha.pseudo_acceleration.clone_from(&self.pseudo_n);
        alpha.coupled = self.is_coupled && self.problems.any_active();
        alpha.contacts.clear();
        for c in &self.unilateral.contacts {
            let (nu, impulse) = self.problems.multipliers(c.key);
            let [i, j] = c.bodies;
            let at = |b: usize| {
                let v = &self.twists_n[b];
                v.linear + v.angular.cross(&(c.point - self.at_n.q[b].position))
            };
            alpha.contacts.push(ContactMultipliers {
                colliders: c.key.0,
                feature: c.key.1,
                gap: c.gap,
                velocity: c.frame[0].dot(&(at(j) - at(i))),
                nu,
                impulse,
            });
        }
        alpha.constraints.clear();
        for i in 0..self.bilateral.len() {
            let (source, equation) = self.bilateral.source(i);
            let of = match source {
                Source::Joint(j) => ConstraintOf::Joint(j as u32),
                Source::Loop(m, l) => ConstraintOf::Loop(m as u32, l as u32),
            };
            let get = |x: &[f64]| x.get(i).copied().unwrap_or(0.0);
            alpha.constraints.push(ConstraintMultipliers {
                of,
                equation: equation as u32,
                residual: self.bilateral.residual[i],
                velocity: self.bilateral.rows.velocity(i, &self.v_n),
                lambda: get(&self.lambda),
                nu: get(&self.problems.nu),
                impulse: get(&self.problems.impulse),
            });
        }
    }

    /// Impulses of the joints between bodies over a step `h` [s], `Λ + h λ̃`, along the axes that
    /// [`crate::assembly::joint_wrenches`] uses: force, then torque.
    fn joint_impulses(&self, scene: &Scene, h: f64, next: &mut State) {
        next.joint_impulses.clear();
        if scene.joints().is_empty() {
            return;
        }
        let mut wrenches = vec![(Vec3::zeros(), Vec3::zeros()); scene.joints().len()];
        for i in 0..self.bilateral.len() {
            let (Source::Joint(j), _) = self.bilateral.source(i) else { continue };
            let smooth = self.lambda.get(i).copied().unwrap_or(0.0);
            let impulse = self.problems.impulse.get(i).copied().unwrap_or(0.0) + h * smooth;
            let (direction, spin) = self.bilateral.direction(&next.q, i);
            *(if spin { &mut wrenches[j].1 } else { &mut wrenches[j].0 }) += direction * impulse;
        }
        for (joint, (force, torque)) in scene.joints().iter().zip(wrenches) {
            let first = &next.q[joint.bodies[0] as usize].rotation;
            let axes = first.to_rotation_matrix().matrix() * joint.rotations[0];
            next.joint_impulses.push(axes.tr_mul(&force).into());
            if joint.hold != crate::scene::Hold::Ball {
                next.joint_impulses.push(axes.tr_mul(&torque).into());
            }
        }
    }

    /// Makes the contacts with an impulse those of the step, for observers.
    pub(super) fn show_contacts(
        &self,
        scene: &Scene,
        contacts: &mut Contacts,
        impulses: &mut Impulses,
    ) {
        let found = &self.unilateral.contacts;
        let impulse = |k: usize| {
            let key = found[k].key;
            self.step_contacts.iter().find(|(other, _)| *other == key).map(|(_, r)| *r)
        };
        let deepest = found.iter().fold(0.0, |m: f64, c| m.max(-c.gap));
        contacts.select(scene, |k| impulse(k).is_some(), deepest);
        impulses.extend((0..found.len()).filter_map(impulse));
    }

    /// The error of a step from `t` over `h` [s] that failed.
    pub(super) fn failed(&self, scene: &Scene, failure: Failure, t: f64, h: f64) -> StepError {
        let at = match failure {
            Failure::NoInertia(i) => return no_inertia(scene, &self.e, i, t),
            Failure::NotConverged(at) => at,
        };
        let size = |x: f64| if x.is_finite() { x.abs() } else { f64::INFINITY };
        let rows = self.bilateral.residual.iter().enumerate();
        let row = rows.max_by(|a, b| size(*a.1).total_cmp(&size(*b.1)));
        let contact = self.unilateral.contacts.iter().min_by(|a, b| a.gap.total_cmp(&b.gap));
        let deep = contact.map_or(0.0, |c| -c.gap);
        let constraint = match (row, contact) {
            (Some((i, r)), _) if size(*r) >= deep => self.bilateral.name(scene, i),
            (_, Some(c)) if deep > 0.0 => {
                let [a, b] = c.bodies.map(|b| &scene.bodies().names[b]);
                format!("contact of `{a}` and `{b}`")
            }
            _ => "the equations of motion".to_owned(),
        };
        StepError::NotConverged { what: self.e.name(scene, at), constraint, t, dt: h }
    }
}
