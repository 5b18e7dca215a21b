//! Input and output files of riprap: scenes, frames and tables.
//!
//! [`scene_file`] reads scenes from TOML; [`mesh`], [`scans`] and [`grain_table`] read the files that a scene refers to, and
//! [`peer_scene`] reads scenes and states shared with other engines. [`build`] builds the scene of the simulator, and [`run`] runs
//! it and writes a run folder. [`run_file`] writes and reads all frames of a run in one file for ParaView, [`vtk`] writes a file per
//! frame, [`table`] writes time series, and [`run_folder`] manages the files of a run. The last three are independent of the
//! simulator: they take points, numbers and names. [`output`] observes a run and
//! passes data to them. [`checkpoint`] stores the state from which an interrupted run resumes, [`kept`] stores results of studies.
//! [`export`] writes the motion of bodies by name as a table, [`fclib`] reads and writes contact problems, [`forces`] computes the force network of a run and draws it.

mod atomic;
pub mod build;
pub mod checkpoint;
mod error;
pub mod export;
pub mod fclib;
pub mod forces;
pub mod grain_table;
mod hdf5_append;
pub mod kept;
mod lock;
pub mod mesh;
pub mod output;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod peer_scene;
mod regular;
pub mod run;
pub mod run_file;
pub mod run_folder;
pub mod scans;
pub mod scene_file;
mod sealed;
mod stop;
pub mod table;
mod unit_vector;
pub mod vtk;

pub use atomic::write_whole;
pub use error::{Error, Place};
pub use sealed::sha256;
pub use stop::{Condition, ConditionError, Stopped};
pub use unit_vector::unit;
