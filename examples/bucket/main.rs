//! Bucket digging in gravel: the scene of scene.toml, built in Rust.

use riprap::grains::{Grading, lattice, seeded};
use riprap::prelude::*;
use riprap_io::scene_file::Expression;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 2.0;

/// The profile of the bucket in the x–z plane [m]: hinge, top, back, heel, cutting edge.
const PROFILE: [[f64; 2]; 5] =
    [[-0.02, 0.0], [0.1, -0.03], [0.13, -0.12], [0.07, -0.19], [-0.05, -0.21]];
/// Its plates between the corners of the profile: the same two corners, 8 mm further out [m].
const PLATES: [[[f64; 2]; 2]; 4] = [
    [[-0.0181, 0.0078], [0.1019, -0.0222]],
    [[0.1076, -0.0275], [0.1376, -0.1175]],
    [[0.1361, -0.1252], [0.0761, -0.1952]],
    [[0.0713, -0.1979], [-0.0487, -0.2179]],
];
const TOOTH: [[f64; 2]; 4] =
    [[-0.05, -0.21], [-0.0487, -0.2179], [-0.0845, -0.2158], [-0.0842, -0.2177]];

/// A profile in the x–z plane between two values of y.
fn prism(profile: &[[f64; 2]], y: [f64; 2]) -> Result<Shape, Box<dyn Error>> {
    let points = y.iter().flat_map(|y| profile.iter().map(|[x, z]| Vec3::new(*x, *y, *z)));
    Ok(Shape::hull(&points.collect::<Vec<_>>())?)
}

/// The parts of the bucket: sides, plates, teeth, and the lug for the link.
fn bucket() -> Result<Vec<(Shape, Pose)>, Box<dyn Error>> {
    let mut parts = Vec::new();
    for y in [[-0.1, -0.092], [0.092, 0.1]] {
        parts.push((prism(&PROFILE, y)?, Pose::IDENTITY));
    }
    for (k, outer) in PLATES.iter().enumerate() {
        let corners = [&PROFILE[k..k + 2], outer].concat();
        parts.push((prism(&corners, [-0.1, 0.1])?, Pose::IDENTITY));
    }
    for y in [-0.085, -0.0283, 0.0283, 0.085] {
        parts.push((prism(&TOOTH, [-0.012, 0.012])?, Pose::at([0.0, y, 0.0])));
    }
    parts.push((Shape::cuboid([0.06, 0.02, 0.07])?, Pose::at([0.055, 0.0, 0.01])));
    Ok(parts)
}

/// An angle [rad] that changes by amounts [rad] from 0.2 to 0.6, 1.3 and 1.9 s, smoothly. The expression is differentiated
/// exactly.
fn swing(start: f64, by: [f64; 3]) -> Result<JointMotion, Box<dyn Error>> {
    let mut law = start.to_string();
    for (by, [from, to]) in by.iter().zip([[0.2, 0.6], [0.6, 1.3], [1.3, 1.9]]) {
        law += &format!(" + {by}*(0.5 - 0.5*cos(pi*ramp(t, {from}, {to})))");
    }
    let law = Expression::parse(&law, &["t"])?;
    Ok(JointMotion::new(move |t| law.with_rates(&[t])))
}

