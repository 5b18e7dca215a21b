//! The tamping of docquier2020 Sec. 6 as runs: the machine in the air, then through its cycle in a settled bed, and what is
//! measured on the way.

use crate::scenes::tamping::{
    Bed, CHASSIS, HALF_PLATE, Harmonic, INDEPENDENT, SLEEPER, SLEEPER_BOTTOM, SQUEEZE, Schedule,
    Settled, Start, TIP, machine, tamping,
};
use riprap::prelude::*;
use riprap::shape::Polyhedron;
use riprap::simulation::{Error, RunReport};
use serde::Serialize;

/// One of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Case {
    /// Of the flywheel [Hz].
    pub frequency: f64,
    /// The chassis follows the oscillation that it has in free air.
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

    /// How tables and legends name it.
    pub fn name(&self) -> String {
        let way = if self.imposed { "imposed" } else { "dynamic" };
        format!("{} Hz {way}", self.frequency)
    }
}

/// Step [s] and tolerance [–] of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Accuracy {
    /// Time step [s].
    pub dt: f64,
    /// Tolerance of the contact solver [–].
    pub tolerance: f64,
}

/// The machine's steady motion in free air.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Air {
    /// Where it is and how it moves when the dive begins.
    pub start: Start,
    /// Oscillation of the chassis against the support, time counted from the begin of the dive.
    pub chassis: [Harmonic; 3],
}

/// Seconds in free air before the dive: whole periods of every frequency, and enough for the start to fade.
const AIR: f64 = 4.0;

/// Lets the machine run in free air at a height of its support [m], and measures the last second.
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

/// What is recorded after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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
    /// Energy given to the ballast since the begin [J].
    pub given: f64,
    /// Contacts and sweeps of the step.
    pub contacts: usize,
    /// See `contacts`.
    pub sweeps: usize,
    /// Residual of the step [–].
    pub residual: f64,
}

/// A run and its measurements.
#[derive(Clone, Debug)]
pub struct Run {
    /// Which.
    pub case: Case,
    /// Its times and heights.
    pub schedule: Schedule,
    /// The machine in free air.
    pub air: Air,
    /// After every step, and at the begin.
    pub samples: Vec<Sample>,
    /// Sums over all steps.
    pub report: RunReport,
    /// Wall time of the first 2 s, which the paper simulates [s].
    pub wall_2s: f64,
    /// Stone under the sleeper between the plates' ends [–]: at the begin, after the squeeze, at the end.
    pub filling: [f64; 3],
    /// Energy that drives and prescribed motions put into the machine [J].
    pub put_in: f64,
    /// Stones beyond the walls at the end.
    pub outside: usize,
    /// Stones and machine after the squeeze, for a picture.
    pub squeezed: State,
}

