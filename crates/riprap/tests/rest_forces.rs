//! Unique forces of single bodies against closed forms: tables on many legs, grooves, pushes up to the limit of friction,
//! and loads outside of the supports.

use riprap::friction::{
    ContactStatus, Factored, ForceLaw, InverseMass, Law, RestError, RestForces, RestProblem,
    RestSolution,
};
use riprap::math::{Mat3, Vec3, tangents};

/// A body at the origin with contacts to the ground, and the resultant that they must have.
#[derive(Default)]
struct Body {
    contacts: Factored,
    laws: Vec<Law>,
    stiffness: Vec<f64>,
    points: Vec<Vec3>,
    required: [[f64; 6]; 1],
}

impl Body {
    /// A body that is pressed down by a load [N] at a point.
    fn loaded(load: Vec3, at: Vec3) -> Body {
        let mut body = Body::default();
        let free = InverseMass { linear: [1.0; 3], angular: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0] };
        body.contacts.reset(std::iter::once(free));
        let moment = at.cross(&load);
        body.required = [[-load.x, -load.y, -load.z, -moment.x, -moment.y, -moment.z]];
        body
    }

    fn touch(&mut self, point: Vec3, normal: Vec3, friction: f64, stiffness: f64) {
        let (t1, t2) = tangents(normal);
        let frame = [normal, t1, t2].map(Into::into);
        self.contacts.push([Factored::NONE, 0], frame, [[0.0; 3], point.into()]);
        self.laws.push(Law::Coulomb { friction });
        self.stiffness.push(stiffness);
        self.points.push(point);
    }

    fn solve(&self, rest: &RestForces) -> RestSolution {
        let problem = RestProblem {
            stiffness: &self.stiffness,
            ..RestProblem::new(&self.contacts, &self.laws, &self.required)
        };
        rest.solve(&problem, &mut Vec::new()).unwrap()
    }

    /// Forces in the world frame [N].
    fn in_world(&self, found: &RestSolution) -> Vec<Vec3> {
        let contacts = self.contacts.contacts().iter().zip(&found.forces);
        contacts.map(|(c, f)| (0..3).map(|i| Vec3::from(c.frame[i]) * f[i]).sum()).collect()
    }
}

/// A table with legs at the corners of a polygon, uneven stiffnesses and a load [N] at a place of its top.
fn table(legs: usize, load: f64, x: f64, y: f64, friction: f64) -> Body {
    let mut table = Body::loaded(Vec3::new(0.0, 0.0, -load), Vec3::new(x, y, 0.7));
    for k in 0..legs {
        let angle = std::f64::consts::TAU * k as f64 / legs as f64 + 0.2;
        let foot = Vec3::new(angle.cos(), 0.6 * angle.sin(), -0.3);
        table.touch(foot, Vec3::z(), friction, 1.0 + 0.3 * (k % 4) as f64);
    }
    table
}

#[test]
fn a_table_on_any_number_of_legs_has_the_forces_of_its_springs() {
    for legs in [3, 4, 5, 12, 60] {
        for (x, y) in [(0.0, 0.0), (0.1, -0.05), (-0.12, 0.02)] {
            let table = table(legs, 100.0, x, y, 0.0);
            let found = table.solve(&RestForces::new());
            assert!(found.report.converged, "{legs} legs: {:?}", found.report);
            // f = k (a + b x + c y), with the load and its moments.
            let (mut sums, mut right) = (Mat3::zeros(), Vec3::new(100.0, 100.0 * x, 100.0 * y));
            for (p, k) in table.points.iter().zip(&table.stiffness) {
                let row = Vec3::new(1.0, p.x, p.y);
                sums += row * row.transpose() * *k;
            }
            right = sums.try_inverse().unwrap() * right;
            for ((f, p), k) in found.forces.iter().zip(&table.points).zip(&table.stiffness) {
                let expected = k * right.dot(&Vec3::new(1.0, p.x, p.y));
                assert!((f[0] - expected).abs() < 1e-7, "{legs} legs: {} {expected}", f[0]);
            }
        }
    }
}

