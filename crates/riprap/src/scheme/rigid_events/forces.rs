//! Parts 3 and 4: the geometry equations (26) of each island of contacts, `a = b + A f`, and their solution under the
//! conditions (27). Collisions have the same form with velocities and impulses.

use super::RigidEvents;
use super::sweeps::{self, EXACT};
use super::touch::{Islands, Touch};
use crate::friction::{
    BlockVelocities, Class, Delassus, Factored, ForceProblem, Friction, InverseMass, Outcome,
    Scratch,
};
use crate::math::{Mat3, Pose, Vec3};
use crate::scene::{HeldClass, Scene, Twist};

/// Sweeps where the pivots ran out, and the residual that is then accepted [–].
const SWEEPS: usize = 3000;
const ENOUGH: f64 = 1e-7;
/// Sliding velocity that has no direction of its own, relative to that at the start of the step [–].
const STOPPED: f64 = 1e-3;

/// One contact of the equations.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Frame and arms.
    pub frame: [Vec3; 3],
    pub arms: [Vec3; 2],
    /// Acceleration or velocity without contact forces.
    pub b: [f64; 3],
    pub friction: Friction,
}

/// Bodies at one configuration.
pub struct Bodies<'a> {
    pub scene: &'a Scene,
    pub inverse_inertia: &'a [Mat3],
}

impl Bodies<'_> {
    pub fn inverse_mass(&self, i: usize) -> InverseMass {
        let j = &self.inverse_inertia[i];
        let angular = [j[(0, 0)], j[(1, 1)], j[(2, 2)], j[(0, 1)], j[(0, 2)], j[(1, 2)]];
        InverseMass { linear: self.scene.bodies().inverse_mass[i], angular }
    }
}

/// Buffers of the equations of one island after another.
#[derive(Default)]
pub struct Equations {
    pub islands: Islands,
    w: Delassus,
    b: Vec<[f64; 3]>,
    friction: Vec<Friction>,
    /// Forces and classes of the contacts of the island.
    pub forces: Vec<[f64; 3]>,
    pub classes: Vec<Class>,
    /// Lists to start from.
    lists: Vec<Class>,
    change: BlockVelocities,
    /// Block of each body in the island, and the bodies of the island.
    block: Vec<u32>,
    bodies: Vec<u32>,
}

/// An island for which no forces were found.
#[derive(Clone, Copy, Debug)]
pub struct Unsolved {
    /// The contact at which no force is consistent, or any contact of the island if the work ran out.
    pub contact: usize,
}

impl Equations {
    /// Solves the equations of an island for the forces of its contacts, starting from those in `touches`, and writes
    /// them there.
    pub fn solve(
        &mut self,
        scheme: &RigidEvents,
        bodies: &Bodies,
        island: usize,
        rows: &[Row],
        touches: &mut [Touch],
        scratch: &mut Scratch,
    ) -> Result<(), Unsolved> {
        let members = std::mem::take(&mut self.islands.members[island]);
        self.assemble(bodies, &members, rows, touches);
        let outcome = self.find(scheme, scratch);
        for (&k, (f, class)) in members.iter().zip(self.forces.iter().zip(&self.classes)) {
            let touch = &mut touches[k as usize];
            touch.force = *f;
            touch.class = match class {
                Class::Breaking => HeldClass::Breaking,
                Class::Static => HeldClass::Static,
                Class::Sliding => HeldClass::Sliding,
            };
        }
        let result = match outcome {
            Outcome::Solved => Ok(()),
            Outcome::Inconsistent { contact } => {
                Err(Unsolved { contact: members[contact] as usize })
            }
            Outcome::Limit => Err(Unsolved { contact: members[0] as usize }),
        };
        self.islands.members[island] = members;
        result
    }

