//! `riprap bench judge`: evaluates overlaps, velocities and drift from the state files of any engine.

use std::path::PathBuf;

use riprap_io::peer_scene::{PeerScene, read_states};
use validation::bench::judge::{Judgement, judge};

use crate::failure::Failure;
use crate::text::{number, print, table};

/// Arguments of `riprap bench judge`.
#[derive(clap::Args)]
pub struct Judge {
    /// The scene (JSON, optionally gzipped)
    scene: PathBuf,
    /// A state of the scene, one line per grain; evaluated unless a later state is given
    state: PathBuf,
    /// A later state to evaluate, including the drift between the two states
    later: Option<PathBuf>,
    /// Print the results as one JSON object
    #[arg(long)]
    json: bool,
}

/// Evaluates the states and prints the result.
pub fn bench(arguments: &Judge) -> Result<(), Failure> {
    let scene = PeerScene::read(&arguments.scene)?;
    let read = |path: &PathBuf| read_states(path, scene.grains.len());
    let state = read(&arguments.state)?;
    let judgement = match &arguments.later {
        None => judge(&scene, None, &state),
        Some(path) => judge(&scene, Some(&state), &read(path)?),
    };
    let judgement = judgement.map_err(Failure::Input)?;
    if arguments.json {
        let line = serde_json::to_string(&judgement).map_err(|e| Failure::Run(e.to_string()))?;
        print(&format!("{line}\n"));
    } else {
        print(&shown(&judgement));
    }
    Ok(())
}

fn shown(j: &Judgement) -> String {
    let row = |name: &str, value: f64, unit: &str| vec![name.into(), number(value), unit.into()];
    let mut rows = vec![
        row("grains", j.grains as f64, ""),
        row("near pairs", j.near_pairs as f64, ""),
        row("overlapping pairs", j.overlap_pairs as f64, ""),
        row("mean overlap", j.penetration_mean_mm, "mm"),
        row("95th percentile overlap", j.penetration_p95_mm, "mm"),
        row("deepest overlap", j.penetration_max_mm, "mm"),
        row("deepest overlap over size", j.penetration_max_rel, ""),
        row("overlaps with walls", j.wall_pairs as f64, ""),
        row("mean overlap with walls", j.wall_mean_mm, "mm"),
        row("deepest overlap with walls", j.wall_max_mm, "mm"),
        row("grains outside", j.outside as f64, ""),
        row("kinetic energy", j.kinetic_energy, "J"),
        row("root mean square velocity", j.v_rms, "m/s"),
        row("max velocity", j.v_max, "m/s"),
        row("98th percentile height", j.height_98, "m"),
    ];
    if let Some(drift) = j.drift {
        rows.push(row("mean drift", drift.mean_mm, "mm"));
        rows.push(row("median drift", drift.median_mm, "mm"));
        rows.push(row("max drift", drift.max_mm, "mm"));
    }
    table(&rows, &[1])
}
