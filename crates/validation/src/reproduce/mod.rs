//! Studies that repeat a publication's figures and tables: what `riprap reproduce` runs.

mod slider_crank;

use crate::Effort;

/// Is told about every run of a study as it ends, in a line.
pub type Tell<'a> = dyn FnMut(&str) + 'a;

/// A named study.
pub struct Study {
    /// Name on the command line.
    pub name: &'static str,
    /// What it repeats, in a line.
    pub about: &'static str,
    /// Runs it.
    pub run: fn(Effort, &mut Tell) -> Vec<Output>,
}

/// A file that a study makes.
pub struct Output {
    /// Its name.
    pub name: &'static str,
    /// Its text.
    pub content: String,
}

/// All studies.
pub const STUDIES: &[Study] = &[Study {
    name: "slider-crank",
    about: "docquier2020 Sec. 5, Figs. 6 and 7: slider–crank with clearance, models a, b, c",
    run: slider_crank::slider_crank,
}];

/// The study with this name.
pub fn find(name: &str) -> Option<&'static Study> {
    STUDIES.iter().find(|s| s.name == name)
}
