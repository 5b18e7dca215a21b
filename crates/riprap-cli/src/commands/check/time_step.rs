//! Whether the time step fits: gravity, speeds, stiffness and clearances against `dt`. Each number that is too large names its
//! culprit and a step that would do.

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

/// A body should sag by less than this share of its size per step, as `dt √(g/size)` [–].
const SAG: f64 = 0.05;
/// A body should move by less than this share of its size per step [–].
const TRAVEL: f64 = 0.1;
/// A joint or body should turn by less than this per step [rad].
const TURN: f64 = 0.2;
/// Frequencies of mechanisms should stay below this over `dt`, as `ω dt` [–]: at 0.5 a period is off by 1 %, beyond 2 the motion
/// grows without bound.
const STIFFNESS: f64 = 0.5;
/// The same for rates of damping, whose motion decays: beyond 2 it grows [–].
const DAMPING: f64 = 1.0;
/// A point should cross less than this share of its clearance in a step [–].
const CLEARANCE: f64 = 0.1;
/// Times at which prescribed motions are looked at.
const SAMPLES: usize = 200;

/// A number that depends on the time step, and how large it may be.
struct Criterion {
    what: &'static str,
    /// What has the largest number.
    culprit: String,
    value: f64,
    unit: &'static str,
    limit: f64,
    /// Power of `dt` with which it grows.
    power: f64,
}

impl Criterion {
    /// The largest step at which it holds [s].
    fn dt(&self, dt: f64) -> f64 {
        dt * (self.limit / self.value).powf(1.0 / self.power)
    }
}

