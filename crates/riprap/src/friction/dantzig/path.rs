//! From one consistent set of lists to the next. The accelerations without forces are `b + θ q`,
//! where `q` makes the present lists consistent at `θ = 1`, and `θ` goes to 0. Forces and
//! accelerations are linear in `θ` until a condition is about to fail: an event. Its contact moves
//! to another list, and the path continues.
//!
//! To insert one contact, `q` is minus its own acceleration and all others keep theirs: this is the
//! path of the paper, with the acceleration that is still missing as its parameter instead of the
//! force that is increased. With friction the path may turn back; then `θ` increases until the next
//! event.
//!
//! Each force has a small compliance ε: the matrix is `A + ε` instead of `A`, which may be singular.
//! Otherwise redundant contacts and axes would have to be kept out of the basis. The caller removes
//! the effect of the compliance by a few proximal steps.

use super::island::{Island, State};
use super::path::Walk::{Arrived, Exhausted, Ray, Singular};

/// ε: acceleration per force of each unknown, in scaled units (the diagonal of `A` is about 1).
pub(super) const COMPLIANCE: f64 = 1e-7;

/// Relative rounding of forces and accelerations.
const ROUNDING: f64 = 1e-12;

/// Steps of zero length before ties are decided by the least index.
const PATIENCE: usize = 20;

/// Products and solutions with the matrix of an island.
pub(super) trait Algebra {
    /// Removes all forces.
    fn clear(&mut self);
    /// Adds a force to a contact.
    fn add(&mut self, k: usize, force: [f64; 3]);
    /// Acceleration `A f` of a contact due to the forces added.
    fn at(&self, k: usize) -> [f64; 3];
    /// Factors the matrix of the basis, `A + ε` with the friction of sliding contacts inserted;
    /// false if it is singular.
    fn factorize(&mut self, island: &Island, states: &[State]) -> bool;
    /// Solves with the factored matrix, from the basic rows of `right` to those of `x`.
    fn solve(&mut self, island: &Island, states: &[State], right: &[f64], x: &mut [f64]);
}

/// How a path ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    /// At `θ = 0`.
    Arrived,
    /// It goes to infinity.
    Ray,
    /// The limit on pivots was reached.
    Exhausted,
    /// The matrix of a basis is singular.
    Singular,
}

/// A condition of an unknown, by the state that begins if it fails.
type Event = (usize, State);

/// Present lists and forces of an island, and buffers.
#[derive(Default)]
pub(super) struct Path {
    pub(super) states: Vec<State>,
    /// Forces.
    pub(super) x: Vec<f64>,
    /// Forces at which the compliance vanishes.
    pub(super) centre: Vec<f64>,
    /// Accelerations without forces, with the compliance of the centre.
    pub(super) b: Vec<f64>,
    /// Accelerations, including those of the compliance.
    pub(super) a: Vec<f64>,
    /// Change of `b` with `θ`.
    pub(super) q: Vec<f64>,
    pub(super) pivots: usize,
    pub(super) degenerate: usize,
    /// Pivots that remain before an attempt is given up.
    pub(super) budget: usize,
    /// States of the factored matrix.
    factored: Vec<State>,
    x1: Vec<f64>,
    a1: Vec<f64>,
    residue: Vec<f64>,
    correction: Vec<f64>,
    vectors: Vec<[f64; 3]>,
    products: Vec<[f64; 3]>,
}

impl Path {
    /// Begins with an island whose contacts are all in one state.
    pub(super) fn start(&mut self, island: &Island, state: State) {
        let n = island.len();
        self.states.clear();
        self.states.resize(n, state);
        self.b.clone_from(&island.b);
        self.a.clone_from(&island.b);
        for list in [&mut self.x, &mut self.q, &mut self.centre] {
            list.clear();
            list.resize(n, 0.0);
        }
        self.factored.clear();
    }

