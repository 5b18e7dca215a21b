//! Periodic cells: detection through images compared with copies of all bodies, collisions across boundaries compared with those in
//! open space, sheared cells compared with bodies placed where their images are, threads, restarts, and what cannot be in a cell.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use riprap::detect::{
    Collider, ColliderSet, ContactPoint, Detector, Geometry, Images, Method, Query,
};
use riprap::grains::{StoneGenerator, seeded};
use riprap::math::{Lattice, turn};
use riprap::prelude::*;
use riprap::scheme::StepError;
use riprap::simulation::{Error, Flow, Measures, Region};
use std::collections::BTreeMap;
use std::sync::Arc;

fn vector(rng: &mut Pcg64) -> Vec3 {
    Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

/// Stones, boxes and balls of about 4 cm, and a floor.
fn crowd(rng: &mut Pcg64, floor: bool) -> (Vec<Collider>, Vec<Pose>) {
    let mut stones = seeded(5);
    let mut geometries = Vec::new();
    if floor {
        geometries.push(Geometry::HalfSpace(Vec3::z()));
    }
    for k in 0..70 {
        geometries.push(match k % 4 {
            0 => Geometry::Ball(0.02),
            1 => Geometry::Polyhedron(Arc::new(
                riprap::shape::Polyhedron::cuboid([0.04; 3]).unwrap(),
            )),
            _ => {
                let stone = StoneGenerator::default().generate(0.04, &mut stones).unwrap();
                Geometry::Polyhedron(Arc::new(stone))
            }
        });
    }
    let collider = |(i, geometry)| Collider {
        body: i as u32,
        geometry,
        pose: Pose::IDENTITY,
        material: 0,
        movable: !(floor && i == 0),
    };
    let poses = (0..geometries.len()).map(|i| match i {
        0 if floor => Pose::at([0.0, 0.0, -0.1]),
        _ => Pose { position: vector(rng) * 0.3, rotation: Quat::from_scaled_axis(vector(rng)) },
    });
    let poses = poses.collect();
    (geometries.into_iter().enumerate().map(collider).collect(), poses)
}

fn query<'a>(
    colliders: &'a [Collider],
    set: ColliderSet,
    bodies: &'a [Pose],
    (reach, motion): (&'a [f64], &'a [Twist]),
    images: Option<Images>,
) -> Query<'a> {
    Query {
        colliders,
        set,
        bodies,
        reach,
        motion,
        alert: 1e-3,
        skin: 3e-3,
        method: Method::SeparatingAxes,
        apart: &[],
        images,
    }
}

/// Contact points by colliders and feature.
type Found = BTreeMap<([u32; 2], u32), ContactPoint>;

fn found(points: &[ContactPoint]) -> Found {
    points.iter().map(|p| ((p.colliders, p.feature), *p)).collect()
}

/// The contacts among copies of all colliders in the cells around, of the pairs of a collider and a copy of a later one.
fn among_copies(colliders: &[Collider], bodies: &[Pose], lattice: &Lattice) -> Found {
    let n = colliders.len();
    let (mut all, mut poses) = (colliders.to_vec(), Vec::new());
    let bounded = |c: &Collider| !matches!(c.geometry, Geometry::HalfSpace(_));
    let into = |k: usize| match bounded(&colliders[k]) {
        true => lattice.into_cell(bodies[k].position),
        false => Vec3::zeros(),
    };
    let placed = |k: usize, by: Vec3| Pose { position: bodies[k].position + by, ..bodies[k] };
    poses.extend((0..n).map(|k| placed(k, into(k))));
    let mut of: Vec<usize> = (0..n).collect();
    for a in lattice.around() {
        for k in (0..n).filter(|k| bounded(&colliders[*k])) {
            all.push(Collider { body: poses.len() as u32, ..colliders[k].clone() });
            poses.push(placed(k, into(k) + a));
            of.push(k);
        }
    }
    let (reach, motion) = (vec![0.0; all.len()], vec![Twist::default(); all.len()]);
    let mut detector = Detector::default();
    detector.detect(&query(&all, ColliderSet::fresh(), &poses, (&reach, &motion), None));
    let mut result = Vec::new();
    for p in detector.points() {
        let [i, j] = p.colliders.map(|c| c as usize);
        if i < n && j >= n && i < of[j] {
            let point = p.point - into(i);
            result.push(ContactPoint { colliders: [i as u32, of[j] as u32], point, ..*p });
        }
    }
    found(&result)
}

