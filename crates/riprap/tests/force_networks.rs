//! Unique forces of resting scenes under every scheme, their statistics, and sieve curves: known values, and what does
//! not depend on frame, unit, order or scheme.

use riprap::friction::{ContactStatus, ForceLaw, RestForces, RestFriction, RestMethod};
use riprap::grains::{SieveCurve, aperture_of, seeded};
use riprap::prelude::*;
use riprap::simulation::{
    Fabric, ForceDistribution, ForceNetwork, NetworkContact, Resultant, rose,
};
use std::f64::consts::{PI, TAU};

const G: f64 = 9.81;

fn stone(friction: f64) -> Material {
    Material::new("stone").density(1000.0).friction(friction)
}

fn network(run: &Simulation, resultant: Resultant) -> ForceNetwork {
    ForceNetwork::of(&run.frame(), &RestForces::new(), resultant).unwrap()
}

/// A wall of bricks in bond on a floor turned by a rotation.
fn wall(turn: Quat, density: f64, friction: f64) -> (SceneBuilder, Vec<Body>) {
    let stone = stone(friction).density(density);
    let mut scene = Scene::builder();
    scene.gravity((turn * Vec3::new(0.0, 0.0, -G)).into());
    let up = turn * Vec3::z();
    scene.add_fixed(Shape::half_space(up.into()).unwrap(), Pose::IDENTITY, &stone);
    let mut bricks = Vec::new();
    for row in 0..3 {
        for k in 0..3 - row {
            let x = 0.21 * f64::from(k) + 0.105 * f64::from(row);
            let at = turn * Vec3::new(x, 0.0, 0.05 + 0.1 * f64::from(row));
            let brick = BodyDescription::new(Shape::cuboid([0.2, 0.1, 0.1]).unwrap(), &stone);
            bricks.push(scene.add(brick.at(at.into()).turned(turn), &stone));
        }
    }
    (scene, bricks)
}

fn settled(scene: &SceneBuilder) -> Simulation {
    let scheme = MoreauJean::new(1e-3).solver(GaussSeidel::tolerance(1e-12));
    let mut run = Simulation::new(scene.build().unwrap(), scheme).unwrap();
    run.until(0.01, &mut ()).unwrap();
    run
}

/// Sum of the unique forces on a body, and of their moments about its centre.
fn resultant(run: &Simulation, network: &ForceNetwork, body: Body) -> [Vec3; 2] {
    let centre = run.pose(body).position;
    let mut sums = [Vec3::zeros(); 2];
    for c in &network.contacts {
        for (b, sign) in c.bodies.into_iter().zip([-1.0, 1.0]) {
            if b == body {
                sums[0] += c.force * sign;
                sums[1] += (c.point - centre).cross(&c.force) * sign;
            }
        }
    }
    sums
}

#[test]
fn unique_forces_balance_every_brick_in_any_frame_and_scale_with_the_weight() {
    let weight = 2.0 * G;
    let mut upright: Vec<NetworkContact> = Vec::new();
    for (k, turn) in [Vec3::zeros(), Vec3::new(0.3, -0.8, 0.5), Vec3::new(2.0, 1.0, -1.0)]
        .into_iter()
        .enumerate()
    {
        let turn = Quat::from_scaled_axis(turn);
        for density in [1000.0, 2.5e4] {
            let (scene, bricks) = wall(turn, density, 0.6);
            let run = settled(&scene);
            let found = network(&run, Resultant::Balance);
            assert!(found.report.converged, "{:?}", found.report);
            let scale = density / 1000.0;
            for brick in bricks {
                let [force, moment] = resultant(&run, &found, brick);
                let needed = turn * Vec3::z() * (weight * scale);
                assert!((force - needed).norm() < 1e-8 * weight * scale, "{force}");
                assert!(moment.norm() < 1e-8 * weight * scale);
            }
            if k == 0 && density == 1000.0 {
                upright = found.contacts.clone();
                continue;
            }
            // The same contacts, perhaps in another order.
            assert_eq!(found.contacts.len(), upright.len());
            for c in &found.contacts {
                let place = turn.inverse() * c.point;
                let near =
                    |u: &&NetworkContact| (u.point - place).norm() < 1e-6 && u.bodies == c.bodies;
                let same = upright.iter().find(near).expect("the same contact");
                let force = turn.inverse() * c.force / scale;
                // The frame of a contact is not turned with the scene; gaps differ by rounding.
                assert!((force - same.force).norm() < 1e-5 * weight, "{force} {}", same.force);
            }
        }
    }
}

