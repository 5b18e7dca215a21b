//! The columns of `series.csv` and how a row is filled: energies, momenta, contacts and solver, then the mechanisms and
//! the probes. Positions, velocities, energies and measures of packings are those at the time of the row; forces have their impulse,
//! mean and maximum since the previous row.

use riprap::assembly::{joint_drift, joint_wrenches};
use riprap::math::{Twist, Vec3};
use riprap::scene::{Body, ConstraintOf, Hold};
use riprap::scheme::{StepReport, Workspace};
use riprap::simulation::Frame;
use serde::{Deserialize, Serialize};

use super::account::Account;
use super::degradation;
use super::loads::{
    AXES, Loads, Taken, acceleration_columns, force_columns, inertial_columns, scalar_columns,
    torque_columns,
};
use super::measures::{KeptMany, ManyBodies};
use super::mechanisms::Mechanisms;
use super::multipliers::{
    constraint_columns, constraint_row, contact_columns, contact_row, cut_of, sample_contacts,
};
use super::population;
use super::ropes::{self, rope_columns, rope_row};
use super::summary::Tally;
use crate::build::Built;
use crate::scene_file::{ContactProbe, JointProbe, JointQuantity, Quantity, RopeProbe, SceneFile};
use crate::table::Column;

/// The columns of every output.
#[derive(Debug)]
pub(super) struct Series {
    pub columns: Vec<Column>,
    has_loops: bool,
    /// Whether stones break or wear.
    degrades: bool,
    /// Whether bodies are inserted or removed.
    exchanges: bool,
    mechanisms: Mechanisms,
    probes: Vec<Follow>,
    joints: Vec<JointProbe>,
    contacts: Vec<ContactProbe>,
    /// Where the energy goes, if that is recorded.
    account: Option<Account>,
    ropes: Vec<RopeProbe>,
    many: ManyBodies,
    /// Forces since the last row.
    loads: Loads,
    /// Forces of one step, in the order of `loads`.
    forces: Vec<Vec3>,
    /// The last step whose forces and work were counted.
    counted: u64,
}

/// The state of the series that is needed to resume it after a step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Kept {
    loads: Loads,
    /// For each probe of a body, the velocity at the end of the last step and the work so far [J].
    probes: Vec<(Twist, f64)>,
    account: Option<Account>,
    /// What probes of regions and planes need.
    many: KeptMany,
}

/// A probe of a body.
#[derive(Debug)]
struct Follow {
    body: Body,
    /// The recorded point, in the frame of the shape [m].
    point: Vec3,
    quantities: Vec<Quantity>,
    /// The other body, if only the contacts with it count.
    contact_with: Option<Body>,
    /// Velocity at the end of the last step.
    before: Twist,
    /// Acceleration in the last step [m/s²].
    acceleration: Vec3,
    /// Work of the contacts so far [J].
    work: f64,
    /// Contact forces on the body in the last step: lever arm from its centre of mass [m], lever arm from the recorded point [m],
    /// mean force [N], and its normal component [N].
    pushes: Vec<(Vec3, Vec3, Vec3, f64)>,
}

