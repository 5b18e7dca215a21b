//! A mechanism at one pose of the search for an equilibrium: the reduced force, its scale, the metric of displacements and
//! the stiffness there.

use crate::multibody::analysis::{AnalysisError, NEUTRAL, NUDGE, derivatives};
use crate::multibody::partition::Partition;
use crate::multibody::{MotionError, Multibody, MultibodyScratch, MultibodyState};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn, SymmetricEigen};

/// Forces below this fraction of the acting ones count as zero.
pub(super) const NEGLIGIBLE: f64 = 1e-9;

/// Scales of steps: 1 rad; for a slide the largest of its unit, its position, the ends of its stops
/// and the rest length of its spring [m].
fn spans(system: &Multibody, q: &[f64], units: &DVector<f64>) -> DVector<f64> {
    let mut spans = units.clone();
    let mut widen = |c: usize, length: f64| {
        if !system.angles[c] && length.is_finite() {
            spans[c] = spans[c].max(length.abs());
        }
    };
    for c in system.coordinates() {
        if let Some(at) = system.q_of(c) {
            widen(c.0 as usize, q[at]);
        }
    }
    for (c, _, stops) in &system.forces.stops {
        widen(*c as usize, stops.lower);
        widen(*c as usize, stops.upper);
    }
    for (c, _, spring) in &system.forces.springs {
        widen(*c as usize, spring.rest);
    }
    spans
}

