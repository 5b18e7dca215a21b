//! Forces as laws of time and state, and servos, against closed forms, in every scheme.

use riprap::prelude::*;
use riprap::scheme::Integrator;

const MASS: f64 = 2.0;
const STIFFNESS: f64 = 80.0;
const DAMPING: f64 = 1.5;
const PUSH: f64 = 12.0;
const OMEGA: f64 = 5.0;

fn steel() -> Material {
    Material::new("steel").density(7800.0).friction(0.3)
}

/// Position and velocity of the oscillator `m ẍ + c ẋ + k x = F sin ωt`, from rest at 0.1 m.
fn oscillation(t: f64) -> (f64, f64) {
    let stiff = STIFFNESS - MASS * OMEGA * OMEGA;
    let d = stiff * stiff + (DAMPING * OMEGA).powi(2);
    let (a, b) = (PUSH * stiff / d, -PUSH * DAMPING * OMEGA / d);
    let decay = 0.5 * DAMPING / MASS;
    let own = (STIFFNESS / MASS - decay * decay).sqrt();
    let c1 = 0.1 - b;
    let c2 = (decay * c1 - a * OMEGA) / own;
    let (sin, cos) = (own * t).sin_cos();
    let fade = (-decay * t).exp();
    let x = fade * (c1 * cos + c2 * sin) + a * (OMEGA * t).sin() + b * (OMEGA * t).cos();
    let turning = own * (c2 * cos - c1 * sin) - decay * (c1 * cos + c2 * sin);
    let v = fade * turning + OMEGA * (a * (OMEGA * t).cos() - b * (OMEGA * t).sin());
    (x, v)
}

/// A ball of 2 kg on a spring and a damper, driven by a force.
fn oscillator() -> Scene {
    let law = StateLaw::new(|at: &riprap::scene::LoadInputs| {
        let (x, v) = (at.pose().position.x, at.velocity().linear.x);
        Vec3::x() * (-STIFFNESS * x - DAMPING * v + PUSH * (OMEGA * at.t).sin())
    });
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &steel()).mass(MASS);
    scene.add(ball.named("ball").at([0.1, 0.0, 0.0]).pushed(law), &steel());
    scene.build().unwrap()
}

fn error(scheme: impl Scheme + 'static) -> f64 {
    let mut run = Simulation::new(oscillator(), scheme).unwrap();
    run.until(2.0, &mut ()).unwrap();
    let body = run.scene().body("ball").unwrap();
    let (x, v) = oscillation(run.time());
    let (dx, dv) = (run.pose(body).position.x - x, run.velocity(body).linear.x - v);
    dx.hypot(dv / OMEGA)
}

#[track_caller]
fn assert_order(of: impl Fn(f64) -> f64, expected: f64) {
    let (coarse, fine) = (of(4e-3), of(2e-3));
    let order = (coarse / fine).log2();
    assert!((order - expected).abs() < 0.15, "order {order}: {coarse:e} {fine:e}");
}

#[test]
fn a_driven_damped_oscillator_follows_its_closed_form_with_the_order_of_the_scheme() {
    assert_order(|dt| error(MoreauJean::new(dt)), 2.0);
    assert_order(|dt| error(MoreauJean::new(dt).theta(1.0)), 1.0);
    assert_order(|dt| error(ConeComplementarity::new(dt)), 1.0);
    assert_order(|dt| error(Penalty::new(dt).stiffness(1e3)), 2.0);
    let soft = |dt| Penalty::new(dt).stiffness(1e3).integrator(Integrator::RungeKutta);
    assert_order(|dt| error(soft(dt)), 4.0);
    assert_order(|dt| error(RigidEvents::new(dt)), 4.0);
    assert_order(|dt| error(GeneralizedAlpha::new(dt)), 2.0);
}

#[test]
fn a_torque_law_turns_a_tumbling_body_as_its_momentum_demands() {
    // dL/dt = T(t) in the world, whatever the orientation: L(t) is the integral.
    let law = StateLaw::new(|at: &riprap::scene::LoadInputs| Vec3::new(at.t, 0.5, -at.t * at.t));
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let brick = BodyDescription::new(Shape::cuboid([0.3, 0.2, 0.1]).unwrap(), &steel());
    let brick = scene.add(brick.twisted(law), &steel());
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    run.until(1.0, &mut ()).unwrap();
    let slot = run.scene().slot(brick);
    let pose = run.pose(brick);
    let momentum =
        run.scene().bodies().inertia_w(slot, &pose.rotation) * run.velocity(brick).angular;
    let exact = Vec3::new(0.5, 0.5, -1.0 / 3.0);
    assert!((momentum - exact).norm() < 1e-6, "{momentum}");
}

