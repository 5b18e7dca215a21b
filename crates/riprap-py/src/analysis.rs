//! Analyses of a mechanism: inverse dynamics, static equilibrium, small vibrations, prescribed motion.

use numpy::{Complex64, PyArray1, PyArray2};
use pyo3::prelude::*;

use riprap::multibody::{
    Equilibrium as CoreEquilibrium, Mode, ModeKind, Modes as CoreModes, Multibody as CoreMultibody,
    MultibodyState, Stability,
};

use crate::convert;
use crate::errors;
use crate::exit;
use crate::law;
use crate::multibody::Multibody;

/// A static equilibrium of a mechanism: positions [m, rad], whether it stays there, and the forces that hold it [N, N m].
///
/// >>> import riprap as rr
/// >>> pendulum = rr.Mechanism("pendulum")
/// >>> arm = pendulum.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)), name="arm")
/// >>> pendulum.start(arm, 0.5)
/// >>> found = pendulum.build().equilibrium()
/// >>> bool(abs(found.q[0]) < 1e-9), found.stability
/// (True, 'stable')
#[pyclass(frozen, module = "riprap")]
pub struct Equilibrium {
    core: CoreEquilibrium,
    /// The coordinate that moves most in the softest or worst displacement.
    coordinate: Option<String>,
}

#[pymethods]
impl Equilibrium {
    /// Positions of all joints [m, rad].
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.core.state.q)
    }

    /// Largest remaining force on an independent coordinate [N, N m].
    #[getter]
    fn residual(&self) -> f64 {
        self.core.residual
    }

    /// Number of iterations.
    #[getter]
    fn iterations(&self) -> usize {
        self.core.iterations
    }

    /// Whether it stays there: stable, neutral (some displacements meet no force) or unstable.
    #[getter]
    fn stability(&self) -> &'static str {
        match self.core.stability {
            Stability::Stable => "stable",
            Stability::Neutral { .. } => "neutral",
            Stability::Unstable { .. } => "unstable",
        }
    }

    /// Name of the coordinate that moves most in the softest or worst displacement; None if it is stable.
    #[getter]
    fn coordinate(&self) -> Option<&str> {
        self.coordinate.as_deref()
    }

    /// Forces in the cuts of the loops, one per equation [N, N m].
    #[getter]
    fn loop_forces<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.core.loop_forces)
    }

    /// Forces that hold the prescribed joints [N, N m], in the order of `Multibody.driven`.
    #[getter]
    fn drive_forces<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.core.drive_forces)
    }

    fn __repr__(&self) -> String {
        format!("<Equilibrium: {}, residual {:.1e}>", self.stability(), self.core.residual)
    }
}

/// Small vibrations of a mechanism about a pose: M δq̈ + C δq̇ + K δq = 0 over the independent coordinates, and its modes in
/// order of increasing frequency.
///
/// >>> import riprap as rr
/// >>> pendulum = rr.Mechanism("pendulum")
/// >>> arm = pendulum.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)), name="arm")
/// >>> modes = pendulum.build().modes([0.0])
/// >>> modes.kinds, modes.frequencies.round(4).tolist()  # sqrt(g / l) / 2 pi
/// (['oscillation'], [0.4985])
#[pyclass(frozen, module = "riprap")]
pub struct Modes(CoreModes);

impl Modes {
    fn each<'py>(&self, py: Python<'py>, of: impl Fn(&Mode) -> f64) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.0.modes.iter().map(of).collect())
    }
}

/// A square matrix as an array.
macro_rules! matrix {
    ($py:expr, $m:expr) => {{
        let (m, n) = (&$m, $m.ncols());
        let rows = (0..n).flat_map(|i| (0..n).map(move |j| m[(i, j)])).collect();
        convert::table($py, rows, n)
    }};
}

