//! The slider–crank with clearance (docquier2020 Sec. 5; Flores, Leine and Glocker 2010): its models and the quantities by which runs are
//! compared.

use riprap::multibody::{Axis, Cut, GROUND, Joint, Marker, Mechanism};
use riprap::prelude::*;
use riprap::scene::{BodyJoint, Hold};
use riprap::shape::MassProperties;

/// Length of the crank [m].
pub const CRANK: f64 = 0.153;
/// Length of the rod [m].
pub const ROD: f64 = 0.306;
/// Half length and half height of the slider [m].
pub const SLIDER: [f64; 2] = [0.05, 0.025];
/// Clearance between slider and guide on either side [m].
pub const CLEARANCE: f64 = 0.001;
/// Time of two revolutions of the crank, which is not driven [s].
pub const TWO_REVOLUTIONS: f64 = 0.13690016418291087;

/// Models of the mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Crank, rod and slider in one chain, without a loop.
    Chain,
    /// A planar slider, cut from the rod; both of its translations are dependent.
    CutBothDependent,
    /// The same, but the height of the slider is independent and the crank is dependent.
    CutHeightIndependent,
    /// Three bodies in absolute coordinates, hinges at velocity level in the contact problem: the paper's pure LMGC90 model.
    Absolute {
        /// Whether positions are projected onto the hinges after every step.
        project: bool,
    },
}

impl Model {
    /// The models in joint coordinates, in the paper's order a, b, c.
    pub const JOINT_COORDINATES: [Model; 3] =
        [Model::Chain, Model::CutBothDependent, Model::CutHeightIndependent];

    /// The paper's letter, or a word.
    pub fn letter(self) -> &'static str {
        match self {
            Model::Chain => "a",
            Model::CutBothDependent => "b",
            Model::CutHeightIndependent => "c",
            Model::Absolute { project: false } => "absolute",
            Model::Absolute { project: true } => "projected",
        }
    }
}

/// Parameters that differ between the publications.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Inertia of the crank about its centre [kg m²].
    pub crank_inertia: f64,
    /// Gravity [m/s²].
    pub gravity: f64,
    /// Restitution between slider and guide [–].
    pub restitution: f64,
    /// Friction between slider and guide [–].
    pub friction: f64,
    /// Initial angular velocity of the slider [rad/s].
    pub slider_speed: f64,
}

impl Parameters {
    /// As in docquier2020: without friction.
    pub const PAPER: Parameters = Parameters {
        crank_inertia: 7.5e-5,
        gravity: 10.0,
        restitution: 0.4,
        friction: 0.0,
        slider_speed: 0.0,
    };
    /// As in Flores et al. 2010 and the example of Siconos: with friction.
    pub const FLORES: Parameters = Parameters {
        crank_inertia: 7.4e-5,
        gravity: 9.81,
        restitution: 0.4,
        friction: 0.01,
        slider_speed: -0.01,
    };
}

fn bar(length: f64, mass: f64, inertia: f64) -> Option<MassProperties> {
    let moments = [0.5 * inertia, 0.5 * inertia, inertia];
    Some(MassProperties::principal(mass, [0.5 * length, 0.0, 0.0], moments))
}

/// Names of the four contacts: upper left, upper right, lower left, lower right.
pub const CORNERS: [&str; 4] = ["upper left", "upper right", "lower left", "lower right"];

/// The scene, and crank, rod and slider in it.
pub fn scene(model: Model, p: &Parameters) -> (SceneBuilder, [On; 3]) {
    let mut scene = Scene::builder();
    scene.gravity([0.0, -p.gravity, 0.0]);
    let parts = match model {
        Model::Absolute { project } => absolute(&mut scene, p, project),
        _ => joint_coordinates(&mut scene, model, p),
    };
    let [a, b] = SLIDER;
    let law = PairLaw {
        friction: p.friction,
        restitution: p.restitution,
        law: ContactLaw::MoreauNewton,
        ..PairLaw::SMOOTH
    };
    let corners = [(-a, b), (a, b), (-a, -b), (a, -b)];
    for (name, (x, y)) in CORNERS.into_iter().zip(corners) {
        let side = y.signum();
        scene.add_point_contact(PointContact {
            name: name.to_owned(),
            point: (parts[2], Vec3::new(x, y, 0.0)),
            plane: (On::World, Vec3::new(0.0, side * (b + CLEARANCE), 0.0)),
            normal: Vec3::new(0.0, -side, 0.0),
            law,
        });
    }
    (scene, parts)
}

