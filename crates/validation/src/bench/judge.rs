//! Evaluation of state files written by any engine: `riprap bench judge`.
//!
//! It shares no code with the contact detection of riprap: overlap depths come from all separating axes, over the triangles and edges of
//! the file as given. If two convex bodies overlap, the depth is the smallest over all faces of `B − A`: these are the faces of
//! either body, and the pairs of edges whose arcs cross on the sphere of normals.

use riprap::prelude::*;
use riprap_io::peer_scene::{GrainState, PeerScene};
use serde::Serialize;
use std::collections::HashMap;

/// Pairs closer than this count as near [m].
const NEAR: f64 = 2e-4;

/// Evaluation of a state and of the change since an earlier one. Overlaps are between stones unless stated otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// Number of stones.
    pub grains: usize,
    /// Pairs of stones that overlap, or whose faces and edges are less than 0.2 mm apart.
    pub near_pairs: usize,
    /// Pairs of stones that overlap.
    pub overlap_pairs: usize,
    /// Mean depth of the overlaps [mm].
    pub penetration_mean_mm: f64,
    /// Depth that 95 % of the overlaps do not exceed [mm].
    pub penetration_p95_mm: f64,
    /// Deepest overlap [mm].
    pub penetration_max_mm: f64,
    /// Deepest overlap over the mean diameter of spheres of equal volume [–].
    pub penetration_max_rel: f64,
    /// Pairs of a stone and a wall that overlap.
    pub wall_pairs: usize,
    /// Mean depth of the overlaps with walls [mm].
    pub wall_mean_mm: f64,
    /// Deepest overlap with a wall [mm].
    pub wall_max_mm: f64,
    /// Stones whose centres have left the box.
    pub outside: usize,
    /// Kinetic energy [J].
    pub kinetic_energy: f64,
    /// Root mean square velocity [m/s].
    pub v_rms: f64,
    /// Largest velocity [m/s].
    pub v_max: f64,
    /// Height below which 98 % of the centres lie [m].
    pub height_98: f64,
    /// Displacement of the centres since the first state, if there is one.
    pub drift: Option<Drift>,
}

/// Displacement of the centres between two states.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// Mean [mm].
    pub mean_mm: f64,
    /// Median [mm].
    pub median_mm: f64,
    /// Largest [mm].
    pub max_mm: f64,
}

/// Evaluates a state of a scene and its drift since an earlier state `begin`.
pub fn judge(
    scene: &PeerScene,
    begin: Option<&[GrainState]>,
    end: &[GrainState],
) -> Result<Judgement, String> {
    let mut solids = Vec::with_capacity(end.len());
    for (i, (grain, state)) in scene.grains.iter().zip(end).enumerate() {
        let surface = Surface::new(&grain.faces)
            .map_err(|e| format!("{}: grain {}: {e}", scene.path.display(), i + 1))?;
        let pose = pose(state);
        let corners: Vec<Vec3> =
            grain.vertices.iter().map(|v| pose.point(Vec3::from(*v))).collect();
        solids.push(Solid::new(surface, corners, pose.position));
    }

    let mut judgement = overlaps(scene, &solids);
    walls(scene, &solids, &mut judgement);
    motion(scene, end, &mut judgement);
    judgement.drift = begin.map(|begin| {
        let way = |(a, b): (&GrainState, &GrainState)| {
            (Vec3::from(b.position) - Vec3::from(a.position)).norm()
        };
        let ways = sorted(begin.iter().zip(end).map(way).collect());
        Drift {
            mean_mm: 1e3 * mean(&ways),
            median_mm: 1e3 * ways[ways.len() / 2],
            max_mm: 1e3 * ways[ways.len() - 1],
        }
    });
    Ok(judgement)
}

