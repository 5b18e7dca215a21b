//! Tamping at 30 Hz: the scene of scene.toml, built in Rust.

use riprap::prelude::*;
use riprap_io::grain_table::GrainTable;
use riprap_io::mesh::Mesh;
use std::error::Error;
use std::f64::consts::TAU;
use std::path::Path;

/// End of the run [s].
pub const UNTIL: f64 = 2.6;
/// Initial height of the support [m].
const HEIGHT: f64 = 1.394;
/// Lengths of the actuator with the arms open and closed [m].
const OPEN: f64 = 0.42542967802374065;
const CLOSED: f64 = 0.5321944288839185;

/// A bar from z = `top` to z = `tip` that tapers; half its widths along x, and half its breadth along y [m].
fn wedge(half: [f64; 2], y: f64, top: f64, tip: f64) -> Result<Shape, Box<dyn Error>> {
    let corners = [(half[0], top), (half[1], tip)]
        .map(|(x, z)| [[-x, -y, z], [-x, y, z], [x, -y, z], [x, y, z]].map(Vec3::from));
    Ok(Shape::hull(corners.as_flattened())?)
}

/// Support, chassis, eccentric shaft, two arms, and the actuator and the rod that connect them.
fn tamper() -> Result<Mechanism, Box<dyn Error>> {
    let mut m = Mechanism::new("tamper");
    let mut add = |[name, joint_name]: [&str; 2], parent, joint, at, mass| {
        let link = m.add(joint_name, parent, joint, Pose::at(at), mass);
        m.rename(link, name);
        link
    };
    let (turn, slide) = (Joint::Revolute(-Axis::Y), Joint::Prismatic);
    let up = |z: f64| [0.0, 0.0, z];
    let along = |x: f64| [x, 0.0, 0.0];
    let half = 0.2683281572999748;
    // Only the inertia about y matters in the plane.
    let body =
        |mass, centre, inertia: f64| Some(MassProperties::principal(mass, centre, [inertia; 3]));
    let support = add(["support", "zs"], GROUND, slide(Axis::Z), up(0.0), body(50.0, up(0.4), 2.0));
    let xc = add(["chassis.xc", "xc"], support, slide(Axis::X), up(0.0), None);
    let zc = add(["chassis.zc", "zc"], xc, slide(Axis::Z), up(0.0), None);
    let chassis = add(["chassis", "thc"], zc, turn, up(0.0), body(20.0, up(0.05), 0.87));
    let shaft = add(["flywheel", "phif"], chassis, turn, up(-0.15), body(15.0, along(0.02), 0.11));
    let left = add(["armL", "phiL"], chassis, turn, along(-0.24), body(15.0, up(-0.3), 1.8));
    let right = add(["armR", "phiR"], chassis, turn, along(0.24), body(15.0, up(-0.3), 1.8));
    let barrel = add(["barrel", "phib"], left, turn, up(0.3), body(3.0, along(0.12), 0.02));
    let rod = add(["rod", "xa"], barrel, slide(Axis::X), up(0.0), body(2.0, along(-0.12), 0.013));
    let conrod = add(["conrod", "phik"], left, turn, up(0.12), body(3.0, along(half), 0.072));

    let beam = Shape::cuboid([0.6, 0.1, 0.06])?;
    for (link, shape, at) in [
        (support, beam.clone(), up(0.65)),
        (chassis, beam, up(0.0)),
        (shaft, Shape::sphere(0.07)?, along(0.02)),
        (left, wedge([0.03, 0.025], 0.05, -0.25, -0.78)?, up(0.0)),
        (left, wedge([0.02, 0.0075], 0.14, -0.76, -0.9)?, up(0.0)),
        (right, wedge([0.03, 0.025], 0.05, -0.25, -0.78)?, up(0.0)),
        (right, wedge([0.02, 0.0075], 0.14, -0.76, -0.9)?, up(0.0)),
        (barrel, Shape::cuboid([0.24, 0.06, 0.06])?, along(0.12)),
        (rod, Shape::cuboid([0.24, 0.03, 0.03])?, along(-0.12)),
        (conrod, Shape::cuboid([0.53, 0.03, 0.03])?, [half, 0.1, 0.0]),
    ] {
        m.attach(link, shape, Pose::at(at), "steel");
    }

    let starts = [(support, HEIGHT), (xc, 0.0), (zc, 0.0), (chassis, 0.0), (shaft, 0.0)];
    for (link, value) in starts.into_iter().chain([(left, -0.089)]) {
        m.start(m.coordinate(link, 0), value);
    }
    let guesses = [(right, 0.09), (barrel, 0.09), (rod, 0.425), (conrod, -0.37)];
    for (link, value) in guesses {
        m.guess(m.coordinate(link, 0), value);
    }
    m.dependent(&guesses.map(|(link, _)| m.coordinate(link, 0)));
    m.start_velocity(m.coordinate(shaft, 0), 30.0 * TAU);
    let pin = |link, at| Marker::at(link, at).along(Axis::Y);
    m.close_loop("actuator", Cut::Pin, pin(rod, up(0.0)), pin(right, up(0.3)));
    let (a, b) = (pin(conrod, along(0.5366563145999496)), pin(right, up(-0.12)));
    m.close_loop("synchronisation", Cut::Pin, a, b);
    for (side, x) in [("left", -0.3), ("right", 0.3)] {
        let bushing = PointSpring::Bushing { stiffness: 50e3, damping: 200.0 };
        let [a, b] = [support, chassis].map(|link| Marker::at(link, [x, 0.0, 0.25]));
        m.point_spring(&format!("bushing-{side}"), bushing, a, b);
    }

    // The coordinates of the laws: height of the support, angle of the shaft, length of the actuator.
    let [zs, phif, xa] = [support, shaft, rod].map(|link| m.coordinate(link, 0));
    let drive = |x: &Inputs| 50.0 * (TAU * 30.0 - x.v[4]);
    m.actuate("drive", phif, Signal::new(drive));
    // Dive until 1 s or until the target depth, then hold the height reached, then rise.
    let height = m.latch_slot();
    let hold = |target: f64, x: &Inputs| -1e6 * (x.q[0] - target) - 1000.0 * x.v[0];
    let rising = move |x: &Inputs| (x.latched[height] + (x.t - 2.2)).min(HEIGHT);
    let phases = vec![
        Phase::new(|x| -1e4 - 3000.0 * x.v[0]).until_when(|x| x.q[0] <= 1.03 || x.t >= 1.0),
        Phase::new(move |x| hold(x.latched[height], x)).latching(height, |x| x.q[0]).until(2.2),
        Phase::new(move |x| hold(rising(x), x)),
    ];
    m.actuate_in_phases("support", zs, phases);
    let actuator = |stretch: f64, x: &Inputs| -5e5 * stretch - 1e4 * x.v[8];
    let closing = |x: &Inputs| x.q[8] - OPEN - (CLOSED - OPEN) * (x.t - 1.0) / 0.8;
    let opening = |x: &Inputs| x.q[8] - CLOSED + (CLOSED - OPEN) * (x.t - 2.0) / 0.2;
    let phases = vec![
        Phase::new(move |x| actuator(x.q[8] - OPEN, x)).until(1.0),
        Phase::new(move |x| actuator(closing(x), x)).until(1.8),
        Phase::new(move |x| actuator(x.q[8] - CLOSED, x)).until(2.0),
        Phase::new(move |x| actuator(opening(x), x)).until(2.2),
        Phase::new(move |x| actuator(x.q[8] - OPEN, x)),
    ];
    m.actuate_in_phases("squeeze", xa, phases);
    Ok(m)
}

