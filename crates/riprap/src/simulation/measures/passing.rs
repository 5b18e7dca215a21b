//! What happens in single steps: bodies that pass a plane, and impacts.

use super::{Frame, is_free};
use crate::assembly::Moment;
use crate::math::{Lattice, Vec3};
use crate::scene::Body;

/// The mass of free bodies that passes a plane, or a disc in it.
#[derive(Clone, Debug)]
pub struct Flow {
    /// A point of the plane; the centre of the disc [m].
    pub point: Vec3,
    /// Unit normal of the plane, in the direction in which mass counts as positive [–].
    pub normal: Vec3,
    /// Radius of the disc [m]; infinite for a plane.
    pub radius: f64,
    /// Mass that has passed in the direction of the normal, less that in the opposite direction [kg].
    pub mass: f64,
    /// Last step that was added.
    step: u64,
    /// Centre of mass of each body at that step, by its id.
    before: Vec<Option<Vec3>>,
}

impl Flow {
    /// A plane that nothing has passed.
    pub fn new(point: Vec3, normal: Vec3, radius: f64) -> Flow {
        Flow { point, normal, radius, mass: 0.0, step: 0, before: Vec::new() }
    }

    /// Continues with a mass that had passed by the end of a step. The next frame must be the one of
    /// that step.
    pub fn resume(&mut self, step: u64, mass: f64) {
        (self.step, self.mass) = (step, mass);
    }

    /// Adds the bodies whose centre of mass passed the plane in the step that led to a frame. Pieces of
    /// a stone that broke in this step do not count.
    pub fn add(&mut self, frame: &Frame) {
        let (scene, q) = (frame.scene, &frame.state.q);
        let later = frame.state.step > self.step;
        let lattice = scene.lattice(frame.state.t);
        let mut now = vec![None; scene.bodies().slots.len()];
        for i in (0..q.len()).filter(|&i| is_free(frame, i)) {
            let id = scene.body_at(i).0 as usize;
            let before = self.before.get(id).copied().flatten();
            if let Some(from) = before.filter(|_| later) {
                let passes = match &lattice {
                    None => self.passes(from, q[i].position),
                    Some(lattice) => self.passes_in_cell(from, q[i].position, lattice),
                };
                self.mass += passes * scene.bodies().mass[i];
            }
            now[id] = Some(q[i].position);
        }
        (self.before, self.step) = (now, frame.state.step);
    }

    /// The same for the part of the plane within a periodic cell and all images of a move.
    fn passes_in_cell(&self, from: Vec3, to: Vec3, lattice: &Lattice) -> f64 {
        let into = lattice.into_cell(from);
        let images = lattice.around().map(|a| (from + into + a, to + into + a));
        // Images along the normal pass different images of the plane, images across it the same one.
        let across = |k: usize| self.normal[k].abs() < 1.0 - 1e-12;
        let in_cell = |(from, to): &(Vec3, Vec3)| {
            let [a, b] = [from, to].map(|x| self.normal.dot(&(x - self.point)));
            let place = from + (to - from) * (a / (a - b));
            (0..3).filter(|k| across(*k)).all(|k| lattice.contains_along(k, place))
        };
        images.filter(in_cell).map(|(from, to)| self.passes(from, to)).sum()
    }

    /// 1 if a move passes in the direction of the normal, −1 in the opposite direction, otherwise 0.
    fn passes(&self, from: Vec3, to: Vec3) -> f64 {
        let [a, b] = [from, to].map(|x| self.normal.dot(&(x - self.point)));
        if (a < 0.0) == (b < 0.0) {
            return 0.0;
        }
        let place = from + (to - from) * (a / (a - b));
        let sign = if a < 0.0 { 1.0 } else { -1.0 };
        if (place - self.point).norm() <= self.radius { sign } else { 0.0 }
    }
}

/// An impact at a contact point.
#[derive(Clone, Copy, Debug)]
pub struct Impact {
    /// The two bodies.
    pub bodies: [Body; 2],
    /// Contact point [m].
    pub point: Vec3,
    /// Normal impulse [N s].
    pub impulse: f64,
    /// Speed at which the bodies approached each other along the normal before the step [m/s].
    pub speed: f64,
}

/// The impacts of the last step: contacts with an impulse whose bodies approached each other faster
/// than `speed` [m/s]. The impulse is that which keeps them apart, without the adhesive one. For schemes in which an impact takes place in one step, so neither for penalty
/// forces nor for events within a step.
pub fn impacts(frame: &Frame, speed: f64) -> Vec<Impact> {
    let system = &frame.work.system;
    let before = system.v_n();
    let contacts = frame.work.contacts();
    let impact = |(k, (c, r)): (usize, (crate::assembly::ActiveContact<'_>, &[f64; 3]))| {
        let relative = system.relative_velocity(&c, before, Moment::Start);
        let approach = -c.point.normal.dot(&relative);
        let impulse = r[0] + contacts.adhesion(k);
        (impulse > 0.0 && approach > speed).then(|| Impact {
            bodies: c.bodies.map(|slot| frame.scene.body_at(slot as usize)),
            point: c.point.point,
            impulse,
            speed: approach,
        })
    };
    contacts.active().zip(frame.work.impulses()).enumerate().filter_map(impact).collect()
}
