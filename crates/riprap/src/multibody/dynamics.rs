//! Equations of motion in minimal form, Eqs. (18), (25)–(27): accelerations, forces in the loops and joints, energies.

use super::MotionError;
use super::force::{Control, Inputs, Target, add_wrench};
use super::joint::Joint;
use super::mechanism::{Coordinate, GROUND, Link};
use super::partition::Partition;
use super::system::{Multibody, MultibodyScratch, MultibodyState};
use super::tree::{NONE, Spatial, Tree};
use crate::math::dense::{cholesky, cholesky_solve};
use crate::math::{Mat3, Vec3};

impl Multibody {
    /// The motion without contact at a state with closed loops and consistent velocities, Eq. (25): forces, `M`, the
    /// reduced mass matrix (factored) and the accelerations of all joints. After [`Multibody::linearize`].
    pub fn dynamics(
        &self,
        state: (&[f64], &[f64]),
        control: &Control,
        partition: &Partition,
        t: f64,
        driven_acceleration: Option<&[f64]>,
        w: &mut MultibodyScratch,
    ) -> Result<(), MotionError> {
        let (q, v) = state;
        let (n, f) = (self.n_v(), partition.independent.len());
        self.tree.motion(v, &mut w.tree);
        let inputs = Inputs { t, q, v, latched: &control.latched };
        self.forces.evaluate(&self.tree, &inputs, control, &mut w.tree, &mut w.applied);
        for &(link, point, force) in &w.pushes {
            let (node, arm) = (self.node_of[link.0 as usize], point - w.tree.origin);
            add_wrench(&mut w.tree, node, arm, force, Vec3::zeros());
        }
        self.tree.evaluate(&mut w.tree);

        self.accelerate_known(partition, t, driven_acceleration, w);
        self.reduce(partition, w);
        if let Err(row) = cholesky(&mut w.reduced_mass, f) {
            let c = partition.independent[row] as usize;
            let (mechanism, coordinate) = (self.name.clone(), self.coordinate_names[c].clone());
            let finite = w.reduced_mass[..f * f].iter().all(|x| x.is_finite());
            return Err(match finite {
                true => MotionError::NoInertia { mechanism, coordinate, t },
                // A stage that has diverged has no valid masses either.
                false => MotionError::NotFinite { mechanism, coordinate, t },
            });
        }
        cholesky_solve(&w.reduced_mass, f, &mut w.reduced_force[..f]);

        // a = T a_ind + a_0.
        for k in 0..f {
            let a = w.reduced_force[k];
            w.acceleration[partition.independent[k] as usize] = a;
            for &d in &partition.dependent {
                w.acceleration[d as usize] += w.map[k * n + d as usize] * a;
            }
        }
        Ok(())
    }

    /// `a_0`: the accelerations at constant independent velocities. Prescribed accelerations are
    /// known, dependent ones follow from them and from `J̇ v`.
    fn accelerate_known(
        &self,
        partition: &Partition,
        t: f64,
        driven_acceleration: Option<&[f64]>,
        w: &mut MultibodyScratch,
    ) {
        let (n, r) = (self.n_v(), partition.dependent.len());
        w.acceleration.fill(0.0);
        for (k, (c, _, motion)) in self.driven.iter().enumerate() {
            w.acceleration[*c as usize] =
                driven_acceleration.map_or_else(|| motion.at(t)[2], |a| a[k]);
        }
        for c in &self.closures {
            let rows = c.first_row..c.first_row + c.cut.equations();
            c.drift(&self.tree, &w.tree, &mut w.drift[rows]);
        }
        for (x, &row) in w.column.iter_mut().zip(&partition.rows) {
            let row = row as usize;
            let known: f64 = self
                .driven
                .iter()
                .map(|(c, ..)| w.jacobian[row * n + *c as usize] * w.acceleration[*c as usize])
                .sum();
            *x = -w.drift[row] - known;
        }
        w.lu.solve(&mut w.column[..r]);
        for (x, &d) in w.column.iter().zip(&partition.dependent) {
            w.acceleration[d as usize] = *x;
        }
    }

