//! Failures of a command: their messages and exit codes.

use std::fmt;
use std::io::IsTerminal;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode,
};
use riprap_io::scene_file::{Problem, SceneErrors};

use crate::text::counted;

/// Why a command failed.
pub enum Failure {
    /// The scene file has errors.
    Scene(SceneErrors),
    /// Other input given by the user is invalid.
    Input(String),
    /// A run failed.
    Run(String),
    /// Standard output could not be written.
    Output(String),
    /// Quantities were outside their tolerances; they have already been printed.
    Validation,
    /// The user pressed Ctrl-C.
    Interrupted,
    /// Another program failed with this exit code and has said why.
    Passed(u8),
}

impl From<SceneErrors> for Failure {
    fn from(errors: SceneErrors) -> Failure {
        Failure::Scene(errors)
    }
}

impl Failure {
    /// The exit code of the command.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Run(_) | Failure::Output(_) | Failure::Validation => 1,
            Failure::Scene(_) | Failure::Input(_) => 2,
            Failure::Interrupted => 130,
            Failure::Passed(code) => *code,
        }
    }

    /// Prints the message to standard error.
    pub fn show(&self) {
        match self {
            Failure::Scene(errors) => show_scene(errors),
            Failure::Input(message) | Failure::Run(message) | Failure::Output(message) => {
                eprintln!("error: {message}");
            }
            Failure::Validation | Failure::Passed(_) => {}
            Failure::Interrupted => eprintln!("interrupted"),
        }
    }
}

/// Prints all errors of a scene file, each with the source lines concerned.
fn show_scene(errors: &SceneErrors) {
    let path = errors.path.display().to_string();
    if errors.text.is_empty() {
        eprintln!("error: {errors}");
        return;
    }
    // Wrapped to the width of a terminal; lines are not wrapped in a log.
    let handler = if std::io::stderr().is_terminal() {
        GraphicalReportHandler::new_themed(GraphicalTheme::unicode())
    } else {
        let plain = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
        plain.with_wrap_lines(false)
    };
    let file = &errors.text[..errors.options.unwrap_or(errors.text.len())];
    let in_file = NamedSource::new(&path, file.to_owned());
    // Very long lines (a mesh on a single line) are not shown, only referenced.
    let readable = errors.text.lines().all(|line| line.len() < 1000);
    for problem in &errors.problems {
        let mut report = String::new();
        // A mistake in an option is shown there.
        let option = errors.option_at(problem.span.start);
        let in_option = option.map(|(text, begin)| {
            let span = problem.span.start - begin..problem.span.end - begin;
            (Problem { span, ..problem.clone() }, NamedSource::new("command line", text.to_owned()))
        });
        let (problem, source) = match &in_option {
            Some((problem, source)) => (problem, source),
            None => (problem, &in_file),
        };
        let shown = Shown { problem, source };
        let rendered =
            if readable { handler.render_report(&mut report, &shown) } else { Err(fmt::Error) };
        match rendered {
            Ok(()) => eprintln!("{}\n", report.trim_end()),
            Err(_) => {
                let (line, column) = errors.line_column(problem.span.start);
                match option {
                    Some((text, _)) => eprintln!(
                        "{}: {}",
                        text.lines().next().unwrap_or_default(),
                        problem.message
                    ),
                    None => eprintln!("{path}:{line}:{column}: {}", problem.message),
                }
                if let Some(help) = &problem.help {
                    eprintln!("  help: {help}");
                }
            }
        }
    }
    let n = errors.problems.len();
    eprintln!("error: {path} has {}", counted(n, "error"));
}

/// Adapts a problem for miette.
#[derive(Debug)]
struct Shown<'a> {
    problem: &'a Problem,
    source: &'a NamedSource<String>,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.message)
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.problem.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new_with_span(None, self.problem.span.clone());
        Some(Box::new(std::iter::once(label)))
    }
}
