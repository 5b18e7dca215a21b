//! Advice of `check` and `run` on time steps that are too large, and notes where a run deviates from the scene file.

mod common;

use common::{Folder, code, stderr, stdout, success};

/// A mass of 1 kg on a spring and a damper, deflected by 10 mm.
fn sprung(dt: &str, stiffness: f64, damping: f64) -> String {
    format!(
        "[run]\ndt = \"{dt}\"\nuntil = \"0.2 s\"\nframes = false\n[[mechanism]]\nname = \"mass\"\n\
         [[mechanism.body]]\nname = \"block\"\nmass = 1\n[[mechanism.joint]]\nname = \"slide\"\n\
         type = \"prismatic\"\nchild = \"block\"\naxis = \"x\"\nstart = 0.01\n\
         spring = {{ stiffness = {stiffness}, damping = {damping} }}\n"
    )
}

/// The output of `check`.
fn check(folder: &Folder, scene: &str) -> String {
    folder.write("scene.toml", scene);
    let output = folder.riprap(&["check", "scene.toml"]);
    success(&output);
    stdout(&output)
}

/// Largest position of the mass in a run [m]; infinite if the run fails.
fn amplitude(folder: &Folder) -> f64 {
    let output = folder.riprap(&["run", "scene.toml", "--out", "o", "--force"]);
    if code(&output) != Some(0) {
        return f64::INFINITY;
    }
    let series = folder.read("o/series.csv");
    let column = series.lines().next().unwrap().split(',').position(|c| c == "mass.slide.q [m]");
    let values = series.lines().skip(1).map(|line| {
        let value: f64 = line.split(',').nth(column.unwrap()).unwrap().parse().unwrap();
        value.abs()
    });
    values.fold(0.0, f64::max)
}

