//! Flexible bodies in scene files: what they become, and mistakes in them.

mod mistakes;

use mistakes::scenes::after_ball;
use mistakes::{Case, check};
use riprap::math::Vec3;
use riprap::prelude::Support;
use riprap::simulation::Simulation;
use riprap_io::scene_file::{FlexibleKind, SceneFile, Section, Target};
use std::path::Path;

fn scene() -> SceneFile {
    SceneFile::read(Path::new("tests/data/flexible.toml")).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_key_becomes_a_member() {
    let file = scene();
    let [strip, bar, arm, rod] = &file.flexible[..] else { panic!("four flexible bodies") };
    assert_eq!((strip.name.as_str(), bar.name.as_str()), ("strip", "flexible-2"));
    assert_eq!(strip.section, Section::Rectangle { height: 0.002, width: 0.02 });
    assert_eq!((strip.start, strip.end), (Support::Clamped, Support::Free));
    assert_eq!((strip.young, strip.poisson, strip.damping), (2.1e11, 0.3, 1e-3));
    assert!(matches!(&strip.kind, FlexibleKind::Beam { up: Some([0.0, 0.0, 1.0]), .. }));
    assert_eq!(strip.shapes[0].nodes, Some(vec![3, 4]));
    assert_eq!((strip.n_nodes(), bar.n_nodes(), arm.n_nodes()), (7, 5, 7));
    assert!(
        matches!(&bar.section, Section::Given { shear: [1.0, 1.0], area, .. } if *area == 4e-4)
    );
    assert_eq!(arm.shapes[0].nodes, None);
    assert!(matches!(&rod.kind, FlexibleKind::Beam { angular_velocity: [_, _, 1.0], .. }));
    assert_eq!(file.probes[0].body, Target::Node { flexible: 0, node: 6 });
    assert_eq!(file.target_name(file.probes[0].body), "strip/6");
    assert_eq!(file.probes[0].name, "strip.6");
}

#[test]
fn the_scene_is_built_and_runs() {
    let file = scene();
    let built = file.build().unwrap_or_else(|e| panic!("{e}"));
    let scene = &built.scene;
    assert_eq!(scene.flexible().len(), 4);
    assert!(scene.flexible()[1].is_linear() && !scene.flexible()[0].is_linear());
    // Joints are at the same place on both bodies, wherever these start.
    let state = scene.initial_state();
    for joint in scene.joints() {
        let [a, b] = [0, 1].map(|k| state.q[joint.bodies[k] as usize].point(joint.places[k]));
        assert!((a - b).norm() < 1e-12, "{}", joint.name);
    }
    let tip = built.body(file.probes[0].body);
    assert_eq!(scene.bodies().names[scene.slot(tip)], "strip/6");
    let mut run = Simulation::new(built.scene.clone(), file.scheme()).unwrap();
    let start = run.pose(tip).position;
    run.until(file.run.until, &mut ()).unwrap();
    assert!(run.pose(tip).position.z < start.z, "it sags");
    let wall = run.pose(run.scene().body("flexible-2/0").unwrap()).position;
    assert!((wall - Vec3::new(-0.001, -1.0, 0.0)).norm() < 1e-3, "stopped by the wall: {wall}");
    let error = riprap::assembly::joint_error(run.scene(), &run.state().q);
    assert!(error < 1e-4, "{error}");
}

/// A flexible body with some lines replaced, from line 11 on.
fn beam(name: &'static str, change: &[(&str, &str)], line: usize, says: &'static str) -> Case {
    let mut text =
        "[[flexible]]\nname = \"b\"\npoints = [[0, 0, 0], [1, 0, 0]]\nmaterial = \"rock\"\n\
                    young = 1e9\nsection = { type = \"circle\", radius = 0.01 }\n"
            .to_owned();
    for (from, to) in change {
        assert!(text.contains(from), "{name}");
        text = text.replacen(from, to, 1);
    }
    after_ball(name, &text, line, says)
}

#[test]
fn mistakes_in_flexible_bodies_are_reported() {
    let points = "[[0, 0, 0], [1, 0, 0]]";
    let end = "radius = 0.01 }\n";
    let after = |text: &str| format!("{end}{text}\n");
    check(&[
        beam("one point", &[(points, "[[0, 0, 0]]")], 13, "at least 2 items"),
        beam("equal points", &[(points, "[[0, 0, 0], [0, 0, 0]]")], 13, "points 1 and 2 are equal"),
        beam("not finite", &[(points, "[[0, 0, 0], [inf, 0, 0]]")], 13, "finite"),
        beam("no modulus", &[("young = 1e9\n", "")], 11, "`young` is missing"),
        beam("no stiffness", &[("1e9", "0")], 15, "greater than 0"),
        beam("a length as modulus", &[("1e9", "\"3 mm\"")], 15, "a pressure"),
        beam("no such section", &[("circle", "square")], 16, "\"rectangle\""),
        beam("no radius", &[("radius = 0.01", "radius = -1")], 16, "greater than 0"),
        beam(
            "thick tube",
            &[("type = \"circle\", radius = 0.01", "type = \"tube\", outer = 0.01, inner = 0.02")],
            16,
            "`inner` (0.02 m) must be less than `outer`",
        ),
        beam("unknown material", &[("rock", "rick")], 14, "did you mean `rock`"),
        beam("no elements", &[(end, &after("elements = 0"))], 17, "elements"),
        beam(
            "too many",
            &[(points, "[[0, 0, 0], [1, 0, 0], [2, 0, 0]]"), (end, &after("elements = 90000"))],
            17,
            "180001 nodes",
        ),
        beam("incompressible", &[(end, &after("poisson = 0.6"))], 17, "between -0.9 and 0.5"),
        beam("unknown support", &[(end, &after("start = \"glued\""))], 17, "\"pinned\""),
        beam("negative damping", &[(end, &after("damping = -1"))], 17, "at least 0"),
        beam(
            "moving clamp",
            &[(end, &after("end = \"clamped\"\nvelocity = [1, 0, 0]"))],
            18,
            "contradicts the supports",
        ),
        beam(
            "turning clamp",
            &[(end, &after("start = \"clamped\"\nangular_velocity = [1, 0, 0]"))],
            18,
            "contradicts",
        ),
        beam("key of a bar", &[(end, &after("masses = \"lumped\""))], 17, "type = \"bar\""),
        beam(
            "bent bar",
            &[(points, "[[0, 0, 0], [1, 0, 0], [1, 1, 0]]"), (end, &after("type = \"bar\""))],
            13,
            "straight line",
        ),
        beam(
            "bar across",
            &[(end, &after("type = \"bar\"\nvelocity = [0, 1, 0]"))],
            18,
            "along its axis",
        ),
        beam(
            "no such node",
            &[(
                end,
                &after(
                    "[[flexible.shape]]\nnodes = [11]\nshape = { type = \"sphere\", radius = 0.1 }",
                ),
            )],
            17,
            "the nodes are 0 to 10",
        ),
        beam(
            "no such shape",
            &[(end, &after("[[flexible.shape]]\nshape = \"ball\""))],
            18,
            "no shape",
        ),
        beam("same name", &[("\"b\"", "\"ball\"")], 12, "used twice"),
        beam("node of a probe", &[(end, &after("[[probe]]\nbody = \"b/11\""))], 18, "b/0 to b/10"),
        beam("not a number", &[(end, &after("[[probe]]\nbody = \"b/01\""))], 18, "b/0 to b/10"),
        beam(
            "joint in itself",
            &[(
                end,
                &after(
                    "[[joint]]\ntype = \"ball\"\nposition = [0, 0, 0]\nbetween = [\"b/0\", \"b/3\"]",
                ),
            )],
            20,
            "two nodes of one flexible body",
        ),
    ]);
}

#[test]
fn mistakes_found_while_building_point_at_the_flexible_body() {
    let text = |change: &str| {
        format!(
            "run = {{ dt = 0.001, until = 1 }}\nmaterials.rock = {{ density = 1 }}\n[[flexible]]\nname = \"b\"\n\
             points = [[0, 0, 0], [1, 0, 0]]\nmaterial = \"rock\"\nyoung = 1e9\nsection = {{ type = \"circle\", radius = 0.01 }}\n{change}\n"
        )
    };
    for (change, says) in [
        (
            "[[joint]]\ntype = \"ball\"\nposition = [0, 0, 0]\nproject = true\nbetween = [\"b/0\", \"world\"]",
            "joint `joint-1`: positions of flexible bodies are not projected",
        ),
        ("up = \"x\"", "flexible body `b`, up: is along the beam"),
        ("[[flexible.shape]]\nshape = { type = \"half-space\" }", "cannot carry it"),
        ("[[flexible.shape]]\nshape = { type = \"disc\", radius = 1 }", "planar"),
    ] {
        let errors = match SceneFile::parse(&text(change), ".") {
            Ok(file) => file.build().unwrap_err(),
            Err(errors) => errors,
        };
        let message = errors.to_string();
        assert!(message.contains(says), "{message}");
        let (line, _) = errors.line_column(errors.problems[0].span.start);
        assert!(line >= 3, "{message}");
    }
}
