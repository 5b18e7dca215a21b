//! Columns of `series.csv` for constraints: gaps and multipliers of point contacts, residuals and multipliers of joints and
//! loops. All are values at the time of the row, impulses those of the last step; only forces are means since the previous row.

use riprap::math::Vec3;
use riprap::multibody::Cut;
use riprap::scene::{AlphaState, ConstraintOf, Hold, SchemeState, State};
use riprap::simulation::Frame;

use super::loads::{Taken, force_columns};
use crate::scene_file::{ContactProbe, ContactQuantity};
use crate::table::Column;

/// The equations of a joint between bodies.
pub(super) fn cut_of(hold: Hold) -> Cut {
    match hold {
        Hold::Ball => Cut::Ball,
        Hold::Hinge => Cut::Hinge,
        Hold::Slider => Cut::Prismatic,
        Hold::Weld => Cut::Weld,
    }
}

fn alpha(state: &State) -> Option<&AlphaState> {
    match &state.scheme {
        SchemeState::GeneralizedAlpha(alpha) => Some(alpha),
        _ => None,
    }
}

/// Columns of the equations of a joint or loop, in the order of [`constraint_row`].
pub(super) fn constraint_columns(name: &str, cut: &Cut, columns: &mut Vec<Column>) {
    for (k, equation) in cut.equation_names().iter().enumerate() {
        let units = match cut.force_unit(k) {
            "N" => ["N", "N s", "kg m", "m", "m/s"],
            _ => ["N m", "N m s", "kg m^2", "-", "1/s"],
        };
        let equation = equation.replace(' ', "_");
        let what = ["lambda", "impulse", "nu", "residual", "residual_velocity"];
        let column = |(what, unit)| Column::new(format!("{name}.{equation}.{what}"), unit);
        columns.extend(what.into_iter().zip(units).map(column));
    }
}

/// Values of the equations of a joint or loop; zero before the first step and for equations that are redundant.
pub(super) fn constraint_row(state: &State, of: ConstraintOf, cut: &Cut, row: &mut Vec<f64>) {
    for k in 0..cut.equation_names().len() {
        let mut rows = alpha(state).into_iter().flat_map(|alpha| &alpha.constraints);
        let found = rows.find(|c| c.of == of && c.equation as usize == k);
        row.extend(found.map_or([0.0; 5], |c| [c.lambda, c.impulse, c.nu, c.residual, c.velocity]));
    }
}

/// Columns of a point contact, in the order of [`contact_row`].
pub(super) fn contact_columns(probe: &ContactProbe, columns: &mut Vec<Column>) {
    for quantity in &probe.quantities {
        let all: &[(&str, &str)] = match quantity {
            ContactQuantity::Gap => &[("gap", "m"), ("gap_velocity", "m/s")],
            ContactQuantity::Force => {
                force_columns(&probe.name, columns);
                &[]
            }
            ContactQuantity::Multipliers => &[
                ("impulse_n", "N s"),
                ("impulse_t1", "N s"),
                ("impulse_t2", "N s"),
                ("nu", "kg m"),
            ],
        };
        let column =
            |(what, unit): &(&str, &str)| Column::new(format!("{}.{what}", probe.name), *unit);
        columns.extend(all.iter().map(column));
    }
}

/// The first collider of a point contact: each has two, after those of all shapes.
fn collider_of(frame: &Frame, probe: &ContactProbe) -> u32 {
    (frame.scene.colliders().len() + 2 * probe.contact) as u32
}

/// Collects the forces of point contacts in the last step, on the body of the point [N].
pub(super) fn sample_contacts(probes: &[ContactProbe], frame: &Frame, forces: &mut Vec<Vec3>) {
    for probe in probes.iter().filter(|p| p.quantities.contains(&ContactQuantity::Force)) {
        let collider = collider_of(frame, probe);
        let active = frame.work.contacts().active().zip(frame.work.impulses());
        let own = active.filter(|(c, _)| c.point.colliders[0] == collider);
        forces.push(own.map(|(c, impulse)| c.impulse_w(impulse) / frame.dt).sum());
    }
}

/// Values of a point contact.
pub(super) fn contact_row(
    frame: &Frame,
    probe: &ContactProbe,
    loads: &mut Taken,
    row: &mut Vec<f64>,
) {
    let contact = &frame.scene.point_contacts()[probe.contact];
    let collider = collider_of(frame, probe);
    for quantity in &probe.quantities {
        match quantity {
            ContactQuantity::Gap => {
                let [plane, body] = contact.bodies.map(|b| b as usize);
                let at = [plane, body].map(|b| &frame.state.q[b]);
                let point = at[1].point(contact.places[1]);
                let normal = at[0].vector(contact.normal);
                let velocity = |b: usize| -> Vec3 {
                    let v = &frame.state.v[b];
                    v.linear + v.angular.cross(&(point - frame.state.q[b].position))
                };
                row.push(normal.dot(&(point - at[0].point(contact.places[0]))));
                row.push(normal.dot(&(velocity(body) - velocity(plane))));
            }
            ContactQuantity::Force => loads.vector(row),
            ContactQuantity::Multipliers => {
                let active = frame.work.contacts().active().zip(frame.work.impulses());
                let mut active = active.filter(|(c, _)| c.point.colliders[0] == collider);
                row.extend(active.next().map_or([0.0; 3], |(_, impulse)| *impulse));
                let mut all = alpha(frame.state).into_iter().flat_map(|alpha| &alpha.contacts);
                row.push(all.find(|c| c.colliders[0] == collider).map_or(0.0, |c| c.nu));
            }
        }
    }
}
