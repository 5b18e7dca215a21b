//! Stones that break and wear under every scheme: conservation, Archard's law, the load at a break over sizes and
//! strengths, threads and restarts.

use riprap::degradation::grading;
use riprap::friction::Apgd;
use riprap::grains::{StoneGenerator, seeded};
use riprap::prelude::*;
use riprap::scheme::Scheme;
use std::f64::consts::PI;

/// The schemes that have contacts, each with a step [s] for stones of 0.1 m at about 1 m/s.
const SCHEMES: [&str; 6] =
    ["moreau-jean", "cone", "coulomb", "penalty", "generalized-alpha", "rigid-events"];

fn scheme(name: &str) -> Box<dyn Scheme> {
    let cone = || ConeComplementarity::new(5e-4).solver(Apgd::tolerance(1e-10));
    match name {
        "moreau-jean" => Box::new(MoreauJean::new(5e-4).solver(GaussSeidel::tolerance(1e-10))),
        "cone" => Box::new(cone()),
        "coulomb" => {
            let exact = cone().law(FrictionLaw::Coulomb);
            Box::new(exact.solver(GaussSeidel::tolerance(1e-10)))
        }
        "penalty" => Box::new(Penalty::new(2e-5)),
        "generalized-alpha" => Box::new(GeneralizedAlpha::new(5e-4)),
        _ => Box::new(RigidEvents::new(5e-4)),
    }
}

fn start(scene: &SceneBuilder, name: &str) -> Simulation {
    Simulation::new(scene.build().unwrap(), scheme(name)).unwrap()
}

fn rock(law: Fragmentation) -> Material {
    Material::new("rock").density(2500.0).friction(0.4).breaking(law)
}

/// Total volume of the free bodies [m³].
fn volume(run: &Simulation) -> f64 {
    let scene = run.scene();
    let free = (0..scene.bodies().len()).filter(|&i| scene.bodies().movable[i]);
    free.map(|i| scene.shape(scene.body_at(i)).volume()).sum()
}

/// Two stones that meet in free flight and break.
fn collision() -> SceneBuilder {
    let rock = rock(Fragmentation::peak_force(600.0, 0.04));
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    for (side, tilt) in [(-1.0, 0.2), (1.0, 0.5)] {
        let stone = BodyDescription::new(Shape::cuboid([0.1, 0.09, 0.11]).unwrap(), &rock);
        let stone = stone
            .at([0.08 * side, 0.01 * side, 0.0])
            .turned(Quat::from_scaled_axis(Vec3::new(0.3, tilt, 0.1 * side)));
        scene.add(stone.velocity([-side, 0.0, 0.1 * side]).spin([0.0, side, 0.5]), &rock);
    }
    scene
}

#[test]
fn every_scheme_conserves_mass_volume_and_momentum_when_stones_break() {
    for name in SCHEMES {
        let mut run = start(&collision(), name);
        let (mass, whole) = (run.scene().free_mass(), volume(&run));
        let before = run.frame().balance();
        let size = run.scene().free_mass();
        run.until(0.08, &mut ()).unwrap();
        let account = run.state().degradation.account;
        assert!(account.breaks >= 2, "{name}: {account:?}");
        let after = run.frame().balance();
        let dust = account.dust;
        assert!(((run.scene().free_mass() + dust.mass) / mass - 1.0).abs() < 1e-13, "{name}");
        let left = volume(&run) + dust.mass / 2500.0;
        assert!((left / whole - 1.0).abs() < 1e-13, "{name}");
        // Each stone has a momentum of 2.5 kg m/s; they cancel.
        let drift = after.momentum + Vec3::from(dust.momentum) - before.momentum;
        // Rounding of thousands of impulses.
        assert!(drift.norm() < 1e-11 * size, "{name}: {drift}");
        // Only contacts take energy: none is gained, but for the springs of soft contacts.
        let energy = after.kinetic + dust.kinetic;
        assert!(energy < before.kinetic * (1.0 + 1e-9), "{name}: {energy} {}", before.kinetic);
        assert!(energy > 0.01 * before.kinetic, "{name}: {energy}");
    }
}

/// A block of chalk that slides on steel; its speed [m/s].
fn sliding(speed: f64) -> (SceneBuilder, Body) {
    let steel = Material::new("steel").density(7800.0).friction(0.4);
    let chalk = Material::new("chalk").density(1500.0).friction(0.4);
    let chalk = chalk.wearing(Wear::new(1.0, 1e6).chamfer(2e-4));
    let mut scene = Scene::builder();
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &steel);
    let block = BodyDescription::new(Shape::cuboid([0.2, 0.2, 0.1]).unwrap(), &chalk);
    let block = scene.add(block.at([0.0, 0.0, 0.05]).velocity([speed, 0.0, 0.0]), &chalk);
    (scene, block)
}

