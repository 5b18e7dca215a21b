//! The JSON schema of scene files, generated from their description, so that editors complete keys, explain them and
//! mark mistakes while the file is edited. Rules between several keys are not covered; `riprap check` checks them.

use serde_json::{Map, Value, json};

use super::fields::{Field, Kind, Limits, Need, Table, Variant};
use super::model::SCENE;
use super::units::Dimension;

/// The JSON schema (draft 2020-12) of scene files.
///
/// Stored as `schema/scene.schema.json`; point an editor there with the line
/// `#:schema scene.schema.json` at the top of a scene.
pub fn json_schema() -> Value {
    let mut definitions = Map::new();
    let root = table_schema(&SCENE, &mut definitions);
    let mut schema = Map::new();
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!("riprap scene"));
    if let Value::Object(root) = root {
        schema.extend(root);
    }
    schema.insert("$defs".into(), Value::Object(definitions));
    Value::Object(schema)
}

/// A reference to the definition of a table, which is created on first use.
fn reference(table: &'static Table, definitions: &mut Map<String, Value>) -> Value {
    if !definitions.contains_key(table.name) {
        definitions.insert(table.name.into(), Value::Null); // tables may contain themselves
        let schema = table_schema(table, definitions);
        definitions.insert(table.name.into(), schema);
    }
    json!({ "$ref": format!("#/$defs/{}", table.name) })
}

fn table_schema(table: &'static Table, definitions: &mut Map<String, Value>) -> Value {
    let Some(tag) = table.tag else {
        return variant_schema(table, None, definitions);
    };
    let variants: Vec<Value> = tag
        .variants
        .iter()
        .map(|variant| variant_schema(table, Some(variant), definitions))
        .collect();
    json!({ "description": table.doc, "type": "object", "oneOf": variants })
}

fn variant_schema(
    table: &'static Table,
    variant: Option<&'static Variant>,
    definitions: &mut Map<String, Value>,
) -> Value {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    if let (Some(tag), Some(variant)) = (table.tag, variant) {
        let description = format!("{} {}: {}", tag.doc, variant.value, variant.doc);
        let schema = json!({ "const": variant.value, "description": description });
        properties.insert(tag.key.into(), schema);
        if tag.default != Some(variant.value) {
            required.push(tag.key);
        }
    }
    for field in table.fields_of(variant) {
        properties.insert(field.key.into(), field_schema(field, definitions));
        if matches!(field.need, Need::Required) {
            required.push(field.key);
        }
    }
    let doc = variant.map_or(table.doc, |variant| variant.doc);
    let mut schema = json!({
        "description": doc,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn field_schema(field: &'static Field, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = kind_schema(&field.kind, definitions);
    let mut description = field.doc.to_owned();
    if let Some(dimension) = dimension(&field.kind)
        && dimension != Dimension::NONE
    {
        description += &format!(" A plain number is in {}.", dimension.unit());
    }
    if let Kind::Choice(words) = field.kind {
        for (word, meaning) in words {
            description += &format!(" \"{word}\": {meaning}.");
        }
    }
    if let Need::Computed(rule) = field.need {
        description += &format!(" Default: {rule}.");
    }
    schema["description"] = json!(description);
    if let Need::Default(value) = field.need
        && let Some(default) = default_value(value)
    {
        schema["default"] = default;
    }
    schema
}

/// A default, written in TOML, as JSON.
fn default_value(text: &str) -> Option<Value> {
    let table: toml::Table = toml::from_str(&format!("value = {text}")).ok()?;
    serde_json::to_value(table.get("value")?).ok()
}

/// The dimension of a value or of its components.
pub(super) fn dimension(kind: &Kind) -> Option<Dimension> {
    match kind {
        Kind::Quantity(dimension, _) | Kind::Law(dimension) | Kind::Load(dimension) => {
            Some(*dimension)
        }
        Kind::Polar(of) | Kind::Axial(of) | Kind::List { of, .. } => dimension(of),
        Kind::OneOf(kinds) => kinds.iter().find_map(dimension),
        _ => None,
    }
}

fn number_schema(limits: Limits) -> Value {
    let mut schema = json!({ "type": "number" });
    match limits {
        Limits::Any => {}
        Limits::Positive => schema["exclusiveMinimum"] = json!(0),
        Limits::NonNegative => schema["minimum"] = json!(0),
        Limits::Within(low, high) => {
            schema["minimum"] = json!(low);
            schema["maximum"] = json!(high);
        }
    }
    schema
}

fn kind_schema(kind: &'static Kind, definitions: &mut Map<String, Value>) -> Value {
    let list = |of: Value, min: usize, max: usize| json!({ "type": "array", "items": of, "minItems": min, "maxItems": max });
    match kind {
        Kind::Quantity(dimension, limits) => {
            let text = json!({
                "type": "string",
                // A number with a unit, or an expression of parameters.
                "pattern": r"[\dA-Za-z_]",
                "examples": [dimension.example()],
            });
            json!({ "anyOf": [number_schema(*limits), text] })
        }
        // An expression of parameters contains a name.
        Kind::Number(limits) => {
            json!({ "anyOf": [number_schema(*limits), { "type": "string", "pattern": "[A-Za-z_]" }] })
        }
        Kind::Integer(low, i64::MAX) => json!({ "type": "integer", "minimum": low }),
        Kind::Integer(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Name => json!({ "type": "string", "minLength": 1, "maxLength": 100 }),
        Kind::Refers(_) | Kind::File => json!({ "type": "string", "minLength": 1 }),
        Kind::Choice(words) => {
            json!({ "enum": words.iter().map(|(word, _)| *word).collect::<Vec<_>>() })
        }
        Kind::Law(_) | Kind::Load(_) | Kind::Value => json!({ "type": ["number", "string"] }),
        Kind::Axis => {
            let words = json!({ "enum": ["x", "y", "z", "-x", "-y", "-z"] });
            json!({ "anyOf": [words, list(number_schema(Limits::Any), 3, 3)] })
        }
        Kind::Tuple(parts) => {
            let items: Vec<Value> =
                parts.iter().map(|(_, kind)| kind_schema(kind, definitions)).collect();
            let n = items.len();
            json!({ "type": "array", "prefixItems": items, "minItems": n, "maxItems": n })
        }
        Kind::Map(of) => {
            json!({ "type": "object", "additionalProperties": kind_schema(of, definitions) })
        }
        Kind::Polar(of) => list(kind_schema(of, definitions), 2, 3),
        Kind::Axial(of) => {
            let of = kind_schema(of, definitions);
            json!({ "anyOf": [of.clone(), list(of, 3, 3)] })
        }
        Kind::List { of, min, max } => list(kind_schema(of, definitions), *min, *max),
        Kind::Table(table) => reference(table, definitions),
        Kind::Named(table) => {
            json!({ "type": "object", "additionalProperties": reference(table, definitions) })
        }
        Kind::OneOf(kinds) => {
            let kinds: Vec<Value> =
                kinds.iter().map(|kind| kind_schema(kind, definitions)).collect();
            json!({ "anyOf": kinds })
        }
    }
}
