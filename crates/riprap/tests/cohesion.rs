//! Cohesion and static friction through the public interface: what holds and what parts, which forces
//! are reported, what a restart remembers, and what is refused.

use riprap::friction::RestForces;
use riprap::prelude::*;
use riprap::scene::PairLaw;
use riprap::scheme::{ConeComplementarity, Penalty, RigidEvents, Scheme, Workspace};
use riprap::simulation::{EnergyAccount, ForceNetwork, Measures, Region, Resultant};

const DENSITY: f64 = 2500.0;
const G: f64 = 9.81;

fn sticky(cohesion: f64) -> Material {
    Material::new("sticky").density(DENSITY).friction(0.5).cohesion(cohesion)
}

fn cube(side: f64) -> Shape {
    Shape::cuboid([side; 3]).unwrap()
}

/// A fixed plane z = 0 and a body on it that a force pulls [N], without gravity.
fn pulled(shape: Shape, height: f64, material: &Material, force: [f64; 3]) -> SceneBuilder {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    scene.add_fixed(plane, Pose::IDENTITY, material);
    let mut body = BodyDescription::new(shape, material).named("body").at([0.0, 0.0, height]);
    body.force = force.into();
    scene.add(body, material);
    scene
}

fn run(scene: &SceneBuilder, dt: f64) -> Simulation {
    let scheme = MoreauJean::new(dt).solver(Coloured::tolerance(1e-10));
    Simulation::new(scene.build().unwrap(), scheme).unwrap()
}

fn height(run: &Simulation) -> f64 {
    run.pose(run.scene().body("body").unwrap()).position.z
}

#[test]
fn a_face_of_four_points_holds_as_hard_as_a_sphere() {
    let force = 0.02;
    for (shape, height_0) in [(Shape::sphere(0.01).unwrap(), 0.01), (cube(0.02), 0.01)] {
        for (share, holds) in [(0.999, true), (1.001, false)] {
            let pull = [0.0, 0.0, share * force];
            let mut run = run(&pulled(shape.clone(), height_0, &sticky(force), pull), 1e-3);
            run.until(1.0, &mut ()).unwrap();
            let moved = height(&run) - height_0;
            if holds {
                assert!(moved.abs() < 1e-9, "{moved}");
                // The body is at rest: the contact pulls back.
                let body = run.scene().body("body").unwrap();
                let reported = run.frame().contact_force(body).z;
                assert!((reported + share * force).abs() < 1e-6 * force, "{reported}");
            } else {
                assert!(moved > 0.001, "{moved}");
            }
        }
    }
}

#[test]
fn a_face_pulled_at_its_edge_peels_off_earlier() {
    // At rest on an edge the four points share the force c: its moment about the edge is c a/2.
    for (share, holds) in [(0.49, true), (0.51, false)] {
        let (force, side) = (0.02, 0.02);
        let mut scene = pulled(cube(side), 0.5 * side, &sticky(force), [0.0; 3]);
        scene = {
            let mut turned = Scene::builder();
            turned.gravity([0.0; 3]);
            let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
            turned.add_fixed(plane, Pose::IDENTITY, &sticky(force));
            let mut body = scene.bodies()[1].clone();
            body.force = Vec3::new(0.0, 0.0, share * force);
            // The pull acts above one edge.
            body.torque = Vec3::new(0.0, -share * force * 0.5 * side, 0.0);
            turned.add(body, &sticky(force));
            turned
        };
        let mut run = run(&scene, 1e-3);
        run.until(1.0, &mut ()).unwrap();
        let moved = height(&run) - 0.5 * side;
        assert_eq!(moved.abs() < 1e-8, holds, "{share}: {moved}");
    }
}

#[test]
fn the_law_of_moreau_and_newton_holds_as_hard() {
    let force = 0.02;
    let bouncing = sticky(force).restitution(0.5);
    for (share, holds) in [(0.999, true), (1.001, false)] {
        let scene = pulled(cube(0.02), 0.01, &bouncing, [0.0, 0.0, share * force]);
        let mut run = run(&scene, 1e-3);
        run.until(1.0, &mut ()).unwrap();
        let moved = height(&run) - 0.01;
        assert!(if holds { moved.abs() < 1e-9 } else { moved > 1e-3 }, "{share}: {moved}");
    }
}

