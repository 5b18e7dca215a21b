//! The correction of overlaps through the public interface: which bodies it moves, and what it
//! leaves as it is.

use riprap::assembly::joint_error;
use riprap::prelude::*;

/// Fraction of the smaller body's size to which overlaps are reduced, and the one beyond which they
/// are corrected (`assembly/project.rs`).
const LEFT: f64 = 2e-4;
const DEEP: f64 = 3e-4;

fn rock(density: f64) -> Material {
    Material::new("rock").density(density).friction(0.5)
}

/// A scene without gravity that accepts overlaps.
fn floating() -> SceneBuilder {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]).accept_overlap(0.1);
    scene
}

fn ball(x: f64) -> BodyDescription {
    BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock(2500.0)).at([x, 0.0, 0.0])
}

fn start(scene: &SceneBuilder, overlaps: bool) -> Simulation {
    start_with(scene, overlaps, 1e-8)
}

fn start_with(scene: &SceneBuilder, overlaps: bool, tolerance: f64) -> Simulation {
    let fix = Stabilization { overlaps, ..Stabilization::ALL };
    let scheme = MoreauJean::new(1e-3).stabilization(fix).solver(Coloured::tolerance(tolerance));
    Simulation::new(scene.build().unwrap(), scheme).unwrap()
}

/// A wall that occupies everything beyond `x`.
fn add_wall(scene: &mut SceneBuilder, x: f64) -> Body {
    let wall = Shape::half_space([-1.0, 0.0, 0.0]).unwrap();
    scene.add_fixed(wall, Pose::at([x, 0.0, 0.0]), &rock(2500.0))
}

#[test]
fn two_balls_are_moved_apart_in_inverse_proportion_to_their_masses_and_stay_at_rest() {
    let mut scene = floating();
    // An overlap of 1 % of the diameter; the second ball weighs eight times as much.
    let (light, heavy) = (ball(0.0), Shape::sphere(0.2).unwrap());
    let heavy = BodyDescription::new(heavy, &rock(2500.0)).at([0.298, 0.0, 0.0]);
    let [a, b] = [light, heavy].map(|body| scene.add(body, &rock(2500.0)));
    let mut run = start(&scene, true);
    run.step().unwrap();
    let moved = [run.pose(a).position.x, run.pose(b).position.x - 0.298];
    // One contact is solved exactly, and both displacements are along its normal.
    assert!((moved[1] - moved[0] - (0.002 - LEFT * 0.2)).abs() < 1e-12, "{moved:?}");
    assert!((moved[0] + 8.0 * moved[1]).abs() < 1e-12, "{moved:?}");
    for body in [a, b] {
        assert_eq!(run.velocity(body), Twist::default());
    }
    // Without the correction nothing moves.
    let mut run = start(&scene, false);
    let report = run.step().unwrap();
    assert_eq!(run.pose(a).position.x, 0.0);
    assert!((report.penetration - 0.002).abs() < 1e-15);
}

#[test]
fn walls_and_prescribed_bodies_are_not_moved() {
    let mut scene = floating();
    let wall = add_wall(&mut scene, 0.099);
    let piston = Shape::cuboid([0.1; 3]).unwrap();
    let motion = Motion::Velocity {
        linear: riprap::scene::Law::constant([0.02, 0.0, 0.0]),
        angular: riprap::scene::Law::constant([0.0; 3]),
    };
    let piston = BodyDescription::new(piston, &rock(2500.0)).at([-0.3, 0.0, 0.0]).moving(motion);
    let piston = scene.add(piston, &rock(2500.0));
    let stone = scene.add(ball(0.0), &rock(2500.0));
    let mut run = start(&scene, true);
    for _ in 0..10 {
        run.step().unwrap();
    }
    assert_eq!(run.pose(wall).position, Vec3::new(0.099, 0.0, 0.0));
    assert!((run.pose(piston).position.x - (-0.3 + 0.02 * 0.01)).abs() < 1e-15);
    assert!((run.pose(stone).position.x - (-0.001 + LEFT * 0.2)).abs() < 1e-12);
}

