//! Loop closure by coordinate partitioning (Sec. 2.5): solves `h_B(q) = 0` for the dependent joints
//! and computes their velocities from the independent ones, `v_dep = B v_ind`. Called by every
//! scheme at each of its positions.

use super::MotionError;
use super::closure::Closure;
use super::mechanism::Link;
use super::partition::{DIRECT, Partition, choose};
use super::system::{CLOSED, Closed, Multibody, MultibodyScratch};
use crate::math::Vec3;

/// A partition is chosen again when its conditioning has fallen below this fraction of its initial
/// value.
const WORN: f64 = 0.1;
/// Below this conditioning a position is singular.
const SINGULAR: f64 = 1e-10;
/// Maximum number of Newton iterations.
const ITERATIONS: usize = 30;

impl Multibody {
    /// Computes the residuals of all equations into the scratch; returns the largest [m, –].
    pub(super) fn residual(&self, w: &mut MultibodyScratch) -> f64 {
        for c in &self.closures {
            let rows = c.first_row..c.first_row + c.cut.equations();
            c.residual(&self.tree, &w.tree, &mut w.residual[rows]);
        }
        // NaN must not pass as small.
        w.residual.iter().fold(0.0, |m: f64, x| if x.abs() <= m { m } else { x.abs() })
    }

    /// The largest residual of the loops at positions `q` [m, –]. Leaves the tree's kinematics at `q`.
    pub fn loop_residual(&self, q: &[f64], w: &mut MultibodyScratch) -> f64 {
        self.tree.kinematics(q, &mut w.tree);
        self.residual(w)
    }

    /// `J_B` of all equations, after [`Tree::kinematics`].
    pub(super) fn fill_jacobian(&self, w: &mut MultibodyScratch) {
        let n = self.n_v();
        for c in &self.closures {
            let rows = c.first_row..c.first_row + c.cut.equations();
            c.wrenches(&self.tree, &w.tree, &mut w.wrenches[rows.clone()]);
            for row in rows {
                let wrench = w.wrenches[row];
                for &(column, sign) in &c.path {
                    let column = column as usize;
                    w.jacobian[row * n + column] = sign * wrench.dot(&w.tree.columns[column]);
                }
            }
        }
    }

