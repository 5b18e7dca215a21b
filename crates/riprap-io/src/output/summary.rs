//! `summary.json`: properties of the run, how it ended, and how well the contact problems were solved.

use riprap::scheme::StepReport;
use riprap::simulation::{Balance, RunReport};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Description;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It has not ended; a killed run stays in this state.
    Running,
    /// It reached its end time.
    Finished,
    /// The user interrupted it.
    Interrupted,
    /// An error stopped it.
    Failed(
        /// The error message.
        String,
    ),
}

impl Ending {
    /// Its name in `summary.json`.
    pub fn word(&self) -> &'static str {
        match self {
            Ending::Running => "running",
            Ending::Finished => "finished",
            Ending::Interrupted => "interrupted",
            Ending::Failed(_) => "failed",
        }
    }
}

/// Statistics over the steps so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub begin: Option<Balance>,
    /// Statistics; the wall time is that of the run before it resumed from a checkpoint [s].
    pub report: RunReport,
    /// The last step that was added.
    pub seen: u64,
    /// Maximum drift of a joint between bodies [m]; `None` if there are none.
    pub joint_drift: Option<f64>,
    pub since_output: Worst,
}

/// Maxima since the last output.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Worst {
    pub sweeps: usize,
    pub residual: f64,
    pub penetration: f64,
    pub loop_residual: f64,
}

impl Tally {
    pub fn add(&mut self, step: &StepReport) {
        self.report.add(step);
        let since = &mut self.since_output;
        since.sweeps = since.sweeps.max(step.solve.sweeps);
        since.residual = since.residual.max(step.solve.residual);
        since.penetration = since.penetration.max(step.penetration);
        since.loop_residual = since.loop_residual.max(step.loop_residual);
    }
}

