use super::*;
use crate::prelude::*;

fn rock() -> Material {
    Material::new("rock").density(1000.0).friction(0.5)
}

/// Spheres of radius 0.1 m at these points after one step, with gravity along −z.
fn spheres(points: &[[f64; 3]], gravity: f64) -> Simulation {
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -gravity]);
    for p in points {
        let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock());
        scene.add(ball.at(*p), &rock());
    }
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    run.step().unwrap();
    run
}

fn cubic(n: usize) -> Vec<[f64; 3]> {
    (0..n * n * n).map(|k| [k % n, k / n % n, k / n / n].map(|x| 0.2 * x as f64)).collect()
}

fn around(centre: f64, half: f64) -> Region {
    Region { min: Vec3::repeat(centre - half), max: Vec3::repeat(centre + half) }
}

#[test]
fn a_cubic_crystal_has_six_neighbours_inside_and_an_isotropic_fabric() {
    let run = spheres(&cubic(4), 0.0);
    let frame = run.frame();
    let measures = Measures::of(&frame);
    let all = measures.coordination(&Region::EVERYWHERE);
    assert_eq!((all.all, all.rattlers), (4.5, 0.0));
    assert_eq!(measures.coordination(&around(0.3, 0.15)).all, 6.0);
    let fabric = measures.fabric(&Region::EVERYWHERE).unwrap();
    assert!((fabric.tensor - Mat3::identity() / 3.0).norm() < 1e-14);
    // Eight balls, each with one octant in the cell between them: π/6.
    let solid = measures.solid_fraction(&around(0.3, 0.1));
    assert!((solid - std::f64::consts::PI / 6.0).abs() < 1e-12, "{solid}");
    // No weight, no forces.
    assert_eq!(measures.normal_forces(&Region::EVERYWHERE).distribution.count, 0);
}

#[test]
fn rattlers_are_removed_until_none_are_left() {
    let side = 0.1 * 3.0_f64.sqrt();
    let triangle = [[0.0; 3], [0.2, 0.0, 0.0], [0.1, side, 0.0]];
    // A chain of two that hangs on a corner, and a ball that touches nothing.
    let loose = [[-0.2, 0.0, 0.0], [-0.4, 0.0, 0.0], [5.0, 0.0, 0.0]];
    let run = spheres(&[triangle, loose].concat(), 0.0);
    let frame = run.frame();
    let found = Measures::of(&frame).coordination(&Region::EVERYWHERE);
    assert_eq!((found.rattlers, found.without_rattlers), (0.5, 2.0));
    assert_eq!(found.all, 10.0 / 6.0);
    let nowhere = Measures::of(&frame).coordination(&around(9.0, 0.1));
    assert!(nowhere.all.is_nan() && nowhere.rattlers.is_nan());
}

#[test]
fn a_column_of_cubes_bears_the_mean_weight_above() {
    // With friction, forces in a horizontal plane could balance each other.
    let smooth = Material::new("ice").density(1000.0);
    let (n, side) = (5, 0.2);
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -9.81]);
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &smooth);
    for k in 0..n {
        let cube = BodyDescription::new(Shape::cuboid([side; 3]).unwrap(), &smooth);
        scene.add(cube.at([0.0, 0.0, side * (k as f64 + 0.5)]), &smooth);
    }
    let scheme = MoreauJean::new(1e-3).solver(GaussSeidel::tolerance(1e-12));
    let mut run = Simulation::new(scene.build().unwrap(), scheme).unwrap();
    run.until(0.01, &mut ()).unwrap();
    let frame = run.frame();
    let measures = Measures::of(&frame);
    let column = |from: f64, to: f64| Region {
        min: Vec3::new(-0.1, -0.1, from),
        max: Vec3::new(0.1, 0.1, to),
    };
    // The whole column, and one cube at a depth of 0.7 m below the top.
    for (region, depth) in [(column(0.0, 1.0), 0.5), (column(0.2, 0.4), 0.7)] {
        let (stress, expected) = (measures.stress(&region), 1000.0 * 9.81 * depth);
        // The solver's tolerance.
        assert!((stress[(2, 2)] - expected).abs() < 1e-6 * expected, "{stress}");
        assert!(stress[(0, 0)].abs() < 1e-6 * expected && stress[(0, 2)].abs() < 1e-6 * expected);
    }
    // The pairs carry 1 to 5 weights, whatever the forces of their four points are.
    let forces = measures.normal_forces(&Region::EVERYWHERE);
    let weight = 8.0 * 9.81;
    assert_eq!(forces.distribution.count, n);
    assert!((forces.distribution.mean - 3.0 * weight).abs() < 1e-6 * weight);
    assert!((forces.percentile_90 - 4.6 * weight).abs() < 1e-6 * weight);
    assert!((forces.participation - 225.0 / 275.0).abs() < 1e-6);
    let fabric = measures.fabric(&Region::EVERYWHERE).unwrap();
    assert!((fabric.values[0] - 1.0).abs() < 1e-14 && (fabric.anisotropy() - 5.0).abs() < 1e-13);
}

