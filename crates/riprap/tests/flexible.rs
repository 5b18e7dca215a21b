//! Flexible bodies in scenes under Moreau–Jean: impacts, joints, energies, restarts.

use riprap::flexible::{Bar, Beam, Elastic, Section, Support};
use riprap::prelude::*;
use riprap::scene::{Flexible, FlexibleId};
use riprap::simulation::Balance;

const TIGHT: f64 = 1e-10;

fn run(scene: SceneBuilder, dt: f64, theta: f64) -> Simulation {
    let scheme = MoreauJean::new(dt).theta(theta).solver(GaussSeidel::tolerance(TIGHT));
    Simulation::new(scene.build().unwrap(), scheme).unwrap()
}

/// Frictionless and inelastic.
fn smooth() -> PairLaw {
    let plain = Material::new("plain").friction(0.0).restitution(0.0);
    PairLaw { law: ContactLaw::MoreauNewton, ..PairLaw::combined(&plain, &plain) }
}

fn stop_at(on: On, point: [f64; 3], plane: [f64; 3], normal: Vec3) -> PointContact {
    PointContact {
        name: "stop".into(),
        point: (on, point.into()),
        plane: (On::World, plane.into()),
        normal,
        law: smooth(),
    }
}

/// The bar of Brüls, Acary and Cardona 2014, Sec. 10.3: 10 m, E = 900 Pa, ρ = 1 kg/m³, 5.005 m from a wall, at 10 m/s.
fn bar(lumped: bool) -> (SceneBuilder, FlexibleId) {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let bar = Bar::new("bar")
        .points(&[[5.005, 0.0, 0.0], [15.005, 0.0, 0.0]])
        .area(1.0)
        .material(Elastic::new(900.0, 0.0, 1.0))
        .elements(200)
        .velocity(-10.0);
    let bar = scene.add_flexible(if lumped { bar.lumped() } else { bar });
    scene.add_point_contact(stop_at(On::Node(bar, 0), [0.0; 3], [0.0; 3], Vec3::x()));
    (scene, bar)
}

#[test]
fn an_elastic_bar_bounces_off_a_wall_as_its_waves_do() {
    // Contact duration [s], impulse [N s], energy after 2 s [J] of an independent implementation of the same scheme (h = 2e-3, 200
    // elements, e = 0), with its last digit as the tolerance. The closed form is 2/3 s, 200 N s, 500 J.
    let table = [
        (0.5, true, [0.670, 198.7, 498.1]),
        (0.5, false, [0.668, 199.0, 498.3]),
        (1.0 / 1.8, true, [0.668, 197.0, 475.2]),
        (1.0 / 1.8, false, [0.666, 197.1, 475.5]),
    ];
    for (theta, lumped, [duration, impulse, energy]) in table {
        let (scene, bar) = bar(lumped);
        let mut run = run(scene, 2e-3, theta);
        let (mut first, mut last, mut sum) = (None, 0, 0.0);
        let mut deepest = 0.0_f64;
        for k in 0..1000 {
            run.step().unwrap();
            let push: f64 = run.frame().contacts().map(|c| c.force.x * 2e-3).sum();
            if push > 0.0 {
                first.get_or_insert(k);
                last = k;
                sum += push;
            }
            let wall = run.pose(run.scene().node_body(bar, 0)).position.x;
            deepest = deepest.min(wall);
        }
        let lasted = f64::from(last - first.unwrap()) * 2e-3;
        let found = run.frame().balance();
        assert!((lasted - duration).abs() < 1e-9, "{lasted} {duration}");
        assert!((sum - impulse).abs() < 0.06, "{sum} {impulse}");
        assert!((found.kinetic + found.potential - energy).abs() < 0.06, "{found:?} {energy}");
        // Impulse and momentum agree: 100 kg m/s towards the wall at first.
        assert!((found.momentum.x - (sum - 100.0)).abs() < 1e-9);
        assert!(deepest > -6e-3, "4 to 5 mm: {deepest}");
    }
}

