use super::*;
use crate::prelude::*;
use crate::simulation::Balance;

/// Rock with friction, which breaks as given.
fn rock(fragmentation: Fragmentation) -> Material {
    Material::new("rock").density(2700.0).friction(0.5).breaking(fragmentation)
}

/// A stone between a floor and a plate that approaches at 1 mm/s; a spring would be soft, so the
/// plate is a heavy body with a force that grows.
fn press(stone: Shape, material: &Material, seed: u64) -> (SceneBuilder, Body) {
    let steel = Material::new("steel").density(7800.0).friction(0.5);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]).seed(seed);
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &steel);
    let stone = scene
        .add(BodyDescription::new(stone, material).named("stone").at([0., 0., 0.05]), material);
    (scene, stone)
}

fn plate(scene: &mut SceneBuilder, force: f64) -> Body {
    let steel = Material::new("steel").density(7800.0).friction(0.5);
    let mut plate = BodyDescription::new(Shape::cuboid([0.5, 0.5, 0.1]).unwrap(), &steel)
        .named("plate")
        .at([0.0, 0.0, 0.15])
        .locked(Locks([true, true, false, true, true, true]));
    plate.force = Vec3::new(0.0, 0.0, -force);
    scene.add(plate, &steel)
}

/// A cube between floor and plate under a force [N], after some steps.
fn pressed(force: f64, fragmentation: Fragmentation) -> Simulation {
    let material = rock(fragmentation);
    let (mut scene, _) = press(Shape::cuboid([0.1; 3]).unwrap(), &material, 1);
    plate(&mut scene, force);
    let scheme = MoreauJean::new(1e-3).solver(GaussSeidel::tolerance(1e-10));
    let mut run = Simulation::new(scene.build().unwrap(), scheme).unwrap();
    for _ in 0..5 {
        run.step().unwrap();
    }
    run
}

#[test]
fn two_opposite_forces_on_a_ball_give_the_stress_of_the_point_load_test() {
    let (force, d) = (1200.0, 0.03);
    let along = Vec3::new(1.0, 2.0, -2.0) / 3.0;
    let arm = along * (0.5 * d);
    let volume = std::f64::consts::PI * d * d * d / 6.0;
    let sum = love_weber(-along * force, arm) + love_weber(along * force, -arm);
    let stress = sum / volume;
    assert!((breaking_stress(&stress, false) * d * d / force - 1.0).abs() < 1e-14);
    // Equal pressure from all sides does not break.
    assert!(breaking_stress(&(Mat3::identity() * -1e6), false) < 1e-9);
    // A disc in the Brazilian test: 2F/(π d t).
    let (t, along) = (0.2, Vec3::new(0.6, 0.8, 0.0));
    let area = std::f64::consts::PI * d * d / 4.0;
    let disc = love_weber(-along * force, along * d) / (area * t);
    let expected = 2.0 * force / (std::f64::consts::PI * d * t);
    assert!((breaking_stress(&disc, true) / expected - 1.0).abs() < 1e-14);
    // The plane contains the load.
    let ball = Shape::cuboid([d; 3]).unwrap();
    assert!(
        split_normal(&stress, &ball, false).dot(&(Vec3::new(1.0, 2.0, -2.0) / 3.0)).abs() < 1e-7
    );
    let flat = Shape::polygon(&[[0., 0.], [1., 0.], [1., 1.], [0., 1.]], t).unwrap();
    assert!(split_normal(&disc, &flat, true).dot(&along).abs() < 1e-12);
}

#[test]
fn under_equal_loads_a_long_stone_splits_across_its_length() {
    let stone = Shape::cuboid([0.3, 0.1, 0.1]).unwrap();
    let pressed = Mat3::from_diagonal(&Vec3::new(0.0, 0.0, -1.0));
    assert!(split_normal(&pressed, &stone, false).x.abs() > 0.999);
}

