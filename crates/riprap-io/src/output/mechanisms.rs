//! Columns of `series.csv` for mechanisms: the coordinates of all mechanisms, and the forces of those with a probe.
//!
//! Forces are those of the equations of motion at the end of each step, with the mean contact forces of that step; the series
//! contains their impulses, means and maxima over the output interval.

use riprap::math::Vec3;
use riprap::multibody::{Coordinate, Multibody, MultibodyScratch, MultibodyState};
use riprap::scene::ConstraintOf;
use riprap::simulation::Frame;

use super::loads::{Taken, force_columns, scalar_columns, torque_columns};
use super::multipliers::{constraint_columns, constraint_row};
use crate::build::Built;
use crate::scene_file::{self as file, ForceTarget, JointKind, MechanismQuantity, SceneFile};
use crate::table::Column;

/// The mechanism columns of every output.
#[derive(Debug, Default)]
pub(super) struct Mechanisms {
    moving: Vec<Moving>,
}

/// One mechanism.
#[derive(Debug)]
struct Moving {
    work: MultibodyScratch,
    /// A separate state, with the laws in their current phases.
    state: MultibodyState,
    driven: Vec<Coordinate>,
    /// Indices in `q` of spatial rotations; each has four values x, y, z, w.
    rotations: Vec<usize>,
    probes: Vec<MechanismQuantity>,
    joints: Vec<(Vec3, Vec3)>,
}

impl Mechanisms {
    /// Adds the columns of all mechanisms.
    pub fn new(file: &SceneFile, built: &Built, columns: &mut Vec<Column>) -> Mechanisms {
        let mut moving = Vec::new();
        for (index, described) in file.mechanisms.iter().enumerate() {
            let system = &built.scene.mechanisms()[index];
            let rotations = coordinates(described, system, columns);
            let mut probes = Vec::new();
            for probe in file.mechanism_probes.iter().filter(|probe| probe.mechanism == index) {
                for quantity in &probe.quantities {
                    probed(*quantity, &probe.name, described, system, columns);
                    probes.push(*quantity);
                }
            }
            moving.push(Moving {
                work: system.scratch(),
                state: system.start().clone(),
                driven: system.driven_coordinates().collect(),
                rotations,
                probes,
                joints: Vec::new(),
            });
        }
        Mechanisms { moving }
    }

    /// Adds the probed forces at the end of a step; a scalar is stored in the first component.
    pub fn sample(&mut self, frame: &Frame, forces: &mut Vec<Vec3>) {
        for (index, moving) in self.moving.iter_mut().enumerate() {
            moving.sample(index, frame, forces);
        }
    }

    /// Adds the values of a row; `loads` are the forces of [`Mechanisms::sample`] over the interval.
    pub fn row(&mut self, frame: &Frame, loads: &mut Taken, row: &mut Vec<f64>) {
        for (index, moving) in self.moving.iter_mut().enumerate() {
            moving.row(index, frame, loads, row);
        }
    }
}

impl Moving {
    /// Copies the state of a frame.
    fn follow(&mut self, index: usize, frame: &Frame) {
        self.state.clone_from(&frame.state.mechanisms[index]);
        frame.scene.mechanisms()[index].switch_phases(frame.state.t, &mut self.state);
    }

