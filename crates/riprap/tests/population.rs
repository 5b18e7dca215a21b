//! Bodies inserted and removed during a run, under every scheme: rates, balances, ids, room, threads and restarts.

use riprap::friction::Apgd;
use riprap::grains::{StoneGenerator, seeded};
use riprap::prelude::*;
use riprap::scene::{BuildError, Item, Where};
use riprap::scheme::Scheme;
use std::collections::{HashMap, HashSet};

/// The schemes that have contacts.
const SCHEMES: [&str; 6] =
    ["moreau-jean", "cone", "coulomb", "penalty", "generalized-alpha", "rigid-events"];

fn scheme(name: &str) -> Box<dyn Scheme> {
    let cone = || ConeComplementarity::new(1e-3).solver(Apgd::tolerance(1e-8));
    match name {
        "moreau-jean" => Box::new(MoreauJean::new(1e-3)),
        "cone" => Box::new(cone()),
        "coulomb" => {
            Box::new(cone().law(FrictionLaw::Coulomb).solver(GaussSeidel::tolerance(1e-8)))
        }
        "penalty" => Box::new(Penalty::new(1e-4)),
        "generalized-alpha" => Box::new(GeneralizedAlpha::new(1e-3)),
        _ => Box::new(RigidEvents::new(1e-3)),
    }
}

fn start(scene: &SceneBuilder, name: &str) -> Simulation {
    Simulation::new(scene.build().unwrap(), scheme(name)).unwrap()
}

fn rock() -> Material {
    Material::new("rock").density(2500.0).friction(0.4)
}

fn floor(scene: &mut SceneBuilder, rock: &Material) {
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, rock);
}

/// Balls of 2, 3 and 4 cm.
fn balls() -> Supply {
    Supply::cycle([0.01, 0.015, 0.02].map(|r| Shape::sphere(r).unwrap()).into())
}

/// Stiff enough for soft contacts of these balls.
fn stiff(scene: &mut SceneBuilder, rock: &Material) {
    let law = PairLaw { stiffness: Some(1e4), ..PairLaw::combined(rock, rock) };
    scene.pair("rock", "rock", law);
}

/// A feed of balls above a floor, of which those that leave a box are removed.
fn feed(rate: f64) -> SceneBuilder {
    let rock = rock();
    let mut scene = Scene::builder();
    floor(&mut scene, &rock);
    stiff(&mut scene, &rock);
    let feed = Insertion::new("feed", balls(), &rock).within([-0.1, -0.1, 0.1], [0.1, 0.1, 0.3]);
    scene.insert(feed.rate(rate).velocity([1.5, 0.0, -1.0]).spin([0.0, 3.0, 0.0]), &rock);
    scene.remove(Removal::outside([-1.0, -1.0, -1.0], [0.25, 1.0, 1.0]));
    scene
}

fn n_free(run: &Simulation) -> u64 {
    run.scene().bodies().n_movable() as u64
}

/// Mass that came minus mass that left minus mass that is there, relative to what came [–].
fn imbalance(run: &Simulation, described: f64) -> f64 {
    let account = &run.state().population.account;
    let stones = &run.state().degradation.account;
    let left = account.lost.mass + stones.dust.mass + stones.worn.mass;
    (described + account.gained.mass - left - run.scene().free_mass()) / account.gained.mass
}

#[test]
fn a_rate_is_exact_over_a_second_and_numbers_and_mass_are_balanced_under_every_scheme() {
    for name in SCHEMES {
        let seconds = if name == "moreau-jean" { 1.0 } else { 0.25 };
        let mut run = start(&feed(80.0), name);
        run.until(seconds, &mut ()).unwrap();
        let account = run.state().population.account;
        let due = (80.0 * seconds) as u64;
        assert!(account.inserted.abs_diff(due) <= u64::from(name == "rigid-events"), "{name}");
        assert!(account.removed > 0, "{name}: {account:?}");
        assert_eq!(n_free(&run), account.inserted - account.removed, "{name}");
        assert!(imbalance(&run, 0.0).abs() < 1e-13, "{name}");
        assert_eq!(run.state().population.inserted.len() as u64, n_free(&run));
        assert!(run.state().degradation.gone.is_empty(), "nothing described is gone");
    }
}

