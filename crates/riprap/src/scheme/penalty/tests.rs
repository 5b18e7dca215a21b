use super::*;
use crate::math::{Pose, Quat};
use crate::multibody::{Axis, GROUND, Joint, Mechanism};
use crate::prelude::{
    Body, BodyDescription, BodyJoint, Hold, MassProperties, Material, On, PairLaw, PointContact,
    Shape, Simulation,
};
use crate::scene::PenaltyState;

const BOTH: [Integrator; 2] = [Integrator::Verlet, Integrator::RungeKutta];

fn steel(restitution: f64) -> Material {
    Material::new("steel").density(7800.0).restitution(restitution)
}

fn sphere(radius: f64, material: &Material) -> BodyDescription {
    BodyDescription::new(Shape::sphere(radius).unwrap(), material)
}

/// Two spheres of different size, a gap of 1 mm apart, that approach with 1 m/s.
fn collision(material: &Material) -> (Scene, [Body; 2]) {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let a = sphere(0.05, material).velocity([0.6, 0.0, 0.0]);
    let b = sphere(0.08, material).at([0.131, 0.0, 0.0]).velocity([-0.4, 0.0, 0.0]);
    let bodies = [scene.add(a, material), scene.add(b, material)];
    (scene.build().unwrap(), bodies)
}

/// Relative velocity after the collision over that before it [–].
fn restitution(material: &Material, scheme: Penalty, until: f64) -> f64 {
    let (scene, [a, b]) = collision(material);
    let mut run = Simulation::new(scene, scheme).unwrap();
    run.until(until, &mut ()).unwrap();
    run.velocity(b).linear.x - run.velocity(a).linear.x
}

fn energies(run: &Simulation) -> PenaltyState {
    memory(run.state()).unwrap().clone()
}

/// Kinetic, potential and dissipated energy [J]; the balance counts the elastic energy of contacts as potential.
fn total(run: &Simulation) -> f64 {
    let (balance, own) = (run.frame().balance(), energies(run));
    balance.kinetic + balance.potential + own.damped + own.rubbed
}

/// A brick of 0.2 × 0.1 × 0.1 m on a plane, 2 kg, pressed to its place by its weight.
fn brick(friction: f64, push: f64, restitution: f64) -> (Scene, Body) {
    let rock = Material::new("rock").density(1000.0).friction(friction).restitution(restitution);
    let mut scene = Scene::builder();
    scene.gravity([push, 0.0, -9.81]);
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock);
    let brick = BodyDescription::new(Shape::cuboid([0.2, 0.1, 0.1]).unwrap(), &rock);
    let brick = scene.add(brick.at([0.0, 0.0, 0.05]), &rock);
    (scene.build().unwrap(), brick)
}

#[test]
fn two_spheres_rebound_with_the_restitution_of_their_pair() {
    for integrator in BOTH {
        for e in [1.0, 0.8, 0.5, 0.2] {
            let scheme = Penalty::new(2e-6).stiffness(1e7).integrator(integrator);
            let measured = restitution(&steel(e), scheme, 4e-3);
            // 200 steps per collision: h² for Verlet, and h for the onset under Runge–Kutta.
            let tolerance = if integrator == Integrator::Verlet { 2e-4 } else { 1e-2 };
            assert!((measured - e).abs() < tolerance, "{integrator:?} {e}: {measured}");
        }
    }
}

#[test]
fn verlet_resolves_a_damped_collision_at_second_order() {
    let error = |dt: f64| {
        let scheme = Penalty::new(dt).stiffness(1e7);
        (restitution(&steel(0.5), scheme, 4e-3) - 0.5).abs()
    };
    // The mean over steps that divide the approach differently: the onset is anywhere in a step.
    let mean = |dt: f64| (0..8).map(|k| error(dt * (1.0 + 0.01 * k as f64))).sum::<f64>() / 8.0;
    let order = (mean(8e-6) / mean(2e-6)).log2() / 2.0;
    assert!(order > 1.7, "{order}: {:e} {:e}", mean(8e-6), mean(2e-6));
}

