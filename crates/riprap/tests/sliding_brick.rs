//! A brick that slides on four points under event-driven dynamics.

use riprap::prelude::*;

const G: f64 = 9.81;

#[test]
fn a_brick_on_four_points_slides_straight_and_stops_where_a_point_mass_would() {
    // Normal forces at four points are not unique, but equal directions of sliding make their distribution irrelevant. The
    // tolerance is that of directions: rounding turns them as the velocity vanishes.
    for (angle, friction, speed) in [(0.2_f64, 0.5, 1.0), (0.2, 0.5, 0.1), (0.35, 0.6, 2.0)] {
        for turned in [0.0, 0.3, 0.7, 1.2] {
            let normal = Vec3::new(angle.sin(), 0.0, angle.cos());
            let (downhill, level) = (Vec3::new(angle.cos(), 0.0, -angle.sin()), Vec3::y());
            let rotation = Quat::from_axis_angle(&Vec3::y_axis(), angle)
                * Quat::from_axis_angle(&Vec3::z_axis(), turned);
            let stone = Material::new("stone").density(2000.0).friction(friction);
            let mut scene = Scene::builder();
            let floor = Shape::half_space(normal.into()).unwrap();
            scene.add_fixed(floor, Pose::IDENTITY, &stone);
            let brick = BodyDescription::new(Shape::cuboid([0.2, 0.1, 0.05]).unwrap(), &stone);
            let brick = brick.at((normal * 0.025).into()).turned(rotation);
            let brick = scene.add(brick.velocity((downhill * speed).into()), &stone);
            let mut run = Simulation::new(scene.build().unwrap(), RigidEvents::new(0.03)).unwrap();
            let slowing = G * (friction * angle.cos() - angle.sin());
            while RigidEvents::events(run.state()).stops == 0 {
                assert!(run.time() < 10.0, "it does not stop");
                run.advance_to(10.0).unwrap();
            }
            let time = run.time();
            let what = format!("{angle} {speed} {turned}");
            assert!(
                (time * slowing / speed - 1.0).abs() < 1e-6,
                "{what}: {time} {}",
                speed / slowing
            );
            run.until(time + 0.2, &mut ()).unwrap();
            let path = run.pose(brick).position - normal * 0.025;
            let expected = downhill * (0.5 * speed * speed / slowing);
            assert!((path - expected).norm() < 1e-6 * expected.norm(), "{what}: {path}");
            assert!(path.dot(&level).abs() < 1e-9);
            let v = run.velocity(brick);
            assert!(v.linear.norm() < 1e-11 && v.angular.norm() < 1e-9, "{what}: {v:?}");
            let turned_by = run.pose(brick).rotation.angle_to(&rotation);
            assert!(turned_by < 1e-7, "{what}: turned by {turned_by}");
        }
    }
}
