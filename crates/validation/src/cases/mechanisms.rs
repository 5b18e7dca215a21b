//! Mechanisms compared with independent solutions: the IFToMM benchmarks and the tamping unit in free air.

use crate::check::observed_order;
use crate::mechanisms::{self, G};
use crate::{Checks, Effort};
use riprap::multibody::{
    Mechanism, Multibody, MultibodyScratch, MultibodyState, SmoothHistory, SmoothReport,
    SmoothScratch,
};
use riprap::prelude::*;

/// A table of numbers with a header line.
struct Table {
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn read(text: &str) -> Table {
        let row = |line: &str| -> Vec<f64> {
            line.split(',').map(|x| x.trim().parse().expect("a number")).collect()
        };
        Table { rows: text.lines().skip(1).filter(|l| !l.is_empty()).map(row).collect() }
    }
}

/// A mechanism in smooth motion.
struct Smooth {
    system: Multibody,
    state: MultibodyState,
    work: MultibodyScratch,
    scratch: SmoothScratch,
    t: f64,
    history: SmoothHistory,
    tolerance: f64,
    report: SmoothReport,
    energy: [f64; 3],
}

impl Smooth {
    fn new(mechanism: &Mechanism, gravity: [f64; 3], tolerance: f64) -> Smooth {
        let system = mechanism.build(gravity).expect("the mechanism is sound");
        let state = system.start().clone();
        let work = system.scratch();
        let mut smooth = Smooth {
            system,
            state,
            work,
            scratch: SmoothScratch::default(),
            t: 0.0,
            history: SmoothHistory::default(),
            tolerance,
            report: SmoothReport::default(),
            energy: [0.0; 3],
        };
        let energy = smooth.total_energy();
        smooth.energy = [energy, energy, energy];
        smooth
    }

    fn total_energy(&mut self) -> f64 {
        let (kinetic, potential) = self.system.energy(&self.state.q, &self.state.v, &mut self.work);
        kinetic + potential
    }

    fn until(&mut self, t: f64) {
        let moved = self.system.advance(
            &mut self.state,
            self.t,
            t,
            self.tolerance,
            &mut self.history,
            &mut self.scratch,
            &mut self.work,
        );
        let report = moved.unwrap_or_else(|error| panic!("{error}"));
        self.report.steps += report.steps;
        self.report.rejected += report.rejected;
        self.report.loop_residual = self.report.loop_residual.max(report.loop_residual);
        let residual = self.system.loop_residual(&self.state.q, &mut self.work);
        self.report.loop_residual = self.report.loop_residual.max(residual);
        self.t = t;
        let energy = self.total_energy();
        self.energy[1] = self.energy[1].min(energy);
        self.energy[2] = self.energy[2].max(energy);
    }

    fn q(&self, name: &str) -> f64 {
        let c = self.system.coordinate_named(name).expect("it has this coordinate");
        self.state.q[self.system.q_of(c).expect("one coordinate")]
    }

    fn v(&self, name: &str) -> f64 {
        let c = self.system.coordinate_named(name).expect("it has this coordinate");
        self.state.v[c.0 as usize]
    }

    /// A point of a body [m] and its velocity [m/s].
    fn point(&mut self, name: &str, at: [f64; 3]) -> (Vec3, Vec3) {
        let link = self.system.link_named(name).expect("it has this body");
        self.system.tree().kinematics(&self.state.q, &mut self.work.tree);
        self.system.tree().motion(&self.state.v, &mut self.work.tree);
        self.system.point(&self.work, link, Vec3::from(at))
    }

    /// Checks common to all smooth cases.
    fn finish(&self, checks: &mut Checks, conservative: bool) {
        checks.at_most("largest loop residual", self.report.loop_residual, 1e-11, "m");
        if conservative {
            let drift = (self.energy[2] - self.energy[1]) / self.energy[0].abs().max(1.0);
            checks.at_most("relative energy drift", drift, 1e-6, "1");
        }
    }
}

/// Largest difference divided by the largest reference value.
fn relative(values: &[f64], reference: &[f64]) -> f64 {
    let scale = reference.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let error = values.iter().zip(reference).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    if values.len() == reference.len() { error / scale.max(1e-300) } else { f64::NAN }
}

