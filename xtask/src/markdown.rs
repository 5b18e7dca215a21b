//! Checks the text of pages of the book for control characters and malformed formulas.
//!
//! Formulas are delimited by `\\(…\\)` and `\\[…\\]`, as in mdBook. Markdown removes one backslash before any punctuation, so
//! inside a formula `\\,` stands for the `\,` of LaTeX.

/// A problem on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line, counted from 1.
    pub line: usize,
    /// What is wrong and how to fix it.
    pub message: String,
}

/// Opening and closing delimiters of formulas.
const DELIMITERS: [(&str, &str); 2] = [(r"\\(", r"\\)"), (r"\\[", r"\\]")];

/// A formula of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// The LaTeX source, after Markdown has removed backslashes.
    pub latex: String,
    /// Whether it is a display formula, `\\[…\\]`, rather than an inline formula, `\\(…\\)`.
    pub display: bool,
}

/// Replaces every formula of a page outside code with the result of `render`.
pub fn replace_formulas(page: &str, mut render: impl FnMut(&Formula) -> String) -> String {
    let (mut text, mut rest, mut fenced) = (String::with_capacity(page.len()), page, false);
    while !rest.is_empty() {
        let line_begins = text.is_empty() || text.ends_with('\n');
        let fence = line_begins && rest.trim_start_matches(' ').starts_with("```");
        fenced ^= fence;
        if fence || fenced {
            let line = rest.find('\n').map_or(rest.len(), |end| end + 1);
            text.push_str(&rest[..line]);
            rest = &rest[line..];
            continue;
        }
        // Code in backticks is copied unchanged; an unpaired backtick is an ordinary character.
        if let Some(code) = rest.strip_prefix('`') {
            let end = code.find('`').map_or(1, |end| end + 2);
            text.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let found = DELIMITERS.iter().find_map(|(open, close)| {
            let (latex, after) = rest.strip_prefix(open)?.split_once(close)?;
            Some((Formula { latex: unescaped(latex), display: *open == DELIMITERS[1].0 }, after))
        });
        if let Some((formula, after)) = found {
            text.push_str(&render(&formula));
            rest = after;
            continue;
        }
        let next = rest.chars().next().map_or(0, char::len_utf8);
        text.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    text
}

/// Removes the backslashes that Markdown removes: one before each punctuation character.
fn unescaped(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut chars = markdown.chars().peekable();
    while let Some(c) = chars.next() {
        let taken = c == '\\' && chars.peek().is_some_and(char::is_ascii_punctuation);
        text.push(if taken { chars.next().unwrap_or(c) } else { c });
    }
    text
}

/// Finds the problems of a page.
pub fn problems(page: &str) -> Vec<Problem> {
    let mut problems = control_characters(page);
    let plain = without_code(page);
    let mut line = 1;
    for paragraph in plain.split("\n\n") {
        let mut found = formulas(paragraph);
        found.extend(dollars(paragraph));
        found.iter_mut().for_each(|problem| problem.line += line - 1);
        problems.extend(found);
        line += paragraph.matches('\n').count() + 2;
    }
    problems.sort_by_key(|problem| problem.line);
    problems
}

fn control_characters(page: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, text) in page.split('\n').enumerate() {
        for c in text.chars().filter(|c| c.is_control() || *c == '\u{feff}') {
            let message = format!("control character U+{:04X}", u32::from(c));
            problems.push(Problem { line: line + 1, message });
        }
    }
    problems
}

/// Replaces code, in fences or backticks, with spaces; line numbers are preserved.
pub(crate) fn without_code(page: &str) -> String {
    let (mut text, mut fenced) = (String::new(), false);
    for line in page.split('\n') {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if !fenced && !fence {
            let mut inside = false;
            text.extend(line.chars().map(|c| {
                inside ^= c == '`';
                if inside || c == '`' { ' ' } else { c }
            }));
        } else {
            // Not an empty line, which would end the paragraph.
            text.push(' ');
        }
        text.push('\n');
    }
    text.pop();
    text
}

/// Checks that the formulas of a paragraph are closed, have balanced braces and environments, and keep their backslashes in Markdown.
fn formulas(paragraph: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let line_at = |at: usize| 1 + paragraph[..at].matches('\n').count();
    let mut at = 0;
    while let Some(found) = paragraph[at..].find('\\') {
        let start = at + found;
        let rest = &paragraph[start..];
        let mut report = |message: String| problems.push(Problem { line: line_at(start), message });
        if let Some((open, close)) = DELIMITERS.iter().find(|(open, _)| rest.starts_with(open)) {
            let inner = &rest[open.len()..];
            let Some(end) = inner.find(close) else {
                report(format!("the formula is not closed by `{close}`"));
                return problems;
            };
            problems.extend(formula(&inner[..end], line_at(start)));
            at = start + open.len() + end + close.len();
            continue;
        }
        if let Some((_, close)) = DELIMITERS.iter().find(|(_, close)| rest.starts_with(close)) {
            report(format!("`{close}` does not close a formula"));
        } else if let Some(c @ ('(' | ')' | '[' | ']')) = rest[1..].chars().next() {
            report(format!(r"`\{c}` is not a formula delimiter; write `\\{c}`"));
        }
        at = start + rest.len() - rest.trim_start_matches('\\').len();
    }
    problems
}

/// Checks the text between the delimiters of a formula that starts on line `first_line`.
fn formula(text: &str, first_line: usize) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut report = |line: usize, message: String| problems.push(Problem { line, message });
    let (mut depth, mut line, mut backslashes) = (0i32, first_line, 0);
    for c in text.chars() {
        let escaped = backslashes > 0;
        match c {
            '{' if !escaped => depth += 1,
            '}' if !escaped => depth -= 1,
            '\n' => line += 1,
            _ => {}
        }
        if backslashes % 2 == 1 && c.is_ascii_punctuation() && c != '\\' {
            report(line, format!(r"Markdown removes the backslash of `\{c}`; write `\\{c}`"));
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
    }
    if depth != 0 {
        report(first_line, "unbalanced braces in a formula".into());
    }
    for (open, close) in [(r"\begin", r"\end"), (r"\left", r"\right"), (r"\bigl", r"\bigr")] {
        // `\leftarrow` is an arrow.
        let count = |word: &str| {
            text.match_indices(word)
                .filter(|(at, _)| {
                    !text[at + word.len()..].starts_with(|c: char| c.is_ascii_alphabetic())
                })
                .count()
        };
        if count(open) != count(close) {
            report(first_line, format!("unbalanced `{open}` and `{close}` in a formula"));
        }
    }
    problems
}

/// Checks that dollar signs in a paragraph come in pairs.
fn dollars(paragraph: &str) -> Option<Problem> {
    let at = paragraph.rfind('$')?;
    let odd = !paragraph.matches('$').count().is_multiple_of(2);
    let line = 1 + paragraph[..at].matches('\n').count();
    odd.then(|| Problem { line, message: "unpaired `$`".into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_problems(page: &str, expected: &[(usize, &str)]) {
        let found = problems(page);
        assert_eq!(found.len(), expected.len(), "{page:?}: {found:?}");
        for (problem, (line, part)) in found.iter().zip(expected) {
            assert!(problem.line == *line && problem.message.contains(part), "{problem:?}");
        }
    }

    #[test]
    fn every_page_of_the_repository_is_free_of_problems() {
        let mut told = Vec::new();
        for path in crate::files(crate::root(), "md").unwrap() {
            let inside = path.strip_prefix(crate::root()).unwrap_or(&path).display();
            for problem in problems(&crate::read(&path).unwrap()) {
                told.push(format!("{inside}:{}: {}", problem.line, problem.message));
            }
        }
        assert!(told.is_empty(), "{}", told.join("\n"));
    }

    #[test]
    fn every_decision_record_has_a_status_and_four_parts() {
        let root = crate::root();
        for path in crate::files(&root.join("docs/adr"), "md").unwrap() {
            let (name, text) = (path.display(), crate::read(&path).unwrap());
            let status = text.lines().find_map(|line| line.strip_prefix("Status: "));
            let status = status.unwrap_or_else(|| panic!("{name}: no line `Status: …`"));
            assert!(
                status == "accepted" || status.starts_with("superseded by "),
                "{name}: {status}"
            );
            let parts: Vec<&str> =
                text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
            assert_eq!(parts, ["Context", "Decision", "Evidence", "Consequences"], "{name}");
        }
    }

    #[test]
    fn control_characters_are_reported_with_their_line() {
        assert_problems("a\nb\tc\r\n", &[(2, "U+0009"), (2, "U+000D")]);
        assert_problems("\\\\(\u{b}arphi\\\\)", &[(1, "U+000B")]);
    }

    #[test]
    fn valid_formulas_and_code_pass() {
        assert_problems(
            "with \\\\(v=(\\dot x,\\omega)\\\\),\n\n\\\\[ a\\\\,b \\tag{1} \\\\]\n",
            &[],
        );
        let matrix =
            "\\\\[ \\begin{bmatrix} a\\\\\\\\ b\\end{bmatrix} \\leftarrow \\\\{1\\\\} \\\\]";
        assert_problems(matrix, &[]);
        assert_problems(
            "`$HOME` and `\\(`\n\n```sh\necho $PATH \\[\n\n```\n\n$a$ and $$b$$\n",
            &[],
        );
    }

    #[test]
    fn formulas_are_replaced_only_outside_code() {
        let page =
            "a \\\\(x\\\\,y\\\\) `\\\\(b\\\\)` µ\n```\n\\\\(c\\\\)\n```\n\\\\[z\\\\\\\\ w\\\\]`";
        let mut found = Vec::new();
        let text = replace_formulas(page, |formula| {
            found.push(formula.clone());
            "F".into()
        });
        assert_eq!(text, "a F `\\\\(b\\\\)` µ\n```\n\\\\(c\\\\)\n```\nF`");
        let formula = |latex: &str, display| Formula { latex: latex.into(), display };
        assert_eq!(found, [formula("x\\,y", false), formula("z\\\\ w", true)]);
    }

    #[test]
    fn formulas_broken_by_markdown_are_found() {
        assert_problems("a\n\n\\(x\\)", &[(3, "write `\\\\(`"), (3, "write `\\\\)`")]);
        assert_problems("\\\\(x\n\nend", &[(1, "not closed")]);
        assert_problems("x\\\\)", &[(1, "does not close a formula")]);
        assert_problems("\\\\(a\\,b\\\\)", &[(1, "backslash of `\\,`")]);
        assert_problems("\\\\(\n\\frac{a}{b\\\\)", &[(1, "braces")]);
        assert_problems("\\\\[ \\begin{aligned} a \\\\]", &[(1, "`\\begin`")]);
        assert_problems("costs $5", &[(1, "unpaired")]);
    }
}
