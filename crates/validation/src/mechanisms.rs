//! Standard mechanisms: the IFToMM benchmarks A01–A05, the tamping unit, and trees read from files.

use riprap::multibody::{
    Axis, Coordinate, Cut, GROUND, Joint, JointSpring, Link, Marker, Mechanism, PointSpring, Signal,
};
use riprap::prelude::*;
use riprap::shape::MassProperties;

/// Magnitude of gravity [m/s²].
pub const G: f64 = 9.81;

/// An arm of seven revolute joints: `data/pinocchio/arm7.txt`.
pub const ARM7: &str = include_str!("../data/pinocchio/arm7.txt");
/// A free base with four limbs, 36 degrees of freedom: `data/pinocchio/tree36.txt`.
pub const TREE36: &str = include_str!("../data/pinocchio/tree36.txt");

/// Parses a tree from the text written by `benches/pinocchio/trees.py`: one line per joint, with its parent, type, axis, placement, mass,
/// centre of mass and inertia about it.
pub fn tree_from_text(name: &str, text: &str) -> Mechanism {
    let mut m = Mechanism::new(name);
    for (i, line) in text.lines().enumerate() {
        let mut fields = line.split_whitespace();
        let parent: u32 = fields.next().and_then(|x| x.parse().ok()).expect("a parent");
        let kind = fields.next().expect("a type");
        let x: Vec<f64> = fields.map(|x| x.parse().expect("a number")).collect();
        let axis = Axis::from([x[0], x[1], x[2]]);
        let joint = match kind {
            "revolute" => Joint::Revolute(axis),
            "prismatic" => Joint::Prismatic(axis),
            "spherical" => Joint::Spherical,
            "freeflyer" => Joint::Free,
            other => panic!("unknown type of joint: {other}"),
        };
        let turn = nalgebra::Matrix3::from_row_slice(&x[3..12]);
        let turn = nalgebra::Rotation3::from_matrix_unchecked(turn);
        let place = Pose {
            position: Vec3::from_row_slice(&x[12..15]),
            rotation: Quat::from_rotation_matrix(&turn),
        };
        let [xx, yy, zz, xy, xz, yz] = x[19..25] else { panic!("six entries of the inertia") };
        let mass = MassProperties {
            mass: x[15],
            centre: Vec3::from_row_slice(&x[16..19]),
            inertia: nalgebra::Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
        };
        let parent = if parent == 0 { GROUND } else { Link(parent - 1) };
        m.add(&format!("joint-{}", i + 1), parent, joint, place, Some(mass));
    }
    m
}

/// A planar body in the x–y plane: mass [kg], centre [m], moment of inertia about it [kg m²].
fn planar(mass: f64, centre: [f64; 2], moment: f64) -> Option<MassProperties> {
    let c = [centre[0], centre[1], 0.0];
    // The moments about the other axes have no effect; these give the inertia tensor of a flat body.
    Some(MassProperties::principal(mass, c, [0.5 * moment, 0.5 * moment, moment]))
}

fn turn(
    m: &mut Mechanism,
    name: &str,
    on: Link,
    at: [f64; 2],
    mass: Option<MassProperties>,
) -> Link {
    m.add(name, on, Joint::Revolute(Axis::Z), Pose::at([at[0], at[1], 0.0]), mass)
}

/// A01: a point mass on a rod of 1 m, released horizontally. Gravity −y.
pub fn pendulum() -> Mechanism {
    let mut m = Mechanism::new("pendulum");
    let bob = Some(MassProperties::point(1.0, [0.0, -1.0, 0.0]));
    let arm = turn(&mut m, "arm", GROUND, [0.0, 0.0], bob);
    m.start(m.coordinate(arm, 0), -std::f64::consts::FRAC_PI_2);
    m
}

/// A02: `n` adjacent four-bar linkages: n + 1 upright rods on the ground, n couplers, all 1 m and 1 kg; the first joint
/// moves at 1 m/s. Gravity −y.
pub fn four_bars(n: usize) -> Mechanism {
    let mut m = Mechanism::new("four-bars");
    let upright = || planar(1.0, [0.0, 0.5], 1.0 / 12.0);
    let mut rods = Vec::new();
    for i in 0..=n {
        rods.push(turn(&mut m, &format!("rod-{i}"), GROUND, [i as f64, 0.0], upright()));
    }
    for i in 0..n {
        let bar = planar(1.0, [0.5, 0.0], 1.0 / 12.0);
        let coupler = turn(&mut m, &format!("coupler-{i}"), rods[i], [0.0, 1.0], bar);
        let (a, b) =
            (Marker::at(coupler, [1.0, 0.0, 0.0]), Marker::at(rods[i + 1], [0.0, 1.0, 0.0]));
        m.close_loop(&format!("window-{i}"), Cut::Pin, a, b);
    }
    m.start_velocity(m.coordinate(rods[0], 0), -1.0);
    m
}

