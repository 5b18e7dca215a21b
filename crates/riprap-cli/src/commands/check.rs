//! `riprap check`: summarizes a scene and assesses its time step without running it.

mod mechanism;
mod time_step;

use std::path::{Path, PathBuf};

use riprap::detect::{Detector, Images, Query};
use riprap::math::Twist;
use riprap::scene::{Hold, Scene};
use riprap::scheme::Scheme;
use riprap_io::build::{Built, Group};
use riprap_io::run::Origin;
use riprap_io::scans::Scan;
use riprap_io::scene_file::{BodyKind, ContactLaw, GrainShape, Periodic, SceneFile, TimeScheme};

use super::SceneArguments;
use crate::failure::Failure;
use crate::text::{counted, number, print, table};

/// Rows of a table: labels and values.
type Rows = Vec<Vec<String>>;

/// Arguments of `riprap check`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    scene: SceneArguments,
    /// Also report what would carry over from the end of another run: its folder, or end.bin or checkpoint.bin in it
    #[arg(long, value_name = "RUN")]
    from: Option<PathBuf>,
}

/// Reads and builds a scene and prints its summary.
pub fn check(arguments: &Arguments) -> Result<(), Failure> {
    let mut file = arguments.scene.read()?;
    if let Some(run) = &arguments.from {
        file.run.start_from = Some(std::path::absolute(run).unwrap_or_else(|_| run.clone()));
    }
    let built = file.build()?;
    if let Some(scheme) = file.penalty() {
        scheme.check(&built.scene).map_err(|error| Failure::Input(error.to_string()))?;
    }
    if let TimeScheme::RigidEvents { .. } = file.run.scheme {
        let check = file.rigid_events().check(&built.scene);
        check.map_err(|error| Failure::Input(error.to_string()))?;
    }
    if file.periodic.is_some() {
        file.scheme().check(&built.scene).map_err(|error| Failure::Input(error.to_string()))?;
    }
    let mut text = String::new();
    if let Some(title) = &file.title {
        text += &format!("{title}\n");
    }
    let mut rows = bodies(&file, &built);
    rows.extend(file.periodic.iter().flat_map(cell));
    rows.extend(sizes(&built));
    if file.run.scheme.has_contacts() {
        rows.extend(contacts(&built.scene));
    }
    rows.extend(time_step::rows(&file, &built));
    rows.extend(file.notes(&built.scene).into_iter().map(|note| vec!["note".into(), note]));
    text += &table(&rows, &[]);
    if let Some(run) = &file.run.start_from {
        text += &format!("\nstarts from {}\n", run.display());
        text += &carried_over(run, &file, &built)?;
    }
    for grains in &file.grains {
        if let GrainShape::Scans { scans, .. } = &grains.shape {
            text += &format!("\nstones of `{}`\n{}", grains.name, stones(scans));
        }
    }
    for (described, system) in file.mechanisms.iter().zip(built.scene.mechanisms()) {
        text.push('\n');
        text += &mechanism::describe(described, system);
    }
    if !file.materials.is_empty() && file.run.scheme.solves_contacts() {
        text.push('\n');
        text += &materials(&file);
    }
    print(&text);
    Ok(())
}

/// What carries over from another run, and what not.
fn carried_over(run: &Path, file: &SceneFile, built: &Built) -> Result<String, Failure> {
    let input = |error: riprap_io::Error| Failure::Input(error.to_string());
    let origin = Origin::read(run).map_err(input)?;
    let (_, report) = origin.start(file, &built.scene).map_err(input)?;
    Ok(report.lines().iter().map(|line| format!("  {line}\n")).collect())
}

