//! Ropes and chains in scene files: what they become, their output, and mistakes in them.

mod mistakes;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mistakes::scenes::{BALL, START, after_ball, after_rain};
use mistakes::{Case, check};
use riprap::simulation::{Frame, Simulation};
use riprap_io::run::{Event, Options, Phase, Run, Watch};
use riprap_io::run_file::RunFile;
use riprap_io::scene_file::{self, FrameFormat, RopeQuantity, SceneFile, Target};

fn scene() -> SceneFile {
    SceneFile::read(Path::new("tests/data/ropes.toml")).unwrap_or_else(|e| panic!("{e}"))
}

/// The same, with frames in both formats.
fn drawn() -> SceneFile {
    SceneFile { run: scene_file::Run { frames: Some(FrameFormat::Both), ..scene().run }, ..scene() }
}

#[test]
fn every_key_becomes_a_member() {
    let file = scene();
    // Three bodies, then nine and three balls.
    assert_eq!(file.bodies.len(), 15);
    assert_eq!(file.bodies[3].name, "chain-1");
    // Ten links of the first chain, three of the second, then the ropes of the file.
    assert_eq!(file.ropes.len(), 15);
    assert_eq!(
        (&file.ropes[9].name[..], &file.ropes[10].name[..]),
        ("chain-rope-10", "string-rope-1")
    );
    let cable = &file.ropes[13];
    assert_eq!(cable.points.len(), 3);
    assert_eq!(cable.points[0].body, Some(Target::MechanismBody { mechanism: 0, body: 0 }));
    assert_eq!((cable.points[1].body, cable.points[2].position), (None, [0.0, 0.0, 0.05]));
    assert_eq!((cable.length, file.ropes[14].length), (None, Some(1.001)));
    assert_eq!(
        (file.ropes[14].breaking_load, file.ropes[11].breaking_load),
        (Some(0.5), Some(1e3))
    );
    let quantities: Vec<_> =
        file.rope_probes.iter().map(|p| (p.rope, p.quantities.len())).collect();
    assert_eq!(quantities, [(13, 2), (14, 1), (0, 1)]);
    assert_eq!(file.rope_probes[1].quantities, [RopeQuantity::Slack]);
    assert_eq!(file.rope_probes[2].name, "end");
    // The resolved scene lists balls and ropes, and is the same scene.
    let resolved = file.to_toml();
    assert!(!resolved.contains("[[chain]]") && resolved.contains("chain-rope-10"));
    assert_eq!(SceneFile::parse(&resolved, ".").unwrap_or_else(|e| panic!("{e}")), file);
}

#[test]
fn the_scene_runs_with_taut_ropes() {
    let file = scene();
    let built = file.build().unwrap_or_else(|e| panic!("{e}"));
    let state = built.scene.initial_state();
    for rope in built.scene.ropes().iter().filter(|rope| rope.name != "weak") {
        assert!(rope.slack(&state.q).abs() < 1e-12, "{}", rope.name);
    }
    let mut run = Simulation::new(built.scene, file.scheme()).unwrap();
    run.until(0.1, &mut ()).unwrap();
    // The slide pulls the stone up by 0.1 m/s.
    let stone = run.scene().body("stone").unwrap();
    assert!((run.velocity(stone).linear.z - 0.1).abs() < 1e-6);
    assert!((run.pose(stone).position.z - 1.01).abs() < 1e-4);
}

/// Remembers the ropes that break, and interrupts the run after some steps.
struct Notes(Vec<String>, Option<(Arc<AtomicBool>, u64)>);

impl Watch for Notes {
    fn step(&mut self, _: Phase, frame: &Frame) {
        if let Some((interrupt, step)) = &self.1
            && frame.state.step >= *step
        {
            interrupt.store(true, Ordering::Relaxed);
        }
    }

    fn event(&mut self, event: Event) {
        if let Event::RopeBroken { rope, tension, .. } = event {
            assert!(tension > 0.5);
            self.0.push(rope.to_owned());
        }
    }
}

/// The columns of a series by name.
fn column(folder: &Path, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(folder.join("series.csv")).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let index = names.iter().position(|n| n.trim_matches('"').split(" [").next() == Some(name));
    let index = index.unwrap_or_else(|| panic!("{name} in {names:?}"));
    lines.map(|line| line.split(',').nth(index).unwrap().parse().unwrap()).collect()
}

