//! `riprap validate`: compares measured values with their references.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use riprap_io::scene_file::closest;
use validation::check::Comparison;
use validation::{CASES, Case, Check, Effort, cases};

use super::parse_threads;
use crate::failure::Failure;
use crate::progress::duration;
use crate::text::{number, print, table};

/// Arguments of `riprap validate`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The cases to run [default: all]
    cases: Vec<String>,
    /// Run the small version of every case; all cases take less than a minute
    #[arg(long)]
    quick: bool,
    /// Number of cases to run in parallel [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    jobs: Option<usize>,
    /// Print the results as JSON, one line per check
    #[arg(long)]
    json: bool,
    /// List the cases without running them
    #[arg(long)]
    list: bool,
    /// Run one case with another scene file; for cases that take their parameters from one (ggl-rocking-block)
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    scene: Option<PathBuf>,
}

/// Runs the cases and prints their results in the order of the list, regardless of which ends first.
pub fn validate(arguments: &Arguments) -> Result<(), Failure> {
    let chosen = chosen(&arguments.cases)?;
    if arguments.list {
        let rows: Vec<_> =
            chosen.iter().map(|case| vec![case.name.to_owned(), case.about.to_owned()]).collect();
        print(&table(&rows, &[]));
        return Ok(());
    }
    if let Some(path) = &arguments.scene {
        return of_scene(path, arguments);
    }
    let begin = Instant::now();
    let (mut passed, mut failed, mut information) = (0, 0, 0);
    run_all(&chosen, arguments, |case, Done { checks, wall }| {
        failed += checks.iter().filter(|check| check.fails()).count();
        passed += checks.iter().filter(|check| check.judged && check.pass).count();
        information += checks.iter().filter(|check| !check.judged).count();
        if arguments.json {
            checks.iter().for_each(|check| print(&json_line(check)));
        } else {
            let wall = duration(*wall);
            print(&format!("{} ({wall}): {}\n{}\n", case.name, case.about, rows(checks)));
        }
    })?;
    if !arguments.json {
        let wall = duration(begin.elapsed().as_secs_f64());
        print(&format!("{passed} passed, {failed} failed, {information} not judged, {wall}\n"));
    }
    if failed == 0 { Ok(()) } else { Err(Failure::Validation) }
}

/// Runs one case with a scene file.
fn of_scene(path: &Path, arguments: &Arguments) -> Result<(), Failure> {
    let [name] = &arguments.cases[..] else {
        return Err(Failure::Input("--scene needs the name of one case".into()));
    };
    let run = cases::of_scene(name).ok_or_else(|| {
        let known = CASES.iter().filter(|case| cases::of_scene(case.name).is_some());
        let known: Vec<_> = known.map(|case| case.name).collect();
        Failure::Input(format!(
            "`{name}` does not accept --scene; cases that do: {}",
            known.join(", ")
        ))
    })?;
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::Input(format!("cannot read {shown}: {e}")))?;
    let effort = if arguments.quick { Effort::Small } else { Effort::Full };
    let checks = run(&text, effort).map_err(|e| Failure::Input(format!("{shown}: {e}")))?.list;
    if arguments.json {
        checks.iter().for_each(|check| print(&json_line(check)));
    } else {
        print(&format!("{name}: {shown}\n{}\n", rows(&checks)));
    }
    if checks.iter().any(Check::fails) { Err(Failure::Validation) } else { Ok(()) }
}

/// A finished case: its checks and its wall time [s].
struct Done {
    checks: Vec<Check>,
    wall: f64,
}

/// Message from a worker about a case.
enum News {
    Start(usize),
    End(usize, Done),
}

