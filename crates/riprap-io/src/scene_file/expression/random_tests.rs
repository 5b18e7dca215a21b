//! Random expressions: values are compared with an independent tree, and rates with the fundamental theorem of calculus.

use super::*;
use proptest::prelude::*;

/// An expression as a tree, evaluated by Rust.
#[derive(Clone, Debug)]
enum Tree {
    Number(f64),
    Time,
    Negative(Box<Tree>),
    Operation(Box<Tree>, char, Box<Tree>),
    Call(&'static str, Box<Tree>),
}

type Named = (&'static str, fn(f64) -> f64);

/// Bounded and smooth functions, so that no tree has large values or slopes.
const SMOOTH: [Named; 4] =
    [("sin", f64::sin), ("cos", f64::cos), ("tanh", f64::tanh), ("atan", f64::atan)];

impl Tree {
    fn value(&self, t: f64) -> f64 {
        match self {
            Tree::Number(value) => *value,
            Tree::Time => t,
            Tree::Negative(a) => -a.value(t),
            Tree::Operation(a, sign, b) => {
                let (a, b) = (a.value(t), b.value(t));
                match sign {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    '/' => a / b,
                    _ if b == 2.0 => a * a,
                    _ => a * a * a,
                }
            }
            Tree::Call(name, a) => {
                let (_, f) = SMOOTH.iter().find(|(known, _)| known == name).unwrap();
                f(a.value(t))
            }
        }
    }

    /// Precedence of the outermost operation: from 1 for sums to 5 for what needs no parentheses.
    fn level(&self) -> u8 {
        match self {
            Tree::Operation(_, '+' | '-', _) => 1,
            Tree::Operation(_, '*' | '/', _) => 2,
            Tree::Negative(_) => 3,
            Tree::Operation(..) => 4,
            Tree::Number(_) | Tree::Time | Tree::Call(..) => 5,
        }
    }

    /// The tokens of the expression, with parentheses only where the grammar needs them, or wherever it allows them.
    fn words(&self, least: u8, all: bool, words: &mut Vec<String>) {
        let enclosed = self.level() < least || (all && self.level() < 5);
        if enclosed {
            words.push("(".into());
        }
        match self {
            Tree::Number(value) => words.push(value.to_string()),
            Tree::Time => words.push("t".into()),
            Tree::Negative(a) => {
                words.push("-".into());
                a.words(3, all, words);
            }
            Tree::Operation(a, sign, b) => {
                // Sums and products are left-associative, powers right-associative.
                let (left, right) = match sign {
                    '+' | '-' => (1, 2),
                    '*' | '/' => (2, 3),
                    _ => (5, 3),
                };
                a.words(left, all, words);
                words.push(sign.to_string());
                b.words(right, all, words);
            }
            Tree::Call(name, a) => {
                words.extend([(*name).into(), "(".into()]);
                a.words(0, all, words);
                words.push(")".into());
            }
        }
        if enclosed {
            words.push(")".into());
        }
    }

    fn text(&self, all: bool, between: &str) -> String {
        let mut words = Vec::new();
        self.words(0, all, &mut words);
        words.join(between)
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        prop::sample::select(&[0.25, 0.5, 1.0, 1.5, 2.0, 3.0][..]).prop_map(Tree::Number),
        Just(Tree::Time),
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let name = prop::sample::select(&["sin", "cos", "tanh", "atan"][..]);
        let call = (name, inner.clone()).prop_map(|(name, a)| Tree::Call(name, Box::new(a)));
        let power = (inner.clone(), prop::sample::select(&[2.0, 3.0][..])).prop_map(|(a, n)| {
            // The base is bounded, or powers of powers would overflow.
            let base = Tree::Call("sin", Box::new(a));
            Tree::Operation(Box::new(base), '^', Box::new(Tree::Number(n)))
        });
        let quotient = (inner.clone(), inner.clone()).prop_map(|(a, b)| {
            let bounded = Tree::Call("tanh", Box::new(b));
            let divisor = Tree::Operation(Box::new(Tree::Number(2.0)), '-', Box::new(bounded));
            Tree::Operation(Box::new(a), '/', Box::new(divisor))
        });
        let sign = prop::sample::select(&['+', '-', '*'][..]);
        let operation = (inner.clone(), sign, inner.clone())
            .prop_map(|(a, sign, b)| Tree::Operation(Box::new(a), sign, Box::new(b)));
        let negative = inner.prop_map(|a| Tree::Negative(Box::new(a)));
        prop_oneof![3 => operation, 2 => call, 1 => power, 1 => quotient, 1 => negative]
    })
}

/// Points and weights of five-point Gauss quadrature on [-1, 1].
fn gauss() -> [(f64, f64); 5] {
    let root = (10.0_f64 / 7.0).sqrt();
    let (near, far) = ((5.0 - 2.0 * root).sqrt() / 3.0, (5.0 + 2.0 * root).sqrt() / 3.0);
    let heavy = (322.0 + 13.0 * 70.0_f64.sqrt()) / 900.0;
    let light = (322.0 - 13.0 * 70.0_f64.sqrt()) / 900.0;
    [(-far, light), (-near, heavy), (0.0, 128.0 / 225.0), (near, heavy), (far, light)]
}

proptest! {
    #[test]
    fn values_agree_with_the_tree_in_any_notation(tree in tree(), t in -1.0..1.0) {
        let expected = tree.value(t).to_bits();
        for (all, between) in [(false, ""), (false, " "), (true, ""), (true, "  ")] {
            let source = tree.text(all, between);
            let law = Expression::parse(&source, &["t"]);
            let law = law.map_err(|e| TestCaseError::fail(format!("{source}: {e}")))?;
            prop_assert_eq!(law.evaluate(&[t]).to_bits(), expected, "{}", source);
            prop_assert_eq!(law.with_rates(&[t])[0].to_bits(), expected, "{}", source);
        }
    }

    #[test]
    fn the_integral_of_a_rate_is_the_change_of_the_value(tree in tree(), t in -1.0..1.0) {
        let source = tree.text(false, "");
        let law = Expression::parse(&source, &["t"]).unwrap();
        let h = 5e-3;
        let [begin, end] = [t - h, t + h].map(|t| law.with_rates(&[t]));
        let (mut integral, mut scale) = ([0.0; 2], 1.0_f64);
        for (point, weight) in gauss() {
            let [value, rate, second] = law.with_rates(&[t + h * point]);
            integral[0] += h * weight * rate;
            integral[1] += h * weight * second;
            scale = scale.max(value.abs()).max(rate.abs()).max(second.abs());
        }
        // The quadrature error is h¹¹ times the tenth derivative, so that only rounding remains.
        for order in 0..2 {
            let change = end[order] - begin[order];
            prop_assert!((integral[order] - change).abs() < 1e-10 * scale, "{}: {:?} {}", source, integral, change);
        }
    }

    #[test]
    fn an_unexpected_character_is_located(tree in tree(), place in any::<prop::sample::Index>()) {
        let mut words = Vec::new();
        tree.words(0, false, &mut words);
        let place = place.index(words.len() + 1);
        words.insert(place, "$".into());
        let column = words[..place].iter().map(|word| word.chars().count() + 1).sum::<usize>() + 1;
        let error = Expression::parse(&words.join(" "), &["t"]).unwrap_err();
        let after_name = place > 0 && SMOOTH.iter().any(|(name, _)| *name == words[place - 1]);
        if after_name {
            prop_assert!(error.message.contains("needs its arguments"), "{}", error);
            prop_assert_eq!(error.column, column - 1 - words[place - 1].len());
        } else {
            prop_assert!(error.message.contains('$'), "{}", error);
            prop_assert_eq!(error.column, column, "{}", words.join(" "));
        }
    }

    #[test]
    fn other_variables_are_constant_in_rates(tree in tree(), t in -1.0..1.0, k in -2.0..2.0_f64) {
        // d/dt (k f + k²) = k f', with k as the second variable.
        let source = tree.text(false, "");
        let [f, f1, f2] = Expression::parse(&source, &["t"]).unwrap().with_rates(&[t]);
        let scaled = Expression::parse(&format!("k*({source}) + k^2"), &["t", "k"]).unwrap();
        let [g, g1, g2] = scaled.with_rates(&[t, k]);
        prop_assert_eq!(g.to_bits(), (k * f + k * k).to_bits());
        prop_assert!((g1 - k * f1).abs() <= 1e-15 * (k * f1).abs());
        prop_assert!((g2 - k * f2).abs() <= 1e-15 * (k * f2).abs());
    }
}
