//! Quantities: values in SI units, identities between units, mistakes and hostile input.

use super::*;
use std::f64::consts::{PI, TAU};

fn close(text: &str, dimension: Dimension, expected: f64) {
    let value = parse_quantity(text, dimension).unwrap_or_else(|e| panic!("{text}: {e}"));
    // Decimal factors are rounded once; those with π twice.
    assert!((value - expected).abs() <= 4e-16 * expected.abs(), "{text}: {value} ≠ {expected}");
}

fn message(text: &str, dimension: Dimension) -> String {
    parse_quantity(text, dimension).expect_err(text).message
}

#[test]
fn quantities_are_converted_to_si_units() {
    close("25 mm", Dimension::LENGTH, 0.025);
    close("25mm", Dimension::LENGTH, 0.025);
    close(" 25 ", Dimension::LENGTH, 25.0);
    close("2700 kg/m^3", Dimension::DENSITY, 2700.0);
    close("1.2 g/cm^3", Dimension::DENSITY, 1200.0);
    close("2.7 t/m³", Dimension::DENSITY, 2700.0);
    close("0.5 ms", Dimension::TIME, 5e-4);
    close("2 min", Dimension::TIME, 120.0);
    close("30 deg", Dimension::ANGLE, PI / 6.0);
    close("90°", Dimension::ANGLE, PI / 2.0);
    close("1e3 N", Dimension::FORCE, 1e3);
    close("-9.81 m/s^2", Dimension::ACCELERATION, -9.81);
    close("-9.81 m s^-2", Dimension::ACCELERATION, -9.81);
    close("9.81 m/s/s", Dimension::ACCELERATION, 9.81);
    close("50 kN/m", Dimension::STIFFNESS, 5e4);
    close("1500 rpm", Dimension::ANGULAR_VELOCITY, 1500.0 * TAU / 60.0);
    close("2 rev/s", Dimension::ANGULAR_VELOCITY, 2.0 * TAU);
    close("3 kg cm2", Dimension::INERTIA, 3e-4);
    close("12 N*m", Dimension::TORQUE, 12.0);
    close("12 N·m", Dimension::TORQUE, 12.0);
    close("1 kg*m/(s*s)", Dimension::FORCE, 1.0);
    close("4 /s", Dimension::FREQUENCY, 4.0);
    close("4 1/s", Dimension::FREQUENCY, 4.0);
    close("7 µm", Dimension::LENGTH, 7e-6);
    close("30 %", Dimension::NONE, 0.3);
    close("1 MPa", Dimension::PRESSURE, 1e6);
    close("5e-1m", Dimension::LENGTH, 0.5);
}

#[test]
fn a_wrong_dimension_is_reported_with_the_expected_one() {
    assert_eq!(
        message("3 kg", Dimension::LENGTH),
        "expected a length such as \"25 mm\"; got a mass"
    );
    assert_eq!(
        message("3 Hz", Dimension::ANGULAR_VELOCITY),
        "expected an angular velocity such as \"1500 rpm\"; got a frequency; in radians per second, write \"2*pi*3\""
    );
    assert!(message("3 kg^2", Dimension::LENGTH).ends_with("got a quantity in kg^2"));
}

#[test]
fn mistakes_in_units_are_explained() {
    assert!(message("3 furlong", Dimension::LENGTH).starts_with("unknown unit `furlong`"));
    assert!(message("3 kg/m s", Dimension::LENGTH).contains("ambiguous"));
    assert!(message("3 m/", Dimension::LENGTH).contains("missing at the end"));
    assert!(message("3 (m", Dimension::LENGTH).contains("not closed"));
    assert!(message("3 m)", Dimension::LENGTH).contains("unexpected `)`"));
    assert!(message("3 m^", Dimension::AREA).contains("integer power"));
    assert!(message("3 m^99", Dimension::AREA).contains("integer power"));
    assert!(message("3 mm,", Dimension::LENGTH).contains("unexpected `,`"));
    assert!(message("", Dimension::LENGTH).contains("expected a length"));
    assert!(message("mm", Dimension::LENGTH).contains("expected a length"));
    assert!(message(&format!("1 {}", "(".repeat(10_000)), Dimension::LENGTH).contains("many"));
}

