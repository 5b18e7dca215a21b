//! One HTML page about a run: pictures, numbers, curves, warnings, the behaviour of the solver, the scene, and how to repeat it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write as _;
use std::path::Path;

use riprap_io::run_file::RunFile;
use riprap_io::{Error, sha256};
use serde_json::Value;

use crate::files;
use crate::html::{escaped, page, table};
use crate::picture::Style;
use crate::picture::shot::{Film, Shot};
use crate::plot;
use crate::series::{Series, short};

/// What a report contains.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportOptions {
    /// How pictures are drawn; `None` for a page without pictures.
    pub shot: Option<Shot>,
}

impl Default for ReportOptions {
    fn default() -> ReportOptions {
        let style = Style { size: [800, 500], ..Style::default() };
        ReportOptions { shot: Some(Shot { style, labels: false, ..Shot::default() }) }
    }
}

/// How the program is cited, as in `CITATION.cff`.
const CITATION: &str = "The riprap developers. riprap: coupled multibody and granular dynamics with nonsmooth contact.";

/// The report of the run in a folder, a page that needs no other files.
pub fn report(folder: &Path, options: &ReportOptions) -> Result<String, Error> {
    let summary = files::summary(folder)?;
    let scene = files::text(&folder.join("scene.toml")).unwrap_or_default();
    let series = Series::read(folder);
    let name = folder.file_name().map_or("run".into(), |name| name.to_string_lossy().into_owned());
    let title = summary["title"].as_str().filter(|t| !t.is_empty()).unwrap_or(&name).to_owned();
    let mut body = head(&title, &summary);
    body += &cards(&summary);
    if let Some(shot) = &options.shot {
        body += &pictures(folder, shot);
    }
    body += &warnings(&summary, &scene);
    body += &curves(series.as_ref());
    body += &solver(&summary, &scene);
    body += "<h2>All numbers</h2>\n";
    body += &table(&["quantity", "value", "unit"], &numbers(&summary), &[1]);
    body += &repeat(&summary, &scene);
    let _ = write!(
        body,
        "<h2>Scene</h2>\n<details><summary>scene.toml, with all defaults</summary>\n<pre>{}</pre>\n</details>\n",
        escaped(&scene)
    );
    Ok(page(&title, &body))
}

fn head(title: &str, summary: &Value) -> String {
    let text = |key: &str| match &summary[key] {
        Value::String(text) => text.clone(),
        Value::Null => "unknown".into(),
        other => other.to_string(),
    };
    format!(
        "<h1>{}</h1>\n<p class=\"lead\"><span class=\"state\">{}</span> riprap {} · seed {} · {} threads</p>\n",
        escaped(title),
        escaped(&text("state")),
        escaped(&text("version")),
        escaped(&text("seed")),
        escaped(&text("threads")),
    )
}

/// The main numbers, large.
fn cards(summary: &Value) -> String {
    let number = |value: &Value| value.as_f64().map(|x| short(x, 4));
    let of = |key: &str| number(&summary[key]);
    let contacts = number(&summary["contacts"]["mean"]).zip(number(&summary["contacts"]["max"]));
    let cards = [
        (of("free_bodies").filter(|n| n != "0"), "free bodies", ""),
        (of("time_s"), "simulated time", " s"),
        (of("steps"), "steps", ""),
        (of("wall_s"), "wall time", " s"),
        (contacts.map(|(mean, max)| format!("{mean} / {max}")), "contacts, mean / max", ""),
        (of("mechanisms").filter(|n| n != "0"), "mechanisms", ""),
    ];
    let cards = cards.into_iter().filter_map(|(value, name, unit)| {
        Some(format!("<div class=\"card\"><b>{}{unit}</b><span>{name}</span></div>\n", value?))
    });
    format!("<div class=\"cards\">\n{}</div>\n", cards.collect::<String>())
}

