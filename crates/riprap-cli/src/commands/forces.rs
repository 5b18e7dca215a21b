//! `riprap forces`: computes the unique force network of a run and compares it with the forces of its solver.

use std::path::PathBuf;

use riprap::friction::{ForceLaw, RestForces, RestFriction};
use riprap::simulation::{Fabric, ForceDistribution, ForceNetwork, Resultant, Simulation, rose};
use riprap_io::forces::{self, Error, FILES, View};
use serde_json::{Value, json};

use crate::commands::{parse_positive, parse_time};
use crate::failure::Failure;
use crate::text::{counted, grouped, number, print, table};

/// Arguments of `riprap forces`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of a run with a checkpoint
    run: PathBuf,
    /// Force law of the contacts
    #[arg(long, value_enum, default_value = "linear")]
    law: LawName,
    /// How tangential forces are limited
    #[arg(long, value_enum, default_value = "associated")]
    friction: FrictionName,
    /// Tangential stiffness over normal stiffness
    #[arg(long, value_name = "NUMBER", default_value = "0.2857142857142857", value_parser = parse_positive)]
    ratio: f64,
    /// The resultant of the forces on each body
    #[arg(long, value_enum, default_value = "balance")]
    resultant: ResultantName,
    /// Continue from the checkpoint to this time, in memory; nothing of the run is changed
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<f64>,
    /// Direction of view of the picture; planar scenes are seen along z
    #[arg(long, value_enum, default_value = "y")]
    view: ViewName,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum LawName {
    /// Force proportional to the deformation
    Linear,
    /// Force proportional to the deformation to the power 3/2
    Hertz,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum FrictionName {
    /// The smallest elastic energy under Coulomb's law: unique (linear law only)
    Associated,
    /// Tangential springs are cut at the friction limit
    Clipped,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ResultantName {
    /// Opposite to the weight for bodies at rest, that of the step for the others
    Balance,
    /// Opposite to the weight for all bodies
    Rest,
    /// That of the step for all bodies
    Step,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ViewName {
    X,
    Y,
    Z,
}

/// Width of the bins of the distribution of forces, and number of sectors of the rose.
const BIN: f64 = 0.25;
const SECTORS: usize = 18;

/// Computes, writes and prints the forces.
pub fn forces(arguments: &Arguments) -> Result<(), Failure> {
    let law = match arguments.law {
        LawName::Linear => ForceLaw::Linear,
        LawName::Hertz => ForceLaw::Hertz,
    };
    let resultant = match arguments.resultant {
        ResultantName::Balance => Resultant::Balance,
        ResultantName::Rest => Resultant::Rest,
        ResultantName::Step => Resultant::Step,
    };
    let view = match arguments.view {
        ViewName::X => View::X,
        ViewName::Y => View::Y,
        ViewName::Z => View::Z,
    };
    let run = forces::load(&arguments.run, arguments.time).map_err(failure)?;
    let friction = match arguments.friction {
        FrictionName::Associated => RestFriction::Associated,
        FrictionName::Clipped => RestFriction::Clipped,
    };
    let rest = RestForces::new().law(law).friction(friction).tangential_ratio(arguments.ratio);
    let network = forces::network(&run, &rest, resultant).map_err(failure)?;
    forces::write(&arguments.run, &run.frame(), &network, view).map_err(failure)?;
    let statistics = Statistics::of(&network);
    print(&match arguments.json {
        true => format!("{}\n", to_json(&run, &network, &statistics)),
        false => to_text(&run, &network, &statistics, arguments),
    });
    Ok(())
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Scene(errors) => Failure::Scene(errors),
        Error::NotARun { .. } | Error::NoCheckpoint { .. } | Error::Before { .. } => {
            Failure::Input(error.to_string())
        }
        error => Failure::Run(error.to_string()),
    }
}

/// Fabric of the loaded contacts and distribution of their normal forces.
struct Statistics {
    distribution: ForceDistribution,
    fabric: Option<Fabric>,
    by_force: Option<Fabric>,
    rose: Vec<f64>,
}

impl Statistics {
    fn of(network: &ForceNetwork) -> Statistics {
        let (normals, forces) = (network.normals(), network.normal_forces());
        Statistics {
            distribution: ForceDistribution::of(&forces, BIN),
            fabric: Fabric::of(normals.iter().map(|n| (*n, 1.0))),
            by_force: Fabric::of(normals.iter().copied().zip(forces.iter().copied())),
            rose: rose(&normals, SECTORS),
        }
    }
}

/// Bodies whose contacts cannot provide their resultant: names and errors relative to their weight.
fn unbalanced(run: &Simulation, network: &ForceNetwork) -> Vec<(String, f64)> {
    let (scene, list) = (run.scene(), &network.report.unbalanced);
    let name = |b: u32| {
        let slot = scene.slot(network.bodies[b as usize]);
        scene.bodies().names[slot].clone()
    };
    list.iter().map(|(b, error)| (name(*b), *error)).collect()
}

fn to_text(
    run: &Simulation,
    network: &ForceNetwork,
    statistics: &Statistics,
    arguments: &Arguments,
) -> String {
    let (report, d) = (&network.report, &statistics.distribution);
    let (relative, largest) = network.distance();
    let moving = network.moving.iter().filter(|moves| **moves).count();
    let mut text = format!("forces at t = {} s\n", number(run.time()));
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |what: &str, value: String| rows.push(vec![what.to_owned(), value]);
    row("free bodies", grouped(network.bodies.len()));
    row("in motion", format!("{} (fastest {} m/s)", grouped(moving), number(network.fastest)));
    row("contacts", grouped(network.contacts.len()));
    let [open, sticking, sliding] = [report.open, report.sticking, report.sliding].map(grouped);
    row("open, sticking, sliding", format!("{open}, {sticking}, {sliding}"));
    row("mean normal force", format!("{} N", number(d.mean)));
    row("largest normal force", format!("{} N", number(d.largest)));
    row("worst balance over weight", format!("{:.1e}", report.residual));
    row("worst balance of the solver", format!("{:.1e}", network.solver_residual));
    row("distance of the solver's forces", number(relative));
    row("largest difference", format!("{} N", number(largest)));
    if let Some(decay) = d.decay {
        row("decay of the distribution", format!("exp(-{} f/<f>) above the mean", number(decay)));
    }
    if let Some(fabric) = &statistics.fabric {
        row("anisotropy of the contacts", number(fabric.anisotropy()));
        let [x, y, z] = <[f64; 3]>::from(fabric.directions[0]).map(number);
        row("main direction", format!("[{x}, {y}, {z}]"));
    }
    row("iterations", report.iterations.to_string());
    text += &table(&rows, &[]);
    let list = unbalanced(run, network);
    if !list.is_empty() {
        text += &format!(
            "{} cannot have the resultant asked for; error over weight:\n",
            counted(list.len(), "body").replace("bodys", "bodies")
        );
        let shown = list.iter().take(10);
        let rows: Vec<_> = shown.map(|(name, e)| vec![name.clone(), format!("{e:.1e}")]).collect();
        text += &table(&rows, &[1]);
    }
    let folder = arguments.run.display();
    text += &format!("wrote {} in {folder}\n", FILES.join(", "));
    text
}

fn to_json(run: &Simulation, network: &ForceNetwork, statistics: &Statistics) -> Value {
    let (report, d) = (&network.report, &statistics.distribution);
    let (relative, largest) = network.distance();
    let fabric = |fabric: &Option<Fabric>| {
        fabric.as_ref().map(|f| {
            let directions = f.directions.map(<[f64; 3]>::from);
            json!({ "values": f.values, "directions": directions, "anisotropy": f.anisotropy() })
        })
    };
    json!({
        "t": run.time(),
        "bodies": network.bodies.len(),
        "moving": network.moving.iter().filter(|moves| **moves).count(),
        "fastest": network.fastest,
        "contacts": network.contacts.len(),
        "open": report.open,
        "sticking": report.sticking,
        "sliding": report.sliding,
        "mean_normal_force": d.mean,
        "largest_normal_force": d.largest,
        "balance": report.residual,
        "converged": report.converged,
        "iterations": report.iterations,
        "solver_balance": network.solver_residual,
        "solver_distance": relative,
        "largest_difference": largest,
        "unbalanced": unbalanced(run, network).iter().map(|(name, error)| json!({ "body": name, "error": error })).collect::<Vec<_>>(),
        "distribution": { "width": d.width, "density": d.density, "decay": d.decay },
        "fabric": fabric(&statistics.fabric),
        "fabric_by_force": fabric(&statistics.by_force),
        "rose": run.scene().is_planar().then_some(&statistics.rose),
    })
}
