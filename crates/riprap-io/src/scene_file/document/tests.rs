//! Every kind of value: what it accepts and rejects, and which part of the text is marked.

use super::super::fields::{Tag, field};
use super::super::units::Dimension;
use super::*;

static NUMBER: Kind = Kind::Number(Limits::Any);
static LENGTH: Kind = Kind::Quantity(Dimension::LENGTH, Limits::Any);
static TURN: Kind = Kind::Quantity(Dimension::ANGLE, Limits::Any);

static LEAF: Table = Table {
    name: "leaf",
    title: "a leaf",
    doc: "A leaf.",
    fields: &[&[
        field("veins", Kind::Integer(1, 9), Need::Default("3"), "How many veins."),
        field("area", Kind::Quantity(Dimension::AREA, Limits::Positive), Need::Optional, "Area."),
    ]],
    tag: None,
};

static TAG: Tag = Tag {
    key: "kind",
    doc: "What grows.",
    default: Some("tree"),
    variants: &[
        Variant { value: "tree", doc: "With a trunk.", fields: &[] },
        Variant {
            value: "grass",
            doc: "Without.",
            fields: &[&[field("blades", Kind::Integer(0, i64::MAX), Need::Required, "Blades.")]],
        },
    ],
};

static PLANT: Table = Table {
    name: "plant",
    title: "[plant]",
    doc: "A plant.",
    fields: &[&[
        field("planar", Kind::Flag, Need::Optional, "Whether it is flat."),
        field("height", LENGTH, Need::Default("\"10 cm\""), "How high it is."),
        field("share", Kind::Number(Limits::Within(0.0, 1.0)), Need::Optional, "A share."),
        field("count", Kind::Integer(-5, 1_000_000), Need::Optional, "A count."),
        field("many", Kind::Integer(0, i64::MAX), Need::Optional, "A large count."),
        field("label", Kind::Name, Need::Optional, "Its name."),
        field("note", Kind::Text, Need::Optional, "Anything."),
        field("season", Kind::Choice(&[("spring", ""), ("autumn", "")]), Need::Optional, "When."),
        field("sway", Kind::Law(Dimension::LENGTH), Need::Optional, "How it moves."),
        field("up", Kind::Axis, Need::Optional, "Where it grows."),
        field("root", Kind::Polar(&LENGTH), Need::Optional, "Where it stands."),
        field("lean", Kind::Axial(&TURN), Need::Optional, "How it leans."),
        field("rings", Kind::List { of: &NUMBER, min: 1, max: 3 }, Need::Optional, "Its rings."),
        field("pair", Kind::Tuple(&[("x", NUMBER), ("y", LENGTH)]), Need::Optional, "Both."),
        field("leaf", Kind::Table(&LEAF), Need::Default("{}"), "A leaf."),
        field("leaves", Kind::Named(&LEAF), Need::Optional, "Leaves with names."),
        field("sizes", Kind::Map(&LENGTH), Need::Optional, "Lengths with names."),
        field("either", Kind::OneOf(&[Kind::Flag, NUMBER]), Need::Optional, "One of two."),
    ]],
    tag: Some(&TAG),
};

/// The checked values, and for each problem the text it marks, its message and its advice.
fn checked(text: &str) -> (Option<Entries>, Vec<[String; 3]>) {
    let mut problems = Problems::default();
    let entries = check(&WithOptions::new(text, &[]), &PLANT, &mut problems);
    let told = problems.into_sorted().into_iter().map(|problem| {
        let marked = text.get(problem.span.clone()).expect("a location in the text");
        [marked.to_owned(), problem.message, problem.help.unwrap_or_default()]
    });
    (entries, told.collect())
}

/// The values of a valid text.
fn right(text: &str) -> Entries {
    let (entries, problems) = checked(text);
    assert!(problems.is_empty(), "{text}: {problems:?}");
    entries.unwrap()
}

