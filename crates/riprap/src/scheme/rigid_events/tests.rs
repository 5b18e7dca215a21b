use super::*;
use crate::math::{Pose, Quat, Vec3};
use crate::scene::{BodyDescription, Law, Material, Motion, Scene};
use crate::shape::Shape;
use crate::simulation::{EnergyAccount, Simulation};

const G: f64 = 9.81;

/// A floor with its normal along y in a planar scene.
fn floor(scene: &mut crate::scene::SceneBuilder, material: &Material) {
    scene.planar().gravity([0.0, -G, 0.0]);
    scene.add_fixed(Shape::half_space([0.0, 1.0, 0.0]).unwrap(), Pose::IDENTITY, material);
}

fn rectangle(width: f64, height: f64) -> Shape {
    let (x, y) = (0.5 * width, 0.5 * height);
    Shape::polygon(&[[-x, -y], [x, -y], [x, y], [-x, y]], 1.0).unwrap()
}

#[test]
fn a_ball_bounces_at_the_times_of_the_closed_form_and_comes_to_rest() {
    for control in [StepControl::RootFinding, StepControl::Halving] {
        let rubber = Material::new("rubber").density(1000.0).restitution(0.8);
        let mut scene = Scene::builder();
        scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rubber);
        let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rubber).at([0.0, 0.0, 1.1]);
        let ball = scene.add(ball, &rubber);
        let scheme = RigidEvents::new(0.05).control(control);
        let mut run = Simulation::new(scene.build().unwrap(), scheme).unwrap();
        let fall = (2.0 / G).sqrt();
        let mut expected = fall;
        let mut account = EnergyAccount::open(&run.frame());
        for k in 0..15 {
            let collisions = RigidEvents::events(run.state()).collisions;
            while RigidEvents::events(run.state()).collisions == collisions {
                let t = run.time();
                run.advance_to(10.0).unwrap();
                account.add(&run.frame());
                if RigidEvents::events(run.state()).collisions > collisions {
                    // Root finding is exact on a parabola; halving ends within the shortest step.
                    let near = if control == StepControl::Halving { 1e-7 } else { 1e-13 };
                    assert!((t - expected).abs() < near, "{control:?} {k}: {t} {expected}");
                }
            }
            expected += 2.0 * fall * 0.8_f64.powi(k + 1);
        }
        // All impacts: t = √(2h/g) (1 + e)/(1 − e).
        run.until(fall * 9.0 + 0.1, &mut ()).unwrap();
        account.add(&run.frame());
        let (q, v) = (run.pose(ball), run.velocity(ball));
        assert!((q.position.z - 0.1).abs() < 1e-9 && v.linear.norm() < 1e-12);
        assert!(
            (account.kinetic + account.potential + account.dissipated() - account.initial).abs()
                < 1e-6 * account.initial
        );
        assert!(
            (run.frame().contact_force(ball).z - G * 4.0 / 3.0 * std::f64::consts::PI).abs() < 1e-9
        );
    }
}

#[test]
fn a_sliding_block_stops_after_the_distance_of_the_closed_form() {
    let (mu, speed) = (0.3, 2.0);
    let steel = Material::new("steel").density(1000.0).friction(mu);
    let mut scene = Scene::builder();
    floor(&mut scene, &steel);
    let block = BodyDescription::new(rectangle(0.2, 0.1), &steel).at([0.0, 0.05, 0.0]);
    let block = scene.add(block.velocity([speed, 0.0, 0.0]), &steel);
    let mut run = Simulation::new(scene.build().unwrap(), RigidEvents::new(0.03)).unwrap();
    let stop = speed / (mu * G);
    while RigidEvents::events(run.state()).stops == 0 {
        run.advance_to(10.0).unwrap();
    }
    assert!((run.time() - stop).abs() < 1e-9, "{} {stop}", run.time());
    run.until(1.0, &mut ()).unwrap();
    let x = run.pose(block).position;
    assert!((x.x - speed * speed / (2.0 * mu * G)).abs() < 1e-9, "{x}");
    assert!((x.y - 0.05).abs() < 1e-10 && run.velocity(block).linear.norm() < 1e-12);
    assert_eq!(RigidEvents::events(run.state()).collisions, 0);
}

