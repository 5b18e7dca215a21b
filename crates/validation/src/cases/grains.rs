//! Grains in bulk: coming to rest, and the same bits every time.

use crate::{Checks, Effort, scenes};
use riprap::prelude::*;

/// Ballast stones poured into a box, once with rolling resistance and once without.
///
/// Without it, a stone that hangs on two points, its centre below them, is a pendulum that nothing damps: of a thousand poured stones
/// one or two still swing, at millimetres a second, and the rows of all stones fail. That the solver is not what moves them is shown
/// besides: a drag of 20 1/s stills them for a second, then it is gone, and for another second Coulomb's law alone holds all.
pub(super) fn stones_at_rest(effort: Effort) -> Checks {
    let mut checks = Checks::new("stones-at-rest");
    let (n, width, time) = match effort {
        Effort::Full => (1000, 0.6, 3.0),
        Effort::Small => (60, 0.25, 3.0),
    };
    for (rolling, law) in [(1e-4, "rolling resistance 0.1 mm"), (0.0, "Coulomb alone")] {
        let (scene, _) = scenes::stones_of(&scenes::rock(0.7, 0.0).rolling(rolling), n, width, 1);
        // The stones fall at up to 3 m/s: a step of 0.25 ms moves them by less than 2 % of their size.
        let mut run = scenes::start(&scene, 2.5e-4, 0.5, 1e-3);
        let size = run.scene().grain_size();
        let stones: Vec<usize> =
            (0..run.scene().bodies().len()).filter(|&i| run.scene().bodies().movable[i]).collect();
        let fastest = |run: &Simulation, some: &dyn Fn(usize) -> bool| {
            let speed = |i: &usize| run.state().v[*i].linear.norm();
            stones.iter().filter(|i| some(**i)).map(speed).fold(0.0, f64::max)
        };
        let mut at_most = |what: &str, value: f64, limit: f64, unit: &'static str| {
            checks.at_most(&format!("{what}, {law}"), value, limit, unit);
        };

        let mut rest = |run: &Simulation, when: &str| {
            let square = |i: &usize| run.state().v[*i].linear.norm_squared();
            let rms = (stones.iter().map(square).sum::<f64>() / n as f64).sqrt();
            at_most(&format!("root mean square velocity {when}"), rms, 1e-4, "m/s");
            at_most(&format!("fastest stone {when}"), fastest(run, &|_| true), 1e-4, "m/s");
        };
        run.until(time, &mut ()).expect("stones cannot fail");
        // Coulomb alone fails here in the full case.
        rest(&run, &format!("after {time} s"));
        let mut carrying = vec![0; run.scene().bodies().len()];
        for c in run.frame().contacts().filter(|c| c.force.norm() > 0.0) {
            c.bodies.into_iter().for_each(|b| carrying[run.scene().slot(b)] += 1);
        }
        let held = fastest(&run, &|i| carrying[i] > 2);
        if rolling == 0.0 {
            run.drag(20.0).until(time + 1.0, &mut ()).expect("stones cannot fail");
            run.drag(0.0).until(time + 2.0, &mut ()).expect("stones cannot fail");
            rest(&run, "1 s after a drag");
        }
        let what = format!("fastest stone on three contacts or more after {time} s");
        at_most(&what, held, 1e-4, "m/s");
        let (report, state) = (run.report(), run.state());
        let half = 0.5 * width;
        let escaped = stones.iter().filter(|&&i| {
            let p = state.q[i].position;
            p.x.abs() > half || p.y.abs() > half || p.z < 0.0
        });
        at_most("stones that are not there", stones.len().abs_diff(n) as f64, 0.0, "1");
        at_most("stones that left the box", escaped.count() as f64, 0.0, "1");
        at_most("deepest overlap over the mean size", report.penetration / size, 0.01, "1");
        let unconverged = report.unconverged as f64 / report.steps as f64;
        at_most("share of unconverged steps", unconverged, 0.01, "1");
    }
    checks
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

/// The same scene twice, and on one and two threads.
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
    // Detection hands out chunks of 256 pairs: two at least have something to share.
    checks.at_least("pairs of shapes tested in a step", pairs as f64, 513.0, "1");
    for (name, threads) in [("twice in a row", 1), ("on 2 threads", 2), ("on 3 threads", 3)] {
        let differs = f64::from(u8::from(run_on(threads).0 != first));
        checks.at_most(&format!("runs that differ, {name}"), differs, 0.0, "1");
    }
    checks
}
