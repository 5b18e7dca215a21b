//! Mechanisms with mistakes: each must be reported with the right message, at the right line, and
//! alone.

mod mistakes;

use mistakes::arms::*;
use mistakes::{Case, check};
use riprap_io::scene_file::SceneFile;

#[test]
fn the_scenes_below_are_valid_except_for_their_mistakes() {
    let text = format!("{START}{ARM}");
    SceneFile::parse(&text, "").unwrap_or_else(|errors| panic!("{errors}"));
}

#[test]
fn mistakes_in_the_tree_are_reported() {
    let swap = "parent = \"upper\"\nchild = \"lower\"";
    check(&[
        plain("nothing in it", "", 6, "has no bodies"),
        instead(
            "unknown parent",
            "parent = \"upper\"",
            "parent = \"uper\"",
            21,
            "did you mean `upper`?",
        ),
        instead(
            "unknown child",
            "child = \"lower\"",
            "child = \"bob\"",
            22,
            "known: ground, lower, upper",
        ),
        instead("no child", "child = \"upper\"\n", "", 13, "`child` is missing"),
        instead(
            "ground as a child",
            "child = \"upper\"",
            "child = \"ground\"",
            16,
            "does not move",
        ),
        instead(
            "own parent",
            swap,
            "parent = \"lower\"\nchild = \"lower\"",
            22,
            "cannot be its own parent",
        ),
        arm(
            "two joints",
            "[[mechanism.joint]]\ntype = \"free\"\nchild = \"lower\"",
            26,
            "into a [[mechanism.loop]]",
        ),
        arm(
            "no joint",
            "[[mechanism.body]]\nname = \"tail\"\nmass = 1",
            25,
            "not the child of any joint",
        ),
        instead(
            "ring",
            "child = \"upper\"",
            "parent = \"lower\"\nchild = \"upper\"",
            17,
            "`hip`, `knee` form a cycle",
        ),
        instead(
            "body called ground",
            "name = \"lower\"",
            "name = \"ground\"",
            11,
            "the base of the mechanism",
        ),
        arm(
            "two bodies with one name",
            "[[mechanism.body]]\nname = \"upper\"\nmass = 1",
            25,
            "two bodies",
        ),
        instead("two joints with one name", "name = \"knee\"", "name = \"hip\"", 19, "two joints"),
        instead(
            "joint with a hyphen",
            "name = \"knee\"",
            "name = \"left-knee\"",
            19,
            "write `left_knee`",
        ),
        instead("bad name of a body", "name = \"lower\"", "name = \"a b\"", 11, "not a name"),
        instead("unknown type", "\"revolute\"", "\"revolut\"", 15, "did you mean \"revolute\"?"),
        instead("no type", "type = \"revolute\"\n", "", 13, "`type` is missing"),
        arm(
            "two mechanisms with one name",
            "[[mechanism]]\nname = \"mechanism-1\"\n[[mechanism.body]]\nname = \"a\"\nmass = 1\n[[mechanism.joint]]\ntype = \"free\"\nchild = \"a\"",
            25,
            "two mechanisms",
        ),
        arm("one bracket", "[mechanism.loops]\na = 1", 24, "did you mean `loop`?"),
    ]);
}

