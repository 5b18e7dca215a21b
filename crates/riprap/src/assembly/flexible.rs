//! The flexible bodies of a scene during one step, and their part in the contact problem.
//!
//! Their forces are taken implicitly, so that steps may be longer than the time a wave needs through an element
//! (bruls2014, Eq. 50). With `v_θ = (1−θ) v_n + θ v` and `q_θ = q_n + θ h v_θ`, the velocity without contact solves
//!
//! `M (v_free − v_n) = h f(q_θ, v_θ)`,
//!
//! by Newton's method with `M̂ = M + θ h C + (θ h)² K`; for bars, which are linear, one step is exact. Impulses change it by
//! `M̂⁻¹ H I`. A flexible body is one group of blocks in the contact problem.

use super::ropes::Pull;
use super::{Interval, SystemError};
use crate::flexible::{Structure, StructureState};
use crate::friction::Factored;
use crate::math::tridiagonal::{Tridiagonal, TridiagonalLu};
use crate::math::{Pose, Vec3};
use crate::scene::{Scene, State, Twist};

/// Most iterations of Newton's method.
const MAX_ITERATIONS: usize = 30;

/// Newton's method ends when the kinetic energy of an increment is below this fraction of that of the motion [–].
const CONVERGED: f64 = 1e-24;

/// One flexible body at the configuration `q_m` of a step.
#[derive(Debug, Default)]
struct Moving {
    q_m: Vec<Pose>,
    v_free: Vec<f64>,
    /// Where forces are evaluated: `q_θ`, `v_θ`.
    q: Vec<Pose>,
    v: Vec<f64>,
    force: Vec<f64>,
    increment: Vec<f64>,
    stiffness: Tridiagonal,
    damping: Tridiagonal,
    /// `M̂`, factored.
    matrix: Tridiagonal,
    lu: TridiagonalLu,
    /// `θ h` for which a linear body is factored [s].
    factored: Option<f64>,
    /// The symmetric part of `M̂`, factored: with it `W` is symmetric.
    symmetric: TridiagonalLu,
    /// Whether `symmetric` belongs to this step.
    is_symmetric: bool,
    /// First of its blocks in the contact problem.
    first_block: u32,
    n_blocks: usize,
}

/// All flexible bodies of a scene during one step.
#[derive(Debug, Default)]
pub(super) struct FlexibleBodies {
    moving: Vec<Moving>,
    rows: Vec<f64>,
    solved: Vec<f64>,
}

/// A side of a contact or joint on a flexible body: which one, its node, and the sign of the impulse.
pub(super) type NodeSide = (usize, usize, f64);

/// What moves at a side: a point, or the rotation of the section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Moves {
    /// The velocity at a point [m].
    At(Vec3),
    /// The angular velocity.
    Spin,
}

impl FlexibleBodies {
    /// Predicts `q_m` along `v_n` (29), and places the nodes accordingly.
    pub fn predict(&mut self, scene: &Scene, state: &State, step: &Interval, q_m: &mut [Pose]) {
        if self.moving.len() != scene.flexible().len() {
            self.moving.clear();
            self.moving.resize_with(scene.flexible().len(), Moving::default);
        }
        for (k, (body, m)) in scene.flexible().iter().zip(&mut self.moving).enumerate() {
            let old = &state.flexible[k];
            m.v.clear();
            m.v.extend(old.v.iter().map(|v| v * step.before));
            body.integrate(&old.q, &m.v, &mut m.q_m);
            q_m[scene.nodes_of(k)].copy_from_slice(&m.q_m);
        }
    }

    /// Velocities without contact, and those of the nodes at `q_m`: initial and without contact.
    pub fn free_motion(
        &mut self,
        scene: &Scene,
        state: &State,
        step: &Interval,
        v_n: &mut [Twist],
        v_free: &mut [Twist],
    ) -> Result<(), SystemError> {
        for (k, (body, m)) in scene.flexible().iter().zip(&mut self.moving).enumerate() {
            let old = &state.flexible[k];
            m.is_symmetric = false;
            if !m.free_motion(body, old, step) {
                let body = body.name().to_owned();
                return Err(SystemError::Flexible { body, t: step.t_next });
            }
            for (node, i) in scene.nodes_of(k).enumerate() {
                v_n[i] = body.node_twist(&m.q_m, &old.v, node);
                v_free[i] = body.node_twist(&m.q_m, &m.v_free, node);
            }
        }
        Ok(())
    }

    /// Assigns every flexible body its blocks in the contact problem, from `first` on, and returns their number.
    pub fn assign_blocks(&mut self, scene: &Scene, first: u32) -> usize {
        let mut next = first;
        for (body, m) in scene.flexible().iter().zip(&mut self.moving) {
            m.first_block = next;
            m.n_blocks = body.n_v().div_ceil(6);
            next += m.n_blocks as u32;
        }
        (next - first) as usize
    }

