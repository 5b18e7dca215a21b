//! Studies that regenerate the figures and tables of publications, for `riprap reproduce`.

mod bruls2014;
mod ccp;
mod laboratory;
mod schwager_poeschel;
mod slider_crank;
mod tamping;

use std::path::Path;

use crate::Effort;
use crate::tamping::Case;

/// Receives a line of progress whenever a run of a study ends.
pub type Tell<'a> = dyn FnMut(&str) + 'a;

/// Why a study failed.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A named study.
pub struct Study {
    /// Name on the command line.
    pub name: &'static str,
    /// What it reproduces, in one line.
    pub about: &'static str,
    /// Whether it accepts options other than the effort.
    pub takes_options: bool,
    /// Runs the study. Expensive results are stored in the folder and reused.
    pub run: fn(&Path, &Options, &mut Tell) -> Result<Vec<Output>, Failure>,
}

/// Options of a study; the defaults are those of the publication.
#[derive(Clone, Debug)]
pub struct Options {
    /// The full study, as in the publication, or the small one.
    pub effort: Effort,
    /// Cases to run; all if empty.
    pub cases: Vec<Case>,
    /// Number of threads per run; by default the cores are shared among the runs.
    pub threads: Option<usize>,
    /// Seed of the bed.
    pub seed: Option<u64>,
    /// Time step [s].
    pub dt: Option<f64>,
    /// Tolerance of the solver [–].
    pub tolerance: Option<f64>,
    /// Whether to run the repeatability study instead: how much the results vary with tolerance, time step and bed.
    pub repeat: bool,
}

impl Options {
    /// Default options with a given effort.
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

/// A file written by a study.
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
        name: "bruls2014",
        about: "bruls2014 Sec. 10, Figs. 2 to 24: the nonsmooth generalized-α GGL scheme and its alternatives",
        takes_options: false,
        run: |_, _, tell| bruls2014::bruls2014(tell),
    },
    Study {
        name: "ccp-pendulums",
        about: "the planar paper on cone complementarity and granular chains, Figs. 6 to 17: particle, pendulums on ropes, penalty",
        takes_options: false,
        run: |_, options, tell| ccp::ccp(options.effort, tell),
    },
    Study {
        name: "laboratory",
        about: "angle of repose, hopper, rotating drum, silo and direct shear, several seeds each, against the literature",
        takes_options: false,
        run: |folder, options, tell| laboratory::laboratory(folder, options.effort, tell),
    },
    Study {
        name: "schwager-poeschel",
        about: "schwager2002: cost of Dantzig's algorithm, polygons that settle, unique forces, wear and breakage under repeated load",
        takes_options: false,
        run: |folder, options, tell| {
            schwager_poeschel::schwager_poeschel(folder, options.effort, tell)
        },
    },
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

/// The study with the given name.
pub fn find(name: &str) -> Option<&'static Study> {
    STUDIES.iter().find(|s| s.name == name)
}