/// A01: the pendulum.
pub(super) fn pendulum(effort: Effort) -> Checks {
    let mut checks = Checks::new("pendulum");
    let table = Table::read(include_str!("../../data/mechanisms/A01_pendulum.csv"));
    let mut run = Smooth::new(&mechanisms::pendulum(), [0.0, -G, 0.0], 1e-11);
    let mut worst = 0.0_f64;
    for row in &table.rows[1..] {
        run.until(row[0]);
        worst = worst.max((run.q("arm") - row[3]).abs());
    }
    let last = table.rows.last().expect("rows");
    let (p, _) = run.point("arm", [0.0, -1.0, 0.0]);
    checks.at_most("largest error of the angle in 10 s", worst, 1e-6, "rad");
    checks.close("x of the bob at 10 s", p.x, last[1], 1e-6, "m");
    checks.close("angular velocity at 10 s", run.v("arm"), last[4], 1e-6 * 4.4, "rad/s");
    run.finish(&mut checks, true);
    // When released at 90°, the second-order error of the period happens to vanish; an initial velocity gives the general case.
    let mut pushed = mechanisms::pendulum();
    pushed.start_velocity(pushed.coordinate_named("arm").expect("its joint"), 3.0);
    orders(&mut checks, &pushed, [0.0, -G, 0.0], effort, 1.0, 2e-3);
    checks
}

/// A02: four-bars through their singular position.
pub(super) fn four_bar(effort: Effort) -> Checks {
    let mut checks = Checks::new("four-bar");
    let table = Table::read(include_str!("../../data/mechanisms/A02_fourbar_N2.csv"));
    let mut run = Smooth::new(&mechanisms::four_bars(2), [0.0, -G, 0.0], 1e-10);
    let mut worst = 0.0_f64;
    for row in &table.rows[1..] {
        run.until(row[0]);
        let (p, _) = run.point("rod-0", [0.0, 1.0, 0.0]);
        worst = worst.max((p.x - row[1]).abs().max((p.y - row[2]).abs()));
    }
    let last = table.rows.last().expect("rows");
    let (p, v) = run.point("rod-0", [0.0, 1.0, 0.0]);
    checks.at_most("largest error of joint B0 in 10 s, N = 2", worst, 1e-6, "m");
    let state = [p.x, p.y, v.x, v.y];
    checks.at_most("state at 10 s, N = 2", relative(&state, &last[1..5]), 1e-6, "1");
    run.finish(&mut checks, true);
    // Any number of windows: one degree of freedom, (N+1) rods that rotate and N couplers that translate.
    let n = if effort == Effort::Full { 40 } else { 5 };
    let time = if effort == Effort::Full { 10.0 } else { 3.0 };
    let (mut angle, mut speed) = (0.0, -1.0);
    single_four_bar(n, time, &mut angle, &mut speed);
    let exact = [-f64::sin(angle), f64::cos(angle), -speed * angle.cos(), -speed * angle.sin()];
    // The second tolerance is at the limit of double precision: passing the singular positions must not lose the accuracy gained elsewhere.
    for tolerance in [1e-10, 1e-13] {
        let mut run = Smooth::new(&mechanisms::four_bars(n), [0.0, -G, 0.0], tolerance);
        let mut t = 0.0;
        while t < time - 1e-9 {
            t += 0.1;
            run.until(t);
        }
        let (p, v) = run.point("rod-0", [0.0, 1.0, 0.0]);
        let error = relative(&[p.x, p.y, v.x, v.y], &exact);
        let what = format!("state at {time} s, N = {n}, tolerance {tolerance:e}");
        checks.at_most(&what, error, 1e-6, "1");
        run.finish(&mut checks, true);
    }
    // Before the first singular position. Starting upright, where no torque acts, even θ = 1 is of second order; a tilted
    // start is the general case.
    let mut tilted = mechanisms::four_bars(2);
    tilted.start(tilted.coordinate_named("rod-0").expect("its joint"), -0.3);
    orders(&mut checks, &tilted, [0.0, -G, 0.0], effort, 0.4, 2e-3);
    checks
}

/// The N-four-bar as a single pendulum: the rods rotate, the couplers translate. RK4 with a small step; the error is far below 1e-9.
fn single_four_bar(n: usize, time: f64, angle: &mut f64, speed: &mut f64) {
    let n = n as f64;
    let inertia = (n + 1.0) / 3.0 + n;
    let weight = ((n + 1.0) * 0.5 + n) * G;
    let pull = |a: f64| weight * a.sin() / inertia;
    let steps = (time / 1e-4).round() as usize;
    let h = time / steps as f64;
    for _ in 0..steps {
        let (x, v) = (*angle, *speed);
        let (k1, l1) = (v, pull(x));
        let (k2, l2) = (v + 0.5 * h * l1, pull(x + 0.5 * h * k1));
        let (k3, l3) = (v + 0.5 * h * l2, pull(x + 0.5 * h * k2));
        let (k4, l4) = (v + h * l3, pull(x + h * k3));
        *angle += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        *speed += h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
    }
}

