//! `summary.json`: what a run was, how it ended and how well the contact problems were solved.

use riprap::scheme::StepReport;
use riprap::simulation::{Balance, RunReport};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Description;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Not yet; a run that was killed stays like this.
    Running,
    /// At its time.
    Finished,
    /// By the user.
    Interrupted,
    /// By an error.
    Failed(
        /// What it said.
        String,
    ),
}

impl Ending {
    /// The word for it in `summary.json`.
    pub fn word(&self) -> &'static str {
        match self {
            Ending::Running => "running",
            Ending::Finished => "finished",
            Ending::Interrupted => "interrupted",
            Ending::Failed(_) => "failed",
        }
    }
}

/// Sums over the steps so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub begin: Option<Balance>,
    /// Sums; its wall time is that of the run before it went on from a checkpoint [s].
    pub report: RunReport,
    /// The last step that was added.
    pub seen: u64,
    /// Largest distance by which a joint between bodies was off [m]; `None` if there are none.
    pub joint_drift: Option<f64>,
    pub since_output: Worst,
}

/// The worst since the last output.
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
        "settled": scene.settled.map(|(calm, time, steps)| {
            json!({ "calm": calm, "time_s": time, "steps": steps })
        }),
        "dt_s": scene.dt,
        "until_s": scene.until,
        "time_s": end.map(|(t, _)| t),
        "steps": report.steps,
        "wall_s": wall,
        "contacts": { "mean": report.mean_contacts(), "max": report.contacts.1 },
        "sweeps": { "mean": report.mean_sweeps(), "max": report.sweeps.1 },
        "unconverged_steps": report.unconverged,
        "residual_max": report.worst_residual,
        "penetration_max_rel": report.penetration / scene.grain_size,
        "loop_residual_max": report.loop_residual,
        "energy_begin": energies(tally.begin),
        "energy_end": energies(end.map(|(_, balance)| balance)),
    });
    if let Some(drift) = tally.joint_drift {
        summary["joint_drift_max"] = json!(drift);
    }
    summary
}
