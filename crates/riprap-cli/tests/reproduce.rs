//! `riprap reproduce`: the files of a study, and the numbers in them.

mod common;

use common::{Folder, code, stderr, stdout, success};
use serde_json::Value;

/// Fails unless a text is one XML element whose tags are balanced, whose attributes are quoted and whose text is escaped.
fn assert_well_formed(name: &str, text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.trim_end();
    assert!(rest.starts_with('<'), "{name} does not begin with a tag");
    while let Some(from) = rest.find('<') {
        assert!(rest[..from].trim().is_empty() || !open.is_empty(), "{name}: text outside");
        let to = from + rest[from..].find('>').unwrap_or_else(|| panic!("{name}: an open tag"));
        let tag = &rest[from + 1..to];
        assert!(!tag.contains('<') && tag.matches('"').count().is_multiple_of(2), "{name}: {tag}");
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{name}");
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap_or_default());
        }
        rest = &rest[to + 1..];
        assert!(!open.is_empty() || rest.is_empty(), "{name}: more than one element");
    }
    assert!(open.is_empty() && rest.is_empty(), "{name}: {open:?} {rest}");
    for (at, _) in text.match_indices('&') {
        let entity = ["&lt;", "&gt;", "&amp;", "&quot;", "&apos;"];
        assert!(entity.iter().any(|e| text[at..].starts_with(e)), "{name}: a bare &");
    }
}

/// A number of a row of the table.
fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("no {key} in {row}"))
}

#[test]
fn the_slider_crank_makes_its_figures_and_a_table_within_the_limits_of_its_validation() {
    let folder = Folder::new("reproduce");
    let output = folder.riprap(&["reproduce", "slider-crank", "--small", "--out", "made/here"]);
    success(&output);
    // Five models at three steps, and three with friction.
    assert_eq!(stderr(&output).lines().count(), 18, "{}", stderr(&output));
    let files = ["convergence.svg", "fig6.svg", "fig7.svg", "table.json", "table.md"];
    let made = std::fs::read_dir(folder.0.join("made/here")).unwrap();
    let mut names: Vec<_> = made.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, files);
    for name in &files[..3] {
        let svg = folder.read(&format!("made/here/{name}"));
        assert_well_formed(name, &svg);
        assert!(svg.starts_with("<svg ") && svg.contains("<polyline"), "{name}");
        assert!(!svg.contains("NaN") && svg.len() < 200_000, "{name}");
    }
    let table: Value = serde_json::from_str(&folder.read("made/here/table.json")).unwrap();
    let runs = table["runs"].as_array().unwrap();
    let markdown = folder.read("made/here/table.md");
    let row = |method: &str, step: f64| -> &Value {
        let is = |r: &&Value| {
            r["method"].as_str().is_some_and(|m| m.starts_with(method)) && r["step"] == step
        };
        let row = runs.iter().find(is).unwrap_or_else(|| panic!("no {method} at {step:e}"));
        let begin = format!("| {} | {step:.0e} |", row["method"].as_str().unwrap());
        assert!(markdown.contains(&begin), "{begin}");
        row
    };
    let is_reference = |r: &&Value| r["method"].as_str().is_some_and(|m| m.starts_with("refe"));
    let reference = table["others"].as_array().unwrap().iter().find(is_reference).unwrap();

    // The limits of `riprap validate slider-crank`.
    for model in ["model a", "model b", "model c"] {
        let at = row(model, 1e-5);
        assert!(number(at, "height_error") <= 3e-4, "{at}");
        assert!(number(at, "overlap") <= 0.02, "{at}");
        assert!((number(at, "revolutions") - 2.0).abs() <= 0.01, "{at}");
        let lost = number(reference, "energy_lost");
        assert!((number(at, "energy_lost") - lost).abs() <= 0.02 * lost, "{at}");
        for step in [1e-4, 2e-5, 1e-5] {
            let at = row(model, step);
            assert!(number(at, "slider_angle") <= 1e-11, "{at}");
            assert!(at["loop_residual"].as_f64().is_none_or(|r| r <= 1e-11), "{at}");
            assert_eq!(at["unconverged"], 0, "{at}");
        }
    }
    let overlap = |model: &str| number(row(model, 1e-4), "overlap");
    assert!(overlap("model c") <= 0.6 * overlap("model a").min(overlap("model b")));
    assert!(number(row("absolute, velocity level", 1e-5), "hinge_drift") >= 1e-4);
    assert!(number(row("absolute, projected", 1e-5), "hinge_drift") <= 1e-11);
    for order in table["observed_order"].as_array().unwrap().iter().take(3) {
        assert!((number(order, "order") - 1.0).abs() <= 0.2, "{order}");
    }
}

#[test]
fn studies_are_listed_and_unknown_ones_answered_with_a_suggestion() {
    let folder = Folder::new("reproduce-list");
    let output = folder.riprap(&["reproduce"]);
    success(&output);
    assert!(stdout(&output).contains("slider-crank"), "{}", stdout(&output));
    let output = folder.riprap(&["reproduce", "slider-crnk"]);
    assert_eq!(code(&output), Some(2));
    assert!(stderr(&output).contains("did you mean `slider-crank`?"), "{}", stderr(&output));
    folder.write("taken", "a file");
    let output = folder.riprap(&["reproduce", "slider-crank", "--out", "taken"]);
    assert_eq!(code(&output), Some(2));
    assert!(stderr(&output).contains("cannot make taken"), "{}", stderr(&output));
    assert_eq!(folder.names(), ["taken"]);
}
