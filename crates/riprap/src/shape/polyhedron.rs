//! Convex polyhedra with the tables that contact detection reads: vertices field by field, face
//! planes, edges with their two faces, the faces around each vertex.

use super::hull::{hull, plane};
use super::{MassProperties, ShapeError, positive};
use crate::math::{Vec3, prefetch};

/// An edge between two vertices and two faces of a polyhedron.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Start and end vertex.
    pub vertices: [u32; 2],
    /// The two faces; the first has the edge in its own (counter-clockwise) sense.
    pub faces: [u32; 2],
    /// Unit direction from start to end [–].
    pub direction: Vec3,
}

/// A convex polyhedron. Faces are flat and merged, vertices are true corners.
#[derive(Clone, Debug)]
pub struct Polyhedron {
    vertices: Vec<Vec3>,
    /// Coordinates field by field, padded to a multiple of [`LANES`] by repeating the last vertex.
    lanes: [Vec<f64>; 3],
    face_normals: Vec<Vec3>,
    face_offsets: Vec<f64>,
    /// Normals and offsets field by field, padded to a multiple of [`LANES`] by faces that every point lies below.
    face_lanes: [Vec<f64>; 4],
    face_start: Vec<u32>,
    face_vertices: Vec<u32>,
    /// Edge that leaves each entry of `face_vertices`.
    face_edges: Vec<u32>,
    edges: Vec<Edge>,
    bends: Vec<Bend>,
    vertex_start: Vec<u32>,
    vertex_faces: Vec<u32>,
    unit_mass: MassProperties,
    inner_radius: f64,
    outer_radius: f64,
}

/// Number of vertices or faces that a search takes at once.
const LANES: usize = 8;

/// How the surface bends over an edge: its two faces and the angle between their normals.
#[derive(Clone, Copy, Debug)]
struct Bend {
    faces: [u32; 2],
    /// Cosine of the angle.
    cos: f64,
    /// One over the square of its sine; 0 where the faces are almost parallel.
    per_sin2: f64,
}

impl Bend {
    fn new(faces: [u32; 2], normals: [Vec3; 2]) -> Bend {
        let cos = normals[0].dot(&normals[1]);
        let sin2 = normals[0].cross(&normals[1]).norm_squared();
        Bend { faces, cos, per_sin2: if sin2 > 1e-6 { 1.0 / sin2 } else { 0.0 } }
    }

    /// The greatest height of a point along any normal of the edge, from its heights above the two faces.
    ///
    /// Across the edge the point lies at `d = α n₁ + β n₂`. Between the two normals (α, β ≥ 0) it is highest along
    /// itself, `|d|² = α h₁ + β h₂`, else along one of the two. Where both heights are negative it is one of the two.
    #[inline(always)]
    fn height(&self, [h1, h2]: [f64; 2]) -> f64 {
        let top = h1.max(h2);
        if h1 + h2 < 0.0 {
            return top;
        }
        if self.per_sin2 == 0.0 {
            // Along a direction between almost equal normals: h₁ / cos at most. Between opposite ones: anything.
            return if self.cos > 0.0 { top / self.cos } else { f64::INFINITY };
        }
        let (x, y) = (h1 - self.cos * h2, h2 - self.cos * h1);
        if x > 0.0 && y > 0.0 {
            // α h₁ + β h₂ ≥ 0 here: it is a square.
            ((x * h1 + y * h2) * self.per_sin2).max(0.0).sqrt()
        } else {
            top
        }
    }

    /// The same for the lower of two points `p` and `q`, or a bound above it.
    #[inline(always)]
    fn height_of_lower(&self, p: [f64; 2], q: [f64; 2]) -> f64 {
        let g = [p[0] - q[0], p[1] - q[1]];
        if g[0] * g[1] < 0.0 {
            // Along α n₁ + β n₂ both are equally high; on either side of it one point is the lower. Where all is
            // below zero, each is highest at an end of its part.
            let (alpha, beta) = (g[1].abs(), g[0].abs());
            let length2 = alpha * alpha + beta * beta + 2.0 * alpha * beta * self.cos;
            let middle = (alpha * p[0] + beta * p[1]) / length2.sqrt();
            let top = middle.max(p[0].min(q[0])).max(p[1].min(q[1]));
            if top < 0.0 && self.per_sin2 > 0.0 {
                return top;
            }
        }
        self.height(p).min(self.height(q))
    }
}

