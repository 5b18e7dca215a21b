//! Formatting of numbers, counts and tables, and output to the standard streams.

use std::fmt;
use std::io::{self, Write};
use std::sync::Mutex;

/// The first error of standard output, if any.
static REFUSED: Mutex<Option<io::Error>> = Mutex::new(None);

/// Prints to standard output. After an error nothing more is printed; [`outcome`] reports the error at the end of the command.
pub fn print(text: &str) {
    let mut refused = REFUSED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if refused.is_some() {
        return;
    }
    let mut out = io::stdout().lock();
    *refused = out.write_all(text.as_bytes()).and_then(|()| out.flush()).err();
}

/// Whether the reader of standard output has closed the pipe.
pub fn closed() -> bool {
    let refused = REFUSED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    refused.as_ref().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Returns the error of standard output, if any. A closed pipe (`riprap … | head`) is not an error.
pub fn outcome() -> Result<(), String> {
    let mut refused = REFUSED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    match refused.take() {
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!(
            "cannot write to standard output: {error}; the printed output is incomplete"
        )),
        _ => Ok(()),
    }
}

/// Prints a line to standard error. Errors are ignored because they cannot be reported.
pub fn tell(line: fmt::Arguments) {
    let mut out = io::stderr().lock();
    let _ = writeln!(out, "{line}");
}

/// Formats a number with up to six significant digits.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    if !(1e-3..1e6).contains(&size) {
        let text = format!("{value:.3e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", shortened(digits));
    }
    let decimals = (5 - size.log10().floor() as i32).clamp(0, 8) as usize;
    shortened(&format!("{value:.decimals$}")).to_owned()
}

/// A count and its noun, in the plural unless the count is 1: `1 step`, `2 steps`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", plural(count))
}

/// The plural ending of a noun after a count.
pub fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Formats a count with digits in groups of three: 5 213.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Removes trailing zeros of the fraction.
fn shortened(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

/// Formats rows with aligned columns: those listed in `right` are right-aligned, the others left-aligned.
pub fn table(rows: &[Vec<String>], right: &[usize]) -> String {
    let n = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |k: usize| {
        rows.iter().filter_map(|row| row.get(k)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::from(" ");
        for (k, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[k] - cell.chars().count());
            line += &match right.contains(&k) {
                true => format!(" {pad}{cell} "),
                false => format!(" {cell}{pad} "),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_followed_by_singular_or_plural() {
        let steps = [0, 1, 2].map(|n| counted(n, "step"));
        assert_eq!(steps, ["0 steps", "1 step", "2 steps"]);
    }

    #[test]
    fn digits_are_in_groups_of_three() {
        assert_eq!(
            [0, 12, 999, 5213, 1_000_000].map(grouped),
            ["0", "12", "999", "5 213", "1 000 000"]
        );
    }

    #[test]
    fn numbers_are_short_and_keep_six_significant_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-0.125, "-0.125"),
            (3.602254321, "3.60225"),
            (1e-12, "1e-12"),
            (9.996e-5, "9.996e-5"),
            (123456.7, "123457"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn tables_are_aligned() {
        let rows = [vec!["a".into(), "1".into()], vec!["bcd".into(), "10".into()]];
        assert_eq!(table(&rows, &[1]), "  a     1\n  bcd  10\n");
    }
}
