//! Dantzig's algorithm with friction compared with enumeration and with Lemke's algorithm on random
//! small problems, the order of contacts, and the error of the polyhedral cone in space.

mod oracles;
mod random;

use crate::check::observed_order;
use crate::{Checks, Effort};
use oracles::{Plain, violation};
use random::{KINDS, Kind, Owned, Random};
use rayon::prelude::*;
use riprap::friction::{
    Accurate, Blocks, Class, ContactProblem, ContactSolver, Dantzig, DantzigReport, Delassus,
    ForceProblem, Friction, Law, Outcome, Scratch,
};

/// Facets of the cone in the comparison with enumeration: two axes per contact.
const FACETS: usize = 4;

pub(super) fn dantzig(effort: Effort) -> Checks {
    let mut checks = Checks::new("dantzig");
    let each = if effort == Effort::Full { 1250 } else { 60 };
    for planar in [true, false] {
        for kind in KINDS {
            random_problems(&mut checks, kind, planar, each);
        }
    }
    many_contacts(&mut checks, if effort == Effort::Full { 500 } else { 30 });
    threshold(&mut checks);
    order_of_facets(&mut checks, if effort == Effort::Full { 200 } else { 40 });
    checks
}

fn solve(owned: &Owned, options: &Dantzig) -> (Vec<[f64; 3]>, DantzigReport) {
    let (mut forces, mut classes) = (Vec::new(), Vec::new());
    let report =
        options.solve(&owned.problem(), &mut forces, &mut classes, &mut Scratch::default());
    (forces, report)
}

/// What one random problem shows.
#[derive(Clone, Copy, Default)]
struct Finding {
    /// Neither solved nor recognized as inconsistent.
    unanswered: bool,
    /// Called inconsistent although an oracle found a solution.
    missed: bool,
    /// Rightly called inconsistent.
    inconsistent: bool,
    /// Violation of (27) of the forces found.
    violation: f64,
    /// Largest difference from the oracle, relative to the largest value: forces if they are unique,
    /// and accelerations without friction.
    difference: f64,
    /// The same between this and the reverse order of contacts.
    order: f64,
}

fn random_problems(checks: &mut Checks, kind: Kind, planar: bool, n: u64) {
    let findings: Vec<Finding> = (0..n)
        .into_par_iter()
        .map(|seed| {
            let mut random = Random(seed * 1_000_003 + 17);
            examine(&random::problem(&mut random, kind, planar, 5), kind)
        })
        .collect();
    let words = format!(
        "{n} {} problems, {}",
        if planar { "planar" } else { "spatial" },
        match kind {
            Kind::Frictionless => "no friction",
            Kind::Static => "static friction",
            Kind::Mixed => "static and sliding friction",
            Kind::Rough => "μ up to 5",
        }
    );
    let count = |f: fn(&Finding) -> bool| findings.iter().filter(|x| f(x)).count() as f64;
    let worst = |f: fn(&Finding) -> f64| findings.iter().map(f).fold(0.0, f64::max);
    checks.at_most(&format!("{words}: without an answer"), count(|f| f.unanswered), 0.0, "1");
    checks.at_most(&format!("{words}: solvable, not solved"), count(|f| f.missed), 0.0, "1");
    // Residuals are at most 1e-10 of the largest acceleration; products with forces are larger.
    checks.at_most(&format!("{words}: violation of (27)"), worst(|f| f.violation), 1e-8, "1");
    // Conditioning of the random matrices.
    checks.at_most(&format!("{words}: from the oracle"), worst(|f| f.difference), 1e-6, "1");
    checks.at_most(&format!("{words}: order of contacts"), worst(|f| f.order), 1e-6, "1");
    checks.information(|checks| {
        let found = count(|f| f.inconsistent);
        checks.at_least(&format!("{words}: rightly called inconsistent"), found, 0.0, "1");
    });
}

