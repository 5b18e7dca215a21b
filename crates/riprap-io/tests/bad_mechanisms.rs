//! Mechanisms with mistakes: each must be reported in the right words, at the right line, and alone.

mod mistakes;

use mistakes::{Case, check};
use riprap_io::scene_file::SceneFile;

/// Opens most of the scenes below: six lines, so that what follows starts at line 7.
const START: &str = "\
[run]
dt = \"1 ms\"
until = \"1 s\"
[materials.rock]
density = 2700
[[mechanism]]
";

/// Two bodies on two joints; twelve lines, so that what follows starts at line 19.
const ARM: &str = "\
[[mechanism.body]]
name = \"upper\"
mass = 1
[[mechanism.body]]
name = \"lower\"
mass = 1
[[mechanism.joint]]
name = \"hip\"
type = \"revolute\"
child = \"upper\"
axis = \"y\"
[[mechanism.joint]]
name = \"knee\"
type = \"prismatic\"
parent = \"upper\"
child = \"lower\"
axis = \"z\"
";

/// A complete scene but for `text`, which starts at line 24.
fn arm(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    Case { name, text: format!("{START}{ARM}{text}"), line, says }
}

/// The arm with something replaced.
fn instead(name: &'static str, old: &str, new: &str, line: usize, says: &'static str) -> Case {
    assert!(ARM.contains(old), "{name}");
    Case { name, text: format!("{START}{}", ARM.replacen(old, new, 1)), line, says }
}

/// A mechanism of one body; `text` starts at line 7.
fn plain(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    Case { name, text: format!("{START}{text}"), line, says }
}

#[test]
fn the_scenes_below_are_right_but_for_their_mistakes() {
    let text = format!("{START}{ARM}");
    SceneFile::parse(&text, "").unwrap_or_else(|errors| panic!("{errors}"));
}

#[test]
fn mistakes_of_the_tree() {
    let swap = "parent = \"upper\"\nchild = \"lower\"";
    check(&[
        plain("nothing in it", "", 6, "has no bodies"),
        instead(
            "unknown parent",
            "parent = \"upper\"",
            "parent = \"uper\"",
            21,
            "did you mean `upper`?",
        ),
        instead(
            "unknown child",
            "child = \"lower\"",
            "child = \"bob\"",
            22,
            "known: ground, lower, upper",
        ),
        instead("child of nobody", "child = \"upper\"\n", "", 13, "`child` is missing"),
        instead(
            "ground as a child",
            "child = \"upper\"",
            "child = \"ground\"",
            16,
            "does not move",
        ),
        instead(
            "own parent",
            swap,
            "parent = \"lower\"\nchild = \"lower\"",
            22,
            "cannot carry itself",
        ),
        arm(
            "two joints",
            "[[mechanism.joint]]\ntype = \"free\"\nchild = \"lower\"",
            26,
            "make a [[mechanism.loop]]",
        ),
        arm("no joint", "[[mechanism.body]]\nname = \"tail\"\nmass = 1", 25, "hangs on nothing"),
        instead(
            "ring",
            "child = \"upper\"",
            "parent = \"lower\"\nchild = \"upper\"",
            17,
            "`hip`, `knee` carry each other",
        ),
        instead(
            "body called ground",
            "name = \"lower\"",
            "name = \"ground\"",
            11,
            "carries the mechanism",
        ),
        arm(
            "two bodies of one name",
            "[[mechanism.body]]\nname = \"upper\"\nmass = 1",
            25,
            "two bodies",
        ),
        instead("two joints of one name", "name = \"knee\"", "name = \"hip\"", 19, "two joints"),
        instead(
            "joint with a hyphen",
            "name = \"knee\"",
            "name = \"left-knee\"",
            19,
            "write `left_knee`",
        ),
        instead("bad name of a body", "name = \"lower\"", "name = \"a b\"", 11, "not a name"),
        instead("unknown type", "\"revolute\"", "\"revolut\"", 15, "did you mean \"revolute\"?"),
        instead("no type", "type = \"revolute\"\n", "", 13, "`type` is missing"),
        arm(
            "two mechanisms of one name",
            "[[mechanism]]\nname = \"mechanism-1\"\n[[mechanism.body]]\nname = \"a\"\nmass = 1\n[[mechanism.joint]]\ntype = \"free\"\nchild = \"a\"",
            25,
            "two mechanisms",
        ),
        arm("one bracket", "[mechanism.loops]\na = 1", 24, "did you mean `loop`?"),
    ]);
}

