//! `riprap solve`: problems that riprap writes itself, and files that it cannot read.

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
        "auto,anderson,gauss-seidel,conjugate-gradient",
        "--tol",
        "1e-2,1e-3",
        "--repeat",
        "1",
        "--json",
        "--profile",
        "profile.svg",
    ]);
    success(&output);
    let text = stdout(&output);
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 8 * std::fs::read_dir(folder.0.join("out/problems")).unwrap().count());
    for line in &lines {
        assert_eq!(line["converged"], true);
        assert!(line["residual"].as_f64().unwrap() <= line["tolerance"].as_f64().unwrap());
        assert!(
            line["contacts"].as_u64().unwrap() >= 16 && line["seconds"].as_f64().unwrap() > 0.0
        );
    }
    let svg = folder.read("profile.svg");
    for name in ["auto", "anderson", "gauss-seidel", "conjugate-gradient", "residual 0.001"] {
        assert!(svg.contains(name), "{name}");
    }
    // What sweeps alone do not reach here in a hundred thousand: boxes on boxes, with impulses that are not unique.
    let accurate = folder.riprap(&["solve", "out/problems", "--tol", "1e-9", "--repeat", "1"]);
    success(&accurate);
    assert!(stdout(&accurate).contains("auto to 1e-9: 5 of 5 solved"), "{}", stdout(&accurate));
}

#[test]
fn what_is_not_solved_is_said_and_ends_with_1() {
    let folder = problems("unsolved");
    let file = "out/problems/problem-000050.hdf5";
    let output = folder.riprap(&["solve", file, "--tol", "1e-15", "--max-sweeps", "2"]);
    assert_eq!(code(&output), Some(1));
    assert!(stdout(&output).contains("NOT SOLVED"), "{}", stdout(&output));
    assert!(stderr(&output).contains("1 of 1 solves did not reach"), "{}", stderr(&output));
}

#[test]
fn files_that_cannot_be_read_are_named_the_others_solved_and_it_ends_with_2() {
    let folder = problems("unreadable");
    folder.write("broken.hdf5", "no HDF5");
    let output =
        folder.riprap(&["solve", "broken.hdf5", "out/problems/problem-000010.hdf5", "no.h5"]);
    assert_eq!(code(&output), Some(2));
    for words in ["broken.hdf5: this is not an HDF5 file", "no.h5", "2 of 3 files"] {
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    assert!(stdout(&output).contains("solved"), "{}", stdout(&output));
    let empty = folder.riprap(&["solve", "out/frames"]);
    assert_eq!(code(&empty), Some(2));
    assert!(stderr(&empty).contains("holds no HDF5 files"), "{}", stderr(&empty));
}