impl Polyhedron {
    /// The convex hull of points [m].
    pub fn from_points(points: &[Vec3]) -> Result<Polyhedron, ShapeError> {
        let hull = hull(points)?;
        Ok(Polyhedron::from_faces(hull.vertices, &hull.faces))
    }

    /// A box with full lengths `size` [m], centred at the origin.
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

    fn from_faces(vertices: Vec<Vec3>, faces: &[Vec<usize>]) -> Polyhedron {
        let planes: Vec<(Vec3, f64)> = faces.iter().map(|f| plane(&vertices, f)).collect();
        let mut face_start = vec![0u32];
        let mut face_vertices = Vec::new();
        for f in faces {
            face_vertices.extend(f.iter().map(|&i| i as u32));
            face_start.push(face_vertices.len() as u32);
        }

        let mut edges: Vec<Edge> = Vec::new();
        let mut face_edges = Vec::new();
        let mut seen = std::collections::HashMap::new();
        for (id, f) in faces.iter().enumerate() {
            for k in 0..f.len() {
                let (i, j) = (f[k] as u32, f[(k + 1) % f.len()] as u32);
                if let Some(&e) = seen.get(&(j, i)) {
                    let edge: &mut Edge = &mut edges[e as usize];
                    edge.faces[1] = id as u32;
                    face_edges.push(e);
                } else {
                    seen.insert((i, j), edges.len() as u32);
                    face_edges.push(edges.len() as u32);
                    let direction = (vertices[j as usize] - vertices[i as usize]).normalize();
                    let faces = [id as u32, id as u32];
                    edges.push(Edge { vertices: [i, j], faces, direction });
                }
            }
        }

        let mut around = vec![Vec::new(); vertices.len()];
        for (id, f) in faces.iter().enumerate() {
            for &i in f {
                around[i].push(id as u32);
            }
        }
        let mut vertex_start = vec![0u32];
        let mut vertex_faces = Vec::new();
        for a in around {
            vertex_faces.extend(a);
            vertex_start.push(vertex_faces.len() as u32);
        }

        let fan = faces.iter().flat_map(|f| {
            (1..f.len() - 1).map(|k| [vertices[f[0]], vertices[f[k]], vertices[f[k + 1]]])
        });
        let unit_mass = MassProperties::of_surface(fan);
        let centre = unit_mass.centre;
        let inner_radius =
            planes.iter().map(|(n, d)| d - n.dot(&centre)).fold(f64::INFINITY, f64::min).max(0.0);
        let outer_radius = vertices.iter().map(|v| (v - centre).norm()).fold(0.0, f64::max);
        let padded = vertices.len().next_multiple_of(LANES);
        let lane = |k: usize| {
            (0..padded).map(|i| vertices[i.min(vertices.len() - 1)][k]).collect::<Vec<f64>>()
        };
        let padding = planes.len()..planes.len().next_multiple_of(LANES);
        let face_lane = |field: fn(&(Vec3, f64)) -> f64, none: f64| {
            planes.iter().map(field).chain(padding.clone().map(|_| none)).collect::<Vec<f64>>()
        };
        let bend = |e: &Edge| Bend::new(e.faces, e.faces.map(|f| planes[f as usize].0));
        Polyhedron {
            lanes: [lane(0), lane(1), lane(2)],
            face_lanes: [
                face_lane(|p| p.0.x, 0.0),
                face_lane(|p| p.0.y, 0.0),
                face_lane(|p| p.0.z, 0.0),
                face_lane(|p| p.1, f64::INFINITY),
            ],
            bends: edges.iter().map(bend).collect(),
            vertices,
            face_normals: planes.iter().map(|p| p.0).collect(),
            face_offsets: planes.iter().map(|p| p.1).collect(),
            face_start,
            face_vertices,
            face_edges,
            edges,
            vertex_start,
            vertex_faces,
            unit_mass,
            inner_radius,
            outer_radius,
        }
    }

    /// Asks for the memory of the polyhedron itself, which tells where its tables are.
    #[inline(always)]
    pub(crate) fn prefetch_head(&self) {
        prefetch(&self.vertices);
        prefetch(&self.face_normals);
        prefetch(&self.edges);
        prefetch(&self.unit_mass);
        prefetch(&self.outer_radius);
    }

