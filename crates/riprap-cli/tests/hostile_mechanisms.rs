//! Mechanisms and joints that are syntactically valid but pathological: no command panics, every failure names its cause, scene errors
//! exit with code 2 and failed runs with code 1, and the files a run leaves behind are readable.

mod common;

use common::{Folder, code, stderr, stdout};

const RUN: &str = "[run]\ndt = \"1 ms\"\nuntil = \"0.3 s\"\nframes = false\n";
const SMOOTH: &str = "[run]\nscheme = \"dormand-prince\"\nuntil = \"0.3 s\"\nframes = false\n";
const ROCK: &str = "[materials.rock]\ndensity = 2000\nfriction = 0.5\n";
const FLOOR: &str = "[[body]]\nname = \"floor\"\nkind = \"fixed\"\nshape = { type = \"half-space\" }\nmaterial = \"rock\"\n";
const WALL: &str = "[[body]]\nname = \"wall\"\nkind = \"fixed\"\nmaterial = \"rock\"\nposition = [0.5, 0, 0]\n\
                    shape = { type = \"box\", size = [0.2, 1, 1] }\n";

/// A free ball.
fn nut(position: &str) -> String {
    format!(
        "[[body]]\nname = \"nut\"\nmaterial = \"rock\"\nposition = {position}\n\
         shape = {{ type = \"sphere\", radius = 0.05 }}\n"
    )
}

/// A mechanism of one body on one joint.
fn one(name: &str, body: &str, joint: &str) -> String {
    format!(
        "[[mechanism]]\nname = \"{name}\"\n[[mechanism.body]]\nname = \"tip\"\n{body}\n\
         [[mechanism.joint]]\nname = \"move\"\nchild = \"tip\"\n{joint}\n"
    )
}

const BLOCK: &str =
    "shapes = [{ shape = { type = \"box\", size = [0.2, 0.2, 0.2] }, material = \"rock\" }]";

/// A block that slides along an axis.
fn ram(name: &str, axis: &str, rest: &str) -> String {
    one(name, BLOCK, &format!("type = \"prismatic\"\naxis = \"{axis}\"\n{rest}"))
}

/// A pendulum of 1 kg and 1 m, with further keys of its joint.
fn pendulum(rest: &str) -> String {
    let joint = format!("type = \"revolute\"\naxis = \"y\"\n{rest}");
    one("arm", "mass = 1\ncentre = [0, 0, -1]", &joint)
}

/// The pendulum with a force.
fn pushed(force: &str) -> String {
    let force = format!("[[mechanism.force]]\nname = \"culprit\"\n{force}\n");
    pendulum("start = 0.5") + &force
}

/// A four-bar linkage: lengths of ground, crank, coupler and rocker, the start of the crank, and guesses for the other joints.
fn four_bar(lengths: [f64; 4], crank: &str, guesses: [f64; 2]) -> String {
    let [ground, a, b, c] = lengths;
    let mut text = "[[mechanism]]\nname = \"bars\"\n".to_owned();
    for (name, length) in [("crank", a), ("coupler", b), ("rocker", c)] {
        let centre = 0.5 * length;
        text += &format!(
            "[[mechanism.body]]\nname = \"{name}\"\nmass = 1\ninertia = 0.05\ncentre = [{centre}, 0, 0]\n"
        );
    }
    for (name, parent, x, start) in [
        ("crank", "ground", 0.0, crank.to_owned()),
        ("coupler", "crank", a, format!("guess = {}", guesses[0])),
        ("rocker", "ground", ground, format!("guess = {}", guesses[1])),
    ] {
        text += &format!(
            "[[mechanism.joint]]\nname = \"{name}\"\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"{name}\"\n\
             axis = \"-y\"\nposition = [{x}, 0, 0]\n{start}\n"
        );
    }
    text + &format!(
        "[[mechanism.loop]]\nname = \"pin\"\ntype = \"pin\"\naxis = \"y\"\n\
         a = {{ body = \"coupler\", position = [{b}, 0, 0] }}\nb = {{ body = \"rocker\", position = [{c}, 0, 0] }}\n"
    )
}

/// A chain of four links attached to the ground, each initially rotated relative to the previous one.
fn snake(start: f64) -> String {
    let mut text = "[[mechanism]]\nname = \"snake\"\n".to_owned();
    for k in 0..4 {
        let (parent, x) =
            if k == 0 { ("ground".into(), 0.0) } else { (format!("link{}", k - 1), 0.4) };
        text += &format!(
            "[[mechanism.body]]\nname = \"link{k}\"\nshapes = [{{ shape = {{ type = \"box\", size = [0.3, 0.05, 0.05] }}, \
             material = \"rock\", position = [0.2, 0, 0] }}]\n[[mechanism.joint]]\nname = \"joint{k}\"\ntype = \"revolute\"\n\
             parent = \"{parent}\"\nchild = \"link{k}\"\nposition = [{x}, 0, 0]\naxis = \"y\"\nstart = {start}\n\
             start_velocity = {}\n",
            if k % 2 == 0 { 3 } else { 0 }
        );
    }
    text
}

