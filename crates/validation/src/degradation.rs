//! Stones that break and wear: a press for single stones, and a bed under cyclic load.

use crate::scenes::rock;
use riprap::degradation::grading;
use riprap::grains::{Grading, SieveCurve, StoneGenerator, rain, seeded};
use riprap::prelude::*;
use riprap::scene::DegradationAccount;

/// A stone on a floor below a plate of 10 kg whose load grows at a rate [N/s]; without gravity. The stone is named `stone` and
/// its lowest point is at the height `bottom` [m] below its origin, its highest one at `top` [m] above it.
pub fn press(
    stone: Shape,
    [bottom, top]: [f64; 2],
    material: &Material,
    rate: f64,
    seed: u64,
) -> SceneBuilder {
    let steel = Material::new("steel").friction(0.4);
    let width = 4.0 * (bottom + top);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]).seed(seed).material(&steel);
    let floor = Shape::half_space([0.0, 0.0, 1.0]).expect("a unit normal");
    scene.add_fixed(floor, Pose::IDENTITY, &steel);
    let stone = BodyDescription::new(stone, material).named("stone").at([0.0, 0.0, bottom]);
    scene.add(stone, material);
    let mut machine = Mechanism::new("press");
    let mass = MassProperties::principal(10.0, [0.0; 3], [1.0; 3]);
    let place = [0.0, 0.0, bottom + top + 0.05 * width];
    let plate = machine.prismatic(GROUND, Axis(Vec3::z()), place, mass);
    let shape = Shape::cuboid([width, width, 0.1 * width]).expect("positive");
    machine.attach(plate, shape, Pose::IDENTITY, "steel");
    let coordinate = machine.coordinate(plate, 0);
    machine.actuate("load", coordinate, Signal::new(move |at| -rate * at.t));
    scene.add_mechanism(machine);
    scene
}

/// Presses a stone until it is about to break, with steps of `dt` [s]: the load on it [N]. `None` if it survives `steps` steps.
pub fn breaking_load(run: &mut Simulation, steps: usize) -> Option<f64> {
    let stone = run.scene().body("stone").expect("the stone of the press");
    for _ in 0..steps {
        run.step().expect("a press cannot fail");
        if !run.state().degradation.breaks.is_empty() {
            let frame = run.frame();
            let on_stone = frame.contacts().filter(|c| c.bodies.contains(&stone));
            return Some(on_stone.map(|c| c.normal.dot(&c.force)).sum::<f64>() / 2.0);
        }
    }
    None
}

/// A bed of stones in a box under a plate whose load swings between two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CyclicBed {
    /// Whether the stones are polygons in a planar box; otherwise ballast stones of 31.5–50 mm.
    pub planar: bool,
    /// Number of stones.
    pub stones: usize,
    /// Inner width of the box [m].
    pub width: f64,
    /// Number of load cycles.
    pub cycles: usize,
    /// Duration of a cycle [s].
    pub period: f64,
    /// Smallest and largest load [N].
    pub load: [f64; 2],
    /// When the stones break.
    pub fragmentation: Option<Fragmentation>,
    /// How the stones wear.
    pub wear: Option<Wear>,
    /// Seed of the stones and their strengths.
    pub seed: u64,
}

/// What a cyclic load has done to a bed.
#[derive(Clone, Debug)]
pub struct CyclicRecord {
    /// Settlement of the plate after each cycle, since the end of the first loading [m].
    pub settlement: Vec<f64>,
    /// Sieve curve before the load.
    pub before: SieveCurve,
    /// Sieve curve at the end.
    pub after: SieveCurve,
    /// Breakage index [–]; see [`SieveCurve::breakage`].
    pub breakage: f64,
    /// Counts and masses.
    pub account: DegradationAccount,
    /// Relative change of the mass of bodies, dust and fines together [–].
    pub mass_change: f64,
    /// Number of stones and pieces at the end.
    pub stones: usize,
    /// Summary over all steps.
    pub report: RunReport,
}

/// Time step [s].
const DT: f64 = 5e-4;
/// Friction of stones and walls [–].
const FRICTION: f64 = 0.5;
/// Thickness of planar stones [m].
const THICKNESS: f64 = 0.1;

