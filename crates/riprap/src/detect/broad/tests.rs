//! The neighbour list against a comparison of all pairs.

use super::*;
use crate::detect::testing::{pose, shape, unit};
use crate::detect::{ColliderSet, Method};
use crate::math::{Pose, Twist};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeSet;
use std::sync::Arc;

struct World {
    colliders: Vec<Collider>,
    bodies: Vec<Pose>,
    reach: Vec<f64>,
    motion: Vec<Twist>,
}

impl World {
    /// Balls and stones of sizes from a millimetre to metres, some on one body, some fixed, and a floor.
    fn new(rng: &mut Pcg64, n: usize) -> World {
        let mut colliders = vec![Collider {
            body: 0,
            geometry: Geometry::HalfSpace(Vec3::z()),
            pose: Pose::IDENTITY,
            material: 0,
            movable: false,
        }];
        for k in 1..n as u32 {
            let geometry = if rng.random_range(0..3) == 0 {
                Geometry::Polyhedron(Arc::new(shape(rng)))
            } else {
                Geometry::Ball(0.3 * 2f64.powi(-rng.random_range(0..9)))
            };
            let (body, movable) = (k - u32::from(k % 7 == 3), k % 5 > 0);
            let pose = Pose { position: unit(rng) * 0.1, ..Pose::IDENTITY };
            colliders.push(Collider { body, geometry, pose, material: 0, movable });
        }
        let bodies = (0..n).map(|k| if k == 0 { Pose::IDENTITY } else { pose(rng, 4.0) }).collect();
        let reach = (0..n).map(|_| 0.02 * rng.random_range(0.0f64..1.0).powi(3)).collect();
        World { colliders, bodies, reach, motion: vec![Twist::default(); n] }
    }

