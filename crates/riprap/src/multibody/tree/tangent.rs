//! Derivatives of the inverse dynamics of a tree, `τ = M v̇ + c`, with respect to positions and
//! velocities.
//!
//! A change of coordinate `k` carries the branch beyond it along its axis `S_k`. Everything that
//! moves with the branch (inertias, axes, and the motion relative to the body `p` that carries the
//! joint) contributes nothing to forces within the branch; what remains are the terms of the motion
//! of `p`, with `η = v_p × S_k`:
//! `δf_i = I_i (a_p × S_k + η × (v_i − v_p)) + η ×* I_i v_i + v_i ×* I_i η`.

use super::inertia::{Moments, Placed};
use super::{NONE, Spatial, Tree, TreeScratch};

/// Buffers of the derivatives.
#[derive(Clone, Debug, Default)]
pub struct TangentScratch {
    inertia: Vec<Moments>,
    momentum: Vec<Spatial>,
    /// Acceleration of each body, gravity included.
    total: Vec<Spatial>,
    /// Rate of momentum of the branch beyond each joint.
    carried: Vec<Spatial>,
    by_position: Vec<Spatial>,
    by_velocity: Vec<Spatial>,
    beyond: Vec<bool>,
}

impl Tree {
    /// `∂(M v̇ + c)/∂q` and `∂(M v̇ + c)/∂v` without the external wrenches, row-major; after
    /// [`Tree::motion`]. Positions change by the increments of [`Tree::integrate`]. Without
    /// `gravity` it is the derivative of inertial forces alone.
    pub fn inertial_tangents(
        &self,
        acceleration: &[f64],
        gravity: bool,
        w: &TreeScratch,
        x: &mut TangentScratch,
        by_q: &mut [f64],
        by_v: &mut [f64],
    ) {
        self.prepare(acceleration, gravity, w, x);
        let n = self.columns.len();
        by_q[..n * n].fill(0.0);
        by_v[..n * n].fill(0.0);
        for (k, column) in self.columns.iter().enumerate() {
            self.vary(k, gravity, w, x);
            let first = column.body as usize;
            let s = &w.columns[k];
            let turned = s.cross_force(&x.carried[first]) + x.by_position[first];
            for (j, other) in self.columns.iter().enumerate() {
                let node = other.body as usize;
                if x.beyond[node] {
                    by_q[j * n + k] = w.columns[j].dot(&x.by_position[node]);
                    by_v[j * n + k] = w.columns[j].dot(&x.by_velocity[node]);
                } else if self.carries(node, first) {
                    by_q[j * n + k] = w.columns[j].dot(&turned);
                    by_v[j * n + k] = w.columns[j].dot(&x.by_velocity[first]);
                }
            }
        }
    }

    /// Inertias, accelerations and carried forces at the given accelerations of the joints.
    fn prepare(
        &self,
        acceleration: &[f64],
        gravity: bool,
        w: &TreeScratch,
        x: &mut TangentScratch,
    ) {
        let n = self.nodes.len();
        x.inertia.resize(n, Moments::default());
        for list in [&mut x.momentum, &mut x.total, &mut x.carried] {
            list.resize(n, Spatial::default());
        }
        x.by_position.resize(n, Spatial::default());
        x.by_velocity.resize(n, Spatial::default());
        x.beyond.resize(n, false);
        let shift = if gravity { Spatial::default() } else { self.ground_bias() };
        for (i, node) in self.nodes.iter().enumerate() {
            // Of the joints alone; the bias is added below.
            let mut a = match node.parent {
                NONE => Spatial::default(),
                parent => x.total[parent as usize] - (w.bias[parent as usize] - shift),
            };
            for c in node.column as usize..node.column as usize + node.columns() {
                a += w.columns[c] * acceleration[c];
            }
            x.total[i] = a + (w.bias[i] - shift);
            if node.massless {
                x.inertia[i] = Moments::default();
                x.momentum[i] = Spatial::default();
                x.carried[i] = Spatial::default();
            } else {
                let body = Placed::new(node, &w.rotation[i], &w.arm[i]);
                x.inertia[i] = body.moments();
                x.momentum[i] = x.inertia[i].times(&w.twist[i]);
                x.carried[i] = body.rate(&w.twist[i], &x.total[i]);
            }
        }
        for i in (0..n).rev() {
            if self.nodes[i].parent != NONE {
                let carried = x.carried[i];
                x.carried[self.nodes[i].parent as usize] += carried;
            }
        }
    }

    /// Changes of the forces of the branch beyond column `k` per unit of its position and velocity,
    /// summed towards its joint.
    fn vary(&self, k: usize, gravity: bool, w: &TreeScratch, x: &mut TangentScratch) {
        let (s, first) = (w.columns[k], self.columns[k].body as usize);
        let (v_p, a_p) = match self.nodes[first].parent {
            NONE if gravity => (Spatial::default(), self.ground_bias()),
            NONE => (Spatial::default(), Spatial::default()),
            parent => (w.twist[parent as usize], x.total[parent as usize]),
        };
        let (eta, base) = (v_p.cross(&s), a_p.cross(&s));
        x.beyond[..first].fill(false);
        for i in first..self.nodes.len() {
            let parent = self.nodes[i].parent;
            x.beyond[i] = i == first || parent != NONE && x.beyond[parent as usize];
            if !x.beyond[i] {
                continue;
            }
            (x.by_position[i], x.by_velocity[i]) = Default::default();
            if self.nodes[i].massless {
                continue;
            }
            let (inertia, v, p) = (&x.inertia[i], &w.twist[i], &x.momentum[i]);
            let da = base + eta.cross(&(*v - v_p));
            x.by_position[i] =
                inertia.times(&da) + eta.cross_force(p) + v.cross_force(&inertia.times(&eta));
            let da = eta + s.cross(&(*v - w.twist[first]));
            x.by_velocity[i] =
                inertia.times(&da) + s.cross_force(p) + v.cross_force(&inertia.times(&s));
        }
        for i in (first + 1..self.nodes.len()).rev().filter(|&i| x.beyond[i]) {
            let parent = self.nodes[i].parent as usize;
            let (q, v) = (x.by_position[i], x.by_velocity[i]);
            x.by_position[parent] += q;
            x.by_velocity[parent] += v;
        }
    }

    /// Whether a body is on the path from another one to the root.
    fn carries(&self, node: usize, other: usize) -> bool {
        let mut at = other as u32;
        while at != NONE && at as usize > node {
            at = self.nodes[at as usize].parent;
        }
        at as usize == node
    }
}
