//! Slider-crank with clearance: the scene of scene.toml, built in Rust.

use riprap::prelude::*;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 0.1369;

/// Crank, rod and slider; the slider is cut from the rod and reconnected by a loop.
fn engine() -> Result<(Mechanism, Link), Box<dyn Error>> {
    let mut m = Mechanism::new("engine");
    let mut add = |names: [&str; 2], parent, joint, at, size, [x, z]: [f64; 2], mass, moment| {
        let moments = [moment / 2.0, moment / 2.0, moment];
        let mass = MassProperties::principal(mass, [x, 0.0, 0.0], moments);
        let link = m.add(names[1], parent, joint, Pose::at(at), Some(mass));
        m.rename(link, names[0]);
        m.attach(link, Shape::cuboid(size)?, Pose::at([x, 0.0, z]), "steel");
        Ok::<Link, Box<dyn Error>>(link)
    };
    let turn = Joint::Revolute(Axis::Z);
    let size = [0.153, 0.014, 0.008];
    let crank = add(["crank"; 2], GROUND, turn, [0.0; 3], size, [0.0765, -0.006], 0.038, 7.5e-5)?;
    let (at, size) = ([0.153, 0.0, 0.0], [0.306, 0.012, 0.008]);
    let rod = add(["rod"; 2], crank, turn, at, size, [0.153, 0.006], 0.038, 5.9e-4)?;
    let (slide, size) = (Joint::Planar(Axis::X, Axis::Y), [0.1, 0.05, 0.04]);
    let names = ["slider", "slide"];
    let slider = add(names, GROUND, slide, [0.0; 3], size, [0.0, -0.035], 0.076, 2.7e-6)?;

    m.start_velocity(m.coordinate(crank, 0), 150.0);
    m.start_velocity(m.coordinate(rod, 0), -225.0); // relative to the crank: −75 rad/s in the world
    m.guess(m.coordinate(slider, 0), 0.459);
    let pin = |link, at| Marker::at(link, at).along(Axis::Z);
    m.close_loop("gudgeon_pin", Cut::Pin, pin(rod, [0.306, 0.0, 0.0]), pin(slider, [0.0; 3]));
    // Model (c) of the paper: the height of the slider is independent.
    m.dependent(&[m.coordinate(slider, 0), m.coordinate(crank, 0)]);
    Ok((m, slider))
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let steel = Material::new("steel");
    let mut scene = Scene::builder();
    scene.gravity([0.0, -10.0, 0.0]);
    let rail = BodyDescription::new(Shape::cuboid([0.44, 0.008, 0.04])?, &steel).fixed();
    let rails = [("upper_rail", 0.03), ("lower_rail", -0.03)]
        .map(|(name, y)| scene.add(rail.clone().named(name).at([0.306, y, -0.035]), &steel));
    let (engine, slider) = engine()?;
    let slider = On::Link(scene.add_mechanism(engine), slider);
    // The guide: planes 1 mm above and below the corners of the slider.
    let law = ContactLaw::for_restitution(0.4);
    let law = PairLaw { restitution: 0.4, law, ..PairLaw::SMOOTH };
    for (side, y) in [("upper", 1.0), ("lower", -1.0)] {
        for (end, x) in [("left", -0.05), ("right", 0.05)] {
            scene.add_point_contact(PointContact {
                name: format!("{side}_{end}"),
                point: (slider, Vec3::new(x, 0.025 * y, 0.0)),
                plane: (On::World, Vec3::new(0.0, 0.026 * y, 0.0)),
                normal: Vec3::new(0.0, -y, 0.0),
                law,
            });
        }
    }
    for rail in rails {
        scene.ignore_contact(On::Body(rail), slider);
    }
    // One mechanism and four corners: the contact problem is small, so it is solved to round-off.
    let solver =
        Coloured::from(GaussSeidelOptions { tolerance: 1e-12, ..GaussSeidelOptions::default() });
    Ok(Simulation::new(scene.build()?, MoreauJean::new(1e-5).solver(solver))?)
}

/// Prints the crank angle and the position of the slider.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    for k in 0..=13 {
        run.until(0.01 * f64::from(k), &mut ())?;
        let q = &run.state().mechanisms[0].q;
        print!("{:6.1} ms  crank {:7.3} rad, ", 1e3 * run.time(), q[0]);
        println!("slider at ({:.4}, {:+.5}) m", q[2], q[3]);
    }
    run.until(UNTIL, &mut ())?;
    println!("{}", run.report());
    Ok(())
}
