//! Models, frames and contacts of a run file in the form that the viewer reads; see `viewer/README.md`.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use riprap_io::run_file::{ContactSet, Kind, Model, Poses};
use serde_json::json;

use crate::packed::Packed;

/// The bodies and their shapes, as triangles and edges.
pub fn model(model: &Model) -> Vec<u8> {
    let mut packed = Packed::default();
    packed.set("names", &model.names);
    packed.set("materials", &model.materials);
    packed.set("mechanisms", mechanisms(model));
    let flexible = model.flexible.iter().map(|body| {
        json!({ "name": body.name, "first": body.first, "nodes": body.nodes, "outline": body.outline })
    });
    packed.set("flexible", flexible.collect::<Vec<_>>());
    packed.list("id", model.ids.iter().copied());
    packed.list("kind", model.kinds.iter().map(|kind| kind_number(*kind)));
    packed.list("material", model.material.iter().copied());
    packed.list("size", model.size.iter().copied());
    packed.list("mass", model.mass.iter().copied());
    packed.list("radius", model.radius.iter().copied());
    packed.list("unbounded", model.unbounded.iter().map(|unbounded| u8::from(*unbounded)));
    packed.list("first_vertex", model.first_vertex.iter().copied());
    packed.table("vertex", model.vertices.iter().copied());
    let (mut triangles, mut edges) = (Vec::new(), Vec::new());
    let (mut first_triangle, mut first_edge) = (vec![0], vec![0]);
    for faces in model.first_face.windows(2) {
        let (mut seen, mut found, mut smooth) = (HashMap::new(), Vec::new(), HashSet::new());
        for face in faces[0]..faces[1] {
            let corners = corners(model, face);
            for pair in corners.windows(2).skip(1) {
                triangles.push([corners[0], pair[0], pair[1]]);
            }
            let normal = normal(model, corners);
            for (i, a) in corners.iter().enumerate() {
                let b = corners[(i + 1) % corners.len()];
                let edge = [*a.min(&b), *a.max(&b)];
                match seen.entry(edge) {
                    // The facets of a curved surface have no edges between them.
                    Entry::Occupied(mut first) => {
                        let (place, other): &mut (usize, [f32; 3]) = first.get_mut();
                        if dot(*other, normal) > SMOOTH {
                            smooth.insert(*place);
                        }
                    }
                    Entry::Vacant(first) => {
                        first.insert((found.len(), normal));
                        found.push(edge);
                    }
                }
            }
        }
        edges
            .extend(found.iter().enumerate().filter(|(k, _)| !smooth.contains(k)).map(|(_, e)| *e));
        first_triangle.push(triangles.len() as u32);
        first_edge.push(edges.len() as u32);
    }
    packed.list("first_triangle", first_triangle);
    packed.table("triangle", triangles);
    packed.list("first_edge", first_edge);
    packed.table("edge", edges);
    packed.finish()
}

/// Cosine of the angle between faces up to which the edge between them is not drawn: 12.8°, one of 32 facets of a cylinder
/// turns by 11.25°.
const SMOOTH: f32 = 0.975;

