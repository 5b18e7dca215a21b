//! Runs that start from the end of other runs, through scene files and run folders.

use std::path::Path;

use riprap_io::run::{END_FILE, Error, Event, Options, Origin, Run, Summary, Watch};
use riprap_io::run_folder::Existing;
use riprap_io::scene_file::SceneFile;
use tempfile::TempDir;

/// A block that slides and a ball that falls on it.
const FIRST: &str = r#"
    title = "first"
    run = { dt = "1 ms", until = "0.2 s", output_every = "50 ms" }
    solver = { tolerance = 1e-6 }
    materials.rock = { density = 2500, friction = 0.5 }
    [[body]]
    name = "floor"
    kind = "fixed"
    material = "rock"
    shape = { type = "half-space" }
    [[body]]
    name = "block"
    material = "rock"
    position = [0, 0, 0.1]
    velocity = [0.5, 0, 0]
    shape = { type = "box", size = [0.2, 0.2, 0.2] }
    [[body]]
    name = "ball"
    material = "rock"
    position = [0, 0, 0.32]
    shape = { type = "sphere", radius = 0.1 }
    [[probe]]
    body = "ball"
"#;

fn scene(text: &str, folder: &Path) -> SceneFile {
    SceneFile::parse(text, folder).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(text: &str, folder: &Path, out: &str) -> Summary {
    let options = Options::new(folder.join(out));
    Run::new(&scene(text, folder), options).unwrap().execute(&mut ()).unwrap()
}

/// The scene with `start_from` and another end.
fn after(text: &str, until: &str, more: &str) -> String {
    text.replace("until = \"0.2 s\"", &format!("until = \"{until}\", start_from = \"a\"{more}"))
}

fn refused(text: &str, folder: &Path) -> String {
    let error = Run::new(&scene(text, folder), Options::new(folder.join("refused"))).unwrap_err();
    assert!(!folder.join("refused").exists());
    error.to_string()
}

fn summary_of(folder: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(folder.join("summary.json")).unwrap()).unwrap()
}

#[test]
fn two_runs_are_bitwise_the_same_as_one() {
    let folder = TempDir::new().unwrap();
    let first = run(FIRST, folder.path(), "a").state.unwrap();
    let second = run(&after(FIRST, "0.3 s", ""), folder.path(), "b").state.unwrap();
    let whole = run(&FIRST.replace("0.2 s", "0.5 s"), folder.path(), "whole").state.unwrap();
    assert_eq!((&second.q, &second.v), (&whole.q, &whole.v));
    assert_eq!(second.warm_start, whole.warm_start);
    assert_eq!((second.t, second.step), (0.3, 300));

    let recorded = &summary_of(&folder.path().join("b"))["start_from"];
    assert_eq!((&recorded["time_s"], &recorded["step"]), (&first.t.into(), &200.into()));
    assert_eq!(
        (&recorded["title"], &recorded["report"]["bodies"]["matched"]),
        (&"first".into(), &3.into())
    );
    let origin = Origin::read(folder.path().join("a")).unwrap();
    assert_eq!(recorded["sha256"], origin.hash());
    assert_eq!(origin.file().file_name().unwrap(), END_FILE);
    assert_eq!(origin.state(), &first);
    // The folder can be read as a scene again, with its origin.
    let stored = SceneFile::read(folder.path().join("b/scene.toml")).unwrap();
    assert_eq!(stored.run.start_from, Some(folder.path().join("a")));
}

#[test]
fn the_time_goes_on_if_wanted() {
    let folder = TempDir::new().unwrap();
    run(FIRST, folder.path(), "a");
    let text = after(FIRST, "0.5 s", ", start_time = \"continue\"");
    let second = run(&text, folder.path(), "b");
    let whole = run(&FIRST.replace("0.2 s", "0.5 s"), folder.path(), "whole").state.unwrap();
    assert_eq!(second.state.as_ref().unwrap().q, whole.q);
    assert!((second.time - 0.5).abs() < 1e-12 && second.report.steps == 300);
    let series = std::fs::read_to_string(folder.path().join("b/series.csv")).unwrap();
    assert!(series.lines().nth(1).unwrap().starts_with("0.2,"), "{series}");
    let told = refused(&after(FIRST, "0.1 s", ", start_time = \"continue\""), folder.path());
    assert!(told.contains("starts at 0.2 s") && told.contains("increase `until`"), "{told}");
}

