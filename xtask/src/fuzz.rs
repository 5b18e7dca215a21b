//! `cargo xtask fuzz --minutes N`: runs the fuzz tests of the readers longer than the tests do, with a new seed each time.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs all targets in parallel, each for the whole time.
pub fn run(minutes: f64) -> Result<(), String> {
    let seed =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |t| t.as_secs() % 1_000_000_007);
    println!("seed {seed} (set RIPRAP_FUZZ_SEED to repeat it), {minutes} min per reader");
    let status = Command::new(crate::cargo())
        .args([
            "test",
            "--release",
            "--package",
            "riprap-io",
            "--test",
            "fuzz",
            "--",
            "--nocapture",
        ])
        .env("RIPRAP_FUZZ_SECONDS", (60.0 * minutes).to_string())
        .env("RIPRAP_FUZZ_SEED", std::env::var("RIPRAP_FUZZ_SEED").unwrap_or(seed.to_string()))
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("a reader failed; the message names the input".into()),
        Err(error) => Err(format!("cannot start cargo: {error}")),
    }
}
