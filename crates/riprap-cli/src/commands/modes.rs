//! `riprap modes`: computes the vibration modes of each mechanism of a scene.

use riprap::multibody::{Coordinate, Mode, ModeKind, Modes, Multibody};
use serde_json::{Value, json};

use crate::commands::{SceneArguments, equilibrium, parse_time};
use crate::failure::Failure;
use crate::text::{counted, number, print, table};

/// Maximum number of components of a mode shape shown.
const SHOWN: usize = 4;
/// Smaller components are not shown.
const LEAST: f64 = 0.01;
/// Accelerations below this are rounding errors [m/s², rad/s²].
const AT_REST: f64 = 1e-6;

/// Arguments of `riprap modes`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    scene: SceneArguments,
    /// Where to linearize
    #[arg(long, value_enum, default_value_t = Place::Equilibrium)]
    at: Place,
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

/// Where to linearize.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Place {
    /// At the initial state, including its velocities
    Start,
    /// At the static equilibrium found from the initial state
    Equilibrium,
}

impl Place {
    fn word(self) -> &'static str {
        match self {
            Place::Start => "start",
            Place::Equilibrium => "equilibrium",
        }
    }
}

/// Linearizes the mechanisms and prints their modes.
pub fn modes(arguments: &Arguments) -> Result<(), Failure> {
    let built = arguments.scene.read()?.build()?;
    for system in equilibrium::mechanisms(built.scene.mechanisms(), &arguments.hold)? {
        let found = find(&system, arguments.at, arguments.time)?;
        print(&match arguments.json {
            true => format!("{}\n", to_json(&system, &found, arguments.at, arguments.time)),
            false => to_text(&system, &found, arguments.at, arguments.time),
        });
    }
    Ok(())
}

fn find(system: &Multibody, at: Place, t: f64) -> Result<Modes, Failure> {
    let begin = equilibrium::begin(system, t);
    let state = match at {
        Place::Start => begin,
        Place::Equilibrium => equilibrium::find(system, &begin, t)?.state,
    };
    let found = system.modes(&state, t, &mut system.scratch());
    found.map_err(|error| Failure::Run(equilibrium::explained(&error)))
}

fn kind(mode: &Mode) -> &'static str {
    match (mode.kind, mode.is_unstable()) {
        (ModeKind::Oscillation, false) => "oscillation",
        (ModeKind::Oscillation, true) => "UNSTABLE oscillation",
        (ModeKind::Real, false) => "real pole",
        (ModeKind::Real, true) => "UNSTABLE real pole",
        (ModeKind::Rigid, _) => "rigid motion",
    }
}

/// The largest components of a mode shape: name and amplitude, with the phase unless it is 0 or 180°.
fn shape(system: &Multibody, mode: &Mode) -> String {
    let mut parts: Vec<usize> = (0..mode.shape.len()).collect();
    parts.sort_by(|a, b| mode.shape[*b].norm().total_cmp(&mode.shape[*a].norm()));
    let shown = parts.into_iter().filter(|c| mode.shape[*c].norm() >= LEAST).take(SHOWN);
    let text = shown.map(|c| {
        let (name, part) = (system.coordinate_name(Coordinate(c as u32)), mode.shape[c]);
        // Half a degree: phases are printed in whole degrees.
        let value = match part.im.abs() <= 0.0087 * part.norm() {
            true => format!("{:.3}", part.re),
            false => format!("{:.3}∠{:.0}°", part.norm(), part.arg().to_degrees()),
        };
        format!("{name} {value}")
    });
    text.collect::<Vec<_>>().join(", ")
}