#[test]
fn a_mass_rate_is_exact_to_one_body() {
    let rock = rock();
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let feed = Insertion::new("feed", balls(), &rock).within([0.0; 3], [1.0; 3]);
    scene.insert(feed.mass_rate(2.0).between(0.1, 0.8), &rock);
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    let largest = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.02_f64.powi(3);
    for _ in 0..1000 {
        run.step().unwrap();
        let came = run.state().population.account.gained.mass;
        // Before the last step.
        let due = 2.0 * (run.time() - 1e-3 - 0.1).clamp(0.0, 0.7);
        assert!(came >= due - 1e-9 && came <= due + largest + 1e-9, "{}: {came} {due}", run.time());
    }
    assert!(run.state().population.account.inserted > 25);
}

#[test]
fn what_enters_and_leaves_accounts_for_momentum_and_energy() {
    // Without contacts and gravity nothing else changes them.
    let rock = rock();
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let feed = Insertion::new("feed", balls(), &rock).within([0.0; 3], [0.0, 1.0, 1.0]);
    scene.insert(feed.rate(100.0).velocity([2.0, 0.0, 0.0]).spin([0.0, 0.0, 9.0]), &rock);
    scene.remove(Removal::outside([-1.0; 3], [0.5, 2.0, 2.0]).only(["feed-*"]));
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    run.until(1.0, &mut ()).unwrap();
    let riprap::scene::PopulationAccount { gained, lost, inserted, removed } =
        run.state().population.account;
    assert_eq!((inserted, removed), (100, 75), "each needs a quarter of a second");
    let now = run.frame().balance();
    assert!((gained.kinetic - lost.kinetic - now.kinetic).abs() < 1e-12 * gained.kinetic);
    let momentum = Vec3::from(gained.momentum) - Vec3::from(lost.momentum) - now.momentum;
    assert!(momentum.norm() < 1e-12 * gained.momentum[0]);
    let spin = Vec3::from(gained.angular_momentum)
        - Vec3::from(lost.angular_momentum)
        - now.angular_momentum;
    assert!(spin.norm() < 1e-10 * Vec3::from(gained.angular_momentum).norm());
}

#[test]
fn new_bodies_touch_nothing_and_those_without_room_wait_for_it() {
    // A closed box that holds a few balls only, with a beam, a mechanism and a ball in it.
    let rock = rock();
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    scene.accept_overlap(0.0);
    scene.add_fixed(Shape::open_box([0.2, 0.2, 0.2], 0.02).unwrap(), Pose::IDENTITY, &rock);
    let ball = BodyDescription::new(Shape::sphere(0.05).unwrap(), &rock);
    scene.add(ball.at([0.0, 0.0, 0.1]), &rock);
    let feed = Insertion::new("feed", Supply::same(Shape::cuboid([0.03; 3]).unwrap()), &rock);
    // Larger than the inside.
    scene.insert(feed.within([-0.12, -0.12, -0.03], [0.12, 0.12, 0.2]).at(0.01, 100), &rock);
    scene.remove(Removal::at(0.06).only(["feed-*"]));
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    run.until(0.05, &mut ()).unwrap();
    assert_eq!(run.frame().contacts().filter(|c| c.gap < 0.0).count(), 0);
    for slot in 0..run.scene().bodies().len() {
        let p = run.state().q[slot].position;
        assert!(p.x.abs() < 0.085 && p.y.abs() < 0.085 && p.z > -1e-9, "{p}");
    }
    let feed = run.state().population.feeds[0];
    assert!(feed.next >= 20 && feed.next < 100 && feed.waits, "{feed:?}");
    assert_eq!(run.state().population.account.inserted, feed.next);
    // Where the first have gone, there is room for others.
    run.until(0.08, &mut ()).unwrap();
    let later = run.state().population.feeds[0];
    assert!(later.next > feed.next + 10 && later.waited > 10, "{later:?}");
    let first = run.scene().body("feed-1");
    assert!(first.is_none(), "removed at 0.06 s");
    assert!(run.scene().body(&format!("feed-{}", later.next)).is_some());
}

