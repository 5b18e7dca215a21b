//! Random contact problems for tests.

use super::{Blocks, ContactProblem, Delassus, Factored, InverseMass, Law, Rolling};
use crate::math::{Vec3, tangents};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Random contacts between random blocks: a pile without geometry. Every fifth contact is with an
/// immovable body.
pub(crate) fn random_problem(seed: u64, blocks: usize, contacts: usize) -> ContactProblem {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut factored = Factored::default();
    factored.reset((0..blocks).map(|_| InverseMass {
        linear: [rng.random_range(0.5..2.0); 3],
        angular: [3.0, 4.0, 5.0, 0.5, -0.3, 0.2].map(|x| x * rng.random_range(0.9..1.1)),
    }));
    let mut problem = ContactProblem { approach_scale: 1.0, ..Default::default() };
    for a in 0..contacts {
        let first = if a % 5 == 0 { Factored::NONE } else { (a % blocks) as u32 };
        let second = ((a * 7 + 1) % blocks) as u32;
        if first == second {
            continue;
        }
        let n = Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0)).normalize();
        let (t1, t2) = tangents(n);
        let arm = |rng: &mut Pcg64| std::array::from_fn(|_| rng.random_range(-0.5..0.5));
        let arms = [arm(&mut rng), arm(&mut rng)];
        factored.push([first, second], [n.into(), t1.into(), t2.into()], arms);
        problem.v_rel_free.push(std::array::from_fn(|_| rng.random_range(-1.0..0.5)));
        let friction = rng.random_range(0.0..1.0);
        problem.laws.push(Law::Coulomb { friction });
    }
    problem.w = Delassus::Factored(factored);
    problem
}

/// A problem whose solution is unique: few contacts on many blocks, so that `W` is nonsingular, and
/// little friction. Every fourth triple is bilateral.
pub(crate) fn unique_problem(seed: u64) -> ContactProblem {
    let mut problem = random_problem(seed, 20, 24);
    for (k, law) in problem.laws.iter_mut().enumerate() {
        *law = match k % 4 {
            3 => Law::Bilateral,
            _ => Law::Coulomb { friction: 0.05 * (k % 5) as f64 },
        };
    }
    problem
}

/// Adds a moment of rolling resistance to every third contact of a factored problem.
pub(crate) fn add_moments(problem: &mut ContactProblem) {
    let w = problem.w.make_factored();
    let length = 0.4;
    for k in (0..w.contacts().len()).step_by(3) {
        let blocks = w.contacts()[k].blocks;
        w.push_turning(blocks, length);
        problem.v_rel_free.push([0.2, -0.1, 0.3]);
        problem.laws.push(Law::Rolling);
        problem.rolling.push(Rolling { contacts: [k as u32, k as u32 + 1], ratio: 0.05, length });
    }
}

/// The same problem with `W` multiplied out.
pub(crate) fn as_blocks(problem: &ContactProblem) -> ContactProblem {
    ContactProblem { w: Delassus::Blocks(blocks_of(problem)), ..problem.clone() }
}

/// `W` multiplied out.
pub(crate) fn blocks_of(problem: &ContactProblem) -> Blocks {
    match &problem.w {
        Delassus::Factored(w) => w.to_blocks(),
        Delassus::Blocks(w) => w.clone(),
    }
}

/// Towers of cubes of 1 m and 1 kg that a step of 1 ms of gravity presses together.
pub(crate) fn towers(heights: &[usize]) -> ContactProblem {
    let mut w = Factored::default();
    let cube = InverseMass { linear: [1.0; 3], angular: [6.0, 6.0, 6.0, 0.0, 0.0, 0.0] };
    w.reset(std::iter::repeat_n(cube, heights.iter().sum()));
    let mut problem = ContactProblem { approach_scale: 1e-3, ..Default::default() };
    let frame = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let mut block = 0;
    for height in heights {
        for k in 0..*height as u32 {
            let below = if k == 0 { Factored::NONE } else { block - 1 };
            for [x, y] in [[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5]] {
                w.push([below, block], frame, [[x, y, 0.5], [x, y, -0.5]]);
                // A push at the top.
                let push = if k + 1 == *height as u32 { 1e-3 } else { 0.0 };
                let fall = if k == 0 { -9.81e-3 } else { 0.0 };
                problem.v_rel_free.push([fall, push, 0.0]);
                problem.laws.push(Law::Coulomb { friction: 0.5 });
            }
            block += 1;
        }
    }
    problem.w = Delassus::Factored(w);
    problem
}

/// A tower whose cubes stand slightly askew on the ones below: free velocities as of gaps of nanometres.
pub(crate) fn tower_with_gaps(height: usize, seed: u64) -> ContactProblem {
    let mut problem = towers(&[height]);
    let mut rng = Pcg64::seed_from_u64(seed);
    for face in problem.v_rel_free.as_chunks_mut::<4>().0 {
        let tilt: [f64; 2] = std::array::from_fn(|_| rng.random_range(-1e-6..1e-6));
        for (v, [x, y]) in face.iter_mut().zip([[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5]])
        {
            v[0] += x * tilt[0] + y * tilt[1];
        }
    }
    problem
}
