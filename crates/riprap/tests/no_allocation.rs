//! A warm step allocates nothing.

use riprap::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on unchanged to the system's allocator; the counter is atomic.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise about `layout` is the one that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `System` through `alloc` above, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_warm_step_of_a_wall_of_boxes_allocates_nothing() {
    // One thread: the pool that other threads need is not part of the step.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let rock = Material::new("rock").density(2700.0).friction(0.6);
        let mut scene = Scene::builder();
        scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock);
        let cube = Shape::cuboid([0.1; 3]).unwrap();
        let ball = Shape::sphere(0.05).unwrap();
        for i in 0..60 {
            let at = [0.1 * f64::from(i % 10), 0.0, 0.05 + 0.1 * f64::from(i / 10)];
            let shape = if i >= 50 { &ball } else { &cube };
            scene.add(BodyDescription::new(shape.clone(), &rock).at(at), &rock);
        }
        let mut run = Simulation::new(scene.build().unwrap(), MoreauJean::new(1e-3)).unwrap();
        for _ in 0..50 {
            run.step().unwrap();
        }
        let before = CALLS.load(Ordering::Relaxed);
        for _ in 0..50 {
            run.step().unwrap();
        }
        assert_eq!(CALLS.load(Ordering::Relaxed) - before, 0);
        assert!(run.report().contacts.1 > 200);
    });
}
