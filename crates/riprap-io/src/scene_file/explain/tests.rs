use super::*;

#[test]
fn every_key_of_every_table_is_explained_with_an_example_that_is_toml() {
    for place in places() {
        for key in known_keys(place.table) {
            let path = joined(&place.path, key);
            let text = explain(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert!(text.starts_with(&path), "{path}:\n{text}");
            assert!(!text.contains("](#"), "{path}:\n{text}");
        }
        for (_, field) in variants_and_fields(place.table) {
            let text = format!("value = {}", sample(&field.kind));
            let parsed = text.parse::<toml::Table>();
            assert!(parsed.is_ok(), "{}.{}: {text}", place.path, field.key);
            let value = text.strip_prefix("value = ").unwrap();
            let value = toml::de::DeValue::parse(value).unwrap();
            assert!(field.kind.may_be(&value), "{}.{}: {text}", place.path, field.key);
        }
    }
}

#[test]
fn a_key_is_explained_with_type_unit_default_and_meaning() {
    let text = explain("run.dt").unwrap();
    for part in ["Time step.", "time [s], greater than 0", "it is required", "[run]"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(text.contains("with scheme = \"moreau-jean\""), "{text}");
    let text = explain("materials.friction").unwrap();
    assert_eq!(text, explain("materials.rock.friction").unwrap());
    assert!(text.contains("[materials.rock]\n    friction = "), "{text}");
    let text = explain("run.on_unconverged").unwrap();
    assert!(text.contains("\"fail\"  stop the run"), "{text}");
    let text = explain("body.ball.position").unwrap();
    assert!(text.contains("[[body]]\n    position = ["), "{text}");
}

#[test]
fn tables_and_choices_list_what_they_contain() {
    let text = explain("run").unwrap();
    assert!(text.contains("until (required)") && text.contains("scheme = \"penalty\""), "{text}");
    let text = explain("run.scheme").unwrap();
    assert!(text.contains("default   \"moreau-jean\""), "{text}");
    let text = explain("run.scheme.penalty").unwrap();
    assert!(text.contains("stiffness") && text.contains("scheme = \"penalty\""), "{text}");
    assert!(explain("probe.quantities").is_ok());
    let all = explain_tables();
    for table in ["run ", "body.shape", "mechanism.joint", "gravity"] {
        assert!(all.contains(table), "{table}:\n{all}");
    }
}

#[test]
fn a_name_alone_is_looked_up_in_all_tables() {
    let text = explain("friction").unwrap();
    assert!(text.contains("materials.friction") && text.contains("pair.friction"), "{text}");
    let text = explain("impact_speed").unwrap();
    assert!(text.starts_with("run.impact_speed"), "{text}");
}

#[test]
fn near_misses_are_suggested() {
    let told = |key: &str| explain(key).unwrap_err().to_string();
    assert!(told("run.shceme").contains("did you mean `run.scheme`?"));
    assert!(told("frcition").contains("did you mean `friction`?"), "{}", told("frcition"));
    assert!(told("run.scheme.penality").contains("did you mean `run.scheme.penalty`?"));
    assert!(told("bdy.force").contains("did you mean `body`?"));
    assert!(told("body.forec").contains("did you mean `body.force`?"));
    assert!(told("run.dt.x").contains("`run.dt` is a value without keys"));
    assert!(told("quark").contains("`riprap explain` lists the tables"));
    assert!(told("").contains("no table"), "{}", told(""));
}
