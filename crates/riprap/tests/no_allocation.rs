//! A warm step allocates nothing.

use riprap::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Calls by this thread: tests run in parallel.
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

fn calls() -> usize {
    CALLS.with(Cell::get)
}

// SAFETY: every call is passed on unchanged to the system allocator; the counter is thread-local
// and is created without allocating.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.with(|calls| calls.set(calls.get() + 1));
        // SAFETY: the caller's guarantee about `layout` is the one that `System` requires.
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
    // One thread: the thread pool is not part of the step.
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
        let before = calls();
        for _ in 0..50 {
            run.step().unwrap();
        }
        assert_eq!(calls() - before, 0);
        assert!(run.report().contacts.1 > 200);
    });
}

#[test]
fn a_warm_evaluation_of_a_mechanism_with_a_loop_allocates_nothing() {
    use riprap::multibody::{Axis, Cut, GROUND, Marker, Mechanism, PointSpring};
    use riprap::shape::MassProperties;
    let mut m = Mechanism::new("four-bar");
    let bar = |length: f64| MassProperties::rod([length, 0.0, 0.0], length);
    let crank = m.revolute(GROUND, Axis::Z, [0.0; 3], bar(0.3));
    let coupler = m.revolute(crank, Axis::Z, [0.3, 0.0, 0.0], bar(0.9));
    let rocker = m.revolute(GROUND, Axis::Z, [1.0, 0.0, 0.0], bar(0.7));
    let ends = [(coupler, 0.9), (rocker, 0.7)].map(|(l, x)| Marker::at(l, [x, 0.0, 0.0]));
    m.close_loop("joint", Cut::Hinge, ends[0], ends[1]);
    let spring = PointSpring::Line { stiffness: 100.0, damping: 1.0, length: 0.5 };
    m.point_spring("spring", spring, Marker::at(GROUND, [0.5, 1.0, 0.0]), ends[1]);
    m.start(m.coordinate(crank, 0), 0.5);
    m.guess(m.coordinate(coupler, 0), 0.3);
    m.guess(m.coordinate(rocker, 0), 1.8);
    m.start_velocity(m.coordinate(crank, 0), 2.0);
    let system = m.build([0.0, -9.81, 0.0]).unwrap();
    let (start, mut w) = (system.start(), system.scratch());
    let (mut q, mut v, partition) = (start.q.clone(), start.v.clone(), &start.partition);
    let mut wrenches = Vec::new();
    let mut step = |t: f64| {
        system.tree().integrate(&start.q, &start.v, t, &mut q);
        system.close(partition, t, &mut q, &mut w).unwrap();
        system.linearize(partition, t, &mut w).unwrap();
        system.expand(partition, t, &mut v, &mut w);
        system.dynamics((&q, &v), &start.control, partition, t, None, &mut w).unwrap();
        system.reactions(partition, &mut w);
        system.joint_wrenches(&mut w, &mut wrenches);
    };
    step(0.0);
    let before = calls();
    (0..100).for_each(|k| step(1e-3 * f64::from(k)));
    assert_eq!(calls() - before, 0);
}
