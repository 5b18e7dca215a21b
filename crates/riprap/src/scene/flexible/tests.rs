use super::*;
use crate::flexible::Support;
use crate::multibody::{Axis, GROUND, Joint, Mechanism};
use crate::scene::{BodyJoint, Hold, Material, MechanismId, On, PairLaw, PointContact};

fn beam(name: &str) -> Beam {
    Beam::new(name).points(&[[0.0; 3], [1.0, 0.0, 0.0]]).elements(4)
}

fn steel() -> Material {
    Material::new("steel").density(7800.0)
}

fn said(scene: &SceneBuilder) -> String {
    scene.build().unwrap_err().to_string()
}

#[test]
fn every_node_is_a_body_with_the_name_of_its_flexible_body() {
    let mut scene = Scene::builder();
    let ball = crate::scene::BodyDescription::new(Shape::sphere(0.1).unwrap(), &steel());
    scene.add(ball.at([0.0, 0.0, 5.0]), &steel());
    let first = scene.add_flexible(beam("a"));
    let second = scene.add_flexible(Bar::new("b").points(&[[0.0; 3], [0.0, 1.0, 0.0]]));
    let scene = scene.build().unwrap();
    let names: Vec<&str> = scene.bodies().names.iter().map(String::as_str).collect();
    assert_eq!(names, ["body-1", "a/0", "a/1", "a/2", "a/3", "a/4", "b/0", "b/1"]);
    assert_eq!((scene.nodes_of(0), scene.nodes_of(1)), (1..6, 6..8));
    assert_eq!((scene.node_at(0), scene.node_at(1)), (None, Some((0, 0))));
    assert_eq!((scene.node_at(5), scene.node_at(6)), (Some((0, 4)), Some((1, 0))));
    assert_eq!(scene.body("b/1"), Some(scene.node_body(second, 1)));
    assert_eq!((scene.flexible_body("a"), scene.flexible_body("c")), (Some(first), None));
    let state = scene.initial_state();
    assert_eq!(state.flexible.len(), 2);
    assert_eq!(state.q[5].position, Vec3::new(1.0, 0.0, 0.0));
    assert_eq!(scene.bodies().n_movable(), 1, "impulses move nodes only together");
}

#[test]
fn neighbours_of_a_chain_of_spheres_do_not_touch_each_other() {
    let mut scene = Scene::builder();
    let chain = Flexible::from(beam("chain").clamp_start());
    let shape = Shape::sphere(0.2).unwrap();
    scene.material(&steel());
    scene.add_flexible(chain.shape(None, shape, &steel()));
    let scene = scene.build().unwrap();
    // Nodes are 0.25 m apart and spheres reach each other up to 0.44 m with a tenth to spare.
    assert_eq!(scene.pairs_apart(), [(0, 1), (1, 2), (2, 3), (3, 4)]);
    assert_eq!(scene.colliders().len(), 5);
    assert!(!scene.colliders()[0].movable && scene.colliders()[1].movable, "the clamp");
    assert!((scene.grain_size() - 0.4).abs() < 1e-15, "that of the spheres");
}

#[test]
fn mistakes_name_the_flexible_body() {
    let mut scene = Scene::builder();
    scene.add_flexible(beam("boom").elements(0));
    assert!(said(&scene).starts_with("flexible body `boom`, elements:"), "{}", said(&scene));

    let mut scene = Scene::builder();
    scene.add_flexible(beam("a"));
    scene.add_flexible(beam("a"));
    assert!(said(&scene).contains("two flexible bodies or mechanisms are named `a`"));

    let shaped = |nodes: Option<Vec<u32>>, shape: Shape| {
        let mut scene = Scene::builder();
        scene.material(&steel());
        scene.add_flexible(Flexible::from(beam("a")).shape(nodes, shape, &steel()));
        scene
    };
    let sphere = || Shape::sphere(0.05).unwrap();
    assert!(said(&shaped(Some(vec![5]), sphere())).contains("a node that does not exist"));
    let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    assert!(said(&shaped(None, plane)).contains("cannot carry it"));
    assert!(said(&shaped(None, Shape::disc(0.1, 0.1).unwrap())).contains("planar"));
    assert!(shaped(Some(vec![4]), sphere()).build().is_ok());

    // An unknown material is reported once, not for every node.
    let mut scene = Scene::builder();
    scene.add_flexible(Flexible::from(beam("a")).shape(None, sphere(), &steel()));
    assert_eq!(said(&scene), "flexible body `a`: there is no material `steel`; known: ");

    let mut scene = Scene::builder();
    scene.planar();
    scene.add_flexible(beam("a").points(&[[0.0; 3], [1.0, 0.0, 0.1]]));
    assert!(said(&scene).contains("in a planar scene z must be 0"));
}

#[test]
fn joints_and_point_contacts_find_their_nodes() {
    let joined = |on: On, node: u32, project: bool| {
        let mut scene = Scene::builder();
        let mut arm = Mechanism::new("arm");
        let mass = crate::shape::MassProperties::principal(1.0, [0.0; 3], [1.0; 3]);
        arm.add("disc", GROUND, Joint::Revolute(Axis::Z), Pose::IDENTITY, Some(mass));
        scene.add_mechanism(arm);
        let a = scene.add_flexible(beam("a").supports(Support::Free, Support::Pinned));
        scene.add_flexible(beam("b"));
        let ends = ((on, Pose::IDENTITY), (On::Node(a, node), Pose::IDENTITY));
        let joint = BodyJoint::at("pin", Hold::Ball, Pose::IDENTITY, ends.0, ends.1);
        scene.add_joint(if project { joint.projected() } else { joint });
        scene
    };
    let link = On::Link(MechanismId(0), crate::multibody::Link(0));
    for on in [On::World, link, On::Node(FlexibleId(1), 0)] {
        let scene = joined(on, 0, false).build().unwrap();
        let node = scene.slot(scene.node_body(FlexibleId(0), 0)) as u32;
        assert_eq!(scene.joints()[0].bodies[1], node);
    }
    assert!(said(&joined(On::World, 9, false)).contains("does not exist"));
    assert!(said(&joined(On::World, u32::MAX, false)).contains("does not exist"));
    assert!(said(&joined(On::Node(FlexibleId(0), 1), 0, false)).contains("two nodes of one"));
    assert!(said(&joined(On::World, 0, true)).contains("not projected"));

    let mut scene = Scene::builder();
    let a = scene.add_flexible(beam("a"));
    scene.add_point_contact(PointContact {
        name: "edge".into(),
        point: (On::Node(a, 4), Vec3::new(0.0, 0.0, -0.01)),
        plane: (On::World, Vec3::new(0.0, 0.0, -0.02)),
        normal: Vec3::z(),
        law: PairLaw::combined(&steel(), &steel()),
    });
    let scene = scene.build().unwrap();
    assert_eq!(scene.point_contacts()[0].places[1].z, -0.01, "a point of the section");
    // The clearance is the reference length, not the length of the beam.
    assert!((scene.resolution() - 0.01).abs() < 1e-15);
}
