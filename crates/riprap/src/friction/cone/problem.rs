//! The cone complementarity problem in its own unknowns: only rows that can move something, scaled
//! to a unit diagonal. Two rows per planar contact, three per spatial one, one per unilateral
//! constraint.

use super::super::residual::{self, Residual, squared};
use super::super::rolling::largest;
use super::super::{Blocks, ContactProblem, Delassus, Factored, Law, Measure, Operator};
use super::factors::Factors;
use super::matrix::Matrix;
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
    /// Projects scaled unknowns onto the set; absent ones are zero.
    #[inline(always)]
    pub(super) fn project(self, x: [f64; 3]) -> [f64; 3] {
        match self {
            Set::All => x,
            Set::HalfLine => [x[0].max(0.0), 0.0, 0.0],
            Set::Cone { scaled: mu, .. } => {
                let t = (x[1] * x[1] + x[2] * x[2]).sqrt();
                if mu * t <= -x[0] {
                    [0.0; 3]
                } else if t > mu * x[0] {
                    let n = (mu * t + x[0]) / (1.0 + mu * mu);
                    let share = mu * n / t;
                    [n, share * x[1], share * x[2]]
                } else {
                    x
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
}

impl Rows {
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.n) as usize
    }

    /// Its unknowns; zero in place of absent rows.
    #[inline(always)]
    pub(super) fn load(&self, x: &[f64]) -> [f64; 3] {
        match x[self.range()] {
            [n, t1, t2] => [n, t1, t2],
            [n, t1] => [n, t1, 0.0],
            [n] => [n, 0.0, 0.0],
            _ => [0.0; 3],
        }
    }

    /// Sets its unknowns.
    #[inline(always)]
    pub(super) fn store(&self, own: [f64; 3], x: &mut [f64]) {
        match &mut x[self.range()] {
            [n, t1, t2] => (*n, *t1, *t2) = (own[0], own[1], own[2]),
            [n, t1] => (*n, *t1) = (own[0], own[1]),
            [n] => *n = own[0],
            _ => {}
        }
    }

    /// `P(x − length · gradient)`.
    #[inline(always)]
    pub(super) fn descend(&self, x: [f64; 3], length: f64, gradient: [f64; 3]) -> [f64; 3] {
        let along = |i: usize| x[i] - length * gradient[i];
        self.set.project([along(0), along(1), along(2)])
    }
}

/// Velocities that impulses `x` cause, a linear function of `x`: `M⁻¹ D x`, six numbers per block,
/// of a factored problem; `N x`, in the order of the rows, of a stored one.
pub(super) type Velocities = Vec<[f64; 6]>;

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
    /// `Dᵀ` and `M⁻¹`, or `N` of stored problems.
    form: Form,
    factors: Factors,
    matrix: Matrix,
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
        let (mut x, mut v) = (Vec::new(), Vec::new());
        self.read(impulses, &mut x);
        let square = self.start(&x, &mut v);
        let twice = square + 2.0 * super::dot(&self.free, &x);
        0.5 * twice / self.unit / self.unit
    }

    /// Bytes held by the buffers.
    pub(super) fn bytes(&self) -> usize {
        bytes_of(&self.cones)
            + bytes_of(&self.places)
            + bytes_of(&self.scale)
            + bytes_of(&self.free)
            + self.factors.bytes()
            + self.matrix.bytes()
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
        self.cones.push(Rows { first, n, set, bound });
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
        self.factors.reset(w);
        for cone in &self.cones {
            let a = self.places[cone.first as usize] as usize / 3;
            let mut axes = [(0, 0.0); 3];
            for (axis, k) in axes.iter_mut().zip(cone.range()) {
                *axis = (self.places[k] as usize % 3, self.scale[k]);
            }
            self.factors.push(w, a, &axes[..cone.n as usize]);
        }
    }

    fn set_matrix(&mut self, w: &Blocks) {
        self.form = Form::Matrix;
        self.matrix.clear();
        for (k, place) in self.places.iter().enumerate() {
            let (a, i) = (*place as usize / 3, *place as usize % 3);
            for (b, block) in w.row(a) {
                for j in 0..3 {
                    let column = self.rows[3 * b + j];
                    if column != NO_ROW && block[i][j] != 0.0 {
                        let scale = self.scale[column as usize];
                        self.matrix.push(column, block[i][j] * self.scale[k] * scale);
                    }
                }
            }
            self.matrix.end_row();
        }
    }

    /// `N` of a stored problem.
    pub(super) fn matrix(&self) -> Option<&Matrix> {
        (self.form == Form::Matrix).then_some(&self.matrix)
    }

    /// `Dᵀ` and `M⁻¹` of a factored problem.
    pub(super) fn factors(&self) -> &Factors {
        &self.factors
    }

    /// The velocities of `x`. Returns `xᵀ N x`.
    pub(super) fn start(&self, x: &[f64], v: &mut Velocities) -> f64 {
        self.begin(v);
        if self.form == Form::Factored {
            for (c, cone) in self.cones.iter().enumerate() {
                self.factors.add_momenta(c, cone.load(x), v);
            }
        }
        self.finish(x, v)
    }

    /// One pass over the constraints: `step_of` returns the step of one from its rows and its
    /// gradient, at unknowns with the velocities `v`. Sets the step and its velocities, and returns
    /// `stepᵀ N step`.
    pub(super) fn step(
        &self,
        v: &Velocities,
        (step, v_step): (&mut Vec<f64>, &mut Velocities),
        mut step_of: impl FnMut(&Rows, [f64; 3]) -> [f64; 3],
    ) -> f64 {
        step.resize(self.n_rows(), 0.0);
        self.begin(v_step);
        for (c, cone) in self.cones.iter().enumerate() {
            let own = step_of(cone, self.gradient(c, v));
            cone.store(own, step);
            if self.form == Form::Factored {
                self.factors.add_momenta(c, own, v_step);
            }
        }
        self.finish(step, v_step)
    }

    fn begin(&self, v: &mut Velocities) {
        v.clear();
        let n = match self.form {
            Form::Factored => self.factors.n_blocks(),
            Form::Matrix => self.n_rows().div_ceil(6),
        };
        v.resize(n, [0.0; 6]);
    }

    /// The velocities of `x` from the momenta of free bodies. Returns `xᵀ N x`.
    fn finish(&self, x: &[f64], v: &mut Velocities) -> f64 {
        match self.form {
            Form::Factored => self.factors.solve(&self.cones, x, v),
            Form::Matrix => self.matrix.multiply(x, v.as_flattened_mut()),
        }
    }

    /// The rows of constraint `c` in `N x + r`, from the velocities of `x`.
    #[inline(always)]
    pub(super) fn gradient(&self, c: usize, v: &Velocities) -> [f64; 3] {
        let cone = &self.cones[c];
        let u = match self.form {
            Form::Factored => self.factors.velocity(c, v),
            Form::Matrix => cone.load(v.as_flattened()),
        };
        let r = cone.load(&self.free);
        [u[0] + r[0], u[1] + r[1], u[2] + r[2]]
    }

    /// Adds the velocities of a change of constraint `c`.
    #[inline]
    pub(super) fn add(&self, c: usize, change: [f64; 3], v: &mut Velocities) {
        match self.form {
            Form::Factored => self.factors.add(c, change, v),
            Form::Matrix => {
                for (k, change) in self.cones[c].range().zip(change) {
                    self.matrix.add(k, change, v.as_flattened_mut());
                }
            }
        }
    }

    /// Projects onto the cones.
    pub(super) fn project(&self, x: &mut [f64]) {
        self.cones.iter().for_each(|cone| cone.store(cone.set.project(cone.load(x)), x));
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

    /// The residual of unknowns whose velocities are known, as [`residual::residual`] measures it on
    /// the rows of this problem: the natural map in the given measure [–], and the approach in units
    /// of the resolution [–].
    pub(super) fn measure(&self, x: &[f64], v: &Velocities, measure: Measure) -> (f64, f64) {
        let unit = self.velocity_unit / self.unit;
        let mut sum = Residual::default();
        for (c, cone) in self.cones.iter().enumerate() {
            let (x, gradient, s) = (cone.load(x), self.gradient(c, v), cone.load(&self.scale));
            let r = |i: usize| unit * (self.mobility * (s[i] * x[i]));
            // Absent rows have no scale.
            let u = |i: usize| if i < cone.n as usize { unit * (gradient[i] / s[i]) } else { 0.0 };
            sum.note(cone.set.law(), [r(0), r(1), r(2)], [0.0; 3], [u(0), u(1), u(2)], 0.0);
        }
        let sum = Residual { free: self.free_norm, ..sum.roots() };
        (measure.of(&sum), sum.approach / self.velocity_unit * self.approach_scale)
    }
}
