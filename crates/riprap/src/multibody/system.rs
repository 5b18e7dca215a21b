//! A mechanism ready to run: tree, loops and forces together, in minimal form (Sec. 2.5).
//!
//! Joint positions `q` and velocities `v` are kept for all joints; the dependent ones follow the
//! independent ones through the loops: `h_B(q) = 0` by Newton's method, `v_dep = B v_ind`,
//! `v̇_dep = B v̇_ind + b`. Prescribed joints are neither: their motion is known.

use super::closure::{Closure, Cut};
use super::force::{Control, Forces, JointMotion};
use super::joint::Joint;
use super::mechanism::{Coordinate, GROUND, Link, LinkShape};
use super::partition::Partition;
use super::tree::{NONE, Node, Spatial, Tree, TreeScratch};
use crate::math::dense::Lu;
use crate::math::{Pose, Quat, Vec3};
use serde::{Deserialize, Serialize};

/// Loops are closed to this tolerance [m, rad], times the size of the mechanism if that is above 1
/// m.
pub const CLOSED: f64 = 1e-12;

/// A built, immutable mechanism.
#[derive(Clone, Debug)]
pub struct Multibody {
    pub(super) name: String,
    pub(super) tree: Tree,
    pub(super) link_names: Vec<String>,
    pub(super) link_joints: Vec<Joint>,
    pub(super) link_parents: Vec<Link>,
    pub(super) link_columns: Vec<u32>,
    pub(super) node_of: Vec<u32>,
    pub(super) coordinate_names: Vec<String>,
    pub(super) angles: Vec<bool>,
    pub(super) closures: Vec<Closure>,
    pub(super) n_rows: usize,
    /// Prescribed columns: column, coordinate in `q`, motion.
    pub(super) driven: Vec<(u32, u32, JointMotion)>,
    pub(super) forces: Forces,
    /// The dependent columns, if the user named them.
    pub(super) named: Option<Vec<u32>>,
    pub(super) shapes: Vec<LinkShape>,
    /// Characteristic length of the mechanism, at least 1 m [m].
    pub(super) size: f64,
    /// Weights of the columns when a partition is chosen.
    pub(super) weights: Vec<f64>,
    pub(super) start: MultibodyState,
    pub(super) assembly: Partition,
}

/// State of a mechanism: everything needed to resume a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MultibodyState {
    /// Positions of all joints [m, rad]; a spherical joint has its quaternion x, y, z, w.
    pub q: Vec<f64>,
    /// Velocities of all joints [m/s, rad/s].
    pub v: Vec<f64>,
    /// Phases of the laws.
    pub control: Control,
    /// The partition in use.
    pub partition: Partition,
}

/// Data that can be recomputed.
#[derive(Clone, Debug, Default)]
pub struct MultibodyScratch {
    /// The tree at its last configuration.
    pub tree: TreeScratch,
    /// External forces, such as those of contacts, that [`Multibody::dynamics`] adds: body, point
    /// in the world [m], force [N].
    pub pushes: Vec<(Link, Vec3, Vec3)>,
    pub(super) residual: Vec<f64>,
    pub(super) wrenches: Vec<Spatial>,
    /// `J_B`, all equations, row-major.
    pub(super) jacobian: Vec<f64>,
    pub(super) drift: Vec<f64>,
    pub(super) lu: Lu,
    pub(super) column: Vec<f64>,
    pub(super) trial: Vec<f64>,
    pub(super) step: Vec<f64>,
    /// `T`: velocities of all joints per unit of each independent one, column-major.
    pub(super) map: Vec<f64>,
    pub(super) mass_map: Vec<f64>,
    /// `M_red = Tᵀ M T`, then its Cholesky factor in the lower triangle.
    pub(super) reduced_mass: Vec<f64>,
    pub(super) reduced_force: Vec<f64>,
    pub(super) applied: Vec<f64>,
    /// Accelerations of all joints [m/s², rad/s²].
    pub(super) acceleration: Vec<f64>,
    /// Constraint forces of the loops, one per equation [N, N m].
    pub(super) loop_force: Vec<f64>,
    /// Forces required by the prescribed motions [N, N m], in the order of the prescribed joints.
    pub(super) drive_force: Vec<f64>,
    pub(super) conditioning: f64,
}

