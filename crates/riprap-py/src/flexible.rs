//! Flexible bodies: beams and bars.

use pyo3::prelude::*;

use riprap::flexible::{Bar, Beam, Elastic, Section, Support};
use riprap::math::Vec3;
use riprap::scene::{Flexible as CoreFlexible, Material as CoreMaterial, NodeShape};

use crate::errors;
use crate::material::Material;
use crate::pose::pose;
use crate::saving::{Saved, Table, list_of, number, numbers, text, vector};
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
    /// As in a scene file: keys, density, shapes with their materials.
    pub keys: Table,
    pub density: f64,
    pub shapes: Vec<(Saved, String)>,
}

/// The record of a beam.
fn beam_keys(beam: &Beam, poisson: f64, [start, end]: [&str; 2]) -> Table {
    let mut keys = Table::default();
    keys.set("name", text(&beam.name)).set("type", text("beam"));
    keys.set("points", list_of(beam.points.iter().map(|p| numbers(p))));
    let mut section = Table::default();
    match beam.section {
        Section::Circle { radius } => {
            section.set("type", text("circle")).set("radius", number(radius))
        }
        Section::Tube { outer, inner } => section
            .set("type", text("tube"))
            .set("outer", number(outer))
            .set("inner", number(inner)),
        Section::Rectangle { height, width } => section
            .set("type", text("rectangle"))
            .set("height", number(height))
            .set("width", number(width)),
        Section::Given { area, shear, inertia_y, inertia_z, torsion } => section
            .set("type", text("given"))
            .set("area", number(area))
            .set("shear", numbers(&shear))
            .set("inertia_y", number(inertia_y))
            .set("inertia_z", number(inertia_z))
            .set("torsion", number(torsion)),
    };
    keys.set("section", section.inline());
    if let Some(up) = beam.up {
        keys.set("up", numbers(&up));
    }
    keys.set("young", number(beam.material.young)).set("poisson", number(poisson));
    keys.set("elements", beam.elements.to_string()).set("damping", number(beam.damping));
    keys.set("start", text(start)).set("end", text(end));
    keys.set("velocity", numbers(&beam.velocity));
    keys.set("angular_velocity", numbers(&beam.angular_velocity));
    keys
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
    given: Option<[f64; 6]>,
) -> PyResult<Section> {
    match (radius, inner, rectangle, given) {
        (Some(radius), None, None, None) => Ok(Section::Circle { radius }),
        (Some(outer), Some(inner), None, None) => Ok(Section::Tube { outer, inner }),
        (None, None, Some([height, width]), None) => Ok(Section::Rectangle { height, width }),
        (None, None, None, Some([area, shear_y, shear_z, inertia_y, inertia_z, torsion])) => {
            let shear = [shear_y, shear_z];
            Ok(Section::Given { area, shear, inertia_y, inertia_z, torsion })
        }
        _ => Err(errors::value(
            "give `radius`, `radius` and `inner_radius`, `rectangle`, or `section`",
        )),
    }
}

#[pymethods]
impl Flexible {
    /// A beam: a circle, a tube, a rectangle (height, width) [m] whose height is along `up`, or any `section` by its constants: area
    /// [m²], shear factors along y and z [–], second moments of area about y and z [m⁴], torsion constant [m⁴]. Its ends are free, pinned or
    /// clamped; velocity [m/s] of its first node and angular velocity [rad/s] of the whole beam about it.
    #[staticmethod]
    #[pyo3(
        signature = (name, points, *, radius=None, inner_radius=None, rectangle=None, section=None, up=None, young=2.1e11, poisson=0.3, density=7800.0, elements=1, damping=0.0, start="free", end="free", velocity=[0.0; 3], angular_velocity=[0.0; 3]),
        text_signature = "(name, points, *, radius=None, inner_radius=None, rectangle=None, section=None, up=None, young=210000000000.0, poisson=0.3, density=7800.0, elements=1, damping=0.0, start='free', end='free', velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0))"
    )]
    fn beam(
        name: &str,
        points: Vec<[f64; 3]>,
        radius: Option<f64>,
        inner_radius: Option<f64>,
        rectangle: Option<[f64; 2]>,
        section: Option<[f64; 6]>,
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
            section: self::section(radius, inner_radius, rectangle, section)?,
            up,
            material: Elastic::new(young, poisson, density),
            elements,
            damping,
            supports: [support(start)?, support(end)?],
            velocity,
            angular_velocity,
            ..Beam::new(name)
        };
        let keys = beam_keys(&beam, poisson, [start, end]);
        let shapes = Vec::new();
        Ok(Flexible { core: beam.into(), materials: Vec::new(), keys, density, shapes })
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
        let mut keys = Table::default();
        keys.set("name", text(name)).set("type", text("bar"));
        keys.set("points", list_of(bar.points.iter().map(|p| numbers(p))));
        let mut section = Table::default();
        section.set("type", text("given")).set("area", number(area)).set("shear", "[1.0, 1.0]");
        for key in ["inertia_y", "inertia_z", "torsion"] {
            section.set(key, "1.0");
        }
        keys.set("section", section.inline()).set("young", number(young));
        keys.set("elements", elements.to_string()).set("damping", number(damping));
        let support = |clamped: bool| text(if clamped { "clamped" } else { "free" });
        keys.set("start", support(clamp_start)).set("end", support(clamp_end));
        keys.set("masses", text(if lumped { "lumped" } else { "consistent" }));
        let ends = bar.points.first().zip(bar.points.last());
        let along = ends.map_or(Vec3::zeros(), |(a, b)| Vec3::from(*b) - Vec3::from(*a));
        keys.set("velocity", vector(&(along.normalize() * velocity)));
        Flexible { core: bar.into(), materials: Vec::new(), keys, density, shapes: Vec::new() }
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
        let mut entry = Table::default();
        let pose = pose(position, rotation)?;
        let saved = (*shape.1).clone().map(|shape| {
            entry.set("shape", shape).pose(&pose);
            if let Some(nodes) = &nodes {
                entry.set("nodes", list_of(nodes.iter().map(u32::to_string)));
            }
            entry.lines()
        });
        self.shapes.push((saved, material.0.name.clone()));
        let shape = shape.0.clone();
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
