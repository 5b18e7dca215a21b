//! Checks of a description before it becomes a scene: materials, dimensions, masses, and no initial
//! overlaps.

use super::{BodyDescription, BuildError, Item, PairLaw, Scene, SceneBuilder, Twist};
use crate::detect::{ContactPoint, Detector, Images, Query};
use crate::math::{Mat3, Pose};
use crate::shape::{MassProperties, Shape};

impl SceneBuilder {
    pub(super) fn check_materials(&self, errors: &mut Vec<BuildError>) {
        for m in &self.materials {
            let item = || Item::Material(m.name.clone());
            if let Some(density) = m.density
                && !(density > 0.0 && density.is_finite())
            {
                let range = "positive, in kg/m³";
                errors.push(BuildError::OutOfRange {
                    item: item(),
                    what: "density",
                    value: density,
                    range,
                });
            }
            check_law(&item(), &PairLaw::combined(m, m), errors);
        }
        super::degradation::check_laws(&self.materials, errors);
    }

    pub(super) fn check_dimension(
        &self,
        body: &BodyDescription,
        item: &Item,
        errors: &mut Vec<BuildError>,
    ) {
        let mut wrong = |problem| {
            errors.push(BuildError::WrongDimension { item: item.clone(), problem });
        };
        match &body.shape {
            Shape::HalfSpace { normal }
                if self.planar && (body.pose.rotation * normal).z.abs() > 1e-12 =>
            {
                wrong("the normal of a half-space must lie in the x–y plane of a planar scene");
            }
            Shape::HalfSpace { .. } => {}
            shape if self.planar && !shape.is_planar() => {
                wrong(
                    "this shape is spatial, but the scene is planar: use a disc, polygon or half-space",
                );
            }
            shape if !self.planar && shape.is_planar() => {
                wrong(
                    "this shape is planar: make the scene planar, or use a sphere, box or polyhedron",
                );
            }
            _ if self.planar && body.pose.position.z != 0.0 => {
                wrong("in a planar scene z must be 0");
            }
            _ if self.planar && body.pose.rotation.imag().xy().norm() > 1e-12 => {
                wrong("in a planar scene bodies can rotate only about z");
            }
            _ => {}
        }
    }

    /// Mass, centre and inertia of a free body: given, or from the density of its material.
    pub(super) fn mass_of(
        &self,
        body: &BodyDescription,
        item: &Item,
        errors: &mut Vec<BuildError>,
    ) -> Option<MassProperties> {
        let item = item.clone();
        let Some(unit) = body.shape.mass_properties(1.0) else {
            errors.push(BuildError::FreeHalfSpace { item });
            return None;
        };
        let density = self.materials.iter().find(|m| m.name == body.material)?.density;
        let mass = match (body.mass, density) {
            (Some(mass), _) => mass,
            (None, Some(density)) => density * unit.mass,
            (None, None) => {
                errors.push(BuildError::NoMass { item, material: body.material.clone() });
                return None;
            }
        };
        if !(mass > 0.0 && mass.is_finite()) {
            let range = "positive, in kg";
            errors.push(BuildError::OutOfRange { item, what: "mass", value: mass, range });
            return None;
        }
        if body.centre.is_some() && body.inertia.is_none() {
            let problem = "a given centre of mass needs a given inertia";
            errors.push(BuildError::BadInertia { item, problem });
            return None;
        }
        let scaled = unit.scaled(mass / unit.mass);
        let centre = body.centre.unwrap_or(unit.centre);
        let inertia = body.inertia.unwrap_or(scaled.inertia);
        if let Err(problem) = physical(&inertia) {
            errors.push(BuildError::BadInertia { item, problem });
            return None;
        }
        Some(MassProperties { mass, centre, inertia })
    }
}

/// Checks the numbers of a law of hard contact.
pub(super) fn check_law(item: &Item, law: &PairLaw, errors: &mut Vec<BuildError>) {
    let mut wrong = |what, value, range| {
        errors.push(BuildError::OutOfRange { item: item.clone(), what, value, range });
    };
    let amount = |x: f64| x >= 0.0 && x.is_finite();
    if !amount(law.friction) {
        wrong("friction", law.friction, "0 or more");
    }
    if !amount(law.rolling) {
        wrong("rolling resistance", law.rolling, "0 or more");
    }
    if !(0.0..=1.0).contains(&law.restitution) {
        wrong("restitution", law.restitution, "between 0 and 1");
    }
    if !amount(law.cohesion) {
        wrong("cohesion", law.cohesion, "0 or more, in N");
    }
    if !amount(law.surface_energy) {
        wrong("surface energy", law.surface_energy, "0 or more, in J/m²");
    }
    if let Some(range) = law.cohesion_range.filter(|x| !(*x > 0.0 && x.is_finite())) {
        wrong("cohesion range", range, "positive, in m");
    }
    // A contact that starts to slide would stick again at once.
    if let Some(held) = law.static_friction.filter(|x| !(*x >= law.friction && x.is_finite())) {
        wrong("static friction", held, "at least the friction of sliding contacts");
    }
}