#[test]
fn a_cube_breaks_above_its_strength_and_not_below() {
    // A cube has d = (6/π)^(1/3) a: stress F a/d³ = π F/(6 a²).
    let strength = 1e5;
    let critical = strength * 0.01 * 6.0 / std::f64::consts::PI;
    for (share, breaks) in [(0.98, 0), (1.02, 1)] {
        let run = pressed(share * critical, Fragmentation::stress(strength, 1e-3));
        assert_eq!(run.state().degradation.account.breaks.min(1), breaks, "{share}");
        let run = pressed(share * 2000.0, Fragmentation::peak_force(2000.0, 1e-3));
        assert_eq!(run.state().degradation.account.breaks.min(1), breaks, "{share}");
    }
}

#[test]
fn a_break_conserves_mass_momenta_and_energy() {
    let material = rock(Fragmentation::peak_force(1.0, 1e-3));
    for shape in [Shape::cuboid([0.1, 0.2, 0.15]).unwrap(), Shape::cuboid([20.0; 3]).unwrap()] {
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        let body = BodyDescription::new(shape, &material).at([0.3, -0.2, 0.4]).named("stone-12");
        let stone = scene.add(body.velocity([1.0, 2.0, 3.0]).spin([4.0, -5.0, 6.0]), &material);
        let scene = scene.build().unwrap();
        let mut state = scene.initial_state();
        let before = Balance::of(&scene, &state);
        let mass = scene.free_mass();
        let normal = Vec3::new(0.3, 0.5, -0.8).normalize().into();
        state.degradation.breaks.push(Break { id: stone.0, normal });
        let (scene, changed) = Degradation::default().apply(scene, &mut state);
        assert!(changed && !scene.contains(stone));
        assert_eq!(scene.bodies().names, ["stone-12.1", "stone-12.2"]);
        assert_eq!(scene.bodies().ids, [1, 2], "ids never repeat");
        let after = Balance::of(&scene, &state);
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
        near(scene.free_mass(), mass);
        near(after.kinetic, before.kinetic);
        let differ = |a: Vec3, b: Vec3| (a - b).norm() / b.norm();
        assert!(differ(after.momentum, before.momentum) < 1e-12);
        assert!(differ(after.angular_momentum, before.angular_momentum) < 1e-12);
        assert_eq!(state.degradation.account.dust, Default::default());
    }
}

#[test]
fn dust_takes_its_mass_momentum_and_energy_along() {
    let material = rock(Fragmentation::peak_force(1.0, 0.09));
    let mut scene = Scene::builder();
    let stone = BodyDescription::new(Shape::cuboid([0.1; 3]).unwrap(), &material);
    let stone = scene.add(stone.velocity([1.0, 2.0, 3.0]).spin([0.0, 0.0, 6.0]), &material);
    let other = BodyDescription::new(Shape::cuboid([0.1; 3]).unwrap(), &material);
    let other = scene.add(other.at([0.0, 0.0, 1.0]), &material);
    let scene = scene.build().unwrap();
    let mut state = scene.initial_state();
    let (before, mass) = (Balance::of(&scene, &state), scene.free_mass());
    // Each half has a size of 0.098 m; a split at a third would leave one of them.
    state.degradation.breaks.push(Break { id: stone.0, normal: [1.0, 0.0, 0.0] });
    let mut all = Degradation::default();
    let (scene, _) = all.apply(scene, &mut state);
    assert_eq!(scene.bodies().len(), 3);
    state.degradation.breaks.push(Break { id: 2, normal: [0.0, 1.0, 0.0] });
    let (scene, _) = all.apply(scene, &mut state);
    let account = state.degradation.account;
    assert_eq!((scene.bodies().len(), account.breaks, account.pieces), (2, 2, 2));
    assert_eq!(scene.slot(other), 1, "its slot has moved and moved back");
    let after = Balance::of(&scene, &state);
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * b.abs().max(1.0), "{a} {b}");
    near(scene.free_mass() + account.dust.mass, mass);
    near(after.kinetic + account.dust.kinetic, before.kinetic);
    near(after.potential + account.dust.potential, before.potential);
    for k in 0..3 {
        near(after.momentum[k] + account.dust.momentum[k], before.momentum[k]);
        let angular = account.dust.angular_momentum[k];
        near(after.angular_momentum[k] + angular, before.angular_momentum[k]);
    }
    // The rest becomes dust too: the described body is gone.
    state.degradation.breaks.push(Break { id: 3, normal: [0.0, 0.0, 1.0] });
    let (scene, _) = all.apply(scene, &mut state);
    assert_eq!((scene.bodies().len(), &state.degradation.gone[..]), (1, &[stone.0][..]));
}