#[test]
fn a_detection_finds_the_contacts_of_copies_in_all_cells_around_also_while_the_cell_shears() {
    for (floor, rate) in [(true, 0.0), (false, 2e-4), (false, -3e-3)] {
        let mut rng = Pcg64::seed_from_u64(7);
        let (colliders, mut bodies) = crowd(&mut rng, floor);
        let z = if floor { None } else { Some([0.0, 0.2]) };
        let ranges = [Some([-0.1, 0.15]), Some([-0.1, 0.12]), z];
        let (mut warm, set) = (Detector::default(), ColliderSet::fresh());
        let mut strain = 0.4;
        let mut count = 0;
        for step in 0..120 {
            let pace = [1e-6, 1e-4, 2e-3][step / 40];
            let motion: Vec<Twist> = (0..bodies.len())
                .map(|i| {
                    let free = if floor && i == 0 { 0.0 } else { pace };
                    let flow = Vec3::x() * (rate * bodies[i].position.y);
                    let linear = vector(&mut rng) * free + flow;
                    Twist { linear, angular: vector(&mut rng) * (free / 0.02) }
                })
                .collect();
            for (q, m) in bodies.iter_mut().zip(&motion) {
                q.position += m.linear;
                q.rotation = turn(q.rotation, m.angular);
            }
            strain += rate;
            let lattice = Lattice::new(&ranges, strain);
            let images = Some(Images { lattice, strain: rate });
            // Without motion, which would select points of manifolds.
            let (reach, still) = (vec![0.0; bodies.len()], vec![Twist::default(); bodies.len()]);
            let query = query(&colliders, set, &bodies, (&reach, &still), images);
            warm.detect(&query);
            let mut fresh = Detector::default();
            fresh.detect(&query);
            let points: Vec<ContactPoint> = warm.points().copied().collect();
            assert_eq!(points, fresh.points().copied().collect::<Vec<_>>(), "step {step}");
            if step % 10 > 0 {
                continue;
            }
            let (images, copies) = (found(&points), among_copies(&colliders, &bodies, &lattice));
            count += images.len();
            // Degenerate features may be chosen differently after rounding: compare pairs and their depths.
            let depths = |found: &Found| {
                let mut depth: BTreeMap<[u32; 2], f64> = BTreeMap::new();
                for p in found.values() {
                    let least = depth.entry(p.colliders).or_insert(f64::INFINITY);
                    *least = least.min(p.gap);
                }
                depth
            };
            let (a, b) = (depths(&images), depths(&copies));
            let near = |d: &f64| *d < 1e-3 - 1e-12;
            let pairs = |d: &BTreeMap<[u32; 2], f64>| {
                d.iter().filter(|(_, d)| near(d)).map(|(k, _)| *k).collect::<Vec<_>>()
            };
            assert_eq!(pairs(&a), pairs(&b), "step {step}");
            for (pair, depth) in a.iter().filter(|(_, d)| near(d)) {
                // Round-off of positions of up to 1 m.
                assert!((depth - b[pair]).abs() < 1e-13, "{pair:?}: {depth} {}", b[pair]);
            }
        }
        assert!(count > 1000, "{count}");
    }
}

fn rubber(restitution: f64) -> Material {
    Material::new("rubber").density(1000.0).friction(0.4).restitution(restitution)
}