impl MultibodyScratch {
    /// Cholesky factor of the mass matrix of the independent coordinates, row-major.
    pub fn reduced_factor(&self) -> &[f64] {
        &self.reduced_mass
    }

    /// Residuals of the loops at the last closure, one per equation [m, –].
    pub fn loop_residuals(&self) -> &[f64] {
        &self.residual
    }

    /// Accelerations of all joints [m/s², rad/s²].
    pub fn acceleration(&self) -> &[f64] {
        &self.acceleration
    }

    /// Forces in the cuts of the loops, one per equation [N, N m].
    pub fn loop_forces(&self) -> &[f64] {
        &self.loop_force
    }

    /// Forces required by the prescribed motions [N, N m], in the order of
    /// [`Multibody::driven_coordinates`].
    pub fn drive_forces(&self) -> &[f64] {
        &self.drive_force
    }

    /// Ratio of the smallest pivot to the largest entry of `J_dep` at the last linearization [–].
    pub fn conditioning(&self) -> f64 {
        self.conditioning
    }
}

/// Result of a loop closure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Closed {
    /// Largest residual over all equations [m, –].
    pub residual: f64,
    /// Number of Newton steps.
    pub iterations: usize,
}

impl Multibody {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A characteristic length of the mechanism [m]: the largest distance between joints, centres of
    /// mass and anchors; 1 m if it has none.
    pub fn reach(&self) -> f64 {
        let nodes = self.tree.nodes.iter().flat_map(|n| [n.place.norm(), n.centre.norm()]);
        let cuts = self.closures.iter().flat_map(|c| [c.a.point.norm(), c.b.point.norm()]);
        let springs = self.forces.points.iter().flat_map(|p| [p.a.1.norm(), p.b.1.norm()]);
        let reach = nodes.chain(cuts).chain(springs).fold(0.0, f64::max);
        if reach > 0.0 { reach } else { 1.0 }
    }

    /// Number of positions.
    pub fn n_q(&self) -> usize {
        self.tree.n_q
    }

    /// Number of velocities of the tree.
    pub fn n_v(&self) -> usize {
        self.tree.n_v()
    }

    /// Number of bodies.
    pub fn n_links(&self) -> usize {
        self.link_names.len()
    }

    /// All bodies.
    pub fn links(&self) -> impl Iterator<Item = Link> {
        (0..self.n_links() as u32).map(Link)
    }

    /// Number of equations of the loops, redundant ones included.
    pub fn n_equations(&self) -> usize {
        self.n_rows
    }

