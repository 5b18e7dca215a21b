//! `riprap validate`: cases in parallel. The tests of the crate `validation` run every case in its small version.

mod common;

use common::{Folder, code, stderr, stdout, success};

#[test]
fn cases_run_in_parallel_give_the_same_results_in_the_same_order() {
    let folder = Folder::new("validate-jobs");
    // The first takes longest but is still shown first.
    let cases = ["validate", "--quick", "bouncing-ball", "three-balls", "pendulum", "--json"];
    let run = |jobs: &str| {
        let output = folder.riprap(&[&cases[..], &["--jobs", jobs]].concat());
        success(&output);
        let told = stderr(&output);
        for case in &cases[2..5] {
            assert!(told.contains(&format!("{case}: running")), "{told}");
        }
        assert!(told.contains("(3 of 3 cases)"), "{told}");
        stdout(&output)
    };
    let serial = run("1");
    assert_eq!(run("3"), serial);
    let order: Vec<usize> =
        cases[2..5].iter().map(|case| serial.find(&format!("\"{case}\"")).unwrap()).collect();
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn a_case_runs_with_another_scene_file() {
    let folder = Folder::new("validate-scene");
    let text = include_str!("../../validation/scenes/rocking-block.toml");
    folder.write("tall.toml", text.replace("1.5 m", "2 m").replace("[0, 1]", "[0, 1.3]"));
    let arguments = ["validate", "ggl-rocking-block", "--quick", "--json", "--scene", "tall.toml"];
    let output = folder.riprap(&arguments);
    success(&output);
    assert!(stdout(&output).contains("smallest gap"), "{}", stdout(&output));
    for (arguments, answer) in [
        (["tower", "--scene", "tall.toml"], "cases that do: ggl-rocking-block"),
        (["ggl-rocking-block", "--scene", "missing.toml"], "cannot read missing.toml"),
    ] {
        let output = folder.riprap(&[&["validate"], &arguments[..]].concat());
        assert_eq!(code(&output), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(answer), "{}", stderr(&output));
    }
}