/// Boom, stick, bucket, rocker, link, barrel and piston.
fn backhoe() -> Result<(Mechanism, [Link; 7]), Box<dyn Error>> {
    let mut m = Mechanism::new("backhoe");
    m.base = Pose::at([-0.05, 0.0, 0.3]);
    let mut add = |name: &str, parent, at: [f64; 3], parts: Vec<(Shape, Pose)>| {
        let (joint, name_of_joint) = match name {
            "piston" => (Joint::Prismatic(Axis::X), "stroke"),
            _ => (Joint::Revolute(-Axis::Y), name),
        };
        let link = m.add(name_of_joint, parent, joint, Pose::at(at), None);
        m.rename(link, name);
        for (shape, pose) in parts {
            m.attach_solid(link, shape, pose, "steel", 7800.0);
        }
        link
    };
    let bar =
        |size, x| Ok::<_, Box<dyn Error>>(vec![(Shape::cuboid(size)?, Pose::at([x, 0.0, 0.0]))]);
    let boom = add("boom", GROUND, [0.0; 3], bar([0.7, 0.05, 0.08], 0.35)?);
    let stick = add("stick", boom, [0.7, 0.0, 0.0], bar([0.5, 0.04, 0.05], 0.25)?);
    let bucket = add("bucket", stick, [0.5, 0.0, 0.0], bucket()?);
    let rocker = add("rocker", stick, [0.4, 0.0, 0.0], bar([0.11, 0.06, 0.02], 0.055)?);
    let link = add("link", rocker, [0.11, 0.0, 0.0], bar([0.13, 0.03, 0.02], 0.065)?);
    let barrel = add("barrel", stick, [0.1, 0.0, 0.07], bar([0.2, 0.04, 0.04], 0.1)?);
    let piston = add("piston", barrel, [0.0; 3], bar([0.2, 0.02, 0.02], -0.1)?);

    m.drive(m.coordinate(boom, 0), swing(0.9703, [-0.2383, 0.0949, 0.5047])?);
    m.drive(m.coordinate(stick, 0), swing(-1.4881, [-0.1976, -0.3947, 0.0542])?);
    let guesses = [(bucket, 1.268), (rocker, 1.9293), (link, -2.1087), (barrel, 0.1256)];
    for (link, angle) in guesses {
        m.guess(m.coordinate(link, 0), angle);
    }
    m.dependent(&guesses.map(|(link, _)| m.coordinate(link, 0)));
    let stroke = m.coordinate(piston, 0);
    m.start(stroke, 0.2635);
    let pin = |link, x, z| Marker::at(link, [x, 0.0, z]).along(-Axis::Y);
    m.close_loop("crosshead", Cut::Pin, pin(rocker, 0.11, 0.0), pin(piston, 0.0, 0.0));
    m.close_loop("lug", Cut::Pin, pin(bucket, 0.073, 0.034), pin(link, 0.13, 0.0));

    // The cylinder holds, curls while the stick drags, and closes while the boom lifts: its control pushes with at most 5 kN
    // towards a length [m].
    let ramp = |t: f64, from: f64, to: f64| ((t - from) / (to - from)).clamp(0.0, 1.0);
    let control = move |length: f64, x: &Inputs| {
        let force = 2e5 * (length - x.q[6]) - 4e3 * x.v[6];
        force.clamp(-5e3, 5e3)
    };
    let (open, dug, closed) = (0.2635, 0.3065, 0.3789);
    let phases = vec![
        Phase::new(move |x| control(open, x)).until(0.6),
        Phase::new(move |x| control(open + (dug - open) * ramp(x.t, 0.6, 1.3), x)).until(1.3),
        Phase::new(move |x| control(dug + (closed - dug) * ramp(x.t, 1.3, 1.7), x)),
    ];
    m.actuate_in_phases("cylinder", stroke, phases);
    Ok((m, [boom, stick, bucket, rocker, link, barrel, piston]))
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let gravel = Material::new("gravel").density(2600.0).friction(0.6);
    let steel = Material::new("steel").density(7800.0).friction(0.4);
    let mut scene = Scene::builder();
    for (name, shape, at) in [
        ("floor", Shape::half_space([0.0, 0.0, 1.0])?, [0.0, 0.0, -0.015]),
        ("box", Shape::open_box([0.7, 0.32, 0.28], 0.015)?, [0.62, 0.0, 0.0]),
        ("pedestal", Shape::cuboid([0.16, 0.2, 0.275])?, [-0.05, 0.0, 0.1225]),
    ] {
        scene.add(BodyDescription::new(shape, &steel).named(name).at(at).fixed(), &steel);
    }
    // They settle while the bucket does not move.
    let mut rng = seeded(1);
    let sizes = Grading::uniform(0.04..0.048)?.sample_many(14 * 6 * 7, &mut rng);
    // "2.8 cm" in the scene file; 0.028 is the next larger number.
    let (origin, spacing) = ([0.298, -0.128, 2.8 / 100.0], [0.0495, 0.051, 0.05]);
    let places = lattice(origin, spacing, [14, 6, 7], 0.0004, &mut rng);
    let mut grains = Vec::new();
    for (size, place) in sizes.iter().zip(places) {
        grains.push((Shape::sphere(0.5 * size)?, Pose::at(place.position.into())));
    }
    scene.add_grains("gravel", grains, &gravel);

    let (machine, links) = backhoe()?;
    let machine = scene.add_mechanism(machine);
    let [boom, stick, bucket, rocker, link, barrel, piston] = links.map(|l| On::Link(machine, l));
    for (a, b) in [
        (piston, stick),
        (piston, link),
        (barrel, rocker),
        (barrel, link),
        (barrel, boom),
        (stick, link),
        (rocker, bucket),
        (piston, bucket),
    ] {
        scene.ignore_contact(a, b);
    }
    let solver =
        Coloured::from(GaussSeidelOptions { tolerance: 1e-3, ..GaussSeidelOptions::default() });
    Ok(Simulation::new(scene.build()?, MoreauJean::new(1.6e-3).solver(solver))?)
}

/// Prints where the bucket is, and the force of the gravel on it.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let bucket = run.scene().body("backhoe/bucket").ok_or("no bucket")?;
    for k in 0..=12 {
        run.until(0.16 * f64::from(k), &mut ())?;
        let (at, force) = (run.pose(bucket).position, run.frame().contact_force(bucket));
        print!("{:4.2} s  bucket at ({:.3}, {:.3}) m, ", run.time(), at.x, at.z);
        println!("gravel pushes ({:+7.1}, {:+7.1}) N", force.x, force.z);
    }
    Ok(())
}