#[test]
fn a_run_records_tensions_draws_ropes_and_reports_the_one_that_breaks() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("run");
    let mut notes = Notes(Vec::new(), None);
    Run::new(&drawn(), Options::new(&folder)).unwrap().execute(&mut notes).unwrap();
    assert_eq!(notes.0, ["weak"]);
    let tension = column(&folder, "cable.tension_mean");
    // 2 kg at constant speed, once the winch has taken up the load.
    assert!((tension.last().unwrap() - 2.0 * 9.81).abs() < 1e-2, "{tension:?}");
    let (mean, impulse) = (tension[3], column(&folder, "cable.tension_impulse")[3]);
    assert!((impulse - 0.01 * mean).abs() < 1e-12);
    assert!(column(&folder, "cable.slack").iter().all(|s| s.abs() < 1e-4));
    let broken = column(&folder, "weak.broken");
    assert_eq!((broken[0], *broken.last().unwrap()), (0.0, 1.0));
    assert!(column(&folder, "end.tension_max").iter().all(|t| t.is_finite()));
    let summary = std::fs::read_to_string(folder.join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["broken_ropes"][0]["rope"], "weak");
    let frame = std::fs::read(folder.join("frames/ropes-000003.vtp")).unwrap();
    let frame = String::from_utf8_lossy(&frame);
    assert!(frame.contains("<Lines>") && frame.contains("Name=\"tension [N]\""));
    let index = std::fs::read_to_string(folder.join("run.pvd")).unwrap();
    assert!(index.contains("name=\"ropes\" file=\"frames/ropes-000000.vtp\""));
    let file = RunFile::open(&folder).unwrap();
    let [first, last] = [0, file.times().len() - 1].map(|k| file.frame(k).unwrap().ropes);
    assert_eq!((first.len(), last.len()), (15, 14));
    assert!(last.iter().all(|rope| rope.points.len() >= 2 && rope.tension >= 0.0));
}

#[test]
fn an_interrupted_run_resumes_with_the_same_files() {
    let out = tempfile::tempdir().unwrap();
    let [whole, parts] = ["whole", "parts"].map(|name| out.path().join(name));
    Run::new(&drawn(), Options::new(&whole)).unwrap().execute(&mut ()).unwrap();
    let options = Options::new(&parts);
    let interrupt = options.interrupt.clone();
    let mut notes = Notes(Vec::new(), Some((interrupt, 37)));
    Run::new(&drawn(), options).unwrap().execute(&mut notes).unwrap();
    Run::resume_folder(&parts).unwrap().execute(&mut ()).unwrap();
    let frames = ["frames/ropes-000003.vtp", "frames/ropes-000010.vtp"];
    for file in ["series.csv", "run.pvd", "run.vtkhdf"].into_iter().chain(frames) {
        let [a, b] = [&whole, &parts].map(|folder| std::fs::read(folder.join(file)).unwrap());
        assert!(a == b, "{file} differs");
    }
}

/// A rope after the ball, with points in its second line, at line 12.
fn rope(name: &'static str, points: &str, rest: &str, line: usize, says: &'static str) -> Case {
    after_ball(name, &format!("[[rope]]\npoints = [{points}]\n{rest}"), line, says)
}

const ENDS: &str = "{ body = \"ball\" }, { body = \"world\", position = [0, 0, 1] }";

#[test]
fn mistakes_in_ropes_are_reported() {
    let settle = "shape = { type = \"sphere\", radius = 0.01 }\n\
                  box = { min = [0, 0, 0], max = [1, 1, 1] }\nsettle = { speed = 0.1, at_most = 1 }\n";
    check(&[
        rope("one point", "{ body = \"ball\" }", "", 12, "at least 2"),
        rope(
            "no body",
            "{ position = [0, 0, 1] }, { body = \"ball\" }",
            "",
            12,
            "`body` is missing",
        ),
        rope(
            "unknown body",
            "{ body = \"bell\" }, { body = \"world\" }",
            "",
            12,
            "did you mean `ball`?",
        ),
        rope(
            "nothing moves",
            "{ body = \"world\" }, { body = \"world\", position = [1, 0, 0] }",
            "",
            12,
            "can move",
        ),
        rope("no length", ENDS, "length = 0", 13, "greater than 0"),
        rope("length in seconds", ENDS, "length = \"1 s\"", 13, "length"),
        rope("negative load", ENDS, "breaking_load = \"-1 N\"", 13, "greater than 0"),
        rope("load in metres", ENDS, "breaking_load = \"1 m\"", 13, "force"),
        rope("unknown key", ENDS, "lenght = 1", 13, "did you mean `length`?"),
        rope(
            "duplicate name",
            ENDS,
            &format!("name = \"a\"\n[[rope]]\nname = \"a\"\npoints = [{ENDS}]"),
            15,
            "two ropes are named `a`",
        ),
        after_ball("no points", "[[rope]]\nname = \"a\"", 11, "`points` is missing"),
        after_rain(
            "a grain that settles",
            &format!(
                "{settle}[[rope]]\npoints = [{{ body = \"heap-2\" }}, {{ body = \"world\" }}]"
            ),
            16,
            "settles before",
        ),
        rope(
            "no such rope",
            ENDS,
            "name = \"pin\"\n[[probe]]\nrope = \"pan\"",
            15,
            "did you mean `pin`?",
        ),
        rope(
            "quantity of a body",
            ENDS,
            "[[probe]]\nrope = \"rope-1\"\nquantities = [\"position\"]",
            15,
            "a rope has no quantity `position`",
        ),
    ]);
    let scheme = START.replace("until", "scheme = \"generalized-alpha\"\nuntil");
    let text = format!("{scheme}{BALL}[[rope]]\npoints = [{ENDS}]");
    check(&[Case { name: "scheme", text, line: 3, says: "\"generalized-alpha\" has no ropes" }]);
}

