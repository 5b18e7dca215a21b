use super::super::fixtures::random_problem;
use super::super::{Delassus, InverseMass};
use super::*;
use crate::math::{Vec3, tangents};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const G: f64 = 9.81;

/// Bodies with contacts between them, built contact by contact.
#[derive(Default)]
struct Bodies {
    contacts: Factored,
    laws: Vec<Law>,
    required: Vec<[f64; 6]>,
    centres: Vec<Vec3>,
    /// In the order in which they were added.
    points: Vec<([u32; 2], Vec3, Vec3)>,
}

impl Bodies {
    /// Bodies of given masses [kg] and centres under gravity along `−z`.
    fn new(masses: &[f64], centres: &[Vec3]) -> Bodies {
        let mut contacts = Factored::default();
        contacts.reset(masses.iter().map(|m| InverseMass {
            linear: [1.0 / m; 3],
            angular: [5.0 / m, 5.0 / m, 5.0 / m, 0.0, 0.0, 0.0],
        }));
        let required = masses.iter().map(|m| [0.0, 0.0, m * G, 0.0, 0.0, 0.0]).collect();
        Bodies { contacts, required, centres: centres.to_vec(), ..Bodies::default() }
    }

    fn touch(&mut self, blocks: [u32; 2], point: Vec3, normal: Vec3, friction: f64) {
        let (t1, t2) = tangents(normal);
        let arm = |b: u32| match b {
            Factored::NONE => [0.0; 3],
            b => (point - self.centres[b as usize]).into(),
        };
        self.contacts.push(blocks, [normal.into(), t1.into(), t2.into()], blocks.map(arm));
        self.laws.push(Law::Coulomb { friction });
        self.points.push((blocks, point, normal));
    }

    fn problem(&self) -> RestProblem<'_> {
        RestProblem::new(&self.contacts, &self.laws, &self.required)
    }

    fn solve(&self, rest: &RestForces) -> RestSolution {
        rest.solve(&self.problem(), &mut Vec::new()).unwrap()
    }

    /// Forces in the world frame [N].
    fn in_world(&self, forces: &[[f64; 3]]) -> Vec<Vec3> {
        let world = |(c, f): (&crate::friction::Contact3, &[f64; 3])| {
            let [n, t1, t2] = c.frame.map(Vec3::from);
            n * f[0] + t1 * f[1] + t2 * f[2]
        };
        self.contacts.contacts().iter().zip(forces).map(world).collect()
    }
}

/// A pyramid of spheres on the floor in the plane y = 0, `n` in the lowest row, between two walls:
/// without them the elastic network spreads at most coefficients of friction.
fn pyramid(n: usize, friction: f64) -> Bodies {
    pyramid_between(n, friction, true)
}

fn pyramid_between(n: usize, friction: f64, walls: bool) -> Bodies {
    let (radius, rise) = (0.5, 3.0_f64.sqrt() / 2.0);
    let mut centres = Vec::new();
    let index = |row: usize, k: usize| (0..row).map(|r| n - r).sum::<usize>() + k;
    for row in 0..n {
        for k in 0..n - row {
            let x = k as f64 + 0.5 * row as f64;
            centres.push(Vec3::new(x, 0.0, radius + rise * row as f64));
        }
    }
    let mut bodies = Bodies::new(&vec![1.0; centres.len()], &centres);
    for row in 0..n {
        for k in 0..n - row {
            let own = index(row, k);
            let mut meet = |other: usize, f: f64| {
                let apart = centres[own] - centres[other];
                let point = 0.5 * (centres[own] + centres[other]);
                bodies.touch([other as u32, own as u32], point, apart.normalize(), f);
            };
            if row > 0 {
                meet(index(row - 1, k), friction);
                meet(index(row - 1, k + 1), friction);
            }
            if k > 0 {
                meet(index(row, k - 1), friction);
            }
            if row == 0 {
                let mut lean = |normal: Vec3| {
                    let point = centres[own] - normal * radius;
                    bodies.touch([Factored::NONE, own as u32], point, normal, friction);
                };
                lean(Vec3::z());
                if walls && k == 0 {
                    lean(Vec3::x());
                }
                if walls && k == n - 1 {
                    lean(-Vec3::x());
                }
            }
        }
    }
    bodies
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} {b}");
}

#[test]
fn a_sphere_and_a_cube_carry_their_weight() {
    let mut sphere = Bodies::new(&[2.0], &[Vec3::z()]);
    sphere.touch([Factored::NONE, 0], Vec3::zeros(), Vec3::z(), 0.5);
    let found = sphere.solve(&RestForces::new());
    assert!(found.report.converged);
    close(found.forces[0][0], 2.0 * G, 1e-9);

    let mut cube = Bodies::new(&[2.0], &[Vec3::z()]);
    for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
        cube.touch([Factored::NONE, 0], Vec3::new(x, y, 0.0), Vec3::z(), 0.5);
    }
    for law in [ForceLaw::Linear, ForceLaw::Hertz] {
        let found = cube.solve(&RestForces::new().law(law));
        assert!(found.report.converged, "{:?}", found.report);
        for f in &found.forces {
            close(f[0], 0.5 * G, 1e-9);
            close(f[1].hypot(f[2]), 0.0, 1e-9);
        }
    }
}

