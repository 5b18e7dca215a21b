//! Assessment of the time step: compares gravity, speeds, stiffness and clearances with `dt`. Each number that is too large is
//! reported with its cause and a time step that is small enough.

use riprap::math::Vec3;
use riprap::multibody::{ModeKind, Multibody};
use riprap::scene::{Scene, State};
use riprap::shape::Shape;
use riprap::simulation::Simulation;
use riprap_io::build::Built;
use riprap_io::run::LARGE_OVERLAP;
use riprap_io::scene_file::{
    BodyKind, ContactLaw, Mechanism, PointContact, SceneFile, Target, TimeScheme, Translation,
};

use super::Rows;
use crate::text::number;

/// Limit of `dt √(g/size)` [–], which bounds how far a body sags per step relative to its size.
const SAG: f64 = 0.05;
/// Limit of the distance a body moves per step, relative to its size [–].
const TRAVEL: f64 = 0.1;
/// Limit of the rotation of a joint or body per step [rad].
const TURN: f64 = 0.2;
/// Limit of `ω dt` for the frequencies of mechanisms [–]. At 0.5 the period has an error of 1 %; above 2 the motion grows without
/// bound.
const STIFFNESS: f64 = 0.5;
/// The same limit for decay rates [–]. Above 2 the motion grows instead of decaying.
const DAMPING: f64 = 1.0;
/// Limit of the distance a point moves per step, relative to its clearance [–].
const CLEARANCE: f64 = 0.1;
/// Number of times at which prescribed motions are sampled.
const SAMPLES: usize = 200;

/// A number that depends on the time step, and its limit.
struct Criterion {
    what: &'static str,
    /// What causes the largest value.
    culprit: String,
    value: f64,
    unit: &'static str,
    limit: f64,
    /// Power of `dt` with which the value grows.
    power: f64,
}

impl Criterion {
    /// The largest time step within the limit [s].
    fn dt(&self, dt: f64) -> f64 {
        dt * (self.limit / self.value).powf(1.0 / self.power)
    }
}

/// Rows of the summary about the time step.
pub fn rows(file: &SceneFile, built: &Built) -> Rows {
    if let TimeScheme::DormandPrince { tolerance } = file.run.scheme {
        let text = format!("adaptive, relative error per step {tolerance:e}");
        return vec![vec!["time step".into(), text]];
    }
    let dt = file.run.dt;
    if let TimeScheme::RigidEvents { .. } = file.run.scheme {
        let text = format!("at most {} ms, steps end at events", number(1e3 * dt));
        return vec![vec!["time step".into(), text]];
    }
    let steps = (file.run.until / dt).round();
    let mut rows = vec![vec![
        "time step".into(),
        format!("{} ms, {steps} step{}", number(1e3 * dt), if steps == 1.0 { "" } else { "s" }),
    ]];
    let criteria = criteria(file, built);
    for one in &criteria {
        let unit = if one.unit.is_empty() { String::new() } else { format!(" {}", one.unit) };
        let culprit = match one.culprit.is_empty() {
            true => String::new(),
            false => format!(" ({})", one.culprit),
        };
        rows.push(vec![
            one.what.to_owned(),
            format!("{}{unit}{culprit}, recommended below {}{unit}", number(one.value), one.limit),
        ]);
    }
    let mut bad: Vec<&Criterion> = criteria.iter().filter(|one| one.value > one.limit).collect();
    bad.sort_by(|a, b| a.dt(dt).total_cmp(&b.dt(dt)));
    for (k, one) in bad.iter().enumerate() {
        let culprit = match one.culprit.is_empty() {
            true => String::new(),
            false => format!(" of {}", one.culprit),
        };
        let text = format!(
            "reduce dt to {} ms or less: {}{culprit} is {}",
            number(1e3 * round_down(one.dt(dt))),
            one.what,
            number(one.value)
        );
        rows.push(vec![if k == 0 { "advice".into() } else { String::new() }, text]);
    }
    if bad.is_empty() {
        rows.push(vec!["advice".into(), "the time step is small enough".into()]);
    }
    rows
}

