//! Small runs through the library: interrupted, resumed, settled, rejected.

use std::collections::BTreeMap;
use std::fs;

use riprap::friction::residual;
use riprap::simulation::Frame;
use tempfile::TempDir;

use super::*;
use crate::fclib;

mod degradation;
mod guarded;
mod measures;
mod stopping;

/// A block that tips over an edge, so that its contacts change; two spheres connected by a joint next to it.
const BLOCK: &str = r#"
seed = 5
[run]
dt = "1 ms"
until = "0.1 s"
output_every = "30 ms"
[materials.rock]
density = 1000
friction = 0.5
[[body]]
kind = "fixed"
shape = { type = "half-space" }
material = "rock"
[[body]]
name = "block"
position = [0, 0, 0.01]
angular_velocity = [0.4, 0.9, 0.1]
shape = { type = "polyhedron", points = [[0,0,0], [1,0,0], [1,1,0], [0,1,0], [0,0,1], [1,0,1], [1,1,1], [0,1,1]] }
material = "rock"
[[body]]
name = "weight"
position = [2.6, 0, 0.5]
shape = { type = "sphere", radius = 0.2 }
material = "rock"
[[joint]]
name = "rope"
type = "ball"
between = ["world", "weight"]
position = [3, 0, 1]
[[probe]]
body = "block"
quantities = ["position", "rotation", "force", "work"]
"#;

/// Six stones that fall from just above the floor.
const BED: &str = r#"
seed = 3
[run]
dt = "1 ms"
until = "20 ms"
output_every = "5 ms"
frames = false
[materials.rock]
density = 2700
friction = 0.7
[[body]]
name = "box"
kind = "fixed"
material = "rock"
shape = { type = "open-box", size = [0.2, 0.2, 0.2], wall = 0.02 }
[[grains]]
name = "stones"
material = "rock"
generator = "rain"
stones = {}
grading = { uniform = ["30 mm", "50 mm"] }
count = 6
box = { min = [-0.1, -0.1, 0], max = [0.1, 0.1, 1] }
settle = { speed = "10 cm/s", at_most = "1 s" }
"#;

fn scene(text: &str) -> SceneFile {
    SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"))
}

fn folder() -> TempDir {
    TempDir::new().unwrap()
}

/// Records the events, and sets the flag after a step of a phase.
#[derive(Default)]
struct Notes {
    steps: [u64; 2],
    events: Vec<String>,
    stop: Option<(Phase, u64, Arc<AtomicBool>)>,
}

impl Notes {
    /// Interrupts after the given step of the run.
    fn stopping(run: &Run, phase: Phase, step: u64) -> Notes {
        Notes { stop: Some((phase, step, run.interrupt())), ..Notes::default() }
    }
}

impl Watch for Notes {
    fn step(&mut self, phase: Phase, frame: &Frame) {
        self.steps[phase as usize] = frame.state.step;
        if let Some((when, step, flag)) = &self.stop
            && *when == phase
            && frame.state.step >= *step
        {
            flag.store(true, Ordering::Relaxed);
        }
    }

    fn event(&mut self, event: Event) {
        self.events.push(match event {
            Event::Resumed { step, .. } => format!("resumed at {step}"),
            Event::BedTaken { grains, bed, .. } => format!("took {grains}, calm {}", bed.calm),
            Event::BedRefused { error } => format!("refused: {error}"),
            Event::PhaseStarted { phase, end } => format!("{phase:?} to {end}"),
            Event::PhaseEnded { phase } => format!("{phase:?} over"),
            Event::Settled { bed } => format!("settled, calm {}", bed.calm),
            Event::BedKept { grains, .. } => format!("kept {grains}"),
            Event::BedNotKept { error } => format!("not kept: {error}"),
            Event::CheckpointWritten => "checkpoint".into(),
            other => format!("{other:?}"),
        });
    }
}

