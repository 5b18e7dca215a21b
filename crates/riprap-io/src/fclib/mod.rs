//! Contact problems as files, in the HDF5 layout of FCLib (Acary, Brémond, Huber, Pérignon), for
//! exchange with other solvers.
//!
//! A local problem is `u = W r + q` with the law of each contact; a global one is
//! `M v = H r + G λ + f`, `u = Hᵀ v + w`, `Gᵀ v + b = 0`, and is reduced to the local form
//! `W = Hᵀ M⁻¹ H` when it is read. The conventions are the same as in riprap: contact by contact,
//! normal first.

mod dat;
mod hdf5;
mod matrix;
mod reduce;
mod solution;
mod symmetry;
#[cfg(test)]
mod tests;

use std::path::Path;

use riprap::friction::{Blocks, ContactProblem, Delassus, Impulses, Law};

use crate::{Error, Place, write_whole};
pub use dat::write_dat;
use hdf5::{Group, Source, Value};
use matrix::Sparse;
pub use solution::write_solution;

/// The form of the problem in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `W` and `q`.
    Local,
    /// `M`, `H`, `f` and `w`, reduced to `W` and `q` by the reader.
    Global,
}

/// Descriptive texts of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Name of the problem.
    pub title: String,
    /// Where it comes from.
    pub description: String,
    /// Information on its mathematics.
    pub math_info: String,
}

/// A contact problem from a file.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The problem, with `W` as blocks. A planar problem (`spacedim` 2) has a second tangent along
    /// which nothing moves.
    pub problem: ContactProblem,
    /// The form of the file.
    pub form: Form,
    /// Largest difference of two entries of `W` that should be equal, relative to the larger of
    /// their diagonal entries [–]. `W` is solved as given; [`Stored::warning`] reports if this
    /// exceeds rounding errors.
    pub asymmetry: f64,
    /// Its descriptive texts.
    pub info: Info,
    /// Initial guesses of the impulses [N s].
    pub guesses: Vec<Impulses>,
    /// Impulses of a solution [N s], as stored: they may be zeros if the writer of the file had
    /// none.
    pub solution: Option<Impulses>,
}

impl Stored {
    /// A warning about the problem, if its solution may be unreliable.
    pub fn warning(&self) -> Option<String> {
        (self.asymmetry > symmetry::ROUNDING).then(|| {
            format!(
                "W is asymmetric by {:.1e} of its diagonal, more than rounding explains; it is solved as it is, and there may be \
                 no solution",
                self.asymmetry
            )
        })
    }
}

/// Reads a contact problem: in the HDF5 layout of FCLib, or, from a file whose name ends in `.dat`, in
/// the text format of Siconos.
pub fn read(path: &Path) -> Result<Stored, Error> {
    if path.extension().is_some_and(|ending| ending == "dat") {
        return read_dat(path);
    }
    let file = Source::open(path)?;
    let (group, form) = match (file.has_group("fclib_local"), file.has_group("fclib_global")) {
        (true, _) => ("fclib_local", Form::Local),
        (false, true) => ("fclib_global", Form::Global),
        (false, false) => {
            return Err(file.refuse(
                "it contains neither `fclib_local` nor `fclib_global`: this is not a contact problem in the FCLib layout",
            ));
        }
    };
    let name = |part: &str| format!("{group}/{part}");
    let dim = match file.integer(&name("spacedim"))? {
        d @ 2..=3 => d as usize,
        d => {
            return Err(file.error(&name("spacedim"), format!("{d} is neither 2 nor 3")));
        }
    };
    let friction = reals(&file, &name("vectors/mu"))?;
    if let Some(k) = friction.iter().position(|mu| *mu < 0.0) {
        let message = format!("entry {k} is {}; friction must not be negative", friction[k]);
        return Err(file.error(&name("vectors/mu"), message));
    }
    let n = dim * friction.len();
    let (w, q) = match form {
        Form::Local => local(&file, n)?,
        Form::Global => global(&file, n)?,
    };
    let (asymmetry, verdict) = symmetry::judge(&w);
    // The matrix of a global problem may be that of an implicit scheme, which is not symmetric.
    if form == Form::Local {
        verdict.map_err(|why| file.error(&name("W"), why))?;
    }
    let problem = ContactProblem {
        rolling: Vec::new(),
        w: Delassus::Blocks(blocks(&w, dim)),
        v_rel_free: triples(&q, dim),
        laws: friction.into_iter().map(|friction| Law::Coulomb { friction }).collect(),
        approach_scale: 0.0,
    };
    let text = |part: &str| file.text(&name(part));
    let info = Info {
        title: text("info/title"),
        description: text("info/description"),
        math_info: text("info/math_info"),
    };
    let impulses = |name: &str| match file.reals(name)? {
        Some(r) if r.len() == n => Ok(Some(triples(&r, dim))),
        Some(r) => Err(file.error(name, format!("{} entries where {n} are needed", r.len()))),
        None => Ok(None),
    };
    let mut guesses = Vec::new();
    while let Some(guess) = impulses(&format!("guesses/{}/r", guesses.len() + 1))? {
        guesses.push(guess);
    }
    Ok(Stored { problem, form, asymmetry, info, guesses, solution: impulses("solution/r")? })
}

