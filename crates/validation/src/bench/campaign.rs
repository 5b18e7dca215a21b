//! Measurement campaign: all measurements of the speed page of the book, `riprap bench campaign`.
//!
//! Every number is the median over repeated windows of the same steps. [`page`] creates the tables, [`rows`] the CSV file.

pub mod page;
pub mod rows;

use super::judge::{Judgement, judge};
use super::machine::{Machine, commit, today};
use super::{
    Bench, BenchError, BenchResult, MechanismResult, SceneName, Settings, Settling, exponent,
    mechanism,
};
use riprap_io::peer_scene::PeerScene;
use std::path::Path;

/// Options of a campaign.
#[derive(Clone, Debug)]
pub struct CampaignOptions {
    /// True for sizes that only show that the campaign works.
    pub quick: bool,
    /// Number of windows of each measurement.
    pub repeats: usize,
    /// Scenes and their numbers of grains, on one thread.
    pub scenes: Vec<(SceneName, usize)>,
    /// Numbers of grains of the pile for the scaling measurement, on one thread.
    pub sizes: Vec<usize>,
    /// Number of steps of a window there.
    pub growth_steps: u64,
    /// Scenes and their numbers of grains, measured on several numbers of threads.
    pub threaded: Vec<(SceneName, usize)>,
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// A scene shared with other engines.
    pub shared: Option<PeerScene>,
    /// Its settling time and measured time [s].
    pub shared_times: [f64; 2],
    /// Number of repetitions for mechanisms, of which the fastest counts.
    pub mechanism_repetitions: u32,
    /// Settling time [s] and number of steps of a window, overriding those of each scene.
    pub short: Option<(f64, u64)>,
}

impl CampaignOptions {
    /// The campaign of the book: about half an hour on two cores.
    pub fn full() -> CampaignOptions {
        let cores = Machine::here().cores;
        CampaignOptions {
            quick: false,
            repeats: 3,
            scenes: SceneName::ALL.map(|scene| (scene, 1000)).to_vec(),
            sizes: vec![1000, 3000, 10_000, 30_000, 100_000],
            growth_steps: 10,
            threaded: vec![(SceneName::Pile, 10_000), (SceneName::Drum, 5000)],
            threads: std::iter::successors(Some(1), |n| Some(2 * n))
                .take_while(|n| *n <= cores.max(2))
                .collect(),
            shared: None,
            shared_times: [0.5, 0.5],
            mechanism_repetitions: 400,
            short: None,
        }
    }

    /// A smaller and coarser campaign as a quick check, which takes seconds.
    pub fn quick() -> CampaignOptions {
        CampaignOptions {
            quick: true,
            repeats: 2,
            scenes: SceneName::ALL.map(|scene| (scene, 20)).to_vec(),
            sizes: vec![20, 40],
            growth_steps: 2,
            threaded: vec![(SceneName::Pile, 40)],
            threads: vec![1, 2],
            shared_times: [0.01, 0.005],
            mechanism_repetitions: 1,
            short: Some((0.01, 4)),
            ..CampaignOptions::full()
        }
    }
}

/// Which table of the page a measurement belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All scenes at one size, on one thread.
    Scenes,
    /// The pile at several sizes, on one thread.
    Growth,
    /// Several numbers of threads.
    Threads,
    /// The scene shared with other engines.
    Shared,
}

impl Part {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Part::Scenes => "scenes",
            Part::Growth => "growth",
            Part::Threads => "threads",
            Part::Shared => "shared",
        }
    }
}

/// The windows of a measurement.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The table it belongs to.
    pub part: Part,
    /// One result per window, the fastest first; at least one.
    pub runs: Vec<BenchResult>,
    /// Evaluation of the state at the end of the last window, for a shared scene.
    pub judgement: Option<Judgement>,
}

impl Measurement {
    fn new(part: Part, mut runs: Vec<BenchResult>) -> Measurement {
        runs.sort_by(|a, b| a.ms_per_step.total_cmp(&b.ms_per_step));
        Measurement { part, runs, judgement: None }
    }

    /// The window with the median time per step; the faster of the two middle ones if their number is even.
    pub fn median(&self) -> &BenchResult {
        &self.runs[(self.runs.len() - 1) / 2]
    }

    /// Smallest and largest time per step [ms].
    pub fn range(&self) -> [f64; 2] {
        [&self.runs[0], &self.runs[self.runs.len() - 1]].map(|run| run.ms_per_step)
    }
}

/// Date, machine and commit of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The machine.
    pub machine: Machine,
    /// The commit; `None` outside a repository.
    pub commit: Option<String>,
    /// The date in UTC.
    pub date: String,
    /// Number of windows of each measurement.
    pub repeats: usize,
    /// True for sizes that only show that the campaign works.
    pub quick: bool,
}

