//! Runs of the tamping machine of docquier2020 Sec. 6: first in free air, then through its cycle in a settled bed, with measurements.
//! A run can be stored at any step; a resumed run is bitwise identical.

use crate::scenes::tamping::{
    Bed, CHASSIS, HALF_PLATE, Harmonic, INDEPENDENT, SLEEPER, SLEEPER_BOTTOM, SQUEEZE, Schedule,
    Settled, Start, TIP, machine, tamping,
};
use riprap::prelude::*;
use riprap::shape::Polyhedron;
use riprap::simulation::{Error, RunReport};
use serde::{Deserialize, Serialize};

/// One of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Frequency of the flywheel [Hz].
    pub frequency: f64,
    /// Whether the chassis follows its oscillation in free air.
    pub imposed: bool,
}

impl Case {
    /// The four runs of the paper.
    pub const ALL: [Case; 4] = [
        Case { frequency: 15.0, imposed: false },
        Case { frequency: 30.0, imposed: false },
        Case { frequency: 45.0, imposed: false },
        Case { frequency: 15.0, imposed: true },
    ];

    /// Name in tables and legends.
    pub fn name(&self) -> String {
        let way = if self.imposed { "imposed" } else { "dynamic" };
        format!("{} Hz {way}", self.frequency)
    }

    /// Names of the runs on the command line, in the order of [`Case::ALL`].
    pub const NAMES: [&str; 4] = ["15", "30", "45", "imposed"];

    /// The run with a name from the command line.
    pub fn named(name: &str) -> Option<Case> {
        Case::NAMES.iter().position(|n| *n == name).map(|k| Case::ALL[k])
    }
}

/// Time step and tolerance of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Time step [s].
    pub dt: f64,
    /// Tolerance of the contact solver [–].
    pub tolerance: f64,
}

/// Longest and shortest time step of a run [s]. With longer steps, the loops of the machine, vibrating at 45 Hz, may fail to close.
const STEPS: [f64; 2] = [2e-3, 1e-5];

/// Checks a time step [s]: the times of the cycle are multiples of 0.1 s and must be multiples of the step.
pub fn check_step(dt: f64) -> Result<(), String> {
    let [longest, shortest] = STEPS;
    let whole = (0.1 / dt - (0.1 / dt).round()).abs() < 1e-6;
    if whole && (shortest..=longest).contains(&dt) {
        return Ok(());
    }
    let (shortest, longest) = (1e3 * shortest, 1e3 * longest);
    Err(format!(
        "expected a step of {shortest} to {longest} ms that divides 0.1 s, such as 0.25 ms"
    ))
}

/// Checks a solver tolerance [–].
pub fn check_tolerance(tolerance: f64) -> Result<(), String> {
    if (1e-10..=1e-1).contains(&tolerance) {
        return Ok(());
    }
    Err("expected a tolerance from 1e-10 to 0.1, such as 1e-3".into())
}

/// Steady motion of the machine in free air.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Air {
    /// Position and velocity at the start of the dive.
    pub start: Start,
    /// Oscillation of the chassis relative to the support, with time measured from the start of the dive.
    pub chassis: [Harmonic; 3],
}

/// Time in free air before the dive [s]: whole periods of every frequency, and long enough for the transient to decay.
const AIR: f64 = 4.0;

