//! Kinematic loops: each is cut, and the cut gives the equations `h_B(q) = 0` (Sec. 2.5).
//!
//! Every equation is one row. Its gradient is a wrench that acts with opposite signs on the two bodies: force and
//! moment per unit of the multiplier, so that `J_B` and the loop forces come from the same six numbers.

use super::tree::{Spatial, Tree, TreeScratch};
use crate::math::{Mat3, Vec3};

/// The connection between the two bodies of a cut. Axes are the z axes of the two frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cut {
    /// The origins coincide: 3 equations.
    Ball,
    /// The origins and the z axes coincide: 5 equations.
    Hinge,
    /// The origins keep a fixed distance: 1 equation.
    Rod {
        /// The distance [m].
        length: f64,
    },
    /// The frames are parallel and the second slides along the z axis of the first: 5 equations.
    Prismatic,
    /// The origins coincide when seen along the z axis of the first frame: 2 equations, for planar
    /// mechanisms.
    Pin,
    /// The frames coincide: 6 equations.
    Weld,
}

impl Cut {
    /// Number of equations.
    pub fn equations(&self) -> usize {
        match self {
            Cut::Rod { .. } => 1,
            Cut::Pin => 2,
            Cut::Ball => 3,
            Cut::Hinge | Cut::Prismatic => 5,
            Cut::Weld => 6,
        }
    }

    /// Name of what each equation constrains.
    pub fn equation_names(&self) -> &'static [&'static str] {
        match self {
            Cut::Rod { .. } => &["length"],
            Cut::Pin => &["x", "y"],
            Cut::Ball => &["x", "y", "z"],
            Cut::Hinge => &["x", "y", "z", "tilt x", "tilt y"],
            Cut::Prismatic => &["x", "y", "turn z", "turn x", "turn y"],
            Cut::Weld => &["x", "y", "z", "turn z", "turn x", "turn y"],
        }
    }

    /// Unit of the constraint force of an equation: `N` or `N m`.
    pub fn force_unit(&self, equation: usize) -> &'static str {
        if self.is_angle(equation) { "N m" } else { "N" }
    }

    /// Whether an equation constrains an angle rather than a length.
    pub(super) fn is_angle(&self, equation: usize) -> bool {
        matches!(self.rows()[equation], Row::Angle(..))
    }

    /// Name of the kind of cut.
    pub fn word(&self) -> &'static str {
        match self {
            Cut::Rod { .. } => "rod",
            Cut::Pin => "pin",
            Cut::Ball => "ball",
            Cut::Hinge => "hinge",
            Cut::Prismatic => "prismatic",
            Cut::Weld => "weld",
        }
    }

    /// The rows of its equations.
    pub fn rows(&self) -> &'static [Row] {
        use Row::{Along, Angle, Distance};
        const TURN: [Row; 3] = [Angle(0, 1), Angle(1, 2), Angle(2, 0)];
        match self {
            Cut::Rod { .. } => &[Distance],
            Cut::Pin => &[Along(0), Along(1)],
            Cut::Ball => &[Along(0), Along(1), Along(2)],
            Cut::Hinge => &[Along(0), Along(1), Along(2), Angle(2, 0), Angle(2, 1)],
            Cut::Prismatic => &[Along(0), Along(1), TURN[0], TURN[1], TURN[2]],
            Cut::Weld => &[Along(0), Along(1), Along(2), TURN[0], TURN[1], TURN[2]],
        }
    }
}

/// One equation between two frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Row {
    /// The coordinate of the second origin along an axis of the first frame is 0.
    Along(usize),
    /// An axis of the first frame is perpendicular to one of the second.
    Angle(usize, usize),
    /// The distance of the origins is fixed.
    Distance,
}

/// A frame on a body.
#[derive(Clone, Debug)]
pub(crate) struct Anchor {
    pub body: u32,
    pub rotation: Mat3,
    pub point: Vec3,
}

/// A cut loop.
#[derive(Clone, Debug)]
pub(crate) struct Closure {
    pub name: String,
    pub cut: Cut,
    pub a: Anchor,
    pub b: Anchor,
    /// Index of its first equation in the mechanism.
    pub first_row: usize,
    /// Columns that move one of the bodies relative to the other: +1 for the second body, −1 for
    /// the first.
    pub path: Vec<(u32, f64)>,
}

/// Both frames of a cut in the world; points relative to the reference point.
struct Meeting {
    ra: Mat3,
    rb: Mat3,
    pa: Vec3,
    pb: Vec3,
}