/// Stones that fall on a floor, break and wear.
fn pile() -> Scene {
    let material = rock(Fragmentation::peak_force(600.0, 0.02).weibull(3.0, 0.1).average(2e-3))
        .wearing(Wear::new(0.5, 2e5).chamfer(1e-3));
    let mut scene = Scene::builder();
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &material);
    for k in 0..12 {
        let (x, z) = (0.13 * f64::from(k % 3), 0.06 + 0.12 * f64::from(k / 3));
        let stone = BodyDescription::new(Shape::cuboid([0.1, 0.08, 0.11]).unwrap(), &material);
        scene.add(stone.at([x, 0.01 * z, z]).velocity([0.5, 0.0, -1.0]), &material);
    }
    scene.seed(5).build().unwrap()
}

#[test]
fn a_run_resumed_from_its_state_repeats_the_original_bit_by_bit() {
    let mut whole = Simulation::new(pile(), MoreauJean::new(1e-3)).unwrap();
    let mass = whole.scene().free_mass();
    let mut states = Vec::new();
    for _ in 0..300 {
        whole.step().unwrap();
        states.push(whole.state().clone());
        let account = &whole.state().degradation.account;
        let sum = whole.scene().free_mass() + account.dust.mass + account.worn.mass;
        assert!((sum / mass - 1.0).abs() < 1e-12);
    }
    let account = whole.state().degradation.account;
    assert!(account.breaks > 5 && account.chamfers > 5, "{account:?}");
    let mut waiting = 0;
    for start in [3, 57, 120, 290] {
        let pending = (start..300).find(|&k| !states[k].degradation.breaks.is_empty());
        for from in [start, pending.unwrap_or(start)] {
            waiting += usize::from(!states[from].degradation.breaks.is_empty());
            let mut again = Simulation::new(pile(), MoreauJean::new(1e-3)).unwrap();
            again.set_state(states[from].clone()).unwrap();
            assert_eq!(again.scene().bodies().names.len(), states[from].q.len());
            for state in &states[from + 1..(from + 30).min(states.len())] {
                again.step().unwrap();
                assert!(again.state() == state, "step {}", state.step);
            }
        }
    }
    assert!(waiting > 0, "some states had stones about to break");
    // And back to an earlier state in the same simulation.
    whole.set_state(states[0].clone()).unwrap();
    whole.step().unwrap();
    assert!(*whole.state() == states[1]);
}

#[test]
fn stones_stay_whole_if_degradation_is_switched_off() {
    let mut run = Simulation::new(pile(), MoreauJean::new(1e-3)).unwrap();
    run.degradation(false).until(0.1, &mut ()).unwrap();
    assert_eq!(run.state().degradation, DegradationState::default());
}

#[test]
fn quantiles_are_uniform_and_depend_on_seed_and_id_alone() {
    let n = 10_000;
    let draw = |seed| (0..n).map(move |id| crate::scene::survival_quantile(seed, id));
    for seed in [0, 1, u64::MAX] {
        let mean = draw(seed).sum::<f64>() / f64::from(n);
        let square = draw(seed).map(|u| u * u).sum::<f64>() / f64::from(n);
        // Four standard errors.
        assert!((mean - 0.5).abs() < 0.012 && (square - 1.0 / 3.0).abs() < 0.012);
        assert!(draw(seed).all(|u| u > 0.0 && u < 1.0));
    }
    assert!(draw(0).zip(draw(1)).all(|(a, b)| a != b));
    assert!(draw(7).eq(draw(7)));
}

