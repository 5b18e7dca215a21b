//! Random small contact problems made from bodies and contacts.

use riprap::friction::{Delassus, Factored, ForceProblem, Friction, InverseMass};

/// A linear congruential generator with a good multiplier: the problems must stay the same whatever
/// the library of random numbers does.
#[derive(Clone, Copy, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number in `low..high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let mut x = self.0;
        x ^= x >> 33;
        x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
        x ^= x >> 33;
        low + (high - low) * (x >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An index below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.between(0.0, n as f64) as usize).min(n - 1)
    }
}

/// What kind of friction the contacts of a problem have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// None.
    Frictionless,
    /// Static, `μ` up to 1.
    Static,
    /// Static and sliding, `μ` up to 1.
    Mixed,
    /// Static and sliding, `μ` up to 5: often inconsistent (Painlevé).
    Rough,
}

/// The kinds, in the order of the tables.
pub const KINDS: [Kind; 4] = [Kind::Frictionless, Kind::Static, Kind::Mixed, Kind::Rough];

/// A problem with everything it borrows.
#[derive(Clone, Debug)]
pub struct Owned {
    /// The matrix.
    pub w: Delassus,
    /// Accelerations without forces [m/s²].
    pub b: Vec<[f64; 3]>,
    /// Friction of each contact.
    pub friction: Vec<Friction>,
    /// The bodies.
    pub masses: Vec<InverseMass>,
}

impl Owned {
    /// The problem itself.
    pub fn problem(&self) -> ForceProblem<'_> {
        ForceProblem { w: &self.w, b: &self.b, friction: &self.friction }
    }

    /// Accelerations `b + W f` due to forces.
    pub fn accelerations(&self, forces: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let mut change = Vec::new();
        self.w.velocity_change(forces, &mut change);
        let Delassus::Factored(w) = &self.w else { return self.b.clone() };
        let at = |a: usize| {
            let u = w.to_local(a, &change);
            std::array::from_fn(|i| self.b[a][i] + u[i])
        };
        (0..self.b.len()).map(at).collect()
    }

    /// The same problem with its contacts in reverse order.
    pub fn reversed(&self) -> Owned {
        let Delassus::Factored(w) = &self.w else { return self.clone() };
        let mut turned = Factored::default();
        turned.reset(self.masses.iter().copied());
        for c in w.contacts().iter().rev() {
            turned.push(c.blocks, c.frame, c.arms);
        }
        let reverse = |b: &[[f64; 3]]| b.iter().rev().copied().collect();
        let friction = self.friction.iter().rev().copied().collect();
        let w = Delassus::Factored(turned);
        Owned { w, b: reverse(&self.b), friction, masses: self.masses.clone() }
    }
}

/// A random problem with up to `most` contacts: grains on a floor and on each other, with random
/// normals. A third of the contacts are redundant: a second point with the same normal, or the same
/// point again. Accelerations are those of gravity and of random forces.
pub fn problem(random: &mut Random, kind: Kind, planar: bool, most: usize) -> Owned {
    let bodies = 1 + random.below(3);
    let mut w = Factored::default();
    let masses: Vec<InverseMass> = (0..bodies).map(|_| mass(random, planar)).collect();
    w.reset(masses.iter().copied());
    let contacts = 1 + random.below(most);
    while w.contacts().len() < contacts {
        let last = w.contacts().last().map(|c| (c.blocks, c.frame, c.arms));
        match (random.below(6), last) {
            // The same point again.
            (0, Some((blocks, frame, arms))) => w.push(blocks, frame, arms),
            // A second point of a face.
            (1, Some((blocks, frame, mut arms))) => {
                let along = random.between(-0.4, 0.4);
                for arm in &mut arms {
                    (0..3).for_each(|i| arm[i] += along * frame[1][i]);
                }
                w.push(blocks, frame, arms)
            }
            _ => {
                let second = random.below(bodies);
                let first = random.below(bodies + 1);
                let floor = first == bodies || first == second;
                let first = if floor { Factored::NONE } else { first as u32 };
                let n = normal(random, planar, floor);
                let arm = |random: &mut Random| {
                    let mut at = [0.0; 3].map(|_: f64| random.between(-0.5, 0.5));
                    at[2] *= f64::from(u8::from(!planar));
                    at
                };
                let arms = [arm(random), arm(random)];
                w.push([first, second as u32], frame(n), arms)
            }
        };
    }
    let accelerations: Vec<[f64; 6]> = masses.iter().map(|m| pushed(random, m)).collect();
    let b = (0..contacts).map(|a| w.to_local(a, &accelerations)).collect();
    let friction = (0..contacts).map(|_| friction(random, kind, planar)).collect();
    Owned { w: Delassus::Factored(w), b, friction, masses }
}

/// A body of density and shape of its own; in the plane it neither leaves it nor tilts.
fn mass(random: &mut Random, planar: bool) -> InverseMass {
    let m = random.between(0.3, 3.0);
    let i = random.between(2.0, 20.0) * m;
    match planar {
        true => InverseMass { linear: [m, m, 0.0], angular: [0.0, 0.0, i, 0.0, 0.0, 0.0] },
        false => InverseMass {
            linear: [m; 3],
            angular: [i, 1.3 * i, 0.8 * i, 0.1 * i, -0.2 * i, 0.15 * i],
        },
    }
}

fn normal(random: &mut Random, planar: bool, floor: bool) -> [f64; 3] {
    let mut n = [0.0; 3].map(|_: f64| random.between(-1.0, 1.0));
    n[1] += f64::from(u8::from(floor));
    n[2] *= f64::from(u8::from(!planar));
    let length = n.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.1 { n.map(|x| x / length) } else { [0.6, 0.8, 0.0] }
}

/// A frame with the given normal; `t2` is z in the plane.
fn frame(n: [f64; 3]) -> [[f64; 3]; 3] {
    let (t1, t2) = riprap::math::tangents(n.into());
    [n, t1.into(), t2.into()]
}

/// The acceleration due to gravity and a random force.
fn pushed(random: &mut Random, mass: &InverseMass) -> [f64; 6] {
    let mut a = [0.0, -10.0, 0.0, 0.0, 0.0, 0.0];
    for i in 0..3 {
        a[i] += 5.0 * mass.linear[i] * random.between(-1.0, 1.0);
        a[3 + i] += mass.angular[i] * random.between(-1.0, 1.0);
    }
    a
}

fn friction(random: &mut Random, kind: Kind, planar: bool) -> Friction {
    let most = if kind == Kind::Rough { 5.0 } else { 1.0 };
    let mu = random.between(0.0, most);
    let angle = random.between(0.0, std::f64::consts::TAU);
    let slides = random.below(2) == 0;
    match kind {
        Kind::Frictionless => Friction::None,
        Kind::Mixed | Kind::Rough if slides => {
            let direction =
                if planar { [angle.cos().signum(), 0.0] } else { [angle.cos(), angle.sin()] };
            Friction::Sliding { mu, direction }
        }
        _ => Friction::Static { mu },
    }
}
