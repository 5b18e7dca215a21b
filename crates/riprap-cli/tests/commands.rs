//! The output and exit codes of commands other than `run`.

mod common;

use common::{Folder, code, stderr, stdout, success};

#[test]
fn a_new_folder_contains_a_scene_that_runs() {
    let folder = Folder::new("new");
    success(&folder.riprap(&["new", "first"]));
    let scene = folder.read("first/scene.toml");
    assert!(scene.starts_with("#:schema ./scene.schema.json\n"));
    let schema: serde_json::Value =
        serde_json::from_str(&folder.read("first/scene.schema.json")).unwrap();
    assert!(schema.get("$schema").is_some());
    let check = folder.riprap(&["check", "first/scene.toml"]);
    success(&check);
    for words in [
        "100 grains",
        "degrees of freedom       ",
        "600",
        "sieve sizes of `ballast`",
        "rock – steel",
    ] {
        assert!(stdout(&check).contains(words), "{words}\n{}", stdout(&check));
    }
    assert!(stdout(&check).contains("the time step is small enough"), "{}", stdout(&check));
    // To its end and without a warning: it is the first thing a new user sees.
    let run = folder.riprap(&["run", "first/scene.toml"]);
    success(&run);
    assert!(!stderr(&run).contains("warning"), "{}", stderr(&run));
    assert!(folder.0.join("out/first/series.csv").is_file());
    let summary: serde_json::Value =
        serde_json::from_str(&folder.read("out/first/summary.json")).unwrap();
    assert_eq!((&summary["unconverged_steps"], &summary["steps"]), (&0.into(), &2000.into()));

    let again = folder.riprap(&["new", "first"]);
    assert_eq!(code(&again), Some(2));
    assert!(stderr(&again).contains("is not empty"), "{}", stderr(&again));
    assert_eq!(scene, folder.read("first/scene.toml"));
}

#[test]
fn check_advises_on_a_time_step_that_is_too_large() {
    let folder = Folder::new("advice");
    folder.write(
        "scene.toml",
        "[run]\ndt = 0.02\nuntil = 1\n[materials.m]\ndensity = 1\n[[body]]\n\
         shape = { type = \"sphere\", radius = 0.1 }\nmaterial = \"m\"\nvelocity = [10, 0, 0]\n",
    );
    let output = folder.riprap(&["check", "scene.toml"]);
    success(&output);
    assert!(stdout(&output).contains("reduce dt to 2 ms or less"), "{}", stdout(&output));
    assert_eq!(folder.names(), ["scene.toml"]);
}

#[test]
fn analyses_require_a_mechanism() {
    let folder = Folder::new("no-mechanism");
    folder.write(
        "scene.toml",
        "[run]\ndt = 0.001\nuntil = 1\n[materials.m]\ndensity = 1\n[[body]]\n\
         shape = { type = \"sphere\", radius = 0.1 }\nmaterial = \"m\"\n",
    );
    for command in ["equilibrium", "modes"] {
        let output = folder.riprap(&[command, "scene.toml"]);
        assert_eq!(code(&output), Some(2));
        assert!(stderr(&output).contains("has no mechanism"), "{}", stderr(&output));
    }
}

#[test]
fn a_pendulum_has_an_equilibrium_and_a_frequency() {
    let folder = Folder::new("pendulum");
    let scene = "[run]\nscheme = \"dormand-prince\"\nuntil = \"1 s\"\noutput_every = \"0.1 s\"\n\
                 [[mechanism]]\nname = \"pendulum\"\n\
                 [[mechanism.body]]\nname = \"bob\"\nmass = 2\ncentre = [0, 0, -1]\ninertia = 1e-9\n\
                 [[mechanism.joint]]\nname = \"arm\"\ntype = \"revolute\"\nchild = \"bob\"\naxis = \"y\"\n\
                 start = \"20 deg\"\n";
    folder.write("scene.toml", scene);
    let output = folder.riprap(&["equilibrium", "scene.toml", "--json"]);
    success(&output);
    let rest: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(rest["stability"], "stable");
    let angle = rest["coordinates"][0]["position"].as_f64().unwrap();
    assert!(angle.abs() < 1e-12, "{rest}");

    // √(g/L)/2π.
    let output = folder.riprap(&["modes", "scene.toml"]);
    success(&output);
    assert!(stdout(&output).contains("0.498"), "{}", stdout(&output));
    let output = folder.riprap(&["modes", "scene.toml", "--hold", "arm"]);
    assert!(stdout(&output).contains("degrees of freedom: 0"), "{}", stdout(&output));
    let output = folder.riprap(&["modes", "scene.toml", "--hold", "arn"]);
    assert_eq!(code(&output), Some(2));
    assert!(stderr(&output).contains("did you mean `arm`?"), "{}", stderr(&output));

    let motor = "[[mechanism.force]]\nname = \"motor\"\ncoordinate = \"arm\"\nlaw = \"100\"\n";
    folder.write("scene.toml", format!("{scene}{motor}"));
    let output = folder.riprap(&["equilibrium", "scene.toml"]);
    assert_eq!(code(&output), Some(1));
    let message = stderr(&output);
    assert!(message.contains("`arm` keeps moving") && message.contains("--hold arm"), "{message}");
}