#[test]
fn bodies_without_a_box_to_fit_into_appear_in_its_middle() {
    let rock = rock();
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let cube = Supply::same(Shape::cuboid([0.2; 3]).unwrap());
    let feed = Insertion::new("feed", cube, &rock).within([1.0, 2.0, 3.0], [1.0, 2.2, 3.0]);
    scene.insert(feed.at(0.0, 1).upright(), &rock);
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    assert_eq!(n_free(&run), 0, "before the first step");
    run.step().unwrap();
    let cube = run.scene().body("feed-1").unwrap();
    assert_eq!(run.pose(cube).position, Vec3::new(1.0, 2.1, 3.0));
    assert_eq!(run.pose(cube).rotation, Quat::identity());
}

fn weak() -> Material {
    let law = Fragmentation::peak_force(300.0, 0.015).average(1e-3);
    rock().breaking(law).wearing(Wear::new(0.5, 2e4).chamfer(5e-4))
}

/// Weak stones that fall fast, break, and leave a box.
fn crusher() -> SceneBuilder {
    let weak = weak();
    let mut scene = Scene::builder();
    scene.seed(3);
    floor(&mut scene, &weak);
    stiff(&mut scene, &weak);
    let generator = StoneGenerator::default();
    let stone = move |k| {
        let stone = generator.generate(0.05, &mut seeded(k));
        stone.map_or_else(|_| Shape::nothing(), |p| Shape::Polyhedron(p.into()))
    };
    let first = BodyDescription::new(stone(1000), &weak).named("first").at([0.0, 0.0, 0.05]);
    scene.add(first.velocity([3.0, 0.0, -5.0]), &weak);
    let feed = Insertion::new("feed", Supply::new(stone), &weak);
    let feed = feed.within([-0.15, -0.15, 0.05], [0.15, 0.15, 0.3]).velocity([2.0, 0.0, -6.0]);
    scene.insert(feed.rate(150.0), &weak);
    scene.remove(Removal::outside([-0.3, -0.3, -1.0], [0.3, 0.3, 1.0]));
    scene.remove(Removal::at(0.1).only(["feed-*.1*"]));
    scene
}

#[test]
fn ids_never_repeat_over_insertion_breakage_and_removal() {
    let mut run = start(&crusher(), "moreau-jean");
    let mut alive: HashMap<u32, String> = HashMap::new();
    let mut gone: HashSet<u32> = HashSet::new();
    let described = run.scene().free_mass();
    for _ in 0..250 {
        let bodies = run.scene().bodies();
        let now: HashMap<u32, String> =
            bodies.ids.iter().copied().zip(bodies.names.iter().cloned()).collect();
        assert_eq!(now.len(), bodies.len(), "ids are unique");
        assert_eq!(now.values().collect::<HashSet<_>>().len(), bodies.len(), "names are unique");
        for (id, name) in &now {
            assert!(!gone.contains(id), "{id} came back as {name}");
            assert!(alive.get(id).is_none_or(|known| known == name), "{id} was renamed");
        }
        gone.extend(alive.keys().filter(|id| !now.contains_key(id)));
        for id in &gone {
            assert!(!run.scene().contains(Body(*id)));
        }
        alive = now;
        run.step().unwrap();
    }
    gone.extend(alive.keys().filter(|id| !run.scene().contains(Body(**id))));
    let (stones, account) = (run.state().degradation.account, run.state().population.account);
    assert!(stones.breaks > 10 && stones.chamfers > 0, "{stones:?}");
    assert!(account.inserted == 38 && account.removed > 5, "{account:?}");
    assert!(gone.len() as u64 >= stones.breaks + account.removed);
    assert!(imbalance(&run, described).abs() < 1e-12);
    assert!(!run.scene().contains(Body(1)), "the first stone has left");
}