/// Runs the machine in free air at a height of its support [m] and measures the last second.
pub fn in_air(frequency: f64, height: f64, dt: f64) -> Result<Air, Error> {
    let mut scene = Scene::builder();
    scene.material(&Material::new("steel").friction(0.7));
    scene.add_mechanism(machine(frequency, height, None, None, None));
    let mut run = crate::scenes::start(&scene, dt, 0.5, 1e-8);
    let system = &run.scene().mechanisms()[0];
    let place = |name: &str| {
        let c = system.coordinate_named(name).expect("a coordinate of the machine");
        (system.q_of(c).expect("one coordinate"), c.0 as usize)
    };
    let (chassis, independent) = (CHASSIS.map(place), INDEPENDENT.map(place));
    run.until(AIR - 1.0, &mut ())?;
    let n = (1.0 / dt).round() as usize;
    let mut sums = [Harmonic::default(); 3];
    for k in 1..=n {
        run.step()?;
        let t = k as f64 * dt - 1.0;
        let (s, c) = (std::f64::consts::TAU * frequency * t).sin_cos();
        for (sum, (q, _)) in sums.iter_mut().zip(chassis) {
            let x = run.state().mechanisms[0].q[q] / n as f64;
            sum.mean += x;
            sum.cosine += 2.0 * c * x;
            sum.sine += 2.0 * s * x;
        }
    }
    let state = &run.state().mechanisms[0];
    Ok(Air { start: independent.map(|(q, v)| [state.q[q], state.v[v]]), chassis: sums })
}

/// Sample recorded after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Time [s].
    pub t: f64,
    /// Height of the support [m].
    pub support: f64,
    /// Height of the chassis [m].
    pub chassis: f64,
    /// Height of the lower tip [m].
    pub tip: f64,
    /// Length of the actuator [m] and its force [N].
    pub length: f64,
    /// See `length`.
    pub force: f64,
    /// Energy transferred to the ballast since the start [J].
    pub given: f64,
    /// Contacts and sweeps of the step.
    pub contacts: usize,
    /// See `contacts`.
    pub sweeps: usize,
    /// Residual of the step [–].
    pub residual: f64,
}

/// A run, finished or not, and its measurements. A stored and resumed run is bitwise identical.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// The case.
    pub case: Case,
    /// Schedule.
    pub schedule: Schedule,
    /// Time step and tolerance.
    pub accuracy: Accuracy,
    /// Whether overlaps are corrected; not stored.
    #[serde(skip)]
    pub correct: bool,
    /// The machine in free air.
    pub air: Air,
    /// Samples: initially and after every step.
    pub samples: Vec<Sample>,
    /// Sums over all steps; wall times add up over the parts of an interrupted run.
    pub report: RunReport,
    /// Largest number of threads it ran on.
    pub threads: usize,
    /// Wall time of the first 2 s, the time simulated in the paper [s].
    pub wall_2s: f64,
    /// Solid fraction under the sleeper between the ends of the plates [–]: initially, after the squeeze, at the end.
    pub filling: [f64; 3],
    /// Energy lost in the bushings [J].
    pub lost: f64,
    /// Initial energy of the machine [J].
    pub energy: f64,
    /// Energy put into the machine by drives and prescribed motions until the end [J].
    pub put_in: f64,
    /// Number of stones outside the walls at the end.
    pub outside: usize,
    /// State of stones and machine after the squeeze, for a picture.
    pub squeezed: State,
    /// The current state.
    pub state: State,
}

/// Simulated time between checkpoints [s].
const KEEP_EVERY: f64 = 0.05;

impl Run {
    /// A case over a settled bed, before its first step.
    pub fn begin(
        settled: &Settled,
        case: Case,
        schedule: Schedule,
        accuracy: Accuracy,
    ) -> Result<Run, Error> {
        let air = in_air(case.frequency, schedule.start, accuracy.dt)?;
        let stage = Stage::new(settled, case, schedule, accuracy, false, &air);
        Ok(Run {
            case,
            schedule,
            accuracy,
            correct: false,
            air,
            samples: vec![stage.sample(0.0)],
            report: RunReport::default(),
            threads: 1,
            wall_2s: 0.0,
            filling: [stage.filling(); 3],
            lost: 0.0,
            energy: stage.energy(),
            put_in: 0.0,
            outside: 0,
            squeezed: State::default(),
            state: stage.run.state().clone(),
        })
    }

    /// Number of steps of the whole run.
    pub fn steps(&self) -> u64 {
        self.step_at(self.schedule.end)
    }

