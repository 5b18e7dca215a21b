//! Sieve curves: the fraction of the mass that passes each sieve, and sampling of grain sizes.
//!
//! A curve is about mass, while a generator draws grains one by one. Between two sieves the number
//! of grains per size is proportional to the mass per size divided by size³: of two sieve fractions
//! of equal mass, the one half as coarse has eight times as many grains.

use super::portable::ln_ratio;
use crate::math::cbrt;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::ops::Range;

/// A sieve curve: mass passing [%] against sieve size [m].
#[derive(Clone, Debug, PartialEq)]
pub struct Grading {
    fractions: Vec<Fraction>,
    /// Fraction of the number of grains up to the end of each fraction [–]; the last is 1.
    number: Vec<f64>,
}

/// The grains between two sieves.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fraction {
    /// Lower and upper sieve [m].
    size: [f64; 2],
    /// Mass passing the lower and the upper sieve [%].
    passing: [f64; 2],
    curve: Curve,
}

/// How the mass passing increases between two sieves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Curve {
    /// Proportional to the logarithm of size: a straight line on the usual sieve diagram.
    Log,
    /// Proportional to size.
    Linear,
    /// A step: all grains have the same size.
    Step,
}

/// Why a sieve curve is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GradingError {
    /// Fewer than two sieves.
    #[error(
        "a sieve curve needs at least two sieves, got {0}; for grains of one size use \
         `Grading::single`"
    )]
    TooFewSieves(usize),
    /// A sieve size that is not a positive length.
    #[error("sieve {index}: the size must be a positive length in metres, got {size}")]
    BadSize {
        /// Index of the sieve.
        index: usize,
        /// Its size [m].
        size: f64,
    },
    /// A sieve that is not coarser than the previous one.
    #[error(
        "sieve {index} ({size} m) must be coarser than the previous one ({before} m); list the \
         sieves from fine to coarse"
    )]
    SizeNotIncreasing {
        /// Index of the sieve.
        index: usize,
        /// Its size [m].
        size: f64,
        /// Size of the previous sieve [m].
        before: f64,
    },
    /// A percentage outside 0 to 100 %.
    #[error("sieve {index} ({size} m): mass passing must lie between 0 and 100 %, got {passing}")]
    BadPassing {
        /// Index of the sieve.
        index: usize,
        /// Its size [m].
        size: f64,
        /// Mass passing [%].
        passing: f64,
    },
    /// A sieve that lets less mass pass than a finer one.
    #[error(
        "sieve {index} ({size} m) lets {passing} % pass, less than the finer sieve before it \
         ({before} %)"
    )]
    PassingDecreases {
        /// Index of the sieve.
        index: usize,
        /// Its size [m].
        size: f64,
        /// Mass passing [%].
        passing: f64,
        /// Mass passing the previous sieve [%].
        before: f64,
    },
    /// A curve that does not start at 0 or does not end at 100 %.
    #[error(
        "sieve {index} ({size} m), the {which}, must let {expected} % of the mass pass, got \
         {passing} %; add a sieve where the curve ends"
    )]
    OpenEnd {
        /// Index of the sieve.
        index: usize,
        /// Its size [m].
        size: f64,
        /// "finest" or "coarsest".
        which: &'static str,
        /// Required mass passing [%].
        expected: f64,
        /// Mass passing [%].
        passing: f64,
    },
    /// An unknown name.
    #[error("no grading is named `{name}`; the available ones are `{}`", Grading::NAMES.join("`, `"))]
    UnknownName {
        /// The requested name.
        name: String,
    },
}

