//! The factors of W = Hᵀ M⁻¹ H of a contact problem as arrays, and unique forces from them.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use riprap::friction::{
    DeformationLaw, Delassus, Factored, ForceLaw, ProblemArrays, RestProblem, RestReport,
    RestSolution,
};
use riprap::math::Vec3;

use crate::exit;
use crate::law::{self, Callable, Raised};
use crate::network::{rest_forces as rest_options, status_word};
use crate::problem::{ContactProblem, triples};
use crate::{convert, errors};

/// Entries of a sparse matrix: row, column, value.
type Entries = Vec<(usize, usize, f64)>;

impl ContactProblem {
    /// The arrays of a factored problem.
    fn arrays(&self) -> PyResult<ProblemArrays> {
        let mut arrays = ProblemArrays::default();
        match arrays.fill(&self.core) {
            true => Ok(arrays),
            false => Err(errors::value(
                "this problem stores W itself, not its factors; those of simulations and of ContactProblem.factored have them",
            )),
        }
    }

    /// Entries of Hᵀ, or of (M⁻¹ H)ᵀ.
    fn entries(&self, solved: bool) -> PyResult<Entries> {
        let arrays = self.arrays()?;
        let mut entries = Entries::new();
        let n = arrays.blocks.len();
        for a in 0..n {
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                let block = arrays.blocks[a][side];
                if block == Factored::NONE {
                    continue;
                }
                let arm = Vec3::from(arrays.arms[a][side]);
                for (i, axis) in arrays.frames[a].iter().enumerate() {
                    let force = Vec3::from(*axis) * sign;
                    let moment = arm.cross(&force);
                    push(&arrays, &mut entries, 3 * a + i, block, (force, moment), solved);
                }
            }
            for s in arrays.side_start[a]..arrays.side_start[a + 1] {
                let [first, blocks] = arrays.side_blocks[s as usize];
                let width = 6 * blocks as usize;
                let start = arrays.side_rows[s as usize] as usize;
                let start = if solved { start + 3 * width } else { start };
                for (k, x) in arrays.rows[start..start + 3 * width].iter().enumerate() {
                    let column = 6 * first as usize + k % width;
                    entries.push((3 * a + k / width, column, *x));
                }
            }
        }
        for (k, blocks) in arrays.moment_blocks.iter().enumerate() {
            for (block, sign) in
                blocks.iter().zip([-1.0, 1.0]).filter(|(b, _)| **b != Factored::NONE)
            {
                for i in 0..3 {
                    let moment = Vec3::ith(i, sign * arrays.moment_length[k]);
                    let wrench = (Vec3::zeros(), moment);
                    push(&arrays, &mut entries, 3 * (n + k) + i, *block, wrench, solved);
                }
            }
        }
        Ok(entries)
    }

    fn dense<'py>(&self, py: Python<'py>, solved: bool) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (rows, columns) = (6 * self.n_blocks(), 3 * self.core.len());
        let mut dense = vec![0.0; rows * columns];
        for (row, column, x) in self.entries(solved)? {
            dense[column * columns + row] += x;
        }
        let shaped = PyArray1::from_vec(py, dense).call_method1("reshape", (rows, columns))?;
        Ok(shaped.cast_into::<PyArray2<f64>>()?)
    }

    fn sparse<'py>(&self, py: Python<'py>, solved: bool) -> PyResult<Bound<'py, PyAny>> {
        let entries = self.entries(solved)?;
        let data = PyArray1::from_vec(py, entries.iter().map(|e| e.2).collect());
        let columns = PyArray1::from_vec(py, entries.iter().map(|e| e.0 as i64).collect());
        let rows = PyArray1::from_vec(py, entries.iter().map(|e| e.1 as i64).collect());
        let shape = PyDict::new(py);
        shape.set_item("shape", (6 * self.n_blocks(), 3 * self.core.len()))?;
        let scipy = py.import("scipy.sparse")?;
        scipy.getattr("csr_matrix")?.call(((data, (rows, columns)),), Some(&shape))
    }
}