#[test]
fn every_scheme_wears_off_the_volume_of_archards_law() {
    for name in SCHEMES {
        let (scene, block) = sliding(2.0);
        let mut run = start(&scene, name);
        let (mass, whole) = (run.scene().free_mass(), volume(&run));
        let kinetic = run.frame().balance().kinetic;
        run.until(0.7, &mut ()).unwrap();
        let state = &run.state().degradation;
        let account = state.account;
        assert!(account.chamfers >= 4, "{name}: {account:?}");
        // K W/H, cut off or waiting for a full chamfer.
        let waiting: f64 = state.wear.iter().flatten().map(|c| c.volume).sum();
        let lost = whole - volume(&run) + waiting;
        let expected = 1e-6 * account.friction_work;
        assert!((lost / expected - 1.0).abs() < 1e-9, "{name}: {lost} {expected}");
        assert!((account.worn.mass / 1500.0 / (whole - volume(&run)) - 1.0).abs() < 1e-9);
        assert!(((run.scene().free_mass() + account.worn.mass) / mass - 1.0).abs() < 1e-13);
        // The block stops, and its energy has become work of friction, but for that of its fines and the drops by the
        // height of a chamfer, 0.02 mm.
        assert!(run.velocity(block).linear.norm() < 1e-2, "{name}: {}", run.velocity(block).linear);
        let spent = (account.friction_work + account.worn.kinetic) / kinetic;
        assert!((spent - 1.0).abs() < 5e-3, "{name}: {spent}");
    }
}

/// A stone between the floor and a plate with a force that grows in steps; the last force [N] that it survived and the
/// one that broke it.
fn breaking_force(
    name: &str,
    edge: f64,
    law: Fragmentation,
    increment: f64,
    seed: u64,
) -> [f64; 2] {
    // Without friction: shear that a solver adds between the two plates would be part of the load.
    let steel = Material::new("steel").density(7800.0).friction(0.0);
    let rock = rock(law).friction(0.0);
    let mut force = 0.0;
    let mut survived = None;
    for _ in 0..200 {
        force += increment;
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]).seed(seed);
        scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &steel);
        let stone = BodyDescription::new(Shape::cuboid([edge; 3]).unwrap(), &rock);
        scene.add(stone.named("stone").at([0.0, 0.0, 0.5 * edge]), &rock);
        let mut plate =
            BodyDescription::new(Shape::cuboid([3.0 * edge, 3.0 * edge, edge]).unwrap(), &steel)
                .at([0.0, 0.0, 1.5 * edge])
                .locked(Locks([true, true, false, true, true, true]));
        plate.force = Vec3::new(0.0, 0.0, -force);
        scene.add(plate, &steel);
        let mut run = start(&scene, name);
        (0..4).for_each(|_| {
            run.step().unwrap();
        });
        if run.state().degradation.account.breaks > 0 {
            return [survived.unwrap_or(0.0), force];
        }
        survived = Some(force);
    }
    panic!("it does not break");
}

#[test]
fn a_pressed_cube_breaks_at_its_computed_load_over_sizes_and_strengths() {
    // The stress of a cube between two plates is F a/d³ = π F/(6 a²); the peak force is F itself.
    for name in ["moreau-jean", "cone", "rigid-events"] {
        for edge in [5e-3, 0.05, 0.5] {
            for strength in [1e4, 1e7] {
                let expected = strength * edge * edge * 6.0 / PI;
                for law in [
                    Fragmentation::stress(strength, 0.1 * edge),
                    Fragmentation::peak_force(expected, 0.1 * edge),
                ] {
                    let [survived, broke] = breaking_force(name, edge, law, 0.0999 * expected, 1);
                    // It survives 10 increments of 9.99 % and breaks at the eleventh.
                    assert!(survived < expected && expected <= broke, "{name} {edge} {strength}");
                    assert!((survived / expected - 0.999).abs() < 1e-9, "{name} {edge} {strength}");
                }
            }
        }
    }
}

