//! Time steps and output, the contact solver, and contact detection.

use std::path::PathBuf;

use riprap::detect::Method;
use riprap::scheme::{
    CollisionFriction, FrictionLaw, Integrator, NormalLaw, PenaltyLaw, StepControl,
    Variant as Formulation,
};
use riprap::simulation::OnUnconverged;

use super::super::fields::Field;
use super::super::keys::{Choice as _, codec, keys, table, variants, words, words_of};
use super::super::number;
use super::super::units::Dimension;
use super::super::values::Entries;
use super::TIME;

table! {
    /// Time steps and output.
    RUN = "run", "[run]", tag &SCHEME;
    pub struct Run {
        /// Time integration scheme.
        scheme: TimeScheme => &[];
        /// Time step [s], greater than 0; the maximum step if the scheme is adaptive.
        dt: f64 => &[], with Step;
        /// End time; the run starts at 0.
        until: f64 = Quantity(Dimension::TIME, NonNegative), Required;
        /// Output interval; `series_every`, `frames_every` and `contacts_every` override it. Output is written at the end of a
        /// step.
        output_every: f64 = TIME, Computed("`until` / 100, but at least `dt` if that is given"), with OutputEvery;
        /// Interval between rows of `series.csv`.
        series_every: f64 = TIME, Computed("`output_every`"), with Every;
        /// Interval between frames of the surfaces.
        frames_every: f64 = TIME, Computed("`output_every`"), with Every;
        /// Interval between frames of the contacts.
        contacts_every: f64 = TIME, Computed("`frames_every`"), with ContactsEvery;
        /// How frames for ParaView are written; `true` is `"vtkhdf"`, `false` writes none.
        frames: Option<FrameFormat> = OneOf(&[Flag, Choice(words_of::<FrameFormat>())]), Default("\"vtkhdf\""), with Frames;
        /// Whether `series.csv` also records where the energy goes (`dissipated_impact`, `dissipated_friction`,
        /// `dissipated_rolling`, `dissipated_ropes`, `dissipated_cohesion`, `other_work`) and how often bodies touch (`touching_pairs`, `contact_onsets`, `contact_steps`).
        account: bool = Flag, Default("false");
        /// Whether frames include force chains: contacts as lines between bodies, with a radius by their normal force.
        force_chains: bool = Flag, Default("false");
        /// Records impacts in `impacts.csv`: contacts with an impulse whose bodies approach each other faster than this along the
        /// normal. For schemes in which an impact takes one step: `moreau-jean`, `cone-complementarity` and `generalized-alpha`.
        impact_speed: Option<f64> = Quantity(Dimension::VELOCITY, NonNegative), Optional;
        /// Interval between checkpoints, from which an interrupted run resumes bitwise identically (`riprap run --resume`).
        checkpoint_every: Option<f64> = TIME, Optional;
        /// A condition that ends the run before `until`, such as `"speed < 1e-4 m/s for 0.1 s"`: an expression of `t`, of the largest
        /// `speed` of the free bodies, of the `kinetic_energy` (both relative to the flow of a sheared periodic cell), of coordinates of bodies such as `ball.z` and `ball.vz`, and of
        /// columns of `series.csv`, optionally with the time `for` which it must hold. Numbers may have units. It is evaluated
        /// after every step, and if it uses columns at every row of `series.csv`.
        stop: Option<String> = Text, Optional;
        /// Another run from whose end this one starts: its folder, or `end.bin` or `checkpoint.bin` in it. Bodies, mechanisms, flexible
        /// bodies, joints and ropes go on where they have the same name, inserted bodies with their insertion; what was removed stays away,
        /// and the rest starts as described. Grains do not settle then.
        start_from: Option<PathBuf> = File, Optional, with OptionalFile;
        /// The time at which a run with `start_from` starts.
        start_time: StartTime = Choice(words_of::<StartTime>()), Default("\"zero\""), unless |run: &Run| run.start_from.is_none();
        /// What happens when the solver does not converge in a step.
        on_unconverged: OnUnconverged = Choice(words_of::<OnUnconverged>()), Default("\"warn\"");
    }
}

/// The time at which a run starts that goes on from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartTime {
    /// 0 s.
    Zero,
    /// The time of the state from which it starts.
    Continue,
}

words! {
    StartTime {
        Zero "zero": "0 s: laws of time start again",
        Continue "continue": "the time that the other run has reached: laws of time go on, and `until` counts from its start",
    }
}