#[test]
fn an_overlap_is_not_passed_on_to_neighbours_that_touch() {
    let mut scene = floating();
    let places = [0.0, 0.197, 0.397, 0.597, 0.797];
    let balls = places.map(|x| scene.add(ball(x), &rock(2500.0)));
    let mut run = start(&scene, true);
    let report = run.step().unwrap();
    for pair in balls.windows(2) {
        let distance = run.pose(pair[1]).position.x - run.pose(pair[0]).position.x;
        // The deepest that is left, plus the tolerance of the projection, 2e-4.
        assert!(distance > 0.2 - (DEEP + 2e-4) * 0.2, "{distance}");
    }
    // The report describes the configuration that is left.
    assert!(report.penetration < 8e-4 * 0.2, "{}", report.penetration);
    let centre: f64 = balls.iter().map(|b| run.pose(*b).position.x).sum();
    assert!((centre - places.iter().sum::<f64>()).abs() < 1e-12);
}

#[test]
fn without_deep_overlaps_the_correction_changes_no_bit() {
    let mut scene = Scene::builder();
    let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    scene.add_fixed(floor, Pose::IDENTITY, &rock(2500.0));
    for k in 0..5 {
        let cube = BodyDescription::new(Shape::cuboid([0.2; 3]).unwrap(), &rock(2500.0));
        scene.add(cube.at([0.01 * f64::from(k), 0.0, 0.1 + 0.2 * f64::from(k)]), &rock(2500.0));
    }
    let [with, without] = [true, false].map(|overlaps| {
        let mut run = start(&scene, overlaps);
        run.until(0.2, &mut ()).unwrap();
        run.state().clone()
    });
    assert_eq!(with, without);
}

#[test]
fn joints_hold_their_bodies_while_an_overlap_is_removed() {
    for project in [false, true] {
        let mut scene = floating();
        add_wall(&mut scene, 0.098);
        let bob = scene.add(ball(0.0), &rock(2500.0));
        let pivot = Pose::at([0.0, 0.0, 0.5]);
        let ends = ((On::World, Pose::IDENTITY), (On::Body(bob), Pose::IDENTITY));
        let mut joint = BodyJoint::at("pivot", Hold::Ball, pivot, ends.0, ends.1);
        joint.project = project;
        scene.add_joint(joint);
        let mut run = start(&scene, true);
        let report = run.step().unwrap();
        assert!(report.penetration < 8e-4 * 0.2, "{}", report.penetration);
        assert!(run.pose(bob).position.x < -0.0018, "{}", run.pose(bob).position.x);
        // The displacement is linear: a rotation by 4 mrad lengthens an arm of 0.5 m by 4 µm.
        let limit = if project { 1e-12 } else { 1e-5 };
        assert!(joint_error(run.scene(), &run.state().q) < limit);
    }
}

#[test]
fn a_mechanism_yields_with_its_loop_closed_and_its_drives_unchanged() {
    for driven in [false, true] {
        let mut m = Mechanism::new("slider-crank");
        let bar = |length: f64| {
            let moments = [1e-3, 1e-3, 2e-3];
            Some(MassProperties::principal(length, [0.5 * length, 0.0, 0.0], moments))
        };
        let hinge = Joint::Revolute(Axis::Z);
        let crank = m.add("crank", GROUND, hinge, Pose::IDENTITY, bar(0.3));
        let rod = m.add("rod", crank, hinge, Pose::at([0.3, 0.0, 0.0]), bar(0.8));
        let mass = Some(MassProperties::point(0.5, [0.0; 3]));
        let slider = m.add("slider", GROUND, Joint::Prismatic(Axis::X), Pose::IDENTITY, mass);
        let ends = (Marker::at(slider, [0.0; 3]), Marker::at(rod, [0.8, 0.0, 0.0]));
        m.close_loop("pin", Cut::Pin, ends.0, ends.1);
        m.start(m.coordinate(crank, 0), 0.9);
        if driven {
            m.drive(m.coordinate(crank, 0), JointMotion::new(|_| [0.9, 0.0, 0.0]));
        }
        m.guess(m.coordinate(rod, 0), -0.9);
        m.guess(m.coordinate(slider, 0), 0.95);
        m.attach(slider, Shape::sphere(0.1).unwrap(), Pose::IDENTITY, "rock");
        let mut scene = floating();
        scene.material(&rock(2500.0));
        let id = scene.add_mechanism(m);
        // Where the slider is: a cos φ + √(b² − a² sin² φ).
        let (s, c) = 0.9_f64.sin_cos();
        let place = 0.3 * c + (0.64 - 0.09 * s * s).sqrt();
        add_wall(&mut scene, place + 0.099);
        let mut run = start(&scene, true);
        let before = run.state().mechanisms[id.index()].clone();
        let report = run.step().unwrap();
        let after = &run.state().mechanisms[id.index()];
        assert_eq!(after.v, before.v);
        if driven {
            assert_eq!(after.q, before.q);
        } else {
            // Second order in a displacement of a millimetre.
            assert!(report.penetration < 8e-4 * 0.2, "{}", report.penetration);
            let slid = run.scene().link_body(id, slider);
            let moved = run.pose(slid).position.x - place;
            assert!((moved + 0.001 - LEFT * 0.2).abs() < 1e-5, "{moved}");
            assert!(report.loop_residual < 1e-11);
        }
    }
}

