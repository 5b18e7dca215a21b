//! Mechanisms on the command line: the output of `check`, and runs that end at the requested time.

mod common;

use common::{Folder, stdout, success};

/// A crank with constant speed, a rod and a slider, closed by a hinge with redundant equations (the motion is planar).
const SLIDER_CRANK: &str = "\
[run]
scheme = \"dormand-prince\"
until = \"1 s\"
output_every = \"30 ms\"
[[mechanism]]
name = \"engine\"
[[mechanism.body]]
name = \"crank\"
mass = 1
inertia = 0.1
[[mechanism.joint]]
name = \"motor\"
type = \"revolute\"
child = \"crank\"
axis = \"-y\"
speed = \"60 rpm\"
start = \"45 deg\"
[[mechanism.body]]
name = \"rod\"
mass = 1
inertia = 0.1
[[mechanism.joint]]
name = \"big_end\"
type = \"revolute\"
parent = \"crank\"
child = \"rod\"
axis = \"-y\"
position = [0.1, 0, 0]
guess = -0.9
[[mechanism.body]]
name = \"piston\"
mass = 2
[[mechanism.joint]]
name = \"stroke\"
type = \"prismatic\"
child = \"piston\"
axis = \"x\"
guess = 0.4
[[mechanism.loop]]
name = \"small_end\"
type = \"hinge\"
axis = \"y\"
a = { body = \"rod\", position = [0.3, 0, 0] }
b = { body = \"piston\" }
";

#[test]
fn check_prints_the_tree_the_loops_and_the_partition() {
    let folder = Folder::new("mechanism-check");
    folder.write("scene.toml", SLIDER_CRANK);
    let check = folder.riprap(&["check", "scene.toml"]);
    success(&check);
    let text = stdout(&check);
    for words in [
        "mechanism `engine`: 3 bodies, 4 kg, 3 coordinates, 0 degrees of freedom",
        "crank   revolute   motor = 0.785398 rad (6.28319 rad/s)",
        "\n    rod ",
        "small_end  hinge  rod – piston",
        "5 from the loops, rank 2, 3 redundant",
        "redundant                small_end: ",
        "← none",
        "prescribed               motor",
    ] {
        assert!(text.contains(words), "no `{words}` in:\n{text}");
    }
}

#[test]
fn a_smooth_run_ends_exactly_at_the_requested_time() {
    let folder = Folder::new("mechanism-until");
    folder.write("scene.toml", SLIDER_CRANK);
    for (until, time) in [("1 s", 1.0), ("20 ms", 0.02), ("0.1", 0.1)] {
        let run = folder.riprap(&["run", "scene.toml", "--until", until, "--out", "o", "--force"]);
        success(&run);
        let summary: serde_json::Value =
            serde_json::from_str(&folder.read("o/summary.json")).unwrap();
        let end = summary["time_s"].as_f64().unwrap();
        assert!((end - time).abs() < 1e-12, "{end} for {until}");
        assert!(summary["loop_residual_max"].as_f64().unwrap() < 1e-11);
        assert_eq!(summary["mechanisms"], 1);
        let series = folder.read("o/series.csv");
        for column in ["engine.motor.force [N m]", "engine.stroke.q [m]", "loop_residual [m]"] {
            assert!(series.contains(column), "{series}");
        }
        assert!(!series.contains("NaN"), "{series}");
    }
}

#[test]
fn check_counts_the_joints_between_bodies() {
    let folder = Folder::new("joints-check");
    let lamp = "[run]\ndt = \"1 ms\"\nuntil = \"1 s\"\n[materials.rock]\ndensity = 1000\n[[body]]\nname = \"lamp\"\n\
                shape = { type = \"sphere\", radius = 0.1 }\nmaterial = \"rock\"\n[[joint]]\ntype = \"hinge\"\n\
                between = [\"world\", \"lamp\"]\nposition = [0, 0, 1]\naxis = \"x\"\n";
    folder.write("scene.toml", lamp);
    let check = folder.riprap(&["check", "scene.toml"]);
    success(&check);
    let text = stdout(&check);
    for words in
        ["1 in 3D", "degrees of freedom  ", "1 between bodies, which removes up to 5 of them"]
    {
        assert!(text.contains(words), "no `{words}` in:\n{text}");
    }
}
