//! The tables of a campaign as Markdown, and their insertion into a page: the text between two comments,
//!
//! ```text
//! <!-- campaign: growth -->
//! …
//! <!-- end: growth -->
//! ```
//!
//! is replaced; everything else is unchanged.

use super::{Campaign, Measurement, Part};
use crate::bench::BenchResult;

/// Names of the places for tables, in the order of the page.
pub const PLACES: [&str; 7] =
    ["stamp", "scenes", "growth", "threads", "shared", "peers", "mechanisms"];

/// Targets for a shared pile of 5000 stones: threads, step [ms], mean and max penetration [mm], mean drift [mm]. Its v_rms is random.
const AIMS: [&str; 2] = [
    "| target for 5000 stones at rest | 1 | 80 | | | | 0.006 / 0.09 | | 0.02 |",
    "| target for 5000 stones at rest | 2 | 45 | | | | 0.006 / 0.09 | | 0.02 |",
];

/// The text of each place. `peers` is the table of other engines printed by `benches/peers/run.sh`, if available.
pub fn tables(campaign: &Campaign, peers: Option<&str>) -> Vec<(&'static str, String)> {
    let absent = || "Not measured in this campaign.\n".to_owned();
    PLACES
        .map(|place| {
            let text = match place {
                "stamp" => stamp(campaign),
                "scenes" => scenes(campaign),
                "growth" => growth(campaign),
                "threads" => threads(campaign),
                "shared" => shared(campaign).unwrap_or_else(absent),
                "peers" => peers.map_or_else(absent, |table| format!("{}\n", table.trim())),
                _ => mechanisms(campaign),
            };
            (place, text)
        })
        .to_vec()
}

/// Inserts new texts into their places on the page; the error names a place missing from the page.
pub fn insert(page: &str, tables: &[(&str, String)]) -> Result<String, String> {
    let mut page = page.to_owned();
    for (place, text) in tables {
        let (open, close) =
            (format!("<!-- campaign: {place} -->"), format!("<!-- end: {place} -->"));
        let missing = |marker: &str| format!("the page has no line `{marker}`");
        let begin = page.find(&open).ok_or_else(|| missing(&open))? + open.len();
        let length = page[begin..].find(&close).ok_or_else(|| missing(&close))?;
        page.replace_range(begin..begin + length, &format!("\n\n{text}\n"));
    }
    Ok(page)
}

fn stamp(campaign: &Campaign) -> String {
    let s = &campaign.stamp;
    let (cpu, cores, repeats) = (&s.machine.cpu, s.machine.cores, s.repeats);
    let commit = s.commit.as_ref().map(|commit| format!(", commit {commit}")).unwrap_or_default();
    let quick = match s.quick {
        true => " Quick variant: the sizes are too small to conclude anything about speed.",
        false => "",
    };
    format!(
        "Measured on {}, riprap {}{commit}, on {cpu} with {cores} cores. Each time is the median of {repeats} windows, with the \
         fastest and the slowest beside it.{quick}\n",
        s.date,
        env!("CARGO_PKG_VERSION"),
    )
}

fn scenes(campaign: &Campaign) -> String {
    let head = [
        "scene, one thread",
        "grains",
        "step [ms]",
        "min–max [ms]",
        "detection [ms]",
        "assembly [ms]",
        "solver [ms]",
        "contacts",
        "sweeps, mean / max",
        "unconverged steps",
        "per contact and sweep [ns]",
        "per near pair [µs]",
        "memory per grain [bytes]",
    ];
    let row = |m: &Measurement| {
        let run = m.median();
        let mut cells = vec![format!("`{}`", run.scene), run.grains.to_string()];
        cells.extend(times(m));
        cells.push(digits(run.contacts));
        cells.push(format!("{} / {}", digits(run.sweeps_mean), run.sweeps_max));
        cells.push(format!("{} of {}", run.unconverged, run.steps));
        cells.extend(unit_costs(run));
        cells
    };
    markdown(&head, campaign.part(Part::Scenes).map(row))
}

fn growth(campaign: &Campaign) -> String {
    let head = [
        "grains",
        "step [ms]",
        "min–max [ms]",
        "detection [ms]",
        "assembly [ms]",
        "solver [ms]",
        "contacts",
        "sweeps, mean",
        "per contact and sweep [ns]",
        "per near pair [µs]",
        "memory per grain [bytes]",
    ];
    let row = |m: &Measurement| {
        let run = m.median();
        let mut cells = vec![run.grains.to_string()];
        cells.extend(times(m));
        cells.extend([digits(run.contacts), digits(run.sweeps_mean)]);
        cells.extend(unit_costs(run));
        cells
    };
    let mut text = markdown(&head, campaign.part(Part::Growth).map(row));
    let powers = [
        ("time per step (target 1.05)", campaign.growth(|r| r.ms_per_step)),
        ("detection", campaign.growth(|r| r.ms_per_stage.detect)),
        ("assembly", campaign.growth(|r| r.ms_per_stage.assemble)),
        ("solver", campaign.growth(|r| r.ms_per_stage.solve)),
        ("one sweep", campaign.growth(|r| r.ms_per_stage.solve / r.sweeps_mean.max(1.0))),
    ];
    let powers: Vec<String> = powers
        .iter()
        .filter_map(|(name, power)| Some(format!("{name} {:.2}", (*power)?)))
        .collect();
    if !powers.is_empty() {
        text += &format!("\nPower of the number of grains [–]: {}.\n", powers.join(", "));
    }
    text
}

