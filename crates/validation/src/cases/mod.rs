//! The validation cases. Each compares quantities of standard scenes with closed-form solutions or stated limits.

mod analyses;
mod analytical;
mod capsules;
mod ccp;
mod ccp_solvers;
mod cohesion;
mod corrections;
mod coupling;
mod dantzig;
mod degradation;
mod flexible;
mod ggl;
mod grains;
mod measures;
mod mechanisms;
mod penalty;
mod periodic;
mod pinocchio;
mod position_correction;
mod rest_forces;
mod rigid_events;
mod ropes;
mod servo;
mod slider_crank;
mod standing;

use crate::{Checks, Effort};

/// A named validation case.
pub struct Case {
    /// Name on the command line.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Runs the case.
    pub run: fn(Effort) -> Checks,
    /// Whether it is one of the most expensive cases, which are started first.
    pub long: bool,
}

/// All cases.
pub const CASES: &[Case] = &[
    Case {
        name: "ccp-particle",
        about: "cone complementarity: a falling particle with friction compared with the closed form, order of convergence",
        run: ccp::particle,
        long: false,
    },
    Case {
        name: "ccp-slope",
        about: "a block sliding down a slope lifts by μ v h under cone complementarity, and not under Coulomb's law",
        run: ccp::slope,
        long: false,
    },
    Case {
        name: "ccp-two-balls",
        about: "two pendulums of one ball each, with cone complementarity and with penalty forces",
        run: ccp::two_balls,
        long: false,
    },
    Case {
        name: "ccp-pendulums",
        about: "two pendulums of ten balls each compared with an independent solution: contacts, energy, stretch of ropes",
        run: ccp::pendulums,
        long: true,
    },
    Case {
        name: "cohesion",
        about: "pull-off forces, surface energy, friction and heaps with cohesion; static friction on a slope and on a belt",
        run: cohesion::cohesion,
        long: false,
    },
    Case {
        name: "dantzig",
        about: "Dantzig's algorithm with friction compared with enumeration and Lemke's algorithm; polyhedral cones",
        run: dantzig::dantzig,
        long: false,
    },
    Case {
        name: "bouncing-ball",
        about: "accumulation of impacts compared with the closed form, order of convergence, energy",
        run: analytical::bouncing_ball,
        long: false,
    },
    Case {
        name: "slope",
        about: "stick and slip at tan φ = μ, acceleration, stopping distance, spinning block",
        run: analytical::slope,
        long: false,
    },
    Case {
        name: "rolling",
        about: "a sliding ball starts to roll at 5/7 of its speed; rolling resistance",
        run: analytical::rolling,
        long: false,
    },
    Case {
        name: "hanging",
        about: "a wedge hanging on two points swings as an undamped pendulum: period, speed",
        run: analytical::hanging,
        long: false,
    },
    Case {
        name: "three-balls",
        about: "simultaneous impact of three balls: (−1/3, 2/3, 2/3)",
        run: analytical::three_balls,
        long: false,
    },
    Case {
        name: "momentum",
        about: "collisions of spinning polyhedra conserve linear and angular momentum",
        run: analytical::momentum,
        long: false,
    },
    Case {
        name: "tumbling",
        about: "free rotation of a symmetric body compared with the closed form, second order at θ = 1/2",
        run: analytical::tumbling,
        long: false,
    },
    Case {
        name: "corrections",
        about: "the effect of each correction beyond Algorithm 1: gaps, slips, momentum, joints",
        run: corrections::corrections,
        long: true,
    },
    Case {
        name: "position-correction",
        about: "overlaps in a shear box and in tamping with and without their correction; what stands keeps standing",
        run: position_correction::position_correction,
        long: true,
    },
    Case { name: "tower", about: "20 boxes stand for a minute", run: standing::tower, long: true },
    Case { name: "wall", about: "105 bricks stand for a minute", run: standing::wall, long: true },
    Case {
        name: "arch",
        about: "a semicircular arch stands at t/R 0.115 and falls at 0.100 (theory 0.1075)",
        run: standing::arch,
        long: false,
    },
    Case {
        name: "stones-at-rest",
        about: "1000 ballast stones poured into a box come to rest, with and without rolling resistance",
        run: grains::stones_at_rest,
        long: true,
    },
    Case {
        name: "capsules",
        about: "capsules, cylinders, cones and rounded polyhedra roll, collide, tip and stand as closed forms say; a pile of all kinds",
        run: capsules::capsules,
        long: false,
    },
    Case {
        name: "same-bits",
        about: "results are bitwise reproducible on any number of threads",
        run: grains::same_bits,
        long: false,
    },
    Case {
        name: "pinocchio",
        about: "mass matrix, bias, accelerations and Jacobians of ten trees compared with Pinocchio",
        run: pinocchio::pinocchio,
        long: false,
    },
    Case {
        name: "pendulum",
        about: "IFToMM A01: a simple pendulum compared with elliptic functions",
        run: mechanisms::pendulum,
        long: false,
    },
    Case {
        name: "four-bar",
        about: "IFToMM A02: N four-bars through their singular position",
        run: mechanisms::four_bar,
        long: true,
    },
    Case {
        name: "andrews",
        about: "IFToMM A03: Andrews' squeezer compared with the IVP test set",
        run: mechanisms::andrews,
        long: false,
    },
    Case {
        name: "bricard",
        about: "IFToMM A04: Bricard's mechanism with one redundant equation",
        run: mechanisms::bricard,
        long: false,
    },
    Case {
        name: "flyball",
        about: "IFToMM A05: a flyball governor with stiff springs",
        run: mechanisms::flyball,
        long: false,
    },
    Case {
        name: "tamping-air",
        about: "the tamping unit in free air compared with two independent codes",
        run: mechanisms::tamping_air,
        long: false,
    },
    Case {
        name: "coupling",
        about: "mechanisms and grains: action and reaction, momentum, a free joint vs. a grain, a bucket in spheres",
        run: coupling::coupling,
        long: true,
    },
    Case {
        name: "slider-crank",
        about: "docquier2020 Sec. 5: clearance in the guide, five models, event-driven reference, Siconos",
        run: slider_crank::slider_crank,
        long: true,
    },
    Case {
        name: "ggl-bouncing-ball",
        about: "bruls2014 Sec. 10.1: no penetration, energy, accumulation, multipliers; alternative schemes",
        run: ggl::bouncing_ball,
        long: false,
    },
    Case {
        name: "ggl-pendulum",
        about: "bruls2014 Sec. 10.2: a pivot and an obstacle exact at position and velocity level, orders 2 and 1",
        run: ggl::pendulum,
        long: true,
    },
    Case {
        name: "ggl-elastic-bar",
        about: "bruls2014 Sec. 10.3: an elastic bar of 200 elements strikes a wall, d'Alembert's solution",
        run: ggl::elastic_bar,
        long: false,
    },
    Case {
        name: "ggl-rocking-block",
        about: "bruls2014 Sec. 10.4: a block of any size from a scene file, event-driven reference",
        run: ggl::rocking_block,
        long: false,
    },
    Case {
        name: "ggl-slider-crank",
        about: "the slider–crank with clearance without penetration, also with e = 0.8; a stiff bushing",
        run: ggl::slider_crank,
        long: true,
    },
    Case {
        name: "flexible",
        about: "beams: a full circle, the elastica, natural frequencies, a stop, a slider–crank; energy and refinement",
        run: flexible::flexible,
        long: true,
    },
    Case {
        name: "ccp-solvers",
        about: "six solvers of cone complementarity problems agree on 1000 random problems; exact friction where none slides",
        run: ccp_solvers::ccp_solvers,
        long: false,
    },
    Case {
        name: "penalty",
        about: "soft contact: restitution, duration, orders, energy, friction; 500 spheres compared with hard contact",
        run: penalty::penalty,
        long: true,
    },
    Case {
        name: "rest-forces",
        about: "unique contact forces: sphere, cube, slope, beam, pyramid of discs, limit of soft contact, a pile of stones",
        run: rest_forces::rest_forces,
        long: false,
    },
    Case {
        name: "rigid-events",
        about: "event-driven rigid bodies: impact times, sliding, rocking, Painlevé, order 4, rest, polygons; Moreau–Jean at first order",
        run: rigid_events::rigid_events,
        long: true,
    },
    Case {
        name: "ropes",
        about: "a chain and the catenary, a rope that goes slack and tightens, pulleys, mechanisms, beams, breaking, stretch",
        run: ropes::ropes,
        long: true,
    },
    Case {
        name: "tamping-modes",
        about: "equilibrium, frequencies and damping of the tamping unit",
        run: analyses::tamping_modes,
        long: false,
    },
    Case {
        name: "crushing",
        about: "stones break at the set load, strengths follow Weibull's law; a bed under cyclic load, its grading, breakage and mass",
        run: degradation::crushing,
        long: true,
    },
    Case {
        name: "wear",
        about: "a sliding block loses the volume of Archard's law; a tumbling cube becomes round, convex, with its mass accounted",
        run: degradation::wear,
        long: false,
    },
    Case {
        name: "servo",
        about: "forces as laws of time and state, servo plates on stops and on a settling bed, a triaxial cell",
        run: servo::servo,
        long: false,
    },
    Case {
        name: "measures",
        about: "stress of columns under their weight, crystals: fabric, coordination, solid fraction; flow of mass, impacts",
        run: measures::measures,
        long: false,
    },
    Case {
        name: "periodic",
        about: "a gas in a periodic cell keeps momentum and energy, its pressure; collisions across boundaries; a sheared cell has a constant gradient",
        run: periodic::periodic,
        long: true,
    },
];

/// The case with the given name.
pub fn find(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|c| c.name == name)
}

/// Checks of a scene file, or why it cannot be simulated.
pub type OfScene = fn(&str, Effort) -> Result<Checks, String>;

/// The function that runs a case with another scene file, for cases that take their parameters from one.
pub fn of_scene(name: &str) -> Option<OfScene> {
    match name {
        "ggl-rocking-block" => Some(ggl::rocking_block_of),
        _ => None,
    }
}
