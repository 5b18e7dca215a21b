//! Sec. 10.3: an elastic bar strikes a wall. Closed form by d'Alembert (Doyen, Ern and Piperno 2011), scene, and recorded runs.

use riprap::flexible::{Bar, Elastic};
use riprap::prelude::*;
use riprap::scene::SchemeState;

use super::record::{ContactSeries, Method, Multipliers, Record};

/// Young's modulus [Pa], density [kg/m³] and length [m]; the area is 1 m².
const MATERIAL: [f64; 3] = [900.0, 1.0, 10.0];
/// Initial distance from the wall [m] and speed towards it [m/s].
const START: [f64; 2] = [5.005, 10.0];

/// Speed of waves [m/s].
fn wave_speed() -> f64 {
    (MATERIAL[0] / MATERIAL[1]).sqrt()
}

/// Begin and end of the contact [s]: until the wave has travelled to the free end and back.
pub fn contact_times() -> [f64; 2] {
    let begin = START[0] / START[1];
    [begin, begin + 2.0 * MATERIAL[2] / wave_speed()]
}

/// Force during the contact [N].
pub fn contact_force() -> f64 {
    MATERIAL[1] * wave_speed() * START[1]
}

/// Energy, which is constant [J].
pub fn energy() -> f64 {
    0.5 * MATERIAL[1] * MATERIAL[2] * START[1] * START[1]
}

/// Gap [m] and its rate [m/s] at time `t` [s].
pub fn gap(t: f64) -> [f64; 2] {
    let [begin, end] = contact_times();
    let v = START[1];
    if t < begin {
        [START[0] - v * t, -v]
    } else if t < end {
        [0.0, 0.0]
    } else {
        [v * (t - end), v]
    }
}

/// The scene: the bar along x in front of a wall at x = 0, with restitution 0 at its first node.
pub fn scene(elements: usize, lumped: bool) -> Scene {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let [young, density, length] = MATERIAL;
    let bar = Bar::new("bar")
        .points(&[[START[0], 0.0, 0.0], [START[0] + length, 0.0, 0.0]])
        .area(1.0)
        .material(Elastic::new(young, 0.0, density))
        .elements(elements)
        .velocity(-START[1]);
    let bar = scene.add_flexible(if lumped { bar.lumped() } else { bar });
    let law = PairLaw { law: ContactLaw::MoreauNewton, ..PairLaw::SMOOTH };
    scene.add_point_contact(PointContact {
        name: "wall".into(),
        point: (On::Node(bar, 0), Vec3::zeros()),
        plane: (On::World, Vec3::zeros()),
        normal: Vec3::x(),
        law,
    });
    scene.build().expect("the bar is sound")
}

/// Runs the bar with a time step until a time [s].
pub fn run(elements: usize, method: Method, dt: f64, until: f64) -> Result<Record, String> {
    let scene = scene(elements, false);
    let mut run = Simulation::new(scene, method.scheme(dt)).map_err(|e| e.to_string())?;
    let mut record = Record { dt, ..Record::default() };
    record.contacts.push(ContactSeries::default());
    let begin = std::time::Instant::now();
    push(&mut record, &run);
    for _ in 0..(until / dt).round() as u64 {
        let step = run.step().map_err(|e| e.to_string())?;
        record.count(&step);
        push(&mut record, &run);
    }
    record.wall = begin.elapsed().as_secs_f64();
    Ok(record)
}

fn push(record: &mut Record, run: &Simulation) {
    let frame = run.frame();
    let balance = frame.balance();
    let body = &frame.state.flexible[0];
    record.t.push(run.time());
    record.energy.push(balance.kinetic + balance.potential);
    let mut multipliers = Multipliers::default();
    if let SchemeState::GeneralizedAlpha(alpha) = &frame.state.scheme {
        if let Some(c) = alpha.contacts.first() {
            (multipliers.impulse, multipliers.nu) = (c.impulse[0], c.nu);
        }
    } else if let Some(r) = frame.work.impulses().first() {
        multipliers.impulse = r[0];
    }
    let contact = &mut record.contacts[0];
    contact.gap.push(body.q[0].position.x);
    contact.rate.push(body.v[0]);
    contact.multipliers.push(multipliers);
}

/// Duration of the contact [s]: the steps with an impulse.
pub fn duration(record: &Record) -> f64 {
    let closed = record.contacts[0].multipliers.iter().filter(|m| m.impulse > 0.0);
    closed.count() as f64 * record.dt
}

/// Sum of the impulses [N s].
pub fn impulse(record: &Record) -> f64 {
    record.contacts[0].multipliers.iter().map(|m| m.impulse).sum()
}

/// Mean force between 10 % and 90 % of the contact [N].
pub fn plateau(record: &Record) -> f64 {
    let [begin, end] = contact_times();
    let inner = [begin + 0.1 * (end - begin), end - 0.1 * (end - begin)];
    let times = record.t.iter().zip(&record.contacts[0].multipliers);
    let inside = times.filter(|(t, _)| (inner[0]..inner[1]).contains(*t));
    let (n, sum) = inside.fold((0.0, 0.0), |(n, s), (_, m)| (n + 1.0, s + m.impulse / record.dt));
    sum / n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_has_the_numbers_of_the_paper() {
        let [begin, end] = contact_times();
        assert!((begin - 0.5005).abs() < 1e-12 && (end - begin - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!((contact_force(), energy()), (300.0, 500.0));
        assert_eq!(gap(0.0), [5.005, -10.0]);
        assert_eq!(gap(1.0), [0.0, 0.0]);
        // The momentum changes from −100 to 100 N s.
        assert!((contact_force() * (end - begin) - 200.0).abs() < 1e-9);
    }

    #[test]
    fn a_coarse_bar_bounces_with_nearly_its_energy() {
        let record = run(40, Method::GGL, 1e-2, 1.5).unwrap();
        assert!(record.smallest_gap() >= -1e-12);
        // 40 elements, and ten steps per passage of the wave along them: a few percent.
        assert!((duration(&record) - 2.0 / 3.0).abs() < 0.05, "{}", duration(&record));
        assert!((plateau(&record) / 300.0 - 1.0).abs() < 0.05, "{}", plateau(&record));
    }
}
