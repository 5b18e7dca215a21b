//! Pictures of bodies without a screen: a ray tracer with soft shadows on the processor.
//!
//! [`Model3d`] is plain geometry: meshes, spheres and tubes with colours. [`render`] draws it as a [`Camera`] sees it. Every pixel
//! uses fixed sample points, so a picture is bitwise identical on any number of threads. [`scene`] makes models of the frames of run
//! files, [`shot`] chooses camera and colours and draws them.

mod camera;
pub mod colour;
mod geometry;
mod image;
mod overlay;
pub mod scene;
mod shade;
pub mod shot;
mod smooth;
#[cfg(test)]
mod tests;

pub use camera::{Camera, Projection, View};
pub use colour::{Colour, ColourMap};
pub use image::Image;

use std::collections::HashMap;

use geometry::Primitive;
use glam::{DVec3, Quat, Vec3A};

/// How a surface is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// Opaque, with shadows.
    Solid,
    /// A wall: if it hides solid bodies from the camera, its faces on that side are drawn as glass. It does not shade solid bodies.
    Wall,
    /// A piece of an unbounded wall: as a wall, and not part of the extent of the model.
    Patch,
    /// Always glass, to show what is inside or behind.
    Ghost,
}

/// Position and orientation of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Position of its frame [m].
    pub position: [f64; 3],
    /// Unit quaternion (x, y, z, w).
    pub rotation: [f32; 4],
}

/// Things to draw.
#[derive(Clone, Debug)]
pub struct Model3d {
    /// Point to which coordinates are relative, so that 32-bit numbers suffice far from the origin [m].
    origin: [f64; 3],
    /// Direction that is up.
    up: [f64; 3],
    solids: Vec<(Primitive, u32)>,
    walls: Vec<(Primitive, u32)>,
    bodies: Vec<Look>,
    /// Height of the ground along `up`, on which shadows fall, relative to `origin` [m].
    ground: Option<f32>,
}

/// Colour and extent of a body.
#[derive(Clone, Copy, Debug)]
struct Look {
    colour: Colour,
    /// Centre and radius of a sphere around it [m].
    centre: Vec3A,
    radius: f32,
    surface: Surface,
}

impl Look {
    fn is_solid(&self) -> bool {
        self.surface == Surface::Solid
    }
}

/// Edges between faces that meet at a larger angle than this are drawn [cosine].
const SMOOTH: f32 = 0.95;

impl Model3d {
    /// A model without bodies; coordinates are stored relative to `origin` [m].
    pub fn new(origin: [f64; 3], up: [f64; 3]) -> Model3d {
        let up = DVec3::from(up).try_normalize().unwrap_or(DVec3::Z).into();
        let (solids, walls, bodies) = (Vec::new(), Vec::new(), Vec::new());
        Model3d { origin, up, solids, walls, bodies, ground: None }
    }

    /// Adds a sphere of a radius [m].
    pub fn add_sphere(&mut self, centre: [f64; 3], radius: f32, colour: Colour, surface: Surface) {
        let centre = self.local(centre);
        self.push(surface, colour, &[Primitive::Sphere { centre, radius }], centre, radius);
    }

    /// Adds a cylinder with round ends between two points [m].
    pub fn add_tube(&mut self, begin: [f64; 3], end: [f64; 3], radius: f32, colour: Colour) {
        let (begin, end) = (self.local(begin), self.local(end));
        let tube = Primitive::Tube { begin, axis: end - begin, radius };
        let reach = 0.5 * begin.distance(end) + radius;
        self.push(Surface::Solid, colour, &[tube], 0.5 * (begin + end), reach);
    }

