//! Models of the frames of a run: which bodies are drawn, and in which colours.

use std::collections::{HashMap, HashSet};

use glam::{DVec3, Quat, Vec3};
use riprap_io::run_file::{ContactSet, FlexibleInfo, Kind, Model, Poses};

use super::colour::{WALL, category, hex, machine, varied};
use super::{Colour, ColourMap, Legend, Model3d, Placement, Surface};
use crate::series::matches;

/// What the colours of stones show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColourBy {
    /// Nothing: stones are stone-coloured, with slight differences from one to the next.
    #[default]
    Nothing,
    /// Material.
    Material,
    /// Speed of the centre of mass [m/s].
    Speed,
    /// Sum of the normal contact forces on the body [N].
    Force,
    /// Distance from the position in the first frame [m].
    Displacement,
    /// Size [m].
    Size,
    /// Number of bodies that it touches.
    Coordination,
}

impl ColourBy {
    /// Quantity and unit; `None` if colours are not a scale.
    pub fn title(self) -> Option<&'static str> {
        match self {
            ColourBy::Nothing | ColourBy::Material => None,
            ColourBy::Speed => Some("speed [m/s]"),
            ColourBy::Force => Some("normal force [N]"),
            ColourBy::Displacement => Some("displacement [m]"),
            ColourBy::Size => Some("size [m]"),
            ColourBy::Coordination => Some("touching bodies [–]"),
        }
    }
}

/// A half-space that is left out of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// Coordinate: 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Whether larger values are left out, not smaller ones.
    pub above: bool,
    /// Position of the plane [m].
    pub at: f64,
}

impl Cut {
    /// Parses `x>0.1` or `z<0`.
    pub fn parse(text: &str) -> Result<Cut, String> {
        let wrong = || {
            format!(
                "expected an axis, `<` or `>`, and a position in metres, such as `x>0.1`, not `{text}`"
            )
        };
        let (axis, above, at) = match text.split_once('>') {
            Some((axis, at)) => (axis, true, at),
            None => text.split_once('<').map(|(axis, at)| (axis, false, at)).ok_or_else(wrong)?,
        };
        let axis =
            ["x", "y", "z"].iter().position(|name| *name == axis.trim()).ok_or_else(wrong)?;
        let at = at.trim().parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(wrong)?;
        Ok(Cut { axis, above, at })
    }

    /// How far a point is inside the half-space [m].
    fn depth(&self, point: [f64; 3]) -> f64 {
        let beyond = point[self.axis] - self.at;
        if self.above { beyond } else { -beyond }
    }
}

/// What is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// What the colours of stones show.
    pub colour_by: ColourBy,
    /// Whether forces are drawn as tubes between the centres of bodies, which are then transparent.
    pub chains: bool,
    /// Bodies that are not drawn: names, with `*` for any letters; `walls` are all fixed bodies.
    pub hide: Vec<String>,
    /// A half-space that is left out: stones with their centre in it, and what other bodies have in it.
    pub cut: Option<Cut>,
}

/// A frame of a run.
#[derive(Clone, Copy, Debug)]
pub struct FrameData<'a> {
    /// The bodies.
    pub model: &'a Model,
    /// Their poses.
    pub poses: &'a Poses,
    /// The contacts, if they were written.
    pub contacts: Option<&'a ContactSet>,
    /// Bodies and poses of the first frame, for displacements.
    pub first: Option<(&'a Model, &'a Poses)>,
}

