//! Forces as laws of time and state, servos and stop conditions in scene files.

mod mistakes;

use mistakes::scenes::*;
use mistakes::{Case, check};
use riprap::prelude::*;
use riprap_io::scene_file::SceneFile;

fn scene() -> SceneFile {
    SceneFile::read("tests/data/controls.toml").unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn laws_and_servos_of_a_scene_file_act_as_written() {
    let file = scene();
    let mut run = Simulation::new(file.build().unwrap().scene, file.scheme()).unwrap();
    let body = |name: &str| run.scene().body(name).unwrap();
    let [bob, plate, ram, vane] = ["bob", "plate", "ram", "vane"].map(body);
    run.until(0.1, &mut ()).unwrap();
    // −k x − 2 vx from rest at 0.3 m, and a constant force along y.
    let mass = run.scene().bodies().mass[run.scene().slot(bob)];
    let (k, decay) = (80.0, 1.0 / mass);
    let own = (k / mass - decay * decay).sqrt();
    let (sin, cos) = (own * 0.1_f64).sin_cos();
    let exact = 0.3 * (-decay * 0.1_f64).exp() * (cos + decay / own * sin);
    assert!((run.pose(bob).position.x - exact).abs() < 1e-6);
    assert!((run.pose(bob).position.y - 0.5 * 3.0 / mass * 0.01).abs() < 1e-9);
    // 400 N on 6.24 kg reach the limit of 0.1 m/s at once.
    assert!((run.velocity(plate).linear.z + 0.1).abs() < 1e-9);
    assert!((run.velocity(ram).linear.y - 5.0 / 3.0 * 0.1).abs() < 1e-12);
    assert_eq!(run.velocity(ram).linear.z, 0.0);
    run.until(1.0, &mut ()).unwrap();
    assert!((run.frame().contact_force(plate).z - 400.0).abs() < 1e-3);
    assert!((run.velocity(vane).angular.z - std::f64::consts::PI).abs() < 1e-9);
    let press = &run.state().mechanisms[0];
    assert!((press.v[0] - 0.1).abs() < 1e-9 && (press.v[1] - 1.0).abs() < 1e-9, "{:?}", press.v);
}

#[test]
fn constant_forces_remain_what_they_were() {
    let text = |force: &str| format!("{START}{BALL}force = {force}\n");
    let build = |force: &str| {
        let file = SceneFile::parse(&text(force), ".").unwrap_or_else(|e| panic!("{e}"));
        file.build().unwrap().scene
    };
    for force in ["[1, 0, 3]", "[\"1 N\", 0, \"3e-3 kN\"]", "[\"2/2\", 0, \"6*0.5\"]"] {
        let scene = build(force);
        assert!(scene.loads().is_empty(), "{force}");
        assert_eq!(scene.bodies().force[0], Vec3::new(1.0, 0.0, 3.0), "{force}");
    }
    let scene = build("[\"t\", 2, 0]");
    assert_eq!((scene.loads().len(), scene.bodies().force[0].y), (1, 2.0));
}

#[test]
fn mistakes_in_laws_are_reported_with_their_column() {
    check(&[
        after_ball("unknown name", "force = [\"-k*x\", 0, 0]", 11, "unknown variable `k`"),
        after_ball("unknown body", "force = [\"plate.z\", 0, 0]", 11, "unknown variable `plate.z`"),
        after_ball("no operator", "force = [\"2 x\", 0, 0]", 11, "unknown unit"),
        after_ball("wrong unit", "force = [\"2 m\", 0, 0]", 11, "expected a force"),
        after_ball("syntax", "force = [\"-vx*\", 0, 0]", 11, "`force`"),
        after_ball("not finite", "torque = [\"1/0\", 0, 0]", 11, "this is inf"),
        after_ball(
            "wrong dimension",
            "force = [\"k*x*x\", 0, 0]\n[parameters]\nk = \"10 N/m\"",
            11,
            "expected a force",
        ),
        after_ball(
            "a parameter named like a coordinate",
            "force = [\"-10*x\", 0, 0]\n[parameters]\nx = 3",
            11,
            "both a parameter and a coordinate",
        ),
    ]);
    let errors = SceneFile::parse(&format!("{START}{BALL}force = [0, 0, \"-80*z - 2*vv\"]\n"), ".");
    let errors = errors.unwrap_err();
    assert_eq!(errors.line_column(errors.problems[0].span.start), (11, 27));
}

#[test]
fn mistakes_in_servos_are_reported() {
    let servo = |name: &'static str, keys: &str, line, says| -> Case {
        let text = format!(
            "[[body]]\nname = \"plate\"\nkind = \"servo\"\nshape = {{ type = \"sphere\", radius = 0.1 }}\nmaterial = \"rock\"\n{keys}"
        );
        after_start(name, &text, line, says)
    };
    check(&[
        servo("no axis", "force = 1\nspeed = 1", 7, "`along` or `about` is missing"),
        servo("two axes", "along = \"z\"\nabout = \"z\"\nforce = 1\nspeed = 1", 13, "not both"),
        servo("no target", "along = \"z\"\nspeed = 1", 7, "no target"),
        servo("no speed", "along = \"z\"\nforce = 1", 7, "`speed` is missing"),
        servo("speed of zero", "along = \"z\"\nforce = 1\nspeed = 0", 14, "greater than 0"),
        servo("skew axis", "along = [1, 1, 0]\nforce = 1\nspeed = 1", 12, "[[mechanism]]"),
        servo(
            "torque along",
            "along = \"z\"\ntorque = 1\nforce = 1\nspeed = 1",
            13,
            "does not go with",
        ),
        servo(
            "force and stress",
            "along = \"z\"\nforce = 1\nstress = 1\narea = 1\nspeed = 1",
            14,
            "not both",
        ),
        servo(
            "stress without area",
            "along = \"z\"\nstress = 1\nspeed = 1",
            13,
            "needs the `area`",
        ),
        servo("wrong unit", "along = \"z\"\nforce = \"3 kPa\"\nspeed = 1", 13, "expected a force"),
        servo(
            "unknown name",
            "along = \"z\"\nforce = \"3*w\"\nspeed = 1",
            13,
            "unknown variable `w`",
        ),
        servo(
            "foreign key",
            "along = \"z\"\nforce = 1\nspeed = 1\nlocked = [\"x\"]",
            15,
            "it belongs to kind = \"free\"",
        ),
        servo(
            "flag",
            "along = \"z\"\nforce = 1\nspeed = 1\ncarries_weight = 1",
            15,
            "true or false",
        ),
    ]);
    let joint = |name: &'static str, keys: &str, line, says| -> Case {
        let text = format!(
            "[[mechanism]]\nname = \"m\"\n[[mechanism.body]]\nname = \"b\"\nmass = 1\n[[mechanism.joint]]\nname = \"j\"\ntype = \"prismatic\"\nchild = \"b\"\naxis = \"x\"\n{keys}"
        );
        after_start(name, &text, line, says)
    };
    check(&[
        joint("no speed", "servo = { force = 1 }", 17, "`speed` is missing"),
        joint("no force", "servo = { speed = 1 }", 17, "`force` is missing"),
        joint("torque", "servo = { force = 1, torque = 1, speed = 1 }", 17, "unknown key `torque`"),
        joint(
            "driven",
            "servo = { force = 1, speed = 1 }\nspeed = 2",
            17,
            "its motion is prescribed",
        ),
        joint(
            "unknown name",
            "servo = { force = \"q.k\", speed = 1 }",
            17,
            "unknown variable `q.k`",
        ),
    ]);
}

