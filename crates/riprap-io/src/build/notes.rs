//! Notes on where the run deviates from the scene: times rounded to steps, and initial coordinates moved to close loops.

use riprap::multibody::{Coordinate, Link};
use riprap::scene::Scene;
use riprap::scheme::penalty::{FEWEST_STEPS, SMALLEST_RESTITUTION};

use crate::scene_file::{SceneFile, number};

/// Changes below this fraction of a radian, or of the magnitude of the coordinate, are rounding.
const MOVED: f64 = 1e-6;

impl SceneFile {
    /// Deviations of the run from the scene, one sentence each.
    pub fn notes(&self, scene: &Scene) -> Vec<String> {
        let mut notes = self.run.rounded_times();
        notes.extend(self.moved_starts(scene));
        notes.extend(self.soft_contacts(scene));
        notes
    }

    /// Stiffness and resolution of soft contacts, and restitutions that they do not reach.
    fn soft_contacts(&self, scene: &Scene) -> Vec<String> {
        let Some(Ok(Some(limits))) = self.penalty().map(|scheme| scheme.limits(scene)) else {
            return Vec::new();
        };
        let [a, b] = &limits.bodies;
        let stiffness = number(rounded(limits.stiffness));
        let origin = if limits.is_default { " (default)" } else { "" };
        let steps = limits.steps.round();
        let mut notes = vec![format!(
            "soft contacts: stiffness {stiffness} N/m{origin}, a collision of `{a}` and `{b}` takes {steps} steps; stable up to \
             dt = {:.2e} s",
            limits.largest_dt
        )];
        if limits.steps < FEWEST_STEPS {
            let dt = limits.duration / FEWEST_STEPS;
            notes.push(format!(
                "a collision of `{a}` and `{b}` is poorly resolved by {steps} steps; use dt = {dt:.1e} s or less, or a smaller \
                 stiffness"
            ));
        }
        let n = self.materials.len();
        let pairs = (0..n).flat_map(|a| (a..n).map(move |b| self.pair(a, b).restitution));
        let too_low = pairs.filter(|e| *e > 0.0 && *e < SMALLEST_RESTITUTION).reduce(f64::min);
        if let Some(e) = too_low {
            notes.push(format!(
                "restitution {} is below that of critical damping: soft contacts rebound with {SMALLEST_RESTITUTION:.3}",
                number(e)
            ));
        }
        notes
    }

    /// Coordinates whose `start` does not close the loops, and the values used instead.
    fn moved_starts(&self, scene: &Scene) -> Vec<String> {
        let mut notes = Vec::new();
        for (described, system) in self.mechanisms.iter().zip(scene.mechanisms()) {
            let mut moved = Vec::new();
            for (k, joint) in described.joints.iter().enumerate().filter(|(_, j)| j.start_held) {
                let first = system.first_coordinate(Link(k as u32)).0;
                let named = joint.start[..joint.kind.n_named_positions()].iter();
                for (component, given) in named.enumerate() {
                    let at = Coordinate(first + component as u32);
                    let Some(place) = system.q_of(at) else { continue };
                    let taken = system.start().q[place];
                    let by = taken - given;
                    if by.abs() > MOVED * given.abs().max(1.0) {
                        moved.push(format!(
                            "`{}` starts at {} {unit} instead of {} {unit} (moved by {:.3e} {unit})",
                            system.coordinate_name(at),
                            number(rounded(taken)),
                            number(*given),
                            by,
                            unit = system.coordinate_unit(at),
                        ));
                    }
                }
            }
            if !moved.is_empty() {
                notes.push(format!(
                    "mechanism `{}`: the loops do not close at the given `start`: {}; use `guess` for coordinates that may move",
                    described.name,
                    moved.join(", ")
                ));
            }
        }
        notes
    }
}

/// Rounds to six digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR_BAR: &str = r#"
        run = { dt = "1 ms", until = "0.1 s" }
        [[mechanism]]
        name = "bars"
        [[mechanism.body]]
        name = "a"
        mass = 1
        [[mechanism.joint]]
        name = "hinge"
        type = "revolute"
        child = "a"
        axis = "z"
        start = "0.5 rad"
        [[mechanism.body]]
        name = "b"
        mass = 1
        [[mechanism.joint]]
        name = "slide"
        type = "prismatic"
        child = "b"
        axis = "x"
        start = "1.5 m"
        [[mechanism.loop]]
        name = "rod"
        type = "rod"
        a = { body = "a", position = [1, 0, 0] }
        b = { body = "b" }
        length = 1
    "#;

    fn notes(text: &str) -> Vec<String> {
        let file = SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"));
        let built = file.build().unwrap_or_else(|e| panic!("{e}"));
        file.notes(&built.scene)
    }

    #[test]
    fn a_start_moved_by_the_loops_is_reported_with_the_change() {
        let told = notes(FOUR_BAR).join("\n");
        for words in
            ["mechanism `bars`", "`slide` starts at", "instead of 1.5 m", "moved by", "`guess`"]
        {
            assert!(told.contains(words), "{words}: {told}");
        }
        // No note if the loop closes, as with 2 cos 0.5, or with `guess`.
        let closed = FOUR_BAR.replace("\"1.5 m\"", &format!("{}", 2.0 * 0.5f64.cos()));
        assert_eq!(notes(&closed), Vec::<String>::new());
        assert_eq!(notes(&FOUR_BAR.replace("start =", "guess =")), Vec::<String>::new());
    }

    #[test]
    fn times_that_are_not_a_whole_number_of_steps_are_reported_with_both_values() {
        let closed = FOUR_BAR.replace("start =", "guess =");
        let told = notes(&closed.replace("\"0.1 s\"", "\"0.1004 s\", output_every = \"2.5 ms\""));
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("`until` = 0.1004 s") && told[0].contains("ends at 0.1 s"));
        assert!(told[1].contains("`output_every` = 0.0025 s") && told[1].contains("0.003 s"));
        // The default, a hundredth of the run, was not chosen by the user.
        assert_eq!(notes(&closed.replace("0.1 s", "0.123 s")), Vec::<String>::new());
    }
}
