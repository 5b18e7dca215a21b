//! `--from`, `--set`, `explain` and `export`, end to end.

mod common;

use common::{Folder, code, stderr, stdout, success};

const BALL: &str = "\
[run]
dt = \"1 ms\"
until = \"0.2 s\"
output_every = \"50 ms\"
[parameters]
height = 0.3
[materials.rock]
density = 2500
friction = 0.5
[[body]]
name = \"floor\"
kind = \"fixed\"
material = \"rock\"
shape = { type = \"half-space\" }
[[body]]
name = \"ball\"
material = \"rock\"
position = [0, 0, \"height\"]
shape = { type = \"sphere\", radius = 0.1 }
";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("ball.toml", BALL);
    folder
}

fn summary(folder: &Folder, run: &str) -> serde_json::Value {
    serde_json::from_str(&folder.read(&format!("{run}/summary.json"))).unwrap()
}

#[test]
fn a_run_starts_from_another_one_and_reports_what_carries_over() {
    let folder = folder("from");
    success(&folder.riprap(&["run", "ball.toml", "--out", "a"]));
    let more = "[[body]]\nname = \"tool\"\nmaterial = \"rock\"\nposition = [1, 0, 0.1]\nshape = { type = \"sphere\", radius = 0.1 }\n";
    folder.write("more.toml", format!("{BALL}{more}"));

    // A dry run writes nothing.
    let check = folder.riprap(&["check", "more.toml", "--from", "a"]);
    success(&check);
    for words in ["starts from", "state at t = 0.2 s", "bodies: 2 carry over", "bodies new: `tool`"]
    {
        assert!(stdout(&check).contains(words), "{words}\n{}", stdout(&check));
    }
    assert_eq!(folder.names(), ["a", "ball.toml", "more.toml"]);

    let run = folder.riprap(&["run", "more.toml", "--from", "a", "--out", "b", "--until", "0.1 s"]);
    success(&run);
    assert!(
        stderr(&run).contains("starting from") && stderr(&run).contains("end.bin"),
        "{}",
        stderr(&run)
    );
    assert!(stderr(&run).contains("bodies new: `tool`"), "{}", stderr(&run));
    let summary = summary(&folder, "b");
    assert_eq!(summary["start_from"]["report"]["bodies"]["new"], serde_json::json!(["tool"]));
    assert!(folder.read("b/scene.toml").contains("start_from = "));
}

#[test]
fn runs_that_cannot_be_started_from_are_errors_of_the_input() {
    let folder = folder("bad-from");
    for (arguments, says) in [
        (&["run", "ball.toml", "--from", "nothing"][..], "there is no such run to start from"),
        (
            &["check", "ball.toml", "--from", "ball.toml"],
            "a run starts from the folder of another run",
        ),
        (&["run", "ball.toml", "--from", "a", "--bed", "b"], "cannot be used with"),
        (&["run", "ball.toml", "--from", "."], "the run has no state to start from"),
    ] {
        let output = folder.riprap(arguments);
        assert_eq!(code(&output), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(says), "{arguments:?}\n{}", stderr(&output));
    }
    assert_eq!(folder.names(), ["ball.toml"]);
    // Where the ball has fallen to, there is no room for another one.
    success(&folder.riprap(&["run", "ball.toml", "--out", "a"]));
    let more = "[[body]]\nname = \"tool\"\nmaterial = \"rock\"\nposition = [0, 0, 0.15]\nshape = { type = \"sphere\", radius = 0.05 }\n";
    folder.write("more.toml", format!("{BALL}{more}"));
    let output = folder.riprap(&["run", "more.toml", "--from", "a", "--out", "b"]);
    assert_eq!(code(&output), Some(2));
    assert!(stderr(&output).contains("`ball` and `tool` overlap by"), "{}", stderr(&output));
    assert!(!folder.0.join("b").exists());
}

#[test]
fn keys_are_set_and_recorded() {
    let folder = folder("set");
    let set = [
        "--set",
        "height=0.5",
        "--set",
        "run.until=50 ms",
        "--set",
        "materials.rock.friction=0.25",
    ];
    let run = folder.riprap(&[&["run", "ball.toml", "--out", "a"][..], &set].concat());
    success(&run);
    let scene = folder.read("a/scene.toml");
    assert!(scene.contains("friction = 0.25") && scene.contains("until = 0.05"), "{scene}");
    assert!(scene.contains("height = 0.5") && scene.contains("0.5]"), "{scene}");
    let expected =
        serde_json::json!(["height=0.5", "run.until=50 ms", "materials.rock.friction=0.25"]);
    assert_eq!(summary(&folder, "a")["set"], expected);
    success(&folder.riprap(&[&["check", "ball.toml"][..], &set].concat()));
}

#[test]
fn mistakes_in_options_are_shown_there() {
    let folder = folder("bad-set");
    for (option, says) in [
        ("materials.rock.fricton=1", "did you mean `friction`?"),
        ("materials.rok.friction=1", "did you mean `rock`?"),
        ("body.bal.position=[0,0,1]", "did you mean `ball`?"),
        ("run.dt=1 kg", "expected a time"),
        ("run.dt", "there is no `=`"),
        ("heigth=1", "did you mean `height`?"),
    ] {
        let output = folder.riprap(&["run", "ball.toml", "--set", option]);
        assert_eq!(code(&output), Some(2), "{option}");
        let told = stderr(&output);
        assert!(
            told.contains("command line") && told.contains(option) && told.contains(says),
            "{option}\n{told}"
        );
    }
    assert_eq!(folder.names(), ["ball.toml"]);
}

#[test]
fn keys_are_explained() {
    let folder = folder("explain");
    let explain = |key: &[&str]| folder.riprap(&[&["explain"], key].concat());
    let all = explain(&[]);
    success(&all);
    assert!(stdout(&all).contains("mechanism.joint"), "{}", stdout(&all));
    for (key, says) in [
        ("run.scheme", "generalized-alpha"),
        ("body.force", "[N]"),
        ("probe.quantities", "angular_velocity"),
        ("run.start_from", "default   none"),
    ] {
        let output = explain(&[key]);
        success(&output);
        assert!(stdout(&output).contains(says), "{key}\n{}", stdout(&output));
    }
    let wrong = explain(&["run.shceme"]);
    assert_eq!(code(&wrong), Some(2));
    assert!(stderr(&wrong).contains("did you mean `run.scheme`?"), "{}", stderr(&wrong));
}

#[test]
fn bodies_are_exported_by_name() {
    let folder = folder("export");
    success(&folder.riprap(&["run", "ball.toml", "--out", "a"]));
    let output =
        folder.riprap(&["export", "a", "--bodies", "ba*", "--every", "0.1 s", "--out", "t.csv"]);
    success(&output);
    assert!(stdout(&output).contains("1 body in 3 frames"), "{}", stdout(&output));
    let table = folder.read("t.csv");
    assert_eq!(table.lines().count(), 4);
    assert!(table.lines().nth(1).unwrap().starts_with("0,ball,1,0,0,0.3,1,0,0,0,"), "{table}");
    success(&folder.riprap(&["export", "a"]));
    assert_eq!(folder.read("a/bodies.csv").lines().count(), 11);
    for (arguments, says) in [
        (&["export", "a", "--bodies", "bal"][..], "did you mean `ball`?"),
        (&["export", "a", "--every", "0"], "must be greater than 0"),
        (&["export", "nothing"], "nothing"),
        (&["export", "a", "--out", "no/such.csv"], "no/such.csv"),
    ] {
        let output = folder.riprap(arguments);
        assert_eq!(code(&output), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(says), "{arguments:?}\n{}", stderr(&output));
    }
}
