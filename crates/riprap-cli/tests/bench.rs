//! `riprap bench`: every scene runs in a small version and reports all quantities.

mod common;

use common::{Folder, code, stderr, stdout, success};
use serde_json::Value;

/// Runs a benchmark with `--json` and parses its output.
#[track_caller]
fn json(folder: &Folder, arguments: &[&str]) -> Value {
    let mut all = vec!["bench"];
    all.extend(arguments);
    all.push("--json");
    let output = folder.riprap(&all);
    success(&output);
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[track_caller]
fn assert_complete(result: &Value) {
    for key in [
        "steps_per_s",
        "ms_per_step",
        "contacts",
        "pairs",
        "near_pairs",
        "sweeps_mean",
        "ns_per_contact_sweep",
        "us_per_pair",
        "residual",
        "unconverged",
        "penetration_max_rel",
        "v_rms",
        "v_max",
        "threads",
        "settle_wall",
        "bytes_per_grain",
    ] {
        assert!(result[key].is_number(), "{key}: {result}");
    }
    for stage in ["free", "detect", "assemble", "solve", "update"] {
        assert!(result["ms_per_stage"][stage].is_number(), "{stage}: {result}");
    }
}

#[test]
fn a_pile_prints_one_object_with_all_keys_or_a_table() {
    let folder = Folder::new("bench-pile");
    let arguments = ["pile", "--grains", "20", "--settle", "0.05", "--steps", "5"];
    assert_complete(&json(&folder, &arguments));
    let mut all = vec!["bench"];
    all.extend(arguments);
    let output = folder.riprap(&all);
    success(&output);
    assert!(stdout(&output).contains("solver per step"), "{}", stdout(&output));
}

#[test]
fn a_shared_scene_runs_with_every_solver_and_writes_its_states() {
    let folder = Folder::new("bench-shared");
    success(&folder.riprap(&["bench", "export", "--grains", "8", "stones.json.gz"]));
    for solver in ["conjugate-gradient", "coloured", "gauss-seidel"] {
        let window = ["--settle", "0.05", "--window", "0.01", "--states", "a.txt", "b.txt"];
        let mut arguments = vec!["pile", "--from", "stones.json.gz", "--solver", solver];
        arguments.extend(window);
        let result = json(&folder, &arguments);
        assert_complete(&result);
        assert_eq!((&result["steps"], &result["solver"]), (&20.into(), &solver.into()));
        for name in ["a.txt", "b.txt"] {
            let text = folder.read(name);
            assert_eq!(text.lines().count(), 8);
            assert!(text.lines().all(|line| line.split(' ').count() == 13), "{text}");
        }
    }
}

#[test]
fn a_seed_displaces_the_grains_reproducibly_by_up_to_a_nanometre() {
    let folder = Folder::new("bench-chance");
    success(&folder.riprap(&["bench", "export", "--grains", "8", "stones.json"]));
    let begin = |chance: &[&str]| -> Vec<f64> {
        let window = ["--settle", "0", "--steps", "1", "--states", "a.txt", "b.txt"];
        json(&folder, &[&["pile", "--from", "stones.json"], &window[..], chance].concat());
        let text = folder.read("a.txt");
        let position = |line: &str| line.split(' ').take(3).map(|x| x.parse().unwrap()).collect();
        text.lines().flat_map(position as fn(&str) -> Vec<f64>).collect()
    };
    let (plain, one, two) = (begin(&[]), begin(&["--chance", "1"]), begin(&["--chance", "2"]));
    assert_eq!(one, begin(&["--chance", "1"]));
    assert_ne!(one, two);
    let farthest = plain.iter().zip(&one).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(farthest > 1e-10 && farthest < 1.001e-9, "{farthest}");
}

#[test]
fn several_seeds_give_one_run_each_and_the_median_of_their_velocities() {
    let folder = Folder::new("bench-median");
    success(&folder.riprap(&["bench", "export", "--grains", "8", "stones.json"]));
    let arguments = ["bench", "pile", "--from", "stones.json", "--settle", "0.05", "--steps", "2"];
    let output = folder.riprap(&[&arguments[..], &["--chance", "1,2,3", "--json"]].concat());
    success(&output);
    let text = stdout(&output);
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 4, "{text}");
    let mut rms: Vec<f64> = lines[..3].iter().map(|r| r["v_rms"].as_f64().unwrap()).collect();
    rms.sort_by(f64::total_cmp);
    assert_eq!((&lines[3]["runs"], lines[3]["v_rms_median"].as_f64()), (&3.into(), Some(rms[1])));
    let output = folder.riprap(&[&arguments[..], &["--chance", "1,2"]].concat());
    success(&output);
    assert!(stdout(&output).contains("median of 2 runs"), "{}", stdout(&output));
}

