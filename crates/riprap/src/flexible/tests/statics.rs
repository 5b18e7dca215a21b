//! Equilibria: closed forms, and the Princeton experiment.

use super::super::element::logarithm;
use super::*;

/// A load on one degree of freedom of the last node.
fn at_end(body: &Structure, loads: &[(usize, f64)]) -> Vec<f64> {
    let mut load = vec![0.0; body.n_v()];
    for (dof, value) in loads {
        load[body.n_v() - 6 + dof] = *value;
    }
    load
}

#[test]
fn an_end_moment_rolls_a_cantilever_into_a_full_circle() {
    // M = 2π EI/L with EI = 1 N m², L = 1 m. The strain is constant, so the result is exact for any number of elements that
    // turn by less than half a turn each.
    for elements in [3, 4, 10] {
        for axis in [4, 5] {
            let body = unit_beam(elements).clamp_start().build(NOTHING).unwrap();
            let load = at_end(&body, &[(axis, 2.0 * std::f64::consts::PI)]);
            let q = equilibrium(&body, &load, 20);
            let end = q.last().unwrap();
            // Newton stops at increments of 1e-11.
            assert!(end.position.norm() < 1e-10, "{elements}: {}", end.position);
            assert!(end.rotation.angle() < 1e-10);
            // The nodes are on the circle of radius L/2π.
            let r = 0.5 / std::f64::consts::PI;
            let side = if axis == 4 { -Vec3::z() } else { Vec3::y() };
            assert!(q.iter().all(|q| ((q.position - side * r).norm() - r).abs() < 1e-10));
        }
    }
}

#[test]
fn a_small_end_force_deflects_a_cantilever_as_timoshenko_says() {
    // FL³/3EI + FL/GA, with an error of the element's of second order in its length.
    let f = 1e-4;
    let exact = f / 3.0 + f / 1e4;
    let mut last = f64::INFINITY;
    for elements in [2, 4, 8, 16] {
        let body = unit_beam(elements).clamp_start().build(NOTHING).unwrap();
        for dof in [1, 2] {
            let q = equilibrium(&body, &at_end(&body, &[(dof, f)]), 1);
            let error = (q.last().unwrap().position[dof] / exact - 1.0).abs();
            if dof == 2 {
                assert!(error < 0.3 * last, "second order: {error} after {last}");
                last = error;
            }
        }
    }
    // (1/16)²/4, the error of the midpoint rule for the moment; geometric nonlinearity is of order f² = 1e-8.
    assert!(last < 1.01 / 1024.0, "{last}");
}

#[test]
fn stretch_and_torsion_are_exact_with_one_element() {
    let body = unit_beam(1).clamp_start().build(NOTHING).unwrap();
    let q = equilibrium(&body, &at_end(&body, &[(0, 100.0), (3, 0.5)]), 1);
    // FL/EA and ML/GJ.
    assert!((q[1].position - Vec3::new(1.01, 0.0, 0.0)).norm() < 1e-12);
    assert!((q[1].rotation.scaled_axis() - Vec3::new(0.5, 0.0, 0.0)).norm() < 1e-12);
    let bar = Bar::new("bar")
        .points(&[[0.0; 3], [0.0, 2.0, 0.0]])
        .material(Elastic { young: 300.0, shear: 1.0, density: 0.5 })
        .elements(4)
        .clamp_start();
    // Under its own weight: ρ g L²/2E, exact at the nodes.
    let body = bar.build(Vec3::new(0.0, -10.0, 0.0)).unwrap();
    let q = equilibrium(&body, &vec![0.0; body.n_v()], 1);
    let sag = q.last().unwrap().position.y - 2.0;
    assert!((sag + 0.5 * 10.0 * 4.0 / 600.0).abs() < 1e-14, "{sag}");
}

#[test]
fn a_large_end_force_gives_the_elastica() {
    // Mattiasson, International Journal for Numerical Methods in Engineering 17, 1981: an inextensible cantilever under a
    // force F across its end, F L²/EI = 1, 2, 5, 10: deflection and shortening over L, from elliptic integrals.
    let table = [
        (1.0, 0.30172, 0.05643),
        (2.0, 0.49346, 0.16064),
        (5.0, 0.71379, 0.38763),
        (10.0, 0.81061, 0.55500),
    ];
    // Neither stretch nor shear: EA L²/EI = 1e8.
    let section = Section::Given {
        area: 1.0,
        shear: [1.0; 2],
        inertia_y: 1e-8,
        inertia_z: 1e-8,
        torsion: 1e-8,
    };
    let stiff =
        unit_beam(80).section(section).material(Elastic { young: 1e8, shear: 1e8, density: 1.0 });
    let body = stiff.clamp_start().build(NOTHING).unwrap();
    for (force, deflection, shortening) in table {
        assert!((elastica(force) - deflection).abs() < 2e-5, "the table itself");
        let q = equilibrium(&body, &at_end(&body, &[(1, force)]), 20);
        let end = q.last().unwrap().position;
        // Five digits of the table, and the elements: (1/80)²/4 of the deflection per unit of the load.
        assert!((end.y - deflection).abs() < 1e-4, "{force}: {end}");
        assert!((1.0 - end.x - shortening).abs() < 2e-4, "{force}: {end}");
    }
}

