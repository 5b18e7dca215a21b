//! A run that starts from the end of another one, with insertion, removal and periodic cells: inserted bodies and removals carry over,
//! feeds go on, cells keep their strain, and what changes is reported.

use riprap::prelude::*;
use riprap::scene::{Continuation, ContinuationError, Continued};
use std::collections::HashSet;

fn rock() -> Material {
    Material::new("rock").density(2500.0).friction(0.4)
}

fn sphere(radius: f64) -> Shape {
    Shape::sphere(radius).unwrap()
}

fn ball(name: &str, at: [f64; 3]) -> BodyDescription {
    BodyDescription::new(sphere(0.02), &rock()).named(name).at(at)
}

fn scheme() -> MoreauJean {
    MoreauJean::new(1e-3).solver(GaussSeidel::tolerance(1e-8))
}

fn ran(scene: &Scene, t: f64) -> Simulation {
    let mut run = Simulation::new(scene.clone(), scheme()).unwrap();
    run.until(t, &mut ()).unwrap();
    run
}

fn from_zero(old: &Simulation, from: &Scene, to: &Scene) -> (State, Continued) {
    Continuation::default().state(from, old.state(), to).unwrap()
}

fn going_on(old: &Simulation, from: &Scene, to: &Scene) -> (State, Continued) {
    let options = Continuation { time: old.time(), ..Continuation::default() };
    options.state(from, old.state(), to).unwrap()
}

fn resumed(scene: &Scene, state: State) -> Simulation {
    let mut run = Simulation::new(scene.clone(), scheme()).unwrap();
    run.set_state(state).unwrap();
    run
}

fn names(run: &Simulation) -> HashSet<String> {
    run.scene().bodies().names.iter().cloned().collect()
}

/// A floor, a ball that will be removed, one that stays, and a feed of balls and cubes.
fn feeder(count: Option<u64>) -> SceneBuilder {
    let rock = rock();
    let mut scene = Scene::builder();
    let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    scene.add(BodyDescription::new(floor, &rock).named("floor").fixed(), &rock);
    scene.add(ball("leaves", [0.9, 0.0, 0.02]).velocity([2.0, 0.0, 0.0]), &rock);
    scene.add(ball("stays", [0.0, 0.0, 0.02]), &rock);
    let supply = Supply::cycle(vec![sphere(0.015), Shape::cuboid([0.03; 3]).unwrap()]);
    let feed = Insertion::new("feed", supply, &rock).within([-0.3, -0.3, 0.1], [0.3, 0.3, 0.4]);
    let feed = Insertion { count, ..feed.rate(100.0) };
    scene.insert(feed, &rock);
    scene.remove(Removal::outside([-1.0; 3], [1.0; 3]));
    scene
}

#[test]
fn inserted_bodies_carry_over_with_their_bits_and_removed_ones_stay_away() {
    let scene = feeder(None).build().unwrap();
    let first = ran(&scene, 0.2);
    assert_eq!(first.state().population.account.removed, 1);
    for (state, report) in [from_zero(&first, &scene, &scene), going_on(&first, &scene, &scene)] {
        assert_eq!((&state.q, &state.v), (&first.state().q, &first.state().v));
        assert_eq!(state.warm_start, first.state().warm_start);
        assert_eq!(state.population.inserted, first.state().population.inserted);
        assert_eq!(report.inserted, [20, 20]);
        assert_eq!(report.removed, ["leaves"]);
        assert!(report.bodies.new.is_empty() && report.bodies.missing.is_empty(), "{report:?}");
        let told = report.lines().join("\n");
        assert!(told.contains("inserted bodies: 20 of 20 carry over"), "{told}");
        assert!(told.contains("removed by the other run, and not inserted again: `leaves`"));
        let second = resumed(&scene, state);
        assert_eq!(names(&second), names(&first));
        assert_eq!(second.scene().bodies().ids, first.scene().bodies().ids);
        assert_eq!(second.scene().bodies().mass, first.scene().bodies().mass);
    }
}

