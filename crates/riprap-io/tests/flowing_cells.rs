//! Scene files with sheared cells, insertions and removals: stop conditions relative to the flow, mean stresses, and runs that start from
//! the end of another one.

use std::fs;
use std::path::Path;

use riprap::scene::State;
use riprap_io::run::{Options, Origin, Run, Summary};
use riprap_io::scene_file::SceneFile;
use tempfile::TempDir;

/// Beads in a cell that is sheared.
const FLOW: &str = r#"
seed = 5
gravity = [0, 0, 0]
[run]
dt = "1 ms"
until = "0.06 s"
output_every = "10 ms"
frames = false
[periodic]
x = ["-5 cm", "5 cm"]
y = ["-5 cm", "5 cm"]
z = ["-5 cm", "5 cm"]
shear_rate = "7 Hz"
[materials.glass]
density = "2500 kg/m^3"
friction = 0.3
restitution = 0.5
[[grains]]
name = "beads"
material = "glass"
generator = "rain"
spheres = {}
grading = { uniform = ["16 mm", "20 mm"] }
count = 60
box = { min = ["-5 cm", "-5 cm", "-5 cm"], max = ["5 cm", "5 cm", "5 cm"] }
[[probe]]
name = "cell"
region = "all"
quantities = ["stress", "coordination"]
[[probe]]
name = "middle"
region = { min = [-0.02, -0.02, -0.02], max = [0.02, 0.02, 0.02] }
quantities = ["stress"]
"#;

fn scene(text: &str, folder: &Path) -> SceneFile {
    SceneFile::parse(text, folder).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(text: &str, folder: &Path, out: &str) -> Summary {
    let options = Options::new(folder.join(out));
    Run::new(&scene(text, folder), options).unwrap().execute(&mut ()).unwrap()
}

fn refused(text: &str, folder: &Path) -> String {
    let error = Run::new(&scene(text, folder), Options::new(folder.join("refused"))).unwrap_err();
    assert!(!folder.join("refused").exists());
    error.to_string()
}

fn summary_of(folder: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(folder.join("summary.json")).unwrap()).unwrap()
}

/// A column of `series.csv` by its name without the unit.
fn column(folder: &Path, name: &str) -> Vec<f64> {
    let text = fs::read_to_string(folder.join("series.csv")).unwrap();
    let mut lines = text.lines();
    let mut names = lines.next().unwrap().split(',').map(|n| n.split(' ').next().unwrap());
    let k = names.position(|n| n == name).unwrap_or_else(|| panic!("no column {name}"));
    lines.map(|line| line.split(',').nth(k).unwrap().parse().unwrap()).collect()
}

#[test]
fn the_row_of_a_stress_is_the_mean_of_the_steps_since_the_previous_row() {
    let folder = TempDir::new().unwrap();
    let every = |interval: &str| FLOW.replace("output_every = \"10 ms\"", interval);
    run(&every("output_every = \"10 ms\""), folder.path(), "coarse");
    run(&every("output_every = \"1 ms\""), folder.path(), "fine");
    let names = ["xx", "yy", "zz", "xy", "xz", "yz"].map(|ij| format!("stress_{ij}"));
    for probe in ["cell", "middle"] {
        for name in names.iter().map(String::as_str).chain(["pressure"]) {
            let name = format!("{probe}.{name}");
            let of = |out: &str| column(&folder.path().join(out), &name);
            let (coarse, fine) = (of("coarse"), of("fine"));
            assert_eq!((coarse.len(), fine.len()), (7, 61));
            assert_eq!(coarse[0], fine[0], "before the first step");
            let scale = fine.iter().map(|s| s.abs()).fold(1.0, f64::max);
            for (k, mean) in coarse[1..].iter().enumerate() {
                let exact = fine[1 + 10 * k..11 + 10 * k].iter().sum::<f64>() / 10.0;
                // Sums of ten numbers.
                assert!((mean - exact).abs() < 1e-12 * scale, "{name}: {mean} {exact}");
            }
        }
    }
    // Beads collide, so steps differ, and the mean is none of them.
    let (coarse, fine) = ("coarse", "fine");
    let of = |out: &str| column(&folder.path().join(out), "cell.stress_xy");
    assert!((of(coarse)[6] - of(fine)[60]).abs() > 1e-6 * of(coarse)[6].abs());
    // Other measures are those at the time of the row.
    let at = |out: &str| column(&folder.path().join(out), "cell.coordination_all");
    assert_eq!(at(coarse)[3], at(fine)[30]);
}