fn examine(owned: &Owned, kind: Kind) -> Finding {
    let options = Dantzig { facets: FACETS, ..Dantzig::default() };
    let (forces, report) = solve(owned, &options);
    let plain = Plain::new(owned, FACETS);
    let all = plain.enumerate(20_000);
    let lemke = plain.lemke().filter(|f| plain.violation(f) < 1e-8);
    let solvable = lemke.is_some() || all.as_ref().is_some_and(|all| !all.is_empty());
    let mut finding = Finding::default();
    match report.outcome {
        Outcome::Limit => finding.unanswered = true,
        Outcome::Inconsistent { .. } if solvable => finding.missed = true,
        Outcome::Inconsistent { .. } => finding.inconsistent = true,
        Outcome::Solved => {
            finding.violation = violation(owned, &forces, FACETS);
            let (turned, _) = solve(&owned.reversed(), &options);
            let turned: Vec<[f64; 3]> = turned.into_iter().rev().collect();
            let oracle = match &all {
                _ if kind == Kind::Frictionless => lemke,
                // All solutions are known if the matrix is regular.
                Some(all) if all.len() == 1 && plain.is_regular() => Some(all[0].clone()),
                _ => None,
            };
            if let Some(oracle) = oracle {
                let oracle = plain.vectors(&oracle, owned.b.len());
                let [mut a, mut b, mut c] = [forces, turned, oracle];
                let mut size = largest(&a).max(largest(&c));
                if kind == Kind::Frictionless {
                    [a, b, c] = [&a, &b, &c].map(|f| owned.accelerations(f));
                    size = largest(&owned.b);
                }
                finding.difference = distance(&a, &c) / size.max(1e-9);
                finding.order = distance(&a, &b) / size.max(1e-9);
            }
        }
    }
    finding
}

/// Largest component.
fn largest(a: &[[f64; 3]]) -> f64 {
    a.as_flattened().iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// Largest difference.
fn distance(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let pairs = a.as_flattened().iter().zip(b.as_flattened());
    pairs.fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()))
}

/// Problems with up to 16 contacts, many more than degrees of freedom, with eight facets: with
/// static friction Lemke's algorithm finds a solution, so that the solver must find one.
fn many_contacts(checks: &mut Checks, n: u64) {
    for planar in [true, false] {
        let outcomes: Vec<(bool, f64, f64)> = (0..n)
            .into_par_iter()
            .map(|seed| {
                let mut random = Random(seed * 7919 + 3);
                let owned = random::problem(&mut random, Kind::Static, planar, 16);
                let (forces, report) = solve(&owned, &Dantzig::default());
                let solved = report.outcome == Outcome::Solved;
                let violated = if solved { violation(&owned, &forces, 8) } else { 0.0 };
                // From the lists, and with dense matrices in place of those of bodies.
                let (mut again, mut lists) = (Vec::new(), vec![Class::Static; owned.b.len()]);
                let options = Dantzig { dense: true, ..Dantzig::default() };
                let scratch = &mut Scratch::default();
                let dense = options.solve(&owned.problem(), &mut again, &mut lists, scratch);
                let solved = solved && dense.outcome == Outcome::Solved;
                (solved, violated, violation(&owned, &again, 8))
            })
            .collect();
        let words = format!("{n} {} problems", if planar { "planar" } else { "spatial" });
        let failed = outcomes.iter().filter(|o| !o.0).count() as f64;
        let worst = outcomes.iter().map(|o| o.1.max(o.2)).fold(0.0, f64::max);
        checks.at_most(&format!("{words} with up to 16 contacts: not solved"), failed, 0.0, "1");
        checks.at_most(&format!("{words}: violation of (27)"), worst, 1e-8, "1");
    }
}

