//! Small runs written to a folder and read back.

use super::*;
use riprap::simulation::Simulation;
use std::path::PathBuf;

const BALL: &str = "\
seed = 5
[run]
dt = \"1 ms\"
until = \"0.1 s\"
output_every = \"30 ms\"
frames = \"both\"
[materials.rock]
density = 1000
friction = 0.5
[[body]]
kind = \"fixed\"
shape = { type = \"half-space\" }
material = \"rock\"
[[body]]
name = \"block\"
shape = { type = \"polyhedron\", points = [[0,0,0], [1,0,0], [1,1,0], [0,1,0], [0,0,1], [1,0,1], [1,1,1], [0,1,1]] }
material = \"rock\"
[[probe]]
body = \"block\"
quantities = [\"position\", \"rotation\", \"force\", \"torque\", \"work\"]
";

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("riprap-output-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(path.join("summary.json")).unwrap()).unwrap()
}

#[test]
fn the_output_of_a_run_is_complete_and_records_its_ending() {
    let file = SceneFile::parse(BALL, ".").unwrap();
    let built = file.build().unwrap();
    let path = folder("whole");
    let mut writer = RunWriter::create(&path, Existing::Keep, &file, &built, 3).unwrap();
    assert_eq!(json(&path)["state"], "running");
    let mut run = Simulation::new(built.scene, file.scheme()).unwrap();
    run.until(file.run.until, &mut writer).unwrap();
    writer.finish(Some(&run.frame()), &Ending::Finished).unwrap();

    let summary = json(&path);
    assert_eq!(summary["state"], "finished");
    assert_eq!((&summary["steps"], &summary["threads"]), (&100.into(), &3.into()));
    assert_eq!((&summary["seed"], &summary["contacts"]["max"]), (&5.into(), &4.into()));
    let series = std::fs::read_to_string(path.join("series.csv")).unwrap();
    let rows: Vec<Vec<&str>> = series.lines().map(|line| line.split(',').collect()).collect();
    // 0, 30, 60, 90 ms and the end.
    assert_eq!(rows.len(), 6);
    let column = |name: &str| rows[0].iter().position(|heading| *heading == name).unwrap();
    assert_eq!(rows[5][column("contacts [-]")], "4");
    let x: f64 = rows[5][column("block.position_x [m]")].parse().unwrap();
    assert!(x.abs() < 1e-9, "{x}"); // the corner of the block, which is at rest
    let weight: f64 = rows[5][column("block.force_mean_z [N]")].parse().unwrap();
    assert!((weight - 9810.0).abs() < 1.0); // the tolerance of the solver is 1e-4
    for number in 0..5 {
        for part in ["surfaces", "contacts"] {
            assert!(path.join(format!("frames/{part}-{number:06}.vtp")).is_file());
        }
    }
    let scene = SceneFile::read(path.join("scene.toml")).unwrap();
    assert_eq!(scene, file);
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn a_run_that_fails_records_the_reason() {
    let file = SceneFile::parse(BALL, ".").unwrap();
    let built = file.build().unwrap();
    let path = folder("failed");
    let mut writer = RunWriter::create(&path, Existing::Keep, &file, &built, 1).unwrap();
    writer.finish(None, &Ending::Failed("the sky fell".into())).unwrap();
    let summary = json(&path);
    assert_eq!(summary["state"], "failed");
    assert_eq!(summary["message"], "the sky fell");
    assert!(summary["energy_end"].is_null());
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn every_face_is_shown_and_the_floor_is_a_patch() {
    let file = SceneFile::parse(BALL, ".").unwrap();
    let surfaces = Surfaces::new(&file.build().unwrap().scene);
    let run = Simulation::new(file.build().unwrap().scene, file.scheme()).unwrap();
    let data = surfaces.bodies(&Snapshot::of(&run.frame()));
    assert_eq!((data.n_points(), data.n_cells()), (4 + 8, 1 + 6));
}

#[test]
fn the_error_of_a_frame_that_cannot_be_written_is_returned() {
    let file = SceneFile::parse(BALL, ".").unwrap();
    let built = file.build().unwrap();
    let path = folder("refused");
    let mut writer = RunWriter::create(&path, Existing::Keep, &file, &built, 1).unwrap();
    let mut run = Simulation::new(built.scene, file.scheme()).unwrap();
    run.until(0.04, &mut writer).unwrap();
    writer.files.wait().unwrap();
    std::fs::remove_dir_all(path.join("frames")).unwrap();
    // The frame of 60 ms is submitted with the last step: the error is returned then, or when waiting for the queue.
    let told = run.until(0.06, &mut writer).map(drop).map_err(|e| e.to_string());
    let error = told.and_then(|()| writer.files.wait().map_err(|e| e.to_string())).unwrap_err();
    assert!(error.contains("cannot write") && error.contains("surfaces-000002"), "{error}");
    writer.finish(Some(&run.frame()), &Ending::Failed(error)).unwrap();
    assert_eq!(json(&path)["state"], "failed");
    let series = std::fs::read_to_string(path.join("series.csv")).unwrap();
    assert_eq!(series.lines().count(), 1 + 3);
    std::fs::remove_dir_all(path).unwrap();
}

/// The last row of a run, by column heading.
fn last_row(text: &str, name: &str) -> impl Fn(&str) -> f64 {
    let file = SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"));
    let built = file.build().unwrap_or_else(|e| panic!("{e}"));
    let path = folder(name);
    let mut writer = RunWriter::create(&path, Existing::Keep, &file, &built, 1).unwrap();
    let mut run = Simulation::new(built.scene, file.scheme()).unwrap();
    run.until(file.run.until, &mut writer).unwrap();
    writer.finish(Some(&run.frame()), &Ending::Finished).unwrap();
    let again = SceneFile::read(path.join("scene.toml")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again, file);
    let series = std::fs::read_to_string(path.join("series.csv")).unwrap();
    std::fs::remove_dir_all(path).unwrap();
    move |heading| {
        let mut columns = series.lines().next().unwrap().split(',');
        let at = columns.position(|one| one == heading).unwrap_or_else(|| {
            panic!("no {heading} in {}", series.lines().next().unwrap());
        });
        series.lines().last().unwrap().split(',').nth(at).unwrap().parse().unwrap()
    }
}

const HELD: &str = "\
[run]
scheme = \"dormand-prince\"
until = 0
[[mechanism]]
name = \"held\"
[[mechanism.body]]
name = \"bar\"
mass = 2
centre = [1, 0, 0]
[[mechanism.joint]]
name = \"hinge\"
type = \"revolute\"
child = \"bar\"
axis = \"-y\"
[[mechanism.body]]
name = \"lift\"
mass = 3
[[mechanism.joint]]
name = \"rise\"
type = \"prismatic\"
child = \"lift\"
axis = \"z\"
motion = \"1 + t^2\"
[[mechanism.body]]
name = \"ball\"
mass = 1
inertia = 1
[[mechanism.joint]]
name = \"socket\"
type = \"spherical\"
child = \"ball\"
start_rotation = { axis = [0, 0, 1], angle = \"180 deg\" }
[[mechanism.loop]]
name = \"stay\"
type = \"rod\"
a = { body = \"bar\", position = [2, 0, 0] }
b = { body = \"ground\", position = [2, 0, 1] }
length = 1
[[mechanism.spring]]
name = \"pull\"
a = { body = \"lift\" }
b = { body = \"ground\", position = [0, 0, 3] }
stiffness = 10
length = 1.5
[[mechanism.force]]
name = \"load\"
body = \"ball\"
torque = [0, 0, 7]
[[mechanism.force]]
name = \"rise\"
coordinate = \"hinge\"
law = \"0*t\"
[[probe]]
mechanism = \"held\"
quantities = [\"forces\", \"loop_forces\", \"joint_forces\", \"energy\"]
[[probe]]
body = \"held/bar\"
point = [2, 0, 0]
quantities = [\"position\", \"contacts\"]
";

#[test]
fn forces_of_a_mechanism_are_in_the_series_by_name() {
    let value = last_row(HELD, "held");
    let near = |heading: &str, expected: f64| {
        let found = value(heading);
        assert!((found - expected).abs() < 1e-9, "{heading}: {found}");
    };
    near("held.hinge.q [rad]", 0.0);
    near("held.rise.q [m]", 1.0);
    near("held.rise.force [N]", 3.0 * (9.81 + 2.0) - 5.0); // inertia and weight minus the spring
    near("held.socket.wz.v [rad/s]", 0.0);
    near("held.socket.q_w [-]", 0.0);
    near("held.socket.q_z [-]", 1.0);
    near("held.load.torque_mean_z [N m]", 7.0);
    near("held.rise.force_mean [N m]", 0.0); // a force with the name of a driven coordinate
    near("held.rise.drive_mean [N]", 3.0 * (9.81 + 2.0) - 5.0);
    near("held.rise.drive_impulse [N s]", 0.0);
    near("held.pull.tension_mean [N]", 5.0);
    near("held.pull.length [m]", 2.0);
    near("held.stay.length_mean [N]", -9.81); // it pulls its end on the ground down
    near("held.hinge.force_mean_z [N]", 9.81);
    near("held.hinge.torque_mean_y [N m]", 0.0);
    near("held.kinetic_energy [J]", 0.0);
    near("held.potential_energy [J]", 3.0 * 9.81 + 0.5 * 10.0 * 0.25);
    near("held.bar.position_x [m]", 2.0);
    near("held.bar.contacts [-]", 0.0);
}

const LYING: &str = "\
[run]
dt = \"1 ms\"
until = \"50 ms\"
frames = true
[materials.rock]
friction = 0.5
[[body]]
name = \"floor\"
kind = \"fixed\"
shape = { type = \"half-space\" }
material = \"rock\"
[[mechanism]]
name = \"flap\"
position = [0, 0, 0.05]
[[mechanism.body]]
name = \"bar\"
mass = 2
shapes = [{ shape = { type = \"box\", size = [1, 0.1, 0.1] }, material = \"rock\", position = [0.5, 0, 0] }]
[[mechanism.joint]]
name = \"hinge\"
type = \"revolute\"
child = \"bar\"
axis = \"-y\"
start_velocity = 1
[[probe]]
mechanism = \"flap\"
quantities = [\"joint_forces\"]
[[probe]]
body = \"flap/bar\"
name = \"bar\"
quantities = [\"force\", \"torque\", \"contacts\", \"work\"]
";

#[test]
fn joint_forces_include_contacts_and_contacts_do_work() {
    let value = last_row(LYING, "lying");
    // It was thrown up and has not come down: no contact carries a force, although the edge at the hinge is near the floor.
    assert_eq!((value("bar.work [J]"), value("bar.force_mean_z [N]")), (0.0, 0.0));
    let falling = LYING.replace("start_velocity = 1", "start_velocity = -1");
    let value = last_row(&falling, "fallen");
    assert!(value("bar.contacts [-]") > 0.0);
    let (floor, hinge) = (value("bar.force_mean_z [N]"), value("flap.hinge.force_mean_z [N]"));
    assert!((floor + hinge - 2.0 * 9.81).abs() < 1e-2, "{floor} {hinge}");
    // It balances the moment of its weight about the hinge; the tolerance of the solver is 1e-4.
    let torque = value("bar.torque_mean_y [N m]");
    assert!((torque + 9.81).abs() < 1e-2, "{torque}");
    // All of its energy, plus the work of its weight in the single step of the impact: 1.5 %.
    let begun = 0.5 * (2.0 * (1.0 + 0.01) / 12.0 + 2.0 * 0.25);
    assert!((value("bar.work [J]") + begun).abs() < 0.02 * begun, "{}", value("bar.work [J]"));
}

#[test]
fn the_force_of_a_joint_is_the_weight_it_carries() {
    let text = "\
[run]
dt = \"1 ms\"
until = \"0.1 s\"
output_every = \"0.1 s\"
frames = false
[solver]
tolerance = 1e-10
[materials.rock]
density = 1000
[[body]]
name = \"lamp\"
shape = { type = \"box\", size = [0.1, 0.1, 0.1] }
material = \"rock\"
position = [0.2, 0, 0]
[[joint]]
name = \"bracket\"
type = \"weld\"
between = [\"world\", \"lamp\"]
position = [0, 0, 0]
[[probe]]
joint = \"bracket\"
quantities = [\"force\", \"torque\", \"error\"]
";
    let file = SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"));
    let built = file.build().unwrap();
    let path = folder("joint");
    let mut writer = RunWriter::create(&path, Existing::Keep, &file, &built, 1).unwrap();
    let mut run = Simulation::new(built.scene, file.scheme()).unwrap();
    run.until(file.run.until, &mut writer).unwrap();
    writer.finish(Some(&run.frame()), &Ending::Finished).unwrap();
    let series = std::fs::read_to_string(path.join("series.csv")).unwrap();
    let rows: Vec<Vec<&str>> = series.lines().map(|line| line.split(',').collect()).collect();
    let value = |row: usize, name: &str| -> f64 {
        let at = rows[0].iter().position(|heading| *heading == name);
        rows[row][at.unwrap_or_else(|| panic!("no {name} in {:?}", rows[0]))].parse().unwrap()
    };
    assert_eq!(value(1, "bracket.force_mean_z [N]"), 0.0); // before the first step
    // 1 kg at 0.2 m: the joint carries its weight and the moment of it, which would rotate the lamp down about +y.
    assert!((value(2, "bracket.force_mean_z [N]") - 9.81).abs() < 1e-6);
    assert!((value(2, "bracket.torque_mean_y [N m]") + 0.2 * 9.81).abs() < 1e-6);
    assert!(
        value(2, "bracket.force_mean_x [N]").abs() < 1e-6
            && value(2, "bracket.torque_mean_x [N m]").abs() < 1e-6
    );
    assert!(value(2, "bracket.error [m]") < 1e-9 && value(2, "bracket.error_angle [rad]") < 1e-9);
    assert_eq!(json(&path)["bodies"], 1); // the world does not count
    assert!(json(&path)["joint_drift_max"].as_f64().unwrap() < 1e-9);
    std::fs::remove_dir_all(path).unwrap();
}

/// Requests the end of the run after a number of steps.
struct Until<'a>(&'a mut RunWriter, u64, u64);

impl Observer for Until<'_> {
    fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.2 = frame.state.step;
        self.0.observe(frame)
    }

    fn stop(&self) -> bool {
        self.2 >= self.1
    }
}

#[test]
fn a_run_stopped_at_any_step_resumes_to_the_same_state_and_series() {
    // A block that tips over an edge, so that its contacts change.
    let text = BALL.replace(
        "[[body]]\nname = \"block\"",
        "[[body]]\nname = \"block\"\nposition = [0, 0, 0.01]\nangular_velocity = [0.4, 0.9, 0.1]",
    );
    let file = SceneFile::parse(&text, ".").unwrap();
    let built = file.build().unwrap();
    let whole_path = folder("never-stopped");
    let mut writer = RunWriter::create(&whole_path, Existing::Keep, &file, &built, 1).unwrap();
    let mut whole = Simulation::new(built.scene.clone(), file.scheme()).unwrap();
    whole.until(file.run.until, &mut writer).unwrap();
    writer.finish(Some(&whole.frame()), &Ending::Finished).unwrap();

    for stop in [1, 29, 30, 31, 99] {
        let path = folder(&format!("stopped-{stop}"));
        let mut writer = RunWriter::create(&path, Existing::Keep, &file, &built, 1).unwrap();
        let mut run = Simulation::new(built.scene.clone(), file.scheme()).unwrap();
        run.until(file.run.until, &mut Until(&mut writer, stop, 0)).unwrap();
        writer.write_checkpoint(&run.frame()).unwrap();
        writer.finish(Some(&run.frame()), &Ending::Interrupted).unwrap();

        let checkpoint = Checkpoint::read(&path, &file).unwrap();
        assert_eq!(checkpoint.state, *run.state());
        let mut writer = RunWriter::resume(&path, &file, &built, 1, &checkpoint).unwrap();
        let mut run = Simulation::new(built.scene.clone(), file.scheme()).unwrap();
        run.set_state(checkpoint.state).unwrap();
        run.until(file.run.until, &mut writer).unwrap();
        writer.finish(Some(&run.frame()), &Ending::Finished).unwrap();
        assert_eq!(run.state(), whole.state(), "stopped after {stop} steps");
        let series = |path: &Path| std::fs::read_to_string(path.join("series.csv")).unwrap();
        assert_eq!(series(&path), series(&whole_path), "stopped after {stop} steps");
        assert_eq!(json(&path)["steps"], 100);
        std::fs::remove_dir_all(path).unwrap();
    }
    std::fs::remove_dir_all(whole_path).unwrap();
}

/// The times in the first column of the series [s].
fn row_times(path: &Path) -> Vec<f64> {
    let series = std::fs::read_to_string(path.join("series.csv")).unwrap();
    series.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn series_surfaces_and_contacts_have_separate_intervals() {
    let text = BALL.replace(
        "output_every = \"30 ms\"",
        "output_every = \"10 ms\"\nseries_every = \"5 ms\"\ncontacts_every = \"25 ms\"",
    );
    let file = SceneFile::parse(&text, ".").unwrap();
    assert_eq!((file.run.series_every, file.run.frames_every), (5e-3, 10e-3));
    let built = file.build().unwrap();
    let run = |name: &str, stop: u64| {
        let path = folder(name);
        let mut writer = RunWriter::create(&path, Existing::Keep, &file, &built, 1).unwrap();
        let mut run = Simulation::new(built.scene.clone(), file.scheme()).unwrap();
        run.until(file.run.until, &mut Until(&mut writer, stop, 0)).unwrap();
        writer.write_checkpoint(&run.frame()).unwrap();
        writer.finish(Some(&run.frame()), &Ending::Finished).unwrap();
        path
    };
    let path = run("intervals", 100);
    assert_eq!(row_times(&path).len(), 21);
    let count = |path: &Path, part: &str| {
        let files = std::fs::read_dir(path.join("frames")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(part)).count()
    };
    assert_eq!((count(&path, "surfaces-"), count(&path, "contacts-")), (11, 5));

    // Interrupted between two outputs of each kind, it resumes with the same series and index.
    let stopped = run("intervals-stopped", 63);
    let checkpoint = Checkpoint::read(&stopped, &file).unwrap();
    let mut writer = RunWriter::resume(&stopped, &file, &built, 1, &checkpoint).unwrap();
    let mut rest = Simulation::new(built.scene.clone(), file.scheme()).unwrap();
    rest.set_state(checkpoint.state).unwrap();
    rest.until(file.run.until, &mut writer).unwrap();
    writer.finish(Some(&rest.frame()), &Ending::Finished).unwrap();
    for name in ["series.csv", "run.pvd", "run.vtkhdf"] {
        let [a, b] = [&path, &stopped].map(|path| std::fs::read(path.join(name)).unwrap());
        assert!(a == b, "{name}");
    }
    assert_eq!((count(&stopped, "surfaces-"), count(&stopped, "contacts-")), (11, 5));
    std::fs::remove_dir_all(path).unwrap();
    std::fs::remove_dir_all(stopped).unwrap();
}

#[test]
fn with_adaptive_steps_output_is_written_by_the_step_that_reaches_its_time() {
    let schedule = Schedule::Times(0.5);
    let ends = [0.3, 0.6, 0.9, 1.2, 1.5, 1.6];
    let mut before = 0.0;
    let due = ends.map(|t| schedule.is_due(1, t, t - std::mem::replace(&mut before, t)));
    assert_eq!(due, [false, true, false, true, true, false]);
    // Ten steps of a tenth end just before 1.
    let sum = (0..10).fold(0.0, |t, _| t + 0.1);
    assert!(sum < 1.0 && schedule.is_due(10, sum, 0.1));

    let text = HELD.replace("until = 0\n", "until = 1\ndt = 0.3\noutput_every = 0.5\n");
    let text = text.replace("[run]\n", "[run]\nframes = false\n");
    let file = SceneFile::parse(&text, ".").unwrap_or_else(|e| panic!("{e}"));
    // The end of the run does not change the steps, so that a run can be extended.
    let longer = text.replace("until = 1\n", "until = 1.7\n");
    let longer = SceneFile::parse(&longer, ".").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((file.run.dt, longer.identity()), (0.3, file.identity()));
    let built = file.build().unwrap();
    let path = folder("chosen");
    let mut writer = RunWriter::create(&path, Existing::Keep, &file, &built, 1).unwrap();
    let mut run = Simulation::new(built.scene.clone(), file.scheme()).unwrap();
    run.until(file.run.until, &mut writer).unwrap();
    writer.finish(Some(&run.frame()), &Ending::Finished).unwrap();
    assert_eq!((run.time(), row_times(&path)), (1.0, vec![0.0, 0.6, 1.0]));
    std::fs::remove_dir_all(path).unwrap();
}