#[test]
fn forces_scale_with_the_load_under_linear_and_hertzian_springs() {
    for law in [ForceLaw::Linear, ForceLaw::Hertz] {
        let rest = RestForces::new().law(law);
        let one = table(5, 1.0, 0.2, 0.1, 0.5).solve(&rest);
        for scale in [1e-6, 1e3, 1e8] {
            let other = table(5, scale, 0.2, 0.1, 0.5).solve(&rest);
            assert!(other.report.converged, "{scale}: {:?}", other.report);
            for (a, b) in one.forces.as_flattened().iter().zip(other.forces.as_flattened()) {
                assert!((a * scale - b).abs() < 1e-6 * scale, "{scale}: {a} {b}");
            }
            assert_eq!(one.status, other.status, "{scale}");
        }
    }
}

#[test]
fn three_legs_carry_their_barycentric_parts_whatever_the_springs() {
    let feet = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(-0.5, 0.8, 0.0), Vec3::new(-0.4, -0.9, 0.0)];
    for parts in [[0.2, 0.3, 0.5], [0.8, 0.15, 0.05], [0.0, 0.5, 0.5]] {
        let at: Vec3 = feet.iter().zip(parts).map(|(f, p)| f * p).sum();
        for law in [ForceLaw::Linear, ForceLaw::Hertz] {
            let mut stool = Body::loaded(Vec3::new(0.0, 0.0, -60.0), at);
            for (k, foot) in feet.iter().enumerate() {
                stool.touch(*foot, Vec3::z(), 0.0, 1.0 + 5.0 * k as f64);
            }
            let found = stool.solve(&RestForces::new().law(law.clone()));
            assert!(found.report.converged, "{parts:?}, {law:?}: {:?}", found.report);
            for (f, part) in found.forces.iter().zip(parts) {
                // A leg without load is at the kink of Hertz's law.
                assert!((f[0] - 60.0 * part).abs() < 1e-5, "{parts:?}, {law:?}: {}", f[0]);
            }
        }
    }
}

#[test]
fn legs_never_pull_and_a_load_beyond_them_is_reported() {
    // On four equal legs at (±1, ±1), a load at (x, 0) lifts the far legs from x = 1 on.
    for (x, near, open) in [(0.0, 25.0, 0), (0.5, 37.5, 0), (0.999, 49.975, 0)] {
        let mut table = Body::loaded(Vec3::new(0.0, 0.0, -100.0), Vec3::new(x, 0.0, 0.0));
        for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            table.touch(Vec3::new(a, b, 0.0), Vec3::z(), 0.3, 1.0);
        }
        let found = table.solve(&RestForces::new());
        assert!(found.report.converged && found.report.open == open, "{x}: {:?}", found.report);
        assert!((found.forces[0][0] - near).abs() < 1e-7 && found.forces[2][0] >= 0.0, "{x}");
    }
    for x in [1.01, 1.5, 10.0] {
        let mut table = Body::loaded(Vec3::new(0.0, 0.0, -100.0), Vec3::new(x, 0.0, 0.0));
        for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            table.touch(Vec3::new(a, b, 0.0), Vec3::z(), 0.3, 1.0);
        }
        let found = table.solve(&RestForces::new());
        assert!(!found.report.converged && found.report.unbalanced[0].0 == 0, "{x}");
        assert!(found.forces.iter().all(|f| f[0] >= 0.0 && f.iter().all(|x| x.is_finite())), "{x}");
    }
}

#[test]
fn a_ball_in_a_groove_has_the_forces_of_the_law_of_sines() {
    for (left, right) in [(0.5_f64, 0.5_f64), (0.3, 0.9), (1.2, 0.4)] {
        // Faces inclined by these angles: N₁ = W sin β/sin(α + β).
        let mut ball = Body::loaded(Vec3::new(0.0, 0.0, -10.0), Vec3::zeros());
        let normals =
            [Vec3::new(left.sin(), 0.0, left.cos()), Vec3::new(-right.sin(), 0.0, right.cos())];
        for n in normals {
            ball.touch(-n * 0.1, n, 0.0, 1.0);
        }
        let found = ball.solve(&RestForces::new());
        assert!(found.report.converged, "{:?}", found.report);
        let whole = (left + right).sin();
        assert!((found.forces[0][0] - 10.0 * right.sin() / whole).abs() < 1e-8);
        assert!((found.forces[1][0] - 10.0 * left.sin() / whole).abs() < 1e-8);
    }
}