/// A03: Andrews' squeezing mechanism in the x–y plane, without gravity, driven by a torque of 0.033 N m.
pub fn andrews() -> Mechanism {
    let mut m = Mechanism::new("andrews");
    let (xa, ya, xb, yb, xc, yc) = (-0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072);
    let k1 = turn(&mut m, "K1", GROUND, [0.0, 0.0], planar(0.04325, [0.00092, 0.0], 2.194e-6));
    let k2 = turn(&mut m, "K2", k1, [0.007, 0.0], planar(0.00365, [-0.0115, 0.0], 4.41e-7));
    let k3 = turn(&mut m, "K3", GROUND, [xb, yb], planar(0.02373, [0.01874, 0.01043], 5.255e-6));
    let k5 = turn(&mut m, "K5", GROUND, [xa, ya], planar(0.0705, [0.02308, 0.00916], 1.169e-5));
    let k4 = turn(&mut m, "K4", k5, [0.04, 0.0], planar(0.00706, [0.0, -0.02 + 0.01421], 5.667e-7));
    let k7 = turn(&mut m, "K7", GROUND, [xa, ya], planar(0.05498, [0.01228, 0.00449], 1.912e-5));
    let k6 = turn(&mut m, "K6", k7, [0.0, -0.04], planar(0.00706, [0.02 - 0.01421, 0.0], 5.667e-7));
    let end = Marker::at(k2, [-0.028, 0.0, 0.0]);
    m.close_loop("K2-K3", Cut::Pin, end, Marker::at(k3, [0.0, -0.035, 0.0]));
    m.close_loop("K2-K4", Cut::Pin, end, Marker::at(k4, [0.0, -0.02, 0.0]));
    m.close_loop("K2-K6", Cut::Pin, end, Marker::at(k6, [0.02, 0.0, 0.0]));
    let spring = PointSpring::Line { stiffness: 4530.0, damping: 0.0, length: 0.07785 };
    let (a, b) = (Marker::at(GROUND, [xc, yc, 0.0]), Marker::at(k3, [0.02, -0.018, 0.0]));
    m.point_spring("spring", spring, a, b);
    m.actuate("motor", m.coordinate(k1, 0), Signal::constant(0.033));
    let start = [
        (k1, -0.06171389001427645),
        (k2, 0.0),
        (k3, 0.45527981916307037),
        (k4, 0.22266839016588588),
        (k5, 0.48736497954384256),
        (k6, -0.22266839016588588),
        (k7, 1.2305474445498212),
    ];
    for (link, angle) in start {
        let c = m.coordinate(link, 0);
        if link == k2 { m.start(c, angle) } else { m.guess(c, angle) }
    }
    m
}

/// A04: Bricard's loop of five bars of 1 m between six hinges whose axes are Y Z X Y Z X; the last one is the cut.
/// The bars are 0.1 m square. Gravity −y.
pub fn bricard() -> Mechanism {
    let mut m = Mechanism::new("bricard");
    let axes = [Axis::Y, Axis::Z, Axis::X, Axis::Y, Axis::Z];
    let bars = [[1., 0., 0.], [0., -1., 0.], [0., 0., 1.], [-1., 0., 0.], [0., 1., 0.]];
    let (mut on, mut at) = (GROUND, [0.0; 3]);
    for (k, (axis, bar)) in axes.into_iter().zip(bars).enumerate() {
        let mut rod = MassProperties::rod(bar, 1.0);
        for i in 0..3 {
            rod.inertia[(i, i)] += 0.1 * 0.1 / if bar[i] == 0.0 { 12.0 } else { 6.0 };
        }
        on = m.add(&format!("bar-{}", k + 1), on, Joint::Revolute(axis), Pose::at(at), Some(rod));
        at = bar;
    }
    let (a, b) = (Marker::at(GROUND, [0.0, 0.0, 1.0]), Marker::at(on, at));
    m.close_loop("closing hinge", Cut::Hinge, a.along(Axis::X), b.along(Axis::X));
    m
}