#[test]
fn runge_kutta_is_of_fourth_order_while_a_contact_lasts() {
    // A sphere that vibrates on a plane under a load and never leaves it.
    let height = |dt: f64| {
        let rubber = steel(0.9);
        let mut scene = Scene::builder();
        scene.gravity([0.0, 0.0, -100.0]);
        scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rubber);
        let ball = scene.add(sphere(0.05, &rubber).at([0.0, 0.0, 0.0499]), &rubber);
        scene.accept_overlap(1.0);
        let scheme = Penalty::new(dt).stiffness(2e6).integrator(Integrator::RungeKutta);
        let mut run = Simulation::new(scene.build().unwrap(), scheme).unwrap();
        run.until(0.02, &mut ()).unwrap();
        run.pose(ball).position.z
    };
    let exact = height(1.25e-5);
    let error = |dt: f64| (height(dt) - exact).abs();
    let order = (error(2e-4) / error(1e-4)).log2();
    assert!(order > 3.7, "{order}");
}

#[test]
fn hertz_contacts_rebound_as_the_solution_of_their_equation_says() {
    let (young, a) = (1e9, 2e-5);
    let soft = Material::new("soft").density(2000.0).elastic(young, 0.25);
    let law =
        PenaltyLaw { normal: NormalLaw::Hertz, dissipation: Some(a), ..PenaltyLaw::default() };
    let (scene, [first, second]) = collision(&soft);
    let modulus = young / (2.0 * (1.0 - 0.0625));
    let mass = |b: Body| scene.bodies().mass[scene.slot(b)];
    let reduced = 1.0 / (1.0 / mass(first) + 1.0 / mass(second));
    let radius: f64 = 1.0 / (1.0 / 0.05 + 1.0 / 0.08);
    let rho = 4.0 / 3.0 * modulus * radius.sqrt() / reduced;
    let exact = hertz_restitution(1.5 * a * rho.powf(0.4));
    for integrator in BOTH {
        let scheme = Penalty::new(1e-6).law(law).integrator(integrator);
        let measured = restitution(&soft, scheme, 4e-3);
        // About 1000 steps per collision; the force starts like √δ.
        assert!((measured - exact).abs() < 1e-4, "{integrator:?}: {measured} {exact}");
    }
    // A given restitution instead of A.
    let soft = soft.restitution(0.6);
    let law = PenaltyLaw { dissipation: None, impact_velocity: Some(1.0), ..law };
    let measured = restitution(&soft, Penalty::new(1e-6).law(law), 4e-3);
    assert!((measured - 0.6).abs() < 1e-4, "{measured}");
}

#[test]
fn energy_and_momentum_are_balanced_in_an_oblique_collision() {
    for integrator in BOTH {
        for (normal, tolerance) in [(NormalLaw::Linear, 2e-4), (NormalLaw::Hertz, 2e-4)] {
            let rough = Material { friction: 0.3, ..steel(0.6) }.elastic(1e9, 0.3);
            let mut scene = Scene::builder();
            scene.gravity([0.0; 3]);
            let a = sphere(0.05, &rough).velocity([0.6, 0.5, 0.1]).spin([3.0, 0.0, -5.0]);
            let b = sphere(0.08, &rough).at([0.127, 0.03, 0.01]).velocity([-0.4, 0.0, 0.0]);
            let a = scene.add(a, &rough);
            scene.add(b, &rough);
            let law = PenaltyLaw { normal, stiffness: Some(1e7), ..PenaltyLaw::default() };
            let scheme = Penalty::new(1e-6).law(law).integrator(integrator);
            let mut run = Simulation::new(scene.build().unwrap(), scheme).unwrap();
            let before = run.frame().balance();
            run.until(4e-3, &mut ()).unwrap();
            assert!(run.velocity(a).linear.x < 0.0, "they have met");
            let (after, own) = (run.frame().balance(), energies(&run));
            let moved = (after.momentum - before.momentum).norm();
            let turned = (after.angular_momentum - before.angular_momentum).norm();
            // Equal and opposite forces at one point: rounding.
            assert!(moved < 1e-13 && turned < 1e-13, "{integrator:?}: {moved:e} {turned:e}");
            assert_eq!(own.elastic, 0.0);
            assert!(own.damped > 0.0 && own.rubbed > 0.0, "{own:?}");
            let error = (total(&run) - before.kinetic).abs() / before.kinetic;
            assert!(error < tolerance, "{integrator:?} {normal:?}: {error:e}");
        }
    }
}