#[test]
fn a_pyramid_is_balanced_and_both_methods_agree() {
    for friction in [1.0, 0.2] {
        for rule in [RestFriction::Associated, RestFriction::Clipped] {
            let bodies = pyramid(4, friction);
            let newton = bodies.solve(&RestForces::new().friction(rule));
            assert!(newton.report.converged, "{friction}: {:?}", newton.report);
            let slow = RestForces::new()
                .friction(rule)
                .method(RestMethod::Relaxation)
                .max_iterations(200_000);
            let slow = bodies.solve(&slow);
            assert!(slow.report.converged, "{friction}: {:?}", slow.report);
            // Residuals of 1e-10, on a network whose softest mode is a few thousand times softer.
            for (a, b) in newton.forces.as_flattened().iter().zip(slow.forces.as_flattened()) {
                close(*a, *b, 1e-6);
            }
            // The floor carries everything, and nothing pulls or exceeds the friction.
            let floor: f64 = bodies
                .in_world(&newton.forces)
                .iter()
                .zip(&bodies.points)
                .filter(|(_, (blocks, ..))| blocks[0] == Factored::NONE)
                .map(|(f, _)| f.z)
                .sum();
            close(floor, 10.0 * G, 1e-6);
            for [n, x, y] in &newton.forces {
                assert!(*n >= 0.0 && x.hypot(*y) <= friction * n * (1.0 + 1e-12));
            }
        }
    }
}

#[test]
fn associated_forces_have_the_smallest_energy_and_exist_where_clipped_ones_do_not() {
    // A heap without walls, whose feet would slide apart as clipped springs.
    let heap = pyramid_between(3, 0.5, false);
    assert!(!heap.solve(&RestForces::new().friction(RestFriction::Clipped)).report.converged);
    let found = heap.solve(&RestForces::new());
    assert!(found.report.converged, "{:?}", found.report);
    // Other admissible forces with the same resultants have more energy: those of other springs.
    let energy = |forces: &[[f64; 3]]| -> f64 {
        forces.iter().map(|[n, x, y]| n * n + (x * x + y * y) * 3.5).sum()
    };
    for seed in 0..5 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let uneven: Vec<f64> = heap.points.iter().map(|_| rng.random_range(0.3..3.0)).collect();
        let problem = RestProblem { stiffness: &uneven, ..heap.problem() };
        let other = RestForces::new().solve(&problem, &mut Vec::new()).unwrap();
        assert!(other.report.converged && energy(&other.forces) > energy(&found.forces));
    }
}

#[test]
fn a_beam_on_unequal_supports_has_the_forces_of_its_springs() {
    let (supports, stiffness, centre, weight) = ([-1.0, 0.2, 1.5], [1.0, 3.0, 0.5], 0.3, 4.0 * G);
    let mut beam = Bodies::new(&[4.0], &[Vec3::new(centre, 0.0, 0.1)]);
    for x in supports {
        beam.touch([Factored::NONE, 0], Vec3::new(x, 0.0, 0.0), Vec3::z(), 0.0);
    }
    let found = RestForces::new()
        .solve(&RestProblem { stiffness: &stiffness, ..beam.problem() }, &mut Vec::new())
        .unwrap();
    // f = k (a + b x) with the sum of the forces and of their moments.
    let sum = |power: i32| -> f64 {
        supports.iter().zip(stiffness).map(|(x, k): (&f64, _)| k * x.powi(power)).sum()
    };
    let (s0, s1, s2) = (sum(0), sum(1), sum(2));
    let determinant = s0 * s2 - s1 * s1;
    let a = weight * (s2 - centre * s1) / determinant;
    let b = weight * (centre * s0 - s1) / determinant;
    for ((force, x), k) in found.forces.iter().zip(supports).zip(stiffness) {
        close(force[0], k * (a + b * x), 1e-8);
    }
}

