//! Two pendulums of ten balls each.

use crate::chains::{CHAINS, Method, Record};
use crate::check::observed_order;
use crate::{Checks, Effort};

/// The reference: time [s], balls and impulse [N s] of the first step of each contact.
const CONTACTS: &str = include_str!("../../../data/chains/contacts.csv");
/// The reference: times [s], energies [J], onsets and the position of ball 10 [m].
const ENERGY: &str = include_str!("../../../data/chains/energy.csv");

/// Rows of numbers after a heading.
fn numbers(text: &str) -> Vec<Vec<f64>> {
    let row = |line: &str| line.split(',').map(|x| x.parse().unwrap_or(f64::NAN)).collect();
    text.lines().skip(1).map(row).collect()
}

pub(in crate::cases) fn pendulums(effort: Effort) -> Checks {
    let mut checks = Checks::new("ccp-pendulums");
    let until = match effort {
        Effort::Full => 8.0,
        Effort::Small => 1.0,
    };
    let h = 1e-3;
    let run = Record::of(&CHAINS, Method::Cone.scheme(h), until);
    checks.at_most("steps whose solve did not converge", run.unconverged as f64, 0.0, "1");
    checks.at_most("deepest overlap", run.overlap, 1e-12, "m");
    // Twice the 8e-6 m of the reference.
    checks.at_most("largest stretch of a rope", run.stretch, 1.6e-5, "m");
    checks.close("first contact", run.first_contact(), 0.679, 0.5 * h, "s");
    compare(&mut checks, &run, until);
    if effort == Effort::Full {
        let hanging = CHAINS.hanging_energy();
        checks.close("final energy", run.final_energy(), -269.75, 0.005, "J");
        checks.at_least("final energy above that of rest", run.final_energy() - hanging, 0.0, "J");
        checks.close("onsets of contacts", run.count.onsets as f64, 25.0, 0.0, "1");
        checks.close("steps with contacts", run.count.contact_steps as f64, 44.0, 0.0, "1");
    }
    orders(&mut checks, &run, effort, until);
    checks
}

/// The run against the reference.
fn compare(checks: &mut Checks, run: &Record, until: f64) {
    let h = run.dt;
    let (mut energy, mut place) = (0.0_f64, 0.0_f64);
    for row in numbers(ENERGY).iter().filter(|row| row[0] <= until + 0.5 * h) {
        let k = (row[0] / h).round() as usize;
        energy = energy.max((run.kinetic[k] + run.potential[k] - row[3]).abs());
        let [x, y] = run.q[k][9];
        place = place.max((x - row[5]).hypot(y - row[6]));
    }
    // The reference is printed with eight digits and solved to 1e-10; the motion is not chaotic.
    checks.at_most("energy: largest difference from the reference", energy, 1e-5, "J");
    checks.at_most("ball 10: largest distance from the reference", place, 1e-6, "m");
    let expected = numbers(CONTACTS);
    let expected: Vec<&Vec<f64>> = expected.iter().filter(|row| row[0] <= until).collect();
    let found = expected.iter().filter(|row| {
        let balls = [row[1] as usize, row[2] as usize];
        run.onsets_of(balls).iter().any(|t| (t - row[0]).abs() < 0.5 * h)
    });
    let (found, all) = (found.count() as f64, expected.len() as f64);
    checks.close("contacts of the reference found in the same step", found, all, 0.0, "1");
    let impulse = |balls: [usize; 2], t: f64| {
        let mut near = run.touches.iter().filter(|x| x.balls == balls && (x.t - t).abs() < 0.5 * h);
        near.next().map_or(f64::NAN, |x| x.impulse)
    };
    let off = expected.iter().map(|row| {
        let balls = [row[1] as usize, row[2] as usize];
        (impulse(balls, row[0]) - row[3]).abs()
    });
    let off = off.fold(0.0, f64::max);
    checks.at_most("impulses at the onsets: largest difference", off, 1e-6, "N s");
}

/// How stretch, energy and positions change with the step.
fn orders(checks: &mut Checks, run: &Record, effort: Effort, until: f64) {
    let steps: &[f64] = match effort {
        Effort::Full => &[1e-3, 5e-4, 2.5e-4],
        Effort::Small => &[1e-3, 5e-4],
    };
    let runs: Vec<Record> =
        steps[1..].iter().map(|&h| Record::of(&CHAINS, Method::Cone.scheme(h), until)).collect();
    let all: Vec<&Record> = std::iter::once(run).chain(&runs).collect();
    let per_h2 = |of: fn(&Record) -> f64| {
        let scaled = all.iter().map(|r| of(r) / (r.dt * r.dt));
        scaled.fold(0.0, f64::max)
    };
    checks.at_most("largest stretch over h²", per_h2(|r| r.stretch), 16.0, "m/s²");
    let stretch: Vec<f64> = all.iter().map(|r| r.stretch).collect();
    let order = observed_order(steps, &stretch);
    checks.at_least("observed order of the largest stretch", order, 1.8, "1");
    // Ropes that tighten or snap taut do work; 394 J/s² in the reference.
    checks.at_most(
        "largest rise of the energy in a step over h²",
        per_h2(Record::largest_rise),
        600.0,
        "J/s²",
    );
    checks.at_most(
        "deepest overlap of all runs",
        all.iter().fold(0.0, |m: f64, r| m.max(r.overlap)),
        1e-12,
        "m",
    );
}