/// A steel strip, 0.5 m × 20 mm × 2 mm, flat.
fn strip(elements: usize) -> Beam {
    Beam::new("strip")
        .points(&[[0.0; 3], [0.5, 0.0, 0.0]])
        .section(Section::Rectangle { height: 2e-3, width: 0.02 })
        .elements(elements)
}

fn total(balance: &Balance) -> f64 {
    balance.kinetic + balance.potential
}

#[test]
fn a_free_beam_flies_like_a_rigid_body_and_keeps_momenta_and_energy() {
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -9.81]);
    scene.add_flexible(strip(6).velocity([1.0, 0.0, 3.0], [0.5, 2.0, 1.0]));
    let mut run = run(scene, 1e-3, 0.5);
    let start = run.frame().balance();
    for _ in 0..400 {
        run.step().unwrap();
    }
    let end = run.frame().balance();
    let mass = run.scene().flexible()[0].total_mass();
    // Gravity is integrated exactly by the midpoint rule.
    let fallen = start.momentum + Vec3::new(0.0, 0.0, -9.81 * mass * 0.4);
    assert!((end.momentum - fallen).norm() < 1e-9 * fallen.norm(), "{} {fallen}", end.momentum);
    // The θ scheme is not exactly conservative for rotations: errors are of second order in the step.
    assert!((total(&end) / total(&start) - 1.0).abs() < 1e-4, "{start:?} {end:?}");
}

#[test]
fn errors_of_energy_fall_with_the_square_of_the_step_and_the_frequency_is_that_of_the_closed_form()
{
    // A cantilever plucked by its own weight: it falls from the straight position and oscillates about its sag.
    let period = |dt: f64, until: f64| {
        let mut scene = Scene::builder();
        scene.gravity([0.0, 0.0, -9.81]);
        let strip = scene.add_flexible(strip(16).clamp_start());
        let mut run = run(scene, dt, 0.5);
        let tip = run.scene().node_body(strip, 16);
        let start = total(&run.frame().balance());
        let (mut crossings, mut before, mut lost) = (Vec::new(), -1.0, 0.0_f64);
        while run.time() < until {
            run.step().unwrap();
            let v = run.velocity(tip).linear.z;
            if before > 0.0 && v <= 0.0 {
                crossings.push(run.time() - dt * v / (v - before));
            }
            before = v;
            lost = lost.max((total(&run.frame().balance()) - start).abs());
        }
        let n = crossings.len() - 1;
        ((crossings[n] - crossings[0]) / n as f64, lost)
    };
    let (found, _) = period(5e-4, 2.0);
    // (1.8751)² √(EI/ρA)/L² of Euler and Bernoulli; 16 elements give 0.1 %, the step 0.01 %, and the second mode, which moves
    // the crossings by 2 ms, 0.1 % over 13 periods.
    let (ei, per_length) = (2.1e11 * 0.02 * 8e-9 / 12.0, 7800.0 * 4e-5);
    let exact = 2.0 * std::f64::consts::PI / (3.51602 * f64::sqrt(ei / per_length) / 0.25);
    assert!((found / exact - 1.0).abs() < 5e-3, "{found} {exact}");
    let (coarse, fine) = (period(1e-3, 0.2).1, period(5e-4, 0.2).1);
    assert!(coarse / fine > 3.0, "{coarse} {fine}");
}