    /// Whether it is finished.
    pub fn is_finished(&self) -> bool {
        self.state.step >= self.steps()
    }

    fn step_at(&self, t: f64) -> u64 {
        (t / self.accuracy.dt).round() as u64
    }

    /// Runs to the end of the cycle over the same bed. `keep` receives the run every 0.05 s and at its end; an error from `keep`
    /// stops the run.
    pub fn finish<E: From<Error>>(
        &mut self,
        settled: &Settled,
        keep: &mut dyn FnMut(&Run) -> Result<(), E>,
    ) -> Result<(), E> {
        let (steps, dt) = (self.steps(), self.accuracy.dt);
        let mut stage =
            Stage::new(settled, self.case, self.schedule, self.accuracy, self.correct, &self.air);
        stage.run.set_state(self.state.clone())?;
        let every = self.step_at(KEEP_EVERY).max(1);
        let squeezed = self.step_at(self.schedule.open);
        let (begin, before) = (std::time::Instant::now(), self.report.wall);
        let mut given = self.samples.last().map_or(0.0, |s| s.given);
        self.threads = self.threads.max(rayon::current_num_threads());
        for k in self.state.step + 1..=steps {
            let arms = stage.arms.map(|arm| (stage.run.pose(arm), stage.run.velocity(arm)));
            let [x0, z0, turn0] = stage.chassis_velocity();
            self.report.add(&stage.run.step()?);
            let [x1, z1, turn1] = stage.chassis_velocity();
            // Two bushings 0.6 m apart, 0.25 m above the origin of the chassis, each with 200 N s/m.
            let (x, z, turn) = (0.5 * (x0 + x1), 0.5 * (z0 + z1), 0.5 * (turn0 + turn1));
            let rate = 2.0 * ((x - 0.25 * turn).powi(2) + z * z + (0.3 * turn).powi(2));
            self.lost += 200.0 * rate * dt;
            given += work_on_stones(&stage.run, &stage.arms, &arms, dt);
            self.samples.push(stage.sample(given));
            let wall = before + begin.elapsed().as_secs_f64();
            if k == squeezed {
                self.filling[1] = stage.filling();
                self.wall_2s = wall;
                // The picture does not need impulses.
                self.squeezed = State { warm_start: Vec::new(), ..stage.run.state().clone() };
            }
            if k == steps {
                self.filling[2] = stage.filling();
                self.put_in = stage.energy() - self.energy + given + self.lost;
                self.outside = stage.outside();
            }
            if k == steps || k.is_multiple_of(every) {
                self.report.wall = wall;
                self.state.clone_from(stage.run.state());
                keep(self)?;
            }
        }
        Ok(())
    }
}

/// The simulation of a run and the bodies and coordinates that are recorded.
struct Stage<'a> {
    settled: &'a Settled,
    schedule: Schedule,
    run: Simulation,
    stones: Vec<Body>,
    arms: [Body; 2],
    id: MechanismId,
    /// Indices of support, chassis and actuator in positions and velocities.
    support: (usize, usize),
    height: (usize, usize),
    actuator: (usize, usize),
    chassis: [(usize, usize); 3],
}

