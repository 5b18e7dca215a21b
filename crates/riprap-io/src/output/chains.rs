//! Force chains: loaded contacts as lines between the centres of their bodies, with a radius by the normal force.

use riprap::math::Vec3;
use riprap::prelude::Body;
use riprap::simulation::Frame;

use crate::vtk::PolyData;

/// A loaded contact as a line.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// From the centre of one body over the contact point to that of the other; on a body that is held it ends at the
    /// contact point [m].
    pub points: Vec<Vec3>,
    pub bodies: [Body; 2],
    /// Normal force [N].
    pub force: f64,
    /// Normal force of the scheme, if the other one is not [N].
    pub solver: Option<f64>,
}

impl Link {
    /// The line of a contact at a point; in a periodic cell through the nearest images of the bodies, from the image of the
    /// point within the cell.
    pub(crate) fn new(frame: &Frame, bodies: [Body; 2], point: Vec3, force: f64) -> Link {
        let (scene, q) = (frame.scene, &frame.state.q);
        let lattice = scene.lattice(frame.state.t);
        let near = point;
        let point = lattice.map_or(point, |lattice| lattice.wrapped(point));
        let centre = |body: Body| {
            let i = scene.slot(body);
            let centre = q[i].position;
            let image = lattice.map_or(centre, |l| point + l.reduced(centre - near));
            scene.bodies().movable[i].then_some(image)
        };
        let points = [centre(bodies[0]), Some(point), centre(bodies[1])];
        Link { points: points.into_iter().flatten().collect(), bodies, force, solver: None }
    }

    /// The lines of the contacts of a frame that carry a force.
    pub(crate) fn all(frame: &Frame) -> Vec<Link> {
        let loaded = frame.contacts().map(|c| (c, c.normal.dot(&c.force)));
        let loaded = loaded.filter(|(_, force)| *force > 0.0);
        loaded.map(|(c, force)| Link::new(frame, c.bodies, c.point, force)).collect()
    }

    /// Mean normal force [N].
    pub(crate) fn mean(links: &[Link]) -> f64 {
        links.iter().map(|link| link.force).sum::<f64>() / links.len().max(1) as f64
    }

    /// Half the width of the line [m]: a twentieth of a grain at the mean force [N], a third at most.
    pub(crate) fn radius(&self, mean: f64, size: f64) -> f64 {
        if mean > 0.0 { (0.05 * size * self.force / mean).clamp(0.0, size / 3.0) } else { 0.0 }
    }

    /// The lines with `force [N]`, `solver force [N]` if there is one, and `radius [m]` at their points, and their two
    /// bodies. `size` is that of a grain [m].
    pub(crate) fn lines(links: &[Link], size: f64) -> PolyData {
        let mean = Link::mean(links);
        let mut data = PolyData::new();
        let (mut force, mut solver, mut radii, mut bodies) = (vec![], vec![], vec![], vec![]);
        for link in links {
            let line: Vec<usize> =
                link.points.iter().map(|p| data.add_point((*p).into())).collect();
            for _ in &line {
                force.push(link.force);
                solver.extend(link.solver);
                radii.push(link.radius(mean, size));
            }
            data.add_line(&line);
            bodies.push(link.bodies.map(|body| i64::from(body.0)));
        }
        data.point_data("force [N]", force);
        if !solver.is_empty() {
            data.point_data("solver force [N]", solver);
        }
        data.point_data("radius [m]", radii);
        data.cell_data("bodies", bodies);
        data
    }
}