    /// Both sides of `Tᵀ M T a_ind = Tᵀ (τ − c − M a_0)`, Eqs. (25)–(27); only the lower triangle
    /// of the matrix.
    fn reduce(&self, partition: &Partition, w: &mut MultibodyScratch) {
        let (n, f) = (self.n_v(), partition.independent.len());
        let mass = &w.tree.mass;
        let still = self.closures.is_empty() && self.driven.is_empty();
        for i in 0..n {
            let mut x = w.applied[i] - w.tree.bias_force[i];
            if !still {
                let row = &mass[i * n..(i + 1) * n];
                x -= row.iter().zip(&w.acceleration).map(|(m, a)| m * a).sum::<f64>();
            }
            w.step[i] = x;
        }
        for k in 0..f {
            let column = &w.map[k * n..(k + 1) * n];
            let c = partition.independent[k] as usize;
            // M T e_k: the column itself and the dependent ones.
            w.mass_map.copy_from_slice(&mass[c * n..(c + 1) * n]);
            let mut force = w.step[c];
            for &d in &partition.dependent {
                let d = d as usize;
                let share = column[d];
                force += share * w.step[d];
                if share != 0.0 {
                    for (x, m) in w.mass_map.iter_mut().zip(&mass[d * n..(d + 1) * n]) {
                        *x += share * m;
                    }
                }
            }
            w.reduced_force[k] = force;
            for l in 0..=k {
                let other = &w.map[l * n..(l + 1) * n];
                let mut entry = w.mass_map[partition.independent[l] as usize];
                for &d in &partition.dependent {
                    entry += other[d as usize] * w.mass_map[d as usize];
                }
                w.reduced_mass[k * f + l] = entry;
            }
        }
    }

    /// Forces in the cuts of the loops, Eq. (18), and those required by the prescribed motions,
    /// from the accelerations of the last [`Multibody::dynamics`]: the rows of
    /// `M a + c = τ + J_Bᵀ λ` that it did not solve. Redundant equations carry no force.
    pub fn reactions(&self, partition: &Partition, w: &mut MultibodyScratch) {
        let (n, r) = (self.n_v(), partition.dependent.len());
        for i in 0..n {
            let row = &w.tree.mass[i * n..(i + 1) * n];
            let pull: f64 = row.iter().zip(&w.acceleration).map(|(m, a)| m * a).sum();
            w.step[i] = pull + w.tree.bias_force[i] - w.applied[i];
        }
        for (x, &d) in w.column.iter_mut().zip(&partition.dependent) {
            *x = w.step[d as usize];
        }
        w.lu.solve_transposed(&mut w.column[..r]);
        w.loop_force.fill(0.0);
        for (x, &row) in w.column.iter().zip(&partition.rows) {
            w.loop_force[row as usize] = *x;
        }
        for (k, (c, ..)) in self.driven.iter().enumerate() {
            let loops: f64 = (0..self.n_rows)
                .map(|row| w.jacobian[row * n + *c as usize] * w.loop_force[row])
                .sum();
            w.drive_force[k] = w.step[*c as usize] - loops;
        }
    }