#[pymethods]
impl Modes {
    /// Kind of each mode: oscillation, real (monotonic) or rigid (without stiffness).
    #[getter]
    fn kinds(&self) -> Vec<&'static str> {
        let word = |mode: &Mode| match mode.kind {
            ModeKind::Oscillation => "oscillation",
            ModeKind::Real => "real",
            ModeKind::Rigid => "rigid",
        };
        self.0.modes.iter().map(word).collect()
    }

    /// Natural frequencies |λ|/2π [Hz].
    #[getter]
    fn frequencies<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(py, Mode::frequency)
    }

    /// Frequencies of the damped oscillations [Hz].
    #[getter]
    fn damped_frequencies<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(py, Mode::damped_frequency)
    }

    /// Damping ratios [–]; negative if a mode grows.
    #[getter]
    fn damping_ratios<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(py, Mode::damping_ratio)
    }

    /// Poles λ [1/s]; of a pair the one with an imaginary part ≥ 0.
    #[getter]
    fn poles<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<Complex64>> {
        let pole = |mode: &Mode| Complex64::new(mode.pole.re, mode.pole.im);
        PyArray1::from_vec(py, self.0.modes.iter().map(pole).collect())
    }

    /// Amplitude and phase of every coordinate (columns) in each mode (rows), with a largest component of 1 [m, rad].
    #[getter]
    fn shapes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let columns = self.0.modes.first().map_or(0, |mode| mode.shape.len());
        let values = self.0.modes.iter().flat_map(|mode| &mode.shape);
        let values = values.map(|z| Complex64::new(z.re, z.im)).collect();
        let array = PyArray1::from_vec(py, values);
        array.call_method1("reshape", (self.0.modes.len(), columns))
    }

    /// M over the independent coordinates [kg, kg m, kg m²].
    #[getter]
    fn mass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix!(py, self.0.mass)
    }

    /// C over the independent coordinates [N s/m, …].
    #[getter]
    fn damping<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix!(py, self.0.damping)
    }

    /// K over the independent coordinates [N/m, …].
    #[getter]
    fn stiffness<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix!(py, self.0.stiffness)
    }

    /// Largest acceleration of a coordinate at the pose [m/s², rad/s²]: 0 at equilibrium.
    #[getter]
    fn acceleration(&self) -> f64 {
        self.0.acceleration
    }

    fn __len__(&self) -> usize {
        self.0.modes.len()
    }

    fn __repr__(&self) -> String {
        format!("<Modes: {} modes>", self.0.modes.len())
    }
}

/// A mechanism along its prescribed motion: one row per time.
///
/// >>> import riprap as rr
/// >>> arm = rr.Mechanism("arm")
/// >>> link = arm.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)), name="arm")
/// >>> arm.drive(link, rr.Motor.motion("0.5*t^2"))
/// >>> motion = arm.build().follow([0.0, 1.0])
/// >>> motion.drive_forces.round(3).tolist()  # m l² q̈ + m g l sin q
/// [[2.0], [11.406]]
#[pyclass(frozen, module = "riprap")]
pub struct PrescribedMotion {
    samples: Vec<riprap::multibody::PrescribedSample>,
}

impl PrescribedMotion {
    fn rows<'py>(
        &self,
        py: Python<'py>,
        of: impl Fn(&riprap::multibody::PrescribedSample) -> &[f64],
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let columns = self.samples.first().map_or(0, |sample| of(sample).len());
        let values = self.samples.iter().flat_map(|sample| of(sample).to_vec()).collect();
        let flat = PyArray1::from_vec(py, values);
        let shaped = flat.call_method1("reshape", (self.samples.len(), columns))?;
        Ok(shaped.cast_into::<PyArray2<f64>>()?)
    }
}

#[pymethods]
impl PrescribedMotion {
    /// Times [s].
    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.samples.iter().map(|sample| sample.t).collect())
    }

    /// Positions of all joints [m, rad].
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |sample| &sample.q)
    }

    /// Velocities of all joints [m/s, rad/s].
    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |sample| &sample.v)
    }

    /// Accelerations of all joints [m/s², rad/s²].
    #[getter]
    fn a<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |sample| &sample.a)
    }

    /// Forces required by the motion [N, N m], in the order of `Multibody.driven`.
    #[getter]
    fn drive_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |sample| &sample.drive_forces)
    }

    /// Forces in the cuts of the loops, one per equation [N, N m].
    #[getter]
    fn loop_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |sample| &sample.loop_forces)
    }

    fn __len__(&self) -> usize {
        self.samples.len()
    }

    fn __repr__(&self) -> String {
        format!("<PrescribedMotion at {} times>", self.samples.len())
    }
}

