//! Shapes, rotations and the files that shapes are read from.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::super::document::excerpt;
use super::super::keys::ReadKeys;
use super::super::model::{Quaternion, Shape, ShapeRef, Vector};
use super::super::values::{Entries, Item, Node};
use super::{Converter, did_you_mean};
use crate::mesh::Mesh;
use crate::unit_vector::unit;

/// Placeholder for an invalid shape; never returned to the user, because the mistake was reported.
pub(super) const ANY: Shape = Shape::Sphere { radius: 1.0 };

/// The identity.
pub(super) const UPRIGHT: Quaternion = [1.0, 0.0, 0.0, 0.0];

impl Converter<'_> {
    /// An inline shape; `None` if it is invalid, which has been reported.
    pub(super) fn shape(&mut self, entries: &Entries) -> Option<Shape> {
        self.check_planar(entries, entries.variant?);
        let shape = Shape::read_keys(self, entries)?;
        let message = match &shape {
            Shape::Polyhedron { points } if flat(points) => {
                "the points are coplanar, so the polyhedron has no volume"
            }
            Shape::Polygon { points, .. } if on_a_line(points) => {
                "the points are collinear, so the polygon has no area"
            }
            _ => return Some(shape),
        };
        self.problems.report(entries.value_span("points"), message);
        None
    }

    fn check_planar(&mut self, shape: &Entries, kind: &str) {
        let flat = matches!(kind, "disc" | "polygon");
        if matches!(kind, "half-space" | "compound") || flat == self.planar {
            return;
        }
        let (message, help) = match self.planar {
            true => (
                format!("the shape \"{kind}\" is not available in planar scenes"),
                "planar scenes can have disc, polygon, half-space and compounds of these",
            ),
            false => (
                format!("the shape \"{kind}\" needs a planar scene"),
                "write planar = true at the top, or use a sphere, box or polyhedron",
            ),
        };
        self.problems.advise(shape.value_span("type"), message, help);
    }

    /// The unit normal of a half-space.
    pub(in super::super) fn outward(&mut self, shape: &Entries, key: &str) -> Option<Vector> {
        let normal = match shape.get(key) {
            Some(node) => node.numbers()?,
            None if self.planar => [0.0, 1.0, 0.0],
            None => [0.0, 0.0, 1.0],
        };
        let normal = unit(normal);
        if normal.is_none() {
            self.problems.report(shape.value_span(key), format!("`{key}` has zero length"));
        }
        normal
    }

    /// The mesh of a shape; it must be closed if it is decomposed into parts.
    pub(in super::super) fn mesh(&mut self, shape: &Entries) -> Option<Arc<Mesh>> {
        let span = shape.value_span("file");
        let mesh = self.mesh_of(self.path(shape.text("file")?), &span)?;
        let in_parts = shape.text("as") == Some("parts");
        let open = if in_parts { mesh.open_edges().len() } else { 0 };
        if open > 0 {
            let message = format!("the mesh is not closed: {open} edges have no neighbour");
            let help = "repair the mesh, or use as = \"hull\"";
            self.problems.advise(span, message, help);
        }
        Some(mesh)
    }

    /// The mesh in a file; each file is read once.
    pub(super) fn mesh_of(&mut self, file: PathBuf, span: &Range<usize>) -> Option<Arc<Mesh>> {
        let mesh = match self.meshes.get(&file) {
            Some(mesh) => mesh.clone()?,
            None => match Mesh::read(&file) {
                Ok(mesh) => {
                    let mesh = Arc::new(mesh);
                    self.meshes.insert(file, Some(mesh.clone()));
                    mesh
                }
                Err(error) => {
                    self.problems.report(span.clone(), error.to_string());
                    self.meshes.insert(file, None);
                    return None;
                }
            },
        };
        if flat(&mesh.vertices) {
            let message = "the vertices are coplanar, so the mesh has no volume";
            self.problems.report(span.clone(), message);
            return None;
        }
        Some(mesh)
    }

    /// The shape of a part of a compound.
    pub(in super::super) fn part_shape(&mut self, part: &Entries, key: &str) -> Option<ShapeRef> {
        let node = part.get(key)?;
        if let Some(kind @ ("compound" | "open-box" | "half-space")) = self.shape_type(node) {
            let message = format!("\"{kind}\" cannot be part of a compound");
            self.problems.report(part.value_span(key), message);
            return None;
        }
        self.shape_ref(node)
    }

    /// The core of a rounded shape.
    pub(in super::super) fn core_shape(&mut self, shape: &Entries, key: &str) -> Option<ShapeRef> {
        let node = shape.get(key)?;
        let in_parts = match &node.item {
            Item::Table(core) => core.variant == Some("mesh") && core.text("as") == Some("parts"),
            _ => false,
        };
        let kind = self.shape_type(node);
        if in_parts || kind.is_some_and(|kind| !matches!(kind, "box" | "polyhedron" | "mesh")) {
            let message = match kind {
                Some(kind) if !in_parts => format!("\"{kind}\" cannot be rounded"),
                _ => "a mesh in several parts cannot be rounded".to_owned(),
            };
            let help =
                "the core of a rounded shape is a box, a polyhedron, or a mesh with as = \"hull\"";
            self.problems.advise(shape.value_span(key), message, help);
            return None;
        }
        self.shape_ref(node)
    }

    /// The type of a shape, inline or by name.
    pub(super) fn shape_type(&self, node: &Node) -> Option<&'static str> {
        match &node.item {
            Item::Table(shape) => shape.variant,
            Item::Text(name) => self.shape_types[*self.shape_index.get(name)?],
            _ => None,
        }
    }

    pub(in super::super) fn shape_ref(&mut self, node: &Node) -> Option<ShapeRef> {
        match &node.item {
            Item::Table(shape) => self.shape(shape).map(ShapeRef::Inline),
            Item::Text(name) => {
                let index = self.shape_index.get(name).copied();
                if index.is_none() {
                    let known = self.shape_index.keys().map(String::as_str);
                    let help = did_you_mean(name, known, "shape");
                    let message = format!("there is no shape `{}`", excerpt(name));
                    self.problems.advise(node.span.clone(), message, help);
                }
                index.map(ShapeRef::Named)
            }
            _ => None,
        }
    }

    /// The orientation of a body or part: `rotation`, or `angle` in planar scenes.
    pub(in super::super) fn rotation(&mut self, entries: &Entries) -> Option<Quaternion> {
        if let Some(angle) = entries.given("angle") {
            if !self.planar {
                let message = "`angle` is for planar scenes";
                let help = "write rotation = { axis = [0, 0, 1], angle = … }";
                self.problems.advise(entries.key_span("angle"), message, help);
            } else if entries.given("rotation").is_some() {
                let message = "give `rotation` or `angle`, not both";
                self.problems.report(entries.key_span("angle"), message);
            }
            return Some(about([0.0, 0.0, 1.0], angle.number()?));
        }
        match entries.given("rotation") {
            Some(node) => self.turned(node),
            None => Some(UPRIGHT),
        }
    }

    /// A rotation by axis and angle, or by a quaternion.
    pub(super) fn turned(&mut self, node: &Node) -> Option<Quaternion> {
        let rotation = node.table()?;
        let span = node.span.clone();
        let keys = ["axis", "angle", "quaternion"].map(|key| rotation.given(key).is_some());
        let quaternion = match keys {
            [true, true, false] => {
                let (axis, angle) = (rotation.numbers("axis")?, rotation.number("angle")?);
                unit(axis).map(|axis| about(axis, angle))
            }
            [false, false, true] => unit(rotation.numbers("quaternion")?),
            _ => {
                let message = "a rotation has either `axis` and `angle`, or `quaternion`";
                self.problems.report(span, message);
                return None;
            }
        };
        let Some(quaternion) = quaternion else {
            let what = if keys[2] { "quaternion" } else { "axis" };
            self.problems.report(rotation.value_span(what), format!("`{what}` has zero length"));
            return None;
        };
        if self.planar && (quaternion[1] != 0.0 || quaternion[2] != 0.0) {
            self.problems.report(span, "the scene is planar: bodies rotate about z only");
        }
        Some(quaternion)
    }

    /// The absolute path of a file named in the scene.
    pub(in super::super) fn path(&self, file: &str) -> PathBuf {
        let path = self.base.join(file);
        std::path::absolute(&path).unwrap_or(path)
    }
}

