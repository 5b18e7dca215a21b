//! Semi-implicit Euler steps with cone complementarity (Anitescu, Tasora, Negrut): the scheme of the planar
//! paper on granular chains, for planar and spatial scenes.

use super::{
    Clock, Scheme, StepError, StepReport, StepResult, Workspace, check_dt, check_inelastic,
    next_time,
};
use crate::assembly::{GapRule, Interval, Stabilization, assemble_constraints};
use crate::friction::{Apgd, ContactProblem, ContactSolver, Law};
use crate::scene::{Scene, SchemeState, State};

/// The law of friction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionLaw {
    /// Cone complementarity, the convex relaxation of Coulomb's law: `γ ∈ Υ ⊥ −(N γ + r) ∈ Υ°`. A
    /// contact that slides with `v_t` floats at a gap of `μ v_t h`; one that starts to slide at zero gap
    /// leaves with `μ v_t`.
    #[default]
    Cone,
    /// Signorini's condition and Coulomb's law, with the same gaps and the same steps.
    Coulomb,
}

/// Time stepping with cone complementarity.
///
/// `v = v_l + M⁻¹ (h f + D γ)` and `q = q_l + h v`, with masses, forces, gaps `Φ` and directions `D`
/// at `q_l`. Gaps are linearized: `Φ/h` is added to the normal velocity, and the impulses `γ` minimize
/// `½ γᵀ N γ + rᵀ γ` over the friction cones. Impacts are inelastic.
///
/// ```
/// use riprap::prelude::*;
///
/// let steel = Material::new("steel").density(7800.0).friction(0.3);
/// let mut scene = Scene::builder();
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &steel);
/// let block = BodyDescription::new(Shape::cuboid([0.1; 3])?, &steel).at([0.0, 0.0, 0.05]);
/// let block = scene.add(block.velocity([1.0, 0.0, 0.0]), &steel);
///
/// let mut run = Simulation::new(scene.build()?, ConeComplementarity::new(1e-3))?;
/// run.until(0.1, &mut ())?;
/// // It slides at about 0.7 m/s and floats at μ v_t h.
/// let gap = run.pose(block).position.z - 0.05;
/// assert!((gap - 0.3 * 0.7 * 1e-3).abs() < 2e-5, "{gap}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ConeComplementarity {
    /// Time step `h` [s].
    pub dt: f64,
    /// The law of friction.
    pub law: FrictionLaw,
    /// Solver of the contact problem; it must know the law.
    pub solver: Box<dyn ContactSolver>,
    /// Largest velocity with which overlaps are removed [m/s].
    pub recovery: f64,
}

impl ConeComplementarity {
    /// The scheme with a step `dt` [s] and accelerated projected gradients; overlaps are removed within
    /// one step.
    pub fn new(dt: f64) -> ConeComplementarity {
        let solver = Box::new(Apgd::default());
        ConeComplementarity { dt, law: FrictionLaw::Cone, solver, recovery: f64::INFINITY }
    }

    /// Sets the law of friction.
    pub fn law(mut self, law: FrictionLaw) -> ConeComplementarity {
        self.law = law;
        self
    }

    /// Sets the contact solver.
    pub fn solver(mut self, solver: impl ContactSolver + 'static) -> ConeComplementarity {
        self.solver = Box::new(solver);
        self
    }

    /// Sets the largest velocity with which overlaps are removed [m/s].
    pub fn recovery(mut self, recovery: f64) -> ConeComplementarity {
        self.recovery = recovery;
        self
    }
}

/// What the scheme shares with Moreau–Jean beyond its equations: momenta of tumbling bodies, and
/// projection of the joints that request it.
const CORRECTIONS: Stabilization =
    Stabilization { momentum: true, joints: true, ..Stabilization::NONE };

impl Scheme for ConeComplementarity {
    fn dt(&self) -> f64 {
        self.dt
    }

    fn check(&self, scene: &Scene) -> Result<(), StepError> {
        check_dt(self.dt)?;
        if self.recovery.is_nan() || self.recovery < 0.0 {
            let (what, range) = ("the recovery velocity", "0 or positive, in m/s");
            return Err(StepError::BadParameter { what, value: self.recovery, range });
        }
        check_inelastic(scene, "cone-complementarity")
    }

