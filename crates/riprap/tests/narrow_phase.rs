//! The narrow phase against independent results: parry's distances, a brute-force search over all
//! separating axes, and Cundall's common plane against our separating axes, on random pairs that
//! are apart, touching and overlapping, with faces, edges and vertices meeting, on flat,
//! needle-like and tiny shapes.

use parry3d_f64::math::{Pose as ParryPose, Rotation as ParryRotation, Vector as ParryVector};
use parry3d_f64::query;
use parry3d_f64::shape::ConvexPolyhedron;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use riprap::detect::{
    Ask, Collider, Geometry, Manifold, Method, NarrowScratch, PairCache, Placed, narrow_phase,
};
use riprap::math::{Pose, Quat, Vec3};
use riprap::shape::Polyhedron;
use std::sync::Arc;

fn unit(rng: &mut Pcg64) -> Vec3 {
    loop {
        let v = Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        let n = v.norm();
        if n > 0.1 && n < 1.0 {
            return v / n;
        }
    }
}

fn random_rotation(rng: &mut Pcg64) -> Quat {
    let angle = rng.random_range(0.0..3.0);
    Quat::from_scaled_axis(unit(rng) * angle)
}

/// A random shape: round, flat, needle-like or a box, of size 1 times `scale`.
fn random_shape(rng: &mut Pcg64, scale: f64) -> Arc<Polyhedron> {
    let stretch = match rng.random_range(0..5) {
        0 => Vec3::new(1.0, 1.0, 0.05),
        1 => Vec3::new(0.08, 0.08, 1.0),
        2 => Vec3::new(1.0, 0.5, 0.3),
        _ => Vec3::repeat(1.0),
    } * scale;
    if rng.random_range(0..5) == 0 {
        return Arc::new(Polyhedron::cuboid(stretch.into()).unwrap());
    }
    let n = rng.random_range(4..40);
    loop {
        let points: Vec<Vec3> = (0..n).map(|_| unit(rng).component_mul(&stretch) * 0.5).collect();
        if let Ok(p) = Polyhedron::from_points(&points) {
            return Arc::new(p);
        }
    }
}

/// Places b so that two features meet with a small gap or overlap, or anywhere near.
fn random_pose(rng: &mut Pcg64, a: &Polyhedron, b: &Polyhedron, scale: f64) -> Pose {
    let offset = match rng.random_range(0..4) {
        0 => 0.0,
        1 => 10f64.powf(rng.random_range(-9.0..-2.0)),
        2 => -(10f64.powf(rng.random_range(-9.0..-2.0))),
        _ => rng.random_range(-0.1..0.1),
    } * scale;
    match rng.random_range(0..4) {
        // Face on face: b rotated so that two normals oppose each other.
        0 => {
            let na = a.face_normals()[rng.random_range(0..a.n_faces())];
            let fb = rng.random_range(0..b.n_faces());
            let nb = b.face_normals()[fb];
            let turn = Quat::rotation_between(&nb, &-na).unwrap_or_else(|| {
                Quat::from_scaled_axis(riprap::math::tangents(na).0 * std::f64::consts::PI)
            });
            let spin = Quat::from_scaled_axis(na * rng.random_range(0.0..6.0));
            let rotation = spin * turn;
            let (_, top) = a.support(na);
            let base = rotation * (nb * b.face_offsets()[fb]);
            let (t1, t2) = riprap::math::tangents(na);
            let slip =
                t1 * rng.random_range(-0.3..0.3) * scale + t2 * rng.random_range(-0.3..0.3) * scale;
            Pose { position: na * (top + offset) - base + slip, rotation }
        }
        // A vertex (of either) or an edge pair along a random direction: separated by `offset` along it.
        1 | 2 => {
            let n = if rng.random_range(0..2) == 0 {
                a.face_normals()[rng.random_range(0..a.n_faces())]
            } else {
                unit(rng)
            };
            let rotation = random_rotation(rng);
            let (ia, _) = a.support(n);
            let (ib, _) = b.support(rotation.inverse() * -n);
            let slip = unit(rng) * rng.random_range(0.0..0.3) * scale;
            let position = a.vertices()[ia] - rotation * b.vertices()[ib]
                + n * offset
                + (slip - n * slip.dot(&n));
            Pose { position, rotation }
        }
        _ => Pose {
            position: unit(rng) * rng.random_range(0.2..1.2) * scale,
            rotation: random_rotation(rng),
        },
    }
}

struct Pair {
    a: Arc<Polyhedron>,
    b: Arc<Polyhedron>,
    pose_a: Pose,
    pose_b: Pose,
    scale: f64,
}

