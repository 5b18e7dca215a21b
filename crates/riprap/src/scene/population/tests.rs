use super::checks::may_match;
use super::*;

#[test]
fn patterns_match_names_as_a_shell_does() {
    for (pattern, name, expected) in [
        ("*", "ball", true),
        ("ball", "ball", true),
        ("ball", "ball-1", false),
        ("feed-*", "feed-12.1", true),
        ("feed-*", "food-1", false),
        ("*-1", "feed-1", true),
        ("*-1", "feed-12", false),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "acb", false),
        ("aa*aa", "aaa", false),
        ("", "", true),
    ] {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
}

#[test]
fn a_pattern_may_match_bodies_that_do_not_exist_yet() {
    for (pattern, expected) in [
        ("*", true),
        ("feed-*", true),
        ("feed-17", true),
        ("fe*", true),
        ("feed-x*", false),
        ("feed", false),
        ("food-*", false),
    ] {
        assert_eq!(may_match(pattern, "feed"), expected, "{pattern}");
    }
}

#[test]
fn bodies_are_due_one_after_the_other_until_the_end() {
    let rock = Material::new("rock").density(1.0);
    let feed = Insertion::new("feed", Supply::same(Shape::nothing()), &rock);
    let feed = feed.rate(4.0).between(1.0, 2.0);
    let due: Vec<Option<f64>> = (0..5).map(|k| feed.due(k, 0.0)).collect();
    assert_eq!(due, [Some(1.0), Some(1.25), Some(1.5), Some(1.75), None]);
    assert_eq!(feed.clone().count(2).due(2, 0.0), None);
    assert_eq!(feed.clone().mass_rate(2.0).due(7, 1.0), Some(1.5));
    assert_eq!(feed.between(0.0, f64::INFINITY).at(3.0, 5).due(4, 9.0), Some(3.0));
}