#[test]
fn a_brick_sticks_below_the_angle_of_friction_and_slides_above_it() {
    for integrator in BOTH {
        let at = |push: f64| {
            let (scene, brick) = brick(0.5, push, 0.0);
            let scheme = Penalty::new(1e-4).integrator(integrator);
            let mut run = Simulation::new(scene, scheme).unwrap();
            run.until(0.5, &mut ()).unwrap();
            let moved = run.pose(brick).position.x;
            run.until(1.0, &mut ()).unwrap();
            (run.pose(brick).position.x - moved, run.velocity(brick).linear.x)
        };
        let (creep, _) = at(0.99 * 0.5 * 9.81);
        assert!(creep.abs() < 1e-7, "{integrator:?}: {creep:e}");
        // One second of acceleration; the first millimetre-second stretches the springs.
        let (_, speed) = at(1.5 * 0.5 * 9.81);
        assert!((speed - 0.5 * 0.5 * 9.81).abs() < 2e-2, "{integrator:?}: {speed}");
    }
}

#[test]
fn friction_takes_the_energy_of_a_sliding_brick() {
    let (scene, brick) = brick(0.4, 0.0, 0.0);
    let mut state = scene.initial_state();
    let slot = scene.slot(brick);
    let mut run = Simulation::new(scene, Penalty::new(5e-5)).unwrap();
    run.until(0.2, &mut ()).unwrap();
    state.clone_from(run.state());
    state.v[slot].linear.x = 1.0;
    run.set_state(state).unwrap();
    let before = total(&run);
    let start = run.pose(brick).position.x;
    let rubbed = energies(&run).rubbed;
    run.until(0.8, &mut ()).unwrap();
    let path = run.pose(brick).position.x - start;
    // v²/(2 μ g), less what the springs give back when it stops.
    assert!((path - 1.0 / (2.0 * 0.4 * 9.81)).abs() < 2e-3, "{path}");
    assert!(run.velocity(brick).linear.norm() < 1e-6);
    assert!((total(&run) - before).abs() < 2e-3, "{}", total(&run) - before);
    assert!((energies(&run).rubbed - rubbed - 1.0).abs() < 2e-2, "half of 2 kg (1 m/s)²");
}

#[test]
fn a_resumed_run_is_bitwise_identical() {
    for integrator in BOTH {
        let rough = Material { friction: 0.4, ..steel(0.5) };
        let mut scene = Scene::builder();
        scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rough);
        for k in 0..5 {
            let at = [0.03 * k as f64, 0.02 * (k % 2) as f64, 0.06 + 0.1 * k as f64];
            scene.add(sphere(0.05, &rough).at(at), &rough);
        }
        let cube = BodyDescription::new(Shape::cuboid([0.1; 3]).unwrap(), &rough);
        let cube = cube.at([0.3, 0.0, 0.08]).turned(Quat::from_euler_angles(0.2, 0.1, 0.0));
        scene.add(cube.spin([0.0, 3.0, 1.0]), &rough);
        let scene = scene.build().unwrap();
        let scheme = Penalty::new(2e-4).integrator(integrator);
        let (mut straight, mut resumed) = (scene.initial_state(), scene.initial_state());
        let mut work = Workspace::default();
        for _ in 0..800 {
            scheme.step(&scene, &mut straight, &mut work).unwrap();
            // Nothing but the state is kept.
            scheme.step(&scene, &mut resumed, &mut Workspace::default()).unwrap();
        }
        assert!(!memory(&straight).unwrap().springs.is_empty());
        assert_eq!(straight, resumed, "{integrator:?}");
    }
}

