//! Forces over an output interval: impulse, mean and maximum of each.
//!
//! Impacts are shorter than any output interval, so the force at an output time says little about them. Every step adds to these
//! sums; a row of the series reads them and starts the next interval.

use riprap::math::Vec3;
use serde::{Deserialize, Serialize};

use crate::table::Column;

pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

/// Forces or torques, summed since the last row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Loads {
    /// Length of the interval so far [s].
    elapsed: f64,
    loads: Vec<Load>,
}

/// One force or torque over the interval; a scalar is the first component of a vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Load {
    /// [N s] or [N m s].
    impulse: Vec3,
    /// Maximum magnitude of the mean over a step [N] or [N m].
    max: f64,
}

impl Loads {
    /// Sums of `n` forces, all zero.
    pub fn new(n: usize) -> Loads {
        Loads { elapsed: 0.0, loads: vec![Load::default(); n] }
    }

    /// Number of forces.
    pub fn len(&self) -> usize {
        self.loads.len()
    }

    /// Adds the mean forces [N] or torques [N m] of a step of length `dt` [s].
    pub fn add(&mut self, forces: &[Vec3], dt: f64) {
        self.elapsed += dt;
        for (load, force) in self.loads.iter_mut().zip(forces) {
            load.impulse += force * dt;
            load.max = load.max.max(force.norm());
        }
    }

    /// Whether no step has been added since the last row.
    pub fn is_empty(&self) -> bool {
        self.elapsed == 0.0
    }

    /// Ends the interval and starts the next. If no time has passed, the means and maxima are those of `now`.
    pub fn take(&mut self, now: &[Vec3]) -> Taken {
        let elapsed = std::mem::take(&mut self.elapsed);
        let loads = self.loads.iter_mut().enumerate().map(|(k, load)| {
            let Load { impulse, max } = std::mem::take(load);
            match elapsed > 0.0 {
                true => (impulse / elapsed, max, impulse),
                false => (now[k], now[k].norm(), impulse),
            }
        });
        Taken(loads.collect::<Vec<_>>().into_iter())
    }
}

/// Forces of an interval, in the order in which they were sampled: mean, maximum magnitude, impulse.
pub(super) struct Taken(std::vec::IntoIter<(Vec3, f64, Vec3)>);

impl Taken {
    /// Writes the next force: mean x, y, z; maximum; impulse x, y, z.
    pub fn vector(&mut self, row: &mut Vec<f64>) {
        let (mean, max, impulse) = self.0.next().expect("as many as were sampled");
        row.extend(mean.iter());
        row.push(max);
        row.extend(impulse.iter());
    }

    /// Writes the next scalar force: mean, maximum magnitude, impulse.
    pub fn scalar(&mut self, row: &mut Vec<f64>) {
        let (mean, max, impulse) = self.0.next().expect("as many as were sampled");
        row.extend([mean.x, max, impulse.x]);
    }
}

/// Columns of a force on `name`, in the order of [`Taken::vector`].
pub(super) fn force_columns(name: &str, columns: &mut Vec<Column>) {
    vector_columns(name, ["force", "impulse"], ["N", "N s"], columns);
}

/// Columns of a torque on `name`, in the order of [`Taken::vector`].
pub(super) fn torque_columns(name: &str, columns: &mut Vec<Column>) {
    vector_columns(name, ["torque", "angular_impulse"], ["N m", "N m s"], columns);
}

/// Columns of an inertial force of `name`, in the order of [`Taken::vector`].
pub(super) fn inertial_columns(name: &str, columns: &mut Vec<Column>) {
    vector_columns(name, ["inertial_force", "momentum_change"], ["N", "N s"], columns);
}

/// Columns of an acceleration of `name`, in the order of [`Taken::vector`].
pub(super) fn acceleration_columns(name: &str, columns: &mut Vec<Column>) {
    vector_columns(name, ["acceleration", "velocity_change"], ["m/s^2", "m/s"], columns);
}

fn vector_columns(
    name: &str,
    [what, impulse]: [&str; 2],
    [unit, times_s]: [&str; 2],
    columns: &mut Vec<Column>,
) {
    columns.extend(AXES.map(|axis| Column::new(format!("{name}.{what}_mean_{axis}"), unit)));
    columns.push(Column::new(format!("{name}.{what}_max"), unit));
    columns.extend(AXES.map(|axis| Column::new(format!("{name}.{impulse}_{axis}"), times_s)));
}

/// Columns of a scalar force [N], or torque [N m] if `angular`, in the order of [`Taken::scalar`]. `impulse` is the name of
/// its last column.
pub(super) fn scalar_columns(what: &str, impulse: &str, angular: bool, columns: &mut Vec<Column>) {
    let (unit, times_s) = if angular { ("N m", "N m s") } else { ("N", "N s") };
    columns.push(Column::new(format!("{what}_mean"), unit));
    columns.push(Column::new(format!("{what}_max"), unit));
    columns.push(Column::new(impulse, times_s));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_the_impulse_the_mean_and_the_maximum() {
        let mut loads = Loads::new(2);
        loads.add(&[Vec3::new(0.0, 0.0, 6.0), Vec3::new(-2.0, 0.0, 0.0)], 0.5);
        loads.add(&[Vec3::new(0.0, 8.0, 6.0), Vec3::new(1.0, 0.0, 0.0)], 0.5);
        assert!(!loads.is_empty());
        let (mut row, mut taken) = (Vec::new(), loads.take(&[]));
        taken.vector(&mut row);
        taken.scalar(&mut row);
        assert_eq!(row, [0.0, 4.0, 6.0, 10.0, 0.0, 4.0, 6.0, -0.5, 2.0, -0.5]);
        assert_eq!(loads, Loads::new(2));
        // Before the first step there is only the instantaneous force.
        let (mut row, mut taken) = (Vec::new(), loads.take(&[Vec3::x() * 3.0, Vec3::zeros()]));
        taken.scalar(&mut row);
        assert_eq!(row, [3.0, 3.0, 0.0]);
    }

    #[test]
    fn columns_match_the_written_values() {
        let mut columns = Vec::new();
        force_columns("hook", &mut columns);
        scalar_columns("pull.tension", "pull.tension_impulse", false, &mut columns);
        let (mut row, mut taken) = (Vec::new(), Loads::new(2).take(&[Vec3::zeros(); 2]));
        taken.vector(&mut row);
        taken.scalar(&mut row);
        assert_eq!(columns.len(), row.len());
        let names: Vec<&str> = columns.iter().map(|column| &column.name[..]).collect();
        assert_eq!(names[0], "hook.force_mean_x");
        assert_eq!(names[3..5], ["hook.force_max", "hook.impulse_x"]);
        assert_eq!(names[7..], ["pull.tension_mean", "pull.tension_max", "pull.tension_impulse"]);
    }
}