#[test]
fn a_stiff_cantilever_strikes_a_stop_and_loses_no_more_than_its_tip_allows() {
    // Courant numbers far above 1: waves need 1 µs through an element, steps last 0.5 ms.
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -9.81]);
    let strip = scene.add_flexible(strip(10).clamp_start());
    let plane = [0.0, 0.0, -2e-3];
    scene.add_point_contact(stop_at(On::Node(strip, 10), [0.0; 3], plane, Vec3::z()));
    let mut run = run(scene, 5e-4, 0.5);
    let tip = run.scene().node_body(strip, 10);
    let start = total(&run.frame().balance());
    let (mut touched, mut last) = (0, start);
    for _ in 0..1000 {
        run.step().unwrap();
        let z = run.pose(tip).position.z;
        assert!(z > -2.4e-3, "{z}");
        touched += usize::from(run.frame().contacts().any(|c| c.force.z > 0.0));
        last = total(&run.frame().balance());
        assert!(last < start + 1e-6);
    }
    assert!(touched > 20 && last > 0.3 * start - 1.0, "{touched} {last}");
}

#[test]
fn collision_spheres_of_nodes_lie_on_a_floor_with_the_weight_of_the_beam() {
    let steel = Material::new("steel").friction(0.3);
    let mut scene = Scene::builder();
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &steel);
    let beam = strip(8).points(&[[0.0, 0.0, 0.012], [0.5, 0.0, 0.02]]).damping(1e-3);
    let beam = Flexible::from(beam).shape(None, Shape::sphere(0.01).unwrap(), &steel);
    let beam = scene.add_flexible(beam);
    // Contacts of a stiff beam are coupled closely: simple sweeps converge slowly.
    let scheme = MoreauJean::new(1e-3).solver(Accurate::tolerance(1e-8));
    let mut run = Simulation::new(scene.build().unwrap(), scheme).unwrap();
    let report = run.until(0.5, &mut ()).unwrap();
    assert_eq!(report.unconverged, 0);
    let force: f64 = run.frame().contacts().map(|c| c.force.z).sum();
    let weight = 9.81 * run.scene().flexible()[0].total_mass();
    // At rest up to small vibrations of the last milliseconds.
    assert!((force / weight - 1.0).abs() < 0.05, "{force} {weight}");
    for node in 0..9 {
        let z = run.pose(run.scene().node_body(beam, node)).position.z;
        assert!((z - 0.01).abs() < 2e-4, "{node}: {z}");
    }
    assert_eq!(run.scene().node_at(run.scene().slot(run.scene().node_body(beam, 3))), Some((0, 3)));
}

#[test]
fn a_beam_lies_on_soft_contacts_with_its_weight() {
    let steel = Material::new("steel").density(7800.0).friction(0.3);
    let mut scene = Scene::builder();
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &steel);
    let beam = strip(8).points(&[[0.0, 0.0, 0.012], [0.5, 0.0, 0.02]]).damping(1e-3);
    let beam = Flexible::from(beam).shape(None, Shape::sphere(0.01).unwrap(), &steel);
    let beam = scene.add_flexible(beam);
    let scheme = Penalty::new(1e-4);
    let scene = scene.build().unwrap();
    let stiffness = scheme.limits(&scene).unwrap().unwrap().stiffness;
    let mut run = Simulation::new(scene, scheme).unwrap();
    run.until(0.5, &mut ()).unwrap();
    let force: f64 = run.frame().contacts().map(|c| c.force.z).sum();
    let weight = 9.81 * run.scene().flexible()[0].total_mass();
    // At rest: critically damped contacts leave no vibration.
    assert!((force / weight - 1.0).abs() < 1e-3, "{force} {weight}");
    for node in 0..9 {
        let sunk = 0.01 - run.pose(run.scene().node_body(beam, node)).position.z;
        // The whole weight on one contact at most, and none is open.
        assert!(sunk > 0.0 && sunk < weight / stiffness, "{node}: {sunk:e}");
    }
}

