//! The curves of a run: figures of the columns of its series that belong together.

use riprap_io::table::Column;

use crate::figure::{Axis, Colour, Curve, Dash, Figure, Panel};
use crate::series::Series;

/// A figure with the name of its file, without an ending.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Name of the file.
    pub name: String,
    /// The figure.
    pub figure: Figure,
}

/// Size of a panel [px].
const PANEL: [u32; 2] = [860, 250];
/// Curves in a panel; more go into further ones.
const CURVES: usize = 8;
/// Points of a curve that is not thinned; others have two per pixel column.
const POINTS: usize = 4000;

/// Columns of the general figures: name of the file, title, panels of columns (a `*` matches any letters), and whether the
/// vertical axes are logarithmic.
const GENERAL: [(&str, &str, &[&[&str]], bool); 7] = [
    ("energies", "Energies", &[&["kinetic_energy", "potential_energy", "total_energy"]], false),
    ("account", "Where the energy goes", &[&["dissipated_*", "other_work"]], false),
    ("momenta", "Momenta", &[&["momentum_?"], &["angular_momentum_?"]], false),
    (
        "contacts",
        "Contacts and sweeps",
        &[&["contacts", "touching_pairs"], &["sweeps"], &["unconverged_steps"]],
        false,
    ),
    (
        "solver",
        "Residual and penetration",
        &[&["residual"], &["penetration"], &["loop_residual"]],
        true,
    ),
    (
        "degradation",
        "Fragmentation and wear",
        &[&["breaks", "pieces"], &["dust_mass", "worn_mass"], &["total_mass"]],
        false,
    ),
    (
        "population",
        "Bodies inserted and removed",
        &[&["bodies"], &["inserted", "removed"], &["inserted_mass", "removed_mass"]],
        false,
    ),
];

/// The usual figures: energies, momenta, contacts, solver, then each mechanism and probe.
pub fn usual(series: &Series) -> Vec<Plot> {
    let mut plots = Vec::new();
    let mut used = vec![false; series.columns.len()];
    for (name, title, panels, logarithmic) in GENERAL {
        let select = |patterns: &&[&str]| -> Vec<usize> {
            patterns.iter().flat_map(|pattern| series.select(pattern)).collect()
        };
        let panels: Vec<Vec<usize>> = panels.iter().map(select).filter(|p| !p.is_empty()).collect();
        panels.iter().flatten().for_each(|k| used[*k] = true);
        // A count that stays zero, such as that of unconverged steps, needs no curve.
        let panels = panels.into_iter().filter(|columns| !is_still(series, columns));
        let panels: Vec<Panel> =
            panels.map(|columns| panel(series, &columns, logarithmic)).collect();
        plots.extend((!panels.is_empty()).then(|| stacked(name, title, panels)));
    }
    for (owner, columns) in owners(series, &used) {
        let panels = by_unit(series, &columns);
        plots.push(stacked(&slug(&owner), &owner, panels));
    }
    unique(&mut plots);
    plots
}

/// One figure of the columns that match patterns; those that match none are returned as an error.
pub fn chosen(series: &Series, patterns: &[String]) -> Result<Plot, Vec<String>> {
    let missing = patterns.iter().filter(|pattern| series.select(pattern).is_empty());
    let missing: Vec<String> = missing.cloned().collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    let mut columns: Vec<usize> = Vec::new();
    for column in patterns.iter().flat_map(|pattern| series.select(pattern)) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    Ok(stacked("series", "", by_unit(series, &columns)))
}

/// Whether all columns are zero throughout.
fn is_still(series: &Series, columns: &[usize]) -> bool {
    columns.iter().all(|k| series.values[*k].iter().all(|v| *v == 0.0))
}

/// Remaining columns by the part of their names before the first dot: mechanisms, probes.
fn owners(series: &Series, used: &[bool]) -> Vec<(String, Vec<usize>)> {
    let mut owners: Vec<(String, Vec<usize>)> = Vec::new();
    for k in (1..series.columns.len()).filter(|k| !used[*k]) {
        let name = &series.columns[k].name;
        let owner = name.split_once('.').map_or(name.as_str(), |(owner, _)| owner);
        match owners.iter_mut().find(|(known, _)| known == owner) {
            Some((_, columns)) => columns.push(k),
            None => owners.push((owner.to_owned(), vec![k])),
        }
    }
    owners
}

