//! From checked values to the model, with the checks that involve several keys: unknown names, shapes
//! that are not available in the scene, numbers that contradict each other. Each mistake is reported with its location,
//! and conversion continues, so that one pass finds them all.

mod bodies;
mod cohesion;
mod contacts;
mod flexible;
mod forces;
mod grains;
mod joints;
mod laws;
mod links;
mod loads;
mod mechanisms;
mod population;
mod probes;
mod ropes;
mod shapes;
mod tree;
mod urdf;

pub(super) use bodies::Inertias;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::document::excerpt;
use super::expression::Scope;
use super::keys::{Choice, ReadKeys, SetKeys};
use super::model::{
    Body, ContactLaw, Grains, Material, Mechanism, MechanismSource, NamedShape, Pair, PairLaw,
    Periodic, Run, SceneFile, Solver, SolverMethod, Source, TimeScheme, is_adaptive,
};
use super::number;
use super::parameters::Parameters;
use super::problem::Problems;
use super::suggest;
use super::values::{Entries, Node};
use crate::mesh::Mesh;
use bodies::Known;
use loads::LoadScope;
use mechanisms::Parts;
use probes::Targets;

/// Maximum number of time steps and of frames in a run.
const MAX_STEPS: f64 = 1e10;
const MAX_OUTPUTS: f64 = 1e6;

/// Shared state of the conversion.
pub(super) struct Converter<'a> {
    pub problems: &'a mut Problems,
    /// The whole file.
    text: &'a str,
    /// The folder that paths are relative to.
    base: &'a Path,
    planar: bool,
    /// Time at which the run ends [s], if known.
    until: Option<f64>,
    pub seed: u64,
    /// The names that motions may use: `t` and the parameters.
    time_scope: Scope,
    /// The parameters, for values that use them.
    parameters: Parameters,
    /// The names of the bodies, in file order.
    body_names: Vec<Option<String>>,
    /// The names that laws of time and state may use; collected when the first law is read.
    loads: Option<LoadScope>,
    materials: Vec<Material>,
    material_index: HashMap<String, usize>,
    /// Types of the named shapes; `None` if invalid.
    shape_types: Vec<Option<&'static str>>,
    shape_index: HashMap<String, usize>,
    meshes: HashMap<PathBuf, Option<Arc<Mesh>>>,
    /// Names of bodies and groups of grains already in use.
    names: HashMap<String, Range<usize>>,
    /// Names of joints between bodies, including invalid ones.
    joint_names: HashSet<String>,
    /// Names of ropes, including invalid ones.
    rope_names: HashSet<String>,
    /// Groups of grains: name and number of grains, as far as known.
    groups: Vec<(String, Option<u64>)>,
    /// Magnitude of the gravitational acceleration [m/s²].
    gravity: f64,
    /// Whether a periodic cell bounds the volume of the scene.
    bounded: bool,
    /// The name of the table that is read next.
    pub own_name: String,
    /// Whether the mass of the mechanism body being read is computed from its shapes.
    pub weighed: bool,
    /// The parts of the mechanism whose loops and springs are being read.
    parts: Parts,
    /// The bodies and mechanisms, once they have been read.
    known: Known,
}

/// Converts a checked file to the model. Mistakes are reported; `None` if there are too many to continue.
pub(super) fn convert(
    scene: &Entries,
    text: &str,
    base: &Path,
    problems: &mut Problems,
) -> Option<SceneFile> {
    let run = scene.table("run");
    let mut converter = Converter::new(text, base, problems);
    converter.planar = scene.flag("planar").unwrap_or(false);
    converter.until = run.and_then(|run| run.number("until"));
    converter.seed = scene.integer("seed").unwrap_or(1).unsigned_abs();
    converter.scene(scene, run)
}

/// The locations of the named shapes, the bodies and the groups of grains.
fn source(scene: &Entries) -> Source {
    let tables = |key| -> Vec<Range<usize>> {
        let nodes = scene.list(key).unwrap_or_default();
        nodes.iter().filter_map(Node::table).map(|entries| entries.span.clone()).collect()
    };
    let shapes = scene.table("shapes").map_or(Vec::new(), |shapes| {
        shapes.named().map(|(_, key_span, _)| key_span.clone()).collect()
    });
    let stop = scene.table("run").map_or(0..0, |run| run.value_span("stop"));
    let periodic = scene.table("periodic").map_or(0..0, |table| table.span.clone());
    let (bodies, grains) = (tables("body"), tables("grains"));
    Source { stop, periodic, shapes, bodies, grains, ..Source::default() }
}

/// Items and their locations.
type Placed<T> = (Vec<T>, Vec<Range<usize>>);