impl FrameData<'_> {
    /// Number of bodies that are in all lists; more than this is not read, so a damaged file cannot cause a panic.
    fn n_bodies(&self) -> usize {
        let (model, poses) = (self.model, self.poses);
        let lists = [
            model.kinds.len(),
            model.names.len(),
            model.radius.len(),
            model.unbounded.len(),
            model.first_vertex.len().saturating_sub(1),
            model.first_face.len().saturating_sub(1),
            poses.position.len(),
            poses.rotation.len(),
        ];
        lists.into_iter().min().unwrap_or(0)
    }

    fn placement(&self, body: usize) -> Placement {
        Placement { position: self.poses.position[body], rotation: self.poses.rotation[body] }
    }

    /// Direction that is up.
    pub fn up(&self) -> [f64; 3] {
        self.model.up()
    }

    /// Whether the colours of a body show the quantity: stones, or all that moves if there are no stones.
    fn is_measured(&self, body: usize) -> bool {
        let stones = self.model.kinds.contains(&Kind::Free);
        match self.model.kinds[body] {
            Kind::Free => true,
            Kind::Fixed => false,
            Kind::Driven | Kind::Mechanism | Kind::Node => !stones,
        }
    }

    /// The quantity of each body.
    pub fn values(&self, by: ColourBy) -> Vec<f64> {
        let n = self.n_bodies();
        match by {
            ColourBy::Nothing | ColourBy::Material => vec![0.0; n],
            ColourBy::Speed => {
                let speed = |v: &[f32; 3]| f64::from(Vec3::from(*v).length());
                padded(self.poses.velocity.iter().map(speed), n)
            }
            ColourBy::Size => padded(self.model.size.iter().map(|s| f64::from(*s)), n),
            ColourBy::Force => self.loads(n),
            ColourBy::Coordination => self.neighbours(n),
            ColourBy::Displacement => self.displacements(n),
        }
    }

    fn loads(&self, n: usize) -> Vec<f64> {
        let mut sums = vec![0.0; n];
        for (bodies, force) in self.normal_forces() {
            for body in bodies {
                if let Some(sum) = sums.get_mut(body) {
                    *sum += force;
                }
            }
        }
        sums
    }

    fn neighbours(&self, n: usize) -> Vec<f64> {
        let mut touching = vec![HashSet::new(); n];
        for ([a, b], force) in self.normal_forces() {
            if force > 0.0 && a < n && b < n {
                touching[a].insert(b);
                touching[b].insert(a);
            }
        }
        touching.iter().map(|others| others.len() as f64).collect()
    }

    fn displacements(&self, n: usize) -> Vec<f64> {
        let Some((model, poses)) = self.first else { return vec![0.0; n] };
        let begin: HashMap<&u32, &[f64; 3]> = model.ids.iter().zip(&poses.position).collect();
        let moved = self.model.ids.iter().zip(&self.poses.position).map(|(id, now)| {
            begin.get(id).map_or(0.0, |then| DVec3::from(*now).distance(DVec3::from(**then)))
        });
        padded(moved, n)
    }

    /// The two bodies of each contact and its normal force [N].
    fn normal_forces(&self) -> impl Iterator<Item = ([usize; 2], f64)> {
        let forces = self.contacts.into_iter().flat_map(|set| set.normal_forces());
        forces.map(|(bodies, force)| (bodies.map(|b| b as usize), f64::from(force)))
    }

    /// Range of the quantity over the bodies that show it; the largest one in a hundred do not count. `None` without a scale.
    pub fn range(&self, by: ColourBy) -> Option<[f64; 2]> {
        by.title()?;
        let measured = |(body, _): &(usize, f64)| self.is_measured(*body);
        let values = self.values(by).into_iter().enumerate().filter(measured).map(|(_, v)| v);
        let mut values: Vec<f64> = values.filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let high = *values.get((values.len().saturating_sub(1) * 99).div_ceil(100))?;
        let low = if by == ColourBy::Size { values[0] } else { 0.0 };
        Some([low, high])
    }
}

fn padded(values: impl Iterator<Item = f64>, n: usize) -> Vec<f64> {
    let mut values: Vec<f64> = values.take(n).collect();
    values.resize(n, 0.0);
    values
}

/// A model with its colour bars.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// Bodies, ropes and chains.
    pub model: Model3d,
    /// Meaning of the colours.
    pub legends: Vec<Legend>,
}

/// Colour of ropes.
const ROPE: Colour = hex(0x3a3f46);

