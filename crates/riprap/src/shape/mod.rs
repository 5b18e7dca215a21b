//! Shapes of bodies: spheres, half-spaces, convex polyhedra, capsules, cylinders, cones, rounded
//! polyhedra, compounds of convex parts and, for planar scenes, discs and polygons; their exact mass,
//! centre and inertia.

mod clip;
mod curved;
mod hull;
mod mass;
mod mesh;
mod outline;
mod polygon;
mod polyhedron;
mod reduce;
mod split;

pub use curved::{Core, Curved, Surface};
pub use mass::MassProperties;
pub use outline::Outline;
pub use polygon::Polygon;
pub use polyhedron::{Edge, Polyhedron};

use crate::math::{Pose, Vec3, cbrt, length2};
use std::sync::Arc;

/// The shape of a body, in the body's own frame. Cheap to clone: geometry is shared.
///
/// ```
/// use riprap::prelude::*;
///
/// let brick = Shape::cuboid([0.24, 0.115, 0.071])?;
/// let mass = brick.mass_properties(1800.0).expect("a brick has a volume");
/// assert!((mass.mass - 1800.0 * 0.24 * 0.115 * 0.071).abs() < 1e-12);
///
/// // A dumbbell of two balls and a bar.
/// let dumbbell = Shape::compound(vec![
///     (Pose::at([-0.2, 0.0, 0.0]), Shape::sphere(0.1)?),
///     (Pose::at([0.2, 0.0, 0.0]), Shape::sphere(0.1)?),
///     (Pose::IDENTITY, Shape::cuboid([0.2, 0.04, 0.04])?),
/// ])?;
/// assert_eq!(dumbbell.parts().len(), 3);
///
/// // A shape that cannot exist is an error at once.
/// assert!(Shape::sphere(-1.0).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum Shape {
    /// A ball around the origin.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// All points `x` with `normal · x ≤ 0`: an infinite wall. It has no mass and is meant for
    /// bodies that are fixed or follow a prescribed motion.
    HalfSpace {
        /// Unit outward normal [–].
        normal: Vec3,
    },
    /// A convex polyhedron (a box is one).
    Polyhedron(Arc<Polyhedron>),
    /// Several convex parts that move as one.
    Compound(Arc<Compound>),
    /// A disc in the plane x–y around the origin, for planar scenes.
    Disc {
        /// Radius [m].
        radius: f64,
        /// Extent along z that gives the disc its mass [m].
        thickness: f64,
    },
    /// A convex polygon in the plane x–y, for planar scenes.
    Polygon(Arc<Polygon>),
    /// A capsule, cylinder, cone or rounded polyhedron.
    Curved(Arc<Curved>),
}

/// Convex parts that move together as one body.
#[derive(Clone, Debug)]
pub struct Compound {
    /// The parts and their poses in the body frame. None of them is a compound.
    pub parts: Vec<(Pose, Shape)>,
    /// Mass properties for a density of 1 kg/m³.
    pub unit_mass: MassProperties,
}