    /// `(A + ε) x + b` for all unknowns.
    fn accelerations(
        &mut self,
        island: &Island,
        algebra: &mut impl Algebra,
        (x, b): (&[f64], &[f64]),
        out: &mut Vec<f64>,
    ) {
        product(island, algebra, x, (&mut self.vectors, &mut self.products), out);
        (0..x.len()).for_each(|u| out[u] += COMPLIANCE * x[u] + b[u]);
    }

    /// Forces and accelerations of the present lists, given accelerations without forces.
    fn solution(
        &mut self,
        island: &Island,
        algebra: &mut impl Algebra,
        b: &[f64],
        (x, a): (&mut Vec<f64>, &mut Vec<f64>),
    ) {
        x.clear();
        x.resize(b.len(), 0.0);
        // One correction recovers the digits lost by division by ε.
        let (mut residue, mut correction) =
            (std::mem::take(&mut self.residue), std::mem::take(&mut self.correction));
        residue.clear();
        residue.extend(b.iter().map(|b| -b));
        for round in 0..3 {
            correction.clear();
            correction.resize(b.len(), 0.0);
            algebra.solve(island, &self.states, &residue, &mut correction);
            x.iter_mut().zip(&correction).for_each(|(x, dx)| *x += dx);
            island.complete(&self.states, x);
            if round < 2 {
                self.accelerations(island, algebra, (x, b), a);
                residue.iter_mut().zip(&*a).for_each(|(r, a)| *r = -a);
            }
        }
        self.accelerations(island, algebra, (x, b), a);
        (self.residue, self.correction) = (residue, correction);
    }

    /// Moves forces that violate their bounds to these.
    pub(super) fn clip(&mut self, island: &Island) {
        for u in 0..island.len() {
            let bound = island.bound(u) * self.x[island.normal_of(u)];
            self.x[u] = if island.is_normal(u) {
                self.x[u].max(0.0)
            } else {
                self.x[u].clamp(-bound, bound)
            };
        }
    }

    /// Moves the centre to the present forces.
    pub(super) fn approach(&mut self, island: &Island) {
        self.centre.clone_from(&self.x);
        for u in 0..island.len() {
            self.b[u] = island.b[u] - COMPLIANCE * self.x[u];
        }
    }

    /// Accelerations up to which a contact counts as permanent: those due to the compliance. A
    /// contact whose acceleration is held at zero by others must not change its list because of
    /// them.
    pub(super) fn slack(&self) -> f64 {
        let far =
            self.x.iter().zip(&self.centre).fold(0.0, |far: f64, (x, c)| far.max((x - c).abs()));
        4.0 * COMPLIANCE * far
    }

    /// Factors the matrix of the present lists if they have changed.
    fn factorize(&mut self, island: &Island, algebra: &mut impl Algebra) -> bool {
        if self.factored == self.states {
            return true;
        }
        self.factored.clone_from(&self.states);
        let regular = algebra.factorize(island, &self.states);
        if !regular {
            self.factored.clear();
        }
        regular
    }

    /// Forces and accelerations of the present lists.
    pub(super) fn evaluate(&mut self, island: &Island, algebra: &mut impl Algebra) -> bool {
        let regular = self.factorize(island, algebra);
        if regular {
            let (b, mut x, mut a) = self.take();
            self.solution(island, algebra, &b, (&mut x, &mut a));
            (self.b, self.x, self.a) = (b, x, a);
        }
        regular
    }

    fn take(&mut self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (std::mem::take(&mut self.b), std::mem::take(&mut self.x), std::mem::take(&mut self.a))
    }

