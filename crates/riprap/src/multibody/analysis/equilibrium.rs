//! Static equilibrium: the pose at which the forces on the independent coordinates vanish while nothing moves.
//!
//! First the mechanism is let down, as friction would do it: Newton's method where the stiffness is positive, steps along
//! the force elsewhere, each accepted if the forces do work on it. Where that does not end, in the field of laws
//! that have no potential, the norm of the force is minimised instead, which finds unstable poses as well.

use super::{AnalysisError, MotionError, NEUTRAL, NUDGE, derivatives};
use crate::multibody::mechanism::Coordinate;
use crate::multibody::partition::Partition;
use crate::multibody::{Multibody, MultibodyScratch, MultibodyState};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn, SymmetricEigen};

/// Iterations of each of the two searches.
const ITERATIONS: usize = 300;
/// Largest move of a coordinate in an iteration [rad, span].
const RADIUS: f64 = 0.5;
/// A coordinate that has moved so far will not stop [rad, span].
const FAR: f64 = 100.0;
/// Newton steps below this end the search [rad, span].
const SMALL: f64 = 1e-10;
/// Forces below this share of those that act count as zero.
const NEGLIGIBLE: f64 = 1e-9;

/// Whether a mechanism stays at an equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub enum Stability {
    /// Every small displacement is pushed back.
    Stable,
    /// There are displacements without force: a joint turns freely.
    Neutral {
        /// The coordinate that moves most in the softest one.
        coordinate: Coordinate,
    },
    /// There are displacements that forces increase.
    Unstable {
        /// The coordinate that moves most in the worst one.
        coordinate: Coordinate,
    },
}

/// A static equilibrium.
#[derive(Clone, Debug)]
pub struct Equilibrium {
    /// The pose with closed loops; all velocities are 0. Holds the partition in use.
    pub state: MultibodyState,
    /// Largest force left on an independent coordinate [N, N m].
    pub residual: f64,
    /// Iterations taken.
    pub iterations: usize,
    /// Whether it stays there.
    pub stability: Stability,
    /// Forces in the cuts of the loops, one per equation [N, N m].
    pub loop_forces: Vec<f64>,
    /// Forces that hold the prescribed joints [N, N m], in the order of [`Multibody::driven_coordinates`].
    pub drive_forces: Vec<f64>,
}

impl Multibody {
    /// Finds a static pose: `Tᵀ (τ − c) = 0` with closed loops, from the positions of a state. Velocities are 0, prescribed
    /// joints are held where they are at `t`, laws act as at `t` in the phases of the state.
    ///
    /// From a start out of balance it goes downhill, to a stable pose if there is one on the way; an unstable one is found
    /// if the search starts there, or if nothing else is. See [`Stability`].
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
            // Where the force norm leads to, from the same start. Its failure says less than that of the first search.
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

/// Measures of steps: 1 rad; for a slide the largest of its unit, its position, the ends of its stops and the rest of its
/// spring [m].
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

/// How a search ended.
#[derive(Debug, PartialEq)]
enum End {
    Found,
    /// A coordinate went too far.
    Away(usize),
    /// No step makes it better.
    Stuck,
    /// No step could even be tried.
    Blocked(MotionError),
}

/// A search at one pose.
struct Search<'a> {
    system: &'a Multibody,
    from: &'a MultibodyState,
    t: f64,
    w: &'a mut MultibodyScratch,
    reach: f64,
    units: DVector<f64>,
    /// Measure of steps: 1 rad, or the reach or span of a slide [m].
    spans: DVector<f64>,
    q: Vec<f64>,
    partition: Partition,
    /// `T`.
    map: DMatrix<f64>,
    /// Reduced force.
    force: DVector<f64>,
    /// Sizes of the forces of which it is the sum.
    scale: DVector<f64>,
    /// `M_red` with a little more on its diagonal: the measure of displacements.
    metric: Cholesky<f64, Dyn>,
    /// How far each coordinate went.
    travel: DVector<f64>,
    iterations: usize,
}

