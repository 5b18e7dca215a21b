//! `riprap equilibrium`: computes the static equilibrium of each mechanism of a scene.

use riprap::multibody::{
    AnalysisError, Coordinate, Equilibrium, MotionError, Multibody, MultibodyState, Stability,
};
use riprap_io::scene_file::closest;
use serde_json::{Value, json};

use crate::commands::{SceneArguments, parse_time};
use crate::failure::Failure;
use crate::text::{number, print, table};

/// Arguments of `riprap equilibrium`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    scene: SceneArguments,
    /// Time at which prescribed motions and force laws are evaluated
    #[arg(long, value_name = "TIME", default_value = "0 s", value_parser = parse_time)]
    time: f64,
    /// Hold a coordinate at its initial value; may be given several times
    #[arg(long, value_name = "COORDINATE")]
    hold: Vec<String>,
    /// Print the results as JSON, one line per mechanism
    #[arg(long)]
    json: bool,
}

/// Finds and prints the equilibria.
pub fn equilibrium(arguments: &Arguments) -> Result<(), Failure> {
    let built = arguments.scene.read()?.build()?;
    for system in mechanisms(built.scene.mechanisms(), &arguments.hold)? {
        let begin = begin(&system, arguments.time);
        let found = find(&system, &begin, arguments.time)?;
        print(&match arguments.json {
            true => format!("{}\n", to_json(&system, &found, arguments.time)),
            false => to_text(&system, &begin, &found, arguments.time),
        });
    }
    Ok(())
}

/// The mechanisms of a scene, with the named coordinates held. It is an error if there are no mechanisms or no mechanism has a
/// coordinate with a given name.
pub(super) fn mechanisms(all: &[Multibody], hold: &[String]) -> Result<Vec<Multibody>, Failure> {
    if all.is_empty() {
        return Err(Failure::Input("the scene has no mechanism".into()));
    }
    for name in hold {
        if all.iter().all(|system| system.coordinate_named(name).is_none()) {
            let known = || all.iter().flat_map(|s| s.coordinates().map(|c| s.coordinate_name(c)));
            let help = match closest(name, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known: {}", known().collect::<Vec<_>>().join(", ")),
            };
            return Err(Failure::Input(format!("no mechanism has a coordinate `{name}`; {help}")));
        }
    }
    let held = all.iter().map(|system| {
        let names: Vec<_> = hold.iter().filter_map(|name| system.coordinate_named(name)).collect();
        system.holding(&names).map_err(|error| Failure::Input(error.to_string()))
    });
    held.collect()
}

/// The initial state of a mechanism, with its force laws in their phases at time `t` [s].
pub(super) fn begin(system: &Multibody, t: f64) -> MultibodyState {
    let mut state = system.start().clone();
    system.switch_phases(t, &mut state);
    state
}

/// Finds the equilibrium near a state.
pub(super) fn find(
    system: &Multibody,
    from: &MultibodyState,
    t: f64,
) -> Result<Equilibrium, Failure> {
    let found = system.equilibrium(from, t, &mut system.scratch());
    found.map_err(|error| match &error {
        AnalysisError::KeepsMoving { coordinate, .. } => {
            let help = format!("use `--hold {coordinate}` to hold it for this analysis");
            Failure::Run(format!("{error}; {help}"))
        }
        _ => Failure::Run(explained(&error)),
    })
}

/// Explains why an analysis failed. No time steps are taken here, so advice on the time step would be misleading.
pub(super) fn explained(error: &AnalysisError) -> String {
    let AnalysisError::Motion(motion) = error else { return error.to_string() };
    let advice = "start closer to the expected pose, or hold a coordinate with --hold";
    match motion {
        MotionError::LoopOpen { mechanism, name, residual, .. } => format!(
            "mechanism `{mechanism}`: loop `{name}` cannot be closed during the search (residual {residual:.1e} m or \
             rad): it may be at the end of its range or at a singular position; {advice}"
        ),
        MotionError::Singular { mechanism, loops, dependent, .. } => format!(
            "mechanism `{mechanism}`: the search reached a singular position, where the loops `{loops}` do not determine \
             the joints `{dependent}`; {advice}"
        ),
        MotionError::NotFinite { mechanism, coordinate, .. } => format!(
            "mechanism `{mechanism}`: the force on `{coordinate}` became infinite or NaN during the search; check its \
             force laws"
        ),
        _ => error.to_string(),
    }
}

