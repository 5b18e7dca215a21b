//! The records of a scene: materials, bodies, grains, and what is between bodies.

use riprap::detect::Method;
use riprap::math::Vec3;
use riprap::scene::{
    Body, BodyDescription, ContactLaw, Kind, Material, Motion, On, PairLaw, Scene, Strength, Tie,
};

use super::{MechanismRecord, Saved, Table, list_of, matrix, number, text, vector};

/// Something that was added to a scene.
#[derive(Clone)]
pub enum Item {
    /// A body, its shape, its motion, and keys of its forces or its servo.
    Body {
        description: Box<BodyDescription>,
        shape: Saved,
        motion: Option<Saved>,
        controls: Vec<(&'static str, Saved)>,
    },
    /// A group of grains: its keys.
    Grains { count: u32, keys: Saved },
    /// A chain: its keys, its start, its end.
    Chain { count: u32, keys: Table, start: (On, [f64; 3]), end: Option<(On, [f64; 3])> },
    /// A mechanism.
    Mechanism(Box<MechanismRecord>),
    /// A flexible body: its keys, its density, its shapes and their materials.
    Flexible { keys: Table, name: String, density: f64, shapes: Vec<(Saved, String)> },
    /// A joint between bodies.
    Joint { keys: Table, between: [On; 2] },
    /// A rope through points of bodies.
    Rope { keys: Table, points: Vec<(On, [f64; 3])> },
    /// A point contact.
    PointContact { keys: Table, point: (On, [f64; 3]), plane: (On, [f64; 3]), normal: Vec3 },
    /// Bodies without contact.
    Apart([On; 2]),
    /// The law of two materials.
    Pair([String; 2], PairLaw),
    /// An insertion or a removal: the name of its table, and its keys.
    Population(&'static str, Saved),
}

/// Everything that a scene was built from.
#[derive(Clone, Default)]
pub struct Record {
    pub gravity: Option<[f64; 3]>,
    pub planar: bool,
    pub seed: u64,
    pub alert: Option<f64>,
    pub method: Method,
    /// Initial overlap that is accepted; without contacts it does not matter.
    pub accept_overlap: Option<f64>,
    /// The periodic cell as an inline table.
    pub periodic: Option<super::Saved>,
    /// Options that scene files do not have.
    pub problems: Vec<String>,
    pub items: Vec<Item>,
}

impl Record {
    /// The scene file, or why there is none. `head` are keys at its top, `run` the tables about the run, which has `contacts` or
    /// not.
    pub fn write(
        &self,
        scene: &Scene,
        head: &str,
        run: &str,
        contacts: bool,
    ) -> Result<String, Vec<String>> {
        let mut writer =
            Writer { scene, next: 0, out: Vec::new(), problems: self.problems.clone() };
        if contacts && self.accept_overlap.is_some() {
            writer.problems.push("`accept_overlap` of the scene has no key in a scene file".into());
        }
        if let Some(Err(problem)) = &self.periodic {
            writer.problems.push(format!("the periodic cell: {problem}"));
        }
        for item in &self.items {
            writer.item(item);
        }
        if !writer.problems.is_empty() {
            return Err(writer.problems);
        }
        let mut top = Table::default();
        if self.planar {
            top.set("planar", "true");
        }
        top.set("seed", self.seed.to_string());
        if let Some(Ok(cell)) = &self.periodic {
            top.set("periodic", cell);
        }
        if let Some(gravity) = self.gravity {
            top.set("gravity", super::numbers(&gravity));
        }
        let mut contact = Table::default();
        contact.maybe("alert", self.alert);
        if self.method == Method::CommonPlane {
            contact.set("detection", text("common-plane"));
        }
        let mut file = format!("{head}{}{run}", top.lines());
        if !contact.0.is_empty() {
            file += &contact.section("[contact]");
        }
        for material in scene.materials() {
            file +=
                &material_table(material).section(&format!("[materials.{}]", text(&material.name)));
        }
        // In a file, single bodies come first, then chains and grains.
        writer.out.sort_by_key(|(kind, _)| *kind);
        file.extend(writer.out.into_iter().map(|(_, text)| text));
        for (old, new) in renamed(scene.materials()) {
            for place in ["material = ", "[materials."] {
                let [old, new] = [&old, &new].map(|name| format!("{place}{}", text(name)));
                file = file.replace(&old, &new);
            }
        }
        Ok(file)
    }
}

/// Names of materials that have characters which scene files do not allow, such as those made from values, and other names
/// for them.
fn renamed(materials: &[Material]) -> Vec<(String, String)> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let taken = |name: &String| materials.iter().any(|m| m.name == *name);
    let names = (1..).map(|k| format!("material-{k}")).filter(|name| !taken(name));
    let wrong = materials.iter().filter(|m| !m.name.chars().all(allowed));
    wrong.map(|m| m.name.clone()).zip(names).collect()
}

/// A material as a table.
fn material_table(material: &Material) -> Table {
    let mut table = Table::default();
    table.maybe("density", material.density);
    table.set("friction", number(material.friction));
    table.set("restitution", number(material.restitution));
    table.set("rolling", number(material.rolling));
    cohesion_and_grip(&mut table, &PairLaw::combined(material, material), false);
    table.maybe("young", material.young).maybe("poisson", material.poisson);
    if let Some(f) = &material.fragmentation {
        let (word, strength) = match f.strength {
            Strength::Stress(stress) => ("stress", stress),
            Strength::PeakForce(force) => ("peak-force", force),
        };
        let mut own = Table::default();
        own.set("criterion", text(word)).set("strength", number(strength));
        own.maybe("weibull", f.weibull);
        own.maybe("reference_size", f.weibull.map(|_| f.reference_size));
        own.set("smallest", number(f.smallest)).set("average", number(f.average));
        table.set("fragmentation", own.inline());
    }
    if let Some(w) = &material.wear {
        let mut own = Table::default();
        own.set("coefficient", number(w.coefficient)).set("hardness", number(w.hardness));
        own.set("chamfer", number(w.chamfer)).set("max_corners", w.max_corners.to_string());
        table.set("wear", own.inline());
    }
    table
}

fn law_word(law: ContactLaw) -> String {
    text(match law {
        ContactLaw::MoreauNewton => "moreau-newton",
        ContactLaw::QuasiShock => "quasi-shock",
    })
}

/// How a chain is tied, in a word.
pub fn tie_word(tie: Tie) -> &'static str {
    match tie {
        Tie::Centre => "centre",
        Tie::Surface => "surface",
    }
}

