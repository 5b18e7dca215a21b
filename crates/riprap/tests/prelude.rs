//! The prelude alone is enough to describe a scene with everything that the builders offer, and to run it.

use riprap::prelude::*;

/// A mechanism that uses every method of [`Mechanism`] that describes something.
fn machine() -> Mechanism {
    let mut m = Mechanism::new("machine");
    m.base = Pose::at([0.0, 0.0, 2.0]);
    let rod = MassProperties::rod([0.0, 0.0, -0.5], 2.0);
    let carriage = m.prismatic(GROUND, Axis::X, [0.0; 3], MassProperties::point(5.0, [0.0; 3]));
    m.rename(carriage, "carriage");
    let arm = m.revolute(carriage, Axis::Y, [0.0; 3], rod);
    let fist = MassProperties::principal(1.0, [0.0, 0.0, -0.5], [1e-2; 3]);
    let hand = m.add("hand", arm, Joint::Spherical, Pose::at([0.0, 0.0, -0.5]), Some(fist));
    m.start_rotation(hand, Quat::identity());
    let (x, swing): (Coordinate, Coordinate) = (m.coordinate(carriage, 0), m.coordinate(arm, 0));
    m.drive(x, JointMotion::constant_speed(0.0, 0.1));
    m.start(swing, 0.2);
    m.start_velocity(swing, 0.1);
    m.spring(swing, JointSpring { stiffness: 10.0, rest: 0.0, damping: 0.5 });
    m.stops(swing, Stops { lower: -1.0, upper: 1.0, stiffness: 1e3, damping: 1.0 });
    let slot = m.latch_slot();
    let hold = Signal::new(move |inputs: &Inputs| inputs.latched[slot] - inputs.v[1]);
    let phases = vec![
        Phase {
            latch: vec![(slot, Signal::constant(0.5))],
            values: vec![hold],
            until: Some(Until::Time(0.01)),
        },
        Phase::forever(Signal::constant(0.0)),
    ];
    m.actuate_in_phases("motor", swing, phases);
    m.actuate("friction", swing, Signal::new(|inputs| -0.1 * inputs.v[1]));
    let wind = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0].map(Signal::constant).to_vec();
    let wind = Phase { latch: Vec::new(), values: wind, until: None };
    m.push("wind", hand, [0.0, 0.0, -0.5], false, vec![wind]);
    let line = PointSpring::Line { stiffness: 5.0, damping: 0.1, length: 1.0 };
    m.point_spring("rope", line, Marker::at(GROUND, [0.0; 3]), Marker::at(hand, [0.0; 3]));
    m.attach(hand, Shape::sphere(0.05).unwrap(), Pose::at([0.0, 0.0, -0.5]), "steel");
    m
}

/// A four-bar, for the loop and the coordinates that it determines.
fn four_bar() -> Mechanism {
    let mut m = Mechanism::new("four-bar");
    let bar = MassProperties::rod([1.0, 0.0, 0.0], 1.0);
    let crank = m.revolute(GROUND, Axis::Y, [0.0, 3.0, 0.0], bar);
    let coupler = m.revolute(crank, Axis::Y, [1.0, 0.0, 0.0], bar);
    let rocker = m.revolute(GROUND, Axis::Y, [1.0, 3.0, 0.0], bar);
    let upright = -std::f64::consts::FRAC_PI_2;
    m.start(m.coordinate(crank, 0), upright);
    m.guess(m.coordinate(coupler, 0), -upright);
    m.guess(m.coordinate(rocker, 0), upright);
    let (a, b) = (Marker::at(coupler, [1.0, 0.0, 0.0]), Marker::at(rocker, [1.0, 0.0, 0.0]));
    m.close_loop("window", Cut::Pin, a.along(Axis::Y), b.along(Axis::Y));
    m.dependent(&[m.coordinate(coupler, 0), m.coordinate(rocker, 0)]);
    m
}

#[test]
fn every_method_of_the_builders_can_be_called_with_the_prelude_alone() {
    let steel = Material::new("steel").density(7800.0).friction(0.3).restitution(0.1).rolling(1e-4);
    let rock = Material::new("rock").density(2700.0).friction(0.6);
    let mut scene: SceneBuilder = Scene::builder();
    scene.gravity([0.0, 0.0, -9.81]).alert(1e-3).drag(0.1).detection(Method::default());
    scene.accept_overlap(1e-3).material(&steel).pair(
        "steel",
        "rock",
        PairLaw::combined(&steel, &rock),
    );
    let floor =
        scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &steel);
    let stone = BodyDescription::new(Shape::cuboid([0.1; 3]).unwrap(), &rock).named("stone");
    let stone = scene.add(stone.at([0.0, 0.0, 0.3]).velocity([0.1, 0.0, 0.0]).mass(2.0), &rock);
    let turning =
        Motion::Velocity { linear: Law::constant([0.0; 3]), angular: Law::new(|t| Vec3::z() * t) };
    let table = BodyDescription::new(Shape::cuboid([0.2; 3]).unwrap(), &rock).moving(turning);
    assert!(matches!(table.kind, Kind::Moving(_)));
    let table = scene.add_body(table.at([2.0, 0.0, 0.2]));
    let slide = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock).locked(Locks::PLANAR);
    let slide = scene.add_body(slide.at([-2.0, 0.0, 0.5]).turned(Quat::identity()).spin([0.0; 3]));
    let place = Pose::at([-2.0, 0.0, 0.5]);
    let weld = BodyJoint::at(
        "rail",
        Hold::Ball,
        place,
        (On::World, Pose::IDENTITY),
        (slide.into(), place),
    );
    scene.add_joint(weld.projected());
    let machine: MechanismId = scene.add_mechanism(machine());
    scene.add_mechanism(four_bar());
    let law = PairLaw { friction: 0.1, ..PairLaw::SMOOTH };
    scene.add_point_contact(PointContact {
        name: "stop".into(),
        point: (On::Link(machine, Link(0)), Vec3::zeros()),
        plane: (On::World, Vec3::new(2.0, 0.0, 0.0)),
        normal: -Vec3::x(),
        law,
    });
    scene.ignore_contact(On::Body(stone), On::Body(table));

    let scene = scene.build().unwrap();
    let scheme = MoreauJean::new(1e-3).solver(Coloured::tolerance(1e-6));
    let mut run = Simulation::new(scene, scheme).unwrap();
    run.on_unconverged(OnUnconverged::Fail);
    let report: RunReport = run.until(0.02, &mut ()).unwrap();
    assert_eq!(report.steps, 20);
    let step: StepReport = run.step().unwrap();
    assert!(step.contacts < 100);
    let (state, frame): (&State, Frame) = (run.state(), run.frame());
    assert_eq!(frame.contact_force(floor), Vec3::zeros());
    assert!(state.q.iter().all(|pose: &Pose| pose.position.norm().is_finite()));
}
