//! Cross-sections and materials of bars and beams.

use super::error::Problems;

/// A cross-section of a beam. The axis x of its frame is along the beam; y and z are its principal axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Section {
    /// A full circle.
    Circle {
        /// Radius [m].
        radius: f64,
    },
    /// A circular tube.
    Tube {
        /// Outer radius [m].
        outer: f64,
        /// Inner radius [m].
        inner: f64,
    },
    /// A rectangle.
    Rectangle {
        /// Size along z [m].
        height: f64,
        /// Size along y [m].
        width: f64,
    },
    /// Any section, by its constants.
    Given {
        /// Area [m²].
        area: f64,
        /// Shear factors along y and z [–]: the parts of the area that carry shear.
        shear: [f64; 2],
        /// Second moment of area about y [m⁴].
        inertia_y: f64,
        /// Second moment of area about z [m⁴].
        inertia_z: f64,
        /// Torsion constant [m⁴].
        torsion: f64,
    },
}

/// What a beam needs to know about its section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectionConstants {
    /// Area [m²].
    pub area: f64,
    /// Shear factors along y and z [–].
    pub shear: [f64; 2],
    /// Second moments of area about y and z [m⁴].
    pub inertia: [f64; 2],
    /// Torsion constant [m⁴].
    pub torsion: f64,
}

impl Section {
    /// Area, shear factors (Cowper 1966), second moments and torsion constant for Poisson's ratio `nu` [–].
    pub fn constants(&self, nu: f64) -> SectionConstants {
        use std::f64::consts::PI;
        match *self {
            Section::Circle { radius } => Section::Tube { outer: radius, inner: 0.0 }.constants(nu),
            Section::Tube { outer, inner } => {
                let m = inner / outer;
                let both = (1.0 + m * m) * (1.0 + m * m);
                let factor = 6.0 * (1.0 + nu) * both
                    / ((7.0 + 6.0 * nu) * both + (20.0 + 12.0 * nu) * m * m);
                let fourth = |r: f64| r * r * r * r;
                let inertia = 0.25 * PI * (fourth(outer) - fourth(inner));
                SectionConstants {
                    area: PI * (outer * outer - inner * inner),
                    shear: [factor; 2],
                    inertia: [inertia; 2],
                    torsion: 2.0 * inertia,
                }
            }
            Section::Rectangle { height, width } => SectionConstants {
                area: height * width,
                shear: [10.0 * (1.0 + nu) / (12.0 + 11.0 * nu); 2],
                inertia: [
                    width * height * height * height / 12.0,
                    height * width * width * width / 12.0,
                ],
                torsion: torsion_of_rectangle(height.max(width), height.min(width)),
            },
            Section::Given { area, shear, inertia_y, inertia_z, torsion } => {
                SectionConstants { area, shear, inertia: [inertia_y, inertia_z], torsion }
            }
        }
    }

    /// Radius of the circle about the axis that contains the section [m]; that of the circle of equal area for a
    /// section given by its constants.
    pub fn radius(&self) -> f64 {
        match *self {
            Section::Circle { radius } => radius,
            Section::Tube { outer, .. } => outer,
            Section::Rectangle { height, width } => 0.5 * crate::math::length2(height, width),
            Section::Given { area, .. } => (area / std::f64::consts::PI).sqrt(),
        }
    }

    /// Corners of the outline in the plane of the section, `[y, z]`, anticlockwise seen from the end of the beam [m]: those of a
    /// rectangle, or of a polygon in the circle of [`Section::radius`].
    pub fn outline(&self) -> Vec<[f64; 2]> {
        if let Section::Rectangle { height, width } = *self {
            let (y, z) = (0.5 * width, 0.5 * height);
            return vec![[y, -z], [y, z], [-y, z], [-y, -z]];
        }
        circle(self.radius())
    }

