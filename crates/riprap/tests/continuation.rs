//! A run that starts from the end of another one: what is the same keeps its bits, and the rest is reported.

use riprap::prelude::*;
use riprap::scene::{Continuation, ContinuationError, Continued, SchemeState};
use riprap::scheme::{GeneralizedAlpha, Penalty, RigidEvents};

fn rock() -> Material {
    Material::new("rock").density(2500.0).friction(0.5)
}

fn ball(name: &str, at: [f64; 3]) -> BodyDescription {
    BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock()).named(name).at(at)
}

fn block(name: &str, at: [f64; 3]) -> BodyDescription {
    BodyDescription::new(Shape::cuboid([0.2, 0.2, 0.2]).unwrap(), &rock()).named(name).at(at)
}

/// A floor, a block that slides and a ball that falls on it.
fn pile() -> SceneBuilder {
    let mut scene = Scene::builder();
    let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let floor = BodyDescription::new(floor, &rock()).named("floor").fixed();
    scene.add(floor, &rock());
    scene.add(block("block", [0.0, 0.0, 0.1]).velocity([0.5, 0.0, 0.0]), &rock());
    scene.add(ball("ball", [0.02, 0.01, 0.35]), &rock());
    scene
}

fn scheme() -> MoreauJean {
    MoreauJean::new(1e-3).solver(GaussSeidel::tolerance(1e-8))
}

/// A run of `scene` for a time [s].
fn ran(scene: &Scene, scheme: impl riprap::scheme::Scheme + 'static, t: f64) -> Simulation {
    let mut run = Simulation::new(scene.clone(), scheme).unwrap();
    run.until(t, &mut ()).unwrap();
    run
}

fn carried(old: &Simulation, from: &Scene, to: &Scene) -> (State, Continued) {
    Continuation::default().state(from, old.state(), to).unwrap()
}

/// Continues from a state for a number of steps.
fn continued(
    scene: &Scene,
    scheme: impl riprap::scheme::Scheme + 'static,
    state: State,
    steps: u64,
) -> State {
    let mut run = Simulation::new(scene.clone(), scheme).unwrap();
    run.set_state(state).unwrap();
    for _ in 0..steps {
        run.step().unwrap();
    }
    run.state().clone()
}

/// The state as if its run had started at another time.
fn at(state: &State, t: f64, step: u64) -> State {
    State { t, step, ..state.clone() }
}

#[test]
fn the_same_scene_goes_on_bit_for_bit_as_if_nothing_had_happened() {
    let scene = pile().build().unwrap();
    let first = ran(&scene, scheme(), 0.4);
    let (state, report) = carried(&first, &scene, &scene);
    assert!(!state.warm_start.is_empty());
    assert_eq!(state, at(first.state(), 0.0, 0));
    assert_eq!((report.bodies.matched, report.contacts), (3, [state.warm_start.len(); 2]));

    let whole = ran(&scene, scheme(), 0.6);
    let second = continued(&scene, scheme(), state, 200);
    assert_eq!(at(&second, 0.0, 0), at(whole.state(), 0.0, 0));
}

#[test]
fn histories_of_schemes_go_on_bit_for_bit() {
    let scene = pile().build().unwrap();
    let soft = || Penalty::new(2e-5);
    let events = || RigidEvents::new(1e-3);
    let alpha = || GeneralizedAlpha::new(1e-3);
    let check = |first: Simulation, whole: Simulation, second: &dyn Fn(State) -> State| {
        let (state, report) = carried(&first, &scene, &scene);
        assert_eq!(report.history, Some(true));
        let second = second(state);
        assert_eq!((&second.q, &second.v), (&whole.state().q, &whole.state().v));
    };
    check(ran(&scene, soft(), 0.02), ran(&scene, soft(), 0.022), &|state| {
        continued(&scene, soft(), state, 100)
    });
    check(ran(&scene, alpha(), 0.1), ran(&scene, alpha(), 0.12), &|state| {
        continued(&scene, alpha(), state, 20)
    });
    let first = ran(&scene, events(), 0.05);
    let (state, report) = carried(&first, &scene, &scene);
    assert_eq!(report.history, Some(true));
    let SchemeState::RigidEvents(kept) = &state.scheme else { panic!("a history") };
    let SchemeState::RigidEvents(old) = &first.state().scheme else { panic!("a history") };
    assert_eq!((kept.dt, &kept.contacts), (old.dt, &old.contacts));
}

