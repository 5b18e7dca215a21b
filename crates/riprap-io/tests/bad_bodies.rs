//! Shapes, bodies, grains and joints with mistakes: each must be reported with the right message,
//! at the right line, and alone.

mod mistakes;

use mistakes::scenes::*;
use mistakes::{Case, check};

fn body(name: &'static str, shape: &str, line: usize, says: &'static str) -> Case {
    after_start(name, &format!("[[body]]\nmaterial = \"rock\"\nshape = {shape}"), line, says)
}

fn planar(name: &'static str, shape: &str, says: &'static str) -> Case {
    let text = format!("planar = true\n{START}[[body]]\nmaterial = \"rock\"\nshape = {shape}");
    Case { name, text, line: 10, says }
}

#[test]
fn mistakes_in_shapes_are_reported() {
    check(&[
        body("no type", "{ radius = 1 }", 9, "`type` is missing"),
        body("unknown type", "{ type = \"ball\", radius = 1 }", 9, "unknown value \"ball\""),
        body("misspelt type", "{ type = \"shpere\", radius = 1 }", 9, "did you mean \"sphere\"?"),
        body("no radius", "{ type = \"sphere\" }", 9, "`radius` is missing in a shape"),
        body(
            "key of another shape",
            "{ type = \"sphere\", radius = 1, size = 2 }",
            9,
            "it belongs to type = \"box\"",
        ),
        body("flat box", "{ type = \"box\", size = [1, 1, 0] }", 9, "greater than 0"),
        body("few points", "{ type = \"polyhedron\", points = [[0, 0, 0]] }", 9, "at least 4"),
        body(
            "points in a plane",
            "{ type = \"polyhedron\", points = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]] }",
            9,
            "coplanar",
        ),
        body(
            "points on a point",
            "{ type = \"polyhedron\", points = [[0,0,0],[0,0,0],[0,0,0],[0,0,0]] }",
            9,
            "coplanar",
        ),
        body("free half-space", "{ type = \"half-space\" }", 9, "cannot be a free body"),
        body(
            "normal",
            "{ type = \"half-space\", normal = [0, 0, 0] }\nkind = \"fixed\"",
            9,
            "zero length",
        ),
        body("disc in space", "{ type = \"disc\", radius = 1 }", 9, "needs a planar scene"),
        planar(
            "box in the plane",
            "{ type = \"box\", size = [1, 1, 1] }",
            "not available in planar scenes",
        ),
        planar(
            "points on a line",
            "{ type = \"polygon\", points = [[0,0],[1,1],[2,2]] }",
            "collinear",
        ),
        planar(
            "three coordinates",
            "{ type = \"polygon\", points = [[0,0],[1,1,0],[2,2]] }",
            "2 items",
        ),
        body("missing mesh", "{ type = \"mesh\", file = \"none.stl\" }", 9, "cannot open"),
        body(
            "mesh of another kind",
            "{ type = \"mesh\", file = \"grains.csv\" }",
            9,
            ".stl, .obj or .ply",
        ),
        body(
            "open mesh",
            "{ type = \"mesh\", file = \"open.obj\", as = \"parts\" }",
            9,
            "not closed: 3 edges",
        ),
    ]);
}

#[test]
fn mistakes_in_curved_and_rounded_shapes_are_reported() {
    check(&[
        body(
            "capsule without length",
            "{ type = \"capsule\", radius = 1 }",
            9,
            "`length` is missing",
        ),
        body(
            "thin cylinder",
            "{ type = \"cylinder\", radius = 0, length = 1 }",
            9,
            "greater than 0",
        ),
        body(
            "flat cone",
            "{ type = \"cone\", radius = 1, height = \"-1 m\" }",
            9,
            "greater than 0",
        ),
        body(
            "length of a cone",
            "{ type = \"cone\", radius = 1, height = 1, length = 1 }",
            9,
            "length",
        ),
        planar(
            "cylinder in the plane",
            "{ type = \"cylinder\", radius = 1, length = 1 }",
            "planar",
        ),
        body("no core", "{ type = \"rounded\", radius = 1 }", 9, "`core` is missing"),
        body(
            "rounded ball",
            "{ type = \"rounded\", radius = 1, core = { type = \"sphere\", radius = 1 } }",
            9,
            "\"sphere\" cannot be rounded",
        ),
        body(
            "rounded by nothing",
            "{ type = \"rounded\", radius = 0, core = { type = \"box\", size = [1, 1, 1] } }",
            9,
            "greater than 0",
        ),
        body(
            "core of itself",
            "\"a\"\n[shapes.a]\ntype = \"rounded\"\nradius = 1\ncore = \"a\"",
            13,
            "\"rounded\" cannot be rounded",
        ),
    ]);
}

