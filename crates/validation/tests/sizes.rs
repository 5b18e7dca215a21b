//! Limits on the size of functions and files and on the number of unsafe blocks. Each failure lists the violations with
//! file and line. Lines include blank lines and comments; a function starts with its signature.

use std::path::Path;
use xtask::source::{Function, Source};

/// Maximum lines of the time step, which follows Algorithm 1.
const STEP: usize = 45;
/// Maximum lines of the plain Gauss–Seidel solver, the reference for the faster ones: one sweep and the loop around it.
const ORACLE: usize = 60;
/// Maximum lines of a function.
const FUNCTION: usize = 100;
/// Maximum lines of a source file.
const FILE: usize = 600;
/// Maximum lines of nine files out of ten.
const MOST_FILES: usize = 450;
/// Maximum number of unsafe blocks in the workspace.
const UNSAFE_BLOCKS: usize = 60;

/// All sources of the workspace and of the programs in `benches`, with their paths.
fn sources() -> Vec<(String, Source)> {
    let root = xtask::root();
    let mut sources = Vec::new();
    for folder in ["crates", "xtask", "benches", "examples"] {
        for path in xtask::files(&root.join(folder), "rs").expect("a folder of the workspace") {
            let inside = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            sources.push((inside, read(&path)));
        }
    }
    sources
}

fn read(path: &Path) -> Source {
    let text = xtask::read(path).expect("a source file");
    Source::read(&text).unwrap_or_else(|error| panic!("{}, {error}", path.display()))
}

/// The functions with a name in a file of `riprap`, in the `impl` of a type if one is given; at least one.
fn functions(file: &str, owner: Option<&str>, name: &str) -> Vec<Function> {
    let path = xtask::root().join("crates/riprap/src").join(file);
    let mut found = read(&path).functions;
    let owned = |f: &Function| owner.is_none_or(|owner| f.owner.iter().any(|name| name == owner));
    found.retain(|f| f.name == name && owned(f));
    assert!(!found.is_empty(), "{} has no function `{name}`", path.display());
    found
}

/// Panics with the list of violations, the largest first, if there are any.
#[track_caller]
fn assert_none(mut offenders: Vec<(usize, String)>, limit: &str) {
    offenders.sort_by(|a, b| b.cmp(a));
    let list: Vec<String> = offenders.iter().map(|(n, place)| format!("{n:>6}  {place}")).collect();
    assert!(list.is_empty(), "{} beyond {limit}:\n{}", list.len(), list.join("\n"));
}

#[test]
fn the_time_step_fits_on_a_page() {
    let file = "scheme/moreau_jean.rs";
    let steps = functions(file, Some("MoreauJean"), "step");
    let long = steps.iter().filter(|f| f.n_lines() > STEP);
    let place =
        |f: &Function| (f.n_lines(), format!("{file}:{} MoreauJean::step", f.lines.start()));
    assert_none(long.map(place).collect(), &format!("{STEP} lines"));
}

#[test]
fn the_reference_solver_fits_on_a_page() {
    let file = "friction/gauss_seidel.rs";
    let mut parts = functions(file, None, "sweep");
    parts.extend(functions(file, Some("GaussSeidel"), "run"));
    let lines: usize = parts.iter().map(Function::n_lines).sum();
    let place =
        |f: &Function| format!("{file}:{} {} ({} lines)", f.lines.start(), f.name, f.n_lines());
    let places: Vec<String> = parts.iter().map(place).collect();
    let offenders = if lines > ORACLE { vec![(lines, places.join(", "))] } else { Vec::new() };
    assert_none(offenders, &format!("{ORACLE} lines"));
}

#[test]
fn functions_are_short() {
    let mut offenders = Vec::new();
    for (file, source) in sources() {
        let long = source.functions.iter().filter(|f| f.n_lines() > FUNCTION);
        offenders
            .extend(long.map(|f| (f.n_lines(), format!("{file}:{} {}", f.lines.start(), f.name))));
    }
    assert_none(offenders, &format!("{FUNCTION} lines"));
}

#[test]
fn files_are_short() {
    let long = sources().into_iter().filter(|(_, source)| source.n_lines > FILE);
    let offenders = long.map(|(file, source)| (source.n_lines, format!("{file}:{FILE}")));
    assert_none(offenders.collect(), &format!("{FILE} lines"));
}

#[test]
fn nine_files_out_of_ten_are_even_shorter() {
    let mut files: Vec<(usize, String)> =
        sources().into_iter().map(|(file, source)| (source.n_lines, file)).collect();
    files.sort();
    let rank = (9 * files.len()).div_ceil(10); // the 90th percentile by nearest rank, from 1
    let percentile = files[rank - 1].0;
    let beyond = files.iter().filter(|(n, _)| percentile > MOST_FILES && *n > MOST_FILES);
    let limit = format!("{MOST_FILES} lines, where the 90th percentile is {percentile}");
    assert_none(beyond.cloned().collect(), &limit);
}

#[test]
fn unsafe_blocks_are_few() {
    let mut offenders = Vec::new();
    let mut total = 0;
    for (file, source) in sources() {
        let lines: Vec<String> = source.unsafe_blocks.iter().map(usize::to_string).collect();
        total += lines.len();
        if !lines.is_empty() {
            offenders.push((lines.len(), format!("{file}:{}", lines.join(", "))));
        }
    }
    if total <= UNSAFE_BLOCKS {
        offenders.clear();
    }
    assert_none(offenders, &format!("{UNSAFE_BLOCKS} unsafe blocks, where there are {total}"));
}
