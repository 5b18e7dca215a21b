//! Paths of keys, such as `body.ball.position`, in a scene file.

use super::super::fields::{Kind, Table};
use super::super::model::SCENE;
use super::super::suggest;

/// A scene file, or a part of it, as far as paths of keys are concerned.
pub trait Outline {
    /// What it is.
    fn view(&self) -> View<'_>;
}

/// A value of a scene file.
#[derive(Clone)]
pub enum View<'a> {
    /// Keys and values.
    Table(Vec<(&'a str, &'a dyn Outline)>),
    /// Items.
    List(Vec<&'a dyn Outline>),
    /// A text.
    Text(&'a str),
    /// Anything else.
    Value,
}

/// A step from a table or a list to one of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key of a table; the table may not have it yet.
    Key(String),
    /// An item of a list, counted from 0.
    Item(usize),
}

/// Why a path leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", help.as_ref().map_or(String::new(), |help| format!("; {help}")))]
pub struct UnknownKey {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// The way to a key of a scene: `materials.rock.friction`, `body.ball.position`, `body.2.position`, `gravity.3`, or the name of a parameter. Items of
/// lists are found by their `name` or number, counted from 1. The last key may be new, and so may be tables that every scene can have; whether a
/// scene has a key of this name is found when it is checked.
///
/// ```
/// use riprap_io::scene_file::{Step, key_path};
///
/// let scene = serde_json::json!({ "body": [{ "name": "ball", "position": [0, 0, 1] }] });
/// let steps = key_path(&scene, "body.ball.position").unwrap();
/// assert_eq!(steps, [Step::Key("body".into()), Step::Item(0), Step::Key("position".into())]);
/// let told = key_path(&scene, "body.bal.position").unwrap_err().to_string();
/// assert_eq!(told, "`body.bal.position`: the scene has no `bal`; did you mean `ball`?");
/// ```
pub fn key_path(scene: &dyn Outline, key: &str) -> Result<Vec<Step>, UnknownKey> {
    let View::Table(entries) = scene.view() else {
        return Err(unknown(format!("`{key}`: a scene is a table"), None));
    };
    if !key.contains('.') {
        return single(&entries, key);
    }
    let mut steps = Vec::new();
    walk(scene, Some(Known::Table(&SCENE)), key, key, &mut steps)?;
    Ok(steps)
}

fn unknown(message: String, help: Option<String>) -> UnknownKey {
    UnknownKey { message, help }
}

/// A name alone: a parameter, or a key of the top level.
fn single(entries: &[(&str, &dyn Outline)], key: &str) -> Result<Vec<Step>, UnknownKey> {
    let parameters = entries.iter().find(|(name, _)| *name == "parameters");
    let parameters = match parameters.map(|(_, value)| value.view()) {
        Some(View::Table(parameters)) => parameters,
        _ => Vec::new(),
    };
    if parameters.iter().any(|(name, _)| *name == key) {
        return Ok(vec![Step::Key("parameters".into()), Step::Key(key.into())]);
    }
    let top = || SCENE.fields_of(None).map(|field| field.key);
    if top().any(|known| known == key) {
        return Ok(vec![Step::Key(key.into())]);
    }
    let names = parameters.iter().map(|(name, _)| *name);
    let help = match suggest::closest(key, names.clone().chain(top())) {
        Some(near) => format!("did you mean `{near}`?"),
        None if parameters.is_empty() => {
            "its table [parameters] is empty; a key of the scene is set by its path, such as `materials.rock.friction`".into()
        }
        None => format!(
            "known: {}; a key of the scene is set by its path, such as `materials.rock.friction`",
            names.collect::<Vec<_>>().join(", ")
        ),
    };
    Err(unknown(format!("the scene has no parameter `{key}`"), Some(help)))
}

/// What the format says about a value.
#[derive(Clone, Copy)]
enum Known {
    Table(&'static Table),
    /// Tables with names given by the user.
    Named(&'static Table),
    /// Values with names given by the user.
    Map,
    /// A list of tables.
    List(&'static Table),
}

impl Known {
    fn of(kind: &'static Kind) -> Option<Known> {
        match kind {
            Kind::Table(table) => Some(Known::Table(table)),
            Kind::Named(table) => Some(Known::Named(table)),
            Kind::Map(_) => Some(Known::Map),
            Kind::List { of: Kind::Table(table), .. } => Some(Known::List(table)),
            Kind::OneOf(kinds) => kinds.iter().find_map(Known::of),
            _ => None,
        }
    }

    /// What is below a key or an item.
    fn below(self, key: &str) -> Option<Known> {
        match self {
            Known::Table(table) => Known::of(&field(table, key)?.kind),
            Known::Named(table) | Known::List(table) => Some(Known::Table(table)),
            Known::Map => None,
        }
    }
}

/// All keys of a table, with those of all its variants.
pub(in super::super) fn all_fields(
    table: &'static Table,
) -> impl Iterator<Item = &'static super::super::fields::Field> {
    let variants = table.tag.map_or(&[][..], |tag| tag.variants);
    let own = variants.iter().flat_map(|variant| variant.fields.iter().copied().flatten());
    table.fields.iter().copied().flatten().chain(own)
}

fn field(table: &'static Table, key: &str) -> Option<&'static super::super::fields::Field> {
    all_fields(table).find(|field| field.key == key)
}

/// Follows `rest` of the path `whole` from a value.
fn walk(
    at: &dyn Outline,
    known: Option<Known>,
    rest: &str,
    whole: &str,
    steps: &mut Vec<Step>,
) -> Result<(), UnknownKey> {
    let mut entries: Vec<(String, Step, &dyn Outline)> = match at.view() {
        View::Table(entries) => {
            let entry = |(key, value): (&str, _)| (key.to_owned(), Step::Key(key.into()), value);
            entries.into_iter().map(entry).collect()
        }
        View::List(items) => named_items(&items),
        View::Text(_) | View::Value => {
            let path = whole[..whole.len() - rest.len()].trim_end_matches('.');
            return Err(unknown(format!("`{whole}`: `{path}` is a value, not a table"), None));
        }
    };
    // The longest first, because names may contain dots.
    entries.sort_by_key(|(key, ..)| std::cmp::Reverse(key.len()));
    for (key, step, value) in &entries {
        if rest == key {
            if let (Step::Item(_), View::Table(_)) = (step, value.view()) {
                let message = format!("`{whole}` is a table");
                let help = format!("set one of its keys, such as `{whole}.{}`", example(*value));
                return Err(unknown(message, Some(help)));
            }
            steps.push(step.clone());
            return Ok(());
        }
        if let Some(inner) = rest.strip_prefix(key.as_str()).and_then(|r| r.strip_prefix('.')) {
            steps.push(step.clone());
            let below = known.and_then(|known| known.below(key));
            return walk(*value, below, inner, whole, steps);
        }
    }
    let is_list = matches!(at.view(), View::List(_));
    let (first, inner) = match rest.split_once('.') {
        Some((first, inner)) => (first, Some(inner)),
        None => (rest, None),
    };
    let Some(inner) = inner.filter(|_| !is_list) else {
        if is_list {
            return Err(missing(first, whole, &entries, None));
        }
        // It may have a default; whether it exists is found when the scene is checked.
        steps.push(Step::Key(first.into()));
        return Ok(());
    };
    // Tables that every scene can have need not be in the file.
    let below = match known {
        Some(Known::Table(table)) => field(table, first).and_then(|field| Known::of(&field.kind)),
        _ => None,
    };
    match below {
        Some(Known::Table(_) | Known::Map) => {
            steps.push(Step::Key(first.into()));
            walk(&Empty, below, inner, whole, steps)
        }
        Some(Known::Named(table) | Known::List(table)) => {
            let help = "tables with names are added in the file".to_owned();
            Err(unknown(format!("`{whole}`: the scene has no {}", table.title), Some(help)))
        }
        None => Err(missing(first, whole, &entries, known)),
    }
}

/// A table that is not in the file.
struct Empty;

impl Outline for Empty {
    fn view(&self) -> View<'_> {
        View::Table(Vec::new())
    }
}

/// Items of a list by their names, and by their numbers.
fn named_items<'a>(items: &[&'a dyn Outline]) -> Vec<(String, Step, &'a dyn Outline)> {
    let mut found = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if let View::Table(keys) = item.view()
            && let Some((_, name)) = keys.iter().find(|(key, _)| *key == "name")
            && let View::Text(name) = name.view()
        {
            found.push((name.to_owned(), Step::Item(index), *item));
        }
    }
    let numbered = items.iter().enumerate();
    found.extend(numbered.map(|(k, item)| ((k + 1).to_string(), Step::Item(k), *item)));
    found
}

