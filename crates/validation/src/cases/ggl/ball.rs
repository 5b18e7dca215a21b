//! Sec. 10.1: the bouncing ball.

use super::{EXACT, newton, planar, record};
use crate::check::observed_order;
use crate::nonsmooth::{BALL, Method, Planar, Record, ball_accumulation, ball_gap, ball_impacts};
use crate::{Checks, Effort};

/// Mean error of the gap against the closed form over 4 s [m].
fn mean_error(ball: &Planar, record: &Record) -> f64 {
    let pairs = record.t.iter().zip(&record.contacts[0].gap);
    let errors = pairs.map(|(t, gap)| (gap - ball_gap(ball, *t)).abs());
    errors.sum::<f64>() / record.t.len() as f64
}

pub(in crate::cases) fn bouncing_ball(effort: Effort) -> Checks {
    let mut checks = Checks::new("ggl-bouncing-ball");
    let ball = planar(BALL);
    let (h, weight) = (2e-3, -ball.force.y);
    let accumulation = ball_accumulation(&ball);
    let ggl = record(BALL, Method::GGL, h, 5.0);
    checks.at_least("smallest gap", ggl.smallest_gap(), -EXACT, "m");
    // Property 3; the energies are 10 J, their round-off is 2e-15 J.
    checks.at_most("largest increase of the energy in a step", ggl.largest_rise(), 1e-13, "J");
    let change = |k: usize| (ggl.energy[k] - ggl.energy[k - 1]).abs();
    let flying = |k: &usize| ggl.contacts[0].multipliers[*k].impulse == 0.0;
    let flights = (1..ggl.t.len()).filter(flying).map(change).fold(0.0, f64::max);
    // The motion is a parabola, which the scheme integrates exactly.
    checks.at_most("largest change of the energy in a step of flight", flights, 1e-13, "J");
    let rest = ggl.last_motion(1e-9);
    // The bounces become shorter than a step, and from then on the speed decays by e in every step.
    checks.close("at rest (1e-9 m/s) from the accumulation on", rest, accumulation, 20.0 * h, "s");
    let last = ggl.contacts[0].multipliers.last().copied().unwrap_or_default();
    let at_rest = weight * h;
    checks.close("Λ at rest", last.impulse, at_rest, 1e-12 * at_rest, "N s");
    // ν undoes the free fall of a step: m g h²/2.
    checks.close("ν at rest", last.nu, 0.5 * at_rest * h, 1e-12 * at_rest * h, "N s²");
    newton(&mut checks, &ggl);
    alternatives(&mut checks, &ball, &ggl);

    let steps: &[f64] = match effort {
        Effort::Full => &[8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5],
        Effort::Small => &[8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4],
    };
    let runs: Vec<Record> = steps.iter().map(|&h| record(BALL, Method::GGL, h, 4.0)).collect();
    let mean: Vec<f64> = runs.iter().map(|r| mean_error(&ball, r)).collect();
    let order = observed_order(steps, &mean);
    // The error of an impact depends on its place within its step, so the errors scatter about the line.
    checks.close("observed order of the mean error across impacts", order, 1.0, 0.15, "1");
    // An impact loses up to the height of the last step, g h of its speed or 8 h of the remaining time; 4 h on average. The number of
    // impacts grows with ln(1/h).
    let weight = -ball.force.y / ball.mass[0];
    let early: Vec<f64> = runs
        .iter()
        .map(|r| (accumulation - r.last_motion(weight * r.dt)).abs() / ball_impacts(&ball, r.dt))
        .collect();
    let per_step = early.iter().zip(steps).map(|(t, h)| t / h).fold(0.0, f64::max);
    checks.at_most("accumulation: time lost per impact over h", per_step, 5.0, "1");
    let order = observed_order(steps, &early);
    checks.close("accumulation: observed order of this time", order, 1.0, 0.2, "1");
    checks
}

/// The schemes that the paper compares with.
fn alternatives(checks: &mut Checks, ball: &Planar, ggl: &Record) {
    let h = ggl.dt;
    let smooth = record(BALL, Method::SMOOTH, h, 5.0);
    let most = smooth.energy.iter().fold(f64::NEG_INFINITY, |m, e| m.max(*e));
    let gained = (most - smooth.energy[0]) / smooth.energy[0];
    checks.at_least("smooth-α: largest energy above the initial one", gained, 0.01, "1");

    // Steps at rest in which the contact carries no impulse.
    let open = |record: &Record| {
        let late = (0..record.t.len()).filter(|k| record.t[*k] > ball_accumulation(ball) + 0.1);
        let (mut all, mut open) = (0.0, 0.0);
        for k in late {
            all += 1.0;
            open += f64::from(u8::from(record.contacts[0].multipliers[k].impulse == 0.0));
        }
        open / all
    };
    let modified = record(BALL, Method::MODIFIED, h, 5.0);
    checks.at_least("modified LCP: fraction of open steps at rest", open(&modified), 0.1, "1");
    checks.at_most("fraction of open steps at rest", open(ggl), 0.0, "1");
    let moreau = record(BALL, Method::MOREAU, h, 5.0);
    checks.at_most("Moreau–Jean: smallest gap", moreau.smallest_gap(), -1e-4, "m");
    checks.information(|c| {
        let (ours, theirs) = (mean_error(ball, ggl), mean_error(ball, &moreau));
        c.at_most("mean error of the gap (reference: Moreau–Jean)", ours, theirs, "m");
    });
}
