//! Surfaces and contacts of a frame as polygons and points for ParaView. Curved shapes become polygons, and a
//! half-space is shown as a square patch under the scene.

use std::ops::Range;

use riprap::math::{Lattice, Pose, Vec3};
use riprap::scene::{Scene, Twist};
use riprap::shape::{Shape, Surface};
use riprap::simulation::{ContactForce, Frame};

use super::extent;
use super::ropes::Drawn;
use crate::vtk::{Field, PolyData};

/// Number of vertices of the polygon that approximates a disc.
const DISC_CORNERS: usize = 48;
/// With more spheres or curved shapes than this, each gets fewer faces.
const MANY_SPHERES: usize = 300;
/// Faces around each circle of a curved shape, if there are few and if there are many.
const SEGMENTS: [usize; 2] = [32, 16];

/// The surfaces of all bodies in their own frames: generated once for a scene, then placed for each frame.
#[derive(Debug)]
pub struct Surfaces {
    /// The vertices and faces of each body.
    bodies: Vec<Vec<Part>>,
    materials: Vec<i64>,
    /// Ids of the bodies.
    ids: Vec<i64>,
    /// Ids and names of the bodies, and names of the materials, for every frame file.
    fields: [Field; 3],
    /// The nodes of each flexible body, and the outline of its section [m].
    flexible: Vec<(Range<usize>, Vec<[f64; 2]>)>,
}

/// A convex part of a body.
#[derive(Debug)]
struct Part {
    corners: Vec<Vec3>,
    faces: Vec<Vec<usize>>,
}

impl Surfaces {
    /// The surfaces of a scene.
    pub fn new(scene: &Scene) -> Surfaces {
        Surfaces::within(scene, extent(scene))
    }

    /// The surfaces of a scene; half-spaces are shown as patches below a box given by its lower and upper corner [m].
    pub fn within(scene: &Scene, extent: [Vec3; 2]) -> Surfaces {
        let n = scene.bodies().len();
        let shapes = || (0..n).map(|index| scene.shape(scene.body_at(index)));
        let n_spheres = shapes().filter(|shape| matches!(shape, Shape::Sphere { .. })).count();
        let ball = ball(if n_spheres > MANY_SPHERES { 1 } else { 2 });
        let curved = shapes().map(|shape| {
            shape.parts().iter().filter(|(_, part)| matches!(part, Shape::Curved(_))).count()
        });
        let segments = SEGMENTS[usize::from(curved.sum::<usize>() > MANY_SPHERES)];
        let state = scene.initial_state();
        let bodies = (0..n).map(|index| {
            let body = scene.body_at(index);
            let begin = scene.shape_pose(&state, body);
            let parts = scene.shape(body).parts();
            let planar = scene.is_planar();
            let part = |(pose, shape): &(Pose, Shape)| match shape {
                Shape::Curved(c) => {
                    let Surface { corners, faces } = c.surface(segments);
                    Part { corners: corners.iter().map(|x| pose.point(*x)).collect(), faces }
                }
                _ => part((planar, extent), pose, shape, &begin, &ball),
            };
            parts.iter().map(part).collect()
        });
        let bodies = bodies.collect();
        let mut materials = vec![0; n];
        for collider in scene.colliders() {
            materials[collider.body as usize] = i64::from(collider.material);
        }
        let outline = |k: usize| (scene.nodes_of(k), scene.flexible()[k].outline().to_vec());
        let flexible = (0..scene.flexible().len()).map(outline).collect();
        let ids: Vec<i64> = scene.bodies().ids.iter().map(|id| i64::from(*id)).collect();
        let fields = [
            Field::integers("ids", &ids),
            Field::texts("names", scene.bodies().names.iter().map(String::as_str)),
            Field::texts("materials", scene.materials().iter().map(|m| m.name.as_str())),
        ];
        Surfaces { bodies, materials, ids, fields, flexible }
    }

    /// Adds `ids` and `names` of the bodies and the names of the `materials` as field data.
    pub fn add_names(&self, data: &mut PolyData) {
        self.fields.iter().for_each(|field| data.field_data(field.clone()));
    }

