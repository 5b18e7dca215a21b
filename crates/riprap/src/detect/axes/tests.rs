use super::*;
use crate::detect::narrow::Ask;
use crate::detect::shortlist::Shortlist;
use crate::detect::testing::{shape, unit};
use crate::math::Quat;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Exhaustive search over every face and every pair of edges: the reference for [`best_axis`].
fn full_search(a: &Polyhedron, b: &Polyhedron, rel: &Relative) -> Axis {
    let size = a.outer_radius().min(b.outer_radius());
    let over = |n: Vec3, top: f64, (vertex, bottom): (usize, f64), shift: f64, kind: Kind| Axis {
        normal: n,
        separation: shift - bottom - top,
        kind,
        vertex,
    };
    let first_best = |axes: &mut dyn Iterator<Item = Axis>| {
        axes.reduce(|best, x| if x.separation > best.separation { x } else { best }).unwrap()
    };
    let top_a = first_best(&mut (0..a.n_faces()).map(|i| {
        let n = a.face_normals()[i];
        let bottom = b.support(rel.inverse_vector(-n));
        over(n, a.face_offsets()[i], bottom, n.dot(&rel.origin), Kind::FaceA(i))
    }));
    let origin_a = rel.inverse_vector(-rel.origin);
    let top_b = first_best(&mut (0..b.n_faces()).map(|j| {
        let n = b.face_normals()[j];
        let bottom = a.support(rel.vector(-n));
        let axis = over(n, b.face_offsets()[j], bottom, n.dot(&origin_a), Kind::FaceB(j));
        Axis { normal: rel.vector(-n), ..axis }
    }));
    let first = top_b.separation > top_a.separation + FIRST_BIAS * size;
    let mut best = if first { top_b } else { top_a };
    let mut s_edge = best.separation + FACE_BIAS * size;
    for i in 0..a.edges().len() {
        for j in 0..b.edges().len() {
            let (ea, eb) = (NearEdge::of(a, i), NearEdge::of(b, j).moved(rel));
            if let Some((normal, s)) = edge_axis(&ea, &eb)
                && s > s_edge
            {
                s_edge = s;
                best = Axis { normal, separation: s, kind: Kind::Edges(i, j), vertex: 0 };
            }
        }
    }
    best
}

/// Moves b along a random direction until the two are `gap` apart along the best axis.
fn meeting(rng: &mut Pcg64, a: &Polyhedron, b: &Polyhedron) -> Relative {
    // Occasionally exactly aligned, so that many axes tie.
    let rotation = match rng.random_range(0..4) {
        0 => Mat3::identity(),
        1 => Mat3::new(0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0),
        _ => {
            let angle = rng.random_range(0.0..3.0);
            *Quat::from_scaled_axis(unit(rng) * angle).to_rotation_matrix().matrix()
        }
    };
    let axes = [Vec3::x(), Vec3::z(), unit(rng), unit(rng)];
    let along = axes[rng.random_range(0..4)];
    let gap = [0.0, 1e-3, -1e-6, -1e-3, -0.05, 0.01][rng.random_range(0..6)];
    let at = |d: f64| Relative { rot: rotation, origin: a.centre() + along * d };
    let (mut near, mut far) = (0.0, 2.0 * (a.outer_radius() + b.outer_radius()));
    for _ in 0..40 {
        let middle = 0.5 * (near + far);
        let s = full_search(a, b, &at(middle)).separation;
        *(if s < gap { &mut near } else { &mut far }) = middle;
    }
    at(far)
}

fn same(x: &Axis, y: &Axis) -> bool {
    (x.kind, x.vertex, x.normal) == (y.kind, y.vertex, y.normal)
        && x.separation.to_bits() == y.separation.to_bits()
}

#[test]
fn hints_and_bounds_give_bitwise_the_result_of_the_full_search() {
    let mut rng = Pcg64::seed_from_u64(51);
    let mut scratch = NarrowScratch::default();
    let (mut searched, mut edges, mut listed) = (0, 0, 0);
    for round in 0..1_500 {
        let (a, b) = (shape(&mut rng), shape(&mut rng));
        let mut rel = meeting(&mut rng, &a, &b);
        let size = a.outer_radius().min(b.outer_radius());
        let pace = size * [1e-7, 1e-4, 1e-2, 0.1][rng.random_range(0..4)];
        let mut hint = None;
        let mut list: Option<Shortlist> = None;
        for step in 0..80 {
            let full = full_search(&a, &b, &rel);
            let from_list = list.zip(hint).and_then(|(list, hint)| {
                list.best_axis(&a, &b, &rel, f64::INFINITY, &hint, &mut Vec::new())
            });
            if let Some(found) = from_list {
                let axis = found.expect("no limit").axis;
                assert!(same(&axis, &full), "{round}/{step}: {axis:?} instead of {full:?}");
                listed += 1;
            }
            for hint in [hint, None] {
                let found = best_axis(&a, &b, &rel, f64::INFINITY, hint, &mut scratch);
                let axis = found.expect("no limit").axis;
                assert!(same(&axis, &full), "{round}/{step}: {axis:?} instead of {full:?}");
            }
            searched += 1;
            edges += usize::from(matches!(full.kind, Kind::Edges(..)));
            // The hint and the list are from this step or an earlier one.
            if step % 8 == 0 {
                let found = best_axis(&a, &b, &rel, f64::INFINITY, None, &mut scratch);
                hint = found.ok().map(|f| f.features);
                list = Shortlist::new(&a, &b, &rel, &full, &Ask::default(), &mut scratch);
            }
            let turn = Quat::from_scaled_axis(unit(&mut rng) * (pace / size));
            rel.rot = turn.to_rotation_matrix().matrix() * rel.rot;
            rel.origin += unit(&mut rng) * pace;
        }
    }
    assert!(searched >= 100_000 && edges > 20_000, "{searched}, {edges} of them edges");
    assert!(listed > 40_000, "{listed} of {searched} by a list");
}

#[test]
fn poses_that_are_not_rigid_still_get_an_answer() {
    let mut rng = Pcg64::seed_from_u64(52);
    let mut scratch = NarrowScratch::default();
    for _ in 0..2000 {
        let (a, b) = (shape(&mut rng), shape(&mut rng));
        let rot = Quat::from_scaled_axis(unit(&mut rng)).to_rotation_matrix();
        let scale = 10f64.powf(rng.random_range(-3.0..3.0));
        let far = 10f64.powf(rng.random_range(-3.0..3.0));
        let rel = Relative { rot: scale * rot.matrix(), origin: unit(&mut rng) * far };
        for i in 0..a.edges().len() {
            let edges = Some([i as u16, rng.random_range(0..b.edges().len()) as u16]);
            let hint = Features { faces: [0, 0], edges };
            let _ = best_axis(&a, &b, &rel, f64::INFINITY, Some(hint), &mut scratch);
        }
    }
}
