use super::*;
use crate::math::fixtures::{Rng, pose, seeded, vector};
use crate::math::turn;

/// One meeting of every kind with random features.
fn meetings(rng: &mut Rng) -> Vec<Meeting> {
    let mut list = Vec::new();
    for k in 0..2 {
        let [normal, direction] = [0, 1].map(|_| vector(rng, 1.0).normalize());
        let (point, radius) = (vector(rng, 1.0), 0.3);
        list.push(Meeting::PointPlane { plane: k, normal, offset: 0.2, point, radius });
        let origin = vector(rng, 1.0);
        list.push(Meeting::RoundEdge { edge: k, origin, direction, centre: point, radius });
    }
    let [a, b] = [0, 1].map(|_| vector(rng, 1.0));
    list.push(Meeting::Round { centres: [a, b], radii: [0.2, 0.4] });
    let directions = [0, 1].map(|_| vector(rng, 1.0).normalize());
    list.push(Meeting::Edges { origins: [a, b], directions });
    list
}

/// A pose after a time at constant velocity.
fn after(q: &Pose, v: &Twist, t: f64) -> Pose {
    Pose { position: q.position + v.linear * t, rotation: turn(q.rotation, v.angular * t) }
}

#[test]
fn rates_of_gap_normal_and_point_are_those_of_finite_differences() {
    let mut rng = seeded(281);
    for _ in 0..50 {
        let q = [0, 1].map(|_| pose(&mut rng, 2.0));
        let v =
            [0, 1].map(|_| Twist { linear: vector(&mut rng, 1.0), angular: vector(&mut rng, 1.0) });
        for meeting in meetings(&mut rng) {
            let at = |t: f64| {
                let q = [0, 1].map(|s| after(&q[s], &v[s], t));
                meeting.at([&q[0], &q[1]], [&v[0], &v[1]])
            };
            let now = at(0.0);
            if let Meeting::Edges { directions, .. } = meeting {
                let [e, f] = [0, 1].map(|s| q[s].vector(directions[s]));
                if e.cross(&f).norm() < 0.3 {
                    continue; // nearly parallel: the differences are inaccurate
                }
            }
            // Relative velocity and acceleration at the contact point, at constant velocities.
            let velocity =
                |s: usize| v[s].linear + v[s].angular.cross(&(now.point - q[s].position));
            let s = velocity(1) - velocity(0);
            let turning = |s: usize| v[s].angular.cross(&(now.point_rate - v[s].linear));
            let s_rate = turning(1) - turning(0);
            let h = 1e-4;
            let [back, ahead] = [at(-h), at(h)];
            let scale = 1.0 + now.point_rate.norm() * (1.0 + now.normal_rate.norm());
            let close = |a: f64, b: f64| {
                assert!((a - b).abs() < 2e-5 * scale * scale, "{a} {b} {meeting:?}")
            };
            close(now.normal.dot(&s), (ahead.gap - back.gap) / (2.0 * h));
            close(
                now.normal.dot(&s_rate) + now.normal_rate.dot(&s),
                (ahead.gap - 2.0 * now.gap + back.gap) / (h * h),
            );
            for k in 0..3 {
                close(now.normal_rate[k], (ahead.normal[k] - back.normal[k]) / (2.0 * h));
                close(now.point_rate[k], (ahead.point[k] - back.point[k]) / (2.0 * h));
            }
        }
    }
}
