//! Builds the book: `riprap-book <output folder>`.
//!
//! mdBook is used as a library with an additional preprocessor that converts formulas to MathML, which browsers render
//! without scripts and without network access. A formula that cannot be parsed is an error. `cargo xtask book` runs this
//! program and then checks the links of the site.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use mdbook_driver::MDBook;
use mdbook_preprocessor::book::Book;
use mdbook_preprocessor::errors::{Error, Result};
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};
use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::mathml::push_mathml;
use pulldown_latex::{Parser, Storage};
use xtask::markdown::{Formula, replace_formulas};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [output] = &arguments[..] else {
        eprintln!("usage: riprap-book <output folder>");
        return ExitCode::from(2);
    };
    match build(Path::new(output)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn build(output: &Path) -> Result<()> {
    let mut book = MDBook::load(xtask::root().join("book"))?;
    book.config.build.build_dir = output.to_path_buf();
    book.with_preprocessor(MathMl);
    book.build()?;
    // The site includes its fonts; `formulas.css` refers to them.
    let fonts = fonts()?;
    let folder = output.join("math");
    std::fs::create_dir_all(&folder)?;
    for font in ["latinmodern-math.woff2", "lmroman12-regular.woff2"] {
        std::fs::copy(fonts.join(font), folder.join(font))?;
    }
    Ok(())
}

/// The folder of the fonts distributed with pulldown-latex.
fn fonts() -> Result<PathBuf> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let arguments = ["metadata", "--format-version", "1", "--locked", "--manifest-path", manifest];
    let output = Command::new(cargo).args(arguments).output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let path = packages
        .filter(|package| package["name"] == "pulldown-latex")
        .find_map(|package| package["manifest_path"].as_str())
        .ok_or_else(|| Error::msg("cargo metadata does not name pulldown-latex"))?;
    Ok(Path::new(path).with_file_name("font"))
}

/// Converts the formulas of all pages to MathML.
struct MathMl;

impl Preprocessor for MathMl {
    fn name(&self) -> &str {
        "mathml"
    }

    fn run(&self, _context: &PreprocessorContext, mut book: Book) -> Result<Book> {
        let mut failures = Vec::new();
        book.for_each_chapter_mut(|chapter| {
            chapter.content = replace_formulas(&chapter.content, |formula| {
                mathml(formula).unwrap_or_else(|error| {
                    failures.push(format!("{}: `{}`: {error}", chapter.name, formula.latex));
                    String::new()
                })
            });
        });
        if failures.is_empty() { Ok(book) } else { Err(Error::msg(failures.join("\n"))) }
    }
}

/// Renders a formula as HTML that Markdown does not alter.
fn mathml(formula: &Formula) -> std::result::Result<String, String> {
    let (latex, tag) = split_tag(&formula.latex);
    let storage = Storage::new();
    let events: Vec<_> = Parser::new(latex, &storage)
        .collect::<std::result::Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let mode = if formula.display { DisplayMode::Block } else { DisplayMode::Inline };
    let config = RenderConfig { display_mode: mode, ..RenderConfig::default() };
    let mut html = String::new();
    push_mathml(&mut html, events.into_iter().map(Ok::<_, std::fmt::Error>), config)
        .map_err(|error| error.to_string())?;
    // Large delimiters (`\bigl(`) come without a space between two attributes.
    let html = html.replace("\"minsize=", "\" minsize=");
    // Spaces in text are escaped twice, and μ is rendered as the micro sign, which is upright.
    let html = shielded(&html.replace("&amp;nbsp;", "\u{a0}").replace('\u{b5}', "\u{1d707}"));
    Ok(match tag {
        Some(tag) => {
            format!(r#"<span class="equation">{html}<span class="tag">({tag})</span></span>"#)
        }
        None => html,
    })
}

/// Splits off the `\tag{…}` of a formula, which MathML does not support, and returns its content.
fn split_tag(latex: &str) -> (&str, Option<&str>) {
    match latex.split_once(r"\tag{") {
        Some((head, rest)) => (head, rest.split('}').next()),
        None => (latex, None),
    }
}

/// Replaces characters with a meaning in Markdown by entities and joins all lines.
fn shielded(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut in_tag = false;
    for c in html.chars() {
        match c {
            '<' => in_tag = true,
            '>' => in_tag = false,
            '\n' => {
                text.push(' ');
                continue;
            }
            '*' | '_' | '`' | '|' | '[' | ']' | '\\' | '~' | '$' if !in_tag => {
                text.push_str(&format!("&#{};", u32::from(c)));
                continue;
            }
            _ => {}
        }
        text.push(c);
    }
    text
}
