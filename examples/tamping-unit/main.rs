//! Tamping unit at 30 Hz, squeezing: the scene of scene.toml, built in Rust.

use riprap::prelude::*;
use std::error::Error;
use std::f64::consts::TAU;

/// End of the run [s].
pub const UNTIL: f64 = 0.7;
/// Initial height of the support [m].
const HEIGHT: f64 = 1.37;
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
        (support, beam.clone(), up(0.4)),
        (chassis, beam, up(0.0)),
        (shaft, Shape::sphere(0.07)?, along(0.02)),
        (left, wedge([0.03, 0.025], 0.05, -0.25, -0.78)?, up(0.0)),
        (left, wedge([0.02, 0.0075], 0.14, -0.76, -0.9)?, up(0.0)),
        (right, wedge([0.03, 0.025], 0.05, -0.25, -0.78)?, up(0.0)),
        (right, wedge([0.02, 0.0075], 0.14, -0.76, -0.9)?, up(0.0)),
        (barrel, Shape::cuboid([0.24, 0.06, 0.06])?, along(0.12)),
        (rod, Shape::cuboid([0.24, 0.03, 0.03])?, along(-0.12)),
        (conrod, Shape::cuboid([0.53, 0.03, 0.03])?, along(half)),
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
    m.actuate("hold", zs, Signal::new(|x| -1e6 * (x.q[0] - HEIGHT) - 1000.0 * x.v[0]));
    let actuator = |stretch: f64, x: &Inputs| -5e5 * stretch - 1e4 * x.v[8];
    let closing = |x: &Inputs| x.q[8] - OPEN - (CLOSED - OPEN) * (x.t - 0.1) / 0.4;
    let phases = vec![
        Phase::new(move |x| actuator(x.q[8] - OPEN, x)).until(0.1),
        Phase::new(move |x| actuator(closing(x), x)).until(0.5),
        Phase::new(move |x| actuator(x.q[8] - CLOSED, x)),
    ];
    m.actuate_in_phases("squeeze", xa, phases);
    Ok(m)
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let mut scene = Scene::builder();
    scene.accept_overlap(f64::INFINITY); // the scheme has no contacts
    scene.material(&Material::new("steel").friction(0.7)).add_mechanism(tamper()?);
    Ok(Simulation::new(scene.build()?, DormandPrince::new(2e-3).tolerance(1e-10))?)
}

/// Prints the length of the actuator and the angle of the left arm.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    for k in 0..=14 {
        run.until(0.05 * f64::from(k), &mut ())?;
        let q = &run.state().mechanisms[0].q;
        print!("{:4.0} ms  actuator {:.6} m, ", 1e3 * run.time(), q[8]);
        println!("left arm {:+.7} rad", q[5]);
    }
    Ok(())
}
