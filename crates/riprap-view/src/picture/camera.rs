//! The camera: where it stands, and which ray belongs to a pixel.

use glam::{DVec3, Vec3A};
use obvhs::ray::Ray;

/// A camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Its position [m].
    pub eye: [f64; 3],
    /// The point in the middle of the picture [m].
    pub target: [f64; 3],
    /// The direction that is up in the picture.
    pub up: [f64; 3],
    /// How points are projected.
    pub projection: Projection,
}

/// How points are projected onto the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// Distant things are small.
    Perspective {
        /// Angle between the lower and the upper edge of the picture [rad].
        angle: f64,
    },
    /// Parallel rays.
    Orthographic {
        /// Height of the visible area [m].
        height: f64,
    },
}

/// Standard directions of view. Front looks along y, if z is up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum View {
    #[default]
    Iso,
    Front,
    Back,
    Side,
    Top,
}

impl View {
    /// The direction in which the camera looks and the one that is up in the picture.
    pub fn directions(self, up: [f64; 3]) -> [[f64; 3]; 2] {
        let up = DVec3::from(up).try_normalize().unwrap_or(DVec3::Z);
        // Forwards and to the right, horizontally.
        let rough = if up.y.abs() > 0.9 { -DVec3::Z } else { DVec3::Y };
        let front = (rough - rough.dot(up) * up).normalize();
        let right = front.cross(up);
        let (look, above) = match self {
            View::Iso => (front - 0.62 * right - 0.66 * up, up),
            View::Front => (front - 0.12 * up, up),
            View::Back => (-front - 0.12 * up, up),
            View::Side => (-right - 0.12 * up, up),
            View::Top => (-up, front),
        };
        [look.normalize().into(), above.into()]
    }
}

/// Vertical angle of view of fitted cameras [rad].
const ANGLE: f64 = 0.5;

impl Camera {
    /// The camera that looks along `look` and shows all spheres (centre, radius [m]) as large as possible, with a
    /// margin; `aspect` is width over height.
    pub fn fit(
        spheres: &[([f64; 3], f64)],
        look: [f64; 3],
        up: [f64; 3],
        aspect: f64,
        orthographic: bool,
    ) -> Camera {
        let [right, above, forward] = axes(look.into(), up.into());
        let (tall, margin) = ((0.5 * ANGLE).tan(), 1.06);
        let wide = tall * aspect;
        // Each side of the view is a plane; its distance from the origin is the largest over the spheres.
        let mut planes = [f64::NEG_INFINITY; 4];
        let mut near = f64::INFINITY;
        let mut far = f64::NEG_INFINITY;
        for (centre, radius) in spheres.iter().filter(|(c, r)| finite(c) && r.is_finite()) {
            let p = DVec3::from(*centre);
            let (x, y, z) = (p.dot(right), p.dot(above), p.dot(forward));
            (near, far) = (near.min(z - radius), far.max(z + radius));
            for (k, (value, slope)) in
                [(x, wide), (-x, wide), (y, tall), (-y, tall)].into_iter().enumerate()
            {
                let slope = if orthographic { 0.0 } else { slope };
                let reach = value - slope * z + radius * (1.0 + slope * slope).sqrt();
                planes[k] = planes[k].max(reach);
            }
        }
        if near > far {
            (planes, near, far) = ([1.0; 4], -1.0, 1.0);
        }
        let [x, y] = [0.5 * (planes[0] - planes[1]), 0.5 * (planes[2] - planes[3])];
        let half = [0.5 * (planes[0] + planes[1]), 0.5 * (planes[2] + planes[3])];
        let size = (far - near).max(1e-9);
        let (back, projection) = if orthographic {
            let height = (2.0 * margin * half[1].max(half[0] / aspect)).max(1e-9);
            (near - 2.0 * size - height, Projection::Orthographic { height })
        } else {
            let back = (-half[0] / wide).min(-half[1] / tall);
            let middle = 0.5 * (near + far);
            (middle - margin * (middle - back), Projection::Perspective { angle: ANGLE })
        };
        let eye = x * right + y * above + back * forward;
        let target = x * right + y * above + 0.5 * (near + far) * forward;
        Camera { eye: eye.into(), target: target.into(), up: above.into(), projection }
    }

    /// The same with all lengths times a factor.
    pub(super) fn scaled(&self, factor: f64) -> Camera {
        let [eye, target] = [self.eye, self.target].map(|p| p.map(|x| factor * x));
        let projection = match self.projection {
            Projection::Orthographic { height } => {
                Projection::Orthographic { height: factor * height }
            }
            perspective => perspective,
        };
        Camera { eye, target, up: self.up, projection }
    }

    /// Distance from the camera to its target [m].
    pub fn distance(&self) -> f64 {
        DVec3::from(self.eye).distance(self.target.into())
    }
}

