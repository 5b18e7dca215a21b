//! The forces of one contact point: normal spring and damper, tangential spring and slider.

use super::restitution::{hertz_damping, linear_ratio};
use super::{NormalLaw, PenaltyError, PenaltyLaw};
use crate::detect::{ContactPoint, Geometry};
use crate::math::length2;
use crate::scene::{PairLaw, Scene};

/// Normal law of a pair with all defaults resolved.
#[derive(Clone, Copy, Debug)]
pub enum Normal {
    /// `F = k δ + c δ̇`.
    Linear {
        /// `k` [N/m].
        stiffness: f64,
        /// How `c` is found.
        damping: Damping,
    },
    /// `F = 4/3 E* √R (δ^(3/2) + 3/2 A √δ δ̇)`.
    Hertz {
        /// `E*` [Pa].
        modulus: f64,
        /// How `A` is found.
        damping: Damping,
        /// Impact velocity for which a restitution holds [m/s].
        velocity: f64,
    },
}

/// The damping of a law: given, or relative to the masses that meet.
#[derive(Clone, Copy, Debug)]
pub enum Damping {
    /// `c` [N s/m] of the linear law, `A` [s] of Hertz's.
    Given(f64),
    /// `ζ` of the linear law, `β` of Hertz's [–].
    Relative(f64),
}

/// Normal law and friction of a pair.
#[derive(Clone, Copy, Debug)]
pub struct PairForce {
    /// Normal law.
    pub normal: Normal,
    /// Coefficient of friction [–].
    pub friction: f64,
}

/// The laws of all pairs of a scene.
#[derive(Debug, Default)]
pub struct Laws {
    pairs: Vec<PairForce>,
    n_materials: usize,
    /// `k_t/k_n` [–].
    ratio: f64,
}

/// Geometry and inertia of a contact point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touch {
    /// Index of its pair.
    pub pair: u32,
    /// Overlap `δ` [m].
    pub depth: f64,
    /// Inverse of the mass that meets at the point along the normal, `W_nn` [1/kg].
    pub inverse_mass: f64,
    /// Effective radius `R` [m]; infinite between planes.
    pub radius: f64,
    /// Part of the damping that acts [–]; see [`super::verlet`].
    pub share: f64,
}

/// Coefficients of a contact at its overlap.
#[derive(Clone, Copy, Debug)]
pub struct Coefficients {
    /// Elastic normal force [N].
    pub elastic: f64,
    /// Elastic energy [J].
    pub energy: f64,
    /// Tangent stiffness `∂F/∂δ` [N/m].
    pub stiffness: f64,
    /// Damping `∂F/∂δ̇` [N s/m].
    pub damping: f64,
}

/// The force of a contact on its second body, in the frame of the contact, and what it dissipates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Push {
    /// Along the normal and both tangents [N].
    pub force: [f64; 3],
    /// Tangential spring after sliding [m].
    pub stretch: [f64; 2],
    /// Stiffness of the tangential spring [N/m].
    pub stiffness: f64,
    /// Power of the normal damping [W].
    pub damped: f64,
    /// Power of the tangential damping [W].
    pub rubbed: f64,
}

impl Push {
    /// Energy that sliding has taken from the spring on its way from `start` over `trial` to its
    /// final stretch [J]: the mean force times the slip, which balances the work of the forces at
    /// both ends exactly.
    pub fn slipped(&self, start: [f64; 2], trial: [f64; 2]) -> f64 {
        let part = |k: usize| (start[k] + self.stretch[k]) * (trial[k] - self.stretch[k]);
        0.5 * self.stiffness * (part(0) + part(1))
    }
}

impl Laws {
    /// The laws of a scene; `stiffness` [N/m] where none is given, `velocity` [m/s] for the
    /// restitution of Hertz's law.
    pub fn new(
        law: &PenaltyLaw,
        scene: &Scene,
        stiffness: f64,
        velocity: f64,
    ) -> Result<Laws, PenaltyError> {
        let materials = scene.materials();
        let n = materials.len();
        let of_pairs = scene.pairs.all().iter().enumerate().map(|(k, pair)| {
            let name = |m: usize| materials.get(m).map_or("", |m| &m.name);
            let place = format!("`{}` and `{}`", name(k / n.max(1)), name(k % n.max(1)));
            force_of(law, pair, stiffness, velocity, place)
        });
        let of_points = scene.points.iter().enumerate().map(|(k, point)| {
            force_of(law, &point.law, stiffness, velocity, format!("point contact {}", k + 1))
        });
        let pairs = of_pairs.chain(of_points).collect::<Result<_, _>>()?;
        Ok(Laws { pairs, n_materials: n, ratio: law.tangential_ratio })
    }

    /// Pair and effective radius of a contact.
    pub fn meeting(&self, scene: &Scene, point: &ContactPoint) -> (u32, f64) {
        let n = scene.colliders().len();
        if let Some(beyond) = (point.colliders[0] as usize).checked_sub(n) {
            let pair = self.n_materials * self.n_materials + beyond / 2;
            // The point has the size of its body, the plane is flat.
            let body = scene.points[beyond / 2].bodies[1] as usize;
            return (pair as u32, half_size(scene, body));
        }
        let [a, b] = point.colliders.map(|c| &scene.colliders()[c as usize]);
        let radius = |c: &crate::detect::Collider| match c.geometry {
            Geometry::Ball(radius) => radius,
            Geometry::HalfSpace(_) => f64::INFINITY,
            _ => half_size(scene, c.body as usize),
        };
        let pair = a.material as usize * self.n_materials + b.material as usize;
        (pair as u32, effective_radius(radius(a), radius(b)))
    }

    /// The law of a pair.
    pub fn pair(&self, index: u32) -> &PairForce {
        &self.pairs[index as usize]
    }

