//! Granular chains: balls, or discs in a planar scene, connected by ropes.

use super::{Body, BodyDescription, BuildError, Item, Material, On, Rope, SceneBuilder};
use crate::math::{Pose, Vec3, tangents};
use crate::shape::Shape;

/// Where the ropes of a chain are attached to its balls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tie {
    /// At the centres: the ropes do not turn the balls.
    #[default]
    Centre,
    /// On the surfaces, where the initial line of centres leaves them.
    Surface,
}

/// The initial course of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Course {
    /// Straight from its start along a direction.
    Along(Vec3),
    /// To a point of a body in the frame of its shape [m], to which it is tied as well. A chain that
    /// is longer than the distance sags along gravity, as an arc of a circle.
    To(On, Vec3),
}

/// A granular chain: `count` equal balls (discs in a planar scene) connected by ropes, all taut
/// initially.
///
/// ```
/// use riprap::prelude::*;
///
/// let steel = Material::new("steel").density(7800.0).friction(0.3);
/// let mut scene = Scene::builder();
/// // Twenty balls between two points of the world, 1.5 m apart.
/// let mut chain = Chain::new("chain", 20, 0.02, 0.1);
/// chain.course = Course::To(On::World, Vec3::new(1.5, 0.0, 0.0));
/// let balls = scene.add_chain(&chain, &steel);
/// let scene = scene.build()?;
/// assert_eq!((balls.len(), scene.ropes().len()), (20, 21));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Its name: the balls are `name-1`, `name-2`, …, the ropes `name-rope-1`, `name-rope-2`, ….
    pub name: String,
    /// Number of balls.
    pub count: usize,
    /// Radius of the balls [m].
    pub radius: f64,
    /// Thickness of the discs in a planar scene [m].
    pub thickness: f64,
    /// Length of each rope [m].
    pub link: f64,
    /// Where the ropes are attached to the balls.
    pub tie: Tie,
    /// Its start: a point of a body in the frame of its shape [m].
    pub start: (On, Vec3),
    /// Whether it is tied to its start; otherwise the first ball is there.
    pub tied: bool,
    /// Its initial course.
    pub course: Course,
    /// The tension beyond which a rope breaks [N].
    pub breaking_load: Option<f64>,
}

/// What a rope of a chain is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainEnd {
    /// The start of the chain.
    Start,
    /// A ball, from 0.
    Ball(usize),
    /// The end of the chain.
    End,
}

/// The initial positions of a chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChainLayout {
    /// Centres of the balls [m].
    pub centres: Vec<Vec3>,
    /// What each rope connects, with the points relative to the centre of the ball, or to the start
    /// or end of the chain [m].
    pub ropes: Vec<[(ChainEnd, Vec3); 2]>,
}

impl Chain {
    /// A chain of `count` balls with a radius [m] and ropes of length `link` [m] between their
    /// centres, which hangs down along −z from the origin of the world.
    pub fn new(name: &str, count: usize, radius: f64, link: f64) -> Chain {
        Chain {
            name: name.to_owned(),
            count,
            radius,
            thickness: 1.0,
            link,
            tie: Tie::Centre,
            start: (On::World, Vec3::zeros()),
            tied: true,
            course: Course::Along(-Vec3::z()),
            breaking_load: None,
        }
    }

    /// Name of a ball, from 0.
    pub fn ball_name(&self, k: usize) -> String {
        format!("{}-{}", self.name, k + 1)
    }

    /// Name of a rope, from 0.
    pub fn rope_name(&self, k: usize) -> String {
        format!("{}-rope-{}", self.name, k + 1)
    }

    /// Its positions from its start to its end in the world [m]; a chain that is longer than the
    /// distance sags towards `down`. The error says what is wrong.
    pub fn layout(
        &self,
        start: Vec3,
        end: Option<Vec3>,
        down: Vec3,
    ) -> Result<ChainLayout, String> {
        self.check()?;
        let ends = self.ends(end.is_some());
        let lengths: Vec<f64> = ends.windows(2).map(|pair| self.distance(pair)).collect();
        let points = match (end, self.course) {
            (Some(end), _) => arc(start, end, &lengths, down)?,
            (None, Course::Along(direction)) if direction.norm() > 0.0 => {
                straight(start, direction.normalize(), &lengths)
            }
            _ => return Err("its direction has zero length".into()),
        };
        let mut layout = ChainLayout::default();
        for (k, end) in ends.iter().enumerate() {
            layout.centres.extend(matches!(end, ChainEnd::Ball(_)).then_some(points[k]));
        }
        for (k, pair) in ends.windows(2).enumerate() {
            let along = (points[k + 1] - points[k]).normalize();
            let offset = |end: ChainEnd, sign: f64| match (self.tie, end) {
                (Tie::Surface, ChainEnd::Ball(_)) => along * (sign * self.radius),
                _ => Vec3::zeros(),
            };
            layout.ropes.push([(pair[0], offset(pair[0], 1.0)), (pair[1], offset(pair[1], -1.0))]);
        }
        Ok(layout)
    }

