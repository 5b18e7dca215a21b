//! `riprap solve`: problems written by riprap and files that cannot be read.

mod common;

use common::{Folder, code, stderr, stdout, success};

/// A folder with the problems of a few steps of a stack of boxes.
fn problems(name: &str) -> Folder {
    let folder = Folder::new(name);
    let mut scene = String::from(
        "[run]\ndt = 0.002\nuntil = 0.1\nframes = false\n\
         [materials.m]\ndensity = 1000\nfriction = 0.6\n\
         [[body]]\nshape = { type = \"half-space\" }\nmaterial = \"m\"\nkind = \"fixed\"\n",
    );
    for k in 0..4 {
        scene += &format!(
            "[[body]]\nshape = {{ type = \"box\", size = [0.2, 0.2, 0.2] }}\nmaterial = \"m\"\n\
             position = [{}, 0, {}]\n",
            0.02 * f64::from(k % 2),
            0.1 + 0.2 * f64::from(k)
        );
    }
    folder.write("scene.toml", scene);
    success(&folder.riprap(&["run", "scene.toml", "--out", "out", "--problems", "10"]));
    folder
}

#[test]
fn problems_of_a_run_are_solved_by_every_solver() {
    let folder = problems("solve");
    let output = folder.riprap(&[
        "solve",
        "out/problems",
        "--solver",
        "auto,anderson,gauss-seidel,conjugate-gradient,newton,proximal,admm",
        "--tol",
        "1e-2,1e-3",
        "--repeat",
        "1",
        "--json",
        "--profile",
        "profile.svg,times.csv",
    ]);
    success(&output);
    let csv = folder.read("times.csv");
    assert!(csv.starts_with("problem,contacts,solver,tolerance,seconds,cpu_seconds"), "{csv}");
    let text = stdout(&output);
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(csv.lines().count(), lines.len() + 1);
    // The fastest solver of each problem has the ratio 1.
    assert!(csv.lines().filter(|line| line.ends_with(",1.0000")).count() >= lines.len() / 7);
    assert_eq!(lines.len(), 14 * std::fs::read_dir(folder.0.join("out/problems")).unwrap().count());
    for line in &lines {
        assert_eq!(line["converged"], true);
        assert!(line["measure"] == "all" && line["cpu_seconds"].as_f64().unwrap() >= 0.0);
        assert!(line["residual"].as_f64().unwrap() <= line["tolerance"].as_f64().unwrap());
        assert!(
            line["contacts"].as_u64().unwrap() >= 16 && line["seconds"].as_f64().unwrap() > 0.0
        );
    }
    let svg = folder.read("profile.svg");
    for name in ["auto", "anderson", "gauss-seidel", "conjugate-gradient", "residual 0.001"] {
        assert!(svg.contains(name), "{name}");
    }
    // A hundred thousand plain sweeps do not reach this tolerance: the impulses of stacked boxes are not unique.
    let accurate = folder.riprap(&["solve", "out/problems", "--tol", "1e-9", "--repeat", "1"]);
    success(&accurate);
    assert!(
        stdout(&accurate).contains("auto, tolerance 1e-9: 5 of 5 converged"),
        "{}",
        stdout(&accurate)
    );
}

#[test]
fn unsolved_problems_are_reported_and_exit_with_code_1() {
    let folder = problems("unsolved");
    let file = "out/problems/problem-000050.hdf5";
    let output = folder.riprap(&["solve", file, "--tol", "1e-15", "--max-sweeps", "2"]);
    assert_eq!(code(&output), Some(1));
    assert!(stdout(&output).contains("NOT CONVERGED"), "{}", stdout(&output));
    assert!(stderr(&output).contains("1 of 1 solve did not converge"), "{}", stderr(&output));
}