/// Writes items one by one.
struct Writer<'a> {
    scene: &'a Scene,
    /// Next body.
    next: u32,
    /// Order in the file, and text.
    out: Vec<(u8, String)>,
    problems: Vec<String>,
}

impl Writer<'_> {
    /// The name of a body.
    fn name(&self, body: u32) -> &str {
        &self.scene.bodies().names[self.scene.slot(Body(body))]
    }

    /// The name of what something is attached to.
    fn on(&self, on: On) -> String {
        text(match on {
            On::World => "world",
            On::Body(body) => self.name(body.0),
            On::Link(mechanism, link) => self.name(self.scene.link_body(mechanism, link).0),
            On::Node(flexible, node) => self.name(self.scene.node_body(flexible, node).0),
        })
    }

    fn place(&self, (on, point): (On, [f64; 3])) -> Table {
        let mut table = Table::default();
        table.set("body", self.on(on)).set("position", super::numbers(&point));
        table
    }

    /// A value, or a problem.
    fn take(&mut self, saved: &Saved, whose: &str) -> String {
        saved.clone().unwrap_or_else(|reason| {
            self.problems.push(format!("{whose}: {reason}"));
            String::new()
        })
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Body { description, shape, motion, controls } => {
                self.body(description, shape, motion.as_ref(), controls);
            }
            Item::Grains { count, keys } => {
                let first = self.name(self.next).to_owned();
                self.next += count;
                let keys = self.take(keys, &format!("grains `{first}`, …"));
                self.out.push((2, format!("\n[[grains]]\n{keys}")));
            }
            Item::Chain { count, keys, start, end } => {
                self.next += count;
                let mut table = keys.clone();
                table.set("start", self.place(*start).inline());
                if let Some(end) = end {
                    table.set("end", self.place(*end).inline());
                }
                self.out.push((1, table.section("[[chain]]")));
            }
            Item::Mechanism(record) => match record.write() {
                Ok(text) => self.out.push((3, text)),
                Err(problems) => self.problems.extend(problems),
            },
            Item::Flexible { keys, name, density, shapes } => {
                self.flexible(keys, name, *density, shapes);
            }
            Item::Joint { keys, between } => {
                let mut table = keys.clone();
                table.set("between", list_of(between.map(|on| self.on(on))));
                self.out.push((5, table.section("[[joint]]")));
            }
            Item::Rope { keys, points } => {
                let mut table = keys.clone();
                let points = points.iter().map(|place| self.place(*place).inline());
                table.set("points", list_of(points));
                self.out.push((6, table.section("[[rope]]")));
            }
            Item::PointContact { keys, point, plane, normal } => {
                let mut table = keys.clone();
                let mut on_plane = self.place(*plane);
                on_plane.set("normal", vector(normal));
                table.set("point", self.place(*point).inline()).set("plane", on_plane.inline());
                self.out.push((7, table.section("[[point_contact]]")));
            }
            Item::Apart(between) => {
                let mut table = Table::default();
                table.set("between", list_of(between.map(|on| self.on(on))));
                self.out.push((8, table.section("[[ignore_contact]]")));
            }
            Item::Population(table, keys) => {
                let keys = self.take(keys, &format!("[[{table}]]"));
                self.out.push((9, format!("\n[[{table}]]\n{keys}")));
            }
            Item::Pair(between, law) => {
                let mut table = Table::default();
                let renamed = renamed(self.scene.materials());
                let name = |given: &String| {
                    let other = renamed.iter().find(|(old, _)| old == given);
                    text(other.map_or(given, |(_, new)| new))
                };
                table.set("between", list_of(between.iter().map(name)));
                table.set("friction", number(law.friction));
                table.set("restitution", number(law.restitution));
                table.set("rolling", number(law.rolling)).set("law", law_word(law.law));
                cohesion_and_grip(&mut table, law, true);
                table.maybe("stiffness", law.stiffness).maybe("damping", law.damping);
                table.maybe("modulus", law.modulus).maybe("dissipation", law.dissipation);
                self.out.push((0, table.section("[[pair]]")));
            }
        }
    }

    fn body(
        &mut self,
        body: &BodyDescription,
        shape: &Saved,
        motion: Option<&Saved>,
        controls: &[(&'static str, Saved)],
    ) {
        let name = self.name(self.next).to_owned();
        self.next += 1;
        let whose = format!("body `{name}`");
        let mut table = Table::default();
        table.set("name", text(&name)).set("material", text(&body.material));
        let mut pose = body.pose;
        if matches!(body.kind, Kind::Moving(Motion::Position { .. })) {
            // The motion says where it starts.
            pose.position = Vec3::zeros();
        }
        table.set("shape", self.take(shape, &whose)).pose(&pose);
        match (&body.kind, motion) {
            (Kind::Fixed, _) => {
                table.set("kind", text("fixed"));
            }
            (Kind::Moving(_), motion) => {
                let motion = motion.map(|motion| self.take(motion, &whose));
                table.set("kind", text("moving")).set("motion", motion.unwrap_or_default());
            }
            (Kind::Servo(_), _) => {
                table.set("kind", text("servo"));
            }
            (Kind::Free, _) => {
                table.nonzero("velocity", &body.velocity);
                table.nonzero("angular_velocity", &body.angular_velocity);
                table.nonzero("force", &body.force);
                table.nonzero("torque", &body.torque);
                let words = ["x", "y", "z", "rx", "ry", "rz"];
                let locked = words.iter().zip(body.locks.0).filter(|(_, locked)| *locked);
                let locked: Vec<String> = locked.map(|(word, _)| text(word)).collect();
                if !locked.is_empty() {
                    table.set("locked", list_of(locked));
                }
            }
        }
        let mut keys = Vec::new();
        for (key, value) in controls {
            // The first one of a servo is its target.
            if keys.contains(key) {
                let why = format!("{whose}: a {key} applied to a servo has no key in a scene file");
                self.problems.push(why);
                continue;
            }
            keys.push(*key);
            table.set(key, self.take(value, &whose));
        }
        table.maybe("mass", body.mass);
        if let Some(centre) = &body.centre {
            table.set("centre", vector(centre));
        }
        if let Some(inertia) = &body.inertia {
            table.set("inertia", matrix(inertia));
        }
        self.out.push((0, table.section("[[body]]")));
    }

    fn flexible(&mut self, keys: &Table, name: &str, density: f64, shapes: &[(Saved, String)]) {
        let mut table = keys.clone();
        let whose = format!("flexible body `{name}`");
        let material = match shapes.first() {
            None => format!("{name}-material"),
            Some((_, material)) => material.clone(),
        };
        let known = self.scene.materials().iter().find(|m| m.name == material);
        let fits = |m: &Material| m.density == Some(density);
        if shapes.iter().any(|(_, other)| *other != material) || known.is_some_and(|m| !fits(m)) {
            self.problems.push(format!(
                "{whose}: in a scene file a flexible body has one material, whose density is its own; give its shapes a \
                 material of {density:?} kg/m³"
            ));
        }
        table.set("material", text(&material));
        let mut own = String::new();
        if known.is_none() {
            let mut entries = Table::default();
            entries.set("density", number(density));
            own = entries.section(&format!("[materials.{}]", text(&material)));
        }
        own += &table.section("[[flexible]]");
        for (shape, _) in shapes {
            own += &format!("\n[[flexible.shape]]\n{}", self.take(shape, &whose));
        }
        self.out.push((4, own));
    }
}

/// Cohesion and static friction as keys. Those of a pair hide those of its materials, so its zeros are written.
fn cohesion_and_grip(table: &mut Table, law: &PairLaw, zeros: bool) {
    table.maybe("static_friction", law.static_friction);
    for (key, value) in [("cohesion", law.cohesion), ("surface_energy", law.surface_energy)] {
        if zeros || value != 0.0 {
            table.set(key, number(value));
        }
    }
    table.maybe("cohesion_range", law.cohesion_range);
}

/// The law of a point contact as keys; stiffness and damping belong to pairs of materials.
pub fn point_law(table: &mut Table, law: &PairLaw) -> Result<(), String> {
    let PairLaw {
        friction,
        restitution,
        rolling,
        static_friction,
        stiffness,
        damping,
        modulus,
        dissipation,
        ..
    } = law;
    table.set("friction", number(*friction)).set("restitution", number(*restitution));
    table.set("law", law_word(law.law));
    let others = [static_friction, stiffness, damping, modulus, dissipation];
    let others = law.is_cohesive() || others.into_iter().any(Option::is_some);
    match *rolling != 0.0 || others {
        true => Err("a point contact has friction, restitution and law only".into()),
        false => Ok(()),
    }
}
