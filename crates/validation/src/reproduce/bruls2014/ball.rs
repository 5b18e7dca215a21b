//! Sec. 10.1, Figs. 2 to 7: the bouncing ball.

use super::plots::{curves, figure, panel, shown, with_reference, zoom};
use super::{Row, Study, measured};
use crate::figure::Figure;
use crate::nonsmooth::{BALL, Method, Planar, Record, ball_accumulation, ball_gap, run, scene_of};

/// The closed form: gap, rate and energy.
fn closed_form(ball: &Planar, until: f64, of: usize) -> Vec<[f64; 2]> {
    let (h, g) = (2e-4, -ball.force.y / ball.mass[0]);
    let steps = (until / h).round() as usize;
    let value = |t: f64| {
        let gap = ball_gap(ball, t);
        // The rate by central differences, exact within a flight.
        let rate = (ball_gap(ball, t + 1e-6) - ball_gap(ball, t - 1e-6)) / 2e-6;
        let height = ball.start[0].y - ball.gap(0, &ball.start[0]);
        [gap, rate, ball.mass[0] * (0.5 * rate * rate + g * (gap + height))][of]
    };
    (1..=steps).map(|k| k as f64 * h).map(|t| [t, value(t)]).collect()
}

pub(super) fn study(study: &mut Study) -> Result<Vec<(u32, Figure)>, String> {
    let ball = Planar::of(&scene_of(BALL)?)?;
    let (h, until) = (2e-3, 5.0);
    let methods = [Method::SMOOTH, Method::MODIFIED, Method::MOREAU, Method::GGL];
    let mut records = Vec::new();
    for method in methods {
        let record = run(scene_of(BALL)?, method, h, until)?;
        let pairs = record.t.iter().zip(&record.contacts[0].gap);
        let error = pairs.fold(0.0_f64, |m, (t, g)| m.max((g - ball_gap(&ball, *t)).abs()));
        study.push(Row { error: Some(error), ..measured("bouncing ball", method, &record) });
        records.push(record);
    }
    let [smooth, modified, moreau, ggl] = &records[..] else {
        return Err("four runs".into());
    };
    Ok(figures(&ball, [smooth, modified, moreau, ggl]))
}

fn figures(ball: &Planar, [smooth, modified, moreau, ggl]: [&Record; 4]) -> Vec<(u32, Figure)> {
    let h = ggl.dt;
    let end = ball_accumulation(ball);
    let weight = -ball.force.y * h;
    let wrong = || [shown(Method::SMOOTH, smooth), shown(Method::MODIFIED, modified)];
    let chatters = || [shown(Method::MODIFIED, modified)];
    let right = || [shown(Method::MOREAU, moreau), shown(Method::GGL, ggl)];
    let alone = || [shown(Method::GGL, ggl)];
    let gap = |r: &Record, k: usize| r.contacts[0].gap[k];
    let rate = |r: &Record, k: usize| r.contacts[0].rate[k];
    let impulse = |r: &Record, k: usize| r.contacts[0].multipliers[k].impulse;
    let nu = |r: &Record, k: usize| r.contacts[0].multipliers[k].nu;
    let exact = |of: usize| closed_form(ball, 5.0, of);
    let (all, last) = ([0.0, 5.0], [end - 0.2, end + 0.4]);
    let (gaps, speeds) = ("gap [m]", "velocity [m/s]");
    vec![
        figure(
            2,
            "Bouncing ball: gap",
            vec![
                panel(gaps, all, with_reference(exact(0), curves(&wrong(), gap))),
                zoom(gaps, last, [-2e-4, 2e-3], with_reference(exact(0), curves(&chatters(), gap))),
            ],
        ),
        figure(
            3,
            "Bouncing ball: velocity",
            vec![
                panel(speeds, all, with_reference(exact(1), curves(&chatters(), rate))),
                zoom(
                    speeds,
                    last,
                    [-0.15, 0.15],
                    with_reference(exact(1), curves(&chatters(), rate)),
                ),
            ],
        ),
        figure(
            4,
            "Bouncing ball: gap",
            vec![
                panel(gaps, all, with_reference(exact(0), curves(&right(), gap))),
                zoom(
                    gaps,
                    [end - 0.6, end + 0.1],
                    [-2e-3, 1.2e-2],
                    with_reference(exact(0), curves(&right(), gap)),
                ),
            ],
        ),
        figure(
            5,
            "Bouncing ball: velocity and energy",
            vec![
                panel(speeds, all, with_reference(exact(1), curves(&right(), rate))),
                panel(
                    "energy [J]",
                    all,
                    with_reference(exact(2), curves(&right(), |r, k| r.energy[k])),
                ),
            ],
        ),
        figure(
            6,
            "Bouncing ball: impulse of the contact force",
            vec![
                panel("Λ [N s]", all, curves(&right(), impulse)),
                zoom("Λ [N s]", last, [-0.5 * weight, 4.0 * weight], curves(&right(), impulse)),
            ],
        ),
        figure(
            7,
            "Bouncing ball: multiplier of the position constraint",
            vec![
                panel("ν [N s²]", all, curves(&alone(), nu)),
                zoom("ν [N s²]", last, [0.0, 3.0 * weight * h], curves(&alone(), nu)),
            ],
        ),
    ]
}