/// Formats modes as a table.
fn to_text(system: &Multibody, found: &Modes, at: Place, t: f64) -> String {
    let mut text = format!(
        "mechanism `{}` linearized at its {}, t = {} s; degrees of freedom: {}\n",
        system.name(),
        at.word(),
        number(t),
        found.partition.independent.len()
    );
    if found.acceleration > AT_REST {
        text += &format!(
            "  not at rest here: accelerations up to {} m/s², rad/s²; these modes are valid only while the mechanism \
             stays close to this pose\n",
            number(found.acceleration)
        );
    }
    let heading = ["", "frequency [Hz]", "damping ratio [–]", "decay [1/s]", "", "shape [m, rad]"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for (k, mode) in found.modes.iter().enumerate() {
        rows.push(vec![
            (k + 1).to_string(),
            number(mode.frequency()),
            number(mode.damping_ratio()),
            number(mode.decay()),
            kind(mode).to_owned(),
            shape(system, mode),
        ]);
    }
    text += &table(&rows, &[0, 1, 2, 3]);
    let unstable = found.modes.iter().filter(|m| m.is_unstable()).count();
    text += &match unstable {
        0 => "\n".to_owned(),
        n => {
            let all = counted(found.modes.len(), "mode");
            format!("  {n} of {all} {} unstable\n\n", if n == 1 { "is" } else { "are" })
        }
    };
    text
}

/// Formats modes as JSON: numbers in SI units; mode shapes are real and imaginary parts in the order of `coordinates`.
fn to_json(system: &Multibody, found: &Modes, at: Place, t: f64) -> Value {
    let mode = |mode: &Mode| {
        json!({
            "kind": match mode.kind {
                ModeKind::Oscillation => "oscillation",
                ModeKind::Real => "real",
                ModeKind::Rigid => "rigid",
            },
            "frequency_hz": mode.frequency(),
            "damped_frequency_hz": mode.damped_frequency(),
            "damping_ratio": mode.damping_ratio(),
            "decay_per_s": mode.decay(),
            "unstable": mode.is_unstable(),
            "pole_per_s": [mode.pole.re, mode.pole.im],
            "shape": mode.shape.iter().map(|x| [x.re, x.im]).collect::<Vec<_>>(),
        })
    };
    let coordinate = |c: Coordinate| {
        let unit = system.coordinate_unit(c);
        json!({ "name": system.coordinate_name(c), "unit": unit })
    };
    let independent = found.partition.independent.iter();
    json!({
        "mechanism": system.name(),
        "at": at.word(),
        "t": t,
        "largest_acceleration": found.acceleration,
        "coordinates": system.coordinates().map(coordinate).collect::<Vec<_>>(),
        "independent": independent
            .map(|c| system.coordinate_name(Coordinate(*c)))
            .collect::<Vec<_>>(),
        "modes": found.modes.iter().map(mode).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use validation::mechanisms;

    #[test]
    fn modes_have_units_kinds_and_shapes() {
        let open = mechanisms::TAMPING_LENGTHS[0];
        let m = mechanisms::tamping_unit(0.0, move |_| open);
        let system = m.build([0.0, 0.0, -9.81]).expect("sound");
        let Ok(found) = find(&system, Place::Equilibrium, 0.0) else {
            panic!("it has an equilibrium")
        };
        let text = to_text(&system, &found, Place::Equilibrium, 0.0);
        for words in [
            "linearized at its equilibrium",
            "degrees of freedom: 6",
            "frequency [Hz]",
            "real pole",
            "oscillation",
            "23.6643",
        ] {
            assert!(text.contains(words), "{words}\n{text}");
        }
        assert!(!text.contains("not at rest") && !text.contains("UNSTABLE"), "{text}");
        let value = to_json(&system, &found, Place::Equilibrium, 0.0);
        assert_eq!(value["modes"].as_array().map(Vec::len), Some(8));
        assert_eq!(value["modes"][0]["shape"].as_array().map(Vec::len), Some(10));
        assert_eq!(value["coordinates"][0]["unit"], "m");

        let Ok(found) = find(&system, Place::Start, 0.0) else { panic!("it can be linearized") };
        let text = to_text(&system, &found, Place::Start, 0.0);
        assert!(text.contains("not at rest here: accelerations up to 9.81 m/s²"), "{text}");
    }

    #[test]
    fn unstable_modes_are_marked() {
        let system = mechanisms::four_bars(2).build([0.0, -9.81, 0.0]).expect("sound");
        let Ok(found) = find(&system, Place::Equilibrium, 0.0) else { panic!("it stands") };
        let text = to_text(&system, &found, Place::Equilibrium, 0.0);
        assert!(text.contains("UNSTABLE real pole"), "{text}");
        assert!(text.contains("1 of 2 modes is unstable"), "{text}");
    }
}
