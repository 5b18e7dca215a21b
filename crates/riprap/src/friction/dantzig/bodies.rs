//! The linear algebra of an island in the velocities of its bodies, as many rows as degrees of
//! freedom however many contacts there are. With `A = Jᵀ J`, where `J = M^{-1/2} H`, the forces of
//! the basis that satisfy `Rᵀ (A + ε) S x = r` are
//!
//! ```text
//! x = (r − Rᵀ Jᵀ y) / ε,   (1 + J S Rᵀ Jᵀ / ε) y = J S r / ε.
//! ```
//!
//! The matrix on the right has a block for each pair of bodies that touch. The pattern does not
//! depend on the basis.

use super::island::{Island, State, dot};
use super::path::{Algebra, COMPLIANCE};
use crate::friction::elimination::Elimination;
use crate::friction::{Factored, InverseMass};

/// No body.
const NONE: u32 = u32::MAX;

/// Bodies with up to `K` degrees of freedom: 3 in the plane, 6 in space.
#[derive(Default)]
pub(super) struct Bodies<const K: usize> {
    /// The two bodies of each contact; `NONE` if immovable.
    pairs: Vec<[u32; 2]>,
    /// `J` of each contact and side: rows n, t1, t2, scaled.
    rows: Vec<[[[f64; K]; 3]; 2]>,
    plans: Plans<K>,
    /// `J f`.
    y: Vec<[f64; K]>,
}

/// Elimination orders of recent islands. The solution of a step visits the same islands many times with other numbers
/// in the same places, and finding an order takes as long as a factorization.
#[derive(Default)]
struct Plans<const K: usize> {
    slots: Vec<Plan<K>>,
    /// The slot in use.
    current: usize,
}

#[derive(Default)]
struct Plan<const K: usize> {
    /// What it was made for: the number of bodies and the pairs that touch.
    bodies: usize,
    pairs: Vec<[u32; 2]>,
    elimination: Elimination<K>,
}

impl<const K: usize> Plans<K> {
    /// Islands that are remembered; two whose patterns fall on the same slot replace each other.
    const SLOTS: usize = 64;

    /// Selects the plan for a number of bodies and the pairs that touch.
    fn select(&mut self, bodies: usize, pairs: &[[u32; 2]]) {
        self.slots.resize_with(Self::SLOTS, Plan::default);
        let mix = |hash: u64, x: &u32| (hash ^ u64::from(*x)).wrapping_mul(0x0100_0000_01b3);
        let hash = pairs.as_flattened().iter().fold(0xcbf2_9ce4_8422_2325, mix);
        self.current = (hash >> 32) as usize % Self::SLOTS;
        let plan = &mut self.slots[self.current];
        if plan.bodies != bodies || plan.pairs != pairs {
            plan.bodies = bodies;
            plan.pairs.clear();
            plan.pairs.extend_from_slice(pairs);
            plan.elimination.plan(&neighbours(bodies, pairs));
        }
    }

    fn elimination(&mut self) -> &mut Elimination<K> {
        &mut self.slots[self.current].elimination
    }
}

impl<const K: usize> Bodies<K> {
    /// Loads the contacts of an island; returns false if a body has more than `K` degrees of
    /// freedom.
    pub(super) fn fill(&mut self, w: &Factored, island: &Island) -> bool {
        let mut number = vec![NONE; w.n_blocks()];
        let mut roots: Vec<Root> = Vec::new();
        self.pairs.clear();
        self.rows.clear();
        for (k, &a) in island.contacts.iter().enumerate() {
            let contact = &w.contacts()[a as usize];
            let (mut pair, mut rows) = ([NONE; 2], [[[0.0; K]; 3]; 2]);
            for side in 0..2 {
                let block = contact.blocks[side] as usize;
                let Some(number) = number.get_mut(block) else { continue };
                if *number == NONE {
                    let root = Root::of(&w.masses()[block]);
                    if root.used.iter().filter(|used| **used).count() > K {
                        return false;
                    }
                    *number = roots.len() as u32;
                    roots.push(root);
                }
                pair[side] = *number;
                let sign = if side == 0 { -island.unit[k] } else { island.unit[k] };
                for (row, direction) in rows[side].iter_mut().zip(&contact.frame) {
                    roots[*number as usize].row(sign, *direction, contact.arms[side], row);
                }
            }
            self.pairs.push(pair);
            self.rows.push(rows);
        }
        self.plans.select(roots.len(), &self.pairs);
        self.y.clear();
        self.y.resize(roots.len(), [0.0; K]);
        true
    }
}

impl<const K: usize> Algebra for Bodies<K> {
    fn clear(&mut self) {
        self.y.iter_mut().for_each(|y| *y = [0.0; K]);
    }

    fn add(&mut self, k: usize, f: [f64; 3]) {
        for (body, rows) in self.pairs[k].iter().zip(&self.rows[k]) {
            if let Some(y) = self.y.get_mut(*body as usize) {
                for i in 0..3 {
                    (0..K).for_each(|j| y[j] += rows[i][j] * f[i]);
                }
            }
        }
    }

