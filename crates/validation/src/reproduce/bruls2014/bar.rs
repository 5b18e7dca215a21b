//! Sec. 10.3, Figs. 17 to 19: the elastic bar.

use super::plots::{curves, figure, panel, shown, with_reference, zoom};
use super::{Row, Study, measured};
use crate::figure::Figure;
use crate::nonsmooth::{Method, Record, bar};

pub(super) fn study(study: &mut Study) -> Result<Vec<(u32, Figure)>, String> {
    let (h, until) = (2e-3, 1.5);
    let methods = [Method::SMOOTH, Method::Riprap(0.8), Method::GGL];
    let mut records = Vec::new();
    for method in methods {
        let record = bar::run(200, method, h, until)?;
        let pairs = record.t.iter().zip(&record.contacts[0].gap);
        let error = pairs.fold(0.0_f64, |m, (t, g)| m.max((g - bar::gap(*t)[0]).abs()));
        study.push(Row { error: Some(error), ..measured("elastic bar", method, &record) });
        records.push(record);
    }
    let [begin, end] = bar::contact_times();
    let reference = |value: &dyn Fn(f64) -> f64| -> Vec<[f64; 2]> {
        // Two points at each jump.
        let jumps = [begin - 1e-6, begin + 1e-6, end - 1e-6, end + 1e-6];
        let mut times: Vec<f64> = (0..=150).map(|k| 0.01 * f64::from(k)).chain(jumps).collect();
        times.sort_by(f64::total_cmp);
        times.into_iter().map(|t| [t, value(t)]).collect()
    };
    let runs = || -> Vec<_> {
        methods.iter().zip(&records).map(|(method, record)| shown(*method, record)).collect()
    };
    let nonsmooth = || runs().split_off(1);
    let gap = |r: &Record, k: usize| r.contacts[0].gap[k];
    let force = |r: &Record, k: usize| r.contacts[0].multipliers[k].impulse / r.dt;
    let exact_gap = || reference(&|t| bar::gap(t)[0]);
    let exact_force =
        || reference(&|t| if t > begin && t < end { bar::contact_force() } else { 0.0 });
    let (all, closed) = ([0.0, until], [begin - 0.05, end + 0.05]);
    Ok(vec![
        figure(
            17,
            "Bar impact: gap",
            vec![
                panel("gap [m]", all, with_reference(exact_gap(), curves(&runs(), gap))),
                zoom(
                    "gap [m]",
                    closed,
                    [-0.02, 0.05],
                    with_reference(exact_gap(), curves(&runs(), gap)),
                ),
            ],
        ),
        figure(
            18,
            "Bar impact: velocity of the contact point and energy",
            vec![
                panel(
                    "velocity [m/s]",
                    all,
                    with_reference(
                        reference(&|t| bar::gap(t)[1]),
                        curves(&runs(), |r, k| r.contacts[0].rate[k]),
                    ),
                ),
                panel(
                    "energy [J]",
                    all,
                    with_reference(
                        reference(&|_| bar::energy()),
                        curves(&runs(), |r, k| r.energy[k]),
                    ),
                ),
            ],
        ),
        figure(
            19,
            "Bar impact: contact force λ or Λ/h",
            vec![
                panel("force [N]", all, with_reference(exact_force(), curves(&runs(), force))),
                zoom(
                    "force [N]",
                    closed,
                    [250.0, 350.0],
                    with_reference(exact_force(), curves(&nonsmooth(), force)),
                ),
            ],
        ),
    ])
}
