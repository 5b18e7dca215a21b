//! Measures with respect to gravity: the slope of a free surface, and segregation by size.

use super::{Measures, Region};
use crate::math::{Vec3, tangents};
use std::collections::BTreeMap;

/// The slope of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// Angle between the surface and the horizontal [rad].
    pub angle: f64,
    /// Horizontal direction in which the surface descends [–]; zero if it is horizontal.
    pub descent: Vec3,
}

impl Slope {
    /// Angle of the direction of descent from x towards y [rad].
    pub fn direction(&self) -> f64 {
        self.descent.y.atan2(self.descent.x)
    }
}

/// Columns of the surface are this many times as wide as the mean grain.
const COLUMN_WIDTH: f64 = 2.0;

impl Measures<'_> {
    /// The direction opposite to gravity; `None` without gravity.
    fn up(&self) -> Option<Vec3> {
        let gravity = self.frame.scene.gravity();
        (gravity.norm() > 0.0).then(|| -gravity / gravity.norm())
    }

    /// Slope of the plane (in planar scenes the line) that fits the free surface best.
    ///
    /// The region is divided into vertical columns twice as wide as the mean grain. The surface
    /// consists of the highest free body of each column, at half its size above its centre of mass;
    /// the plane has the least squares of vertical distances. `None` without gravity, or if there
    /// are fewer than three columns (two in planar scenes) or all are in one line.
    pub fn slope(&self, region: &Region) -> Option<Slope> {
        let up = self.up()?;
        let (e1, e2) = match self.planar() {
            true => (Vec3::new(up.y, -up.x, 0.0), Vec3::zeros()),
            false => tangents(up),
        };
        let (sizes, width) = (&self.frame.scene.bodies().size, self.frame.scene.grain_size());
        let mut tops: BTreeMap<[i64; 2], Vec3> = BTreeMap::new();
        for i in self.inside(region) {
            let centre = self.centre(i);
            let top = Vec3::new(e1.dot(&centre), e2.dot(&centre), up.dot(&centre) + 0.5 * sizes[i]);
            let column = [top.x, top.y].map(|x| (x / (COLUMN_WIDTH * width)).floor() as i64);
            let highest = tops.entry(column).or_insert(top);
            if top.z > highest.z {
                *highest = top;
            }
        }
        let [b, c] = plane(&tops.into_values().collect::<Vec<_>>(), self.planar())?;
        let steepness = b.hypot(c);
        let descent = -(e1 * b + e2 * c) / if steepness > 0.0 { steepness } else { 1.0 };
        Some(Slope { angle: steepness.atan(), descent })
    }

    /// Segregation by size [–]: Pearson's correlation between size (diameter of equal volume) and
    /// height of the free bodies in a region. 1 if larger bodies are higher, −1 if they are lower, 0 if
    /// there is no relation. `None` without gravity, or if all sizes or heights are equal.
    pub fn segregation(&self, region: &Region) -> Option<f64> {
        let up = self.up()?;
        let sizes = &self.frame.scene.bodies().size;
        let points: Vec<[f64; 2]> =
            self.inside(region).map(|i| [sizes[i], up.dot(&self.centre(i))]).collect();
        correlation(&points)
    }
}

/// Slopes `b`, `c` of `z = a + b x + c y` that fits points best; in the plane, `c = 0`.
fn plane(points: &[Vec3], planar: bool) -> Option<[f64; 2]> {
    let mean = points.iter().sum::<Vec3>() / points.len().max(1) as f64;
    let [mut xx, mut xy, mut yy, mut xz, mut yz] = [0.0; 5];
    for p in points {
        let d = p - mean;
        xx += d.x * d.x;
        xy += d.x * d.y;
        yy += d.y * d.y;
        xz += d.x * d.z;
        yz += d.y * d.z;
    }
    if planar {
        return (xx > 0.0).then(|| [xz / xx, 0.0]);
    }
    let determinant = xx * yy - xy * xy;
    // Smaller if all points are in one line, up to rounding errors.
    let fits = points.len() >= 3 && determinant > 1e-9 * (xx + yy) * (xx + yy);
    fits.then(|| [(yy * xz - xy * yz) / determinant, (xx * yz - xy * xz) / determinant])
}

/// Pearson's correlation of pairs of values; `None` if one of the two does not vary.
fn correlation(points: &[[f64; 2]]) -> Option<f64> {
    let n = points.len() as f64;
    let mean = [0, 1].map(|k| points.iter().map(|p| p[k]).sum::<f64>() / n);
    let moment = |k: usize, l: usize| {
        points.iter().map(|p| (p[k] - mean[k]) * (p[l] - mean[l])).sum::<f64>()
    };
    let [a, b] = [moment(0, 0), moment(1, 1)];
    // Equal sizes differ by rounding errors.
    let varies = |k: usize, squares: f64| squares > n * (1e-9 * mean[k]).powi(2);
    (varies(0, a) && varies(1, b)).then(|| moment(0, 1) / (a * b).sqrt())
}
