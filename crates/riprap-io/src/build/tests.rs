//! Scenes built from text: the scene of the simulator, and the locations of mistakes.

use super::*;
use riprap::simulation::Simulation;

const START: &str = "\
[run]
dt = \"1 ms\"
until = \"1 s\"
[materials.rock]
density = 2700
friction = 0.5
[[body]]
name = \"floor\"
kind = \"fixed\"
shape = { type = \"half-space\" }
material = \"rock\"
";

fn read(rest: &str) -> SceneFile {
    SceneFile::parse(&format!("{START}{rest}"), "tests/data").unwrap_or_else(|e| panic!("{e}"))
}

fn built(rest: &str) -> Built {
    read(rest).build().unwrap_or_else(|e| panic!("{e}"))
}

/// Line of the only mistake, and its message.
fn mistake(rest: &str) -> (usize, String) {
    let errors = read(rest).build().expect_err(rest);
    assert_eq!(errors.problems.len(), 1, "{errors}");
    (errors.line_column(errors.problems[0].span.start).0, errors.problems[0].message.clone())
}

const RAIN: &str = "\
[[grains]]
name = \"heap\"
material = \"rock\"
generator = \"rain\"
count = 20
box = { min = [-0.1, -0.1, 0], max = [0.1, 0.1, 1] }
";

#[test]
fn the_resolved_scene_has_a_bitwise_identical_initial_state() {
    let data = std::path::Path::new("tests/data");
    let text = std::fs::read_to_string(data.join("everything.toml")).unwrap();
    // The bodies of that file overlap; otherwise it is complete.
    let text = text.replace("position = [0, 0, \"1 + 0.1", "position = [9, 0, \"1 + 0.1");
    let text = text.replace("origin = [0, 0, 1]", "origin = [2, 2, 1]");
    let text = text.replace("max = [1, 1, 1]", "max = [9, 9, 9]");
    let text = text.replace("min = [0, 0, 0]", "min = [5, 5, 5]");
    let text = text.replace("normal = [0.1, 0, 1]", "normal = [0, 0, 1]");
    let text = text.replace("name = \"floor\"", "name = \"floor\"\nposition = [0, 0, -1]");
    let text = text.replace("name = \"wedge\"\n", "name = \"wedge\"\nposition = [0, 20, 0]\n");
    let text = text.replace("position = [1, 0, 1]", "position = [-3, 0, 1]");
    let text = text.replace(
        "min = [-0.5, -0.5, 0], max = [0.5, 0.5, 2]",
        "min = [-9, -9, 4], max = [-8, -8, 5]",
    );
    let text = text.replace("position = [0, 0, \"1 m\"]", "position = [0, 0, \"3 m\"]");
    let first = SceneFile::parse(&text, data).unwrap_or_else(|e| panic!("{e}"));
    let second = SceneFile::parse(&first.to_toml(), "/").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(first, second);
    let [first, second] = [first, second].map(|s| s.build().unwrap_or_else(|e| panic!("{e}")));
    assert_eq!(first.scene.initial_state(), second.scene.initial_state());
    assert_eq!(first.scene.bodies().mass, second.scene.bodies().mass);
    assert_eq!(first.scene.bodies().inertia, second.scene.bodies().inertia);
}

#[test]
fn grains_have_the_specified_sizes_names_and_positions() {
    let scene = built(&format!("{RAIN}spheres = {{}}\ngrading = {{ uniform = [0.02, 0.03] }}"));
    assert_eq!(scene.scene.bodies().len(), 21);
    assert_eq!(scene.scene.bodies().names[1], "heap-1");
    assert!(scene.groups[0].sizes.iter().all(|size| (0.02..=0.03).contains(size)));
    let state = scene.scene.initial_state();
    assert!(state.q[1..].iter().all(|q| q.position.x.abs() < 0.09 && q.position.z > 0.01));
    assert_eq!(scene.body(Target::Grain { group: 0, index: 4 }).0, 5);
}

#[test]
fn a_rained_shape_keeps_its_own_frame() {
    let points = "[[0, 0, 0], [0.04, 0, 0], [0, 0.04, 0], [0, 0, 0.04]]";
    let shape = format!("shape = {{ type = \"polyhedron\", points = {points} }}");
    let scene = built(&format!("{RAIN}{shape}")).scene;
    let state = scene.initial_state();
    for index in 1..scene.bodies().len() {
        // The whole stone is inside the column, although the origin of its frame is a corner.
        assert!(state.q[index].position.x.abs() + 0.03 < 0.1 + 1e-9);
    }
}

#[test]
fn a_planar_lattice_stays_in_its_plane() {
    let scene = SceneFile::read("tests/data/planar.toml").unwrap();
    let scene = SceneFile { bodies: Vec::new(), ..scene };
    let scene = scene.build().unwrap_or_else(|e| panic!("{e}")).scene;
    assert!(scene.is_planar());
    assert!(scene.initial_state().q.iter().all(|q| q.position.z == 0.0));
}

#[test]
fn mistakes_found_when_building_point_to_their_item() {
    let ball = |name: &str, z: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nshape = {{ type = \"sphere\", radius = 0.1 }}\n\
             material = \"rock\"\nposition = [0, 0, {z}]\n"
        )
    };
    let (line, message) = mistake(&format!("{}{}", ball("a", 0.1), ball("b", 0.25)));
    assert_eq!(line, 17);
    assert!(message.contains("`a` and `b` overlap by 5.00e-2 m"), "{message}");
    let (line, message) = mistake("");
    assert!(line == 1 && message.contains("no body is free"), "{message}");
    let wide = RAIN.replace("0.1", "0.001");
    let (line, message) =
        mistake(&format!("{wide}spheres = {{}}\ngrading = {{ uniform = [0.02, 0.03] }}"));
    assert!(line == 12 && message.contains("grains `heap`: grain 1 needs"), "{message}");
}

#[test]
fn a_scene_too_large_for_the_machine_is_rejected_immediately() {
    let many = RAIN.replace("count = 20", "count = 10000000");
    let scene = read(&format!("{many}stones = {{}}\ngrading = \"EN 13450 31.5-50\""));
    let errors = scene.build_within(8 << 30).unwrap_err();
    let message = &errors.problems[0].message;
    assert!(message.contains("10000000 grains need about 150 GiB"), "{message}");
    assert_eq!(errors.line_column(errors.problems[0].span.start).0, 12);
}

#[test]
fn settling_brings_grains_to_rest_and_holds_everything_else() {
    let text = format!(
        "{RAIN}spheres = {{}}\ngrading = {{ uniform = [0.02, 0.03] }}\n\
         settle = {{ speed = 0.01, at_most = 5 }}\n\
         [[body]]\nname = \"ball\"\nshape = {{ type = \"sphere\", radius = 0.1 }}\nmaterial = \"rock\"\n\
         position = [0, 0, 2]\nvelocity = [0, 0, -3]"
    );
    let scene = read(&text);
    let built = scene.build().unwrap_or_else(|e| panic!("{e}"));
    let settling = built.settling.clone().expect("a plan");
    let settled =
        settling.run(&built.scene, scene.moreau_jean(), scene.on_unconverged(), &mut ()).unwrap();
    assert!(settled.calm && settled.time < 5.0, "{settled:?}");
    let ball = built.scene.slot(built.scene.body("ball").unwrap());
    assert_eq!(settled.state.q[ball].position.z, 2.0);
    assert_eq!(settled.state.v[ball].linear.z, -3.0);
    assert_eq!((settled.state.t, settled.state.step), (0.0, 0));
    let mut run = Simulation::new(built.scene, scene.scheme()).unwrap();
    run.set_state(settled.state).unwrap();
    run.until(0.05, &mut ()).unwrap();
    let slow = built.groups[0].bodies.clone().all(|i| run.state().v[i].linear.norm() < 0.02);
    assert!(slow);
}

#[test]
fn spheres_that_roll_forever_settle_with_drag() {
    let calm = |drag: &str| {
        let heap = RAIN.replace("count = 20", "count = 60");
        let scene = read(&format!(
            "{heap}spheres = {{}}\ngrading = {{ uniform = [0.02, 0.03] }}\n\
             settle = {{ speed = 1e-5, at_most = 4, drag = \"{drag}\" }}\n"
        ));
        let built = scene.build().unwrap_or_else(|e| panic!("{e}"));
        let settling = built.settling.expect("a plan");
        let run = settling.run(&built.scene, scene.moreau_jean(), scene.on_unconverged(), &mut ());
        run.unwrap().calm
    };
    assert!(!calm("0 1/s"));
    assert!(calm("20 1/s"));
}

const ROCKER: &str = "\
[[mechanism]]
name = \"rocker\"
[[mechanism.body]]
name = \"bar\"
mass = 1
inertia = 0.1
shapes = [{ shape = { type = \"box\", size = [1, 0.1, 0.1] }, material = \"rock\" }]
[[mechanism.joint]]
name = \"tilt\"
type = \"revolute\"
child = \"bar\"
axis = \"y\"
position = [0, 0, 1]
";

#[test]
fn mistakes_in_mechanisms_point_to_their_parts() {
    let far =
        "[[mechanism.loop]]\ntype = \"ball\"\na = { body = \"bar\" }\nb = { body = \"ground\" }\n";
    let (line, message) = mistake(&format!("{ROCKER}{far}"));
    assert!(line == 25 && message.contains("cannot be closed at the start"), "{line} {message}");
    let light = ROCKER.replace("mass = 1\ninertia = 0.1", "mass = 0");
    let (line, message) = mistake(&light);
    assert!(line == 18 && message.contains("nothing with a mass"), "{line} {message}");
    let deep = ROCKER.replace("[0, 0, 1]", "[0, 0, 0.02]");
    let (line, message) = mistake(&deep);
    assert!(line == 15 && message.contains("`rocker/bar` overlap"), "{line} {message}");
}

#[test]
fn a_mechanism_waits_for_grains_to_settle() {
    let settling = format!(
        "{RAIN}settle = {{ speed = 0.01, at_most = 0.5 }}\nspheres = {{}}\ngrading = {{ uniform = [0.05, 0.06] }}\n{}",
        ROCKER.replace("axis = \"y\"", "axis = \"x\"").replace("[0, 0, 1]", "[0, 0, 0.1]")
    );
    let text = format!("{START}{settling}").replace("[-0.1, -0.1, 0]", "[-0.1, -0.1, 0.15]");
    let scene = SceneFile::parse(&text, ".").unwrap_or_else(|e| panic!("{e}"));
    let mut built = scene.build().unwrap_or_else(|e| panic!("{e}"));
    let begin = built.scene.initial_state();
    let settling = built.settling.take().unwrap();
    let settled =
        settling.run(&built.scene, scene.moreau_jean(), scene.on_unconverged(), &mut ()).unwrap();
    assert_eq!(settled.state.mechanisms, begin.mechanisms);
    let lowest = (1..21).map(|i| settled.state.q[i].position.z).fold(1.0, f64::min);
    assert!(lowest > 0.02, "{lowest}");
    let mut run = Simulation::new(built.scene, scene.scheme()).unwrap();
    run.set_state(settled.state).unwrap();
    run.until(0.01, &mut ()).unwrap();
}

const SLIDER: &str = "\
[[mechanism]]
name = \"slider\"
[[mechanism.body]]
name = \"block\"
mass = 1
inertia = 0.1
shapes = [{ shape = { type = \"box\", size = [0.4, 0.1, 0.1] }, material = \"rock\" }]
[[mechanism.joint]]
name = \"slide\"
type = \"planar\"
child = \"block\"
axes = [\"x\", \"z\"]
start = [0, 1, 0.01]
[[point_contact]]
point = { body = \"slider/block\", position = [-0.2, 0, -0.05] }
plane = { body = \"world\", position = [0, 0, 0.9], normal = \"z\" }
[[point_contact]]
name = \"right\"
point = { body = \"slider/block\", position = [0.2, 0, -0.05] }
plane = { body = \"world\", position = [0, 0, 0.9], normal = \"z\" }
friction = 0.1
";

#[test]
fn contact_points_come_to_rest_on_their_planes() {
    let scene = read(SLIDER);
    let again = SceneFile::parse(&scene.to_toml(), "/").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene, again);
    let mut run = Simulation::new(scene.build().unwrap().scene, scene.scheme()).unwrap();
    run.until(1.0, &mut ()).unwrap();
    let q = &run.state().mechanisms[0].q;
    // Both corners are on the plane at 0.9 m, and the centre is 5 cm above it.
    assert!((q[1] - 0.95).abs() < 1e-5 && q[2].abs() < 1e-5, "{q:?}");
}

#[test]
fn bodies_with_ignored_contacts_pass_through_each_other() {
    let apart = "[[ignore_contact]]\nbetween = [\"slider/block\", \"floor\"]";
    let sunk = SLIDER.replace("[0, 1, 0.01]", "[0, 0.02, 0]").replace("0.9]", "-0.1]");
    let (_, message) = mistake(&sunk);
    assert!(message.contains("overlap"), "{message}");
    let scene = read(&format!("{sunk}{apart}"));
    let again = SceneFile::parse(&scene.to_toml(), "/").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene, again);
    let mut run = Simulation::new(scene.build().unwrap().scene, scene.scheme()).unwrap();
    run.until(0.5, &mut ()).unwrap();
    let height = run.state().mechanisms[0].q[1];
    assert!((height + 0.05).abs() < 1e-5, "{height}"); // through the floor, onto the plane at -0.1 m
}

const PENDULUM: &str = "\
[[body]]
name = \"rod\"
shape = { type = \"box\", size = [1, 0.1, 0.1] }
material = \"rock\"
position = [0.5, 0, 5]
[[body]]
name = \"bob\"
shape = { type = \"sphere\", radius = 0.1 }
material = \"rock\"
position = [1, 0, 5]
[[grains]]
name = \"far\"
material = \"rock\"
shape = { type = \"sphere\", radius = 0.1 }
generator = \"lattice\"
counts = [2, 1, 1]
spacing = [0.3, 1, 1]
origin = [5, 0, 5]
[[joint]]
name = \"pivot\"
type = \"hinge\"
between = [\"world\", \"rod\"]
position = [0, 0, 5]
axis = [0, 2, 0]
project = true
[[joint]]
type = \"weld\"
between = [\"rod\", \"bob\"]
position = [1, 0, 5]
[[joint]]
type = \"slider\"
between = [\"far-1\", \"world\"]
position = [5, 0, 5]
axis = \"x\"
[[joint]]
type = \"ball\"
between = [\"far-1\", \"far-2\"]
position = [5.15, 0, 5]
project = true
[[probe]]
joint = \"pivot\"
[[probe]]
name = \"end\"
joint = \"joint-2\"
quantities = [\"error\", \"torque\", \"force\"]
";

#[test]
fn joints_between_bodies_hold_and_are_read_back_identically() {
    let scene = read(PENDULUM);
    let again = SceneFile::parse(&scene.to_toml(), "/").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene, again);
    assert_eq!((&*scene.joints[3].name, scene.joints[3].project), ("joint-4", true));
    let built = scene.build().unwrap();
    assert!(riprap::assembly::joint_error(&built.scene, &built.scene.initial_state().q) < 1e-15);
    let mut run = Simulation::new(built.scene, scene.scheme()).unwrap();
    run.until(0.3, &mut ()).unwrap();
    let (rod, bob) = (run.state().q[1], run.state().q[2]);
    assert!(rod.point(Vec3::new(-0.5, 0.0, 0.0)).metric_distance(&Vec3::new(0.0, 0.0, 5.0)) < 1e-9);
    assert!(bob.position.z < 4.8 && bob.position.y.abs() < 1e-9, "{bob:?}"); // it swings about y
    // Without projection the bob drifts, but only slightly in a third of a second.
    assert!(rod.point(Vec3::new(0.5, 0.0, 0.0)).metric_distance(&bob.position) < 1e-3);
    // The slider holds the first grain, and the second is connected to it by a ball joint.
    assert!((run.state().q[3].position.z - 5.0).abs() < 1e-3);
    assert!(run.state().q[4].position.z < 4.9);
}

#[test]
fn a_wrong_choice_of_dependent_coordinates_is_the_only_error() {
    let text = r#"
        run = { dt = "1 ms", until = "0.1 s" }
        [[mechanism]]
        name = "arm"
        dependent = ["tail"]
        [[mechanism.body]]
        name = "upper"
        mass = 1
        [[mechanism.body]]
        name = "tail"
        mass = 1
        [[mechanism.joint]]
        name = "tail"
        type = "prismatic"
        child = "tail"
        axis = "x"
        [[mechanism.body]]
        name = "lower"
        mass = 1
        centre = [0.2, 0, 0]
        [[mechanism.joint]]
        name = "hip"
        type = "revolute"
        child = "upper"
        axis = "z"
        [[mechanism.joint]]
        name = "knee"
        type = "revolute"
        parent = "upper"
        child = "lower"
        position = [1, 0, 0]
        axis = "z"
        guess = 1
        [[mechanism.loop]]
        name = "rod"
        type = "rod"
        a = { body = "lower", position = [1, 0, 0] }
        b = { body = "ground", position = [2, 2, 0] }
        length = 2
    "#;
    let file = SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"));
    let told = file.build().unwrap_err();
    assert_eq!(told.problems.len(), 1, "{told}");
    assert!(!told.to_string().contains("no body is free to move"), "{told}");
    let one = text.replace("[\"tail\"]", "[\"hip\"]");
    assert!(SceneFile::parse(&one, ".").unwrap().build().is_ok());
}

#[test]
fn parameters_can_replace_values_and_frequencies_are_not_angular_velocities() {
    let text = r#"
        run = { dt = "tick", until = "100*tick" }
        [parameters]
        tick = "1 ms"
        omega = "30 rpm"
        f = "45 Hz"
        radius = "20 cm"
        mu = 0.25
        [materials.rock]
        friction = "2*mu"
        density = 1000
        [[body]]
        name = "ball"
        material = "rock"
        shape = { type = "sphere", radius = "radius" }
        angular_velocity = [0, 0, "omega"]
        [[mechanism]]
        name = "wheel"
        [[mechanism.body]]
        name = "disc"
        mass = 1
        inertia = 1
        [[mechanism.joint]]
        name = "axle"
        type = "revolute"
        child = "disc"
        axis = "z"
        start_velocity = "omega"
    "#;
    let file = SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"));
    let omega = std::f64::consts::PI;
    assert_eq!((file.run.dt, file.run.until), (1e-3, 0.1));
    assert_eq!(file.materials[0].friction, 0.5);
    let built = file.build().unwrap_or_else(|e| panic!("{e}"));
    assert!((built.scene.mechanisms()[0].start().v[0] - omega).abs() < 1e-15);
    for (from, to) in [
        ("start_velocity = \"omega\"", "start_velocity = \"f\""),
        ("start_velocity = \"omega\"", "speed = \"f\""),
        ("start_velocity = \"omega\"", "motion = \"f*t\""),
        ("[0, 0, \"omega\"]", "[0, 0, \"f\"]"),
    ] {
        let told = SceneFile::parse(&text.replace(from, to), ".").unwrap_err().to_string();
        assert!(told.contains("`f` is a frequency in Hz") && told.contains("2*pi*f"), "{told}");
    }
    let right = text.replace("start_velocity = \"omega\"", "motion = \"2*pi*f*t\"");
    SceneFile::parse(&right, ".").unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn excessive_coordinates_are_rejected_with_a_specific_message() {
    let text = r#"
        run = { dt = 1e-3, until = 1 }
        materials.rock = { density = 1000 }
        [[body]]
        material = "rock"
        shape = { type = "polyhedron", points = [[0,0,0], [1e200,0,0], [0,1e200,0], [0,0,1e200]] }
    "#;
    let told = SceneFile::parse(text, ".").unwrap_err().to_string();
    assert!(told.contains("lengths and coordinates must not exceed 1e12 m"), "{told}");
    assert!(told.contains("`points` is 1e200 m") && !told.contains("plane"), "{told}");
}
