//! Studies that regenerate a publication's figures and tables, for `riprap reproduce`.

mod slider_crank;
mod tamping;

use std::path::Path;

use crate::Effort;
use crate::tamping::Case;

/// Receives a line of progress whenever a run of a study ends.
pub type Tell<'a> = dyn FnMut(&str) + 'a;

/// Why a study ended early.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A named study.
pub struct Study {
    /// Name on the command line.
    pub name: &'static str,
    /// What it reproduces, in one line.
    pub about: &'static str,
    /// Whether it takes more options than the effort.
    pub takes_options: bool,
    /// Runs it. Expensive results are stored in the folder and reused.
    pub run: fn(&Path, &Options, &mut Tell) -> Result<Vec<Output>, Failure>,
}

/// How a study is run; the default is the study of the publication.
#[derive(Clone, Debug)]
pub struct Options {
    /// As in the publication, or small.
    pub effort: Effort,
    /// Which runs; all if empty.
    pub cases: Vec<Case>,
    /// Threads of a run; by default the cores are shared among the runs.
    pub threads: Option<usize>,
    /// Seed of the bed.
    pub seed: Option<u64>,
    /// Time step [s].
    pub dt: Option<f64>,
    /// Tolerance of the solver [–].
    pub tolerance: Option<f64>,
    /// The repeatability study instead: how far the results vary with tolerance, step and bed.
    pub repeat: bool,
}

impl Options {
    /// The study with an effort and defaults otherwise.
    pub fn new(effort: Effort) -> Options {
        Options {
            effort,
            cases: Vec::new(),
            threads: None,
            seed: None,
            dt: None,
            tolerance: None,
            repeat: false,
        }
    }
}

/// A file that a study writes.
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its text.
    pub content: String,
}

impl Output {
    fn new(name: &str, content: String) -> Output {
        Output { name: name.to_owned(), content }
    }
}

/// All studies.
pub const STUDIES: &[Study] = &[
    Study {
        name: "slider-crank",
        about: "docquier2020 Sec. 5, Figs. 6 and 7: slider–crank with clearance, models a, b, c",
        takes_options: false,
        run: |_, options, tell| Ok(slider_crank::slider_crank(options.effort, tell)),
    },
    Study {
        name: "tamping",
        about: "docquier2020 Sec. 6, Figs. 9 to 11: a machine tamps ballast under a sleeper, four runs",
        takes_options: true,
        run: tamping::tamping,
    },
];

/// The study with this name.
pub fn find(name: &str) -> Option<&'static Study> {
    STUDIES.iter().find(|s| s.name == name)
}
