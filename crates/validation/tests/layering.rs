//! Compares the two tables of `ARCHITECTURE.md` with the code: which crate depends on which, and which module of `riprap` uses
//! which. A dependency that the table does not allow is an error, and so is a table entry without a dependency.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

type Names = BTreeSet<String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// The rows of the table whose header starts with `| first |`: the name and the names in its last column, in order.
fn table(first: &str) -> Vec<(String, Names)> {
    let path = root().join("ARCHITECTURE.md");
    let text = fs::read_to_string(&path).expect("ARCHITECTURE.md at the root of the workspace");
    let rows: Vec<(String, Names)> = text
        .lines()
        .skip_while(|line| !line.starts_with(&format!("| {first} |")))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
            let name = quoted(cells[0]).pop_first().expect("a name in the first column");
            (name, quoted(cells[cells.len() - 1]))
        })
        .collect();
    assert!(!rows.is_empty(), "ARCHITECTURE.md has no table that starts with `| {first} |`");
    rows
}

/// The words in backticks.
fn quoted(cell: &str) -> Names {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn dependencies_between_crates_match_the_table() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--manifest-path"])
        .arg(root().join("Cargo.toml"))
        .output()
        .expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");

    // Development dependencies do not count: they do not affect users.
    let mut found = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let inner = dependencies.iter().filter(|d| d["path"].is_string() && d["kind"].is_null());
        let names: Names = inner.map(|d| d["name"].as_str().expect("a name").to_owned()).collect();
        found.insert(package["name"].as_str().expect("a name").to_owned(), names);
    }
    let told: BTreeMap<String, Names> = table("crate").into_iter().collect();
    for (name, uses) in &found {
        let Some(allowed) = told.get(name) else {
            panic!("the crate `{name}` has no row in the table of crates of ARCHITECTURE.md");
        };
        assert_eq!(uses, allowed, "crates that `{name}` depends on, left, and its row, right");
    }
    for name in told.keys() {
        assert!(found.contains_key(name), "ARCHITECTURE.md has a row for `{name}`: no such crate");
    }
}

#[test]
fn uses_between_modules_of_riprap_match_the_table() {
    let source = root().join("crates/riprap/src");
    let told = table("module");
    let names: Names = told.iter().map(|(name, _)| name.clone()).collect();
    let mut problems = Vec::new();
    let mut used: BTreeMap<&str, Names> = BTreeMap::new();

    for file in rust_files(&source) {
        let inside = file.strip_prefix(&source).expect("inside the folder");
        let mut path: Vec<String> =
            inside.with_extension("").iter().map(|p| p.to_string_lossy().into_owned()).collect();
        // Test modules in separate files may use any module.
        let tests = ["tests", "fixtures", "properties"];
        if path == ["lib"] || path.last().is_some_and(|name| tests.contains(&name.as_str())) {
            continue;
        }
        if path.last().is_some_and(|last| last == "mod") {
            path.pop();
        }
        let Some((module, allowed)) = told.iter().find(|(name, _)| *name == path[0]) else {
            problems.push(format!("{} has no row in the table of modules", inside.display()));
            continue;
        };
        let text = fs::read_to_string(&file).expect("a source file");
        for other in modules_named(&text, path.len(), &names) {
            if other == *module || other == "math" {
                continue;
            }
            if !allowed.contains(&other) {
                let file = inside.display();
                problems.push(format!("{file} uses `{other}`: not in the row of `{module}`"));
            }
            used.entry(module).or_default().insert(other);
        }
    }

    for (index, (module, allowed)) in told.iter().enumerate() {
        for other in allowed {
            let below = told[..index].iter().any(|(name, _)| name == other);
            if !below {
                problems.push(format!("`{module}` may use `{other}`, which is not above it"));
            }
            if !used.get(module.as_str()).is_some_and(|used| used.contains(other)) {
                problems.push(format!("the row of `{module}` names `{other}`: nothing uses it"));
            }
        }
        let exists = source.join(module).is_dir() || source.join(format!("{module}.rs")).is_file();
        if !exists {
            problems.push(format!("there is a row for `{module}`, but no such module"));
        }
    }
    assert!(problems.is_empty(), "ARCHITECTURE.md and the code differ:\n{}", problems.join("\n"));
}

/// All `.rs` files below a folder, in a fixed order.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    let mut files = Vec::new();
    for path in entries {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files
}

/// The top-level modules that a file names as `crate::x`, as `crate::{x, y}`, or by as many `super::` as its module is deep.
/// Tests at the end of the file and comments do not count.
fn modules_named(text: &str, depth: usize, modules: &Names) -> Names {
    let code: String = text
        .lines()
        .take_while(|line| *line != "#[cfg(test)]")
        .map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n")
        .collect();
    let from_root = "super::".repeat(depth);
    let mut found = Names::new();
    for start in ["crate::", from_root.as_str()] {
        for (at, _) in code.match_indices(start) {
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                continue;
            }
            found.extend(heads(&code[at + start.len()..]));
        }
    }
    found.intersection(modules).cloned().collect()
}

/// The first names of a path or of a group of paths: `x::Y` gives x; `{x::{Y, Z}, w}` gives x and w.
fn heads(rest: &str) -> Vec<String> {
    let name = |text: &str| {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(group) = rest.strip_prefix('{') else { return vec![name(rest)] };
    let (mut depth, mut begin, mut names) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(name(&group[begin..at]));
                begin = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

#[test]
fn paths_from_the_root_are_found_in_every_spelling() {
    let modules: Names = ["math", "shape", "detect", "scene"].map(str::to_owned).into();
    let text = "use crate::{math::{Pose, Vec3}, shape::Shape};\nlet x = super::super::detect::f();\n\
                // crate::scene\n#[cfg(test)]\nuse crate::scene::Scene;\n";
    let found: Vec<String> = modules_named(text, 2, &modules).into_iter().collect();
    assert_eq!(found, ["detect", "math", "shape"]);
}