#[test]
fn a_law_sees_other_bodies_and_is_not_a_number_once_they_are_gone() {
    // Two balls on one spring: their centre stays, and the distance oscillates with the reduced mass.
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let ball = |x: f64| {
        let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &steel()).mass(MASS);
        ball.at([x, 0.0, 0.0])
    };
    let (first, second) = (Body(0), Body(1));
    let pull = |own: Body, other: Body| {
        StateLaw::new(move |at: &riprap::scene::LoadInputs| {
            let d = at.pose_of(other).position - at.pose_of(own).position;
            let gone = at.pose_of(Body(99)).position.x + at.velocity_of(Body(99)).linear.x;
            assert!(gone.is_nan());
            let apart = d.norm();
            d / apart * (STIFFNESS * (apart - 1.0))
        })
    };
    assert_eq!(scene.add(ball(0.0).pushed(pull(first, second)), &steel()), first);
    assert_eq!(scene.add(ball(1.2).pushed(pull(second, first)), &steel()), second);
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-4)).unwrap();
    let half_period = std::f64::consts::PI * (0.5 * MASS / STIFFNESS).sqrt();
    run.until(half_period, &mut ()).unwrap();
    let (a, b) = (run.pose(first).position.x, run.pose(second).position.x);
    // The nearest step is at most 5e-5 s away from the turning point.
    assert!((b - a - 0.8).abs() < 1e-6, "{}", b - a);
    assert!((a + b - 1.2).abs() < 1e-12, "{}", a + b);
}

#[test]
fn the_work_of_a_law_is_other_work_and_no_potential() {
    let mut run = Simulation::new(oscillator(), MoreauJean::new(1e-3)).unwrap();
    let mut account = EnergyAccount::open(&run.frame());
    let mut work = 0.0;
    while run.time() < 1.0 {
        let t = run.time() + 0.5e-3;
        let before = run.state().clone();
        run.step().unwrap();
        account.add(&run.frame());
        let v = 0.5 * (before.v[0].linear.x + run.state().v[0].linear.x);
        let x = before.q[0].position.x + 0.5e-3 * before.v[0].linear.x;
        work += 1e-3 * v * (-STIFFNESS * x - DAMPING * v + PUSH * (OMEGA * t).sin());
    }
    let balance = run.frame().balance();
    assert_eq!(balance.potential, 0.0);
    // The mean velocity of the step is that of the law up to its corrector.
    assert!((account.other() - work).abs() < 1e-5 * work.abs(), "{} {work}", account.other());
    assert!((account.other() - balance.kinetic).abs() < 1e-12);
}

#[test]
fn a_law_that_is_not_a_number_fails_the_step_and_leaves_the_state() {
    let law = StateLaw::new(|at: &riprap::scene::LoadInputs| Vec3::x() * (0.01 - at.t).sqrt());
    let mut scene = Scene::builder();
    let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &steel()).named("ball");
    scene.add(ball.pushed(law), &steel());
    let scene = scene.build().unwrap();
    for scheme in [
        Box::new(MoreauJean::new(1e-3)) as Box<dyn Scheme>,
        Box::new(Penalty::new(1e-3).stiffness(1e3)),
        Box::new(ConeComplementarity::new(1e-3)),
    ] {
        let mut run = Simulation::new(scene.clone(), scheme).unwrap();
        let error = run.until(0.1, &mut ()).unwrap_err().to_string();
        assert!(error.contains("`ball`") && error.contains("not finite"), "{error}");
        assert!((run.time() - 0.01).abs() < 1.5e-3, "{}", run.time());
        assert!(run.state().v[0].linear.x.is_finite());
    }
}

/// A plate of 3.12 kg that a servo pushes down with a force, 50 mm above a floor.
fn plate(servo: Servo) -> (Scene, Body) {
    let mut scene = Scene::builder();
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &steel());
    let plate = BodyDescription::new(Shape::cuboid([0.2, 0.2, 0.01]).unwrap(), &steel());
    let plate = scene.add(plate.named("plate").at([0.0, 0.0, 0.055]).servo(servo), &steel());
    (scene.build().unwrap(), plate)
}

const DOWN: [f64; 3] = [0.0, 0.0, -1.0];

