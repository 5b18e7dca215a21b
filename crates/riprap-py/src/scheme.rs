//! Time-stepping schemes.

use pyo3::prelude::*;

use riprap::assembly::Stabilization;
use riprap::friction::Dantzig;
use riprap::scheme::{
    CollisionFriction, ConeComplementarity as CoreCone, DormandPrince as CoreDormandPrince,
    FrictionLaw, GeneralizedAlpha as CoreAlpha, Integrator, MoreauJean as CoreMoreauJean,
    NormalLaw, Penalty as CorePenalty, PenaltyLaw, RigidEvents as CoreEvents, Scheme as CoreScheme,
    StepControl, Variant,
};

use crate::convert::word;
use crate::saving::{Saved, Table, number, text};
use crate::solver::Solver;

/// A time-stepping scheme: one of its subclasses.
///
/// >>> import riprap as rr
/// >>> isinstance(rr.MoreauJean(dt=1e-3), rr.Scheme)
/// True
#[pyclass(frozen, subclass, module = "riprap")]
#[derive(Clone)]
pub struct Scheme {
    kind: Kind,
    dt: f64,
    shown: String,
}

/// What it is.
#[derive(Clone)]
enum Kind {
    MoreauJean { theta: f64, solver: Solver, stabilization: Stabilization },
    GeneralizedAlpha(CoreAlpha),
    Cone { law: FrictionLaw, solver: Solver, recovery: f64 },
    Penalty { law: PenaltyLaw, integrator: Integrator, solver: Solver },
    DormandPrince(CoreDormandPrince),
    RigidEvents(CoreEvents),
}

impl Scheme {
    /// The scheme of the core.
    pub fn build(&self) -> Box<dyn CoreScheme> {
        let dt = self.dt;
        match &self.kind {
            Kind::MoreauJean { theta, solver, stabilization } => Box::new(CoreMoreauJean {
                dt,
                theta: *theta,
                solver: solver.build(),
                stabilization: *stabilization,
            }),
            Kind::GeneralizedAlpha(scheme) => Box::new(*scheme),
            Kind::Cone { law, solver, recovery } => {
                Box::new(CoreCone { dt, law: *law, solver: solver.build(), recovery: *recovery })
            }
            Kind::Penalty { law, integrator, solver } => Box::new(CorePenalty {
                dt,
                law: *law,
                integrator: *integrator,
                solver: solver.build(),
            }),
            Kind::DormandPrince(scheme) => Box::new(*scheme),
            Kind::RigidEvents(scheme) => Box::new(*scheme),
        }
    }

    /// The scheme with which grains settle: Moreau–Jean with the solver of this one, if it solves Coulomb's law.
    pub fn moreau_jean(&self) -> CoreMoreauJean {
        let mut scheme = CoreMoreauJean::new(self.dt);
        match &self.kind {
            Kind::MoreauJean { theta, solver, stabilization } => {
                scheme.theta = *theta;
                scheme.solver = solver.build();
                scheme.stabilization = *stabilization;
            }
            Kind::Cone { solver, .. } | Kind::Penalty { solver, .. } => {
                scheme.solver = solver.for_coulomb().build();
            }
            Kind::GeneralizedAlpha(_) | Kind::DormandPrince(_) | Kind::RigidEvents(_) => {}
        }
        scheme
    }

    /// Whether there are contacts.
    pub fn has_contacts(&self) -> bool {
        !matches!(self.kind, Kind::DormandPrince(_))
    }

    /// The tables `[run]` and `[solver]` of a scene file with further keys of the run, or why there are none.
    pub fn saved(&self, further: &Table) -> Saved {
        let mut run = Table::default();
        run.set("dt", number(self.dt));
        let mut solver = None;
        match &self.kind {
            Kind::MoreauJean { theta, solver: own, stabilization } => {
                let usual =
                    Stabilization { overlaps: stabilization.overlaps, ..Stabilization::default() };
                only_in_python(*stabilization == usual, "gaps, slips, momentum and joints")?;
                run.set("theta", number(*theta));
                run.set("position_correction", stabilization.overlaps.to_string());
                solver = Some(own);
            }
            Kind::GeneralizedAlpha(scheme) => {
                let usual = CoreAlpha::new(self.dt).rho(scheme.rho).variant(scheme.variant);
                only_in_python(*scheme == usual, "tolerance, max_iterations and max_halvings")?;
                run.set("scheme", text("generalized-alpha")).set("rho", number(scheme.rho));
                run.set("formulation", text(variant_word(scheme.variant)));
            }
            Kind::Cone { law, solver: own, recovery } => {
                run.set("scheme", text("cone-complementarity"));
                let coulomb = *law == FrictionLaw::Coulomb;
                run.set("friction_law", text(if coulomb { "coulomb" } else { "cone" }));
                run.maybe("recovery", Some(*recovery).filter(|r| r.is_finite()));
                solver = Some(own);
            }
            Kind::Penalty { law, integrator, solver: own } => {
                penalty_keys(&mut run, law, *integrator);
                solver = Some(own);
            }
            Kind::DormandPrince(scheme) => {
                run.set("scheme", text("dormand-prince"));
                run.set("tolerance", number(scheme.tolerance));
            }
            Kind::RigidEvents(scheme) => events_keys(&mut run, scheme)?,
        }
        let solver = solver.map_or(Ok(String::new()), Solver::saved)?;
        run.extend(further);
        Ok(run.section("[run]") + &solver)
    }
}

