//! The `riprap` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(riprap_cli::main_with(std::env::args_os()))
}