/// A body on the ground pushed sideways in many directions: it begins to slide at `cos(π/m) μ` to
/// `μ` times the normal force, depending on the direction.
fn threshold(checks: &mut Checks) {
    let mut w = Blocks::default();
    w.push(0, [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]);
    w.end_row();
    let w = Delassus::Blocks(w);
    let (mu, weight) = (0.5, 10.0);
    for facets in [4usize, 8, 16, 32] {
        let options = Dantzig { facets, ..Dantzig::default() };
        let sticks = |push: f64, angle: f64| {
            let b = [[-weight, push * angle.cos(), push * angle.sin()]];
            let problem = ForceProblem { w: &w, b: &b, friction: &[Friction::Static { mu }] };
            let (mut forces, mut classes) = (Vec::new(), Vec::new());
            options.solve(&problem, &mut forces, &mut classes, &mut Scratch::default());
            classes[0] == Class::Static
        };
        let begins = |angle: f64| {
            let (mut low, mut high) = (0.0, 2.0 * mu);
            for _ in 0..30 {
                let middle = 0.5 * (low + high);
                if sticks(middle * weight, angle) { low = middle } else { high = middle }
            }
            low / mu
        };
        // Directions of vertices and of the middles of sides are among them.
        let all: Vec<f64> = (0..2 * facets)
            .map(|k| begins(k as f64 * std::f64::consts::PI / facets as f64))
            .collect();
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        let most = all.iter().copied().fold(0.0, f64::max);
        let expected = (std::f64::consts::PI / facets as f64).cos();
        // Bisection.
        checks.close(
            &format!("least friction with {facets} facets over μ f_N"),
            least,
            expected,
            1e-7,
            "1",
        );
        checks.close(
            &format!("largest friction with {facets} facets over μ f_N"),
            most,
            1.0,
            1e-7,
            "1",
        );
    }
}

/// Forces with 4 to 32 facets compared with those of the exact cone, on problems whose forces are
/// unique: the difference is of first order in the angle of a facet, because friction of a sliding
/// contact points to a vertex.
fn order_of_facets(checks: &mut Checks, n: u64) {
    let facets = [4usize, 8, 16, 32];
    let mut errors = [0.0; 4];
    let mut counted = 0.0;
    for seed in 0..n {
        let mut random = Random(seed * 104_729 + 5);
        let mut owned = random::problem(&mut random, Kind::Static, false, 3);
        owned.friction.iter_mut().for_each(|f| *f = Friction::Static { mu: 0.3 });
        if !Plain::new(&owned, FACETS).is_regular() {
            continue;
        }
        let exact = exact_cone(&owned);
        let off = facets.map(|facets| {
            let (forces, _) = solve(&owned, &Dantzig { facets, ..Dantzig::default() });
            distance(&forces, &exact) / largest(&exact).max(1e-9)
        });
        counted += 1.0;
        (0..4).for_each(|k| errors[k] += off[k]);
    }
    let errors = errors.map(|e| e / counted);
    for (facets, error) in facets.iter().zip(errors) {
        // The direction of sliding friction is off by up to π/m.
        let limit = (std::f64::consts::PI / *facets as f64).sin();
        let words = format!("mean difference of forces with {facets} facets from the exact cone");
        checks.at_most(&words, error, limit, "1");
    }
    let angles: Vec<f64> = facets.iter().map(|m| 1.0 / *m as f64).collect();
    let order = observed_order(&angles, &errors);
    checks.at_least("order in the angle of a facet", order, 0.9, "1");
}

/// Forces with the exact cone.
fn exact_cone(owned: &Owned) -> Vec<[f64; 3]> {
    let law = |friction: &Friction| match *friction {
        Friction::Static { mu } => Law::Coulomb { friction: mu },
        _ => Law::default(),
    };
    let problem = ContactProblem {
        w: owned.w.clone(),
        v_rel_free: owned.b.clone(),
        laws: owned.friction.iter().map(law).collect(),
        approach_scale: 1.0,
        ..ContactProblem::default()
    };
    let mut impulses = Vec::new();
    Accurate::tolerance(1e-12).solve(&problem, &mut impulses, &mut Scratch::default());
    impulses
}
