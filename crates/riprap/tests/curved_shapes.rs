//! Contacts of capsules, cylinders, cones and rounded polyhedra with each other and with balls, half-spaces and
//! polyhedra, against independent results: parry's distances of pairs that are apart, and a search over all
//! directions for the one along which overlapping pairs overlap least.

mod pair;

use pair::contact;
use parry3d_f64::math::{Pose as ParryPose, Rotation as ParryRotation, Vector as ParryVector};
use parry3d_f64::query;
use parry3d_f64::shape::{self as parry, ConvexPolyhedron};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use riprap::math::{Pose, Quat, Vec3, tangents};
use riprap::shape::{Core, Shape};

fn unit(rng: &mut Pcg64) -> Vec3 {
    loop {
        let v = Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        let n = v.norm();
        if n > 0.1 && n < 1.0 {
            return v / n;
        }
    }
}

fn hull(rng: &mut Pcg64) -> Shape {
    loop {
        let points: Vec<Vec3> = (0..10).map(|_| unit(rng) * 0.5).collect();
        if let Ok(p) = Shape::hull(&points) {
            return p;
        }
    }
}

/// A shape of size 1 of any kind, curved for `k < 4`.
fn shape(rng: &mut Pcg64, k: usize) -> Shape {
    let made = match k {
        0 => Shape::capsule(rng.random_range(0.05..0.5), rng.random_range(0.1..1.0)),
        1 => Shape::cylinder(rng.random_range(0.1..0.5), rng.random_range(0.1..1.0)),
        2 => Shape::cone(rng.random_range(0.1..0.5), rng.random_range(0.2..1.0)),
        3 => Shape::rounded(&hull(rng), rng.random_range(0.02..0.3)),
        4 => Shape::sphere(rng.random_range(0.1..0.5)),
        5 => Shape::cuboid([0.5, 0.8, 0.3]),
        _ => Ok(hull(rng)),
    };
    made.unwrap()
}

fn turn(rng: &mut Pcg64) -> Quat {
    Quat::from_scaled_axis(unit(rng) * rng.random_range(0.0..3.0))
}

/// Height of a shape along a direction of the world.
fn height((shape, pose): (&Shape, &Pose), n: Vec3) -> f64 {
    let d = pose.inverse_vector(n);
    let own = match shape {
        Shape::Sphere { radius } => *radius,
        Shape::Polyhedron(p) => p.support(d).1,
        Shape::Curved(c) => c.height(d),
        _ => unreachable!(),
    };
    n.dot(&pose.position) + own
}

fn separation(a: (&Shape, &Pose), b: (&Shape, &Pose), n: Vec3) -> f64 {
    -height(b, -n) - height(a, n)
}

/// The largest separation over all directions, by tilting the best of many.
fn searched(a: (&Shape, &Pose), b: (&Shape, &Pose), rng: &mut Pcg64) -> f64 {
    let mut starts: Vec<(f64, Vec3)> =
        (0..400).map(|_| unit(rng)).map(|n| (separation(a, b, n), n)).collect();
    starts.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut best = f64::NEG_INFINITY;
    for (mut s, mut n) in starts.into_iter().take(6) {
        let mut angle = 0.2;
        while angle > 1e-8 {
            let (t1, t2) = tangents(n);
            let spin: f64 = rng.random_range(0.0..6.3);
            let tilted = (0..12).map(|k| spin + std::f64::consts::TAU * f64::from(k) / 12.0);
            let tilted = tilted.map(|at| (n + (t1 * at.cos() + t2 * at.sin()) * angle).normalize());
            let found = tilted.map(|m| (separation(a, b, m), m)).max_by(|x, y| x.0.total_cmp(&y.0));
            match found {
                Some(found) if found.0 > s => (s, n) = found,
                _ => angle *= 0.7,
            }
        }
        best = best.max(s);
    }
    best
}

