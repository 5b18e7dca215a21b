//! Static equilibrium: the pose at which the forces on the independent coordinates vanish while nothing moves.
//!
//! First the mechanism is lowered, as friction would do it: Newton's method where the stiffness is
//! positive, steps along the force elsewhere, each accepted if the forces do positive work. If that
//! does not converge, in force fields that have no potential, the norm of the force is minimized
//! instead, which finds unstable poses as well.

mod pose;

use super::{AnalysisError, MotionError};
use crate::multibody::mechanism::Coordinate;
use crate::multibody::{Multibody, MultibodyScratch, MultibodyState};
use nalgebra::{Cholesky, DMatrix, DVector};
use pose::{NEGLIGIBLE, Search};

/// Iterations of each of the two searches.
const ITERATIONS: usize = 300;
/// Largest displacement of a coordinate in an iteration [rad, span].
const RADIUS: f64 = 0.5;
/// A coordinate that has moved this far will not stop [rad, span].
const FAR: f64 = 100.0;
/// Newton steps below this end the search [rad, span].
const SMALL: f64 = 1e-10;

/// Whether a mechanism stays at an equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub enum Stability {
    /// Every small displacement is pushed back.
    Stable,
    /// Some displacements meet no force: a joint turns freely.
    Neutral {
        /// The coordinate that moves most in the softest displacement.
        coordinate: Coordinate,
    },
    /// Some displacements are amplified by the forces.
    Unstable {
        /// The coordinate that moves most in the worst displacement.
        coordinate: Coordinate,
    },
}

/// A static equilibrium.
#[derive(Clone, Debug)]
pub struct Equilibrium {
    /// The pose with closed loops; all velocities are 0. Includes the partition in use.
    pub state: MultibodyState,
    /// Largest remaining force on an independent coordinate [N, N m].
    pub residual: f64,
    /// Number of iterations.
    pub iterations: usize,
    /// Whether the mechanism stays there.
    pub stability: Stability,
    /// Forces in the cuts of the loops, one per equation [N, N m].
    pub loop_forces: Vec<f64>,
    /// Forces that hold the prescribed joints [N, N m], in the order of [`Multibody::driven_coordinates`].
    pub drive_forces: Vec<f64>,
}

impl Multibody {
    /// Finds a static pose: `Tᵀ (τ − c) = 0` with closed loops, starting from the positions of a
    /// state. Velocities are 0, prescribed joints are held at their positions at `t`, and laws act
    /// as at `t` in the phases of the state.
    ///
    /// From an unbalanced start the search goes downhill, to a stable pose if there is one on the
    /// way; an unstable pose is found if the search starts there, or if no stable one is found. See
    /// [`Stability`].
    pub fn equilibrium(
        &self,
        from: &MultibodyState,
        t: f64,
        w: &mut MultibodyScratch,
    ) -> Result<Equilibrium, AnalysisError> {
        let mut search = Search::new(self, from, t, w)?;
        let begin = (search.q.clone(), search.partition.clone());
        let mut end = search.let_down()?;
        if end != End::Found {
            // Minimize the force norm from the same start. Its failure is less informative than
            // that of the first search.
            let error = search.failure(&end);
            (search.q, search.partition) = begin;
            search.evaluate()?;
            end = search.balance()?;
            if end != End::Found {
                return Err(error);
            }
        }
        search.finish()
    }
}

/// How a search ended.
#[derive(Debug, PartialEq)]
enum End {
    Found,
    /// A coordinate moved too far.
    Away(usize),
    /// No step is an improvement.
    Stuck,
    /// No step could be evaluated.
    Blocked(MotionError),
}

