//! The mechanisms of a scene during one step: prediction, loops, free motion, and their part in the
//! contact problem.
//!
//! A mechanism is one group of blocks in the contact problem: `H_M` in terms of the independent
//! coordinates, with `M_red` factored once per step (Eqs. 25–27).

use super::Interval;
use super::ropes::Pull;
use crate::friction::{ContactProblem, Factored, InverseMass, Law};
use crate::math::dense::cholesky_solve;
use crate::math::{Pose, Vec3};
use crate::multibody::{
    Control, Link, MotionError, Multibody, MultibodyScratch, MultibodyState, Partition, Spatial,
};
use crate::scene::{Carried, Scene, State, Twist, place_links, twist};

/// One mechanism at the configuration `q_m` of a step.
#[derive(Debug, Default)]
struct Moving {
    work: MultibodyScratch,
    control: Control,
    q_m: Vec<f64>,
    /// Velocities of all joints at the start of the step and without contact, both consistent with
    /// the loops at `q_m`.
    v_n: Vec<f64>,
    v_free: Vec<f64>,
    v_middle: Vec<f64>,
    driven: Vec<f64>,
    /// Positions before a displacement.
    from: Vec<f64>,
    /// A mechanism that is a free body, at `q_m`.
    at_m: MultibodyState,
    /// For a mechanism on a free base: its momentum at the end of the step without contact, about
    /// the world origin.
    momentum: Option<Spatial>,
    aside: MultibodyScratch,
    /// First of its blocks in the contact problem.
    first_block: u32,
    n_blocks: usize,
    /// Number of its independent coordinates.
    n_independent: usize,
}

impl Moving {
    /// Closes the loops at `q_m` and places the bodies accordingly.
    fn close(
        &mut self,
        system: &Multibody,
        partition: &Partition,
        t_m: f64,
        links: &mut [Pose],
    ) -> Result<(), MotionError> {
        system.close(partition, t_m, &mut self.q_m, &mut self.work)?;
        system.linearize(partition, t_m, &mut self.work)?;
        for link in system.links() {
            links[link.0 as usize] = system.pose(&self.work, link);
        }
        Ok(())
    }

    /// Sets `v_middle` to displacements of the independent coordinates, given for each block of the
    /// contact problem [m, rad]; false if there is none.
    fn displacement(&mut self, partition: &Partition, change: &[[f64; 6]]) -> bool {
        let first = self.first_block as usize;
        let change = change[first..first + self.n_blocks].as_flattened();
        self.v_middle.clear();
        self.v_middle.resize(self.v_free.len(), 0.0);
        for (&c, u) in partition.independent.iter().zip(change) {
            self.v_middle[c as usize] = *u;
        }
        change.iter().any(|u| *u != 0.0)
    }
}

/// All mechanisms of a scene during one step.
#[derive(Debug, Default)]
pub(super) struct Mechanisms {
    moving: Vec<Moving>,
    rows: Vec<f64>,
    solved: Vec<f64>,
    column: Vec<f64>,
}

impl Mechanisms {
    /// Predicts `q_m` along `v_n`, then closes the loops, `h_B(q_m) = 0` (29), (16). Places the
    /// bodies of the mechanisms accordingly.
    pub fn predict(
        &mut self,
        scene: &Scene,
        state: &State,
        step: &Interval,
        q_m: &mut [Pose],
    ) -> Result<(), MotionError> {
        let systems = scene.mechanisms();
        if self.moving.len() != systems.len() {
            self.moving = systems
                .iter()
                .map(|s| Moving { work: s.scratch(), aside: s.scratch(), ..Moving::default() })
                .collect();
        }
        for (k, (system, m)) in systems.iter().zip(&mut self.moving).enumerate() {
            let old = &state.mechanisms[k];
            m.momentum = None;
            m.control.clone_from(&old.control);
            system.switch_control(state.t, &old.q, &old.v, &mut m.control);
            if scene.is_free_body(k) {
                continue;
            }
            m.q_m.resize(old.q.len(), 0.0);
            system.tree().integrate(&old.q, &old.v, step.before, &mut m.q_m);
            system.drive(step.t_m(), &mut m.q_m);
            m.close(system, &old.partition, step.t_m(), &mut q_m[scene.links_of(k)])?;
        }
        Ok(())
    }