    /// Elastic force, stiffness and damping at an overlap [m].
    pub fn coefficients(&self, touch: &Touch, depth: f64) -> Coefficients {
        // No damping by restitution between bodies that nothing can move.
        let mass = if touch.inverse_mass > 0.0 { 1.0 / touch.inverse_mass } else { 0.0 };
        match self.pair(touch.pair).normal {
            Normal::Linear { stiffness, damping } => Coefficients {
                elastic: stiffness * depth,
                energy: 0.5 * stiffness * depth * depth,
                stiffness,
                damping: match damping {
                    Damping::Given(damping) => damping,
                    Damping::Relative(ratio) => 2.0 * ratio * (stiffness * mass).sqrt(),
                },
            },
            Normal::Hertz { modulus, damping, velocity } => {
                let factor = 4.0 / 3.0 * modulus * touch.radius.sqrt();
                let root = depth.sqrt();
                let stiffness = 1.5 * factor * root;
                let dissipation = match damping {
                    Damping::Given(dissipation) => dissipation,
                    Damping::Relative(0.0) => 0.0,
                    Damping::Relative(beta) => {
                        beta / 1.5 * (factor / mass).powf(-0.4) * velocity.powf(-0.2)
                    }
                };
                Coefficients {
                    elastic: factor * depth * root,
                    energy: 0.4 * factor * depth * depth * root,
                    stiffness,
                    damping: dissipation * stiffness,
                }
            }
        }
    }

    /// Stiffness of the tangential spring [N/m] at a normal stiffness [N/m].
    pub fn tangential(&self, stiffness: f64) -> f64 {
        self.ratio * stiffness
    }

    /// The force of a contact with relative velocity `v` [m/s] and tangential spring `stretch` [m],
    /// both in its frame.
    ///
    /// The normal force never pulls. The spring is cut where its force exceeds `μ F_n`: the contact
    /// slides. Tangential damping `c_t = (k_t/k_n) c` acts within the same limit.
    pub fn push(&self, touch: &Touch, stretch: [f64; 2], v: [f64; 3]) -> Push {
        let c = self.coefficients(touch, touch.depth);
        let (rate, damping) = (-v[0], touch.share * c.damping);
        let normal = (c.elastic + damping * rate).max(0.0);
        let damped = (normal - c.elastic) * rate;

        let stiffness = self.tangential(c.stiffness);
        let limit = self.pair(touch.pair).friction * normal;
        let pull = stiffness * length2(stretch[0], stretch[1]);
        let kept = if pull > limit { limit / pull } else { 1.0 };
        let spring = stretch.map(|x| kept * x);
        let drag = self.ratio * damping;
        let wanted = [0, 1].map(|k| -stiffness * spring[k] - drag * v[1 + k]);
        let size = length2(wanted[0], wanted[1]);
        let scale = if size > limit { limit / size } else { 1.0 };
        let tangential = wanted.map(|x| scale * x);
        // What the force does beyond the spring.
        let beyond = [0, 1].map(|k| tangential[k] + stiffness * spring[k]);
        let rubbed = -(beyond[0] * v[1] + beyond[1] * v[2]);
        let force = [normal, tangential[0], tangential[1]];
        Push { force, stretch: spring, stiffness, damped, rubbed }
    }

    /// Elastic energy of a contact with the tangential spring of a force [J].
    pub fn energy(&self, touch: &Touch, push: &Push) -> f64 {
        let [x, y] = push.stretch;
        let normal = self.coefficients(touch, touch.depth).energy;
        normal + 0.5 * push.stiffness * (x * x + y * y)
    }
}

/// Half the size of a body [m], as the radius of shapes that are not round.
fn half_size(scene: &Scene, body: usize) -> f64 {
    let size = scene.bodies().size[body];
    0.5 * if size > 0.0 { size } else { scene.grain_size() }
}

/// `1/R = 1/R₁ + 1/R₂` [m]. Between two planes, which never touch, 1 m.
pub fn effective_radius(a: f64, b: f64) -> f64 {
    let sum = 1.0 / a + 1.0 / b;
    if sum > 0.0 { 1.0 / sum } else { 1.0 }
}

/// The law of one pair with defaults resolved.
fn force_of(
    law: &PenaltyLaw,
    pair: &PairLaw,
    stiffness: f64,
    velocity: f64,
    place: String,
) -> Result<PairForce, PenaltyError> {
    let check = |what, value: Option<f64>, positive: bool| match value {
        Some(x) if !x.is_finite() || x < 0.0 || positive && x == 0.0 => {
            let range = if positive { "positive" } else { "0 or more" };
            Err(PenaltyError::OutOfRange { what, place: place.clone(), value: x, range })
        }
        value => Ok(value),
    };
    let normal = match law.normal {
        NormalLaw::Linear => {
            let given = check("stiffness", pair.stiffness.or(law.stiffness), true)?;
            let damping = check("damping", pair.damping.or(law.damping), false)?;
            let relative = || Damping::Relative(linear_ratio(pair.restitution));
            let damping = damping.map_or_else(relative, Damping::Given);
            Normal::Linear { stiffness: given.unwrap_or(stiffness), damping }
        }
        NormalLaw::Hertz => {
            let Some(modulus) = check("modulus", pair.modulus, true)? else {
                return Err(PenaltyError::NoModulus { place });
            };
            let given = check("dissipation", pair.dissipation.or(law.dissipation), false)?;
            let relative = || Damping::Relative(hertz_damping(pair.restitution));
            let damping = given.map_or_else(relative, Damping::Given);
            Normal::Hertz { modulus, damping, velocity }
        }
    };
    Ok(PairForce { normal, friction: pair.friction })
}