fn criteria(file: &SceneFile, built: &Built) -> Vec<Criterion> {
    let (scene, dt) = (&built.scene, file.run.dt);
    let (size, g) = (scene.grain_size(), scene.gravity().norm());
    let mut criteria = Vec::new();
    let mut add = |what, (value, culprit): (f64, String), unit, limit, power| {
        if value > 0.0 && value.is_finite() {
            criteria.push(Criterion { what, culprit, value, unit, limit, power });
        }
    };
    let touches = !scene.colliders().is_empty();
    if touches {
        add("dt √(g/size)", (dt * (g / size).sqrt(), String::new()), "", SAG, 1.0);
        let (speed, who) = fastest(file, built);
        add("travel per step over size", (dt * speed / size, who.clone()), "", TRAVEL, 1.0);
        // A contact with restitution is detected once it is closed, on average half a step late and at most one step.
        let exact_gaps = matches!(
            file.run.scheme,
            TimeScheme::GeneralizedAlpha { .. } | TimeScheme::Penalty { .. }
        );
        if has_restitution(file) && !exact_gaps {
            let overlap = (0.5 * dt * speed / size, who);
            add("overlap at impact over size", overlap, "", LARGE_OVERLAP, 1.0);
        }
        // A rotating point leaves its tangent, which gives an overlap of (ω dt)² r / 8.
        let (turn, radius, who) = most_turned(scene);
        let overlap = ((turn * dt).powi(2) * radius / 8.0 / size, who.clone());
        if !exact_gaps {
            add("overlap by rotation over size", overlap, "", LARGE_OVERLAP, 2.0);
        }
        add("rotation of a body per step", (turn * dt, who), "rad", TURN, 1.0);
    }
    let (turn, who) = fastest_joint(scene);
    add("rotation of a joint per step", (turn * dt, who), "rad", TURN, 1.0);
    // An implicit scheme is stable for any stiffness.
    let explicit = file.run.scheme.is_explicit();
    let mechanisms = file.mechanisms.iter().zip(scene.mechanisms());
    for (described, system) in mechanisms.filter(|_| explicit) {
        let [(frequency, who), (rate, damped)] = stiffest(described, system);
        add("dt times the highest angular frequency", (frequency * dt, who), "", STIFFNESS, 1.0);
        add("dt times the highest decay rate", (rate * dt, damped), "", DAMPING, 1.0);
    }
    if let Some(smooth) = (!file.point_contacts.is_empty()).then(|| Smooth::new(file)).flatten() {
        let crossing = file.point_contacts.iter().filter_map(|contact| {
            let (gap, speed) = smooth.approach(contact)?;
            Some((dt * speed / gap, format!("point contact `{}`", contact.name)))
        });
        add("travel per step over the gap", worst(crossing), "", CLEARANCE, 1.0);
    }
    criteria
}

/// Whether any pair of materials uses the law that acts on closed contacts rather than on contacts about to close.
fn has_restitution(file: &SceneFile) -> bool {
    let n = file.materials.len();
    let elastic = |a: usize, b: usize| file.pair(a, b).law == ContactLaw::MoreauNewton;
    (0..n).any(|a| (a..n).any(|b| elastic(a, b)))
}

/// The largest value and its cause; zero if there is none.
fn worst(all: impl Iterator<Item = (f64, String)>) -> (f64, String) {
    all.fold((0.0, String::new()), |a, b| if b.0 > a.0 { b } else { a })
}

/// Largest speed of a surface [m/s] and its body: initial speeds, speeds after a fall, and prescribed motions at any time.
fn fastest(file: &SceneFile, built: &Built) -> (f64, String) {
    let scene = &built.scene;
    let (bodies, state) = (scene.bodies(), scene.initial_state());
    let fall = 2.0 * scene.gravity().norm() * fall_height(scene);
    let reach = |i: usize| edge(scene, &state, i);
    let mut touches = vec![false; bodies.len()];
    scene.colliders().iter().for_each(|collider| touches[collider.body as usize] = true);
    let moving = (0..bodies.len()).filter(|i| {
        let carried = bodies.carried[*i].is_some() || scene.node_at(*i).is_some();
        touches[*i] && (bodies.movable[*i] || carried)
    });
    let now = moving.map(|i| {
        let v = &state.v[i];
        let linear = match bodies.movable[i] {
            true => (v.linear.norm_squared() + fall).sqrt(),
            false => v.linear.norm(),
        };
        (linear + v.angular.norm() * reach(i), format!("`{}`", bodies.names[i]))
    });
    let prescribed = file.bodies.iter().enumerate().filter_map(|(index, body)| {
        let BodyKind::Moving { motion } = &body.kind else { return None };
        let radius = reach(scene.slot(built.body(Target::Body(index))));
        let until = file.run.until;
        let at = |k: usize| until * k as f64 / SAMPLES as f64;
        let speeds = (0..=SAMPLES).map(|k| {
            let linear = match &motion.translation {
                Translation::Velocity(laws) => norm(laws.each_ref().map(|law| law.at(at(k)))),
                Translation::Position(laws) => {
                    let h = (until / SAMPLES as f64).min(file.run.dt).max(1e-12);
                    norm(laws.each_ref().map(|law| (law.at(at(k) + h) - law.at(at(k))) / h))
                }
            };
            linear + radius * norm(motion.angular_velocity.each_ref().map(|law| law.at(at(k))))
        });
        Some((speeds.fold(0.0, f64::max), format!("`{}`", body.name)))
    });
    worst(now.chain(prescribed))
}

