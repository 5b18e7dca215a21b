//! Convex polyhedra with the tables that contact detection reads: vertex coordinates stored by
//! component, face planes, edges with their two faces, and the faces around each vertex.

mod bend;

use super::hull::{hull, plane};
use super::{MassProperties, ShapeError, positive};
use crate::math::{Vec3, prefetch};
use bend::Bend;

/// An edge between two vertices and two faces of a polyhedron.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Start and end vertex.
    pub vertices: [u16; 2],
    /// The two faces; the first traverses the edge in its own (counter-clockwise) direction.
    pub faces: [u16; 2],
}

impl Edge {
    /// Selects the values of its two faces from a list over all faces.
    #[inline(always)]
    fn over_faces(&self, heights: &[f64]) -> [f64; 2] {
        [heights[usize::from(self.faces[0])], heights[usize::from(self.faces[1])]]
    }
}

/// A convex polyhedron. Faces are flat and merged, vertices are true corners.
///
/// The shapes of a large pile do not fit into any cache, and a contact reads a little of
/// everything. The tables are therefore few, narrow and packed: about 3 kB for a stone of 25
/// corners.
#[derive(Clone, Debug)]
pub struct Polyhedron {
    n_vertices: u16,
    n_faces: u16,
    outer_radius: f64,
    inner_radius: f64,
    /// Largest distance of a vertex from the origin [m].
    reach: f64,
    /// Coordinates of the vertices in single precision, all x, all y, all z, each padded to a
    /// multiple of [`LANES`] by repeating the last vertex. They determine which vertices may be the
    /// farthest.
    lanes: Box<[f32]>,
    /// Vertices, then normals of the faces.
    vectors: Box<[Vec3]>,
    /// Start of each face among the corners and of each vertex among the faces around vertices;
    /// then the corners of the faces, the edges that leave them, and the faces around the vertices.
    indices: Box<[u16]>,
    edges: Box<[Edge]>,
    /// How the surface bends over each edge.
    bends: Box<[Bend]>,
    /// Offsets of the faces, then all x, all y and all z of their normals, each padded to a
    /// multiple of [`LANES`] by faces that every point lies below.
    planes: Box<[f64]>,
    unit_mass: MassProperties,
}

/// Maximum number of corners of a polyhedron: the feature id of a contact has 15 bits for an edge,
/// and there are fewer than three times as many edges as corners.
pub(super) const MOST_VERTICES: usize = 10_000;

/// Number of vertices or faces that a search processes at once.
const LANES: usize = 8;

/// Start of each of several consecutive runs of the given lengths, and the end of the last.
fn starts(lengths: impl Iterator<Item = usize>) -> Vec<u16> {
    let mut end = 0;
    std::iter::once(0)
        .chain(lengths.map(|n| {
            end += n;
            end as u16
        }))
        .collect()
}

impl Polyhedron {
    /// The convex hull of points [m].
    pub fn from_points(points: &[Vec3]) -> Result<Polyhedron, ShapeError> {
        let hull = hull(points)?;
        if hull.vertices.len() > MOST_VERTICES {
            return Err(ShapeError::TooManyCorners {
                most: MOST_VERTICES,
                got: hull.vertices.len(),
            });
        }
        Ok(Polyhedron::from_faces(hull.vertices, &hull.faces))
    }

    /// A box with side lengths `size` [m], centred at the origin.
    pub fn cuboid(size: [f64; 3]) -> Result<Polyhedron, ShapeError> {
        for s in size {
            positive("box size", s)?;
        }
        let corner = |i: usize| {
            let sign = |bit: usize| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
            Vec3::new(sign(0) * size[0], sign(1) * size[1], sign(2) * size[2])
        };
        let faces =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let faces: Vec<Vec<usize>> = faces.iter().map(|f| f.to_vec()).collect();
        Ok(Polyhedron::from_faces((0..8).map(corner).collect(), &faces))
    }