/// The columns of the probes of joints.
fn joint_columns(file: &SceneFile, built: &Built, columns: &mut Vec<Column>) {
    for probe in &file.joint_probes {
        let holds_directions = built.scene.joints()[probe.joint].hold != Hold::Ball;
        for quantity in &probe.quantities {
            match quantity {
                JointQuantity::Force => force_columns(&probe.name, columns),
                JointQuantity::Torque => torque_columns(&probe.name, columns),
                JointQuantity::Error => {
                    columns.push(Column::new(format!("{}.error", probe.name), "m"));
                    if holds_directions {
                        let name = format!("{}.error_angle", probe.name);
                        columns.push(Column::new(name, "rad"));
                    }
                }
                JointQuantity::Multipliers => {
                    let cut = cut_of(built.scene.joints()[probe.joint].hold);
                    constraint_columns(&probe.name, &cut, columns);
                }
            }
        }
    }
}

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
        // Sweeps, residual, penetration and loop residual are maxima since the previous row.
        let steps = ["contacts", "sweeps", "residual", "penetration", "unconverged_steps"];
        columns.extend(steps.map(|name| Column::new(name, "-")));
        let has_loops = built.scene.mechanisms().iter().any(|m| m.n_equations() > 0);
        if has_loops {
            columns.push(Column::new("loop_residual", "m"));
        }
        let account = file.run.account.then(Account::default);
        if account.is_some() {
            columns.extend(Account::columns());
        }
        let degrades = built.scene.degrades();
        if degrades {
            columns.extend(degradation::columns());
        }
        let exchanges = built.scene.population().is_some();
        if exchanges {
            columns.extend(population::columns());
        }
        let mechanisms = Mechanisms::new(file, built, &mut columns);
        let mut probes = Vec::new();
        let begin = built.scene.initial_state();
        for probe in &file.probes {
            body_columns(&probe.name, &probe.quantities, &mut columns);
            let body = built.body(probe.body);
            probes.push(Follow {
                body,
                point: Vec3::from(probe.point),
                quantities: probe.quantities.clone(),
                contact_with: probe.contact_with.map(|other| built.body(other)),
                before: begin.v[built.scene.slot(body)],
                acceleration: Vec3::zeros(),
                work: 0.0,
                pushes: Vec::new(),
            });
        }
        joint_columns(file, built, &mut columns);
        for probe in &file.contact_probes {
            contact_columns(probe, &mut columns);
        }
        for probe in &file.rope_probes {
            rope_columns(probe, &mut columns);
        }
        let many = ManyBodies::new(file, &mut columns);
        let (contacts, ropes) = (file.contact_probes.clone(), file.rope_probes.clone());
        make_unique(&mut columns);
        let joints = file.joint_probes.clone();
        let (loads, forces) = (Loads::default(), Vec::new());
        let counted = 0;
        let mut series = Series {
            columns,
            has_loops,
            degrades,
            exchanges,
            mechanisms,
            probes,
            joints,
            contacts,
            account,
            ropes,
            many,
            loads,
            forces,
            counted,
        };
        // The number of forces is known from the initial state.
        let (state, work, step) = (begin, Workspace::default(), StepReport::default());
        let frame =
            Frame { scene: &built.scene, state: &state, work: &work, step: &step, dt: file.run.dt };
        series.sample(&frame);
        series.loads = Loads::new(series.forces.len());
        series
    }

    /// The state needed to resume.
    pub fn kept(&self) -> Kept {
        let probes = self.probes.iter().map(|follow| (follow.before, follow.work)).collect();
        let (loads, account) = (self.loads.clone(), self.account.clone());
        Kept { loads, probes, account, many: self.many.kept() }
    }

    /// Continues after a step with the state stored then; false if it does not match.
    pub fn resume(&mut self, step: u64, kept: &Kept) -> bool {
        let fits = self.probes.len() == kept.probes.len() && self.loads.len() == kept.loads.len();
        for (follow, (before, work)) in self.probes.iter_mut().zip(&kept.probes) {
            (follow.before, follow.work) = (*before, *work);
        }
        let fits = fits && self.account.is_some() == kept.account.is_some();
        self.account.clone_from(&kept.account);
        self.loads.clone_from(&kept.loads);
        self.counted = step;
        self.many.resume(step, &kept.many) && fits
    }

    /// Adds the forces of the last step and the work done by contacts in it.
    pub fn step(&mut self, frame: &Frame) {
        if let Some(account) = &mut self.account {
            account.add(frame);
        }
        self.many.step(frame, frame.state.step > self.counted);
        if frame.state.step > self.counted {
            for follow in &mut self.probes {
                let now = follow.slot(frame).map_or(follow.before, |i| frame.state.v[i]).linear;
                follow.acceleration = (now - follow.before.linear) / frame.dt;
            }
            self.sample(frame);
            self.loads.add(&self.forces, frame.dt);
            for follow in &mut self.probes {
                // The work of an impulse is its product with the mean of the velocities before and after, at the lever arm at which it acted.
                let now = follow.slot(frame).map_or(follow.before, |i| frame.state.v[i]);
                let linear = 0.5 * (follow.before.linear + now.linear);
                let angular = 0.5 * (follow.before.angular + now.angular);
                for (arm, _, force, _) in &follow.pushes {
                    follow.work += frame.dt * force.dot(&(linear + angular.cross(arm)));
                }
            }
        }
        for follow in &mut self.probes {
            follow.before = follow.slot(frame).map_or_else(Twist::default, |i| frame.state.v[i]);
        }
        self.counted = frame.state.step;
    }

    /// Collects the forces of the last step: mechanisms, bodies, joints, point contacts, ropes.
    fn sample(&mut self, frame: &Frame) {
        self.forces.clear();
        self.mechanisms.sample(frame, &mut self.forces);
        gather(&mut self.probes, frame);
        for follow in &self.probes {
            for quantity in &follow.quantities {
                let pushes = follow.pushes.iter();
                match quantity {
                    Quantity::Force => self.forces.push(pushes.map(|push| push.2).sum()),
                    Quantity::Torque => {
                        let torques = pushes.map(|(_, arm, force, _)| arm.cross(force));
                        self.forces.push(torques.sum());
                    }
                    Quantity::NormalForce => {
                        let sum: f64 = pushes.map(|push| push.3).sum();
                        self.forces.push(Vec3::new(sum, 0.0, 0.0));
                    }
                    Quantity::InertialForce => {
                        let mass = follow.slot(frame).map_or(0.0, |i| frame.scene.bodies().mass[i]);
                        self.forces.push(follow.acceleration * mass);
                    }
                    Quantity::Acceleration => self.forces.push(follow.acceleration),
                    _ => {}
                }
            }
        }
        self.sample_joints(frame);
        sample_contacts(&self.contacts, frame, &mut self.forces);
        ropes::sample(&self.ropes, frame, &mut self.forces);
    }

    fn sample_joints(&mut self, frame: &Frame) {
        if self.joints.is_empty() {
            return;
        }
        let wrenches: Vec<_> = joint_wrenches(frame.scene, frame.state, frame.dt).collect();
        for probe in &self.joints {
            let (force, torque) = wrenches[probe.joint];
            for quantity in &probe.quantities {
                match quantity {
                    JointQuantity::Force => self.forces.push(force),
                    JointQuantity::Torque => self.forces.push(torque),
                    JointQuantity::Error | JointQuantity::Multipliers => {}
                }
            }
        }
    }

    /// The values of a row; the statistics per row are reset.
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
            since.penetration / frame.scene.resolution(),
            tally.report.unconverged as f64,
        ]);
        if self.has_loops {
            row.push(since.loop_residual);
        }
        if let Some(account) = &self.account {
            account.row(&mut row);
        }
        if self.degrades {
            degradation::row(frame, &mut row);
        }
        if self.exchanges {
            population::row(frame, &mut row);
        }
        if self.loads.is_empty() {
            self.sample(frame);
        }
        let mut loads = self.loads.take(&self.forces);
        self.mechanisms.row(frame, &mut loads, &mut row);
        for follow in &self.probes {
            follow.row(frame, &mut loads, &mut row);
        }
        for probe in &self.joints {
            for quantity in &probe.quantities {
                match quantity {
                    JointQuantity::Force | JointQuantity::Torque => loads.vector(&mut row),
                    JointQuantity::Error => {
                        let joint = &frame.scene.joints()[probe.joint];
                        let [distance, angle] = joint_drift(joint, &frame.state.q);
                        row.push(distance);
                        row.extend((joint.hold != Hold::Ball).then_some(angle));
                    }
                    JointQuantity::Multipliers => {
                        let cut = cut_of(frame.scene.joints()[probe.joint].hold);
                        let of = ConstraintOf::Joint(probe.joint as u32);
                        constraint_row(frame.state, of, &cut, &mut row);
                    }
                }
            }
        }
        for probe in &self.contacts {
            contact_row(frame, probe, &mut loads, &mut row);
        }
        for probe in &self.ropes {
            rope_row(frame, probe, &mut loads, &mut row);
        }
        self.many.row(frame, &mut row);
        row
    }
}

