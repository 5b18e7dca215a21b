//! Expressions: values, rates, mistakes and hostile input.

use std::f64::consts;

use super::functions::FUNCTIONS;
use super::*;

fn value(source: &str, t: f64) -> f64 {
    Expression::parse(source, &["t"]).unwrap_or_else(|e| panic!("{source}: {e}")).evaluate(&[t])
}

fn mistake(source: &str) -> ExpressionError {
    Expression::parse(source, &["t"]).expect_err(source)
}

#[test]
fn operators_bind_as_in_mathematics() {
    assert_eq!(value("1 + 2*3", 0.0), 7.0);
    assert_eq!(value("(1 + 2)*3", 0.0), 9.0);
    assert_eq!(value("2^3^2", 0.0), 512.0);
    assert_eq!(value("-2^2", 0.0), -4.0);
    assert_eq!(value("2^-1", 0.0), 0.5);
    assert_eq!(value("8/4/2", 0.0), 1.0);
    assert_eq!(value("1 - 2 - 3", 0.0), -4.0);
    assert_eq!(value("--3", 0.0), 3.0);
    assert_eq!(value("2*-t", 3.0), -6.0);
    assert_eq!(value("1e3 + 1.5E-1 + .5", 0.0), 1000.65);
}

#[test]
fn functions_give_known_values() {
    let t: f64 = 0.3;
    assert_eq!(value("0.05*cos(2*pi*30*t)", t), 0.05 * (2.0 * consts::PI * 30.0 * t).cos());
    assert_eq!(value("max(1, min(t, 3))", 5.0), 3.0);
    assert_eq!(value("sign(t)", -2.0), -1.0);
    assert_eq!(value("sign(t)", 0.0), 0.0);
    assert_eq!((value("step(t)", -1e-9), value("step(t)", 0.0)), (0.0, 1.0));
    assert_eq!((value("pulse(t, 1, 2)", 1.0), value("pulse(t, 1, 2)", 2.0)), (1.0, 0.0));
    assert_eq!(value("ramp(t, 1, 3)", 1.5), 0.25);
    assert_eq!(value("mod(t, 2)", -1.0), 1.0);
    assert_eq!(value("atan2(1, 1)", 0.0), consts::FRAC_PI_4);
    assert_eq!(value("tau - 2*pi", 0.0), 0.0);
}

#[test]
fn several_variables_keep_the_order_of_the_caller() {
    let law = Expression::parse("-k*(q - q0)", &["q", "q0", "k"]).unwrap();
    assert_eq!(law.evaluate(&[1.5, 1.0, 4.0]), -2.0);
}

#[test]
fn constants_are_folded_when_compiled() {
    assert_eq!(Expression::parse("2*pi*30", &["t"]).unwrap().ops.len(), 1);
    assert!(Expression::parse("sin(1)^2", &["t"]).unwrap().is_constant());
    assert!(!Expression::parse("t", &["t"]).unwrap().is_constant());
}

#[test]
fn mistakes_are_located_by_column() {
    let cases = [
        ("2 t", 3, "expected an operator"),
        ("5 mm", 3, "expected an operator"),
        ("1 + ", 5, "incomplete"),
        ("", 1, "empty"),
        ("(1 + 2", 1, "not closed"),
        ("1 + 2)", 6, "expected an operator"),
        ("sin(t, 2)", 1, "expected 1, got 2"),
        ("max(t)", 1, "expected 2, got 1"),
        ("sine(t)", 1, "unknown function"),
        ("cos", 1, "needs its arguments"),
        ("3*x", 3, "unknown variable"),
        ("t ** 2", 4, "expected a value"),
        ("1..2", 1, "not a number"),
        ("µ + $", 1, "unknown variable"),
        ("t = 1", 3, "expected an operator"),
        ("0 < t < 1", 7, "expected an operator"),
        ("t && 1", 3, "expected an operator"),
        ("t and", 6, "incomplete"),
        ("and t", 1, "expected a value, found `and`"),
        ("if(t, 1)", 1, "expected 3, got 2"),
        ("q.knee", 1, "unknown variable `q.knee`"),
        ("sin(t 2)", 7, "expected an operator or `)`"),
    ];
    for (source, column, message) in cases {
        let error = mistake(source);
        assert_eq!(error.column, column, "{source}: {error}");
        assert!(error.message.contains(message), "{source}: {error}");
    }
    assert_eq!(mistake("sine(t)").help.as_deref(), Some("did you mean `sin`?"));
    assert!(mistake("0 < t < 1").help.unwrap().contains("0 < t and t < 1"));
    assert!(mistake("t && 1").help.unwrap().contains("`and`"));
}

