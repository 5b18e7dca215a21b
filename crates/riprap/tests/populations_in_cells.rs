//! Bodies that are inserted into periodic cells and removed from them: images take room, positions are those within the cell, and new
//! bodies move with the flow of a sheared one.

use riprap::prelude::*;
use riprap::simulation::Measures;

fn rock() -> Material {
    Material::new("rock").density(2500.0).friction(0.4)
}

fn sphere(radius: f64) -> Shape {
    Shape::sphere(radius).unwrap()
}

fn empty(cell: Cell) -> SceneBuilder {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]).periodic(cell);
    scene
}

fn cube(side: f64) -> Cell {
    Cell::new().x([0.0, side]).y([0.0, side]).z([0.0, side])
}

fn start(scene: &SceneBuilder, dt: f64) -> Simulation {
    Simulation::new(scene.build().unwrap(), MoreauJean::new(dt)).unwrap()
}

/// The least distance of two centres through any image [m].
fn least_distance(run: &Simulation) -> f64 {
    let lattice = run.scene().lattice(run.time()).unwrap();
    let q = &run.state().q;
    let mut least = f64::INFINITY;
    for (i, a) in q.iter().enumerate() {
        for b in &q[..i] {
            let d = lattice.reduced(b.position - a.position);
            least = lattice.around().map(|n| (d + n).norm()).fold(least, f64::min);
        }
    }
    least
}

#[test]
fn new_bodies_touch_no_image_of_another_one() {
    let (side, radius) = (0.3, 0.025);
    let flat = |range: [f64; 2]| Cell::new().x([0.0, side]).y(range);
    for (name, cell) in [
        ("along x", Cell::new().x([0.0, side])),
        ("along x and y", flat([0.0, side])),
        ("along all", cube(side)),
        ("sheared", cube(side).shear_strain(|t| 0.37 + t)),
        ("sheared by many periods", cube(side).shear_strain(|t| -7.8 - t)),
        ("elsewhere", cube(side).x([5.0, 5.3])),
    ] {
        let rock = rock();
        let mut scene = empty(cell);
        // Larger than the cell, and as many as find room.
        let feed = Insertion::new("feed", Supply::same(sphere(radius)), &rock);
        scene.insert(feed.within([-0.2, -0.2, 0.0], [0.4, 0.4, 0.3]).at(0.0, 500), &rock);
        // Images move by nanometres in such a step.
        let mut run = start(&scene, 1e-8);
        run.step().unwrap();
        let n = run.state().population.account.inserted;
        assert!((40..500).contains(&n), "{name}: {n}");
        let least = least_distance(&run);
        assert!(least > 2.0 * radius, "{name}: two of {n} overlap by {}", 2.0 * radius - least);
    }
}

#[test]
fn boxes_that_are_inserted_turned_overlap_no_image() {
    let rock = rock();
    let mut scene = empty(cube(0.4).shear_strain(|_| 0.21));
    let feed = Insertion::new("feed", Supply::same(Shape::cuboid([0.07; 3]).unwrap()), &rock);
    scene.insert(feed.within([0.0; 3], [0.4; 3]).at(0.0, 300).spin([0.0, 2.0, 0.0]), &rock);
    let mut run = start(&scene, 1e-8);
    run.step().unwrap();
    assert!(run.state().population.account.inserted > 12);
    assert_eq!(run.frame().contacts().filter(|c| c.gap < 0.0).count(), 0);
    let region = riprap::simulation::Region::of_cell(run.scene().cell().unwrap());
    let found = Measures::of(&run.frame()).solid_fraction(&region);
    let exact = run.state().population.account.inserted as f64 * (0.07_f64 / 0.4).powi(3);
    // Exact clipping of polyhedra.
    assert!((found / exact - 1.0).abs() < 1e-9, "{found} {exact}");
}

