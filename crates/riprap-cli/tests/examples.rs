//! Every example passes `riprap check` and runs for a few steps.

mod common;

use common::{Folder, stderr, stdout, success};
use std::path::Path;

#[test]
fn every_example_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut n = 0;
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let scene = path.join("scene.toml");
        if !scene.is_file() {
            continue;
        }
        n += 1;
        assert!(path.join("README.md").is_file(), "{} has no README.md", path.display());
        let name = path.file_name().unwrap().to_str().unwrap();
        let folder = Folder::new(&format!("example-{name}"));
        let check = folder.riprap(&["check", scene.to_str().unwrap()]);
        success(&check);
        let fits = ["the time step is small enough", "adaptive, relative error per step"];
        let text = stdout(&check);
        assert!(fits.iter().any(|words| text.contains(words)), "{name}:\n{text}");
        let run = folder.riprap(&["run", scene.to_str().unwrap(), "--until", "10 ms"]);
        success(&run);
        // The folder is named after that of the scene.
        let summary = folder.read(&format!("out/{name}/summary.json"));
        assert!(summary.contains("\"state\": \"finished\""), "{name}:\n{summary}");
        assert!(!stderr(&run).contains("warning"), "{name}:\n{}", stderr(&run));
    }
    assert!(n >= 5, "only {n} examples found");
}
