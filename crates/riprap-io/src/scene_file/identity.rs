//! The identity of a scene as text: two runs with the same text go through the same states. Files are identified by their
//! content, not by their path.

use std::fmt::{self, Debug, Write};
use std::path::PathBuf;

use super::{GrainShape, Placement, SceneFile, Shape, ShapeRef, StartTime};

impl SceneFile {
    /// The resolved scene without its title, end time, checkpoint interval and the run from which it starts; files it refers to are identified by their
    /// content.
    pub fn identity(&self) -> String {
        let mut scene = self.clone();
        scene.title = None;
        scene.run.until = 0.0;
        scene.run.checkpoint_every = None;
        scene.run.start_from = None;
        scene.run.start_time = StartTime::Zero;
        scene.name_files_by_content();
        scene.to_toml()
    }

    pub(crate) fn name_files_by_content(&mut self) {
        for named in &mut self.shapes {
            rename(&mut named.shape);
        }
        for body in &mut self.bodies {
            rename_ref(&mut body.shape);
        }
        for grains in &mut self.grains {
            match &mut grains.shape {
                GrainShape::Shape(shape) => rename_ref(shape),
                GrainShape::Scans { folder, scans, .. } => *folder = by_content(scans),
                GrainShape::Stones { .. } | GrainShape::Spheres { .. } => {}
            }
            if let Placement::File { file, table } = &mut grains.placement {
                *file = by_content(table);
            }
        }
        for insertion in &mut self.insertions {
            match &mut insertion.shape {
                GrainShape::Shape(shape) => rename_ref(shape),
                GrainShape::Scans { folder, scans, .. } => *folder = by_content(scans),
                GrainShape::Stones { .. } | GrainShape::Spheres { .. } => {}
            }
        }
        for part in self.flexible.iter_mut().flat_map(|body| &mut body.shapes) {
            rename_ref(&mut part.shape);
        }
        for mechanism in &mut self.mechanisms {
            for part in mechanism.bodies.iter_mut().flat_map(|body| &mut body.shapes) {
                rename_ref(&mut part.shape);
            }
        }
    }
}

fn rename_ref(shape: &mut ShapeRef) {
    if let ShapeRef::Inline(shape) = shape {
        rename(shape);
    }
}

fn rename(shape: &mut Shape) {
    match shape {
        Shape::Mesh { file, mesh, .. } => *file = by_content(mesh),
        Shape::Rounded { core, .. } => rename_ref(core),
        Shape::Compound { parts } => parts.iter_mut().for_each(|part| rename_ref(&mut part.shape)),
        _ => {}
    }
}

fn by_content(content: &impl Debug) -> PathBuf {
    PathBuf::from(format!("content {:016x}", fingerprint(content)))
}

/// A hash of a value: FNV-1a of its debug text, in which numbers have all their digits.
pub fn fingerprint(value: &impl Debug) -> u64 {
    struct Fnv(u64);
    impl Write for Fnv {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for byte in text.bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            Ok(())
        }
    }
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    let _ = write!(hash, "{value:?}"); // this writer never fails
    hash.0
}

/// The first difference between two such texts, in words for a message; `None` if they are equal.
pub(crate) fn first_difference(kept: &str, here: &str) -> Option<String> {
    if kept == here {
        return None;
    }
    let (mut a, mut b) = (kept.lines(), here.lines());
    let mut table = "";
    loop {
        let quote = |line: &str| {
            let short: String = line.chars().take(80).collect();
            format!("`{short}`{}", if short.len() < line.len() { " …" } else { "" })
        };
        match (a.next(), b.next()) {
            (Some(a), Some(b)) if a == b => {
                if a.starts_with('[') {
                    table = a;
                }
            }
            (Some(a), Some(b)) => {
                let within = if table.is_empty() { "" } else { " in " };
                return Some(format!("{}, now {}{within}{table}", quote(a), quote(b)));
            }
            (Some(a), None) => return Some(format!("{}, now nothing", quote(a))),
            (None, Some(b)) => return Some(format!("nothing, now {}", quote(b))),
            (None, None) => return None,
        }
    }
}