codec! {
    /// The path of a file or folder, relative to the scene file; absolute in the model.
    OptionalFile: Option<PathBuf>,
    |from, run, key| Some(run.text(key).map(|path| from.path(path))),
    |path, _| path.as_ref().map(|path| path.to_string_lossy().into_owned())
}

/// How frames are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFormat {
    /// One file for the whole run, `run.vtkhdf`.
    Vtkhdf,
    /// A file per frame in `frames`, with the index `run.pvd`.
    Vtp,
    /// Both.
    Both,
}

impl FrameFormat {
    /// Whether `run.vtkhdf` is written.
    pub fn has_run_file(self) -> bool {
        self != FrameFormat::Vtp
    }

    /// Whether `.vtp` files are written.
    pub fn has_vtp(self) -> bool {
        self != FrameFormat::Vtkhdf
    }
}

words! {
    FrameFormat {
        Vtkhdf "vtkhdf": "one file `run.vtkhdf` for the whole run",
        Vtp "vtp": "a `.vtp` file per frame in `frames`, and their index `run.pvd`",
        Both "both": "both",
    }
}

codec! {
    /// A format of frames, or whether there are any.
    Frames: Option<FrameFormat>,
    |_, run, key| {
        let value = run.get(key)?;
        match (value.flag(), value.text()) {
            (Some(true), _) => Some(Some(FrameFormat::Vtkhdf)),
            (Some(false), _) => Some(None),
            (None, word) => FrameFormat::of(word?).map(Some),
        }
    },
    |format, _| Word(format.map(FrameFormat::word))
}

/// A word, or `false` if there is none.
struct Word(Option<&'static str>);

impl serde::Serialize for Word {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(word) => serializer.serialize_str(word),
            None => serializer.serialize_bool(false),
        }
    }
}

words! {
    OnUnconverged {
        Accept "accept": "continue silently",
        Warn "warn": "continue with a warning",
        Fail "fail": "stop the run",
    }
}

const STEP: &[Field] = keys! {
    /// Time step.
    dt: TIME, Required;
};
const LARGEST_STEP: &[Field] = keys! {
    /// Maximum time step.
    dt: TIME, Computed("`output_every`");
};

