//! Ropes and cables: inextensible links that pull and never push, through points on bodies.

use super::{Bodies, BuildError, Item, On, RopeState, SceneBuilder, State};
use crate::math::{Pose, Vec3};
use std::collections::HashSet;

/// A rope may be shorter than its initial path by this fraction of its length [–]: rounding of
/// given numbers.
const SHORTER: f64 = 1e-6;

/// Handle of a rope of a scene, valid for the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RopeId(pub u32);

impl RopeId {
    /// Index into [`super::Scene::ropes`] and [`State::ropes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A massless, inextensible rope through two or more points: `Φ = L − Σ |p_{s+1} − p_s| ≥ 0`. It
/// pulls its ends together when it is taut and exerts no force while it is slack. Points between
/// its ends are frictionless pulleys (eyelets), so the tension is the same everywhere. Bodies
/// connected by a rope collide as usual; the rope itself collides with nothing.
///
/// ```
/// use riprap::prelude::*;
///
/// let steel = Material::new("steel").density(7800.0);
/// let mut scene = Scene::builder();
/// let ball = BodyDescription::new(Shape::sphere(0.1)?, &steel).at([0.0, 0.0, -1.0]);
/// let ball = scene.add(ball, &steel);
/// let path = vec![(On::World, Vec3::zeros()), (ball.into(), Vec3::new(0.0, 0.0, 0.1))];
/// let rope = scene.add_rope(Rope::new("rope", path));
///
/// let dt = 1e-3;
/// let mut run = Simulation::new(scene.build()?, MoreauJean::new(dt))?;
/// run.until(0.1, &mut ())?;
/// let weight = run.scene().bodies().mass[0] * 9.81;
/// let tension = run.state().ropes[rope.index()].tension(dt);
/// assert!((tension - weight).abs() < 1e-6 * weight);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rope {
    /// Its name.
    pub name: String,
    /// What it passes through, from one end to the other: a body and a point in the frame of its
    /// shape [m].
    pub path: Vec<(On, Vec3)>,
    /// Its length `L` [m]; without one, that of the initial path.
    pub length: Option<f64>,
    /// The mean tension over a step beyond which it breaks [N]; without one, it never does. The
    /// mean tension of a step with an impact depends on the length of the step.
    pub breaking_load: Option<f64>,
}

impl Rope {
    /// A rope that is taut initially.
    pub fn new(name: &str, path: Vec<(On, Vec3)>) -> Rope {
        Rope { name: name.to_owned(), path, length: None, breaking_load: None }
    }

    /// Sets its length [m].
    pub fn length(mut self, length: f64) -> Rope {
        self.length = Some(length);
        self
    }

    /// Sets the tension at which it breaks [N].
    pub fn breaking_load(mut self, load: f64) -> Rope {
        self.breaking_load = Some(load);
        self
    }
}

/// A rope with its bodies resolved; points are relative to the bodies' centres of mass.
#[derive(Clone, Debug)]
pub struct ResolvedRope {
    /// Its name.
    pub name: String,
    /// Bodies and points [m], from one end to the other.
    pub vertices: Vec<(u32, Vec3)>,
    /// Its length `L` [m].
    pub length: f64,
    /// The tension beyond which it breaks [N].
    pub breaking_load: Option<f64>,
}

impl ResolvedRope {
    /// The points in the world at given poses of the bodies [m].
    pub fn points<'a>(&'a self, q: &'a [Pose]) -> impl ExactSizeIterator<Item = Vec3> + 'a {
        self.vertices.iter().map(|(body, place)| q[*body as usize].point(*place))
    }

    /// The slack `Φ = L − Σ |p_{s+1} − p_s|` at given poses of the bodies [m]; negative if it is
    /// stretched.
    pub fn slack(&self, q: &[Pose]) -> f64 {
        self.length - path_length(self.points(q))
    }
}

/// Sum of the distances of consecutive points [m].
fn path_length(mut points: impl Iterator<Item = Vec3>) -> f64 {
    let Some(mut last) = points.next() else { return 0.0 };
    let mut length = 0.0;
    for point in points {
        length += (point - last).norm();
        last = point;
    }
    length
}

impl SceneBuilder {
    /// Adds a rope.
    pub fn add_rope(&mut self, rope: Rope) -> RopeId {
        self.ropes.push(rope);
        RopeId(self.ropes.len() as u32 - 1)
    }

