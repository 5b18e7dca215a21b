//! Convex hull of a point set (quickhull), with coplanar triangles merged into faces.
//!
//! Written here rather than taken from a library because contact needs true faces: flat, merged,
//! with vertices that are real corners only, and an error instead of a panic on degenerate input.

use super::ShapeError;
use crate::math::Vec3;
use std::collections::HashMap;

/// Vertices and faces of a hull; each face is a loop of vertex indices, counter-clockwise from outside.
pub(super) struct Hull {
    pub vertices: Vec<Vec3>,
    pub faces: Vec<Vec<usize>>,
}

/// Points closer to a plane than this fraction of the extent lie in it.
const COPLANAR: f64 = 1e-10;
/// Near-degenerate points can pinch the horizon; then the surface is not closed.
const BROKEN: ShapeError = ShapeError::HullCheck { error: f64::INFINITY };
/// Thinner than this share of its extent, a hull has no volume.
const FLAT: f64 = 1e-9;
/// Smallest extent of a hull [m]. Below it the squares of areas underflow and no plane can be
/// determined; moments of inertia, which scale with the fifth power of length, underflow even
/// earlier.
const SMALLEST: f64 = 1e-60;

struct Triangle {
    v: [usize; 3],
    normal: Vec3,
    offset: f64,
    area2: f64,
    alive: bool,
    outside: Vec<usize>,
}

impl Triangle {
    fn new(points: &[Vec3], v: [usize; 3]) -> Triangle {
        let [a, b, c] = v.map(|i| points[i]);
        let cross = (b - a).cross(&(c - a));
        let area2 = cross.norm();
        let normal = if area2 > 0.0 { cross / area2 } else { Vec3::zeros() };
        let offset = normal.dot(&((a + b + c) / 3.0));
        Triangle { v, normal, offset, area2, alive: true, outside: Vec::new() }
    }

    fn height(&self, p: Vec3) -> f64 {
        self.normal.dot(&p) - self.offset
    }
}

/// The convex hull of `points`.
pub(super) fn hull(points: &[Vec3]) -> Result<Hull, ShapeError> {
    if points.len() < 4 {
        return Err(ShapeError::TooFewPoints { needed: 4, got: points.len() });
    }
    if let Some(index) = points.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
        return Err(ShapeError::NotFinite { index });
    }
    let base = points[0];
    let points: Vec<Vec3> = points.iter().map(|p| p - base).collect();
    let (triangles, extent) = triangulated_hull(&points)?;
    let faces = merge_coplanar(&points, &triangles, extent)?;
    let hull = keep_corners(&points, faces);
    check(&points, &hull, extent)?;
    Ok(Hull { vertices: hull.vertices.iter().map(|p| p + base).collect(), faces: hull.faces })
}

/// Quickhull: the hull as outward triangles, and the extent of the points [m].
fn triangulated_hull(points: &[Vec3]) -> Result<(Vec<Triangle>, f64), ShapeError> {
    let (start, extent) = first_tetrahedron(points)?;
    let eps = COPLANAR * extent;

    let mut triangles = Vec::new();
    let mut owner: HashMap<(usize, usize), usize> = HashMap::new();
    let add = |triangles: &mut Vec<Triangle>, owner: &mut HashMap<_, _>, v: [usize; 3]| {
        let id = triangles.len();
        for k in 0..3 {
            owner.insert((v[k], v[(k + 1) % 3]), id);
        }
        triangles.push(Triangle::new(points, v));
        id
    };
    let [a, b, c, d] = start;
    for v in [[a, b, c], [a, d, b], [b, d, c], [c, d, a]] {
        add(&mut triangles, &mut owner, v);
    }
    for i in 0..points.len() {
        assign(points, &mut triangles, 0..4, i, eps);
    }

    let mut next = 0;
    while next < triangles.len() {
        if !triangles[next].alive || triangles[next].outside.is_empty() {
            next += 1;
            continue;
        }
        // The farthest point above this triangle becomes a corner.
        let tri = &triangles[next];
        let apex = farthest(tri.outside.iter().copied(), |i| tri.height(points[i]));
        let p = points[apex];

        // Triangles visible from it and connected to this one, and the horizon around them.
        let mut visible = vec![next];
        let mut horizon = Vec::new();
        triangles[next].alive = false;
        let mut k = 0;
        while k < visible.len() {
            let v = triangles[visible[k]].v;
            for e in 0..3 {
                let (i, j) = (v[e], v[(e + 1) % 3]);
                let other = *owner.get(&(j, i)).ok_or(BROKEN)?;
                if triangles[other].alive && triangles[other].height(p) > eps {
                    triangles[other].alive = false;
                    visible.push(other);
                }
            }
            k += 1;
        }
        for &t in &visible {
            let v = triangles[t].v;
            for e in 0..3 {
                let (i, j) = (v[e], v[(e + 1) % 3]);
                if triangles[*owner.get(&(j, i)).ok_or(BROKEN)?].alive {
                    horizon.push((i, j));
                }
            }
        }

        // The cone from the horizon to the new corner takes over the orphaned points.
        let orphans: Vec<usize> = visible
            .iter()
            .flat_map(|&t| std::mem::take(&mut triangles[t].outside))
            .filter(|&i| i != apex)
            .collect();
        let first = triangles.len();
        for (i, j) in horizon {
            add(&mut triangles, &mut owner, [i, j, apex]);
        }
        for i in orphans {
            let range = first..triangles.len();
            assign(points, &mut triangles, range, i, eps);
        }
    }
    triangles.retain(|t| t.alive);
    Ok((triangles, extent))
}