#[test]
fn a_tower_that_overlaps_is_lifted_without_moving_sideways() {
    let mut scene = Scene::builder();
    scene.accept_overlap(0.1);
    let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    scene.add_fixed(floor, Pose::IDENTITY, &rock(2500.0));
    let boxes: Vec<Body> = (0..8)
        .map(|k| {
            let cube = BodyDescription::new(Shape::cuboid([1.0; 3]).unwrap(), &rock(2500.0));
            scene.add(cube.at([0.0, 0.0, 0.5 + 0.995 * f64::from(k)]), &rock(2500.0))
        })
        .collect();
    let mut run = start(&scene, true);
    let report = run.until(0.5, &mut ()).unwrap();
    assert_eq!(report.unconverged, 0);
    let size = run.scene().bodies().size[1];
    for (k, b) in boxes.iter().enumerate() {
        let p = run.pose(*b).position;
        // Every joint is left with between nothing and the tolerated overlap.
        let place = 0.5 + k as f64;
        let (lowest, highest) = (place - 8e-4 * size * (k + 1) as f64, place + 1e-4);
        assert!((lowest..=highest).contains(&p.z), "{k}: {p}");
        assert!(p.x.hypot(p.y) < 1e-6, "{k}: {p}");
        // It comes to rest: the lift leaves no velocity.
        assert!(run.velocity(*b).linear.norm() < 1e-6, "{k}: {}", run.velocity(*b).linear);
    }
}

#[test]
fn corrected_stones_are_bitwise_identical_on_any_number_of_threads_and_after_a_restart() {
    let mut scene = Scene::builder();
    scene.accept_overlap(0.1);
    let stone = rock(2500.0);
    for (normal, at) in [([0.0, 0.0, 1.0], [0.0; 3]), ([1.0, 0.0, 0.0], [-0.05, 0.0, 0.0])] {
        scene.add_fixed(Shape::half_space(normal).unwrap(), Pose::at(at), &stone);
    }
    // Cubes on a lattice with overlaps of 1 %: enough contacts for colours and threads.
    for k in 0..343 {
        let [x, y, z] = [k % 7, k / 7 % 7, k / 49].map(|i| 0.0495 * f64::from(2 * i));
        let cube = Shape::cuboid([0.1; 3]).unwrap();
        let turned = Quat::from_scaled_axis(Vec3::new(0.0, 0.0, 1e-3 * f64::from(k % 5)));
        let body = BodyDescription::new(cube, &stone).at([x, y, z + 0.0495]).turned(turned);
        scene.add(body, &stone);
    }
    let run_on = |threads: usize, restart: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut run = start_with(&scene, true, 1e-2);
            for k in 0..6 {
                run.step().unwrap();
                if restart && k == 2 {
                    let state = run.state().clone();
                    run = start_with(&scene, true, 1e-2);
                    run.set_state(state).unwrap();
                }
            }
            (run.state().clone(), run.report().contacts.1)
        })
    };
    let (first, contacts) = run_on(1, false);
    assert!(contacts > 1000, "{contacts}");
    for (threads, restart) in [(2, false), (3, false), (2, true)] {
        assert_eq!(run_on(threads, restart).0, first, "{threads} threads, restart: {restart}");
    }
}