#[test]
fn a_cell_that_does_nothing_but_flow_is_at_rest_for_stop_conditions() {
    let folder = TempDir::new().unwrap();
    let few = |velocity: &str, stop: &str| {
        let start = FLOW.find("[[grains]]").unwrap();
        let balls: String = ["-0.03", "0", "0.03"]
            .iter()
            .enumerate()
            .map(|(k, y)| {
                format!(
                    "[[body]]\nname = \"ball{k}\"\nmaterial = \"glass\"\nposition = [0, {y}, 0]\n\
                     shape = {{ type = \"sphere\", radius = 0.01 }}\n{velocity}\n"
                )
            })
            .collect();
        FLOW[..start].replace("[periodic]", &format!("stop = \"{stop}\"\n[periodic]")) + &balls
    };
    let still = |text: &str, out: &str| run(text, folder.path(), out).time;
    let stopped = still(&few("", "speed < 1e-6 m/s for 5 ms"), "speed");
    assert!((stopped - 0.005).abs() < 1.5e-3, "{stopped}");
    let energy = still(&few("", "kinetic_energy < 1e-15 J for 5 ms"), "energy");
    assert!((energy - 0.005).abs() < 1.5e-3, "{energy}");
    assert!(column(&folder.path().join("speed"), "kinetic_energy").iter().all(|k| *k < 1e-15));
    // Motion relative to the flow counts.
    let moving = still(&few("velocity = [0, 0, 0.1]", "speed < 0.09 m/s for 5 ms"), "moving");
    assert!((moving - 0.06).abs() < 1e-9, "{moving}");
    let along = still(&few("velocity = [0, 0, 0.1]", "speed < 0.11 m/s for 5 ms"), "along");
    assert!(along < 0.01, "{along}");
}

/// `text` as a run that starts from the folder `a`.
fn after(text: &str, until: &str, more: &str) -> String {
    let old = text.lines().find(|line| line.starts_with("until")).unwrap();
    text.replacen(old, &format!("until = \"{until}\"\nstart_from = \"a\"\n{more}"), 1)
}

#[test]
fn a_sheared_run_that_would_start_without_its_strain_is_refused_with_a_remedy() {
    let folder = TempDir::new().unwrap();
    let first = run(FLOW, folder.path(), "a").state.unwrap();
    let told = refused(&after(FLOW, "0.06 s", ""), folder.path());
    assert!(told.contains("end.bin"), "the place: {told}");
    assert!(told.contains("a shear strain of 0.420000000 of the periodic cell"), "{told}");
    assert!(
        told.contains("start_time = \"continue\"") && told.contains("`shear_strain`"),
        "{told}"
    );

    let second = run(&after(FLOW, "0.12 s", "start_time = \"continue\""), folder.path(), "b");
    let whole = run(&FLOW.replace("0.06 s", "0.12 s"), folder.path(), "whole").state.unwrap();
    let second = second.state.unwrap();
    assert_eq!((&second.q, &second.v), (&whole.q, &whole.v));
    // The other remedy, with the digits of the message.
    let law = "shear_strain = \"0.420000000 + t*7\"";
    let described = after(FLOW, "0.06 s", "").replace("shear_rate = \"7 Hz\"", law);
    let second = run(&described, folder.path(), "c").state.unwrap();
    let far = |a: &State, b: &State| {
        let each = a.q.iter().zip(&b.q).map(|(p, q)| (p.position - q.position).norm());
        each.fold(0.0, f64::max)
    };
    // Strains that differ by rounding, amplified by collisions over 60 steps.
    assert!(far(&second, &whole) < 1e-4, "{}", far(&second, &whole));
    assert!(far(&second, &first) > 1e-2);
}

/// A feed above a floor whose bodies leave on the right.
const FEED: &str = r#"
seed = 2
[run]
dt = "1 ms"
until = "0.2 s"
output_every = "20 ms"
checkpoint_every = "30 ms"
[materials.rock]
density = 2700
friction = 0.4
[[body]]
name = "floor"
kind = "fixed"
shape = { type = "half-space" }
material = "rock"
[[body]]
name = "marble"
position = [0.25, 0, 0.01]
velocity = [3, 0, 0]
shape = { type = "sphere", radius = 0.01 }
material = "rock"
[[insert]]
name = "feed"
material = "rock"
spheres = {}
grading = { uniform = ["20 mm", "30 mm"] }
box = { min = [-0.2, -0.2, 0.1], max = [0.2, 0.2, 0.3] }
rate = "100 Hz"
[[remove]]
outside = { min = [-1, -1, -1], max = [0.3, 1, 1] }
"#;

