//! Positions and velocities of a tree: poses, twists, bias accelerations and the columns of all Jacobians.

use super::{Elementary, NONE, Spatial, Tree, TreeScratch};
use crate::math::{Mat3, Quat, Vec3, sin_cos, turn};

/// A frame rotated about its axis `K`, and that axis; `sign` is −1 if the joint rotates about the
/// opposite direction.
#[inline]
fn turned<const K: usize>(frame: &Mat3, sign: f64, sin: f64, cos: f64) -> (Mat3, Vec3) {
    let [x, y] = [(K + 1) % 3, (K + 2) % 3].map(|k| frame.column(k).into_owned());
    let mut turned = *frame;
    turned.set_column((K + 1) % 3, &(x * cos + y * (sign * sin)));
    turned.set_column((K + 2) % 3, &(y * cos - x * (sign * sin)));
    (turned, frame.column(K) * sign)
}

impl Tree {
    /// The quaternion of a spherical joint in `q` (x, y, z, w).
    pub(in crate::multibody) fn quaternion(q: &[f64]) -> Quat {
        Quat::new_unchecked(nalgebra::Quaternion::new(q[3], q[0], q[1], q[2]))
    }

    /// Origin of the first body in the world [m]. Moments are taken about it, so that a machine far
    /// from the world origin loses no accuracy.
    fn reference(&self, q: &[f64]) -> Vec3 {
        let (mut r, mut p) = (self.base_rotation, self.base_position);
        // The elements of its joint; rotating elements come last.
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

    /// Acceleration of the ground that represents gravity.
    pub(super) fn ground_bias(&self) -> Spatial {
        Spatial { angular: Vec3::zeros(), linear: -self.gravity }
    }

    /// Twists and bias accelerations of all bodies for the velocities `v`, after
    /// [`Tree::kinematics`]. Clears the external wrenches.
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

    /// Moves positions along velocities: `q + h v`, on the unit quaternions for spherical joints.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Pose;
    use crate::multibody::fixtures::*;
    use crate::multibody::{
        Axis, Coordinate, GROUND, Joint, Link, Mechanism, Multibody, MultibodyScratch,
    };
    use nalgebra::Unit;

    fn slide(axis: Axis, by: f64) -> Pose {
        Pose { position: axis.0.normalize() * by, ..Pose::IDENTITY }
    }

    fn turn_about(axis: Axis, by: f64) -> Pose {
        let rotation = Quat::from_axis_angle(&Unit::new_normalize(axis.0), by);
        Pose { rotation, ..Pose::IDENTITY }
    }

    /// The transform of a joint, by textbook formulas.
    fn transform(system: &Multibody, link: Link, q: &[f64]) -> Pose {
        let first = system.first_coordinate(link);
        let at = |k: u32| q[system.q_of(Coordinate(first.0 + k)).expect("a scalar coordinate")];
        let ball = |k: u32| {
            let i = system.quaternion_of(Coordinate(first.0 + k)).expect("a quaternion");
            Pose { rotation: Tree::quaternion(&q[i..i + 4]), ..Pose::IDENTITY }
        };
        match system.joint(link) {
            Joint::Revolute(a) => turn_about(a, at(0)),
            Joint::Prismatic(a) => slide(a, at(0)),
            Joint::Cylindrical(a) => slide(a, at(0)).compose(&turn_about(a, at(1))),
            Joint::Universal(a, b) => turn_about(a, at(0)).compose(&turn_about(b, at(1))),
            Joint::Planar(x, y) => slide(x, at(0))
                .compose(&slide(y, at(1)))
                .compose(&turn_about(Axis(x.0.cross(&y.0)), at(2))),
            Joint::Spherical => ball(0),
            Joint::Free => Pose::at([at(0), at(1), at(2)]).compose(&ball(3)),
            Joint::Fixed => Pose::IDENTITY,
        }
    }

    /// Poses of all bodies from the description, one transform after another.
    fn textbook(m: &Mechanism, system: &Multibody, q: &[f64]) -> Vec<Pose> {
        let mut poses: Vec<Pose> = Vec::new();
        for (i, link) in m.links.iter().enumerate() {
            let parent = if link.parent == GROUND { m.base } else { poses[link.parent.0 as usize] };
            poses.push(parent.compose(&link.place).compose(&transform(system, Link(i as u32), q)));
        }
        poses
    }

    fn assert_poses(m: &Mechanism, seed: u64) {
        let system = m.build(GRAVITY).unwrap();
        let (q, _) = random_state(&mut seeded(seed), &system);
        let mut w = system.scratch();
        system.tree.kinematics(&q, &mut w.tree);
        for (link, expected) in system.links().zip(textbook(m, &system, &q)) {
            let found = system.pose(&w, link);
            // Rounding errors over a chain of ten joints.
            assert!((found.position - expected.position).norm() < 1e-13, "seed {seed}");
            assert!(found.rotation.angle_to(&expected.rotation) < 1e-7, "seed {seed}");
            let apart = found.rotation.to_rotation_matrix().matrix()
                - expected.rotation.to_rotation_matrix().matrix();
            assert!(apart.norm() < 1e-13, "seed {seed}");
        }
    }

    #[test]
    fn poses_agree_with_chained_transforms() {
        for seed in 0..60 {
            let m = random_tree(&mut seeded(seed), 1 + seed as usize % 10);
            assert_poses(&m, seed);
        }
    }

    #[test]
    fn joints_along_the_axes_of_their_frames_rotate_like_any_other() {
        let axes = [Axis::X, Axis::Y, Axis::Z, -Axis::X, -Axis::Y, -Axis::Z];
        let mut rng = seeded(7);
        let mut m = Mechanism::new("axes");
        m.base = place(&mut rng);
        let mut on = GROUND;
        for (k, axis) in axes.into_iter().enumerate() {
            let (at, mass) = (place(&mut rng), body(&mut rng));
            on = m.add(&format!("turn-{k}"), on, Joint::Revolute(axis), at, Some(mass));
            let (at, mass) = (place(&mut rng), body(&mut rng));
            on = m.add(&format!("slide-{k}"), on, Joint::Prismatic(axis), at, Some(mass));
        }
        (0..20).for_each(|seed| assert_poses(&m, seed));
    }

    #[test]
    fn jacobians_agree_with_differences_of_positions_and_rotations() {
        for s in samples().step_by(4) {
            let (n, point) = (s.system.n_v(), Vec3::new(0.2, -0.4, 0.1));
            for link in s.system.links() {
                let (linear, angular) = s.jacobians(link, point);
                for c in 0..n {
                    let at = |h: f64| {
                        let mut direction = vec![0.0; n];
                        direction[c] = 1.0;
                        let mut q = s.q.clone();
                        s.system.tree.integrate(&s.q, &direction, h, &mut q);
                        let mut w = s.system.scratch();
                        s.system.tree.kinematics(&q, &mut w.tree);
                        s.system.pose(&w, link)
                    };
                    let (before, after) = (at(-H), at(H));
                    let moved = (after.point(point) - before.point(point)) / (2.0 * H);
                    let turned = (after.rotation * before.rotation.inverse()).scaled_axis();
                    assert!((moved - linear.column(c)).norm() < 1e-8, "column {c}");
                    assert!((turned / (2.0 * H) - angular.column(c)).norm() < 1e-8, "column {c}");
                }
            }
        }
    }

    #[test]
    fn integrating_back_returns_to_the_start_and_two_halves_make_a_whole() {
        for mut s in samples() {
            let (tree, n_q) = (&s.system.tree, s.q.len());
            let (mut out, mut back) = (vec![0.0; n_q], vec![0.0; n_q]);
            tree.integrate(&s.q, &s.v, 0.0, &mut out);
            let moved = out.iter().zip(&s.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(moved < 1e-15, "no time, no motion");
            tree.integrate(&s.q, &s.v, 0.7, &mut out);
            tree.integrate(&out, &s.v, -0.7, &mut back);
            assert!(back.iter().zip(&s.q).all(|(a, b)| (a - b).abs() < 1e-14));
            // Constant body velocities form a one-parameter group, also for spherical joints.
            let mut half = vec![0.0; n_q];
            tree.integrate(&s.q, &s.v, 0.35, &mut half);
            tree.integrate(&half, &s.v, 0.35, &mut back);
            assert!(back.iter().zip(&out).all(|(a, b)| (a - b).abs() < 1e-14));
            // A scalar coordinate grows by v h; a quaternion stays a unit quaternion.
            let v = s.random(30.0);
            let tree = &s.system.tree;
            tree.integrate(&s.q, &v, 2.0, &mut out);
            for c in s.system.coordinates() {
                match s.system.q_of(c) {
                    Some(at) => assert_eq!(out[at], s.q[at] + 2.0 * v[c.0 as usize]),
                    None => {
                        let at = s.system.quaternion_of(c).expect("a quaternion");
                        let length: f64 = out[at..at + 4].iter().map(|x| x * x).sum();
                        assert!((length - 1.0).abs() < 1e-15 * 4.0);
                    }
                }
            }
        }
    }

    #[test]
    fn moments_are_taken_about_the_origin_of_the_first_body() {
        for seed in 0..40 {
            let system = random_tree(&mut seeded(seed), 4).build(GRAVITY).unwrap();
            let (q, _) = random_state(&mut seeded(seed), &system);
            let mut w = system.scratch();
            system.tree.kinematics(&q, &mut w.tree);
            let first = system.pose(&w, Link(0)).position;
            assert!((w.tree.origin - first).norm() < 1e-14, "{} {first}", w.tree.origin);
        }
    }

    #[test]
    fn a_path_contains_the_columns_of_all_joints_down_to_the_ground() {
        for s in samples() {
            let tree = &s.system.tree;
            for link in s.system.links() {
                let mut expected = Vec::new();
                let mut at = link;
                while at != GROUND {
                    let first = s.system.first_coordinate(at).0 as usize;
                    let n = s.system.joint(at).coordinate_names().len();
                    expected.extend((first..first + n).rev());
                    at = s.system.parent(at);
                }
                let found: Vec<usize> = tree.path(s.system.node_of[link.0 as usize]).collect();
                assert_eq!(found, expected);
            }
            assert_eq!(tree.path(NONE).count(), 0);
        }
    }

    #[test]
    fn a_fixed_joint_makes_its_body_part_of_the_parent() {
        let mut rng = seeded(17);
        let mut m = Mechanism::new("welded");
        let (mass, at) = (body(&mut rng), place(&mut rng));
        let arm = m.add("arm", GROUND, Joint::Spherical, place(&mut rng), Some(mass));
        m.add("tool", arm, Joint::Fixed, at, Some(body(&mut rng)));
        let system = m.build(GRAVITY).unwrap();
        let (q, v) = random_state(&mut rng, &system);
        let mut w: MultibodyScratch = system.scratch();
        system.tree.kinematics(&q, &mut w.tree);
        system.tree.motion(&v, &mut w.tree);
        assert_eq!(w.tree.twist[0], w.tree.twist[1]);
        assert_eq!(w.tree.bias[0], w.tree.bias[1]);
        let tool = system.pose(&w, Link(0)).compose(&at);
        assert!((system.pose(&w, Link(1)).position - tool.position).norm() < 1e-15);
    }
}