/// Steps to 0.2 s of a beam that hangs on something, with the largest distance of its end from the pivot.
fn hangs(hold: Hold, build: impl Fn(&mut SceneBuilder) -> (On, Pose)) -> (Simulation, f64) {
    let mut scene = Scene::builder();
    let (on, place) = build(&mut scene);
    let strip = scene.add_flexible(strip(4));
    let frame = Pose::IDENTITY.turned([1.0, 0.0, 0.0], -std::f64::consts::FRAC_PI_2);
    let node = (On::Node(strip, 0), Pose::IDENTITY);
    scene.add_joint(BodyJoint::at("pivot", hold, frame, (on, place), node));
    let mut run = run(scene, 5e-4, 0.5);
    let body = run.scene().node_body(strip, 0);
    let mut largest = 0.0_f64;
    for _ in 0..400 {
        run.step().unwrap();
        largest = largest.max(run.pose(body).position.norm());
    }
    (run, largest)
}

#[test]
fn a_beam_hinged_to_the_world_swings_like_a_pendulum() {
    for hold in [Hold::Ball, Hold::Hinge] {
        let (run, drift) = hangs(hold, |_| (On::World, Pose::IDENTITY));
        // Joints hold velocities; positions drift by less than a thousandth of the motion.
        assert!(drift < 5e-4, "{drift}");
        let tip = run.pose(run.scene().node_body(FlexibleId(0), 4)).position;
        // A rod released horizontally, φ'' = 3g/2L cos φ: 0.5529 rad after 0.2 s by quadrature.
        let angle = (-tip.z).atan2(tip.x);
        let exact = rod_angle(0.2, 1.5 * 9.81 / 0.5);
        assert!((angle - exact).abs() < 0.01, "{angle} {exact}");
        assert!(tip.y.abs() < 1e-6);
    }
}

/// Angle of a rod released horizontally after a time, `φ'' = a cos φ`.
fn rod_angle(time: f64, a: f64) -> f64 {
    let n = 2000;
    let h = time / f64::from(n);
    let (mut phi, mut omega) = (0.0_f64, 0.0);
    for _ in 0..n {
        let middle = phi + 0.5 * h * omega;
        omega += h * a * middle.cos();
        phi = middle + 0.5 * h * omega;
    }
    phi
}

#[test]
fn a_beam_welded_to_a_driven_link_turns_with_it() {
    // A crank turned at 5 rad/s carries the beam: the weld transmits rotations as well.
    let (run, drift) = hangs(Hold::Weld, |scene| {
        let mut crank = Mechanism::new("crank");
        let mass = MassProperties::principal(1.0, [0.0; 3], [0.01; 3]);
        let link = crank.add("disc", GROUND, Joint::Revolute(Axis::Z), Pose::IDENTITY, Some(mass));
        crank.start_velocity(Coordinate(0), 5.0);
        (On::Link(scene.add_mechanism(crank), link), Pose::IDENTITY)
    });
    assert!(drift < 1e-3, "{drift}");
    let spins: Vec<f64> =
        (0..5).map(|k| run.velocity(run.scene().node_body(FlexibleId(0), k)).angular.z).collect();
    let disc = run.velocity(run.scene().link_body(MechanismId(0), Link(0))).angular.z;
    assert!((spins[0] - disc).abs() < 1e-6, "{spins:?} {disc}");
    // The beam started at rest: momentum about z is shared, up to its vibration.
    let l = run.frame().balance().angular_momentum.z;
    assert!((l - 0.05).abs() < 1e-3, "{l}");
}

#[test]
fn a_beam_carries_a_free_ball_at_its_end() {
    // A ball of 1 kg at the end of a clamped strip sags by F L³/3EI; the damping is nearly critical.
    let steel = Material::new("steel").density(7800.0);
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -0.1]);
    let ball =
        BodyDescription::new(Shape::sphere(0.02).unwrap(), &steel).at([0.5, 0.0, 0.0]).mass(1.0);
    let ball = scene.add(ball, &steel);
    let strip = scene.add_flexible(strip(8).clamp_start().damping(0.2));
    let (tip, place) = (On::Node(strip, 8), Pose::at([0.5, 0.0, 0.0]));
    scene.add_joint(BodyJoint::at("weld", Hold::Weld, place, (tip, place), (ball.into(), place)));
    let mut run = run(scene, 1e-3, 1.0);
    run.until(2.0, &mut ()).unwrap();
    let sag = -run.pose(ball).position.z;
    let ei = 2.1e11 * 0.02 * 8e-9 / 12.0;
    // Weight of the ball at the end, weight of the strip (0.156 kg) along it.
    let exact = 0.1 * (0.125 / 3.0 + 0.156 * 0.125 / 8.0) / ei;
    assert!((sag / exact - 1.0).abs() < 0.02, "{sag} {exact}");
}

