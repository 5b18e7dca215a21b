//! Contact problems: their data as arrays, and files.

use std::path::PathBuf;
use std::sync::OnceLock;

use numpy::{PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use riprap::friction::{
    Blocks, ConeProblem, ContactProblem as CoreProblem, Delassus, Factored, Impulses, InverseMass,
    Law, Measure, residual,
};
use riprap_io::fclib::{self, Form, Info};

use crate::exit;
use crate::{convert, errors};

/// A contact problem: impulses I [N s] such that `V = W I + V_free` [m/s] obeys Signorini's condition and Coulomb's law at
/// every contact, in frames (n, t1, t2). W [1/kg] is a matrix of 3n rows, v_free has n rows of three, friction [–] n entries.
///
/// >>> import riprap as rr
/// >>> problem = rr.ContactProblem([[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]], v_free=[[-1.0, 0.2, 0.0]], friction=[0.5])
/// >>> rr.solve(problem, tolerance=1e-12).impulses[0, :2].round(9).tolist()
/// [2.0, -0.4]
#[pyclass(frozen, module = "riprap")]
pub struct ContactProblem {
    pub core: CoreProblem,
    impulses: Option<Impulses>,
    /// What else its file says.
    file: Option<Box<File>>,
    /// W multiplied out, when it is first needed.
    blocks: OnceLock<Blocks>,
}

/// The file of a problem.
#[derive(Clone)]
struct File {
    path: PathBuf,
    info: Info,
    form: Form,
    guesses: Vec<Impulses>,
}

impl ContactProblem {
    pub fn new(core: CoreProblem, impulses: Option<Impulses>) -> ContactProblem {
        ContactProblem { core, impulses, file: None, blocks: OnceLock::new() }
    }

    /// Fails unless there is one impulse per contact.
    pub fn check(&self, impulses: &[[f64; 3]]) -> PyResult<()> {
        let n = self.core.len();
        if impulses.len() != n {
            let got = impulses.len();
            return Err(errors::value(format!("{got} impulses for {n} contacts")));
        }
        Ok(())
    }

    /// `½ γᵀ N γ + rᵀ γ` [J], for cone complementarity.
    pub fn energy(&self, impulses: &[[f64; 3]]) -> Option<f64> {
        self.is_cone().then(|| ConeProblem::new(&self.core).objective(impulses))
    }

    fn blocks(&self) -> &Blocks {
        match &self.core.w {
            Delassus::Blocks(w) => w,
            Delassus::Factored(w) => self.blocks.get_or_init(|| w.to_blocks()),
        }
    }

    pub fn is_cone(&self) -> bool {
        self.core.laws.iter().any(|law| matches!(law, Law::Cone { .. }))
    }
}

/// `W` of `n` contacts from a matrix; blocks of zeros are left out.
pub fn blocks_of(w: &Bound<PyAny>, n: usize) -> PyResult<Blocks> {
    let numpy = w.py().import("numpy")?;
    let w = numpy.call_method1("ascontiguousarray", (w, "f8"))?;
    let w: PyReadonlyArray2<f64> =
        w.extract().map_err(|_| errors::value("W is a matrix of numbers"))?;
    if w.shape() != [3 * n, 3 * n] {
        return Err(errors::value(format!(
            "for {n} contacts, W has {0} rows and {0} columns; got W of shape {1:?}",
            3 * n,
            w.shape()
        )));
    }
    if !w.as_array().iter().all(|x| x.is_finite()) {
        return Err(errors::value("all data must be finite"));
    }
    let (array, mut blocks) = (w.as_array(), Blocks::default());
    for a in 0..n {
        for b in 0..n {
            let block: [[f64; 3]; 3] =
                std::array::from_fn(|i| std::array::from_fn(|j| array[[3 * a + i, 3 * b + j]]));
            if a == b || block.as_flattened().iter().any(|x| *x != 0.0) {
                blocks.push(b, block);
            }
        }
        blocks.end_row();
    }
    Ok(blocks)
}

/// Checks free velocities and coefficients of friction.
fn check_data(v_free: &[[f64; 3]], friction: &[f64]) -> PyResult<()> {
    let (n, m) = (v_free.len(), friction.len());
    if n != m {
        return Err(errors::value(format!("v_free has {n} rows, friction has {m} entries")));
    }
    let finite = v_free.as_flattened().iter().all(|x| x.is_finite());
    if !finite || !friction.iter().all(|mu| *mu >= 0.0 && mu.is_finite()) {
        return Err(errors::value("all data must be finite, and friction not negative"));
    }
    Ok(())
}

fn laws(friction: Vec<f64>, law: &str) -> PyResult<Vec<Law>> {
    friction.into_iter().map(|friction| law_of(friction, law)).collect()
}

fn law_of(friction: f64, law: &str) -> PyResult<Law> {
    match law {
        "coulomb" => Ok(Law::Coulomb { friction }),
        "cone" => Ok(Law::Cone { friction }),
        other => Err(errors::value(format!("no law `{other}`: coulomb, cone"))),
    }
}

/// The reference of a residual.
pub fn measure_of(word: &str) -> PyResult<Measure> {
    convert::word("measure", word, &[("all", Measure::All), ("impulses", Measure::Impulses)])
}

/// Rows of three as an array.
pub fn triples<'py>(py: Python<'py>, list: &[[f64; 3]]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    convert::table(py, list.as_flattened().to_vec(), 3)
}

