//! Contact problems in files: written problems are read back unchanged, other encodings and forms
//! give the same problem, and broken files give an error that names the file and the dataset.

use std::path::PathBuf;

use hdf5_pure::{FileBuilder, GroupBuilder};
use riprap::friction::{
    Accurate, Blocks, ContactProblem, ContactSolver, Delassus, Factored, InverseMass, Law, Scratch,
};
use riprap_io::fclib::{Form, Info, Stored, read, write, write_dat, write_solution};

/// A temporary file.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        let name = format!("riprap-fclib-{}-{name}.hdf5", std::process::id());
        Temporary(std::env::temp_dir().join(name))
    }

    fn holding(name: &str, build: impl FnOnce(&mut FileBuilder)) -> Temporary {
        let file = Temporary::new(name);
        let mut builder = FileBuilder::new();
        build(&mut builder);
        std::fs::write(&file.0, builder.finish().unwrap()).unwrap();
        file
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Three balls in a row on a floor, with the second pair of contacts duplicated: `W` is
/// rank-deficient.
fn balls() -> ContactProblem {
    let mut w = Factored::default();
    let mass = |m: f64| InverseMass {
        linear: [1.0 / m; 3],
        angular: [10.0 / m, 10.0 / m, 10.0 / m, 0.0, 0.0, 0.0],
    };
    w.reset([1.0, 2.0, 0.5].map(mass).into_iter());
    let up = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let along = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let none = Factored::NONE;
    for ball in 0..3 {
        w.push([none, ball], up, [[0.0; 3], [0.0, 0.0, -0.5]]);
    }
    for ball in [0, 1, 1] {
        w.push([ball, ball + 1], along, [[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]]);
    }
    ContactProblem {
        rolling: Vec::new(),
        w: Delassus::Factored(w),
        v_rel_free: vec![
            [-0.1, 0.5, 0.2],
            [-0.1, 0.1, 0.0],
            [-0.1, -0.6, 0.0],
            [-0.4, 0.2, 0.0],
            [-0.7, -0.2, 0.0],
            [-0.7, -0.2, 0.0],
        ],
        laws: [0.3, 0.0, 0.5, 0.4, 0.4, 0.4].map(|friction| Law::Coulomb { friction }).to_vec(),
        approach_scale: 1.0,
    }
}

fn blocks(problem: &ContactProblem) -> Blocks {
    match &problem.w {
        Delassus::Factored(w) => w.to_blocks(),
        Delassus::Blocks(w) => w.clone(),
    }
}

/// All entries of `W`, row-major.
fn dense(problem: &ContactProblem) -> Vec<Vec<f64>> {
    let n = problem.len();
    let mut w = vec![vec![0.0; 3 * n]; 3 * n];
    let blocks = blocks(problem);
    for a in 0..n {
        for (b, block) in blocks.row(a) {
            for i in 0..3 {
                for j in 0..3 {
                    w[3 * a + i][3 * b + j] = block[i][j];
                }
            }
        }
    }
    w
}

fn frictions(problem: &ContactProblem) -> Vec<f64> {
    problem.laws.iter().filter_map(|law| law.friction()).collect()
}

#[track_caller]
fn same(a: &ContactProblem, b: &ContactProblem, tolerance: f64) {
    assert_eq!(a.laws, b.laws);
    for (x, y) in a.v_rel_free.iter().flatten().zip(b.v_rel_free.iter().flatten()) {
        assert!((x - y).abs() <= tolerance, "{x} {y}");
    }
    for (x, y) in dense(a).iter().flatten().zip(dense(b).iter().flatten()) {
        assert!((x - y).abs() <= tolerance, "{x} {y}");
    }
}

fn solved(problem: &ContactProblem) -> Vec<[f64; 3]> {
    let mut impulses = Vec::new();
    let solver = Accurate::tolerance(1e-12);
    let report = solver.solve(problem, &mut impulses, &mut Scratch::default());
    assert!(report.converged, "{report:?}");
    impulses
}

#[test]
fn a_written_problem_is_read_back_bitwise_identical() {
    let problem = balls();
    let impulses = solved(&problem);
    let info = Info {
        title: "balls".into(),
        description: "three of them, β and γ on α".into(),
        math_info: String::new(),
    };
    let file = Temporary::new("round-trip");
    write(&file.0, &problem, &info, Some(&impulses)).unwrap();
    let stored = read(&file.0).unwrap();
    same(&problem, &stored.problem, 0.0);
    assert_eq!(stored.info, info);
    assert_eq!(stored.form, Form::Local);
    assert_eq!(stored.solution, Some(impulses));
    assert!(stored.guesses.is_empty());
}

#[test]
fn joints_are_written_as_equalities_and_read_as_a_problem_without_them() {
    // The second and third ball are hinged together; the joint does not constrain the third
    // direction.
    let mut problem = balls();
    problem.laws[4] = Law::Bilateral;
    problem.laws[5] = Law::Bilateral;
    let impulses = solved(&problem);
    let file = Temporary::new("joints");
    write(&file.0, &problem, &Info::default(), Some(&impulses)).unwrap();
    let stored = read(&file.0).unwrap();
    assert_eq!(frictions(&stored.problem), [0.3, 0.0, 0.5, 0.4]);
    let alone = solved(&stored.problem);
    // The impulses of the contacts are unique here, those of the duplicated joint are not.
    for (x, y) in alone.iter().flatten().zip(impulses.iter().flatten()) {
        assert!((x - y).abs() < 1e-9, "{x} {y}");
    }
}

type Entry = (usize, usize, f64);

/// A matrix in one of the encodings.
fn matrix(parent: &mut GroupBuilder, name: &str, size: [usize; 2], entries: &[Entry], nz: i32) {
    let mut entries = entries.to_vec();
    let (mut p, mut i) = (Vec::new(), Vec::new());
    let lines = if nz == -2 { size[0] } else { size[1] };
    match nz {
        -2 => entries.sort_by_key(|e| (e.0, e.1)),
        -1 => entries.sort_by_key(|e| (e.1, e.0)),
        _ => entries.reverse(),
    }
    for (row, column, _) in &entries {
        let (line, across) = if nz == -2 { (*row, *column) } else { (*column, *row) };
        i.push(across as i32);
        p.push(line as i32);
    }
    if nz < 0 {
        p = (0..=lines).map(|k| p.iter().filter(|l| (**l as usize) < k).count() as i32).collect();
    }
    let nz = if nz < 0 { nz } else { entries.len() as i32 };
    // A library may leave unused space at the end.
    let x: Vec<f64> = entries.iter().map(|e| e.2).chain([f64::from(7)]).collect();
    let mut group = parent.create_group(name);
    for (name, value) in
        [("m", size[0] as i32), ("n", size[1] as i32), ("nz", nz), ("nzmax", x.len() as i32)]
    {
        group.create_dataset(name).with_i32_data(&[value]);
    }
    group.create_dataset("p").with_i32_data(&p);
    group.create_dataset("i").with_i32_data(&i);
    group.create_dataset("x").with_f64_data(&x);
    parent.add_group(group.finish());
}

fn vectors(parent: &mut GroupBuilder, parts: &[(&str, &[f64])]) {
    let mut group = parent.create_group("vectors");
    for (name, values) in parts {
        group.create_dataset(name).with_f64_data(values);
    }
    parent.add_group(group.finish());
}

fn local(name: &str, problem: &ContactProblem, nz: i32) -> Temporary {
    let w = dense(problem);
    let n = w.len();
    let entries: Vec<Entry> = (0..n)
        .flat_map(|i| (0..n).map(move |j| (i, j)))
        .map(|(i, j)| (i, j, w[i][j]))
        .filter(|e| e.2 != 0.0)
        .collect();
    Temporary::holding(name, |builder| {
        let mut group = builder.create_group("fclib_local");
        group.create_dataset("spacedim").with_i32_data(&[3]);
        matrix(&mut group, "W", [n, n], &entries, nz);
        let q = problem.v_rel_free.as_flattened();
        vectors(&mut group, &[("q", q), ("mu", &frictions(problem))]);
        builder.add_group(group.finish());
    })
}

#[test]
fn rows_columns_and_triplets_give_the_same_problem() {
    let problem = balls();
    for (name, nz) in [("rows", -2), ("columns", -1), ("triplets", 0)] {
        let file = local(name, &problem, nz);
        same(&problem, &read(&file.0).unwrap().problem, 0.0);
    }
}

/// A global problem: masses, free motion, contacts between velocities `H`, constraints `G`.
fn global(name: &str, m: &[Entry], h: &[Entry], g: &[Entry], f: &[f64], nz: i32) -> Temporary {
    let n = f.len();
    Temporary::holding(name, |builder| {
        let mut group = builder.create_group("fclib_global");
        group.create_dataset("spacedim").with_i32_data(&[3]);
        matrix(&mut group, "M", [n, n], m, nz);
        matrix(&mut group, "H", [n, 6], h, nz);
        let w = [-1.0, 0.2, 0.0, -2.0, 0.0, 0.5];
        let mut parts: Vec<(&str, &[f64])> = vec![("f", f), ("w", &w), ("mu", &[0.3, 0.6])];
        if !g.is_empty() {
            matrix(&mut group, "G", [n, 2], g, nz);
            parts.push(("b", &[0.25, 0.25]));
        }
        vectors(&mut group, &parts);
        builder.add_group(group.finish());
    })
}

/// `W = Hᵀ M⁻¹ H` and `q` by plain elimination, with constraints as additional unknowns.
fn reduced(m: &[Entry], h: &[Entry], g: &[Entry], f: &[f64]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let n = f.len();
    // One of the two constraints is sufficient: they are equal in these tests.
    let extra = usize::from(!g.is_empty());
    let size = n + extra;
    let solve = |mut b: Vec<f64>| -> Vec<f64> {
        let mut a = vec![vec![0.0; size]; size];
        m.iter().for_each(|(i, j, x)| a[*i][*j] += x);
        for (i, _, x) in g.iter().filter(|e| e.1 == 0) {
            a[*i][n] -= x;
            a[n][*i] += x;
        }
        for k in 0..size {
            let best = (k..size).max_by(|x, y| a[*x][k].abs().total_cmp(&a[*y][k].abs())).unwrap();
            a.swap(k, best);
            b.swap(k, best);
            for i in (0..size).filter(|i| *i != k) {
                let factor = a[i][k] / a[k][k];
                for j in 0..size {
                    a[i][j] -= factor * a[k][j];
                }
                b[i] -= factor * b[k];
            }
        }
        (0..size).map(|k| b[k] / a[k][k]).collect()
    };
    let column = |j: usize| {
        let mut b = vec![0.0; size];
        h.iter().filter(|e| e.1 == j).for_each(|(i, _, x)| b[*i] += x);
        b
    };
    let local = |v: &[f64]| -> Vec<f64> {
        (0..6).map(|j| column(j).iter().zip(v).map(|(h, v)| h * v).sum()).collect()
    };
    let columns: Vec<Vec<f64>> = (0..6).map(|j| local(&solve(column(j)))).collect();
    let w = (0..6).map(|i| (0..6).map(|j| columns[j][i]).collect()).collect();
    let mut b = f.to_vec();
    b.extend(std::iter::repeat_n(-0.25, extra));
    let q = local(&solve(b)).into_iter().zip([-1.0, 0.2, 0.0, -2.0, 0.0, 0.5]).map(|(x, w)| x + w);
    (w, q.collect())
}

#[test]
fn global_problems_are_reduced_with_any_mass_matrix_and_with_constraints() {
    // Two bodies of three velocities; a chain in which each velocity is coupled to the next; one
    // that needs row pivoting.
    let bodies: Vec<Entry> = (0..6).map(|k| (k, k, 1.0 + k as f64)).collect();
    let mut chain = bodies.clone();
    chain.extend((0..5).flat_map(|k| [(k, k + 1, -0.4), (k + 1, k, -0.3)]));
    let swapped: Vec<Entry> = (0..6).map(|k| (k, k ^ 1, 2.0 + k as f64)).collect();
    let h: Vec<Entry> = (0..6)
        .flat_map(|i| (0..6).map(move |j| (i, j, ((3 * i + 5 * j) % 7) as f64 / 7.0)))
        .filter(|(i, j, _)| (i + j) % 3 != 0)
        .collect();
    // The same constraint twice: redundant, not contradictory.
    let g: Vec<Entry> = [0, 1, 5].iter().flat_map(|i| [(*i, 0, 1.0), (*i, 1, 1.0)]).collect();
    let f = [1.0, -2.0, 0.5, 0.0, 3.0, -1.0];
    for (name, m) in [("bodies", bodies), ("chain", chain), ("swapped", swapped)] {
        for (kind, g) in [("free", vec![]), ("held", g.clone())] {
            for nz in [-2, -1, 0] {
                let file = global(&format!("{name}-{kind}-{nz}"), &m, &h, &g, &f, nz);
                let stored = read(&file.0).unwrap();
                assert_eq!(stored.form, Form::Global);
                let (w, q) = reduced(&m, &h, &g, &f);
                let found = dense(&stored.problem);
                for (x, y) in w.iter().flatten().zip(found.iter().flatten()) {
                    assert!((x - y).abs() < 1e-12, "{name} {kind}: {x} {y}");
                }
                for (x, y) in q.iter().zip(stored.problem.v_rel_free.as_flattened()) {
                    assert!((x - y).abs() < 1e-12, "{name} {kind}: {x} {y}");
                }
            }
        }
    }
}

#[test]
fn a_planar_problem_gets_an_immovable_second_tangent() {
    let w = [(0, 0, 2.0), (0, 1, 0.5), (1, 0, 0.5), (1, 1, 1.0)];
    let file = Temporary::holding("planar", |builder| {
        let mut group = builder.create_group("fclib_local");
        group.create_dataset("spacedim").with_i32_data(&[2]);
        matrix(&mut group, "W", [2, 2], &w, -2);
        vectors(&mut group, &[("q", &[-1.0, 0.7]), ("mu", &[0.5])]);
        builder.add_group(group.finish());
    });
    let problem = read(&file.0).unwrap().problem;
    assert_eq!(problem.v_rel_free, [[-1.0, 0.7, 0.0]]);
    let impulses = solved(&problem);
    assert_eq!(impulses[0][2], 0.0);
    assert!((impulses[0][1] + 0.5 * impulses[0][0]).abs() < 1e-12, "{impulses:?}");
}

/// Expects an error with these words; the path is always among them.
#[track_caller]
fn refused(file: &Temporary, words: &[&str]) {
    let error = match read(&file.0) {
        Ok(_) => panic!("{} was read", file.0.display()),
        Err(error) => error.to_string(),
    };
    for word in words.iter().chain([&&*file.0.display().to_string()]) {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
}

/// A local problem with one contact in which some datasets are wrong.
fn wrong(
    name: &str,
    change: impl Fn(&str) -> Option<Vec<i32>>,
    q: &[f64],
    mu: &[f64],
) -> Temporary {
    Temporary::holding(name, |builder| {
        let mut group = builder.create_group("fclib_local");
        let mut w = group.create_group("W");
        let fine: [(&str, Vec<i32>); 6] = [
            ("m", vec![3]),
            ("n", vec![3]),
            ("nz", vec![-2]),
            ("nzmax", vec![3]),
            ("p", vec![0, 1, 2, 3]),
            ("i", vec![0, 1, 2]),
        ];
        for (name, values) in fine {
            let values = change(name).unwrap_or(values);
            w.create_dataset(name).with_i32_data(&values);
        }
        w.create_dataset("x").with_f64_data(&[1.0, 1.0, 1.0]);
        group.add_group(w.finish());
        let dim = change("spacedim").unwrap_or(vec![3]);
        group.create_dataset("spacedim").with_i32_data(&dim);
        vectors(&mut group, &[("q", q), ("mu", mu)]);
        builder.add_group(group.finish());
    })
}

#[test]
fn wrong_datasets_are_named() {
    let (q, mu) = ([-1.0, 0.0, 0.0], [0.5]);
    read(&wrong("fine", |_| None, &q, &mu).0).unwrap();
    let cases: [(&str, Vec<i32>, &str, &str); 12] = [
        ("m", vec![6], "W/p", "7 are needed"),
        ("m", vec![-3], "W/m", "not a number of rows"),
        ("m", vec![1, 2], "W/m", "expected one number"),
        ("n", vec![2], "W/i", "not within"),
        ("n", vec![2_000_000_000], "W/m", "too large for its entries"),
        ("nz", vec![-7], "W/nz", "not an encoding"),
        ("nz", vec![9], "W/p", "9 are needed"),
        ("p", vec![0, 2, 1, 3], "W/p", "never decrease"),
        ("p", vec![0, 1, 2, 30], "W/i", "30 are needed"),
        ("i", vec![0, 1, 3], "W/i", "index 3"),
        ("i", vec![0, -1, 2], "W/i", "index -1"),
        ("spacedim", vec![4], "spacedim", "neither 2 nor 3"),
    ];
    for (k, (part, values, dataset, words)) in cases.into_iter().enumerate() {
        let change = |name: &str| (name == part).then(|| values.clone());
        refused(&wrong(&format!("case-{k}"), change, &q, &mu), &[dataset, words]);
    }
    refused(&wrong("short", |_| None, &q[..2], &mu), &["vectors/q", "3 are needed"]);
    refused(&wrong("mu", |_| None, &q, &[-1.0]), &["vectors/mu", "must not be negative"]);
    refused(&wrong("two", |_| None, &q, &[0.1, 0.2]), &["6 × 6 are needed"]);
    refused(&wrong("nan", |_| None, &[f64::NAN, 0.0, 0.0], &mu), &["vectors/q", "finite"]);
    refused(&wrong("inf", |_| None, &q, &[f64::INFINITY]), &["vectors/mu", "finite"]);
    let other = Temporary::holding("other", |builder| {
        builder.create_dataset("x").with_f64_data(&[1.0]);
    });
    refused(&other, &["not a contact problem"]);
    let text = Temporary::new("text");
    std::fs::write(&text.0, "no HDF5").unwrap();
    refused(&text, &["not an HDF5 file"]);
    refused(&Temporary::new("missing"), &["cannot read"]);
    let singular = [(0, 0, 1.0), (1, 1, 0.0), (2, 2, 1.0)];
    refused(&global("singular", &singular, &[(0, 0, 1.0)], &[], &[0.0; 3], -2), &["M", "singular"]);
}

#[test]
fn broken_files_never_cause_a_panic() {
    let file = local("broken", &balls(), -2);
    let whole = std::fs::read(&file.0).unwrap();
    let attempt = |bytes: &[u8]| -> Option<Stored> {
        std::fs::write(&file.0, bytes).unwrap();
        let stored = read(&file.0).ok()?;
        // Whatever was read must be valid input for a solver.
        let mut solver = Accurate::tolerance(1e-6);
        solver.options.max_sweeps = 100;
        solver.solve(&stored.problem, &mut Vec::new(), &mut Scratch::default());
        Some(stored)
    };
    for length in (0..whole.len()).step_by(97) {
        attempt(&whole[..length]);
    }
    let mut damaged = whole.clone();
    for at in (0..whole.len()).step_by(13) {
        for value in [0x00, 0x80, 0xff] {
            damaged[at] = value;
            attempt(&damaged);
            damaged[at] = whole[at];
        }
    }
    assert!(attempt(&whole).is_some());
}

/// A temporary text file in the format of Siconos.
fn text(name: &str, content: &str) -> Temporary {
    let file =
        Temporary(std::env::temp_dir().join(format!("riprap-{}-{name}.dat", std::process::id())));
    std::fs::write(&file.0, content).unwrap();
    file
}

#[test]
fn a_problem_survives_the_text_format_of_siconos() {
    let problem = balls();
    let file = text("round-trip", "");
    write_dat(&file.0, &problem).unwrap();
    let stored = read(&file.0).unwrap();
    assert_eq!(stored.form, Form::Local);
    assert_eq!(stored.problem.v_rel_free, problem.v_rel_free);
    assert_eq!(stored.problem.laws, problem.laws);
    assert_eq!(dense(&stored.problem), dense(&problem));
    let joint = ContactProblem { laws: vec![Law::Bilateral; 6], ..balls() };
    let error = write_dat(&file.0, &joint).unwrap_err().to_string();
    assert!(error.contains("only contacts with Coulomb friction"), "{error}");
}

#[test]
fn dense_and_sparse_matrices_of_siconos_give_the_same_problem() {
    let end = "-1 0.7\n0.5\n";
    let files = [
        text("dense", &format!("2\n1\n0\n2\n2\n2\n2\n2 0.5 0.5 1\n{end}")),
        text(
            "triplets",
            &format!(
                "2\n1\n2\n2\n2\n0\nCSparse Version 3.2.0, Sept 12, 2017.  Copyright (c) Timothy A. Davis\n\
                 triplet: 2-by-2, nzmax: 4 nnz: 4\n\
                 0 0 : 2\n0 1 : 0.5\n1 0 : 0.5\n1 1 : 1\n{end}"
            ),
        ),
        text(
            "columns",
            &format!(
                "2\n1\n2\n2\n2\n1\n2-by-2, nzmax: 4 nnz: 4, 1-norm: 2.5\n\
                 col 0 : locations 0 to 1\n0 : 2\n1 : 0.5\n\
                 col 1 : locations 2 to 3\n0 : 0.5\n1 : 1\n{end}"
            ),
        ),
    ];
    for file in &files {
        let problem = read(&file.0).unwrap_or_else(|error| panic!("{error}")).problem;
        assert_eq!(problem.v_rel_free, [[-1.0, 0.7, 0.0]]);
        assert_eq!(problem.laws, [Law::Coulomb { friction: 0.5 }]);
        let w = dense(&problem);
        assert_eq!([w[0][0], w[0][1], w[1][0], w[1][1], w[2][2]], [2.0, 0.5, 0.5, 1.0, 0.0]);
    }
}

#[test]
fn mistakes_in_text_files_are_named_with_their_line() {
    let cases = [
        ("4\n1\n0\n4\n4\n", "neither 2 nor 3"),
        ("3\n1\n7\n3\n3\n", "storage 7"),
        ("3\n1\n0\n3\n3\n3 3\n1 0 0\n", "before the problem is complete"),
        ("2\n1\n0\n2\n2\n2 2\n1 0 0 nan\n0 0\n0.5\n", "`nan` is not a finite number"),
        ("2\n1\n0\n2\n2\n2 2\n1 0 0 1\n0 0\n-0.5\n", "friction must not be negative"),
        ("2\n1\n0\n2\n2\n2 2\n1 0 3 1\n0 0\n0.5\n", "W"),
    ];
    for (k, (content, words)) in cases.into_iter().enumerate() {
        refused(&text(&format!("mistake-{k}"), content), &[words]);
    }
}

#[test]
fn a_solution_is_written_into_a_copy_of_local_and_global_problems() {
    let bodies: Vec<Entry> = (0..6).map(|k| (k, k, 1.0 + k as f64)).collect();
    let h: Vec<Entry> = (0..6)
        .flat_map(|i| (0..6).map(move |j| (i, j, ((3 * i + 5 * j) % 7) as f64 / 7.0)))
        .collect();
    let g: Vec<Entry> = [0, 1, 5].iter().flat_map(|i| [(*i, 0, 1.0), (*i, 1, 1.0)]).collect();
    let f = [1.0, -2.0, 0.5, 0.0, 3.0, -1.0];
    let local = Temporary::new("local-solution");
    write(&local.0, &balls(), &Info::default(), None).unwrap();
    let files = [
        local,
        global("free-solution", &bodies, &h, &[], &f, -2),
        global("held-solution", &bodies, &h, &g, &f, -1),
    ];
    for (k, file) in files.iter().enumerate() {
        let stored = read(&file.0).unwrap();
        let r: Vec<[f64; 3]> =
            (0..stored.problem.len()).map(|a| [1.0 + a as f64, 0.1, -0.2]).collect();
        let copy = Temporary::new(&format!("copy-{k}"));
        write_solution(&file.0, &copy.0, &r).unwrap();
        let again = read(&copy.0).unwrap();
        assert_eq!((again.form, again.solution.as_deref()), (stored.form, Some(&r[..])));
        assert_eq!(dense(&again.problem), dense(&stored.problem));
        // The velocities are those of the reduced problem.
        let w = dense(&stored.problem);
        let q = stored.problem.v_rel_free.as_flattened();
        let reader = hdf5_pure::File::from_bytes(std::fs::read(&copy.0).unwrap()).unwrap();
        let u = reader.dataset("solution/u").unwrap().read_f64().unwrap();
        for (i, u) in u.iter().enumerate() {
            let expected: f64 =
                q[i] + w[i].iter().zip(r.as_flattened()).map(|(w, r)| w * r).sum::<f64>();
            assert!((u - expected).abs() < 1e-10, "{k}, {i}: {u} {expected}");
        }
        if k > 0 {
            // Of bodies with G, the constraints hold: v_0 + v_1 + v_5 = −0.25.
            let v = reader.dataset("solution/v").unwrap().read_f64().unwrap();
            let held = (v[0] + v[1] + v[5] + 0.25).abs() < 1e-10;
            assert!(v.len() == 6 && (k == 1 || held), "{v:?}");
        }
        let error = write_solution(&file.0, &copy.0, &r[1..]).unwrap_err().to_string();
        assert!(error.contains("unknowns"), "{error}");
    }
}
