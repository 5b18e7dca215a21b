//! Dantzig's algorithm with friction: enumeration of small problems, and what must not change the result: units, order,
//! contacts far away, and the choice of the tangents.

use rand::RngExt;
use riprap::friction::{
    Class, Dantzig, DantzigReport, Delassus, Factored, ForceProblem, Friction, InverseMass,
    Outcome, Scratch,
};
use riprap::grains::{Pcg64, seeded};
use riprap::math::{Vec3, tangents};

/// A problem that owns its lists.
struct Problem {
    w: Factored,
    b: Vec<[f64; 3]>,
    friction: Vec<Friction>,
}

impl Problem {
    fn solve(&self, options: &Dantzig) -> (Vec<[f64; 3]>, Vec<Class>, DantzigReport) {
        let (mut forces, mut classes) = (Vec::new(), Vec::new());
        let w = Delassus::Factored(self.w.clone());
        let problem = ForceProblem { w: &w, b: &self.b, friction: &self.friction };
        let report = options.solve(&problem, &mut forces, &mut classes, &mut Scratch::default());
        (forces, classes, report)
    }

    /// `b + W f`.
    fn accelerations(&self, forces: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let mut change = Vec::new();
        self.w.velocity_change(forces, &mut change);
        let add = |(a, b): (usize, &[f64; 3])| {
            let w = self.w.to_local(a, &change);
            std::array::from_fn(|i| b[i] + w[i])
        };
        self.b.iter().enumerate().map(add).collect()
    }

    /// The dense `W` over the normals.
    fn normal_matrix(&self) -> Vec<Vec<f64>> {
        let n = self.b.len();
        let column = |j: usize| {
            let mut unit = vec![[0.0; 3]; n];
            unit[j][0] = 1.0;
            let mut change = Vec::new();
            self.w.velocity_change(&unit, &mut change);
            (0..n).map(|a| self.w.to_local(a, &change)[0]).collect()
        };
        (0..n).map(column).collect()
    }
}

/// A contact of a block with the ground or with another block.
#[derive(Clone, Copy)]
struct Touch {
    blocks: [u32; 2],
    normal: Vec3,
    arms: [Vec3; 2],
    friction: Friction,
}

/// Free bodies with random contacts and accelerations.
fn random(
    rng: &mut Pcg64,
    blocks: u32,
    contacts: usize,
    friction: f64,
) -> (Vec<Touch>, Vec<[f64; 6]>) {
    let mut vector = || Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0));
    let touches = (0..contacts)
        .map(|k| {
            let second = k as u32 % blocks;
            let first = if k.is_multiple_of(3) || blocks == 1 {
                Factored::NONE
            } else {
                (second + 1) % blocks
            };
            let mu = Friction::Static { mu: friction };
            let friction = if friction == 0.0 { Friction::None } else { mu };
            Touch {
                blocks: [first, second],
                normal: vector().normalize(),
                arms: [vector(), vector()],
                friction,
            }
        })
        .collect();
    let fields = (0..blocks).map(|_| {
        let [v, w] = [vector(), vector()];
        [v.x, v.y, v.z, w.x, w.y, w.z].map(|x| 5.0 * x)
    });
    (touches, fields.collect())
}

/// The problem of these contacts; bodies of mass and inertia 1, times a factor.
fn problem(touches: &[Touch], fields: &[[f64; 6]], mass: f64) -> Problem {
    let mut w = Factored::default();
    let inverse = InverseMass {
        linear: [1.0 / mass; 3],
        angular: [2.0 / mass, 3.0 / mass, 4.0 / mass, 0.0, 0.0, 0.0],
    };
    w.reset(fields.iter().map(|_| inverse));
    for t in touches {
        let (t1, t2) = tangents(t.normal);
        w.push(t.blocks, [t.normal, t1, t2].map(Into::into), t.arms.map(Into::into));
    }
    let b = (0..touches.len()).map(|a| w.to_local(a, fields)).collect();
    Problem { w, b, friction: touches.iter().map(|t| t.friction).collect() }
}

/// Solves a small dense system by elimination with pivots; `None` if it is singular.
fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs()))?;
        if a[pivot][k].abs() < 1e-10 {
            return None;
        }
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let rest: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - rest) / a[k][k];
    }
    Some(b)
}

/// Normal forces of a frictionless problem by trying all sets of closed contacts.
fn enumerate(p: &Problem) -> Option<Vec<f64>> {
    let (w, n) = (p.normal_matrix(), p.b.len());
    (0..1usize << n).find_map(|set| {
        let closed: Vec<usize> = (0..n).filter(|k| set >> k & 1 == 1).collect();
        let matrix = closed.iter().map(|&i| closed.iter().map(|&j| w[i][j]).collect()).collect();
        let right = closed.iter().map(|&i| -p.b[i][0]).collect();
        let solved = eliminate(matrix, right)?;
        let mut f = vec![0.0; n];
        closed.iter().zip(&solved).for_each(|(&k, x)| f[k] = *x);
        let open = |i: usize| p.b[i][0] + (0..n).map(|j| w[i][j] * f[j]).sum::<f64>() >= -1e-9;
        (f.iter().all(|x| *x >= 0.0) && (0..n).all(open)).then_some(f)
    })
}