#[test]
fn mistakes_in_stop_conditions_are_found_when_the_scene_is_built() {
    let built = |stop: &str| {
        let text = START.replace("until", &format!("stop = \"{stop}\"\nuntil"));
        let file =
            SceneFile::parse(&format!("{text}{BALL}"), ".").unwrap_or_else(|e| panic!("{e}"));
        let errors = file.build().map(|_| ()).unwrap_err();
        assert_eq!(errors.line_column(errors.problems[0].span.start).0, 3, "{errors}");
        errors
    };
    for (stop, says, column) in [
        ("sped < 1", "did you mean `speed`?", 9),
        ("plate.force_mean_z > 3", "unknown variable `plate.force_mean_z`", 9),
        ("ball.q < 0", "unknown variable `ball.q`", 9),
        ("speed < 1 furlong", "unknown unit `furlong`", 19),
        ("speed < 1 for 3 m", "expected a time", 23),
        ("speed < 1 for", "`stop`", 22),
        ("speed < 1 for -1 s", "negative", 22),
        ("1 < 2", "never changes", 9),
        ("speed <", "`stop`", 16),
    ] {
        let errors = built(stop);
        let (_, found) = errors.line_column(errors.problems[0].span.start);
        let text = errors.to_string();
        assert!(text.contains(says), "{stop}: {text}");
        assert!(found.abs_diff(column) <= 1, "{stop}: column {found} {text}");
    }
}
