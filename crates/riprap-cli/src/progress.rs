//! Progress display: a bar that stays in place on a terminal, otherwise plain lines at most once per second.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use riprap::scheme::Pulse;
use riprap::simulation::Frame;

use crate::text::{counted, number};

/// Shows the progress of one phase of a run.
pub struct Progress {
    line: Line,
    begin: Instant,
    deepest: f64,
    inside: Option<Inside>,
}

/// Where progress is shown.
#[derive(Clone)]
struct Line {
    phase: &'static str,
    /// Time at which the phase ends [s].
    end: f64,
    /// When progress was last shown. The first plain line appears after one second, so a short run prints none.
    shown: Arc<Mutex<Instant>>,
    every: Duration,
    /// Present on a terminal.
    bar: Option<ProgressBar>,
}

impl Line {
    /// Whether the next update is due.
    fn is_due(&self) -> bool {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let due = shown.elapsed() >= self.every;
        if due {
            *shown = Instant::now();
        }
        due
    }

    /// Shows the simulated time reached [s] and the numbers next to it.
    fn show(&self, t: f64, time: &str, numbers: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_position((1000.0 * (t / self.end).clamp(0.0, 1.0)) as u64);
                bar.set_message(format!("{time}\n{numbers}"));
            }
            None => eprintln!("{} {time}  {numbers}", self.phase),
        }
    }

    /// Prints a line that is not overwritten.
    fn note(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }
}

impl Progress {
    /// Starts a phase that ends at the simulated time `end` [s].
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
        let begin = Instant::now();
        let line = Line { phase, end, shown: Arc::new(Mutex::new(begin)), every, bar };
        Progress { line, begin, deepest: 0.0, inside: None }
    }

    /// Shows a step if an update is due.
    pub fn step(&mut self, frame: &Frame) {
        self.deepest = self.deepest.max(frame.step.penetration);
        if !self.line.is_due() {
            return;
        }
        let done = (frame.state.t / self.line.end).clamp(0.0, 1.0);
        let (time, numbers) = (self.time(frame, done), self.numbers(frame));
        self.line.show(frame.state.t, &time, &numbers);
    }

    /// Also shows progress within a step that consists of many inner steps.
    pub fn look_into(&mut self, pulse: &Arc<Pulse>) {
        self.inside = Some(Inside::new(self.line.clone(), Arc::clone(pulse)));
    }

    /// Removes the bar.
    pub fn finish(&mut self) {
        self.inside = None;
        if let Some(bar) = &self.line.bar {
            bar.finish_and_clear();
        }
    }

    fn time(&self, frame: &Frame, done: f64) -> String {
        let left = self.begin.elapsed().as_secs_f64() * (1.0 - done) / done;
        let end = number(self.line.end);
        format!("t {:.3} of {end} s, {} left", frame.state.t, duration(left))
    }

    fn numbers(&self, frame: &Frame) -> String {
        let balance = frame.balance();
        let solve = &frame.step.solve;
        let mut text = String::new();
        let smooth = frame.scene.bodies().n_movable() == 0 && frame.step.contacts == 0;
        if !smooth {
            let effort = match frame.step.newton {
                0 => {
                    let sweeps = counted(solve.sweeps, "sweep");
                    format!("{sweeps}  residual {:.1e}", solve.residual)
                }
                newton => counted(newton, "Newton iteration"),
            };
            text = format!(
                "{}  {effort}  overlap {:.2} %  ",
                counted(frame.step.contacts, "contact"),
                100.0 * self.deepest / frame.scene.resolution(),
            );
        }
        if frame.scene.mechanisms().iter().any(|mechanism| mechanism.n_equations() > 0) {
            text += &format!("loop residual {:.1e}  ", frame.step.loop_residual);
        }
        text + &format!("energy {} J", number(balance.kinetic + balance.potential))
    }
}

/// A thread that shows inner steps until the whole step is complete.
struct Inside {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Wall time after which a stiff mechanism is reported.
const PATIENCE: Duration = Duration::from_secs(5);
/// Number of remaining inner steps, equivalent to hours, above which advice is given.
const MANY_STEPS: f64 = 1e8;

impl Inside {
    fn new(line: Line, pulse: Arc<Pulse>) -> Inside {
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let begin = Instant::now();
            // Simulated time and wall clock of the first inner step observed.
            let mut first: Option<(f64, Instant)> = None;
            let mut advised = false;
            while !told.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(100));
                let (t, dt) = (pulse.time(), pulse.dt());
                if pulse.steps() == 0 {
                    continue;
                }
                let (from, since) = *first.get_or_insert((t, Instant::now()));
                if !line.is_due() {
                    continue;
                }
                let left = since.elapsed().as_secs_f64() * (line.end - t) / (t - from);
                let (now, end) = (number(t), number(line.end));
                let time = format!("t {now} of {end} s, {} left", duration(left));
                line.show(t, &time, &format!("inner step {} s", number(dt)));
                let many = (line.end - t) / dt > MANY_STEPS;
                if many && !advised && begin.elapsed() > PATIENCE {
                    advised = true;
                    line.note(&advice(dt));
                }
            }
        });
        Inside { over, thread: Some(thread) }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Advice for inner steps as short as `dt` [s].
fn advice(dt: f64) -> String {
    format!(
        "warning: dormand-prince needs steps of {} s here: the mechanism is stiff. Soften its springs and dampers, increase `tolerance`, or \
         replace a very stiff spring with a rigid joint and use scheme = \"moreau-jean\", whose step such a joint does not limit",
        number(dt)
    )
}

/// Formats a wall time.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "?".into();
    }
    let s = seconds.round() as u64;
    match s {
        360_000.. => format!("{} days", s / 86_400),
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
    fn durations_are_formatted_with_units() {
        let words = [0.12, 42.4, 61.0, 7300.0, 1e6, f64::INFINITY].map(duration);
        assert_eq!(words, ["0.1 s", "42 s", "1 min 01 s", "2 h 01 min", "11 days", "?"]);
    }
}