impl Grading {
    /// Names that [`Grading::named`] knows.
    pub const NAMES: [&'static str; 4] =
        ["EN 13450 31.5-50", "EN 13450 31.5-63", "EN 12620 gravel 4-8", "EN 196-1 sand"];

    /// A curve through sieves `(size [m], mass passing [%])`, listed from fine to coarse, from 0 to
    /// 100 %; straight between sieves if size is plotted on a logarithmic axis.
    pub fn from_sieves(sieves: &[(f64, f64)]) -> Result<Grading, GradingError> {
        if sieves.len() < 2 {
            return Err(GradingError::TooFewSieves(sieves.len()));
        }
        for (index, &(size, passing)) in sieves.iter().enumerate() {
            check_size(index, size)?;
            if !(0.0..=100.0).contains(&passing) {
                return Err(GradingError::BadPassing { index, size, passing });
            }
        }
        for (i, pair) in sieves.windows(2).enumerate() {
            let (index, [fine, coarse]) = (i + 1, [pair[0], pair[1]]);
            if coarse.0 <= fine.0 {
                let (size, before) = (coarse.0, fine.0);
                return Err(GradingError::SizeNotIncreasing { index, size, before });
            }
            if coarse.1 < fine.1 {
                let (size, passing) = coarse;
                let before = fine.1;
                return Err(GradingError::PassingDecreases { index, size, passing, before });
            }
        }
        let last = sieves.len() - 1;
        for (index, which, expected) in [(0, "finest", 0.0), (last, "coarsest", 100.0)] {
            let (size, passing) = sieves[index];
            if passing != expected {
                return Err(GradingError::OpenEnd { index, size, which, expected, passing });
            }
        }
        // A pair of sieves without mass between them gives no grains.
        let fractions = sieves.windows(2).filter(|pair| pair[1].1 > pair[0].1).map(|pair| {
            let [a, b] = [pair[0], pair[1]];
            Fraction { size: [a.0, b.0], passing: [a.1, b.1], curve: Curve::Log }
        });
        Ok(Grading::from_fractions(fractions.collect()))
    }

    /// Equal mass per millimetre of size between two sizes [m].
    pub fn uniform(size: Range<f64>) -> Result<Grading, GradingError> {
        check_size(0, size.start)?;
        check_size(1, size.end)?;
        if size.end <= size.start {
            let (size, before) = (size.end, size.start);
            return Err(GradingError::SizeNotIncreasing { index: 1, size, before });
        }
        let size = [size.start, size.end];
        let fraction = Fraction { size, passing: [0.0, 100.0], curve: Curve::Linear };
        Ok(Grading::from_fractions(vec![fraction]))
    }

    /// All grains have the same size [m].
    pub fn single(size: f64) -> Result<Grading, GradingError> {
        check_size(0, size)?;
        let fraction = Fraction { size: [size; 2], passing: [0.0, 100.0], curve: Curve::Step };
        Ok(Grading::from_fractions(vec![fraction]))
    }

    /// A grading from a standard, by its name in [`Grading::NAMES`]: the middle of the limits below
    /// [% passing]. The finest sieve is set to 0 % and the coarsest to 100 %, where the limits
    /// allow it, so that the curve is bounded.
    ///
    /// | `EN 13450 31.5-50` (railway ballast, category A) | 22.4 mm | 31.5 | 40 | 50 | 63 |
    /// | --- | --- | --- | --- | --- | --- |
    /// | limits | 0–3 | 1–25 | 30–65 | 70–99 | 100 |
    /// | here | 0 | 13 | 47.5 | 84.5 | 100 |
    ///
    /// | `EN 13450 31.5-63` (railway ballast, category F) | 22.4 mm | 31.5 | 40 | 50 | 63 | 80 |
    /// | --- | --- | --- | --- | --- | --- | --- |
    /// | limits | 0–7 | 0–7 | 15–40 | 45–70 | 93–98 | 100 |
    /// | here | 0 | 3.5 | 27.5 | 57.5 | 95.5 | 100 |
    ///
    /// | `EN 12620 gravel 4-8` (Gc 85/20) | 2 mm | 4 | 8 | 11.2 |
    /// | --- | --- | --- | --- | --- |
    /// | limits | 0–5 | 0–20 | 85–99 | 98–100 |
    /// | here | 0 | 10 | 92 | 100 |
    ///
    /// | `EN 196-1 sand` (CEN standard sand) | 0.08 mm | 0.16 | 0.5 | 1 | 1.6 | 2 |
    /// | --- | --- | --- | --- | --- | --- | --- |
    /// | limits | 0–2 | 8–18 | 28–38 | 62–72 | 88–98 | 100 |
    /// | here | 0 | 13 | 33 | 67 | 93 | 100 |
    ///
    /// The sand spans a factor of 25 in size: nearly all of its grains are fine, and some hundred
    /// thousand grains are needed before the coarse ones follow the curve.
    pub fn named(name: &str) -> Result<Grading, GradingError> {
        let sieves_mm: &[(f64, f64)] = match name {
            "EN 13450 31.5-50" => {
                &[(22.4, 0.0), (31.5, 13.0), (40.0, 47.5), (50.0, 84.5), (63.0, 100.0)]
            }
            "EN 13450 31.5-63" => {
                &[(22.4, 0.0), (31.5, 3.5), (40.0, 27.5), (50.0, 57.5), (63.0, 95.5), (80.0, 100.0)]
            }
            "EN 12620 gravel 4-8" => &[(2.0, 0.0), (4.0, 10.0), (8.0, 92.0), (11.2, 100.0)],
            "EN 196-1 sand" => {
                &[(0.08, 0.0), (0.16, 13.0), (0.5, 33.0), (1.0, 67.0), (1.6, 93.0), (2.0, 100.0)]
            }
            _ => return Err(GradingError::UnknownName { name: name.to_owned() }),
        };
        let sieves: Vec<_> = sieves_mm.iter().map(|&(size, p)| (size / 1000.0, p)).collect();
        Grading::from_sieves(&sieves)
    }

    fn from_fractions(fractions: Vec<Fraction>) -> Grading {
        // Sizes relative to the largest keep the cubes within floating-point range.
        let largest = fractions.last().map_or(1.0, |f| f.size[1]);
        let mut number: Vec<f64> = fractions
            .iter()
            .scan(0.0, |sum, f| {
                *sum += f.number(largest);
                Some(*sum)
            })
            .collect();
        let total = number.last().copied().unwrap_or(1.0);
        number.iter_mut().for_each(|n| *n /= total);
        Grading { fractions, number }
    }

    /// Smallest and largest grain [m].
    pub fn sizes(&self) -> Range<f64> {
        let [first, last] = [self.fractions.first(), self.fractions.last()];
        first.map_or(0.0, |f| f.size[0])..last.map_or(0.0, |f| f.size[1])
    }

    /// Mass that passes a sieve of the given size [m], in percent.
    pub fn passing(&self, size: f64) -> f64 {
        // The last fraction that starts below this size; there is no mass between two fractions.
        let i = self.fractions.partition_point(|f| f.size[0] <= size);
        if i == 0 { 0.0 } else { self.fractions[i - 1].passing(size) }
    }

    /// Sieve size [m] of the next grain, such that the masses of many grains follow the curve.
    pub fn sample(&self, rng: &mut Pcg64) -> f64 {
        self.quantile(rng.random())
    }

    /// Sieve sizes [m] of `n` grains in random order: one from each of `n` classes of equal
    /// probability, so that a few hundred already follow the curve.
    pub fn sample_many(&self, n: usize, rng: &mut Pcg64) -> Vec<f64> {
        let mut sizes: Vec<f64> =
            (0..n).map(|i| self.quantile((i as f64 + rng.random::<f64>()) / n as f64)).collect();
        sizes.shuffle(rng);
        sizes
    }

    /// The size below which a fraction `u` of the *number* of grains lies [m].
    fn quantile(&self, u: f64) -> f64 {
        let i = self.number.partition_point(|&n| n <= u).min(self.number.len() - 1);
        let before = if i == 0 { 0.0 } else { self.number[i - 1] };
        self.fractions[i].quantile((u - before) / (self.number[i] - before))
    }
}

impl Fraction {
    /// Number of grains, `∫ dm / s³` with size `s` in units of `scale`.
    fn number(&self, scale: f64) -> f64 {
        let mass = self.passing[1] - self.passing[0];
        let [a, b] = self.size.map(|s| scale / s);
        match self.curve {
            Curve::Log => mass * (a * a * a - b * b * b) / (3.0 * ln_ratio(b, a)),
            Curve::Linear => mass * 0.5 * (a * a - b * b) / (1.0 / b - 1.0 / a),
            Curve::Step => mass * a * a * a,
        }
    }