#[test]
fn a_disc_rolls_down_a_slope_at_two_thirds_of_the_frictionless_acceleration() {
    let angle = 0.2_f64;
    let steel = Material::new("steel").density(1000.0).friction(0.5);
    let mut scene = Scene::builder();
    floor(&mut scene, &steel);
    scene.gravity([G * angle.sin(), -G * angle.cos(), 0.0]);
    let disc = BodyDescription::new(Shape::disc(0.1, 1.0).unwrap(), &steel).at([0.0, 0.1, 0.0]);
    let disc = scene.add(disc, &steel);
    let mut run = Simulation::new(scene.build().unwrap(), RigidEvents::new(0.02)).unwrap();
    run.until(1.0, &mut ()).unwrap();
    let expected = 0.5 * G * angle.sin() * 2.0 / 3.0;
    assert!((run.pose(disc).position.x - expected).abs() < 1e-9);
    assert!((run.velocity(disc).angular.z + run.velocity(disc).linear.x / 0.1).abs() < 1e-9);
}

#[test]
fn a_stack_rests_without_drift_and_its_forces_balance() {
    let stone = Material::new("stone").density(2000.0).friction(0.6);
    let mut scene = Scene::builder();
    floor(&mut scene, &stone);
    let blocks: Vec<_> = (0..5)
        .map(|k| {
            let at = [0.01 * f64::from(k % 2), 0.05 + 0.1 * f64::from(k), 0.0];
            scene.add(BodyDescription::new(rectangle(0.2, 0.1), &stone).at(at), &stone)
        })
        .collect();
    let mut run = Simulation::new(scene.build().unwrap(), RigidEvents::new(0.01)).unwrap();
    let before: Vec<Pose> = blocks.iter().map(|b| run.pose(*b)).collect();
    run.until(0.5, &mut ()).unwrap();
    let weight = 2000.0 * 0.02 * G;
    for (k, (block, start)) in blocks.iter().zip(before).enumerate() {
        let (end, v) = (run.pose(*block), run.velocity(*block));
        assert!((end.position - start.position).norm() < 1e-12, "{k}");
        // Drift below a millionth of a millionth of √(g d) is left.
        assert!(v.linear.norm() < 1e-11 && v.angular.norm() < 1e-10);
        let force = run.frame().contact_force(*block) - Vec3::new(0.0, weight, 0.0);
        assert!(force.norm() < 1e-8 * weight, "{k}: {force}");
    }
}

/// A rod that slides on its tip: Painlevé's example.
fn rod(mu: f64) -> (Simulation, crate::scene::Body, f64) {
    let steel = Material::new("steel").density(1000.0).friction(mu);
    let mut scene = Scene::builder();
    floor(&mut scene, &steel);
    let (half, angle) = (0.5, 1.1_f64);
    let thin = 1e-3;
    let shape = rectangle(2.0 * half, thin);
    // The lower corner of the end touches the floor.
    let corner = Vec3::new(-half, -0.5 * thin, 0.0);
    let pose = Pose::at([0.0; 3]).turned([0.0, 0.0, 1.0], std::f64::consts::PI - angle);
    let lowest = [1.0, -1.0]
        .into_iter()
        .flat_map(|x: f64| {
            [1.0, -1.0].map(|y: f64| pose.vector(Vec3::new(x * corner.x, y * corner.y, 0.0)).y)
        })
        .fold(f64::INFINITY, f64::min);
    let mut body =
        BodyDescription::new(shape, &steel).at([0.0, -lowest, 0.0]).velocity([3.0, 0.0, 0.0]);
    body.pose.rotation = pose.rotation;
    let body = scene.add(body, &steel);
    let run = Simulation::new(scene.build().unwrap(), RigidEvents::new(1e-3)).unwrap();
    (run, body, angle)
}

#[test]
fn an_inconsistent_configuration_becomes_an_impulse() {
    // 1 − μ... < 0 for μ > 4/3 and steep rods that slide away from their lean.
    let (mut run, body, _) = rod(3.0);
    run.until(0.05, &mut ()).unwrap();
    assert!(
        RigidEvents::events(run.state()).inconsistent >= 1,
        "{:?}",
        RigidEvents::events(run.state())
    );
    assert!(run.velocity(body).linear.iter().all(|x| x.is_finite()));
    let (mut run, ..) = rod(0.3);
    run.until(0.05, &mut ()).unwrap();
    assert_eq!(RigidEvents::events(run.state()).inconsistent, 0);
}

