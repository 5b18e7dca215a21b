//! Statistics of force networks: the fabric of contact directions and the distribution of forces.

use crate::math::{Mat3, Vec3};

/// The fabric tensor `F = ⟨n ⊗ n⟩` of contact normals, with trace 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    /// The tensor in the world frame [–].
    pub tensor: Mat3,
    /// Principal values, the largest first [–].
    pub values: [f64; 3],
    /// Principal directions in the order of their values [–].
    pub directions: [Vec3; 3],
    /// Whether all normals are in the plane z = 0.
    pub planar: bool,
}

impl Fabric {
    /// The fabric of contact normals, each with a weight such as its normal force, or 1. `None` if
    /// there are none.
    pub fn of(normals: impl IntoIterator<Item = (Vec3, f64)>) -> Option<Fabric> {
        let (mut tensor, mut sum, mut planar) = (Mat3::zeros(), 0.0, true);
        for (n, weight) in normals {
            tensor += n * n.transpose() * weight;
            sum += weight;
            planar &= n.z == 0.0;
        }
        if sum <= 0.0 || !sum.is_finite() {
            return None;
        }
        tensor /= sum;
        let eigen = tensor.symmetric_eigen();
        let mut order = [0, 1, 2];
        order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
        let direction = |k: usize| Vec3::from(eigen.eigenvectors.column(k));
        Some(Fabric {
            tensor,
            values: order.map(|k| eigen.eigenvalues[k]),
            directions: order.map(direction),
            planar,
        })
    }

    /// Anisotropy `a` of the density of normals [–]: 0 if all directions are equally frequent. In the
    /// plane the density is `(1 + a cos 2(θ − θ₁))/2π`, and `a = 2 (F₁ − F₂)`; in space it is
    /// `(1 + a (3 cos² θ − 1)/2)/4π` about the first principal direction, and
    /// `a = 5 (F₁ − (F₂ + F₃)/2)`.
    pub fn anisotropy(&self) -> f64 {
        let [f1, f2, f3] = self.values;
        match self.planar {
            true => 2.0 * (f1 - f2),
            // ⟨cos² θ⟩ of that density is 1/3 + 2 a/15, and that of a direction across it 1/3 − a/15.
            false => 5.0 * (f1 - 0.5 * (f2 + f3)),
        }
    }

    /// Angle of the first principal direction in the x–y plane [rad], between 0 and π.
    pub fn angle(&self) -> f64 {
        let d = self.directions[0];
        let angle = d.y.atan2(d.x);
        if angle < 0.0 { angle + std::f64::consts::PI } else { angle % std::f64::consts::PI }
    }
}

/// How many normals lie in each of `n` equal sectors of the half plane from 0 to π, as a density
/// whose mean is 1 [–]; the rose of a planar packing. A normal and its opposite are the same.
pub fn rose(normals: &[Vec3], n: usize) -> Vec<f64> {
    let mut counts = vec![0.0; n];
    let part = n as f64 / normals.len().max(1) as f64;
    for normal in normals {
        let turn = normal.y.atan2(normal.x) / std::f64::consts::PI;
        let k = (turn.rem_euclid(1.0) * n as f64) as usize;
        if let Some(count) = counts.get_mut(k.min(n.saturating_sub(1))) {
            *count += part;
        }
    }
    counts
}

/// The distribution of forces relative to their mean, `P(f/⟨f⟩)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForceDistribution {
    /// Number of forces.
    pub count: usize,
    /// Mean `⟨f⟩` [N].
    pub mean: f64,
    /// Largest force [N].
    pub largest: f64,
    /// Width of the bins of `f/⟨f⟩` [–]; the first one starts at 0.
    pub width: f64,
    /// Probability density of each bin [–]; its integral is 1.
    pub density: Vec<f64>,
    /// `β` of the exponential tail `P ∝ exp(−β f/⟨f⟩)` of the forces above the mean, by maximum
    /// likelihood [–]; `None` if there are fewer than ten.
    pub decay: Option<f64>,
}

