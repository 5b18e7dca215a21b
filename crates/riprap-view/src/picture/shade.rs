//! Shading: directional and ambient light, and transparent walls.

use std::f32::consts::TAU;

use glam::{Vec2, Vec3A};
use obvhs::ray::Ray;
use rayon::prelude::*;

use super::camera::{Camera, Lens};
use super::colour::{byte, hashed, hex, linear};
use super::geometry::{Hit, Tree};
use super::{Image, Look, Model3d, Style, Surface, Theme, smooth};

/// Light from the sun and from the sky, arriving at a surface that faces it.
const SUN: Vec3A = Vec3A::new(0.95, 0.92, 0.85);
const SKY: Vec3A = Vec3A::new(0.43, 0.45, 0.49);
/// Light from below, as a part of that from the sky.
const BELOW: f32 = 0.45;
/// Apparent radius of the sun: the tangent of its angle. Much larger than in nature, for soft shadows.
const SOFTNESS: f32 = 0.11;
/// Part of the light that glass walls take, and their lines.
const GLASS: f32 = 0.05;
const GLASS_LINE: f32 = 0.45;
/// Faces of ghosts that a ray sees; those behind are clear.
const GHOSTS: u32 = 5;
/// Half the width of lines [px].
const LINE: f32 = 0.55;
/// Rows that a thread draws at once.
const ROWS: usize = 4;

/// Everything that is needed to draw pixels.
pub(super) struct Studio<'a> {
    model: &'a Model3d,
    style: &'a Style,
    lens: Lens,
    solids: Tree,
    walls: Tree,
    /// Linear colours of the bodies.
    paint: Vec<Vec3A>,
    up: Vec3A,
    /// Direction to the sun, and two unit vectors across it.
    sun: [Vec3A; 3],
    /// Centre and size of the solid bodies [m].
    centre: Vec3A,
    reach: f32,
    backdrop: [Vec3A; 2],
    ink: Vec3A,
    /// Whether each body, if it is a wall, hides solid bodies from the camera.
    hides: Vec<bool>,
}

/// What a ray from the camera sees, or the mean over the samples of a pixel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Light that arrives at the camera.
    pub colour: Vec3A,
    /// The same if all surfaces were in full light.
    pub paint: Vec3A,
    /// The first opaque surface; zero for the background.
    pub point: Vec3A,
    pub normal: Vec3A,
    /// Size of a pixel there [m].
    pub pixel: f32,
}

impl Seen {
    /// A surface of a colour with light on it.
    fn new(paint: Vec3A, light: Vec3A, spot: &Spot, pixel: f32) -> Seen {
        Seen { colour: paint * light, paint, point: spot.point, normal: spot.normal, pixel }
    }

    /// Seen through glass that adds a colour and lets a part of the light through.
    fn behind(self, colour: Vec3A, clear: f32) -> Seen {
        let through = |light: Vec3A| colour + clear * light;
        Seen { colour: through(self.colour), paint: through(self.paint), ..self }
    }

    fn with_line(self, ink: Vec3A, part: f32) -> Seen {
        Seen { colour: self.colour.lerp(ink, part), paint: self.paint.lerp(ink, part), ..self }
    }
}

/// A point of a surface as seen by the camera.
struct Spot {
    point: Vec3A,
    normal: Vec3A,
    /// Offset at which rays leave the surface, against hitting it again [m].
    lift: f32,
}

