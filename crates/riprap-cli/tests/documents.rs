//! Runs the commands of the README, the tutorial and the how-to pages in order, as a reader would.
//!
//! A ```` ```sh ```` block is run in a folder with the examples of the repository; ```` ```sh,long ```` marks blocks that take minutes, build
//! something or need another program, which are not run. A scene or other file to be written by the reader starts with a comment that contains
//! its path: `# plough/scene.toml`. Pages are read in the order of the book, each chapter in one folder, so a page may build on earlier ones.

mod common;

use common::{Folder, command};
use std::path::Path;

/// A fenced block: language, attributes and text.
struct Block {
    line: usize,
    info: String,
    text: String,
}

impl Block {
    /// The path in the comment on the first line, for files to be written by the reader.
    fn path(&self) -> Option<&str> {
        let first = self.text.lines().next()?;
        let path = match self.info.as_str() {
            "toml" => first.strip_prefix("# ")?,
            "xml" => first.strip_prefix("<!-- ")?.strip_suffix(" -->")?,
            _ => return None,
        };
        (path.contains('/') && !path.contains(' ')).then_some(path)
    }
}

fn blocks(page: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open = false;
    for (line, text) in page.lines().enumerate() {
        match text.trim_start().strip_prefix("```") {
            Some(_) if open => open = false,
            Some(info) => {
                open = true;
                found.push(Block { line: line + 2, info: info.trim().into(), text: String::new() });
            }
            None if open => {
                let block = found.last_mut().expect("a block is open");
                block.text.push_str(text);
                block.text.push('\n');
            }
            None => {}
        }
    }
    found
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Runs the blocks of pages in one folder and returns the number of blocks.
fn run_pages(name: &str, pages: &[&str]) -> usize {
    let folder = Folder::new(name);
    copy(&root().join("examples"), &folder.0.join("examples"));
    let binary = Path::new(env!("CARGO_BIN_EXE_riprap")).parent().expect("a folder");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let mut n = 0;
    for page in pages {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        for block in blocks(&text) {
            if let Some(file) = block.path() {
                std::fs::create_dir_all(folder.0.join(file).parent().unwrap()).unwrap();
                folder.write(file, &block.text);
            }
            if block.info != "sh" {
                continue;
            }
            // The README runs commands from a checkout.
            let script = block.text.replace("cargo run --release -- ", "riprap ");
            let output = std::process::Command::new("bash")
                .args(["-euo", "pipefail", "-c", &script])
                .current_dir(&folder.0)
                .env("PATH", &path)
                .env("RIPRAP_CACHE", folder.0.join("cache"))
                .output()
                .unwrap();
            let (out, err) = (common::stdout(&output), common::stderr(&output));
            assert!(output.status.success(), "{page}:{}\n{script}\n{out}\n{err}", block.line);
            n += 1;
        }
    }
    n
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn every_command_of_the_readme_runs() {
    assert!(run_pages("readme", &["README.md"]) >= 2);
}

#[test]
fn the_tutorial_runs_from_its_first_command_to_its_last() {
    let pages = ["start", "heap", "machine", "coupled", "study"]
        .map(|page| format!("book/src/tutorial/{page}.md"));
    let n = run_pages("tutorial", &pages.each_ref().map(String::as_str));
    assert!(n >= 12, "only {n} blocks");
}

#[test]
fn every_command_of_the_how_to_pages_runs() {
    let folder = root().join("book/src/how-to");
    let mut pages: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| format!("book/src/how-to/{}", entry.unwrap().file_name().display()))
        .collect();
    pages.sort();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    assert!(run_pages("how-to", &pages) >= 4);
}

#[test]
fn few_commands_take_too_long_to_be_tested() {
    let (mut long, mut all) = (0, 0);
    for page in ["README.md", "book/src/tutorial/start.md", "book/src/tutorial/study.md"] {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        for block in blocks(&text) {
            long += usize::from(block.info == "sh,long");
            all += usize::from(block.info == "sh");
            assert!(!block.info.starts_with("bash"), "{page}:{}: write `sh`", block.line);
        }
    }
    assert!(long <= 6 && all > 0, "{long} of {all} blocks are marked as long");
}

#[test]
fn every_scene_of_the_reference_page_passes_check() {
    let text = std::fs::read_to_string(root().join("book/src/scene-file.md")).unwrap();
    for block in blocks(&text).iter().filter(|block| block.info == "toml") {
        let folder = Folder::new("reference");
        folder.write("scene.toml", &block.text);
        let output = command(&folder.0).args(["check", "scene.toml"]).output().unwrap();
        common::success(&output);
    }
}