    /// `A` and `b` of an island.
    fn assemble(&mut self, at: &Bodies, members: &[u32], rows: &[Row], touches: &[Touch]) {
        let movable = &at.scene.bodies().movable;
        self.block.resize(movable.len(), Factored::NONE);
        self.bodies.clear();
        for &k in members {
            for body in touches[k as usize].bodies {
                if movable[body] && self.block[body] == Factored::NONE {
                    self.block[body] = self.bodies.len() as u32;
                    self.bodies.push(body as u32);
                }
            }
        }
        let w = self.w.make_factored();
        w.reset(self.bodies.iter().map(|b| at.inverse_mass(*b as usize)));
        self.b.clear();
        self.friction.clear();
        self.forces.clear();
        self.lists.clear();
        for &k in members {
            let (row, touch) = (&rows[k as usize], &touches[k as usize]);
            let blocks = touch.bodies.map(|b| self.block[b]);
            w.push(blocks, row.frame.map(Into::into), row.arms.map(Into::into));
            self.b.push(row.b);
            self.friction.push(row.friction);
            self.forces.push(touch.force);
            self.lists.push(match touch.class {
                HeldClass::Breaking => Class::Breaking,
                HeldClass::Static => Class::Static,
                HeldClass::Sliding => Class::Sliding,
            });
        }
        for body in &self.bodies {
            self.block[*body as usize] = Factored::NONE;
        }
    }

    /// The forces: those of the last solution if they still fit, otherwise by pivots from these forces, then from their
    /// lists, then from the beginning.
    fn find(&mut self, scheme: &RigidEvents, scratch: &mut Scratch) -> Outcome {
        let Equations { w, b, friction, forces, classes, lists, change, .. } = self;
        let problem = ForceProblem { w, b, friction };
        if sweeps::residual(&problem, forces, classes, change) <= EXACT {
            return Outcome::Solved;
        }
        let dantzig = &scheme.dantzig;
        let mut outcome = Outcome::Limit;
        if forces.iter().any(|f| f[0] > 0.0) {
            classes.clone_from(lists);
            outcome = dantzig.resume(&problem, forces, classes, scratch).outcome;
        }
        if outcome != Outcome::Solved {
            classes.clone_from(lists);
            outcome = dantzig.solve(&problem, forces, classes, scratch).outcome;
        }
        if outcome != Outcome::Solved && lists.iter().any(|c| *c != Class::Breaking) {
            classes.clear();
            outcome = dantzig.solve(&problem, forces, classes, scratch).outcome;
        }
        if outcome != Outcome::Solved {
            let left = sweeps::solve(&problem, forces, classes, change, SWEEPS);
            if left <= ENOUGH {
                outcome = Outcome::Solved;
            }
        }
        outcome
    }

    /// Adds `M⁻¹ H f` of the island solved last to the rates of its bodies.
    pub fn add_to(&mut self, out: &mut [Twist]) {
        self.w.velocity_change(&self.forces, &mut self.change);
        for (body, c) in self.bodies.iter().zip(&self.change) {
            let twist = &mut out[*body as usize];
            twist.linear += Vec3::new(c[0], c[1], c[2]);
            twist.angular += Vec3::new(c[3], c[4], c[5]);
        }
    }
}

/// The geometry equation of a contact: acceleration of the second body relative to the first without contact forces,
/// given the accelerations of all bodies without them (17), (24).
pub fn geometry_row(touch: &Touch, (q, v): (&[Pose], &[Twist]), free: &[Twist]) -> Row {
    let place = touch.at(q, v);
    let frame = super::touch::frame(place.normal);
    let arms = touch.bodies.map(|b| place.point - q[b].position);
    let s = touch.velocity(&place, q, v);
    let acceleration = |side: usize| {
        let (b, arm) = (touch.bodies[side], arms[side]);
        free[b].linear
            + free[b].angular.cross(&arm)
            + v[b].angular.cross(&(place.point_rate - v[b].linear))
    };
    let s_rate = acceleration(1) - acceleration(0);
    let mut b = frame.map(|e| e.dot(&s_rate));
    b[0] += place.normal_rate.dot(&s);
    let friction = match touch.slip {
        _ if touch.friction == 0.0 => Friction::None,
        Some(start) => {
            // Against the sliding velocity, unless it turned round or almost vanished within the step: its direction is
            // then that of rounding errors.
            let flat = |x: Vec3| x - frame[0] * frame[0].dot(&x);
            let (now, start) = (flat(s), flat(start));
            let along = if now.dot(&start) > STOPPED * start.norm_squared() { now } else { start };
            let along = along / along.norm();
            let direction = [-frame[1].dot(&along), -frame[2].dot(&along)];
            Friction::Sliding { mu: touch.friction, direction }
        }
        _ => Friction::Static { mu: touch.friction },
    };
    Row { frame, arms, b, friction }
}