    /// Moves the mechanisms from `q_m` by displacements of their independent coordinates, given for
    /// each block [m, rad], and closes the loops again, `h_B(q_m) = 0` (16).
    pub fn displace_middle(
        &mut self,
        scene: &Scene,
        state: &State,
        step: &Interval,
        change: &[[f64; 6]],
        q_m: &mut [Pose],
    ) -> Result<(), MotionError> {
        for (k, (system, m)) in scene.mechanisms().iter().zip(&mut self.moving).enumerate() {
            let partition = &state.mechanisms[k].partition;
            if !scene.is_free_body(k) && m.displacement(partition, change) {
                m.from.clone_from(&m.q_m);
                system.tree().integrate(&m.from, &m.v_middle, 1.0, &mut m.q_m);
                m.close(system, partition, step.t_m(), &mut q_m[scene.links_of(k)])?;
            }
        }
        Ok(())
    }

    /// The same at the end of the step. The velocities of the independent joints are unchanged, the
    /// dependent ones follow, `h_B(q) = 0`, `v_dep = B v_ind` (16), (20).
    pub fn displace_end(
        &mut self,
        scene: &Scene,
        state: &State,
        step: &Interval,
        change: &[[f64; 6]],
        next: &mut State,
    ) -> Result<(), MotionError> {
        let t_next = step.t + step.dt;
        for (k, (system, m)) in scene.mechanisms().iter().zip(&mut self.moving).enumerate() {
            let (old, new) = (&state.mechanisms[k], &mut next.mechanisms[k]);
            if scene.is_free_body(k) || !m.displacement(&old.partition, change) {
                continue;
            }
            m.from.clone_from(&new.q);
            system.tree().integrate(&m.from, &m.v_middle, 1.0, &mut new.q);
            system.close(&old.partition, t_next, &mut new.q, &mut m.work)?;
            system.linearize(&new.partition, t_next, &mut m.work)?;
            system.expand(&new.partition, t_next, &mut new.v, &mut m.work);
            let links = scene.links_of(k);
            let (q, v) = (&mut next.q[links.clone()], &mut next.v[links.clone()]);
            place_links(system, new, &mut m.work, &scene.bodies().centre[links], q, v);
        }
        Ok(())
    }

    /// Free motion, as if there were no contacts: `v_free = v_n + h M_red⁻¹ f_red` (25), (28).
    /// Velocity-dependent terms are evaluated at `v_n` and, if `q_m` is later, once more at the
    /// velocity of that time, which makes smooth motion second-order with `q_m` midway. Sets the
    /// velocities of the mechanisms' bodies at `q_m`, initial and without contact.
    pub fn free_motion(
        &mut self,
        scene: &Scene,
        state: &State,
        step: &Interval,
        q_m: &[Pose],
        v_n: &mut [Twist],
        v_free: &mut [Twist],
    ) -> Result<(), MotionError> {
        let Interval { dt, before, .. } = *step;
        for (k, (system, m)) in scene.mechanisms().iter().zip(&mut self.moving).enumerate() {
            if scene.is_free_body(k) {
                // It falls with the free bodies; only the contribution of springs and laws is added
                // here.
                let i = scene.links_of(k).start;
                follow(scene, k, &q_m[i], &v_n[i], &mut m.at_m);
                m.at_m.control.clone_from(&m.control);
                let t_m = step.t_m();
                let (force, torque) = system.free_body_wrench(&m.at_m, t_m, &mut m.work);
                let bodies = scene.bodies();
                v_free[i].linear += force * (dt / bodies.mass[i]);
                v_free[i].angular += bodies.inverse_inertia_w(i, &q_m[i].rotation) * torque * dt;
                continue;
            }
            let partition = &state.mechanisms[k].partition;
            let (t, t_m, t_next) = (step.t, step.t_m(), step.t + dt);
            m.driven.clear();
            m.driven.extend(system.mean_driven_accelerations(t, t_next));

            m.v_n.clone_from(&state.mechanisms[k].v);
            system.expand(partition, t, &mut m.v_n, &mut m.work);
            let driven = Some(&m.driven[..]);
            let at = (&m.q_m[..], &m.v_n[..]);
            system.dynamics(at, &m.control, partition, t_m, driven, &mut m.work)?;
            if before > 0.0 && system.feels_velocity() {
                m.v_middle.clone_from(&m.v_n);
                for &c in &partition.independent {
                    m.v_middle[c as usize] += before * m.work.acceleration()[c as usize];
                }
                system.expand(partition, t_m, &mut m.v_middle, &mut m.work);
                let at = (&m.q_m[..], &m.v_middle[..]);
                system.dynamics(at, &m.control, partition, t_m, driven, &mut m.work)?;
            }
            m.momentum = system.has_free_base().then(|| {
                // It changes by the external wrench at q_m, up to round-off.
                let outside = system.outside_wrench(&m.work) * dt;
                let old = &state.mechanisms[k];
                let (linear, angular) = momentum_at(system, old, &mut m.aside);
                Spatial { angular, linear } + outside
            });
            m.v_free.clone_from(&m.v_n);
            for &c in &partition.independent {
                m.v_free[c as usize] += dt * m.work.acceleration()[c as usize];
            }
            system.expand(partition, t_next, &mut m.v_free, &mut m.work);
            system.check_finite(&m.v_free, t_next)?;

            let first = scene.links_of(k).start;
            for (v, twists) in [(&m.v_n, &mut *v_n), (&m.v_free, &mut *v_free)] {
                system.tree().motion(v, &mut m.work.tree);
                for link in system.links() {
                    twists[first + link.0 as usize] = twist(system, &m.work, link, Vec3::zeros());
                }
            }
        }
        Ok(())
    }