/// The quaternion of a rotation by `angle` [rad] about a unit vector.
fn about(axis: Vector, angle: f64) -> Quaternion {
    let (sin, cos) = (0.5 * angle).sin_cos();
    [cos, sin * axis[0], sin * axis[1], sin * axis[2]]
}

/// Whether points of the plane are collinear.
fn on_a_line(points: &[[f64; 2]]) -> bool {
    let [x, y] = points[0];
    let extent = points.iter().map(|p| (p[0] - x).abs().max((p[1] - y).abs())).fold(0.0, f64::max);
    // Together with a point above the first, they span the space unless they are collinear.
    let mut lifted: Vec<Vector> = points.iter().map(|&[x, y]| [x, y, 0.0]).collect();
    lifted.push([x, y, extent]);
    flat(&lifted)
}

/// Whether points are coplanar, to 1e-9 of their extent; below that, a hull is not reliable.
fn flat(points: &[Vector]) -> bool {
    let Some(first) = points.first() else { return true };
    let arm = |p: &Vector| [p[0] - first[0], p[1] - first[1], p[2] - first[2]];
    let dot = |a: Vector, b: Vector| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let cross = |a: Vector, b: Vector| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let farthest = |measure: &dyn Fn(Vector) -> f64| {
        points.iter().map(arm).max_by(|a, b| measure(*a).total_cmp(&measure(*b)))
    };
    // The longest arm, the arm farthest from it, and the arm farthest from the plane of both.
    let length = |a: Vector| dot(a, a).sqrt();
    let Some(a) = farthest(&length).and_then(unit) else { return true };
    let extent = points.iter().map(|p| length(arm(p))).fold(0.0, f64::max);
    let Some(b) = farthest(&|p| length(cross(a, p))) else { return true };
    let normal = cross(a, b);
    if length(normal) < 1e-9 * extent {
        return true;
    }
    let Some(normal) = unit(normal) else { return true };
    points.iter().all(|p| dot(normal, arm(p)).abs() < 1e-9 * extent)
}

#[cfg(test)]
mod tests;