/// Reads a problem in the text format of Siconos.
fn read_dat(path: &Path) -> Result<Stored, Error> {
    let dat::Parts { dim, w, q, mu } = dat::read(path)?;
    let (asymmetry, verdict) = symmetry::judge(&w);
    verdict.map_err(|why| Error::format(path, Place::Whole, format!("W: {why}")))?;
    let problem = ContactProblem {
        w: Delassus::Blocks(blocks(&w, dim)),
        v_rel_free: triples(&q, dim),
        laws: mu.into_iter().map(|friction| Law::Coulomb { friction }).collect(),
        ..ContactProblem::default()
    };
    let (form, info) = (Form::Local, Info::default());
    Ok(Stored { problem, form, asymmetry, info, guesses: Vec::new(), solution: None })
}

fn reals(file: &Source, name: &str) -> Result<Vec<f64>, Error> {
    file.reals(name)?.ok_or_else(|| file.error(name, "there is no such dataset"))
}

/// A vector of `n` numbers.
fn vector(file: &Source, name: &str, n: usize) -> Result<Vec<f64>, Error> {
    let values = reals(file, name)?;
    match values.len() {
        len if len == n => Ok(values),
        len => Err(file.error(name, format!("{len} entries where {n} are needed"))),
    }
}

/// A matrix of `rows` × `columns`.
fn matrix(file: &Source, group: &str, rows: usize, columns: usize) -> Result<Sparse, Error> {
    let m = Sparse::read(file, group)?;
    if (m.rows(), m.columns) != (rows, columns) {
        let message = format!("{} × {} where {rows} × {columns} are needed", m.rows(), m.columns);
        return Err(file.error(group, message));
    }
    Ok(m)
}

/// `W` and `q`, without the equality constraints `0 = Vᵀ r + R λ + s` that may accompany them.
fn local(file: &Source, n: usize) -> Result<(Sparse, Vec<f64>), Error> {
    let w = matrix(file, "fclib_local/W", n, n)?;
    let q = vector(file, "fclib_local/vectors/q", n)?;
    if !file.has_group("fclib_local/V") && !file.has_group("fclib_local/R") {
        return Ok((w, q));
    }
    let s = reals(file, "fclib_local/vectors/s")?;
    let v = matrix(file, "fclib_local/V", n, s.len())?;
    let r = matrix(file, "fclib_local/R", s.len(), s.len())?;
    reduce::without_equalities(&w, &v, &r, &q, &s)
        .map_err(|message| file.error("fclib_local/R", message))
}

fn global(file: &Source, n: usize) -> Result<(Sparse, Vec<f64>), Error> {
    let f = reals(file, "fclib_global/vectors/f")?;
    let m = matrix(file, "fclib_global/M", f.len(), f.len())?;
    let h = matrix(file, "fclib_global/H", f.len(), n)?;
    let w = vector(file, "fclib_global/vectors/w", n)?;
    let (g, b) = match file.has_group("fclib_global/G") {
        true => {
            let b = reals(file, "fclib_global/vectors/b")?;
            (matrix(file, "fclib_global/G", f.len(), b.len())?, b)
        }
        false => (Sparse::from_entries(f.len(), 0, Vec::new()), Vec::new()),
    };
    reduce::to_local(&m, &h, &g, &f, &w, &b)
        .map_err(|message| file.error("fclib_global/M", message))
}

