//! Shared by the tests: temporary folders and the `riprap` binary.

#![allow(dead_code)] // each test file uses only part of it

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary folder that is removed when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    /// Creates an empty folder.
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("riprap-cli-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Writes a file in the folder.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Reads a file in the folder.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Sorted names of all entries of the folder.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs `riprap` in the folder.
    pub fn riprap(&self, arguments: &[&str]) -> Output {
        command(&self.0).args(arguments).output().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The `riprap` command, run in a folder.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_riprap"));
    // No cache of beds unless a test asks for one.
    command.current_dir(folder).env("RIPRAP_CACHE", "");
    command
}

/// The exit code; `None` if the process was ended by a signal.
pub fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

/// The text written to standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The text written to standard output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Panics with all output unless the command succeeded.
#[track_caller]
pub fn success(output: &Output) {
    assert!(output.status.success(), "{}\n{}", stdout(output), stderr(output));
}
