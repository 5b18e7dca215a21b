//! Scene files that nobody would write: whatever the bytes, reading ends in a scene or in errors whose places lie
//! within the text.

use proptest::prelude::*;
use riprap_io::scene_file::SceneFile;

const WORDS: &[&str] = &[
    "[run]\n",
    "[[body]]\n",
    "[[grains]]\n",
    "[materials.rock]\n",
    "[shapes.a]\n",
    "[[probe]]\n",
    "[[pair]]\n",
    "dt = ",
    "until = ",
    "shape = ",
    "type = ",
    "material = ",
    "position = ",
    "motion = ",
    "velocity = ",
    "generator = ",
    "counts = ",
    "count = ",
    "box = ",
    "grading = ",
    "points = ",
    "parts = ",
    "inertia = ",
    "mass = ",
    "planar = true\n",
    "body = ",
    "between = ",
    "rotation = ",
    "kind = ",
    "file = ",
    "\"sphere\"",
    "\"box\"",
    "\"compound\"",
    "\"mesh\"",
    "\"rain\"",
    "\"lattice\"",
    "\"moving\"",
    "\"rock\"",
    "\"a\"",
    "\"grains.csv\"",
    "\"t^2/0\"",
    "\"25 mm\"",
    "\"1e400 m\"",
    "1",
    "-1",
    "0",
    "1e9",
    "nan",
    "true",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\n",
    "\"",
    "'''",
    "#",
    "radius = 1",
    "min = [0,0,0]",
    "[1,2,3]",
    "\u{feff}",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = SceneFile::parse(&text, "tests/data");
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = SceneFile::parse(&String::from_utf8_lossy(&bytes), "tests/data");
    }

    #[test]
    fn no_words_of_the_format_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
        let text = words.concat();
        if let Err(errors) = SceneFile::parse(&text, "tests/data") {
            prop_assert!(!errors.problems.is_empty());
            for problem in &errors.problems {
                prop_assert!(text.get(problem.span.clone()).is_some(), "span {:?}", problem.span);
            }
        }
    }

    #[test]
    fn no_damaged_scene_panics(at in 0_usize..4000, with in any::<char>(), cut in any::<bool>()) {
        let mut text: Vec<char> = include_str!("data/everything.toml").chars().collect();
        let at = at.min(text.len() - 1);
        if cut { text.truncate(at); } else { text[at] = with; }
        let _ = SceneFile::parse(&text.into_iter().collect::<String>(), "tests/data");
    }
}
