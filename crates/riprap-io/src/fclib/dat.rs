//! Contact problems in the text format of Siconos (`.dat`): dimension, number of contacts, kind of
//! storage of `W` (0 dense, 1 blocks, 2 sparse), `W`, `q`, `μ`.

use std::fmt::Write;
use std::path::Path;

use riprap::friction::{ContactProblem, Delassus, Law};

use super::matrix::Sparse;
use crate::regular::read_limited;
use crate::{Error, Place, write_whole};

/// Maximum file size [bytes].
const MAX_BYTES: u64 = 1 << 32;

/// The numbers of a problem.
pub(super) struct Parts {
    pub dim: usize,
    pub w: Sparse,
    pub q: Vec<f64>,
    pub mu: Vec<f64>,
}

/// Words of a text with the lines they are on.
struct Words<'a> {
    path: &'a Path,
    words: Vec<(usize, &'a str)>,
    next: usize,
}

impl<'a> Words<'a> {
    fn error(&self, message: impl Into<String>) -> Error {
        let at = self.next.saturating_sub(1).min(self.words.len().saturating_sub(1));
        let line = self.words.get(at).map_or(1, |(line, _)| *line);
        Error::format(self.path, Place::Line(line), message.into())
    }

    fn word(&mut self) -> Result<&'a str, Error> {
        let word = self.words.get(self.next).map(|(_, word)| *word);
        self.next += 1;
        word.ok_or_else(|| self.error("the file ends before the problem is complete"))
    }

    fn real(&mut self) -> Result<f64, Error> {
        let word = self.word()?;
        let value = word.parse::<f64>().ok().filter(|x| x.is_finite());
        value.ok_or_else(|| self.error(format!("`{word}` is not a finite number")))
    }

    fn count(&mut self) -> Result<usize, Error> {
        let word = self.word()?;
        let value = word.parse::<usize>().ok().filter(|n| *n <= i32::MAX as usize);
        value.ok_or_else(|| self.error(format!("`{word}` is not a count")))
    }

    fn index(&mut self, n: usize) -> Result<usize, Error> {
        let k = self.count()?;
        if k < n { Ok(k) } else { Err(self.error(format!("index {k} is not within 0 … {n}"))) }
    }

    /// The count after the next word of this name.
    fn after(&mut self, name: &str) -> Result<usize, Error> {
        while self.word()? != name {}
        let text = self.word()?.trim_end_matches(',');
        let count = text.parse::<usize>().ok();
        count.ok_or_else(|| self.error(format!("`{text}` is not a count")))
    }

    /// As many numbers as the rest of the file may hold.
    fn reals(&mut self, n: usize) -> Result<Vec<f64>, Error> {
        self.holds(n)?;
        (0..n).map(|_| self.real()).collect()
    }

    fn holds(&self, n: usize) -> Result<(), Error> {
        match self.words.len().saturating_sub(self.next) >= n {
            true => Ok(()),
            false => Err(self.error("the file ends before the problem is complete")),
        }
    }
}

/// Reads the numbers of a problem.
pub(super) fn read(path: &Path) -> Result<Parts, Error> {
    let bytes = read_limited(path, MAX_BYTES)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::format(path, Place::Whole, "this is not a text file".to_string()))?;
    // Sparse matrices carry a line about the library that printed them.
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with("CSparse"));
    let words = lines.flat_map(|(k, line)| line.split_whitespace().map(move |w| (k + 1, w)));
    let mut at = Words { path, words: words.collect(), next: 0 };
    let (dim, contacts, storage) = (at.count()?, at.count()?, at.count()?);
    if !(2..=3).contains(&dim) {
        return Err(at.error(format!("the dimension {dim} is neither 2 nor 3")));
    }
    if storage > 2 {
        let message = format!("storage {storage} is none of 0 (dense), 1 (blocks), 2 (sparse)");
        return Err(at.error(message));
    }
    let n = dim * contacts;
    at.holds(n)?;
    if (at.count()?, at.count()?) != (n, n) {
        return Err(at.error(format!("W must be {n} × {n}: {dim} rows for each contact")));
    }
    let w = match storage {
        0 => dense(&mut at, n)?,
        1 => blocks(&mut at, dim, contacts)?,
        _ => sparse(&mut at, n)?,
    };
    let (q, mu) = (at.reals(n)?, at.reals(contacts)?);
    if let Some(mu) = mu.iter().find(|mu| **mu < 0.0) {
        return Err(at.error(format!("friction must not be negative, got {mu}")));
    }
    Ok(Parts { dim, w, q, mu })
}

/// By columns, after its size.
fn dense(at: &mut Words, n: usize) -> Result<Sparse, Error> {
    at.count()?;
    at.count()?;
    let size = n.checked_mul(n).ok_or_else(|| at.error("the matrix is too large"))?;
    let values = at.reals(size)?;
    let entries = values.into_iter().enumerate().map(|(k, x)| (k % n, k / n, x));
    Ok(Sparse::from_entries(n, n, entries.filter(|(_, _, x)| *x != 0.0).collect()))
}

