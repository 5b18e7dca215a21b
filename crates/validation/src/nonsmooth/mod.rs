//! The examples of Brüls, Acary and Cardona 2014 (Sec. 10): scenes, closed forms, event-driven references, and recorded runs.

pub mod bar;
pub mod event_driven;
pub mod planar;
pub mod record;
pub mod reference;

use riprap::prelude::*;
use riprap_io::scene_file::SceneFile;

pub use planar::Planar;
pub use record::{Method, Record, run};

/// The scene file of the bouncing ball, Sec. 10.1.
pub const BALL: &str = include_str!("../../scenes/bouncing-ball.toml");
/// The scene file of the bouncing pendulum, Sec. 10.2.
pub const PENDULUM: &str = include_str!("../../scenes/bouncing-pendulum.toml");
/// The scene file of the rocking block, Sec. 10.4.
pub const ROCKING_BLOCK: &str = include_str!("../../scenes/rocking-block.toml");

/// The scene file of a pendulum on a stiff bushing, ω h = 50.
pub const BUSHING: &str = include_str!("../../scenes/bushing.toml");

/// The scene of a scene file.
pub fn scene_of(text: &str) -> Result<Scene, String> {
    let file = SceneFile::parse(text, ".").map_err(|e| e.to_string())?;
    Ok(file.build().map_err(|e| e.to_string())?.scene)
}

/// First impact of a ball that falls from rest: time [s] and speed [m/s].
fn first_impact(ball: &Planar) -> (f64, f64) {
    let (gap, g) = (ball.gap(0, &ball.start[0]), -ball.force.y / ball.mass[0]);
    ((2.0 * gap / g).sqrt(), (2.0 * gap * g).sqrt())
}

/// Closed form of the time at which the impacts of a ball accumulate [s].
pub fn ball_accumulation(ball: &Planar) -> f64 {
    let (t, v) = first_impact(ball);
    let (g, e) = (-ball.force.y / ball.mass[0], ball.contacts[0].restitution);
    t + 2.0 * v * e / (g * (1.0 - e))
}

/// Number of impacts of a ball with a bounce that lasts longer than a step `h` [s].
pub fn ball_impacts(ball: &Planar, h: f64) -> f64 {
    let (g, e) = (-ball.force.y / ball.mass[0], ball.contacts[0].restitution);
    (first_impact(ball).1 / (g * h)).ln() / (1.0 / e).ln()
}

/// Closed form of the gap below a ball [m] at time `t` [s].
pub fn ball_gap(ball: &Planar, t: f64) -> f64 {
    let (first, mut speed) = first_impact(ball);
    let (g, e) = (-ball.force.y / ball.mass[0], ball.contacts[0].restitution);
    if t < first {
        return ball.gap(0, &ball.start[0]) - 0.5 * g * t * t;
    }
    let mut t = t - first;
    while speed > 1e-14 {
        speed *= e;
        let flight = 2.0 * speed / g;
        if t < flight {
            return speed * t - 0.5 * g * t * t;
        }
        t -= flight;
    }
    0.0
}