#[test]
fn mistakes_of_bodies() {
    let second =
        |name, new: &str, line, says| instead(name, "name = \"lower\"\nmass = 1", new, line, says);
    check(&[
        second("no mass", "name = \"lower\"", 10, "mass of this body is not known"),
        second("negative mass", "name = \"lower\"\nmass = -1", 12, "`mass` must be at least 0"),
        second(
            "inertia without mass",
            "name = \"lower\"\ninertia = 1\nshapes = []",
            12,
            "without `mass`",
        ),
        second("negative inertia", "name = \"lower\"\nmass = 1\ninertia = -1", 13, "not positive"),
        second(
            "triangle inequality",
            "name = \"lower\"\nmass = 1\ninertia = [1, 1, 3]",
            13,
            "sum of the other two",
        ),
        second(
            "inertia as a mass",
            "name = \"lower\"\nmass = 1\ninertia = \"1 kg\"",
            13,
            "expected a moment of inertia",
        ),
        second(
            "empty shapes",
            "name = \"lower\"\nshapes = []",
            12,
            "without shapes the mass is not known",
        ),
        second(
            "unknown material",
            "name = \"lower\"\nmass = 1\nshapes = [{ shape = { type = \"sphere\", radius = 1 }, material = \"rok\" }]",
            13,
            "did you mean `rock`?",
        ),
        second(
            "half-space",
            "name = \"lower\"\nmass = 1\nshapes = [{ shape = { type = \"half-space\" }, material = \"rock\" }]",
            13,
            "no body of a mechanism can carry it",
        ),
        second(
            "centre beside shapes",
            "name = \"lower\"\nmass = 1\ncentre = [0, 0, 0]\nshapes = [{ shape = { type = \"sphere\", radius = 1 }, material = \"rock\" }]",
            13,
            "without `inertia`",
        ),
    ]);
    let text = format!(
        "{START}{}",
        ARM.replace(
            "mass = 1",
            "shapes = [{ shape = { type = \"sphere\", radius = 1 }, material = \"rock\" }]"
        )
    );
    let text = text.replace("density = 2700\n", "\n");
    let errors = SceneFile::parse(&text, "").unwrap_err();
    assert!(errors.to_string().contains("has no density"), "{errors}");
}

