//! Copies of problem files with a solution: impulses `r`, velocities `u`, and for global problems the velocities `v` of the
//! bodies.

use std::path::Path;

use super::hdf5::{self, Group, Source, Value};
use super::matrix::{Banded, Dense, Sparse};
use super::{matrix, reals};
use crate::{Error, write_whole};

const MATRIX: [&str; 6] = ["m", "n", "nz", "nzmax", "p", "i"];
const VECTORS: [&str; 6] = ["q", "mu", "s", "f", "w", "b"];
const INFO: [&str; 3] = ["title", "description", "math_info"];
const IMPULSES: [&str; 4] = ["r", "u", "v", "l"];

/// Datasets of a group that were read.
#[derive(Default)]
struct Copied {
    name: &'static str,
    integers: Vec<(&'static str, Vec<i32>)>,
    reals: Vec<(&'static str, Vec<f64>)>,
    texts: Vec<(&'static str, String)>,
    groups: Vec<Copied>,
}

impl Copied {
    fn group(&self) -> Group<'_> {
        let mut group = Group::new(self.name);
        for (name, values) in &self.integers {
            group = group.with(name, Value::Integers(values));
        }
        for (name, values) in &self.reals {
            group = group.with(name, Value::Reals(values));
        }
        for (name, text) in &self.texts {
            group = group.with(name, Value::Text(text));
        }
        self.groups.iter().fold(group, |group, inner| group.group(inner.group()))
    }

    fn integers(&mut self, file: &Source, path: &str, names: &[&'static str]) -> Result<(), Error> {
        for &name in names {
            let at = format!("{path}/{name}");
            let Some(values) = file.integers(&at)? else { continue };
            let small: Result<Vec<i32>, _> = values.iter().map(|x| i32::try_from(*x)).collect();
            let small = small.map_err(|_| file.error(&at, "a number is too large"))?;
            self.integers.push((name, small));
        }
        Ok(())
    }

    fn reals(&mut self, file: &Source, path: &str, names: &[&'static str]) -> Result<(), Error> {
        for &name in names {
            if let Some(values) = file.reals(&format!("{path}/{name}"))? {
                self.reals.push((name, values));
            }
        }
        Ok(())
    }
}

/// Copies a problem in the FCLib layout with a solution: the impulses `r` of its contacts [N s], three numbers for each as in
/// [`super::Stored`], and the velocities that follow. Other datasets than those of the layout are not copied.
pub fn write_solution(from: &Path, to: &Path, impulses: &[[f64; 3]]) -> Result<(), Error> {
    let file = Source::open(from)?;
    let global = !file.has_group("fclib_local");
    let (root, matrices): (_, &[&'static str]) = match global {
        false => ("fclib_local", &["W", "V", "R"]),
        true => ("fclib_global", &["M", "H", "G"]),
    };
    let mut problem = Copied { name: root, ..Copied::default() };
    problem.integers(&file, root, &["spacedim"])?;
    for &name in matrices {
        let path = format!("{root}/{name}");
        if file.has_group(&path) {
            let mut copy = Copied { name, ..Copied::default() };
            copy.integers(&file, &path, &MATRIX)?;
            copy.reals(&file, &path, &["x"])?;
            problem.groups.push(copy);
        }
    }
    let mut vectors = Copied { name: "vectors", ..Copied::default() };
    vectors.reals(&file, &format!("{root}/vectors"), &VECTORS)?;
    let mut info = Copied { name: "info", ..Copied::default() };
    for name in INFO {
        info.texts.push((name, file.text(&format!("{root}/info/{name}"))));
    }
    problem.groups.extend([vectors, info]);
    let dim = file.integer(&format!("{root}/spacedim"))?.clamp(2, 3) as usize;
    let r: Vec<f64> = impulses.iter().flat_map(|r| &r[..dim]).copied().collect();
    let n = dim * reals(&file, &format!("{root}/vectors/mu"))?.len();
    if r.len() != n {
        return Err(file.refuse(format!("a solution of {} numbers for {n} unknowns", r.len())));
    }
    let mut solution = Copied { name: "solution", ..Copied::default() };
    if global {
        let (u, v, l) = velocities(&file, &r)?;
        solution.reals = vec![("r", r), ("u", u), ("v", v)];
        if !l.is_empty() {
            solution.reals.push(("l", l));
        }
    } else {
        let (w, q) = super::local(&file, n)?;
        let u = (0..n).map(|i| q[i] + w.row(i).map(|(j, x)| x * r[j]).sum::<f64>()).collect();
        solution.reals = vec![("r", r), ("u", u)];
    }
    let mut all = vec![problem, solution];
    if let Some(guesses) = guesses(&file)? {
        all.push(guesses);
    }
    let groups: Vec<Group> = all.iter().map(Copied::group).collect();
    let bytes = hdf5::file(&groups).map_err(|why| file.refuse(why))?;
    write_whole(to, &bytes)
}

/// Names of guesses that are copied.
const NUMBERS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

fn guesses(file: &Source) -> Result<Option<Copied>, Error> {
    let mut all = Copied { name: "guesses", ..Copied::default() };
    for name in NUMBERS {
        let path = format!("guesses/{name}");
        if !file.has_group(&path) {
            break;
        }
        let mut one = Copied { name, ..Copied::default() };
        one.reals(file, &path, &IMPULSES)?;
        all.groups.push(one);
    }
    if all.groups.is_empty() {
        return Ok(None);
    }
    all.integers.push(("number_of_guesses", vec![all.groups.len() as i32]));
    Ok(Some(all))
}

/// `u`, `v` and `λ`.
type Velocities = (Vec<f64>, Vec<f64>, Vec<f64>);

/// `u = Hᵀ v + w` and `v` of `M v = H r + G λ + f`, `Gᵀ v + b = 0`, and `λ`.
fn velocities(file: &Source, r: &[f64]) -> Result<Velocities, Error> {
    let f = reals(file, "fclib_global/vectors/f")?;
    let m = matrix(file, "fclib_global/M", f.len(), f.len())?;
    let h = matrix(file, "fclib_global/H", f.len(), r.len())?;
    let w = reals(file, "fclib_global/vectors/w")?;
    let push = |h: &Sparse, x: &[f64], p: &mut [f64]| {
        for (i, p) in p.iter_mut().enumerate() {
            *p += h.row(i).map(|(j, h)| h * x[j]).sum::<f64>();
        }
    };
    let mut momenta = f.clone();
    push(&h, r, &mut momenta);
    let solve = |momenta: &[f64]| -> Result<Vec<f64>, Error> {
        let (mut v, mut place) = (vec![0.0; f.len()], vec![0; f.len()]);
        for rows in m.components() {
            rows.iter().enumerate().for_each(|(k, row)| place[*row] = k);
            let factors = Banded::factorize(&m, &rows, &place)
                .ok_or_else(|| file.error("fclib_global/M", "the matrix is singular"))?;
            let mut part: Vec<f64> = rows.iter().map(|row| momenta[*row]).collect();
            factors.solve(&mut part);
            rows.iter().zip(part).for_each(|(row, x)| v[*row] = x);
        }
        Ok(v)
    };
    let mut v = solve(&momenta)?;
    let mut lambda = Vec::new();
    if file.has_group("fclib_global/G") {
        let b = reals(file, "fclib_global/vectors/b")?;
        let g = matrix(file, "fclib_global/G", f.len(), b.len())?;
        // Gᵀ M⁻¹ G λ = −(Gᵀ v + b), column by column.
        let (across, n) = (g.transposed(), b.len());
        let rate = |v: &[f64], i: usize| across.row(i).map(|(k, x)| x * v[k]).sum::<f64>();
        let mut s = vec![0.0; n * n];
        for j in 0..n {
            let mut column = vec![0.0; f.len()];
            across.row(j).for_each(|(k, x)| column[k] = x);
            let column = solve(&column)?;
            (0..n).for_each(|i| s[i * n + j] = rate(&column, i));
        }
        let right: Vec<f64> = (0..n).map(|i| -rate(&v, i) - b[i]).collect();
        lambda = Dense::factorize(n, s).solve(&right);
        push(&g, &lambda, &mut momenta);
        v = solve(&momenta)?;
    }
    let across = h.transposed();
    let u =
        w.iter().enumerate().map(|(i, w)| w + across.row(i).map(|(k, x)| x * v[k]).sum::<f64>());
    Ok((u.collect(), v, lambda))
}
