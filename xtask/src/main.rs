//! Repository tasks. `cargo xtask test` runs all tests, locally and in `.ci/run`. `cargo xtask book` builds the book as a site and
//! checks its links. `cargo xtask python` installs the Python package and runs its tests; `cargo xtask wheel` builds a
//! redistributable wheel and tests it in a clean environment. `cargo xtask viewer` builds the page of the viewer into the
//! repository. `cargo xtask fuzz` and `cargo xtask soak`
//! are longer versions of the fuzz and soak tests. `cargo xtask count` prints the lines of code and of tests.

mod fuzz;
mod python;
mod soak;
mod viewer;
mod wheel;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Stages in order: name and arguments of cargo.
const STAGES: [(&str, &[&str]); 5] = [
    ("format", &["fmt", "--all", "--check"]),
    ("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    ("tests", &["test", "--workspace", "--no-fail-fast"]),
    ("parquet", &["test", "--package", "riprap-io", "--features", "parquet", "--lib", "parquet"]),
    ("documentation", &["doc", "--workspace", "--no-deps"]),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let minutes = |text: &str| text.parse().ok().filter(|minutes: &f64| *minutes > 0.0);
    match &words[..] {
        ["test"] => test(),
        ["python"] => told(python_stage(&mut Tests::default()).unwrap_or(Ok(()))),
        ["wheel"] => told(wheel()),
        ["viewer"] => told(viewer::replace()),
        ["book"] => told(book().map(|page| println!("{}", page.display()))),
        ["count"] => count(),
        ["fuzz"] => told(fuzz::run(1.0)),
        ["fuzz", "--minutes", n] if minutes(n).is_some() => {
            told(fuzz::run(minutes(n).unwrap_or(1.0)))
        }
        ["soak"] => told(soak(true, Some(5.0))),
        ["soak", "--minutes", n] if minutes(n).is_some() => told(soak(true, minutes(n))),
        ["soak", "--short"] => told(soak(false, None)),
        _ => {
            eprintln!(
                "usage: cargo xtask test | python | wheel | viewer | book | fuzz [--minutes N] | soak [--minutes N | --short] | count"
            );
            ExitCode::from(2)
        }
    }
}

/// Builds a redistributable wheel and tests it in a clean environment.
fn wheel() -> Result<(), String> {
    let python =
        python::interpreter().ok_or("Python 3.9 or newer with the module venv is needed")?;
    let wheel = wheel::run(&python, &target())?;
    println!("{}", wheel.display());
    Ok(())
}

/// Builds the book, checks its links and returns the path of the first page. mdBook is compiled in a separate workspace into
/// the target folder.
fn book() -> Result<PathBuf, String> {
    let root = xtask::root();
    let (tool, site) = (target().join("book-tool"), target().join("book"));
    let status = Command::new(cargo())
        .args(["run", "--quiet", "--locked", "--manifest-path"])
        .arg(root.join("xtask/book/Cargo.toml"))
        .arg("--target-dir")
        .args([&tool, &site])
        .status()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !status.success() {
        return Err("the book could not be built".into());
    }
    let broken = xtask::links::broken_in_site(&site)?;
    if broken.is_empty() { Ok(site.join("index.html")) } else { Err(broken.join("\n")) }
}

fn told(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Builds `riprap` and runs the soak test, for a number of minutes or in a short version.
fn soak(release: bool, minutes: Option<f64>) -> Result<(), String> {
    let profile: &[&str] = if release { &["--release"] } else { &[] };
    let arguments =
        ["build", "--package", "riprap-cli", "--message-format=json-render-diagnostics"];
    let built =
        Command::new(cargo()).args(arguments).args(profile).stderr(Stdio::inherit()).output();
    let built = built.map_err(|error| format!("cannot start cargo: {error}"))?;
    // The line with the binary: `…,"executable":"/…/riprap",…`.
    let text = String::from_utf8_lossy(&built.stdout);
    let path = text.lines().filter_map(|line| line.split_once("\"executable\":\"")).next_back();
    let path =
        path.and_then(|(_, rest)| rest.split_once('"')).map(|(path, _)| path.replace("\\\\", "\\"));
    soak_with(path.ok_or("riprap could not be built")?.as_ref(), minutes)
}

/// The short soak test of the test command, with the binary that the tests have just used; building it alone would compile all
/// dependencies again, with fewer features.
fn soak_after_tests() -> Result<(), String> {
    let binary = built_riprap();
    if binary.is_file() { soak_with(&binary, None) } else { soak(false, None) }
}

fn soak_with(binary: &Path, minutes: Option<f64>) -> Result<(), String> {
    match soak::run(binary, minutes)? {
        true => Ok(()),
        false => Err("the soak test failed".into()),
    }
}

/// The folder that cargo builds into.
fn target() -> PathBuf {
    let folder =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    xtask::root().join(folder)
}

fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())
}

