//! The progress line: a bar that stays in place on a terminal, plain lines at most once a second elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use riprap::simulation::Frame;

/// Shows how far a phase of a run is.
pub struct Progress {
    phase: &'static str,
    /// Time at which the phase ends [s].
    end: f64,
    begin: Instant,
    shown: Option<Instant>,
    every: Duration,
    /// On a terminal.
    bar: Option<ProgressBar>,
    deepest: f64,
}

impl Progress {
    /// A phase that ends at the time `end` [s].
    pub fn new(phase: &'static str, end: f64) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(phase);
            bar
        });
        let every = Duration::from_millis(if bar.is_some() { 100 } else { 1000 });
        Progress { phase, end, begin: Instant::now(), shown: None, every, bar, deepest: 0.0 }
    }

    /// Shows a step, if the last one shown is long enough ago.
    pub fn step(&mut self, frame: &Frame) {
        self.deepest = self.deepest.max(frame.step.penetration);
        let now = Instant::now();
        // The first plain line comes after a second: a short run needs none.
        let last = self.shown.unwrap_or(self.begin);
        if now - last < self.every {
            return;
        }
        self.shown = Some(now);
        let done = (frame.state.t / self.end).clamp(0.0, 1.0);
        let (time, numbers) = (self.time(frame, done), self.numbers(frame));
        match &self.bar {
            Some(bar) => {
                bar.set_position((1000.0 * done) as u64);
                bar.set_message(format!("{time}\n{numbers}"));
            }
            None => eprintln!("{} {time}  {numbers}", self.phase),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn time(&self, frame: &Frame, done: f64) -> String {
        let left = self.begin.elapsed().as_secs_f64() * (1.0 - done) / done;
        let end = crate::text::number(self.end);
        format!("t {:.3} of {end} s, {} left", frame.state.t, duration(left))
    }

    fn numbers(&self, frame: &Frame) -> String {
        let balance = frame.balance();
        let solve = &frame.step.solve;
        let mut text = String::new();
        let smooth = frame.scene.bodies().n_movable() == 0 && frame.step.contacts == 0;
        if !smooth {
            text = format!(
                "{} contacts  {} sweeps  residual {:.1e}  overlap {:.2} %  ",
                frame.step.contacts,
                solve.sweeps,
                solve.residual,
                100.0 * self.deepest / frame.scene.grain_size(),
            );
        }
        if frame.scene.mechanisms().iter().any(|mechanism| mechanism.n_equations() > 0) {
            text += &format!("loop residual {:.1e}  ", frame.step.loop_residual);
        }
        text + &format!("energy {} J", crate::text::number(balance.kinetic + balance.potential))
    }
}

/// A wall time in words.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "?".into();
    }
    let s = seconds.round() as u64;
    match s {
        0..60 if seconds < 10.0 => format!("{seconds:.1} s"),
        0..60 => format!("{s} s"),
        60..3600 => format!("{} min {:02} s", s / 60, s % 60),
        _ => format!("{} h {:02} min", s / 3600, s % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_are_in_words() {
        let words = [0.12, 42.4, 61.0, 7300.0, f64::INFINITY].map(duration);
        assert_eq!(words, ["0.1 s", "42 s", "1 min 01 s", "2 h 01 min", "?"]);
    }
}