#[test]
fn strengths_of_many_stones_have_the_size_effect_of_weibull() {
    // The mean of ln σ over stones of one size is ln σ₀ − (3/m) ln(d/d₀) − γ/m; its slope by regression over four sizes.
    for (modulus, planar) in [(3.0, false), (6.0, false), (4.0, true)] {
        let law = Fragmentation::stress(1e6, 1e-4).weibull(modulus, 0.02);
        let dimension = if planar { 2.0 } else { 3.0 };
        let n = 400;
        let points: Vec<[f64; 2]> = [0.01_f64, 0.02, 0.04, 0.08]
            .into_iter()
            .enumerate()
            .map(|(k, d)| {
                let logs = (0..n).map(|seed| {
                    let quantile = riprap::scene::survival_quantile(seed, 7 * k as u32);
                    law.strength_of(d, quantile, planar).ln()
                });
                [d.ln(), logs.sum::<f64>() / n as f64]
            })
            .collect();
        let mean = |i: usize| points.iter().map(|p| p[i]).sum::<f64>() / 4.0;
        let (x, y) = (mean(0), mean(1));
        let cross = points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum::<f64>();
        let square = points.iter().map(|p| (p[0] - x).powi(2)).sum::<f64>();
        // The standard deviation of ln(−ln u) is π/√6; three standard errors.
        let error = 3.0 * PI / 6f64.sqrt() / modulus / (n as f64 * square).sqrt();
        assert!(
            (cross / square + dimension / modulus).abs() < error,
            "{modulus} {}",
            cross / square
        );
        let euler = 0.577_215_664_901_532_9;
        let level = y + dimension / modulus * (x - 0.02_f64.ln()) + euler / modulus;
        assert!(
            (level - 1e6_f64.ln()).abs()
                < 3.0 * PI / 6f64.sqrt() / modulus / (4.0 * n as f64).sqrt()
        );
    }
}

#[test]
fn stones_in_a_press_break_at_the_strength_of_their_seed() {
    let law = Fragmentation::stress(1e6, 1e-3).weibull(3.0, 0.05);
    let edge = 0.05;
    let size = edge * (6.0 / PI).cbrt();
    for seed in 0..10 {
        // The stone is the second body of the scene.
        let strength = law.strength_of(size, riprap::scene::survival_quantile(seed, 1), false);
        let expected = strength * edge * edge * 6.0 / PI;
        let [survived, broke] = breaking_force("moreau-jean", edge, law, 0.0999 * expected, seed);
        assert!(survived < expected && expected <= broke, "seed {seed}: {survived} {broke}");
        assert!((survived / expected - 0.999).abs() < 1e-9, "seed {seed}");
    }
}

#[test]
fn an_averaged_load_breaks_a_stone_when_its_mean_reaches_the_strength() {
    // Under a constant load F the mean is F (1 − (1 − h/T)ⁿ) after n steps.
    let (step, time, strength) = (5e-4_f64, 5e-3_f64, 100.0);
    for share in [1.05, 1.5, 4.0] {
        let rock = rock(Fragmentation::peak_force(strength, 1e-3).average(time));
        let steel = Material::new("steel").density(7800.0).friction(0.4);
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &steel);
        let mut stone = BodyDescription::new(Shape::cuboid([0.1; 3]).unwrap(), &rock);
        stone.force = Vec3::new(0.0, 0.0, -share * strength);
        scene.add(stone.at([0.0, 0.0, 0.05]), &rock);
        let mut run = start(&scene, "moreau-jean");
        let mut steps = 0;
        while run.state().degradation.breaks.is_empty() {
            run.step().unwrap();
            steps += 1;
            assert!(steps < 1000, "{share}");
        }
        let needed = ((1.0_f64 - 1.0 / share).ln() / (1.0 - step / time).ln()).ceil();
        assert_eq!(f64::from(steps), needed, "{share}");
    }
}

/// Generated stones that fall into a heap, break and wear.
fn heap(n: u32) -> SceneBuilder {
    let rock = rock(Fragmentation::peak_force(60.0, 0.02).weibull(3.0, 0.05).average(2e-3))
        .wearing(Wear::new(0.5, 2e4).chamfer(5e-4));
    let mut scene = Scene::builder();
    scene.seed(9);
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock);
    let generator = StoneGenerator::default();
    let mut rng = seeded(5);
    let side = 6;
    for k in 0..n {
        let stone = generator.generate(0.05, &mut rng).unwrap();
        let [x, y, z] = [k % side, k / side % side, k / (side * side)].map(f64::from);
        let shape = Shape::Polyhedron(stone.into());
        let stone = BodyDescription::new(shape, &rock).at([0.09 * x, 0.09 * y, 0.06 + 0.1 * z]);
        scene.add(stone.velocity([0.2 - 0.1 * (y % 3.0), 0.1, -1.0]).spin([x, y, z]), &rock);
    }
    scene
}