impl<'a> Stage<'a> {
    fn new(
        settled: &'a Settled,
        case: Case,
        schedule: Schedule,
        accuracy: Accuracy,
        correct: bool,
        air: &Air,
    ) -> Stage<'a> {
        let imposed = case.imposed.then_some(air.chassis);
        let machine =
            machine(case.frequency, schedule.start, Some(schedule), Some(&air.start), imposed);
        let (scene, stones, id) = tamping(settled, machine);
        let (dt, tolerance) = (accuracy.dt, accuracy.tolerance);
        let run = crate::scenes::start_corrected(&scene, dt, tolerance, correct);
        let system = &run.scene().mechanisms()[id.index()];
        let place = |name: &str| {
            let c = system.coordinate_named(name).expect("a coordinate of the machine");
            (system.q_of(c).expect("one coordinate"), c.0 as usize)
        };
        let arms = ["phiL", "phiR"].map(|name| {
            run.scene().link_body(id, system.link_named(name).expect("an arm of the machine"))
        });
        let (support, height, actuator) = (place("zs"), place("zc"), place("xa"));
        let chassis = CHASSIS.map(place);
        Stage { settled, schedule, run, stones, arms, id, support, height, actuator, chassis }
    }

    /// Position and velocity of the machine in joint coordinates.
    fn machine(&self) -> &riprap::multibody::MultibodyState {
        &self.run.state().mechanisms[self.id.index()]
    }

    /// Velocity of the chassis relative to the support: x, z, rotation [m/s, rad/s].
    fn chassis_velocity(&self) -> [f64; 3] {
        self.chassis.map(|(_, v)| self.machine().v[v])
    }

    /// Energy of the machine [J].
    fn energy(&self) -> f64 {
        let (system, m) = (&self.run.scene().mechanisms()[self.id.index()], self.machine());
        let (kinetic, potential) = system.energy(&m.q, &m.v, &mut system.scratch());
        kinetic + potential
    }

    /// Sample after a step, with the energy transferred to the ballast so far [J].
    fn sample(&self, given: f64) -> Sample {
        let (state, step, m) = (self.run.state(), self.run.frame().step, self.machine());
        let length = m.q[self.actuator.0];
        let wanted = self.schedule.length(state.t);
        let tip =
            |arm: Body| self.run.scene().shape_pose(state, arm).point(Vec3::new(0.0, 0.0, -TIP)).z;
        Sample {
            t: state.t,
            support: m.q[self.support.0],
            chassis: m.q[self.support.0] + m.q[self.height.0],
            tip: tip(self.arms[0]).min(tip(self.arms[1])),
            length,
            force: -SQUEEZE[0] * (length - wanted) - SQUEEZE[1] * m.v[self.actuator.1],
            given,
            contacts: step.contacts,
            sweeps: step.solve.sweeps,
            residual: step.solve.residual,
        }
    }

    /// Solid fraction under the sleeper [–].
    fn filling(&self) -> f64 {
        let (scene, state) = (self.run.scene(), self.run.state());
        let poses = self.stones.iter().map(|body| scene.shape_pose(state, *body));
        let shapes = self.settled.stones.iter().map(|(stone, _)| stone);
        let region = [0.5 * SLEEPER[0], HALF_PLATE.min(0.5 * self.settled.bed.size[1])];
        filling(shapes.zip(poses), region, [0.1, SLEEPER_BOTTOM])
    }

    /// Number of stones outside the walls.
    fn outside(&self) -> usize {
        let [x, y] = self.settled.bed.size.map(|w| 0.5 * w);
        let outside = self.stones.iter().filter(|stone| {
            let p = self.run.pose(**stone).position;
            p.x.abs() > x || p.y.abs() > y || p.z < 0.0
        });
        outside.count()
    }
}

/// Work of the arms on what they touch during the last step [J]: impulses times the mean of the velocities before and after it.
fn work_on_stones(run: &Simulation, arms: &[Body; 2], before: &[(Pose, Twist); 2], dt: f64) -> f64 {
    let mut work = 0.0;
    for c in run.frame().contacts() {
        for (arm, (q, v)) in arms.iter().zip(before) {
            let force = if c.bodies[0] == *arm {
                c.force
            } else if c.bodies[1] == *arm {
                -c.force
            } else {
                continue;
            };
            let at = |q: &Pose, v: &Twist| v.linear + v.angular.cross(&(c.point - q.position));
            let mean = 0.5 * (at(q, v) + at(&run.pose(*arm), &run.velocity(*arm)));
            work += force.dot(&mean) * dt;
        }
    }
    work
}

