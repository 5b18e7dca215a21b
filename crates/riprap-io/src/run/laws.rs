//! The law of a body or mechanism that made a step fail.

use riprap::simulation::Simulation;

use crate::scene_file::{Component, Drive, SceneFile};

/// A description of the first law of a body or mechanism that is not finite in the failed step: at its start, midpoint or end, with the
/// state before the step.
pub(super) fn not_finite(scene: &SceneFile, run: &Simulation) -> Option<String> {
    let (state, dt) = (run.state(), scene.run.dt);
    for (m, described) in scene.mechanisms.iter().enumerate() {
        let system = &run.scene().mechanisms()[m];
        for t in [state.t, state.t + 0.5 * dt, state.t + dt] {
            for joint in &described.joints {
                let Drive::Motion(Component::Expression(law)) = &joint.drive else { continue };
                let what = ["motion", "velocity of the motion", "acceleration of the motion"];
                let rates = what.into_iter().zip(law.with_rates(&[t]));
                if let Some((what, value)) = rates.into_iter().find(|(_, x)| !x.is_finite()) {
                    let name = &joint.name;
                    return Some(format!("the {what} of `{name}` is {value} at t = {t:.6} s"));
                }
            }
            let mut due = state.mechanisms[m].clone();
            system.switch_phases(t, &mut due);
            for (k, name) in system.law_names().enumerate() {
                if let Some(value) = system.law_values(k, &due, t).find(|value| !value.is_finite())
                {
                    return Some(format!(
                        "the law of the force `{name}` is {value} at t = {t:.6} s"
                    ));
                }
            }
        }
    }
    let names = &run.scene().bodies().names;
    for t in [state.t, state.t + 0.5 * dt, state.t + dt] {
        for push in run.scene().pushes(t, &state.q, &state.v) {
            let finite = push.force.iter().chain(push.torque.iter()).all(|x| x.is_finite());
            if !finite {
                let name = &names[push.slot];
                return Some(format!(
                    "the law of a force or torque on `{name}` is not a finite number at t = {t:.6} s"
                ));
            }
        }
    }
    None
}
