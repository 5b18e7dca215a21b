//! The `riprap` command-line tool as a library: parses arguments and maps results to exit codes; the other libraries do the work. Each command has its own file.
//!
//! Exit codes: 0 success, 1 a run or validation failed or results could not be written, 2 invalid input or usage, 130 interrupted.

/// Replaces the standard macro, which panics if standard error is full or closed.
macro_rules! eprintln {
    ($($argument:tt)*) => {
        $crate::text::tell(format_args!($($argument)*))
    };
}

mod commands;
mod failure;
mod progress;
mod text;

use std::ffi::OsString;

use failure::Failure;

use clap::{Parser, Subcommand};

use commands::{
    bench, check, compare, equilibrium, explain, export, forces, modes, new, plot, render, report,
    reproduce, run, settle, solve, sweep, validate, view,
};

/// Simulate granular media and multibody systems with exact contact laws.
#[derive(Parser)]
#[command(name = "riprap", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scene and write time series, frames and a summary
    Run(run::Arguments),
    /// Run a scene over many parameters and seeds and collect one table (needs the Python package)
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Sweep(sweep::Arguments),
    /// Show runs in the browser, also runs in progress
    View(view::Arguments),
    /// Settle the grains of a scene and cache the bed for later runs
    Settle(settle::Arguments),
    /// Check a scene without running it: bodies, masses, sizes, advice on the time step
    Check(check::Arguments),
    /// Explain a key of scene files: type, unit, default, meaning and an example; without a key, list the tables
    Explain(explain::Arguments),
    /// Find the static equilibrium of each mechanism in a scene
    Equilibrium(equilibrium::Arguments),
    /// Compute natural frequencies, damping ratios and mode shapes of each mechanism in a scene
    Modes(modes::Arguments),
    /// Compute the unique contact forces of a run and compare them with those of its solver
    Forces(forces::Arguments),
    /// Draw a frame of a run as a picture, or all frames as a video
    Render(render::Arguments),
    /// Draw the series of a run: energies, momenta, contacts, mechanisms, probes
    Plot(plot::Arguments),
    /// Write one HTML page about a run: pictures, numbers, curves, warnings
    Report(report::Arguments),
    /// Write the motion of bodies by name as CSV or Parquet
    Export(export::Arguments),
    /// Show the differences of two runs: scenes, summaries, series
    Compare(compare::Arguments),
    /// Create a folder with a template scene
    New(new::Arguments),
    /// Run the validation cases and compare the results with their references
    Validate(validate::Arguments),
    /// Regenerate the figures and tables of a publication
    Reproduce(reproduce::Arguments),
    /// Solve contact problems read from files and compare solvers
    Solve(solve::Arguments),
    /// Run speed benchmarks
    #[command(subcommand)]
    Bench(bench::Command),
    /// Print the JSON schema of scene files
    Schema,
}

/// Runs the command with these arguments, the first of which is its name, and returns its exit code.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    ignore_file_size_signal();
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(told) => return usage(&told),
    };
    let result = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Sweep(arguments) => sweep::sweep(&arguments),
        Command::View(arguments) => view::view(&arguments),
        Command::Settle(arguments) => settle::command(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Export(arguments) => export::export(&arguments),
        Command::Equilibrium(arguments) => equilibrium::equilibrium(&arguments),
        Command::Modes(arguments) => modes::modes(&arguments),
        Command::Forces(arguments) => forces::forces(&arguments),
        Command::Render(arguments) => render::render(&arguments),
        Command::Plot(arguments) => plot::plot(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
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
    // A failure of the command takes precedence over one of standard output.
    let result = result.and_then(|()| text::outcome().map_err(Failure::Output));
    match result {
        Ok(()) => 0,
        Err(failure) => {
            failure.show();
            failure.code()
        }
    }
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail with an error, which is reported, instead of a signal that silently kills
/// the process.
fn ignore_file_size_signal() {
    #[cfg(unix)]
    // SAFETY: no handler is installed, the signal is only ignored; no other thread is running yet.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Prints the help text, the version or the usage error.
fn usage(told: &clap::Error) -> u8 {
    let shown = told.print();
    match shown {
        Err(error) if !told.use_stderr() && error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: cannot write to standard output: {error}");
            1
        }
        _ => u8::try_from(told.exit_code()).unwrap_or(2),
    }
}
