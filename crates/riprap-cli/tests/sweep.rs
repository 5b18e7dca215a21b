//! `riprap sweep` hands its arguments to the Python package and passes its exit code on.

#![cfg(unix)]

mod common;

use std::os::unix::fs::PermissionsExt;

use common::{Folder, code, command, stderr, stdout};

/// Stands for an interpreter: it says whether the package can be imported, and shows how it is called.
fn interpreter(folder: &Folder, importable: bool) -> std::path::PathBuf {
    let found = if importable { 0 } else { 1 };
    let script =
        format!("#!/bin/sh\n[ \"$1\" = -c ] && exit {found}\nprintf '%s\\n' \"$@\"\nexit 7\n");
    let path = folder.write("interpreter", script);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn arguments_and_exit_codes_pass_through() {
    let folder = Folder::new("sweep");
    let python = interpreter(&folder, true);
    for arguments in [&["study.toml", "-j", "2", "--plot"][..], &["--help"], &["--version"], &[]] {
        let run = command(&folder.0)
            .arg("sweep")
            .args(arguments)
            .env("PYTHON", &python)
            .output()
            .unwrap();
        let expected: Vec<&str> =
            ["-m", "riprap", "sweep"].iter().chain(arguments).copied().collect();
        assert_eq!(stdout(&run).lines().collect::<Vec<_>>(), expected);
        assert_eq!(code(&run), Some(7), "{}", stderr(&run));
    }
}

#[test]
fn without_the_package_the_command_says_how_to_install_it() {
    let folder = Folder::new("no-sweep");
    let missing = folder.0.join("nowhere");
    for python in [interpreter(&folder, false), missing] {
        let mut run = command(&folder.0);
        let run = run.args(["sweep", "study.toml"]).env("PYTHON", python).output().unwrap();
        assert_eq!(code(&run), Some(2));
        assert!(stderr(&run).contains("pip install ."), "{}", stderr(&run));
    }
    assert!(stdout(&folder.riprap(&["--help"])).contains("\n  sweep "));
}
