//! URDF files against hand calculations: mass matrices, energies and the volumes of shapes.

use std::path::Path;

use proptest::prelude::*;
use riprap::math::{Quat, Vec3};
use riprap::multibody::Multibody;
use riprap_io::build::Built;
use riprap_io::scene_file::SceneFile;

const RUN: &str = "[run]\nscheme = \"dormand-prince\"\nuntil = 1\n[materials.rock]\n[[mechanism]]\nname = \"m\"\n";

fn built(text: &str, folder: &Path) -> Built {
    let file = SceneFile::parse(text, folder).unwrap_or_else(|e| panic!("{e}"));
    file.build().unwrap_or_else(|e| panic!("{e}"))
}

/// The mechanism of a URDF file with these elements.
fn from_urdf(elements: &str) -> Built {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("<robot name=\"r\">{elements}</robot>");
    std::fs::write(folder.path().join("m.urdf"), text).unwrap();
    built(&format!("{RUN}urdf = \"m.urdf\"\nurdf_material = \"rock\"\n"), folder.path())
}

fn link(name: &str, mass: f64, origin: &str, [x, y, z]: [f64; 3]) -> String {
    format!(
        "<link name=\"{name}\"><inertial><origin {origin}/><mass value=\"{mass}\"/>\
         <inertia ixx=\"{x}\" ixy=\"0\" ixz=\"0\" iyy=\"{y}\" iyz=\"0\" izz=\"{z}\"/></inertial></link>"
    )
}

fn joint(name: &str, kind: &str, [parent, child]: [&str; 2], origin: &str, axis: &str) -> String {
    format!(
        "<joint name=\"{name}\" type=\"{kind}\"><origin {origin}/><parent link=\"{parent}\"/><child link=\"{child}\"/>\
         <axis xyz=\"{axis}\"/><limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/></joint>"
    )
}

/// The mass matrix from the kinetic energies of unit velocities:
/// `M_ij = T(e_i + e_j) - T(e_i) - T(e_j)`.
fn mass_matrix(system: &Multibody, q: &[f64]) -> Vec<Vec<f64>> {
    let mut scratch = system.scratch();
    let mut energy = |moving: &[usize]| {
        let mut v = vec![0.0; system.n_v()];
        moving.iter().for_each(|i| v[*i] += 1.0);
        system.energy(q, &v, &mut scratch).0
    };
    let n = system.n_v();
    let mut entry = |i: usize, j: usize| energy(&[i, j]) - energy(&[i]) - energy(&[j]);
    (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
}

#[test]
fn a_double_pendulum_has_the_textbook_mass_matrix() {
    let (m1, c1, i1, l1) = (2.0, 0.3, 0.05, 0.7);
    let (m2, c2, i2) = (1.5, 0.4, 0.02);
    let elements = [
        "<link name=\"base\"/>".to_owned(),
        link("upper", m1, &format!("xyz=\"0 0 -{c1}\""), [0.06, i1, 0.01]),
        link("lower", m2, &format!("xyz=\"0 0 -{c2}\""), [0.03, i2, 0.01]),
        joint("a", "continuous", ["base", "upper"], "xyz=\"0 0 3\"", "0 1 0"),
        joint("b", "revolute", ["upper", "lower"], &format!("xyz=\"0 0 -{l1}\""), "0 2 0"),
    ];
    let built = from_urdf(&elements.concat());
    let system = &built.scene.mechanisms()[0];
    assert_eq!((system.n_q(), system.n_v()), (2, 2));
    for q in [[0.0, 0.0], [0.3, 1.1], [-2.0, 3.0], [1.0, -std::f64::consts::FRAC_PI_2]] {
        let cos = q[1].cos();
        let m22 = i2 + m2 * c2 * c2;
        let m12 = m22 + m2 * l1 * c2 * cos;
        let m11 = i1 + m1 * c1 * c1 + m22 + m2 * (l1 * l1 + 2.0 * l1 * c2 * cos);
        for (row, expected) in mass_matrix(system, &q).iter().zip([[m11, m12], [m12, m22]]) {
            for (found, expected) in row.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-13, "{q:?}: {found} {expected}");
            }
        }
        // The potential energy of both centres, relative to the first joint.
        let (_, potential) = system.energy(&q, &[0.0; 2], &mut system.scratch());
        let heights = [3.0 - c1 * q[0].cos(), 3.0 - l1 * q[0].cos() - c2 * (q[0] + q[1]).cos()];
        let expected = 9.81 * (m1 * heights[0] + m2 * heights[1]);
        assert!((potential - expected).abs() < 1e-12 * expected, "{potential} {expected}");
    }
}

