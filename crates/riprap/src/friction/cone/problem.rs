//! The cone complementarity problem in its own unknowns: only rows that can move something, scaled
//! to a unit diagonal. Two rows per planar contact, three per spatial one, one per unilateral
//! constraint.

use super::super::residual::{self, Residual, squared};
use super::super::rolling::largest;
use super::super::{Blocks, ContactProblem, Delassus, Factored, Law, Measure, Operator};
use crate::math::bytes_of;

/// A row whose diagonal of `W` is below this fraction of the largest of its triple moves nothing.
const LOCKED: f64 = 1e-14;

/// The set of admissible impulses of one constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Set {
    /// Any impulse: a bilateral constraint.
    All,
    /// `x ≥ 0`: a contact without friction, a rope.
    HalfLine,
    /// `‖x_t‖ ≤ μ x_n`, with `x_t` of one (planar) or two components.
    Cone {
        /// `μ` of the contact [–].
        friction: f64,
        /// `μ` of the scaled unknowns [–].
        scaled: f64,
    },
}

impl Set {
    /// Projects scaled unknowns onto the set.
    #[inline]
    pub(super) fn project(self, x: &mut [f64]) {
        match self {
            Set::All => {}
            Set::HalfLine => x[0] = x[0].max(0.0),
            Set::Cone { scaled: mu, .. } => {
                let t = match *x {
                    [_, t] => t.abs(),
                    [_, t1, t2] => (t1 * t1 + t2 * t2).sqrt(),
                    _ => 0.0,
                };
                if mu * t <= -x[0] {
                    x.fill(0.0);
                } else if t > mu * x[0] {
                    let n = (mu * t + x[0]) / (1.0 + mu * mu);
                    let share = mu * n / t;
                    x[0] = n;
                    x[1..].iter_mut().for_each(|x| *x *= share);
                }
            }
        }
    }

    /// The law in the unknowns of the contact problem.
    fn law(self) -> Law {
        match self {
            Set::All => Law::Bilateral,
            Set::HalfLine => Law::Cone { friction: 0.0 },
            Set::Cone { friction, .. } => Law::Cone { friction },
        }
    }
}

/// The rows of one constraint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    /// First row and number of rows.
    pub first: u32,
    pub n: u32,
    pub set: Set,
    /// Bound on the eigenvalues of its diagonal block of the scaled `N` [–].
    pub bound: f64,
    /// First and last of its blocks of velocities, and its first entry.
    blocks: [u32; 2],
    entries: usize,
}

impl Rows {
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.n) as usize
    }
}

/// A cone complementarity problem: minimize `½ γᵀ N γ + rᵀ γ` over Coulomb's cones, with
/// `N = Dᵀ M⁻¹ D`.
///
/// Unknowns are only the rows that move something: two per planar contact, three per spatial one,
/// one per contact without friction, those of bilateral constraints. Impulses are scaled row by row
/// to a unit diagonal of `N` (in space both tangents by the same factor), which turns `μ` into
/// another one and leaves the minimum unchanged. `N` is applied without being multiplied out.
///
/// ```
/// use riprap::friction::{ConeProblem, ContactProblem, Factored, InverseMass, Law};
///
/// // A disc of 2 kg in the plane (x, y) that touches the ground: no unknown along z.
/// let mut problem = ContactProblem::default();
/// let disc = InverseMass { linear: [0.5, 0.5, 0.0], angular: [0.0, 0.0, 1.0, 0.0, 0.0, 0.0] };
/// let w = problem.w.make_factored();
/// w.reset([disc].into_iter());
/// let frame = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]];
/// w.push([Factored::NONE, 0], frame, [[0.0; 3], [0.0, -0.5, 0.0]]);
/// problem.v_rel_free.push([-1.0, 0.2, 0.0]);
/// problem.laws.push(Law::Cone { friction: 0.5 });
///
/// assert_eq!(ConeProblem::new(&problem).n_rows(), 2);
/// ```
#[derive(Debug, Default)]
pub struct ConeProblem {
    pub(super) cones: Vec<Rows>,
    /// Index of each row among the unknowns of the contact problem, `3a + i`.
    places: Vec<u32>,
    /// Factor from scaled unknowns to impulses in units of this problem.
    scale: Vec<f64>,
    /// The scaled `r`.
    pub(super) free: Vec<f64>,
    /// A power of two: impulses and velocities are multiplied by it.
    unit: f64,
    form: Form,
    /// Blocks of velocities of the cones, and rows of `Dᵀ` and `(M⁻¹ D)ᵀ` for each block.
    blocks: Vec<u32>,
    d: Vec<[f64; 6]>,
    solved: Vec<[f64; 6]>,
    n_blocks: usize,
    /// Sparse rows of `N` for stored problems.
    row_start: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// Row of each unknown of the contact problem, for the conversion of stored problems.
    rows: Vec<u32>,
    /// For the residual: `w̄`, `‖V_free‖`, the unit of velocities in its sums.
    mobility: f64,
    free_norm: f64,
    velocity_unit: f64,
    approach_scale: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Form {
    #[default]
    Factored,
    Matrix,
}

const NO_ROW: u32 = u32::MAX;

impl ConeProblem {
    /// The cone problem of a contact problem without rolling resistance; Coulomb's law is relaxed.
    pub fn new(problem: &ContactProblem) -> ConeProblem {
        let mut cone = ConeProblem::default();
        cone.set(problem);
        cone
    }

