//! Mechanisms, their bodies and point contacts in a scene.

use super::*;
use crate::math::Quat;
use crate::math::fixtures::{seeded, vector};
use crate::multibody::{Axis, Cut, Joint, Marker};
use crate::scene::Scene;
use crate::scene::fixtures::*;

const LAW: PairLaw = PairLaw { friction: 0.2, ..PairLaw::SMOOTH };

/// A chain of `n` bars of 1 m along x on hinges about y, with a ball of rock on some of them.
fn chain(n: u32, balls: &[u32]) -> Mechanism {
    let mut m = Mechanism::new("chain");
    let mut on = GROUND;
    for k in 0..n {
        let at = Pose::at([f64::from(u8::from(k > 0)), 0.0, 0.0]);
        let bar = MassProperties::rod([1.0, 0.0, 0.0], 1.0);
        on = m.add(&format!("bar-{k}"), on, Joint::Revolute(Axis::Y), at, Some(bar));
        if balls.contains(&k) {
            let shape = Shape::sphere(0.1).expect("positive");
            m.attach(on, shape, Pose::at([0.5, 0.0, 0.0]), "rock");
        }
    }
    m
}

fn with(m: Mechanism) -> SceneBuilder {
    let mut scene = Scene::builder();
    scene.material(&rock());
    scene.add_mechanism(m);
    scene
}

#[test]
fn bodies_of_a_mechanism_are_bodies_of_the_scene_placed_by_its_joints() {
    let mut m = chain(3, &[2]);
    for (k, speed) in [0.3, -0.7, 0.4].into_iter().enumerate() {
        m.start_velocity(m.coordinate(Link(k as u32), 0), speed);
    }
    let scene = with(m).build().unwrap();
    let id = scene.mechanism("chain").unwrap();
    let (system, state) = (&scene.mechanisms()[0], scene.initial_state());
    let mut w = system.scratch();
    system.tree().kinematics(&state.mechanisms[0].q, &mut w.tree);
    system.tree().motion(&state.mechanisms[0].v, &mut w.tree);
    for link in system.links() {
        let body = scene.link_body(id, link);
        assert_eq!(scene.bodies().names[scene.slot(body)], format!("chain/bar-{}", link.0));
        assert_eq!(scene.bodies().carried_by(id, link), Some(body.0));
        assert_eq!(state.q[scene.slot(body)], system.pose(&w, link));
        assert_eq!(state.v[scene.slot(body)].angular, system.angular_velocity(&w, link));
        assert!(!scene.bodies().movable[scene.slot(body)], "joints move it, not impulses alone");
    }
    // The ball is on the last bar, half a metre along it.
    let [collider] = scene.colliders() else { panic!("one ball") };
    assert_eq!((collider.body, collider.pose), (2, Pose::at([0.5, 0.0, 0.0])));
    assert!((scene.bodies().radius[2] - 0.6).abs() < 1e-15);
}

#[test]
fn poses_and_twists_follow_a_state_of_the_mechanism() {
    let scene = with(chain(3, &[])).build().unwrap();
    let (system, mut rng) = (&scene.mechanisms()[0], seeded(111));
    let mut state = system.start().clone();
    (state.q, state.v) = (vec![0.3, -0.8, 1.1], vec![0.5, 0.9, -0.6]);
    let centres: Vec<Vec3> = (0..3).map(|_| vector(&mut rng, 0.5)).collect();
    let place = |state: &MultibodyState| {
        let (mut q, mut v) = (vec![Pose::IDENTITY; 3], vec![Twist::default(); 3]);
        place_links(system, state, &mut system.scratch(), &centres, &mut q, &mut v);
        (q, v)
    };
    let (_, v) = place(&state);
    let h = 1e-6;
    let moved = |h: f64| {
        let mut moved = state.clone();
        moved.q.iter_mut().zip(&state.v).for_each(|(q, v)| *q += h * v);
        place(&moved).0
    };
    let (before, after) = (moved(-h), moved(h));
    for k in 0..3 {
        let rate = (after[k].position - before[k].position) / (2.0 * h);
        assert!((rate - v[k].linear).norm() < 1e-8, "{rate} {}", v[k].linear);
        let turn = (after[k].rotation * before[k].rotation.inverse()).scaled_axis() / (2.0 * h);
        assert!((turn - v[k].angular).norm() < 1e-8);
    }
}

