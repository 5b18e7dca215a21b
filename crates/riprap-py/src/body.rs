//! Descriptions of bodies.

use std::sync::Arc;

use pyo3::prelude::*;

use riprap::math::Vec3;
use riprap::scene::{BodyDescription, Locks, Material as CoreMaterial};
use riprap::shape::MassProperties as CoreMass;

use crate::convert;
use crate::errors;
use crate::material::Material;
use crate::pose::pose;
use crate::saving::Saved;
use crate::shape::{MassProperties, Shape};

/// Description of a body: a shape of a material, for a scene or for a mechanism. Position [m] and rotation are those of the
/// frame of the shape (for a link, in the frame of the link); velocity [m/s] is that of the centre of mass, angular_velocity
/// in rad/s. `mass` [kg], `centre` [m] and `inertia` [kg m²] replace those of the shape. `locked` lists the directions in
/// which it cannot move: "x", "y", "z", "rx", "ry", "rz". `force` [N] and `torque` [N m] are constant.
///
/// >>> import riprap as rr
/// >>> oak = rr.Material("oak", density=700.0, friction=0.4)
/// >>> box = rr.Body(rr.Shape.cuboid(0.6, 0.4, 0.3), oak, name="box", position=(0, 0, 1))
/// >>> rod = rr.Body.rod((0, 0, -1), mass=2.0)  # for mechanisms
#[pyclass(frozen, from_py_object, module = "riprap")]
#[derive(Clone)]
pub struct Body {
    /// The shape and its material, as a body of a scene.
    pub solid: Option<(BodyDescription, CoreMaterial)>,
    /// Mass properties, for a body without a shape.
    pub mass: Option<CoreMass>,
    /// The shape as in a scene file.
    pub saved: Arc<Saved>,
}

/// The record of a body without a shape.
fn nothing() -> Arc<Saved> {
    Arc::new(Err("it has no shape".into()))
}

/// The density of a solid of a mechanism [kg/m³].
pub fn density_of(material: &CoreMaterial) -> PyResult<f64> {
    material.density.ok_or_else(|| {
        errors::value(format!("material `{}` has no density: give a mass", material.name))
    })
}

/// Locked directions from their names.
fn locks(names: &[String]) -> PyResult<Locks> {
    let mut locks = Locks::NONE;
    let known = ["x", "y", "z", "rx", "ry", "rz"];
    for name in names {
        let Some(k) = known.iter().position(|k| k == name) else {
            let message = format!("`{name}` is not a direction: {}", known.join(", "));
            return Err(errors::value(message));
        };
        locks.0[k] = true;
    }
    Ok(locks)
}

#[pymethods]
impl Body {
    #[new]
    #[pyo3(
        signature = (shape, material, *, name="", position=[0.0; 3], rotation=None, velocity=[0.0; 3], angular_velocity=[0.0; 3], mass=None, centre=None, inertia=None, locked=vec![], force=[0.0; 3], torque=[0.0; 3]),
        text_signature = "(shape, material, *, name='', position=(0.0, 0.0, 0.0), rotation=None, velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0), mass=None, centre=None, inertia=None, locked=(), force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0))"
    )]
    fn new(
        shape: &Shape,
        material: &Material,
        name: &str,
        position: [f64; 3],
        rotation: Option<&Bound<PyAny>>,
        velocity: [f64; 3],
        angular_velocity: [f64; 3],
        mass: Option<f64>,
        centre: Option<[f64; 3]>,
        inertia: Option<&Bound<PyAny>>,
        locked: Vec<String>,
        force: [f64; 3],
        torque: [f64; 3],
    ) -> PyResult<Body> {
        let mut body = BodyDescription::new(shape.0.clone(), &material.0);
        body.name = name.to_owned();
        body.pose = pose(position, rotation)?;
        body.velocity = Vec3::from(velocity);
        body.angular_velocity = Vec3::from(angular_velocity);
        body.mass = mass;
        body.centre = centre.map(Vec3::from);
        body.inertia = inertia.map(convert::inertia).transpose()?;
        body.locks = locks(&locked)?;
        body.force = Vec3::from(force);
        body.torque = Vec3::from(torque);
        let saved = Arc::clone(&shape.1);
        Ok(Body { solid: Some((body, material.0.clone())), mass: None, saved })
    }

    /// A body of a shape and a material, at the origin.
    #[staticmethod]
    fn solid(shape: &Shape, material: &Material) -> Body {
        let body = BodyDescription::new(shape.0.clone(), &material.0);
        let saved = Arc::clone(&shape.1);
        Body { solid: Some((body, material.0.clone())), mass: None, saved }
    }

    /// A thin rod from the origin to `end` [m], without a shape; mass [kg]. For mechanisms.
    #[staticmethod]
    fn rod(end: [f64; 3], mass: f64) -> Body {
        Body { solid: None, mass: Some(CoreMass::rod(end, mass)), saved: nothing() }
    }

    /// A point mass [kg] at a position [m], without a shape. For mechanisms.
    #[staticmethod]
    #[pyo3(signature = (mass, at=[0.0; 3]), text_signature = "(mass, at=(0.0, 0.0, 0.0))")]
    fn point(mass: f64, at: [f64; 3]) -> Body {
        Body { solid: None, mass: Some(CoreMass::point(mass, at)), saved: nothing() }
    }

    /// Mass, centre and inertia without a shape. For mechanisms.
    #[staticmethod]
    fn inertial(properties: &MassProperties) -> Body {
        Body { solid: None, mass: Some(properties.0), saved: nothing() }
    }

    /// A body without mass and shape. For mechanisms.
    #[staticmethod]
    fn massless() -> Body {
        Body { solid: None, mass: None, saved: nothing() }
    }

    /// Name; empty if the builder chooses it.
    #[getter]
    fn name(&self) -> &str {
        self.solid.as_ref().map_or("", |(body, _)| &body.name)
    }

    fn __repr__(&self) -> String {
        match &self.solid {
            Some((body, material)) => format!("<Body {:?} of {:?}>", body.name, material.name),
            None => "<Body without a shape>".into(),
        }
    }
}

impl Body {
    /// Mass properties as a link of a mechanism; those that are not given are computed from the shape, as those of solids in
    /// scene files.
    pub fn link_mass(&self) -> PyResult<Option<CoreMass>> {
        let Some((body, material)) = &self.solid else { return Ok(self.mass) };
        let density = material.density.unwrap_or(1.0);
        let own = body.shape.mass_properties(density).map(|m| m.moved(&body.pose));
        let own = own.ok_or_else(|| errors::value("a half-space cannot be part of a mechanism"))?;
        let own = CoreMass::sum(std::iter::once(Ok(own))).map_err(errors::value)?;
        let Some(mass) = body.mass else {
            density_of(material)?;
            return Ok(Some(own));
        };
        let scaled = own.scaled(mass / own.mass);
        Ok(Some(CoreMass {
            mass,
            centre: body.centre.unwrap_or(scaled.centre),
            inertia: body.inertia.unwrap_or(scaled.inertia),
        }))
    }
}
