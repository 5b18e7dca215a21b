//! Which stiffness a step resolves, and which step a stiffness allows.

use super::law::{Damping, Laws, Normal, Touch, effective_radius};
use super::restitution::linear_duration;
use super::{Integrator, NormalLaw, PenaltyLaw};
use crate::detect::{Collider, Geometry};
use crate::scene::Scene;

/// Steps that a collision of the lightest pair takes with the default stiffness.
pub const DEFAULT_STEPS: f64 = 25.0;
/// Steps per collision below which its course is poorly resolved.
pub const FEWEST_STEPS: f64 = 15.0;
/// Contacts of one body that the stability limit allows for: the number of equal spheres that touch
/// a sphere.
const NEIGHBOURS: usize = 12;

/// How well a step resolves the collision for which it is longest.
#[derive(Clone, Debug, PartialEq)]
pub struct PenaltyLimits {
    /// The two bodies.
    pub bodies: [String; 2],
    /// Stiffness of their contact [N/m]; under Hertz's law that at the largest overlap of a
    /// collision with [`PenaltyLimits::velocity`].
    pub stiffness: f64,
    /// Whether the stiffness is the default of the scheme.
    pub is_default: bool,
    /// Impact velocity [m/s] under Hertz's law: that of a fall through the scene.
    pub velocity: f64,
    /// Duration of their collision [s].
    pub duration: f64,
    /// Steps per collision.
    pub steps: f64,
    /// Largest stable step [s].
    pub largest_dt: f64,
    /// Contacts per body that it allows for.
    pub contacts: usize,
}

/// A body that can be touched: its inverse mass [1/kg] and radius [m].
#[derive(Clone, Copy)]
struct Side {
    body: usize,
    inverse_mass: f64,
    radius: f64,
}

/// Mass of a body by itself [kg]; infinite if it is fixed or driven.
fn mass_of(scene: &Scene, body: usize) -> f64 {
    let bodies = scene.bodies();
    if bodies.movable[body] {
        return bodies.mass[body];
    }
    let mass = match (bodies.carried[body], scene.node_at(body)) {
        (Some(c), _) => scene.mechanisms()[c.mechanism.index()].mass(c.link),
        (_, Some((flexible, node))) => scene.flexible()[flexible].node_mass(node),
        _ => f64::INFINITY,
    };
    // A body without mass moves with those that it carries.
    if mass > 0.0 { mass } else { f64::INFINITY }
}

/// Mass [kg] and size [m] of a body, or of the smallest piece into which it can break: a stiffness that depends on them
/// stays the same when it does.
fn smallest_piece(scene: &Scene, collider: &Collider) -> (f64, f64) {
    let body = collider.body as usize;
    let (mass, size) = (mass_of(scene, body), scene.bodies().size[body]);
    let law = scene.materials()[collider.material as usize].fragmentation;
    match law.filter(|law| scene.can_degrade(body) && law.smallest < size) {
        Some(law) => {
            let dimension = if scene.is_planar() { 2 } else { 3 };
            (mass * (law.smallest / size).powi(dimension), law.smallest)
        }
        None => (mass, size),
    }
}

/// The two lightest bodies of each material; a body that can break counts as its smallest piece.
fn lightest(scene: &Scene) -> Vec<[Option<Side>; 2]> {
    let mut found = vec![[None::<Side>; 2]; scene.materials().len()];
    for collider in scene.colliders() {
        let body = collider.body as usize;
        let (mass, size) = smallest_piece(scene, collider);
        let radius = match collider.geometry {
            Geometry::Ball(radius) => radius,
            Geometry::HalfSpace(_) => f64::INFINITY,
            _ => 0.5 * size,
        };
        let side = Side { body, inverse_mass: 1.0 / mass, radius };
        let [first, second] = &mut found[collider.material as usize];
        if first.is_some_and(|f| f.body == body) || second.is_some_and(|s| s.body == body) {
            continue;
        }
        let lighter = |than: &Option<Side>| than.is_none_or(|t| side.inverse_mass > t.inverse_mass);
        if lighter(first) {
            *second = first.replace(side);
        } else if lighter(second) {
            *second = Some(side);
        }
    }
    found
}