    fn query(&self, apart: &'static [(u32, u32)]) -> Query<'_> {
        Query {
            colliders: &self.colliders,
            set: ColliderSet::fresh(),
            bodies: &self.bodies,
            reach: &self.reach,
            motion: &self.motion,
            alert: 0.01,
            skin: 0.02,
            method: Method::SeparatingAxes,
            apart,
            images: None,
        }
    }

    fn placed(&self) -> Vec<Placed> {
        self.colliders.iter().map(|c| Placed::new(c, &self.bodies[c.body as usize])).collect()
    }

    fn reaches(&self) -> Vec<f64> {
        self.colliders.iter().map(|c| self.reach[c.body as usize]).collect()
    }

    /// All pairs that must not be missed: those whose surfaces are within alert distance and reach
    /// of each other.
    fn all_near(&self, placed: &[Placed], widening: f64) -> BTreeSet<u64> {
        let (n, reach) = (placed.len(), self.reaches());
        let mut near = BTreeSet::new();
        for i in 0..n {
            for j in i + 1..n {
                let (a, b) = (&self.colliders[i], &self.colliders[j]);
                if a.body == b.body || !(a.movable || b.movable) {
                    continue;
                }
                let margin = |k: usize| 0.5 * (0.01 + widening) + reach[k];
                let overlap = match (&a.geometry, &b.geometry) {
                    (Geometry::HalfSpace(n), _) => {
                        let height =
                            (placed[i].rot * n).dot(&(placed[j].centre - placed[i].origin));
                        height - placed[j].radius <= margin(i) + margin(j)
                    }
                    _ => {
                        let boxes =
                            [i, j].map(|k| bounding_box(&self.colliders[k], &placed[k], margin(k)));
                        boxes[0].overlaps(&boxes[1])
                    }
                };
                if overlap {
                    near.insert(key(i, j));
                }
            }
        }
        near
    }
}

#[test]
fn the_list_agrees_with_a_comparison_of_all_pairs() {
    let mut rng = Pcg64::seed_from_u64(81);
    for round in 0..20 {
        let world = World::new(&mut rng, 250);
        let (placed, reach) = (world.placed(), world.reaches());
        let mut broad = BroadPhase::default();
        broad.build(&placed, &reach, &world.query(&[]));
        assert!(broad.pairs().is_sorted_by(|a, b| a < b), "each pair once, in order");
        let listed: BTreeSet<u64> = broad.pairs().iter().copied().collect();
        let right = world.all_near(&placed, 0.02);
        assert!(right.len() > 200);
        assert_eq!(listed, right, "round {round}");
    }
}

#[test]
fn as_long_as_the_list_is_valid_no_contact_is_missed() {
    let mut rng = Pcg64::seed_from_u64(82);
    let mut world = World::new(&mut rng, 200);
    let mut broad = BroadPhase::default();
    let reach = world.reaches();
    broad.build(&world.placed(), &reach, &world.query(&[]));
    let mut paths = vec![0.0; world.colliders.len()];
    let mut lasted = 0;
    loop {
        let before = world.placed();
        for q in &mut world.bodies[1..] {
            q.position += unit(&mut rng) * 1e-3;
        }
        let now = world.placed();
        for k in 0..paths.len() {
            paths[k] += (now[k].centre - before[k].centre).norm();
        }
        if !broad.still_valid(&paths, &reach, &world.query(&[])) {
            break;
        }
        lasted += 1;
        let listed: BTreeSet<u64> = broad.pairs().iter().copied().collect();
        assert!(world.all_near(&now, 0.0).is_subset(&listed), "step {lasted}");
    }
    // Half a skin of 20 mm at 1 mm per step; the last step is subject to round-off.
    assert!((9..=10).contains(&lasted), "{lasted}");
}

#[test]
fn a_list_built_for_another_query_is_not_valid() {
    let mut rng = Pcg64::seed_from_u64(83);
    let world = World::new(&mut rng, 50);
    let (placed, reach) = (world.placed(), world.reaches());
    let still = vec![0.0; placed.len()];
    let mut broad = BroadPhase::default();
    assert!(!broad.still_valid(&still, &reach, &world.query(&[])), "no list yet");
    broad.build(&placed, &reach, &world.query(&[]));
    assert!(broad.still_valid(&still, &reach, &world.query(&[])));
    assert!(!broad.still_valid(&still, &reach, &Query { alert: 0.011, ..world.query(&[]) }));
    assert!(!broad.still_valid(&still, &reach, &Query { skin: 0.03, ..world.query(&[]) }));
    let faster: Vec<f64> = reach.iter().map(|r| r + 0.0101).collect();
    assert!(!broad.still_valid(&still, &faster, &world.query(&[])), "more than half the skin");
    assert!(!broad.still_valid(&still[1..], &reach[1..], &world.query(&[])), "one collider fewer");
    broad.forget();
    assert!(!broad.still_valid(&still, &reach, &world.query(&[])));
}

#[test]
fn bodies_that_stay_apart_are_not_listed() {
    let mut rng = Pcg64::seed_from_u64(84);
    let world = World::new(&mut rng, 120);
    let (placed, reach) = (world.placed(), world.reaches());
    let (mut all, mut fewer) = (BroadPhase::default(), BroadPhase::default());
    all.build(&placed, &reach, &world.query(&[]));
    const APART: &[(u32, u32)] =
        &[(0, 1), (0, 4), (0, 8), (0, 9), (0, 11), (0, 13), (0, 14), (0, 16)];
    fewer.build(&placed, &reach, &world.query(APART));
    let bodies = |key: u64| {
        let [i, j] = [(key >> 32) as usize, key as u32 as usize].map(|k| world.colliders[k].body);
        (i.min(j), i.max(j))
    };
    let right: Vec<u64> =
        all.pairs().iter().copied().filter(|key| !APART.contains(&bodies(*key))).collect();
    assert!(right.len() < all.pairs().len());
    assert_eq!(fewer.pairs(), right);
}

#[test]
fn a_level_holds_every_size_up_to_that_of_its_cells() {
    for (extent, level) in [(0.5, 0), (1.0, 0), (1.0001, 1), (2.0, 1), (1000.0, 10), (1e30, 20)] {
        assert_eq!(level_of(extent, 1.0), level, "{extent}");
    }
}
