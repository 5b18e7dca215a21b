//! Analyses of mechanisms: equilibrium and vibration modes of the tamping unit, compared with an independent linearization.

use crate::mechanisms::{self, G};
use crate::{Checks, Effort};
use riprap::multibody::{Equilibrium, JointMotion, Mechanism, ModeKind, Modes, Stability};

/// The equilibrium of the tamping unit under its weight, and its modes there.
fn at_rest(mechanism: &Mechanism) -> (Equilibrium, Modes) {
    let system = mechanism.build([0.0, 0.0, -G]).expect("the mechanism is sound");
    let mut work = system.scratch();
    let rest = system.equilibrium(system.start(), 0.0, &mut work);
    let rest = rest.unwrap_or_else(|error| panic!("{error}"));
    let modes = system.modes(&rest.state, 0.0, &mut work);
    (rest, modes.unwrap_or_else(|error| panic!("{error}")))
}

/// Equilibrium and modes of the tamping unit.
///
/// The reference holds the flywheel at angle 0: the equilibrium includes its weight, but the linearization does not include the flywheel.
/// With a free flywheel, which its weight turns downwards, the first mode is at 3.15 Hz and a slow real pole at 0.0094 Hz appears.
pub(super) fn tamping_modes(_effort: Effort) -> Checks {
    let mut checks = Checks::new("tamping-modes");
    let open = mechanisms::TAMPING_LENGTHS[0];
    let hold = |m: &mut Mechanism, name: &str, at: f64| {
        let coordinate = m.coordinate_named(name).expect("it has this coordinate");
        m.drive(coordinate, JointMotion::constant_speed(at, 0.0));
    };

    let mut held = mechanisms::tamping_unit(0.0, move |_| open);
    hold(&mut held, "phif", 0.0);
    let mut locked = held.clone();
    hold(&mut locked, "zs", 1.37);
    let cases: [(&str, Mechanism, &[[f64; 2]]); 2] = [
        ("held", held, &[[3.17, 0.039], [5.60, 0.065], [9.31, 0.116], [23.66, 0.097]]),
        ("locked", locked, &[[3.17, 0.039], [5.89, 0.074], [9.31, 0.116]]),
    ];
    for (name, mechanism, reference) in cases {
        let (rest, modes) = at_rest(&mechanism);
        checks.at_most(&format!("{name}: max residual force"), rest.residual, 1e-8, "N, N m");
        let swings: Vec<_> =
            modes.modes.iter().filter(|m| m.kind == ModeKind::Oscillation).collect();
        checks.close(
            &format!("{name}: oscillations"),
            swings.len() as f64,
            reference.len() as f64,
            0.0,
            "1",
        );
        // The tolerances are the precision of the reference.
        for (k, (mode, [frequency, ratio])) in swings.iter().zip(reference).enumerate() {
            let quantity = format!("{name}: frequency of oscillation {}", k + 1);
            checks.close(&quantity, mode.frequency(), *frequency, 0.005, "Hz");
            let quantity = format!("{name}: damping ratio of oscillation {}", k + 1);
            checks.close(&quantity, mode.damping_ratio(), *ratio, 0.0005, "1");
        }
        let real: Vec<f64> = modes
            .modes
            .iter()
            .filter(|m| m.kind == ModeKind::Real)
            .map(|m| m.frequency())
            .collect();
        checks.close(&format!("{name}: real poles"), real.len() as f64, 2.0, 0.0, "1");
        for (value, (reference, digits)) in real.iter().zip([(8.91, 0.005), (74.9, 0.05)]) {
            checks.close(&format!("{name}: real pole"), *value, reference, digits, "Hz");
        }
    }

    // With a free flywheel, its centre of mass hangs below its axis, and the support carries the whole weight.
    let free = mechanisms::tamping_unit(0.0, move |_| open);
    let (rest, _) = at_rest(&free);
    let stable = f64::from(u8::from(rest.stability == Stability::Stable));
    checks.close("free flywheel: stable", stable, 1.0, 0.0, "1");
    let weight = (50.0 + 20.0 + 3.0 * 15.0 + 3.0 + 2.0 + 3.0) * G;
    checks.close(
        "free flywheel: sag of the support",
        1.37 - rest.state.q[0],
        weight / 1e6,
        1e-12,
        "m",
    );
    let tilt = rest.state.q[3] + rest.state.q[4];
    checks.close("free flywheel: angle", tilt, -std::f64::consts::FRAC_PI_2, 1e-9, "rad");
    checks
}
