//! Flexible bodies of a file as those of the simulator.

use std::ops::Range;

use riprap::flexible::{Bar, BarMass, Beam, Elastic, Section, Support};
use riprap::math::Vec3;
use riprap::scene::{Flexible, NodeShape};
use riprap::shape::Shape;

use super::{place, pose, shapes};
use crate::scene_file::{self as file, FlexibleKind, Problem, SceneFile, ShapeRef};

impl SceneFile {
    /// The flexible bodies.
    pub(super) fn flexible_bodies(
        &self,
        named: &[Option<Shape>],
        problems: &mut Vec<Problem>,
    ) -> Vec<Flexible> {
        let mut built = Vec::new();
        for (index, body) in self.flexible.iter().enumerate() {
            let mut flexible = self.elements(body);
            for part in &body.shapes {
                let shape = match &part.shape {
                    // Mistakes in named shapes have been reported with them.
                    ShapeRef::Named(shape) => named[*shape].clone(),
                    ShapeRef::Inline(shape) => shapes::make(self, shape, 1.0)
                        .map_err(|error| {
                            let message = format!("flexible body `{}`: {error}", body.name);
                            let span = place(&self.source.flexible, index);
                            problems.push(Problem::new(span, message));
                        })
                        .ok(),
                };
                let Some(shape) = shape else { continue };
                flexible.shapes.push(NodeShape {
                    nodes: part.nodes.clone(),
                    shape,
                    pose: pose(part.position, part.rotation),
                    material: self.materials[body.material].name.clone(),
                });
            }
            built.push(flexible);
        }
        built
    }

    fn elements(&self, body: &file::Flexible) -> Flexible {
        let density = self.materials[body.material].density.unwrap_or(0.0);
        let material = Elastic::new(body.young, body.poisson, density);
        let section = section_of(&body.section);
        let elements = body.elements as usize;
        match &body.kind {
            FlexibleKind::Beam { up, angular_velocity } => {
                let beam = Beam::new(&body.name)
                    .points(&body.points)
                    .section(section)
                    .material(material)
                    .elements(elements)
                    .damping(body.damping)
                    .supports(body.start, body.end)
                    .velocity(body.velocity, *angular_velocity);
                Beam { up: *up, ..beam }.into()
            }
            FlexibleKind::Bar { masses } => {
                let (first, last) = (body.points[0], body.points[body.points.len() - 1]);
                let axis = (Vec3::from(last) - Vec3::from(first)).normalize();
                let bar = Bar::new(&body.name)
                    .points(&body.points)
                    .section(section)
                    .material(material)
                    .elements(elements)
                    .damping(body.damping)
                    .velocity(axis.dot(&Vec3::from(body.velocity)));
                let clamped = [body.start, body.end].map(|support| support != Support::Free);
                let mass: BarMass = *masses;
                Bar { clamped, mass, ..bar }.into()
            }
        }
    }

    /// The location of a flexible body, or of one of its nodes.
    pub(super) fn flexible_place(&self, name: &str) -> Option<Range<usize>> {
        let name = name.split_once('/').map_or(name, |(body, _)| body);
        let index = self.flexible.iter().position(|body| body.name == name)?;
        self.source.flexible.get(index).cloned()
    }
}

fn section_of(section: &file::Section) -> Section {
    match *section {
        file::Section::Circle { radius } => Section::Circle { radius },
        file::Section::Tube { outer, inner } => Section::Tube { outer, inner },
        file::Section::Rectangle { height, width } => Section::Rectangle { height, width },
        file::Section::Given { area, shear, inertia_y, inertia_z, torsion } => {
            Section::Given { area, shear, inertia_y, inertia_z, torsion }
        }
    }
}
