//! Verlet lists for the axes of a pair: a search over all faces and edges also shows which of them
//! came close to winning and how far below them all others are. As long as the two shapes have
//! moved relative to each other by less than that, these few are sufficient.
//!
//! *Proof.* Along a direction fixed in the frame of one shape, the separation changes by no more
//! than the points of the other move in that frame. A face normal is such a direction; the
//! separation given by two edges never exceeds the greatest separation along the normals of either
//! edge, which are such directions too. So if the search found everything unlisted at `rest` or
//! lower and the points have moved by `δ`, everything unlisted is now at `rest + δ` or lower, and a
//! listed winner above that wins overall.

use super::above::{Above, AboveA, AboveB, Face};
use super::axes::{
    Axis, FACE_BIAS, Found, Kind, NearEdge, Relative, amid, better_face, edge_axis, slack,
};
use super::narrow::{Ask, Features, NarrowScratch};
use crate::math::Vec3;
use crate::shape::Polyhedron;

/// Features that may give the axis of a pair until it has moved too far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shortlist {
    /// Centre of b in the frame of a [m] and two columns of the rotation at the time when all
    /// features were searched.
    centre: [f32; 3],
    columns: [[f32; 3]; 2],
    /// Upper bound of all other heights at that time [m].
    rest: f32,
    /// Numbers of faces of a, edges of a, faces of b and edges of b in `items`.
    counts: [u8; 4],
    items: [u8; CAPACITY],
}

const CAPACITY: usize = 32;
/// Features are listed if they are lower than the winner by up to this many times the motion of a
/// step, within these fractions of the size: more features take longer to evaluate, fewer must be
/// searched again sooner.
const STEPS: f64 = 16.0;
const LEAST_MARGIN: f64 = 0.003;
const LARGEST_MARGIN: f64 = 0.02;
/// No list is made for a pair that would outrun it in fewer steps than this.
const FEWEST_STEPS: f64 = 4.0;

impl Shortlist {
    /// The features that are almost as high as the winner; `None` if there are too many or the list
    /// would not last.
    #[inline(never)]
    pub(super) fn new(
        a: &Polyhedron,
        b: &Polyhedron,
        rel: &Relative,
        axis: &Axis,
        ask: &Ask,
        scratch: &mut NarrowScratch,
    ) -> Option<Shortlist> {
        let size = a.outer_radius().min(b.outer_radius());
        let centre = rel.point(b.centre());
        let drift = (ask.drift)();
        let pace = (drift.shift + drift.turn.cross(&centre)).norm()
            + drift.turn.norm() * arm(a, b, centre);
        let margin = (STEPS * pace).clamp(LEAST_MARGIN * size, LARGEST_MARGIN * size);
        if FEWEST_STEPS * pace > margin {
            return None;
        }
        // Points of each shape inside the contact region, in the frame of the other.
        let NarrowScratch { heights, more_heights, .. } = scratch;
        let (above_a, above_b) = (AboveA { a, b, rel }, AboveB::new(a, b, rel));
        let (of_a, of_b) = match axis.kind {
            Kind::Edges(i, j) => {
                (a.edge_ends(i).map(|p| rel.inverse_point(p)), b.edge_ends(j).map(|p| rel.point(p)))
            }
            Kind::FaceA(_) | Kind::FaceB(_) => {
                let [p_a, p_b] = amid((a, b, rel), axis, heights);
                ([rel.inverse_point(p_a); 2], [p_b; 2])
            }
            Kind::Points { .. } | Kind::Plane => return None,
        };

        // Faces of a, its edges, faces of b, its edges: so each set of heights is used twice.
        let mut draft = Draft { floor: axis.separation - margin, ..Draft::default() };
        draft.faces(&above_a, of_b, heights, more_heights);
        let counts_0 = draft.len;
        draft.edges(a, [heights, more_heights]);
        let counts_1 = draft.len - counts_0;
        draft.faces(&above_b, of_a, heights, more_heights);
        let counts_2 = draft.len - counts_1 - counts_0;
        draft.edges(b, [heights, more_heights]);
        let counts_3 = draft.len - counts_2 - counts_1 - counts_0;
        if draft.len > CAPACITY {
            return None;
        }
        let short = |v: Vec3| [v.x as f32, v.y as f32, v.z as f32];
        Some(Shortlist {
            centre: short(centre),
            columns: [short(rel.rot.column(0).into()), short(rel.rot.column(1).into())],
            rest: (draft.rest as f32).next_up(),
            counts: [counts_0, counts_1, counts_2, counts_3].map(|n| n as u8),
            items: draft.items,
        })
    }

    /// Faces of a, edges of a, faces of b, edges of b.
    #[inline(always)]
    pub(super) fn features(&self) -> [&[u8]; 4] {
        let [n_faces_a, n_edges_a, n_faces_b, n_edges_b] = self.counts;
        let (faces_a, items) = self.items.split_at(n_faces_a.into());
        let (edges_a, items) = items.split_at(n_edges_a.into());
        let (faces_b, items) = items.split_at(n_faces_b.into());
        [faces_a, edges_a, faces_b, &items[..usize::from(n_edges_b)]]
    }