#[test]
fn a_quarter_of_a_circle_under_an_end_force_bends_out_of_its_plane() {
    // Bathe and Bolourchi, International Journal for Numerical Methods in Engineering 14, 1979: a 45° bend of radius 100 in, square
    // section 1 in, E = 1e7 psi, ν = 0, clamped, under a force of 600 lb out of its plane; units as published. The tip moves
    // from (70.71, 29.29, 0) to (47.23, 15.79, 53.37) according to Simo and Vu-Quoc 1986, to (47.04, 15.55, 53.50) according to
    // Cardona and Géradin 1988. With eight straight elements they are this far apart from each other and from finer meshes.
    let n = 16;
    let points: Vec<[f64; 3]> = (0..=n)
        .map(|k| {
            let angle = std::f64::consts::FRAC_PI_4 * f64::from(k) / f64::from(n);
            [100.0 * angle.sin(), 100.0 * (1.0 - angle.cos()), 0.0]
        })
        .collect();
    let beam = Beam::new("bend")
        .points(&points)
        .section(Section::Rectangle { height: 1.0, width: 1.0 })
        .material(Elastic::new(1e7, 0.0, 1.0))
        .clamp_start();
    let body = beam.build(NOTHING).unwrap();
    let q = equilibrium(&body, &at_end(&body, &[(2, 600.0)]), 60);
    let end = q.last().unwrap().position;
    assert!((end - Vec3::new(47.23, 15.79, 53.37)).amax() < 0.35, "{end}");
    assert!((end - Vec3::new(47.04, 15.55, 53.50)).amax() < 0.15, "{end}");
}

/// Deflection across the end of an inextensible cantilever of length 1 under a force `load` there, EI = 1: `θ'' = −F cos θ` with
/// `θ(0) = 0` and `θ'(1) = 0`, by shooting.
fn elastica(load: f64) -> f64 {
    let end = |curvature: f64| {
        let n = 1000;
        let h = 1.0 / f64::from(n);
        let (mut theta, mut kappa, mut y) = (0.0_f64, curvature, 0.0);
        for _ in 0..n {
            // The midpoint rule: errors of 1e-6.
            let (t, k) = (theta + 0.5 * h * kappa, kappa - 0.5 * h * load * theta.cos());
            y += h * t.sin();
            (theta, kappa) = (theta + h * k, kappa - h * load * t.cos());
        }
        (kappa, y)
    };
    let (mut low, mut high) = (0.0, load);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if end(middle).0 > 0.0 { high = middle } else { low = middle }
    }
    end(low).1
}

#[test]
fn the_princeton_beam_deflects_as_the_elastica_and_twists_when_loaded_obliquely() {
    // The blade of Dowell and Traybar (USAAMRDL Technical Report 75, 1975) with the parameters of Bauchau et al., Multibody System Dynamics 37,
    // 2016: aluminium 7075, 508 × 12.7 × 3.2024 mm, E = 71.7 GPa, ν = 0.31, tip load 8.896 N at several angles from
    // edgewise.
    let (length, height, width, young) = (0.508, 12.7e-3, 3.2024e-3, 71.7e9);
    let beam = Beam::new("princeton")
        .points(&[[0.0; 3], [length, 0.0, 0.0]])
        .section(Section::Rectangle { height, width })
        .material(Elastic::new(young, 0.31, 2700.0))
        .elements(40)
        .clamp_start();
    let body = beam.build(NOTHING).unwrap();
    let tip = |angle: f64| {
        let load = at_end(&body, &[(1, -8.896 * angle.sin()), (2, -8.896 * angle.cos())]);
        *equilibrium(&body, &load, 4).last().unwrap()
    };
    let constants = Section::Rectangle { height, width }.constants(0.31);
    let exact = |inertia: f64| length * elastica(8.896 * length * length / (young * inertia));
    // Elements: (1/40)²/4 = 1.6e-4; shear, which the elastica neglects: 6e-4 edgewise.
    let edgewise = -tip(0.0).position.z;
    assert!((edgewise / exact(constants.inertia[0]) - 1.0).abs() < 1e-3, "{edgewise}");
    let flatwise = -tip(std::f64::consts::FRAC_PI_2).position.y;
    assert!((flatwise / exact(constants.inertia[1]) - 1.0).abs() < 5e-4, "{flatwise}");
    // Between the two the blade twists, which the linear theory does not know. To second order in a small load the torsion
    // summed along the blade is F_y F_z L⁴ (1/EI_z − 1/EI_y) / 12 GJ; the next order is (F L²/EI_z)² = 1e-4, the elements as
    // above.
    let load = at_end(&body, &[(1, 0.1), (2, 0.1)]);
    let q = equilibrium(&body, &load, 1);
    let torsion: f64 = q.windows(2).map(|q| logarithm(&q[0], &q[1])[1].x).sum();
    let flexibility = 1.0 / (young * constants.inertia[1]) - 1.0 / (young * constants.inertia[0]);
    let gj = young / 2.62 * constants.torsion;
    let exact = 0.01 * length.powi(4) * flexibility / (12.0 * gj);
    assert!((torsion / exact - 1.0).abs() < 2e-3, "{torsion} {exact}");
}