impl Follow {
    /// Index of the body; `None` if it has broken or was removed.
    fn slot(&self, frame: &Frame) -> Option<usize> {
        frame.scene.contains(self.body).then(|| frame.scene.slot(self.body))
    }

    /// Whether a contact between two bodies counts.
    fn takes(&self, frame: &Frame, bodies: [u32; 2]) -> bool {
        let meets = |body: Body| bodies.contains(&(frame.scene.slot(body) as u32));
        meets(self.body) && self.contact_with.is_none_or(meets)
    }

    fn row(&self, frame: &Frame, loads: &mut Taken, row: &mut Vec<f64>) {
        let slot = self.slot(frame);
        let nowhere = Vec3::repeat(f64::NAN);
        let pose = slot.map(|_| frame.scene.shape_pose(frame.state, self.body));
        let spin = slot.map_or(nowhere, |i| frame.state.v[i].angular);
        let point = pose.map_or(nowhere, |pose| pose.point(self.point));
        for quantity in &self.quantities {
            match quantity {
                Quantity::Position => row.extend(point.iter()),
                Quantity::Velocity => {
                    let origin = slot.map(|_| frame.scene.shape_velocity(frame.state, self.body));
                    let arm = pose.map_or(nowhere, |pose| point - pose.position);
                    row.extend((origin.unwrap_or(nowhere) + spin.cross(&arm)).iter());
                }
                Quantity::Rotation => {
                    let q = slot.map(|i| frame.state.q[i].rotation);
                    row.extend(q.map_or([f64::NAN; 4], |q| [q.w, q.i, q.j, q.k]));
                }
                Quantity::AngularVelocity => row.extend(spin.iter()),
                Quantity::Force
                | Quantity::Torque
                | Quantity::InertialForce
                | Quantity::Acceleration => loads.vector(row),
                Quantity::NormalForce => loads.scalar(row),
                Quantity::Contacts => {
                    let active = frame.work.contacts().active();
                    row.push(active.filter(|c| self.takes(frame, c.bodies)).count() as f64);
                }
                Quantity::Work => row.push(self.work),
            }
        }
    }
}

