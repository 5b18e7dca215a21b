//! Mistakes in a scene file, each with its location in the text. They are collected rather than returned one at a time.
//! The command line shows a [`Problem`] as a labelled excerpt: `span` is the label, `help` the advice.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

/// One mistake in a scene file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Byte range in [`SceneErrors::text`]; empty at the start of the file if there is no specific location.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it, if known.
    pub help: Option<String>,
}

impl Problem {
    /// A mistake at `span`, without advice.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Maximum number of reported mistakes; more would bury the first ones.
const MAX_PROBLEMS: usize = 200;

/// The problems found so far.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<Problem>,
}

impl Problems {
    pub fn add(&mut self, problem: Problem) {
        if self.list.len() < MAX_PROBLEMS {
            self.list.push(problem);
        }
    }

    pub fn report(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.add(Problem::new(span, message));
    }

    pub fn advise(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(Problem::new(span, message).with_help(help));
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether further problems would not be reported.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MAX_PROBLEMS
    }

    /// The problems in file order, without duplicates.
    pub fn into_sorted(mut self) -> Vec<Problem> {
        self.list.sort_by_key(|problem| problem.span.start);
        self.list.dedup();
        self.list
    }
}

/// All mistakes in a scene file, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SceneErrors {
    /// The path of the scene file, as given by the caller; empty if the scene was not read from a file.
    pub path: PathBuf,
    /// The text of the file, followed by a line for each option that sets a key; empty if it could not be read.
    pub text: String,
    /// Where the options begin in the text, if there are any.
    pub options: Option<usize>,
    /// The mistakes; never empty.
    pub problems: Vec<Problem>,
}

impl SceneErrors {
    /// The option that a place in the text belongs to, such as `--set run.dt=1`, and where it begins; `None` for places in the file.
    pub fn option_at(&self, offset: usize) -> Option<(&str, usize)> {
        let begin = self.options.filter(|begin| *begin <= offset)?;
        let begin =
            self.text.get(begin..offset)?.rfind("\n--set ").map_or(begin, |k| begin + k + 1);
        let rest = &self.text[begin..];
        Some((&rest[..rest.find("\n--set ").unwrap_or(rest.len())], begin))
    }

    /// Line and column of a byte offset, both from 1; the column counts characters.
    ///
    /// An offset beyond the text is moved to its end, and an offset inside a character to the start of that character.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }
}

impl fmt::Display for SceneErrors {
    /// One line per mistake, `path:line:column: message`, followed by its advice.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.path.as_os_str().is_empty() {
            true => "scene".into(),
            false => self.path.display().to_string(),
        };
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            if let Some((option, _)) = self.option_at(problem.span.start) {
                write!(f, "{option}: {}", problem.message)?;
            } else if self.text.is_empty() {
                write!(f, "{name}: {}", problem.message)?;
            } else {
                let (line, column) = self.line_column(problem.span.start);
                write!(f, "{name}:{line}:{column}: {}", problem.message)?;
            }
            if let Some(help) = &problem.help {
                write!(f, "\n  help: {help}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for SceneErrors {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let errors = SceneErrors {
            path: "scene.toml".into(),
            text: "a = 1\nµ = \"é\"\n".into(),
            problems: vec![Problem::new(12..15, "wrong").with_help("right")],
            options: None,
        };
        assert_eq!(errors.line_column(0), (1, 1));
        assert_eq!(errors.line_column(6), (2, 1));
        assert_eq!(errors.line_column(7), (2, 1)); // inside the two bytes of µ
        assert_eq!(errors.line_column(12), (2, 6));
        assert_eq!(errors.line_column(1000), (3, 1));
        assert_eq!(errors.to_string(), "scene.toml:2:6: wrong\n  help: right");
    }
}