fn exact(dt: f64) -> MoreauJean {
    MoreauJean::new(dt).solver(GaussSeidel::tolerance(1e-13))
}

/// Three bodies that collide around a point; with a cell, each where its image in the cell is.
fn collision(at: Vec3, cell: Option<Cell>) -> Simulation {
    let material = rubber(0.6);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let lattice = cell.as_ref().map(|cell| cell.lattice(0.0));
    if let Some(cell) = cell {
        scene.periodic(cell);
    }
    let bodies = [
        (Shape::sphere(0.05).unwrap(), [-0.1, 0.01, 0.0], [2.0, 0.0, 0.1], [0.0, 9.0, 3.0]),
        (Shape::cuboid([0.08, 0.1, 0.06]).unwrap(), [0.02, 0.0, 0.02], [0.0; 3], [0.0; 3]),
        (Shape::sphere(0.04).unwrap(), [0.06, 0.11, 0.0], [-0.5, -2.0, 0.0], [4.0, 0.0, 0.0]),
    ];
    for (shape, place, velocity, spin) in bodies {
        let place = at + Vec3::from(place);
        let place = lattice.map_or(place, |lattice| lattice.wrapped(place));
        let body = BodyDescription::new(shape, &material).at(place.into());
        scene.add(body.velocity(velocity).spin(spin), &material);
    }
    Simulation::new(scene.build().unwrap(), exact(1e-3)).unwrap()
}

#[test]
fn bodies_that_collide_across_a_boundary_move_like_those_in_open_space() {
    let mut open = collision(Vec3::zeros(), None);
    open.until(0.12, &mut ()).unwrap();
    assert!(open.frame().balance().kinetic < 0.95 * 4.0, "they have collided");
    let cell = || Cell::new().x([0.0, 0.5]).y([0.0, 0.6]).z([-1.0, -0.4]);
    for at in [[0.3, 0.3, -0.7], [0.0, 0.3, -0.7], [0.5, 0.0, -1.0], [0.48, 0.58, -0.41]] {
        let at = Vec3::from(at);
        let mut run = collision(at, Some(cell()));
        run.until(0.12, &mut ()).unwrap();
        let lattice = cell().lattice(0.0);
        for (p, q) in open.state().q.iter().zip(&run.state().q) {
            // Rounding errors of positions, amplified by collisions.
            assert!(lattice.reduced(p.position + at - q.position).norm() < 1e-12);
            assert!(p.rotation.angle_to(&q.rotation) < 1e-11);
        }
        for (v, w) in open.state().v.iter().zip(&run.state().v) {
            assert!((v.linear - w.linear).norm() < 1e-11 && (v.angular - w.angular).norm() < 1e-9);
        }
    }
}

