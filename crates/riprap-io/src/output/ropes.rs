//! Ropes in the series and in the frames for ParaView.

use riprap::math::Vec3;
use riprap::simulation::Frame;
use serde_json::{Value, json};

use super::loads::{Taken, scalar_columns};
use crate::scene_file::{RopeProbe, RopeQuantity};
use crate::table::Column;
use crate::vtk::PolyData;

/// Columns of a probe of a rope.
pub(super) fn rope_columns(probe: &RopeProbe, columns: &mut Vec<Column>) {
    let name = &probe.name;
    for quantity in &probe.quantities {
        match quantity {
            RopeQuantity::Tension => {
                let (what, impulse) =
                    (format!("{name}.tension"), format!("{name}.tension_impulse"));
                scalar_columns(&what, &impulse, false, columns);
            }
            RopeQuantity::Slack => {
                columns.push(Column::new(format!("{name}.slack"), "m"));
                columns.push(Column::new(format!("{name}.broken"), "-"));
            }
        }
    }
}

/// The tensions of the probes in the last step [N], as first components.
pub(super) fn sample(probes: &[RopeProbe], frame: &Frame, forces: &mut Vec<Vec3>) {
    for probe in probes.iter().filter(|p| p.quantities.contains(&RopeQuantity::Tension)) {
        let tension = frame.state.ropes[probe.rope].tension(frame.dt);
        forces.push(Vec3::new(tension, 0.0, 0.0));
    }
}

/// The values of a probe.
pub(super) fn rope_row(frame: &Frame, probe: &RopeProbe, loads: &mut Taken, row: &mut Vec<f64>) {
    for quantity in &probe.quantities {
        match quantity {
            RopeQuantity::Tension => loads.scalar(row),
            RopeQuantity::Slack => {
                row.push(frame.scene.ropes()[probe.rope].slack(&frame.state.q));
                row.push(f64::from(frame.state.ropes[probe.rope].broken.is_some()));
            }
        }
    }
}

/// The broken ropes, for the summary: name and time [s]. `None` if the scene has no ropes.
pub(super) fn broken(frame: &Frame) -> Option<Value> {
    let ropes = frame.scene.ropes();
    let broken = ropes.iter().zip(&frame.state.ropes).filter_map(|(rope, state)| {
        state.broken.map(|time| json!({ "rope": rope.name, "time_s": time }))
    });
    (!ropes.is_empty()).then(|| broken.collect())
}

/// An unbroken rope at the time of a frame.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub rope: usize,
    pub points: Vec<Vec3>,
    /// Mean tension over the last step [N].
    pub tension: f64,
    /// [m]
    pub slack: f64,
}

impl Drawn {
    /// The unbroken ropes of a frame.
    pub fn all(frame: &Frame) -> Vec<Drawn> {
        let ropes = frame.scene.ropes().iter().zip(&frame.state.ropes).enumerate();
        let whole = ropes.filter(|(_, (_, state))| state.broken.is_none());
        let drawn = whole.map(|(rope, (resolved, state))| Drawn {
            rope,
            points: resolved.points(&frame.state.q).collect(),
            tension: state.tension(frame.dt),
            slack: resolved.slack(&frame.state.q),
        });
        drawn.collect()
    }

    /// Ropes as polylines, with the index of each rope, `tension [N]` and `slack [m]`.
    pub fn lines(ropes: &[Drawn]) -> PolyData {
        let mut data = PolyData::new();
        for rope in ropes {
            let points: Vec<usize> =
                rope.points.iter().map(|point| data.add_point((*point).into())).collect();
            data.add_line(&points);
        }
        data.cell_data("rope", ropes.iter().map(|r| r.rope as i64).collect::<Vec<_>>());
        data.cell_data("tension [N]", ropes.iter().map(|r| r.tension).collect::<Vec<_>>());
        data.cell_data("slack [m]", ropes.iter().map(|r| r.slack).collect::<Vec<_>>());
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use riprap::prelude::*;

    #[test]
    fn unbroken_ropes_are_lines_with_their_tension_and_slack() {
        let rock = Material::new("rock").density(1000.0);
        let mut scene = Scene::builder();
        let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock).mass(2.0);
        let ball = scene.add(ball, &rock);
        let end = (On::Body(ball), Vec3::zeros());
        let above = |x: f64| (On::World, Vec3::new(x, 0.0, 1.0));
        scene.add_rope(Rope::new("holds", vec![above(0.0), end]));
        scene.add_rope(Rope::new("slack", vec![above(1.0), above(0.5), end]).length(3.0));
        let weak = Rope::new("weak", vec![(On::World, Vec3::x() * 0.1), end]);
        scene.add_rope(weak.breaking_load(1e-6));
        let scene = scene.build().unwrap();
        let mut run = Simulation::new(scene, MoreauJean::new(1e-3)).unwrap();
        run.step().unwrap();
        let mut state = run.state().clone();
        state.ropes[2].broken = Some(1e-3);
        run.set_state(state).unwrap();
        let drawn = Drawn::all(&run.frame());
        assert_eq!(drawn.len(), 2);
        assert!((drawn[0].tension - 2.0 * 9.81).abs() < 1e-6 && drawn[0].slack.abs() < 1e-12);
        assert!(drawn[1].tension == 0.0 && drawn[1].slack > 1.0);
        let data = Drawn::lines(&drawn);
        assert_eq!((data.n_points(), data.n_cells()), (5, 2));
        let told = broken(&run.frame()).unwrap();
        assert_eq!(told, json!([{ "rope": "weak", "time_s": 1e-3 }]));
    }
}
