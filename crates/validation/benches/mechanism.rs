//! Benchmarks of mechanisms: mass matrix and bias, forward dynamics of two trees, and the tamping unit with its loops.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use validation::bench::MechanismBench;
use validation::mechanisms::{ARM7, TREE36};

fn trees(c: &mut Criterion) {
    for (name, text) in [("arm7", ARM7), ("tree36", TREE36)] {
        let mut bench = MechanismBench::tree(name, text);
        c.bench_function(&format!("{name} mass matrix and bias"), |b| {
            b.iter(|| black_box(bench.mass_and_bias())[0])
        });
        c.bench_function(&format!("{name} bias"), |b| b.iter(|| black_box(bench.bias())[0]));
        c.bench_function(&format!("{name} forward dynamics"), |b| {
            b.iter(|| black_box(bench.forward_dynamics())[0])
        });
    }
}

fn loops(c: &mut Criterion) {
    let mut bench = MechanismBench::tamping_unit();
    c.bench_function("tamping unit, loops and accelerations", |b| {
        b.iter(|| black_box(bench.closed_dynamics())[0])
    });
}

criterion_group!(benches, trees, loops);
criterion_main!(benches);
