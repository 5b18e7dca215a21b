//! Probes of regions and planes, and the log of impacts.

use super::*;

/// Two balls that fall through a plane and bounce on the floor, and one on a point contact.
const FALL: &str = r#"
[run]
dt = "1 ms"
until = "0.4 s"
output_every = "30 ms"
frames = false
impact_speed = "0.5 m/s"
[materials.rubber]
density = 1000
restitution = 0.4
[[body]]
name = "floor"
kind = "fixed"
shape = { type = "half-space" }
material = "rubber"
[[body]]
name = "high"
position = [0, 0, 0.5]
shape = { type = "sphere", radius = 0.1 }
material = "rubber"
[[body]]
name = "low"
position = [1, 0, 0.3]
shape = { type = "sphere", radius = 0.1 }
material = "rubber"
[[body]]
name = "held"
position = [3, 0, 2.1]
shape = { type = "sphere", radius = 0.1 }
material = "rubber"
[[point_contact]]
name = "rest"
point = { body = "held", position = [0, 0, -0.1] }
plane = { body = "world", position = [0, 0, 2], normal = "z" }
[[probe]]
body = "high"
quantities = ["acceleration"]
[[probe]]
point_contact = "rest"
quantities = ["gap", "force"]
[[probe]]
name = "outlet"
plane = { point = [0, 0, 0.25], normal = "-z" }
[[probe]]
name = "narrow"
plane = { point = [0, 0, 0.25], normal = "-z", radius = "0.5 m" }
[[probe]]
region = "all"
quantities = ["coordination", "rattlers", "fabric", "normal_forces", "slope", "segregation"]
[[probe]]
name = "bed"
region = { min = [-1, -1, 0], max = [2, 1, 1] }
quantities = ["solid_fraction", "stress"]
"#;

/// Names without units and rows of a table, as words.
fn table(path: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect());
    let names: Vec<String> = lines.next().unwrap();
    (names.iter().map(|n| n.split(' ').next().unwrap().to_owned()).collect(), lines.collect())
}

fn column((names, rows): &(Vec<String>, Vec<Vec<String>>), name: &str) -> Vec<f64> {
    let k = names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no column {name}"));
    rows.iter().map(|row| row[k].parse().unwrap()).collect()
}

#[test]
fn measures_of_falling_balls_have_their_known_values() {
    let out = folder();
    let path = out.path().join("a");
    Run::new(&scene(FALL), Options::new(&path)).unwrap().execute(&mut ()).unwrap();
    let series = table(&path.join("series.csv"));
    let mass = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    let last = |name: &str| *column(&series, name).last().unwrap();
    // Sums of 400 steps.
    assert!((last("outlet.passed_mass") - 2.0 * mass).abs() < 1e-12);
    assert!((last("narrow.passed_mass") - mass).abs() < 1e-12);
    let times = column(&series, "time");
    let rates = column(&series, "outlet.flow_rate");
    let sum: f64 = (1..times.len()).map(|k| rates[k] * (times[k] - times[k - 1])).sum();
    assert!((sum - 2.0 * mass).abs() < 1e-12, "{sum}");

    assert!((column(&series, "high.acceleration_mean_z")[1] + 9.81).abs() < 1e-9);
    let force = column(&series, "rest.force_mean_z")[1];
    assert!((force - 9.81 * mass).abs() < 1e-6 * force, "{force}");
    // Two balls of three in 6 m³; without neighbours all three are rattlers.
    assert!((column(&series, "bed.solid_fraction")[0] - mass / 3000.0).abs() < 1e-15);
    assert_eq!(column(&series, "region.rattlers")[0], 1.0);
    assert!(column(&series, "region.fabric_xx")[0].is_nan());
    // Both balls fall together, so no velocity fluctuates.
    assert!(column(&series, "bed.pressure")[1].abs() < 1e-12);
    let bottom = [("bed.stress_xx", "Pa"), ("region.slope_direction", "rad")];
    let header = fs::read_to_string(path.join("series.csv")).unwrap();
    assert!(bottom.iter().all(|(name, unit)| header.contains(&format!("{name} [{unit}]"))));

    let impacts = table(&path.join("impacts.csv"));
    assert_eq!(impacts.1[0][1..3], ["floor", "low"]);
    let (time, speed) = (column(&impacts, "time")[0], column(&impacts, "approach_speed")[0]);
    // An impact is found at the end of a step of 1 ms.
    assert!((time - (0.4 / 9.81_f64).sqrt()).abs() < 2e-3, "{time}");
    assert!((speed - (0.4 * 9.81_f64).sqrt()).abs() < 0.02, "{speed}");
    let impulse = column(&impacts, "normal_impulse")[0];
    assert!((impulse - 1.4 * mass * speed).abs() < 0.02 * impulse, "{impulse}");
    assert!(column(&impacts, "approach_speed").iter().all(|speed| *speed > 0.5));
}

#[test]
fn a_run_with_measures_and_impacts_resumes_bitwise_identically() {
    let out = folder();
    let (scene, whole) = (scene(FALL), out.path().join("whole"));
    Run::new(&scene, Options::new(&whole)).unwrap().execute(&mut ()).unwrap();
    for step in [1, 150, 203, 270] {
        let path = out.path().join(step.to_string());
        let run = Run::new(&scene, Options::new(&path)).unwrap();
        let mut notes = Notes::stopping(&run, Phase::Running, step);
        run.execute(&mut notes).unwrap();
        // A run that was killed may have written impacts after its checkpoint.
        let mut text = fs::read_to_string(path.join("impacts.csv")).unwrap();
        text += "0.3,floor,high,0,0,0,1,";
        fs::write(path.join("impacts.csv"), text).unwrap();
        Run::resume_folder(&path).unwrap().execute(&mut ()).unwrap();
        same_files(&path, &whole);
    }
}