/// The lightest pair of each two materials and of each point contact, with the index of its law.
fn pairs(scene: &Scene) -> Vec<(u32, [Side; 2])> {
    let (lightest, mut pairs) = (lightest(scene), Vec::new());
    let n = lightest.len();
    for a in 0..n {
        for b in a..n {
            let other = if a == b { lightest[b][1] } else { lightest[b][0] };
            if let (Some(first), Some(second)) = (lightest[a][0], other) {
                pairs.push(((a * n + b) as u32, [first, second]));
            }
        }
    }
    for (k, point) in scene.points.iter().enumerate() {
        let sides = point.bodies.map(|b| {
            let body = b as usize;
            let radius = 0.5 * scene.bodies().size[body];
            Side { body, inverse_mass: 1.0 / mass_of(scene, body), radius }
        });
        pairs.push(((n * n + k) as u32, sides));
    }
    pairs.retain(|(_, [a, b])| a.inverse_mass + b.inverse_mass > 0.0);
    pairs
}

/// The default stiffness [N/m]: a collision of the lightest pair without damping lasts
/// [`DEFAULT_STEPS`] steps, `k = m (π/(25 h))²`. Stones that break count as their smallest pieces.
pub fn default_stiffness(scene: &Scene, dt: f64) -> f64 {
    let inverse = |(_, [a, b]): &(u32, [Side; 2])| a.inverse_mass + b.inverse_mass;
    let largest = pairs(scene).iter().map(inverse).fold(0.0, f64::max);
    let rate = std::f64::consts::PI / (DEFAULT_STEPS * dt);
    if largest > 0.0 { rate * rate / largest } else { rate * rate }
}

/// The impact velocity for which a restitution holds under Hertz's law [m/s]: given, or that of a
/// fall by half a grain or the largest initial velocity, whichever is larger; 1 m/s if both vanish.
pub fn reference_velocity(law: &PenaltyLaw, scene: &Scene) -> f64 {
    let fall = (scene.gravity().norm() * scene.grain_size()).sqrt();
    let speed = law.impact_velocity.unwrap_or_else(|| fall.max(fastest(scene)));
    if speed > 0.0 { speed } else { 1.0 }
}

/// Largest initial velocity of a body [m/s].
fn fastest(scene: &Scene) -> f64 {
    scene.initial.v.iter().map(|v| v.linear.norm()).fold(0.0, f64::max)
}

/// Velocity of a fall through the whole scene, in addition to the largest initial velocity [m/s].
fn fall_velocity(scene: &Scene) -> f64 {
    let depths = || scene.initial.q.iter().map(|q| scene.gravity().dot(&q.position));
    let range = depths().fold(f64::NEG_INFINITY, f64::max) - depths().fold(f64::INFINITY, f64::min);
    (fastest(scene).powi(2) + 2.0 * range.max(0.0)).sqrt()
}

/// The pair for which the step is longest relative to its limit; `None` if nothing can touch.
pub fn limits(
    law: &PenaltyLaw,
    integrator: Integrator,
    laws: &Laws,
    scene: &Scene,
    dt: f64,
) -> Option<PenaltyLimits> {
    let others = scene.colliders().len() + 2 * scene.points.len();
    let contacts = others.saturating_sub(1).clamp(1, NEIGHBOURS);
    let crowd = crowding(contacts, law.tangential_ratio);
    let fall = fall_velocity(scene).max(reference_velocity(law, scene));
    let of_pair = |(pair, [a, b]): (u32, [Side; 2])| {
        let radius = effective_radius(a.radius, b.radius);
        let inverse_mass = a.inverse_mass + b.inverse_mass;
        let touch = Touch { pair, depth: 0.0, inverse_mass, radius, share: 1.0 };
        let (depth, velocity, duration) = collision(laws, &touch, fall);
        let c = laws.coefficients(&touch, depth);
        let frequency = (crowd * c.stiffness * inverse_mass).sqrt();
        let rate = crowd * c.damping * inverse_mass;
        let bound = integrator.stability();
        PenaltyLimits {
            bodies: [a, b].map(|side| scene.bodies().names[side.body].clone()),
            stiffness: c.stiffness,
            is_default: law.normal == NormalLaw::Linear && is_default(law, scene, pair),
            velocity,
            duration,
            steps: duration / dt,
            largest_dt: (bound / frequency).min(2.0 / rate),
            contacts,
        }
    };
    pairs(scene).into_iter().map(of_pair).min_by(|a, b| a.largest_dt.total_cmp(&b.largest_dt))
}