/// The model of a frame; `range` is that of the colours, by default [`FrameData::range`].
pub fn draw(frame: FrameData, choice: &Choice, range: Option<[f64; 2]>) -> Drawing {
    let n = frame.n_bodies();
    let up = if frame.model.planar { [0.0, 0.0, 1.0] } else { frame.up() };
    let stones = stones(&frame, n);
    let mut model = Model3d::new(middle(&stones), up);
    let mut legends = Vec::new();
    let range = range.or_else(|| frame.range(choice.colour_by));
    if let (Some(title), Some(range)) = (choice.colour_by.title(), range) {
        let range = if range[1] > range[0] { range } else { [range[0], range[0] + 1.0] };
        legends.push(Legend { title: title.into(), range, map: ColourMap::Sequential });
    }
    let values = frame.values(choice.colour_by);
    for body in 0..n {
        if is_hidden(&frame, body, choice) {
            continue;
        }
        let colour = match legends.first().filter(|_| frame.is_measured(body)) {
            Some(Legend { range: [low, high], map, .. }) => {
                map.at((values[body] - low) / (high - low))
            }
            None => colour(&frame, body, choice.colour_by),
        };
        add_body(&mut model, &frame, body, colour, choice, &stones);
    }
    for (k, flexible) in frame.model.flexible.iter().enumerate() {
        add_flexible(&mut model, &frame, flexible, machine(k));
    }
    let size = typical_size(&frame);
    for rope in &frame.poses.ropes {
        for ends in rope.points.windows(2) {
            let [begin, end] = [ends[0], ends[1]].map(|p| p.map(f64::from));
            model.add_tube(begin, end, 0.12 * size, ROPE);
        }
    }
    if choice.chains {
        legends.extend(add_chains(&mut model, &frame, choice, size));
    }
    let floor = floor(&frame, n);
    if let Some(height) = floor.or_else(|| model.lowest()) {
        let below = if frame.model.planar { 0.4 * f64::from(size) } else { 0.0 };
        model.set_ground(height - below);
    }
    Drawing { model, legends }
}

/// Centres of the stones [m], or of all bodies if there are none.
fn stones(frame: &FrameData, n: usize) -> Vec<DVec3> {
    let centre = |body: usize| DVec3::from(frame.poses.position[body]);
    let of = |kind: fn(&Kind) -> bool| -> Vec<DVec3> {
        let bodies = (0..n).filter(|b| kind(&frame.model.kinds[*b]) && !frame.model.unbounded[*b]);
        bodies.map(centre).filter(|p| p.is_finite()).collect()
    };
    let free = of(|kind| *kind == Kind::Free);
    if free.is_empty() { of(|_| true) } else { free }
}

fn middle(points: &[DVec3]) -> [f64; 3] {
    (points.iter().sum::<DVec3>() / points.len().max(1) as f64).into()
}

/// Median size of the stones, or 3 % of the extent of all bodies [m].
fn typical_size(frame: &FrameData) -> f32 {
    let kinds = frame.model.kinds.iter().zip(&frame.model.size);
    let mut sizes: Vec<f32> = kinds
        .filter(|(kind, size)| **kind == Kind::Free && **size > 0.0)
        .map(|(_, s)| *s)
        .collect();
    if !sizes.is_empty() {
        sizes.sort_by(f32::total_cmp);
        return sizes[sizes.len() / 2];
    }
    let points = frame.poses.position.iter().map(|p| DVec3::from(*p)).filter(|p| p.is_finite());
    let (low, high) =
        points.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(a, b), p| (a.min(p), b.max(p)));
    let extent = low.distance(high) as f32;
    if extent.is_finite() && extent > 0.0 { 0.03 * extent } else { 0.03 }
}

fn is_hidden(frame: &FrameData, body: usize, choice: &Choice) -> bool {
    let model = frame.model;
    let wall = model.kinds[body] == Kind::Fixed;
    let named =
        |pattern: &String| (pattern == "walls" && wall) || matches(pattern, &model.names[body]);
    let centre = frame.poses.position[body];
    let cut = choice.cut.is_some_and(|cut| cut.depth(centre) > 0.0);
    choice.hide.iter().any(named) || (cut && model.kinds[body] == Kind::Free)
}

/// The colour of a body that does not show a quantity.
fn colour(frame: &FrameData, body: usize, by: ColourBy) -> Colour {
    let model = frame.model;
    let material = model.material.get(body).map_or(0, |m| *m as usize);
    match model.kinds[body] {
        _ if by == ColourBy::Material => category(material),
        Kind::Fixed => WALL,
        Kind::Free => varied(category(0), model.ids.get(body).copied().unwrap_or(body as u32)),
        Kind::Driven | Kind::Mechanism | Kind::Node => {
            let before = model.kinds[..body].iter();
            machine(before.filter(|k| matches!(k, Kind::Driven | Kind::Mechanism)).count())
        }
    }
}