/// Results of a campaign.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// Date, machine and commit.
    pub stamp: Stamp,
    /// All measurements of scenes.
    pub measurements: Vec<Measurement>,
    /// Times of mechanisms.
    pub mechanism: MechanismResult,
}

impl Campaign {
    /// Runs all measurements in sequence. The commit is that of the repository containing `folder`; each median is passed to
    /// `progress` when it is available.
    pub fn run(
        options: &CampaignOptions,
        folder: &Path,
        progress: &mut dyn FnMut(&Measurement),
    ) -> Result<Campaign, BenchError> {
        let stamp = Stamp {
            machine: Machine::here(),
            commit: commit(folder),
            date: today(),
            repeats: options.repeats,
            quick: options.quick,
        };
        let mut measurements = Vec::new();
        let mut keep = |found: Vec<Measurement>| {
            found.iter().for_each(&mut *progress);
            measurements.extend(found);
        };
        for &(scene, grains) in &options.scenes {
            keep(options.named(Part::Scenes, scene, grains, &[1])?);
        }
        for &grains in &options.sizes {
            keep(options.named(Part::Growth, SceneName::Pile, grains, &[1])?);
        }
        for &(scene, grains) in &options.threaded {
            keep(options.named(Part::Threads, scene, grains, &options.threads)?);
        }
        if let Some(scene) = &options.shared {
            for tool in [false, true] {
                keep(options.shared(scene, tool)?);
            }
        }
        Ok(Campaign { stamp, measurements, mechanism: mechanism(options.mechanism_repetitions) })
    }

    /// The measurements of one part, in order.
    pub fn part(&self, part: Part) -> impl Iterator<Item = &Measurement> {
        self.measurements.iter().filter(move |m| m.part == part)
    }

    /// Exponent with which a time scales with the number of grains [–]; `None` for a single size.
    pub fn growth(&self, time: fn(&BenchResult) -> f64) -> Option<f64> {
        let runs = self.part(Part::Growth).map(Measurement::median);
        exponent(&runs.map(|run| (run.grains as f64, time(run))).collect::<Vec<_>>())
    }
}

impl CampaignOptions {
    /// Measures a named scene on several numbers of threads.
    fn named(
        &self,
        part: Part,
        scene: SceneName,
        grains: usize,
        threads: &[usize],
    ) -> Result<Vec<Measurement>, BenchError> {
        let (mut settling, mut steps) = (scene.settling(), scene.steps());
        if part == Part::Growth {
            steps = self.growth_steps;
        }
        if let Some(short) = self.short {
            (settling.time, steps) = short;
        }
        // The scaling pile is solved to the tolerance used for large piles.
        let tolerance = if part == Part::Growth { 1e-3 } else { Settings::default().tolerance };
        let settings = Settings { tolerance, ..Settings::default() };
        let mut bench = settled(settling, || Bench::named(scene, grains, settling.time, settings))?;
        self.measure(part, &mut bench, steps, threads)
    }

    /// Measures the shared scene: at rest on all numbers of threads, or with a tool on the largest number.
    fn shared(&self, scene: &PeerScene, tool: bool) -> Result<Vec<Measurement>, BenchError> {
        let [time, window] = self.shared_times;
        let settings = Settings { dt: scene.dt, ..Settings::default() };
        let start = tool.then_some(time);
        let settling = Settling { time, drag: 0.0 };
        let mut bench = settled(settling, || Bench::of_peers(scene, start, settings))?;
        let steps = ((window / scene.dt).round() as u64).max(1);
        let first = if tool { self.threads.len().saturating_sub(1) } else { 0 };
        let threads = &self.threads[first..];
        let begin = bench.states();
        let mut found = self.measure(Part::Shared, &mut bench, steps, threads)?;
        let judgement = judge(scene, Some(&begin), &bench.states()).map_err(BenchError::Judge)?;
        found.iter_mut().for_each(|m| m.judgement = Some(judgement.clone()));
        Ok(found)
    }

    fn measure(
        &self,
        part: Part,
        bench: &mut Bench,
        steps: u64,
        threads: &[usize],
    ) -> Result<Vec<Measurement>, BenchError> {
        let begin = bench.run().state().clone();
        let mut found = Vec::new();
        for &n in threads {
            bench.restore(begin.clone())?;
            let runs = pool(n)?.install(|| bench.repeat(steps, self.repeats.max(1)))?;
            found.push(Measurement::new(part, runs));
        }
        Ok(found)
    }
}

/// A scene settled on all cores; the result is bitwise identical on any number of threads.
fn settled(
    settling: Settling,
    make: impl FnOnce() -> Result<Bench, BenchError> + Send,
) -> Result<Bench, BenchError> {
    pool(0)?.install(|| {
        let mut bench = make()?;
        bench.settle(settling)?;
        Ok(bench)
    })
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, BenchError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| BenchError::Threads(threads, e.to_string()))
}