    /// All surfaces at the time of a snapshot, with body, material and `speed [m/s]` of each face, and the names of bodies and materials.
    pub fn bodies(&self, snapshot: &Snapshot) -> PolyData {
        let mut data = PolyData::new();
        let (mut index, mut material, mut speed) = (Vec::new(), Vec::new(), Vec::new());
        for (i, (parts, (pose, v))) in self.bodies.iter().zip(&snapshot.bodies).enumerate() {
            for part in parts {
                let first = data.n_points();
                for corner in &part.corners {
                    data.add_point(pose.point(*corner).into());
                }
                for face in &part.faces {
                    let corners: Vec<usize> = face.iter().map(|corner| first + corner).collect();
                    data.add_polygon(&corners);
                    index.push(self.ids[i]);
                    material.push(self.materials[i]);
                    speed.push(*v);
                }
            }
        }
        for (nodes, outline) in &self.flexible {
            for cell in add_tube(&snapshot.bodies[nodes.clone()], outline, &mut data) {
                let (node, v) = (nodes.start + cell, snapshot.bodies[nodes.start + cell].1);
                index.push(self.ids[node]);
                material.push(self.materials[node]);
                speed.push(v);
            }
        }
        data.cell_data("body", index);
        data.cell_data("material", material);
        data.cell_data("speed [m/s]", speed);
        self.add_names(&mut data);
        data
    }
}

impl Surfaces {
    /// The convex parts of a body: corners in the frame of the shape [m], and faces.
    pub(crate) fn parts(&self, body: usize) -> impl Iterator<Item = (&[Vec3], &[Vec<usize>])> {
        self.bodies[body].iter().map(|part| (&part.corners[..], &part.faces[..]))
    }

    /// The outlines of all convex parts as seen in a projection, each with the index of its body, anticlockwise.
    pub(crate) fn outlines(
        &self,
        snapshot: &Snapshot,
        project: impl Fn(Vec3) -> [f64; 2],
    ) -> Vec<(usize, Vec<[f64; 2]>)> {
        let mut outlines = Vec::new();
        for (i, (parts, (pose, _))) in self.bodies.iter().zip(&snapshot.bodies).enumerate() {
            for part in parts.iter().filter(|part| !part.corners.is_empty()) {
                let points = part.corners.iter().map(|corner| project(pose.point(*corner)));
                outlines.push((i, hull(points.collect())));
            }
        }
        outlines
    }
}

