//! Joints between bodies in absolute coordinates: equations at velocity level inside the contact problem.

use super::{Bodies, Body, BuildError, Item, On, SceneBuilder};
use crate::math::{Mat3, Pose};

/// The kind of a joint between two frames; axes are the z axes of the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// The origins move together.
    Ball,
    /// The origins move together and the z axes stay parallel.
    Hinge,
    /// The second frame slides along the z axis of the first and does not rotate relative to it.
    Slider,
    /// The frames move together.
    Weld,
}

/// A joint between two bodies of a scene (or the world), imposed on their velocities: the pure
/// LMGC90 model of the paper. Velocities satisfy it to the solver's tolerance; positions drift.
///
/// ```
/// use riprap::prelude::*;
///
/// let steel = Material::new("steel").density(7800.0);
/// let mut scene = Scene::builder();
/// let ball = BodyDescription::new(Shape::sphere(0.1)?, &steel).at([1.0, 0.0, 0.0]);
/// let ball = scene.add(ball, &steel);
/// // A pendulum: the ball turns about the origin of the world.
/// let (world, place) = (Pose::IDENTITY, Pose::at([1.0, 0.0, 0.0]));
/// let pivot = (On::World, world);
/// scene.add_joint(BodyJoint::at("pivot", Hold::Ball, world, pivot, (ball.into(), place)).projected());
/// let mut run = Simulation::new(scene.build()?, MoreauJean::new(1e-3))?;
/// run.until(0.3, &mut ())?;
/// assert!((run.pose(ball).position.norm() - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BodyJoint {
    /// Its name.
    pub name: String,
    /// Kind of joint.
    pub hold: Hold,
    /// First body and the frame on it, in the frame of its shape.
    pub a: (On, Pose),
    /// Second body and the frame on it.
    pub b: (On, Pose),
    /// Whether positions are projected onto the joint after every step, which removes the drift.
    pub project: bool,
}

/// A joint with its bodies resolved; frames are relative to the bodies' centres of mass.
#[derive(Clone, Debug)]
pub struct ResolvedJoint {
    /// Its name.
    pub name: String,
    /// Kind of joint.
    pub hold: Hold,
    /// The bodies.
    pub bodies: [u32; 2],
    /// Origins of the frames in the bodies [m].
    pub places: [crate::math::Vec3; 2],
    /// Rotations of the frames in the bodies.
    pub rotations: [Mat3; 2],
    /// Whether positions are projected.
    pub project: bool,
}

impl ResolvedJoint {
    /// Distance between the origins of its two frames at poses of the bodies, along the constrained directions [m].
    pub(super) fn apart(&self, q: &[Pose]) -> f64 {
        let [a, b] = self.bodies.map(|b| &q[b as usize]);
        let mut apart = b.point(self.places[1]) - a.point(self.places[0]);
        if self.hold == Hold::Slider {
            let axis = a.vector(self.rotations[0].column(2).into_owned());
            apart -= axis * axis.dot(&apart);
        }
        apart.norm()
    }
}

impl SceneBuilder {
    /// Adds a joint between two bodies.
    pub fn add_joint(&mut self, joint: BodyJoint) {
        self.joints.push(joint);
    }

    pub(super) fn resolve_joints(
        &self,
        bodies: &Bodies,
        errors: &mut Vec<BuildError>,
    ) -> Vec<ResolvedJoint> {
        let mut resolved = Vec::new();
        for joint in &self.joints {
            let item = || Item::Joint(joint.name.clone());
            let mut wrong = |problem| {
                errors.push(BuildError::WrongDimension { item: item(), problem });
            };
            // Nodes of flexible bodies may be held by anything; bodies of mechanisms only by nodes.
            let on = [joint.a.0, joint.b.0];
            let on_node = on.iter().any(|on| matches!(on, On::Node(..)));
            if !on_node && on.iter().any(|on| matches!(on, On::Link(..))) {
                wrong("it constrains a body of a mechanism; close a loop of the mechanism instead");
                continue;
            }
            if let [On::Node(a, _), On::Node(b, _)] = on
                && a == b
            {
                wrong("it connects two nodes of one flexible body");
                continue;
            }
            let (Some(a), Some(b)) = (bodies.find(joint.a.0), bodies.find(joint.b.0)) else {
                wrong("it refers to a body that does not exist");
                continue;
            };
            let free = bodies.movable[a as usize] || bodies.movable[b as usize];
            if joint.project && on_node {
                wrong("positions of flexible bodies are not projected; remove `project`");
                continue;
            }
            if a == b || !(free || on_node) {
                wrong("it must connect two different bodies, at least one of which is free");
                continue;
            }
            let numbers = [joint.a.1, joint.b.1];
            if !numbers
                .iter()
                .all(|p| p.position.iter().chain(p.rotation.coords.iter()).all(|x| x.is_finite()))
            {
                errors.push(BuildError::NotFinite { item: item(), what: "frame" });
                continue;
            }
            let place = |body: u32, pose: &Pose| pose.position - bodies.centre[body as usize];
            resolved.push(ResolvedJoint {
                name: joint.name.clone(),
                hold: joint.hold,
                bodies: [a, b],
                places: [place(a, &joint.a.1), place(b, &joint.b.1)],
                rotations: [joint.a.1, joint.b.1]
                    .map(|p| *p.rotation.to_rotation_matrix().matrix()),
                project: joint.project,
            });
        }
        resolved
    }

