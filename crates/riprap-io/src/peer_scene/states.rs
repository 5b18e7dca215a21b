//! State files with one line per grain, for comparing engines.

use std::io::{Read, Write};
use std::path::Path;

use riprap::scene::{Body, Scene, State};

use super::{MAX_BYTES, regular};
use crate::error::{Error, Place};
use crate::unit_vector::unit;

/// Position and motion of a grain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrainState {
    /// Centre of mass [m].
    pub position: [f64; 3],
    /// Rotation from the body frame to the world, a unit quaternion w, x, y, z.
    pub rotation: [f64; 4],
    /// Velocity of the centre of mass [m/s].
    pub velocity: [f64; 3],
    /// Angular velocity in the world frame [rad/s].
    pub angular_velocity: [f64; 3],
}

/// The grains of a run, in the frames of the file.
pub fn states(scene: &Scene, state: &State, grains: &[Body]) -> Vec<GrainState> {
    let grain = |body: &Body| {
        let slot = scene.slot(*body);
        let (q, v) = (&state.q[slot], &state.v[slot]);
        let r = q.rotation;
        GrainState {
            position: q.position.into(),
            rotation: [r.w, r.i, r.j, r.k],
            velocity: v.linear.into(),
            angular_velocity: v.angular.into(),
        }
    };
    grains.iter().map(grain).collect()
}

/// Writes a state file.
pub fn write_states(path: &Path, states: &[GrainState]) -> Result<(), Error> {
    crate::atomic::write(path, |out| {
        for s in states {
            let numbers = (s.position.iter().chain(&s.rotation))
                .chain(&s.velocity)
                .chain(&s.angular_velocity);
            let words: Vec<String> = numbers.map(|x| format!("{x:e}")).collect();
            writeln!(out, "{}", words.join(" "))?;
        }
        Ok(())
    })
}

/// Reads a state file of `n` grains.
pub fn read_states(path: &Path, n: usize) -> Result<Vec<GrainState>, Error> {
    let mut text = String::new();
    regular(path)?.take(MAX_BYTES).read_to_string(&mut text).map_err(Error::io("read", path))?;
    let mut states = Vec::with_capacity(n);
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |message: String| Error::format(path, Place::Line(i + 1), message);
        if states.len() == n {
            return Err(wrong(format!("there are more lines than the {n} grains of the scene")));
        }
        states.push(state_line(line).map_err(wrong)?);
    }
    if states.len() < n {
        let message = format!("there are {} lines, but the scene has {n} grains", states.len());
        return Err(Error::format(path, Place::Whole, message));
    }
    Ok(states)
}

fn state_line(line: &str) -> Result<GrainState, String> {
    let mut values = [0.0; 13];
    let mut words = line.split_ascii_whitespace();
    for (k, value) in values.iter_mut().enumerate() {
        let word = words.next().ok_or(format!("expected 13 numbers, got {k}"))?;
        *value = word.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| {
            let word: String = word.chars().take(40).collect();
            format!("`{word}` is not a number")
        })?;
    }
    if words.next().is_some() {
        return Err("there are more than 13 numbers".into());
    }
    let [x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz] = values;
    Ok(GrainState {
        position: [x, y, z],
        rotation: unit([qw, qx, qy, qz]).ok_or("the quaternion has zero length")?,
        velocity: [vx, vy, vz],
        angular_velocity: [wx, wy, wz],
    })
}
