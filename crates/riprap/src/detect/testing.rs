//! Random shapes and motions for the tests of this module.

use super::Placed;
use super::axes::Relative;
use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::shape::Polyhedron;
use rand::RngExt;
use rand_pcg::Pcg64;

/// A direction.
pub fn unit(rng: &mut Pcg64) -> Vec3 {
    loop {
        let v = Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        let n = v.norm();
        if n > 0.1 && n < 1.0 {
            return v / n;
        }
    }
}

/// A stone, a flake, a needle, a box, a regular solid or a large plate.
pub fn shape(rng: &mut Pcg64) -> Polyhedron {
    let stretch = match rng.random_range(0..8) {
        0 => Vec3::new(1.0, 1.0, 0.02),
        1 => Vec3::new(0.05, 0.05, 1.0),
        2 => return Polyhedron::cuboid([0.6; 3]).unwrap(),
        3 => return Polyhedron::cuboid([30.0, 20.0, 0.5]).unwrap(),
        4 => {
            let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
            let points: Vec<Vec3> = axes.iter().flat_map(|x| [x * 0.4, x * -0.4]).collect();
            return Polyhedron::from_points(&points).unwrap();
        }
        _ => Vec3::new(1.0, 0.8, 0.6),
    };
    loop {
        let n = rng.random_range(4..30);
        let points: Vec<Vec3> = (0..n).map(|_| unit(rng).component_mul(&stretch) * 0.5).collect();
        if let Ok(p) = Polyhedron::from_points(&points) {
            return p;
        }
    }
}

/// Any rotation.
pub fn rotation(rng: &mut Pcg64) -> Quat {
    Quat::from_scaled_axis(unit(rng) * rng.random_range(0.0..3.1))
}

/// Any rotation, as a matrix.
pub fn matrix(rng: &mut Pcg64) -> Mat3 {
    *rotation(rng).to_rotation_matrix().matrix()
}

/// A random pose within a distance of the origin.
pub fn pose(rng: &mut Pcg64, distance: f64) -> Pose {
    let position = unit(rng) * rng.random_range(0.0..distance);
    Pose { position, rotation: rotation(rng) }
}

/// A shape with a bounding sphere around its own origin at a pose.
pub fn placed(pose: &Pose, radius: f64) -> Placed {
    let rot = *pose.rotation.to_rotation_matrix().matrix();
    Placed { rot, origin: pose.position, centre: pose.position, radius }
}

/// b at a random place around a, mostly near and occasionally deep inside.
pub fn beside(rng: &mut Pcg64, a: &Polyhedron, b: &Polyhedron) -> Relative {
    let far = (a.outer_radius() + b.outer_radius()) * rng.random_range(0.2..1.3);
    Relative { rot: matrix(rng), origin: a.centre() + unit(rng) * far }
}

/// The same pair seen from b.
pub fn exchanged(rel: &Relative) -> Relative {
    Relative { rot: rel.rot.transpose(), origin: rel.inverse_vector(-rel.origin) }
}
