//! Runs in which stones break and wear.

use super::*;

/// A stone under a heavy plate that falls on it, and stones that slide on the floor.
const CRUSHED: &str = r#"
seed = 4
[run]
dt = "1 ms"
until = "0.12 s"
output_every = "20 ms"
frames = "both"
[materials.steel]
density = 7800
friction = 0.5
[materials.rock]
density = 2700
friction = 0.5
fragmentation = { criterion = "stress", strength = "0.1 MPa", weibull = 3, reference_size = "10 cm", smallest = "5 mm", average = "2 ms" }
wear = { coefficient = 1.0, hardness = "0.2 MPa" }
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
name = "slider"
position = [1, 0, 0.05]
velocity = [2, 0.1, 0]
shape = { type = "box", size = [0.1, 0.1, 0.1] }
material = "rock"
[[body]]
name = "plate"
position = [0, 0, 0.16]
velocity = [0, 0, -1]
shape = { type = "box", size = [0.4, 0.4, 0.1] }
material = "steel"
[[probe]]
body = "stone"
quantities = ["position", "rotation", "force", "velocity", "angular_velocity", "inertial_force", "work", "contacts", "torque", "normal_force"]
[[probe]]
body = "slider"
quantities = ["position"]
"#;

fn table(folder: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = fs::read_to_string(folder.join("series.csv")).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let names = lines.next().unwrap().split(',').map(|name| name.to_owned()).collect();
    let rows = lines.map(|line| line.split(',').map(|x| x.parse().unwrap_or(f64::NAN)).collect());
    (names, rows.collect())
}

#[test]
fn a_run_with_breakage_and_wear_resumes_bitwise_identically() {
    let out = folder();
    let scene = scene(CRUSHED);
    let whole = Run::new(&scene, Options::new(out.path().join("whole"))).unwrap();
    let whole = whole.execute(&mut ()).unwrap();
    assert_eq!(whole.ending, Ending::Finished);
    let state = whole.state.as_ref().unwrap();
    let account = state.degradation.account;
    assert!(account.breaks >= 2 && account.chamfers >= 2, "{account:?}");
    for step in [1, 20, 21, 35, 60, 119] {
        let path = out.path().join(step.to_string());
        let run = Run::new(&scene, Options::new(&path)).unwrap();
        let mut notes = Notes::stopping(&run, Phase::Running, step);
        assert_eq!(run.execute(&mut notes).unwrap().ending, Ending::Interrupted);
        let summary = Run::resume_folder(&path).unwrap().execute(&mut ()).unwrap();
        assert_eq!(summary.state, whole.state, "interrupted after {step} steps");
        same_files(&out.path().join("whole"), &path);
    }
}

#[test]
fn series_frames_and_summary_show_what_became_of_the_stones() {
    let out = folder();
    let path = out.path().join("run");
    let run = Run::new(&scene(CRUSHED), Options::new(&path)).unwrap();
    let summary = run.execute(&mut ()).unwrap();
    let (names, rows) = table(&path);
    let column = |name: &str| {
        let at = names.iter().position(|n| n.starts_with(name)).unwrap_or_else(|| panic!("{name}"));
        rows.iter().map(move |row| row[at]).collect::<Vec<f64>>()
    };
    let (breaks, pieces) = (column("breaks"), column("pieces"));
    assert!(breaks[0] == 0.0 && breaks.last().unwrap() >= &1.0);
    assert!(pieces.last() > breaks.last());
    assert!(*column("worn_mass").last().unwrap() > 0.0);
    let total = column("total_mass");
    assert!(total.iter().all(|m| (m / total[0] - 1.0).abs() < 1e-12));
    // The probed stone breaks: it is nowhere then, and has no contacts. A worn stone goes on.
    let (place, force) = (column("stone.position_x"), column("stone.force_max"));
    assert!(place[0].is_finite() && place.last().unwrap().is_nan());
    assert!(*force.last().unwrap() == 0.0 && force.iter().all(|f| f.is_finite()));
    assert!(column("stone.work").iter().all(|w| w.is_finite()));
    assert!(column("slider.position_x").iter().all(|x| x.is_finite()));

    let told = fs::read(path.join("summary.json")).unwrap();
    let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
    let account = summary.state.unwrap().degradation.account;
    assert_eq!(told["degradation"]["breaks"], account.breaks);
    assert_eq!(told["degradation"]["worn_mass_kg"], account.worn.mass);
    assert!(told["degradation"]["free_bodies"].as_u64().unwrap() > 3);
    // Frames have as many surfaces as there are bodies at their time.
    let size = |k: usize| {
        let name = format!("frames/surfaces-{k:06}.vtp");
        let entry = fs::read_dir(path.join("frames")).unwrap().map(|e| e.unwrap().path());
        let mut surfaces: Vec<_> = entry
            .filter(|p| p.file_name().unwrap().to_string_lossy().starts_with("surfaces"))
            .collect();
        surfaces.sort();
        let text = String::from_utf8_lossy(&fs::read(&surfaces[k]).unwrap()).into_owned();
        let at = text.find("NumberOfPolys=\"").unwrap_or_else(|| panic!("{name}"));
        text[at + 15..].split('"').next().unwrap().parse::<usize>().unwrap()
    };
    // Floor, three boxes; then more.
    assert_eq!(size(0), 1 + 3 * 6);
    assert!(size(6) > size(0));
}
