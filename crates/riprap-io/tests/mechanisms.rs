//! Valid mechanisms and their model.

use std::path::Path;

use riprap_io::scene_file::*;

fn scene(name: &str) -> SceneFile {
    SceneFile::read(Path::new("tests/data").join(name)).unwrap_or_else(|e| panic!("{e}"))
}

fn joint<'a>(mechanism: &'a Mechanism, name: &str) -> &'a Joint {
    mechanism.joints.iter().find(|joint| joint.name == name).unwrap_or_else(|| panic!("{name}"))
}

fn body<'a>(mechanism: &'a Mechanism, name: &str) -> &'a MechanismBody {
    mechanism.bodies.iter().find(|body| body.name == name).unwrap_or_else(|| panic!("{name}"))
}

/// The value of a law, whose variables are looked up by name.
fn value(mechanism: &Mechanism, law: &Law, t: f64, state: &[(&str, f64)]) -> f64 {
    let find = |prefix: &str, at: Coordinate| {
        let name = format!("{prefix}.{}", mechanism.coordinate_name(at));
        state.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name}")).1
    };
    let inputs = law.inputs.iter().map(|input| match input {
        Input::Time => t,
        Input::Position(at) => find("q", *at),
        Input::Velocity(at) => find("v", *at),
        Input::Latched(slot) => state[*slot].1,
    });
    law.expression.evaluate(&inputs.collect::<Vec<_>>())
}

#[test]
fn parameters_have_units_and_may_use_previous_ones() {
    let scene = scene("mechanisms.toml");
    let values: Vec<(&str, f64)> =
        scene.parameters.iter().map(|p| (p.name.as_str(), p.value)).collect();
    let (omega, limit) = (2.0 * std::f64::consts::PI * 30.0, std::f64::consts::PI / 180.0 * 15.0);
    assert_eq!(values, [("f", 30.0), ("omega", omega), ("limit", limit), ("k_push", 1000.0)]);
}

#[test]
fn motions_of_bodies_may_use_parameters() {
    let text = "[run]\ndt = 1\nuntil = 0\n[parameters]\nspeed = \"36 rpm\"\n[materials.a]\n[[body]]\nkind = \"moving\"\n\
                material = \"a\"\nshape = { type = \"half-space\" }\nmotion = { angular_velocity = [0, 0, \"speed/2\"] }";
    let scene = SceneFile::parse(text, "").unwrap_or_else(|e| panic!("{e}"));
    let BodyKind::Moving { motion } = &scene.bodies[0].kind else { panic!() };
    assert_eq!(motion.angular_velocity[2].at(0.0), 36.0 * std::f64::consts::TAU / 60.0 / 2.0);
}

#[test]
fn joints_are_sorted_after_those_of_their_parents() {
    for name in ["mechanisms.toml", "tamping-unit.toml", "urdf.toml"] {
        for mechanism in scene(name).mechanisms {
            let mut there = vec![false; mechanism.bodies.len()];
            for joint in &mechanism.joints {
                assert!(joint.parent.is_none_or(|parent| there[parent]), "{}", joint.name);
                assert!(!std::mem::replace(&mut there[joint.child], true), "{}", joint.name);
                assert_eq!(joint.start.len(), joint.kind.n_positions(), "{}", joint.name);
                assert_eq!(joint.start_velocity.len(), joint.kind.n_velocities());
            }
            assert!(there.iter().all(|there| *there));
        }
    }
}