/// Four points that span a volume, positively oriented for the faces built on them.
fn first_tetrahedron(points: &[Vec3]) -> Result<([usize; 4], f64), ShapeError> {
    let all = || 0..points.len();
    let a = farthest(all(), |i| -points[i].x);
    let b = farthest(all(), |i| (points[i] - points[a]).norm_squared());
    let extent = (points[b] - points[a]).norm();
    let along = (points[b] - points[a]) / extent;
    let off_line = |i: usize| (points[i] - points[a]).cross(&along).norm();
    let flat = |thickness| ShapeError::Flat { thickness, extent };
    if extent.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
        return Err(flat(0.0));
    }
    if extent < SMALLEST {
        return Err(ShapeError::TooSmall { extent, smallest: SMALLEST });
    }
    let c = farthest(all(), off_line);
    if off_line(c) <= FLAT * extent {
        return Err(flat(off_line(c)));
    }
    let normal = (points[b] - points[a]).cross(&(points[c] - points[a])).normalize();
    let height = |i: usize| normal.dot(&(points[i] - points[a]));
    let d = farthest(all(), |i| height(i).abs());
    if height(d).abs() <= FLAT * extent {
        return Err(flat(height(d).abs()));
    }
    // The faces below are outward when d lies below the triangle a, b, c.
    Ok((if height(d) < 0.0 { [a, b, c, d] } else { [a, c, b, d] }, extent))
}

fn farthest(candidates: impl Iterator<Item = usize>, distance: impl Fn(usize) -> f64) -> usize {
    let mut best = (f64::NEG_INFINITY, 0);
    for i in candidates {
        let d = distance(i);
        if d > best.0 {
            best = (d, i);
        }
    }
    best.1
}

/// Assigns point `i` to the triangle of the range above which it is highest, if any.
fn assign(
    points: &[Vec3],
    triangles: &mut [Triangle],
    range: std::ops::Range<usize>,
    i: usize,
    eps: f64,
) {
    let mut best = (eps, None);
    for t in range {
        let h = triangles[t].height(points[i]);
        if h > best.0 {
            best = (h, Some(t));
        }
    }
    if let (_, Some(t)) = best {
        triangles[t].outside.push(i);
    }
}

/// Groups neighbouring triangles that lie in one plane; returns the border loop of each group.
fn merge_coplanar(
    points: &[Vec3],
    triangles: &[Triangle],
    extent: f64,
) -> Result<Vec<Vec<usize>>, ShapeError> {
    let eps = 10.0 * COPLANAR * extent;
    let mut owner = HashMap::new();
    for (id, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            owner.insert((t.v[k], t.v[(k + 1) % 3]), id);
        }
    }
    // Largest first, so that the plane of a group is that of its best-conditioned triangle.
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|&i, &j| triangles[j].area2.total_cmp(&triangles[i].area2).then(i.cmp(&j)));
    let mut group = vec![usize::MAX; triangles.len()];
    let mut loops = Vec::new();
    for seed in order {
        if group[seed] != usize::MAX {
            continue;
        }
        let id = loops.len();
        group[seed] = id;
        let mut members = vec![seed];
        let mut k = 0;
        while k < members.len() {
            let v = triangles[members[k]].v;
            for e in 0..3 {
                let other = *owner.get(&(v[(e + 1) % 3], v[e])).ok_or(BROKEN)?;
                let flat = triangles[other]
                    .v
                    .iter()
                    .all(|&i| triangles[seed].height(points[i]).abs() <= eps);
                if group[other] == usize::MAX && flat {
                    group[other] = id;
                    members.push(other);
                }
            }
            k += 1;
        }
        loops.push(border(triangles, &owner, &group, &members)?);
    }
    Ok(loops)
}