#[pymethods]
impl ContactProblem {
    #[new]
    #[pyo3(signature = (w, v_free, friction, *, law="coulomb"))]
    fn py_new(
        w: &Bound<PyAny>,
        v_free: Vec<[f64; 3]>,
        friction: Vec<f64>,
        law: &str,
    ) -> PyResult<ContactProblem> {
        let n = v_free.len();
        let blocks = blocks_of(w, n)?;
        check_data(&v_free, &friction)?;
        let laws = laws(friction, law)?;
        let w = Delassus::Blocks(blocks);
        let core =
            CoreProblem { w, v_rel_free: v_free, laws, rolling: vec![], approach_scale: 0.0 };
        Ok(ContactProblem::new(core, None))
    }

    /// A problem whose W = Hᵀ M⁻¹ H is given by its factors: bodies with inverse masses [1/kg] and inverse inertias in the world
    /// frame (matrices) [1/(kg m²)]; for each contact two bodies (−1 for an immovable one), its frame (rows n, t1, t2; n points
    /// from the first to the second body), and the vectors from the centres of the bodies to the contact point [m].
    #[staticmethod]
    #[pyo3(signature = (inverse_masses, inverse_inertias, bodies, frames, arms, v_free, friction, *, law="coulomb"))]
    fn factored(
        inverse_masses: Vec<f64>,
        inverse_inertias: Vec<[[f64; 3]; 3]>,
        bodies: Vec<[i64; 2]>,
        frames: Vec<[[f64; 3]; 3]>,
        arms: Vec<[[f64; 3]; 2]>,
        v_free: Vec<[f64; 3]>,
        friction: Vec<f64>,
        law: &str,
    ) -> PyResult<ContactProblem> {
        check_data(&v_free, &friction)?;
        let n = v_free.len();
        if inverse_masses.len() != inverse_inertias.len()
            || [bodies.len(), frames.len(), arms.len()] != [n; 3]
        {
            return Err(errors::value(
                "there must be one inverse mass and one inverse inertia per body; one row of bodies, frames, arms, v_free and friction per contact",
            ));
        }
        let n_bodies = inverse_masses.len() as i64;
        if !bodies.as_flattened().iter().all(|b| (-1..n_bodies).contains(b)) {
            return Err(errors::value(format!("bodies are numbered from 0 to {}", n_bodies - 1)));
        }
        let numbers = inverse_masses.iter().chain(inverse_inertias.as_flattened().as_flattened());
        let numbers = numbers.chain(frames.as_flattened().as_flattened());
        if !numbers.chain(arms.as_flattened().as_flattened()).all(|x| x.is_finite()) {
            return Err(errors::value("all data must be finite"));
        }
        let mut w = Factored::default();
        w.reset(inverse_masses.iter().zip(&inverse_inertias).map(|(m, j)| InverseMass {
            linear: [*m; 3],
            angular: [j[0][0], j[1][1], j[2][2], j[0][1], j[0][2], j[1][2]],
        }));
        for ((bodies, frame), arms) in bodies.iter().zip(frames).zip(arms) {
            let block = |b: i64| u32::try_from(b).unwrap_or(Factored::NONE);
            w.push(bodies.map(block), frame, arms);
        }
        let (w, laws) = (Delassus::Factored(w), laws(friction, law)?);
        let core =
            CoreProblem { w, v_rel_free: v_free, laws, rolling: vec![], approach_scale: 0.0 };
        Ok(ContactProblem::new(core, None))
    }