#[test]
fn forces_do_not_depend_on_the_order_of_contacts_or_on_the_start() {
    let bodies = pyramid(6, 0.2);
    let found = bodies.solve(&RestForces::new());
    assert!(found.report.converged && found.report.sliding > 0, "{:?}", found.report);
    let size = found.forces.as_flattened().iter().fold(0.0, |m: f64, f| m.max(f.abs()));

    let mut rng = Pcg64::seed_from_u64(1);
    let mut order: Vec<usize> = (0..bodies.points.len()).collect();
    (1..order.len()).for_each(|k| order.swap(k, rng.random_range(0..k + 1)));
    let mut shuffled = Bodies::new(&vec![1.0; bodies.centres.len()], &bodies.centres);
    for &k in &order {
        let (blocks, point, normal) = bodies.points[k];
        // Half of them with their bodies exchanged.
        match k % 2 {
            0 => shuffled.touch(blocks, point, normal, 0.2),
            _ => shuffled.touch([blocks[1], blocks[0]], point, -normal, 0.2),
        }
    }
    let other = shuffled.solve(&RestForces::new());
    let (before, after) = (bodies.in_world(&found.forces), shuffled.in_world(&other.forces));
    for (at, &k) in order.iter().enumerate() {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        assert!((before[k] - after[at] * sign).norm() < 1e-9 * size, "{k}");
    }

    // Started at the solution, there is nothing left to do.
    let mut displacements = Vec::new();
    RestForces::new().solve(&bodies.problem(), &mut displacements).unwrap();
    let again = RestForces::new().solve(&bodies.problem(), &mut displacements).unwrap();
    assert_eq!(again.report.iterations, 0);
}

#[test]
fn forces_depend_on_ratios_of_stiffnesses_only() {
    let bodies = pyramid(4, 0.6);
    for law in [ForceLaw::Linear, ForceLaw::Hertz] {
        let rest = RestForces::new().law(law);
        let soft = vec![1e-3; bodies.points.len()];
        let found = bodies.solve(&rest);
        let problem = RestProblem { stiffness: &soft, ..bodies.problem() };
        let scaled = rest.solve(&problem, &mut Vec::new()).unwrap();
        for (a, b) in found.forces.as_flattened().iter().zip(scaled.forces.as_flattened()) {
            close(*a, *b, 1e-6);
        }
    }
}

/// A law whose derivative is known to the test only.
struct Stiffening;

impl DeformationLaw for Stiffening {
    fn force(&self, _: usize, x: f64) -> f64 {
        x + 0.1 * x * x
    }

    fn stiffness(&self, _: usize, x: f64) -> f64 {
        1.0 + 0.2 * x
    }
}

#[test]
fn a_given_law_is_used() {
    let mut beam = Bodies::new(&[1.0], &[Vec3::new(0.3, 0.0, 0.0)]);
    for x in [-1.0, 0.0, 1.0] {
        beam.touch([Factored::NONE, 0], Vec3::new(x, 0.0, 0.0), Vec3::z(), 0.5);
    }
    let rest = RestForces::new().law(ForceLaw::Given(Arc::new(Stiffening)));
    let mut displacements = Vec::new();
    let found = rest.solve(&beam.problem(), &mut displacements).unwrap();
    assert!(found.report.converged, "{:?}", found.report);
    for (force, x) in found.forces.iter().zip([-1.3, -0.3, 0.7]) {
        let [_, _, dz, _, turn, _] = displacements[0];
        close(force[0], Stiffening.force(0, -(dz - turn * x)), 1e-8);
    }
}

#[test]
fn a_sliding_block_has_full_friction_and_one_that_cannot_rest_is_named() {
    let angle = 0.5_f64;
    let normal = Vec3::new(angle.sin(), 0.0, angle.cos());
    let along = Vec3::new(angle.cos(), 0.0, -angle.sin());
    let mut block = Bodies::new(&[1.0], &[normal * 0.1]);
    for (x, y) in [(-0.3, -0.2), (0.3, -0.2), (0.3, 0.2), (-0.3, 0.2)] {
        block.touch([Factored::NONE, 0], along * x + Vec3::y() * y, normal, 0.3);
    }
    // At rest: tan 0.5 = 0.55 exceeds the friction.
    let found = block.solve(&RestForces::new());
    assert!(!found.report.converged && found.report.iterations < 200, "{:?}", found.report);
    assert_eq!(found.report.unbalanced[0].0, 0);

    // With its acceleration, and the velocity along which it slides.
    let acceleration = along * (G * (angle.sin() - 0.3 * angle.cos()));
    let force = acceleration + Vec3::z() * G;
    let required = [[force.x, force.y, force.z, 0.0, 0.0, 0.0]];
    let velocity = |c: &crate::friction::Contact3| {
        Some([Vec3::from(c.frame[1]).dot(&along), Vec3::from(c.frame[2]).dot(&along)])
    };
    let sliding: Vec<_> = block.contacts.contacts().iter().map(velocity).collect();
    let problem = RestProblem { required: &required, sliding: &sliding, ..block.problem() };
    let found = RestForces::new().solve(&problem, &mut Vec::new()).unwrap();
    assert!(found.report.converged && found.report.sliding == 4, "{:?}", found.report);
    // Friction below the centre presses the lower edge: f (1 ∓ μ h/x)/4.
    for (f, lower) in found.forces.iter().zip([false, true, true, false]) {
        let share = 0.3 * 0.1 / 0.3;
        let part = if lower { 1.0 + share } else { 1.0 - share };
        close(f[0], 0.25 * G * angle.cos() * part, 1e-8);
        close(f[1].hypot(f[2]), 0.3 * f[0], 1e-10);
    }
}

