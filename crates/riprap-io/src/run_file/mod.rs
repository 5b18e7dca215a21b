//! `run.vtkhdf`: all frames of a run in one HDF5 file that ParaView and VTK open as a time series, and its reader.
//!
//! The group `VTKHDF` follows the VTKHDF format: a collection of blocks with polygons, lines and points. The group `riprap` contains
//! what our own reader needs in addition. Steps are appended during a run (`hdf5_append`); a run that is
//! killed leaves a readable file, and one that is resumed continues it.

mod frames;
mod layout;
mod model;
mod read;
mod shapes;
#[cfg(test)]
mod tests;
mod write;

pub use frames::FrameWriter;
pub use model::{
    ContactSet, FlexibleInfo, JointInfo, Kind, LoopInfo, MechanismInfo, Model, Poses, Rope,
    SurfaceSet,
};
pub use read::RunFile;

pub(crate) use layout::Contents;
pub(crate) use shapes::Shapes;
pub(crate) use write::{Due, RunFileWriter};

/// Name of the run file in the folder of a run.
pub const FILE: &str = "run.vtkhdf";