/// The first, a middle and the last frame.
fn pictures(folder: &Path, shot: &Shot) -> String {
    let drawn = || -> Result<String, Error> {
        let run = RunFile::open(folder)?;
        let times = run.times();
        let mut frames = vec![0, times.len() / 2, times.len().saturating_sub(1)];
        frames.dedup();
        frames.retain(|k| *k < times.len());
        let film = Film::new(&run, shot, &frames)?;
        let mut html = String::new();
        for k in frames {
            let picture = STANDARD.encode(film.picture(k)?.to_png());
            let time = short(times[k], 5);
            let _ = writeln!(
                html,
                "<figure><img alt=\"the scene at {time} s\" src=\"data:image/png;base64,{picture}\">\
                 <figcaption>{time} s</figcaption></figure>"
            );
        }
        Ok(html)
    };
    let content = match drawn() {
        Ok(html) if !html.is_empty() => format!("<div class=\"pictures\">\n{html}</div>\n"),
        Ok(_) => "<p class=\"fine\">The run has no frames.</p>\n".into(),
        Err(error) => {
            format!("<p class=\"fine\">No pictures: {}</p>\n", escaped(&error.to_string()))
        }
    };
    format!("<h2>Pictures</h2>\n{content}")
}

/// Overlap above which there is a warning, relative to the grain size [–].
const OVERLAP: f64 = 0.02;
/// Drift of joints above which there is a warning, relative to the grain size [–].
const DRIFT: f64 = 1e-3;
/// Residual of loops above which there is a warning [m].
const LOOPS: f64 = 1e-6;
/// Tolerance of the solver above which there is a warning [–].
const TOLERANCE: f64 = 1e-3;

/// What a reader should know before trusting the numbers.
pub(crate) fn warning_texts(summary: &Value, scene: &str) -> Vec<String> {
    let of = |key: &str| summary[key].as_f64();
    let mut texts = Vec::new();
    match summary["state"].as_str() {
        Some("finished") => {}
        Some("failed") => {
            let message = summary["message"].as_str().unwrap_or("no reason was given");
            texts.push(format!("The run failed: {message}"));
        }
        Some("running") => texts.push("The run has not ended, or was killed.".into()),
        Some("interrupted") => texts.push("The run was interrupted.".into()),
        _ => texts.push("It is unknown whether the run ended.".into()),
    }
    if let (Some(bad), Some(steps)) = (of("unconverged_steps").filter(|n| *n > 0.0), of("steps")) {
        let percent = short(100.0 * bad / steps.max(1.0), 3);
        texts.push(format!(
            "{bad} of {steps} steps ({percent} %) did not converge; raise `max_sweeps` or reduce `dt`."
        ));
    }
    if let Some(overlap) = of("penetration_max_rel").filter(|x| *x > OVERLAP) {
        let percent = short(100.0 * overlap, 3);
        texts.push(format!(
            "The deepest overlap is {percent} % of the grain size; reduce `dt` or `tolerance`."
        ));
    }
    let size = of("resolution_m").unwrap_or(f64::INFINITY);
    if let Some(drift) = of("joint_drift_max").filter(|x| *x > DRIFT * size) {
        texts.push(format!("Joints between bodies drifted by up to {} m.", short(drift, 3)));
    }
    if let Some(residual) = of("loop_residual_max").filter(|x| *x > LOOPS) {
        texts.push(format!("Loops of mechanisms were open by up to {} m.", short(residual, 3)));
    }
    if let Some(tolerance) = tolerance(scene).filter(|x| *x > TOLERANCE) {
        texts.push(format!("The tolerance of the solver is coarse: {}.", short(tolerance, 3)));
    }
    texts
}

fn warnings(summary: &Value, scene: &str) -> String {
    let texts = warning_texts(summary, scene);
    let mut html = String::from("<h2>Warnings</h2>\n");
    if texts.is_empty() {
        html +=
            "<p class=\"fine\">None: all steps converged, and overlaps and drifts are small.</p>\n";
    }
    for text in texts {
        let _ = writeln!(html, "<div class=\"warning\">{}</div>", escaped(&text));
    }
    html
}

fn curves(series: Result<&Series, &Error>) -> String {
    let mut html = String::from("<h2>Curves</h2>\n<div class=\"curves\">\n");
    match series {
        Ok(series) => {
            for plot in plot::usual(series) {
                let _ = writeln!(html, "<figure>{}</figure>", plot.figure.svg());
            }
        }
        Err(error) => {
            let _ = writeln!(html, "<p class=\"fine\">{}</p>", escaped(&error.to_string()));
        }
    }
    html + "</div>\n"
}

