//! Splitting of convex polyhedra and polygons by a plane into two convex pieces, and cutting off a
//! given volume: the geometry of fragmentation and wear.
//!
//! A face is clipped where its edges cross the plane, and the section closes both pieces. The
//! corners on the section are computed once and shared, so that volume, first moment and inertia of
//! the pieces add up to those of the whole except for rounding.

use super::outline::extent;
use super::{MassProperties, Polygon, Polyhedron, Shape, ShapeError};
use crate::math::Vec3;
use std::sync::Arc;

/// A plane that splits a shape keeps this distance from all corners, as a fraction of the extent,
/// divided by the number of corners [–]: pieces have no edges shorter than that.
const CLEAR: f64 = 0.02;
/// The same for a plane that cuts off a chosen volume [–].
const CLEAR_CUT: f64 = 1e-7;
/// Edges shorter than this fraction of the size are removed after a cut [–].
const SHORT: f64 = 5e-3;
/// The volume cut off differs from the wanted one by at most this fraction [–], unless corners are
/// in the way.
const CUT_ACCURACY: f64 = 1e-10;

impl Shape {
    /// Splits a convex polyhedron or polygon by a plane with the given unit normal [–] through a
    /// point [m]: the piece behind the plane and the one in front of it. The plane is shifted by as
    /// little as necessary to keep clear of the corners.
    ///
    /// ```
    /// use riprap::prelude::*;
    ///
    /// let brick = Shape::cuboid([0.24, 0.115, 0.071])?;
    /// let [left, right] = brick.split(Vec3::x(), Vec3::zeros())?;
    /// let mass = |s: &Shape| s.mass_properties(1800.0).expect("it has a volume").mass;
    /// assert!((mass(&left) + mass(&right) - mass(&brick)).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn split(&self, normal: Vec3, through: Vec3) -> Result<[Shape; 2], ShapeError> {
        match self {
            Shape::Polyhedron(p) => {
                let wanted = normal.dot(&through);
                let offset = clear_offset(p.vertices().iter().map(|v| normal.dot(v)), wanted)?;
                Ok(p.split(normal, offset)?.map(|piece| Shape::Polyhedron(Arc::new(piece))))
            }
            Shape::Polygon(p) => {
                let [x, y] = [normal.x, normal.y];
                let heights = p.vertices().iter().map(|v| x * v[0] + y * v[1]);
                let offset = clear_offset(heights, x * through.x + y * through.y)?;
                Ok(p.split([x, y], offset)?.map(|piece| Shape::Polygon(Arc::new(piece))))
            }
            _ => Err(ShapeError::NotConvex),
        }
    }

    /// Cuts a volume [m³] off a convex polyhedron or polygon on the side of the unit normal [–]. Short edges
    /// and corners beyond `max_corners` are removed, so that the volume lost can be larger.
    pub fn cut_off(
        &self,
        normal: Vec3,
        volume: f64,
        max_corners: usize,
    ) -> Result<Shape, ShapeError> {
        match self {
            Shape::Polyhedron(p) => {
                let cut = p.cut_off(normal, volume)?;
                Ok(Shape::Polyhedron(Arc::new(tidied(cut, max_corners.max(4))?)))
            }
            Shape::Polygon(p) => {
                let cut = p.cut_off([normal.x, normal.y], volume)?;
                Ok(Shape::Polygon(Arc::new(tidied_polygon(cut, max_corners.max(3))?)))
            }
            _ => Err(ShapeError::NotConvex),
        }
    }

    /// Volume [m³]; 0 for a half-space.
    pub fn volume(&self) -> f64 {
        self.mass_properties(1.0).map_or(0.0, |m| m.mass)
    }

    /// Radius of a ball (or disc) around the centre that fits inside, relative to that of the one
    /// around the shape [–]; 1 for balls. Pieces below a few percent are slivers.
    pub fn roundness(&self) -> f64 {
        match self {
            Shape::Polyhedron(p) => p.inner_radius() / p.outer_radius(),
            Shape::Polygon(p) => {
                let c = p.unit_mass().centre;
                let sides = p.vertices().iter().zip(p.normals());
                let depth = sides.map(|(v, n)| n[0] * (v[0] - c.x) + n[1] * (v[1] - c.y));
                depth.fold(f64::INFINITY, f64::min).max(0.0) / p.outer_radius()
            }
            _ => 1.0,
        }
    }
}

