//! One polyhedron above the faces of the other: which face separates them best.

use super::axes::Relative;
use crate::math::Vec3;
use crate::shape::Polyhedron;

/// A face of one shape and the height of the other above it.
pub(super) struct Face {
    pub face: usize,
    pub separation: f64,
    /// The other shape's vertex nearest to its plane.
    pub vertex: usize,
}

/// One shape above the faces of the other.
pub(super) trait Above {
    /// The shape with the faces.
    fn base(&self) -> &Polyhedron;
    /// The shape above.
    fn other(&self) -> &Polyhedron;
    /// Reverses a direction in the first shape's frame and transforms it into the other's.
    fn against(&self, n: Vec3) -> Vec3;
    /// Height of the other shape's origin.
    fn shift(&self, n: Vec3) -> f64;
    /// A point of the other shape in the first shape's frame.
    fn point(&self, p: Vec3) -> Vec3;

    /// The other shape above one face.
    #[inline(always)]
    fn evaluate(&self, face: usize) -> Face {
        let normal = self.base().face_normals()[face];
        let (vertex, depth) = self.other().support(self.against(normal));
        let separation = self.shift(normal) - depth - self.base().face_offsets()[face];
        Face { face, separation, vertex }
    }

    /// The face above which the other shape is highest, the first in case of ties; if none is above
    /// `floor`, any face.
    #[inline(always)]
    fn best(&self, first: usize, floor: f64, slack: f64, heights: &mut Vec<f64>) -> Face {
        let mut best = self.evaluate(first);
        // A shape is no higher above a face than any of its points.
        self.base().heights(self.point(self.other().vertices()[best.vertex]), heights);
        for i in 0..self.base().n_faces() {
            if i == first || heights[i] + slack < best.separation.max(floor) {
                continue;
            }
            let other = self.evaluate(i);
            if other.separation > best.separation
                || (other.separation == best.separation && i < best.face)
            {
                best = other;
            }
        }
        best
    }

    /// The same when two known points of the other shape leave only a few faces: `None` if all are
    /// below `floor`.
    #[inline(always)]
    fn best_of_few(
        &self,
        ends: [Vec3; 2],
        floor: f64,
        slack: f64,
        heights: &mut Vec<f64>,
        more: &mut Vec<f64>,
    ) -> Option<Face> {
        self.base().heights(self.point(ends[0]), heights);
        self.base().heights(self.point(ends[1]), more);
        let mut best: Option<Face> = None;
        for i in 0..self.base().n_faces() {
            let needed = best.as_ref().map_or(floor, |b| floor.max(b.separation - slack));
            if heights[i].min(more[i]) < needed {
                continue;
            }
            let other = self.evaluate(i);
            if best.as_ref().is_none_or(|b| other.separation > b.separation) {
                best = Some(other);
            }
        }
        best
    }
}

/// b above the faces of a.
pub(super) struct AboveA<'p> {
    pub a: &'p Polyhedron,
    pub b: &'p Polyhedron,
    pub rel: &'p Relative,
}

impl Above for AboveA<'_> {
    #[inline(always)]
    fn base(&self) -> &Polyhedron {
        self.a
    }
    #[inline(always)]
    fn other(&self) -> &Polyhedron {
        self.b
    }
    #[inline(always)]
    fn against(&self, n: Vec3) -> Vec3 {
        self.rel.inverse_vector(-n)
    }
    #[inline(always)]
    fn shift(&self, n: Vec3) -> f64 {
        n.dot(&self.rel.origin)
    }
    #[inline(always)]
    fn point(&self, p: Vec3) -> Vec3 {
        self.rel.point(p)
    }
}

/// a above the faces of b.
pub(super) struct AboveB<'p> {
    a: &'p Polyhedron,
    b: &'p Polyhedron,
    rel: &'p Relative,
    /// Origin of a in the frame of b: −Rᵀ t.
    origin_a: Vec3,
}

impl<'p> AboveB<'p> {
    #[inline(always)]
    pub fn new(a: &'p Polyhedron, b: &'p Polyhedron, rel: &'p Relative) -> AboveB<'p> {
        AboveB { a, b, rel, origin_a: rel.inverse_vector(-rel.origin) }
    }
}

impl Above for AboveB<'_> {
    #[inline(always)]
    fn base(&self) -> &Polyhedron {
        self.b
    }
    #[inline(always)]
    fn other(&self) -> &Polyhedron {
        self.a
    }
    #[inline(always)]
    fn against(&self, n: Vec3) -> Vec3 {
        self.rel.vector(-n)
    }
    #[inline(always)]
    fn shift(&self, n: Vec3) -> f64 {
        n.dot(&self.origin_a)
    }
    #[inline(always)]
    fn point(&self, p: Vec3) -> Vec3 {
        self.rel.inverse_point(p)
    }
}
