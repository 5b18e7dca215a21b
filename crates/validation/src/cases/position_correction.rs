//! The correction of overlaps: how deep they are with and without it, and what it does to structures that stand, to friction and
//! to energy.

use super::grains::state_hash;
use crate::scenes::shear_box::ShearBox;
use crate::scenes::tamping::{Bed, Schedule, Settled};
use crate::tamping::{Accuracy, Case, Run};
use crate::{Checks, Effort, scenes};
use riprap::prelude::*;
use std::time::Instant;

/// Largest overlap with the correction, relative to the grain size [–].
const LARGEST: f64 = 1e-3;

pub(super) fn position_correction(effort: Effort) -> Checks {
    let mut checks = Checks::new("position-correction");
    shear_box(&mut checks, effort);
    tamping(&mut checks, effort);
    standing(&mut checks, effort);
    lifted_tower(&mut checks);
    slope(&mut checks);
    rest(&mut checks, effort);
    same_bits(&mut checks, effort);
    checks
}

/// Ballast sheared by 30 mm (10 mm in the small version) with and without the correction, from the same bed; the bed was
/// poured with it.
fn shear_box(checks: &mut Checks, effort: Effort) {
    let full = effort == Effort::Full;
    let (width, stones, path) = if full { (0.3, 250, 0.03) } else { (0.15, 30, 0.01) };
    let shear = ShearBox { width, stones, pressure: 2e4, speed: 0.03, seed: 1 };
    let filled = shear.fill(true);
    let (dt, loading) = (1e-3, 0.1);
    let sheared = |correct: bool| {
        let (scene, _, _) = filled.scene(loading);
        let mut run = scenes::start_corrected(&scene, dt, 1e-4, correct);
        let begin = Instant::now();
        run.until(loading + path / shear.speed, &mut ()).expect("stones cannot fail");
        let wall = begin.elapsed().as_secs_f64();
        (run.report().penetration / run.scene().grain_size(), wall)
    };
    let (with, without) = (sheared(true), sheared(false));
    let over = format!("over {} mm of shear", 1e3 * path);
    checks.at_most(&format!("deepest overlap / grain size {over}, with it"), with.0, LARGEST, "1");
    // Otherwise the scene would not show anything.
    let quantity = format!("deepest overlap / grain size {over}, without");
    checks.at_least(&quantity, without.0, 2.0 * LARGEST, "1");
    checks.information(|c| c.at_most("time ratio of the shear", with.1 / without.1, 1.3, "1"));
}

/// The small tamping study at 15 Hz; a few large stones and a short cycle in the small version. Both runs start from the bed
/// poured with the correction.
fn tamping(checks: &mut Checks, effort: Effort) {
    let bed = match effort {
        Effort::Full => Bed::small(1),
        Effort::Small => Bed { size: [1.0, 0.4], surface: 0.2, scale: 3.0, shapes: None, seed: 2 },
    };
    let settled = Settled::pour_corrected(&bed, true, &mut |_| ()).expect("it comes to rest");
    let mut schedule = Schedule::over(settled.top());
    if effort == Effort::Small {
        let short = (0.15, 0.22, 0.25, 0.28);
        (schedule.dive, schedule.squeeze, schedule.open, schedule.opened) = short;
        (schedule.target, schedule.lift, schedule.end) = (0.95, 0.28, 0.34);
    }
    let size = |volume: f64| (6.0 * volume / std::f64::consts::PI).cbrt();
    let sizes = settled.stones.iter().map(|(stone, _)| size(stone.unit_mass().mass));
    let size = sizes.sum::<f64>() / settled.stones.len() as f64;
    let tamped = |correct: bool| {
        let accuracy = Accuracy { dt: 1e-3, tolerance: 1e-3 };
        let mut run = Run::begin(&settled, Case::ALL[0], schedule, accuracy).expect("it closes");
        run.correct = correct;
        let keep = &mut |_: &Run| Ok::<(), riprap::simulation::Error>(());
        run.finish(&settled, keep).expect("it runs");
        run
    };
    let (with, without) = (tamped(true), tamped(false));
    let deepest = |run: &Run| run.report.penetration / size;
    checks.at_most(
        "deepest overlap / grain size in tamping, with it",
        deepest(&with),
        LARGEST,
        "1",
    );
    let quantity = "deepest overlap / grain size in tamping, without";
    checks.at_least(quantity, deepest(&without), 2.0 * LARGEST, "1");
    checks.at_most("loop residual of the machine, with it", with.report.loop_residual, 1e-11, "m");
    checks.at_most("stones outside the walls, with it", with.outside as f64, 0.0, "1");
    let ratio = with.report.wall / without.report.wall;
    checks.information(|c| c.at_most("time ratio of tamping", ratio, 1.3, "1"));
}

