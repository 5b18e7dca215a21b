//! A pile of stones shared with riprap, run by Rapier in f64 on one thread.
//!
//! `peers-rapier SCENE --settle T --window T --states BEGIN END [--stiff]` prints one JSON object. By default Rapier's own parameters hold, with its
//! unit of length set to the size of a stone; `--stiff` takes Coulomb friction at every contact point, 20 iterations
//! and contacts of 300 Hz. Bodies never sleep.

use rapier3d_f64::prelude::*;
use serde::Deserialize;
use std::io::{Read, Write};
use std::time::Instant;

#[derive(Deserialize)]
struct SharedScene {
    mu: f64,
    restitution: f64,
    gravity: [f64; 3],
    dt: f64,
    #[serde(rename = "box")]
    container: Container,
    grains: Vec<Grain>,
}

#[derive(Deserialize)]
struct Container {
    xmin: f64,
    xmax: f64,
    ymin: f64,
    ymax: f64,
    zmin: f64,
}

#[derive(Deserialize)]
struct Grain {
    verts: Vec<[f64; 3]>,
    faces: Vec<[u32; 3]>,
    mass: f64,
    inertia: [f64; 3],
    pos: [f64; 3],
    quat: [f64; 4],
}

struct Arguments {
    scene: String,
    settle: f64,
    window: f64,
    states: Option<[String; 2]>,
    stiff: bool,
}

fn arguments() -> Result<Arguments, String> {
    let mut words = std::env::args().skip(1);
    let mut arguments =
        Arguments { scene: String::new(), settle: 0.5, window: 0.5, states: None, stiff: false };
    while let Some(word) = words.next() {
        let mut next = || words.next().ok_or(format!("a value is missing after {word}"));
        let time = |text: String| text.parse().map_err(|_| format!("`{text}` is not a time [s]"));
        match word.as_str() {
            "--settle" => arguments.settle = time(next()?)?,
            "--window" => arguments.window = time(next()?)?,
            "--states" => arguments.states = Some([next()?, next()?]),
            "--stiff" => arguments.stiff = true,
            _ => arguments.scene = word,
        }
    }
    if arguments.scene.is_empty() {
        return Err("a scene is missing".into());
    }
    Ok(arguments)
}

fn read(path: &str) -> Result<SharedScene, Box<dyn std::error::Error>> {
    let mut text = Vec::new();
    let mut file = std::fs::File::open(path)?;
    match path.ends_with(".gz") {
        true => flate2::read::MultiGzDecoder::new(file).read_to_end(&mut text)?,
        false => file.read_to_end(&mut text)?,
    };
    Ok(serde_json::from_slice(&text)?)
}

fn vector(v: [f64; 3]) -> Vector {
    Vector::new(v[0], v[1], v[2])
}

fn build(scene: &SharedScene, stiff: bool) -> (PhysicsWorld, Vec<RigidBodyHandle>) {
    let mut world = PhysicsWorld::default();
    world.gravity = vector(scene.gravity);
    let parameters = &mut world.integration_parameters;
    parameters.dt = scene.dt;
    parameters.length_unit = 0.04;
    if stiff {
        parameters.num_solver_iterations = 20;
        parameters.contact_softness = SpringCoefficients::new(300.0, 5.0);
        parameters.static_contact_softness = SpringCoefficients::new(300.0, 5.0);
        parameters.friction_model = FrictionModel::Coulomb;
    }
    let b = &scene.container;
    for (normal, at) in [
        ([0.0, 0.0, 1.0], [0.0, 0.0, b.zmin]),
        ([1.0, 0.0, 0.0], [b.xmin, 0.0, 0.0]),
        ([-1.0, 0.0, 0.0], [b.xmax, 0.0, 0.0]),
        ([0.0, 1.0, 0.0], [0.0, b.ymin, 0.0]),
        ([0.0, -1.0, 0.0], [0.0, b.ymax, 0.0]),
    ] {
        let wall = ColliderBuilder::new(SharedShape::halfspace(vector(normal)))
            .translation(vector(at))
            .friction(scene.mu)
            .restitution(scene.restitution);
        world.colliders.insert(wall);
    }
    let mut handles = Vec::new();
    for grain in &scene.grains {
        let [w, x, y, z] = grain.quat;
        let pose = Pose::from_parts(vector(grain.pos), Rotation::from_xyzw(x, y, z, w));
        let body = RigidBodyBuilder::dynamic().pose(pose).can_sleep(false);
        let handle = world.bodies.insert(body);
        let points = grain.verts.iter().map(|v| vector(*v)).collect();
        let stone = ColliderBuilder::convex_mesh(points, &grain.faces)
            .expect("a convex stone")
            .friction(scene.mu)
            .restitution(scene.restitution)
            .mass_properties(MassProperties::new(Vector::ZERO, grain.mass, vector(grain.inertia)));
        world.colliders.insert_with_parent(stone, handle, &mut world.bodies);
        handles.push(handle);
    }
    (world, handles)
}

fn write_states(
    path: &str,
    world: &PhysicsWorld,
    handles: &[RigidBodyHandle],
) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
    for handle in handles {
        let body = &world.bodies[*handle];
        let (p, r, v, w) = (body.translation(), body.rotation(), body.linvel(), body.angvel());
        let numbers = [p.x, p.y, p.z, r.w, r.x, r.y, r.z, v.x, v.y, v.z, w.x, w.y, w.z]
            .map(|x| format!("{x:e}"));
        writeln!(out, "{}", numbers.join(" "))?;
    }
    out.flush()
}

/// Processor time of this thread, the only one [s]; 0 where the system does not tell.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    1e-9 * text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = arguments()?;
    let scene = read(&arguments.scene)?;
    let (mut world, handles) = build(&scene, arguments.stiff);
    let steps = |time: f64| (time / scene.dt).round() as u64;
    for _ in 0..steps(arguments.settle) {
        world.step();
    }
    if let Some([begin, _]) = &arguments.states {
        write_states(begin, &world, &handles)?;
    }
    let (begin, cpu, n) = (Instant::now(), cpu_seconds(), steps(arguments.window));
    for _ in 0..n {
        world.step();
    }
    let ms = 1e3 * begin.elapsed().as_secs_f64() / n as f64;
    let cpu_ms = 1e3 * (cpu_seconds() - cpu) / n as f64;
    if let Some([_, end]) = &arguments.states {
        write_states(end, &world, &handles)?;
    }
    let touching = |pair: &ContactPair| -> usize {
        pair.manifolds().iter().map(|m| m.data.solver_contacts.len()).sum()
    };
    let contacts: usize = world.contact_pairs().map(touching).sum();
    println!(
        "{{\"ms_per_step\": {ms}, \"cpu_ms_per_step\": {cpu_ms}, \"contacts\": {contacts}, \"steps\": {n}}}"
    );
    Ok(())
}