    /// Assigns every mechanism its blocks in the contact problem, after those of the free bodies,
    /// and returns their number.
    pub(super) fn assign_blocks(&mut self, scene: &Scene, state: &State, first: u32) -> usize {
        let mut next = first;
        for (k, (m, state)) in self.moving.iter_mut().zip(&state.mechanisms).enumerate() {
            let own = if scene.is_free_body(k) { 0 } else { state.partition.independent.len() };
            m.first_block = next;
            m.n_blocks = own.div_ceil(6);
            m.n_independent = own;
            next += m.n_blocks as u32;
        }
        (next - first) as usize
    }

    /// Placeholders for the inverse masses of the mechanisms' blocks: their sides carry `M⁻¹ H` themselves.
    pub(super) fn placeholders(n: usize) -> impl Iterator<Item = InverseMass> {
        std::iter::repeat_n(InverseMass::default(), n)
    }

    /// Adds to the last contact of `w` its sides on mechanisms: rows of `H_M` and `M_red⁻¹ H_M`,
    /// Eq. (27). `sides` lists the bodies of mechanisms that touch there, with the sign of the
    /// impulse on each.
    pub(super) fn push_sides(
        &mut self,
        scene: &Scene,
        state: &State,
        sides: &[Option<(usize, Link, f64)>; 2],
        point: Vec3,
        frame: &[Vec3; 3],
        contact: usize,
        w: &mut Factored,
    ) {
        for (k, side) in sides.iter().enumerate() {
            let Some((mechanism, link, sign)) = *side else { continue };
            let other = sides[1 - k].filter(|o| o.0 == mechanism);
            // Two bodies of one mechanism form one side.
            if k == 1 && other.is_some() {
                continue;
            }
            let (system, m) = (&scene.mechanisms()[mechanism], &self.moving[mechanism]);
            let (f, width) =
                (state.mechanisms[mechanism].partition.independent.len(), 6 * m.n_blocks);
            if f == 0 {
                continue;
            }
            self.rows.clear();
            self.rows.resize(3 * width, 0.0);
            system.add_contact_rows(&m.work, f, link, point, frame, sign, width, &mut self.rows);
            if let Some((_, link, sign)) = other {
                system.add_contact_rows(
                    &m.work,
                    f,
                    link,
                    point,
                    frame,
                    sign,
                    width,
                    &mut self.rows,
                );
            }
            self.push_solved(mechanism, f, contact, w);
        }
    }

    /// Adds to contact `contact` of `w` the side given by `self.rows`, with `M_red⁻¹ H_M`.
    fn push_solved(&mut self, mechanism: usize, f: usize, contact: usize, w: &mut Factored) {
        let m = &self.moving[mechanism];
        let width = 6 * m.n_blocks;
        self.solved.clear();
        self.solved.resize(3 * width, 0.0);
        for i in 0..3 {
            self.column.clear();
            self.column.extend_from_slice(&self.rows[i * width..i * width + f]);
            cholesky_solve(m.work.reduced_factor(), f, &mut self.column);
            self.solved[i * width..i * width + f].copy_from_slice(&self.column);
        }
        w.push_rows_to(contact, m.first_block, &self.rows, &self.solved);
    }

