//! The columns of `series.csv` and how a row is filled: energies, momenta, contacts and solver, then the probes.

use riprap::scene::Body;
use riprap::simulation::Frame;

use super::summary::Tally;
use crate::build::Built;
use crate::scene_file::{Quantity, SceneFile};
use crate::table::Column;

/// What is written at every output.
#[derive(Debug)]
pub(super) struct Series {
    pub columns: Vec<Column>,
    probes: Vec<(Body, Vec<Quantity>)>,
}

const AXES: [&str; 3] = ["x", "y", "z"];

impl Series {
    pub fn new(file: &SceneFile, built: &Built) -> Series {
        let mut columns: Vec<Column> = [
            ("time", "s"),
            ("kinetic_energy", "J"),
            ("potential_energy", "J"),
            ("total_energy", "J"),
        ]
        .map(|(name, unit)| Column::new(name, unit))
        .into();
        for (name, unit) in [("momentum", "kg m/s"), ("angular_momentum", "kg m^2/s")] {
            columns.extend(AXES.map(|axis| Column::new(format!("{name}_{axis}"), unit)));
        }
        // Sweeps, residual and penetration are the worst since the row before.
        let steps = ["contacts", "sweeps", "residual", "penetration", "unconverged_steps"];
        columns.extend(steps.map(|name| Column::new(name, "-")));
        let mut probes = Vec::new();
        for probe in &file.probes {
            for quantity in &probe.quantities {
                let (word, unit, axes): (_, _, &[&str]) = match quantity {
                    Quantity::Position => ("position", "m", &AXES),
                    Quantity::Velocity => ("velocity", "m/s", &AXES),
                    Quantity::Rotation => ("rotation", "-", &["w", "x", "y", "z"]),
                    Quantity::AngularVelocity => ("angular_velocity", "rad/s", &AXES),
                    Quantity::Force => ("force", "N", &AXES),
                };
                let name = |axis: &&str| format!("{}.{word}_{axis}", probe.name);
                columns.extend(axes.iter().map(|axis| Column::new(name(axis), unit)));
            }
            probes.push((built.body(probe.body), probe.quantities.clone()));
        }
        Series { columns, probes }
    }

    /// The numbers of a row; what is counted from row to row starts anew.
    pub fn row(&self, frame: &Frame, tally: &mut Tally) -> Vec<f64> {
        let balance = frame.balance();
        let total = balance.kinetic + balance.potential;
        let mut row = vec![frame.state.t, balance.kinetic, balance.potential, total];
        row.extend(balance.momentum.iter());
        row.extend(balance.angular_momentum.iter());
        let since = std::mem::take(&mut tally.since_output);
        row.extend([
            frame.step.contacts as f64,
            since.sweeps as f64,
            since.residual,
            since.penetration / frame.scene.grain_size(),
            tally.unconverged as f64,
        ]);
        for (body, quantities) in &self.probes {
            for quantity in quantities {
                let spin = frame.state.v[body.index()].angular;
                match quantity {
                    Quantity::Position => {
                        row.extend(frame.scene.shape_pose(frame.state, *body).position.iter());
                    }
                    Quantity::Velocity => {
                        row.extend(frame.scene.shape_velocity(frame.state, *body).iter());
                    }
                    Quantity::Rotation => {
                        let q = frame.state.q[body.index()].rotation;
                        row.extend([q.w, q.i, q.j, q.k]);
                    }
                    Quantity::AngularVelocity => row.extend(spin.iter()),
                    Quantity::Force => row.extend(frame.contact_force(*body).iter()),
                }
            }
        }
        row
    }
}