#[test]
fn mistakes_in_compounds_are_reported() {
    check(&[
        body("compound of nothing", "{ type = \"compound\", parts = [] }", 9, "at least one"),
        body(
            "compound of compounds",
            "{ type = \"compound\", parts = [{ shape = { type = \"open-box\", size = [1,1,1], wall = 1 } }] }",
            9,
            "\"open-box\" cannot be part of a compound",
        ),
        body(
            "compound of itself",
            "\"a\"\n[shapes.a]\ntype = \"compound\"\nparts = [{ shape = \"a\" }]",
            12,
            "\"compound\" cannot be part of a compound",
        ),
    ]);
}

#[test]
fn mistakes_in_bodies_are_reported() {
    check(&[
        instead("no density", 5, "", 10, "has no density"),
        after_ball("quaternion", "rotation = { quaternion = [0, 0, 0, 0] }", 11, "zero length"),
        after_ball("axis", "rotation = { axis = [0, 0, 0], angle = 1 }", 11, "zero length"),
        after_ball(
            "axis without angle",
            "rotation = { axis = [0, 0, 1] }",
            11,
            "either `axis` and `angle`",
        ),
        after_ball(
            "two rotations",
            "rotation = { axis = [0, 0, 1], angle = 1, quaternion = [1, 0, 0, 0] }",
            11,
            "either",
        ),
        after_ball("angle in space", "angle = \"30 deg\"", 11, "planar scenes"),
        after_ball("inertia without mass", "inertia = [1, 1, 1]", 11, "without `mass`"),
        after_ball(
            "centre without inertia",
            "mass = 1\ncentre = [0, 0, 0]",
            12,
            "without `inertia`",
        ),
        after_ball(
            "triangle inequality",
            "mass = 1\ninertia = [1, 1, 3]",
            12,
            "sum of the other two",
        ),
        after_ball("negative inertia", "mass = 1\ninertia = [1, 1, -1]", 12, "not positive"),
        after_ball("no inertia", "mass = 1\ninertia = [0, 0, 0]", 12, "not positive"),
        after_ball(
            "asymmetric inertia",
            "mass = 1\ninertia = [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]",
            12,
            "not symmetric",
        ),
        after_ball(
            "indefinite inertia",
            "mass = 1\ninertia = [[1, 2, 0], [2, 1, 0], [0, 0, 1]]",
            12,
            "not positive",
        ),
        after_ball(
            "mixed inertia",
            "mass = 1\ninertia = [1, [0, 1, 0], 1]",
            12,
            "three numbers or three lists",
        ),
    ]);
}

