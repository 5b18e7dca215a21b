//! `riprap reproduce`: the files of a study and the numbers in them.

mod common;

use std::time::{Duration, Instant};

use common::{Folder, code, command, stderr, stdout, success};
use serde_json::Value;

/// Panics unless a text is a single XML element with balanced tags, quoted attributes and escaped text.
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

/// A number in a row of the table.
fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("no {key} in {row}"))
}

#[test]
fn the_slider_crank_study_writes_figures_and_a_table_within_the_limits_of_its_validation() {
    let folder = Folder::new("reproduce");
    let output = folder.riprap(&["reproduce", "slider-crank", "--small", "--out", "made/here"]);
    success(&output);
    // Five models at three time steps, and three with friction.
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
fn the_study_of_bruls2014_writes_all_figures_and_its_table() {
    let folder = Folder::new("reproduce-bruls2014");
    success(&folder.riprap(&["reproduce", "bruls2014", "--small", "--out", "made"]));
    for number in 2..=24 {
        let name = format!("fig{number}.svg");
        let svg = folder.read(&format!("made/{name}"));
        assert_well_formed(&name, &svg);
        assert!(svg.starts_with("<svg ") && svg.contains("<polyline"), "{name}");
        assert!(!svg.contains("NaN") && svg.len() < 200_000, "{name}: {}", svg.len());
    }
    let rows: Value = serde_json::from_str(&folder.read("made/table.json")).unwrap();
    let ggl = rows.as_array().unwrap().iter().filter(|row| row["method"] == "nonsmooth-α GGL");
    assert!(ggl.clone().count() >= 7);
    for row in ggl {
        assert!(number(row, "smallest_gap") >= -1e-12, "{row}");
        assert_eq!(number(row, "halvings"), 0.0, "{row}");
    }
    assert!(folder.read("made/table.md").contains("| rocking block | Moreau–Jean |"));
}

/// The small study with twice its time step and a loose tolerance: all four runs, all figures.
#[test]
fn an_interrupted_tamping_study_resumes_and_writes_all_files() {
    let folder = Folder::new("reproduce-tamping");
    let coarse =
        ["reproduce", "tamping", "--small", "--dt", "2 ms", "--tolerance", "1e-2", "--out", "made"];
    let kept = folder.0.join("made/runs/small-seed-1-2ms-1e-2");
    let mut killed =
        command(&folder.0).args(coarse).stderr(std::process::Stdio::null()).spawn().unwrap();
    let begin = Instant::now();
    let names = || std::fs::read_dir(&kept).into_iter().flatten().map(|e| e.unwrap().file_name());
    // Not the hidden temporary file that is renamed to it.
    while !names().any(|name| name.to_string_lossy().ends_with(".bin")) {
        assert!(begin.elapsed() < Duration::from_secs(300), "no checkpoint");
        assert_eq!(killed.try_wait().unwrap(), None, "ended early");
        std::thread::sleep(Duration::from_millis(20));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();

    let output = folder.riprap(&coarse);
    success(&output);
    let told = stderr(&output);
    assert!(told.contains("stones at rest from made/beds/small-seed-1.bin"), "{told}");
    assert!(told.contains(": resumes at t = 0."), "{told}");
    for name in ["fig9.svg", "fig10.svg", "fig11.svg", "solver.svg"] {
        let svg = folder.read(&format!("made/{name}"));
        assert_well_formed(name, &svg);
        assert!(svg.starts_with("<svg ") && !svg.contains("NaN"), "{name}");
    }
    let table = || -> Value { serde_json::from_str(&folder.read("made/table.json")).unwrap() };
    let runs = table()["runs"].as_array().unwrap().clone();
    assert_eq!(runs.len(), 4);
    for row in &runs {
        assert!(number(row, "loop_residual") <= 1e-11, "{row}");
        assert!(number(row, "worst_residual") <= 1e-2 || number(row, "unconverged") > 0.0, "{row}");
        assert_eq!((number(row, "outside"), number(row, "steps")), (0.0, 1300.0), "{row}");
        assert!(number(row, "penetration") > 0.0 && number(row, "wall") > 0.0, "{row}");
        // The tips are below the surface, and stones are pushed below the sleeper.
        assert!(number(row, "depth") > 0.02, "{row}");
        let filling = row["filling"].as_array().unwrap();
        assert!(filling[1].as_f64() > filling[0].as_f64(), "{row}");
        let series = row["case"].as_str().unwrap().replace(' ', "-") + ".csv";
        assert_eq!(folder.read(&format!("made/{series}")).lines().count(), 1 + 1301);
    }

    // Finished runs are reused; claims that need other runs say so.
    let some = [&coarse[..], &["--case", "imposed", "--case", "15", "--threads", "1"]].concat();
    let output = folder.riprap(&some);
    success(&output);
    assert_eq!(stderr(&output).matches(": finished before, made/runs/").count(), 2);
    assert_eq!(table()["runs"], Value::from(vec![runs[0].clone(), runs[3].clone()]));
    let verdicts = table()["claims"].as_array().unwrap().clone();
    let not_run = |claim: &&Value| claim["verdict"] == "not run";
    assert_eq!(verdicts.iter().filter(not_run).count(), 3, "{verdicts:?}");
    // The small bed gives numbers but no verdicts.
    assert_eq!(verdicts.iter().filter(|c| c["verdict"].is_null()).count(), 2, "{verdicts:?}");
}

#[test]
fn the_laboratory_study_writes_its_numbers_and_reuses_finished_runs() {
    let folder = Folder::new("reproduce-laboratory");
    let study = ["reproduce", "laboratory", "--small", "--out", "made"];
    let output = folder.riprap(&study);
    success(&output);
    for name in ["drum.svg", "hopper.svg", "repose.svg", "shear.svg", "silo.svg"] {
        let svg = folder.read(&format!("made/{name}"));
        assert_well_formed(name, &svg);
        assert!(svg.contains("<polyline") && !svg.contains("NaN"), "{name}");
    }
    let table = || -> Value { serde_json::from_str(&folder.read("made/table.json")).unwrap() };
    let (first, told) = (table(), stderr(&output));
    let numbers = first["numbers"].as_array().unwrap();
    for row in numbers {
        assert!(number(row, "value").is_finite() && number(row, "runs") >= 2.0, "{row}");
        // The small study gives numbers but no verdicts.
        assert!(row["verdict"].is_null(), "{row}");
        assert!(told.contains(row["quantity"].as_str().unwrap()), "{row}");
    }
    let value = |quantity: &str| {
        let is = |row: &&Value| row["quantity"].as_str().is_some_and(|q| q.starts_with(quantity));
        number(numbers.iter().find(is).unwrap_or_else(|| panic!("no {quantity}")), "value")
    };
    // Too few grains for the numbers of a laboratory.
    assert!(value("exponent of D − 1.4 d") > 1.0 && value("C, with") > 0.0);
    assert!(value("variance of σ(z)") > 0.5);

    let output = folder.riprap(&study);
    success(&output);
    let told = stderr(&output);
    assert!(told.contains("runs finished before"), "{told}");
    assert_eq!(table(), first);
}

#[test]
fn invalid_options_are_rejected_before_anything_is_written() {
    let folder = Folder::new("reproduce-options");
    for (arguments, answer) in [
        (&["tamping", "--case", "20"][..], "15, 30, 45, imposed"),
        (&["tamping", "--dt", "0.3 ms"], "divides 0.1 s"),
        (&["tamping", "--dt", "0"], "a step of 0.01 to 2 ms"),
        (&["tamping", "--tolerance", "2"], "from 1e-10 to 0.1"),
        (&["tamping", "--tolerance", "NaN"], "greater than 0"),
        (&["tamping", "--threads", "0"], "from 1 to 1024"),
        (&["tamping", "--seed", "first"], "invalid digit"),
        (&["tamping", "--repeat", "--case", "15"], "cannot be used with"),
        (&["slider-crank", "--seed", "2"], "does not accept --seed; studies that do: tamping"),
    ] {
        let output = folder.riprap(&[&["reproduce"], arguments].concat());
        assert_eq!(code(&output), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(answer), "{arguments:?}: {}", stderr(&output));
    }
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn studies_are_listed_and_unknown_ones_give_a_suggestion() {
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
    assert!(stderr(&output).contains("cannot create taken"), "{}", stderr(&output));
    assert_eq!(folder.names(), ["taken"]);
}
