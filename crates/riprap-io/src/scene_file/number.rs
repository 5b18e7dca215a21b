//! Numbers in messages.

/// A number as shown in a message: with all digits, in scientific notation if it is very small or large.
pub(crate) fn number(value: f64) -> String {
    match value == 0.0 || !value.is_finite() || (1e-4..1e12).contains(&value.abs()) {
        true => format!("{value}"),
        false => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_and_huge_numbers_are_written_with_an_exponent() {
        let numbers = [0.0, -0.5, 1e-4, 123456.0, 1e-5, 1e-300, -2.5e200, f64::NAN];
        assert_eq!(
            numbers.map(number),
            ["0", "-0.5", "0.0001", "123456", "1e-5", "1e-300", "-2.5e200", "NaN"]
        );
    }
}
