//! Sec. 10.2, Figs. 8 to 16: the bouncing pendulum.

use super::plots::{Shown, curves, figure, finer, panel, shown, with_reference, zoom};
use super::{Row, Study, angle_error, measured};
use crate::figure::{Colour, Dash, Figure};
use crate::nonsmooth::event_driven::{self, Motion};
use crate::nonsmooth::{Method, PENDULUM, Planar, Record, run, scene_of};

/// The runs of the figures.
struct Runs {
    moreau: Record,
    ggl: Record,
    fine: Record,
    /// `ρ∞` = 0.5 and 0.
    damped: [Record; 2],
}

pub(super) fn study(study: &mut Study) -> Result<Vec<(u32, Figure)>, String> {
    let pendulum = Planar::of(&scene_of(PENDULUM)?)?;
    let until = 6.0;
    let mut run = |method: Method, h: f64| -> Result<Record, String> {
        let record = run(scene_of(PENDULUM)?, method, h, until)?;
        let error = angle_error(&pendulum, &record);
        study.push(Row { error: Some(error), ..measured("bouncing pendulum", method, &record) });
        Ok(record)
    };
    run(Method::MOREAU, 1e-4)?;
    let runs = Runs {
        moreau: run(Method::MOREAU, 1e-3)?,
        ggl: run(Method::GGL, 1e-3)?,
        fine: run(Method::GGL, 1e-4)?,
        damped: [run(Method::Ggl(0.5), 1e-3)?, run(Method::Ggl(0.0), 1e-3)?],
    };
    let times: Vec<f64> = (1..=6000).map(|k| 1e-3 * f64::from(k)).collect();
    let exact = event_driven::motion(&pendulum, &times, 1e-3);
    let mut figures = contact(&pendulum, &runs, &exact);
    figures.extend(pivot(&runs, &exact));
    Ok(figures)
}

fn reference(exact: &Motion, value: impl Fn(usize) -> f64) -> Vec<[f64; 2]> {
    exact.t.iter().enumerate().map(|(k, t)| [*t, value(k)]).collect()
}

/// Figs. 8 to 11: the obstacle.
fn contact(pendulum: &Planar, runs: &Runs, exact: &Motion) -> Vec<(u32, Figure)> {
    let both = || [shown(Method::MOREAU, &runs.moreau), shown(Method::GGL, &runs.ggl)];
    let three = || {
        let [a, b] = both();
        [a, b, finer(&runs.fine)]
    };
    let steps = || [shown(Method::GGL, &runs.ggl), finer(&runs.fine)];
    let (all, last) = ([0.0, 6.0], [4.6, 5.4]);
    let exact_gap = || reference(exact, |k| pendulum.gap(0, &exact.q[k]));
    let exact_rate = || reference(exact, |k| pendulum.gap_rate(0, &exact.q[k], &exact.v[k]));
    let exact_energy = || reference(exact, |k| pendulum.energy(&exact.q[k], &exact.v[k]));
    let gap = |r: &Record, k: usize| r.contacts[0].gap[k];
    let impulse = |r: &Record, k: usize| r.contacts[0].multipliers[k].impulse;
    let nu = |r: &Record, k: usize| r.contacts[0].multipliers[k].nu;
    vec![
        figure(
            8,
            "Bouncing pendulum: gap",
            vec![
                panel("gap [m]", all, with_reference(exact_gap(), curves(&both(), gap))),
                zoom(
                    "gap [m]",
                    last,
                    [-2e-3, 4e-3],
                    with_reference(exact_gap(), curves(&both(), gap)),
                ),
            ],
        ),
        figure(
            9,
            "Bouncing pendulum: rate of the gap and energy",
            vec![
                panel(
                    "rate of the gap [m/s]",
                    all,
                    with_reference(exact_rate(), curves(&both(), |r, k| r.contacts[0].rate[k])),
                ),
                panel(
                    "energy [J]",
                    all,
                    with_reference(exact_energy(), curves(&both(), |r, k| r.energy[k])),
                ),
            ],
        ),
        figure(
            10,
            "Bouncing pendulum: impulse Λ₃ of the contact force",
            vec![
                panel("Λ₃ [N s]", all, curves(&three(), impulse)),
                zoom("Λ₃ [N s]", [4.9, 5.4], [-2e-3, 3e-2], curves(&three(), impulse)),
            ],
        ),
        figure(
            11,
            "Bouncing pendulum: multiplier ν₃ of the position constraint",
            vec![panel("ν₃ [N s²]", all, curves(&steps(), nu))],
        ),
    ]
}

