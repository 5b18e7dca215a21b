//! Soft contact from scene files: one key changes the scheme, parameters reach it, mistakes have their place, and
//! `check` tells what was chosen.

use riprap::scene::Scene;
use riprap::scheme::penalty::DEFAULT_STEPS;
use riprap::scheme::{Integrator, NormalLaw, PenaltyLaw, Scheme};
use riprap::simulation::Simulation;
use riprap_io::scene_file::SceneFile;

const BALLS: &str = "\
[run]
dt = \"0.1 ms\"
until = \"0.1 s\"
KEYS
[materials.rock]
density = 2700
friction = 0.5
restitution = 0.6
young = \"2 MPa\"
[[body]]
kind = \"fixed\"
shape = { type = \"half-space\" }
material = \"rock\"
[[body]]
name = \"low\"
position = [0, 0, 0.051]
shape = { type = \"sphere\", radius = 0.05 }
material = \"rock\"
[[body]]
name = \"high\"
position = [0.02, 0, 0.16]
shape = { type = \"sphere\", radius = 0.05 }
material = \"rock\"
";

fn file(keys: &str) -> SceneFile {
    SceneFile::parse(&BALLS.replace("KEYS", keys), "").unwrap_or_else(|e| panic!("{keys}: {e}"))
}

fn scene(file: &SceneFile) -> Scene {
    file.build().unwrap_or_else(|e| panic!("{e}")).scene
}

/// The message of a wrong file, and its line.
fn wrong(keys: &str) -> (usize, String) {
    let errors = SceneFile::parse(&BALLS.replace("KEYS", keys), "").expect_err(keys);
    assert_eq!(errors.problems.len(), 1, "{errors}");
    (errors.line_column(errors.problems[0].span.start).0, errors.to_string())
}

#[test]
fn one_key_changes_from_hard_to_soft_contact() {
    let heights = ["", "scheme = \"penalty\""].map(|keys| {
        let file = file(keys);
        let mut run = Simulation::new(scene(&file), file.scheme()).unwrap();
        run.until(0.1, &mut ()).unwrap();
        run.state().q[1].position.z
    });
    // Hard contact rebounds at once, soft contact after 2.5 ms, and both with the same restitution.
    assert!((heights[0] - heights[1]).abs() < 2e-3, "{heights:?}");
    assert_ne!(heights[0], heights[1]);
}

#[test]
fn the_keys_of_soft_contact_reach_the_scheme() {
    assert!(file("").penalty().is_none());
    let plain = file("scheme = \"penalty\"").penalty().unwrap();
    assert_eq!((plain.law, plain.integrator), (PenaltyLaw::default(), Integrator::Verlet));
    let keys = "scheme = \"penalty\"\nnormal = \"hertz\"\nintegrator = \"rk4\"\nstiffness = \"3 kN/m\"\n\
                damping = \"2 N*s/m\"\ndissipation = \"5 ms\"\nimpact_velocity = \"2 m/s\"\ntangential_ratio = 0.5";
    let all = file(keys).penalty().unwrap();
    let law = PenaltyLaw {
        normal: NormalLaw::Hertz,
        stiffness: Some(3e3),
        damping: Some(2.0),
        dissipation: Some(5e-3),
        impact_velocity: Some(2.0),
        tangential_ratio: 0.5,
    };
    assert_eq!((all.law, all.integrator), (law, Integrator::RungeKutta));
    let pair = "scheme = \"penalty\"\n[[pair]]\nbetween = [\"rock\", \"rock\"]\nstiffness = \"1 N/mm\"\n\
                damping = 3\nmodulus = \"1 GPa\"\ndissipation = \"1 us\"";
    let law = file(pair).pair(0, 0);
    assert_eq!((law.stiffness, law.damping), (Some(1e3), Some(3.0)));
    assert_eq!((law.modulus, law.dissipation), (Some(1e9), Some(1e-6)));
    // From `young` and a Poisson's ratio of 0.3.
    let modulus = file("").pair(0, 0).modulus.unwrap();
    assert!((modulus / (2e6 / (2.0 * 0.91)) - 1.0).abs() < 1e-15);
}

#[test]
fn mistakes_in_soft_contact_are_reported_at_their_line() {
    for (keys, line, says) in [
        ("scheme = \"penalty\"\nstiffness = 0", 5, "greater than 0"),
        ("scheme = \"penalty\"\nstiffness = \"-1 kN/m\"", 5, "greater than 0"),
        ("scheme = \"penalty\"\nstiffness = \"1 N\"", 5, "stiffness"),
        ("scheme = \"penalty\"\ndamping = -1", 5, "`damping` must"),
        ("scheme = \"penalty\"\nnormal = \"herz\"", 5, "hertz"),
        ("scheme = \"penalty\"\nintegrator = \"euler\"", 5, "\"verlet\", \"rk4\""),
        ("scheme = \"penalty\"\ntangential_ratio = 2", 5, "between 0 and 1"),
        ("scheme = \"penalty\"\ntheta = 0.5", 5, "belongs to scheme = \"moreau-jean\""),
        ("stiffness = \"1 kN/m\"", 4, "belongs to scheme = \"penalty\""),
    ] {
        let (at, message) = wrong(keys);
        assert!(at == line && message.contains(says), "{keys}: line {at}, {message}");
    }
}

#[test]
fn scenes_that_soft_contact_cannot_run_are_refused_with_a_remedy() {
    let refused = |keys: &str, text: &str| {
        let text = BALLS.replace("KEYS", &format!("scheme = \"penalty\"\n{keys}")) + text;
        let file = SceneFile::parse(&text, "").unwrap_or_else(|e| panic!("{e}"));
        file.scheme().check(&scene(&file)).unwrap_err().to_string()
    };
    let too_long = refused("stiffness = \"1 GN/m\"", "");
    for words in ["above the stability limit", "`low` and `high`", "1.000e9 N/m", "use dt ="] {
        assert!(too_long.contains(words), "{words}: {too_long}");
    }
    let mechanism = "[[mechanism]]\nname = \"arm\"\n[[mechanism.body]]\nname = \"rod\"\nmass = 1\n\
                     centre = [0, 0, -1]\n[[mechanism.joint]]\nname = \"pin\"\ntype = \"revolute\"\nchild = \"rod\"\naxis = \"y\"\n";
    let only_free = refused("integrator = \"rk4\"", mechanism);
    assert!(only_free.contains("mechanism `arm`") && only_free.contains("verlet"), "{only_free}");
    let soft = "[materials.mud]\n[[body]]\nname = \"lump\"\nkind = \"fixed\"\nposition = [9, 0, 0]\n\
                shape = { type = \"sphere\", radius = 1 }\nmaterial = \"mud\"\n";
    let no_modulus = refused("normal = \"hertz\"", soft);
    assert!(no_modulus.contains("`mud`") && no_modulus.contains("young"), "{no_modulus}");
    let rolling = refused("", "[materials.felt]\nrolling = \"1 mm\"\n");
    assert!(rolling.contains("rolling"), "{rolling}");
}

#[test]
fn the_notes_tell_the_stiffness_the_resolution_and_what_is_not_reached() {
    let notes = |keys: &str| {
        let file = file(keys);
        file.notes(&scene(&file))
    };
    assert_eq!(notes(""), Vec::<String>::new());
    let told = notes("scheme = \"penalty\"");
    assert_eq!(told.len(), 1, "{told:?}");
    // With restitution 0.6 a collision takes a little longer than without damping.
    assert!(told[0].contains("(default)") && told[0].contains("`low` and `high`"), "{told:?}");
    let scheme = file("scheme = \"penalty\"").penalty().unwrap();
    let limits = scheme.limits(&scene(&file("scheme = \"penalty\""))).unwrap().unwrap();
    assert!((limits.steps / DEFAULT_STEPS - 0.93).abs() < 0.05, "{}", limits.steps);
    let told = notes("scheme = \"penalty\"\nstiffness = \"5 MN/m\"");
    assert!(told.len() == 2 && told[1].contains("poorly resolved"), "{told:?}");
    let low = "scheme = \"penalty\"\n[[pair]]\nbetween = [\"rock\", \"rock\"]\nrestitution = 0.05";
    let told = notes(low);
    assert!(told.len() == 2 && told[1].contains("0.05") && told[1].contains("0.135"), "{told:?}");
}