    /// Number of unknowns.
    pub fn n_rows(&self) -> usize {
        self.free.len()
    }

    /// Number of constraints that can move something.
    pub fn n_cones(&self) -> usize {
        self.cones.len()
    }

    /// `½ γᵀ N γ + rᵀ γ` [J] of impulses of the contact problem [N s].
    pub fn objective(&self, impulses: &[[f64; 3]]) -> f64 {
        let (mut x, mut nx) = (Vec::new(), Vec::new());
        self.read(impulses, &mut x);
        self.apply(&x, &mut nx, &mut Vec::new());
        let twice: f64 = (0..x.len()).map(|i| x[i] * (nx[i] + 2.0 * self.free[i])).sum();
        0.5 * twice / self.unit / self.unit
    }

    /// Bytes held by the buffers.
    pub(super) fn bytes(&self) -> usize {
        bytes_of(&self.cones)
            + bytes_of(&self.places)
            + bytes_of(&self.scale)
            + bytes_of(&self.free)
            + bytes_of(&self.blocks)
            + bytes_of(&self.d)
            + bytes_of(&self.solved)
            + bytes_of(&self.row_start)
            + bytes_of(&self.columns)
            + bytes_of(&self.values)
            + bytes_of(&self.rows)
    }

    /// Sets up the problem, in the buffers of the last one.
    pub(super) fn set(&mut self, problem: &ContactProblem) {
        self.cones.clear();
        self.places.clear();
        self.scale.clear();
        self.rows.clear();
        self.rows.resize(3 * problem.len(), NO_ROW);
        let trace = match &problem.w {
            Delassus::Factored(w) => {
                (0..problem.len()).for_each(|a| self.push(problem.laws[a], a, w.diagonal(a)));
                w.trace()
            }
            Delassus::Blocks(w) => {
                (0..problem.len()).for_each(|a| self.push(problem.laws[a], a, w.diagonal(a)));
                w.trace()
            }
        };
        self.set_free(problem);
        match &problem.w {
            Delassus::Factored(w) => self.set_factors(w),
            Delassus::Blocks(w) => self.set_matrix(w),
        }
        self.mobility = trace / (3.0 * problem.len().max(1) as f64);
        self.velocity_unit = residual::unit(problem.largest_free());
        let unit = self.velocity_unit;
        self.free_norm =
            problem.v_rel_free.iter().map(|v| squared(v.map(|x| unit * x))).sum::<f64>().sqrt();
        self.approach_scale = problem.approach_scale;
    }