#[test]
fn threads_do_not_change_runs_in_which_stones_break_and_wear() {
    for name in ["moreau-jean", "cone", "penalty"] {
        let n = if name == "penalty" { 80 } else { 540 };
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let fast: Box<dyn Scheme> = match name {
                    "moreau-jean" => Box::new(MoreauJean::new(2e-3)),
                    "cone" => {
                        Box::new(ConeComplementarity::new(2e-3).solver(Apgd::tolerance(1e-3)))
                    }
                    _ => Box::new(Penalty::new(1e-4)),
                };
                let mut run = Simulation::new(heap(n).build().unwrap(), fast).unwrap();
                run.until(0.05, &mut ()).unwrap();
                run.state().clone()
            })
        };
        let first = on(1);
        let account = first.degradation.account;
        assert!(account.breaks > 0 && account.chamfers > 0, "{name}: {account:?}");
        for threads in [2, 3, 8] {
            assert!(on(threads) == first, "{name} on {threads} threads");
        }
    }
}

#[test]
fn resumed_runs_repeat_the_original_under_every_scheme() {
    for name in SCHEMES {
        let start = || start(&collision(), name);
        let mut whole = start();
        let mut states = vec![whole.state().clone()];
        while whole.time() < 0.04 {
            whole.advance_to(0.04).unwrap();
            states.push(whole.state().clone());
        }
        assert!(whole.state().degradation.account.breaks > 0, "{name}");
        let pending = states.iter().position(|s| !s.degradation.breaks.is_empty());
        for from in [1, pending.unwrap(), pending.unwrap() + 1, states.len() - 3] {
            let mut again = start();
            again.set_state(states[from].clone()).unwrap();
            for state in states[from + 1..].iter().take(40) {
                again.advance_to(0.04).unwrap();
                assert!(again.state() == state, "{name}: step {} from {from}", state.step);
            }
        }
    }
}

#[test]
fn a_cube_worn_equally_at_all_corners_keeps_its_symmetry_and_becomes_rounder() {
    // Each of the eight corners loses a chamfer along its diagonal: mass centre and principal axes stay.
    let mut cube = Shape::cuboid([1.0; 3]).unwrap();
    let corners: Vec<Vec3> = (0..8)
        .map(|k| {
            Vec3::from([0, 1, 2].map(|i| if k >> i & 1 == 0 { -1.0 } else { 1.0 })).normalize()
        })
        .collect();
    let mut last = sphericity(&cube);
    // π^(1/3) 6^(2/3)/6 for a cube.
    assert!((last - PI.cbrt() * 6f64.powf(2.0 / 3.0) / 6.0).abs() < 1e-12);
    for round in 1..=6 {
        let volume = cube.volume();
        for corner in &corners {
            cube = cube.cut_off(*corner, 2e-3 * volume, 200).unwrap();
        }
        let m = cube.mass_properties(1.0).unwrap();
        // Caps do not meet: every round takes 8 × 0.2 %.
        assert!((m.mass / volume - (1.0 - 16e-3)).abs() < 1e-6, "round {round}");
        assert!(m.centre.norm() < 1e-7, "round {round}: {}", m.centre);
        let mean = m.inertia.trace() / 3.0;
        assert!((m.inertia - Mat3::identity() * mean).norm() < 1e-6 * mean, "round {round}");
        let now = sphericity(&cube);
        assert!(now > last, "round {round}: {last} {now}");
        last = now;
    }
    assert!(last > 0.87, "{last}");
}

/// Surface of the ball of equal volume over that of a polyhedron [–].
fn sphericity(shape: &Shape) -> f64 {
    let Shape::Polyhedron(p) = shape else { panic!() };
    let at = |i: u32| p.vertices()[i as usize];
    let area = |[a, b, c]: [u32; 3]| 0.5 * (at(b) - at(a)).cross(&(at(c) - at(a))).norm();
    PI.cbrt() * (6.0 * shape.volume()).powf(2.0 / 3.0) / p.triangles().map(area).sum::<f64>()
}

