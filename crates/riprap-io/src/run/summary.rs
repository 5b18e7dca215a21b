//! What came out of a run.

use std::fmt;
use std::path::PathBuf;

use riprap::scene::State;
use riprap::simulation::RunReport;

use crate::output::{Ending, RunWriter};
use crate::scene_file::{OnUnconverged, SceneFile};

/// Overlap, or drift of joints, over the grain size beyond which a run should not be trusted without a look [–].
pub const LARGE_OVERLAP: f64 = 0.02;

/// What came out of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The folder with the results.
    pub folder: PathBuf,
    /// How the run ended.
    pub ending: Ending,
    /// Simulated time [s].
    pub time: f64,
    /// Sums over all steps, those before a checkpoint included. Its wall time is without settling, except for a run that was
    /// resumed.
    pub report: RunReport,
    /// The final state; `None` if the grains could not settle.
    pub state: Option<State>,
    /// Deepest overlap over the mean grain size [–].
    pub worst_penetration: f64,
    /// Largest drift of a joint between bodies over the mean grain size [–].
    pub worst_joint_drift: f64,
    /// Number of mechanisms.
    pub n_mechanisms: usize,
    /// Number of frames written for ParaView.
    pub n_frames: usize,
    /// What should be looked at before the results are trusted.
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
            warnings.push(Warning::Overlap { relative: worst_penetration });
        }
        if worst_joint_drift > LARGE_OVERLAP {
            warnings.push(Warning::JointDrift { relative: worst_joint_drift });
        }
        Summary {
            folder: writer.path().to_owned(),
            ending,
            time: state.as_ref().map_or(0.0, |state| state.t),
            report,
            state,
            worst_penetration,
            worst_joint_drift,
            n_mechanisms: writer.n_mechanisms(),
            n_frames: writer.n_frames(),
            warnings,
        }
    }
}

/// A reason to look at the results before trusting them. Its text says what to try.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Steps stopped short of the solver's tolerances, and the scene asks for a warning then.
    Unconverged {
        /// How many of them.
        unconverged: u64,
        /// Steps of the run.
        steps: u64,
        /// Largest residual [–].
        residual: f64,
        /// Largest approach in a step over the grain size [–].
        approach: f64,
    },
    /// Bodies overlapped by more than 2 % of the grain size.
    Overlap {
        /// Deepest overlap over the grain size [–].
        relative: f64,
    },
    /// Joints between bodies came apart by more than 2 % of the grain size.
    JointDrift {
        /// Largest drift over the grain size [–].
        relative: f64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Warning::Unconverged { unconverged, steps, residual, approach } => write!(
                f,
                "{unconverged} of {steps} steps stopped short of the solver's tolerances (residual up to {residual:.1e}, \
                 approach of a step up to {approach:.1e} of the grain size); allow more sweeps, or take a smaller dt"
            ),
            Warning::Overlap { relative } => write!(
                f,
                "bodies overlapped by up to {:.1} % of the grain size; a smaller dt keeps fast or turning bodies apart \
                 (`riprap check` has advice)",
                100.0 * relative
            ),
            Warning::JointDrift { relative } => write!(
                f,
                "joints between bodies came apart by up to {:.1} % of the grain size; write `project = true` or take a \
                 smaller dt, and look for joints that contradict each other",
                100.0 * relative
            ),
        }
    }
}