    /// The rows of triple `a` that can move something.
    fn push(&mut self, law: Law, a: usize, w: &[[f64; 3]; 3]) {
        let largest_of = w[0][0].max(w[1][1]).max(w[2][2]);
        // Also false for NaN.
        let moves = |i: usize| w[i][i] > 0.0 && w[i][i] > LOCKED * largest_of;
        let first = self.places.len();
        let friction = law.friction();
        let normal_only = friction == Some(0.0);
        if friction.is_some() && !moves(0) {
            return;
        }
        for i in (0..3).filter(|i| moves(*i) && (*i == 0 || !normal_only)) {
            self.rows[3 * a + i] = self.places.len() as u32;
            self.places.push((3 * a + i) as u32);
            self.scale.push(1.0 / w[i][i].sqrt());
        }
        let n = self.places.len() - first;
        if n == 0 {
            return;
        }
        let set = match friction {
            None => Set::All,
            Some(_) if n == 1 => Set::HalfLine,
            Some(friction) => {
                let tangents = &mut self.scale[first + 1..];
                // A circle stays one only if both tangents are scaled alike.
                if n == 3 {
                    tangents.fill(1.0 / (0.5 * (w[1][1] + w[2][2])).sqrt());
                }
                let scaled = friction * self.scale[first] / self.scale[first + 1];
                Set::Cone { friction, scaled }
            }
        };
        let mut block = [[0.0; 3]; 3];
        for (k, i) in self.places[first..].iter().map(|p| (p % 3) as usize).enumerate() {
            for (l, j) in self.places[first..].iter().map(|p| (p % 3) as usize).enumerate() {
                block[k][l] = w[i][j] * self.scale[first + k] * self.scale[first + l];
            }
        }
        let (first, n) = (first as u32, n as u32);
        let bound = largest(&block);
        self.cones.push(Rows { first, n, set, bound, blocks: [0; 2], entries: 0 });
    }

    /// The scaled `r`, of size one.
    fn set_free(&mut self, problem: &ContactProblem) {
        let free = problem.v_rel_free.as_flattened();
        self.free.clear();
        self.free.extend(self.places.iter().zip(&self.scale).map(|(p, s)| free[*p as usize] * s));
        let largest = self.free.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        self.unit = match largest {
            x if x > 0.0 && x.is_finite() => 2f64.powi(-(x.log2() as i32).clamp(-1000, 1000)),
            _ => 1.0,
        };
        self.free.iter_mut().for_each(|x| *x *= self.unit);
    }

    fn set_factors(&mut self, w: &Factored) {
        self.form = Form::Factored;
        self.n_blocks = w.n_blocks();
        self.blocks.clear();
        self.d.clear();
        self.solved.clear();
        let ConeProblem { cones, places, scale, blocks, d, solved, .. } = self;
        for cone in cones {
            let a = places[cone.first as usize] as usize / 3;
            (cone.blocks[0], cone.entries) = (blocks.len() as u32, d.len());
            let rows = cone.range().map(|k| ((places[k] % 3) as usize, scale[k]));
            for side in 0..2 {
                let block = w.contacts()[a].blocks[side];
                if block == Factored::NONE {
                    continue;
                }
                blocks.push(block);
                for (i, s) in rows.clone() {
                    let (h, m) = w.row(a, side, i);
                    d.push(h.map(|x| s * x));
                    solved.push(m.map(|x| s * x));
                }
            }
            for (first, h, m) in w.row_sides(a) {
                let n = h.len() / 3;
                for block in 0..n / 6 {
                    blocks.push(first + block as u32);
                    for (i, s) in rows.clone() {
                        let at = i * n + 6 * block;
                        d.push(std::array::from_fn(|j| s * h[at + j]));
                        solved.push(std::array::from_fn(|j| s * m[at + j]));
                    }
                }
            }
            cone.blocks[1] = blocks.len() as u32;
        }
    }