    /// Force [N] and moment about the joint's origin [N m] that each joint transmits to its body,
    /// in world axes: reactions, actuators, springs and drives of the joint together. After
    /// [`Multibody::reactions`].
    pub fn joint_wrenches(&self, w: &mut MultibodyScratch, out: &mut Vec<(Vec3, Vec3)>) {
        let (acceleration, force) = (&w.acceleration, &mut w.step);
        self.tree.inverse_dynamics(acceleration, &mut w.tree, force);
        // The loops act on their bodies like external forces: what they carry is not carried by the
        // joints.
        for c in &self.closures {
            for row in c.first_row..c.first_row + c.cut.equations() {
                let wrench = w.wrenches[row] * w.loop_force[row];
                for (mut body, share) in [(c.b.body, wrench), (c.a.body, wrench * -1.0)] {
                    while body != NONE {
                        w.tree.carried[body as usize] -= share;
                        body = self.tree.nodes[body as usize].parent;
                    }
                }
            }
        }
        out.clear();
        for &node in &self.node_of {
            let (f, arm) = (w.tree.carried[node as usize], w.tree.arm[node as usize]);
            out.push((f.linear, f.angular - arm.cross(&f.linear)));
        }
    }

    /// Kinetic and potential energy [J] at a state; the potential is that of gravity (zero at the
    /// world origin) and of the springs. Leaves the tree's motion at the state.
    pub fn energy(&self, q: &[f64], v: &[f64], w: &mut MultibodyScratch) -> (f64, f64) {
        self.tree.kinematics(q, &mut w.tree);
        self.tree.motion(v, &mut w.tree);
        let (mut kinetic, mut potential) = (0.0, self.forces.potential(&self.tree, q, &w.tree));
        for (i, node) in self.tree.nodes.iter().enumerate().filter(|(_, n)| !n.massless) {
            let (c, twist, r) = self.moving(i, node.centre, w);
            let speed = Tree::velocity_at(&twist, &(c - w.tree.origin));
            let spin = r.tr_mul(&twist.angular);
            kinetic += 0.5 * (node.mass * speed.norm_squared() + spin.dot(&(node.inertia * spin)));
            potential -= node.mass * self.tree.gravity.dot(&c);
        }
        (kinetic, potential)
    }

    /// Linear [kg m/s] and angular momentum about the world origin [kg m²/s] after
    /// [`Tree::motion`].
    pub fn momentum(&self, w: &MultibodyScratch) -> (Vec3, Vec3) {
        let (mut linear, mut angular) = (Vec3::zeros(), Vec3::zeros());
        for (i, node) in self.tree.nodes.iter().enumerate().filter(|(_, n)| !n.massless) {
            let (c, twist, r) = self.moving(i, node.centre, w);
            let p = Tree::velocity_at(&twist, &(c - w.tree.origin)) * node.mass;
            linear += p;
            angular += c.cross(&p) + r * (node.inertia * r.tr_mul(&twist.angular));
        }
        (linear, angular)
    }

    fn moving(&self, i: usize, centre: Vec3, w: &MultibodyScratch) -> (Vec3, Spatial, Mat3) {
        let c = self.tree.point(&w.tree, i as u32, &centre);
        (c, w.tree.twist[i], w.tree.rotation[i])
    }

    /// Applied force of each law with one component [N, N m] at a state.
    pub fn law_force(&self, k: usize, state: &MultibodyState, t: f64) -> Option<f64> {
        let law = &self.forces.laws[k];
        let Target::Column(_) = law.target else { return None };
        let inputs = Inputs { t, q: &state.q, v: &state.v, latched: &state.control.latched };
        Some(law.phases[state.control.phase[k] as usize].values[0].at(&inputs))
    }