/// Panels of columns with the same unit.
fn by_unit(series: &Series, columns: &[usize]) -> Vec<Panel> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    for k in columns {
        let unit = series.columns[*k].unit.as_str();
        match groups.iter_mut().find(|(known, list)| *known == unit && list.len() < CURVES) {
            Some((_, list)) => list.push(*k),
            None => groups.push((unit, vec![*k])),
        }
    }
    groups.iter().map(|(_, columns)| panel(series, columns, false)).collect()
}

const COLOURS: [Colour; 6] =
    [Colour::Blue, Colour::Vermilion, Colour::Green, Colour::Orange, Colour::Purple, Colour::Grey];

fn panel(series: &Series, columns: &[usize], logarithmic: bool) -> Panel {
    let curve = |(index, k): (usize, &usize)| {
        let points = thinned(series.times(), &series.values[*k]);
        let (name, index) = legend(series, columns, index);
        let dash = [Dash::Solid, Dash::Dashed][(index / COLOURS.len()) % 2];
        Curve::new(name, COLOURS[index % COLOURS.len()], points).dash(dash)
    };
    let positive = |k: &usize| series.values[*k].iter().any(|v| *v > 0.0);
    let mut y = Axis::new(&label(series, columns));
    if logarithmic && columns.iter().any(positive) {
        y = y.logarithmic();
    }
    let curves = columns.iter().enumerate().map(curve).collect();
    Panel { title: String::new(), x: Axis::new("time [s]"), y, curves }
}

/// Name of a curve in the legend and number of its colour: none if it is alone, `x` if all are components of one vector.
fn legend<'a>(series: &'a Series, columns: &[usize], index: usize) -> (&'a str, usize) {
    let name = |k: usize| series.columns[k].name.as_str();
    let parts = |k: usize| name(k).rsplit_once('_').filter(|(_, axis)| AXES.contains(axis));
    let own = columns[index];
    let same =
        |stem: &str| columns.iter().all(|k| parts(*k).is_some_and(|(other, _)| other == stem));
    match parts(own) {
        _ if columns.len() == 1 => ("", 0),
        Some((stem, axis)) if same(stem) => {
            (axis, AXES.iter().position(|known| *known == axis).unwrap_or(0))
        }
        _ => (name(own), index),
    }
}

/// Endings of the names of components.
const AXES: [&str; 4] = ["x", "y", "z", "w"];

/// Label of the vertical axis: what the names have in common, and the unit.
fn label(series: &Series, columns: &[usize]) -> String {
    let Column { name, unit } = &series.columns[columns[0]];
    let unit = if unit == "-" { "–" } else { unit };
    let word = |name: &str| {
        let name = name.rsplit_once('.').map_or(name, |(_, last)| last);
        let stem = name.rsplit_once('_').filter(|(_, axis)| AXES.contains(axis));
        stem.map_or(name, |(stem, _)| stem).to_owned()
    };
    let first = word(name);
    let same = columns.iter().all(|k| word(&series.columns[*k].name) == first);
    let energies = || columns.iter().all(|k| series.columns[*k].name.ends_with("energy"));
    let quantity = match unit {
        _ if same => first.replace('_', " "),
        _ if energies() => "energy".to_owned(),
        "J" => "energy, work".into(),
        "N" => "force".into(),
        "N m" => "moment".into(),
        "m" => "length".into(),
        "m/s" => "velocity".into(),
        "rad" => "angle".into(),
        "rad/s" => "angular velocity".into(),
        "kg" => "mass".into(),
        _ => String::new(),
    };
    format!("{quantity} [{unit}]").trim_start().to_owned()
}