impl<'a> Studio<'a> {
    pub fn new(model: &'a Model3d, camera: &Camera, style: &'a Style) -> Studio<'a> {
        let lens = Lens::new(camera, model.origin, style.size);
        let shown =
            || model.bodies.iter().filter(|look| look.is_solid() || model.solids.is_empty());
        let count = shown().count().max(1) as f32;
        let centre = shown().map(|look| look.centre).sum::<Vec3A>() / count;
        let reach = model.reach().map_or(1.0, |reach| reach.max(1e-9));
        let up = Vec3A::from(model.up.map(|x| x as f32));
        let backdrop = match style.theme {
            Theme::Light => [hex(0xdfe3e8), hex(0xf6f7f8)],
            Theme::Dark => [hex(0x15181c), hex(0x2b3036)],
        };
        let walls = Tree::new(&model.walls);
        Studio {
            model,
            style,
            hides: hides(model, &walls, &lens),
            solids: Tree::new(&model.solids),
            walls,
            paint: model.bodies.iter().map(|look| light(look.colour)).collect(),
            sun: sun(&lens, up),
            lens,
            up,
            centre,
            reach,
            backdrop: backdrop.map(light),
            ink: light(hex(0x1c1f24)),
        }
    }

    /// All pixels.
    pub fn image(&self) -> Image {
        let [width, height] = self.style.size;
        let mut seen = vec![Seen::default(); width * height];
        seen.par_chunks_mut(width * ROWS).enumerate().for_each(|(part, rows)| {
            let mut hits = Vec::new();
            for (k, pixel) in rows.iter_mut().enumerate() {
                *pixel = self.pixel(k % width, part * ROWS + k / width, &mut hits);
            }
        });
        let mut pixels = vec![0; 3 * width * height];
        pixels.par_chunks_mut(3 * width).enumerate().for_each(|(y, row)| {
            for (x, pixel) in row.chunks_exact_mut(3).enumerate() {
                pixel.copy_from_slice(&smooth::colour(&seen, [width, height], [x, y]).map(byte));
            }
        });
        Image { width, height, pixels }
    }

    /// Mean of the samples of a pixel, which are spread evenly; each has its own direction to the sun and the sky.
    fn pixel(&self, x: usize, y: usize, hits: &mut Vec<Hit>) -> Seen {
        let [width, height] = self.style.size;
        let seed = hashed(x as u32 ^ hashed(y as u32));
        let samples = self.style.samples.max(1);
        let mut mean = Seen::default();
        let part = 1.0 / samples as f32;
        for k in 0..samples {
            let place = spread(k, Vec2::splat(0.5));
            let u = 2.0 * (x as f32 + place.x) / width as f32 - 1.0;
            let v = 1.0 - 2.0 * (y as f32 + place.y) / height as f32;
            let seen = self.seen(self.lens.ray(u, v), v, k, seed, hits);
            mean.colour += part * seen.colour.min(Vec3A::splat(1.2));
            mean.paint += part * seen.paint;
            mean.point += part * seen.point;
            mean.normal += part * seen.normal;
            mean.pixel += part * seen.pixel;
        }
        mean
    }

    /// Light that comes along a ray from the camera.
    fn seen(&self, mut ray: Ray, v: f32, sample: usize, seed: u32, hits: &mut Vec<Hit>) -> Seen {
        let solid = self.solids.nearest(ray);
        ray.tmax = solid.map_or(f32::INFINITY, |hit| hit.t);
        let mut clear = 1.0;
        let mut colour = Vec3A::ZERO;
        let surface = |tree: &Tree, hit: Hit, spot: &Spot, line: f32| {
            let light = self.light_at(spot, sample, seed, false);
            let paint = self.paint[tree.body(hit.primitive)];
            Seen::new(paint, light, spot, self.lens.pixel_at(hit.t)).with_line(self.ink, line)
        };
        let mut ghosts = 0;
        self.walls.all(ray, hits);
        for hit in hits.iter() {
            let (spot, line) = self.spot(&self.walls, &ray, *hit);
            let look = &self.model.bodies[self.walls.body(hit.primitive)];
            let ghost = look.surface == Surface::Ghost;
            let hides = self.hides[self.walls.body(hit.primitive)];
            let glass = ghost || (hides && self.in_the_way(&spot));
            if !glass {
                return surface(&self.walls, *hit, &spot, 0.35 * line).behind(colour, clear);
            }
            ghosts += u32::from(ghost);
            let line = if ghost { 0.25 * line } else { line };
            if ghosts > GHOSTS {
                continue;
            }
            let glass = if ghost { 1.6 * GLASS } else { GLASS };
            let part = clear * (glass + line * (GLASS_LINE - glass));
            let paint = self.paint[self.walls.body(hit.primitive)];
            colour += part * (0.8 * paint).lerp(self.ink, 0.6 * line);
            clear -= part;
        }
        let seen = match solid {
            Some(hit) => {
                let (spot, line) = self.spot(&self.solids, &ray, hit);
                surface(&self.solids, hit, &spot, 0.55 * line)
            }
            None => self.background(&ray, v, sample, seed),
        };
        seen.behind(colour, clear)
    }

    /// The point where a ray meets a surface, with its normal towards the camera, and how much of a line is seen there.
    fn spot(&self, tree: &Tree, ray: &Ray, hit: Hit) -> (Spot, f32) {
        let primitive = tree.primitive(hit.primitive);
        let point = ray.origin + hit.t * ray.direction;
        let normal = primitive.normal(point);
        let normal = if normal.dot(ray.direction) > 0.0 { -normal } else { normal };
        let lift = 1e-4 * self.reach.min(self.lens.pixel_at(hit.t) * 50.0) + 2e-6 * hit.t;
        let mut line = 0.0;
        if self.style.edges {
            let pixel = self.lens.pixel_at(hit.t);
            if primitive.distance_to_edge(point) < LINE * pixel {
                // Lines fade on bodies of few pixels.
                let size = self.model.bodies[tree.body(hit.primitive)].radius / pixel;
                line = ((size - 5.0) / 25.0).clamp(0.0, 1.0);
            }
        }
        (Spot { point, normal, lift }, line)
    }

    /// Whether a face of a wall lies between the camera and the solid bodies: they are on different sides of its plane.
    fn in_the_way(&self, spot: &Spot) -> bool {
        let inner = (self.centre - spot.point).dot(spot.normal);
        let outer = self.lens.towards(spot.point).dot(spot.normal);
        // In planar scenes all faces are in the plane of the bodies.
        inner * outer < 0.0 && inner.abs() > 1e-3 * self.reach
    }

    /// Light that arrives at a surface, from one direction of the sun and one of the sky; for a white surface in full light about 1.
    fn light_at(&self, spot: &Spot, sample: usize, seed: u32, below_walls: bool) -> Vec3A {
        let origin = spot.point + spot.lift * spot.normal;
        let blocked = |direction: Vec3A, far: f32| {
            let ray = Ray::new(origin, direction, 0.0, far);
            self.solids.blocks(ray) || (below_walls && self.walls.blocks(ray))
        };
        let disc = on_disc(spread(sample, rotation(seed, 0)));
        let [sun, across, along] = self.sun;
        let direction = (sun + SOFTNESS * (disc.x * across + disc.y * along)).normalize();
        let facing = direction.dot(spot.normal);
        let sun = match facing > 0.0 && !blocked(direction, f32::INFINITY) {
            true => facing * SUN,
            false => Vec3A::ZERO,
        };
        let direction = around(spot.normal, on_disc(spread(sample, rotation(seed, 1))));
        let sky = match blocked(direction, 0.5 * self.reach) {
            // Light that other surfaces reflect.
            true => 0.22 * SKY,
            false => {
                let height = 0.5 + 0.5 * direction.dot(self.up);
                (BELOW + (1.0 - BELOW) * height) * SKY * 1.25
            }
        };
        sun + sky
    }

    /// The background, darkened by shadows where a ray meets the ground.
    fn background(&self, ray: &Ray, v: f32, sample: usize, seed: u32) -> Seen {
        let paint = self.backdrop[0].lerp(self.backdrop[1], 0.5 - 0.5 * v);
        let plain = Seen { colour: paint, paint, ..Seen::default() };
        let Some(ground) = self.model.ground else { return plain };
        let fall = ray.direction.dot(self.up);
        let t = (ground - ray.origin.dot(self.up)) / fall;
        if !(fall < -1e-4 && t > 0.0) {
            return plain;
        }
        let point = ray.origin + t * ray.direction;
        // Shadows fade far from the bodies.
        let aside = point - self.centre;
        let away = (aside - aside.dot(self.up) * self.up).length() / self.reach;
        let part = (3.0 - away).clamp(0.0, 1.0);
        if part == 0.0 {
            return plain;
        }
        let spot = Spot { point, normal: self.up, lift: 1e-4 * self.reach };
        let full = self.sun[0].dot(self.up).max(0.0) * SUN + 1.05 * SKY;
        let light = self.light_at(&spot, sample, seed, true) / full;
        let shade = 1.0 - 0.75 * part * (1.0 - light);
        Seen::new(paint, shade, &spot, self.lens.pixel_at(t))
    }
}

