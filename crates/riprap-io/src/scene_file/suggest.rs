//! "Did you mean": the known word closest to a misspelt one.

/// Words longer than this are not compared: no key is this long.
const LONGEST: usize = 48;

/// The candidate closest to `word`, if it is close enough to be a likely misspelling.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match word.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    candidates
        .into_iter()
        .map(|candidate| (distance(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Optimal string alignment: Damerau–Levenshtein with adjacent swaps counted once.
fn distance(a: &str, b: &str) -> usize {
    if [a, b].iter().any(|word| word.chars().count() > LONGEST) {
        return usize::MAX;
    }
    strsim::osa_distance(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_suggested_and_far_ones_are_not() {
        let keys = ["friction", "restitution", "density", "dt"];
        assert_eq!(closest("fricton", keys), Some("friction"));
        assert_eq!(closest("Density", keys), Some("density"));
        assert_eq!(closest("td", keys), Some("dt"));
        assert_eq!(closest("colour", keys), None);
        assert_eq!(closest("", keys), None);
        assert_eq!(closest(&"x".repeat(1 << 16), keys), None);
    }
}