    fn check(&self) -> Result<(), String> {
        let positive = |what: &str, x: f64| match x > 0.0 && x.is_finite() {
            true => Ok(()),
            false => Err(format!("its {what} is {x} m, but must be positive")),
        };
        positive("radius", self.radius)?;
        positive("link", self.link)?;
        if self.count == 0 {
            return Err("it needs at least one ball".into());
        }
        if self.tie == Tie::Centre && self.count > 1 && self.link < 2.0 * self.radius {
            let (link, diameter) = (self.link, 2.0 * self.radius);
            return Err(format!(
                "its links of {link} m are shorter than the diameter of its balls, {diameter} m, so that they \
                 overlap; use longer links, smaller balls, or tie the links to their surfaces"
            ));
        }
        Ok(())
    }

    /// What its ropes connect, in order.
    fn ends(&self, has_end: bool) -> Vec<ChainEnd> {
        let balls = (0..self.count).map(ChainEnd::Ball);
        let start = self.tied.then_some(ChainEnd::Start);
        start.into_iter().chain(balls).chain(has_end.then_some(ChainEnd::End)).collect()
    }

    /// Initial distance of two neighbours [m].
    fn distance(&self, pair: &[ChainEnd]) -> f64 {
        let balls = pair.iter().filter(|end| matches!(end, ChainEnd::Ball(_))).count();
        match self.tie {
            Tie::Centre => self.link,
            Tie::Surface => self.link + balls as f64 * self.radius,
        }
    }
}

/// Points at given distances on a line.
fn straight(start: Vec3, direction: Vec3, lengths: &[f64]) -> Vec<Vec3> {
    let mut at = 0.0;
    let next = lengths.iter().map(|length| {
        at += length;
        start + direction * at
    });
    std::iter::once(start).chain(next).collect()
}

/// Points at given distances on an arc of a circle from `start` to `end` that bulges towards `down`.
fn arc(start: Vec3, end: Vec3, lengths: &[f64], down: Vec3) -> Result<Vec<Vec3>, String> {
    let (chord, total) = ((end - start).norm(), lengths.iter().sum::<f64>());
    if !(chord > 0.0 && chord.is_finite()) {
        return Err("its two ends are at the same point".into());
    }
    let along = (end - start) / chord;
    if chord >= total * (1.0 - 1e-9) {
        if chord > total * (1.0 + 1e-6) {
            let missing = chord - total;
            return Err(format!(
                "its ends are {chord} m apart, {missing:.2e} m more than its length of {total} m; use more or longer \
                 links, or move its ends together"
            ));
        }
        return Ok(straight(start, along, lengths));
    }
    // The chord as a function of the curvature falls from the whole length to zero, where the arc is
    // a full circle.
    let angle = |c: f64| -> f64 {
        lengths.iter().map(|length| 2.0 * (0.5 * c * length).min(1.0).asin()).sum()
    };
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, 2.0 / longest);
    for _ in 0..200 {
        let c = 0.5 * (low + high);
        let angle = angle(c);
        let is_shorter =
            angle >= 2.0 * std::f64::consts::PI || 2.0 / c * (0.5 * angle).sin() < chord;
        *(if is_shorter { &mut high } else { &mut low }) = c;
    }
    let curvature = 0.5 * (low + high);
    let mut towards = down - along * along.dot(&down);
    if towards.norm() <= 1e-9 * down.norm() {
        towards = tangents(along).0;
    }
    let towards = towards.normalize();
    let (radius, half) = (1.0 / curvature, 0.5 * angle(curvature));
    // The centre is on the other side of the chord for less than a half circle.
    let centre = start + along * (0.5 * chord) - towards * (radius * half.cos());
    let mut turned = -half;
    let place = |turned: f64| centre + (along * turned.sin() + towards * turned.cos()) * radius;
    let mut points = vec![start];
    for length in lengths {
        turned += 2.0 * (0.5 * curvature * length).min(1.0).asin();
        points.push(place(turned));
    }
    Ok(points)
}

