//! Mechanisms into which a mistake is inserted.
#![allow(dead_code)] // each test uses some of these

use super::Case;

/// Start of most scenes: six lines, so that the following text starts at line 7.
pub const START: &str = "\
[run]
dt = \"1 ms\"
until = \"1 s\"
[materials.rock]
density = 2700
[[mechanism]]
";

/// Two bodies on two joints; twelve lines, so that the following text starts at line 19.
pub const ARM: &str = "\
[[mechanism.body]]
name = \"upper\"
mass = 1
[[mechanism.body]]
name = \"lower\"
mass = 1
[[mechanism.joint]]
name = \"hip\"
type = \"revolute\"
child = \"upper\"
axis = \"y\"
[[mechanism.joint]]
name = \"knee\"
type = \"prismatic\"
parent = \"upper\"
child = \"lower\"
axis = \"z\"
";

/// A complete scene followed by `text`, which starts at line 24.
pub fn arm(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    Case { name, text: format!("{START}{ARM}{text}"), line, says }
}

/// The arm with something replaced.
pub fn instead(name: &'static str, old: &str, new: &str, line: usize, says: &'static str) -> Case {
    assert!(ARM.contains(old), "{name}");
    Case { name, text: format!("{START}{}", ARM.replacen(old, new, 1)), line, says }
}

/// A mechanism of one body; `text` starts at line 7.
pub fn plain(name: &'static str, text: &str, line: usize, says: &'static str) -> Case {
    Case { name, text: format!("{START}{text}"), line, says }
}
