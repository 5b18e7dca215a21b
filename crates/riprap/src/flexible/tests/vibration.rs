//! Natural frequencies against closed forms.

use super::*;
use nalgebra::DMatrix;
use std::f64::consts::PI;

/// Natural frequencies at the start, lowest first, without those of rigid motions [rad/s].
fn frequencies(body: &Structure) -> Vec<f64> {
    let mut k = Tridiagonal::new(body.node_dofs(), body.n_nodes());
    let mut c = k.clone();
    body.tangents(&body.start().q, &vec![0.0; body.n_v()], &mut k, &mut c);
    let free: Vec<usize> = (0..body.n_v()).filter(|&i| !body.held()[i]).collect();
    let of = |a: &Tridiagonal| {
        DMatrix::from_fn(free.len(), free.len(), |i, j| a.entry(free[i], free[j]))
    };
    let (stiffness, mass) = (of(&k), of(body.mass()));
    let l = mass.cholesky().expect("a mass matrix").l();
    let half = l.solve_lower_triangular(&stiffness).unwrap();
    let whole = l.solve_lower_triangular(&half.transpose()).unwrap();
    let symmetric = (&whole + whole.transpose()) * 0.5;
    let mut squares: Vec<f64> = symmetric.symmetric_eigenvalues().iter().copied().collect();
    squares.sort_by(f64::total_cmp);
    let largest = squares.last().copied().unwrap();
    squares.iter().filter(|x| **x > 1e-11 * largest).map(|x| x.sqrt()).collect()
}

/// A slender beam with different stiffnesses across: EI_y = 1, EI_z = 4 N m², GJ = 2 N m², EA = GA = 1e6 N, ρA = 1 kg/m.
fn slender(elements: usize) -> Beam {
    unit_beam(elements)
        .section(Section::Given {
            area: 1.0,
            shear: [1.0; 2],
            inertia_y: 1e-6,
            inertia_z: 4e-6,
            torsion: 2e-6,
        })
        .material(Elastic { young: 1e6, shear: 1e6, density: 1.0 })
}

#[test]
fn a_cantilever_bends_at_its_natural_frequencies_with_second_order_errors() {
    // Euler and Bernoulli: ω = (β L)² √(EI/ρA)/L², β L = 1.8751, 4.6941, 7.8548. Shear and rotary inertia lower the first
    // ones by less than 1e-4 here.
    let beta = [1.875_104_069, 4.694_091_133];
    let mut errors = Vec::new();
    for elements in [10, 20, 40] {
        let found = frequencies(&slender(elements).clamp_start().build(NOTHING).unwrap());
        // About y: 3.516, 22.03; about z twice that.
        let exact =
            [beta[0], 2.0_f64.sqrt() * beta[0], beta[1], 2.0_f64.sqrt() * beta[1]].map(|b| b * b);
        let error = found.iter().zip(exact).map(|(f, e)| f / e - 1.0).map(f64::abs);
        errors.push(error.collect::<Vec<_>>());
    }
    for mode in 0..4 {
        let order = (errors[0][mode] / errors[1][mode]).log2();
        assert!((1.7..2.5).contains(&order), "mode {mode}: {order}");
    }
    assert!(errors[2][0] < 1e-3 && errors[2][2] < 5e-3, "{errors:?}");
}

#[test]
fn a_free_beam_has_six_rigid_motions_and_the_frequencies_of_the_closed_form() {
    let body = slender(40).build(NOTHING).unwrap();
    let found = frequencies(&body);
    assert_eq!(found.len(), body.n_v() - 6);
    // β L = 4.7300 about y, and about z.
    let exact = 4.730_040_745_f64.powi(2);
    assert!((found[0] / exact - 1.0).abs() < 5e-3, "{} {exact}", found[0]);
    assert!((found[1] / (2.0 * exact) - 1.0).abs() < 5e-3, "{}", found[1]);
}

#[test]
fn a_thick_beam_on_pins_has_timoshenkos_frequencies() {
    // Simply supported: a quadratic equation for ω² per half wave. Here both ends are pinned, and free to turn about y and z;
    // the axial motion of the ends is held as well.
    let (area, inertia) = (1.0, 1e-2);
    let thick = |elements| {
        unit_beam(elements)
            .section(Section::Given {
                area,
                shear: [5.0 / 6.0; 2],
                inertia_y: inertia,
                inertia_z: 4.0 * inertia,
                torsion: 10.0 * inertia,
            })
            .material(Elastic::new(1e4, 0.3, 1.0))
            .supports(Support::Pinned, Support::Pinned)
    };
    let (ei, ga) = (1e4 * inertia, 5.0 / 6.0 * 1e4 / 2.6);
    let (m, j) = (area, inertia);
    let k2 = PI * PI;
    // (EI k² + GA − ρI ω²)(GA k² − ρA ω²) = (GA k)².
    let (a, b, c) =
        (m * j, m * (ei * k2 + ga) + j * ga * k2, (ei * k2 + ga) * ga * k2 - ga * ga * k2);
    let exact = ((b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)).sqrt();
    let mut last = f64::INFINITY;
    for elements in [8, 16, 32] {
        let found = frequencies(&thick(elements).build(NOTHING).unwrap());
        let error = found.iter().map(|f| (f / exact - 1.0).abs()).fold(f64::INFINITY, f64::min);
        assert!(error < 0.3 * last, "second order: {error} after {last}");
        last = error;
    }
    assert!(last < 2e-3, "{last}");
}

#[test]
fn torsion_and_stretching_have_the_frequencies_of_waves() {
    // Clamped and free: ω = π/2 c/L with c² = G J/(ρ I_p) and E/ρ. Linear elements with a consistent mass overestimate the
    // first frequency by (π/2n)²/24.
    let n = 20;
    let body = slender(n).clamp_start().build(NOTHING).unwrap();
    let found = frequencies(&body);
    let nearest =
        |exact: f64| found.iter().map(|f| (f / exact - 1.0).abs()).fold(f64::INFINITY, f64::min);
    let waves = (1e6_f64 * 2.0 / 5.0).sqrt() * PI / 2.0;
    let expected = (PI / 2.0 / f64::from(n as u32)).powi(2) / 24.0;
    assert!(nearest(waves) < 1.1 * expected, "{}", nearest(waves));

    let bar = Bar::new("bar")
        .points(&[[0.0; 3], [1.0, 0.0, 0.0]])
        .material(Elastic::new(1e6, 0.3, 1.0))
        .elements(n)
        .clamp_start();
    let exact = 1e3 * PI / 2.0;
    let above = frequencies(&bar.clone().build(NOTHING).unwrap())[0] / exact - 1.0;
    let below = frequencies(&bar.lumped().build(NOTHING).unwrap())[0] / exact - 1.0;
    // Consistent masses give a frequency too high, lumped masses one too low, by the same amount.
    assert!((above - expected).abs() < 0.01 * expected, "{above} {expected}");
    assert!((below + expected).abs() < 0.01 * expected, "{below} {expected}");
}
