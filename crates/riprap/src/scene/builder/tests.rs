//! Every possible error in a description with its message, and the result of a valid one.

use super::*;
use crate::math::Quat;
use crate::scene::fixtures::*;
use crate::scene::{Hold, Law};

fn disc(at: [f64; 3]) -> BodyDescription {
    BodyDescription::new(Shape::disc(0.1, 1.0).unwrap(), &rock()).named("disc").at(at)
}

#[test]
fn non_finite_numbers_are_reported_with_body_and_name() {
    type Change = fn(&mut BodyDescription);
    let changes: [(&str, Change); 6] = [
        ("position", |b| b.pose.position.x = f64::NAN),
        ("velocity", |b| b.velocity.y = f64::INFINITY),
        ("angular velocity", |b| b.angular_velocity.z = f64::NAN),
        ("force", |b| b.force.x = f64::NAN),
        ("torque", |b| b.torque.x = f64::NEG_INFINITY),
        ("rotation", |b| b.pose.rotation = Quat::new_unchecked([f64::NAN; 4].into())),
    ];
    for (what, change) in changes {
        let mut body = ball("stone", [0.0, 0.0, 1.0]);
        change(&mut body);
        let mut scene = Scene::builder();
        scene.add(body, &rock());
        let said = told(&scene);
        assert!(said.contains(&format!("body `stone`: {what} must be a finite number")), "{said}");
    }
    let mut scene = ball_on_floor();
    scene.gravity([0.0, f64::NAN, 0.0]);
    assert_eq!(told(&scene), "scene: gravity must be a finite number");
}

#[test]
fn out_of_range_numbers_are_reported_with_the_range() {
    let of = |material: Material| {
        let mut scene = ball_on_floor();
        scene.material(&material);
        told(&scene)
    };
    let glue = || Material::new("glue");
    let said = of(glue().density(-1.0));
    assert_eq!(said, "material `glue`: density is -1, but must be positive, in kg/m³");
    let said = of(glue().friction(-0.1));
    assert_eq!(said, "material `glue`: friction is -0.1, but must be 0 or more");
    let said = of(glue().rolling(f64::NAN));
    assert_eq!(said, "material `glue`: rolling resistance is NaN, but must be 0 or more");
    let said = of(glue().restitution(1.5));
    assert_eq!(said, "material `glue`: restitution is 1.5, but must be between 0 and 1");

    let mut scene = Scene::builder();
    scene.add(ball("stone", [0.0; 3]).mass(0.0), &rock());
    assert_eq!(told(&scene), "body `stone`: mass is 0, but must be positive, in kg");
    let mut scene = ball_on_floor();
    scene.alert(-0.01);
    assert_eq!(told(&scene), "contact: alert is -0.01, but must be a length of 0 m or more");
    let mut scene = ball_on_floor();
    let law = PairLaw { friction: f64::INFINITY, ..PairLaw::combined(&rock(), &rock()) };
    scene.pair("rock", "rock", law);
    assert!(told(&scene).starts_with("pair `rock`–`rock`: friction is inf"), "{}", told(&scene));
}

#[test]
fn duplicate_names_are_reported() {
    let mut scene = ball_on_floor();
    scene.add(ball("ball", [1.0, 0.0, 1.0]), &rock());
    assert_eq!(told(&scene), "two bodies are named `ball`; rename one of them");
    let mut scene = ball_on_floor();
    scene.material(&rock().friction(0.1));
    assert_eq!(told(&scene), "two different materials are named `rock`; rename one of them");
    // The same material may be added repeatedly.
    let mut scene = ball_on_floor();
    scene.material(&rock()).material(&rock());
    assert_eq!(scene.build().unwrap().materials().len(), 1);
    // A name chosen by the builder may be taken as well.
    let mut scene = Scene::builder();
    scene.add(ball("body-2", [0.0; 3]), &rock());
    scene.add(ball("", [1.0, 0.0, 0.0]), &rock());
    assert_eq!(told(&scene), "two bodies are named `body-2`; rename one of them");
}

#[test]
fn unknown_materials_are_reported_with_the_known_ones() {
    let mut scene = ball_on_floor();
    let mut body = ball("stone", [1.0, 0.0, 1.0]);
    body.material = "cheese".into();
    scene.add_body(body);
    let said = told(&scene);
    assert_eq!(said, "body `stone`: there is no material `cheese`; known: rock");
    let mut scene = ball_on_floor();
    scene.pair("rock", "ice", PairLaw::combined(&rock(), &rock()));
    assert_eq!(told(&scene), "pair `rock`–`ice`: there is no material `ice`; known: rock");
}