#[test]
fn every_scheme_leads_to_the_same_forces_below_a_cube() {
    let build = || {
        let stone = stone(0.5);
        let mut scene = Scene::builder();
        scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &stone);
        let cube = BodyDescription::new(Shape::cuboid([0.2; 3]).unwrap(), &stone);
        scene.add(cube.at([0.0, 0.0, 0.1]), &stone);
        scene.build().unwrap()
    };
    let schemes: [(Box<dyn Scheme>, f64); 5] = [
        (Box::new(MoreauJean::new(1e-3)), 0.05),
        (Box::new(ConeComplementarity::new(1e-3)), 0.05),
        (Box::new(GeneralizedAlpha::new(1e-3)), 0.05),
        (Box::new(RigidEvents::new(1e-3)), 0.05),
        // Springs need time to settle.
        (Box::new(Penalty::new(1e-4)), 0.5),
    ];
    for (k, (scheme, until)) in schemes.into_iter().enumerate() {
        let mut run = Simulation::new(build(), scheme).unwrap();
        run.until(until, &mut ()).unwrap();
        let found = network(&run, Resultant::Rest);
        assert!(found.report.converged && found.contacts.len() == 4, "scheme {k}");
        for c in &found.contacts {
            assert!((c.normal_force() - 2.0 * G).abs() < 1e-6 * G, "scheme {k}: {}", c.force);
            assert_eq!(c.status, ContactStatus::Sticking);
        }
        assert!(found.solver_residual < 0.05, "scheme {k}: {}", found.solver_residual);
    }
}

#[test]
fn the_distance_from_the_unique_forces_is_that_of_their_definition() {
    let (scene, _) = wall(Quat::identity(), 1000.0, 0.6);
    let run = settled(&scene);
    let found = network(&run, Resultant::Balance);
    let (relative, largest) = found.distance();
    let of = |f: fn(&NetworkContact) -> f64| found.contacts.iter().map(f);
    let squares: f64 = of(|c| (c.solver - c.force).norm_squared()).sum();
    let sizes: f64 = of(|c| c.force.norm_squared()).sum();
    assert!((relative - (squares / sizes).sqrt()).abs() < 1e-15);
    assert_eq!(largest, of(|c| (c.solver - c.force).norm()).fold(0.0, f64::max));
    // Nothing at all: no contacts, no distance.
    assert_eq!(ForceNetwork::default().distance(), (0.0, 0.0));
    assert!(ForceNetwork::default().normal_forces().is_empty());
}

#[test]
fn forces_of_the_step_keep_the_resultants_of_the_solver() {
    let stone = stone(0.3);
    let mut scene = Scene::builder();
    scene.gravity([G * 0.6, 0.0, -G * 0.8]);
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &stone);
    let brick = BodyDescription::new(Shape::cuboid([0.3, 0.2, 0.1]).unwrap(), &stone);
    let brick = scene.add(brick.at([0.0, 0.0, 0.05]), &stone);
    let run = settled(&scene);
    let found = network(&run, Resultant::Step);
    assert!(found.report.converged && found.moving == [true]);
    let solver: Vec3 = found.contacts.iter().map(|c| c.solver).sum();
    let [unique, _] = resultant(&run, &found, brick);
    assert!((solver - unique).norm() < 1e-8 * solver.norm(), "{solver} {unique}");
    assert!((unique.x / unique.z + 0.3).abs() < 1e-6, "it slides downhill");
    assert!(found.contacts.iter().all(|c| c.status == ContactStatus::Sliding));
}

#[test]
fn both_methods_find_the_forces_of_springs_that_stiffen() {
    // Three supports under Hertz's law, with the weight off the middle: explicit steps must follow the stiffness.
    let (scene, _) = wall(Quat::identity(), 1000.0, 0.6);
    let run = settled(&scene);
    for law in [ForceLaw::Linear, ForceLaw::Hertz] {
        let newton = RestForces::new().law(law.clone());
        let explicit = newton.clone().method(RestMethod::Relaxation).max_iterations(400_000);
        let [one, two] = [newton, explicit].map(|rest| {
            let found =
                ForceNetwork::of(&run.frame(), &rest.tolerance(1e-8), Resultant::Rest).unwrap();
            assert!(found.report.converged, "{law:?}: {:?}", found.report);
            found
        });
        for (a, b) in one.contacts.iter().zip(&two.contacts) {
            // The tolerance of the resultants over the softness of the wall.
            assert!((a.force - b.force).norm() < 1e-3 * G, "{law:?}: {} {}", a.force, b.force);
        }
    }
}

