//! Panels and curves shared by the figures.

use crate::figure::{Axis, Colour, Curve, Dash, Figure, Panel};
use crate::nonsmooth::{Method, Record};

/// A run in a figure.
pub struct Shown<'a> {
    /// Name in the legend.
    pub name: String,
    /// Its colour.
    pub colour: Colour,
    /// Its pattern.
    pub dash: Dash,
    /// The run.
    pub record: &'a Record,
}

/// A run in the colour of its method.
pub fn shown(method: Method, record: &Record) -> Shown<'_> {
    let (colour, dash) = match method {
        Method::Ggl(_) => (Colour::Blue, Dash::Solid),
        Method::ModifiedLcp(_) => (Colour::Vermilion, Dash::Solid),
        Method::SmoothIndex3(_) => (Colour::Purple, Dash::Solid),
        Method::MoreauJean(_) | Method::Riprap(_) => (Colour::Orange, Dash::Solid),
    };
    Shown { name: method.name().to_owned(), colour, dash, record }
}

/// A run with a smaller step, as the paper's reference.
pub fn finer(record: &Record) -> Shown<'_> {
    let name = format!("GGL, h = {:.0e} s", record.dt);
    Shown { name, colour: Colour::Green, dash: Dash::Dashed, record }
}

/// One curve per run: a value of each step over time.
pub fn curves(runs: &[Shown], value: impl Fn(&Record, usize) -> f64) -> Vec<Curve> {
    let curve = |run: &Shown| {
        let points = run.record.t.iter().enumerate().map(|(k, t)| [*t, value(run.record, k)]);
        Curve::new(&run.name, run.colour, points.collect()).width(1.25).dash(run.dash)
    };
    runs.iter().map(curve).collect()
}

/// The reference as a wide, pale line below all others.
pub fn exact(points: Vec<[f64; 2]>) -> Curve {
    Curve::new("reference", Colour::LightGrey, points).width(5.0)
}

/// The reference first, then the runs.
pub fn with_reference(reference: Vec<[f64; 2]>, runs: Vec<Curve>) -> Vec<Curve> {
    std::iter::once(exact(reference)).chain(runs).collect()
}

/// A panel over a time range.
pub fn panel(y: &str, [from, to]: [f64; 2], curves: Vec<Curve>) -> Panel {
    let x = Axis::new("time [s]").range(from, to);
    // Only the points in view: the vertical scale follows them.
    let mut curves = curves;
    for curve in &mut curves {
        curve.points.retain(|p| p[0] >= from - 1e-9 && p[0] <= to + 1e-9);
    }
    Panel { title: String::new(), x, y: Axis::new(y), curves }
}

/// A panel over a time range with a fixed vertical range.
pub fn zoom(y: &str, times: [f64; 2], [low, high]: [f64; 2], curves: Vec<Curve>) -> Panel {
    let mut panel = panel(y, times, curves);
    panel.title = "zoom".into();
    panel.y = panel.y.range(low, high);
    panel
}

/// A figure of panels, two per row.
pub fn figure(number: u32, what: &str, panels: Vec<Panel>) -> (u32, Figure) {
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns) as u32;
    let title = format!("{what} (Brüls et al. 2014, Fig. {number})");
    let size = [if columns == 2 { 960 } else { 560 }, 90 + 300 * rows];
    (number, Figure { title, size, columns, panels })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_keeps_the_points_of_its_time_range_only() {
        let record = Record { t: vec![0.0, 1.0, 2.0, 3.0], dt: 1.0, ..Record::default() };
        let runs = [shown(Method::GGL, &record), finer(&record)];
        let panel = panel("y [m]", [1.0, 2.0], curves(&runs, |r, k| 2.0 * r.t[k]));
        assert_eq!(panel.curves[0].points, [[1.0, 2.0], [2.0, 4.0]]);
        assert_eq!(panel.curves[1].name, "GGL, h = 1e0 s");
        let (number, figure) = figure(4, "gap", vec![panel.clone(), panel]);
        assert_eq!((number, figure.columns), (4, 2));
        assert!(figure.svg().contains("Fig. 4"));
    }
}
