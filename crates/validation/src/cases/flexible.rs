//! Flexible bodies: equilibria and frequencies compared with closed forms, and motion with contacts and joints under refinement.

use std::f64::consts::PI;

use nalgebra::DMatrix;
use riprap::flexible::{Beam, Elastic, Section, Structure};
use riprap::math::tridiagonal::{Tridiagonal, TridiagonalLu};
use riprap::multibody::{Axis, GROUND, Joint, Mechanism};
use riprap::prelude::*;
use riprap::scene::{BodyJoint, FlexibleId, Hold};
use riprap::shape::MassProperties;

use crate::check::observed_order;
use crate::nonsmooth::Method;
use crate::{Checks, Effort};

pub(super) fn flexible(effort: Effort) -> Checks {
    let mut checks = Checks::new("flexible");
    circle(&mut checks);
    princeton(&mut checks);
    frequencies(&mut checks);
    vibration(&mut checks);
    stop(&mut checks, effort);
    slider_crank(&mut checks, effort);
    checks
}

/// Equilibrium under loads on the last node, by Newton's method in steps of the load.
fn equilibrium(body: &Structure, loads: &[(usize, f64)], steps: usize) -> Vec<Pose> {
    let (n, v) = (body.n_v(), vec![0.0; body.n_v()]);
    let mut k = Tridiagonal::new(body.node_dofs(), body.n_nodes());
    let (mut c, mut lu) = (k.clone(), TridiagonalLu::default());
    let (mut q, mut next) = (body.start().q.clone(), Vec::new());
    for step in 1..=steps {
        for _ in 0..40 {
            let mut f = vec![0.0; n];
            body.force(&q, &v, &mut f);
            for (dof, load) in loads {
                f[n - 6 + dof] += load * step as f64 / steps as f64;
            }
            f.iter_mut().zip(body.held()).filter(|(_, held)| **held).for_each(|(f, _)| *f = 0.0);
            body.tangents(&q, &v, &mut k, &mut c);
            k.hold(body.held());
            if !k.factor(&mut lu) {
                return Vec::new();
            }
            lu.solve(&mut f);
            body.integrate(&q, &f, &mut next);
            std::mem::swap(&mut q, &mut next);
            if f.iter().all(|x| x.abs() < 1e-11) {
                break;
            }
        }
    }
    q
}

/// An end moment 2π EI/L rolls a cantilever into a full circle.
fn circle(checks: &mut Checks) {
    let section = Section::Given {
        area: 1.0,
        shear: [1.0; 2],
        inertia_y: 1e-4,
        inertia_z: 1e-4,
        torsion: 1e-4,
    };
    let beam = Beam::new("strip")
        .points(&[[0.0; 3], [1.0, 0.0, 0.0]])
        .section(section)
        .material(Elastic { young: 1e4, shear: 1e4, density: 1.0 })
        .elements(10)
        .clamp_start();
    let body = beam.build(Vec3::zeros()).expect("a standard beam is valid");
    let q = equilibrium(&body, &[(5, 2.0 * PI)], 20);
    let end = q.last().map_or(f64::NAN, |q| q.position.norm());
    // Newton's method ends at corrections of 1e-11.
    checks.at_most("circle: distance of the ends", end, 1e-10, "m");
    let radius = 0.5 / PI;
    let off = q.iter().map(|q| ((q.position - Vec3::y() * radius).norm() - radius).abs());
    checks.at_most("circle: deviation of the nodes", off.fold(0.0, f64::max), 1e-10, "m");
}

/// Deflection across the end of an inextensible cantilever of length 1, EI = 1, under a force there: `θ'' = −F cos θ` with `θ(0) = 0`
/// and `θ'(1) = 0`, by shooting with the classical Runge–Kutta method.
fn elastica(load: f64) -> f64 {
    let end = |curvature: f64| {
        let n = 400;
        let h = 1.0 / f64::from(n);
        let rate = |s: [f64; 3]| [s[1], -load * s[0].cos(), s[0].sin()];
        let ahead = |s: [f64; 3], d: [f64; 3], h: f64| [0, 1, 2].map(|i| s[i] + h * d[i]);
        let mut s = [0.0, curvature, 0.0];
        for _ in 0..n {
            let a = rate(s);
            let b = rate(ahead(s, a, 0.5 * h));
            let c = rate(ahead(s, b, 0.5 * h));
            let d = rate(ahead(s, c, h));
            s = [0, 1, 2].map(|i| s[i] + h / 6.0 * (a[i] + 2.0 * (b[i] + c[i]) + d[i]));
        }
        s
    };
    let (mut low, mut high) = (0.0, load);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *(if end(middle)[1] > 0.0 { &mut high } else { &mut low }) = middle;
    }
    end(low)[2]
}

