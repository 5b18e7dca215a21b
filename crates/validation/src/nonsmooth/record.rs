//! A run of a [`Planar`] scene under one of the schemes of the paper, step by step: motion, energy, gaps and multipliers.

use riprap::prelude::*;
use riprap::scene::{AlphaState, ConstraintOf, SchemeState};
use riprap::scheme::{GeneralizedAlpha, Variant};

use super::planar::{Planar, Q, coordinates, rates};

/// A scheme of the paper, with its spectral radius `ρ∞` at infinite frequency [–].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// The nonsmooth generalized-α GGL scheme.
    Ggl(f64),
    /// The same with Eqs. (25) and (27) instead of Eq. (28): it chatters.
    ModifiedLcp(f64),
    /// Smooth generalized-α with constraints at position level: wrong at impacts.
    SmoothIndex3(f64),
    /// The implicit Moreau–Jean scheme of the paper, Eq. (50), with `θ = 1/(1 + ρ∞)`.
    MoreauJean(f64),
    /// Moreau–Jean as elsewhere in riprap: [`riprap::scheme::MoreauJean`] with the same θ.
    Riprap(f64),
}

impl Method {
    /// The schemes with the paper's `ρ∞` = 0.8.
    pub const GGL: Method = Method::Ggl(0.8);
    /// See [`Method::ModifiedLcp`].
    pub const MODIFIED: Method = Method::ModifiedLcp(0.8);
    /// See [`Method::SmoothIndex3`].
    pub const SMOOTH: Method = Method::SmoothIndex3(0.8);
    /// See [`Method::MoreauJean`].
    pub const MOREAU: Method = Method::MoreauJean(0.8);

    /// Name in tables and legends.
    pub fn name(self) -> &'static str {
        match self {
            Method::Ggl(_) => "nonsmooth-α GGL",
            Method::ModifiedLcp(_) => "nonsmooth-α, modified LCP",
            Method::SmoothIndex3(_) => "smooth-α index 3",
            Method::MoreauJean(_) => "Moreau–Jean",
            Method::Riprap(_) => "Moreau–Jean of riprap",
        }
    }

    /// The spectral radius `ρ∞` [–].
    pub fn rho(self) -> f64 {
        let (Method::Ggl(rho)
        | Method::ModifiedLcp(rho)
        | Method::SmoothIndex3(rho)
        | Method::MoreauJean(rho)
        | Method::Riprap(rho)) = self;
        rho
    }

    /// The scheme with a time step [s].
    pub fn scheme(self, dt: f64) -> Box<dyn Scheme> {
        let alpha = |variant| -> Box<dyn Scheme> {
            Box::new(GeneralizedAlpha::new(dt).rho(self.rho()).variant(variant))
        };
        match self {
            Method::Ggl(_) => alpha(Variant::Ggl),
            Method::ModifiedLcp(_) => alpha(Variant::ModifiedLcp),
            Method::SmoothIndex3(_) => alpha(Variant::SmoothIndex3),
            Method::MoreauJean(_) => alpha(Variant::MoreauJean),
            Method::Riprap(rho) => {
                let solver = GaussSeidel::tolerance(1e-14);
                Box::new(MoreauJean::new(dt).theta(1.0 / (1.0 + rho)).solver(solver))
            }
        }
    }
}

/// The multipliers of a constraint in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Multipliers {
    /// Smooth multiplier `λ̃` [N]; of bilateral constraints only.
    pub lambda: f64,
    /// Impulse `Λ` [N s].
    pub impulse: f64,
    /// Position correction `ν` [N s²].
    pub nu: f64,
}

/// A unilateral constraint over time.
#[derive(Clone, Debug, Default)]
pub struct ContactSeries {
    /// Gap [m].
    pub gap: Vec<f64>,
    /// Rate of the gap [m/s].
    pub rate: Vec<f64>,
    /// Multipliers of each step.
    pub multipliers: Vec<Multipliers>,
}

/// The pivot over time: its equations along x and y.
#[derive(Clone, Debug, Default)]
pub struct PivotSeries {
    /// Residual at position level [m].
    pub error: Vec<[f64; 2]>,
    /// Residual at velocity level [m/s].
    pub rate: Vec<[f64; 2]>,
    /// Multipliers of each step.
    pub multipliers: Vec<[Multipliers; 2]>,
}

