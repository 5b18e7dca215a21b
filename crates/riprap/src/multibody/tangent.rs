//! Tangents of a mechanism in joint coordinates, for implicit schemes: `K = ∂(M v̇ − f)/∂q` and
//! `C = −∂f/∂v` of inertia, gravity, springs, stops, point-to-point elements and laws, and the
//! columns of the Jacobian of a point.
//!
//! At a point that moves with its body, the velocity per unit of column `j` changes with column `l`
//! by `ω_l × u_j` if `l` is not beyond `j` (it carries the axis of `j` along), and by `ω_j × u_l`
//! otherwise (it moves the point relative to the axis).

use super::force::{Control, Inputs, LawForce, PointElement, PointSpring, Target};
use super::system::{Multibody, MultibodyScratch};
use super::tree::{NONE, TangentScratch, Tree, TreeScratch};
use crate::math::Vec3;

/// Velocity of a point of a body per unit of one velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointColumn {
    /// Index of the velocity.
    pub index: usize,
    /// Rank of its joint on the path from the ground: columns of higher rank are carried along.
    pub rank: u32,
    /// Whether its axis stays fixed in the world when columns of the same rank move.
    pub fixed_axes: bool,
    /// Angular velocity [rad/s per unit].
    pub angular: Vec3,
    /// Velocity of the point [m/s per unit].
    pub linear: Vec3,
}

impl PointColumn {
    /// Whether another column of the same body carries this one along.
    fn carried_by(&self, other: &PointColumn) -> bool {
        other.rank < self.rank || other.rank == self.rank && !self.fixed_axes
    }

    /// Change of the angular part per unit of another column of the same body.
    pub fn angular_change(&self, other: &PointColumn) -> Vec3 {
        if self.carried_by(other) { other.angular.cross(&self.angular) } else { Vec3::zeros() }
    }

    /// Change of the linear part, at a point that moves with the body, per unit of another column of
    /// the same body.
    pub fn change(&self, other: &PointColumn) -> Vec3 {
        if self.carried_by(other) {
            other.angular.cross(&self.linear)
        } else {
            self.angular.cross(&other.linear)
        }
    }

    /// Change of the linear part at a point that stays, per unit of another column of the same body.
    pub fn change_here(&self, other: &PointColumn) -> Vec3 {
        self.change(other) - self.angular.cross(&other.linear)
    }
}

/// Row-major matrices to which tangents are added.
struct Sums<'a> {
    n: usize,
    k: &'a mut [f64],
    c: &'a mut [f64],
}

/// A force on a body at a point that moves with it: columns there and the rate of its velocity with
/// each position.
struct End {
    sign: f64,
    columns: Vec<PointColumn>,
    velocity_change: Vec<Vec3>,
}

