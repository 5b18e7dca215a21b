//! `riprap settle` and the cache of settled beds: a bed is settled once, and a bed that does not match the scene is not used.

mod common;

use common::{Folder, code, stderr, success};

const BED: &str = "\
seed = 3
[run]
dt = \"1 ms\"
until = \"20 ms\"
output_every = \"5 ms\"
frames = false
[materials.rock]
density = 2700
friction = 0.7
[[body]]
name = \"box\"
kind = \"fixed\"
material = \"rock\"
shape = { type = \"open-box\", size = [0.2, 0.2, 0.2], wall = 0.02 }
[[grains]]
name = \"stones\"
material = \"rock\"
generator = \"rain\"
stones = {}
grading = { uniform = [\"30 mm\", \"50 mm\"] }
count = 12
box = { min = [-0.1, -0.1, 0], max = [0.1, 0.1, 1] }
settle = { speed = \"10 cm/s\", at_most = \"1 s\" }
[[mechanism]]
name = \"tamper\"
position = [0, 0, 0.6]
[[mechanism.body]]
name = \"tine\"
mass = 5
shapes = [{ shape = { type = \"box\", size = [0.03, 0.03, 0.2] }, material = \"rock\" }]
[[mechanism.joint]]
name = \"z\"
type = \"prismatic\"
child = \"tine\"
axis = \"z\"
[[mechanism.force]]
name = \"push\"
coordinate = \"z\"
law = \"-20\"
[[probe]]
body = \"stones-1\"
";

fn run(folder: &Folder, scene: &str, out: &str, more: &[&str]) -> String {
    folder.write("scene.toml", scene);
    let output = folder.riprap(&[&["run", "scene.toml", "--out", out], more].concat());
    success(&output);
    stderr(&output)
}

#[test]
fn a_bed_settles_once_and_is_identical_when_read_from_the_cache() {
    let folder = Folder::new("beds");
    let cache = ["--cache", "beds"];
    let said = run(&folder, BED, "a", &cache);
    assert!(
        said.contains("settled after") && said.contains("bed of 12 grains stored in"),
        "{said}"
    );
    let said = run(&folder, BED, "b", &cache);
    assert!(said.contains("bed of 12 grains read from beds/bed-"), "{said}");
    assert!(said.contains("settled for 0.") && !said.contains("settled after"), "{said}");
    run(&folder, BED, "c", &["--no-cache"]);
    for other in ["b", "c"] {
        assert_eq!(folder.read("a/series.csv"), folder.read(&format!("{other}/series.csv")));
    }
    let settled = |run: &str| {
        let text = folder.read(&format!("{run}/summary.json"));
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["settled"].clone()
    };
    assert_eq!(settled("a"), settled("b"));

    // The bed does not depend on what happens after settling, only on what affects settling.
    let later = BED.replace("\"-20\"", "\"-30*sin(t)\"").replace("20 ms", "10 ms");
    assert!(run(&folder, &later, "d", &cache).contains("read from"));
    for (old, new) in [
        ("friction = 0.7", "friction = 0.6"),
        ("seed = 3", "seed = 4"),
        ("dt = \"1 ms\"", "dt = \"0.9 ms\""),
        ("[0, 0, 0.6]", "[0, 0, 0.61]"),
        ("[0.03, 0.03, 0.2]", "[0.03, 0.03, 0.21]"),
    ] {
        let said = run(&folder, &BED.replace(old, new), "e", &["--cache", "beds", "--force"]);
        assert!(said.contains("settled after"), "{new}: {said}");
    }
}

#[test]
fn a_damaged_bed_is_regenerated() {
    let folder = Folder::new("bad-beds");
    run(&folder, BED, "a", &["--cache", "beds"]);
    let names = || std::fs::read_dir(folder.0.join("beds")).unwrap();
    let file = names().next().unwrap().unwrap().path();
    let good = std::fs::read(&file).unwrap();
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 4;
    for content in [&bad[..], &good[..50], b"", b"{}"] {
        std::fs::write(&file, content).unwrap();
        let said = run(&folder, BED, "b", &["--cache", "beds", "--force"]);
        assert!(said.contains("warning: beds/bed-") && said.contains("regenerated"), "{said}");
        assert!(std::fs::read(&file).unwrap().len() > good.len() / 2);
        assert_eq!(folder.read("a/series.csv"), folder.read("b/series.csv"));
    }
    // A cache folder that cannot be written does not stop the run.
    folder.write("file", "");
    let said = run(&folder, BED, "c", &["--cache", "file/beds"]);
    assert!(said.contains("warning: the bed was not stored"), "{said}");
}

#[test]
fn a_bed_file_starts_only_runs_of_its_own_scene() {
    let folder = Folder::new("bed-file");
    folder.write("scene.toml", BED);
    let nowhere = folder.riprap(&["settle", "scene.toml"]);
    assert_eq!(code(&nowhere), Some(2));
    assert!(stderr(&nowhere).contains("--out"), "{}", stderr(&nowhere));
    success(&folder.riprap(&["settle", "scene.toml", "--out", "bed.bin"]));
    let said = run(&folder, BED, "a", &["--bed", "bed.bin"]);
    assert!(said.contains("read from bed.bin"), "{said}");
    run(&folder, BED, "b", &[]);
    assert_eq!(folder.read("a/series.csv"), folder.read("b/series.csv"));

    let refused = |scene: &str, bed: &str, what: &str| {
        folder.write("scene.toml", scene);
        let output = folder.riprap(&["run", "scene.toml", "--out", "c", "--bed", bed]);
        let said = stderr(&output);
        assert_eq!(code(&output), Some(2), "{said}");
        assert!(said.contains(what), "{said}");
        assert!(!folder.0.join("c").exists());
    };
    refused(&BED.replace("count = 12", "count = 13"), "bed.bin", "`count = 12`, now `count = 13`");
    refused(BED, "scene.toml", "not a riprap settled bed");
    refused(BED, "none.bin", "none.bin");
    let still = BED.replace("settle = { speed = \"10 cm/s\", at_most = \"1 s\" }", "");
    refused(&still, "bed.bin", "no grains of this scene settle");
    folder.write("scene.toml", &still);
    let output = folder.riprap(&["settle", "scene.toml", "--out", "d.bin"]);
    assert_eq!(code(&output), Some(2));
}