impl SceneBuilder {
    /// Adds a chain of balls of a material (discs if the scene is planar already) and its ropes;
    /// returns the balls. Its start and end may be on bodies that have been added before, or on the
    /// world.
    pub fn add_chain(&mut self, chain: &Chain, material: &Material) -> Vec<Body> {
        let place = |(on, point): (On, Vec3)| match on {
            On::World => Ok(point),
            On::Body(body) => {
                let pose = self.pose_of(body).ok_or("its end is on a body that does not exist")?;
                Ok(pose.point(point))
            }
            _ => Err(
                "its ends can be tied to bodies and to the world; tie it to mechanisms and flexible bodies with ropes",
            ),
        };
        let end = match chain.course {
            Course::To(on, point) => Some((on, point)),
            Course::Along(_) => None,
        };
        let places = place(chain.start).and_then(|start| Ok((start, end.map(place).transpose()?)));
        let down = self.gravity.filter(|g| g.norm() > 0.0);
        let down = down.unwrap_or_else(|| self.default_gravity());
        let layout =
            places.map_err(str::to_owned).and_then(|(start, end)| chain.layout(start, end, down));
        let shape = match self.planar {
            true => Shape::disc(chain.radius, chain.thickness),
            false => Shape::sphere(chain.radius),
        };
        let (layout, shape) = match (layout, shape) {
            (Ok(layout), Ok(shape)) => (layout, shape),
            (Err(problem), _) => return self.refuse_chain(chain, problem),
            (_, Err(problem)) => return self.refuse_chain(chain, problem.to_string()),
        };
        let mut balls = Vec::new();
        for (k, centre) in layout.centres.iter().enumerate() {
            let ball = BodyDescription::new(shape.clone(), material).named(&chain.ball_name(k));
            balls.push(self.add(ball.at((*centre).into()), material));
        }
        for (k, ends) in layout.ropes.iter().enumerate() {
            let path = ends.iter().map(|(of, offset)| match of {
                ChainEnd::Start => chain.start,
                ChainEnd::Ball(k) => (balls[*k].into(), *offset),
                ChainEnd::End => end.unwrap_or(chain.start),
            });
            let rope = Rope::new(&chain.rope_name(k), path.collect());
            self.add_rope(Rope { breaking_load: chain.breaking_load, ..rope });
        }
        balls
    }

    fn refuse_chain(&mut self, chain: &Chain, problem: String) -> Vec<Body> {
        let item = Item::Chain(chain.name.clone());
        self.errors.push(BuildError::Chain { item, problem });
        Vec::new()
    }