variants! {
    /// Time integration scheme.
    SCHEME = "scheme", "Time integration scheme.", Some("moreau-jean");
    pub enum TimeScheme {
        /// Fixed time steps; handles contacts.
        MoreauJean "moreau-jean" [STEP] {
            /// Parameter of the scheme: 0.5 conserves energy best, 1 is most dissipative.
            theta: f64 = Number(Within(0.5, 1.0)), Default("0.5");
            /// Whether overlaps beyond a few ten-thousandths of the size of a body are removed from positions, without changing
            /// velocities; also while grains settle.
            position_correction: bool = Flag, Default("false");
        },
        /// Nonsmooth generalized-α scheme with constraints at position and velocity level: no penetration, second order in smooth
        /// motion; for mechanisms, flexible bodies and small numbers of bodies.
        GeneralizedAlpha "generalized-alpha" [STEP] {
            /// Spectral radius at infinite frequency: 1 conserves the energy of vibrations, 0 damps high frequencies
            /// within one step.
            rho: f64 = Number(Within(0.0, 1.0)), Default("0.8");
            /// The discrete equations; the others are for comparison.
            formulation: Formulation = Choice(words_of::<Formulation>()), Default("\"ggl\"");
        },
        /// Semi-implicit Euler steps with cone complementarity, a convex relaxation of Coulomb's law; inelastic impacts.
        ConeComplementarity "cone-complementarity" [STEP] {
            /// Law of friction.
            friction_law: FrictionLaw = Choice(words_of::<FrictionLaw>()), Default("\"cone\"");
            /// Largest velocity with which overlaps are removed.
            recovery: Option<f64> = Quantity(Dimension::VELOCITY, Positive), Computed("unlimited: within one step");
        },
        /// Adaptive steps of fifth order, for mechanisms without contacts.
        DormandPrince "dormand-prince" {
            /// Relative error per step.
            tolerance: f64 = Number(Within(1e-14, 0.1)), Default("1e-9");
        } + [LARGEST_STEP],
        /// Soft contact with fixed time steps that resolve a collision: bodies overlap and are pushed apart by springs and
        /// dampers. Friction and restitution mean the same as for hard contact.
        Penalty "penalty" [STEP] {
            /// Normal law.
            normal: NormalLaw = Choice(words_of::<NormalLaw>()), Default("\"linear\"");
            /// Integrator.
            integrator: Integrator = Choice(words_of::<Integrator>()), Default("\"verlet\"");
            /// Stiffness of a contact point under the linear law; a `[[pair]]` may override it. `riprap check` shows the default:
            /// a collision of the lightest pair takes 25 steps.
            stiffness: Option<f64> = Quantity(Dimension::STIFFNESS, Positive), Optional;
            /// Damping of a contact point under the linear law; a `[[pair]]` may override it. By default it gives the restitution
            /// of the pair.
            damping: Option<f64> = Quantity(Dimension::DAMPING, NonNegative), Optional;
            /// Dissipation constant of Hertz's law; a `[[pair]]` may override it. By default it gives the restitution of the pair
            /// at `impact_velocity`.
            dissipation: Option<f64> = Quantity(Dimension::TIME, NonNegative), Optional;
            /// Impact velocity at which the restitution holds under Hertz's law; by default that of a fall by half a grain, or
            /// the largest initial velocity.
            impact_velocity: Option<f64> = Quantity(Dimension::VELOCITY, Positive), Optional;
            /// Stiffness of the tangential spring relative to the normal one.
            tangential_ratio: f64 = Number(Within(0.0, 1.0)), Default("0.2857142857142857");
        },
        /// Event-driven dynamics of free, fixed and driven bodies: contact forces from accelerations, collisions as events,
        /// fourth-order steps of at most `dt` that end at events.
        RigidEvents "rigid-events" [STEP] {
            /// Shortest time step: an event within it is taken to happen at its end.
            dt_min: Option<f64> = TIME, Computed("1e-7 of `dt`");
            /// Gap below which two bodies touch, and overlap allowed at the start of a step, relative to the smaller body.
            gap_tolerance: f64 = Number(Within(1e-12, 1e-2)), Default("1e-8");
            /// Velocity below which contacts are at rest, relative to √(g·size): slower collisions are inelastic, slower contacts
            /// neither separate nor begin to slide. At least √(2·`gap_tolerance`).
            rest_velocity: f64 = Number(Within(0.0, 1.0)), Default("1e-6");
            /// How a step ends at an event.
            step_control: StepControl = Choice(words_of::<StepControl>()), Default("\"root-finding\"");
            /// Friction during collisions.
            collision_friction: CollisionFriction = Choice(words_of::<CollisionFriction>()), Default("\"coulomb\"");
            /// Facets of the friction cone of a sticking contact in space, even.
            facets: u32 = Integer(4, 64), Default("8");
        },
    }
}

impl Copy for TimeScheme {}

impl TimeScheme {
    /// Whether the scheme chooses the length of its steps.
    pub fn is_adaptive(self) -> bool {
        matches!(self, TimeScheme::DormandPrince { .. } | TimeScheme::RigidEvents { .. })
    }

    /// Whether bodies touch.
    pub fn has_contacts(self) -> bool {
        !matches!(self, TimeScheme::DormandPrince { .. })
    }

    /// Whether forces are taken at the start or the middle of a step, so that stiffness limits it.
    pub fn is_explicit(self) -> bool {
        self.solves_contacts() || matches!(self, TimeScheme::Penalty { .. })
    }

    /// Whether friction obeys cone complementarity.
    pub fn relaxes_friction(self) -> bool {
        let relaxed = FrictionLaw::Cone;
        matches!(self, TimeScheme::ConeComplementarity { friction_law, .. } if friction_law == relaxed)
    }

    /// Whether each step solves a contact problem with the methods of `[solver]`.
    pub fn solves_contacts(self) -> bool {
        matches!(self, TimeScheme::MoreauJean { .. } | TimeScheme::ConeComplementarity { .. })
    }
}

words! {
    FrictionLaw {
        Cone "cone": "cone complementarity: convex, but a sliding contact floats at a gap of μ·v·`dt`",
        Coulomb "coulomb": "Coulomb's law, for comparison with the same steps",
    }
}

words! {
    Formulation {
        Ggl "ggl": "constraints at position and velocity level (Gear, Gupta, Leimkuhler)",
        ModifiedLcp "modified-lcp": "another complementarity condition at position level, which chatters",
        SmoothIndex3 "smooth-index-3": "constraints at position level only, wrong at impacts",
        MoreauJean "moreau-jean": "the implicit θ-method with θ = 1/(1 + `rho`), which drifts",
    }
}

words! {
    NormalLaw {
        Linear "linear": "force proportional to the overlap",
        Hertz "hertz": "Hertz's law for spheres with viscoelastic dissipation; every material needs `young`",
    }
}