    pub(super) fn from_faces(vertices: Vec<Vec3>, faces: &[Vec<usize>]) -> Polyhedron {
        let planes: Vec<(Vec3, f64)> = faces.iter().map(|f| plane(&vertices, f)).collect();
        let mut edges: Vec<Edge> = Vec::new();
        let mut face_edges = Vec::new();
        let mut seen = std::collections::HashMap::new();
        for (id, f) in faces.iter().enumerate() {
            for k in 0..f.len() {
                let (i, j) = (f[k], f[(k + 1) % f.len()]);
                if let Some(&e) = seen.get(&(j, i)) {
                    let edge: &mut Edge = &mut edges[e as usize];
                    edge.faces[1] = id as u16;
                    face_edges.push(e);
                } else {
                    seen.insert((i, j), edges.len() as u16);
                    face_edges.push(edges.len() as u16);
                    edges.push(Edge { vertices: [i as u16, j as u16], faces: [id as u16; 2] });
                }
            }
        }
        let mut around = vec![Vec::new(); vertices.len()];
        for (id, f) in faces.iter().enumerate() {
            for &i in f {
                around[i].push(id as u16);
            }
        }
        let mut indices = starts(faces.iter().map(Vec::len));
        indices.extend(starts(around.iter().map(Vec::len)));
        indices.extend(faces.iter().flatten().map(|&i| i as u16));
        indices.extend(face_edges);
        indices.extend(around.into_iter().flatten());

        let fan = faces.iter().flat_map(|f| {
            (1..f.len() - 1).map(|k| [vertices[f[0]], vertices[f[k]], vertices[f[k + 1]]])
        });
        let unit_mass = MassProperties::of_surface(fan);
        let centre = unit_mass.centre;
        let inner_radius =
            planes.iter().map(|(n, d)| d - n.dot(&centre)).fold(f64::INFINITY, f64::min).max(0.0);
        let padded = vertices.len().next_multiple_of(LANES);
        let lanes = (0..3)
            .flat_map(|k| (0..padded).map(move |i| (i, k)))
            .map(|(i, k)| vertices[i.min(vertices.len() - 1)][k] as f32);
        let padding = planes.len().next_multiple_of(LANES) - planes.len();
        let field = |field: fn(&(Vec3, f64)) -> f64, none: f64| {
            planes.iter().map(field).chain(std::iter::repeat_n(none, padding))
        };
        Polyhedron {
            n_vertices: vertices.len() as u16,
            n_faces: faces.len() as u16,
            outer_radius: vertices.iter().map(|v| (v - centre).norm()).fold(0.0, f64::max),
            inner_radius,
            reach: vertices.iter().map(Vec3::norm).fold(0.0, f64::max),
            lanes: lanes.collect(),
            vectors: vertices.iter().copied().chain(planes.iter().map(|p| p.0)).collect(),
            indices: indices.into(),
            bends: (edges.iter())
                .map(|e| Bend::new(e.faces.map(|f| planes[usize::from(f)].0)))
                .collect(),
            edges: edges.into(),
            planes: field(|p| p.1, f64::INFINITY)
                .chain(field(|p| p.0.x, 0.0))
                .chain(field(|p| p.0.y, 0.0))
                .chain(field(|p| p.0.z, 0.0))
                .collect(),
            unit_mass,
        }
    }

    /// Prefetches the polyhedron struct itself, which points to its tables.
    #[inline(always)]
    pub(crate) fn prefetch_head(&self) {
        prefetch(&self.n_vertices);
        prefetch(&self.lanes);
        prefetch(&self.edges);
        prefetch(&self.bends);
        prefetch(&self.unit_mass.centre);
    }

    /// Prefetches the indices, the normals of some faces, and some edges.
    #[inline(always)]
    pub(crate) fn prefetch_tables(&self, faces: &[u8], edges: &[u8]) {
        // A cache line has 64 bytes.
        self.indices.iter().step_by(32).for_each(prefetch);
        for &e in edges {
            self.edges.get(usize::from(e)).into_iter().for_each(prefetch);
            self.bends.get(usize::from(e)).into_iter().for_each(prefetch);
        }
        let n = usize::from(self.n_vertices);
        for &f in faces {
            self.vectors.get(n + usize::from(f)).into_iter().for_each(prefetch);
        }
    }

    /// Prefetches the vertices that a search visits, and the vertices and normals of some edges,
    /// which must already be in cache.
    #[inline(always)]
    pub(crate) fn prefetch(&self, edges: &[u8]) {
        self.lanes.iter().step_by(16).for_each(prefetch);
        self.planes.iter().take(self.n_faces()).step_by(8).for_each(prefetch);
        let n = usize::from(self.n_vertices);
        for &e in edges {
            if let Some(e) = self.edges.get(usize::from(e)) {
                let [f, g] = e.faces.map(|f| n + usize::from(f));
                let [i, j] = e.vertices.map(usize::from);
                for k in [f, g, i, j] {
                    self.vectors.get(k).into_iter().for_each(prefetch);
                }
            }
        }
    }

