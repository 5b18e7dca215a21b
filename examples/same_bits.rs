//! Every entry of the gallery gives the same state, bit for bit, from its Rust program and from its scene file. Long runs are
//! compared over their first part: contacts and drives are then already at work, and one different bit would spread.

use gallery::*;
use riprap::friction::GaussSeidelOptions;
use riprap::simulation::Simulation;
use riprap_io::scene_file::SceneFile;
use std::path::PathBuf;

type Built = Result<Simulation, Box<dyn std::error::Error>>;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The simulation of a scene file, with its grains settled, and the end of its run [s].
fn of_file(name: &str) -> (Simulation, f64) {
    let path = folder().join(name).join("scene.toml");
    let file = SceneFile::read(&path).unwrap_or_else(|errors| panic!("{errors}"));
    let built = file.build().unwrap_or_else(|errors| panic!("{errors}"));
    let mut run = Simulation::new(built.scene.clone(), file.scheme()).expect("a simulation");
    run.on_unconverged(file.on_unconverged());
    if let Some(settling) = &built.settling {
        let (scheme, unconverged) = (file.moreau_jean(), file.on_unconverged());
        let settled = settling.run(&built.scene, scheme, unconverged, &mut ()).expect("a bed");
        run.set_state(settled.state).expect("the same bodies");
    }
    (run, file.run.until)
}

/// Compares the two until `part` [s].
fn compare(name: &str, until: f64, part: f64, ours: Built) {
    let mut ours = ours.unwrap_or_else(|error| panic!("{error}"));
    let (mut theirs, end) = of_file(name);
    assert_eq!(until, end, "the end of the run");
    assert_eq!(ours.scene().bodies().names, theirs.scene().bodies().names);
    let bits = |run: &Simulation| postcard::to_stdvec(run.state()).expect("bytes");
    assert!(bits(&ours) == bits(&theirs), "the initial states differ");
    let report = ours.until(part, &mut ()).expect("a run");
    theirs.until(part, &mut ()).expect("a run");
    assert!(report.steps >= 100, "{} steps", report.steps);
    assert!(bits(&ours) == bits(&theirs), "the states differ at {} s", ours.time());
}

/// One test per entry: its module, its folder, and until when it is compared [s].
macro_rules! entries {
    ($($module:ident, $folder:literal, $part:expr;)*) => {
        const ENTRIES: &[&str] = &[$($folder),*];

        mod rust_and_toml_give_the_same_bits {
            use super::*;
            $(
                #[test]
                fn $module() {
                    compare($folder, $module::UNTIL, $part, $module::simulation());
                }
            )*
        }
    };
}

entries! {
    angle_of_repose, "angle-of-repose", 0.1;
    arch, "arch", arch::UNTIL;
    bouncing_ball, "bouncing-ball", bouncing_ball::UNTIL;
    bucket, "bucket", 0.5;
    cantilever, "cantilever", cantilever::UNTIL;
    crane, "crane", 1.0;
    four_bar, "four-bar", four_bar::UNTIL;
    granular_chains, "granular-chains", 1.0;
    hopper, "hopper", 0.6;
    oedometer, "oedometer", 0.4;
    pour, "pour", 0.2;
    rotating_drum, "rotating-drum", 0.5;
    shear_box, "shear-box", 0.3;
    sheared_cell, "sheared-cell", 0.2;
    silo, "silo", 0.3;
    slider_crank, "slider-crank", 0.02;
    slope, "slope", slope::UNTIL;
    tamping, "tamping", 0.06;
    tamping_unit, "tamping-unit", tamping_unit::UNTIL;
    triaxial, "triaxial", 0.5;
    tumbler, "tumbler", 0.8;
    wheel, "wheel", 0.3;
    wrecking_ball, "wrecking-ball", 0.3;
}

#[test]
fn every_entry_is_compared_and_has_a_program_in_python_and_in_rust() {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder()).expect("the gallery") {
        let path = entry.expect("an entry").path();
        if path.join("scene.toml").is_file() {
            for file in ["README.md", "main.py", "main.rs"] {
                assert!(path.join(file).is_file(), "{} has no {file}", path.display());
            }
            found.push(path.file_name().expect("a name").to_string_lossy().into_owned());
        }
    }
    found.sort();
    assert_eq!(found, ENTRIES);
}

#[test]
fn the_list_of_the_gallery_names_every_entry() {
    let list = std::fs::read_to_string(folder().join("README.md")).expect("the list");
    for name in ENTRIES {
        assert!(list.contains(&format!("]({name})")), "README.md of the gallery has no `{name}`");
    }
}

#[test]
fn the_solver_has_the_same_options_by_default_in_rust_and_in_scene_files() {
    let text = "[run]\ndt = \"1 ms\"\nuntil = \"1 s\"\n[materials.m]\ndensity = 1\n\
                [[body]]\nmaterial = \"m\"\nshape = { type = \"sphere\", radius = 1 }\n";
    let solver = SceneFile::parse(text, ".").unwrap_or_else(|errors| panic!("{errors}")).solver;
    let given = GaussSeidelOptions {
        tolerance: solver.tolerance,
        refined_tolerance: solver.refined_tolerance,
        approach_tolerance: solver.approach_tolerance,
        velocity_change_tolerance: solver.velocity_change_tolerance,
        max_velocity_change_tolerance: solver.max_velocity_change_tolerance,
        max_sweeps: solver.max_sweeps as usize,
        ..GaussSeidelOptions::default()
    };
    assert_eq!(given, GaussSeidelOptions::default());
}
