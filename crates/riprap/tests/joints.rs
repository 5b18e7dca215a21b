//! Joints between bodies in absolute coordinates: what they constrain, what they leave free,
//! momentum, and drift.

use riprap::assembly::{joint_drift, joint_error, joint_wrenches};
use riprap::prelude::*;
use riprap::scene::{BodyJoint, Hold, On, ResolvedJoint};
use riprap::simulation::Balance;

const HOLDS: [Hold; 4] = [Hold::Ball, Hold::Hinge, Hold::Slider, Hold::Weld];
/// Relative tolerance of the solver in all runs.
const TOLERANCE: f64 = 1e-13;

/// Frame of the joint of two boxes, with z along the axis of the joint: at the origin, not aligned
/// with the world axes.
fn frame() -> Pose {
    Pose { position: Vec3::zeros(), rotation: Quat::from_scaled_axis(Vec3::new(0.5, 0.3, 0.1)) }
}

/// Two boxes side by side along x that are joined in between, each 0.5 m from the joint, thrown and
/// spinning as one and moving relative to each other as the joint allows. Their sizes are given, so
/// that they can be cubes.
fn thrown(hold: Hold, sizes: [[f64; 3]; 2], project: bool) -> Scene {
    let rock = Material::new("rock").density(1000.0);
    let axis = frame().rotation * Vec3::z();
    let (throw, spin) = (Vec3::new(1.0, -0.5, 0.3), Vec3::new(0.4, 1.1, -0.7));
    // Relative motion of the second against the first.
    let (slide, turn) = match hold {
        Hold::Ball => (Vec3::zeros(), Vec3::new(0.5, -0.2, 0.9)),
        Hold::Hinge => (Vec3::zeros(), axis * 1.5),
        Hold::Slider => (axis * 0.3, Vec3::zeros()),
        Hold::Weld => (Vec3::zeros(), Vec3::zeros()),
    };
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let ends = [(-0.5, sizes[0], Vec3::zeros(), spin), (0.5, sizes[1], slide, spin + turn)];
    let [a, b] = ends.map(|(x, size, slide, spin)| {
        let place = Vec3::new(x, 0.0, 0.0);
        let mut body = BodyDescription::new(Shape::cuboid(size).unwrap(), &rock).at(place.into());
        body.velocity = throw + slide + spin.cross(&place);
        body.angular_velocity = spin;
        (On::Body(scene.add(body, &rock)), Pose::at(place.into()))
    });
    let mut joint = BodyJoint::at("joint", hold, frame(), a, b);
    joint.project = project;
    scene.add_joint(joint);
    scene.build().unwrap()
}

const LONG: [[f64; 3]; 2] = [[0.8, 0.3, 0.2], [0.7, 0.2, 0.4]];
const CUBES: [[f64; 3]; 2] = [[0.4; 3], [0.3; 3]];

fn run(scene: Scene, dt: f64) -> Simulation {
    Simulation::new(scene, MoreauJean::new(dt).solver(GaussSeidel::tolerance(TOLERANCE))).unwrap()
}