/// How hard the contact problems were, and what ended their solution.
fn solver(summary: &Value, scene: &str) -> String {
    let number = |value: &Value| value.as_f64().map(|x| short(x, 4));
    let both = |value: &Value| {
        number(&value["mean"])
            .zip(number(&value["max"]))
            .map(|(mean, max)| format!("{mean} / {max}"))
    };
    let deciding = &summary["deciding_criterion"];
    let fraction = deciding["fraction_of_steps"].as_f64();
    let criterion = deciding["criterion"].as_str().zip(fraction);
    let rows = [
        ("sweeps per step, mean / max", both(&summary["sweeps"])),
        ("largest residual [–]", number(&summary["residual_max"])),
        ("tolerance [–]", tolerance(scene).map(|x| short(x, 4))),
        ("steps that did not converge", number(&summary["unconverged_steps"])),
        (
            "criterion that decides",
            criterion
                .map(|(key, part)| format!("{key} ({} % of the steps)", short(100.0 * part, 3))),
        ),
        ("Newton iterations per step, mean / max", both(&summary["newton_iterations"])),
        ("halved steps", number(&summary["halved_steps"])),
    ];
    let rows = rows.into_iter().filter_map(|(name, value)| Some(vec![name.to_owned(), value?]));
    let rows: Vec<Vec<String>> = rows.collect();
    format!("<h2>Solver</h2>\n{}", table(&[], &rows, &[1]))
}

/// `tolerance` in `[solver]` of a resolved scene.
fn tolerance(scene: &str) -> Option<f64> {
    let document: toml::Table = scene.parse().ok()?;
    document.get("solver")?.get("tolerance")?.as_float()
}

/// Rows of all numbers and texts of a summary: name, value, unit. Names of keys end with their unit.
pub(crate) fn numbers(summary: &Value) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    flatten("", summary, &mut rows);
    rows
}

const UNITS: [(&str, &str); 5] =
    [("_s", "s"), ("_m", "m"), ("_J", "J"), ("_kg", "kg"), ("_rel", "–")];