    /// Adds to contact `contact` of `w` its sides on flexible bodies: rows of `Hᵀ` and of `(M̂⁻¹ H)ᵀ`. `axes` are the
    /// directions of the three equations.
    pub fn push_sides(
        &mut self,
        scene: &Scene,
        sides: &[Option<NodeSide>; 2],
        moves: Moves,
        axes: &[Vec3; 3],
        contact: usize,
        w: &mut Factored,
    ) {
        for (k, side) in sides.iter().enumerate() {
            let Some((flexible, node, sign)) = *side else { continue };
            let other = sides[1 - k].filter(|o| o.0 == flexible);
            // Two nodes of one body form one side.
            if k == 1 && other.is_some() {
                continue;
            }
            let (body, m) = (&scene.flexible()[flexible], &mut self.moving[flexible]);
            let width = 6 * m.n_blocks;
            self.rows.clear();
            self.rows.resize(3 * width, 0.0);
            let sides = [Some((flexible, node, sign)), other];
            let mut first_node = body.n_nodes();
            for (_, node, sign) in sides.into_iter().flatten() {
                first_node = first_node.min(node);
                m.add_rows(body, node, sign, moves, axes, width, &mut self.rows);
            }
            if self.rows.iter().all(|x| *x == 0.0) {
                continue;
            }
            m.make_symmetric(body);
            self.solved.clone_from(&self.rows);
            for column in self.solved.chunks_exact_mut(width) {
                m.contact_lu(body).solve_from(first_node, &mut column[..body.n_v()]);
            }
            w.push_rows_to(contact, m.first_block, &self.rows, &self.solved);
        }
    }

    /// Adds to row `row` of `w` the side of a rope on a flexible body: in its first equation the
    /// velocities of points along given vectors, summed.
    pub fn push_pulls<'a>(
        &mut self,
        scene: &Scene,
        flexible: usize,
        pulls: impl Iterator<Item = &'a Pull>,
        row: usize,
        w: &mut Factored,
    ) {
        let (body, m) = (&scene.flexible()[flexible], &mut self.moving[flexible]);
        let width = 6 * m.n_blocks;
        self.rows.clear();
        self.rows.resize(3 * width, 0.0);
        let mut first_node = body.n_nodes();
        for p in pulls {
            let Some((_, node)) = scene.node_at(p.body) else { continue };
            first_node = first_node.min(node);
            let (axes, moves) = ([p.along, Vec3::zeros(), Vec3::zeros()], Moves::At(p.point));
            m.add_rows(body, node, 1.0, moves, &axes, width, &mut self.rows);
        }
        if self.rows.iter().all(|x| *x == 0.0) {
            return;
        }
        m.make_symmetric(body);
        self.solved.clone_from(&self.rows);
        m.contact_lu(body).solve_from(first_node, &mut self.solved[..body.n_v()]);
        w.push_rows_to(row, m.first_block, &self.rows, &self.solved);
    }

    /// End of the step: `v = v_free + M̂⁻¹ H I`, `q` from `q_m` along `v` (28), (30). Places the nodes.
    pub fn finish(
        &mut self,
        scene: &Scene,
        step: &Interval,
        change: &[[f64; 6]],
        next: &mut State,
    ) {
        next.flexible.resize_with(self.moving.len(), StructureState::default);
        for (k, (body, m)) in scene.flexible().iter().zip(&mut self.moving).enumerate() {
            let new = &mut next.flexible[k];
            new.v.clone_from(&m.v_free);
            if !change.is_empty() {
                let first = m.first_block as usize;
                let change = change[first..first + m.n_blocks].as_flattened();
                new.v.iter_mut().zip(change).for_each(|(v, change)| *v += change);
            }
            m.v.clear();
            m.v.extend(new.v.iter().map(|v| v * step.after));
            body.integrate(&m.q_m, &m.v, &mut new.q);
            for (node, i) in scene.nodes_of(k).enumerate() {
                next.q[i] = new.q[node];
                next.v[i] = body.node_twist(&new.q, &new.v, node);
            }
        }
    }
}

/// Twice the kinetic energy of velocities that move no node by more than the rounding of its position [J]: of a body at
/// rest, nothing but such increments remains.
fn rounding(body: &Structure, old: &StructureState, step: &Interval) -> f64 {
    let farthest = old.q.iter().fold(body.reach(), |most, q| most.max(q.position.norm()));
    body.total_mass() * (f64::EPSILON * farthest / step.after).powi(2)
}

