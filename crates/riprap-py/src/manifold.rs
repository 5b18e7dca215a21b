//! Two shapes at given poses: their distance, and the points at which they touch.

use pyo3::prelude::*;

use riprap::detect::{
    Ask, Collider, Geometry, Manifold, Method, NarrowScratch, PairCache, Placed, narrow_phase,
};
use riprap::math::{Pose as CorePose, Vec3};
use riprap::shape::Shape as CoreShape;

use crate::convert::word;
use crate::errors;
use crate::pose::Pose;
use crate::records::Records;
use crate::shape::Shape;

/// A convex part and where it is.
type Part = (Geometry, Placed);

fn parts(shape: &CoreShape, pose: &CorePose) -> Vec<Part> {
    let place = |(own, shape): (CorePose, CoreShape)| {
        let geometry = Geometry::of(&shape)?;
        let collider = Collider { body: 0, geometry, pose: own, material: 0, movable: true };
        let placed = Placed::new(&collider, pose);
        Some((collider.geometry, placed))
    };
    shape.parts().into_iter().filter_map(place).collect()
}

/// The manifolds of all pairs of parts within a gap, with their indices.
fn manifolds(a: &[Part], b: &[Part], ask: &Ask) -> Vec<([u32; 2], Manifold)> {
    let mut scratch = NarrowScratch::default();
    let mut found = Vec::new();
    for (i, (ga, pa)) in a.iter().enumerate() {
        for (j, (gb, pb)) in b.iter().enumerate() {
            let cache = &mut PairCache::default();
            if let Some(m) = narrow_phase((ga, gb), (pa, pb), ask, cache, &mut scratch) {
                found.push(([i as u32, j as u32], m));
            }
        }
    }
    found
}

/// Both shapes in their poses; ValueError if they cannot meet.
fn placed(
    a: &Shape,
    b: &Shape,
    pose_a: Option<&Pose>,
    pose_b: Option<&Pose>,
) -> PyResult<(Vec<Part>, Vec<Part>)> {
    let half_space = |s: &Shape| matches!(s.0, CoreShape::HalfSpace { .. });
    if half_space(a) && half_space(b) {
        return Err(errors::value("two half-spaces have no contact"));
    }
    if a.0.is_planar() != b.0.is_planar() && !half_space(a) && !half_space(b) {
        return Err(errors::value("one shape is planar, the other is not"));
    }
    let pose = |pose: Option<&Pose>| pose.map_or(CorePose::IDENTITY, |pose| pose.0);
    Ok((parts(&a.0, &pose(pose_a)), parts(&b.0, &pose(pose_b))))
}

#[pymethods]
impl Shape {
    /// Distance to another shape [m], or minus the depth of their overlap, at the given poses (the origin by default).
    #[pyo3(signature = (other, pose=None, other_pose=None))]
    fn distance(
        &self,
        other: &Shape,
        pose: Option<&Pose>,
        other_pose: Option<&Pose>,
    ) -> PyResult<f64> {
        let (a, b) = placed(self, other, pose, other_pose)?;
        let ask = Ask { alert: f64::INFINITY, ..Ask::default() };
        let found = manifolds(&a, &b, &ask);
        Ok(found.iter().map(|(_, m)| m.separation).fold(f64::INFINITY, f64::min))
    }

    /// The points at which this shape and another one touch or are closer than `alert` [m], as a structured array: point midway
    /// between the surfaces [m], normal from this shape to the other, gap along it [m], feature (a number that stays the same as
    /// long as the same faces, edges and corners meet), and the indices of the convex parts. Poses are the origin by
    /// default; detection is separating-axes or common-plane.
    #[pyo3(signature = (other, pose=None, other_pose=None, *, alert=0.0, detection="separating-axes"))]
    fn manifold<'py>(
        &self,
        py: Python<'py>,
        other: &Shape,
        pose: Option<&Pose>,
        other_pose: Option<&Pose>,
        alert: f64,
        detection: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known =
            [("separating-axes", Method::SeparatingAxes), ("common-plane", Method::CommonPlane)];
        let method = word("detection", detection, &known)?;
        if alert.is_nan() {
            return Err(errors::value("the alert distance must be a number"));
        }
        let (a, b) = placed(self, other, pose, other_pose)?;
        let found = manifolds(&a, &b, &Ask { alert, method, ..Ask::default() });
        let points = || found.iter().flat_map(|(k, m)| m.points().iter().map(move |p| (k, m, p)));
        let vector = |v: Vec3| <[f64; 3]>::from(v);
        let mut records = Records::new(py, points().count());
        let positions = points().flat_map(|(_, _, p)| vector(p.position)).collect();
        records.numbers("point", positions, 3)?;
        let normals = points().flat_map(|(_, m, _)| vector(m.normal)).collect();
        records.numbers("normal", normals, 3)?;
        records.numbers("gap", points().map(|(_, _, p)| p.gap).collect(), 1)?;
        records.integers("feature", points().map(|(_, _, p)| p.feature).collect(), 1)?;
        records.integers("parts", points().flat_map(|(k, _, _)| *k).collect(), 2)?;
        records.array()
    }
}