/// Why a shape cannot be created.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A length that must be positive is not.
    #[error("{what} must be a positive length in metres, got {value}")]
    NotPositive {
        /// Which length.
        what: &'static str,
        /// Its value [m].
        value: f64,
    },
    /// A parameter outside its range.
    #[error("{what} must lie between {min} and {max}, got {value}")]
    OutOfRange {
        /// Which parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Lower bound.
        min: f64,
        /// Upper bound.
        max: f64,
    },
    /// A coordinate is not finite.
    #[error("point {index} has a coordinate that is not finite")]
    NotFinite {
        /// Index of the point.
        index: usize,
    },
    /// Too few points.
    #[error("at least {needed} points are needed, got {got}")]
    TooFewPoints {
        /// How many points are needed.
        needed: usize,
        /// How many were given.
        got: usize,
    },
    /// More corners than contact feature ids can distinguish.
    #[error(
        "the hull has {got} corners, but at most {most} are allowed; use fewer points or a coarser mesh"
    )]
    TooManyCorners {
        /// How many are allowed.
        most: usize,
        /// How many the hull has.
        got: usize,
    },
    /// All points lie in one plane (or on a line), so the hull has no volume.
    #[error(
        "the points lie in one plane or on one line: their hull has no volume \
         (thickness {thickness:.1e} m over an extent of {extent:.1e} m)"
    )]
    Flat {
        /// Thickness in the thinnest direction [m].
        thickness: f64,
        /// Largest extent [m].
        extent: f64,
    },
    /// The points are so close to each other that areas and moments of inertia underflow.
    #[error(
        "the shape is {extent:.1e} m large, too small to compute with (at least {smallest:.0e} m); lengths are in metres"
    )]
    TooSmall {
        /// Largest extent [m].
        extent: f64,
        /// Smallest extent allowed [m].
        smallest: f64,
    },
    /// The hull algorithm failed its own check.
    #[error(
        "the hull of these points failed its check by {error:.1e} m; scale or clean the points"
    )]
    HullCheck {
        /// Distance by which a point lies outside the hull [m].
        error: f64,
    },
    /// A normal of zero length.
    #[error("the normal of a half-space must not be zero")]
    ZeroNormal,
    /// Only convex polyhedra and polygons can be split.
    #[error("only convex polyhedra and polygons can be split or cut")]
    NotConvex,
    /// A plane that should split a shape does not pass through it.
    #[error("the plane does not pass through the shape")]
    Missed,
    /// Only a convex polyhedron can be rounded.
    #[error(
        "only a convex polyhedron can be rounded: a box, the hull of points, or the hull of a mesh"
    )]
    NotRoundable,
    /// A compound without parts, or with parts that have no volume.
    #[error(
        "a compound needs at least one part, and parts with a volume: spheres, polyhedra and curved shapes, or discs and polygons"
    )]
    BadCompound,
    /// A triangle mesh with holes.
    #[error(
        "the mesh is not closed: {open_edges} edges belong to only one triangle or are traversed \
         twice in the same direction; repair it, or use its hull"
    )]
    OpenMesh {
        /// Number of offending edges.
        open_edges: usize,
    },
    /// A triangle refers to a vertex that does not exist.
    #[error("triangle {triangle} refers to vertex {vertex}, but there are only {count}")]
    BadTriangle {
        /// Index of the triangle.
        triangle: usize,
        /// The vertex it refers to.
        vertex: usize,
        /// Number of vertices.
        count: usize,
    },
}

impl Shape {
    /// A sphere of the given radius [m].
    pub fn sphere(radius: f64) -> Result<Shape, ShapeError> {
        positive("radius", radius)?;
        Ok(Shape::Sphere { radius })
    }

    /// A half-space with the given outward normal (any length); its surface passes through the
    /// origin.
    pub fn half_space(normal: [f64; 3]) -> Result<Shape, ShapeError> {
        let normal = Vec3::from(normal);
        let length = normal.norm();
        if !(length > 0.0 && length.is_finite()) {
            return Err(ShapeError::ZeroNormal);
        }
        Ok(Shape::HalfSpace { normal: normal / length })
    }

    /// A box with the given side lengths [m], centred at the origin.
    pub fn cuboid(size: [f64; 3]) -> Result<Shape, ShapeError> {
        Ok(Shape::Polyhedron(Arc::new(Polyhedron::cuboid(size)?)))
    }

    /// The convex hull of points [m].
    pub fn hull(points: &[Vec3]) -> Result<Shape, ShapeError> {
        Ok(Shape::Polyhedron(Arc::new(Polyhedron::from_points(points)?)))
    }

