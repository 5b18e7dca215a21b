//! Joints between bodies in absolute coordinates: groups of three rows of the contact problem,
//! constrained to zero velocity, and the projection of positions that removes their drift.

use super::System;
use super::flexible::Moves;
use crate::friction::{ContactProblem, Factored, Impulses, Law, solve_joint};
use crate::math::{Mat3, Pose, Vec3, turn};
use crate::scene::{Hold, ResolvedJoint, Scene, State};

/// Three equations of a joint.
struct Triple {
    /// Directions along which the second frame's origin is constrained, or about which its rotation
    /// is; zero if there is no equation.
    axes: [Vec3; 3],
    /// Whether they are axes of rotation.
    spin: bool,
    /// Where the force acts [m].
    point: Vec3,
    /// Position errors [m, rad].
    error: [f64; 3],
}

/// The equations of a joint at poses of the bodies: at most two triples.
fn triples(joint: &ResolvedJoint, q: &[Pose]) -> impl Iterator<Item = Triple> + use<> {
    let [a, b] = joint.bodies.map(|b| &q[b as usize]);
    let rotation = |pose: &Pose, r: &Mat3| pose.rotation.to_rotation_matrix().matrix() * r;
    let (ra, rb) = (rotation(a, &joint.rotations[0]), rotation(b, &joint.rotations[1]));
    let (pa, pb) = (a.point(joint.places[0]), b.point(joint.places[1]));
    let mut held = [0, 1, 2].map(|k| ra.column(k).into_owned());
    if joint.hold == Hold::Slider {
        held[2] = Vec3::zeros();
    }
    let d = pb - pa;
    let shift = Triple { axes: held, spin: false, point: pb, error: held.map(|u| u.dot(&d)) };
    // The small rotation from the first frame to the second.
    let off = 0.5
        * (0..3).map(|k| ra.column(k).cross(&rb.column(k))).fold(Vec3::zeros(), |sum, x| sum + x);
    let mut about = [0, 1, 2].map(|k| ra.column(k).into_owned());
    if joint.hold == Hold::Hinge {
        about[2] = Vec3::zeros();
    }
    // For a hinge only the axes matter: z_a × z_b.
    let off = if joint.hold == Hold::Hinge { ra.column(2).cross(&rb.column(2)) } else { off };
    let twist = Triple { axes: about, spin: true, point: pb, error: about.map(|u| u.dot(&off)) };
    let second = (joint.hold != Hold::Ball).then_some(twist);
    std::iter::once(shift).chain(second)
}

/// Adds the joints between bodies to the contact problem, after its contacts.
pub fn assemble(scene: &Scene, system: &mut System, problem: &mut ContactProblem) {
    let w = problem.w.make_factored();
    for joint in &scene.joints {
        let [i, j] = joint.bodies.map(|b| b as usize);
        for t in triples(joint, system.q_m()) {
            push(scene, system, [i, j], &t, w);
            let (q_m, v) = (system.q_m(), system.v_free());
            let velocity = |body: usize| {
                if t.spin {
                    v[body].angular
                } else {
                    v[body].linear + v[body].angular.cross(&(t.point - q_m[body].position))
                }
            };
            let relative = velocity(j) - velocity(i);
            problem.v_rel_free.push(t.axes.map(|u| u.dot(&relative)));
            problem.laws.push(Law::Bilateral);
        }
    }
}

/// Starts from the joint impulses of the last step, for `n` groups of three equations.
pub(super) fn recall(state: &State, n: usize, impulses: &mut Impulses) {
    let old = (0..n).map(|k| state.joint_impulses.get(k).copied().unwrap_or_default());
    impulses.extend(old);
}

fn push(scene: &Scene, system: &mut System, [i, j]: [usize; 2], t: &Triple, w: &mut Factored) {
    let (q, block) = (system.q_m(), &system.bodies.block);
    let axes = t.axes.map(Into::into);
    if !t.spin {
        let arms = [i, j].map(|b| (t.point - q[b].position).into());
        let row = w.push([i, j].map(|b| block[b]), axes, arms);
        push_groups(scene, system, [i, j], t, row, w);
        return;
    }
    let row = w.push([Factored::NONE; 2], axes, [[0.0; 3]; 2]);
    for (body, sign) in [(i, -1.0), (j, 1.0)] {
        if block[body] == Factored::NONE {
            continue;
        }
        let inverse = scene.bodies().inverse_inertia_w(body, &q[body].rotation);
        let (mut rows, mut solved) = ([0.0; 18], [0.0; 18]);
        for (k, u) in t.axes.iter().enumerate() {
            let turned = inverse * u;
            for c in 0..3 {
                rows[6 * k + 3 + c] = sign * u[c];
                solved[6 * k + 3 + c] = sign * turned[c];
            }
        }
        w.push_rows(block[body], &rows, &solved);
    }
    push_groups(scene, system, [i, j], t, row, w);
}

