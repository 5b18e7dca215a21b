//! Runs that something gets in the way of: another run, an error, an impatient user.

use super::*;

#[test]
fn a_folder_in_use_is_refused_and_its_files_stay() {
    let out = folder();
    let scene = scene(BLOCK);
    let path = out.path().join("a");
    let options = Options { checkpoint_every: Some(0.01), ..Options::new(&path) };
    Run::new(&scene, options.clone()).unwrap().execute(&mut ()).unwrap();
    let before = contents(&path);
    let lock = RunFolder::lock(&path).unwrap();
    if !lock.holds() {
        return; // a file system without locks
    }
    let overwrite = Options { existing: Existing::Overwrite, ..options.clone() };
    let longer = Options { until: Some(0.2), ..overwrite.clone() };
    for refused in [
        Run::new(&scene, overwrite).unwrap().execute(&mut ()).map(|_| ()),
        Run::resume(&scene, longer.clone()).map(|_| ()),
        Run::resume_or_new(&scene, longer.clone()).map(|_| ()),
    ] {
        let error = refused.unwrap_err();
        assert!(matches!(error, Error::Start(crate::Error::InUse { .. })), "{error}");
        assert!(error.to_string().contains("in use by process"), "{error}");
    }
    drop(lock);
    assert_eq!(contents(&path), before);
    let run = Run::resume_or_new(&scene, longer).unwrap();
    assert!(run.resumes() && Run::resume(&scene, options).is_err());
    drop(run);
    assert_eq!(contents(&path), before);
}

#[test]
fn a_step_that_did_not_converge_is_part_of_the_summary() {
    let out = folder();
    let text = BLOCK
        .replace("seed = 5", "seed = 5\nsolver = { max_sweeps = 1, tolerance = 1e-12 }")
        .replace("output_every", "on_unconverged = \"fail\"\noutput_every");
    let summary = Run::new(&scene(&text), Options::new(out.path().join("a")));
    let summary = summary.unwrap().execute(&mut ()).unwrap();
    assert!(matches!(summary.ending, Ending::Failed(_)), "{:?}", summary.ending);
    assert_eq!(summary.report.unconverged, 1);
    let state = summary.state.unwrap();
    assert_eq!((summary.report.steps, summary.time), (state.step, state.t));
    let told = fs::read_to_string(summary.folder.join("summary.json")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["state"], &told["unconverged_steps"]), (&"failed".into(), &1.into()));
    assert_eq!((&told["steps"], &told["time_s"]), (&state.step.into(), &state.t.into()));
}

#[test]
fn a_run_that_cannot_go_on_does_not_stay_running_in_its_summary() {
    let out = folder();
    let path = out.path().join("a");
    let scene = scene(BLOCK);
    // A file in the way of the folder of problems, which is made after the summary.
    let options = Options { until: Some(0.002), ..Options::new(&path) };
    Run::new(&scene, options.clone()).unwrap().execute(&mut ()).unwrap();
    fs::write(path.join("problems"), "in the way").unwrap();
    let options =
        Options { problems_every: Some(1), existing: Existing::Overwrite, ..options.clone() };
    let error = Run::new(&scene, options).unwrap().execute(&mut ()).unwrap_err();
    assert!(error.to_string().contains("problems"), "{error}");
    let told = fs::read_to_string(path.join("summary.json")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["state"], "failed");
    assert_eq!(told["message"], error.to_string());
}

#[test]
fn a_stiff_mechanism_is_interrupted_within_a_step() {
    let text = r#"
        run = { scheme = "dormand-prince", until = "10 ms" }
        [[mechanism]]
        name = "m"
        [[mechanism.body]]
        name = "a"
        mass = 1
        inertia = 1
        centre = [1, 0, 0]
        [[mechanism.joint]]
        name = "j"
        child = "a"
        type = "revolute"
        axis = "y"
        start = 0.1
        spring = { stiffness = 1e20 }
    "#;
    let out = folder();
    let run = Run::new(&scene(text), Options::new(out.path().join("a"))).unwrap();
    let interrupt = run.interrupt();
    let begin = std::time::Instant::now();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        interrupt.store(true, Ordering::Relaxed);
    });
    let mut pulses = Pulses::default();
    let summary = run.execute(&mut pulses).unwrap();
    stopper.join().unwrap();
    // To the end it would take days.
    assert!(begin.elapsed().as_secs_f64() < 30.0);
    assert_eq!((summary.ending, summary.report.steps), (Ending::Interrupted, 0));
    let pulse = pulses.0.unwrap();
    assert!(pulse.steps() > 0 && pulse.dt() > 0.0 && pulse.dt() < 1e-9, "{pulse:?}");
    assert!(pulse.time() > 0.0 && pulse.time() < 0.01, "{pulse:?}");
}

/// Keeps the pulse of a run.
#[derive(Default)]
struct Pulses(Option<Arc<Pulse>>);

impl Watch for Pulses {
    fn event(&mut self, event: Event) {
        if let Event::InnerSteps { pulse } = event {
            self.0 = Some(Arc::clone(pulse));
        }
    }
}