    /// Chooses `q` such that the present lists, with forces near `x`, are consistent at `θ = 1`.
    /// Conditions that fail get different margins, so that their events do not coincide.
    pub(super) fn shift(&mut self, island: &Island, algebra: &mut impl Algebra) {
        let largest = self.x.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        let margin =
            |u: usize| (0.1 + 0.9 * (0.618_033_988_749_895 * (u + 1) as f64).fract()) * 1e-3;
        let (b, mut x, mut a) = self.take();
        for u in 0..island.len() {
            let bound = island.bound(u) * x[island.normal_of(u)];
            match self.states[u] {
                State::Basic if island.is_normal(u) => {
                    x[u] = if x[u] > 0.0 { x[u] } else { margin(u) * largest };
                }
                State::Basic if x[u].abs() >= bound => {
                    x[u] = x[u].signum() * (1.0 - margin(u)) * bound;
                }
                _ => {}
            }
        }
        island.complete(&self.states, &mut x);
        self.accelerations(island, algebra, (&x, &b), &mut a);
        for u in 0..island.len() {
            self.q[u] = match self.states[u] {
                State::Basic => -a[u],
                State::Out if island.is_normal(u) && a[u] <= 0.0 => margin(u) - a[u],
                State::Upper if a[u] >= 0.0 => -margin(u) - a[u],
                State::Lower if a[u] <= 0.0 => margin(u) - a[u],
                _ => 0.0,
            };
        }
        (self.b, self.x, self.a) = (b, x, a);
    }

    /// Follows the path from `θ = 1` to 0. `entered` is the condition that has just become
    /// relevant and must not fail next.
    pub(super) fn follow(
        &mut self,
        island: &Island,
        algebra: &mut impl Algebra,
        mut entered: Option<Event>,
    ) -> Walk {
        let (mut theta, mut still) = (1.0, 0);
        loop {
            if self.budget == 0 {
                return Exhausted;
            }
            if !self.evaluate(island, algebra) {
                return Singular;
            }
            let q = std::mem::take(&mut self.q);
            let (mut x1, mut a1) = (std::mem::take(&mut self.x1), std::mem::take(&mut self.a1));
            self.solution(island, algebra, &q, (&mut x1, &mut a1));
            (self.q, self.x1, self.a1) = (q, x1, a1);

            // Towards θ = 0, unless the entered condition would fail at once.
            let largest = self.x1.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let way = match entered.map(|event| self.condition(island, event).1) {
                Some(rate) if rate > ROUNDING * largest => 1.0,
                _ => -1.0,
            };
            let Some((step, event)) = self.next_event(island, theta, way, still > PATIENCE) else {
                if way < 0.0 {
                    return Arrived;
                }
                return Ray;
            };
            if way < 0.0 && step >= theta {
                return Arrived;
            }
            theta += way * step;
            if theta > 1e9 {
                return Ray;
            }
            self.budget -= 1;
            self.pivots += 1;
            let degenerate = step <= ROUNDING;
            self.degenerate += usize::from(degenerate);
            still = if degenerate { still + 1 } else { 0 };
            entered = Some(self.change(island, event, theta));
        }
    }

    /// Value at `θ = 0` and slope of a condition, which must not be negative.
    fn condition(&self, island: &Island, (u, next): Event) -> (f64, f64) {
        let (x, x1) = (self.x[u], self.x1[u]);
        let n = island.normal_of(u);
        let bound = (island.bound(u) * self.x[n], island.bound(u) * self.x1[n]);
        match (self.states[u], next) {
            (State::Basic, State::Upper) => (bound.0 - x, bound.1 - x1),
            (State::Basic, State::Lower) => (bound.0 + x, bound.1 + x1),
            (State::Basic, _) => (x, x1),
            (State::Upper, _) => (-self.a[u], -self.a1[u]),
            _ => (self.a[u], self.a1[u]),
        }
    }

    /// All conditions.
    fn conditions(&self, island: &Island) -> impl Iterator<Item = Event> {
        self.states.iter().enumerate().flat_map(|(u, state)| {
            let normal = island.is_normal(u);
            let pair: [Option<State>; 2] = match state {
                State::Basic if normal => [Some(State::Out), None],
                State::Basic => [Some(State::Upper), Some(State::Lower)],
                State::Out if normal => [Some(State::Basic), None],
                State::Upper | State::Lower => [Some(State::Basic), None],
                State::Out | State::Absent => [None, None],
            };
            pair.into_iter().flatten().map(move |next| (u, next))
        })
    }