pub(super) fn summary(
    scene: &Description,
    tally: &Tally,
    ending: &Ending,
    end: Option<(f64, Balance)>,
    wall: f64,
) -> Value {
    let report = &tally.report;
    let energies = |balance: Option<Balance>| match balance {
        None => Value::Null,
        Some(b) => json!({
            "kinetic_J": b.kinetic,
            "potential_J": b.potential,
            "total_J": b.kinetic + b.potential,
        }),
    };
    let message = match ending {
        Ending::Failed(message) => Some(message),
        _ => None,
    };
    let mut summary = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "title": scene.title,
        "state": ending.word(),
        "message": message,
        "seed": scene.seed,
        "threads": scene.threads,
        "bodies": scene.n_bodies,
        "free_bodies": scene.n_free,
        "mechanisms": scene.n_mechanisms,
        "mechanism_degrees_of_freedom": scene.freedom,
        "grain_size_m": scene.grain_size,
        "resolution_m": scene.resolution,
        "settled": scene.settled.map(|(calm, time, steps)| {
            json!({ "calm": calm, "time_s": time, "steps": steps })
        }),
        "dt_s": scene.run.dt,
        "until_s": scene.run.until,
        "time_s": end.map(|(t, _)| t),
        "steps": report.steps,
        "wall_s": wall,
        "contacts": { "mean": report.mean_contacts(), "max": report.contacts.1 },
        "sweeps": { "mean": report.mean_sweeps(), "max": report.sweeps.1 },
        "unconverged_steps": report.unconverged,
        "deciding_criterion": report.deciding_criterion().map(|(criterion, fraction)| {
            json!({ "criterion": criterion.key(), "fraction_of_steps": fraction })
        }),
        "residual_max": report.worst_residual,
        "penetration_max_rel": report.penetration / scene.resolution,
        "loop_residual_max": report.loop_residual,
        "energy_begin": energies(tally.begin),
        "energy_end": energies(end.map(|(_, balance)| balance)),
    });
    if report.newton.0 > 0 {
        let newton = json!({ "mean": report.mean_newton(), "max": report.newton.1 });
        summary["newton_iterations"] = newton;
        summary["halved_steps"] = json!(report.halved);
    }
    if let Some(drift) = tally.joint_drift {
        summary["joint_drift_max"] = json!(drift);
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene_file::{Run, SceneFile};

    fn step(contacts: usize, sweeps: usize, residual: f64, penetration: f64) -> StepReport {
        let mut step = StepReport { contacts, penetration, ..StepReport::default() };
        step.solve.sweeps = sweeps;
        step.solve.residual = residual;
        step.solve.converged = residual < 1e-3;
        step
    }

    fn run() -> Run {
        let text = "run = { dt = \"1 ms\", until = 0.5 }\n[[body]]\nmass = 1\nmaterial = \"a\"\n\
                    shape = { type = \"sphere\", radius = 1 }\n[materials.a]";
        SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}")).run
    }

    fn description() -> Description {
        Description {
            title: Some("stones".into()),
            seed: 7,
            threads: 2,
            run: run(),
            n_bodies: 4,
            n_free: 3,
            n_mechanisms: 0,
            freedom: 0,
            grain_size: 0.04,
            resolution: 0.04,
            settled: None,
            set: Vec::new(),
        }
    }

    #[test]
    fn a_tally_has_the_mean_and_the_maximum_of_all_steps() {
        let mut tally = Tally::default();
        for report in [step(2, 10, 1e-4, 0.0), step(6, 30, 1e-2, 1e-3), step(4, 20, 1e-5, 5e-4)] {
            tally.add(&report);
        }
        let summary = summary(&description(), &tally, &Ending::Finished, None, 1.5);
        assert_eq!((&summary["steps"], &summary["unconverged_steps"]), (&3.into(), &1.into()));
        assert_eq!(summary["contacts"], json!({ "mean": 4.0, "max": 6 }));
        assert_eq!(summary["sweeps"], json!({ "mean": 20.0, "max": 30 }));
        assert_eq!(summary["residual_max"], 1e-2);
        assert_eq!(summary["penetration_max_rel"], 1e-3 / 0.04);
        assert_eq!((&summary["wall_s"], &summary["threads"]), (&1.5.into(), &2.into()));
        // The statistics since the last output are reset at each output; the others are not.
        let since = std::mem::take(&mut tally.since_output);
        assert_eq!((since.sweeps, since.residual, since.penetration), (30, 1e-2, 1e-3));
        tally.add(&step(1, 5, 1e-6, 2e-3));
        assert_eq!((tally.since_output.sweeps, tally.report.sweeps.1), (5, 30));
    }

    #[test]
    fn unknown_values_are_null_and_joints_appear_only_if_there_are_any() {
        let mut tally = Tally::default();
        let of = |tally: &Tally, ending: &Ending| summary(&description(), tally, ending, None, 0.0);
        let running = of(&tally, &Ending::Running);
        for key in ["message", "settled", "time_s", "energy_begin", "energy_end"] {
            assert!(running[key].is_null(), "{key}");
        }
        assert!(running.get("joint_drift_max").is_none());
        tally.joint_drift = Some(0.0);
        let failed = of(&tally, &Ending::Failed("the sky fell".into()));
        assert_eq!(
            (&failed["joint_drift_max"], &failed["message"]),
            (&0.0.into(), &"the sky fell".into())
        );
        let words = [Ending::Running, Ending::Finished, Ending::Interrupted].map(|e| e.word());
        assert_eq!(words, ["running", "finished", "interrupted"]);
        assert_eq!(failed["state"], "failed");
    }

    #[test]
    fn energies_are_written_with_their_sum() {
        let balance = Balance { kinetic: 3.0, potential: -1.0, ..Balance::default() };
        let tally = Tally { begin: Some(balance), ..Tally::default() };
        let end = Balance { kinetic: 0.5, potential: 0.25, ..Balance::default() };
        let mut scene = description();
        scene.settled = Some((true, 0.75, 750));
        let told = summary(&scene, &tally, &Ending::Finished, Some((0.5, end)), 0.0);
        assert_eq!(
            told["energy_begin"],
            json!({ "kinetic_J": 3.0, "potential_J": -1.0, "total_J": 2.0 })
        );
        assert_eq!(told["energy_end"]["total_J"], 0.75);
        assert_eq!(told["settled"], json!({ "calm": true, "time_s": 0.75, "steps": 750 }));
    }
}