/// Tower, wall and arch have no overlaps to correct: their states are bitwise those without the correction.
fn standing(checks: &mut Checks, effort: Effort) {
    let full = effort == Effort::Full;
    let structures = [
        ("tower", scenes::tower(20).0, 1e-6, if full { 10.0 } else { 0.2 }),
        ("wall", scenes::wall(10, 10).0, 1e-6, if full { 5.0 } else { 0.1 }),
        ("arch that stands", scenes::arch(24, 0.115, 2.0).0, 1e-8, if full { 5.0 } else { 0.5 }),
    ];
    for (name, scene, tolerance, time) in structures {
        let [with, without] = [true, false].map(|correct| {
            let mut run = scenes::start_corrected(&scene, 1e-3, tolerance, correct);
            run.until(time, &mut ()).expect("standing bodies cannot fail");
            state_hash(run.state())
        });
        let differs = f64::from(u8::from(with != without));
        checks.at_most(&format!("{name} after {time} s: states that differ"), differs, 0.0, "1");
    }
    // An arch that is too thin falls with it as well.
    let (scene, stones) = scenes::arch(24, 0.100, 2.0);
    let mut run = scenes::start_corrected(&scene, 1e-3, 1e-8, true);
    let top = stones[stones.len() / 2];
    let height = run.pose(top).position.y;
    run.until(if full { 5.0 } else { 1.0 }, &mut ()).expect("a falling arch cannot fail");
    checks.at_least("fall of a thin arch", height - run.pose(top).position.y, 0.1, "m");
}

/// A tower whose ten cubes overlap by 5 mm each is lifted: the work against gravity, and what it leaves behind.
fn lifted_tower(checks: &mut Checks) {
    let m = scenes::rock(0.5, 0.0);
    let mut scene = Scene::builder();
    scene.accept_overlap(0.1);
    scenes::add_ground(&mut scene, &m, 0.0);
    let cube = Shape::cuboid([1.0; 3]).expect("positive");
    let place = |k: usize| [0.0, 0.0, 0.5 + 0.995 * k as f64];
    let add = |k: usize| scene.add(BodyDescription::new(cube.clone(), &m).at(place(k)), &m);
    let boxes: Vec<Body> = (0..10).map(add).collect();
    let mut run = scenes::start_corrected(&scene, 1e-3, 1e-6, true);
    let before = run.frame().balance();
    run.until(1.0, &mut ()).expect("standing bodies cannot fail");
    let after = run.frame().balance();
    // Σ m g k (5 mm − 2e-4 d), d = 1.2407 m the diameter of the ball of equal volume.
    let left = 2e-4 * (6.0 / std::f64::consts::PI).cbrt();
    let work = 2700.0 * 9.81 * 45.0 * (0.005 - left);
    let gained = after.potential - before.potential;
    // The tolerance of the projection and what its neighbours were allowed to close: 2e-4 d per joint.
    checks.close("work that lifts ten cubes by 5 mm each", gained, work, 0.05 * work, "J");
    checks.at_most("kinetic energy one second later", after.kinetic, 1e-6, "J");
    let aside = |b: &Body| run.pose(*b).position.x.hypot(run.pose(*b).position.y);
    let aside = boxes.iter().map(aside).fold(0.0, f64::max);
    checks.at_most("displacement sideways", aside, 1e-6, "m");
}