#[test]
fn only_finite_numbers_are_quantities() {
    for text in ["nan", "inf", "-inf m", "1e999", "1e999 m", "1e308 Gm"] {
        assert!(parse_quantity(text, Dimension::LENGTH).is_err(), "{text}");
    }
}

#[test]
fn every_named_dimension_reads_its_own_example_and_unit() {
    for known in KNOWN {
        assert!(parse_quantity(known.example, known.dimension).is_ok(), "{}", known.example);
        if known.dimension != Dimension::NONE {
            close(&format!("2 {}", known.unit), known.dimension, 2.0);
        }
    }
}

/// Every unit with every allowed prefix: symbol, power of ten, dimension.
fn all_units() -> Vec<(String, i32, Dimension)> {
    let mut units: Vec<(String, i32, Dimension)> = Vec::new();
    for (symbol, _, dimension) in PLAIN.iter().chain(PREFIXED) {
        units.push(((*symbol).to_owned(), 0, *dimension));
    }
    for (symbol, _, dimension) in PREFIXED {
        let prefixed = PREFIXES.iter().map(|(prefix, power)| (format!("{prefix}{symbol}"), *power));
        units.extend(prefixed.map(|(symbol, power)| (symbol, power, *dimension)));
    }
    units
}

#[test]
fn no_symbol_has_two_meanings() {
    let mut symbols: Vec<String> = all_units().into_iter().map(|(symbol, ..)| symbol).collect();
    let n = symbols.len();
    symbols.sort();
    symbols.dedup();
    assert_eq!(symbols.len(), n);
}

#[test]
fn a_prefix_is_the_same_power_of_ten_for_every_unit() {
    for (symbol, power, dimension) in all_units() {
        let bare = symbol.strip_prefix(|_: char| power != 0).unwrap_or(&symbol);
        let one = parse_quantity(&format!("1 {bare}"), dimension).unwrap();
        close(&format!("1 {symbol}"), dimension, one * 10_f64.powi(power));
    }
}

#[test]
fn a_unit_divided_by_itself_is_dimensionless() {
    for (symbol, _, dimension) in all_units() {
        close(&format!("3 {symbol}/{symbol}"), Dimension::NONE, 3.0);
        close(&format!("3 {symbol}^2 {symbol}^-1 {symbol}⁻¹"), Dimension::NONE, 3.0);
        close(&format!("3 {symbol}^0"), Dimension::NONE, 3.0);
        let one = parse_quantity(&format!("1 {symbol}"), dimension).unwrap();
        close(&format!("3 ({symbol}/({symbol}*{symbol}))^-1"), dimension, 3.0 * one);
    }
}

#[test]
fn derived_units_are_products_of_base_units() {
    for (unit, product, dimension) in [
        ("N", "kg*m/s^2", Dimension::FORCE),
        ("kN", "t*m/s^2", Dimension::FORCE),
        ("Pa", "N/m^2", Dimension::PRESSURE),
        ("MPa", "N/mm^2", Dimension::PRESSURE),
        ("J", "N*m", Dimension::TORQUE),
        ("J", "W*s", Dimension::TORQUE),
        ("W", "J/s", Dimension::POWER),
        ("W", "kg*m^2*s^-3", Dimension::POWER),
        ("Hz", "1/s", Dimension::FREQUENCY),
        ("kHz", "/ms", Dimension::FREQUENCY),
        ("l", "dm^3", Dimension::VOLUME),
        ("L", "dm³", Dimension::VOLUME),
        ("t", "Mg", Dimension::MASS),
        ("rpm", "rev/min", Dimension::ANGULAR_VELOCITY),
        ("deg", "°", Dimension::ANGLE),
        ("N/m", "kg/s^2", Dimension::STIFFNESS),
        ("N*s/m", "kg/s", Dimension::DAMPING),
        ("g/cm^3", "t/m^3", Dimension::DENSITY),
        ("m/s", "mm/ms", Dimension::VELOCITY),
        ("N*m/rad", "J/rad", Dimension::ANGULAR_STIFFNESS),
        ("N*m*s/rad", "W*s^2/rad", Dimension::ANGULAR_DAMPING),
    ] {
        let value = parse_quantity(&format!("1 {product}"), dimension);
        close(&format!("1 {unit}"), dimension, value.unwrap_or_else(|e| panic!("{product}: {e}")));
    }
    close("1 bar", Dimension::PRESSURE, parse_quantity("10 N/cm^2", Dimension::PRESSURE).unwrap());
    close("1 h", Dimension::TIME, parse_quantity("60 min", Dimension::TIME).unwrap());
    // Deca is not a prefix.
    assert!(message("1 daN", Dimension::FORCE).contains("unknown unit `daN`"));
}

