//! Closed triangle meshes: checked, their mass computed exactly, and decomposed into convex parts
//! by parry's approximate convex decomposition (V-HACD).

use super::{Compound, MassProperties, Polyhedron, Shape, ShapeError};
use crate::math::{Pose, Vec3};
use parry3d_f64::math::Vector as ParryVector;
use parry3d_f64::transformation::vhacd::{VHACD, VHACDParameters};
use std::collections::HashMap;
use std::sync::Arc;

/// Decomposes a closed mesh into convex parts; see [`Shape::decomposed_mesh`].
pub(super) fn decompose(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    max_parts: usize,
) -> Result<Shape, ShapeError> {
    check_closed(vertices, triangles)?;
    let corner = |t: &[u32; 3]| t.map(|i| vertices[i as usize]);
    let mut unit_mass = MassProperties::of_surface(triangles.iter().map(corner));
    // A mesh turned inside out has a negative volume but encloses the same solid.
    if unit_mass.mass < 0.0 {
        unit_mass = unit_mass.scaled(-1.0);
    }
    if unit_mass.mass.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
        return Err(ShapeError::Flat { thickness: 0.0, extent: 0.0 });
    }

    let points: Vec<ParryVector> =
        vertices.iter().map(|v| ParryVector::new(v.x, v.y, v.z)).collect();
    let parameters =
        VHACDParameters { max_convex_hulls: max_parts.max(1) as u32, ..Default::default() };
    let parts = VHACD::decompose(&parameters, &points, triangles, true)
        .compute_exact_convex_hulls(&points, triangles)
        .into_iter()
        .filter_map(|(corners, _)| {
            let corners: Vec<Vec3> = corners.iter().map(|p| Vec3::new(p.x, p.y, p.z)).collect();
            match Polyhedron::from_points(&corners) {
                Ok(part) => Some(Ok((Pose::IDENTITY, Shape::Polyhedron(Arc::new(part))))),
                Err(error @ ShapeError::TooManyCorners { .. }) => Some(Err(error)),
                // Slivers that the voxels cut off at the boundary have no volume and carry no
                // contact.
                Err(_) => None,
            }
        })
        .collect::<Result<Vec<_>, _>>()?;
    if parts.is_empty() {
        return Ok(Shape::Polyhedron(Arc::new(Polyhedron::from_points(vertices)?)));
    }
    Ok(Shape::Compound(Arc::new(Compound { parts, unit_mass })))
}

/// Every edge must be traversed once in each direction.
fn check_closed(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), ShapeError> {
    let mut edges: HashMap<(u32, u32), u32> = HashMap::new();
    for (triangle, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            let vertex = t[k] as usize;
            if vertex >= vertices.len() {
                return Err(ShapeError::BadTriangle { triangle, vertex, count: vertices.len() });
            }
            *edges.entry((t[k], t[(k + 1) % 3])).or_default() += 1;
        }
    }
    if let Some(index) = vertices.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
        return Err(ShapeError::NotFinite { index });
    }
    let open_edges =
        edges.iter().filter(|((i, j), n)| **n != 1 || edges.get(&(*j, *i)) != Some(&1)).count();
    if open_edges > 0 || triangles.len() < 4 {
        return Err(ShapeError::OpenMesh { open_edges });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two boxes joined into an L, as a closed mesh.
    fn l_shape() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let outline = [[0., 0.], [2., 0.], [2., 1.], [1., 1.], [1., 2.], [0., 2.]];
        let mut vertices: Vec<Vec3> = Vec::new();
        for z in [0.0, 1.0] {
            vertices.extend(outline.iter().map(|p| Vec3::new(p[0], p[1], z)));
        }
        let cap = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]];
        let mut triangles: Vec<[u32; 3]> = cap.iter().map(|&[a, b, c]| [a, c, b]).collect();
        triangles.extend(cap.iter().map(|t| t.map(|i| i + 6)));
        for i in 0..6u32 {
            let j = (i + 1) % 6;
            triangles.extend([[i, j, j + 6], [i, j + 6, i + 6]]);
        }
        (vertices, triangles)
    }

    #[test]
    fn an_l_is_decomposed_into_convex_parts_and_keeps_its_own_mass() {
        let (vertices, triangles) = l_shape();
        let Shape::Compound(c) = decompose(&vertices, &triangles, 8).unwrap() else {
            panic!("an L-shape is not convex")
        };
        assert!(c.parts.len() >= 2);
        assert!((c.unit_mass.mass - 3.0).abs() < 1e-14);
        let volume: f64 = c.parts.iter().map(|p| p.1.mass_properties(1.0).unwrap().mass).sum();
        assert!((volume - 3.0).abs() < 0.3, "total volume of the parts {volume}");
    }

    #[test]
    fn a_mesh_with_a_hole_is_refused() {
        let (vertices, mut triangles) = l_shape();
        triangles.pop();
        assert!(matches!(decompose(&vertices, &triangles, 8), Err(ShapeError::OpenMesh { .. })));
        triangles.push([0, 1, 99]);
        assert!(matches!(decompose(&vertices, &triangles, 8), Err(ShapeError::BadTriangle { .. })));
    }

    /// Vertices and triangles of a polyhedron.
    fn surface(p: &Polyhedron) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        (p.vertices().to_vec(), p.triangles().collect())
    }

    #[test]
    fn a_convex_mesh_has_the_mass_of_its_hull_even_inside_out() {
        let p = super::super::fixtures::stone(&mut crate::math::fixtures::seeded(71), 20);
        let (vertices, mut triangles) = surface(&p);
        for inside_out in [false, true] {
            if inside_out {
                triangles.iter_mut().for_each(|t| t.swap(0, 1));
            }
            let shape = decompose(&vertices, &triangles, 1).unwrap();
            let m = shape.mass_properties(1.0).unwrap();
            assert!((m.mass - p.unit_mass().mass).abs() < 1e-13, "{inside_out}");
            assert!((m.centre - p.centre()).norm() < 1e-13);
            assert!((m.inertia - p.unit_mass().inertia).norm() < 1e-13);
        }
    }

    #[test]
    fn errors_in_a_mesh_name_their_place() {
        let (vertices, triangles) = surface(&Polyhedron::cuboid([1.0; 3]).unwrap());
        let said = |vertices: &[Vec3], triangles: &[[u32; 3]]| {
            decompose(vertices, triangles, 4).expect_err("refused").to_string()
        };
        let mut turned = triangles.clone();
        turned[3].swap(0, 1);
        // Each edge of the reversed triangle is traversed twice in the same direction.
        assert!(said(&vertices, &turned).contains("3 edges"), "{}", said(&vertices, &turned));
        let mut far = triangles.clone();
        far[5][1] = 8;
        let told = said(&vertices, &far);
        assert_eq!(told, "triangle 5 refers to vertex 8, but there are only 8");
        let mut broken = vertices.clone();
        broken[2].y = f64::NAN;
        assert_eq!(said(&broken, &triangles), "point 2 has a coordinate that is not finite");
        assert!(said(&vertices, &[]).contains("not closed"));
    }

    #[test]
    fn a_mesh_without_volume_is_refused() {
        // A box flattened to zero height.
        let (mut vertices, triangles) = surface(&Polyhedron::cuboid([1.0; 3]).unwrap());
        vertices.iter_mut().for_each(|v| v.z = 0.0);
        assert!(matches!(decompose(&vertices, &triangles, 4), Err(ShapeError::Flat { .. })));
    }
}