/// Runs every command on a scene. `ends` is the expected exit code of `run`; `check` must exit with 2 if that is 2, otherwise with 0.
/// The standard error of `run` must contain all texts of `says`.
#[track_caller]
fn expect(name: &str, scene: &str, ends: i32, says: &[&str]) {
    let folder = Folder::new(&format!("hostile-{name}"));
    folder.write("scene.toml", scene);
    folder.write("massless.urdf", URDF.replace("MASS", "0"));
    folder.write("thin.urdf", URDF.replace("MASS", "1"));
    let run = folder.riprap(&["run", "scene.toml", "--out", "o"]);
    let error = stderr(&run);
    assert_eq!(code(&run), Some(ends), "{name}: {error}");
    for words in says {
        assert!(error.contains(words), "{name}: no `{words}` in:\n{error}");
    }
    let check = folder.riprap(&["check", "scene.toml"]);
    assert_eq!(code(&check), Some(if ends == 2 { 2 } else { 0 }), "{name}: {}", stderr(&check));
    for command in ["equilibrium", "modes"] {
        let output = folder.riprap(&[command, "scene.toml"]);
        let (code, error) = (code(&output), stderr(&output));
        match code {
            Some(0) => assert!(!stdout(&output).is_empty(), "{name}: {command} says nothing"),
            Some(1) => assert!(error.contains("error: mechanism `"), "{name}: {command}: {error}"),
            Some(2) => {
                assert!(
                    ends == 2 || !scene.contains("[[mechanism]]"),
                    "{name}: {command}: {error}"
                );
            }
            _ => panic!("{name}: {command} ended with {code:?}: {error}"),
        }
    }
    if ends == 2 {
        assert!(!folder.names().contains(&"o".to_owned()), "{name}: a folder was left behind");
        return;
    }
    let summary: serde_json::Value = serde_json::from_str(&folder.read("o/summary.json")).unwrap();
    assert_eq!(summary["state"], if ends == 0 { "finished" } else { "failed" }, "{name}");
    let series = folder.read("o/series.csv");
    let width = |line: &str| line.split(',').count();
    let n = width(series.lines().next().unwrap());
    assert!(series.lines().count() > 1 && series.lines().all(|line| width(line) == n), "{name}");
    // A run can be repeated from its own folder.
    let again = folder.riprap(&["check", "o/scene.toml"]);
    assert_eq!(code(&again), Some(0), "{name}: {}", stderr(&again));
}

const URDF: &str = "<robot name=\"z\"><link name=\"base\"/><link name=\"arm\"><inertial><mass value=\"MASS\"/>\
    <inertia ixx=\"0\" ixy=\"0\" ixz=\"0\" iyy=\"0\" iyz=\"0\" izz=\"0\"/></inertial></link>\
    <joint name=\"elbow\" type=\"revolute\"><parent link=\"base\"/><child link=\"arm\"/><axis xyz=\"0 1 0\"/>\
    <limit effort=\"1\" velocity=\"1\"/></joint></robot>";

#[test]
fn loops_that_cannot_be_closed_are_named() {
    let short = four_bar([3.0, 0.35, 0.9, 0.7], "guess = 0.8", [-0.3, 1.8]);
    expect("short", &format!("{RUN}{short}"), 2, &["loop `pin` cannot be closed", "1 error"]);
    let flat = four_bar([1.0, 0.5, 1.0, 0.5], "start = 0", [0.0, 0.0]);
    expect("flat", &format!("{RUN}{flat}"), 2, &["the loops `pin` do not determine", "`bars`"]);
    let apart = four_bar([1.0, 0.75, 0.8, 0.9], "motion = \"0.8 + 8*t\"", [-0.3, 1.8]);
    expect("apart", &format!("{RUN}{apart}"), 1, &["loop `pin` did not close at t = 0.23"]);
    expect("smoothly-apart", &format!("{SMOOTH}{apart}"), 1, &["t = 0.23"]);
}