#[test]
fn free_bodies_need_a_mass_and_a_finite_shape() {
    let mut scene = Scene::builder();
    let weightless = Material::new("felt");
    let body = BodyDescription::new(Shape::sphere(0.1).unwrap(), &weightless).named("cap");
    scene.add(body.clone(), &weightless);
    let said = told(&scene);
    assert!(said.starts_with("body `cap`: a free body needs a mass"), "{said}");
    assert!(said.contains("its material `felt` a density"), "{said}");
    // With a given mass it needs no density.
    let mut scene = Scene::builder();
    scene.add(body.mass(2.0), &weightless);
    assert_eq!(scene.build().unwrap().bodies().mass, [2.0]);

    let mut scene = Scene::builder();
    let wall = Shape::half_space([1.0, 0.0, 0.0]).unwrap();
    scene.add(BodyDescription::new(wall, &rock()).named("wall"), &rock());
    assert!(told(&scene).contains("body `wall`: a half-space is infinite and has no mass"));
}

#[test]
fn impossible_inertias_are_reported() {
    let of = |inertia: Mat3| {
        let mut scene = Scene::builder();
        let mut body = ball("stone", [0.0; 3]);
        body.inertia = Some(inertia);
        scene.add(body, &rock());
        scene.build().map(|_| ()).map_err(|e| e.to_string())
    };
    let diagonal = |x, y, z| Mat3::from_diagonal(&Vec3::new(x, y, z));
    assert_eq!(of(diagonal(1.0, 2.0, 2.5)), Ok(()));
    let mut skew = diagonal(1.0, 1.0, 1.0);
    skew[(0, 1)] = 0.1;
    for (inertia, problem) in [
        (diagonal(1.0, f64::NAN, 1.0), "an entry is not finite"),
        (skew, "it is not symmetric"),
        (diagonal(1.0, 1.0, 0.0), "a principal moment is not positive"),
        (diagonal(1.0, 1.0, 2.1), "one principal moment exceeds the sum of the other two"),
    ] {
        let said = of(inertia).unwrap_err();
        let expected = format!("body `stone`: the inertia tensor is not physical ({problem})");
        assert_eq!(said, expected);
    }
    let mut scene = Scene::builder();
    let mut body = ball("stone", [0.0; 3]);
    body.centre = Some(Vec3::new(0.05, 0.0, 0.0));
    scene.add(body, &rock());
    assert!(told(&scene).contains("a given centre of mass needs a given inertia"));
}

#[test]
fn shapes_of_the_wrong_dimension_are_reported() {
    let planar = |body: BodyDescription| {
        let mut scene = Scene::builder();
        scene.planar();
        scene.add(body, &rock());
        scene.build().map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(planar(disc([0.3, 0.2, 0.0])), Ok(()));
    let said = planar(ball("stone", [0.0; 3])).unwrap_err();
    assert!(said.starts_with("body `stone`: this shape is spatial"), "{said}");
    let said = planar(disc([0.0, 0.0, 0.5])).unwrap_err();
    assert_eq!(said, "body `disc`: in a planar scene z must be 0");
    let tilted = disc([0.0; 3]).turned(Quat::from_scaled_axis(Vec3::new(0.1, 0.0, 0.0)));
    assert_eq!(
        planar(tilted).unwrap_err(),
        "body `disc`: in a planar scene bodies can rotate only about z"
    );
    let floor = Shape::half_space([0.0, 1.0, 0.1]).unwrap();
    let said = planar(BodyDescription::new(floor, &rock()).named("floor").fixed()).unwrap_err();
    assert!(said.contains("the normal of a half-space must lie in the x–y plane"), "{said}");
    let mut scene = Scene::builder();
    scene.add(disc([0.0; 3]), &rock());
    assert!(told(&scene).starts_with("body `disc`: this shape is planar: make the scene planar"));
}

#[test]
fn a_law_without_rebound_accepts_no_restitution() {
    let mut scene = ball_on_floor();
    let law = PairLaw { friction: 0.1, restitution: 0.4, ..PairLaw::SMOOTH };
    scene.pair("rock", "rock", law);
    let said = told(&scene);
    assert!(said.starts_with("pair `rock`–`rock`: the quasi-shock law does not rebound"), "{said}");
    let mut scene = ball_on_floor();
    scene.pair("rock", "rock", PairLaw { law: ContactLaw::MoreauNewton, ..law });
    assert_eq!(scene.build().unwrap().pairs.law(0, 0).restitution, 0.4);
}

#[test]
fn initial_overlaps_are_reported_deepest_first() {
    let mut scene = Scene::builder();
    for (name, x) in [("a", 0.0), ("b", 0.19), ("c", 0.36), ("d", 0.56)] {
        scene.add(ball(name, [x, 0.0, 0.0]), &rock());
    }
    let said = told(&scene);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("`b` and `c` overlap by 3.00e-2 m initially (15.0 %"), "{said}");
    assert!(lines[1].starts_with("`a` and `b` overlap by 1.00e-2 m"), "{said}");
    scene.accept_overlap(0.2);
    assert!(scene.build().is_ok());
    // Ten bodies in one place make 45 pairs: five are reported.
    let mut scene = Scene::builder();
    for k in 0..10 {
        scene.add(ball("", [1e-3 * f64::from(k), 0.0, 0.0]), &rock());
    }
    assert_eq!(told(&scene).lines().count(), 5);
}