#[test]
fn powers_and_products_can_be_written_in_many_ways() {
    for text in ["mm^2", "mm2", "mm²", "mm*mm", "mm mm", "mm·mm", "mm⋅mm", "(mm)^2", "(mm mm)"]
    {
        close(&format!("4 {text}"), Dimension::AREA, 4e-6);
    }
    for text in ["mm^3/mm^4", "mm^-1", "mm⁻¹", "1/mm", "/mm", "(mm)^-1", "mm2/mm3", "mm/mm/mm"] {
        close(&format!("4 {text}*m^2"), Dimension::LENGTH, 4e3);
    }
    // From left to right, as in arithmetic: a/b*c is (a/b)*c.
    close("1 m/s*s", Dimension::LENGTH, 1.0);
    close("1 m/(s*s)", Dimension::ACCELERATION, 1.0);
}

#[test]
fn unnamed_dimensions_are_shown_by_their_units() {
    let strange = Dimension { exponents: [1, -2, 0, 3], alias: 0 };
    assert_eq!(strange.unit(), "m*kg^-2*rad^3");
    assert_eq!(strange.to_string(), "a quantity in m*kg^-2*rad^3");
    assert_eq!(strange.example(), "1 m*kg^-2*rad^3");
    // Their example is parsed back, and no other dimension accepts it.
    close(&strange.example(), strange, 1.0);
    for known in KNOWN {
        assert!(parse_quantity(&strange.example(), known.dimension).is_err(), "{}", known.name);
    }
}

#[test]
fn no_two_dimensions_are_confused() {
    for (a, b) in KNOWN.iter().flat_map(|a| KNOWN.iter().map(move |b| (a, b))) {
        let taken = parse_quantity(&format!("2 {}", a.unit), b.dimension);
        let same = a.dimension.exponents == b.dimension.exponents;
        let expected = same && a.dimension != Dimension::NONE;
        assert_eq!(taken.is_ok(), expected, "{} as {}: {taken:?}", a.name, b.name);
    }
}

#[test]
fn mistakes_are_marked_at_their_location() {
    for (text, marked) in [
        ("3 furlong", "furlong"),
        ("3 kg/furlong", "furlong"),
        ("-1.5e3 m^2/mile", "mile"),
        ("3 kg/m s", " "),
        ("3 (m", "(m"),
        ("3 m)", ")"),
        ("3 m^x", "^"),
        ("3 m^99", "^99"),
        ("3 mm,", ","),
        ("3 µé", "µé"),
        ("3 kg", "3 kg"), // the whole quantity has the wrong dimension
        ("three m", "three m"),
    ] {
        let error = parse_quantity(text, Dimension::LENGTH).expect_err(text);
        assert_eq!(&text[error.span.clone()], marked, "{text}: {error}");
    }
}