words! {
    Integrator {
        Verlet "verlet": "velocity Verlet, second order, for all scenes",
        RungeKutta "rk4": "classical Runge–Kutta method, fourth order while contacts last, four times the cost; free bodies only",
    }
}

words! {
    StepControl {
        RootFinding "root-finding": "the time of the event is found on an interpolant, and the step repeated up to it",
        Halving "halving": "the step is halved until nothing deforms (Schwager and Pöschel 2002)",
    }
}

words! {
    CollisionFriction {
        Coulomb "coulomb": "Coulomb's law for impulses",
        None "none": "none (Schwager and Pöschel 2002, Eqs. 35 and 36)",
    }
}

impl TimeScheme {
    /// Integrator and laws of soft contact; `None` for hard contact.
    pub fn penalty(&self) -> Option<(Integrator, PenaltyLaw)> {
        let TimeScheme::Penalty {
            normal,
            integrator,
            stiffness,
            damping,
            dissipation,
            impact_velocity,
            tangential_ratio,
        } = *self
        else {
            return None;
        };
        let law = PenaltyLaw {
            normal,
            stiffness,
            damping,
            dissipation,
            impact_velocity,
            tangential_ratio,
        };
        Some((integrator, law))
    }
}

impl Run {
    /// Whether a time [s] is the end of the run: to the nearest step with fixed steps, exactly with adaptive ones.
    pub fn is_over(&self, t: f64) -> bool {
        if self.scheme.is_adaptive() { t >= self.until } else { t > self.until - 0.5 * self.dt }
    }

    /// A sentence for each time of the scene that is not a whole number of steps, with the value used instead.
    pub fn rounded_times(&self) -> Vec<String> {
        if self.scheme.is_adaptive() {
            return Vec::new();
        }
        let dt = self.dt;
        let rounded = |time: f64| {
            let steps = (time / dt).round().max(1.0);
            // Decimal fractions are whole multiples up to rounding.
            ((time / dt - steps).abs() > 1e-6 * steps).then(|| number(steps * dt))
        };
        let mut notes = Vec::new();
        if let Some(end) = rounded(self.until).filter(|_| self.until > 0.0) {
            let (until, dt) = (number(self.until), number(dt));
            notes.push(format!(
                "`until` = {until} s is not a whole number of steps of {dt} s: the run ends at {end} s"
            ));
        }
        let mut outputs = vec![
            ("output_every", Some(self.output_every)),
            ("series_every", Some(self.series_every)),
            ("frames_every", Some(self.frames_every)),
            ("contacts_every", Some(self.contacts_every)),
            ("checkpoint_every", self.checkpoint_every),
        ];
        let common = outputs[0].1;
        outputs.retain(|(key, every)| *key == "output_every" || *every != common);
        for (key, every) in outputs {
            let Some(every) = every else { continue };
            if let Some(taken) = rounded(every) {
                notes.push(format!(
                    "`{key}` = {} s is not a whole number of steps of {} s: {taken} s is used",
                    number(every),
                    number(dt)
                ));
            }
        }
        notes
    }
}

/// Whether the scheme of a `[run]` is adaptive.
pub(in super::super) fn is_adaptive(run: &Entries) -> bool {
    matches!(run.variant, Some("dormand-prince" | "rigid-events"))
}

codec! {
    /// `dt`, which every scheme has, with different meanings.
    Step: f64,
    |from, run, key| match run.get(key) {
        None if is_adaptive(run) => OutputEvery::read(from, run, "output_every"),
        _ => run.number(key),
    },
    |dt, _| dt
}

codec! {
    /// The output interval, computed from the other keys if it is not given.
    OutputEvery: f64,
    |_, run, key| {
        if run.get(key).is_some() {
            return run.number(key);
        }
        let hundredth = run.number("until")? / 100.0;
        // A run of zero length still needs a step.
        let fallback = if is_adaptive(run) && hundredth > 0.0 { hundredth } else { 1.0 };
        let dt = run.number("dt").unwrap_or(fallback);
        match is_adaptive(run) {
            true => Some(hundredth.max(dt)),
            false => Some((hundredth / dt).round().max(1.0) * dt),
        }
    },
    |every, _| every
}

codec! {
    /// The interval of one kind of output; `output_every` unless given.
    Every: f64,
    |from, run, key| match run.get(key) {
        None => OutputEvery::read(from, run, "output_every"),
        _ => run.number(key),
    },
    |every, _| every
}