/// Checks that contact detection sees every gap at which shapes adhere, and that round-off does not
/// decide whether they do.
pub(super) fn check_cohesion(scene: &Scene) -> Result<(), BuildError> {
    let materials = scene.materials();
    let n = materials.len();
    let of_pairs = scene.pairs.all().iter().enumerate().map(|(k, law)| {
        let name = |m: usize| materials[m].name.clone();
        (Item::Pair(name(k / n), name(k % n)), law)
    });
    let of_points = scene.points.iter().map(|p| (Item::PointContact(p.name.clone()), &p.law));
    for (item, law) in of_pairs.chain(of_points).filter(|(_, law)| law.is_cohesive()) {
        let (range, alert) = (scene.cohesion_range(law), scene.detection.alert);
        if range > alert {
            return Err(BuildError::CohesionBeyondAlert { item, range, alert });
        }
        let smallest = SMALLEST_RANGE * scene.grain_size;
        if range < smallest {
            return Err(BuildError::CohesionRange { item, range, smallest });
        }
    }
    Ok(())
}

/// Smallest range of cohesion, relative to the mean grain size [–]: ten times the gap that counts as
/// closed.
const SMALLEST_RANGE: f64 = 1e-6;

/// Whether an inertia tensor is symmetric and positive definite, and no principal moment exceeds
/// the sum of the others.
fn physical(inertia: &Mat3) -> Result<(), &'static str> {
    if !inertia.iter().all(|x| x.is_finite()) {
        return Err("an entry is not finite");
    }
    let scale = inertia.abs().max();
    if (inertia - inertia.transpose()).abs().max() > 1e-9 * scale {
        return Err("it is not symmetric");
    }
    let moments = inertia.symmetric_eigenvalues();
    if moments.min() <= 0.0 {
        return Err("a principal moment is not positive");
    }
    if 2.0 * moments.max() > moments.sum() * (1.0 + 1e-9) {
        return Err("one principal moment exceeds the sum of the other two");
    }
    Ok(())
}

/// The worst overlaps at poses of the bodies, at most five, if they exceed a fraction of the grain size; only those between pairs of
/// bodies that `concerns` accepts.
pub(super) fn overlaps(
    scene: &Scene,
    (t, q): (f64, &[Pose]),
    share: f64,
    concerns: impl Fn([u32; 2]) -> bool,
) -> Vec<BuildError> {
    let reach = vec![0.0; scene.bodies.len()];
    let still = vec![Twist::default(); scene.bodies.len()];
    let mut detector = Detector::default();
    detector.detect(&Query {
        colliders: &scene.colliders,
        set: scene.collider_set,
        bodies: q,
        reach: &reach,
        motion: &still,
        alert: 0.0,
        skin: 0.0,
        method: scene.detection.method,
        apart: &scene.apart,
        images: scene.lattice(t).map(|lattice| Images { lattice, strain: 0.0 }),
    });
    // Depth is measured relative to the smaller of the two bodies.
    let size = |c: u32| {
        let size = scene.bodies.size[scene.colliders[c as usize].body as usize];
        if size > 0.0 { size } else { f64::INFINITY }
    };
    let smaller = |p: &ContactPoint| size(p.colliders[0]).min(size(p.colliders[1]));
    let pair = |p: &ContactPoint| p.colliders.map(|c| scene.colliders[c as usize].body);
    let too_deep = |p: &ContactPoint| p.gap < -share * smaller(p) && concerns(pair(p));
    let mut deep: Vec<_> = detector.points().filter(|p| too_deep(p)).collect();
    // One line for each pair of bodies, the deepest first.
    deep.sort_by(|p, q| pair(p).cmp(&pair(q)).then(p.gap.total_cmp(&q.gap)));
    deep.dedup_by_key(|p| pair(p));
    deep.sort_by(|p, q| p.gap.total_cmp(&q.gap));
    deep.truncate(5);
    deep.iter()
        .map(|p| {
            let [a, b] = p.colliders.map(|c| scene.colliders[c as usize].body as usize);
            let name = |i: usize| scene.bodies.names[i].clone();
            let percent = -100.0 * p.gap / smaller(p);
            BuildError::Overlap { a: name(a), b: name(b), depth: -p.gap, percent }
        })
        .collect()
}
