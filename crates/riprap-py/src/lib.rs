//! The extension module of the Python package `riprap`: the nouns and verbs of the libraries as Python classes.
//!
//! Descriptions are mutable; everything else is frozen, and a [`simulation::Simulation`] is behind a lock. Steps, solves and
//! file access run detached from the interpreter. The package around the module is in `python/riprap`; its stub
//! `_riprap.pyi` is compared with the module by the tests.

// Members of Python classes are documented by the docstrings of their properties.
#![allow(missing_docs)]

mod account;
mod actuation;
mod analysis;
mod attached;
mod backup;
mod body;
mod builder;
mod cell;
mod controls;
mod convert;
mod dantzig;
mod degradation;
mod document;
mod errors;
mod exit;
mod factors;
mod flexible;
mod frames;
mod grains;
mod handle;
mod imported;
mod joint;
mod keys;
mod law;
mod loads;
mod manifold;
mod material;
mod measures;
mod mechanism;
mod multibody;
mod network;
mod page;
mod population;
mod pose;
mod problem;
mod records;
mod report;
mod run;
mod run_file;
mod saving;
mod scene;
mod scheme;
mod shape;
mod simulation;
mod solution;
mod solver;
mod start;
mod state;
mod stepping;
mod threads;
mod view;
mod watch;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _riprap(module: &Bound<PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("GROUND", handle::Link::GROUND)?;
    module.add_class::<material::Material>()?;
    module.add_class::<material::PairLaw>()?;
    module.add_class::<degradation::Fragmentation>()?;
    module.add_class::<degradation::Wear>()?;
    module.add_class::<degradation::Degradation>()?;
    module.add_class::<degradation::Piece>()?;
    module.add_class::<degradation::SieveCurve>()?;
    module.add_class::<pose::Rotation>()?;
    module.add_class::<pose::Pose>()?;
    module.add_class::<shape::Shape>()?;
    module.add_class::<shape::MassProperties>()?;
    module.add_class::<body::Body>()?;
    module.add_class::<grains::Grains>()?;
    module.add_class::<grains::Settle>()?;
    module.add_class::<population::Insertion>()?;
    module.add_class::<population::Removal>()?;
    module.add_class::<population::Population>()?;
    module.add_class::<flexible::Flexible>()?;
    module.add_class::<joint::Joint>()?;
    module.add_class::<joint::Cut>()?;
    module.add_class::<joint::Motor>()?;
    module.add_class::<joint::Phase>()?;
    module.add_class::<mechanism::Mechanism>()?;
    module.add_class::<multibody::Multibody>()?;
    module.add_class::<analysis::Equilibrium>()?;
    module.add_class::<analysis::Modes>()?;
    module.add_class::<analysis::PrescribedMotion>()?;
    module.add_class::<builder::SceneBuilder>()?;
    module.add_class::<scene::Scene>()?;
    module.add_class::<handle::BodyHandle>()?;
    module.add_class::<handle::MechanismHandle>()?;
    module.add_class::<handle::GrainsHandle>()?;
    module.add_class::<handle::RopeHandle>()?;
    module.add_class::<handle::FlexibleHandle>()?;
    module.add_class::<handle::Link>()?;
    module.add_class::<handle::Coordinate>()?;
    module.add_class::<solver::Solver>()?;
    module.add_class::<scheme::Scheme>()?;
    module.add_class::<scheme::MoreauJean>()?;
    module.add_class::<scheme::GeneralizedAlpha>()?;
    module.add_class::<scheme::ConeComplementarity>()?;
    module.add_class::<scheme::Penalty>()?;
    module.add_class::<scheme::DormandPrince>()?;
    module.add_class::<scheme::RigidEvents>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<frames::Frames>()?;
    module.add_class::<run_file::RunFile>()?;
    module.add_class::<stepping::FrameWriter>()?;
    module.add_class::<state::State>()?;
    module.add_class::<view::BodyState>()?;
    module.add_class::<view::GrainsState>()?;
    module.add_class::<view::MechanismState>()?;
    module.add_class::<view::JointState>()?;
    module.add_class::<loads::MechanismForces>()?;
    module.add_class::<report::StepReport>()?;
    module.add_class::<report::RunReport>()?;
    module.add_class::<report::Balance>()?;
    module.add_class::<report::SolveReport>()?;
    module.add_class::<problem::ContactProblem>()?;
    module.add_class::<solution::Solution>()?;
    module.add_class::<account::EnergyAccount>()?;
    module.add_class::<account::ContactCount>()?;
    module.add_class::<account::Events>()?;
    module.add_class::<measures::Measures>()?;
    module.add_class::<measures::NormalForces>()?;
    module.add_class::<measures::Slope>()?;
    module.add_class::<measures::Flow>()?;
    module.add_class::<network::ForceNetwork>()?;
    module.add_class::<network::ForceDistribution>()?;
    module.add_class::<network::Fabric>()?;
    module.add_class::<factors::RestForces>()?;
    module.add_class::<dantzig::DantzigSolution>()?;
    module.add_class::<run::RunSummary>()?;
    module.add_class::<page::ViewerPage>()?;
    module.add_function(wrap_pyfunction!(solution::solve, module)?)?;
    module.add_function(wrap_pyfunction!(factors::rest_forces, module)?)?;
    module.add_function(wrap_pyfunction!(dantzig::dantzig, module)?)?;
    module.add_function(wrap_pyfunction!(network::force_network, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(run::main, module)?)?;
    module.add_function(wrap_pyfunction!(run::scene_schema, module)?)?;
    module.add_function(wrap_pyfunction!(run_file::export, module)?)?;
    module.add_function(wrap_pyfunction!(keys::explain, module)?)?;
    module.add_function(wrap_pyfunction!(keys::_key_path, module)?)?;
    exit::register(module)
}
