//! From checked values to the model, with the checks that concern several keys at once: names that nobody has,
//! shapes that do not fit the scene, numbers that contradict each other. Whatever is wrong is reported where it
//! stands, and conversion goes on, so that one reading shows everything.

mod bodies;
mod contacts;
mod forces;
mod grains;
mod joints;
mod laws;
mod mechanisms;
mod shapes;
mod urdf;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::document::excerpt;
use super::expression::Scope;
use super::model::{
    Contact, Detection, Material, NamedShape, OnUnconverged, Pair, Run, SceneFile, Solver,
    SolverMethod, Source, TimeScheme, Vector,
};
use super::problem::Problems;
use super::suggest;
use super::values::{Entries, Node};
use crate::mesh::Mesh;

/// Largest number of time steps and of frames in a run.
const MAX_STEPS: f64 = 1e10;
const MAX_OUTPUTS: f64 = 1e6;

/// What the conversion of one thing needs to know of the others.
struct Converter<'a> {
    problems: &'a mut Problems,
    /// The whole file.
    text: &'a str,
    /// Folder to which paths are relative.
    base: &'a Path,
    planar: bool,
    /// Time at which the run ends [s], if known.
    until: Option<f64>,
    seed: u64,
    /// What motions may use: `t` and the parameters.
    time_scope: Scope,
    materials: Vec<Material>,
    material_index: HashMap<String, usize>,
    /// Types of the named shapes; `None` where it is not valid.
    shape_types: Vec<Option<&'static str>>,
    shape_index: HashMap<String, usize>,
    meshes: HashMap<PathBuf, Option<Arc<Mesh>>>,
    /// Names of bodies and groups of grains that are taken.
    names: HashMap<String, Range<usize>>,
    /// Names of joints between bodies, also of those that are wrong.
    joint_names: HashSet<String>,
    /// Groups of grains: name and number, as far as known.
    groups: Vec<(String, Option<u64>)>,
    /// Size of the acceleration of gravity [m/s²].
    gravity: f64,
}