impl Closure {
    fn meet(&self, tree: &Tree, w: &TreeScratch) -> Meeting {
        // The axes of the second frame matter only if angles are constrained.
        let angles = self.cut.equations() > 3;
        let identity = Mat3::identity();
        Meeting {
            ra: tree.rotation(w, self.a.body) * self.a.rotation,
            rb: if angles { tree.rotation(w, self.b.body) * self.b.rotation } else { identity },
            pa: tree.arm(w, self.a.body, &self.a.point),
            pb: tree.arm(w, self.b.body, &self.b.point),
        }
    }

    /// The residual `h_B` of its equations [m, –], after [`Tree::kinematics`].
    pub fn residual(&self, tree: &Tree, w: &TreeScratch, h: &mut [f64]) {
        let m = self.meet(tree, w);
        let d = m.pb - m.pa;
        for (row, h) in self.cut.rows().iter().zip(h) {
            *h = match *row {
                Row::Along(k) => m.ra.column(k).dot(&d),
                Row::Angle(i, j) => m.ra.column(i).dot(&m.rb.column(j)),
                Row::Distance => {
                    let length = self.length();
                    0.5 * (d.norm_squared() / length - length)
                }
            };
        }
    }

    fn length(&self) -> f64 {
        if let Cut::Rod { length } = self.cut { length } else { 1.0 }
    }

    /// The wrench of each equation on the second body per unit of its multiplier: a row of `J_B`
    /// before multiplication with the columns.
    pub fn wrenches(&self, tree: &Tree, w: &TreeScratch, out: &mut [Spatial]) {
        let m = self.meet(tree, w);
        for (row, out) in self.cut.rows().iter().zip(out) {
            let force = match *row {
                Row::Along(k) => m.ra.column(k).into_owned(),
                Row::Distance => (m.pb - m.pa) / self.length(),
                Row::Angle(i, j) => {
                    let angular = m.rb.column(j).cross(&m.ra.column(i));
                    *out = Spatial { angular, linear: Vec3::zeros() };
                    continue;
                }
            };
            *out = Spatial { angular: m.pb.cross(&force), linear: force };
        }
    }

