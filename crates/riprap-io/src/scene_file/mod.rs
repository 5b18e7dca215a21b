//! Scene files: a scene described in TOML, read into a [`SceneFile`].
//!
//! Each key is declared once, next to the member of the model it becomes (`model`, with the vocabulary of `fields` and `keys`).
//! Reading takes four steps: the text is parsed and checked against this description (`document`), quantities are converted to
//! SI units (`units`), the values are converted to the model and checked against each other (`convert`), and all mistakes are
//! returned together, each with its location ([`SceneErrors`]). The JSON schema for editors, the reference page and the
//! resolved scene are generated from the same declarations.

mod convert;
mod document;
mod explain;
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
mod set;
mod suggest;
mod units;
mod values;

pub use identity::fingerprint;
pub(crate) use identity::first_difference;
pub(crate) use number::number;

pub use explain::{explain, explain_tables};
pub(crate) use expression::Scope;
pub use expression::{Expression, ExpressionError};
pub use model::*;
pub use problem::{Problem, SceneErrors};
pub use reference::reference_page;
pub use schema::json_schema;
pub use set::{Outline, Step, UnknownKey, View, key_path};
pub use suggest::closest;
pub use units::{Dimension, QuantityError, parse_quantity};

use std::io::Read;
use std::path::Path;

/// Maximum size of a scene file [bytes].
const MAX_BYTES: u64 = 64 << 20;

impl SceneFile {
    /// Reads a scene from a file. Paths in it are relative to its folder.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, SceneErrors> {
        Self::read_with(path, &[])
    }

    /// Reads a scene from a file, with keys set by options `KEY=VALUE`: see [`SceneFile::parse_with`].
    pub fn read_with(path: impl AsRef<Path>, set: &[String]) -> Result<Self, SceneErrors> {
        let path = path.as_ref();
        let bytes = read_bytes(path).map_err(|problem| SceneErrors {
            path: path.to_owned(),
            problems: vec![problem],
            ..SceneErrors::default()
        })?;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let problem = Problem::new(at..at, "the file is not valid UTF-8 text")
                    .with_help("save it in UTF-8 encoding");
                let (path, problems) = (path.to_owned(), vec![problem]);
                return Err(SceneErrors { path, text, problems, ..SceneErrors::default() });
            }
        };
        let base = path.parent().unwrap_or(Path::new(""));
        let mut scene = Self::parse_with(&text, base, set)
            .map_err(|errors| SceneErrors { path: path.to_owned(), ..errors })?;
        scene.source.path = path.to_owned();
        Ok(scene)
    }

    /// Reads a scene from text. Paths in it are relative to `base_dir`.
    pub fn parse(text: &str, base_dir: impl AsRef<Path>) -> Result<Self, SceneErrors> {
        Self::parse_with(text, base_dir, &[])
    }

    /// Reads a scene from text, with keys set by options `KEY=VALUE` before it is checked. A key is a path of names such as
    /// `materials.rock.friction` or `body.ball.position`, or the name of a parameter: see [`key_path`]. A value is written as in TOML, texts also without
    /// quotes.
    ///
    /// ```
    /// use riprap_io::scene_file::SceneFile;
    ///
    /// let text = r#"
    ///     run = { dt = "1 ms", until = "0.1 s" }
    ///     materials.rubber = { density = 1100 }
    ///     [[body]]
    ///     name = "ball"
    ///     material = "rubber"
    ///     shape = { type = "sphere", radius = "5 cm" }
    /// "#;
    /// let set = ["run.until=20 ms".to_owned(), "body.ball.position=[0, 0, 2]".to_owned()];
    /// let scene = SceneFile::parse_with(text, ".", &set)?;
    /// assert_eq!((scene.run.until, scene.bodies[0].position), (0.02, [0.0, 0.0, 2.0]));
    ///
    /// let wrong = SceneFile::parse_with(text, ".", &["body.ball.postion=[0, 0, 2]".to_owned()]);
    /// let told = wrong.unwrap_err().to_string();
    /// assert!(told.starts_with("--set body.ball.postion=[0, 0, 2]: unknown key `postion`"), "{told}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse_with(
        text: &str,
        base_dir: impl AsRef<Path>,
        set: &[String],
    ) -> Result<Self, SceneErrors> {
        let mut problems = problem::Problems::default();
        let is_blank = |line: &str| line.trim().is_empty() || line.trim().starts_with('#');
        if text.lines().all(is_blank) {
            problems.advise(
                0..0,
                "the scene file is empty",
                "`riprap new` creates one to start from",
            );
        }
        let whole = set::WithOptions::new(text, set);
        if problems.is_empty()
            && let Some(entries) = document::check(&whole, &model::SCENE, &mut problems)
        {
            let scene = convert::convert(&entries, &whole.text, base_dir.as_ref(), &mut problems);
            if let (true, Some(mut scene)) = (problems.is_empty(), scene) {
                scene.source.options = whole.begin;
                scene.source.text = whole.text.into();
                scene.source.set = set.to_vec();
                return Ok(scene);
            }
        }
        let problems = problems.into_sorted();
        let (text, options) = (whole.text, whole.begin);
        Err(SceneErrors { text, options, problems, ..SceneErrors::default() })
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