#[test]
fn collisions_in_a_sheared_cell_are_those_with_the_image_that_moves_with_the_flow() {
    let (rate, length, until) = (3.0, 0.5, 0.06);
    type Case = (f64, fn() -> Box<dyn Scheme>, f64);
    let schemes: [Case; 3] = [
        (0.7, || Box::new(exact(5e-4)), 1e-12),
        (
            0.0,
            || Box::new(ConeComplementarity::new(5e-4).solver(GaussSeidel::tolerance(1e-13))),
            1e-10,
        ),
        (0.7, || Box::new(Penalty::new(5e-5).stiffness(1e5)), 1e-9),
    ];
    for (restitution, scheme, tolerance) in schemes {
        let material = rubber(restitution);
        let sphere = |at: [f64; 3], velocity: [f64; 3]| {
            let body = BodyDescription::new(Shape::sphere(0.05).unwrap(), &material);
            body.at(at).velocity(velocity).spin([3.0, -2.0, 5.0])
        };
        // The second is above the first through the boundary at y = 0.25, three cells along x away.
        let (upper, cells) = ([0.02, 0.26, 0.01], 3.0 * 0.4);
        let velocity = [-1.0, -1.5, 0.2];
        let lower = sphere([0.05, 0.14, 0.0], [0.3, 0.4, 0.0]);
        let run = |periodic: bool| {
            let mut scene = Scene::builder();
            scene.gravity([0.0; 3]);
            scene.add(lower.clone(), &material);
            if periodic {
                let cell = Cell::new().x([-0.2, 0.2]).y([-0.25, 0.25]).shear_rate(rate);
                scene.periodic(cell.starting_at_rest());
                let at = [upper[0] + cells, upper[1] - length, upper[2]];
                let slower = [velocity[0] - rate * length, velocity[1], velocity[2]];
                scene.add(sphere(at, slower), &material);
            } else {
                scene.add(sphere(upper, velocity), &material);
            }
            let mut run = Simulation::new(scene.build().unwrap(), scheme()).unwrap();
            run.until(until, &mut ()).unwrap();
            run
        };
        let (open, sheared) = (run(false), run(true));
        let ahead = Vec3::x() * (rate * length);
        let (a, b) = (open.state(), sheared.state());
        assert!((a.v[0].linear - Vec3::new(0.3, 0.4, 0.0)).norm() > 0.1, "they have collided");
        let away = Vec3::new(cells - rate * length * until, -length, 0.0);
        let moved = [Vec3::zeros(), away];
        for k in 0..2 {
            let faster = if k == 1 { ahead } else { Vec3::zeros() };
            let error = (a.v[k].linear - b.v[k].linear - faster).norm();
            assert!(error < tolerance, "{error}");
            assert!((a.v[k].angular - b.v[k].angular).norm() < 100.0 * tolerance);
            assert!((a.q[k].position + moved[k] - b.q[k].position).norm() < tolerance);
        }
        assert!((a.t - until).abs() < 1e-9);
    }
}

/// Spheres on a jittered lattice with random velocities.
fn gas(n: i32, restitution: f64, cell: Cell, friction: f64) -> SceneBuilder {
    let mut rng = Pcg64::seed_from_u64(3);
    let material = rubber(restitution).friction(friction);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]).periodic(cell);
    for k in 0..n * n * n {
        let place = Vec3::new(f64::from(k % n), f64::from(k / n % n), f64::from(k / n / n));
        let place = place.add_scalar(0.5) * 0.1 + vector(&mut rng) * 0.015;
        let ball = BodyDescription::new(Shape::sphere(0.035).unwrap(), &material);
        scene.add(ball.at(place.into()).velocity((vector(&mut rng)).into()), &material);
    }
    scene
}

fn cube(n: i32) -> Cell {
    let range = [0.0, 0.1 * f64::from(n)];
    Cell::new().x(range).y(range).z(range)
}

#[test]
fn a_gas_of_elastic_spheres_keeps_momentum_and_energy() {
    let scene = gas(3, 1.0, cube(3), 0.0).build().unwrap();
    let mut run = Simulation::new(scene, exact(5e-4)).unwrap();
    let (start, mut touching) = (run.frame().balance(), ContactCount::default());
    for _ in 0..1000 {
        run.step().unwrap();
        touching.add(&run.frame());
    }
    let end = run.frame().balance();
    assert!(touching.onsets > 100, "{}", touching.onsets);
    // The tolerance of the solver, over hundreds of collisions.
    assert!((end.kinetic / start.kinetic - 1.0).abs() < 1e-10, "{}", end.kinetic / start.kinetic);
    assert!((end.momentum - start.momentum).norm() < 1e-12 * start.kinetic);
    let measures = Measures::of(&run.frame());
    let solid = 27.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.035_f64.powi(3) / 0.027;
    let region = Region::of_cell(run.scene().cell().unwrap());
    assert!((measures.solid_fraction(&region) - solid).abs() < 1e-12);
}