/// The Princeton beam experiment (Dowell and Traybar 1975; parameters of Bauchau et al. 2016) loaded along its two principal axes, and
/// a soft beam with large deflections.
fn princeton(checks: &mut Checks) {
    let (length, young, force) = (0.508, 71.7e9, 8.896);
    let section = Section::Rectangle { height: 12.7e-3, width: 3.2024e-3 };
    let beam = |elements: usize| {
        Beam::new("princeton")
            .points(&[[0.0; 3], [length, 0.0, 0.0]])
            .section(section)
            .material(Elastic::new(young, 0.31, 2700.0))
            .elements(elements)
            .clamp_start()
            .build(Vec3::zeros())
            .expect("a standard beam is valid")
    };
    let inertia = section.constants(0.31).inertia;
    let tip = |elements: usize, dof: usize, force: f64| {
        let q = equilibrium(&beam(elements), &[(dof, -force)], 8);
        q.last().map_or(f64::NAN, |q| -q.position[dof])
    };
    let exact =
        |force: f64, inertia: f64| length * elastica(force * length * length / (young * inertia));
    // 40 elements have an error of (1/40)²/4 = 1.6e-4; the elastica neglects shear, 6e-4 edgewise.
    let edgewise = tip(40, 2, force) / exact(force, inertia[0]);
    checks.close("Princeton beam edgewise over the elastica", edgewise, 1.0, 1e-3, "1");
    let flatwise = tip(40, 1, force) / exact(force, inertia[1]);
    checks.close("Princeton beam flatwise over the elastica", flatwise, 1.0, 5e-4, "1");
    // F L²/EI = 10: the tip deflects by 0.81 of the length.
    let large = 10.0 * young * inertia[1] / (length * length);
    let error = (tip(40, 1, large) / exact(large, inertia[1]) - 1.0).abs();
    checks.at_most("large deflection: relative error, 40 elements", error, 1e-3, "1");
    // The order is that towards a fine mesh: unlike the elastica, the beam stretches and shears.
    let fine = tip(160, 1, large);
    let meshes = [10, 20, 40];
    let errors = meshes.map(|n| (tip(n, 1, large) - fine).abs());
    let order = observed_order(&meshes.map(|n| 1.0 / n as f64), &errors);
    checks.close("large deflection: observed order in the mesh", order, 2.0, 0.2, "1");
}

/// A steel strip of 1 m × 20 mm × 10 mm, clamped at its start, with its first natural frequency [rad/s].
fn strip(elements: usize) -> (Beam, f64) {
    let section = Section::Rectangle { height: 0.01, width: 0.02 };
    let beam = Beam::new("strip")
        .points(&[[0.0; 3], [1.0, 0.0, 0.0]])
        .section(section)
        .material(Elastic::new(2.1e11, 0.3, 7800.0))
        .elements(elements)
        .clamp_start();
    let constants = section.constants(0.3);
    let root = (2.1e11 * constants.inertia[0] / (7800.0 * constants.area)).sqrt();
    (beam, 1.875_104_069_f64.powi(2) * root)
}

