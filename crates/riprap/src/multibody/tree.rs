//! A tree of bodies in joint coordinates: poses, velocities, mass matrix, bias, and both directions of the dynamics
//! by recursions over the bodies (Sec. 2.4).
//!
//! Everything is written in the axes of the world, about one reference point `o` near the mechanism. Then inertias,
//! forces and accelerations of a branch simply add up on the way to the root, no recursion transforms between
//! frames, and a column of any Jacobian is a few products away from the [`Spatial`] axis of its coordinate.
//!
//! Joints with several coordinates are chains of elementary ones with massless bodies in between; only the spherical
//! joint has three columns at once.

use crate::math::{Mat3, Quat, Vec3, sin_cos, turn};

/// No body: the ground, or the end of a list.
pub(super) const NONE: u32 = u32::MAX;

/// A twist, its time derivative, or a wrench, about the reference point: angular part (or moment) and linear part (or
/// force).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spatial {
    /// Angular velocity or acceleration [rad/s, rad/s²], or moment about the reference point [N m].
    pub angular: Vec3,
    /// Velocity or acceleration of the point of the body at the reference point [m/s, m/s²], or force [N].
    pub linear: Vec3,
}

impl Spatial {
    /// A twist on a wrench, or the other way round: power.
    #[inline]
    pub fn dot(&self, other: &Spatial) -> f64 {
        self.angular.dot(&other.angular) + self.linear.dot(&other.linear)
    }

    /// The rate of a motion that is carried along by this twist.
    #[inline]
    fn cross(&self, motion: &Spatial) -> Spatial {
        Spatial {
            angular: self.angular.cross(&motion.angular),
            linear: self.angular.cross(&motion.linear) + self.linear.cross(&motion.angular),
        }
    }
}

impl Spatial {
    #[inline]
    fn array(&self) -> [f64; 6] {
        let (a, l) = (&self.angular, &self.linear);
        [a.x, a.y, a.z, l.x, l.y, l.z]
    }
}

impl From<[f64; 6]> for Spatial {
    #[inline]
    fn from([ax, ay, az, lx, ly, lz]: [f64; 6]) -> Spatial {
        Spatial { angular: Vec3::new(ax, ay, az), linear: Vec3::new(lx, ly, lz) }
    }
}

impl std::ops::AddAssign for Spatial {
    #[inline]
    fn add_assign(&mut self, other: Spatial) {
        self.angular += other.angular;
        self.linear += other.linear;
    }
}

impl std::ops::SubAssign for Spatial {
    #[inline]
    fn sub_assign(&mut self, other: Spatial) {
        self.angular -= other.angular;
        self.linear -= other.linear;
    }
}

impl std::ops::Add for Spatial {
    type Output = Spatial;
    #[inline]
    fn add(mut self, other: Spatial) -> Spatial {
        self += other;
        self
    }
}

impl std::ops::Sub for Spatial {
    type Output = Spatial;
    #[inline]
    fn sub(mut self, other: Spatial) -> Spatial {
        self -= other;
        self
    }
}

impl std::ops::Mul<f64> for Spatial {
    type Output = Spatial;
    #[inline]
    fn mul(self, factor: f64) -> Spatial {
        Spatial { angular: self.angular * factor, linear: self.linear * factor }
    }
}

/// The elementary joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elementary {
    Revolute,
    Prismatic,
    Spherical,
    Fixed,
}