#[test]
fn bodies_are_matched_by_name_in_any_order() {
    let scene = pile().build().unwrap();
    let first = ran(&scene, scheme(), 0.4);
    // The other way round, with a body that is new and one that is gone.
    let mut other = Scene::builder();
    other.add(ball("far", [3.0, 0.0, 0.1]), &rock());
    other.add(block("block", [0.0, 0.0, 5.0]), &rock());
    let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let floor = BodyDescription::new(floor, &rock()).named("floor").fixed();
    other.add(floor, &rock());
    let other = other.build().unwrap();
    let (state, report) = carried(&first, &scene, &other);
    let slot = |scene: &Scene, name: &str| scene.slot(scene.body(name).unwrap());
    let (old, new) = (slot(&scene, "block"), slot(&other, "block"));
    assert_eq!((state.q[new], state.v[new]), (first.state().q[old], first.state().v[old]));
    assert_eq!(state.q[slot(&other, "far")].position.x, 3.0);
    assert_eq!(
        (&report.bodies.new[..], &report.bodies.missing[..]),
        (&["far".into()][..], &["ball".into()][..])
    );
    assert_eq!(report.bodies.matched, 2);

    // Contacts of floor and block: exchanged, with the impulse on the other body, recognized by their place.
    let of = |state: &State, pair: [usize; 2], scene: &Scene| -> Vec<riprap::scene::WarmContact> {
        let body = |c: u32| scene.colliders()[c as usize].body as usize;
        state.warm_start.iter().filter(|w| w.colliders.map(body) == pair).copied().collect()
    };
    let before = of(first.state(), [slot(&scene, "floor"), old], &scene);
    let after = of(&state, [new, slot(&other, "floor")], &other);
    assert!(!before.is_empty());
    assert_eq!(before.len(), after.len());
    for (a, b) in before.iter().zip(&after) {
        assert_eq!(a.impulse_w, b.impulse_w.map(|x| -x));
        let world = state.q[new].point(Vec3::from(b.point_b));
        assert!((world - Vec3::from(a.point_b)).norm() < 1e-12, "the floor is at the origin");
    }
}

#[test]
fn a_new_body_that_overlaps_a_carried_one_is_an_error_with_names_and_depth() {
    let scene = pile().build().unwrap();
    let first = ran(&scene, scheme(), 0.4);
    let rest = first.pose(scene.body("ball").unwrap()).position;
    let mut changed = pile();
    changed.accept_overlap(f64::INFINITY);
    changed.add(ball("tool", [rest.x + 0.15, rest.y, rest.z]), &rock());
    let changed = changed.build().unwrap();
    let error = Continuation::default().state(&scene, first.state(), &changed).unwrap_err();
    let told = error.to_string();
    assert!(told.contains("`ball` and `tool` overlap by 5.00e-2 m"), "{told}");
    // Where the ball was at first there is room now.
    let mut changed = pile();
    changed.accept_overlap(f64::INFINITY);
    changed.add(ball("tool", [0.02, 0.01, 0.55]), &rock());
    assert!(
        Continuation::default().state(&scene, first.state(), &changed.build().unwrap()).is_ok()
    );
}

