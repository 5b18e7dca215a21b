//! Which steps a run file has, whatever the intervals, and however often the run was interrupted; readers of a growing file.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use riprap_io::run::{Options, Run};
use riprap_io::run_file::{FILE, RunFile};
use riprap_io::run_folder::Existing;
use riprap_io::scene_file::{FrameFormat, SceneFile};

use super::{example, frame, run, run_to, scene};

/// A ball that bounces on a floor.
fn bouncing(keys: &str) -> SceneFile {
    scene(&format!(
        r#"
        run = {{ dt = "1 ms", {keys} }}
        materials.rubber = {{ density = 1000, restitution = 0.8, friction = 0.3 }}
        [[body]]
        name = "floor"
        kind = "fixed"
        material = "rubber"
        shape = {{ type = "half-space" }}
        [[body]]
        name = "ball"
        material = "rubber"
        position = [0, 0, 0.101]
        velocity = [1, 0, -0.5]
        shape = {{ type = "sphere", radius = 0.1 }}
        "#
    ))
}

#[test]
fn a_step_is_written_whenever_surfaces_or_contacts_are_due_and_at_the_end() {
    // Keys, intervals of surfaces and contacts in steps, number of steps.
    let cases = [
        ("until = 0.02, output_every = 0.005", 5, 5, 20),
        ("until = 0.021, output_every = 0.005", 5, 5, 21),
        ("until = 0.02, frames_every = 0.002, contacts_every = 0.006", 2, 6, 20),
        ("until = 0.02, frames_every = 0.006, contacts_every = 0.002", 6, 2, 20),
        ("until = 0.02, output_every = 0.004, contacts_every = 0.003", 4, 3, 20),
        ("until = 0.02, output_every = 0.001, frames_every = 0.007", 7, 7, 20),
        ("until = 0.02, output_every = 1", 20, 20, 20),
        ("until = 0.01, output_every = 0.003, series_every = 0.001", 3, 3, 10),
        ("until = 0.001, output_every = 0.001", 1, 1, 1),
        ("until = 0", 1, 1, 0),
    ];
    let out = tempfile::tempdir().unwrap();
    for (k, (keys, surfaces, contacts, n)) in cases.into_iter().enumerate() {
        let file = run(&bouncing(keys), &out.path().join(k.to_string()));
        let due = |every: u64| (0..=n).filter(move |k| k % every == 0 || *k == n);
        let all: Vec<u64> =
            (0..=n).filter(|k| due(surfaces).chain(due(contacts)).any(|d| d == *k)).collect();
        assert_eq!(file.steps(), all, "{keys}");
        let last_due = |step: u64, every: u64| due(every).filter(|k| *k <= step).max().unwrap();
        for (i, step) in all.iter().enumerate() {
            let time = |step: u64| 1e-3 * step as f64;
            let near = |found: f64, step: u64| (found - time(step)).abs() < 1e-12;
            assert!(near(file.times()[i], *step), "{keys}");
            assert!(near(file.surface_times()[i], last_due(*step, surfaces)), "{keys} at {step}");
            assert!(near(file.contact_times()[i], last_due(*step, contacts)), "{keys} at {step}");
            assert_eq!(file.surfaces(i).unwrap().time, file.surface_times()[i]);
            assert_eq!(file.contacts(i).unwrap().time, file.contact_times()[i]);
        }
    }
}

#[test]
fn adaptive_steps_are_written_when_they_reach_the_time_of_an_output() {
    let out = tempfile::tempdir().unwrap();
    let mut scene = example("four-bar", 0.3, 0.05);
    scene.run.contacts_every = 0.15;
    let file = run(&scene, &out.path().join("run"));
    let times = file.times();
    assert!(times.is_sorted_by(|a, b| a < b) && file.steps().is_sorted_by(|a, b| a < b));
    assert_eq!((times[0], *times.last().unwrap()), (0.0, 0.3));
    for every in [0.05, 0.1, 0.15, 0.2, 0.25] {
        // The first step at or after each output, and none between.
        let reached = times.iter().filter(|t| **t >= every - 1e-9 && **t < every + 0.05 - 1e-9);
        assert_eq!(reached.count(), 1, "{every}: {times:?}");
    }
    assert_eq!(file.contact_times()[..3], [0.0; 3]);
    assert_eq!(file.contact_times()[4], times[3]);
}