/// One body and the joint that carries it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub parent: u32,
    pub joint: Elementary,
    /// First coordinate in `q` and first column in `v`.
    pub q: u32,
    pub column: u32,
    /// Last column on the way from the root to this body, its own included.
    pub last_column: u32,
    /// Rotation of the joint in the parent frame as `turn[0] + turn[1] sin q + turn[2] (1 − cos q)`.
    pub turn: [Mat3; 3],
    /// Whether the joint frame has the axes of the parent frame.
    pub straight: bool,
    /// The coordinate axis of the joint frame along which its axis lies, and its sign.
    pub along: Option<(u8, f64)>,
    /// Place of the joint in the parent frame [m].
    pub place: Vec3,
    /// Its axis in the parent frame.
    pub axis: Vec3,
    pub mass: f64,
    /// Centre of mass in the body frame [m].
    pub centre: Vec3,
    /// Inertia about it [kg m²]; the same as `spin − flat[0] flat[0]ᵀ − flat[1] flat[1]ᵀ`.
    pub inertia: Mat3,
    pub spin: f64,
    pub flat: [Vec3; 2],
    /// Whether the body has neither mass nor inertia.
    pub massless: bool,
}

impl Node {
    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self.joint {
            Elementary::Revolute | Elementary::Prismatic => 1,
            Elementary::Spherical => 3,
            Elementary::Fixed => 0,
        }
    }
}

/// A column of `v`: its body and the column before it on the way to the root.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub body: u32,
    pub previous: u32,
    /// Its coordinate in `q`, or [`NONE`] for a column of a spherical joint.
    pub q: u32,
}

/// A joint tree, built by [`super::Mechanism::build`].
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) columns: Vec<Column>,
    pub(super) n_q: usize,
    /// Base frame in the world.
    pub(super) base_rotation: Mat3,
    pub(super) base_position: Vec3,
    pub(super) gravity: Vec3,
    /// The body that the reference point follows.
    pub(super) first: u32,
}

/// A body where it is: mass, centre relative to the reference point, inertia about the centre (xx, yy, zz, xy, xz, yz).
#[derive(Clone, Copy, Debug)]
struct Placed {
    mass: f64,
    centre: Vec3,
    inertia: [f64; 6],
}

impl Placed {
    /// Rate of momentum about the reference point for a twist and an acceleration: `m a_c` and `I α + ω × I ω + c × m a_c`.
    #[inline]
    fn rate(&self, twist: &Spatial, acceleration: &Spatial) -> Spatial {
        let (c, w) = (&self.centre, &twist.angular);
        let force = Tree::acceleration_at(acceleration, twist, c) * self.mass;
        let moment = times_symmetric(&self.inertia, &acceleration.angular)
            + w.cross(&times_symmetric(&self.inertia, w))
            + c.cross(&force);
        Spatial { angular: moment, linear: force }
    }

    /// Its moments about the reference point.
    #[inline]
    fn moments(&self) -> Moments {
        let (c, i) = (&self.centre, &self.inertia);
        let first = c * self.mass;
        let (xx, yy, zz) = (first.x * c.x, first.y * c.y, first.z * c.z);
        let second = [
            i[0] + yy + zz,
            i[1] + xx + zz,
            i[2] + xx + yy,
            i[3] - first.x * c.y,
            i[4] - first.x * c.z,
            i[5] - first.y * c.z,
        ];
        Moments { mass: self.mass, first, second }
    }
}

/// Mass, first and second moments of a body or a branch about the reference point.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    mass: f64,
    first: Vec3,
    /// Upper triangle: xx, yy, zz, xy, xz, yz.
    second: [f64; 6],
}

#[inline]
fn times_symmetric(m: &[f64; 6], x: &Vec3) -> Vec3 {
    Vec3::new(
        m[0] * x.x + m[3] * x.y + m[4] * x.z,
        m[3] * x.x + m[1] * x.y + m[5] * x.z,
        m[4] * x.x + m[5] * x.y + m[2] * x.z,
    )
}

impl Moments {
    /// Momentum of a motion.
    #[inline]
    fn times(&self, motion: &Spatial) -> Spatial {
        Spatial {
            angular: times_symmetric(&self.second, &motion.angular)
                + self.first.cross(&motion.linear),
            linear: motion.linear * self.mass + motion.angular.cross(&self.first),
        }
    }