#[test]
fn resumed_runs_repeat_the_original_under_every_scheme() {
    for name in SCHEMES {
        let until = 0.06;
        let mut scene = crusher();
        if name == "penalty" || name == "rigid-events" || name == "generalized-alpha" {
            scene = feed(150.0);
        }
        let begin = || start(&scene, name);
        let mut whole = begin();
        let mut states = vec![whole.state().clone()];
        while whole.time() < until {
            whole.advance_to(until).unwrap();
            states.push(whole.state().clone());
        }
        let account = whole.state().population.account;
        assert!(account.inserted >= 9, "{name}: {account:?}");
        for from in [1, states.len() / 3, states.len() / 2 + 1, states.len() - 3] {
            let mut again = begin();
            again.set_state(states[from].clone()).unwrap();
            for state in states[from + 1..].iter().take(25) {
                again.advance_to(until).unwrap();
                assert!(again.state() == state, "{name}: step {} from {from}", state.step);
            }
        }
    }
}

#[test]
fn a_state_of_another_population_is_rejected() {
    let mut other = feed(150.0);
    other.insert(Insertion::new("more", balls(), &rock()).within([3.0; 3], [4.0; 3]), &rock());
    let mut run = start(&other, "moreau-jean");
    run.until(0.05, &mut ()).unwrap();
    let error = start(&feed(150.0), "moreau-jean").set_state(run.state().clone());
    assert!(matches!(error, Err(riprap::simulation::Error::WrongState { .. })));
    let plain = start(&crusher(), "moreau-jean").state().clone();
    assert!(run.set_state(plain).is_err());
    // Its own first state is one of it.
    let first = run.scene().initial_state();
    assert!(first.population.inserted.is_empty());
}

#[test]
fn threads_do_not_change_runs_with_insertion_and_removal() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut scene, weak) = (crusher(), weak());
            let cubes = Supply::same(Shape::cuboid([0.02; 3]).unwrap());
            let more = Insertion::new("more", cubes, &weak);
            scene.insert(more.within([-0.25, -0.25, 0.1], [0.25, 0.25, 1.0]).at(0.0, 600), &weak);
            let mut run = start(&scene, "moreau-jean");
            run.until(0.03, &mut ()).unwrap();
            assert!(n_free(&run) > 500);
            run.state().clone()
        })
    };
    let first = on(1);
    for threads in [2, 3] {
        assert!(on(threads) == first, "{threads} threads");
    }
}

#[test]
fn as_much_leaves_a_chute_as_enters_it_after_a_while() {
    let rock = Material::new("rock").density(2500.0).friction(0.2);
    let mut scene = Scene::builder();
    scene.add_fixed(Shape::half_space([0.5, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock);
    let feed = Insertion::new("feed", balls(), &rock).within([0.0, -0.2, 0.05], [0.2, 0.2, 0.2]);
    scene.insert(feed.rate(100.0), &rock);
    scene.remove(Removal::below(-0.4));
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    let mut removed = [0; 2];
    run.until(1.5, &mut ()).unwrap();
    removed[0] = run.state().population.account.removed;
    let present = n_free(&run);
    run.until(2.5, &mut ()).unwrap();
    removed[1] = run.state().population.account.removed;
    // 100 come in a second; the scatter is that of the times they need.
    let out = removed[1] - removed[0];
    assert!(out.abs_diff(100) <= 6, "{out}");
    assert!(n_free(&run).abs_diff(present) <= 6 && present > 30, "{present} {}", n_free(&run));
    assert_eq!(run.state().population.feeds[0].waited, 0);
}

#[test]
fn bodies_come_and_go_without_notice_by_a_flexible_body_whose_nodes_are_the_last_bodies() {
    // A bar that bounces off a wall, once alone and once with a feed far away; its contact refers to a node.
    let moved = |fed: bool| {
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]).alert(1e-3);
        let bar = Bar::new("bar")
            .points(&[[0.005, 0.0, 0.0], [1.0, 0.0, 0.0]])
            .area(0.01)
            .material(Elastic::new(1e6, 0.0, 1000.0))
            .elements(10)
            .velocity(-1.0);
        let bar = scene.add_flexible(bar);
        let steel = Material::new("steel").friction(0.0);
        scene.add_point_contact(PointContact {
            name: "stop".into(),
            point: (On::Node(bar, 0), Vec3::zeros()),
            plane: (On::World, Vec3::zeros()),
            normal: Vec3::x(),
            law: PairLaw::combined(&steel, &steel),
        });
        if fed {
            let rock = rock();
            let feed = Insertion::new("feed", balls(), &rock).within([5.0; 3], [6.0; 3]);
            scene.insert(feed.rate(500.0).velocity([4.0, 0.0, 0.0]), &rock);
            scene.remove(Removal::outside([-1.0; 3], [6.01, 9.0, 9.0]));
        }
        let scheme = MoreauJean::new(1e-3).solver(GaussSeidel::tolerance(1e-10));
        let mut run = Simulation::new(scene.build().unwrap(), scheme).unwrap();
        run.until(0.15, &mut ()).unwrap();
        if fed {
            assert!(run.state().population.account.removed > 5);
            let last = run.scene().bodies().len() - 1;
            assert_eq!(run.scene().slot(run.scene().node_body(bar, 10)), last);
            let state = run.state().clone();
            let mut again = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
            again.set_state(state).unwrap();
            assert_eq!(again.scene().bodies().ids, run.scene().bodies().ids);
            assert_eq!(again.scene().bodies().names, run.scene().bodies().names);
            assert_eq!(again.scene().bodies().mass, run.scene().bodies().mass);
        }
        let node = |k| run.pose(run.scene().node_body(bar, k)).position.x;
        (0..=10).map(node).collect::<Vec<f64>>()
    };
    let (alone, fed) = (moved(false), moved(true));
    // It has rebounded.
    assert!(alone[0] > 0.05, "{alone:?}");
    for (a, b) in alone.iter().zip(&fed) {
        assert!((a - b).abs() < 1e-9, "{alone:?} {fed:?}");
    }
}

