//! Scene files with mistakes: each must be reported in the right words, at the right line, and alone, since a
//! mistake that causes three messages hides the one that matters.

mod mistakes;

use mistakes::{Case, check};
use riprap_io::scene_file::{SceneErrors, SceneFile};

/// Opens most of the scenes below: six lines, so that what follows starts at line 7.
const START: &str = "\
[run]
dt = \"1 ms\"
until = \"1 s\"
[materials.rock]
density = 2700
friction = 0.5
";

/// A body, so that the scene is complete.
const BALL: &str = "\
[[body]]
name = \"ball\"
shape = { type = \"sphere\", radius = 0.1 }
material = \"rock\"
";

/// Grains that rain, up to their box.
const RAIN: &str = "\
[[grains]]
name = \"heap\"
material = \"rock\"
generator = \"rain\"
count = 10
";

fn errors(text: &str) -> SceneErrors {
    SceneFile::parse(text, "tests/data").expect_err(text)
}

/// A complete scene but for `text`, which starts at line 11.
fn after_ball(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    Case { name, text: format!("{START}{BALL}{text}"), line, says }
}

/// A complete scene once `text`, which starts at line 7, is right.
fn after_start(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    Case { name, text: format!("{START}{text}"), line, says }
}

/// A scene with grains, completed by `text`, which starts at line 12.
fn after_rain(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    Case { name, text: format!("{START}{RAIN}{text}"), line, says }
}

/// The start with one line replaced, and a body.
fn instead(name: &'static str, line: usize, with: &str, at: usize, says: &'static str) -> Case {
    let mut lines: Vec<&str> = START.lines().collect();
    lines[line - 1] = with;
    Case { name, text: format!("{}\n{BALL}", lines.join("\n")), line: at, says }
}

#[test]
fn mistakes_in_the_file_as_a_whole() {
    let whole = |name, text: &str, line, says| Case { name, text: text.to_owned(), line, says };
    check(&[
        whole("empty", "", 1, "the scene file is empty"),
        whole("only comments", "# nothing\n\n  # here", 1, "the scene file is empty"),
        whole("no value", "[run]\ndt = \n", 2, "not valid TOML"),
        whole("open string", "[run]\ndt = \"1 ms\n", 2, "not valid TOML"),
        whole("open bracket", "[run\ndt = 1", 1, "not valid TOML"),
        whole("key twice", "[run]\ndt = 1\ndt = 2\n", 3, "duplicate key"),
        whole("control character", "title = \"\u{1}\"", 1, "not valid TOML"),
        after_start("nothing in it", "", 1, "nothing to simulate"),
    ]);
}

#[test]
fn mistakes_of_keys_and_types() {
    check(&[
        instead("misspelt key", 6, "fricton = 0.5", 6, "did you mean `friction`?"),
        instead("foreign key", 6, "colour = \"red\"", 6, "known keys: density, friction"),
        instead("misspelt table", 1, "sover = 1\n[run]", 1, "did you mean `solver`?"),
        instead("missing dt", 2, "", 1, "`dt` is missing in [run]"),
        instead("missing until", 3, "", 1, "`until` is missing in [run]"),
        instead("text for a number", 6, "friction = \"0.5\"", 6, "without quotes"),
        instead(
            "flag for a time",
            2,
            "dt = true",
            2,
            "expected a time such as \"0.5 ms\"; got true",
        ),
        instead("list for a time", 2, "dt = [1]", 2, "got a list"),
        instead("date", 2, "dt = 2020-01-01", 2, "got a date"),
        instead(
            "number for a table",
            4,
            "[materials]\nrock = 3\n[materials.stone]",
            5,
            "expected a table [materials.rock]",
        ),
        instead("text for a flag", 1, "planar = \"no\"\n[run]", 1, "true or false"),
        instead("number for a text", 1, "title = 3\n[run]", 1, "a text in quotes"),
        instead("half a seed", 1, "seed = 1.5\n[run]", 1, "whole number"),
        instead("seed below zero", 1, "seed = -1\n[run]", 1, "at least 0"),
        instead("seed too large", 1, "seed = 99999999999999999999\n[run]", 1, "below 2^63"),
        after_ball(
            "one bracket",
            "[probe]\nbody = \"ball\"\n",
            11,
            "expected a list of tables; got a single one",
        ),
        instead("two brackets", 1, "[[run]]", 1, "one bracket: [run]"),
        after_ball("short vector", "position = [1, 2]", 11, "expected 3 components; got 2"),
        after_ball("scalar for a vector", "velocity = 3", 11, "a list [x, y, z]"),
        after_ball("empty name", "[[probe]]\nbody = \"ball\"\nname = \"\"", 13, "`name` is empty"),
        after_ball("bad name", "[[probe]]\nbody = \"ball\"\nname = \"a,b\"", 13, "not a name"),
        instead("name of a material", 4, "[materials.\"a b\"]\n[materials.rock]", 4, "not a name"),
        instead(
            "unknown word",
            3,
            "until = 1\non_unconverged = \"wran\"",
            4,
            "did you mean \"warn\"?",
        ),
        after_ball("kind", "kind = \"fixd\"", 11, "did you mean \"fixed\"?"),
        after_ball(
            "key of another kind",
            "kind = \"fixed\"\nvelocity = [0, 0, 1]",
            12,
            "belongs to kind = \"free\"",
        ),
    ]);
}

#[test]
fn mistakes_of_quantities() {
    check(&[
        instead(
            "mass for a time",
            2,
            "dt = \"1 kg\"",
            2,
            "expected a time such as \"0.5 ms\"; got a mass",
        ),
        instead("unknown unit", 2, "dt = \"1 fortnight\"", 2, "unknown unit `fortnight`"),
        instead("no number", 2, "dt = \"fast\"", 2, "expected a time"),
        instead("not a number", 2, "dt = nan", 2, "not a finite number"),
        instead("infinite", 3, "until = inf", 3, "not a finite number"),
        instead("too large", 3, "until = 1e999", 3, "not a finite number"),
        instead("zero step", 2, "dt = 0", 2, "`dt` must be greater than 0; got 0"),
        instead("negative end", 3, "until = -1", 3, "`until` must be at least 0"),
        instead("theta", 3, "until = 1\ntheta = 0.4", 4, "between 0.5 and 1; got 0.4"),
        instead("restitution", 6, "restitution = 1.5", 6, "between 0 and 1"),
        instead("negative density", 5, "density = \"-2 g/cm^3\"", 5, "greater than 0; got -2000"),
        instead("output too often", 3, "until = 1\noutput_every = 1e-4", 4, "shorter than `dt`"),
        instead("no output", 3, "until = 1\noutput_every = 0", 4, "greater than 0"),
        instead("too many steps", 2, "dt = 1e-12", 2, "would take 1.0e12 steps"),
        instead(
            "end before the first step",
            3,
            "until = 1e-4",
            3,
            "comes before the first step ends",
        ),
        instead("sweeps", 1, "solver = { max_sweeps = 0 }\n[run]", 1, "between 1 and"),
        instead("tolerance", 1, "solver = { tolerance = 0 }\n[run]", 1, "greater than 0"),
        after_ball("frequency", "angular_velocity = [0, 0, \"3 Hz\"]", 11, "got a frequency"),
    ]);
}

#[test]
fn mistakes_of_names() {
    check(&[
        after_start(
            "unknown material",
            "[[body]]\nshape = { type = \"sphere\", radius = 1 }\nmaterial = \"rok\"",
            9,
            "did you mean `rock`?",
        ),
        after_start(
            "unknown shape",
            "[[body]]\nshape = \"brik\"\nmaterial = \"rock\"\n[shapes.brick]\ntype = \"box\"\nsize = [1, 1, 1]",
            8,
            "did you mean `brick`?",
        ),
        after_start(
            "no shape at all",
            "[[body]]\nshape = \"brick\"\nmaterial = \"rock\"",
            8,
            "no shape is described",
        ),
        after_ball("unknown body", "[[probe]]\nbody = \"bal\"", 12, "did you mean `ball`?"),
        after_ball("two bodies of one name", BALL, 12, "`ball` is used twice"),
        after_ball(
            "two probes of one name",
            "[[probe]]\nbody = \"ball\"\n[[probe]]\nbody = \"ball\"",
            14,
            "two probes are called `ball`",
        ),
        after_ball(
            "quantity twice",
            "[[probe]]\nbody = \"ball\"\nquantities = [\"force\", \"force\"]",
            13,
            "listed twice",
        ),
        after_ball(
            "pair of strangers",
            "[[pair]]\nbetween = [\"rock\", \"steel\"]",
            12,
            "there is no material `steel`",
        ),
        after_ball("pair of one", "[[pair]]\nbetween = [\"rock\"]", 12, "2 items"),
        after_ball(
            "pair twice",
            "[[pair]]\nbetween = [\"rock\", \"rock\"]\n[[pair]]\nbetween = [\"rock\", \"rock\"]",
            14,
            "described twice",
        ),
        after_ball(
            "quasi-shock that bounces",
            "[[pair]]\nbetween = [\"rock\", \"rock\"]\nrestitution = 0.2\nlaw = \"quasi-shock\"",
            14,
            "has no restitution",
        ),
        after_rain(
            "probe of a group",
            "box = { min = [0, 0, 0], max = [1, 1, 1] }\nshape = { type = \"sphere\", radius = 0.1 }\n[[probe]]\nbody = \"heap\"",
            15,
            "write \"heap-1\"",
        ),
        after_rain(
            "grain beyond the last",
            "box = { min = [0, 0, 0], max = [1, 1, 1] }\nshape = { type = \"sphere\", radius = 0.1 }\n[[probe]]\nbody = \"heap-11\"",
            15,
            "`heap` has 10 grains",
        ),
        after_rain(
            "name of a grain",
            "box = { min = [0, 0, 0], max = [1, 1, 1] }\nshape = { type = \"sphere\", radius = 0.1 }\n[[body]]\nname = \"heap-3\"\nkind = \"fixed\"\nshape = { type = \"half-space\" }\nmaterial = \"rock\"",
            15,
            "name of a grain",
        ),
    ]);
}

#[test]
fn mistakes_of_shapes() {
    let body = |name, shape: &str, line, says| {
        after_start(name, &format!("[[body]]\nmaterial = \"rock\"\nshape = {shape}"), line, says)
    };
    let planar = |name, shape: &str, says| {
        let text = format!("planar = true\n{START}[[body]]\nmaterial = \"rock\"\nshape = {shape}");
        Case { name, text, line: 10, says }
    };
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
            "one plane",
        ),
        body(
            "points on a point",
            "{ type = \"polyhedron\", points = [[0,0,0],[0,0,0],[0,0,0],[0,0,0]] }",
            9,
            "one plane",
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
            "does not fit a planar scene",
        ),
        planar(
            "points on a line",
            "{ type = \"polygon\", points = [[0,0],[1,1],[2,2]] }",
            "one line",
        ),
        planar(
            "three coordinates",
            "{ type = \"polygon\", points = [[0,0],[1,1,0],[2,2]] }",
            "2 items",
        ),
        body(
            "mesh that is not there",
            "{ type = \"mesh\", file = \"none.stl\" }",
            9,
            "cannot open",
        ),
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
fn mistakes_of_bodies() {
    let planar = |name, text: &str, says| {
        let disc = "[[body]]\nmaterial = \"rock\"\nshape = { type = \"disc\", radius = 1 }";
        Case { name, text: format!("planar = true\n{START}{disc}\n{text}"), line: 11, says }
    };
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
        after_ball("locked twice", "locked = [\"x\", \"x\"]", 11, "names x twice"),
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
            "without units",
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
        planar("turned out of the plane", "rotation = { axis = [1, 0, 0], angle = 1 }", "about z"),
        planar(
            "moved out of the plane",
            "motion = { velocity = [0, 0, 1] }\nkind = \"moving\"",
            "stay in the plane",
        ),
    ]);
}