#[test]
fn without_further_insertions_the_two_runs_are_one_that_was_never_split() {
    let scene = feeder(Some(12)).build().unwrap();
    let (first, whole) = (ran(&scene, 0.2), ran(&scene, 0.4));
    let (state, _) = going_on(&first, &scene, &scene);
    let mut second = resumed(&scene, state);
    for _ in 0..200 {
        second.step().unwrap();
    }
    assert_eq!((&second.state().q, &second.state().v), (&whole.state().q, &whole.state().v));
    assert_eq!(second.state().warm_start, whole.state().warm_start);
    assert_eq!(second.state().population.inserted.len(), 12);
}

#[test]
fn feeds_go_on_with_the_next_number_at_their_rate() {
    let scene = feeder(None).build().unwrap();
    // Between two bodies: the next one is due 5 ms later, if the time goes on.
    let first = ran(&scene, 0.195);
    assert_eq!(first.state().population.feeds[0].next, 20);
    let (state, _) = going_on(&first, &scene, &scene);
    let mut second = resumed(&scene, state);
    for _ in 0..5 {
        second.step().unwrap();
    }
    assert_eq!(second.state().population.feeds[0].next, 20);
    second.step().unwrap();
    assert_eq!(second.state().population.feeds[0].next, 21);
    second.until(0.395, &mut ()).unwrap();
    assert_eq!(second.state().population.feeds[0].next, 40);
    assert_eq!(second.state().population.account.inserted, 20, "those of this run");

    // If it starts at zero, so does the law: a body at once, then a hundred per second.
    let (state, _) = from_zero(&first, &scene, &scene);
    let mut second = resumed(&scene, state);
    second.step().unwrap();
    assert_eq!(second.state().population.feeds[0].next, 21);
    assert!(second.scene().body("feed-21").is_some());
    second.until(0.2, &mut ()).unwrap();
    assert_eq!(second.state().population.feeds[0].next, 40);
    let all: HashSet<u32> = second.scene().bodies().ids.iter().copied().collect();
    assert_eq!(all.len(), second.scene().bodies().len(), "ids are unique");
    assert_eq!(names(&second).len(), second.scene().bodies().len(), "and so are names");
}

#[test]
fn mass_rates_count_the_mass_of_their_own_run() {
    let rock = rock();
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let supply = Supply::cycle([0.01, 0.015, 0.02].map(sphere).into());
    let feed = Insertion::new("feed", supply, &rock).within([0.0; 3], [1.0; 3]);
    scene.insert(feed.mass_rate(2.0), &rock);
    let scene = scene.build().unwrap();
    let first = ran(&scene, 0.4);
    let (state, _) = from_zero(&first, &scene, &scene);
    let before = state.population.feeds[0].mass;
    assert_eq!(state.population.feeds[0].before, (state.population.feeds[0].next, before));
    let mut second = resumed(&scene, state);
    let largest = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.02_f64.powi(3);
    for _ in 0..400 {
        second.step().unwrap();
        let came = second.state().population.feeds[0].mass - before;
        let due = 2.0 * (second.time() - 1e-3);
        assert!(came >= due - 1e-9 && came <= due + largest + 1e-9, "{came} {due}");
        assert!((came - second.state().population.account.gained.mass).abs() < 1e-12);
    }
}

#[test]
fn bodies_that_came_at_once_do_not_come_again() {
    let rock = rock();
    let scene = |count: u64| {
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        let feed = Insertion::new("heap", Supply::same(sphere(0.02)), &rock).at(0.0, count);
        scene.insert(feed.within([0.0; 3], [1.0; 3]), &rock);
        scene.build().unwrap()
    };
    let (few, more) = (scene(30), scene(42));
    let first = ran(&few, 0.01);
    assert_eq!(first.state().population.account.inserted, 30);
    let (state, _) = from_zero(&first, &few, &few);
    let mut second = resumed(&few, state);
    second.step().unwrap();
    assert_eq!(second.state().population.account.inserted, 0);
    // A larger count is one over both runs.
    let (state, _) = from_zero(&first, &few, &more);
    let mut second = resumed(&more, state);
    second.step().unwrap();
    assert_eq!(second.state().population.account.inserted, 12);
    assert!(second.scene().body("heap-42").is_some() && second.scene().body("heap-43").is_none());
}

