//! Reduction to fewer corners: vertices of a convex polyhedron are removed one by one, each time
//! the one that loses the least volume.
//!
//! When a vertex `v` is removed, the hull keeps all its faces except those around `v`; the hole is
//! closed by faces between the neighbours of `v` alone. *Proof.* A new face is visible from `v`.
//! Add `v` back: a corner of such faces that is not on the boundary of the region visible from `v`
//! would end up inside, but all corners are corners of the polyhedron. So all of them are on the
//! boundary, and `v` is connected to them. The neighbours, seen from `v`, are the corners of a
//! convex polygon, which is closed by wrapping, edge by edge.

use super::{Polyhedron, ShapeError};
use crate::math::Vec3;
use std::collections::HashMap;

impl Polyhedron {
    /// The hull of at most `max_vertices` of its corners (4 or more), chosen so that little volume
    /// is lost. The result lies inside the original.
    pub fn reduced(&self, max_vertices: usize) -> Result<Polyhedron, ShapeError> {
        let (min, n) = (4, self.vertices().len());
        if max_vertices < min {
            let (what, value) = ("vertices of a reduced polyhedron", max_vertices as f64);
            return Err(ShapeError::OutOfRange { what, value, min: min as f64, max: n as f64 });
        }
        if n <= max_vertices {
            return Ok(self.clone());
        }
        let mut surface = Surface::new(self);
        let mut loss: Vec<f64> = (0..n as u32).map(|v| surface.loss(v)).collect();
        for _ in max_vertices..n {
            // The first one in case of ties.
            let least = (0..n).filter(|&v| surface.next[v] != GONE);
            let Some(v) = least.reduce(|a, b| if loss[b] < loss[a] { b } else { a }) else { break };
            for w in surface.remove(v as u32) {
                loss[w as usize] = surface.loss(w);
            }
        }
        let kept: Vec<Vec3> =
            (0..n).filter(|&v| surface.next[v] != GONE).map(|v| self.vertices()[v]).collect();
        Polyhedron::from_points(&kept)
    }
}

const GONE: u32 = u32::MAX;

/// A closed surface of triangles.
struct Surface<'a> {
    points: &'a [Vec3],
    /// Third corner of the triangle on the left of each edge.
    left: HashMap<[u32; 2], u32>,
    /// Some neighbour of each vertex, or [`GONE`].
    next: Vec<u32>,
}