/// The role of a coordinate in a state: `independent`, `dependent` or `prescribed`.
fn part(system: &Multibody, state: &MultibodyState, coordinate: Coordinate) -> &'static str {
    match () {
        () if system.driven_coordinates().any(|c| c == coordinate) => "prescribed",
        () if state.partition.dependent.contains(&coordinate.0) => "dependent",
        () => "independent",
    }
}

/// Describes the stability of an equilibrium.
fn verdict(system: &Multibody, stability: &Stability) -> String {
    match stability {
        Stability::Stable => "stable".into(),
        Stability::Neutral { coordinate } => {
            format!("neutral: `{}` moves without force", system.coordinate_name(*coordinate))
        }
        Stability::Unstable { coordinate } => {
            format!("UNSTABLE: `{}` moves away", system.coordinate_name(*coordinate))
        }
    }
}

/// Formats an equilibrium as tables.
fn to_text(system: &Multibody, begin: &MultibodyState, found: &Equilibrium, t: f64) -> String {
    let mut text = format!("mechanism `{}` at rest, t = {} s\n", system.name(), number(t));
    text += &table(
        &[
            vec!["equilibrium".into(), verdict(system, &found.stability)],
            vec!["max residual force".into(), format!("{} N, N m", number(found.residual))],
            vec!["iterations".into(), found.iterations.to_string()],
        ],
        &[],
    );
    let heading = ["coordinate", "", "position", "change", "unit"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    let state = &found.state;
    for c in system.coordinates() {
        let name = system.coordinate_name(c).to_owned();
        let part = part(system, state, c).to_owned();
        match (system.q_of(c), system.quaternion_of(c)) {
            (Some(at), _) => rows.push(vec![
                name,
                part,
                number(state.q[at]),
                number(state.q[at] - begin.q[at]),
                system.coordinate_unit(c).to_owned(),
            ]),
            (None, Some(at)) if first_of_joint(system, c) => {
                let name = name.trim_end_matches(".wx").to_owned();
                for (k, axis) in ["x", "y", "z", "w"].into_iter().enumerate() {
                    rows.push(vec![
                        format!("{name}, quaternion {axis}"),
                        part.clone(),
                        number(state.q[at + k]),
                        number(state.q[at + k] - begin.q[at + k]),
                        "–".into(),
                    ]);
                }
            }
            _ => {}
        }
    }
    text.push('\n');
    text += &table(&rows, &[2, 3]);
    text += &forces("prescribed joint", held(system, found));
    text += &forces("loop equation", cut(system, found));
    text.push('\n');
    text
}

/// Whether a coordinate is the first of its spherical joint.
fn first_of_joint(system: &Multibody, c: Coordinate) -> bool {
    c.0 == 0 || system.quaternion_of(Coordinate(c.0 - 1)) != system.quaternion_of(c)
}

/// Names, values and units.
type Named = Vec<(String, f64, &'static str)>;

/// Forces and torques that hold the prescribed joints.
fn held(system: &Multibody, found: &Equilibrium) -> Named {
    let coordinates = system.driven_coordinates().zip(&found.drive_forces);
    let name = |c| system.coordinate_name(c).to_owned();
    coordinates.map(|(c, force)| (name(c), *force, system.force_unit(c))).collect()
}

/// Constraint forces of the loops; redundant equations carry none.
fn cut(system: &Multibody, found: &Equilibrium) -> Named {
    let redundant = &found.state.partition.redundant;
    let rows = (0..system.n_equations()).filter(|row| !redundant.contains(&(*row as u32)));
    let of = |row| (system.equation_name(row), found.loop_forces[row], system.equation_unit(row));
    rows.map(of).collect()
}

fn forces(what: &str, list: Named) -> String {
    if list.is_empty() {
        return String::new();
    }
    let mut rows = vec![vec![what.to_owned(), "force".into(), "unit".into()]];
    for (name, force, unit) in list {
        rows.push(vec![name, number(force), unit.to_owned()]);
    }
    format!("\n{}", table(&rows, &[1]))
}

/// Formats an equilibrium as JSON: numbers in SI units, each with its name and unit.
fn to_json(system: &Multibody, found: &Equilibrium, t: f64) -> Value {
    let (stability, moves) = match found.stability {
        Stability::Stable => ("stable", None),
        Stability::Neutral { coordinate } => ("neutral", Some(coordinate)),
        Stability::Unstable { coordinate } => ("unstable", Some(coordinate)),
    };
    let state = &found.state;
    let coordinate = |c: Coordinate| {
        let name = system.coordinate_name(c);
        let part = part(system, state, c);
        match (system.q_of(c), system.quaternion_of(c)) {
            (Some(at), _) => {
                let unit = system.coordinate_unit(c);
                json!({ "name": name, "part": part, "position": state.q[at], "unit": unit })
            }
            (None, Some(at)) => {
                json!({ "name": name, "part": part, "quaternion_xyzw": &state.q[at..at + 4] })
            }
            _ => json!({ "name": name, "part": part }),
        }
    };
    let named = |list: Named| -> Vec<Value> {
        let one = |(name, force, unit)| json!({ "name": name, "force": force, "unit": unit });
        list.into_iter().map(one).collect()
    };
    json!({
        "mechanism": system.name(),
        "t": t,
        "stability": stability,
        "moves": moves.map(|c| system.coordinate_name(c)),
        "residual": found.residual,
        "iterations": found.iterations,
        "coordinates": system.coordinates().map(coordinate).collect::<Vec<_>>(),
        "drive_forces": named(held(system, found)),
        "loop_forces": named(cut(system, found)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use riprap::multibody::{Axis, GROUND, Joint, JointMotion, Mechanism};
    use riprap::prelude::Pose;
    use riprap::shape::MassProperties;
    use validation::mechanisms;

    #[test]
    fn every_coordinate_and_force_has_a_name_and_a_unit() {
        let open = mechanisms::TAMPING_LENGTHS[0];
        let mut m = mechanisms::tamping_unit(0.0, move |_| open);
        let flywheel = m.coordinate_named("phif").expect("it has one");
        m.drive(flywheel, JointMotion::constant_speed(0.0, 0.0));
        let system = m.build([0.0, 0.0, -9.81]).expect("sound");
        let from = begin(&system, 0.0);
        let Ok(found) = find(&system, &from, 0.0) else { panic!("it has an equilibrium") };
        let text = to_text(&system, &from, &found, 0.0);
        let line = |words: &str| {
            let found = text.lines().find(|l| l.trim_start().starts_with(words));
            found.unwrap_or_else(|| panic!("no line `{words}` in\n{text}")).to_owned()
        };
        assert!(line("equilibrium").ends_with("stable"), "{text}");
        assert!(line("zs").contains("independent") && line("zs").ends_with(" m"), "{text}");
        assert!(line("phiR").contains("dependent") && line("phiR").ends_with("rad"), "{text}");
        assert!(line("actuator: x").ends_with(" N"), "{text}");
        let prescribed: Vec<&str> = text.lines().filter(|l| l.contains("phif")).collect();
        assert!(prescribed[0].contains("prescribed") && prescribed[1].ends_with("N m"), "{text}");

        let value = to_json(&system, &found, 0.0);
        assert_eq!(value["coordinates"].as_array().map(Vec::len), Some(10));
        assert_eq!(value["loop_forces"].as_array().map(Vec::len), Some(4));
        assert_eq!(value["drive_forces"][0]["unit"], "N m");
        assert_eq!(value["stability"], "stable");
    }

    #[test]
    fn spherical_joints_show_their_quaternion_and_unstable_poses_their_coordinate() {
        let mut m = Mechanism::new("swing");
        let mass = MassProperties::principal(1.0, [0.0, 0.0, -1.0], [0.1; 3]);
        m.add("arm", GROUND, Joint::Spherical, Pose::IDENTITY, Some(mass));
        let wheel = MassProperties::principal(1.0, [0.0, 0.0, 1.0], [0.1; 3]);
        m.add("wheel", GROUND, Joint::Revolute(Axis::Y), Pose::IDENTITY, Some(wheel));
        let system = m.build([0.0, 0.0, -9.81]).expect("sound");
        let from = begin(&system, 0.0);
        let Ok(found) = find(&system, &from, 0.0) else { panic!("it starts at rest") };
        let text = to_text(&system, &from, &found, 0.0);
        assert!(text.contains("UNSTABLE: `wheel` moves away"), "{text}");
        assert_eq!(text.matches("arm, quaternion").count(), 4, "{text}");
        assert!(super::mechanisms(&[], &[]).is_err());
        let hold =
            |name: &str| super::mechanisms(std::slice::from_ref(&system), &[name.to_owned()]);
        let Err(Failure::Input(message)) = hold("weel") else {
            panic!("there is no such coordinate")
        };
        assert!(message.contains("did you mean `wheel`?"), "{message}");
        let Ok(held) = hold("wheel") else { panic!("it can be held") };
        assert_eq!(held[0].driven_coordinates().count(), 1);
    }
}