/// Whether no stiffness is given for a pair.
fn is_default(law: &PenaltyLaw, scene: &Scene, pair: u32) -> bool {
    let all = scene.pairs.all();
    let given = match all.get(pair as usize) {
        Some(pair) => pair.stiffness,
        None => scene.points.get(pair as usize - all.len()).and_then(|p| p.law.stiffness),
    };
    given.or(law.stiffness).is_none()
}

/// Whether the stiffness of some pair follows from the bodies of the scene.
pub fn any_default(law: &PenaltyLaw, scene: &Scene) -> bool {
    let n = scene.materials().len();
    let used: Vec<bool> = (0..n).map(|m| scene.uses_material(m)).collect();
    let pairs = (0..n * n).filter(|k| used[k / n] && used[k % n]);
    let points = (n * n)..(n * n + scene.points.len());
    law.normal == NormalLaw::Linear
        && pairs.chain(points).any(|pair| is_default(law, scene, pair as u32))
}

/// Overlap at which a collision is stiffest [m], its impact velocity [m/s], and its duration [s].
fn collision(laws: &Laws, touch: &Touch, velocity: f64) -> (f64, f64, f64) {
    let mass = 1.0 / touch.inverse_mass;
    match laws.pair(touch.pair).normal {
        Normal::Linear { stiffness, damping } => {
            let ratio = match damping {
                Damping::Given(c) => (0.5 * c / (stiffness * mass).sqrt()).min(1.0),
                Damping::Relative(ratio) => ratio,
            };
            (0.0, 0.0, linear_duration(ratio) * (mass / stiffness).sqrt())
        }
        Normal::Hertz { modulus, .. } => {
            // ½ m v² = 8/15 E* √R δ^(5/2), t_c = 2.87 (m²/(R E*² v))^(1/5) with m² and R as below.
            let rho = 4.0 / 3.0 * modulus * touch.radius.sqrt() / mass;
            let depth = (1.25 * velocity * velocity / rho).powf(0.4);
            (depth, velocity, HERTZ_DURATION * depth / velocity)
        }
    }
}

/// Duration of an elastic Hertz collision times velocity over largest overlap [–]:
/// `4√π Γ(2/5)/(5 Γ(9/10))`.
const HERTZ_DURATION: f64 = 2.943_275_184_324_704;

/// How much stiffer a body is that many others touch: bound of the largest eigenvalue of
/// `M⁻¹ K` relative to `k/m` of one pair [–].
///
/// The stiffness matrix of pairwise springs is at most twice its block diagonal. The block of a
/// sphere with `z` evenly distributed contacts is `z/3 (k + 2k_t)/m` in translation and
/// `z/3 · 5k_t/m` in rotation; one contact alone has `k/m` and `7/2 k_t/m`.
pub fn crowding(contacts: usize, ratio: f64) -> f64 {
    let alone = (3.5 * ratio).max(1.0);
    alone.max(contacts as f64 / 3.0 * (1.0 + 2.0 * ratio).max(5.0 * ratio))
}

impl Integrator {
    /// Largest stable `ω h` of an undamped oscillation [–].
    pub fn stability(self) -> f64 {
        match self {
            Integrator::Verlet => 2.0,
            Integrator::RungeKutta => 8f64.sqrt(),
        }
    }
}