#[test]
fn a_servo_accelerates_with_its_force_to_its_speed_and_then_pushes_with_exactly_its_force() {
    let schemes: [(Box<dyn Scheme>, f64); 3] = [
        (Box::new(MoreauJean::new(1e-3)), 1e-9),
        (Box::new(ConeComplementarity::new(1e-3)), 1e-6),
        (Box::new(Penalty::new(2e-4).stiffness(1e5)), 1e-3),
    ];
    for (scheme, tolerance) in schemes {
        let (scene, body) = plate(Servo::along(DOWN, StateLaw::constant(5.0)).speed(0.1));
        let mut run = Simulation::new(scene, scheme).unwrap();
        let mass = run.scene().bodies().mass[run.scene().slot(body)];
        // 5 N on 3.12 kg: the limit of 0.1 m/s is reached after 62.4 ms.
        run.until(0.05, &mut ()).unwrap();
        let speed = -run.velocity(body).linear.z;
        assert!((speed - 5.0 / mass * 0.05).abs() < 1e-9, "{speed}");
        let mut fastest = 0.0_f64;
        while run.time() < 1.0 {
            run.step().unwrap();
            fastest = fastest.max(run.velocity(body).linear.norm());
        }
        assert!((fastest - 0.1).abs() < 1e-7, "{fastest}");
        let force = run.frame().contact_force(body).z;
        assert!((force - 5.0).abs() < 5.0 * tolerance, "{force}");
        assert!(run.velocity(body).linear.norm() < 1e-6);
    }
}

#[test]
fn a_servo_that_does_not_carry_the_weight_presses_with_it() {
    let servo = Servo::along(DOWN, StateLaw::constant(5.0)).carries_weight(false);
    let (scene, body) = plate(servo);
    let mut run = Simulation::new(scene, MoreauJean::new(1e-3)).unwrap();
    run.until(0.5, &mut ()).unwrap();
    let mass = run.scene().bodies().mass[run.scene().slot(body)];
    let force = run.frame().contact_force(body).z;
    assert!((force - 5.0 - 9.81 * mass).abs() < 1e-6, "{force}");
}

#[test]
fn a_plate_on_an_elastic_stop_compresses_it_by_force_over_stiffness() {
    // m z̈ = F − k z − c ż with the weight carried: the closed form of an oscillator from rest.
    let (k, c, force): (f64, f64, f64) = (2e3, 20.0, 50.0);
    let stop = StateLaw::new(move |at: &riprap::scene::LoadInputs| {
        let (z, v) = (at.pose().position.z, at.velocity().linear.z);
        Vec3::z() * (-k * z - c * v)
    });
    let at = |dt: f64| {
        let mut scene = Scene::builder();
        let servo = Servo::along(DOWN, StateLaw::constant(force)).speed(10.0);
        let plate = BodyDescription::new(Shape::cuboid([0.2, 0.2, 0.01]).unwrap(), &steel());
        let plate = scene.add(plate.mass(3.0).servo(servo).pushed(stop.clone()), &steel());
        let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(dt)).unwrap();
        run.until(0.25, &mut ()).unwrap();
        let early = run.pose(plate).position.z;
        run.until(5.0, &mut ()).unwrap();
        (early, run.pose(plate).position.z)
    };
    let decay = 0.5 * c / 3.0;
    let own = (k / 3.0 - decay * decay).sqrt();
    let (sin, cos) = (own * 0.25_f64).sin_cos();
    let exact = -force / k * (1.0 - (-decay * 0.25_f64).exp() * (cos + decay / own * sin));
    let [coarse, fine] = [2e-3, 1e-3].map(at);
    assert!((fine.1 + force / k).abs() < 1e-9, "{}", fine.1);
    let errors = [coarse.0 - exact, fine.0 - exact].map(f64::abs);
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 2.0).abs() < 0.1, "{order} {errors:?}");
}

#[test]
fn a_servo_about_an_axis_spins_up_to_its_limit() {
    let mut scene = Scene::builder();
    let servo = Servo::about([0.0, 0.0, 1.0], StateLaw::constant(0.4)).speed(3.0);
    let vane = BodyDescription::new(Shape::cuboid([0.2, 0.1, 0.1]).unwrap(), &steel());
    let vane = scene.add(vane.servo(servo), &steel());
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    let slot = run.scene().slot(vane);
    let inertia = run.scene().bodies().inertia[slot][(2, 2)];
    run.until(0.1, &mut ()).unwrap();
    let spin = run.velocity(vane).angular;
    assert!((spin - Vec3::z() * (0.04 / inertia)).norm() < 1e-12, "{spin}");
    run.until(2.0, &mut ()).unwrap();
    assert!((run.velocity(vane).angular - Vec3::z() * 3.0).norm() < 1e-9);
    assert!(run.pose(vane).position.norm() < 1e-15);
}

#[test]
fn a_servo_is_pushed_back_no_faster_than_its_limit() {
    // A ball hits the plate from below, against its force.
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let servo = Servo::along(DOWN, StateLaw::constant(1.0)).speed(0.05);
    let plate = BodyDescription::new(Shape::cuboid([0.2, 0.2, 0.01]).unwrap(), &steel());
    let plate = scene.add(plate.servo(servo), &steel());
    let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &steel()).at([0.0, 0.0, -0.11]);
    scene.add(ball.velocity([0.0, 0.0, 3.0]), &steel());
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    let mut fastest = f64::NEG_INFINITY;
    while run.time() < 0.1 {
        run.step().unwrap();
        fastest = fastest.max(run.velocity(plate).linear.z);
    }
    assert!((fastest - 0.05).abs() < 1e-7, "{fastest}");
}