/// An option that scene files do not have must have its default.
fn only_in_python(usual: bool, options: &str) -> Result<(), String> {
    let message =
        || format!("scheme: {options} have no keys in a scene file; leave their defaults");
    usual.then_some(()).ok_or_else(message)
}

fn variant_word(variant: Variant) -> &'static str {
    VARIANTS.iter().find(|(_, known)| *known == variant).map_or("", |(word, _)| word)
}

/// The formulations of generalized-α and their words.
const VARIANTS: [(&str, Variant); 4] = [
    ("ggl", Variant::Ggl),
    ("modified-lcp", Variant::ModifiedLcp),
    ("smooth-index-3", Variant::SmoothIndex3),
    ("moreau-jean", Variant::MoreauJean),
];

fn penalty_keys(run: &mut Table, law: &PenaltyLaw, integrator: Integrator) {
    let normal = if law.normal == NormalLaw::Hertz { "hertz" } else { "linear" };
    let word = if integrator == Integrator::RungeKutta { "rk4" } else { "verlet" };
    run.set("scheme", text("penalty")).set("normal", text(normal));
    run.set("integrator", text(word)).maybe("stiffness", law.stiffness);
    run.maybe("damping", law.damping).maybe("dissipation", law.dissipation);
    run.maybe("impact_velocity", law.impact_velocity);
    run.set("tangential_ratio", number(law.tangential_ratio));
}

fn events_keys(run: &mut Table, scheme: &CoreEvents) -> Result<(), String> {
    let usual = Dantzig { facets: scheme.dantzig.facets, ..Dantzig::default() };
    only_in_python(scheme.dantzig == usual, "max_pivots, rounds, sweeps and dense")?;
    let halving = scheme.control == StepControl::Halving;
    let none = scheme.collision_friction == CollisionFriction::None;
    run.set("scheme", text("rigid-events")).set("dt_min", number(scheme.dt_min));
    run.set("gap_tolerance", number(scheme.tolerance));
    run.set("rest_velocity", number(scheme.rest_velocity));
    run.set("step_control", text(if halving { "halving" } else { "root-finding" }));
    run.set("collision_friction", text(if none { "none" } else { "coulomb" }));
    run.set("facets", scheme.dantzig.facets.to_string());
    Ok(())
}

#[pymethods]
impl Scheme {
    /// Length of a step [s]; the longest one if the scheme chooses its steps.
    #[getter]
    fn dt(&self) -> f64 {
        self.dt
    }

    fn __repr__(&self) -> &str {
        &self.shown
    }
}

/// The solver of Coulomb's law: a Solver, a name, or None for the default.
fn solver_of(given: Option<&Bound<PyAny>>) -> PyResult<Solver> {
    let solver = match given {
        Some(given) => Solver::of(given)?,
        None => default_solver("coloured")?,
    };
    solver.check_law(false)?;
    Ok(solver)
}

fn default_solver(name: &str) -> PyResult<Solver> {
    Python::attach(|py| Solver::of(pyo3::types::PyString::new(py, name).as_any()))
}

/// Moreau–Jean: steps of dt [s] with contacts at velocity level, θ from 0.5 to 1 [–]. The corrections beyond Algorithm 1 are
/// switches; `position_correction` removes deep overlaps and is off by default.
///
/// >>> import riprap as rr
/// >>> rr.MoreauJean(dt=1e-3, theta=0.5, solver="gauss-seidel")
/// MoreauJean(dt=0.001, theta=0.5, solver=Solver("gauss-seidel", tolerance=0.0001))
#[pyclass(frozen, extends = Scheme, module = "riprap")]
pub struct MoreauJean;

