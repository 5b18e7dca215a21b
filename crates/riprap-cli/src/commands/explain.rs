//! `riprap explain`: what a key of scene files means, from the same declarations as the reference page.

use riprap_io::scene_file;

use crate::failure::Failure;
use crate::text::print;

/// Arguments of `riprap explain`.
#[derive(clap::Args)]
pub struct Arguments {
    /// A key with its table, such as run.scheme or body.force, or a name alone [default: list the tables]
    key: Option<String>,
}

/// Prints the explanation of a key, or the list of tables.
pub fn explain(arguments: &Arguments) -> Result<(), Failure> {
    let text = match &arguments.key {
        None => scene_file::explain_tables(),
        Some(key) => scene_file::explain(key).map_err(|error| Failure::Input(error.to_string()))?,
    };
    print(&text);
    Ok(())
}