#[test]
fn springs_turn_with_their_normal_and_keep_their_length() {
    let stretch = Vec3::new(0.3, -0.4, 0.0);
    let normal = Vec3::new(0.2, 0.1, 1.0).normalize();
    let new = turned(stretch, &normal);
    assert!(new.dot(&normal).abs() < 1e-16 && (new.norm() - 0.5).abs() < 1e-15);
    assert_eq!(turned(Vec3::z(), &Vec3::z()), Vec3::zeros(), "no direction is left");
    assert_eq!(turned(Vec3::zeros(), &normal), Vec3::zeros());
}

#[test]
fn a_spring_is_recalled_by_colliders_and_feature() {
    let spring = |a: u32, b: u32, feature: u32| ContactSpring {
        colliders: [a, b],
        feature,
        stiffness: f64::from(100 * a + 10 * b + feature),
        ..ContactSpring::default()
    };
    let all = [spring(0, 1, 0), spring(0, 2, 3), spring(0, 2, 1), spring(1, 2, 0)];
    assert_eq!(recall(&all, [0, 2], 1), Some(&all[2]));
    assert_eq!(recall(&all, [1, 2], 0), Some(&all[3]));
    assert_eq!(recall(&all, [0, 2], 0), None);
    assert_eq!(recall(&all, [2, 3], 0), None);
}

#[test]
fn mechanisms_joints_and_point_contacts_rest_on_soft_contacts() {
    let rock = Material::new("rock").density(2000.0).friction(0.5).restitution(0.3);
    let mut scene = Scene::builder();
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock);
    // Two cubes, one on the other, welded together.
    let cube = || BodyDescription::new(Shape::cuboid([0.1; 3]).unwrap(), &rock);
    let low = scene.add(cube().at([0.0, 0.0, 0.051]), &rock);
    let high = scene.add(cube().at([0.0, 0.0, 0.152]), &rock);
    let frame = Pose::at([0.05, 0.0, 0.1015]);
    let sides = [(low, Pose::at([0.0, 0.0, 0.051])), (high, Pose::at([0.0, 0.0, 0.152]))];
    let [a, b] = sides.map(|(body, pose)| (On::Body(body), pose));
    scene.add_joint(BodyJoint::at("weld", Hold::Weld, frame, a, b));
    // A slider that falls on a stop.
    let mut slide = Mechanism::new("slide");
    let mass = MassProperties::principal(1.0, [0.0; 3], [1e-3; 3]);
    let block = slide.add(
        "block",
        GROUND,
        Joint::Prismatic(Axis::Z),
        Pose::at([1.0, 0.0, 0.01]),
        Some(mass),
    );
    let slide = scene.add_mechanism(slide);
    scene.add_point_contact(PointContact {
        name: "stop".into(),
        point: (On::Link(slide, block), Vec3::zeros()),
        plane: (On::World, Vec3::zeros()),
        normal: Vec3::z(),
        law: PairLaw::combined(&rock, &rock),
    });
    let scene = scene.build().unwrap();
    let mut run = Simulation::new(scene, Penalty::new(2e-4)).unwrap();
    let report = run.until(1.0, &mut ()).unwrap();
    assert_eq!(report.unconverged, 0);
    // At rest, sunk by m g/k: k from the lightest pair, 25 steps per collision.
    let stiffness = 0.5 * (std::f64::consts::PI / (25.0 * 2e-4)).powi(2);
    let sunk = -run.state().mechanisms[slide.index()].q[0] - 0.01;
    assert!(run.state().mechanisms[slide.index()].v[0].abs() < 1e-6);
    assert!(sunk > 0.0 && sunk < 9.81 / stiffness * 2.0, "{sunk:e}");
    assert!(run.pose(high).position.z > 0.149, "{}", run.pose(high).position.z);
    assert!(crate::assembly::joint_error(run.scene(), &run.state().q) < 1e-4);
}

