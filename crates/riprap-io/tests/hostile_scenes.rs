//! Hostile scene files: whatever the bytes, reading returns a scene or errors whose positions are
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
    "[[mechanism]]\n",
    "[[mechanism.body]]\n",
    "[[mechanism.joint]]\n",
    "[[mechanism.chain]]\n",
    "[[mechanism.loop]]\n",
    "[[mechanism.spring]]\n",
    "[[mechanism.force]]\n",
    "[[flexible]]\n",
    "[[flexible.shape]]\n",
    "section = ",
    "young = ",
    "elements = ",
    "nodes = ",
    "\"bar\"",
    "\"rectangle\"",
    "[parameters]\n",
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
    "name = ",
    "parent = ",
    "child = ",
    "axis = ",
    "start = ",
    "joints = ",
    "phases = ",
    "law = ",
    "until = ",
    "latch = ",
    "urdf = ",
    "dependent = ",
    "scheme = ",
    "\"revolute\"",
    "\"free\"",
    "\"rod\"",
    "\"ground\"",
    "\"arm.urdf\"",
    "\"q.a > 1 and not v.a\"",
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
    fn no_damaged_scene_panics(at in 0_usize..6000, with in any::<char>(), cut in any::<bool>(), which in 0_usize..3) {
        let text = [
            include_str!("data/everything.toml"),
            include_str!("data/mechanisms.toml"),
            include_str!("data/tamping-unit.toml"),
        ][which];
        let mut text: Vec<char> = text.chars().collect();
        let at = at.min(text.len() - 1);
        if cut { text.truncate(at); } else { text[at] = with; }
        let _ = SceneFile::parse(&text.into_iter().collect::<String>(), "tests/data");
    }

    /// Most of these files are nearly valid; those that are valid round-trip unchanged.
    #[test]
    fn no_scene_with_a_line_moved_panics(from in 0_usize..250, to in 0_usize..250, which in 0_usize..2) {
        let text = [include_str!("data/mechanisms.toml"), include_str!("data/tamping-unit.toml")][which];
        let mut lines: Vec<&str> = text.lines().collect();
        let line = lines.remove(from.min(lines.len() - 1));
        lines.insert(to.min(lines.len()), line);
        let text = lines.join("\n");
        match SceneFile::parse(&text, "tests/data") {
            Ok(scene) => prop_assert!(SceneFile::parse(&scene.to_toml(), "/").is_ok_and(|again| again == scene)),
            Err(errors) => {
                for problem in &errors.problems {
                    prop_assert!(text.get(problem.span.clone()).is_some(), "span {:?}", problem.span);
                }
            }
        }
    }

    #[test]
    fn no_damaged_urdf_file_panics(at in 0_usize..4000, with in any::<char>(), cut in any::<bool>()) {
        let mut text: Vec<char> = include_str!("data/arm.urdf").chars().collect();
        let at = at.min(text.len() - 1);
        if cut { text.truncate(at); } else { text[at] = with; }
        let name = format!("riprap-damaged-{}.urdf", std::process::id());
        let path = std::env::temp_dir().join(&name);
        std::fs::write(&path, text.into_iter().collect::<String>()).unwrap();
        let scene = format!("[run]\ndt = 1\nuntil = 1\n[materials.a]\n[[mechanism]]\nurdf_material = \"a\"\nurdf = \"{name}\"\n");
        let _ = SceneFile::parse(&scene, std::env::temp_dir());
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn deeply_nested_urdf_files_are_rejected() {
    let name = format!("riprap-deep-{}.urdf", std::process::id());
    let path = std::env::temp_dir().join(&name);
    let scene = format!("[run]\ndt = 1\nuntil = 1\n[[mechanism]]\nurdf = \"{name}\"\n");
    for part in ["<a>", "<a b='/>'>", "<a><!-- </a> -->", "<a><![CDATA[</a>]]>", "<a\n>", "<a></b>"]
    {
        std::fs::write(&path, "<robot>".to_owned() + &part.repeat(200_000)).unwrap();
        assert!(SceneFile::parse(&scene, std::env::temp_dir()).is_err());
    }
    std::fs::remove_file(&path).unwrap();
}