fn joint_coordinates(scene: &mut SceneBuilder, model: Model, p: &Parameters) -> [On; 3] {
    let mut m = Mechanism::new("slider-crank");
    let turn = Joint::Revolute(Axis::Z);
    let at = |x: f64| Pose::at([x, 0.0, 0.0]);
    let crank = m.add("crank", GROUND, turn, at(0.0), bar(CRANK, 0.038, p.crank_inertia));
    let rod = m.add("rod", crank, turn, at(CRANK), bar(ROD, 0.038, 5.9e-4));
    let moments = [1.35e-6, 1.35e-6, 2.7e-6];
    let block = Some(MassProperties::principal(0.076, [0.0; 3], moments));
    // Initial absolute angular velocities: crank 150 rad/s, rod −75 rad/s.
    m.start_velocity(m.coordinate(crank, 0), 150.0);
    m.start_velocity(m.coordinate(rod, 0), -75.0 - 150.0);
    let slider = if model == Model::Chain {
        let slider = m.add("slider", rod, turn, at(ROD), block);
        m.start_velocity(m.coordinate(slider, 0), p.slider_speed + 75.0);
        slider
    } else {
        let free = Joint::Planar(Axis::X, Axis::Y);
        let slider = m.add("slider", GROUND, free, at(0.0), block);
        m.guess(m.coordinate(slider, 0), CRANK + ROD);
        m.start_velocity(m.coordinate(slider, 2), p.slider_speed);
        let (end, centre) = (Marker::at(rod, [ROD, 0.0, 0.0]), Marker::at(slider, [0.0; 3]));
        m.close_loop("gudgeon pin", Cut::Pin, end, centre);
        let other = if model == Model::CutBothDependent {
            m.coordinate(slider, 1)
        } else {
            m.coordinate(crank, 0)
        };
        m.dependent(&[m.coordinate(slider, 0), other]);
        slider
    };
    let id = scene.add_mechanism(m);
    [crank, rod, slider].map(|link| On::Link(id, link))
}

fn absolute(scene: &mut SceneBuilder, p: &Parameters, project: bool) -> [On; 3] {
    scene.planar();
    let steel = Material::new("steel");
    // The shapes are small: only the point contacts at the corners of the slider touch.
    let mut add = |name: &str, x: f64, mass: f64, inertia: f64, speed: [f64; 2]| {
        let shape = Shape::disc(1e-3, 1e-3).expect("positive");
        let mut body = BodyDescription::new(shape, &steel).named(name).at([x, 0.0, 0.0]).mass(mass);
        body.inertia = Some(nalgebra::Matrix3::identity() * inertia);
        body.velocity = Vec3::new(0.0, speed[0], 0.0);
        body.angular_velocity = Vec3::new(0.0, 0.0, speed[1]);
        scene.add(body, &steel)
    };
    let (w1, w2) = (150.0, -75.0);
    let crank = add("crank", 0.5 * CRANK, 0.038, p.crank_inertia, [0.5 * CRANK * w1, w1]);
    let v = CRANK * w1;
    let rod = add("rod", CRANK + 0.5 * ROD, 0.038, 5.9e-4, [v + 0.5 * ROD * w2, w2]);
    let slider = add("slider", CRANK + ROD, 0.076, 2.7e-6, [v + ROD * w2, p.slider_speed]);
    let at = |x: f64| Pose::at([x, 0.0, 0.0]);
    let [crank_at, rod_at, slider_at] = [0.5 * CRANK, CRANK + 0.5 * ROD, CRANK + ROD].map(at);
    let hinges = [
        ("crank hinge", 0.0, (On::World, Pose::IDENTITY), (crank.into(), crank_at)),
        ("crank pin", CRANK, (crank.into(), crank_at), (rod.into(), rod_at)),
        ("gudgeon pin", CRANK + ROD, (rod.into(), rod_at), (slider.into(), slider_at)),
    ];
    for (name, x, a, b) in hinges {
        let mut joint = BodyJoint::at(name, Hold::Ball, at(x), a, b);
        joint.project = project;
        scene.add_joint(joint);
    }
    [crank, rod, slider].map(On::Body)
}