impl CyclicBed {
    /// A planar bed of polygons of about 3 cm.
    pub fn polygons(stones: usize, seed: u64) -> CyclicBed {
        // About as high as wide.
        let width = 0.035 * (stones as f64).sqrt();
        CyclicBed {
            planar: true,
            stones,
            width,
            cycles: 10,
            period: 0.1,
            load: [100.0 * width / 0.5, 2000.0 * width / 0.5],
            fragmentation: None,
            wear: None,
            seed,
        }
    }

    /// A bed of ballast stones.
    pub fn ballast(stones: usize, seed: u64) -> CyclicBed {
        let width = 0.055 * (stones as f64).cbrt();
        let area = width * width;
        CyclicBed {
            planar: false,
            width,
            load: [5e3 * area, 1e5 * area],
            ..CyclicBed::polygons(stones, seed)
        }
    }

    /// Pours the stones, lets them settle unbroken, and loads them.
    pub fn run(&self) -> CyclicRecord {
        let material = rock(FRICTION, 0.0);
        let shapes = self.shapes();
        let (poses, top) = self.settled(&shapes, &material);
        let material = Material { fragmentation: self.fragmentation, wear: self.wear, ..material };
        let mut scene = self.walls();
        for (shape, pose) in shapes.iter().zip(poses) {
            let mut body = BodyDescription::new(shape.clone(), &material);
            body.pose = pose;
            scene.add(body, &material);
        }
        scene.add_mechanism(self.plate(top));
        scene.accept_overlap(0.02);
        let mut run = crate::scenes::start_corrected(&scene, DT, 1e-4, true);
        let smallest = self.fragmentation.map_or(1e-3, |f| f.smallest);
        let (before, mass) = (grading(run.scene(), run.state()), run.scene().free_mass());
        // The first loading compacts the bed.
        let height = |run: &Simulation| run.state().mechanisms[0].q[0];
        let advance = |run: &mut Simulation, t: f64| {
            run.until(t, &mut ()).expect("stones cannot fail");
        };
        advance(&mut run, self.period);
        let start = height(&run);
        let settlement = (1..=self.cycles)
            .map(|k| {
                advance(&mut run, (k + 1) as f64 * self.period);
                start - height(&run)
            })
            .collect();
        let account = run.state().degradation.account;
        let after = grading(run.scene(), run.state());
        let total = run.scene().free_mass() + account.dust.mass + account.worn.mass;
        CyclicRecord {
            settlement,
            breakage: before.breakage(&after, smallest),
            before,
            after,
            account,
            mass_change: total / mass - 1.0,
            stones: run.scene().bodies().n_movable(),
            report: run.report(),
        }
    }

    /// The shapes of the stones.
    fn shapes(&self) -> Vec<Shape> {
        let mut rng = seeded(self.seed);
        if !self.planar {
            let grading = Grading::named("EN 13450 31.5-50").expect("a known name");
            let sizes = grading.sample_many(self.stones, &mut rng);
            let stone = |size: &f64| {
                let stone = StoneGenerator::default().generate(*size, &mut rng).expect("a stone");
                Shape::Polyhedron(std::sync::Arc::new(stone))
            };
            return sizes.iter().map(stone).collect();
        }
        let draw = |rng: &mut riprap::grains::Pcg64| {
            riprap::grains::pick(1 << 20, rng) as f64 / (1 << 20) as f64
        };
        (0..self.stones)
            .map(|_| {
                let radius = 0.012 + 0.008 * draw(&mut rng);
                let n = 5 + riprap::grains::pick(4, &mut rng);
                let corner = |k: usize, r: f64| {
                    let angle = std::f64::consts::TAU * (k as f64 + 0.5 * r) / n as f64;
                    let r = radius * (0.85 + 0.15 * r);
                    [r * angle.cos(), r * angle.sin()]
                };
                let corners: Vec<[f64; 2]> = (0..n).map(|k| corner(k, draw(&mut rng))).collect();
                Shape::polygon(&corners, THICKNESS).expect("a polygon")
            })
            .collect()
    }