fn finite(point: &[f64; 3]) -> bool {
    point.iter().all(|x| x.is_finite())
}

/// Unit vectors to the right, up and forwards of a camera.
fn axes(look: DVec3, up: DVec3) -> [DVec3; 3] {
    let forward = look.try_normalize().unwrap_or(DVec3::Y);
    let other = if forward.x.abs() < 0.7 { DVec3::X } else { DVec3::Y };
    let across = forward.cross(up).try_normalize().unwrap_or_else(|| forward.cross(other));
    let right = across.normalize();
    [right, right.cross(forward), forward]
}

/// The camera in the coordinates of the model, for a picture of a size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lens {
    eye: Vec3A,
    pub right: Vec3A,
    pub above: Vec3A,
    pub forward: Vec3A,
    /// Half the size of the picture at unit distance, or in metres if rays are parallel.
    half: [f32; 2],
    parallel: bool,
    /// Size of a pixel at unit distance [–], or in metres.
    pixel: f32,
}

impl Lens {
    pub fn new(camera: &Camera, origin: [f64; 3], size: [usize; 2]) -> Lens {
        let (eye, target) = (DVec3::from(camera.eye), DVec3::from(camera.target));
        let [right, above, forward] = axes(target - eye, camera.up.into());
        let (parallel, half) = match camera.projection {
            Projection::Perspective { angle } => (false, (0.5 * angle).tan()),
            Projection::Orthographic { height } => (true, 0.5 * height),
        };
        let aspect = size[0] as f64 / size[1] as f64;
        Lens {
            eye: (eye - DVec3::from(origin)).as_vec3a(),
            right: right.as_vec3a(),
            above: above.as_vec3a(),
            forward: forward.as_vec3a(),
            half: [(half * aspect) as f32, half as f32],
            parallel,
            pixel: (2.0 * half / size[1] as f64) as f32,
        }
    }

    /// The ray through a point of the picture; −1 to 1 from left to right and from bottom to top.
    pub fn ray(&self, x: f32, y: f32) -> Ray {
        let aside = x * self.half[0] * self.right + y * self.half[1] * self.above;
        match self.parallel {
            true => Ray::new_inf(self.eye + aside, self.forward),
            false => Ray::new_inf(self.eye, (self.forward + aside).normalize()),
        }
    }

    /// The ray from the camera to a point, which is its end.
    pub fn ray_to(&self, point: Vec3A) -> Ray {
        let way = point - self.eye;
        match self.parallel {
            true => {
                let depth = way.dot(self.forward).max(0.0);
                Ray::new(point - depth * self.forward, self.forward, 0.0, depth)
            }
            false => {
                let direction = way.normalize_or(self.forward);
                Ray::new(self.eye, direction, 0.0, way.length())
            }
        }
    }

    /// Size of a pixel at a distance along a ray [m].
    pub fn pixel_at(&self, t: f32) -> f32 {
        if self.parallel { self.pixel } else { t * self.pixel }
    }

