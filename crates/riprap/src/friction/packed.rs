//! A contact problem prepared for many fast sweeps: `W` by columns and dimensionless, with the
//! velocities of all contacts kept up to date. The cost of a sweep is then proportional to the
//! number of impulses that change, open contacts cost nothing, and the residual needs no product
//! with `W`.

use super::law::apply;
use super::residual::unit;
use super::{Blocks, Buffers, ContactProblem, Delassus, Law, Local, Measure, Residual};

/// The problem with `W / w̄`, so that impulses are velocities [m/s], and with `W` by columns. If
/// velocities are so large or small that their squares overflow or underflow, they are scaled to
/// another unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    /// `w̄ = tr W / 3N` [1/kg], times the unit of velocities: from impulses to velocities.
    pub(super) mobility: f64,
    /// Velocities without impulses [m/s].
    pub(super) free: Vec<[f64; 3]>,
    /// Coulomb or bilateral: problems with moments are not packed.
    pub(super) laws: Vec<Law>,
    /// `W^αα / w̄`.
    pub(super) diagonal: Vec<[[f64; 3]; 3]>,
    /// Start of the blocks of each column, without the diagonal.
    start: Vec<u32>,
    rows: Vec<u32>,
    /// By columns, each padded to four numbers.
    blocks: Vec<[[f64; 4]; 3]>,
    /// `‖q‖` of the problem [m/s].
    norm: f64,
}

/// Impulses and the corresponding velocities [m/s]; a velocity is padded to four numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Iterate {
    pub(super) r: Vec<[f64; 3]>,
    pub(super) u: Vec<[f64; 4]>,
}

impl Packed {
    /// Loads a problem and the initial impulses.
    pub(super) fn fill(
        &mut self,
        problem: &ContactProblem,
        impulses: &[[f64; 3]],
        at: &mut Iterate,
    ) {
        match &problem.w {
            Delassus::Blocks(w) => self.fill_blocks(problem, w),
            Delassus::Factored(w) => self.fill_blocks(problem, &w.to_blocks()),
        }
        at.r.clear();
        at.r.extend(impulses.iter().map(|r| r.map(|x| x * self.mobility)));
        self.velocities(at);
    }