    /// The corners [m].
    #[inline(always)]
    pub fn vertices(&self) -> &[Vec3] {
        &self.vectors[..usize::from(self.n_vertices)]
    }

    /// The edges.
    #[inline(always)]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Number of faces.
    #[inline(always)]
    pub fn n_faces(&self) -> usize {
        usize::from(self.n_faces)
    }

    /// Unit outward normals of the faces [–].
    #[inline(always)]
    pub fn face_normals(&self) -> &[Vec3] {
        &self.vectors[usize::from(self.n_vertices)..]
    }

    /// Offsets of the faces [m]: a point of face `i` has `normal · x = offset`.
    #[inline(always)]
    pub fn face_offsets(&self) -> &[f64] {
        &self.planes[..self.n_faces()]
    }

    /// Corners of a face, counter-clockwise seen from outside.
    #[inline(always)]
    pub fn face(&self, i: usize) -> &[u16] {
        &self.corner_table(0)[self.between(i)]
    }

    /// Edges of a face: entry `k` starts at corner `k`.
    #[inline(always)]
    pub fn face_edges(&self, i: usize) -> &[u16] {
        &self.corner_table(1)[self.between(i)]
    }

    /// Faces that meet at a vertex.
    #[inline(always)]
    pub fn faces_at(&self, vertex: usize) -> &[u16] {
        &self.corner_table(2)[self.between(self.n_faces() + 1 + vertex)]
    }

    /// The range from one start to the next: faces first, then vertices.
    #[inline(always)]
    fn between(&self, i: usize) -> std::ops::Range<usize> {
        usize::from(self.indices[i])..usize::from(self.indices[i + 1])
    }

    /// One of the three tables with one entry for each corner of each face, that is, two for each
    /// edge.
    #[inline(always)]
    fn corner_table(&self, k: usize) -> &[u16] {
        let (starts, n) = (self.n_faces() + self.vertices().len() + 2, 2 * self.edges.len());
        &self.indices[starts + k * n..][..n]
    }

    /// Mass properties for a density of 1 kg/m³.
    pub fn unit_mass(&self) -> &MassProperties {
        &self.unit_mass
    }

    /// Centre of volume [m].
    pub fn centre(&self) -> Vec3 {
        self.unit_mass.centre
    }

    /// Radius of a ball around the centre that fits inside [m].
    pub fn inner_radius(&self) -> f64 {
        self.inner_radius
    }

    /// Radius of the smallest ball around the centre that contains the polyhedron [m].
    pub fn outer_radius(&self) -> f64 {
        self.outer_radius
    }

    /// The vertex farthest along `direction` and its height `direction · x`. The first one in case
    /// of ties.
    #[inline(always)]
    pub fn support(&self, direction: Vec3) -> (usize, f64) {
        // Only loops and functions that are always inlined: a closure would not use the caller's
        // instruction set.
        let n = self.lanes.len() / 3;
        let direction_lanes = [direction.x as f32, direction.y as f32, direction.z as f32];
        let mut tops = [f32::NEG_INFINITY; LANES];
        for base in (0..n).step_by(LANES) {
            let h = self.rough_heights(direction_lanes, base);
            for k in 0..LANES {
                tops[k] = if h[k] > tops[k] { h[k] } else { tops[k] };
            }
        }
        let mut top = tops[0];
        for h in tops {
            top = if h > top { h } else { top };
        }

        // Coordinates, components and three operations are rounded to 2⁻²⁴ each, so that heights
        // are accurate to 8 × 2⁻²⁴ |d| |x|: no vertex that is lower than the highest by more than
        // twice that can be the farthest.
        let sum = direction.x.abs() + direction.y.abs() + direction.z.abs();
        let least = (f64::from(top) - f64::from(f32::EPSILON) * 8.0 * sum * self.reach) as f32;
        let vertices = self.vertices();
        let mut winner = (0, f64::NEG_INFINITY);
        for base in (0..n).step_by(LANES) {
            let h = self.rough_heights(direction_lanes, base);
            let mut near = 0u32;
            for k in 0..LANES {
                near |= u32::from(h[k] >= least) << k;
            }
            while near != 0 {
                // Padding entries count as the last vertex.
                let i = (base + near.trailing_zeros() as usize).min(vertices.len() - 1);
                let v = &vertices[i];
                let h = direction.x * v.x + direction.y * v.y + direction.z * v.z;
                winner = if h > winner.1 { (i, h) } else { winner };
                near &= near - 1;
            }
        }
        winner
    }