#[test]
fn a_body_that_has_left_its_cell_takes_room_where_its_image_is() {
    let (radius, speed, dt) = (0.05, 0.4, 1e-3);
    let rock = rock();
    let mut scene = empty(Cell::new().x([0.0, 1.0]));
    let ball = BodyDescription::new(sphere(radius), &rock).at([0.3, 0.0, 0.0]);
    scene.add(ball.velocity([speed, 0.0, 0.0]), &rock);
    // After 6 s the ball is at 2.7 m, and its image at 0.7 m.
    let feed = Insertion::new("feed", Supply::same(sphere(radius)), &rock).at(6.0, 1);
    scene.insert(feed.within([0.7, 0.0, 0.0], [0.7, 0.0, 0.0]).upright(), &rock);
    let mut run = start(&scene, dt);
    run.until(6.0 + 1.5 * dt, &mut ()).unwrap();
    assert!(run.state().population.feeds[0].waits, "the place is taken");
    while run.state().population.account.inserted == 0 && run.time() < 8.0 {
        run.step().unwrap();
    }
    // Two radii and the clearance of new bodies further; the next step.
    let free = 6.0 + (2.0 * radius + 0.002 * radius) / speed;
    let came = run.time() - dt;
    assert!(came > free - 1e-9 && came < free + 2.0 * dt, "{came} {free}");
    assert_eq!(run.state().population.feeds[0].waited, 1);
}

#[test]
fn images_above_in_a_sheared_cell_take_room_where_they_are_at_that_time() {
    // The image above of a ball at the lower boundary is displaced by the strain.
    let rock = rock();
    let cell = Cell::new().x([0.0, 1.0]).y([0.0, 0.5]).shear_strain(|_| 0.6);
    let inserted = |x: f64| {
        let mut scene = empty(cell.clone());
        scene.add(BodyDescription::new(sphere(0.05), &rock).at([0.2, 0.01, 0.0]), &rock);
        let feed = Insertion::new("feed", Supply::same(sphere(0.05)), &rock).at(0.0, 1);
        scene.insert(feed.within([x, 0.48, 0.0], [x, 0.48, 0.0]).upright(), &rock);
        let mut run = start(&scene, 1e-3);
        run.step().unwrap();
        run.state().population.account.inserted == 1
    };
    // 0.2 m + 0.6 × 0.5 m, and the same through the boundary along x.
    assert!(!inserted(0.5) && !inserted(1.5) && !inserted(-0.5));
    assert!(inserted(0.2) && inserted(0.75));
}

#[test]
fn half_spaces_bound_the_room_in_all_cells() {
    let rock = rock();
    let mut scene = empty(Cell::new().x([0.0, 0.4]).y([0.0, 0.4]));
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock);
    let feed = Insertion::new("feed", Supply::same(sphere(0.03)), &rock);
    scene.insert(feed.within([2.0, -3.0, -0.3], [2.4, -2.6, 0.3]).at(0.0, 200), &rock);
    let mut run = start(&scene, 1e-6);
    run.step().unwrap();
    assert!(run.state().population.account.inserted > 15);
    for q in &run.state().q[1..] {
        assert!(q.position.z > 0.03 && q.position.x > 2.0 && q.position.y < -2.6);
    }
    assert_eq!(run.frame().contacts().filter(|c| c.gap < 0.0).count(), 0);
}

#[test]
fn inserted_bodies_move_with_the_flow_at_that_time() {
    // The rate grows with time: the strain is t² + 0.3 t.
    let rock = rock();
    let cell = || Cell::new().x([0.0, 2.0]).y([0.0, 1.0]).shear_strain(|t| t * t + 0.3 * t);
    let inserted = |cell: Cell, y: f64, t: f64| {
        let mut scene = empty(cell);
        let feed = Insertion::new("feed", Supply::same(sphere(0.05)), &rock).at(t, 1).upright();
        let feed = feed.within([0.5, y, 0.0], [0.5, y, 0.0]).velocity([0.1, -0.2, 0.3]);
        scene.insert(feed, &rock);
        let mut run = start(&scene, 1e-3);
        run.until(t + 1e-3, &mut ()).unwrap();
        run.velocity(run.scene().body("feed-1").unwrap()).linear
    };
    for (y, t) in [(0.5, 0.0), (0.9, 0.5), (3.7, 0.5), (-2.0, 0.25)] {
        let rate = 2.0 * t + 0.3;
        let exact = Vec3::new(0.1 + rate * y, -0.2, 0.3);
        // The rate is a difference over a microsecond.
        let found = inserted(cell(), y, t);
        assert!((found - exact).norm() < 1e-5 * (1.0 + y.abs()), "{found} {exact}");
        let found = inserted(cell().starting_at_rest(), y, t);
        assert!((found - Vec3::new(0.1, -0.2, 0.3)).norm() < 1e-12, "{found}");
    }
}