fn bodies(file: &SceneFile, built: &Built) -> Rows {
    let scene = &built.scene;
    let bodies = scene.bodies();
    let count =
        |wanted: fn(&BodyKind) -> bool| file.bodies.iter().filter(|b| wanted(&b.kind)).count();
    let fixed = count(|kind| matches!(kind, BodyKind::Fixed));
    let moving = count(|kind| matches!(kind, BodyKind::Moving { .. }));
    let servos = count(|kind| matches!(kind, BodyKind::Servo { .. }));
    let single = file.bodies.len() - fixed - moving - servos;
    let grains: usize = built.groups.iter().map(|group| group.bodies.len()).sum();
    let carried = bodies.carried.iter().flatten().count();
    let mechanisms = scene.mechanisms();
    let free = || (0..bodies.len()).filter(|&i| bodies.movable[i]);
    let mass: f64 = free().map(|i| bodies.mass[i]).sum();
    let mut freedom: usize =
        free().map(|i| bodies.locks[i].0.iter().filter(|l| !**l).count()).sum();
    freedom += mechanisms
        .iter()
        .map(|system| system.degrees_of_freedom(&system.start().partition))
        .sum::<usize>();
    let flexible = scene.flexible();
    freedom += flexible.iter().flat_map(|b| b.held()).filter(|held| !**held).count();
    let plane = if scene.is_planar() { "in the x–y plane" } else { "in 3D" };
    // Without the world, to which joints and point contacts may be attached.
    let all = file.bodies.len() + grains + carried;
    let mut rows = vec![
        vec!["bodies".into(), format!("{all} {plane}")],
        vec![
            String::new(),
            format!(
                "{}, {single} other free {}",
                counted(grains, "grain"),
                if single == 1 { "body" } else { "bodies" }
            ),
        ],
        vec![String::new(), format!("{fixed} fixed, {moving} with prescribed motion")],
    ];
    if servos > 0 {
        rows.push(vec![String::new(), format!("{servos} moved by servos")]);
    }
    if !mechanisms.is_empty() {
        let n = counted(mechanisms.len(), "mechanism");
        rows.push(vec![String::new(), format!("{carried} in {n}")]);
    }
    if !flexible.is_empty() {
        let nodes: usize = flexible.iter().map(|body| body.n_nodes()).sum();
        let n = match flexible.len() {
            1 => "1 flexible body".to_owned(),
            n => format!("{n} flexible bodies"),
        };
        rows.push(vec![String::new(), format!("{nodes} nodes of {n}")]);
    }
    rows.push(vec!["degrees of freedom".into(), freedom.to_string()]);
    if !scene.joints().is_empty() {
        // Degrees of freedom constrained by a joint; in the plane only x, y and the angle count.
        let equations = scene.joints().iter().map(|joint| match (joint.hold, scene.is_planar()) {
            (Hold::Ball, false) => 3,
            (Hold::Hinge | Hold::Slider, false) => 5,
            (Hold::Weld, false) => 6,
            (Hold::Ball | Hold::Hinge | Hold::Slider, true) => 2,
            (Hold::Weld, true) => 3,
        });
        let (n, equations) = (scene.joints().len(), equations.sum::<usize>());
        let text = format!(
            "{n} between bodies, which remove{} up to {equations} of them",
            if n == 1 { "s" } else { "" }
        );
        rows.push(vec!["joints".into(), text]);
    }
    if free().next().is_some() {
        rows.push(vec!["mass of the free bodies".into(), format!("{} kg", number(mass))]);
    }
    if let Some(settling) = &built.settling {
        let text = format!("before the run, for at most {} s", number(settling.at_most()));
        rows.push(vec!["settling".into(), text]);
    }
    rows
}

/// The periodic cell.
fn cell(cell: &Periodic) -> Rows {
    let ranges = [("x", cell.x), ("y", cell.y), ("z", cell.z)];
    let ranges = ranges.iter().filter_map(|(axis, range)| {
        let [low, high] = (*range)?.map(number);
        Some(format!("{axis} from {low} to {high} m"))
    });
    let mut rows = vec![vec!["periodic cell".into(), ranges.collect::<Vec<_>>().join(", ")]];
    if let Some(rate) = cell.shear_rate {
        rows.push(vec!["shear rate".into(), format!("{} 1/s, along x over y", number(rate))]);
    }
    if cell.shear_strain.is_some() {
        rows.push(vec!["shear strain".into(), "a function of t, along x over y".into()]);
    }
    rows
}

/// Sizes of the free bodies and sieve curves of graded groups.
fn sizes(built: &Built) -> Rows {
    let bodies = built.scene.bodies();
    let sizes: Vec<f64> =
        (0..bodies.len()).filter(|&i| bodies.movable[i]).map(|i| bodies.size[i]).collect();
    if sizes.is_empty() {
        return Vec::new();
    }
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    let most = sizes.iter().copied().fold(0.0, f64::max);
    let mm = |x: f64| number(1e3 * x);
    let mean = built.scene.grain_size();
    let all = format!("{} to {} mm, mean {} mm", mm(least), mm(most), mm(mean));
    let mut rows = vec![vec!["size (sphere of equal volume)".into(), all]];
    for group in built.groups.iter().filter(|group| !group.sizes.is_empty()) {
        let [d10, d50, d90] = [10.0, 50.0, 90.0].map(|share| mm(passing(built, group, share)));
        let text = format!("d10 = {d10} mm, d50 = {d50} mm, d90 = {d90} mm by mass");
        rows.push(vec![format!("sieve sizes of `{}`", group.name), text]);
    }
    rows
}