    fn set_matrix(&mut self, w: &Blocks) {
        self.form = Form::Matrix;
        self.row_start.clear();
        self.row_start.push(0);
        self.columns.clear();
        self.values.clear();
        for (k, place) in self.places.iter().enumerate() {
            let (a, i) = (*place as usize / 3, *place as usize % 3);
            for (b, block) in w.row(a) {
                for j in 0..3 {
                    let column = self.rows[3 * b + j];
                    if column != NO_ROW && block[i][j] != 0.0 {
                        self.columns.push(column);
                        self.values.push(block[i][j] * self.scale[k] * self.scale[column as usize]);
                    }
                }
            }
            self.row_start.push(self.columns.len());
        }
    }

    /// `N x`. `v` receives `M⁻¹ D x` of a factored problem.
    pub(super) fn apply(&self, x: &[f64], out: &mut Vec<f64>, v: &mut Vec<[f64; 6]>) {
        self.start(x, v);
        out.clear();
        out.resize(x.len(), 0.0);
        for cone in &self.cones {
            self.velocity(cone, x, v, &mut out[cone.range()]);
        }
    }

    /// `N x + r`.
    pub(super) fn gradient(&self, x: &[f64], out: &mut Vec<f64>, v: &mut Vec<[f64; 6]>) {
        self.apply(x, out, v);
        out.iter_mut().zip(&self.free).for_each(|(g, r)| *g += r);
    }

    /// `M⁻¹ D x` of a factored problem.
    pub(super) fn start(&self, x: &[f64], v: &mut Vec<[f64; 6]>) {
        if self.form == Form::Matrix {
            return;
        }
        v.clear();
        v.resize(self.n_blocks, [0.0; 6]);
        self.cones.iter().for_each(|cone| self.add(cone, &x[cone.range()], v));
    }

    /// The rows of one constraint in `N x`, with `v = M⁻¹ D x`.
    #[inline]
    pub(super) fn velocity(&self, cone: &Rows, x: &[f64], v: &[[f64; 6]], out: &mut [f64]) {
        if self.form == Form::Matrix {
            for (out, k) in out.iter_mut().zip(cone.range()) {
                let row = self.row_start[k]..self.row_start[k + 1];
                *out = row.map(|e| self.values[e] * x[self.columns[e] as usize]).sum();
            }
            return;
        }
        out.fill(0.0);
        let mut entry = cone.entries;
        for block in &self.blocks[cone.blocks[0] as usize..cone.blocks[1] as usize] {
            let v = &v[*block as usize];
            for (out, d) in out.iter_mut().zip(&self.d[entry..]) {
                *out += (d[0] * v[0] + d[1] * v[1] + d[2] * v[2])
                    + (d[3] * v[3] + d[4] * v[4] + d[5] * v[5]);
            }
            entry += out.len();
        }
    }

    /// Adds `M⁻¹ D` times a change of one constraint to the velocities of a factored problem.
    #[inline]
    pub(super) fn add(&self, cone: &Rows, change: &[f64], v: &mut [[f64; 6]]) {
        if self.form == Form::Matrix {
            return;
        }
        let mut entry = cone.entries;
        for block in &self.blocks[cone.blocks[0] as usize..cone.blocks[1] as usize] {
            let v = &mut v[*block as usize];
            for (change, m) in change.iter().zip(&self.solved[entry..]) {
                for j in 0..6 {
                    v[j] += m[j] * change;
                }
            }
            entry += change.len();
        }
    }

    /// Projects onto the cones.
    pub(super) fn project(&self, x: &mut [f64]) {
        self.cones.iter().for_each(|cone| cone.set.project(&mut x[cone.range()]));
    }

    /// The scaled unknowns of impulses, projected onto the cones.
    pub(super) fn read(&self, impulses: &[[f64; 3]], x: &mut Vec<f64>) {
        let impulses = impulses.as_flattened();
        x.clear();
        let rows = self.places.iter().zip(&self.scale);
        x.extend(rows.map(|(p, s)| self.unit * (impulses[*p as usize] / s)));
        self.project(x);
    }

    /// The impulses of scaled unknowns; zero in rows that the problem does not have.
    pub(super) fn write(&self, x: &[f64], impulses: &mut [[f64; 3]]) {
        let impulses = impulses.as_flattened_mut();
        impulses.fill(0.0);
        for ((x, p), s) in x.iter().zip(&self.places).zip(&self.scale) {
            impulses[*p as usize] = s * x / self.unit;
        }
    }