impl<'a> Converter<'a> {
    /// An empty converter.
    pub fn new(text: &'a str, base: &'a Path, problems: &'a mut Problems) -> Self {
        Converter {
            problems,
            text,
            base,
            planar: false,
            until: None,
            seed: 1,
            time_scope: Scope::new(&["t"]),
            parameters: Parameters::default(),
            body_names: Vec::new(),
            loads: None,
            materials: Vec::new(),
            material_index: HashMap::new(),
            shape_types: Vec::new(),
            shape_index: HashMap::new(),
            meshes: HashMap::new(),
            names: HashMap::new(),
            joint_names: HashSet::new(),
            rope_names: HashSet::new(),
            groups: Vec::new(),
            gravity: 0.0,
            bounded: false,
            own_name: String::new(),
            weighed: false,
            parts: Parts::default(),
            known: Known::default(),
        }
    }

    /// Converts the tables in order: each may refer to those before it.
    fn scene(&mut self, scene: &Entries, run: Option<&Entries>) -> Option<SceneFile> {
        let list = |key| scene.list(key).unwrap_or_default();
        let gravity = match scene.get("gravity") {
            Some(_) => scene.numbers("gravity").unwrap_or_default(),
            None if self.planar => [0.0, -9.81, 0.0],
            None => [0.0, 0.0, -9.81],
        };
        self.gravity = gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        let parameters = self.parameters(scene);
        let periodic = self.periodic(scene);
        let steps = run.and_then(|run| self.run(run));
        self.materials(scene);
        let pairs = self.pairs(list("pair"));
        self.check_ranges(scene);
        let shapes = self.named_shapes(scene);
        self.name_bodies(list("body"));
        let mut bodies: Vec<Option<Body>> = self.bodies(list("body"));
        let grains: Vec<Option<Grains>> = self.grains(list("grains"));
        let mechanisms = self.mechanisms(list("mechanism"));
        let (mechanisms, mechanism_sources): (Vec<Mechanism>, Vec<MechanismSource>) =
            mechanisms.into_iter().unzip();
        let (flexible, flexible_spans): (Vec<_>, Vec<_>) =
            self.flexible(list("flexible")).into_iter().unzip();
        self.known = Known::new(&bodies, &grains, &mechanisms);
        let (chain_ropes, ball_spans) = self.chains(list("chain"), gravity, &mut bodies);
        if !ball_spans.is_empty() {
            self.known = Known::new(&bodies, &grains, &mechanisms);
        }
        self.known.flexible = self.flexible_names(list("flexible"), &flexible);
        let (joints, joint_spans): (Vec<_>, Vec<_>) =
            self.joints(list("joint")).into_iter().unzip();
        let (point_contacts, point_contact_spans) = self.point_contacts(list("point_contact"));
        let (ropes, rope_spans) = self.ropes(list("rope"), chain_ropes);
        let ignored_contacts = self.ignored_contacts(list("ignore_contact"));
        let (insertions, insertion_spans) = self.insertions(list("insert"));
        let (removals, removal_spans) = self.removals(list("remove"));
        let multipliers = steps
            .as_ref()
            .is_none_or(|run| matches!(run.scheme, TimeScheme::GeneralizedAlpha { .. }));
        let targets =
            Targets { joints: &joints, contacts: &point_contacts, ropes: &ropes, multipliers };
        let probes = self.probes(list("probe"), &targets);
        self.check_whole(scene, run);
        if let (Some(steps), Some(run)) = (&steps, run) {
            self.check_ropes(&steps.scheme, run, scene);
            self.check_solver(&steps.scheme, scene);
            self.check_impacts(&steps.scheme, run);
        }
        let mut source = source(scene);
        source.bodies.extend(ball_spans);

        Some(SceneFile {
            title: scene.text("title").map(str::to_owned),
            seed: self.seed,
            gravity,
            planar: self.planar,
            solver: self.solver(scene, &steps.as_ref()?.scheme)?,
            run: steps?,
            contact: ReadKeys::read_keys(self, scene.table("contact")?)?,
            periodic,
            parameters,
            materials: std::mem::take(&mut self.materials),
            pairs,
            shapes,
            bodies: bodies.into_iter().flatten().collect(),
            grains: grains.into_iter().flatten().collect(),
            mechanisms,
            flexible: flexible.into_iter().flatten().collect(),
            joints: joints.into_iter().flatten().collect(),
            point_contacts,
            ropes,
            ignored_contacts,
            insertions,
            removals,
            probes: probes.bodies,
            mechanism_probes: probes.mechanisms,
            joint_probes: probes.joints,
            contact_probes: probes.contacts,
            rope_probes: probes.ropes,
            region_probes: probes.regions,
            plane_probes: probes.planes,
            source: Source {
                mechanisms: mechanism_sources,
                flexible: flexible_spans,
                joints: joint_spans,
                point_contacts: point_contact_spans,
                ropes: rope_spans,
                insertions: insertion_spans,
                removals: removal_spans,
                ..source
            },
        })
    }

