//! `riprap reproduce`: figures and tables of publications, made anew.

use std::fs;
use std::path::{Path, PathBuf};

use riprap_io::scene_file::closest;
use validation::Effort;
use validation::reproduce::{STUDIES, Study, find};

use crate::failure::Failure;
use crate::progress::duration;
use crate::text::{print, table};

/// Arguments of `riprap reproduce`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The study to run; without, they are listed
    study: Option<String>,
    /// Folder for its files; out/reproduce/STUDY without
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Less and coarser, to see quickly that it works
    #[arg(long)]
    small: bool,
}

/// Runs a study and writes its files, or lists the studies.
pub fn reproduce(arguments: &Arguments) -> Result<(), Failure> {
    let Some(name) = &arguments.study else {
        let rows: Vec<_> = STUDIES.iter().map(|s| vec![s.name.into(), s.about.into()]).collect();
        print(&table(&rows, &[]));
        return Ok(());
    };
    let study = find(name).ok_or_else(|| unknown(name))?;
    let default = || Path::new("out/reproduce").join(study.name);
    let folder = arguments.out.clone().unwrap_or_else(default);
    // Before the run, which takes a while.
    fs::create_dir_all(&folder)
        .map_err(|e| Failure::Input(format!("cannot make {}: {e}", folder.display())))?;
    run(study, &folder, if arguments.small { Effort::Small } else { Effort::Full })
}

fn run(study: &Study, folder: &Path, effort: Effort) -> Result<(), Failure> {
    let begin = std::time::Instant::now();
    let outputs = (study.run)(folder, effort, &mut |line| eprintln!("{line}"))
        .map_err(|e| Failure::Run(e.to_string()))?;
    for output in &outputs {
        riprap_io::write_whole(&folder.join(&output.name), output.content.as_bytes())
            .map_err(|e| Failure::Run(e.to_string()))?;
    }
    let names: Vec<_> = outputs.iter().map(|output| output.name.as_str()).collect();
    let wall = duration(begin.elapsed().as_secs_f64());
    print(&format!("{} ({wall}): {} in {}\n", study.name, names.join(", "), folder.display()));
    Ok(())
}

fn unknown(name: &str) -> Failure {
    let known = || STUDIES.iter().map(|study| study.name);
    let help = match closest(name, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", known().collect::<Vec<_>>().join(", ")),
    };
    Failure::Input(format!("there is no study `{name}`; {help}"))
}