#[test]
fn a_push_is_carried_by_friction_up_to_its_limit() {
    for (push, moves) in [(0.0, false), (20.0, false), (39.9, false), (40.1, true), (80.0, true)] {
        // 100 N on four legs with μ = 0.4, pushed at the height of the feet in a skew direction.
        let along = Vec3::new(0.8, 0.6, 0.0);
        let load = along * push - Vec3::z() * 100.0;
        let mut table = Body::loaded(load, Vec3::zeros());
        for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            table.touch(Vec3::new(a, b, 0.0), Vec3::z(), 0.4, 1.0);
        }
        let found = table.solve(&RestForces::new());
        assert_eq!(found.report.converged, !moves, "{push}: {:?}", found.report);
        let forces = table.in_world(&found);
        if !moves {
            for f in &forces {
                assert!(
                    (f - (Vec3::z() * 25.0 - along * (0.25 * push))).norm() < 1e-6,
                    "{push}: {f}"
                );
            }
            assert!(found.status.iter().all(|s| *s == ContactStatus::Sticking));
        }
        let limit = |f: &Vec3| f.x.hypot(f.y) <= 0.4 * f.z * (1.0 + 1e-9) + 1e-9;
        assert!(forces.iter().all(limit), "{push}");
    }
}

#[test]
fn displacements_of_a_similar_load_are_a_good_start() {
    let rest = RestForces::new();
    let heavy = table(12, 100.0, 0.1, 0.0, 0.3);
    let solve = |table: &Body, start: &mut Vec<[f64; 6]>| {
        let problem = RestProblem {
            stiffness: &table.stiffness,
            ..RestProblem::new(&table.contacts, &table.laws, &table.required)
        };
        rest.solve(&problem, start).unwrap()
    };
    let mut displacements = Vec::new();
    let cold = solve(&heavy, &mut displacements);
    let lighter = table(12, 99.0, 0.1, 0.0, 0.3);
    let warm = solve(&lighter, &mut displacements.clone());
    let fresh = solve(&lighter, &mut Vec::new());
    assert!(warm.report.converged && warm.report.iterations <= fresh.report.iterations);
    for (a, b) in warm.forces.as_flattened().iter().zip(fresh.forces.as_flattened()) {
        assert!((a - b).abs() < 1e-7);
    }
    // Displacements that are not numbers, or of another problem, count as none.
    for mut bad in [vec![[f64::NAN; 6]], vec![[1.0; 6]; 3]] {
        let found = solve(&heavy, &mut bad);
        assert_eq!(found.forces, cold.forces);
    }
}

#[test]
fn wrong_numbers_are_named() {
    let table = table(4, 10.0, 0.0, 0.0, 0.5);
    let tell = |rest: RestForces, change: &dyn Fn(&mut RestProblem)| -> RestError {
        let mut problem = RestProblem::new(&table.contacts, &table.laws, &table.required);
        change(&mut problem);
        rest.solve(&problem, &mut Vec::new()).unwrap_err()
    };
    let good = RestForces::new;
    let none = |_: &mut RestProblem| {};
    for (rest, what) in [
        (good().tolerance(0.0), "tolerance"),
        (good().tolerance(f64::NAN), "tolerance"),
        (good().tangential_ratio(-1.0), "tangential"),
        (good().tangential_ratio(f64::INFINITY), "tangential"),
    ] {
        assert!(tell(rest, &none).to_string().contains(what), "{what}");
    }
    let lost = [[f64::NAN; 6]];
    type Change<'a> = &'a dyn Fn(&mut RestProblem);
    let cases: [(Change, &str); 5] = [
        (&|p| p.required = &[], "0 resultants, but 1 are needed"),
        (&|p| p.laws = &[], "0 laws, but 4 are needed"),
        (&|p| p.stiffness = &[1.0], "1 relative stiffnesses, but 4"),
        (&|p| p.sliding = &[None, None], "2 directions of sliding, but 4"),
        (&|p| p.weights = &[1.0, 2.0], "2 weights, but 1"),
    ];
    for (change, what) in cases {
        assert!(tell(good(), change).to_string().contains(what), "{what}");
    }
    let mut problem = RestProblem::new(&table.contacts, &table.laws, &lost);
    assert!(good().solve(&problem, &mut Vec::new()).unwrap_err().to_string().contains("resultant"));
    problem.required = &table.required;
    problem.weights = &[0.0];
    assert!(good().solve(&problem, &mut Vec::new()).unwrap_err().to_string().contains("a weight"));
}
