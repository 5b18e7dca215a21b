//! Primitives and the tree over them: triangles, spheres and round-ended cylinders, and where rays meet them.

use glam::Vec3A;
use obvhs::aabb::Aabb;
use obvhs::bvh2::reinsertion::ReinsertionOptimizer;
use obvhs::cwbvh::CwBvh;
use obvhs::cwbvh::bvh2_to_cwbvh::bvh2_to_cwbvh;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};
use obvhs::ray::{Ray, RayHit};

/// A primitive in the coordinates of the model [m].
#[derive(Clone, Copy, Debug)]
pub(super) enum Primitive {
    /// A corner, and the vectors to the other two. Bit k of `edges` says whether the edge opposite to corner k is drawn.
    Triangle {
        corner: Vec3A,
        a: Vec3A,
        b: Vec3A,
        edges: u8,
    },
    Sphere {
        centre: Vec3A,
        radius: f32,
    },
    /// A cylinder with half-spheres at its ends.
    Tube {
        begin: Vec3A,
        axis: Vec3A,
        radius: f32,
    },
}

impl Primitive {
    fn bounds(&self) -> Aabb {
        match *self {
            Primitive::Triangle { corner, a, b, .. } => {
                Aabb::from_points(&[corner, corner + a, corner + b])
            }
            Primitive::Sphere { centre, radius } => Aabb::new(centre - radius, centre + radius),
            Primitive::Tube { begin, axis, radius } => {
                let end = begin + axis;
                Aabb::new(begin.min(end) - radius, begin.max(end) + radius)
            }
        }
    }

    /// Spheres (centre, radius) whose hull contains the primitive.
    pub fn corners(&self) -> Vec<(Vec3A, f32)> {
        match *self {
            Primitive::Triangle { corner, a, b, .. } => {
                vec![(corner, 0.0), (corner + a, 0.0), (corner + b, 0.0)]
            }
            Primitive::Sphere { centre, radius } => vec![(centre, radius)],
            Primitive::Tube { begin, axis, radius } => {
                vec![(begin, radius), (begin + axis, radius)]
            }
        }
    }

    /// The same with all lengths times a factor.
    pub fn scaled(self, factor: f32) -> Primitive {
        match self {
            Primitive::Triangle { corner, a, b, edges } => {
                let [corner, a, b] = [corner, a, b].map(|v| factor * v);
                Primitive::Triangle { corner, a, b, edges }
            }
            Primitive::Sphere { centre, radius } => {
                Primitive::Sphere { centre: factor * centre, radius: factor * radius }
            }
            Primitive::Tube { begin, axis, radius } => {
                let (begin, axis) = (factor * begin, factor * axis);
                Primitive::Tube { begin, axis, radius: factor * radius }
            }
        }
    }

    pub fn is_finite(&self) -> bool {
        let bounds = self.bounds();
        bounds.min.is_finite() && bounds.max.is_finite()
    }

    /// Distance along a ray to the first point within its range; infinite if there is none.
    #[inline]
    fn distance(&self, ray: &Ray) -> f32 {
        match *self {
            Primitive::Triangle { corner, a, b, .. } => triangle(ray, corner, a, b),
            Primitive::Sphere { centre, radius } => sphere(ray, centre, radius),
            Primitive::Tube { begin, axis, radius } => tube(ray, begin, axis, radius),
        }
    }

    /// Outward unit normal at a point of the surface.
    pub fn normal(&self, point: Vec3A) -> Vec3A {
        match *self {
            Primitive::Triangle { a, b, .. } => a.cross(b).normalize_or_zero(),
            Primitive::Sphere { centre, .. } => (point - centre).normalize_or_zero(),
            Primitive::Tube { begin, axis, .. } => {
                let along = (point - begin).dot(axis) / axis.length_squared().max(1e-30);
                (point - begin - along.clamp(0.0, 1.0) * axis).normalize_or_zero()
            }
        }
    }

    /// Distance of a point of a triangle to the nearest of its drawn edges [m].
    pub fn distance_to_edge(&self, point: Vec3A) -> f32 {
        let Primitive::Triangle { corner, a, b, edges } = *self else { return f32::INFINITY };
        let of = |bit: u8, from: Vec3A, along: Vec3A| match edges & (1 << bit) {
            0 => f32::INFINITY,
            _ => (point - from).cross(along).length() / along.length().max(1e-30),
        };
        of(0, corner + a, b - a).min(of(1, corner, b)).min(of(2, corner, a))
    }
}