/// A brick on a slope just below the angle of friction that overlaps its support by 0.5 mm is lifted and does not slip.
fn slope(checks: &mut Checks) {
    let angle = 0.6_f64.atan() - 0.01_f64.to_radians();
    let m = scenes::rock(0.6, 0.0);
    let mut scene = Scene::builder();
    scene.accept_overlap(0.1);
    scenes::add_ground(&mut scene, &m, angle);
    let (s, c) = angle.sin_cos();
    let turn = Quat::from_scaled_axis(Vec3::new(0.0, angle, 0.0));
    let shape = Shape::cuboid([0.2, 0.1, 0.05]).expect("positive");
    let block = BodyDescription::new(shape, &m).at([0.0245 * s, 0.0, 0.0245 * c]).turned(turn);
    let block = scene.add(block, &m);
    let mut run = scenes::start_corrected(&scene, 1e-3, 1e-8, true);
    let start = run.pose(block).position;
    run.until(1.0, &mut ()).expect("a block cannot fail");
    let moved = run.pose(block).position - start;
    let lifted = moved.dot(&Vec3::new(s, 0.0, c));
    let slipped = moved - Vec3::new(s, 0.0, c) * lifted;
    // Down to the tolerated overlap, 3e-4 of a size of 0.124 m at most.
    checks.close("lift of a brick on a slope", lifted, 5e-4, 4e-5, "m");
    // The four corners are lifted by equal amounts up to the tolerance of the projection; see `slope` for 1e-9 without it.
    checks.at_most("its slip in 1 s", slipped.norm(), 1e-6, "m");
}

/// Poured stones with rolling resistance come to rest with the correction as they do without it.
fn rest(checks: &mut Checks, effort: Effort) {
    let (n, width) = if effort == Effort::Full { (300, 0.4) } else { (40, 0.2) };
    let (scene, stones) = scenes::stones_of(&scenes::rock(0.7, 0.0).rolling(1e-4), n, width, 1);
    let mut run = scenes::start_corrected(&scene, 5e-4, 1e-3, true);
    run.until(2.5, &mut ()).expect("stones cannot fail");
    let speeds = stones.iter().map(|b| run.velocity(*b).linear.norm());
    let places: Vec<Vec3> = stones.iter().map(|b| run.pose(*b).position).collect();
    // The limits of `stones-at-rest`.
    checks.at_most("fastest poured stone after 2.5 s", speeds.fold(0.0, f64::max), 1e-6, "m/s");
    run.until(3.0, &mut ()).expect("stones cannot fail");
    let crept = stones.iter().zip(places).map(|(b, p)| (run.pose(*b).position - p).norm());
    checks.at_most("creep of any stone in 0.5 s", crept.fold(0.0, f64::max), 1e-6, "m");
    let deepest = run.report().penetration / run.scene().grain_size();
    checks.at_most("deepest overlap / grain size while pouring", deepest, LARGEST, "1");
}

/// The same corrected run on several numbers of threads.
fn same_bits(checks: &mut Checks, effort: Effort) {
    let steps = if effort == Effort::Full { 500 } else { 60 };
    let run_on = |threads: usize| {
        let work = move || {
            let (mut scene, _) = scenes::stones_in_box(600, 0.3, 2);
            scene.gravity([0.0, 0.0, -200.0]);
            let mut run = scenes::start_corrected(&scene, 1e-3, 1e-3, true);
            for _ in 0..steps {
                run.step().expect("stones cannot fail");
            }
            state_hash(run.state())
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a thread pool").install(work)
    };
    let first = run_on(1);
    for threads in [2, 3] {
        let differs = f64::from(u8::from(run_on(threads) != first));
        checks.at_most(&format!("runs that differ on {threads} threads"), differs, 0.0, "1");
    }
}