#[test]
fn bodies_without_inertia_are_named() {
    let slide = "type = \"prismatic\"\naxis = \"z\"";
    let turn = "type = \"revolute\"\naxis = \"z\"";
    let words = ["mechanism `arm`", "`move`", "1 error"];
    expect("massless", &format!("{RUN}{}", one("arm", "mass = 0", slide)), 2, &words);
    let sprung = one("arm", "mass = 0", &format!("{slide}\nspring = {{ stiffness = 100 }}"));
    expect("sprung", &format!("{RUN}{sprung}"), 2, &words);
    expect("thin", &format!("{RUN}{}", one("arm", "mass = 1", turn)), 2, &["an inertia", "`move`"]);
    let point = one("arm", "mass = 1", "type = \"free\"");
    expect("point", &format!("{RUN}{point}"), 2, &["`move.wx`"]);
    for file in ["massless", "thin"] {
        let urdf = format!("{RUN}[[mechanism]]\nname = \"arm\"\nurdf = \"{file}.urdf\"\n");
        expect(&format!("urdf-{file}"), &urdf, 2, &["`elbow`", "scene.toml:7"]);
    }
}

#[test]
fn force_laws_that_are_not_finite_are_named() {
    let root = "coordinate = \"move\"\nlaw = \"sqrt(0.1 - t)\"";
    let words = ["mechanism `arm`: `move` is not finite at t = 0.1", "force `culprit` is NaN"];
    expect("root", &format!("{RUN}{}", pushed(root)), 1, &words);
    expect("smooth-root", &format!("{SMOOTH}{}", pushed(root)), 1, &words);
    let on_body = "body = \"tip\"\nforce = [0, 0, \"sqrt(0.1 - t)\"]";
    expect("root-on-body", &format!("{RUN}{}", pushed(on_body)), 1, &words);
    let zero = "coordinate = \"move\"\nlaw = \"1/(q.move - 0.5)\"";
    expect("zero", &format!("{RUN}{}", pushed(zero)), 1, &["force `culprit` is inf at t = 0.0"]);
    let pole = "coordinate = \"move\"\nlaw = \"1/(t - 0.1)\"";
    expect("pole", &format!("{SMOOTH}{}", pushed(pole)), 1, &["at t = 0.100000 s"]);
    let latched = "coordinate = \"move\"\nphases = [{ law = 1, until = 0.1 }, \
                   { latch = { x = \"1/(0*v.move)\" }, law = \"x\" }]";
    expect("latched", &format!("{RUN}{}", pushed(latched)), 1, &["force `culprit` is"]);
    let runaway = "coordinate = \"move\"\nlaw = \"1e3*v.move^3 + 1\"";
    expect("runaway", &format!("{RUN}{}", pushed(runaway)), 1, &["`culprit`"]);
    let root = pendulum("motion = \"sqrt(0.1 - t)\"");
    expect("motion", &format!("{RUN}{root}"), 2, &["`motion` is NaN at t = 0.3 s"]);
    let gap = pendulum("motion = \"sqrt((t - 0.1)*(t - 0.2))\"");
    expect("gap", &format!("{RUN}{gap}"), 1, &["motion of `move` is"]);
}

#[test]
fn runs_with_phases_that_switch_at_every_step_finish() {
    let phases = (0..60).map(|k| {
        let (law, sign) = if k % 2 == 0 { (100, '>') } else { (-100, '<') };
        format!("{{ law = {law}, until = \"v.move {sign} 0\" }}")
    });
    let phases: Vec<String> = phases.collect();
    let flip = pushed(&format!("coordinate = \"move\"\nphases = [{}]", phases.join(", ")));
    expect("flip", &format!("{RUN}{flip}"), 0, &[]);
    expect("smooth-flip", &format!("{SMOOTH}{flip}"), 0, &[]);
    // A condition that is NaN does not hold.
    let never =
        "coordinate = \"move\"\nphases = [{ law = 1, until = \"sqrt(0.1 - t) > 5\" }, { law = 2 }]";
    expect("never", &format!("{RUN}{}", pushed(never)), 0, &[]);
}

#[test]
fn stiff_springs_and_stops_run_or_fail_with_an_explanation() {
    let spring = pendulum("start = 0.5\nspring = { stiffness = 1e9 }");
    expect("stiff", &format!("{SMOOTH}{spring}"), 0, &[]);
    expect("too-stiff", &format!("{RUN}{spring}"), 1, &["`move` is not finite", "smaller dt"]);
    let stops = "stops = { lower = -1, upper = 1, stiffness = 1e9 }";
    let hit = pendulum(&format!("start_velocity = 100\n{stops}"));
    expect("hit", &format!("{SMOOTH}{hit}"), 0, &[]);
    expect("hit-hard", &format!("{RUN}{hit}"), 1, &["`move` is not finite", "smaller dt"]);
}