#[test]
fn mistakes_of_joints() {
    let knee = |name, text: &str, says| arm(name, text, 24, says);
    let kind = |name, old: &str, line, says| {
        instead(name, "type = \"revolute\"\nchild = \"upper\"\naxis = \"y\"", old, line, says)
    };
    check(&[
        instead("no axis", "axis = \"y\"\n", "", 13, "`axis` is missing"),
        instead("zero axis", "axis = \"y\"", "axis = [0, 0, 0]", 17, "zero length"),
        instead("unknown axis", "axis = \"y\"", "axis = \"w\"", 17, "unknown axis \"w\""),
        instead("short axis", "axis = \"y\"", "axis = [0, 1]", 17, "expected 3 components"),
        kind(
            "parallel axes",
            "type = \"universal\"\nchild = \"upper\"\naxes = [\"x\", \"-x\"]",
            17,
            "parallel",
        ),
        kind(
            "one axis of two",
            "type = \"universal\"\nchild = \"upper\"\naxis = \"x\"\naxes = [\"x\", \"y\"]",
            17,
            "it belongs to type = \"revolute\"",
        ),
        kind(
            "crooked plane",
            "type = \"planar\"\nchild = \"upper\"\naxes = [\"x\", [1, 1, 0]]",
            17,
            "not at right angles",
        ),
        kind(
            "too few starts",
            "type = \"planar\"\nchild = \"upper\"\nstart = [1, 2]",
            17,
            "expected [x, y, angle]; got 2 values",
        ),
        kind(
            "too many starts",
            "type = \"cylindrical\"\nchild = \"upper\"\naxis = \"x\"\nstart = [1, 2, 3]",
            18,
            "expected [slide, turn]",
        ),
        kind(
            "one start of two",
            "type = \"cylindrical\"\nchild = \"upper\"\naxis = \"x\"\nstart = 1",
            18,
            "a list [slide, turn]",
        ),
        kind(
            "start of a ball",
            "type = \"spherical\"\nchild = \"upper\"\nstart = 1",
            17,
            "has no meaning with type = \"spherical\"",
        ),
        kind(
            "start of a fixed joint",
            "type = \"fixed\"\nchild = \"upper\"\nstart_velocity = 1",
            17,
            "has no meaning",
        ),
        kind(
            "spring of a plane",
            "type = \"planar\"\nchild = \"upper\"\nspring = { stiffness = 1 }",
            17,
            "it belongs to type = \"revolute\" or type = \"prismatic\"",
        ),
        kind(
            "start and guess of a rotation",
            "type = \"free\"\nchild = \"upper\"\nstart_position = [0, 0, 0]\nguess_rotation = { quaternion = [1, 0, 0, 0] }",
            18,
            "not both",
        ),
        knee("list of starts", "start = [1, 2]", "expected a length"),
        knee(
            "angle of a slider",
            "start = \"30 deg\"",
            "expected a length such as \"25 mm\"; got an angle",
        ),
        knee("start and guess", "guess = 1\nstart = 2", "not both"),
        knee("negative stiffness", "spring = { stiffness = -1 }", "`stiffness` must be at least 0"),
        knee("negative damping", "damping = -1", "`damping` must be at least 0"),
        knee(
            "stiffness of a rotation",
            "spring = { stiffness = \"5 N*m/rad\" }",
            "expected a stiffness such as",
        ),
        knee("damping twice", "damping = 1\nspring = { stiffness = 1 }", "belongs into `spring`"),
        knee("stops nowhere", "stops = { stiffness = 1 }", "these stops are nowhere"),
        knee(
            "crossed stops",
            "stops = { stiffness = 1, lower = 1, upper = 0 }",
            "not below the upper one",
        ),
        knee("soft stops", "stops = { stiffness = 0, lower = 1 }", "greater than 0"),
        arm("motion and speed", "motion = \"t\"\nspeed = 1", 25, "both move this joint"),
        arm("motion and start", "motion = \"t\"\nstart = 1", 25, "has no meaning with `motion`"),
        arm(
            "speed and its start",
            "speed = 1\nstart_velocity = 1",
            25,
            "has no meaning with `speed`",
        ),
        knee("speed as an expression", "speed = \"sin(t)\"", "expected a velocity"),
        knee("motion of a coordinate", "motion = \"2*q.hip\"", "unknown variable `q.hip`"),
        knee("motion with a unit", "motion = \"3 mm\"", "without units"),
        knee(
            "motion that jumps off",
            "motion = \"sqrt(t)\"",
            "the velocity of `motion` is inf at t = 0 s",
        ),
        knee("motion that ends", "motion = \"sqrt(0.5 - t)\"", "`motion` is NaN at t = 1 s"),
    ]);
}

#[test]
fn mistakes_of_chains() {
    let chain = |name, text: &str, line, says| {
        let body =
            "[[mechanism.body]]\nname = \"a\"\nmass = 1\n[[mechanism.chain]]\nchild = \"a\"\n";
        plain(name, &format!("{body}{text}"), line, says)
    };
    check(&[
        chain("no joints", "", 10, "`joints` is missing"),
        chain("empty chain", "joints = []", 12, "a list of 1 to 100 items"),
        chain(
            "no name",
            "joints = [{ type = \"free\" }]",
            12,
            "`name` is missing in a joint of a chain",
        ),
        chain(
            "parent inside",
            "joints = [{ name = \"x\", type = \"free\", parent = \"a\" }]",
            12,
            "unknown key `parent`",
        ),
        chain(
            "one name twice",
            "joints = [{ name = \"x\", type = \"free\" }, { name = \"x\", type = \"fixed\" }]",
            12,
            "two joints",
        ),
        chain(
            "unknown parent",
            "parent = \"b\"\njoints = [{ name = \"x\", type = \"free\" }]",
            12,
            "no body `b`",
        ),
    ]);
}