    /// The size below which a fraction `u` of the number of these grains lies [m].
    fn quantile(&self, u: f64) -> f64 {
        let [a, b] = self.size;
        let r = b / a;
        let size = match self.curve {
            // dn/ds ∝ s⁻⁴ and s⁻³.
            Curve::Log => b / cbrt(r * r * r - u * (r * r * r - 1.0)),
            Curve::Linear => b / (r * r - u * (r * r - 1.0)).sqrt(),
            Curve::Step => a,
        };
        size.clamp(a, b)
    }

    /// Mass passing a sieve no finer than the lower one [%].
    fn passing(&self, size: f64) -> f64 {
        let ([a, b], [low, high]) = (self.size, self.passing);
        if size >= b {
            return high;
        }
        let share = match self.curve {
            Curve::Log => ln_ratio(a, size) / ln_ratio(a, b),
            Curve::Linear => (size - a) / (b - a),
            Curve::Step => 0.0,
        };
        low + (high - low) * share
    }
}

fn check_size(index: usize, size: f64) -> Result<(), GradingError> {
    if size > 0.0 && size.is_finite() { Ok(()) } else { Err(GradingError::BadSize { index, size }) }
}

#[cfg(test)]
mod tests {
    use super::super::seeded;
    use super::*;

    /// Largest deviation of the mass passing of a sample from the curve, over 40 sieves [%].
    fn deviation(grading: &Grading, sizes: &[f64]) -> f64 {
        let mass = |s: f64| s * s * s;
        let total: f64 = sizes.iter().copied().map(mass).sum();
        let Range { start, end } = grading.sizes();
        (0..=40)
            .map(|k| {
                let sieve = start + (end - start) * f64::from(k) / 40.0;
                let passing: f64 = sizes.iter().copied().filter(|&s| s <= sieve).map(mass).sum();
                (100.0 * passing / total - grading.passing(sieve)).abs()
            })
            .fold(0.0, f64::max)
    }

