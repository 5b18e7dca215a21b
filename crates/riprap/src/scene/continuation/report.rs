//! What carries over from one run to another, as data and as lines of text.

use serde::Serialize;

/// Things of the two scenes, matched by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Matching {
    /// Number of names that occur in both scenes.
    pub matched: usize,
    /// Names that only the new scene has.
    pub new: Vec<String>,
    /// Names that only the old scene has.
    pub missing: Vec<String>,
    /// Names in both scenes that stand for things of different structure, so that nothing carries over.
    pub different: Vec<String>,
}

/// A coordinate whose prescribed motion does not start where the other run left it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriveJump {
    /// Mechanism and coordinate, such as `press.x`.
    pub coordinate: String,
    /// Where the other run left it [m, rad].
    pub left: f64,
    /// Where the motion starts [m, rad].
    pub starts: f64,
}

/// What carries over from one run to another, and what does not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Continued {
    /// Time of the old state [s].
    pub from_time: f64,
    /// Time at which the new run starts [s].
    pub time: f64,
    /// Bodies on their own, including grains.
    pub bodies: Matching,
    /// Inserted bodies of which something is left: those that carry over, and all.
    pub inserted: [usize; 2],
    /// Bodies of the scene that the other run removed and that stay away.
    pub removed: Vec<String>,
    /// Whether the periodic cell has other boundaries or is only in one scene.
    pub other_cell: bool,
    /// Shear rates of the cell before and after, if they differ [1/s].
    pub shear_rates: Option<[f64; 2]>,
    /// Bodies with another shape: the frame of their shape keeps its place.
    pub changed_shapes: Vec<String>,
    /// Bodies with another mass: before and after [kg].
    pub changed_masses: Vec<(String, [f64; 2])>,
    /// Fixed bodies that the new scene describes at another place, where they now are.
    pub placed_anew: Vec<String>,
    /// Bodies whose prescribed position starts elsewhere than where the other run left them.
    pub placed_by_law: Vec<String>,
    /// Bodies that moved and are now fixed where they were.
    pub held: Vec<String>,
    /// Bodies that were fixed and are now free.
    pub released: Vec<String>,
    /// The mechanisms.
    pub mechanisms: Matching,
    /// Coordinates that jump in the first step.
    pub jumps: Vec<DriveJump>,
    /// Mechanisms whose force laws start again in their first phase.
    pub laws_restarted: Vec<String>,
    /// Mechanisms whose loops the first step closes again, and how far they are open [m, rad].
    pub open_loops: Vec<(String, f64)>,
    /// The flexible bodies.
    pub flexible: Matching,
    /// The ropes.
    pub ropes: Matching,
    /// Ropes that are broken and stay so.
    pub broken_ropes: Vec<String>,
    /// Remembered contact impulses: those that carry over, and all.
    pub contacts: [usize; 2],
    /// Whether the scheme had a history, and whether it carries over.
    pub history: Option<bool>,
    /// Pieces of broken stones and worn stones: those that carry over, and all.
    pub stones: [usize; 2],
    /// Number of stones whose strength is drawn again because their id has changed.
    pub strengths_redrawn: usize,
}

impl Continued {
    pub(super) fn matches_anything(&self) -> bool {
        [&self.bodies, &self.mechanisms, &self.flexible].iter().any(|m| m.matched > 0)
    }

