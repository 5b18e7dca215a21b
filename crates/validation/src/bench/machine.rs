//! Machine, commit and date of a measurement, and resource usage of this process. Values that the system does not report are omitted.

use serde::Serialize;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// The machine, without its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Processor model; `unknown` if the system does not report it.
    pub cpu: String,
    /// Number of cores available to this process.
    pub cores: usize,
}

impl Machine {
    /// The current machine.
    pub fn here() -> Machine {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|line| line.strip_prefix("model name"));
        let cpu = model.and_then(|rest| rest.split_once(':')).map_or("unknown", |(_, cpu)| cpu);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Machine { cpu: cpu.trim().replace(',', " "), cores }
    }
}

/// CPU time of all live threads of this process [s].
pub fn cpu_seconds() -> Option<f64> {
    let mut nanoseconds = 0u64;
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let times = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += times.split_whitespace().next()?.parse::<u64>().ok()?;
    }
    Some(1e-9 * nanoseconds as f64)
}

/// Resident memory of this process [bytes].
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(1024 * line.split_whitespace().next()?.parse::<u64>().ok()?)
}

/// The commit checked out in a folder, with `+` if tracked files differ from it; `None` without git.
pub fn commit(folder: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let head = git(&["rev-parse", "--short=10", "HEAD"])?;
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { head } else { head + "+" })
}

/// The date in UTC as `2026-01-31`.
pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / 86_400)
}

/// The date a number of days after 1970-01-01. Years start in March here, so that the leap day is the last day of the year.
fn date(days: u64) -> String {
    let days = days + 719_468; // since 0000-03-01
    let (era, day) = (days / 146_097, days % 146_097); // 400 years
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", 400 * era + year + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (days, text) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (19_722, "2023-12-31"),
            (20_453, "2025-12-31"),
            (20_454, "2026-01-01"),
        ] {
            assert_eq!(date(days), text);
        }
    }

    #[test]
    fn a_folder_outside_a_repository_has_no_commit() {
        assert_eq!(commit(Path::new("/nowhere/at/all")), None);
    }
}
