//! The slider–crank with clearance under the GGL scheme, and a pendulum on a stiff bushing.

use super::{EXACT, planar};
use crate::nonsmooth::{BUSHING, Method, PENDULUM, event_driven, scene_of};
use crate::slider_crank::{Model, Motion, Parameters, TWO_REVOLUTIONS, run, run_with};
use crate::{Checks, Effort};
use riprap::prelude::*;

pub(in crate::cases) fn slider_crank(effort: Effort) -> Checks {
    let mut checks = Checks::new("ggl-slider-crank");
    let exact = Motion::event_driven();
    let error = |m: &Motion| m.height_error(&exact, TWO_REVOLUTIONS);
    let ggl = |model, p: &Parameters, h| run_with(model, p, Method::GGL.scheme(h), TWO_REVOLUTIONS);
    let absolute = Model::Absolute { project: false };
    for model in [Model::Chain, Model::CutBothDependent, Model::CutHeightIndependent, absolute] {
        let name = model.letter();
        for h in [1e-4, 1e-5] {
            if h == 1e-5 && effort == Effort::Small && model != Model::Chain {
                continue;
            }
            let motion = ggl(model, &Parameters::PAPER, h);
            let overlap = motion.penetration;
            checks.at_most(&format!("({name}) overlap, h = {h:e} s"), overlap, EXACT, "m");
            let residual = motion.loop_residual.max(motion.drift);
            checks.at_most(&format!("({name}) joints, h = {h:e} s"), residual, EXACT, "m");
            let quantity = format!("({name}) error of the height, h = {h:e} s");
            // Moreau–Jean in another implementation has 1.8e-4 m at 1e-5 s.
            let limit = if h == 1e-4 { 1.8e-4 } else { 1.8e-5 };
            checks.at_most(&quantity, error(&motion), limit, "m");
            if h == 1e-4 {
                // Whether it is at most that of Moreau–Jean with a tenth of the step depends on the coordinates.
                let moreau = error(&run(model, &Parameters::PAPER, 1e-5, TWO_REVOLUTIONS));
                let quantity = format!("{quantity} (reference: Moreau–Jean at 1e-5 s)");
                let met = model == Model::CutBothDependent || model == absolute;
                let compare = |c: &mut Checks| c.at_most(&quantity, error(&motion), moreau, "m");
                if met { compare(&mut checks) } else { checks.information(compare) }
            }
        }
    }
    bouncy(&mut checks, effort);
    bushing(&mut checks);
    checks
}

/// With e = 0.8 rebounds follow each other, and small errors in time grow.
fn bouncy(checks: &mut Checks, effort: Effort) {
    let p = Parameters { restitution: 0.8, ..Parameters::PAPER };
    let exact = Motion::event_driven_restitution_08();
    let until = 0.1362;
    let steps: &[f64] = if effort == Effort::Full { &[1e-4, 1e-5] } else { &[1e-4] };
    for &h in steps {
        let ggl = run_with(Model::Chain, &p, Method::GGL.scheme(h), until);
        checks.at_most(&format!("e = 0.8: overlap, h = {h:e} s"), ggl.penetration, EXACT, "m");
        checks.information(|c| {
            let moreau = run(Model::Chain, &p, 1e-5, until).height_error(&exact, until);
            let quantity = format!(
                "e = 0.8: error of the height, h = {h:e} s (reference: Moreau–Jean 1e-5 s)"
            );
            c.at_most(&quantity, ggl.height_error(&exact, until), moreau, "m");
        });
    }
}

/// A pendulum on a bushing with ω h = 50 moves as one with an ideal pivot, and gains no energy.
fn bushing(checks: &mut Checks) {
    let scene = scene_of(BUSHING).expect("a standard scene is valid");
    let h = 1e-3;
    let mut run = Simulation::new(scene, Method::GGL.scheme(h)).expect("a valid scheme");
    let energy = |run: &Simulation| {
        let b = run.frame().balance();
        b.kinetic + b.potential
    };
    let start = energy(&run);
    // The pendulum of the paper, with its obstacle out of reach.
    let ideal = planar(&PENDULUM.replace("sqrt(0.5)", "-10"));
    let times: Vec<f64> = (1..=3000).map(|k| f64::from(k) * h).collect();
    let exact = event_driven::motion(&ideal, &times, 1e-3);
    let (mut gained, mut stretch, mut error) = (0.0_f64, 0.0_f64, 0.0_f64);
    for q in &exact.q {
        run.step().expect("it stays stable");
        let at = &run.state().mechanisms[0].q;
        gained = gained.max(energy(&run) - start);
        stretch = stretch.max((at[0] - at[2].cos()).hypot(at[1] - at[2].sin()));
        error = error.max((at[2] - q.z).abs());
    }
    // The energies are 10 J.
    checks.at_most("bushing with ω h = 50: energy gained", gained, 1e-6, "J");
    // Forces up to 30 N on 2.5e9 N/m.
    checks.at_most("bushing with ω h = 50: largest stretch", stretch, 1e-7, "m");
    // Second order: the pendulum needs 4 s for a swing, so a few (ω h)² of its own frequency.
    checks.at_most("bushing with ω h = 50: error of the angle", error, 1e-4, "rad");
}