/// A search at one pose.
pub(super) struct Search<'a> {
    pub(super) system: &'a Multibody,
    pub(super) from: &'a MultibodyState,
    pub(super) t: f64,
    pub(super) w: &'a mut MultibodyScratch,
    pub(super) reach: f64,
    pub(super) units: DVector<f64>,
    /// Scale of steps: 1 rad, or the reach or span of a slide [m].
    pub(super) spans: DVector<f64>,
    pub(super) q: Vec<f64>,
    pub(super) partition: Partition,
    /// `T`.
    pub(super) map: DMatrix<f64>,
    /// Reduced force.
    pub(super) force: DVector<f64>,
    /// Magnitudes of the forces that add up to it.
    pub(super) scale: DVector<f64>,
    /// `M_red` with a slightly increased diagonal: the metric of displacements.
    pub(super) metric: Cholesky<f64, Dyn>,
    /// How far each coordinate has moved.
    pub(super) travel: DVector<f64>,
    pub(super) iterations: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        system: &'a Multibody,
        from: &'a MultibodyState,
        t: f64,
        w: &'a mut MultibodyScratch,
    ) -> Result<Search<'a>, AnalysisError> {
        let mut q = from.q.clone();
        // Prescribed joints move to their positions in small steps, so that the loops stay on their
        // branch.
        let units = system.coordinate_units();
        let ways: Vec<(usize, f64, f64)> = system
            .driven
            .iter()
            .map(|(_, at, motion)| {
                let begin = q[*at as usize];
                (*at as usize, begin, motion.at(t)[0] - begin)
            })
            .collect();
        let longest = system
            .driven
            .iter()
            .zip(&ways)
            .fold(0.0_f64, |m, ((c, ..), (.., way))| m.max(way.abs() / units[*c as usize]));
        let n_steps = (longest / 0.1).ceil().clamp(1.0, 1e4);
        for k in 1..=n_steps as usize {
            for (at, begin, way) in &ways {
                q[*at] = begin + way * (k as f64 / n_steps);
            }
            system.close(&from.partition, t, &mut q, w)?;
        }
        let mut search = Search {
            system,
            from,
            t,
            w,
            reach: system.reach(),
            spans: spans(system, &q, &units),
            units,
            q,
            partition: from.partition.clone(),
            map: DMatrix::zeros(0, 0),
            force: DVector::zeros(0),
            scale: DVector::zeros(0),
            metric: Cholesky::new(DMatrix::identity(0, 0)).expect("an empty matrix is definite"),
            travel: DVector::zeros(system.n_v()),
            iterations: 0,
        };
        search.evaluate()?;
        Ok(search)
    }

    /// Reduced force, its scale and the metric at `q`; the partition is chosen again if it has
    /// become ill-conditioned.
    pub(super) fn evaluate(&mut self) -> Result<(), AnalysisError> {
        let (s, t) = (self.system, self.t);
        s.close(&self.partition, t, &mut self.q, self.w)?;
        s.linearize(&self.partition, t, self.w)?;
        s.renew_partition(&mut self.partition, self.w);
        let force = s.forces_at_rest(&self.q, &self.from.control, &self.partition, t, self.w)?;
        self.map = s.velocity_map(&self.partition, self.w);
        self.force = self.map.tr_mul(&force);
        let mass: f64 = s.tree.nodes.iter().map(|n| n.mass).sum();
        let weight = mass * s.tree.gravity.norm();
        let sizes = DVector::from_fn(s.n_v(), |c, _| {
            self.w.applied[c].abs() + self.w.tree.bias_force[c].abs() + weight * self.lever(c)
        });
        self.scale = self.map.abs().tr_mul(&sizes);
        // Without any masses, the identity; coordinates without mass get a fraction of the total.
        let mut metric = s.reduced_mass(&self.map, self.w);
        let floor = if mass > 0.0 { 1e-3 * mass } else { 1.0 };
        for (k, &c) in self.partition.independent.iter().enumerate() {
            metric[(k, k)] += floor * self.lever(c as usize).powi(2);
        }
        self.metric = Cholesky::new(metric).ok_or_else(|| self.not_finite())?;
        Ok(())
    }

    /// Length by which a coordinate moves masses, per unit [m, 1].
    pub(super) fn lever(&self, c: usize) -> f64 {
        if self.system.angles[c] { self.reach } else { 1.0 }
    }

    pub(super) fn not_finite(&self) -> MotionError {
        let c = self.partition.independent.first().map_or(0, |c| *c as usize);
        MotionError::NotFinite {
            mechanism: self.system.name.clone(),
            coordinate: self.system.coordinate_names[c].clone(),
            t: self.t,
        }
    }

    /// Positions and reduced force after a fraction of a step of the independent coordinates.
    pub(super) fn probe(
        &mut self,
        step: &DVector<f64>,
        share: f64,
    ) -> Result<(Vec<f64>, DVector<f64>), MotionError> {
        let (s, t) = (self.system, self.t);
        let along = &self.map * step;
        let q = s.displaced(&self.q, &along, share, &self.partition, t, self.w)?;
        let force = s.forces_at_rest(&q, &self.from.control, &self.partition, t, self.w)?;
        Ok((q, s.velocity_map(&self.partition, self.w).tr_mul(&force)))
    }

    /// `K = −∂(Tᵀ(τ − c))/∂q` along the independent coordinates.
    pub(super) fn stiffness(&mut self) -> Result<DMatrix<f64>, MotionError> {
        let f = self.partition.independent.len();
        let steps =
            DVector::from_fn(f, |k, _| NUDGE * self.units[self.partition.independent[k] as usize]);
        let stiffness = derivatives(&steps, f, |k, h| {
            let mut unit = DVector::zeros(f);
            unit[k] = 1.0;
            self.probe(&unit, h).map(|(_, force)| -force)
        })?;
        match stiffness.iter().all(|x| x.is_finite()) {
            true => Ok(stiffness),
            false => Err(self.not_finite()),
        }
    }

    /// Size of a step: the largest displacement of any coordinate [rad, span].
    pub(super) fn size(&self, step: &DVector<f64>) -> f64 {
        (&self.map * step).component_div(&self.spans).amax()
    }

    /// Norm of a force in the metric.
    pub(super) fn norm(&self, force: &DVector<f64>) -> f64 {
        self.metric.l().solve_lower_triangular(force).map_or(f64::NAN, |x| x.norm())
    }

    pub(super) fn negligible(&self) -> bool {
        self.force.iter().zip(&self.scale).all(|(f, s)| f.abs() <= NEGLIGIBLE * s)
    }

    /// Stiffness relative to the metric: eigenvalues [1/s²] and directions of the independent
    /// coordinates, as columns.
    pub(super) fn directions(&self, stiffness: &DMatrix<f64>) -> (DVector<f64>, DMatrix<f64>) {
        let l = self.metric.l();
        let symmetric = (stiffness + stiffness.transpose()) * 0.5;
        let left = l.solve_lower_triangular(&symmetric).unwrap_or(symmetric);
        let both = l.solve_lower_triangular(&left.transpose()).unwrap_or(left);
        let eigen = SymmetricEigen::new((&both + both.transpose()) * 0.5);
        let directions = l.tr_solve_lower_triangular(&eigen.eigenvectors);
        (eigen.eigenvalues, directions.unwrap_or(eigen.eigenvectors))
    }

    /// Stiffness below this counts as zero [1/s²].
    pub(super) fn softest(&self, eigenvalues: &DVector<f64>) -> f64 {
        let weight = self.system.tree.gravity.norm() / self.reach;
        NEUTRAL * (eigenvalues.amax() + weight)
    }
}