    /// Advances `state` by one step. On error, `state` is unchanged.
    fn step(&self, scene: &Scene, state: &mut State, work: &mut Workspace) -> StepResult {
        self.check(scene)?;
        let (dt, t_next, mut clock) = (self.dt, next_time(state, self.dt), Clock::default());
        let h = Interval { t: state.t, t_next, dt, before: 0.0, after: dt };
        let Workspace { system, contacts, problem, solver, scheme, next, .. } = work;
        // Returned at the end, so that the impulses of a failed step cannot be read.
        let mut impulses = std::mem::take(&mut work.impulses);

        // Free motion with masses and forces at q_l: v_l + h M⁻¹ f.
        clock.free(|| system.predict(scene, state, &h))?;
        clock.free(|| system.free_motion(scene, state, &h))?;

        // N = Dᵀ M⁻¹ D and r = Φ/h + Dᵀ (v_l + h M⁻¹ f).
        clock.detect(|| contacts.detect(scene, system, dt));
        let gaps = GapRule::OverStep { recovery: self.recovery };
        clock.assemble(|| contacts.assemble_by(gaps, scene, state, system, dt, problem));
        clock.assemble(|| assemble_constraints(scene, state, system, gaps, dt, problem));
        if self.law == FrictionLaw::Cone {
            clock.assemble(|| relax(problem));
        }
        clock.assemble(|| contacts.adhere(scene, dt, problem));

        // γ ∈ Υ ⊥ −(N γ + r) ∈ Υ°, starting from the impulses of the last step.
        clock.assemble(|| contacts.trace(scene, state, system));
        clock.assemble(|| contacts.grip(scene, state, system, dt, problem));
        clock.assemble(|| contacts.recall(state, system, problem, &mut impulses));
        let solve = clock.solve(|| self.solver.solve(problem, &mut impulses, solver));
        contacts.release(&mut impulses);

        // v = v_l + M⁻¹ (h f + D γ), q = q_l + h v.
        let end = clock.update(|| system.finish(scene, state, &h, problem, &impulses, next))?;
        let (done, room) = ((&*problem, &impulses), (scheme, solver));
        clock.update(|| {
            CORRECTIONS.positions(scene, system, &h, contacts, done, room, state, next)
        })?;
        clock.update(|| contacts.remember(scene, system, dt, problem, &impulses, state, next));
        next.scheme = SchemeState::None;
        state.become_next(next, t_next);
        work.impulses = impulses;
        Ok(StepReport::new(dt, solve, end, &work.contacts, clock.times))
    }
}

