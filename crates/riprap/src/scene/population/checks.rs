//! Checks of insertions and removals.

use super::{Insertion, Pace, SAMPLE, Where, matches};
use crate::scene::{BuildError, Item, Material, Scene};
use crate::shape::Shape;

impl Insertion {
    /// Checks its numbers and the first of its shapes.
    pub(super) fn check(&self, planar: bool, material: &Material, errors: &mut Vec<BuildError>) {
        let item = || Item::Insertion(self.name.clone());
        let mut wrong = |what, value: f64, range| {
            errors.push(BuildError::OutOfRange { item: item(), what, value, range });
        };
        let positive = |x: f64| x > 0.0 && x.is_finite();
        match self.pace {
            Pace::Rate(rate) if !positive(rate) => wrong("the rate", rate, "positive, in 1/s"),
            Pace::MassRate(rate) if !positive(rate) => {
                wrong("the mass rate", rate, "positive, in kg/s");
            }
            _ => {}
        }
        if !(self.start >= 0.0 && self.start.is_finite()) {
            wrong("its start", self.start, "a time of 0 s or more");
        }
        if self.until <= self.start {
            wrong("its end", self.until, "a time after its start");
        }
        if self.count == Some(0) {
            wrong("the number of bodies", 0.0, "at least 1");
        }
        let [min, max] = self.within;
        if !(min.iter().chain(&max).all(|x| x.is_finite()) && (0..3).all(|k| min[k] <= max[k])) {
            let problem = "its box needs finite corners, with the lower one below the upper one";
            errors.push(BuildError::Population { item: item(), problem: problem.into() });
        }
        if !self.velocity.iter().chain(&self.angular_velocity).all(|x| x.is_finite()) {
            errors.push(BuildError::NotFinite { item: item(), what: "velocity" });
        }
        let mut wrong =
            |problem: String| errors.push(BuildError::Population { item: item(), problem });
        if self.pace == Pace::AtOnce && self.count.is_none() {
            wrong("bodies that come at once need a number: set `count`".into());
        }
        if planar && (min.z != 0.0 || max.z != 0.0) {
            wrong("in a planar scene its box has z = 0".into());
        }
        let Some(density) = material.density else {
            wrong(format!("the material `{}` has no density: give it one", material.name));
            return;
        };
        for k in 0..SAMPLE.min(self.count.unwrap_or(SAMPLE)) {
            let shape = self.supply.at(k);
            let heavy = shape.mass_properties(density).is_some_and(|m| m.mass > 0.0);
            if !heavy || shape.is_planar() != planar {
                let kind = if planar { "planar" } else { "spatial" };
                wrong(format!("its body {} needs a {kind} shape of finite size", k + 1));
                return;
            }
            let splits = matches!(shape, Shape::Polyhedron(_) | Shape::Polygon(_));
            if crate::scene::degradation::degrades(material) && !splits {
                let problem = "its material breaks or wears, which only convex polyhedra and polygons do; use another shape, or \
                               another material";
                wrong(problem.into());
                return;
            }
        }
    }
}

/// Checks what is inserted and removed in a scene without errors of its own.
pub(in crate::scene) fn check_population(scene: &Scene, errors: &mut Vec<BuildError>) {
    let Some(population) = scene.population() else { return };
    let names = &scene.bodies.names;
    for insertion in &population.insertions {
        let prefix = format!("{}-", insertion.name);
        let number = |name: &String| {
            name.strip_prefix(&prefix[..])
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        if let Some(name) = names.iter().find(|name| number(name)) {
            errors.push(BuildError::Duplicate { what: "bodies", name: name.clone() });
        }
    }
    let attached = crate::scene::degradation::attached(scene);
    let removable = scene.removable();
    for (k, removal) in population.removals.iter().enumerate() {
        let mut wrong = |problem: String| {
            errors.push(BuildError::Population { item: Item::Removal(k + 1), problem });
        };
        let fine = match removal.place {
            Where::Below(height) => height.is_finite(),
            Where::Outside([min, max]) => {
                (0..3).all(|k| min[k] < max[k] || (scene.planar && k == 2 && min[k] <= max[k]))
            }
            Where::At(t) => t >= 0.0 && t.is_finite(),
        };
        if !fine {
            let what = match removal.place {
                Where::Below(_) => "its height must be a finite number",
                Where::Outside(_) => "its box must have the lower corner below the upper one",
                Where::At(_) => "its time must be 0 s or more",
            };
            wrong(what.into());
        }
        let free = (0..names.len()).filter(|&slot| removable[slot]);
        for pattern in &removal.bodies {
            let inserted = population.insertions.iter().any(|i| may_match(pattern, &i.name));
            if !inserted && !free.clone().any(|slot| matches(pattern, &names[slot])) {
                wrong(format!(
                    "no free body has a name like `{pattern}`: write that of a body or an insertion, such as `feed-*`, or `*` for all"
                ));
            }
        }
        if let Some(slot) =
            free.clone().find(|&slot| attached[slot] && removal.is_for(&names[slot]))
        {
            wrong(format!(
                "`{}` cannot be removed, because a joint, a rope, a point contact, an ignored contact or a law of its force refers to it: choose \
                 others with `bodies`",
                names[slot]
            ));
        }
    }
}

/// Whether a pattern can match names that start with `prefix` and a number.
pub(super) fn may_match(pattern: &str, prefix: &str) -> bool {
    let fixed = pattern.split('*').next().unwrap_or_default();
    let start = format!("{prefix}-");
    match fixed.strip_prefix(&start[..]) {
        Some(number) => number.starts_with(|c: char| c.is_ascii_digit()) || number.is_empty(),
        None => pattern.contains('*') && start.starts_with(fixed),
    }
}