/// Möller and Trumbore's test; points on edges belong to the triangle.
#[inline]
fn triangle(ray: &Ray, corner: Vec3A, a: Vec3A, b: Vec3A) -> f32 {
    let p = ray.direction.cross(b);
    let scale = 1.0 / a.dot(p);
    let from = ray.origin - corner;
    let u = from.dot(p) * scale;
    let q = from.cross(a);
    let v = ray.direction.dot(q) * scale;
    let t = b.dot(q) * scale;
    let inside = u >= 0.0 && v >= 0.0 && u + v <= 1.0;
    if inside && t > ray.tmin && t < ray.tmax { t } else { f32::INFINITY }
}

/// The roots of `‖o + t d‖² = r²` within the range of the ray, with `d` of length 1.
#[inline]
fn sphere(ray: &Ray, centre: Vec3A, radius: f32) -> f32 {
    let from = ray.origin - centre;
    let half = from.dot(ray.direction);
    // Distance of the centre to the line, without cancellation for far origins.
    let off = (from - half * ray.direction).length_squared();
    let square = radius * radius - off;
    if square < 0.0 {
        return f32::INFINITY;
    }
    let root = square.sqrt();
    first(ray, [-half - root, -half + root])
}

fn tube(ray: &Ray, begin: Vec3A, axis: Vec3A, radius: f32) -> f32 {
    let length = axis.length();
    let ends = sphere(ray, begin, radius).min(sphere(ray, begin + axis, radius));
    if length <= 1e-20 {
        return ends;
    }
    // Components across the axis.
    let unit = axis / length;
    let across = |v: Vec3A| v - v.dot(unit) * unit;
    let (o, d) = (across(ray.origin - begin), across(ray.direction));
    let square = d.length_squared();
    if square <= 1e-12 {
        return ends;
    }
    let nearest = -o.dot(d) / square;
    let inner = radius * radius - (o + nearest * d).length_squared();
    if inner < 0.0 {
        return f32::INFINITY;
    }
    let half = (inner / square).sqrt();
    let within = [nearest - half, nearest + half].map(|t| {
        let along = (ray.origin + t * ray.direction - begin).dot(unit);
        if (0.0..=length).contains(&along) { t } else { f32::INFINITY }
    });
    ends.min(first(ray, within))
}

/// The smaller of two ascending distances within the range of a ray.
#[inline]
fn first(ray: &Ray, distances: [f32; 2]) -> f32 {
    let within = |t: &f32| *t > ray.tmin && *t < ray.tmax;
    distances.into_iter().find(within).unwrap_or(f32::INFINITY)
}

/// Where a ray meets a surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub t: f32,
    /// Index in the tree.
    pub primitive: usize,
}

/// Primitives with the number of their body, in the order of a bounding volume hierarchy.
#[derive(Debug, Default)]
pub(super) struct Tree {
    hierarchy: CwBvh,
    primitives: Vec<Primitive>,
    bodies: Vec<u32>,
}

impl Tree {
    /// A tree over primitives, each with the number of its body.
    pub fn new(list: &[(Primitive, u32)]) -> Tree {
        let list: Vec<(Primitive, u32)> =
            list.iter().filter(|(primitive, _)| primitive.is_finite()).copied().collect();
        if list.is_empty() {
            return Tree::default();
        }
        let bounds: Vec<Aabb> = list.iter().map(|(primitive, _)| primitive.bounds()).collect();
        let order = (0..list.len() as u32).collect();
        let search = PlocSearchDistance::Low;
        let mut binary = PlocBuilder::new().build(search, &bounds, order, SortPrecision::U64, 0);
        ReinsertionOptimizer::default().run(&mut binary, 0.02, None);
        let hierarchy = bvh2_to_cwbvh(&binary, 3, true, false);
        let ordered = hierarchy.primitive_indices.iter().map(|k| list[*k as usize]);
        let (primitives, bodies) = ordered.unzip();
        Tree { hierarchy, primitives, bodies }
    }