/// A05: flyball governor. A shaft rotating about z, a slider on it, and two rods with 5 kg at their ends, connected to the slider
/// by stiff spring–dampers. Gravity −z.
pub fn flyball() -> Mechanism {
    let mut m = Mechanism::new("flyball");
    let density = 3000.0;
    let cuboid = |size: [f64; 3], centre: [f64; 3]| {
        let [a, b, c] = size;
        let mass = density * a * b * c;
        let moments = [b * b + c * c, a * a + c * c, a * a + b * b].map(|x| mass * x / 12.0);
        MassProperties::principal(mass, centre, moments)
    };
    let place = Pose::IDENTITY;
    let shaft = cuboid([0.01, 0.01, 1.0], [0.0, 0.0, 0.5]);
    let shaft = m.add("shaft", GROUND, Joint::Revolute(Axis::Z), place, Some(shaft));
    let slider = cuboid([0.1, 0.1, 0.1], [0.0; 3]);
    let slider = m.add("slider", shaft, Joint::Prismatic(Axis::Z), place, Some(slider));
    for (name, side) in [("rod-1", 1.0), ("rod-2", -1.0)] {
        let parts = [
            cuboid([1.0, 0.01, 0.01], [0.5 * side, 0.0, 0.0]),
            MassProperties::point(5.0, [side, 0.0, 0.0]),
        ];
        let rod = MassProperties::sum(parts.into_iter().map(Ok)).expect("it has a mass");
        let at = Pose::at([0.05 * side, 0.0, 1.0]);
        let rod = m.add(name, shaft, Joint::Revolute(Axis::Y), at, Some(rod));
        let spring = PointSpring::Line { stiffness: 8e5, damping: 4e4, length: 0.5 };
        let (a, b) =
            (Marker::at(slider, [0.05 * side, 0.0, 0.0]), Marker::at(rod, [0.5 * side, 0.0, 0.0]));
        m.point_spring(&format!("spring-{name}"), spring, a, b);
        m.start(m.coordinate(rod, 0), side * std::f64::consts::PI / 6.0);
    }
    m.start(m.coordinate(slider, 0), 0.5);
    m.start_velocity(m.coordinate(shaft, 0), std::f64::consts::TAU);
    m
}

/// Coordinates of the tamping unit, in the order of its reference files.
pub const TAMPING_COORDINATES: [&str; 10] =
    ["zs", "xc", "zc", "thc", "phif", "phiL", "phiR", "phib", "xa", "phik"];
/// Length of the actuator of the tamping unit with open and closed arms [m].
pub const TAMPING_LENGTHS: [f64; 2] = [0.42542967802374065, 0.5321944288839185];

/// The tamping unit in the x–z plane: 8 bodies, 10 coordinates, 2 loops, 6 degrees of freedom. The support is held at
/// 1.37 m, the flywheel rotates at a frequency [Hz], and the actuator follows a length [m] over time [s].
pub fn tamping_unit(
    frequency: f64,
    length: impl Fn(f64) -> f64 + Send + Sync + 'static,
) -> Mechanism {
    let mut m = tamping_machine(frequency);
    let support = m.coordinate_named("zs").expect("it has a support");
    let hold = JointSpring { stiffness: 1e6, rest: 1.37, damping: 1e3 };
    m.spring(support, hold);
    m.start(support, 1.37);
    let actuator = m.coordinate_named("xa").expect("it has an actuator");
    let (xq, xv) = (m.q_index(actuator).expect("one coordinate"), actuator.0 as usize);
    let squeeze = Signal::new(move |x| -5e5 * (x.q[xq] - length(x.t)) - 1e4 * x.v[xv]);
    m.actuate("squeeze", actuator, squeeze);
    m
}

