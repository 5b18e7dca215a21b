//! Ropes in scenes under Moreau–Jean: what they hold, when they are slack, breaking, restarts.

use riprap::prelude::*;
use riprap::scheme::StepError;

const TIGHT: f64 = 1e-10;

fn rock() -> Material {
    Material::new("rock").density(2500.0).friction(0.5)
}

fn ball(radius: f64, at: [f64; 3]) -> BodyDescription {
    BodyDescription::new(Shape::sphere(radius).unwrap(), &rock()).at(at)
}

fn world(x: f64, y: f64, z: f64) -> (On, Vec3) {
    (On::World, Vec3::new(x, y, z))
}

fn centre(body: Body) -> (On, Vec3) {
    (body.into(), Vec3::zeros())
}

fn run(scene: &SceneBuilder, scheme: MoreauJean) -> Simulation {
    Simulation::new(scene.build().unwrap(), scheme).unwrap()
}

fn tight(dt: f64) -> MoreauJean {
    MoreauJean::new(dt).solver(GaussSeidel::tolerance(TIGHT))
}

/// Two masses on a rope over two pulleys of the world.
fn atwood(masses: [f64; 2]) -> (SceneBuilder, [Body; 2]) {
    let mut scene = Scene::builder();
    let bodies = [(-0.5, masses[0]), (0.5, masses[1])]
        .map(|(x, mass)| scene.add(ball(0.1, [x, 0.0, 0.0]).mass(mass), &rock()));
    let [a, b] = bodies.map(centre);
    scene.add_rope(Rope::new("rope", vec![a, world(-0.5, 0.0, 2.0), world(0.5, 0.0, 2.0), b]));
    (scene, bodies)
}

#[test]
fn an_atwood_machine_accelerates_by_the_difference_of_its_weights() {
    let (scene, [a, b]) = atwood([3.0, 1.0]);
    let dt = 1e-3;
    let mut run = run(&scene, tight(dt));
    run.until(0.4, &mut ()).unwrap();
    // The motion is along straight lines, so only the solver's tolerance remains.
    let (acceleration, tension) = (9.81 * 2.0 / 4.0, 2.0 * 3.0 * 1.0 / 4.0 * 9.81);
    let (va, vb) = (run.velocity(a).linear.z, run.velocity(b).linear.z);
    assert!((va + 0.4 * acceleration).abs() < 1e-8 && (va + vb).abs() < 1e-8, "{va} {vb}");
    let found = run.state().ropes[0].tension(dt);
    assert!((found - tension).abs() < 1e-6 * tension, "{found} {tension}");
    assert!(run.scene().ropes()[0].slack(&run.state().q).abs() < 1e-9);
}

/// A scene with every kind of row: a chain of balls on the ground, over a pulley, with a stone that
/// hangs on it and a bucket on two ropes.
fn tangle() -> SceneBuilder {
    let mut scene = Scene::builder();
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock());
    let balls: Vec<Body> =
        (0..6).map(|k| scene.add(ball(0.05, [0.15 * f64::from(k), 0.0, 0.05]), &rock())).collect();
    for (k, pair) in balls.windows(2).enumerate() {
        let path = pair.iter().copied().map(centre).collect();
        scene.add_rope(Rope::new(&format!("link-{k}"), path));
    }
    let stone = scene.add(ball(0.12, [1.8, 0.0, 1.0]), &rock());
    let over = vec![centre(balls[5]), world(1.0, 0.1, 1.5), world(1.7, 0.0, 2.0), centre(stone)];
    scene.add_rope(Rope::new("over", over));
    let crate_ = Shape::cuboid([0.3, 0.2, 0.1]).unwrap();
    let crate_ = BodyDescription::new(crate_, &rock()).at([0.0, 2.0, 1.0]).spin([0.3, 0.2, 0.1]);
    let crate_ = scene.add(crate_, &rock());
    for (name, x) in [("left", -0.15), ("right", 0.15)] {
        let end = (On::Body(crate_), Vec3::new(x, 0.0, 0.05));
        scene.add_rope(Rope::new(name, vec![world(0.0, 2.0, 2.0), end]));
    }
    scene
}