/// Adds the sides of an equation on bodies of mechanisms and on nodes of flexible bodies.
fn push_groups(
    scene: &Scene,
    system: &mut System,
    [i, j]: [usize; 2],
    t: &Triple,
    row: usize,
    w: &mut Factored,
) {
    let node = |body: usize, sign: f64| scene.node_at(body).map(|(f, node)| (f, node, sign));
    let nodes = [node(i, -1.0), node(j, 1.0)];
    if nodes == [None; 2] {
        return;
    }
    let moves = if t.spin { Moves::Spin } else { Moves::At(t.point) };
    let bodies = scene.bodies();
    for (body, sign) in [(i, -1.0), (j, 1.0)] {
        if let Some(carried) = bodies.carried[body].filter(|_| !bodies.movable[body]) {
            system.mechanisms.push_joint(scene, carried, sign, t.spin, t.point, &t.axes, row, w);
        }
    }
    system.flexible.push_sides(scene, &nodes, moves, &t.axes, row, w);
}

/// Largest position error of the joints [m, rad].
pub fn joint_error(scene: &Scene, q: &[Pose]) -> f64 {
    let all = scene.joints.iter().flat_map(|j| triples(j, q)).flat_map(|t| t.error);
    all.fold(0.0, |m: f64, e| m.max(e.abs()))
}

/// Drift of one joint: the distance of its frames along the constrained directions [m], and the
/// angle about the constrained axes [rad].
pub fn joint_drift(joint: &ResolvedJoint, q: &[Pose]) -> [f64; 2] {
    let mut drift = [0.0; 2];
    for t in triples(joint, q) {
        drift[usize::from(t.spin)] = Vec3::from(t.error).norm();
    }
    drift
}

/// Mean force [N] and torque [N m] of each joint on its second body over the last step, in the
/// world frame and about the origin of the frame on that body. The impulses were computed midway
/// through the step; here they are expressed along the axes at its end.
pub fn joint_wrenches<'a>(
    scene: &'a Scene,
    state: &'a State,
    dt: f64,
) -> impl Iterator<Item = (Vec3, Vec3)> + 'a {
    let mut impulses = state.joint_impulses.iter();
    scene.joints.iter().map(move |joint| {
        let mut wrench = (Vec3::zeros(), Vec3::zeros());
        for t in triples(joint, &state.q) {
            // Before the first step there are none.
            let r = impulses.next().copied().unwrap_or_default();
            let push = (t.axes[0] * r[0] + t.axes[1] * r[1] + t.axes[2] * r[2]) / dt;
            *(if t.spin { &mut wrench.1 } else { &mut wrench.0 }) = push;
        }
        wrench
    })
}

/// Puts the bodies of projected joints back: sweeps of Newton's method over the joints, each
/// correction weighted by the masses of its bodies, until all errors are within 1e-12 [m, rad] or
/// at rounding level.
pub(super) fn project(scene: &Scene, q: &mut [Pose]) {
    let bodies = scene.bodies();
    for _ in 0..200 {
        let mut worst = 0.0_f64;
        for joint in scene.joints.iter().filter(|j| j.project) {
            let [i, j] = joint.bodies.map(|b| b as usize);
            let count = if joint.hold == Hold::Ball { 1 } else { 2 };
            for k in 0..count {
                let Some(t) = triples(joint, q).nth(k) else { continue };
                worst = t.error.iter().fold(worst, |m, e| m.max(e.abs()));
                let mut w = [[0.0; 3]; 3];
                for body in [i, j].into_iter().filter(|b| bodies.movable[*b]) {
                    let inverse = bodies.inverse_inertia_w(body, &q[body].rotation);
                    for (c, u) in t.axes.iter().enumerate() {
                        let (shift, spin) = response(&t, bodies, body, &inverse, u, q);
                        let moved = if t.spin {
                            spin
                        } else {
                            shift + spin.cross(&(t.point - q[body].position))
                        };
                        for (r, n) in t.axes.iter().enumerate() {
                            w[r][c] += n.dot(&moved);
                        }
                    }
                }
                let r = solve_joint(&w, t.error);
                let push = t.axes[0] * r[0] + t.axes[1] * r[1] + t.axes[2] * r[2];
                for (body, sign) in [(i, -1.0), (j, 1.0)] {
                    if !bodies.movable[body] {
                        continue;
                    }
                    let inverse = bodies.inverse_inertia_w(body, &q[body].rotation);
                    let (shift, spin) = response(&t, bodies, body, &inverse, &(push * sign), q);
                    q[body].position += shift;
                    q[body].rotation = turn(q[body].rotation, spin);
                }
            }
        }
        if worst <= 1e-12 {
            break;
        }
    }
}

/// Displacement and rotation of a body per unit of a push along `u`.
fn response(
    t: &Triple,
    bodies: &crate::scene::Bodies,
    body: usize,
    inverse: &Mat3,
    u: &Vec3,
    q: &[Pose],
) -> (Vec3, Vec3) {
    if t.spin {
        return (Vec3::zeros(), inverse * u);
    }
    let m = bodies.inverse_mass[body];
    let shift = Vec3::new(m[0] * u.x, m[1] * u.y, m[2] * u.z);
    (shift, inverse * (t.point - q[body].position).cross(u))
}
