//! Scenes from files and the same scenes built in Rust: their states are bitwise identical after
//! some steps.

use riprap::friction::{GaussSeidel, GaussSeidelOptions};
use riprap::math::{Pose, Quat, Vec3};
use riprap::multibody::{Axis, GROUND, Joint, JointSpring, Marker, Mechanism, Signal};
use riprap::scene::{
    BodyDescription, BodyJoint, ContactLaw, Hold, Law, Locks, Material, Motion, On, PairLaw, Scene,
    SceneBuilder,
};
use riprap::scheme::{DormandPrince, MoreauJean};
use riprap::shape::{MassProperties, Shape};
use riprap::simulation::Simulation;
use riprap_io::scene_file::SceneFile;

const RUN: &str = "\
[run]
dt = \"1 ms\"
until = \"1 s\"
theta = 0.6
[solver]
method = \"gauss-seidel\"
tolerance = 1e-8
approach_tolerance = 2e-8
velocity_change_tolerance = 3e-8
max_velocity_change_tolerance = 4e-8
max_sweeps = 2000
";

fn scheme() -> MoreauJean {
    let options = GaussSeidelOptions {
        tolerance: 1e-8,
        approach_tolerance: 2e-8,
        velocity_change_tolerance: 3e-8,
        max_velocity_change_tolerance: 4e-8,
        max_sweeps: 2000,
        ..GaussSeidelOptions::default()
    };
    MoreauJean::new(1e-3).theta(0.6).solver(GaussSeidel { options })
}

/// Runs 20 steps of both scenes, which must be bitwise identical and have contacts or not, as
/// stated.
#[track_caller]
fn compare(text: &str, by_hand: &SceneBuilder, touches: bool) {
    let file = SceneFile::parse(&format!("{text}{RUN}"), "").unwrap_or_else(|e| panic!("{e}"));
    let built = file.build().unwrap_or_else(|e| panic!("{e}"));
    let by_hand = by_hand.build().unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(built.scene.bodies().names, by_hand.bodies().names);
    assert_eq!(built.scene.bodies().mass, by_hand.bodies().mass);
    assert_eq!(built.scene.bodies().inertia, by_hand.bodies().inertia);
    let mut from_file = Simulation::new(built.scene, file.scheme()).unwrap();
    let mut by_hand = Simulation::new(by_hand, scheme()).unwrap();
    assert_eq!(from_file.state(), by_hand.state());
    let mut contacts = 0;
    for step in 1..=20 {
        let [a, b] = [&mut from_file, &mut by_hand].map(|run| run.step().unwrap());
        assert_eq!(from_file.state(), by_hand.state(), "step {step}");
        assert_eq!((a.contacts, a.solve.sweeps), (b.contacts, b.solve.sweeps), "step {step}");
        contacts += a.contacts;
    }
    assert_eq!(contacts > 0, touches);
}