fn to_parry(shape: &Shape) -> (Box<dyn parry::Shape>, Quat) {
    let upright = Quat::from_scaled_axis(Vec3::x() * std::f64::consts::FRAC_PI_2);
    let vector = |v: &Vec3| ParryVector::new(v.x, v.y, v.z);
    let polyhedron = |p: &riprap::shape::Polyhedron| {
        ConvexPolyhedron::from_convex_hull(&p.vertices().iter().map(vector).collect::<Vec<_>>())
            .unwrap()
    };
    match shape {
        Shape::Sphere { radius } => (Box::new(parry::Ball::new(*radius)), Quat::identity()),
        Shape::Polyhedron(p) => (Box::new(polyhedron(p)), Quat::identity()),
        Shape::Curved(c) => match c.core() {
            Core::Segment { half } => (Box::new(parry::Capsule::new_y(*half, c.radius())), upright),
            Core::Cylinder { radius, half } => {
                (Box::new(parry::Cylinder::new(*half, *radius)), upright)
            }
            Core::Cone { radius, half } => (Box::new(parry::Cone::new(*half, *radius)), upright),
            Core::Hull(p) => (
                Box::new(parry::RoundShape {
                    inner_shape: polyhedron(p),
                    border_radius: c.radius(),
                }),
                Quat::identity(),
            ),
        },
        _ => unreachable!(),
    }
}

fn parry_pose(pose: &Pose, turn: Quat) -> ParryPose {
    let q = (pose.rotation * turn).into_inner().coords;
    let p = pose.position;
    ParryPose::from_parts(
        ParryVector::new(p.x, p.y, p.z),
        ParryRotation::from_xyzw(q.x, q.y, q.z, q.w),
    )
}

/// b beside a along a random direction, apart by `gap` along it.
fn beside(rng: &mut Pcg64, a: &Shape, b: &Shape, gap: f64) -> (Pose, Pose) {
    let at = Pose { position: unit(rng) * 3.0, rotation: turn(rng) };
    let mut other = Pose { position: Vec3::zeros(), rotation: turn(rng) };
    let n = unit(rng);
    let s = separation((a, &at), (b, &other), n);
    other.position = n * (gap - s);
    (at, other)
}

/// b overlapping a by `depth`, as found: moved along the normal.
fn overlapping(rng: &mut Pcg64, a: &Shape, b: &Shape, depth: f64) -> (Pose, Pose) {
    let (at, mut other) = beside(rng, a, b, 0.01);
    for _ in 0..30 {
        let m = contact((a, &at), (b, &other), 100.0).unwrap();
        other.position -= m.normal * (m.separation + depth);
    }
    (at, other)
}

#[test]
fn distances_of_curved_shapes_agree_with_parry() {
    let mut rng = Pcg64::seed_from_u64(71);
    let mut tested = 0;
    for trial in 0..2400 {
        let (k, l) = (trial % 4, trial / 4 % 7);
        let (a, b) = (shape(&mut rng, k), shape(&mut rng, l));
        let gap = 10f64.powf(rng.random_range(-4.0..-0.3));
        let (pa, pb) = beside(&mut rng, &a, &b, gap);
        let ((sa, ta), (sb, tb)) = (to_parry(&a), to_parry(&b));
        let expected = query::distance(&parry_pose(&pa, ta), &*sa, &parry_pose(&pb, tb), &*sb);
        let expected = expected.unwrap().distance;
        let Some(m) = contact((&a, &pa), (&b, &pb), 10.0) else { panic!("{k} {l}: nothing") };
        if expected <= 0.0 {
            continue;
        }
        tested += 1;
        // The separation along any direction is at most the distance, which is at most that of any two points: here
        // both are equal.
        let s = separation((&a, &pa), (&b, &pb), m.normal);
        assert!((s - m.separation).abs() < 1e-9, "{k} {l}: {s:e} {:e}", m.separation);
        // parry's own search stops earlier than ours.
        let error = (m.separation - expected).abs();
        assert!(error < 2e-5, "{k} {l}: {:e} instead of {expected:e}", m.separation);
        assert!(contact((&a, &pa), (&b, &pb), m.separation - 1e-6).is_none());
    }
    assert!(tested > 1500, "{tested}");
}