#[test]
fn planar_scenes_insert_discs_that_stay_in_the_plane() {
    let rock = rock();
    let mut scene = Scene::builder();
    scene.planar();
    scene.add_fixed(Shape::half_space([0.0, 1.0, 0.0]).unwrap(), Pose::IDENTITY, &rock);
    let bar = [[-0.05, -0.01], [0.05, -0.01], [0.05, 0.01], [-0.05, 0.01]];
    let bars = Supply::same(Shape::polygon(&bar, 0.1).unwrap());
    let feed = Insertion::new("feed", bars, &rock).within([-0.5, 0.3, 0.0], [0.5, 1.0, 0.0]);
    scene.insert(feed.rate(80.0).velocity([0.0, -1.0, 5.0]), &rock);
    scene.remove(Removal::below(0.04));
    let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
    run.until(0.6, &mut ()).unwrap();
    let account = run.state().population.account;
    assert!(account.inserted == 48 && account.removed > 5, "{account:?}");
    for (q, v) in run.state().q.iter().zip(&run.state().v) {
        assert_eq!((q.position.z, v.linear.z), (0.0, 0.0));
        assert!(q.rotation.imag().xy().norm() < 1e-12);
    }
}

#[test]
fn mistakes_in_insertions_and_removals_are_reported_together() {
    let rock = rock();
    let errors = |edit: &dyn Fn(&mut SceneBuilder)| -> Vec<String> {
        let mut scene = feed(10.0);
        scene.material(&Material { name: "weak".into(), ..weak() });
        edit(&mut scene);
        let errors = scene.build().map(|_| ()).unwrap_err();
        errors.0.iter().map(ToString::to_string).collect()
    };
    let insertion = || Insertion::new("more", balls(), &rock).within([0.0; 3], [1.0; 3]);
    for (insertion, expected) in [
        (insertion().rate(0.0), "insertion `more`: the rate is 0, but must be positive, in 1/s"),
        (insertion().mass_rate(f64::NAN), "the mass rate is NaN"),
        (insertion().between(-1.0, 2.0), "its start is -1, but must be a time of 0 s or more"),
        (insertion().between(2.0, 2.0), "its end is 2, but must be a time after its start"),
        (insertion().count(0), "the number of bodies is 0"),
        (insertion().within([1.0; 3], [0.0; 3]), "with the lower one below the upper one"),
        (insertion().velocity([f64::INFINITY, 0.0, 0.0]), "velocity must be a finite number"),
        (Insertion { count: None, ..insertion().at(1.0, 5) }, "set `count`"),
        (Insertion { name: "feed".into(), ..insertion() }, "two insertions are named `feed`"),
        (Insertion { material: "chalk".into(), ..insertion() }, "there is no material `chalk`"),
        (
            Insertion { supply: Supply::same(Shape::disc(0.1, 1.0).unwrap()), ..insertion() },
            "its body 1 needs a spatial shape of finite size",
        ),
        (
            Insertion { material: "weak".into(), ..insertion() },
            "its material breaks or wears, which only convex polyhedra and polygons do",
        ),
        (
            Insertion { supply: Supply::cycle(Vec::new()), ..insertion() },
            "its body 1 needs a spatial shape of finite size",
        ),
    ] {
        let told = errors(&|scene| {
            scene.insert(insertion.clone(), &rock);
        });
        assert!(told.iter().any(|line| line.contains(expected)), "{told:?}");
    }
    let hung = |scene: &mut SceneBuilder| {
        let bob = BodyDescription::new(Shape::sphere(0.02).unwrap(), &rock).named("bob");
        let bob = scene.add(bob.at([0.1, 0.3, 0.2]), &rock);
        let path = vec![(On::World, Vec3::new(0.1, 0.3, 0.5)), (On::Body(bob), Vec3::zeros())];
        scene.add_rope(Rope { name: "rope".into(), path, length: None, breaking_load: None });
    };
    let told = errors(&hung);
    assert!(told[0].starts_with("removal 1: `bob` cannot be removed"), "{told:?}");
    for (removal, expected) in [
        (Removal::below(f64::NAN), "removal 2: its height must be a finite number"),
        (Removal::outside([0.0; 3], [0.0; 3]), "the lower corner below the upper one"),
        (Removal::at(-1.0), "its time must be 0 s or more"),
        (Removal::below(0.0).only(["food-*"]), "no free body has a name like `food-*`"),
    ] {
        let told = errors(&|scene| {
            scene.remove(removal.clone());
        });
        assert!(told.iter().any(|line| line.contains(expected)), "{told:?}");
    }
    let named = errors(&|scene| {
        let ball = BodyDescription::new(Shape::sphere(0.02).unwrap(), &rock).named("feed-7");
        scene.add(ball.at([0.0, 0.0, 2.0]), &rock);
    });
    assert!(named[0].contains("two bodies are named `feed-7`"), "{named:?}");
    let heavy = Material::new("air");
    let told = errors(&|scene| {
        let insertion = Insertion { material: "air".into(), ..insertion() };
        scene.insert(insertion, &heavy);
    });
    assert!(told[0].contains("the material `air` has no density"), "{told:?}");
    let item = Item::Removal(3);
    let error = BuildError::Population { item, problem: "x".into() };
    assert_eq!(error.to_string(), "removal 3: x");
    assert!(matches!(Removal::at(1.0).place, Where::At(1.0)));
}

#[test]
fn schemes_that_cannot_insert_say_so_before_the_run() {
    let refused = |scheme: Box<dyn Scheme>, scene: &SceneBuilder| match Simulation::new(
        scene.build().unwrap(),
        scheme,
    ) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    };
    let scene = feed(10.0);
    let told = refused(Box::new(DormandPrince::new(1e-3)), &scene);
    assert!(told.contains("`feed-1` is free to move"), "{told}");
    let rock = Material::new("rock").density(2500.0).restitution(0.5);
    let mut soft = Scene::builder();
    soft.insert(Insertion::new("feed", balls(), &rock).within([0.0; 3], [1.0; 3]), &rock);
    let told = refused(Box::new(Penalty::new(1e-4)), &soft);
    assert!(told.contains("give `stiffness`"), "{told}");
    // Materials that are not there yet count.
    let told = refused(Box::new(ConeComplementarity::new(1e-3)), &soft);
    assert!(told.contains("restitution"), "{told}");
}
