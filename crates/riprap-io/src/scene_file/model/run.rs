//! Time steps and output, the solver of the contact problem, and how contacts are found.

use riprap::detect::Method;
use riprap::simulation::OnUnconverged;

use super::super::fields::Field;
use super::super::keys::{codec, keys, table, variants, words, words_of};
use super::super::number;
use super::super::units::Dimension;
use super::super::values::Entries;
use super::TIME;

table! {
    /// Time steps and output.
    RUN = "run", "[run]", tag &SCHEME;
    pub struct Run {
        /// How time advances.
        scheme: TimeScheme => &[];
        /// Time step [s], greater than 0; the largest one if the scheme chooses its steps.
        dt: f64 => &[], with Step;
        /// Time at which the run ends; it starts at 0.
        until: f64 = Quantity(Dimension::TIME, NonNegative), Required;
        /// Time between two outputs, where `series_every`, `frames_every` and `contacts_every` do not say otherwise. Outputs are
        /// written at the end of a step.
        output_every: f64 = TIME, Computed("a hundredth of `until`, at least `dt` where that is given"), with OutputEvery;
        /// Time between two rows of `series.csv`.
        series_every: f64 = TIME, Computed("`output_every`"), with Every;
        /// Time between two frames of the surfaces.
        frames_every: f64 = TIME, Computed("`output_every`"), with Every;
        /// Time between two frames of the contacts.
        contacts_every: f64 = TIME, Computed("`frames_every`"), with ContactsEvery;
        /// Whether frames for ParaView are written: surfaces and contacts as `.vtp`.
        frames: bool = Flag, Default("true");
        /// Time between two checkpoints, from which a killed run resumes bitwise identically (`riprap run --resume`).
        checkpoint_every: Option<f64> = TIME, Optional;
        /// What happens when the solver does not converge in a step.
        on_unconverged: OnUnconverged = Choice(words_of::<OnUnconverged>()), Default("\"warn\"");
    }
}

words! {
    OnUnconverged {
        Accept "accept": "go on silently",
        Warn "warn": "go on, and say so",
        Fail "fail": "stop the run",
    }
}

const STEP: &[Field] = keys! {
    /// Time step.
    dt: TIME, Required;
};
const LARGEST_STEP: &[Field] = keys! {
    /// Largest time step.
    dt: TIME, Computed("`output_every`");
};

variants! {
    /// How time advances.
    SCHEME = "scheme", "How time advances.", Some("moreau-jean");
    pub enum TimeScheme {
        /// Steps of equal length, for everything that touches.
        MoreauJean "moreau-jean" [STEP] {
            /// Parameter of the time-stepping scheme: 0.5 keeps energy best, 1 damps most.
            theta: f64 = Number(Within(0.5, 1.0)), Default("0.5");
        },
        /// Steps of fifth order that choose their length, for mechanisms without contacts.
        DormandPrince "dormand-prince" {
            /// Relative error of a step.
            tolerance: f64 = Number(Within(1e-14, 0.1)), Default("1e-9");
        } + [LARGEST_STEP],
    }
}

impl Copy for TimeScheme {}

impl Run {
    /// Whether a time [s] is the end of the run: to the nearest step where steps are equal, exactly where the scheme
    /// chooses them.
    pub fn is_over(&self, t: f64) -> bool {
        match self.scheme {
            TimeScheme::MoreauJean { .. } => t > self.until - 0.5 * self.dt,
            TimeScheme::DormandPrince { .. } => t >= self.until,
        }
    }

