//! Columns of `series.csv` for many bodies: measures of packings at the time of the row, the mean stress and the mass that passes
//! planes since the previous one.

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
    regions: Vec<Packing>,
    planes: Vec<Passage>,
}

/// A probe of a region.
#[derive(Debug)]
struct Packing {
    region: Region,
    probe: RegionProbe,
    stress: KeptStress,
}

/// The stress of a region since the previous row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptStress {
    /// Its components, in the order of [`COMPONENTS`], integrated over time [Pa s, N s/m].
    sum: [f64; 6],
    /// That time [s].
    time: f64,
}

impl KeptStress {
    fn add(&mut self, stress: [f64; 6], dt: f64) {
        for (sum, value) in self.sum.iter_mut().zip(stress) {
            *sum += dt * value;
        }
        self.time += dt;
    }

    /// The mean since the previous row, with which a new interval starts; `None` without a step.
    fn take(&mut self) -> Option<[f64; 6]> {
        let KeptStress { sum, time } = std::mem::take(self);
        (time > 0.0).then(|| sum.map(|value| value / time))
    }
}

/// The state that probes of many bodies need to resume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptMany {
    flows: Vec<KeptFlow>,
    stresses: Vec<KeptStress>,
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
            regions.push(Packing { region, probe: probe.clone(), stress: KeptStress::default() });
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
    pub fn kept(&self) -> KeptMany {
        let flow = |plane: &Passage| KeptFlow { mass: plane.flow.mass, ..plane.kept };
        KeptMany {
            flows: self.planes.iter().map(flow).collect(),
            stresses: self.regions.iter().map(|packing| packing.stress).collect(),
        }
    }

    /// Continues after a step with the state stored then; false if it does not match.
    pub fn resume(&mut self, step: u64, kept: &KeptMany) -> bool {
        for (plane, kept) in self.planes.iter_mut().zip(&kept.flows) {
            plane.flow.resume(step, kept.mass);
            plane.kept = *kept;
        }
        for (packing, kept) in self.regions.iter_mut().zip(&kept.stresses) {
            packing.stress = *kept;
        }
        self.planes.len() == kept.flows.len() && self.regions.len() == kept.stresses.len()
    }

    /// Adds the bodies that passed planes in the last step, and its stresses if the step is new.
    pub fn step(&mut self, frame: &Frame, new: bool) {
        self.planes.iter_mut().for_each(|plane| plane.flow.add(frame));
        let stressed =
            |packing: &Packing| packing.probe.quantities.contains(&RegionQuantity::Stress);
        if !new || !self.regions.iter().any(stressed) {
            return;
        }
        let measures = Measures::of(frame);
        for packing in self.regions.iter_mut().filter(|packing| stressed(packing)) {
            packing.stress.add(components(&measures.stress(&packing.region)), frame.dt);
        }
    }

    /// Appends the values of a row and starts the next interval of stresses and planes.
    pub fn row(&mut self, frame: &Frame, row: &mut Vec<f64>) {
        if !self.regions.is_empty() {
            let measures = Measures::of(frame);
            for packing in &mut self.regions {
                for quantity in &packing.probe.quantities {
                    let planar = frame.scene.is_planar();
                    if *quantity == RegionQuantity::Stress {
                        stress_row(&measures, &packing.region, &mut packing.stress, planar, row);
                    } else {
                        region_row(&measures, &packing.region, *quantity, row);
                    }
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

/// The components of a symmetric tensor.
fn components(tensor: &Mat3) -> [f64; 6] {
    COMPONENTS.map(|(_, i, j)| tensor[(i, j)])
}

/// Appends the mean stress since the previous row and its mean normal component; at first, before any step, the stress at that time.
fn stress_row(
    measures: &Measures,
    region: &Region,
    since: &mut KeptStress,
    planar: bool,
    row: &mut Vec<f64>,
) {
    let stress = since.take().unwrap_or_else(|| components(&measures.stress(region)));
    row.extend(stress);
    let [xx, yy, zz, ..] = stress;
    row.push(if planar { (xx + yy) / 2.0 } else { (xx + yy + zz) / 3.0 });
}

/// Appends the values of another measure; NaN where there is nothing to measure.
fn region_row(measures: &Measures, region: &Region, quantity: RegionQuantity, row: &mut Vec<f64>) {
    match quantity {
        RegionQuantity::Coordination => {
            let found = measures.coordination(region);
            row.extend([found.without_rattlers, found.all]);
        }
        RegionQuantity::Rattlers => row.push(measures.coordination(region).rattlers),
        RegionQuantity::SolidFraction => row.push(measures.solid_fraction(region)),
        // See [`stress_row`].
        RegionQuantity::Stress => {}
        RegionQuantity::Fabric => {
            let fabric = measures.fabric(region);
            let tensor = fabric.map_or(Mat3::repeat(f64::NAN), |fabric| fabric.tensor);
            row.extend(components(&tensor));
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
