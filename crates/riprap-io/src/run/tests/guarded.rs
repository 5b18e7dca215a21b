//! Runs with a disturbance: another run, an error, an impatient user.

use super::*;

#[test]
fn a_folder_in_use_is_rejected_and_its_files_are_kept() {
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

/// A riprap file with one byte changed and a matching checksum, as in a deliberate forgery.
fn forge(path: &Path, at: usize) -> Vec<u8> {
    let mut bytes = fs::read(path).unwrap();
    let end = bytes.len() - 4;
    bytes[at] ^= 1;
    let mut crc = flate2::Crc::new();
    crc.update(&bytes[..end]);
    bytes[end..].copy_from_slice(&crc.sum().to_le_bytes());
    bytes
}

#[test]
fn a_forged_checkpoint_is_rejected_and_the_last_two_of_the_run_are_accepted() {
    let out = folder();
    let scene = scene(BLOCK);
    let path = out.path().join("a");
    let options = Options { checkpoint_every: Some(0.01), ..Options::new(&path) };
    Run::new(&scene, options.clone()).unwrap().execute(&mut ()).unwrap();
    let (checkpoint, summary) = (Checkpoint::path(&path), path.join("summary.json"));
    let good = fs::read(&checkpoint).unwrap();
    let longer = Options { until: Some(0.2), ..options };

    // The state is near the end, before the writers; any of its bytes will do.
    fs::write(&checkpoint, forge(&checkpoint, good.len() / 2)).unwrap();
    let told = Run::resume(&scene, longer.clone()).unwrap_err().to_string();
    assert!(told.contains("checkpoint.bin: the checkpoint was not written by this run"), "{told}");
    assert!(told.contains("remove `checkpoint_sha256` from summary.json"), "{told}");

    // Killed between the summary and the checkpoint: the old one is still in place and accepted.
    fs::write(&checkpoint, &good).unwrap();
    let text = fs::read_to_string(&summary).unwrap();
    let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
    record["checkpoint_sha256"].as_array_mut().unwrap().push("00".into());
    fs::write(&summary, record.to_string()).unwrap();
    assert!(Run::resume(&scene, longer.clone()).is_ok());
    // A run of an earlier version has no record.
    record.as_object_mut().unwrap().remove("checkpoint_sha256");
    fs::write(&summary, record.to_string()).unwrap();
    let resumed = Run::resume(&scene, longer).unwrap().execute(&mut ()).unwrap();
    assert_eq!(resumed.ending, Ending::Finished);
    let text = fs::read_to_string(&summary).unwrap();
    assert!(text.contains("checkpoint_sha256"), "{text}");
}

#[test]
fn a_bed_replaced_after_the_start_is_reported() {
    let out = folder();
    let beds = out.path().join("beds");
    let scene = scene(BED);
    let run = out.path().join("a");
    let options =
        Options { cache: Some(beds.clone()), checkpoint_every: Some(0.005), ..Options::new(&run) };
    Run::new(&scene, options.clone()).unwrap().execute(&mut ()).unwrap();
    let longer = |until| Options { until: Some(until), ..options.clone() };
    let resume = |until| {
        let mut notes = Notes::default();
        Run::resume(&scene, longer(until)).unwrap().execute(&mut notes).unwrap();
        notes.events[0].clone()
    };
    assert!(resume(0.03).starts_with("resumed at"));
    let file = fs::read_dir(&beds).unwrap().next().unwrap().unwrap().path();
    let position = fs::read(&file).unwrap().len();
    // After the text of the scene, most of the file is data of the grains.
    fs::write(&file, forge(&file, position - 400)).unwrap();
    assert!(resume(0.04).starts_with("BedChanged"), "{}", resume(0.05));
    // The record of the first start is kept.
    assert!(resume(0.06).starts_with("BedChanged"));
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
fn an_aborted_run_is_not_left_as_running_in_its_summary() {
    let out = folder();
    let path = out.path().join("a");
    let scene = scene(BLOCK);
    // A file in place of the folder of problems, which is created after the summary.
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
    // Running to the end would take days.
    assert!(begin.elapsed().as_secs_f64() < 30.0);
    assert_eq!((summary.ending, summary.report.steps), (Ending::Interrupted, 0));
    let pulse = pulses.0.unwrap();
    assert!(pulse.steps() > 0 && pulse.dt() > 0.0 && pulse.dt() < 1e-9, "{pulse:?}");
    assert!(pulse.time() > 0.0 && pulse.time() < 0.01, "{pulse:?}");
}

/// Stores the pulse of a run.
#[derive(Default)]
struct Pulses(Option<Arc<Pulse>>);

impl Watch for Pulses {
    fn event(&mut self, event: Event) {
        if let Event::InnerSteps { pulse } = event {
            self.0 = Some(Arc::clone(pulse));
        }
    }
}