    fn fill_blocks(&mut self, problem: &ContactProblem, w: &Blocks) {
        let n = problem.len();
        let unit = unit(problem.largest_free());
        self.free.clear();
        self.free.extend(problem.v_rel_free.iter().map(|q| q.map(|x| unit * x)));
        self.laws.clear();
        self.laws.extend_from_slice(&problem.laws);
        self.norm = squared(self.free.as_flattened()).sqrt();
        self.diagonal.clear();
        self.diagonal.resize(n, [[0.0; 3]; 3]);
        self.start.clear();
        self.start.resize(n + 2, 0);
        let mut trace = 0.0;
        for a in 0..n {
            for (b, block) in w.row(a) {
                if a == b {
                    self.diagonal[a] = *block;
                    trace += block[0][0] + block[1][1] + block[2][2];
                } else {
                    self.start[b + 2] += 1;
                }
            }
        }
        // If nothing moves, any unit will do.
        self.mobility = if trace > 0.0 { trace / (3 * n) as f64 } else { 1.0 };
        let scale = 1.0 / self.mobility;
        self.diagonal.as_flattened_mut().as_flattened_mut().iter_mut().for_each(|x| *x *= scale);
        self.mobility *= unit;
        // Counts become starts; the start of the next column serves as the insertion position while
        // blocks are filled in.
        for b in 2..n + 2 {
            self.start[b] += self.start[b - 1];
        }
        let total = self.start[n + 1] as usize;
        self.rows.resize(total, 0);
        self.blocks.resize(total, [[0.0; 4]; 3]);
        for a in 0..n {
            for (b, block) in w.row(a).filter(|(b, _)| *b != a) {
                let k = self.start[b + 1] as usize;
                self.start[b + 1] += 1;
                self.rows[k] = a as u32;
                let [x, y, z] = block;
                self.blocks[k] =
                    std::array::from_fn(|j| [x[j] * scale, y[j] * scale, z[j] * scale, 0.0]);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.free.len()
    }

    /// Blocks of a column, without the diagonal: rows, and the blocks by columns.
    #[inline]
    pub(super) fn column(&self, b: usize) -> impl Iterator<Item = (usize, &[[f64; 4]; 3])> {
        let range = self.start[b] as usize..self.start[b + 1] as usize;
        self.rows[range.clone()].iter().map(|a| *a as usize).zip(&self.blocks[range])
    }

    /// Number of multiplications in a product with `W`.
    pub(super) fn work(&self) -> f64 {
        9.0 * (self.blocks.len() + self.len()) as f64
    }

    /// Recomputes the velocities from the impulses.
    pub(super) fn velocities(&self, at: &mut Iterate) {
        at.u.clear();
        at.u.extend(self.free.iter().map(|q| [q[0], q[1], q[2], 0.0]));
        for a in 0..self.len() {
            if at.r[a] != [0.0; 3] {
                self.push(a, at.r[a], &mut at.u);
            }
        }
    }

    /// Updates all velocities for a change of one impulse.
    #[inline]
    pub(super) fn push(&self, a: usize, step: [f64; 3], u: &mut [[f64; 4]]) {
        let own = apply(&self.diagonal[a], step);
        for i in 0..3 {
            u[a][i] += own[i];
        }
        for (b, [x, y, z]) in self.column(a) {
            let u = &mut u[b];
            for i in 0..4 {
                u[i] += x[i] * step[0] + y[i] * step[1] + z[i] * step[2];
            }
        }
    }

    /// One sweep over the contacts, Eq. (33).
    pub(super) fn sweep(&self, at: &mut Iterate) {
        for a in 0..self.len() {
            let (old, [x, y, z, _], law) = (at.r[a], at.u[a], self.laws[a]);
            if old == [0.0; 3] && x >= 0.0 && matches!(law, Law::Coulomb { .. }) {
                continue;
            }
            let block = &self.diagonal[a];
            let new = law.solve(&Local { block, velocity: [x, y, z], impulse: old, limit: 0.0 });
            if new != old {
                at.r[a] = new;
                self.push(a, std::array::from_fn(|i| new[i] - old[i]), &mut at.u);
            }
        }
    }

    /// The residual by a measure [–], from the current velocities; infinite if it is NaN.
    pub(super) fn relative(&self, at: &Iterate, measure: Measure) -> f64 {
        let relative = measure.of(&self.residual(at));
        if relative.is_nan() { f64::INFINITY } else { relative }
    }

    fn residual(&self, at: &Iterate) -> Residual {
        let mut sum = Residual { free: self.norm, ..Residual::default() };
        for a in 0..self.len() {
            let (r, u) = (at.r[a], [at.u[a][0], at.u[a][1], at.u[a][2]]);
            sum.natural_map += squared(&self.laws[a].natural_map(r, u, 0.0));
            sum.impulses += squared(&r);
            sum.velocities += squared(&u);
        }
        sum.natural_map = sum.natural_map.sqrt();
        sum.impulses = sum.impulses.sqrt();
        sum.velocities = sum.velocities.sqrt();
        sum
    }

    /// Sets up the problem of a proximal step: `W + α`, `q − α r` around the impulses `centre`. The
    /// original problem `plain` must be kept elsewhere: its diagonal and free velocities are
    /// overwritten here.
    pub(super) fn regularize(&mut self, plain: &Packed, alpha: f64, centre: &[[f64; 3]]) {
        for a in 0..self.len() {
            self.diagonal[a] = plain.diagonal[a];
            for i in 0..3 {
                self.diagonal[a][i][i] += alpha;
                self.free[a][i] = plain.free[a][i] - alpha * centre[a][i];
            }
        }
    }
}

impl Buffers for Packed {}

fn squared(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}