#[test]
fn conditions_are_one_or_zero_and_bind_below_sums() {
    for (source, expected) in [
        ("t < 2", 1.0),
        ("t <= 1", 1.0),
        ("t > 1", 0.0),
        ("t >= 1 + 0", 1.0),
        ("t == 1", 1.0),
        ("t != 1", 0.0),
        ("t > 0 and t < 1", 0.0),
        ("t > 0 or 1/0 and 0", 1.0),
        ("not t > 1 and t", 1.0),
        ("not not 7", 1.0),
        ("not not not t", 0.0),
        ("2*(t < 2) + 3*(t > 2)", 2.0),
        ("if(t < 2, 5, sqrt(-1))", 5.0),
        ("if(t > 2 or t < 0, 5, 6) + 1", 7.0),
        ("sqrt(-1) == sqrt(-1)", 0.0),
    ] {
        assert_eq!(value(source, 1.0), expected, "{source}");
    }
}

#[test]
fn variables_may_contain_dots_and_operator_keywords() {
    let names = ["q.knee", "v.hip.angle", "order", "android", "nothing"];
    let law = Expression::parse("q.knee*10 + v.hip.angle + order*android*nothing", &names);
    assert_eq!(law.unwrap().evaluate(&[1.0, 2.0, 3.0, 4.0, 5.0]), 72.0);
    let error = Expression::parse("2*q.kne", &names).unwrap_err();
    assert_eq!(error.help.as_deref(), Some("did you mean `q.knee`?"));
}

#[test]
fn only_used_variables_remain_after_compacting() {
    let mut law = Expression::parse("d - b*d", &["a", "b", "c", "d"]).unwrap();
    assert_eq!(law.compact(), [3, 1]);
    assert_eq!(law.evaluate(&[5.0, 2.0]), -5.0);
}

#[test]
fn rates_of_every_function_agree_with_finite_differences() {
    // Each function with arguments inside its domain and away from kinks.
    let cases = [
        "sin(3*t)",
        "cos(t^2)",
        "tan(0.5*t)",
        "asin(0.4*t)",
        "acos(0.4*t)",
        "atan(2*t)",
        "atan2(sin(t), 2 + t)",
        "atan2(t, -1 - t^2)",
        "sinh(t)",
        "cosh(2*t)",
        "tanh(t)",
        "exp(-2*t)",
        "ln(1 + t)",
        "sqrt(1 + t^3)",
        "abs(t^2)",
        "abs(-t^2)",
        "floor(t)*t^2",
        "mod(t^2 + 3*t, 0.35)",
        "mod(-t^2, 1 + t)",
        "min(t^2, 5*t)",
        "max(t^2, t^3 + 9)",
        "sign(t)*t^3",
        "step(t)*t^3",
        "pulse(t, 0, 2)*t^3",
        "ramp(t^2, 0.1*t, 3 + t)",
        "ramp(t, 3, 4) + t^2",
        "if(t > 0.2, t^3, t)",
        "if(t < 0.2, t^3, t^2)",
        "(t > 0)*t^2 + (t >= 0) + (t < 5)*t + (t <= 5) + (t == 3) + (t != 3)*t^3",
        "(t and 1)*t^2 + (t or 0)*t^3 + (not t)*t^4",
        "-t^2/(1 + t)^3 - 1/t",
        "t^0.5 + 2^t",
        "t^t",
        "t^-1.5",
        "(1 + t)^(2*t)",
        "(t - 1)*(t + 2)*t^4",
    ];
    for (name, ..) in FUNCTIONS {
        assert!(cases.iter().any(|case| case.contains(&format!("{name}("))), "{name}");
    }
    for source in cases {
        let law = Expression::parse(source, &["t"]).unwrap_or_else(|e| panic!("{source}: {e}"));
        for t in [0.37, 0.71, 1.13] {
            let [value, rate, second] = law.with_rates(&[t]);
            assert_eq!(value, law.evaluate(&[t]), "{source}");
            // Central differences of fourth order: 1e-3⁴ of truncation, 1e-16/1e-3² of rounding.
            let h = 1e-3;
            let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|k| law.evaluate(&[t + k * h]));
            let first = (a - 8.0 * b + 8.0 * c - d) / (12.0 * h);
            let twice = (-a + 16.0 * b - 30.0 * value + 16.0 * c - d) / (12.0 * h * h);
            let scale = 1.0 + value.abs() + rate.abs() + second.abs();
            assert!((first - rate).abs() < 1e-8 * scale, "{source} at {t}: {rate}, {first}");
            assert!((twice - second).abs() < 1e-7 * scale, "{source} at {t}: {second}, {twice}");
        }
    }
}

