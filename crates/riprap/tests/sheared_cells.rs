//! Energies in sheared periodic cells: kinetic energies are relative to the flow, do not depend on the cell in which a body is, and the
//! work of the shear is that of the mean stress.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use riprap::prelude::*;
use riprap::simulation::{Balance, Measures, Region};

const SIDE: f64 = 0.3;

fn glass(restitution: f64, friction: f64) -> Material {
    Material::new("glass").density(2500.0).friction(friction).restitution(restitution)
}

fn cube() -> Cell {
    Cell::new().x([0.0, SIDE]).y([0.0, SIDE]).z([0.0, SIDE])
}

/// Spheres on a jittered lattice, with random velocities up to `speed` [m/s] whose sum is zero: a common drift across the flow would
/// go through it, faster and faster relative to it.
fn gas(cell: Cell, material: &Material, speed: f64) -> SceneBuilder {
    let mut rng = Pcg64::seed_from_u64(7);
    let mut vector = || Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0));
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]).periodic(cell);
    let velocities: Vec<Vec3> = (0..27).map(|_| vector() * speed).collect();
    let common = velocities.iter().sum::<Vec3>() / 27.0;
    for (k, velocity) in (0..27).zip(velocities) {
        let place = Vec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9));
        let place = place.add_scalar(0.5) * 0.1 + vector() * 0.01;
        let ball = BodyDescription::new(Shape::sphere(0.038).unwrap(), material);
        let ball = ball.at(place.into()).velocity((velocity - common).into());
        scene.add(ball.spin((vector() * 10.0 * speed).into()), material);
    }
    scene
}

fn start(scene: &SceneBuilder, dt: f64) -> Simulation {
    let scheme = MoreauJean::new(dt).solver(GaussSeidel::tolerance(1e-13));
    Simulation::new(scene.build().unwrap(), scheme).unwrap()
}

#[test]
fn bodies_that_flow_with_the_cell_have_no_kinetic_energy() {
    let cells: [Cell; 3] = [
        cube().shear_rate(3.0),
        cube().shear_rate(-40.0),
        cube().shear_strain(|t| 0.2 * (9.0 * t).sin()),
    ];
    for cell in cells {
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]).periodic(cell.clone());
        let material = glass(0.0, 0.0);
        for y in [0.05, 0.15, 0.25] {
            let ball = BodyDescription::new(Shape::sphere(0.02).unwrap(), &material);
            scene.add(ball.at([0.1, y, 0.1]), &material);
        }
        let run = start(&scene, 1e-3);
        let absolute = run.state().v.iter().map(|v| v.linear.norm_squared()).sum::<f64>();
        assert!(absolute > 0.1);
        // Rates of laws are differences over a microsecond.
        assert!(run.frame().balance().kinetic < 1e-12 * absolute);
        assert!((cell.rate(0.0) - run.scene().shear_rate(0.0)).abs() == 0.0);
    }
}

#[test]
fn kinetic_energy_is_that_of_the_images_in_any_cell() {
    // The same bodies, each some cells away, with the velocity of that image.
    let rate = 5.0;
    let scene = gas(cube().shear_rate(rate), &glass(0.5, 0.3), 0.4).build().unwrap();
    let state = State { t: 0.123, ..scene.initial_state() };
    let balance = Balance::of(&scene, &state);
    let lattice = scene.lattice(state.t).unwrap();
    let mut moved = state.clone();
    for (k, (q, v)) in moved.q.iter_mut().zip(&mut moved.v).enumerate() {
        let n = Vec3::new((k % 5) as f64 - 2.0, (k % 7) as f64 - 3.0, (k % 3) as f64);
        let away = lattice.vector(n);
        q.position += away;
        v.linear.x += rate * away.y;
    }
    let there = Balance::of(&scene, &moved);
    // Differences of velocities of up to 5 m/s.
    assert!((there.kinetic / balance.kinetic - 1.0).abs() < 1e-13, "{balance:?} {there:?}");
    assert_eq!(balance.potential, there.potential);
}

#[test]
fn scenes_without_shear_keep_the_bits_of_their_energies() {
    let still = gas(cube(), &glass(0.5, 0.3), 0.4).build().unwrap();
    let state = still.initial_state();
    let bodies = still.bodies();
    let mut kinetic = 0.0;
    for (i, (q, v)) in state.q.iter().zip(&state.v).enumerate() {
        let spin = bodies.inertia_w(i, &q.rotation) * v.angular;
        kinetic += 0.5 * (bodies.mass[i] * v.linear.norm_squared() + v.angular.dot(&spin));
    }
    assert_eq!(Balance::of(&still, &state).kinetic, kinetic);
    assert_eq!(still.shear_rate(1.0), 0.0);
}