/// Sieve size [m] passed by a percentage `share` [%] of the mass of a group.
fn passing(built: &Built, group: &Group, share: f64) -> f64 {
    let masses = &built.scene.bodies().mass[group.bodies.clone()];
    let mut grains: Vec<(f64, f64)> =
        group.sizes.iter().copied().zip(masses.iter().copied()).collect();
    grains.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = masses.iter().sum();
    let mut sum = 0.0;
    for (size, mass) in &grains {
        sum += mass;
        if sum >= 0.01 * share * total {
            return *size;
        }
    }
    grains.last().map_or(0.0, |(size, _)| *size)
}

/// Scanned stones: numbers of vertices and the volume lost by reducing them.
fn stones(scans: &[Scan]) -> String {
    let head = ["file", "vertices", "hull vertices", "kept", "volume lost", "hull vs. scan volume"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for scan in scans {
        let over = scan.volume.map_or("not closed".into(), |volume| {
            let tenths = (1e3 * (scan.hull_volume / volume - 1.0)).round() + 0.0; // -0 is 0
            format!("{:+.1} %", 0.1 * tenths)
        });
        rows.push(vec![
            scan.file.clone(),
            scan.n_vertices.to_string(),
            scan.n_hull.to_string(),
            scan.points.len().to_string(),
            format!("{:.2} %", 100.0 * scan.volume_error()),
            over,
        ]);
    }
    table(&rows, &[1, 2, 3, 4, 5])
}

fn materials(file: &SceneFile) -> String {
    let head = ["materials", "friction", "restitution", "rolling [mm]", "law"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for a in 0..file.materials.len() {
        for b in a..file.materials.len() {
            let pair = file.pair(a, b);
            let law = match pair.law {
                ContactLaw::MoreauNewton => "moreau-newton",
                ContactLaw::QuasiShock => "quasi-shock",
            };
            rows.push(vec![
                format!("{} – {}", file.materials[a].name, file.materials[b].name),
                number(pair.friction),
                number(pair.restitution),
                number(1e3 * pair.rolling),
                law.to_owned(),
            ]);
        }
    }
    let mut out = table(&rows, &[1, 2, 3]);
    out.push_str(&cohesion_and_grip(file));
    out
}

/// Cohesion and static friction of the pairs that have them.
fn cohesion_and_grip(file: &SceneFile) -> String {
    let head = ["cohesion", "static friction", "force [N]", "surface energy [J/m^2]", "range [mm]"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for a in 0..file.materials.len() {
        for b in a..file.materials.len() {
            let pair = file.pair(a, b);
            if pair.is_cohesive() || pair.static_friction.is_some() {
                let range = pair.cohesion_range.filter(|_| pair.is_cohesive());
                rows.push(vec![
                    format!("{} – {}", file.materials[a].name, file.materials[b].name),
                    number(pair.static_friction.unwrap_or(pair.friction)),
                    number(pair.cohesion),
                    number(pair.surface_energy),
                    range.map_or_else(|| "default".to_owned(), |range| number(1e3 * range)),
                ]);
            }
        }
    }
    if rows.len() == 1 { String::new() } else { table(&rows, &[1, 2, 3, 4]) }
}

/// Initial contacts.
fn contacts(scene: &Scene) -> Rows {
    let detection = scene.detection();
    let state = scene.initial_state();
    let mut detector = Detector::default();
    detector.detect(&Query {
        colliders: scene.colliders(),
        set: scene.collider_set(),
        bodies: &state.q,
        reach: &vec![0.0; state.q.len()],
        motion: &vec![Twist::default(); state.q.len()],
        alert: detection.alert,
        skin: detection.skin,
        method: detection.method,
        apart: scene.pairs_apart(),
        images: scene.lattice(0.0).map(|lattice| Images { lattice, strain: 0.0 }),
    });
    let gap = detector.points().map(|point| point.gap).fold(f64::INFINITY, f64::min);
    let gap = match gap.is_finite() {
        true => format!("{} mm", number(1e3 * gap)),
        false => "more than the alert distance".into(),
    };
    let rows = vec![
        vec!["alert distance".into(), format!("{} mm", number(1e3 * detection.alert))],
        vec!["initial contact points".into(), detector.points().count().to_string()],
        vec!["smallest initial gap".into(), gap],
    ];
    rows
}