#[test]
fn a_moving_cell_of_the_same_gas_gives_the_same_motion() {
    let run = |shift: f64, strain: f64| {
        let [x, y] = [[shift, shift + 0.3], [0.0, 0.3]];
        let cell = Cell::new().x(x).y(y).z(y).shear_strain(move |t| strain + 0.0 * t);
        let mut run =
            Simulation::new(gas(3, 0.8, cell, 0.3).build().unwrap(), exact(5e-4)).unwrap();
        run.until(0.1, &mut ()).unwrap();
        run.state().clone()
    };
    let (a, b, c) = (run(0.0, 0.0), run(-0.125, 0.0), run(0.0, 5.0));
    // Where the boundaries are does not matter, nor does a strain by whole periods.
    assert_eq!((&a.q, &a.v), (&b.q, &b.v));
    let largest = a.q.iter().zip(&c.q).map(|(p, q)| (p.position - q.position).norm());
    assert!(largest.fold(0.0, f64::max) < 1e-9);
}

#[test]
fn sheared_runs_are_bitwise_identical_on_any_number_of_threads_and_after_a_restart() {
    let run_on = |threads: usize, restart: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let scene = gas(6, 0.5, cube(6).shear_rate(2.0), 0.3).build().unwrap();
            let scheme = || MoreauJean::new(2e-3);
            let mut run = Simulation::new(scene.clone(), scheme()).unwrap();
            for _ in 0..12 {
                for _ in 0..10 {
                    run.step().unwrap();
                }
                if restart {
                    let state = run.state().clone();
                    run = Simulation::new(scene.clone(), scheme()).unwrap();
                    run.set_state(state).unwrap();
                }
            }
            run.state().clone()
        })
    };
    let first = run_on(1, false);
    assert!(!first.warm_start.is_empty());
    for (threads, restart) in [(2, false), (3, false), (2, true)] {
        assert!(run_on(threads, restart) == first, "{threads} threads, restart: {restart}");
    }
}

#[test]
fn two_spheres_that_bounce_through_the_boundary_have_the_closed_form_of_stress_and_flow() {
    let (length, side, d, speed) = (0.5, 0.3, 0.1, 1.0);
    let material = rubber(1.0).friction(0.0);
    let mut scene = Scene::builder();
    let cell = Cell::new().x([0.0, length]).y([0.0, side]).z([0.0, side]);
    scene.gravity([0.0; 3]).periodic(cell);
    for (x, v) in [(0.1, speed), (0.35, -speed)] {
        let ball = BodyDescription::new(Shape::sphere(0.5 * d).unwrap(), &material).mass(2.0);
        scene.add(ball.at([x, 0.01, 0.29]).velocity([v, 0.0, 0.0]), &material);
    }
    let dt = 1e-4;
    let mut run = Simulation::new(scene.build().unwrap(), exact(dt)).unwrap();
    let region = Region::of_cell(run.scene().cell().unwrap());
    // Ten times from one contact to the next, in turn within the cell and through its boundary.
    let steps = (10.0 * (length - 2.0 * d) / (2.0 * speed) / dt).round() as usize;
    let (mut sum, mut forward) = (0.0, Flow::new(Vec3::x() * 0.2, Vec3::x(), f64::INFINITY));
    forward.add(&run.frame());
    for _ in 0..steps {
        run.step().unwrap();
        sum += Measures::of(&run.frame()).stress(&region)[(0, 0)] / steps as f64;
        forward.add(&run.frame());
    }
    // Momentum carried through a plane: 2 m u²/(L − 2d), with collisions up to a step late, at 0.9996 of it. Boxes
    // whose extents differ by rounding are on two levels of the grid: a pair missed there costs half a per cent.
    let exact = 2.0 * 2.0 * speed * speed / (side * side * (length - 2.0 * d));
    assert!((sum / exact - 1.0).abs() < 2e-3, "{}", sum / exact);
    // The plane is passed forwards and backwards.
    assert!(forward.mass.abs() <= 2.0);
}

