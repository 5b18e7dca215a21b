//! Balls and half-spaces against each other and against polyhedra. Normals point from the first shape to
//! the second.

use super::manifold::{Manifold, ManifoldPoint, thin};
use super::{Ask, Placed};
use crate::math::Vec3;
use crate::shape::Polyhedron;

/// Two balls (or discs).
pub(super) fn ball_ball(
    (ca, ra): (Vec3, f64),
    (cb, rb): (Vec3, f64),
    alert: f64,
) -> Option<Manifold> {
    let d = cb - ca;
    let distance = d.norm();
    let gap = distance - ra - rb;
    if gap > alert {
        return None;
    }
    // Concentric balls: any normal will do.
    let normal = if distance > 0.0 { d / distance } else { Vec3::x() };
    Some(Manifold::single(normal, gap, ca + normal * (ra + 0.5 * gap), 0))
}

/// A half-space (its outward normal and a point of its surface) and a ball.
pub(super) fn half_space_ball(
    (normal, origin): (Vec3, Vec3),
    (centre, radius): (Vec3, f64),
    alert: f64,
) -> Option<Manifold> {
    let height = normal.dot(&(centre - origin));
    let gap = height - radius;
    (gap <= alert).then(|| Manifold::single(normal, gap, centre - normal * (radius + 0.5 * gap), 0))
}

/// A half-space and a polyhedron: its lowest vertices.
pub(super) fn half_space_polyhedron(
    (normal, origin): (Vec3, Vec3),
    (p, placed): (&Polyhedron, &Placed),
    ask: &Ask,
    candidates: &mut Vec<ManifoldPoint>,
) -> Option<Manifold> {
    let alert = ask.alert;
    let n_b = placed.rot.tr_mul(&normal);
    let base = normal.dot(&(placed.origin - origin));
    let (_, depth) = p.support(-n_b);
    let separation = base - depth;
    if separation > alert {
        return None;
    }
    candidates.clear();
    for (i, v) in p.vertices().iter().enumerate() {
        let gap = n_b.dot(v) + base;
        if gap <= alert {
            let position = placed.rot * v + placed.origin - normal * (0.5 * gap);
            candidates.push(ManifoldPoint { position, gap, feature: i as u32 });
        }
    }
    let mut m = Manifold::new(normal, separation);
    thin(candidates, normal, alert, p.outer_radius(), ask.drift, &mut m);
    Some(m)
}

/// A polyhedron and a ball: the nearest point of the surface, or the nearest face from inside.
pub(super) fn polyhedron_ball(
    (p, placed): (&Polyhedron, &Placed),
    (centre, radius): (Vec3, f64),
    alert: f64,
) -> Option<Manifold> {
    let c = placed.rot.tr_mul(&(centre - placed.origin));
    let mut top = (0, f64::NEG_INFINITY);
    for i in 0..p.n_faces() {
        let h = p.face_normals()[i].dot(&c) - p.face_offsets()[i];
        if h > radius + alert {
            return None;
        }
        if h > top.1 {
            top = (i, h);
        }
    }
    let (normal, distance) = if top.1 <= 0.0 {
        (p.face_normals()[top.0], top.1)
    } else {
        let d = c - nearest_point(p, c);
        let distance = d.norm();
        // A centre exactly on the surface gives no direction.
        if distance > 1e-12 * p.outer_radius() {
            (d / distance, distance)
        } else {
            (p.face_normals()[top.0], top.1)
        }
    };
    let gap = distance - radius;
    if gap > alert {
        return None;
    }
    let n = placed.rot * normal;
    Some(Manifold::single(n, gap, centre - n * (radius + 0.5 * gap), 0))
}

/// The point of the polyhedron nearest to an outside point.
pub(super) fn nearest_point(p: &Polyhedron, c: Vec3) -> Vec3 {
    let mut best = (f64::INFINITY, c);
    for i in 0..p.n_faces() {
        let n = p.face_normals()[i];
        let h = n.dot(&c) - p.face_offsets()[i];
        if h <= 0.0 || h * h >= best.0 {
            continue;
        }
        let x = nearest_on_face(p, i, c - n * h);
        let d = (c - x).norm_squared();
        if d < best.0 {
            best = (d, x);
        }
    }
    best.1
}

/// The point of a face nearest to a point in its plane.
fn nearest_on_face(p: &Polyhedron, face: usize, x: Vec3) -> Vec3 {
    let n = p.face_normals()[face];
    let corners = p.face(face);
    let mut inside = true;
    let mut best = (f64::INFINITY, x);
    for k in 0..corners.len() {
        let u = p.vertices()[corners[k] as usize];
        let v = p.vertices()[corners[(k + 1) % corners.len()] as usize];
        let e = v - u;
        if n.dot(&e.cross(&(x - u))) < 0.0 {
            inside = false;
            let s = ((x - u).dot(&e) / e.norm_squared()).clamp(0.0, 1.0);
            let y = u + e * s;
            let d = (x - y).norm_squared();
            if d < best.0 {
                best = (d, y);
            }
        }
    }
    if inside { x } else { best.1 }
}

#[cfg(test)]
mod tests;
