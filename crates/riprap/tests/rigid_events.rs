//! Event-driven rigid bodies: closed forms of sliding, rolling, tipping and colliding bodies in space and in the plane,
//! and what does not depend on the frame.

use riprap::friction::Dantzig;
use riprap::prelude::*;
use std::f64::consts::PI;

const G: f64 = 9.81;

/// A floor through the origin with a unit normal, in space.
fn floor(normal: Vec3, material: &Material) -> SceneBuilder {
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -G]);
    scene.add_fixed(Shape::half_space(normal.into()).unwrap(), Pose::IDENTITY, material);
    scene
}

fn start(scene: &SceneBuilder, scheme: RigidEvents) -> Simulation {
    Simulation::new(scene.build().unwrap(), scheme).unwrap()
}

/// Advances until something stops sliding; the time [s].
fn until_stop(run: &mut Simulation) -> f64 {
    while RigidEvents::events(run.state()).stops == 0 {
        assert!(run.time() < 10.0, "nothing stops");
        run.advance_to(10.0).unwrap();
    }
    run.time()
}

/// Two unit vectors along a slope with a unit normal: downhill, and level.
fn along(normal: Vec3) -> [Vec3; 2] {
    let down = Vec3::new(0.0, 0.0, -1.0);
    let downhill = (down - normal * normal.dot(&down)).normalize();
    [downhill, normal.cross(&downhill)]
}