#[test]
fn cone_complementarity_holds_as_hard() {
    let force = 0.02;
    for (share, holds) in [(0.999, true), (1.001, false)] {
        let scene = pulled(cube(0.02), 0.01, &sticky(force), [0.0, 0.0, share * force]);
        let mut run =
            Simulation::new(scene.build().unwrap(), ConeComplementarity::new(1e-3)).unwrap();
        run.until(1.0, &mut ()).unwrap();
        let moved = height(&run) - 0.01;
        assert!(if holds { moved.abs() < 1e-6 } else { moved > 1e-3 }, "{share}: {moved}");
    }
}

#[test]
fn surface_energy_gives_the_force_of_johnson_kendall_and_roberts() {
    // Radii of 10 and 30 mm: R = 7.5 mm; 0.9 of the force holds, and is reported.
    let energy = 2.0;
    let wet = Material::new("wet").density(DENSITY).surface_energy(energy);
    let expected = 1.5 * std::f64::consts::PI * energy * 7.5e-3;
    for (share, holds) in [(0.999, true), (1.001, false)] {
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        let large = Shape::sphere(0.03).unwrap();
        scene.add_fixed(large, Pose::at([0.0, 0.0, -0.03]), &wet);
        let small = BodyDescription::new(Shape::sphere(0.01).unwrap(), &wet);
        let mut small = small.named("body").at([0.0, 0.0, 0.01]);
        small.force = Vec3::new(0.0, 0.0, share * expected);
        scene.add(small, &wet);
        let mut run = run(&scene, 1e-3);
        run.until(1.0, &mut ()).unwrap();
        assert_eq!((height(&run) - 0.01).abs() < 1e-9, holds);
    }
}

#[test]
fn it_takes_the_force_times_the_range_to_part_two_bodies() {
    // Thrown upwards by 0.2 m/s: the work c δ is missing from its kinetic energy afterwards.
    let (force, range) = (0.02, 5e-4);
    let material = sticky(force).cohesion_range(range);
    let mut scene = pulled(Shape::sphere(0.01).unwrap(), 0.01, &material, [0.0; 3]);
    let mut thrown = scene.bodies()[1].clone();
    scene = pulled(Shape::sphere(0.01).unwrap(), 0.01, &material, [0.0; 3]);
    thrown.velocity = Vec3::new(0.0, 0.0, 0.2);
    thrown.pose.position.x = 0.1;
    thrown.name = "thrown".to_owned();
    scene.add_body(thrown);
    let mut run = run(&scene, 1e-6);
    let mut account = EnergyAccount::open(&run.frame());
    while run.time() < 5e-3 {
        run.step().unwrap();
        account.add(&run.frame());
    }
    let body = run.scene().body("thrown").unwrap();
    let mass = run.scene().bodies().mass[run.scene().slot(body)];
    let speed = run.velocity(body).linear.z;
    let lost = 0.5 * mass * (0.04 - speed * speed);
    // One step of 0.2 m/s × 1e-6 s of the range.
    assert!((lost / (force * range) - 1.0).abs() < 1e-3, "{lost}");
    assert!((account.cohesion / (force * range) - 1.0).abs() < 1e-3, "{account:?}");
    assert!(account.other().abs() < 1e-12 && account.impact.abs() < 1e-12, "{account:?}");
}

#[test]
fn friction_is_proportional_to_the_load_and_the_cohesion() {
    let (force, side) = (0.05, 0.02);
    let weight = DENSITY * side * side * side * G;
    let limit = 0.5 * (weight + force);
    for (share, holds) in [(0.999, true), (1.001, false)] {
        // Weight and pull act on the centre of a flat plate, so that it does not tip.
        let plate = Shape::cuboid([0.04, 0.04, 0.005]).unwrap();
        let mut scene = pulled(plate, 0.0025, &sticky(force), [share * limit, 0.0, -weight]);
        scene.gravity([0.0; 3]);
        let mut run = run(&scene, 1e-3);
        run.until(0.5, &mut ()).unwrap();
        let x = run.pose(run.scene().body("body").unwrap()).position.x;
        let mass = DENSITY * 0.04 * 0.04 * 0.005;
        let slides = 0.5 * (share - 1.0) * limit / mass * 0.25;
        if holds {
            assert!(x.abs() < 1e-8, "{x}");
        } else {
            assert!((x / slides - 1.0).abs() < 0.02, "{x} {slides}");
        }
    }
}

