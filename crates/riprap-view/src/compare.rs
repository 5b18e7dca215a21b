//! Differences of two runs: scenes, summaries and series.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use riprap_io::Error;
use serde_json::Value;

use crate::figure::{Axis, Colour, Curve, Dash, Figure, Panel};
use crate::files;
use crate::html::{escaped, page, table};
use crate::series::{Series, short};

/// What differs between two runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Names of the runs.
    pub names: [String; 2],
    /// Keys of the scenes that differ, with both values; `None` where a scene lacks the key.
    pub scene: Vec<(String, [Option<String>; 2])>,
    /// Numbers of both summaries that differ.
    pub numbers: Vec<(String, [f64; 2])>,
    /// Columns of both series.
    pub columns: Vec<ColumnDifference>,
    /// Columns that only one of the series has, with its index.
    pub missing: Vec<(String, usize)>,
    /// The first time at which a column differs [s].
    pub first: Option<f64>,
    /// The last time of each series [s]; `None` if it has no rows. Only times within both are compared.
    pub ends: [Option<f64>; 2],
    series: [Series; 2],
}

/// How a column differs between two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDifference {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Largest difference.
    pub max: f64,
    /// When [s].
    pub when: f64,
    /// Root of the mean square of the differences.
    pub rms: f64,
    /// Largest magnitude in both series.
    pub scale: f64,
    /// The first time at which it differs [s].
    pub first: Option<f64>,
}

impl ColumnDifference {
    /// Largest difference relative to the largest magnitude [–].
    pub fn relative(&self) -> f64 {
        if self.max == 0.0 { 0.0 } else { self.max / self.scale }
    }
}

impl Comparison {
    /// Compares the runs in two folders.
    pub fn of(folders: [&Path; 2]) -> Result<Comparison, Error> {
        let summaries = [files::summary(folders[0])?, files::summary(folders[1])?];
        let series = [Series::read(folders[0])?, Series::read(folders[1])?];
        let scene = |folder: &Path| -> BTreeMap<String, String> {
            let text = files::text(&folder.join("scene.toml")).unwrap_or_default();
            let table = text.parse().unwrap_or_default();
            let mut keys = BTreeMap::new();
            scene_keys("", &toml::Value::Table(table), &mut keys);
            keys
        };
        let names = folders.map(|folder| folder.display().to_string());
        let mut comparison = Comparison { names, ..Comparison::default() };
        comparison.scene = differing(&folders.map(scene));
        comparison.numbers = numbers(&summaries);
        (comparison.columns, comparison.missing) = columns(&series);
        let firsts = comparison.columns.iter().filter_map(|column| column.first);
        comparison.first = firsts.reduce(f64::min);
        comparison.ends = [0, 1].map(|run| series[run].times().last().copied());
        comparison.series = series;
        Ok(comparison)
    }

    /// Whether both series have the same columns and the same end, and differ by at most a part of their largest magnitude [–].
    pub fn is_within(&self, tolerance: f64) -> bool {
        let near = |column: &ColumnDifference| column.relative() <= tolerance;
        self.missing.is_empty() && self.ends_together() && self.columns.iter().all(near)
    }

    /// Whether the series have the same columns with the same values over the same time.
    pub fn has_equal_series(&self) -> bool {
        self.first.is_none() && self.missing.is_empty() && self.ends_together()
    }

    /// Whether both series end at the same time, up to round-off.
    fn ends_together(&self) -> bool {
        match self.ends {
            [Some(a), Some(b)] => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
            [a, b] => a == b,
        }
    }

    /// In words how the series differ.
    pub fn verdict(&self) -> String {
        let mut sentences = Vec::new();
        sentences
            .extend(self.first.map(|t| format!("The series differ from {} s on.", short(t, 6))));
        if !self.missing.is_empty() {
            sentences.push("Some columns are in one series only.".into());
        }
        if !self.ends_together() {
            let end = |end: Option<f64>| {
                end.map_or("has no rows".into(), |t| format!("ends at {} s", short(t, 6)))
            };
            let [a, b] = self.ends.map(end);
            sentences.push(format!(
                "The first series {a}, the second {b}; only the common time is compared."
            ));
        }
        if sentences.is_empty() { "The series are equal.".into() } else { sentences.join(" ") }
    }