/// Figs. 12 to 16: the first equation of the pivot.
fn pivot(runs: &Runs, exact: &Motion) -> Vec<(u32, Figure)> {
    let both = || [shown(Method::MOREAU, &runs.moreau), shown(Method::GGL, &runs.ggl)];
    let steps = || [shown(Method::GGL, &runs.ggl), finer(&runs.fine)];
    let moreau = || [shown(Method::MOREAU, &runs.moreau)];
    let radius = |rho: &str, colour: Colour, record| Shown {
        name: format!("GGL, ρ∞ = {rho}"),
        colour,
        dash: Dash::Solid,
        record,
    };
    let radii = || {
        [
            radius("0.8", Colour::Blue, &runs.ggl),
            radius("0.5", Colour::Orange, &runs.damped[0]),
            radius("0", Colour::Vermilion, &runs.damped[1]),
        ]
    };
    let all = [0.0, 6.0];
    // Around the first impact, at 0.486 s.
    let impact = [0.47, 0.53];
    let force = || reference(exact, |k| exact.pivot[k][0]);
    let lambda = |r: &Record, k: usize| r.pivot.multipliers[k][0].lambda;
    let impulse = |r: &Record, k: usize| r.pivot.multipliers[k][0].impulse;
    let nu = |r: &Record, k: usize| r.pivot.multipliers[k][0].nu;
    let total = |r: &Record, k: usize| lambda(r, k) + impulse(r, k) / r.dt;
    vec![
        figure(
            12,
            "Bouncing pendulum: first equation of the pivot at position level",
            vec![panel("residual [m]", all, curves(&both(), |r, k| r.pivot.error[k][0]))],
        ),
        figure(
            13,
            "Bouncing pendulum: multipliers of the pivot (left: GGL, right: Moreau–Jean)",
            vec![
                panel("Λ₁ [N s]", all, curves(&steps(), impulse)),
                panel("Λ₁ [N s]", all, curves(&moreau(), impulse)),
                panel("λ̃₁ [N]", all, with_reference(force(), curves(&steps(), lambda))),
                zoom("Λ₁ [N s]", [0.0, 1.2], [-3e-2, 3e-2], curves(&moreau(), impulse)),
                zoom("λ̃₁ [N]", impact, [-30.0, 10.0], curves(&steps(), lambda)),
                zoom("Λ₁ [N s]", [4.9, 5.4], [-2e-2, 1e-2], curves(&moreau(), impulse)),
            ],
        ),
        figure(
            14,
            "Bouncing pendulum: λ̃₁ for three spectral radii",
            vec![
                panel("λ̃₁ [N]", all, curves(&radii(), lambda)),
                zoom("λ̃₁ [N]", impact, [-30.0, 10.0], curves(&radii(), lambda)),
            ],
        ),
        figure(
            15,
            "Bouncing pendulum: force of the pivot Λ₁/h + λ̃₁",
            vec![zoom(
                "Λ₁/h + λ̃₁ [N]",
                all,
                [-40.0, 30.0],
                with_reference(force(), curves(&both(), total)),
            )],
        ),
        figure(
            16,
            "Bouncing pendulum: multiplier ν₁ of the position constraint",
            vec![panel("ν₁ [N s²]", all, curves(&steps(), nu))],
        ),
    ]
}