/// Sticky spheres and cubes that fall onto a plane, with a static friction.
fn pile(restitution: f64) -> Scene {
    let mut material = sticky(0.05).static_friction(0.8).rolling(1e-4);
    material = material.restitution(restitution);
    let mut scene = Scene::builder();
    let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    scene.add_fixed(plane, Pose::IDENTITY, &material);
    for k in 0..12 {
        let (x, z) = (0.011 * f64::from(k % 3), 0.012 + 0.022 * f64::from(k / 3));
        let shape = if k % 2 == 0 { Shape::sphere(0.01).unwrap() } else { cube(0.016) };
        let body = BodyDescription::new(shape, &material).at([
            x + 0.012 * f64::from(k % 3),
            0.001 * f64::from(k),
            z,
        ]);
        scene.add(body.spin([0.0, 1.0, 0.5]), &material);
    }
    scene.build().unwrap()
}

#[test]
fn a_restart_continues_bit_by_bit() {
    for restitution in [0.0, 0.4] {
        let scene = pile(restitution);
        let scheme = MoreauJean::new(1e-3);
        let (mut whole, mut kept) = (scene.initial_state(), Workspace::default());
        let mut parts = scene.initial_state();
        for _ in 0..200 {
            scheme.step(&scene, &mut whole, &mut kept).unwrap();
            scheme.step(&scene, &mut parts, &mut Workspace::default()).unwrap();
        }
        assert!(whole.warm_start.len() > 10, "{}", whole.warm_start.len());
        assert_eq!(whole, parts);
    }
}

#[test]
fn impulses_act_in_pairs() {
    // Two spheres collide off centre and keep their momenta, whether they stick or not.
    for speed in [0.01, 1.0] {
        let material = sticky(0.1).restitution(0.3);
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        for (x, y, v) in [(-0.011, 0.0, speed), (0.011, 0.006, 0.0)] {
            let ball = BodyDescription::new(Shape::sphere(0.01).unwrap(), &material);
            scene.add(ball.at([x, y, 0.0]).velocity([v, 0.0, 0.0]), &material);
        }
        let mut run = run(&scene, 1e-4);
        let before = run.frame().balance();
        run.until(0.5 / speed.max(0.5), &mut ()).unwrap();
        let after = run.frame().balance();
        let scale = before.momentum.norm();
        assert!((after.momentum - before.momentum).norm() < 1e-12 * scale);
        let turned = after.angular_momentum - before.angular_momentum;
        assert!(turned.norm() < 1e-10 * scale * 0.01, "{turned}");
        assert!(after.kinetic < before.kinetic);
    }
}

#[test]
fn stress_and_unique_forces_contain_the_tension() {
    // A cube hangs below a fixed one, which it touches from below.
    let (side, force) = (0.02, 0.5);
    let material = sticky(force);
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -G]);
    scene.add_fixed(cube(side), Pose::at([0.0, 0.0, side]), &material);
    let hanging = BodyDescription::new(cube(side), &material).named("body");
    scene.add(hanging, &material);
    let mut run = run(&scene, 1e-3);
    run.until(0.05, &mut ()).unwrap();
    assert!(height(&run).abs() < 1e-9);
    let (frame, weight) = (run.frame(), DENSITY * side * side * side * G);
    let cell = Region { min: Vec3::repeat(-0.5 * side), max: Vec3::repeat(0.5 * side) };
    let stress = Measures::of(&frame).stress(&cell)[(2, 2)];
    // Compression is positive; it hangs on its upper face.
    let expected = -0.5 * weight / (side * side);
    assert!((stress / expected - 1.0).abs() < 1e-6, "{stress} {expected}");
    let network = ForceNetwork::of(&frame, &RestForces::new(), Resultant::Balance).unwrap();
    let sum: f64 = network.contacts.iter().map(|c| c.force.z.abs()).sum();
    assert!(network.report.converged && network.contacts.len() == 4, "{:?}", network.report);
    assert!((sum / weight - 1.0).abs() < 1e-6, "{sum} {weight}");
    assert!(network.contacts.iter().all(|c| c.normal_force() < 0.0));
}

