//! Curved surfaces as polygons, for pictures, files and volumes inside boxes.

use super::{Core, Curved};
use crate::math::Vec3;
use crate::shape::Polyhedron;
use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, TAU};

/// A closed surface of convex polygons.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Corners on the surface of the shape [m].
    pub corners: Vec<Vec3>,
    /// Corners of each face, counter-clockwise seen from outside.
    pub faces: Vec<Vec<usize>>,
}

impl Curved {
    /// The surface as polygons with corners on the shape, `segments` (rounded up to a multiple of four)
    /// around each circle. Distances from the surface are at most `r (1 − cos(π / segments))`, with r the
    /// largest radius of curvature.
    pub fn surface(&self, segments: usize) -> Surface {
        let segments = segments.max(8).div_ceil(4) * 4;
        match &self.core {
            Core::Segment { half } => {
                let quarter = segments / 4;
                let ring = |k: usize, sign: f64| {
                    let (sin, cos) = (FRAC_PI_2 * k as f64 / quarter as f64).sin_cos();
                    (self.radius * sin, sign * (half + self.radius * cos))
                };
                let below = (0..=quarter).map(|k| ring(k, -1.0));
                let above = (0..=quarter).rev().map(|k| ring(k, 1.0));
                revolved(&below.chain(above).collect::<Vec<_>>(), segments)
            }
            Core::Cylinder { radius, half } => {
                revolved(&[(*radius, -half), (*radius, *half)], segments)
            }
            Core::Cone { radius, half } => revolved(&[(*radius, -half), (0.0, *half)], segments),
            Core::Hull(p) => rounded(p, self.radius, segments),
        }
    }
}

/// A profile of distances from the z axis and heights, from bottom to top, revolved about the axis.
/// Ends off the axis are closed by a polygon.
fn revolved(profile: &[(f64, f64)], segments: usize) -> Surface {
    let mut surface = Surface::default();
    let mut ring = |(radius, z): (f64, f64)| -> Vec<usize> {
        let n = if radius > 0.0 { segments } else { 1 };
        (0..n)
            .map(|k| {
                let (sin, cos) = (TAU * k as f64 / segments as f64).sin_cos();
                surface.corners.push(Vec3::new(radius * cos, radius * sin, z));
                surface.corners.len() - 1
            })
            .collect()
    };
    let rings: Vec<Vec<usize>> = profile.iter().map(|p| ring(*p)).collect();
    let at = |ring: &[usize], k: usize| ring[k % ring.len()];
    for pair in rings.windows(2) {
        for k in 0..segments {
            let [low, high] = [&pair[0], &pair[1]];
            let mut face = vec![at(low, k), at(low, k + 1), at(high, k + 1), at(high, k)];
            face.dedup();
            surface.faces.push(face);
        }
    }
    if let [first, .., last] = &rings[..] {
        if first.len() > 1 {
            surface.faces.push(first.iter().rev().copied().collect());
        }
        if last.len() > 1 {
            surface.faces.push(last.clone());
        }
    }
    surface
}

/// A rounded polyhedron: its faces moved outwards, strips along its edges, patches at its corners.
fn rounded(p: &Polyhedron, r: f64, segments: usize) -> Surface {
    let mut surface = Surface::default();
    let mut at_faces = HashMap::new();
    for i in 0..p.n_faces() {
        let face = p.face(i).iter().map(|v| {
            surface.corners.push(p.vertices()[usize::from(*v)] + p.face_normals()[i] * r);
            at_faces.insert((*v, i), surface.corners.len() - 1);
            surface.corners.len() - 1
        });
        let face = face.collect();
        surface.faces.push(face);
    }
    // Directions of the arcs around each corner, in pieces from face to face.
    let mut arcs: HashMap<(u16, usize), (usize, Vec<usize>)> = HashMap::new();
    for edge in p.edges() {
        let [f1, f2] = edge.faces.map(usize::from);
        let [n1, n2] = [f1, f2].map(|f| p.face_normals()[f]);
        let theta = n1.cross(&n2).norm().atan2(n1.dot(&n2));
        let steps = (theta / TAU * segments as f64).ceil().max(1.0) as usize;
        let mut strip = |v: u16| -> Vec<usize> {
            let inner = (1..steps).map(|k| {
                let n = between(n1, n2, theta, k as f64 / steps as f64);
                surface.corners.push(p.vertices()[usize::from(v)] + n * r);
                surface.corners.len() - 1
            });
            let inner: Vec<usize> = inner.collect();
            let ends = [f1, f2].map(|f| at_faces[&(v, f)]);
            std::iter::once(ends[0]).chain(inner).chain([ends[1]]).collect()
        };
        let [u, v] = edge.vertices;
        let [from, to] = [strip(u), strip(v)];
        for k in 0..steps {
            surface.faces.push(vec![to[k], from[k], from[k + 1], to[k + 1]]);
        }
        // The first face is to the left of the edge from u to v: counter-clockwise around u it
        // follows the second face, around v the second follows it.
        arcs.insert((u, f2), (f1, from.into_iter().rev().collect()));
        arcs.insert((v, f1), (f2, to));
    }
    for v in 0..p.vertices().len() {
        add_patch(p, v, r, segments, &arcs, &mut surface);
    }
    surface
}

/// The direction at a fraction of the arc between two unit vectors.
fn between(a: Vec3, b: Vec3, angle: f64, t: f64) -> Vec3 {
    (a * ((1.0 - t) * angle).sin() + b * (t * angle).sin()) / angle.sin().max(1e-300)
}

/// The part of the ball at a corner: rings from its boundary to its middle.
fn add_patch(
    p: &Polyhedron,
    v: usize,
    r: f64,
    segments: usize,
    arcs: &HashMap<(u16, usize), (usize, Vec<usize>)>,
    surface: &mut Surface,
) {
    let start = usize::from(p.faces_at(v)[0]);
    let (mut ring, mut face) = (Vec::new(), start);
    for _ in 0..p.faces_at(v).len() {
        let Some((next, arc)) = arcs.get(&(v as u16, face)) else { return };
        ring.extend_from_slice(&arc[..arc.len() - 1]);
        face = *next;
    }
    let centre = p.vertices()[v];
    let direction = |corner: &usize| (surface.corners[*corner] - centre) / r;
    let boundary: Vec<Vec3> = ring.iter().map(direction).collect();
    let Some(middle) = boundary.iter().sum::<Vec3>().try_normalize(1e-12) else { return };
    let angle_to = |n: &Vec3| n.cross(&middle).norm().atan2(n.dot(&middle));
    let widest = boundary.iter().map(angle_to).fold(0.0, f64::max);
    let rings = (widest / TAU * segments as f64).ceil().max(1.0) as usize;
    for k in 1..=rings {
        let inner: Vec<usize> = match k == rings {
            true => {
                surface.corners.push(centre + middle * r);
                vec![surface.corners.len() - 1]
            }
            false => {
                let t = k as f64 / rings as f64;
                let moved = boundary.iter().map(|n| {
                    surface.corners.push(centre + between(*n, middle, angle_to(n), t) * r);
                    surface.corners.len() - 1
                });
                moved.collect()
            }
        };
        for i in 0..ring.len() {
            let j = (i + 1) % ring.len();
            match inner[..] {
                [tip] => surface.faces.push(vec![ring[i], ring[j], tip]),
                // Four points of a ball are not in one plane.
                _ => {
                    surface.faces.push(vec![ring[i], ring[j], inner[i]]);
                    surface.faces.push(vec![ring[j], inner[j], inner[i]]);
                }
            }
        }
        ring = inner;
    }
}