#[test]
fn invalid_arguments_and_files_exit_with_code_2_and_an_explanation() {
    let folder = Folder::new("bench-wrong");
    folder.write("broken.json", "{\"density\": 2700,\n\"mu\": }");
    for (arguments, told) in [
        (&["pile", "--from", "none.json"][..], "none.json"),
        (&["pile", "--from", "broken.json"], "broken.json, line 2"),
        (&["pile", "--grains", "5", "--dt", "0"], "--dt must be greater than 0"),
        (&["pile", "--solver", "magic"], "conjugate-gradient"),
        (&["pile", "--states", "a.txt"], "--states"),
        (&["pile", "--grains", "5", "--from", "broken.json"], "--from"),
        (&["pile", "--chance", "1"], "--from"),
        (&["pile", "--grains", "5", "--chance", "1"], "--chance"),
    ] {
        let mut all = vec!["bench"];
        all.extend(arguments);
        let output = folder.riprap(&all);
        assert_eq!(code(&output), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(told), "{}", stderr(&output));
    }
}

#[test]
fn the_states_of_a_run_are_evaluated() {
    let folder = Folder::new("bench-judge");
    success(&folder.riprap(&["bench", "export", "--grains", "8", "stones.json"]));
    let window = ["--settle", "0.1", "--steps", "20", "--states", "a.txt", "b.txt"];
    let mut arguments = vec!["pile", "--from", "stones.json"];
    arguments.extend(window);
    let told = json(&folder, &arguments);
    let judged = json(&folder, &["judge", "stones.json", "a.txt", "b.txt"]);
    // The same velocities, and overlaps within the tolerance of the solver.
    for key in ["v_rms", "v_max"] {
        let (a, b) = (told[key].as_f64().unwrap(), judged[key].as_f64().unwrap());
        assert!((a - b).abs() < 1e-12 * a.max(1.0), "{key}: {a} {b}");
    }
    assert!(judged["penetration_max_rel"].as_f64().unwrap() < 1e-3, "{judged}");
    assert!(judged["drift"]["max_mm"].as_f64().unwrap() > 0.0);
    let output = folder.riprap(&["bench", "judge", "stones.json", "b.txt"]);
    success(&output);
    assert!(stdout(&output).contains("deepest overlap") && !stdout(&output).contains("drift"));

    folder.write("short.txt", "1 2 3\n");
    let output = folder.riprap(&["bench", "judge", "stones.json", "short.txt"]);
    assert_eq!(code(&output), Some(2));
    assert!(
        stderr(&output).contains("short.txt, line 1: expected 13 numbers"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn every_scene_runs_with_few_grains() {
    let folder = Folder::new("bench-scenes");
    for scene in ["pour", "drum", "vibrated-box", "tool", "tower"] {
        let arguments =
            [scene, "--grains", "30", "--settle", "0.01", "--steps", "10", "--csv", "all.csv"];
        let result = json(&folder, &arguments);
        assert_complete(&result);
        assert_eq!((&result["scene"], &result["grains"]), (&scene.into(), &30.into()));
    }
    let rows = folder.read("all.csv");
    assert_eq!(rows.lines().count(), 6, "{rows}");
    let columns = rows.lines().next().unwrap().split(',').count();
    assert!(rows.lines().all(|row| row.split(',').count() == columns), "{rows}");
}

#[test]
fn a_tool_is_pushed_into_a_shared_pile() {
    let folder = Folder::new("bench-tool");
    success(&folder.riprap(&["bench", "export", "--grains", "12", "stones.json"]));
    let result = json(
        &folder,
        &["tool", "--from", "stones.json", "--settle", "0.2", "--window", "0.1", "--threads", "1"],
    );
    assert_complete(&result);
    assert_eq!(result["scene"], "tool of stones");
    assert_eq!(result["steps"], 200);
}

#[test]
fn scaling_reports_exponents_and_appends_rows() {
    let folder = Folder::new("bench-scaling");
    let arguments = [
        "scaling",
        "--sizes",
        "20,60",
        "--threads",
        "1,2",
        "--threads-at",
        "60",
        "--steps",
        "2",
        "--settle",
        "0",
        "--csv",
        "rows.csv",
    ];
    let result = json(&folder, &arguments);
    assert!(result["exponent"].is_number() && result["machine"]["cores"].is_number(), "{result}");
    assert_eq!(result["growth"].as_array().unwrap().len(), 2);
    assert_eq!(result["threads"][1]["threads"], 2);
    assert_eq!(folder.read("rows.csv").lines().count(), 4);
    let mut all = vec!["bench"];
    all.extend(arguments);
    let output = folder.riprap(&all);
    success(&output);
    assert!(
        stdout(&output).contains("scales with the number of grains to the power"),
        "{}",
        stdout(&output)
    );
    assert_eq!(folder.read("rows.csv").lines().count(), 7);

    folder.write("other.csv", "a,b\n1,2\n");
    let output =
        folder.riprap(&["bench", "tower", "--grains", "10", "--steps", "1", "--csv", "other.csv"]);
    assert_eq!(code(&output), Some(2));
    assert!(stderr(&output).contains("other.csv, line 1: the columns"), "{}", stderr(&output));
}

#[test]
fn a_quick_campaign_fills_the_tables_of_a_page_and_one_csv_file() {
    let folder = Folder::new("bench-campaign");
    let places = ["stamp", "scenes", "growth", "threads", "shared", "peers", "mechanisms"];
    let marked =
        places.map(|p| format!("<!-- campaign: {p} -->\nold\n<!-- end: {p} -->\n\nprose\n"));
    folder.write("speed.md", marked.concat());
    folder.write("peers.txt", "| code | ms |\n| --- | --- |\n| other | 3 |\n");
    success(&folder.riprap(&["bench", "export", "--grains", "8", "stones.json"]));
    let files = ["--page", "speed.md", "--csv", "rows.csv"];
    let more = ["--from", "stones.json", "--peers", "peers.txt"];
    let campaign = ["bench", "campaign", "--quick"];
    success(&folder.riprap(&[&campaign[..], &files, &more].concat()));

    let page = folder.read("speed.md");
    assert_eq!(page.matches("prose").count(), places.len());
    assert!(!page.contains("old"), "{page}");
    for part in
        ["Measured on 2", "cores", "`drum`", "speed-up", "pile of stones", "other", "tamping unit"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    // All rows of a table have as many cells as its header.
    for table in page.split("\n\n").filter(|text| text.starts_with('|')) {
        let cells: Vec<usize> = table.lines().map(|line| line.matches(" |").count()).collect();
        assert!(cells.iter().all(|n| *n == cells[0]), "{table}");
    }
    let rows = folder.read("rows.csv");
    let columns = rows.lines().next().unwrap().split(',').count();
    assert!(rows.lines().all(|row| row.split(',').count() == columns), "{rows}");
    for part in [",scenes,2,", ",growth,", ",threads,", ",shared,", ",mechanisms,"] {
        assert!(rows.contains(part), "{part}: {rows}");
    }
}

#[test]
fn a_campaign_rejects_a_page_without_markers_before_it_measures() {
    let folder = Folder::new("bench-campaign-wrong");
    folder.write("empty.md", "# Speed\n");
    folder.write("words.txt", "no table\n");
    for (arguments, told) in [
        (["--page", "empty.md"], "empty.md: the page has no line `<!-- campaign: stamp -->`"),
        (["--page", "none.md"], "none.md"),
        (["--peers", "words.txt"], "words.txt: not a table"),
        (["--from", "none.json"], "none.json"),
    ] {
        // Without --quick: a full campaign would take half an hour.
        let output = folder.riprap(&[&["bench", "campaign"], &arguments[..]].concat());
        assert_eq!(code(&output), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(told), "{}", stderr(&output));
    }
    assert_eq!(folder.read("empty.md"), "# Speed\n");
}

#[test]
fn solvers_of_cone_problems_are_measured() {
    let folder = Folder::new("bench-cone");
    let arguments = ["--contacts", "100,400", "--iterations", "5", "--problems", "4"];
    let small =
        [&["cone", "--repetitions", "1", "--profile", "profile.svg"], &arguments[..]].concat();
    let result = json(&folder, &small);
    assert!(result["exponents"][0].is_number() && result["layers"][1]["converged"] == true);
    assert_eq!(result["solvers"].as_array().unwrap().len(), 6);
    let svg = folder.read("profile.svg");
    assert!(svg.contains("apgd") && svg.contains("interior-point"));
    let output = folder.riprap(&[&["bench"], &small[..]].concat());
    success(&output);
    assert!(stdout(&output).contains("apgd, fixed iterations: time ~ contacts^"));
}