fn add_body(
    model: &mut Model3d,
    frame: &FrameData,
    body: usize,
    colour: Colour,
    choice: &Choice,
    stones: &[DVec3],
) {
    let data = frame.model;
    let surface = match data.kinds[body] {
        Kind::Free if choice.chains => Surface::Ghost,
        Kind::Free => Surface::Solid,
        _ if data.unbounded[body] => Surface::Patch,
        Kind::Fixed => Surface::Wall,
        _ if contains_most(frame, body, stones) => Surface::Wall,
        _ => Surface::Solid,
    };
    if data.radius[body] > 0.0 {
        model.add_sphere(frame.poses.position[body], data.radius[body], colour, surface);
        return;
    }
    let at = frame.placement(body);
    if ground(frame, body).is_some() {
        return;
    }
    let (vertices, faces) = mesh(data, body);
    match choice.cut.filter(|_| data.kinds[body] != Kind::Free) {
        None => model.add_mesh(vertices, faces.iter().map(Vec::as_slice), at, colour, surface),
        Some(cut) => {
            let (vertices, faces) = clipped(vertices, &faces, at, cut);
            model.add_mesh(&vertices, faces.iter().map(Vec::as_slice), at, colour, surface);
        }
    }
}

/// Vertices of a body, and its faces with indices into these.
fn mesh(data: &Model, body: usize) -> (&[[f32; 3]], Vec<Vec<u32>>) {
    let range = |list: &[u32]| list[body] as usize..list[body + 1] as usize;
    let (points, faces) = (range(&data.first_vertex), range(&data.first_face));
    let first = data.first_vertex[body];
    let face = |f: usize| {
        let ends = data.face_offsets.get(f).zip(data.face_offsets.get(f + 1))?;
        let corners = data.face_vertices.get(*ends.0 as usize..*ends.1 as usize)?;
        corners.iter().map(|v| v.checked_sub(first)).collect()
    };
    (data.vertices.get(points).unwrap_or(&[]), faces.filter_map(face).collect())
}

/// The part of a mesh outside of a half-space of the world.
fn clipped(
    vertices: &[[f32; 3]],
    faces: &[Vec<u32>],
    at: Placement,
    cut: Cut,
) -> (Vec<[f32; 3]>, Vec<Vec<u32>>) {
    let turn = Quat::from_array(at.rotation);
    let depth = |v: &[f32; 3]| {
        cut.depth((DVec3::from(at.position) + (turn * Vec3::from(*v)).as_dvec3()).into()) as f32
    };
    let mut points = vertices.to_vec();
    let mut kept = Vec::new();
    for face in faces {
        let corners: Vec<[f32; 3]> =
            face.iter().filter_map(|k| vertices.get(*k as usize)).copied().collect();
        let mut outline = Vec::new();
        for (k, a) in corners.iter().enumerate() {
            let b = &corners[(k + 1) % corners.len()];
            let (from, to) = (depth(a), depth(b));
            if from <= 0.0 {
                outline.push(*a);
            }
            if (from < 0.0) != (to < 0.0) && from != to {
                outline.push(Vec3::from(*a).lerp(Vec3::from(*b), from / (from - to)).into());
            }
        }
        let first = points.len() as u32;
        kept.push((first..first + outline.len() as u32).collect());
        points.extend(outline);
    }
    (points, kept)
}

/// Whether a body that moves is a container: most stones are inside the box around it.
fn contains_most(frame: &FrameData, body: usize, stones: &[DVec3]) -> bool {
    if !frame.model.kinds.contains(&Kind::Free) {
        return false;
    }
    let Placement { position, rotation } = frame.placement(body);
    let back = Quat::from_array(rotation).conjugate();
    let (vertices, _) = mesh(frame.model, body);
    let (low, high) = vertices
        .iter()
        .map(|v| Vec3::from(*v))
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), p| (a.min(p), b.max(p)));
    let inside = |p: &&DVec3| {
        let local = back * (**p - DVec3::from(position)).as_vec3();
        local.cmpge(low).all() && local.cmple(high).all()
    };
    2 * stones.iter().filter(inside).count() > stones.len()
}

/// A point and the unit normal of the first face of a body.
fn plane(frame: &FrameData, body: usize) -> Option<[DVec3; 2]> {
    let (vertices, faces) = mesh(frame.model, body);
    let turn = Quat::from_array(frame.poses.rotation[body]);
    let corner = |k: usize| {
        let index = *faces.first()?.get(k)? as usize;
        let offset = turn * Vec3::from(*vertices.get(index)?);
        Some(DVec3::from(frame.poses.position[body]) + offset.as_dvec3())
    };
    let [a, b, c] = [corner(0)?, corner(1)?, corner(2)?];
    Some([a, (b - a).cross(c - a).try_normalize()?])
}

