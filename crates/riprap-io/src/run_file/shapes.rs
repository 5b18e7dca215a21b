//! The bodies of a scene as a run file needs them: the [`Model`] for our own reader, and the surfaces of each block for ParaView.

use riprap::math::{Pose, Vec3};
use riprap::multibody::{GROUND, Joint, Link, Multibody};
use riprap::scene::{MechanismId, Scene};
use riprap::shape::Shape;

use super::model::{FlexibleInfo, JointInfo, Kind, LoopInfo, MechanismInfo, Model};
use crate::output::Surfaces;

/// The bodies of a scene, until stones break or wear.
#[derive(Debug)]
pub(crate) struct Shapes {
    pub model: Model,
    /// The surfaces of the blocks of [`BLOCKS`].
    pub surfaces: [Surface; 4],
    /// Grid to which points of surfaces are rounded [m].
    pub grid: f64,
}

/// The blocks with surfaces.
pub(crate) const BLOCKS: [&str; 4] = ["stones", "machines", "walls", "flexible"];

/// The block of the walls, which do not move.
pub(crate) const WALLS: usize = 2;

/// Surfaces of some bodies.
#[derive(Debug, Default)]
pub(crate) struct Surface {
    /// Bodies, each with its number of points and of faces.
    pub bodies: Vec<(usize, usize, usize)>,
    /// Points in the frames of the bodies [m].
    pub corners: Vec<Vec3>,
    /// End of each face in `connectivity`, after a zero.
    pub offsets: Vec<i32>,
    pub connectivity: Vec<i32>,
}

impl Shapes {
    /// The bodies of a scene; half-spaces are shown as patches below a box given by its lower and upper corner [m].
    pub fn within(scene: &Scene, extent: [Vec3; 2]) -> Shapes {
        let drawn = Surfaces::within(scene, extent);
        let mut model = describe(scene);
        let mut surfaces: [Surface; 4] = Default::default();
        for body in 0..scene.bodies().len() {
            let (centre, sphere) = (scene.bodies().centre[body], model.radius[body] > 0.0);
            let block = match model.kinds[body] {
                Kind::Free => 0,
                Kind::Driven | Kind::Mechanism => 1,
                Kind::Fixed => WALLS,
                Kind::Node => 3,
            };
            for (corners, faces) in drawn.parts(body) {
                let corners: Vec<Vec3> = corners.iter().map(|corner| corner - centre).collect();
                surfaces[block].add(body, &corners, faces);
                if !sphere {
                    add_to_model(&mut model, &corners, faces);
                }
            }
            model.first_vertex.push(model.vertices.len() as u32);
            model.first_face.push(model.face_offsets.len() as u32 - 1);
        }
        for flexible in &model.flexible {
            surfaces[3].add_tube(flexible);
        }
        surfaces.iter_mut().for_each(Surface::close);
        // Rounded to a power of two, points have few bits.
        let grid = (1e-5 * scene.grain_size()).max(1e-12).log2().floor().exp2();
        Shapes { model, surfaces, grid }
    }
}

impl Surface {
    /// Number of points.
    pub fn n_points(&self) -> usize {
        self.bodies.iter().map(|(_, points, _)| points).sum()
    }

    /// Number of faces.
    pub fn n_faces(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn add(&mut self, body: usize, corners: &[Vec3], faces: &[Vec<usize>]) {
        let first = self.corners.len();
        self.corners.extend(corners);
        for face in faces {
            self.add_face(face.iter().map(|corner| first + corner));
        }
        match self.bodies.last_mut() {
            Some(last) if last.0 == body => {
                last.1 += corners.len();
                last.2 += faces.len();
            }
            _ => self.bodies.push((body, corners.len(), faces.len())),
        }
    }

    fn add_face(&mut self, corners: impl Iterator<Item = usize>) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.connectivity.extend(corners.map(|corner| corner as i32));
        self.offsets.push(self.connectivity.len() as i32);
    }

    /// Adds the outline of a flexible body along its nodes, with both ends closed; faces belong to the nodes before them.
    fn add_tube(&mut self, flexible: &FlexibleInfo) {
        let (n, first) = (flexible.outline.len(), self.corners.len());
        let nodes = flexible.nodes as usize;
        for k in 0..nodes {
            let outline = flexible.outline.iter();
            self.corners.extend(outline.map(|[y, z]| Vec3::new(0.0, (*y).into(), (*z).into())));
            let ring = first + k * n;
            let faces = if k + 1 < nodes { n } else { 0 };
            for i in 0..faces {
                let (a, b) = (ring + i, ring + (i + 1) % n);
                self.add_face([a, b, b + n, a + n].into_iter());
            }
            let mut n_faces = faces;
            if k == 0 {
                self.add_face((ring..ring + n).rev());
                n_faces += 1;
            }
            if k + 1 == nodes {
                self.add_face(ring..ring + n);
                n_faces += 1;
            }
            self.bodies.push((flexible.first as usize + k, n, n_faces));
        }
    }