impl Multibody {
    /// The mechanism with some coordinates held, and a state with these positions and velocities.
    fn posed(
        &self,
        q: Option<Vec<f64>>,
        v: Option<Vec<f64>>,
        hold: &[String],
    ) -> PyResult<(CoreMultibody, MultibodyState)> {
        let mut coordinates = Vec::new();
        for name in hold {
            let found = self.core.coordinate_named(name);
            coordinates
                .push(found.ok_or_else(|| errors::handle(format!("no coordinate `{name}`")))?);
        }
        let system = match coordinates.is_empty() {
            true => (*self.core).clone(),
            false => self.core.holding(&coordinates).map_err(errors::scene)?,
        };
        let mut state = system.start().clone();
        if let Some(q) = q {
            self.q(&q)?;
            state.q = q;
        }
        if let Some(v) = v {
            self.v(&v)?;
            state.v = v;
        }
        Ok((system, state))
    }
}

#[pymethods]
impl Multibody {
    /// Names of the prescribed coordinates.
    #[getter]
    fn driven(&self) -> Vec<String> {
        let driven = self.core.driven_coordinates();
        driven.map(|c| self.core.coordinate_name(c).to_owned()).collect()
    }

    /// Inverse dynamics of the tree, without loops and forces of laws: M v̇ + c for accelerations a [m/s², rad/s²], in N, N m.
    fn inverse_dynamics<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
        v: Vec<f64>,
        a: Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.v(&a)?;
        let mut w = self.at(&q, &v)?;
        let mut force = vec![0.0; self.core.n_v()];
        self.core.tree().inverse_dynamics(&a, &mut w.tree, &mut force);
        Ok(PyArray1::from_vec(py, force))
    }

    /// A static pose with closed loops, searched from positions q (the initial ones) with laws as at time t [s]; coordinates in
    /// `hold` stay where they are. StepError if there is none.
    #[pyo3(signature = (q=None, t=0.0, *, hold=vec![]), text_signature = "($self, q=None, t=0.0, *, hold=())")]
    fn equilibrium(
        &self,
        py: Python,
        q: Option<Vec<f64>>,
        t: f64,
        hold: Vec<String>,
    ) -> PyResult<Equilibrium> {
        let (system, state) = self.posed(q, None, &hold)?;
        let found = exit::detach(py, || system.equilibrium(&state, t, &mut system.scratch()));
        law::check(&self.raised)?;
        let core = found.map_err(errors::step)?;
        let coordinate = match &core.stability {
            Stability::Stable => None,
            Stability::Neutral { coordinate } | Stability::Unstable { coordinate } => {
                Some(system.coordinate_name(*coordinate).to_owned())
            }
        };
        Ok(Equilibrium { core, coordinate })
    }

    /// Small vibrations about positions q with velocities v (those at the start) at time t [s]; coordinates in `hold` do not move.
    #[pyo3(signature = (q=None, v=None, t=0.0, *, hold=vec![]), text_signature = "($self, q=None, v=None, t=0.0, *, hold=())")]
    fn modes(
        &self,
        py: Python,
        q: Option<Vec<f64>>,
        v: Option<Vec<f64>>,
        t: f64,
        hold: Vec<String>,
    ) -> PyResult<Modes> {
        let (system, state) = self.posed(q, v, &hold)?;
        let found = exit::detach(py, || system.modes(&state, t, &mut system.scratch()));
        law::check(&self.raised)?;
        found.map(Modes).map_err(errors::step)
    }

    /// Follows the prescribed motion through times [s], starting at t = 0, without time integration. All coordinates must be
    /// prescribed or follow from prescribed ones through loops.
    fn follow(&self, py: Python, times: Vec<f64>) -> PyResult<PrescribedMotion> {
        if !times.iter().all(|t| t.is_finite()) {
            return Err(errors::value("times must be finite"));
        }
        let found = exit::detach(py, || self.core.follow(&times, &mut self.core.scratch()));
        law::check(&self.raised)?;
        Ok(PrescribedMotion { samples: found.map_err(errors::step)? })
    }
}