#[test]
fn no_direction_separates_overlapping_curved_shapes_better() {
    let mut rng = Pcg64::seed_from_u64(72);
    let mut deeper = Vec::new();
    for trial in 0..700 {
        let (k, l) = (trial % 4, trial / 4 % 7);
        let (a, b) = (shape(&mut rng, k), shape(&mut rng, l));
        let depth = 10f64.powf(rng.random_range(-7.0..-1.5));
        let (pa, pb) = overlapping(&mut rng, &a, &b, depth);
        let expected = searched((&a, &pa), (&b, &pb), &mut rng);
        let Some(m) = contact((&a, &pa), (&b, &pb), 1.0) else {
            panic!("{trial}: {k} {l}: nothing at {expected:e}")
        };
        // Of overlaps below 1e-3 of the size, a flat side that fits is preferred to a rim or an edge that
        // overlaps somewhat less; beyond, the search tilts in steps down to 1e-8.
        let allowed = if m.separation > -1e-3 { 5.0 * expected - 1e-6 } else { expected - 1e-7 };
        if m.separation <= allowed {
            deeper.push(format!("{trial}: {k} {l}: {:e} instead of {expected:e}", m.separation));
        }
        let s = separation((&a, &pa), (&b, &pb), m.normal);
        assert!((s - m.separation).abs() < 1e-9, "{k} {l}: {s:e} {:e}", m.separation);
        let deepest = m.points().iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        assert!((deepest - m.separation).abs() < 2e-6, "{k} {l}: {deepest:e} {:e}", m.separation);
    }
    assert!(deeper.is_empty(), "{deeper:#?}");
}

#[test]
fn exchanged_shapes_have_the_same_contact_reversed() {
    let mut rng = Pcg64::seed_from_u64(73);
    for trial in 0..700 {
        let (k, l) = (trial % 4, trial / 4 % 7);
        let (a, b) = (shape(&mut rng, k), shape(&mut rng, l));
        let gap = rng.random_range(-0.01..0.05);
        let (pa, pb) = overlapping(&mut rng, &a, &b, -gap);
        let there = contact((&a, &pa), (&b, &pb), 1.0).unwrap();
        let back = contact((&b, &pb), (&a, &pa), 1.0).unwrap();
        assert!((there.separation - back.separation).abs() < 1e-5, "{k} {l}");
    }
}

#[test]
fn deep_overlap_and_coincident_centres_give_finite_contacts() {
    let mut rng = Pcg64::seed_from_u64(74);
    for trial in 0..280 {
        let (k, l) = (trial % 4, trial / 4 % 7);
        let (a, b) = (shape(&mut rng, k), shape(&mut rng, l));
        let pose = Pose { position: unit(&mut rng), rotation: turn(&mut rng) };
        let other = match trial % 3 {
            0 => pose,
            1 => Pose { rotation: turn(&mut rng), ..pose },
            _ => Pose { position: pose.position + unit(&mut rng) * 0.05, ..pose },
        };
        let m = contact((&a, &pose), (&b, &other), 0.0).unwrap();
        assert!((m.normal.norm() - 1.0).abs() < 1e-12, "{k} {l}");
        assert!(m.separation < 0.0 && m.separation.is_finite() && !m.points().is_empty());
        assert!(m.points().iter().all(|p| p.position.iter().all(|x| x.is_finite())));
    }
}

#[test]
fn tiny_and_large_shapes_touch_like_those_of_size_one() {
    for scale in [1e-3, 1.0, 20.0] {
        let a = Shape::cylinder(0.3 * scale, 1.0 * scale).unwrap();
        let b = Shape::rounded(&Shape::cuboid([scale; 3]).unwrap(), 0.1 * scale).unwrap();
        let gap = 1e-6 * scale;
        // Standing on the box, then lying on it.
        let top = 0.6 * scale + gap;
        let standing = Pose::at([0.0, 0.0, top + 0.5 * scale]);
        let lying = Pose::at([0.0, 0.0, top + 0.3 * scale])
            .turned([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
        for (pose, n) in [(standing, 4), (lying, 2)] {
            let m = contact((&b, &Pose::IDENTITY), (&a, &pose), 1e-3 * scale).unwrap();
            assert_eq!(m.points().len(), n);
            assert!((m.normal - Vec3::z()).norm() < 1e-12);
            for p in m.points() {
                assert!((p.gap - gap).abs() < 1e-12 * scale, "{:e}", p.gap);
            }
        }
    }
}

#[test]
fn event_driven_runs_refuse_curved_shapes_by_name() {
    use riprap::prelude::*;
    let m = Material::new("rock").density(2700.0);
    let mut scene = Scene::builder();
    let log = BodyDescription::new(Shape::capsule(0.1, 0.3).unwrap(), &m).named("log");
    scene.add(log, &m);
    let error = Simulation::new(scene.build().unwrap(), RigidEvents::new(1e-3)).err().unwrap();
    let text = error.to_string();
    assert!(text.contains("`log`") && text.contains("moreau-jean"), "{text}");
}
