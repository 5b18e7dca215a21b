//! Queries of a built mechanism, and free bodies that are mechanisms.

use super::*;
use crate::math::fixtures::pose;
use crate::multibody::fixtures::*;
use crate::multibody::{Axis, JointMotion, JointSpring, Marker, Mechanism, PointSpring, Signal};
use crate::shape::{MassProperties, Shape};

/// A cart with a pendulum on a ball joint, constrained by a rod, with a spring, a law and a shape.
fn cart() -> Mechanism {
    let mut m = Mechanism::new("cart");
    let mass = || Some(MassProperties::principal(2.0, [0.0, 0.0, -0.5], [0.1, 0.12, 0.05]));
    let cart = m.add("cart", GROUND, Joint::Prismatic(Axis::X), Pose::IDENTITY, mass());
    let bob = m.add("bob", cart, Joint::Spherical, Pose::IDENTITY, mass());
    let rod = Cut::Rod { length: 1.9 };
    m.close_loop(
        "rod",
        rod,
        Marker::at(GROUND, [0.6, 0.3, 0.7]),
        Marker::at(bob, [0.0, 0.0, -1.0]),
    );
    let line = PointSpring::Line { stiffness: 1.0, damping: 0.0, length: 0.1 };
    m.point_spring("line", line, Marker::at(GROUND, [0.0; 3]), Marker::at(bob, [0.0; 3]));
    m.actuate("motor", m.coordinate(cart, 0), Signal::new(|x| 3.0 * x.t));
    m.attach(bob, Shape::sphere(0.1).unwrap(), Pose::IDENTITY, "steel");
    m
}

#[test]
fn names_indices_and_units_are_consistent() {
    let m = cart();
    let system = m.build([0.0, 0.0, -9.81]).unwrap();
    assert_eq!((system.name(), system.n_links(), system.n_q(), system.n_v()), ("cart", 2, 5, 4));
    assert_eq!(system.n_equations(), 1);
    let (slide, turn) = (Coordinate(0), Coordinate(2));
    assert_eq!(system.coordinate_name(turn), "bob.wy");
    assert_eq!(system.coordinate_named("bob.wy"), Some(turn));
    assert_eq!((system.q_of(slide), system.q_of(turn)), (Some(0), None));
    assert_eq!((system.quaternion_of(slide), system.quaternion_of(turn)), (None, Some(1)));
    assert_eq!((system.coordinate_unit(slide), system.force_unit(slide)), ("m", "N"));
    assert_eq!((system.coordinate_unit(turn), system.force_unit(turn)), ("rad", "N m"));
    let bob = system.link_named("bob").unwrap();
    assert_eq!((system.link_name(bob), system.link_name(GROUND)), ("bob", "ground"));
    assert_eq!((system.parent(bob), system.mass(bob)), (Link(0), 2.0));
    assert_eq!(
        (system.joint(bob), system.first_coordinate(bob)),
        (Joint::Spherical, Coordinate(1))
    );
    assert_eq!(system.loop_links().collect::<Vec<_>>(), [(GROUND, bob)]);
    assert_eq!(system.law_names().collect::<Vec<_>>(), ["motor"]);
    assert_eq!(system.spring_names().collect::<Vec<_>>(), ["line"]);
    assert_eq!(system.shapes().len(), 1);
    assert_eq!(system.names(&[0, 2]), "`cart`, `bob.wy`");
    assert_eq!(system.law_force(0, system.start(), 2.0), Some(6.0));
    assert_eq!(system.law_values(0, system.start(), 2.0).collect::<Vec<_>>(), [6.0]);
    assert_eq!((system.link_named("hook"), system.coordinate_named("x")), (None, None));
    // The description gives the same indices.
    for c in system.coordinates() {
        assert_eq!(m.q_index(c), system.q_of(c));
    }
}

#[test]
fn every_index_in_q_belongs_to_one_coordinate_or_quaternion() {
    for s in samples() {
        let mut owners = vec![0; s.system.n_q()];
        for c in s.system.coordinates() {
            match (s.system.q_of(c), s.system.quaternion_of(c)) {
                (Some(at), None) => owners[at] += 3,
                (None, Some(at)) => owners[at..at + 4].iter_mut().for_each(|x| *x += 1),
                both => panic!("{both:?}"),
            }
        }
        assert!(owners.iter().all(|n| *n == 3), "{owners:?}");
    }
}

