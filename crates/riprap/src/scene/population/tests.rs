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
    let due: Vec<Option<f64>> = (0..5).map(|k| feed.due(&after(k, 0.0))).collect();
    assert_eq!(due, [Some(1.0), Some(1.25), Some(1.5), Some(1.75), None]);
    assert_eq!(feed.clone().count(2).due(&after(2, 0.0)), None);
    assert_eq!(feed.clone().mass_rate(2.0).due(&after(7, 1.0)), Some(1.5));
    let at_once = feed.between(0.0, f64::INFINITY).at(3.0, 5);
    assert_eq!(at_once.due(&after(4, 9.0)), Some(3.0));
    assert_eq!(at_once.due(&after(5, 9.0)), None);
}

/// Progress after a number of bodies and their mass [kg].
fn after(next: u64, mass: f64) -> FeedState {
    FeedState { next, mass, ..FeedState::default() }
}

#[test]
fn a_feed_of_a_continued_run_counts_from_its_start() {
    let rock = Material::new("rock").density(1.0);
    let feed = Insertion::new("feed", Supply::same(Shape::nothing()), &rock).rate(4.0);
    // Ten bodies of 3 kg came before; this run starts at 7 s.
    let begun = |next, mass, from| FeedState { before: (10, 3.0), from, ..after(next, mass) };
    assert_eq!(feed.due(&begun(10, 3.0, 7.0)), Some(7.0));
    assert_eq!(feed.due(&begun(12, 3.5, 7.0)), Some(7.5));
    // An insertion that starts later does so.
    let late = feed.clone().between(9.0, 10.0);
    assert_eq!(late.due(&begun(10, 3.0, 7.0)), Some(9.0));
    assert_eq!(late.due(&begun(13, 3.0, 7.0)), Some(9.75));
    assert_eq!(late.due(&begun(14, 3.0, 7.0)), None, "it is over");
    // One that is over before the run starts inserts nothing.
    assert_eq!(feed.clone().between(0.0, 5.0).due(&begun(10, 3.0, 7.0)), None);
    // The largest number is that over both runs.
    assert_eq!(feed.clone().count(10).due(&begun(10, 3.0, 7.0)), None);
    assert_eq!(feed.clone().count(11).due(&begun(10, 3.0, 7.0)), Some(7.0));
    // Mass counts from the start, too.
    let by_mass = feed.mass_rate(2.0);
    assert_eq!(by_mass.due(&begun(10, 3.0, 0.0)), Some(0.0));
    assert_eq!(by_mass.due(&begun(11, 4.5, 0.0)), Some(0.75));
    // Damaged numbers do not underflow.
    assert_eq!(by_mass.due(&FeedState { before: (9, 0.0), ..after(3, 0.0) }), Some(0.0));
}

#[test]
fn patterns_agree_with_a_search_over_all_ways_to_match() {
    fn slow(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.first(), name.first()) {
            (None, None) => true,
            (Some(b'*'), _) => {
                (0..=name.len()).any(|skipped| slow(&pattern[1..], &name[skipped..]))
            }
            (Some(a), Some(b)) if a == b => slow(&pattern[1..], &name[1..]),
            _ => false,
        }
    }
    let words = |letters: &[u8], longest: u32| -> Vec<String> {
        let n = letters.len();
        let of = |length: u32| {
            (0..n.pow(length)).map(move |code| {
                let letter = |k: u32| char::from(letters[code / n.pow(k) % n]);
                (0..length).map(letter).collect::<String>()
            })
        };
        (0..=longest).flat_map(of).collect()
    };
    let names = words(b"ab", 6);
    let mut matching = 0;
    for pattern in words(b"ab*", 5) {
        for name in &names {
            let expected = slow(pattern.as_bytes(), name.as_bytes());
            assert_eq!(matches(&pattern, name), expected, "{pattern} {name}");
            matching += u32::from(expected);
        }
    }
    assert!(matching > 1000);
}

#[test]
fn only_free_bodies_without_a_servo_can_be_removed() {
    use crate::scene::{BodyDescription, Law, Motion, Servo, StateLaw};
    let rock = Material::new("rock").density(2000.0);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let cube = |name: &str, x: f64| {
        BodyDescription::new(Shape::cuboid([0.1; 3]).unwrap(), &rock).named(name).at([x, 0.0, 0.0])
    };
    let push = StateLaw::constant(Vec3::x());
    scene.add(cube("free", 0.0), &rock);
    scene.add(cube("fixed", 1.0).fixed(), &rock);
    let servo = Servo::along([1.0, 0.0, 0.0], StateLaw::constant(1.0)).speed(1.0);
    scene.add(cube("plate", 2.0).servo(servo), &rock);
    let motion = Motion::Velocity {
        linear: Law::constant([1.0, 0.0, 0.0]),
        angular: Law::constant([0.0; 3]),
    };
    scene.add(cube("driven", 3.0).moving(motion), &rock);
    let mut pushed = cube("pushed", 9.0);
    pushed.force_law = Some(push);
    scene.add(pushed, &rock);
    let scene = scene.build().unwrap();
    assert_eq!(scene.removable(), [true, false, false, false, true]);
}

#[test]
fn seeds_of_insertions_differ_from_each_other_and_from_their_bodies() {
    use std::collections::HashSet;
    let seeds: HashSet<u64> = (0..100)
        .flat_map(|scene| (0..100).map(move |k| seed_of(scene, k)))
        .flat_map(|seed| [seed, seed_of(seed, 0), seed_of(seed, 1)])
        .collect();
    assert_eq!(seeds.len(), 30_000);
}
