//! `series.csv` of a run: columns with units, and names with wildcards.

use std::path::Path;

use riprap_io::Error;
use riprap_io::table::Column;

use crate::files::{format, text};

/// The series of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Names and units; the first is the time.
    pub columns: Vec<Column>,
    /// The values of each column.
    pub values: Vec<Vec<f64>>,
}

impl Series {
    /// Reads `series.csv` in the folder of a run. A row that is being written is left out.
    pub fn read(folder: &Path) -> Result<Series, Error> {
        let path = folder.join("series.csv");
        Series::parse(&text(&path)?).map_err(|message| format(&path, message))
    }

    fn parse(text: &str) -> Result<Series, String> {
        let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let Some(header) = lines.next() else {
            return Err("it has no line of headings; is the run still starting?".into());
        };
        let columns: Vec<Column> = header.trim_end().split(',').map(column).collect();
        if columns[0].name != "time" {
            return Err(format!("its first column is `{}`, not `time [s]`", columns[0].name));
        }
        let mut values = vec![Vec::new(); columns.len()];
        for (number, line) in lines.enumerate() {
            let row: Result<Vec<f64>, _> = line.trim_end().split(',').map(str::parse).collect();
            match row {
                Ok(row) if row.len() == columns.len() => {
                    values.iter_mut().zip(row).for_each(|(list, value)| list.push(value));
                }
                _ => return Err(format!("line {} is not a row of numbers", number + 2)),
            }
        }
        Ok(Series { columns, values })
    }

    /// Times of the rows [s].
    pub fn times(&self) -> &[f64] {
        self.values.first().map_or(&[], Vec::as_slice)
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let index = self.columns.iter().position(|column| column.name == name)?;
        Some(&self.values[index])
    }

    /// Numbers of the columns, except the time, whose names match a pattern with `*` and `?`.
    pub fn select(&self, pattern: &str) -> Vec<usize> {
        (1..self.columns.len()).filter(|k| matches(pattern, &self.columns[*k].name)).collect()
    }
}

fn column(heading: &str) -> Column {
    match heading.strip_suffix(']').and_then(|rest| rest.rsplit_once(" [")) {
        Some((name, unit)) => Column::new(name, unit),
        None => Column::new(heading, "-"),
    }
}

/// Whether a name matches a pattern, in which `*` stands for any letters and `?` for one.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where the last `*` stands, and the end of what it covers.
    let mut star = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
        } else if pattern.get(p).is_some_and(|c| *c == '?' || *c == name[n]) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((at, end)) = star {
            star = Some((at, end + 1));
            (p, n) = (at + 1, end + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// A number with at most this many significant digits, without trailing zeros.
pub fn short(value: f64, digits: usize) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let (text, exponent) = if (1e-3..1e6).contains(&size) {
        let decimals = (digits as i32 - 1 - size.log10().floor() as i32).max(0) as usize;
        (format!("{value:.decimals$}"), String::new())
    } else {
        let text = format!("{value:.*e}", digits - 1);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        (mantissa.to_owned(), format!("e{exponent}"))
    };
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text}{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_being_written_is_left_out() {
        let series = Series::parse("time [s],a b.x [N m],n\n0,1,2\n0.5,-3e-4,4\n1,2").unwrap();
        assert_eq!(series.columns[1], Column::new("a b.x", "N m"));
        assert_eq!(series.columns[2], Column::new("n", "-"));
        assert_eq!(series.times(), [0.0, 0.5]);
        assert_eq!(series.column("a b.x"), Some(&[1.0, -3e-4][..]));
    }

    #[test]
    fn files_that_are_not_series_are_rejected() {
        for (text, word) in [
            ("", "headings"),
            ("time [s]", "headings"),
            ("a\n", "`a`"),
            ("time [s]\nx\n", "line 2"),
        ] {
            let error = Series::parse(text).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn patterns_match_names() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*energy", "kinetic_energy", true),
            ("blade.*_x", "blade.force_mean_x", true),
            ("blade.*_x", "blade.force_mean_y", false),
            ("q?", "q1", true),
            ("q?", "q12", false),
            ("a*b*c", "a__b_b__c", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 1.25, 0.30000000000000004, 123456.7, 1.5e-7, 2e9].map(|x| short(x, 4));
        assert_eq!(texts, ["0", "1.25", "0.3", "123457", "1.5e-7", "2e9"]);
    }

    #[test]
    fn headings_without_a_unit_and_hostile_ones_are_names() {
        let columns = |text: &str| Series::parse(text).unwrap().columns;
        let found = columns("time [s],plain,a [b] [m],[N],x [],y [m\r\n");
        let expected =
            [("time", "s"), ("plain", "-"), ("a [b]", "m"), ("[N]", "-"), ("x", ""), ("y [m", "-")];
        let expected: Vec<Column> = expected.iter().map(|(n, u)| Column::new(*n, *u)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn values_that_are_not_finite_are_read_and_rows_of_other_lengths_are_not() {
        let series = Series::parse("time [s],x [m]\n0,NaN\n1,inf\n2,-inf\n3,1e999\n").unwrap();
        let x = series.column("x").unwrap();
        assert!(x[0].is_nan() && x[1] == f64::INFINITY && x[2] == f64::NEG_INFINITY);
        assert_eq!(x[3], f64::INFINITY);
        for (row, line) in
            [("0\n", 2), ("0,1,2\n", 2), ("0,1\n\n", 3), ("0,1\n1,\n", 3), ("0,0x1\n", 2)]
        {
            let error = Series::parse(&format!("time [s],x [m]\n{row}")).unwrap_err();
            assert!(error.contains(&format!("line {line}")), "{row:?}: {error}");
        }
        let empty = Series::parse("time [s],x [m]\n").unwrap();
        assert!(empty.times().is_empty() && empty.column("x") == Some(&[][..]));
        assert_eq!(empty.column("y"), None);
    }

    #[test]
    fn selections_leave_out_the_time() {
        let series = Series::parse("time [s],arm.q [rad],arm.v [rad/s],q [m]\n").unwrap();
        for (pattern, expected) in [
            ("*", &[1, 2, 3][..]),
            ("time", &[]),
            ("arm.*", &[1, 2]),
            ("*q", &[1, 3]),
            ("?", &[3]),
            ("ARM.q", &[]),
            ("", &[]),
            ("**.**", &[1, 2]),
        ] {
            assert_eq!(series.select(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_no_exponential_time() {
        let name = "a".repeat(5000);
        let pattern = format!("{}b", "a*".repeat(500));
        assert!(!matches(&pattern, &name));
        assert!(matches(&"*".repeat(5000), &name));
        assert!(matches("*ß?", "größe-ßü") && !matches("ß", "ss"));
    }

    #[test]
    fn short_numbers_are_near_their_value() {
        for k in -320..308 {
            for mantissa in [1.0, 1.5, 9.9996, 2.0 / 3.0] {
                let value = mantissa * 10.0_f64.powi(k);
                let read: f64 = short(-value, 4).parse().unwrap();
                assert!((read + value).abs() <= 6e-4 * value + 5e-324, "{value} {read}");
            }
        }
        let texts = [f64::NAN, f64::INFINITY, -0.0, -2.5e-10, 1e6, 999_999.0].map(|x| short(x, 3));
        assert_eq!(texts, ["NaN", "inf", "-0", "-2.5e-10", "1e6", "999999"]);
    }
}