    /// Components of a law at a state: one for a force on a coordinate [N, N m], six for a wrench
    /// on a body [N; N m].
    pub fn law_values<'a>(
        &'a self,
        k: usize,
        state: &'a MultibodyState,
        t: f64,
    ) -> impl Iterator<Item = f64> + 'a {
        let inputs = Inputs { t, q: &state.q, v: &state.v, latched: &state.control.latched };
        let phase = &self.forces.laws[k].phases[state.control.phase[k] as usize];
        phase.values.iter().map(move |value| value.at(&inputs))
    }

    /// Tension [N] and length [m] of a point-to-point spring, after [`Tree::motion`].
    pub fn spring_tension(&self, k: usize, w: &MultibodyScratch) -> (f64, f64) {
        self.forces.points[k].tension(&self.tree, &w.tree)
    }

    /// Adds to `rows` the velocity of a point of a body (fixed in the world, `point` [m]) along
    /// three directions per unit of each of the `f` independent velocities, times `sign`: `Hᵀ_M` of
    /// a contact, Eq. (27). After [`Multibody::linearize`]; row `i` starts at `i × width`.
    #[expect(clippy::too_many_arguments)]
    pub fn add_contact_rows(
        &self,
        w: &MultibodyScratch,
        f: usize,
        link: Link,
        point: Vec3,
        directions: &[Vec3; 3],
        sign: f64,
        width: usize,
        rows: &mut [f64],
    ) {
        let (n, arm) = (self.n_v(), point - w.tree.origin);
        for c in self.tree.path(self.node_of[link.0 as usize]) {
            let v = Tree::velocity_at(&w.tree.columns[c], &arm) * sign;
            let along = directions.map(|d| d.dot(&v));
            for k in 0..f {
                let share = w.map[k * n + c];
                if share != 0.0 {
                    for (i, x) in along.iter().enumerate() {
                        rows[i * width + k] += share * x;
                    }
                }
            }
        }
    }

    /// Coordinates with a limited speed, and the limits [m/s, rad/s].
    pub fn speed_limits(&self) -> impl Iterator<Item = (Coordinate, f64)> + '_ {
        self.forces.speed_limits.iter().map(|(c, speed)| (Coordinate(*c), *speed))
    }

    /// Writes the velocity of a coordinate per unit of each of the `row.len()` independent ones at the last linearization.
    pub fn coordinate_row(&self, w: &MultibodyScratch, coordinate: Coordinate, row: &mut [f64]) {
        let (n, c) = (self.n_v(), coordinate.0 as usize);
        for (k, x) in row.iter_mut().enumerate() {
            *x = w.map[k * n + c];
        }
    }

    /// Force [N] and torque about the centre of mass [N m] of springs and laws on a mechanism that
    /// is a free body, without gravity.
    pub fn free_body_wrench(
        &self,
        state: &MultibodyState,
        t: f64,
        w: &mut MultibodyScratch,
    ) -> (Vec3, Vec3) {
        let MultibodyState { q, v, control, .. } = state;
        self.tree.kinematics(q, &mut w.tree);
        self.tree.motion(v, &mut w.tree);
        let inputs = Inputs { t, q, v, latched: &control.latched };
        self.forces.evaluate(&self.tree, &inputs, control, &mut w.tree, &mut w.applied);
        let body = self.tree.nodes.len() - 1;
        let (mut force, mut moment) = (w.tree.wrench[body].linear, w.tree.wrench[body].angular);
        // Forces on coordinates: three forces through the origin of the body frame, three torques
        // about its axes.
        let at = w.tree.arm[body];
        for c in 0..3 {
            let push = w.tree.columns[c].linear * w.applied[c];
            force += push;
            moment += at.cross(&push) + w.tree.columns[3 + c].angular * w.applied[3 + c];
        }
        let centre = self.tree.point(&w.tree, body as u32, &self.tree.nodes[body].centre);
        (force, moment - (centre - w.tree.origin).cross(&force))
    }

    /// Whether the whole mechanism is carried by one free joint: then only external forces change
    /// its momentum.
    pub fn has_free_base(&self) -> bool {
        self.link_joints.first() == Some(&Joint::Free)
            && self.link_parents[0] == GROUND
            && self.link_parents[1..].iter().all(|p| *p != GROUND)
            && self.closures.iter().all(|c| c.a.body != NONE && c.b.body != NONE)
            && self.driven.iter().all(|(c, ..)| *c >= 6)
    }

    /// The external wrench on a mechanism with a free base at the last [`Multibody::dynamics`]:
    /// gravity, springs to the ground, pushes, and forces on the coordinates of the base, as force
    /// and moment about the world origin.
    pub fn outside_wrench(&self, w: &MultibodyScratch) -> Spatial {
        let mut sum = Spatial::default();
        for (i, node) in self.tree.nodes.iter().enumerate() {
            sum += w.tree.wrench[i];
            let weight = self.tree.gravity * node.mass;
            let at = self.tree.point(&w.tree, i as u32, &node.centre) - w.tree.origin;
            sum += Spatial { angular: at.cross(&weight), linear: weight };
        }
        let base = w.tree.arm[3];
        for c in 0..3 {
            let push = w.tree.columns[c].linear * w.applied[c];
            let turn = w.tree.columns[3 + c].angular * w.applied[3 + c];
            sum += Spatial { angular: base.cross(&push) + turn, linear: push };
        }
        sum.angular += w.tree.origin.cross(&sum.linear);
        sum
    }

    /// Changes the velocities of a free base such that the momentum about the world origin becomes
    /// the given one; after [`Tree::motion`] at `v`.
    pub fn set_momentum(&self, wanted: &Spatial, v: &mut [f64], w: &MultibodyScratch) {
        let (linear, angular) = self.momentum(w);
        let lack = Spatial { angular: wanted.angular - angular, linear: wanted.linear - linear };
        // Treated as one rigid body: mass, centre and inertia about it.
        let (mut mass, mut centre) = (0.0, Vec3::zeros());
        let massive = || self.tree.nodes.iter().enumerate().filter(|(_, n)| !n.massless);
        let place = |i: usize, c: &Vec3| self.tree.point(&w.tree, i as u32, c);
        for (i, node) in massive() {
            mass += node.mass;
            centre += place(i, &node.centre) * node.mass;
        }
        centre /= mass;
        let mut inertia = Mat3::zeros();
        for (i, node) in massive() {
            let (r, d) = (w.tree.rotation[i], place(i, &node.centre) - centre);
            inertia += r * node.inertia * r.transpose()
                + (Mat3::identity() * d.norm_squared() - d * d.transpose()) * node.mass;
        }
        let Some(inverse) = inertia.try_inverse() else { return };
        let spin = inverse * (lack.angular - centre.cross(&lack.linear));
        // Velocity of the base's origin, along the axes of its parent; spin along its own.
        let base = w.tree.arm[3] + w.tree.origin;
        let push = lack.linear / mass + spin.cross(&(base - centre));
        for c in 0..3 {
            v[c] += w.tree.columns[c].linear.dot(&push);
            v[3 + c] += w.tree.columns[3 + c].angular.dot(&spin);
        }
    }

    /// Names the first coordinate whose velocity is not finite.
    pub fn check_finite(&self, v: &[f64], t: f64) -> Result<(), MotionError> {
        match v.iter().position(|x| !x.is_finite()) {
            None => Ok(()),
            Some(c) => Err(MotionError::NotFinite {
                mechanism: self.name.clone(),
                coordinate: self.coordinate_names[c].clone(),
                t,
            }),
        }
    }

    /// Mean accelerations of the prescribed joints between two times [m/s², rad/s²].
    pub fn mean_driven_accelerations(&self, t: f64, t_next: f64) -> impl Iterator<Item = f64> + '_ {
        self.driven
            .iter()
            .map(move |(_, _, motion)| (motion.at(t_next)[1] - motion.at(t)[1]) / (t_next - t))
    }

    /// Whether accelerations depend on velocities: always, except for a single joint without
    /// dampers, laws and loops.
    pub fn feels_velocity(&self) -> bool {
        self.n_v() > 1
            || !self.forces.laws.is_empty()
            || !self.forces.points.is_empty()
            || self.forces.springs.iter().any(|(_, _, s)| s.damping != 0.0)
            || !self.forces.stops.is_empty()
    }
}

#[cfg(test)]
mod tests;
