//! What a measurement ran on, and what the system says of this process. Where the system tells nothing, neither do we.

use serde::Serialize;

/// The machine, in words that do not name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Model of the processor; `unknown` where the system does not tell.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
}

impl Machine {
    /// This one.
    pub fn here() -> Machine {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|line| line.strip_prefix("model name"));
        let cpu = model.and_then(|rest| rest.split_once(':')).map_or("unknown", |(_, cpu)| cpu);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Machine { cpu: cpu.trim().replace(',', " "), cores }
    }
}

/// Processor time of all living threads of this process [s].
pub fn cpu_seconds() -> Option<f64> {
    let mut nanoseconds = 0u64;
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let times = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += times.split_whitespace().next()?.parse::<u64>().ok()?;
    }
    Some(1e-9 * nanoseconds as f64)
}

/// Memory of this process that is in use [bytes].
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(1024 * line.split_whitespace().next()?.parse::<u64>().ok()?)
}
