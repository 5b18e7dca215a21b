//! Unique contact forces of resting states (Schwager and Pöschel 2002, Sec. 8) compared with closed forms, with an independent
//! elastic solution and with soft contact; how far the forces of a solver are from them.

mod discs;
mod elastic;

use riprap::friction::{ContactStatus, Factored, InverseMass, Law, RestForces, RestProblem};
use riprap::prelude::*;
use riprap::simulation::{ForceNetwork, NetworkContact, Resultant};

use crate::{Checks, Effort, scenes};

/// All checks.
pub(super) fn rest_forces(effort: Effort) -> Checks {
    let mut checks = Checks::new("rest-forces");
    sphere_and_cube(&mut checks);
    slope(&mut checks);
    beam(&mut checks);
    discs::pyramid(&mut checks);
    discs::order(&mut checks);
    discs::rigid_limit(&mut checks);
    pile(&mut checks, effort);
    checks
}

/// The network of a run after another step, which must not fail.
fn network(run: &mut Simulation, resultant: Resultant) -> ForceNetwork {
    network_of(run, &RestForces::new(), resultant)
}

/// The same with given options.
fn network_of(run: &mut Simulation, rest: &RestForces, resultant: Resultant) -> ForceNetwork {
    run.step().expect("bodies at rest cannot fail");
    ForceNetwork::of(&run.frame(), rest, resultant).expect("a valid problem")
}

/// A run of a scene until its impulses have settled.
fn settled(scene: &SceneBuilder) -> Simulation {
    let mut run = scenes::start(scene, 1e-3, 0.5, 1e-12);
    run.until(0.01, &mut ()).expect("bodies at rest cannot fail");
    run
}

fn sphere_and_cube(checks: &mut Checks) {
    let g = 9.81;
    let m = scenes::rock(0.5, 0.0);
    let mut scene = Scene::builder();
    scenes::add_ground(&mut scene, &m, 0.0);
    let shape = Shape::sphere(0.2).expect("positive");
    let ball = scene.add(BodyDescription::new(shape, &m).at([0.0, 0.0, 0.2]), &m);
    let mut run = settled(&scene);
    let found = network(&mut run, Resultant::Rest);
    let weight = g * run.scene().bodies().mass[run.scene().slot(ball)];
    let force = found.contacts.iter().map(|c| c.force.z).sum::<f64>();
    // Round-off and the tolerance 1e-10 of the balance.
    checks.close("sphere: F/(m g)", force / weight, 1.0, 1e-9, "1");

    let (scene, boxes) = scenes::tower(1);
    let mut run = settled(&scene);
    let found = network(&mut run, Resultant::Rest);
    let weight = g * run.scene().bodies().mass[run.scene().slot(boxes[0])];
    checks.close("cube: contacts", found.contacts.len() as f64, 4.0, 0.0, "1");
    let worst = found.contacts.iter().map(|c| (c.normal_force() / weight - 0.25).abs());
    // The corners are where the solver left them, within its tolerance.
    checks.at_most("cube: largest |F/(m g) − 1/4|", worst.fold(0.0, f64::max), 1e-8, "1");
}

/// A brick of 0.2 × 0.1 × 0.05 m that sticks and one that slides.
fn slope(checks: &mut Checks) {
    for (angle, friction) in [(0.3_f64, 0.5), (0.6, 0.5)] {
        let slides = angle.tan() > friction;
        let (scene, brick) = scenes::block_on_slope(angle, friction, 0.0);
        let mut run = settled(&scene);
        let found = network(&mut run, Resultant::Balance);
        let weight = 9.81 * run.scene().bodies().mass[run.scene().slot(brick)];
        let (s, c) = angle.sin_cos();
        let [along, up] = [Vec3::new(c, 0.0, -s), Vec3::new(s, 0.0, c)];
        let drag = if slides { friction * c } else { s };
        let name =
            |what: &str| format!("brick that {}: {what}", if slides { "slides" } else { "sticks" });
        let sum: Vec3 = found.contacts.iter().map(|c| c.force).sum();
        // Newton's second law holds to the tolerance of the solver.
        checks.close(&name("friction over weight"), -sum.dot(&along) / weight, drag, 1e-8, "1");
        checks.close(&name("normal force over weight"), sum.dot(&up) / weight, c, 1e-8, "1");
        let centre = run.pose(brick).position;
        let share = |contact: &NetworkContact| {
            // Friction acts 0.025 m below the centre, the normal forces 0.1 m before and behind it.
            let side = (contact.point - centre).dot(&along).signum();
            let expected = 0.25 * (c + side * drag * 0.025 / 0.1);
            (contact.normal_force() / weight - expected).abs()
        };
        let worst = found.contacts.iter().map(share).fold(0.0, f64::max);
        // The brick that slides has moved by micrometres since its contacts were found.
        checks.at_most(&name("largest error of a corner over weight"), worst, 1e-4, "1");
        let wanted = if slides { ContactStatus::Sliding } else { ContactStatus::Sticking };
        let like = found.contacts.iter().filter(|c| c.status == wanted).count();
        checks.close(&name("contacts that do"), like as f64, 4.0, 0.0, "1");
    }
    // Held at rest by force, the block that slides cannot be balanced: its weight is outside the cone by φ − arctan μ.
    let (scene, _) = scenes::block_on_slope(0.6, 0.5, 0.0);
    let found = network(&mut settled(&scene), Resultant::Rest);
    let missing = (0.6 - 0.5_f64.atan()).sin();
    checks.at_least(
        "brick that slides: balance at rest",
        found.report.residual,
        0.99 * missing,
        "1",
    );
}