/// Numbers in triples; a planar contact has zeros along its second tangent.
fn triples(values: &[f64], dim: usize) -> Vec<[f64; 3]> {
    let three = |v: &[f64]| [v[0], v[1], v.get(2).copied().unwrap_or(0.0)];
    values.chunks_exact(dim).map(three).collect()
}

/// `W` as 3×3 blocks, row by row.
fn blocks(w: &Sparse, dim: usize) -> Blocks {
    let mut blocks = Blocks::default();
    for a in 0..w.rows() / dim {
        let mut row: Vec<(usize, [[f64; 3]; 3])> = Vec::new();
        let mut at = std::collections::BTreeMap::new();
        for i in 0..dim {
            for (column, value) in w.row(dim * a + i) {
                let (b, j) = (column / dim, column % dim);
                let k = *at.entry(b).or_insert_with(|| {
                    row.push((b, [[0.0; 3]; 3]));
                    row.len() - 1
                });
                row[k].1[i][j] = value;
            }
        }
        for (b, k) in at {
            blocks.push(b, row[k].1);
        }
        blocks.end_row();
    }
    blocks
}

/// Writes a contact problem in local form. Joints become the equality constraints
/// `0 = Vᵀ r + R λ + s`. A solution, if given, contains the impulses of all contacts and joints of
/// the problem [N s].
pub fn write(
    path: &Path,
    problem: &ContactProblem,
    info: &Info,
    solution: Option<&[[f64; 3]]>,
) -> Result<(), Error> {
    let product;
    let w = match &problem.w {
        Delassus::Blocks(w) => w,
        Delassus::Factored(w) => {
            product = w.to_blocks();
            &product
        }
    };
    let data = |message: String| Error::Data { path: path.to_owned(), message };
    let n = problem.len();
    if !problem.rolling.is_empty() {
        let message = "the problem has rolling resistance, which the format does not support";
        return Err(data(message.into()));
    }
    if w.len() != n || problem.laws.len() != n || solution.is_some_and(|r| r.len() != n) {
        return Err(data("the parts of the problem differ in their number of contacts".into()));
    }
    let parts = Parts::of(problem, w);
    for m in [&parts.w, &parts.v, &parts.r] {
        if i32::try_from(m.x.len().max(m.rows)).is_err() {
            return Err(data("the matrix has more entries than the format can count".into()));
        }
    }
    let three = [3];
    let mut local = Group::new("fclib_local")
        .with("spacedim", Value::Integers(&three))
        .group(parts.w.group("W"))
        .group(
            Group::new("info")
                .with("title", Value::Text(&info.title))
                .with("description", Value::Text(&info.description))
                .with("math_info", Value::Text(&info.math_info)),
        );
    let mut vectors =
        Group::new("vectors").with("q", Value::Reals(&parts.q)).with("mu", Value::Reals(&parts.mu));
    if !parts.s.is_empty() {
        vectors = vectors.with("s", Value::Reals(&parts.s));
        local = local.group(parts.v.group("V")).group(parts.r.group("R"));
    }
    let mut groups = vec![local.group(vectors)];
    let solved = solution.map(|r| parts.solution(problem, w, r));
    if let Some([r, u, l]) = &solved {
        let mut group =
            Group::new("solution").with("r", Value::Reals(r)).with("u", Value::Reals(u));
        if !l.is_empty() {
            group = group.with("l", Value::Reals(l));
        }
        groups.push(group);
    }
    let bytes = hdf5::file(&groups).map_err(data)?;
    write_whole(path, &bytes)
}

/// Compressed rows, as written to the file.
struct Rows {
    rows: usize,
    /// `m`, `n`, `nz`, `nzmax`.
    sizes: [[i32; 1]; 4],
    p: Vec<i32>,
    i: Vec<i32>,
    x: Vec<f64>,
}