#[test]
fn changed_bodies_keep_the_place_of_their_frame_and_are_reported() {
    let scene = pile().build().unwrap();
    let first = ran(&scene, scheme(), 0.4);
    let mut changed = Scene::builder();
    changed.accept_overlap(f64::INFINITY);
    let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let floor = BodyDescription::new(floor, &rock()).named("floor").fixed();
    changed.add(floor.at([0.0, 0.0, -0.5]), &rock());
    let heavy = Material::new("iron").density(7800.0).friction(0.1);
    let mut block = block("block", [0.0, 0.0, 0.1]);
    block.material = "iron".into();
    changed.add(block, &heavy);
    let small = BodyDescription::new(Shape::sphere(0.05).unwrap(), &rock()).named("ball");
    changed.add(small.fixed(), &rock());
    let changed = changed.build().unwrap();
    let (state, report) = carried(&first, &scene, &changed);
    assert_eq!(report.changed_shapes, ["ball"]);
    assert_eq!(report.held, ["ball"]);
    assert_eq!(report.placed_anew, ["floor"]);
    let [(name, [before, after])] = &report.changed_masses[..] else { panic!("{report:?}") };
    // Density times volume, a few roundings.
    assert!(name == "block" && (before - 20.0).abs() < 1e-13 && (after - 62.4).abs() < 1e-13);
    // The ball is held where it was; the floor is where the scene describes it; the block keeps its bits.
    assert_eq!(state.q[1], first.state().q[1]);
    assert_eq!(state.q[2].position, first.state().q[2].position);
    assert_eq!(state.v[2], Twist::default());
    assert_eq!(state.q[0].position.z, -0.5);
    // No contact is remembered with a body that has another shape or place.
    assert_eq!(report.contacts[0], 0);
    assert!(report.contacts[1] > 0);
    let text = report.lines().join("\n");
    assert!(text.contains("another shape, same place: `ball`"), "{text}");
}

#[test]
fn driven_bodies_follow_their_new_law_from_where_they_are() {
    let law = |speed: f64| Motion::Velocity {
        linear: Law::constant([speed, 0.0, 0.0]),
        angular: Law::constant([0.0; 3]),
    };
    let scene = |motion: Motion| {
        let mut scene = pile();
        scene.add(ball("ram", [-2.0, 0.0, 0.2]).moving(motion), &rock());
        scene.build().unwrap()
    };
    let (slow, fast) = (scene(law(0.5)), scene(law(2.0)));
    let first = ran(&slow, scheme(), 0.4);
    let (state, _) = carried(&first, &slow, &fast);
    assert_eq!((state.q[3], state.v[3].linear.x), (first.state().q[3], 2.0));
    // A law of the position says itself where the body is, at the time at which the run starts.
    let linear = Law::new(|t| Vec3::new(-2.0 + t * t, 0.0, 0.2));
    let by_place = scene(Motion::Position { linear, angular: Law::constant([0.0; 3]) });
    let goes_on = Continuation { time: first.time(), ..Continuation::default() };
    let (state, report) = goes_on.state(&slow, first.state(), &by_place).unwrap();
    assert_eq!(
        (state.t, state.q[3].position.x),
        (first.time(), -2.0 + first.time() * first.time())
    );
    assert!((state.v[3].linear.x - 0.8).abs() < 1e-5);
    assert_eq!(report.lines()[0], "state at t = 0.4 s; the time goes on");
    assert_eq!(report.placed_by_law, ["ram"]);
    // A law that starts in the middle of another body is an error.
    let ball = first.pose(slow.body("ball").unwrap()).position;
    let linear = Law::new(move |_| ball + Vec3::new(0.1, 0.0, 0.0));
    let inside = Motion::Position { linear, angular: Law::constant([0.0; 3]) };
    let mut changed = pile();
    changed.accept_overlap(f64::INFINITY);
    let ram = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock()).named("ram");
    changed.add(ram.moving(inside), &rock());
    let error = Continuation::default().state(&slow, first.state(), &changed.build().unwrap());
    let told = error.unwrap_err().to_string();
    assert!(told.contains("`ball` and `ram` overlap by"), "{told}");
}