#[test]
fn mistakes_in_motions_are_reported() {
    let planar = |name, text: &str, says| {
        let disc = "[[body]]\nmaterial = \"rock\"\nshape = { type = \"disc\", radius = 1 }";
        Case { name, text: format!("planar = true\n{START}{disc}\n{text}"), line: 11, says }
    };
    check(&[
        after_ball("locked twice", "locked = [\"x\", \"x\"]", 11, "lists x twice"),
        after_ball("locked nowhere", "locked = [\"w\"]", 11, "unknown value \"w\""),
        after_ball("moving without motion", "kind = \"moving\"", 7, "`motion` is missing"),
        after_ball(
            "free with motion",
            "motion = { velocity = [0, 0, 1] }",
            11,
            "belongs to kind = \"moving\"",
        ),
        after_ball("empty motion", "kind = \"moving\"\nmotion = {}", 12, "the motion is empty"),
        after_ball(
            "two motions",
            "kind = \"moving\"\nmotion = { velocity = [0, 0, 1], position = [0, 0, 1] }",
            12,
            "not both",
        ),
        after_ball(
            "two positions",
            "kind = \"moving\"\nposition = [0, 0, 0]\nmotion = { position = [0, 0, \"t\"] }",
            12,
            "given twice",
        ),
        after_ball(
            "expression",
            "kind = \"moving\"\nmotion = { velocity = [0, 0, \"sine(t)\"] }",
            12,
            "did you mean `sin`?",
        ),
        after_ball(
            "unit in an expression",
            "kind = \"moving\"\nmotion = { velocity = [0, 0, \"3 mm/s\"] }",
            12,
            "without unit symbols",
        ),
        after_ball(
            "unknown variable",
            "kind = \"moving\"\nmotion = { velocity = [0, 0, \"2*x\"] }",
            12,
            "unknown variable `x`",
        ),
        after_ball(
            "infinite motion",
            "kind = \"moving\"\nmotion = { velocity = [0, 0, \"1/t\"] }",
            12,
            "is inf at t = 0 s",
        ),
        after_ball(
            "motion that ends",
            "kind = \"moving\"\nmotion = { velocity = [0, 0, \"sqrt(0.5 - t)\"] }",
            12,
            "is NaN at t = 1 s",
        ),
        planar("out of the plane", "position = [0, 0, 1]", "third component"),
        planar("spin out of the plane", "angular_velocity = [1, 0, 0]", "about z"),
        planar("rotated out of the plane", "rotation = { axis = [1, 0, 0], angle = 1 }", "about z"),
        planar(
            "moved out of the plane",
            "motion = { velocity = [0, 0, 1] }\nkind = \"moving\"",
            "stay in the x–y plane",
        ),
    ]);
}

#[test]
fn mistakes_in_grains_are_reported() {
    let sphere = "shape = { type = \"sphere\", radius = 0.1 }";
    let column = "box = { min = [0, 0, 0], max = [1, 1, 1] }";
    let graded = |name, grading: &str, says| {
        let text = format!("{column}\nspheres = {{}}\ngrading = {grading}");
        after_rain(name, &text, 14, says)
    };
    check(&[
        after_rain("no box", sphere, 7, "`box` is missing in [[grains]]"),
        after_rain(
            "empty box",
            &format!("{sphere}\nbox = {{ min = [0, 0, 1], max = [1, 1, 1] }}"),
            13,
            "empty along z",
        ),
        after_rain("no shape", column, 7, "the grains have no shape"),
        after_rain(
            "a drag so large that they float",
            &format!("{column}\n{sphere}\nsettle = {{ speed = 0.1, drag = 100 }}"),
            14,
            "would count as settled while falling",
        ),
        after_rain(
            "a drag that drives",
            &format!("{column}\n{sphere}\nsettle = {{ drag = -1 }}"),
            14,
            "`drag`",
        ),
        after_rain(
            "two shapes",
            &format!("{column}\n{sphere}\nspheres = {{}}"),
            14,
            "mutually exclusive",
        ),
        after_rain("no grading", &format!("{column}\nspheres = {{}}"), 13, "need a `grading`"),
        after_rain(
            "useless grading",
            &format!("{column}\n{sphere}\ngrading = {{ uniform = [1, 2] }}"),
            14,
            "has its own",
        ),
        graded("unknown standard", "\"EN 13450 31.5-5\"", "did you mean \"EN 13450 31.5-50\"?"),
        graded("half a grading", "{ sieves = [1, 2] }", "either `sieves` and `passing`"),
        graded(
            "uneven grading",
            "{ sieves = [1, 2], passing = [0, 50, 100] }",
            "2 sieves, but 3 values",
        ),
        graded("falling sieves", "{ sieves = [2, 1], passing = [0, 100] }", "increasing order"),
        graded(
            "falling curve",
            "{ sieves = [1, 2, 3], passing = [0, 100, 50] }",
            "must not decrease",
        ),
        graded("open below", "{ sieves = [1, 2], passing = [10, 100] }", "must start at 0"),
        graded("open above", "{ sieves = [1, 2], passing = [0, 90] }", "must end at 100"),
        graded("beyond everything", "{ sieves = [1, 2], passing = [0, 110] }", "between 0 and 100"),
        graded("upside down", "{ uniform = [2, 1] }", "above the largest"),
    ]);
}

