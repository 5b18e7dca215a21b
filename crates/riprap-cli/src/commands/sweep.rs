//! `riprap sweep`: many runs over parameters and seeds. The Python package does the work; this hands the arguments over to it.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// Arguments of `riprap sweep`, all of them for the Python package.
#[derive(clap::Args)]
pub struct Arguments {
    /// The sweep file and options; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// Runs the command of the Python package with `$PYTHON`, or `python3`, and passes its exit code on.
pub fn sweep(arguments: &Arguments) -> Result<(), Failure> {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let importable = "import importlib.util as u, sys; sys.exit(u.find_spec('riprap') is None)";
    let found = Command::new(&python).args(["-c", importable]).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        return Err(Failure::Input(format!(
            "`riprap sweep` is part of the Python package, which {} cannot import; install it with `pip install .` in the repository, or set PYTHON to an interpreter that has it",
            python.display()
        )));
    }
    // Ctrl-C reaches both processes; the package stops its runs and says how the sweep ended.
    ctrlc::set_handler(|| ()).ok();
    let mut package = Command::new(&python);
    package.args(["-m", "riprap", "sweep"]).args(&arguments.arguments);
    match package.status().map(|status| status.code()) {
        Ok(Some(0)) => Ok(()),
        Ok(code) => Err(Failure::Passed(code.and_then(|n| u8::try_from(n).ok()).unwrap_or(1))),
        Err(error) => Err(Failure::Run(format!("cannot start {}: {error}", python.display()))),
    }
}