    fn sample(&mut self, index: usize, frame: &Frame, forces: &mut Vec<Vec3>) {
        let of_force = |quantity: &MechanismQuantity| {
            !matches!(quantity, MechanismQuantity::Energy | MechanismQuantity::Multipliers)
        };
        if !self.probes.iter().any(of_force) {
            return;
        }
        let (system, t) = (&frame.scene.mechanisms()[index], frame.state.t);
        self.follow(index, frame);
        let of_motion = |quantity: &MechanismQuantity| match quantity {
            MechanismQuantity::LoopForces | MechanismQuantity::JointForces => true,
            MechanismQuantity::Forces => !self.driven.is_empty(),
            MechanismQuantity::Energy | MechanismQuantity::Multipliers => false,
        };
        let needed = self.probes.iter().any(of_motion);
        let known = needed && self.evaluate(index, frame);
        let scalar = |value: f64| Vec3::new(value, 0.0, 0.0);
        let known_or = |value: f64| if known { value } else { f64::NAN };
        let (state, work) = (&self.state, &mut self.work);
        for quantity in &self.probes {
            match quantity {
                MechanismQuantity::Forces => {
                    for k in 0..system.law_names().count() {
                        let values: Vec<f64> = system.law_values(k, state, t).collect();
                        match values[..] {
                            [fx, fy, fz, mx, my, mz] => {
                                forces.extend([Vec3::new(fx, fy, fz), Vec3::new(mx, my, mz)]);
                            }
                            _ => forces.extend(values.into_iter().map(scalar)),
                        }
                    }
                    system.tree().kinematics(&state.q, &mut work.tree);
                    system.tree().motion(&state.v, &mut work.tree);
                    for k in 0..system.spring_names().count() {
                        forces.push(scalar(system.spring_tension(k, work).0));
                    }
                    let drives = work.drive_forces().iter().take(self.driven.len());
                    forces.extend(drives.map(|force| scalar(known_or(*force))));
                }
                MechanismQuantity::LoopForces => {
                    let loops = work.loop_forces().iter();
                    forces.extend(loops.map(|force| scalar(known_or(*force))));
                }
                MechanismQuantity::JointForces => {
                    for (force, moment) in &self.joints {
                        forces.extend([force.map(known_or), moment.map(known_or)]);
                    }
                }
                MechanismQuantity::Energy | MechanismQuantity::Multipliers => {}
            }
        }
    }

    fn row(&mut self, index: usize, frame: &Frame, loads: &mut Taken, row: &mut Vec<f64>) {
        let system = &frame.scene.mechanisms()[index];
        self.follow(index, frame);
        let known = !self.driven.is_empty() && self.evaluate(index, frame);
        let known_or = |value: f64| if known { value } else { f64::NAN };

        let (state, work) = (&self.state, &mut self.work);
        for c in system.coordinates() {
            row.extend(system.q_of(c).map(|at| state.q[at]));
            row.push(state.v[c.0 as usize]);
            let force = self.driven.iter().position(|d| *d == c).map(|k| work.drive_forces()[k]);
            row.extend(force.map(known_or));
        }
        for &at in &self.rotations {
            row.extend([3, 0, 1, 2].map(|k| state.q[at + k]));
        }
        for quantity in &self.probes {
            match quantity {
                MechanismQuantity::Forces => {
                    for k in 0..system.law_names().count() {
                        // A law on a body has a force and a torque.
                        match system.law_values(k, state, frame.state.t).count() {
                            6 => (0..2).for_each(|_| loads.vector(row)),
                            _ => loads.scalar(row),
                        }
                    }
                    system.tree().kinematics(&state.q, &mut work.tree);
                    system.tree().motion(&state.v, &mut work.tree);
                    for k in 0..system.spring_names().count() {
                        loads.scalar(row);
                        row.push(system.spring_tension(k, work).1);
                    }
                    self.driven.iter().for_each(|_| loads.scalar(row));
                }
                MechanismQuantity::LoopForces => {
                    (0..system.n_equations()).for_each(|_| loads.scalar(row));
                }
                MechanismQuantity::JointForces => {
                    (0..2 * system.n_links()).for_each(|_| loads.vector(row));
                }
                MechanismQuantity::Energy => {
                    let (kinetic, potential) = system.energy(&state.q, &state.v, work);
                    row.extend([kinetic, potential]);
                }
                MechanismQuantity::Multipliers => {
                    for (k, (_, cut)) in system.loops().enumerate() {
                        let of = ConstraintOf::Loop(index as u32, k as u32);
                        constraint_row(frame.state, of, &cut, row);
                    }
                }
            }
        }
    }

    /// Forces in loops, joints and drives; false if the configuration is singular.
    fn evaluate(&mut self, index: usize, frame: &Frame) -> bool {
        let (system, t) = (&frame.scene.mechanisms()[index], frame.state.t);
        let (state, work) = (&self.state, &mut self.work);
        let carried = &frame.scene.bodies().carried;
        work.pushes.clear();
        for contact in frame.contacts() {
            for (body, sign) in [(contact.bodies[0], -1.0), (contact.bodies[1], 1.0)] {
                if let Some(carried) =
                    carried[frame.scene.slot(body)].filter(|c| c.mechanism.index() == index)
                {
                    work.pushes.push((carried.link, contact.point, contact.force * sign));
                }
            }
        }
        system.tree().kinematics(&state.q, &mut work.tree);
        let (partition, at) = (&state.partition, (&state.q[..], &state.v[..]));
        let moved = system
            .linearize(partition, t, work)
            .and_then(|()| system.dynamics(at, &state.control, partition, t, None, work));
        self.joints.resize(system.n_links(), Default::default());
        if moved.is_err() {
            return false;
        }
        system.reactions(partition, work);
        system.joint_wrenches(work, &mut self.joints);
        true
    }
}