    /// Adds a body with flat faces: the corners of each face, anticlockwise as seen from outside, are indices into `vertices`,
    /// which are in the frame of the body [m].
    pub fn add_mesh<'a>(
        &mut self,
        vertices: &[[f32; 3]],
        faces: impl Iterator<Item = &'a [u32]> + Clone,
        at: Placement,
        colour: Colour,
        surface: Surface,
    ) {
        let turn = Quat::from_array(at.rotation).normalize();
        let position = self.local(at.position);
        let points: Vec<Vec3A> =
            vertices.iter().map(|v| position + turn * Vec3A::from(*v)).collect();
        let faces = faces.filter(|face| face.iter().all(|k| (*k as usize) < points.len()));
        let drawn = creases(&points, faces.clone());
        let mut triangles = Vec::new();
        for face in faces {
            fan(&points, face, &drawn, &mut triangles);
        }
        let (low, high) = points
            .iter()
            .fold((Vec3A::INFINITY, Vec3A::NEG_INFINITY), |(a, b), p| (a.min(*p), b.max(*p)));
        let centre = 0.5 * (low + high);
        let radius = points.iter().fold(0.0_f32, |r, p| r.max(p.distance(centre)));
        self.push(surface, colour, &triangles, centre, radius);
    }

    /// Adds ground at a height along the direction that is up [m]: invisible, but shadows fall on it.
    pub fn set_ground(&mut self, height: f64) {
        self.ground = Some((height - DVec3::from(self.origin).dot(self.up.into())) as f32);
    }

    /// Height of the ground along the direction that is up [m].
    pub fn ground(&self) -> Option<f64> {
        let origin = DVec3::from(self.origin).dot(self.up.into());
        self.ground.map(|height| f64::from(height) + origin)
    }

    /// Spheres (centre, radius [m]) that enclose the corners of what a camera should show, for [`Camera::fit`]: all solid bodies,
    /// and walls that are not much larger than these together.
    pub fn extent(&self) -> Vec<([f64; 3], f64)> {
        let solids = || self.bodies.iter().filter(|look| look.is_solid());
        let (low, high) = bounds(solids());
        let limit = if low.x <= high.x { 2.5 * low.distance(high) } else { f32::INFINITY };
        let near = |(_, body): &&(Primitive, u32)| {
            let look = &self.bodies[*body as usize];
            look.surface != Surface::Patch && 2.0 * look.radius <= limit
        };
        let shown = self.solids.iter().chain(self.walls.iter().filter(near));
        let origin = DVec3::from(self.origin);
        shown
            .flat_map(|(primitive, _)| primitive.corners())
            .map(|(point, radius)| ((origin + point.as_dvec3()).into(), f64::from(radius)))
            .collect()
    }

    /// The lowest height of the bodies along the direction that is up [m].
    pub fn lowest(&self) -> Option<f64> {
        let up = DVec3::from(self.up);
        let axis = up.as_vec3a();
        let low = |(point, radius): (Vec3A, f32)| point.dot(axis) - radius;
        let heights = self.solids.iter().chain(&self.walls).flat_map(|(p, _)| p.corners()).map(low);
        let least = heights.filter(|h| h.is_finite()).fold(f32::INFINITY, f32::min);
        least.is_finite().then(|| f64::from(least) + DVec3::from(self.origin).dot(up))
    }

    /// Size of the box around the solid bodies, or around all if none is solid [m]; `None` without bodies.
    fn reach(&self) -> Option<f32> {
        let shown = self.bodies.iter().filter(|look| look.is_solid() || self.solids.is_empty());
        let (low, high) = bounds(shown);
        (low.x <= high.x).then(|| low.distance(high))
    }

    /// A factor for lengths, a power of two, that makes the model about a thousand units large: the tree overlooks
    /// surfaces that are nearer than 1e-4 to the origin of a ray.
    fn to_units(&self) -> f32 {
        let reach = self.reach().filter(|reach| reach.is_normal());
        reach.map_or(1.0, |reach| (10.0 - reach.log2().round()).exp2())
    }

    /// The same with all lengths times a factor.
    fn scaled(&self, factor: f32) -> Model3d {
        let scaled = |list: &[(Primitive, u32)]| {
            list.iter().map(|(primitive, body)| (primitive.scaled(factor), *body)).collect()
        };
        let look = |look: &Look| Look {
            centre: factor * look.centre,
            radius: factor * look.radius,
            ..*look
        };
        Model3d {
            origin: self.origin.map(|x| f64::from(factor) * x),
            up: self.up,
            solids: scaled(&self.solids),
            walls: scaled(&self.walls),
            bodies: self.bodies.iter().map(look).collect(),
            ground: self.ground.map(|height| factor * height),
        }
    }

    fn local(&self, point: [f64; 3]) -> Vec3A {
        (DVec3::from(point) - DVec3::from(self.origin)).as_vec3a()
    }

    fn push(
        &mut self,
        surface: Surface,
        colour: Colour,
        primitives: &[Primitive],
        centre: Vec3A,
        radius: f32,
    ) {
        if !(centre.is_finite() && radius.is_finite()) {
            return;
        }
        let number = self.bodies.len() as u32;
        self.bodies.push(Look { colour, centre, radius, surface });
        let list = if surface == Surface::Solid { &mut self.solids } else { &mut self.walls };
        list.extend(primitives.iter().map(|primitive| (*primitive, number)));
    }
}

