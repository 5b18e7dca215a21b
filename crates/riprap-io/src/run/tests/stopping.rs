//! Stop conditions: when they end a run, and that a resumed run ends at the same step.

use super::*;

/// A ball that falls, a plate that presses the floor with a force that grows, and a probe of it.
const FALL: &str = r#"
[run]
dt = "1 ms"
until = "2 s"
output_every = "5 ms"
frames = false
stop = "STOP"
[materials.steel]
density = 7800
[[body]]
name = "floor"
kind = "fixed"
shape = { type = "half-space" }
material = "steel"
[[body]]
name = "ball"
position = [2, 0, 1.1]
shape = { type = "sphere", radius = 0.1 }
material = "steel"
[[body]]
name = "plate"
kind = "servo"
shape = { type = "box", size = [0.2, 0.2, 0.02] }
material = "steel"
position = [0, 0, 0.01]
along = "-z"
force = "10*t"
speed = "1 m/s"
[[probe]]
body = "plate"
quantities = ["force"]
"#;

fn stopped(stop: &str) -> (Summary, TempDir) {
    let folder = folder();
    let file = scene(&FALL.replace("STOP", stop));
    let summary = Run::new(&file, Options::new(folder.path().join("run"))).unwrap();
    (summary.execute(&mut ()).unwrap(), folder)
}

#[test]
fn a_run_ends_at_the_step_at_which_its_condition_is_met() {
    // The ball falls freely: z = 1.1 − g t²/2 is 0.6 m at 0.319 s, at a speed of 3.13 m/s.
    let fall = (2.0_f64 * 0.5 / 9.81).sqrt();
    for (stop, expected, tolerance) in [
        ("ball.z < 60 cm", fall, 1.1e-3),
        ("speed > 3.13209 m/s", fall, 2e-3),
        ("kinetic_energy > 1 J and ball.vz < -3.13209", fall, 2e-3),
        ("t >= 0.25 s", 0.25, 1e-9),
        // At rest since the impact at 0.4515 s.
        ("t > 0.1 and speed < 1e-4 m/s for 0.1 s", (2.0_f64 / 9.81).sqrt() + 0.1, 2.1e-3),
        // A mean over the 5 ms since the last row.
        ("plate.force_mean_z > 3 N", 0.3025, 5.1e-3),
        ("plate.force_mean_z > 3 N for 20 ms", 0.3225, 5.1e-3),
    ] {
        let (summary, folder) = stopped(stop);
        assert_eq!(summary.ending, Ending::Finished, "{stop}");
        let by = summary.stopped.expect(stop);
        assert_eq!((by.condition.as_str(), by.time), (stop, summary.time));
        assert!((summary.time - expected).abs() <= tolerance, "{stop}: {}", summary.time);
        let text = fs::read_to_string(folder.path().join("run/summary.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["stopped_by"]["condition"], stop);
        assert_eq!(json["stopped_by"]["time_s"], summary.time);
        assert_eq!(json["state"], "finished");
        // The last row is that of the end.
        let series = fs::read_to_string(folder.path().join("run/series.csv")).unwrap();
        let last: f64 = series.lines().last().unwrap().split(',').next().unwrap().parse().unwrap();
        assert!((last - summary.time).abs() < 1e-12, "{stop}: {last}");
    }
    let (summary, _) = stopped("ball.z > 5 m");
    assert_eq!((summary.stopped, summary.report.steps), (None, 2000));
}

#[test]
fn an_interrupted_run_stops_where_an_uninterrupted_one_does() {
    for stop in ["t > 0.1 and speed < 1e-4 for 0.1", "plate.force_mean_z > 3 for 0.02"] {
        let file = scene(&FALL.replace("STOP", stop));
        let (reference, folder) = stopped(stop);
        let whole = folder.path().join("run");
        let n = reference.report.steps;
        // Also while the condition holds, and at rows and between them.
        for at in [1, 100, n - 50, n - 18, n - 3, n - 1] {
            let path = folder.path().join(format!("part-{at}"));
            let run = Run::new(&file, Options::new(&path)).unwrap();
            let mut watch = Notes::stopping(&run, Phase::Running, at);
            let summary = run.execute(&mut watch).unwrap();
            assert_eq!((summary.ending, summary.stopped), (Ending::Interrupted, None), "{at}");
            let resumed = Run::resume(&file, Options::new(&path)).unwrap();
            let summary = resumed.execute(&mut ()).unwrap();
            assert_eq!(summary.stopped, reference.stopped, "{stop} {at}");
            assert_eq!(summary.state, reference.state, "{stop} {at}");
            let read = |run: &Path| fs::read(run.join("series.csv")).unwrap();
            assert_eq!(read(&path), read(&whole), "{stop} {at}");
        }
    }
}