#[test]
fn a_shelf_on_two_brackets_is_statically_determined_whatever_the_springs() {
    let stone = stone(0.0);
    let corners = [[-0.5, 0.0], [0.5, 0.0], [0.5, 0.1], [-0.5, 0.1]];
    for [left, right] in [[-0.4, 0.4], [-0.4, 0.1], [-0.05, 0.45]] {
        let mut scene = Scene::builder();
        scene.planar().gravity([0.0, -G, 0.0]);
        let support = Shape::polygon(&[[-0.02, -0.1], [0.02, -0.1], [0.0, 0.0]], 1.0).unwrap();
        for x in [left, right] {
            scene.add_fixed(support.clone(), Pose::at([x, 0.0, 0.0]), &stone);
        }
        let mut beam = BodyDescription::new(Shape::polygon(&corners, 1.0).unwrap(), &stone);
        beam.force = Vec3::new(0.0, -50.0, 0.0);
        let beam = scene.add(beam, &stone);
        let run = settled(&scene);
        let weight = 100.0 * G + 50.0;
        for rest in [
            RestForces::new(),
            RestForces::new().law(ForceLaw::Hertz),
            RestForces::new().friction(RestFriction::Clipped).tangential_ratio(0.5),
        ] {
            let found = ForceNetwork::of(&run.frame(), &rest, Resultant::Rest).unwrap();
            assert!(found.report.converged && found.bodies == [beam], "{:?}", found.report);
            // Levers: each bracket carries the part of the distance to the other one.
            for (c, lever) in found.contacts.iter().zip([right, -left]) {
                let share = weight * lever / (right - left);
                assert!((c.force.y / share - 1.0).abs() < 1e-6, "{left} {right}: {}", c.force);
            }
        }
    }
}

fn turned(normals: &[Vec3], turn: Quat) -> Vec<Vec3> {
    normals.iter().map(|n| turn * n).collect()
}

fn random_normals(n: usize, seed: u64) -> Vec<Vec3> {
    use rand::RngExt;
    let mut rng = seeded(seed);
    (0..n)
        .map(|_| {
            let (z, turn): (f64, f64) = (rng.random_range(-1.0..1.0), rng.random_range(0.0..TAU));
            let r = (1.0 - z * z).sqrt();
            Vec3::new(r * turn.cos(), r * turn.sin(), z)
        })
        .collect()
}

fn fabric(normals: &[Vec3]) -> Fabric {
    Fabric::of(normals.iter().map(|n| (*n, 1.0))).unwrap()
}

#[test]
fn a_fabric_turns_with_its_normals_and_ignores_signs_order_and_the_unit_of_weights() {
    let normals = random_normals(200, 3);
    let first = fabric(&normals);
    assert!((first.tensor.trace() - 1.0).abs() < 1e-14 && !first.planar);
    assert!(first.values[0] >= first.values[1] && first.values[1] >= first.values[2]);
    for (d, value) in first.directions.iter().zip(first.values) {
        assert!((first.tensor * d - d * value).norm() < 1e-14);
    }
    let turn = Quat::from_scaled_axis(Vec3::new(0.5, 1.5, -0.7));
    let other = fabric(&turned(&normals, turn));
    let r = turn.to_rotation_matrix();
    let expected = r.matrix() * first.tensor * r.matrix().transpose();
    assert!((other.tensor - expected).norm() < 1e-14);
    assert!((other.anisotropy() - first.anisotropy()).abs() < 1e-13);
    let mut mixed: Vec<Vec3> = normals.iter().rev().map(|n| -n).collect();
    mixed.rotate_left(17);
    assert!((fabric(&mixed).tensor - first.tensor).norm() < 1e-14);
    let heavy = Fabric::of(normals.iter().map(|n| (*n, 1e6))).unwrap();
    assert!((heavy.tensor - first.tensor).norm() < 1e-14);
    // Weights count like repeated normals.
    let twice =
        Fabric::of(normals.iter().enumerate().map(|(k, n)| (*n, if k < 50 { 2.0 } else { 1.0 })));
    let repeated: Vec<Vec3> = normals[..50].iter().chain(&normals).copied().collect();
    assert!((twice.unwrap().tensor - fabric(&repeated).tensor).norm() < 1e-14);
    for weight in [0.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Fabric::of([(Vec3::x(), weight)]), None);
    }
}

