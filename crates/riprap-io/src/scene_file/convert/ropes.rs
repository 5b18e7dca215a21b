//! Ropes and chains. A chain becomes bodies and ropes.

use riprap::scheme::Integrator;
use std::collections::HashSet;
use std::ops::Range;

use riprap::math::{Pose, Quat, Vec3};
use riprap::scene::{Chain as Laid, ChainEnd, ChainLayout, Course, On};

use super::super::keys::ReadKeys;
use super::super::model::{
    Body, BodyKind, Chain, NO_LOAD, Place, Rope, Shape, ShapeRef, Target, TimeScheme, Vector,
};
use super::super::values::{Entries, Node};
use super::shapes::UPRIGHT;
use super::{Converter, Placed};

impl Converter<'_> {
    /// The ropes of chains, and then those of the file.
    pub(super) fn ropes(&mut self, nodes: &[Node], chains: Placed<Rope>) -> Placed<Rope> {
        let (mut ropes, mut spans) = chains;
        let mut names: HashSet<String> = ropes.iter().map(|rope| rope.name.clone()).collect();
        for (index, entries) in nodes.iter().filter_map(Node::table).enumerate() {
            self.own_name(entries, "ropes", "rope", index, &mut names);
            let Some(rope) = Rope::read_keys(self, entries) else { continue };
            if self.check_rope(&rope, entries) {
                ropes.push(rope);
                spans.push(entries.span.clone());
            }
        }
        self.rope_names = names;
        (ropes, spans)
    }

    fn check_rope(&mut self, rope: &Rope, entries: &Entries) -> bool {
        let settles = |place: &Place| match place.body {
            Some(Target::Grain { group, .. }) => self.known.settles(group),
            _ => false,
        };
        let nodes = entries.list("points").unwrap_or_default();
        let span = |k: usize| nodes.get(k).map_or(entries.span.clone(), |node| node.span.clone());
        if let Some(k) = rope.points.iter().position(settles) {
            let message =
                "this grain settles before the rope is tied, so its position is not known";
            let help = "remove `settle` from its group, or use a [[body]]";
            self.problems.advise(span(k), message, help);
            return false;
        }
        if !rope.points.iter().filter_map(|place| place.body).any(|body| self.known.is_free(body)) {
            let message =
                "none of these points is on something that can move, so the rope has no effect";
            self.problems.report(entries.value_span("points"), message);
            return false;
        }
        true
    }

    /// Reports ropes with a scheme that has none.
    pub(super) fn check_ropes(&mut self, scheme: &TimeScheme, run: &Entries, scene: &Entries) {
        let name = match scheme {
            TimeScheme::GeneralizedAlpha { .. } => "generalized-alpha",
            TimeScheme::DormandPrince { .. } => "dormand-prince",
            TimeScheme::RigidEvents { .. } => "rigid-events",
            TimeScheme::Penalty { integrator: Integrator::RungeKutta, .. } => "rk4",
            TimeScheme::MoreauJean { .. }
            | TimeScheme::ConeComplementarity { .. }
            | TimeScheme::Penalty { .. } => return,
        };
        if ["rope", "chain"].iter().any(|key| scene.given(key).is_some()) {
            let message = format!("\"{name}\" has no ropes");
            let help = "remove `scheme`, or [[rope]] and [[chain]]";
            self.problems.advise(run.value_span("scheme"), message, help);
        }
    }

    /// The chains as bodies, which are appended, and ropes; with the locations of the bodies.
    pub(super) fn chains(
        &mut self,
        nodes: &[Node],
        gravity: Vector,
        bodies: &mut Vec<Option<Body>>,
    ) -> (Placed<Rope>, Vec<Range<usize>>) {
        let (mut ropes, mut spans, mut ball_spans) = (Vec::new(), Vec::new(), Vec::new());
        for (index, entries) in nodes.iter().filter_map(Node::table).enumerate() {
            self.own_name = self.name(entries, format!("chain-{}", index + 1));
            let chain = Chain::read_keys(self, entries);
            let end = entries.given("end").map(|node| Place::read_keys(self, node.table()?));
            // An invalid end has been reported.
            let (Some(chain), Some(end)) = (chain, end.map_or(Some(None), |end| end.map(Some)))
            else {
                continue;
            };
            let laid = self.laid_out(&chain, end.as_ref(), gravity, bodies, entries);
            let Some((laid, layout)) = laid else { continue };
            let first = bodies.iter().flatten().count();
            for (k, centre) in layout.centres.iter().enumerate() {
                let ball = self.ball(&chain, laid.ball_name(k), (*centre).into());
                let span = entries.value_span("name");
                if self.names.insert(ball.name.clone(), span.clone()).is_some()
                    || self.grain(&ball.name).is_some()
                {
                    let message = format!("the name `{}` of a ball is used twice", ball.name);
                    self.problems.advise(span, message, "rename the chain");
                }
                bodies.push(Some(ball));
                ball_spans.push(entries.span.clone());
            }
            for (k, ends) in layout.ropes.iter().enumerate() {
                let points = ends.iter().map(|(of, offset)| match of {
                    ChainEnd::Start => chain.start.clone(),
                    ChainEnd::End => end.clone().unwrap_or_else(|| chain.start.clone()),
                    ChainEnd::Ball(k) => {
                        let body = Some(Target::Body(first + k));
                        Place { body, position: (*offset).into() }
                    }
                });
                ropes.push(Rope {
                    name: laid.rope_name(k),
                    points: points.collect(),
                    length: None,
                    breaking_load: chain.breaking_load,
                });
                spans.push(entries.span.clone());
            }
        }
        ((ropes, spans), ball_spans)
    }

    /// The chain of the simulator, and its initial positions.
    fn laid_out(
        &mut self,
        chain: &Chain,
        end: Option<&Place>,
        gravity: Vector,
        bodies: &[Option<Body>],
        entries: &Entries,
    ) -> Option<(Laid, ChainLayout)> {
        let start = self.anchor(&chain.start, bodies, entries, "start")?;
        let end = match end {
            Some(end) => Some(self.anchor(end, bodies, entries, "end")?),
            None => None,
        };
        if end.is_some() && entries.given("direction").is_some() {
            let message = "a chain has an `end` or a `direction`, not both";
            self.problems.report(entries.key_span("direction"), message);
            return None;
        }
        let upright = if self.planar { [0.0, -1.0, 0.0] } else { [0.0, 0.0, -1.0] };
        let down = if gravity == [0.0; 3] { upright } else { gravity };
        let direction = match entries.given("direction") {
            Some(node) => self.direction(node, "direction")?,
            None => down,
        };
        if self.planar && direction[2] != 0.0 {
            let message = "the scene is planar: `direction` must lie in the x–y plane";
            self.problems.report(entries.value_span("direction"), message);
            return None;
        }
        let mut laid = Laid::new(&chain.name, chain.count as usize, chain.radius, chain.link);
        (laid.tie, laid.tied, laid.thickness) = (chain.tie, chain.tied, chain.thickness);
        laid.course = match end {
            Some(end) => Course::To(On::World, end),
            None => Course::Along(direction.into()),
        };
        match laid.layout(start, end, down.into()) {
            Ok(layout) => Some((laid, layout)),
            Err(problem) => {
                let message = format!("chain `{}`: {problem}", chain.name);
                let key = if end.is_some() { "end" } else { "link" };
                self.problems.report(entries.value_span(key), message);
                None
            }
        }
    }

    /// The point of a body or of the world in the world frame [m].
    fn anchor(
        &mut self,
        place: &Place,
        bodies: &[Option<Body>],
        entries: &Entries,
        key: &str,
    ) -> Option<Vec3> {
        let position = Vec3::from(place.position);
        match place.body {
            None => Some(position),
            Some(Target::Body(index)) => {
                let body = bodies.iter().flatten().nth(index)?;
                let [w, x, y, z] = body.rotation;
                let rotation = Quat::new_unchecked([x, y, z, w].into());
                Some(Pose { position: body.position.into(), rotation }.point(position))
            }
            Some(_) => {
                let message = "a chain can be tied to a [[body]] or to the world";
                let help = "tie one of its balls to anything else with a [[rope]]";
                self.problems.advise(entries.value_span(key), message, help);
                None
            }
        }
    }

    fn ball(&self, chain: &Chain, name: String, position: Vector) -> Body {
        let shape = match self.planar {
            true => Shape::Disc { radius: chain.radius, thickness: chain.thickness },
            false => Shape::Sphere { radius: chain.radius },
        };
        Body {
            name,
            shape: ShapeRef::Inline(shape),
            material: chain.material,
            position,
            rotation: UPRIGHT,
            mass: None,
            kind: BodyKind::Free {
                velocity: [0.0; 3],
                angular_velocity: [0.0; 3],
                locked: [false; 6],
                force: NO_LOAD,
                torque: NO_LOAD,
            },
        }
    }
}