#[test]
fn a_brick_above_the_angle_of_friction_slides_for_ever_with_the_remaining_weight() {
    let (angle, friction, dt) = (0.6_f64, 0.4, 0.02);
    let normal = Vec3::new(angle.sin(), 0.0, angle.cos());
    let [downhill, _] = along(normal);
    let stone = Material::new("stone").density(2000.0).friction(friction);
    for facets in [4, 8, 32] {
        let mut scene = floor(normal, &stone);
        let brick = BodyDescription::new(Shape::cuboid([0.2, 0.1, 0.05]).unwrap(), &stone);
        let brick = brick.at((normal * 0.025).into());
        let brick = scene.add(brick.turned(Quat::from_axis_angle(&Vec3::y_axis(), angle)), &stone);
        let dantzig = Dantzig { facets, ..Dantzig::default() };
        let mut run = start(&scene, RigidEvents { dantzig, ..RigidEvents::new(dt) });
        run.until(0.5, &mut ()).unwrap();
        let v = run.velocity(brick).linear;
        let expected = downhill * (0.5 * G * (angle.sin() - friction * angle.cos()));
        // In the first step, from rest, friction is that of the inscribed polyhedral cone.
        let inscribed = 1.0 - (PI / facets as f64).cos();
        let bound = inscribed * friction * G * angle.cos() * dt;
        assert!((v - expected).norm() < 1.001 * bound + 1e-9, "{facets} facets: {v}");
        let force = run.frame().contact_force(brick);
        let weight = 2000.0 * 0.001 * G;
        assert!((force.dot(&normal) / (weight * angle.cos()) - 1.0).abs() < 1e-9);
        assert!((force.dot(&downhill) / (-friction * weight * angle.cos()) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_ball_thrown_with_backspin_returns_as_the_closed_form_says() {
    let (mu, r, v0, w0) = (0.3, 0.1, 1.0, -40.0);
    for heading in [0.0_f64, 0.9, 2.5] {
        let (ahead, axle) = (
            Vec3::new(heading.cos(), heading.sin(), 0.0),
            Vec3::new(-heading.sin(), heading.cos(), 0.0),
        );
        let rubber = Material::new("rubber").density(1000.0).friction(mu);
        let mut scene = floor(Vec3::z(), &rubber);
        let ball = BodyDescription::new(Shape::sphere(r).unwrap(), &rubber).at([0.0, 0.0, r]);
        let ball = ball.velocity((ahead * v0).into()).spin((axle * w0).into());
        let ball = scene.add(ball, &rubber);
        let mut run = start(&scene, RigidEvents::new(0.02));
        // Slip v − r ω falls by 7/2 μ g t; then v = (5 v₀ + 2 r ω₀)/7.
        let rolls = 2.0 * (v0 - r * w0) / (7.0 * mu * G);
        assert!((until_stop(&mut run) - rolls).abs() < 1e-9);
        run.until(rolls + 0.3, &mut ()).unwrap();
        let (v, expected) = (run.velocity(ball), (5.0 * v0 + 2.0 * r * w0) / 7.0);
        assert!((v.linear - ahead * expected).norm() < 1e-9, "{} {expected}", v.linear);
        assert!((v.angular - axle * (expected / r)).norm() < 1e-8);
        let path = v0 * rolls - 0.5 * mu * G * rolls * rolls + 0.3 * expected;
        assert!((run.pose(ball).position - ahead * path - Vec3::z() * r).norm() < 1e-8);
    }
}

#[test]
fn a_ball_that_spins_about_the_vertical_keeps_its_spin() {
    let rubber = Material::new("rubber").density(1000.0).friction(0.8);
    let mut scene = floor(Vec3::z(), &rubber);
    let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rubber).at([0.0, 0.0, 0.1]);
    let ball = scene.add(ball.spin([0.0, 0.0, 30.0]), &rubber);
    let mut run = start(&scene, RigidEvents::new(0.02));
    run.until(1.0, &mut ()).unwrap();
    let (v, x) = (run.velocity(ball), run.pose(ball).position);
    assert!((v.angular - Vec3::z() * 30.0).norm() < 1e-9 && v.linear.norm() < 1e-12);
    assert!((x - Vec3::z() * 0.1).norm() < 1e-12);
}

/// A scene with a few falling bodies, turned about the vertical and shifted.
fn tumbling(turn: f64, by: Vec3) -> (Simulation, Vec<Body>) {
    let stone = Material::new("stone").density(2000.0).friction(0.4).restitution(0.3);
    let mut scene = floor(Vec3::z(), &stone);
    let rotation = Quat::from_axis_angle(&Vec3::z_axis(), turn);
    let bodies = (0..3).map(|k| {
        let k = f64::from(k);
        let at = rotation * Vec3::new(0.3 * k, 0.1 * k, 0.2 + 0.05 * k) + by;
        let own = Quat::from_scaled_axis(Vec3::new(0.4 + k, 0.3, 0.2 * k));
        let body = BodyDescription::new(Shape::cuboid([0.1, 0.12, 0.08]).unwrap(), &stone);
        let body = body.at(at.into()).turned(rotation * own);
        let v = rotation * Vec3::new(0.5 - 0.2 * k, 0.3, 0.0);
        let spin = rotation * Vec3::new(1.0, 2.0 - k, 3.0);
        scene.add(body.velocity(v.into()).spin(spin.into()), &stone)
    });
    let bodies = bodies.collect();
    (start(&scene, RigidEvents::new(0.01)), bodies)
}

#[test]
fn a_motion_does_not_depend_on_where_the_axes_are() {
    // Only frames along the floor, in which the facets of the friction cones play no part until the first sliding ends.
    let (mut one, bodies) = tumbling(0.0, Vec3::zeros());
    one.until(0.25, &mut ()).unwrap();
    assert!(RigidEvents::events(one.state()).collisions >= 3);
    for (turn, by) in [(0.5 * PI, Vec3::zeros()), (PI, Vec3::new(0.5, -2.0, 0.0))] {
        let (mut other, _) = tumbling(turn, by);
        other.until(0.25, &mut ()).unwrap();
        let rotation = Quat::from_axis_angle(&Vec3::z_axis(), turn);
        assert_eq!(RigidEvents::events(one.state()), RigidEvents::events(other.state()));
        for body in &bodies {
            let (a, b) = (one.pose(*body), other.pose(*body));
            // Rounding grows with each collision.
            assert!((rotation * a.position + by - b.position).norm() < 1e-6, "{turn}");
            let (a, b) = (one.velocity(*body), other.velocity(*body));
            assert!((rotation * a.linear - b.linear).norm() < 1e-5, "{turn}");
        }
    }
}

#[test]
fn collisions_conserve_momentum_and_dissipate_the_energy_of_restitution() {
    for (e, ratio) in [(0.0, 1.0), (0.5, 3.0), (1.0, 0.2), (0.7, 10.0)] {
        let steel = Material::new("steel").density(1000.0).restitution(e);
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        let ball = |mass: f64| BodyDescription::new(Shape::sphere(0.1).unwrap(), &steel).mass(mass);
        let a = scene.add(ball(1.0).velocity([2.0, 0.0, 0.0]), &steel);
        let b = scene.add(ball(ratio).at([0.5, 0.0, 0.0]).velocity([-1.0, 0.0, 0.0]), &steel);
        let mut run = start(&scene, RigidEvents::new(0.02));
        let before = run.frame().balance();
        run.until(0.5, &mut ()).unwrap();
        let after = run.frame().balance();
        assert!((after.momentum - before.momentum).norm() < 1e-13);
        // The collision happens after 0.3 m at 3 m/s.
        let [va, vb] = [a, b].map(|body| run.velocity(body).linear.x);
        let mean = (2.0 - ratio) / (1.0 + ratio);
        assert!(
            (vb - va - 3.0 * e).abs() < 1e-12
                && (va + ratio * vb - mean * (1.0 + ratio)).abs() < 1e-12
        );
        let lost = 0.5 * ratio / (1.0 + ratio) * 9.0 * (1.0 - e * e);
        assert!((before.kinetic - after.kinetic - lost).abs() < 1e-12, "{e} {ratio}");
        let x = run.pose(a).position.x;
        assert!((x - (2.0 * 0.1 + va * 0.4)).abs() < 1e-9, "{x}");
    }
}

#[test]
fn a_domino_falls_as_a_pendulum_about_its_edge() {
    // Pinned by friction on its edge, a plate of height 2a turns like a physical pendulum until it slips or lands.
    let (a, tilt) = (0.1, 0.4_f64);
    let stone = Material::new("stone").density(2000.0).friction(2.0);
    let mut scene = Scene::builder();
    scene.planar().gravity([0.0, -G, 0.0]);
    scene.add_fixed(Shape::half_space([0.0, 1.0, 0.0]).unwrap(), Pose::IDENTITY, &stone);
    let w = 0.02;
    let corners = [[-w, -a], [w, -a], [w, a], [-w, a]];
    let plate = BodyDescription::new(Shape::polygon(&corners, 1.0).unwrap(), &stone);
    let rotation = Quat::from_axis_angle(&Vec3::z_axis(), -tilt);
    let corner = rotation * Vec3::new(w, -a, 0.0);
    let plate = scene.add(plate.at((-corner).into()).turned(rotation), &stone);
    let mut run = start(&scene, RigidEvents::new(2e-3));
    let arm = corner.norm();
    // About the edge: I ω²/2 = m g (h₀ − h) with I/m = 4 arm²/3.
    let first = run.pose(plate).position;
    for _ in 0..200 {
        if run.pose(plate).position.y < 0.75 * arm {
            break;
        }
        run.advance_to(1.0).unwrap();
        let (q, v) = (run.pose(plate), run.velocity(plate));
        let omega = (2.0 * G * (first.y - q.position.y) * 3.0 / (4.0 * arm * arm)).sqrt();
        assert!((v.angular.z + omega).abs() < 1e-6, "{} {omega}", v.angular.z);
        assert!((q.position.norm() - arm).abs() < 1e-9, "the edge stays");
    }
    assert!(run.pose(plate).position.y < 0.75 * arm, "it falls");
}

#[test]
fn energy_is_never_gained_by_bodies_that_slide_and_fall() {
    for seed in 0..4 {
        let (mut run, _) = tumbling(0.37 * f64::from(seed), Vec3::zeros());
        let energy = |run: &Simulation| {
            let b = run.frame().balance();
            b.kinetic + b.potential
        };
        let first = energy(&run);
        let mut last = first;
        while run.time() < 0.35 {
            run.advance_to(0.35).unwrap();
            let now = energy(&run);
            // The error of the Runge–Kutta method in a step of 10 ms.
            assert!(now < last + 1e-6 * first.abs(), "seed {seed}: {last} {now}");
            last = now;
        }
        assert!(last < 0.9 * first);
    }
}

#[test]
fn parameters_out_of_range_are_named() {
    let stone = Material::new("stone").density(2000.0);
    let scene = || {
        let mut scene = floor(Vec3::z(), &stone);
        scene.add(
            BodyDescription::new(Shape::sphere(0.1).unwrap(), &stone).at([0.0, 0.0, 1.0]),
            &stone,
        );
        scene.build().unwrap()
    };
    let good = RigidEvents::new(1e-2);
    for (scheme, said) in [
        (RigidEvents::new(0.0), "time step"),
        (RigidEvents::new(f64::NAN), "time step"),
        (good.shortest(0.0), "dt_min"),
        (good.shortest(1.0), "dt_min"),
        (good.tolerance(1e-15), "tolerance"),
        (good.tolerance(0.5), "tolerance"),
        (RigidEvents { rest_velocity: -1.0, ..good }, "rest velocity"),
        (RigidEvents { rest_velocity: f64::NAN, ..good }, "rest velocity"),
    ] {
        let error = Simulation::new(scene(), scheme).err().expect(said).to_string();
        assert!(error.contains(said), "{said}: {error}");
    }
    assert!(Simulation::new(scene(), good).is_ok());
}
