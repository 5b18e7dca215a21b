//! `riprap validate`: cases side by side. Every case itself is run small by the tests of the crate `validation`.

mod common;

use common::{Folder, stderr, stdout, success};

#[test]
fn cases_side_by_side_give_the_results_of_one_after_the_other_in_the_same_order() {
    let folder = Folder::new("validate-jobs");
    // The first takes longest and is shown first nevertheless.
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