#[test]
fn start_values_and_drives_are_converted_to_si() {
    let scene = scene("mechanisms.toml");
    let robot = &scene.mechanisms[0];
    let degree = std::f64::consts::PI / 180.0;
    let shoulder = joint(robot, "shoulder");
    assert_eq!(shoulder.kind, JointKind::Revolute { axis: [0.0, -1.0, 0.0] });
    assert_eq!((shoulder.start[0], shoulder.start_held), (30.0 * degree, true));
    assert!(shoulder.start_velocity_held);
    let spring = shoulder.spring.as_ref().unwrap();
    assert_eq!((spring.stiffness, spring.rest, spring.damping), (500.0, 10.0 * degree, 2.0));
    let slider = joint(robot, "slider");
    assert_eq!((slider.start[0], slider.start_held), (-0.3, false));
    assert_eq!(slider.spring, Some(JointSpring { stiffness: 0.0, rest: 0.0, damping: 20.0 }));
    let motor = joint(robot, "motor");
    assert_eq!(motor.drive, Drive::Speed(1500.0 * std::f64::consts::TAU / 60.0));
    assert_eq!(motor.start, [0.1]);
    let drive = joint(robot, "drive"); // 0.1 sin(ω t) starts at 0 with velocity 0.1 ω
    assert_eq!((drive.start[0], drive.start_velocity[0]), (0.0, 0.1 * scene.parameters[1].value));
    let wrist = joint(robot, "wrist");
    let half = 0.5_f64.sqrt();
    let JointKind::Universal { axes } = &wrist.kind else { panic!() };
    assert!((axes[1][1] - half).abs() < 1e-15 && (axes[1][2] - half).abs() < 1e-15);
    let float = joint(robot, "joint_8");
    assert_eq!(float.start, [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!((float.start_held, float.start_velocity_held), (false, true));
    let names: Vec<String> = robot.dependent.iter().map(|at| robot.coordinate_name(*at)).collect();
    assert_eq!(names, ["slider", "wrist.second"]);
}

#[test]
fn masses_are_given_or_computed_from_shapes() {
    let scene = scene("mechanisms.toml");
    let robot = &scene.mechanisms[0];
    assert_eq!(body(robot, "hand").mass, None);
    assert_eq!(body(robot, "hand").shapes.len(), 2);
    assert_eq!(body(robot, "bob").mass, Some(Mass { mass: 2.0, inertia: None, centre: None }));
    let carriage = body(robot, "carriage").mass.as_ref().unwrap();
    assert_eq!(carriage.inertia.unwrap()[2], [0.0, 0.0, 0.01]);
    assert_eq!(body(robot, "crank").mass.as_ref().unwrap().mass, 0.0);
}

#[test]
fn a_chain_becomes_joints_with_massless_links() {
    let scene = scene("mechanisms.toml");
    let cart = &scene.mechanisms[1];
    assert_eq!(cart.name, "mechanism-2");
    let names: Vec<&str> = cart.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["chassis", "wheel", "chassis.x", "chassis.turn"]);
    let turn = joint(cart, "turn");
    assert_eq!(cart.body_name(turn.parent), "chassis.x");
    assert_eq!(cart.body_name(Some(turn.child)), "chassis.turn");
    assert_eq!(turn.position, [0.0, 0.0, 0.1]);
    assert_eq!(cart.body_name(Some(joint(cart, "glide").child)), "chassis");
    let coordinates: Vec<String> = cart.coordinates().map(|at| cart.coordinate_name(at)).collect();
    assert_eq!(coordinates, ["x", "turn", "glide.x", "glide.y", "glide.angle"]);
}

#[test]
fn phases_latch_values_and_end_without_force() {
    let scene = scene("mechanisms.toml");
    let robot = &scene.mechanisms[0];
    let hold = &robot.forces[0];
    assert_eq!((hold.phases.len(), hold.n_latched), (4, 3));
    let Until::Condition(condition) = &hold.phases[0].until else { panic!() };
    assert_eq!(value(robot, condition, 0.5, &[("q.shoulder", 0.1)]), 1.0);
    assert_eq!(value(robot, condition, 0.5, &[("q.shoulder", 0.5)]), 0.0);
    let slots: Vec<usize> = hold.phases[1].latch.iter().map(|latch| latch.slot).collect();
    assert_eq!(slots, [0, 1]);
    assert_eq!(hold.phases[1].until, Until::Time(1.5));
    let slots: Vec<usize> = hold.phases[2].latch.iter().map(|latch| latch.slot).collect();
    assert_eq!(slots, [0, 2]); // `target` again, and `half`
    assert_eq!(hold.phases[2].laws[0].inputs[0], Input::Latched(2));
    assert_eq!(hold.phases[3].until, Until::Forever);
    assert_eq!(value(robot, &hold.phases[3].laws[0], 3.0, &[]), 0.0);

    let push = &robot.forces[2];
    assert_eq!(push.phases[0].laws.len(), 6);
    assert!(matches!(push.on, ForceTarget::Body { frame: ForceFrame::Body, .. }));
}

#[test]
fn a_scene_of_only_mechanisms_needs_no_material_and_no_time_step() {
    let text = "[run]\nscheme = \"dormand-prince\"\nuntil = 2\n[[mechanism]]\n[[mechanism.body]]\nname = \"bob\"\nmass = 1\n\
                centre = [0, 0, -1]\n[[mechanism.joint]]\ntype = \"revolute\"\nchild = \"bob\"\naxis = \"y\"";
    let scene = SceneFile::parse(text, "").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene.run.scheme, TimeScheme::DormandPrince { tolerance: 1e-9 });
    assert_eq!((scene.run.output_every, scene.run.dt), (0.02, 0.02));
    assert!(scene.materials.is_empty());
    assert_eq!(
        scene.mechanisms[0].coordinate_name(Coordinate { joint: 0, component: 0 }),
        "joint_1"
    );
}