/// Makes the model of a checked file. What is missing or wrong has been reported and is filled with anything.
pub(crate) fn convert(
    scene: &Entries,
    text: &str,
    base: &Path,
    problems: &mut Problems,
) -> SceneFile {
    let planar = scene.flag("planar").unwrap_or(false);
    let run = scene.table("run");
    let mut converter = Converter {
        problems,
        text,
        base,
        planar,
        until: run.and_then(|run| run.number("until")),
        seed: scene.integer("seed").unwrap_or(1).unsigned_abs(),
        time_scope: Scope::new(&["t"]),
        materials: Vec::new(),
        material_index: HashMap::new(),
        shape_types: Vec::new(),
        shape_index: HashMap::new(),
        meshes: HashMap::new(),
        names: HashMap::new(),
        joint_names: HashSet::new(),
        groups: Vec::new(),
        gravity: 0.0,
    };

    let gravity = match scene.get("gravity") {
        Some(_) => converter.polar(scene, "gravity").unwrap_or_default(),
        None if planar => [0.0, -9.81, 0.0],
        None => [0.0, 0.0, -9.81],
    };
    converter.gravity = gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
    let parameters = converter.parameters(scene);
    let run_entries = run;
    let run = run.map(|run| converter.run(run));
    converter.materials(scene);
    let pairs = converter.pairs(scene.list("pair").unwrap_or_default());
    let shapes = converter.named_shapes(scene);
    let bodies = converter.bodies(scene.list("body").unwrap_or_default());
    let grains = converter.grains(scene.list("grains").unwrap_or_default());
    let mechanisms = converter.mechanisms(scene.list("mechanism").unwrap_or_default());
    let (mechanisms, mechanism_sources): (Vec<_>, Vec<_>) = mechanisms.into_iter().unzip();
    let known = bodies::Known::new(&bodies, &grains, &mechanisms);
    let joints = scene.list("joint").unwrap_or_default();
    let (joints, joint_spans): (Vec<_>, Vec<_>) =
        converter.joints(joints, &known).into_iter().unzip();
    let point_contacts = scene.list("point_contact").unwrap_or_default();
    let (point_contacts, point_contact_spans) = converter.point_contacts(point_contacts, &known);
    let ignored = scene.list("ignore_contact").unwrap_or_default();
    let ignored_contacts = converter.ignored_contacts(ignored, &known);
    let probes = scene.list("probe").unwrap_or_default();
    let probes = converter.probes(probes, &known, &joints);
    if ["body", "grains", "mechanism"].iter().all(|key| scene.given(key).is_none()) {
        let message = "there is nothing to simulate: the scene has no bodies, grains or mechanisms";
        converter.problems.advise(0..0, message, "add a [[body]], [[grains]] or a [[mechanism]]");
    }
    if let (Some(run), Some("dormand-prince")) =
        (run_entries, run_entries.and_then(|run| run.variant))
        && ["body", "grains", "point_contact"].iter().any(|key| scene.given(key).is_some())
    {
        let message = "\"dormand-prince\" is for mechanisms alone: it knows no contacts";
        let help = "leave out `scheme`, or [[body]], [[grains]] and [[point_contact]]";
        converter.problems.advise(run.value_span("scheme"), message, help);
    }

    SceneFile {
        title: scene.text("title").map(str::to_owned),
        seed: converter.seed,
        gravity,
        planar,
        run: run.unwrap_or(Run {
            scheme: TimeScheme::MoreauJean { theta: 0.5 },
            dt: 1.0,
            until: 0.0,
            output_every: 1.0,
            frames: false,
            checkpoint_every: None,
            on_unconverged: OnUnconverged::Warn,
        }),
        solver: solver(scene.table("solver").unwrap_or(&Entries::default())),
        contact: contact(scene.table("contact").unwrap_or(&Entries::default())),
        parameters,
        materials: converter.materials,
        pairs,
        shapes,
        bodies: bodies.into_iter().flatten().collect(),
        grains: grains.into_iter().flatten().collect(),
        mechanisms,
        joints: joints.into_iter().flatten().collect(),
        point_contacts,
        ignored_contacts,
        probes: probes.bodies,
        mechanism_probes: probes.mechanisms,
        joint_probes: probes.joints,
        source: Source {
            mechanisms: mechanism_sources,
            joints: joint_spans,
            point_contacts: point_contact_spans,
            ..source(scene)
        },
    }
}

/// Where the named shapes, the bodies and the groups of grains are written.
fn source(scene: &Entries) -> Source {
    let tables = |key| -> Vec<Range<usize>> {
        let nodes = scene.list(key).unwrap_or_default();
        nodes.iter().filter_map(Node::table).map(|entries| entries.span.clone()).collect()
    };
    let shapes = scene.table("shapes").map_or(Vec::new(), |shapes| {
        shapes.named().map(|(_, key_span, _)| key_span.clone()).collect()
    });
    Source { shapes, bodies: tables("body"), grains: tables("grains"), ..Source::default() }
}

fn solver(solver: &Entries) -> Solver {
    let number = |key| solver.number(key).unwrap_or(1.0);
    Solver {
        method: match solver.text("method") {
            Some("gauss-seidel") => SolverMethod::GaussSeidel,
            Some("conjugate-gradient") => SolverMethod::ConjugateGradient,
            _ => SolverMethod::Coloured,
        },
        tolerance: number("tolerance"),
        approach_tolerance: number("approach_tolerance"),
        velocity_change_tolerance: number("velocity_change_tolerance"),
        max_velocity_change_tolerance: number("max_velocity_change_tolerance"),
        max_sweeps: small(solver.integer("max_sweeps")),
    }
}

fn contact(contact: &Entries) -> Contact {
    let detection = match contact.text("detection") {
        Some("common-plane") => Detection::CommonPlane,
        _ => Detection::SeparatingAxes,
    };
    Contact { alert: contact.number("alert"), detection }
}

/// A whole number whose limits fit into 32 bits.
fn small(integer: Option<i64>) -> u32 {
    integer.and_then(|integer| u32::try_from(integer).ok()).unwrap_or(1)
}

