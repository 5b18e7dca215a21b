//! Features that meet at detected points: their gaps and rates compared with those of detection along a motion.

use rand::RngExt;
use riprap::detect::{
    Collider, ColliderSet, ContactPoint, Detector, Geometry, Meeting, Method, Query,
};
use riprap::grains::{Pcg64, seeded};
use riprap::math::{Pose, Quat, Twist, Vec3, turn};
use riprap::shape::{Polygon, Polyhedron};
use std::sync::Arc;

fn vector(rng: &mut Pcg64) -> Vec3 {
    Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

/// Two colliders on two bodies; `shift` places the second away from the origin of its body.
fn pair(geometries: [Geometry; 2], shift: Pose) -> [Collider; 2] {
    let mut index = 0;
    geometries.map(|geometry| {
        let pose = if index == 0 { Pose::IDENTITY } else { shift };
        index += 1;
        Collider { body: index - 1, geometry, pose, material: 0, movable: true }
    })
}

/// Points found at two poses within a distance [m].
fn points(colliders: &[Collider; 2], bodies: &[Pose; 2], alert: f64) -> Vec<ContactPoint> {
    let mut detector = Detector::default();
    detector.detect(&Query {
        colliders,
        set: ColliderSet::fresh(),
        bodies,
        reach: &[0.0; 2],
        motion: &[Twist::default(); 2],
        alert,
        skin: 1e-3,
        method: Method::SeparatingAxes,
        apart: &[],
        images: None,
    });
    detector.points().copied().collect()
}

fn cuboid(size: [f64; 3]) -> Geometry {
    Geometry::Polyhedron(Arc::new(Polyhedron::cuboid(size).unwrap()))
}

/// Bodies after a time at constant velocities.
fn after(bodies: &[Pose; 2], v: &[Twist; 2], t: f64) -> [Pose; 2] {
    [0, 1].map(|s| Pose {
        position: bodies[s].position + v[s].linear * t,
        rotation: turn(bodies[s].rotation, v[s].angular * t),
    })
}

/// Kinds of meetings.
fn kind(meeting: &Meeting) -> &'static str {
    match meeting {
        Meeting::PointPlane { .. } => "plane",
        Meeting::Round { .. } => "round",
        Meeting::RoundEdge { .. } => "round edge",
        Meeting::Edges { .. } => "edges",
    }
}

/// Geometries, where the second body is when they nearly touch, and what must meet.
fn table() -> Vec<([Geometry; 2], Pose, &'static str)> {
    let ball = || Geometry::Ball(0.1);
    let cube = || cuboid([0.2; 3]);
    let half = || Geometry::HalfSpace(Vec3::z());
    let quarter = std::f64::consts::FRAC_PI_4;
    let edge_on = Quat::from_axis_angle(&Vec3::y_axis(), quarter);
    let on_corner = {
        // A diagonal of the cube points down.
        let diagonal = Vec3::new(-1.0, -1.0, -1.0).normalize();
        Quat::rotation_between(&diagonal, &-Vec3::z()).unwrap()
    };
    let (edge, corner) = (0.1 * 2f64.sqrt(), 0.1 * 3f64.sqrt());
    let at =
        |z: f64, rotation: Quat| Pose { position: Vec3::new(0.013, 0.021, z + 1e-4), rotation };
    let upright = Quat::identity();
    let across = Quat::from_axis_angle(&Vec3::z_axis(), 2.0 * quarter) * edge_on;
    vec![
        ([ball(), ball()], at(0.199, upright), "round"),
        ([half(), ball()], at(0.1, upright), "plane"),
        ([half(), cube()], at(0.1, upright), "plane"),
        ([half(), cube()], at(edge, edge_on), "plane"),
        ([half(), cube()], at(corner, on_corner), "plane"),
        ([cube(), ball()], at(0.2, upright), "plane"),
        ([cube(), cube()], at(0.2, upright), "plane"),
        ([cube(), cube()], at(0.1 + corner, on_corner), "plane"),
        ([cube(), cube()], at(0.1 + edge, edge_on), "plane"),
        ([cube(), cube()], at(2.0 * edge, across), "edges"),
    ]
}

