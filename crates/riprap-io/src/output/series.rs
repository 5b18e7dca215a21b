//! The columns of `series.csv` and how a row is filled: energies, momenta, contacts and solver, then the mechanisms and
//! the probes.

use riprap::assembly::{joint_drift, joint_wrenches};
use riprap::math::{Twist, Vec3};
use riprap::scene::{Body, Hold};
use riprap::simulation::Frame;

use super::mechanisms::Mechanisms;
use super::summary::Tally;
use crate::build::Built;
use crate::scene_file::{JointProbe, JointQuantity, Quantity, SceneFile};
use crate::table::Column;

/// What is written at every output.
#[derive(Debug)]
pub(super) struct Series {
    pub columns: Vec<Column>,
    has_loops: bool,
    mechanisms: Mechanisms,
    probes: Vec<Follow>,
    joints: Vec<JointProbe>,
    /// The last step whose work was counted.
    counted: u64,
}

/// A probe of a body.
#[derive(Debug)]
struct Follow {
    body: Body,
    /// The point that is followed, in the frame of the shape [m].
    point: Vec3,
    quantities: Vec<Quantity>,
    /// Velocity at the end of the last step.
    before: Twist,
    /// Work of the contacts so far [J].
    work: f64,
}

pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

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
        // Sweeps, residual, penetration and loop residual are the worst since the row before.
        let steps = ["contacts", "sweeps", "residual", "penetration", "unconverged_steps"];
        columns.extend(steps.map(|name| Column::new(name, "-")));
        let has_loops = built.scene.mechanisms().iter().any(|m| m.n_equations() > 0);
        if has_loops {
            columns.push(Column::new("loop_residual", "m"));
        }
        let mechanisms = Mechanisms::new(file, built, &mut columns);
        let mut probes = Vec::new();
        let begin = built.scene.initial_state();
        for probe in &file.probes {
            for quantity in &probe.quantities {
                let (word, unit, axes): (_, _, &[&str]) = match quantity {
                    Quantity::Position => ("position", "m", &AXES),
                    Quantity::Velocity => ("velocity", "m/s", &AXES),
                    Quantity::Rotation => ("rotation", "-", &["w", "x", "y", "z"]),
                    Quantity::AngularVelocity => ("angular_velocity", "rad/s", &AXES),
                    Quantity::Force => ("force", "N", &AXES),
                    Quantity::Torque => ("torque", "N m", &AXES),
                    Quantity::Contacts => ("contacts", "-", &[]),
                    Quantity::Work => ("work", "J", &[]),
                };
                if axes.is_empty() {
                    columns.push(Column::new(format!("{}.{word}", probe.name), unit));
                }
                let name = |axis: &&str| format!("{}.{word}_{axis}", probe.name);
                columns.extend(axes.iter().map(|axis| Column::new(name(axis), unit)));
            }
            let body = built.body(probe.body);
            probes.push(Follow {
                body,
                point: Vec3::from(probe.point),
                quantities: probe.quantities.clone(),
                before: begin.v[built.scene.slot(body)],
                work: 0.0,
            });
        }
        for probe in &file.joint_probes {
            let holds_directions = built.scene.joints()[probe.joint].hold != Hold::Ball;
            let mut add = |what: &str, unit: &str| {
                columns.push(Column::new(format!("{}.{what}", probe.name), unit));
            };
            for quantity in &probe.quantities {
                match quantity {
                    JointQuantity::Force => {
                        AXES.iter().for_each(|axis| add(&format!("f{axis}"), "N"))
                    }
                    JointQuantity::Torque => {
                        AXES.iter().for_each(|axis| add(&format!("m{axis}"), "N m"));
                    }
                    JointQuantity::Error => {
                        add("error", "m");
                        if holds_directions {
                            add("error_angle", "rad");
                        }
                    }
                }
            }
        }
        make_unique(&mut columns);
        let joints = file.joint_probes.clone();
        Series { columns, has_loops, mechanisms, probes, joints, counted: 0 }
    }

    /// What has to be kept to go on later: of each probe the velocity at the end of the last step and the work so far [J].
    pub fn progress(&self) -> Vec<(Twist, f64)> {
        self.probes.iter().map(|follow| (follow.before, follow.work)).collect()
    }

    /// Goes on after a step with what was kept then; false if it does not fit.
    pub fn resume(&mut self, step: u64, kept: &[(Twist, f64)]) -> bool {
        for (follow, (before, work)) in self.probes.iter_mut().zip(kept) {
            (follow.before, follow.work) = (*before, *work);
        }
        self.counted = step;
        self.probes.len() == kept.len()
    }

    /// Counts the work that contacts have done in the last step.
    pub fn step(&mut self, frame: &Frame) {
        let counts = frame.state.step > self.counted;
        for follow in &mut self.probes {
            if !follow.quantities.contains(&Quantity::Work) {
                continue;
            }
            let i = frame.scene.slot(follow.body);
            let now = frame.state.v[i];
            if counts {
                // An impulse works on the mean of the velocities before and after.
                let linear = 0.5 * (follow.before.linear + now.linear);
                let angular = 0.5 * (follow.before.angular + now.angular);
                for (point, force) in pushes(frame, follow.body) {
                    let arm = point - frame.state.q[i].position;
                    follow.work += frame.dt * force.dot(&(linear + angular.cross(&arm)));
                }
            }
            follow.before = now;
        }
        self.counted = frame.state.step;
    }

    /// The numbers of a row; what is counted from row to row starts anew.
    pub fn row(&mut self, frame: &Frame, tally: &mut Tally) -> Vec<f64> {
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
            tally.report.unconverged as f64,
        ]);
        if self.has_loops {
            row.push(since.loop_residual);
        }
        self.mechanisms.row(frame, &mut row);
        for follow in &self.probes {
            follow.row(frame, &mut row);
        }
        self.joints(frame, &mut row);
        row
    }

    fn joints(&self, frame: &Frame, row: &mut Vec<f64>) {
        if self.joints.is_empty() {
            return;
        }
        let wrenches: Vec<_> = joint_wrenches(frame.scene, frame.state, frame.dt).collect();
        for probe in &self.joints {
            let (force, torque) = wrenches[probe.joint];
            for quantity in &probe.quantities {
                match quantity {
                    JointQuantity::Force => row.extend(force.iter()),
                    JointQuantity::Torque => row.extend(torque.iter()),
                    JointQuantity::Error => {
                        let joint = &frame.scene.joints()[probe.joint];
                        let [distance, angle] = joint_drift(joint, &frame.state.q);
                        row.push(distance);
                        row.extend((joint.hold != Hold::Ball).then_some(angle));
                    }
                }
            }
        }
    }
}

