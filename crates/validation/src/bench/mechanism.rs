//! Timing of joint trees and of a mechanism with loops: `riprap bench mechanism` and the criterion benchmark of the same name.

use crate::mechanisms;
use riprap::multibody::{Multibody, MultibodyScratch, MultibodyState};
use serde::Serialize;

/// Times of mechanisms, in µs per call on one thread. Each is the minimum over repetitions of the mean over calls that cycle
/// through 16 states.
#[derive(Clone, Debug, Serialize)]
pub struct MechanismResult {
    /// The trees of `benches/pinocchio`.
    pub trees: Vec<TreeTimes>,
    /// Loop closure and reduced dynamics of the tamping unit [µs]: a small step from a closed position, Newton's method, `B`, dependent
    /// velocities, accelerations of all joints.
    pub tamping_unit: f64,
    /// Number of joint velocities of the tamping unit, including those determined by its loops.
    pub tamping_joints: usize,
    /// Mean number of Newton iterations for loop closure.
    pub tamping_newton_steps: f64,
}

impl MechanismResult {
    /// Mechanism, number of joint velocities, computed quantity and time per call [µs].
    pub fn times(&self) -> Vec<(String, usize, &'static str, f64)> {
        let mut times = Vec::new();
        for tree in &self.trees {
            for (what, time) in [
                ("kinematics", tree.kinematics),
                ("mass matrix and bias", tree.mass_and_bias),
                ("bias", tree.bias),
                ("forward dynamics", tree.forward_dynamics),
            ] {
                times.push((tree.name.clone(), tree.n_dof, what, time));
            }
        }
        let what = "loop closure and accelerations";
        times.push(("tamping unit".to_owned(), self.tamping_joints, what, self.tamping_unit));
        times
    }
}

/// Times of a tree [µs].
#[derive(Clone, Debug, Serialize)]
pub struct TreeTimes {
    /// Its name.
    pub name: String,
    /// Degrees of freedom.
    pub n_dof: usize,
    /// Poses of all bodies and Jacobian columns.
    pub kinematics: f64,
    /// Mass matrix and bias, from positions and velocities.
    pub mass_and_bias: f64,
    /// Bias alone, from positions and velocities.
    pub bias: f64,
    /// Accelerations from positions, velocities and joint forces.
    pub forward_dynamics: f64,
}

const N_STATES: usize = 16;

/// A mechanism with states to cycle through.
pub struct MechanismBench {
    system: Multibody,
    work: MultibodyScratch,
    states: Vec<MultibodyState>,
    q: Vec<f64>,
    v: Vec<f64>,
    force: Vec<f64>,
    acceleration: Vec<f64>,
    next: usize,
    newton_steps: usize,
}

impl MechanismBench {
    /// A tree of `benches/pinocchio` from its text, at random states.
    pub fn tree(name: &str, text: &str) -> MechanismBench {
        let gravity = [0.0, 0.0, -mechanisms::G];
        let system = mechanisms::tree_from_text(name, text).build(gravity).expect("a sound tree");
        // Fractional parts of multiples of the golden ratio: evenly spread and reproducible.
        let mut k = 0.0;
        let mut random = |size: f64| {
            k += 1.0;
            size * (2.0 * (k * 0.618_033_988_749_894_8_f64).fract() - 1.0)
        };
        let mut states = Vec::new();
        for _ in 0..N_STATES {
            let mut state = system.start().clone();
            let far: Vec<f64> = state.v.iter().map(|_| random(3.0)).collect();
            system.tree().integrate(&system.start().q, &far, 1.0, &mut state.q);
            state.v.iter_mut().for_each(|v| *v = random(1.0));
            states.push(state);
        }
        MechanismBench::new(system, states)
    }

    /// The tamping unit at positions along its motion.
    pub fn tamping_unit() -> MechanismBench {
        let [open, closed] = mechanisms::TAMPING_LENGTHS;
        let length = move |t: f64| open + (closed - open) * (t / 0.4).clamp(0.0, 1.0);
        let mechanism = mechanisms::tamping_unit(30.0, length);
        let system = mechanism.build([0.0, 0.0, -mechanisms::G]).expect("a sound mechanism");
        let (mut work, mut scratch) = (system.scratch(), Default::default());
        let (mut state, mut history) = (system.start().clone(), Default::default());
        let mut states = Vec::new();
        for k in 0..N_STATES {
            let t = |k: usize| 0.03 * k as f64;
            let span = (t(k), t(k + 1));
            system
                .advance(&mut state, span.0, span.1, 1e-8, &mut history, &mut scratch, &mut work)
                .expect("it moves");
            states.push(state.clone());
        }
        MechanismBench::new(system, states)
    }