/// A motion sampled every 1e-4 s: time, absolute angles of crank, rod and slider, height of the slider.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    /// Times [s].
    pub t: Vec<f64>,
    /// Absolute angles of crank, rod and slider [rad].
    pub angles: Vec<[f64; 3]>,
    /// Heights of the slider [m].
    pub y: Vec<f64>,
    /// Deepest overlap of a corner with the guide [m].
    pub penetration: f64,
    /// Largest residual of the loop [m].
    pub loop_residual: f64,
    /// Error of the hinges in absolute coordinates at the end [m].
    pub drift: f64,
    /// Number of impacts above 1 cm/s: steps in which a corner that approaches faster than this starts to carry an impulse.
    pub impacts: usize,
    /// Kinetic plus potential energy, initial and final [J].
    pub energy: [f64; 2],
    /// Number of unconverged steps.
    pub unconverged: u64,
}

impl Motion {
    /// Reads two revolutions from a reference file: t, three angles, three velocities, (x,) y.
    fn read(text: &str, p: &Parameters) -> Motion {
        let mut motion = Motion::default();
        for line in text.lines().skip(1).filter(|l| !l.is_empty()) {
            let row: Vec<f64> =
                line.split(',').map(|x| x.trim().parse().expect("a number")).collect();
            if row[0] > TWO_REVOLUTIONS {
                break;
            }
            let angles = [row[1], row[2], row[3]];
            let energy = energy(&angles, [row[4], row[5], row[6]], p);
            motion.energy = [if motion.t.is_empty() { energy } else { motion.energy[0] }, energy];
            motion.t.push(row[0]);
            motion.angles.push(angles);
            motion.y.push(row[row.len() - 1]);
        }
        motion
    }

    /// The paper's case computed by an event-driven integrator, converged to 3e-14 m, with its impacts.
    pub fn event_driven() -> Motion {
        let traj = include_str!("../data/slider-crank/sc_paper1_traj.csv");
        let mut motion = Motion::read(traj, &Parameters::PAPER);
        let impacts = include_str!("../data/slider-crank/sc_paper1_impacts.csv");
        let counts = |l: &&str| impact_speed(l) > 1e-2 && impact_time(l) <= TWO_REVOLUTIONS;
        motion.impacts = impacts.lines().skip(1).filter(counts).count();
        motion
    }

    /// The paper's case with restitution 0.8, event-driven, converged to 3e-13 m.
    pub fn event_driven_restitution_08() -> Motion {
        let text = include_str!("../data/slider-crank/sc_e08_traj.csv");
        Motion::read(text, &Parameters { restitution: 0.8, ..Parameters::PAPER })
    }

    /// The paper's case computed by Siconos with steps of 1e-5 s.
    pub fn siconos() -> Motion {
        let text = include_str!("../data/slider-crank/sc_paper1_siconos_1e-5.csv");
        Motion::read(text, &Parameters::PAPER)
    }

    /// The case with friction computed by Siconos with steps of 1e-5 s and 1e-6 s.
    pub fn siconos_with_friction() -> [Motion; 2] {
        [
            include_str!("../data/slider-crank/sc_flores_friction_siconos_1e-5.csv"),
            include_str!("../data/slider-crank/sc_flores_friction_siconos_1e-6.csv"),
        ]
        .map(|text| Motion::read(text, &Parameters::FLORES))
    }

    /// Number of revolutions of the crank [–].
    pub fn revolutions(&self) -> f64 {
        self.angles.last().map_or(0.0, |a| a[0]) / std::f64::consts::TAU
    }

    /// Energy lost over the whole run [J].
    pub fn energy_lost(&self) -> f64 {
        self.energy[0] - self.energy[1]
    }

    /// Largest angle of the slider relative to the guide [rad].
    pub fn largest_tilt(&self) -> f64 {
        self.angles.iter().fold(0.0, |m, a| m.max(a[2].abs()))
    }

    /// Largest difference in the height of the slider [m] up to a time [s].
    pub fn height_error(&self, reference: &Motion, until: f64) -> f64 {
        let pairs = self.y.iter().zip(&reference.y).zip(&self.t);
        pairs.filter(|(_, t)| **t <= until).fold(0.0, |m, ((a, b), _)| m.max((a - b).abs()))
    }
}

/// Runs a model under Moreau–Jean with a step that divides 1e-4 s (or is a multiple of it) until a time [s].
pub fn run(model: Model, p: &Parameters, dt: f64, until: f64) -> Motion {
    let solver = GaussSeidel::tolerance(1e-14);
    run_with(model, p, Box::new(MoreauJean::new(dt).solver(solver)), until)
}

