//! Periodic cells, in the builder of scenes.

use pyo3::prelude::*;

use riprap::scene::Cell;

use crate::builder::SceneBuilder;
use crate::saving::{self, Table, numbers};
use crate::{errors, law};

#[pymethods]
impl SceneBuilder {
    /// Repeats the scene periodically along x, y and z, where a range (start, end) [m] is given. `shear_rate` [1/s], or
    /// `shear_strain` [–] as an expression of `t` or a callable of t [s], shears the cell: the flow along x grows with y,
    /// and free bodies start with it in addition to their own velocity unless `initial_flow` is False. Bodies meet the nearest
    /// images of others; positions go on beyond the boundaries, and `Scene.wrapped` gives the image in the cell.
    ///
    /// >>> import riprap as rr
    /// >>> glass = rr.Material("glass", density=2500.0, restitution=1.0)
    /// >>> scene = rr.SceneBuilder(gravity=(0, 0, 0))
    /// >>> scene.periodic(x=(0, 1), y=(0, 1), z=(0, 1))
    /// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), glass, position=(0.2, 0.5, 0.5), velocity=(-1, 0, 0)))
    /// >>> other = scene.add(rr.Body(rr.Shape.sphere(0.1), glass, position=(0.9, 0.5, 0.5)))
    /// >>> sim = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    /// >>> _ = sim.until(0.3)
    /// >>> round(float(sim.body(other).velocity[0]), 6)
    /// -1.0
    #[pyo3(signature = (*, x=None, y=None, z=None, shear_rate=None, shear_strain=None, initial_flow=true))]
    fn periodic(
        &mut self,
        x: Option<[f64; 2]>,
        y: Option<[f64; 2]>,
        z: Option<[f64; 2]>,
        shear_rate: Option<f64>,
        shear_strain: Option<&Bound<PyAny>>,
        initial_flow: bool,
    ) -> PyResult<()> {
        let (mut cell, mut table) = (Cell::new(), Table::default());
        for (axis, range) in [x, y, z].into_iter().enumerate() {
            let Some(range) = range else { continue };
            cell = cell.along(axis, range);
            table.set(["x", "y", "z"][axis], numbers(&range));
        }
        table.maybe("shear_rate", shear_rate);
        if let Some(rate) = shear_rate {
            cell = cell.shear_rate(rate);
        }
        let mut saved = Ok(());
        if let Some(given) = shear_strain {
            if shear_rate.is_some() {
                return Err(errors::value("give `shear_rate` or `shear_strain`, not both"));
            }
            let strain = law::scalar_law(given, &mut self.raised)?;
            cell = cell.shear_strain(strain);
            saved = saving::law(given).map(|law| {
                table.set("shear_strain", law);
            });
        }
        if !initial_flow {
            cell = cell.starting_at_rest();
            table.set("initial_flow", "false");
        }
        self.core.periodic(cell);
        self.record.periodic = Some(saved.map(|()| table.inline()));
        Ok(())
    }
}