    #[inline]
    fn add(&mut self, other: &Moments) {
        self.mass += other.mass;
        self.first += other.first;
        for k in 0..6 {
            self.second[k] += other.second[k];
        }
    }
}

/// An articulated inertia: a symmetric 6×6 matrix, angular part first. Both triangles are kept: whole rows are what a processor
/// works on at once.
#[derive(Clone, Copy, Debug, Default)]
struct Articulated([[f64; 6]; 6]);

impl Articulated {
    #[inline]
    fn of(m: &Moments) -> Articulated {
        let ([xx, yy, zz, xy, xz, yz], c, m) = (m.second, &m.first, m.mass);
        Articulated([
            [xx, xy, xz, 0.0, -c.z, c.y],
            [xy, yy, yz, c.z, 0.0, -c.x],
            [xz, yz, zz, -c.y, c.x, 0.0],
            [0.0, c.z, -c.y, m, 0.0, 0.0],
            [-c.z, 0.0, c.x, 0.0, m, 0.0],
            [c.y, -c.x, 0.0, 0.0, 0.0, m],
        ])
    }

    #[inline]
    fn times(&self, motion: &[f64; 6]) -> [f64; 6] {
        let mut force = [0.0; 6];
        for (row, x) in self.0.iter().zip(motion) {
            for k in 0..6 {
                force[k] += row[k] * x;
            }
        }
        force
    }

    #[inline]
    fn add(&mut self, other: &Articulated) {
        for (row, other) in self.0.iter_mut().zip(&other.0) {
            for k in 0..6 {
                row[k] += other[k];
            }
        }
    }

    /// Subtracts `u uᵀ / d`.
    #[inline]
    fn release(&mut self, u: &[f64; 6], inverse_d: f64) {
        for (row, x) in self.0.iter_mut().zip(u) {
            let x = x * inverse_d;
            for k in 0..6 {
                row[k] -= x * u[k];
            }
        }
    }
}

/// A frame turned about its axis `K`, and that axis; `sign` is −1 where the joint turns about the opposite direction.
#[inline]
fn turned<const K: usize>(frame: &Mat3, sign: f64, sin: f64, cos: f64) -> (Mat3, Vec3) {
    let [x, y] = [(K + 1) % 3, (K + 2) % 3].map(|k| frame.column(k).into_owned());
    let mut turned = *frame;
    turned.set_column((K + 1) % 3, &(x * cos + y * (sign * sin)));
    turned.set_column((K + 2) % 3, &(y * cos - x * (sign * sin)));
    (turned, frame.column(K) * sign)
}

/// Everything of a tree at one configuration and velocity that can be computed again.
#[derive(Clone, Debug, Default)]
pub struct TreeScratch {
    /// Rotation of each body frame to the world.
    pub(super) rotation: Vec<Mat3>,
    /// Origin of each body frame relative to the reference point [m], in the axes of the world.
    pub(super) arm: Vec<Vec3>,
    /// The reference point in the world [m], and the base frame's origin relative to it.
    pub(super) origin: Vec3,
    root: Vec3,
    /// Motion per unit of each velocity.
    pub(super) columns: Vec<Spatial>,
    /// Twist of each body.
    pub(super) twist: Vec<Spatial>,
    /// Acceleration of each body while no velocity changes, on a ground that accelerates against gravity.
    pub(super) bias: Vec<Spatial>,
    /// Wrench from outside on each body; cleared by [`Tree::motion`].
    pub(super) wrench: Vec<Spatial>,
    branch: Vec<Moments>,
    articulated: Vec<Articulated>,
    /// What each joint carries.
    pub(super) carried: Vec<Spatial>,
    acceleration: Vec<Spatial>,
    pull: Vec<Spatial>,
    inverse_pivot: Vec<f64>,
    share: Vec<f64>,
    /// Mass matrix `M`, full, by columns.
    pub(super) mass: Vec<f64>,
    /// Bias `c`: `M v̇ + c = τ`.
    pub(super) bias_force: Vec<f64>,
}

