//! Scene files with mistakes: each must be reported with the right message, at the right line, and
//! alone, since a mistake that causes three messages hides the one that matters.

mod mistakes;

use mistakes::scenes::*;
use mistakes::{Case, check};
use riprap_io::scene_file::{SceneErrors, SceneFile};

fn errors(text: &str) -> SceneErrors {
    SceneFile::parse(text, "tests/data").expect_err(text)
}

#[test]
fn mistakes_in_the_file_as_a_whole_are_reported() {
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
fn mistakes_in_keys_and_types_are_reported() {
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
        instead(
            "number for a run",
            3,
            "until = 1\nstart_from = 3",
            4,
            "the path of a file in quotes",
        ),
        instead("list for a run", 3, "until = 1\nstart_from = [\"a\"]", 4, "got a list"),
        instead(
            "time of the start",
            3,
            "until = 1\nstart_from = \"a\"\nstart_time = \"contine\"",
            5,
            "did you mean \"continue\"?",
        ),
        instead(
            "time without a run",
            3,
            "until = 1\nstart_time = \"continue\"",
            4,
            "`start_time` is given without `start_from`",
        ),
        instead("misspelt run", 3, "until = 1\nstartfrom = \"a\"", 4, "did you mean `start_from`?"),
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
fn mistakes_in_quantities_are_reported() {
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
            "before the end of the first step",
        ),
        instead("sweeps", 1, "solver = { max_sweeps = 0 }\n[run]", 1, "between 1 and"),
        instead("tolerance", 1, "solver = { tolerance = 0 }\n[run]", 1, "greater than 0"),
        instead("tiny end", 3, "until = 1e-300", 3, "`until` (1e-300 s) is before"),
        instead(
            "rows too often",
            3,
            "until = 1\nseries_every = 1e-5",
            4,
            "`series_every` (1e-5 s)",
        ),
        after_ball("frequency", "angular_velocity = [0, 0, \"3 Hz\"]", 11, "got a frequency"),
        after_ball("in radians", "angular_velocity = [0, 0, \"3 Hz\"]", 11, "write \"2*pi*3\""),
    ]);
}