/// Every file of a run, without wall times and the checkpoint.
fn contents(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for part in ["", "frames"] {
        for entry in fs::read_dir(run.join(part)).into_iter().flatten() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() || name == "checkpoint.bin" {
                continue;
            }
            let mut content = fs::read(entry.path()).unwrap();
            if name == "summary.json" {
                let mut summary: serde_json::Value = serde_json::from_slice(&content).unwrap();
                summary["wall_s"] = 0.into();
                // Checkpoints also contain wall times.
                summary.as_object_mut().unwrap().remove("checkpoint_sha256");
                content = summary.to_string().into_bytes();
            }
            files.insert(format!("{part}/{name}"), content);
        }
    }
    files
}

#[track_caller]
fn same_files(a: &Path, b: &Path) {
    let (a, b) = (contents(a), contents(b));
    assert!(a.keys().eq(b.keys()), "{:?}\n{:?}", a.keys(), b.keys());
    for (name, content) in &a {
        assert!(*content == b[name], "{name} differs");
    }
}

#[test]
fn a_run_reports_every_step_and_a_summary() {
    let out = folder();
    let mut notes = Notes::default();
    let run = Run::new(&scene(BLOCK), Options::new(out.path().join("a"))).unwrap();
    assert_eq!(run.scene().run.until, 0.1);
    assert_eq!(run.built().scene.bodies().n_movable(), 2);
    assert!(!out.path().join("a").exists(), "preparing a run touches no file");
    let summary = run.execute(&mut notes).unwrap();
    assert_eq!(notes.events, ["Running to 0.1", "Running over"]);
    assert_eq!(notes.steps, [0, 100]);
    assert_eq!((summary.ending, summary.report.steps), (Ending::Finished, 100));
    assert_eq!((summary.n_frames, summary.n_mechanisms), (5, 0));
    assert!((summary.time - 0.1).abs() < 1e-12); // a hundred steps of round-off
    assert_eq!(summary.state.unwrap().step, 100);
    assert_eq!(summary.folder, out.path().join("a"));
    assert!(summary.worst_joint_drift > 0.0 && summary.worst_joint_drift < 1e-3);
    assert_eq!(summary.warnings, []);
}

#[test]
fn a_run_interrupted_at_any_step_resumes_bitwise_identically() {
    let out = folder();
    let scene = scene(BLOCK);
    let whole = Run::new(&scene, Options::new(out.path().join("whole"))).unwrap();
    let whole = whole.execute(&mut ()).unwrap();
    for step in [1, 29, 30, 31, 99] {
        let path = out.path().join(step.to_string());
        let run = Run::new(&scene, Options::new(&path)).unwrap();
        let mut notes = Notes::stopping(&run, Phase::Running, step);
        let stopped = run.execute(&mut notes).unwrap();
        assert_eq!(stopped.ending, Ending::Interrupted);
        assert_eq!(notes.events.last().unwrap(), "checkpoint");
        assert_eq!(stopped.report.steps, step);

        let mut notes = Notes::default();
        let summary = Run::resume_folder(&path).unwrap().execute(&mut notes).unwrap();
        assert_eq!(notes.events[0], format!("resumed at {step}"));
        assert_eq!(summary.ending, Ending::Finished);
        assert_eq!(summary.report.steps, 100);
        assert_eq!(summary.state, whole.state, "interrupted after {step} steps");
        same_files(&path, &out.path().join("whole"));
    }
}

#[test]
fn a_run_with_soft_contacts_resumes_bitwise_identically() {
    let out = folder();
    let soft = BLOCK.replace("dt = \"1 ms\"", "dt = \"0.5 ms\"\nscheme = \"penalty\"");
    let scene = scene(&soft);
    let whole = out.path().join("whole");
    let state = Run::new(&scene, Options::new(&whole)).unwrap().execute(&mut ()).unwrap().state;
    for step in [1, 77, 150] {
        let path = out.path().join(step.to_string());
        let run = Run::new(&scene, Options::new(&path)).unwrap();
        let mut notes = Notes::stopping(&run, Phase::Running, step);
        run.execute(&mut notes).unwrap();
        let summary = Run::resume_folder(&path).unwrap().execute(&mut ()).unwrap();
        assert_eq!(summary.state, state, "interrupted after {step} steps");
        same_files(&path, &whole);
    }
}