/// The box around bodies [m].
fn bounds<'a>(looks: impl Iterator<Item = &'a Look>) -> (Vec3A, Vec3A) {
    looks.fold((Vec3A::INFINITY, Vec3A::NEG_INFINITY), |(low, high), look| {
        (low.min(look.centre - look.radius), high.max(look.centre + look.radius))
    })
}

/// Edges as pairs of ascending vertices, with whether they are drawn: those of one face, and those between faces that meet at an angle.
fn creases<'a>(
    points: &[Vec3A],
    faces: impl Iterator<Item = &'a [u32]>,
) -> HashMap<(u32, u32), bool> {
    let mut first = HashMap::new();
    let mut drawn = HashMap::new();
    for face in faces {
        let normal = normal(points, face);
        for (k, a) in face.iter().enumerate() {
            let b = face[(k + 1) % face.len()];
            let edge = (*a.min(&b), *a.max(&b));
            match first.get(&edge) {
                None => {
                    first.insert(edge, normal);
                    drawn.insert(edge, true);
                }
                Some(other) => {
                    drawn.insert(edge, normal.dot(*other) < SMOOTH);
                }
            }
        }
    }
    drawn
}

/// Unit normal of a polygon (Newell's method).
fn normal(points: &[Vec3A], face: &[u32]) -> Vec3A {
    let Some(corner) = face.first().map(|k| points[*k as usize]) else { return Vec3A::ZERO };
    let pairs = face.windows(2).map(|w| [points[w[0] as usize], points[w[1] as usize]]);
    pairs.map(|[a, b]| (a - corner).cross(b - corner)).sum::<Vec3A>().normalize_or_zero()
}

/// Splits a convex polygon into triangles around its first corner.
fn fan(
    points: &[Vec3A],
    face: &[u32],
    drawn: &HashMap<(u32, u32), bool>,
    triangles: &mut Vec<Primitive>,
) {
    let is_drawn = |a: u32, b: u32| drawn.get(&(a.min(b), a.max(b))).copied().unwrap_or(false);
    for k in 1..face.len().saturating_sub(1) {
        let [i, j, l] = [face[0], face[k], face[k + 1]];
        let mut edges = u8::from(is_drawn(j, l));
        edges |= u8::from(k + 2 == face.len() && is_drawn(i, l)) << 1;
        edges |= u8::from(k == 1 && is_drawn(i, j)) << 2;
        let [corner, p, q] = [i, j, l].map(|k| points[k as usize]);
        triangles.push(Primitive::Triangle { corner, a: p - corner, b: q - corner, edges });
    }
}

/// Colours of background and text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// A light background.
    #[default]
    Light,
    /// A dark background.
    Dark,
}

/// A colour bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    /// Quantity and unit, such as `speed [m/s]`.
    pub title: String,
    /// Values at both ends.
    pub range: [f64; 2],
    /// The colours.
    pub map: ColourMap,
}

/// How a picture is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// Width and height [px].
    pub size: [usize; 2],
    /// Samples per pixel.
    pub samples: usize,
    /// Colours of background and text.
    pub theme: Theme,
    /// Whether edges of faces are drawn as thin lines.
    pub edges: bool,
    /// Colour bars over the picture.
    pub legends: Vec<Legend>,
    /// Text in the upper left corner.
    pub caption: Option<String>,
}

impl Default for Style {
    fn default() -> Style {
        let theme = Theme::Light;
        let (legends, caption) = (Vec::new(), None);
        Style { size: [1280, 720], samples: 9, theme, edges: true, legends, caption }
    }
}

/// Draws a model as a camera sees it. The result does not depend on the number of threads.
pub fn render(model: &Model3d, camera: &Camera, style: &Style) -> Image {
    let factor = model.to_units();
    let (model, camera) = (model.scaled(factor), camera.scaled(f64::from(factor)));
    let mut image = shade::Studio::new(&model, &camera, style).image();
    overlay::draw(&mut image, style);
    image
}
