//! The attempts at one island: from given lists, contact by contact in several orders, all contacts
//! at once, and for few unknowns all lists.

use super::island::{Island, State};
use super::path::{self, Algebra, Path, Walk};
use super::refine::TOLERANCE;
use super::{Class, Dantzig};

/// Unknowns beyond which the limit on pivots of an attempt does not grow.
const MANY: usize = 100;

/// Orders of insertion that are tried for islands with few contacts.
const ORDERS: usize = 8;

/// Combinations of lists up to which all are tried before an island is called inconsistent.
const COMBINATIONS: usize = 4096;

/// Tolerance on the sign of forces and accelerations while lists change together [–].
const SIGN: f64 = 1e-11;

/// Contacts up to which an island without starting lists is solved contact by contact, and with
/// other orders if that fails.
const FEW: usize = 24;

/// Why an island has no solution.
pub(super) enum Failure {
    /// Index of the contact whose force grows without bound.
    At(usize),
    Limit,
}

/// Where the solution of an island starts from.
pub(super) struct Start {
    pub(super) classes: Vec<Class>,
    /// Scaled forces of the unknowns.
    pub(super) forces: Option<Vec<f64>>,
}

impl Start {
    fn warm(&self) -> bool {
        self.forces.is_some() || self.classes.iter().any(|class| *class != Class::Breaking)
    }
}

/// Result of trying all lists.
enum Search {
    /// A solution with this residual.
    Found(f64),
    Nothing,
    /// There are too many combinations.
    Skipped,
}

/// One island while it is solved.
pub(super) struct Attempt<'a> {
    pub(super) options: &'a Dantzig,
    pub(super) island: &'a Island,
    pub(super) path: &'a mut Path,
    /// Sweeps between changes of lists.
    pub(super) sweeps: usize,
    /// Whether contacts may change their lists one by one if that fails.
    pub(super) one_by_one: bool,
    pub(super) vectors: &'a mut Vec<[f64; 3]>,
    pub(super) products: &'a mut Vec<[f64; 3]>,
}