/// Natural frequencies, lowest first [rad/s].
fn natural(body: &Structure) -> Vec<f64> {
    let mut k = Tridiagonal::new(body.node_dofs(), body.n_nodes());
    let mut c = k.clone();
    body.tangents(&body.start().q, &vec![0.0; body.n_v()], &mut k, &mut c);
    let free: Vec<usize> = (0..body.n_v()).filter(|&i| !body.held()[i]).collect();
    let of = |a: &Tridiagonal| {
        DMatrix::from_fn(free.len(), free.len(), |i, j| a.entry(free[i], free[j]))
    };
    let Some(cholesky) = of(body.mass()).cholesky() else { return Vec::new() };
    let l = cholesky.l();
    let half = l.solve_lower_triangular(&of(&k)).unwrap_or_default();
    let whole = l.solve_lower_triangular(&half.transpose()).unwrap_or_default();
    let symmetric = (&whole + whole.transpose()) * 0.5;
    let mut squares: Vec<f64> = symmetric.symmetric_eigenvalues().iter().copied().collect();
    squares.sort_by(f64::total_cmp);
    squares.iter().map(|x| x.max(0.0).sqrt()).collect()
}

/// The first two frequencies of a cantilever across its thin side (Euler–Bernoulli).
fn frequencies(checks: &mut Checks) {
    let ratio = (4.694_091_133_f64 / 1.875_104_069).powi(2);
    let first = strip(1).1;
    // Two directions with stiffnesses 1 : 4: the second mode of the soft one is the third of all.
    let found = |n: usize| {
        let body = strip(n).0.build(Vec3::zeros()).expect("a standard beam is valid");
        let all = natural(&body);
        [all[0] / first, all[2] / (ratio * first)]
    };
    let (meshes, fine) = ([10, 20], found(60));
    let coarse = meshes.map(found);
    for (mode, limit) in [(0, 3e-3), (1, 1e-2)] {
        let name = format!("cantilever: frequency {} over the closed form", mode + 1);
        checks.close(&format!("{name}, 20 elements"), coarse[1][mode], 1.0, limit, "1");
        // Towards a fine mesh: the closed form neglects shear and rotary inertia.
        let errors = coarse.map(|f| (f[mode] - fine[mode]).abs());
        let order = observed_order(&meshes.map(|n| 1.0 / n as f64), &errors);
        checks.close(&format!("{name}, order in the mesh"), order, 2.0, 0.3, "1");
    }
}

/// A clamped strip released under gravity, with a stop below its tip at a distance [m] if given.
fn released(elements: usize, stop: Option<f64>) -> (Scene, FlexibleId) {
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -9.81]);
    let beam = scene.add_flexible(strip(elements).0);
    if let Some(distance) = stop {
        let law = PairLaw { law: ContactLaw::MoreauNewton, ..PairLaw::SMOOTH };
        scene.add_point_contact(PointContact {
            name: "stop".into(),
            point: (On::Node(beam, elements as u32), Vec3::zeros()),
            plane: (On::World, Vec3::new(0.0, 0.0, -distance)),
            normal: Vec3::z(),
            law,
        });
    }
    (scene.build().expect("a standard scene is valid"), beam)
}

/// Height of the tip [m] at every millisecond, and the largest energy above the initial one [J].
fn tip_motion(elements: usize, stop: Option<f64>, dt: f64, until: f64) -> (Vec<f64>, [f64; 2]) {
    let (scene, _) = released(elements, stop);
    let mut run = Simulation::new(scene, Method::GGL.scheme(dt)).expect("a valid scheme");
    let energy = |run: &Simulation| {
        let b = run.frame().balance();
        b.kinetic + b.potential
    };
    let (start, every) = (energy(&run), (1e-3 / dt).round() as usize);
    let (mut tip, mut change) = (vec![0.0], [0.0_f64; 2]);
    for k in 1..=(until / dt).round() as usize {
        run.step().expect("it can be simulated");
        let now = energy(&run) - start;
        change = [change[0].max(now), now];
        if k % every == 0 {
            tip.push(run.state().flexible[0].q[elements].position.z);
        }
    }
    (tip, change)
}

