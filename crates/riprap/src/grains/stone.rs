//! Stones like those of crushed rock: convex polyhedra bounded by random fracture planes.
//!
//! A stone is cut, not inflated: about `(vertices + 4) / 2` planes around a point, evenly spread
//! and then perturbed in direction and distance, leave a body in which three faces meet at each
//! corner. It is stretched so that its inertia is exactly that of the desired ellipsoid, and scaled
//! to its sieve size.

use super::portable::{any_rotation, fibonacci_sphere, point_in_ball};
use super::sieve::aperture;
use crate::math::{Mat3, Vec3};
use crate::shape::{Polyhedron, Shape, ShapeError};
use rand::RngExt;
use rand_pcg::Pcg64;
use std::sync::Arc;

/// Generates stones of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoneGenerator {
    /// Desired number of corners, 4 to 100; a stone has up to three more or fewer.
    pub vertices: usize,
    /// Ratio of thickness to breadth `c/b`, 0.05 to 1 [–].
    pub flatness: f64,
    /// Ratio of breadth to length `b/a`, 0.05 to 1 [–].
    pub elongation: f64,
    /// 0: rounded, with faces of similar size; 1: freshly broken, with large and small faces and
    /// sharp corners [–].
    pub angularity: f64,
}

impl Default for StoneGenerator {
    /// Railway ballast: 25 corners, flatness and elongation 0.75, freshly broken.
    fn default() -> StoneGenerator {
        StoneGenerator { vertices: 25, flatness: 0.75, elongation: 0.75, angularity: 0.7 }
    }
}

/// Number of stones cut before the best of them is used.
const ATTEMPTS: usize = 60;
/// A stone is accepted if no edge is shorter than this [–], in units in which the ball of equal
/// inertia has a radius of √5 ≈ 2.2.
const SHORTEST_EDGE: f64 = 0.15;
/// A stone is accepted if no corner is farther from the centre than this [–], in the same units.
const FARTHEST_CORNER: f64 = 4.0;
/// A stone has at most this many corners more or fewer than requested.
const SPARE_VERTICES: usize = 3;

impl StoneGenerator {
    /// A stone that just passes a sieve of the given size [m]; see [`super::sieve_size`].
    ///
    /// Its centre of mass is the origin and its principal axes of inertia are x (the longest), y
    /// and z (the shortest): its ellipsoid of equal inertia has half-axes `a`, `b`, `c` along them
    /// with `b/a` and `c/b` exactly as specified.
    pub fn generate(&self, sieve_size: f64, rng: &mut Pcg64) -> Result<Polyhedron, ShapeError> {
        self.check(sieve_size)?;
        let form = Vec3::new(1.0, self.elongation, self.elongation * self.flatness);
        let corners: Vec<Vec3> =
            self.round_stone(rng)?.iter().map(|p| p.component_mul(&form)).collect();
        let scale = sieve_size / aperture(&corners);
        Polyhedron::from_points(&corners.iter().map(|p| p * scale).collect::<Vec<_>>())
    }

    /// One stone for each sieve size [m], as shapes of bodies.
    pub fn generate_many(&self, sizes: &[f64], rng: &mut Pcg64) -> Result<Vec<Shape>, ShapeError> {
        let stone = |size: &f64| Ok(Shape::Polyhedron(Arc::new(self.generate(*size, rng)?)));
        sizes.iter().map(stone).collect()
    }

    fn check(&self, sieve_size: f64) -> Result<(), ShapeError> {
        let ranges = [
            ("sieve size [m]", sieve_size, 1e-9, 1e9),
            ("vertices of a stone", self.vertices as f64, 4.0, 100.0),
            ("flatness of a stone", self.flatness, 0.05, 1.0),
            ("elongation of a stone", self.elongation, 0.05, 1.0),
            ("angularity of a stone", self.angularity, 0.0, 1.0),
        ];
        for (what, value, min, max) in ranges {
            if !(min..=max).contains(&value) {
                return Err(ShapeError::OutOfRange { what, value, min, max });
            }
        }
        Ok(())
    }

