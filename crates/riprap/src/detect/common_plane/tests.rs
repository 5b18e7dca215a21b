//! The tilted plane against the separating axes, which are exact.

use super::*;
use crate::detect::axes::best_axis;
use crate::detect::testing::{beside, exchanged, shape};
use rand::SeedableRng;
use rand_pcg::Pcg64;

#[test]
fn for_overlapping_shapes_no_direction_has_a_larger_gap_than_the_best_axis() {
    let mut rng = Pcg64::seed_from_u64(101);
    let mut scratch = NarrowScratch::default();
    let (mut overlapping, mut found) = (0, 0);
    for _ in 0..60 {
        let (a, b) = (shape(&mut rng), shape(&mut rng));
        let rel = beside(&mut rng, &a, &b);
        let size = a.outer_radius().min(b.outer_radius());
        let axis = best_axis(&a, &b, &rel, f64::INFINITY, None, &mut scratch).ok().unwrap().axis;
        if axis.separation > -1e-3 * size {
            continue;
        }
        overlapping += 1;
        let m = contact(&a, &b, &rel, &Ask::default(), &mut scratch).unwrap();
        // Its own gap, as measured by the plane's normal.
        let s = separation(&a, &b, &rel, m.normal);
        assert!((m.separation - s).abs() < 1e-12 * (1.0 + size));
        // Along no direction are overlapping shapes farther apart than along the best axis, up to
        // the bias.
        assert!(s <= axis.separation + 1e-5 * size, "{s} {}", axis.separation);
        found += usize::from(s > axis.separation - 1e-4 * size);
    }
    // Tilting may stop at another plane with a locally largest gap.
    assert!(overlapping > 15 && 10 * found >= 9 * overlapping, "{found} of {overlapping}");
}

#[test]
fn two_boxes_have_the_plane_between_their_faces() {
    let cube = Polyhedron::cuboid([1.0; 3]).unwrap();
    let mut scratch = NarrowScratch::default();
    for (gap, at) in [(0.01, 1.01), (-0.02, 0.98)] {
        let rel = Relative { rot: crate::math::Mat3::identity(), origin: Vec3::z() * at };
        let ask = Ask { alert: 0.05, ..Ask::default() };
        let m = contact(&cube, &cube, &rel, &ask, &mut scratch).unwrap();
        // The last tilt is 1e-9 rad, over half a metre.
        assert!((m.separation - gap).abs() < 1e-8 && (m.normal - Vec3::z()).norm() < 1e-8);
        assert_eq!(m.points().len(), 4);
        let far = Ask { alert: gap - 1e-6, ..ask };
        assert!(contact(&cube, &cube, &rel, &far, &mut scratch).is_none());
    }
}

#[test]
fn either_order_of_two_shapes_finds_the_same_gap() {
    let mut rng = Pcg64::seed_from_u64(102);
    let mut scratch = NarrowScratch::default();
    let (mut both, mut same) = (0, 0);
    for _ in 0..60 {
        let (a, b) = (shape(&mut rng), shape(&mut rng));
        let rel = beside(&mut rng, &a, &b);
        let size = a.outer_radius().min(b.outer_radius());
        let ask = Ask { alert: 0.05 * size, ..Ask::default() };
        let one = contact(&a, &b, &rel, &ask, &mut scratch);
        let two = contact(&b, &a, &exchanged(&rel), &ask, &mut scratch);
        if let (Some(one), Some(two)) = (one, two) {
            both += 1;
            same += usize::from((one.separation - two.separation).abs() < 1e-4 * size);
        }
    }
    assert!(both > 10 && 10 * same >= 9 * both, "{same} of {both}");
}