#[test]
fn mistakes_mark_their_value_or_key_and_suggest_a_correction() {
    for (text, marked, says, advises) in [
        ("height = true", "true", "expected a length such as \"25 mm\"; got true", ""),
        ("height = \"2 kg\"", "2 kg", "got a mass", ""),
        ("height = \"2 smoot\"", "smoot", "unknown unit `smoot`", ""),
        ("height = '2 m^x'", "^", "integer power", ""),
        ("height = nan", "nan", "not a finite number", ""),
        ("height = 1e999", "1e999", "not a finite number", ""),
        ("height = 1979-05-27", "1979-05-27", "got a date", ""),
        ("share = 1.5", "1.5", "must be between 0 and 1; got 1.5", ""),
        ("share = \"0.5\"", "\"0.5\"", "got the text \"0.5\"", "without quotes"),
        ("count = 1.5", "1.5", "expected a whole number; got 1.5", ""),
        ("count = -6", "-6", "must be between -5 and 1000000; got -6", ""),
        ("count = \"3\"", "\"3\"", "expected a whole number", "without quotes"),
        ("many = -1", "-1", "at least 0 and below 2^63", ""),
        ("many = 1e16", "1e16", "at least 0 and below 2^63", ""),
        ("label = \"\"", "\"\"", "`label` is empty", "letters, digits"),
        ("label = \"a b\"", "\"a b\"", "\"a b\" is not a name", "letters, digits"),
        ("label = 3", "3", "expected a name in quotes; got the number 3", ""),
        ("season = \"sprign\"", "\"sprign\"", "unknown value", "did you mean \"spring\"?"),
        ("season = \"winter\"", "\"winter\"", "unknown value", "one of \"spring\", \"autumn\""),
        ("up = \"w\"", "\"w\"", "unknown axis \"w\"", "an axis such as"),
        ("up = [1, 0]", "[1, 0]", "expected 3 components; got 2", ""),
        ("up = [1, 0, true]", "true", "expected a number", ""),
        ("root = [1, 2]", "[1, 2]", "expected 3 components; got 2", ""),
        ("root = [1, 2, \"3 s\"]", "3 s", "got a time", ""),
        ("lean = 1", "1", "expected a list [x, y, z]", ""),
        ("rings = []", "[]", "1 to 3 items", ""),
        ("rings = [1, 2, 3, 4]", "[1, 2, 3, 4]", "has 4 items; at most 3", ""),
        ("rings = [1, \"2\"]", "\"2\"", "expected a number", "without quotes"),
        ("pair = [1]", "[1]", "expected [x, y]; got a list of length 1", ""),
        ("pair = [1, \"2 s\"]", "2 s", "got a time", ""),
        ("leaf = []", "[]", "got a list", "one bracket: [leaf]"),
        ("leaf = { vein = 2 }", "vein", "unknown key `vein` in a leaf", "did you mean `veins`?"),
        ("[leaves]\noak = 3", "3", "`oak`: expected a table", ""),
        ("[leaves.\"a b\"]", "\"a b\"", "is not a name", "letters, digits"),
        ("[sizes]\noak = \"3 s\"", "3 s", "`oak`: expected a length", ""),
        ("either = \"x\"", "\"x\"", "true or false, or a number", ""),
        ("kind = \"gras\"", "\"gras\"", "unknown value \"gras\"", "did you mean \"grass\"?"),
        ("kind = 1", "1", "expected one of \"tree\", \"grass\"; got the number 1", ""),
        ("kind = \"grass\"", "", "`blades` is missing in [plant]", "Write a whole number"),
        ("blades = 3", "blades", "not allowed with kind = \"tree\"", "kind = \"grass\""),
        ("hieght = 1", "hieght", "unknown key `hieght` in [plant]", "did you mean `height`?"),
        ("colour = 1", "colour", "unknown key `colour`", "known keys: kind, planar, height"),
    ] {
        let (_, problems) = checked(text);
        let [[place, message, help]] = &problems[..] else { panic!("{text}: {problems:?}") };
        assert_eq!(place, marked, "{text}: {message}");
        assert!(message.contains(says) && help.contains(advises), "{text}: {message} ({help})");
    }
}

#[test]
fn whole_numbers_can_be_written_in_many_ways() {
    for (text, value) in [
        ("1e3", 1000),
        ("1000.0", 1000),
        ("1_000", 1000),
        ("0x3e8", 1000),
        ("0b101", 5),
        ("0o17", 15),
        ("-5", -5),
        ("+5", 5),
    ] {
        assert_eq!(right(&format!("count = {text}")).integer("count"), Some(value), "{text}");
    }
    // Whole numbers written as integers keep all their digits, beyond those of a float.
    let large = right("many = 9_007_199_254_740_993").integer("many");
    assert_eq!(large, Some((1 << 53) + 1));
    assert_eq!(right(&format!("many = {}", i64::MAX)).integer("many"), Some(i64::MAX));
    // Numbers and quantities group their digits the same way.
    for text in ["1_000.5", "\"1_000.5 m\"", "\"1_000_500 mm\"", "1000.5"] {
        assert_eq!(right(&format!("height = {text}")).number("height"), Some(1000.5), "{text}");
    }
}

#[test]
fn defaults_are_checked_values_located_at_the_table() {
    let text = "note = \"x\"\n[leaf]\n";
    let plant = right(text);
    assert_eq!((plant.number("height"), plant.variant), (Some(0.1), Some("tree")));
    assert!(plant.given("height").is_none() && plant.get("height").is_some());
    assert!(plant.get("share").is_none());
    let leaf = plant.table("leaf").unwrap();
    assert_eq!(leaf.integer("veins"), Some(3));
    // A missing key is located at the header of its table.
    assert_eq!(&text[leaf.value_span("veins")], "[leaf]");
    assert_eq!(&text[leaf.key_span("area")], "[leaf]");
    assert_eq!(&text[plant.key_span("note")], "note");
    assert_eq!(&text[plant.value_span("note")], "\"x\"");
}

