//! The JSON schema and the checker must agree: both accept the same scenes and refuse the same
//! mistakes.

use std::path::{Path, PathBuf};

use riprap_io::scene_file::{SceneFile, json_schema};
use serde_json::Value;

/// Whether a value satisfies a schema, for the keywords used here.
fn fits(value: &Value, schema: &Value, root: &Value) -> bool {
    let list = |key: &str| schema[key].as_array().into_iter().flatten();
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.strip_prefix("#/$defs/").expect("a definition");
        let definition = &root["$defs"][name];
        assert!(definition.is_object(), "{reference} is not defined");
        return fits(value, definition, root);
    }
    let n_fitting = |key: &str| list(key).filter(|schema| fits(value, schema, root)).count();
    if !schema["oneOf"].is_null() && n_fitting("oneOf") != 1 {
        return false;
    }
    if !schema["anyOf"].is_null() && n_fitting("anyOf") == 0 {
        return false;
    }
    if !schema["enum"].is_null() && !list("enum").any(|word| word == value) {
        return false;
    }
    if !schema["const"].is_null() && schema["const"] != *value {
        return false;
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    (types.is_empty() || types.iter().any(|name| has_type(value, name)))
        && number_fits(value, schema)
        && list_fits(value, schema, root)
        && table_fits(value, schema, root)
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|x| x.fract() == 0.0),
        _ => panic!("type {name}"),
    }
}

fn number_fits(value: &Value, schema: &Value) -> bool {
    let bound = |key: &str| schema[key].as_f64();
    let Some(x) = value.as_f64() else {
        let length = value.as_str().map(|text| text.chars().count() as f64);
        return length.is_none_or(|n| {
            bound("minLength").is_none_or(|least| n >= least)
                && bound("maxLength").is_none_or(|most| n <= most)
        });
    };
    bound("minimum").is_none_or(|least| x >= least)
        && bound("maximum").is_none_or(|most| x <= most)
        && bound("exclusiveMinimum").is_none_or(|least| x > least)
}

fn list_fits(value: &Value, schema: &Value, root: &Value) -> bool {
    let Some(items) = value.as_array() else { return true };
    let bound = |key: &str| schema[key].as_u64().map(|n| n as usize);
    let of_each = |index: usize| match &schema["prefixItems"] {
        Value::Array(kinds) => kinds.get(index).cloned().unwrap_or(Value::Null),
        _ => schema["items"].clone(),
    };
    bound("minItems").is_none_or(|least| items.len() >= least)
        && bound("maxItems").is_none_or(|most| items.len() <= most)
        && items.iter().enumerate().all(|(i, item)| {
            let of = of_each(i);
            of.is_null() || fits(item, &of, root)
        })
}

fn table_fits(value: &Value, schema: &Value, root: &Value) -> bool {
    let Some(table) = value.as_object() else { return true };
    let required = schema["required"].as_array().into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    required.all(|key| table.contains_key(key))
        && table.iter().all(|(key, value)| {
            match (&schema["properties"][key], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => false,
                (Value::Null, Value::Null) => true,
                (Value::Null, others) => fits(value, others, root),
                (property, _) => fits(value, property, root),
            }
        })
}

fn as_json(text: &str) -> Value {
    let table: toml::Table = toml::from_str(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    serde_json::to_value(table).unwrap()
}

/// All scene files below a folder.
fn scenes(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scenes(&path, found);
        } else if path.extension().is_some_and(|end| end == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            if text.contains("[run]") {
                found.push(path);
            }
        }
    }
}

#[test]
fn every_scene_of_the_repository_fits_the_schema_and_so_does_its_resolved_form() {
    let schema = json_schema();
    let mut found = Vec::new();
    for folder in ["tests/data", "../../examples"] {
        scenes(Path::new(folder), &mut found);
    }
    assert!(found.len() >= 15, "{found:?}");
    for path in found {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(fits(&as_json(&text), &schema, &schema), "{}", path.display());
        let scene = SceneFile::read(&path).unwrap_or_else(|e| panic!("{e}"));
        assert!(fits(&as_json(&scene.to_toml()), &schema, &schema), "{}", path.display());
    }
}