#[test]
fn the_energy_of_a_steady_shear_flow_does_not_grow_with_the_drift_of_the_bodies() {
    // Dissipation balances the work of the shear; bodies drift through many cells.
    let rate = 6.0;
    let mut run = start(&gas(cube().shear_rate(rate), &glass(0.6, 0.3), 0.3), 1e-3);
    run.until(1.5, &mut ()).unwrap();
    let mean = |run: &mut Simulation, steps: u32| {
        let mut sum = 0.0;
        for _ in 0..steps {
            run.step().unwrap();
            sum += run.frame().balance().kinetic / f64::from(steps);
        }
        sum
    };
    let early = mean(&mut run, 1500);
    run.until(12.0, &mut ()).unwrap();
    let late = mean(&mut run, 1500);
    let farthest = run.state().q.iter().map(|q| q.position.y.abs()).fold(0.0, f64::max);
    assert!(farthest > 1.5 * SIDE, "{farthest}");
    // Fluctuations of 27 bodies over nine units of strain.
    assert!((late / early).ln().abs() < 0.4, "{early} {late}");
    // Velocities of the state are those of the flow where the bodies are.
    let absolute: f64 = run.state().v.iter().map(|v| v.linear.norm_squared()).sum();
    let mass = run.scene().bodies().mass[0];
    assert!(0.5 * mass * absolute > 3.0 * late);
}

#[test]
fn the_work_of_the_shear_is_that_of_the_mean_stress() {
    let (rate, dt) = (4.0, 1e-4);
    // Without friction, forces point along branches, and the stress is symmetric.
    let mut run = start(&gas(cube().shear_rate(rate), &glass(0.8, 0.0), 0.3), dt);
    let region = Region::of_cell(run.scene().cell().unwrap());
    run.until(0.1, &mut ()).unwrap();
    let mut account = EnergyAccount::open(&run.frame());
    let mut work = 0.0;
    let shear_stress = |run: &Simulation| Measures::of(&run.frame()).stress(&region)[(0, 1)];
    for _ in 0..5000 {
        run.step().unwrap();
        account.add(&run.frame());
        work -= rate * shear_stress(&run) * SIDE.powi(3) * dt;
    }
    assert!(work > 0.5 * run.frame().balance().kinetic, "the shear does work: {work}");
    // The kinetic part of the stress is that at the end of each step.
    assert!((account.other() / work - 1.0).abs() < 5e-3, "{} {work}", account.other());
    assert!(account.impact > 0.0 && account.friction == 0.0);
}

#[test]
fn heating_by_shear_of_elastic_spheres_is_all_of_its_work() {
    let (rate, dt) = (2.0, 2e-4);
    let mut run = start(&gas(cube().shear_rate(rate), &glass(1.0, 0.0), 0.5), dt);
    let mut account = EnergyAccount::open(&run.frame());
    let begin = run.frame().balance().kinetic;
    for _ in 0..3000 {
        run.step().unwrap();
        account.add(&run.frame());
    }
    let gained = run.frame().balance().kinetic - begin;
    assert!(gained > 0.05 * begin, "{gained} {begin}");
    // Collisions of a step keep the energy of the relative motion, to the tolerance of the solver.
    assert!(account.dissipated().abs() < 1e-9 * begin, "{}", account.dissipated());
    assert!((account.other() - gained).abs() < 1e-9 * begin);
}

#[test]
fn momentum_is_conserved_under_shear() {
    let mut run = start(&gas(cube().shear_rate(5.0), &glass(0.7, 0.4), 0.3), 1e-3);
    let begin = run.frame().balance().momentum;
    run.until(1.0, &mut ()).unwrap();
    let end = run.frame().balance().momentum;
    // Contact impulses are opposite and equal.
    assert!((end - begin).norm() < 1e-11 * 27.0, "{begin} {end}");
}

#[test]
fn rates_of_laws_and_constant_rates_agree() {
    let constant = cube().shear_rate(1.7);
    let law = cube().shear_strain(|t| 0.3 + 1.7 * t);
    for t in [0.0, 0.4, 20.0] {
        assert!((constant.rate(t) - law.rate(t)).abs() < 1e-7 * (1.0 + t));
        assert!((constant.strain(t) + 0.3 - law.strain(t)).abs() < 1e-12 * (1.0 + t));
        let place = Vec3::new(3.0, -2.0, 1.0);
        assert_eq!(constant.initial_flow(place), Vec3::new(-3.4, 0.0, 0.0));
        assert_eq!(constant.clone().starting_at_rest().initial_flow(place), Vec3::zeros());
    }
    assert_eq!(cube().rate(1.0), 0.0);
}