/// The tamping unit without forces on its support and actuator: bodies, joints, loops, bushings and the drive that keeps
/// the flywheel at a frequency [Hz].
pub fn tamping_machine(frequency: f64) -> Mechanism {
    let mut m = Mechanism::new("tamping-unit");
    let flat = |mass: f64, centre: [f64; 2], moment: f64| {
        let moments = [0.5 * moment, moment, 0.5 * moment];
        Some(MassProperties::principal(mass, [centre[0], 0.0, centre[1]], moments))
    };
    let at = |x: f64, z: f64| Pose::at([x, 0.0, z]);
    let (slide_x, slide_z) = (Joint::Prismatic(Axis::X), Joint::Prismatic(Axis::Z));
    // Angles are positive from x towards z, that is, about −y.
    let hinge = Joint::Revolute(-Axis::Y);
    let support = m.add("zs", GROUND, slide_z, at(0.0, 0.0), flat(50.0, [0.0, 0.4], 2.0));
    let x = m.add("xc", support, slide_x, at(0.0, 0.0), None);
    let z = m.add("zc", x, slide_z, at(0.0, 0.0), None);
    let chassis = m.add("thc", z, hinge, at(0.0, 0.0), flat(20.0, [0.0, 0.05], 0.87));
    let flywheel = m.add("phif", chassis, hinge, at(0.0, -0.15), flat(15.0, [0.02, 0.0], 0.11));
    let arm = || flat(15.0, [0.0, -0.3], 1.8);
    let left = m.add("phiL", chassis, hinge, at(-0.24, 0.0), arm());
    let right = m.add("phiR", chassis, hinge, at(0.24, 0.0), arm());
    let barrel = m.add("phib", left, hinge, at(0.0, 0.3), flat(3.0, [0.12, 0.0], 0.02));
    let rod = m.add("xa", barrel, slide_x, at(0.0, 0.0), flat(2.0, [-0.12, 0.0], 0.013));
    let reach = 0.5366563145999496;
    let conrod = m.add("phik", left, hinge, at(0.0, 0.12), flat(3.0, [0.5 * reach, 0.0], 0.072));
    let pin = |link: Link, x: f64, z: f64| Marker::at(link, [x, 0.0, z]).along(Axis::Y);
    m.close_loop("actuator", Cut::Pin, pin(rod, 0.0, 0.0), pin(right, 0.0, 0.3));
    m.close_loop("synchronisation", Cut::Pin, pin(conrod, reach, 0.0), pin(right, 0.0, -0.12));
    for side in [-0.3, 0.3] {
        let bushing = PointSpring::Bushing { stiffness: 50e3, damping: 200.0 };
        let point = |link: Link| Marker::at(link, [side, 0.0, 0.25]);
        m.point_spring(&format!("bushing at {side}"), bushing, point(support), point(chassis));
    }
    let speed = std::f64::consts::TAU * frequency;
    let f = m.coordinate(flywheel, 0).0 as usize;
    m.actuate("drive", m.coordinate(flywheel, 0), Signal::new(move |x| 50.0 * (speed - x.v[f])));
    m.start(m.coordinate(left, 0), -0.089);
    for (link, angle) in [(right, 0.093), (barrel, 0.089), (conrod, -0.37)] {
        m.guess(m.coordinate(link, 0), angle);
    }
    m.guess(m.coordinate(rod, 0), TAMPING_LENGTHS[0]);
    m.start_velocity(m.coordinate(flywheel, 0), speed);
    let dependent: Vec<Coordinate> =
        [right, barrel, rod, conrod].map(|l| m.coordinate(l, 0)).to_vec();
    m.dependent(&dependent);
    m
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    /// The output of `benches/pinocchio` for its sample state: trace and norm of M, kinetic energy, norms of the nonlinear
    /// effects and of the free accelerations.
    fn check_values(m: &Mechanism, free_base: bool) -> [f64; 5] {
        let system = m.build([0.0, 0.0, -G]).expect("the tree is sound");
        let (n, mut w) = (system.n_v(), system.scratch());
        let mut q = system.start().q.clone();
        for c in system.coordinates().skip(if free_base { 6 } else { 0 }) {
            let at = system.q_of(c).expect("one coordinate");
            q[at] = (0.1 * (f64::from(c.0) + 1.0)) % 1.5;
        }
        let v: Vec<f64> = (0..n).map(|i| 0.3 - 0.05 * i as f64).collect();
        let tree = system.tree();
        tree.kinematics(&q, &mut w.tree);
        tree.motion(&v, &mut w.tree);
        tree.evaluate(&mut w.tree);
        let mass = DMatrix::from_column_slice(n, n, w.tree.mass());
        let bias = DVector::from_column_slice(w.tree.bias_force());
        // Pinocchio expresses the velocity of the free base in its own rotating axes: the components agree here, but not their rates.
        let mut drift = DVector::zeros(n);
        if free_base {
            let rate = Vec3::new(v[3], v[4], v[5]).cross(&Vec3::new(v[0], v[1], v[2]));
            drift.rows_mut(0, 3).copy_from(&rate);
        }
        let mut a = vec![0.0; n];
        assert!(tree.forward_dynamics(&vec![0.0; n], &mut w.tree, &mut a));
        let v = DVector::from_vec(v);
        let kinetic = 0.5 * v.dot(&(&mass * &v));
        let effects = bias + &mass * &drift;
        [mass.trace(), mass.norm(), kinetic, effects.norm(), (DVector::from_vec(a) - drift).norm()]
    }

    #[test]
    fn the_trees_of_the_comparison_match_those_of_pinocchio() {
        let arm = [
            13.9829037426474,
            11.2111414120681,
            0.524373098946358,
            39.2932114724041,
            26.5343446366121,
        ];
        let tree = [
            270.925189660136,
            127.138782147115,
            13.3712066600424,
            683.661573448623,
            30.0831154682324,
        ];
        for (text, free_base, expected) in [(ARM7, false, arm), (TREE36, true, tree)] {
            let found = check_values(&tree_from_text("tree", text), free_base);
            for (x, y) in found.iter().zip(expected) {
                // Printed with 15 digits.
                assert!((x - y).abs() < 1e-13 * y.abs(), "{found:?} {expected:?}");
            }
        }
    }
}
