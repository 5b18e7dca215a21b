//! A rough estimate of the memory of a scene. A scene that cannot fit is rejected before it is built.

use super::place;
use crate::scene_file::{GrainShape, Problem, SceneFile, Stones};

/// A grain with its names, poses, neighbours and a dozen contacts [bytes].
const PER_GRAIN: u64 = 6_000;
/// A vertex of a polyhedron, with its share of edges and faces [bytes].
const PER_VERTEX: u64 = 400;
/// Assumed memory if the system does not report it [bytes].
const USUAL: u64 = 16 << 30;

/// Memory of this machine [bytes].
pub(super) fn available() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes = total.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok());
    kibibytes.map_or(USUAL, |k: u64| k.saturating_mul(1024))
}

/// Reports the largest group if the scene needs more than `memory` [bytes].
pub(super) fn check(scene: &SceneFile, memory: u64, problems: &mut Vec<Problem>) {
    let bytes = |index: &usize| {
        let grains = &scene.grains[*index];
        let each = match &grains.shape {
            GrainShape::Stones { stones: Stones { vertices, .. }, .. }
            | GrainShape::Scans { max_vertices: vertices, .. } => {
                PER_GRAIN + PER_VERTEX * u64::from(*vertices)
            }
            _ => PER_GRAIN,
        };
        grains.count().saturating_mul(each)
    };
    let total = (0..scene.grains.len()).map(|index| bytes(&index)).fold(0, u64::saturating_add);
    let nodes = scene.flexible.iter().map(|body| body.n_nodes().saturating_mul(PER_GRAIN));
    let total = nodes.fold(total, u64::saturating_add);
    if total <= memory {
        return;
    }
    let Some(largest) = (0..scene.grains.len()).max_by_key(bytes) else { return };
    let grains = &scene.grains[largest];
    let gib = |bytes: u64| bytes as f64 / (1u64 << 30) as f64;
    let message = format!(
        "grains `{}`: {} grains need about {:.0} GiB of memory; this machine has {:.1} GiB",
        grains.name,
        grains.count(),
        gib(total).ceil(),
        gib(memory)
    );
    let problem = Problem::new(place(&scene.source.grains, largest), message);
    problems.push(problem.with_help("use fewer grains, or a machine with more memory"));
}
