//! Time series as CSV: a line of column names with units, then one row per output. Each row is written to the file with a
//! single write, so an interrupted run leaves complete rows, and the file can be plotted during the run.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A column: its name and unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, such as `kinetic_energy`.
    pub name: String,
    /// Unit, such as `J`; `-` for dimensionless numbers.
    pub unit: String,
}

impl Column {
    /// A column named `name` in `unit`.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into() }
    }

    /// The heading of the column, such as `kinetic_energy [J]`.
    pub fn heading(&self) -> String {
        format!("{} [{}]", self.name, self.unit)
    }
}

/// Writes a CSV file row by row.
///
/// ```
/// use riprap_io::table::{Column, TableWriter};
///
/// let path = std::env::temp_dir().join(format!("riprap-table-{}.csv", std::process::id()));
/// let mut table = TableWriter::create(&path, &[Column::new("time", "s"), Column::new("height", "m")])?;
/// table.row(&[0.0, 1.0])?;
/// table.row(&[0.1, 0.95])?;
/// assert_eq!(std::fs::read_to_string(&path)?, "time [s],height [m]\n0,1\n0.1,0.95\n");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TableWriter {
    path: PathBuf,
    file: File,
    n_columns: usize,
    line: String,
    /// Length of the file [bytes].
    length: u64,
}

impl TableWriter {
    /// Creates the file, replacing an old one, and writes the line of headings.
    pub fn create(path: impl AsRef<Path>, columns: &[Column]) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let line = headings(&path, columns)?;
        let file = OpenOptions::new().create(true).write(true).truncate(true).open(&path);
        let file = file.map_err(Error::io("write", &path))?;
        let mut writer = Self { path, file, n_columns: columns.len(), line, length: 0 };
        writer.end_line()?;
        Ok(writer)
    }

    /// Continues a file after its first `length` bytes; the rest is truncated. The headings must match `columns`.
    pub fn resume(path: impl AsRef<Path>, columns: &[Column], length: u64) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let data = |message: &str| Error::Data { path: path.clone(), message: message.to_owned() };
        let line = headings(&path, columns)? + "\n";
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let mut file = file.map_err(Error::io("open", &path))?;
        let found = file.metadata().map_err(Error::io("read", &path))?.len();
        if found < length || length < line.len() as u64 {
            return Err(data("it is shorter than it was at the checkpoint; restart the run"));
        }
        let mut first = vec![0; line.len()];
        file.read_exact(&mut first).map_err(Error::io("read", &path))?;
        if first != line.as_bytes() {
            return Err(data("its columns do not match the scene; restart the run"));
        }
        file.set_len(length).map_err(Error::io("write", &path))?;
        file.seek(SeekFrom::Start(length)).map_err(Error::io("write", &path))?;
        Ok(Self { path, file, n_columns: columns.len(), line, length })
    }

    /// Syncs all rows to disk and returns the length of the file [bytes].
    pub fn sync(&mut self) -> Result<u64, Error> {
        let synced = self.file.sync_data().and_then(|()| self.file.stream_position());
        synced.map_err(Error::io("write", &self.path))
    }

    /// Appends a row: one number per column, in the order of the columns. Numbers are written with
    /// enough digits to be read back exactly.
    pub fn row(&mut self, values: &[f64]) -> Result<(), Error> {
        self.check_count(values.len())?;
        self.line.clear();
        for value in values {
            self.number(*value);
        }
        self.end_line()
    }

    /// Appends a row with a time, names and numbers, in this order. In names, characters that would break the table are
    /// replaced by `_`.
    pub(crate) fn row_with_names(
        &mut self,
        time: f64,
        names: &[String],
        values: &[f64],
    ) -> Result<(), Error> {
        self.check_count(1 + names.len() + values.len())?;
        self.line.clear();
        self.number(time);
        for name in names {
            self.line.push(',');
            self.line.push_str(&name.replace([',', '"', '\n', '\r'], "_"));
        }
        for value in values {
            self.number(*value);
        }
        self.end_line()
    }

    fn check_count(&self, count: usize) -> Result<(), Error> {
        if count == self.n_columns {
            return Ok(());
        }
        let message = format!(
            "the number of values ({count}) differs from the number of columns ({})",
            self.n_columns
        );
        Err(Error::Data { path: self.path.clone(), message })
    }

    /// Adds a number to the line.
    fn number(&mut self, value: f64) {
        use std::fmt::Write as _;
        if !self.line.is_empty() {
            self.line.push(',');
        }
        // Very large and small numbers are written as 1e-9; both forms use the shortest digits.
        let size = value.abs();
        let _ = match size == 0.0 || (1e-4..1e15).contains(&size) || !value.is_finite() {
            true => write!(self.line, "{value}"),
            false => write!(self.line, "{value:e}"),
        };
    }

    /// Writes the line to the file at once. If only a part is written, for example because the disk is full, that part is removed.
    fn end_line(&mut self) -> Result<(), Error> {
        self.line.push('\n');
        let sent = self.file.write_all(self.line.as_bytes()).and_then(|()| self.file.flush());
        match &sent {
            Ok(()) => self.length += self.line.len() as u64,
            Err(_) => {
                let back = self.file.seek(SeekFrom::Start(self.length));
                let _ = back.and_then(|_| self.file.set_len(self.length));
            }
        }
        sent.map_err(Error::io("write", &self.path))
    }
}