impl TreeScratch {
    /// Mass matrix `M` at the last evaluation, both triangles, by columns [kg, kg m, kg m²].
    pub fn mass(&self) -> &[f64] {
        &self.mass
    }

    /// Bias `c` at the last evaluation: `M v̇ + c = τ` [N, N m].
    pub fn bias_force(&self) -> &[f64] {
        &self.bias_force
    }
}

impl Tree {
    /// Number of positions.
    pub fn n_q(&self) -> usize {
        self.n_q
    }

    /// Number of velocities.
    pub fn n_v(&self) -> usize {
        self.columns.len()
    }

    /// Buffers of the right size.
    pub fn scratch(&self) -> TreeScratch {
        let (n, m) = (self.nodes.len(), self.columns.len());
        TreeScratch {
            rotation: vec![Mat3::identity(); n],
            arm: vec![Vec3::zeros(); n],
            origin: Vec3::zeros(),
            root: Vec3::zeros(),
            columns: vec![Spatial::default(); m],
            twist: vec![Spatial::default(); n],
            bias: vec![Spatial::default(); n],
            wrench: vec![Spatial::default(); n],
            branch: vec![Moments::default(); n],
            articulated: vec![Articulated::default(); n],
            carried: vec![Spatial::default(); n],
            acceleration: vec![Spatial::default(); n],
            pull: vec![Spatial::default(); m],
            inverse_pivot: vec![0.0; m],
            share: vec![0.0; m],
            mass: vec![0.0; m * m],
            bias_force: vec![0.0; m],
        }
    }

    /// The quaternion of a spherical joint in `q` (x, y, z, w).
    pub(super) fn quaternion(q: &[f64]) -> Quat {
        Quat::new_unchecked(nalgebra::Quaternion::new(q[3], q[0], q[1], q[2]))
    }

    /// Where the origin of the first body is in the world [m]. Moments are taken about it, so that a machine far from the
    /// world's origin loses no digits.
    fn reference(&self, q: &[f64]) -> Vec3 {
        let (mut r, mut p) = (self.base_rotation, self.base_position);
        // The elements of its joint; those that turn come last.
        for node in self.nodes.iter().take(self.first as usize + 1) {
            p += r * node.place;
            if node.joint == Elementary::Prismatic {
                p += r * (node.axis * q[node.q as usize]);
            }
            if !node.straight {
                r *= node.turn[0];
            }
        }
        p
    }

    /// Poses of all bodies at `q`, and the columns of the Jacobians.
    pub fn kinematics(&self, q: &[f64], w: &mut TreeScratch) {
        w.origin = self.reference(q);
        w.root = self.base_position - w.origin;
        let n = self.nodes.len();
        let (rotation, arm) = (&mut w.rotation[..n], &mut w.arm[..n]);
        let columns = &mut w.columns[..self.columns.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            let (r, p) = match node.parent {
                NONE => (&self.base_rotation, &w.root),
                parent => (&rotation[parent as usize], &arm[parent as usize]),
            };
            let (at, c) = (node.q as usize, node.column as usize);
            let mut p = p + r * node.place;
            let frame = if node.straight { *r } else { r * node.turn[0] };
            rotation[i] = match node.joint {
                Elementary::Revolute => {
                    let (sin, cos) = sin_cos(q[at]);
                    let (turned, axis) = match node.along {
                        Some((0, sign)) => turned::<0>(&frame, sign, sin, cos),
                        Some((1, sign)) => turned::<1>(&frame, sign, sin, cos),
                        Some((_, sign)) => turned::<2>(&frame, sign, sin, cos),
                        None => {
                            let [fixed, sine, cosine] = &node.turn;
                            (r * (fixed + sine * sin + cosine * (1.0 - cos)), r * node.axis)
                        }
                    };
                    columns[c] = Spatial { angular: axis, linear: p.cross(&axis) };
                    turned
                }
                Elementary::Prismatic => {
                    let axis = r * node.axis;
                    p += axis * q[at];
                    columns[c] = Spatial { angular: Vec3::zeros(), linear: axis };
                    frame
                }
                Elementary::Spherical => {
                    let turned = Self::quaternion(&q[at..at + 4]).to_rotation_matrix();
                    let turned = frame * turned.matrix();
                    for k in 0..3 {
                        let axis = turned.column(k).into_owned();
                        columns[c + k] = Spatial { angular: axis, linear: p.cross(&axis) };
                    }
                    turned
                }
                Elementary::Fixed => frame,
            };
            arm[i] = p;
        }
    }