/// Runs the cases in parallel, each on its share of the cores, and passes the results to `show` in order. Progress goes to standard error.
fn run_all(
    cases: &[&Case],
    arguments: &Arguments,
    mut show: impl FnMut(&Case, &Done),
) -> Result<(), Failure> {
    let effort = if arguments.quick { Effort::Small } else { Effort::Full };
    let cores = rayon::current_num_threads();
    let jobs = arguments.jobs.unwrap_or(cores).clamp(1, cases.len().max(1));
    let threads = (cores / jobs).max(1);
    // The most expensive cases first: they would otherwise run alone at the end.
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|k| !cases[*k].long);
    let next = AtomicUsize::new(0);
    let work = |send: mpsc::Sender<News>| -> Result<(), Failure> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| Failure::Run(e.to_string()))?;
        while let Some(&k) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let _ = send.send(News::Start(k));
            let begin = Instant::now();
            let checks = pool.install(|| (cases[k].run)(effort).list);
            let wall = begin.elapsed().as_secs_f64();
            let _ = send.send(News::End(k, Done { checks, wall }));
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        let workers: Vec<_> = (0..jobs)
            .map(|_| {
                let send = send.clone();
                scope.spawn(|| work(send))
            })
            .collect();
        drop(send);
        let mut progress = Running::new(cases);
        let mut done: Vec<Option<Done>> = cases.iter().map(|_| None).collect();
        let mut shown = 0;
        // Ends when all workers have ended.
        for news in receive {
            match news {
                News::Start(k) => progress.start(k),
                News::End(k, result) => {
                    progress.end(k, result.wall);
                    done[k] = Some(result);
                }
            }
            while let Some(Some(result)) = done.get(shown) {
                progress.aside(|| show(cases[shown], result));
                shown += 1;
            }
        }
        progress.finish();
        for (k, worker) in workers.into_iter().enumerate() {
            worker.join().map_err(|_| Failure::Run(format!("worker {k} panicked")))??;
        }
        Ok(())
    })
}

/// Shows which cases are running: a line that stays in place on a terminal, otherwise plain lines.
struct Running<'a> {
    cases: &'a [&'a Case],
    now: Vec<usize>,
    done: usize,
    /// Present on a terminal.
    bar: Option<ProgressBar>,
}

impl<'a> Running<'a> {
    fn new(cases: &'a [&'a Case]) -> Running<'a> {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(
                Some(cases.len() as u64),
                ProgressDrawTarget::stderr(),
            );
            if let Ok(style) =
                ProgressStyle::with_template("{pos} of {len} cases, {elapsed}; running: {msg}")
            {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Running { cases, now: Vec::new(), done: 0, bar }
    }

    fn start(&mut self, k: usize) {
        self.now.push(k);
        match &self.bar {
            Some(_) => self.redraw(),
            None => eprintln!("{}: running", self.cases[k].name),
        }
    }

    fn end(&mut self, k: usize, wall: f64) {
        self.now.retain(|running| *running != k);
        self.done += 1;
        match &self.bar {
            Some(_) => self.redraw(),
            None => eprintln!(
                "{}: {} ({} of {} cases)",
                self.cases[k].name,
                duration(wall),
                self.done,
                self.cases.len()
            ),
        }
    }

    fn redraw(&self) {
        let names: Vec<_> = self.now.iter().map(|k| self.cases[*k].name).collect();
        if let Some(bar) = &self.bar {
            bar.set_position(self.done as u64);
            bar.set_message(names.join(", "));
        }
    }

    /// Prints with the progress line hidden.
    fn aside(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The cases with the given names; all cases if no names are given.
fn chosen(names: &[String]) -> Result<Vec<&'static Case>, Failure> {
    if names.is_empty() {
        return Ok(CASES.iter().collect());
    }
    let find = |name: &String| {
        cases::find(name).ok_or_else(|| {
            let known = || CASES.iter().map(|case| case.name);
            let help = match closest(name, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known: {}", known().collect::<Vec<_>>().join(", ")),
            };
            Failure::Input(format!("there is no case `{name}`; {help}"))
        })
    };
    names.iter().map(find).collect()
}

fn rows(checks: &[Check]) -> String {
    let heading = ["quantity", "measured", "", "reference", "tolerance", "unit", "verdict"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for check in checks {
        let sign = match check.comparison {
            Comparison::Close => "=",
            Comparison::AtMost => "≤",
            Comparison::AtLeast => "≥",
        };
        rows.push(vec![
            check.quantity.clone(),
            number(check.value),
            sign.to_owned(),
            number(check.reference),
            number(check.tolerance),
            if check.unit == "1" { "–".to_owned() } else { check.unit.clone() },
            match (check.judged, check.pass) {
                (false, _) => "info",
                (true, true) => "pass",
                (true, false) => "FAIL",
            }
            .to_owned(),
        ]);
    }
    table(&rows, &[1, 3, 4])
}

/// Formats a check as a line of JSON; NaN and infinities become `null`.
fn json_line(check: &Check) -> String {
    let mut line = serde_json::to_string(check).unwrap_or_else(|_| "null".into());
    line.push('\n');
    line
}