/// Points of a curve: all of them, or the smallest and the largest value in each of many short intervals, in order of time.
pub(crate) fn thinned(times: &[f64], values: &[f64]) -> Vec<[f64; 2]> {
    let points = times.iter().zip(values).map(|(t, v)| [*t, *v]);
    let points: Vec<[f64; 2]> = points.filter(|p| p[0].is_finite() && p[1].is_finite()).collect();
    if points.len() <= POINTS {
        return points;
    }
    let each = (2 * points.len()).div_ceil(POINTS);
    let mut kept = Vec::with_capacity(POINTS);
    for part in points.chunks(each) {
        let by_value = |a: &&[f64; 2], b: &&[f64; 2]| a[1].total_cmp(&b[1]);
        let ends = [part.iter().min_by(by_value), part.iter().max_by(by_value)];
        let mut ends: Vec<[f64; 2]> = ends.into_iter().flatten().copied().collect();
        ends.sort_by(|a, b| a[0].total_cmp(&b[0]));
        kept.extend(ends);
    }
    kept
}

/// A figure of panels one below the other.
fn stacked(name: &str, title: &str, panels: Vec<Panel>) -> Plot {
    let size = [PANEL[0], 60 + PANEL[1] * panels.len() as u32];
    let figure = Figure { title: title.to_owned(), size, columns: 1, panels };
    Plot { name: name.to_owned(), figure }
}

/// A name of a file for any name: letters, digits and hyphens.
fn slug(name: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let text: String = name.chars().map(letter).take(60).collect();
    let text = text.trim_matches('-').to_lowercase();
    if text.is_empty() { "column".into() } else { text }
}

