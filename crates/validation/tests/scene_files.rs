//! Mechanisms from scene files move as the same ones built in Rust.

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
fn the_tamping_unit_of_the_scene_file_moves_as_the_one_built_in_rust() {
    let text = include_str!("../../riprap-io/tests/data/tamping-unit.toml");
    let [open, closed] = TAMPING_LENGTHS;
    let hold = difference(text, tamping_unit(30.0, move |_| open));
    let ramp = format!("q.xa - L0 - ({closed} - L0)*min(max((t - 0.1)/0.4, 0), 1)");
    let squeezing = text.replace("q.xa - L0", &ramp);
    assert_ne!(text, squeezing);
    let length = move |t: f64| open + (closed - open) * ((t - 0.1) / 0.4).clamp(0.0, 1.0);
    let squeeze = difference(&squeezing, tamping_unit(30.0, length));
    // The same equations written otherwise, at a tolerance of 1e-10 a step and speeds of 188 rad/s.
    for (positions, velocities) in [hold, squeeze] {
        assert!(positions < 1e-9 && velocities < 1e-7, "{positions:.1e} {velocities:.1e}");
    }
}