impl Multibody {
    /// Columns of the velocity of a point in the world [m] that belongs to a body, given by its
    /// node; after [`Tree::kinematics`].
    pub(crate) fn columns_at<'a>(
        &'a self,
        w: &'a MultibodyScratch,
        node: u32,
        point: Vec3,
    ) -> impl Iterator<Item = PointColumn> + 'a {
        columns_at(&self.tree, &w.tree, node, point - w.tree.origin)
    }

    /// The loops.
    pub(crate) fn closures(&self) -> &[super::Closure] {
        &self.closures
    }

    /// Rotation and origin [m] of the frame of a node in the world, after [`Tree::kinematics`].
    pub(crate) fn node_frame(&self, w: &MultibodyScratch, node: u32) -> (crate::math::Mat3, Vec3) {
        (self.tree.rotation(&w.tree, node), self.tree.point(&w.tree, node, &Vec3::zeros()))
    }

    /// The prescribed columns and their motions at a time: column, position, velocity, acceleration.
    pub(crate) fn driven_at(&self, t: f64) -> impl Iterator<Item = (usize, [f64; 3])> + '_ {
        self.driven.iter().map(move |(c, _, motion)| (*c as usize, motion.at(t)))
    }

    /// Node of a body in the tree; the ground has none.
    pub(crate) fn node(&self, link: super::Link) -> u32 {
        if link == super::GROUND { NONE } else { self.node_of[link.0 as usize] }
    }

    /// The residual of the equations of motion without loops and contacts, `M v̇ − f(q, v, t)`
    /// [N, N m], and the mass matrix; after [`Tree::motion`] at the same state.
    pub(crate) fn unbalance(
        &self,
        (q, v, acceleration): (&[f64], &[f64], &[f64]),
        control: &Control,
        t: f64,
        w: &mut MultibodyScratch,
        out: &mut [f64],
    ) {
        let inputs = Inputs { t, q, v, latched: &control.latched };
        self.forces.evaluate(&self.tree, &inputs, control, &mut w.tree, &mut w.applied);
        self.tree.evaluate(&mut w.tree);
        let n = self.n_v();
        for i in 0..n {
            let row = &w.tree.mass[i * n..(i + 1) * n];
            let pull: f64 = row.iter().zip(acceleration).map(|(m, a)| m * a).sum();
            out[i] = pull + w.tree.bias_force[i] - w.applied[i];
        }
    }

    /// Tangents of [`Multibody::unbalance`] at the same state, row-major. Laws are differentiated
    /// numerically with respect to the coordinates they read.
    pub(crate) fn tangents(
        &self,
        (q, v, acceleration): (&[f64], &[f64], &[f64]),
        control: &Control,
        t: f64,
        w: &mut MultibodyScratch,
        x: &mut TangentScratch,
        k: &mut [f64],
        c: &mut [f64],
    ) {
        let n = self.n_v();
        self.tree.inertial_tangents(acceleration, true, &w.tree, x, k, c);
        for (column, at, spring) in &self.forces.springs {
            let i = *column as usize * (n + 1);
            k[i] += if *at == NONE { 0.0 } else { spring.stiffness };
            c[i] += spring.damping;
        }
        for (column, at, stops) in &self.forces.stops {
            let i = *column as usize * (n + 1);
            let (stiffness, damping) = stops.tangents(q[*at as usize], v[*column as usize]);
            k[i] += stiffness;
            c[i] += damping;
        }
        let mut sums = Sums { n, k, c };
        for element in &self.forces.points {
            element_tangents(&self.tree, &w.tree, element, &mut sums);
        }
        if !self.forces.laws.is_empty() {
            let inputs = Inputs { t, q, v, latched: &control.latched };
            for (law, &phase) in self.forces.laws.iter().zip(&control.phase) {
                law_tangents(&self.tree, &w.tree, law, phase, &inputs, &mut sums);
            }
        }
    }
}

fn columns_at<'a>(
    tree: &'a Tree,
    w: &'a TreeScratch,
    node: u32,
    arm: Vec3,
) -> impl Iterator<Item = PointColumn> + 'a {
    tree.path(node).map(move |column| {
        let s = &w.columns[column];
        let rank = tree.columns[column].body;
        PointColumn {
            index: column,
            rank,
            fixed_axes: false,
            angular: s.angular,
            linear: Tree::velocity_at(s, &arm),
        }
    })
}

impl End {
    fn new(tree: &Tree, w: &TreeScratch, node: u32, arm: Vec3, sign: f64) -> End {
        let columns: Vec<PointColumn> = columns_at(tree, w, node, arm).collect();
        let velocity = Tree::velocity_at(&tree.twist(w, node), &arm);
        let velocity_change = columns
            .iter()
            .map(|l| {
                let carrier = tree.twist(w, tree.nodes[l.rank as usize].parent);
                let own = velocity - Tree::velocity_at(&carrier, &arm);
                l.angular.cross(&own) + carrier.angular.cross(&l.linear)
            })
            .collect();
        End { sign, columns, velocity_change }
    }
}

/// Subtracts the derivatives of `Q_j = Σ ± f · u_j` from the sums, with `f` on the second body.
fn element_tangents(tree: &Tree, w: &TreeScratch, element: &PointElement, sums: &mut Sums) {
    let (d, v, pa, pb) = element.seen(tree, w);
    let (force, _) = element.force(d, v);
    let ends = [End::new(tree, w, element.a.0, pa, -1.0), End::new(tree, w, element.b.0, pb, 1.0)];
    let n = sums.n;
    for from in &ends {
        for (l, dv) in from.columns.iter().zip(&from.velocity_change) {
            let change = element.force_change(&d, &v, &(l.linear * from.sign), &(dv * from.sign));
            let rate = element.force_change(&d, &v, &Vec3::zeros(), &(l.linear * from.sign));
            for to in &ends {
                for j in &to.columns {
                    sums.k[j.index * n + l.index] -= to.sign * change.dot(&j.linear);
                    sums.c[j.index * n + l.index] -= to.sign * rate.dot(&j.linear);
                }
            }
            for j in &from.columns {
                sums.k[j.index * n + l.index] -= from.sign * force.dot(&j.change(l));
            }
        }
    }
}

