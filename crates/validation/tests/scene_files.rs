//! Mechanisms from scene files move like the same mechanisms built in Rust.

use riprap::multibody::Mechanism;
use riprap::prelude::*;
use riprap::scheme::DormandPrince;
use riprap_io::scene_file::SceneFile;
use validation::mechanisms::{TAMPING_COORDINATES, TAMPING_LENGTHS, tamping_unit};

/// Largest differences of positions [m, rad] and velocities [m/s, rad/s] over a run of the tamping unit.
fn difference(text: &str, mechanism: Mechanism) -> (f64, f64) {
    let file = SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"));
    let built = file.build().unwrap_or_else(|e| panic!("{e}"));
    let mut from_file = Simulation::new(built.scene, file.scheme()).unwrap();
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -9.81]);
    scene.add_mechanism(mechanism);
    let scheme = DormandPrince::new(file.run.dt).tolerance(1e-10);
    let mut by_hand = Simulation::new(scene.build().unwrap(), scheme).unwrap();
    let mut worst = (0.0_f64, 0.0_f64);
    for _ in 0..50 {
        let t = from_file.time() + 0.01;
        for run in [&mut from_file, &mut by_hand] {
            run.until(t, &mut ()).unwrap();
        }
        for name in TAMPING_COORDINATES {
            let [a, b] = [&from_file, &by_hand].map(|run| {
                let (system, state) = (&run.scene().mechanisms()[0], &run.state().mechanisms[0]);
                let at = system.coordinate_named(name).unwrap();
                (state.q[system.q_of(at).unwrap()], state.v[at.0 as usize])
            });
            worst.0 = worst.0.max((a.0 - b.0).abs());
            worst.1 = worst.1.max((a.1 - b.1).abs());
        }
    }
    worst
}

#[test]
fn the_tamping_unit_of_the_scene_file_moves_like_the_one_built_in_rust() {
    let text = include_str!("../../riprap-io/tests/data/tamping-unit.toml");
    let [open, closed] = TAMPING_LENGTHS;
    let hold = difference(text, tamping_unit(30.0, move |_| open));
    let ramp = format!("q.xa - L0 - ({closed} - L0)*min(max((t - 0.1)/0.4, 0), 1)");
    let squeezing = text.replace("q.xa - L0", &ramp);
    assert_ne!(text, squeezing);
    let length = move |t: f64| open + (closed - open) * ((t - 0.1) / 0.4).clamp(0.0, 1.0);
    let squeeze = difference(&squeezing, tamping_unit(30.0, length));
    // The same equations in a different form, with a tolerance of 1e-10 per step and speeds of 188 rad/s.
    for (positions, velocities) in [hold, squeeze] {
        assert!(positions < 1e-9 && velocities < 1e-7, "{positions:.1e} {velocities:.1e}");
    }
}

/// The reference with restitution 0: times [s], heights of the slider [m], and times of the impacts [s].
fn slider_crank_without_restitution() -> (Vec<[f64; 2]>, Vec<f64>) {
    let rows = |text: &'static str| {
        let numbers = |line: &'static str| line.split(',').map(|x| x.parse().unwrap_or(f64::NAN));
        text.lines().skip(1).map(move |line| numbers(line).collect::<Vec<f64>>())
    };
    let traj = rows(include_str!("../data/slider-crank/sc_e0_traj.csv"));
    let impacts = rows(include_str!("../data/slider-crank/sc_e0_impacts.csv"));
    (traj.map(|row| [row[0], row[row.len() - 1]]).collect(), impacts.map(|row| row[0]).collect())
}

#[test]
fn the_slider_crank_of_the_book_with_default_options_follows_the_event_driven_reference() {
    let page = include_str!("../../../book/src/how-to/clearance.md");
    let text = page.split_once("```toml\n").and_then(|(_, rest)| rest.split_once("```")).unwrap().0;
    for key in ["[solver]", "tolerance", "dependent", "restitution"] {
        assert!(!text.contains(key), "default options only: {key}");
    }
    let file = SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(file.build().unwrap().scene, file.scheme()).unwrap();
    let (reference, impacts) = slider_crank_without_restitution();
    let slider = run.scene().bodies().names.iter().position(|n| n == "engine/slider").unwrap();
    let (mut row, mut worst, mut hits) = (0, 0.0_f64, Vec::new());
    while run.time() < 0.1369 - 1e-6 {
        let before = run.state().v[slider].linear.y;
        run.step().unwrap();
        let (t, after) = (run.time(), run.state().v[slider].linear.y);
        // An impact stops the motion of the slider across its guide; while it touches, its velocity is zero.
        if before.abs() > 1e-2 && after.abs() < 1e-2 * before.abs() {
            hits.push(t);
        }
        if t > reference[row + 1][0] - 1e-9 {
            row += 1;
            assert!((t - reference[row][0]).abs() < 1e-9);
            worst = worst.max((run.state().q[slider].position.y - reference[row][1]).abs());
        }
    }
    assert_eq!(row, 1369);
    assert!(worst < 1e-5, "{worst:.1e} m");
    assert_eq!(hits.len(), impacts.len(), "{hits:?} {impacts:?}");
    for (hit, impact) in hits.iter().zip(&impacts) {
        assert!((hit - impact).abs() < 2e-5, "at {hit} s, not at {impact} s: more than two steps");
    }
    assert_eq!(run.report().unconverged, 0);
}
