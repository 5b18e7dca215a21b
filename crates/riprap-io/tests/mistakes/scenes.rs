//! Scenes of bodies and grains into which a mistake is inserted.
#![allow(dead_code)] // each test uses some of these

use super::Case;

/// Start of most scenes: six lines, so that the following text starts at line 7.
pub const START: &str = "\
[run]
dt = \"1 ms\"
until = \"1 s\"
[materials.rock]
density = 2700
friction = 0.5
";

/// A body, so that the scene is complete.
pub const BALL: &str = "\
[[body]]
name = \"ball\"
shape = { type = \"sphere\", radius = 0.1 }
material = \"rock\"
";

/// Raining grains, without their box.
pub const RAIN: &str = "\
[[grains]]
name = \"heap\"
material = \"rock\"
generator = \"rain\"
count = 10
";

/// A complete scene followed by `text`, which starts at line 11.
pub fn after_ball(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    Case { name, text: format!("{START}{BALL}{text}"), line, says }
}

/// A scene completed by `text`, which starts at line 7.
pub fn after_start(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    Case { name, text: format!("{START}{text}"), line, says }
}

/// A scene with grains, completed by `text`, which starts at line 12.
pub fn after_rain(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    Case { name, text: format!("{START}{RAIN}{text}"), line, says }
}

/// The start with one line replaced, and a body.
pub fn instead(name: &'static str, line: usize, with: &str, at: usize, says: &'static str) -> Case {
    let mut lines: Vec<&str> = START.lines().collect();
    lines[line - 1] = with;
    Case { name, text: format!("{}\n{BALL}", lines.join("\n")), line: at, says }
}