/// Blocks of one size in compressed rows, each by columns.
fn blocks(at: &mut Words, dim: usize, contacts: usize) -> Result<Sparse, Error> {
    let (count, rows, columns) = (at.count()?, at.count()?, at.count()?);
    if (rows, columns) != (contacts, contacts) {
        return Err(
            at.error(format!("{rows} × {columns} blocks where {contacts} × {contacts} are needed"))
        );
    }
    for _ in 0..2 {
        for k in 0..contacts {
            if at.count()? != dim * (k + 1) {
                return Err(at.error(format!("blocks must have {dim} rows and columns")));
            }
        }
    }
    let (filled1, filled2) = (at.count()?, at.count()?);
    at.holds(filled1.saturating_add(filled2))?;
    let starts: Vec<usize> = (0..filled1).map(|_| at.count()).collect::<Result<_, _>>()?;
    let others: Vec<usize> = (0..filled2).map(|_| at.index(contacts)).collect::<Result<_, _>>()?;
    let sorted = starts.windows(2).all(|pair| pair[0] <= pair[1]);
    if filled1 != contacts + 1 || starts.last() != Some(&count) || others.len() != count || !sorted
    {
        return Err(at.error("the rows of blocks are not numbered consistently"));
    }
    let mut entries = Vec::new();
    for row in 0..contacts {
        for k in starts[row]..starts[row + 1] {
            if at.count()? != k {
                return Err(at.error("the blocks are not in order"));
            }
            for j in 0..dim {
                for i in 0..dim {
                    let value = at.real()?;
                    if value != 0.0 {
                        entries.push((dim * row + i, dim * others[k] + j, value));
                    }
                }
            }
        }
    }
    Ok(Sparse::from_entries(dim * contacts, dim * contacts, entries))
}

/// As CSparse prints it: triplets `i j : x`, or columns of `i : x`.
fn sparse(at: &mut Words, n: usize) -> Result<Sparse, Error> {
    at.count()?;
    let mut word = at.word()?;
    let triplets = word == "triplet:";
    if triplets {
        word = at.word()?;
    }
    let size = format!("{n}-by-{n},");
    if word != size {
        return Err(at.error(format!("expected `{size}`, got `{word}`")));
    }
    let count = at.after("nnz:")?;
    at.holds(count)?;
    let mut entries = Vec::with_capacity(count);
    let mut column = 0;
    // Compressed columns are preceded by a norm.
    while !triplets && at.words.get(at.next).is_some_and(|(_, word)| *word != "col") {
        at.next += 1;
    }
    while entries.len() < count {
        let first = at.word()?;
        if first == "col" {
            column = at.index(n)?;
            // `: locations a to b`.
            at.next += 5;
            continue;
        }
        at.next -= 1;
        let row = at.index(n)?;
        if triplets {
            column = at.index(n)?;
        }
        if at.word()? != ":" {
            return Err(at.error("expected `:` before the value"));
        }
        entries.push((row, column, at.real()?));
    }
    // Empty columns at the end.
    while at.words.get(at.next).is_some_and(|(_, word)| *word == "col") {
        at.next += 7;
    }
    Ok(Sparse::from_entries(n, n, entries))
}

/// Writes a contact problem in the text format of Siconos, with `W` in blocks. All contacts must have Coulomb
/// friction.
pub fn write_dat(path: &Path, problem: &ContactProblem) -> Result<(), Error> {
    let refuse = |message: &str| Error::Data { path: path.to_owned(), message: message.into() };
    let friction = |law: &Law| match law {
        Law::Coulomb { friction } => Some(*friction),
        _ => None,
    };
    let mu: Option<Vec<f64>> = problem.laws.iter().map(friction).collect();
    let mu =
        mu.ok_or_else(|| refuse("the text format knows only contacts with Coulomb friction"))?;
    let product;
    let w = match &problem.w {
        Delassus::Blocks(w) => w,
        Delassus::Factored(w) => {
            product = w.to_blocks();
            &product
        }
    };
    let n = problem.len();
    let rows: Vec<Vec<(usize, [[f64; 3]; 3])>> = (0..n)
        .map(|a| {
            let mut row: Vec<_> = w.row(a).map(|(b, block)| (b, *block)).collect();
            if row.iter().all(|(b, _)| *b != a) {
                row.push((a, [[0.0; 3]; 3]));
            }
            row.sort_by_key(|(b, _)| *b);
            row
        })
        .collect();
    let count: usize = rows.iter().map(Vec::len).sum();
    let mut text = format!("3\n{n}\n1\n{}\n{}\n{count}\n{n}\n{n}\n", 3 * n, 3 * n);
    let list = |numbers: &mut dyn Iterator<Item = usize>| {
        let words: Vec<String> = numbers.map(|k| k.to_string()).collect();
        words.join("\t") + "\n"
    };
    let sizes = list(&mut (1..=n).map(|k| 3 * k));
    let mut sum = 0;
    let starts = std::iter::once(0).chain(rows.iter().map(|row| {
        sum += row.len();
        sum
    }));
    let starts = list(&mut starts.collect::<Vec<_>>().into_iter());
    let columns = list(&mut rows.iter().flatten().map(|(b, _)| *b));
    text += &format!("{sizes}{sizes}{}\n{count}\n{starts}{columns}", n + 1);
    for (k, (_, block)) in rows.iter().flatten().enumerate() {
        let _ = writeln!(text, "{k}");
        for j in 0..3 {
            for row in block {
                let _ = writeln!(text, "{:.17e}", row[j]);
            }
        }
    }
    for x in problem.v_rel_free.as_flattened().iter().chain(&mu) {
        let _ = writeln!(text, "{x:.17e}");
    }
    write_whole(path, text.as_bytes())
}