impl Rows {
    fn of(rows: usize, columns: usize, entries: Vec<(usize, usize, f64)>) -> Rows {
        let m = Sparse::from_entries(rows, columns, entries);
        let (mut p, mut i, mut x) = (vec![0], Vec::new(), Vec::new());
        for row in 0..rows {
            for (column, value) in m.row(row) {
                i.push(column as i32);
                x.push(value);
            }
            p.push(x.len() as i32);
        }
        let sizes = [[rows as i32], [columns as i32], [-2], [x.len() as i32]];
        Rows { rows, sizes, p, i, x }
    }

    fn group(&self, name: &'static str) -> Group<'_> {
        Group::new(name)
            .with("m", Value::Integers(&self.sizes[0]))
            .with("n", Value::Integers(&self.sizes[1]))
            .with("nz", Value::Integers(&self.sizes[2]))
            .with("nzmax", Value::Integers(&self.sizes[3]))
            .with("p", Value::Integers(&self.p))
            .with("i", Value::Integers(&self.i))
            .with("x", Value::Reals(&self.x))
    }
}

/// A problem split into contacts and the equations of joints.
struct Parts {
    /// Destination of each row of the problem: among the rows of contacts, among those of joints,
    /// or none (an equation that a joint does not have).
    place: Vec<Row>,
    w: Rows,
    v: Rows,
    r: Rows,
    q: Vec<f64>,
    mu: Vec<f64>,
    s: Vec<f64>,
}

#[derive(Clone, Copy)]
enum Row {
    Contact(usize),
    Joint(usize),
    Nowhere,
}

impl Parts {
    fn of(problem: &ContactProblem, w: &Blocks) -> Parts {
        let (mut q, mut s, mut mu) = (Vec::new(), Vec::new(), Vec::new());
        let mut place = Vec::new();
        for (a, velocity) in problem.v_rel_free.iter().enumerate() {
            let friction = problem.laws[a].friction();
            let joint = friction.is_none();
            mu.extend(friction);
            let diagonal = w.block(a, a).copied().unwrap_or_default();
            for i in 0..3 {
                place.push(match joint {
                    false => {
                        q.push(velocity[i]);
                        Row::Contact(q.len() - 1)
                    }
                    true if diagonal[i][i] > 0.0 => {
                        s.push(velocity[i]);
                        Row::Joint(s.len() - 1)
                    }
                    true => Row::Nowhere,
                });
            }
        }
        let (mut wcc, mut wcj, mut wjj) = (Vec::new(), Vec::new(), Vec::new());
        for a in 0..problem.len() {
            for (b, block) in w.row(a) {
                for (i, line) in block.iter().enumerate() {
                    for (j, x) in line.iter().enumerate() {
                        match (place[3 * a + i], place[3 * b + j]) {
                            (Row::Contact(k), Row::Contact(l)) => wcc.push((k, l, *x)),
                            (Row::Contact(k), Row::Joint(l)) => wcj.push((k, l, *x)),
                            (Row::Joint(k), Row::Joint(l)) => wjj.push((k, l, *x)),
                            _ => {}
                        }
                    }
                }
            }
        }
        let (n, m) = (q.len(), s.len());
        let (w, v, r) = (Rows::of(n, n, wcc), Rows::of(n, m, wcj), Rows::of(m, m, wjj));
        Parts { place, w, v, r, q, mu, s }
    }

    /// Impulses and velocities of the contacts, impulses of the joints.
    fn solution(
        &self,
        problem: &ContactProblem,
        w: &Blocks,
        impulses: &[[f64; 3]],
    ) -> [Vec<f64>; 3] {
        let (mut r, mut u) = (vec![0.0; self.q.len()], vec![0.0; self.q.len()]);
        let mut l = vec![0.0; self.s.len()];
        for a in 0..problem.len() {
            let mut velocity = problem.v_rel_free[a];
            for (b, block) in w.row(a) {
                for i in 0..3 {
                    velocity[i] += (0..3).map(|j| block[i][j] * impulses[b][j]).sum::<f64>();
                }
            }
            for i in 0..3 {
                match self.place[3 * a + i] {
                    Row::Contact(k) => (r[k], u[k]) = (impulses[a][i], velocity[i]),
                    Row::Joint(k) => l[k] = impulses[a][i],
                    Row::Nowhere => {}
                }
            }
        }
        [r, u, l]
    }
}