/// Like [`run`], with any scheme of fixed steps.
pub fn run_with(model: Model, p: &Parameters, scheme: Box<dyn Scheme>, until: f64) -> Motion {
    let (scene, parts) = scene(model, p);
    let scene = scene.build().expect("the slider-crank is sound");
    let dt = scheme.dt();
    let mut run = Simulation::new(scene, scheme).expect("sound");
    let bodies = parts.map(|part| match part {
        On::Link(id, link) => run.scene().link_body(id, link),
        On::Body(body) => body,
        On::World | On::Node(..) => unreachable!("the parts move"),
    });
    let body = bodies[2];
    let mut motion = Motion::default();
    let every = (1e-4 / dt).round().max(1.0) as u64;
    let steps = (until / dt).round() as u64;
    let sample = |run: &Simulation, motion: &mut Motion| {
        let mut angles = bodies.map(|b| {
            let x = run.pose(b).vector(Vec3::x());
            x.y.atan2(x.x)
        });
        // Whole turns are added to be closest to the last sample.
        if let Some(last) = motion.angles.last() {
            let turn = std::f64::consts::TAU;
            for (angle, last) in angles.iter_mut().zip(last) {
                *angle += turn * ((last - *angle) / turn).round();
            }
        }
        motion.t.push(run.time());
        motion.angles.push(angles);
        motion.y.push(run.pose(body).position.y);
    };
    let energy = |run: &Simulation| {
        let b = run.frame().balance();
        b.kinetic + b.potential
    };
    sample(&run, &mut motion);
    motion.energy[0] = energy(&run);
    let mut before = [false; 4];
    let first = run.scene().colliders().len() as u32;
    for k in 1..=steps {
        let (pose, v) = (run.pose(body), run.velocity(body));
        run.step().expect("it moves");
        let mut now = [false; 4];
        for (c, r) in run.frame().work.contacts().active().zip(run.frame().work.impulses()) {
            now[((c.point.colliders[0] - first) / 2) as usize] = r[0] > 0.0;
        }
        let approach = |i: usize| {
            let x = if i.is_multiple_of(2) { -SLIDER[0] } else { SLIDER[0] };
            let y = if i < 2 { SLIDER[1] } else { -SLIDER[1] };
            let arm = pose.vector(Vec3::new(x, y, 0.0));
            (v.linear.y + v.angular.z * arm.x) * y.signum()
        };
        let hits = (0..4).any(|i| now[i] && !before[i] && approach(i) > 1e-2);
        motion.impacts += usize::from(hits);
        before = now;
        if k % every == 0 {
            sample(&run, &mut motion);
        }
        // The overlap is evaluated at the end of each step, as in the output.
        let pose = run.pose(body);
        for (x, y) in [(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
            let corner = pose.point(Vec3::new(x * SLIDER[0], y * SLIDER[1], 0.0));
            motion.penetration = motion.penetration.max(corner.y.abs() - SLIDER[1] - CLEARANCE);
        }
    }
    motion.energy[1] = energy(&run);
    motion.drift = riprap::assembly::joint_error(run.scene(), &run.state().q);
    motion.loop_residual = run.report().loop_residual;
    motion.unconverged = run.report().unconverged;
    motion
}

/// Energy [J] from absolute angles [rad] and angular velocities [rad/s].
fn energy(angles: &[f64; 3], speeds: [f64; 3], p: &Parameters) -> f64 {
    let [(s1, c1), (s2, c2)] = [angles[0].sin_cos(), angles[1].sin_cos()];
    let [w1, w2, w3] = speeds;
    let v = |x: f64, y: f64| {
        let (vx, vy) = (-x * s1 * w1 - y * s2 * w2, x * c1 * w1 + y * c2 * w2);
        vx * vx + vy * vy
    };
    let kinetic = 0.038 * v(0.5 * CRANK, 0.0)
        + 0.038 * v(CRANK, 0.5 * ROD)
        + 0.076 * v(CRANK, ROD)
        + p.crank_inertia * w1 * w1
        + 5.9e-4 * w2 * w2
        + 2.7e-6 * w3 * w3;
    let moment = 0.038 * 0.5 * CRANK * s1
        + 0.038 * (CRANK * s1 + 0.5 * ROD * s2)
        + 0.076 * (CRANK * s1 + ROD * s2);
    0.5 * kinetic + p.gravity * moment
}

/// Normal velocity before an impact of the reference [m/s].
fn impact_speed(line: &str) -> f64 {
    let field = line.split(',').nth(2).unwrap_or_default();
    let speeds = field.split('|').filter_map(|x| x.parse::<f64>().ok());
    speeds.fold(0.0, |m, v| m.max(v.abs()))
}

/// Time of an impact of the reference [s].
fn impact_time(line: &str) -> f64 {
    line.split(',').next().and_then(|x| x.parse().ok()).unwrap_or(f64::INFINITY)
}