/// Runs a case from a settled bed through the whole cycle.
pub fn run(
    settled: &Settled,
    case: Case,
    schedule: Schedule,
    accuracy: Accuracy,
) -> Result<Run, Error> {
    let air = in_air(case.frequency, schedule.start, accuracy.dt)?;
    let imposed = case.imposed.then_some(air.chassis);
    let machine =
        machine(case.frequency, schedule.start, Some(schedule), Some(&air.start), imposed);
    let (scene, stones, id) = tamping(settled, machine);
    let mut run = crate::scenes::start(&scene, accuracy.dt, 0.5, accuracy.tolerance);
    let system = &run.scene().mechanisms()[id.index()];
    let place = |name: &str| {
        let c = system.coordinate_named(name).expect("a coordinate of the machine");
        (system.q_of(c).expect("one coordinate"), c.0 as usize)
    };
    let (zs, zc, xa) = (place("zs"), place("zc"), place("xa"));
    let arms = ["phiL", "phiR"].map(|name| {
        run.scene().link_body(id, system.link_named(name).expect("an arm of the machine"))
    });
    let filling = |state: &State, scene: &Scene| {
        let poses = stones.iter().map(|body| scene.shape_pose(state, *body));
        let shapes = settled.stones.iter().map(|(stone, _)| stone);
        let region = [0.5 * SLEEPER[0], HALF_PLATE.min(0.5 * settled.bed.size[1])];
        filling(shapes.zip(poses), region, [0.1, SLEEPER_BOTTOM])
    };
    let sample = |run: &Simulation, given: f64| {
        let (state, step) = (run.state(), run.frame().step);
        let m = &state.mechanisms[id.index()];
        let length = m.q[xa.0];
        let tip = |arm: Body| run.scene().shape_pose(state, arm).point(Vec3::new(0.0, 0.0, -TIP)).z;
        Sample {
            t: state.t,
            support: m.q[zs.0],
            chassis: m.q[zs.0] + m.q[zc.0],
            tip: tip(arms[0]).min(tip(arms[1])),
            length,
            force: -SQUEEZE[0] * (length - schedule.length(state.t)) - SQUEEZE[1] * m.v[xa.1],
            given,
            contacts: step.contacts,
            sweeps: step.solve.sweeps,
            residual: step.solve.residual,
        }
    };
    let energy = |run: &Simulation| {
        let (system, m) =
            (&run.scene().mechanisms()[id.index()], &run.state().mechanisms[id.index()]);
        let (kinetic, potential) = system.energy(&m.q, &m.v, &mut system.scratch());
        kinetic + potential
    };

    let begin = std::time::Instant::now();
    let (mut samples, mut given, mut lost) = (vec![sample(&run, 0.0)], 0.0, 0.0);
    let mut fillings = [filling(run.state(), run.scene()); 3];
    let mut wall_2s = 0.0;
    let mut squeezed = run.state().clone();
    let first = energy(&run);
    let steps = (schedule.end / accuracy.dt).round() as usize;
    let squeezed_at = (schedule.open / accuracy.dt).round() as usize;
    for k in 1..=steps {
        let before = arms.map(|arm| (run.pose(arm), run.velocity(arm)));
        let relative = |run: &Simulation| {
            let m = &run.state().mechanisms[id.index()];
            CHASSIS.map(|name| {
                let c = run.scene().mechanisms()[id.index()].coordinate_named(name);
                m.v[c.expect("a coordinate of the machine").0 as usize]
            })
        };
        let [x0, z0, turn0] = relative(&run);
        run.step()?;
        let [x1, z1, turn1] = relative(&run);
        // Two bushings 0.6 m apart, 0.25 m above the chassis's origin, each with 200 N s/m.
        let (x, z, turn) = (0.5 * (x0 + x1), 0.5 * (z0 + z1), 0.5 * (turn0 + turn1));
        let rate = 2.0 * ((x - 0.25 * turn).powi(2) + z * z + (0.3 * turn).powi(2));
        lost += 200.0 * rate * accuracy.dt;
        given += work_on_stones(&run, &arms, &before, accuracy.dt);
        samples.push(sample(&run, given));
        if k == squeezed_at {
            fillings[1] = filling(run.state(), run.scene());
            wall_2s = begin.elapsed().as_secs_f64();
            squeezed = run.state().clone();
        }
    }
    fillings[2] = filling(run.state(), run.scene());
    let put_in = energy(&run) - first + given + lost;
    let [x, y] = settled.bed.size.map(|w| 0.5 * w);
    let outside = stones.iter().filter(|stone| {
        let p = run.pose(**stone).position;
        p.x.abs() > x || p.y.abs() > y || p.z < 0.0
    });
    let outside = outside.count();
    let mut report = run.report();
    report.wall = begin.elapsed().as_secs_f64();
    Ok(Run {
        case,
        schedule,
        air,
        samples,
        report,
        wall_2s,
        filling: fillings,
        put_in,
        outside,
        squeezed,
    })
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

/// Part of a cuboid that stones fill, by points of a lattice: |x| and |y| up to `half`, z within `heights` [m].
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
    fn the_filling_of_a_cuboid_by_solids_is_their_volume_in_it() {
        let cube = Polyhedron::cuboid([0.096; 3]).expect("positive");
        let of =
            |poses: &[Pose]| filling(poses.iter().map(|p| (&cube, *p)), [0.1, 0.1], [0.1, 0.3]);
        // Faces between the points of the lattice: exact but for rounding. Turned, some points are in and others out by chance.
        let share = 0.096_f64.powi(3) / 0.008;
        assert!((of(&[Pose::at([0.0, 0.0, 0.2])]) - share).abs() < 1e-12);
        let turned = Pose::at([0.0, 0.0, 0.2]).turned([0.3, 1.0, 0.2], 0.7);
        assert!((of(&[turned]) - share).abs() < 0.01 * share);
        assert!((of(&[Pose::at([0.1, 0.0, 0.2])]) - 0.5 * share).abs() < 1e-12);
        assert_eq!(of(&[Pose::at([0.0, 0.0, 0.0])]), 0.0);
        assert_eq!(of(&[]), 0.0);
    }

    #[test]
    fn the_chassis_in_free_air_swings_with_the_frequency_of_the_flywheel() {
        // The reference integrates the same machine by RK4 at 5e-5 s; its half ranges hold what is left of the start.
        for (frequency, reference) in [(15.0, [5.80e-3, 4.48e-3]), (30.0, [4.44e-3, 5.56e-3])] {
            let air = in_air(frequency, 1.37, 5e-4).expect("it moves");
            let [x, z, _] = air.chassis.map(|h| h.amplitude());
            for (found, reference) in [x, z].into_iter().zip(reference) {
                assert!(found < 1.02 * reference && found > 0.8 * reference, "{found} {reference}");
            }
            // All of the motion: the state at the begin of the dive is that of the oscillations.
            for (harmonic, k) in air.chassis.iter().zip(1..) {
                let now = harmonic.mean + harmonic.cosine;
                assert!((now - air.start[k][0]).abs() < 1e-4, "{harmonic:?} {:?}", air.start);
            }
        }
    }
}