    fn new(system: Multibody, states: Vec<MultibodyState>) -> MechanismBench {
        let (work, n) = (system.scratch(), system.n_v());
        let (q, v) = (system.start().q.clone(), system.start().v.clone());
        let (force, acceleration) = (vec![0.5; n], vec![0.0; n]);
        MechanismBench { system, work, states, q, v, force, acceleration, next: 0, newton_steps: 0 }
    }

    fn turn(&mut self) -> usize {
        self.next = (self.next + 1) % self.states.len();
        self.next
    }

    /// Poses and Jacobian columns at the next state.
    pub fn kinematics(&mut self) -> &mut MultibodyScratch {
        let at = self.turn();
        self.system.tree().kinematics(&self.states[at].q, &mut self.work.tree);
        &mut self.work
    }

    fn motion(&mut self) {
        self.kinematics();
        self.system.tree().motion(&self.states[self.next].v, &mut self.work.tree);
    }

    /// Mass matrix and bias at the next state.
    pub fn mass_and_bias(&mut self) -> &[f64] {
        self.motion();
        self.system.tree().evaluate(&mut self.work.tree);
        self.work.tree.mass()
    }

    /// Bias at the next state.
    pub fn bias(&mut self) -> &[f64] {
        self.motion();
        self.system.tree().bias(&mut self.work.tree);
        self.work.tree.bias_force()
    }

    /// Forward dynamics at the next state.
    pub fn forward_dynamics(&mut self) -> &[f64] {
        self.motion();
        let (tree, a) = (self.system.tree(), &mut self.acceleration);
        tree.forward_dynamics(&self.force, &mut self.work.tree, a);
        a
    }

    /// A step of 0.1 ms from the next state, with loop closure and accelerations of all joints.
    pub fn closed_dynamics(&mut self) -> &[f64] {
        let at = self.turn();
        let (state, w) = (&self.states[at], &mut self.work);
        let (q, v, t) = (&mut self.q, &mut self.v, 0.03 * at as f64);
        let partition = &state.partition;
        self.system.tree().integrate(&state.q, &state.v, 1e-4, q);
        v.copy_from_slice(&state.v);
        let closed = self.system.close(partition, t, q, w).expect("it closes");
        self.newton_steps += closed.iterations;
        self.system.linearize(partition, t, w).expect("it is regular");
        self.system.expand(partition, t, v, w);
        self.system
            .dynamics((q, v), &state.control, partition, t, None, w)
            .expect("it has inertia");
        w.acceleration()
    }

    /// Time per call [µs]: the minimum over repetitions of the mean.
    fn time<T: ?Sized>(
        &mut self,
        repetitions: u32,
        mut call: impl FnMut(&mut MechanismBench) -> &T,
    ) -> f64 {
        let mut rounds = |n: usize| {
            let begin = std::time::Instant::now();
            for _ in 0..n * N_STATES {
                std::hint::black_box(call(self));
            }
            begin.elapsed().as_secs_f64()
        };
        rounds(200);
        let n = (1e-3 / (rounds(100) / 100.0)).max(1.0) as usize;
        let best = (0..repetitions).map(|_| rounds(n)).fold(f64::INFINITY, f64::min);
        1e6 * best / (n * N_STATES) as f64
    }
}

/// Times the trees of `benches/pinocchio` and the tamping unit; each time is the best of several repetitions of 1 ms.
pub fn mechanism(repetitions: u32) -> MechanismResult {
    let mut trees = Vec::new();
    for (name, text) in [("arm7", mechanisms::ARM7), ("tree36", mechanisms::TREE36)] {
        let mut bench = MechanismBench::tree(name, text);
        trees.push(TreeTimes {
            name: name.to_owned(),
            n_dof: bench.system.n_v(),
            kinematics: bench.time(repetitions, |b| b.kinematics()),
            mass_and_bias: bench.time(repetitions, |b| b.mass_and_bias()),
            bias: bench.time(repetitions, |b| b.bias()),
            forward_dynamics: bench.time(repetitions, |b| b.forward_dynamics()),
        });
    }
    let mut bench = MechanismBench::tamping_unit();
    (0..N_STATES).for_each(|_| {
        bench.closed_dynamics();
    });
    let tamping_newton_steps = bench.newton_steps as f64 / N_STATES as f64;
    MechanismResult {
        trees,
        tamping_joints: bench.system.n_v(),
        tamping_unit: bench.time(repetitions, |b| b.closed_dynamics()),
        tamping_newton_steps,
    }
}