#[test]
fn prescribed_mechanisms_push_bodies_in_their_way() {
    let push = ram("arm", "x", "motion = \"3*t\"");
    // Neither can yield, so they pass through each other, like a moving body and a wall.
    expect("through-wall", &format!("{RUN}{ROCK}{push}{WALL}"), 0, &[]);
    let between = nut("[0.3, 0, 0]");
    expect(
        "crush",
        &format!("{RUN}{ROCK}{push}{WALL}{between}"),
        0,
        &["warning: bodies overlapped"],
    );
    let shaken = ram("table", "z", "motion = \"0.1*sin(20*t)\"");
    expect("shaken", &format!("{RUN}{ROCK}{shaken}{}", nut("[0.05, 0, 0.16]")), 0, &[]);
}

#[test]
fn mechanisms_collide_with_grains_each_other_and_themselves() {
    let bed = "[[grains]]\nname = \"bed\"\nmaterial = \"rock\"\nshape = { type = \"sphere\", radius = 0.05 }\n\
               generator = \"lattice\"\ncounts = [4, 4, 2]\nspacing = [0.101, 0.101, 0.101]\n\
               origin = [-0.15, -0.15, 0.051]\n";
    let hammer = ram("hammer", "z", "start = 0.5\nstart_velocity = -20");
    expect("hammer", &format!("{RUN}{ROCK}{FLOOR}{hammer}{bed}"), 0, &[]);
    let left = ram("left", "x", "start = -0.3\nstart_velocity = 50");
    let right = ram("right", "x", "start = 0.3\nstart_velocity = -50");
    expect("collide", &format!("{RUN}{ROCK}{left}{right}"), 0, &[]);
    let (left, right) = (ram("left", "x", "start = -0.05"), ram("right", "x", "start = 0.05"));
    let words = ["`left/tip` and `right/tip` overlap", "1 error"];
    expect("overlap", &format!("{RUN}{ROCK}{left}{right}"), 2, &words);
    let long = RUN.replace("0.3 s", "2 s");
    expect("snake", &format!("{long}{ROCK}{}", snake(0.0)), 0, &[]);
    expect("knot", &format!("{RUN}{ROCK}{}", snake(2.09)), 2, &["`snake/link0` and `snake/link3`"]);
}

#[test]
fn extreme_masses_distances_and_steps_give_a_result_or_an_explanation() {
    let still = pendulum("start = 0.5");
    expect("weightless", &format!("gravity = [0, 0, 0]\n{RUN}{still}"), 0, &[]);
    let ball = |mass: &str| {
        format!(
            "mass = {mass}\ninertia = {mass}\nshapes = [{{ shape = {{ type = \"sphere\", radius = 0.1 }}, material = \"rock\" }}]"
        )
    };
    let fall = "type = \"free\"\nstart_position = [0, 0, 0.3]";
    for mass in ["1e12", "1e-12"] {
        let scene =
            format!("{RUN}{ROCK}{FLOOR}{}{}", one("arm", &ball(mass), fall), nut("[0, 0, 0.05]"));
        expect(&format!("mass-{mass}"), &scene, 0, &[]);
    }
    let far = one("arm", BLOCK, "type = \"free\"\nstart_position = [1e12, 0, 1e12]");
    expect("far", &format!("{RUN}{ROCK}{FLOOR}{far}"), 0, &[]);
    let slow = RUN.replace("1 ms", "10 s").replace("0.3 s", "1000 s");
    expect("huge-step", &format!("{slow}{still}"), 0, &[]);
    let held = one("arm", "mass = 1\ninertia = 1", "type = \"fixed\"");
    expect("nothing-moves", &format!("{RUN}{held}"), 0, &[]);
}

#[test]
fn joints_between_bodies_that_cannot_hold_are_reported() {
    let held = nut("[0, 0, 0]")
        + "[[joint]]\ntype = \"weld\"\nbetween = [\"world\", \"nut\"]\nposition = [0, 0, 0]\n";
    let mover = "[[joint]]\ntype = \"weld\"\nbetween = [\"mover\", \"nut\"]\nposition = [0, 0, 0]\n[[body]]\nname = \"mover\"\n\
                 kind = \"moving\"\nmaterial = \"rock\"\nshape = { type = \"sphere\", radius = 0.05 }\nposition = [1, 0, 0]\n\
                 [body.motion]\nvelocity = [1, 0, 0]\n";
    for project in ["false", "true"] {
        let scene = format!("{RUN}{ROCK}{held}project = {project}\n{mover}");
        expect(&format!("pulled-{project}"), &scene, 0, &["warning: joints", "contradict"]);
    }
    let spun = nut("[0, 0, 0]")
        + "angular_velocity = [1e4, 1e3, 0]\n[[joint]]\ntype = \"ball\"\nbetween = [\"nut\", \"world\"]\n\
           position = [1000, 0, 0]\nproject = true\n";
    expect("far-joint", &format!("{RUN}{ROCK}{spun}"), 0, &[]);
}
