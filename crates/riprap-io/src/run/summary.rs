//! Summary of a run.

use std::fmt;
use std::path::PathBuf;

use riprap::scene::State;
use riprap::simulation::RunReport;

use crate::output::{Ending, RunWriter};
use crate::scene_file::{OnUnconverged, SceneFile};
use crate::stop::Stopped;

/// Overlap, or drift of joints, relative to the grain size, beyond which a warning is issued [–].
pub const LARGE_OVERLAP: f64 = 0.02;

/// Summary of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The folder with the results.
    pub folder: PathBuf,
    /// How the run ended.
    pub ending: Ending,
    /// The condition that ended the run before its end time, if one did.
    pub stopped: Option<Stopped>,
    /// Simulated time [s].
    pub time: f64,
    /// Statistics over all steps, including those before a checkpoint. The wall time excludes settling, except for a resumed
    /// run.
    pub report: RunReport,
    /// The final state; `None` if the grains could not settle.
    pub state: Option<State>,
    /// Maximum overlap, relative to the grain size or the smallest clearance [–].
    pub worst_penetration: f64,
    /// Whether it is relative to a clearance.
    pub clearance: bool,
    /// Maximum drift of a joint between bodies, relative to the mean grain size [–].
    pub worst_joint_drift: f64,
    /// Number of mechanisms.
    pub n_mechanisms: usize,
    /// Number of frames written for ParaView.
    pub n_frames: usize,
    /// Reasons to check the results before trusting them.
    pub warnings: Vec<Warning>,
}

impl Summary {
    pub(super) fn new(
        scene: &SceneFile,
        writer: &RunWriter,
        ending: Ending,
        report: RunReport,
        state: Option<State>,
    ) -> Summary {
        let (worst_penetration, worst_joint_drift) =
            (writer.worst_penetration(), writer.worst_joint_drift());
        let mut warnings = Vec::new();
        if report.unconverged > 0 && scene.run.on_unconverged == OnUnconverged::Warn {
            warnings.push(Warning::Unconverged {
                unconverged: report.unconverged,
                steps: report.steps,
                residual: report.worst_residual,
                approach: report.worst_approach,
            });
        }
        if worst_penetration > LARGE_OVERLAP {
            let clearance = writer.resolves_clearance();
            warnings.push(Warning::Overlap { relative: worst_penetration, clearance });
        }
        if worst_joint_drift > LARGE_OVERLAP {
            warnings.push(Warning::JointDrift { relative: worst_joint_drift });
        }
        Summary {
            folder: writer.path().to_owned(),
            ending,
            stopped: writer.stopped(),
            time: state.as_ref().map_or(0.0, |state| state.t),
            report,
            state,
            worst_penetration,
            clearance: writer.resolves_clearance(),
            worst_joint_drift,
            n_mechanisms: writer.n_mechanisms(),
            n_frames: writer.n_frames(),
            warnings,
        }
    }
}

/// A reason to check the results before trusting them. The message suggests a remedy.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// The solver did not converge in some steps, and the scene requests a warning for that.
    Unconverged {
        /// Number of unconverged steps.
        unconverged: u64,
        /// Number of steps of the run.
        steps: u64,
        /// Maximum residual [–].
        residual: f64,
        /// Maximum approach in a step, relative to the grain size [–].
        approach: f64,
    },
    /// Bodies overlapped by more than 2 % of the grain size, or of the smallest clearance.
    Overlap {
        /// Maximum overlap, relative to that length [–].
        relative: f64,
        /// Whether that length is a clearance: the initial gap of a point contact.
        clearance: bool,
    },
    /// Joints between bodies drifted by more than 2 % of the grain size.
    JointDrift {
        /// Maximum drift, relative to the grain size [–].
        relative: f64,
    },
}

/// The length that overlaps are related to.
pub fn reference_length(clearance: bool) -> &'static str {
    if clearance { "smallest clearance" } else { "grain size" }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Warning::Unconverged { unconverged, steps, residual, approach } => write!(
                f,
                "the solver did not converge in {unconverged} of {steps} steps (residual up to {residual:.1e}, \
                 approach per step up to {approach:.1e} of the grain size); increase `max_sweeps`, or use a smaller `dt`"
            ),
            Warning::Overlap { relative, clearance } => write!(
                f,
                "bodies overlapped by up to {:.1} % of the {}; a smaller `dt` reduces the overlap of fast or rotating bodies \
                 (`riprap check` has advice)",
                100.0 * relative,
                reference_length(*clearance)
            ),
            Warning::JointDrift { relative } => write!(
                f,
                "joints between bodies drifted by up to {:.1} % of the grain size; set `project = true` or use a \
                 smaller `dt`, and check for joints that contradict each other",
                100.0 * relative
            ),
        }
    }
}