#[test]
fn the_strength_of_a_stone_falls_with_its_size() {
    let law = Fragmentation::stress(20e6, 1e-3).weibull(3.0, 0.03);
    let e = (-1f64).exp();
    assert!((law.strength_of(0.03, e, false) / 20e6 - 1.0).abs() < 1e-14);
    assert!((law.strength_of(0.06, e, false) / 10e6 - 1.0).abs() < 1e-14, "2^(-3/3)");
    let force = Fragmentation::peak_force(1e3, 1e-3).weibull(3.0, 0.03);
    assert!((force.strength_of(0.06, e, false) / 2e3 - 1.0).abs() < 1e-14, "2^(2 - 3/3)");
    assert_eq!(Fragmentation::stress(5.0, 1e-3).strength_of(9.0, 0.1, false), 5.0);
}

#[test]
fn bodies_that_cannot_break_are_reported() {
    let material = rock(Fragmentation::stress(1e6, 1e-3));
    let mut scene = Scene::builder();
    scene
        .add(BodyDescription::new(Shape::sphere(0.1).unwrap(), &material).named("ball"), &material);
    let said = scene.build().unwrap_err().to_string();
    assert!(said.contains("body `ball`: only convex polyhedra and polygons break"), "{said}");
    let mut scene = Scene::builder();
    let mut cube = BodyDescription::new(Shape::cuboid([0.1; 3]).unwrap(), &material).named("cube");
    cube.centre = Some(Vec3::new(0.01, 0.0, 0.0));
    cube.inertia = Some(Mat3::identity());
    scene.add(cube, &material);
    assert!(
        scene.build().unwrap_err().to_string().contains("centre of mass and inertia of its shape")
    );
    let wrong =
        rock(Fragmentation::stress(-1.0, 0.0).weibull(0.0, 0.0)).wearing(Wear::new(-1.0, 0.0));
    let mut scene = Scene::builder();
    scene.add(BodyDescription::new(Shape::cuboid([0.1; 3]).unwrap(), &wrong), &wrong);
    let said = scene.build().unwrap_err().to_string();
    for what in
        ["strength", "modulus", "reference size", "smallest", "wear coefficient", "hardness"]
    {
        assert!(said.contains(what), "{what}: {said}");
    }
}

#[test]
fn a_sliding_block_loses_the_volume_of_its_friction_work() {
    let material = Material::new("chalk").density(1500.0).friction(0.4);
    let chalk = material.clone().wearing(Wear::new(1.0, 1e6).chamfer(2e-4));
    let steel = Material { name: "steel".into(), wear: None, ..material };
    let mut scene = Scene::builder();
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &steel);
    let block = BodyDescription::new(Shape::cuboid([0.2, 0.2, 0.1]).unwrap(), &chalk);
    let block = scene.add(block.at([0.0, 0.0, 0.05]).velocity([3.0, 0.0, 0.0]), &chalk);
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    let (mass, mut volume) = (run.scene().free_mass(), run.scene().shape(block).volume());
    let quantum = 2e-4 * volume;
    while run.velocity(block).linear.x > 1e-6 {
        run.step().unwrap();
        let now = run.scene().shape(block).volume();
        assert!(now <= volume);
        volume = now;
    }
    let account = run.state().degradation.account;
    // All kinetic energy: mass and velocity change little.
    assert!((account.friction_work / 27.0 - 1.0).abs() < 1e-2, "{}", account.friction_work);
    let expected = 1.0 / 1e6 * account.friction_work;
    assert!(account.chamfers > 2);
    // What each of the four corners still waits for.
    assert!((0.004 - volume - expected).abs() < 4.0 * quantum, "{} {expected}", 0.004 - volume);
    assert!((run.scene().free_mass() + account.worn.mass - mass).abs() < 1e-12 * mass);
    // The base recedes as a whole: the block remains a box.
    assert_eq!(
        run.scene().shape(block).outline().map(|o| match o {
            crate::shape::Outline::Polyhedron { vertices, .. } => vertices.len(),
            crate::shape::Outline::Polygon { .. } => 0,
        }),
        Some(8)
    );
}
