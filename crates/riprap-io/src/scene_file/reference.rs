//! The reference page of scene files, generated from their description: one section per table, one row per key.

use std::fmt::Write;

use super::expression;
use super::fields::{Groups, Kind, Need, Table, tuple_names};
use super::model::SCENE;
use super::schema::dimension;
use super::units::Dimension;

const INTRODUCTION: &str = "\
# The scene file

<!-- Generated from the description of the format in riprap-io; change it there and run its tests with RIPRAP_UPDATE=1. -->

A scene is a TOML file. `riprap check scene.toml` reads it and reports every mistake with its location; with
`schema/scene.schema.json`, an editor completes and explains the keys.

**Quantities** are plain numbers in SI units and radians, or texts with a unit: `\"25 mm\"`, `\"2700 kg/m^3\"`,
`\"-9.81 m/s^2\"`, `\"30 deg\"`, `\"1500 rpm\"`. Units are products (`N*m`), quotients (`m/s`) and powers (`m^2`, `m²`) of m, g, s, N,
Pa, bar, J, W, Hz, rad with decimal prefixes (n, u or µ, m, c, d, h, k, M, G), and of t, l, min, h, deg, rev, rpm and %.

A number may also be an **expression of `[parameters]`** in quotes: `start_velocity = \"omega\"`, `radius = \"0.5*width\"`. A parameter with a
unit keeps its dimension: a length is rejected if a time is expected, and a frequency in Hz if an angular velocity in rad/s is expected (write
`2*pi*f`, or give it in rad/s or rpm). Lengths and coordinates must not exceed 1e12 m.

**Names** consist of letters, digits, `-`, `_` and `.`. **Paths** are relative to the scene file.

```toml
[run]
dt = \"0.5 ms\"
until = \"2 s\"

[materials.rock]
density = \"2700 kg/m^3\"
friction = 0.6

[[body]]
name = \"floor\"
kind = \"fixed\"
shape = { type = \"half-space\" }
material = \"rock\"

[[body]]
name = \"ball\"
shape = { type = \"sphere\", radius = \"25 mm\" }
material = \"rock\"
position = [0, 0, \"1 m\"]
```

A mechanism is a tree of bodies and joints, here a pendulum on a slide that is held by a spring and driven by a force:

```toml
[run]
scheme = \"dormand-prince\"
until = \"10 s\"

[parameters]
omega = \"3 rad/s\"
amplitude = \"20 N\"

[[mechanism]]
name = \"crane\"

[[mechanism.body]]
name = \"trolley\"
mass = \"2 kg\"

[[mechanism.body]]
name = \"load\"
mass = \"5 kg\"
centre = [0, 0, \"-1 m\"]

[[mechanism.joint]]
name = \"x\"
type = \"prismatic\"
child = \"trolley\"
axis = \"x\"
spring = { stiffness = \"1 kN/m\", damping = \"20 N*s/m\" }

[[mechanism.joint]]
name = \"swing\"
type = \"revolute\"
parent = \"trolley\"
child = \"load\"
axis = \"-y\"
start = \"10 deg\"

[[mechanism.force]]
coordinate = \"x\"
law = \"amplitude*sin(omega*t) - 5*v.swing\"
```
";

const EXPRESSIONS: &str = "
## Expressions

An expression is in SI units and radians, without unit symbols: numbers, names, `pi`, `tau`, `+ - * / ^`, comparisons
`< <= > >= == !=`, `and`, `or`, `not`, parentheses and the functions below. True is 1 and false is 0; every nonzero value
counts as true.

| where | names |
| --- | --- |
| everywhere | the `[parameters]` |
| motions of bodies and joints | the time `t` |
| laws of forces in mechanisms | `t`, coordinates `q.NAME` and velocities `v.NAME` of the mechanism, and the values latched so far |

Motions are differentiated twice, exactly; at a kink or jump, on the branch taken.

";

/// The reference of the format in Markdown, stored as `book/src/scene-file.md`.
pub fn reference_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut tables: Vec<&'static Table> = vec![&SCENE];
    let mut next = 0;
    while let Some(table) = tables.get(next).copied() {
        // Two tables may share variants, which are listed once.
        let tag = |table: &'static Table| table.tag.map(std::ptr::from_ref);
        let owner =
            tables[..next].iter().find(|known| table.tag.is_some() && tag(known) == tag(table));
        section(table, owner.copied(), &mut page);
        let variants = table.tag.map_or(&[][..], |tag| tag.variants);
        let fields = table.fields.iter().chain(variants.iter().flat_map(|variant| variant.fields));
        for field in fields.copied().flatten() {
            mentioned(&field.kind, &mut tables);
        }
        next += 1;
    }
    page += EXPRESSIONS;
    for line in expression::function_lines() {
        page += &format!("- {line}\n");
    }
    page
}

/// Adds the tables that a kind refers to, without duplicates.
fn mentioned(kind: &'static Kind, tables: &mut Vec<&'static Table>) {
    match kind {
        Kind::Table(table) | Kind::Named(table)
            if !tables.iter().any(|known| known.name == table.name) =>
        {
            tables.push(table);
        }
        Kind::List { of, .. } => mentioned(of, tables),
        Kind::OneOf(kinds) => kinds.iter().for_each(|kind| mentioned(kind, tables)),
        _ => {}
    }
}