/// Released under its weight, the strip vibrates about its sag with its first frequency.
fn vibration(checks: &mut Checks) {
    let (_, exact) = strip(20);
    let (tip, [gained, lost]) = tip_motion(20, None, 1e-3, 1.0);
    let sag = tip.iter().sum::<f64>() / tip.len() as f64;
    let crossings: Vec<f64> = tip
        .windows(2)
        .enumerate()
        .filter(|(_, z)| z[0] < sag && z[1] >= sag)
        .map(|(k, z)| 1e-3 * (k as f64 + (sag - z[0]) / (z[1] - z[0])))
        .collect();
    let periods = (crossings.len() - 1) as f64;
    let period = (crossings[crossings.len() - 1] - crossings[0]) / periods;
    let frequency = 2.0 * PI / period;
    // The second mode shifts crossings by up to 2 % of a period, over seven periods; the mesh adds 0.1 %.
    checks.close("vibration: first frequency", frequency, exact, 0.01 * exact, "rad/s");
    // Energies of the vibration are m g times the sag, 0.08 J; ρ∞ = 0.8 damps the high modes only.
    checks.at_most("vibration: energy gained", gained, 1e-4, "J");
    checks.at_least("vibration: energy lost in 1 s", lost, -4e-3, "J");
}

/// The strip strikes a stop 4 mm below its tip.
fn stop(checks: &mut Checks, effort: Effort) {
    let (distance, until) = (4e-3, 0.3);
    let run = |n: usize, dt: f64| tip_motion(n, Some(distance), dt, until);
    let (finest, [gained, _]) = run(32, 5e-5);
    let lowest = |tip: &[f64]| tip.iter().fold(f64::INFINITY, |m, z| m.min(z + distance));
    checks.at_least("stop: smallest gap", lowest(&finest), -1e-12, "m");
    checks.at_most("stop: energy gained", gained, 1e-4, "J");
    let difference = |tip: &[f64]| {
        let pairs = tip.iter().zip(&finest);
        pairs.map(|(a, b)| (a - b).abs()).sum::<f64>() / tip.len() as f64
    };
    let meshes: &[usize] = if effort == Effort::Full { &[4, 8, 16] } else { &[4, 16] };
    let by_mesh: Vec<f64> = meshes.iter().map(|&n| difference(&run(n, 5e-5).0)).collect();
    let order =
        observed_order(&meshes.iter().map(|n| 1.0 / *n as f64).collect::<Vec<_>>(), &by_mesh);
    // The tip is loose between impacts, so the two refinements are not of a clean order.
    checks.at_least("stop: observed order in the mesh", order, 0.8, "1");
    // The tip bounces within a step or two while it is pressed on, so the errors in the step are small but of no clean order.
    let (exact, _) = tip_motion(16, Some(distance), 2e-5, 0.06);
    for (h, limit) in [(1e-3, 0.02), (2e-4, 0.01)] {
        let (tip, _) = tip_motion(16, Some(distance), h, 0.06);
        let errors = tip.iter().zip(&exact).map(|(a, b)| (a - b).abs());
        let mean = errors.sum::<f64>() / tip.len() as f64 / distance;
        let quantity = format!("stop: mean error of the tip over the distance, h = {h:e} s");
        checks.at_most(&quantity, mean, limit, "1");
    }
}

/// The slider–crank of docquier2020 with a flexible rod of the same mass, of aluminium, in an ideal guide.
fn crank_with_rod(elements: usize, young: f64) -> Scene {
    let (crank_length, rod_length) = (0.153, 0.306);
    let mut scene = Scene::builder();
    scene.gravity([0.0, -10.0, 0.0]);
    let mut m = Mechanism::new("engine");
    let mass = MassProperties::principal(
        0.038,
        [0.5 * crank_length, 0.0, 0.0],
        [3.75e-5, 3.75e-5, 7.5e-5],
    );
    let crank = m.add("crank", GROUND, Joint::Revolute(Axis::Z), Pose::IDENTITY, Some(mass));
    let block = MassProperties::principal(0.076, [0.0; 3], [1e-5; 3]);
    let at = Pose::at([crank_length + rod_length, 0.0, 0.0]);
    let slider = m.add("slider", GROUND, Joint::Prismatic(Axis::X), at, Some(block));
    m.start_velocity(m.coordinate(crank, 0), 150.0);
    let engine = scene.add_mechanism(m);
    let side: f64 = (0.038 / (2700.0 * rod_length)).sqrt();
    let rod = Beam::new("rod")
        .points(&[[crank_length, 0.0, 0.0], [crank_length + rod_length, 0.0, 0.0]])
        .section(Section::Rectangle { height: side, width: side })
        .material(Elastic::new(young, 0.33, 2700.0))
        .elements(elements)
        .velocity([0.0, 150.0 * crank_length, 0.0], [0.0, 0.0, -75.0]);
    let rod = scene.add_flexible(rod);
    let [start, end] = [crank_length, crank_length + rod_length].map(|x| Pose::at([x, 0.0, 0.0]));
    let pin = |name: &str, hold, at: Pose, link, node: u32| {
        let node_at = if node == 0 { start } else { end };
        let body = if link == crank { Pose::IDENTITY } else { at };
        BodyJoint::at(
            name,
            hold,
            at,
            (On::Link(engine, link), body),
            (On::Node(rod, node), node_at),
        )
    };
    scene.add_joint(pin("crank pin", Hold::Hinge, start, crank, 0));
    scene.add_joint(pin("gudgeon pin", Hold::Ball, end, slider, elements as u32));
    scene.build().expect("a standard scene is valid")
}