/// Height of a body if it is the ground, a level half-space [m].
fn ground(frame: &FrameData, body: usize) -> Option<f64> {
    let [point, normal] = plane(frame, body)?;
    let up = DVec3::from(frame.up());
    let level = normal.dot(up) > 0.999 && frame.model.unbounded[body] && !frame.model.planar;
    level.then(|| point.dot(up))
}

/// Height on which shadows fall, if there is ground or the scene is planar [m].
fn floor(frame: &FrameData, n: usize) -> Option<f64> {
    match frame.model.planar {
        true => Some(0.0),
        false => (0..n).find_map(|body| ground(frame, body)),
    }
}

/// The surface of a flexible body: its outline at every node, joined from one to the next and closed at both ends.
fn add_flexible(model: &mut Model3d, frame: &FrameData, info: &FlexibleInfo, colour: Colour) {
    let nodes = info.first as usize..info.first as usize + info.nodes as usize;
    let corners = info.outline.len() as u32;
    if nodes.end > frame.n_bodies() || corners < 2 || nodes.is_empty() {
        return;
    }
    let origin = frame.poses.position[nodes.start];
    let mut vertices = Vec::new();
    for node in nodes.clone() {
        let turn = Quat::from_array(frame.poses.rotation[node]);
        let centre = (DVec3::from(frame.poses.position[node]) - DVec3::from(origin)).as_vec3();
        let ring =
            info.outline.iter().map(|[y, z]| (centre + turn * Vec3::new(0.0, *y, *z)).to_array());
        vertices.extend(ring);
    }
    let last = (nodes.len() as u32 - 1) * corners;
    let mut faces: Vec<Vec<u32>> =
        vec![(0..corners).rev().collect(), (last..last + corners).collect()];
    for start in (0..last).step_by(corners as usize) {
        for k in 0..corners {
            let next = (k + 1) % corners;
            let (a, b) = (start + k, start + next);
            faces.push(vec![a, b, b + corners, a + corners]);
        }
    }
    let at = Placement { position: origin, rotation: [0.0, 0.0, 0.0, 1.0] };
    model.add_mesh(&vertices, faces.iter().map(Vec::as_slice), at, colour, Surface::Solid);
}

/// Whether a point can be on a body with this centre. In a periodic cell it may be on an image of the body outside of the
/// cell, to which no line is drawn.
fn touches(model: &Model, body: usize, centre: [f64; 3], point: [f64; 3]) -> bool {
    let range = model.first_vertex[body] as usize..model.first_vertex[body + 1] as usize;
    let corners = model.vertices.get(range).unwrap_or(&[]).iter();
    let reach = corners.map(|v| f64::from(Vec3::from(*v).length()));
    let reach = reach.fold(f64::from(model.radius[body]), f64::max);
    // Images are farther away than three times this length, and a frame is up to a step later than its contacts.
    DVec3::from(point).distance(DVec3::from(centre)) <= 2.0 * reach
}

/// Contacts as tubes between the centres of the bodies, or to the contact point on a body that is held; the radius shows the force.
fn add_chains(
    model: &mut Model3d,
    frame: &FrameData,
    choice: &Choice,
    size: f32,
) -> Option<Legend> {
    let contacts = frame.contacts?;
    let largest = frame.normal_forces().map(|(_, force)| force).fold(0.0, f64::max);
    if largest <= 0.0 {
        return None;
    }
    for (([a, b], force), point) in frame.normal_forces().zip(&contacts.point) {
        let part = force / largest;
        let cut = choice.cut.is_some_and(|cut| cut.depth(point.map(f64::from)) > 0.0);
        if part < 0.01 || cut {
            continue;
        }
        let point = point.map(f64::from);
        let end = |body: usize| match frame.model.kinds.get(body) {
            Some(Kind::Free) => {
                let centre = frame.poses.position.get(body).copied();
                centre.filter(|centre| touches(frame.model, body, *centre, point))
            }
            _ => None,
        };
        let radius = size * (0.02 + 0.16 * part.sqrt() as f32);
        let colour = ColourMap::Heat.at(part);
        model.add_tube(end(a).unwrap_or(point), end(b).unwrap_or(point), radius, colour);
    }
    let title = "normal force [N]".to_owned();
    Some(Legend { title, range: [0.0, largest], map: ColourMap::Heat })
}