    /// Acceleration of the ground that stands for gravity.
    pub(super) fn ground_bias(&self) -> Spatial {
        Spatial { angular: Vec3::zeros(), linear: -self.gravity }
    }

    /// Twists and bias accelerations of all bodies for the velocities `v`, after [`Tree::kinematics`]. Clears the
    /// wrenches from outside.
    pub fn motion(&self, v: &[f64], w: &mut TreeScratch) {
        let ground = self.ground_bias();
        let n = self.nodes.len();
        let (twist, bias, wrench) = (&mut w.twist[..n], &mut w.bias[..n], &mut w.wrench[..n]);
        for (i, node) in self.nodes.iter().enumerate() {
            let (carrier, drift) = match node.parent {
                NONE => (Spatial::default(), ground),
                parent => (twist[parent as usize], bias[parent as usize]),
            };
            let c = node.column as usize;
            let joint = match node.joint {
                Elementary::Revolute | Elementary::Prismatic => w.columns[c] * v[c],
                Elementary::Spherical => {
                    w.columns[c] * v[c] + w.columns[c + 1] * v[c + 1] + w.columns[c + 2] * v[c + 2]
                }
                Elementary::Fixed => Spatial::default(),
            };
            twist[i] = carrier + joint;
            bias[i] = drift + carrier.cross(&joint);
            wrench[i] = Spatial::default();
        }
    }

    /// Centre and inertia of a body in the axes of the world.
    #[inline]
    fn placed(node: &Node, rotation: &Mat3, arm: &Vec3) -> Placed {
        let (a, b) = (rotation * node.flat[0], rotation * node.flat[1]);
        let spin = node.spin;
        Placed {
            mass: node.mass,
            centre: arm + rotation * node.centre,
            inertia: [
                spin - a.x * a.x - b.x * b.x,
                spin - a.y * a.y - b.y * b.y,
                spin - a.z * a.z - b.z * b.z,
                -a.x * a.y - b.x * b.y,
                -a.x * a.z - b.x * b.z,
                -a.y * a.z - b.y * b.z,
            ],
        }
    }

