//! Flexible bodies: beams and bars.

use pyo3::prelude::*;

use riprap::flexible::{Bar, Beam, Elastic, Section, Support};
use riprap::scene::{Flexible as CoreFlexible, Material as CoreMaterial, NodeShape};

use crate::errors;
use crate::material::Material;
use crate::pose::pose;
use crate::shape::Shape;

/// Description of a flexible body along points [m]: a geometrically exact beam, or a straight bar that only stretches. Young's
/// modulus [Pa], Poisson's ratio [–], density [kg/m³], damping as stress per rate of stress [s]; `elements` between two
/// consecutive points. Its nodes are bodies of the scene: (FlexibleHandle, k).
///
/// >>> import riprap as rr
/// >>> rod = rr.Flexible.beam("rod", [(0, 0, 0), (1, 0, 0)], radius=0.01, elements=8, start="clamped")
/// >>> scene = rr.SceneBuilder()
/// >>> handle = scene.add_flexible(rod)
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> _ = run.until(0.05)
/// >>> bool(run.body((handle, 8)).position[2] < 0)
/// True
#[pyclass(module = "riprap")]
pub struct Flexible {
    pub core: CoreFlexible,
    pub materials: Vec<CoreMaterial>,
}

fn support(word: &str) -> PyResult<Support> {
    match word {
        "free" => Ok(Support::Free),
        "pinned" => Ok(Support::Pinned),
        "clamped" => Ok(Support::Clamped),
        other => Err(errors::value(format!("no support `{other}`: free, pinned, clamped"))),
    }
}

fn section(
    radius: Option<f64>,
    inner: Option<f64>,
    rectangle: Option<[f64; 2]>,
) -> PyResult<Section> {
    match (radius, inner, rectangle) {
        (Some(radius), None, None) => Ok(Section::Circle { radius }),
        (Some(outer), Some(inner), None) => Ok(Section::Tube { outer, inner }),
        (None, None, Some([height, width])) => Ok(Section::Rectangle { height, width }),
        _ => Err(errors::value("give `radius`, `radius` and `inner_radius`, or `rectangle`")),
    }
}

#[pymethods]
impl Flexible {
    /// A beam: a circle, a tube, or a rectangle (height, width) [m] whose height is along `up`. Its ends are free, pinned or
    /// clamped; velocity [m/s] of its first node and angular velocity [rad/s] of the whole beam about it.
    #[staticmethod]
    #[pyo3(
        signature = (name, points, *, radius=None, inner_radius=None, rectangle=None, up=None, young=2.1e11, poisson=0.3, density=7800.0, elements=1, damping=0.0, start="free", end="free", velocity=[0.0; 3], angular_velocity=[0.0; 3]),
        text_signature = "(name, points, *, radius=None, inner_radius=None, rectangle=None, up=None, young=210000000000.0, poisson=0.3, density=7800.0, elements=1, damping=0.0, start='free', end='free', velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0))"
    )]
    fn beam(
        name: &str,
        points: Vec<[f64; 3]>,
        radius: Option<f64>,
        inner_radius: Option<f64>,
        rectangle: Option<[f64; 2]>,
        up: Option<[f64; 3]>,
        young: f64,
        poisson: f64,
        density: f64,
        elements: usize,
        damping: f64,
        start: &str,
        end: &str,
        velocity: [f64; 3],
        angular_velocity: [f64; 3],
    ) -> PyResult<Flexible> {
        let beam = Beam {
            points,
            section: section(radius, inner_radius, rectangle)?,
            up,
            material: Elastic::new(young, poisson, density),
            elements,
            damping,
            supports: [support(start)?, support(end)?],
            velocity,
            angular_velocity,
            ..Beam::new(name)
        };
        Ok(Flexible { core: beam.into(), materials: Vec::new() })
    }

    /// A straight bar with an area [m²] that stretches along its axis; velocity along the axis [m/s].
    #[staticmethod]
    #[pyo3(signature = (name, points, *, area, young=2.1e11, density=7800.0, elements=1, damping=0.0, lumped=false, clamp_start=false, clamp_end=false, velocity=0.0))]
    fn bar(
        name: &str,
        points: Vec<[f64; 3]>,
        area: f64,
        young: f64,
        density: f64,
        elements: usize,
        damping: f64,
        lumped: bool,
        clamp_start: bool,
        clamp_end: bool,
        velocity: f64,
    ) -> Flexible {
        let bar = Bar {
            points,
            area,
            material: Elastic::new(young, 0.3, density),
            elements,
            damping,
            clamped: [clamp_start, clamp_end],
            velocity,
            ..Bar::new(name)
        };
        let bar = if lumped { bar.lumped() } else { bar };
        Flexible { core: bar.into(), materials: Vec::new() }
    }

    /// Gives nodes a shape without mass, for contacts; all nodes if none are listed. Position [m] and rotation are in the
    /// frame of the cross-section, x along the body.
    #[pyo3(
        signature = (shape, material, nodes=None, *, position=[0.0; 3], rotation=None),
        text_signature = "($self, shape, material, nodes=None, *, position=(0.0, 0.0, 0.0), rotation=None)"
    )]
    fn attach(
        &mut self,
        shape: &Shape,
        material: &Material,
        nodes: Option<Vec<u32>>,
        position: [f64; 3],
        rotation: Option<&Bound<PyAny>>,
    ) -> PyResult<()> {
        let (shape, pose) = (shape.0.clone(), pose(position, rotation)?);
        self.core.shapes.push(NodeShape { nodes, shape, pose, material: material.0.name.clone() });
        self.materials.push(material.0.clone());
        Ok(())
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.core.name()
    }

    fn __repr__(&self) -> String {
        format!("<Flexible {:?}>", self.core.name())
    }
}