#[test]
fn mistakes_in_bodies_are_reported() {
    let second =
        |name, new: &str, line, says| instead(name, "name = \"lower\"\nmass = 1", new, line, says);
    check(&[
        second("no mass", "name = \"lower\"", 10, "mass of this body is not known"),
        second("negative mass", "name = \"lower\"\nmass = -1", 12, "`mass` must be at least 0"),
        second(
            "inertia without mass",
            "name = \"lower\"\ninertia = 1\nshapes = []",
            12,
            "without `mass`",
        ),
        second("negative inertia", "name = \"lower\"\nmass = 1\ninertia = -1", 13, "not positive"),
        second(
            "triangle inequality",
            "name = \"lower\"\nmass = 1\ninertia = [1, 1, 3]",
            13,
            "sum of the other two",
        ),
        second(
            "inertia as a mass",
            "name = \"lower\"\nmass = 1\ninertia = \"1 kg\"",
            13,
            "expected a moment of inertia",
        ),
        second(
            "empty shapes",
            "name = \"lower\"\nshapes = []",
            12,
            "without shapes the mass is not known",
        ),
        second(
            "unknown material",
            "name = \"lower\"\nmass = 1\nshapes = [{ shape = { type = \"sphere\", radius = 1 }, material = \"rok\" }]",
            13,
            "did you mean `rock`?",
        ),
        second(
            "half-space",
            "name = \"lower\"\nmass = 1\nshapes = [{ shape = { type = \"half-space\" }, material = \"rock\" }]",
            13,
            "cannot be a shape of a mechanism body",
        ),
        second(
            "centre beside shapes",
            "name = \"lower\"\nmass = 1\ncentre = [0, 0, 0]\nshapes = [{ shape = { type = \"sphere\", radius = 1 }, material = \"rock\" }]",
            13,
            "without `inertia`",
        ),
    ]);
    let text = format!(
        "{START}{}",
        ARM.replace(
            "mass = 1",
            "shapes = [{ shape = { type = \"sphere\", radius = 1 }, material = \"rock\" }]"
        )
    );
    let text = text.replace("density = 2700\n", "\n");
    let errors = SceneFile::parse(&text, "").unwrap_err();
    assert!(errors.to_string().contains("has no density"), "{errors}");
}

#[test]
fn mistakes_in_joints_are_reported() {
    let kind = |name, old: &str, line, says| {
        instead(name, "type = \"revolute\"\nchild = \"upper\"\naxis = \"y\"", old, line, says)
    };
    check(&[
        instead("no axis", "axis = \"y\"\n", "", 13, "`axis` is missing"),
        instead("zero axis", "axis = \"y\"", "axis = [0, 0, 0]", 17, "zero length"),
        instead("unknown axis", "axis = \"y\"", "axis = \"w\"", 17, "unknown axis \"w\""),
        instead("short axis", "axis = \"y\"", "axis = [0, 1]", 17, "expected 3 components"),
        kind(
            "parallel axes",
            "type = \"universal\"\nchild = \"upper\"\naxes = [\"x\", \"-x\"]",
            17,
            "parallel",
        ),
        kind(
            "one axis of two",
            "type = \"universal\"\nchild = \"upper\"\naxis = \"x\"\naxes = [\"x\", \"y\"]",
            17,
            "it belongs to type = \"revolute\"",
        ),
        kind(
            "crooked plane",
            "type = \"planar\"\nchild = \"upper\"\naxes = [\"x\", [1, 1, 0]]",
            17,
            "not perpendicular",
        ),
        kind(
            "too few starts",
            "type = \"planar\"\nchild = \"upper\"\nstart = [1, 2]",
            17,
            "expected [x, y, angle]; got a list of length 2",
        ),
        kind(
            "too many starts",
            "type = \"cylindrical\"\nchild = \"upper\"\naxis = \"x\"\nstart = [1, 2, 3]",
            18,
            "expected [slide, turn]",
        ),
        kind(
            "one start of two",
            "type = \"cylindrical\"\nchild = \"upper\"\naxis = \"x\"\nstart = 1",
            18,
            "a list [slide, turn]",
        ),
    ]);
}

