//! Scenes with one mistake each, and the expected message.

pub mod arms;
pub mod scenes;

use riprap_io::scene_file::SceneFile;

/// A scene with a mistake.
pub struct Case {
    /// Name of the case.
    pub name: &'static str,
    /// The scene.
    pub text: String,
    /// Line of the mistake, from 1.
    pub line: usize,
    /// Part of the message or of its advice.
    pub says: &'static str,
}

/// Each must be reported with the right message, at the right line, and alone.
#[track_caller]
pub fn check(cases: &[Case]) {
    let mut failures = String::new();
    for case in cases {
        let errors = match SceneFile::parse(&case.text, "tests/data") {
            Ok(_) => {
                failures += &format!("{}: accepted\n", case.name);
                continue;
            }
            Err(errors) => errors,
        };
        let [problem] = &errors.problems[..] else {
            failures += &format!("{}: several problems:\n{errors}\n", case.name);
            continue;
        };
        let (line, _) = errors.line_column(problem.span.start);
        if line != case.line || !errors.to_string().contains(case.says) {
            failures += &format!(
                "{}: expected line {} and \"{}\", got\n{errors}\n",
                case.name, case.line, case.says
            );
        }
        assert!(errors.text.get(problem.span.clone()).is_some(), "{}: span", case.name);
        println!("{errors}"); // `cargo test -- --nocapture` shows all messages for review
    }
    assert!(failures.is_empty(), "\n{failures}");
}