#[test]
fn mistakes_of_loops_and_springs() {
    let ends = "a = { body = \"lower\" }\nb = { body = \"ground\" }";
    check(&[
        arm(
            "unknown body",
            "[[mechanism.loop]]\ntype = \"ball\"\na = { body = \"foot\" }\nb = { body = \"ground\" }",
            26,
            "no body `foot`",
        ),
        arm(
            "one end",
            "[[mechanism.loop]]\ntype = \"ball\"\na = { body = \"lower\" }",
            24,
            "`b` is missing",
        ),
        arm(
            "same body",
            "[[mechanism.loop]]\ntype = \"ball\"\na = { body = \"lower\" }\nb = { body = \"lower\" }",
            27,
            "both ends of this loop are on `lower`",
        ),
        arm("no type", &format!("[[mechanism.loop]]\n{ends}"), 24, "`type` is missing"),
        arm(
            "rod of no length",
            &format!("[[mechanism.loop]]\ntype = \"rod\"\nlength = 0\n{ends}"),
            26,
            "greater than 0",
        ),
        arm(
            "ball with an axis",
            &format!("[[mechanism.loop]]\ntype = \"ball\"\naxis = \"x\"\n{ends}"),
            26,
            "it belongs to type = \"hinge\"",
        ),
        arm(
            "zero axis",
            &format!("[[mechanism.loop]]\ntype = \"hinge\"\naxis = [0, 0, 0]\n{ends}"),
            26,
            "zero length",
        ),
        arm(
            "two loops of one name",
            &format!(
                "[[mechanism.loop]]\nname = \"x\"\ntype = \"ball\"\n{ends}\n[[mechanism.loop]]\nname = \"x\"\ntype = \"ball\"\n{ends}"
            ),
            30,
            "two loops",
        ),
        arm(
            "spring of nothing",
            &format!("[[mechanism.spring]]\nlength = 1\n{ends}"),
            24,
            "neither `stiffness` nor `damping`",
        ),
        arm(
            "spring of no length",
            &format!("[[mechanism.spring]]\nstiffness = 1\n{ends}"),
            24,
            "`length` is missing",
        ),
        arm(
            "negative spring",
            &format!("[[mechanism.spring]]\ntype = \"bushing\"\nstiffness = -1\n{ends}"),
            26,
            "at least 0",
        ),
        arm(
            "turned end of a spring",
            "[[mechanism.spring]]\ntype = \"bushing\"\nstiffness = 1\na = { body = \"lower\", rotation = { axis = [0, 0, 1], angle = 1 } }\nb = { body = \"ground\" }",
            27,
            "unknown key `rotation`",
        ),
    ]);
}