#[test]
fn ids_are_renumbered_when_the_scene_describes_more_bodies() {
    let scene = feeder(None).build().unwrap();
    let first = ran(&scene, 0.2);
    let mut changed = feeder(None);
    changed.add(ball("tool", [0.0, 0.0, 0.8]), &rock());
    changed.add(ball("other", [0.0, 0.5, 0.8]), &rock());
    let changed = changed.build().unwrap();
    let (state, report) = from_zero(&first, &scene, &changed);
    assert_eq!(report.bodies.new, ["tool", "other"]);
    assert_eq!((report.inserted, &report.removed[..]), ([20, 20], &["leaves".to_owned()][..]));
    let second = resumed(&changed, state);
    for (slot, name) in first.scene().bodies().names.iter().enumerate() {
        let body = second.scene().body(name).unwrap();
        assert_eq!(second.pose(body), first.state().q[slot], "{name}");
        assert_eq!(second.velocity(body), first.state().v[slot], "{name}");
    }
    // Described bodies first, then inserted ones in the order in which they came.
    let ids: Vec<u32> = second.state().population.inserted.iter().map(|body| body.id).collect();
    assert_eq!(ids, (5..25).collect::<Vec<u32>>());
    assert!(second.scene().body("leaves").is_none());
    // Contacts of carried bodies start from their impulses.
    assert!(report.contacts[0] > 0 && report.contacts[0] == report.contacts[1], "{report:?}");
    let mut second = second;
    second.until(0.05, &mut ()).unwrap();
    assert!(second.scene().body("feed-24").is_some());
}

#[test]
fn inserted_bodies_without_their_insertion_are_missing_and_described_ones_continue() {
    let scene = feeder(None).build().unwrap();
    let first = ran(&scene, 0.1);
    let mut changed = Scene::builder();
    let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    changed.add(BodyDescription::new(floor, &rock()).named("floor").fixed(), &rock());
    let third = BodyDescription::new(sphere(0.015), &rock()).named("feed-3");
    changed.add(third.at([0.0, 0.0, 3.0]), &rock());
    let changed = changed.build().unwrap();
    let (state, report) = from_zero(&first, &scene, &changed);
    assert_eq!(report.inserted, [0, 10]);
    assert_eq!(report.bodies.matched, 2);
    assert_eq!(report.bodies.missing.len(), 10, "nine of the feed and one ball: {report:?}");
    let body = first.scene().body("feed-3").unwrap();
    assert_eq!(state.q[1], first.pose(body));
    resumed(&changed, state).step().unwrap();
}

#[test]
fn a_removed_body_that_something_holds_in_the_new_scene_is_there_again() {
    let scene = feeder(None).build().unwrap();
    let first = ran(&scene, 0.2);
    let again = |edit: &dyn Fn(&mut SceneBuilder)| {
        let mut changed = feeder(None);
        edit(&mut changed);
        changed.accept_overlap(f64::INFINITY);
        let changed = changed.build().unwrap();
        let (state, report) = from_zero(&first, &scene, &changed);
        let second = resumed(&changed, state);
        (second.scene().body("leaves").is_some(), report.bodies.new, report.removed)
    };
    assert_eq!(again(&|_| {}), (false, vec![], vec!["leaves".to_owned()]));
    let new = (true, vec!["leaves".to_owned()], vec![]);
    let fixed = again(&|scene| {
        let body = Body(1);
        scene.description_mut(body).unwrap().kind = riprap::scene::Kind::Fixed;
    });
    assert_eq!(fixed, new);
    // A rope would have nothing to hold.
    let mut changed = Scene::builder();
    let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    changed.add(BodyDescription::new(floor, &rock()).named("floor").fixed(), &rock());
    let held = changed.add(ball("leaves", [0.9, 0.0, 0.6]), &rock());
    let path = vec![(On::World, Vec3::new(0.9, 0.0, 1.0)), (On::Body(held), Vec3::zeros())];
    changed.add_rope(Rope { name: "rope".into(), path, length: None, breaking_load: None });
    let changed = changed.build().unwrap();
    let (state, report) = from_zero(&first, &scene, &changed);
    assert_eq!((&report.bodies.new[..], report.removed.len()), (&["leaves".to_owned()][..], 0));
    resumed(&changed, state).step().unwrap();
}

