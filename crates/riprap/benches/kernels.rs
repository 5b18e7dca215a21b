//! Kernels: the one-contact solver, a pair of stones near and far, a sweep, a full step of a pile.
#![allow(missing_docs)]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use riprap::detect::{Ask, Collider, Geometry, NarrowScratch, PairCache, Placed, narrow_phase};
use riprap::friction::{ContactSolver, GaussSeidel, GaussSeidelOptions, Scratch, solve_contact};
use riprap::grains::{StoneGenerator, rain, seeded};
use riprap::prelude::*;
use std::hint::black_box;
use std::sync::Arc;

fn one_contact(c: &mut Criterion) {
    let w = [[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.0]];
    for (name, q) in [("sticks", [-1.0, 0.1, 0.0]), ("slides", [-1.0, 5.0, 2.0])] {
        c.bench_function(&format!("one contact {name}"), |b| {
            b.iter(|| solve_contact(black_box(&w), black_box(q), 0.7))
        });
    }
}

fn pair_of_stones(c: &mut Criterion) {
    let mut rng = seeded(1);
    let stones: Vec<Collider> = (0..2)
        .map(|k| Collider {
            body: k,
            geometry: Geometry::Polyhedron(Arc::new(
                StoneGenerator::default().generate(0.04, &mut rng).expect("a stone"),
            )),
            pose: Pose::IDENTITY,
            material: 0,
            movable: true,
        })
        .collect();
    let first = Placed::new(&stones[0], &Pose::IDENTITY);
    for (name, distance) in [("touching", 0.034), ("near", 0.045)] {
        let second = Placed::new(
            &stones[1],
            &Pose::at([0.01, 0.005, distance]).turned([1.0, 2.0, 0.5], 0.6),
        );
        let mut cache = PairCache::default();
        let mut scratch = NarrowScratch::default();
        let ask = Ask { alert: 5e-4, ..Ask::default() };
        let geometries = (&stones[0].geometry, &stones[1].geometry);
        c.bench_function(&format!("pair of stones {name}"), |b| {
            b.iter(|| narrow_phase(geometries, (&first, &second), &ask, &mut cache, &mut scratch))
        });
    }
}

/// A pile of 200 stones that has fallen for 0.3 s.
fn pile() -> Simulation {
    let rock = Material::new("rock").density(2700.0).friction(0.7);
    let mut scene = Scene::builder();
    let walls = [[0., 0., 1.], [1., 0., 0.], [-1., 0., 0.], [0., 1., 0.], [0., -1., 0.]];
    for n in walls {
        let at = [-0.12 * n[0], -0.12 * n[1], 0.0];
        scene.add_fixed(Shape::half_space(n).expect("unit"), Pose::at(at), &rock);
    }
    let mut rng = seeded(2);
    let stones: Vec<_> = (0..200)
        .map(|_| StoneGenerator::default().generate(0.04, &mut rng).expect("a stone"))
        .collect();
    let radii: Vec<f64> = stones.iter().map(|s| s.outer_radius()).collect();
    let poses = rain(&radii, [-0.12, -0.12, 0.0], [0.12, 0.12], &mut rng).expect("room");
    for (stone, pose) in stones.into_iter().zip(poses) {
        let mut body = BodyDescription::new(Shape::Polyhedron(Arc::new(stone)), &rock);
        body.pose = pose;
        scene.add(body, &rock);
    }
    let scheme = MoreauJean::new(1e-3).solver(GaussSeidel::tolerance(1e-3));
    let mut run = Simulation::new(scene.build().expect("valid"), scheme).expect("valid");
    run.until(0.3, &mut ()).expect("stones cannot fail");
    run
}

fn steps(c: &mut Criterion) {
    let mut run = pile();
    let problem = run.frame().work.problem().clone();
    let options = GaussSeidelOptions { max_sweeps: 10, ..GaussSeidelOptions::tolerance(1e-30) };
    let solver = GaussSeidel { options };
    let mut scratch = Scratch::default();
    c.bench_function(&format!("ten sweeps over {} contacts", problem.len()), |b| {
        b.iter_batched(
            Vec::new,
            |mut impulses| solver.solve(&problem, &mut impulses, &mut scratch),
            BatchSize::SmallInput,
        )
    });
    c.bench_function("step of 200 stones", |b| b.iter(|| run.step().expect("stones cannot fail")));
}

criterion_group! {
    name = kernels;
    config = Criterion::default().sample_size(20);
    targets = one_contact, pair_of_stones, steps
}
criterion_main!(kernels);