/// A recorded run; every list starts with the initial state.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Time step [s].
    pub dt: f64,
    /// Times [s].
    pub t: Vec<f64>,
    /// Coordinates [m, rad].
    pub q: Vec<Q>,
    /// Velocities [m/s, rad/s].
    pub v: Vec<Q>,
    /// Energy [J].
    pub energy: Vec<f64>,
    /// The contacts in the order of [`Planar::contacts`].
    pub contacts: Vec<ContactSeries>,
    /// The pivot, if any.
    pub pivot: PivotSeries,
    /// Newton iterations of all steps.
    pub iterations: u64,
    /// Largest number of Newton iterations of a step.
    pub most_iterations: u32,
    /// How often a step was halved.
    pub halvings: u64,
    /// Wall time [s].
    pub wall: f64,
}

/// Runs a scene until a time [s] with steps of `dt` [s].
pub fn run(scene: Scene, method: Method, dt: f64, until: f64) -> Result<Record, String> {
    let planar = Planar::of(&scene)?;
    let slot = (0..scene.bodies().len()).find(|&i| scene.bodies().movable[i]);
    let body = scene.body_at(slot.expect("one free body"));
    let mut run = Simulation::new(scene, method.scheme(dt)).map_err(|e| e.to_string())?;
    let mut record = Record { dt, ..Record::default() };
    record.contacts.resize(planar.contacts.len(), ContactSeries::default());
    let begin = std::time::Instant::now();
    record.push(&planar, &run, body);
    for _ in 0..(until / dt).round() as u64 {
        let step = run.step().map_err(|e| e.to_string())?;
        record.count(&step);
        record.push(&planar, &run, body);
    }
    record.wall = begin.elapsed().as_secs_f64();
    Ok(record)
}

impl Record {
    /// Counts the iterations of a step.
    pub(super) fn count(&mut self, step: &StepReport) {
        self.iterations += step.newton as u64;
        self.most_iterations = self.most_iterations.max(step.newton as u32);
        self.halvings += u64::from(step.halvings);
    }

    fn push(&mut self, planar: &Planar, run: &Simulation, body: Body) {
        let (q, v) = (coordinates(&run.pose(body)), rates(&run.velocity(body)));
        self.t.push(run.time());
        self.energy.push(planar.energy(&q, &v));
        let impulses = contact_multipliers(run, planar.contacts.len());
        for (k, contact) in self.contacts.iter_mut().enumerate() {
            contact.gap.push(planar.gap(k, &q));
            contact.rate.push(planar.gap_rate(k, &q, &v));
            contact.multipliers.push(impulses[k]);
        }
        if let Some(gradient) = planar.pivot_gradient(&q) {
            self.pivot.error.push(planar.pivot_error(&q).into());
            self.pivot.rate.push((gradient * v).into());
            self.pivot.multipliers.push(pivot_multipliers(run));
        }
        self.q.push(q);
        self.v.push(v);
    }

    /// Smallest gap of all contacts and times [m].
    pub fn smallest_gap(&self) -> f64 {
        let gaps = self.contacts.iter().flat_map(|c| &c.gap);
        gaps.fold(f64::INFINITY, |m, g| m.min(*g))
    }

    /// Largest increase of energy in a step [J].
    pub fn largest_rise(&self) -> f64 {
        self.energy.windows(2).fold(0.0, |m, e| m.max(e[1] - e[0]))
    }

    /// Largest residual of the pivot at position [m] and velocity level [m/s].
    pub fn pivot_residual(&self) -> [f64; 2] {
        [&self.pivot.error, &self.pivot.rate]
            .map(|rows| rows.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs())))
    }

    /// Last time at which a gap changes faster than a speed [m/s] [s].
    pub fn last_motion(&self, speed: f64) -> f64 {
        let moving = |k: &usize| self.contacts.iter().any(|c| c.rate[*k].abs() > speed);
        (0..self.t.len()).rev().find(moving).map_or(0.0, |k| self.t[k])
    }

    /// Mean Newton iterations per step [–].
    pub fn mean_iterations(&self) -> f64 {
        self.iterations as f64 / (self.t.len() - 1).max(1) as f64
    }
}