/// Velocity of the second body relative to the first along the constrained directions of a joint,
/// at given poses [m/s, rad/s].
fn held_velocity(joint: &ResolvedJoint, q: &[Pose], v: &[Twist]) -> f64 {
    let [i, j] = joint.bodies.map(|body| body as usize);
    let point = q[j].point(joint.places[1]);
    let at = |body: usize| v[body].linear + v[body].angular.cross(&(point - q[body].position));
    let (slide, turn) = (at(j) - at(i), v[j].angular - v[i].angular);
    let axes = [0, 1, 2].map(|k| q[i].rotation * joint.rotations[0].column(k).into_owned());
    let slide = axes.map(|u| u.dot(&slide));
    let turn = axes.map(|u| u.dot(&turn));
    let held: &[f64] = match joint.hold {
        Hold::Ball => &slide,
        Hold::Hinge => &[slide[0], slide[1], slide[2], turn[0], turn[1]],
        Hold::Slider => &[slide[0], slide[1], turn[0], turn[1], turn[2]],
        Hold::Weld => &[slide[0], slide[1], slide[2], turn[0], turn[1], turn[2]],
    };
    held.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

#[test]
fn every_step_ends_with_velocities_that_the_joint_allows() {
    for hold in HOLDS {
        // Cubes keep their spin, so that their velocities at the end are those that the solver found at q_m.
        let mut run = run(thrown(hold, CUBES, false), 1e-3);
        for _ in 0..300 {
            let before = run.state().clone();
            run.step().unwrap();
            let mut q_m = before.q.clone();
            run.scene().integrate(&before.q, &before.v, 0.5e-3, &mut q_m);
            let off = held_velocity(&run.scene().joints()[0], &q_m, &run.state().v);
            // Velocities are of the order 1 m/s and 1 rad/s.
            assert!(off < 1e-12, "{hold:?} at {} s: {off}", run.time());
        }
    }
}

#[test]
fn directions_that_a_joint_does_not_constrain_stay_free() {
    for hold in HOLDS {
        let mut run = run(thrown(hold, LONG, true), 1e-3);
        run.until(1.0, &mut ()).unwrap();
        let q = &run.state().q;
        let joint = &run.scene().joints()[0];
        let slid = (q[1].point(joint.places[1]) - q[0].point(joint.places[0])).norm();
        let [a, b] =
            [0, 1].map(|k| q[k].rotation.to_rotation_matrix().matrix() * joint.rotations[k]);
        let turned = ((a.transpose() * b).trace() * 0.5 - 0.5).clamp(-1.0, 1.0).acos();
        let tilted = (a.column(2).dot(&b.column(2))).clamp(-1.0, 1.0).acos();
        // Angles near zero from `acos` have half the digits.
        let (slides, turns, tilts) = (slid > 0.1, turned > 0.1, tilted > 0.1);
        assert_eq!(slides, hold == Hold::Slider, "{hold:?} slides {slid} m");
        assert_eq!(turns, matches!(hold, Hold::Ball | Hold::Hinge), "{hold:?} turns {turned}");
        assert_eq!(tilts, hold == Hold::Ball, "{hold:?} tilts {tilted}");
        assert!(slides || slid < 1e-10, "{hold:?} {slid}");
        assert!(turns || turned < 1e-6, "{hold:?} {turned}");
        assert!(tilts || tilted < 1e-6, "{hold:?} {tilted}");
    }
}

#[test]
fn a_free_pair_conserves_its_momentum() {
    for hold in HOLDS {
        for project in [false, true] {
            let mut run = run(thrown(hold, LONG, project), 1e-3);
            let begin = Balance::of(run.scene(), run.state());
            run.until(1.0, &mut ()).unwrap();
            let end = Balance::of(run.scene(), run.state());
            let change = (end.momentum - begin.momentum).norm() / begin.momentum.norm();
            assert!(change < 1e-10, "{hold:?}: {change}");
            // Projecting positions changes the angular momentum, to first order in the step.
            let spin = begin.angular_momentum.norm();
            let change = (end.angular_momentum - begin.angular_momentum).norm() / spin;
            let limit = if project { 1e-3 } else { 1e-10 };
            assert!(change < limit, "{hold:?}, projected: {project}: {change}");
        }
    }
}

#[test]
fn joints_drift_with_the_step_unless_they_are_projected() {
    for hold in HOLDS {
        let drift = |project: bool, dt: f64| {
            let mut run = run(thrown(hold, LONG, project), dt);
            run.until(0.5, &mut ()).unwrap();
            joint_error(run.scene(), &run.state().q)
        };
        let (coarse, fine) = (drift(false, 1e-3), drift(false, 2.5e-4));
        let order = (coarse / fine).log2() / 2.0;
        assert!((order - 1.0).abs() < 0.02, "{hold:?}: order {order}, {coarse} and {fine}");
        assert!(coarse > 1e-6 && coarse < 1e-2, "{hold:?}: {coarse}");
        let projected = drift(true, 1e-3);
        assert!(projected < 1e-10, "{hold:?}: {projected}");
    }
}

/// A box joined to the world, its centre 0.5 m from the joint along x; gravity is along −z.
fn hanging(hold: Hold, project: bool) -> Scene {
    let rock = Material::new("rock").density(1000.0);
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -9.81]);
    let place = Vec3::new(0.5, 0.0, 0.0);
    let body = BodyDescription::new(Shape::cuboid([0.8, 0.3, 0.2]).unwrap(), &rock);
    let body = scene.add(body.at(place.into()), &rock);
    let (a, b) = ((On::World, Pose::IDENTITY), (On::Body(body), Pose::at(place.into())));
    let mut joint = BodyJoint::at("joint", hold, frame(), a, b);
    joint.project = project;
    scene.add_joint(joint);
    scene.build().unwrap()
}