/// Positions of the slider [m] every 1 ms over 0.08 s, two revolutions; largest relative change of the energy; largest residual of the pins.
fn slide(elements: usize, young: f64, dt: f64) -> (Vec<f64>, f64, f64) {
    let scene = crank_with_rod(elements, young);
    let mut run = Simulation::new(scene, Method::GGL.scheme(dt)).expect("a valid scheme");
    let energy = |run: &Simulation| {
        let b = run.frame().balance();
        b.kinetic + b.potential
    };
    let (start, every) = (energy(&run), (1e-3 / dt).round() as usize);
    let (mut x, mut change, mut residual) = (vec![0.0], 0.0_f64, 0.0_f64);
    for k in 1..=(0.08 / dt).round() as usize {
        let step = run.step().expect("it can be simulated");
        change = change.max((energy(&run) / start - 1.0).abs());
        residual = residual.max(step.loop_residual);
        if k % every == 0 {
            x.push(run.state().mechanisms[0].q[1]);
        }
    }
    (x, change, residual)
}

fn slider_crank(checks: &mut Checks, effort: Effort) {
    let young = 7e10;
    let meshes: &[usize] = if effort == Effort::Full { &[2, 4, 8, 16] } else { &[2, 4, 8] };
    let runs: Vec<_> = meshes.iter().map(|&n| slide(n, young, 1e-4)).collect();
    let (finest, change, residual) = &runs[runs.len() - 1];
    checks.at_most("slider–crank: residual of the pins", *residual, 1e-12, "m");
    // The rod starts straight, without the load of its own inertia; what this excites is damped by ρ∞ = 0.8.
    checks.at_most("slider–crank: relative change of the energy", *change, 5e-3, "1");
    let difference =
        |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    let coarser: Vec<f64> =
        runs[..runs.len() - 1].iter().map(|r| difference(&r.0, finest)).collect();
    let last = coarser.len() - 1;
    let falls = coarser[last] / coarser[last - 1];
    checks.at_most("slider–crank: error of a mesh over that of the next coarser", falls, 0.5, "1");
    let [coarse, fine] = [2e-4, 1e-4].map(|dt| slide(4, young, dt).0);
    let (reference, fine_change, _) = slide(4, young, 2.5e-5);
    checks.at_most(
        "slider–crank: relative change of the energy, 2.5e-5 s",
        fine_change,
        1.5e-3,
        "1",
    );
    let [coarse, fine] = [coarse, fine].map(|x| difference(&x, &reference));
    // Second order: 4, less the error of the reference itself.
    checks.at_least("slider–crank: error at 2e-4 s over that at 1e-4 s", coarse / fine, 3.0, "1");
    // A rod a hundred times as stiff moves nearly as a rigid one: bending falls with the stiffness.
    let stiff = slide(4, 1e4 * young, 1e-4).0;
    let soft = difference(&slide(4, young, 1e-4).0, &stiff);
    let stiffer = difference(&slide(4, 10.0 * young, 1e-4).0, &stiff);
    checks.at_most("slider–crank: effect of bending, E × 10 over E", stiffer / soft, 0.3, "1");
}