#[test]
fn mistakes_of_grains() {
    let sphere = "shape = { type = \"sphere\", radius = 0.1 }";
    let column = "box = { min = [0, 0, 0], max = [1, 1, 1] }";
    let graded = |name, grading: &str, says| {
        let text = format!("{column}\nspheres = {{}}\ngrading = {grading}");
        after_rain(name, &text, 14, says)
    };
    let lattice = |name, text: &str, line, says| {
        let text =
            format!("[[grains]]\nmaterial = \"rock\"\ngenerator = \"lattice\"\n{sphere}\n{text}");
        after_start(name, &text, line, says)
    };
    let group = "[[grains]]\nmaterial = \"rock\"\ngenerator = ";
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
            "a drag in which they float",
            &format!("{column}\n{sphere}\nsettle = {{ speed = 0.1, drag = 100 }}"),
            14,
            "would count as settled while they fall",
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
            "exclude each other",
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
        graded("falling sieves", "{ sieves = [2, 1], passing = [0, 100] }", "must grow"),
        graded("falling curve", "{ sieves = [1, 2, 3], passing = [0, 100, 50] }", "must not fall"),
        graded("open below", "{ sieves = [1, 2], passing = [10, 100] }", "must start at 0"),
        graded("open above", "{ sieves = [1, 2], passing = [0, 90] }", "must end at 100"),
        graded("beyond everything", "{ sieves = [1, 2], passing = [0, 110] }", "between 0 and 100"),
        graded("upside down", "{ uniform = [2, 1] }", "above the largest"),
        lattice("no counts", "spacing = [1, 1, 1]", 7, "`counts` is missing"),
        lattice("two counts", "spacing = [1, 1, 1]\ncounts = [2, 2]", 12, "needs 3 values"),
        lattice(
            "too many",
            "spacing = [1, 1, 1]\ncounts = [1000, 1000, 1000]",
            12,
            "1000000000 grains; at most 10000000",
        ),
        lattice(
            "far too many",
            "spacing = [1, 1, 1]\ncounts = [10000000, 10000000, 10000000]",
            12,
            "at most 10000000",
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
            "too many in all",
            &format!("{column}\n{sphere}\n{group}\"rain\"\n{sphere}\n{column}\ncount = 10000000"),
            19,
            "10000010 grains in all",
        ),
    ]);
}

