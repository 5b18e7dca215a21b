//! Sieve curves of existing grains, and how far a curve has moved towards its ultimate one.

use crate::shape::{Core, Shape};

/// A sieve curve: which fraction of the mass is finer than a size. Dust is finer than every sieve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SieveCurve {
    /// Sizes [m], ascending, and the mass of all grains up to each [kg].
    finer: Vec<(f64, f64)>,
    dust: f64,
}

impl SieveCurve {
    /// The curve of grains given by size [m] and mass [kg], and of dust [kg].
    pub fn new(grains: impl IntoIterator<Item = (f64, f64)>, dust: f64) -> SieveCurve {
        let mut finer: Vec<(f64, f64)> = grains.into_iter().collect();
        finer.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = dust;
        for grain in &mut finer {
            sum += grain.1;
            grain.1 = sum;
        }
        SieveCurve { finer, dust }
    }

    /// Total mass [kg].
    pub fn mass(&self) -> f64 {
        self.finer.last().map_or(self.dust, |last| last.1)
    }

    /// Mass fraction that passes a sieve of the given aperture [m] [–].
    pub fn passing(&self, aperture: f64) -> f64 {
        let n = self.finer.partition_point(|grain| grain.0 <= aperture);
        let mass = n.checked_sub(1).map_or(self.dust, |k| self.finer[k].1);
        mass / self.mass()
    }

    /// The largest size [m].
    pub fn largest(&self) -> f64 {
        self.finer.last().map_or(0.0, |last| last.0)
    }

    /// Sizes [m] and passing fractions [–] at every grain, for a figure.
    pub fn points(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        let mass = self.mass();
        self.finer.iter().map(move |grain| [grain.0, grain.1 / mass])
    }

    /// `∫ F d(ln d)` between two sizes [–].
    fn area(&self, from: f64, to: f64) -> f64 {
        let mut before = self.dust;
        let mut sum = self.dust * (to / from).ln();
        for &(size, mass) in &self.finer {
            sum += (mass - before) * (to / size.clamp(from, to)).ln();
            before = mass;
        }
        sum / self.mass()
    }

    /// Einav's breakage index of a curve that was `self` once [–]: the area between both curves over
    /// the logarithm of size, relative to that between the first and the ultimate one,
    /// `F_u = (d^b − d_m^b)/(d_M^b − d_m^b)` with `b = 3 − α = 0.4` (fractal dimension `α` = 2.6),
    /// from the smallest size `d_m` [m] to the largest `d_M`. 0 without breakage, 1 at the end of
    /// all breakage. In the plane, `b = 2 − α` with `α` = 1.6.
    pub fn breakage(&self, now: &SieveCurve, smallest: f64) -> f64 {
        let (from, to, b) = (smallest, self.largest(), 0.4);
        if from >= to {
            return 0.0;
        }
        let low = from.powf(b) / (to.powf(b) - from.powf(b));
        let ultimate = 1.0 / b - low * (to / from).ln();
        let first = self.area(from, to);
        (now.area(from, to) - first) / (ultimate - first)
    }
}

/// The size of the smallest square aperture that a polyhedron passes, or of the narrowest gap that a
/// polygon passes [m]; the diameter of balls, discs and capsules. `None` for half-spaces and compounds.
pub fn aperture_of(shape: &Shape) -> Option<f64> {
    match shape {
        Shape::Polyhedron(p) => Some(super::sieve_size(p)),
        Shape::Polygon(p) => {
            // The width is smallest across a side.
            let width = |n: &[f64; 2]| {
                let heights = p.vertices().iter().map(|v| n[0] * v[0] + n[1] * v[1]);
                let ends = heights
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |e, h| (e.0.min(h), e.1.max(h)));
                ends.1 - ends.0
            };
            p.normals().iter().map(width).reduce(f64::min)
        }
        Shape::Sphere { radius } | Shape::Disc { radius, .. } => Some(2.0 * radius),
        Shape::Curved(c) => Some(match c.core() {
            // Every width of a rounded shape is that of its core plus twice its radius.
            Core::Segment { .. } => 2.0 * c.radius(),
            Core::Hull(p) => super::sieve_size(p) + 2.0 * c.radius(),
            _ => super::sieve::aperture(&c.surface(64).corners),
        }),
        Shape::HalfSpace { .. } | Shape::Compound(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_rises_at_each_grain_and_starts_at_the_dust() {
        let curve = SieveCurve::new([(0.03, 2.0), (0.01, 1.0)], 1.0);
        assert_eq!((curve.mass(), curve.largest()), (4.0, 0.03));
        let passing = [0.001, 0.01, 0.02, 0.03, 1.0].map(|d| curve.passing(d));
        assert_eq!(passing, [0.25, 0.5, 0.5, 1.0, 1.0]);
        assert_eq!(curve.points().collect::<Vec<_>>(), [[0.01, 0.5], [0.03, 1.0]]);
    }

    #[test]
    fn breakage_is_zero_at_first_and_one_for_the_ultimate_curve() {
        let (smallest, largest, n) = (1e-3_f64, 0.05_f64, 20_000);
        let first = SieveCurve::new([(largest, 1.0)], 0.0);
        assert_eq!(first.breakage(&first, smallest), 0.0);
        // Grains of equal mass at the quantiles of the ultimate curve.
        let ultimate = (0..n).map(|k| {
            let f = (f64::from(k) + 0.5) / f64::from(n);
            let (low, high) = (smallest.powf(0.4), largest.powf(0.4));
            ((low + f * (high - low)).powf(1.0 / 0.4), 1.0 / f64::from(n))
        });
        let index = first.breakage(&SieveCurve::new(ultimate, 0.0), smallest);
        // Midpoint sums.
        assert!((index - 1.0).abs() < 1e-6, "{index}");
        let halves = SieveCurve::new([(0.025, 0.5), (0.05, 0.5)], 0.0);
        let index = first.breakage(&halves, smallest);
        assert!(index > 0.0 && index < 1.0);
        assert!(first.breakage(&SieveCurve::new([], 1.0), smallest) > 1.0, "all dust");
    }

    #[test]
    fn a_rectangle_passes_a_gap_of_its_shorter_side() {
        let flat = Shape::polygon(&[[0., 0.], [3., 0.], [3., 1.], [0., 1.]], 0.1).unwrap();
        assert!((aperture_of(&flat).unwrap() - 1.0).abs() < 1e-15);
        let cube = Shape::cuboid([0.2, 0.1, 0.4]).unwrap();
        assert!((aperture_of(&cube).unwrap() - 0.2).abs() < 1e-6);
        assert_eq!(aperture_of(&Shape::half_space([0.0, 0.0, 1.0]).unwrap()), None);
    }
}