    /// The report in lines of text, the most important first.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let clock = match self.time == self.from_time {
            true => "the time goes on".to_owned(),
            false => format!("the new run starts at t = {} s", self.time),
        };
        lines.push(format!("state at t = {} s; {clock}", self.from_time));
        for (what, matching) in [
            ("bodies", &self.bodies),
            ("mechanisms", &self.mechanisms),
            ("flexible bodies", &self.flexible),
            ("ropes", &self.ropes),
        ] {
            matching.describe(what, &mut lines);
        }
        let [kept, all] = self.inserted;
        if all > 0 {
            lines.push(format!("inserted bodies: {kept} of {all} carry over"));
        }
        if self.other_cell {
            lines.push("another periodic cell: bodies start from within the old one".into());
        }
        if let Some([before, after]) = self.shear_rates {
            lines.push(format!(
                "shear rate of the cell {after:.6} 1/s instead of {before:.6} 1/s: velocities relative to the flow carry over"
            ));
        }
        let mut list = |names: &[String], what: &str| {
            if !names.is_empty() {
                lines.push(format!("{what}: {}", short_list(names)));
            }
        };
        list(&self.removed, "removed by the other run, and not inserted again");
        list(&self.changed_shapes, "another shape, same place");
        list(&self.placed_anew, "fixed at another place, as the scene describes");
        list(&self.placed_by_law, "at another place, as their prescribed position starts there");
        list(&self.held, "fixed where the other run left them");
        list(&self.released, "free now");
        let masses = self.changed_masses.iter().map(|(name, _)| name.clone());
        list(&masses.collect::<Vec<_>>(), "another mass");
        list(&self.laws_restarted, "force laws start again in their first phase");
        list(&self.broken_ropes, "ropes that stay broken");
        for jump in &self.jumps {
            let DriveJump { coordinate, left, starts } = jump;
            lines.push(format!(
                "the motion of `{coordinate}` starts at {starts} and the other run left it at {left}: it jumps in the first step"
            ));
        }
        for (name, residual) in &self.open_loops {
            lines.push(format!(
                "the loops of `{name}` are open by {residual:.1e}; the first step closes them"
            ));
        }
        let [kept, all] = self.contacts;
        if all > 0 {
            lines.push(format!("warm start: impulses of {kept} of {all} contacts"));
        }
        match self.history {
            Some(true) => lines.push("history of the scheme: kept".into()),
            Some(false) => lines.push("history of the scheme: dropped, it starts again".into()),
            None => {}
        }
        let [kept, all] = self.stones;
        if all > 0 {
            lines.push(format!("broken and worn stones: {kept} of {all} carry over"));
        }
        if self.strengths_redrawn > 0 {
            let n = self.strengths_redrawn;
            lines.push(format!("strengths of {n} stones are drawn again: their ids have changed"));
        }
        lines
    }
}

impl Matching {
    fn describe(&self, what: &str, lines: &mut Vec<String>) {
        let Matching { matched, new, missing, different } = self;
        if *matched > 0 || !new.is_empty() || !missing.is_empty() || !different.is_empty() {
            lines.push(format!("{what}: {matched} carry over"));
        }
        for (names, word) in [
            (new, "new"),
            (missing, "no longer in the scene"),
            (different, "of another structure, start anew"),
        ] {
            if !names.is_empty() {
                lines.push(format!("{what} {word}: {}", short_list(names)));
            }
        }
    }
}

/// Names for a message: members of a group `name-1`, `name-2`, … as one entry with their number, at most eight entries.
fn short_list(names: &[String]) -> String {
    const MOST: usize = 8;
    let group = |name: &str| {
        let (group, number) = name.rsplit_once('-')?;
        number.parse::<u32>().is_ok().then(|| group.to_owned())
    };
    let mut entries: Vec<(String, usize, bool)> = Vec::new();
    for name in names {
        match group(name) {
            Some(group) => match entries.iter_mut().find(|(known, _, is)| *is && *known == group) {
                Some(entry) => entry.1 += 1,
                None => entries.push((group, 1, true)),
            },
            None => entries.push((name.clone(), 1, false)),
        }
    }
    let single = |group: &str| names.iter().find(|name| name.starts_with(group)).cloned();
    let entry = |(name, n, is_group): &(String, usize, bool)| match (is_group, n) {
        (true, 1) => format!("`{}`", single(&format!("{name}-")).unwrap_or_default()),
        (true, n) => format!("{n} of `{name}`"),
        (false, _) => format!("`{name}`"),
    };
    let mut shown: Vec<String> = entries.iter().take(MOST).map(entry).collect();
    if entries.len() > MOST {
        shown.push(format!("and {} more", entries.len() - MOST));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_shortened_by_group() {
        let names = |list: &[&str]| list.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            short_list(&names(&["ball", "sand-1", "sand-2", "big-7"])),
            "`ball`, 2 of `sand`, `big-7`"
        );
        let many: Vec<String> = (0..20).map(|k| format!("body{k}")).collect();
        assert!(short_list(&many).ends_with("`body7`, and 12 more"), "{}", short_list(&many));
    }

    #[test]
    fn the_report_tells_what_changed() {
        let report = Continued {
            from_time: 2.0,
            bodies: Matching { matched: 3, new: vec!["tool".into()], ..Matching::default() },
            contacts: [4, 5],
            history: Some(false),
            ..Continued::default()
        };
        let lines = report.lines();
        assert_eq!(lines[0], "state at t = 2 s; the new run starts at t = 0 s");
        assert_eq!(lines[1..3], ["bodies: 3 carry over", "bodies new: `tool`"]);
        assert!(lines.contains(&"warm start: impulses of 4 of 5 contacts".to_owned()));
    }
}