codec! {
    /// The interval of the contact frames; `frames_every` unless given.
    ContactsEvery: f64,
    |from, run, key| match run.get(key) {
        None => Every::read(from, run, "frames_every"),
        _ => run.number(key),
    },
    |every, _| every
}

table! {
    /// Convergence criteria of the contact solver. All tolerances must be met.
    SOLVER = "solver", "[solver]";
    pub struct Solver {
        /// Solution method. All methods solve the same problem to the same tolerances; those of cone complementarity use
        /// `tolerance`, `approach_tolerance` and `max_sweeps`.
        method: Option<SolverMethod> = Choice(words_of::<SolverMethod>()), Computed("`\"coloured\"`; `\"apgd\"` for the friction law `cone`");
        /// Residual of the contact laws.
        tolerance: f64 = Number(Positive), Default("1e-4");
        /// Residual for small problems such as those of mechanisms: the solver continues beyond the tolerances, tightening all of
        /// them in proportion, as long as it has made fewer than 5000 contact updates.
        refined_tolerance: f64 = Number(Positive), Default("1e-8");
        /// Largest remaining approach velocity at a contact times `dt`, relative to the grain size or to the smallest initial gap
        /// of a `[[point_contact]]`, whichever is smaller.
        approach_tolerance: f64 = Number(Positive), Default("1e-4");
        /// Relative root mean square change of the relative velocity in the last sweep ("Quad" in LMGC90).
        velocity_change_tolerance: f64 = Number(Positive), Default("1e-3");
        /// Relative maximum change of the relative velocity in the last sweep ("Maxm" in LMGC90).
        max_velocity_change_tolerance: f64 = Number(Positive), Default("1e-2");
        /// Maximum number of sweeps over all contacts.
        max_sweeps: u32 = Integer(1, 100_000_000), Default("5000");
    }
}

/// Solution method of the contact problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolverMethod {
    /// Accelerated Gauss–Seidel over colours, vectorized and multithreaded.
    Coloured,
    /// Gauss–Seidel accelerated by conjugate gradients, one contact at a time.
    ConjugateGradient,
    /// Plain Gauss–Seidel.
    GaussSeidel,
    /// Accelerated projected gradients, for cone complementarity.
    Apgd,
    /// Spectral projected gradients, for cone complementarity.
    BarzilaiBorwein,
    /// The fixed point of Anitescu and Tasora, contact by contact, for cone complementarity.
    ProjectedGaussSeidel,
    /// The same, all contacts at once.
    ProjectedJacobi,
    /// Alternating directions with an adaptive penalty, for cone complementarity.
    Admm,
    /// Interior points, for cone complementarity.
    InteriorPoint,
}

impl SolverMethod {
    /// Whether the method is for the friction law `cone` only.
    pub fn is_for_cones(self) -> bool {
        use SolverMethod::{Coloured, ConjugateGradient, GaussSeidel};
        !matches!(self, Coloured | ConjugateGradient | GaussSeidel)
    }
}

words! {
    SolverMethod {
        Coloured "coloured": "Gauss–Seidel sweeps accelerated by conjugate gradients, many contacts at a time; the fastest",
        ConjugateGradient "conjugate-gradient": "the same acceleration, one contact at a time",
        GaussSeidel "gauss-seidel": "plain Gauss–Seidel sweeps, as in the paper",
        Apgd "apgd": "for the friction law `cone`: accelerated projected gradients",
        BarzilaiBorwein "barzilai-borwein": "for the friction law `cone`: spectral projected gradients",
        ProjectedGaussSeidel "projected-gauss-seidel": "for the friction law `cone`: the fixed point of Anitescu and Tasora, contact by contact",
        ProjectedJacobi "projected-jacobi": "for the friction law `cone`: the same, all contacts at once",
        Admm "admm": "for the friction law `cone`: alternating directions, for very different masses",
        InteriorPoint "interior-point": "for the friction law `cone`: interior points, slow and accurate",
    }
}

table! {
    /// Contact detection.
    CONTACT = "contact", "[contact]";
    pub struct Contact {
        /// Gap below which a pair of surfaces enters the contact problem.
        alert: Option<f64> = Quantity(Dimension::LENGTH, Positive), Computed("1 % of the mean grain size, or the largest `cohesion_range`");
        /// Method for pairs of polyhedra.
        detection: Method = Choice(words_of::<Method>()), Default("\"separating-axes\"");
    }
}

words! {
    Method {
        SeparatingAxes "separating-axes": "tests the axes of faces and edges; exact for convex polyhedra",
        CommonPlane "common-plane": "rotates a plane between the two bodies until it separates them best",
    }
}