/// The border of a group of triangles as one loop of vertices.
fn border(
    triangles: &[Triangle],
    owner: &HashMap<(usize, usize), usize>,
    group: &[usize],
    members: &[usize],
) -> Result<Vec<usize>, ShapeError> {
    let mut after = HashMap::new();
    let mut start = usize::MAX;
    for &t in members {
        let v = triangles[t].v;
        for e in 0..3 {
            let (i, j) = (v[e], v[(e + 1) % 3]);
            if group[*owner.get(&(j, i)).ok_or(BROKEN)?] != group[t] {
                after.insert(i, j);
                start = start.min(i);
            }
        }
    }
    // A group of all triangles has no border: the surface has no bends.
    if start == usize::MAX {
        return Err(BROKEN);
    }
    let mut corners = vec![start];
    let mut at = after.get(&start).copied().unwrap_or(start);
    while at != start && corners.len() <= after.len() {
        corners.push(at);
        at = after.get(&at).copied().unwrap_or(start);
    }
    Ok(corners)
}

/// Drops vertices that fewer than three faces share (they lie within an edge) and renumbers.
fn keep_corners(points: &[Vec3], faces: Vec<Vec<usize>>) -> Hull {
    let mut degree = vec![0usize; points.len()];
    for &i in faces.iter().flatten() {
        degree[i] += 1;
    }
    let mut number = vec![usize::MAX; points.len()];
    let mut vertices = Vec::new();
    for i in 0..points.len() {
        if degree[i] >= 3 {
            number[i] = vertices.len();
            vertices.push(points[i]);
        }
    }
    let faces = faces
        .into_iter()
        .map(|f| f.into_iter().filter(|&i| degree[i] >= 3).map(|i| number[i]).collect::<Vec<_>>())
        .filter(|f| f.len() >= 3)
        .collect();
    Hull { vertices, faces }
}

/// Checks that every edge joins two faces, neighbouring faces bend outwards (which makes a closed
/// surface convex), Euler's formula holds, and the points lie inside.
pub(super) fn check(points: &[Vec3], hull: &Hull, extent: f64) -> Result<(), ShapeError> {
    let mut edges: HashMap<(usize, usize), usize> = HashMap::new();
    let mut planes = Vec::with_capacity(hull.faces.len());
    for (id, face) in hull.faces.iter().enumerate() {
        planes.push(plane(&hull.vertices, face));
        for k in 0..face.len() {
            if edges.insert((face[k], face[(k + 1) % face.len()]), id).is_some() {
                return Err(BROKEN);
            }
        }
    }
    let mut worst: f64 = 0.0;
    for (&(i, j), &id) in &edges {
        let other = *edges.get(&(j, i)).ok_or(BROKEN)?;
        let (normal, offset) = planes[id];
        for &v in &hull.faces[other] {
            worst = worst.max(normal.dot(&hull.vertices[v]) - offset);
        }
    }
    // A sample of the points against all faces: all points for typical grains.
    let stride = (points.len() * planes.len() / 1_000_000).max(1);
    for p in points.iter().step_by(stride) {
        for (normal, offset) in &planes {
            worst = worst.max(normal.dot(p) - offset);
        }
    }
    let euler = hull.vertices.len() + hull.faces.len() == edges.len() / 2 + 2;
    if euler && worst <= 1e3 * COPLANAR * extent {
        Ok(())
    } else {
        Err(ShapeError::HullCheck { error: worst })
    }
}

/// Unit normal and offset of a flat loop of vertices (Newell's formula).
pub(super) fn plane(vertices: &[Vec3], face: &[usize]) -> (Vec3, f64) {
    let about = vertices[face[0]];
    let mut normal = Vec3::zeros();
    for k in 0..face.len() {
        let a = vertices[face[k]] - about;
        let b = vertices[face[(k + 1) % face.len()]] - about;
        normal += a.cross(&b);
    }
    let normal = normal.normalize();
    let offset = face.iter().map(|&i| normal.dot(&vertices[i])).sum::<f64>() / face.len() as f64;
    (normal, offset)
}

#[cfg(test)]
mod tests;