#[test]
fn every_solver_finds_the_same_tensions() {
    let dt = 2e-3;
    let tensions = |scheme: MoreauJean| -> Vec<f64> {
        let mut run = run(&tangle(), scheme);
        let report = run.until(0.2, &mut ()).unwrap();
        assert_eq!(report.unconverged, 0);
        run.state().ropes.iter().map(|r| r.tension(dt)).collect()
    };
    let reference = tensions(tight(dt));
    assert!(reference.iter().filter(|t| **t > 1.0).count() >= 5, "{reference:?}");
    let others = [
        MoreauJean::new(dt).solver(Coloured::tolerance(TIGHT)),
        MoreauJean::new(dt).solver(ConjugateGradient::tolerance(TIGHT)),
        MoreauJean::new(dt).solver(Anderson::tolerance(TIGHT)),
        MoreauJean::new(dt).solver(Accurate::tolerance(TIGHT)),
    ];
    for (k, scheme) in others.into_iter().enumerate() {
        for (found, expected) in tensions(scheme).iter().zip(&reference) {
            // 100 steps at a tolerance of 1e-10, with sliding balls in between.
            assert!((found - expected).abs() < 1e-4 * expected.abs().max(1.0), "{k}: {found}");
        }
    }
}

#[test]
fn a_rope_never_pushes_and_is_never_stretched_by_more_than_a_few_steps_squared() {
    let mut scene = Scene::builder();
    let stone = scene.add(ball(0.1, [1.0, 0.0, 0.0]), &rock());
    scene.add_rope(Rope::new("rope", vec![world(0.0, 0.0, 0.0), centre(stone)]));
    let mut stretch = Vec::new();
    for dt in [2e-3, 1e-3] {
        let mut run = run(&scene, tight(dt));
        let mut most = 0.0_f64;
        while run.time() < 2.0 {
            run.step().unwrap();
            assert!(run.state().ropes[0].impulse >= 0.0);
            most = most.max(-run.scene().ropes()[0].slack(&run.state().q));
        }
        // 5 h² v²/L with v² = 2 g L at the bottom, where a tenth is recovered per step.
        let expected = 5.0 * dt * dt * 2.0 * 9.81;
        assert!(most < 1.1 * expected && most > 0.5 * expected, "{most} {expected}");
        stretch.push(most);
    }
    let order = (stretch[0] / stretch[1]).log2();
    assert!((order - 2.0).abs() < 0.1, "{order}");
}

#[test]
fn a_slack_rope_exerts_nothing_until_it_is_taut() {
    let mut scene = Scene::builder();
    let stone = scene.add(ball(0.1, [0.0; 3]), &rock());
    let rope = Rope::new("rope", vec![world(0.0, 0.0, 0.5), centre(stone)]).length(1.0);
    scene.add_rope(rope);
    let dt = 1e-3;
    let mut run = run(&scene, tight(dt));
    let tight_at = (2.0 * 0.5 / 9.81_f64).sqrt();
    // The slack left at the middle of a step is closed at its end, up to 1.5 steps ahead.
    while run.time() < tight_at - 2.0 * dt {
        run.step().unwrap();
        assert_eq!(run.state().ropes[0].impulse, 0.0);
    }
    run.until(tight_at + 5.0 * dt, &mut ()).unwrap();
    // It stops at once: no restitution.
    assert!(run.velocity(stone).linear.norm() < 1e-6);
    assert!((run.pose(stone).position.z + 0.5).abs() < 1e-6);
    let weight = run.scene().bodies().mass[0] * 9.81;
    assert!((run.state().ropes[0].tension(dt) - weight).abs() < 1e-6 * weight);
}