    /// Asks for the memory of the vertices, and of some faces and edges.
    #[inline(always)]
    pub(crate) fn prefetch(&self, faces: &[u8], edges: &[u8]) {
        for lane in &self.lanes {
            lane.iter().step_by(LANES).for_each(prefetch);
        }
        self.vertices.iter().step_by(LANES / 3).for_each(prefetch);
        for f in faces.iter().map(|&f| usize::from(f)) {
            self.face_normals.get(f).into_iter().for_each(prefetch);
            self.face_offsets.get(f).into_iter().for_each(prefetch);
            self.face_start.get(f).into_iter().for_each(prefetch);
            // Where the corners of the face are if all are triangles.
            self.face_vertices.get(3 * f).into_iter().for_each(prefetch);
            self.face_edges.get(3 * f).into_iter().for_each(prefetch);
        }
        for &e in edges {
            self.edges.get(usize::from(e)).into_iter().for_each(prefetch);
            self.bends.get(usize::from(e)).into_iter().for_each(prefetch);
        }
    }

    /// The corners [m].
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// The edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Number of faces.
    pub fn n_faces(&self) -> usize {
        self.face_normals.len()
    }

    /// Unit outward normals of the faces [–].
    pub fn face_normals(&self) -> &[Vec3] {
        &self.face_normals
    }

    /// Offsets of the faces [m]: a point of face `i` has `normal · x = offset`.
    pub fn face_offsets(&self) -> &[f64] {
        &self.face_offsets
    }

    /// Corners of a face, counter-clockwise seen from outside.
    pub fn face(&self, i: usize) -> &[u32] {
        &self.face_vertices[self.face_start[i] as usize..self.face_start[i + 1] as usize]
    }

    /// Edges of a face: entry `k` leaves corner `k`.
    pub fn face_edges(&self, i: usize) -> &[u32] {
        &self.face_edges[self.face_start[i] as usize..self.face_start[i + 1] as usize]
    }