#[test]
fn runs_resume_bitwise_and_steps_that_cannot_be_found_are_errors() {
    let make = || {
        let mut scene = Scene::builder();
        let strip = scene.add_flexible(strip(5).supports(Support::Pinned, Support::Free));
        let plane = [0.0, 0.0, -0.05];
        scene.add_point_contact(stop_at(On::Node(strip, 5), [0.0; 3], plane, Vec3::z()));
        run(scene, 1e-3, 0.5)
    };
    let (mut straight, mut broken) = (make(), make());
    for k in 0..200 {
        straight.step().unwrap();
        broken.step().unwrap();
        if k % 7 == 0 {
            let state = broken.state().clone();
            broken.set_state(state).unwrap();
        }
    }
    assert_eq!(straight.state(), broken.state());
    assert!(straight.report().contacts.1 > 0, "it has reached the stop");
    let mut state = straight.state().clone();
    state.flexible[0].v.pop();
    assert!(straight.set_state(state).is_err(), "a state of another scene");

    // A velocity of 1e200 m/s overflows.
    let mut scene = Scene::builder();
    scene.add_flexible(strip(2).velocity([0.0; 3], [0.0, 0.0, 1e200]));
    let message = run(scene, 1e-3, 0.5).step().unwrap_err().to_string();
    assert!(message.contains("strip"), "{message}");
}

#[test]
fn a_damped_beam_comes_to_rest_at_the_sag_of_its_weight_and_stays_there() {
    // At rest nothing but rounding is left of the kinetic energy, which Newton's method must not take for a motion.
    let (length, radius) = (1.0, 0.02_f64);
    let build = |at: [f64; 3], dt: f64, theta: f64| {
        let end = [at[0] + length, at[1], at[2]];
        let mut scene = Scene::builder();
        let beam = Beam::new("beam")
            .points(&[at, end])
            .section(Section::Circle { radius })
            .material(Elastic::new(2.1e11, 0.3, 7800.0))
            .elements(10)
            .damping(0.05)
            .clamp_start();
        let beam = scene.add_flexible(beam);
        (run(scene, dt, theta), beam)
    };
    let area = std::f64::consts::PI * radius * radius;
    let moment = area * radius * radius / 4.0;
    let sag = 7800.0 * area * 9.81 * length.powi(4) / (8.0 * 2.1e11 * moment);
    for (at, dt, theta) in
        [([0.0; 3], 1e-3, 1.0), ([0.0; 3], 1e-3, 0.7), ([50.0, -3.0, 8.0], 4e-3, 1.0)]
    {
        let (mut run, beam) = build(at, dt, theta);
        let tip = |run: &Simulation| run.pose(run.scene().node_body(beam, 10)).position.z - at[2];
        run.until(2.0, &mut ()).unwrap();
        let rest = tip(&run);
        // Ten elements of first order are stiffer by a percent.
        assert!((-rest / sag - 1.0).abs() < 0.02, "{rest} {sag}");
        run.until(3.0, &mut ()).unwrap();
        // Rounding of positions.
        assert!((tip(&run) - rest).abs() < 1e-12 * (1.0 + Vec3::from(at).norm()));
        assert!(run.frame().balance().kinetic < 1e-18);
    }
}