/// What is said about the time step.
pub fn rows(file: &SceneFile, built: &Built) -> Rows {
    if let TimeScheme::DormandPrince { tolerance } = file.run.scheme {
        let text = format!("chosen for a relative error of {tolerance:e} in each");
        return vec![vec!["time steps".into(), text]];
    }
    let dt = file.run.dt;
    let steps = (file.run.until / dt).round();
    let mut rows =
        vec![vec!["time step".into(), format!("{} ms, {steps} steps", number(1e3 * dt))]];
    let criteria = criteria(file, built);
    for one in &criteria {
        let unit = if one.unit.is_empty() { String::new() } else { format!(" {}", one.unit) };
        let culprit = match one.culprit.is_empty() {
            true => String::new(),
            false => format!(" ({})", one.culprit),
        };
        rows.push(vec![
            one.what.to_owned(),
            format!("{}{unit}{culprit}, good below {}{unit}", number(one.value), one.limit),
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
            "take dt = {} ms or less: {}{culprit} is {} now",
            number(1e3 * round_down(one.dt(dt))),
            one.what,
            number(one.value)
        );
        rows.push(vec![if k == 0 { "advice".into() } else { String::new() }, text]);
    }
    if bad.is_empty() {
        rows.push(vec!["advice".into(), "the time step fits".into()]);
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
        // A contact with restitution is found when it is closed, half a step late on average and a step at most.
        if has_restitution(file) {
            let overlap = (0.5 * dt * speed / size, who);
            add("overlap of an impact over size", overlap, "", LARGE_OVERLAP, 1.0);
        }
        // What turns leaves its tangent: an overlap of (ω dt)² r / 8.
        let (turn, radius, who) = most_turned(scene);
        let overlap = ((turn * dt).powi(2) * radius / 8.0 / size, who.clone());
        add("overlap of a turn over size", overlap, "", LARGE_OVERLAP, 2.0);
        add("turn of a body per step", (turn * dt, who), "rad", TURN, 1.0);
    }
    let (turn, who) = fastest_joint(scene);
    add("turn of a joint per step", (turn * dt, who), "rad", TURN, 1.0);
    for (described, system) in file.mechanisms.iter().zip(scene.mechanisms()) {
        let [(frequency, who), (rate, damped)] = stiffest(described, system);
        add("dt times the highest frequency", (frequency * dt, who), "", STIFFNESS, 1.0);
        add("dt times the highest damping", (rate * dt, damped), "", DAMPING, 1.0);
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

/// Whether any pair of materials keeps the contacts that are closed, rather than those that would close.
fn has_restitution(file: &SceneFile) -> bool {
    let n = file.materials.len();
    let elastic = |a: usize, b: usize| file.pair(a, b).law == ContactLaw::MoreauNewton;
    (0..n).any(|a| (a..n).any(|b| elastic(a, b)))
}

/// The largest value and its culprit; zero if there is none.
fn worst(all: impl Iterator<Item = (f64, String)>) -> (f64, String) {
    all.fold((0.0, String::new()), |a, b| if b.0 > a.0 { b } else { a })
}

/// Largest speed of a surface [m/s], and of which body: at the start, after a fall, and of prescribed motions at any time.
fn fastest(file: &SceneFile, built: &Built) -> (f64, String) {
    let scene = &built.scene;
    let (bodies, state) = (scene.bodies(), scene.initial_state());
    let fall = 2.0 * scene.gravity().norm() * fall_height(scene);
    let reach = |i: usize| edge(scene, &state, i);
    let mut touches = vec![false; bodies.len()];
    scene.colliders().iter().for_each(|collider| touches[collider.body as usize] = true);
    let moving = (0..bodies.len())
        .filter(|i| touches[*i] && (bodies.movable[*i] || bodies.carried[*i].is_some()));
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

/// How far from its centre of mass a body has points that its turning moves against others [m]: its corners; of what is
/// round, which turns in its own place, the centre.
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

/// Angular velocity [rad/s] and radius [m] of the body that turns fastest at the start.
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

/// Fastest angular velocity of a joint at the start [rad/s].
fn fastest_joint(scene: &Scene) -> (f64, String) {
    worst(scene.mechanisms().iter().flat_map(|system| {
        let angles = system.coordinates().filter(|c| system.is_angle(*c));
        angles.map(|c| {
            let name = format!("`{}` of `{}`", system.coordinate_name(c), system.name());
            (system.start().v[c.0 as usize].abs(), name)
        })
    }))
}

/// The highest angular frequency and the highest rate of damping of a mechanism at its start [1/s]: its poles by springs,
/// dampers and laws, and those of its stops.
fn stiffest(described: &Mechanism, system: &Multibody) -> [(f64, String); 2] {
    // At rest: what it gains by its velocities is inertia, not stiffness.
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
            // Poles of the stop alone on the inertia that the coordinate feels.
            let (light, of) = (inverse[(k, k)], format!("`{}` of `{}`", joint.name, system.name()));
            frequencies.push(((stops.stiffness * light).sqrt(), format!("the stops of {of}")));
            rates.push((stops.damping * light, format!("the stops of {of}")));
        }
    }
    [worst(frequencies.into_iter()), worst(rates.into_iter())]
}

/// The mechanisms of a scene alone, without contacts: at the start, and a moment later.
struct Smooth {
    built: Built,
    start: Simulation,
    later: Simulation,
}

/// The moment [s]: so short that only velocities change.
const MOMENT: f64 = 1e-7;

impl Smooth {
    fn new(file: &SceneFile) -> Option<Smooth> {
        let mut alone = file.clone();
        alone.bodies.clear();
        alone.grains.clear();
        alone.joints.clear();
        alone.probes.clear();
        alone.joint_probes.clear();
        alone.point_contacts.clear();
        alone.ignored_contacts.clear();
        alone.run.scheme = TimeScheme::DormandPrince { tolerance: 1e-6 };
        alone.run.dt = MOMENT;
        let built = alone.build().ok()?;
        let start = Simulation::new(built.scene.clone(), alone.scheme()).ok()?;
        let mut later = Simulation::new(built.scene.clone(), alone.scheme()).ok()?;
        later.step().ok()?;
        Some(Smooth { built, start, later })
    }

    /// The gap of a point contact that is open at the start [m], and the speed with which it may close [m/s]: that of the start
    /// and what the accelerations of the start add over the gap.
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

    /// Gap [m] and speed with which it closes [m/s].
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

/// How far a free body may fall [m]: to the origin of the lowest body.
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

/// The next number below with one digit.
fn round_down(value: f64) -> f64 {
    let unit = 10f64.powf(value.log10().floor());
    (value / unit).floor() * unit
}