/// The convex hull of points in the plane, anticlockwise.
fn hull(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let mut hull: Vec<[f64; 2]> = Vec::new();
    // The lower side from left to right, then the upper side back.
    for back in [false, true] {
        let first = hull.len();
        let mut add = |p: [f64; 2]| {
            while let [.., a, b] = hull[first..] {
                let turn = (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
                if turn > 0.0 {
                    break;
                }
                hull.pop();
            }
            hull.push(p);
        };
        match back {
            false => points.iter().for_each(|p| add(*p)),
            true => points.iter().rev().for_each(|p| add(*p)),
        }
        // The end of one side is the start of the other.
        hull.pop();
    }
    hull
}

/// Adds the surface of a flexible body: its outline along the nodes, with both ends closed. Returns the node of each face.
fn add_tube(nodes: &[(Pose, f64)], outline: &[[f64; 2]], data: &mut PolyData) -> Vec<usize> {
    let (n, first) = (outline.len(), data.n_points());
    for (pose, _) in nodes {
        for [y, z] in outline {
            data.add_point(pose.point(Vec3::new(0.0, *y, *z)).into());
        }
    }
    let mut cells = Vec::new();
    let last = nodes.len() - 1;
    for k in 0..last {
        for i in 0..n {
            let (a, b) = (first + k * n + i, first + k * n + (i + 1) % n);
            data.add_polygon(&[a, b, b + n, a + n]);
            cells.push(k);
        }
    }
    let end = |k: usize| (0..n).map(move |i| first + k * n + i);
    data.add_polygon(&end(0).rev().collect::<Vec<_>>());
    data.add_polygon(&end(last).collect::<Vec<_>>());
    cells.extend([0, last]);
    cells
}

/// The data of a frame that is written to files: poses, speeds and contacts, copied so that they can be written later.
#[derive(Debug)]
pub struct Snapshot {
    /// Pose of each shape, and speed of its centre of mass [m/s].
    bodies: Vec<(Pose, f64)>,
    pub(crate) contacts: Vec<ContactForce>,
    /// `None` if the scene has no ropes.
    pub(crate) ropes: Option<Vec<Drawn>>,
    dt: f64,
    /// Time [s] and number of steps.
    pub(crate) at: (f64, u64),
    /// Poses and velocities of the bodies: of the centre of mass, for free bodies.
    pub(crate) q: Vec<Pose>,
    pub(crate) v: Vec<Twist>,
}

impl Snapshot {
    /// Copies the data from a frame.
    pub fn of(frame: &Frame) -> Snapshot {
        let Frame { scene, state, dt, .. } = *frame;
        let body = |i: usize| (scene.shape_pose(state, scene.body_at(i)), state.v[i].linear.norm());
        let bodies = (0..state.q.len()).map(body).collect();
        let ropes = (!scene.ropes().is_empty()).then(|| Drawn::all(frame));
        let (at, q, v) = ((state.t, state.step), state.q.clone(), state.v.clone());
        let contacts = frame.contacts().collect();
        let mut snapshot = Snapshot { bodies, contacts, ropes, dt, at, q, v };
        if let Some(lattice) = scene.lattice(state.t) {
            snapshot.wrap(scene, &lattice);
        }
        snapshot
    }

    /// Shows the images of bodies and contacts within a periodic cell; half-spaces remain.
    fn wrap(&mut self, scene: &Scene, lattice: &Lattice) {
        let bounded = |i: usize| scene.bodies().radius[i].is_finite();
        for i in (0..self.q.len()).filter(|i| bounded(*i)) {
            let into = lattice.into_cell(self.q[i].position);
            self.q[i].position += into;
            self.bodies[i].0.position += into;
        }
        for contact in &mut self.contacts {
            contact.point = lattice.wrapped(contact.point);
        }
    }

    /// The ropes as lines, with the index of each, `tension [N]` and `slack [m]`; `None` if the scene has no ropes.
    pub fn ropes(&self) -> Option<PolyData> {
        self.ropes.as_ref().map(|ropes| Drawn::lines(ropes))
    }

    /// The contacts as points, with `force [N]`, normal, `gap [m]`, `impulse [N s]` and the two bodies.
    pub fn contacts(&self) -> PolyData {
        let mut data = PolyData::new();
        let (mut force, mut normal) = (Vec::new(), Vec::new());
        let (mut gap, mut impulse, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
        for contact in &self.contacts {
            let point = data.add_point(contact.point.into());
            data.add_vertex(point);
            force.push(<[f64; 3]>::from(contact.force));
            normal.push(<[f64; 3]>::from(contact.normal));
            gap.push(contact.gap);
            impulse.push(contact.force.norm() * self.dt);
            bodies.push(contact.bodies.map(|body| i64::from(body.0)));
        }
        data.point_data("force [N]", force);
        data.point_data("normal", normal);
        data.point_data("gap [m]", gap);
        data.point_data("impulse [N s]", impulse);
        data.point_data("bodies", bodies);
        data
    }
}

/// The surface of a convex part; `around` is whether the scene is planar, and its box [m], `pose` is its pose in its body, `begin` the initial pose of the body.
fn part(around: (bool, [Vec3; 2]), pose: &Pose, shape: &Shape, begin: &Pose, ball: &Part) -> Part {
    let placed = |corners: Vec<Vec3>, faces: Vec<Vec<usize>>| {
        let corners = corners.into_iter().map(|corner| pose.point(corner)).collect();
        Part { corners, faces }
    };
    match shape {
        Shape::Sphere { radius } => {
            placed(ball.corners.iter().map(|c| c * *radius).collect(), ball.faces.clone())
        }
        Shape::Polyhedron(p) => {
            let faces = (0..p.n_faces()).map(|i| p.face(i).iter().map(|v| *v as usize).collect());
            placed(p.vertices().to_vec(), faces.collect())
        }
        Shape::Disc { radius, .. } => {
            let corner = |k: usize| {
                let angle = std::f64::consts::TAU * k as f64 / DISC_CORNERS as f64;
                Vec3::new(radius * angle.cos(), radius * angle.sin(), 0.0)
            };
            placed((0..DISC_CORNERS).map(corner).collect(), vec![(0..DISC_CORNERS).collect()])
        }
        Shape::Polygon(p) => {
            let corners: Vec<Vec3> =
                p.vertices().iter().map(|v| Vec3::new(v[0], v[1], 0.0)).collect();
            let face = (0..corners.len()).collect();
            placed(corners, vec![face])
        }
        Shape::HalfSpace { normal } => {
            let corners = patch(around, *normal, begin);
            Part { corners, faces: vec![vec![0, 1, 2, 3]] }
        }
        // The parts of compounds and curved surfaces are generated by the caller.
        Shape::Compound(_) | Shape::Curved(_) => Part { corners: Vec::new(), faces: Vec::new() },
    }
}

/// Four corners, in the body frame, of a patch that shows the plane of a half-space below the scene: a square, or a strip in
/// planar scenes.
fn patch((planar, [low, high]): (bool, [Vec3; 2]), normal: Vec3, begin: &Pose) -> Vec<Vec3> {
    let half = 0.75 * (high - low).norm();
    let centre = begin.inverse_point(0.5 * (low + high));
    let centre = centre - normal * normal.dot(&centre);
    let (a, b) = if planar {
        let along = Vec3::new(normal.y, -normal.x, 0.0);
        return [(-1.0, 0.0), (-1.0, 0.05), (1.0, 0.05), (1.0, 0.0)]
            .map(|(x, depth)| centre + along * (x * half) - normal * (depth * half))
            .into();
    } else {
        let other = if normal.x.abs() < 0.6 { Vec3::x() } else { Vec3::y() };
        let a = (other - normal * normal.dot(&other)).normalize();
        (a, normal.cross(&a))
    };
    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
        .map(|(x, y)| centre + (a * x + b * y) * half)
        .into()
}

/// A triangulated unit sphere: an octahedron whose faces are split in four `splits + 1` times.
fn ball(splits: usize) -> Part {
    let mut corners = vec![Vec3::x(), Vec3::y(), Vec3::z(), -Vec3::x(), -Vec3::y(), -Vec3::z()];
    let octants =
        [[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
    let mut faces: Vec<[usize; 3]> = octants.into();
    for _ in 0..=splits {
        let mut middles = std::collections::HashMap::new();
        let mut middle = |a: usize, b: usize| {
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                corners.push((corners[a] + corners[b]).normalize());
                corners.len() - 1
            })
        };
        let split = |[a, b, c]: [usize; 3]| {
            let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        };
        faces = faces.iter().copied().flat_map(split).collect();
    }
    Part { corners, faces: faces.into_iter().map(Vec::from).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flexible_body_is_a_closed_tube_around_its_nodes() {
        use riprap::prelude::*;
        let mut scene = Scene::builder();
        let section = Section::Rectangle { height: 0.2, width: 0.1 };
        let points = [[0.0; 3], [2.0, 0.0, 0.0]];
        let beam = Beam::new("beam").points(&points).section(section).elements(4);
        scene.add_flexible(beam.velocity([3.0, 0.0, 4.0], [0.0; 3]));
        let scene = scene.build().unwrap();
        let surfaces = Surfaces::new(&scene);
        let run = Simulation::new(scene, MoreauJean::new(1e-3)).unwrap();
        let data = surfaces.bodies(&Snapshot::of(&run.frame()));
        // Four corners at each of five nodes; four faces for each of four elements, and two ends.
        assert_eq!((data.n_points(), data.n_cells()), (20, 18));
        let mut alone = PolyData::new();
        let cells =
            add_tube(&Snapshot::of(&run.frame()).bodies, &surfaces.flexible[0].1, &mut alone);
        assert_eq!((cells[0], cells[15], cells[16], cells[17]), (0, 3, 0, 4));
    }

    #[test]
    fn the_hull_of_a_square_with_inner_points_is_the_square() {
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let mut points = corners.to_vec();
        points.extend([[0.5, 0.5], [0.5, 0.0], [0.2, 0.7]]);
        assert_eq!(hull(points), corners);
    }

    #[test]
    fn a_triangulated_sphere_is_closed_and_faces_outwards() {
        let ball = ball(2);
        // Euler: vertices - edges + faces = 2, with three half-edges per triangle.
        assert_eq!(ball.corners.len() + ball.faces.len(), 3 * ball.faces.len() / 2 + 2);
        let volume: f64 = ball
            .faces
            .iter()
            .map(|f| {
                let [a, b, c] = [0, 1, 2].map(|k| ball.corners[f[k]]);
                a.dot(&b.cross(&c)) / 6.0
            })
            .sum();
        // Inscribed in the sphere; 512 triangles lose a few percent of its volume.
        assert!((3.9..4.2).contains(&volume), "{volume}");
    }

    /// A body of each shape above a tilted plane.
    fn shapes() -> riprap::scene::Scene {
        use riprap::prelude::*;
        let rock = Material::new("rock").density(1000.0);
        let mut scene = Scene::builder();
        let plane = Shape::half_space([0.0, 0.6, 0.8]).unwrap();
        scene.add(BodyDescription::new(plane, &rock).named("plane").fixed(), &rock);
        let ball = BodyDescription::new(Shape::sphere(0.5).unwrap(), &rock);
        scene.add(ball.at([0.0, 0.0, 3.0]).velocity([3.0, 0.0, 4.0]), &rock);
        let cuboid = Shape::cuboid([1.0, 2.0, 3.0]).unwrap();
        scene.add(BodyDescription::new(cuboid, &rock).at([4.0, 0.0, 4.0]), &rock);
        let walls = Shape::open_box([1.0, 1.0, 1.0], 0.1).unwrap();
        scene.add(BodyDescription::new(walls, &rock).at([-4.0, 0.0, 4.0]).fixed(), &rock);
        scene.build().unwrap()
    }

    #[test]
    fn parts_lie_on_the_surfaces_of_their_shapes() {
        let scene = shapes();
        let surfaces = Surfaces::new(&scene);
        let [plane, ball, cuboid, walls] = &surfaces.bodies[..] else { panic!() };
        // The patch is a square in its plane; its body is at the origin.
        let normal = Vec3::new(0.0, 0.6, 0.8);
        let corners = &plane[0].corners;
        assert!(corners.iter().all(|c| normal.dot(c).abs() < 1e-12), "{corners:?}");
        let side = |k: usize| corners[(k + 1) % 4] - corners[k];
        assert!((0..4).all(|k| (side(k).norm() - side(0).norm()).abs() < 1e-12));
        // Seen from outside, that is from above, its vertices are in anticlockwise order.
        assert!(side(0).cross(&side(1)).dot(&normal) > 0.0);
        assert!(ball[0].corners.iter().all(|c| (c.norm() - 0.5).abs() < 1e-15));
        assert_eq!((cuboid[0].corners.len(), cuboid[0].faces.len()), (8, 6));
        assert!(cuboid[0].corners.iter().all(|c| c.abs() == Vec3::new(0.5, 1.0, 1.5)));
        assert_eq!(walls.len(), 5);
    }

    #[test]
    fn a_frame_shows_the_position_and_speed_of_every_body() {
        use riprap::prelude::*;
        let scene = shapes();
        let surfaces = Surfaces::new(&scene);
        let run = Simulation::new(scene, MoreauJean::new(1e-3)).unwrap();
        let snapshot = Snapshot::of(&run.frame());
        assert_eq!(snapshot.bodies[1].1, 5.0);
        let data = surfaces.bodies(&snapshot);
        let all = surfaces.bodies.iter().flatten();
        let (corners, faces) =
            all.fold((0, 0), |(c, f), part| (c + part.corners.len(), f + part.faces.len()));
        assert_eq!((data.n_points(), data.n_cells()), (corners, faces));
        // There are no contacts, so none are shown.
        assert_eq!(snapshot.contacts().n_points(), 0);
    }

    #[test]
    fn more_splits_approximate_the_sphere_better() {
        let volume = |splits| -> f64 {
            let part = ball(splits);
            let cone = |f: &Vec<usize>| {
                part.corners[f[0]].dot(&part.corners[f[1]].cross(&part.corners[f[2]])) / 6.0
            };
            part.faces.iter().map(cone).sum()
        };
        let full = 4.0 / 3.0 * std::f64::consts::PI;
        let errors = [0, 1, 2, 3].map(|splits| full - volume(splits));
        // Second order in the edge length: each split divides the error by four.
        for pair in errors.windows(2).skip(1) {
            assert!((3.5..4.5).contains(&(pair[0] / pair[1])), "{errors:?}");
        }
    }
}
