//! Mistakes in `[[insert]]` and `[[remove]]`: each must be reported with the right message, at the right line, and alone.

mod mistakes;

use mistakes::scenes::*;
use mistakes::{Case, check};
use riprap_io::scene_file::SceneFile;

/// An insertion without a key, completed by `text`, which starts at line 12; its box is at line 9.
fn feed(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    let insert = "[[insert]]\nmaterial = \"rock\"\nbox = { min = [0, 0, 1], max = [1, 1, 2] }\n\
                  spheres = {}\ngrading = { uniform = [0.1, 0.2] }\n";
    Case { name, text: format!("{START}{insert}{text}"), line, says }
}

/// A ball, and a removal completed by `text`, which starts at line 12.
fn remove(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    after_ball(name, &format!("[[remove]]\n{text}"), line, says)
}

#[test]
fn mistakes_in_insertions_are_reported() {
    check(&[
        feed("no pace", "count = 3", 7, "`rate`, `mass_rate` or `at` is missing"),
        feed(
            "two paces",
            "rate = 1\nmass_rate = 2",
            13,
            "`rate` and `mass_rate` are mutually exclusive",
        ),
        feed("no rate", "rate = 0", 12, "greater than 0"),
        feed("rate in metres", "rate = \"5 m\"", 12, "a frequency such as \"35 Hz\""),
        feed("mass instead of a rate", "mass_rate = \"5 kg\"", 12, "kg"),
        feed("negative time", "at = -1\ncount = 3", 12, "at least 0"),
        feed("at without a number", "at = 1", 12, "`at` needs `count`"),
        feed("at and start", "at = 1\ncount = 3\nstart = 2", 14, "`at` and `start`"),
        feed("at and until", "at = 1\ncount = 3\nuntil = 2", 14, "`at` and `until`"),
        feed("none", "rate = 1\ncount = 0", 13, "between 1 and"),
        feed("half a body", "rate = 1\ncount = 0.5", 13, "a whole number"),
        feed("end before the start", "rate = 1\nstart = 2\nuntil = 1", 14, "is not after `start`"),
        feed("slow name", "rate = 1\nvelocity = 3", 13, "a list [x, y, z]"),
        feed("spin in Hz", "rate = 1\nangular_velocity = [0, 0, \"2 Hz\"]", 13, "angular velocity"),
        feed("a word", "rate = 1\nrandom_rotation = \"no\"", 13, "true or false"),
        feed("a bad name", "rate = 1\nname = \"a,b\"", 13, "not a name"),
        feed("a bad seed", "rate = 1\nseed = -1", 13, "at least 0"),
        feed(
            "a shape too",
            "rate = 1\nshape = { type = \"sphere\", radius = 1 }",
            10,
            "mutually exclusive",
        ),
        feed("misspelt", "rate = 1\nvelocty = [0, 0, 1]", 13, "did you mean `velocity`?"),
        feed(
            "the names of grains",
            "rate = 1\nname = \"ball\"\n[[body]]\nname = \"ball-3\"\nmaterial = \"rock\"\nshape = { type = \"sphere\", radius = 0.1 }",
            13,
            "`ball-3` could also be the name of a body of this insertion",
        ),
        feed(
            "two of a name",
            "rate = 1\nname = \"a\"\n[[body]]\nname = \"a\"\nmaterial = \"rock\"\nshape = { type = \"sphere\", radius = 0.1 }",
            13,
            "`a`",
        ),
        after_ball(
            "no box",
            "[[insert]]\nmaterial = \"rock\"\nrate = 1\nshape = { type = \"sphere\", radius = 1 }",
            11,
            "`box` is missing",
        ),
        after_ball(
            "no shape",
            "[[insert]]\nmaterial = \"rock\"\nrate = 1\nbox = { min = [0, 0, 0], max = [1, 1, 1] }",
            11,
            "`shape`, `stones` or `spheres` is missing",
        ),
        after_ball(
            "no material",
            "[[insert]]\nrate = 1\nshape = { type = \"sphere\", radius = 1 }\nbox = { min = [0, 0, 0], max = [1, 1, 1] }",
            11,
            "`material` is missing",
        ),
        after_ball(
            "no grading",
            "[[insert]]\nmaterial = \"rock\"\nrate = 1\nspheres = {}\nbox = { min = [0, 0, 0], max = [1, 1, 1] }",
            14,
            "need a `grading`",
        ),
        after_ball(
            "an empty box",
            "[[insert]]\nmaterial = \"rock\"\nrate = 1\nbox = { min = [0, 0, 3], max = [1, 1, 2] }\nshape = { type = \"sphere\", radius = 1 }",
            14,
            "the box is empty along z",
        ),
        after_ball(
            "a floor",
            "[[insert]]\nmaterial = \"rock\"\nrate = 1\nbox = { min = [0, 0, 0], max = [1, 1, 1] }\nshape = { type = \"half-space\" }",
            15,
            "a half-space has no mass",
        ),
        after_ball(
            "a disc",
            "[[insert]]\nmaterial = \"rock\"\nrate = 1\nbox = { min = [0, 0, 0], max = [1, 1, 1] }\nshape = { type = \"disc\", radius = 1 }",
            15,
            "planar",
        ),
        instead(
            "no contacts",
            3,
            "until = 1\nscheme = \"dormand-prince\"\n[[insert]]\nmaterial = \"rock\"\nrate = 1\nbox = { min = [0, 0, 0], max = [1, 1, 1] }\nshape = { type = \"sphere\", radius = 1 }",
            4,
            "for mechanisms only",
        ),
    ]);
}

#[test]
fn mistakes_in_removals_are_reported() {
    check(&[
        remove("nothing", "bodies = \"*\"", 11, "`below`, `outside` or `at` is missing"),
        remove("both", "below = 0\nat = 1", 13, "`below` and `at` are mutually exclusive"),
        remove("a time", "below = \"1 s\"", 12, "a length such as"),
        remove("before the start", "at = \"-1 s\"", 12, "at least 0"),
        remove("half a box", "outside = { min = [0, 0, 0] }", 12, "`max` is missing"),
        remove(
            "a flat box",
            "outside = { min = [0, 0, 0], max = [1, 0, 1] }",
            12,
            "the box is empty along y",
        ),
        remove("a number", "below = 0\nbodies = 3", 13, "a text in quotes"),
        remove("no patterns", "below = 0\nbodies = []", 13, "at least one item"),
    ]);
    // Found when the scene is built.
    let hung = "below = 0\n[[rope]]\npoints = [{ body = \"ball\" }, { body = \"world\", position = [0, 0, 1] }]";
    for case in [
        remove("nobody", "below = 0\nbodies = \"bell\"", 11, "no free body has a name like `bell`"),
        remove("hung", hung, 11, "`ball` cannot be removed, because a joint, a rope"),
    ] {
        let scene =
            SceneFile::parse(&case.text, ".").unwrap_or_else(|e| panic!("{}: {e}", case.name));
        let errors = scene.build().map(|_| ()).expect_err(case.name);
        let told = errors.to_string();
        assert!(told.contains(case.says), "{told}");
        assert_eq!(errors.line_column(errors.problems[0].span.start).0, case.line, "{told}");
    }
}