/// A chain after the ball with one line replaced.
fn chain(name: &'static str, old: &str, new: &str, line: usize, says: &'static str) -> Case {
    let text = "[[chain]]\ncount = 3\nradius = 0.01\nmaterial = \"rock\"\nlink = 0.1\n\
                start = { body = \"world\", position = [1, 0, 0] }\n";
    assert!(text.contains(old), "{name}");
    after_ball(name, &text.replacen(old, new, 1), line, says)
}

#[test]
fn mistakes_in_chains_are_reported() {
    let end = |x: f64| format!("link = 0.1\nend = {{ body = \"world\", position = [{x}, 0, 0] }}");
    check(&[
        chain("no balls", "count = 3", "count = 0", 12, "between 1 and"),
        chain("no radius", "radius = 0.01\n", "", 11, "`radius` is missing"),
        chain("unknown material", "\"rock\"", "\"rok\"", 14, "did you mean `rock`?"),
        chain(
            "overlapping balls",
            "radius = 0.01",
            "radius = 0.06",
            15,
            "shorter than the diameter",
        ),
        chain("too short", "link = 0.1", &end(1.5), 16, "1.00e-1 m more than its length"),
        chain("ends together", "link = 0.1", &end(1.0), 16, "same point"),
        chain("no direction", "link = 0.1", "link = 0.1\ndirection = [0, 0, 0]", 16, "zero length"),
        chain(
            "end and direction",
            "link = 0.1",
            &format!("{}\ndirection = \"x\"", end(1.2)),
            17,
            "not both",
        ),
        chain("a name in use", "count = 3", "name = \"ball\"\ncount = 3", 12, "used twice"),
        chain("tie", "link = 0.1", "link = 0.1\ntie = \"center\"", 16, "did you mean \"centre\"?"),
        chain("unknown body", "\"world\"", "\"wall\"", 16, "there is no body `wall`"),
    ]);
}

#[test]
fn ropes_that_do_not_fit_the_scene_are_reported_where_they_are() {
    for (text, line, says) in [
        (format!("[[rope]]\npoints = [{ENDS}]\nlength = 0.9"), 11, "1.00e-1 m shorter"),
        ("[[rope]]\npoints = [{ body = \"ball\" }, { body = \"world\" }]".into(), 11, "coincide"),
    ] {
        let file = SceneFile::parse(&format!("{START}{BALL}{text}"), ".").unwrap();
        let errors = file.build().unwrap_err();
        let [problem] = &errors.problems[..] else { panic!("{errors}") };
        assert!(problem.message.contains(says), "{errors}");
        assert_eq!(errors.line_column(problem.span.start).0, line, "{errors}");
    }
}

#[test]
fn planar_scenes_have_ropes_and_chains_of_discs() {
    let text = format!(
        "planar = true\n{START}[[chain]]\ncount = 4\nradius = 0.02\nmaterial = \"rock\"\nlink = 0.1\n\
         start = {{ body = \"world\", position = [0, 1] }}\n[[rope]]\n\
         points = [{{ body = \"chain-1-4\" }}, {{ body = \"world\", position = [0.2, 0.6] }}]"
    );
    let file = SceneFile::parse(&text, ".").unwrap_or_else(|e| panic!("{e}"));
    let built = file.build().unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(built.scene, file.scheme()).unwrap();
    run.until(0.05, &mut ()).unwrap();
    let lowest = run.pose(run.scene().body("chain-1-4").unwrap()).position;
    assert!((lowest.y - 0.6).abs() < 1e-3, "{lowest}");
}