#[test]
fn mistakes_in_names_are_reported() {
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
            "no shape is defined",
        ),
        after_ball("unknown body", "[[probe]]\nbody = \"bal\"", 12, "did you mean `ball`?"),
        after_ball("two bodies of one name", BALL, 12, "`ball` is used twice"),
        after_ball(
            "two probes of one name",
            "[[probe]]\nbody = \"ball\"\n[[probe]]\nbody = \"ball\"",
            14,
            "two probes are named `ball`",
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
            "defined twice",
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
            "heap-1 to heap-10",
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
fn mistakes_in_cohesion_and_static_friction_are_reported() {
    let material = |name, line, at, says| instead(name, 6, line, at, says);
    check(&[
        material("cohesion without sense", "cohesion = \"-1 N\"", 6, "at least 0; got -1"),
        material("cohesion as a pressure", "cohesion = \"1 kPa\"", 6, "expected a force"),
        material(
            "negative energy",
            "surface_energy = -0.1",
            6,
            "`surface_energy` must be at least 0",
        ),
        material("energy without area", "surface_energy = \"1 J\"", 6, "expected a surface energy"),
        material("no range", "cohesion_range = 0", 6, "`cohesion_range` must be greater than 0"),
        material(
            "negative friction",
            "static_friction = -0.1",
            6,
            "`static_friction` must be at least 0",
        ),
        material(
            "slides before it sticks",
            "friction = 0.5\nstatic_friction = 0.4",
            7,
            "`static_friction` (0.4) is below `friction` (0.5)",
        ),
        after_ball(
            "slides before it sticks, in a pair",
            "[[pair]]\nbetween = [\"rock\", \"rock\"]\nstatic_friction = 0.2",
            13,
            "give a larger static_friction, or none",
        ),
        after_ball(
            "range beyond the alert distance",
            "[contact]\nalert = \"1 mm\"\n[[pair]]\nbetween = [\"rock\", \"rock\"]\ncohesion = 1\ncohesion_range = \"2 mm\"",
            16,
            "remove alert: its default is large enough",
        ),
        after_ball(
            "cohesion of a point contact",
            "[[point_contact]]\npoint = { body = \"ball\" }\nplane = { body = \"world\", normal = [0, 0, 1] }\ncohesion = 1",
            14,
            "unknown key",
        ),
    ]);
}

#[test]
fn all_mistakes_are_reported_at_once_in_file_order() {
    let text = "[run]\ndt = \"1 kg\"\nuntil = -1\ntheata = 0.5\n[materials.rock]\n[[body]]\nmaterial = \"rok\"\n";
    let errors = errors(text);
    let lines: Vec<usize> =
        errors.problems.iter().map(|problem| errors.line_column(problem.span.start).0).collect();
    assert_eq!(lines, [2, 3, 4, 6, 7], "{errors}");
}

#[test]
fn unlimited_nesting_is_rejected() {
    let errors = errors(&format!("title = {}", "[".repeat(100_000)));
    assert!(errors.to_string().contains("max recursion depth"), "{errors}");
}

#[test]
fn several_syntax_errors_are_reported_at_once() {
    let errors = errors("a = \nb = ]\nc = \"x\n");
    assert!(errors.problems.len() >= 3, "{errors}");
}

#[test]
fn a_mistake_inside_a_string_is_marked_there() {
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
    fn files_that_are_not_scenes_are_reported() {
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

#[test]
fn mistakes_in_fragmentation_and_wear_are_reported() {
    let breaks = |name, keys: &str, says| {
        let with = format!("friction = 0.5\nfragmentation = {{ {keys} }}");
        instead(name, 6, &with, 7, says)
    };
    let wears = |name, keys: &str, says| {
        let with = format!("friction = 0.5\nwear = {{ {keys} }}");
        instead(name, 6, &with, 7, says)
    };
    check(&[
        breaks("no strength", "smallest = \"1 mm\"", "`strength` is missing"),
        breaks("no smallest size", "strength = \"1 MPa\"", "`smallest` is missing"),
        breaks(
            "a force as stress",
            "strength = \"1 kN\", smallest = \"1 mm\"",
            "expected a pressure",
        ),
        breaks(
            "a stress as force",
            "criterion = \"peak-force\", strength = \"1 MPa\", smallest = \"1 mm\"",
            "expected a force",
        ),
        breaks(
            "unknown criterion",
            "criterion = \"strain\", strength = 1, smallest = \"1 mm\"",
            "strain",
        ),
        breaks(
            "modulus without size",
            "strength = \"1 MPa\", smallest = \"1 mm\", weibull = 3",
            "`weibull` needs `reference_size`",
        ),
        breaks(
            "size without modulus",
            "strength = \"1 MPa\", smallest = \"1 mm\", reference_size = \"3 cm\"",
            "`reference_size` has no effect without `weibull`",
        ),
        breaks("no size", "strength = \"1 MPa\", smallest = 0", "greater than 0"),
        wears("no hardness", "coefficient = 0.1", "`hardness` is missing"),
        wears("negative wear", "coefficient = -1, hardness = \"1 GPa\"", "at least 0"),
        wears(
            "a chamfer of half the stone",
            "coefficient = 1, hardness = \"1 GPa\", chamfer = 0.5",
            "0.1",
        ),
    ]);
    // A ball cannot break; this is found when the scene is built.
    let breaking = "fragmentation = { strength = \"1 MPa\", smallest = \"1 mm\" }";
    let text = format!("{START}{breaking}\n{BALL}");
    let error = SceneFile::parse(&text, ".").unwrap().build().unwrap_err();
    assert!(error.to_string().contains("body `ball`: only convex polyhedra"), "{error}");
    assert_eq!(error.line_column(error.problems[0].span.start).0, 8);
}

#[test]
fn mistakes_in_periodic_cells_are_reported() {
    let cell =
        |name, text: &str, line, says| after_ball(name, &format!("[periodic]\n{text}"), line, says);
    check(&[
        cell("one number", "x = 1", 12, "a list"),
        cell("three numbers", "x = [0, 1, 2]", 12, "a list of 2 items"),
        cell("no length", "x = [0, \"1 s\"]", 12, "expected a length"),
        cell("misspelt", "x = [0, 1]\nshear_rat = 2", 13, "did you mean `shear_rate`"),
        cell("no rate", "x = [0, 1]\ny = [0, 1]\nshear_rate = \"1 m/s\"", 14, "frequency"),
        cell("no function", "shear_strain = \"2*s\"", 12, "`s`"),
        cell("no flag", "initial_flow = 1", 12, "true or false"),
        cell(
            "rate and strain",
            "x = [0, 1]\ny = [0, 1]\nshear_rate = 1\nshear_strain = \"t\"",
            15,
            "`shear_rate` and `shear_strain` contradict each other",
        ),
    ]);
    // What does not fit into the cell is found when the scene is built, at the cell or at the body.
    let wall = "[[body]]\nname = \"wall\"\nkind = \"fixed\"\nmaterial = \"rock\"\nshape = { type = \"half-space\", normal = [1, 0, 0] }\nposition = [-1, 0, 0]\n";
    for (text, line, says) in [
        ("[periodic]\nx = [0, 0.15]\n".to_owned(), 11, "with `ball`, its largest body"),
        ("[periodic]\nx = [1, 0]\n".to_owned(), 11, "must end above its start"),
        ("[periodic]\n".to_owned(), 11, "in at least one direction"),
        ("[periodic]\nx = [0, 1]\nshear_rate = 1\n".to_owned(), 11, "periodic along x and y"),
        (format!("[periodic]\nx = [-2, 2]\n{wall}"), 13, "must be parallel to x"),
    ] {
        let text = format!("{START}{BALL}{text}");
        let error = SceneFile::parse(&text, ".").unwrap().build().unwrap_err();
        assert!(error.to_string().contains(says), "{says}: {error}");
        assert_eq!(error.line_column(error.problems[0].span.start).0, line, "{says}");
    }
}

#[test]
fn mistakes_in_measures_are_reported() {
    let region = |name, text: &str, says| after_ball(name, &format!("[[probe]]\n{text}"), 12, says);
    let quantity = |name, target: &str, word: &str, says| {
        after_ball(name, &format!("[[probe]]\n{target}\nquantities = [\"{word}\"]"), 13, says)
    };
    check(&[
        region(
            "empty region",
            "region = { min = [0, 0, 0], max = [1, 0, 1] }",
            "the region is empty along y",
        ),
        region("unknown region", "region = \"al\"", "did you mean \"all\"?"),
        region("region without a corner", "region = { min = [0, 0, 0] }", "`max` is missing"),
        region("number for a region", "region = 3", "expected one of \"all\""),
        region("plane without normal", "plane = { point = [0, 0, 0] }", "`normal` is missing"),
        region("no direction", "plane = { point = [0, 0, 0], normal = [0, 0, 0] }", "normal"),
        region(
            "negative radius",
            "plane = { point = [0, 0, 0], normal = \"z\", radius = -1 }",
            "greater than 0",
        ),
        after_ball(
            "two targets",
            "[[probe]]\nbody = \"ball\"\nregion = \"all\"",
            13,
            "a `body` or a `region`, not both",
        ),
        after_ball(
            "two regions without names",
            "[[probe]]\nregion = \"all\"\n[[probe]]\nregion = \"all\"",
            14,
            "two probes are named `region`",
        ),
        quantity("stress of all", "region = \"all\"", "stress", "give a box"),
        quantity("solid fraction of all", "region = \"all\"", "solid_fraction", "give a box"),
        quantity(
            "velocity of a region",
            "region = \"all\"",
            "velocity",
            "a region has no quantity",
        ),
        quantity(
            "stress of a plane",
            "plane = { point = [0, 0, 0], normal = \"z\" }",
            "stress",
            "a plane has no quantity",
        ),
        quantity("flow of a body", "body = \"ball\"", "flow_rate", "a body has no quantity"),
        instead("negative impact speed", 3, "until = 1\nimpact_speed = -1", 4, "at least 0"),
        instead(
            "impacts of soft contacts",
            3,
            "until = 1\nscheme = \"penalty\"\nimpact_speed = 1",
            5,
            "has no impacts that take one step",
        ),
    ]);
    let weightless = format!(
        "gravity = [0, 0, 0]\n{START}{BALL}[[probe]]\nregion = \"all\"\nquantities = [\"slope\"]"
    );
    check(&[Case { name: "no gravity", text: weightless, line: 14, says: "needs gravity" }]);
}
