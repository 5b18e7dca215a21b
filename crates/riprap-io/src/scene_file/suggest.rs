//! "Did you mean": the known word nearest to a misspelt one.

/// Words longer than this are not compared: nobody misspells a key of this length.
const LONGEST: usize = 48;

/// The candidate nearest to `word`, if it is near enough to be what was meant.
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

/// Damerau–Levenshtein distance with adjacent swaps counted once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len() > LONGEST || b.len() > LONGEST {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let substitute = last[j] + usize::from(a[i] != b[j]);
            let mut best = substitute.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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
