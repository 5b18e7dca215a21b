//! Loops, springs, forces, parameters, probes and point contacts with mistakes: each must be
//! reported with the right message, at the right line, and alone.

mod mistakes;

use mistakes::arms::*;
use mistakes::{Case, check};

#[test]
fn mistakes_in_loops_and_springs_are_reported() {
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
            "rod of zero length",
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
            "two loops with one name",
            &format!(
                "[[mechanism.loop]]\nname = \"x\"\ntype = \"ball\"\n{ends}\n[[mechanism.loop]]\nname = \"x\"\ntype = \"ball\"\n{ends}"
            ),
            30,
            "two loops",
        ),
        arm(
            "empty spring",
            &format!("[[mechanism.spring]]\nlength = 1\n{ends}"),
            24,
            "neither `stiffness` nor `damping`",
        ),
        arm(
            "spring without length",
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
            "rotated end of a spring",
            "[[mechanism.spring]]\ntype = \"bushing\"\nstiffness = 1\na = { body = \"lower\", rotation = { axis = [0, 0, 1], angle = 1 } }\nb = { body = \"ground\" }",
            27,
            "unknown key `rotation`",
        ),
    ]);
}

#[test]
fn mistakes_in_forces_are_reported() {
    let force = |name, text: &str, line, says| {
        arm(name, &format!("[[mechanism.force]]\n{text}"), line, says)
    };
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
            "only for forces on a body",
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
        force("law with a unit", "coordinate = \"hip\"\nlaw = \"3 N\"", 26, "without unit symbols"),
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
    ]);
}

#[test]
fn mistakes_in_phases_are_reported() {
    let force = |name, text: &str, line, says| {
        arm(name, &format!("[[mechanism.force]]\n{text}"), line, says)
    };
    let driven =
        |name, text: &str, line, says| arm(name, &format!("speed = 1\n{text}"), line, says);
    check(&[
        force(
            "law beside phases",
            "coordinate = \"hip\"\nlaw = 1\nphases = [{ law = 1 }]",
            26,
            "belongs in each phase",
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
            "without unit symbols",
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
            "reserved in expressions",
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
            "has no effect",
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
fn mistakes_in_dependent_coordinates_are_reported() {
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
        dependent(
            "too many",
            "[\"hip\", \"knee\"]",
            rod,
            "coordinates (2) exceeds the number of loop equations (1)",
        ),
        dependent("none", "[]", rod, "at least one"),
    ]);
}

#[test]
fn mistakes_in_parameters_are_reported() {
    let parameter = |name, text: &str, says| Case {
        name,
        text: format!("[parameters]\n{text}\n{START}{ARM}"),
        line: 2,
        says,
    };
    check(&[
        parameter("time", "t = 1", "reserved in expressions"),
        parameter("circle", "pi = 3", "reserved in expressions"),
        parameter("function", "sin = 3", "reserved in expressions"),
        parameter("keyword", "and = 3", "reserved in expressions"),
        parameter("hyphen", "k-p = 3", "write `k_p`"),
        parameter("digit", "1a = 3", "start with a letter"),
        parameter("unit", "k = \"3 furlong\"", "unknown unit `furlong`"),
        parameter("expression", "k = \"2*sine(1)\"", "did you mean `sin`?"),
        parameter("later one", "k = \"2*l\"\nl = 3", "unknown variable `l`"),
        parameter("infinite", "k = \"1/0\"", "this is inf"),
        parameter("flag", "k = true", "expected a number, a quantity"),
        parameter("dotted", "a.b = 1", "got a table"),
    ]);
}

#[test]
fn mistakes_in_the_run_and_in_probes_are_reported() {
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
            "one of \"moreau-jean\", \"generalized-alpha\", \"cone-complementarity\", \"dormand-prince\", \"penalty\", \"rigid-events\"",
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
            says: "does not support contacts",
        },
        arm("empty probe", "[[probe]]\nname = \"a\"", 24, "has no target"),
        arm(
            "multipliers of Moreau–Jean",
            "[[probe]]\nmechanism = \"mechanism-1\"\nquantities = [\"multipliers\"]",
            26,
            "only the scheme `generalized-alpha` has `multipliers`",
        ),
        arm(
            "no such point contact",
            "[[probe]]\npoint_contact = \"heel\"",
            25,
            "there is no point contact `heel`",
        ),
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
            "only for probes of a body",
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
fn mistakes_in_point_contacts_are_reported() {
    let point = |name, rest: &str, line, says| {
        let text = format!("[[point_contact]]\npoint = {{ body = \"mechanism-1/lower\" }}\n{rest}");
        arm(name, &text, line, says)
    };
    let plane = "plane = { body = \"world\", normal = \"z\" }";
    check(&[
        point("no plane", "", 24, "`plane` is missing"),
        point("no normal", "plane = { body = \"world\" }", 26, "`normal` is missing"),
        point(
            "normal of zero length",
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
            "duplicate name",
            &format!(
                "{plane}\nname = \"a\"\n[[point_contact]]\nname = \"a\"\npoint = {{ body = \"world\" }}\n\
                 plane = {{ body = \"mechanism-1/upper\", normal = \"-y\" }}"
            ),
            29,
            "two point contacts are named `a`",
        ),
        arm(
            "itself",
            "[[ignore_contact]]\nbetween = [\"mechanism-1/upper\", \"mechanism-1/upper\"]",
            25,
            "never collides with itself",
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
            says: "does not support contacts",
        },
    ]);
}
