//! The stage `viewer` of the tests: builds the page of the viewer with npm, compares it with the one in the repository, and runs its
//! tests, in a browser if there is one.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::python::{Counts, call};

/// The page that is compiled into `riprap`, below the root.
const PAGE: &str = "crates/riprap-view/assets/viewer.html";

/// Whether npm is installed.
pub fn available() -> bool {
    let version = Command::new("npm").arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

/// Builds the page and returns where it is.
fn build() -> Result<PathBuf, String> {
    let folder = xtask::root().join("viewer");
    call(npm().args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    call(npm().args(["run", "--silent", "build"]))?;
    Ok(folder.join("dist/viewer.html"))
}

fn npm() -> Command {
    let mut npm = Command::new("npm");
    npm.args(["--prefix", "viewer"]);
    npm
}

/// Replaces the page in the repository.
pub fn replace() -> Result<(), String> {
    let (built, page) = (build()?, xtask::root().join(PAGE));
    std::fs::copy(&built, &page).map_err(|error| format!("cannot write {PAGE}: {error}"))?;
    println!("{}", page.display());
    Ok(())
}

/// Runs the stage; `riprap` is the command for the tests against the real server.
pub fn run(riprap: &Path) -> Result<Counts, String> {
    let built = build()?;
    let read = |path: &Path| {
        std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
    };
    if read(&built)? != read(&xtask::root().join(PAGE))? {
        return Err(format!(
            "{PAGE} is not what viewer/ builds: run `cargo xtask viewer` and commit it"
        ));
    }
    let mut tests = npm();
    tests.args(["run", "--silent", "test"]).env("RIPRAP", riprap).current_dir(xtask::root());
    let mut child = tests
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start npm: {error}"))?;
    let mut counts = Counts { passed: 0, failed: 0 };
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            println!("{line}");
            add(&mut counts, &line);
        }
    }
    if !child.wait().is_ok_and(|status| status.success()) && counts.failed == 0 {
        counts.failed = 1;
    }
    Ok(counts)
}

/// Adds a line of node's test runner, such as `ℹ pass 12`.
fn add(counts: &mut Counts, line: &str) {
    let line = line.trim_start_matches(['ℹ', '#', ' ']);
    let number = |word: &str| line.strip_prefix(word)?.trim().parse::<u64>().ok();
    counts.passed += number("pass ").unwrap_or(0);
    counts.failed += number("fail ").unwrap_or(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_of_node_s_test_runner_are_counted() {
        let mut counts = Counts { passed: 0, failed: 0 };
        for line in ["ℹ tests 14", "ℹ pass 12", "# fail 2", "✔ pass 99 grains", "ℹ skipped 1"]
        {
            add(&mut counts, line);
        }
        assert_eq!((counts.passed, counts.failed), (12, 2));
    }
}
