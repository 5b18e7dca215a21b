//! Mechanisms from scene files whose motion is known in closed form: forces, phases, latched values, springs and drives.

use riprap::simulation::Simulation;
use riprap_io::scene_file::SceneFile;

/// A mass of 2 kg on a slide along x, with `text` after its joint; no gravity.
fn slide(text: &str) -> String {
    format!(
        "gravity = [0, 0, 0]\n[run]\nscheme = \"dormand-prince\"\nuntil = 1\n[parameters]\na = \"3 N\"\nomega = \"60 rpm\"\n\
         [[mechanism]]\nname = \"m\"\n[[mechanism.body]]\nname = \"mass\"\nmass = 2\n[[mechanism.joint]]\nname = \"x\"\n\
         type = \"prismatic\"\nchild = \"mass\"\naxis = \"x\"\n{text}"
    )
}

/// A free body of 2 kg, with `text` after its joint; no gravity.
fn flight(text: &str) -> String {
    slide(text)
        .replace("type = \"prismatic\"", "type = \"free\"")
        .replace("axis = \"x\"\n", "")
        .replace("mass = 2\n", "mass = 2\ninertia = [0.1, 0.1, 0.1]\n")
}

/// Positions and velocities at a time.
fn at(text: &str, t: f64) -> (Vec<f64>, Vec<f64>) {
    let file = SceneFile::parse(text, "").unwrap_or_else(|e| panic!("{e}"));
    let built = file.build().unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(built.scene, file.scheme()).unwrap();
    run.until(t, &mut ()).unwrap();
    let state = &run.state().mechanisms[0];
    (state.q.clone(), state.v.clone())
}

/// The slide must be at `x` with the velocity `v` after one second; the scheme keeps its error at
/// 1e-9 per step.
#[track_caller]
fn ends_at(text: &str, x: f64, v: f64) {
    let (q, w) = at(&slide(text), 1.0);
    assert!((q[0] - x).abs() < 1e-7 && (w[0] - v).abs() < 1e-7, "{q:?} {w:?}, not {x} {v}\n{text}");
}

fn force(text: &str) -> String {
    format!("[[mechanism.force]]\ncoordinate = \"x\"\n{text}")
}

#[test]
fn a_constant_force_gives_a_parabola_and_a_force_of_time_its_integrals() {
    ends_at(&force("law = 3"), 0.75, 1.5);
    ends_at(&force("law = \"a\""), 0.75, 1.5);
    ends_at(&format!("start = 2\nstart_velocity = -1\n{}", force("law = \"a\"")), 1.75, 0.5);
    // a/m sin(ω t): the velocity is a/(m ω) (1 - cos ω t), which vanishes after one period.
    let omega = std::f64::consts::TAU;
    ends_at(&force("law = \"a*sin(omega*t)\""), 1.5 / omega, 0.0);
    // Two forces on one coordinate add up.
    let two = format!("{}{}", force("law = 1\n"), force("name = \"other\"\nlaw = \"t\"\n"));
    ends_at(&two, 0.25 + 1.0 / 12.0, 0.5 + 0.25);
}

#[test]
fn a_damper_and_a_spring_follow_their_exponentials_and_cosines() {
    // m v' = -c v.
    let c: f64 = 1.5;
    let v = (-c / 2.0).exp();
    ends_at("start_velocity = 1\ndamping = 1.5", (1.0 - v) * 2.0 / c, v);
    ends_at(
        &format!("start_velocity = 1\n{}", force("law = \"-1.5*v.x\"")),
        (1.0 - v) * 2.0 / c,
        v,
    );
    // m x'' = -k (x - r), from rest at 0.
    let (k, rest) = (18.0_f64, 0.2);
    let w = (k / 2.0).sqrt();
    let (x, v) = (rest * (1.0 - w.cos()), rest * w * w.sin());
    ends_at("spring = { stiffness = 18, rest = \"20 cm\" }", x, v);
    ends_at(&force("law = \"-18*(q.x - 0.2)\""), x, v);
    let spring = "[[mechanism.spring]]\na = { body = \"mass\" }\nb = { body = \"ground\", position = [5, 0, 0] }\nstiffness = 18\nlength = \"4.8 m\"";
    ends_at(spring, x, v);
    // Both: x = e^(-δt) (cos νt + δ/ν sin νt).
    let delta = 0.375_f64;
    let nu = (w * w - delta * delta).sqrt();
    let decay = (-delta).exp();
    let x = decay * (nu.cos() + delta / nu * nu.sin());
    let v = -decay * w * w / nu * nu.sin();
    ends_at("start = 1\nspring = { stiffness = 18, damping = 1.5 }", x, v);
}