    pub(super) fn check(&self, problems: &mut Problems) {
        match *self {
            Section::Circle { radius } => problems.positive("section", "radius", radius, "m"),
            Section::Tube { outer, inner } => {
                problems.positive("section", "outer radius", outer, "m");
                if !(inner >= 0.0 && inner < outer) {
                    problems.add(
                        "section",
                        format!("the inner radius must be at least 0 and below the outer one of {outer} m, not {inner} m"),
                    );
                }
            }
            Section::Rectangle { height, width } => {
                problems.positive("section", "height", height, "m");
                problems.positive("section", "width", width, "m");
            }
            Section::Given { area, shear, inertia_y, inertia_z, torsion } => {
                problems.positive("section", "area", area, "m²");
                problems.positive("section", "shear factor along y", shear[0], "");
                problems.positive("section", "shear factor along z", shear[1], "");
                problems.positive("section", "second moment of area about y", inertia_y, "m⁴");
                problems.positive("section", "second moment of area about z", inertia_z, "m⁴");
                problems.positive("section", "torsion constant", torsion, "m⁴");
            }
        }
    }
}

/// Corners of a polygon in a circle.
pub(super) fn circle(radius: f64) -> Vec<[f64; 2]> {
    let corner = |k: u32| {
        let (sin, cos) = crate::math::sin_cos(std::f64::consts::TAU * f64::from(k) / 12.0);
        [radius * cos, radius * sin]
    };
    (0..12).map(corner).collect()
}

/// Saint-Venant's series for a rectangle with sides `a ≥ b`.
fn torsion_of_rectangle(a: f64, b: f64) -> f64 {
    let ratio = a / b;
    let decay = exponential(-std::f64::consts::PI * ratio);
    let mut power = decay;
    let mut sum = 0.0;
    // tanh(nπa/2b) / n⁵ for odd n; the terms after n = 99 are below 1e-11 of the sum together.
    for k in 0..50 {
        let n = f64::from(2 * k + 1);
        sum += (1.0 - power) / (1.0 + power) / (n * n * n * n * n);
        power *= decay * decay;
    }
    let pi5 = std::f64::consts::PI.powi(5);
    a * b * b * b / 3.0 * (1.0 - 192.0 / pi5 / ratio * sum)
}

/// The exponential of a number that is not positive: a series for a part of it, squared as often as needed. The system's
/// differs between machines.
fn exponential(x: f64) -> f64 {
    if x < -700.0 {
        return 0.0;
    }
    let (mut part, mut squarings) = (x, 0);
    while part < -0.1 {
        part *= 0.5;
        squarings += 1;
    }
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..12 {
        term *= part / f64::from(k);
        sum += term;
    }
    for _ in 0..squarings {
        sum *= sum;
    }
    sum
}

/// A linear elastic material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elastic {
    /// Young's modulus E [Pa].
    pub young: f64,
    /// Shear modulus G [Pa].
    pub shear: f64,
    /// Density ρ [kg/m³].
    pub density: f64,
}

impl Elastic {
    /// A material with Young's modulus `young` [Pa], Poisson's ratio `nu` [–] and `density` [kg/m³]:
    /// `G = E / (2 (1 + ν))`.
    pub fn new(young: f64, nu: f64, density: f64) -> Elastic {
        Elastic { young, shear: young / (2.0 * (1.0 + nu)), density }
    }

    /// Poisson's ratio: `E / 2G − 1` [–].
    pub fn nu(&self) -> f64 {
        self.young / (2.0 * self.shear) - 1.0
    }