/// The multipliers of the generalized-α scheme, if it made the last step.
fn alpha(run: &Simulation) -> Option<&AlphaState> {
    match &run.state().scheme {
        SchemeState::GeneralizedAlpha(alpha) => Some(alpha),
        _ => None,
    }
}

/// Multipliers of the contacts in the last step. riprap's Moreau–Jean has impulses only.
fn contact_multipliers(run: &Simulation, n: usize) -> Vec<Multipliers> {
    let mut all = vec![Multipliers::default(); n];
    let first = run.scene().colliders().len() as u32;
    // Colliders of point contacts come in pairs after those of the shapes.
    let index = |colliders: [u32; 2]| colliders[0].checked_sub(first).map_or(0, |k| k / 2) as usize;
    if let Some(alpha) = alpha(run) {
        for c in &alpha.contacts {
            let to = &mut all[index(c.colliders)];
            (to.impulse, to.nu) = (c.impulse[0], c.nu);
        }
        return all;
    }
    let frame = run.frame();
    for (contact, r) in frame.work.contacts().active().zip(frame.work.impulses()) {
        all[index(contact.point.colliders)].impulse = r[0];
    }
    all
}

/// Multipliers of the pivot along x and y in the last step, acting on the body.
fn pivot_multipliers(run: &Simulation) -> [Multipliers; 2] {
    let mut both = [Multipliers::default(); 2];
    if let Some(alpha) = alpha(run) {
        for row in alpha.constraints.iter().filter(|row| row.of == ConstraintOf::Joint(0)) {
            if let Some(to) = both.get_mut(row.equation as usize) {
                *to = Multipliers { lambda: row.lambda, impulse: row.impulse, nu: row.nu };
            }
        }
        return both;
    }
    // The equations are along the axes of the first body, the world.
    let impulse = run.state().joint_impulses.first().copied().unwrap_or_default();
    [impulse[0], impulse[1]].map(|impulse| Multipliers { impulse, ..Multipliers::default() })
}

#[cfg(test)]
mod tests {
    use super::super::{BALL, PENDULUM, ROCKING_BLOCK, ball_gap, event_driven, scene_of};
    use super::*;

    /// Largest error of a coordinate against the event-driven reference.
    fn error(method: Method, text: &str, dt: f64, until: f64, of: impl Fn(&Q) -> f64) -> f64 {
        let scene = scene_of(text).unwrap();
        let planar = Planar::of(&scene).unwrap();
        let record = run(scene, method, dt, until).unwrap();
        let exact = event_driven::motion(&planar, &record.t[1..], 1e-3);
        let pairs = record.q[1..].iter().zip(&exact.q);
        pairs.fold(0.0, |m, (a, b)| m.max((of(a) - of(b)).abs()))
    }

    #[test]
    fn moreau_jean_has_the_errors_of_another_implementation() {
        let near = |ours: f64, theirs: f64, tolerance: f64| {
            let off = (ours / theirs - 1.0).abs();
            assert!(off < tolerance, "{ours:.2e} instead of {theirs:.1e}");
        };
        // Its errors are known to two digits.
        let planar = Planar::of(&scene_of(BALL).unwrap()).unwrap();
        for method in [Method::MOREAU, Method::Riprap(0.8)] {
            for (dt, theirs) in [(2e-3, 1.4e-2), (2e-4, 1.6e-3)] {
                let record = run(scene_of(BALL).unwrap(), method, dt, 4.0).unwrap();
                let pairs = record.t.iter().zip(&record.contacts[0].gap);
                let errors = pairs.map(|(t, g)| (g - ball_gap(&planar, *t)).abs());
                near(errors.fold(0.0, f64::max), theirs, 0.05);
            }
        }
        near(error(Method::Riprap(0.8), ROCKING_BLOCK, 1e-2, 2.5, |q| q.y), 1.3e-2, 0.05);
        near(error(Method::Riprap(0.8), ROCKING_BLOCK, 2e-4, 2.5, |q| q.y), 2.8e-4, 0.05);
        // The implicit scheme evaluates the pivot at the end of the step; where theirs does is not known.
        near(error(Method::MOREAU, PENDULUM, 1e-3, 6.0, |q| q.z), 7.6e-3, 0.2);
        near(error(Method::MOREAU, PENDULUM, 1e-4, 6.0, |q| q.z), 6.9e-4, 0.2);
    }
}