    pub fn is_empty(&self) -> bool {
        self.primitives.is_empty()
    }

    pub fn primitive(&self, index: usize) -> &Primitive {
        &self.primitives[index]
    }

    pub fn body(&self, index: usize) -> usize {
        self.bodies[index] as usize
    }

    /// The first surface along a ray.
    pub fn nearest(&self, ray: Ray) -> Option<Hit> {
        if self.is_empty() {
            return None;
        }
        let mut hit = RayHit::none();
        let found =
            self.hierarchy.ray_traverse(ray, &mut hit, |ray, k| self.primitives[k].distance(ray));
        found.then_some(Hit { t: hit.t, primitive: hit.primitive_id as usize })
    }

    /// Whether a ray meets any surface.
    pub fn blocks(&self, ray: Ray) -> bool {
        let miss =
            || self.hierarchy.ray_traverse_miss(ray, |ray, k| self.primitives[k].distance(ray));
        !self.is_empty() && !miss()
    }

    /// All surfaces along a ray, nearest first.
    pub fn all(&self, ray: Ray, hits: &mut Vec<Hit>) {
        hits.clear();
        if self.is_empty() {
            return;
        }
        self.hierarchy.ray_traverse_anyhit(ray, |ray, k| {
            let t = self.primitives[k].distance(ray);
            if t < ray.tmax {
                hits.push(Hit { t, primitive: k });
            }
        });
        hits.sort_by(|a, b| a.t.total_cmp(&b.t).then(a.primitive.cmp(&b.primitive)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::vec3a;

    fn down(x: f32, y: f32) -> Ray {
        Ray::new_inf(vec3a(x, y, 10.0), vec3a(0.0, 0.0, -1.0))
    }

    #[test]
    fn the_nearest_surface_is_found_whatever_its_kind() {
        let sphere = Primitive::Sphere { centre: vec3a(0.0, 0.0, 1.0), radius: 1.0 };
        let (corner, a, b) = (vec3a(-5.0, -5.0, 0.5), 20.0 * Vec3A::X, 20.0 * Vec3A::Y);
        let triangle = Primitive::Triangle { corner, a, b, edges: 7 };
        let (begin, axis) = (vec3a(2.0, 2.0, 3.0), 2.0 * Vec3A::X);
        let tube = Primitive::Tube { begin, axis, radius: 0.25 };
        let tree = Tree::new(&[(sphere, 7), (triangle, 8), (tube, 9)]);
        for (ray, t, body) in
            [(down(0.0, 0.0), 8.0, 7), (down(3.0, 0.0), 9.5, 8), (down(3.0, 2.0), 6.75, 9)]
        {
            let hit = tree.nearest(ray).unwrap();
            assert!((hit.t - t).abs() < 1e-5, "{hit:?}");
            assert_eq!(tree.body(hit.primitive), body);
        }
        assert!(tree.nearest(down(-6.0, 0.0)).is_none());
        let mut hits = Vec::new();
        tree.all(down(3.0, 2.0), &mut hits);
        assert_eq!(hits.iter().map(|h| tree.body(h.primitive)).collect::<Vec<_>>(), [9, 8]);
    }

    #[test]
    fn the_round_ends_of_a_tube_belong_to_it() {
        let tube = Primitive::Tube { begin: Vec3A::ZERO, axis: Vec3A::X, radius: 0.5 };
        for (x, height) in [(0.5, 0.5), (-0.3, 0.4), (1.3, 0.4)] {
            let t = tube.distance(&down(x, 0.0));
            assert!((10.0 - t - height).abs() < 1e-5, "{t}");
            let normal = tube.normal(vec3a(x, 0.0, height));
            assert!((normal.length() - 1.0).abs() < 1e-6 && normal.z > 0.7);
        }
        assert_eq!(tube.distance(&down(1.6, 0.0)), f32::INFINITY);
    }

    #[test]
    fn surfaces_without_a_position_are_left_out() {
        let nowhere = Primitive::Sphere { centre: vec3a(f32::NAN, 0.0, 0.0), radius: 1.0 };
        let tree = Tree::new(&[(nowhere, 0)]);
        assert!(tree.nearest(down(0.0, 0.0)).is_none() && !tree.blocks(down(0.0, 0.0)));
    }
}