    /// A capsule around the z axis, centred at the origin: a cylinder with two half-balls as ends.
    /// `radius` and the distance `length` between the centres of its ends [m]; it is
    /// `length + 2 radius` long.
    ///
    /// ```
    /// use riprap::prelude::*;
    ///
    /// let (r, l) = (0.1, 0.3);
    /// let volume = std::f64::consts::PI * r * r * (l + 4.0 / 3.0 * r);
    /// let mass = Shape::capsule(r, l)?.mass_properties(1000.0).expect("a volume");
    /// assert!((mass.mass - 1000.0 * volume).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn capsule(radius: f64, length: f64) -> Result<Shape, ShapeError> {
        Ok(Shape::Curved(Arc::new(Curved::capsule(radius, length)?)))
    }

    /// A cylinder around the z axis, centred at the origin; radius and length [m].
    pub fn cylinder(radius: f64, length: f64) -> Result<Shape, ShapeError> {
        Ok(Shape::Curved(Arc::new(Curved::cylinder(radius, length)?)))
    }

    /// A cone around the z axis: its base, of the given radius, at z = −`height`/2 and its tip at
    /// z = `height`/2 [m]. Its centre of mass is at z = −`height`/4.
    pub fn cone(radius: f64, height: f64) -> Result<Shape, ShapeError> {
        Ok(Shape::Curved(Arc::new(Curved::cone(radius, height)?)))
    }

    /// A convex polyhedron with rounded edges and corners: all points within `radius` [m] of it, so it
    /// is larger than the polyhedron by the radius on every side.
    ///
    /// ```
    /// use riprap::prelude::*;
    ///
    /// // A die of 2 cm with a radius of 2 mm: its core is smaller by the radius on every side.
    /// let die = Shape::rounded(&Shape::cuboid([0.016; 3])?, 0.002)?;
    /// assert!(die.mass_properties(1.0).expect("a volume").mass < 0.02_f64.powi(3));
    /// assert!(Shape::rounded(&Shape::sphere(0.1)?, 0.002).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rounded(core: &Shape, radius: f64) -> Result<Shape, ShapeError> {
        let Shape::Polyhedron(p) = core else { return Err(ShapeError::NotRoundable) };
        Ok(Shape::Curved(Arc::new(Curved::rounded(p.clone(), radius)?)))
    }

    /// A closed triangle mesh, decomposed into at most `max_parts` convex parts. Mass, centre and
    /// inertia are those of the mesh itself.
    pub fn decomposed_mesh(
        vertices: &[Vec3],
        triangles: &[[u32; 3]],
        max_parts: usize,
    ) -> Result<Shape, ShapeError> {
        mesh::decompose(vertices, triangles, max_parts)
    }

    /// Several shapes that move together. The mass is the sum over the parts: where parts overlap,
    /// the overlap counts twice. Nested compounds are flattened.
    pub fn compound(parts: Vec<(Pose, Shape)>) -> Result<Shape, ShapeError> {
        let mut flat = Vec::new();
        for (pose, shape) in parts {
            match &shape {
                Shape::Compound(inner) => {
                    flat.extend(inner.parts.iter().map(|(p, s)| (pose.compose(p), s.clone())));
                }
                Shape::HalfSpace { .. } => return Err(ShapeError::BadCompound),
                _ => flat.push((pose, shape)),
            }
        }
        let planar = flat.iter().filter(|(_, shape)| shape.is_planar()).count();
        if planar != 0 && planar != flat.len() {
            return Err(ShapeError::BadCompound);
        }
        let unit_mass = MassProperties::sum(flat.iter().map(|(pose, shape)| {
            shape.mass_properties(1.0).map(|m| m.moved(pose)).ok_or(ShapeError::BadCompound)
        }))?;
        Ok(Shape::Compound(Arc::new(Compound { parts: flat, unit_mass })))
    }

    /// No shape at all, for bodies of mechanisms that have no contacts.
    pub fn nothing() -> Shape {
        let unit_mass = MassProperties::point(0.0, [0.0; 3]);
        Shape::Compound(Arc::new(Compound { parts: Vec::new(), unit_mass }))
    }

    /// An open box of inner lengths `size` [m] with walls of thickness `wall` [m]: the top of the
    /// floor is at z = 0, the walls surround it up to z = `size[2]`.
    pub fn open_box(size: [f64; 3], wall: f64) -> Result<Shape, ShapeError> {
        positive("wall", wall)?;
        let [x, y, z] = size;
        let long = x + 2.0 * wall;
        let tall = z + wall;
        let mid = 0.5 * (z - wall);
        let side = |s: [f64; 3], at: [f64; 3]| Ok((Pose::at(at), Shape::cuboid(s)?));
        Shape::compound(vec![
            side([x, y, wall], [0.0, 0.0, -0.5 * wall])?,
            side([wall, y, tall], [-0.5 * (x + wall), 0.0, mid])?,
            side([wall, y, tall], [0.5 * (x + wall), 0.0, mid])?,
            side([long, wall, tall], [0.0, -0.5 * (y + wall), mid])?,
            side([long, wall, tall], [0.0, 0.5 * (y + wall), mid])?,
        ])
    }

    /// A disc in the plane x–y [m].
    pub fn disc(radius: f64, thickness: f64) -> Result<Shape, ShapeError> {
        positive("radius", radius)?;
        positive("thickness", thickness)?;
        Ok(Shape::Disc { radius, thickness })
    }

    /// The convex hull of points in the plane x–y [m].
    pub fn polygon(points: &[[f64; 2]], thickness: f64) -> Result<Shape, ShapeError> {
        Ok(Shape::Polygon(Arc::new(Polygon::from_points(points, thickness)?)))
    }

    /// Mass, centre and inertia for a density [kg/m³]; `None` for a half-space.
    pub fn mass_properties(&self, density: f64) -> Option<MassProperties> {
        Some(match self {
            Shape::Sphere { radius } => MassProperties::sphere(*radius, density),
            Shape::HalfSpace { .. } => return None,
            Shape::Polyhedron(p) => p.unit_mass().scaled(density),
            Shape::Compound(c) => c.unit_mass.scaled(density),
            Shape::Disc { radius, thickness } => {
                MassProperties::cylinder(*radius, *thickness, density)
            }
            Shape::Polygon(p) => p.unit_mass().scaled(density),
            Shape::Curved(c) => c.unit_mass().scaled(density),
        })
    }

    /// Whether the shape is planar (in the plane x–y).
    pub fn is_planar(&self) -> bool {
        match self {
            Shape::Disc { .. } | Shape::Polygon(_) => true,
            Shape::Compound(c) => c.parts.iter().any(|(_, s)| s.is_planar()),
            _ => false,
        }
    }

    /// Diameter of the sphere (or disc) of equal volume (or area) [m]; `None` for a half-space.
    pub fn size(&self) -> Option<f64> {
        use std::f64::consts::PI;
        match self {
            Shape::Sphere { radius } | Shape::Disc { radius, .. } => Some(2.0 * radius),
            Shape::HalfSpace { .. } => None,
            Shape::Polyhedron(_) | Shape::Curved(_) => {
                self.mass_properties(1.0).map(|m| cbrt(6.0 * m.mass / PI))
            }
            Shape::Polygon(p) => Some((4.0 * p.area() / PI).sqrt()),
            Shape::Compound(c) if self.is_planar() => {
                c.parts.iter().filter_map(|(_, s)| s.size()).reduce(length2)
            }
            Shape::Compound(c) => Some(cbrt(6.0 * c.unit_mass.mass / PI)),
        }
    }

    /// The convex parts with their poses in the body frame (one for a convex shape).
    pub fn parts(&self) -> Vec<(Pose, Shape)> {
        match self {
            Shape::Compound(c) => c.parts.clone(),
            _ => vec![(Pose::IDENTITY, self.clone())],
        }
    }
}

