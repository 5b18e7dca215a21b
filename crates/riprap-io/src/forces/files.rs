//! The table of contacts, and force chains as lines for ParaView.

use std::io::Write;
use std::path::Path;

use riprap::friction::ContactStatus;
use riprap::scene::Scene;
use riprap::simulation::{ForceNetwork, Frame, NetworkContact};

use crate::atomic;
use crate::error::Error;
use crate::output::Link;

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

/// The lines of all loaded contacts.
pub(super) fn links(frame: &Frame, network: &ForceNetwork) -> Vec<Link> {
    let loaded = network.contacts.iter().filter(|c| c.status != ContactStatus::Open);
    let link = |c: &NetworkContact| Link {
        solver: Some(c.normal.dot(&c.solver)),
        ..Link::new(frame, c.bodies, c.point, c.normal_force())
    };
    loaded.map(link).collect()
}