/// Distance from the centre of mass to the points of a body that its rotation moves relative to other bodies [m]: its corners. Spheres and
/// discs count with their centre, because rotation leaves their surface in place.
fn edge(scene: &Scene, state: &State, i: usize) -> f64 {
    let (body, radius) = (scene.body_at(i), scene.bodies().radius[i]);
    if !radius.is_finite() {
        return 0.0;
    }
    let frame = scene.shape_pose(state, body);
    let parts = scene.shape(body).parts();
    let reaches = parts.iter().map(|(pose, shape)| match shape {
        Shape::Sphere { .. } | Shape::Disc { .. } => {
            (frame.point(pose.position) - state.q[i].position).norm()
        }
        _ => radius,
    });
    reaches.fold(0.0, f64::max)
}

fn norm(x: [f64; 3]) -> f64 {
    Vec3::from(x).norm()
}

/// Angular velocity [rad/s] and radius [m] of the body with the fastest initial rotation.
fn most_turned(scene: &Scene) -> (f64, f64, String) {
    let (bodies, state) = (scene.bodies(), scene.initial_state());
    let free = (0..bodies.len()).filter(|i| bodies.movable[*i] && edge(scene, &state, *i) > 0.0);
    let turns = free.map(|i| (state.v[i].angular.norm(), i));
    let (turn, i) = turns.fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
    match turn > 0.0 {
        true => (turn, bodies.radius[i], format!("`{}`", bodies.names[i])),
        false => (0.0, 0.0, String::new()),
    }
}

/// Fastest initial angular velocity of a joint [rad/s].
fn fastest_joint(scene: &Scene) -> (f64, String) {
    worst(scene.mechanisms().iter().flat_map(|system| {
        let angles = system.coordinates().filter(|c| system.is_angle(*c));
        angles.map(|c| {
            let name = format!("`{}` of `{}`", system.coordinate_name(c), system.name());
            (system.start().v[c.0 as usize].abs(), name)
        })
    }))
}

/// The highest angular frequency and the highest decay rate of a mechanism in its initial state [1/s]: its poles from springs,
/// dampers and force laws, and those of its stops.
fn stiffest(described: &Mechanism, system: &Multibody) -> [(f64, String); 2] {
    // At rest: velocity-dependent terms are inertial, not stiffness.
    let mut state = system.start().clone();
    state.v.fill(0.0);
    let Ok(modes) = system.modes(&state, 0.0, &mut system.scratch()) else {
        return Default::default();
    };
    let [mut frequencies, mut rates] = [Vec::new(), Vec::new()];
    for mode in modes.modes.iter().filter(|mode| mode.kind != ModeKind::Rigid) {
        let largest = mode.shape.iter().fold(0.0_f64, |m, x| m.max(x.norm()));
        let at = mode.shape.iter().position(|x| x.norm() >= 0.999 * largest).unwrap_or(0);
        let name = system.coordinates().nth(at).map_or("", |c| system.coordinate_name(c));
        let (rate, of) = (mode.pole.norm(), format!("`{name}` of `{}`", system.name()));
        match mode.kind {
            ModeKind::Oscillation => {
                frequencies.push((rate, format!("{of}: {} Hz", number(mode.frequency()))));
            }
            _ => rates.push((rate, format!("{of}: {} 1/s", number(rate)))),
        }
    }
    let inverse = modes.mass.clone().try_inverse();
    for joint in &described.joints {
        let independent = &modes.partition.independent;
        let at = system.coordinate_named(&joint.name);
        let k = at.and_then(|at| independent.iter().position(|c| *c == at.0));
        if let (Some(stops), Some(inverse), Some(k)) = (&joint.stops, &inverse, k) {
            // Poles of the stop alone, with the effective inertia of the coordinate.
            let (light, of) = (inverse[(k, k)], format!("`{}` of `{}`", joint.name, system.name()));
            frequencies.push(((stops.stiffness * light).sqrt(), format!("the stops of {of}")));
            rates.push((stops.damping * light, format!("the stops of {of}")));
        }
    }
    [worst(frequencies.into_iter()), worst(rates.into_iter())]
}