#[test]
fn a_run_interrupted_repeatedly_resumes_bitwise_identically() {
    let out = folder();
    let scene = scene(&BLOCK.replace("output_every", "checkpoint_every = \"7 ms\"\noutput_every"));
    let whole = out.path().join("whole");
    Run::new(&scene, Options::new(&whole)).unwrap().execute(&mut ()).unwrap();
    let path = out.path().join("pieces");
    let mut run = Run::new(&scene, Options::new(&path)).unwrap();
    for step in [12, 13, 60] {
        let mut notes = Notes::stopping(&run, Phase::Running, step);
        assert_eq!(run.execute(&mut notes).unwrap().ending, Ending::Interrupted);
        run = Run::resume(&scene, Options::new(&path)).unwrap();
    }
    run.execute(&mut ()).unwrap();
    same_files(&path, &whole);
}

#[test]
fn a_finished_run_is_resumed_to_a_later_end() {
    let out = folder();
    let scene = scene(BLOCK);
    let whole = out.path().join("whole");
    Run::new(&scene, Options::new(&whole)).unwrap().execute(&mut ()).unwrap();
    let short = out.path().join("short");
    let every = Some(0.01);
    let options = Options { until: Some(0.045), checkpoint_every: every, ..Options::new(&short) };
    let summary = Run::new(&scene, options).unwrap().execute(&mut ()).unwrap();
    assert_eq!((summary.ending, summary.report.steps), (Ending::Finished, 45));
    let mut notes = Notes::default();
    let longer = Run::resume(&scene, Options::new(&short)).unwrap().execute(&mut notes).unwrap();
    assert_eq!(notes.events[0], "resumed at 40");
    assert_eq!(longer.report.steps, 100);
    same_files(&short, &whole);

    // There is nothing left to do before the checkpoint.
    let options = Options { until: Some(0.04), ..Options::new(&short) };
    let error = Run::resume(&scene, options).unwrap_err();
    assert!(error.to_string().contains("nothing left to do"), "{error}");
}

#[test]
fn a_folder_that_is_not_empty_is_rejected() {
    let out = folder();
    let scene = scene(BLOCK);
    let options = Options { until: Some(0.002), ..Options::new(out.path().join("a")) };
    let execute = |options: &Options| Run::new(&scene, options.clone()).unwrap().execute(&mut ());
    execute(&options).unwrap();
    let before = contents(&options.folder);
    match execute(&options) {
        Err(Error::Start(crate::Error::Exists { path, .. })) => assert_eq!(path, options.folder),
        other => panic!("{other:?}"),
    }
    assert_eq!(contents(&options.folder), before);
    execute(&Options { existing: Existing::Overwrite, ..options.clone() }).unwrap();

    // A folder of other files is never used, nor is a file.
    let thesis = out.path().join("thesis");
    fs::create_dir(&thesis).unwrap();
    fs::write(thesis.join("chapter.tex"), "years of work").unwrap();
    for folder in [thesis.clone(), thesis.join("chapter.tex")] {
        let options = Options { existing: Existing::Overwrite, folder, ..options.clone() };
        assert!(matches!(execute(&options), Err(Error::Start(_))));
    }
    assert_eq!(fs::read_to_string(thesis.join("chapter.tex")).unwrap(), "years of work");
}

#[test]
fn invalid_options_are_rejected_before_a_file_is_touched() {
    let out = folder();
    let path = out.path().join("a");
    let scene = scene(BLOCK);
    let refused = |options: Options| Run::new(&scene, options).unwrap_err();
    let error = refused(Options { until: Some(1e-4), ..Options::new(&path) });
    assert!(matches!(error, Error::EndsBeforeFirstStep { until: 1e-4, dt: 1e-3 }), "{error}");
    assert!(error.to_string().contains("0.0001 s"), "{error}");
    let error = refused(Options { checkpoint_every: Some(1e-4), ..Options::new(&path) });
    assert!(matches!(error, Error::CheckpointsTooFrequent { .. }), "{error}");
    let error = refused(Options { bed: Some("bed.bin".into()), ..Options::new(&path) });
    assert!(matches!(error, Error::NothingSettles { .. }), "{error}");
    assert!(error.to_string().starts_with("bed.bin: no grains of this scene settle"), "{error}");
    for error in [
        Run::resume(&scene, Options::new(&path)).unwrap_err(),
        Run::resume_folder(&path).unwrap_err(),
    ] {
        assert!(matches!(&error, Error::NoCheckpoint { folder } if *folder == path), "{error}");
    }
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
}

