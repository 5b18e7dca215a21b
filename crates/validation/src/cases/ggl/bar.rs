//! Sec. 10.3: the elastic bar.

use super::{EXACT, newton};
use crate::check::observed_order;
use crate::nonsmooth::{Method, bar};
use crate::{Checks, Effort};

pub(in crate::cases) fn elastic_bar(effort: Effort) -> Checks {
    let mut checks = Checks::new("ggl-elastic-bar");
    let h = 2e-3;
    let run = |method| bar::run(200, method, h, 1.5).expect("a standard scene can be simulated");
    let moreau = run(Method::Riprap(0.8));
    let (ggl, smooth) = (run(Method::GGL), run(Method::SMOOTH));
    checks.at_least("smallest gap", ggl.smallest_gap(), -EXACT, "m");
    let [begin, end] = bar::contact_times();
    let exact = end - begin;
    checks.close("duration of the contact", bar::duration(&ggl), exact, 0.01 * exact, "s");
    let force = bar::contact_force();
    checks.close("force on the plateau", bar::plateau(&ggl), force, 0.01 * force, "N");
    checks.close("impulse of the contact", bar::impulse(&ggl), 200.0, 2.0, "N s");
    let lost = |r: &crate::nonsmooth::Record| {
        (r.energy.last().copied().unwrap_or(f64::NAN) - bar::energy()).abs()
    };
    let quantity = "energy lost (reference: Moreau–Jean with the same spectral radius)";
    checks.at_most(quantity, lost(&ggl), lost(&moreau), "J");
    // 5 % of the energy goes into vibrations that the mesh does not carry without dispersion, and is damped by ρ∞ = 0.8.
    checks.at_most("energy lost", lost(&ggl), 0.05 * bar::energy(), "J");
    // Between the wave's two passages the contact point is at rest.
    let held = ggl.t.iter().zip(&ggl.contacts[0].rate);
    let held = held.filter(|(t, _)| (begin + 0.01..end - 0.05).contains(*t));
    let slip = held.fold(0.0_f64, |m, (_, v)| m.max(v.abs()));
    checks.at_most("velocity of the closed contact", slip, EXACT, "m/s");
    checks.at_most("Moreau–Jean: smallest gap", moreau.smallest_gap(), -1e-4, "m");
    let rough = |r: &crate::nonsmooth::Record| {
        let inside = r.t.iter().zip(&r.contacts[0].multipliers);
        let inside = inside.filter(|(t, _)| (begin + 0.05..end - 0.05).contains(*t));
        inside.fold(0.0_f64, |m, (_, x)| m.max((x.impulse / h - force).abs()))
    };
    let quantity = "smooth-α: largest error of the force over that of GGL";
    checks.at_least(quantity, rough(&smooth) / rough(&ggl), 2.0, "1");
    newton(&mut checks, &ggl);

    let meshes: &[usize] = if effort == Effort::Full { &[50, 100, 200, 400] } else { &[50, 100] };
    let steps: Vec<f64> = meshes.iter().map(|n| 0.4 / *n as f64).collect();
    let runs = meshes.iter().zip(&steps).map(|(&n, &h)| bar::run(n, Method::GGL, h, 1.5));
    let errors: Vec<f64> = runs
        .map(|r| {
            let r = r.expect("a standard scene can be simulated");
            let pairs = r.t.iter().zip(&r.contacts[0].gap);
            pairs.map(|(t, g)| (g - bar::gap(*t)[0]).abs()).sum::<f64>() / r.t.len() as f64
        })
        .collect();
    // The solution has jumps, so mesh and step together converge with order one at most.
    let order = observed_order(&steps, &errors);
    checks.at_least("observed order of the mean error of the gap", order, 0.6, "1");
    checks
}