impl Follow {
    fn row(&self, frame: &Frame, row: &mut Vec<f64>) {
        let pose = frame.scene.shape_pose(frame.state, self.body);
        let spin = frame.state.v[frame.scene.slot(self.body)].angular;
        let point = pose.point(self.point);
        for quantity in &self.quantities {
            match quantity {
                Quantity::Position => row.extend(point.iter()),
                Quantity::Velocity => {
                    let origin = frame.scene.shape_velocity(frame.state, self.body);
                    row.extend((origin + spin.cross(&(point - pose.position))).iter());
                }
                Quantity::Rotation => {
                    let q = frame.state.q[frame.scene.slot(self.body)].rotation;
                    row.extend([q.w, q.i, q.j, q.k]);
                }
                Quantity::AngularVelocity => row.extend(spin.iter()),
                Quantity::Force => row.extend(frame.contact_force(self.body).iter()),
                Quantity::Torque => {
                    let torque: Vec3 = pushes(frame, self.body)
                        .map(|(at, force)| (at - point).cross(&force))
                        .sum();
                    row.extend(torque.iter());
                }
                Quantity::Contacts => row.push(pushes(frame, self.body).count() as f64),
                Quantity::Work => row.push(self.work),
            }
        }
    }
}

/// Points at which a body is touched [m] and the mean forces on it over the last step [N].
fn pushes<'a>(frame: &'a Frame, body: Body) -> impl Iterator<Item = (Vec3, Vec3)> + 'a {
    frame.contacts().filter_map(move |contact| match contact.bodies {
        [_, second] if second == body => Some((contact.point, contact.force)),
        [first, _] if first == body => Some((contact.point, -contact.force)),
        _ => None,
    })
}

/// Numbers names that are used again, as a force that is called like a driven coordinate.
fn make_unique(columns: &mut [Column]) {
    let mut seen = std::collections::HashSet::new();
    for column in columns {
        let (name, mut number) = (column.name.clone(), 2);
        while !seen.insert(column.name.clone()) {
            column.name = format!("{name}-{number}");
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_one_name_are_numbered_and_never_meet() {
        let names = |given: &[&str]| {
            let mut columns: Vec<Column> =
                given.iter().map(|name| Column::new(*name, "N")).collect();
            make_unique(&mut columns);
            columns.into_iter().map(|column| column.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["a", "b"]), ["a", "b"]);
        assert_eq!(names(&["a", "a", "a"]), ["a", "a-2", "a-3"]);
        // A name that looks like a number given before.
        assert_eq!(names(&["a", "a-2", "a"]), ["a", "a-2", "a-3"]);
        assert_eq!(names(&["a", "a", "a-2"]), ["a", "a-2", "a-2-2"]);
    }
}
