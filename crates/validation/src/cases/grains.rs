//! Many grains: coming to rest, and bitwise reproducibility.

use crate::{Checks, Effort, scenes};
use riprap::prelude::*;

/// Ballast stones poured into a box, with and without rolling resistance.
///
/// Without it, a stone that hangs on two sticking points with its centre below them is an undamped pendulum: of a thousand poured stones, one or
/// two still swing at millimetres per second. The checks judge the stones on three or more contacts, and all stones after one second with a drag
/// of 20 1/s; the velocities of all stones before the drag and one second after it depend on chance and are informational.
pub(super) fn stones_at_rest(effort: Effort) -> Checks {
    let mut checks = Checks::new("stones-at-rest");
    let (n, width, time) = match effort {
        Effort::Full => (1000, 0.6, 3.0),
        Effort::Small => (60, 0.25, 3.0),
    };
    for (rolling, law) in [(1e-4, "rolling resistance 0.1 mm"), (0.0, "Coulomb friction alone")] {
        let (scene, _) = scenes::stones_of(&scenes::rock(0.7, 0.0).rolling(rolling), n, width, 1);
        // The stones fall at up to 3 m/s: in a step of 0.25 ms they move by less than 2 % of their size.
        let mut run = scenes::start(&scene, 2.5e-4, 0.5, 1e-3);
        let stones: Vec<usize> =
            (0..run.scene().bodies().len()).filter(|&i| run.scene().bodies().movable[i]).collect();
        run.until(time, &mut ()).expect("stones cannot fail");
        // With rolling resistance nothing may move; without it, 1e-4 m/s reflects the tolerance of the solver.
        let limit = if rolling > 0.0 { 1e-6 } else { 1e-4 };
        let rest = |checks: &mut Checks, run: &Simulation, when: &str| {
            let (rms, max) = velocities(run, &stones, &|_| true);
            let row = format!("root mean square velocity {when}, {law}");
            checks.at_most(&row, rms, limit, "m/s");
            checks.at_most(&format!("fastest stone {when}, {law}"), max, limit, "m/s");
        };
        let when = format!("after {time} s");
        if rolling > 0.0 {
            rest(&mut checks, &run, &when);
        } else {
            checks.information(|checks| rest(checks, &run, &when));
        }
        let mut carrying = vec![0; run.scene().bodies().len()];
        for c in run.frame().contacts().filter(|c| c.force.norm() > 0.0) {
            c.bodies.into_iter().for_each(|b| carrying[run.scene().slot(b)] += 1);
        }
        let (_, held) = velocities(&run, &stones, &|i| carrying[i] > 2);
        let what = format!("fastest stone on three or more contacts {when}, {law}");
        checks.at_most(&what, held, 1e-4, "m/s");
        if rolling == 0.0 {
            run.drag(20.0).until(time + 1.0, &mut ()).expect("stones cannot fail");
            rest(&mut checks, &run, "after 1 s of drag");
            // Without the drag, stones that hang on two points may start to move again.
            run.drag(0.0).until(time + 2.0, &mut ()).expect("stones cannot fail");
            checks.information(|checks| rest(checks, &run, "1 s after the end of the drag"));
        }
        contained(&mut checks, &run, &stones, (n, width), law);
    }
    checks
}

/// Root mean square and largest velocity of some of the stones [m/s].
fn velocities(run: &Simulation, stones: &[usize], some: &dyn Fn(usize) -> bool) -> (f64, f64) {
    let speeds: Vec<f64> =
        stones.iter().filter(|i| some(**i)).map(|i| run.state().v[*i].linear.norm()).collect();
    let square: f64 = speeds.iter().map(|v| v * v).sum();
    ((square / speeds.len().max(1) as f64).sqrt(), speeds.into_iter().fold(0.0, f64::max))
}

/// Checks that all `n` stones are in a box of the given width [m], and that overlaps and unconverged steps are few.
fn contained(
    checks: &mut Checks,
    run: &Simulation,
    stones: &[usize],
    (n, width): (usize, f64),
    law: &str,
) {
    let (report, state, half) = (run.report(), run.state(), 0.5 * width);
    let escaped = stones.iter().filter(|&&i| {
        let p = state.q[i].position;
        p.x.abs() > half || p.y.abs() > half || p.z < 0.0
    });
    let mut at_most = |what: &str, value: f64, limit: f64| {
        checks.at_most(&format!("{what}, {law}"), value, limit, "1");
    };
    at_most("missing stones", stones.len().abs_diff(n) as f64, 0.0);
    at_most("stones that left the box", escaped.count() as f64, 0.0);
    let size = run.scene().grain_size();
    at_most("deepest overlap over the mean size", report.penetration / size, 0.01);
    at_most("fraction of unconverged steps", report.unconverged as f64 / report.steps as f64, 0.01);
}

/// Hash of the bits of a state (FNV-1a).
pub fn state_hash(state: &State) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut eat = |x: f64| {
        for byte in x.to_bits().to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for (q, v) in state.q.iter().zip(&state.v) {
        q.position.iter().chain(q.rotation.coords.iter()).for_each(|x| eat(*x));
        v.linear.iter().chain(v.angular.iter()).for_each(|x| eat(*x));
    }
    for c in &state.warm_start {
        c.point_b.iter().chain(&c.impulse_w).for_each(|x| eat(*x));
    }
    hash
}

/// Runs the same scene twice and on several numbers of threads.
pub(super) fn same_bits(effort: Effort) -> Checks {
    let mut checks = Checks::new("same-bits");
    let (n, steps) = if effort == Effort::Full { (600, 500) } else { (600, 100) };
    let run_on = |threads: usize| {
        let work = move || {
            let (scene, _) = scenes::stones_in_box(n, 0.3, 2);
            let mut run = scenes::start(&scene, 1e-3, 0.5, 1e-4);
            let mut pairs = 0;
            for _ in 0..steps {
                pairs = run.step().expect("stones cannot fail").pairs;
            }
            (state_hash(run.state()), pairs)
        };
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a thread pool")
            .install(work)
    };
    let (first, pairs) = run_on(1);
    // Detection distributes chunks of 256 pairs, so there must be more than two chunks.
    checks.at_least("pairs of shapes tested per step", pairs as f64, 513.0, "1");
    for (name, threads) in [("twice in a row", 1), ("on 2 threads", 2), ("on 3 threads", 3)] {
        let differs = f64::from(u8::from(run_on(threads).0 != first));
        checks.at_most(&format!("runs that differ, {name}"), differs, 0.0, "1");
    }
    checks
}