    /// Degrees of freedom of a partition: its number of independent coordinates.
    pub fn degrees_of_freedom(&self, partition: &Partition) -> usize {
        partition.independent.len()
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The initial state: loops closed, velocities consistent.
    pub fn start(&self) -> &MultibodyState {
        &self.start
    }

    /// Whether a state belongs to this mechanism: it has the same numbers of positions, velocities,
    /// phases and equations.
    pub fn fits(&self, state: &MultibodyState) -> bool {
        let (start, p) = (&self.start, &state.partition);
        let within = |list: &[u32], n: usize| list.iter().all(|i| (*i as usize) < n);
        state.q.len() == self.n_q()
            && state.v.len() == self.n_v()
            && state.control.phase.len() == self.forces.laws.len()
            && (state.control.phase.iter().zip(&self.forces.laws))
                .all(|(phase, law)| (*phase as usize) < law.phases.len())
            && state.control.latched.len() == start.control.latched.len()
            && p.dependent.len() == p.rows.len()
            && p.independent.len() + p.dependent.len() + self.driven.len() == self.n_v()
            && within(&p.dependent, self.n_v())
            && within(&p.independent, self.n_v())
            && within(&p.rows, self.n_rows)
    }

    /// Buffers of the right size.
    pub fn scratch(&self) -> MultibodyScratch {
        let (n, m) = (self.n_v(), self.n_rows);
        MultibodyScratch {
            tree: self.tree.scratch(),
            pushes: Vec::new(),
            residual: vec![0.0; m],
            wrenches: vec![Spatial::default(); m],
            jacobian: vec![0.0; m * n],
            drift: vec![0.0; m],
            column: vec![0.0; m],
            trial: vec![0.0; self.n_q()],
            step: vec![0.0; n],
            map: vec![0.0; n * n],
            mass_map: vec![0.0; n],
            reduced_mass: vec![0.0; n * n],
            reduced_force: vec![0.0; n],
            applied: vec![0.0; n],
            acceleration: vec![0.0; n],
            loop_force: vec![0.0; m],
            drive_force: vec![0.0; self.driven.len()],
            lu: Lu::default(),
            conditioning: 1.0,
        }
    }

    /// Index of a coordinate in `q`; `None` for a spherical joint.
    pub fn q_of(&self, coordinate: Coordinate) -> Option<usize> {
        let at = self.tree.columns[coordinate.0 as usize].q;
        (at != NONE).then_some(at as usize)
    }

    /// All coordinates.
    pub fn coordinates(&self) -> impl Iterator<Item = Coordinate> {
        (0..self.n_v() as u32).map(Coordinate)
    }

    /// Name of a coordinate.
    pub fn coordinate_name(&self, coordinate: Coordinate) -> &str {
        &self.coordinate_names[coordinate.0 as usize]
    }

    /// Whether a coordinate is an angle [rad] rather than a length [m].
    pub fn is_angle(&self, coordinate: Coordinate) -> bool {
        self.angles[coordinate.0 as usize]
    }

    /// Unit of a coordinate: `rad` or `m`.
    pub fn coordinate_unit(&self, coordinate: Coordinate) -> &'static str {
        if self.is_angle(coordinate) { "rad" } else { "m" }
    }

