//! Performance profiles of solvers (Dolan and Moré 2002): for each solver, the fraction of problems solved within a factor of the
//! fastest solver's time.

use crate::figure::{Axis, Colour, Curve, Dash, Panel};

/// Colour and dash of the curves in order: seven that differ in both, also in grey.
const STYLES: [(Colour, Dash); 7] = [
    (Colour::Blue, Dash::Solid),
    (Colour::Orange, Dash::Dashed),
    (Colour::Green, Dash::Dotted),
    (Colour::Vermilion, Dash::Solid),
    (Colour::Purple, Dash::Dashed),
    (Colour::Black, Dash::Dotted),
    (Colour::Grey, Dash::Solid),
];

/// The profile of solvers, each with its name and its time for every problem [s], infinite if it did not solve it.
pub fn profile(title: &str, solvers: &[(&str, Vec<f64>)]) -> Panel {
    let n = solvers.iter().map(|(_, times)| times.len()).max().unwrap_or(0);
    let time = |times: &[f64], k: usize| times.get(k).copied().unwrap_or(f64::INFINITY);
    let best: Vec<f64> = (0..n)
        .map(|k| solvers.iter().map(|(_, times)| time(times, k)).fold(f64::INFINITY, f64::min))
        .collect();
    let all: Vec<Vec<f64>> = solvers
        .iter()
        .map(|(_, times)| {
            let mut ratios: Vec<f64> = (0..n)
                .map(|k| time(times, k))
                .zip(&best)
                .map(|(t, best)| if t.is_finite() { t / best } else { f64::INFINITY })
                .collect();
            ratios.sort_by(f64::total_cmp);
            ratios
        })
        .collect();
    let finite = all.iter().flatten().filter(|r| r.is_finite());
    let end = 1.2 * finite.fold(2.0f64, |m, r| m.max(*r));
    let curves = all.iter().zip(solvers).enumerate().map(|(k, (ratios, (name, _)))| {
        let (colour, dash) = STYLES[k % STYLES.len()];
        Curve::new(name, colour, stairs(ratios, end)).dash(dash).width(2.0)
    });
    Panel {
        title: title.to_owned(),
        x: Axis::new("time relative to the fastest solver [–]").logarithmic().range(1.0, end),
        y: Axis::new("fraction of problems solved [–]").range(0.0, 1.05),
        curves: curves.collect(),
    }
}

/// The step function of a distribution of ratios, from 1 to `end`.
fn stairs(ratios: &[f64], end: f64) -> Vec<[f64; 2]> {
    let n = ratios.len().max(1) as f64;
    let mut points = vec![[1.0, 0.0]];
    let mut level = 0.0;
    for (k, ratio) in ratios.iter().enumerate().filter(|(_, r)| r.is_finite()) {
        points.push([*ratio, level]);
        level = (k + 1) as f64 / n;
        points.push([*ratio, level]);
    }
    points.push([end, level]);
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_counts_the_problems_within_each_factor_of_the_fastest() {
        let (inf, fast) = (f64::INFINITY, vec![1.0, 2.0, 4.0, 1.0]);
        let panel = profile("", &[("fast", fast), ("slow", vec![3.0, 1.0, inf, inf])]);
        let level = |k: usize, ratio: f64| {
            let points = &panel.curves[k].points;
            points.iter().filter(|p| p[0] <= ratio).map(|p| p[1]).fold(0.0, f64::max)
        };
        assert_eq!((level(0, 1.0), level(0, 2.0)), (0.75, 1.0));
        assert_eq!((level(1, 1.0), level(1, 3.0), level(1, 1e9)), (0.25, 0.5, 0.5));
    }

    #[test]
    fn seven_curves_have_seven_styles() {
        for (k, (colour, _)) in STYLES.iter().enumerate() {
            assert!(STYLES[..k].iter().all(|(other, _)| other != colour));
        }
    }
}