    /// The comparison as a page that needs no other files.
    pub fn html(&self) -> String {
        let [a, b] = [&self.names[0], &self.names[1]].map(String::as_str);
        let mut body = format!("<h1>{} and {}</h1>\n", escaped(a), escaped(b));
        let _ = writeln!(body, "<p class=\"lead\">{}</p>", self.verdict());
        body += "<h2>Scenes</h2>\n";
        body += &match self.scene.is_empty() {
            true => "<p class=\"fine\">The scenes are equal.</p>\n".into(),
            false => table(&["key", a, b], &self.scene_rows(), &[]),
        };
        body += "<h2>Summaries</h2>\n";
        body += &match self.numbers.is_empty() {
            true => "<p class=\"fine\">All numbers are equal.</p>\n".into(),
            false => table(&["number", a, b, "ratio"], &self.number_rows(), &[1, 2, 3]),
        };
        body += "<h2>Series</h2>\n";
        let head = ["column", "largest difference", "at [s]", "RMS", "relative", "from [s]"];
        body += &table(&head, &self.column_rows(), &[1, 2, 3, 4, 5]);
        body += "<div class=\"curves\">\n";
        for figure in self.figures() {
            let _ = writeln!(body, "<figure>{}</figure>", figure.svg());
        }
        page(&format!("{a} and {b}"), &(body + "</div>\n"))
    }

    /// Rows of differing keys of the scenes: key, both values.
    pub fn scene_rows(&self) -> Vec<Vec<String>> {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "–".into());
        self.scene.iter().map(|(key, [a, b])| vec![key.clone(), text(a), text(b)]).collect()
    }

    /// Rows of differing numbers of the summaries: name, both values, their ratio.
    pub fn number_rows(&self) -> Vec<Vec<String>> {
        let row = |(name, [a, b]): &(String, [f64; 2])| {
            let ratio = if *a == 0.0 { "–".into() } else { short(b / a, 5) };
            vec![name.clone(), short(*a, 6), short(*b, 6), ratio]
        };
        self.numbers.iter().map(row).collect()
    }

    /// Rows of columns: name and unit, largest difference, when, RMS, relative, first time. Columns that one run lacks come last.
    pub fn column_rows(&self) -> Vec<Vec<String>> {
        let row = |c: &ColumnDifference| {
            let differs = |text: String| if c.first.is_some() { text } else { "–".into() };
            vec![
                format!("{} [{}]", c.name, c.unit),
                short(c.max, 4),
                differs(short(c.when, 5)),
                short(c.rms, 4),
                differs(short(c.relative(), 3)),
                c.first.map_or("–".into(), |time| short(time, 5)),
            ]
        };
        let lacks = |(name, run): &(String, usize)| {
            vec![name.clone(), format!("only in {}", self.names[*run])]
        };
        self.columns.iter().map(row).chain(self.missing.iter().map(lacks)).collect()
    }

    /// Both runs in one panel for each column that differs, the largest relative differences first; at most 24.
    fn figures(&self) -> Vec<Figure> {
        let mut columns: Vec<&ColumnDifference> =
            self.columns.iter().filter(|c| c.first.is_some()).collect();
        columns.sort_by(|a, b| b.relative().total_cmp(&a.relative()));
        let figure = |column: &&ColumnDifference| {
            let curve = |run: usize| {
                let series = &self.series[run];
                let values = series.column(&column.name).unwrap_or(&[]);
                let points = crate::plot::thinned(series.times(), values);
                let colour = [Colour::Blue, Colour::Vermilion][run];
                let dash = [Dash::Solid, Dash::Dashed][run];
                Curve::new(&self.names[run], colour, points).dash(dash)
            };
            let y = Axis::new(&format!("[{}]", column.unit));
            let x = Axis::new("time [s]");
            let panel = Panel { title: String::new(), x, y, curves: vec![curve(0), curve(1)] };
            Figure { title: column.name.clone(), size: [860, 310], columns: 1, panels: vec![panel] }
        };
        columns.iter().take(24).map(figure).collect()
    }
}

/// Keys of a scene with their values as text, such as `solver.tolerance` or `body[2].mass`.
fn scene_keys(name: &str, value: &toml::Value, keys: &mut BTreeMap<String, String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                scene_keys(&name, value, keys);
            }
        }
        toml::Value::Array(items) if items.iter().any(toml::Value::is_table) => {
            for (k, item) in items.iter().enumerate() {
                scene_keys(&format!("{name}[{k}]"), item, keys);
            }
        }
        other => {
            keys.insert(name.to_owned(), other.to_string());
        }
    }
}

