//! A detector that has followed a motion from its start, with all its caches, gives bitwise the
//! same results as a fresh one.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use riprap::detect::{
    CHUNK_POINTS, Collider, ColliderSet, ContactDetection, Detector, Geometry, Method, Query,
};
use riprap::grains::{StoneGenerator, seeded};
use riprap::math::{Pose, Quat, Twist, Vec3};
use riprap::shape::Polyhedron;
use std::sync::Arc;

fn vector(rng: &mut Pcg64) -> Vec3 {
    Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

/// A crowd of stones, boxes and balls over a half-space and a large plate, overlapping, touching and apart.
fn crowd(rng: &mut Pcg64) -> (Vec<Collider>, Vec<Pose>) {
    let mut stones = seeded(5);
    let mut geometries = vec![
        Geometry::HalfSpace(Vec3::z()),
        Geometry::Polyhedron(Arc::new(Polyhedron::cuboid([1.0, 1.0, 0.02]).unwrap())),
    ];
    for k in 0..120 {
        geometries.push(match k % 6 {
            0 => Geometry::Ball(0.02),
            1 => Geometry::Polyhedron(Arc::new(Polyhedron::cuboid([0.04; 3]).unwrap())),
            _ => {
                let stone = StoneGenerator::default().generate(0.04, &mut stones).unwrap();
                Geometry::Polyhedron(Arc::new(stone))
            }
        });
    }
    let poses = (0..geometries.len()).map(|i| match i {
        0 => Pose::at([0.0, 0.0, -0.02]),
        1 => Pose::at([0.0, 0.0, -0.01]),
        // Boxes on the plate, exactly upright and in contact.
        _ if i % 6 == 3 => {
            Pose::at([0.04 * f64::from(i as u32 / 6 % 5), 0.04 * f64::from(i as u32 / 30), 0.02])
        }
        _ => Pose {
            position: vector(rng).component_mul(&Vec3::new(0.1, 0.1, 0.07)) + Vec3::z() * 0.07,
            rotation: Quat::from_scaled_axis(vector(rng)),
        },
    });
    let poses = poses.collect();
    let collider = |(i, geometry)| Collider {
        body: i as u32,
        geometry,
        pose: Pose::IDENTITY,
        material: 0,
        movable: i > 1,
    };
    (geometries.into_iter().enumerate().map(collider).collect(), poses)
}

#[test]
fn a_warm_detector_is_bitwise_identical_to_a_fresh_one() {
    let mut rng = Pcg64::seed_from_u64(31);
    let (colliders, mut bodies) = crowd(&mut rng);
    let (mut warm, set) = (Detector::default(), ColliderSet::fresh());
    let (mut points, mut pairs) = (0, 0);
    for step in 0..800 {
        // At rest, creeping, flowing, flying, and at rest again.
        let pace = [0.0, 1e-8, 1e-6, 3e-5, 3e-4, 3e-3, 1e-5, 0.0][step / 100];
        let motion: Vec<Twist> = (0..bodies.len())
            .map(|i| {
                let free = if i > 1 { pace } else { 0.0 };
                Twist { linear: vector(&mut rng) * free, angular: vector(&mut rng) * (free / 0.02) }
            })
            .collect();
        for (q, m) in bodies.iter_mut().zip(&motion) {
            q.position += m.linear;
            q.rotation = riprap::math::turn(q.rotation, m.angular);
        }
        let reach: Vec<f64> =
            motion.iter().map(|m| m.linear.norm() + m.angular.norm() * 0.03).collect();
        let query = Query {
            colliders: &colliders,
            set,
            bodies: &bodies,
            reach: &reach,
            motion: &motion,
            alert: 4e-4,
            skin: 4e-3,
            method: Method::SeparatingAxes,
            apart: &[],
            images: None,
        };
        warm.detect(&query);
        let mut cold = Detector::default();
        cold.detect(&query);
        assert_eq!(warm.points().count(), cold.points().count(), "step {step}");
        for (w, c) in warm.points().zip(cold.points()) {
            assert_eq!(w, c, "step {step}");
        }
        points += warm.points().count();
        pairs += warm.n_near_pairs(query.alert);
    }
    assert!(pairs > 300_000 && points > 300_000, "{pairs} pairs, {points} points");
}

#[test]
fn a_detector_used_for_other_shapes_discards_its_caches() {
    let mut rng = Pcg64::seed_from_u64(32);
    let (first, bodies) = crowd(&mut rng);
    let mut second = first.clone();
    second[2..].reverse();
    for (i, c) in second.iter_mut().enumerate() {
        (c.body, c.movable) = (i as u32, i > 1);
    }
    let (reach, motion) = (vec![0.0; bodies.len()], vec![Twist::default(); bodies.len()]);
    let mut used = Detector::default();
    // All at the same address in memory, one after another.
    let mut colliders = first.clone();
    for shapes in [&first, &second, &first] {
        colliders.clone_from_slice(shapes);
        let query = Query {
            colliders: &colliders,
            set: ColliderSet::fresh(),
            bodies: &bodies,
            reach: &reach,
            motion: &motion,
            alert: 4e-4,
            skin: 4e-3,
            method: Method::SeparatingAxes,
            apart: &[],
            images: None,
        };
        let mut fresh = Detector::default();
        fresh.detect(&query);
        used.detect(&query);
        used.detect(&query);
        assert!(used.points().eq(fresh.points()));
    }
}

#[test]
fn a_detector_gives_the_same_result_wherever_its_colliders_are_in_memory() {
    let mut rng = Pcg64::seed_from_u64(33);
    let (colliders, mut bodies) = crowd(&mut rng);
    let (reach, motion) = (vec![0.0; bodies.len()], vec![Twist::default(); bodies.len()]);
    let (mut stays, mut moves, set) =
        (Detector::default(), Detector::default(), ColliderSet::fresh());
    for _ in 0..20 {
        let query = |colliders| Query {
            colliders,
            set,
            bodies: &bodies,
            reach: &reach,
            motion: &motion,
            alert: 4e-4,
            skin: 4e-3,
            method: Method::SeparatingAxes,
            apart: &[],
            images: None,
        };
        stays.detect(&query(&colliders));
        moves.detect(&query(&colliders.clone()));
        assert!(stays.points().eq(moves.points()));
        // The neighbour lists of both have the same age: a copy at another address is not mistaken
        // for other shapes.
        assert_eq!(stays.n_pairs(), moves.n_pairs());
        for q in &mut bodies[2..] {
            q.position += vector(&mut rng) * 2e-4;
        }
    }
    assert!(stays.points().count() > 100);
}

#[test]
fn points_come_in_the_order_of_their_pairs_and_a_pair_stays_in_its_chunk() {
    let mut rng = Pcg64::seed_from_u64(34);
    let (colliders, bodies) = crowd(&mut rng);
    let mut detector: Box<dyn ContactDetection> = Box::new(Detector::default());
    detector.detect(&Query {
        colliders: &colliders,
        set: ColliderSet::fresh(),
        bodies: &bodies,
        reach: &vec![0.0; bodies.len()],
        motion: &vec![Twist::default(); bodies.len()],
        alert: 4e-4,
        skin: 4e-3,
        method: Method::SeparatingAxes,
        apart: &[],
        images: None,
    });
    let chunks = detector.chunks();
    assert!(chunks.iter().all(|chunk| chunk.len() <= CHUNK_POINTS) && chunks.len() > 1);
    assert!(chunks.iter().flatten().is_sorted_by_key(|p| p.colliders));
    for two in chunks.windows(2) {
        if let (Some(last), Some(first)) = (two[0].last(), two[1].first()) {
            assert!(last.colliders < first.colliders);
        }
    }
    assert!(detector.n_near_pairs(4e-4) <= detector.n_pairs() && detector.bytes() > 0);
}
