//! Equivalent scenes are equal: units, defaults, spellings, and the order of the tables.

use riprap_io::scene_file::*;

fn parse(text: &str) -> SceneFile {
    SceneFile::parse(text, "tests/data").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Each pair of texts, inserted into the scene, must give the same scene.
#[track_caller]
fn same(scene: impl Fn(&str) -> String, pairs: &[(&str, &str)]) {
    for (a, b) in pairs {
        assert_eq!(parse(&scene(a)), parse(&scene(b)), "{a}\n{b}");
    }
}

const START: &str =
    "[run]\ndt = 1e-3\nuntil = 1\n[materials.rock]\ndensity = 2700\nfriction = 0.5\n";
const BALL: &str = "[[body]]\nshape = { type = \"sphere\", radius = 0.1 }\nmaterial = \"rock\"\n";

#[test]
fn quantities_with_units_equal_numbers_in_si() {
    let run = |text: &str| format!("[run]\n{text}\n[materials.rock]\ndensity = 1\n{BALL}");
    same(
        run,
        &[
            ("dt = \"1 ms\"\nuntil = \"2 min\"", "dt = 1e-3\nuntil = 120"),
            (
                "dt = \"0.5 s\"\nuntil = \"1 h\"\noutput_every = \"6 min\"",
                "dt = 0.5\nuntil = 3600\noutput_every = 360",
            ),
            (
                "dt = 1\nuntil = 9\ncheckpoint_every = \"4000 ms\"",
                "dt = 1\nuntil = 9\ncheckpoint_every = 4",
            ),
        ],
    );
    let material =
        |text: &str| format!("[run]\ndt = 1\nuntil = 1\n[materials.rock]\n{text}\n{BALL}");
    same(
        material,
        &[
            ("density = \"2.7 g/cm^3\"", "density = 2700"),
            ("density = \"2.7 t/m³\"\nrolling = \"1 mm\"", "density = 2700.0\nrolling = 1e-3"),
        ],
    );
    let body = |text: &str| format!("{START}{BALL}{text}");
    same(
        body,
        &[
            ("position = [\"1 m\", \"2 cm\", \"-3 mm\"]", "position = [1, 0.02, -0.003]"),
            ("velocity = [\"36 m/min\", 0, \"1 mm/ms\"]", "velocity = [0.6, 0, 1]"),
            (
                "mass = \"250 g\"\ninertia = [\"4 kg*cm^2\", 4e-4, 4e-4]",
                "mass = 0.25\ninertia = [4e-4, 4e-4, 4e-4]",
            ),
            (
                "force = [\"1 kN\", 0, 0]\ntorque = [0, \"2 N*mm\", 0]",
                "force = [1000, 0, 0]\ntorque = [0, 2e-3, 0]",
            ),
        ],
    );
    let grains =
        |text: &str| format!("{START}[[grains]]\nmaterial = \"rock\"\nspheres = {{}}\n{text}");
    same(
        grains,
        &[
            (
                "grading = { uniform = [\"8 mm\", \"1.6 cm\"] }\ngenerator = \"lattice\"\ncounts = [2, 2, 2]\nspacing = [\"2 cm\", 0.02, \"20 mm\"]\njitter = \"1 mm\"",
                "grading = { uniform = [0.008, 0.016] }\ngenerator = \"lattice\"\ncounts = [2, 2, 2]\nspacing = [0.02, 0.02, 0.02]\njitter = 0.001",
            ),
            (
                "grading = \"EN 12620 gravel 4-8\"\ngenerator = \"rain\"\ncount = 5e0\nbox = { min = [0, 0, 0], max = [\"10 cm\", \"10 cm\", \"1 m\"] }\nsettle = { speed = \"1 mm/s\", at_most = \"3 s\", drag = \"2 1/s\" }",
                "grading = \"EN 12620 gravel 4-8\"\ngenerator = \"rain\"\ncount = 5\nbox = { min = [0, 0, 0], max = [0.1, 0.1, 1] }\nsettle = { speed = 1e-3, at_most = 3, drag = 2 }",
            ),
        ],
    );
}

#[test]
fn equivalent_spellings_give_the_same_scene() {
    let body = |text: &str| format!("{START}{BALL}{text}");
    same(
        body,
        &[
            (
                "mass = 2\ninertia = [1, 2, 2.5]",
                "mass = 2\ninertia = [[1, 0, 0], [0, 2, 0], [0, 0, 2.5]]",
            ),
            (
                "rotation = { quaternion = [2, 0, 0, 0] }",
                "rotation = { axis = [0, 5, 0], angle = 0 }",
            ),
            (
                "rotation = { quaternion = [0, 0, 0, 7] }",
                "rotation = { quaternion = [0, 0, 0, 1] }",
            ),
            ("locked = [\"rx\", \"x\"]", "locked = [\"x\", \"rx\"]"),
            ("name = \"body-1\"", ""),
            ("kind = \"free\"\nvelocity = [0, 0, 0]", ""),
        ],
    );
    let moving = |text: &str| {
        format!(
            "{START}[parameters]\nv = 3\n[[body]]\nkind = \"moving\"\nmaterial = \"rock\"\nshape = {{ type = \"half-space\" }}\n{text}"
        )
    };
    same(
        moving,
        &[
            (
                "motion = { velocity = [1, 0, 0] }",
                "motion = { velocity = [1, 0, 0], angular_velocity = [0, 0, 0] }",
            ),
            (
                "[body.motion]\nposition = [0, \"v*t\", 0]",
                "motion = { position = [0, \"v*t\", 0] }",
            ),
        ],
    );
    let floor = |text: &str| {
        format!(
            "{START}{BALL}[[body]]\nkind = \"fixed\"\nmaterial = \"rock\"\nshape = {{ type = \"half-space\"{text} }}"
        )
    };
    same(
        floor,
        &[("", ", normal = [0, 0, 1]"), (", normal = [0, 0, 2]", ", normal = [0, 0, 1e-3]")],
    );
    let link = |text: &str| {
        format!(
            "{START}[[mechanism]]\n[[mechanism.joint]]\ntype = \"free\"\nchild = \"a\"\n[[mechanism.body]]\nname = \"a\"\nmass = 2\n{text}"
        )
    };
    same(
        link,
        &[
            ("inertia = 3", "inertia = [3, 3, 3]"),
            ("centre = [0, 0, 0]\ninertia = \"3 kg*cm^2\"", "centre = [0, 0, 0]\ninertia = 3e-4"),
        ],
    );
    let arm = |text: &str| {
        format!(
            "{START}[[mechanism]]\n[[mechanism.body]]\nname = \"a\"\nmass = 1\n[[mechanism.joint]]\nname = \"j\"\nchild = \"a\"\n{text}"
        )
    };
    same(
        arm,
        &[
            ("type = \"revolute\"\naxis = \"-y\"", "type = \"revolute\"\naxis = [0, -3, 0]"),
            (
                "type = \"prismatic\"\naxis = \"x\"\nparent = \"ground\"",
                "type = \"prismatic\"\naxis = \"+x\"",
            ),
            (
                "type = \"revolute\"\naxis = \"z\"\nspeed = \"60 rpm\"",
                "type = \"revolute\"\naxis = \"z\"\nspeed = \"1 rev/s\"",
            ),
            (
                "type = \"revolute\"\naxis = \"z\"\ndamping = 2",
                "type = \"revolute\"\naxis = \"z\"\nspring = { stiffness = 0, damping = 2 }",
            ),
            ("type = \"planar\"", "type = \"planar\"\naxes = [\"x\", \"y\"]"),
            (
                "type = \"prismatic\"\naxis = \"z\"\nstart = \"20 mm\"",
                "type = \"prismatic\"\naxis = \"z\"\nstart = 0.02",
            ),
        ],
    );
}

#[test]
fn writing_out_the_defaults_changes_nothing() {
    let short = format!("{START}{BALL}");
    let long = "
        seed = 1
        planar = false
        gravity = [0, 0, \"-9.81 m/s^2\"]
        pair = []
        grains = []
        mechanism = []
        joint = []
        probe = []
        [run]
        scheme = \"moreau-jean\"
        dt = 1e-3
        until = 1
        theta = 0.5
        output_every = \"10 ms\"
        frames = true
        on_unconverged = \"warn\"
        [solver]
        method = \"coloured\"
        tolerance = 1e-4
        approach_tolerance = 1e-4
        velocity_change_tolerance = 1e-3
        max_velocity_change_tolerance = 1e-2
        max_sweeps = 5000
        [contact]
        detection = \"separating-axes\"
        [parameters]
        [materials.rock]
        density = 2700
        friction = 0.5
        restitution = 0
        rolling = 0
        [shapes]
        [[body]]
        name = \"body-1\"
        kind = \"free\"
        shape = { type = \"sphere\", radius = 0.1 }
        material = \"rock\"
        position = [0, 0, 0]
        velocity = [0, 0, 0]
        angular_velocity = [0, 0, 0]
        locked = []
        force = [0, 0, 0]
        torque = [0, 0, 0]";
    assert_eq!(parse(&short), parse(long));
}

#[test]
fn tables_may_appear_in_any_order() {
    let parts = [
        "[run]\ndt = 1e-3\nuntil = 1\n",
        "[materials.rock]\ndensity = 2700\n",
        "[materials.steel]\ndensity = 7800\n",
        "[[pair]]\nbetween = [\"steel\", \"rock\"]\nfriction = 0.2\n",
        "[shapes.ball]\ntype = \"sphere\"\nradius = 0.1\n",
        "[[body]]\nname = \"a\"\nshape = \"ball\"\nmaterial = \"steel\"\n",
        "[[grains]]\nname = \"g\"\nmaterial = \"rock\"\nshape = \"ball\"\ngenerator = \"lattice\"\ncounts = [2, 1, 1]\nspacing = [1, 1, 1]\norigin = [1, 1, 1]\n",
        "[[joint]]\ntype = \"ball\"\nbetween = [\"a\", \"g-2\"]\nposition = [0, 0, 0]\n",
        "[[probe]]\nbody = \"g-1\"\n",
    ];
    let straight = parse(&parts.concat());
    assert_eq!(straight.materials[0].name, "rock");
    for turn in 1..parts.len() {
        let mut turned = parts;
        turned.rotate_left(turn);
        // Materials are numbered in file order; everything else refers to them by name.
        let scene = parse(&turned.concat());
        let names = |scene: &SceneFile| -> Vec<String> {
            let bodies = scene.bodies.iter().map(|body| body.material);
            let grains = scene.grains.iter().map(|group| group.material);
            let pairs = scene.pairs.iter().flat_map(|pair| pair.between);
            bodies.chain(grains).chain(pairs).map(|i| scene.materials[i].name.clone()).collect()
        };
        assert_eq!(names(&scene), ["steel", "rock", "steel", "rock"], "{turn}");
        let [a, b] = [&straight, &scene].map(|s| s.build().unwrap_or_else(|e| panic!("{e}")));
        assert_eq!(a.scene.initial_state(), b.scene.initial_state());
        assert_eq!((&scene.joints, &scene.probes), (&straight.joints, &straight.probes));
    }
}

#[test]
fn output_intervals_default_to_a_fraction_of_the_run() {
    let run =
        |text: &str| parse(&format!("[run]\n{text}\n[materials.rock]\ndensity = 1\n{BALL}")).run;
    assert_eq!(run("dt = 1e-3\nuntil = 2").output_every, 0.02);
    assert_eq!(run("dt = 1e-3\nuntil = 0.01").output_every, 1e-3); // at least one step
    assert_eq!(run("dt = 1e-3\nuntil = 0").output_every, 1e-3);
    assert_eq!(run("dt = 1e-3\nuntil = 2\noutput_every = 0.5").output_every, 0.5);
    let adaptive = |text: &str| {
        parse(&format!(
            "[run]\nscheme = \"dormand-prince\"\n{text}\n[[mechanism]]\n[[mechanism.body]]\nname = \"a\"\nmass = 1\n\
             [[mechanism.joint]]\ntype = \"free\"\nchild = \"a\""
        ))
        .run
    };
    // Its largest step does not depend on the end of the run, so that a run can be extended.
    for (until, dt) in [(1.0, 0.3), (1.0, 0.25), (2.0, 5.0), (0.7, 0.1)] {
        assert_eq!(adaptive(&format!("until = {until}\ndt = {dt}")).dt, dt);
    }
    // A hundredth of the run, in whole steps; each kind of output may have an interval of its own.
    assert_eq!(run("dt = 0.25\nuntil = 59").output_every, 0.5);
    let apart = run("dt = 1e-3\nuntil = 2\nframes_every = 0.1\nseries_every = 2e-3");
    assert_eq!((apart.series_every, apart.frames_every, apart.contacts_every), (2e-3, 0.1, 0.1));
    assert_eq!(adaptive("until = 0").dt, 1.0);
}

#[test]
fn contact_laws_follow_from_restitution_and_pairs_from_materials() {
    let scene = parse(&format!(
        "{START}{BALL}[materials.rubber]\nrestitution = 0.8\nfriction = 0.9\nrolling = 0.002\n[materials.ice]\nrestitution = 0.1\n\
         [[pair]]\nbetween = [\"rubber\", \"ice\"]\nrestitution = 0\n[[pair]]\nbetween = [\"ice\", \"ice\"]\nfriction = 0.02"
    ));
    let [rock, rubber, ice] = ["rock", "rubber", "ice"]
        .map(|name| scene.materials.iter().position(|material| material.name == name).unwrap());
    for (a, b, friction, restitution, law) in [
        (rubber, rubber, 0.9, 0.8, ContactLaw::MoreauNewton),
        (rock, rubber, 0.5, 0.0, ContactLaw::QuasiShock),
        (rubber, ice, 0.0, 0.0, ContactLaw::QuasiShock),
        (ice, ice, 0.02, 0.1, ContactLaw::MoreauNewton),
        (rock, ice, 0.0, 0.0, ContactLaw::QuasiShock),
    ] {
        for pair in [scene.pair(a, b), scene.pair(b, a)] {
            let found = (pair.friction, pair.restitution, pair.law);
            assert_eq!(found, (friction, restitution, law), "{a} {b}");
        }
    }
}

#[test]
fn conflicts_between_keys_mark_the_wrong_values() {
    let free = |text: &str| format!("{START}{BALL}{text}");
    for (text, marked, says) in [
        (free("inertia = [1, 1, 1]"), "inertia", "without `mass`"),
        (free("mass = 1\ninertia = [1, 1, 3]"), "[1, 1, 3]", "sum of the other two"),
        (free("rotation = { axis = [0, 0, 0], angle = 1 }"), "[0, 0, 0]", "`axis` has zero length"),
        (free("angle = 1"), "angle", "planar scenes"),
        (free("[[probe]]\nbody = \"bdoy-1\""), "\"bdoy-1\"", "there is no body `bdoy-1`"),
        (free("[[pair]]\nbetween = [\"rock\", \"rok\"]"), "\"rok\"", "there is no material `rok`"),
        (
            free(
                "[[joint]]\ntype = \"ball\"\nbetween = [\"body-1\", \"body-1\"]\nposition = [0, 0, 0]",
            ),
            "[\"body-1\", \"body-1\"]",
            "two different bodies",
        ),
        (free("[parameters]\na = \"2*b\""), "b", "unknown variable `b`"),
        (free("[parameters]\npi = 3"), "pi", "cannot be the name of a parameter"),
        (free("[parameters]\na = \"1/0\""), "1/0", "`a`: this is inf"),
        (
            free(
                "[[body]]\nname = \"body-1\"\nshape = { type = \"sphere\", radius = 1 }\nmaterial = \"rock\"",
            ),
            "\"body-1\"",
            "used twice",
        ),
        (
            free("[[ignore_contact]]\nbetween = [\"body-1\", \"body-1\"]"),
            "[\"body-1\", \"body-1\"]",
            "never collides with itself",
        ),
        (
            START.replace("until = 1", "until = 1e-4") + BALL,
            "1e-4",
            "before the end of the first step",
        ),
        (START.replace("dt = 1e-3", "dt = 1e-12") + BALL, "1e-12", "1.0e12 steps"),
    ] {
        let errors = SceneFile::parse(&text, "").expect_err(&text);
        let [problem] = &errors.problems[..] else { panic!("{errors}") };
        assert_eq!(&errors.text[problem.span.clone()], marked, "{errors}");
        assert!(problem.message.contains(says), "{errors}");
    }
}