#[test]
fn a_scene_in_which_nothing_moves_is_reported() {
    let mut scene = Scene::builder();
    scene.add(ball("stone", [0.0; 3]).fixed(), &rock());
    assert_eq!(told(&scene), "no body is free to move: nothing would happen");
    assert!(Scene::builder().build().is_err());
}

#[test]
fn errors_of_mechanisms_and_joints_are_reported_with_those_of_bodies() {
    let mut scene = ball_on_floor();
    scene.add(ball("ball", [1.0, 0.0, 1.0]), &rock());
    scene.add_mechanism(Mechanism::new("crane"));
    let stone = Body(1);
    let here = (On::Body(stone), Pose::IDENTITY);
    scene.add_joint(BodyJoint::at("pin", Hold::Ball, Pose::IDENTITY, here, here));
    let said = told(&scene);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    assert!(lines[0].contains("two bodies are named `ball`"));
    assert!(lines[1].contains("mechanism `crane`, the mechanism: it has no bodies"));
    assert!(lines[2].contains("joint `pin`: it must connect two different bodies"));
}

#[test]
fn a_body_rotates_about_its_centre_of_mass_wherever_the_origin_of_its_shape_is() {
    // A box whose frame is at a corner.
    let corner: Vec<Vec3> = [0.0, 1.0]
        .into_iter()
        .flat_map(|x| {
            [0.0, 2.0].into_iter().flat_map(move |y| [0.0, 3.0].map(|z| Vec3::new(x, y, z)))
        })
        .collect();
    let turn = Quat::from_scaled_axis(Vec3::new(0.3, -0.2, 0.5));
    let body = BodyDescription::new(Shape::hull(&corner).unwrap(), &rock());
    let mut scene = Scene::builder();
    let body = scene.add(body.at([5.0, 6.0, 7.0]).turned(turn), &rock());
    let scene = scene.build().unwrap();
    let (bodies, state) = (scene.bodies(), scene.initial_state());
    let centre = Vec3::new(0.5, 1.0, 1.5);
    assert!((bodies.centre[0] - centre).norm() < 1e-14);
    assert!((bodies.mass[0] - 2500.0 * 6.0).abs() < 1e-9);
    let expected = Vec3::new(5.0, 6.0, 7.0) + turn * centre;
    assert!((state.q[0].position - expected).norm() < 1e-14);
    // The frame of the shape is where it was placed.
    let pose = scene.shape_pose(&state, body);
    assert!((pose.position - Vec3::new(5.0, 6.0, 7.0)).norm() < 1e-14);
    assert_eq!(pose.rotation, turn);
    // The bounding sphere around the centre contains every corner.
    assert!((bodies.radius[0] - centre.norm()).abs() < 1e-14);
}