/// Adds a row of Hᵀ for a block, given as force and moment per unit impulse; multiplied by the inverse mass if `solved`.
fn push(
    arrays: &ProblemArrays,
    entries: &mut Entries,
    row: usize,
    block: u32,
    (force, moment): (Vec3, Vec3),
    solved: bool,
) {
    let b = block as usize;
    let (mut force, mut moment) = (force, moment);
    if solved {
        let [xx, yy, zz, xy, xz, yz] = arrays.inverse_inertia[b];
        force.component_mul_assign(&Vec3::from(arrays.inverse_mass[b]));
        moment = Vec3::new(
            xx * moment.x + xy * moment.y + xz * moment.z,
            xy * moment.x + yy * moment.y + yz * moment.z,
            xz * moment.x + yz * moment.y + zz * moment.z,
        );
    }
    let values = force.iter().chain(moment.iter()).enumerate();
    entries.extend(values.filter(|(_, x)| **x != 0.0).map(|(k, x)| (row, 6 * b + k, *x)));
}

#[pymethods]
impl ContactProblem {
    /// Number of blocks of six velocities: one per body that impulses move, several for a mechanism. 0 if only W is stored.
    #[getter]
    fn n_blocks(&self) -> usize {
        match &self.core.w {
            Delassus::Factored(w) => w.n_blocks(),
            Delassus::Blocks(_) => 0,
        }
    }

    /// H as a dense matrix: V = Hᵀ v + V_free for changes v of the block velocities [m/s, rad/s]. It has 6 rows per block and 3
    /// columns per contact. ValueError if only W is stored, as in a file.
    pub fn h<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.dense(py, false)
    }

    /// H as a scipy.sparse.csr_matrix.
    pub fn h_sparse<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.sparse(py, false)
    }

    /// M⁻¹ H as a dense matrix [1/kg, 1/(kg m)]; W = Hᵀ M⁻¹ H.
    pub fn m_inverse_h<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.dense(py, true)
    }

    /// M⁻¹ H as a scipy.sparse.csr_matrix.
    pub fn m_inverse_h_sparse<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.sparse(py, true)
    }
}

/// A force law from Python.
struct Given {
    force: Callable,
    stiffness: Callable,
}

impl DeformationLaw for Given {
    fn force(&self, contact: usize, deformation: f64) -> f64 {
        self.force.number((contact, deformation))
    }

    fn stiffness(&self, contact: usize, deformation: f64) -> f64 {
        self.stiffness.number((contact, deformation))
    }
}

/// Unique forces of contacts with given resultants: forces [N], what each contact does, and how they were found.
///
/// >>> import riprap as rr
/// >>> frame = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
/// >>> arms = [[[0, 0, 0], [x - 0.2, 0, 0]] for x in (-1, 0, 1)]  # a beam on three supports
/// >>> beam = rr.ContactProblem.factored([1 / 3], [[[1, 0, 0], [0, 1, 0], [0, 0, 1]]], [[-1, 0]] * 3, [frame] * 3, arms, [[0, 0, 0]] * 3, [0.5] * 3)
/// >>> found = rr.rest_forces(beam, [[0, 0, 30, 0, 0, 0]])  # 30 N are carried
/// >>> found.forces[:, 0].round(6).tolist(), found.converged
/// ([7.0, 10.0, 13.0], True)
#[pyclass(frozen, module = "riprap")]
pub struct RestForces {
    solution: RestSolution,
    displacements: Vec<[f64; 6]>,
}

#[pymethods]
impl RestForces {
    /// Forces on the second body along (n, t1, t2) [N], one row per contact.
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        triples(py, &self.solution.forces)
    }

    /// What each contact does: open, sticking or sliding.
    #[getter]
    fn status(&self) -> Vec<&'static str> {
        self.solution.status.iter().map(|status| status_word(*status)).collect()
    }

    /// Displacements of the blocks for springs of 1 N/m, six numbers per row [m, rad]; a start for similar problems.
    #[getter]
    fn displacements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        convert::table(py, self.displacements.as_flattened().to_vec(), 6)
    }

    /// Whether all bodies have their resultants.
    #[getter]
    fn converged(&self) -> bool {
        self.solution.report.converged
    }

    /// Number of iterations.
    #[getter]
    fn iterations(&self) -> usize {
        self.solution.report.iterations
    }

    /// Largest error of a resultant, relative to the weight of its body [–].
    #[getter]
    fn residual(&self) -> f64 {
        self.solution.report.residual
    }

    /// Blocks whose contacts cannot provide the resultant, with the error relative to their weight [–]; the worst first.
    #[getter]
    fn unbalanced(&self) -> Vec<(u32, f64)> {
        self.solution.report.unbalanced.clone()
    }

    fn __repr__(&self) -> String {
        let RestReport { converged, residual, .. } = &self.solution.report;
        format!("<RestForces: converged {converged}, residual {residual:.1e}>")
    }
}