fn missing(
    first: &str,
    whole: &str,
    entries: &[(String, Step, &dyn Outline)],
    known: Option<Known>,
) -> UnknownKey {
    let tables = match known {
        Some(Known::Table(table)) => all_fields(table).map(|field| field.key).collect(),
        _ => Vec::new(),
    };
    let names = entries.iter().map(|(key, ..)| key.as_str());
    let help = match suggest::closest(first, names.clone().chain(tables)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if entries.is_empty() => "there are none".into(),
        None => {
            let mut shown: Vec<&str> = names.collect();
            shown.sort_unstable();
            shown.truncate(12);
            format!("known: {}", shown.join(", "))
        }
    };
    unknown(format!("`{whole}`: the scene has no `{first}`"), Some(help))
}

/// A key of a table, for a message.
fn example(at: &dyn Outline) -> String {
    let View::Table(entries) = at.view() else { return "name".into() };
    let other = entries.iter().map(|(key, _)| *key).find(|key| *key != "name");
    other.unwrap_or("name").to_owned()
}

impl Outline for serde_json::Value {
    fn view(&self) -> View<'_> {
        match self {
            serde_json::Value::Object(entries) => {
                View::Table(entries.iter().map(|(k, v)| (k.as_str(), v as &dyn Outline)).collect())
            }
            serde_json::Value::Array(items) => {
                View::List(items.iter().map(|item| item as &dyn Outline).collect())
            }
            serde_json::Value::String(text) => View::Text(text),
            _ => View::Value,
        }
    }
}