#[test]
fn the_features_of_a_detected_point_have_its_gap_normal_and_place() {
    for (geometries, second, expected) in table() {
        // Once as given and once with the first body turned by 45° about y for edges that cross.
        let first = match expected {
            "edges" => Quat::from_axis_angle(&Vec3::y_axis(), std::f64::consts::FRAC_PI_4),
            _ => Quat::identity(),
        };
        let frame = Pose {
            position: Vec3::new(3.0, -1.0, 2.0),
            rotation: Quat::from_scaled_axis(Vec3::new(0.4, -1.1, 0.7)),
        };
        for (placed, shift) in [
            (Pose::IDENTITY, Pose::IDENTITY),
            (frame, Pose::at([0.3, 0.1, -0.2]).turned([0.0, 1.0, 0.0], 0.8)),
        ] {
            // The shape is where it was, its body somewhere else.
            let back = Pose {
                position: -shift.inverse_vector(shift.position),
                rotation: shift.rotation.inverse(),
            };
            let bodies = [Pose { position: Vec3::zeros(), rotation: first }, second.compose(&back)]
                .map(|q| placed.compose(&q));
            let colliders = pair(geometries.clone(), shift);
            let found = points(&colliders, &bodies, 1e-2);
            assert!(!found.is_empty(), "{expected}: {geometries:?}");
            for p in &found {
                let meeting =
                    Meeting::of([&colliders[0], &colliders[1]], [&bodies[0], &bodies[1]], p);
                assert_eq!(kind(&meeting), expected, "{geometries:?}");
                let now = meeting.at([&bodies[0], &bodies[1]], [&Twist::default(); 2]);
                assert!((now.gap - p.gap).abs() < 1e-12, "{expected}: {} {}", now.gap, p.gap);
                assert!((now.normal - p.normal).norm() < 1e-9, "{expected}");
                // On one of the two surfaces, along the normal.
                let off = now.point - p.point;
                assert!((off - p.normal * p.normal.dot(&off)).norm() < 1e-9, "{expected}: {off}");
                assert!(off.norm() <= 0.5 * p.gap.abs() + 1e-9, "{expected}");
                assert!(now.normal_rate.norm() == 0.0 && now.point_rate.norm() == 0.0);
            }
        }
    }
}

#[test]
fn a_ball_meets_faces_edges_and_corners_of_a_cube() {
    let colliders = pair([cuboid([0.2; 3]), Geometry::Ball(0.05)], Pose::IDENTITY);
    let out = |v: [f64; 3]| Vec3::from(v).normalize();
    for (from, direction, expected) in [
        ([0.1, 0.02, -0.03], out([1.0, 0.0, 0.0]), "plane"),
        ([0.1, 0.1, 0.04], out([1.0, 0.7, 0.0]), "round edge"),
        ([0.1, 0.1, 0.1], out([1.0, 0.8, 0.6]), "round"),
    ] {
        let at = Vec3::from(from) + direction * 0.0505;
        let bodies = [Pose::IDENTITY, Pose::at(at.into())];
        let found = points(&colliders, &bodies, 1e-2);
        assert_eq!(found.len(), 1, "{expected}");
        let meeting =
            Meeting::of([&colliders[0], &colliders[1]], [&bodies[0], &bodies[1]], &found[0]);
        assert_eq!(kind(&meeting), expected);
        // Moved along the surface, the ball keeps its distance from an edge and from a face, not from a corner.
        let place = |by: Vec3| {
            let moved = Pose::at((at + by).into());
            meeting.at([&bodies[0], &moved], [&Twist::default(); 2])
        };
        assert!((place(Vec3::zeros()).gap - 5e-4).abs() < 1e-12);
        let along = Vec3::z() * 0.01;
        let expected_gap = match expected {
            "round" => (direction * 0.0505 + along).norm() - 0.05,
            _ => 5e-4,
        };
        assert!((place(along).gap - expected_gap).abs() < 1e-12, "{expected}");
    }
}