#[test]
fn anisotropies_of_one_direction_and_of_a_plane_are_the_extremes() {
    let needle = fabric(&[Vec3::z(), -Vec3::z()]);
    assert!((needle.anisotropy() - 5.0).abs() < 1e-14, "F = diag(0, 0, 1)");
    let flat = fabric(&[Vec3::x()]);
    assert!(flat.planar && (flat.anisotropy() - 2.0).abs() < 1e-14 && flat.angle() == 0.0);
    for angle in [0.1, 1.0, 2.0, 3.1] {
        let line = fabric(&[Vec3::new(f64::cos(angle), f64::sin(angle), 0.0)]);
        assert!((line.angle() - angle).abs() < 1e-14, "{angle}");
    }
}

#[test]
fn a_rose_turns_with_its_normals() {
    let normals: Vec<Vec3> =
        random_normals(500, 4).iter().map(|n| Vec3::new(n.x, n.y, 0.0).normalize()).collect();
    let sectors = 12;
    let first = rose(&normals, sectors);
    assert!((first.iter().sum::<f64>() / sectors as f64 - 1.0).abs() < 1e-12);
    for k in 0..sectors {
        let turn = Quat::from_axis_angle(&Vec3::z_axis(), PI * k as f64 / sectors as f64);
        let other = rose(&turned(&normals, turn), sectors);
        for (i, density) in first.iter().enumerate() {
            // A normal on the border of a sector may fall on either side of it.
            assert!((other[(i + k) % sectors] - density).abs() < 1.01 * sectors as f64 / 500.0);
        }
    }
    assert_eq!(rose(&[], 4), [0.0; 4]);
    assert_eq!(rose(&normals, 0), Vec::<f64>::new());
}

#[test]
fn force_distributions_of_known_samples_have_their_moments_in_any_unit() {
    let n = 10_000;
    let quantile = |k: usize| (k as f64 + 0.5) / n as f64;
    for unit in [1e-6, 1.0, 1e9] {
        // Equal shares between 0 and 2: constant density 1/2 up to twice the mean.
        let uniform: Vec<f64> = (0..n).map(|k| 2.0 * unit * quantile(k)).collect();
        let d = ForceDistribution::of(&uniform, 0.1);
        assert_eq!((d.count, d.density.len()), (n, 20));
        assert!((d.mean / unit - 1.0).abs() < 1e-12);
        // The bounds of a bin may fall on either side of it by rounding.
        assert!(d.density.iter().all(|p| (p - 0.5).abs() < 2.1e-3), "{:?}", d.density);
        // The mean excess above the mean is 1/2: β = 2.
        assert!((d.decay.unwrap() - 2.0).abs() < 1e-3);
        // Twice as narrow a tail: a Pareto-free check of the estimator with exp(−3 f).
        let steep: Vec<f64> =
            (0..n).map(|k| unit * (1.0 - (1.0 - quantile(k)).ln() / 3.0)).collect();
        let d = ForceDistribution::of(&steep, 0.1);
        // f = 1 + x with ⟨x⟩ = 1/3: relative to the mean 4/3, the rate is 4.
        assert!((d.decay.unwrap() - 4.0).abs() < 5e-3, "{:?}", d.decay);
        assert!((d.largest / (unit * (1.0 - (0.5 / n as f64).ln() / 3.0)) - 1.0).abs() < 1e-12);
    }
    // A single giant force does not allocate a bin per width.
    let mut forces = vec![1.0; 1_000_000];
    forces[7] = 1e12;
    let d = ForceDistribution::of(&forces, 0.1);
    assert_eq!(d.density.len(), 1000);
    assert!((d.density.iter().sum::<f64>() * d.width - 1.0).abs() < 1e-9);
    for width in [0.0, -1.0, f64::NAN] {
        assert!(ForceDistribution::of(&[1.0, 2.0], width).density.is_empty());
    }
    assert_eq!(ForceDistribution::of(&[0.0; 20], 0.1).decay, None);
}

