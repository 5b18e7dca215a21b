//! A table declared here exercises everything generated from a declaration: check, reading, writing, schema, reference page.

use super::*;
use crate::scene_file::document;
use crate::scene_file::fields::Need;
use crate::scene_file::model::SCENE;
use crate::scene_file::problem::Problems;
use crate::scene_file::set::WithOptions;
use crate::scene_file::units::Dimension;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Colour {
    Red,
    Blue,
}

words! {
    Colour {
        Red "red": "as rust",
        Blue "blue": "as the sky",
    }
}

table! {
    /// A paint.
    PAINT = "paint", "[paint]", tag &FORM;
    struct Paint {
        /// How thick it is.
        layer: f64 = Quantity(Dimension::LENGTH, Positive), Required;
        /// What it looks like.
        colour: Colour = Choice(Colour::WORDS), Default("\"blue\"");
        /// How often it was renewed.
        coats("times"): u32 = Integer(1, 9), Default("1");
        /// How much light comes back.
        gloss: Option<f64> = Number(Within(0.0, 1.0)), Optional;
        /// What it is bought as.
        form: Form => &[];
    }
}

variants! {
    /// What it is bought as.
    FORM = "form", "What it is bought as.", Some("powder");
    enum Form {
        /// Dry.
        Powder "powder",
        /// In a can.
        Liquid "liquid" {
            /// Volume of the can, as the edge of a cube.
            size: f64 = Quantity(Dimension::LENGTH, Positive), Required;
        },
    }
}

/// Parses a paint from text, or returns the mistakes, one per line.
fn paint(text: &str) -> Result<Paint, String> {
    let mut problems = Problems::default();
    let entries = document::check(&WithOptions::new(text, &[]), &PAINT, &mut problems);
    let paint = entries.and_then(|entries| {
        let mut from = Converter::new(text, "".as_ref(), &mut problems);
        Paint::read_keys(&mut from, &entries)
    });
    let problems = problems.into_sorted();
    let line = |p: &crate::scene_file::Problem| {
        format!("{}: {} ({})", &text[p.span.clone()], p.message, p.help.as_deref().unwrap_or("–"))
    };
    match paint {
        Some(paint) if problems.is_empty() => Ok(paint),
        _ => Err(problems.iter().map(line).collect::<Vec<_>>().join("\n")),
    }
}

fn written(paint: &Paint) -> String {
    let scene = crate::scene_file::SceneFile::parse(
        "[run]\ndt = 1\nuntil = 1\n[[mechanism]]\n[[mechanism.body]]\nname = \"a\"\nmass = 1\n\
         [[mechanism.joint]]\nchild = \"a\"\ntype = \"free\"",
        "",
    );
    let scene = scene.unwrap_or_else(|errors| panic!("{errors}"));
    toml::to_string(&In(Names { scene: &scene, mechanism: None }, paint)).unwrap()
}

#[test]
fn values_are_in_si_units_and_defaults_are_filled_in() {
    let expected =
        Paint { layer: 2e-4, colour: Colour::Blue, coats: 1, gloss: None, form: Form::Powder };
    assert_eq!(paint("layer = \"0.2 mm\""), Ok(expected));
    let text = "layer = 1\ncolour = \"red\"\ntimes = 3\ngloss = 0.5\nform = \"liquid\"\nsize = 2";
    let form = Form::Liquid { size: 2.0 };
    let expected = Paint { layer: 1.0, colour: Colour::Red, coats: 3, gloss: Some(0.5), form };
    assert_eq!(paint(text), Ok(expected));
}

