//! What is in the box of an insertion, and whether a ball has room there.

use crate::detect::{Ask, Collider, Geometry, NarrowScratch, PairCache, Placed, narrow_phase};
use crate::grains::CLEARANCE;
use crate::math::{Lattice, Pose, Vec3};
use crate::scene::{Added, Edit, Insertion, Scene, State};

/// The colliders that reach into the box of an insertion; in a periodic cell those that have images there.
pub(super) struct Room {
    /// The images of a periodic cell.
    lattice: Option<Lattice>,
    /// Radius of the largest body, and the alert distance [m].
    largest: f64,
    alert: f64,
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
        let radius = &scene.bodies().radius;
        let finite = radius.iter().copied().filter(|r| r.is_finite());
        let mut room = Room {
            lattice: scene.lattice(state.t),
            largest: finite.fold(0.0, f64::max),
            alert: scene.detection().alert,
            near: Vec::new(),
            spheres: Vec::new(),
            scratch: NarrowScratch::default(),
        };
        let [mut min, mut max] = insertion.within;
        if let Some(lattice) = &room.lattice {
            // Images along a period come into the box from anywhere.
            for k in (0..3).filter(|&k| lattice.repeats(k)) {
                (min[k], max[k]) = (f64::NEG_INFINITY, f64::INFINITY);
            }
        }
        let leaves = |slot: usize| leaving.binary_search_by_key(&slot, |e| e.slot).is_ok();
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
        if placed.radius.is_finite() {
            self.largest = self.largest.max(placed.radius);
        }
        self.spheres.push((placed.centre, placed.radius));
        self.near.push((collider.geometry.clone(), placed));
    }

    /// Whether a ball meets itself and every other body through one image only.
    pub fn fits(&self, radius: f64) -> bool {
        let Some(lattice) = &self.lattice else { return true };
        let needed = 2.0 * (self.largest.max(radius) + radius + self.alert);
        (0..3).all(|k| !lattice.repeats(k) || lattice.period()[k] > needed)
    }

    /// Whether a ball, enlarged by [`CLEARANCE`], touches nothing.
    pub fn is_free(&mut self, centre: Vec3, radius: f64) -> bool {
        let radius = CLEARANCE * radius;
        for (k, (geometry, placed)) in self.near.iter().enumerate() {
            let (middle, reach) = self.spheres[k];
            // Half-spaces are parallel to the periods.
            let nearest = match (&self.lattice, geometry) {
                (None, _) | (_, Geometry::HalfSpace(_)) => centre,
                (Some(lattice), _) => middle - lattice.reduced(middle - centre),
            };
            let sum = reach + radius;
            if (middle - nearest).norm_squared() > sum * sum {
                continue;
            }
            let ball = Placed::ball(nearest, radius);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;
    use crate::scene::{BodyDescription, Cell, Insertion, Material, SceneBuilder, Supply, Twist};
    use crate::shape::Shape;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    fn rock() -> Material {
        Material::new("rock").density(2000.0)
    }

    fn everywhere() -> Insertion {
        Insertion::new("feed", Supply::same(Shape::nothing()), &rock()).within([-9.0; 3], [9.0; 3])
    }

    /// Balls, boxes and capsules at random poses; overlaps do not matter here.
    fn crowd(rng: &mut Pcg64, spread: f64) -> SceneBuilder {
        let mut scene = Scene::builder();
        scene.accept_overlap(f64::INFINITY);
        for k in 0..14 {
            let shape = match k % 3 {
                0 => Shape::sphere(0.03).unwrap(),
                1 => Shape::cuboid([0.03, 0.05, 0.02]).unwrap(),
                _ => Shape::capsule(0.015, 0.04).unwrap(),
            };
            let mut vector = || Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0));
            let mut body = BodyDescription::new(shape, &rock());
            body.pose = Pose {
                position: vector() * spread,
                rotation: Quat::from_scaled_axis(vector() * 3.0),
            };
            scene.add(body, &rock());
        }
        scene
    }

    fn room(scene: &Scene, state: &State) -> Room {
        Room::of(scene, state, &[], &Added::default(), &everywhere())
    }

    #[test]
    fn images_take_the_same_room_as_copies_of_all_bodies_around() {
        let mut rng = Pcg64::seed_from_u64(11);
        let (mut free, mut taken) = (0, 0);
        for k in 0..12 {
            let strain = [0.0, 0.3, -0.8, 7.4][k % 4];
            let mut cell = Cell::new().x([-0.2, 0.2]).y([0.1, 0.4]);
            if k % 3 > 0 {
                cell = cell.z([-0.1, 0.2]);
            }
            let mut scene = crowd(&mut rng, 0.7);
            scene.gravity([0.0; 3]).periodic(cell.shear_strain(move |_| strain));
            let scene = scene.build().unwrap();
            let mut state = scene.initial_state();
            state.t = 0.3;
            let mut periodic = room(&scene, &state);
            let lattice = scene.lattice(state.t).unwrap();
            // The same bodies without a cell, and copies of them in all cells that matter.
            let mut copies = room(&scene, &state);
            copies.lattice = None;
            (copies.near, copies.spheres) = (Vec::new(), Vec::new());
            for c in scene.colliders() {
                let pose = state.q[c.body as usize];
                let into = pose.position + lattice.into_cell(pose.position);
                for n in 0..125 {
                    let n = Vec3::new(f64::from(n % 5), f64::from(n / 5 % 5), f64::from(n / 25));
                    let n = n
                        .add_scalar(-2.0)
                        .zip_map(&lattice.period(), |n, period| if period > 0.0 { n } else { 0.0 });
                    let position = into + lattice.vector(n);
                    copies.put(c, &Pose { position, ..pose });
                }
            }
            for _ in 0..150 {
                let place = Vec3::from_fn(|_, _| rng.random_range(-0.8..0.8));
                let found = periodic.is_free(place, 0.02);
                assert_eq!(found, copies.is_free(lattice.wrapped(place), 0.02), "{place}");
                (free, taken) = (free + u32::from(found), taken + u32::from(!found));
            }
        }
        assert!(free > 300 && taken > 150, "{free} {taken}");
    }

    #[test]
    fn without_a_cell_only_what_reaches_into_the_box_is_looked_at() {
        let mut rng = Pcg64::seed_from_u64(2);
        let scene = crowd(&mut rng, 0.2).build().unwrap();
        let state = scene.initial_state();
        let mut all = room(&scene, &state);
        let corner = [Vec3::zeros(), Vec3::repeat(0.1)];
        let some = Insertion { within: corner, ..everywhere() };
        let mut near = Room::of(&scene, &state, &[], &Added::default(), &some);
        assert!(near.near.len() < all.near.len() && all.near.len() == scene.colliders().len());
        for _ in 0..300 {
            // A ball of 1 cm within the box.
            let place = Vec3::from_fn(|_, _| rng.random_range(0.01..0.09));
            assert_eq!(near.is_free(place, 0.009), all.is_free(place, 0.009));
        }
    }

    #[test]
    fn bodies_that_leave_take_no_room() {
        let mut scene = Scene::builder();
        let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock());
        scene.add(ball.clone(), &rock());
        scene.add(ball.at([1.0, 0.0, 0.0]), &rock());
        let scene = scene.build().unwrap();
        let state = scene.initial_state();
        let leaving = [Edit { slot: 0, origin: 0, pieces: Vec::new() }];
        let mut room = Room::of(&scene, &state, &leaving, &Added::default(), &everywhere());
        assert!(room.is_free(Vec3::zeros(), 0.1) && !room.is_free(Vec3::x(), 0.1));
        assert!(!self::room(&scene, &state).is_free(Vec3::zeros(), 0.1));
    }

    #[test]
    fn balls_that_would_meet_through_two_images_do_not_fit() {
        let scene = |cell: Option<Cell>| {
            let mut scene = Scene::builder();
            scene.gravity([0.0; 3]).alert(0.01);
            if let Some(cell) = cell {
                scene.periodic(cell);
            }
            scene.add(BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock()), &rock());
            scene.build().unwrap()
        };
        let fits = |cell: Option<Cell>, radius: f64| {
            let scene = scene(cell);
            room(&scene, &scene.initial_state()).fits(radius)
        };
        let cell = || Some(Cell::new().x([0.0, 0.5]));
        // Twice 0.1 m + r + 0.01 m, or twice 2 r + 0.01 m for larger ones.
        assert!(fits(cell(), 0.1) && fits(cell(), 0.119) && !fits(cell(), 0.121));
        assert!(fits(None, 5.0), "there are no images");
        assert!(fits(Some(Cell::new().z([0.0, 2.0])), 0.4));
    }

    #[test]
    fn a_moving_body_takes_room_where_it_is_at_that_time() {
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        scene.add(BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock()), &rock());
        let scene = scene.build().unwrap();
        let mut state = scene.initial_state();
        state.q[0].position = Vec3::new(3.0, 0.0, 0.0);
        state.v[0] = Twist::default();
        let mut room = room(&scene, &state);
        assert!(room.is_free(Vec3::zeros(), 0.1) && !room.is_free(Vec3::x() * 2.9, 0.1));
        // Touching is decided with some clearance.
        assert!(!room.is_free(Vec3::x() * 2.8, 0.1) && room.is_free(Vec3::x() * 2.799, 0.1));
    }
}
