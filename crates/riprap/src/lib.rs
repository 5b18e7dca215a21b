//! Coupled multibody and granular dynamics with nonsmooth contact.
//!
//! Build a [`scene::Scene`], pass it to a [`simulation::Simulation`] with a scheme, run it and read
//! the results:
//!
//! ```
//! use riprap::prelude::*;
//!
//! let rubber = Material::new("rubber").density(1100.0).friction(0.8).restitution(0.7);
//! let mut scene = Scene::builder();
//! scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &rubber);
//! let ball = BodyDescription::new(Shape::sphere(0.1)?, &rubber).at([0.0, 0.0, 1.0]);
//! let ball = scene.add(ball, &rubber);
//!
//! let mut run = Simulation::new(scene.build()?, MoreauJean::new(1e-3))?;
//! let report = run.until(1.0, &mut ())?;
//! assert!(run.pose(ball).position.z >= 0.1 - 1e-2);
//! assert_eq!(report.unconverged, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The modules, lowest first: [`math`], [`shape`], [`multibody`], [`flexible`], [`friction`], [`grains`], [`detect`], [`scene`], [`assembly`],
//! [`scheme`], [`degradation`], [`population`], [`simulation`].

pub mod assembly;
pub mod degradation;
pub mod detect;
pub mod flexible;
pub mod friction;
pub mod grains;
pub mod math;
pub mod multibody;
pub mod population;
pub mod scene;
pub mod scheme;
pub mod shape;
pub mod simulation;

/// Version of the numerics: increased with every change that alters a trajectory (see Numerics in
/// the changelog). Stored results of one version cannot be continued by another.
pub const NUMERICS: u32 = 4;

/// What most programs need: everything that [`SceneBuilder`](crate::scene::SceneBuilder), [`Mechanism`](crate::multibody::Mechanism) and
/// [`Simulation`](crate::simulation::Simulation) take and return.
pub mod prelude {
    pub use crate::assembly::Stabilization;
    pub use crate::detect::Method;
    pub use crate::flexible::{Bar, Beam, Elastic, Section, Support};
    pub use crate::friction::{
        Accurate, Anderson, Coloured, ConjugateGradient, ContactSolver, GaussSeidel,
        GaussSeidelOptions,
    };
    pub use crate::math::{Mat3, Pose, Quat, Vec3};
    pub use crate::multibody::{
        Axis, Coordinate, Cut, GROUND, Inputs, Joint, JointMotion, JointSpring, Link, Marker,
        Mechanism, Phase, PointSpring, Signal, Stops, Until,
    };
    pub use crate::scene::{
        Body, BodyDescription, BodyJoint, Cell, Chain, ContactLaw, Course, Flexible, FlexibleId,
        Fragmentation, Hold, Insertion, Kind, Law, Locks, Material, MechanismId, Motion, On,
        PairLaw, PointContact, Removal, Rope, RopeId, Scene, SceneBuilder, Servo, State, StateLaw,
        Supply, Tie, Twist, Wear,
    };
    pub use crate::scheme::{
        ConeComplementarity, DormandPrince, FrictionLaw, GeneralizedAlpha, MoreauJean, Penalty,
        RigidEvents, Scheme, StepReport,
    };
    pub use crate::shape::{MassProperties, Shape};
    pub use crate::simulation::{
        ContactCount, EnergyAccount, Frame, Observer, OnUnconverged, RunReport, Simulation,
    };
}