#[test]
fn axes_are_letters_with_a_sign_or_components() {
    for (text, expected) in [
        ("\"x\"", [1.0, 0.0, 0.0]),
        ("\"+y\"", [0.0, 1.0, 0.0]),
        ("\"-z\"", [0.0, 0.0, -1.0]),
        ("[1, 2.5, -3]", [1.0, 2.5, -3.0]),
    ] {
        assert_eq!(right(&format!("up = {text}")).numbers("up"), Some(expected), "{text}");
    }
}

#[test]
fn planar_scenes_accept_two_components_and_none_out_of_the_plane() {
    let planar = |text: &str| format!("planar = true\n{text}");
    let root = |text: &str| right(&planar(text)).numbers::<3>("root");
    assert_eq!(root("root = [1, \"2 cm\"]"), Some([1.0, 0.02, 0.0]));
    assert_eq!(root("root = [1, 2, 0]"), Some([1.0, 2.0, 0.0]));
    let lean = right(&planar("lean = \"90 deg\"")).numbers::<3>("lean");
    assert_eq!(lean, Some([0.0, 0.0, std::f64::consts::FRAC_PI_2]));
    for (text, marked, says) in [
        ("root = [1, 2, 3]", "[1, 2, 3]", "third component of `root` must be 0"),
        ("root = [1]", "[1]", "expected 2 or 3 components; got 1"),
        ("lean = [1, 0, 0]", "[1, 0, 0]", "must be about z"),
        ("lean = \"1 m\"", "1 m", "got a length"),
    ] {
        let (_, problems) = checked(&planar(text));
        let [[place, message, _]] = &problems[..] else { panic!("{text}: {problems:?}") };
        assert!(place == marked && message.contains(says), "{text}: {place}: {message}");
    }
}

#[test]
fn named_values_keep_file_order() {
    let plant = right("[sizes]\nzebra = 1\napple = \"2 cm\"\nmango = 3\n[leaves.z]\n[leaves.a]");
    let names = |key: &str| -> Vec<String> {
        plant.table(key).unwrap().named().map(|(name, ..)| name.to_owned()).collect()
    };
    assert_eq!(names("sizes"), ["zebra", "apple", "mango"]);
    assert_eq!(names("leaves"), ["z", "a"]);
    assert_eq!(plant.table("sizes").unwrap().number("apple"), Some(0.02));
}

#[test]
fn nothing_else_is_reported_after_a_syntax_error() {
    for (text, marked) in [
        ("height = 1\nheight = 2\ncolour = 1", "height"),
        ("[leaf]\n[leaf]\ncolour = 1", "leaf"),
        ("leaf.veins = 1\nleaf = {}", "leaf"),
        ("height = \ncolour = 1", ""),
        ("height = 1 2", "2"),
    ] {
        let (entries, problems) = checked(text);
        assert!(entries.is_none(), "{text}");
        let [place, message, _] = &problems[0];
        assert!(message.starts_with("not valid TOML: "), "{text}: {message}");
        assert!(place.contains(marked), "{text}: `{place}` {message}");
        assert!(problems.iter().all(|[_, message, _]| !message.contains("colour")), "{problems:?}");
    }
}

#[test]
fn a_location_inside_a_text_is_found_unless_it_has_escapes() {
    // The range of `furlong` in the unescaped text.
    for (file, marked) in [
        ("height = \"3 furlong\"", "furlong"),
        ("height = '3 furlong'", "furlong"),
        ("note = \"é\"\nheight = \"3 furlong\" # µ", "furlong"),
        ("height = \"3 f\\u0075rlong\"", "\"3 f\\u0075rlong\""),
        ("height = \"\"\"3 furlong\"\"\"", "\"\"\"3 furlong\"\"\""),
    ] {
        let (_, problems) = checked(file);
        assert_eq!(problems[0][0], marked, "{file}");
    }
}

#[test]
fn long_words_are_truncated_between_characters() {
    assert_eq!(excerpt("short"), "short");
    let exact = "é".repeat(60);
    assert_eq!(excerpt(&exact), exact);
    assert_eq!(excerpt(&"é".repeat(61)), exact.clone() + "…");
    let (_, problems) = checked(&format!("{} = 1", "k".repeat(500)));
    assert!(problems[0][1].len() < 100 && problems[0][0].len() == 500);
    let (_, problems) = checked(&format!("label = \"{}\"", "n".repeat(101)));
    assert!(problems[0][1].contains("longer than 100 characters"));
    assert!(right(&format!("label = \"{}\"", "é".repeat(100))).text("label").is_some());
}

#[test]
fn laws_and_texts_are_left_unchanged() {
    let plant = right("sway = \"0.1*sin(t) +\"\nnote = \"a\\nb\"");
    assert_eq!(plant.text("sway"), Some("0.1*sin(t) +")); // compiled later, when its names are known
    assert_eq!(plant.text("note"), Some("a\nb"));
    assert_eq!(right("sway = 2").number("sway"), Some(2.0));
    let pair = right("pair = [2, \"3 mm\"]").numbers::<2>("pair");
    assert_eq!(pair, Some([2.0, 3e-3]));
    assert_eq!(right("either = true").flag("either"), Some(true));
    assert_eq!(right("either = 2").number("either"), Some(2.0));
}