fn positive(what: &'static str, value: f64) -> Result<(), ShapeError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(ShapeError::NotPositive { what, value })
    }
}

#[cfg(test)]
mod fixtures;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_box_has_five_walls_around_its_interior() {
        let Shape::Compound(c) = Shape::open_box([0.4, 0.3, 0.2], 0.05).unwrap() else { panic!() };
        assert_eq!(c.parts.len(), 5);
        let volume = 0.5 * 0.4 * 0.25 - 0.4 * 0.3 * 0.2;
        assert!((c.unit_mass.mass - volume).abs() < 1e-15);
    }

    #[test]
    fn a_compound_of_two_halves_has_the_mass_of_the_whole() {
        let half = Shape::cuboid([0.5, 1.0, 1.0]).unwrap();
        let parts =
            vec![(Pose::at([-0.25, 0.0, 0.0]), half.clone()), (Pose::at([0.25, 0.0, 0.0]), half)];
        let both = Shape::compound(parts).unwrap().mass_properties(2.0).unwrap();
        let whole = Shape::cuboid([1.0; 3]).unwrap().mass_properties(2.0).unwrap();
        assert!((both.inertia - whole.inertia).norm() < 1e-15);
        assert!(both.centre.norm() < 1e-15);
    }

    #[test]
    fn shapes_without_extent_are_refused() {
        assert!(Shape::sphere(0.0).is_err());
        assert!(Shape::sphere(f64::NAN).is_err());
        assert!(Shape::cuboid([1.0, -1.0, 1.0]).is_err());
        assert!(Shape::half_space([0.0; 3]).is_err());
        assert!(Shape::compound(vec![]).is_err());
    }

    #[test]
    fn nested_compounds_are_flattened_with_their_poses() {
        let ball = || Shape::sphere(0.5).unwrap();
        let inner = Shape::compound(vec![(Pose::at([1.0, 0.0, 0.0]), ball())]).unwrap();
        let place = Pose::at([0.0, 2.0, 0.0]).turned([0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_2);
        let outer = Shape::compound(vec![(Pose::IDENTITY, ball()), (place, inner)]).unwrap();
        let parts = outer.parts();
        assert_eq!(parts.len(), 2);
        assert!(parts.iter().all(|(_, s)| matches!(s, Shape::Sphere { .. })));
        // One to the side, rotated to the front.
        assert!((parts[1].0.position - Vec3::new(0.0, 3.0, 0.0)).norm() < 1e-15);
        let m = outer.mass_properties(1.0).unwrap();
        assert!((m.centre - Vec3::new(0.0, 1.5, 0.0)).norm() < 1e-15);
    }

    #[test]
    fn sizes_are_diameters_of_spheres_and_discs_of_equal_volume_or_area() {
        use std::f64::consts::PI;
        let near = |shape: Shape, size: f64| {
            let found = shape.size().unwrap();
            assert!((found - size).abs() < 1e-14, "{found} {size}");
        };
        near(Shape::sphere(0.2).unwrap(), 0.4);
        near(Shape::disc(0.2, 5.0).unwrap(), 0.4);
        near(Shape::cuboid([0.1, 0.2, 0.3]).unwrap(), (6.0_f64 * 0.006 / PI).cbrt());
        let square = [[0., 0.], [2., 0.], [2., 2.], [0., 2.]];
        near(Shape::polygon(&square, 0.3).unwrap(), 4.0 / PI.sqrt());
        // Two equal discs together have √2 times the diameter, two spheres ∛2 times.
        let apart = |shape: Shape| {
            vec![(Pose::at([-1.0, 0.0, 0.0]), shape.clone()), (Pose::at([1.0, 0.0, 0.0]), shape)]
        };
        let discs = Shape::compound(apart(Shape::disc(0.5, 1.0).unwrap())).unwrap();
        near(discs, 2.0_f64.sqrt());
        let balls = Shape::compound(apart(Shape::sphere(0.5).unwrap())).unwrap();
        near(balls, 2.0_f64.cbrt());
        assert_eq!(Shape::half_space([0.0, 0.0, 2.0]).unwrap().size(), None);
    }

    #[test]
    fn planar_and_spatial_parts_do_not_mix() {
        let (ball, disc) = (Shape::sphere(1.0).unwrap(), Shape::disc(1.0, 1.0).unwrap());
        let wall = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
        assert!(disc.is_planar() && !ball.is_planar() && !wall.is_planar());
        let here = Pose::IDENTITY;
        let both = Shape::compound(vec![(here, disc.clone()), (here, disc.clone())]).unwrap();
        assert!(both.is_planar());
        let mixed = Shape::compound(vec![(here, ball), (here, disc)]).unwrap_err();
        assert_eq!(mixed, ShapeError::BadCompound);
        assert!(Shape::compound(vec![(here, wall.clone())]).is_err(), "a half-space is infinite");
        assert!(wall.mass_properties(1.0).is_none());
        let nothing = Shape::nothing();
        assert!(nothing.parts().is_empty() && nothing.mass_properties(1.0).unwrap().mass == 0.0);
    }

    #[test]
    fn refusals_name_the_value_and_what_it_must_be() {
        let said = |shape: Result<Shape, ShapeError>| shape.unwrap_err().to_string();
        let radius = "radius must be a positive length in metres, got -1";
        assert_eq!(said(Shape::sphere(-1.0)), radius);
        assert_eq!(said(Shape::disc(-1.0, 1.0)), radius);
        assert!(said(Shape::disc(1.0, 0.0)).starts_with("thickness must"));
        assert!(said(Shape::open_box([1.0; 3], -0.1)).starts_with("wall must"));
        assert!(said(Shape::half_space([0.0; 3])).contains("must not be zero"));
        assert!(said(Shape::compound(Vec::new())).contains("at least one part"));
    }
}