#[test]
fn mistakes_in_start_values_and_joint_forces_are_reported() {
    let knee = |name, text: &str, says| arm(name, text, 24, says);
    let kind = |name, old: &str, line, says| {
        instead(name, "type = \"revolute\"\nchild = \"upper\"\naxis = \"y\"", old, line, says)
    };
    check(&[
        kind(
            "start of a ball",
            "type = \"spherical\"\nchild = \"upper\"\nstart = 1",
            17,
            "is not allowed with type = \"spherical\"",
        ),
        kind(
            "start of a fixed joint",
            "type = \"fixed\"\nchild = \"upper\"\nstart_velocity = 1",
            17,
            "is not allowed",
        ),
        kind(
            "spring of a plane",
            "type = \"planar\"\nchild = \"upper\"\nspring = { stiffness = 1 }",
            17,
            "it belongs to type = \"revolute\" or type = \"prismatic\"",
        ),
        kind(
            "start and guess of a rotation",
            "type = \"free\"\nchild = \"upper\"\nstart_position = [0, 0, 0]\nguess_rotation = { quaternion = [1, 0, 0, 0] }",
            18,
            "not both",
        ),
        knee("list of starts", "start = [1, 2]", "expected a length"),
        knee(
            "angle of a slider",
            "start = \"30 deg\"",
            "expected a length such as \"25 mm\"; got an angle",
        ),
        knee("start and guess", "guess = 1\nstart = 2", "not both"),
        knee("negative stiffness", "spring = { stiffness = -1 }", "`stiffness` must be at least 0"),
        knee("negative damping", "damping = -1", "`damping` must be at least 0"),
        knee(
            "stiffness of a rotation",
            "spring = { stiffness = \"5 N*m/rad\" }",
            "expected a stiffness such as",
        ),
        knee("damping twice", "damping = 1\nspring = { stiffness = 1 }", "belongs in the spring"),
        knee("stops nowhere", "stops = { stiffness = 1 }", "these stops have no positions"),
        knee(
            "crossed stops",
            "stops = { stiffness = 1, lower = 1, upper = 0 }",
            "not below the upper one",
        ),
        knee("soft stops", "stops = { stiffness = 0, lower = 1 }", "greater than 0"),
        arm("motion and speed", "motion = \"t\"\nspeed = 1", 25, "both drive this joint"),
        arm("motion and start", "motion = \"t\"\nstart = 1", 25, "is not allowed with `motion`"),
        arm(
            "speed and its start",
            "speed = 1\nstart_velocity = 1",
            25,
            "is not allowed with `speed`",
        ),
        knee("speed as an expression", "speed = \"sin(t)\"", "expected a velocity"),
        knee("motion of a coordinate", "motion = \"2*q.hip\"", "unknown variable `q.hip`"),
        knee("motion with a unit", "motion = \"3 mm\"", "without unit symbols"),
        knee(
            "motion that jumps off",
            "motion = \"sqrt(t)\"",
            "the velocity of `motion` is inf at t = 0 s",
        ),
        knee("motion that ends", "motion = \"sqrt(0.5 - t)\"", "`motion` is NaN at t = 1 s"),
    ]);
}

#[test]
fn mistakes_in_chains_are_reported() {
    let chain = |name, text: &str, line, says| {
        let body =
            "[[mechanism.body]]\nname = \"a\"\nmass = 1\n[[mechanism.chain]]\nchild = \"a\"\n";
        plain(name, &format!("{body}{text}"), line, says)
    };
    check(&[
        chain("no joints", "", 10, "`joints` is missing"),
        chain("empty chain", "joints = []", 12, "a list of 1 to 100 items"),
        chain(
            "no name",
            "joints = [{ type = \"free\" }]",
            12,
            "`name` is missing in a joint of a chain",
        ),
        chain(
            "parent inside",
            "joints = [{ name = \"x\", type = \"free\", parent = \"a\" }]",
            12,
            "unknown key `parent`",
        ),
        chain(
            "one name twice",
            "joints = [{ name = \"x\", type = \"free\" }, { name = \"x\", type = \"fixed\" }]",
            12,
            "two joints",
        ),
        chain(
            "unknown parent",
            "parent = \"b\"\njoints = [{ name = \"x\", type = \"free\" }]",
            12,
            "no body `b`",
        ),
    ]);
}