    /// Mass matrix `M` and bias `c` of `M v̇ + c = τ`, with gravity and the wrenches from outside in `c`; after
    /// [`Tree::motion`].
    pub fn evaluate(&self, w: &mut TreeScratch) {
        let m = self.columns.len();
        for (i, node) in self.nodes.iter().enumerate() {
            if node.massless {
                w.branch[i] = Moments::default();
                w.carried[i] = w.wrench[i] * -1.0;
            } else {
                let body = Self::placed(node, &w.rotation[i], &w.arm[i]);
                w.branch[i] = body.moments();
                w.carried[i] = body.rate(&w.twist[i], &w.bias[i]) - w.wrench[i];
            }
        }
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let (branch, carried) = (w.branch[i], w.carried[i]);
            for c in node.column as usize..node.column as usize + node.columns() {
                let force = branch.times(&w.columns[c]);
                w.bias_force[c] = w.columns[c].dot(&carried);
                let mut row = c;
                loop {
                    let entry = w.columns[row].dot(&force);
                    w.mass[c * m + row] = entry;
                    w.mass[row * m + c] = entry;
                    match self.columns[row].previous {
                        NONE => break,
                        previous => row = previous as usize,
                    }
                }
            }
            if node.parent != NONE {
                let parent = node.parent as usize;
                w.branch[parent].add(&branch);
                w.carried[parent] += carried;
            }
        }
    }

    /// Bias `c` alone, after [`Tree::motion`]: inverse dynamics without acceleration.
    pub fn bias(&self, w: &mut TreeScratch) {
        for (i, node) in self.nodes.iter().enumerate() {
            w.carried[i] = w.wrench[i] * -1.0;
            if !node.massless {
                let body = Self::placed(node, &w.rotation[i], &w.arm[i]);
                w.carried[i] += body.rate(&w.twist[i], &w.bias[i]);
            }
        }
        self.gather(w);
        for (c, column) in self.columns.iter().enumerate() {
            w.bias_force[c] = w.columns[c].dot(&w.carried[column.body as usize]);
        }
    }

    fn gather(&self, w: &mut TreeScratch) {
        for (i, node) in self.nodes.iter().enumerate().rev() {
            if node.parent != NONE {
                let carried = w.carried[i];
                w.carried[node.parent as usize] += carried;
            }
        }
    }

    /// Inverse dynamics, after [`Tree::motion`]: the joint forces `τ = M v̇ + c` for an acceleration. What each joint
    /// carries is then known as well.
    pub fn inverse_dynamics(&self, acceleration: &[f64], w: &mut TreeScratch, force: &mut [f64]) {
        for (i, node) in self.nodes.iter().enumerate() {
            let mut a = match node.parent {
                NONE => Spatial::default(),
                parent => w.acceleration[parent as usize],
            };
            for c in node.column as usize..node.column as usize + node.columns() {
                a += w.columns[c] * acceleration[c];
            }
            w.acceleration[i] = a;
            w.carried[i] = w.wrench[i] * -1.0;
            if !node.massless {
                let total = a + w.bias[i];
                let body = Self::placed(node, &w.rotation[i], &w.arm[i]);
                w.carried[i] += body.rate(&w.twist[i], &total);
            }
        }
        self.gather(w);
        for (c, column) in self.columns.iter().enumerate() {
            force[c] = w.columns[c].dot(&w.carried[column.body as usize]);
        }
    }

    /// Forward dynamics in O(n), after [`Tree::motion`]: the acceleration that the joint forces `τ` and the wrenches
    /// from outside give. `false` where a coordinate has no inertia behind it.
    pub fn forward_dynamics(
        &self,
        force: &[f64],
        w: &mut TreeScratch,
        acceleration: &mut [f64],
    ) -> bool {
        for (i, node) in self.nodes.iter().enumerate() {
            if node.massless {
                w.articulated[i] = Articulated::default();
                w.carried[i] = w.wrench[i] * -1.0;
            } else {
                let body = Self::placed(node, &w.rotation[i], &w.arm[i]);
                w.articulated[i] = Articulated::of(&body.moments());
                w.carried[i] = body.rate(&w.twist[i], &w.bias[i]) - w.wrench[i];
            }
        }
        // From the leaves to the root: release one coordinate after the other.
        let mut regular = true;
        for (i, node) in self.nodes.iter().enumerate().rev() {
            // Parents come before their children.
            let (before, from) = w.articulated.split_at_mut(i);
            let inertia = &mut from[0];
            let mut carried = w.carried[i];
            for c in (node.column as usize..node.column as usize + node.columns()).rev() {
                let s = w.columns[c];
                let u = inertia.times(&s.array());
                let d = s.dot(&Spatial::from(u));
                regular &= d > 0.0;
                let inverse = 1.0 / d;
                let share = force[c] - s.dot(&carried);
                inertia.release(&u, inverse);
                let u = Spatial::from(u);
                carried += u * (share * inverse);
                w.pull[c] = u;
                w.inverse_pivot[c] = inverse;
                w.share[c] = share;
            }
            if node.parent != NONE {
                let parent = node.parent as usize;
                before[parent].add(inertia);
                w.carried[parent] += carried;
            }
        }
        // From the root to the leaves.
        for (i, node) in self.nodes.iter().enumerate() {
            let mut a = match node.parent {
                NONE => Spatial::default(),
                parent => w.acceleration[parent as usize],
            };
            for c in node.column as usize..node.column as usize + node.columns() {
                acceleration[c] = (w.share[c] - w.pull[c].dot(&a)) * w.inverse_pivot[c];
                a += w.columns[c] * acceleration[c];
            }
            w.acceleration[i] = a;
        }
        regular
    }

    /// Moves positions along velocities: `q + h v`, on the unit quaternions where a joint turns freely.
    pub fn integrate(&self, q: &[f64], v: &[f64], dt: f64, out: &mut [f64]) {
        for node in &self.nodes {
            let (at, c) = (node.q as usize, node.column as usize);
            match node.joint {
                Elementary::Revolute | Elementary::Prismatic => out[at] = q[at] + dt * v[c],
                Elementary::Spherical => {
                    let start = Self::quaternion(&q[at..at + 4]);
                    // `turn` takes the angle in the outer frame, the velocity is in the inner one.
                    let angle = start * (Vec3::new(v[c], v[c + 1], v[c + 2]) * dt);
                    let turned = turn(start, angle);
                    out[at..at + 4].copy_from_slice(turned.coords.as_slice());
                }
                Elementary::Fixed => {}
            }
        }
    }

    /// Columns on the way from a body to the root, the outermost first.
    pub(super) fn path(&self, body: u32) -> impl Iterator<Item = usize> + '_ {
        let mut next = if body == NONE { NONE } else { self.nodes[body as usize].last_column };
        std::iter::from_fn(move || {
            if next == NONE {
                return None;
            }
            let c = next as usize;
            next = self.columns[c].previous;
            Some(c)
        })
    }

    /// Point of a body in the world [m]; the ground's frame is the base frame of the mechanism.
    pub(super) fn point(&self, w: &TreeScratch, body: u32, point: &Vec3) -> Vec3 {
        self.arm(w, body, point) + w.origin
    }

    /// The same point relative to the reference point [m].
    pub(super) fn arm(&self, w: &TreeScratch, body: u32, point: &Vec3) -> Vec3 {
        match body {
            NONE => self.base_rotation * point + w.root,
            i => w.rotation[i as usize] * point + w.arm[i as usize],
        }
    }

    /// Rotation of a body frame to the world.
    pub(super) fn rotation(&self, w: &TreeScratch, body: u32) -> Mat3 {
        if body == NONE { self.base_rotation } else { w.rotation[body as usize] }
    }

    /// Twist of a body about the reference point.
    pub(super) fn twist(&self, w: &TreeScratch, body: u32) -> Spatial {
        if body == NONE { Spatial::default() } else { w.twist[body as usize] }
    }

    /// Bias acceleration of a body about the reference point.
    pub(super) fn bias_of(&self, w: &TreeScratch, body: u32) -> Spatial {
        if body == NONE { self.ground_bias() } else { w.bias[body as usize] }
    }

    /// Velocity of a point that moves with a twist [m/s].
    #[inline]
    pub(super) fn velocity_at(twist: &Spatial, arm: &Vec3) -> Vec3 {
        twist.linear + twist.angular.cross(arm)
    }

    /// Acceleration of a point of a body [m/s²] from its spatial acceleration.
    #[inline]
    pub(super) fn acceleration_at(acceleration: &Spatial, twist: &Spatial, arm: &Vec3) -> Vec3 {
        acceleration.linear
            + acceleration.angular.cross(arm)
            + twist.angular.cross(&Self::velocity_at(twist, arm))
    }
}
