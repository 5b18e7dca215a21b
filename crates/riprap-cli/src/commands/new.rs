//! `riprap new`: creates a folder with a commented scene and the JSON schema used by editors.

use std::fs;
use std::path::PathBuf;

use riprap_io::scene_file::json_schema;

use crate::failure::Failure;
use crate::text::print;

/// The template scene.
const TEMPLATE: &str = include_str!("template.toml");

/// Arguments of `riprap new`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder to create
    folder: PathBuf,
}

/// Creates the folder.
pub fn new(arguments: &Arguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let refused = |action: &str, error: std::io::Error| {
        Failure::Input(format!("cannot {action} {}: {error}", folder.display()))
    };
    if folder.exists() {
        let mut entries = fs::read_dir(folder).map_err(|e| refused("open", e))?;
        if entries.next().is_some() {
            let message = format!("{} is not empty; choose a new folder", folder.display());
            return Err(Failure::Input(message));
        }
    }
    fs::create_dir_all(folder).map_err(|e| refused("create", e))?;
    let scene = folder.join("scene.toml");
    fs::write(folder.join("scene.schema.json"), schema()).map_err(|e| refused("write to", e))?;
    fs::write(&scene, TEMPLATE).map_err(|e| refused("write to", e))?;
    let scene = scene.display();
    print(&format!("created {scene}; next: riprap check {scene}, riprap run {scene}\n"));
    Ok(())
}

/// The JSON schema of scene files.
pub fn schema() -> String {
    format!("{:#}\n", json_schema())
}