#[test]
fn removals_in_the_past_are_over_and_those_to_come_happen_once() {
    let rock = rock();
    let scene = |times: &[f64]| {
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        for k in 0..3 {
            scene.add(ball(&format!("ball-{k}"), [0.1 * f64::from(k), 0.0, 0.0]), &rock);
        }
        for (k, t) in times.iter().enumerate() {
            scene.remove(Removal::at(*t).only([&format!("ball-{k}")[..]]));
        }
        scene.build().unwrap()
    };
    let kept = |run: &Simulation| {
        (0..3).map(|k| run.scene().body(&format!("ball-{k}")).is_some()).collect::<Vec<_>>()
    };
    let old = scene(&[]);
    let mut added = old.clone();
    assert!(added.population().is_none());
    let first = ran(&old, 0.1);
    // One before the time at which the run starts, one at it, one after it.
    added = scene(&[0.05, 0.1, 0.15]);
    let (state, _) = going_on(&first, &old, &added);
    assert_eq!(state.population.done, [true, false, false]);
    let mut second = resumed(&added, state);
    second.step().unwrap();
    assert_eq!(kept(&second), [true, false, true]);
    second.until(0.2, &mut ()).unwrap();
    assert_eq!(kept(&second), [true, false, false]);
    // From zero, all are still to come.
    let (state, _) = from_zero(&first, &old, &added);
    let mut second = resumed(&added, state);
    second.until(0.2, &mut ()).unwrap();
    assert_eq!(kept(&second), [false; 3]);
}

#[test]
fn a_new_insertion_starts_with_the_run_and_does_not_make_up_for_the_past() {
    let plain = feeder(Some(3)).build().unwrap();
    let first = ran(&plain, 0.5);
    let mut changed = feeder(Some(3));
    let more = Insertion::new("more", Supply::same(sphere(0.01)), &rock()).rate(100.0);
    changed.insert(more.within([-0.3, -0.3, 0.5], [0.3, 0.3, 0.9]), &rock());
    let changed = changed.build().unwrap();
    let (state, _) = going_on(&first, &plain, &changed);
    let mut second = resumed(&changed, state);
    second.until(0.7, &mut ()).unwrap();
    assert_eq!(second.state().population.account.inserted, 20);
}

/// Weak stones that break where they fall.
fn crusher(extra: bool) -> SceneBuilder {
    let weak = rock().breaking(Fragmentation::peak_force(300.0, 0.015).average(1e-3));
    let mut scene = Scene::builder();
    let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    scene.add(BodyDescription::new(floor, &weak).named("floor").fixed(), &weak);
    if extra {
        let hard = Material { name: "hard".into(), ..rock() };
        let mut extra = ball("extra", [3.0, 0.0, 0.02]);
        extra.material = "hard".into();
        scene.add(extra, &hard);
    }
    let cube = Supply::same(Shape::cuboid([0.04; 3]).unwrap());
    let feed = Insertion::new("feed", cube, &weak).within([-0.2, -0.2, 0.05], [0.2, 0.2, 0.3]);
    scene.insert(feed.rate(100.0).velocity([0.0, 0.0, -6.0]), &weak);
    scene.remove(Removal::outside([-0.5; 3], [5.0, 0.5, 0.5]));
    scene
}

