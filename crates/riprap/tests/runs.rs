//! Invalid descriptions, failing steps, and small scenes with a known result.

use riprap::math::Mat3;
use riprap::prelude::*;
use riprap::scene::BuildError;
use riprap::scheme::{StepError, StepReport, StepResult, Workspace};

fn rock() -> Material {
    Material::new("rock").density(2700.0).friction(0.5)
}

fn ball() -> BodyDescription {
    BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock())
}

fn errors_of(describe: impl Fn(&mut SceneBuilder)) -> Vec<BuildError> {
    let mut scene = Scene::builder();
    scene.material(&rock());
    describe(&mut scene);
    scene.build().map(|_| ()).unwrap_err().0
}

#[test]
fn all_mistakes_are_reported_together_each_with_its_culprit() {
    let errors = errors_of(|scene| {
        scene.add_body(ball().named("light").mass(-1.0));
        scene.add_body(ball().named("lost").at([f64::NAN, 0.0, 0.0]));
        scene.add_body(ball().named("twin").at([1.0, 0.0, 0.0]));
        scene.add_body(ball().named("twin").at([2.0, 0.0, 0.0]));
        let mut stranger = ball().named("stranger").at([3.0, 0.0, 0.0]);
        stranger.material = "rok".to_owned();
        scene.add_body(stranger);
    });
    let text: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
    for culprit in ["`light`", "`lost`", "`twin`", "`stranger`"] {
        assert!(text.iter().any(|t| t.contains(culprit)), "{culprit} is missing in {text:?}");
    }
    assert!(text.iter().any(|t| t.contains("known: rock")));
}

#[test]
fn impossible_descriptions_are_refused() {
    let only = |describe: &dyn Fn(&mut SceneBuilder)| {
        let errors = errors_of(|scene| describe(scene));
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors.into_iter().next().unwrap()
    };
    let half_space = || Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    assert!(matches!(
        only(&|s| {
            s.add_body(BodyDescription::new(half_space(), &rock()));
        }),
        BuildError::FreeHalfSpace { .. }
    ));
    assert!(matches!(
        only(&|s| {
            s.add_fixed(half_space(), Pose::IDENTITY, &rock());
        }),
        BuildError::NothingMoves
    ));
    assert!(matches!(
        only(&|s| {
            s.planar();
            s.add_body(ball());
        }),
        BuildError::WrongDimension { .. }
    ));
    assert!(matches!(
        only(&|s| {
            s.add_body(ball());
            s.add_body(ball().at([0.05, 0.0, 0.0]));
        }),
        BuildError::Overlap { .. }
    ));
    assert!(matches!(
        only(&|s| {
            let law = PairLaw {
                friction: 0.1,
                restitution: 0.5,
                law: ContactLaw::QuasiShock,
                ..PairLaw::SMOOTH
            };
            s.pair("rock", "rock", law);
            s.add_body(ball());
        }),
        BuildError::InelasticRestitution { .. }
    ));
    let plate = Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 5.0));
    for inertia in [Mat3::zeros(), -Mat3::identity(), plate, Mat3::repeat(f64::NAN)] {
        assert!(matches!(
            only(&|s| {
                let mut body = ball();
                body.inertia = Some(inertia);
                s.add_body(body);
            }),
            BuildError::BadInertia { .. }
        ));
    }
}

