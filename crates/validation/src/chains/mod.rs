//! A particle on the ground, a block on a slope, and pendulums of balls on ropes: the scenes of the planar paper on cone
//! complementarity and granular chains.

mod record;

pub use record::{Record, Touch};

use riprap::prelude::*;
use riprap::scheme::Scheme;

/// Acceleration of gravity [m/s²].
pub const G: f64 = 9.81;

/// How contacts are treated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Cone complementarity.
    Cone,
    /// The same steps with Coulomb's law.
    Coulomb,
    /// Moreau–Jean.
    MoreauJean,
    /// Soft contact with linear springs and the dampers of [`overdamped`].
    Penalty {
        /// Stiffness of a contact [N/m].
        stiffness: f64,
    },
}

impl Method {
    /// Name in tables and figures.
    pub fn name(self) -> String {
        match self {
            Method::Cone => "cone complementarity".into(),
            Method::Coulomb => "same steps, Coulomb".into(),
            Method::MoreauJean => "Moreau–Jean".into(),
            Method::Penalty { stiffness } => format!("penalty, {stiffness:.0e} N/m"),
        }
    }

    /// The scheme with a step `h` [s], solved to rounding level.
    pub fn scheme(self, h: f64) -> Box<dyn Scheme> {
        let mut solver = GaussSeidel::tolerance(1e-12);
        solver.options.max_sweeps = 200_000;
        match self {
            Method::Cone => Box::new(ConeComplementarity::new(h).solver(solver)),
            Method::Coulomb => {
                let scheme = ConeComplementarity::new(h).law(FrictionLaw::Coulomb);
                Box::new(scheme.solver(solver))
            }
            Method::MoreauJean => Box::new(MoreauJean::new(h).solver(solver)),
            Method::Penalty { stiffness } => {
                let mut scheme = Penalty::new(h).stiffness(stiffness).solver(solver);
                scheme.law.damping = Some(overdamped(stiffness));
                Box::new(scheme)
            }
        }
    }
}

/// Damping of a contact between balls of 1 kg for a restitution that vanishes as the stiffness rises [N s/m]: `ζ` times the critical
/// damping gives a restitution of `1/(4 ζ²)`, here `1/400 √(10⁴ N/m / k)`.
pub fn overdamped(stiffness: f64) -> f64 {
    let zeta = 10.0 * (stiffness / 1e4).powf(0.25);
    2.0 * zeta * (0.5 * stiffness).sqrt()
}

/// A particle that falls onto the ground with a horizontal velocity: it does not rotate, does not rebound, and slides until
/// friction has stopped it.
#[derive(Clone, Copy, Debug)]
pub struct Particle {
    /// Initial height of its lowest point [m].
    pub height: f64,
    /// Initial horizontal velocity [m/s].
    pub speed: f64,
    /// Coefficient of friction [–].
    pub friction: f64,
}

/// The particle of the reference.
pub const PARTICLE: Particle = Particle { height: 1.0, speed: 2.0, friction: 0.3 };

/// Radius of the particle [m]; it does not matter.
const POINT: f64 = 0.1;

impl Particle {
    /// The scene; its body is called `particle`.
    pub fn scene(&self) -> Scene {
        let mut scene = Scene::builder();
        let ground = Material::new("ground").friction(self.friction);
        scene.planar().gravity([0.0, -G, 0.0]);
        scene.add_fixed(plane([0.0, 1.0, 0.0]), Pose::IDENTITY, &ground);
        let body = BodyDescription::new(disc(POINT), &ground)
            .named("particle")
            .at([0.0, POINT + self.height, 0.0])
            .velocity([self.speed, 0.0, 0.0])
            .mass(1.0)
            .locked(Locks([false, false, true, true, true, true]));
        scene.add(body, &ground);
        scene.build().expect("a standard scene is valid")
    }

    /// Position x and height [m] in a state of the scene.
    pub fn position(scene: &Scene, state: &State) -> [f64; 2] {
        let body = scene.body("particle").expect("it is in the scene");
        let at = state.q[scene.slot(body)].position;
        [at.x, at.y - POINT]
    }

    /// Time of the impact [s].
    pub fn impact(&self) -> f64 {
        (2.0 * self.height / G).sqrt()
    }

    /// Horizontal velocity after the impact [m/s]: friction takes `μ` times the velocity of the fall.
    pub fn speed_after(&self) -> f64 {
        (self.speed - self.friction * G * self.impact()).max(0.0)
    }

    /// Time at which it stops [s].
    pub fn stop(&self) -> f64 {
        self.impact() + self.speed_after() / (self.friction * G)
    }

    /// Exact position x and height at a time [m].
    pub fn exact(&self, t: f64) -> [f64; 2] {
        let fall = self.impact();
        if t < fall {
            return [self.speed * t, self.height - 0.5 * G * t * t];
        }
        let slide = t.min(self.stop()) - fall;
        let x = self.speed * fall + (self.speed_after() - 0.5 * self.friction * G * slide) * slide;
        [x, 0.0]
    }
}

/// A block that slides down a slope from rest.
#[derive(Clone, Copy, Debug)]
pub struct Slope {
    /// Angle of the slope [rad].
    pub angle: f64,
    /// Coefficient of friction [–].
    pub friction: f64,
    /// Whether the scene is planar.
    pub planar: bool,
}