#[test]
fn pieces_of_inserted_stones_carry_over() {
    let scene = crusher(false).build().unwrap();
    let first = ran(&scene, 0.12);
    let pieces = &first.state().degradation.pieces;
    assert!(pieces.len() > 6, "{}", pieces.len());
    for extra in [false, true] {
        let changed = crusher(extra).build().unwrap();
        let (state, report) = from_zero(&first, &scene, &changed);
        assert_eq!(report.stones, [pieces.len(); 2]);
        assert_eq!(report.inserted[0], report.inserted[1]);
        assert!(report.bodies.missing.is_empty(), "{report:?}");
        assert_eq!(report.strengths_redrawn > 0, extra);
        let mut second = resumed(&changed, state);
        for (slot, name) in first.scene().bodies().names.iter().enumerate() {
            let body = second.scene().body(name).unwrap_or_else(|| panic!("{name} is missing"));
            assert_eq!(second.pose(body), first.state().q[slot], "{name}");
            let now = second.scene().slot(body);
            assert_eq!(second.scene().bodies().mass[now], first.scene().bodies().mass[slot]);
        }
        second.until(0.02, &mut ()).unwrap();
        let ids: HashSet<u32> = second.scene().bodies().ids.iter().copied().collect();
        assert_eq!(ids.len(), second.scene().bodies().len());
    }
}

/// Two balls in a cell, one of which has left it.
fn pair(cell: Option<Cell>) -> Scene {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    if let Some(cell) = cell {
        scene.periodic(cell);
    }
    scene.add(ball("slow", [0.1, 0.1, 0.1]), &rock());
    scene.add(ball("fast", [0.2, 0.2, 0.2]).velocity([0.3, 0.9, -0.4]), &rock());
    scene.build().unwrap()
}

fn cube() -> Cell {
    Cell::new().x([0.0, 0.4]).y([0.0, 0.5]).z([0.0, 0.3])
}

#[test]
fn a_sheared_run_goes_on_only_with_the_strain_that_it_has_reached() {
    let sheared = pair(Some(cube().shear_rate(0.7)));
    let first = ran(&sheared, 1.3);
    let error = Continuation::default().state(&sheared, first.state(), &sheared).unwrap_err();
    let ContinuationError::Strain { reached, starts } = error else { panic!("{error}") };
    assert!((reached - 0.91).abs() < 1e-12 && starts == 0.0);
    let told = error.to_string();
    assert!(told.contains("a shear strain of 0.910000000 of the periodic cell"), "{told}");
    assert!(told.contains("start_time = \"continue\"") && told.contains("shear_strain"), "{told}");

    // If the time goes on, everything does, bit for bit.
    let (state, report) = going_on(&first, &sheared, &sheared);
    assert_eq!((&state.q, &state.v), (&first.state().q, &first.state().v));
    assert_eq!((report.other_cell, report.shear_rates), (false, None));
    let whole = ran(&sheared, 1.5);
    let mut second = resumed(&sheared, state);
    second.until(1.5, &mut ()).unwrap();
    assert_eq!((&second.state().q, &second.state().v), (&whole.state().q, &whole.state().v));

    // The remedy of the message, with the digits that it gives.
    let described = pair(Some(cube().shear_strain(|t| 0.910000000 + 0.7 * t)));
    let (state, report) = from_zero(&first, &sheared, &described);
    assert_eq!((&state.q, &state.v), (&first.state().q, &first.state().v));
    assert_eq!(report.shear_rates, None);
    // So does a strain that differs by whole periods: 0.4 m of 0.5 m.
    let periods = pair(Some(cube().shear_strain(|t| 0.91 - 3.0 * 0.8 + 0.7 * t)));
    assert!(Continuation::default().state(&sheared, first.state(), &periods).is_ok());
    // Without shear the images would be elsewhere.
    let still = pair(Some(cube()));
    let error = Continuation::default().state(&sheared, first.state(), &still).unwrap_err();
    assert!(matches!(error, ContinuationError::Strain { .. }));
}