#[test]
fn sieve_curves_do_not_depend_on_order_and_scale_with_sizes_and_masses() {
    use rand::RngExt;
    let mut rng = seeded(11);
    let grains: Vec<(f64, f64)> =
        (0..200).map(|_| (rng.random_range(1e-3..0.05), rng.random_range(0.1..2.0))).collect();
    let curve = SieveCurve::new(grains.iter().copied(), 3.0);
    let total: f64 = grains.iter().map(|g| g.1).sum::<f64>() + 3.0;
    assert!((curve.mass() - total).abs() < 1e-10);
    let reversed = SieveCurve::new(grains.iter().rev().copied(), 3.0);
    let scaled = SieveCurve::new(grains.iter().map(|g| (2.0 * g.0, 7.0 * g.1)), 21.0);
    let mut last = 3.0 / total;
    for k in 0..60 {
        let d = 1e-3 * f64::from(k);
        let passing = curve.passing(d);
        assert!(passing >= last - 1e-12 && passing <= 1.0 + 1e-12, "it rises");
        let mass: f64 = grains.iter().filter(|g| g.0 <= d).map(|g| g.1).sum::<f64>() + 3.0;
        assert!((passing - mass / total).abs() < 1e-12, "the definition");
        assert!((reversed.passing(d) - passing).abs() < 1e-12);
        assert!((scaled.passing(2.0 * d) - passing).abs() < 1e-12);
        last = passing;
    }
    let points: Vec<[f64; 2]> = curve.points().collect();
    assert!(points.windows(2).all(|w| w[0][0] <= w[1][0] && w[0][1] <= w[1][1]));
    assert_eq!(points.len(), 200);
    assert!((points[199][1] - 1.0).abs() < 1e-12);
}

#[test]
fn the_breakage_index_of_halved_grains_is_that_of_its_closed_form() {
    let (smallest, largest) = (1e-3_f64, 0.05_f64);
    let first = SieveCurve::new([(largest, 8.0)], 0.0);
    let b = 0.4;
    let low = smallest.powf(b) / (largest.powf(b) - smallest.powf(b));
    let ultimate = 1.0 / b - low * (largest / smallest).ln();
    for (share, ratio) in [(0.5, 0.5_f64), (1.0, 0.5), (0.25, 0.1), (1.0, 0.02)] {
        // A share of the mass is now finer by a ratio: the area is share · ln(1/ratio).
        let now =
            SieveCurve::new([(largest, 8.0 * (1.0 - share)), (ratio * largest, 8.0 * share)], 0.0);
        let expected = share * -ratio.ln() / ultimate;
        let found = first.breakage(&now, smallest);
        assert!((found / expected - 1.0).abs() < 1e-12, "{share} {ratio}: {found} {expected}");
        // Dust, and grains below the smallest size, count like the smallest size.
        let dust = SieveCurve::new([(largest, 8.0 * (1.0 - share))], 8.0 * share);
        let fine = SieveCurve::new([(largest, 8.0 * (1.0 - share)), (1e-5, 8.0 * share)], 0.0);
        let both = [&dust, &fine].map(|now| first.breakage(now, smallest));
        assert!((both[0] - share * (largest / smallest).ln() / ultimate).abs() < 1e-12);
        assert!((both[0] - both[1]).abs() < 1e-12);
    }
    // In units of 2 m and of 7 kg it is the same.
    let now = SieveCurve::new([(0.02, 3.0), (0.05, 5.0)], 0.0);
    let index = first.breakage(&now, smallest);
    let other = SieveCurve::new([(0.1, 56.0)], 0.0)
        .breakage(&SieveCurve::new([(0.04, 21.0), (0.1, 35.0)], 0.0), 2.0 * smallest);
    assert!((index - other).abs() < 1e-12);
    assert_eq!(first.breakage(&now, 0.05), 0.0, "no sizes in between");
    assert_eq!(first.breakage(&now, 1.0), 0.0);
}

#[test]
fn regular_polygons_pass_a_gap_of_their_least_width_in_any_position() {
    for n in [3, 4, 5, 6, 9] {
        let circle = |k: usize, turn: f64| {
            let angle = TAU * k as f64 / n as f64 + turn;
            [0.3 + 0.1 * angle.cos(), -0.2 + 0.1 * angle.sin()]
        };
        // The apothem to a side, and the farthest corner or side opposite.
        let apothem = 0.1 * (PI / n as f64).cos();
        let width = if n % 2 == 0 { 2.0 * apothem } else { apothem + 0.1 };
        for turn in [0.0, 0.4, 2.0] {
            let corners: Vec<[f64; 2]> = (0..n).map(|k| circle(k, turn)).collect();
            let polygon = Shape::polygon(&corners, 0.5).unwrap();
            assert!((aperture_of(&polygon).unwrap() - width).abs() < 1e-14, "{n} {turn}");
        }
    }
    assert_eq!(aperture_of(&Shape::sphere(0.2).unwrap()), Some(0.4));
    assert_eq!(aperture_of(&Shape::disc(0.3, 1.0).unwrap()), Some(0.6));
    let parts = vec![(Pose::IDENTITY, Shape::sphere(0.1).unwrap())];
    assert_eq!(aperture_of(&Shape::compound(parts).unwrap()), None);
}
