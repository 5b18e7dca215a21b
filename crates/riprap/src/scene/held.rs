//! Groups of grains in a description, and the description in which everything but some bodies is held: grains settle in it
//! before a run starts.

use super::{Body, BodyDescription, Kind, Material, MechanismId, Scene, SceneBuilder};
use crate::math::Pose;
use crate::shape::Shape;

impl SceneBuilder {
    /// Adds a group of grains: free bodies `name-1`, `name-2`, … of one material. Shapes and poses come from
    /// [`crate::grains`], for example.
    ///
    /// ```
    /// use riprap::grains::{Grading, StoneGenerator, rain_shapes, seeded};
    /// use riprap::prelude::*;
    ///
    /// let rock = Material::new("rock").density(2700.0).friction(0.7);
    /// let mut scene = Scene::builder();
    /// scene.add_fixed(Shape::open_box([0.4, 0.4, 0.3], 0.02)?, Pose::IDENTITY, &rock);
    ///
    /// let mut rng = seeded(1);
    /// let sizes = Grading::named("EN 13450 31.5-50")?.sample_many(30, &mut rng);
    /// let stones = StoneGenerator::default().generate_many(&sizes, &mut rng)?;
    /// let poses = rain_shapes(&stones, [-0.2, -0.2, 0.01], [0.2, 0.2], &mut rng)?;
    /// let ballast = scene.add_grains("ballast", stones.into_iter().zip(poses), &rock);
    /// assert_eq!((ballast.len(), scene.build()?.bodies().len()), (30, 31));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_grains(
        &mut self,
        name: &str,
        grains: impl IntoIterator<Item = (Shape, Pose)>,
        material: &Material,
    ) -> Vec<Body> {
        self.material(material);
        let mut bodies = Vec::new();
        for (k, (shape, pose)) in grains.into_iter().enumerate() {
            let mut grain = BodyDescription::new(shape, material);
            (grain.name, grain.pose) = (format!("{name}-{}", k + 1), pose);
            bodies.push(self.add_body(grain));
        }
        bodies
    }

    /// The description in which only the bodies move whose index `moves` accepts. All others are fixed where they are in the
    /// initial state of `scene`, which this description has built: individual bodies, the shapes of mechanisms and those
    /// of flexible bodies, in the order of the scene, so that impulses carry over. Joints, ropes and contacts at chosen points are left out.
    pub fn held(&self, scene: &Scene, moves: impl Fn(usize) -> bool) -> SceneBuilder {
        let mut held = self.clone();
        held.mechanisms.clear();
        held.flexible.clear();
        held.point_contacts.clear();
        held.joints.clear();
        held.ropes.clear();
        held.apart.clear();
        held.insertions.clear();
        held.removals.clear();
        held.cell = held.cell.map(|cell| cell.held());
        held.alert(scene.detection().alert);
        held.accept_overlap(f64::INFINITY); // already checked with all bodies in their actual kinds
        for (index, body) in held.bodies.iter_mut().enumerate() {
            if !moves(index) {
                body.kind = Kind::Fixed;
            }
        }
        let state = scene.initial_state();
        for (m, system) in scene.mechanisms().iter().enumerate() {
            for link in system.links() {
                let body = scene.link_body(MechanismId(m as u32), link);
                let own = system.shapes().iter().filter(|part| part.link == link);
                for (k, part) in own.enumerate() {
                    let material = Material::new(&part.material);
                    let name = format!("{}#{k}", scene.bodies().names[scene.slot(body)]);
                    let mut fixed =
                        BodyDescription::new(part.shape.clone(), &material).named(&name).fixed();
                    fixed.pose = scene.shape_pose(&state, body).compose(&part.pose);
                    held.add_body(fixed);
                }
            }
        }
        for slot in (0..scene.flexible().len()).flat_map(|k| scene.nodes_of(k)) {
            let own = scene.colliders().iter().find(|c| c.body as usize == slot);
            let Some(own) = own else { continue };
            let (body, name) = (scene.body_at(slot), &scene.bodies().names[slot]);
            let material = &scene.materials()[own.material as usize];
            let mut fixed =
                BodyDescription::new(scene.shape(body).clone(), material).named(name).fixed();
            fixed.pose = scene.shape_pose(&state, body);
            held.add_body(fixed);
        }
        held
    }

    /// Number of individual bodies and grains described so far.
    pub fn n_bodies(&self) -> usize {
        self.bodies.len()
    }
}