#[test]
fn wrong_parameters_are_named() {
    let check = |scheme: Penalty| {
        let (scene, _) = collision(&steel(0.5));
        scheme.check(&scene).unwrap_err().to_string()
    };
    for k in [0.0, -1.0, f64::NAN] {
        let text = check(Penalty::new(1e-4).stiffness(k));
        assert!(text.contains("stiffness of `steel` and `steel`"), "{text}");
    }
    let with = |law: PenaltyLaw| check(Penalty::new(1e-4).law(law));
    let plain = PenaltyLaw::default();
    assert!(with(PenaltyLaw { damping: Some(-1.0), ..plain }).contains("damping"));
    assert!(with(PenaltyLaw { tangential_ratio: 2.0, ..plain }).contains("tangential"));
    assert!(with(PenaltyLaw { impact_velocity: Some(0.0), ..plain }).contains("impact velocity"));
    let text = with(PenaltyLaw { normal: NormalLaw::Hertz, ..plain });
    assert!(text.contains("`young`") && text.contains("`steel`"), "{text}");
    assert!(check(Penalty::new(0.0)).contains("time step"));
}

#[test]
fn a_step_above_the_stability_limit_is_refused_with_the_pair_and_the_limit() {
    let (scene, _) = collision(&steel(0.9));
    let scheme = Penalty::new(1e-4).stiffness(1e7);
    let limits = scheme.limits(&scene).unwrap().unwrap();
    // One contact: 2/ω with ω² = k/m.
    let mass = |r: f64| 7800.0 * 4.0 / 3.0 * std::f64::consts::PI * r.powi(3);
    let reduced = 1.0 / (1.0 / mass(0.05) + 1.0 / mass(0.08));
    assert!((limits.largest_dt / (2.0 * (reduced / 1e7).sqrt()) - 1.0).abs() < 1e-12);
    assert_eq!(limits.contacts, 1);
    assert!(scheme.check(&scene).is_ok());
    let text = Penalty::new(1.01 * limits.largest_dt).stiffness(1e7).check(&scene).unwrap_err();
    let text = text.to_string();
    for part in ["above the stability limit", "`body-1` and `body-2`", "1.000e7 N/m"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // It is the limit: slightly below it a bound pair vibrates, slightly above it would explode.
    assert!(Penalty::new(0.99 * limits.largest_dt).stiffness(1e7).check(&scene).is_ok());
}

#[test]
fn a_crowded_sphere_is_stable_up_to_the_limit() {
    // A sphere pressed by twelve fixed ones: the bound of the limit is at least the true value.
    let material = Material { friction: 0.5, ..steel(1.0) };
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let middle = scene.add(sphere(0.05, &material).velocity([0.01, 0.02, 0.005]), &material);
    let a = 0.0999 / 2f64.sqrt();
    for (s, t) in [(a, a), (a, -a), (-a, a), (-a, -a)] {
        for at in [[s, t, 0.0], [s, 0.0, t], [0.0, s, t]] {
            scene.add(sphere(0.05, &material).at(at).fixed(), &material);
        }
    }
    scene.accept_overlap(1.0);
    let scene = scene.build().unwrap();
    let limit = Penalty::new(1e-6).stiffness(1e6).limits(&scene).unwrap().unwrap();
    assert_eq!(limit.contacts, 12);
    let scheme = Penalty::new(0.95 * limit.largest_dt).stiffness(1e6);
    let mut run = Simulation::new(scene, scheme).unwrap();
    for _ in 0..2000 {
        run.step().unwrap();
        assert!(run.velocity(middle).linear.norm() < 0.1);
    }
}

#[test]
fn the_default_stiffness_gives_collisions_of_25_steps() {
    let (scene, _) = collision(&steel(1.0));
    let limits = Penalty::new(1e-4).limits(&scene).unwrap().unwrap();
    assert!(limits.is_default && (limits.steps - DEFAULT_STEPS).abs() < 1e-9);
    let measured = restitution(&steel(1.0), Penalty::new(1e-4), 0.02);
    // Elastic, 25 steps: the error of the onset.
    assert!((measured - 1.0).abs() < 2e-3, "{measured}");
}

#[test]
fn what_runge_kutta_cannot_move_is_named() {
    let mut scene = Scene::builder();
    let mut arm = Mechanism::new("arm");
    arm.revolute(GROUND, Axis::Y, [0.0; 3], MassProperties::point(1.0, [0.0, 0.0, -1.0]));
    scene.add_mechanism(arm);
    let scheme = Penalty::new(1e-4).integrator(Integrator::RungeKutta);
    let text = scheme.check(&scene.build().unwrap()).unwrap_err().to_string();
    assert!(text.contains("mechanism `arm`") && text.contains("verlet"), "{text}");

    let rolling = Material { rolling: 1e-3, ..steel(0.0) };
    let (scene, _) = collision(&rolling);
    let text = Penalty::new(1e-5).check(&scene).unwrap_err().to_string();
    assert!(text.contains("rolling"), "{text}");
}

#[test]
fn a_moving_floor_carries_what_lies_on_it() {
    for integrator in BOTH {
        let rough = Material { friction: 0.8, ..steel(0.3) };
        let mut scene = Scene::builder();
        let floor = BodyDescription::new(Shape::cuboid([1.0, 1.0, 0.1]).unwrap(), &rough);
        let law = crate::scene::Motion::Position {
            linear: crate::scene::Law::new(|t| Vec3::new(0.1 * t * t, 0.0, -0.05)),
            angular: crate::scene::Law::constant([0.0; 3]),
        };
        scene.add(floor.moving(law), &rough);
        let cube = BodyDescription::new(Shape::cuboid([0.1; 3]).unwrap(), &rough);
        let cube = scene.add(cube.at([0.0, 0.0, 0.05]), &rough);
        let scheme = Penalty::new(1e-4).integrator(integrator);
        let mut run = Simulation::new(scene.build().unwrap(), scheme).unwrap();
        run.until(1.0, &mut ()).unwrap();
        // The springs lag by μ-independent m a/k_t, and tilt the cube a little.
        assert!((run.pose(cube).position.x - 0.1).abs() < 1e-3, "{}", run.pose(cube).position.x);
        assert!((run.velocity(cube).linear.x - 0.2).abs() < 1e-3);
    }
}

#[test]
fn a_tumbling_body_keeps_its_momentum_and_energy_under_both_integrators() {
    for (integrator, tolerance) in BOTH.into_iter().zip([1e-10, 1e-7]) {
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        let slab = BodyDescription::new(Shape::cuboid([0.3, 0.2, 0.05]).unwrap(), &steel(0.0));
        scene.add(slab.spin([3.0, 2.0, 5.0]), &steel(0.0));
        let scheme = Penalty::new(1e-3).integrator(integrator);
        let mut run = Simulation::new(scene.build().unwrap(), scheme).unwrap();
        let before = run.frame().balance();
        run.until(1.0, &mut ()).unwrap();
        let after = run.frame().balance();
        let turned = (after.angular_momentum - before.angular_momentum).norm();
        assert!(turned < tolerance * before.angular_momentum.norm(), "{turned:e}");
        // Fourth order over a thousand steps of 6 mrad.
        assert!((after.kinetic / before.kinetic - 1.0).abs() < tolerance);
    }
}