/// A piston on a slider that pushes down with 5 N, at most at 0.1 m/s.
fn piston(speed: f64) -> Scene {
    let mut m = Mechanism::new("press");
    let mass = riprap::shape::MassProperties::principal(3.12, [0.0; 3], [0.01; 3]);
    let slider = Joint::Prismatic([0.0, 0.0, -1.0].into());
    let piston = m.add("piston", GROUND, slider, Pose::at([0.0, 0.0, 0.055]), Some(mass));
    m.attach(piston, Shape::cuboid([0.2, 0.2, 0.01]).unwrap(), Pose::IDENTITY, "steel");
    let z = m.coordinate(piston, 0);
    m.actuate("push", z, Signal::constant(5.0 - 3.12 * 9.81));
    m.limit_speed(z, speed);
    let mut scene = Scene::builder();
    scene.material(&steel());
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &steel());
    scene.add_mechanism(m);
    scene.build().unwrap()
}

#[test]
fn a_servo_of_a_joint_moves_like_that_of_a_body() {
    let (scene, body) = plate(Servo::along(DOWN, StateLaw::constant(5.0)).speed(0.1));
    let mut bodies = Simulation::new(scene, MoreauJean::new(1e-3)).unwrap();
    let mut joints = Simulation::new(piston(0.1), MoreauJean::new(1e-3)).unwrap();
    for until in [0.05, 0.3, 1.0] {
        bodies.until(until, &mut ()).unwrap();
        joints.until(until, &mut ()).unwrap();
        let z = 0.055 - joints.state().mechanisms[0].q[0];
        assert!((z - bodies.pose(body).position.z).abs() < 1e-6, "{until} {z}");
        let v = joints.state().mechanisms[0].v[0];
        assert!((v + bodies.velocity(body).linear.z).abs() < 1e-6, "{until} {v}");
    }
}

#[test]
fn schemes_without_servos_say_so() {
    let refuse = |scene: &Scene, scheme: Box<dyn Scheme>| {
        Simulation::new(scene.clone(), scheme).err().unwrap().to_string()
    };
    let (scene, _) = plate(Servo::along(DOWN, StateLaw::constant(5.0)));
    let soft = Penalty::new(1e-5).stiffness(1e6).integrator(Integrator::RungeKutta);
    let schemes: [Box<dyn Scheme>; 3] =
        [Box::new(GeneralizedAlpha::new(1e-3)), Box::new(RigidEvents::new(1e-3)), Box::new(soft)];
    for scheme in schemes {
        let text = refuse(&scene, scheme);
        let remedy = text.contains("moreau-jean") || text.contains("verlet");
        assert!(text.contains("`plate`") && remedy, "{text}");
    }
    let text = refuse(&piston(0.1), Box::new(GeneralizedAlpha::new(1e-3)));
    assert!(text.contains("in mechanism `press`"), "{text}");
}

#[test]
fn servos_that_cannot_move_are_refused() {
    let refuse = |servo: Servo, planar: bool| {
        let mut scene = Scene::builder();
        let shape = if planar {
            scene.planar();
            Shape::disc(0.1, 1.0).unwrap()
        } else {
            Shape::sphere(0.1).unwrap()
        };
        scene.add(BodyDescription::new(shape, &steel()).named("plate").servo(servo), &steel());
        scene.build().unwrap_err().to_string()
    };
    let servo = |axis| Servo::along(axis, StateLaw::constant(1.0));
    let text = refuse(servo([0.6, 0.8, 0.0]), false);
    assert!(text.contains("body `plate`") && text.contains("mechanism"), "{text}");
    assert!(refuse(servo([0.0, 0.0, 1.0]), true).contains("leaves the x–y plane"));
    assert!(refuse(servo(DOWN).speed(0.0), false).contains("the speed of the servo is 0"));
    assert!(refuse(servo(DOWN).speed(f64::NAN), false).contains("must be positive"));
}

#[test]
fn a_run_with_laws_and_servos_resumes_bitwise() {
    let (scene, _) = plate(Servo::along(DOWN, StateLaw::constant(5.0)).speed(0.1));
    let through = |breaks: &[f64]| {
        let mut run = Simulation::new(scene.clone(), MoreauJean::new(1e-3)).unwrap();
        for until in breaks {
            run.until(*until, &mut ()).unwrap();
            // Drops the workspace.
            let state = run.state().clone();
            run.set_state(state).unwrap();
        }
        run.until(1.0, &mut ()).unwrap();
        run.state().clone()
    };
    assert_eq!(through(&[]), through(&[0.1, 0.3, 0.55, 0.7]));
}