#[test]
fn bodies_pass_a_plane_at_the_boundary_once_per_period() {
    let material = rubber(0.0);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]).periodic(Cell::new().x([0.0, 0.5]).y([0.0, 0.5]));
    let ball = BodyDescription::new(Shape::sphere(0.05).unwrap(), &material).mass(1.0);
    scene.add(ball.at([0.25, 0.1, 0.0]).velocity([1.0, 0.3, 0.0]), &material);
    let mut run = Simulation::new(scene.build().unwrap(), exact(1e-2)).unwrap();
    for x in [0.0, 0.1, 0.5 - 1e-9] {
        let mut flow = Flow::new(Vec3::x() * x, Vec3::x(), f64::INFINITY);
        run.set_state(run.scene().initial_state()).unwrap();
        flow.add(&run.frame());
        for _ in 0..300 {
            run.step().unwrap();
            flow.add(&run.frame());
        }
        // From 0.25 m to 3.25 m.
        assert_eq!(flow.mass, 6.0, "{x}");
    }
}

#[test]
fn what_cannot_be_in_a_cell_is_named_with_a_remedy() {
    let rock = || rubber(0.0);
    let message = |change: &dyn Fn(&mut SceneBuilder)| {
        let mut scene = Scene::builder();
        scene.periodic(Cell::new().x([0.0, 1.0]).y([0.0, 1.0]));
        let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock()).named("ball");
        scene.add(ball.at([0.5; 3]), &rock());
        change(&mut scene);
        scene.build().map(|_| ()).unwrap_err().to_string()
    };
    let wall = |normal: [f64; 3]| {
        move |scene: &mut SceneBuilder| {
            scene.add_fixed(Shape::half_space(normal).unwrap(), Pose::IDENTITY, &rock());
        }
    };
    let cell = |cell: Cell| {
        move |scene: &mut SceneBuilder| {
            scene.periodic(cell.clone());
        }
    };
    let square = || Cell::new().x([0.0, 1.0]).y([0.0, 1.0]);
    type Case<'a> = (&'a str, &'a dyn Fn(&mut SceneBuilder));
    let cases: [Case; 8] = [
        ("must be parallel to x", &wall([1.0, 0.0, 1.0])),
        ("0.15 m long along x, but with `ball`", &cell(square().x([0.0, 0.15]))),
        ("must end above its start", &cell(square().x([1.0, 1.0]))),
        ("in at least one direction", &cell(Cell::new())),
        ("must be periodic along x and y", &cell(Cell::new().x([0.0, 1.0]).shear_rate(1.0))),
        ("resists the shear", &|scene| {
            scene.periodic(square().shear_rate(1.0));
            wall([0.0, 0.0, 1.0])(scene);
        }),
        ("use a half-space for a wall", &|scene| {
            let floor = Shape::cuboid([1.0, 1.0, 0.1]).unwrap();
            scene.add_fixed(floor, Pose::at([0.5, 0.5, 0.0]), &rock());
        }),
        ("`ball` and `other` overlap", &|scene| {
            let other = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock()).named("other");
            scene.add(other.at([1.55, -0.6, 0.5]), &rock());
        }),
    ];
    for (says, change) in cases {
        let message = message(change);
        assert!(message.contains(says), "{message}\ndoes not say: {says}");
    }
    let mut scene = gas(3, 0.0, cube(3), 0.0);
    let error = Simulation::new(scene.build().unwrap(), RigidEvents::new(1e-3)).map(|_| ());
    assert!(matches!(error, Err(Error::Step(StepError::NoPeriodic { .. }))));
    let error =
        Simulation::new(scene.periodic(cube(3)).build().unwrap(), GeneralizedAlpha::new(1e-3));
    assert!(error.map(|_| ()).unwrap_err().to_string().contains("no periodic cells"));
}
