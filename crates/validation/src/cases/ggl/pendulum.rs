//! Sec. 10.2: the bouncing pendulum, with a pivot and an obstacle.

use super::{EXACT, errors, newton, planar, record};
use crate::check::observed_order;
use crate::nonsmooth::{Method, PENDULUM, Planar, Record, reference};
use crate::{Checks, Effort};

/// Closed at this time by the stored reference [s].
const ACCUMULATION: f64 = 5.05398;

pub(in crate::cases) fn pendulum(effort: Effort) -> Checks {
    let mut checks = Checks::new("ggl-pendulum");
    let body = planar(PENDULUM);
    for h in [1e-3, 1e-4] {
        let at = format!("h = {h:e} s");
        let ggl = record(PENDULUM, Method::GGL, h, 6.0);
        checks.at_least(&format!("smallest gap, {at}"), ggl.smallest_gap(), -EXACT, "m");
        let [position, velocity] = ggl.pivot_residual();
        checks.at_most(&format!("pivot at position level, {at}"), position, EXACT, "m");
        checks.at_most(&format!("pivot at velocity level, {at}"), velocity, EXACT, "m/s");
        let rest = ggl.last_motion(1e-9);
        // Each of the impacts is resolved to a step, and bounces shorter than a step are left out.
        checks.close(&format!("accumulation time, {at}"), rest, ACCUMULATION, 100.0 * h, "s");
        let contact = ggl.contacts[0].multipliers.last().map_or(0.0, |m| m.impulse / h);
        checks.close(&format!("contact force at rest Λ₃/h, {at}"), contact, 10.0, 1e-8, "N");
        let pivot = ggl.pivot.multipliers.last().map_or(0.0, |m| m[0].lambda + m[0].impulse / h);
        checks.close(&format!("pivot at rest λ̃₁ + Λ₁/h, {at}"), pivot, -10.0, 1e-8, "N");
        let error = errors(&body, &ggl, 2, 6.0)[0];
        // The impacts are up to 60 steps early at a speed of 3 rad/s, which grows less as they become slower.
        checks.at_most(&format!("largest error of the angle, {at}"), error, 30.0 * h, "rad");
        let moreau = record(PENDULUM, Method::MOREAU, h, 6.0);
        let drift = moreau.pivot_residual()[0];
        checks.at_least(&format!("Moreau–Jean: drift of the pivot, {at}"), drift, 0.1 * h, "m");
        let gap = moreau.smallest_gap();
        checks.at_most(&format!("Moreau–Jean: smallest gap, {at}"), gap, -0.1 * h, "m");
        checks.information(|c| {
            let theirs = errors(&body, &moreau, 2, 6.0)[0];
            let quantity = format!("Moreau–Jean: largest error of the angle, {at}");
            c.at_most(&quantity, theirs, error, "rad");
            let rise = ggl.largest_rise();
            c.at_most(&format!("largest increase of the energy in a step, {at}"), rise, 0.0, "J");
        });
        newton(&mut checks, &ggl);
    }
    transient(&mut checks);
    orders(&mut checks, &body, effort);
    checks
}

/// Alternating part of λ̃₁ between 10 and 20 steps after the first impact [N].
fn oscillation(record: &Record) -> f64 {
    let hits = |k: &usize| record.contacts[0].multipliers[*k].impulse > 0.0;
    let impact = (1..record.t.len()).find(hits).expect("it strikes the obstacle");
    let lambda = |k: usize| record.pivot.multipliers[k][0].lambda;
    let second = |k: usize| 0.25 * (lambda(k + 1) - 2.0 * lambda(k) + lambda(k - 1)).abs();
    (impact + 10..impact + 20).map(second).fold(0.0, f64::max)
}

/// After an impact λ̃ oscillates with factors of −ρ∞ from step to step.
fn transient(checks: &mut Checks) {
    let [slow, middle, fast, none] =
        [0.8, 0.5, 0.2, 0.0].map(|rho| oscillation(&record(PENDULUM, Method::Ggl(rho), 1e-3, 0.6)));
    let quantity = |rho: f64| format!("oscillation of λ̃₁ ten steps after an impact, ρ∞ = {rho}");
    checks.at_least(&quantity(0.8), slow, 1e-2, "N");
    checks.at_most(&quantity(0.5), middle, 0.1 * slow, "N");
    checks.at_most(&quantity(0.2), fast, 0.1 * middle, "N");
    // What is left is the curvature of the motion itself, λ̈ h²/4, 1.4e-4 N.
    checks.at_most(&quantity(0.0), none, 2e-4, "N");
}

/// Order 2 before the first impact at 0.486 s, order 1 across all impacts.
fn orders(checks: &mut Checks, body: &Planar, effort: Effort) {
    let smooth: &[f64] = &[4e-3, 2e-3, 1e-3, 5e-4];
    let whole: &[f64] = match effort {
        Effort::Full => &[4e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5],
        Effort::Small => &[4e-3, 2e-3, 1e-3, 5e-4, 2e-4],
    };
    // Across impacts the errors scatter, because the error of an impact depends on its place within its step.
    for (steps, until, order, tolerance, what) in
        [(smooth, 0.48, 2.0, 0.1, "before the first impact"), (whole, 6.0, 1.0, 0.25, "to 6 s")]
    {
        let runs = steps.iter().map(|&h| record(PENDULUM, Method::GGL, h, until));
        let errors: Vec<f64> = runs.map(|r| errors(body, &r, 2, until)[1]).collect();
        let observed = observed_order(steps, &errors);
        checks.close(&format!("observed order {what}"), observed, order, tolerance, "1");
    }
    let stored = reference::pendulum();
    let row = stored[125];
    let ggl = record(PENDULUM, Method::GGL, 1e-3, 0.5);
    let k = (row[0] / 1e-3).round() as usize;
    // After the first impact at 2.9 m/s, resolved to one step.
    checks.close("angle after the first impact", ggl.q[k].z, row[1], 5e-3, "rad");
}