#[pymethods]
impl MoreauJean {
    #[new]
    #[pyo3(signature = (dt, theta=0.5, solver=None, *, gaps=true, slips=true, momentum=true, joints=true, position_correction=false))]
    fn new(
        dt: f64,
        theta: f64,
        solver: Option<&Bound<PyAny>>,
        gaps: bool,
        slips: bool,
        momentum: bool,
        joints: bool,
        position_correction: bool,
    ) -> PyResult<PyClassInitializer<MoreauJean>> {
        let solver = solver_of(solver)?;
        let shown = format!("MoreauJean(dt={dt:?}, theta={theta:?}, solver={})", repr(&solver)?);
        let stabilization =
            Stabilization { gaps, slips, momentum, joints, overlaps: position_correction };
        Ok(PyClassInitializer::from(Scheme {
            kind: Kind::MoreauJean { theta, solver, stabilization },
            dt,
            shown,
        })
        .add_subclass(MoreauJean))
    }
}

fn repr(solver: &Solver) -> PyResult<String> {
    Python::attach(|py| Ok(solver.clone().into_pyobject(py)?.into_any().repr()?.to_string()))
}

/// Nonsmooth generalized-α: implicit steps of dt [s] without penetration; ρ∞ from 0 to 1 [–]. `formulation` is ggl,
/// modified-lcp, smooth-index-3 or moreau-jean.
///
/// >>> import riprap as rr
/// >>> rr.GeneralizedAlpha(dt=2e-3, rho=0.8)
/// GeneralizedAlpha(dt=0.002, rho=0.8, formulation="ggl")
#[pyclass(frozen, extends = Scheme, module = "riprap")]
pub struct GeneralizedAlpha;

#[pymethods]
impl GeneralizedAlpha {
    #[new]
    #[pyo3(signature = (dt, rho=0.8, formulation="ggl", *, tolerance=1e-11, max_iterations=20, max_halvings=10))]
    fn new(
        dt: f64,
        rho: f64,
        formulation: &str,
        tolerance: f64,
        max_iterations: usize,
        max_halvings: u32,
    ) -> PyResult<PyClassInitializer<GeneralizedAlpha>> {
        let variant = word("formulation", formulation, &VARIANTS)?;
        let core = CoreAlpha { dt, rho, variant, tolerance, max_iterations, max_halvings };
        let shown =
            format!("GeneralizedAlpha(dt={dt:?}, rho={rho:?}, formulation={formulation:?})");
        Ok(PyClassInitializer::from(Scheme { kind: Kind::GeneralizedAlpha(core), dt, shown })
            .add_subclass(GeneralizedAlpha))
    }
}

/// Cone complementarity: semi-implicit steps of dt [s]; the friction law is cone (convex relaxation) or coulomb. Overlaps are
/// removed with at most `recovery` [m/s].
///
/// >>> import riprap as rr
/// >>> rr.ConeComplementarity(dt=1e-3, solver="barzilai-borwein").dt
/// 0.001
#[pyclass(frozen, extends = Scheme, module = "riprap")]
pub struct ConeComplementarity;

#[pymethods]
impl ConeComplementarity {
    #[new]
    #[pyo3(signature = (dt, friction_law="cone", solver=None, *, recovery=None))]
    fn new(
        dt: f64,
        friction_law: &str,
        solver: Option<&Bound<PyAny>>,
        recovery: Option<f64>,
    ) -> PyResult<PyClassInitializer<ConeComplementarity>> {
        let known = [("cone", FrictionLaw::Cone), ("coulomb", FrictionLaw::Coulomb)];
        let law = word("friction law", friction_law, &known)?;
        let relaxed = law == FrictionLaw::Cone;
        let solver = match solver {
            Some(given) => Solver::of(given)?,
            None => default_solver(if relaxed { "apgd" } else { "coloured" })?,
        };
        solver.check_law(relaxed)?;
        let shown = format!(
            "ConeComplementarity(dt={dt:?}, friction_law={friction_law:?}, solver={})",
            repr(&solver)?
        );
        let recovery = recovery.unwrap_or(f64::INFINITY);
        let kind = Kind::Cone { law, solver, recovery };
        Ok(PyClassInitializer::from(Scheme { kind, dt, shown }).add_subclass(ConeComplementarity))
    }
}

/// Soft contact: springs and dampers, with steps of dt [s] that resolve a collision. `law` is linear or hertz, `integrator`
/// verlet or rk4; stiffness [N/m], damping [N s/m], dissipation [s], impact_velocity [m/s], tangential_ratio [–].
///
/// >>> import riprap as rr
/// >>> rr.Penalty(dt=1e-5, stiffness=1e6).dt
/// 1e-05
#[pyclass(frozen, extends = Scheme, module = "riprap")]
pub struct Penalty;