#[test]
fn all_mistakes_come_at_once_in_the_order_of_the_file() {
    let text = "[run]\ndt = \"1 kg\"\nuntil = -1\ntheata = 0.5\n[materials.rock]\n[[body]]\nmaterial = \"rok\"\n";
    let errors = errors(text);
    let lines: Vec<usize> =
        errors.problems.iter().map(|problem| errors.line_column(problem.span.start).0).collect();
    assert_eq!(lines, [2, 3, 4, 6, 7], "{errors}");
}

/// A joint of the ball, its lines before `text`, which starts at line 13.
fn joint(name: &'static str, between: &str, text: &str, line: usize, says: &'static str) -> Case {
    after_ball(name, &format!("[[joint]]\nbetween = [{between}]\n{text}"), line, says)
}

#[test]
fn mistakes_in_joints_between_bodies() {
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
        joint("twice the same", "\"ball\", \"ball\"", ball, 12, "two different bodies"),
        joint("world and world", "\"world\", \"world\"", ball, 12, "two different bodies"),
        joint("two walls", "\"wall\", \"world\"", &format!("{ball}{wall}"), 12, "is free"),
        joint("a mechanism", "\"ball\", \"robot/arm\"", &format!("{ball}{arm}"), 12, "loop"),
        joint(
            "two of a name",
            hung,
            &format!("{ball}name = \"a\"\n[[joint]]\nname = \"a\"\nbetween = [{hung}]\n{ball}"),
            17,
            "two joints are called `a`",
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
            "`point` belongs to a probe of a body",
        ),
    ]);
}

