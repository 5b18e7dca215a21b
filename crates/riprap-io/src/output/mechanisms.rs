//! Columns of `series.csv` for mechanisms: coordinates of all of them, and the forces of those that are probed.
//!
//! Forces are those of the equations of motion at the time of the row, with the mean contact forces of the last step.

use riprap::math::Vec3;
use riprap::multibody::{Coordinate, Multibody, MultibodyScratch, MultibodyState};
use riprap::simulation::Frame;

use super::series::AXES;
use crate::build::Built;
use crate::scene_file::{self as file, ForceTarget, JointKind, MechanismQuantity, SceneFile};
use crate::table::Column;

/// What is written of the mechanisms at every output.
#[derive(Debug, Default)]
pub(super) struct Mechanisms {
    moving: Vec<Moving>,
}

/// One mechanism.
#[derive(Debug)]
struct Moving {
    work: MultibodyScratch,
    /// A state of its own, in which laws are in the phases that are due.
    state: MultibodyState,
    /// Places in `q` of the rotations in space: each has four numbers x, y, z, w.
    rotations: Vec<usize>,
    probes: Vec<MechanismQuantity>,
    joints: Vec<(Vec3, Vec3)>,
    needs_forces: bool,
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
            let of_motion = |q: &MechanismQuantity| {
                matches!(q, MechanismQuantity::LoopForces | MechanismQuantity::JointForces)
            };
            moving.push(Moving {
                work: system.scratch(),
                state: system.start().clone(),
                rotations,
                needs_forces: probes.iter().any(of_motion)
                    || system.driven_coordinates().next().is_some(),
                probes,
                joints: Vec::new(),
            });
        }
        Mechanisms { moving }
    }

    /// Adds the numbers of a row.
    pub fn row(&mut self, frame: &Frame, row: &mut Vec<f64>) {
        for (index, moving) in self.moving.iter_mut().enumerate() {
            moving.row(index, frame, row);
        }
    }
}

impl Moving {
    fn row(&mut self, index: usize, frame: &Frame, row: &mut Vec<f64>) {
        let (system, t) = (&frame.scene.mechanisms()[index], frame.state.t);
        self.state.clone_from(&frame.state.mechanisms[index]);
        system.switch_phases(t, &mut self.state);
        let driven: Vec<Coordinate> = system.driven_coordinates().collect();
        let known = self.needs_forces && self.evaluate(index, frame);
        let known_or = |value: f64| if known { value } else { f64::NAN };

        let (state, work) = (&self.state, &mut self.work);
        for c in system.coordinates() {
            row.extend(system.q_of(c).map(|at| state.q[at]));
            row.push(state.v[c.0 as usize]);
            let force = driven.iter().position(|d| *d == c).map(|k| work.drive_forces()[k]);
            row.extend(force.map(known_or));
        }
        for &at in &self.rotations {
            row.extend([3, 0, 1, 2].map(|k| state.q[at + k]));
        }
        for quantity in &self.probes {
            match quantity {
                MechanismQuantity::Forces => {
                    system.tree().kinematics(&state.q, &mut work.tree);
                    system.tree().motion(&state.v, &mut work.tree);
                    for k in 0..system.law_names().count() {
                        row.extend(system.law_values(k, state, t));
                    }
                    for k in 0..system.spring_names().count() {
                        let (tension, length) = system.spring_tension(k, work);
                        row.extend([tension, length]);
                    }
                }
                MechanismQuantity::LoopForces => {
                    row.extend(work.loop_forces().iter().map(|force| known_or(*force)));
                }
                MechanismQuantity::JointForces => {
                    for (force, moment) in &self.joints {
                        row.extend(force.iter().chain(moment.iter()).map(|x| known_or(*x)));
                    }
                }
                MechanismQuantity::Energy => {
                    let (kinetic, potential) = system.energy(&state.q, &state.v, work);
                    row.extend([kinetic, potential]);
                }
            }
        }
    }

    /// Forces in loops, joints and drives; false where the position is singular.
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

/// Columns of the coordinates, in the order of the velocities; gives the places of rotations in space, which come last.
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

/// Columns of a quantity that a probe asks for.
fn probed(
    quantity: MechanismQuantity,
    prefix: &str,
    described: &file::Mechanism,
    system: &Multibody,
    columns: &mut Vec<Column>,
) {
    let mut add = |name: String, unit: &str| columns.push(Column::new(name, unit));
    match quantity {
        MechanismQuantity::Forces => {
            for force in &described.forces {
                let name = |what: &str| format!("{prefix}.{}.{what}", force.name);
                match &force.on {
                    ForceTarget::Coordinate(at) => {
                        let angle = system
                            .coordinate_named(&described.coordinate_name(*at))
                            .is_some_and(|c| system.is_angle(c));
                        add(name("force"), if angle { "N m" } else { "N" });
                    }
                    ForceTarget::Body { .. } => {
                        for (what, unit) in [("force", "N"), ("torque", "N m")] {
                            for axis in AXES {
                                add(name(&format!("{what}_{axis}")), unit);
                            }
                        }
                    }
                }
            }
            for spring in system.spring_names() {
                add(format!("{prefix}.{spring}.tension"), "N");
                add(format!("{prefix}.{spring}.length"), "m");
            }
        }
        MechanismQuantity::LoopForces => {
            for (name, cut) in system.loops() {
                for equation in cut.equation_names() {
                    // `tilt x` and `turn z` are moments.
                    let unit = if equation.starts_with('t') { "N m" } else { "N" };
                    add(format!("{prefix}.{name}.{}", equation.replace(' ', "_")), unit);
                }
            }
        }
        MechanismQuantity::JointForces => {
            for joint in &described.joints {
                for (what, unit) in [("f", "N"), ("m", "N m")] {
                    for axis in AXES {
                        add(format!("{prefix}.{}.{what}{axis}", joint.name), unit);
                    }
                }
            }
        }
        MechanismQuantity::Energy => {
            add(format!("{prefix}.kinetic_energy"), "J");
            add(format!("{prefix}.potential_energy"), "J");
        }
    }
}