    /// Direction from a point to the camera.
    pub fn towards(&self, point: Vec3A) -> Vec3A {
        if self.parallel { -self.forward } else { self.eye - point }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a point appears in the picture; −1 to 1.
    fn seen(camera: &Camera, aspect: f64, point: [f64; 3]) -> [f64; 2] {
        let eye = DVec3::from(camera.eye);
        let [right, above, forward] = axes(DVec3::from(camera.target) - eye, camera.up.into());
        let p = DVec3::from(point) - eye;
        let half = match camera.projection {
            Projection::Perspective { angle } => (0.5 * angle).tan() * p.dot(forward),
            Projection::Orthographic { height } => 0.5 * height,
        };
        [p.dot(right) / (half * aspect), p.dot(above) / half]
    }

    #[test]
    fn a_fitted_camera_sees_everything_and_wastes_little() {
        let corners: Vec<([f64; 3], f64)> = (0..8)
            .map(|k| ([f64::from(k & 1) * 3.0, f64::from(k >> 1 & 1), f64::from(k >> 2)], 0.0))
            .collect();
        for view in [View::Iso, View::Front, View::Back, View::Side, View::Top] {
            for orthographic in [false, true] {
                let [look, up] = view.directions([0.0, 0.0, 1.0]);
                let camera = Camera::fit(&corners, look, up, 1.5, orthographic);
                let places = corners.iter().map(|(p, _)| seen(&camera, 1.5, *p));
                let largest = places.fold(0.0_f64, |m, p| m.max(p[0].abs()).max(p[1].abs()));
                assert!((0.85..1.0).contains(&largest), "{view:?} {orthographic}: {largest}");
            }
        }
    }

    #[test]
    fn nothing_to_see_gives_a_camera_all_the_same() {
        let [look, up] = View::Iso.directions([0.0; 3]);
        for spheres in [vec![], vec![([f64::NAN; 3], 1.0)], vec![([1.0; 3], 0.0)]] {
            let camera = Camera::fit(&spheres, look, up, 1.0, false);
            assert!(finite(&camera.eye) && finite(&camera.target));
        }
    }

    /// A box of an odd shape somewhere, as its corners, with balls at two of them.
    fn things(size: f64, at: [f64; 3]) -> Vec<([f64; 3], f64)> {
        let corner = |k: u32| {
            let side = [1.0, 0.3, 2.5];
            let offset = [0, 1, 2].map(|axis| f64::from(k >> axis & 1) * side[axis] * size);
            let radius = if k.is_multiple_of(7) { 0.2 * size } else { 0.0 };
            (std::array::from_fn(|axis| at[axis] + offset[axis]), radius)
        };
        (0..8).map(corner).collect()
    }

    const VIEWS: [View; 5] = [View::Iso, View::Front, View::Back, View::Side, View::Top];

    #[test]
    fn every_view_contains_everything_whatever_the_size_place_and_aspect() {
        for (size, at) in
            [(1.0, [0.0; 3]), (1e-6, [0.0; 3]), (1e6, [0.0; 3]), (1.0, [1e4, -1e4, 5e3])]
        {
            let things = things(size, at);
            for view in VIEWS {
                for up in [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, -2.0, 0.5]] {
                    for (aspect, orthographic) in
                        [(0.2, false), (1.0, true), (1.78, false), (5.0, true)]
                    {
                        let [look, above] = view.directions(up);
                        let camera = Camera::fit(&things, look, above, aspect, orthographic);
                        // Points around each ball, in the directions of the picture and towards the camera.
                        let [right, above, forward] = axes(look.into(), above.into());
                        let around = [right, -right, above, -above, -forward, forward];
                        let points = things.iter().flat_map(|(centre, radius)| {
                            around.map(|d| DVec3::from(*centre) + *radius * d)
                        });
                        let largest = points.fold(0.0_f64, |most, p| {
                            let [x, y] = seen(&camera, aspect, p.into());
                            most.max(x.abs()).max(y.abs())
                        });
                        assert!(
                            (0.7..1.0).contains(&largest),
                            "{view:?} {up:?} {aspect}: {largest}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn views_look_from_where_they_say() {
        for (view, expected) in [
            (View::Front, [0.0, 1.0, -0.12]),
            (View::Back, [0.0, -1.0, -0.12]),
            (View::Side, [-1.0, 0.0, -0.12]),
            (View::Top, [0.0, 0.0, -1.0]),
        ] {
            let [look, above] = view.directions([0.0, 0.0, 2.0]).map(DVec3::from);
            let expected = DVec3::from(expected).normalize();
            assert!(look.distance(expected) < 1e-12, "{view:?}: {look}");
            assert!(look.cross(above).length() > 0.9, "{view:?}: up is not along the view");
        }
        for view in VIEWS {
            for up in [[0.0; 3], [f64::NAN; 3], [0.0, 1e-300, 0.0], [0.0, -1.0, 0.0]] {
                let [look, above] = view.directions(up).map(DVec3::from);
                assert!((look.length() - 1.0).abs() < 1e-12, "{view:?} {up:?}");
                assert!((above.length() - 1.0).abs() < 1e-12, "{view:?} {up:?}");
            }
        }
    }

    #[test]
    fn the_middle_of_the_picture_is_the_target_and_its_edges_are_at_the_angle() {
        let projection = Projection::Perspective { angle: 0.8 };
        let (eye, target) = ([3.0, -2.0, 1.0], [0.5, 0.25, 0.0]);
        let camera = Camera { eye, target, up: [0.0, 0.0, 1.0], projection };
        let lens = Lens::new(&camera, [1.0, 1.0, 1.0], [200, 100]);
        let way = (DVec3::from(target) - DVec3::from(eye)).as_vec3a().normalize();
        assert!(lens.ray(0.0, 0.0).direction.distance(way) < 1e-6);
        for (x, y, tangent) in [(0.0, 1.0, 0.4_f32.tan()), (-1.0, 0.0, 2.0 * 0.4_f32.tan())] {
            let angle = lens.ray(x, y).direction.dot(way).acos();
            assert!((angle.tan() - tangent).abs() < 1e-4, "{x} {y}: {angle}");
        }
        // A ray to a point ends there.
        let point = Vec3A::new(-0.5, 0.5, 0.25);
        for projection in [projection, Projection::Orthographic { height: 2.0 }] {
            let ray = Lens::new(&Camera { projection, ..camera }, [0.0; 3], [20, 10]).ray_to(point);
            assert!((ray.origin + ray.tmax * ray.direction).distance(point) < 1e-5);
        }
    }
}
