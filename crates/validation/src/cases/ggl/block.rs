//! Sec. 10.4: the rocking block, whose parameters come from a scene file.

use super::{EXACT, errors, newton};
use crate::nonsmooth::{Method, Planar, ROCKING_BLOCK, Record, reference, run, scene_of};
use crate::{Checks, Effort};
use riprap_io::scene_file::SceneFile;

pub(in crate::cases) fn rocking_block(effort: Effort) -> Checks {
    let mut checks =
        rocking_block_of(ROCKING_BLOCK, effort).expect("a standard scene can be simulated");
    // The stored reference of the paper's parameters.
    let scene = || scene_of(ROCKING_BLOCK).expect("a standard scene is valid");
    for (h, every) in [(1e-2, 5), (2e-4, 1)] {
        let ggl = run(scene(), Method::GGL, h, 2.5).expect("it can be simulated");
        let stored = reference::rocking_block();
        let rows = stored.iter().step_by(every).map(|row| {
            let k = (row[0] / h).round() as usize;
            (ggl.q[k].y - row[1]).abs()
        });
        let error = rows.fold(0.0, f64::max);
        // Moreau–Jean with the same spectral radius: 1.3e-2 m and 2.8e-4 m.
        let theirs = if h == 1e-2 { 1.3e-2 } else { 2.8e-4 };
        let quantity = format!("largest error of the height vs. the stored reference, h = {h:e} s");
        checks.at_most(&quantity, error, theirs, "m");
        let end = ggl.q.last().map_or(f64::NAN, |q| q.y);
        checks.close(&format!("final height, h = {h:e} s"), end, 0.75, EXACT, "m");
    }
    checks
}

/// The checks for a scene file with one planar body on point contacts: at its step and at a fiftieth of it.
pub(in crate::cases) fn rocking_block_of(text: &str, effort: Effort) -> Result<Checks, String> {
    let mut checks = Checks::new("ggl-rocking-block");
    let file = SceneFile::parse(text, ".").map_err(|e| e.to_string())?;
    let body = Planar::of(&scene_of(text)?)?;
    let (dt, until) = (file.run.dt, file.run.until);
    let fine = if effort == Effort::Full { dt / 50.0 } else { dt / 10.0 };
    let mut coarse_error = 0.0;
    for h in [dt, fine] {
        let at = format!("h = {h:e} s");
        let ggl = run(scene_of(text)?, Method::GGL, h, until)?;
        let moreau = run(scene_of(text)?, Method::MOREAU, h, until)?;
        checks.at_least(&format!("smallest gap, {at}"), ggl.smallest_gap(), -EXACT, "m");
        checks.information(|c| {
            let gap = moreau.smallest_gap();
            c.at_most(&format!("Moreau–Jean: smallest gap, {at}"), gap, 0.0, "m");
        });
        let [height, angle] = [1, 2].map(|k| errors(&body, &ggl, k, until)[0]);
        let fastest = ggl.v.iter().fold(0.0_f64, |m, v| m.max(v.xy().norm()));
        // Each impact is resolved to a step, and a few dozen follow each other.
        let limit = 10.0 * fastest * h;
        checks.at_most(&format!("largest error of the height, {at}"), height, limit, "m");
        checks.information(|c| {
            let theirs = errors(&body, &moreau, 1, until)[0];
            let quantity = format!("largest error of the height, {at} (reference: Moreau–Jean)");
            c.at_most(&quantity, height, theirs, "m");
            c.at_most(&format!("largest error of the angle, {at}"), angle, 10.0 * h, "rad");
            let kept = [&ggl, &moreau].map(dissipated_in_flight);
            let quantity = format!("energy lost without contact, {at} (reference: Moreau–Jean)");
            c.at_most(&quantity, kept[0], kept[1], "J");
        });
        // At impacts O(h²), since the gaps are not linear in the angle.
        let rise = ggl.largest_rise() / ggl.energy[0].abs();
        checks.at_most(&format!("largest rise of the energy, {at}"), rise, 1e2 * h * h, "1");
        if h == dt {
            coarse_error = height;
        } else {
            let quantity = format!("error of the height at {h:e} s over that at {dt:e} s");
            checks.at_most(&quantity, height / coarse_error, 0.5, "1");
        }
        newton(&mut checks, &ggl);
    }
    Ok(checks)
}

/// Energy lost in steps without impulses [J].
fn dissipated_in_flight(record: &Record) -> f64 {
    let open = |k: &usize| record.contacts.iter().all(|c| c.multipliers[*k].impulse == 0.0);
    (1..record.t.len()).filter(open).map(|k| record.energy[k - 1] - record.energy[k]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_with_other_parameters_do_not_penetrate_either() {
        for change in [
            [("restitution = 0.5", "restitution = 0.2"), ("angle = 0.2", "angle = -0.35")],
            [("height = \"1.5 m\"", "height = \"0.8 m\""), ("9.81", "3.7")],
            [
                ("restitution = 0.5", "restitution = 0"),
                ("position = [0, 1]", "position = [0, 1.2]"),
            ],
        ] {
            let mut text = ROCKING_BLOCK.to_owned();
            for (from, to) in change {
                assert!(text.contains(from), "{from}");
                text = text.replace(from, to);
            }
            let checks = rocking_block_of(&text, Effort::Small).unwrap();
            assert!(checks.failures().is_empty(), "{change:?}: {:#?}", checks.failures());
        }
    }

    #[test]
    fn a_scene_that_is_not_a_block_is_refused() {
        let error = rocking_block_of(crate::nonsmooth::BALL.get(..200).unwrap(), Effort::Small);
        assert!(error.is_err());
    }
}