#[test]
fn mistakes_in_the_placement_of_grains_are_reported() {
    let sphere = "shape = { type = \"sphere\", radius = 0.1 }";
    let column = "box = { min = [0, 0, 0], max = [1, 1, 1] }";
    let lattice = |name, text: &str, line, says| {
        let text =
            format!("[[grains]]\nmaterial = \"rock\"\ngenerator = \"lattice\"\n{sphere}\n{text}");
        after_start(name, &text, line, says)
    };
    let group = "[[grains]]\nmaterial = \"rock\"\ngenerator = ";
    check(&[
        lattice("no counts", "spacing = [1, 1, 1]", 7, "`counts` is missing"),
        lattice("two counts", "spacing = [1, 1, 1]\ncounts = [2, 2]", 12, "needs 3 values"),
        lattice(
            "too many",
            "spacing = [1, 1, 1]\ncounts = [1000, 1000, 1000]",
            12,
            "1000000000 grains; the maximum is 10000000",
        ),
        lattice(
            "far too many",
            "spacing = [1, 1, 1]\ncounts = [10000000, 10000000, 10000000]",
            12,
            "the maximum is 10000000",
        ),
        lattice(
            "key of another generator",
            "spacing = [1, 1, 1]\ncounts = [2, 2, 2]\ncount = 3",
            13,
            "it belongs to generator = \"rain\"",
        ),
        after_start(
            "a billion",
            &format!("{group}\"rain\"\n{sphere}\n{column}\ncount = 1e9"),
            12,
            "between 1 and 10000000; got 1000000000",
        ),
        after_start(
            "none",
            &format!("{group}\"rain\"\n{sphere}\n{column}\ncount = 0"),
            12,
            "between 1 and",
        ),
        after_start("no generator", "[[grains]]\nmaterial = \"rock\"", 7, "`generator` is missing"),
        after_start(
            "no table",
            &format!("{group}\"file\"\n{sphere}\nfile = \"none.csv\""),
            11,
            "cannot open",
        ),
        after_start(
            "broken table",
            &format!("{group}\"file\"\n{sphere}\nfile = \"broken.csv\""),
            11,
            "broken.csv, line 3: `z` is not a number",
        ),
        after_start(
            "half-space grains",
            &format!("{group}\"file\"\nshape = {{ type = \"half-space\" }}\nfile = \"grains.csv\""),
            10,
            "cannot be a grain",
        ),
        after_rain(
            "too many in total",
            &format!("{column}\n{sphere}\n{group}\"rain\"\n{sphere}\n{column}\ncount = 10000000"),
            19,
            "10000010 grains in total",
        ),
    ]);
}

/// A joint of the ball, followed by `text`, which starts at line 13.
fn joint(name: &'static str, between: &str, text: &str, line: usize, says: &'static str) -> Case {
    after_ball(name, &format!("[[joint]]\nbetween = [{between}]\n{text}"), line, says)
}