    fn at(&self, k: usize) -> [f64; 3] {
        let mut a = [0.0; 3];
        for (body, rows) in self.pairs[k].iter().zip(&self.rows[k]) {
            if let Some(y) = self.y.get(*body as usize) {
                for i in 0..3 {
                    a[i] += rows[i].iter().zip(y).map(|(h, y)| h * y).sum::<f64>();
                }
            }
        }
        a
    }

    fn factorize(&mut self, island: &Island, states: &[State]) -> bool {
        let elimination = self.plans.elimination();
        elimination.reset();
        for k in 0..island.n_contacts() {
            // `S Rᵀ / ε` in the frame of the contact.
            let mut stiffness = [[0.0; 3]; 3];
            for u in island.start[k]..island.start[k + 1] {
                if states[u] != State::Basic {
                    continue;
                }
                let normal = u == island.start[k];
                let column =
                    if normal { island.normal_column(k, states) } else { island.column[u] };
                for i in 0..3 {
                    (0..3).for_each(|j| {
                        stiffness[i][j] += column[i] * island.row[u][j] / COMPLIANCE;
                    });
                }
            }
            if stiffness == [[0.0; 3]; 3] {
                continue;
            }
            for side in (0..2).filter(|s| self.pairs[k][*s] != NONE) {
                let mut right = [[0.0; K]; 3];
                for i in 0..3 {
                    for j in 0..3 {
                        (0..K).for_each(|x| {
                            right[i][x] += stiffness[i][j] * self.rows[k][side][j][x]
                        });
                    }
                }
                for other in (0..2).filter(|s| self.pairs[k][*s] != NONE) {
                    let pair = (self.pairs[k][other], self.pairs[k][side]);
                    let block = elimination.block(pair.0, pair.1);
                    let left = &self.rows[k][other];
                    for i in 0..3 {
                        for x in 0..K {
                            (0..K).for_each(|z| block[x][z] += left[i][x] * right[i][z]);
                        }
                    }
                }
            }
        }
        elimination.factor()
    }

    fn solve(&mut self, island: &Island, states: &[State], right: &[f64], x: &mut [f64]) {
        self.y.iter_mut().for_each(|y| *y = [0.0; K]);
        for k in 0..island.n_contacts() {
            let normal = island.start[k];
            if states[normal] != State::Basic {
                continue;
            }
            let mut f = island.normal_column(k, states).map(|c| c * right[normal] / COMPLIANCE);
            for u in island.axes(k).filter(|u| states[*u] == State::Basic) {
                (0..3).for_each(|i| f[i] += island.column[u][i] * right[u] / COMPLIANCE);
            }
            self.add(k, f);
        }
        self.plans.elimination().solve(&mut self.y);
        for k in 0..island.n_contacts() {
            let a = self.at(k);
            for u in island.start[k]..island.start[k + 1] {
                if states[u] == State::Basic {
                    x[u] = (right[u] - dot(island.row[u], a)) / COMPLIANCE;
                }
            }
        }
    }
}

/// `M^{-1/2}` of a body: square roots of the inverse masses, and `L` with `L Lᵀ` the inverse inertia.
#[derive(Clone, Copy, Default)]
struct Root {
    linear: [f64; 3],
    /// Columns of `L`.
    angular: [[f64; 3]; 3],
    /// Degrees of freedom that exist.
    used: [bool; 6],
}

impl Root {
    fn of(mass: &InverseMass) -> Root {
        let mut root = Root { linear: mass.linear.map(|m| m.max(0.0).sqrt()), ..Root::default() };
        let [xx, yy, zz, xy, xz, yz] = mass.angular;
        let mut rest = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
        let scale = xx.max(yy).max(zz);
        for j in 0..3 {
            // A locked rotation has neither a pivot nor a column.
            if rest[j][j] > 1e-14 * scale {
                let pivot = rest[j][j].sqrt();
                let column = rest.map(|row| row[j] / pivot);
                for i in 0..3 {
                    (0..3).for_each(|k| rest[i][k] -= column[i] * column[k]);
                }
                root.angular[j] = column;
                (0..j).for_each(|i| root.angular[j][i] = 0.0);
            }
        }
        for i in 0..3 {
            root.used[i] = root.linear[i] > 0.0;
            root.used[3 + i] = root.angular[i] != [0.0; 3];
        }
        root
    }

    /// `Jᵀ` along a direction at the end of an arm.
    fn row<const K: usize>(&self, sign: f64, p: [f64; 3], arm: [f64; 3], out: &mut [f64; K]) {
        let moment = crate::friction::factored::cross(arm, p);
        let all = (0..3).map(|i| self.linear[i] * p[i]);
        let all = all.chain((0..3).map(|i| dot(self.angular[i], moment)));
        let used = all.zip(self.used).filter(|(_, used)| *used);
        out.iter_mut().zip(used).for_each(|(out, (value, _))| *out = sign * value);
    }
}

/// For each of `n` bodies, those with which it shares a contact.
fn neighbours(n: usize, pairs: &[[u32; 2]]) -> Vec<Vec<u32>> {
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); n];
    for &[a, b] in pairs.iter().filter(|[a, b]| *a != u32::MAX && *b != u32::MAX && a != b) {
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    neighbours
}
