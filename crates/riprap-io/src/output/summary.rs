//! `summary.json`: what a run was, how it ended and how well the contact problems were solved.

use riprap::scheme::StepReport;
use riprap::simulation::Balance;
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
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub begin: Option<Balance>,
    pub steps: u64,
    pub unconverged: u64,
    contacts: (u64, usize),
    sweeps: (u64, usize),
    residual: f64,
    pub penetration: f64,
    loop_residual: f64,
    /// Largest distance by which a joint between bodies was off [m]; `None` if there are none.
    pub joint_drift: Option<f64>,
    pub since_output: Worst,
}

/// The worst since the last output.
#[derive(Debug, Default)]
pub(super) struct Worst {
    pub sweeps: usize,
    pub residual: f64,
    pub penetration: f64,
    pub loop_residual: f64,
}

impl Tally {
    pub fn add(&mut self, step: &StepReport) {
        self.steps += 1;
        self.unconverged += u64::from(!step.solve.converged);
        self.contacts.0 += step.contacts as u64;
        self.contacts.1 = self.contacts.1.max(step.contacts);
        self.sweeps.0 += step.solve.sweeps as u64;
        self.sweeps.1 = self.sweeps.1.max(step.solve.sweeps);
        self.residual = self.residual.max(step.solve.residual);
        self.penetration = self.penetration.max(step.penetration);
        self.loop_residual = self.loop_residual.max(step.loop_residual);
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
    let mean = |sum: u64| sum as f64 / tally.steps.max(1) as f64;
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
        "steps": tally.steps,
        "wall_s": wall,
        "contacts": { "mean": mean(tally.contacts.0), "max": tally.contacts.1 },
        "sweeps": { "mean": mean(tally.sweeps.0), "max": tally.sweeps.1 },
        "unconverged_steps": tally.unconverged,
        "residual_max": tally.residual,
        "penetration_max_rel": tally.penetration / scene.grain_size,
        "loop_residual_max": tally.loop_residual,
        "energy_begin": energies(tally.begin),
        "energy_end": energies(end.map(|(_, balance)| balance)),
    });
    if let Some(drift) = tally.joint_drift {
        summary["joint_drift_max"] = json!(drift);
    }
    summary
}
