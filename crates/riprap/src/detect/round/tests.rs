//! Balls, half-spaces and polyhedra: closed forms, sampled surfaces, and both orders of each pair.

use super::*;
use crate::detect::testing::{placed, pose, shape, unit};
use crate::math::Pose;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

#[test]
fn two_balls_touch_on_the_line_between_their_centres() {
    let mut rng = Pcg64::seed_from_u64(71);
    for _ in 0..200 {
        let (ra, rb) = (rng.random_range(0.1..1.0), rng.random_range(0.1..1.0));
        let (ca, n) = (unit(&mut rng), unit(&mut rng));
        let gap = rng.random_range(-0.05..0.05);
        let cb = ca + n * (ra + rb + gap);
        let m = ball_ball((ca, ra), (cb, rb), 0.1).unwrap();
        assert!((m.normal - n).norm() < 1e-14 && (m.separation - gap).abs() < 1e-14);
        assert!((m.points()[0].position - (ca + n * (ra + 0.5 * gap))).norm() < 1e-14);
        let other = ball_ball((cb, rb), (ca, ra), 0.1).unwrap();
        // One radius is subtracted after the other.
        assert!((other.separation - m.separation).abs() < 1e-15);
        assert_eq!(other.normal, -m.normal);
        assert!(ball_ball((ca, ra), (cb, rb), gap - 1e-9).is_none());
    }
    let m = ball_ball((Vec3::zeros(), 1.0), (Vec3::zeros(), 0.5), 0.0).unwrap();
    assert_eq!((m.normal.norm(), m.separation), (1.0, -1.5), "concentric: any normal");
}

#[test]
fn the_distance_of_a_ball_from_a_polyhedron_agrees_with_sampled_points() {
    let mut rng = Pcg64::seed_from_u64(72);
    let (mut outside, mut within) = (0, 0);
    for _ in 0..300 {
        let p = shape(&mut rng);
        let at = pose(&mut rng, 1.0);
        let spot = placed(&at, p.outer_radius());
        let radius = rng.random_range(0.01..0.3);
        let c = p.centre() + unit(&mut rng) * p.outer_radius() * rng.random_range(0.0..1.3);
        let m = polyhedron_ball((&p, &spot), (at.point(c), radius), f64::INFINITY).unwrap();
        let size = p.outer_radius();
        let height = |i: usize| p.face_normals()[i].dot(&c) - p.face_offsets()[i];
        let top = (0..p.n_faces()).map(height).fold(f64::NEG_INFINITY, f64::max);
        if top <= 0.0 {
            // Inside: the nearest way out.
            assert!((m.separation - (top - radius)).abs() < 1e-13 * size);
            within += 1;
            continue;
        }
        // No point of the shape is nearer, and the foot of the normal is on it.
        let distance = m.separation + radius;
        let foot = at.inverse_vector(-m.normal) * distance + c;
        for i in 0..p.n_faces() {
            let over = p.face_normals()[i].dot(&foot) - p.face_offsets()[i];
            assert!(over < 1e-9 * size, "{over}");
        }
        for _ in 0..100 {
            let mut x = Vec3::zeros();
            let weights: Vec<f64> =
                p.vertices().iter().map(|_| rng.random_range(0.0f64..1.0).powi(4)).collect();
            let sum: f64 = weights.iter().sum();
            p.vertices().iter().zip(&weights).for_each(|(v, w)| x += v * (w / sum));
            assert!((x - c).norm() > distance * (1.0 - 1e-9));
        }
        outside += 1;
    }
    assert!(outside > 80 && within > 80, "{outside} {within}");
}

#[test]
fn a_half_space_finds_the_lowest_corners() {
    let mut rng = Pcg64::seed_from_u64(73);
    let mut candidates = Vec::new();
    for _ in 0..300 {
        let p = shape(&mut rng);
        let at = pose(&mut rng, 1.0);
        let spot = placed(&at, p.outer_radius());
        let (n, origin) = (unit(&mut rng), unit(&mut rng));
        let height = |v: &Vec3| n.dot(&(at.point(*v) - origin));
        let lowest = p.vertices().iter().map(height).fold(f64::INFINITY, f64::min);
        let alert = lowest + 0.05 * p.outer_radius();
        let ask = Ask { alert, ..Ask::default() };
        let m = half_space_polyhedron((n, origin), (&p, &spot), &ask, &mut candidates).unwrap();
        assert!((m.separation - lowest).abs() < 1e-12);
        assert!((1..=4).contains(&m.points().len()));
        for point in m.points() {
            let v = &p.vertices()[point.feature as usize];
            assert!((point.gap - height(v)).abs() < 1e-12 && point.gap <= alert);
            let midway = at.point(*v) - n * (0.5 * point.gap);
            assert!((point.position - midway).norm() < 1e-12);
        }
        let nearest = m.points().iter().map(|x| x.gap).fold(f64::INFINITY, f64::min);
        assert!((nearest - lowest).abs() < 1e-4 * p.outer_radius() + 1e-12);
        let short = Ask { alert: lowest - 1e-6, ..ask };
        assert!(half_space_polyhedron((n, origin), (&p, &spot), &short, &mut candidates).is_none());
    }
}

#[test]
fn the_gap_of_a_ball_on_a_half_space_is_its_height() {
    let m = half_space_ball((Vec3::z(), Vec3::new(5.0, 3.0, 1.0)), (Vec3::z() * 1.45, 0.5), 0.1);
    let m = m.unwrap();
    assert!((m.separation + 0.05).abs() < 1e-15 && m.normal == Vec3::z());
    assert!((m.points()[0].position - Vec3::z() * 0.975).norm() < 1e-15);
    assert!(half_space_ball((Vec3::z(), Vec3::zeros()), (Vec3::z() * 2.0, 0.5), 0.1).is_none());
}

#[test]
fn gaps_do_not_depend_on_the_world_frame() {
    let mut rng = Pcg64::seed_from_u64(74);
    for _ in 0..200 {
        let p = shape(&mut rng);
        let (at, world) = (pose(&mut rng, 1.0), pose(&mut rng, 3.0));
        let c = at.point(p.centre() + unit(&mut rng) * p.outer_radius());
        let gap = |at: &Pose, c: Vec3| {
            let spot = placed(at, p.outer_radius());
            let m = polyhedron_ball((&p, &spot), (c, 0.1), f64::INFINITY).unwrap();
            (m.separation, m.normal)
        };
        let (here, there) = (gap(&at, c), gap(&world.compose(&at), world.point(c)));
        // Coordinates of a few metres.
        let far = 1e-14 * (10.0 + p.outer_radius());
        assert!((here.0 - there.0).abs() < far, "{} {}", here.0, there.0);
        if here.0 > -0.1 + 1e-3 * p.outer_radius() {
            assert!((world.vector(here.1) - there.1).norm() < 1e-9);
        }
    }
}