/// The line of headings, without its end.
fn headings(path: &Path, columns: &[Column]) -> Result<String, Error> {
    let headings: Vec<String> = columns.iter().map(Column::heading).collect();
    for (index, heading) in headings.iter().enumerate() {
        let message = if heading.contains([',', '"', '\n', '\r']) {
            format!("the heading `{heading}` contains a comma, a quote or a line break")
        } else if headings[..index].contains(heading) {
            format!("two columns are named `{heading}`")
        } else {
            continue;
        };
        return Err(Error::Data { path: path.to_owned(), message });
    }
    Ok(headings.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("riprap-table-{}-{name}", std::process::id()))
    }

    #[test]
    fn rows_are_in_the_file_as_soon_as_they_are_written() {
        let path = path("series.csv");
        let columns =
            [Column::new("time", "s"), Column::new("kinetic_energy", "J"), Column::new("n", "-")];
        let mut table = TableWriter::create(&path, &columns).unwrap();
        let values = [0.1, -1.0 / 3.0 * 1e-7, 5000.0];
        table.row(&values).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("time [s],kinetic_energy [J],n [-]"));
        let row: Vec<f64> = lines.next().unwrap().split(',').map(|x| x.parse().unwrap()).collect();
        assert_eq!(row, values);
        assert!(text.ends_with("e-8,5000\n"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_table_is_continued_only_if_it_is_the_same() {
        let path = path("resumed.csv");
        let columns = [Column::new("time", "s")];
        let mut table = TableWriter::create(&path, &columns).unwrap();
        table.row(&[1.0]).unwrap();
        let length = table.sync().unwrap();
        table.row(&[2.0]).unwrap();
        let mut table = TableWriter::resume(&path, &columns, length).unwrap();
        table.row(&[3.0]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "time [s]\n1\n3\n");
        for (columns, length, what) in [
            (&[Column::new("tame", "s")], length, "columns do not match"),
            (&columns, 1000, "shorter"),
            (&columns, 3, "shorter"),
        ] {
            let error = TableWriter::resume(&path, columns, length).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn rows_and_headings_that_would_break_the_table_are_rejected() {
        let path = path("bad.csv");
        let mut table = TableWriter::create(&path, &[Column::new("time", "s")]).unwrap();
        assert!(
            table
                .row(&[1.0, 2.0])
                .unwrap_err()
                .to_string()
                .contains("the number of values (2) differs")
        );
        for columns in
            [vec![Column::new("a,b", "m")], vec![Column::new("a", "m"), Column::new("a", "m")]]
        {
            assert!(TableWriter::create(&path, &columns).is_err());
        }
        std::fs::remove_file(path).unwrap();
        let missing = Path::new("no/such/folder/series.csv");
        assert!(
            TableWriter::create(missing, &[]).unwrap_err().to_string().contains("cannot write")
        );
    }

    #[test]
    fn numbers_are_short_and_exact() {
        let path = path("forms.csv");
        let mut table = TableWriter::create(&path, &[Column::new("x", "m")]).unwrap();
        let forms = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1e-4, "0.0001"),
            (9.99e-5, "9.99e-5"),
            (1e15, "1e15"),
            (999_999_999_999_999.0, "999999999999999"),
            (0.1 + 0.2, "0.30000000000000004"),
            (-1e-300, "-1e-300"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, _) in forms {
            table.row(&[value]).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines, forms.map(|(_, form)| form));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_rejected_row_leaves_the_file_unchanged() {
        let path = path("refused.csv");
        let columns = [Column::new("a", "m"), Column::new("b", "m")];
        let mut table = TableWriter::create(&path, &columns).unwrap();
        table.row(&[1.0, 2.0]).unwrap();
        let length = table.sync().unwrap();
        assert_eq!(length, std::fs::metadata(&path).unwrap().len());
        for row in [&[][..], &[1.0], &[1.0, 2.0, 3.0]] {
            assert!(table.row(row).is_err());
            assert_eq!(table.sync().unwrap(), length);
        }
        table.row(&[3.0, 4.0]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a [m],b [m]\n1,2\n3,4\n");
        std::fs::remove_file(path).unwrap();
    }

    mod properties {
        use super::*;
        use proptest::prelude::*;

        proptest! {
            #[test]
            fn every_number_is_read_back_unchanged(value in any::<f64>()) {
                let path = path("round-trip.csv");
                let mut table = TableWriter::create(&path, &[Column::new("x", "m")]).unwrap();
                table.row(&[value]).unwrap();
                let text = std::fs::read_to_string(&path).unwrap();
                std::fs::remove_file(&path).unwrap();
                let again: f64 = text.lines().nth(1).unwrap().parse().unwrap();
                prop_assert!(again == value || (again.is_nan() && value.is_nan()));
            }
        }
    }
}