fn add_arm(
    arm: &mut Mechanism,
    name: &str,
    on: Link,
    z: f64,
    mass: riprap::shape::MassProperties,
) -> Link {
    arm.add(name, on, Joint::Revolute(Axis::Y), Pose::at([0.0, 0.0, z]), Some(mass))
}

/// A pendulum of two arms, whose first joint can be driven.
fn pendulum(name: &str, mass: f64, drive: Option<f64>) -> Mechanism {
    let mut arm = Mechanism::new(name);
    let solid = |mass| riprap::shape::MassProperties::point(mass, [0.0, 0.0, -0.5]);
    let upper = add_arm(&mut arm, "upper", GROUND, 3.0, solid(mass));
    add_arm(&mut arm, "lower", upper, -1.0, solid(1.0));
    let coordinate = arm.coordinate(upper, 0);
    match drive {
        Some(speed) => arm.drive(coordinate, JointMotion::constant_speed(0.0, speed)),
        None => arm.start(coordinate, 0.6),
    }
    arm
}

fn with_arm(arm: Mechanism) -> Scene {
    let mut scene = pile();
    scene.add_mechanism(arm);
    scene.build().unwrap()
}

#[test]
fn mechanisms_with_the_same_structure_go_on_bit_for_bit() {
    let scene = with_arm(pendulum("arm", 1.0, None));
    let first = ran(&scene, scheme(), 0.3);
    let (state, report) = carried(&first, &scene, &scene);
    assert_eq!(state, at(first.state(), 0.0, 0));
    assert_eq!(report.mechanisms.matched, 1);
    let heavy = with_arm(pendulum("arm", 4.0, None));
    let (state, _) = carried(&first, &scene, &heavy);
    assert_eq!((&state.q, &state.mechanisms), (&first.state().q, &first.state().mechanisms));
}

#[test]
fn other_mechanisms_start_as_described_and_jumps_of_drives_are_reported() {
    let scene = with_arm(pendulum("arm", 1.0, None));
    let first = ran(&scene, scheme(), 0.3);
    let renamed = with_arm(pendulum("crane", 1.0, None));
    let (state, report) = carried(&first, &scene, &renamed);
    assert_eq!(state.mechanisms, renamed.initial_state().mechanisms);
    let lists = (&report.mechanisms.new[..], &report.mechanisms.missing[..]);
    assert_eq!(lists, (&["crane".into()][..], &["arm".into()][..]));
    let mut longer = pendulum("arm", 1.0, None);
    let link = longer.link_named("lower").unwrap();
    let more = riprap::shape::MassProperties::point(1.0, [0.0, 0.0, -0.5]);
    add_arm(&mut longer, "third", link, -1.0, more);
    let (_, report) = carried(&first, &scene, &with_arm(longer));
    assert_eq!(report.mechanisms.different, ["arm"]);

    let driven = with_arm(pendulum("arm", 1.0, Some(2.0)));
    let (state, report) = carried(&first, &scene, &driven);
    let [jump] = &report.jumps[..] else { panic!("{report:?}") };
    assert_eq!((jump.starts, jump.left), (0.0, first.state().mechanisms[0].q[0]));
    continued(&driven, scheme(), state, 5);
    // With the time, the drive goes on too.
    let run = ran(&driven, scheme(), 0.3);
    let goes_on = Continuation { time: run.time(), ..Continuation::default() };
    let (state, report) = goes_on.state(&driven, run.state(), &driven).unwrap();
    assert!(report.jumps.is_empty(), "{report:?}");
    let next = continued(&driven, scheme(), state, 100);
    let whole = ran(&driven, scheme(), 0.4);
    let turned = |state: &State| state.mechanisms[0].q[0];
    assert!((turned(&next) - turned(whole.state())).abs() < 1e-12);
}