/// Numbers names that occur more than once.
fn unique(plots: &mut [Plot]) {
    for k in 0..plots.len() {
        let name = plots[k].name.clone();
        let mut number = 2;
        while plots[..k].iter().any(|plot| plot.name == plots[k].name) {
            plots[k].name = format!("{name}-{number}");
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(columns: &[(&str, &str)], rows: usize) -> Series {
        let columns =
            columns.iter().map(|(name, unit)| Column::new(*name, *unit)).collect::<Vec<_>>();
        let value = |k: usize, row: usize| {
            if k == 0 { row as f64 * 0.01 } else { ((k * row) as f64).sin() }
        };
        let values = (0..columns.len()).map(|k| (0..rows).map(|row| value(k, row)).collect());
        Series { values: values.collect(), columns }
    }

    #[test]
    fn columns_that_belong_together_are_in_one_figure() {
        let columns = [
            ("time", "s"),
            ("kinetic_energy", "J"),
            ("total_energy", "J"),
            ("residual", "-"),
            ("arm.q", "rad"),
            ("arm.v", "rad/s"),
            ("Arm.force_mean_x", "N"),
            ("Arm.force_max", "N"),
            ("bob", "m"),
            ("bob.v_x", "m/s"),
            ("bob.v_z", "m/s"),
        ];
        let plots = usual(&series(&columns, 20));
        let names: Vec<&str> = plots.iter().map(|plot| plot.name.as_str()).collect();
        assert_eq!(names, ["energies", "solver", "arm", "arm-2", "bob"]);
        let panels: Vec<usize> = plots.iter().map(|plot| plot.figure.panels.len()).collect();
        assert_eq!(panels, [1, 1, 2, 1, 2]);
        let labels: Vec<&str> =
            plots.iter().flat_map(|p| &p.figure.panels).map(|p| p.y.label.as_str()).collect();
        let expected = [
            "energy [J]",
            "residual [–]",
            "q [rad]",
            "v [rad/s]",
            "force [N]",
            "bob [m]",
            "v [m/s]",
        ];
        assert_eq!(labels, expected);
        let names = |plot: &Plot, panel: usize| {
            let curves = plot.figure.panels[panel].curves.iter();
            curves.map(|c| (c.name.clone(), c.colour)).collect::<Vec<_>>()
        };
        assert_eq!(names(&plots[4], 0), [(String::new(), Colour::Blue)]);
        let components = [("x".to_owned(), Colour::Blue), ("z".to_owned(), Colour::Green)];
        assert_eq!(names(&plots[4], 1), components);
        let svg = plots[0].figure.svg();
        assert!(
            svg.contains("time [s]")
                && svg.contains("energy [J]")
                && svg.contains("kinetic_energy")
        );
    }

    #[test]
    fn plots_are_well_formed_whatever_the_names() {
        let series = series(&[("time", "s"), ("<b>&\"'.x", "m"), ("a]]>", "<N>")], 3);
        for plot in usual(&series) {
            let svg = plot.figure.svg();
            let tree = elements(&svg);
            assert!(tree > 10, "{svg}");
            assert!(!svg.contains("<b>"));
        }
    }

    /// Number of elements; panics if the tags of a document do not match.
    fn elements(text: &str) -> usize {
        let (mut open, mut count) = (Vec::new(), 0);
        for tag in text.split('<').skip(1) {
            let (tag, _) = tag.split_once('>').expect("a tag that ends");
            let name = tag.trim_start_matches('/').split_whitespace().next().unwrap_or_default();
            match (tag.starts_with('/'), tag.ends_with('/')) {
                (true, _) => assert_eq!(open.pop(), Some(name)),
                (false, false) => open.push(name),
                (false, true) => {}
            }
            count += 1;
        }
        assert!(open.is_empty(), "{open:?}");
        count
    }

    #[test]
    fn long_series_keep_their_peaks() {
        let times: Vec<f64> = (0..100_000).map(f64::from).collect();
        let mut values = vec![0.0; times.len()];
        (values[12_345], values[77_777]) = (5.0, -3.0);
        let points = thinned(&times, &values);
        assert!(points.len() <= POINTS);
        assert!(points.contains(&[12_345.0, 5.0]) && points.contains(&[77_777.0, -3.0]));
        assert!(points.windows(2).all(|w| w[0][0] <= w[1][0]));
    }

    #[test]
    fn patterns_without_a_column_are_named() {
        let series = series(&[("time", "s"), ("arm.q", "rad"), ("arm.v", "rad/s")], 3);
        assert_eq!(chosen(&series, &["arm.*".into()]).unwrap().figure.panels.len(), 2);
        let missing = chosen(&series, &["arm.q".into(), "leg.*".into()]).unwrap_err();
        assert_eq!(missing, ["leg.*"]);
    }

    #[test]
    fn thinned_curves_keep_the_extremes_of_every_part_and_their_order() {
        let n = 50_000;
        let times: Vec<f64> = (0..n).map(|k| 1e-3 * f64::from(k)).collect();
        let values: Vec<f64> = times.iter().map(|t| (7.0 * t).sin() * (1.0 + t)).collect();
        let points = thinned(&times, &values);
        assert!(points.len() <= POINTS && points.len() > POINTS / 2);
        assert!(points.windows(2).all(|w| w[0][0] <= w[1][0]));
        let range = |v: &mut dyn Iterator<Item = f64>| {
            v.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)))
        };
        assert_eq!(range(&mut points.iter().map(|p| p[1])), range(&mut values.iter().copied()));
        // Every point is one of the series.
        for [t, v] in &points {
            let k = times.partition_point(|time| time < t);
            assert_eq!([times[k], values[k]], [*t, *v]);
        }
    }

    #[test]
    fn short_series_are_drawn_as_they_are_without_what_is_not_finite() {
        let times = [0.0, 1.0, 2.0, f64::NAN, 4.0];
        let values = [1.0, f64::NAN, f64::INFINITY, 3.0, -2.0];
        assert_eq!(thinned(&times, &values), [[0.0, 1.0], [4.0, -2.0]]);
        // Columns of unequal lengths are read as far as both go.
        assert_eq!(thinned(&times[..1], &values), [[0.0, 1.0]]);
        assert!(thinned(&[], &[]).is_empty());
    }

    #[test]
    fn series_of_no_rows_of_one_row_and_of_bad_values_are_plotted() {
        let columns = [("time", "s"), ("kinetic_energy", "J"), ("residual", "-"), ("a.b", "m")];
        for rows in [0, 1, 2] {
            for bad in [None, Some(f64::NAN), Some(f64::INFINITY)] {
                let mut series = series(&columns, rows);
                for values in series.values.iter_mut().skip(1) {
                    values.iter_mut().for_each(|v| *v = bad.unwrap_or(1.0));
                }
                let plots = usual(&series);
                // Without rows all columns are zero throughout; only the owners of columns are drawn.
                assert_eq!(plots.len(), if rows == 0 { 1 } else { 3 }, "{rows} {bad:?}");
                for plot in plots {
                    assert!(elements(&plot.figure.svg()) > 5);
                }
            }
        }
    }

    #[test]
    fn counts_that_stay_zero_have_no_curve() {
        let columns =
            [("time", "s"), ("contacts", "-"), ("sweeps", "-"), ("unconverged_steps", "-")];
        let mut series = series(&columns, 5);
        series.values[3].fill(0.0);
        let labels = |series: &Series| -> Vec<String> {
            usual(series)[0].figure.panels.iter().map(|panel| panel.y.label.clone()).collect()
        };
        assert_eq!(labels(&series), ["contacts [–]", "sweeps [–]"]);
        series.values[3][4] = 1.0;
        assert_eq!(labels(&series).len(), 3);
    }

    #[test]
    fn axes_are_logarithmic_only_where_there_is_a_positive_value() {
        let mut series = series(&[("time", "s"), ("residual", "-"), ("penetration", "-")], 3);
        (series.values[1], series.values[2]) = (vec![1e-9, 0.0, -1.0], vec![-1.0, -2.0, 0.0]);
        let panels = &usual(&series)[0].figure.panels;
        assert_eq!(panels.iter().map(|p| p.y.logarithmic).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn many_columns_of_one_unit_are_split_into_panels() {
        let names: Vec<String> = (0..20).map(|k| format!("p.s{k}")).collect();
        let mut columns = vec![("time", "s")];
        columns.extend(names.iter().map(|name| (name.as_str(), "Pa")));
        let plots = usual(&series(&columns, 3));
        let panels: Vec<usize> = plots[0].figure.panels.iter().map(|p| p.curves.len()).collect();
        assert_eq!(panels, [8, 8, 4]);
        // No two curves of a panel look alike.
        for panel in &plots[0].figure.panels {
            let looks: Vec<_> = panel.curves.iter().map(|c| (c.colour, c.dash)).collect();
            assert!((1..looks.len()).all(|k| !looks[..k].contains(&looks[k])), "{looks:?}");
        }
    }

    #[test]
    fn names_of_files_are_safe_and_different() {
        let columns = [
            ("time", "s"),
            ("../../etc/passwd.x", "m"),
            ("a/b.x", "m"),
            ("A b.x", "m"),
            // Names that begin with a dot have no owner and share a figure.
            ("...", "m"),
            ("energies.x", "m"),
            ("kinetic_energy", "J"),
            ("größe.x", "m"),
        ];
        let names: Vec<String> = usual(&series(&columns, 3)).into_iter().map(|p| p.name).collect();
        let expected = ["energies", "column", "a-b", "a-b-2", "energies-2", "größe"];
        assert_eq!(names, expected);
        let long = "x".repeat(500);
        let plots = usual(&series(&[("time", "s"), (&long, "m")], 3));
        assert_eq!(plots[0].name.len(), 60);
    }

    #[test]
    fn a_column_that_matches_twice_is_drawn_once() {
        let series = series(&[("time", "s"), ("a.x", "m"), ("a.y", "m"), ("b", "N")], 3);
        let plot = chosen(&series, &["a.*".into(), "*x".into(), "b".into(), "*".into()]).unwrap();
        let curves: Vec<usize> = plot.figure.panels.iter().map(|p| p.curves.len()).collect();
        assert_eq!(curves, [2, 1]);
        assert_eq!(chosen(&series, &["time".into()]).unwrap_err(), ["time"]);
    }

    #[test]
    fn labels_name_the_quantity_of_columns_with_one_unit() {
        for (names, unit, label) in [
            (&["blade.force_x", "blade.force_z"][..], "N", "force [N]"),
            (&["blade.force_x", "blade.moment_z"], "N", "force [N]"),
            (&["a.q", "b.v"], "rad", "angle [rad]"),
            (&["kinetic_energy", "total_energy"], "J", "energy [J]"),
            (&["dissipated_friction", "other_work"], "J", "energy, work [J]"),
            (&["a", "b"], "1/s", "[1/s]"),
            (&["touching_pairs"], "-", "touching pairs [–]"),
        ] {
            let mut columns = vec![("time", "s")];
            columns.extend(names.iter().map(|name| (*name, unit)));
            let series = series(&columns, 2);
            let all: Vec<usize> = (1..columns.len()).collect();
            assert_eq!(super::label(&series, &all), label, "{names:?}");
        }
    }
}