/// Fraction of a cuboid filled by stones, sampled on a lattice: |x| and |y| up to `half`, z within `heights` [m].
pub fn filling<'a>(
    stones: impl Iterator<Item = (&'a Polyhedron, Pose)>,
    half: [f64; 2],
    heights: [f64; 2],
) -> f64 {
    const SPACING: f64 = 4e-3;
    let low = Vec3::new(-half[0], -half[1], heights[0]);
    let size = Vec3::new(2.0 * half[0], 2.0 * half[1], heights[1] - heights[0]);
    let n = size.map(|x| (x / SPACING).round());
    let spacing = size.component_div(&n);
    let mut inside = 0_usize;
    for (stone, pose) in stones {
        let (centre, r) = (pose.point(stone.centre()), stone.outer_radius());
        let bound = |k: usize, side: f64| {
            ((centre[k] + side * r - low[k]) / spacing[k]).clamp(0.0, n[k]) as usize
        };
        let range = |k: usize| bound(k, -1.0)..(bound(k, 1.0) + 1).min(n[k] as usize);
        for i in range(0) {
            for j in range(1) {
                for k in range(2) {
                    let index = Vec3::new(i as f64, j as f64, k as f64).add_scalar(0.5);
                    let p = pose.inverse_point(low + index.component_mul(&spacing));
                    let faces = stone.face_normals().iter().zip(stone.face_offsets());
                    inside += usize::from(faces.into_iter().all(|(n, d)| n.dot(&p) <= *d));
                }
            }
        }
    }
    inside as f64 / n.product()
}

/// The bed and the accuracy of the study.
pub fn settings(small: bool, seed: u64) -> (Bed, Accuracy) {
    if small {
        (Bed::small(seed), Accuracy { dt: 1e-3, tolerance: 1e-3 })
    } else {
        (Bed::full(seed), Accuracy { dt: 5e-4, tolerance: 1e-3 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filled_fraction_of_a_cuboid_is_the_volume_of_the_solids_in_it() {
        let cube = Polyhedron::cuboid([0.096; 3]).expect("positive");
        let of =
            |poses: &[Pose]| filling(poses.iter().map(|p| (&cube, *p)), [0.1, 0.1], [0.1, 0.3]);
        // With faces between the points of the lattice the result is exact up to rounding; for a rotated cube it is approximate.
        let share = 0.096_f64.powi(3) / 0.008;
        assert!((of(&[Pose::at([0.0, 0.0, 0.2])]) - share).abs() < 1e-12);
        let turned = Pose::at([0.0, 0.0, 0.2]).turned([0.3, 1.0, 0.2], 0.7);
        assert!((of(&[turned]) - share).abs() < 0.01 * share);
        assert!((of(&[Pose::at([0.1, 0.0, 0.2])]) - 0.5 * share).abs() < 1e-12);
        assert_eq!(of(&[Pose::at([0.0, 0.0, 0.0])]), 0.0);
        assert_eq!(of(&[]), 0.0);
    }

    #[test]
    fn the_chassis_in_free_air_oscillates_at_the_frequency_of_the_flywheel() {
        // The reference integrates the same machine with RK4 at 5e-5 s; its amplitudes include the remaining transient.
        for (frequency, reference) in [(15.0, [5.80e-3, 4.48e-3]), (30.0, [4.44e-3, 5.56e-3])] {
            let air = in_air(frequency, 1.37, 5e-4).expect("it moves");
            let [x, z, _] = air.chassis.map(|h| h.amplitude());
            for (found, reference) in [x, z].into_iter().zip(reference) {
                assert!(found < 1.02 * reference && found > 0.8 * reference, "{found} {reference}");
            }
            // The oscillations describe the whole motion, so they give the state at the start of the dive.
            for (harmonic, k) in air.chassis.iter().zip(1..) {
                let now = harmonic.mean + harmonic.cosine;
                assert!((now - air.start[k][0]).abs() < 1e-4, "{harmonic:?} {:?}", air.start);
            }
        }
    }
}