    /// Faces that meet at a vertex.
    pub fn faces_at(&self, vertex: usize) -> &[u32] {
        &self.vertex_faces
            [self.vertex_start[vertex] as usize..self.vertex_start[vertex + 1] as usize]
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

    /// Radius of the ball around the centre that holds the polyhedron [m].
    pub fn outer_radius(&self) -> f64 {
        self.outer_radius
    }

    /// The vertex farthest along `direction` and its height `direction · x`. Of several, the first.
    #[inline(always)]
    pub fn support(&self, direction: Vec3) -> (usize, f64) {
        // Running maxima, one a lane, that the compiler turns into vector instructions.
        let [xs, ys, zs] = &self.lanes;
        let mut best = [f64::NEG_INFINITY; LANES];
        let mut index = [0u64; LANES];
        let mut base = 0u64;
        for ((x, y), z) in
            xs.chunks_exact(LANES).zip(ys.chunks_exact(LANES)).zip(zs.chunks_exact(LANES))
        {
            for k in 0..LANES {
                let h = direction.x * x[k] + direction.y * y[k] + direction.z * z[k];
                let better = h > best[k];
                best[k] = if better { h } else { best[k] };
                index[k] = if better { base } else { index[k] };
            }
            base += LANES as u64;
        }
        let mut winner = (index[0], best[0]);
        for k in 1..LANES {
            let i = index[k] + k as u64;
            if best[k] > winner.1 || (best[k] == winner.1 && i < winner.0) {
                winner = (i, best[k]);
            }
        }
        ((winner.0 as usize).min(self.vertices.len() - 1), winner.1)
    }

    /// Heights of a point above all faces [m]; beyond the last face minus infinity.
    #[inline(always)]
    pub(crate) fn heights(&self, p: Vec3, out: &mut Vec<f64>) {
        let [xs, ys, zs, offsets] = &self.face_lanes;
        let n = xs.len();
        out.resize(n, 0.0);
        let (xs, ys, zs, offsets, out) =
            (&xs[..n], &ys[..n], &zs[..n], &offsets[..n], &mut out[..n]);
        for k in 0..n {
            out[k] = p.x * xs[k] + p.y * ys[k] + p.z * zs[k] - offsets[k];
        }
    }

    /// Edges along whose normals a point, given by its heights above the faces, stands at `needed` or higher.
    #[inline(always)]
    pub(crate) fn edges_below(&self, heights: &[f64], needed: f64, mut found: impl FnMut(usize)) {
        for (i, bend) in self.bends.iter().enumerate() {
            if bend.height(bend.faces.map(|f| heights[f as usize])) >= needed {
                found(i);
            }
        }
    }

    /// The same where the lower of two points has to.
    #[inline(always)]
    pub(crate) fn edges_below_both(
        &self,
        heights: [&[f64]; 2],
        needed: f64,
        mut found: impl FnMut(usize),
    ) {
        for (i, bend) in self.bends.iter().enumerate() {
            let [p, q] = heights.map(|h| bend.faces.map(|f| h[f as usize]));
            if bend.height_of_lower(p, q) >= needed {
                found(i);
            }
        }
    }

    /// The greatest height of the lower of two points, given by their heights above the faces, along any normal of an
    /// edge [m], or a bound above it.
    pub(crate) fn height_over_edge(&self, edge: usize, heights: [&[f64]; 2]) -> f64 {
        let bend = &self.bends[edge];
        let [p, q] = heights.map(|h| bend.faces.map(|f| h[f as usize]));
        bend.height_of_lower(p, q)
    }

    /// The greatest height of a point along any normal of an edge [m], or a bound above it.
    #[inline(always)]
    pub(crate) fn point_over_edge(&self, edge: usize, p: Vec3) -> f64 {
        let bend = &self.bends[edge];
        let above = |f: u32| self.face_normals[f as usize].dot(&p) - self.face_offsets[f as usize];
        bend.height(bend.faces.map(above))
    }

    /// Triangles of the surface, for pictures and cross-checks.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        (0..self.n_faces()).flat_map(move |i| {
            let f = self.face(i);
            (1..f.len() - 1).map(move |k| [f[0], f[k], f[k + 1]])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Mat3;

    #[test]
    fn a_unit_cube_has_inertia_one_sixth() {
        let cube = Polyhedron::cuboid([1.0; 3]).unwrap();
        let m = cube.unit_mass();
        assert!((m.mass - 1.0).abs() < 1e-15);
        assert!((m.inertia - Mat3::identity() / 6.0).norm() < 1e-15);
        assert!((cube.inner_radius() - 0.5).abs() < 1e-15);
    }

    #[test]
    fn the_hull_of_a_box_is_the_box() {
        let cube = Polyhedron::cuboid([1.0, 2.0, 3.0]).unwrap();
        let hull = Polyhedron::from_points(cube.vertices()).unwrap();
        assert_eq!((hull.n_faces(), hull.edges().len()), (6, 12));
        assert!((hull.unit_mass().inertia - cube.unit_mass().inertia).norm() < 1e-14);
    }

    #[test]
    fn a_tetrahedron_has_the_textbook_inertia() {
        // Corners at the origin and on the axes: V = 1/6, I_xx about the origin = 1/30 (Tonon 2005).
        let t = Polyhedron::from_points(&[Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()]).unwrap();
        let m = t.unit_mass();
        assert!((m.mass - 1.0 / 6.0).abs() < 1e-15);
        assert!((m.centre - Vec3::repeat(0.25)).norm() < 1e-15);
        assert!((m.inertia_about(Vec3::zeros())[(0, 0)] - 1.0 / 30.0).abs() < 1e-15);
    }

    #[test]
    fn mass_properties_keep_their_digits_far_from_the_origin() {
        let far = Vec3::new(1e3, -2e3, 3e3);
        let cube = Polyhedron::cuboid([1.0; 3]).unwrap();
        let points: Vec<Vec3> = cube.vertices().iter().map(|v| v + far).collect();
        let moved = Polyhedron::from_points(&points).unwrap();
        assert!((moved.unit_mass().mass - 1.0).abs() < 1e-11);
        assert!((moved.unit_mass().inertia - Mat3::identity() / 6.0).norm() < 1e-9);
    }

    #[test]
    fn support_is_the_farthest_vertex_the_first_of_equals() {
        let cube = Polyhedron::cuboid([1.0; 3]).unwrap();
        assert_eq!(cube.support(Vec3::new(1.0, 2.0, 3.0)), (7, 3.0));
        assert_eq!(cube.support(Vec3::new(0.0, 0.0, -1.0)), (0, 0.5));
        assert_eq!(cube.support(Vec3::new(0.0, 0.0, 1.0)), (4, 0.5));
    }

    #[test]
    fn every_edge_runs_between_its_two_faces() {
        let t = Polyhedron::cuboid([1.0, 2.0, 3.0]).unwrap();
        for e in t.edges() {
            let n = e.faces.map(|f| t.face_normals()[f as usize]);
            assert!(n[0].cross(&n[1]).dot(&e.direction) > 0.0);
            assert!(n[0].dot(&e.direction).abs() < 1e-15 && n[1].dot(&e.direction).abs() < 1e-15);
        }
    }
}