#[test]
fn phases_end_by_time_or_by_a_condition_and_leave_no_force() {
    // 3 N for half a second, then nothing.
    let clock = force("phases = [{ law = 3, until = \"500 ms\" }]");
    ends_at(&clock, 0.5 * 1.5 * 0.25 + 0.75 * 0.5, 0.75);
    // 3 N over 12 cm, then coasting: v² = 2 a x.
    let (a, path) = (1.5_f64, 0.12);
    let (v, reached) = ((2.0 * a * path).sqrt(), (2.0 * path / a).sqrt());
    let condition = force("phases = [{ law = 3, until = \"q.x >= 0.12\" }]");
    ends_at(&condition, path + v * (1.0 - reached), v);
    // The second phase brakes until the mass stops.
    let brake = force("phases = [{ law = 3, until = 0.25 }, { law = -3, until = \"v.x <= 0\" }]");
    ends_at(&brake, 1.5 * 0.25 * 0.25, 0.0);
}

#[test]
fn latched_values_are_those_at_the_start_of_their_phase() {
    // After half a second with 3 N the velocity is 0.75 m/s, which becomes the force in newtons.
    let text = force(
        "phases = [{ law = 3, until = 0.5 }, { latch = { speed = \"v.x\", place = \"q.x\" }, law = \"speed\" }]",
    );
    let (x0, v0) = (0.5 * 1.5 * 0.25, 0.75);
    ends_at(&text, x0 + v0 * 0.5 + 0.5 * (v0 / 2.0) * 0.25, v0 + v0 / 2.0 * 0.5);
    // A spring to the position at the start of the phase: after half a period the velocity is
    // reversed.
    let stiffness = 2.0 * (std::f64::consts::PI / 0.5_f64).powi(2);
    let text = force(&format!(
        "phases = [{{ law = 3, until = 0.5 }}, {{ latch = {{ place = \"q.x\" }}, law = \"-{stiffness}*(q.x - place)\" }}]"
    ));
    ends_at(&text, x0, -v0);
}

#[test]
fn a_driven_coordinate_follows_its_law_and_its_rate() {
    let omega = std::f64::consts::TAU;
    for (drive, x, v) in [
        ("motion = \"0.1*sin(omega*t) + t^2\"", 1.0, 0.1 * omega + 2.0),
        ("motion = \"if(t < 2, 0.5*t, 7)\"", 0.5, 0.5),
        ("speed = \"20 cm/s\"", 0.2, 0.2),
        ("speed = -2\nstart = 1", -1.0, -2.0),
    ] {
        // The motion is prescribed, whatever forces act.
        ends_at(
            &format!(
                "{drive}\n[[mechanism.spring]]\na = {{ body = \"mass\" }}\nb = {{ body = \"ground\", position = [9, 0, 0] }}\nstiffness = 50\nlength = 1"
            ),
            x,
            v,
        );
    }
}

#[test]
fn forces_on_bodies_act_in_their_frame_and_at_their_point() {
    // A body-fixed force along x on a body that spins about z: its velocity describes a circle once
    // per second.
    let spin = "start_angular_velocity = [0, 0, \"60 rpm\"]\n";
    let push = |text: &str| format!("{spin}[[mechanism.force]]\nbody = \"mass\"\n{text}");
    let omega = std::f64::consts::TAU;
    let (q, v) = at(&flight(&push("force = [\"a\", 0, 0]\nframe = \"body\"")), 0.5);
    let radius = 1.5 / omega;
    assert!((v[0]).abs() < 1e-7 && (v[1] - 2.0 * radius).abs() < 1e-7, "{v:?}");
    assert!((q[0] - 2.0 * radius / omega).abs() < 1e-7, "{q:?}");
    // Along the world axes it moves straight, however the body rotates.
    let (q, v) = at(&flight(&push("force = [\"a\", 0, 0]")), 1.0);
    assert!(
        (q[0] - 0.75).abs() < 1e-7 && q[1].abs() < 1e-9 && (v[5] - omega).abs() < 1e-9,
        "{q:?}"
    );
    // With a lever arm of 0.2 m along y, the angular acceleration is -0.2 m × 3 N / 0.1 kg m².
    let (_, v) = at(
        &flight(
            "[[mechanism.force]]\nbody = \"mass\"\nforce = [3, 0, 0]\npoint = [0, 0.2, 0]\nframe = \"body\"",
        ),
        0.1,
    );
    assert!((v[5] + 6.0 * 0.1).abs() < 1e-7, "{v:?}");
    let (_, v) =
        at(&flight("[[mechanism.force]]\nbody = \"mass\"\ntorque = [0, \"0.5 * t\", 0]"), 1.0);
    assert!((v[4] - 2.5).abs() < 1e-7, "{v:?}");
}