#[test]
fn frictionless_problems_have_the_forces_of_enumeration() {
    let mut rng = seeded(5);
    let mut closed = 0;
    for k in 0..300 {
        let (touches, fields) = random(&mut rng, 1 + k % 4, 1 + k as usize % 6, 0.0);
        let p = problem(&touches, &fields, 1.0);
        for options in
            [Dantzig::default(), Dantzig { rounds: 0, dense: true, ..Dantzig::default() }]
        {
            let (forces, classes, report) = p.solve(&options);
            assert_eq!(report.outcome, Outcome::Solved, "problem {k}");
            let Some(expected) = enumerate(&p) else { continue };
            let size = expected.iter().fold(1.0_f64, |m, x| m.max(*x));
            for ((f, e), class) in forces.iter().zip(&expected).zip(&classes) {
                assert!(
                    (f[0] - e).abs() < 1e-7 * size && f[1] == 0.0 && f[2] == 0.0,
                    "problem {k}"
                );
                assert!(*class == Class::Breaking || f[0] > 0.0 || *e < 1e-7 * size);
            }
            closed += expected.iter().filter(|f| **f > 0.0).count();
        }
    }
    assert!(closed > 300, "{closed}");
}

/// Largest violation of the laws of contact, with friction in the polyhedral cone of the given facets.
fn violation(p: &Problem, forces: &[[f64; 3]], facets: usize) -> f64 {
    let a = p.accelerations(forces);
    let size = forces.as_flattened().iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    let mut worst = 0.0_f64;
    for ((f, a), friction) in forces.iter().zip(&a).zip(&p.friction) {
        worst = worst.max(-f[0]).max(-a[0]).max((f[0] * a[0]).abs() / size);
        let (slip, t) = (a[1].hypot(a[2]), f[1].hypot(f[2]));
        let Friction::Static { mu } = friction else { continue };
        worst = worst.max(t - mu * f[0]);
        // It slides only with nearly full friction, and against the friction.
        let least = mu * f[0] * (std::f64::consts::PI / facets as f64).cos();
        if slip > 1e-6 * size {
            worst = worst.max(least - t).max((f[1] * a[1] + f[2] * a[2]).max(0.0) / slip);
        }
    }
    worst / size
}

#[test]
fn forces_with_friction_obey_the_laws_of_contact() {
    let mut rng = seeded(6);
    let mut counts = [0; 3];
    for k in 0..200 {
        let facets = [4, 8, 16][k % 3];
        let (touches, fields) =
            random(&mut rng, 1 + k as u32 % 4, 1 + k % 8, 0.1 + 0.1 * (k % 6) as f64);
        let p = problem(&touches, &fields, 1.0);
        let (forces, classes, report) = p.solve(&Dantzig { facets, ..Dantzig::default() });
        assert_eq!(report.outcome, Outcome::Solved, "problem {k}");
        assert!(violation(&p, &forces, facets) < 1e-8, "problem {k}: {forces:?}");
        for class in classes {
            counts[class as usize] += 1;
        }
    }
    assert!(counts.iter().all(|c| *c > 30), "all classes occur: {counts:?}");
}

#[test]
fn forces_scale_with_accelerations_and_masses() {
    let mut rng = seeded(7);
    for k in 0..60 {
        let (touches, fields) = random(&mut rng, 2, 1 + k % 5, 0.4);
        let (first, classes, report) = problem(&touches, &fields, 1.0).solve(&Dantzig::default());
        assert_eq!(report.outcome, Outcome::Solved);
        for (mass, pace) in [(1e3, 1.0), (1.0, 1e-4), (1e-3, 20.0)] {
            let faster: Vec<[f64; 6]> = fields.iter().map(|f| f.map(|x| pace * x)).collect();
            let (forces, same, _) = problem(&touches, &faster, mass).solve(&Dantzig::default());
            assert_eq!(classes, same, "problem {k}");
            let scale = mass * pace;
            let size = first.as_flattened().iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
            for (a, b) in first.as_flattened().iter().zip(forces.as_flattened()) {
                assert!((a * scale - b).abs() < 1e-6 * size * scale, "problem {k}: {a} {b}");
            }
        }
    }
}

