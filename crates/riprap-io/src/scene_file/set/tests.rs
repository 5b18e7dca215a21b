use crate::scene_file::{SceneErrors, SceneFile};

const SCENE: &str = r#"
[run]
dt = "1 ms"
until = "1 s"

[parameters]
omega = "3 rad/s"

[materials.rock]
density = 2700
friction = 0.5

[materials."wet.rock"]
density = 2700

[[body]]
name = "floor"
kind = "fixed"
material = "rock"
shape = { type = "half-space" }

[[body]]
name = "ball"
material = "wet.rock"
position = [0, 0, 1]
angular_velocity = [0, 0, "omega"]
shape = { type = "sphere", radius = 0.1 }
"#;

fn with(set: &[&str]) -> Result<SceneFile, SceneErrors> {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    SceneFile::parse_with(SCENE, ".", &set)
}

#[track_caller]
fn scene(set: &[&str]) -> SceneFile {
    with(set).unwrap_or_else(|errors| panic!("{errors}"))
}

#[track_caller]
fn told(set: &[&str]) -> String {
    with(set).expect_err("a mistake").to_string()
}

#[test]
fn keys_are_set_by_their_path() {
    let all = scene(&[
        "run.dt=0.5 ms",
        "run.until = \"2 s\"",
        "materials.rock.friction=0.75",
        "materials.wet.rock.density=3000",
        "body.ball.position=[0, 0, \"20 cm\"]",
        "body.2.velocity=[1, 0, 0]",
        "solver.tolerance=1e-6",
        "gravity=[0, 0, -1.62]",
        "seed=7",
        "omega=5 rad/s",
        "run.scheme=generalized-alpha",
        "run.rho=0.9",
        "body.ball.shape={ type = \"sphere\", radius = 0.2 }",
        "title=a test",
    ]);
    assert_eq!((all.run.dt, all.run.until, all.seed), (5e-4, 2.0, 7));
    assert_eq!((all.materials[0].friction, all.materials[1].density), (0.75, Some(3000.0)));
    assert_eq!((all.bodies[1].position, all.gravity), ([0.0, 0.0, 0.2], [0.0, 0.0, -1.62]));
    assert_eq!(all.solver.tolerance, 1e-6);
    assert_eq!(all.parameters[0].value, 5.0);
    assert_eq!(all.title.as_deref(), Some("a test"));
    assert!(all.to_toml().contains("rho = 0.9"), "{}", all.to_toml());
    assert_eq!(all.source.set.len(), 14);
}

#[test]
fn later_options_win_and_single_components_can_be_set() {
    let all =
        scene(&["run.dt=3 ms", "run.dt=2 ms", "body.ball.position.3=4", "parameters.omega=9"]);
    assert_eq!((all.run.dt, all.bodies[1].position[2], all.parameters[0].value), (2e-3, 4.0, 9.0));
    // A parameter keeps its place before those that use it.
    let text = SCENE.replace("omega = \"3 rad/s\"", "omega = 3\ntwice = \"2*omega\"");
    let all = SceneFile::parse_with(&text, ".", &["omega=4".to_owned()]).unwrap();
    assert_eq!(all.parameters.iter().map(|p| p.value).collect::<Vec<_>>(), [4.0, 8.0]);
    // A value may contain equals signs, and expressions of parameters.
    assert_eq!(scene(&["title=a=b"]).title.as_deref(), Some("a=b"));
    assert_eq!(scene(&["run.until=2*omega/omega*0.5"]).run.until, 1.0);
}

#[test]
fn without_options_nothing_changes() {
    let (plain, none) = (SceneFile::parse(SCENE, ".").unwrap(), scene(&[]));
    assert_eq!(plain, none);
    assert_eq!((&*none.source.text, none.source.options), (SCENE, None));
}

#[test]
fn mistakes_point_to_the_option_and_suggest_the_nearest_key() {
    for (option, says) in [
        ("run.dt", "sets nothing: there is no `=`"),
        ("run.dt=", "there is no value after `=`"),
        ("run.dtt=1 ms", "unknown key `dtt` in [run]\n  help: did you mean `dt`?"),
        ("run.dt=1 kg", "`dt`: expected a time"),
        ("run.dt=-1", "`dt` must be greater than 0"),
        ("runn.dt=1", "the scene has no `runn`\n  help: did you mean `run`?"),
        ("materials.rok.friction=1", "the scene has no `rok`\n  help: did you mean `rock`?"),
        ("materials.rock.fricton=1", "unknown key `fricton` in [materials.rock]"),
        ("materials.rock.friction=high", "`friction`: expected a number"),
        ("body.bal.position=[0,0,1]", "the scene has no `bal`\n  help: did you mean `ball`?"),
        ("body.3.position=[0,0,1]", "the scene has no `3`"),
        ("body.0.position=[0,0,1]", "the scene has no `0`"),
        ("body.ball.position=[0,0", "not valid TOML"),
        ("body.ball.position=\"above", "not valid TOML"),
        ("body.ball=3", "`body.ball` is a table\n  help: set one of its keys, such as `body.ball."),
        ("body.ball.material.colour=1", "`body.ball.material` is a value, not a table"),
        ("grains.sand.count=3", "the scene has no [[grains]]"),
        ("omga=3", "the scene has no parameter `omga`\n  help: did you mean `omega`?"),
        ("=3", "the scene has no parameter ``"),
        ("body.ball.position=[0,0]", "expected 3 components"),
        ("run.until=0.1 ms", "before the end of the first step"),
    ] {
        let told = told(&[option]);
        assert!(told.starts_with(&format!("--set {option}: ")), "{option}: {told}");
        assert!(told.contains(says), "{option}: {told}");
    }
}

#[test]
fn a_mistake_is_found_in_the_right_one_of_several_options_and_in_the_file() {
    let errors = with(&["run.dt=2 ms", "run.until=1 kg", "seed=3"]).unwrap_err();
    let [problem] = &errors.problems[..] else { panic!("{errors}") };
    let (option, begin) = errors.option_at(problem.span.start).unwrap();
    assert_eq!(option, "--set run.until=1 kg");
    assert_eq!(&errors.text[begin..begin + option.len()], option);
    assert_eq!(&errors.text[problem.span.clone()], "1 kg");
    // The file is referred to as before.
    let wrong = SCENE.replace("2700", "-1");
    let errors = SceneFile::parse_with(&wrong, ".", &["seed=3".to_owned()]).unwrap_err();
    assert!(errors.to_string().starts_with("scene:10:11: `density` must be"), "{errors}");
}

#[test]
fn text_without_a_final_newline_takes_options_too() {
    let errors = SceneFile::parse_with(SCENE.trim_end(), ".", &["seed=-3".to_owned()]).unwrap_err();
    assert!(errors.to_string().starts_with("--set seed=-3: `seed` must be"), "{errors}");
}