#[test]
fn mistakes_of_forces() {
    let force = |name, text: &str, line, says| {
        arm(name, &format!("[[mechanism.force]]\n{text}"), line, says)
    };
    let driven =
        |name, text: &str, line, says| arm(name, &format!("speed = 1\n{text}"), line, says);
    check(&[
        force("on nothing", "law = 1", 24, "`coordinate` or `body` is missing"),
        force(
            "on two things",
            "coordinate = \"hip\"\nbody = \"upper\"\nlaw = 1",
            26,
            "not on both",
        ),
        force("unknown coordinate", "coordinate = \"hipp\"\nlaw = 1", 25, "did you mean `hip`?"),
        force("unknown body", "body = \"uper\"\nforce = [0, 0, 1]", 25, "did you mean `upper`?"),
        force("on the ground", "body = \"ground\"\nforce = [0, 0, 1]", 25, "does not move"),
        force("no law", "coordinate = \"hip\"", 24, "`law` is missing"),
        force("no force", "body = \"upper\"", 24, "`force` or `torque` is missing"),
        force("law of a body", "body = \"upper\"\nlaw = 1", 26, "not by `law`"),
        force(
            "force of a coordinate",
            "coordinate = \"hip\"\nforce = [0, 0, 1]",
            26,
            "not by `force`",
        ),
        force(
            "point of a coordinate",
            "coordinate = \"hip\"\nlaw = 1\npoint = [0, 0, 1]",
            27,
            "belongs to a force on a body",
        ),
        force(
            "unknown variable",
            "coordinate = \"hip\"\nlaw = \"-v.kne\"",
            26,
            "did you mean `v.knee`?",
        ),
        force(
            "bare coordinate",
            "coordinate = \"hip\"\nlaw = \"-hip\"",
            26,
            "unknown variable `hip`",
        ),
        force("law with a unit", "coordinate = \"hip\"\nlaw = \"3 N\"", 26, "without units"),
        force("infinite law", "coordinate = \"hip\"\nlaw = \"1/0\"", 26, "this is inf"),
        force(
            "single equals sign",
            "coordinate = \"hip\"\nlaw = \"if(t = 1, 1, 2)\"",
            26,
            "expected an operator or `)`",
        ),
        force(
            "phase without end",
            "coordinate = \"hip\"\nphases = [\n{ law = 1 },\n{ law = 2 }]",
            27,
            "never ends",
        ),
        force(
            "phase backwards",
            "coordinate = \"hip\"\nphases = [\n{ law = 1, until = 2 },\n{ law = 2, until = \"1 s\" }]",
            28,
            "before it begins",
        ),
        force(
            "law beside phases",
            "coordinate = \"hip\"\nlaw = 1\nphases = [{ law = 1 }]",
            26,
            "belongs into the phases",
        ),
        force(
            "phase without law",
            "coordinate = \"hip\"\nphases = [{ until = 1 }]",
            26,
            "`law` is missing",
        ),
        force(
            "constant condition",
            "coordinate = \"hip\"\nphases = [{ law = 1, until = \"1 > 0\" }]",
            26,
            "never changes",
        ),
        force(
            "condition in another unit",
            "coordinate = \"hip\"\nphases = [{ law = 1, until = \"1 m\" }]",
            26,
            "without units",
        ),
        force(
            "latched too late",
            "coordinate = \"hip\"\nphases = [{ law = \"x\", until = 1 }, { latch = { x = \"t\" }, law = \"x\" }]",
            26,
            "unknown variable `x`",
        ),
        force(
            "latched elsewhere",
            "coordinate = \"hip\"\nphases = [{ latch = { x = \"t\" }, law = \"x\" }]\n[[mechanism.force]]\ncoordinate = \"knee\"\nlaw = \"x\"",
            29,
            "unknown variable `x`",
        ),
        force(
            "latched time",
            "coordinate = \"hip\"\nphases = [{ latch = { t = 1 }, law = 1 }]",
            26,
            "use this name already",
        ),
        force(
            "unknown frame",
            "body = \"upper\"\nforce = [0, 0, 1]\nframe = \"wold\"",
            27,
            "did you mean \"world\"?",
        ),
        driven(
            "force against a motor",
            "[[mechanism.force]]\ncoordinate = \"knee\"\nlaw = 1",
            26,
            "changes nothing",
        ),
        arm(
            "several coordinates",
            "[[mechanism.body]]\nname = \"a\"\nmass = 1\n[[mechanism.joint]]\nname = \"float\"\ntype = \"free\"\nchild = \"a\"\n[[mechanism.force]]\ncoordinate = \"float\"\nlaw = 1",
            32,
            "\"float.x\", \"float.y\"",
        ),
        arm(
            "rotation in space",
            "[[mechanism.body]]\nname = \"a\"\nmass = 1\n[[mechanism.joint]]\nname = \"float\"\ntype = \"free\"\nchild = \"a\"\n[[mechanism.force]]\ncoordinate = \"float.x\"\nlaw = \"q.float.wx\"",
            33,
            "only velocities `v.`",
        ),
        arm(
            "fixed coordinate",
            "[[mechanism.body]]\nname = \"a\"\nmass = 1\n[[mechanism.joint]]\nname = \"glue\"\ntype = \"fixed\"\nchild = \"a\"\n[[mechanism.force]]\ncoordinate = \"hip\"\nlaw = \"q.glue\"",
            33,
            "it has no coordinates",
        ),
    ]);
}