#[test]
fn a_body_without_contacts_is_balanced_only_if_nothing_is_required() {
    let mut bodies = Bodies::new(&[1.0, 1.0], &[Vec3::z(), Vec3::z() * 5.0]);
    bodies.touch([Factored::NONE, 0], Vec3::zeros(), Vec3::z(), 0.5);
    let found = bodies.solve(&RestForces::new());
    assert_eq!(found.report.unbalanced.len(), 1);
    assert_eq!(found.report.unbalanced[0].0, 1);
    bodies.required[1] = [0.0; 6];
    assert!(bodies.solve(&RestForces::new()).report.converged);
}

#[test]
fn sides_given_as_rows_and_locked_directions_are_respected() {
    // A body that can only translate, once as a block and once as rows over three coordinates.
    let frame = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let laws = [Law::Coulomb { friction: 0.9 }; 2];
    let required = [[1.0, 0.0, 4.0, 7.0, 7.0, 7.0]];
    let rows = [
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
    ];
    let mut forces = Vec::new();
    for as_rows in [false, true] {
        let mut contacts = Factored::default();
        let free = InverseMass { linear: [1.0; 3], angular: [0.0; 6] };
        contacts.reset(std::iter::once(if as_rows { InverseMass::default() } else { free }));
        for x in [-1.0, 1.0] {
            if as_rows {
                contacts.push([Factored::NONE; 2], frame, [[0.0; 3]; 2]);
                contacts.push_rows(0, rows.as_flattened(), rows.as_flattened());
            } else {
                contacts.push([Factored::NONE, 0], frame, [[0.0; 3], [x, 0.0, 0.0]]);
            }
        }
        let problem = RestProblem::new(&contacts, &laws, &required);
        let found = RestForces::new().solve(&problem, &mut Vec::new()).unwrap();
        assert!(found.report.converged, "{as_rows}: {:?}", found.report);
        forces.push(found.forces);
    }
    for (a, b) in forces[0].as_flattened().iter().zip(forces[1].as_flattened()) {
        close(*a, *b, 1e-9);
    }
    close(forces[0][0][0], 2.0, 1e-9);
}

#[test]
fn random_networks_are_balanced_or_name_their_bodies() {
    for seed in 0..20 {
        let problem = random_problem(seed, 12, 60);
        let Delassus::Factored(w) = &problem.w else { panic!("factored") };
        // Resultants that some forces in the cones have.
        let mut rng = Pcg64::seed_from_u64(seed);
        let forces: Vec<[f64; 3]> =
            w.contacts().iter().map(|_| [rng.random_range(0.5..1.0), 0.0, 0.0]).collect();
        let zero = vec![[0.0; 6]; w.n_blocks()];
        let unloaded = RestProblem::new(w, &problem.laws, &zero);
        let mut required = Vec::new();
        Network::new(&unloaded, &ForceLaw::Linear, RestFriction::Clipped, 0.3)
            .excess(&forces, &mut required);
        let loaded = RestProblem::new(w, &problem.laws, &required);
        let found = RestForces::new().solve(&loaded, &mut Vec::new()).unwrap();
        assert_eq!(found.report.converged, found.report.unbalanced.is_empty());
        assert!(found.forces.as_flattened().iter().all(|f| f.is_finite()));
        assert!(found.report.converged, "seed {seed}: {:?}", found.report);
    }
}

#[test]
fn wrong_input_is_rejected() {
    let bodies = pyramid(2, 0.5);
    let rest = RestForces::new();
    let tell = |rest: &RestForces, problem: &RestProblem| {
        rest.solve(problem, &mut Vec::new()).unwrap_err().to_string()
    };
    let fewer = RestProblem { laws: &bodies.laws[1..], ..bodies.problem() };
    assert!(tell(&rest, &fewer).contains("laws, but"));
    let negative = vec![-1.0; bodies.points.len()];
    let soft = RestProblem { stiffness: &negative, ..bodies.problem() };
    assert!(tell(&rest, &soft).contains("a relative stiffness is -1"));
    let rolling = vec![Law::Rolling; bodies.points.len()];
    let rolls = RestProblem { laws: &rolling, ..bodies.problem() };
    assert!(tell(&rest, &rolls).contains("rolling resistance"));
    assert!(tell(&rest.tangential_ratio(0.0), &bodies.problem()).contains("tangential"));
}