    /// Reads a problem in the HDF5 layout of FCLib, or from a file whose name ends in .dat in the text format of Siconos; the
    /// impulses of a stored solution come with it. RuntimeWarning if it may have no solution because W is not symmetric.
    ///
    /// >>> import pathlib, tempfile, riprap as rr
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "stop.dat"
    /// >>> problem = rr.ContactProblem([[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]], v_free=[[-1.0, 0.2, 0.0]], friction=[0.5])
    /// >>> problem.write_dat(path)
    /// >>> rr.ContactProblem.read(path).v_free.tolist()
    /// [[-1.0, 0.2, 0.0]]
    #[staticmethod]
    fn read(py: Python, path: PathBuf) -> PyResult<ContactProblem> {
        let stored = exit::detach(py, || fclib::read(&path)).map_err(errors::file)?;
        if let Some(warning) = stored.warning() {
            let text = format!("{}: {warning}", path.display());
            let text = std::ffi::CString::new(text).map_err(errors::value)?;
            PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1)?;
        }
        let mut problem = ContactProblem::new(stored.problem, stored.solution);
        let (info, form, guesses) = (stored.info, stored.form, stored.guesses);
        problem.file = Some(Box::new(File { path, info, form, guesses }));
        Ok(problem)
    }

    /// Writes the problem in the HDF5 layout of FCLib, with a solution [N s] if given.
    #[pyo3(signature = (path, *, impulses=None, title="contact problem", description=""))]
    fn write(
        &self,
        py: Python,
        path: PathBuf,
        impulses: Option<Vec<[f64; 3]>>,
        title: &str,
        description: &str,
    ) -> PyResult<()> {
        let (title, description) = (title.to_owned(), description.to_owned());
        let info = Info { title, description, math_info: String::new() };
        exit::detach(py, || fclib::write(&path, &self.core, &info, impulses.as_deref()))
            .map_err(errors::file)
    }

    /// Writes the problem in the text format of Siconos. FileError if it has other contacts than those with Coulomb friction.
    fn write_dat(&self, py: Python, path: PathBuf) -> PyResult<()> {
        exit::detach(py, || fclib::write_dat(&path, &self.core)).map_err(errors::file)
    }

    /// Writes a copy of the file in the FCLib layout that the problem was read from, with these impulses [N s] and the
    /// velocities that follow, as `riprap solve --write-solution` does. A global problem stays global.
    fn write_solution(&self, py: Python, path: PathBuf, impulses: Vec<[f64; 3]>) -> PyResult<()> {
        self.check(&impulses)?;
        let file = self.file.as_ref().ok_or_else(|| {
            errors::value("the problem was not read from a file; use write(path, impulses=…)")
        })?;
        exit::detach(py, || fclib::write_solution(&file.path, &path, &impulses))
            .map_err(errors::file)
    }

    /// The same problem with another law of friction: coulomb, or cone, its convex relaxation.
    ///
    /// >>> import riprap as rr
    /// >>> problem = rr.ContactProblem([[1, 0, 0], [0, 1, 0], [0, 0, 1]], v_free=[[-1.0, 0.0, 0.0]], friction=[0.5])
    /// >>> problem.with_law("cone").laws
    /// ['cone']
    fn with_law(&self, law: &str) -> PyResult<ContactProblem> {
        let mut core = self.core.clone();
        for old in &mut core.laws {
            if let Law::Coulomb { friction } | Law::Cone { friction } = *old {
                *old = law_of(friction, law)?;
            }
        }
        let blocks = OnceLock::new();
        Ok(ContactProblem {
            core,
            impulses: self.impulses.clone(),
            file: self.file.clone(),
            blocks,
        })
    }

    fn __len__(&self) -> usize {
        self.core.len()
    }

    /// Free velocities, shifted by restitution and gaps [m/s].
    #[getter]
    fn v_free<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        triples(py, &self.core.v_rel_free)
    }

    /// Coefficient of friction of each contact [–]; NaN for joints and moments.
    #[getter]
    fn friction<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let of = |law: &Law| match law {
            Law::Coulomb { friction } | Law::Cone { friction } => *friction,
            _ => f64::NAN,
        };
        PyArray1::from_vec(py, self.core.laws.iter().map(of).collect())
    }

    /// The law of each triple of unknowns: coulomb, cone, bilateral or rolling.
    #[getter]
    fn laws(&self) -> Vec<&'static str> {
        let word = |law: &Law| match law {
            Law::Coulomb { .. } => "coulomb",
            Law::Cone { .. } => "cone",
            Law::Bilateral => "bilateral",
            Law::Rolling => "rolling",
        };
        self.core.laws.iter().map(word).collect()
    }

    /// Impulses of the step, or of the file [N s]; None if there are none.
    #[getter]
    fn impulses<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        self.impulses.as_ref().map(|list| triples(py, list)).transpose()
    }

    /// Initial guesses of the impulses in the file [N s].
    #[getter]
    fn guesses<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
        let guesses = self.file.iter().flat_map(|file| &file.guesses);
        guesses.map(|list| triples(py, list)).collect()
    }

    /// What the file says about itself: title, description, math_info, and form (local or global); empty without a file.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let words = PyDict::new(py);
        if let Some(file) = &self.file {
            words.set_item("title", &file.info.title)?;
            words.set_item("description", &file.info.description)?;
            words.set_item("math_info", &file.info.math_info)?;
            let form = if file.form == Form::Local { "local" } else { "global" };
            words.set_item("form", form)?;
        }
        Ok(words)
    }

    /// W as a dense matrix [1/kg].
    fn w<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        if !self.core.rolling.is_empty() {
            // Blocks are those of contacts and joints; moments of rolling resistance are in the factors.
            let product =
                self.h(py)?.getattr("T")?.call_method1("dot", (self.m_inverse_h(py)?,))?;
            return Ok(product.cast_into::<PyArray2<f64>>()?);
        }
        let n = self.core.len();
        let mut dense = vec![0.0; 9 * n * n];
        let blocks = self.blocks();
        for a in 0..n.min(blocks.len()) {
            for (b, block) in blocks.row(a) {
                for (i, row) in block.iter().enumerate() {
                    for (j, x) in row.iter().enumerate() {
                        dense[(3 * a + i) * 3 * n + 3 * b + j] += x;
                    }
                }
            }
        }
        convert::table(py, dense, 3 * n)
    }

    /// W as a scipy.sparse.bsr_matrix with blocks of 3×3 [1/kg].
    fn w_sparse<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if !self.core.rolling.is_empty() {
            let transposed = self.h_sparse(py)?.getattr("T")?;
            let product = transposed.call_method1("dot", (self.m_inverse_h_sparse(py)?,))?;
            let size = pyo3::types::PyDict::new(py);
            size.set_item("blocksize", (3, 3))?;
            return product.call_method("tobsr", (), Some(&size));
        }
        let (n, blocks) = (self.core.len(), self.blocks());
        let (mut data, mut columns, mut starts) = (Vec::new(), Vec::new(), vec![0_i64]);
        for a in 0..blocks.len() {
            for (b, block) in blocks.row(a) {
                data.extend_from_slice(block.as_flattened());
                columns.push(b as i64);
            }
            starts.push(columns.len() as i64);
        }
        let count = columns.len();
        let data = PyArray1::from_vec(py, data).call_method1("reshape", (count, 3, 3))?;
        let parts = (data, PyArray1::from_vec(py, columns), PyArray1::from_vec(py, starts));
        let shape = pyo3::types::PyDict::new(py);
        shape.set_item("shape", (3 * n, 3 * n))?;
        py.import("scipy.sparse")?.getattr("bsr_matrix")?.call((parts,), Some(&shape))
    }

    /// Residual of impulses [–]: the natural map relative to the largest of free velocities, impulses and velocities ("all"), as in
    /// `riprap solve`, or to the impulses alone ("impulses"), as in simulations.
    #[pyo3(signature = (impulses, *, measure="all"))]
    fn residual(&self, impulses: Vec<[f64; 3]>, measure: &str) -> PyResult<f64> {
        self.check(&impulses)?;
        Ok(measure_of(measure)?.of(&residual(&self.core, &impulses)))
    }

    /// The objective ½ γᵀ N γ + rᵀ γ of impulses [J], whose minimum solves a problem with the law cone. ValueError for coulomb.
    fn objective(&self, impulses: Vec<[f64; 3]>) -> PyResult<f64> {
        self.check(&impulses)?;
        self.energy(&impulses).ok_or_else(|| {
            errors::value(
                "only problems with the law cone have an objective: use with_law(\"cone\")",
            )
        })
    }

    fn __repr__(&self) -> String {
        format!("<ContactProblem: {} contacts>", self.core.len())
    }
}
