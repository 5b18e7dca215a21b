//! Growth of the cost of Dantzig's algorithm with the number of contacts, beside that of Gauss–Seidel (Secs. 6 and 10).

use std::fmt::Write;

use super::{Figures, in_rows};
use crate::Effort;
use crate::bench::{DantzigBench, DantzigTime, Packing, dantzig};
use crate::figure::{Axis, Colour, Curve, Dash, Panel};
use crate::reproduce::Tell;

/// A time of a packing [s], if it was measured.
type Time = fn(&DantzigTime) -> Option<f64>;

/// The curves of a panel.
const CURVES: [(&str, Colour, Dash, Time); 5] = [
    ("Dantzig as published", Colour::Vermilion, Dash::Solid, |t| t.published.map(|p| p.0)),
    ("Dantzig from nothing", Colour::Orange, Dash::Solid, |t| Some(t.cold)),
    ("Dantzig from the last step", Colour::Green, Dash::Solid, |t| Some(t.forces)),
    ("Gauss–Seidel from nothing", Colour::Blue, Dash::Dashed, |t| Some(t.gauss_seidel[0])),
    ("Gauss–Seidel from the last step", Colour::Purple, Dash::Dashed, |t| {
        Some(t.gauss_seidel[1])
    }),
];

/// Times over the number of contacts for both packings.
pub(super) fn study(effort: Effort, tell: &mut Tell, table: &mut String) -> Figures {
    let full = effort == Effort::Full;
    let contacts = if full { vec![10, 30, 100, 300, 1000, 3000] } else { vec![10, 30, 100] };
    let tolerance = 1e-8;
    let bench = DantzigBench {
        contacts,
        published: if full { 300 } else { 30 },
        tolerance,
        repetitions: if full { 3 } else { 1 },
    };
    let result = dantzig(&bench);
    let _ = writeln!(
        table,
        "\n## Cost of Dantzig's algorithm (residual below 1e-10) and of Gauss–Seidel (residual {tolerance:.0e})\n\n\
         | packing | bodies | contacts | as published [ms] | from nothing [ms] | from the last step [ms] | Gauss–Seidel from nothing [ms] | \
         from the last step [ms] |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    let ms = |time: Option<f64>| time.map_or("–".to_owned(), |t| format!("{:.3}", 1e3 * t));
    for t in &result.times {
        let times: Vec<String> = CURVES.iter().map(|(.., time)| ms(time(t))).collect();
        let (packing, bodies, contacts) = (t.packing.name(), t.bodies, t.contacts);
        let _ = writeln!(table, "| {packing} | {bodies} | {contacts} | {} |", times.join(" | "));
    }
    let panels = Packing::ALL.map(|packing| {
        let times = || result.times.iter().filter(|t| t.packing == packing);
        let curves = CURVES.map(|(name, colour, dash, time)| {
            let points = times().filter_map(|t| Some([t.contacts as f64, time(t)?]));
            Curve::new(name, colour, points.collect()).dash(dash).marked()
        });
        Panel {
            title: packing.name().to_owned(),
            x: Axis::new("contacts").logarithmic(),
            y: Axis::new("time of a solve [s]").logarithmic(),
            curves: curves.into(),
        }
    });
    tell("cost of Dantzig's algorithm and of Gauss–Seidel: measured");
    vec![("cost", in_rows("Cost of the force problem", panels.into()))]
}