#[test]
fn mistakes_in_joints_between_bodies_are_reported() {
    let hung = "\"ball\", \"world\"";
    let ball = "type = \"ball\"\nposition = [0, 0, 0]\n";
    let arm = "[[mechanism]]\nname = \"robot\"\n[[mechanism.body]]\nname = \"arm\"\nmass = 1\n\
               [[mechanism.joint]]\ntype = \"prismatic\"\nchild = \"arm\"\naxis = \"x\"\n";
    let wall = "[[body]]\nname = \"wall\"\nkind = \"fixed\"\nshape = { type = \"half-space\" }\n\
                material = \"rock\"\n";
    let balls = "shape = { type = \"sphere\", radius = 0.01 }\n";
    let settle =
        "box = { min = [0, 0, 0], max = [1, 1, 1] }\nsettle = { speed = 0.1, at_most = 1 }\n";
    check(&[
        joint("no type", hung, "position = [0, 0, 0]", 11, "`type` is missing"),
        joint("wrong type", hung, "type = \"hing\"\nposition = [0, 0, 0]", 13, "did you mean"),
        joint("no place", hung, "type = \"ball\"", 11, "`position` is missing"),
        joint("no axis", hung, "type = \"hinge\"\nposition = [0, 0, 0]", 11, "`axis` is missing"),
        joint("axis of a ball", hung, &format!("{ball}axis = \"x\""), 15, "axis"),
        joint(
            "axis without direction",
            hung,
            "type = \"slider\"\nposition = [0, 0, 0]\naxis = [0, 0, 0]",
            15,
            "`axis` has zero length",
        ),
        joint(
            "place in seconds",
            hung,
            "type = \"weld\"\nposition = [0, 0, \"1 s\"]",
            14,
            "length",
        ),
        joint("one body", "\"ball\"", ball, 12, "2"),
        joint("unknown body", "\"ball\", \"bell\"", ball, 12, "did you mean `ball`?"),
        joint("the same body twice", "\"ball\", \"ball\"", ball, 12, "two different bodies"),
        joint("world and world", "\"world\", \"world\"", ball, 12, "two different bodies"),
        joint("two walls", "\"wall\", \"world\"", &format!("{ball}{wall}"), 12, "is free"),
        joint("a mechanism", "\"ball\", \"robot/arm\"", &format!("{ball}{arm}"), 12, "loop"),
        joint(
            "duplicate name",
            hung,
            &format!("{ball}name = \"a\"\n[[joint]]\nname = \"a\"\nbetween = [{hung}]\n{ball}"),
            17,
            "two joints are named `a`",
        ),
        joint("flag", hung, &format!("{ball}project = 1"), 15, "true or false"),
        after_rain(
            "a grain that settles",
            &format!("{balls}{settle}[[joint]]\nbetween = [\"heap-2\", \"world\"]\n{ball}"),
            16,
            "settles before",
        ),
        after_rain(
            "a whole group",
            &format!(
                "{balls}box = {{ min = [0, 0, 0], max = [1, 1, 1] }}\n[[joint]]\nbetween = [\"heap\", \"world\"]\n{ball}"
            ),
            15,
            "heap-1",
        ),
        joint(
            "no such joint",
            hung,
            &format!("{ball}name = \"pin\"\n[[probe]]\njoint = \"pan\""),
            17,
            "did you mean `pin`?",
        ),
        joint(
            "quantity of a body",
            hung,
            &format!("{ball}[[probe]]\njoint = \"joint-1\"\nquantities = [\"position\"]"),
            17,
            "a joint has no quantity `position`",
        ),
        joint(
            "body and joint",
            hung,
            &format!("{ball}[[probe]]\njoint = \"joint-1\"\nbody = \"ball\""),
            16,
            "not both",
        ),
        joint(
            "point of a joint",
            hung,
            &format!("{ball}[[probe]]\njoint = \"joint-1\"\npoint = [0, 0, 0]"),
            17,
            "`point` is only for probes of a body",
        ),
    ]);
}

#[test]
fn joints_in_a_planar_scene_must_stay_in_the_plane() {
    let start = "planar = true\n[run]\ndt = 1\nuntil = 1\n[materials.rock]\ndensity = 1\n[[body]]\n\
                 name = \"a\"\nshape = { type = \"disc\", radius = 1 }\nmaterial = \"rock\"\n[[joint]]\n\
                 between = [\"a\", \"world\"]\n";
    let planar =
        |name, text: &str, line, says| Case { name, text: format!("{start}{text}"), line, says };
    check(&[
        planar("hinge", "position = [0, 0]\ntype = \"hinge\"\naxis = \"x\"", 15, "must be z"),
        planar(
            "slider",
            "position = [0, 0]\ntype = \"slider\"\naxis = \"z\"",
            15,
            "in the x–y plane",
        ),
        planar("place", "position = [0, 0, 1]\ntype = \"ball\"", 13, "planar"),
    ]);
}