#[test]
fn rates_exist_at_zeros_of_powers_and_roots() {
    let rates =
        |source: &str| Expression::parse(source, &["t", "k"]).unwrap().with_rates(&[0.0, 0.0]);
    assert_eq!(rates("t^2"), [0.0, 0.0, 2.0]);
    assert_eq!(rates("t^3"), [0.0, 0.0, 0.0]);
    assert_eq!(rates("5*t^1 + t^0"), [1.0, 5.0, 0.0]);
    assert_eq!(rates("sqrt(k) + k^0.5 + 0*ln(1 + k)"), [0.0, 0.0, 0.0]); // constant arguments
    assert_eq!(rates("k*t"), [0.0, 0.0, 0.0]);
}

#[test]
fn nesting_is_bounded() {
    let deep = ["(", "-(", "t^", "not ", "not(", "if(t,", "t<(", "t and ("];
    for deep in deep.map(|part| part.repeat(100_000)) {
        assert!(Expression::parse(&deep, &["t"]).is_err());
    }
    let wide = "t+".repeat(4000) + "t";
    assert_eq!(value(&wide, 1.0), 4001.0);
    let long = "t+".repeat(40_000) + "t";
    assert!(mistake(&long).message.contains("too long"));
    let right = "t+(".repeat(40) + "t" + &")".repeat(40);
    assert!(mistake(&right).message.contains("too deeply"));
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    const WORDS: &[&str] = &[
        "t", "2", "1e3", "+", "-", "*", "/", "^", "(", ")", ",", "sin", "max", "pi", " ", "é", "<",
        "<=", "==", "!=", " and ", " or ", " not ", "if", ".", "q.a",
    ];

    proptest! {
        #[test]
        fn any_input_gives_a_value_or_a_located_error(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
            let source = words.concat();
            match Expression::parse(&source, &["t"]) {
                Ok(law) => {
                    let [value, ..] = law.with_rates(&[0.5]);
                    let alone = law.evaluate(&[0.5]);
                    prop_assert!(value == alone || value.is_nan() && alone.is_nan());
                }
                Err(error) => prop_assert!(source.get(error.span.clone()).is_some(), "{:?}", error),
            }
        }

        #[test]
        fn no_text_panics(source in any::<String>()) {
            if let Err(error) = Expression::parse(&source, &["t"]) {
                prop_assert!(source.get(error.span.clone()).is_some(), "{:?}", error);
            }
        }

        #[test]
        fn sums_and_products_agree_with_rust(a in -1e3..1e3, b in -1e3..1e3, c in 1e-3..1e3, t in -1e3..1e3_f64) {
            let source = format!("({a} + t*{b})/({c}) - -t^2");
            let law = Expression::parse(&source, &["t"]).unwrap();
            let expected: f64 = (a + t * b) / c - -(t * t);
            prop_assert_eq!(law.evaluate(&[t]), expected);
        }
    }
}

#[test]
fn expressions_can_be_shared_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Expression>();
}
