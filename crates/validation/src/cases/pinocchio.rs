//! Joint trees compared with Pinocchio: mass matrix, bias, accelerations and Jacobians for stored random trees and states.
//!
//! Pinocchio expresses the linear velocity of a free base in the axes of the base, riprap in those of its parent. The results are
//! compared in Pinocchio's variables: with `v = G v_p`, `M_p = Gᵀ M G`, `c_p = Gᵀ (c + M Ġ v_p)`, `J_p = J G`.

use crate::{Checks, Effort};
use nalgebra::{DMatrix, DVector};
use riprap::multibody::{Axis, GROUND, Joint, Link, Mechanism};
use riprap::prelude::*;
use riprap::shape::MassProperties;
use serde::Deserialize;

const TREES: &[(&str, &str)] = &[
    ("chain7_revolute", include_str!("../../data/pinocchio/chain7_revolute.json")),
    ("tree10_rp", include_str!("../../data/pinocchio/tree10_rp.json")),
    ("tree12_mixed_float", include_str!("../../data/pinocchio/tree12_mixed_float.json")),
    ("chain9_prismatic", include_str!("../../data/pinocchio/chain9_prismatic.json")),
    ("chain6_spherical", include_str!("../../data/pinocchio/chain6_spherical.json")),
    ("tree16_float", include_str!("../../data/pinocchio/tree16_float.json")),
    ("chain30_revolute", include_str!("../../data/pinocchio/chain30_revolute.json")),
    ("tree15_scales", include_str!("../../data/pinocchio/tree15_scales.json")),
    ("tree20_offsets", include_str!("../../data/pinocchio/tree20_offsets.json")),
    ("forest12_two_floats", include_str!("../../data/pinocchio/forest12_two_floats.json")),
];

#[derive(Deserialize)]
struct TreeFile {
    gravity: [f64; 3],
    joints: Vec<JointFile>,
    states: Vec<StateFile>,
}

#[derive(Deserialize)]
struct JointFile {
    parent: usize,
    #[serde(rename = "type")]
    kind: String,
    axis: Option<[f64; 3]>,
    #[serde(rename = "placement_R")]
    rotation: [[f64; 3]; 3],
    #[serde(rename = "placement_p")]
    position: [f64; 3],
    mass: f64,
    com: [f64; 3],
    inertia_com: [[f64; 3]; 3],
}

#[derive(Deserialize)]
struct StateFile {
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
    #[serde(rename = "M")]
    mass: Vec<Vec<f64>>,
    nle: Vec<f64>,
    qdd: Vec<f64>,
    point_local: [f64; 3],
    point_world: [f64; 3],
    #[serde(rename = "J_point")]
    j_point: Vec<Vec<f64>>,
    #[serde(rename = "J_omega")]
    j_omega: Vec<Vec<f64>>,
    acc_point: [f64; 3],
    kinetic: f64,
    potential: f64,
}

fn rotation(rows: &[[f64; 3]; 3]) -> Quat {
    let m = nalgebra::Matrix3::from_fn(|i, j| rows[i][j]);
    Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(m))
}

/// The mechanism of a file, its bodies, and the first column of each free base.
fn mechanism(file: &TreeFile) -> (Mechanism, Vec<Link>, Vec<usize>) {
    let mut m = Mechanism::new("tree");
    let (mut links, mut bases, mut column) = (Vec::new(), Vec::new(), 0);
    for (i, joint) in file.joints.iter().enumerate() {
        let parent = if joint.parent == 0 { GROUND } else { links[joint.parent - 1] };
        let axis = Axis::from(joint.axis.unwrap_or([0.0, 0.0, 1.0]));
        let (kind, columns) = match joint.kind.as_str() {
            "revolute" => (Joint::Revolute(axis), 1),
            "prismatic" => (Joint::Prismatic(axis), 1),
            "spherical" => (Joint::Spherical, 3),
            "freeflyer" => {
                bases.push(column);
                (Joint::Free, 6)
            }
            other => panic!("unknown joint type {other}"),
        };
        column += columns;
        let place =
            Pose { position: Vec3::from(joint.position), rotation: rotation(&joint.rotation) };
        let mass = MassProperties {
            mass: joint.mass,
            centre: Vec3::from(joint.com),
            inertia: nalgebra::Matrix3::from_fn(|i, j| joint.inertia_com[i][j]),
        };
        links.push(m.add(&format!("body-{}", i + 1), parent, kind, place, Some(mass)));
    }
    (m, links, bases)
}