#[test]
fn a_changed_scene_goes_on_and_says_what_changed() {
    struct Told(Vec<String>);
    impl Watch for Told {
        fn event(&mut self, event: Event) {
            if let Event::StartedFrom { report, .. } = event {
                self.0 = report.lines();
            }
        }
    }
    let folder = TempDir::new().unwrap();
    run(FIRST, folder.path(), "a");
    let more = "[[body]]\nname = \"second\"\nmaterial = \"rock\"\nposition = [2, 0, 0.2]\nshape = { type = \"sphere\", radius = 0.1 }\n";
    let text = after(FIRST, "50 ms", "").replace("dt = \"1 ms\"", "dt = \"0.5 ms\"") + more;
    let text = text.replace("friction = 0.5", "friction = 0.1");
    let (file, mut told) = (scene(&text, folder.path()), Told(Vec::new()));
    let prepared = Run::new(&file, Options::new(folder.path().join("b"))).unwrap();
    assert_eq!(prepared.continued().unwrap().bodies.new, ["second"]);
    let summary = prepared.execute(&mut told).unwrap();
    assert_eq!(summary.report.steps, 100);
    assert!(told.0.contains(&"bodies: 3 carry over".into()), "{:?}", told.0);
    assert!(told.0.contains(&"bodies new: `second`".into()), "{:?}", told.0);
    // Impulses of the last step belong to half the time now.
    let origin = Origin::read(folder.path().join("a")).unwrap();
    let (state, _) = origin.start(&file, &file.build().unwrap().scene).unwrap();
    let of = |state: &riprap::scene::State| state.warm_start[0].impulse_w[2];
    assert_eq!(of(&state), 0.5 * of(origin.state()));
}

#[test]
fn the_option_takes_precedence_and_files_of_a_run_can_be_named() {
    let folder = TempDir::new().unwrap();
    run(FIRST, folder.path(), "a");
    for file in ["a", "a/end.bin"] {
        let options = Options {
            start_from: Some(folder.path().join(file)),
            existing: Existing::Overwrite,
            ..Options::new(folder.path().join("b"))
        };
        let prepared = Run::new(&scene(FIRST, folder.path()), options).unwrap();
        assert_eq!(prepared.continued().unwrap().from_time, 0.2);
        prepared.execute(&mut ()).unwrap();
    }
    let told =
        refused(&after(FIRST, "1 s", "").replace("\"a\"", "\"a/series.csv\""), folder.path());
    assert!(told.contains("or from end.bin or checkpoint.bin in it"), "{told}");
}

#[test]
fn the_later_one_of_checkpoint_and_end_counts() {
    let folder = TempDir::new().unwrap();
    let text = FIRST.replace("output_every", "checkpoint_every = \"80 ms\", output_every");
    run(&text, folder.path(), "a");
    let a = folder.path().join("a");
    assert_eq!(Origin::read(&a).unwrap().state().step, 200);
    std::fs::remove_file(a.join(END_FILE)).unwrap();
    let origin = Origin::read(&a).unwrap();
    assert_eq!(
        (origin.state().step, origin.file().file_name().unwrap()),
        (160, "checkpoint.bin".as_ref())
    );
    std::fs::remove_file(a.join("checkpoint.bin")).unwrap();
    let told = Origin::read(&a).unwrap_err().to_string();
    assert!(told.contains("the run has no state to start from: neither end.bin"), "{told}");
}

