//! The stage `python` of the tests: installs the package with pip into a virtual environment below the target folder, built with
//! the `dev` profile into the same folder as everything else, and runs pytest, mypy and pyright.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the tests of the package need from the package index.
pub const TESTS: [&str; 14] = [
    "numpy>=1.21",
    "pytest>=7",
    "mypy>=1.10",
    "scipy",
    "dask[distributed]",
    "matplotlib>=3.8",
    "pandas",
    "pyarrow",
    "xarray",
    "tqdm",
    "nbclient",
    "ipykernel",
    "vtk>=9.4",
    "h5py",
];
/// What builds and checks it. Pyright brings its own Node.
const TOOLS: [&str; 2] = ["maturin>=1.9,<2", "pyright[nodejs]>=1.1.400"];
/// What mypy checks: the package, its tests and scripts.
const TYPED: [&str; 5] = [
    "crates/riprap-py/python/riprap",
    "crates/riprap-py/tests",
    "crates/riprap-py/stubs.py",
    "examples/fit-friction/fit.py",
    "examples/tamping-frequency/optimize.py",
];

/// Numbers of passed and failed tests.
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
}

/// An interpreter that can create virtual environments; `None` if there is none.
pub fn interpreter() -> Option<String> {
    let able = "import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 9))";
    let works = |name: &String| {
        let run = Command::new(name).args(["-c", able]).stderr(Stdio::null()).status();
        run.is_ok_and(|status| status.success())
    };
    let named = std::env::var("PYTHON").ok();
    named.into_iter().chain(["python3", "python"].map(str::to_owned)).find(works)
}

/// Runs the stage with an interpreter.
pub fn run(interpreter: &str, target: &Path) -> Result<Counts, String> {
    let folder = target.join("python");
    let python = executable(&folder);
    if !python.is_file() {
        call(Command::new(interpreter).args(["-m", "venv"]).arg(&folder))?;
    }
    let pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet"];
    call(Command::new(&python).args(pip).args(TESTS).args(TOOLS))?;
    let fresh = ["--no-build-isolation", "--no-deps", "--force-reinstall", "."];
    call(
        Command::new(&python)
            .args(pip)
            .args(fresh)
            .env("PATH", search_path(&python, |_| true)?)
            .env("MATURIN_PEP517_ARGS", "--profile dev")
            .env("CARGO_TARGET_DIR", target),
    )?;
    let counts = pytest(&python, None)?;
    let cache = target.join("mypy");
    call(Command::new(&python).args(["-m", "mypy", "--cache-dir"]).arg(cache).args(TYPED))?;
    // The files are those of `[tool.pyright]` in pyproject.toml: the package, its tests, and the examples.
    call(Command::new(&python).args(["-m", "pyright", "--pythonpath"]).arg(&python))?;
    Ok(counts)
}

/// Runs pytest, with another search path if one is given, shows its output and counts its tests.
pub fn pytest(python: &Path, path: Option<&OsStr>) -> Result<Counts, String> {
    let mut child = Command::new(python)
        .args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"])
        .envs(path.map(|path| ("PATH", path)))
        .current_dir(xtask::root())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start pytest: {error}"))?;
    let mut last = String::new();
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            println!("{line}");
            last = line;
        }
    }
    let mut counts = count(&last);
    if !child.wait().is_ok_and(|status| status.success()) && counts.failed == 0 {
        counts.failed = 1;
    }
    Ok(counts)
}

/// The search path, as far as its folders are wanted, after the folder of an interpreter.
pub fn search_path(python: &Path, wanted: impl Fn(&Path) -> bool) -> Result<OsString, String> {
    let own = python.parent().map(Path::to_path_buf).into_iter();
    let all = std::env::var_os("PATH").unwrap_or_default();
    let rest = std::env::split_paths(&all).filter(|folder| wanted(folder));
    std::env::join_paths(own.chain(rest)).map_err(|error| error.to_string())
}

/// The interpreter of a virtual environment.
pub fn executable(folder: &Path) -> PathBuf {
    if cfg!(windows) { folder.join("Scripts/python.exe") } else { folder.join("bin/python") }
}

pub fn call(command: &mut Command) -> Result<(), String> {
    let status = command.current_dir(xtask::root()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

/// The counts in the last line of pytest, such as `2 failed, 189 passed in 65.31s`.
fn count(line: &str) -> Counts {
    let before = |words: &[&str]| -> u64 {
        let parts = line.split(", ").filter(|part| words.iter().any(|word| part.contains(word)));
        parts.filter_map(|part| part.split(' ').next()?.parse::<u64>().ok()).sum()
    };
    Counts { passed: before(&["passed"]), failed: before(&["failed", "error"]) }
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn the_last_line_of_pytest_is_counted() {
        for (line, passed, failed) in [
            ("189 passed in 65.31s (0:01:05)", 189, 0),
            ("2 failed, 187 passed, 1 skipped in 3.2s", 187, 2),
            ("1 passed, 2 errors in 0.1s", 1, 2),
            ("no tests ran in 0.01s", 0, 0),
        ] {
            let counts = count(line);
            assert_eq!((counts.passed, counts.failed), (passed, failed), "{line}");
        }
    }
}