/// The unit normal of a face, or zero (Newell's method).
fn normal(model: &Model, corners: &[u32]) -> [f32; 3] {
    let point = |i: u32| model.vertices.get(i as usize).copied().unwrap_or_default();
    let mut sum = [0.0; 3];
    for (i, a) in corners.iter().enumerate() {
        let (a, b) = (point(*a), point(corners[(i + 1) % corners.len()]));
        for k in 0..3 {
            let (u, v) = ((k + 1) % 3, (k + 2) % 3);
            sum[k] += (a[u] - b[u]) * (a[v] + b[v]);
        }
    }
    let length = dot(sum, sum).sqrt();
    if length > 0.0 { sum.map(|x| x / length) } else { sum }
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The vertices of a face; none if the file is inconsistent.
fn corners(model: &Model, face: u32) -> &[u32] {
    let entry = |face: usize| model.face_offsets.get(face).map_or(0, |at| *at as usize);
    model.face_vertices.get(entry(face as usize)..entry(face as usize + 1)).unwrap_or_default()
}

fn kind_number(kind: Kind) -> u8 {
    match kind {
        Kind::Free => 0,
        Kind::Fixed => 1,
        Kind::Driven => 2,
        Kind::Mechanism => 3,
        Kind::Node => 4,
    }
}

/// Mechanisms with their joints and loops; the world has the index -1.
fn mechanisms(model: &Model) -> Vec<serde_json::Value> {
    let index = |body: Option<u32>| body.map_or(-1, i64::from);
    let mechanism = |m: &riprap_io::run_file::MechanismInfo| {
        let joint = |j: &riprap_io::run_file::JointInfo| {
            json!({
                "name": j.name, "kind": j.kind, "parent": index(j.parent), "child": index(j.child),
                "at": j.at, "axis": j.axis,
            })
        };
        let closure = |l: &riprap_io::run_file::LoopInfo| {
            json!({
                "name": l.name, "kind": l.kind, "a": index(l.a), "b": index(l.b),
                "at_a": l.at_a, "at_b": l.at_b,
            })
        };
        let joints: Vec<_> = m.joints.iter().map(joint).collect();
        let loops: Vec<_> = m.loops.iter().map(closure).collect();
        json!({ "name": m.name, "bodies": m.bodies, "joints": joints, "loops": loops })
    };
    model.mechanisms.iter().map(mechanism).collect()
}

/// Poses, velocities and ropes.
pub fn frame(poses: &Poses) -> Vec<u8> {
    let mut packed = Packed::default();
    packed.set("time", poses.time);
    packed.set("step", poses.step);
    packed.set("model", poses.model);
    packed.table("position", poses.position.iter().map(|p| p.map(|x| x as f32)));
    packed.table("rotation", poses.rotation.iter().copied());
    packed.table("velocity", poses.velocity.iter().copied());
    packed.table("angular_velocity", poses.angular_velocity.iter().copied());
    if !poses.ropes.is_empty() {
        let mut first = vec![0_u32];
        first.extend(poses.ropes.iter().scan(0, |sum, rope| {
            *sum += rope.points.len() as u32;
            Some(*sum)
        }));
        packed.list("first_rope_point", first);
        packed.table("rope_point", poses.ropes.iter().flat_map(|rope| rope.points.iter().copied()));
        packed.list("tension", poses.ropes.iter().map(|rope| rope.tension));
    }
    packed.finish()
}

/// The contacts.
pub fn contacts(contacts: &ContactSet) -> Vec<u8> {
    let mut packed = Packed::default();
    packed.set("time", contacts.time);
    packed.table("point", contacts.point.iter().copied());
    packed.table("force", contacts.force.iter().copied());
    packed.table("normal", contacts.normal.iter().copied());
    packed.list("gap", contacts.gap.iter().copied());
    packed.table("bodies", contacts.bodies.iter().copied());
    packed.finish()
}

/// Times [s] and models of frames.
pub fn times(times: &[f64], models: &[u32]) -> Vec<u8> {
    let mut packed = Packed::default();
    packed.list("time", times.iter().copied());
    packed.list("model", models.iter().copied());
    packed.finish()
}

/// What is known about one body in some of the frames.
#[derive(Default)]
pub struct History {
    time: Vec<f64>,
    position: Vec<[f32; 3]>,
    velocity: Vec<[f32; 3]>,
    angular_velocity: Vec<[f32; 3]>,
    force: Vec<f32>,
}

impl History {
    /// Adds a frame in which the body has this row.
    pub fn add(&mut self, row: usize, poses: &Poses, contacts: &ContactSet) {
        let Some(position) = poses.position.get(row) else { return };
        self.time.push(poses.time);
        self.position.push(position.map(|x| x as f32));
        self.velocity.push(poses.velocity.get(row).copied().unwrap_or_default());
        self.angular_velocity.push(poses.angular_velocity.get(row).copied().unwrap_or_default());
        self.force.push(normal_force(row, contacts));
    }

    /// The bytes.
    pub fn finish(self) -> Vec<u8> {
        let mut packed = Packed::default();
        packed.list("time", self.time);
        packed.table("position", self.position);
        packed.table("velocity", self.velocity);
        packed.table("angular_velocity", self.angular_velocity);
        packed.list("force", self.force);
        packed.finish()
    }
}

/// Sum of the normal contact forces on a body [N].
fn normal_force(row: usize, contacts: &ContactSet) -> f32 {
    let on_body = contacts.normal_forces().filter(|(bodies, _)| bodies.contains(&(row as u32)));
    on_body.map(|(_, force)| force).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::tests::read;
    use riprap_io::run_file::{FlexibleInfo, JointInfo, LoopInfo, MechanismInfo, Rope};

    /// A tetrahedron of four triangles and a pyramid with a square base.
    fn two_bodies() -> Model {
        let faces: [&[u32]; 9] = [
            &[0, 2, 1],
            &[0, 1, 3],
            &[1, 2, 3],
            &[2, 0, 3],
            &[4, 7, 6, 5],
            &[4, 5, 8],
            &[5, 6, 8],
            &[6, 7, 8],
            &[7, 4, 8],
        ];
        let mut offsets = vec![0];
        offsets.extend(faces.iter().scan(0, |sum, face| {
            *sum += face.len() as u32;
            Some(*sum)
        }));
        Model {
            names: vec!["tetrahedron".into(), "</script>".into()],
            kinds: vec![Kind::Free, Kind::Driven],
            ids: vec![3, 9],
            first_vertex: vec![0, 4, 9],
            vertices: vec![[0.0; 3]; 9],
            first_face: vec![0, 4, 9],
            face_offsets: offsets,
            face_vertices: faces.concat(),
            ..Model::default()
        }
    }

    #[test]
    fn faces_become_triangles_and_every_edge_occurs_once() {
        let model = read(&super::model(&two_bodies()));
        assert_eq!(model.header["names"][1], "</script>");
        assert_eq!(model.u8("kind"), [0, 2]);
        // A square is two triangles; a tetrahedron has 6 edges, a pyramid 8.
        assert_eq!(model.u32("first_triangle"), [0, 4, 4 + 6]);
        assert_eq!(model.u32("first_edge"), [0, 6, 6 + 8]);
        let edges = model.u32("edge");
        let pairs: HashSet<&[u32]> = edges.chunks(2).collect();
        assert!(pairs.len() == 14 && pairs.iter().all(|pair| pair[0] < pair[1]));
        let triangles = model.u32("triangle");
        assert!(triangles[..12].iter().all(|v| *v < 4) && triangles[12..].iter().all(|v| *v >= 4));
    }

    #[test]
    fn models_that_contradict_themselves_are_packed_without_a_panic() {
        let good = two_bodies();
        let damaged = [
            Model::default(),
            Model { face_offsets: vec![], ..good.clone() },
            Model { face_offsets: vec![9, 3, 1, 0], ..good.clone() },
            Model { face_offsets: vec![0, 4_000_000_000], ..good.clone() },
            Model { face_vertices: vec![], ..good.clone() },
            Model { first_face: vec![7, 2, 0], ..good.clone() },
            Model { first_face: vec![0, 100], ..good.clone() },
            Model { names: vec![], ids: vec![], kinds: vec![], ..good.clone() },
            Model { face_offsets: vec![0, 1, 3, 3, 4], ..good },
        ];
        for (k, model) in damaged.iter().enumerate() {
            let packed = read(&super::model(model));
            let triangles = packed.u32("triangle").len() / 3;
            assert_eq!(packed.u32("first_triangle").last(), Some(&(triangles as u32)), "{k}");
        }
    }

    #[test]
    fn mechanisms_name_the_world_with_minus_one() {
        let joint = JointInfo {
            name: "hinge".into(),
            kind: "revolute".into(),
            parent: None,
            child: Some(1),
            ..JointInfo::default()
        };
        let closure = LoopInfo { name: "bolt".into(), a: Some(0), b: None, ..LoopInfo::default() };
        let mechanism = MechanismInfo {
            name: "arm".into(),
            bodies: vec![0, 1],
            joints: vec![joint],
            loops: vec![closure],
        };
        let outline = vec![[0.0, 0.5]];
        let flexible = vec![FlexibleInfo { name: "beam".into(), first: 1, nodes: 4, outline }];
        let model = Model { mechanisms: vec![mechanism], flexible, ..two_bodies() };
        let header = read(&super::model(&model)).header;
        let arm = &header["mechanisms"][0];
        assert_eq!(
            (&arm["joints"][0]["parent"], &arm["joints"][0]["child"]),
            (&json!(-1), &json!(1))
        );
        assert_eq!((&arm["loops"][0]["a"], &arm["loops"][0]["b"]), (&json!(0), &json!(-1)));
        assert_eq!(
            header["flexible"][0],
            json!({ "name": "beam", "first": 1, "nodes": 4, "outline": [[0.0, 0.5]] })
        );
    }

    #[test]
    fn ropes_are_one_list_of_points_with_the_start_of_each() {
        let rope = |n: usize, tension: f32| Rope {
            points: vec![[n as f32; 3]; n],
            tension,
            ..Rope::default()
        };
        let poses = Poses {
            time: 0.25,
            ropes: vec![rope(2, 5.0), rope(0, 0.0), rope(3, -1.0)],
            ..Poses::default()
        };
        let packed = read(&frame(&poses));
        assert_eq!(packed.u32("first_rope_point"), [0, 2, 2, 5]);
        assert_eq!(
            (packed.f32("rope_point").len(), packed.f32("tension")),
            (15, vec![5.0, 0.0, -1.0])
        );
        let without = read(&frame(&Poses::default()));
        assert!(without.header["arrays"].get("tension").is_none());
    }

    #[test]
    fn a_history_has_the_rows_of_one_body_and_the_normal_forces_on_it() {
        let contacts = ContactSet {
            force: vec![[0.0, 3.0, 4.0], [2.0, 0.0, 0.0], [9.0, 9.0, 9.0]],
            normal: vec![[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
            bodies: vec![[1, 0], [7, 1], [0, 7]],
            ..ContactSet::default()
        };
        let poses = |time: f64, n: usize| Poses {
            time,
            position: vec![[1.0, 2.0, time]; n],
            ..Poses::default()
        };
        let mut history = History::default();
        history.add(1, &poses(0.5, 2), &contacts);
        // In a frame with fewer bodies there is nothing to add.
        history.add(1, &poses(1.0, 1), &contacts);
        history.add(1, &poses(1.5, 2), &ContactSet::default());
        let packed = read(&history.finish());
        assert_eq!(packed.f64("time"), [0.5, 1.5]);
        assert_eq!(packed.f32("position"), [1.0, 2.0, 0.5, 1.0, 2.0, 1.5]);
        assert_eq!(packed.f32("force"), [6.0, 0.0]);
        assert_eq!(packed.f32("velocity"), [0.0; 6]);
    }

    #[test]
    fn values_that_are_not_numbers_arrive_as_they_are() {
        let position = vec![[f64::NAN, f64::INFINITY, 1e300]];
        let packed = read(&frame(&Poses { time: f64::NAN, position, ..Poses::default() }));
        let found = packed.f32("position");
        assert!(found[0].is_nan() && found[1] == f32::INFINITY && found[2] == f32::INFINITY);
        // JSON has no such number.
        assert!(packed.header["time"].is_null());
    }
}