impl Attempt<'_> {
    /// Tries the starting lists, then contact by contact, then other orders. Returns the residual.
    pub(super) fn run(
        &mut self,
        algebra: &mut impl Algebra,
        start: &Start,
    ) -> Result<f64, Failure> {
        let n = self.island.n_contacts();
        let mut failure = None;
        if self.options.rounds > 0 && (start.warm() || n > FEW) {
            // With many sweeps if a few do not lead to consistent lists; in a large island only
            // then one by one, which takes long.
            for effort in [1, 10] {
                self.sweeps = effort * self.options.sweeps;
                self.one_by_one = effort > 1 || n <= FEW;
                self.begin(&start.classes);
                if start.forces.is_some() || effort > 1 {
                    self.path.x.clone_from(start.forces.as_ref().unwrap_or(&self.path.centre));
                    self.relax(algebra, if effort > 1 { 10 * self.sweeps } else { 0 });
                }
                match self.repair(algebra).and_then(|()| self.refine(algebra)) {
                    Ok(residual) => return Ok(residual),
                    Err(other) => failure = Some(other),
                }
            }
        }
        (self.sweeps, self.one_by_one) = (self.options.sweeps, true);
        let orders = match n {
            0..=FEW => ORDERS,
            // An insertion needs a pivot, of which there are not enough.
            _ => usize::from(self.island.len() < self.options.max_pivots * MANY),
        };
        for round in 0..orders {
            match self.insert_all(algebra, round).and_then(|()| self.refine(algebra)) {
                Ok(residual) => return Ok(residual),
                Err(other) => failure = failure.or(Some(other)),
            }
            let class = [Class::Static, Class::Breaking][round % 2];
            self.begin(&vec![class; n]);
            if let Ok(residual) = self.repair(algebra).and_then(|()| self.refine(algebra)) {
                return Ok(residual);
            }
            if let Ok(residual) = self.cover(algebra, round).and_then(|()| self.refine(algebra)) {
                return Ok(residual);
            }
        }
        match (self.exhaust(algebra), failure) {
            (Search::Found(residual), _) => Ok(residual),
            (Search::Nothing, Some(Failure::Limit)) => Err(Failure::At(0)),
            (_, failure) => Err(failure.unwrap_or(Failure::Limit)),
        }
    }

    /// Tries all lists of an island with few unknowns, so that it is certain that there is no
    /// solution. With sliding friction no path need lead to one (Painlevé).
    fn exhaust(&mut self, algebra: &mut impl Algebra) -> Search {
        let island = self.island;
        let lists = |u: usize| if island.is_normal(u) { 2 } else { 3 };
        let total = (0..island.len()).fold(1usize, |n, u| n.saturating_mul(lists(u)));
        if total > COMBINATIONS {
            return Search::Skipped;
        }
        for code in 0..total {
            self.path.b.clone_from(&island.b);
            self.path.centre.fill(0.0);
            let mut rest = code;
            for u in 0..island.len() {
                let choice = rest % lists(u);
                rest /= lists(u);
                let open = self.path.states[island.normal_of(u)] == State::Out;
                self.path.states[u] = match choice {
                    0 if island.is_normal(u) => State::Out,
                    _ if open && !island.is_normal(u) => State::Out,
                    1 if !island.is_normal(u) => State::Upper,
                    2 => State::Lower,
                    _ => State::Basic,
                };
            }
            if !self.path.evaluate(island, algebra) {
                continue;
            }
            let (residual, _) = self.polish(algebra);
            if residual <= TOLERANCE {
                return Search::Found(residual);
            }
        }
        Search::Nothing
    }

    pub(super) fn refill(&mut self) {
        self.path.budget = self.options.max_pivots * self.island.len().min(MANY);
    }

    /// Sets the lists to those of classes. Which limit a sliding contact has reached is not known:
    /// it begins as a static one.
    fn begin(&mut self, classes: &[Class]) {
        self.refill();
        self.path.start(self.island, State::Out);
        for (k, class) in classes.iter().enumerate() {
            if *class != Class::Breaking {
                let unknowns = self.island.start[k]..self.island.start[k + 1];
                self.path.states[unknowns].fill(State::Basic);
            }
        }
    }

    /// Makes the present lists consistent. First all inconsistent contacts change together, in
    /// turn with sweeps over all contacts, which find forces within their bounds near which the
    /// next lists are sought. If that takes too long, contacts change one by one.
    pub(super) fn repair(&mut self, algebra: &mut impl Algebra) -> Result<(), Failure> {
        for round in 0..=self.options.rounds {
            if !self.path.evaluate(self.island, algebra) {
                break;
            }
            let before = self.path.states.clone();
            let changes = self.change_all();
            if changes == 0 {
                return Ok(());
            }
            self.path.pivots += changes;
            if round == self.options.rounds {
                self.path.states = before;
                break;
            }
            self.relax(algebra, self.sweeps + round * self.options.sweeps / 2);
        }
        if !self.one_by_one {
            return Err(Failure::Limit);
        }
        if !self.path.evaluate(self.island, algebra) {
            return Err(Failure::At(0));
        }
        self.path.shift(self.island, algebra);
        let walk = self.path.follow(self.island, algebra, None);
        self.end(walk, 0)
    }

    /// Sweeps from the present forces, and the lists of the result.
    fn relax(&mut self, algebra: &mut impl Algebra, sweeps: usize) {
        let (island, path) = (self.island, &mut *self.path);
        path.clip(island);
        path::sweep(island, algebra, &mut path.x, sweeps);
        path.approach(island);
        for k in 0..island.n_contacts() {
            let normal = island.start[k];
            let bound = island.mu[k] * path.x[normal] * (1.0 - 1e-9);
            for u in normal..island.start[k + 1] {
                path.states[u] = match path.x[u] {
                    _ if path.x[normal] == 0.0 => State::Out,
                    x if u != normal && x > bound => State::Upper,
                    x if u != normal && x < -bound => State::Lower,
                    _ => State::Basic,
                };
            }
        }
    }

    fn end(&self, walk: Walk, contact: usize) -> Result<(), Failure> {
        match walk {
            Walk::Arrived => Ok(()),
            Walk::Ray | Walk::Singular => Err(Failure::At(contact)),
            Walk::Exhausted => Err(Failure::Limit),
        }
    }

    /// Moves every inconsistent contact to another list; returns their number.
    fn change_all(&mut self) -> usize {
        let (island, path) = (self.island, &mut *self.path);
        let largest = path.x.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        let tolerance = SIGN * largest;
        let slack = tolerance + path.slack();
        let mut changes = 0;
        for k in 0..island.n_contacts() {
            let normal = island.start[k];
            let unknowns = normal..island.start[k + 1];
            match path.states[normal] {
                State::Basic if path.x[normal] < -tolerance => {
                    path.states[unknowns].fill(State::Out);
                    changes += 1;
                    continue;
                }
                State::Out if path.a[normal] < -slack => {
                    path.states[unknowns].fill(State::Basic);
                    changes += 1;
                    continue;
                }
                State::Basic => {}
                _ => continue,
            }
            let bound = island.mu[k] * path.x[normal] + tolerance;
            for u in island.axes(k) {
                let next = match path.states[u] {
                    State::Basic if path.x[u] > bound => State::Upper,
                    State::Basic if path.x[u] < -bound => State::Lower,
                    State::Upper if path.a[u] > slack => State::Basic,
                    State::Lower if path.a[u] < -slack => State::Basic,
                    _ => continue,
                };
                path.states[u] = next;
                changes += 1;
            }
        }
        changes
    }

    /// The algorithm of the paper: contact by contact, first the normal, then the tangential
    /// forces. Later rounds take the contacts in other orders.
    fn insert_all(&mut self, algebra: &mut impl Algebra, round: usize) -> Result<(), Failure> {
        self.refill();
        self.path.start(self.island, State::Absent);
        let n = self.island.n_contacts();
        let mut order: Vec<usize> = (0..n).collect();
        match round {
            0 => {}
            1 => order.reverse(),
            _ => order.sort_by_key(|k| (k + round).wrapping_mul(0x9e37_79b9) % 65_521),
        }
        for k in order {
            let normal = self.island.start[k];
            if self.path.a[normal] >= -SIGN {
                self.path.states[normal] = State::Out;
            } else {
                self.insert(algebra, normal)?;
            }
            for axis in self.island.axes(k) {
                if self.path.states[normal] != State::Basic {
                    self.path.states[axis] = State::Out;
                } else {
                    self.insert(algebra, axis)?;
                }
            }
        }
        Ok(())
    }

    /// Inserts all contacts at once: accelerations are made positive and then lowered together.
    fn cover(&mut self, algebra: &mut impl Algebra, round: usize) -> Result<(), Failure> {
        self.begin(&[]);
        let path = &mut *self.path;
        for k in 0..self.island.n_contacts() {
            let u = self.island.start[k];
            let share = (0.618_033_988_749_895 * (u + 7 * round + 1) as f64).fract();
            path.q[u] = (0.1 + share) * (1.0 + (-path.a[u]).max(0.0));
            path.q[u] = path.q[u].max(1e-3 - path.a[u]);
        }
        let walk = path.follow(self.island, algebra, None);
        self.end(walk, 0)
    }

    /// Changes the force of one unknown until its acceleration is zero or friction is at its limit.
    fn insert(&mut self, algebra: &mut impl Algebra, u: usize) -> Result<(), Failure> {
        let path = &mut *self.path;
        path.q.fill(0.0);
        path.q[u] = -path.a[u];
        path.states[u] = State::Basic;
        let entered = self.island.is_normal(u).then_some((u, State::Out));
        let walk = path.follow(self.island, algebra, entered);
        self.end(walk, self.island.owner[u] as usize)
    }
}