fn flatten(name: &str, value: &Value, rows: &mut Vec<Vec<String>>) {
    let text = match value {
        Value::Object(members) => {
            for (key, member) in members {
                let name = if name.is_empty() { key.clone() } else { format!("{name}, {key}") };
                flatten(&name, member, rows);
            }
            return;
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (k, item) in items.iter().enumerate() {
                flatten(&format!("{name} {}", k + 1), item, rows);
            }
            return;
        }
        Value::Null => return,
        Value::Number(number) => number.as_f64().map_or(number.to_string(), |x| short(x, 7)),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let unit = UNITS.iter().find_map(|(end, unit)| Some((name.strip_suffix(end)?, *unit)));
    let (name, unit) = unit.unwrap_or((name, ""));
    rows.push(vec![name.replace('_', " "), text, unit.to_owned()]);
}

/// How to cite the program and repeat the run.
fn repeat(summary: &Value, scene: &str) -> String {
    let text = |key: &str| summary[key].as_str().map_or(summary[key].to_string(), str::to_owned);
    let hash = sha256(scene.as_bytes());
    let rows = [
        ("version", text("version")),
        ("seed", text("seed")),
        ("command", "riprap run scene.toml --out repeated".into()),
        ("SHA-256 of scene.toml", hash),
    ];
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(k, v)| vec![k.into(), v]).collect();
    format!(
        "<h2>How to cite and repeat this run</h2>\n<div class=\"cite\">\n<p>{CITATION} Version {}, MIT or Apache-2.0.</p>\n{}\
         <p class=\"fine\">The file scene.toml of the run contains all settings. The same version gives bitwise identical results on any number \
         of threads.</p>\n</div>\n",
        escaped(&text("version")),
        table(&[], &rows, &[])
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_citation_is_that_of_the_repository() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CITATION.cff");
        let file = std::fs::read_to_string(path).unwrap();
        let title = CITATION.split_once(". ").unwrap().1.trim_end_matches('.');
        assert!(file.contains(&format!("title: \"{title}\"")));
        assert!(file.contains(&format!("version: {}", env!("CARGO_PKG_VERSION"))));
    }

    #[test]
    fn a_good_run_has_no_warnings_and_a_bad_one_has_all() {
        let good = json!({ "state": "finished", "unconverged_steps": 0, "steps": 10, "penetration_max_rel": 1e-4,
            "resolution_m": 0.1, "joint_drift_max": 1e-9, "loop_residual_max": 1e-12 });
        assert!(warning_texts(&good, "[solver]\ntolerance = 1e-4\n").is_empty());
        let bad = json!({ "state": "failed", "message": "<nan>", "unconverged_steps": 3, "steps": 10,
            "penetration_max_rel": 0.2, "resolution_m": 0.1, "joint_drift_max": 0.1, "loop_residual_max": 0.1 });
        let texts = warning_texts(&bad, "[solver]\ntolerance = 0.1\n");
        let expected = ["<nan>", "(30 %)", "20 %", "0.1 m", "0.1 m", "coarse"];
        assert_eq!(texts.len(), expected.len());
        for (text, words) in texts.iter().zip(expected) {
            assert!(text.contains(words), "{text}");
        }
        assert!(warnings(&bad, "").contains("&lt;nan&gt;"));
    }

    #[test]
    fn numbers_have_the_unit_of_their_key() {
        let rows = numbers(
            &json!({ "dt_s": 1e-3, "energy_end": { "total_J": 2.5 }, "message": null, "steps": 7 }),
        );
        let expected =
            [["dt", "0.001", "s"], ["energy end, total", "2.5", "J"], ["steps", "7", ""]];
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_page_is_complete_and_needs_nothing_else() {
        let folder = std::env::temp_dir().join(format!("riprap-report-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let missing = report(&folder, &ReportOptions::default()).unwrap_err().to_string();
        assert!(missing.contains("no run in this folder"), "{missing}");
        let summary = json!({ "title": "a <b>", "state": "finished", "version": "0.1.0", "seed": 7, "threads": 2, "steps": 10,
            "free_bodies": 3, "time_s": 0.5, "contacts": { "mean": 1.5, "max": 4 }, "sweeps": { "mean": 3.0, "max": 9 },
            "deciding_criterion": { "criterion": "tolerance", "fraction_of_steps": 0.75 }, "residual_max": 1e-5 });
        std::fs::write(folder.join("summary.json"), summary.to_string()).unwrap();
        let scene = "title = \"a <b>\"\n[solver]\ntolerance = 1e-4\n";
        std::fs::write(folder.join("scene.toml"), scene).unwrap();
        let series = "time [s],kinetic_energy [J],<i>.x [m]\n0,1,2\n0.5,0.5,1\n";
        std::fs::write(folder.join("series.csv"), series).unwrap();
        let html = report(&folder, &ReportOptions::default()).unwrap();
        for words in [
            "<h1>a &lt;b&gt;</h1>",
            "1.5 / 4",
            "tolerance (75 % of the steps)",
            "No pictures:",
            "None: all steps converged",
            "kinetic energy [J]",
            "&lt;i&gt;",
            "riprap run scene.toml",
            "SHA-256 of scene.toml",
        ] {
            assert!(html.contains(words), "{words}");
        }
        assert!(!html.contains("<b>a") && !html.contains("<i>"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    fn good() -> Value {
        json!({ "state": "finished", "unconverged_steps": 0, "steps": 1000, "penetration_max_rel": 0.02,
            "resolution_m": 0.1, "joint_drift_max": 1e-4, "loop_residual_max": 1e-6 })
    }

    #[test]
    fn each_warning_appears_when_and_only_when_its_limit_is_exceeded() {
        let scene = "[solver]\ntolerance = 1e-3\n";
        assert!(warning_texts(&good(), scene).is_empty(), "at the limits");
        for (key, value, words) in [
            ("state", json!("running"), "has not ended"),
            ("state", json!("interrupted"), "was interrupted"),
            ("state", json!("failed"), "no reason was given"),
            ("state", json!(null), "unknown whether the run ended"),
            ("state", json!(7), "unknown whether the run ended"),
            (
                "unconverged_steps",
                json!(1),
                "1 of 1000 steps (0.1 %) did not converge; raise `max_sweeps`",
            ),
            ("penetration_max_rel", json!(0.0201), "2.01 % of the grain size; reduce `dt`"),
            ("joint_drift_max", json!(1.01e-4), "drifted by up to 1.01e-4 m"),
            ("loop_residual_max", json!(1.1e-6), "open by up to 1.1e-6 m"),
        ] {
            let mut summary = good();
            summary[key] = value;
            let texts = warning_texts(&summary, scene);
            assert!(texts.len() == 1 && texts[0].contains(words), "{key}: {texts:?}");
            assert!(!warnings(&summary, scene).contains("None: all steps"), "{key}");
        }
        let coarse = warning_texts(&good(), "[solver]\ntolerance = 0.002\n");
        assert_eq!(coarse, ["The tolerance of the solver is coarse: 0.002."]);
    }

    #[test]
    fn summaries_with_few_or_strange_members_give_no_false_warnings() {
        for summary in [
            json!({ "state": "finished" }),
            json!({ "state": "finished", "steps": 0, "unconverged_steps": 0 }),
            json!({ "state": "finished", "joint_drift_max": 5.0 }),
            json!({ "state": "finished", "penetration_max_rel": "much", "loop_residual_max": [1] }),
        ] {
            assert!(warning_texts(&summary, "").is_empty(), "{summary}");
        }
        for scene in ["", "]]", "solver = 3", "[solver]\ntolerance = \"x\"", "[solver]\n"] {
            assert_eq!(tolerance(scene), None, "{scene}");
        }
    }

    #[test]
    fn every_number_and_text_of_a_summary_is_in_the_table() {
        let summary = json!({
            "wall_s": 12.5, "title": "<t>", "flag": true, "none": null, "mean_size_m": 1e-9,
            "energy": { "begin": { "kinetic_J": -0.5 }, "worn_kg": 3 },
            "phases": [{ "time_s": 1 }, { "time_s": 2 }], "list": [1, 2], "overlap_rel": 0.25,
        });
        let expected = [
            ["energy, begin, kinetic", "-0.5", "J"],
            ["energy, worn", "3", "kg"],
            ["flag", "true", ""],
            ["list", "[1,2]", ""],
            ["mean size", "1e-9", "m"],
            ["overlap", "0.25", "–"],
            ["phases 1, time", "1", "s"],
            ["phases 2, time", "2", "s"],
            ["title", "<t>", ""],
            ["wall", "12.5", "s"],
        ];
        let mut rows = numbers(&summary);
        rows.sort();
        assert_eq!(rows, expected);
        // A summary that is not an object has no rows to trip over.
        assert!(numbers(&json!(null)).is_empty() && numbers(&json!({})).is_empty());
    }

    #[test]
    fn cards_show_what_there_is() {
        let html = cards(
            &json!({ "free_bodies": 0, "mechanisms": 2, "time_s": 0.5, "contacts": { "mean": 2 } }),
        );
        assert!(
            html.contains("<b>2</b><span>mechanisms") && html.contains("<b>0.5 s</b>"),
            "{html}"
        );
        assert!(!html.contains("free bodies") && !html.contains("contacts"), "{html}");
        assert!(!cards(&json!({})).contains("card\""));
    }

    #[test]
    fn a_report_of_a_folder_with_only_a_summary_says_what_is_missing() {
        let folder = std::env::temp_dir().join(format!("riprap-bare-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("summary.json"), "{\"title\": \"\"}").unwrap();
        let html = report(&folder, &ReportOptions { shot: None }).unwrap();
        // Without a title, the name of the folder is the heading.
        assert!(html.contains(&format!("<h1>riprap-bare-{}</h1>", std::process::id())));
        assert!(html.contains("series.csv") && !html.contains("<h2>Pictures"), "no series");
        assert!(html.contains("seed unknown") && html.contains("unknown whether the run ended"));
        // The hash of nothing.
        assert!(html.contains("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
        for text in ["", "nonsense", "{"] {
            std::fs::write(folder.join("summary.json"), text).unwrap();
            let message = report(&folder, &ReportOptions { shot: None }).unwrap_err().to_string();
            assert!(message.contains("summary.json") && message.contains("JSON"), "{message}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn hostile_texts_stay_texts_everywhere() {
        let folder = std::env::temp_dir().join(format!("riprap-evil-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let evil = "</pre></title><img src=x onerror=alert(1)>\"'&";
        let summary = json!({ "title": evil, "state": evil, "version": evil, "seed": evil, "message": evil, evil: 1,
            "deciding_criterion": { "criterion": evil, "fraction_of_steps": 1 } });
        std::fs::write(folder.join("summary.json"), summary.to_string()).unwrap();
        std::fs::write(folder.join("scene.toml"), evil).unwrap();
        std::fs::write(folder.join("series.csv"), format!("time [s],{evil} [m]\n0,1\n1,2\n"))
            .unwrap();
        let html = report(&folder, &ReportOptions { shot: None }).unwrap();
        assert!(!html.contains("<img") && !html.contains("</pre></title>"));
        assert!(html.matches("&lt;img src=x").count() >= 7, "{html}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