impl<'a> Surface<'a> {
    fn new(polyhedron: &'a Polyhedron) -> Surface<'a> {
        let points = polyhedron.vertices();
        let mut surface = Surface { points, left: HashMap::new(), next: vec![GONE; points.len()] };
        for triangle in polyhedron.triangles() {
            surface.add(triangle);
        }
        surface
    }

    fn add(&mut self, [a, b, c]: [u32; 3]) {
        for [from, to, third] in [[a, b, c], [b, c, a], [c, a, b]] {
            self.left.insert([from, to], third);
            self.next[from as usize] = to;
        }
    }

    /// The neighbours of a vertex, counter-clockwise seen from outside.
    fn ring(&self, v: u32) -> Vec<u32> {
        let first = self.next[v as usize];
        let mut ring = vec![first];
        let mut last = first;
        while let Some(&w) = self.left.get(&[v, last])
            && w != first
        {
            ring.push(w);
            last = w;
        }
        ring
    }

    /// Volume lost by removing a vertex.
    fn loss(&self, v: u32) -> f64 {
        let at = self.points[v as usize];
        let ring = self.ring(v);
        let mut volume = 0.0;
        self.close(at, &ring, &mut |[a, b, c]| {
            let [a, b, c] = [a, b, c].map(|i| self.points[i as usize] - at);
            volume -= a.dot(&b.cross(&c)) / 6.0;
        });
        volume.abs()
    }

    /// Removes a vertex and closes the hole; returns its neighbours.
    fn remove(&mut self, v: u32) -> Vec<u32> {
        let ring = self.ring(v);
        for k in 0..ring.len() {
            let (a, b) = (ring[k], ring[(k + 1) % ring.len()]);
            for edge in [[v, a], [a, b], [b, v]] {
                self.left.remove(&edge);
            }
        }
        self.next[v as usize] = GONE;
        let mut triangles = Vec::new();
        self.close(self.points[v as usize], &ring, &mut |triangle| triangles.push(triangle));
        triangles.into_iter().for_each(|triangle| self.add(triangle));
        ring
    }

    /// The outermost triangles between the corners of a ring, as seen from a point `at` outside:
    /// the edge from the first to the last corner gets the triangle from which all other corners
    /// lie inside, and so on recursively for the corners left on both sides.
    fn close(&self, at: Vec3, ring: &[u32], triangle: &mut impl FnMut([u32; 3])) {
        let [first, .., last] = *ring else { return };
        let point = |i: u32| self.points[i as usize] - at;
        let inner = &ring[1..ring.len() - 1];
        if inner.is_empty() {
            return;
        }
        let (a, b) = (point(last), point(first));
        let mut best = 0;
        for k in 1..inner.len() {
            // Positive where the k-th corner lies beyond the plane, on the side of `at`.
            let c = point(inner[best]);
            let normal = (b - a).cross(&(c - a));
            if normal.dot(&(point(inner[k]) - a)) > 0.0 {
                best = k;
            }
        }
        triangle([last, first, inner[best]]);
        self.close(at, &ring[..best + 2], triangle);
        self.close(at, &ring[best + 1..], triangle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grains::{StoneGenerator, seeded};

    fn volume(points: &[Vec3]) -> f64 {
        Polyhedron::from_points(points).unwrap().unit_mass().mass
    }

    #[test]
    fn the_loss_of_a_vertex_agrees_with_the_hull_without_it() {
        let mut rng = seeded(5);
        let generator = StoneGenerator { vertices: 40, ..StoneGenerator::default() };
        for _ in 0..10 {
            let stone = generator.generate(1.0, &mut rng).unwrap();
            let surface = Surface::new(&stone);
            for v in 0..stone.vertices().len() {
                let mut others = stone.vertices().to_vec();
                others.remove(v);
                let exact = stone.unit_mass().mass - volume(&others);
                let found = surface.loss(v as u32);
                // Round-off of volumes of order one.
                assert!((found - exact).abs() < 1e-12, "{found} for {exact}");
            }
        }
    }

    #[test]
    fn the_surface_remains_the_hull_as_vertices_are_removed() {
        let mut rng = seeded(6);
        let generator = StoneGenerator { vertices: 60, ..StoneGenerator::default() };
        let stone = generator.generate(1.0, &mut rng).unwrap();
        let mut surface = Surface::new(&stone);
        let n = stone.vertices().len();
        for v in (0..n as u32).filter(|v| v % 3 != 0) {
            surface.remove(v);
            let kept: Vec<Vec3> =
                (0..n).filter(|&w| surface.next[w] != GONE).map(|w| stone.vertices()[w]).collect();
            let inside: f64 = surface
                .left
                .iter()
                .map(|([a, b], c)| {
                    let [a, b, c] = [a, b, c].map(|i| stone.vertices()[*i as usize]);
                    a.dot(&b.cross(&c)) / 18.0 // each triangle has three edges
                })
                .sum();
            assert!((inside - volume(&kept)).abs() < 1e-12, "without {v}");
        }
    }

    #[test]
    fn flat_faces_and_equal_corners_are_no_obstacle() {
        let cube = Polyhedron::cuboid([1.0; 3]).unwrap();
        for n in 4..=8 {
            let less = cube.reduced(n).unwrap();
            assert!(less.vertices().len() <= n);
        }
        // One corner of a cube is a sixth of it; four corners form a tetrahedron.
        assert!((cube.reduced(7).unwrap().unit_mass().mass - 5.0 / 6.0).abs() < 1e-14);
        let last = cube.reduced(4).unwrap().unit_mass().mass;
        assert!((last - 1.0 / 3.0).abs() < 1e-14 || (last - 1.0 / 6.0).abs() < 1e-14, "{last}");
        assert!(cube.reduced(3).is_err());
        assert_eq!(cube.reduced(100).unwrap().vertices(), cube.vertices());
    }

    #[test]
    fn a_ball_of_many_corners_keeps_its_volume_and_lies_inside() {
        // Points on a spiral from pole to pole.
        let points: Vec<Vec3> = (0..2000)
            .map(|i| {
                let z = 1.0 - (2 * i + 1) as f64 / 2000.0;
                let (sin, cos) = (2.399_963_229_728_653 * i as f64).sin_cos();
                Vec3::new(cos, sin, 0.0) * (1.0 - z * z).sqrt() + Vec3::z() * z
            })
            .collect();
        let ball = Polyhedron::from_points(&points).unwrap();
        let coarse = ball.reduced(60).unwrap();
        assert_eq!(coarse.vertices().len(), 60);
        let share = coarse.unit_mass().mass / ball.unit_mass().mass;
        // The loss is inversely proportional to the number of corners; the icosahedron, the best
        // with 12, loses 39.5 %.
        assert!((0.87..1.0 - 0.39 * 12.0 / 60.0).contains(&share), "{share}");
        let is_corner = |v: &Vec3| ball.vertices().iter().any(|w| (v - w).norm() < 1e-15);
        assert!(coarse.vertices().iter().all(is_corner));
    }

    #[test]
    fn each_removed_corner_loses_some_volume_and_the_result_stays_inside() {
        let mut rng = seeded(7);
        let generator = StoneGenerator { vertices: 30, ..StoneGenerator::default() };
        let stone = generator.generate(1.0, &mut rng).unwrap();
        let mut last = stone.unit_mass().mass;
        for n in (4..stone.vertices().len()).rev() {
            let less = stone.reduced(n).unwrap();
            assert_eq!(less.vertices().len(), n);
            let volume = less.unit_mass().mass;
            assert!(volume < last, "{n}: {volume} {last}");
            last = volume;
            for (normal, offset) in stone.face_normals().iter().zip(stone.face_offsets()) {
                let inside = |v: &Vec3| normal.dot(v) <= offset + 1e-12;
                assert!(less.vertices().iter().all(inside));
            }
        }
    }

    #[test]
    fn fewer_than_four_corners_are_refused_with_the_range() {
        let cube = Polyhedron::cuboid([1.0; 3]).unwrap();
        let said = cube.reduced(3).unwrap_err().to_string();
        assert_eq!(said, "vertices of a reduced polyhedron must lie between 4 and 8, got 3");
    }
}