    fn narrow() -> Vec<Grading> {
        let mut all = vec![Grading::uniform(0.01..0.04).unwrap(), Grading::single(0.05).unwrap()];
        all.extend(Grading::NAMES[..3].iter().map(|name| Grading::named(name).unwrap()));
        all
    }

    #[test]
    fn twenty_thousand_grains_follow_the_curve_in_mass() {
        for grading in narrow() {
            let mut rng = seeded(1);
            let sizes: Vec<f64> = (0..20_000).map(|_| grading.sample(&mut rng)).collect();
            // Statistical error of half the mass in n_eff grains: 50 % / √n_eff; n_eff ≥ 2000 here.
            assert!(deviation(&grading, &sizes) < 2.0, "{}", deviation(&grading, &sizes));
        }
    }

    #[test]
    fn five_hundred_stratified_grains_follow_the_curve_for_every_seed() {
        for grading in narrow() {
            for seed in 0..50 {
                let sizes = grading.sample_many(500, &mut seeded(seed));
                // The remaining error is that of a single grain: the coarsest has about 2 % of the
                // mass.
                assert!(deviation(&grading, &sizes) < 5.0, "{}", deviation(&grading, &sizes));
            }
        }
    }

    #[test]
    fn a_wide_sand_follows_its_curve_once_there_are_enough_grains() {
        let sand = Grading::named("EN 196-1 sand").unwrap();
        let sizes = sand.sample_many(300_000, &mut seeded(3));
        assert!(deviation(&sand, &sizes) < 2.0, "{}", deviation(&sand, &sizes));
    }