    /// The periodic cell.
    fn periodic(&mut self, scene: &Entries) -> Option<Periodic> {
        let table = scene.table("periodic")?;
        let cell = Periodic::read_keys(self, table)?;
        if cell.shear_rate.is_some() && cell.shear_strain.is_some() {
            let message = "`shear_rate` and `shear_strain` contradict each other";
            let span = table.key_span("shear_strain");
            self.problems.advise(span, message, "remove one of them");
        }
        self.bounded = cell.is_bounded(self.planar);
        Some(cell)
    }

    /// The contact solver, with the usual method of the scheme.
    fn solver(&mut self, scene: &Entries, scheme: &TimeScheme) -> Option<Solver> {
        let mut solver: Solver = ReadKeys::read_keys(self, scene.table("solver")?)?;
        let cone = scheme.relaxes_friction();
        let usual = if cone { SolverMethod::Apgd } else { SolverMethod::Coloured };
        solver.method.get_or_insert(usual);
        Some(solver)
    }

    /// Reports a solver of cone complementarity problems with another friction law.
    fn check_solver(&mut self, scheme: &TimeScheme, scene: &Entries) {
        let Some(solver) = scene.table("solver") else { return };
        let method = solver.text("method").and_then(SolverMethod::of);
        if let Some(method) = method.filter(|method| method.is_for_cones())
            && !scheme.relaxes_friction()
        {
            let word = method.word();
            let message = format!("the method \"{word}\" is for the friction law `cone` only");
            let help = "write `scheme = \"cone-complementarity\"` in [run], or remove `method`";
            self.problems.advise(solver.value_span("method"), message, help);
        }
    }

    /// Reports a log of impacts with a scheme that has none in single steps.
    fn check_impacts(&mut self, scheme: &TimeScheme, run: &Entries) {
        let one_step = matches!(
            scheme,
            TimeScheme::MoreauJean { .. }
                | TimeScheme::ConeComplementarity { .. }
                | TimeScheme::GeneralizedAlpha { .. }
        );
        if run.given("impact_speed").is_some() && !one_step {
            let word = run.variant.unwrap_or_default();
            let message = format!("the scheme \"{word}\" has no impacts that take one step");
            let help = "use \"moreau-jean\", \"cone-complementarity\" or \"generalized-alpha\", or remove `impact_speed`";
            self.problems.advise(run.key_span("impact_speed"), message, help);
        }
    }

    /// Checks of the scene as a whole.
    fn check_whole(&mut self, scene: &Entries, run: Option<&Entries>) {
        let any = |keys: &[&str]| keys.iter().any(|key| scene.given(key).is_some());
        if !any(&["body", "grains", "mechanism", "flexible", "chain", "insert"]) {
            let message = "there is nothing to simulate: the scene has no bodies, grains, mechanisms or flexible bodies";
            self.problems.advise(0..0, message, "add a [[body]], [[grains]] or a [[mechanism]]");
        }
        if let Some(run) = run.filter(|run| run.variant == Some("dormand-prince"))
            && any(&["body", "grains", "point_contact", "flexible", "insert"])
        {
            let message = "\"dormand-prince\" is for mechanisms only: it does not support contacts";
            let help = "remove `scheme`, or [[body]], [[grains]], [[insert]], [[flexible]] and [[point_contact]]";
            self.problems.advise(run.value_span("scheme"), message, help);
        }
    }

    fn run(&mut self, run: &Entries) -> Option<Run> {
        let (dt, until) = (run.number("dt"), run.number("until"));
        if let (Some(dt), Some(until)) = (dt, until) {
            if until > 0.0 && until < dt && !is_adaptive(run) {
                let (until, dt) = (number(until), number(dt));
                let message =
                    format!("`until` ({until} s) is before the end of the first step ({dt} s)");
                self.problems.report(run.value_span("until"), message);
            }
            if until / dt > MAX_STEPS {
                let message = format!("the run would take {:.1e} steps", until / dt);
                let help = "`dt` is a time in seconds: is its unit missing?";
                self.problems.advise(run.value_span("dt"), message, help);
            }
        }
        let outputs = ["output_every", "series_every", "frames_every", "contacts_every"];
        for key in outputs.into_iter().chain(["checkpoint_every"]) {
            if let (Some(dt), Some(every)) = (dt, run.number(key))
                && every < dt
            {
                let (every, dt) = (number(every), number(dt));
                let message = format!("`{key}` ({every} s) is shorter than `dt` ({dt} s)");
                self.problems.report(run.value_span(key), message);
            }
        }
        for key in outputs {
            if let (Some(until), Some(every)) = (until, run.number(key))
                && until / every > MAX_OUTPUTS
            {
                let message = format!("the run would write {:.1e} outputs", until / every);
                let help = format!("`{key}` is a time in seconds: is its unit missing?");
                self.problems.advise(run.value_span(key), message, help);
            }
        }
        if run.given("start_time").is_some() && run.given("start_from").is_none() {
            let message = "`start_time` is given without `start_from`";
            let help = "name the run to start from, such as start_from = \"../out/settle\", or remove `start_time`";
            self.problems.advise(run.key_span("start_time"), message, help);
        }
        Run::read_keys(self, run)
    }