    fn pose_of(&self, body: Body) -> Option<Pose> {
        self.bodies.get(body.0 as usize).map(|body| body.pose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multibody::Link;
    use crate::scene::fixtures::*;
    use crate::scene::{MechanismId, Scene};

    fn down() -> Vec3 {
        -Vec3::z()
    }

    #[test]
    fn a_hanging_chain_is_straight_and_taut() {
        let mut scene = Scene::builder();
        let mut chain = Chain::new("chain", 5, 0.02, 0.1);
        chain.start = (On::World, Vec3::new(0.0, 0.0, 2.0));
        let balls = scene.add_chain(&chain, &rock());
        let scene = scene.build().unwrap();
        let state = scene.initial_state();
        for (k, ball) in balls.iter().enumerate() {
            let z = state.q[scene.slot(*ball)].position.z;
            assert!((z - (1.9 - 0.1 * k as f64)).abs() < 1e-14);
        }
        assert_eq!(scene.ropes().len(), 5);
        assert!(scene.ropes().iter().all(|r| r.slack(&state.q).abs() < 1e-15));
        assert!(scene.body("chain-5").is_some() && scene.rope("chain-rope-5").is_some());
    }

    #[test]
    fn a_chain_between_two_points_sags_on_an_arc_with_equal_links() {
        for (tie, distance) in [(Tie::Centre, 0.1), (Tie::Surface, 0.14)] {
            for share in [0.05, 0.5, 0.9, 0.999] {
                let mut chain = Chain::new("chain", 9, 0.02, 0.1);
                chain.tie = tie;
                let (start, along) = (Vec3::new(0.3, -0.2, 1.0), Vec3::new(0.6, 0.8, 0.0));
                let total: f64 = if tie == Tie::Centre { 1.0 } else { 8.0 * 0.14 + 0.24 };
                let end = start + along * (share * total);
                let layout = chain.layout(start, Some(end), down()).unwrap();
                assert_eq!((layout.centres.len(), layout.ropes.len()), (9, 10));
                for pair in layout.centres.windows(2) {
                    assert!(((pair[1] - pair[0]).norm() - distance).abs() < 1e-12);
                }
                let last = (end - layout.centres[8]).norm();
                assert!(
                    (last - if tie == Tie::Centre { 0.1 } else { 0.12 }).abs() < 1e-9,
                    "{last}"
                );
                // It bulges downwards and is symmetric.
                let (first, middle) = (layout.centres[0].z, layout.centres[4].z);
                assert!(middle < first && (layout.centres[8].z - first).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn ropes_on_surfaces_are_as_long_as_the_link() {
        let mut scene = Scene::builder();
        let mut chain = Chain::new("chain", 4, 0.05, 0.03);
        chain.tie = Tie::Surface;
        chain.course = Course::To(On::World, Vec3::new(0.3, 0.0, 0.0));
        scene.add_chain(&chain, &rock());
        let scene = scene.build().unwrap();
        assert!(scene.ropes().iter().all(|rope| (rope.length - 0.03).abs() < 1e-9));
    }

    #[test]
    fn an_untied_chain_starts_with_a_ball() {
        let mut chain = Chain::new("chain", 3, 0.1, 0.3);
        chain.tied = false;
        chain.course = Course::Along(Vec3::x() * 2.0);
        let layout = chain.layout(Vec3::zeros(), None, down()).unwrap();
        assert_eq!(layout.centres, [0.0, 0.3, 0.6].map(|x| Vec3::new(x, 0.0, 0.0)));
        assert_eq!(layout.ropes.len(), 2);
    }

    #[test]
    fn a_chain_in_a_planar_scene_consists_of_discs_and_may_hang_on_a_body() {
        let mut scene = Scene::builder();
        scene.planar();
        let anchor = BodyDescription::new(Shape::disc(0.1, 1.0).unwrap(), &rock());
        let anchor = scene.add(anchor.at([1.0, 2.0, 0.0]).fixed(), &rock());
        let mut chain = Chain::new("chain", 3, 0.05, 0.2);
        chain.start = (anchor.into(), Vec3::new(0.0, -0.1, 0.0));
        chain.course = Course::Along(-Vec3::y());
        let balls = scene.add_chain(&chain, &rock());
        let scene = scene.build().unwrap();
        let lowest = scene.initial_state().q[scene.slot(balls[2])].position;
        assert!((lowest - Vec3::new(1.0, 1.3, 0.0)).norm() < 1e-14);
    }

    #[test]
    fn impossible_chains_are_reported() {
        let said = |change: fn(&mut Chain)| {
            let mut scene = ball_on_floor();
            let mut chain = Chain::new("chain", 3, 0.02, 0.1);
            change(&mut chain);
            assert!(scene.add_chain(&chain, &rock()).is_empty());
            told(&scene)
        };
        let far = said(|c| c.course = Course::To(On::World, Vec3::x() * 0.5));
        assert!(far.contains("chain `chain`: its ends are 0.5 m apart, 1.00e-1 m more"), "{far}");
        assert!(said(|c| c.course = Course::To(On::World, Vec3::zeros())).contains("same point"));
        assert!(said(|c| c.course = Course::Along(Vec3::zeros())).contains("zero length"));
        assert!(said(|c| c.count = 0).contains("at least one ball"));
        assert!(said(|c| c.radius = -1.0).contains("its radius is -1 m"));
        assert!(said(|c| c.link = f64::NAN).contains("its link is NaN m"));
        assert!(said(|c| c.link = 0.03).contains("shorter than the diameter"));
        assert!(said(|c| c.start.0 = On::Body(Body(9))).contains("does not exist"));
        let carried = said(|c| c.start.0 = On::Link(MechanismId(0), Link(0)));
        assert!(carried.contains("tie it to mechanisms and flexible bodies with ropes"));
    }
}