#[test]
fn a_grading_counts_pieces_and_dust_and_stays_finer_after_breaks() {
    let mut run = Simulation::new(heap(40).build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    let before = grading(run.scene(), run.state());
    assert!((before.mass() / run.scene().free_mass() - 1.0).abs() < 1e-12);
    assert!((before.largest() / 0.05 - 1.0).abs() < 0.03, "{}", before.largest());
    run.until(0.15, &mut ()).unwrap();
    let after = grading(run.scene(), run.state());
    assert!(run.state().degradation.account.breaks > 5);
    assert!((after.mass() / before.mass() - 1.0).abs() < 1e-12, "with dust");
    for k in 1..60 {
        let d = 1e-3 * f64::from(k);
        // The search for the smallest aperture may miss it by 3 %.
        assert!(after.passing(1.03 * d) >= before.passing(d) - 1e-12, "{d}");
    }
    let index = before.breakage(&after, 1e-3);
    assert!(index > 0.0 && index < 1.0, "{index}");
}

#[test]
fn the_first_stones_of_a_heap_to_break_are_those_whose_loads_first_reach_their_strengths() {
    // Loads from the contacts of a run in which nothing breaks: the resultant of each pair, averaged over time.
    let (dt, average) = (1e-3, 2e-3);
    let start = || Simulation::new(heap(40).build().unwrap(), MoreauJean::new(dt)).unwrap();
    let mut whole = start();
    whole.degradation(false);
    let n = whole.scene().bodies().len();
    let strengths: Vec<f64> = (0..n)
        .map(|slot| riprap::degradation::Degradation::default().strength(whole.scene(), slot))
        .collect();
    let mut means = vec![0.0; n];
    let mut due: Vec<u32> = Vec::new();
    while due.is_empty() {
        whole.step().unwrap();
        let mut pairs: Vec<([Body; 2], Vec3)> = Vec::new();
        for c in whole.frame().contacts() {
            match pairs.last_mut().filter(|p| p.0 == c.bodies) {
                Some(pair) => pair.1 += c.force,
                None => pairs.push((c.bodies, c.force)),
            }
        }
        for (slot, mean) in means.iter_mut().enumerate() {
            let own = pairs.iter().filter(|p| p.0.contains(&whole.scene().body_at(slot)));
            let peak = own.map(|p| p.1.norm()).fold(0.0, f64::max);
            *mean += dt / average * (peak - *mean);
        }
        due = (0..n as u32).filter(|&s| means[s as usize] >= strengths[s as usize]).collect();
        assert!(whole.time() < 1.0, "nothing would break");
    }
    let mut run = start();
    while run.state().degradation.breaks.is_empty() {
        run.step().unwrap();
    }
    assert_eq!(run.state().step, whole.state().step, "at the same time");
    assert_eq!(run.state().q, whole.state().q, "after the same motion");
    let broken: Vec<u32> = run.state().degradation.breaks.iter().map(|b| b.id).collect();
    assert_eq!(broken, due);
}

#[test]
fn a_stone_at_rest_on_its_springs_does_not_notice_that_another_one_breaks() {
    // The default stiffness of soft contacts is that of the smallest pieces from the beginning.
    for planar in [false, true] {
        let rock = rock(Fragmentation::peak_force(1e6, 0.03));
        let mut scene = Scene::builder();
        let up = if planar { Vec3::y() } else { Vec3::z() };
        scene.gravity((-9.81 * up).into());
        if planar {
            scene.planar();
        }
        scene.add_fixed(Shape::half_space(up.into()).unwrap(), Pose::IDENTITY, &rock);
        let shape = match planar {
            true => Shape::polygon(&[[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]], 0.2),
            false => Shape::cuboid([0.2; 3]),
        };
        let stones = [0.0, 1.0].map(|x| {
            let stone = BodyDescription::new(shape.clone().unwrap(), &rock);
            scene.add(stone.at((up * 0.1 + Vec3::x() * x).into()), &rock)
        });
        let mut run = Simulation::new(scene.build().unwrap(), Penalty::new(1e-4)).unwrap();
        run.until(2.0, &mut ()).unwrap();
        let (resting, height) = (stones[0], run.pose(stones[0]).position);
        let speed = run.velocity(resting).linear.norm();
        let mut state = run.state().clone();
        let normal = [1.0, 0.0, 0.0];
        state.degradation.breaks.push(riprap::scene::Break { id: stones[1].0, normal });
        run.set_state(state).unwrap();
        for _ in 0..200 {
            run.step().unwrap();
        }
        assert_eq!(run.state().degradation.account.breaks, 1);
        // Its springs are those of before: a stiffness halved with the mass of the pieces would let it sink.
        let moved = (run.pose(resting).position - height).norm();
        assert!(moved < 1e-9 + 0.02 * speed, "moved by {moved} m at {speed} m/s");
    }
}
