//! The table of contacts, and force chains as lines for ParaView.

use std::io::Write;
use std::path::Path;

use riprap::friction::ContactStatus;
use riprap::math::Vec3;
use riprap::scene::Scene;
use riprap::simulation::{ForceNetwork, Frame, NetworkContact};

use crate::atomic;
use crate::error::Error;
use crate::vtk::PolyData;

const HEADINGS: &str = "first,second,x [m],y [m],z [m],normal_x [-],normal_y [-],normal_z [-],solver_x [N],solver_y [N],\
solver_z [N],force_x [N],force_y [N],force_z [N],normal_force [N],status";

/// Writes one row per contact: the names of its bodies, point, normal, both forces on the second body, and what it does.
pub(super) fn write_table(path: &Path, scene: &Scene, network: &ForceNetwork) -> Result<(), Error> {
    let name =
        |c: &NetworkContact, k: usize| quoted(&scene.bodies().names[scene.slot(c.bodies[k])]);
    atomic::write(path, |out| {
        writeln!(out, "{HEADINGS}")?;
        for c in &network.contacts {
            write!(out, "{},{}", name(c, 0), name(c, 1))?;
            for x in [c.point, c.normal, c.solver, c.force].iter().flat_map(|v| v.iter()) {
                write!(out, ",{x}")?;
            }
            writeln!(out, ",{},{}", c.normal_force(), word(c.status))?;
        }
        Ok(())
    })
}

/// What a contact does, in a word.
fn word(status: ContactStatus) -> &'static str {
    match status {
        ContactStatus::Open => "open",
        ContactStatus::Sticking => "sticking",
        ContactStatus::Sliding => "sliding",
    }
}

/// A name in a table, in quotation marks if it contains separators.
fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}

/// A loaded contact as a line from the centre of one body over the contact point to that of the other; on a body that is
/// held it ends at the contact point.
pub(super) struct Link<'a> {
    pub points: Vec<Vec3>,
    pub contact: &'a NetworkContact,
}

/// The lines of all loaded contacts.
pub(super) fn links<'a>(frame: &Frame, network: &'a ForceNetwork) -> Vec<Link<'a>> {
    let (scene, q) = (frame.scene, &frame.state.q);
    let centre = |c: &NetworkContact, k: usize| {
        let i = scene.slot(c.bodies[k]);
        scene.bodies().movable[i].then(|| q[i].position)
    };
    let loaded = network.contacts.iter().filter(|c| c.status != ContactStatus::Open);
    let link = |c: &'a NetworkContact| {
        let points = [centre(c, 0), Some(c.point), centre(c, 1)];
        Link { points: points.into_iter().flatten().collect(), contact: c }
    };
    loaded.map(link).collect()
}

/// Half the width of a line [m]: a twentieth of a grain at the mean force, a third at most.
pub(super) fn radius(force: f64, mean: f64, size: f64) -> f64 {
    (0.05 * size * force / mean).clamp(0.0, size / 3.0)
}

/// Force chains: lines with `force [N]` (normal component), `solver force [N]`, `radius [m]` for tubes at their points, and
/// with the two bodies.
pub(super) fn chains(frame: &Frame, network: &ForceNetwork) -> PolyData {
    let forces = network.normal_forces();
    let mean = forces.iter().sum::<f64>() / forces.len().max(1) as f64;
    let size = frame.scene.grain_size();
    let mut data = PolyData::new();
    let (mut force, mut solver, mut radii, mut bodies) = (vec![], vec![], vec![], vec![]);
    for Link { points, contact } in links(frame, network) {
        let f = contact.normal_force();
        let line: Vec<usize> = points.iter().map(|p| data.add_point((*p).into())).collect();
        for _ in &line {
            force.push(f);
            solver.push(contact.normal.dot(&contact.solver));
            radii.push(radius(f, mean, size));
        }
        data.add_line(&line);
        bodies.push(contact.bodies.map(|body| i64::from(body.0)));
    }
    data.point_data("force [N]", force);
    data.point_data("solver force [N]", solver);
    data.point_data("radius [m]", radii);
    data.cell_data("bodies", bodies);
    data
}
