//! The command `riprap`: arguments in, exit codes out. What it does is in the libraries; each command has a file.
//!
//! Exit codes: 0 done, 1 a run or a validation failed or results could not be written, 2 bad input or usage, 130 interrupted.

/// In place of the macro of the standard library, which panics where standard error is full or closed.
macro_rules! eprintln {
    ($($argument:tt)*) => {
        $crate::text::tell(format_args!($($argument)*))
    };
}

mod commands;
mod failure;
mod progress;
mod text;

use std::process::ExitCode;

use failure::Failure;

use clap::{Parser, Subcommand};

use commands::{bench, check, equilibrium, modes, new, reproduce, run, settle, solve, validate};

/// Granular and multibody dynamics with exact contact: scenes in, numbers out.
#[derive(Parser)]
#[command(version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scene and write series, frames and a summary
    Run(run::Arguments),
    /// Let the grains of a scene come to rest and keep the bed for all runs that begin with it
    Settle(settle::Arguments),
    /// Look at a scene without running it: bodies, masses, sizes, advice on the time step
    Check(check::Arguments),
    /// Find the pose at which the mechanisms of a scene stay at rest
    Equilibrium(equilibrium::Arguments),
    /// Frequencies, damping and shapes of small vibrations of the mechanisms of a scene
    Modes(modes::Arguments),
    /// Make a folder with a scene to start from
    New(new::Arguments),
    /// Run the validation cases and compare with their references
    Validate(validate::Arguments),
    /// Make the figures and tables of a publication anew
    Reproduce(reproduce::Arguments),
    /// Solve contact problems from files, and compare solvers
    Solve(solve::Arguments),
    /// Measure speed
    #[command(subcommand)]
    Bench(bench::Command),
    /// Print the JSON schema of scene files
    Schema,
}

fn main() -> ExitCode {
    ignore_file_size_signal();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(told) => return usage(&told),
    };
    let result = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Settle(arguments) => settle::command(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Equilibrium(arguments) => equilibrium::equilibrium(&arguments),
        Command::Modes(arguments) => modes::modes(&arguments),
        Command::New(arguments) => new::new(&arguments),
        Command::Validate(arguments) => validate::validate(&arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(&arguments),
        Command::Solve(arguments) => solve::solve(&arguments),
        Command::Bench(command) => bench::bench(&command),
        Command::Schema => {
            text::print(&new::schema());
            Ok(())
        }
    };
    // What went wrong before is the more important news.
    let result = result.and_then(|()| text::outcome().map_err(Failure::Output));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.show();
            ExitCode::from(failure.code())
        }
    }
}

/// Lets a write beyond the limit of file sizes (`ulimit -f`) fail with an error, which is reported, instead of a signal that ends the process
/// without a word.
fn ignore_file_size_signal() {
    #[cfg(unix)]
    // SAFETY: no handler is installed, the signal is only ignored; no other thread runs yet.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Shows help, the version, or what is wrong with the arguments.
fn usage(told: &clap::Error) -> ExitCode {
    let shown = told.print();
    match shown {
        Err(error) if !told.use_stderr() && error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: cannot write to standard output: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::from(u8::try_from(told.exit_code()).unwrap_or(2)),
    }
}