#[test]
fn a_cell_that_is_filled_during_the_flow_has_its_gradient_at_once() {
    let (rate, side) = (4.0, 0.4);
    let rock = rock();
    let mut scene = empty(cube(side).shear_rate(rate));
    let feed = Insertion::new("feed", Supply::same(sphere(0.02)), &rock);
    scene.insert(feed.within([0.0; 3], [side; 3]).at(0.01, 300), &rock);
    let mut run = start(&scene, 1e-6);
    run.until(0.010002, &mut ()).unwrap();
    assert!(run.state().population.account.inserted > 200);
    for (q, v) in run.state().q.iter().zip(&run.state().v) {
        // They have moved for two steps.
        assert!((v.linear.x - rate * q.position.y).abs() < 1e-4 * rate, "{q:?} {v:?}");
    }
    assert!(run.frame().balance().kinetic < 1e-9, "relative to the flow");
}

#[test]
fn bodies_larger_than_half_a_cell_are_refused_before_the_run() {
    let told = |radius: f64, cell: Cell| {
        let rock = rock();
        let mut scene = empty(cell);
        scene.add(BodyDescription::new(sphere(0.02), &rock).at([0.1; 3]), &rock);
        let balls = Supply::cycle(vec![sphere(0.01), sphere(radius)]);
        let feed = Insertion::new("feed", balls, &rock);
        scene.insert(feed.within([0.0; 3], [0.4; 3]).at(0.0, 5), &rock);
        scene.build().map(|_| ()).map_err(|errors| errors.to_string())
    };
    // Two of them must fit into half the cell.
    assert_eq!(told(0.095, cube(0.4)), Ok(()));
    let message = told(0.11, cube(0.4)).unwrap_err();
    assert!(message.contains("with a body of insertion `feed`"), "{message}");
    assert!(message.contains("enlarge the cell"), "{message}");
    assert!(told(0.11, Cell::new().x([0.0, 0.8])).is_ok());
}

#[test]
fn bodies_are_removed_by_where_they_are_within_the_cell() {
    let rock = rock();
    let (speed, dt) = (1.0, 1e-3);
    let mut scene = empty(cube(1.0));
    let ball = |z: f64| BodyDescription::new(sphere(0.02), &rock).at([0.5, 0.2, z]);
    scene.add(ball(0.5).named("down").velocity([0.0, 0.0, -speed]), &rock);
    scene.add(ball(0.9).named("up").velocity([speed, 0.0, speed]), &rock);
    // The cell itself: no body is ever outside of it.
    scene.remove(Removal::outside([0.0; 3], [1.0; 3]));
    scene.remove(Removal::below(-0.001));
    let mut run = start(&scene, dt);
    run.until(3.0, &mut ()).unwrap();
    assert_eq!(run.state().population.account.removed, 0);
    assert!((run.state().q[0].position.z + 2.5).abs() < 1e-9, "not wrapped");

    // Those below 0.2 m are: one after 0.3 s, the other when its image has passed the boundary.
    scene.remove(Removal::below(0.2));
    let mut run = start(&scene, dt);
    let mut left = Vec::new();
    while run.time() < 0.5 && left.len() < 2 {
        run.step().unwrap();
        let gone = run.state().population.account.removed as usize;
        if gone > left.len() {
            // Before the step that was just made.
            left.push(run.time() - dt);
        }
    }
    assert_eq!(left.len(), 2);
    assert!((left[0] - 0.1).abs() < 1.5 * dt, "up: {}", left[0]);
    assert!((left[1] - 0.3).abs() < 1.5 * dt, "down: {}", left[1]);
}