impl Converter<'_> {
    fn run(&mut self, run: &Entries) -> Run {
        let (dt, until) = (run.number("dt"), run.number("until"));
        let given = run.number("output_every");
        let adaptive = run.variant == Some("dormand-prince");
        if let (Some(dt), Some(until)) = (dt, until) {
            if until > 0.0 && until < dt && !adaptive {
                let message =
                    format!("`until` ({until} s) comes before the first step ends ({dt} s)");
                self.problems.report(run.value_span("until"), message);
            }
            if until / dt > MAX_STEPS {
                let message = format!("the run would take {:.1e} steps", until / dt);
                let help = "`dt` is a time in seconds: is its unit missing?";
                self.problems.advise(run.value_span("dt"), message, help);
            }
        }
        if let (Some(dt), Some(every)) = (dt, given)
            && every < dt
        {
            let message = format!("`output_every` ({every} s) is shorter than `dt` ({dt} s)");
            self.problems.report(run.value_span("output_every"), message);
        }
        if let (Some(dt), Some(every)) = (dt, run.number("checkpoint_every"))
            && every < dt
        {
            let message = format!("`checkpoint_every` ({every} s) is shorter than `dt` ({dt} s)");
            self.problems.report(run.value_span("checkpoint_every"), message);
        }
        if let (Some(until), Some(every)) = (until, given)
            && until / every > MAX_OUTPUTS
        {
            let message = format!("the run would write {:.1e} times", until / every);
            let help = "`output_every` is a time in seconds: is its unit missing?";
            self.problems.advise(run.value_span("output_every"), message, help);
        }
        let until = until.unwrap_or(0.0);
        let hundredth = until / 100.0;
        // A run of no length still needs some step.
        let fallback = if adaptive && hundredth > 0.0 { hundredth } else { 1.0 };
        let output_every = given.unwrap_or(hundredth.max(dt.unwrap_or(fallback)));
        let scheme = match adaptive {
            false => TimeScheme::MoreauJean { theta: run.number("theta").unwrap_or(0.5) },
            true => {
                TimeScheme::DormandPrince { tolerance: run.number("tolerance").unwrap_or(1e-9) }
            }
        };
        let mut run = Run {
            scheme,
            dt: dt.unwrap_or(if adaptive { output_every } else { 1.0 }),
            until,
            output_every,
            frames: run.flag("frames").unwrap_or(true),
            checkpoint_every: run.number("checkpoint_every"),
            on_unconverged: match run.text("on_unconverged") {
                Some("accept") => OnUnconverged::Accept,
                Some("fail") => OnUnconverged::Fail,
                _ => OnUnconverged::Warn,
            },
        };
        run.fit();
        run
    }

    fn materials(&mut self, scene: &Entries) {
        let Some(materials) = scene.table("materials") else { return };
        for (name, _, node) in materials.named() {
            self.material_index.insert(name.to_owned(), self.materials.len());
            let empty = Entries::default();
            let material = node.table().unwrap_or(&empty);
            // A density that is wrong is not missing.
            let density = match material.given("density") {
                Some(node) => Some(node.number().unwrap_or(1.0)),
                None => node.table().is_none().then_some(1.0),
            };
            self.materials.push(Material {
                name: name.to_owned(),
                density,
                friction: material.number("friction").unwrap_or(0.0),
                restitution: material.number("restitution").unwrap_or(0.0),
                rolling: material.number("rolling").unwrap_or(0.0),
            });
        }
    }

    fn pairs(&mut self, nodes: &[Node]) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = Vec::new();
        let mut seen = HashSet::new();
        for pair in nodes.iter().filter_map(Node::table) {
            let Some(names) = pair.list("between") else { continue };
            let indices: Vec<usize> =
                names.iter().filter_map(|node| self.material_of(node)).collect();
            let [a, b] = indices[..] else { continue };
            let (first, second) = (&self.materials[a], &self.materials[b]);
            let restitution =
                pair.number("restitution").unwrap_or(first.restitution.min(second.restitution));
            let rolling = pair.number("rolling").unwrap_or(first.rolling.min(second.rolling));
            let friction = pair.number("friction").unwrap_or(first.friction.min(second.friction));
            if !seen.insert([a.min(b), a.max(b)]) {
                let message = format!(
                    "the pair of `{}` and `{}` is described twice",
                    first.name, second.name
                );
                self.problems.report(pair.value_span("between"), message);
            }
            let law = self.normal_law(pair, restitution, "pair");
            pairs.push(Pair { between: [a, b], friction, restitution, law, rolling });
        }
        pairs
    }

    /// The index of the material that a value names.
    fn material_of(&mut self, node: &Node) -> Option<usize> {
        let name = node.text()?;
        let index = self.material_index.get(name).copied();
        if index.is_none() {
            let known = self.materials.iter().map(|material| material.name.as_str());
            let help = did_you_mean(name, known, "material");
            let message = format!("there is no material `{}`", excerpt(name));
            self.problems.advise(node.span.clone(), message, help);
        }
        index
    }

    /// The material of a body or group of grains; it must have a density where masses follow from it.
    fn material(&mut self, entries: &Entries, needs_density: bool) -> Option<usize> {
        let node = entries.get("material")?;
        let index = self.material_of(node)?;
        let material = &self.materials[index];
        if needs_density && material.density.is_none() {
            let message = format!(
                "the material `{}` has no density, so the mass is not known",
                material.name
            );
            let help =
                format!("add `density` to [materials.{}], or `mass` to the body", material.name);
            self.problems.advise(node.span.clone(), message, help);
        }
        Some(index)
    }

    /// A vector; in planar scenes it must lie in the plane.
    fn polar(&mut self, entries: &Entries, key: &str) -> Option<Vector> {
        let vector: Vector = entries.numbers(key)?;
        if self.planar && vector[2] != 0.0 {
            let message = format!("the scene is planar: the third component of `{key}` must be 0");
            self.problems.report(entries.value_span(key), message);
        }
        Some(vector)
    }

    /// A vector of rotation; in planar scenes it must be about z.
    fn axial(&mut self, entries: &Entries, key: &str) -> Option<Vector> {
        let vector: Vector = entries.numbers(key)?;
        if self.planar && (vector[0] != 0.0 || vector[1] != 0.0) {
            let message =
                format!("the scene is planar: `{key}` must be about z, as [0, 0, z] or z");
            self.problems.report(entries.value_span(key), message);
        }
        Some(vector)
    }

    /// The name of a body or group of grains; no two may share one.
    fn name(&mut self, entries: &Entries, default: String) -> String {
        let name = match entries.get("name") {
            None => default,
            Some(node) => node.text().unwrap_or_default().to_owned(),
        };
        let span = entries.value_span("name");
        if !name.is_empty() && self.names.insert(name.clone(), span.clone()).is_some() {
            let message = format!("the name `{name}` is used twice");
            self.problems.advise(span, message, "names of bodies and grains are used once");
        }
        name
    }

    fn named_shapes(&mut self, scene: &Entries) -> Vec<NamedShape> {
        let Some(shapes) = scene.table("shapes") else { return Vec::new() };
        for (index, (name, _, node)) in shapes.named().enumerate() {
            self.shape_types.push(node.table().and_then(|shape| shape.variant));
            self.shape_index.insert(name.to_owned(), index);
        }
        shapes
            .named()
            .map(|(name, _, node)| {
                let shape = node.table().and_then(|shape| self.shape(shape));
                NamedShape { name: name.to_owned(), shape: shape.unwrap_or(shapes::ANY) }
            })
            .collect()
    }
}

/// Advice on a name that nobody has; the same for the same names, in whatever order they come.
fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>, what: &str) -> String {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    if let Some(near) = suggest::closest(name, known.iter().copied()) {
        return format!("did you mean `{near}`?");
    }
    known.truncate(10);
    match known.is_empty() {
        true => format!("no {what} is described"),
        false => format!("known: {}", known.join(", ")),
    }
}
