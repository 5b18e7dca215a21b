//! Errors of a mechanism: in its description, and during its motion.

/// Writes errors, one per line.
pub(crate) fn write_lines<E: std::fmt::Display>(
    mistakes: &[E],
    f: &mut std::fmt::Formatter,
) -> std::fmt::Result {
    for (k, mistake) in mistakes.iter().enumerate() {
        if k > 0 {
            writeln!(f)?;
        }
        write!(f, "{mistake}")?;
    }
    Ok(())
}

/// A part of a mechanism, by its name; displayed as it appears in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The whole mechanism.
    Whole,
    /// A body.
    Body(String),
    /// A coordinate.
    Coordinate(String),
    /// A loop.
    Loop(String),
    /// A spring between points.
    Spring(String),
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Part::Whole => write!(f, "the mechanism"),
            Part::Body(name) => write!(f, "body `{name}`"),
            Part::Coordinate(name) => write!(f, "coordinate `{name}`"),
            Part::Loop(name) => write!(f, "loop `{name}`"),
            Part::Spring(name) => write!(f, "spring `{name}`"),
        }
    }
}

/// One mistake in the description of a mechanism.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MechanismError {
    /// A part of the description is invalid.
    #[error("mechanism `{mechanism}`, {item}: {problem}")]
    Description {
        /// Which mechanism.
        mechanism: String,
        /// Which part of it.
        item: Part,
        /// What is wrong.
        problem: String,
    },
    /// No position of the joints closes the loops.
    #[error(
        "mechanism `{mechanism}`: loop `{name}` cannot be closed at the start: a residual of {residual:.1e} m or rad remains; check its \
         frames and lengths, or give start values closer to a closed position"
    )]
    CannotClose {
        /// Which mechanism.
        mechanism: String,
        /// The loop that is farthest from closed.
        name: String,
        /// Residual [m, –].
        residual: f64,
    },
    /// The user's dependent coordinates do not fit the loops.
    #[error(
        "mechanism `{mechanism}`: `dependent` names {named}, of which the loops determine {determined}; it must name \
         exactly {rank}, for example {suggestion}"
    )]
    BadPartition {
        /// Which mechanism.
        mechanism: String,
        /// Number of coordinates named.
        named: usize,
        /// Number that the loops determine in total.
        rank: usize,
        /// Number of the named ones that the loops determine.
        determined: usize,
        /// A choice that works.
        suggestion: String,
    },
    /// A start velocity that the loops do not allow.
    #[error(
        "mechanism `{mechanism}`: the loops give `{coordinate}` a start velocity of {needed:.6} {unit}, not {given:.6}; \
         omit it, or change the other start velocities"
    )]
    VelocityConflict {
        /// Which mechanism.
        mechanism: String,
        /// Which coordinate.
        coordinate: String,
        /// The given velocity [m/s, rad/s].
        given: f64,
        /// The velocity required by the loops [m/s, rad/s].
        needed: f64,
        /// Its unit.
        unit: &'static str,
    },
    /// It cannot move from its start.
    #[error("{error}")]
    Start {
        /// The cause.
        error: Box<MotionError>,
    },
}

/// Why a mechanism cannot continue.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MotionError {
    /// A loop does not close.
    #[error(
        "mechanism `{mechanism}`: loop `{name}` did not close at t = {t:.6} s: residual {residual:.1e} m or rad after \
         {iterations} iterations; the mechanism may have reached the end of its range or a singular position, try a \
         smaller dt"
    )]
    LoopOpen {
        /// Which mechanism.
        mechanism: String,
        /// The loop that is farthest from closed.
        name: String,
        /// Time [s].
        t: f64,
        /// Residual [m, –].
        residual: f64,
        /// Number of Newton steps.
        iterations: usize,
    },
    /// The loops do not determine the dependent joints.
    #[error(
        "mechanism `{mechanism}`: at t = {t:.6} s the loops `{loops}` do not determine the joints `{dependent}` \
         (conditioning {conditioning:.1e}): a singular position; start elsewhere, use another dt to step over it, or let \
         riprap choose the dependent joints"
    )]
    Singular {
        /// Which mechanism.
        mechanism: String,
        /// Its loops.
        loops: String,
        /// The dependent joints.
        dependent: String,
        /// Time [s].
        t: f64,
        /// Ratio of the smallest pivot to the largest entry [–].
        conditioning: f64,
    },
    /// A coordinate has no inertia.
    #[error(
        "mechanism `{mechanism}`: nothing with a mass moves with `{coordinate}` at t = {t:.6} s; give the body at the end \
         of the chain a mass (if it only turns, an inertia), or prescribe the joint"
    )]
    NoInertia {
        /// Which mechanism.
        mechanism: String,
        /// Which coordinate.
        coordinate: String,
        /// Time [s].
        t: f64,
    },
    /// A position, velocity or force is not finite.
    #[error(
        "mechanism `{mechanism}`: `{coordinate}` is not finite at t = {t:.6} s; check the laws of its forces, or try a \
         smaller dt"
    )]
    NotFinite {
        /// Which mechanism.
        mechanism: String,
        /// Which coordinate.
        coordinate: String,
        /// Time [s].
        t: f64,
    },
    /// The integration was interrupted.
    #[error("the step was interrupted at t = {t:.6} s")]
    Interrupted {
        /// Time that the integration had reached [s].
        t: f64,
    },
    /// An adaptive step became too small.
    #[error(
        "the step fell below {dt:.1e} s at t = {t:.6} s without meeting the tolerance; look for a stiff spring, a law that \
         jumps, or a singular position of a loop"
    )]
    StepTooSmall {
        /// Time [s].
        t: f64,
        /// The step [s].
        dt: f64,
    },
}