impl<'a> Search<'a> {
    fn new(
        system: &'a Multibody,
        from: &'a MultibodyState,
        t: f64,
        w: &'a mut MultibodyScratch,
    ) -> Result<Search<'a>, AnalysisError> {
        let mut q = from.q.clone();
        // Prescribed joints go to their places in small steps, so that the loops stay on their branch.
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

    /// Reduced force, its scale and the metric at `q`; the partition is chosen again where it has worn out.
    fn evaluate(&mut self) -> Result<(), AnalysisError> {
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
        // Without masses, any; coordinates without mass get a share of the whole.
        let mut metric = s.reduced_mass(&self.map, self.w);
        let floor = if mass > 0.0 { 1e-3 * mass } else { 1.0 };
        for (k, &c) in self.partition.independent.iter().enumerate() {
            metric[(k, k)] += floor * self.lever(c as usize).powi(2);
        }
        self.metric = Cholesky::new(metric).ok_or_else(|| self.not_finite())?;
        Ok(())
    }

    /// Length by which a coordinate moves masses, per unit [m, 1].
    fn lever(&self, c: usize) -> f64 {
        if self.system.angles[c] { self.reach } else { 1.0 }
    }

    fn not_finite(&self) -> MotionError {
        let c = self.partition.independent.first().map_or(0, |c| *c as usize);
        MotionError::NotFinite {
            mechanism: self.system.name.clone(),
            coordinate: self.system.coordinate_names[c].clone(),
            t: self.t,
        }
    }

