//! Contacts of capsules, cylinders and cones whose distances have closed forms: with balls, half-spaces and each other; where the points
//! of shapes that lie or stand on a plane are; and rigid motions of pairs.

mod pair;

use pair::contact;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use riprap::math::{Pose, Quat, Vec3};
use riprap::shape::Shape;

fn vector(rng: &mut Pcg64) -> Vec3 {
    Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

fn pose(rng: &mut Pcg64) -> Pose {
    let rotation = Quat::from_scaled_axis(vector(rng) * 3.0);
    Pose { position: vector(rng) * 2.0, rotation }
}

/// Distance of a point from a segment along z from −`half` to `half`.
fn from_segment(p: Vec3, half: f64) -> f64 {
    (p - Vec3::z() * p.z.clamp(-half, half)).norm()
}

/// Signed distance of a point from the surface of a cylinder about z.
fn from_cylinder(p: Vec3, radius: f64, half: f64) -> f64 {
    let (across, along) = (p.xy().norm() - radius, p.z.abs() - half);
    let outside = across.max(0.0).hypot(along.max(0.0));
    outside + across.max(along).min(0.0)
}

/// Signed distance of a point from the surface of a cone about z, base below.
fn from_cone(p: Vec3, radius: f64, half: f64) -> f64 {
    let (across, z) = (p.xy().norm(), p.z);
    let base = (across - across.min(radius)).hypot(z + half);
    // The side, from the rim to the tip.
    let (dx, dz) = (-radius, 2.0 * half);
    let s = ((across - radius) * dx + (z + half) * dz) / (dx * dx + dz * dz);
    let s = s.clamp(0.0, 1.0);
    let side = (across - radius - s * dx).hypot(z + half - s * dz);
    let inside = z > -half && across < radius * (half - z) / (2.0 * half);
    if inside { -base.min(side) } else { base.min(side) }
}

/// Distance of two segments, by the ends and by the two lines.
fn between_segments(a: [Vec3; 2], b: [Vec3; 2]) -> f64 {
    let from = |p: Vec3, [start, end]: [Vec3; 2]| {
        let d = end - start;
        let s = ((p - start).dot(&d) / d.norm_squared()).clamp(0.0, 1.0);
        (p - start - d * s).norm()
    };
    let ends = a.iter().map(|p| from(*p, b)).chain(b.iter().map(|p| from(*p, a)));
    let least = ends.fold(f64::INFINITY, f64::min);
    let (u, v, w) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let (uu, uv, vv) = (u.dot(&u), u.dot(&v), v.dot(&v));
    let (uw, vw) = (u.dot(&w), v.dot(&w));
    let det = uu * vv - uv * uv;
    let (s, t) = ((uv * vw - vv * uw) / det, (uu * vw - uv * uw) / det);
    let crossing = (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t);
    if crossing { least.min((w + u * s - v * t).norm()) } else { least }
}

#[test]
fn balls_are_as_far_from_capsules_cylinders_and_cones_as_their_closed_forms_say() {
    let mut rng = Pcg64::seed_from_u64(1);
    let (mut apart, mut deep) = (0, 0);
    for trial in 0..3000 {
        let (radius, half) = (rng.random_range(0.1..0.5), rng.random_range(0.1..0.6));
        let ball_radius = rng.random_range(0.02..0.3);
        let (at, p) = (pose(&mut rng), vector(&mut rng));
        let (shape, distance) = match trial % 3 {
            0 => {
                let capsule = Shape::capsule(radius, 2.0 * half).unwrap();
                (capsule, from_segment(p, half) - radius)
            }
            1 => (Shape::cylinder(radius, 2.0 * half).unwrap(), from_cylinder(p, radius, half)),
            _ => (Shape::cone(radius, 2.0 * half).unwrap(), from_cone(p, radius, half)),
        };
        let ball = Shape::sphere(ball_radius).unwrap();
        let there = Pose::at(at.point(p).into());
        let exact = distance - ball_radius;
        let m = contact((&shape, &at), (&ball, &there), 5.0).unwrap();
        // Positions of about 2 m.
        assert!((m.separation - exact).abs() < 1e-12, "{trial}: {} {exact}", m.separation);
        // The other way round, reversed.
        let back = contact((&ball, &there), (&shape, &at), 5.0).unwrap();
        assert!((back.separation - exact).abs() < 1e-12 && (back.normal + m.normal).norm() < 1e-9);
        // Not detected beyond the alert distance.
        if exact > 1e-3 {
            assert!(contact((&shape, &at), (&ball, &there), exact - 1e-6).is_none());
            apart += 1;
        }
        deep += u32::from(distance < 0.0);
        // A step of the ball along the normal opens the gap by as much, if it is outside.
        if distance > 1e-3 {
            let further = Pose { position: there.position + m.normal * 0.01, ..there };
            let moved = contact((&shape, &at), (&ball, &further), 5.0).unwrap();
            assert!((moved.separation - m.separation - 0.01).abs() < 1e-12);
        }
    }
    assert!(apart > 1000 && deep > 50, "{apart} {deep}");
}

#[test]
fn capsules_are_as_far_apart_as_their_segments_less_their_radii() {
    let mut rng = Pcg64::seed_from_u64(2);
    let mut overlapping = 0;
    for trial in 0..2000 {
        let halves = [(); 2].map(|()| rng.random_range(0.05..0.8));
        let radii = [(); 2].map(|()| rng.random_range(0.02..0.4));
        let at = [(); 2].map(|()| {
            let place = pose(&mut rng);
            Pose { position: place.position * 0.4, ..place }
        });
        let ends = |k: usize| [-1.0, 1.0].map(|s| at[k].point(Vec3::z() * (s * halves[k])));
        let distance = between_segments(ends(0), ends(1));
        if distance < 1e-3 {
            continue;
        }
        let exact = distance - radii[0] - radii[1];
        let shapes = [0, 1].map(|k| Shape::capsule(radii[k], 2.0 * halves[k]).unwrap());
        let m = contact((&shapes[0], &at[0]), (&shapes[1], &at[1]), 9.0).unwrap();
        assert!((m.separation - exact).abs() < 1e-11, "{trial}: {} {exact}", m.separation);
        overlapping += u32::from(exact < 0.0);
    }
    assert!(overlapping > 200, "{overlapping}");
}

#[test]
fn parallel_capsules_touch_at_both_ends_of_their_common_length() {
    let shapes = [Shape::capsule(0.1, 1.0).unwrap(), Shape::capsule(0.2, 0.6).unwrap()];
    let mut rng = Pcg64::seed_from_u64(3);
    for shift in [0.0, 0.1, 0.5, -0.7] {
        let common = pose(&mut rng);
        let other =
            Pose { position: common.point(Vec3::new(0.31, 0.0, shift)), rotation: common.rotation };
        let m = contact((&shapes[0], &common), (&shapes[1], &other), 0.05).unwrap();
        assert!((m.separation - 0.01).abs() < 1e-12);
        let mut heights: Vec<f64> =
            m.points().iter().map(|p| common.inverse_point(p.position).z).collect();
        heights.sort_by(f64::total_cmp);
        let (low, high) = ((shift - 0.3).max(-0.5), (shift + 0.3).min(0.5));
        assert_eq!(heights.len(), 2, "{shift}: {heights:?}");
        // The search for flat sides compares directions to 1e-8.
        assert!((heights[0] - low).abs() < 1e-6 && (heights[1] - high).abs() < 1e-6, "{heights:?}");
        assert!(m.points().iter().all(|p| (p.gap - 0.01).abs() < 1e-9));
    }
}

/// Lowest point of a shape above a plane through the origin with a normal, for a pose.
fn lowest(k: usize, (radius, half): (f64, f64), at: &Pose, normal: Vec3) -> f64 {
    let n = at.inverse_vector(normal);
    let across = n.xy().norm();
    let below = match k {
        0 => half * n.z.abs() + radius,
        1 => half * n.z.abs() + radius * across,
        // The rim of the base, or the tip.
        _ => (half * n.z + radius * across).max(-half * n.z),
    };
    normal.dot(&at.position) - below
}

fn made(k: usize, (radius, half): (f64, f64)) -> Shape {
    match k {
        0 => Shape::capsule(radius, 2.0 * half),
        1 => Shape::cylinder(radius, 2.0 * half),
        _ => Shape::cone(radius, 2.0 * half),
    }
    .unwrap()
}

#[test]
fn the_gap_above_a_plane_is_the_height_of_the_lowest_point() {
    let mut rng = Pcg64::seed_from_u64(4);
    let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    for trial in 0..3000 {
        let k = trial % 3;
        let size = (rng.random_range(0.1..0.5), rng.random_range(0.1..0.8));
        let (at, tilt) = (pose(&mut rng), pose(&mut rng));
        let normal = tilt.vector(Vec3::z());
        let base = normal.dot(&tilt.position);
        let exact = lowest(k, size, &at, normal) - base;
        let shape = made(k, size);
        let m = contact((&plane, &tilt), (&shape, &at), 9.0).unwrap();
        assert!((m.separation - exact).abs() < 1e-12, "{trial}: {} {exact}", m.separation);
        assert!((m.normal - normal).norm() < 1e-14);
        let least = m.points().iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        assert!((least - exact).abs() < 1e-9, "the lowest point is among them: {least} {exact}");
        for p in m.points() {
            // Midway between the plane and the shape.
            let height = normal.dot(&p.position) - base;
            assert!((height - 0.5 * p.gap).abs() < 1e-12);
            // The point of the shape above it is on its surface, not beyond.
            let own = at.inverse_point(p.position + normal * (0.5 * p.gap));
            let off = match k {
                0 => from_segment(own, size.1) - size.0,
                1 => from_cylinder(own, size.0, size.1),
                _ => from_cone(own, size.0, size.1),
            };
            // The far end of a capsule is below its half-ball.
            let beyond = if k == 0 { off.max(0.0) } else { off.abs() };
            assert!(beyond < 1e-9, "{trial}: {off}");
        }
        assert!(contact((&plane, &tilt), (&shape, &at), exact - 1e-9).is_none());
    }
}

#[test]
fn what_stands_on_a_plane_has_points_around_its_base_and_what_lies_along_its_side() {
    let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let ground = Pose::IDENTITY;
    let size = (0.3, 0.5);
    for (k, up, n_least, distance) in [
        // Cylinder and cone on their base: around the rim, so that the centre of mass is above the polygon of the points.
        (1, Quat::identity(), 3, 0.3),
        (2, Quat::identity(), 3, 0.3),
        // A cylinder on its other end.
        (1, Quat::from_scaled_axis(Vec3::x() * std::f64::consts::PI), 3, 0.3),
        // On their sides: at both ends.
        (0, Quat::from_scaled_axis(Vec3::y() * std::f64::consts::FRAC_PI_2), 2, 0.5),
        (1, Quat::from_scaled_axis(Vec3::y() * std::f64::consts::FRAC_PI_2), 2, 0.5),
    ] {
        let shape = made(k, size);
        let z = -lowest(k, size, &Pose { position: Vec3::zeros(), rotation: up }, Vec3::z());
        let at = Pose { position: Vec3::new(3.0, -2.0, z + 1e-4), rotation: up };
        let m = contact((&plane, &ground), (&shape, &at), 1e-3).unwrap();
        assert!(m.points().len() >= n_least, "{k}: {:?}", m.points());
        let mut middle = Vec3::zeros();
        for p in m.points() {
            assert!((p.gap - 1e-4).abs() < 1e-9, "{k}: {p:?}");
            let away = (p.position - at.position).xy().norm();
            assert!((away - distance).abs() < 1e-9, "{k}: {away}");
            middle += p.position / m.points().len() as f64;
        }
        // The points surround the centre.
        assert!((middle - at.position).xy().norm() < 0.5 * distance, "{k}: {middle}");
    }
}

#[test]
fn pairs_that_move_together_have_the_same_contact() {
    let mut rng = Pcg64::seed_from_u64(5);
    for trial in 0..600 {
        let (k, l) = (trial % 3, trial / 3 % 3);
        let mut size = || (rng.random_range(0.1..0.4), rng.random_range(0.1..0.5));
        let shapes = [made(k, size()), made(l, size())];
        let (a, mut b) = (pose(&mut rng), pose(&mut rng));
        // Apart, where the contact is unique.
        let away = vector(&mut rng).normalize();
        b.position = a.position + away * 1.4;
        let Some(m) = contact((&shapes[0], &a), (&shapes[1], &b), 5.0) else { panic!("{trial}") };
        if m.separation < 0.01 {
            continue;
        }
        let together = pose(&mut rng);
        let (c, d) = (together.compose(&a), together.compose(&b));
        let moved = contact((&shapes[0], &c), (&shapes[1], &d), 5.0).unwrap();
        assert!((moved.separation - m.separation).abs() < 1e-9, "{trial}: {k} {l}");
        assert!((moved.normal - together.vector(m.normal)).norm() < 1e-4, "{trial}: {k} {l}");
        // Bounds of a distance: along the normal nothing is closer, and the centres are no closer than that.
        let turned = contact((&shapes[1], &b), (&shapes[0], &a), 5.0).unwrap();
        assert!((turned.separation - m.separation).abs() < 1e-9);
    }
}

#[test]
fn a_coin_that_leans_touches_with_the_lowest_point_of_its_rim() {
    // A thin cylinder at any tilt, also close to standing and to lying.
    let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let size = (0.5, 0.02);
    let coin = made(1, size);
    for k in 0..=200 {
        let tilt = std::f64::consts::FRAC_PI_2 * f64::from(k) / 200.0;
        for small in [-1e-9, 0.0, 1e-9, 1e-6] {
            let rotation = Quat::from_scaled_axis(Vec3::x() * (tilt + small));
            let free = Pose { position: Vec3::zeros(), rotation };
            let z = -lowest(1, size, &free, Vec3::z());
            let at = Pose { position: Vec3::z() * (z - 1e-3), rotation };
            let m = contact((&plane, &Pose::IDENTITY), (&coin, &at), 1e-2).unwrap();
            assert!((m.separation + 1e-3).abs() < 1e-14, "{tilt}");
            let deepest = m.points().iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
            assert!((deepest + 1e-3).abs() < 1e-12, "{tilt}: {deepest}");
            assert!(m.points().len() <= 4 && m.points().iter().all(|p| p.gap <= 1e-2));
        }
    }
}