impl PointElement {
    /// Change of the force on the second body with the distance vector and the relative velocity.
    fn force_change(&self, d: &Vec3, v: &Vec3, dd: &Vec3, dv: &Vec3) -> Vec3 {
        match self.spring {
            PointSpring::Bushing { stiffness, damping } => dd * -stiffness - dv * damping,
            PointSpring::Line { stiffness, damping, length } => {
                let now = d.norm();
                if now == 0.0 {
                    return Vec3::zeros();
                }
                let u = d / now;
                let du = (dd - u * u.dot(dd)) / now;
                let push = -stiffness * (now - length) - damping * u.dot(v);
                du * push - u * (stiffness * u.dot(dd) + damping * (du.dot(v) + u.dot(dv)))
            }
        }
    }
}

/// Subtracts the derivatives of the generalized force of a law.
fn law_tangents(
    tree: &Tree,
    w: &TreeScratch,
    law: &LawForce,
    phase: u32,
    inputs: &Inputs,
    sums: &mut Sums,
) {
    let values = &law.phases[phase as usize].values;
    let n = sums.n;
    // Q_j per unit of each component.
    let mut directions: Vec<(usize, usize, f64)> = Vec::new();
    match law.target {
        Target::Column(c) => directions.push((0, c as usize, 1.0)),
        Target::Body { body, point, in_body } => {
            let r = if in_body { tree.rotation(w, body) } else { crate::math::Mat3::identity() };
            let arm = tree.arm(w, body, &point);
            let columns: Vec<PointColumn> = columns_at(tree, w, body, arm).collect();
            for j in &columns {
                for k in 0..3 {
                    directions.push((k, j.index, r.column(k).dot(&j.linear)));
                    directions.push((k + 3, j.index, r.column(k).dot(&j.angular)));
                }
            }
            let value = |k: usize| values.get(k).map_or(0.0, |s| s.at(inputs));
            let force = r * Vec3::new(value(0), value(1), value(2));
            let torque = r * Vec3::new(value(3), value(4), value(5));
            for l in &columns {
                for j in &columns {
                    let mut change = force.dot(&j.change(l)) + torque.dot(&j.angular_change(l));
                    if in_body {
                        change += l.angular.cross(&force).dot(&j.linear)
                            + l.angular.cross(&torque).dot(&j.angular);
                    }
                    sums.k[j.index * n + l.index] -= change;
                }
            }
        }
    }
    for l in 0..n {
        let by_q = difference(tree, values, inputs, l, true);
        let by_v = difference(tree, values, inputs, l, false);
        for &(component, j, share) in &directions {
            sums.k[j * n + l] -= share * by_q.get(component).copied().unwrap_or(0.0);
            sums.c[j * n + l] -= share * by_v.get(component).copied().unwrap_or(0.0);
        }
    }
}

/// Central difference of the components of a law with respect to one position or velocity.
fn difference(
    tree: &Tree,
    values: &[super::Signal],
    inputs: &Inputs,
    column: usize,
    position: bool,
) -> [f64; 6] {
    // The cube root of the rounding unit balances truncation and rounding.
    const STEP: f64 = 6e-6;
    let mut out = [0.0; 6];
    let (mut q, mut v) = (inputs.q.to_vec(), inputs.v.to_vec());
    let mut unit = vec![0.0; v.len()];
    unit[column] = 1.0;
    let step = STEP * (1.0 + if position { 0.0 } else { v[column].abs() });
    for side in [1.0, -1.0] {
        if position {
            tree.integrate(inputs.q, &unit, side * step, &mut q);
        } else {
            v[column] = inputs.v[column] + side * step;
        }
        let moved = Inputs { q: &q, v: &v, ..*inputs };
        for (x, value) in out.iter_mut().zip(values) {
            *x += side * value.at(&moved) / (2.0 * step);
        }
    }
    out
}

#[cfg(test)]
mod tests;