    /// Corners of a stone of equal length, breadth and thickness: its second moments of volume
    /// about its centre are the identity. It is cut again until it has no needle, no very short
    /// edge and the right number of corners; after many attempts, the best so far is used.
    fn round_stone(&self, rng: &mut Pcg64) -> Result<Vec<Vec3>, ShapeError> {
        let mut best: Result<_, ShapeError> = Err(ShapeError::HullCheck { error: f64::INFINITY });
        let mut best_score = f64::NEG_INFINITY;
        for _ in 0..ATTEMPTS {
            let stone = match self.cut(rng) {
                Ok(stone) => stone,
                Err(error) => {
                    best = best.or(Err(error));
                    continue;
                }
            };
            let Some(corners) = rounded(&stone) else { continue };
            let score = self.score(&stone, &corners);
            if score > best_score {
                best_score = score;
                best = Ok(corners);
            }
            if score >= 1.0 {
                break;
            }
        }
        best
    }

    /// Quality of a stone: 1 or more is good enough; negative values mean the wrong number of
    /// corners.
    fn score(&self, stone: &Polyhedron, corners: &[Vec3]) -> f64 {
        let spare = corners.len().abs_diff(self.vertices);
        if spare > SPARE_VERTICES {
            return -(spare as f64);
        }
        let length = |e: &crate::shape::Edge| {
            (corners[e.vertices[0] as usize] - corners[e.vertices[1] as usize]).norm()
        };
        let shortest = stone.edges().iter().map(length).fold(f64::INFINITY, f64::min);
        let farthest = corners.iter().map(Vec3::norm).fold(0.0, f64::max);
        // Stones with many corners have shorter edges.
        let wanted = SHORTEST_EDGE * (25.0 / self.vertices as f64).min(1.0);
        (shortest / wanted).min(FARTHEST_CORNER / farthest)
    }

    /// The polyhedron bounded by random planes around the origin.
    fn cut(&self, rng: &mut Pcg64) -> Result<Polyhedron, ShapeError> {
        // Three faces at each corner: V = 2 F - 4.
        let odd = self.vertices % 2;
        let n_planes = (self.vertices + 4) / 2 + if odd == 1 { rng.random_range(0..2) } else { 0 };
        // Angle between neighbouring planes if they were evenly spread [rad].
        let spacing = (4.0 * std::f64::consts::PI / n_planes as f64).sqrt();
        let jitter = (0.1 + 0.5 * self.angularity) * spacing;
        let depth = (0.45 * self.angularity * spacing * spacing).min(0.6);
        let rotation = any_rotation(rng);
        let poles: Vec<Vec3> = fibonacci_sphere(n_planes)
            .into_iter()
            .map(|n| {
                let normal = (rotation * n + point_in_ball(rng) * jitter).normalize();
                normal / (1.0 - depth * rng.random::<f64>())
            })
            .collect();
        // The planes n·x = d meet at the points m/o, where m·y = o are the faces of the hull of
        // n/d.
        let dual = Polyhedron::from_points(&poles)?;
        let corners: Vec<Vec3> = dual
            .face_normals()
            .iter()
            .zip(dual.face_offsets())
            .map(|(m, &o)| m / o.max(1e-3)) // Planes that leave the stone open give a needle.
            .collect();
        Polyhedron::from_points(&corners)
    }
}