#[test]
fn a_spring_that_is_too_stiff_for_the_step_is_named_and_a_soft_one_is_not() {
    let folder = Folder::new("advice-spring");
    // ω = 1000 1/s: with 5 ms the run grows without bound.
    let text = check(&folder, &sprung("5 ms", 1e6, 0.0));
    for words in ["reduce dt to 0.5 ms or less", "`slide` of `mass`", "159.155 Hz", "is 5"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(!text.contains("the time step is small enough"), "{text}");
    assert!(amplitude(&folder) > 1.0);
    let text = check(&folder, &sprung("0.2 ms", 1e6, 0.0));
    assert!(text.contains("the time step is small enough"), "{text}");
    assert!(amplitude(&folder) < 0.0101);
}

#[test]
fn a_damper_that_is_too_strong_for_the_step_is_named() {
    let folder = Folder::new("advice-damper");
    let text = check(&folder, &sprung("1 ms", 100.0, 1e4));
    assert!(
        text.contains("dt times the highest decay rate") && text.contains("`slide` of `mass`"),
        "{text}"
    );
    assert!(text.contains("or less") && !text.contains("the time step is small enough"), "{text}");
    let text = check(&folder, &sprung("1 ms", 100.0, 10.0));
    assert!(text.contains("the time step is small enough"), "{text}");
}

#[test]
fn stops_count_even_before_they_are_reached() {
    let folder = Folder::new("advice-stops");
    let scene = sprung("1 ms", 100.0, 0.0)
        + "stops = { lower = -1, upper = 1, stiffness = 1e8, damping = 0 }\n";
    let text = check(&folder, &scene);
    assert!(text.contains("the stops of `slide`") && text.contains("or less"), "{text}");
}

#[test]
fn a_point_that_crosses_its_gap_in_a_step_is_named() {
    let folder = Folder::new("advice-gap");
    let contact = |speed: &str| {
        sprung("1 ms", 100.0, 0.0).replace("start = 0.01", &format!("start_velocity = \"{speed}\""))
            + "[[point_contact]]\nname = \"buffer\"\npoint = { body = \"mass/block\" }\n\
               plane = { body = \"world\", position = [0.001, 0, 0], normal = \"-x\" }\n"
    };
    let text = check(&folder, &contact("5 m/s"));
    assert!(text.contains("point contact `buffer`") && text.contains("or less"), "{text}");
    let text = check(&folder, &contact("1 mm/s"));
    assert!(text.contains("the time step is small enough"), "{text}");
}

#[test]
fn the_speed_of_edges_counts_as_well_as_that_of_centres() {
    let folder = Folder::new("advice-spin");
    let scene = |spin: f64| {
        format!(
            "[run]\ndt = \"1 ms\"\nuntil = \"10 ms\"\n[materials.m]\ndensity = 1000\n[[body]]\nname = \"disc\"\n\
             shape = {{ type = \"box\", size = [0.2, 0.2, 0.02] }}\nmaterial = \"m\"\nangular_velocity = [0, 0, {spin}]\n"
        )
    };
    let text = check(&folder, &scene(1e4));
    assert!(text.contains("`disc`") && text.contains("or less"), "{text}");
    assert!(check(&folder, &scene(10.0)).contains("the time step is small enough"));
}

#[test]
fn run_warns_of_the_overlap_that_check_predicts() {
    let folder = Folder::new("advice-overlap");
    let scene = |dt: &str| {
        format!(
            "gravity = [0, 0, 0]\n[run]\ndt = \"{dt}\"\nuntil = \"40 ms\"\noutput_every = \"10 ms\"\nframes = false\n\
             [materials.m]\ndensity = 1000\nrestitution = 0.5\n[[body]]\nkind = \"fixed\"\n\
             shape = {{ type = \"half-space\" }}\nmaterial = \"m\"\n[[body]]\nname = \"ball\"\nmaterial = \"m\"\n\
             shape = {{ type = \"sphere\", radius = 0.05 }}\nposition = [0, 0, 0.101]\nvelocity = [0, 0, -5]\n"
        )
    };
    let text = check(&folder, &scene("2 ms"));
    assert!(text.contains("overlap at impact over size") && text.contains("or less"), "{text}");
    let run = folder.riprap(&["run", "scene.toml", "--out", "o", "--force"]);
    assert!(stderr(&run).contains("bodies overlapped by"), "{}", stderr(&run));
    let text = check(&folder, &scene("0.1 ms"));
    assert!(text.contains("the time step is small enough"), "{text}");
    let run = folder.riprap(&["run", "scene.toml", "--out", "o", "--force"]);
    assert!(!stderr(&run).contains("bodies overlapped by"), "{}", stderr(&run));
}

#[test]
fn check_and_run_report_rounded_times_and_adjusted_starts() {
    let folder = Folder::new("advice-notes");
    let scene = sprung("1 ms", 100.0, 0.0).replace("0.2 s", "0.2004 s")
        + "[[mechanism.body]]\nname = \"arm\"\nmass = 1\ninertia = 1\n[[mechanism.joint]]\nname = \"hinge\"\n\
           type = \"revolute\"\nchild = \"arm\"\naxis = \"z\"\nstart = 0.5\n[[mechanism.loop]]\nname = \"rod\"\n\
           type = \"rod\"\na = { body = \"arm\", position = [1, 0, 0] }\nb = { body = \"block\" }\nlength = 1\n";
    let text = check(&folder, &scene);
    let run = folder.riprap(&["run", "scene.toml", "--out", "o"]);
    success(&run);
    for told in [text, stderr(&run)] {
        assert!(told.contains("`until` = 0.2004 s") && told.contains("ends at 0.2 s"), "{told}");
        assert!(told.contains("the loops do not close at the given `start`"), "{told}");
        assert!(told.contains("`slide` starts at") && told.contains("moved by"), "{told}");
    }
}

#[test]
fn check_shows_the_dependent_joints_and_how_they_were_chosen() {
    let folder = Folder::new("advice-dependent");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/slider-crank/scene.toml");
    let scene = std::fs::read_to_string(example).unwrap();
    let text = check(&folder, &scene);
    assert!(text.contains("crank, slide.x ← rod, slide.y, slide.angle"), "{text}");
    assert!(text.contains("as given by `dependent` in the scene"), "{text}");
    assert!(text.contains("if contacts chatter or overlap"), "{text}");
    let line = "dependent = [\"slide.x\", \"crank\"]\n";
    let text = check(&folder, &scene.replace(line, ""));
    assert!(text.contains("chosen automatically"), "{text}");
}

#[test]
fn the_example_of_the_slider_crank_has_an_equilibrium_and_modes() {
    let folder = Folder::new("advice-equilibrium");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/slider-crank/scene.toml");
    // Without contacts it hangs straight down: the crank is 153 mm long, the rod 306 mm.
    let output = folder.riprap(&["equilibrium", example]);
    success(&output);
    let text = stdout(&output);
    assert!(text.contains("neutral: `slide.angle` moves without force"), "{text}");
    let y = text.lines().find(|line| line.trim_start().starts_with("slide.y")).unwrap();
    assert!(y.contains("-0.459"), "{text}");
    let output = folder.riprap(&["modes", example]);
    success(&output);
    assert!(stdout(&output).contains("oscillation"), "{}", stdout(&output));
}

/// A ball of 1 kg that falls on a floor, with soft contact.
fn soft(keys: &str) -> String {
    format!(
        "[run]\nscheme = \"penalty\"\ndt = \"0.1 ms\"\nuntil = \"0.2 s\"\nframes = false\n{keys}\n[materials.a]\n\
         restitution = 0.5\n[[body]]\nname = \"floor\"\nkind = \"fixed\"\nmaterial = \"a\"\nshape = {{ type = \"half-space\" }}\n\
         [[body]]\nname = \"ball\"\nmass = 1\nmaterial = \"a\"\nposition = [0, 0, 0.15]\n\
         shape = {{ type = \"sphere\", radius = 0.1 }}\n"
    )
}

#[test]
fn the_stiffness_of_soft_contacts_is_shown_and_one_that_the_step_does_not_allow_is_an_error() {
    let folder = Folder::new("advice-soft");
    let text = check(&folder, &soft(""));
    // k = m (π/(25 dt))².
    for words in
        ["soft contacts: stiffness 1579140 N/m (default)", "`ball` and `floor`", "stable up to"]
    {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let output = folder.riprap(&["run", "scene.toml", "--out", "o"]);
    success(&output);
    let text = stdout(&output);
    assert!(text.contains("deepest overlap") && !text.contains("sweeps"), "{text}");

    folder.write("scene.toml", soft("stiffness = \"1 GN/m\""));
    for command in ["check", "run"] {
        let output = folder
            .riprap(&[command, "scene.toml", "--out", "p"][..if command == "run" { 4 } else { 2 }]);
        assert_ne!(code(&output), Some(0));
        let text = stderr(&output);
        assert!(
            text.contains("above the stability limit") && text.contains("`ball` and `floor`"),
            "{text}"
        );
    }
}
