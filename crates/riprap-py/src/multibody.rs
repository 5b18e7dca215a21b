//! Direct access to the equations of a mechanism.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use riprap::math::Vec3;
use riprap::multibody::{Link as CoreLink, Multibody as CoreMultibody, MultibodyScratch};

use crate::handle::Link;
use crate::law::{self, Raised};
use crate::{convert, errors};

/// A built mechanism: `M(q) v̇ + c(q, v) = f`, loops `h(q) = 0`. Positions q [m, rad] (a spherical joint has its quaternion
/// x, y, z, w), velocities v [m/s, rad/s].
///
/// >>> import riprap as rr
/// >>> pendulum = rr.Mechanism("pendulum")
/// >>> arm = pendulum.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)))
/// >>> system = pendulum.build()
/// >>> system.mass_matrix([0.0]).tolist()
/// [[2.0]]
#[pyclass(frozen, module = "riprap")]
pub struct Multibody {
    pub core: Arc<CoreMultibody>,
    token: u64,
    pub raised: Vec<Raised>,
}

impl Multibody {
    pub fn new(core: CoreMultibody, token: u64, raised: Vec<Raised>) -> Multibody {
        Multibody { core: Arc::new(core), token, raised }
    }

    pub fn q(&self, q: &[f64]) -> PyResult<()> {
        let n = self.core.n_q();
        if q.len() != n {
            return Err(errors::value(format!("q has {} entries, {n} are needed", q.len())));
        }
        Ok(())
    }

    pub fn v(&self, v: &[f64]) -> PyResult<()> {
        let n = self.core.n_v();
        if v.len() != n {
            return Err(errors::value(format!("v has {} entries, {n} are needed", v.len())));
        }
        Ok(())
    }

    /// Buffers with the tree evaluated at a state.
    pub fn at(&self, q: &[f64], v: &[f64]) -> PyResult<MultibodyScratch> {
        self.q(q)?;
        self.v(v)?;
        let mut w = self.core.scratch();
        self.core.tree().kinematics(q, &mut w.tree);
        self.core.tree().motion(v, &mut w.tree);
        self.core.tree().evaluate(&mut w.tree);
        Ok(w)
    }

    fn link(&self, link: &Link) -> PyResult<CoreLink> {
        if link.mechanism == self.token && (link.id as usize) < self.core.n_links() {
            return Ok(link.core());
        }
        let name = self.core.name();
        Err(errors::handle(format!("the link is not a body of mechanism `{name}`")))
    }

    fn names(&self, columns: &[u32]) -> Vec<String> {
        let name = |c: &u32| {
            let c = riprap::multibody::Coordinate(*c);
            self.core.coordinate_name(c).to_owned()
        };
        columns.iter().map(name).collect()
    }
}

#[pymethods]
impl Multibody {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.core.name()
    }

    /// Number of positions.
    #[getter]
    fn n_q(&self) -> usize {
        self.core.n_q()
    }

    /// Number of velocities.
    #[getter]
    fn n_v(&self) -> usize {
        self.core.n_v()
    }

    /// Number of equations of the loops.
    #[getter]
    fn n_equations(&self) -> usize {
        self.core.n_equations()
    }

    /// Names of the coordinates, in the order of the velocities.
    #[getter]
    fn coordinate_names(&self) -> Vec<String> {
        self.core.coordinates().map(|c| self.core.coordinate_name(c).to_owned()).collect()
    }

    /// Names of the bodies.
    #[getter]
    fn link_names(&self) -> Vec<String> {
        self.core.links().map(|l| self.core.link_name(l).to_owned()).collect()
    }

    /// The body with a name.
    fn link_named(&self, name: &str) -> PyResult<Link> {
        let found = self.core.link_named(name);
        let link = found.ok_or_else(|| errors::handle(format!("no body `{name}`")))?;
        Ok(Link { mechanism: self.token, id: link.0 })
    }

    /// Initial positions and velocities: loops closed, velocities consistent.
    fn start<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>) {
        let start = self.core.start();
        (PyArray1::from_slice(py, &start.q), PyArray1::from_slice(py, &start.v))
    }

    /// Mass matrix `M` of all joints [kg, kg m, kg m²].
    fn mass_matrix<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n = self.core.n_v();
        let w = self.at(&q, &vec![0.0; n])?;
        // Symmetric: columns are rows.
        convert::table(py, w.tree.mass().to_vec(), n)
    }

    /// Bias `c` of `M v̇ + c = f`: gravity, centrifugal and gyroscopic forces [N, N m].
    fn bias<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
        v: Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let w = self.at(&q, &v)?;
        Ok(PyArray1::from_slice(py, w.tree.bias_force()))
    }

    /// Accelerations of all joints at a state with closed loops [m/s², rad/s²], with all forces, at time t [s].
    #[pyo3(signature = (q, v, t=0.0))]
    fn acceleration<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
        v: Vec<f64>,
        t: f64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut w = self.at(&q, &v)?;
        let start = self.core.start();
        let partition = &start.partition;
        let result = self.core.linearize(partition, t, &mut w).and_then(|()| {
            self.core.dynamics((&q, &v), &start.control, partition, t, None, &mut w)
        });
        law::check(&self.raised)?;
        result.map_err(errors::step)?;
        Ok(PyArray1::from_slice(py, w.acceleration()))
    }

    /// Jacobian of a point of a body [m], in its frame: 6 rows, linear velocity of the point, then angular velocity of the
    /// body, per unit of each velocity.
    #[pyo3(signature = (q, link, point=[0.0; 3]), text_signature = "($self, q, link, point=(0.0, 0.0, 0.0))")]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
        link: &Link,
        point: [f64; 3],
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n = self.core.n_v();
        let (w, link) = (self.at(&q, &vec![0.0; n])?, self.link(link)?);
        let (mut linear, mut angular) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
        self.core.point_jacobian(&w, link, Vec3::from(point), &mut linear, &mut angular);
        let mut rows = Vec::with_capacity(6 * n);
        for part in [&linear, &angular] {
            for i in 0..3 {
                rows.extend(part.iter().map(|column| column[i]));
            }
        }
        convert::table(py, rows, n)
    }

    /// Residuals of the loops, one per equation [m, –].
    fn loop_residual<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.q(&q)?;
        let mut w = self.core.scratch();
        self.core.loop_residual(&q, &mut w);
        Ok(PyArray1::from_slice(py, w.loop_residuals()))
    }

    /// Gradient of the loops, one row per equation.
    fn loop_jacobian<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n = self.core.n_v();
        let mut w = self.at(&q, &vec![0.0; n])?;
        // Also filled where the position is singular.
        let _ = self.core.linearize(&self.core.start().partition, 0.0, &mut w);
        convert::table(py, self.core.loop_jacobian(&w).to_vec(), n)
    }

    /// Names of the independent and of the dependent coordinates in the initial position.
    fn partition(&self) -> (Vec<String>, Vec<String>) {
        let partition = &self.core.start().partition;
        (self.names(&partition.independent), self.names(&partition.dependent))
    }

    /// Kinetic and potential energy [J].
    fn energy(&self, q: Vec<f64>, v: Vec<f64>) -> PyResult<(f64, f64)> {
        let mut w = self.at(&q, &v)?;
        Ok(self.core.energy(&q, &v, &mut w))
    }

    fn __repr__(&self) -> String {
        format!("<Multibody {:?}: {} velocities>", self.core.name(), self.core.n_v())
    }
}
