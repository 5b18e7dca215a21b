//! `cargo xtask wheel`: builds a redistributable wheel of the Python package with maturin, installs it into a clean virtual
//! environment in which cargo cannot be found, and runs the tests of the package there.
//!
//! On Linux the wheel is linked by zig against an old glibc, so that it runs on every distribution of the last decade; maturin
//! checks the policy. Everything is below `target/wheel`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::python::{TESTS, call, executable, pytest, search_path};

/// What builds the wheel.
const TOOLS: [&str; 1] = ["maturin>=1.9,<2"];
/// The compiler that links against an old glibc, as a package of Python.
const ZIG: &str = "ziglang>=0.13,<0.15";
/// The oldest policy that Rust itself supports: glibc 2.17.
const POLICY: &str = "manylinux2014";

/// Builds the wheel and tests it; returns its path.
pub fn run(interpreter: &str, target: &Path) -> Result<PathBuf, String> {
    let folder = target.join("wheel");
    let wheel = build(interpreter, target, &folder)?;
    let python = clean(interpreter, &folder, &wheel)?;
    let begin = Instant::now();
    let cargo = format!("cargo{}", std::env::consts::EXE_SUFFIX);
    let path = search_path(&python, |folder| !folder.join(&cargo).exists())?;
    let counts = pytest(&python, Some(&path))?;
    println!("tested in {:.0} s", begin.elapsed().as_secs_f64());
    match counts.failed {
        0 => Ok(wheel),
        n => Err(format!("{n} tests failed with the wheel")),
    }
}

/// Builds the wheel with maturin.
fn build(interpreter: &str, target: &Path, folder: &Path) -> Result<PathBuf, String> {
    let tools = folder.join("tools");
    let python = executable(&tools);
    if !python.is_file() {
        call(Command::new(interpreter).args(["-m", "venv"]).arg(&tools))?;
    }
    let linux = cfg!(target_os = "linux");
    let zig = linux.then_some(ZIG);
    call(pip(&python).args(TOOLS).args(zig))?;
    let out = folder.join("dist");
    let _ = std::fs::remove_dir_all(&out);
    let portable: &[&str] = if linux { &["--zig", "--compatibility", POLICY] } else { &[] };
    let begin = Instant::now();
    call(
        Command::new(&python)
            .args(["-m", "maturin", "build", "--release", "--locked", "--out"])
            .arg(&out)
            .args(portable)
            // Zig is found as a module of the first python3.
            .env("PATH", search_path(&python, |_| true)?)
            .env("CARGO_TARGET_DIR", target),
    )?;
    println!("built in {:.0} s", begin.elapsed().as_secs_f64());
    let entries = std::fs::read_dir(&out).map_err(|error| error.to_string())?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let wheel = paths.find(|path| path.extension().is_some_and(|end| end == "whl"));
    wheel.ok_or_else(|| format!("no wheel in {}", out.display()))
}

/// A new virtual environment with the wheel and what its tests need; returns its interpreter.
fn clean(interpreter: &str, folder: &Path, wheel: &Path) -> Result<PathBuf, String> {
    let folder = folder.join("clean");
    call(Command::new(interpreter).args(["-m", "venv", "--clear"]).arg(&folder))?;
    let python = executable(&folder);
    call(pip(&python).arg(wheel).args(TESTS))?;
    Ok(python)
}

fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "--disable-pip-version-check", "install", "--quiet"]);
    command
}
