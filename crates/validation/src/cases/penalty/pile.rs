//! A pile of spheres with soft and with hard contact: packing fraction, coordination number, cost.
//!
//! Both start from the same positions with the same friction and restitution. The criterion is fixed beforehand: the means of both
//! over all seeds differ by no more than the standard deviation of single piles, pooled over both. The packing fraction meets it at the
//! stiffness `k`. The coordination number does not, because compression closes gaps: it is judged in the limit of rigid contact.

mod settle;

use crate::{Checks, Effort};
use rayon::prelude::*;
use riprap::prelude::*;
use settle::{Pile, REST, Settled, settle};
use std::time::Instant;

/// Steps of hard contact [s].
const HARD_DT: f64 = 5e-4;
/// Restitution of both: above the smallest one of soft contact, 0.135.
const RESTITUTION: f64 = 0.3;

/// A quantity by its name and its value in a pile.
type Quantity = (&'static str, fn(&Settled) -> f64);

const PACKING: Quantity = ("packing fraction of the bulk", |s| s.packing);
const COORDINATION: Quantity = ("coordination number of the bulk", |s| s.coordination);
const CARRYING: Quantity = ("coordination number without spheres that carry none", |s| s.carrying);

/// 500 spheres in the full version.
pub(super) fn pile(checks: &mut Checks, effort: Effort) {
    let restitution = RESTITUTION;
    let (pile, seeds, soft_dt) = match effort {
        Effort::Full => {
            let (counts, until) = ([5, 5, 20], [0.5, 1.6]);
            (Pile { counts, n: 500, width: 0.16, height: 0.12, restitution, until }, 6, 2e-5)
        }
        Effort::Small => {
            let (counts, until) = ([3, 3, 9], [0.5, 1.6]);
            (Pile { counts, n: 80, width: 0.1, height: 0.06, restitution, until }, 3, 5e-5)
        }
    };
    let all = |scheme: &(dyn Fn(u64) -> Settled + Sync)| -> Vec<Settled> {
        (0..seeds).into_par_iter().map(scheme).collect()
    };
    let hard = all(&|seed| settle(&pile, seed, MoreauJean::new(HARD_DT)));
    // With the default stiffness a step twice as long is a stiffness four times smaller.
    let soft = [("k/16", 4.0), ("k/4", 2.0), ("k", 1.0)].map(|(name, longer)| {
        let dt = longer * soft_dt;
        (name, all(&|seed| settle(&pile, seed, Penalty::new(dt))))
    });
    let what = format!("{} spheres, {seeds} seeds", pile.n);
    checks.information(|checks| state(checks, &what, &hard, &soft));
    let stiff = &soft[2].1;
    compare(checks, PACKING, &what, stiff, &hard);
    checks.information(|checks| compare(checks, COORDINATION, &what, stiff, &hard));
    rigid_limit(checks, &what, &soft, &hard);
    at_rest(checks, &what, &hard, stiff);
    checks.information(|checks| cost(checks, &pile, soft_dt));
}

/// Mean of a quantity, standard deviation of single piles, and standard error of the mean.
fn spread(all: &[Settled], of: fn(&Settled) -> f64) -> [f64; 3] {
    let n = all.len() as f64;
    let mean = all.iter().map(of).sum::<f64>() / n;
    let square: f64 = all.iter().map(|s| (of(s) - mean).powi(2)).sum();
    let deviation = (square / (n - 1.0)).sqrt();
    [mean, deviation, deviation / n.sqrt()]
}

/// All means with the standard deviations of single piles.
fn state(checks: &mut Checks, what: &str, hard: &[Settled], soft: &[(&str, Vec<Settled>)]) {
    let samples = soft.iter().map(|(k, all)| (format!("soft contact with {k}"), &all[..]));
    for (contact, all) in samples.chain([("hard contact".to_owned(), hard)]) {
        for (quantity, of) in [PACKING, COORDINATION, CARRYING] {
            let [mean, deviation, _] = spread(all, of);
            let row = format!("{quantity}, {contact}, ± standard deviation, {what}");
            checks.close(&row, mean, mean, deviation, "1");
        }
        let [overlap, ..] = spread(all, |s| s.overlap);
        checks.at_most(&format!("mean overlap over diameter, {contact}"), overlap, 1e-2, "1");
        let [idle, ..] = spread(all, |s| s.idle);
        checks.at_most(&format!("fraction of spheres that carry none, {contact}"), idle, 0.1, "1");
        let [now, ..] = spread(all, |s| s.at_once);
        checks.at_least(&format!("contacts of one step over all, {contact}"), now, 0.9, "1");
    }
}

/// The criterion, and what is left of the difference in units of its standard error.
fn compare(
    checks: &mut Checks,
    (quantity, of): Quantity,
    what: &str,
    soft: &[Settled],
    hard: &[Settled],
) {
    let [soft, hard] = [soft, hard].map(|all| spread(all, of));
    let row = format!("{quantity}, soft against hard contact, {what}");
    checks.close(&row, soft[0], hard[0], pooled(soft[1], hard[1]), "1");
    checks.information(|checks| {
        let row = format!("{quantity}, difference of the means over its standard error");
        checks.at_most(&row, (soft[0] - hard[0]).abs() / soft[2].hypot(hard[2]), 2.0, "1");
    });
}

fn pooled(a: f64, b: f64) -> f64 {
    (0.5 * (a * a + b * b)).sqrt()
}

/// Compression closes gaps: the excess of contacts over rigid spheres grows like the root of the overlap (O'Hern et al. 2003). The
/// straight line through the means of all stiffnesses over that root ends at the coordination number of rigid spheres.
fn rigid_limit(checks: &mut Checks, what: &str, soft: &[(&str, Vec<Settled>)], hard: &[Settled]) {
    let (quantity, of) = COORDINATION;
    let points: Vec<[f64; 2]> = soft
        .iter()
        .map(|(_, all)| [spread(all, |s| s.overlap)[0].sqrt(), spread(all, of)[0]])
        .collect();
    let (limit, slope) = line(&points);
    let [hard, deviation, _] = spread(hard, of);
    let scatter = pooled(spread(&soft[soft.len() - 1].1, of)[1], deviation);
    let row = format!("{quantity}, limit of rigid contact against hard contact, {what}");
    checks.close(&row, limit, hard, scatter, "1");
    // A law with another exponent would bend: the points lie on the line within the scatter.
    let bend = points.iter().map(|[x, y]| (limit + slope * x - y).abs()).fold(0.0, f64::max);
    checks.at_most(&format!("{quantity}, largest distance from the line"), bend, scatter, "1");
}

/// The straight line `a + b x` by least squares.
fn line(points: &[[f64; 2]]) -> (f64, f64) {
    let n = points.len() as f64;
    let [x, y] = [0, 1].map(|i| points.iter().map(|p| p[i]).sum::<f64>() / n);
    let slope = points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum::<f64>()
        / points.iter().map(|p| (p[0] - x).powi(2)).sum::<f64>();
    (y - slope * x, slope)
}

/// Piles at rest, soft ones with small overlaps.
fn at_rest(checks: &mut Checks, what: &str, hard: &[Settled], soft: &[Settled]) {
    for (contact, all) in [("soft", soft), ("hard", hard)] {
        // A sphere on two others swings without loss if its contacts are hard and do not slip: up to ten times the criterion, which such
        // spheres meet for a moment only.
        let worst = all.iter().map(|s| s.kinetic).fold(0.0, f64::max);
        let row =
            format!("largest kinetic energy per sphere over m g d, {contact} contact, {what}");
        checks.at_most(&row, worst, 10.0 * REST, "1");
    }
    let [overlap, ..] = spread(soft, |s| s.overlap);
    // The weight of eight layers on one contact, m g n/k.
    let row = format!("mean overlap over diameter, soft contact with k, {what}");
    checks.at_most(&row, overlap, 1e-3, "1");
}

/// Steps and wall time of one pile each, one after the other.
fn cost(checks: &mut Checks, pile: &Pile, soft_dt: f64) {
    let timed = |scheme: Box<dyn Fn() -> Settled>| {
        let clock = Instant::now();
        let settled = scheme();
        clock.elapsed().as_secs_f64() / settled.time
    };
    let same = *pile;
    let soft = timed(Box::new(move || settle(&same, 0, Penalty::new(soft_dt))));
    let hard = timed(Box::new(move || settle(&same, 0, MoreauJean::new(HARD_DT))));
    checks.at_most("wall time per simulated second, soft contact with k", soft, 1e4, "s");
    checks.at_most("wall time per simulated second, hard contact", hard, 1e4, "s");
    checks.at_most("cost ratio: wall time, soft over hard contact", soft / hard, 1e3, "1");
    checks.at_most("steps per simulated second, soft contact with k", 1.0 / soft_dt, 1e6, "1/s");
    checks.at_most("steps per simulated second, hard contact", 1.0 / HARD_DT, 1e6, "1/s");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_is_found_again() {
        let (start, slope) = line(&[[0.0, 1.0], [0.5, 2.0], [2.0, 5.0]]);
        // Rounding.
        assert!((start - 1.0).abs() < 1e-14 && (slope - 2.0).abs() < 1e-14);
    }

    #[test]
    fn deviation_and_error_of_three_piles() {
        let piles = [1.0, 2.0, 3.0].map(|packing| Settled { packing, ..Settled::default() });
        let [mean, deviation, error] = spread(&piles, |s| s.packing);
        assert_eq!((mean, deviation), (2.0, 1.0));
        assert!((error - 1.0 / 3f64.sqrt()).abs() < 1e-15 && pooled(3.0, 3.0) == 3.0);
    }
}