#[test]
fn mistakes_of_dependent_coordinates() {
    let rod = "[[mechanism.loop]]\ntype = \"rod\"\nlength = 1\na = { body = \"lower\" }\nb = { body = \"ground\" }\n";
    let dependent = |name, names: &str, rest: &str, says| Case {
        name,
        text: format!("{START}dependent = {names}\n{ARM}{rest}"),
        line: 7,
        says,
    };
    check(&[
        dependent("no loops", "[\"hip\"]", "", "the mechanism has no loops"),
        dependent("unknown", "[\"hop\"]", rod, "did you mean `hip`?"),
        dependent("driven", "[\"knee\"]", &format!("speed = 1\n{rod}"), "is driven"),
        dependent(
            "twice",
            "[\"hip\", \"hip\"]",
            &rod.replace("type = \"rod\"\nlength = 1", "type = \"ball\""),
            "listed twice",
        ),
        dependent("too many", "[\"hip\", \"knee\"]", rod, "2 coordinates cannot follow from 1"),
        dependent("none", "[]", rod, "at least one"),
    ]);
}

#[test]
fn mistakes_of_parameters() {
    let parameter = |name, text: &str, says| Case {
        name,
        text: format!("[parameters]\n{text}\n{START}{ARM}"),
        line: 2,
        says,
    };
    check(&[
        parameter("time", "t = 1", "use this name already"),
        parameter("circle", "pi = 3", "use this name already"),
        parameter("function", "sin = 3", "use this name already"),
        parameter("keyword", "and = 3", "use this name already"),
        parameter("hyphen", "k-p = 3", "write `k_p`"),
        parameter("digit", "1a = 3", "starts with a letter"),
        parameter("unit", "k = \"3 furlong\"", "unknown unit `furlong`"),
        parameter("expression", "k = \"2*sine(1)\"", "did you mean `sin`?"),
        parameter("later one", "k = \"2*l\"\nl = 3", "unknown variable `l`"),
        parameter("infinite", "k = \"1/0\"", "this is inf"),
        parameter("flag", "k = true", "expected a number, a quantity"),
        parameter("dotted", "a.b = 1", "got a table"),
    ]);
}

#[test]
fn mistakes_of_the_run_and_of_probes() {
    let run = |name, run: &str, line, says| Case {
        name,
        text: format!("[run]\n{run}\nuntil = 1\n[[mechanism]]\n{ARM}"),
        line,
        says,
    };
    check(&[
        run(
            "unknown scheme",
            "dt = 1e-3\nscheme = \"dormand\"",
            3,
            "one of \"moreau-jean\", \"dormand-prince\"",
        ),
        run(
            "theta of the other",
            "scheme = \"dormand-prince\"\ntheta = 0.5",
            3,
            "belongs to scheme = \"moreau-jean\"",
        ),
        run(
            "tolerance of the other",
            "dt = 1e-3\ntolerance = 1e-6",
            3,
            "belongs to scheme = \"dormand-prince\"",
        ),
        run("tolerance of zero", "scheme = \"dormand-prince\"\ntolerance = 0", 3, "between"),
        run("no step", "theta = 0.5", 1, "`dt` is missing"),
        Case {
            name: "contacts",
            text: format!(
                "[run]\nscheme = \"dormand-prince\"\nuntil = 1\n[materials.a]\n[[body]]\nkind = \"fixed\"\nmaterial = \"a\"\nshape = {{ type = \"half-space\" }}\n[[mechanism]]\n{ARM}"
            ),
            line: 2,
            says: "knows no contacts",
        },
        arm("empty probe", "[[probe]]\nname = \"a\"", 24, "follows nothing"),
        arm(
            "probe of both",
            "[[probe]]\nbody = \"mechanism-1/upper\"\nmechanism = \"mechanism-1\"",
            26,
            "not both",
        ),
        arm(
            "probe of no mechanism",
            "[[probe]]\nmechanism = \"mechanism-2\"",
            25,
            "did you mean `mechanism-1`?",
        ),
        arm(
            "quantity of a body",
            "[[probe]]\nmechanism = \"mechanism-1\"\nquantities = [\"position\"]",
            26,
            "a mechanism has no quantity `position`",
        ),
        arm(
            "quantity of a mechanism",
            "[[probe]]\nbody = \"mechanism-1/upper\"\nquantities = [\"loop_forces\"]",
            26,
            "a body has no quantity `loop_forces`",
        ),
        arm(
            "point of a mechanism",
            "[[probe]]\nmechanism = \"mechanism-1\"\npoint = [0, 0, 1]",
            26,
            "belongs to a probe of a body",
        ),
        arm("body alone", "[[probe]]\nbody = \"upper\"", 25, "write \"mechanism-1/upper\""),
        arm("misspelt body", "[[probe]]\nbody = \"mechanism-1/uper\"", 25, "did you mean `upper`?"),
        arm(
            "misspelt mechanism",
            "[[probe]]\nbody = \"mechanism/upper\"",
            25,
            "did you mean `mechanism-1`?",
        ),
        arm(
            "point of a body",
            "[[probe]]\nbody = \"ball\"\npoint = [0, 0, 1]\n[[body]]\nname = \"ball\"\nmaterial = \"rock\"\nshape = { type = \"sphere\", radius = 1 }",
            26,
            "for bodies of mechanisms",
        ),
    ]);
}