#[test]
fn another_shear_rate_keeps_velocities_relative_to_the_flow() {
    let still = pair(Some(cube()));
    let first = ran(&still, 1.0);
    let height = first.state().q[1].position.y;
    assert!(height > 1.0, "two cells above");
    let sheared = pair(Some(cube().shear_rate(2.0)));
    let (state, report) = from_zero(&first, &still, &sheared);
    assert_eq!(report.shear_rates, Some([0.0, 2.0]));
    assert_eq!(state.q, first.state().q);
    for (k, v) in state.v.iter().enumerate() {
        let old = first.state().v[k].linear;
        let exact = old + Vec3::x() * 2.0 * state.q[k].position.y;
        assert!((v.linear - exact).norm() < 1e-14, "{v:?}");
    }
    let told = report.lines().join("\n");
    assert!(told.contains("shear rate of the cell 2.000000 1/s instead of 0.000000 1/s"), "{told}");
    // The energy of the motion relative to the flow is the same.
    let [a, b] = [(&still, first.state()), (&sheared, &state)]
        .map(|(scene, state)| riprap::simulation::Balance::of(scene, state).kinetic);
    assert!((a / b - 1.0).abs() < 1e-13, "{a} {b}");
    // Without the flow, if the scene says so.
    let at_rest = pair(Some(cube().shear_rate(2.0).starting_at_rest()));
    let (state, report) = from_zero(&first, &still, &at_rest);
    assert_eq!((state.v, report.shear_rates), (first.state().v.clone(), None));
}

#[test]
fn into_another_cell_bodies_start_from_within_the_old_one() {
    let small = pair(Some(cube().shear_rate(0.5)));
    let first = ran(&small, 1.0);
    let lattice = small.lattice(1.0).unwrap();
    let large = pair(Some(Cell::new().x([-1.0, 1.0]).y([-1.0, 1.0]).shear_rate(0.2)));
    let open = pair(None);
    for (scene, rate) in [(&large, 0.2), (&open, 0.5)] {
        let (state, report) = from_zero(&first, &small, scene);
        assert!(report.other_cell);
        assert!(report.lines().iter().any(|line| line.starts_with("another periodic cell")));
        for k in 0..2 {
            let (before, after) = (first.state().q[k].position, state.q[k].position);
            assert_eq!(after, lattice.wrapped(before));
            let own = first.state().v[k].linear - Vec3::x() * 0.5 * before.y;
            let exact = own + Vec3::x() * rate * after.y;
            assert!((state.v[k].linear - exact).norm() < 1e-14);
        }
    }
    // Out of open space, nothing moves.
    let drifted = ran(&open, 0.9);
    let (state, report) = from_zero(&drifted, &open, &pair(Some(cube())));
    assert!(report.other_cell && state.q == drifted.state().q && state.v == drifted.state().v);
}

#[test]
fn bodies_that_overlap_through_the_boundaries_of_a_smaller_cell_are_named() {
    let scene = |cell: Cell| {
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]).periodic(cell);
        scene.accept_overlap(f64::INFINITY);
        scene.add(ball("left", [0.021, 0.1, 0.1]), &rock());
        scene.add(ball("right", [0.379, 0.1, 0.1]), &rock());
        scene.add(ball("middle", [0.2, 0.1, 0.1]), &rock());
        scene.build().unwrap()
    };
    let old = scene(cube());
    let first = ran(&old, 0.01);
    let error = Continuation::default().state(&old, first.state(), &scene(cube().x([0.0, 0.36])));
    let told = error.unwrap_err().to_string();
    // 42 mm apart before, 2 mm now.
    assert!(told.contains("`left` and `right` overlap by 3.80e-2 m"), "{told}");
    assert!(
        Continuation::default().state(&old, first.state(), &scene(cube().x([0.0, 0.41]))).is_ok()
    );
    // Overlaps that were there before, through the same image, stay.
    let deep = |cell: Cell| {
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]).periodic(cell);
        scene.accept_overlap(f64::INFINITY);
        scene.add(ball("a", [0.1, 0.1, 0.1]), &rock());
        scene.add(ball("b", [0.139, 0.1, 0.1]), &rock());
        scene.build().unwrap()
    };
    let old = deep(cube());
    let first = Simulation::new(old.clone(), scheme()).unwrap();
    assert!(
        Continuation::default().state(&old, first.state(), &deep(cube().z([0.0, 0.5]))).is_ok()
    );
}