    /// Offsets start with a zero even if there are no faces.
    fn close(&mut self) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
    }

    /// The points with bodies at given poses, rounded to a grid [m].
    pub fn placed(&self, poses: &[Pose], grid: f64) -> Vec<f32> {
        let mut out = Vec::with_capacity(3 * self.corners.len());
        let (mut first, per_grid) = (0, 1.0 / grid);
        for (body, n, _) in &self.bodies {
            let Pose { position, rotation } = &poses[*body];
            let turn = rotation.to_rotation_matrix();
            for corner in &self.corners[first..first + n] {
                let point = turn * corner + position;
                out.extend(point.iter().map(|x| ((x * per_grid).round() * grid) as f32));
            }
            first += n;
        }
        out
    }

    /// A value of each face from one of its body.
    pub fn per_face<T: Clone>(&self, value: impl Fn(usize) -> T) -> Vec<T> {
        let mut out = Vec::with_capacity(self.n_faces());
        for (body, _, faces) in &self.bodies {
            out.extend(std::iter::repeat_n(value(*body), *faces));
        }
        out
    }
}

fn add_to_model(model: &mut Model, corners: &[Vec3], faces: &[Vec<usize>]) {
    let first = model.vertices.len();
    model.vertices.extend(corners.iter().map(|c| [c.x as f32, c.y as f32, c.z as f32]));
    for face in faces {
        model.face_vertices.extend(face.iter().map(|corner| (first + corner) as u32));
        model.face_offsets.push(model.face_vertices.len() as u32);
    }
}

/// The model without vertices and faces.
fn describe(scene: &Scene) -> Model {
    let bodies = scene.bodies();
    let n = bodies.len();
    let mut material = vec![0; n];
    for collider in scene.colliders() {
        material[collider.body as usize] = collider.material;
    }
    let shape = |body: usize| scene.shape(scene.body_at(body));
    let radius = |body: usize| match shape(body) {
        Shape::Sphere { radius } => *radius as f32,
        _ => 0.0,
    };
    let unbounded = |body: usize| {
        let parts = shape(body).parts();
        parts.iter().any(|(_, part)| matches!(part, Shape::HalfSpace { .. }))
    };
    let flexible = |k: usize| {
        let (nodes, structure) = (scene.nodes_of(k), &scene.flexible()[k]);
        FlexibleInfo {
            name: structure.name().into(),
            first: nodes.start as u32,
            nodes: nodes.len() as u32,
            outline: structure.outline().iter().map(|p| p.map(|x| x as f32)).collect(),
        }
    };
    let finite = |x: f64| if x.is_finite() { x as f32 } else { 0.0 };
    Model {
        names: bodies.names.clone(),
        materials: scene.materials().iter().map(|m| m.name.clone()).collect(),
        ids: bodies.ids.clone(),
        kinds: (0..n).map(|body| kind(scene, body)).collect(),
        material,
        mass: (0..n).map(|body| finite(mass(scene, body))).collect(),
        size: bodies.size.iter().map(|size| finite(*size)).collect(),
        radius: (0..n).map(radius).collect(),
        unbounded: (0..n).map(unbounded).collect(),
        first_vertex: vec![0],
        vertices: Vec::new(),
        first_face: vec![0],
        face_offsets: vec![0],
        face_vertices: Vec::new(),
        mechanisms: scene.mechanisms().iter().enumerate().map(|m| mechanism(scene, m)).collect(),
        flexible: (0..scene.flexible().len()).map(flexible).collect(),
        planar: scene.is_planar(),
        gravity: scene.gravity().into(),
    }
}

/// Mass of a body [kg]; infinite if it is held.
fn mass(scene: &Scene, body: usize) -> f64 {
    match &scene.bodies().carried[body] {
        Some(carried) => scene.mechanisms()[carried.mechanism.index()].mass(carried.link),
        None => scene.bodies().mass[body],
    }
}

fn kind(scene: &Scene, body: usize) -> Kind {
    let bodies = scene.bodies();
    if scene.node_at(body).is_some() {
        Kind::Node
    } else if bodies.carried[body].is_some() {
        Kind::Mechanism
    } else if bodies.movable[body] && !scene.is_servo(body) {
        Kind::Free
    } else if bodies.motion[body].is_some() || bodies.movable[body] {
        Kind::Driven
    } else {
        Kind::Fixed
    }
}

fn mechanism(scene: &Scene, (m, system): (usize, &Multibody)) -> MechanismInfo {
    let slot = |link: Link| scene.slot(scene.link_body(MechanismId(m as u32), link));
    let body = |link: Link| (link != GROUND).then(|| slot(link) as u32);
    // Frames of links are at their joints; those of bodies are at the centre of mass, if they are free.
    let place = |link: Link, point: Vec3| match body(link) {
        Some(body) => (point - scene.bodies().centre[body as usize]).into(),
        None => point.into(),
    };
    let joint = |link: Link| {
        let joint = system.joint(link);
        let axis = match joint {
            Joint::Revolute(a) | Joint::Prismatic(a) | Joint::Cylindrical(a) => Some(a.0.into()),
            _ => None,
        };
        JointInfo {
            name: system.link_name(link).into(),
            kind: joint.word().into(),
            parent: body(system.parent(link)),
            child: body(link),
            at: place(link, Vec3::zeros()),
            axis,
        }
    };
    let loops = system.loops().zip(system.loop_links()).zip(system.loop_points());
    let loops = loops.map(|(((name, cut), (a, b)), (at_a, at_b))| LoopInfo {
        name: name.into(),
        kind: cut.word().into(),
        a: body(a),
        b: body(b),
        at_a: place(a, at_a),
        at_b: place(b, at_b),
    });
    MechanismInfo {
        name: system.name().into(),
        bodies: system.links().map(|link| slot(link) as u32).collect(),
        joints: system.links().map(joint).collect(),
        loops: loops.collect(),
    }
}