#[test]
fn a_fixed_link_adds_its_mass_at_its_position() {
    // Two masses on one slide and one rotation: the second is on a fixed joint, rotated by a
    // quarter turn about z.
    let elements = [
        "<link name=\"base\"/>".to_owned(),
        link("a", 2.0, "xyz=\"0.1 0 0\"", [0.1, 0.2, 0.25]),
        link("b", 3.0, "xyz=\"0.5 0 0\"", [0.3, 0.4, 0.45]),
        joint("turn", "continuous", ["base", "a"], "xyz=\"0 0 0\"", "0 0 1"),
        joint("weld", "fixed", ["a", "b"], "xyz=\"1 0 0\" rpy=\"0 0 1.5707963267948966\"", "1 0 0"),
    ];
    let built = from_urdf(&elements.concat());
    let system = &built.scene.mechanisms()[0];
    // About z: each inertia plus each mass at its distance; the centre of `b` is at (1, 0.5).
    let expected = 0.25 + 2.0 * 0.01 + 0.45 + 3.0 * (1.0 + 0.25);
    let found = mass_matrix(system, &[0.4])[0][0];
    assert!((found - expected).abs() < 1e-14, "{found}");
}

#[test]
fn shapes_have_the_volumes_of_their_solids() {
    let shape = |geometry: &str| {
        format!(
            "<collision><origin xyz=\"0 0 1\" rpy=\"0 0.5 0\"/><geometry>{geometry}</geometry></collision>"
        )
    };
    for (geometry, volume) in [
        ("<box size=\"1 2 3\"/>", 6.0),
        ("<sphere radius=\"0.5\"/>", std::f64::consts::PI / 6.0),
        // A prism with 24 sides has the area of 24 triangles between two radii.
        (
            "<cylinder radius=\"0.5\" length=\"2\"/>",
            2.0 * 12.0 * 0.25 * (std::f64::consts::TAU / 24.0).sin(),
        ),
    ] {
        let elements = [
            "<link name=\"base\"/>".to_owned(),
            link("a", 1.0, "xyz=\"0 0 0\"", [0.1; 3])
                .replace("</link>", &(shape(geometry) + "</link>")),
            joint("j", "prismatic", ["base", "a"], "xyz=\"0 0 0\"", "0 0 1"),
        ];
        let built = from_urdf(&elements.concat());
        let body = built.scene.body("m/a").unwrap_or_else(|| panic!("{geometry}"));
        let properties = built.scene.shape(body).mass_properties(1.0).unwrap();
        assert!((properties.mass - volume).abs() < 1e-12, "{geometry}: {}", properties.mass);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_origin_and_axis_is_the_same_in_a_scene_file(
        xyz in prop::array::uniform3(-1.0..1.0_f64),
        rpy in prop::array::uniform3(-3.0..3.0_f64),
        axis in prop::array::uniform3(-1.0..1.0_f64),
        tilt in prop::array::uniform3(-3.0..3.0_f64),
        slides in any::<bool>(),
        (q, v) in (-1.0..1.0_f64, -1.0..1.0_f64),
    ) {
        prop_assume!(axis.iter().any(|x| x.abs() > 0.1));
        let (kind, scene_kind) = if slides { ("prismatic", "prismatic") } else { ("continuous", "revolute") };
        let words = |v: [f64; 3]| v.map(|x| x.to_string()).join(" ");
        let centre = [0.1, -0.2, 0.3];
        let elements = [
            "<link name=\"base\"/>".to_owned(),
            link("a", 2.0, &format!("xyz=\"{}\" rpy=\"{}\"", words(centre), words(tilt)), [0.1, 0.2, 0.25]),
            joint("j", kind, ["base", "a"], &format!("xyz=\"{}\" rpy=\"{}\"", words(xyz), words(rpy)), &words(axis)),
        ];
        let from_urdf = from_urdf(&elements.concat());

        // Roll, pitch and yaw about fixed axes, in nalgebra's convention.
        let [roll, pitch, yaw] = rpy;
        let turn = Quat::from_euler_angles(roll, pitch, yaw);
        let tilted = Quat::from_euler_angles(tilt[0], tilt[1], tilt[2]).to_rotation_matrix();
        let principal = riprap::math::Mat3::from_diagonal(&Vec3::new(0.1, 0.2, 0.25));
        let j = tilted.matrix() * principal * tilted.matrix().transpose();
        let rows: Vec<String> = (0..3).map(|i| format!("{:?}", [j[(i, 0)], j[(i, 1)], j[(i, 2)]])).collect();
        let text = format!(
            "{RUN}[[mechanism.body]]\nname = \"a\"\nmass = 2\ncentre = {centre:?}\ninertia = [{}]\n[[mechanism.joint]]\n\
             name = \"j\"\ntype = \"{scene_kind}\"\nchild = \"a\"\nposition = {xyz:?}\naxis = {axis:?}\n\
             rotation = {{ quaternion = {:?} }}\n",
            rows.join(", "),
            [turn.w, turn.i, turn.j, turn.k],
        );
        let written = built(&text, Path::new(""));
        let [a, b] = [&from_urdf, &written].map(|built| {
            let system = &built.scene.mechanisms()[0];
            let (kinetic, potential) = system.energy(&[q], &[v], &mut system.scratch());
            [kinetic, potential, mass_matrix(system, &[q])[0][0]]
        });
        for (a, b) in a.into_iter().zip(b) {
            prop_assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{} {}", a, b);
        }
    }
}