    /// The result of the search over all features; `None` if the list cannot decide.
    #[inline(always)]
    pub(super) fn best_axis(
        &self,
        a: &Polyhedron,
        b: &Polyhedron,
        rel: &Relative,
        limit: f64,
        last: &Features,
        moved: &mut Vec<NearEdge>,
    ) -> Option<Result<Found, Vec3>> {
        let size = a.outer_radius().min(b.outer_radius());
        let mut features = Features { edges: None, ..*last };
        let [faces_a, edges_a, faces_b, edges_b] = self.features();

        let (above_a, above_b) = (AboveA { a, b, rel }, AboveB::new(a, b, rel));
        let (top_a, top_b) = (best_of(&above_a, faces_a), best_of(&above_b, faces_b));
        for (face, top) in features.faces.iter_mut().zip([&top_a, &top_b]) {
            *face = top.as_ref().map_or(*face, |f| f.face as u16);
        }
        let face = better_face(&top_a, &top_b, size, a, b, rel);
        let bound = face.as_ref().map_or(f64::NEG_INFINITY, |f| f.separation + FACE_BIAS * size);

        // If a face is best, its own edges are listed too, but usually the vertex above it rules
        // them out.
        let needed = bound - slack(a, b, rel);
        let kind = face.as_ref().map(|f| f.kind);
        let over_a = match (kind, &top_a) {
            (Some(Kind::FaceA(_)), Some(top)) => Some(rel.point(b.vertices()[top.vertex])),
            _ => None,
        };
        let over_b = match (kind, &top_b) {
            (Some(Kind::FaceB(_)), Some(top)) => Some(rel.inverse_point(a.vertices()[top.vertex])),
            _ => None,
        };
        let near_a = |i: usize| over_a.is_none_or(|p| a.point_over_edge(i, p) >= needed);
        let near_b = |j: usize| over_b.is_none_or(|p| b.point_over_edge(j, p) >= needed);
        moved.clear();
        let (mut axis, mut s_edge) = (face, bound);
        for i in edges_a.iter().map(|&i| usize::from(i)) {
            if !near_a(i) {
                continue;
            }
            if moved.is_empty() {
                for j in edges_b.iter().map(|&j| usize::from(j)) {
                    if near_b(j) {
                        moved.push(NearEdge::of(b, j).moved(rel));
                    }
                }
                if moved.is_empty() {
                    break;
                }
            }
            let ea = NearEdge::of(a, i);
            for eb in &*moved {
                let Some((normal, s)) = edge_axis(&ea, eb) else { continue };
                if s > s_edge {
                    s_edge = s;
                    let kind = Kind::Edges(i, eb.index);
                    axis = Some(Axis { normal, separation: s, kind, vertex: 0 });
                    features.edges = Some([i as u16, eb.index as u16]);
                }
            }
        }
        let axis = axis?;
        if axis.separation > limit {
            return Some(Err(axis.normal));
        }
        let others = f64::from(self.rest) + self.motion(a, b, rel) + FACE_BIAS * size;
        (axis.separation > others + slack(a, b, rel)).then_some(Ok(Found { axis, features }))
    }

    /// Upper bound of the distance that points of one shape have moved in the frame of the other
    /// [m].
    #[inline(always)]
    fn motion(&self, a: &Polyhedron, b: &Polyhedron, rel: &Relative) -> f64 {
        let long = |v: [f32; 3]| Vec3::new(v[0].into(), v[1].into(), v[2].into());
        let (old, new) = (long(self.centre), rel.point(b.centre()));
        // The third column of a change of rotation is no longer than the largest singular value,
        // and the squares of all three columns add up to twice its square.
        let turned = (long(self.columns[0]) - rel.rot.column(0)).norm_squared()
            + (long(self.columns[1]) - rel.rot.column(1)).norm_squared();
        let arm = arm(a, b, old);
        let rounding = 4.0 * f64::from(f32::EPSILON) * (arm + old.norm());
        (new - old).norm() + turned.sqrt() * arm + rounding
    }
}

/// Upper bound of the distance of the points of one shape from the centre about which it rotates in
/// the frame of the other [m].
#[inline(always)]
fn arm(a: &Polyhedron, b: &Polyhedron, centre_b: Vec3) -> f64 {
    b.outer_radius().max((centre_b - a.centre()).norm() + a.outer_radius())
}

/// The best of a few faces, the first in case of ties.
#[inline(always)]
fn best_of(above: &impl Above, faces: &[u8]) -> Option<Face> {
    let mut best: Option<Face> = None;
    for &i in faces {
        let face = above.evaluate(usize::from(i));
        if best.as_ref().is_none_or(|b| face.separation > b.separation) {
            best = Some(face);
        }
    }
    best
}

/// A list under construction.
struct Draft {
    floor: f64,
    rest: f64,
    len: usize,
    items: [u8; CAPACITY],
}

impl Default for Draft {
    fn default() -> Draft {
        Draft { floor: 0.0, rest: f64::NEG_INFINITY, len: 0, items: [0; CAPACITY] }
    }
}

impl Draft {
    /// Lists a feature that is no higher than `height`, or records that height in the rest.
    fn add(&mut self, index: usize, height: f64) {
        if height < self.floor {
            self.rest = self.rest.max(height);
            return;
        }
        match u8::try_from(index) {
            Ok(i) if self.len < CAPACITY => self.items[self.len] = i,
            // More than there is room for: no list.
            _ => self.len = CAPACITY,
        }
        self.len += 1;
    }

    /// Adds edges, using the same heights.
    fn edges(&mut self, p: &Polyhedron, heights: [&[f64]; 2]) {
        for i in 0..p.edges().len() {
            self.add(i, p.height_over_edge(i, heights));
        }
    }

    /// Adds faces: the heights of two points of the other shape decide for most of them.
    fn faces(
        &mut self,
        above: &impl Above,
        points: [Vec3; 2],
        heights: &mut Vec<f64>,
        more_heights: &mut Vec<f64>,
    ) {
        above.base().heights(points[0], heights);
        above.base().heights(points[1], more_heights);
        for i in 0..above.base().n_faces() {
            let height = heights[i].min(more_heights[i]);
            self.add(i, if height < self.floor { height } else { above.evaluate(i).separation });
        }
    }
}

#[cfg(test)]
mod tests;