#[test]
fn the_schema_and_the_checker_refuse_the_same_mistakes() {
    let schema = json_schema();
    let scene = "[run]\ndt = 1e-3\nuntil = 1\n[materials.rock]\ndensity = 2700\n[[body]]\nmaterial = \"rock\"\n\
                 shape = { type = \"sphere\", radius = 0.1 }\n";
    for (old, new, right) in [
        ("", "", true),
        ("dt = 1e-3", "dt = \"1 ms\"", true),
        ("dt = 1e-3", "dt = 0", false),
        ("dt = 1e-3", "dt = true", false),
        ("dt = 1e-3\n", "", false),
        ("until = 1", "until = -1", false),
        ("until = 1", "until = 1\ntheta = 0.4", false),
        ("until = 1", "until = 1\ntheta = 1", true),
        ("until = 1", "until = 1\ntolerance = 1e-9", false), // a key of another scheme
        ("until = 1", "until = 1\nframes = 1", false),
        ("until = 1", "until = 1\non_unconverged = \"stop\"", false),
        ("until = 1", "until = 1\nscheme = \"euler\"", false),
        ("radius = 0.1", "radius = 0.1, size = 1", false),
        ("radius = 0.1", "radius = [0.1]", false),
        ("\"sphere\", radius = 0.1", "\"box\", size = [1, 1, 1]", true),
        ("\"sphere\", radius = 0.1", "\"box\", size = [1, 1]", false),
        ("\"sphere\", radius = 0.1", "\"box\", size = [1, 1, -1]", false),
        ("material = \"rock\"\n", "", false),
        ("material = \"rock\"", "material = \"rock\"\nposition = [0, 0, \"1 cm\"]", true),
        ("material = \"rock\"", "material = \"rock\"\nposition = [0, 0, 0, 0]", false),
        ("material = \"rock\"", "material = \"rock\"\nlocked = [\"x\", \"rz\"]", true),
        ("material = \"rock\"", "material = \"rock\"\nlocked = [\"w\"]", false),
        ("material = \"rock\"", "material = \"rock\"\nname = \"\"", false),
        ("material = \"rock\"", "material = \"rock\"\ncolour = \"red\"", false),
        ("[[body]]", "[body]", false),
        ("density = 2700", "density = 2700\nfriction = -1", false),
        ("density = 2700", "density = 2700\nrestitution = 2", false),
        ("[run]", "seed = 1.5\n[run]", false),
        ("[run]", "seed = -1\n[run]", false),
        ("[run]", "gravity = 9.81\n[run]", false),
        ("[run]", "solver = { max_sweeps = 0 }\n[run]", false),
    ] {
        assert!(scene.contains(old));
        let text = scene.replacen(old, new, 1);
        let checked = SceneFile::parse(&text, "");
        assert_eq!(checked.is_ok(), right, "{old} → {new}: {checked:?}");
        assert_eq!(fits(&as_json(&text), &schema, &schema), right, "{old} → {new}");
    }
}

#[test]
fn every_default_fits_its_own_schema_and_every_key_is_described() {
    fn walk(schema: &Value, root: &Value, place: &str, n_defaults: &mut usize) {
        match schema {
            Value::Object(keys) => {
                if let Some(default) = keys.get("default") {
                    assert!(fits(default, schema, root), "{place}: {default}");
                    *n_defaults += 1;
                }
                for (name, property) in
                    keys.get("properties").and_then(Value::as_object).into_iter().flatten()
                {
                    let text = property["description"].as_str().unwrap_or_default();
                    assert!(text.len() > 5, "{place}.{name} is not described");
                }
                keys.iter().filter(|(key, _)| *key != "default").for_each(|(key, value)| {
                    walk(value, root, &format!("{place}.{key}"), n_defaults);
                });
            }
            Value::Array(items) => {
                items.iter().for_each(|item| walk(item, root, place, n_defaults));
            }
            _ => {}
        }
    }
    let schema = json_schema();
    let mut n_defaults = 0;
    walk(&schema, &schema, "scene", &mut n_defaults);
    assert!(n_defaults > 40, "{n_defaults}");
}