    /// Which times of the scene are not a whole number of steps, and what is done instead; one sentence each.
    pub fn rounded_times(&self) -> Vec<String> {
        if let TimeScheme::DormandPrince { .. } = self.scheme {
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

/// Whether the scheme of a `[run]` chooses its steps.
pub(in super::super) fn is_adaptive(run: &Entries) -> bool {
    run.variant == Some("dormand-prince")
}

codec! {
    /// `dt`, which every scheme has, though not with the same meaning.
    Step: f64,
    |from, run, key| match run.get(key) {
        None if is_adaptive(run) => OutputEvery::read(from, run, "output_every"),
        _ => run.number(key),
    },
    |dt, _| dt
}

codec! {
    /// Time between two outputs, which follows from the others if it is not given.
    OutputEvery: f64,
    |_, run, key| {
        if run.get(key).is_some() {
            return run.number(key);
        }
        let hundredth = run.number("until")? / 100.0;
        // A run of no length still needs some step.
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
    /// Time between two outputs of one kind; that of all outputs unless given.
    Every: f64,
    |from, run, key| match run.get(key) {
        None => OutputEvery::read(from, run, "output_every"),
        _ => run.number(key),
    },
    |every, _| every
}

codec! {
    /// Time between two frames of the contacts; that of the surfaces unless given.
    ContactsEvery: f64,
    |from, run, key| match run.get(key) {
        None => Every::read(from, run, "frames_every"),
        _ => run.number(key),
    },
    |every, _| every
}

table! {
    /// When the contact forces of a step are good enough. All tolerances have to be met.
    SOLVER = "solver", "[solver]";
    pub struct Solver {
        /// How the contact problem is solved. All solve the same problem to the same tolerances.
        method: SolverMethod = Choice(words_of::<SolverMethod>()), Default("\"coloured\"");
        /// Residual of the contact laws.
        tolerance: f64 = Number(Positive), Default("1e-4");
        /// Residual that small problems, such as those of mechanisms, are solved to: a solve goes on beyond the tolerances, all of
        /// them in proportion, while it has cost fewer than 5000 updates of a contact.
        refined_tolerance: f64 = Number(Positive), Default("1e-8");
        /// Largest approach velocity left at a contact, times `dt`, over the grain size, or over the smallest initial gap of a
        /// `[[point_contact]]` where that is smaller.
        approach_tolerance: f64 = Number(Positive), Default("1e-4");
        /// Root mean square of the change of relative velocity in the last sweep, relative ("Quad" in LMGC90).
        velocity_change_tolerance: f64 = Number(Positive), Default("1e-3");
        /// Largest change of relative velocity in the last sweep, relative ("Maxm" in LMGC90).
        max_velocity_change_tolerance: f64 = Number(Positive), Default("1e-2");
        /// Sweeps over all contacts before the solver gives up.
        max_sweeps: u32 = Integer(1, 100_000_000), Default("5000");
    }
}

/// How the contact problem is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolverMethod {
    /// Accelerated Gauss–Seidel over colours, in vectors and on several threads.
    Coloured,
    /// Gauss–Seidel accelerated by conjugate gradients, contact after contact.
    ConjugateGradient,
    /// Plain Gauss–Seidel.
    GaussSeidel,
}

words! {
    SolverMethod {
        Coloured "coloured": "Gauss–Seidel sweeps accelerated by conjugate gradients, many contacts at once; the fastest",
        ConjugateGradient "conjugate-gradient": "the same acceleration, contact after contact",
        GaussSeidel "gauss-seidel": "plain Gauss–Seidel sweeps, as in the paper",
    }
}

table! {
    /// How contacts are found.
    CONTACT = "contact", "[contact]";
    pub struct Contact {
        /// Gap below which a pair of surfaces takes part in the contact problem.
        alert: Option<f64> = Quantity(Dimension::LENGTH, Positive), Computed("1 % of the mean grain size");
        /// Method for pairs of polyhedra.
        detection: Method = Choice(words_of::<Method>()), Default("\"separating-axes\"");
    }
}

words! {
    Method {
        SeparatingAxes "separating-axes": "axes of faces and edges are tried; exact for convex polyhedra",
        CommonPlane "common-plane": "a plane between both bodies is rotated until it fits",
    }
}