    /// The box.
    fn walls(&self) -> SceneBuilder {
        let steel = Material::new("steel").friction(FRICTION);
        let half = 0.5 * self.width;
        let mut scene = Scene::builder();
        scene.seed(self.seed).material(&steel);
        let mut wall = |normal: [f64; 3], at: [f64; 3]| {
            let shape = Shape::half_space(normal).expect("a unit normal");
            scene.add_fixed(shape, Pose::at(at), &steel);
        };
        wall([1.0, 0.0, 0.0], [-half, 0.0, 0.0]);
        wall([-1.0, 0.0, 0.0], [half, 0.0, 0.0]);
        wall(if self.planar { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] }, [0.0; 3]);
        if !self.planar {
            wall([0.0, 1.0, 0.0], [0.0, -half, 0.0]);
            wall([0.0, -1.0, 0.0], [0.0, half, 0.0]);
        }
        if self.planar {
            scene.planar();
        }
        scene
    }

    /// Poses of the shapes' frames after they have come to rest, and the height of the highest corner [m].
    fn settled(&self, shapes: &[Shape], material: &Material) -> (Vec<Pose>, f64) {
        let half = 0.5 * self.width;
        let radius = |shape: &Shape| match shape {
            Shape::Polyhedron(p) => p.outer_radius(),
            Shape::Polygon(p) => p.outer_radius(),
            _ => 0.0,
        };
        let radii: Vec<f64> = shapes.iter().map(radius).collect();
        let poses: Vec<Pose> = if self.planar {
            // Rows upwards, each stone in a cell of its own.
            let cell = 2.05 * radii.iter().copied().fold(0.0, f64::max);
            let n = ((self.width / cell) as usize).max(1);
            let at = |k: usize| {
                [(k % n) as f64 * cell + 0.5 * cell - half, (k / n) as f64 * cell + 0.5 * cell]
            };
            (0..shapes.len()).map(at).map(|[x, y]| Pose::at([x, y, 0.0])).collect()
        } else {
            let mut rng = seeded(self.seed + 1);
            rain(&radii, [-half, -half, 0.0], [half, half], &mut rng).expect("they fit")
        };
        let mut scene = self.walls();
        let mut bodies = Vec::new();
        for (shape, pose) in shapes.iter().zip(poses) {
            let mut body = BodyDescription::new(shape.clone(), material);
            body.pose = pose;
            bodies.push(scene.add(body, material));
        }
        let mut run = crate::scenes::start_corrected(&scene, DT, 1e-3, true);
        run.drag(2.0).until(0.8, &mut ()).expect("stones cannot fail");
        let poses: Vec<Pose> =
            bodies.iter().map(|b| run.scene().shape_pose(run.state(), *b)).collect();
        let height = |shape: &Shape, pose: &Pose| {
            let highest = |points: &mut dyn Iterator<Item = Vec3>| {
                let up = |p: Vec3| if self.planar { pose.point(p).y } else { pose.point(p).z };
                points.map(up).fold(0.0, f64::max)
            };
            match shape {
                Shape::Polyhedron(p) => highest(&mut p.vertices().iter().copied()),
                Shape::Polygon(p) => {
                    highest(&mut p.vertices().iter().map(|v| Vec3::new(v[0], v[1], 0.0)))
                }
                _ => 0.0,
            }
        };
        let top = shapes.iter().zip(&poses).map(|(s, p)| height(s, p)).fold(0.0, f64::max);
        (poses, top)
    }

    /// The plate, just above the stones.
    fn plate(&self, top: f64) -> Mechanism {
        let mut machine = Mechanism::new("press");
        let (width, thickness) = (0.97 * self.width, 0.1 * self.width);
        let mass = MassProperties::principal(0.02 * self.load[0], [0.0; 3], [1.0; 3]);
        let up = if self.planar { Vec3::y() } else { Vec3::z() };
        let place = up * (top + 0.5 * thickness + 1e-4);
        let plate = machine.prismatic(GROUND, Axis(up), place.into(), mass);
        let shape = if self.planar {
            let (x, y) = (0.5 * width, 0.5 * thickness);
            Shape::polygon(&[[-x, -y], [x, -y], [x, y], [-x, y]], THICKNESS)
        } else {
            Shape::cuboid([width, width, thickness])
        };
        machine.attach(plate, shape.expect("positive"), Pose::IDENTITY, "steel");
        let (period, [low, high]) = (self.period, self.load);
        let load = move |t: f64| {
            let swing = 0.5 - 0.5 * (std::f64::consts::TAU * t / period).cos();
            low + (high - low) * swing
        };
        machine.actuate("load", machine.coordinate(plate, 0), Signal::new(move |at| -load(at.t)));
        machine
    }
}