/// The offset nearest to the wanted one that keeps clear of all heights of corners [m].
fn clear_offset(heights: impl Iterator<Item = f64>, wanted: f64) -> Result<f64, ShapeError> {
    let mut heights: Vec<f64> = heights.collect();
    heights.sort_by(f64::total_cmp);
    let [Some(low), Some(high)] = [heights.first().copied(), heights.last().copied()] else {
        return Err(ShapeError::Missed);
    };
    let clear = CLEAR / heights.len() as f64 * (high - low);
    let mut best: Option<f64> = None;
    for pair in heights.windows(2) {
        let [from, to] = [pair[0] + clear, pair[1] - clear];
        if from <= to {
            let nearest = wanted.clamp(from, to);
            if best.is_none_or(|b| (nearest - wanted).abs() < (b - wanted).abs()) {
                best = Some(nearest);
            }
        }
    }
    // Also refuses NaN.
    let inside = low < wanted && wanted < high;
    best.filter(|_| inside).ok_or(ShapeError::Missed)
}

/// One side of a clipped polyhedron.
struct Clipped {
    vertices: Vec<Vec3>,
    faces: Vec<Vec<usize>>,
}

impl Clipped {
    /// Mass properties for a density of 1 kg/m³.
    fn unit_mass(&self) -> MassProperties {
        let Clipped { vertices, faces } = self;
        let fan = faces.iter().flat_map(|f| {
            (1..f.len() - 1).map(|k| [vertices[f[0]], vertices[f[k]], vertices[f[k + 1]]])
        });
        MassProperties::of_surface(fan)
    }
}

impl Polyhedron {
    /// Splits it by the plane `normal · x = offset` [m]: the piece behind the plane and the one in
    /// front of it. No corner may lie in the plane.
    pub fn split(&self, normal: Vec3, offset: f64) -> Result<[Polyhedron; 2], ShapeError> {
        let heights: Vec<f64> = self.vertices().iter().map(|v| normal.dot(v) - offset).collect();
        let piece = |sign: f64| {
            let Clipped { vertices, faces } = self.clip(&heights, sign)?;
            Polyhedron::from_surface(vertices, faces)
        };
        Ok([piece(1.0)?, piece(-1.0)?])
    }

    /// The side of the plane on which `sign × height` is negative.
    fn clip(&self, heights: &[f64], sign: f64) -> Result<Clipped, ShapeError> {
        let kept = |i: u16| sign * heights[usize::from(i)] < 0.0;
        let mut vertices = Vec::new();
        let mut number = vec![usize::MAX; heights.len()];
        for (i, v) in self.vertices().iter().enumerate() {
            if kept(i as u16) {
                number[i] = vertices.len();
                vertices.push(*v);
            }
        }
        if vertices.is_empty() || vertices.len() == heights.len() {
            return Err(ShapeError::Missed);
        }
        // A corner of the section for each edge that crosses the plane.
        let mut crossing = vec![usize::MAX; self.edges().len()];
        for (e, edge) in self.edges().iter().enumerate() {
            let [i, j] = edge.vertices;
            if kept(i) != kept(j) {
                let [a, b] = edge.vertices.map(|i| self.vertices()[usize::from(i)]);
                let [ha, hb] = edge.vertices.map(|i| heights[usize::from(i)]);
                crossing[e] = vertices.len();
                vertices.push(a + (b - a) * (ha / (ha - hb)));
            }
        }
        // The section runs against the direction of the clipped faces.
        let mut after = vec![usize::MAX; vertices.len()];
        let mut faces = Vec::new();
        for f in 0..self.n_faces() {
            let (corners, edges) = (self.face(f), self.face_edges(f));
            let mut face = Vec::with_capacity(corners.len() + 1);
            let (mut leaves, mut enters) = (usize::MAX, usize::MAX);
            for (k, &i) in corners.iter().enumerate() {
                if kept(i) {
                    face.push(number[usize::from(i)]);
                }
                let cross = crossing[usize::from(edges[k])];
                if cross != usize::MAX {
                    face.push(cross);
                    *(if kept(i) { &mut leaves } else { &mut enters }) = cross;
                }
            }
            if enters != usize::MAX && leaves != usize::MAX {
                after[enters] = leaves;
            }
            if face.len() >= 3 {
                faces.push(face);
            }
        }
        let first = crossing.iter().copied().find(|c| *c != usize::MAX);
        let first = first.ok_or(ShapeError::Missed)?;
        let mut section = vec![first];
        let mut at = after[first];
        while at != first && at != usize::MAX && section.len() <= vertices.len() {
            section.push(at);
            at = after[at];
        }
        faces.push(section);
        Ok(Clipped { vertices, faces })
    }