/// A03: Andrews' squeezer.
pub(super) fn andrews(effort: Effort) -> Checks {
    let mut checks = Checks::new("andrews");
    let names = ["K1", "K2", "K3", "K4", "K5", "K6", "K7"];
    let table = Table::read(include_str!("../../data/mechanisms/A03_andrews.csv"));
    let mut run = Smooth::new(&mechanisms::andrews(), [0.0; 3], 1e-11);
    let mut worst = 0.0_f64;
    for row in &table.rows[1..] {
        run.until(row[0]);
        let q: Vec<f64> = names.iter().map(|n| run.q(n)).collect();
        worst = worst.max(relative(&q, &row[1..8]));
    }
    // The final values of the test set for initial value problem solvers (PSIDE).
    let q_end = [
        15.81077119629904,
        -15.75637105984298,
        0.04082224013073101,
        -0.5347301163226948,
        0.5244099658805303,
        0.5347301163226948,
        1.048080741042263,
    ];
    let v_end = [
        1139.920302151208,
        -1424.379294994111,
        11.03291221937134,
        19.29337464421385,
        0.5735699284790808,
        -19.29337464421385,
        0.3231791658026955,
    ];
    let q: Vec<f64> = names.iter().map(|n| run.q(n)).collect();
    let v: Vec<f64> = names.iter().map(|n| run.v(n)).collect();
    checks.at_most("largest relative error of the angles in 0.03 s", worst, 1e-6, "1");
    checks.at_most("angles at 0.03 s", relative(&q, &q_end), 1e-6, "1");
    checks.at_most("angular velocities at 0.03 s", relative(&v, &v_end), 1e-6, "1");
    run.finish(&mut checks, false);
    orders(&mut checks, &mechanisms::andrews(), [0.0; 3], effort, 0.01, 1e-5);
    checks
}

/// A04: Bricard's mechanism.
pub(super) fn bricard(effort: Effort) -> Checks {
    let mut checks = Checks::new("bricard");
    let table = Table::read(include_str!("../../data/mechanisms/A04_bricard.csv"));
    let mut run = Smooth::new(&mechanisms::bricard(), [0.0, -G, 0.0], 1e-11);
    let redundant = run.state.partition.redundant.len() as f64;
    checks.close("redundant equations found", redundant, 1.0, 0.0, "1");
    let names = ["bar-1", "bar-2", "bar-3", "bar-4", "bar-5"];
    let mut worst = 0.0_f64;
    for row in &table.rows[1..] {
        run.until(row[0]);
        let q: Vec<f64> = names.iter().map(|n| run.q(n)).collect();
        worst = worst.max(q.iter().zip(&row[1..]).fold(0.0, |m, (a, b)| m.max((a - b).abs())));
    }
    let last = table.rows.last().expect("rows");
    let q: Vec<f64> = names.iter().map(|n| run.q(n)).collect();
    let v: Vec<f64> = names.iter().map(|n| run.v(n)).collect();
    checks.at_most("largest error of the angles", worst, 1e-6, "rad");
    checks.at_most("angles at the end", relative(&q, &last[1..6]), 1e-6, "1");
    checks.at_most("angular velocities at the end", relative(&v, &last[6..11]), 1e-6, "1");
    let (p, _) = run.point("bar-3", [0.0; 3]);
    checks.at_most("third joint at the end", relative(p.as_slice(), &last[14..17]), 1e-6, "1");
    run.finish(&mut checks, true);
    orders(&mut checks, &mechanisms::bricard(), [0.0, -G, 0.0], effort, 1.0, 2e-3);
    checks
}

/// A05: flyball governor.
pub(super) fn flyball(effort: Effort) -> Checks {
    let mut checks = Checks::new("flyball");
    let table = Table::read(include_str!("../../data/mechanisms/A05_flyball.csv"));
    let mut run = Smooth::new(&mechanisms::flyball(), [0.0, 0.0, -G], 1e-10);
    let names = ["shaft", "slider", "rod-1", "rod-2"];
    let rows = if effort == Effort::Full { &table.rows[1..] } else { &table.rows[1..200] };
    let mut worst = 0.0_f64;
    for row in rows {
        run.until(row[0]);
        let q: Vec<f64> = names.iter().map(|n| run.q(n)).collect();
        worst = worst.max(relative(&q[1..], &row[2..5]));
    }
    let last = rows.last().expect("rows");
    let q: Vec<f64> = names.iter().map(|n| run.q(n)).collect();
    let v: Vec<f64> = names.iter().map(|n| run.v(n)).collect();
    checks.at_most("largest error of slider and rods", worst, 1e-6, "1");
    checks.at_most("positions at the end", relative(&q, &last[1..5]), 1e-6, "1");
    checks.at_most("velocities at the end", relative(&v, &last[5..9]), 1e-6, "1");
    run.finish(&mut checks, false);
    // Its springs and dampers require steps far below 1e-4 s.
    orders(&mut checks, &mechanisms::flyball(), [0.0, 0.0, -G], effort, 0.1, 1e-5);
    checks
}

