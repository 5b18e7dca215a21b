//! Columns of `series.csv` for many bodies: measures of packings at the time of the row, and the mass that passes planes since
//! the previous one.

use riprap::math::{Mat3, Vec3};
use riprap::simulation::{Flow, Frame, Measures, Region};
use serde::{Deserialize, Serialize};

use crate::scene_file::{PlaneProbe, RegionProbe, RegionQuantity, SceneFile};
use crate::table::Column;

/// Names and indices of the components of a symmetric tensor.
const COMPONENTS: [(&str, usize, usize); 6] =
    [("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2)];

/// The probes of regions and planes.
#[derive(Debug, Default)]
pub(super) struct ManyBodies {
    regions: Vec<(Region, RegionProbe)>,
    planes: Vec<Passage>,
}

/// A probe of a plane.
#[derive(Debug)]
struct Passage {
    flow: Flow,
    kept: KeptFlow,
}

/// The state of a plane that is needed to resume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptFlow {
    /// Mass that has passed since the start [kg].
    mass: f64,
    /// That at the previous row [kg].
    mass_before: f64,
    /// Time of the previous row [s].
    time_before: f64,
}

impl ManyBodies {
    /// The probes of a scene, whose columns are added to `columns`.
    pub fn new(file: &SceneFile, columns: &mut Vec<Column>) -> ManyBodies {
        let mut regions = Vec::new();
        for probe in &file.region_probes {
            for quantity in &probe.quantities {
                region_columns(&probe.name, *quantity, file.planar, columns);
            }
            let all = || {
                let cell = file.periodic.as_ref().map(|cell| cell.cell());
                cell.map_or(Region::EVERYWHERE, |cell| Region::of_cell(&cell))
            };
            let region = probe.region.as_ref().map_or_else(all, |column| Region {
                min: Vec3::from(column.min),
                max: Vec3::from(column.max),
            });
            regions.push((region, probe.clone()));
        }
        let mut planes = Vec::new();
        for PlaneProbe { name, plane, quantities } in &file.plane_probes {
            for _ in quantities {
                columns.push(Column::new(format!("{name}.flow_rate"), "kg/s"));
                columns.push(Column::new(format!("{name}.passed_mass"), "kg"));
            }
            let (point, normal) = (Vec3::from(plane.point), Vec3::from(plane.normal).normalize());
            let flow = Flow::new(point, normal, plane.radius.unwrap_or(f64::INFINITY));
            planes.push(Passage { flow, kept: KeptFlow::default() });
        }
        ManyBodies { regions, planes }
    }

    /// The state needed to resume.
    pub fn kept(&self) -> Vec<KeptFlow> {
        self.planes.iter().map(|plane| KeptFlow { mass: plane.flow.mass, ..plane.kept }).collect()
    }

    /// Continues after a step with the state stored then; false if it does not match.
    pub fn resume(&mut self, step: u64, kept: &[KeptFlow]) -> bool {
        for (plane, kept) in self.planes.iter_mut().zip(kept) {
            plane.flow.resume(step, kept.mass);
            plane.kept = *kept;
        }
        self.planes.len() == kept.len()
    }

    /// Adds the bodies that passed planes in the last step.
    pub fn step(&mut self, frame: &Frame) {
        self.planes.iter_mut().for_each(|plane| plane.flow.add(frame));
    }

    /// Appends the values of a row and starts the next interval of the planes.
    pub fn row(&mut self, frame: &Frame, row: &mut Vec<f64>) {
        if !self.regions.is_empty() {
            let measures = Measures::of(frame);
            for (region, probe) in &self.regions {
                for quantity in &probe.quantities {
                    region_row(&measures, region, *quantity, frame.scene.is_planar(), row);
                }
            }
        }
        for plane in &mut self.planes {
            let (mass, time) = (plane.flow.mass, frame.state.t);
            let elapsed = time - plane.kept.time_before;
            let passed = mass - plane.kept.mass_before;
            row.extend([if elapsed > 0.0 { passed / elapsed } else { 0.0 }, mass]);
            plane.kept = KeptFlow { mass, mass_before: mass, time_before: time };
        }
    }
}

/// Columns of a measure, in the order of [`region_row`].
fn region_columns(name: &str, quantity: RegionQuantity, planar: bool, columns: &mut Vec<Column>) {
    let pressure = if planar { "N/m" } else { "Pa" };
    let (tensor, scalars): (_, &[(&str, &str)]) = match quantity {
        RegionQuantity::Coordination => (None, &[("coordination", "-"), ("coordination_all", "-")]),
        RegionQuantity::Rattlers => (None, &[("rattlers", "-")]),
        RegionQuantity::SolidFraction => (None, &[("solid_fraction", "-")]),
        RegionQuantity::Stress => (Some(("stress", pressure)), &[("pressure", pressure)]),
        RegionQuantity::Fabric => (Some(("fabric", "-")), &[("anisotropy", "-")]),
        RegionQuantity::NormalForces => (
            None,
            &[
                ("normal_force_mean", "N"),
                ("normal_force_p90", "N"),
                ("normal_force_max", "N"),
                ("participation", "-"),
            ],
        ),
        RegionQuantity::Slope => (None, &[("slope", "rad"), ("slope_direction", "rad")]),
        RegionQuantity::Segregation => (None, &[("segregation", "-")]),
    };
    if let Some((what, unit)) = tensor {
        let column = |(ij, ..): (&str, _, _)| Column::new(format!("{name}.{what}_{ij}"), unit);
        columns.extend(COMPONENTS.map(column));
    }
    columns.extend(scalars.iter().map(|(what, unit)| Column::new(format!("{name}.{what}"), *unit)));
}

/// Appends the values of a measure; NaN where there is nothing to measure.
fn region_row(
    measures: &Measures,
    region: &Region,
    quantity: RegionQuantity,
    planar: bool,
    row: &mut Vec<f64>,
) {
    let components = |tensor: Mat3| COMPONENTS.map(|(_, i, j)| tensor[(i, j)]);
    match quantity {
        RegionQuantity::Coordination => {
            let found = measures.coordination(region);
            row.extend([found.without_rattlers, found.all]);
        }
        RegionQuantity::Rattlers => row.push(measures.coordination(region).rattlers),
        RegionQuantity::SolidFraction => row.push(measures.solid_fraction(region)),
        RegionQuantity::Stress => {
            let stress = measures.stress(region);
            row.extend(components(stress));
            row.push(stress.trace() / if planar { 2.0 } else { 3.0 });
        }
        RegionQuantity::Fabric => {
            let fabric = measures.fabric(region);
            let tensor = fabric.map_or(Mat3::repeat(f64::NAN), |fabric| fabric.tensor);
            row.extend(components(tensor));
            row.push(fabric.map_or(f64::NAN, |fabric| fabric.anisotropy()));
        }
        RegionQuantity::NormalForces => {
            let found = measures.normal_forces(region);
            let (all, none) = (&found.distribution, found.distribution.count == 0);
            let values = [all.mean, found.percentile_90, all.largest, found.participation];
            row.extend(values.map(|value| if none { f64::NAN } else { value }));
        }
        RegionQuantity::Slope => {
            let slope = measures.slope(region);
            row.extend(slope.map_or([f64::NAN; 2], |slope| [slope.angle, slope.direction()]));
        }
        RegionQuantity::Segregation => {
            row.push(measures.segregation(region).unwrap_or(f64::NAN));
        }
    }
}