fn threads(campaign: &Campaign) -> String {
    let head = ["scene", "grains", "threads", "step [ms]", "min–max [ms]", "speed-up [–]"];
    let rows = campaign.part(Part::Threads).map(|m| {
        let run = m.median();
        let same = |other: &&Measurement| {
            let first = other.median();
            (&first.scene, first.grains) == (&run.scene, run.grains)
        };
        let first = campaign.part(Part::Threads).find(same).unwrap_or(m).median();
        vec![
            format!("`{}`", run.scene),
            run.grains.to_string(),
            run.threads.to_string(),
            digits(run.ms_per_step),
            range(m),
            format!("{:.2}", first.ms_per_step / run.ms_per_step),
        ]
    });
    markdown(&head, rows)
}

fn shared(campaign: &Campaign) -> Option<String> {
    let head = [
        "scene",
        "threads",
        "step [ms]",
        "min–max [ms]",
        "contacts",
        "sweeps, mean",
        "penetration, mean / max [mm]",
        "v_rms [m/s]",
        "drift, mean / median [mm]",
    ];
    let row = |m: &Measurement| {
        let run = m.median();
        let mut cells = vec![
            run.scene.clone(),
            run.threads.to_string(),
            digits(run.ms_per_step),
            range(m),
            digits(run.contacts),
            digits(run.sweeps_mean),
        ];
        if let Some(j) = &m.judgement {
            let pair = |a: f64, b: f64| format!("{} / {}", digits(a), digits(b));
            cells.push(pair(j.penetration_mean_mm, j.penetration_max_mm));
            cells.push(format!("{:.1e}", j.v_rms));
            cells.extend(j.drift.map(|d| pair(d.mean_mm, d.median_mm)));
        }
        cells
    };
    let measured: Vec<&Measurement> = campaign.part(Part::Shared).collect();
    let grains = measured.first()?.median().grains;
    let mut text = markdown(&head, measured.into_iter().map(row));
    if grains == 5000 {
        text += &AIMS.map(|aim| format!("{aim}\n")).concat();
    }
    Some(text)
}

fn mechanisms(campaign: &Campaign) -> String {
    let head = ["mechanism", "joint velocities", "quantity", "time per call [µs]"];
    let rows = campaign
        .mechanism
        .times()
        .into_iter()
        .map(|(name, n, what, time)| vec![name, n.to_string(), what.to_owned(), digits(time)]);
    markdown(&head, rows)
}

/// Time per step, its range and the three longest stages [ms].
fn times(m: &Measurement) -> Vec<String> {
    let (run, stages) = (m.median(), m.median().ms_per_stage);
    let mut cells = vec![digits(run.ms_per_step), range(m)];
    cells.extend([stages.detect, stages.assemble, stages.solve].map(digits));
    cells
}

fn unit_costs(run: &BenchResult) -> Vec<String> {
    let costs = [run.ns_per_contact_sweep, run.us_per_near_pair, run.bytes_per_grain];
    costs.map(digits).to_vec()
}

fn range(m: &Measurement) -> String {
    let [fastest, slowest] = m.range();
    format!("{}–{}", digits(fastest), digits(slowest))
}

/// Three significant digits, or all digits before the decimal point.
fn digits(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    if size < 1e-3 {
        return format!("{value:.1e}");
    }
    let decimals = (2 - size.log10().floor() as i32).clamp(0, 5) as usize;
    format!("{value:.decimals$}")
}

fn markdown(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), " --- |".repeat(head.len()));
    for mut cells in rows {
        cells.resize(head.len(), "–".into());
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.000_25, "2.5e-4"),
            (0.0123, "0.0123"),
            (9.126, "9.13"),
            (5077.4, "5077"),
        ] {
            assert_eq!(digits(value), text);
        }
    }

    #[test]
    fn texts_are_replaced_in_their_places_and_the_rest_is_unchanged() {
        let page = "# A\n\n<!-- campaign: a -->\nold\n<!-- end: a -->\n\nprose\n";
        let once = insert(page, &[("a", "| new |\n".into())]).unwrap();
        let expected = "# A\n\n<!-- campaign: a -->\n\n| new |\n\n<!-- end: a -->\n\nprose\n";
        assert_eq!(once, expected);
        assert_eq!(insert(&once, &[("a", "| new |\n".into())]).unwrap(), once);
        let error = insert(page, &[("b", String::new())]).unwrap_err();
        assert!(error.contains("<!-- campaign: b -->"), "{error}");
        let error = insert("<!-- campaign: a -->", &[("a", String::new())]).unwrap_err();
        assert!(error.contains("<!-- end: a -->"), "{error}");
    }

    #[test]
    fn the_page_of_the_book_has_all_places() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/speed.md");
        let page = std::fs::read_to_string(path).unwrap();
        let texts = PLACES.map(|place| (place, String::from("x\n")));
        insert(&page, &texts).unwrap();
    }
}