    /// Cuts a volume [m³] off on the side of the unit normal [–].
    pub fn cut_off(&self, normal: Vec3, volume: f64) -> Result<Polyhedron, ShapeError> {
        let heights: Vec<f64> = self.vertices().iter().map(|v| normal.dot(v)).collect();
        let above = |offset: f64| {
            let above: Vec<f64> = heights.iter().map(|h| h - offset).collect();
            self.clip(&above, -1.0).map_or(0.0, |cap| cap.unit_mass().mass)
        };
        let offset = offset_of(&heights, volume, self.unit_mass().mass, above)?;
        let below: Vec<f64> = heights.iter().map(|h| h - offset).collect();
        let Clipped { vertices, faces } = self.clip(&below, 1.0)?;
        Polyhedron::from_surface(vertices, faces)
    }

    /// Length of the shortest edge [m].
    fn shortest_edge(&self) -> f64 {
        let length = |e| {
            let [a, b] = self.edge_ends(e);
            (b - a).norm()
        };
        (0..self.edges().len()).map(length).fold(f64::INFINITY, f64::min)
    }
}

/// The offset of the plane above which a volume lies [m], clear of the corners: bisection and
/// secants (Illinois) on the volume above, which decreases with the offset.
fn offset_of(
    heights: &[f64],
    volume: f64,
    whole: f64,
    above: impl Fn(f64) -> f64,
) -> Result<f64, ShapeError> {
    let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Also refuses NaN.
    if !(volume > 0.0 && volume < 0.5 * whole) {
        let what = "the volume to cut off, relative to the whole";
        return Err(ShapeError::OutOfRange { what, value: volume / whole, min: 0.0, max: 0.5 });
    }
    let ([mut a, mut b], [mut fa, mut fb]) = ([low, high], [whole - volume, -volume]);
    let (mut at, mut side) = (0.5 * (a + b), 0);
    for k in 0..200 {
        // A cap grows with the third power of its depth: bisect until the bracket is narrow.
        at = if k % 3 == 2 { 0.5 * (a + b) } else { (a * fb - b * fa) / (fb - fa) };
        let f = above(at) - volume;
        if f.abs() <= CUT_ACCURACY * volume {
            break;
        }
        if f > 0.0 {
            fb *= if side == 1 { 0.5 } else { 1.0 };
            (a, fa, side) = (at, f, 1);
        } else {
            fa *= if side == -1 { 0.5 } else { 1.0 };
            (b, fb, side) = (at, f, -1);
        }
    }
    // Corners just below the plane are cut off as well, those just above it move away from it.
    let clear = CLEAR_CUT * (high - low);
    for _ in 0..heights.len() {
        let near = heights.iter().filter(|h| (**h - at).abs() < clear).copied();
        match near.reduce(f64::min) {
            Some(lowest) => at = lowest - 2.0 * clear,
            None => break,
        }
    }
    Ok(at)
}

/// Removes corners until there are at most `max_corners` and no edge is short. Corners whose loss
/// is smallest go first; these are the ones at short edges.
fn tidied(p: Polyhedron, max_corners: usize) -> Result<Polyhedron, ShapeError> {
    let mut p = if p.vertices().len() > max_corners { p.reduced(max_corners)? } else { p };
    let size = extent(p.vertices());
    while p.vertices().len() > 4 && p.shortest_edge() < SHORT * size {
        p = p.reduced(p.vertices().len() - 1)?;
    }
    Ok(p)
}