    /// Resolves the bodies of the ropes and adds their initial states.
    pub(super) fn resolve_ropes(
        &self,
        bodies: &Bodies,
        initial: &mut State,
        errors: &mut Vec<BuildError>,
    ) -> Vec<ResolvedRope> {
        let mut names = HashSet::new();
        let mut resolved = Vec::new();
        for rope in &self.ropes {
            if !names.insert(&rope.name) {
                let (what, name) = ("ropes", rope.name.clone());
                errors.push(BuildError::Duplicate { what, name });
            }
            match self.resolve_rope(rope, bodies, initial) {
                Ok(rope) => resolved.push(rope),
                Err(error) => errors.push(error),
            }
        }
        initial.ropes.resize(resolved.len(), RopeState::default());
        resolved
    }

    fn resolve_rope(
        &self,
        rope: &Rope,
        bodies: &Bodies,
        initial: &State,
    ) -> Result<ResolvedRope, BuildError> {
        let item = || Item::Rope(rope.name.clone());
        let wrong = |problem| BuildError::WrongDimension { item: item(), problem };
        if rope.path.len() < 2 {
            return Err(wrong("it needs at least two points, one for each end"));
        }
        if !rope.path.iter().all(|(_, p)| p.iter().all(|x| x.is_finite())) {
            return Err(BuildError::NotFinite { item: item(), what: "every point" });
        }
        let numbers = [("length", rope.length), ("breaking load", rope.breaking_load)];
        for (what, value) in numbers {
            if let Some(value) = value
                && !(value > 0.0 && value.is_finite())
            {
                let range = "positive and finite";
                return Err(BuildError::OutOfRange { item: item(), what, value, range });
            }
        }
        let vertex = |(on, point): &(On, Vec3)| {
            let body = bodies.find(*on)?;
            Some((body, point - bodies.centre[body as usize]))
        };
        let Some(vertices) = rope.path.iter().map(vertex).collect::<Option<Vec<_>>>() else {
            return Err(wrong("it refers to a body that does not exist"));
        };
        // The lists of a scene with other mistakes may be incomplete; those are reported anyway.
        if vertices.iter().any(|(body, _)| initial.q.len() <= *body as usize) {
            return Err(wrong("it refers to a body with mistakes"));
        }
        let (breaking_load, name) = (rope.breaking_load, rope.name.clone());
        let mut resolved = ResolvedRope { name, vertices, length: 0.0, breaking_load };
        if !resolved.vertices.iter().any(|(body, _)| bodies.can_move(*body as usize)) {
            return Err(wrong("none of its points is on something that can move"));
        }
        let points: Vec<Vec3> = resolved.points(&initial.q).collect();
        if self.planar && points.iter().any(|p| p.z.abs() > 1e-12) {
            return Err(wrong("in a planar scene all of its points must have z = 0"));
        }
        let path = path_length(points.iter().copied());
        resolved.length = rope.length.unwrap_or(path);
        let (length, excess) = (resolved.length, path - resolved.length);
        if excess > SHORTER * length {
            return Err(BuildError::RopeTooShort { item: item(), length, path, excess });
        }
        let meets = points.windows(2).any(|p| (p[1] - p[0]).norm() <= SHORTER * length);
        if meets && excess >= -SHORTER * length {
            return Err(wrong(
                "two consecutive points coincide, so a taut rope has no direction there; move one of \
                 them, remove it, or make the rope longer than its path",
            ));
        }
        Ok(resolved)
    }

    /// What ropes are attached to.
    pub(super) fn tied(&self) -> impl Iterator<Item = On> + '_ {
        self.ropes.iter().flat_map(|rope| rope.path.iter().map(|(on, _)| *on))
    }
}

