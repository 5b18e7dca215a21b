//! Groups of grains: shapes, sizes and positions.

use std::sync::Arc;

use super::super::keys::ReadKeys;
use super::super::model::{
    Column, Grading, GrainShape, Grains, MAX_GRAINS, Placement, Settle, Stones, Vector,
};
use super::super::number;
use super::super::values::{Entries, Node};
use super::Converter;
use crate::grain_table::GrainTable;
use crate::scans;

impl Converter<'_> {
    pub(super) fn grains(&mut self, nodes: &[Node]) -> Vec<Option<Grains>> {
        let mut total: u64 = 0;
        let mut groups = Vec::new();
        for (index, group) in nodes.iter().filter_map(Node::table).enumerate() {
            let name = self.name(group, format!("grains-{}", index + 1));
            let converted = self.group(group, name.clone());
            let count = converted.as_ref().map(Grains::count);
            total = total.saturating_add(count.unwrap_or(0));
            if count.is_some() && total > MAX_GRAINS as u64 {
                let key =
                    ["count", "counts", "file"].into_iter().find(|key| group.given(key).is_some());
                let message =
                    format!("the scene has {total} grains in total; the maximum is {MAX_GRAINS}");
                self.problems.report(group.value_span(key.unwrap_or_default()), message);
            }
            self.groups.push((name, count));
            groups.push(converted);
        }
        self.check_names();
        groups
    }

    /// Checks that no body has the name of a grain.
    fn check_names(&mut self) {
        let clashes: Vec<_> = self
            .names
            .iter()
            .filter(|(name, _)| self.grain(name).is_some())
            .map(|(name, span)| (name.clone(), span.clone()))
            .collect();
        for (name, span) in clashes {
            self.problems.report(span, format!("`{name}` is already the name of a grain"));
        }
    }

    fn group(&mut self, entries: &Entries, name: String) -> Option<Grains> {
        self.own_name = name;
        if self.planar && entries.variant == Some("rain") {
            let message =
                "the generator \"rain\" is for three-dimensional scenes, but this scene is planar";
            let help = "use generator = \"lattice\", whose points can be displaced at random";
            self.problems.advise(entries.value_span("generator"), message, help);
        }
        let group = Grains::read_keys(self, entries)?;
        if let Placement::Rain { column, settle, .. } = &group.placement {
            self.check_rain(entries, column, settle.as_ref());
        }
        Some(group)
    }

    /// `shape`, or `stones` or `spheres` with their sizes.
    pub(in super::super) fn grain_shape(&mut self, group: &Entries) -> Option<GrainShape> {
        // With an unknown generator, the keys have not been read.
        self.shape_of(group, group.variant.is_some())
    }

    /// The same for bodies that are inserted.
    pub(in super::super) fn inserted_shape(&mut self, entries: &Entries) -> Option<GrainShape> {
        self.shape_of(entries, true)
    }

    fn shape_of(&mut self, group: &Entries, read: bool) -> Option<GrainShape> {
        let keys = ["shape", "stones", "spheres"];
        let given: Vec<&str> = keys.into_iter().filter(|key| group.given(key).is_some()).collect();
        let alternatives = if group.variant == Some("file") {
            "`shape`"
        } else {
            "`shape`, `stones` or `spheres`"
        };
        let &[key] = &given[..] else {
            if !read {
                return None;
            }
            match given.get(1) {
                Some(second) => {
                    let message = format!("`{}` and `{second}` are mutually exclusive", given[0]);
                    self.problems.report(group.key_span(second), message);
                }
                None => {
                    let message = format!("the grains have no shape: {alternatives} is missing");
                    self.problems.report(group.span.clone(), message);
                }
            }
            return None;
        };
        let grading = group.given("grading");
        if key == "shape" {
            if grading.is_some() {
                let message = "`grading` is for `stones` or `spheres`; a `shape` has its own size";
                self.problems.report(group.key_span("grading"), message);
            }
            let node = group.get("shape")?;
            if self.shape_type(node) == Some("half-space") {
                let message = "a half-space has no mass, so it cannot be a grain";
                self.problems.report(node.span.clone(), message);
            }
            return self.shape_ref(node).map(GrainShape::Shape);
        }
        if self.planar {
            let message = format!("`{key}` are not available in planar scenes");
            let help = "give the grains a shape: disc or polygon";
            self.problems.advise(group.key_span(key), message, help);
        }
        let Some(grading) = grading else {
            let message = format!("`{key}` need a `grading`");
            let help = "for example, grading = { uniform = [\"30 mm\", \"50 mm\"] }";
            self.problems.advise(group.key_span(key), message, help);
            return None;
        };
        let grading = self.grading(grading);
        let shape = group.table(key)?;
        match key {
            "stones" if shape.given("folder").is_some() => self.scans(shape, grading?),
            "stones" if shape.given("max_vertices").is_some() => {
                let message = "`max_vertices` is for scanned stones: `folder` is missing";
                let help = "for random stones, use `vertices`";
                self.problems.advise(shape.key_span("max_vertices"), message, help);
                None
            }
            "stones" => {
                let stones = Stones::read_keys(self, shape);
                Some(GrainShape::Stones { stones: stones?, grading: grading? })
            }
            _ => Some(GrainShape::Spheres { grading: grading? }),
        }
    }

    /// Scanned stones from a folder, reduced to the maximum number of vertices.
    fn scans(&mut self, shape: &Entries, grading: Grading) -> Option<GrainShape> {
        for key in ["vertices", "flatness", "elongation", "angularity"] {
            if shape.given(key).is_some() {
                let message = format!("`folder` and `{key}` are mutually exclusive");
                let help = "stones from a folder have their own shape; use `max_vertices` to limit their vertices";
                self.problems.advise(shape.key_span(key), message, help);
            }
        }
        let folder = self.path(shape.text("folder")?);
        let max_vertices = u32::try_from(shape.integer("max_vertices")?).ok()?;
        match scans::read_folder(&folder, max_vertices as usize) {
            Ok(scans) => {
                Some(GrainShape::Scans { folder, max_vertices, scans: Arc::new(scans), grading })
            }
            Err(error) => {
                self.problems.report(shape.value_span("folder"), error.to_string());
                None
            }
        }
    }

    fn grading(&mut self, node: &Node) -> Option<Grading> {
        if let Some(name) = node.text() {
            return Some(Grading::Standard(name.to_owned()));
        }
        let grading = node.table()?;
        let given = ["sieves", "passing", "uniform"].map(|key| grading.given(key).is_some());
        let numbers = |key: &str| -> Option<Vec<f64>> {
            grading.list(key)?.iter().map(Node::number).collect()
        };
        match given {
            [true, true, false] => {
                let (sieves, passing) = (numbers("sieves"), numbers("passing"));
                self.sieves(grading, sieves?, passing?)
            }
            [false, false, true] => {
                let [min, max] = grading.numbers("uniform")?;
                if min > max {
                    let message = format!(
                        "the smallest size ({} m) is above the largest ({} m)",
                        number(min),
                        number(max)
                    );
                    self.problems.report(grading.value_span("uniform"), message);
                    return None;
                }
                Some(Grading::Uniform { min, max })
            }
            _ => {
                let message = "a grading has either `sieves` and `passing`, or `uniform`";
                self.problems.report(node.span.clone(), message);
                None
            }
        }
    }

    fn sieves(
        &mut self,
        grading: &Entries,
        sieves: Vec<f64>,
        passing: Vec<f64>,
    ) -> Option<Grading> {
        let spans = |key: &str, index: usize| {
            let item = grading.list(key).and_then(|items| items.get(index));
            item.map_or(grading.value_span(key), |item| item.span.clone())
        };
        let drop = |values: &[f64], wrong: fn(f64, f64) -> bool| {
            values.windows(2).position(|pair| wrong(pair[0], pair[1])).map(|index| index + 1)
        };
        let (span, message) = if sieves.len() != passing.len() {
            let message = format!(
                "there are {} sieves, but {} values of `passing`",
                sieves.len(),
                passing.len()
            );
            (grading.value_span("passing"), message)
        } else if let Some(index) = drop(&sieves, |a, b| b <= a) {
            (spans("sieves", index), "the sieves must be in increasing order".into())
        } else if let Some(index) = drop(&passing, |a, b| b < a) {
            (
                spans("passing", index),
                "`passing` must not decrease: a larger sieve cannot pass less mass".into(),
            )
        } else if passing.first() != Some(&0.0) {
            let message = "`passing` must start at 0: add a sieve that nothing passes";
            (spans("passing", 0), message.into())
        } else if passing.last() != Some(&100.0) {
            let message = "`passing` must end at 100 %: add a sieve that everything passes";
            (spans("passing", passing.len() - 1), message.into())
        } else {
            return Some(Grading::Sieves { sieves, passing });
        };
        self.problems.report(span, message);
        None
    }

    /// Three counts; in planar scenes the last is 1 and may be omitted.
    pub(in super::super) fn counts(&mut self, group: &Entries, key: &str) -> Option<[u32; 3]> {
        let mut counts = [1; 3];
        for (count, node) in counts.iter_mut().zip(self.along_axes(group, key)?) {
            *count = u32::try_from(node.integer()?).ok()?;
        }
        if self.planar && counts[2] != 1 {
            let message = "the scene is planar: the third of `counts` must be 1";
            self.problems.report(group.value_span(key), message);
        }
        // The product of three counts of ten million each fits into 128 bits, but not into 64.
        let total: u128 = counts.iter().map(|n| u128::from(*n)).product();
        if total > MAX_GRAINS as u128 {
            let message = format!("the group has {total} grains; the maximum is {MAX_GRAINS}");
            self.problems.report(group.value_span(key), message);
            return None;
        }
        Some(counts)
    }

    /// Three distances; in planar scenes the last is 0.
    pub(in super::super) fn spacing(&mut self, group: &Entries, key: &str) -> Option<Vector> {
        let mut spacing = [0.0; 3];
        for (length, node) in spacing.iter_mut().zip(self.along_axes(group, key)?) {
            *length = node.number()?;
        }
        if self.planar {
            spacing[2] = 0.0;
        }
        Some(spacing)
    }

    /// One value for each axis.
    fn along_axes<'a>(&mut self, group: &'a Entries, key: &str) -> Option<&'a [Node]> {
        let values = group.list(key)?;
        let n = values.len();
        if n != 3 && !(self.planar && n == 2) {
            let message = format!("`{key}` needs 3 values, along x, y and z; got {n}");
            self.problems.report(group.value_span(key), message);
            return None;
        }
        Some(values)
    }

    fn check_rain(&mut self, group: &Entries, column: &Column, settle: Option<&Settle>) {
        if let Some(&Settle { speed, drag, .. }) = settle
            && drag * speed > 0.1 * self.gravity
            && self.gravity > 0.0
            && let Some(entries) = group.table("settle")
        {
            let message = format!(
                "grains would count as settled while falling: with this drag they fall at up to {:.2} m/s, and `speed` is {speed} m/s",
                self.gravity / drag
            );
            let help = format!("use a drag of at most {:.3} 1/s", 0.1 * self.gravity / speed);
            self.problems.advise(entries.value_span("drag"), message, &help);
        }
        let Column { min, max } = column;
        if let (Some(axis), Some(entries)) =
            ((0..3).find(|axis| min[*axis] >= max[*axis]), group.table("box"))
        {
            let message = format!(
                "the box is empty along {}: min is {} m, max is {} m",
                ["x", "y", "z"][axis],
                min[axis],
                max[axis]
            );
            self.problems.report(entries.value_span("max"), message);
        }
    }

    /// The grains of a table.
    pub(in super::super) fn rows(&mut self, group: &Entries) -> Option<Arc<GrainTable>> {
        let file = self.path(group.text("file")?);
        let span = group.value_span("file");
        let table = match GrainTable::read(&file) {
            Ok(table) => table,
            Err(error) => {
                self.problems.report(span, error.to_string());
                return None;
            }
        };
        if self.planar {
            let out = table.grains.iter().position(|grain| {
                let turned = grain.rotation[1] != 0.0 || grain.rotation[2] != 0.0;
                let spins = grain.angular_velocity[0] != 0.0 || grain.angular_velocity[1] != 0.0;
                grain.position[2] != 0.0 || grain.velocity[2] != 0.0 || turned || spins
            });
            if let Some(index) = out {
                let message = format!(
                    "the scene is planar, but grain {} of the file leaves the x–y plane",
                    index + 1
                );
                self.problems.report(span, message);
            }
        }
        Some(Arc::new(table))
    }
}
