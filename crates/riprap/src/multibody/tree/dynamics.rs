//! Forces and accelerations of a tree by recursions over its bodies: mass matrix and bias (composite bodies), inverse
//! dynamics (Newton–Euler) and forward dynamics (articulated bodies).

use super::inertia::{Articulated, Moments, Placed};
use super::{NONE, Spatial, Tree, TreeScratch};

impl Tree {
    /// Mass matrix `M` and bias `c` of `M v̇ + c = τ`, with gravity and the external wrenches in
    /// `c`; after [`Tree::motion`].
    pub fn evaluate(&self, w: &mut TreeScratch) {
        let m = self.columns.len();
        for (i, node) in self.nodes.iter().enumerate() {
            if node.massless {
                w.branch[i] = Moments::default();
                w.carried[i] = w.wrench[i] * -1.0;
            } else {
                let body = Placed::new(node, &w.rotation[i], &w.arm[i]);
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
                let body = Placed::new(node, &w.rotation[i], &w.arm[i]);
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

    /// Inverse dynamics, after [`Tree::motion`]: the joint forces `τ = M v̇ + c` for an
    /// acceleration. The wrench carried by each joint is then known as well.
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
                let body = Placed::new(node, &w.rotation[i], &w.arm[i]);
                w.carried[i] += body.rate(&w.twist[i], &total);
            }
        }
        self.gather(w);
        for (c, column) in self.columns.iter().enumerate() {
            force[c] = w.columns[c].dot(&w.carried[column.body as usize]);
        }
    }

    /// Forward dynamics in O(n), after [`Tree::motion`]: the acceleration due to the joint forces
    /// `τ` and the external wrenches. Returns `false` if a coordinate has no inertia.
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
                let body = Placed::new(node, &w.rotation[i], &w.arm[i]);
                w.articulated[i] = Articulated::of(&body.moments());
                w.carried[i] = body.rate(&w.twist[i], &w.bias[i]) - w.wrench[i];
            }
        }
        // From the leaves to the root: release one coordinate after another.
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
}