/// Keys whose values differ; long values are shortened.
fn differing(scenes: &[BTreeMap<String, String>; 2]) -> Vec<(String, [Option<String>; 2])> {
    let mut keys: Vec<&String> = scenes[0].keys().chain(scenes[1].keys()).collect();
    keys.sort();
    keys.dedup();
    let shortened = |text: &String| match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.clone(),
    };
    let pairs = keys.into_iter().filter(|key| scenes[0].get(*key) != scenes[1].get(*key));
    pairs
        .map(|key| {
            let values = [scenes[0].get(key), scenes[1].get(key)];
            (key.clone(), values.map(|value| value.map(shortened)))
        })
        .collect()
}

/// Numbers that both summaries have and that differ.
fn numbers(summaries: &[Value; 2]) -> Vec<(String, [f64; 2])> {
    let mut lists = [Vec::new(), Vec::new()];
    for (summary, list) in summaries.iter().zip(&mut lists) {
        summary_numbers("", summary, list);
    }
    let [first, second] = lists;
    let second: BTreeMap<String, f64> = second.into_iter().collect();
    let both =
        first.into_iter().filter_map(|(key, a)| Some((key.clone(), [a, *second.get(&key)?])));
    both.filter(|(_, [a, b])| a.to_bits() != b.to_bits()).collect()
}

fn summary_numbers(name: &str, value: &Value, list: &mut Vec<(String, f64)>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                summary_numbers(&name, member, list);
            }
        }
        Value::Number(number) => list.extend(number.as_f64().map(|x| (name.to_owned(), x))),
        _ => {}
    }
}

/// Differences of the columns that both series have, and the names of the others.
fn columns(series: &[Series; 2]) -> (Vec<ColumnDifference>, Vec<(String, usize)>) {
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for (k, column) in series[0].columns.iter().enumerate().skip(1) {
        match series[1].column(&column.name) {
            Some(other) => {
                let own = (series[0].times(), &series[0].values[k][..]);
                let mut difference = difference(own, (series[1].times(), other));
                (difference.name, difference.unit) = (column.name.clone(), column.unit.clone());
                found.push(difference);
            }
            None => missing.push((column.name.clone(), 0)),
        }
    }
    let others = series[1].columns.iter().skip(1);
    let others = others.filter(|c| series[0].column(&c.name).is_none());
    missing.extend(others.map(|c| (c.name.clone(), 1)));
    (found, missing)
}

/// The difference of two columns, each with its times; the second is interpolated at the times of the first.
fn difference(a: (&[f64], &[f64]), b: (&[f64], &[f64])) -> ColumnDifference {
    let mut result = ColumnDifference {
        name: String::new(),
        unit: String::new(),
        max: 0.0,
        when: 0.0,
        rms: 0.0,
        scale: 0.0,
        first: None,
    };
    let (mut sum, mut count) = (0.0, 0);
    for (time, value) in a.0.iter().zip(a.1) {
        let Some(other) = interpolated(b, *time) else { continue };
        result.scale = result.scale.max(value.abs()).max(other.abs());
        // Two values that are not numbers are equal, and so are two infinite ones of the same sign.
        let same = *value == other || (value.is_nan() && other.is_nan());
        let apart = if same { 0.0 } else { (value - other).abs() };
        let apart = if apart.is_nan() { f64::INFINITY } else { apart };
        if apart > 0.0 && result.first.is_none() {
            result.first = Some(*time);
        }
        if apart > result.max {
            (result.max, result.when) = (apart, *time);
        }
        sum += apart * apart;
        count += 1;
    }
    result.rms = (sum / f64::from(count.max(1))).sqrt();
    result
}