    /// Adds to row `row` of `w` the side of a rope on a mechanism: in its first equation the
    /// velocities of points along given vectors, summed.
    pub(super) fn push_pulls<'a>(
        &mut self,
        scene: &Scene,
        mechanism: usize,
        pulls: impl Iterator<Item = &'a Pull>,
        row: usize,
        w: &mut Factored,
    ) {
        let (system, m) = (&scene.mechanisms()[mechanism], &self.moving[mechanism]);
        let (f, width) = (m.n_independent, 6 * m.n_blocks);
        if f == 0 {
            return;
        }
        self.rows.clear();
        self.rows.resize(3 * width, 0.0);
        for p in pulls {
            let Some(Carried { link, .. }) = scene.bodies().carried[p.body] else { continue };
            let (axes, rows) = ([p.along, Vec3::zeros(), Vec3::zeros()], &mut self.rows);
            system.add_contact_rows(&m.work, f, link, p.point, &axes, 1.0, width, rows);
        }
        self.push_solved(mechanism, f, row, w);
    }

    /// Adds the speed limits of coordinates to the contact problem, two rows each as in [`super::servos`].
    pub(super) fn push_speed_limits(&mut self, scene: &Scene, problem: &mut ContactProblem) {
        for (mechanism, system) in scene.mechanisms().iter().enumerate() {
            for (coordinate, limit) in system.speed_limits() {
                let m = &self.moving[mechanism];
                let (f, width) = (m.n_independent, 6 * m.n_blocks);
                if f == 0 {
                    continue;
                }
                let speed = m.v_free[coordinate.0 as usize];
                for sign in [-1.0, 1.0] {
                    self.rows.clear();
                    self.rows.resize(3 * width, 0.0);
                    let m = &self.moving[mechanism];
                    system.coordinate_row(&m.work, coordinate, &mut self.rows[..f]);
                    self.rows[..f].iter_mut().for_each(|x| *x *= sign);
                    let w = problem.w.make_factored();
                    let row = w.push([Factored::NONE; 2], [[0.0; 3]; 3], [[0.0; 3]; 2]);
                    self.push_solved(mechanism, f, row, w);
                    problem.v_rel_free.push([limit + sign * speed, 0.0, 0.0]);
                    problem.laws.push(Law::Coulomb { friction: 0.0 });
                }
            }
        }
    }

    /// Adds to row `row` of `w` the side of a joint on a body of a mechanism: the velocity at `point` along three axes, or
    /// the angular velocity about them; the first two are perpendicular unit vectors, the third completes them or is zero.
    pub(super) fn push_joint(
        &mut self,
        scene: &Scene,
        carried: Carried,
        sign: f64,
        spin: bool,
        point: Vec3,
        axes: &[Vec3; 3],
        row: usize,
        w: &mut Factored,
    ) {
        let (mechanism, link) = (carried.mechanism.index(), carried.link);
        let (system, m) = (&scene.mechanisms()[mechanism], &self.moving[mechanism]);
        let (f, width) = (m.n_independent, 6 * m.n_blocks);
        if f == 0 {
            return;
        }
        self.rows.clear();
        self.rows.resize(3 * width, 0.0);
        let rows = &mut self.rows;
        if !spin {
            system.add_contact_rows(&m.work, f, link, point, axes, sign, width, rows);
        } else {
            // ω · a = c · (v(p + b) − v(p)) for a right-handed frame (a, b, c).
            let frame = [axes[0], axes[1], axes[0].cross(&axes[1])];
            for k in (0..3).filter(|&k| axes[k] != Vec3::zeros()) {
                let mut along = [Vec3::zeros(); 3];
                along[k] = frame[(k + 2) % 3];
                let beside = point + frame[(k + 1) % 3];
                system.add_contact_rows(&m.work, f, link, beside, &along, sign, width, rows);
                system.add_contact_rows(&m.work, f, link, point, &along, -sign, width, rows);
            }
        }
        self.push_solved(mechanism, f, row, w);
    }

    /// End of the step: `v = v_free + M_red⁻¹ H I`, `q` from `q_m` along `v`; dependent joints
    /// follow the independent ones, `h_B(q) = 0`, `v_dep = B v_ind` (28), (30), (16), (20). Places
    /// the bodies of the mechanisms and returns the largest residual of the loops [m, –].
    pub fn finish(
        &mut self,
        scene: &Scene,
        state: &State,
        step: &Interval,
        change: &[[f64; 6]],
        next: &mut State,
    ) -> Result<f64, MotionError> {
        let mut residual = 0.0_f64;
        next.mechanisms.resize_with(self.moving.len(), MultibodyState::default);
        for (k, (system, m)) in scene.mechanisms().iter().zip(&mut self.moving).enumerate() {
            let (old, new) = (&state.mechanisms[k], &mut next.mechanisms[k]);
            let t_next = step.t + step.dt;
            new.partition.clone_from(&old.partition);
            new.control.clone_from(&m.control);
            if scene.is_free_body(k) {
                continue;
            }
            new.v.clone_from(&m.v_free);
            if !change.is_empty() {
                let first = m.first_block as usize;
                let change = change[first..first + m.n_blocks].as_flattened();
                for (&c, dv) in old.partition.independent.iter().zip(change) {
                    new.v[c as usize] += dv;
                }
                system.expand(&old.partition, t_next, &mut new.v, &mut m.work);
            }
            new.q.resize(m.q_m.len(), 0.0);
            system.tree().integrate(&m.q_m, &new.v, step.after, &mut new.q);
            system.drive(t_next, &mut new.q);
            system.check_finite(&new.v, t_next)?;
            let closed = system.close(&new.partition, t_next, &mut new.q, &mut m.work)?;
            residual = residual.max(closed.residual);
            system.linearize(&new.partition, t_next, &mut m.work)?;
            system.expand(&new.partition, t_next, &mut new.v, &mut m.work);
            system.renew_partition(&mut new.partition, &mut m.work);
            let links = scene.links_of(k);
            let (q, v) = (&mut next.q[links.clone()], &mut next.v[links.clone()]);
            place_links(system, new, &mut m.work, &scene.bodies().centre[links], q, v);
        }
        Ok(residual)
    }

    /// Restores the momentum of mechanisms on a free base: its initial value plus the external
    /// impulses; `pushes` returns the sum of the contact impulses on a mechanism, force and moment
    /// about the world origin.
    pub fn restore_momentum(
        &mut self,
        scene: &Scene,
        pushes: impl Fn(usize) -> Spatial,
        next: &mut State,
    ) {
        for (k, (system, m)) in scene.mechanisms().iter().zip(&mut self.moving).enumerate() {
            let Some(momentum) = m.momentum else { continue };
            let new = &mut next.mechanisms[k];
            system.tree().motion(&new.v, &mut m.work.tree);
            system.set_momentum(&(momentum + pushes(k)), &mut new.v, &m.work);
            let links = scene.links_of(k);
            let (q, v) = (&mut next.q[links.clone()], &mut next.v[links.clone()]);
            place_links(system, new, &mut m.work, &scene.bodies().centre[links], q, v);
        }
    }

    /// Sets the coordinates of mechanisms that are free bodies from their bodies.
    pub fn follow_bodies(&self, scene: &Scene, next: &mut State) {
        for k in (0..self.moving.len()).filter(|&k| scene.is_free_body(k)) {
            let i = scene.links_of(k).start;
            follow(scene, k, &next.q[i], &next.v[i], &mut next.mechanisms[k]);
        }
    }
}

/// Sets the coordinates of a mechanism that is a free body from the pose and velocity of its centre
/// of mass.
fn follow(scene: &Scene, mechanism: usize, q: &Pose, v: &Twist, state: &mut MultibodyState) {
    let arm = q.rotation * scene.bodies().centre[scene.links_of(mechanism).start];
    let pose = Pose { position: q.position - arm, rotation: q.rotation };
    let velocity = v.linear - v.angular.cross(&arm);
    scene.mechanisms()[mechanism].set_free_body(&pose, velocity, v.angular, state);
}

/// Linear and angular momentum of a mechanism at a state.
fn momentum_at(
    system: &Multibody,
    state: &MultibodyState,
    work: &mut MultibodyScratch,
) -> (Vec3, Vec3) {
    system.tree().kinematics(&state.q, &mut work.tree);
    system.tree().motion(&state.v, &mut work.tree);
    system.momentum(work)
}