/// Columns of the coordinates, in the order of the velocities. Returns the indices of spatial rotations, which come last.
fn coordinates(
    described: &file::Mechanism,
    system: &Multibody,
    columns: &mut Vec<Column>,
) -> Vec<usize> {
    let driven: Vec<Coordinate> = system.driven_coordinates().collect();
    for c in system.coordinates() {
        let name = |what: &str| format!("{}.{}.{what}", described.name, system.coordinate_name(c));
        let angle = system.is_angle(c);
        if system.q_of(c).is_some() {
            columns.push(Column::new(name("q"), if angle { "rad" } else { "m" }));
        }
        columns.push(Column::new(name("v"), if angle { "rad/s" } else { "m/s" }));
        if driven.contains(&c) {
            columns.push(Column::new(name("force"), if angle { "N m" } else { "N" }));
        }
    }
    let (mut next, mut rotations) = (0, Vec::new());
    for joint in &described.joints {
        next += joint.kind.n_positions();
        if let JointKind::Spherical | JointKind::Free = joint.kind {
            rotations.push(next - 4);
            let name = |axis| format!("{}.{}.q_{axis}", described.name, joint.name);
            columns.extend(["w", "x", "y", "z"].map(|axis| Column::new(name(axis), "-")));
        }
    }
    rotations
}

/// Columns of a quantity requested by a probe.
fn probed(
    quantity: MechanismQuantity,
    prefix: &str,
    described: &file::Mechanism,
    system: &Multibody,
    columns: &mut Vec<Column>,
) {
    match quantity {
        MechanismQuantity::Forces => {
            for force in &described.forces {
                let name = format!("{prefix}.{}", force.name);
                match &force.on {
                    ForceTarget::Coordinate(at) => {
                        let angle = system
                            .coordinate_named(&described.coordinate_name(*at))
                            .is_some_and(|c| system.is_angle(c));
                        let [what, impulse] = ["force", "impulse"].map(|w| format!("{name}.{w}"));
                        scalar_columns(&what, &impulse, angle, columns);
                    }
                    ForceTarget::Body { .. } => {
                        force_columns(&name, columns);
                        torque_columns(&name, columns);
                    }
                }
            }
            for joint in described.joints.iter().filter(|joint| joint.servo.is_some()) {
                let name = format!("{prefix}.{}.target", joint.name);
                let angle = matches!(joint.kind, JointKind::Revolute { .. });
                scalar_columns(&name, &format!("{name}_impulse"), angle, columns);
            }
            for spring in system.spring_names() {
                let name = format!("{prefix}.{spring}.tension");
                scalar_columns(&name, &format!("{name}_impulse"), false, columns);
                columns.push(Column::new(format!("{prefix}.{spring}.length"), "m"));
            }
            for c in system.driven_coordinates() {
                let name = format!("{prefix}.{}.drive", system.coordinate_name(c));
                scalar_columns(&name, &format!("{name}_impulse"), system.is_angle(c), columns);
            }
        }
        MechanismQuantity::LoopForces => {
            for (name, cut) in system.loops() {
                for equation in cut.equation_names() {
                    let what = format!("{prefix}.{name}.{}", equation.replace(' ', "_"));
                    // `tilt x` and `turn z` are moments.
                    let angular = equation.starts_with('t');
                    scalar_columns(&what, &format!("{what}_impulse"), angular, columns);
                }
            }
        }
        MechanismQuantity::JointForces => {
            for joint in &described.joints {
                let name = format!("{prefix}.{}", joint.name);
                force_columns(&name, columns);
                torque_columns(&name, columns);
            }
        }
        MechanismQuantity::Energy => {
            columns.push(Column::new(format!("{prefix}.kinetic_energy"), "J"));
            columns.push(Column::new(format!("{prefix}.potential_energy"), "J"));
        }
        MechanismQuantity::Multipliers => {
            for (name, cut) in system.loops() {
                constraint_columns(&format!("{prefix}.{name}"), &cut, columns);
            }
        }
    }
}