impl ForceDistribution {
    /// The distribution of positive forces [N] in bins of a width [–].
    pub fn of(forces: &[f64], width: f64) -> ForceDistribution {
        let count = forces.len();
        let (mean, largest) = (
            forces.iter().sum::<f64>() / count.max(1) as f64,
            forces.iter().fold(0.0, |m: f64, f| m.max(*f)),
        );
        let positive = mean > 0.0 && mean.is_finite() && width > 0.0;
        if !positive {
            return ForceDistribution { count, width, ..ForceDistribution::default() };
        }
        // A force that dwarfs all others must not allocate a bin for each of its widths.
        let n_bins = ((largest / mean / width) as usize + 1).min(1000);
        let mut density = vec![0.0; n_bins];
        for f in forces {
            density[((f / mean / width) as usize).min(n_bins - 1)] += 1.0 / (count as f64 * width);
        }
        let tail: Vec<f64> = forces.iter().map(|f| f / mean).filter(|f| *f > 1.0).collect();
        let excess = tail.iter().map(|f| f - 1.0).sum::<f64>();
        let decay = (tail.len() >= 10 && excess > 0.0).then(|| tail.len() as f64 / excess);
        ForceDistribution { count, mean, largest, width, density, decay }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn planar(angles: impl IntoIterator<Item = f64>) -> Vec<Vec3> {
        angles.into_iter().map(|a| Vec3::new(a.cos(), a.sin(), 0.0)).collect()
    }

    fn fabric(normals: &[Vec3]) -> Fabric {
        Fabric::of(normals.iter().map(|n| (*n, 1.0))).unwrap()
    }

    #[test]
    fn square_and_hexagonal_crystals_are_isotropic_in_their_second_moment() {
        for n in [2, 3] {
            let crystal = fabric(&planar((0..n).map(|k| PI * k as f64 / n as f64)));
            assert!((crystal.values[0] - 0.5).abs() < 1e-15 && crystal.anisotropy() < 1e-14);
            let shear = crystal.tensor[(0, 1)];
            assert!(shear.abs() < 1e-15, "{shear}");
        }
        // A simple cubic crystal in space.
        let cubic = fabric(&[Vec3::x(), Vec3::y(), Vec3::z()]);
        assert!(cubic.values.iter().all(|v| (v - 1.0 / 3.0).abs() < 1e-15));
        assert!(cubic.anisotropy().abs() < 1e-14);
    }

    #[test]
    fn a_known_anisotropy_and_its_direction_are_found() {
        // Normals with density (1 + a cos 2(θ − θ₁))/2π, as weights of equally spaced angles.
        let (a, main) = (0.3, 0.7);
        let angles: Vec<f64> = (0..720).map(|k| PI * (k as f64 + 0.5) / 720.0).collect();
        let weights = angles.iter().map(|t| 1.0 + a * (2.0 * (t - main)).cos());
        let known = Fabric::of(planar(angles.iter().copied()).into_iter().zip(weights)).unwrap();
        assert!((known.anisotropy() - a).abs() < 1e-12, "{}", known.anisotropy());
        assert!((known.angle() - main).abs() < 1e-12);

        // In space: latitudes, each with the area of its ring.
        let density = |z: f64| 1.0 + a * (3.0 * z * z - 1.0) / 2.0;
        let (n, m) = (400, 24);
        let ring = |k: usize| -1.0 + 2.0 * (k as f64 + 0.5) / n as f64;
        let point = |z: f64, j: usize| {
            let (r, turn) = ((1.0 - z * z).sqrt(), 2.0 * PI * j as f64 / m as f64);
            Vec3::new(r * turn.cos(), r * turn.sin(), z)
        };
        let points = (0..n)
            .flat_map(|k| (0..m).map(move |j| (k, j)))
            .map(|(k, j)| (point(ring(k), j), density(ring(k))));
        let known = Fabric::of(points).unwrap();
        // The midpoint rule over the latitudes.
        assert!((known.anisotropy() - a).abs() < 1e-4, "{}", known.anisotropy());
        assert!(known.directions[0].z.abs() > 1.0 - 1e-9);
    }

    #[test]
    fn a_rose_has_mean_one_and_ignores_the_sign_of_normals() {
        let normals = planar([0.1, 0.1 + PI, 1.0, 2.0]);
        let rose = rose(&normals, 4);
        assert_eq!(rose, [2.0, 1.0, 1.0, 0.0]);
        assert_eq!(rose.iter().sum::<f64>() / 4.0, 1.0);
    }

    #[test]
    fn exponential_forces_have_decay_one_and_density_with_integral_one() {
        // Quantiles of the exponential distribution with mean 2.
        let n = 20_000;
        let forces: Vec<f64> =
            (0..n).map(|k| -2.0 * (1.0 - (k as f64 + 0.5) / n as f64).ln()).collect();
        let d = ForceDistribution::of(&forces, 0.25);
        assert!((d.mean - 2.0).abs() < 1e-3, "{}", d.mean);
        assert!((d.density.iter().sum::<f64>() * d.width - 1.0).abs() < 1e-12);
        let decay = d.decay.unwrap();
        assert!((decay - 1.0).abs() < 2e-3, "{decay}");
        // The first bin: (1 − exp(−w))/w.
        let first = (1.0 - (-0.25_f64).exp()) / 0.25;
        assert!((d.density[0] - first).abs() < 1e-3);
        assert_eq!(ForceDistribution::of(&[], 0.1).density, Vec::<f64>::new());
        assert_eq!(ForceDistribution::of(&[1.0; 9], 0.1).decay, None);
    }

    #[test]
    fn there_is_no_fabric_without_contacts() {
        assert_eq!(Fabric::of([]), None);
    }
}
