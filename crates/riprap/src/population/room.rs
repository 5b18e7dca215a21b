//! What is in the box of an insertion, and whether a ball has room there.

use crate::detect::{Ask, Collider, Geometry, NarrowScratch, PairCache, Placed, narrow_phase};
use crate::grains::CLEARANCE;
use crate::math::{Pose, Vec3};
use crate::scene::{Added, Edit, Insertion, Scene, State};

/// The colliders that reach into the box of an insertion.
pub(super) struct Room {
    near: Vec<(Geometry, Placed)>,
    /// Centres and radii of their bounding spheres [m].
    spheres: Vec<(Vec3, f64)>,
    scratch: NarrowScratch,
}

impl Room {
    /// What reaches into the box of an insertion, without the bodies that leave.
    pub fn of(
        scene: &Scene,
        state: &State,
        leaving: &[Edit],
        added: &Added,
        insertion: &Insertion,
    ) -> Room {
        let mut room = Room { near: Vec::new(), spheres: Vec::new(), scratch: Default::default() };
        let [min, max] = insertion.within;
        let leaves = |slot: usize| leaving.binary_search_by_key(&slot, |e| e.slot).is_ok();
        let radius = &scene.bodies().radius;
        for c in scene.colliders() {
            let slot = c.body as usize;
            let p = state.q[slot].position;
            // Bounding spheres of bodies first: most are far away.
            if apart(p, radius[slot], min, max) || leaves(slot) {
                continue;
            }
            room.put(c, &state.q[slot]);
        }
        added.colliders().for_each(|(c, pose)| room.put(c, pose));
        room
    }

    /// Adds the colliders of a new body.
    pub fn fill(&mut self, colliders: &[Collider], pose: &Pose) {
        colliders.iter().for_each(|c| self.put(c, pose));
    }

    fn put(&mut self, collider: &Collider, pose: &Pose) {
        let placed = Placed::new(collider, pose);
        self.spheres.push((placed.centre, placed.radius));
        self.near.push((collider.geometry.clone(), placed));
    }

    /// Whether a ball, enlarged by [`CLEARANCE`], touches nothing.
    pub fn is_free(&mut self, centre: Vec3, radius: f64) -> bool {
        let radius = CLEARANCE * radius;
        let ball = Placed::ball(centre, radius);
        let near = |sphere: &(Vec3, f64)| {
            let sum = sphere.1 + radius;
            (sphere.0 - centre).norm_squared() <= sum * sum
        };
        for (k, (geometry, placed)) in self.near.iter().enumerate() {
            if !near(&self.spheres[k]) {
                continue;
            }
            let (ask, mut cache) = (Ask::default(), PairCache::default());
            let ball_shape = Geometry::Ball(radius);
            let pair = (geometry, &ball_shape);
            let touch = narrow_phase(pair, (placed, &ball), &ask, &mut cache, &mut self.scratch);
            if touch.is_some() {
                return false;
            }
        }
        true
    }
}

/// Whether a sphere is outside of a box.
fn apart(centre: Vec3, radius: f64, min: Vec3, max: Vec3) -> bool {
    let nearest = centre.sup(&min).inf(&max);
    (centre - nearest).norm_squared() > radius * radius
}
