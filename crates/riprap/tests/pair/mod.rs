//! Contact of two shapes in any poses.

use riprap::detect::{
    Ask, Collider, Geometry, Manifold, NarrowScratch, PairCache, Placed, narrow_phase,
};
use riprap::math::Pose;
use riprap::shape::Shape;

pub fn placed(shape: &Shape, pose: &Pose) -> (Geometry, Placed) {
    let geometry = Geometry::of(shape).unwrap();
    let collider = Collider {
        body: 0,
        geometry: geometry.clone(),
        pose: Pose::IDENTITY,
        material: 0,
        movable: true,
    };
    (geometry, Placed::new(&collider, pose))
}

pub fn contact(a: (&Shape, &Pose), b: (&Shape, &Pose), alert: f64) -> Option<Manifold> {
    let ((g, p), (h, q)) = (placed(a.0, a.1), placed(b.0, b.1));
    let ask = Ask { alert, ..Ask::default() };
    let (cache, scratch) = (&mut PairCache::default(), &mut NarrowScratch::default());
    narrow_phase((&g, &h), (&p, &q), &ask, cache, scratch)
}