    /// Unit of the force on a coordinate: `N m` or `N`.
    pub fn force_unit(&self, coordinate: Coordinate) -> &'static str {
        if self.is_angle(coordinate) { "N m" } else { "N" }
    }

    /// Index of the quaternion x, y, z, w of a spherical joint in `q`, for one of its three
    /// coordinates; `None` for others.
    pub fn quaternion_of(&self, coordinate: Coordinate) -> Option<usize> {
        let column = &self.tree.columns[coordinate.0 as usize];
        (column.q == NONE).then(|| self.tree.nodes[column.body as usize].q as usize)
    }

    /// The coordinate with the given name.
    pub fn coordinate_named(&self, name: &str) -> Option<Coordinate> {
        self.coordinate_names.iter().position(|n| n == name).map(|c| Coordinate(c as u32))
    }

    /// The body with the given name.
    pub fn link_named(&self, name: &str) -> Option<Link> {
        self.link_names.iter().position(|n| n == name).map(|l| Link(l as u32))
    }

    /// Name of a body.
    pub fn link_name(&self, link: Link) -> &str {
        if link == GROUND { "ground" } else { &self.link_names[link.0 as usize] }
    }

    /// The joint that carries a body.
    pub fn joint(&self, link: Link) -> Joint {
        self.link_joints[link.0 as usize]
    }

    /// The parent of a body.
    pub fn parent(&self, link: Link) -> Link {
        self.link_parents[link.0 as usize]
    }

    /// First coordinate of the joint that carries a body; the others follow it.
    pub fn first_coordinate(&self, link: Link) -> Coordinate {
        Coordinate(self.link_columns[link.0 as usize])
    }

    /// Mass [kg] of a body.
    pub fn mass(&self, link: Link) -> f64 {
        self.tree.nodes[self.node_of[link.0 as usize] as usize].mass
    }

    /// The coordinates with a prescribed motion.
    pub fn driven_coordinates(&self) -> impl Iterator<Item = Coordinate> + '_ {
        self.driven.iter().map(|(c, ..)| Coordinate(*c))
    }

    /// Names and kinds of the loops.
    pub fn loops(&self) -> impl Iterator<Item = (&str, Cut)> {
        self.closures.iter().map(|c| (c.name.as_str(), c.cut))
    }

    /// The points that each loop closes, in the frames of its two bodies [m].
    pub fn loop_points(&self) -> impl Iterator<Item = (Vec3, Vec3)> + '_ {
        self.closures.iter().map(|closure| (closure.a.point, closure.b.point))
    }

    /// The two bodies of each loop.
    pub fn loop_links(&self) -> impl Iterator<Item = (Link, Link)> + '_ {
        let link = |node: u32| {
            self.node_of.iter().position(|n| *n == node).map_or(GROUND, |i| Link(i as u32))
        };
        self.closures.iter().map(move |c| (link(c.a.body), link(c.b.body)))
    }

    /// Whether impulses can move a body: not if every joint between it and the ground is
    /// prescribed.
    pub fn can_move(&self, link: Link) -> bool {
        let driven = |c: usize| self.driven.iter().any(|(d, ..)| *d as usize == c);
        !self.start.partition.independent.is_empty()
            && self.tree.path(self.node_of[link.0 as usize]).any(|c| !driven(c))
    }

    /// Names of the forces with a law.
    pub fn law_names(&self) -> impl Iterator<Item = &str> {
        self.forces.laws.iter().map(|l| l.name.as_str())
    }

    /// Names of the point-to-point springs.
    pub fn spring_names(&self) -> impl Iterator<Item = &str> {
        self.forces.points.iter().map(|p| p.name.as_str())
    }

    /// The shapes attached to its bodies.
    pub fn shapes(&self) -> &[LinkShape] {
        &self.shapes
    }

    /// Name of the loop and the equation of a row of `J_B`.
    pub fn equation_name(&self, row: usize) -> String {
        for c in &self.closures {
            if (c.first_row..c.first_row + c.cut.equations()).contains(&row) {
                return format!("{}: {}", c.name, c.cut.equation_names()[row - c.first_row]);
            }
        }
        String::new()
    }

    /// Unit of the constraint force of a row of `J_B`: `N` or `N m`.
    pub fn equation_unit(&self, row: usize) -> &'static str {
        for c in &self.closures {
            if (c.first_row..c.first_row + c.cut.equations()).contains(&row) {
                return c.cut.force_unit(row - c.first_row);
            }
        }
        ""
    }

    /// Pose of a body frame in the world, after [`Tree::kinematics`].
    pub fn pose(&self, w: &MultibodyScratch, link: Link) -> Pose {
        let node = if link == GROUND { NONE } else { self.node_of[link.0 as usize] };
        let rotation =
            nalgebra::Rotation3::from_matrix_unchecked(self.tree.rotation(&w.tree, node));
        Pose {
            position: self.tree.point(&w.tree, node, &Vec3::zeros()),
            rotation: Quat::from_rotation_matrix(&rotation),
        }
    }

    /// A point of a body in the world [m] and its velocity [m/s], after [`Tree::motion`].
    pub fn point(&self, w: &MultibodyScratch, link: Link, point: Vec3) -> (Vec3, Vec3) {
        let node = if link == GROUND { NONE } else { self.node_of[link.0 as usize] };
        let arm = self.tree.arm(&w.tree, node, &point);
        let twist = self.tree.twist(&w.tree, node);
        (arm + w.tree.origin, Tree::velocity_at(&twist, &arm))
    }

    /// Angular velocity of a body [rad/s], after [`Tree::motion`].
    pub fn angular_velocity(&self, w: &MultibodyScratch, link: Link) -> Vec3 {
        self.tree.twist(&w.tree, self.node_of[link.0 as usize]).angular
    }

    /// Bias acceleration of a point of a body [m/s²]: `J̇ v`, after [`Tree::motion`].
    pub fn point_bias(&self, w: &MultibodyScratch, link: Link, point: Vec3) -> Vec3 {
        let node = self.node_of[link.0 as usize];
        let arm = self.tree.arm(&w.tree, node, &point);
        let (bias, twist) = (self.tree.bias_of(&w.tree, node), self.tree.twist(&w.tree, node));
        Tree::acceleration_at(&bias, &twist, &arm) + self.tree.gravity
    }

    /// Jacobians of a point of a body: columns of its velocity and of the body's angular velocity per unit of each
    /// velocity; after [`Tree::kinematics`].
    pub fn point_jacobian(
        &self,
        w: &MultibodyScratch,
        link: Link,
        point: Vec3,
        linear: &mut [Vec3],
        angular: &mut [Vec3],
    ) {
        linear.fill(Vec3::zeros());
        angular.fill(Vec3::zeros());
        let node = self.node_of[link.0 as usize];
        let arm = self.tree.arm(&w.tree, node, &point);
        for c in self.tree.path(node) {
            let s = &w.tree.columns[c];
            angular[c] = s.angular;
            linear[c] = Tree::velocity_at(s, &arm);
        }
    }

    /// The phases of the laws at the start of a run that begins at a state.
    pub(crate) fn begin_control(&self, t: f64, q: &[f64], v: &[f64]) -> Control {
        self.forces.begin(t, q, v)
    }

    /// Whether some law has more than one phase, or latches values.
    pub(crate) fn has_phases(&self) -> bool {
        !self.start.control.latched.is_empty()
            || self.forces.laws.iter().any(|law| law.phases.len() > 1)
    }

    /// The coordinates with a prescribed motion, and their indices in `q`.
    pub(crate) fn driven_positions(&self) -> impl Iterator<Item = (Coordinate, usize)> + '_ {
        self.driven.iter().map(|(column, at, _)| (Coordinate(*column), *at as usize))
    }

    /// The prescribed position of a coordinate at a time [m, rad]; 0 if it has none.
    pub(crate) fn drive_at(&self, coordinate: Coordinate, t: f64) -> f64 {
        let motion = self.driven.iter().find(|(column, ..)| *column == coordinate.0);
        motion.map_or(0.0, |(_, _, motion)| motion.at(t)[0])
    }

    /// Advances laws to the phases that are due at the given positions and velocities.
    pub fn switch_control(&self, t: f64, q: &[f64], v: &[f64], control: &mut Control) {
        self.forces.switch(t, q, v, control);
    }

    /// Advances laws to the phases that are due at a state.
    pub fn switch_phases(&self, t: f64, state: &mut MultibodyState) {
        self.forces.switch(t, &state.q, &state.v, &mut state.control);
    }

    /// Whether a law would change its phase at a state.
    pub fn phase_due(&self, t: f64, q: &[f64], v: &[f64], control: &Control) -> bool {
        self.forces.due(t, q, v, control)
    }

    /// The next time at which a phase ends by time [s]; infinite for none.
    pub fn next_phase_time(&self, control: &Control) -> f64 {
        self.forces.next_time(control)
    }

    /// Mass, centre and inertia of a mechanism that consists of a single body on a free joint: it
    /// moves like a free body of the scene.
    pub fn free_body(&self) -> Option<crate::shape::MassProperties> {
        let node = self.tree.nodes.last()?;
        let alone = self.n_links() == 1
            && self.link_joints[0] == Joint::Free
            && self.closures.is_empty()
            && self.driven.is_empty()
            && node.mass > 0.0
            && node.inertia.determinant() > 0.0;
        let Node { mass, centre, inertia, .. } = *node;
        alone.then_some(crate::shape::MassProperties { mass, centre, inertia })
    }

    /// Sets the coordinates of a mechanism that is a free body from the pose of its frame in the world, the velocity of that
    /// frame's origin [m/s] and its angular velocity [rad/s].
    pub fn set_free_body(
        &self,
        pose: &Pose,
        velocity: Vec3,
        spin: Vec3,
        state: &mut MultibodyState,
    ) {
        let first = &self.tree.nodes[0];
        let base = self.tree.base_rotation * first.turn[0];
        let origin = self.tree.base_rotation * first.place + self.tree.base_position;
        let position = base.tr_mul(&(pose.position - origin));
        let turned = nalgebra::Rotation3::from_matrix_unchecked(base);
        let rotation = Quat::from_rotation_matrix(&turned).inverse() * pose.rotation;
        let (linear, angular) = (base.tr_mul(&velocity), pose.inverse_vector(spin));
        state.q.clear();
        state.q.extend(position.iter().chain(rotation.coords.iter()));
        state.v.clear();
        state.v.extend(linear.iter().chain(angular.iter()));
    }

    /// Quoted names of columns.
    pub fn names(&self, columns: &[u32]) -> String {
        let names: Vec<String> =
            columns.iter().map(|c| format!("`{}`", self.coordinate_names[*c as usize])).collect();
        names.join(", ")
    }
}

#[cfg(test)]
mod tests;
