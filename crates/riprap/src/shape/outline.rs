//! Corners and faces of a convex shape as plain data, from which exactly the same shape is built
//! again. A state stores the shapes of pieces and worn stones in this form.

use super::hull::{Hull, check};
use super::{Polygon, Polyhedron, Shape, ShapeError};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Corners and faces of a convex polyhedron or polygon. Building the shape again gives the same
/// bits: the same order of corners, faces and edges.
///
/// ```
/// use riprap::prelude::*;
///
/// let brick = Shape::cuboid([0.24, 0.115, 0.071])?;
/// let outline = brick.outline().expect("a brick is a polyhedron");
/// let copy = Shape::from_outline(&outline)?;
/// assert_eq!(copy.mass_properties(1.0), brick.mass_properties(1.0));
/// assert!(Shape::sphere(1.0)?.outline().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outline {
    /// A convex polyhedron.
    Polyhedron {
        /// Corners [m].
        vertices: Vec<[f64; 3]>,
        /// Corners of each face, counter-clockwise from outside.
        faces: Vec<Vec<u16>>,
    },
    /// A convex polygon.
    Polygon {
        /// Corners, counter-clockwise [m].
        vertices: Vec<[f64; 2]>,
        /// Extent along z [m].
        thickness: f64,
    },
}

impl Shape {
    /// Corners and faces of a polyhedron or polygon; `None` for other shapes.
    pub fn outline(&self) -> Option<Outline> {
        match self {
            Shape::Polyhedron(p) => Some(Outline::Polyhedron {
                vertices: p.vertices().iter().map(|v| (*v).into()).collect(),
                faces: (0..p.n_faces()).map(|i| p.face(i).to_vec()).collect(),
            }),
            Shape::Polygon(p) => {
                Some(Outline::Polygon { vertices: p.vertices().to_vec(), thickness: p.thickness() })
            }
            _ => None,
        }
    }

    /// The shape with the given corners and faces, which must be convex and closed.
    pub fn from_outline(outline: &Outline) -> Result<Shape, ShapeError> {
        match outline {
            Outline::Polyhedron { vertices, faces } => {
                let vertices = vertices.iter().map(|v| Vec3::from(*v)).collect();
                let faces = faces.iter().map(|f| f.iter().map(|&i| usize::from(i)).collect());
                let polyhedron = Polyhedron::from_surface(vertices, faces.collect())?;
                Ok(Shape::Polyhedron(Arc::new(polyhedron)))
            }
            Outline::Polygon { vertices, thickness } => {
                let polygon = Polygon::from_corners(vertices.clone(), *thickness)?;
                Ok(Shape::Polygon(Arc::new(polygon)))
            }
        }
    }
}

impl Polyhedron {
    /// The polyhedron with the given corners and faces, each a loop of corners that is
    /// counter-clockwise from outside. The surface must be closed and convex.
    pub fn from_surface(
        vertices: Vec<Vec3>,
        faces: Vec<Vec<usize>>,
    ) -> Result<Polyhedron, ShapeError> {
        if vertices.len() < 4 || faces.len() < 4 {
            return Err(ShapeError::TooFewPoints { needed: 4, got: vertices.len() });
        }
        if vertices.len() > super::polyhedron::MOST_VERTICES {
            let (most, got) = (super::polyhedron::MOST_VERTICES, vertices.len());
            return Err(ShapeError::TooManyCorners { most, got });
        }
        if let Some(index) = vertices.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
            return Err(ShapeError::NotFinite { index });
        }
        let known = |f: &Vec<usize>| f.len() >= 3 && f.iter().all(|&i| i < vertices.len());
        if !faces.iter().all(known) {
            return Err(ShapeError::HullCheck { error: f64::INFINITY });
        }
        let extent = extent(&vertices);
        let hull = Hull { vertices, faces };
        check(&hull.vertices, &hull, extent)?;
        let polyhedron = Polyhedron::from_faces(hull.vertices, &hull.faces);
        // Also false for NaN.
        if polyhedron.unit_mass().mass > 0.0 {
            Ok(polyhedron)
        } else {
            Err(ShapeError::Flat { thickness: 0.0, extent })
        }
    }
}

/// Largest distance of a point from the first [m], within a factor of two of the diameter.
pub(super) fn extent(points: &[Vec3]) -> f64 {
    points.iter().map(|p| (p - points[0]).norm()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::stone;
    use super::*;
    use crate::math::fixtures::seeded;

    #[test]
    fn a_shape_from_its_outline_has_the_same_bits() {
        let mut rng = seeded(91);
        for n in [4, 9, 25, 60] {
            let shape = Shape::Polyhedron(Arc::new(stone(&mut rng, n)));
            let again = Shape::from_outline(&shape.outline().unwrap()).unwrap();
            assert_eq!(format!("{shape:?}"), format!("{again:?}"));
        }
        let square = Shape::polygon(&[[0., 0.], [2., 0.], [2., 2.], [0., 2.]], 0.3).unwrap();
        let again = Shape::from_outline(&square.outline().unwrap()).unwrap();
        assert_eq!(format!("{square:?}"), format!("{again:?}"));
    }

    #[test]
    fn damaged_outlines_are_refused() {
        let Some(Outline::Polyhedron { vertices, faces }) =
            Shape::cuboid([1.0; 3]).unwrap().outline()
        else {
            panic!()
        };
        let read = |vertices: &[[f64; 3]], faces: &[Vec<u16>]| {
            let (vertices, faces) = (vertices.to_vec(), faces.to_vec());
            Shape::from_outline(&Outline::Polyhedron { vertices, faces })
        };
        assert!(read(&vertices, &faces).is_ok());
        assert!(read(&vertices, &faces[1..]).is_err(), "a hole");
        let mut wrong = faces.clone();
        wrong[0][0] = 99;
        assert!(read(&vertices, &wrong).is_err(), "a corner that does not exist");
        let mut dented = vertices.clone();
        dented[0] = [0.2; 3];
        assert!(read(&dented, &faces).is_err(), "not convex");
        dented[0] = [f64::NAN; 3];
        assert!(read(&dented, &faces).is_err());
        assert!(read(&[], &[]).is_err());
        for vertices in [vec![[0., 0.], [0., 1.], [1., 0.]], vec![[0., 0.], [1., 0.]]] {
            let clockwise = Outline::Polygon { vertices, thickness: 1.0 };
            assert!(Shape::from_outline(&clockwise).is_err());
        }
    }
}
