//! Analysis of the repository's own text, used by tasks and tests: the sources of the workspace with their lines, functions and
//! test code ([`source`]), line counts ([`count`]), the pages of the book ([`markdown`]) and their links ([`links`]).

pub mod count;
pub mod links;
pub mod markdown;
pub mod source;

use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

/// Folders with files that are built or installed.
const SKIPPED: [&str; 4] = ["target", "out", "node_modules", "dist"];

/// All files below a folder with the extension `ending`, sorted by path. Build outputs and hidden folders are skipped.
pub fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .map_err(failed)?;
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            let name = name.to_string_lossy();
            if !name.starts_with('.') && !SKIPPED.contains(&&*name) {
                found.extend(files(&path, ending)?);
            }
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Reads a file as text; the error names the file.
pub fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