#[test]
fn a_state_of_another_mechanism_does_not_fit() {
    let system = cart().build([0.0; 3]).unwrap();
    let start = system.start();
    assert!(system.fits(start));
    let changed = |change: &dyn Fn(&mut MultibodyState)| {
        let mut state = start.clone();
        change(&mut state);
        system.fits(&state)
    };
    assert!(changed(&|s| s.q[0] = 7.0), "positions may differ");
    assert!(!changed(&|s| s.q.push(0.0)));
    assert!(!changed(&|s| s.v.truncate(3)));
    assert!(!changed(&|s| s.control.phase[0] = 1), "the law has one phase");
    assert!(!changed(&|s| s.control.phase.clear()));
    assert!(!changed(&|s| s.control.latched.push(0.0)));
    assert!(!changed(&|s| s.partition.rows[0] = 1), "there is one equation");
    assert!(!changed(&|s| s.partition.dependent[0] = 4), "there are four coordinates");
    assert!(!changed(&|s| s.partition.independent.truncate(1)));
}

#[test]
fn a_body_whose_joints_are_all_prescribed_cannot_be_moved() {
    let mut m = cart();
    m.loops.clear();
    let system = m.build([0.0; 3]).unwrap();
    assert!(system.can_move(Link(0)) && system.can_move(Link(1)));
    m.drive(Coordinate(0), JointMotion::constant_speed(0.0, 1.0));
    let system = m.build([0.0; 3]).unwrap();
    assert_eq!(system.driven_coordinates().collect::<Vec<_>>(), [Coordinate(0)]);
    assert!(!system.can_move(Link(0)) && system.can_move(Link(1)));
}

#[test]
fn one_body_on_a_free_joint_is_a_free_body_and_nothing_else_is() {
    let mut rng = seeded(41);
    let free = |joint, mass| {
        let mut m = Mechanism::new("stone");
        m.add("stone", GROUND, joint, Pose::IDENTITY, Some(mass));
        m
    };
    let mass = body(&mut rng);
    let stone = free(Joint::Free, mass);
    let found = stone.build([0.0; 3]).unwrap().free_body().expect("the stone is free");
    assert_eq!((found.mass, found.centre, found.inertia), (mass.mass, mass.centre, mass.inertia));
    assert!(free(Joint::Spherical, mass).build([0.0; 3]).unwrap().free_body().is_none());
    let mut driven = stone.clone();
    driven.drive(Coordinate(0), JointMotion::constant_speed(0.0, 1.0));
    assert!(driven.build([0.0; 3]).unwrap().free_body().is_none());
    let mut spring = stone;
    spring.spring(Coordinate(0), JointSpring { stiffness: 1.0, rest: 0.0, damping: 0.0 });
    assert!(spring.build([0.0; 3]).unwrap().free_body().is_some(), "springs are forces on it");
}

#[test]
fn coordinates_of_a_free_body_are_set_from_its_pose_and_velocity() {
    let mut rng = seeded(42);
    for _ in 0..20 {
        let mut m = Mechanism::new("stone");
        m.base = pose(&mut rng, 2.0);
        let (at, mass) = (pose(&mut rng, 1.0), body(&mut rng));
        let stone = m.add("stone", GROUND, Joint::Free, at, Some(mass));
        let system = m.build([0.0; 3]).unwrap();
        let mut state = system.start().clone();
        let wanted = pose(&mut rng, 5.0);
        let (velocity, spin) = (vector(&mut rng, 3.0), vector(&mut rng, 3.0));
        system.set_free_body(&wanted, velocity, spin, &mut state);
        let mut w = system.scratch();
        system.tree.kinematics(&state.q, &mut w.tree);
        system.tree.motion(&state.v, &mut w.tree);
        let found = system.pose(&w, stone);
        assert!((found.position - wanted.position).norm() < 1e-13);
        assert!(found.rotation.angle_to(&wanted.rotation) < 1e-7);
        assert!((system.point(&w, stone, Vec3::zeros()).1 - velocity).norm() < 1e-13);
        assert!((system.angular_velocity(&w, stone) - spin).norm() < 1e-13);
    }
}