#[test]
fn bodies_that_fall_slide_and_are_pushed_match_those_built_in_rust() {
    let text = "
        gravity = [\"0.5 m/s^2\", 0, -9.81]
        contact = { alert = \"2 mm\" }
        [materials]
        rock = { density = \"2.7 t/m^3\", friction = 0.6 }
        steel = { density = 7800, friction = 0.3, restitution = 0.4, rolling = \"1 mm\" }
        [[pair]]
        between = [\"steel\", \"rock\"]
        friction = 0.45
        law = \"moreau-newton\"
        [[body]]
        name = \"floor\"
        kind = \"fixed\"
        shape = { type = \"half-space\" }
        material = \"rock\"
        [[body]]
        name = \"brick\"
        shape = { type = \"box\", size = [\"20 cm\", 0.1, 0.05] }
        material = \"rock\"
        position = [0, 0, \"25.5 mm\"]
        velocity = [1, 0, \"-50 cm/s\"]
        force = [0, \"2 N\", 0]
        [[body]]
        name = \"ball\"
        shape = { type = \"sphere\", radius = \"5 cm\" }
        material = \"steel\"
        position = [0, 0, 0.105]
        angular_velocity = [\"30 rad/s\", 0, 2]
        mass = \"3 kg\"
        locked = [\"rz\"]
        [[body]]
        name = \"ram\"
        kind = \"moving\"
        shape = { type = \"polyhedron\", points = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]] }
        material = \"steel\"
        position = [-0.3, 0, 0.01]
        motion = { velocity = [\"8*ramp(t, 0, 0.01)\", 0, 0], angular_velocity = [0, 0, \"sin(9*t)\"] }
        ";
    let rock = Material::new("rock").density(2700.0).friction(0.6);
    let steel = Material::new("steel").density(7800.0).friction(0.3).restitution(0.4).rolling(1e-3);
    let mut scene = Scene::builder();
    scene.gravity([0.5, 0.0, -9.81]).alert(2e-3).material(&rock).material(&steel);
    let law = PairLaw {
        friction: 0.45,
        law: ContactLaw::MoreauNewton,
        ..PairLaw::combined(&steel, &rock)
    };
    scene.pair("steel", "rock", law);
    let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    scene.add_body(BodyDescription::new(floor, &rock).named("floor").fixed());
    let brick = BodyDescription::new(Shape::cuboid([0.2, 0.1, 0.05]).unwrap(), &rock);
    let brick = brick.named("brick").at([0.0, 0.0, 0.0255]).velocity([1.0, 0.0, -0.5]);
    scene.add_body(BodyDescription { force: Vec3::new(0.0, 2.0, 0.0), ..brick });
    let ball = BodyDescription::new(Shape::sphere(0.05).unwrap(), &steel).named("ball");
    let ball = ball.at([0.0, 0.0, 0.105]).spin([30.0, 0.0, 2.0]).mass(3.0);
    scene.add_body(ball.locked(Locks([false, false, false, false, false, true])));
    let corners = [[0.0; 3], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]].map(Vec3::from);
    let motion = Motion::Velocity {
        linear: Law::new(|t| {
            let ramp = if t >= 0.01 { 1.0 } else { (t / 0.01).max(0.0) };
            Vec3::new(8.0 * ramp, 0.0, 0.0)
        }),
        angular: Law::new(|t| Vec3::new(0.0, 0.0, (9.0 * t).sin())),
    };
    let ram = BodyDescription::new(Shape::hull(&corners).unwrap(), &steel).named("ram");
    scene.add_body(ram.at([-0.3, 0.0, 0.01]).moving(motion));
    compare(text, &scene, true);
}

#[test]
fn grains_on_a_planar_lattice_match_those_built_in_rust() {
    let text = "
        planar = true
        [materials.rock]
        density = 2500
        friction = 0.4
        [[body]]
        name = \"floor\"
        kind = \"fixed\"
        shape = { type = \"half-space\" }
        material = \"rock\"
        [[body]]
        name = \"wedge\"
        shape = { type = \"polygon\", points = [[0, 0], [0.3, 0], [0, 0.2]], thickness = 0.5 }
        material = \"rock\"
        position = [-1, 0]
        angle = \"0 deg\"
        angular_velocity = 0.25
        [[grains]]
        name = \"heap\"
        material = \"rock\"
        shape = { type = \"disc\", radius = \"5 cm\" }
        generator = \"lattice\"
        counts = [3, 2]
        spacing = [0.1005, 0.1]
        origin = [0, 0.05]
        ";
    let rock = Material::new("rock").density(2500.0).friction(0.4);
    let mut scene = Scene::builder();
    scene.gravity([0.0, -9.81, 0.0]).planar().material(&rock);
    let floor = Shape::half_space([0.0, 1.0, 0.0]).unwrap();
    scene.add_body(BodyDescription::new(floor, &rock).named("floor").fixed());
    let wedge = Shape::polygon(&[[0.0, 0.0], [0.3, 0.0], [0.0, 0.2]], 0.5).unwrap();
    let wedge = BodyDescription::new(wedge, &rock).named("wedge").at([-1.0, 0.0, 0.0]);
    scene.add_body(wedge.spin([0.0, 0.0, 0.25]));
    for index in 0..6 {
        let [column, row] = [index % 3, index / 3].map(f64::from);
        let disc = BodyDescription::new(Shape::disc(0.05, 1.0).unwrap(), &rock);
        let disc = disc.named(&format!("heap-{}", index + 1));
        scene.add_body(disc.at([0.1005 * column, 0.05 + 0.1 * row, 0.0]));
    }
    compare(text, &scene, true);
}

#[test]
fn bodies_with_joints_match_those_built_in_rust() {
    let text = "
        materials = { rock = { density = 1000 } }
        [[body]]
        name = \"rod\"
        shape = { type = \"box\", size = [1, 0.1, 0.1] }
        material = \"rock\"
        position = [0.5, 0, 0]
        [[body]]
        name = \"bob\"
        shape = { type = \"sphere\", radius = 0.1 }
        material = \"rock\"
        position = [1.2, 0, 0]
        rotation = { axis = [0, 0, 1], angle = \"90 deg\" }
        [[joint]]
        name = \"pivot\"
        type = \"hinge\"
        between = [\"world\", \"rod\"]
        position = [0, 0, 0]
        axis = \"z\"
        project = true
        [[joint]]
        name = \"end\"
        type = \"ball\"
        between = [\"rod\", \"bob\"]
        position = [1, 0, 0]
        ";
    let rock = Material::new("rock").density(1000.0);
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -9.81]).material(&rock);
    let rod = BodyDescription::new(Shape::cuboid([1.0, 0.1, 0.1]).unwrap(), &rock);
    let rod = rod.named("rod").at([0.5, 0.0, 0.0]);
    let (sin, cos) = std::f64::consts::FRAC_PI_4.sin_cos();
    let turned = Quat::new_unchecked([0.0, 0.0, sin, cos].into());
    let bob = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock);
    let bob = bob.named("bob").at([1.2, 0.0, 0.0]).turned(turned);
    let poses = [rod.pose, bob.pose];
    let [rod, bob] = [rod, bob].map(|body| On::Body(scene.add_body(body)));
    let world = (On::World, Pose::IDENTITY);
    let about_z = Marker::at(GROUND, [0.0; 3]).along(Axis::Z).pose;
    let pivot = BodyJoint::at("pivot", Hold::Hinge, about_z, world, (rod, poses[0]));
    scene.add_joint(pivot.projected());
    let at = Pose::at([1.0, 0.0, 0.0]);
    scene.add_joint(BodyJoint::at("end", Hold::Ball, at, (rod, poses[0]), (bob, poses[1])));
    compare(text, &scene, false);
}

const ARM: &str = "
    [parameters]
    k = \"2 N*m\"
    [[mechanism]]
    name = \"arm\"
    position = [0, 0, 1]
    [[mechanism.body]]
    name = \"upper\"
    mass = 2
    inertia = [0.1, 0.2, 0.15]
    centre = [0, 0, -0.3]
    [[mechanism.body]]
    name = \"lower\"
    mass = \"500 g\"
    centre = [0, 0, \"-20 cm\"]
    [[mechanism.joint]]
    name = \"shoulder\"
    type = \"revolute\"
    child = \"upper\"
    axis = \"y\"
    start = 0.5
    spring = { stiffness = 3, rest = 0.1, damping = 0.2 }
    [[mechanism.joint]]
    name = \"elbow\"
    type = \"revolute\"
    parent = \"upper\"
    child = \"lower\"
    axis = \"x\"
    position = [0, 0, -0.6]
    start_velocity = \"1 rad/s\"
    [[mechanism.force]]
    name = \"motor\"
    coordinate = \"elbow\"
    law = \"k*cos(3*t) - 0.1*v.shoulder\"
    ";

/// The mechanism of [`ARM`].
fn arm() -> Mechanism {
    let mut arm = Mechanism::new("arm");
    arm.base = Pose::at([0.0, 0.0, 1.0]);
    let upper = MassProperties::principal(2.0, [0.0, 0.0, -0.3], [0.1, 0.2, 0.15]);
    let lower = MassProperties::principal(0.5, [0.0, 0.0, -0.2], [0.0; 3]);
    let place = Pose::at([0.0, 0.0, -0.6]);
    let upper = arm.add("shoulder", GROUND, Joint::Revolute(Axis::Y), Pose::IDENTITY, Some(upper));
    let lower = arm.add("elbow", upper, Joint::Revolute(Axis::X), place, Some(lower));
    arm.rename(upper, "upper");
    arm.rename(lower, "lower");
    let (shoulder, elbow) = (arm.coordinate(upper, 0), arm.coordinate(lower, 0));
    arm.start(shoulder, 0.5);
    arm.spring(shoulder, JointSpring { stiffness: 3.0, rest: 0.1, damping: 0.2 });
    arm.start_velocity(elbow, 1.0);
    arm.actuate("motor", elbow, Signal::new(|s| 2.0 * (3.0 * s.t).cos() - 0.1 * s.v[0]));
    arm
}

#[test]
fn a_mechanism_with_a_spring_and_a_motor_matches_one_built_in_rust() {
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -9.81]);
    scene.add_mechanism(arm());
    compare(ARM, &scene, false);
    // The same with adaptive steps.
    let text = format!("[run]\nscheme = \"dormand-prince\"\nuntil = 0.5\ndt = 0.02\n{ARM}");
    let file = SceneFile::parse(&text, "").unwrap_or_else(|e| panic!("{e}"));
    let built = file.build().unwrap_or_else(|e| panic!("{e}"));
    let mut from_file = Simulation::new(built.scene, file.scheme()).unwrap();
    let mut by_hand = Simulation::new(scene.build().unwrap(), DormandPrince::new(0.02)).unwrap();
    for run in [&mut from_file, &mut by_hand] {
        run.until(0.5, &mut ()).unwrap();
    }
    assert_eq!(from_file.state(), by_hand.state());
}

#[test]
fn overlaps_are_corrected_if_the_scene_says_so() {
    for (key, expected) in
        [("", false), ("position_correction = false", false), ("position_correction = true", true)]
    {
        let ball = "[materials.rock]\ndensity = 2500\n[[body]]\nname = \"ball\"\nmaterial = \"rock\"\n\
                    shape = { type = \"sphere\", radius = 1 }\n";
        let text = format!("{ball}[run]\ndt = \"1 ms\"\nuntil = \"1 s\"\n{key}\n");
        let file = SceneFile::parse(&text, "").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(file.moreau_jean().stabilization.overlaps, expected, "{key}");
    }
}