impl Bodies {
    /// Whether something is free, part of a mechanism, or a node of a flexible body.
    fn can_move(&self, body: usize) -> bool {
        let is_node = self.first_nodes.first().is_some_and(|first| *first as usize <= body);
        self.movable[body] || self.carried[body].is_some() || is_node
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multibody::Link;
    use crate::scene::fixtures::*;
    use crate::scene::{Body, MechanismId, Scene};

    /// A fixed and a free ball 0.5 m apart, with a rope between their centres, modified by `change`.
    fn tied(change: impl FnOnce(&mut Rope)) -> Result<Scene, String> {
        let mut scene = Scene::builder();
        let a = scene.add(ball("a", [0.0; 3]).fixed(), &rock());
        let b = scene.add(ball("b", [0.3, 0.0, -0.4]), &rock());
        let path = vec![(a.into(), Vec3::zeros()), (b.into(), Vec3::zeros())];
        let mut rope = Rope::new("rope", path);
        change(&mut rope);
        scene.add_rope(rope);
        scene.build().map_err(|e| e.to_string())
    }

    #[test]
    fn a_rope_is_as_long_as_its_path_unless_a_length_is_given() {
        let scene = tied(|_| ()).unwrap();
        let [rope] = scene.ropes() else { panic!("one rope") };
        assert!((rope.length - 0.5).abs() < 1e-15);
        assert_eq!(rope.slack(&scene.initial_state().q), 0.0);
        let scene = tied(|r| r.length = Some(0.7)).unwrap();
        let slack = scene.ropes()[0].slack(&scene.initial_state().q);
        assert!((slack - 0.2).abs() < 1e-15);
        assert_eq!(scene.initial_state().ropes.len(), 1);
    }

    #[test]
    fn tied_bodies_still_collide_and_the_world_becomes_a_body() {
        let scene = tied(|r| r.path[0].0 = On::World).unwrap();
        assert!(scene.pairs_apart().is_empty());
        let world = scene.body(Bodies::WORLD).unwrap();
        assert_eq!(scene.ropes()[0].vertices[0].0 as usize, scene.slot(world));
    }

    #[test]
    fn invalid_ropes_are_reported() {
        let said = |change: fn(&mut Rope)| tied(change).unwrap_err();
        assert!(said(|r| r.path.truncate(1)).contains("it needs at least two points"));
        assert!(said(|r| r.path[1].0 = On::Body(Body(7))).contains("does not exist"));
        let absent = said(|r| r.path[1].0 = On::Link(MechanismId(0), Link(0)));
        assert!(absent.contains("does not exist"), "{absent}");
        let nan = said(|r| r.path[1].1.x = f64::NAN);
        assert_eq!(nan, "rope `rope`: every point must be a finite number");
        assert!(said(|r| r.path[1].0 = On::World).contains("on something that can move"));
        for load in [0.0, -1.0, f64::NAN] {
            let said = tied(|r| r.breaking_load = Some(load)).unwrap_err();
            assert!(said.contains("breaking load is") && said.contains("positive"), "{said}");
        }
        assert!(said(|r| r.length = Some(-1.0)).contains("length is -1"));
        let met = said(|r| r.path.insert(1, r.path[0]));
        assert!(met.contains("two consecutive points coincide"), "{met}");
    }

    #[test]
    fn a_rope_that_is_too_short_says_by_how_much() {
        let said = tied(|r| r.length = Some(0.4)).unwrap_err();
        assert_eq!(
            said,
            "rope `rope`: its length of 0.4 m is 1.00e-1 m shorter than its initial path of 0.5 m; \
             set the length to at least 0.5 m, omit it, or move its points together"
        );
        // Rounding is accepted.
        assert!(tied(|r| r.length = Some(0.5 * (1.0 - 0.9e-6))).is_ok());
    }

    #[test]
    fn points_may_coincide_while_the_rope_is_slack() {
        let doubled = |r: &mut Rope| {
            r.path.insert(1, r.path[0]);
            r.length = Some(0.6);
        };
        assert!(tied(doubled).is_ok());
    }

    #[test]
    fn points_outside_of_the_plane_are_reported() {
        let mut scene = Scene::builder();
        scene.planar();
        let disc = crate::shape::Shape::disc(0.1, 1.0).unwrap();
        let disc = scene.add(crate::scene::BodyDescription::new(disc, &rock()), &rock());
        let above = Vec3::new(0.0, 1.0, 0.2);
        scene.add_rope(Rope::new("a", vec![(On::World, above), (disc.into(), Vec3::zeros())]));
        assert!(told(&scene).contains("all of its points must have z = 0"));
    }

    #[test]
    fn two_ropes_need_two_names() {
        let mut scene = ball_on_floor();
        for _ in 0..2 {
            let path = vec![(On::World, Vec3::z()), (On::Body(Body(1)), Vec3::zeros())];
            scene.add_rope(Rope::new("twin", path));
        }
        assert_eq!(told(&scene), "two ropes are named `twin`; rename one of them");
    }
}