#[test]
fn mistakes_of_chosen_contacts() {
    let point = |name, rest: &str, line, says| {
        let text = format!("[[point_contact]]\npoint = {{ body = \"mechanism-1/lower\" }}\n{rest}");
        arm(name, &text, line, says)
    };
    let plane = "plane = { body = \"world\", normal = \"z\" }";
    check(&[
        point("no plane", "", 24, "`plane` is missing"),
        point("no normal", "plane = { body = \"world\" }", 26, "`normal` is missing"),
        point(
            "normal of no length",
            "plane = { body = \"world\", normal = [0, 0, 0] }",
            26,
            "zero length",
        ),
        point(
            "misspelt body",
            "plane = { body = \"mechanism-1/uper\", normal = \"z\" }",
            26,
            "did you mean `upper`?",
        ),
        point(
            "one body",
            "plane = { body = \"mechanism-1/lower\", normal = \"z\" }",
            26,
            "on the same body",
        ),
        point(
            "rebound of quasi-shock",
            &format!("{plane}\nrestitution = 0.5\nlaw = \"quasi-shock\""),
            28,
            "this point contact has 0.5",
        ),
        point(
            "two of one name",
            &format!(
                "{plane}\nname = \"a\"\n[[point_contact]]\nname = \"a\"\npoint = {{ body = \"world\" }}\n\
                 plane = {{ body = \"mechanism-1/upper\", normal = \"-y\" }}"
            ),
            29,
            "two point contacts are called `a`",
        ),
        arm(
            "itself",
            "[[ignore_contact]]\nbetween = [\"mechanism-1/upper\", \"mechanism-1/upper\"]",
            25,
            "does not touch itself",
        ),
        arm(
            "one body of a pair",
            "[[ignore_contact]]\nbetween = [\"mechanism-1/upper\"]",
            25,
            "2 items",
        ),
        Case {
            name: "point contact without contacts",
            text: format!(
                "[run]\nscheme = \"dormand-prince\"\nuntil = 1\n[[mechanism]]\n{ARM}[[point_contact]]\n\
                 point = {{ body = \"mechanism-1/lower\" }}\n{plane}"
            ),
            line: 2,
            says: "knows no contacts",
        },
    ]);
}