/// Overlaps of stones with stones.
fn overlaps(scene: &PeerScene, solids: &[Solid]) -> Judgement {
    let size = |i: usize| (6.0 * scene.grains[i].volume / std::f64::consts::PI).cbrt();
    let (mut near_pairs, mut relative, mut depths) = (0, 0.0f64, Vec::new());
    // Sweep along x: only stones whose bounding spheres overlap are compared.
    let mut order: Vec<usize> = (0..solids.len()).collect();
    let left = |i: usize| solids[i].centre.x - solids[i].radius;
    order.sort_by(|&i, &j| left(i).total_cmp(&left(j)));
    for (k, &i) in order.iter().enumerate() {
        let a = &solids[i];
        for &j in &order[k + 1..] {
            let b = &solids[j];
            if left(j) > a.centre.x + a.radius + NEAR {
                break;
            }
            if (b.centre - a.centre).norm() > a.radius + b.radius + NEAR {
                continue;
            }
            let gap = separation(a, b, NEAR);
            near_pairs += usize::from(gap < NEAR);
            if gap < 0.0 {
                depths.push(-gap);
                relative = relative.max(-gap / (0.5 * (size(i) + size(j))));
            }
        }
    }
    let depths = sorted(depths);
    let p95 = depths.get((0.95 * depths.len().saturating_sub(1) as f64) as usize);
    Judgement {
        grains: solids.len(),
        near_pairs,
        overlap_pairs: depths.len(),
        penetration_mean_mm: 1e3 * mean(&depths),
        penetration_p95_mm: 1e3 * p95.unwrap_or(&0.0),
        penetration_max_mm: 1e3 * depths.last().unwrap_or(&0.0),
        penetration_max_rel: relative,
        wall_pairs: 0,
        wall_mean_mm: 0.0,
        wall_max_mm: 0.0,
        outside: 0,
        kinetic_energy: 0.0,
        v_rms: 0.0,
        v_max: 0.0,
        height_98: 0.0,
        drift: None,
    }
}

/// Overlaps of stones with the walls.
fn walls(scene: &PeerScene, solids: &[Solid], judgement: &mut Judgement) {
    let mut depths = Vec::new();
    let planes = scene.container.planes().map(|(n, p)| (Vec3::from(n), Vec3::from(p)));
    for solid in solids {
        if planes.iter().any(|(n, p)| n.dot(&(solid.centre - p)) < 0.0) {
            judgement.outside += 1;
            continue;
        }
        for (n, p) in &planes {
            let lowest =
                solid.corners.iter().map(|v| n.dot(&(v - p))).fold(f64::INFINITY, f64::min);
            if lowest < 0.0 {
                depths.push(-lowest);
            }
        }
    }
    judgement.wall_pairs = depths.len();
    judgement.wall_mean_mm = 1e3 * mean(&depths);
    judgement.wall_max_mm = 1e3 * depths.iter().copied().fold(0.0, f64::max);
}

/// Velocities, energy and height.
fn motion(scene: &PeerScene, states: &[GrainState], judgement: &mut Judgement) {
    let mut square = 0.0;
    for (grain, state) in scene.grains.iter().zip(states) {
        let v = Vec3::from(state.velocity);
        let spin = pose(state).inverse_vector(Vec3::from(state.angular_velocity));
        let moments = Vec3::from(grain.inertia);
        square += v.norm_squared();
        judgement.v_max = judgement.v_max.max(v.norm());
        judgement.kinetic_energy +=
            0.5 * (grain.mass * v.norm_squared() + moments.dot(&spin.component_mul(&spin)));
    }
    judgement.v_rms = (square / states.len() as f64).sqrt();
    let heights = sorted(states.iter().map(|s| s.position[2]).collect());
    judgement.height_98 = heights[(0.98 * heights.len() as f64) as usize];
}

fn pose(state: &GrainState) -> Pose {
    let [w, x, y, z] = state.rotation;
    let rotation = Quat::new_normalize([x, y, z, w].into());
    Pose { position: Vec3::from(state.position), rotation }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn mean(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |sum, x| sum + x) / values.len().max(1) as f64
}

/// Triangles of a closed surface, and its edges with the triangle on either side.
struct Surface<'a> {
    faces: &'a [[u32; 3]],
    edges: Vec<([u32; 2], [usize; 2])>,
}

impl Surface<'_> {
    fn new(faces: &[[u32; 3]]) -> Result<Surface<'_>, String> {
        let mut sides = HashMap::new();
        for (k, face) in faces.iter().enumerate() {
            for c in 0..3 {
                let edge = [face[c], face[(c + 1) % 3]];
                if sides.insert(edge, k).is_some() {
                    return Err(format!(
                        "`faces`: the edge {edge:?} occurs twice in one direction"
                    ));
                }
            }
        }
        let mut edges = Vec::with_capacity(sides.len() / 2);
        for face in faces {
            for c in 0..3 {
                let [i, j] = [face[c], face[(c + 1) % 3]];
                let other = sides.get(&[j, i]).ok_or_else(|| {
                    format!(
                        "`faces`: the edge [{i}, {j}] has only one face; the surface must be closed"
                    )
                })?;
                if i < j {
                    edges.push(([i, j], [sides[&[i, j]], *other]));
                }
            }
        }
        if faces.is_empty() {
            return Err("`faces` is empty".into());
        }
        Ok(Surface { faces, edges })
    }
}