/// Solid bodies that are tried to find out which walls hide them, and the part that a wall must hide to be drawn as glass.
const TRIED: usize = 400;
const HIDDEN: f32 = 0.02;

/// Whether each body hides solid bodies: whether it is on the way from the camera to the centres of some of them.
fn hides(model: &Model3d, walls: &Tree, lens: &Lens) -> Vec<bool> {
    let solids: Vec<&Look> = model.bodies.iter().filter(|look| look.is_solid()).collect();
    let tried = solids.iter().step_by(solids.len().div_ceil(TRIED).max(1));
    let mut counts = vec![0; model.bodies.len()];
    let mut hits = Vec::new();
    for look in tried.clone() {
        walls.all(lens.ray_to(look.centre), &mut hits);
        let mut bodies: Vec<usize> = hits.iter().map(|hit| walls.body(hit.primitive)).collect();
        bodies.sort_unstable();
        bodies.dedup();
        bodies.into_iter().for_each(|body| counts[body] += 1);
    }
    let least = (HIDDEN * tried.len() as f32).max(1.0);
    counts.into_iter().map(|count| count as f32 >= least).collect()
}

/// Linear light of a colour.
fn light(colour: super::Colour) -> Vec3A {
    Vec3A::from(colour.map(linear))
}

/// The sun stands behind the camera, high and to the left.
fn sun(lens: &Lens, up: Vec3A) -> [Vec3A; 3] {
    // From above, light comes from the upper left of the picture.
    let back = -lens.forward;
    let level = back - back.dot(up) * up;
    let (level, height) = match level.length() > 0.2 {
        true => (level.normalize(), up),
        false => (lens.above, back),
    };
    let sun = (0.45 * level - 0.55 * lens.right + 1.0 * height).normalize();
    let across = sun.any_orthonormal_vector();
    [sun, across, sun.cross(across)]
}

/// The kth point of a sequence that fills the unit square evenly (R2, Roberts 2018), moved by `from`.
fn spread(k: usize, from: Vec2) -> Vec2 {
    let k = k as f32;
    Vec2::new((from.x + 0.754_877_7 * k).fract(), (from.y + 0.569_840_3 * k).fract())
}

/// Where the sequence of a pixel begins.
fn rotation(seed: u32, part: u32) -> Vec2 {
    let bits = hashed(seed ^ (part + 1).wrapping_mul(0x2545_f491));
    Vec2::new((bits & 0xffff) as f32 / 65536.0, (bits >> 16) as f32 / 65536.0)
}

/// A point of the unit disc for one of the unit square.
fn on_disc(square: Vec2) -> Vec2 {
    let (sine, cosine) = (TAU * square.x).sin_cos();
    square.y.sqrt() * Vec2::new(cosine, sine)
}

/// The direction over a surface above a point of the unit disc around its normal.
fn around(normal: Vec3A, disc: Vec2) -> Vec3A {
    let across = normal.any_orthonormal_vector();
    let height = (1.0 - disc.length_squared()).max(1e-4).sqrt();
    (disc.x * across + disc.y * normal.cross(across) + height * normal).normalize_or(normal)
}