#[test]
fn a_contact_that_sticks_has_the_static_friction_and_one_that_slides_the_other() {
    let (held, kinetic) = (0.6_f64, 0.4);
    for (slope, speed, acceleration) in [
        (0.999 * held, 0.0, None),
        (1.001 * held, 0.0, Some(1.001 * held - kinetic)),
        // What already slides keeps sliding below the static friction.
        (0.5, 0.1, Some(0.5 - kinetic)),
        (0.5, 0.0, None),
    ] {
        let angle = slope.atan();
        let material = Material::new("m").density(DENSITY).friction(kinetic).static_friction(held);
        let mut scene = Scene::builder();
        scene.gravity([G * angle.sin(), 0.0, -G * angle.cos()]);
        let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
        scene.add_fixed(plane, Pose::IDENTITY, &material);
        let block = Shape::cuboid([0.1, 0.1, 0.02]).unwrap();
        let block = BodyDescription::new(block, &material).at([0.0, 0.0, 0.01]);
        let block = scene.add(block.velocity([speed, 0.0, 0.0]), &material);
        let mut run = run(&scene, 1e-3);
        let time = 0.5;
        run.until(time, &mut ()).unwrap();
        let v = run.velocity(block).linear.x;
        match acceleration {
            None => assert!(v.abs() < 1e-9, "{slope}: {v}"),
            Some(a) => {
                let expected = speed + a * G * angle.cos() * time;
                // A few steps until it counts as sliding.
                assert!((v / expected - 1.0).abs() < 0.02, "{slope}: {v} {expected}");
            }
        }
    }
}

#[test]
fn other_schemes_refuse_both_laws() {
    let sticks = pulled(cube(0.02), 0.01, &sticky(0.1), [0.0; 3]).build().unwrap();
    let rough = Material::new("m").density(DENSITY).friction(0.3).static_friction(0.5);
    let grips = pulled(cube(0.02), 0.01, &rough, [0.0; 3]).build().unwrap();
    let refuse = |scene: &Scene, scheme: Box<dyn Scheme>| {
        Simulation::new(scene.clone(), scheme).err().unwrap().to_string()
    };
    let schemes = || -> [Box<dyn Scheme>; 3] {
        [
            Box::new(GeneralizedAlpha::new(1e-3)),
            Box::new(RigidEvents::new(1e-3)),
            Box::new(Penalty::new(1e-5)),
        ]
    };
    for scheme in schemes() {
        let text = refuse(&sticks, scheme);
        assert!(text.contains("cohesion") && text.contains("moreau-jean"), "{text}");
    }
    for scheme in schemes() {
        let text = refuse(&grips, scheme);
        assert!(text.contains("static_friction") && text.contains("moreau-jean"), "{text}");
    }
}

#[test]
fn bad_numbers_are_reported_with_their_material() {
    let errors = |material: Material| {
        let scene = pulled(cube(0.02), 0.01, &material, [0.0; 3]);
        scene.build().err().unwrap().to_string()
    };
    for (material, says) in [
        (sticky(-1.0), "cohesion is -1"),
        (sticky(f64::NAN), "cohesion is NaN"),
        (sticky(0.0).surface_energy(-0.1), "surface energy is -0.1"),
        (sticky(1.0).cohesion_range(0.0), "cohesion range is 0"),
        (sticky(1.0).cohesion_range(1e-12), "within the errors of touching contacts"),
        (sticky(1.0).static_friction(0.4), "static friction is 0.4"),
    ] {
        let text = errors(material);
        assert!(text.contains("sticky") && text.contains(says), "{text}");
    }
    let mut scene = pulled(cube(0.02), 0.01, &sticky(1.0).cohesion_range(1e-3), [0.0; 3]);
    assert_eq!(scene.build().unwrap().detection().alert, 1e-3, "detected as far as it acts");
    let text = scene.alert(1e-4).build().err().unwrap().to_string();
    assert!(text.contains("raise the alert distance"), "{text}");
    // Not cohesive, so nothing to see.
    pulled(cube(0.02), 0.01, &sticky(0.0).cohesion_range(1e-3), [0.0; 3])
        .alert(1e-4)
        .build()
        .unwrap();
}

#[test]
fn two_materials_adhere_like_the_weaker_one() {
    let [a, b] = [sticky(2.0).cohesion_range(1e-3), Material::new("dry").friction(0.7)];
    assert!(!PairLaw::combined(&a, &b).is_cohesive());
    let b = b.cohesion(1.0).static_friction(0.9);
    let law = PairLaw::combined(&a, &b);
    assert_eq!((law.cohesion, law.cohesion_range), (1.0, Some(1e-3)));
    // The one without a static friction has its friction.
    assert_eq!((law.friction, law.static_friction), (0.5, Some(0.5)));
}
