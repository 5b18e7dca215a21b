//! The lattice of a periodic cell at one time: which image of a point is the nearest, and where a
//! point is within the cell.

use super::Vec3;

/// Images of a periodic cell at one time: a point `p` stands for all points `p + n₁ a₁ + n₂ a₂ + n₃ a₃`
/// with integers `n`. The vectors `a` are along x, y and z, except that of y in a sheared cell (Lees
/// and Edwards): its image above is displaced along x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Lowest corner of the cell [m]; 0 in directions without a period.
    origin: Vec3,
    /// Lengths of the cell [m]; 0 in directions without a period.
    period: Vec3,
    /// Their inverses [1/m].
    inverse: Vec3,
    /// Displacement along x of the image above in y, at most half a period [m].
    offset: f64,
    /// Shear strain of the cell [–].
    strain: f64,
}

impl Lattice {
    /// The lattice of a cell with the given ranges [m] in periodic directions and this shear strain
    /// [–].
    pub fn new(ranges: &[Option<[f64; 2]>; 3], strain: f64) -> Lattice {
        let of = |k: usize, value: fn([f64; 2]) -> f64| ranges[k].map_or(0.0, value);
        let origin = Vec3::from_fn(|k, _| of(k, |[low, _]| low));
        let period = Vec3::from_fn(|k, _| of(k, |[low, high]| high - low));
        let inverse = Vec3::from_fn(|k, _| of(k, |[low, high]| 1.0 / (high - low)));
        let above = strain * period.y;
        let offset = above - (above * inverse.x).round() * period.x;
        Lattice { origin, period, inverse, offset, strain }
    }

    /// Shear strain of the cell [–].
    pub fn strain(&self) -> f64 {
        self.strain
    }

    /// Whether a direction is periodic.
    pub fn repeats(&self, axis: usize) -> bool {
        self.period[axis] > 0.0
    }

    /// Lengths of the cell [m]; 0 in directions without a period.
    pub fn period(&self) -> Vec3 {
        self.period
    }

    /// The lattice vector with these integers [m].
    #[inline]
    pub fn vector(&self, n: Vec3) -> Vec3 {
        let mut a = n.component_mul(&self.period);
        a.x += n.y * self.offset;
        a
    }

    /// The integers of the lattice vector nearest to `d`, if its distance from it is less than half a
    /// period in each direction.
    #[inline]
    pub fn nearest(&self, d: Vec3) -> Vec3 {
        let y = (d.y * self.inverse.y).round();
        let x = ((d.x - y * self.offset) * self.inverse.x).round();
        Vec3::new(x, y, (d.z * self.inverse.z).round())
    }

    /// The shortest of the vectors that differ from `d` by a lattice vector [m].
    #[inline]
    pub fn reduced(&self, d: Vec3) -> Vec3 {
        d - self.vector(self.nearest(d))
    }

    /// The lattice vector that brings a point into the cell [m].
    pub fn into_cell(&self, p: Vec3) -> Vec3 {
        let d = p - self.origin;
        let y = (d.y * self.inverse.y).floor();
        let x = ((d.x - y * self.offset) * self.inverse.x).floor();
        -self.vector(Vec3::new(x, y, (d.z * self.inverse.z).floor()))
    }

    /// The image of a point within the cell [m].
    pub fn wrapped(&self, p: Vec3) -> Vec3 {
        p + self.into_cell(p)
    }

    /// Whether a point is within the cell; its upper faces do not belong to it.
    pub fn contains(&self, p: Vec3) -> bool {
        (0..3).all(|axis| self.contains_along(axis, p))
    }

    /// Whether a point is between the two faces of the cell across an axis; true without a period.
    pub fn contains_along(&self, axis: usize, p: Vec3) -> bool {
        let d = p[axis] - self.origin[axis];
        !self.repeats(axis) || d >= 0.0 && d < self.period[axis]
    }

    /// The vectors to this cell and all that surround it [m], the one to itself first.
    pub fn around(&self) -> impl Iterator<Item = Vec3> + '_ {
        let steps = |k: usize| if self.repeats(k) { &[0.0, -1.0, 1.0][..] } else { &[0.0][..] };
        steps(2).iter().flat_map(move |z| {
            steps(1)
                .iter()
                .flat_map(move |y| steps(0).iter().map(move |x| self.vector(Vec3::new(*x, *y, *z))))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheared cell without a period along z.
    fn sheared(strain: f64) -> Lattice {
        Lattice::new(&[Some([-1.0, 2.0]), Some([0.5, 2.5]), None], strain)
    }

    #[test]
    fn a_difference_smaller_than_half_the_cell_is_found_through_any_image() {
        let d = Vec3::new(1.3, -0.9, 7.0);
        for strain in [0.0, 0.3, -1.7, 40.1] {
            let lattice = sheared(strain);
            for n in [[0.0; 3], [3.0, -2.0, 0.0], [-1.0, 1.0, 0.0]] {
                let away = d + lattice.vector(Vec3::from(n));
                assert_eq!(lattice.nearest(away), Vec3::from(n));
                // Round-off of vectors of about 10 m.
                assert!((lattice.reduced(away) - d).norm() < 1e-14);
            }
        }
    }

    #[test]
    fn the_image_above_is_displaced_by_the_strain_up_to_whole_periods() {
        // 0.4 × 2 m, and 3.4 × 2 m = 2 periods + 0.8 m.
        for strain in [0.4, 3.4] {
            let above = sheared(strain).vector(Vec3::y());
            assert!((above - Vec3::new(0.8, 2.0, 0.0)).norm() < 1e-14);
        }
        assert_eq!(sheared(0.4).around().count(), 9);
    }

    #[test]
    fn every_point_has_one_image_in_the_cell() {
        let lattice = sheared(0.37);
        for k in 0..200 {
            let p = Vec3::new((k as f64).sin() * 9.0, (k as f64 * 1.7).cos() * 9.0, k as f64);
            let q = lattice.wrapped(p);
            assert!(lattice.contains(q) && q.z == p.z, "{q}");
            assert!(lattice.reduced(q - p).norm() < 1e-13);
            let images = lattice.around().filter(|a| lattice.contains(q + a)).count();
            assert_eq!(images, 1);
        }
    }
}