#[test]
fn every_mistake_is_reported_with_its_location_and_advice() {
    for (text, says) in [
        (
            "layer = 1\ncolor = \"red\"",
            "color: unknown key `color` in [paint] (did you mean `colour`?)",
        ),
        ("layer = true", "true: `layer`: expected a length such as \"25 mm\"; got true"),
        ("layer = \"2 kg\"", "kg: `layer`: "),
        ("layer = -1", "-1: `layer` must be greater than 0; got -1"),
        ("layer = 1\ntimes = 10", "10: `times` must be between 1 and 9; got 10"),
        ("layer = 1\ncolour = \"blu\"", "did you mean \"blue\"?"),
        ("", "`layer` is missing in [paint] (How thick it is. Write a length such as"),
        ("layer = 1\nsize = 1", "size: `size` is not allowed with form = \"powder\""),
        ("layer = 1\nform = \"liquid\"", "`size` is missing"),
    ] {
        let found = paint(text).unwrap_err();
        assert!(found.contains(says), "{text}: {found}");
        assert_eq!(found.lines().count(), 1, "{text}: {found}");
    }
    let found = paint("layer = 0\ncolour = 1\ntimes = 0\ngloss = 2").unwrap_err();
    assert_eq!(found.lines().count(), 4, "{found}");
}

#[test]
fn written_values_are_read_back_bitwise_identical() {
    for layer in [0.1 + 0.2, 5e-324, 1e12 - 0.1, 1.0 / 3.0] {
        let form = Form::Liquid { size: layer };
        let kept = Paint { layer, colour: Colour::Red, coats: 2, gloss: Some(0.1), form };
        assert_eq!(paint(&written(&kept)), Ok(kept));
    }
    let kept =
        Paint { layer: 1.0, colour: Colour::Blue, coats: 1, gloss: None, form: Form::Powder };
    let text = written(&kept);
    assert_eq!(text, "layer = 1.0\ncolour = \"blue\"\ntimes = 1\nform = \"powder\"\n");
    assert_eq!(paint(&text), Ok(kept));
}

#[test]
fn a_declaration_is_the_description() {
    let keys: Vec<_> = PAINT.fields_of(None).map(|field| (field.key, field.doc)).collect();
    assert_eq!(keys[0], ("layer", "How thick it is."));
    assert_eq!(keys[2], ("times", "How often it was renewed."));
    assert!(matches!(PAINT.fields[2][0].need, Need::Default("1")));
    assert_eq!(PAINT.doc, "A paint.");
    assert_eq!(FORM.variants[1].doc, "In a can.");
}

/// Rules between several keys refer to them again, in `convert`; any other key appears only in its declaration.
#[test]
fn a_scalar_key_appears_in_one_file() {
    fn sources(folder: &std::path::Path, found: &mut Vec<(std::path::PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if !path.ends_with("tests.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                found.push((path, code.collect::<Vec<_>>().join("\n")));
            }
        }
    }
    let mut files = Vec::new();
    sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/scene_file"), &mut files);
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    for key in ["rolling", "max_sweeps", "approach_tolerance", "jitter", "project", "wall"] {
        let names = |text: &str| text.split(|c| !part_of_word(c)).any(|word| word == key);
        let known: Vec<_> = files.iter().filter(|(_, text)| names(text)).map(|(p, _)| p).collect();
        assert_eq!(known.len(), 1, "`{key}` is named in {known:?}");
    }
}

#[test]
fn keys_are_unique_and_documented_in_every_table() {
    use crate::scene_file::fields::{Kind, Table};
    fn tables(kind: &'static Kind, found: &mut Vec<&'static Table>) {
        match kind {
            Kind::Table(table) | Kind::Named(table) => visit(table, found),
            Kind::List { of, .. } => tables(of, found),
            Kind::OneOf(kinds) => kinds.iter().for_each(|kind| tables(kind, found)),
            _ => {}
        }
    }
    fn visit(table: &'static Table, found: &mut Vec<&'static Table>) {
        if found.iter().any(|known| known.name == table.name) {
            return;
        }
        found.push(table);
        let variants = table.tag.map_or(&[][..], |tag| tag.variants);
        for variant in variants.iter().map(Some).chain([None]) {
            let keys: Vec<_> = table.fields_of(variant).collect();
            for (index, field) in keys.iter().enumerate() {
                assert!(keys[..index].iter().all(|other| other.key != field.key), "{}", field.key);
                assert!(field.doc.ends_with(['.', '…', ')']), "{}: {}", field.key, field.doc);
                tables(&field.kind, found);
            }
        }
    }
    let mut found = Vec::new();
    visit(&SCENE, &mut found);
    assert!(found.len() > 30, "{}", found.len());
}