#[test]
fn an_outlet_in_a_sheared_cell_takes_images_where_the_cell_shows_them() {
    // At y = 1.2 m the image within the cell is a cell lower, displaced back by the strain.
    let rock = rock();
    let mut scene = empty(Cell::new().x([0.0, 1.0]).y([0.0, 1.0]).shear_strain(|_| 0.3));
    let ball = |name: &str, x: f64| {
        BodyDescription::new(sphere(0.02), &rock).named(name).at([x, 1.2, 0.0])
    };
    scene.add(ball("taken", 0.75), &rock);
    scene.add(ball("kept", 0.45), &rock);
    let (low, high) = ([0.0, 0.0, -1.0], [0.4, 1.0, 1.0]);
    scene.remove(Removal::outside(low, high));
    let mut run = start(&scene, 1e-3);
    run.step().unwrap();
    // 0.75 m − 0.3 m is outside of the box, 0.45 m − 0.3 m is not.
    let names = &run.scene().bodies().names;
    assert_eq!(names, &["kept"]);
}

#[test]
fn populations_in_sheared_cells_are_bitwise_identical_on_threads_and_after_a_restart() {
    let scene = || {
        let rock = rock();
        let mut scene = empty(cube(0.5).shear_rate(3.0));
        let supply = Supply::cycle(vec![sphere(0.02), Shape::cuboid([0.03; 3]).unwrap()]);
        let feed = Insertion::new("feed", supply.clone(), &rock).rate(4000.0);
        scene.insert(feed.within([0.0; 3], [0.5; 3]).velocity([0.3, -0.4, 0.2]), &rock);
        let more = Insertion::new("more", supply, &rock).at(0.01, 600);
        scene.insert(more.within([-0.5; 3], [0.7; 3]), &rock);
        scene.remove(Removal::outside([0.0; 3], [0.5, 0.5, 0.4]).only(["feed-*"]));
        scene
    };
    let run_on = |threads: usize, restart: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut run = start(&scene(), 1e-3);
            for k in 0..40 {
                run.step().unwrap();
                if restart && k % 7 == 3 {
                    let state = run.state().clone();
                    run = start(&scene(), 1e-3);
                    run.set_state(state).unwrap();
                }
            }
            run.state().clone()
        })
    };
    let first = run_on(1, false);
    let account = first.population.account;
    assert!(account.inserted > 500 && account.removed > 5, "{account:?}");
    for (threads, restart) in [(2, false), (3, false), (2, true)] {
        assert!(run_on(threads, restart) == first, "{threads} threads, restart: {restart}");
    }
}

#[test]
fn removals_never_take_what_a_servo_moves() {
    let rock = rock();
    let scene = |removal: Removal| {
        let mut scene = Scene::builder();
        scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock);
        let plate = BodyDescription::new(Shape::cuboid([0.4, 0.4, 0.02]).unwrap(), &rock);
        let servo = Servo::along([0.0, 0.0, 1.0], StateLaw::constant(-50.0)).speed(0.2);
        scene.add(plate.named("plate").at([0.0, 0.0, 0.3]).servo(servo), &rock);
        let ball = BodyDescription::new(sphere(0.05), &rock).named("ball").at([0.0, 0.0, 0.06]);
        scene.add(ball, &rock);
        scene.remove(removal);
        scene
    };
    for removal in [
        Removal::at(0.01),
        Removal::below(5.0),
        Removal::outside([7.0; 3], [8.0; 3]),
        Removal::at(0.0).only(["ball", "pl*"]).only(["*"]),
    ] {
        let mut run = start(&scene(removal), 1e-3);
        run.until(0.1, &mut ()).unwrap();
        assert!(run.scene().body("ball").is_none() && run.scene().body("plate").is_some());
        assert_eq!(run.state().population.account.removed, 1);
        // It is still driven.
        let plate = run.scene().body("plate").unwrap();
        assert!((run.velocity(plate).linear.z + 0.2).abs() < 1e-9, "{:?}", run.velocity(plate));
    }
    let errors = scene(Removal::at(0.1).only(["plate"])).build().map(|_| ()).unwrap_err();
    let told = errors.to_string();
    assert!(told.contains("no free body has a name like `plate`"), "{told}");
}