/// The mechanisms of a scene without contacts: initially and a moment later.
struct Smooth {
    built: Built,
    start: Simulation,
    later: Simulation,
}

/// Length of that moment [s], short enough that only velocities change.
const MOMENT: f64 = 1e-7;

impl Smooth {
    fn new(file: &SceneFile) -> Option<Smooth> {
        let mut alone = file.clone();
        alone.bodies.clear();
        alone.grains.clear();
        alone.joints.clear();
        alone.probes.clear();
        alone.joint_probes.clear();
        alone.flexible.clear();
        alone.point_contacts.clear();
        alone.ropes.clear();
        alone.rope_probes.clear();
        alone.ignored_contacts.clear();
        alone.run.scheme = TimeScheme::DormandPrince { tolerance: 1e-6 };
        alone.run.dt = MOMENT;
        let built = alone.build().ok()?;
        let start = Simulation::new(built.scene.clone(), alone.scheme()).ok()?;
        let mut later = Simulation::new(built.scene.clone(), alone.scheme()).ok()?;
        later.step().ok()?;
        Some(Smooth { built, start, later })
    }

    /// The gap of an initially open point contact [m] and the speed at which it may close [m/s]: the initial speed plus what the
    /// initial acceleration adds over the gap.
    fn approach(&self, contact: &PointContact) -> Option<(f64, f64)> {
        let on_mechanism =
            |body: Option<Target>| matches!(body, None | Some(Target::MechanismBody { .. }));
        if !on_mechanism(contact.point.body) || !on_mechanism(contact.plane.body) {
            return None;
        }
        let [gap, speed] = self.gap(contact, &self.start)?;
        let [_, later] = self.gap(contact, &self.later)?;
        let acceleration = ((later - speed) / MOMENT).max(0.0);
        (gap > 0.0).then(|| (gap, (speed.max(0.0).powi(2) + 2.0 * acceleration * gap).sqrt()))
    }

    /// Gap [m] and closing speed [m/s].
    fn gap(&self, contact: &PointContact, run: &Simulation) -> Option<[f64; 2]> {
        let frame = run.frame();
        let place = |body: Option<Target>, at: [f64; 3]| {
            let Some(target) = body else { return (Vec3::from(at), Vec3::zeros()) };
            let body = self.built.body(target);
            let pose = frame.scene.shape_pose(frame.state, body);
            let arm = pose.rotation * Vec3::from(at);
            let spin = frame.state.v[frame.scene.slot(body)].angular;
            let origin = frame.scene.shape_velocity(frame.state, body);
            (pose.position + arm, origin + spin.cross(&arm))
        };
        let (point, v) = place(contact.point.body, contact.point.position);
        let (on, v_plane) = place(contact.plane.body, contact.plane.position);
        let turned = |target| {
            let pose = frame.scene.shape_pose(frame.state, self.built.body(target));
            pose.rotation * Vec3::from(contact.plane.normal)
        };
        let normal = contact.plane.body.map_or(Vec3::from(contact.plane.normal), turned);
        let normal = normal.try_normalize(0.0)?;
        Some([normal.dot(&(point - on)), -normal.dot(&(v - v_plane))])
    }
}

/// Greatest height a free body may fall [m]: down to the origin of the lowest body.
fn fall_height(scene: &Scene) -> f64 {
    let g = scene.gravity();
    if g.norm() == 0.0 {
        return 0.0;
    }
    let down = g.normalize();
    let state = scene.initial_state();
    let bodies = scene.bodies();
    let depth = |i: usize| down.dot(&state.q[i].position);
    let free = || (0..bodies.len()).filter(|&i| bodies.movable[i]);
    let highest = free().map(depth).fold(f64::INFINITY, f64::min);
    let held = (0..bodies.len()).filter(|&i| !bodies.movable[i]).map(depth);
    let lowest = free().map(depth).chain(held).fold(f64::NEG_INFINITY, f64::max);
    (lowest - highest).max(0.0)
}

/// Rounds down to one significant digit.
fn round_down(value: f64) -> f64 {
    let unit = 10f64.powf(value.log10().floor());
    (value / unit).floor() * unit
}