#[test]
fn bodies_that_move_apart_have_a_kinetic_stress() {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    for (x, u) in [(-0.5, 3.0), (0.5, 1.0)] {
        let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock());
        scene.add(ball.mass(2.0).at([x, 0.0, 0.0]).velocity([u, 0.0, 0.0]), &rock());
    }
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    run.step().unwrap();
    let frame = run.frame();
    let stress = Measures::of(&frame).stress(&around(0.0, 1.0));
    // Two masses of 2 kg at ±1 m/s relative to their centre, in 8 m³.
    assert!((stress[(0, 0)] - 0.5).abs() < 1e-15 && stress[(1, 1)] == 0.0);
}

#[test]
fn a_tilted_layer_has_its_slope_and_a_heap_of_two_layers_that_of_the_upper_one() {
    let (slope, turn) = (0.5_f64, 0.3_f64);
    let height = |x: f64, y: f64| -slope.tan() * (x * turn.cos() + y * turn.sin());
    let layer = |down: f64| {
        let at = move |k: usize| ((k % 8) as f64 * 0.4 + 0.01, (k / 8) as f64 * 0.4 + 0.01);
        (0..64).map(at).map(move |(x, y)| [x, y, height(x, y) - down])
    };
    let run = spheres(&layer(0.0).chain(layer(0.5)).collect::<Vec<_>>(), 9.81);
    let frame = run.frame();
    let found = Measures::of(&frame).slope(&Region::EVERYWHERE).unwrap();
    assert!((found.angle - slope).abs() < 1e-12, "{}", found.angle);
    assert!((found.direction() - turn).abs() < 1e-12, "{}", found.direction());
    // One column has no slope, and neither has a scene without gravity.
    assert_eq!(Measures::of(&frame).slope(&around(0.0, 0.3)), None);
    let run = spheres(&cubic(2), 0.0);
    assert_eq!(Measures::of(&run.frame()).slope(&Region::EVERYWHERE), None);
}

#[test]
fn segregation_is_one_if_size_grows_with_height_and_none_if_sizes_are_equal() {
    for sign in [1.0, -1.0] {
        let mut scene = Scene::builder();
        scene.gravity([0.0, 0.0, -9.81]);
        for k in 1..5 {
            let ball = Shape::sphere(0.01 * f64::from(k)).unwrap();
            let at = [0.0, 0.0, sign * f64::from(k)];
            scene.add(BodyDescription::new(ball, &rock()).at(at), &rock());
        }
        let run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
        let found = Measures::of(&run.frame()).segregation(&Region::EVERYWHERE).unwrap();
        assert!((found - sign).abs() < 1e-14, "{found}");
    }
    let run = spheres(&cubic(2), 9.81);
    assert_eq!(Measures::of(&run.frame()).segregation(&Region::EVERYWHERE), None);
}

#[test]
fn mass_counts_with_its_sign_when_it_passes_a_plane_or_a_disc() {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    for (x, u) in [(0.0, -1.0), (2.0, -1.0), (0.4, 1.0)] {
        let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock());
        let at = [x, 0.0, -0.05 * u];
        scene.add(ball.mass(3.0).at(at).velocity([0.0, 0.0, u]), &rock());
    }
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-2)).unwrap();
    let flow = |radius: f64| Flow::new(Vec3::zeros(), -Vec3::z(), radius);
    let mut flows = [flow(f64::INFINITY), flow(1.0), flow(0.3)];
    for _ in 0..10 {
        flows.iter_mut().for_each(|flow| flow.add(&run.frame()));
        run.step().unwrap();
    }
    flows.iter_mut().for_each(|flow| flow.add(&run.frame()));
    // Two fall and one rises; one falls beyond the disc of 1 m, only one passes that of 0.3 m.
    assert_eq!(flows.map(|flow| flow.mass), [3.0, 0.0, 3.0]);
}

#[test]
fn an_impact_has_its_speed_and_impulse_and_resting_contacts_are_none() {
    let bouncy = Material::new("rubber").density(1000.0).restitution(0.5);
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -9.81]);
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &bouncy);
    let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &bouncy).mass(2.0);
    scene.add(ball.at([0.0, 0.0, 0.101]).velocity([0.0, 0.0, -3.0]), &bouncy);
    let resting = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock());
    scene.add(resting.at([1.0, 0.0, 0.1]), &rock());
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    let mut seen = Vec::new();
    for _ in 0..20 {
        run.step().unwrap();
        seen.extend(impacts(&run.frame(), 0.1));
    }
    let [hit] = &seen[..] else { panic!("{seen:?}") };
    // Gravity adds less than 0.02 m/s.
    assert!((hit.speed - 3.0).abs() < 0.02, "{}", hit.speed);
    assert!((hit.impulse - 2.0 * 1.5 * hit.speed).abs() < 0.05, "{}", hit.impulse);
}