    /// Bodies connected by joints, which therefore do not collide.
    pub(super) fn joined(&self) -> impl Iterator<Item = (On, On)> + '_ {
        self.joints.iter().map(|j| (j.a.0, j.b.0))
    }
}

impl BodyJoint {
    /// A joint at a `frame` in the world, whose z axis is the axis of the joint, for bodies whose
    /// frames are given by their initial poses.
    pub fn at(name: &str, hold: Hold, frame: Pose, a: (On, Pose), b: (On, Pose)) -> BodyJoint {
        let within = |body: Pose| Pose {
            position: body.inverse_point(frame.position),
            rotation: body.rotation.inverse() * frame.rotation,
        };
        BodyJoint {
            name: name.to_owned(),
            hold,
            a: (a.0, within(a.1)),
            b: (b.0, within(b.1)),
            project: false,
        }
    }

    /// Projects positions onto the joint after every step.
    pub fn projected(mut self) -> BodyJoint {
        self.project = true;
        self
    }
}

impl From<Body> for On {
    fn from(body: Body) -> On {
        On::Body(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::fixtures::{pose, seeded};
    use crate::math::{Quat, Vec3};
    use crate::multibody::Link;
    use crate::scene::fixtures::*;
    use crate::scene::{MechanismId, Scene};

    /// Two balls, one fixed, with a joint in between, modified by `change`.
    fn joined(change: impl FnOnce(&mut BodyJoint)) -> Result<Scene, String> {
        let mut scene = Scene::builder();
        let a = scene.add(ball("a", [0.0; 3]).fixed(), &rock());
        let b = scene.add(ball("b", [0.2, 0.0, 0.0]), &rock());
        let frame = Pose::at([0.1, 0.0, 0.0]);
        let places = [Pose::at([0.0; 3]), Pose::at([0.2, 0.0, 0.0])];
        let mut joint =
            BodyJoint::at("pin", Hold::Hinge, frame, (a.into(), places[0]), (b.into(), places[1]));
        change(&mut joint);
        scene.add_joint(joint);
        scene.build().map_err(|e| e.to_string())
    }

    #[test]
    fn a_joint_at_a_world_frame_is_the_same_frame_on_both_bodies() {
        let mut rng = seeded(101);
        for _ in 0..30 {
            let (frame, a, b) = (pose(&mut rng, 2.0), pose(&mut rng, 2.0), pose(&mut rng, 2.0));
            let joint = BodyJoint::at("j", Hold::Weld, frame, (On::World, a), (On::World, b));
            for (body, (_, place)) in [(a, joint.a), (b, joint.b)] {
                let back = body.compose(&place);
                assert!((back.position - frame.position).norm() < 1e-14);
                assert!(back.rotation.angle_to(&frame.rotation) < 1e-7);
            }
            assert!(!joint.project && joint.projected().project);
        }
    }

    #[test]
    fn positions_are_relative_to_the_centres_of_mass() {
        let centre = Vec3::new(0.02, 0.0, 0.01);
        let mut scene = Scene::builder();
        let mut body = ball("b", [0.0; 3]).mass(1.0);
        body.centre = Some(centre);
        body.inertia = Some(Mat3::identity());
        let body = scene.add(body, &rock());
        let turn = Quat::from_scaled_axis(Vec3::new(0.0, 0.4, 0.0));
        let place = Pose { position: Vec3::new(0.1, 0.2, 0.3), rotation: turn };
        scene.add_joint(BodyJoint {
            name: "pin".into(),
            hold: Hold::Ball,
            a: (On::World, Pose::IDENTITY),
            b: (body.into(), place),
            project: false,
        });
        let scene = scene.build().unwrap();
        // The world has become a body.
        let world = scene.body(Bodies::WORLD).unwrap();
        let [joint] = scene.joints() else { panic!("one joint") };
        assert_eq!(joint.bodies, [world.0, body.0]);
        assert_eq!(joint.places, [Vec3::zeros(), place.position - centre]);
        assert_eq!(joint.rotations[1], *turn.to_rotation_matrix().matrix());
    }

    #[test]
    fn joined_bodies_do_not_collide() {
        let scene = joined(|_| ()).unwrap();
        assert_eq!(scene.pairs_apart(), [(0, 1)]);
    }

    #[test]
    fn invalid_joints_are_reported() {
        let said = |change: fn(&mut BodyJoint)| joined(change).unwrap_err();
        assert!(
            said(|j| j.a.0 = On::Body(Body(7))).contains("it refers to a body that does not exist")
        );
        assert!(said(|j| j.b.0 = j.a.0).contains("it must connect two different bodies"));
        let free = "at least one of which is free";
        assert!(said(|j| j.b.0 = On::World).contains(free), "fixed to the world");
        let carried = said(|j| j.a.0 = On::Link(MechanismId(0), Link(0)));
        assert!(carried.contains("close a loop of the mechanism instead"), "{carried}");
        let nan = said(|j| j.b.1.position.x = f64::NAN);
        assert_eq!(nan, "joint `pin`: frame must be a finite number");
    }
}
