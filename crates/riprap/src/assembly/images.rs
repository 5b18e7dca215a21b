//! Images of a periodic cell in a step: where the second body of a contact is, and how much faster its
//! image moves than the body itself. Without a cell, both are those of the body.

use super::contacts::ActiveContact;
use super::{Interval, System};
use crate::detect::Images;
use crate::math::{Lattice, Pose, Vec3};
use crate::scene::{Cell, Scene, Twist};

/// The images of a periodic cell at `q_m` of a step, and the motion of the cell around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepImages {
    lattice: Lattice,
    /// Mean shear rates over a step before and after `q_m` [1/s]. They enter the velocities at the
    /// start and at the end of the step. Being means from one `q_m` to the next, they close gaps exactly.
    rates: [f64; 2],
    /// Change of the shear strain over the step [–].
    strain: f64,
    /// Change of the shear strain from `q_m` to the end of the step [–].
    later: f64,
}

impl StepImages {
    /// The images of a cell in a step.
    pub(super) fn new(cell: &Cell, step: &Interval) -> StepImages {
        let (t, dt) = (step.t_m(), step.dt);
        let rates = [cell.mean_rate(t - dt, dt), cell.mean_rate(t, dt)];
        let later = cell.strain(t + step.after) - cell.strain(t);
        StepImages { lattice: cell.lattice(t), rates, strain: rates[1] * dt, later }
    }

    /// What the detection has to know.
    pub(super) fn detected(&self) -> Images {
        Images { lattice: self.lattice, strain: self.strain }
    }

    /// Height of the nearest image of a body above the body [m], for the vector from the body to the
    /// contact point.
    fn height(&self, d: Vec3) -> f64 {
        self.lattice.nearest(d).y * self.lattice.period().y
    }
}

/// Which velocities are compared: those at the start or at the end of a step, or their mean. It matters
/// only in a sheared cell, whose images move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// `v_n`, the start of the step.
    Start,
    /// `v_free` and `v_{n+1}`, the end of the step.
    End,
    /// The mean of both.
    Mean,
}

impl System {
    /// Starts a step: the images of the scene's periodic cell.
    pub(super) fn place_images(&mut self, scene: &Scene, step: &Interval) {
        self.images = scene.cell().map(|cell| StepImages::new(cell, step));
    }

    /// The vectors from the centres of the two bodies of a contact to its point at `q_m` [m]; in a
    /// periodic cell from the nearest image of the second body.
    #[inline]
    pub fn arms(&self, c: &ActiveContact) -> [Vec3; 2] {
        let [a, mut b] = c.bodies.map(|b| c.point.point - self.q_m[b as usize].position);
        if let Some(images) = &self.images {
            b = images.lattice.reduced(b);
        }
        [a, b]
    }

    /// Velocity of the second body of a contact, or of its nearest image, relative to the first at
    /// their contact point at `q_m` [m/s].
    pub fn relative_velocity(&self, c: &ActiveContact, v: &[Twist], when: Moment) -> Vec3 {
        let arms = self.arms(c);
        let at = |side: usize| {
            let v = &v[c.bodies[side] as usize];
            v.linear + v.angular.cross(&arms[side])
        };
        let relative = at(1) - at(0);
        match &self.images {
            None => relative,
            Some(images) => relative + self.image_velocity(images, c, when),
        }
    }

    /// By how much the nearest image of the second body of a contact is faster than the body [m/s].
    fn image_velocity(&self, images: &StepImages, c: &ActiveContact, when: Moment) -> Vec3 {
        let rate = match when {
            Moment::Start => images.rates[0],
            Moment::End => images.rates[1],
            Moment::Mean => 0.5 * (images.rates[0] + images.rates[1]),
        };
        let d = c.point.point - self.q_m[c.bodies[1] as usize].position;
        Vec3::x() * (rate * images.height(d))
    }

    /// The part of the relative velocity of a contact that is due to the shear of the cell [m/s]; zero
    /// without a cell.
    #[inline]
    pub(crate) fn shear_velocity(&self, c: &ActiveContact, when: Moment) -> Option<Vec3> {
        self.images.as_ref().map(|images| self.image_velocity(images, c, when))
    }

    /// By how much the gap of a contact opens from `q_m` to the configuration `q` at the end of the
    /// step, to first order in the rotation of its normal [m].
    pub(super) fn opening(&self, c: &ActiveContact, q: &[Pose]) -> f64 {
        let moved =
            |b: u32, p: Vec3| q[b as usize].point(self.q_m[b as usize].inverse_point(p)) - p;
        let p = c.point.point;
        let Some(images) = &self.images else {
            return c.point.normal.dot(&(moved(c.bodies[1], p) - moved(c.bodies[0], p)));
        };
        let centre = self.q_m[c.bodies[1] as usize].position;
        let mut second = moved(c.bodies[1], centre + images.lattice.reduced(p - centre));
        second.x += images.later * images.height(p - centre);
        c.point.normal.dot(&(second - moved(c.bodies[0], p)))
    }

    /// The images of the periodic cell at `q_m`.
    pub fn lattice(&self) -> Option<&Lattice> {
        self.images.as_ref().map(|images| &images.lattice)
    }
}