/// Prints lines of code and of tests.
fn count() -> ExitCode {
    match xtask::count::Count::of(xtask::root()) {
        Ok(count) => {
            print!("{count}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all stages, even after one has failed, and sums up the tests.
fn test() -> ExitCode {
    let mut tests = Tests::default();
    let mut broken = Vec::new();
    let book: (&str, &[&str]) = ("book", &["xtask", "book"]);
    for (name, arguments) in STAGES.into_iter().chain([book]) {
        println!("── {name}: cargo {}", arguments.join(" "));
        let begin = Instant::now();
        let good = stage(arguments, &mut tests);
        let verdict = if good { "passed" } else { "FAILED" };
        println!("── {name} {verdict} in {:.1} s", begin.elapsed().as_secs_f64());
        if !good {
            broken.push(name);
        }
    }
    if let Some(Err(message)) = python_stage(&mut tests) {
        println!("── python FAILED: {message}");
        broken.push("python");
    }
    if let Some(Err(message)) = viewer_stage(&mut tests) {
        println!("── viewer FAILED: {message}");
        broken.push("viewer");
    }
    println!("── soak: cargo xtask soak --short");
    if let Err(message) = soak_after_tests() {
        println!("── soak FAILED: {message}");
        broken.push("soak");
    }
    if let Some(good) = deny()
        && !good
    {
        broken.push("deny");
    }
    if !broken.is_empty() {
        println!("failed stages: {}", broken.join(", "));
    }
    println!("{} passed, {} failed", tests.passed, tests.failed);
    if broken.is_empty() && tests.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Installs the Python package and runs its tests if there is a Python.
fn python_stage(tests: &mut Tests) -> Option<Result<(), String>> {
    let Some(interpreter) = python::interpreter() else {
        println!("── python skipped: no python3 (3.9 or newer) with venv was found");
        return None;
    };
    println!("── python: cargo xtask python");
    Some(counted("python", tests, || python::run(&interpreter, &target())))
}

/// Builds the page of the viewer and runs its tests if there is npm.
fn viewer_stage(tests: &mut Tests) -> Option<Result<(), String>> {
    if !viewer::available() {
        println!("── viewer skipped: npm was not found");
        return None;
    }
    println!("── viewer: npm run build, npm test");
    Some(counted("viewer", tests, || viewer::run(&built_riprap())))
}

/// Runs a stage and adds its tests.
fn counted(
    name: &str,
    tests: &mut Tests,
    stage: impl FnOnce() -> Result<python::Counts, String>,
) -> Result<(), String> {
    let begin = Instant::now();
    let result = stage().and_then(|counts| {
        tests.passed += counts.passed;
        tests.failed += counts.failed;
        match counts.failed {
            0 => Ok(()),
            n => Err(format!("{n} tests failed")),
        }
    });
    println!("── {name} ended in {:.1} s", begin.elapsed().as_secs_f64());
    result
}

/// The command that the tests have built.
fn built_riprap() -> PathBuf {
    target().join("debug").join(format!("riprap{}", std::env::consts::EXE_SUFFIX))
}

/// Checks licenses, duplicate versions and sources (`deny.toml`) if `cargo-deny` is installed. Advisories and yanked crates are not checked,
/// because that needs network access.
fn deny() -> Option<bool> {
    let installed = Command::new(cargo()).args(["deny", "--version"]).output();
    if !installed.is_ok_and(|output| output.status.success()) {
        println!("── deny skipped: cargo-deny is not installed");
        return None;
    }
    println!("── deny: cargo deny check bans licenses sources");
    let checked =
        Command::new(cargo()).args(["deny", "check", "bans", "licenses", "sources"]).status();
    Some(checked.is_ok_and(|status| status.success()))
}

/// Runs cargo, prints its output and counts its tests.
fn stage(arguments: &[&str], tests: &mut Tests) -> bool {
    let child = Command::new(cargo())
        .args(arguments)
        .env("RUSTDOCFLAGS", "-D warnings")
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            println!("cannot start cargo: {error}");
            return false;
        }
    };
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            println!("{line}");
            tests.add(&line);
        }
    }
    child.wait().is_ok_and(|status| status.success())
}

/// Numbers of passed and failed tests.
#[derive(Default, Debug, PartialEq)]
struct Tests {
    passed: u64,
    failed: u64,
}

impl Tests {
    /// Adds a line such as `test result: ok. 12 passed; 0 failed; …`.
    fn add(&mut self, line: &str) {
        let Some((_, counts)) = line.split_once("test result: ") else { return };
        let before = |word: &str| -> u64 {
            let count = counts.split_once(word).and_then(|(head, _)| head.split(' ').next_back());
            count.and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        self.passed += before(" passed");
        self.failed += before(" failed");
    }
}

#[cfg(test)]
mod tests {
    use super::Tests;

    #[test]
    fn result_lines_are_summed_and_others_ignored() {
        let mut count = Tests::default();
        count.add("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; finished in 0.1s");
        count.add("test result: FAILED. 57 passed; 3 failed; 0 ignored");
        count.add("test a_result ... ok");
        assert_eq!(count, Tests { passed: 69, failed: 3 });
    }
}