/// Largest difference divided by the largest entry.
fn apart(a: &DMatrix<f64>, b: &DMatrix<f64>) -> f64 {
    (a - b).abs().max() / b.abs().max().max(1e-300)
}

fn matrix(rows: &[Vec<f64>]) -> DMatrix<f64> {
    DMatrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

fn vector(v: &[f64]) -> DMatrix<f64> {
    DMatrix::from_column_slice(v.len(), 1, v)
}

/// The largest relative differences over the states of a tree.
#[derive(Default)]
struct Worst {
    mass: f64,
    bias: f64,
    forward: f64,
    acceleration: f64,
    inverse: f64,
    jacobian: f64,
    point: f64,
    energy: f64,
}

/// `G`, which maps Pinocchio's velocities to those of riprap, and `Ġ v_p`: identity and zero except for the free bases, whose
/// first columns are given.
fn base_axes(file: &TreeFile, bases: &[usize], state: &StateFile) -> (DMatrix<f64>, DVector<f64>) {
    let (q, v_p) = (&state.q, &state.v);
    let n = v_p.len();
    let mut g = DMatrix::<f64>::identity(n, n);
    let mut drift = DVector::<f64>::zeros(n);
    for &c in bases {
        let at = file.joints.iter().scan((0, 0), |(q, v), j| {
            let here = (*q, *v);
            let (nq, nv) = match j.kind.as_str() {
                "freeflyer" => (7, 6),
                "spherical" => (4, 3),
                _ => (1, 1),
            };
            *q += nq;
            *v += nv;
            Some(here)
        });
        let first = at.filter(|(_, v)| *v == c).map(|(q, _)| q).next().expect("its base");
        let turn = Quat::new_unchecked(nalgebra::Quaternion::new(
            q[first + 6],
            q[first + 3],
            q[first + 4],
            q[first + 5],
        ));
        let r = turn.to_rotation_matrix();
        for i in 0..3 {
            for j in 0..3 {
                g[(c + i, c + j)] = r[(i, j)];
            }
        }
        let (lin, ang) = (
            Vec3::new(v_p[c], v_p[c + 1], v_p[c + 2]),
            Vec3::new(v_p[c + 3], v_p[c + 4], v_p[c + 5]),
        );
        let rate = turn * ang.cross(&lin);
        (0..3).for_each(|k| drift[c + k] = rate[k]);
    }
    (g, drift)
}

fn compare(text: &str) -> Worst {
    let file: TreeFile = serde_json::from_str(text).expect("a tree file");
    let (m, links, bases) = mechanism(&file);
    let system = m.build(file.gravity).expect("the tree is sound");
    let (n, mut w) = (system.n_v(), system.scratch());
    let mut worst = Worst::default();
    for state in &file.states {
        let q = &state.q;
        let (g, drift) = base_axes(&file, &bases, state);
        system.tree().kinematics(q, &mut w.tree);
        let v = &g * DVector::from_column_slice(&state.v);
        let tree = system.tree();
        tree.motion(v.as_slice(), &mut w.tree);
        tree.evaluate(&mut w.tree);
        let mass = DMatrix::from_column_slice(n, n, w.tree.mass());
        let bias = DVector::from_column_slice(w.tree.bias_force());
        let mass_p = g.transpose() * &mass * &g;
        let bias_p = g.transpose() * (&bias + &mass * &drift);
        worst.mass = worst.mass.max(apart(&mass_p, &matrix(&state.mass)));
        worst.bias = worst.bias.max(apart(&vector(bias_p.as_slice()), &vector(&state.nle)));

        // Forward dynamics is judged by the residual of M q̈ + c = τ, so that ill-conditioned trees are treated alike.
        // The same holds for inverse dynamics with the acceleration of the reference.
        let tau = &g * DVector::from_column_slice(&state.tau);
        let mut a = vec![0.0; n];
        tree.forward_dynamics(tau.as_slice(), &mut w.tree, &mut a);
        let a = DVector::from_vec(a);
        let a_p = g.transpose() * (&a - &drift);
        let scale = mass.abs().max() * a.abs().max();
        worst.forward = worst.forward.max((&mass * &a + &bias - &tau).abs().max() / scale);
        let reference = DVector::from_column_slice(&state.qdd);
        worst.acceleration =
            worst.acceleration.max((&a_p - &reference).abs().max() / reference.abs().max());
        let left = &mass_p * (&a_p - &reference);
        worst.forward =
            worst.forward.max(left.abs().max() / (mass_p.abs().max() * reference.abs().max()));
        let a_ours = &g * &reference + &drift;
        let mut force = vec![0.0; n];
        tree.inverse_dynamics(a_ours.as_slice(), &mut w.tree, &mut force);
        let force = DVector::from_vec(force);
        worst.inverse = worst.inverse.max((force - &tau).abs().max() / scale);

        let (link, point) = (*links.last().expect("bodies"), Vec3::from(state.point_local));
        let (mut linear, mut angular) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
        system.point_jacobian(&w, link, point, &mut linear, &mut angular);
        let j = DMatrix::from_fn(3, n, |i, c| linear[c][i]) * &g;
        let j_w = DMatrix::from_fn(3, n, |i, c| angular[c][i]) * &g;
        worst.jacobian = worst.jacobian.max(apart(&j, &matrix(&state.j_point)));
        let omega = matrix(&state.j_omega);
        if omega.abs().max() > 0.0 {
            worst.jacobian = worst.jacobian.max(apart(&j_w, &omega));
        }
        // J̇ v through the acceleration of the point: a = J q̈ + J̇ v.
        let j_ours = DMatrix::from_fn(3, n, |i, c| linear[c][i]);
        let acceleration = j_ours * &a_ours + system.point_bias(&w, link, point);
        let p = system.point(&w, link, point).0;
        worst.point = worst.point.max(apart(&vector(p.as_slice()), &vector(&state.point_world)));
        worst.point =
            worst.point.max(apart(&vector(acceleration.as_slice()), &vector(&state.acc_point)));
        let (kinetic, potential) = system.energy(q, v.as_slice(), &mut w);
        let size = state.kinetic.abs() + state.potential.abs();
        worst.energy = worst.energy.max((kinetic - state.kinetic).abs() / size);
        worst.energy = worst.energy.max((potential - state.potential).abs() / size);
    }
    worst
}

/// Compares all stored trees.
pub(super) fn pinocchio(_: Effort) -> Checks {
    let mut checks = Checks::new("pinocchio");
    for (name, text) in TREES {
        let worst = compare(text);
        checks.at_most(&format!("{name}: mass matrix"), worst.mass, 1e-10, "1");
        checks.at_most(&format!("{name}: bias"), worst.bias, 1e-10, "1");
        checks.at_most(&format!("{name}: forward dynamics"), worst.forward, 1e-10, "1");
        // Masses from 1e-4 to 1e3 kg: the reference itself is accurate only to 4e-10.
        let limit = if *name == "tree15_scales" { 1e-8 } else { 1e-10 };
        checks.at_most(&format!("{name}: accelerations"), worst.acceleration, limit, "1");
        checks.at_most(&format!("{name}: inverse dynamics"), worst.inverse, 1e-10, "1");
        checks.at_most(&format!("{name}: Jacobians"), worst.jacobian, 1e-10, "1");
        checks.at_most(&format!("{name}: point and its acceleration"), worst.point, 1e-10, "1");
        checks.at_most(&format!("{name}: energies"), worst.energy, 1e-10, "1");
    }
    checks
}