    /// `J̇_B v` of its equations, after [`Tree::motion`]: their second time derivative at constant
    /// velocities.
    pub fn drift(&self, tree: &Tree, w: &TreeScratch, out: &mut [f64]) {
        let m = self.meet(tree, w);
        let d = m.pb - m.pa;
        let (ta, tb) = (tree.twist(w, self.a.body), tree.twist(w, self.b.body));
        let (ba, bb) = (tree.bias_of(w, self.a.body), tree.bias_of(w, self.b.body));
        let v = Tree::velocity_at(&tb, &m.pb) - Tree::velocity_at(&ta, &m.pa);
        let a = Tree::acceleration_at(&bb, &tb, &m.pb) - Tree::acceleration_at(&ba, &ta, &m.pa);
        // Velocity of the second origin as seen from the first body, and its time derivative.
        let seen = v - ta.angular.cross(&d);
        let rate = a - ba.angular.cross(&d) - ta.angular.cross(&v);
        for (row, out) in self.cut.rows().iter().zip(out) {
            *out = match *row {
                Row::Along(k) => {
                    let u = m.ra.column(k).into_owned();
                    u.dot(&rate) + ta.angular.cross(&u).dot(&seen)
                }
                Row::Angle(i, j) => {
                    let (x, y) = (m.ra.column(i).into_owned(), m.rb.column(j).into_owned());
                    let turning = tb.angular.cross(&y).cross(&x) + y.cross(&ta.angular.cross(&x));
                    (bb.angular - ba.angular).dot(&y.cross(&x))
                        + (tb.angular - ta.angular).dot(&turning)
                }
                Row::Distance => (d.dot(&a) + v.norm_squared()) / self.length(),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Pose, Quat};
    use crate::multibody::{GROUND, Joint, Marker, Mechanism, Multibody};
    use crate::shape::MassProperties;

    const CUTS: [Cut; 6] =
        [Cut::Ball, Cut::Hinge, Cut::Rod { length: 0.5 }, Cut::Prismatic, Cut::Pin, Cut::Weld];

    /// A free body whose frame is held to that of the ground by a cut.
    fn held(cut: Cut) -> Multibody {
        let mut m = Mechanism::new("held");
        let mass = MassProperties::principal(1.0, [0.0; 3], [0.1; 3]);
        let body = m.add("body", GROUND, Joint::Free, Pose::IDENTITY, Some(mass));
        m.guess(m.coordinate(body, 0), 0.5);
        m.close_loop("cut", cut, Marker::at(GROUND, [0.0; 3]), Marker::at(body, [0.0; 3]));
        m.build([0.0; 3]).unwrap_or_else(|e| panic!("{cut:?}: {e}"))
    }

    /// Residual with the body at a pose.
    fn residual(system: &Multibody, at: Vec3, turned: Vec3) -> Vec<f64> {
        let mut q = at.as_slice().to_vec();
        q.extend(Quat::from_scaled_axis(turned).coords.iter());
        let mut w = system.scratch();
        system.loop_residual(&q, &mut w);
        w.residual
    }

    #[test]
    fn every_equation_has_a_name_and_a_unit() {
        for cut in CUTS {
            assert_eq!(cut.equation_names().len(), cut.equations(), "{}", cut.word());
            for (k, name) in cut.equation_names().iter().enumerate() {
                let moment = name.starts_with("turn") || name.starts_with("tilt");
                assert_eq!(cut.force_unit(k), if moment { "N m" } else { "N" }, "{}", cut.word());
            }
        }
    }

    #[test]
    fn displacements_appear_in_the_equations_that_constrain_them() {
        let d = Vec3::new(0.1, -0.2, 0.3);
        let none = Vec3::zeros();
        assert_eq!(residual(&held(Cut::Ball), d, none), d.as_slice());
        assert_eq!(residual(&held(Cut::Pin), d, none), [0.1, -0.2]);
        assert_eq!(residual(&held(Cut::Hinge), d, none)[..3], *d.as_slice());
        assert_eq!(residual(&held(Cut::Weld), d, none)[..3], *d.as_slice());
        assert_eq!(residual(&held(Cut::Prismatic), d, none)[..2], [0.1, -0.2]);
        // A rod measures the change of its length, to first order.
        let rod = held(Cut::Rod { length: 0.5 });
        let long = residual(&rod, Vec3::new(0.0, 0.5 + 1e-4, 0.0), none)[0];
        assert!((long - 1e-4).abs() < 1.1e-8, "half the square divided by the length: {long}");
    }

    #[test]
    fn rotations_appear_in_the_equations_that_constrain_them() {
        let (x, y, z) = (Vec3::x() * 0.1, Vec3::y() * 0.1, Vec3::z() * 0.1);
        let (sin, none) = (0.1_f64.sin(), Vec3::zeros());
        // A hinge turns about z and measures a tilt about x or y by its sine.
        let hinge = held(Cut::Hinge);
        let near = |found: &[f64], expected: &[f64]| {
            let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-15, "{found:?} {expected:?}");
        };
        near(&residual(&hinge, none, z)[3..], &[0.0, 0.0]);
        near(&residual(&hinge, none, x)[3..], &[0.0, sin]);
        near(&residual(&hinge, none, y)[3..], &[-sin, 0.0]);
        // Weld and prismatic measure a rotation about each axis in one equation, in the order z, x,
        // y.
        for (cut, first) in [(Cut::Weld, 3), (Cut::Prismatic, 2)] {
            let system = held(cut);
            for (k, turn) in [z, x, y].into_iter().enumerate() {
                let found = residual(&system, none, turn);
                for (i, h) in found[first..].iter().enumerate() {
                    let expected = if i == k { sin } else { 0.0 };
                    assert!((h.abs() - expected).abs() < 1e-15, "{} {found:?}", cut.word());
                }
            }
        }
        // Ball, pin and rod are not affected by rotations.
        for cut in [Cut::Ball, Cut::Pin] {
            near(&residual(&held(cut), none, x + y - z), &[0.0; 3][..cut.equations()]);
        }
    }

    #[test]
    fn the_remaining_freedom_is_what_the_cut_does_not_constrain() {
        for cut in CUTS {
            let system = held(cut);
            let partition = &system.start().partition;
            assert_eq!(system.degrees_of_freedom(partition), 6 - cut.equations());
            assert!(partition.redundant.is_empty());
            assert_eq!(system.loops().next(), Some(("cut", cut)));
            let last = cut.equations() - 1;
            let name = format!("cut: {}", cut.equation_names()[last]);
            assert_eq!(system.equation_name(last), name);
            assert_eq!(system.equation_unit(last), cut.force_unit(last));
            assert_eq!(
                (system.equation_name(last + 1).as_str(), system.equation_unit(last + 1)),
                ("", "")
            );
        }
    }
}
