//! Invalid input, end to end: exit code 2, a message at the right place, no panic, and no files left behind.

mod common;

use common::{Folder, code, stderr};

/// The first six lines of most scenes below; the rest starts at line 7.
const START: &str = "\
[run]
dt = \"1 ms\"
until = \"1 s\"
[materials.rock]
density = 2700
friction = 0.5
";

/// A body on lines 7 to 10.
const BALL: &str = "\
[[body]]
name = \"ball\"
shape = { type = \"sphere\", radius = 0.1 }
material = \"rock\"
";

/// Grains on lines 7 to 11, without count, shape and column.
const HEAP: &str = "\
[[grains]]
name = \"heap\"
material = \"rock\"
generator = \"rain\"
seed = 1
";

const COLUMN: &str = "box = { min = [0, 0, 0], max = [1, 1, 1] }\n";

/// Name, scene text, line of the error, part of the message.
type Case = (&'static str, String, usize, &'static str);

/// A scene with `text` from line 7 on.
fn scene(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    (name, format!("{START}{text}"), line, says)
}

/// A scene with a ball, and `text` from line 11 on.
fn after_ball(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    scene(name, &format!("{BALL}{text}"), line, says)
}

/// A scene with grains, and `text` from line 12 on.
fn heap(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    scene(name, &format!("{HEAP}{text}"), line, says)
}

/// The start with one line replaced, and a ball.
fn instead(name: &'static str, line: usize, with: &str, says: &'static str) -> Case {
    let mut lines: Vec<&str> = START.lines().collect();
    lines[line - 1] = with;
    (name, format!("{}\n{BALL}", lines.join("\n")), line, says)
}

/// A ball whose shape, on line 9, is replaced.
fn shape(name: &'static str, shape: &str, says: &'static str) -> Case {
    let ball = BALL.replace("{ type = \"sphere\", radius = 0.1 }", shape);
    scene(name, &ball, 9, says)
}

fn cases() -> Vec<Case> {
    [whole_text(), keys_and_quantities(), names(), shapes_and_bodies(), grains()].concat()
}

fn whole_text() -> Vec<Case> {
    vec![
        ("only comments", "# nothing\n".into(), 1, "the scene file is empty"),
        ("no value", "[run]\ndt = \n".into(), 2, "not valid TOML"),
        ("open text", "[run]\ndt = \"1 ms\n".into(), 2, "not valid TOML"),
        ("key twice", "[run]\ndt = 1\ndt = 2\n".into(), 3, "duplicate key"),
        scene("nothing in it", "", 1, "nothing to simulate"),
        (
            "two errors",
            START.replace("friction", "fricton").replace("2700", "-1") + BALL,
            6,
            "2 errors",
        ),
    ]
}

fn keys_and_quantities() -> Vec<Case> {
    vec![
        instead("misspelt key", 6, "fricton = 0.5", "did you mean `friction`?"),
        instead("foreign key", 6, "colour = \"red\"", "known keys"),
        instead("misspelt table", 1, "sover = 1\n[run]", "did you mean `solver`?"),
        instead("text for a number", 6, "friction = \"0.5\"", "without quotes"),
        instead("flag for a number", 6, "friction = true", "number"),
        after_ball("text for a vector", "position = \"above\"", 11, "position"),
        after_ball("two components", "position = [0, 1]", 11, "3"),
        after_ball("word not known", "kind = \"fluid\"", 11, "free"),
        instead("wrong unit", 2, "dt = \"1 kg\"", "a time"),
        instead("unknown unit", 2, "dt = \"1 jiffy\"", "jiffy"),
        instead("not a number", 2, "dt = nan", "finite"),
        instead("infinite", 3, "until = inf", "finite"),
        instead("negative time step", 2, "dt = -1e-3", "greater than 0"),
        instead("no time step", 2, "dt = 0", "greater than 0"),
        instead(
            "end before the first step",
            3,
            "until = \"1 us\"",
            "before the end of the first step",
        ),
        instead("too many steps", 2, "dt = 1e-12", "steps"),
        instead("theta", 3, "until = 1\ntheta = 0.1\n", "between 0.5 and 1").at(4),
        instead("negative density", 5, "density = -1", "greater than 0"),
        instead("negative friction", 6, "friction = -0.1", "at least 0"),
        instead("negative rolling resistance", 6, "rolling = \"-1 mm\"", "at least 0"),
        instead("rolling resistance without a length", 6, "rolling = \"1 kg\"", "a length"),
        instead("restitution above 1", 6, "restitution = 1.5", "between 0 and 1"),
    ]
}

fn names() -> Vec<Case> {
    vec![
        after_ball(
            "unknown material",
            "[[body]]\nmaterial = \"rok\"\nshape = { type = \"sphere\", radius = 1 }",
            12,
            "did you mean `rock`?",
        ),
        shape("unknown shape", "\"brick\"", "brick"),
        after_ball("same name", BALL, 12, "used twice"),
        after_ball(
            "unknown body of a probe",
            "[[probe]]\nbody = \"bal\"",
            12,
            "did you mean `ball`?",
        ),
        after_ball(
            "pair of unknown",
            "[[pair]]\nbetween = [\"rock\", \"ice\"]",
            12,
            "no material `ice`",
        ),
        after_ball(
            "quasi-shock rebounds",
            "[[pair]]\nbetween = [\"rock\", \"rock\"]\nrestitution = 0.5\nlaw = \"quasi-shock\"",
            14,
            "restitution",
        ),
    ]
}

fn shapes_and_bodies() -> Vec<Case> {
    let twin = BALL.replace("ball", "twin");
    let flat = "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]";
    vec![
        shape("no radius", "{ type = \"sphere\" }", "radius"),
        shape("negative radius", "{ type = \"sphere\", radius = -1 }", "greater than 0"),
        shape("flat hull", &format!("{{ type = \"polyhedron\", points = {flat} }}"), "coplanar"),
        shape(
            "three points",
            "{ type = \"polyhedron\", points = [[0,0,0],[1,0,0],[0,1,0]] }",
            "at least 4",
        ),
        shape("free half-space", "{ type = \"half-space\" }", "cannot be a free body"),
        shape("zero normal", "{ type = \"half-space\", normal = [0, 0, 0] }", "zero"),
        shape("missing mesh", "{ type = \"mesh\", file = \"no.stl\" }", "no.stl"),
        shape(
            "mesh of another kind",
            "{ type = \"mesh\", file = \"scene.toml\" }",
            ".stl, .obj or .ply",
        ),
        shape("disc in space", "{ type = \"disc\", radius = 1 }", "planar"),
        shape("empty compound", "{ type = \"compound\", parts = [] }", "at least one item"),
        after_ball("negative mass", "mass = -1", 11, "greater than 0"),
        after_ball(
            "inertia of no body",
            "mass = 1\ninertia = [1, 1, 5]",
            12,
            "sum of the other two",
        ),
        after_ball("motion missing", "kind = \"moving\"", 7, "motion"),
        after_ball(
            "bad expression",
            "kind = \"moving\"\nmotion = { velocity = [0, 0, \"sin(\"] }",
            12,
            "",
        ),
        after_ball("no free body", "kind = \"fixed\"", 1, "no body is free to move"),
        after_ball("overlapping balls", &twin, 11, "`ball` and `twin` overlap"),
    ]
}

fn grains() -> Vec<Case> {
    let lattice = "[[grains]]\nmaterial = \"rock\"\ngenerator = \"lattice\"\ncounts = [3, 3, 3]\n\
                   spacing = [0.1, 0.1, 0.1]\nspheres = {}\ngrading = { uniform = [0.2, 0.2] }\n";
    let spheres = "spheres = {}\ngrading = { uniform = [0.02, 0.03] }\n";
    vec![
        heap("a billion grains", &format!("{spheres}count = 1000000000\n{COLUMN}"), 14, "10000000"),
        heap("no grains", &format!("{spheres}count = 0\n{COLUMN}"), 14, "count"),
        heap("no shape", &format!("count = 5\n{COLUMN}"), 7, "no shape"),
        heap("no grading", &format!("stones = {{}}\ncount = 5\n{COLUMN}"), 12, "grading"),
        heap(
            "unknown grading",
            &format!("stones = {{}}\ngrading = \"EN 1\"\ncount = 5\n{COLUMN}"),
            13,
            "EN 13450",
        ),
        heap(
            "falling sieve curve",
            &format!(
                "stones = {{}}\ngrading = {{ sieves = [0.01, 0.02, 0.03], passing = [0, 60, 50] }}\ncount = 5\n{COLUMN}"
            ),
            13,
            "must not decrease",
        ),
        heap(
            "empty column",
            &format!("{spheres}count = 5\nbox = {{ min = [0, 0, 0], max = [1, -1, 1] }}"),
            15,
            "empty along y",
        ),
        heap(
            "column too narrow",
            &format!("{spheres}count = 5\nbox = {{ min = [0, 0, 0], max = [1, 0.01, 1] }}"),
            7,
            "wide along y",
        ),
        heap(
            "stones out of range",
            &format!(
                "stones = {{ flatness = 3 }}\ngrading = \"EN 13450 31.5-50\"\ncount = 5\n{COLUMN}"
            ),
            12,
            "between 0.05 and 1",
        ),
        scene("overlapping grains", lattice, 7, "overlap"),
        scene(
            "missing table",
            "[[grains]]\nmaterial = \"rock\"\ngenerator = \"file\"\nfile = \"no.csv\"\nshape = { type = \"sphere\", radius = 1 }",
            10,
            "no.csv",
        ),
        (
            "planar rain",
            format!(
                "planar = true\n{START}{HEAP}shape = {{ type = \"disc\", radius = 0.1 }}\ncount = 5\nbox = {{ min = [0, 0], max = [1, 1] }}"
            ),
            11,
            "for three-dimensional scenes",
        ),
    ]
}

/// Moves the line of a case.
trait At {
    fn at(self, line: usize) -> Case;
}

impl At for Case {
    fn at(self, line: usize) -> Case {
        (self.0, self.1, line, self.3)
    }
}

#[test]
fn invalid_scenes_exit_with_code_2_and_a_message_at_the_right_place() {
    let folder = Folder::new("bad-scenes");
    let mut failures = String::new();
    let cases = cases();
    assert!(cases.len() >= 55, "{}", cases.len());
    for (name, text, line, says) in cases {
        folder.write("scene.toml", &text);
        let output = folder.riprap(&["run", "scene.toml"]);
        let message = stderr(&output);
        let place = format!("[scene.toml:{line}:");
        let good = code(&output) == Some(2)
            && message.contains(says)
            && message.contains(&place)
            && !message.contains("panicked")
            && folder.names() == ["scene.toml"];
        if !good {
            failures += &format!("{name}: expected {place} and \"{says}\", got\n{message}\n");
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn files_that_are_not_scenes_are_rejected() {
    let folder = Folder::new("no-scenes");
    folder.write("empty.toml", "");
    folder.write("garbage.toml", (0..5000u32).map(|k| (k * 7919 % 251) as u8).collect::<Vec<u8>>());
    folder.write("zeros.toml", vec![0u8; 4096]);
    std::fs::create_dir(folder.0.join("folder")).unwrap();
    let before = folder.names();
    for (file, says) in [
        ("empty.toml", "the scene file is empty"),
        ("garbage.toml", "not valid"),
        ("zeros.toml", "not valid"),
        ("folder", "this is a folder"),
        ("missing.toml", "there is no such file"),
    ] {
        for command in ["run", "check"] {
            let output = folder.riprap(&[command, file]);
            let message = stderr(&output);
            assert_eq!(code(&output), Some(2), "{command} {file}: {message}");
            assert!(message.contains(says) && message.contains(file), "{file}: {message}");
            assert!(!message.contains("panicked"), "{message}");
        }
    }
    assert_eq!(folder.names(), before);
}

#[test]
fn invalid_usage_exits_with_code_2() {
    let folder = Folder::new("usage");
    folder.write("scene.toml", format!("{START}{BALL}"));
    std::fs::create_dir(folder.0.join("thesis")).unwrap();
    folder.write("thesis/chapter.tex", "years of work");
    for arguments in [
        &["run"][..],
        &["walk"],
        &["run", "scene.toml", "--until", "soon"],
        &["run", "scene.toml", "--until=-1"],
        &["run", "scene.toml", "--until", "1 us"],
        &["run", "scene.toml", "--threads", "0"],
        &["run", "scene.toml", "--out", "thesis"],
        &["run", "scene.toml", "--out", "thesis", "--force"],
        &["run", "scene.toml", "--out", "scene.toml"],
        &["bench", "pile", "--grains", "0"],
        &["bench", "pile", "--dt", "0"],
        &["validate", "no-such-case-at-all"],
        &["new", "thesis"],
    ] {
        let output = folder.riprap(arguments);
        assert_eq!(code(&output), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{arguments:?}");
    }
    assert_eq!(folder.names(), ["scene.toml", "thesis"]);
}