    /// `J_B`, one row per equation, at the last linearization.
    pub fn loop_jacobian<'a>(&self, w: &'a MultibodyScratch) -> &'a [f64] {
        &w.jacobian
    }

    /// `J̇_B v` per equation at the last evaluation of [`Multibody::dynamics`].
    pub fn loop_drift<'a>(&self, w: &'a MultibodyScratch) -> &'a [f64] {
        &w.drift
    }

    /// Factors `J_dep` at the last kinematics. Returns its conditioning.
    pub(super) fn factor(&self, partition: &Partition, w: &mut MultibodyScratch) -> f64 {
        let (n, r) = (self.n_v(), partition.dependent.len());
        self.fill_jacobian(w);
        let entries = w.lu.reset(r);
        for (i, &row) in partition.rows.iter().enumerate() {
            for (j, &column) in partition.dependent.iter().enumerate() {
                entries[i * r + j] = w.jacobian[row as usize * n + column as usize];
            }
        }
        w.conditioning = w.lu.factor();
        w.conditioning
    }

    /// Sets the prescribed positions for a time.
    pub fn drive(&self, t: f64, q: &mut [f64]) {
        for (_, at, motion) in &self.driven {
            q[*at as usize] = motion.at(t)[0];
        }
    }

    /// Solves `h_B(q) = 0` for the dependent joints, Eq. (16), from the values in `q`. Leaves the tree's kinematics at the
    /// result.
    pub fn close(
        &self,
        partition: &Partition,
        t: f64,
        q: &mut [f64],
        w: &mut MultibodyScratch,
    ) -> Result<Closed, MotionError> {
        self.tree.kinematics(q, &mut w.tree);
        if partition.rows.is_empty() && partition.redundant.is_empty() {
            return Ok(Closed::default());
        }
        let tolerance = CLOSED * self.size;
        let mut residual = self.residual(w);
        let mut iterations = 0;
        // Some digits beyond the tolerance cost little. Near a singular position, where the
        // residual is amplified, iterate down to rounding level.
        while residual > if w.conditioning < 0.05 { 0.0 } else { 0.1 * tolerance } {
            if iterations == ITERATIONS || !residual.is_finite() {
                break;
            }
            if self.factor(partition, w) < SINGULAR && residual > tolerance {
                return Err(self.singular(partition, t, w));
            }
            for (x, &row) in w.column.iter_mut().zip(&partition.rows) {
                *x = -w.residual[row as usize];
            }
            w.lu.solve(&mut w.column[..partition.rows.len()]);
            // A safeguard far from the solution: no joint moves by more than half a radian or half
            // the size in one step, and the step is halved until the residual decreases.
            let largest = partition.dependent.iter().enumerate().fold(0.0_f64, |m, (k, &c)| {
                let unit = if self.angles[c as usize] { 1.0 } else { self.size };
                m.max(w.column[k].abs() / unit)
            });
            let mut share = if largest > 0.5 { 0.5 / largest } else { 1.0 };
            let mut better = false;
            for _ in 0..8 {
                w.step.fill(0.0);
                for (k, &c) in partition.dependent.iter().enumerate() {
                    w.step[c as usize] = w.column[k];
                }
                self.tree.integrate(q, &w.step, share, &mut w.trial);
                self.tree.kinematics(&w.trial, &mut w.tree);
                let now = self.residual(w);
                if now < residual {
                    residual = now;
                    q.copy_from_slice(&w.trial);
                    better = true;
                    break;
                }
                if residual <= 10.0 * tolerance {
                    break;
                }
                share *= 0.5;
            }
            iterations += 1;
            if !better {
                // At rounding level, or stuck.
                self.tree.kinematics(q, &mut w.tree);
                residual = self.residual(w);
                break;
            }
        }
        if residual <= 10.0 * tolerance {
            return Ok(Closed { residual, iterations });
        }
        Err(MotionError::LoopOpen {
            mechanism: self.name.clone(),
            name: self.worst_loop(w),
            t,
            residual,
            iterations,
        })
    }

    /// The loop with the largest residual.
    pub(super) fn worst_loop(&self, w: &MultibodyScratch) -> String {
        let size = |c: &Closure| {
            let rows = c.first_row..c.first_row + c.cut.equations();
            w.residual[rows].iter().fold(0.0, |m: f64, x| if x.abs() <= m { m } else { x.abs() })
        };
        let worst = self.closures.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
        worst.map_or(String::new(), |c| c.name.clone())
    }

    pub(super) fn singular(
        &self,
        partition: &Partition,
        t: f64,
        w: &MultibodyScratch,
    ) -> MotionError {
        let list: Vec<&str> = partition
            .dependent
            .iter()
            .take(6)
            .map(|c| self.coordinate_names[*c as usize].as_str())
            .collect();
        let loops: Vec<&str> = self.closures.iter().map(|c| c.name.as_str()).take(6).collect();
        MotionError::Singular {
            mechanism: self.name.clone(),
            loops: loops.join("`, `"),
            dependent: list.join("`, `"),
            t,
            conditioning: w.conditioning,
        }
    }

    /// Linearizes the loops at the last kinematics: factors `J_dep` and fills `T`, the velocities of all joints per unit
    /// of each independent one: `v_dep = B v_ind`, Eq. (20).
    pub fn linearize(
        &self,
        partition: &Partition,
        t: f64,
        w: &mut MultibodyScratch,
    ) -> Result<(), MotionError> {
        let (n, r) = (self.n_v(), partition.dependent.len());
        if self.factor(partition, w) < SINGULAR {
            return Err(self.singular(partition, t, w));
        }
        for (k, &c) in partition.independent.iter().enumerate() {
            let (column, c) = (&mut w.map[k * n..(k + 1) * n], c as usize);
            column.fill(0.0);
            column[c] = 1.0;
            let mut felt = false;
            for (x, &row) in w.column.iter_mut().zip(&partition.rows) {
                *x = -w.jacobian[row as usize * n + c];
                felt |= *x != 0.0;
            }
            // Joints that carry an entire loop do not move the dependent ones.
            if !felt {
                continue;
            }
            w.lu.solve(&mut w.column[..r]);
            for (x, &d) in w.column.iter().zip(&partition.dependent) {
                column[d as usize] = *x;
            }
        }
        Ok(())
    }

    /// Completes the velocities: prescribed ones from their motion at `t`, dependent ones by `v_dep = B v_ind`, Eq. (20);
    /// after [`Multibody::linearize`].
    pub fn expand(&self, partition: &Partition, t: f64, v: &mut [f64], w: &mut MultibodyScratch) {
        for (c, _, motion) in &self.driven {
            v[*c as usize] = motion.at(t)[1];
        }
        self.expand_dependent(partition, v, w);
    }

    /// `J_dep v_dep = −J_rest v_rest`.
    pub(super) fn expand_dependent(
        &self,
        partition: &Partition,
        v: &mut [f64],
        w: &mut MultibodyScratch,
    ) {
        let (n, r) = (self.n_v(), partition.dependent.len());
        for &d in &partition.dependent {
            v[d as usize] = 0.0;
        }
        for (x, &row) in w.column.iter_mut().zip(&partition.rows) {
            let row = &w.jacobian[row as usize * n..(row as usize + 1) * n];
            *x = -row.iter().zip(&*v).map(|(j, v)| j * v).sum::<f64>();
        }
        w.lu.solve(&mut w.column[..r]);
        for (x, &d) in w.column.iter().zip(&partition.dependent) {
            v[d as usize] = *x;
        }
    }

    /// Chooses the partition again if its conditioning has deteriorated; after
    /// [`Multibody::linearize`] at the state. A partition named by the user is kept. Velocities are
    /// those of all joints, so nothing jumps.
    pub fn renew_partition(&self, partition: &mut Partition, w: &mut MultibodyScratch) -> bool {
        if self.named.is_some() || w.conditioning >= WORN * partition.conditioning {
            return false;
        }
        let mut fresh = self.choose_partition(w, &vec![0; self.n_v()]);
        if fresh.dependent.len() != partition.dependent.len() {
            // Near a singular position fewer equations appear independent: keep the old choice
            // until it is passed.
            return false;
        }
        fresh.conditioning = self.conditioning_of(&fresh, w);
        if fresh.conditioning <= 2.0 * w.conditioning {
            // The position itself is nearly singular; another choice would not help.
            return false;
        }
        *partition = fresh;
        true
    }

    /// Conditioning of a partition at the last kinematics. Overwrites the factors of the last linearization.
    pub(super) fn conditioning_of(&self, partition: &Partition, w: &mut MultibodyScratch) -> f64 {
        let before = w.conditioning;
        let conditioning = self.factor(partition, w);
        w.conditioning = before;
        conditioning
    }

    /// Chooses a partition at the last kinematics, by the rule of [`super::partition`].
    pub(super) fn choose_partition(
        &self,
        w: &mut MultibodyScratch,
        preference: &[u8],
    ) -> Partition {
        let n = self.n_v();
        self.fill_jacobian(w);
        let mut driven = vec![false; n];
        for (c, ..) in &self.driven {
            driven[*c as usize] = true;
        }
        // Dimensionless: lengths relative to the reach of the mechanism, both in the equations and
        // in the coordinates.
        let (mut scaled, reach) = (w.jacobian.clone(), self.reach());
        for closure in &self.closures {
            for equation in 0..closure.cut.equations() {
                let row = (closure.first_row + equation) * n;
                let unit = if closure.cut.is_angle(equation) { 1.0 } else { reach };
                for (x, &angle) in scaled[row..row + n].iter_mut().zip(&self.angles) {
                    *x *= if angle { 1.0 } else { reach } / unit;
                }
            }
        }
        choose(&scaled, self.n_rows, n, preference, &driven, &self.weights)
    }

    /// Marks the columns that move a body: rotations, and translations along `normal` (in the
    /// world; all if it is `None`); after the tree's kinematics.
    pub(crate) fn mark_movers(
        &self,
        w: &MultibodyScratch,
        link: Link,
        normal: Option<Vec3>,
        moves: &mut [bool],
    ) {
        for c in self.tree.path(self.node_of[link.0 as usize]) {
            let along = |n: Vec3| w.tree.columns[c].linear.dot(&n).abs() > 1e-6;
            moves[c] |= self.angles[c] || normal.is_none_or(along);
        }
    }

    /// Chooses the initial partition again so that `direct` columns, in which contacts are direct,
    /// stay independent if the loops allow it. A partition named by the user is kept.
    pub(crate) fn keep_independent(&mut self, direct: &[bool]) {
        for (weight, &direct) in self.weights.iter_mut().zip(direct) {
            *weight = if direct { DIRECT } else { 1.0 };
        }
        if self.named.is_some() || self.closures.is_empty() {
            return;
        }
        let mut w = self.scratch();
        self.tree.kinematics(&self.start.q, &mut w.tree);
        let mut partition = self.choose_partition(&mut w, &vec![0; self.n_v()]);
        partition.conditioning = self.conditioning_of(&partition, &mut w);
        self.assembly = partition.clone();
        self.start.partition = partition;
    }
}

#[cfg(test)]
mod tests;