#[test]
fn nothing_in_common_and_other_dimensions_are_errors() {
    let scene = pile().build().unwrap();
    let first = ran(&scene, scheme(), 0.01);
    let mut strangers = Scene::builder();
    strangers.add(ball("stranger", [0.0; 3]), &rock());
    let strangers = strangers.build().unwrap();
    let error = Continuation::default().state(&scene, first.state(), &strangers).unwrap_err();
    assert_eq!(error, ContinuationError::NothingMatches);
    assert!(error.to_string().contains("bodies are matched by name"));
    let mut flat = Scene::builder();
    flat.planar();
    let disc = Shape::disc(0.1, 1.0).unwrap();
    flat.add(BodyDescription::new(disc, &rock()).named("ball"), &rock());
    let flat = flat.build().unwrap();
    let error = Continuation::default().state(&scene, first.state(), &flat).unwrap_err();
    assert_eq!(error, ContinuationError::Dimension);
}

#[test]
fn new_joints_must_fit_to_where_the_bodies_are() {
    let scene = pile().build().unwrap();
    let first = ran(&scene, scheme(), 0.4);
    let pinned = |at: Pose, place: Pose| {
        let mut scene = pile();
        let ball = Body(2);
        scene.add_joint(BodyJoint::at(
            "pin",
            Hold::Ball,
            at,
            (On::World, Pose::IDENTITY),
            (ball.into(), place),
        ));
        scene.build().unwrap()
    };
    let start = Pose::at([0.02, 0.01, 0.35]);
    let error =
        Continuation::default().state(&scene, first.state(), &pinned(start, start)).unwrap_err();
    let told = error.to_string();
    assert!(told.contains("joint `pin` is new") && told.contains("m apart"), "{told}");
    let now = first.state().q[2];
    assert!(Continuation::default().state(&scene, first.state(), &pinned(now, now)).is_ok());
}

/// Gravel that breaks under a load.
fn gravel(stones: u32) -> SceneBuilder {
    let law = riprap::scene::Fragmentation::peak_force(200.0, 0.01);
    let brittle = Material::new("brittle").density(2500.0).friction(0.5).breaking(law);
    let mut scene = Scene::builder();
    let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let floor = BodyDescription::new(floor, &rock()).named("floor").fixed();
    scene.add(floor, &rock());
    scene.material(&brittle);
    for k in 0..stones {
        let mut stone = block(&format!("stone-{k}"), [0.5 * f64::from(k), 0.0, 0.5]);
        stone.material = brittle.name.clone();
        scene.add_body(stone);
    }
    scene
}

#[test]
fn broken_stones_stay_broken() {
    let rename = |scene: &mut SceneBuilder| {
        scene.add(ball("new", [0.0, 2.0, 0.1]), &rock());
    };
    let scene = gravel(2).build().unwrap();
    let first = ran(&scene, scheme(), 0.5);
    let n = first.scene().bodies().len();
    assert!(first.state().degradation.account.breaks > 0 && n > 3);
    let (state, report) = carried(&first, &scene, &scene);
    assert_eq!(
        (&state.q, &state.degradation.pieces),
        (&first.state().q, &first.state().degradation.pieces)
    );
    assert_eq!(report.stones, [state.degradation.pieces.len(); 2]);
    let whole = ran(&scene, scheme(), 0.6);
    let second = continued(&scene, scheme(), state, 100);
    assert_eq!((&second.q, &second.v), (&whole.state().q, &whole.state().v));

    let mut other = gravel(1);
    rename(&mut other);
    let other = other.build().unwrap();
    let (state, report) = carried(&first, &scene, &other);
    assert!(report.stones[0] > 0 && report.stones[0] < report.stones[1], "{report:?}");
    let second = continued(&other, scheme(), state, 20);
    assert!(second.q.iter().all(|q| q.position.iter().all(|x| x.is_finite())));
}