    #[test]
    fn grain_numbers_of_fractions_of_equal_mass_scale_with_the_inverse_cube_of_size() {
        // Narrow fractions around 1 and 2 mm: 8 fine grains for each coarse one.
        let sieves = [(0.999e-3, 0.0), (1.001e-3, 50.0), (1.998e-3, 50.0), (2.002e-3, 100.0)];
        let grading = Grading::from_sieves(&sieves).unwrap();
        let sizes = grading.sample_many(9000, &mut seeded(4));
        let fine = sizes.iter().filter(|&&s| s < 1.5e-3).count();
        assert!((fine as i64 - 8000).abs() <= 1);
    }

    #[test]
    fn the_curve_is_straight_in_the_logarithm_of_size_and_passes_its_sieves() {
        let grading = Grading::named("EN 13450 31.5-50").unwrap();
        assert_eq!(grading.passing(0.0315), 13.0);
        assert!((grading.passing((0.040f64 * 0.050).sqrt()) - 66.0).abs() < 1e-9);
        assert_eq!(
            (grading.passing(0.01), grading.passing(0.063), grading.passing(1.0)),
            (0.0, 100.0, 100.0)
        );
        assert_eq!(grading.sizes(), 0.0224..0.063);
        assert_eq!(Grading::uniform(1.0..3.0).unwrap().passing(1.5), 25.0);
        let single = Grading::single(0.02).unwrap();
        assert_eq!((single.passing(0.0199), single.passing(0.02)), (0.0, 100.0));
        assert_eq!(single.sample(&mut seeded(0)), 0.02);
    }

    #[test]
    fn a_gap_in_the_grading_is_flat_on_the_curve_and_contains_no_grain() {
        let sieves = [(1.0, 0.0), (2.0, 30.0), (4.0, 30.0), (8.0, 100.0)];
        let grading = Grading::from_sieves(&sieves).unwrap();
        assert_eq!((grading.passing(2.0), grading.passing(3.0)), (30.0, 30.0));
        let sizes = grading.sample_many(1000, &mut seeded(5));
        assert!(sizes.iter().all(|&s| s <= 2.0 || s >= 4.0));
    }

    #[test]
    fn every_listed_name_is_known_and_others_are_refused_with_the_list() {
        assert!(Grading::NAMES.iter().all(|name| Grading::named(name).is_ok()));
        let message = Grading::named("ballast").unwrap_err().to_string();
        assert!(message.contains("`ballast`") && message.contains("`EN 13450 31.5-50`"));
    }

    #[test]
    fn an_invalid_curve_is_reported_with_the_offending_sieve() {
        let fault = |sieves: &[(f64, f64)]| Grading::from_sieves(sieves).unwrap_err();
        assert_eq!(fault(&[(1.0, 0.0)]), GradingError::TooFewSieves(1));
        assert!(matches!(
            fault(&[(1.0, 0.0), (-2.0, 100.0)]),
            GradingError::BadSize { index: 1, .. }
        ));
        assert!(matches!(
            fault(&[(1.0, 0.0), (3.0, 20.0), (2.0, 100.0)]),
            GradingError::SizeNotIncreasing { index: 2, before: 3.0, .. }
        ));
        assert!(matches!(
            fault(&[(1.0, 0.0), (2.0, 50.0), (3.0, 40.0), (4.0, 100.0)]),
            GradingError::PassingDecreases { index: 2, before: 50.0, .. }
        ));
        assert!(matches!(
            fault(&[(1.0, 0.0), (2.0, f64::NAN)]),
            GradingError::BadPassing { index: 1, .. }
        ));
        assert!(matches!(
            fault(&[(1.0, 5.0), (2.0, 100.0)]),
            GradingError::OpenEnd { index: 0, which: "finest", .. }
        ));
        assert!(matches!(
            fault(&[(1.0, 0.0), (2.0, 90.0)]),
            GradingError::OpenEnd { index: 1, which: "coarsest", .. }
        ));
        assert!(Grading::uniform(2.0..1.0).is_err() && Grading::single(f64::NAN).is_err());
    }
}