/// Replaces Coulomb's law by its convex relaxation.
fn relax(problem: &mut ContactProblem) {
    for law in &mut problem.laws {
        if let Law::Coulomb { friction } = *law
            && friction > 0.0
        {
            *law = Law::Cone { friction };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::GaussSeidel;
    use crate::math::{Pose, Vec3};
    use crate::multibody::{Axis, GROUND, Joint, Mechanism};
    use crate::scene::{BodyDescription, Locks, Material};
    use crate::shape::{MassProperties, Shape};
    use crate::simulation::Simulation;

    const MU: f64 = 0.3;
    const G: f64 = 9.81;

    fn solver() -> GaussSeidel {
        GaussSeidel::tolerance(1e-12)
    }

    /// A planar particle above the ground: height of its lowest point [m] and horizontal velocity [m/s].
    fn particle(height: f64, speed: f64, material: &Material) -> Scene {
        let mut scene = Scene::builder();
        scene.planar().gravity([0.0, -G, 0.0]);
        scene.add_fixed(Shape::half_space([0.0, 1.0, 0.0]).unwrap(), Pose::IDENTITY, material);
        let disc = BodyDescription::new(Shape::disc(0.1, 1.0).unwrap(), material)
            .named("particle")
            .at([0.0, 0.1 + height, 0.0])
            .velocity([speed, 0.0, 0.0])
            .mass(1.0);
        scene.add(disc.locked(Locks([false, false, true, true, true, true])), material);
        scene.build().unwrap()
    }

    fn ground() -> Material {
        Material::new("ground").friction(MU)
    }

    fn run(scene: Scene, scheme: ConeComplementarity, until: f64) -> (f64, f64, f64) {
        let mut run = Simulation::new(scene, scheme).unwrap();
        run.until(until, &mut ()).unwrap();
        let slot = run.scene().slot(run.scene().body("particle").unwrap());
        let (q, v) = (run.state().q[slot], run.state().v[slot]);
        (q.position.x, q.position.y - 0.1, v.linear.x)
    }

    #[test]
    fn a_sliding_contact_floats_at_mu_times_its_speed_times_the_step_and_coulombs_does_not() {
        for h in [1e-2, 1e-3] {
            let scheme = || ConeComplementarity::new(h).solver(solver());
            let (_, gap, speed) = run(particle(2.0 * MU * h, 2.0, &ground()), scheme(), 0.1);
            // The gap at the end of a step is that of the velocity before the step.
            let before = speed + MU * G * h;
            assert!((gap - MU * before * h).abs() < 2.0 * MU * MU * G * h * h, "{gap} {before}");
            let (_, gap, speed) =
                run(particle(0.0, 2.0, &ground()), scheme().law(FrictionLaw::Coulomb), 0.1);
            assert!(gap.abs() < 1e-12, "{gap}");
            assert!((speed - (2.0 - 0.1 * MU * G)).abs() < 1e-9, "{speed}");
        }
    }

    #[test]
    fn a_contact_that_slides_at_zero_gap_hops() {
        // It leaves with μ v_t, whatever the step, and flies until it comes down to its gap again.
        let scheme = ConeComplementarity::new(1e-4).solver(solver());
        let (_, gap, _) = run(particle(0.0, 2.0, &ground()), scheme, 0.03);
        let speed = MU * 2.0;
        // The impulse that lifts it also takes a little of its speed: μ² v_t.
        let flight = (speed * 0.03 - 0.5 * G * 0.03 * 0.03) / (1.0 + MU * MU);
        assert!((gap - flight).abs() < 0.05 * flight, "{gap} {flight}");
    }

    #[test]
    fn a_falling_particle_stops_without_overlap_and_at_first_order() {
        // Closed form: impact at √(2/g), friction takes μ times the impact speed, then μ g.
        let fall = (2.0 * G).sqrt();
        let rest = 2.0 - MU * fall;
        let stop = 2.0 * fall / G + 0.5 * rest * rest / (MU * G);
        let error = |h: f64| {
            let scheme = ConeComplementarity::new(h).solver(solver());
            let (x, gap, speed) = run(particle(1.0, 2.0, &ground()), scheme, 1.0);
            assert!(gap.abs() < 1e-12 && speed.abs() < 1e-12, "{gap} {speed}");
            (x - stop).abs()
        };
        let errors = [4e-3, 5e-4].map(error);
        assert!(errors[1] < 2e-3 && errors[0] > 3.0 * errors[1], "{errors:?}");
    }

    #[test]
    fn an_overlap_is_removed_in_one_step_or_with_the_recovery_velocity() {
        let deep = |recovery| {
            let mut scene = particle(0.0, 0.0, &ground());
            scene.gravity = Vec3::zeros();
            let slot = scene.slot(scene.body("particle").unwrap());
            scene.initial.q[slot].position.y -= 1e-3;
            let scheme = ConeComplementarity::new(1e-3).solver(solver()).recovery(recovery);
            run(scene, scheme, 1e-3).1
        };
        assert!(deep(f64::INFINITY).abs() < 1e-15);
        assert!((deep(0.1) + 0.9e-3).abs() < 1e-15);
    }

    #[test]
    fn a_body_of_a_mechanism_slides_like_a_free_one() {
        let mut m = Mechanism::new("slide");
        let mass = MassProperties::principal(1.0, [0.0; 3], [1.0; 3]);
        let (along, up) = (Joint::Prismatic(Axis::X), Joint::Prismatic(Axis::Y));
        let cart = m.add("cart", GROUND, along, Pose::IDENTITY, None);
        let block = m.add("block", cart, up, Pose::IDENTITY, Some(mass));
        m.attach(block, Shape::sphere(0.1).unwrap(), Pose::IDENTITY, "ground");
        m.start(m.coordinate(block, 0), 0.1);
        m.start_velocity(m.coordinate(cart, 0), 2.0);
        let mut scene = Scene::builder();
        scene.material(&ground()).gravity([0.0, -G, 0.0]);
        let plane = Shape::half_space([0.0, 1.0, 0.0]).unwrap();
        scene.add_fixed(plane, Pose::IDENTITY, &ground());
        scene.add_mechanism(m);
        let scheme = ConeComplementarity::new(1e-3).solver(solver());
        let mut carried = Simulation::new(scene.build().unwrap(), scheme).unwrap();
        carried.until(0.2, &mut ()).unwrap();
        let q = &carried.state().mechanisms[0].q;
        let scheme = ConeComplementarity::new(1e-3).solver(solver());
        let (x, gap, _) = run(particle(0.0, 2.0, &ground()), scheme, 0.2);
        assert!((q[0] - x).abs() < 1e-12 && (q[1] - 0.1 - gap).abs() < 1e-12, "{q:?} {x} {gap}");
    }

    #[test]
    fn restitution_rolling_and_bad_parameters_are_refused() {
        let refuse = |material: Material, scheme: ConeComplementarity| {
            let scene = particle(1.0, 0.0, &material);
            Simulation::new(scene, scheme).err().unwrap().to_string()
        };
        let scheme = || ConeComplementarity::new(1e-3);
        let text = refuse(ground().restitution(0.5), scheme());
        assert!(text.contains("`ground`") && text.contains("0.5"), "{text}");
        assert!(refuse(ground().rolling(1e-3), scheme()).contains("rolling"));
        assert!(refuse(ground(), ConeComplementarity::new(0.0)).contains("dt"));
        assert!(refuse(ground(), scheme().recovery(f64::NAN)).contains("recovery"));
    }
}
