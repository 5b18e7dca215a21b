//! Files: scenes in, frames and tables out.
//!
//! [`scene_file`] reads scenes from TOML, [`mesh`], [`scans`] and [`grain_table`] the files that a scene refers to, [`peer_scene`] scenes and
//! states shared with other engines.
//! [`build`] makes the scene of the simulator, [`run`] runs it into a folder. [`vtk`] writes frames for ParaView, [`table`] the series of a run, and [`run_folder`] holds them together.
//! These writers know nothing of the simulator: they take points, numbers and names. [`output`] observes a run and
//! feeds them; [`checkpoint`] keeps what a killed run goes on from, [`kept`] what a study does. [`fclib`] reads and writes contact problems.

mod atomic;
pub mod build;
pub mod checkpoint;
mod error;
pub mod fclib;
pub mod grain_table;
pub mod kept;
mod lock;
pub mod mesh;
pub mod output;
pub mod peer_scene;
mod regular;
pub mod run;
pub mod run_folder;
pub mod scans;
pub mod scene_file;
mod sealed;
pub mod table;
mod unit_vector;
pub mod vtk;

pub use atomic::write_whole;
pub use error::{Error, Place};