#[test]
fn mistakes_found_when_building_the_scene_have_their_location() {
    let twin = BLOCK.replace("name = \"weight\"\nposition = [2.6, 0, 0.5]", "name = \"weight\"");
    let error = Run::new(&scene(&twin), Options::new("never-made")).unwrap_err();
    let Error::Scene(errors) = error else { panic!("{error}") };
    assert!(errors.to_string().contains("overlap"), "{errors}");
    assert!(!Path::new("never-made").exists());
}

#[test]
fn grains_settle_once_and_their_bed_is_cached() {
    let out = folder();
    let scene = scene(BED);
    let run = |name: &str, cache: Option<PathBuf>| {
        let mut notes = Notes::default();
        let options = Options { cache, ..Options::new(out.path().join(name)) };
        let summary = Run::new(&scene, options).unwrap().execute(&mut notes).unwrap();
        assert_eq!(summary.report.steps, 20);
        (summary.state, notes)
    };
    let beds = out.path().join("beds");
    let (settled, notes) = run("a", Some(beds.clone()));
    let expected = [
        "Settling to 1",
        "Settling over",
        "settled, calm true",
        "kept 6",
        "Running to 0.02",
        "Running over",
    ];
    assert_eq!(notes.events, expected);
    assert!(notes.steps[0] > 20, "{:?}", notes.steps);
    let (taken, notes) = run("b", Some(beds.clone()));
    assert_eq!(notes.events, ["took 6, calm true", "Running to 0.02", "Running over"]);
    assert_eq!(taken, settled);
    same_files(&out.path().join("a"), &out.path().join("b"));

    // A damaged bed is regenerated and replaced.
    let file = fs::read_dir(&beds).unwrap().next().unwrap().unwrap().path();
    let good = fs::read(&file).unwrap();
    fs::write(&file, &good[..good.len() / 2]).unwrap();
    let (again, notes) = run("c", Some(beds));
    assert!(notes.events[0].starts_with("refused: "), "{:?}", notes.events);
    assert_eq!(notes.events[1], "Settling to 1");
    assert_eq!(again, settled);
    // A cache that cannot be written does not stop a run either.
    let (again, notes) = run("d", Some(file.join("below-a-file")));
    assert!(
        notes.events[3].starts_with("not kept: cannot create the folder"),
        "{:?}",
        notes.events
    );
    assert_eq!(again, settled);
}

#[test]
fn a_bed_from_a_file_is_accepted_for_its_own_scene_only() {
    let out = folder();
    let file = scene(BED);
    let mut built = file.build().unwrap();
    let settling = built.settling.take().unwrap();
    let bed = settle(&file, &built, &settling, None, &AtomicBool::new(false), &mut ()).unwrap();
    let path = out.path().join("bed.bin");
    settling.write(&path, &file, &bed).unwrap();
    let options = Options { bed: Some(path), ..Options::new(out.path().join("a")) };
    let from_bed = Run::new(&file, options.clone()).unwrap().execute(&mut ()).unwrap();
    let other = Options::new(out.path().join("b"));
    let settled = Run::new(&file, other).unwrap().execute(&mut ()).unwrap();
    assert_eq!(from_bed.state, settled.state);
    same_files(&out.path().join("a"), &out.path().join("b"));

    let more = scene(&BED.replace("count = 6", "count = 7"));
    let error = Run::new(&more, options).unwrap_err().to_string();
    assert!(error.contains("`count = 6`, now `count = 7`"), "{error}");
}