#[test]
fn joints_in_a_planar_scene_stay_in_the_plane() {
    let start = "planar = true\n[run]\ndt = 1\nuntil = 1\n[materials.rock]\ndensity = 1\n[[body]]\n\
                 name = \"a\"\nshape = { type = \"disc\", radius = 1 }\nmaterial = \"rock\"\n[[joint]]\n\
                 between = [\"a\", \"world\"]\n";
    let planar =
        |name, text: &str, line, says| Case { name, text: format!("{start}{text}"), line, says };
    check(&[
        planar("hinge", "position = [0, 0]\ntype = \"hinge\"\naxis = \"x\"", 15, "must be z"),
        planar("slider", "position = [0, 0]\ntype = \"slider\"\naxis = \"z\"", 15, "in the plane"),
        planar("place", "position = [0, 0, 1]\ntype = \"ball\"", 13, "planar"),
    ]);
}

#[test]
fn nesting_without_end_is_refused() {
    let errors = errors(&format!("title = {}", "[".repeat(100_000)));
    assert!(errors.to_string().contains("max recursion depth"), "{errors}");
}

#[test]
fn several_syntax_errors_come_at_once() {
    let errors = errors("a = \nb = ]\nc = \"x\n");
    assert!(errors.problems.len() >= 3, "{errors}");
}

#[test]
fn a_mistake_inside_a_text_is_marked_there() {
    let text = format!(
        "{START}{BALL}kind = \"moving\"\nmotion = {{ velocity = [0, 0, \"2*sine(t)\"] }}\n"
    );
    let errors = errors(&text);
    assert_eq!(&text[errors.problems[0].span.clone()], "sine");
    let escaped = text.replace("2*sine", "2*\\u0073ine");
    let errors = self::errors(&escaped);
    assert_eq!(&escaped[errors.problems[0].span.clone()], "\"2*\\u0073ine(t)\"");
}

#[test]
fn thousands_of_mistakes_do_not_flood_the_report() {
    let text = format!("{START}{}", "[[body]]\n".repeat(10_000));
    assert!(errors(&text).problems.len() <= 200);
}

mod files {
    use super::*;
    use std::fs;

    fn message(path: &std::path::Path) -> String {
        SceneFile::read(path).expect_err("a bad file").to_string()
    }

    #[test]
    fn files_that_are_no_scenes_are_explained() {
        let folder = std::env::temp_dir().join(format!("riprap-bad-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("scene.toml");
        assert!(message(&path).contains("there is no such file"));
        assert!(message(&folder).contains("a folder, not a scene file"));

        fs::write(&path, b"title = \"x\"\n\xff\xfe").unwrap();
        let errors = SceneFile::read(&path).unwrap_err();
        assert!(
            errors.to_string().contains("scene.toml:2:1: the file is not valid UTF-8"),
            "{errors}"
        );
        assert!(message(&folder).contains("did you mean"), "{}", message(&folder));

        fs::write(&path, vec![b' '; (64 << 20) + 1]).unwrap();
        assert!(message(&path).contains("larger than 64 MiB"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