/// Collects the contact forces on the probed bodies in the last step, in one pass over the contacts. Lever arms are those of
/// the configuration in which the contacts acted, midway through the step.
fn gather(probes: &mut [Follow], frame: &Frame) {
    let mut slots = Vec::new();
    for (k, follow) in probes.iter_mut().enumerate() {
        follow.pushes.clear();
        let of_force = |q: &Quantity| {
            use Quantity::{Force, NormalForce, Torque, Work};
            matches!(q, Force | NormalForce | Torque | Work)
        };
        if follow.quantities.iter().any(of_force) && frame.scene.contains(follow.body) {
            slots.push((frame.scene.slot(follow.body) as u32, k));
        }
    }
    if slots.is_empty() {
        return;
    }
    let middle = frame.work.system.q_m();
    for (contact, impulse) in frame.work.contacts().active().zip(frame.work.impulses()) {
        let arms = frame.work.system.arms(&contact);
        for &(slot, k) in slots.iter().filter(|(slot, _)| contact.bodies.contains(slot)) {
            if !probes[k].takes(frame, contact.bodies) {
                continue;
            }
            let sign = if contact.bodies[1] == slot { 1.0 } else { -1.0 };
            let force = contact.impulse_w(impulse) * (sign / frame.dt);
            let (follow, i) = (&mut probes[k], slot as usize);
            let arm = arms[usize::from(contact.bodies[1] == slot)];
            // The recorded point, relative to the centre of mass.
            let end = &frame.state.q[i];
            let point = frame.scene.shape_pose(frame.state, follow.body).point(follow.point);
            let local = end.rotation.inverse() * (point - end.position);
            let normal = impulse[0] / frame.dt;
            follow.pushes.push((arm, arm - middle[i].rotation * local, force, normal));
        }
    }
}

/// Columns of a probe of a body.
fn body_columns(name: &str, quantities: &[Quantity], columns: &mut Vec<Column>) {
    for quantity in quantities {
        let (word, unit, axes): (_, _, &[&str]) = match quantity {
            Quantity::Position => ("position", "m", &AXES),
            Quantity::Velocity => ("velocity", "m/s", &AXES),
            Quantity::Rotation => ("rotation", "-", &["w", "x", "y", "z"]),
            Quantity::AngularVelocity => ("angular_velocity", "rad/s", &AXES),
            Quantity::Force => {
                force_columns(name, columns);
                continue;
            }
            Quantity::Torque => {
                torque_columns(name, columns);
                continue;
            }
            Quantity::NormalForce => {
                let (force, impulse) = (format!("{name}.normal_force"), "normal_impulse");
                scalar_columns(&force, &format!("{name}.{impulse}"), false, columns);
                continue;
            }
            Quantity::InertialForce => {
                inertial_columns(name, columns);
                continue;
            }
            Quantity::Acceleration => {
                acceleration_columns(name, columns);
                continue;
            }
            Quantity::Contacts => ("contacts", "-", &[]),
            Quantity::Work => ("work", "J", &[]),
        };
        if axes.is_empty() {
            columns.push(Column::new(format!("{name}.{word}"), unit));
        }
        let with_axis = |axis: &&str| Column::new(format!("{name}.{word}_{axis}"), unit);
        columns.extend(axes.iter().map(with_axis));
    }
}

/// Numbers duplicate names, such as a force with the name of a driven coordinate.
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
    fn columns_of_the_same_name_are_numbered_uniquely() {
        let names = |given: &[&str]| {
            let mut columns: Vec<Column> =
                given.iter().map(|name| Column::new(*name, "N")).collect();
            make_unique(&mut columns);
            columns.into_iter().map(|column| column.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["a", "b"]), ["a", "b"]);
        assert_eq!(names(&["a", "a", "a"]), ["a", "a-2", "a-3"]);
        // A name that looks like a numbered one.
        assert_eq!(names(&["a", "a-2", "a"]), ["a", "a-2", "a-3"]);
        assert_eq!(names(&["a", "a", "a-2"]), ["a", "a-2", "a-2-2"]);
    }
}