#[pymethods]
impl Penalty {
    #[new]
    #[pyo3(signature = (dt, law="linear", integrator="verlet", *, stiffness=None, damping=None, dissipation=None, impact_velocity=None, tangential_ratio=None, solver=None))]
    fn new(
        dt: f64,
        law: &str,
        integrator: &str,
        stiffness: Option<f64>,
        damping: Option<f64>,
        dissipation: Option<f64>,
        impact_velocity: Option<f64>,
        tangential_ratio: Option<f64>,
        solver: Option<&Bound<PyAny>>,
    ) -> PyResult<PyClassInitializer<Penalty>> {
        let normal =
            word("law", law, &[("linear", NormalLaw::Linear), ("hertz", NormalLaw::Hertz)])?;
        let known = [("verlet", Integrator::Verlet), ("rk4", Integrator::RungeKutta)];
        let integrator_ = word("integrator", integrator, &known)?;
        let usual = PenaltyLaw::default();
        let ratio = tangential_ratio.unwrap_or(usual.tangential_ratio);
        let force = PenaltyLaw {
            normal,
            stiffness,
            damping,
            dissipation,
            impact_velocity,
            tangential_ratio: ratio,
        };
        let kind =
            Kind::Penalty { law: force, integrator: integrator_, solver: solver_of(solver)? };
        let shown = format!("Penalty(dt={dt:?}, law={law:?}, integrator={integrator:?})");
        Ok(PyClassInitializer::from(Scheme { kind, dt, shown }).add_subclass(Penalty))
    }
}

/// Adaptive integration of mechanisms without contacts, orders 5 and 4, observed every dt [s], to a relative tolerance [–].
///
/// >>> import riprap as rr
/// >>> rr.DormandPrince(dt=0.01, tolerance=1e-10)
/// DormandPrince(dt=0.01, tolerance=1e-10)
#[pyclass(frozen, extends = Scheme, module = "riprap")]
pub struct DormandPrince;

#[pymethods]
impl DormandPrince {
    #[new]
    #[pyo3(signature = (dt, tolerance=1e-9))]
    fn new(dt: f64, tolerance: f64) -> PyClassInitializer<DormandPrince> {
        let core = CoreDormandPrince { dt, tolerance };
        let shown = format!("DormandPrince(dt={dt:?}, tolerance={tolerance:?})");
        PyClassInitializer::from(Scheme { kind: Kind::DormandPrince(core), dt, shown })
            .add_subclass(DormandPrince)
    }
}

/// Event-driven dynamics of rigid bodies (Schwager and Pöschel 2002): steps of at most dt [s] that end at collisions and other
/// events; a step within `dt_min` [s] (1e-7 of dt) accepts the event at its end. Bodies touch below a gap of `gap_tolerance`
/// and are at rest below `rest_velocity`, relative to the size of the smaller body and to √(g · size) [–]. `step_control` is
/// root-finding or halving, `collision_friction` coulomb or none. The other options are those of `dantzig`.
///
/// >>> import riprap as rr
/// >>> rubber = rr.Material("rubber", density=1100.0, restitution=0.8)
/// >>> scene = rr.SceneBuilder()
/// >>> floor = scene.add_fixed(rr.Shape.half_space(), material=rubber)
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rubber, position=(0, 0, 1.1)))
/// >>> run = rr.Simulation(scene.build(), rr.RigidEvents(dt=0.02))
/// >>> _ = run.until(0.5)
/// >>> round(float(run.body(ball).position[2]), 9), run.events.collisions
/// (0.260252226, 1)
#[pyclass(frozen, extends = Scheme, module = "riprap")]
pub struct RigidEvents;

#[pymethods]
impl RigidEvents {
    #[new]
    #[pyo3(signature = (dt, *, dt_min=None, gap_tolerance=1e-8, rest_velocity=1e-6, step_control="root-finding", collision_friction="coulomb", facets=8, max_pivots=10, rounds=30, sweeps=10, dense=false))]
    fn new(
        dt: f64,
        dt_min: Option<f64>,
        gap_tolerance: f64,
        rest_velocity: f64,
        step_control: &str,
        collision_friction: &str,
        facets: usize,
        max_pivots: usize,
        rounds: usize,
        sweeps: usize,
        dense: bool,
    ) -> PyResult<PyClassInitializer<RigidEvents>> {
        let known = [("root-finding", StepControl::RootFinding), ("halving", StepControl::Halving)];
        let control = word("step control", step_control, &known)?;
        let known = [("coulomb", CollisionFriction::Coulomb), ("none", CollisionFriction::None)];
        let collision_friction = word("collision friction", collision_friction, &known)?;
        let usual = CoreEvents::new(dt);
        let core = CoreEvents {
            dt_min: dt_min.unwrap_or(usual.dt_min),
            tolerance: gap_tolerance,
            rest_velocity,
            control,
            collision_friction,
            dantzig: crate::dantzig::options(facets, max_pivots, rounds, sweeps, dense)?,
            ..usual
        };
        let shown = format!("RigidEvents(dt={dt:?}, step_control={step_control:?})");
        Ok(PyClassInitializer::from(Scheme { kind: Kind::RigidEvents(core), dt, shown })
            .add_subclass(RigidEvents))
    }
}