#[test]
fn rates_are_those_of_detected_gaps_along_a_motion() {
    let mut rng = seeded(61);
    let mut compared = [0; 4];
    let order = ["plane", "round", "round edge", "edges"];
    for (geometries, second, expected) in table() {
        for _ in 0..8 {
            let first = match expected {
                "edges" => Quat::from_axis_angle(&Vec3::y_axis(), std::f64::consts::FRAC_PI_4),
                _ => Quat::identity(),
            };
            // Tilted a little, so that a single pair of features is nearest.
            let mut bodies = [Pose { position: Vec3::zeros(), rotation: first }, second];
            bodies[1].rotation = turn(bodies[1].rotation, vector(&mut rng) * 0.02);
            bodies[1].position += Vec3::z() * 4e-3;
            let colliders = pair(geometries.clone(), Pose::IDENTITY);
            let v = [0, 1].map(|_| Twist { linear: vector(&mut rng), angular: vector(&mut rng) });
            let found = points(&colliders, &bodies, 2e-2);
            let Some(p) = found.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)) else { continue };
            let meeting = Meeting::of([&colliders[0], &colliders[1]], [&bodies[0], &bodies[1]], p);
            let now = meeting.at([&bodies[0], &bodies[1]], [&v[0], &v[1]]);
            let velocity =
                |s: usize| v[s].linear + v[s].angular.cross(&(now.point - bodies[s].position));
            let rate = now.normal.dot(&(velocity(1) - velocity(0)));
            let h = 1e-5;
            let gap = |t: f64| {
                let moved = after(&bodies, &v, t);
                let all = points(&colliders, &moved, 2e-2);
                all.into_iter().find(|q| q.feature == p.feature).map(|q| (q.gap, q.normal))
            };
            let (Some(back), Some(ahead)) = (gap(-h), gap(h)) else { continue };
            let turned = now.normal_rate * (2.0 * h);
            // Where detection has moved on to other features, its normal jumps.
            if (ahead.1 - back.1 - turned).norm() > 1e-6 {
                continue;
            }
            let difference = (ahead.0 - back.0) / (2.0 * h);
            // Second differences of gaps of 1e-2 m over 1e-5 s.
            assert!((difference - rate).abs() < 1e-4, "{}: {difference} {rate}", kind(&meeting));
            compared[order.iter().position(|k| *k == kind(&meeting)).unwrap()] += 1;
        }
    }
    assert!(compared[0] > 20 && compared[1] > 4 && compared[3] > 4, "{compared:?}");
}

#[test]
fn polygons_meet_with_a_corner_on_a_side() {
    let square = || {
        let corners = vec![[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]];
        Geometry::Polygon(Arc::new(Polygon::from_corners(corners, 1.0).unwrap()))
    };
    let colliders = pair([square(), square()], Pose::IDENTITY);
    for angle in [0.0, 0.2, -0.5] {
        let rotation = Quat::from_axis_angle(&Vec3::z_axis(), angle);
        let low = 0.1 * (f64::cos(angle) + f64::sin(angle).abs());
        let at = Vec3::new(0.02, 0.1 + low + 1e-3, 0.0);
        let bodies = [Pose::IDENTITY, Pose { position: at, rotation }];
        let found = points(&colliders, &bodies, 5e-3);
        assert_eq!(found.len(), if angle == 0.0 { 2 } else { 1 }, "{angle}");
        for p in &found {
            let meeting = Meeting::of([&colliders[0], &colliders[1]], [&bodies[0], &bodies[1]], p);
            let Meeting::PointPlane { normal, offset, radius, .. } = meeting else {
                panic!("{angle}")
            };
            assert!((normal.norm() - 1.0).abs() < 1e-12 && (offset - 0.1).abs() < 1e-12);
            assert_eq!(radius, 0.0);
            let spin = Twist { linear: Vec3::zeros(), angular: Vec3::z() * 2.0 };
            let now = meeting.at([&bodies[0], &bodies[1]], [&Twist::default(), &spin]);
            assert!((now.gap - 1e-3).abs() < 1e-12 && now.point_rate.z == 0.0, "{angle}");
        }
    }
}

#[test]
fn a_chosen_point_and_plane_follow_their_bodies() {
    let meeting = Meeting::chosen(Vec3::y(), [Vec3::new(0.0, 0.5, 0.0), Vec3::new(0.2, -0.1, 0.0)]);
    let plane = Pose::at([0.0, 1.0, 0.0]).turned([0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_2);
    let other = Pose::at([-2.0, 0.0, 0.0]);
    let still = Twist::default();
    // The normal points along −x and the plane is at x = −0.5; the point is at x = −1.8.
    let now = meeting.at([&plane, &other], [&still, &still]);
    assert!((now.gap - 1.3).abs() < 1e-12 && (now.normal + Vec3::x()).norm() < 1e-12);
    // It approaches at 3 m/s while the plane turns about its body.
    let v = Twist { linear: Vec3::x() * 3.0, angular: Vec3::zeros() };
    let spin = Twist { linear: Vec3::zeros(), angular: Vec3::z() * 0.5 };
    let now = meeting.at([&plane, &other], [&spin, &v]);
    assert!((now.normal_rate - Vec3::new(0.0, -0.5, 0.0)).norm() < 1e-12, "{}", now.normal_rate);
}