fn random_pair(rng: &mut Pcg64) -> Pair {
    let scale = [1.0, 1.0, 1e-3, 20.0][rng.random_range(0..4)];
    let (a, b) = (random_shape(rng, scale), random_shape(rng, scale));
    let rel = random_pose(rng, &a, &b, scale);
    let world = Pose { position: unit(rng) * 3.0 * scale, rotation: random_rotation(rng) };
    Pair { a, b, pose_a: world, pose_b: world.compose(&rel), scale }
}

fn ours(pair: &Pair, alert: f64, method: Method, cache: &mut PairCache) -> Option<Manifold> {
    let collider = |p: &Arc<Polyhedron>| Collider {
        body: 0,
        geometry: Geometry::Polyhedron(p.clone()),
        pose: Pose::IDENTITY,
        material: 0,
        movable: true,
    };
    let (ca, cb) = (collider(&pair.a), collider(&pair.b));
    let placed = (Placed::new(&ca, &pair.pose_a), Placed::new(&cb, &pair.pose_b));
    let geometries = (&ca.geometry, &cb.geometry);
    {
        let ask = Ask { alert, method, ..Ask::default() };
        narrow_phase(geometries, (&placed.0, &placed.1), &ask, cache, &mut NarrowScratch::default())
    }
}

/// Parry's tolerances are absolute and meant for sizes near 1: every pair is scaled accordingly.
fn parry(p: &Polyhedron, scale: f64) -> ConvexPolyhedron {
    let point = |v: &Vec3| ParryVector::new(v.x / scale, v.y / scale, v.z / scale);
    let points = p.vertices().iter().map(point).collect();
    let triangles: Vec<[u32; 3]> = p.triangles().collect();
    ConvexPolyhedron::from_convex_mesh(points, &triangles).expect("a closed convex mesh")
}

fn parry_pose(pose: &Pose, scale: f64) -> ParryPose {
    let (q, p) = (pose.rotation, pose.position / scale);
    ParryPose {
        translation: ParryVector::new(p.x, p.y, p.z),
        rotation: ParryRotation::from_xyzw(q.i, q.j, q.k, q.w),
    }
}

/// Separation along the best of all face normals and all edge crosses, without pruning.
fn brute_force(pair: &Pair) -> f64 {
    let (a, b) = (&pair.a, &pair.b);
    let point = |pose: &Pose, p: Vec3| pose.point(p) - pair.pose_a.position;
    let va: Vec<Vec3> = a.vertices().iter().map(|v| point(&pair.pose_a, *v)).collect();
    let vb: Vec<Vec3> = b.vertices().iter().map(|v| point(&pair.pose_b, *v)).collect();
    let along = |n: Vec3| {
        let top = va.iter().map(|v| n.dot(v)).fold(f64::NEG_INFINITY, f64::max);
        let bottom = vb.iter().map(|v| n.dot(v)).fold(f64::INFINITY, f64::min);
        bottom - top
    };
    let mut best = f64::NEG_INFINITY;
    for n in a.face_normals() {
        best = best.max(along(pair.pose_a.vector(*n)));
    }
    for n in b.face_normals() {
        best = best.max(along(-pair.pose_b.vector(*n)));
    }
    for i in 0..a.edges().len() {
        for j in 0..b.edges().len() {
            let (da, db) = (a.edge_direction(i), b.edge_direction(j));
            let cross = pair.pose_a.vector(da).cross(&pair.pose_b.vector(db));
            let length = cross.norm();
            if length > 1e-6 {
                best = best.max(along(cross / length)).max(along(-cross / length));
            }
        }
    }
    best
}

#[test]
fn separations_agree_with_parry_on_a_hundred_thousand_pairs() {
    let mut rng = Pcg64::seed_from_u64(20);
    let (mut apart, mut overlapping, mut loose, mut grazes) = (0, 0, 0, 0);
    let mut worst: f64 = 0.0;
    for round in 0..120_000 {
        let pair = random_pair(&mut rng);
        let alert = 10.0 * pair.scale;
        let ours = ours(&pair, alert, Method::SeparatingAxes, &mut PairCache::default());
        // Two sides that face each other past their ends do not touch at any distance.
        let Some(m) = ours else {
            grazes += 1;
            continue;
        };
        let (pa, pb) = (parry(&pair.a, pair.scale), parry(&pair.b, pair.scale));
        let (ia, ib) = (parry_pose(&pair.pose_a, pair.scale), parry_pose(&pair.pose_b, pair.scale));
        let separation = m.separation / pair.scale;
        if separation > 1e-4 {
            apart += 1;
            let reference = query::distance(&ia, &pa, &ib, &pb).unwrap().distance;
            // Face axes win over edges within 1e-6 of the size; parry's GJK stops near 1e-7.
            let error = (separation - reference).abs();
            worst = worst.max(error);
            assert!(error < 3e-6, "round {round}: ours {separation} parry {reference}");
        } else if separation < -1e-3 {
            overlapping += 1;
            let Ok(Some(c)) = query::contact(&ia, &pa, &ib, &pb, 0.0) else { continue };
            // Parry's EPA sometimes stops early: then the full search over all axes must agree with
            // ours.
            if (separation - c.dist).abs() > 1e-4 {
                loose += 1;
                let full = brute_force(&pair) / pair.scale;
                assert!(
                    (separation - full).abs() < 2e-6,
                    "round {round}: ours {separation} full {full}"
                );
            }
        }
    }
    assert!(grazes < 3000, "{grazes} pairs graze");
    assert!(apart + overlapping >= 100_000, "{apart} apart, {overlapping} overlapping");
    assert!(apart > 60_000 && overlapping > 15_000, "{apart} apart, {overlapping} overlapping");
    assert!(
        loose * 1000 < overlapping,
        "{loose} of {overlapping} overlaps differ; worst {worst:e}"
    );
}