    /// Heights of some vertices along a direction, in single precision.
    #[inline(always)]
    fn rough_heights(&self, [dx, dy, dz]: [f32; 3], base: usize) -> [f32; LANES] {
        let n = self.lanes.len() / 3;
        let (x, y) = (&self.lanes[base..][..LANES], &self.lanes[n + base..][..LANES]);
        let z = &self.lanes[2 * n + base..][..LANES];
        let mut h = [0.0; LANES];
        for k in 0..LANES {
            h[k] = dx * x[k] + dy * y[k] + dz * z[k];
        }
        h
    }

    /// Heights of a point above all faces [m]; minus infinity beyond the last face.
    #[inline(always)]
    pub(crate) fn heights(&self, p: Vec3, out: &mut Vec<f64>) {
        let n = self.planes.len() / 4;
        let (offsets, rest) = self.planes.split_at(n);
        let (xs, rest) = rest.split_at(n);
        let (ys, zs) = rest.split_at(n);
        out.resize(n, 0.0);
        let (zs, out) = (&zs[..n], &mut out[..n]);
        for k in 0..n {
            out[k] = p.x * xs[k] + p.y * ys[k] + p.z * zs[k] - offsets[k];
        }
    }

    /// Edges along whose normals a point, given by its heights above the faces, has a height of
    /// `needed` or more.
    #[inline(always)]
    pub(crate) fn edges_below(&self, heights: &[f64], needed: f64, mut found: impl FnMut(usize)) {
        for (i, (e, bend)) in self.edges.iter().zip(&self.bends).enumerate() {
            if bend.height(e.over_faces(heights)) >= needed {
                found(i);
            }
        }
    }

    /// The same condition for the lower of two points.
    #[inline(always)]
    pub(crate) fn edges_below_both(
        &self,
        heights: [&[f64]; 2],
        needed: f64,
        mut found: impl FnMut(usize),
    ) {
        for (i, (e, bend)) in self.edges.iter().zip(&self.bends).enumerate() {
            let [p, q] = [e.over_faces(heights[0]), e.over_faces(heights[1])];
            if bend.height_of_lower(p, q) >= needed {
                found(i);
            }
        }
    }

    /// The greatest height of the lower of two points, given by their heights above the faces,
    /// along any normal of an edge [m], or an upper bound of it.
    pub(crate) fn height_over_edge(&self, edge: usize, heights: [&[f64]; 2]) -> f64 {
        let e = &self.edges[edge];
        let [p, q] = [e.over_faces(heights[0]), e.over_faces(heights[1])];
        self.bends[edge].height_of_lower(p, q)
    }

    /// The greatest height of a point along any normal of an edge [m], or an upper bound of it.
    #[inline(always)]
    pub(crate) fn point_over_edge(&self, edge: usize, p: Vec3) -> f64 {
        let e = &self.edges[edge];
        let [f, g] = [usize::from(e.faces[0]), usize::from(e.faces[1])];
        let normals = self.face_normals();
        self.bends[edge]
            .height([normals[f].dot(&p) - self.planes[f], normals[g].dot(&p) - self.planes[g]])
    }

    /// Unit direction of an edge from its start to its end [–]. Computed from the end points on
    /// demand: few are needed, and storing one would take as much memory as both ends.
    #[inline(always)]
    pub fn edge_direction(&self, edge: usize) -> Vec3 {
        let [start, end] = self.edge_ends(edge);
        (end - start).normalize()
    }

    /// The two ends of an edge [m].
    #[inline(always)]
    pub(crate) fn edge_ends(&self, edge: usize) -> [Vec3; 2] {
        let [i, j] = self.edges[edge].vertices;
        [self.vertices()[usize::from(i)], self.vertices()[usize::from(j)]]
    }

    /// Triangles of the surface, for pictures and cross-checks.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        (0..self.n_faces()).flat_map(move |i| {
            let f = self.face(i);
            (1..f.len() - 1).map(move |k| [f[0], f[k], f[k + 1]].map(u32::from))
        })
    }
}

#[cfg(test)]
mod tests;