#[test]
fn the_tamping_unit_has_ten_coordinates_and_four_equations() {
    let scene = scene("tamping-unit.toml");
    let tamper = &scene.mechanisms[0];
    let massive = tamper.bodies.iter().filter(|body| body.mass.as_ref().unwrap().mass > 0.0);
    assert_eq!((massive.count(), tamper.bodies.len(), tamper.n_velocities()), (8, 10, 10));
    assert_eq!(tamper.loops.iter().map(|one| one.kind.n_equations()).sum::<usize>(), 4);
    assert_eq!(tamper.dependent.len(), 4);
    let omega = joint(tamper, "phif").start_velocity[0];
    assert!((omega - scene.parameters[0].value).abs() < 1e-12); // 30 rev/s and 2π·30
    let drive = &tamper.forces[0];
    assert_eq!(value(tamper, &drive.phases[0].laws[0], 0.0, &[("v.phif", 0.0)]), 50.0 * omega);
    let hold = &tamper.forces[1].phases[0].laws[0];
    assert_eq!(value(tamper, hold, 0.0, &[("q.zs", 1.37), ("v.zs", 2.0)]), -2000.0);
    assert_eq!(scene.probes[0].body, Target::MechanismBody { mechanism: 0, body: 3 });
    assert_eq!(scene.target_name(scene.probes[0].body), "tamper/armL");
    assert_eq!(scene.probes[0].point, [0.0, 0.0, -0.9]);
}

#[test]
fn a_urdf_file_becomes_bodies_and_joints() {
    let scene = scene("urdf.toml");
    let [arm, other] = &scene.mechanisms[..] else { panic!() };
    assert_eq!(arm.bodies.len(), 7);
    let upper = body(arm, "upper");
    let mass = upper.mass.as_ref().unwrap();
    assert_eq!((mass.mass, mass.centre), (2.0, Some([0.0, 0.0, 0.2])));
    // Rotated by a quarter turn about x: y and z are swapped.
    let inertia = mass.inertia.unwrap();
    assert!((inertia[1][1] - 0.01).abs() < 1e-17 && (inertia[2][2] - 0.002).abs() < 1e-17);
    let ShapeRef::Inline(Shape::Polyhedron { points }) = &upper.shapes[0].shape else { panic!() };
    assert_eq!((points.len(), upper.shapes[0].position), (48, [0.0, 0.0, 0.2]));
    let lower = body(arm, "lower");
    let ShapeRef::Inline(Shape::Compound { parts }) = &lower.shapes[0].shape else { panic!() };
    assert_eq!(parts.len(), 3);
    let ShapeRef::Inline(Shape::Mesh { scale, .. }) = &lower.shapes[1].shape else { panic!() };
    assert_eq!(*scale, 0.1);
    assert_eq!(body(arm, "base_link").mass.as_ref().unwrap().mass, 0.0);

    let pan = joint(arm, "shoulder_pan");
    assert_eq!(pan.kind, JointKind::Revolute { axis: [0.0, 0.0, 1.0] });
    assert_eq!(arm.body_name(pan.parent), "base_link");
    assert!((pan.rotation[3] - 0.5_f64.sqrt()).abs() < 1e-15);
    assert_eq!(pan.spring.as_ref().unwrap().damping, 0.3);
    let stops = pan.stops.as_ref().unwrap();
    assert_eq!((stops.lower, stops.upper, stops.stiffness), (Some(-1.0), Some(1.5), 1e3));
    assert!((pan.start[0] - std::f64::consts::FRAC_PI_6).abs() < 1e-15 && pan.start_held);
    assert_eq!(joint(arm, "elbow").stops, None);
    assert_eq!(joint(arm, "elbow").start, [0.5]);
    assert_eq!(joint(arm, "grip").drive, Drive::Speed(0.005));
    assert_eq!(joint(arm, "look").kind, JointKind::Spherical);
    assert_eq!(joint(arm, "fly").kind, JointKind::Free);
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    assert_eq!(joint(arm, "slide").kind, JointKind::Planar { axes });
    assert_eq!(joint(arm, "rail").parent, None);

    assert_eq!(joint(other, "base_link_to_ground").kind, JointKind::Fixed);
    assert!(other.bodies.iter().all(|body| body.shapes.is_empty()));
    assert_eq!(joint(other, "shoulder_pan").stops, None);
}