/// Unique forces of the contacts of a factored problem that have the resultants `required` on each block: force [N] and moment
/// about its centre [N m], six numbers per row. Contacts deform by microscopic displacements of the bodies (Schwager and Pöschel
/// 2002, Sec. 8) under a law: linear, hertz, or two callables of (contact, deformation [m]) for the force [N] and the
/// stiffness [N/m]. `stiffness` is relative, per contact [–]; `sliding` gives velocities along (t1, t2) of contacts that
/// slide; `weights` [N] scale errors; `start` are displacements to start from. Other options are those of
/// `Simulation.force_network`.
///
/// >>> import riprap as rr
/// >>> frame = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
/// >>> ball = rr.ContactProblem.factored([1.0], [[[1, 0, 0], [0, 1, 0], [0, 0, 1]]], [[-1, 0]], [frame], [[[0, 0, 0], [0, 0, -0.1]]], [[0, 0, 0]], [0.5])
/// >>> rr.rest_forces(ball, [[0, 0, 9.81, 0, 0, 0]]).forces.round(6).tolist()
/// [[9.81, 0.0, 0.0]]
#[pyfunction]
#[pyo3(signature = (problem, required, law=None, *, friction="associated", ratio=0.2857142857142857, method="newton", tolerance=1e-10, max_iterations=1000, stiffness=None, sliding=None, weights=None, start=None))]
pub fn rest_forces(
    py: Python,
    problem: &ContactProblem,
    required: Vec<[f64; 6]>,
    law: Option<&Bound<PyAny>>,
    friction: &str,
    ratio: f64,
    method: &str,
    tolerance: f64,
    max_iterations: usize,
    stiffness: Option<Vec<f64>>,
    sliding: Option<Vec<Option<[f64; 2]>>>,
    weights: Option<Vec<f64>>,
    start: Option<Vec<[f64; 6]>>,
) -> PyResult<RestForces> {
    let Delassus::Factored(contacts) = &problem.core.w else {
        problem.arrays()?;
        return Err(errors::value("a factored problem is needed"));
    };
    let mut raised: Vec<Raised> = Vec::new();
    let word = law.map_or(Ok("linear".to_owned()), |law| law.extract::<String>());
    let rest = match (word, law) {
        (Ok(word), _) => rest_options(&word, friction, ratio, method, tolerance, max_iterations)?,
        (Err(_), law) => {
            let pair = law.and_then(|law| law.extract::<(Bound<PyAny>, Bound<PyAny>)>().ok());
            let Some((force, slope)) = pair.filter(|(f, s)| f.is_callable() && s.is_callable())
            else {
                return Err(errors::value(
                    "a law is \"linear\", \"hertz\", or two callables: force and stiffness",
                ));
            };
            let rest = rest_options("linear", friction, ratio, method, tolerance, max_iterations)?;
            let force = Callable::new(&force, &mut raised);
            let stiffness = Callable::new(&slope, &mut raised);
            rest.law(ForceLaw::Given(Arc::new(Given { force, stiffness })))
        }
    };
    let (stiffness, weights) = (stiffness.unwrap_or_default(), weights.unwrap_or_default());
    let sliding = sliding.unwrap_or_default();
    let mut displacements = start.unwrap_or_default();
    let found = exit::detach(py, || {
        let problem = RestProblem {
            stiffness: &stiffness,
            sliding: &sliding,
            weights: &weights,
            ..RestProblem::new(contacts, &problem.core.laws, &required)
        };
        rest.solve(&problem, &mut displacements)
    });
    law::check(&raised)?;
    Ok(RestForces { solution: found.map_err(errors::value)?, displacements })
}
