//! A run of two pendulums, step by step.

use riprap::prelude::*;
use riprap::scheme::Scheme;
use riprap::simulation::ContactCount;

use super::Pendulums;

/// Two balls that touch in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Time at the start of the step, at which gaps are taken [s].
    pub t: f64,
    /// The balls, from 1, the smaller number first; 0 is the ground.
    pub balls: [usize; 2],
    /// Normal impulse [N s].
    pub impulse: f64,
}

/// What happened in a run; lists have one entry per state, beginning with the initial one.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Step [s].
    pub dt: f64,
    /// Times [s].
    pub t: Vec<f64>,
    /// Kinetic energy [J].
    pub kinetic: Vec<f64>,
    /// Potential energy, zero at the ceiling [J].
    pub potential: Vec<f64>,
    /// Number of onsets of contacts so far.
    pub onsets: Vec<u64>,
    /// Positions of the balls, from ball 1 [m].
    pub q: Vec<Vec<[f64; 2]>>,
    /// Inertial force of each ball, mass times acceleration in the last step [N].
    pub inertial: Vec<Vec<[f64; 2]>>,
    /// Largest stretch of a rope and deepest overlap so far [m].
    pub stretch: f64,
    /// Deepest overlap of two balls or of a ball and the ground at the end of a step [m].
    pub overlap: f64,
    /// All touching pairs of all steps.
    pub touches: Vec<Touch>,
    /// Contacts counted by pairs and by steps.
    pub count: ContactCount,
    /// Steps whose solve did not converge.
    pub unconverged: u64,
    /// Wall time [s].
    pub wall: f64,
}

impl Record {
    /// Runs two pendulums until a time [s].
    pub fn of(pendulums: &Pendulums, scheme: Box<dyn Scheme>, until: f64) -> Record {
        let begin = std::time::Instant::now();
        let dt = scheme.dt();
        let mut run = Simulation::new(pendulums.scene(), scheme).expect("the scheme fits");
        let mut record = Record { dt, ..Record::default() };
        record.add(pendulums, &run);
        for _ in 0..(until / dt).round() as u64 {
            run.step().expect("the pendulums move");
            record.add(pendulums, &run);
        }
        record.unconverged = run.report().unconverged;
        record.wall = begin.elapsed().as_secs_f64();
        record
    }

    fn add(&mut self, pendulums: &Pendulums, run: &Simulation) {
        let (frame, scene) = (run.frame(), run.scene());
        let balance = frame.balance();
        let slots: Vec<usize> = (1..=2 * pendulums.balls)
            .map(|k| scene.slot(scene.body(&format!("ball-{k}")).expect("it is in the scene")))
            .collect();
        let state = run.state();
        let q: Vec<[f64; 2]> = slots
            .iter()
            .map(|&slot| [state.q[slot].position.x, state.q[slot].position.y])
            .collect();
        self.count.add(&frame);
        let first = self.t.is_empty();
        let before = if first { &state.v[..] } else { frame.work.system.v_n() };
        let change = |slot: usize| (state.v[slot].linear - before[slot].linear) / self.dt;
        self.inertial.push(slots.iter().map(|&s| [change(s).x, change(s).y]).collect());
        let ball = |body: Body| {
            let slot = scene.slot(body);
            slots.iter().position(|&s| s == slot).map_or(0, |k| k + 1)
        };
        for (contact, r) in frame.contacts().zip(frame.work.impulses()).filter(|(_, r)| r[0] > 0.0)
        {
            let mut balls = contact.bodies.map(ball);
            balls.sort_unstable();
            self.touches.push(Touch { t: state.t - self.dt, balls, impulse: r[0] });
        }
        for rope in scene.ropes() {
            self.stretch = self.stretch.max(-rope.slack(&state.q));
        }
        for (i, a) in q.iter().enumerate() {
            self.overlap = self.overlap.max(pendulums.ground + pendulums.radius - a[1]);
            for b in &q[i + 1..] {
                let distance = (a[0] - b[0]).hypot(a[1] - b[1]);
                self.overlap = self.overlap.max(2.0 * pendulums.radius - distance);
            }
        }
        self.t.push(state.t);
        self.kinetic.push(balance.kinetic);
        self.potential.push(balance.potential);
        self.onsets.push(self.count.onsets);
        self.q.push(q);
    }

    /// Total energies [J].
    pub fn energy(&self) -> Vec<f64> {
        self.kinetic.iter().zip(&self.potential).map(|(k, p)| k + p).collect()
    }

    /// Largest increase of the energy in a step [J].
    pub fn largest_rise(&self) -> f64 {
        self.energy().windows(2).fold(f64::NEG_INFINITY, |m, pair| m.max(pair[1] - pair[0]))
    }

    /// Final energy [J].
    pub fn final_energy(&self) -> f64 {
        self.energy().last().copied().unwrap_or(f64::NAN)
    }

    /// Time of the first contact [s].
    pub fn first_contact(&self) -> f64 {
        self.touches.first().map_or(f64::NAN, |touch| touch.t)
    }

    /// Times at which two balls start to touch [s].
    pub fn onsets_of(&self, balls: [usize; 2]) -> Vec<f64> {
        let mut times: Vec<f64> = Vec::new();
        let mut last = f64::NEG_INFINITY;
        for touch in self.touches.iter().filter(|touch| touch.balls == balls) {
            if touch.t > last + 1.5 * self.dt {
                times.push(touch.t);
            }
            last = touch.t;
        }
        times
    }
}