/// The tamping unit in free air.
pub(super) fn tamping_air(effort: Effort) -> Checks {
    let mut checks = Checks::new("tamping-air");
    let [open, closed] = mechanisms::TAMPING_LENGTHS;
    let ramp = move |t: f64| open + (closed - open) * ((t - 0.1) / 0.4).clamp(0.0, 1.0);
    let hold = include_str!("../../data/mechanisms/tamp_air_hold_30Hz.csv");
    let squeeze = include_str!("../../data/mechanisms/tamp_air_squeeze_30Hz.csv");
    let cases: [(&str, &str, Mechanism); 2] = [
        ("hold", hold, mechanisms::tamping_unit(30.0, move |_| open)),
        ("squeeze", squeeze, mechanisms::tamping_unit(30.0, ramp)),
    ];
    for (name, text, mechanism) in cases {
        let table = Table::read(text);
        let mut run = Smooth::new(&mechanism, [0.0, 0.0, -G], 1e-10);
        if name == "hold" {
            let p = &run.state.partition;
            checks.close("degrees of freedom", p.independent.len() as f64, 6.0, 0.0, "1");
            checks.close("constraints", p.rows.len() as f64, 4.0, 0.0, "1");
        }
        let mut worst = [0.0_f64; 3];
        for row in &table.rows[1..] {
            run.until(row[0]);
            for (k, c) in mechanisms::TAMPING_COORDINATES.into_iter().enumerate() {
                worst[0] = worst[0].max((run.q(c) - row[1 + k]).abs());
                worst[1] = worst[1].max((run.v(c) - row[11 + k]).abs());
            }
            let tip = [0.0, 0.0, -0.9];
            let (left, right) = (run.point("phiL", tip).0, run.point("phiR", tip).0);
            let tips = [left.x, left.z, right.x, right.z];
            worst[2] = tips.iter().zip(&row[21..]).fold(worst[2], |m, (a, b)| m.max((a - b).abs()));
        }
        checks.at_most(&format!("{name}: largest error of a coordinate"), worst[0], 1e-6, "m, rad");
        checks.at_most(
            &format!("{name}: largest error of a velocity"),
            worst[1],
            1e-6,
            "m/s, rad/s",
        );
        checks.at_most(&format!("{name}: largest error of a tip"), worst[2], 1e-6, "m");
        run.finish(&mut checks, false);
    }
    let mechanism = mechanisms::tamping_unit(30.0, move |_| open);
    orders(&mut checks, &mechanism, [0.0, 0.0, -G], effort, 0.1, 2e-4);
    checks
}

/// Observed orders of Moreau–Jean for a smooth motion, compared with the smooth integrator: 1 at θ = 1, 2 at θ = 1/2.
fn orders(
    checks: &mut Checks,
    mechanism: &Mechanism,
    gravity: [f64; 3],
    effort: Effort,
    time: f64,
    dt: f64,
) {
    let mut exact = Smooth::new(mechanism, gravity, 1e-12);
    exact.until(time);
    let halvings = if effort == Effort::Full { 4 } else { 3 };
    for theta in [1.0, 0.5] {
        let (mut steps, mut errors, mut residual) = (Vec::new(), Vec::new(), 0.0_f64);
        for k in 0..halvings {
            let dt = dt / f64::from(1 << k);
            let mut scene = Scene::builder();
            scene.gravity(gravity);
            scene.add_mechanism(mechanism.clone());
            let scene = scene.build().expect("the mechanism is sound");
            let mut run =
                Simulation::new(scene, MoreauJean::new(dt).theta(theta)).expect("a sound scheme");
            let report = run.until(time, &mut ()).expect("it moves");
            residual = residual.max(report.loop_residual);
            let moved = &run.state().mechanisms[0];
            let error = moved.q.iter().zip(&exact.state.q).map(|(a, b)| (a - b).abs());
            steps.push(dt);
            errors.push(error.fold(0.0, f64::max));
        }
        let order = observed_order(&steps, &errors);
        let expected = if theta == 1.0 { 1.0 } else { 2.0 };
        checks.close(&format!("Moreau–Jean, order at θ = {theta}"), order, expected, 0.15, "1");
        checks.at_most(&format!("Moreau–Jean, loop residual at θ = {theta}"), residual, 1e-11, "m");
    }
}
