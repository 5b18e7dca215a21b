//! Studies that repeat a publication's figures and tables: what `riprap reproduce` runs.

mod slider_crank;
mod tamping;

use std::path::Path;

use crate::Effort;

/// Is told about every run of a study as it ends, in a line.
pub type Tell<'a> = dyn FnMut(&str) + 'a;

/// Why a study ended early.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A named study.
pub struct Study {
    /// Name on the command line.
    pub name: &'static str,
    /// What it repeats, in a line.
    pub about: &'static str,
    /// Runs it. What takes long to make and can be used again is kept in the folder.
    pub run: fn(&Path, Effort, &mut Tell) -> Result<Vec<Output>, Failure>,
}

/// A file that a study makes.
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
        run: |_, effort, tell| Ok(slider_crank::slider_crank(effort, tell)),
    },
    Study {
        name: "tamping",
        about: "docquier2020 Sec. 6, Figs. 9 to 11: a machine tamps ballast under a sleeper, four runs",
        run: tamping::tamping,
    },
];

/// The study with this name.
pub fn find(name: &str) -> Option<&'static Study> {
    STUDIES.iter().find(|s| s.name == name)
}
