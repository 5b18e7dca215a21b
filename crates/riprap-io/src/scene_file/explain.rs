//! Explanations of keys for `riprap explain`, generated from the same declarations as the reference page.

mod sample;

use std::fmt::Write;

use super::UnknownKey;
use super::fields::{Field, Kind, Need, Table, Tag, Variant};
use super::model::SCENE;
use super::reference::{choices, value};
use super::suggest;
use sample::sample;

/// Width of the text.
const WIDTH: usize = 100;

/// A table and the path of a key that leads to it.
struct Place {
    path: String,
    table: &'static Table,
}

/// All tables, with the shortest path of each; the first is the scene itself.
fn places() -> Vec<Place> {
    let mut places = vec![Place { path: String::new(), table: &SCENE }];
    let mut next = 0;
    while next < places.len() {
        let (path, table) = (places[next].path.clone(), places[next].table);
        for (_, field) in variants_and_fields(table) {
            let Some(inner) = table_of(&field.kind) else { continue };
            if places.iter().all(|known| known.table.name != inner.name) {
                places.push(Place { path: joined(&path, field.key), table: inner });
            }
        }
        next += 1;
    }
    places
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The table that a value is or contains.
fn table_of(kind: &'static Kind) -> Option<&'static Table> {
    match kind {
        Kind::Table(table) | Kind::Named(table) => Some(table),
        Kind::List { of, .. } => table_of(of),
        Kind::OneOf(kinds) => kinds.iter().find_map(table_of),
        _ => None,
    }
}

/// Whether names given by the user lie between a key and the keys below it.
fn has_names(kind: &Kind) -> bool {
    match kind {
        Kind::Named(_) | Kind::List { .. } => true,
        Kind::OneOf(kinds) => kinds.iter().any(has_names),
        _ => false,
    }
}

/// The keys of a table, with the variant that each belongs to.
fn variants_and_fields(
    table: &'static Table,
) -> impl Iterator<Item = (Option<&'static Variant>, &'static Field)> {
    let variants = table.tag.map_or(&[][..], |tag| tag.variants);
    let own = table.fields.iter().copied().flatten().map(|field| (None, field));
    own.chain(variants.iter().flat_map(|variant| {
        variant.fields.iter().copied().flatten().map(move |field| (Some(variant), field))
    }))
}

/// What is explained.
enum Subject {
    Table(&'static Table),
    Tag(&'static Table, &'static Tag),
    Variant(&'static Table, &'static Tag, &'static Variant),
    Key(&'static Table, &'static str),
}

/// The explanation of a key of scene files: type, unit, default, meaning, and an example. A key is written with its table, such as `run.dt`,
/// `body.force` or `mechanism.joint.axis`; names of bodies and materials may be part of it, and a name alone is looked up in all tables.
///
/// ```
/// use riprap_io::scene_file::explain;
///
/// let text = explain("run.dt").unwrap();
/// assert!(text.contains("time [s], greater than 0") && text.contains("dt = \"0.5 ms\""), "{text}");
/// let told = explain("run.shceme").unwrap_err().to_string();
/// assert_eq!(told, "`run.shceme`: [run] has no key `shceme`; did you mean `run.scheme`?");
/// ```
pub fn explain(key: &str) -> Result<String, UnknownKey> {
    let key = key.trim();
    if !key.contains('.') && known_keys(&SCENE).all(|known| known != key) {
        return anywhere(key);
    }
    let (path, subject) = find(key)?;
    let mut text = String::new();
    describe(&path, &subject, &mut text);
    Ok(text)
}

/// All tables of scene files, one per line with its meaning.
pub fn explain_tables() -> String {
    let places = places();
    let width = places.iter().map(|place| place.path.len()).max().unwrap_or(0);
    let mut text = String::new();
    for Place { path, table } in &places[1..] {
        let _ = writeln!(text, "{path:width$}  {}", first_sentence(table.doc));
    }
    text += "\nKeys of the scene itself: ";
    let own: Vec<&str> = SCENE
        .fields_of(None)
        .filter(|field| table_of(&field.kind).is_none())
        .map(|f| f.key)
        .collect();
    let _ = writeln!(text, "{}", own.join(", "));
    text +=
        "`riprap explain run` lists the keys of a table, `riprap explain run.dt` explains one.\n";
    text
}

fn first_sentence(text: &str) -> &str {
    text.split_inclusive(". ").next().unwrap_or(text).trim_end()
}

/// The tag and the keys of a table, without duplicates.
fn known_keys(table: &'static Table) -> impl Iterator<Item = &'static str> {
    let mut seen = Vec::new();
    let tag = table.tag.map(|tag| tag.key);
    tag.into_iter().chain(variants_and_fields(table).map(|(_, field)| field.key)).filter(
        move |key| {
            let fresh = !seen.contains(key);
            seen.push(*key);
            fresh
        },
    )
}

/// Follows a path of keys, in which names of the user are skipped.
fn find(key: &str) -> Result<(String, Subject), UnknownKey> {
    let mut table: &'static Table = &SCENE;
    let mut path = String::new();
    let mut may_be_name = false;
    let mut segments = key.split('.').peekable();
    let mut subject = Subject::Table(table);
    while let Some(segment) = segments.next() {
        if let Some(tag) = table.tag.filter(|tag| tag.key == segment) {
            let Some(word) = segments.next() else {
                return Ok((joined(&path, segment), Subject::Tag(table, tag)));
            };
            let path = joined(&path, segment);
            let Some(variant) = tag.variants.iter().find(|variant| variant.value == word) else {
                let words = tag.variants.iter().map(|variant| variant.value);
                return Err(unknown(key, &format!("`{path}`"), "value", word, &path, words));
            };
            return match segments.next() {
                None => Ok((format!("{path} = \"{word}\""), Subject::Variant(table, tag, variant))),
                Some(_) => Err(UnknownKey {
                    message: format!("`{key}`: nothing is below `{path}.{word}`"),
                    help: Some(format!("`riprap explain {path}.{word}` lists its keys")),
                }),
            };
        }
        // Variants may have tables of their own under one key: the one with the next key is meant.
        let next = segments.peek().copied();
        let leads_on = |field: &&'static Field| {
            let inner = table_of(&field.kind);
            inner.zip(next).is_some_and(|(inner, next)| known_keys(inner).any(|key| key == next))
        };
        let mut found = variants_and_fields(table)
            .map(|(_, field)| field)
            .filter(|field| field.key == segment)
            .collect::<Vec<_>>();
        found.sort_by_key(|field| !leads_on(field));
        let Some(field) = found.first().copied() else {
            if may_be_name && segments.peek().is_some() {
                may_be_name = false;
                continue;
            }
            let keys = known_keys(table);
            return Err(unknown(key, &table_name(table), "key", segment, &path, keys));
        };
        path = joined(&path, segment);
        let inner = table_of(&field.kind);
        subject = match (inner, segments.peek()) {
            (Some(inner), None) if may_stand_for_table(&field.kind) => Subject::Table(inner),
            (_, None) => Subject::Key(table, field.key),
            (Some(inner), Some(_)) => Subject::Table(inner),
            (None, Some(rest)) if matches!(field.kind, Kind::Map(_)) => {
                let _ = rest;
                return Ok((path, Subject::Key(table, field.key)));
            }
            (None, Some(rest)) => {
                return Err(UnknownKey {
                    message: format!("`{key}`: `{path}` is a value without keys such as `{rest}`"),
                    help: Some(format!("`riprap explain {path}` explains it")),
                });
            }
        };
        may_be_name = has_names(&field.kind);
        table = inner.unwrap_or(table);
    }
    Ok((path, subject))
}

/// Whether a key stands for the table with its header, such as `[run]` or `[[body]]`.
fn may_stand_for_table(kind: &'static Kind) -> bool {
    match kind {
        Kind::Table(table) | Kind::Named(table) => table.title.starts_with('['),
        Kind::List { of, .. } => may_stand_for_table(of),
        _ => false,
    }
}

fn table_name(table: &Table) -> String {
    if table.name == "scene" { "the scene".into() } else { table.title.into() }
}

fn unknown(
    whole: &str,
    of: &str,
    what: &str,
    word: &str,
    path: &str,
    known: impl Iterator<Item = &'static str>,
) -> UnknownKey {
    let known: Vec<&str> = known.collect();
    let help = match suggest::closest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{}`?", joined(path, near)),
        None => format!("known: {}", known.join(", ")),
    };
    UnknownKey { message: format!("`{whole}`: {of} has no {what} `{word}`"), help: Some(help) }
}

/// A key that is looked up in all tables.
fn anywhere(key: &str) -> Result<String, UnknownKey> {
    let places = places();
    let mut found: Vec<String> = Vec::new();
    for Place { path, table } in &places {
        if known_keys(table).any(|known| known == key) || table.name == key {
            let path = if table.name == key { path.clone() } else { joined(path, key) };
            found.push(path);
        }
    }
    found.dedup();
    match &found[..] {
        [] => {
            let mut words: Vec<&str> = places.iter().flat_map(|p| known_keys(p.table)).collect();
            words.sort_unstable();
            words.dedup();
            let help = match suggest::closest(key, words) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`riprap explain` lists the tables".to_owned(),
            };
            let message = format!("`{key}`: no table of a scene has a key of this name");
            Err(UnknownKey { message, help: Some(help) })
        }
        [one] => explain(one),
        several => {
            let mut text = format!("`{key}` is a key of several tables:\n\n");
            let width = several.iter().map(String::len).max().unwrap_or(0);
            for path in several {
                let meaning = match find(path)? {
                    (_, Subject::Key(table, key)) => {
                        variants_and_fields(table).find(|(_, f)| f.key == key).map(|(_, f)| f.doc)
                    }
                    (_, Subject::Tag(_, tag)) => Some(tag.doc),
                    (_, Subject::Table(table)) => Some(table.doc),
                    _ => None,
                };
                let meaning = first_sentence(meaning.unwrap_or_default());
                let _ = writeln!(text, "  {path:width$}  {meaning}");
            }
            text += "\n`riprap explain` with one of these paths tells the rest.\n";
            Ok(text)
        }
    }
}

fn describe(path: &str, subject: &Subject, text: &mut String) {
    let _ = writeln!(text, "{path}\n");
    match subject {
        Subject::Table(table) => {
            paragraph(table.doc, text);
            let tag = table.tag;
            keys(variants_and_fields(table).filter(|(variant, _)| variant.is_none()), text);
            if let Some(tag) = tag {
                variants(tag, text);
            }
        }
        Subject::Tag(table, tag) => {
            paragraph(tag.doc, text);
            row("table", &table_name(table), text);
            let default = tag.default.map_or("none: it is required".into(), |d| format!("\"{d}\""));
            row("default", &default, text);
            variants(tag, text);
            let word = tag.default.or(tag.variants.first().map(|v| v.value)).unwrap_or_default();
            example(table, &format!("{} = \"{word}\"", tag.key), text);
        }
        Subject::Variant(table, tag, variant) => {
            paragraph(variant.doc, text);
            row("table", &table_name(table), text);
            keys(variant.fields.iter().copied().flatten().map(|field| (None, field)), text);
            let mut lines = format!("{} = \"{}\"", tag.key, variant.value);
            for field in variant.fields.iter().copied().flatten() {
                if matches!(field.need, Need::Required) {
                    let _ = write!(lines, "\n{} = {}", field.key, sample(&field.kind));
                }
            }
            example(table, &lines, text);
        }
        Subject::Key(table, key) => {
            let all: Vec<_> = variants_and_fields(table).filter(|(_, f)| f.key == *key).collect();
            let mut told: Vec<(&Field, Vec<&Variant>)> = Vec::new();
            for (variant, field) in all {
                match told.iter_mut().find(|(f, _)| f.doc == field.doc) {
                    Some((_, variants)) => variants.extend(variant),
                    None => told.push((field, variant.into_iter().collect())),
                }
            }
            for (k, (field, variants)) in told.into_iter().enumerate() {
                if k > 0 {
                    text.push('\n');
                }
                one_key(table, field, &variants, text);
            }
        }
    }
}

fn one_key(table: &'static Table, field: &'static Field, of: &[&Variant], text: &mut String) {
    paragraph(field.doc, text);
    text.push('\n');
    let mut place = table_name(table);
    if let (Some(tag), false) = (table.tag, of.is_empty()) {
        let words: Vec<String> = of.iter().map(|v| format!("\"{}\"", v.value)).collect();
        let _ = write!(place, ", with {} = {}", tag.key, words.join(" or "));
    }
    row("table", &place, text);
    row("value", &plain(&field.kind), text);
    row("default", &default(field.need), text);
    for words in choices(&field.kind) {
        text.push('\n');
        for (word, meaning) in words {
            hanging(&format!("  \"{word}\""), meaning, text);
        }
    }
    let value = match field.need {
        // A default that says something is the best example.
        Need::Default(value) if !["{}", "[]", "\"\""].contains(&value) => value.to_owned(),
        _ => sample(&field.kind),
    };
    example(table, &format!("{} = {value}", field.key), text);
}

fn default(need: Need) -> String {
    match need {
        Need::Required => "none: it is required".into(),
        Need::Optional => "none: it may be left out".into(),
        Need::Default(value) => value.to_owned(),
        Need::Computed(rule) => rule.replace('`', ""),
    }
}

fn keys(
    fields: impl Iterator<Item = (Option<&'static Variant>, &'static Field)>,
    text: &mut String,
) {
    let fields: Vec<_> = fields.map(|(_, field)| field).collect();
    if fields.is_empty() {
        return;
    }
    text.push('\n');
    for field in fields {
        let star = if matches!(field.need, Need::Required) { " (required)" } else { "" };
        let meaning = first_sentence(field.doc);
        hanging(
            &format!("  {}{star}", field.key),
            &format!("{}: {meaning}", plain(&field.kind)),
            text,
        );
    }
}

fn variants(tag: &'static Tag, text: &mut String) {
    text.push('\n');
    for variant in tag.variants {
        hanging(&format!("  {} = \"{}\"", tag.key, variant.value), variant.doc, text);
        let fields: Vec<&str> = variant.fields.iter().copied().flatten().map(|f| f.key).collect();
        if !fields.is_empty() {
            let _ = writeln!(text, "      keys: {}", fields.join(", "));
        }
    }
}

/// The type of a value without marks of Markdown.
fn plain(kind: &'static Kind) -> String {
    match kind {
        Kind::Table(table) if !table.title.starts_with('[') => format!("table, {}", table.title),
        Kind::Named(table) if !table.title.starts_with('[') => format!("tables, {}", table.title),
        Kind::OneOf(kinds) => kinds.iter().map(plain).collect::<Vec<_>>().join(", or "),
        Kind::List { of, min, max } if min == max => format!("{min} × {}", plain(of)),
        Kind::List { of, .. } if table_of(of).is_some_and(|t| !t.title.starts_with('[')) => {
            format!("list of {}", plain(of))
        }
        kind => value(kind).replace('`', ""),
    }
}

fn row(label: &str, what: &str, text: &mut String) {
    hanging(&format!("  {label:8}"), what, text);
}

fn example(table: &Table, lines: &str, text: &mut String) {
    text.push_str("\n  example\n");
    if table.title.starts_with('[') {
        let _ = writeln!(text, "    {}", table.title.replace('*', "rock"));
    }
    for line in lines.lines() {
        let _ = writeln!(text, "    {line}");
    }
}

fn paragraph(what: &str, text: &mut String) {
    hanging("", what, text);
}

/// Text in lines of at most [`WIDTH`] characters, those after the first indented below it.
fn hanging(label: &str, what: &str, text: &mut String) {
    let indent = if label.is_empty() { 2 } else { (label.chars().count() + 2).min(34) };
    let mut line = if label.is_empty() { "  ".to_owned() } else { format!("{label}  ") };
    let mut is_empty = true;
    for word in what.replace('`', "").split_whitespace() {
        if !is_empty && line.chars().count() + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{}", line.trim_end());
            line = " ".repeat(indent);
        }
        line += word;
        line.push(' ');
        is_empty = false;
    }
    let _ = writeln!(text, "{}", line.trim_end());
}

#[cfg(test)]
mod tests;