impl Slope {
    /// The scene, in axes along and across the slope; its body is called `block`.
    pub fn scene(&self) -> Scene {
        let mut scene = Scene::builder();
        let rock = Material::new("rock").density(1000.0).friction(self.friction);
        let (along, across) = (G * self.angle.sin(), -G * self.angle.cos());
        let shape = if self.planar {
            scene.planar();
            Shape::polygon(&[[-0.1, 0.0], [0.1, 0.0], [0.1, 0.05], [-0.1, 0.05]], 1.0)
        } else {
            Shape::cuboid([0.2, 0.05, 0.2])
        };
        scene.gravity([along, across, 0.0]);
        scene.add_fixed(plane([0.0, 1.0, 0.0]), Pose::IDENTITY, &rock);
        let base = if self.planar { 0.0 } else { 0.025 };
        let shape = shape.expect("a standard shape is valid");
        let body = BodyDescription::new(shape, &rock).named("block").at([0.0, base, 0.0]);
        scene.add(body, &rock);
        scene.build().expect("a standard scene is valid")
    }

    /// Height of the centre of mass above that of a block at rest [m], and velocity along the slope [m/s].
    pub fn lift(scene: &Scene, state: &State) -> [f64; 2] {
        let body = scene.body("block").expect("it is in the scene");
        let slot = scene.slot(body);
        [state.q[slot].position.y - 0.025, state.v[slot].linear.x]
    }

    /// Acceleration along the slope [m/s²].
    pub fn acceleration(&self) -> f64 {
        G * (self.angle.sin() - self.friction * self.angle.cos())
    }
}

/// Two pendulums, each a straight chain of equal balls on ropes, released at rest from an angle outward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pendulums {
    /// Balls of each pendulum.
    pub balls: usize,
    /// Radius of a ball [m].
    pub radius: f64,
    /// Length of each rope, from centre to centre [m].
    pub rope: f64,
    /// Half the distance of the anchors, which are at height 0 [m].
    pub half_distance: f64,
    /// Initial angles of the left and the right chain from the vertical, outward [rad].
    pub angles: [f64; 2],
    /// Coefficient of friction [–].
    pub friction: f64,
    /// Height of the ground [m].
    pub ground: f64,
}

/// Two pendulums of one ball each.
pub const TWO_BALLS: Pendulums = Pendulums {
    balls: 1,
    radius: 0.1,
    rope: 1.0,
    half_distance: 0.1,
    angles: [std::f64::consts::FRAC_PI_4; 2],
    friction: 0.3,
    ground: -3.0,
};

/// Two pendulums of ten balls each.
pub const CHAINS: Pendulums =
    Pendulums { balls: 10, radius: 0.05, rope: 0.25, half_distance: 0.0625, ..TWO_BALLS };

impl Pendulums {
    /// Centre of ball `k`, from 1: those of the left pendulum from the ceiling down, then those of the right one [m].
    pub fn start(&self, k: usize) -> [f64; 2] {
        let (side, angle) =
            if k <= self.balls { (-1.0, self.angles[0]) } else { (1.0, self.angles[1]) };
        let along = self.rope * ((k - 1) % self.balls + 1) as f64;
        [side * (self.half_distance + along * angle.sin()), -along * angle.cos()]
    }

    /// The scene; the balls of 1 kg are called `ball-1`, `ball-2` and so on, and rope k holds ball k.
    pub fn scene(&self) -> Scene {
        let mut scene = Scene::builder();
        let steel = Material::new("steel").friction(self.friction);
        scene.planar().gravity([0.0, -G, 0.0]);
        let ground = Pose::at([0.0, self.ground, 0.0]);
        scene.add_fixed(plane([0.0, 1.0, 0.0]), ground, &steel);
        let mut last = (On::World, Vec3::zeros());
        for k in 1..=2 * self.balls {
            let [x, y] = self.start(k);
            let ball = BodyDescription::new(disc(self.radius), &steel)
                .named(&format!("ball-{k}"))
                .at([x, y, 0.0])
                .mass(1.0);
            let ball: On = scene.add(ball, &steel).into();
            if k % self.balls == 1 % self.balls {
                let side = if k <= self.balls { -1.0 } else { 1.0 };
                last = (On::World, Vec3::new(side * self.half_distance, 0.0, 0.0));
            }
            let path = vec![last, (ball, Vec3::zeros())];
            scene.add_rope(Rope::new(&format!("rope-{k}"), path).length(self.rope));
            last = (ball, Vec3::zeros());
        }
        scene.build().expect("a standard scene is valid")
    }

    /// Potential energy of both chains hanging straight down, zero at the ceiling [J].
    pub fn hanging_energy(&self) -> f64 {
        let n = self.balls as f64;
        -2.0 * G * self.rope * n * (n + 1.0) / 2.0
    }

    /// Energy above the lowest position initially, of all balls [J].
    pub fn initial_energy(&self) -> f64 {
        let [left, right] = self.angles;
        -0.5 * self.hanging_energy() * (2.0 - left.cos() - right.cos())
    }

    /// Time at which a left pendulum of one ball reaches its lowest point [s]: a quarter of its period, `K(sin θ/2) √(l/g)` with
    /// the complete elliptic integral `K` by the arithmetic–geometric mean.
    pub fn time_to_bottom(&self) -> f64 {
        let (mut a, mut b) = (1.0, (0.5 * self.angles[0]).cos());
        for _ in 0..40 {
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
        }
        0.5 * std::f64::consts::PI / a * (self.rope / G).sqrt()
    }

    /// Speed of a left pendulum of one ball at its lowest point [m/s].
    pub fn speed_at_bottom(&self) -> f64 {
        (2.0 * G * self.rope * (1.0 - self.angles[0].cos())).sqrt()
    }
}

fn plane(normal: [f64; 3]) -> Shape {
    Shape::half_space(normal).expect("a unit normal")
}

fn disc(radius: f64) -> Shape {
    Shape::disc(radius, 1.0).expect("a positive radius")
}