    /// Positions and reduced force after a share of a step of the independent coordinates.
    fn probe(
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
    fn stiffness(&mut self) -> Result<DMatrix<f64>, MotionError> {
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

    /// Size of a step: the largest move of any coordinate [rad, span].
    fn size(&self, step: &DVector<f64>) -> f64 {
        (&self.map * step).component_div(&self.spans).amax()
    }

    /// Norm of a force in the metric.
    fn norm(&self, force: &DVector<f64>) -> f64 {
        self.metric.l().solve_lower_triangular(force).map_or(f64::NAN, |x| x.norm())
    }

    fn negligible(&self) -> bool {
        self.force.iter().zip(&self.scale).all(|(f, s)| f.abs() <= NEGLIGIBLE * s)
    }

    /// Stiffness measured by the metric: eigenvalues [1/s²] and directions of the independent coordinates, as columns.
    fn directions(&self, stiffness: &DMatrix<f64>) -> (DVector<f64>, DMatrix<f64>) {
        let l = self.metric.l();
        let symmetric = (stiffness + stiffness.transpose()) * 0.5;
        let left = l.solve_lower_triangular(&symmetric).unwrap_or(symmetric);
        let both = l.solve_lower_triangular(&left.transpose()).unwrap_or(left);
        let eigen = SymmetricEigen::new((&both + both.transpose()) * 0.5);
        let directions = l.tr_solve_lower_triangular(&eigen.eigenvectors);
        (eigen.eigenvalues, directions.unwrap_or(eigen.eigenvectors))
    }

    /// Below this a stiffness is none [1/s²].
    fn softest(&self, eigenvalues: &DVector<f64>) -> f64 {
        let weight = self.system.tree.gravity.norm() / self.reach;
        NEUTRAL * (eigenvalues.amax() + weight)
    }

    /// The step to try: Newton's where the stiffness is positive; else along each of its directions with the force, as far as
    /// its size says, and not at all where there is neither force nor stiffness. The flag tells which.
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

    /// Goes where the forces pull.
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

    /// Takes the longest share of a step on which the forces do work, or which lessens them where the stiffness is positive.
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
                    // Work over the step by Simpson's rule, per share.
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

    /// A last small step, kept if it does not make it worse.
    fn polish(&mut self, step: &DVector<f64>) -> Result<(), AnalysisError> {
        if let Ok((q, force)) = self.probe(step, 1.0)
            && self.norm(&force) <= self.norm(&self.force)
        {
            self.q = q;
        }
        self.evaluate()
    }

    /// Minimises the norm of the force by damped Gauss–Newton steps.
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
                smooth_dt: 0.0,
                anchor: None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Pose, Quat, Vec3};
    use crate::multibody::{
        Axis, Cut, Frame, GROUND, Joint, JointMotion, Link, Mechanism, PointSpring, Signal, Stops,
    };
    use crate::shape::MassProperties;
    use std::f64::consts::{FRAC_PI_2, PI};

    const G: f64 = 9.81;
    const DOWN: [f64; 3] = [0.0, 0.0, -G];

    fn rest(m: &Mechanism, t: f64) -> Result<(Multibody, Equilibrium), AnalysisError> {
        let system = m.build(DOWN).expect("the mechanism is sound");
        let found = system.equilibrium(system.start(), t, &mut system.scratch())?;
        Ok((system, found))
    }

    fn settled(m: &Mechanism) -> (Multibody, Equilibrium) {
        rest(m, 0.0).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A bob of 2 kg on an arm of 0.7 m; at 0 it hangs.
    fn pendulum(angle: f64) -> Mechanism {
        let mut m = Mechanism::new("pendulum");
        let bob = MassProperties::point(2.0, [0.0, 0.0, -0.7]);
        let arm = m.add("arm", GROUND, Joint::Revolute(Axis::Y), Pose::IDENTITY, Some(bob));
        m.start(m.coordinate(arm, 0), angle);
        m
    }

    #[test]
    fn a_pendulum_is_let_down_from_anywhere() {
        for angle in [0.0, 1e-3, 1.0, 2.0, 3.0, -3.1, 1000.0] {
            let (_, found) = settled(&pendulum(angle));
            let turns = found.state.q[0] / (2.0 * PI);
            assert!((turns - turns.round()).abs() < 1e-12, "{angle}: {turns} turns");
            assert_eq!(found.stability, Stability::Stable);
            assert!(found.residual < 1e-10);
        }
    }

    #[test]
    fn an_inverted_pendulum_stays_and_is_called_unstable() {
        let (_, found) = settled(&pendulum(PI));
        assert!((found.state.q[0] - PI).abs() < 1e-12);
        assert_eq!(found.stability, Stability::Unstable { coordinate: Coordinate(0) });
    }

    #[test]
    fn a_rotor_without_weight_is_neutral() {
        let mut m = Mechanism::new("rotor");
        let wheel = MassProperties::principal(3.0, [0.0; 3], [0.1; 3]);
        m.revolute(GROUND, Axis::Y, [0.0; 3], wheel);
        let (_, found) = settled(&m);
        assert_eq!(found.stability, Stability::Neutral { coordinate: Coordinate(0) });
        assert_eq!(found.iterations, 1);
    }

    #[test]
    fn a_ball_joint_lets_its_arm_hang_and_spin() {
        let mut m = Mechanism::new("swing");
        let arm = MassProperties::rod([0.0, 0.0, -1.0], 1.0);
        let arm =
            MassProperties { inertia: arm.inertia + nalgebra::Matrix3::identity() * 1e-3, ..arm };
        let arm = m.add("arm", GROUND, Joint::Spherical, Pose::IDENTITY, Some(arm));
        m.start_rotation(arm, Quat::from_scaled_axis(Vec3::new(1.9, -0.4, 0.3)));
        let (system, found) = settled(&m);
        let mut w = system.scratch();
        system.tree().kinematics(&found.state.q, &mut w.tree);
        let (tip, _) = {
            system.tree().motion(&found.state.v, &mut w.tree);
            system.point(&w, arm, Vec3::new(0.0, 0.0, -1.0))
        };
        assert!((tip - Vec3::new(0.0, 0.0, -1.0)).norm() < 1e-9, "{tip}");
        assert_eq!(found.stability, Stability::Neutral { coordinate: Coordinate(2) });
    }

    /// Ten rods of 0.3 m and 0.5 kg; at 0 all point along x.
    fn chain(m: &mut Mechanism) -> Vec<Link> {
        let rod = || MassProperties::rod([0.3, 0.0, 0.0], 0.5);
        let mut links = vec![m.revolute(GROUND, -Axis::Y, [0.0; 3], rod())];
        for k in 1..10 {
            let on = links[k - 1];
            links.push(m.revolute(on, -Axis::Y, [0.3, 0.0, 0.0], rod()));
        }
        links
    }

    #[test]
    fn a_chain_of_ten_links_hangs_straight_down() {
        for bend in [0.0, 0.6, -0.3] {
            let mut m = Mechanism::new("chain");
            for link in chain(&mut m) {
                m.start(m.coordinate(link, 0), bend);
            }
            let (_, found) = settled(&m);
            assert_eq!(found.stability, Stability::Stable);
            let mut angle = 0.0;
            for q in &found.state.q {
                angle += q;
                let off = (angle + FRAC_PI_2) / (2.0 * PI);
                assert!((off - off.round()).abs() < 1e-10, "bent by {bend}: {angle}");
            }
        }
    }

    #[test]
    fn a_chain_between_two_nails_is_a_catenary() {
        let mut m = Mechanism::new("chain");
        let links = chain(&mut m);
        for (k, link) in links.iter().enumerate() {
            m.guess(m.coordinate(*link, 0), if k == 0 { -1.0 } else { 0.2 });
        }
        let nail = Frame::at(GROUND, [2.0, 0.0, 0.3]).along(Axis::Y);
        let end = Frame::at(links[9], [0.3, 0.0, 0.0]).along(Axis::Y);
        m.close_loop("nail", Cut::Pin, nail, end);
        let (system, found) = settled(&m);
        assert_eq!(found.stability, Stability::Stable);
        assert!(system.loop_residual(&found.state.q, &mut system.scratch()) < 1e-12);
        // The horizontal force is the same everywhere, the vertical one grows by the weight of a link: the slopes of the
        // links make equal steps.
        let mut angle = 0.0;
        let slopes: Vec<f64> = found
            .state
            .q
            .iter()
            .map(|q| {
                angle += q;
                angle.tan()
            })
            .collect();
        let mut forces = found.loop_forces.iter().map(|x| x.abs());
        let pull = forces.next().expect("a force").hypot(forces.next().expect("another"));
        let step = slopes[1] - slopes[0];
        for pair in slopes.windows(2) {
            assert!((pair[1] - pair[0] - step).abs() < 1e-9, "{slopes:?}");
        }
        // At the nail: horizontal H = m g / step, vertical V with the slope half a step beyond the last link.
        let horizontal = 0.5 * G / step;
        let vertical = horizontal * (slopes[9] + 0.5 * step);
        assert!((pull - horizontal.hypot(vertical)).abs() < 1e-8 * pull, "{pull}");
    }

    #[test]
    fn a_four_bar_with_a_spring_rests_at_the_least_energy() {
        let mut m = Mechanism::new("four-bar");
        let rod = |x: f64| MassProperties::rod([x, 0.0, 0.0], 4.0 * x);
        let crank = m.revolute(GROUND, -Axis::Y, [0.0; 3], rod(0.3));
        let coupler = m.revolute(crank, -Axis::Y, [0.3, 0.0, 0.0], rod(0.8));
        let rocker = m.revolute(GROUND, -Axis::Y, [0.7, 0.0, 0.0], rod(0.6));
        let (a, b) = (Frame::at(coupler, [0.8, 0.0, 0.0]), Frame::at(rocker, [0.6, 0.0, 0.0]));
        m.close_loop("window", Cut::Pin, a.along(Axis::Y), b.along(Axis::Y));
        let spring = PointSpring::Line { stiffness: 150.0, damping: 3.0, length: 0.2 };
        let (a, b) = (Frame::at(GROUND, [0.2, 0.0, 0.9]), Frame::at(coupler, [0.5, 0.0, 0.1]));
        m.point_spring("spring", spring, a, b);
        m.guess(m.coordinate(crank, 0), 0.8);
        m.guess(m.coordinate(coupler, 0), -0.2);
        m.guess(m.coordinate(rocker, 0), 1.5);
        let (system, found) = settled(&m);
        assert_eq!(found.stability, Stability::Stable);

        // Scan of the energy over the crank: a full turn on the same branch, then closer around the least.
        let mut w = system.scratch();
        let mut partition = found.state.partition.clone();
        let mut q = found.state.q.clone();
        let mut energy = |angle: f64| {
            // The crank is moved and held, the other two follow.
            q[0] = angle;
            partition.independent = vec![0];
            partition.dependent = vec![1, 2];
            system.close(&partition, 0.0, &mut q, &mut w).expect("the crank can turn");
            system.energy(&q, &[0.0; 3], &mut w).1
        };
        let here = found.state.q[0];
        let (mut best, mut at) = (f64::INFINITY, 0.0);
        for k in 0..=720 {
            let angle = here + PI * k as f64 / 360.0;
            let value = energy(angle);
            if value < best {
                (best, at) = (value, angle);
            }
        }
        let mut width = PI / 360.0;
        for _ in 0..12 {
            // The parabola through three points.
            let (l, c, r) = (energy(at - width), energy(at), energy(at + width));
            at += 0.5 * width * (l - r) / (l - 2.0 * c + r);
            width = (0.3 * width).max(1e-3);
        }
        let turns = (at - here) / (2.0 * PI);
        // The parabola's third order over 1e-3 rad.
        assert!((turns - turns.round()).abs() * 2.0 * PI < 1e-6, "{at} {here}");
    }

    #[test]
    fn a_slider_falls_onto_its_stop_or_forever() {
        let mut m = Mechanism::new("lift");
        let cabin = MassProperties::point(5.0, [0.0; 3]);
        let cabin = m.add("cabin", GROUND, Joint::Prismatic(Axis::Z), Pose::IDENTITY, Some(cabin));
        let error = rest(&m, 0.0).expect_err("nothing holds it");
        assert!(
            matches!(&error, AnalysisError::KeepsMoving { coordinate, force, .. }
                if coordinate == "cabin" && (force - 5.0 * G).abs() < 1e-9),
            "{error}"
        );
        assert!(error.to_string().contains("`cabin` keeps moving"), "{error}");
        for lower in [-0.01, -7.3, -2500.0] {
            let stops = Stops { lower, upper: 0.0, stiffness: 1e5, damping: 10.0 };
            m.stops(m.coordinate(cabin, 0), stops);
            let (_, found) = settled(&m);
            assert!((found.state.q[0] - (lower - 5.0 * G / 1e5)).abs() < -1e-12 * lower.min(-1.0));
            assert_eq!(found.stability, Stability::Stable);
        }
    }

    #[test]
    fn a_force_that_drives_away_has_an_unstable_rest() {
        let mut m = Mechanism::new("magnet");
        let slider = m.prismatic(GROUND, Axis::X, [0.0; 3], MassProperties::point(1.0, [0.0; 3]));
        let c = m.coordinate(slider, 0);
        m.start(c, 0.3);
        m.actuate("magnet", c, Signal::new(|x| 40.0 * (x.q[0] - 0.1)));
        let (_, found) = settled(&m);
        assert!((found.state.q[0] - 0.1).abs() < 1e-9);
        assert_eq!(found.stability, Stability::Unstable { coordinate: c });
    }

    #[test]
    fn forces_that_never_balance_are_told() {
        let mut m = Mechanism::new("kite");
        let slider = m.prismatic(GROUND, Axis::X, [0.0; 3], MassProperties::point(1.0, [0.0; 3]));
        m.rename(slider, "line");
        // A force with a least value that is not zero, and no side to go to forever.
        m.actuate(
            "wind",
            m.coordinate(slider, 0),
            Signal::new(|x| if x.q[0] > 0.0 { -1.0 } else { 1.0 }),
        );
        let error = rest(&m, 0.0).expect_err("it has no rest");
        assert!(matches!(error, AnalysisError::Unbalanced { .. }), "{error}");
    }

    #[test]
    fn prescribed_joints_are_held_and_tell_their_force() {
        let mut m = pendulum(0.0);
        m.drive(Coordinate(0), JointMotion::new(|t| [2.0 * t, 2.0, 0.0]));
        let (_, found) = rest(&m, 0.4).expect("it is held");
        assert_eq!(found.state.q, [0.8]);
        assert_eq!(found.state.v, [0.0]);
        assert!((found.drive_forces[0] - 2.0 * G * 0.7 * 0.8_f64.sin()).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_move_is_at_rest() {
        let mut m = Mechanism::new("post");
        let post = MassProperties::point(1.0, [0.0, 0.0, 1.0]);
        m.add("post", GROUND, Joint::Fixed, Pose::IDENTITY, Some(post));
        let (system, found) = settled(&m);
        assert_eq!((found.residual, found.stability), (0.0, Stability::Stable));
        let modes = system.modes(&found.state, 0.0, &mut system.scratch()).expect("it has none");
        assert!(modes.modes.is_empty());
        assert_eq!(system.follow(&[0.0, 1.0], &mut system.scratch()).map(|s| s.len()), Ok(2));
    }

    #[test]
    fn laws_that_are_not_finite_are_told() {
        let mut m = pendulum(0.5);
        m.actuate("broken", Coordinate(0), Signal::new(|x| (0.4 - x.q[0]).sqrt()));
        // Where a law is not finite from the begin, the mechanism starts with an acceleration that is not.
        let system = m.build(DOWN).expect("laws are not checked");
        let error = system.equilibrium(system.start(), 0.0, &mut system.scratch());
        let error = error.expect_err("no force is known").to_string();
        assert!(error.contains("`arm` is not finite"), "{error}");
    }

    #[test]
    fn random_trees_come_to_rest() {
        use rand::{RngExt, SeedableRng};
        let mut rng = rand_pcg::Pcg64::seed_from_u64(11);
        for case in 0..200 {
            let mut vector =
                |size: f64| -> [f64; 3] { std::array::from_fn(|_| rng.random_range(-size..size)) };
            let mut m = Mechanism::new("tree");
            let mut links = vec![GROUND];
            for k in 0..8 {
                let mass = MassProperties::principal(1.0, vector(0.4), [0.1, 0.12, 0.15]);
                let (place, axis) = (Pose::at(vector(0.5)), Axis::from(vector(1.0)));
                let on = links[(k * (case + 3)) % links.len()];
                let joint = match (case + k) % 5 {
                    0 => Joint::Spherical,
                    1 => Joint::Universal(axis, Axis::from(vector(1.0))),
                    _ => Joint::Revolute(axis),
                };
                let link = m.add(&format!("body-{k}"), on, joint, place, Some(mass));
                if matches!(joint, Joint::Revolute(_)) {
                    m.start(m.coordinate(link, 0), 3.0 * vector(1.0)[0]);
                }
                links.push(link);
            }
            let (system, found) = settled(&m);
            let weight = 8.0 * G;
            assert!(found.residual < 1e-9 * weight, "{case}: {}", found.residual);
            assert!(!matches!(found.stability, Stability::Unstable { .. }), "{case}");
            let mut w = system.scratch();
            let (_, begin) = system.energy(&system.start().q, &found.state.v, &mut w);
            let (_, end) = system.energy(&found.state.q, &found.state.v, &mut w);
            assert!(end < begin);
        }
    }
}
