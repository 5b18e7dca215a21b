//! Stored reference solutions; see `data/nonsmooth/README.md`.

/// The numbers of a CSV file with one header line.
fn rows<const N: usize>(text: &str) -> Vec<[f64; N]> {
    let number = |x: &str| x.trim().parse().unwrap_or(f64::NAN);
    let row = |line: &str| {
        let mut row = [f64::NAN; N];
        row.iter_mut().zip(line.split(',')).for_each(|(to, x)| *to = number(x));
        row
    };
    text.lines().skip(1).filter(|line| !line.is_empty()).map(row).collect()
}

/// Pendulum: time [s], angle [rad], angular velocity [rad/s].
pub fn pendulum() -> Vec<[f64; 3]> {
    rows(include_str!("../../data/nonsmooth/bouncing_pendulum.csv"))
}

/// Impacts of the pendulum: time [s], rate of the gap before [m/s], impulse [N s].
pub fn impacts_of_the_pendulum() -> Vec<[f64; 3]> {
    rows(include_str!("../../data/nonsmooth/bouncing_pendulum_impacts.csv"))
}

/// Rocking block: time [s], height [m], angle [rad], vertical velocity [m/s], angular velocity [rad/s].
pub fn rocking_block() -> Vec<[f64; 5]> {
    rows(include_str!("../../data/nonsmooth/rocking_block.csv"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_files_are_complete() {
        assert_eq!(super::rocking_block().len(), 626);
        assert_eq!(super::impacts_of_the_pendulum()[0][2], 11.7346659856925);
        for row in super::pendulum() {
            assert!(row.iter().all(|x| x.is_finite()), "{row:?}");
        }
    }
}