/// What a file of an interrupted run must be: steps in order, the state of the last one, and a whole file after resuming.
fn check_interruption(scene: &SceneFile, whole: &Path, folder: &Path, step: u64) {
    run_to(scene, folder, step);
    let [reference, file] = [whole, folder].map(|folder| RunFile::open(folder).unwrap());
    let times = file.times();
    assert!(times.is_sorted_by(|a, b| a < b), "interrupted after {step}: {times:?}");
    assert_eq!(file.steps().last(), Some(&step));
    // All but the last step are those of the whole run.
    for k in 0..times.len() - 1 {
        assert_eq!(file.steps()[k], reference.steps()[k]);
        assert_eq!(file.frame(k).unwrap(), reference.frame(k).unwrap());
    }
    Run::resume_folder(folder).unwrap().execute(&mut ()).unwrap();
    let [a, b] = [whole, folder].map(|folder| std::fs::read(folder.join(FILE)).unwrap());
    assert!(a == b, "the file of a run interrupted after {step} steps differs");
}

#[test]
fn a_run_interrupted_after_any_step_has_one_step_per_time_and_resumes_to_the_same_file() {
    let out = tempfile::tempdir().unwrap();
    let scene = bouncing(
        "until = 0.024, frames_every = 0.004, contacts_every = 0.006, force_chains = true",
    );
    let whole = out.path().join("whole");
    run(&scene, &whole);
    for step in 1..24 {
        check_interruption(&scene, &whole, &out.path().join(step.to_string()), step);
    }
}

#[test]
fn runs_whose_ropes_break_resume_to_the_same_file_from_every_output() {
    let out = tempfile::tempdir().unwrap();
    let mut scene = SceneFile::read("tests/data/ropes.toml").unwrap();
    (scene.run.frames_every, scene.run.contacts_every) = (0.02, 0.01);
    let whole = out.path().join("whole");
    run(&scene, &whole);
    for step in [1, 2, 3, 10, 20, 25, 30, 40, 50, 99] {
        check_interruption(&scene, &whole, &out.path().join(step.to_string()), step);
    }
}

#[test]
fn runs_whose_stones_break_resume_to_the_same_file_from_every_output() {
    let scene = scene(
        r#"
        seed = 4
        run = { dt = "1 ms", until = "60 ms", frames_every = "10 ms", contacts_every = "4 ms" }
        materials.steel = { density = 7800, friction = 0.5 }
        [materials.rock]
        density = 2700
        friction = 0.5
        fragmentation = { criterion = "stress", strength = "0.1 MPa", weibull = 3, reference_size = "10 cm", smallest = "20 mm", average = "2 ms" }
        [[body]]
        kind = "fixed"
        shape = { type = "half-space" }
        material = "steel"
        [[body]]
        name = "stone"
        position = [0, 0, 0.05]
        shape = { type = "box", size = [0.1, 0.1, 0.1] }
        material = "rock"
        [[body]]
        name = "plate"
        position = [0, 0, 0.16]
        velocity = [0, 0, -1]
        shape = { type = "box", size = [0.4, 0.4, 0.1] }
        material = "steel"
        "#,
    );
    let out = tempfile::tempdir().unwrap();
    let whole = out.path().join("whole");
    let file = run(&scene, &whole);
    let models = file.models();
    assert!(models[0] == 0 && models[models.len() - 1] > 0, "{models:?}");
    for k in 0..models.len() {
        let (model, poses) = (file.model(models[k]).unwrap(), file.frame(k).unwrap());
        assert_eq!(poses.position.len(), model.names.len());
        // Pieces have the mass of the stone, and contacts are those of bodies that exist.
        let mass: f32 = model.mass.iter().sum();
        assert!((mass / (2.7 + 7800.0 * 0.016) - 1.0).abs() < 1e-5, "{mass}");
        let bodies = file.contacts(k).unwrap().bodies;
        assert!(bodies.iter().flatten().all(|body| (*body as usize) < model.names.len()));
        let ids: std::collections::HashSet<u32> = model.ids.iter().copied().collect();
        assert!(file.surfaces(k).unwrap().bodies.iter().all(|id| ids.contains(id)));
    }
    for step in [4, 10, 12, 20, 21, 28, 30, 40, 41, 50, 59] {
        check_interruption(&scene, &whole, &out.path().join(step.to_string()), step);
    }
}

#[test]
fn a_run_interrupted_twice_and_killed_resumes_to_the_same_file() {
    let out = tempfile::tempdir().unwrap();
    let mut scene = bouncing("until = 0.03, frames_every = 0.004, contacts_every = 0.006");
    scene.run.checkpoint_every = Some(0.005);
    let [whole, parts] = ["whole", "parts"].map(|name| out.path().join(name));
    run(&scene, &whole);
    run_to(&scene, &parts, 7);
    let options = Options::new(&parts);
    let mut stop = super::Stop(17, options.interrupt.clone());
    Run::resume(&scene, options).unwrap().execute(&mut stop).unwrap();
    // A kill while a step was written: bytes behind the last complete one.
    let mut bytes = std::fs::read(parts.join(FILE)).unwrap();
    bytes.extend([0xab; 1234]);
    std::fs::write(parts.join(FILE), bytes).unwrap();
    Run::resume(&scene, Options::new(&parts)).unwrap().execute(&mut ()).unwrap();
    let [a, b] = [whole, parts].map(|folder| std::fs::read(folder.join(FILE)).unwrap());
    assert!(a == b);
}