#[test]
fn hostile_numbers_are_rejected_or_parsed_as_in_rust() {
    for (text, value) in [
        ("1e-400 m", 0.0),
        ("5e-324 m", 5e-324),
        ("1.7976931348623157e308 m", f64::MAX),
        ("+5 m", 5.0),
        ("5. m", 5.0),
        (".5 m", 0.5),
        ("00012 m", 12.0),
        ("1e3m", 1000.0),
        ("1E+3 m", 1000.0),
        ("1_000.5 m", 1000.5),
        ("1_0e1_0 m", 1e11),
    ] {
        assert_eq!(parse_quantity(text, Dimension::LENGTH), Ok(value), "{text}");
    }
    let minus_zero = parse_quantity("-0 m", Dimension::LENGTH).unwrap();
    assert!(minus_zero == 0.0 && minus_zero.is_sign_negative());
    for text in [
        "1,5 m", "1 5 m", "1.5.2 m", "0x10 m", "--1 m", "+-1 m", "1e m", "1e+ m", "½ m", "１ m",
        "∞ m", "NaN m", ". m", "- m", "e3 m", "_1 m", "1_ m", "1__0 m", "m 1", "1 m 1", "\u{0}1 m",
    ] {
        assert!(parse_quantity(text, Dimension::LENGTH).is_err(), "{text:?}");
    }
}

#[test]
fn powers_that_overflow_are_rejected_and_give_no_nan() {
    let percent = |n: usize| vec!["%"; n].join("*");
    assert_eq!(parse_quantity(&format!("1 {}", percent(300)), Dimension::NONE), Ok(0.0));
    for number in ["1", "0"] {
        let text = format!("{number} 1/({})", percent(300));
        assert!(message(&text, Dimension::NONE).contains("too large"), "{text}");
    }
    assert!(message("1 m^12*m^12*(m^12)^12", Dimension::LENGTH).contains("too large"));
    assert!(
        message(&format!("1 {}", ["m^12"; 11].join("*")), Dimension::LENGTH).contains("too large")
    );
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    const WORDS: &[&str] = &[
        "1", "-2.5", "e3", "m", "kg", "mm", "s", "°", "µ", "/", "*", "·", " ", "^", "2", "²", "⁻¹",
        "(", ")", "é", "%", "1/",
    ];

    proptest! {
        #[test]
        fn any_input_gives_a_finite_value_or_a_located_error(words in prop::collection::vec(prop::sample::select(WORDS), 0..12)) {
            let text = words.concat();
            match parse_quantity(&text, Dimension::LENGTH) {
                Ok(value) => prop_assert!(value.is_finite()),
                Err(error) => prop_assert!(text.get(error.span.clone()).is_some(), "{:?}", error),
            }
        }

        #[test]
        fn no_text_panics(text in any::<String>(), unit in any::<String>()) {
            for text in [text.clone(), format!("1 {unit}")] {
                if let Err(error) = parse_quantity(&text, Dimension::LENGTH) {
                    prop_assert!(text.get(error.span.clone()).is_some(), "{:?}", error);
                }
            }
        }

        #[test]
        fn millimetres_are_divided_by_a_thousand(value in -1e9..1e9_f64) {
            prop_assert_eq!(parse_quantity(&format!("{value} mm"), Dimension::LENGTH), Ok(value / 1000.0));
        }

        #[test]
        fn a_plain_number_is_in_si_units_and_bitwise_unchanged(value in any::<f64>().prop_filter("finite", |x| x.is_finite())) {
            for text in [format!("{value}"), format!("{value:e}"), format!(" {value:?} ")] {
                let read = parse_quantity(&text, Dimension::LENGTH).unwrap();
                prop_assert_eq!(read.to_bits(), value.to_bits());
            }
        }

        #[test]
        fn units_multiply_like_their_values(a in 0..all_units().len(), b in 0..all_units().len(), n in -3..=3_i8) {
            let units = all_units();
            let ((a, _, dim_a), (b, _, dim_b)) = (&units[a], &units[b]);
            let value = |text: &str, dimension| parse_quantity(&format!("1 {text}"), dimension).unwrap();
            let dimension = dim_a.times(*dim_b, n).unwrap();
            let expected = value(a, *dim_a) * value(b, *dim_b).powi(n.into());
            let found = value(&format!("{a}*{b}^{n}"), dimension);
            // A few rounding errors, of factors with π and of the power.
            prop_assert!((found - expected).abs() <= 2e-15 * expected, "{} {}^{}: {} {}", a, b, n, found, expected);
        }
    }
}