#[test]
fn unreadable_files_are_named_the_others_solved_and_the_exit_code_is_2() {
    let folder = problems("unreadable");
    folder.write("broken.hdf5", "no HDF5");
    let output =
        folder.riprap(&["solve", "broken.hdf5", "out/problems/problem-000010.hdf5", "no.h5"]);
    assert_eq!(code(&output), Some(2));
    for words in ["broken.hdf5: this is not an HDF5 file", "no.h5", "2 of 3 files"] {
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    assert!(stdout(&output).contains("converged"), "{}", stdout(&output));
    std::fs::create_dir(folder.0.join("empty")).unwrap();
    let empty = folder.riprap(&["solve", "empty"]);
    assert_eq!(code(&empty), Some(2));
    assert!(stderr(&empty).contains("contains no HDF5 files"), "{}", stderr(&empty));
}

#[test]
fn the_cone_law_is_solved_by_every_solver_of_its_own() {
    let folder = problems("cones");
    let names = "apgd,barzilai-borwein,gauss-seidel,jacobi,admm,interior-point,auto";
    let arguments = ["solve", "out/problems", "--law", "cone", "--solver", names, "--tol", "1e-4"];
    let more = ["--repeat", "1", "--json", "--profile", "profile.svg"];
    let output = folder.riprap(&[&arguments[..], &more].concat());
    success(&output);
    let text = stdout(&output);
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 7 * 5);
    for of_problem in lines.chunks_exact(7) {
        let values: Vec<f64> =
            of_problem.iter().map(|l| l["objective"].as_f64().unwrap()).collect();
        let oracle = values[5];
        assert!(oracle < 0.0 && of_problem[5]["solver"] == "interior-point");
        // The residual of 1e-4 enters the value as its square, and by the square of the condition number.
        assert!(values.iter().all(|v| (v / oracle - 1.0).abs() < 1e-3), "{values:?}");
    }
    let svg = folder.read("profile.svg");
    assert!(names.split(',').all(|name| svg.contains(name)));
}

#[test]
fn a_solver_that_does_not_fit_the_law_is_named() {
    let folder = Folder::new("misfit");
    for (law, solver, fits) in [("coulomb", "apgd", "auto, anderson"), ("cone", "newton", "apgd")] {
        let output = folder.riprap(&["solve", "no.h5", "--law", law, "--solver", solver]);
        assert_eq!(code(&output), Some(2));
        for words in [solver, &format!("--law {law}"), fits] {
            assert!(stderr(&output).contains(words), "{}", stderr(&output));
        }
    }
}

#[test]
fn a_solution_is_written_and_missing_guesses_are_named() {
    let folder = problems("guess");
    let file = "out/problems/problem-000050.hdf5";
    let text = folder.riprap(&["solve", file, "--write-solution", "solved.hdf5"]);
    success(&text);
    let json = |arguments: &[&str]| -> serde_json::Value {
        let more = ["solve", "solved.hdf5", "--json", "--repeat", "1"];
        let output = folder.riprap(&[&more[..], arguments].concat());
        success(&output);
        serde_json::from_str(stdout(&output).trim()).unwrap()
    };
    let impulses = json(&["--measure", "impulses", "--tol", "1e-6"]);
    assert!(impulses["measure"] == "impulses" && impulses["converged"] == true);
    // Problems of runs have no guesses.
    let none = folder.riprap(&["solve", file, "--guess", "1"]);
    assert_eq!(code(&none), Some(2));
    assert!(stderr(&none).contains("there is no guess 1"), "{}", stderr(&none));
    let two = folder.riprap(&["solve", "out/problems", "--write-solution", "x.hdf5"]);
    assert_eq!(code(&two), Some(2));
    assert!(stderr(&two).contains("needs one problem"), "{}", stderr(&two));
}

#[test]
fn a_time_limit_ends_every_solver() {
    let folder = problems("limit");
    let file = "out/problems/problem-000050.hdf5";
    for solver in ["auto", "anderson", "admm", "gauss-seidel", "conjugate-gradient"] {
        let output = folder.riprap(&[
            "solve",
            file,
            "--tol",
            "1e-17",
            "--time-limit",
            "0.05",
            "--repeat",
            "1",
            "--solver",
            solver,
        ]);
        assert_eq!(code(&output), Some(1), "{solver}");
        assert!(stdout(&output).contains("NOT CONVERGED"), "{}", stdout(&output));
    }
}