#[test]
fn mistakes_of_urdf_files() {
    check(&[
        plain("no file", "urdf = \"none.urdf\"", 7, "cannot open"),
        plain("another file", "urdf = \"grains.csv\"", 7, "is not a URDF file"),
        plain("folder", "urdf = \".\"", 7, "not a regular file"),
        plain("negative mass", "urdf = \"broken.urdf\"", 7, "the mass of the link `a` is no mass"),
        plain("mimic", "urdf = \"mimic.urdf\"", 7, "mimics another one"),
        plain("material without a file", "urdf_material = \"rock\"", 7, "without `urdf`").with(ARM),
        plain(
            "unknown material",
            "urdf = \"arm.urdf\"\nurdf_material = \"rok\"",
            8,
            "did you mean `rock`?",
        ),
        plain(
            "unknown joint",
            "urdf = \"arm.urdf\"\n[mechanism.urdf_joints.elbo]\nstart = 1",
            8,
            "did you mean `elbow`?",
        ),
        plain(
            "joint in space",
            "urdf = \"arm.urdf\"\n[mechanism.urdf_joints.fly]\nstart = 1",
            8,
            "is not revolute",
        ),
        plain(
            "wrong unit",
            "urdf = \"arm.urdf\"\n[mechanism.urdf_joints.elbow]\nstart = \"1 m\"",
            9,
            "expected an angle",
        ),
        plain(
            "carried twice",
            "urdf = \"arm.urdf\"\n[[mechanism.joint]]\ntype = \"fixed\"\nchild = \"lower\"",
            10,
            "`lower` is the child of two joints",
        ),
        plain(
            "name of a link",
            "urdf = \"arm.urdf\"\n[[mechanism.body]]\nname = \"upper\"\nmass = 1",
            9,
            "two bodies",
        ),
    ]);
}

#[test]
fn mistakes_of_mechanisms_in_the_plane() {
    let planar = |name, joint: &str, says| {
        let start = START.replace("[materials.rock]\ndensity = 2700\n", "");
        let body =
            "[[mechanism.body]]\nname = \"a\"\nmass = 1\n[[mechanism.joint]]\nchild = \"a\"\n";
        Case { name, text: format!("planar = true\n{start}{body}{joint}"), line: 11, says }
    };
    check(&[
        planar("type", "type = \"free\"", "does not fit a planar scene"),
        planar("axis", "axis = \"x\"\ntype = \"revolute\"", "turn about z only"),
        planar("slide", "axis = \"z\"\ntype = \"prismatic\"", "must lie in the plane"),
        planar("plane", "axes = [\"x\", \"z\"]\ntype = \"planar\"", "in a planar scene"),
    ]);
}

impl Case {
    /// The same, with more text behind it.
    fn with(mut self, text: &str) -> Self {
        self.text = format!("{}\n{text}", self.text);
        self
    }
}

#[test]
fn a_type_that_is_wrong_does_not_make_its_coordinates_unknown() {
    let text = format!("{START}{}", ARM.replace("revolute", "revolut"));
    let text = text + "[[mechanism.force]]\ncoordinate = \"hip\"\nlaw = \"-q.hip\"\n";
    let errors = SceneFile::parse(&text, "").unwrap_err();
    assert_eq!(errors.problems.len(), 1, "{errors}");
}

#[test]
fn thousands_of_joints_are_sorted_in_no_time() {
    // A chain that is written from its end to its start.
    let n = 5000;
    let mut text = "[run]\ndt = 1\nuntil = 0\n[[mechanism]]\n".to_owned();
    for i in (0..n).rev() {
        let parent = if i == 0 { "ground".to_owned() } else { format!("b{}", i - 1) };
        text += &format!("[[mechanism.body]]\nname = \"b{i}\"\nmass = 1\n");
        text += &format!(
            "[[mechanism.joint]]\nname = \"j{i}\"\ntype = \"revolute\"\naxis = \"z\"\nparent = \"{parent}\"\nchild = \"b{i}\"\n"
        );
    }
    let scene = SceneFile::parse(&text, "").unwrap_or_else(|errors| panic!("{errors}"));
    let names: Vec<&str> = scene.mechanisms[0].joints.iter().map(|j| j.name.as_str()).collect();
    assert_eq!((names[0], names[n - 1]), ("j0", "j4999"));
    // One joint less, and nothing of it hangs on the ground.
    let ring = text.replace("parent = \"ground\"", "parent = \"b4999\"");
    let errors = SceneFile::parse(&ring, "").unwrap_err();
    assert_eq!(errors.problems.len(), 1, "{errors}");
}