#[test]
fn a_rope_breaks_beyond_its_load_and_not_before() {
    let dt = 1e-3;
    for (share, breaks) in [(1.01, false), (0.99, true)] {
        let mut scene = Scene::builder();
        let stone = scene.add(ball(0.1, [0.0; 3]).mass(2.0), &rock());
        let rope = Rope::new("rope", vec![world(0.0, 0.0, 1.0), centre(stone)]);
        scene.add_rope(rope.breaking_load(share * 2.0 * 9.81));
        let mut run = run(&scene, tight(dt));
        run.step().unwrap();
        assert_eq!(run.state().ropes[0].broken, breaks.then_some(dt));
        assert!(run.state().ropes[0].impulse > 0.0, "the load that broke it can still be read");
        assert!(run.velocity(stone).linear.norm() < 1e-9);
        run.until(0.1 + dt, &mut ()).unwrap();
        let fallen = if breaks { -0.981 } else { 0.0 };
        assert!((run.velocity(stone).linear.z - fallen).abs() < 1e-6);
        assert_eq!(run.state().ropes[0].impulse == 0.0, breaks);
    }
}

#[test]
fn a_run_resumes_bitwise_from_its_state() {
    let scheme = || MoreauJean::new(2e-3);
    let mut whole = run(&tangle(), scheme());
    whole.until(0.1, &mut ()).unwrap();
    let mut state = run(&tangle(), scheme()).state().clone();
    for _ in 0..5 {
        let mut part = run(&tangle(), scheme());
        part.set_state(state).unwrap();
        for _ in 0..10 {
            part.step().unwrap();
        }
        state = part.state().clone();
    }
    assert_eq!(&state, whole.state());
    let mut short = whole.state().clone();
    short.ropes.pop();
    assert!(run(&tangle(), scheme()).set_state(short).is_err());
}

#[test]
fn a_planar_rope_turns_a_disc_about_z_only() {
    let mut scene = Scene::builder();
    scene.planar();
    let disc = BodyDescription::new(Shape::disc(0.1, 1.0).unwrap(), &rock()).at([0.0, -1.0, 0.0]);
    let disc = scene.add(disc, &rock());
    let rim = (On::Body(disc), Vec3::new(0.1, 0.0, 0.0));
    scene.add_rope(Rope::new("rope", vec![world(0.1, 0.0, 0.0), rim]));
    let mut run = run(&scene, tight(1e-3));
    run.step().unwrap();
    let v = run.velocity(disc);
    // A yo-yo: a = g/(1 + J/(m r²)) with J = m r²/2, ω = a/r.
    let fall = 9.81 * 1e-3 * 2.0 / 3.0;
    assert!((v.linear.y + fall).abs() < 1e-9 && v.linear.z == 0.0, "{v:?}");
    assert!((v.angular.z - fall / 0.1).abs() < 1e-7 && v.angular.x == 0.0, "{v:?}");
}

#[test]
fn schemes_without_ropes_name_the_first_one() {
    let (scene, _) = atwood([1.0, 1.0]);
    let scene = scene.build().unwrap();
    for (scheme, name) in [
        (Box::new(GeneralizedAlpha::new(1e-3)) as Box<dyn Scheme>, "generalized-alpha"),
        (Box::new(DormandPrince::new(1e-3)), "dormand-prince"),
    ] {
        let error = scheme.check(&scene).unwrap_err();
        assert_eq!(error, StepError::NoRopes { scheme: name, rope: "rope".into() });
        let said = error.to_string();
        assert!(said.contains("the rope `rope`; use moreau-jean"), "{said}");
    }
}

#[test]
fn overlaps_are_corrected_without_stretching_a_rope() {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    scene.accept_overlap(0.1);
    let [a, b] = [0.0, 0.19].map(|x| scene.add(ball(0.1, [x, 0.0, 0.0]), &rock()));
    // A rope holds the left ball from the right, so only the right ball can move.
    scene.add_rope(Rope::new("rope", vec![world(1.0, 0.0, 0.0), centre(a)]));
    let fix = Stabilization { overlaps: true, ..Stabilization::ALL };
    let mut run = run(&scene, tight(1e-3).stabilization(fix));
    run.until(0.02, &mut ()).unwrap();
    let [a, b] = [a, b].map(|body| run.pose(body).position.x);
    assert!(b - a > 0.2 - 2e-4, "{a} {b}");
    assert!(a > -1e-9, "the rope keeps its length: {a}");
}