    /// The residual of unknowns whose gradient is known, as [`residual::residual`] measures it on
    /// the rows of this problem: the natural map in the given measure [–], and the approach in units
    /// of the resolution [–].
    pub(super) fn measure(&self, x: &[f64], gradient: &[f64], measure: Measure) -> (f64, f64) {
        let unit = self.velocity_unit / self.unit;
        let mut sum = Residual::default();
        for cone in &self.cones {
            let (mut r, mut u) = ([0.0; 3], [0.0; 3]);
            for (i, k) in cone.range().enumerate() {
                r[i] = unit * (self.mobility * (self.scale[k] * x[k]));
                u[i] = unit * (gradient[k] / self.scale[k]);
            }
            sum.note(cone.set.law(), r, [0.0; 3], u, 0.0);
        }
        let sum = Residual { free: self.free_norm, ..sum.roots() };
        (measure.of(&sum), sum.approach / self.velocity_unit * self.approach_scale)
    }

    /// The lower triangle of `N` by rows: starts, columns in increasing order, values. Each row
    /// ends with its diagonal.
    pub(super) fn lower(&self) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
        let users = self.users();
        let (mut start, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut seen = vec![usize::MAX; self.cones.len()];
        let mut row: Vec<(u32, f64)> = Vec::new();
        for (c, cone) in self.cones.iter().enumerate() {
            for k in cone.range() {
                row.clear();
                match self.form {
                    Form::Matrix => {
                        let entries = self.row_start[k]..self.row_start[k + 1];
                        let own = entries.map(|e| (self.columns[e], self.values[e]));
                        row.extend(own.filter(|(column, _)| *column as usize <= k));
                    }
                    Form::Factored => {
                        let of = self.blocks[cone.blocks[0] as usize..cone.blocks[1] as usize]
                            .iter()
                            .flat_map(|block| &users[*block as usize]);
                        for &other in of.filter(|other| **other as usize <= c) {
                            if std::mem::replace(&mut seen[other as usize], k) != k {
                                self.couple(cone, k, &self.cones[other as usize], &mut row);
                            }
                        }
                    }
                }
                if !row.iter().any(|(column, _)| *column as usize == k) {
                    row.push((k as u32, 1.0));
                }
                row.sort_by_key(|(column, _)| *column);
                columns.extend(row.iter().map(|(column, _)| *column));
                values.extend(row.iter().map(|(_, value)| *value));
                start.push(columns.len());
            }
        }
        (start, columns, values)
    }

    /// The constraints of each block of velocities.
    fn users(&self) -> Vec<Vec<u32>> {
        let mut users = vec![Vec::new(); if self.form == Form::Matrix { 0 } else { self.n_blocks }];
        if self.form == Form::Factored {
            for (c, cone) in self.cones.iter().enumerate() {
                for block in &self.blocks[cone.blocks[0] as usize..cone.blocks[1] as usize] {
                    users[*block as usize].push(c as u32);
                }
            }
        }
        users
    }

    /// Entries of row `k` of a constraint up to the diagonal, in the columns of another one.
    fn couple(&self, cone: &Rows, k: usize, other: &Rows, row: &mut Vec<(u32, f64)>) {
        let blocks = |c: &Rows| c.blocks[0] as usize..c.blocks[1] as usize;
        for column in other.range().take_while(|column| *column <= k) {
            let mut sum = 0.0;
            for (i, own) in blocks(cone).enumerate() {
                for (j, theirs) in blocks(other).enumerate() {
                    if self.blocks[own] == self.blocks[theirs] {
                        let d = cone.entries + i * cone.n as usize + (k - cone.first as usize);
                        let at = other.entries + j * other.n as usize;
                        let m = at + (column - other.first as usize);
                        sum += (0..6).map(|l| self.d[d][l] * self.solved[m][l]).sum::<f64>();
                    }
                }
            }
            row.push((column as u32, sum));
        }
    }
}