#[test]
fn inserted_and_removed_bodies_carry_over_to_a_run_that_starts_from_another_one() {
    let folder = TempDir::new().unwrap();
    let first = run(FEED, folder.path(), "a").state.unwrap();
    assert_eq!((first.population.account.inserted, first.population.account.removed), (20, 1));
    let text = after(FEED, "0.1 s", "");
    let second = run(&text, folder.path(), "b").state.unwrap();
    let report = &summary_of(&folder.path().join("b"))["start_from"]["report"];
    assert_eq!(report["inserted"], serde_json::json!([20, 20]));
    assert_eq!(report["removed"], serde_json::json!(["marble"]));
    assert_eq!(report["bodies"]["missing"], serde_json::json!([]));
    let bodies = column(&folder.path().join("b"), "bodies");
    assert_eq!((bodies[0], bodies.last().unwrap()), (20.0, &30.0));
    let feed = &summary_of(&folder.path().join("b"))["population"]["insertions"][0];
    assert_eq!(feed["inserted"], 10, "those of this run: {feed}");
    assert_eq!(second.population.feeds[0].next, 30);
    // The first row has the positions that the other run left.
    let origin = Origin::read(folder.path().join("a")).unwrap();
    let file = scene(&text, folder.path());
    let (state, continued) = origin.start(&file, &file.build().unwrap().scene).unwrap();
    assert_eq!((&state.q, &state.v), (&first.q, &first.v));
    assert!(continued.lines().contains(&"inserted bodies: 20 of 20 carry over".to_owned()));
}

#[test]
fn a_continued_run_with_a_feed_resumes_bitwise_identically() {
    use riprap::simulation::Frame;
    use riprap_io::output::Ending;
    use riprap_io::run::{Phase, Watch};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    struct Until(u64, Arc<AtomicBool>);
    impl Watch for Until {
        fn step(&mut self, phase: Phase, frame: &Frame) {
            if phase == Phase::Running && frame.state.step >= self.0 {
                self.1.store(true, Ordering::Relaxed);
            }
        }
    }
    let folder = TempDir::new().unwrap();
    run(FEED, folder.path(), "a");
    let text = after(FEED, "0.1 s", "");
    let whole = run(&text, folder.path(), "whole").state.unwrap();
    for step in [1, 37, 80] {
        let path = folder.path().join(format!("stopped-{step}"));
        let run = Run::new(&scene(&text, folder.path()), Options::new(&path)).unwrap();
        let mut watch = Until(step, run.interrupt());
        let summary = run.execute(&mut watch).unwrap();
        assert_eq!(summary.ending, Ending::Interrupted);
        let resumed = Run::resume_folder(&path).unwrap().execute(&mut ()).unwrap();
        assert!(resumed.state.unwrap() == whole, "interrupted at step {step}");
        let series = |out: &Path| fs::read_to_string(out.join("series.csv")).unwrap();
        assert_eq!(series(&path), series(&folder.path().join("whole")));
    }
}

#[test]
fn a_surface_energy_is_asked_for_by_its_name_and_unit() {
    let with = |value: &str| {
        let line = format!("restitution = 0.5\nsurface_energy = {value}");
        FLOW.replace("restitution = 0.5", &line)
    };
    let told = |value: &str| {
        let folder = Path::new(".");
        SceneFile::parse(&with(value), folder).map(|_| ()).unwrap_err().to_string()
    };
    for value in ["\"1 J\"", "\"1 N\"", "\"3 mJ/m\""] {
        let text = told(value);
        assert!(text.contains("expected a surface energy such as \"50 mJ/m^2\""), "{text}");
        assert!(!text.contains("stiffness"), "{text}");
    }
    assert!(
        told("-1").contains("at least 0") || told("-1").contains("0 or more"),
        "{}",
        told("-1")
    );
    let energy = |value: &str| {
        let file = SceneFile::parse(&with(value), Path::new(".")).unwrap();
        file.materials.iter().find(|m| m.name == "glass").unwrap().surface_energy
    };
    for value in ["0.05", "\"50 mJ/m^2\"", "\"0.05 N/m\"", "\"0.05 kg/s^2\""] {
        assert!((energy(value) - 0.05).abs() < 1e-16, "{value}");
    }
}
