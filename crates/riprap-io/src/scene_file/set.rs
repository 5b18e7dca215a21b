//! Keys of a scene that are set from outside the file: `riprap run scene.toml --set materials.rock.friction=0.5`. They are applied to the
//! parsed text before it is checked, and mistakes in them point to the option.
//!
//! A key is a path of names separated by dots. Elements of lists are found by their `name`, or by their number, counted from 1; a name alone is that of
//! a parameter or a key of the top level. [`key_path`] resolves it, for studies over parameters too.

mod path;

pub use path::{Outline, Step, UnknownKey, View, key_path};

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{Problem, Problems};

/// Written before each option in the text of a scene, so that messages can show it.
const MARK: &str = "--set ";

/// The text of a scene, followed by its options.
pub(super) struct WithOptions {
    /// All of it; one line per option after the file.
    pub text: String,
    /// Where the options begin, if there are any.
    pub begin: Option<usize>,
    /// Where each option is, without its mark.
    options: Vec<Range<usize>>,
}

impl WithOptions {
    pub fn new(text: &str, options: &[String]) -> WithOptions {
        let mut whole = WithOptions { text: text.to_owned(), begin: None, options: Vec::new() };
        for option in options {
            if !whole.text.ends_with('\n') {
                whole.text.push('\n');
            }
            whole.begin.get_or_insert(whole.text.len());
            whole.text += MARK;
            let begin = whole.text.len();
            whole.text += option;
            whole.options.push(begin..whole.text.len());
        }
        whole
    }

    /// Parses the file and sets the keys of all options in order. `None` after a mistake, which is reported.
    pub fn parse(&self, problems: &mut Problems) -> Option<Spanned<DeTable<'_>>> {
        let file = &self.text[..self.begin.unwrap_or(self.text.len())];
        let (mut document, errors) = DeTable::parse_recoverable(file);
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            problems.report(span, format!("not valid TOML: {}", error.message()));
        }
        for place in self.options.iter().take_while(|_| problems.is_empty()) {
            let text = &self.text[place.clone()];
            if let Err(problem) = set(document.get_mut(), text, place.start) {
                problems.add(problem);
                break;
            }
        }
        problems.is_empty().then_some(document)
    }
}

/// Applies an option `KEY=VALUE` that begins at `at` in the text.
fn set<'a>(document: &mut DeTable<'a>, option: &'a str, at: usize) -> Result<(), Problem> {
    let whole = at..at + option.len();
    let Some((key, value)) = option.split_once('=') else {
        let problem = Problem::new(whole, format!("`{option}` sets nothing: there is no `=`"));
        return Err(problem.with_help("write KEY=VALUE, such as materials.rock.friction=0.5"));
    };
    let begin = key.len() - key.trim_start().len();
    let key_place = at + begin..at + key.trim_end().len();
    let key = key.trim();
    let steps = key_path(document, key).map_err(|mistake| {
        let UnknownKey { message, help } = mistake;
        let problem = Problem::new(key_place.clone(), message);
        help.into_iter().fold(problem, Problem::with_help)
    })?;
    let value_at = whole.end - value.trim_start().len();
    let value = parsed(value.trim(), value_at)?;
    put(document, &steps, value, &key_place);
    Ok(())
}

/// The value of an option: TOML, or text without quotes.
fn parsed(text: &str, at: usize) -> Result<Spanned<DeValue<'_>>, Problem> {
    let place = at..at + text.len();
    if text.is_empty() {
        let problem = Problem::new(at - 1..at, "there is no value after `=`");
        return Err(problem.with_help("write \"\" for an empty text"));
    }
    match DeValue::parse(text) {
        Ok(value) => Ok(moved(value, at)),
        // Quotes and brackets announce TOML; anything else is a text, such as 3 rad/s or penalty.
        Err(error) if text.starts_with(['"', '\'', '[', '{']) => {
            let span = error.span().map_or(place, |span| at + span.start..at + span.end);
            Err(Problem::new(span, format!("not valid TOML: {}", error.message())))
        }
        Err(_) => Ok(Spanned::new(place, DeValue::String(text.into()))),
    }
}

/// A value whose places are counted from `by`.
fn moved(value: Spanned<DeValue<'_>>, by: usize) -> Spanned<DeValue<'_>> {
    let at = |span: Range<usize>| span.start + by..span.end + by;
    let span = at(value.span());
    let value = match value.into_inner() {
        DeValue::Array(items) => {
            DeValue::Array(items.into_iter().map(|item| moved(item, by)).collect())
        }
        DeValue::Table(entries) => {
            let mut table = DeTable::new();
            for (key, value) in entries {
                let place = at(key.span());
                table.insert(Spanned::new(place, key.into_inner()), moved(value, by));
            }
            DeValue::Table(table)
        }
        value => value,
    };
    Spanned::new(span, value)
}

/// Puts a value at a path; tables that are missing on the way are created. `place` is that of the key.
fn put<'a>(
    table: &mut DeTable<'a>,
    steps: &[Step],
    value: Spanned<DeValue<'a>>,
    place: &Range<usize>,
) {
    let [Step::Key(key), rest @ ..] = steps else { return };
    if rest.is_empty() {
        match table.get_mut(key.as_str()) {
            // The key keeps its place: parameters are read in their order.
            Some(old) => *old = value,
            None => {
                table.insert(Spanned::new(place.clone(), key.clone().into()), value);
            }
        }
        return;
    }
    if !table.contains_key(key.as_str()) {
        let empty = Spanned::new(place.clone(), DeValue::Table(DeTable::new()));
        table.insert(Spanned::new(place.clone(), key.clone().into()), empty);
    }
    if let Some(inner) = table.get_mut(key.as_str()) {
        put_into(inner, rest, value, place);
    }
}

fn put_into<'a>(
    at: &mut Spanned<DeValue<'a>>,
    steps: &[Step],
    value: Spanned<DeValue<'a>>,
    place: &Range<usize>,
) {
    match (at.get_mut(), steps) {
        (DeValue::Table(table), _) => put(table, steps, value, place),
        (DeValue::Array(items), [Step::Item(index), rest @ ..]) => {
            let Some(item) = items.get_mut(*index) else { return };
            match rest {
                [] => *item = value,
                rest => put_into(item, rest, value, place),
            }
        }
        _ => {}
    }
}

impl Outline for DeTable<'_> {
    fn view(&self) -> View<'_> {
        let entries = self.iter().map(|(key, value)| {
            let key: &str = key.get_ref();
            (key, value.get_ref() as &dyn Outline)
        });
        View::Table(entries.collect())
    }
}

impl Outline for DeValue<'_> {
    fn view(&self) -> View<'_> {
        match self {
            DeValue::Table(table) => table.view(),
            DeValue::Array(items) => {
                View::List(items.iter().map(|item| item.get_ref() as &dyn Outline).collect())
            }
            DeValue::String(text) => View::Text(text),
            _ => View::Value,
        }
    }
}

#[cfg(test)]
mod tests;