#[test]
fn pruning_and_caching_never_change_the_answer_of_the_full_search() {
    let mut rng = Pcg64::seed_from_u64(21);
    for round in 0..20_000 {
        let pair = random_pair(&mut rng);
        let mut cache = PairCache::default();
        let alert = 0.05 * pair.scale;
        let first = ours(&pair, alert, Method::SeparatingAxes, &mut cache);
        let again = ours(&pair, alert, Method::SeparatingAxes, &mut cache);
        assert_eq!(first.is_some(), again.is_some(), "round {round}");
        let full = brute_force(&pair);
        let Some(m) = first else {
            // Farther than the alert distance; corners may face each other, so `full` is only a bound.
            continue;
        };
        let again = again.unwrap();
        assert_eq!(m.points(), again.points(), "round {round}: a warm cache changed the manifold");
        assert!(full <= alert + 1e-6 * pair.scale);
        if m.separation < 0.0 {
            let error = (m.separation - full).abs() / pair.scale;
            assert!(error < 2e-6, "round {round}: {} against {full}", m.separation);
        } else {
            assert!(m.separation >= full - 2e-6 * pair.scale);
        }
    }
}

#[test]
fn manifolds_have_at_most_four_points_within_alert_and_show_the_separation() {
    let mut rng = Pcg64::seed_from_u64(22);
    let mut counts = [0; 5];
    for round in 0..50_000 {
        let pair = random_pair(&mut rng);
        let alert = 0.02 * pair.scale;
        let Some(m) = ours(&pair, alert, Method::SeparatingAxes, &mut PairCache::default()) else {
            continue;
        };
        let points = m.points();
        counts[points.len()] += 1;
        assert!((m.normal.norm() - 1.0).abs() < 1e-12);
        let deepest = points.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        // Thinning keeps one of the deepest within 1e-4 of the size.
        let error = (deepest - m.separation).abs() / pair.scale;
        assert!(error < 2e-4, "round {round}: {deepest} {}", m.separation);
        let mut ids: Vec<u32> = points.iter().map(|p| p.feature).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), points.len(), "round {round}: two points share a feature {points:?}");
        for p in points {
            assert!(p.gap <= alert);
            // A contact point lies near both shapes: no farther outside than its gap and the depth.
            for (shape, pose) in [(&pair.a, &pair.pose_a), (&pair.b, &pair.pose_b)] {
                let x = pose.inverse_point(p.position);
                let outside = (0..shape.n_faces())
                    .map(|i| shape.face_normals()[i].dot(&x) - shape.face_offsets()[i])
                    .fold(f64::NEG_INFINITY, f64::max);
                assert!(
                    outside <= p.gap.abs() + m.separation.abs() + 1e-6 * pair.scale,
                    "round {round}: {outside}"
                );
            }
        }
    }
    assert!(
        counts[1] > 1000 && counts[2] > 1000 && counts[3] > 1000 && counts[4] > 1000,
        "{counts:?}"
    );
}

#[test]
fn the_common_plane_agrees_with_the_separating_axes() {
    let mut rng = Pcg64::seed_from_u64(23);
    let (mut compared, mut far) = (0, 0);
    for round in 0..6_000 {
        let pair = random_pair(&mut rng);
        let alert = 0.05 * pair.scale;
        let axes = ours(&pair, alert, Method::SeparatingAxes, &mut PairCache::default());
        let plane = ours(&pair, alert, Method::CommonPlane, &mut PairCache::default());
        let (Some(axes), Some(plane)) = (axes, plane) else { continue };
        compared += 1;
        // Both maximize the same gap; tilting stops within 1e-9 rad or on a local maximum, so it
        // never exceeds.
        let short = (axes.separation - plane.separation) / pair.scale;
        assert!(short > -2e-6, "round {round}: the plane beats the axes by {short:e}");
        if axes.separation.abs() < 0.01 * pair.scale && short > 1e-4 {
            far += 1;
        }
    }
    assert!(compared > 2000 && far * 100 < compared, "{far} of {compared} fall short");
}
