//! Descriptions: frames of sections, supports, mistakes.

use super::*;

/// Each mistake as `item: problem`.
fn mistakes<T: std::fmt::Debug>(result: Result<T, FlexibleError>) -> Vec<String> {
    result.unwrap_err().to_string().lines().map(str::to_owned).collect()
}

#[test]
fn all_mistakes_are_reported_together_with_the_name_of_the_body() {
    let bad = Beam::new("boom")
        .points(&[[0.0; 3]])
        .section(Section::Circle { radius: -1.0 })
        .material(Elastic { young: 0.0, shear: 1.0, density: f64::NAN })
        .elements(0)
        .damping(-1.0);
    let found = mistakes(bad.build(NOTHING));
    assert_eq!(found.len(), 6, "{found:#?}");
    assert!(found.iter().all(|m| m.starts_with("flexible body `boom`, ")));
    assert_eq!(found[0], "flexible body `boom`, points: needs at least 2 points, not 1");
    assert!(found[2].contains("section: the radius must be positive, not -1 m"));

    let bad = Bar::new("rod").points(&[[0.0; 3], [1.0, 0.0, 0.0], [1.5, 0.1, 0.0]]).area(0.0);
    let found = mistakes(bad.damping(f64::NAN).velocity(f64::INFINITY).build(NOTHING));
    assert_eq!(found.len(), 4, "{found:#?}");
    assert!(found[0].contains("point 2 is not on the straight line"), "{found:#?}");
}

#[test]
fn mistakes_that_need_several_members_are_found() {
    let line = [[0.0; 3], [1.0, 0.0, 0.0]];
    let one = |beam: Beam, expected: &str| {
        let found = mistakes(beam.build(NOTHING));
        assert!(found.len() == 1 && found[0].contains(expected), "{found:#?}");
    };
    one(unit_beam(1).points(&[line[0], line[1], line[1]]), "points 2 and 3 are equal");
    one(unit_beam(1).points(&[line[0], line[1], line[0]]), "turns back at node 1");
    one(unit_beam(1).points(&[line[0], [f64::NAN, 0.0, 0.0]]), "point 2 must be finite");
    one(unit_beam(1).up([1.0, 0.0, 0.0]), "up: is along the beam");
    one(unit_beam(1).up([0.0; 3]), "up: must not be zero");
    one(unit_beam(1_000_000), "elements: must give between 1 element and 100000 nodes");
    one(unit_beam(1).clamp_start().velocity([1.0, 0.0, 0.0], [0.0; 3]), "contradicts the supports");
    one(unit_beam(1).velocity([0.0; 3], [0.0, f64::NAN, 0.0]), "angular velocity must be finite");
    let pinned = unit_beam(1).supports(Support::Pinned, Support::Free);
    assert!(pinned.velocity([0.0; 3], [0.0, 0.0, 1.0]).build(NOTHING).is_ok(), "a pendulum");
    let bar = Bar::new("bar").points(&line).clamp_end().velocity(1.0);
    assert!(mistakes(bar.build(NOTHING))[0].contains("starts at rest"));
    let found = mistakes(unit_beam(1).build(Vec3::new(0.0, f64::NAN, 0.0)));
    assert!(found[0].contains("gravity"));
}

#[test]
fn sections_stand_across_the_beam_with_z_up() {
    let body = unit_beam(3).build(NOTHING).unwrap();
    for pose in &body.start().q {
        assert!((pose.vector(Vec3::x()) - Vec3::x()).norm() < 1e-15);
        assert!((pose.vector(Vec3::z()) - Vec3::z()).norm() < 1e-15);
    }
    let upright = unit_beam(2).points(&[[0.0; 3], [0.0, 0.0, 3.0]]).build(NOTHING).unwrap();
    assert!((upright.start().q[0].vector(Vec3::z()) - Vec3::x()).norm() < 1e-15);
    let turned = unit_beam(2).up([5.0, 1.0, 0.0]).build(NOTHING).unwrap();
    assert!((turned.start().q[2].vector(Vec3::z()) - Vec3::y()).norm() < 1e-15);
}

#[test]
fn points_on_a_circle_give_elements_of_equal_curvature_and_a_closed_ring() {
    let n = 12;
    let points: Vec<[f64; 3]> = (0..=n)
        .map(|k| {
            let angle = std::f64::consts::TAU * f64::from(k % n) / f64::from(n);
            [2.0 * angle.cos(), 2.0 * angle.sin(), 0.0]
        })
        .collect();
    let body = unit_beam(1).points(&points).build(NOTHING).unwrap();
    // Arcs, not chords: the mass is that of the circumference.
    let length = 4.0 * std::f64::consts::PI;
    assert!((body.total_mass() - length).abs() < 1e-12 * length);
    for (k, pose) in body.start().q.iter().enumerate() {
        let along = pose.vector(Vec3::x());
        assert!(along.dot(&pose.position).abs() < 1e-13, "tangent at node {k}");
        assert!((pose.vector(Vec3::z()) - Vec3::z()).norm() < 1e-13);
    }
}

#[test]
fn supports_hold_their_degrees_of_freedom() {
    let beam = unit_beam(2).supports(Support::Pinned, Support::Clamped).build(NOTHING).unwrap();
    let held: Vec<usize> = (0..18).filter(|&i| beam.held()[i]).collect();
    assert_eq!(held, [0, 1, 2, 12, 13, 14, 15, 16, 17]);
    let bar = Bar::new("bar").points(&[[0.0; 3], [1.0, 0.0, 0.0]]).elements(2).clamp_start();
    assert_eq!(bar.build(NOTHING).unwrap().held(), [true, false, false]);
}

#[test]
fn a_body_starts_with_the_velocity_of_its_description() {
    let beam = unit_beam(4).velocity([1.0, 2.0, 3.0], [0.0, 0.0, 2.0]).build(NOTHING).unwrap();
    let state = beam.start();
    let tip = beam.node_twist(&state.q, &state.v, 4);
    assert!((tip.linear - Vec3::new(1.0, 4.0, 3.0)).norm() < 1e-14);
    assert!((tip.angular - Vec3::new(0.0, 0.0, 2.0)).norm() < 1e-14);
    // A bar that points backwards.
    let bar = Bar::new("bar").points(&[[0.0; 3], [-1.0, 0.0, 0.0]]).velocity(3.0);
    let bar = bar.build(NOTHING).unwrap();
    assert_eq!(bar.node_twist(&bar.start().q, &bar.start().v, 1).linear, Vec3::new(-3.0, 0.0, 0.0));
    assert!(bar.start().q[0].vector(Vec3::x()).x < -0.999);
    assert_eq!((bar.name(), bar.n_nodes(), bar.node_dofs(), bar.n_v()), ("bar", 2, 1, 2));
    assert!(bar.outline().len() == 12 && bar.is_linear() && !beam.is_linear());
}
