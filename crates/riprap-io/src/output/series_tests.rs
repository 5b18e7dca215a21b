//! Rows of the series compared with the states, impulses and balances of the run that wrote them.

use super::*;
use riprap::math::Vec3;
use riprap::scene::Body;
use riprap::simulation::Simulation;
use std::collections::HashMap;

const SLIDING: &str = "\
[run]
dt = \"1 ms\"
until = \"0.2 s\"
output_every = \"1 ms\"
frames = false
[solver]
tolerance = 1e-10
[materials.rock]
density = 1000
friction = 0.3
[[body]]
name = \"floor\"
kind = \"fixed\"
shape = { type = \"half-space\" }
material = \"rock\"
[[body]]
name = \"ball\"
shape = { type = \"sphere\", radius = 0.1 }
material = \"rock\"
position = [0, 0, 0.105]
velocity = [2, 0, -0.5]
angular_velocity = [0, -5, 1]
[[body]]
name = \"slab\"
shape = { type = \"polyhedron\", points = [[0,0,0], [0.4,0,0], [0,0.4,0], [0.4,0.4,0], [0,0,0.1], [0.4,0,0.1], [0,0.4,0.1], [0.4,0.4,0.1]] }
material = \"rock\"
position = [2, 0, 0.001]
velocity = [0, 1, 0]
[[probe]]
body = \"ball\"
quantities = [\"position\", \"velocity\", \"rotation\", \"angular_velocity\", \"force\", \"torque\", \"contacts\", \"work\"]
[[probe]]
name = \"corner\"
body = \"slab\"
quantities = [\"position\", \"velocity\", \"force\", \"work\"]
";

/// Values taken directly from a frame.
struct Seen {
    t: f64,
    balance: Balance,
    contacts: usize,
    /// Mean contact forces on the ball and the slab [N].
    forces: [Vec3; 2],
    /// Position [m] and velocity [m/s] of the centre of mass of the ball.
    ball: [Vec3; 2],
    spin: Vec3,
    /// Pose of the shape of the slab, as position [m] and rotation w, x, y, z.
    slab: riprap::math::Pose,
}

/// Passes each frame to the writer, and stores its values.
struct Both<'a>(&'a mut RunWriter, Vec<Seen>);

impl Observer for Both<'_> {
    fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let [ball, slab] = ["ball", "slab"].map(|name| frame.scene.body(name).unwrap());
        let at = frame.scene.slot(ball);
        let force = |body: Body| {
            let on = frame.contacts().filter(|contact| contact.bodies.contains(&body));
            on.map(|c| if c.bodies[1] == body { c.force } else { -c.force }).sum::<Vec3>()
        };
        self.1.push(Seen {
            t: frame.state.t,
            balance: frame.balance(),
            contacts: frame.step.contacts,
            forces: [ball, slab].map(force),
            ball: [frame.state.q[at].position, frame.state.v[at].linear],
            spin: frame.state.v[at].angular,
            slab: frame.scene.shape_pose(frame.state, slab),
        });
        self.0.observe(frame)
    }
}

/// The columns of a series by name, without units.
struct Columns(HashMap<String, Vec<f64>>);

impl Columns {
    fn read(path: &Path) -> Columns {
        let text = std::fs::read_to_string(path.join("series.csv")).unwrap();
        let mut lines = text.lines();
        let names = lines.next().unwrap().split(',').map(|name| name.split(' ').next().unwrap());
        let mut columns: Vec<(String, Vec<f64>)> =
            names.map(|name| (name.to_owned(), Vec::new())).collect();
        for line in lines {
            for (word, (_, column)) in line.split(',').zip(&mut columns) {
                column.push(word.parse().unwrap());
            }
        }
        Columns(columns.into_iter().collect())
    }

    fn get(&self, name: &str) -> &[f64] {
        self.0.get(name).unwrap_or_else(|| panic!("no column {name}"))
    }

    fn vector(&self, name: &str, row: usize) -> Vec3 {
        Vec3::from(["x", "y", "z"].map(|axis| self.get(&format!("{name}_{axis}"))[row]))
    }
}

fn run(text: &str) -> (Vec<Seen>, Columns) {
    let mut seen = Vec::new();
    let columns = run_with(text, |run, until, writer| {
        let mut both = Both(writer, Vec::new());
        run.until(until, &mut both).unwrap();
        seen = both.1;
    });
    (seen, columns)
}

/// The series of a complete run of a scene.
fn run_with(text: &str, until_end: impl FnOnce(&mut Simulation, f64, &mut RunWriter)) -> Columns {
    let file = SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"));
    let built = file.build().unwrap_or_else(|e| panic!("{e}"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut writer = RunWriter::create(&path, Existing::Keep, &file, &built, 1).unwrap();
    let mut run = Simulation::new(built.scene, file.scheme()).unwrap();
    until_end(&mut run, file.run.until, &mut writer);
    writer.finish(Some(&run.frame()), &Ending::Finished).unwrap();
    Columns::read(&path)
}

#[test]
fn every_row_is_bitwise_identical_to_its_frame() {
    let (seen, columns) = run(SLIDING);
    assert_eq!((seen.len(), columns.get("time").len()), (201, 201));
    for (row, frame) in seen.iter().enumerate() {
        let bits = |name: &str, value: f64| {
            assert_eq!(columns.get(name)[row].to_bits(), value.to_bits(), "{name}, row {row}");
        };
        bits("time", frame.t);
        bits("kinetic_energy", frame.balance.kinetic);
        bits("potential_energy", frame.balance.potential);
        bits("total_energy", frame.balance.kinetic + frame.balance.potential);
        bits("contacts", frame.contacts as f64);
        assert_eq!(columns.vector("momentum", row), frame.balance.momentum);
        assert_eq!(columns.vector("angular_momentum", row), frame.balance.angular_momentum);
        assert_eq!(columns.vector("ball.position", row), frame.ball[0]);
        assert_eq!(columns.vector("ball.velocity", row), frame.ball[1]);
        assert_eq!(columns.vector("ball.angular_velocity", row), frame.spin);
        assert_eq!(columns.vector("corner.position", row), frame.slab.position);
        let near =
            |a: Vec3, b: Vec3| assert!((a - b).norm() <= 1e-12 * (1.0 + b.norm()), "{a} {b}");
        near(columns.vector("ball.force_mean", row), frame.forces[0]);
        near(columns.vector("corner.force_mean", row), frame.forces[1]);
    }
}

#[test]
fn forces_equal_the_change_of_momentum() {
    let (_, columns) = run(SLIDING);
    let (mass, dt, gravity) = (1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3, 1e-3, 9.81);
    let mut pushed = 0;
    for row in 1..201 {
        let change =
            columns.vector("ball.velocity", row) - columns.vector("ball.velocity", row - 1);
        let force = columns.vector("ball.force_mean", row);
        let expected = change * mass / dt + Vec3::new(0.0, 0.0, mass * gravity);
        // Differences of velocities of 2 m/s over a step of 1 ms lose three digits.
        assert!((force - expected).norm() < 1e-9 * (1.0 + expected.norm()), "row {row}");
        // It slides or rolls: the force stays within the Coulomb cone, and the contact is below it.
        let sideways = force.x.hypot(force.y);
        assert!(sideways <= 0.3 * force.z * (1.0 + 1e-6) + 1e-9, "row {row}: {force}");
        assert_eq!(force.z > 0.0, columns.get("ball.contacts")[row] > 0.0 && force.z > 0.0);
        pushed += usize::from(force.z > 0.0);
        // The force acts at the lowest point, so its moment about the centre has no z component.
        assert!(columns.vector("ball.torque_mean", row).z.abs() < 1e-6, "row {row}");
    }
    assert!(pushed > 150, "{pushed}");
}

#[test]
fn the_work_of_contacts_is_the_change_of_energy() {
    // With θ = 0.5, the work of gravity uses the mean velocity, as does the position update: no energy is lost elsewhere.
    let smooth = SLIDING
        .replace("friction = 0.3", "friction = 0")
        .replace("angular_velocity = [0, -5, 1]", "angular_velocity = [0, 0, 0]");
    for text in [SLIDING, &smooth] {
        let (seen, columns) = run(text);
        let total = columns.get("total_energy");
        for row in 1..seen.len() {
            let work = columns.get("ball.work")[row] + columns.get("corner.work")[row];
            let change = total[row] - total[0];
            // Lever arms are those at which the contacts acted. The remaining error is rounding, and that of the solver tolerance
            // of 1e-10 over 200 steps.
            assert!((work - change).abs() < 1e-9, "row {row}: {work} {change}");
        }
        // Friction and impact only dissipate energy; the impact dissipates that of the fall.
        let work = columns.get("ball.work");
        assert!(work.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9));
        assert!(*work.last().unwrap() < -0.5, "{:?}", work.last());
    }
}

const SPINNING: &str = "\
[[mechanism]]
name = \"top\"
[[mechanism.body]]
name = \"slab\"
mass = 2
inertia = [0.03, 0.05, 0.06]
[[mechanism.joint]]
name = \"flight\"
type = \"free\"
child = \"slab\"
start_position = [5, 0, 1]
start_angular_velocity = [1, 2, 3]
[[probe]]
name = \"point\"
body = \"top/slab\"
point = [0.4, 0.4, 0.1]
quantities = [\"position\", \"velocity\"]
[[probe]]
name = \"origin\"
body = \"top/slab\"
quantities = [\"position\"]
";

#[test]
fn a_point_moves_with_the_rotation_of_its_body() {
    let (seen, columns) = run(&format!("{SLIDING}{SPINNING}"));
    let length = Vec3::new(0.4, 0.4, 0.1).norm();
    for row in 1..seen.len() - 1 {
        // Central differences of the position give the velocity, up to h² times |ω|³ times the arm.
        let around = [row - 1, row + 1].map(|row| columns.vector("point.position", row));
        let slope = (around[1] - around[0]) / 2e-3;
        let velocity = columns.vector("point.velocity", row);
        assert!((slope - velocity).norm() < 1e-4, "row {row}: {slope} {velocity}");
        // The point stays at its distance from the origin of the body.
        let arm = columns.vector("point.position", row) - columns.vector("origin.position", row);
        assert!((arm.norm() - length).abs() < 1e-12, "row {row}");
    }
}

#[test]
fn rows_contain_the_maxima_since_the_previous_row() {
    let coarse = SLIDING.replace("output_every = \"1 ms\"", "output_every = \"7 ms\"");
    let (_, fine) = run(SLIDING);
    let (_, coarse) = run(&coarse);
    let rows = coarse.get("time").len();
    assert_eq!(rows, 1 + 28 + 1); // the start, every seventh step, and the end
    for name in ["sweeps", "residual", "penetration"] {
        let mut begin = 1;
        for row in 1..rows {
            let step = (coarse.get("time")[row] / 1e-3).round() as usize;
            let worst = fine.get(name)[begin..=step].iter().fold(0.0_f64, |a, b| a.max(*b));
            assert_eq!(coarse.get(name)[row], worst, "{name}, row {row}");
            begin = step + 1;
        }
    }
    assert_eq!(coarse.get("ball.work").last(), fine.get("ball.work").last());
}

/// A ball that hits the floor between two outputs, 20 ms apart.
const IMPACT: &str = "\
[run]
dt = \"1 ms\"
until = \"0.2 s\"
output_every = \"20 ms\"
frames = false
[solver]
tolerance = 1e-10
[materials.steel]
density = 7800
friction = 0.3
restitution = 0.5
[[body]]
name = \"floor\"
kind = \"fixed\"
shape = { type = \"half-space\" }
material = \"steel\"
[[body]]
name = \"hook\"
shape = { type = \"sphere\", radius = 0.1 }
material = \"steel\"
position = [0, 0, 0.25]
velocity = [0.5, 0, -1]
angular_velocity = [3, -8, 2]
[[probe]]
body = \"hook\"
quantities = [\"velocity\", \"angular_velocity\", \"force\", \"torque\", \"contacts\"]
";

#[test]
fn an_impact_between_two_outputs_is_recorded_with_its_impulse() {
    let columns = run_with(IMPACT, |run, until, writer| {
        run.until(until, writer).unwrap();
    });
    let rows = columns.get("time").len();
    assert_eq!(rows, 11);
    let (mass, dt) = (7800.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3, 1e-3);
    let inertia = 0.4 * mass * 0.01;
    let mut sums = [Vec3::zeros(); 2];
    let mut struck = Vec::new();
    for row in 1..rows {
        let time = columns.get("time")[row] - columns.get("time")[row - 1];
        let [force, impulse] =
            ["hook.force_mean", "hook.impulse"].map(|name| columns.vector(name, row));
        let max = columns.get("hook.force_max")[row];
        assert!((force * time - impulse).norm() <= 1e-12 * impulse.norm(), "row {row}");
        // A single step contains the whole impact.
        assert!(max * dt <= impulse.norm() * (1.0 + 1e-12), "row {row}");
        sums[0] += impulse;
        sums[1] += columns.vector("hook.angular_impulse", row);
        if impulse.norm() > 0.0 {
            assert_eq!(columns.get("hook.contacts")[row], 0.0, "it has left again, row {row}");
            assert!((max * dt - impulse.norm()).abs() < 1e-12 * impulse.norm(), "row {row}");
            struck.push(row);
        }
    }
    assert_eq!(struck.len(), 1, "{struck:?}");
    let change = |name: &str| columns.vector(name, rows - 1) - columns.vector(name, 0);
    // The momentum from the impulses and gravity, up to the rounding of 200 steps.
    let momentum = change("hook.velocity") * mass + Vec3::new(0.0, 0.0, mass * 9.81 * 0.2);
    assert!((sums[0] - momentum).norm() < 1e-12 * momentum.norm(), "{} {momentum}", sums[0]);
    let spin = change("hook.angular_velocity") * inertia;
    assert!((sums[1] - spin).norm() < 1e-12 * sums[0].norm(), "{} {spin}", sums[1]);
}

/// A pendulum in absolute coordinates that leans on an obstacle: at rest, all forces are known.
const LEANING: &str = "\
planar = true
gravity = [0, -10]
[run]
scheme = \"generalized-alpha\"
dt = \"1 ms\"
until = \"0.05 s\"
output_every = \"1 ms\"
frames = false
[materials.steel]
[[body]]
name = \"mass\"
shape = { type = \"disc\", radius = 0.05 }
material = \"steel\"
mass = 1
position = [\"sqrt(0.5)\", \"-sqrt(0.5)\"]
[[joint]]
name = \"pivot\"
type = \"ball\"
between = [\"world\", \"mass\"]
position = [0, 0]
[[point_contact]]
name = \"obstacle\"
point = { body = \"mass\" }
plane = { body = \"world\", position = [\"sqrt(0.5)\", 0], normal = \"x\" }
[[probe]]
joint = \"pivot\"
quantities = [\"multipliers\", \"force\"]
[[probe]]
point_contact = \"obstacle\"
quantities = [\"gap\", \"multipliers\"]
";

#[test]
fn multipliers_of_constraints_are_recorded() {
    let columns = run_with(LEANING, |run, until, writer| {
        run.until(until, writer).unwrap();
    });
    let (h, last) = (1e-3, 50);
    let at = |name: &str| columns.get(name)[last];
    // The obstacle carries 10 N, and the pivot balances it and the weight.
    assert!((at("obstacle.impulse_n") / h - 10.0).abs() < 1e-9);
    assert!((at("pivot.x.lambda") + at("pivot.x.impulse") / h + 10.0).abs() < 1e-9);
    assert!((at("pivot.y.lambda") + at("pivot.y.impulse") / h - 10.0).abs() < 1e-9);
    assert!((at("pivot.force_mean_x") + 10.0).abs() < 1e-9);
    assert!(at("obstacle.nu") > 0.0 && at("obstacle.gap").abs() < 1e-14);
    for name in ["obstacle.gap_velocity", "pivot.x.residual", "pivot.y.residual_velocity"] {
        assert!(at(name).abs() < 1e-12, "{name}: {:.1e}", at(name));
    }
    // Nothing has acted before the first step.
    assert_eq!(columns.get("obstacle.impulse_n")[0], 0.0);
    assert_eq!(columns.get("pivot.x.lambda")[0], 0.0);
}

#[test]
fn the_account_says_where_the_energy_went() {
    let text = SLIDING.replace("frames = false", "frames = false\naccount = true");
    let (_, columns) = run(&text);
    let total = columns.get("total_energy");
    let [impact, friction, rolling, other] =
        ["dissipated_impact", "dissipated_friction", "dissipated_rolling", "other_work"]
            .map(|name| columns.get(name));
    for row in 0..total.len() {
        let lost = impact[row] + friction[row] + rolling[row] - other[row];
        assert!((total[0] - total[row] - lost).abs() < 1e-12, "row {row}");
        // Moreau–Jean with θ = 0.5 loses nothing elsewhere; see the test of the work of contacts.
        assert!(other[row].abs() < 1e-9 && rolling[row] == 0.0, "row {row}: {}", other[row]);
    }
    let last = total.len() - 1;
    // The ball of 4.19 kg falls by 5 mm at 0.5 m/s, the slab of 16 kg by 1 mm: 0.73 J and 0.16 J.
    assert!((impact[last] - 0.89).abs() < 0.02, "{}", impact[last]);
    assert!(friction[last] > 1.0, "{}", friction[last]);
    // Two bodies come down onto the floor once and stay there.
    assert_eq!(columns.get("contact_onsets")[last], 2.0);
    assert_eq!(columns.get("touching_pairs")[last], 2.0);
    assert!(columns.get("contact_steps")[last] > 190.0);
}

#[test]
fn a_probe_of_a_pair_sees_only_its_contacts_and_inertia_balances_all_forces() {
    let probes = "\
[[probe]]
name = \"pair\"
body = \"ball\"
contact_with = \"floor\"
quantities = [\"force\", \"normal_force\", \"contacts\", \"inertial_force\"]
[[probe]]
name = \"apart\"
body = \"ball\"
contact_with = \"slab\"
quantities = [\"normal_force\", \"contacts\", \"work\"]
";
    let (seen, columns) = run(&format!("{SLIDING}{probes}"));
    let mass = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    for (row, frame) in seen.iter().enumerate().skip(1) {
        assert_eq!(columns.vector("pair.force_mean", row), columns.vector("ball.force_mean", row));
        let normal = columns.get("pair.normal_force_mean")[row];
        assert!((normal - frame.forces[0].z).abs() <= 1e-9 * normal.abs(), "row {row}");
        assert_eq!(columns.get("pair.contacts")[row], columns.get("ball.contacts")[row]);
        for name in ["apart.normal_force_max", "apart.contacts", "apart.work"] {
            assert_eq!(columns.get(name)[row], 0.0, "row {row}");
        }
        // m a = contact force + weight, up to the rounding of velocities over a step.
        let inertial = columns.vector("pair.inertial_force_mean", row);
        let expected = frame.forces[0] - Vec3::z() * 9.81 * mass;
        assert!((inertial - expected).norm() < 1e-8, "row {row}: {inertial} {expected}");
    }
}

#[test]
fn the_account_continues_after_a_checkpoint_as_if_there_had_been_none() {
    let text = SLIDING.replace("frames = false", "frames = false\naccount = true");
    let (_, whole) = run(&text);
    let file = SceneFile::parse(&text, ".").unwrap();
    let built = file.build().unwrap();
    let mut series = Series::new(&file, &built);
    let mut run = Simulation::new(file.build().unwrap().scene, file.scheme()).unwrap();
    let mut tally = Tally::default();
    series.step(&run.frame());
    for step in 1..=150_u64 {
        run.step().unwrap();
        series.step(&run.frame());
        if step == 60 {
            let kept = series.kept();
            series = Series::new(&file, &built);
            assert!(series.resume(step, &kept));
        }
    }
    let row = series.row(&run.frame(), &mut tally);
    let at = |name: &str| {
        let found = series.columns.iter().position(|c| c.name == name).unwrap();
        row[found]
    };
    for name in ["dissipated_impact", "dissipated_friction", "other_work", "contact_onsets"] {
        assert_eq!(at(name), whole.get(name)[150], "{name}");
    }
}