/// A beam on three supports: `f = k (a + b x)`.
fn beam(checks: &mut Checks) {
    let cases = [
        ("equal springs, centred", [-1.0, 0.0, 1.0], [1.0; 3], 0.0),
        ("equal springs, load off centre", [-1.0, 0.0, 1.0], [1.0; 3], 0.4),
        ("unequal springs, load off centre", [-1.0, 0.2, 1.5], [1.0, 3.0, 0.5], 0.3),
        // The left support opens: two springs and a lever.
        ("load beyond the last support", [-1.0, 0.0, 1.0], [1.0; 3], 0.9),
    ];
    for (name, supports, stiffness, centre) in cases {
        let weight = 30.0;
        let mut contacts = Factored::default();
        let mass = InverseMass { linear: [0.3; 3], angular: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0] };
        contacts.reset(std::iter::once(mass));
        let frame = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        for x in supports {
            contacts.push([Factored::NONE, 0], frame, [[0.0; 3], [x - centre, 0.0, -0.1]]);
        }
        let laws = [Law::Coulomb { friction: 0.5 }; 3];
        let required = [[0.0, 0.0, weight, 0.0, 0.0, 0.0]];
        let problem =
            RestProblem { stiffness: &stiffness, ..RestProblem::new(&contacts, &laws, &required) };
        let found = RestForces::new().solve(&problem, &mut Vec::new()).expect("a valid problem");
        let closed = |k: usize| centre < 0.7 || k > 0;
        let sum = |power: i32| -> f64 {
            let all = (0..3).filter(|k| closed(*k));
            all.map(|k| stiffness[k] * supports[k].powi(power)).sum()
        };
        let (s0, s1, s2) = (sum(0), sum(1), sum(2));
        let a = weight * (s2 - centre * s1) / (s0 * s2 - s1 * s1);
        let b = weight * (centre * s0 - s1) / (s0 * s2 - s1 * s1);
        let error = (0..3).map(|k| {
            let expected = if closed(k) { stiffness[k] * (a + b * supports[k]) } else { 0.0 };
            (found.forces[k][0] - expected).abs() / weight
        });
        let error = error.fold(0.0, f64::max);
        // The tolerance of the balance, 1e-10.
        checks.at_most(&format!("beam, {name}: error over weight"), error, 1e-9, "1");
    }
}

/// Stones at rest after Moreau–Jean.
fn pile(checks: &mut Checks, effort: Effort) {
    let found = stones(200);
    // The tolerance of the balance is 1e-10.
    checks.at_most("200 stones: worst balance over weight", found.report.residual, 1e-8, "1");
    checks.information(|checks| tell(checks, 200, &found));
    if effort == Effort::Full {
        checks.information(|checks| tell(checks, 300, &stones(300)));
    }
}

/// The forces in a pile of `n` stones.
fn stones(n: usize) -> ForceNetwork {
    let (scene, _) = scenes::bulk::pile(n);
    let mut run = scenes::start(&scene, 1e-3, 0.5, 1e-4);
    run.drag(20.0).until(0.4, &mut ()).expect("stones cannot fail");
    let state = run.state().clone();
    let mut run = scenes::start(&scene, 1e-3, 0.5, 1e-7);
    run.set_state(state).expect("the same scene");
    run.drag(20.0).until(0.42, &mut ()).expect("stones cannot fail");
    network(run.drag(0.0), Resultant::Balance)
}

/// What is known about a pile, without judgement.
fn tell(checks: &mut Checks, n: usize, found: &ForceNetwork) {
    let (relative, largest) = found.distance();
    let forces = found.normal_forces();
    let mean = forces.iter().sum::<f64>() / forces.len().max(1) as f64;
    let moving = found.moving.iter().filter(|moves| **moves).count();
    let stuck = found.report.unbalanced.iter().filter(|(_, error)| *error > 1e-3).count();
    for (quantity, value) in [
        ("stones in motion", moving as f64),
        ("stones without equilibrium (balance above 1e-3)", stuck as f64),
        ("contacts", found.contacts.len() as f64),
        ("contacts that slide", found.report.sliding as f64),
        ("worst balance of the solver's forces", found.solver_residual),
        ("distance of the solver's forces, relative", relative),
        ("largest difference over the mean normal force", largest / mean),
        ("iterations", found.report.iterations as f64),
    ] {
        checks.at_most(&format!("{n} stones: {quantity}"), value, f64::INFINITY, "1");
    }
}
