//! Contact detection alone: the poses of a pile that is falling, settling and at rest are recorded
//! once (into `target/`), then replayed forwards and backwards with warm caches.
//!
//! `cargo bench --bench detection -- [STONES] [ROUNDS] [THREADS]` prints, for each of the three,
//! the time per near pair (the minimum for each step, since other load only adds to it) and a
//! digest of all contact points: two builds that print the same digest gave bitwise identical
//! results.
#![allow(missing_docs)]

use riprap::detect::{Detector, Query};
use riprap::friction::GaussSeidelOptions;
use riprap::grains::{Grading, StoneGenerator, rain, seeded};
use riprap::math::Quat;
use riprap::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const DT: f64 = 5e-4;
/// Number of steps of each recording.
const STEPS: usize = 24;
/// Start times of the recordings [s].
const BEGIN: [(&str, f64); 3] = [("falls", 0.25), ("settles", 0.6), ("rests", 2.0)];

/// Poses and velocities of all bodies, step by step.
type Recording = Vec<(Vec<Pose>, Vec<Twist>)>;

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let n = numbers.first().copied().unwrap_or(1000);
    let rounds = numbers.get(1).copied().unwrap_or(20);
    let scene = stones_in_box(n);
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let threads = numbers.get(2).copied().unwrap_or(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    for (name, begin) in BEGIN {
        let file = folder.join(format!("detection-{n}-{name}.bin"));
        if !file.exists() {
            write(&file, &record(n, begin));
        }
        let recording = read(&file, scene.bodies().len());
        pool.install(|| replay(name, &scene, &recording, rounds));
    }
}

/// Replays the recording forwards and backwards, `rounds` times.
fn replay(name: &str, scene: &Scene, recording: &Recording, rounds: usize) {
    let mut detector = Detector::default();
    let there_and_back = || (0..recording.len()).chain((1..recording.len() - 1).rev());
    let mut best = vec![f64::INFINITY; there_and_back().count()];
    let (mut near, mut points, mut digest) = (0, 0, 0);
    // The first round fills the caches.
    for round in 0..=rounds {
        (near, points, digest) = (0, 0, 0u64);
        for (k, best) in there_and_back().zip(&mut best) {
            let (bodies, v) = &recording[k];
            let motion: Vec<Twist> = v
                .iter()
                .map(|v| Twist { linear: v.linear * DT, angular: v.angular * DT })
                .collect();
            let radius = |i: usize| Some(scene.bodies().radius[i]).filter(|r| r.is_finite());
            let reach: Vec<f64> = (motion.iter().enumerate())
                .map(|(i, m)| m.linear.norm() + m.angular.norm() * radius(i).unwrap_or(0.0))
                .collect();
            let detection = scene.detection();
            let query = Query {
                colliders: scene.colliders(),
                set: scene.collider_set(),
                bodies,
                reach: &reach,
                motion: &motion,
                alert: detection.alert,
                skin: detection.skin,
                method: detection.method,
                apart: &[],
                images: None,
            };
            let begin = Instant::now();
            detector.detect(&query);
            let spent = begin.elapsed().as_secs_f64();
            if round > 0 {
                *best = best.min(spent);
            }
            near += detector.n_near_pairs(detection.alert);
            points += detector.points().count();
            for p in detector.points() {
                let fields = [p.point.x, p.point.y, p.point.z, p.normal.x, p.normal.y, p.gap];
                let head = [
                    u64::from(p.feature),
                    u64::from(p.colliders[0]) << 32 | u64::from(p.colliders[1]),
                ];
                for bits in fields.map(f64::to_bits).into_iter().chain(head) {
                    digest = (digest ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
                }
            }
        }
    }
    let steps = best.len();
    println!(
        "{name:8}  {:8.1} pairs {:8.1} near {:8.1} points a step   {:.4} µs per near pair   digest {digest:016x}",
        detector.n_pairs() as f64,
        near as f64 / steps as f64,
        points as f64 / steps as f64,
        1e6 * best.iter().sum::<f64>() / near as f64,
    );
}

/// Railway ballast in a box as deep as it is wide.
fn stones_in_box(n: usize) -> Scene {
    let rock = Material::new("rock").density(2700.0).friction(0.7);
    let mut scene = Scene::builder();
    // Stones fill 55 % of the box, and a stone of this class has 4.2e-5 m³ on average.
    let half = 0.5 * (n as f64 * 4.2e-5 / 0.55).cbrt().max(0.16);
    for normal in [[0., 0., 1.], [1., 0., 0.], [-1., 0., 0.], [0., 1., 0.], [0., -1., 0.]] {
        let at = [-half * normal[0], -half * normal[1], 0.0];
        scene.add_fixed(Shape::half_space(normal).expect("unit"), Pose::at(at), &rock);
    }
    let mut rng = seeded(1);
    let sizes = Grading::named("EN 13450 31.5-50").expect("a known name").sample_many(n, &mut rng);
    let stones: Vec<_> = sizes
        .iter()
        .map(|size| StoneGenerator::default().generate(*size, &mut rng).expect("a stone"))
        .collect();
    let radii: Vec<f64> = stones.iter().map(|s| s.outer_radius()).collect();
    let poses = rain(&radii, [-half, -half, 0.0], [half, half], &mut rng).expect("room");
    for (stone, pose) in stones.into_iter().zip(poses) {
        let mut body = BodyDescription::new(Shape::Polyhedron(Arc::new(stone)), &rock);
        body.pose = pose;
        scene.add(body, &rock);
    }
    scene.build().expect("valid")
}

fn record(n: usize, begin: f64) -> Recording {
    let options = GaussSeidelOptions { max_sweeps: 60, ..GaussSeidelOptions::tolerance(1e-3) };
    let scheme = MoreauJean::new(DT).solver(riprap::friction::GaussSeidel { options });
    let mut run = Simulation::new(stones_in_box(n), scheme).expect("valid");
    run.until(begin, &mut ()).expect("stones cannot fail");
    let mut recording = Vec::new();
    for _ in 0..STEPS {
        run.step().expect("stones cannot fail");
        recording.push((run.state().q.clone(), run.state().v.clone()));
    }
    recording
}

fn write(file: &Path, recording: &Recording) {
    let mut bytes = Vec::new();
    for (q, v) in recording {
        for (q, v) in q.iter().zip(v) {
            let fields = q.position.iter().chain(q.rotation.coords.iter());
            for x in fields.chain(v.linear.iter()).chain(v.angular.iter()) {
                bytes.extend(x.to_le_bytes());
            }
        }
    }
    std::fs::write(file, bytes).expect("target/ can be written");
}

fn read(file: &Path, n_bodies: usize) -> Recording {
    let bytes = std::fs::read(file).expect("a recording");
    let numbers: Vec<f64> = (bytes.chunks_exact(8))
        .map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes")))
        .collect();
    let vec = |x: &[f64]| Vec3::new(x[0], x[1], x[2]);
    let body = |x: &[f64]| {
        let [i, j, k, w] = [x[3], x[4], x[5], x[6]];
        let rotation = Quat::new_unchecked(nalgebra::Quaternion::new(w, i, j, k));
        let pose = Pose { position: vec(x), rotation };
        (pose, Twist { linear: vec(&x[7..]), angular: vec(&x[10..]) })
    };
    numbers
        .chunks_exact(13 * n_bodies)
        .map(|step| step.chunks_exact(13).map(body).unzip())
        .collect()
}