/// A stone in the world.
struct Solid<'a> {
    surface: Surface<'a>,
    corners: Vec<Vec3>,
    /// Outward unit normals of the triangles.
    normals: Vec<Vec3>,
    centre: Vec3,
    radius: f64,
}

impl Solid<'_> {
    fn new(surface: Surface, corners: Vec<Vec3>, centre: Vec3) -> Solid {
        let normal = |face: &[u32; 3]| {
            let [a, b, c] = face.map(|i| corners[i as usize]);
            // A degenerate triangle has no normal and is not a separating axis.
            (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_else(Vec3::zeros)
        };
        let normals = surface.faces.iter().map(normal).collect();
        let radius = corners.iter().map(|v| (v - centre).norm()).fold(0.0, f64::max);
        Solid { surface, corners, normals, centre, radius }
    }

    /// Smallest height `n · x` of the corners.
    fn lowest(&self, n: &Vec3) -> f64 {
        self.corners.iter().map(|v| n.dot(v)).fold(f64::INFINITY, f64::min)
    }
}

/// Largest gap over all axes [m]; if negative, the overlap depth of the stones. A gap above `enough` ends the search.
fn separation(a: &Solid, b: &Solid, enough: f64) -> f64 {
    let mut largest = f64::NEG_INFINITY;
    for (p, q) in [(a, b), (b, a)] {
        for (face, n) in p.surface.faces.iter().zip(&p.normals) {
            if *n != Vec3::zeros() {
                largest = largest.max(q.lowest(n) - n.dot(&p.corners[face[0] as usize]));
            }
            if largest > enough {
                return largest;
            }
        }
    }
    for (ea, fa) in &a.surface.edges {
        let [pa, qa] = ea.map(|i| a.corners[i as usize]);
        let [a0, a1] = fa.map(|f| a.normals[f]);
        let u = qa - pa;
        for (eb, fb) in &b.surface.edges {
            let [pb, qb] = eb.map(|i| b.corners[i as usize]);
            let [b0, b1] = fb.map(|f| b.normals[f]);
            let w = qb - pb;
            // The arcs a0–a1 and (−b0)–(−b1) can cross only if the ends of each lie on different sides of the plane of the other.
            if a0.dot(&w) * a1.dot(&w) >= 0.0 || b0.dot(&u) * b1.dot(&u) >= 0.0 {
                continue;
            }
            // They cross along u × w or opposite to it: both arcs must lie on the same side.
            let Some(n) = u.cross(&w).try_normalize(1e-9 * u.norm() * w.norm()) else { continue };
            let n = if n.dot(&(a0 + a1)) > 0.0 { n } else { -n };
            if n.dot(&(b0 + b1)) >= 0.0 {
                continue;
            }
            largest = largest.max(n.dot(&(pb - pa)));
            if largest > enough {
                return largest;
            }
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use riprap::grains::{StoneGenerator, seeded};
    use riprap_io::peer_scene::{Container, PeerGrain};

    /// Stones at poses, in a box of 2 m.
    fn scene(grains: Vec<PeerGrain>) -> PeerScene {
        PeerScene {
            path: Default::default(),
            n: None,
            density: 2700.0,
            friction: 0.7,
            restitution: 0.0,
            gravity: [0.0, 0.0, -9.81],
            dt: 5e-4,
            container: Container {
                xmin: -1.0,
                xmax: 1.0,
                ymin: -1.0,
                ymax: 1.0,
                zmin: 0.0,
                height: 1.0,
            },
            grains,
        }
    }

    fn at(position: [f64; 3], rotation: [f64; 4]) -> GrainState {
        GrainState { position, rotation, velocity: [0.0; 3], angular_velocity: [0.0; 3] }
    }

    /// A cube of 10 cm.
    fn cube() -> PeerGrain {
        let cube = riprap::shape::Polyhedron::cuboid([0.1; 3]).unwrap();
        PeerGrain::at_rest(&cube, 2700.0, &Pose::IDENTITY)
    }

    #[test]
    fn overlap_depths_of_cubes_match_the_closed_form() {
        let upright = [1.0, 0.0, 0.0, 0.0];
        let cubes = scene(vec![cube(), cube()]);
        // Face on face, 2 mm deep; the lower cube is 1 mm in the floor.
        let states = [at([0.0, 0.0, 0.049], upright), at([0.03, 0.02, 0.147], upright)];
        let j = judge(&cubes, None, &states).unwrap();
        assert_eq!((j.near_pairs, j.overlap_pairs, j.wall_pairs), (1, 1, 1));
        assert!((j.penetration_max_mm - 2.0).abs() < 1e-9 && (j.wall_max_mm - 1.0).abs() < 1e-9);

        // Edge across edge: each stands on an edge, one about x and one about y; 3 mm deep.
        let (s, c) = (std::f64::consts::PI / 8.0).sin_cos();
        let top = 0.1 * std::f64::consts::SQRT_2;
        let states = [
            at([0.0, 0.0, 0.3], [c, s, 0.0, 0.0]),
            at([0.0, 0.0, 0.3 + top - 0.003], [c, 0.0, s, 0.0]),
        ];
        let j = judge(&cubes, Some(&[states[0], states[0]]), &states).unwrap();
        assert!((j.penetration_max_mm - 3.0).abs() < 1e-9, "{j:?}");
        assert_eq!((j.outside, j.wall_pairs), (0, 0));
        let drift = j.drift.unwrap();
        assert!((drift.max_mm - 1e3 * (top - 0.003)).abs() < 1e-9);

        // One cube is outside the box, far from the other.
        let states = [at([0.0, 0.0, 0.3], upright), at([1.2, 0.0, 0.3], upright)];
        let j = judge(&cubes, None, &states).unwrap();
        assert_eq!((j.outside, j.near_pairs), (1, 0));
    }

    #[test]
    fn the_test_for_crossing_arcs_misses_no_axis() {
        // Compared with all products of edges, without the sphere of normals.
        let mut rng = seeded(5);
        let mut stone = || StoneGenerator::default().generate(0.04, &mut rng).unwrap();
        for k in 0..40 {
            let poses = [
                Pose::IDENTITY.turned([1.0, 0.3, 0.1], 0.4 * f64::from(k)),
                Pose::at([0.03, 0.012, 0.001 * f64::from(k)]).turned([0.2, 1.0, 0.5], f64::from(k)),
            ];
            let grains = poses.map(|p| PeerGrain::at_rest(&stone(), 2700.0, &p));
            let [a, b] = [0, 1].map(|i| {
                let corners =
                    (grains[i].vertices.iter()).map(|v| poses[i].point(Vec3::from(*v))).collect();
                Solid::new(Surface::new(&grains[i].faces).unwrap(), corners, poses[i].position)
            });
            let found = separation(&a, &b, f64::INFINITY);
            let mut all = f64::NEG_INFINITY;
            let edges = |s: &Solid| -> Vec<Vec3> {
                let edge = |e: &[u32; 2]| s.corners[e[1] as usize] - s.corners[e[0] as usize];
                s.surface.edges.iter().map(|(e, _)| edge(e)).collect()
            };
            let mut axes: Vec<Vec3> = a.normals.clone();
            axes.extend(b.normals.iter().map(|n| -n));
            for u in edges(&a) {
                for w in edges(&b) {
                    if let Some(n) = u.cross(&w).try_normalize(1e-9 * u.norm() * w.norm()) {
                        axes.extend([n, -n]);
                    }
                }
            }
            for n in axes {
                all = all.max(b.lowest(&n) + a.lowest(&-n));
            }
            // If the stones are apart, an axis that is not a crossing may give a larger gap.
            if all < 0.0 {
                assert!((found - all).abs() < 1e-12, "{k}: {found} {all}");
            } else {
                assert!(found > 0.0 && found < all + 1e-12, "{k}: {found} {all}");
            }
        }
    }

    #[test]
    fn open_surfaces_are_refused() {
        let mut open = cube();
        open.faces.pop();
        let message = judge(&scene(vec![open]), None, &[at([0.0; 3], [1.0, 0.0, 0.0, 0.0])]);
        assert!(message.unwrap_err().contains("grain 1: `faces`: the edge"));
    }
}