/// The title of a table as a heading.
fn heading(table: &Table) -> String {
    match table.title.starts_with('[') {
        true => format!("`{}`", table.title),
        false => {
            let mut letters = table.title.trim_start_matches("a ").chars();
            let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
            first + letters.as_str()
        }
    }
}

/// The section of a table. Variants shared with another table are listed only in the section of `owner`.
fn section(table: &'static Table, owner: Option<&'static Table>, page: &mut String) {
    let title = if table.name == "scene" { "Top level".to_owned() } else { heading(table) };
    let _ = write!(page, "\n## {title}\n\n{}\n", table.doc);
    fields(table.fields, page);
    let Some(tag) = table.tag else { return };
    let default = match tag.default {
        Some(value) => format!(" Default: `\"{value}\"`."),
        None => " Required.".to_owned(),
    };
    let _ = write!(page, "\n`{}`: {}{default}\n", tag.key, tag.doc);
    if let Some(owner) = owner {
        let _ = write!(page, "\nThe values and their keys are those of {}.\n", heading(owner));
        return;
    }
    for variant in tag.variants {
        let _ = write!(page, "\n### `{} = \"{}\"`\n\n{}\n", tag.key, variant.value, variant.doc);
        fields(variant.fields, page);
    }
}

fn fields(fields: Groups, page: &mut String) {
    if fields.iter().copied().flatten().next().is_none() {
        return;
    }
    *page += "\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n";
    for field in fields.iter().copied().flatten() {
        let default = match field.need {
            Need::Required => "**required**".to_owned(),
            Need::Optional => "–".to_owned(),
            Need::Default(value) => format!("`{value}`"),
            Need::Computed(rule) => rule.to_owned(),
        };
        let mut meaning = field.doc.to_owned();
        for words in choices(&field.kind) {
            for (word, what) in words {
                let _ = write!(meaning, " `\"{word}\"`: {what}.");
            }
        }
        let _ =
            writeln!(page, "| `{}` | {} | {default} | {meaning} |", field.key, value(&field.kind));
    }
}

/// The words of a choice, also inside lists and alternatives.
pub(super) fn choices(kind: &'static Kind) -> Vec<&'static [(&'static str, &'static str)]> {
    match kind {
        Kind::Choice(words) => vec![words],
        Kind::List { of, .. } => choices(of),
        Kind::OneOf(kinds) => kinds.iter().flat_map(choices).collect(),
        _ => Vec::new(),
    }
}

/// The text of a kind in a table cell.
pub(super) fn value(kind: &'static Kind) -> String {
    let unit = match dimension(kind) {
        Some(dimension) if dimension != Dimension::NONE => format!(" [{}]", dimension.unit()),
        _ => String::new(),
    };
    match kind {
        Kind::Quantity(dimension, limits) => {
            let name = dimension.to_string();
            let name = name.trim_start_matches("an ").trim_start_matches("a ").to_owned();
            joined(format!("{name}{unit}"), &limits.words())
        }
        Kind::Number(limits) => joined("number".into(), &limits.words()),
        Kind::Integer(low, i64::MAX) => format!("whole number, at least {low}"),
        Kind::Integer(low, high) => format!("whole number, {low} to {high}"),
        Kind::Flag => "`true` or `false`".into(),
        Kind::Text => "text".into(),
        Kind::Name => "name".into(),
        Kind::Refers(what) => format!("name of a {what}"),
        Kind::File => "path".into(),
        Kind::Choice(_) => "one of several words".into(),
        Kind::Law(_) => format!("number or expression{unit}"),
        Kind::Load(_) => format!("number, quantity or expression of time and state{unit}"),
        Kind::Value => "number, quantity or expression".into(),
        Kind::Axis => "`\"x\"`, `\"-y\"`, … or `[x, y, z]`".into(),
        Kind::Tuple(parts) => {
            let values: Vec<String> = parts.iter().map(|(_, kind)| value(kind)).collect();
            format!("`{}`: {}", tuple_names(parts), values.join(", "))
        }
        Kind::Map(of) => format!("table of names, each with {}", value(of)),
        Kind::Polar(of) => format!("`[x, y, z]`: {}", value(of)),
        Kind::Axial(of) => format!("`[x, y, z]`, in planar scenes one value: {}", value(of)),
        Kind::List { of: Kind::Table(table), .. } if table.title.starts_with('[') => {
            format!("tables `{}`", table.title)
        }
        Kind::List { of, min, max } if min == max => format!("{min} × {}", value(of)),
        Kind::List { of, min: 0, .. } => format!("list of {}", value(of)),
        Kind::List { of, min, .. } => format!("list of {}, at least {min}", value(of)),
        Kind::Table(table) => match table.title.starts_with('[') {
            true => format!("table `{}`", table.title),
            false => format!("table, see [{0}](#{1})", heading(table), anchor(table)),
        },
        Kind::Named(table) => match table.title.starts_with('[') {
            true => format!("tables `{}`", table.title),
            false => format!("tables, see [{0}](#{1})", heading(table), anchor(table)),
        },
        Kind::OneOf(kinds) => kinds.iter().map(value).collect::<Vec<_>>().join(", or "),
    }
}

fn anchor(table: &Table) -> String {
    heading(table).to_lowercase().replace(' ', "-")
}

fn joined(name: String, rule: &str) -> String {
    if rule.is_empty() { name } else { format!("{name}, {rule}") }
}