#[test]
fn neighbours_do_not_collide_even_across_bodies_without_shape() {
    let scene = with(chain(4, &[0, 1, 3])).build().unwrap();
    // The parent of 3 is 2, which has no shape, so it is next to 1 as well.
    assert_eq!(scene.pairs_apart(), [(0, 1), (1, 2), (1, 3), (2, 3)]);
    let mut m = chain(3, &[0, 1, 2]);
    m.guess(m.coordinate(Link(1), 0), 1.0);
    let (a, b) = (Marker::at(Link(0), [0.0, 0.0, 0.1]), Marker::at(Link(2), [0.5, 0.0, 0.0]));
    m.close_loop("strut", Cut::Rod { length: 2.0 }, a, b);
    let mut scene = with(m);
    scene.ignore_contact(On::Link(MechanismId(0), Link(2)), On::Link(MechanismId(0), Link(2)));
    let apart = scene.build().unwrap().pairs_apart().to_vec();
    assert!(apart.contains(&(0, 2)), "connected by a loop: {apart:?}");
    assert!(apart.contains(&(2, 2)), "named by the user: {apart:?}");
}

#[test]
fn a_single_free_body_of_a_mechanism_moves_like_a_free_body_of_the_scene() {
    let mut m = Mechanism::new("stone");
    let mass = MassProperties::principal(3.0, [0.1, 0.2, 0.3], [0.5, 0.6, 0.7]);
    let place = Pose { rotation: Quat::from_scaled_axis(Vec3::x()), ..Pose::at([1.0, 0.0, 2.0]) };
    let stone = m.add("stone", GROUND, Joint::Free, place, Some(mass));
    m.attach(stone, Shape::sphere(0.1).expect("positive"), Pose::at([0.1, 0.0, 0.0]), "rock");
    let scene = with(m).build().unwrap();
    let bodies = scene.bodies();
    assert!(scene.is_free_body(0) && bodies.movable[0] && bodies.tumbles[0]);
    assert_eq!((bodies.mass[0], bodies.inertia[0]), (3.0, mass.inertia));
    assert_eq!(bodies.inverse_mass[0], [1.0 / 3.0; 3]);
    let position = scene.initial_state().q[0].position;
    assert!((position - place.point(mass.centre)).norm() < 1e-15, "at its centre of mass");
    // Colliders are relative to it.
    let expected = Vec3::new(0.1, 0.0, 0.0) - mass.centre;
    assert!((scene.colliders()[0].pose.position - expected).norm() < 1e-15);
    let frame = scene.shape_pose(&scene.initial_state(), Body(0));
    assert!((frame.position - place.position).norm() < 1e-15);
}

#[test]
fn errors_of_mechanisms_in_a_scene_are_reported() {
    let mut scene = with(chain(1, &[]));
    scene.add_mechanism(chain(1, &[]));
    assert_eq!(told(&scene), "two mechanisms are named `chain`; rename one of them");
    let mut m = chain(1, &[]);
    m.attach(Link(0), Shape::sphere(0.1).expect("positive"), Pose::IDENTITY, "cheese");
    let said = told(&with(m));
    assert!(said.starts_with("body `bar-0` of mechanism `chain`: there is no material"), "{said}");
    let mut m = chain(1, &[]);
    let wall = Shape::half_space([0.0, 0.0, 1.0]).expect("a normal");
    m.attach(Link(0), wall, Pose::IDENTITY, "rock");
    let said = told(&with(m));
    assert!(said.contains("a half-space is infinite: it cannot be carried"), "{said}");
}

#[test]
fn point_contacts_find_their_bodies_and_normals_are_normalized() {
    let contact = |name: &str| PointContact {
        name: name.into(),
        point: (On::Link(MechanismId(0), Link(1)), Vec3::x()),
        plane: (On::World, Vec3::new(0.0, 0.0, -2.0)),
        normal: Vec3::new(0.0, 0.0, 5.0),
        law: LAW,
    };
    let mut scene = with(chain(2, &[]));
    scene.add_point_contact(contact("tip"));
    let built = scene.build().unwrap();
    let [point] = built.point_contacts() else { panic!("one contact") };
    let world = built.body(Bodies::WORLD).unwrap();
    let tip = built.link_body(MechanismId(0), Link(1));
    assert_eq!(point.bodies, [world.0, tip.0]);
    assert_eq!((point.normal, point.places[1]), (Vec3::z(), Vec3::x()));

    scene.add_point_contact(PointContact { normal: Vec3::zeros(), ..contact("flat") });
    let ghost = (On::Body(Body(9)), Vec3::zeros());
    scene.add_point_contact(PointContact { plane: ghost, ..contact("lost") });
    let sticky = PairLaw { friction: -1.0, ..LAW };
    scene.add_point_contact(PointContact { law: sticky, ..contact("sticky") });
    let said = told(&scene);
    let flat = "point contact `flat`: length of the normal is 0, but must be positive";
    assert!(said.contains(flat), "{said}");
    assert!(said.contains("point contact `lost`: it refers to a body that does not exist"));
    assert!(said.contains("point contact `sticky`: friction is -1"));
}
