//! Forces from accelerations: the friction-extended Dantzig algorithm on force problems.

use numpy::PyArray2;
use pyo3::prelude::*;

use riprap::friction::{
    Class, Dantzig, DantzigReport, Delassus, ForceProblem, Friction, Outcome, Scratch,
};

use crate::convert::word;
use crate::errors;
use crate::exit;
use crate::problem::{ContactProblem, blocks_of, triples};

/// Options of the algorithm, checked.
pub fn options(
    facets: usize,
    max_pivots: usize,
    rounds: usize,
    sweeps: usize,
    dense: bool,
) -> PyResult<Dantzig> {
    if facets < 4 || !facets.is_multiple_of(2) || facets > 1000 {
        return Err(errors::value(format!(
            "the friction cone has {facets} facets: an even number from 4 to 1000 is needed"
        )));
    }
    Ok(Dantzig { facets, max_pivots, rounds, sweeps, dense })
}

/// The lists of the contacts and their words.
const CLASSES: [(&str, Class); 3] =
    [("breaking", Class::Breaking), ("static", Class::Static), ("sliding", Class::Sliding)];

/// The solution of a force problem: forces [N] (or impulses [N s]), the list of each contact, and how it was found.
///
/// >>> import riprap as rr
/// >>> rr.dantzig([[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]], [[-9.81, 0, 0]], [0.5]).classes
/// ['static']
#[pyclass(frozen, module = "riprap")]
pub struct DantzigSolution {
    forces: Vec<[f64; 3]>,
    classes: Vec<Class>,
    report: DantzigReport,
}

#[pymethods]
impl DantzigSolution {
    /// Forces on the second body along (n, t1, t2) [N], one row per contact.
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        triples(py, &self.forces)
    }

    /// The list of each contact: breaking, static or sliding.
    #[getter]
    fn classes(&self) -> Vec<&'static str> {
        let name = |class: &Class| CLASSES.iter().find(|(_, c)| c == class).map_or("", |(w, _)| w);
        self.classes.iter().map(name).collect()
    }

    /// How it ended: solved, inconsistent or limit. Forces of an island that was not solved are zero.
    #[getter]
    fn outcome(&self) -> &'static str {
        match self.report.outcome {
            Outcome::Solved => "solved",
            Outcome::Inconsistent { .. } => "inconsistent",
            Outcome::Limit => "limit",
        }
    }

    /// The contact whose force grows without bound (Painlevé); None if there is none.
    #[getter]
    fn inconsistent_contact(&self) -> Option<usize> {
        match self.report.outcome {
            Outcome::Inconsistent { contact } => Some(contact),
            Outcome::Solved | Outcome::Limit => None,
        }
    }

    /// Changes of lists, and those that changed no force.
    #[getter]
    fn pivots(&self) -> (usize, usize) {
        (self.report.pivots, self.report.degenerate)
    }

    /// Worst violation of the conditions, relative to the largest free acceleration [–].
    #[getter]
    fn residual(&self) -> f64 {
        self.report.residual
    }

    fn __repr__(&self) -> String {
        format!("<DantzigSolution: {}, {} contacts>", self.outcome(), self.forces.len())
    }
}

/// `W` as an operator: that of a contact problem, or a matrix.
fn operator(w: &Bound<PyAny>, n: usize) -> PyResult<Delassus> {
    let Ok(problem) = w.cast::<ContactProblem>() else {
        return blocks_of(w, n).map(Delassus::Blocks);
    };
    let core = &problem.get().core;
    if core.len() != n {
        let message = format!("the problem has {} contacts, b has {n} rows", core.len());
        return Err(errors::value(message));
    }
    Ok(core.w.clone())
}

/// Friction of each contact.
fn frictions(friction: &[f64], sliding: Option<Vec<Option<[f64; 2]>>>) -> PyResult<Vec<Friction>> {
    let n = friction.len();
    let sliding = sliding.unwrap_or_else(|| vec![None; n]);
    if sliding.len() != n {
        return Err(errors::value(format!("{} directions for {n} contacts", sliding.len())));
    }
    let of = |(mu, direction): (&f64, Option<[f64; 2]>)| match direction {
        _ if !(*mu >= 0.0 && mu.is_finite()) => {
            Err(errors::value("friction must be finite and not negative"))
        }
        _ if *mu == 0.0 => Ok(Friction::None),
        None => Ok(Friction::Static { mu: *mu }),
        Some([x, y]) => {
            let length = x.hypot(y);
            if !(length > 0.0 && length.is_finite()) {
                return Err(errors::value("a direction of sliding must not be zero"));
            }
            Ok(Friction::Sliding { mu: *mu, direction: [x / length, y / length] })
        }
    };
    friction.iter().zip(sliding).map(of).collect()
}

/// Finds forces f [N] and accelerations a = b + W f [m/s²] at contacts, each (n, t1, t2), such that bodies do not penetrate and
/// friction obeys Coulomb's law, by Dantzig's algorithm extended by friction (Schwager and Pöschel 2002); with velocities for
/// accelerations, impulses of a collision. `w` [1/kg] is a matrix or a ContactProblem. A contact sticks or begins to slide,
/// unless `sliding` gives its direction of friction along (t1, t2) (None for those that do not slide). `classes` and `forces`
/// are those to start from.
///
/// >>> import math, riprap as rr
/// >>> b = [[-9.81 * math.cos(0.35), -9.81 * math.sin(0.35), 0.0]]  # 2 kg on a slope of 0.35 rad
/// >>> solution = rr.dantzig([[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]], b, friction=[0.5])
/// >>> solution.forces.round(3).tolist(), solution.classes
/// ([[18.43, 6.728, 0.0]], ['static'])
#[pyfunction]
#[pyo3(signature = (w, b, friction, *, sliding=None, classes=None, forces=None, facets=8, max_pivots=10, rounds=30, sweeps=10, dense=false))]
pub fn dantzig(
    py: Python,
    w: &Bound<PyAny>,
    b: Vec<[f64; 3]>,
    friction: Vec<f64>,
    sliding: Option<Vec<Option<[f64; 2]>>>,
    classes: Option<Vec<String>>,
    forces: Option<Vec<[f64; 3]>>,
    facets: usize,
    max_pivots: usize,
    rounds: usize,
    sweeps: usize,
    dense: bool,
) -> PyResult<DantzigSolution> {
    let n = b.len();
    if friction.len() != n || forces.as_ref().is_some_and(|f| f.len() != n) {
        return Err(errors::value(format!("b has {n} rows: so must friction and forces")));
    }
    if !b.as_flattened().iter().all(|x| x.is_finite()) {
        return Err(errors::value("b must be finite"));
    }
    let (w, friction) = (operator(w, n)?, frictions(&friction, sliding)?);
    let options = options(facets, max_pivots, rounds, sweeps, dense)?;
    let given = classes.unwrap_or_default();
    let lists = given.iter().map(|name| word("list of contacts", name, &CLASSES));
    let mut classes = lists.collect::<PyResult<Vec<Class>>>()?;
    if classes.len() > n {
        return Err(errors::value(format!("{} lists for {n} contacts", classes.len())));
    }
    let resumes = forces.is_some();
    let mut forces = forces.unwrap_or_default();
    let report = exit::detach(py, || {
        let problem = ForceProblem { w: &w, b: &b, friction: &friction };
        let scratch = &mut Scratch::default();
        match resumes {
            true => options.resume(&problem, &mut forces, &mut classes, scratch),
            false => options.solve(&problem, &mut forces, &mut classes, scratch),
        }
    });
    Ok(DantzigSolution { forces, classes, report })
}