#[test]
fn a_resumed_run_needs_its_file() {
    let out = tempfile::tempdir().unwrap();
    let scene = bouncing("until = 0.02, output_every = 0.004");
    type Damage = (&'static str, &'static str, fn(&Path));
    let cases: [Damage; 3] = [
        ("missing", "cannot open", |path| std::fs::remove_file(path).unwrap()),
        ("text", "not a run file", |path| std::fs::write(path, "text").unwrap()),
        ("short", "not a run file", |path| {
            let bytes = std::fs::read(path).unwrap();
            std::fs::write(path, &bytes[..6000]).unwrap();
        }),
    ];
    for (name, says, damage) in cases {
        let folder = out.path().join(name);
        run_to(&scene, &folder, 10);
        damage(&folder.join(FILE));
        let told = Run::resume_folder(&folder).unwrap().execute(&mut ()).unwrap_err().to_string();
        assert!(told.contains(says) && told.contains(FILE), "{name}: {told}");
    }
}

#[test]
fn thousands_of_frames_are_found_and_continued_across_all_levels_of_the_index() {
    // 64 entries per node: 4096 frames fill two levels. In free flight x = v t.
    let mut scene = scene(
        r#"
        gravity = [0, 0, 0]
        run = { dt = "1 ms", until = "4.2 s", output_every = "1 ms", series_every = "1 s" }
        materials.rock = { density = 2000 }
        [[body]]
        material = "rock"
        velocity = [1, -2, 0.5]
        shape = { type = "sphere", radius = 0.1 }
        "#,
    );
    let out = tempfile::tempdir().unwrap();
    let whole = out.path().join("whole");
    let file = run(&scene, &whole);
    assert_eq!(file.times().len(), 4201);
    for k in [0, 1, 62, 63, 64, 65, 127, 128, 129, 4094, 4095, 4096, 4097, 4160, 4200] {
        let (poses, t) = (file.frame(k).unwrap(), 1e-3 * k as f64);
        for (x, v) in poses.position[0].into_iter().zip([1.0, -2.0, 0.5]) {
            assert!((x - v * t).abs() < 1e-9, "frame {k}");
        }
        // The sphere of the surface is around its centre.
        let points = file.surfaces(k).unwrap().points;
        let mean = points.iter().map(|p| f64::from(p[0])).sum::<f64>() / points.len() as f64;
        assert!((mean - t).abs() < 1e-3, "frame {k}: {mean}");
    }
    let other = hdf5_pure::File::open(whole.join(FILE)).unwrap();
    let times = other.dataset("VTKHDF/stones/Steps/Values").unwrap().read_f64().unwrap();
    assert_eq!(times, file.times());
    scene.run.checkpoint_every = None;
    for step in [63, 4095, 4096, 4097] {
        let folder = out.path().join(step.to_string());
        run_to(&scene, &folder, step);
        Run::resume_folder(&folder).unwrap().execute(&mut ()).unwrap();
        let [a, b] = [&whole, &folder].map(|folder| std::fs::read(folder.join(FILE)).unwrap());
        assert!(a == b, "interrupted after {step}");
    }
}

#[test]
fn readers_in_other_threads_see_whole_frames_of_a_file_that_grows() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("run");
    let scene = bouncing("until = 1, output_every = 0.001, contacts_every = 0.003");
    let over = AtomicBool::new(false);
    let read = || {
        let mut seen = Vec::new();
        let mut file = loop {
            match RunFile::open(&folder) {
                Ok(file) => break file,
                Err(_) => std::thread::yield_now(),
            }
        };
        loop {
            let last = over.load(Ordering::Acquire);
            file.refresh().unwrap();
            for k in seen.len()..file.times().len() {
                seen.push(frame(&file, k).unwrap());
            }
            if last {
                return seen;
            }
        }
    };
    std::thread::scope(|scope| {
        let readers = [scope.spawn(read), scope.spawn(read)];
        let whole = run(&scene, &folder);
        over.store(true, Ordering::Release);
        for reader in readers {
            let seen = reader.join().unwrap();
            assert_eq!(seen.len(), 1001);
            for (k, found) in seen.iter().enumerate() {
                assert!(*found == frame(&whole, k).unwrap(), "frame {k}");
            }
        }
    });
}