/// Corners of a polyhedron moved to its centre and stretched until its second moments of volume are
/// the identity. `None` if it is too thin.
fn rounded(stone: &Polyhedron) -> Option<Vec<Vec3>> {
    let m = stone.unit_mass();
    let moments = (Mat3::identity() * (0.5 * m.inertia.trace()) - m.inertia) / m.mass;
    // Moments L Lᵀ become the identity under L⁻¹.
    let l = moments.cholesky()?.l();
    stone.vertices().iter().map(|v| l.solve_lower_triangular(&(v - m.centre))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{seeded, sieve_size};
    use super::*;

    /// Generators at the extremes of the range of forms.
    fn generators() -> Vec<StoneGenerator> {
        let forms = [(0.75, 0.75), (1.0, 1.0), (0.3, 1.0), (1.0, 0.3), (0.3, 0.3)];
        let stone = StoneGenerator::default();
        forms
            .map(|(flatness, elongation)| StoneGenerator { flatness, elongation, ..stone })
            .to_vec()
    }

    fn stones(generator: StoneGenerator, n: u64) -> impl Iterator<Item = Polyhedron> {
        (0..n).map(move |seed| generator.generate(0.04, &mut seeded(seed)).unwrap())
    }

    #[test]
    fn stones_have_about_the_requested_corners_and_exactly_the_requested_sieve_size() {
        for generator in generators() {
            for stone in stones(generator, 200) {
                assert!(stone.vertices().len().abs_diff(generator.vertices) <= 3);
                // Two searches with rounded coordinates may differ in the last digits.
                assert!((sieve_size(&stone) / 0.04 - 1.0).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn stones_are_centred_and_aligned_with_their_principal_axes_in_the_requested_form() {
        for generator in generators() {
            for stone in stones(generator, 200) {
                let m = stone.unit_mass();
                let second = Mat3::identity() * (0.5 * m.inertia.trace()) - m.inertia;
                let [a2, b2, c2] = [0, 1, 2].map(|k| second[(k, k)]);
                let off = second - Mat3::from_diagonal(&second.diagonal());
                assert!(m.centre.norm() < 1e-12 && off.norm() < 1e-12 * a2);
                assert!(((b2 / a2).sqrt() - generator.elongation).abs() < 1e-9);
                assert!(((c2 / b2).sqrt() - generator.flatness).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn calliper_measurements_nearly_agree_with_the_requested_form() {
        for generator in generators() {
            let (mut flatness, mut elongation) = (0.0, 0.0);
            for stone in stones(generator, 200) {
                let extent = |d: Vec3| stone.support(d).1 + stone.support(-d).1;
                let [a, b, c] = [Vec3::x(), Vec3::y(), Vec3::z()].map(extent);
                flatness += c / b / 200.0;
                elongation += b / a / 200.0;
                // Single stones vary: corners protrude, faces do not.
                let within = 1.0 / 1.8..1.8;
                assert!(within.contains(&(c / b / generator.flatness)));
                assert!(within.contains(&(b / a / generator.elongation)));
            }
            assert!((flatness / generator.flatness - 1.0).abs() < 0.05, "{flatness}");
            assert!((elongation / generator.elongation - 1.0).abs() < 0.05, "{elongation}");
        }
    }

    #[test]
    fn the_volume_is_that_of_the_tetrahedra_between_the_centre_and_the_faces() {
        for stone in stones(StoneGenerator::default(), 200) {
            let v = stone.vertices();
            let volume: f64 = stone
                .triangles()
                .map(|t| t.map(|i| v[i as usize]))
                .map(|[a, b, c]| a.dot(&b.cross(&c)) / 6.0)
                .sum();
            assert!((volume / stone.unit_mass().mass - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn any_number_of_corners_and_any_angularity_give_a_stone() {
        for vertices in [4, 5, 8, 13, 25, 60, 100] {
            for angularity in [0.0, 0.5, 1.0] {
                let generator =
                    StoneGenerator { vertices, angularity, ..StoneGenerator::default() };
                for stone in stones(generator, 20) {
                    let n = stone.vertices().len();
                    assert!(n.abs_diff(vertices) <= 3, "{n} of {vertices} at {angularity}");
                }
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_stone_on_every_machine_and_another_seed_another() {
        let make = |seed| StoneGenerator::default().generate(0.04, &mut seeded(seed)).unwrap();
        assert_eq!(make(1).vertices(), make(1).vertices());
        assert_ne!(make(1).vertices(), make(2).vertices());
        // Exact to the last digit, hence on every machine.
        let corner = [-0.02366290154423694, -0.005255668180091148, -0.013971731197472411];
        assert_eq!(make(1).vertices()[7], Vec3::from(corner));
    }

    #[test]
    fn out_of_range_forms_are_reported() {
        let stone = StoneGenerator::default();
        let fault = |g: StoneGenerator| g.generate(0.04, &mut seeded(1)).unwrap_err().to_string();
        assert!(fault(StoneGenerator { flatness: 0.0, ..stone }).contains("flatness"));
        assert!(fault(StoneGenerator { elongation: 1.5, ..stone }).contains("elongation"));
        assert!(fault(StoneGenerator { angularity: f64::NAN, ..stone }).contains("angularity"));
        assert!(fault(StoneGenerator { vertices: 3, ..stone }).contains("vertices"));
        assert!(stone.generate(0.0, &mut seeded(1)).unwrap_err().to_string().contains("sieve"));
    }
}