#[test]
fn the_tamping_unit_is_built_as_described() {
    let file = scene("tamping-unit.toml");
    let built = file.build().unwrap_or_else(|e| panic!("{e}"));
    let system = &built.scene.mechanisms()[0];
    let names: Vec<&str> = system.coordinates().map(|c| system.coordinate_name(c)).collect();
    assert_eq!(names, ["zs", "xc", "zc", "thc", "phif", "phiL", "phiR", "phib", "xa", "phik"]);
    assert_eq!(system.degrees_of_freedom(&system.start().partition), 6);
    let arm = built.body(file.probes[0].body);
    assert_eq!(built.scene.bodies().names[built.scene.slot(arm)], "tamper/armL");
    assert_eq!(built.scene.shape(arm).parts().len(), 2);
    let total: f64 = system.links().map(|link| system.mass(link)).sum();
    assert_eq!(total, 123.0);
}

#[test]
fn a_urdf_file_moves_like_the_same_tree_built_in_rust() {
    use riprap::math::{Mat3, Pose, Quat, Vec3};
    use riprap::multibody::{
        Axis, GROUND, Joint as Link, JointSpring, Mechanism as Tree, Stops as Limits,
    };
    use riprap::scheme::DormandPrince;
    use riprap::shape::MassProperties;
    use riprap::simulation::Simulation;

    let text = "[run]\nscheme = \"dormand-prince\"\nuntil = 2\n[[mechanism]]\nname = \"crane\"\nurdf = \"crane.urdf\"\n\
                urdf_limits = { stiffness = 1e5, damping = 1e3 }\n[mechanism.urdf_joints.turn]\nstart_velocity = 1\n\
                [mechanism.urdf_joints.swing]\nstart = 0.4";
    let file = SceneFile::parse(text, "tests/data").unwrap_or_else(|e| panic!("{e}"));
    let built = file.build().unwrap_or_else(|e| panic!("{e}"));
    let mut from_file = Simulation::new(built.scene, file.scheme()).unwrap();

    let mut m = Tree::new("crane");
    let base = m.add("base", GROUND, Link::Fixed, Pose::IDENTITY, None);
    let tensor = Mat3::new(70.0, 0.0, 1.0, 0.0, 71.0, 0.0, 1.0, 0.0, 4.0);
    let tilt = Quat::from_axis_angle(&Vec3::x_axis(), 0.3).to_rotation_matrix();
    let inertia = tilt.matrix() * tensor * tilt.matrix().transpose();
    let column = MassProperties { mass: 200.0, centre: Vec3::new(0.0, 0.0, 1.0), inertia };
    let column = m.add("turn", base, Link::Revolute(Axis::Z), Pose::IDENTITY, Some(column));
    let mut place = Pose::at([0.0, 0.0, 2.0]);
    place.rotation = Quat::from_axis_angle(&Vec3::y_axis(), -0.2);
    let boom = MassProperties::principal(30.0, [0.5, 0.0, 0.0], [0.1, 2.5, 2.5]);
    let boom = m.add("reach", column, Link::Prismatic(Axis::X), place, Some(boom));
    let load = MassProperties::principal(50.0, [0.0, 0.0, -0.8], [2.0; 3]);
    let at = Pose::at([1.0, 0.0, 0.0]);
    let load = m.add("swing", boom, Link::Revolute(Axis::Y), at, Some(load));
    let (turn, reach) = (m.coordinate(column, 0), m.coordinate(boom, 0));
    m.spring(turn, JointSpring { damping: 5.0, ..JointSpring::default() });
    m.stops(reach, Limits { lower: 0.0, upper: 0.6, stiffness: 1e5, damping: 1e3 });
    m.start_velocity(turn, 1.0);
    m.start(m.coordinate(load, 0), 0.4);
    let mut scene = riprap::scene::Scene::builder();
    scene.gravity([0.0, 0.0, -9.81]);
    scene.add_mechanism(m);
    let scheme = DormandPrince::new(0.02);
    let mut by_hand = Simulation::new(scene.build().unwrap(), scheme).unwrap();

    for run in [&mut from_file, &mut by_hand] {
        run.until(2.0, &mut ()).unwrap();
    }
    let [a, b] = [&from_file, &by_hand].map(|run| &run.state().mechanisms[0]);
    assert!(a.q[1].abs() > 1e-3 && a.q[0] > 1.0, "{:?}", a.q);
    let apart = a.q.iter().chain(&a.v).zip(b.q.iter().chain(&b.v));
    let worst = apart.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-8, "{worst:.1e}"); // rounding errors of the frames, amplified by the stops
}