#[test]
fn a_reader_notices_that_a_resumed_run_has_removed_frames() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("run");
    let scene = bouncing("until = 0.02, output_every = 0.004");
    run_to(&scene, &folder, 10);
    let mut file = RunFile::open(&folder).unwrap();
    assert_eq!(file.steps(), [0, 4, 8, 10]);
    Run::resume_folder(&folder).unwrap().execute(&mut ()).unwrap();
    file.refresh().unwrap();
    assert_eq!(file.times().len(), 6);
    let fresh = RunFile::open(&folder).unwrap();
    // The frame of the interruption at 10 ms is not part of the resumed run.
    assert_eq!(fresh.steps(), [0, 4, 8, 12, 16, 20]);
    assert_eq!(file.steps(), fresh.steps());
}

/// Names of the frames of a run: the run file, its index of `.vtp` files, and those.
fn kinds(folder: &Path) -> [bool; 3] {
    let vtp =
        std::fs::read_dir(folder.join("frames")).is_ok_and(|mut files| files.next().is_some());
    [folder.join(FILE).exists(), folder.join("run.pvd").exists(), vtp]
}

#[test]
fn overwriting_a_run_removes_frames_of_both_kinds() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("run");
    let mut scene = bouncing("until = 0.01, output_every = 0.002, frames = \"both\"");
    run(&scene, &folder);
    assert_eq!(kinds(&folder), [true; 3]);
    std::fs::write(folder.join("notes.txt"), "mine").unwrap();
    let cases = [
        (None, [false; 3]),
        (Some(FrameFormat::Both), [true; 3]),
        (Some(FrameFormat::Vtkhdf), [true, false, false]),
        (Some(FrameFormat::Vtp), [false, true, true]),
        (Some(FrameFormat::Both), [true; 3]),
    ];
    for (format, expected) in cases {
        scene.run.frames = format;
        let refused = Run::new(&scene, Options::new(&folder)).unwrap().execute(&mut ());
        assert!(refused.unwrap_err().to_string().contains("already contains a run"));
        let options = Options { existing: Existing::Overwrite, ..Options::new(&folder) };
        Run::new(&scene, options).unwrap().execute(&mut ()).unwrap();
        assert_eq!(kinds(&folder), expected, "{format:?}");
        assert_eq!(std::fs::read_to_string(folder.join("notes.txt")).unwrap(), "mine");
    }
    // Both kinds show the same times.
    let index = std::fs::read_to_string(folder.join("run.pvd")).unwrap();
    let file = RunFile::open(&folder).unwrap();
    assert_eq!(index.matches("surfaces-").count(), file.times().len());
}

#[test]
fn every_spelling_of_frames_is_understood_and_survives_the_resolved_scene() {
    let cases = [
        ("", Some(FrameFormat::Vtkhdf), "frames = \"vtkhdf\""),
        (", frames = true", Some(FrameFormat::Vtkhdf), "frames = \"vtkhdf\""),
        (", frames = \"vtkhdf\"", Some(FrameFormat::Vtkhdf), "frames = \"vtkhdf\""),
        (", frames = \"vtp\"", Some(FrameFormat::Vtp), "frames = \"vtp\""),
        (", frames = \"both\"", Some(FrameFormat::Both), "frames = \"both\""),
        (", frames = false", None, "frames = false"),
    ];
    for (key, format, resolved) in cases {
        let file = bouncing(&format!("until = 0.01{key}"));
        assert_eq!(file.run.frames, format, "{key}");
        let told = file.to_toml();
        assert!(told.contains(resolved), "{key}: {told}");
        assert_eq!(scene(&told).run.frames, format, "{key}");
    }
}

#[test]
fn wrong_values_of_frames_are_reported_with_their_place() {
    let cases = [
        ("frames = \"vtk\"", "did you mean \"vtp\"?"),
        ("frames = \"hdf5\"", "\"vtkhdf\""),
        ("frames = \"\"", "\"vtkhdf\""),
        ("frames = \"VTP\"", "vtp"),
        ("frames = 1", "got"),
        ("frames = [\"vtp\", \"vtkhdf\"]", "got"),
        ("frames = { format = \"vtp\" }", "got"),
        ("frame = \"vtp\"", "did you mean `frames`?"),
    ];
    for (key, says) in cases {
        let text = format!(
            "[run]\ndt = 1e-3\nuntil = 1\n{key}\n[materials.a]\n[[body]]\nmaterial = \"a\"\n\
             mass = 1\nshape = {{ type = \"sphere\", radius = 1 }}\n"
        );
        let errors = SceneFile::parse(&text, ".").unwrap_err();
        let [problem] = &errors.problems[..] else { panic!("{key}: {errors}") };
        assert_eq!(errors.line_column(problem.span.start).0, 4, "{key}: {errors}");
        assert!(errors.to_string().contains(says), "{key}: {errors}");
    }
}