#[test]
fn a_box_joined_to_the_world_moves_as_its_joint_allows() {
    let (mass, g, until) = (48.0, 9.81, 0.5);
    let axis = frame().rotation * Vec3::z();
    for hold in HOLDS {
        for project in [false, true] {
            let mut run = run(hanging(hold, project), 1e-4);
            let begin = run.frame().balance();
            run.until(until, &mut ()).unwrap();
            let end = run.frame().balance();
            let energy = end.kinetic + end.potential - begin.kinetic - begin.potential;
            // It falls through about half a metre: 1e-3 of m g l. Drift and step errors are of
            // first order in 1e-4 s.
            assert!(energy.abs() < 1e-3 * mass * g * 0.5, "{hold:?}: {energy} J");
            assert!(end.kinetic > 1.0 || hold == Hold::Weld, "{hold:?} does not move");

            let body = run.scene().joints()[0]
                .bodies
                .into_iter()
                .find(|b| run.scene().bodies().movable[*b as usize]);
            let q = run.state().q[body.unwrap() as usize];
            let moved = q.position - Vec3::new(0.5, 0.0, 0.0);
            match hold {
                Hold::Weld => assert!(moved.norm() < 1e-10, "{moved:?}"),
                // A bead on a straight wire: ½ (g · u) t² along it.
                Hold::Slider => {
                    let fall = -axis * (0.5 * g * axis.z * until * until);
                    assert!((moved - fall).norm() < 1e-3 * fall.norm(), "{moved:?}, {fall:?}");
                }
                // The centre keeps its distance from the joint, and for a hinge stays in its plane.
                Hold::Ball => assert!((q.position.norm() - 0.5).abs() < 1e-3, "{q:?}"),
                Hold::Hinge => {
                    let height = q.position.dot(&axis) - 0.5 * axis.x;
                    assert!(height.abs() < 1e-3, "{height}");
                }
            }
            if project {
                let [distance, angle] = joint_drift(&run.scene().joints()[0], &run.state().q);
                assert!(distance < 1e-10 && angle < 1e-10, "{hold:?}: {distance}, {angle}");
            }
        }
    }
}

#[test]
fn the_reported_force_of_a_joint_acts_on_its_second_body() {
    for hold in HOLDS {
        let dt = 1e-3;
        let mut run = run(thrown(hold, CUBES, true), dt);
        run.until(0.2, &mut ()).unwrap();
        let before = run.state().clone();
        run.step().unwrap();
        let body = &run.scene().bodies();
        let momentum = (run.state().v[1].linear - before.v[1].linear) * body.mass[1];
        let (force, torque) = joint_wrenches(run.scene(), run.state(), dt).next().unwrap();
        // The axes have rotated over half a step since then: θ h ω ≈ 1e-3 rad.
        assert!((force - momentum / dt).norm() < 3e-3 * force.norm(), "{hold:?}: {force:?}");
        assert!(force.norm() > 1.0, "{hold:?}: {force:?}");
        assert_eq!(torque == Vec3::zeros(), hold == Hold::Ball, "{hold:?}: {torque:?}");
    }
}