impl Search<'_> {
    /// The step to try: Newton's where the stiffness is positive; otherwise along the force in each
    /// eigendirection, as far as the stiffness suggests, and none where there is neither force nor
    /// stiffness. The flag tells which.
    fn step(&self, stiffness: &DMatrix<f64>) -> (DVector<f64>, bool) {
        let (eigenvalues, directions) = self.directions(stiffness);
        let none = self.softest(&eigenvalues);
        if eigenvalues.iter().all(|x| *x > none)
            && let Some(step) = stiffness.clone().lu().solve(&self.force)
        {
            return (step, true);
        }
        let mut step = DVector::zeros(self.force.len());
        for (k, value) in eigenvalues.iter().enumerate() {
            let direction = directions.column(k).into_owned();
            let push = direction.dot(&self.force);
            let noise = NEGLIGIBLE * direction.abs().dot(&self.scale);
            if value.abs() <= none && push.abs() <= noise {
                continue;
            }
            let longest = RADIUS / self.size(&direction);
            step += direction * (push / value.abs().max(none)).clamp(-longest, longest);
        }
        (step, false)
    }

    /// Follows the forces downhill.
    fn let_down(&mut self) -> Result<End, AnalysisError> {
        if self.force.is_empty() {
            return Ok(End::Found);
        }
        let mut radius = RADIUS;
        for _ in 0..ITERATIONS {
            let stiffness = self.stiffness()?;
            let (mut step, definite) = self.step(&stiffness);
            let size = self.size(&step);
            self.iterations += 1;
            if size <= SMALL {
                self.polish(&step)?;
                return Ok(End::Found);
            }
            step *= (radius / size).min(1.0);
            let end = self.search_along(&step, definite)?;
            match end {
                Ok(share) => {
                    self.travel += (&self.map * &step) * share;
                    radius = if share < 1.0 { radius * share } else { radius * 2.0 };
                    radius = radius.clamp(1e-3, RADIUS);
                    self.evaluate()?;
                }
                Err(end) => return Ok(if self.negligible() { End::Found } else { end }),
            }
            let far = self.travel.component_div(&self.spans);
            if far.amax() > FAR {
                return Ok(End::Away(far.iamax()));
            }
        }
        Ok(if self.negligible() { End::Found } else { End::Stuck })
    }

    /// Takes the longest fraction of a step on which the forces do positive work, or which reduces
    /// them where the stiffness is positive.
    fn search_along(
        &mut self,
        step: &DVector<f64>,
        definite: bool,
    ) -> Result<Result<f64, End>, AnalysisError> {
        let (pull, norm) = (self.force.dot(step), self.norm(&self.force));
        let (mut share, mut tried, mut error) = (1.0, false, None);
        for _ in 0..30 {
            let ends = self.probe(step, share);
            let middle = self.probe(step, 0.5 * share);
            match (ends, middle) {
                (Ok((q, force)), Ok((_, middle))) => {
                    tried = true;
                    // Work over the step by Simpson's rule, per unit fraction.
                    let work = (pull + 4.0 * middle.dot(step) + force.dot(step)) / 6.0;
                    let lessened = definite && self.norm(&force) < (1.0 - 1e-3 * share) * norm;
                    if lessened || (pull > 0.0 && work >= 1e-3 * pull) {
                        self.q = q;
                        return Ok(Ok(share));
                    }
                }
                (Err(e), _) | (_, Err(e)) => error = Some(e),
            }
            share *= 0.5;
        }
        Ok(Err(match error {
            Some(error) if !tried => End::Blocked(error),
            _ => End::Stuck,
        }))
    }

    /// A final small step, kept if it does not increase the force.
    fn polish(&mut self, step: &DVector<f64>) -> Result<(), AnalysisError> {
        if let Ok((q, force)) = self.probe(step, 1.0)
            && self.norm(&force) <= self.norm(&self.force)
        {
            self.q = q;
        }
        self.evaluate()
    }

    /// Minimizes the norm of the force by damped Gauss–Newton steps.
    fn balance(&mut self) -> Result<End, AnalysisError> {
        let mut damping = 1e-3;
        for _ in 0..ITERATIONS {
            let stiffness = self.stiffness()?;
            self.iterations += 1;
            if self.negligible() {
                if let Some(step) = stiffness.lu().solve(&self.force)
                    && self.size(&step) < RADIUS
                {
                    self.polish(&step)?;
                }
                return Ok(End::Found);
            }
            // (Kᵀ D⁻¹ K + μ κ D) δ = Kᵀ D⁻¹ g, with κ the square of the largest stiffness.
            let (eigenvalues, _) = self.directions(&stiffness);
            let square = eigenvalues.amax().powi(2);
            let normal = stiffness.tr_mul(&self.metric.solve(&stiffness));
            let gradient = stiffness.tr_mul(&self.metric.solve(&self.force));
            let l = self.metric.l();
            let d = &l * l.transpose();
            let norm = self.norm(&self.force);
            let mut better = false;
            while damping < 1e12 && square > 0.0 {
                let step = Cholesky::new(&normal + &d * (damping * square))
                    .map(|c| c.solve(&gradient))
                    .map(|step| &step * (RADIUS / self.size(&step)).min(1.0));
                let tried = step.and_then(|step| self.probe(&step, 1.0).ok());
                if let Some((q, force)) = tried
                    && self.norm(&force) < norm
                {
                    better = true;
                    damping *= 0.1;
                    self.q = q;
                    break;
                }
                damping = (10.0 * damping).max(1e-12);
            }
            if !better {
                return Ok(End::Stuck);
            }
            self.evaluate()?;
        }
        Ok(if self.negligible() { End::Found } else { End::Stuck })
    }

    fn failure(&self, end: &End) -> AnalysisError {
        let (s, independent) = (self.system, &self.partition.independent);
        let mechanism = s.name.clone();
        match end {
            End::Blocked(error) => AnalysisError::Motion(error.clone()),
            End::Away(c) => {
                let force = independent.iter().position(|i| *i as usize == *c);
                AnalysisError::KeepsMoving {
                    mechanism,
                    coordinate: s.coordinate_names[*c].clone(),
                    t: self.t,
                    moved: self.travel[*c].abs(),
                    unit: s.coordinate_unit(Coordinate(*c as u32)),
                    force: force.map_or(self.force.amax(), |k| self.force[k].abs()),
                    force_unit: s.force_unit(Coordinate(*c as u32)),
                    iterations: self.iterations,
                }
            }
            End::Found | End::Stuck => {
                let share = |k: usize| self.force[k].abs() / self.scale[k].max(1e-300);
                let worst = (0..self.force.len()).max_by(|a, b| share(*a).total_cmp(&share(*b)));
                let (k, c) = worst.map_or((0, 0), |k| (k, independent[k]));
                AnalysisError::Unbalanced {
                    mechanism,
                    coordinate: s.coordinate_names[c as usize].clone(),
                    t: self.t,
                    force: self.force[k].abs(),
                    force_unit: s.force_unit(Coordinate(c)),
                    iterations: self.iterations,
                }
            }
        }
    }

    fn stability(&mut self) -> Result<Stability, AnalysisError> {
        if self.force.is_empty() {
            return Ok(Stability::Stable);
        }
        let stiffness = self.stiffness()?;
        let (eigenvalues, directions) = self.directions(&stiffness);
        let k = eigenvalues.imin();
        let moves = (&self.map * directions.column(k)).component_div(&self.units);
        let coordinate = Coordinate(moves.iamax() as u32);
        let none = self.softest(&eigenvalues);
        Ok(match eigenvalues[k] {
            x if x > none => Stability::Stable,
            x if x >= -none => Stability::Neutral { coordinate },
            _ => Stability::Unstable { coordinate },
        })
    }

    fn finish(mut self) -> Result<Equilibrium, AnalysisError> {
        let stability = self.stability()?;
        self.evaluate()?;
        self.w.acceleration.fill(0.0);
        self.system.reactions(&self.partition, self.w);
        Ok(Equilibrium {
            residual: self.force.iter().fold(0.0, |m, x| x.abs().max(m)),
            iterations: self.iterations,
            stability,
            loop_forces: self.w.loop_force.clone(),
            drive_forces: self.w.drive_force.clone(),
            state: MultibodyState {
                q: self.q,
                v: vec![0.0; self.system.n_v()],
                control: self.from.control.clone(),
                partition: self.partition,
            },
        })
    }
}

#[cfg(test)]
mod tests;