#[test]
fn a_failed_step_leaves_the_state_untouched_and_names_the_body_and_the_time() {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    scene.material(&rock());
    let wall = Shape::cuboid([1.0; 3]).unwrap();
    // The law of this wall breaks down after a quarter of a second.
    let linear = Law::new(|t| Vec3::new(0.0, 0.0, if t > 0.255 { f64::NAN } else { 0.0 }));
    let motion = Motion::Velocity { linear, angular: Law::constant([0.0; 3]) };
    scene.add_body(BodyDescription::new(wall, &rock()).named("press").moving(motion));
    scene.add_body(ball().at([0.0, 0.0, 2.0]));
    let scene = scene.build().unwrap();

    let scheme = MoreauJean::new(0.01);
    let (mut state, mut work) = (scene.initial_state(), Workspace::default());
    let error = loop {
        let before = state.clone();
        if let Err(error) = scheme.step(&scene, &mut state, &mut work) {
            assert_eq!(state, before);
            break error;
        }
    };
    match error {
        StepError::NotFinite { body, t, .. } => {
            assert_eq!(body, "press");
            assert!((t - 0.26).abs() < 1e-9, "{t}");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn steps_and_thetas_out_of_range_are_refused() {
    for (dt, theta) in [(0.0, 0.5), (-1.0, 0.5), (f64::NAN, 0.5), (1e-3, 0.4), (1e-3, 1.1)] {
        let mut scene = Scene::builder();
        scene.add(ball(), &rock());
        let scheme = MoreauJean::new(dt).theta(theta);
        assert!(Simulation::new(scene.build().unwrap(), scheme).is_err());
    }
}

#[test]
fn a_state_of_another_scene_is_refused() {
    let mut scene = Scene::builder();
    scene.add(ball(), &rock());
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    assert!(run.set_state(State::default()).is_err());
    assert!(run.set_state(run.scene().initial_state()).is_ok());
}

/// Stones of all sizes that fall into a box and come to rest.
fn stones_in_a_box(n: usize) -> Scene {
    use riprap::grains::{StoneGenerator, rain, seeded};
    let mut rng = seeded(7);
    let generator = StoneGenerator::default();
    let stone = |i: usize| generator.generate(0.03 + 0.002 * (i % 10) as f64, &mut rng).unwrap();
    let stones: Vec<Shape> =
        (0..n).map(stone).map(|stone| Shape::Polyhedron(stone.into())).collect();
    let mut scene = Scene::builder();
    scene.material(&rock());
    let walls = Shape::open_box([0.2, 0.2, 0.3], 0.02).unwrap();
    scene.add_fixed(walls, Pose::IDENTITY, &rock());
    let poses = rain(&vec![0.045; n], [-0.1, -0.1, 0.0], [0.1, 0.1], &mut seeded(8)).unwrap();
    for (shape, pose) in stones.into_iter().zip(poses) {
        let mut body = BodyDescription::new(shape, &rock());
        body.pose = pose;
        scene.add_body(body);
    }
    scene.build().unwrap()
}

#[test]
fn a_run_resumed_from_its_state_is_bitwise_identical() {
    let scene = stones_in_a_box(40);
    let mut whole = Simulation::new(scene.clone(), MoreauJean::new(1e-3)).unwrap();
    let mut broken = Simulation::new(scene, MoreauJean::new(1e-3)).unwrap();
    for step in 0..700 {
        // Caches of detector and solvers are dropped here: often while the stones collide, at all
        // ages.
        if step % 7 == 0 || step % 31 == 0 {
            let state = broken.state().clone();
            broken.set_state(state).unwrap();
        }
        whole.step().unwrap();
        broken.step().unwrap();
        assert_eq!(whole.state(), broken.state(), "step {step}");
    }
    assert!(whole.frame().contacts().count() > 100);
}

#[test]
fn locked_bodies_meet_moving_floors_without_panic() {
    let mut scene = Scene::builder();
    let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let up = Motion::Velocity {
        linear: Law::constant([0.1, 0.0, 0.05]),
        angular: Law::constant([0.0; 3]),
    };
    scene.add(BodyDescription::new(floor, &rock()).moving(up), &rock());
    for (k, locks) in [
        [true, true, false, true, true, true],
        [false, false, true, false, false, false],
        [true; 6],
        [false, true, false, true, false, true],
    ]
    .into_iter()
    .enumerate()
    {
        let at = [0.5 * k as f64, 0.0, 0.1];
        scene.add(ball().at(at).locked(Locks(locks)), &rock());
    }
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    run.until(0.2, &mut ()).unwrap();
    // The first rides up on the floor, the second stays where it is locked.
    let ridden = run.pose(Body(1)).position.z;
    assert!((ridden - 0.11).abs() < 3e-5, "{ridden}"); // half a step of the floor's motion
    assert_eq!(run.pose(Body(2)).position.z, 0.1);
    assert_eq!(run.pose(Body(3)).position.z, 0.1);
}

#[test]
fn a_block_on_a_belt_reaches_the_speed_of_the_belt() {
    let mut scene = Scene::builder();
    let belt = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let motion = Motion::Velocity {
        linear: Law::constant([0.7, 0.0, 0.0]),
        angular: Law::constant([0.0; 3]),
    };
    scene.add(BodyDescription::new(belt, &rock()).moving(motion), &rock());
    let cube = BodyDescription::new(Shape::cuboid([0.1; 3]).unwrap(), &rock()).at([0.0, 0.0, 0.05]);
    let cube = scene.add(cube, &rock());
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    run.until(0.05, &mut ()).unwrap();
    let sliding = run.velocity(cube).linear.x;
    assert!((sliding - 0.5 * 9.81 * 0.05).abs() < 1e-6, "{sliding}");
    run.until(0.5, &mut ()).unwrap();
    assert!((run.velocity(cube).linear.x - 0.7).abs() < 1e-9);
}

#[test]
fn a_plate_follows_its_position_law_and_carries_the_body_on_it() {
    let mut scene = Scene::builder();
    let plate = Shape::cuboid([1.0, 1.0, 0.1]).unwrap();
    let wave = |t: f64| 0.01 * (1.0 - (std::f64::consts::TAU * 2.0 * t).cos()) - 0.05;
    let motion = Motion::Position {
        linear: Law::new(move |t| Vec3::new(0.0, 0.0, wave(t))),
        angular: Law::constant([0.0; 3]),
    };
    let plate = scene.add(BodyDescription::new(plate, &rock()).moving(motion), &rock());
    let cube = BodyDescription::new(Shape::cuboid([0.1; 3]).unwrap(), &rock()).at([0.0, 0.0, 0.05]);
    let cube = scene.add(cube, &rock());
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    let (mut stray, mut lift) = (0.0f64, 0.0f64);
    while run.time() < 1.0 {
        run.step().unwrap();
        let z = run.pose(plate).position.z;
        stray = stray.max((z - wave(run.time())).abs());
        lift = lift.max((run.pose(cube).position.z - 0.1 - z).abs());
    }
    assert!(stray < 1e-6, "{stray}"); // O(h²) of a wave with 1.6 m/s²
    assert!(lift < 1e-5, "{lift}");
}

#[test]
fn drag_slows_free_bodies_by_its_rate_and_nothing_else() {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let thrown = scene.add(ball().velocity([1.0, -2.0, 0.5]).spin([3.0, 0.0, 0.0]), &rock());
    let along = Motion::Velocity {
        linear: Law::constant([1.0, 0.0, 0.0]),
        angular: Law::constant([0.0; 3]),
    };
    let pushed = scene.add(ball().at([0.0, 0.0, 9.0]).moving(along), &rock());
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    run.drag(2.0).until(0.5, &mut ()).unwrap();
    let left = (-2.0 * 0.5f64).exp();
    let v = run.velocity(thrown);
    assert!((v.linear - Vec3::new(1.0, -2.0, 0.5) * left).norm() < 1e-12, "{v:?}");
    assert!((v.angular.x - 3.0 * left).abs() < 1e-12, "{v:?}");
    assert_eq!(run.velocity(pushed).linear.x, 1.0);
    run.drag(0.0).until(0.6, &mut ()).unwrap();
    assert!((run.velocity(thrown).linear.x - left).abs() < 1e-12);
}

#[test]
fn a_box_slides_over_flush_seams_as_over_a_single_floor() {
    let smooth = Material::new("smooth").density(1000.0);
    for common_plane in [false, true] {
        let mut scene = Scene::builder();
        if common_plane {
            scene.detection(riprap::detect::Method::CommonPlane);
        }
        for k in 0..3 {
            let tile = Shape::cuboid([1.0, 2.0, 0.2]).unwrap();
            scene.add_fixed(tile, Pose::at([f64::from(k) - 1.0, 0.0, -0.1]), &smooth);
        }
        let cube = Shape::cuboid([0.2, 0.2, 0.1]).unwrap();
        let body =
            BodyDescription::new(cube, &smooth).at([-1.0, 0.0, 0.05]).velocity([1.5, 0.0, 0.0]);
        let body = scene.add(body, &smooth);
        let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
        run.until(1.4, &mut ()).unwrap();
        let x = run.pose(body).position.x;
        assert!((x - 1.1).abs() < 1e-6, "common plane {common_plane}: {x}");
    }
}

#[test]
fn a_polygon_slides_over_flush_seams_as_over_a_single_floor() {
    let smooth = Material::new("smooth").density(1000.0);
    let mut scene = Scene::builder();
    scene.planar();
    let rectangle =
        |x: f64, y: f64| Shape::polygon(&[[-x, -y], [x, -y], [x, y], [-x, y]], 1.0).unwrap();
    for k in 0..3 {
        scene.add_fixed(rectangle(0.5, 0.1), Pose::at([f64::from(k) - 1.0, -0.1, 0.0]), &smooth);
    }
    let body = BodyDescription::new(rectangle(0.1, 0.05), &smooth);
    let body = scene.add(body.at([-1.0, 0.05, 0.0]).velocity([1.5, 0.0, 0.0]), &smooth);
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    run.until(1.4, &mut ()).unwrap();
    assert!((run.pose(body).position.x - 1.1).abs() < 1e-6);
}

#[test]
fn frictionless_boxes_dropped_at_random_never_break_the_solver() {
    let smooth = Material::new("smooth").density(1000.0);
    for seed in 0..20 {
        let mut rng = riprap::grains::seeded(seed);
        let mut scene = Scene::builder();
        scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &smooth);
        let poses = riprap::grains::rain(&[0.12; 4], [-0.2, -0.2, 0.0], [0.2, 0.2], &mut rng);
        for pose in poses.unwrap() {
            let mut body = BodyDescription::new(Shape::cuboid([0.15, 0.1, 0.08]).unwrap(), &smooth);
            body.pose = pose;
            body.angular_velocity = Vec3::new(3.0, -2.0, 1.0);
            scene.add(body, &smooth);
        }
        let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
        let energy = |run: &Simulation| {
            let b = run.frame().balance();
            b.kinetic + b.potential
        };
        let before = energy(&run);
        run.until(0.6, &mut ()).unwrap();
        assert!(energy(&run) <= before * (1.0 + 1e-3), "seed {seed}");
    }
}

#[test]
fn a_small_pile_moves_the_same_with_the_reference_and_the_fast_solver() {
    let rock = Material::new("rock").density(2700.0).friction(0.6);
    let mut scene = Scene::builder();
    let walls = Shape::open_box([0.4, 0.4, 1.0], 0.05).unwrap();
    scene.add_fixed(walls, Pose::IDENTITY, &rock);
    for k in 0..48 {
        let (i, j, l) = (k % 4, k / 4 % 4, k / 16);
        let at = [
            0.09 * f64::from(i) - 0.13 + 0.004 * f64::from(l),
            0.09 * f64::from(j) - 0.135 + 0.003 * f64::from(l * i),
            0.0401 + 0.0802 * f64::from(l),
        ];
        let ball = Shape::sphere(0.04).unwrap();
        scene.add(BodyDescription::new(ball, &rock).at(at), &rock);
    }
    let end = |solver: Box<dyn riprap::friction::ContactSolver>| {
        let mut scheme = MoreauJean::new(5e-4);
        scheme.solver = solver;
        let mut run = Simulation::new(scene.build().unwrap(), scheme).unwrap();
        for _ in 0..200 {
            assert!(run.step().unwrap().solve.converged);
        }
        run.state().q.clone()
    };
    let readable = end(Box::new(GaussSeidel::tolerance(1e-10)));
    let fast = end(Box::new(Coloured { fewest: 0, ..Coloured::tolerance(1e-10) }));
    let mut moved = 0.0f64;
    for (a, b) in readable.iter().zip(&fast) {
        assert!((a.position - b.position).norm() < 1e-8, "{:e}", (a.position - b.position).norm());
        assert!((a.rotation.coords - b.rotation.coords).norm() < 1e-8);
        moved = moved.max(a.rotation.angle());
    }
    assert!(moved > 1e-3, "the pile moved");
}

/// A scheme that chooses its step length: Moreau–Jean with steps that grow by a third, up to
/// `longest`.
struct Growing {
    longest: f64,
}

impl Scheme for Growing {
    fn dt(&self) -> f64 {
        self.longest
    }

    fn check(&self, _: &Scene) -> Result<(), StepError> {
        Ok(())
    }

    fn step(&self, scene: &Scene, state: &mut State, work: &mut Workspace) -> StepResult {
        self.advance_to(f64::INFINITY, scene, state, work)
    }

    fn chooses_steps(&self) -> bool {
        true
    }

    fn advance_to(
        &self,
        t: f64,
        scene: &Scene,
        state: &mut State,
        work: &mut Workspace,
    ) -> StepResult {
        let grown = 1e-5 * f64::powi(4.0 / 3.0, state.step as i32);
        let dt = grown.min(self.longest).min(t - state.t);
        MoreauJean::new(dt).step(scene, state, work)
    }
}

#[test]
fn a_scheme_that_chooses_its_steps_ends_at_the_requested_time() {
    let mut builder = Scene::builder();
    let rock = Material::new("rock").density(2500.0);
    let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock).at([0.0, 0.0, 10.0]);
    let ball = builder.add(ball, &rock);
    let mut run = Simulation::new(builder.build().unwrap(), Growing { longest: 7e-4 }).unwrap();
    struct Steps(Vec<f64>);
    impl Observer for Steps {
        fn observe(
            &mut self,
            frame: &Frame,
        ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            self.0.push(frame.dt);
            Ok(())
        }
    }
    let mut steps = Steps(Vec::new());
    for end in [0.0123, 0.1] {
        run.until(end, &mut steps).unwrap();
        assert!((run.time() - end).abs() < 1e-15, "{}", run.time());
        // Exact for a constant force at θ = 1/2, whatever the steps.
        let fallen = 10.0 - 0.5 * 9.81 * end * end;
        assert!((run.pose(ball).position.z - fallen).abs() < 1e-12);
    }
    // Every frame has the length of its own step; the first one has that of the scheme.
    assert!(steps.0[0] == 7e-4 && steps.0[1] == 1e-5 && steps.0[2] > 1.3e-5);
    assert!(steps.0.iter().all(|dt| *dt <= 7e-4 && *dt > 0.0));
    assert_eq!(run.report().steps as usize, steps.0.len() - 2);
}

/// A scheme that never advances the time.
struct Stuck;

impl Scheme for Stuck {
    fn dt(&self) -> f64 {
        1e-3
    }

    fn check(&self, _: &Scene) -> Result<(), StepError> {
        Ok(())
    }

    fn step(&self, _: &Scene, _: &mut State, _: &mut Workspace) -> StepResult {
        Ok(StepReport::default())
    }

    fn chooses_steps(&self) -> bool {
        true
    }
}

#[test]
fn a_scheme_without_progress_and_a_nan_end_time_are_refused() {
    let mut builder = Scene::builder();
    builder.add(ball(), &rock());
    let scene = builder.build().unwrap();
    let mut run = Simulation::new(scene.clone(), Stuck).unwrap();
    let error = run.until(1.0, &mut ()).unwrap_err().to_string();
    assert!(error.contains("did not advance the time"), "{error}");
    let mut run = Simulation::new(scene, MoreauJean::new(1e-3)).unwrap();
    let error = run.until(f64::NAN, &mut ()).unwrap_err().to_string();
    assert!(error.contains("the end time is NaN"), "{error}");
}