#[test]
fn interrupted_settling_leaves_neither_bed_nor_checkpoint() {
    let out = folder();
    let beds = out.path().join("beds");
    let options = Options { cache: Some(beds.clone()), ..Options::new(out.path().join("a")) };
    let run = Run::new(&scene(BED), options.clone()).unwrap();
    let mut notes = Notes::stopping(&run, Phase::Settling, 5);
    let summary = run.execute(&mut notes).unwrap();
    assert_eq!((summary.ending, summary.report.steps), (Ending::Interrupted, 0));
    assert_eq!(notes.steps, [5, 0]);
    assert!(!notes.events.contains(&"checkpoint".to_owned()), "{:?}", notes.events);
    assert!(!beds.exists());
    assert!(matches!(Run::resume_folder(&options.folder), Err(Error::NoCheckpoint { .. })));
}

#[test]
fn a_run_that_fails_names_the_law_and_leaves_a_complete_folder() {
    let text = r#"
        run = { dt = "1 ms", until = "50 ms", output_every = "10 ms" }
        [[mechanism]]
        name = "cart"
        [[mechanism.body]]
        name = "bar"
        mass = 2
        [[mechanism.joint]]
        name = "slide"
        type = "prismatic"
        child = "bar"
        axis = "x"
        [[mechanism.force]]
        name = "push"
        coordinate = "slide"
        law = "sqrt(0.0205 - t)"
    "#;
    let out = folder();
    let options = Options::new(out.path().join("a"));
    let summary = Run::new(&scene(text), options).unwrap().execute(&mut ()).unwrap();
    let Ending::Failed(message) = &summary.ending else { panic!("{:?}", summary.ending) };
    assert!(message.contains("the law of the force `push` is NaN at t = 0.02"), "{message}");
    let told = fs::read_to_string(summary.folder.join("summary.json")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["state"], &told["message"]), (&"failed".into(), &message.as_str().into()));
    let series = fs::read_to_string(summary.folder.join("series.csv")).unwrap();
    assert!(series.lines().count() >= 3, "{series}");
}

#[test]
fn contact_problems_are_written_with_their_solution() {
    let out = folder();
    let text = BLOCK.replace("seed = 5", "seed = 5\ntitle = \"a block\"\nsolver.tolerance = 1e-9");
    let options = Options { problems_every: Some(40), ..Options::new(out.path().join("a")) };
    Run::new(&scene(&text), options).unwrap().execute(&mut ()).unwrap();
    let mut names: Vec<_> = fs::read_dir(out.path().join("a/problems"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["problem-000040.hdf5", "problem-000080.hdf5"]);
    let stored = fclib::read(&out.path().join("a/problems").join(&names[1])).unwrap();
    assert_eq!(stored.info.title, "a block");
    assert!(stored.info.description.contains("step 80"), "{}", stored.info.description);
    let impulses = stored.solution.unwrap();
    // The rope is an equality constraint; the rest are the contacts of the block.
    assert!(!impulses.is_empty() && impulses.len() == stored.problem.len());
    let found = residual(&stored.problem, &impulses);
    // The tolerance of the solver, and rounding of the elimination.
    assert!(found.natural_map < 1e-8 * found.impulses, "{found:?}");
}

#[test]
fn warnings_suggest_a_remedy() {
    let out = folder();
    // One sweep is not enough for a block on four points next to a hanging weight.
    let text = BLOCK
        .replace("seed = 5", "seed = 5\nsolver = { max_sweeps = 1, tolerance = 1e-12 }")
        .replace("output_every", "on_unconverged = \"warn\"\noutput_every");
    let options = Options::new(out.path().join("a"));
    let summary = Run::new(&scene(&text), options).unwrap().execute(&mut ()).unwrap();
    let Some(warning @ Warning::Unconverged { unconverged, steps: 100, .. }) =
        summary.warnings.first()
    else {
        panic!("{:?}", summary.warnings);
    };
    assert_eq!(*unconverged, summary.report.unconverged);
    assert!(warning.to_string().contains("increase `max_sweeps`"), "{warning}");
    let overlap = Warning::Overlap { relative: 0.034, clearance: false }.to_string();
    assert!(overlap.starts_with("bodies overlapped by up to 3.4 % of the grain size"), "{overlap}");
    let drift = Warning::JointDrift { relative: 0.5 }.to_string();
    assert!(drift.contains("50.0 %") && drift.contains("project = true"), "{drift}");
}