    fn materials(&mut self, scene: &Entries) {
        let Some(materials) = scene.table("materials") else { return };
        for (name, _, node) in materials.named() {
            self.material_index.insert(name.to_owned(), self.materials.len());
            let mut material = Material::new(name);
            match node.table() {
                Some(entries) => {
                    // An invalid density is not missing.
                    material.density = entries.given("density").map(|_| 1.0);
                    material.set_keys(self, entries);
                    self.check_frictions(entries, &PairLaw::combined(&material, &material));
                }
                None => material.density = Some(1.0),
            }
            self.materials.push(material);
        }
    }

    fn pairs(&mut self, nodes: &[Node]) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = Vec::new();
        let mut seen = HashSet::new();
        for entries in nodes.iter().filter_map(Node::table) {
            let Some(names) = entries.list("between") else { continue };
            let indices: Vec<usize> =
                names.iter().filter_map(|node| self.material_of(node)).collect();
            let [a, b] = indices[..] else { continue };
            let (first, second) = (&self.materials[a], &self.materials[b]);
            if !seen.insert([a.min(b), a.max(b)]) {
                let message =
                    format!("the pair of `{}` and `{}` is defined twice", first.name, second.name);
                self.problems.report(entries.value_span("between"), message);
            }
            let mut law = PairLaw::combined(first, second);
            if entries.given("friction").is_some() {
                // The static friction of the materials belongs to theirs.
                law.static_friction = None;
            }
            law.set_keys(self, entries);
            law.law = self.normal_law(entries, law.restitution, "pair");
            self.check_frictions(entries, &law);
            pairs.push(Pair { between: [a, b], law });
        }
        pairs
    }

    /// The law in the normal direction, as given or chosen from the restitution.
    pub(super) fn normal_law(
        &mut self,
        entries: &Entries,
        restitution: f64,
        what: &str,
    ) -> ContactLaw {
        let given = entries.text("law").and_then(ContactLaw::of);
        let law = given.unwrap_or(ContactLaw::for_restitution(restitution));
        if law == ContactLaw::QuasiShock && restitution > 0.0 {
            let message =
                format!("\"quasi-shock\" has no restitution, but this {what} has {restitution}");
            let help = "write restitution = 0, or law = \"moreau-newton\"";
            self.problems.advise(entries.value_span("law"), message, help);
        }
        law
    }

    /// The index of the material named by a value.
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

    /// The material of a body or group of grains; it must have a density if the mass is computed from it.
    pub(super) fn material(
        &mut self,
        entries: &Entries,
        key: &str,
        needs_density: bool,
    ) -> Option<usize> {
        let node = entries.get(key)?;
        let index = self.material_of(node)?;
        let material = &self.materials[index];
        if needs_density && material.density.is_none() {
            let message =
                format!("the material `{}` has no density, so the mass is unknown", material.name);
            let help =
                format!("add `density` to [materials.{}], or `mass` to the body", material.name);
            self.problems.advise(node.span.clone(), message, help);
        }
        Some(index)
    }

    /// The name of a body or group of grains, checked to be unique.
    fn name(&mut self, entries: &Entries, default: String) -> String {
        let name = match entries.get("name") {
            None => default,
            Some(node) => node.text().unwrap_or_default().to_owned(),
        };
        let span = entries.value_span("name");
        if !name.is_empty() && self.names.insert(name.clone(), span.clone()).is_some() {
            let message = format!("the name `{name}` is used twice");
            self.problems.advise(span, message, "names of bodies and grains must be unique");
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

/// Advice on an unknown name; independent of the order of the known names.
fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>, what: &str) -> String {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    if let Some(near) = suggest::closest(name, known.iter().copied()) {
        return format!("did you mean `{near}`?");
    }
    known.truncate(10);
    match known.is_empty() {
        true => format!("no {what} is defined"),
        false => format!("known: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests;