#[test]
fn mistakes_in_urdf_files_are_reported() {
    check(&[
        plain("no file", "urdf = \"none.urdf\"", 7, "cannot open"),
        plain("another file", "urdf = \"grains.csv\"", 7, "is not a URDF file"),
        plain("folder", "urdf = \".\"", 7, "not a regular file"),
        plain(
            "negative mass",
            "urdf = \"broken.urdf\"",
            7,
            "the mass properties of the link `a` are invalid",
        ),
        plain("mimic", "urdf = \"mimic.urdf\"", 7, "mimics another one"),
        plain("material without a file", "urdf_material = \"rock\"", 7, "without `urdf`").with(ARM),
        plain(
            "unknown material",
            "urdf = \"arm.urdf\"\nurdf_material = \"rok\"",
            8,
            "did you mean `rock`?",
        ),
        plain(
            "unknown joint",
            "urdf = \"arm.urdf\"\n[mechanism.urdf_joints.elbo]\nstart = 1",
            8,
            "did you mean `elbow`?",
        ),
        plain(
            "joint in space",
            "urdf = \"arm.urdf\"\n[mechanism.urdf_joints.fly]\nstart = 1",
            8,
            "is not revolute",
        ),
        plain(
            "wrong unit",
            "urdf = \"arm.urdf\"\n[mechanism.urdf_joints.elbow]\nstart = \"1 m\"",
            9,
            "expected an angle",
        ),
        plain(
            "carried twice",
            "urdf = \"arm.urdf\"\n[[mechanism.joint]]\ntype = \"fixed\"\nchild = \"lower\"",
            10,
            "`lower` is the child of two joints",
        ),
        plain(
            "name of a link",
            "urdf = \"arm.urdf\"\n[[mechanism.body]]\nname = \"upper\"\nmass = 1",
            9,
            "two bodies",
        ),
    ]);
}

#[test]
fn mistakes_in_planar_mechanisms_are_reported() {
    let planar = |name, joint: &str, says| {
        let start = START.replace("[materials.rock]\ndensity = 2700\n", "");
        let body =
            "[[mechanism.body]]\nname = \"a\"\nmass = 1\n[[mechanism.joint]]\nchild = \"a\"\n";
        Case { name, text: format!("planar = true\n{start}{body}{joint}"), line: 11, says }
    };
    check(&[
        planar("type", "type = \"free\"", "not available in planar scenes"),
        planar("axis", "axis = \"x\"\ntype = \"revolute\"", "rotate about z only"),
        planar("slide", "axis = \"z\"\ntype = \"prismatic\"", "must lie in the x–y plane"),
        planar("plane", "axes = [\"x\", \"z\"]\ntype = \"planar\"", "in a planar scene"),
    ]);
}

impl Case {
    /// The same, with more text appended.
    fn with(mut self, text: &str) -> Self {
        self.text = format!("{}\n{text}", self.text);
        self
    }
}

#[test]
fn a_wrong_joint_type_does_not_make_its_coordinates_unknown() {
    let text = format!("{START}{}", ARM.replace("revolute", "revolut"));
    let text = text + "[[mechanism.force]]\ncoordinate = \"hip\"\nlaw = \"-q.hip\"\n";
    let errors = SceneFile::parse(&text, "").unwrap_err();
    assert_eq!(errors.problems.len(), 1, "{errors}");
}

#[test]
fn thousands_of_joints_are_sorted_quickly() {
    // A chain listed from its end to its start.
    let n = 5000;
    let mut text = "[run]\ndt = 1\nuntil = 0\n[[mechanism]]\n".to_owned();
    for i in (0..n).rev() {
        let parent = if i == 0 { "ground".to_owned() } else { format!("b{}", i - 1) };
        text += &format!("[[mechanism.body]]\nname = \"b{i}\"\nmass = 1\n");
        text += &format!(
            "[[mechanism.joint]]\nname = \"j{i}\"\ntype = \"revolute\"\naxis = \"z\"\nparent = \"{parent}\"\nchild = \"b{i}\"\n"
        );
    }
    let scene = SceneFile::parse(&text, "").unwrap_or_else(|errors| panic!("{errors}"));
    let names: Vec<&str> = scene.mechanisms[0].joints.iter().map(|j| j.name.as_str()).collect();
    assert_eq!((names[0], names[n - 1]), ("j0", "j4999"));
    // Closed into a ring, it is not connected to the ground.
    let ring = text.replace("parent = \"ground\"", "parent = \"b4999\"");
    let errors = SceneFile::parse(&ring, "").unwrap_err();
    assert_eq!(errors.problems.len(), 1, "{errors}");
}