#[test]
fn scenes_with_more_than_free_bodies_are_refused() {
    let steel = Material::new("steel").density(1000.0).rolling(1e-3);
    let mut scene = Scene::builder();
    floor(&mut scene, &steel);
    scene.add(
        BodyDescription::new(Shape::disc(0.1, 1.0).unwrap(), &steel).at([0.0, 0.2, 0.0]),
        &steel,
    );
    let scene = scene.build().unwrap();
    let error = Simulation::new(scene, RigidEvents::new(1e-3)).err().unwrap().to_string();
    assert!(error.starts_with("rigid-events has no rolling resistance"), "{error}");
    let scheme = RigidEvents::new(1e-3).shortest(1.0);
    let steel = Material { rolling: 0.0, ..steel };
    let mut scene = Scene::builder();
    floor(&mut scene, &steel);
    scene.add(BodyDescription::new(rectangle(0.1, 0.1), &steel).at([0.0, 0.2, 0.0]), &steel);
    let error = Simulation::new(scene.build().unwrap(), scheme).err().unwrap().to_string();
    assert!(error.contains("dt_min"), "{error}");
}

/// Order of the motion of a disc that rolls on a shaking table.
fn shaken(dt: f64) -> Vec3 {
    let steel = Material::new("steel").density(1000.0).friction(0.9);
    let mut scene = Scene::builder();
    scene.planar().gravity([0.0, -G, 0.0]);
    let table = Shape::half_space([0.2, 1.0, 0.0]).unwrap();
    let motion = Motion::Position {
        linear: Law::new(|t| Vec3::new(0.02 * (15.0 * t).sin(), 0.01 * (10.0 * t).cos(), 0.0)),
        angular: Law::constant([0.0; 3]),
    };
    scene.add(BodyDescription::new(table, &steel).at([0.0, 0.01, 0.0]).moving(motion), &steel);
    let n = Vec3::new(0.2, 1.0, 0.0).normalize();
    let at = n * 0.1 + Vec3::new(0.0, 0.01, 0.0);
    let disc = BodyDescription::new(Shape::disc(0.1, 1.0).unwrap(), &steel).at(at.into());
    let disc = scene.add(disc.velocity([0.3, 0.0, 0.0]).spin([0.0, 0.0, 0.0]), &steel);
    let mut run = Simulation::new(scene.build().unwrap(), RigidEvents::new(dt)).unwrap();
    run.until(0.3, &mut ()).unwrap();
    run.pose(disc).position
}

#[test]
fn a_disc_on_a_driven_table_converges() {
    let exact = shaken(2.5e-4);
    let errors: Vec<f64> = [8e-3, 4e-3, 2e-3].map(|dt| (shaken(dt) - exact).norm()).to_vec();
    assert!(errors[2] < 1e-7 && errors[0] / errors[2] > 8.0, "{errors:?}");
}

#[test]
fn a_run_resumed_from_its_state_repeats_the_original() {
    let build = || {
        let stone = Material::new("stone").density(2000.0).friction(0.5).restitution(0.3);
        let mut scene = Scene::builder();
        floor(&mut scene, &stone);
        for k in 0..4 {
            let at = [0.03 * f64::from(k % 3), 0.1 + 0.15 * f64::from(k), 0.0];
            let body = BodyDescription::new(rectangle(0.12, 0.1), &stone)
                .at(at)
                .turned(Quat::from_scaled_axis(Vec3::z() * (0.3 * f64::from(k))));
            scene.add(body, &stone);
        }
        Simulation::new(scene.build().unwrap(), RigidEvents::new(5e-3)).unwrap()
    };
    let (mut whole, mut parts) = (build(), build());
    for _ in 0..200 {
        whole.advance_to(1.0).unwrap();
        parts.advance_to(1.0).unwrap();
        let state = parts.state().clone();
        parts.set_state(state).unwrap();
        assert_eq!(whole.state(), parts.state());
    }
}
