//! Sec. 10.4, Figs. 20 to 24: the rocking block.

use super::plots::{Shown, curves, figure, finer, panel, shown, with_reference, zoom};
use super::{Row, Study, height_error, measured};
use crate::figure::{Curve, Figure};
use crate::nonsmooth::event_driven::{self, Motion};
use crate::nonsmooth::{Method, Planar, ROCKING_BLOCK, Record, run, scene_of};

pub(super) fn study(study: &mut Study) -> Result<Vec<(u32, Figure)>, String> {
    let block = Planar::of(&scene_of(ROCKING_BLOCK)?)?;
    let mut run = |method: Method, h: f64| -> Result<Record, String> {
        let record = run(scene_of(ROCKING_BLOCK)?, method, h, 2.5)?;
        let error = height_error(&block, &record);
        study.push(Row { error: Some(error), ..measured("rocking block", method, &record) });
        Ok(record)
    };
    run(Method::MOREAU, 2e-4)?;
    let (moreau, ggl) = (run(Method::MOREAU, 1e-2)?, run(Method::GGL, 1e-2)?);
    let fine = run(Method::GGL, 2e-4)?;
    let times: Vec<f64> = (1..=2500).map(|k| 1e-3 * f64::from(k)).collect();
    let exact = event_driven::motion(&block, &times, 1e-3);
    let runs = || [shown(Method::MOREAU, &moreau), shown(Method::GGL, &ggl), finer(&fine)];
    Ok(figures(&block, &runs, &exact))
}

fn figures<'a>(
    block: &Planar,
    runs: &dyn Fn() -> [Shown<'a>; 3],
    exact: &Motion,
) -> Vec<(u32, Figure)> {
    let two = || {
        let [a, b, _] = runs();
        [a, b]
    };
    let reference = |value: &dyn Fn(usize) -> f64| -> Vec<[f64; 2]> {
        exact.t.iter().enumerate().map(|(k, t)| [*t, value(k)]).collect()
    };
    let all = [0.0, 1.5];
    let gaps = |c: usize| -> Vec<Curve> {
        let runs = curves(&two(), |r: &Record, k| r.contacts[c].gap[k]);
        with_reference(reference(&|k| block.gap(c, &exact.q[k])), runs)
    };
    let rates = |c: usize| -> Vec<Curve> {
        let runs = curves(&two(), |r: &Record, k| r.contacts[c].rate[k]);
        with_reference(reference(&|k| block.gap_rate(c, &exact.q[k], &exact.v[k])), runs)
    };
    let energy = || {
        let runs = curves(&two(), |r: &Record, k| r.energy[k]);
        with_reference(reference(&|k| block.energy(&exact.q[k], &exact.v[k])), runs)
    };
    let impulse = |r: &Record, k: usize| r.contacts[0].multipliers[k].impulse;
    let height = with_reference(reference(&|k| exact.q[k].y), curves(&two(), |r, k| r.q[k].y));
    vec![
        figure(20, "Rocking block: height", vec![panel("y [m]", all, height)]),
        figure(
            21,
            "Rocking block: gaps",
            vec![
                panel("g₁ [m]", all, gaps(0)),
                panel("g₂ [m]", all, gaps(1)),
                zoom("g₁ [m]", [0.25, 1.0], [-1e-2, 4e-2], gaps(0)),
                zoom("g₂ [m]", [0.15, 0.9], [-1e-2, 4e-2], gaps(1)),
            ],
        ),
        figure(
            22,
            "Rocking block: rates of the gaps",
            vec![panel("ġ₁ [m/s]", all, rates(0)), panel("ġ₂ [m/s]", all, rates(1))],
        ),
        figure(
            23,
            "Rocking block: energy",
            vec![
                panel("energy [J]", all, energy()),
                zoom("energy [J]", [0.25, 0.9], [7.3, 8.3], energy()),
            ],
        ),
        figure(
            24,
            "Rocking block: impulse Λ₁ of the contact force",
            vec![
                panel("Λ₁ [N s]", all, curves(&runs(), impulse)),
                zoom("Λ₁ [N s]", [0.6, 1.2], [-0.02, 0.2], curves(&runs(), impulse)),
            ],
        ),
    ]
}