#[test]
fn locks_remove_velocities_and_inverse_masses() {
    let locks = Locks([true, false, false, false, true, false]);
    let body = ball("bead", [0.0; 3]).velocity([1.0, 2.0, 3.0]).spin([4.0, 5.0, 6.0]);
    let mut scene = Scene::builder();
    scene.add(body.locked(locks), &rock());
    let scene = scene.build().unwrap();
    let (bodies, state) = (scene.bodies(), scene.initial_state());
    let per_mass = 1.0 / bodies.mass[0];
    assert_eq!(bodies.inverse_mass[0], [0.0, per_mass, per_mass]);
    assert_eq!(state.v[0].linear, Vec3::new(0.0, 2.0, 3.0));
    assert_eq!(state.v[0].angular, Vec3::new(4.0, 0.0, 6.0));
    // A planar scene locks out-of-plane motion, and gravity is along −y.
    let mut scene = Scene::builder();
    scene.planar();
    scene.add(disc([0.0; 3]).velocity([1.0, 2.0, 3.0]).spin([4.0, 5.0, 6.0]), &rock());
    let scene = scene.build().unwrap();
    assert_eq!(scene.bodies().locks[0], Locks::PLANAR);
    assert_eq!(scene.initial_state().v[0].linear, Vec3::new(1.0, 2.0, 0.0));
    assert_eq!(scene.initial_state().v[0].angular, Vec3::new(0.0, 0.0, 6.0));
    assert_eq!((scene.gravity(), scene.is_planar()), (Vec3::new(0.0, -9.81, 0.0), true));
}

#[test]
fn only_bodies_that_can_tumble_do() {
    let cube = || BodyDescription::new(Shape::cuboid([0.1; 3]).unwrap(), &rock());
    let slab = || BodyDescription::new(Shape::cuboid([0.1, 0.2, 0.3]).unwrap(), &rock());
    let one_axis = Locks([false, false, false, true, true, false]);
    let mut scene = Scene::builder();
    scene.add(ball("ball", [0.0; 3]), &rock());
    scene.add(cube().at([1.0, 0.0, 0.0]), &rock());
    scene.add(slab().at([2.0, 0.0, 0.0]), &rock());
    scene.add(slab().at([3.0, 0.0, 0.0]).locked(one_axis), &rock());
    scene.add(slab().at([4.0, 0.0, 0.0]).fixed(), &rock());
    let scene = scene.build().unwrap();
    assert_eq!(scene.bodies().tumbles, [false, false, true, false, false]);
    assert_eq!(scene.bodies().movable, [true, true, true, true, false]);
    assert_eq!((scene.bodies().n_movable(), scene.bodies().len()), (4, 5));
}

#[test]
fn bodies_that_follow_a_law_start_on_it() {
    let by_velocity = Motion::Velocity {
        linear: Law::new(|t| Vec3::new(1.0 + t, 0.0, 0.0)),
        angular: Law::constant([0.0, 0.0, 2.0]),
    };
    let by_position = Motion::Position {
        linear: Law::new(|t| Vec3::new(0.0, 5.0 + 3.0 * t, 0.0)),
        angular: Law::constant([0.0; 3]),
    };
    let mut scene = ball_on_floor();
    scene.add(ball("belt", [9.0, 0.0, 1.0]).moving(by_velocity), &rock());
    scene.add(ball("ram", [7.0, 7.0, 7.0]).moving(by_position), &rock());
    let scene = scene.build().unwrap();
    let state = scene.initial_state();
    let (belt, ram) = (scene.body("belt").unwrap(), scene.body("ram").unwrap());
    assert_eq!(state.q[scene.slot(belt)].position, Vec3::new(9.0, 0.0, 1.0));
    assert_eq!(state.v[scene.slot(belt)].linear, Vec3::x());
    assert_eq!(state.v[scene.slot(belt)].angular, Vec3::z() * 2.0);
    assert_eq!(state.q[scene.slot(ram)].position, Vec3::new(0.0, 5.0, 0.0));
    // The slope by finite differences over a microsecond.
    assert!((state.v[scene.slot(ram)].linear - Vec3::y() * 3.0).norm() < 1e-8);
    assert!(scene.bodies().mass[scene.slot(ram)].is_infinite());
}

#[test]
fn default_lengths_follow_from_the_grains() {
    let mut scene = ball_on_floor();
    scene.add(ball("large", [2.0, 0.0, 1.0]), &rock());
    let built = scene.build().unwrap();
    assert!((built.grain_size() - 0.2).abs() < 1e-15);
    assert!((built.detection().alert - 0.002).abs() < 1e-15);
    scene.alert(0.05);
    assert_eq!(scene.build().unwrap().detection().alert, 0.05);
}