/// The stones of six tables, each with one shape in all sizes.
fn add_ballast(scene: &mut SceneBuilder, rock: &Material) -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tamping");
    for k in 1..=6 {
        let mesh = Mesh::read(&folder.join(format!("stone-{k}.obj")))?;
        let table = GrainTable::read(&folder.join(format!("stones-{k}.csv")))?;
        let mut stones = Vec::new();
        for grain in table.grains {
            let points = mesh.vertices.iter().map(|v| Vec3::from(*v) * grain.scale);
            let [w, x, y, z] = grain.rotation;
            let rotation = Quat::new_unchecked([x, y, z, w].into());
            let pose = Pose { position: grain.position.into(), rotation };
            stones.push((Shape::hull(&points.collect::<Vec<_>>())?, pose));
        }
        scene.add_grains(&format!("ballast-{k}"), stones, rock);
    }
    Ok(())
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let rock = Material::new("rock").density(2700.0).friction(0.7);
    let mut scene = Scene::builder();
    scene.material(&Material::new("steel").friction(0.7));
    // The box is 1.1 m long and 0.4 m wide; the sleeper is fixed in it.
    for (name, shape, at) in [
        ("floor", Shape::half_space([0.0, 0.0, 1.0])?, [0.0, 0.0, 0.0]),
        ("left", Shape::half_space([1.0, 0.0, 0.0])?, [-0.55, 0.0, 0.0]),
        ("right", Shape::half_space([-1.0, 0.0, 0.0])?, [0.55, 0.0, 0.0]),
        ("front", Shape::half_space([0.0, 1.0, 0.0])?, [0.0, -0.2, 0.0]),
        ("back", Shape::half_space([0.0, -1.0, 0.0])?, [0.0, 0.2, 0.0]),
        ("sleeper", Shape::cuboid([0.25, 0.4, 0.215])?, [0.0, 0.0, 0.4075]),
    ] {
        scene.add(BodyDescription::new(shape, &rock).named(name).at(at).fixed(), &rock);
    }
    add_ballast(&mut scene, &rock)?;
    scene.add_mechanism(tamper()?);
    let solver =
        Coloured::from(GaussSeidelOptions { tolerance: 1e-3, ..GaussSeidelOptions::default() });
    Ok(Simulation::new(scene.build()?, MoreauJean::new(5e-4).solver(solver))?)
}

/// Prints the height of the support and the length of the actuator.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    for k in 0..=26 {
        run.until(0.1 * f64::from(k), &mut ())?;
        let q = &run.state().mechanisms[0].q;
        println!("{:3.1} s  support at {:.4} m, actuator {:.4} m", run.time(), q[0], q[8]);
    }
    Ok(())
}