impl Moving {
    /// Solves `M (v_free − v_n) = h f(q_θ, v_θ)`. False if Newton's method does not converge.
    fn free_motion(&mut self, body: &Structure, old: &StructureState, step: &Interval) -> bool {
        let theta = step.after / step.dt;
        self.v_free.clone_from(&old.v);
        self.force.resize(body.n_v(), 0.0);
        self.increment.resize(body.n_v(), 0.0);
        let rounding = rounding(body, old, step);
        let mut last = f64::INFINITY;
        for _ in 0..MAX_ITERATIONS {
            // v_θ and q_θ, for the current v.
            self.v.clear();
            let between = old.v.iter().zip(&self.v_free);
            self.v.extend(between.map(|(old, new)| old + theta * (new - old)));
            self.increment.clear();
            self.increment.extend(self.v.iter().map(|v| v * step.after));
            body.integrate(&old.q, &self.increment, &mut self.q);

            // Residual: h f − M (v − v_n).
            body.force(&self.q, &self.v, &mut self.force);
            self.increment.clear();
            self.increment.extend(old.v.iter().zip(&self.v_free).map(|(old, new)| old - new));
            self.force.iter_mut().for_each(|f| *f *= step.dt);
            body.mass().multiply_add(&self.increment, 1.0, &mut self.force);
            for (f, _) in self.force.iter_mut().zip(body.held()).filter(|(_, held)| **held) {
                *f = 0.0;
            }
            if !self.factor(body, step) {
                return false;
            }
            self.lu.solve(&mut self.force);
            for (v, dv) in self.v_free.iter_mut().zip(&self.force) {
                *v += dv;
            }
            if body.is_linear() {
                return true;
            }
            let size = self.energy_of(body, false);
            let scale = self.energy_of(body, true);
            // Rounding of stiff forces can prevent the last digits: then increments no longer shrink.
            let small = size <= (1e-12 * scale).max(rounding);
            if size <= CONVERGED * scale || size >= 0.25 * last && small {
                return true;
            }
            if !size.is_finite() {
                return false;
            }
            last = size;
        }
        last <= rounding
    }

    /// Twice the kinetic energy of the velocity without contact, or of the last increment [J].
    fn energy_of(&mut self, body: &Structure, whole: bool) -> f64 {
        let v = if whole { &self.v_free } else { &self.force };
        self.increment.clear();
        self.increment.resize(v.len(), 0.0);
        body.mass().multiply_add(v, 1.0, &mut self.increment);
        self.increment.iter().zip(v).map(|(p, v)| p * v).sum()
    }

    /// Factors `M̂ = M + θ h C + (θ h)² K` at `q_θ`.
    fn factor(&mut self, body: &Structure, step: &Interval) -> bool {
        let after = step.after;
        if body.is_linear() && self.factored == Some(after) {
            return true;
        }
        self.stiffness.reset_like(body.mass());
        self.damping.reset_like(body.mass());
        body.tangents(&self.q, &self.v, &mut self.stiffness, &mut self.damping);
        self.matrix.clone_from(body.mass());
        self.matrix.add_scaled(after, &self.damping);
        self.matrix.add_scaled(after * after, &self.stiffness);
        self.matrix.hold(body.held());
        self.factored = self.matrix.factor(&mut self.lu).then_some(after);
        self.factored.is_some()
    }

    /// Factors the symmetric part of `M̂`, once per step and only if there are contacts.
    fn make_symmetric(&mut self, body: &Structure) {
        if body.is_linear() || self.is_symmetric {
            return;
        }
        self.matrix.symmetrize();
        // Should it be singular, the full matrix serves.
        if !self.matrix.factor(&mut self.symmetric) {
            self.symmetric.clone_from(&self.lu);
        }
        self.is_symmetric = true;
    }

    /// The factorization that impulses use.
    fn contact_lu(&self, body: &Structure) -> &TridiagonalLu {
        if body.is_linear() { &self.lu } else { &self.symmetric }
    }

    /// Adds rows of `Hᵀ` of one node.
    fn add_rows(
        &self,
        body: &Structure,
        node: usize,
        sign: f64,
        moves: Moves,
        axes: &[Vec3; 3],
        width: usize,
        rows: &mut [f64],
    ) {
        for (dof, column) in body.node_columns(&self.q_m, node) {
            if body.held()[dof] {
                continue;
            }
            let velocity = match moves {
                Moves::At(p) => {
                    column.linear + column.angular.cross(&(p - self.q_m[node].position))
                }
                Moves::Spin => column.angular,
            };
            for (i, axis) in axes.iter().enumerate() {
                rows[i * width + dof] += sign * axis.dot(&velocity);
            }
        }
    }
}