/// The value of a column at a time within its range.
fn interpolated((times, values): (&[f64], &[f64]), time: f64) -> Option<f64> {
    let after = times.partition_point(|t| *t < time);
    let (next, value) = (times.get(after)?, *values.get(after)?);
    if *next == time {
        return Some(value);
    }
    let (before, last) = (times.get(after.checked_sub(1)?)?, values[after - 1]);
    Some(last + (time - before) / (next - before) * (value - last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn run(name: &str, dt: f64, rows: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("riprap-compare-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let summary =
            format!("{{\"dt_s\": {dt}, \"sweeps\": {{\"max\": 4}}, \"state\": \"finished\"}}");
        std::fs::write(folder.join("summary.json"), summary).unwrap();
        let scene = format!("seed = 1\n[run]\ndt = {dt}\n[[body]]\nname = \"<b>\"\nmass = {dt}\n");
        std::fs::write(folder.join("scene.toml"), scene).unwrap();
        std::fs::write(folder.join("series.csv"), format!("time [s],x [m],y [m]\n{rows}")).unwrap();
        folder
    }

    #[test]
    fn a_run_is_equal_to_itself() {
        let folder = run("equal", 0.5, "0,1,NaN\n1,2,3\n");
        let comparison = Comparison::of([&folder, &folder]).unwrap();
        assert!(comparison.scene.is_empty() && comparison.numbers.is_empty());
        assert!(comparison.first.is_none() && comparison.is_within(0.0));
        assert!(comparison.html().contains("The series are equal"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn differences_have_a_size_and_a_time() {
        let a = run("a", 0.5, "0,1,0\n1,2,0\n2,4,0\n");
        let b = run("b", 0.25, "0,1,0\n0.5,1.5,0\n1.5,3,0\n2,2,0\n");
        let comparison = Comparison::of([&a, &b]).unwrap();
        let keys: Vec<&str> = comparison.scene.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["body[0].mass", "run.dt"]);
        assert_eq!(comparison.numbers, [("dt_s".to_owned(), [0.5, 0.25])]);
        assert_eq!(comparison.number_rows()[0][3], "0.5");
        let x = &comparison.columns[0];
        // The second run is 2.25 at 1 s by interpolation.
        assert_eq!((x.max, x.when, x.first, x.scale), (2.0, 2.0, Some(1.0), 4.0));
        assert!((x.rms - ((0.0625_f64 + 4.0) / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!((x.relative(), comparison.first), (0.5, Some(1.0)));
        assert!(comparison.is_within(0.5) && !comparison.is_within(0.49));
        let html = comparison.html();
        assert!(html.contains("<svg") && html.contains("1 s on"));
        for folder in [a, b] {
            std::fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn a_column_that_one_run_lacks_exceeds_every_tolerance() {
        let series = |names: &[&str]| {
            let text = format!("time [s],{}\n0{}\n", names.join(","), ",1".repeat(names.len()));
            text
        };
        let (a, b) = (run("c", 0.5, ""), run("d", 0.5, ""));
        std::fs::write(a.join("series.csv"), series(&["x [m]", "only [N]"])).unwrap();
        std::fs::write(b.join("series.csv"), series(&["x [m]", "other [N]"])).unwrap();
        let comparison = Comparison::of([&a, &b]).unwrap();
        assert_eq!(comparison.missing, [("only".to_owned(), 0), ("other".to_owned(), 1)]);
        assert!(comparison.first.is_none() && !comparison.is_within(1e9));
        for folder in [a, b] {
            std::fs::remove_dir_all(folder).unwrap();
        }
    }

    /// The difference of a column, given as texts of `series.csv`.
    fn of_texts(a: &str, b: &str) -> Comparison {
        static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = NUMBER.fetch_add(2, std::sync::atomic::Ordering::Relaxed);
        let folders =
            [run(&format!("t{number}"), 0.5, ""), run(&format!("t{}", number + 1), 0.5, "")];
        for (folder, text) in folders.iter().zip([a, b]) {
            std::fs::write(folder.join("series.csv"), text).unwrap();
        }
        let comparison = Comparison::of([&folders[0], &folders[1]]).unwrap();
        folders.into_iter().for_each(|folder| std::fs::remove_dir_all(folder).unwrap());
        comparison
    }

    #[test]
    fn a_run_that_ended_early_is_not_equal_to_one_that_did_not() {
        let whole = "time [s],x [m]\n0,1\n1,2\n2,3\n";
        for (text, words) in [
            ("time [s],x [m]\n0,1\n1,2\n", "the second ends at 1 s"),
            ("time [s],x [m]\n", "the second has no rows"),
        ] {
            let comparison = of_texts(whole, text);
            assert!(comparison.first.is_none() && !comparison.has_equal_series());
            assert!(!comparison.is_within(1e9), "{text}");
            let html = comparison.html();
            assert!(html.contains(words) && !html.contains("series are equal"), "{words}");
        }
        // Times are sums of steps, so ends that are meant to be equal differ by round-off.
        let late = of_texts(whole, "time [s],x [m]\n0,1\n1,2\n2.0000000000000004,3\n");
        assert!(late.is_within(1e-15), "{}", late.verdict());
        assert!(of_texts("time [s],x [m]\n", "time [s],x [m]\n").has_equal_series());
    }

    #[test]
    fn values_that_are_not_finite_are_equal_to_themselves_only() {
        let with = |value: &str| format!("time [s],x [m]\n0,1\n1,{value}\n");
        let values = ["NaN", "inf", "-inf", "2"];
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                let comparison = of_texts(&with(a), &with(b));
                assert_eq!(comparison.has_equal_series(), i == j, "{a} {b}");
                assert_eq!(comparison.is_within(1e300), i == j, "{a} {b}");
                assert_eq!(comparison.first, (i != j).then_some(1.0), "{a} {b}");
                assert!(comparison.html().ends_with("</html>\n"));
            }
        }
    }

    #[test]
    fn the_tolerance_is_relative_to_the_largest_magnitude_of_each_column() {
        let a = "time [s],small [m],large [m]\n0,1e-6,1000\n1,2e-6,-2000\n";
        let b = "time [s],small [m],large [m]\n0,1e-6,1000\n1,1.5e-6,-2000.5\n";
        let comparison = of_texts(a, b);
        let relative: Vec<f64> =
            comparison.columns.iter().map(ColumnDifference::relative).collect();
        assert!((relative[0] - 0.25).abs() < 1e-12, "{relative:?}");
        assert!((relative[1] - 0.5 / 2000.5).abs() < 1e-12, "{relative:?}");
        assert!(comparison.is_within(0.2501) && !comparison.is_within(0.2499));
        let rows = comparison.column_rows();
        assert_eq!(rows[1], ["large [m]", "0.5", "1", "0.3536", "2.5e-4", "1"]);
        let equal = of_texts(a, a).column_rows();
        assert_eq!(equal[0][1..], ["0", "–", "0", "–", "–"]);
    }

    #[test]
    fn a_column_whose_place_differs_is_found_by_its_name() {
        let a = "time [s],x [m],y [N]\n0,1,2\n";
        let b = "time [s],y [N],x [m]\n0,2,1\n";
        assert!(of_texts(a, b).has_equal_series());
        let verdict = of_texts(a, "time [s],x [m]\n0,1\n").verdict();
        assert_eq!(verdict, "Some columns are in one series only.");
    }

    #[test]
    fn keys_of_scenes_are_compared_at_any_depth_and_shortened() {
        let keys = |text: &str| {
            let mut keys = BTreeMap::new();
            scene_keys("", &toml::Value::Table(text.parse().unwrap()), &mut keys);
            keys
        };
        let long = format!("title = \"{}\"\n", "ü".repeat(200));
        let a = keys(&format!("{long}points = [1, 2]\n[[body]]\n[body.shape]\ntype = \"box\"\n"));
        let b = keys(
            "title = \"b\"\npoints = [1, 3]\n[[body]]\n[body.shape]\ntype = \"box\"\n[[body]]\nmass = 1\n",
        );
        let rows = differing(&[a, b]);
        let names: Vec<&str> = rows.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(names, ["body[1].mass", "points", "title"]);
        assert_eq!(rows[0].1, [None, Some("1".into())]);
        let title = rows[2].1[0].as_ref().unwrap();
        assert!(title.ends_with('…') && title.chars().count() == 61, "{title}");
    }

    #[test]
    fn ratios_of_numbers_from_zero_are_left_out() {
        let values = |sweeps: f64, worn: f64| serde_json::json!({ "sweeps": { "max": sweeps }, "worn_kg": worn, "state": "finished", "list": [1, sweeps] });
        let numbers = numbers(&[values(4.0, 0.0), values(6.0, 2.0)]);
        let comparison = Comparison { numbers, ..Comparison::default() };
        let rows = comparison.number_rows();
        assert_eq!(rows, [["sweeps.max", "4", "6", "1.5"], ["worn_kg", "0", "2", "–"]]);
    }

    #[test]
    fn folders_without_a_run_and_damaged_files_are_named() {
        let (good, bad) = (run("good", 0.5, "0,1,2\n"), run("bad", 0.5, "0,1,2\n"));
        let message = || Comparison::of([&good, &bad]).unwrap_err().to_string();
        std::fs::write(bad.join("summary.json"), "{ \"dt_s\": ").unwrap();
        assert!(message().contains("summary.json") && message().contains("JSON"), "{}", message());
        std::fs::write(bad.join("summary.json"), "[]").unwrap();
        std::fs::write(bad.join("series.csv"), "time [s],x [m]\n0,1,2\n").unwrap();
        assert!(message().contains("series.csv") && message().contains("line 2"), "{}", message());
        std::fs::remove_file(bad.join("summary.json")).unwrap();
        assert!(message().contains("no run in this folder"), "{}", message());
        // A scene that cannot be read has no keys.
        let other = run("other", 0.5, "0,1,2\n");
        std::fs::write(other.join("scene.toml"), "]]").unwrap();
        assert_eq!(Comparison::of([&good, &other]).unwrap().scene.len(), 4);
        for folder in [good, bad, other] {
            std::fs::remove_dir_all(folder).unwrap();
        }
    }
}
