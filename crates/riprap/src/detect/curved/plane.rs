//! A half-space and a curved shape: the lowest points of its ends, rims and corners.

use super::sides::{rim, tip};
use crate::detect::manifold::{Manifold, ManifoldPoint, thin};
use crate::detect::{Ask, Placed};
use crate::math::Vec3;
use crate::shape::{Core, Curved};

/// Cosine between the axis and the direction downwards above which all of a rim may touch.
const STANDING: f64 = 0.5;

/// The outward normal of the half-space and a point of its surface, and the shape.
pub(super) fn half_space(
    (normal, origin): (Vec3, Vec3),
    (c, placed): (&Curved, &Placed),
    ask: &Ask,
    candidates: &mut Vec<ManifoldPoint>,
) -> Option<Manifold> {
    let n_b = placed.rot.tr_mul(&normal);
    let base = normal.dot(&(placed.origin - origin));
    let separation = base - c.height(-n_b);
    if separation > ask.alert {
        return None;
    }
    candidates.clear();
    let mut add = |x: Vec3, feature: u32| {
        let gap = n_b.dot(&x) + base - c.radius();
        let position = placed.rot * x + placed.origin - normal * (c.radius() + 0.5 * gap);
        candidates.push(ManifoldPoint { position, gap, feature });
    };
    let motion = || placed.rot.tr_mul(&(ask.drift)().at(placed.origin));
    let standing = |up: f64| (up > STANDING).then_some(&motion as &dyn Fn() -> Vec3);
    match c.core() {
        Core::Segment { half } => {
            add(Vec3::new(0.0, 0.0, -half), 0);
            add(Vec3::new(0.0, 0.0, *half), 1);
        }
        Core::Cylinder { radius, half } => {
            rim(-n_b, (*radius, -half), standing(n_b.z), &mut add);
            rim(-n_b, (*radius, *half), standing(-n_b.z), &mut add);
        }
        Core::Cone { radius, half } => {
            rim(-n_b, (*radius, -half), standing(n_b.z), &mut add);
            let (x, id) = tip(*half);
            add(x, id);
        }
        Core::Hull(p) => p.vertices().iter().zip(0..).for_each(|(x, i)| add(*x, i)),
    }
    let mut m = Manifold::new(normal, separation);
    thin(candidates, normal, ask.alert, c.bounds().1, ask.drift, &mut m);
    Some(m)
}