#[test]
fn runs_that_cannot_be_used_are_refused_with_a_remedy() {
    let folder = TempDir::new().unwrap();
    let text = after(FIRST, "0.1 s", "");
    assert!(refused(&text, folder.path()).contains("there is no such run to start from"));
    run(FIRST, folder.path(), "a");
    let a = folder.path().join("a");
    // A damaged or foreign state.
    let good = std::fs::read(a.join(END_FILE)).unwrap();
    for at in (0..good.len()).step_by(61) {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        std::fs::write(a.join(END_FILE), bad).unwrap();
        let told = refused(&text, folder.path());
        assert!(
            told.contains("end.bin") && told.contains("run its scene again"),
            "byte {at}: {told}"
        );
    }
    std::fs::write(a.join(END_FILE), &good[..good.len() / 2]).unwrap();
    assert!(refused(&text, folder.path()).contains("truncated"));
    std::fs::write(a.join(END_FILE), &good).unwrap();
    // Another scene in the folder.
    let stored = std::fs::read_to_string(a.join("scene.toml")).unwrap();
    std::fs::write(a.join("scene.toml"), stored.replace("friction = 0.5", "friction = 0.4"))
        .unwrap();
    let told = refused(&text, folder.path());
    assert!(
        told.contains("the scene has changed since end.bin was written: `friction = 0.5`"),
        "{told}"
    );
    std::fs::write(a.join("scene.toml"), "nonsense").unwrap();
    assert!(refused(&text, folder.path()).contains("cannot be read any more"));
    std::fs::remove_file(a.join("scene.toml")).unwrap();
    assert!(refused(&text, folder.path()).contains("there is no such file"));
    std::fs::write(a.join("scene.toml"), stored).unwrap();

    // Overlaps at the places that bodies have reached, and nothing in common.
    let tool = "[[body]]\nname = \"tool\"\nmaterial = \"rock\"\nposition = [0.05, 0, 0.35]\nshape = { type = \"sphere\", radius = 0.1 }\n";
    let told = refused(&(text.clone() + tool), folder.path());
    assert!(told.contains("where the other run ended, `ball` and `tool` overlap by"), "{told}");
    let strangers = text
        .replace("\"ball\"", "\"b\"")
        .replace("\"block\"", "\"c\"")
        .replace("\"floor\"", "\"f\"");
    assert!(refused(&strangers, folder.path()).contains("bodies are matched by name"));
}

#[test]
fn a_resumed_run_keeps_its_origin_and_notices_that_it_has_changed() {
    struct Changed(bool);
    impl Watch for Changed {
        fn event(&mut self, event: Event) {
            self.0 |= matches!(event, Event::OriginChanged);
        }
    }
    let folder = TempDir::new().unwrap();
    run(FIRST, folder.path(), "a");
    let text = after(FIRST, "0.1 s", ", checkpoint_every = \"60 ms\"");
    let b = folder.path().join("b");
    let whole = run(&text, folder.path(), "whole").state.unwrap();
    run(&text, folder.path(), "b");
    let before = summary_of(&b)["start_from"].clone();
    let resume = |watch: &mut Changed| {
        let run = Run::resume(&scene(&text, folder.path()), Options::new(&b)).unwrap();
        run.execute(watch).unwrap().state.unwrap()
    };
    let mut changed = Changed(false);
    assert_eq!(resume(&mut changed), whole);
    assert!(!changed.0);
    assert_eq!(summary_of(&b)["start_from"], before);
    // The first run is made again with another end: the second one can still resume.
    let options = Options {
        existing: Existing::Overwrite,
        until: Some(0.15),
        ..Options::new(folder.path().join("a"))
    };
    Run::new(&scene(FIRST, folder.path()), options).unwrap().execute(&mut ()).unwrap();
    assert_eq!(resume(&mut changed), whole);
    assert!(changed.0);
    std::fs::remove_dir_all(folder.path().join("a")).unwrap();
    assert_eq!(resume(&mut Changed(false)), whole);
}

#[test]
fn settled_grains_carry_over_and_do_not_settle_again() {
    let grains = "[[grains]]\nname = \"sand\"\nmaterial = \"rock\"\nspheres = {}\ngrading = { uniform = [0.05, 0.06] }\n\
                  generator = \"rain\"\ncount = 4\nbox = { min = [0.5, 0.5, 0.01], max = [0.8, 0.8, 1] }\n\
                  settle = { speed = 0.05, at_most = 1 }\n";
    let folder = TempDir::new().unwrap();
    let text = format!("{FIRST}{grains}").replace("[[probe]]\n    body = \"ball\"\n", "");
    let first = run(&text, folder.path(), "a").state.unwrap();
    let second = scene(&after(&text, "10 ms", ""), folder.path());
    assert!(second.build().unwrap().settling.is_none());
    let prepared = Run::new(&second, Options::new(folder.path().join("b"))).unwrap();
    assert_eq!(prepared.continued().unwrap().bodies.matched, 7);
    prepared.execute(&mut ()).unwrap();
    let origin = Origin::read(folder.path().join("a")).unwrap();
    let (state, _) = origin.start(&second, &second.build().unwrap().scene).unwrap();
    assert_eq!(state.q, first.q);
    // A bed and another run exclude each other.
    let options = Options {
        bed: Some(folder.path().join("bed.bin")),
        ..Options::new(folder.path().join("c"))
    };
    assert!(matches!(Run::new(&second, options), Err(Error::NothingSettles { .. })));
}
