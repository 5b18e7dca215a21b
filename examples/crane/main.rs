//! Tower crane lifting stones: the scene of scene.toml, built in Rust.

use riprap::grains::{lattice, seeded};
use riprap::prelude::*;
use riprap_io::scene_file::Expression;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 8.0;

const STONE: [[f64; 3]; 8] = [
    [-0.09, -0.05, -0.06],
    [0.08, -0.07, -0.05],
    [0.09, 0.06, -0.04],
    [-0.06, 0.07, -0.06],
    [-0.07, -0.04, 0.06],
    [0.05, -0.05, 0.07],
    [0.06, 0.05, 0.05],
    [-0.05, 0.05, 0.06],
];

/// Moves by a distance from `start` to `end` [s] without jumps in velocity. The expression is differentiated exactly.
fn smooth(distance: &str, start: f64, end: f64) -> Result<JointMotion, Box<dyn Error>> {
    let s = format!("ramp(t, {start}, {end})");
    let law = Expression::parse(&format!("{distance}*({s} - sin(tau*{s})/tau)"), &["t"])?;
    Ok(JointMotion::new(move |t| law.with_rates(&[t])))
}

/// Jib, winch and trolley, with prescribed motions.
fn crane() -> Result<(Mechanism, [Link; 3]), Box<dyn Error>> {
    let mut crane = Mechanism::new("crane");
    crane.base = Pose::at([0.0, 0.0, 6.0]);
    let mut add = |[name, joint_name]: [&str; 2], parent, joint, at, size, centre, motion| {
        let link = crane.add(joint_name, parent, joint, Pose::at(at), None);
        crane.rename(link, name);
        crane.attach_solid(link, Shape::cuboid(size)?, Pose::at(centre), "steel", 7800.0);
        crane.drive(crane.coordinate(link, 0), motion);
        Ok::<Link, Box<dyn Error>>(link)
    };
    let (turn, slide) = (Joint::Revolute, Joint::Prismatic);
    let (size, centre) = ([6.5, 0.3, 0.3], [1.75, 0.0, 0.0]);
    let motion = smooth("80*pi/180", 2.0, 7.0)?;
    let jib = add(["jib", "slew"], GROUND, turn(Axis::Z), [0.0; 3], size, centre, motion)?;
    // The hook hangs on two parts of the cable and rises by 2 m.
    let (size, centre) = ([0.4, 0.3, 0.2], [0.0, 0.0, 0.25]);
    let motion = smooth("4", 0.2, 3.0)?;
    let winch =
        add(["winch", "hoist"], jib, slide(-Axis::X), [2.6, 0.0, 0.0], size, centre, motion)?;
    let (size, centre) = ([0.4, 0.4, 0.12], [0.0, 0.0, -0.21]);
    let motion = smooth("0.8", 3.0, 7.0)?;
    let trolley =
        add(["trolley", "travel"], jib, slide(Axis::X), [3.0, 0.0, 0.0], size, centre, motion)?;
    Ok((crane, [jib, winch, trolley]))
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let stone = Material::new("stone").density(2600.0).friction(0.6);
    let steel = Material::new("steel").density(7800.0).friction(0.4);
    let mut scene = Scene::builder();
    let body = |shape, name, at| BodyDescription::new(shape, &steel).named(name).at(at);
    let ground = BodyDescription::new(Shape::half_space([0.0, 0.0, 1.0])?, &stone).named("ground");
    scene.add(ground.fixed(), &stone);
    let mast = Shape::cuboid([0.4, 0.4, 5.8])?;
    let tower = scene.add(body(mast, "tower", [0.0, 0.0, 2.9]).fixed(), &steel);
    // The load: a bucket with walls of 15 mm, on four slings that are slack until the hook rises.
    let tub = Shape::open_box([1.0, 1.0, 0.4], 0.015)?;
    let bucket = scene.add(body(tub, "bucket", [3.0, 0.0, 0.0151]), &steel);
    let hook = body(Shape::cuboid([0.12, 0.12, 0.2])?, "hook", [3.0, 0.0, 1.6]);
    let hook = scene.add(hook, &steel);
    let shape = Shape::hull(&STONE.map(Vec3::from))?;
    let (origin, spacing) = ([2.62, -0.38, 0.1], [0.19, 0.19, 0.16]);
    let places = lattice(origin, spacing, [5, 5, 2], 0.0, &mut seeded(0)).into_iter();
    let stones = places.map(|place| (shape.clone(), Pose::at(place.position.into())));
    scene.add_grains("stone", stones, &stone);

    let (crane, links) = crane()?;
    let crane = scene.add_mechanism(crane);
    let [jib, winch, trolley] = links.map(|link| On::Link(crane, link));
    scene.ignore_contact(On::Body(tower), jib);
    scene.ignore_contact(On::Body(tower), winch);
    let (hook, bucket) = (On::Body(hook), On::Body(bucket));
    let cable = vec![
        (winch, Vec3::new(0.0, 0.0, 0.15)),
        (trolley, Vec3::new(-0.1, 0.0, -0.27)),
        (hook, Vec3::new(0.0, 0.0, 0.1)),
        (trolley, Vec3::new(0.1, 0.0, -0.27)),
        (jib, Vec3::new(5.0, 0.0, -0.15)),
    ];
    scene.add_rope(Rope::new("cable", cable));
    for (k, [x, y]) in [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].into_iter().enumerate()
    {
        let path = vec![(hook, Vec3::new(0.0, 0.0, -0.1)), (bucket, Vec3::new(x, y, 0.4))];
        scene.add_rope(Rope::new(&format!("sling-{}", k + 1), path).length(1.32));
    }
    Ok(Simulation::new(scene.build()?, MoreauJean::new(1e-3))?)
}

/// Prints where the bucket is, and the tension of the cable.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let bucket = run.scene().body("bucket").ok_or("no bucket")?;
    for k in 0..=16 {
        run.until(0.5 * f64::from(k), &mut ())?;
        let (at, tension) = (run.pose(bucket).position, run.state().ropes[0].tension(1e-3));
        print!("{:3.1} s  bucket at ({:+.2}, {:+.2}, {:.2}) m", run.time(), at.x, at.y, at.z);
        println!(", cable {tension:6.0} N");
    }
    Ok(())
}
