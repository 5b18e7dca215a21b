//! Conversion of shapes of the file to shapes of the simulator, scaled as specified by a table of grains.

use riprap::math::Vec3;
use riprap::shape::{Shape, ShapeError};

use super::pose;
use crate::scene_file::{self as file, MeshTreatment, SceneFile};

/// The shape with all lengths multiplied by `scale` [–].
pub(super) fn make(
    scene: &SceneFile,
    shape: &file::Shape,
    scale: f64,
) -> Result<Shape, ShapeError> {
    let scaled = |points: &[file::Vector], scale: f64| -> Vec<Vec3> {
        points.iter().map(|point| Vec3::from(*point) * scale).collect()
    };
    match shape {
        file::Shape::Sphere { radius } => Shape::sphere(radius * scale),
        file::Shape::Box { size } => Shape::cuboid(size.map(|x| x * scale)),
        file::Shape::HalfSpace { normal } => Shape::half_space(*normal),
        file::Shape::Polyhedron { points } => Shape::hull(&scaled(points, scale)),
        file::Shape::Mesh { scale: own, treatment, mesh, .. } => {
            let vertices = scaled(&mesh.vertices, own * scale);
            match treatment {
                MeshTreatment::Hull => Shape::hull(&vertices),
                MeshTreatment::Parts { max_parts } => {
                    Shape::decomposed_mesh(&vertices, &mesh.triangles, *max_parts as usize)
                }
            }
        }
        file::Shape::Capsule { radius, length } => Shape::capsule(radius * scale, length * scale),
        file::Shape::Cylinder { radius, length } => Shape::cylinder(radius * scale, length * scale),
        file::Shape::Cone { radius, height } => Shape::cone(radius * scale, height * scale),
        file::Shape::Rounded { radius, core } => {
            Shape::rounded(&make(scene, scene.shape(core), scale)?, radius * scale)
        }
        file::Shape::Compound { parts } => {
            let part = |part: &file::Part| {
                let shape = make(scene, scene.shape(&part.shape), scale)?;
                Ok((pose(part.position.map(|x| x * scale), part.rotation), shape))
            };
            Shape::compound(parts.iter().map(part).collect::<Result<_, ShapeError>>()?)
        }
        file::Shape::OpenBox { size, wall } => {
            Shape::open_box(size.map(|x| x * scale), wall * scale)
        }
        file::Shape::Disc { radius, thickness } => Shape::disc(radius * scale, thickness * scale),
        file::Shape::Polygon { points, thickness } => {
            let points: Vec<[f64; 2]> = points.iter().map(|p| p.map(|x| x * scale)).collect();
            Shape::polygon(&points, thickness * scale)
        }
    }
}
