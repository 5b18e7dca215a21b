//! Scene files: a scene described in TOML, read into a [`SceneFile`].
//!
//! Each key is declared once, next to the member of the model it becomes (`model`, with the vocabulary of `fields` and `keys`).
//! Reading takes four steps: the text is parsed and checked against this description (`document`), quantities are converted to
//! SI units (`units`), the values are converted to the model and checked against each other (`convert`), and all mistakes are
//! returned together, each with its location ([`SceneErrors`]). The JSON schema for editors, the reference page and the
//! resolved scene are generated from the same declarations.

mod convert;
mod document;
mod expression;
mod fields;
mod identity;
mod jet;
mod keys;
mod model;
mod number;
mod parameters;
mod problem;
mod reference;
mod resolved;
mod schema;
mod suggest;
mod units;
mod values;

pub use identity::fingerprint;
pub(crate) use identity::first_difference;
pub(crate) use number::number;

pub(crate) use expression::Scope;
pub use expression::{Expression, ExpressionError};
pub use model::*;
pub use problem::{Problem, SceneErrors};
pub use reference::reference_page;
pub use schema::json_schema;
pub use suggest::closest;
pub use units::{Dimension, QuantityError, parse_quantity};

use std::io::Read;
use std::path::Path;

/// Maximum size of a scene file [bytes].
const MAX_BYTES: u64 = 64 << 20;

impl SceneFile {
    /// Reads a scene from a file. Paths in it are relative to its folder.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, SceneErrors> {
        let path = path.as_ref();
        let bytes = read_bytes(path).map_err(|problem| SceneErrors {
            path: path.to_owned(),
            text: String::new(),
            problems: vec![problem],
        })?;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let problem = Problem::new(at..at, "the file is not valid UTF-8 text")
                    .with_help("save it in UTF-8 encoding");
                return Err(SceneErrors { path: path.to_owned(), text, problems: vec![problem] });
            }
        };
        let base = path.parent().unwrap_or(Path::new(""));
        let mut scene = Self::parse(&text, base)
            .map_err(|errors| SceneErrors { path: path.to_owned(), ..errors })?;
        scene.source.path = path.to_owned();
        Ok(scene)
    }

    /// Reads a scene from text. Paths in it are relative to `base_dir`.
    pub fn parse(text: &str, base_dir: impl AsRef<Path>) -> Result<Self, SceneErrors> {
        let mut problems = problem::Problems::default();
        let is_blank = |line: &str| line.trim().is_empty() || line.trim().starts_with('#');
        if text.lines().all(is_blank) {
            problems.advise(
                0..0,
                "the scene file is empty",
                "`riprap new` creates one to start from",
            );
        }
        if problems.is_empty()
            && let Some(entries) = document::check(text, &model::SCENE, &mut problems)
        {
            let scene = convert::convert(&entries, text, base_dir.as_ref(), &mut problems);
            if let (true, Some(mut scene)) = (problems.is_empty(), scene) {
                scene.source.text = text.into();
                return Ok(scene);
            }
        }
        let problems = problems.into_sorted();
        Err(SceneErrors { path: Default::default(), text: text.to_owned(), problems })
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    let refused = |error: std::io::Error| {
        let message = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => format!("cannot read the file: {error}"),
        };
        Problem::new(0..0, message)
    };
    if path.is_dir() {
        let problem = Problem::new(0..0, "this is a folder, not a scene file");
        return Err(match path.join("scene.toml").is_file() {
            true => {
                problem.with_help(format!("did you mean {}?", path.join("scene.toml").display()))
            }
            false => problem,
        });
    }
    let file = crate::regular::open(path).map_err(refused)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(refused)?;
    if bytes.len() as u64 > MAX_BYTES {
        let help = "move large sets of grains to a table: generator = \"file\"";
        return Err(Problem::new(0..0, "the scene file is larger than 64 MiB").with_help(help));
    }
    Ok(bytes)
}