impl Polygon {
    /// Splits it by the line `normal · x = offset` [m]: the piece behind the line and the one in
    /// front of it. No corner may lie on the line.
    pub fn split(&self, normal: [f64; 2], offset: f64) -> Result<[Polygon; 2], ShapeError> {
        let heights = self.heights(normal, offset);
        let piece = |sign: f64| {
            let corners = clip_loop(self.vertices(), &heights, sign)?;
            Polygon::from_corners(corners, self.thickness())
        };
        Ok([piece(1.0)?, piece(-1.0)?])
    }

    /// Cuts a volume [m³] off on the side of the unit normal [–].
    pub fn cut_off(&self, normal: [f64; 2], volume: f64) -> Result<Polygon, ShapeError> {
        let heights = self.heights(normal, 0.0);
        let area = volume / self.thickness();
        let above = |offset: f64| {
            let above: Vec<f64> = heights.iter().map(|h| h - offset).collect();
            clip_loop(self.vertices(), &above, -1.0).map_or(0.0, |cap| area_of(&cap))
        };
        let offset = offset_of(&heights, area, self.area(), above)?;
        let below: Vec<f64> = heights.iter().map(|h| h - offset).collect();
        Polygon::from_corners(clip_loop(self.vertices(), &below, 1.0)?, self.thickness())
    }

    fn heights(&self, [x, y]: [f64; 2], offset: f64) -> Vec<f64> {
        self.vertices().iter().map(|v| x * v[0] + y * v[1] - offset).collect()
    }
}

/// The part of a loop of corners on which `sign × height` is negative.
fn clip_loop(
    corners: &[[f64; 2]],
    heights: &[f64],
    sign: f64,
) -> Result<Vec<[f64; 2]>, ShapeError> {
    let n = corners.len();
    let kept = |k: usize| sign * heights[k] < 0.0;
    let mut clipped = Vec::with_capacity(n + 2);
    for k in 0..n {
        let next = (k + 1) % n;
        if kept(k) {
            clipped.push(corners[k]);
        }
        if kept(k) != kept(next) {
            // From the same end for both pieces, so that they share the corner.
            let (i, j) = if heights[k] < 0.0 { (k, next) } else { (next, k) };
            let t = heights[i] / (heights[i] - heights[j]);
            clipped.push([0, 1].map(|x| corners[i][x] + (corners[j][x] - corners[i][x]) * t));
        }
    }
    if clipped.len() < 3 || clipped == corners { Err(ShapeError::Missed) } else { Ok(clipped) }
}

fn area_of(corners: &[[f64; 2]]) -> f64 {
    let o = corners[0];
    let pairs = corners.windows(2);
    pairs
        .map(|w| (w[0][0] - o[0]) * (w[1][1] - o[1]) - (w[0][1] - o[1]) * (w[1][0] - o[0]))
        .sum::<f64>()
        / 2.0
}

/// The same for polygons as [`tidied`] for polyhedra.
fn tidied_polygon(p: Polygon, max_corners: usize) -> Result<Polygon, ShapeError> {
    let mut corners = p.vertices().to_vec();
    let points: Vec<Vec3> = corners.iter().map(|v| Vec3::new(v[0], v[1], 0.0)).collect();
    let size = extent(&points);
    let side = |corners: &[[f64; 2]], k: usize| {
        let (a, b) = (corners[k], corners[(k + 1) % corners.len()]);
        crate::math::length2(b[0] - a[0], b[1] - a[1])
    };
    let mut changed = false;
    while corners.len() > 3 {
        let n = corners.len();
        let shortest = (0..n).map(|k| side(&corners, k)).fold(f64::INFINITY, f64::min);
        if n <= max_corners && shortest >= SHORT * size {
            break;
        }
        let loss =
            |k: usize| area_of(&[corners[(k + n - 1) % n], corners[k], corners[(k + 1) % n]]);
        let least = (0..n).reduce(|a, b| if loss(b) < loss(a) { b } else { a }).unwrap_or(0);
        corners.remove(least);
        changed = true;
    }
    if changed { Polygon::from_corners(corners, p.thickness()) } else { Ok(p) }
}

#[cfg(test)]
mod tests;