    pub(super) fn check(&self, problems: &mut Problems) {
        problems.positive("material", "Young's modulus", self.young, "Pa");
        problems.positive("material", "shear modulus", self.shear, "Pa");
        problems.positive("material", "density", self.density, "kg/m³");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_tubes_and_rectangles_have_their_textbook_constants() {
        use std::f64::consts::PI;
        let circle = Section::Circle { radius: 0.1 }.constants(0.3);
        assert!((circle.area - PI * 0.01).abs() < 1e-16);
        assert!((circle.inertia[0] - PI / 4.0 * 1e-4).abs() < 1e-18);
        assert!((circle.torsion - PI / 2.0 * 1e-4).abs() < 1e-18);
        // Cowper's 6(1+ν)/(7+6ν).
        assert!((circle.shear[0] - 7.8 / 8.8).abs() < 1e-15);
        // A thin tube: A = 2πrt, I = πr³t, J = 2I, factor 2(1+ν)/(4+3ν); first order in t/r = 1e-4.
        let (r, t) = (0.1, 1e-5);
        let tube = Section::Tube { outer: r + 0.5 * t, inner: r - 0.5 * t }.constants(0.3);
        assert!((tube.area / (2.0 * PI * r * t) - 1.0).abs() < 1e-8);
        assert!((tube.inertia[1] / (PI * r * r * r * t) - 1.0).abs() < 1e-7);
        assert!((tube.shear[1] - 2.6 / 4.9).abs() < 1e-4);
        let slab = Section::Rectangle { height: 0.2, width: 0.1 }.constants(0.0);
        assert!((slab.area - 0.02).abs() < 1e-17 && (slab.shear[0] - 5.0 / 6.0).abs() < 1e-15);
        assert!((slab.inertia[0] - 0.1 * 0.008 / 12.0).abs() < 1e-18);
        assert!((slab.inertia[1] - 0.2 * 0.001 / 12.0).abs() < 1e-18);
    }

    #[test]
    fn the_torsion_constant_of_a_rectangle_agrees_with_the_tables() {
        // Timoshenko and Goodier, Theory of Elasticity, table of k₁: four digits.
        for (ratio, k) in [(1.0, 0.1406), (1.5, 0.196), (2.0, 0.229), (4.0, 0.281), (10.0, 0.312)] {
            let found = torsion_of_rectangle(ratio, 1.0) / ratio;
            assert!((found - k).abs() < 6e-4, "{ratio}: {found}");
        }
        let [flat, upright] = [(0.1, 0.3), (0.3, 0.1)]
            .map(|(height, width)| Section::Rectangle { height, width }.constants(0.3).torsion);
        assert_eq!(flat, upright);
        assert!((torsion_of_rectangle(1e4, 1.0) / 1e4 - 1.0 / 3.0).abs() < 1e-4, "a thin strip");
    }

    #[test]
    fn the_exponential_agrees_with_that_of_the_system() {
        for x in [-0.0, -0.05, -1.0, -3.13, -30.0, -600.0] {
            // Each of up to 13 squarings doubles the relative error, 3e-16 at first.
            assert!((exponential(x) / x.exp() - 1.0).abs() < 2.5e-12, "{x}");
        }
        assert_eq!(exponential(-1e300), 0.0);
    }

    #[test]
    fn the_shear_modulus_and_poissons_ratio_belong_together() {
        let steel = Elastic::new(2.1e11, 0.3, 7800.0);
        assert!((steel.shear / 8.0769e10 - 1.0).abs() < 1e-5);
        assert!((steel.nu() - 0.3).abs() < 1e-15);
    }

    #[test]
    fn outlines_run_anticlockwise_around_the_area() {
        let area = |outline: &[[f64; 2]]| -> f64 {
            let next = outline.iter().cycle().skip(1);
            outline.iter().zip(next).map(|(a, b)| 0.5 * (a[0] * b[1] - a[1] * b[0])).sum()
        };
        let slab = Section::Rectangle { height: 0.2, width: 0.1 };
        assert!((area(&slab.outline()) - 0.02).abs() < 1e-17);
        // Twelve corners: 3 r².
        assert!((area(&Section::Circle { radius: 2.0 }.outline()) - 12.0).abs() < 1e-14);
        assert!(Section::Tube { outer: 0.2, inner: 0.1 }.radius() == 0.2);
    }

    #[test]
    fn every_number_of_a_section_is_checked() {
        let bad = [
            (Section::Circle { radius: 0.0 }, 1),
            (Section::Tube { outer: 0.1, inner: 0.1 }, 1),
            (Section::Tube { outer: f64::NAN, inner: -1.0 }, 2),
            (Section::Rectangle { height: -1.0, width: f64::INFINITY }, 2),
            (
                Section::Given {
                    area: 0.0,
                    shear: [0.0; 2],
                    inertia_y: 0.0,
                    inertia_z: 0.0,
                    torsion: 0.0,
                },
                6,
            ),
        ];
        for (section, n) in bad {
            let mut problems = Problems::default();
            section.check(&mut problems);
            assert_eq!(problems.len(), n, "{section:?}");
        }
        let mut problems = Problems::default();
        Elastic::new(0.0, -1.0, -7.0).check(&mut problems);
        assert_eq!(problems.len(), 3);
    }
}