#[test]
fn islands_do_not_influence_each_other_and_order_does_not_matter() {
    let mut rng = seeded(8);
    for k in 0..60 {
        // Two separate groups, one after the other, and interleaved in reverse.
        let (left, f) = random(&mut rng, 2, 1 + k % 4, 0.3);
        let (right, g) = random(&mut rng, 2, 1 + k / 4 % 4, 0.5);
        let shifted = right.iter().map(|t| Touch {
            blocks: t.blocks.map(|b| if b == Factored::NONE { b } else { b + 2 }),
            ..*t
        });
        let together: Vec<Touch> = left.iter().copied().chain(shifted).collect();
        let fields: Vec<[f64; 6]> = f.iter().chain(&g).copied().collect();
        let (both, ..) = problem(&together, &fields, 1.0).solve(&Dantzig::default());
        let (a, ..) = problem(&left, &f, 1.0).solve(&Dantzig::default());
        let (b, ..) = problem(&right, &g, 1.0).solve(&Dantzig::default());
        let apart: Vec<[f64; 3]> = a.into_iter().chain(b).collect();
        let backwards: Vec<Touch> = together.iter().rev().copied().collect();
        let p = problem(&backwards, &fields, 1.0);
        let (mut reversed, _, report) = p.solve(&Dantzig::default());
        assert_eq!(report.outcome, Outcome::Solved);
        assert!(violation(&p, &reversed, 8) < 1e-8);
        reversed.reverse();
        let size = both.as_flattened().iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        for (one, two) in both.as_flattened().iter().zip(apart.as_flattened()) {
            assert!((one - two).abs() < 1e-8 * size, "problem {k}");
        }
        // Accelerations are unique up to the facets; without redundancy so are forces. Normal ones agree to the facets.
        for (one, two) in both.iter().zip(&reversed) {
            assert!((one[0] - two[0]).abs() < 0.3 * size, "problem {k}");
        }
    }
}

#[test]
fn a_contact_that_opens_and_one_between_immovable_bodies_carry_nothing() {
    let ground = |normal: Vec3, arm: Vec3| Touch {
        blocks: [Factored::NONE, 0],
        normal,
        arms: [Vec3::zeros(), arm],
        friction: Friction::Static { mu: 0.5 },
    };
    let below = ground(Vec3::z(), Vec3::new(0.0, 0.0, -1.0));
    let above = ground(-Vec3::z(), Vec3::new(0.0, 0.0, 1.0));
    let falls = [[0.0, 0.0, -9.81, 0.0, 0.0, 0.0]];
    let (forces, classes, report) =
        problem(&[below, above], &falls, 2.0).solve(&Dantzig::default());
    assert_eq!(report.outcome, Outcome::Solved);
    assert!((forces[0][0] - 2.0 * 9.81).abs() < 1e-9 && forces[1] == [0.0; 3]);
    assert_eq!(classes[1], Class::Breaking);
    let rises = [[0.0, 0.0, 9.81, 0.0, 0.0, 0.0]];
    let (forces, ..) = problem(&[below, above], &rises, 2.0).solve(&Dantzig::default());
    assert!((forces[1][0] - 2.0 * 9.81).abs() < 1e-9 && forces[0] == [0.0; 3]);
}

#[test]
fn sliding_friction_acts_along_its_direction_at_any_angle() {
    for k in 0..16 {
        let angle = 0.4 * f64::from(k);
        let direction = [angle.cos(), angle.sin()];
        let touch = Touch {
            blocks: [Factored::NONE, 0],
            normal: Vec3::z(),
            arms: [Vec3::zeros(); 2],
            friction: Friction::Sliding { mu: 0.3, direction },
        };
        let falls = [[0.0, 0.0, -9.81, 0.0, 0.0, 0.0]];
        let (forces, classes, report) = problem(&[touch], &falls, 2.0).solve(&Dantzig::default());
        assert_eq!((report.outcome, classes[0]), (Outcome::Solved, Class::Sliding));
        let weight = 2.0 * 9.81;
        let expected = [weight, 0.3 * weight * direction[0], 0.3 * weight * direction[1]];
        for (f, e) in forces[0].iter().zip(expected) {
            assert!((f - e).abs() < 1e-9, "{angle}: {forces:?}");
        }
    }
}

#[test]
fn the_threshold_of_sliding_lies_between_the_inscribed_and_the_exact_cone() {
    // A push along each direction of the plane, on a contact with a normal force of 10 N and μ = 0.5.
    for facets in [4, 8, 32] {
        let inner = (std::f64::consts::PI / facets as f64).cos();
        for k in 0..40 {
            let angle = 0.157 * f64::from(k);
            for (push, class) in [(0.999 * inner, Class::Static), (1.001, Class::Sliding)] {
                let touch = Touch {
                    blocks: [Factored::NONE, 0],
                    normal: Vec3::z(),
                    arms: [Vec3::zeros(); 2],
                    friction: Friction::Static { mu: 0.5 },
                };
                let along = 5.0 * push;
                let field = [[along * angle.cos(), along * angle.sin(), -10.0, 0.0, 0.0, 0.0]];
                let p = problem(&[touch], &field, 1.0);
                let (forces, classes, _) = p.solve(&Dantzig { facets, ..Dantzig::default() });
                assert_eq!(classes[0], class, "{facets} facets, {angle}, {push}");
                assert!((forces[0][0] - 10.0).abs() < 1e-9);
                let t = forces[0][1].hypot(forces[0][2]);
                let expected =
                    if class == Class::Static { along } else { t.clamp(5.0 * inner, 5.0) };
                assert!((t - expected).abs() < 1e-9, "{facets} facets: {t} {expected}");
            }
        }
    }
}