#[test]
fn the_schema_is_json() {
    let folder = Folder::new("schema");
    let output = folder.riprap(&["schema"]);
    success(&output);
    assert!(serde_json::from_str::<serde_json::Value>(&stdout(&output)).unwrap().is_object());
}

#[test]
fn validation_prints_each_quantity_with_its_verdict() {
    let folder = Folder::new("validate");
    let output = folder.riprap(&["validate", "three-balls"]);
    success(&output);
    let text = stdout(&output);
    assert!(
        text.contains("measured") && text.contains("pass") && text.contains(" 0 failed"),
        "{text}"
    );
    let output = folder.riprap(&["validate", "three-balls", "--json"]);
    success(&output);
    let text = stdout(&output);
    assert!(text.lines().count() > 1);
    for line in text.lines() {
        let check: serde_json::Value = serde_json::from_str(line).unwrap();
        for key in
            ["case", "quantity", "value", "reference", "tolerance", "unit", "pass", "comparison"]
        {
            assert!(check.get(key).is_some(), "{key} is missing in {line}");
        }
    }
    let output = folder.riprap(&["validate", "--list"]);
    assert!(stdout(&output).contains("bouncing-ball"));
}

#[test]
fn an_unknown_case_gives_a_suggestion() {
    let folder = Folder::new("case");
    let output = folder.riprap(&["validate", "bouncing-bal"]);
    assert_eq!(code(&output), Some(2));
    assert!(stderr(&output).contains("did you mean `bouncing-ball`?"), "{}", stderr(&output));
}

#[test]
fn the_mechanism_benchmark_compares_with_pinocchio() {
    let folder = Folder::new("bench-mechanism");
    folder.write("pin.txt", "tree arm7.txt\ncrba+nle 0.98\naba 1.14\n");
    let arguments =
        ["bench", "mechanism", "--repetitions", "3", "--json", "--pinocchio", "pin.txt"];
    let output = folder.riprap(&arguments);
    success(&output);
    let result: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(result["tamping_unit"].as_f64().unwrap() > 0.0);
    assert_eq!(result["trees"][1]["n_dof"], 36);
    let ratios = &result["pinocchio_over_riprap"];
    assert!(ratios["arm7_mass_and_bias"].is_number() && ratios["tree36_bias"].is_null());
    folder.write("empty.txt", "nothing\n");
    let output = folder.riprap(&["bench", "mechanism", "--pinocchio", "empty.txt"]);
    assert!(stderr(&output).contains("run.sh"), "{}", stderr(&output));
}

#[test]
fn check_shows_the_volume_lost_by_reducing_scanned_stones() {
    let folder = Folder::new("scans");
    std::fs::create_dir(folder.0.join("scans")).unwrap();
    let cube = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
                f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    folder.write("scans/whole.obj", cube);
    let open: String = cube.lines().take(13).map(|line| format!("{line}\n")).collect();
    folder.write("scans/open.obj", open);
    let scene = "[run]\ndt = \"1 ms\"\nuntil = 0\n[materials.rock]\ndensity = 2700\n[[grains]]\nmaterial = \"rock\"\n\
                 generator = \"lattice\"\ncounts = [2, 2, 1]\nspacing = [0.2, 0.2, 0.2]\n\
                 stones = { folder = \"scans\", max_vertices = 7 }\ngrading = { uniform = [0.03, 0.05] }\n";
    folder.write("scene.toml", scene);
    let check = folder.riprap(&["check", "scene.toml"]);
    success(&check);
    let text = stdout(&check);
    // Cutting off one corner of a cube removes a sixth of its volume.
    let row = |name: &str| -> Vec<String> {
        let line =
            text.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{text}"));
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(row("whole.obj"), ["whole.obj", "8", "8", "7", "16.67", "%", "+0.0", "%"]);
    assert_eq!(row("open.obj"), ["open.obj", "8", "8", "7", "16.67", "%", "not", "closed"]);
    success(&folder.riprap(&["run", "scene.toml"]));
}
