//! `cargo xtask count`: lines of code and of tests per crate.
//!
//! Items and modules with `#[cfg(test)]`, files in a folder `tests`, and files named `tests.rs` or `…_tests.rs` are tests;
//! the rest is code; the same holds for Python files. Blank lines and lines with only a comment or documentation are not counted, nor are examples,
//! criterion benchmarks and the programs in `benches/`.

use crate::source::Source;
use crate::{files, read};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The crate of the validation cases, which `riprap validate` runs.
const VALIDATION: &str = "validation";
/// The crate of the Python package: declarations of classes, whose tests are in Python and in docstrings.
const PYTHON: &str = "riprap-py";

/// Lines of code and of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Code.
    pub code: usize,
    /// Tests.
    pub tests: usize,
}

impl Lines {
    /// Lines of tests per line of code [–].
    pub fn ratio(self) -> f64 {
        self.tests as f64 / self.code.max(1) as f64
    }

    fn add(&mut self, other: Lines) {
        self.code += other.code;
        self.tests += other.tests;
    }
}

/// Line counts of a workspace.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// Name and lines of each crate.
    pub crates: Vec<(String, Lines)>,
}

impl Count {
    /// Counts the crates in `crates/` and `xtask`.
    pub fn of(root: &Path) -> Result<Count, String> {
        let folder = root.join("crates");
        let mut members: Vec<PathBuf> = std::fs::read_dir(&folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        members.retain(|path| path.join("Cargo.toml").is_file());
        members.sort();
        members.push(root.join("xtask"));
        let mut crates = Vec::new();
        for member in members {
            let name = member.file_name().unwrap_or_default().to_string_lossy().into_owned();
            crates.push((name, count_crate(&member)?));
        }
        Ok(Count { crates })
    }

    /// Total of all crates; the code of `validation` counts as code.
    pub fn total(&self) -> Lines {
        let mut total = Lines::default();
        self.crates.iter().for_each(|(_, lines)| total.add(*lines));
        total
    }

    /// Total of all crates except `validation`, and except `riprap-py`, whose tests are Python.
    pub fn total_without_validation(&self) -> Lines {
        let mut total = Lines::default();
        let others = self.crates.iter().filter(|(name, _)| name != VALIDATION && name != PYTHON);
        others.for_each(|(_, lines)| total.add(*lines));
        total
    }

    /// Total of all crates; the whole crate `validation` counts as tests.
    pub fn total_with_validation(&self) -> Lines {
        let mut total = Lines::default();
        for (name, lines) in &self.crates {
            total.add(match name == VALIDATION {
                true => Lines { code: 0, tests: lines.code + lines.tests },
                false => *lines,
            });
        }
        total
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        writeln!(f, "Lines without blank lines, comments, examples and benchmarks.\n")?;
        writeln!(f, "{:<32}{:>8}{:>8}{:>14}", "crate", "code", "tests", "tests : code")?;
        let total = ("total".to_owned(), self.total());
        let with = (format!("total, {VALIDATION} as tests"), self.total_with_validation());
        let without = (format!("without {VALIDATION}, {PYTHON}"), self.total_without_validation());
        for (name, lines) in self.crates.iter().chain([&total, &without, &with]) {
            let Lines { code, tests } = *lines;
            writeln!(f, "{name:<32}{code:>8}{tests:>8}{:>14.2}", lines.ratio())?;
        }
        Ok(())
    }
}

/// Counts one crate.
fn count_crate(folder: &Path) -> Result<Lines, String> {
    let mut sources = Vec::new();
    let mut test_files = BTreeSet::new();
    for path in files(folder, "rs")? {
        let inside = path.strip_prefix(folder).unwrap_or(&path).to_owned();
        if inside.starts_with("examples") || inside.starts_with("benches") {
            continue;
        }
        let source =
            Source::read(&read(&path)?).map_err(|error| format!("{}, {error}", path.display()))?;
        test_files.extend(source.test_modules.iter().map(|name| module(&path, name)));
        sources.push((path, inside, source));
    }
    let mut lines = Lines::default();
    for (path, inside, source) in &sources {
        let module = path.with_extension("");
        let all = is_test_file(inside) || test_files.iter().any(|test| module.starts_with(test));
        for line in &source.code {
            match all || source.is_test(*line) {
                true => lines.tests += 1,
                false => lines.code += 1,
            }
        }
    }
    for path in files(folder, "py")? {
        let inside = path.strip_prefix(folder).unwrap_or(&path);
        let text = read(&path)?;
        let counts = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
        let n = text.lines().filter(counts).count();
        match is_test_file(inside) {
            true => lines.tests += n,
            false => lines.code += n,
        }
    }
    Ok(lines)
}

/// The path of the module `name` declared in a file, without `.rs`; also the folder of its submodules.
fn module(declared_in: &Path, name: &str) -> PathBuf {
    let stem = declared_in.file_stem().unwrap_or_default();
    let root = stem == "mod" || stem == "lib" || stem == "main";
    match root {
        true => declared_in.with_file_name(name),
        false => declared_in.with_extension("").join(name),
    }
}

fn is_test_file(inside: &Path) -> bool {
    let stem = inside.file_stem().unwrap_or_default().to_string_lossy();
    let folders = inside.parent().unwrap_or(Path::new(""));
    folders.iter().any(|folder| folder == "tests") || stem == "tests" || stem.ends_with("_tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minimum lines of tests per line of code, without the crates `validation` and `riprap-py` [–].
    const LEAST_RATIO: f64 = 0.6;

    #[test]
    fn there_is_enough_test_code() {
        let count = Count::of(crate::root()).unwrap();
        let ratio = count.total_without_validation().ratio();
        assert!(ratio >= LEAST_RATIO, "tests : code = {ratio:.3} < {LEAST_RATIO}\n{count}");
    }

    #[test]
    fn tests_are_distinguished_from_code_by_path_and_attribute() {
        let folder = std::env::temp_dir().join(format!("riprap-xtask-{}", std::process::id()));
        for (name, text) in [
            ("src/lib.rs", "//! A.\n\nmod a;\n#[cfg(test)]\nmod checks;\n"), // 1 code, 2 tests
            ("src/checks.rs", "fn one() {}\n"),                              // 1 test
            ("src/checks/deep.rs", "fn one() {}\n"),                         // 1 test
            ("src/a.rs", "fn f() {\n}\n// no\n#[cfg(test)]\nmod t {\n}\n"),  // 2 code, 3 tests
            ("src/a_tests.rs", "fn one() {}\n"),                             // 1 test
            ("tests/all.rs", "fn one() {}\n"),                               // 1 test
            ("tests/test_all.py", "# no\n\nassert True\n"),                  // 1 test
            ("python/all.py", "one = 1\n"),                                  // 1 code
            ("examples/e.rs", "fn one() {}\n"),
            ("benches/b.rs", "fn one() {}\n"),
        ] {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let lines = count_crate(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(lines.unwrap(), Lines { code: 4, tests: 10 });
    }

    #[test]
    fn validation_counts_as_tests_in_the_second_total_only() {
        let lines = |code, tests| Lines { code, tests };
        let crates = vec![("riprap".into(), lines(100, 30)), (VALIDATION.into(), lines(40, 10))];
        let count = Count { crates };
        assert_eq!(count.total(), lines(140, 40));
        assert_eq!(count.total_with_validation(), lines(100, 80));
        let text = count.to_string();
        assert!(text.contains("total, validation as tests") && text.contains("0.80"), "{text}");
    }
}