    /// The first condition that fails, and the change of `θ` until then. Among those that fail at
    /// almost the same time, the one that changes fastest is the most reliable pivot; after many
    /// steps of zero length the first one is taken, which prevents cycles.
    fn next_event(
        &self,
        island: &Island,
        theta: f64,
        way: f64,
        least_index: bool,
    ) -> Option<(f64, Event)> {
        let largest = |x: &[f64]| x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let values = ROUNDING * (1.0 + largest(&self.x) + theta * largest(&self.x1));
        let slack = self.slack();
        let slopes = ROUNDING * largest(&self.x1).max(largest(&self.a1));
        let failing = |event: Event| {
            let (at_zero, slope) = self.condition(island, event);
            let rate = -way * slope;
            let margin = if self.states[event.0] == State::Basic { 0.0 } else { slack };
            (rate > slopes).then(|| ((at_zero + theta * slope + margin).max(0.0), rate))
        };
        let mut limit = f64::INFINITY;
        for (value, rate) in self.conditions(island).filter_map(failing) {
            limit = limit.min((value + values) / rate);
        }
        let mut best: Option<(f64, f64, Event)> = None;
        for event in self.conditions(island) {
            let Some((value, rate)) = failing(event) else { continue };
            let better = best.is_none_or(|(fastest, ..)| !least_index && rate > fastest);
            if value / rate <= limit && better {
                best = Some((rate, value / rate, event));
            }
        }
        best.map(|(_, step, event)| (step, event))
    }

    /// Moves a contact to another list; returns the condition that becomes relevant.
    fn change(&mut self, island: &Island, (u, next): Event, theta: f64) -> Event {
        let before = self.states[u];
        self.states[u] = next;
        if !island.is_normal(u) {
            return (u, before);
        }
        for axis in island.axes(island.owner[u] as usize) {
            if self.states[axis] == State::Absent {
                continue;
            }
            let a = self.a[axis] + theta * self.a1[axis];
            self.states[axis] = match next {
                State::Basic if a > ROUNDING => State::Lower,
                State::Basic if a < -ROUNDING => State::Upper,
                next => next,
            };
        }
        (u, before)
    }
}

/// `A x` for all unknowns.
pub(super) fn product(
    island: &Island,
    algebra: &mut impl Algebra,
    x: &[f64],
    (vectors, products): (&mut Vec<[f64; 3]>, &mut Vec<[f64; 3]>),
    out: &mut Vec<f64>,
) {
    island.vectors(x, vectors);
    algebra.clear();
    vectors.iter().enumerate().for_each(|(k, f)| algebra.add(k, *f));
    products.clear();
    products.extend((0..island.n_contacts()).map(|k| algebra.at(k)));
    out.clear();
    out.extend(
        (0..x.len()).map(|u| super::island::dot(island.row[u], products[island.owner[u] as usize])),
    );
}

/// Sweeps over all contacts, each of which takes the force that is consistent while all others are
/// fixed (Gauss–Seidel, projected). Forces remain within their bounds.
pub(super) fn sweep(island: &Island, algebra: &mut impl Algebra, x: &mut [f64], sweeps: usize) {
    algebra.clear();
    for u in 0..island.len() {
        algebra.add(island.owner[u] as usize, island.column[u].map(|c| c * x[u]));
    }
    for _ in 0..sweeps {
        for k in 0..island.n_contacts() {
            let (mut a, mut change) = (algebra.at(k), [0.0; 3]);
            let normal = island.start[k];
            for u in normal..island.start[k + 1] {
                let moved = island.diagonal[k].map(|row| super::island::dot(row, island.column[u]));
                let own = super::island::dot(island.row[u], moved);
                if own <= 1e-6 {
                    continue;
                }
                let wanted = x[u] - (island.b[u] + super::island::dot(island.row[u], a)) / own;
                let bound = island.mu[k] * x[normal];
                let new = if u == normal { wanted.max(0.0) } else { wanted.clamp(-bound, bound) };
                let step = new - x[u];
                x[u] = new;
                for i in 0..3 {
                    a[i] += moved[i] * step;
                    change[i] += island.column[u][i] * step;
                }
            }
            if change != [0.0; 3] {
                algebra.add(k, change);
            }
        }
    }
}
