//! The layout of the contact problem for the sweeps: manifolds are coloured so that a colour
//! touches no block twice, and packed eight at a time into SIMD lanes.

use super::super::rolling::largest;
use super::super::{ContactProblem, Factored, Law};
use super::lanes::{LANES, Row};
use crate::math::{bytes_of, make_room, parallel};

/// Rows of a pack before its points: frame and friction.
pub(super) const FRAME: usize = 0;
pub(super) const FRICTION: usize = 9;
pub(super) const HEADER: usize = 10;

/// Rows of a point.
pub(super) const ARM: [usize; 2] = [0, 3];
/// Free velocity [m/s].
pub(super) const FREE: usize = 6;
/// Impulse, and its change by the last sweep [N s].
pub(super) const IMPULSE: usize = 9;
pub(super) const DIRECTION: usize = 12;
/// Slip divided by impulse of a sliding contact [1/kg]: the starting point of its next solve.
pub(super) const SLIP: usize = 15;
/// Four rows with seven single-precision fields. They affect the path to the solution, but not the
/// solution: impulses whose velocities obey the laws are left unchanged, whatever the block.
pub(super) const BLOCK: usize = 16;
pub(super) const POINT: usize = 20;
/// Fields of the block: `W_nn`, `1 / W_nn` and `W_nt / W_nn`.
pub(super) const W_NN: usize = 0;
pub(super) const INVERSE: usize = 1;
pub(super) const COUPLING: usize = 2;
/// The tangential block with the normal eliminated: 11, 12, 22.
pub(super) const TANGENTIAL: usize = 4;

/// Rows of a moment of rolling resistance, which follows the points and has the same size: the
/// length that converts spins to velocities, the limit relative to the normal impulses, and a bound
/// of the block with its inverse. `FREE`, `IMPULSE` and `DIRECTION` are those of a point.
pub(super) const LENGTH: usize = 0;
pub(super) const RATIO: usize = 1;
pub(super) const MOBILITY: usize = 2;
pub(super) const MASS: usize = 3;

/// No moment.
const NO_MOMENT: u32 = u32::MAX;

/// More colours than this are not worth a pass of their own: the remaining contacts are solved
/// individually at the end.
const COLOURS: u32 = 48;
/// Packs per chunk, the unit of work of a thread and of partial sums.
const CHUNK: usize = 4;
/// Chunks of one colour whose sums are added up by one member while all go on to the next colour.
const SEGMENT: usize = 32;

/// Eight manifolds of one colour.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Pack {
    /// The two blocks of each manifold; the row of zeros after all blocks for an immovable side.
    pub blocks: [[u32; LANES]; 2],
    /// First contact of each manifold, and its number of contacts.
    contacts: [u32; LANES],
    lengths: [u8; LANES],
    /// Its first row.
    pub first: u32,
    /// Points of the longest manifold.
    pub points: u32,
    /// 1 if moments follow the points, 0 otherwise.
    pub moments: u32,
    /// Whether it is expected to carry impulses.
    busy: bool,
}

/// A pack that changes little skips some sweeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Idle {
    /// Sweeps that it still skips, and how many it skipped last.
    pub left: u8,
    pub last: u8,
    /// How much of its last change the velocities have been extrapolated by since [–], and the part
    /// of that in the last sweep.
    pub ahead: f64,
    pub factor: f64,
}

impl Default for Idle {
    fn default() -> Self {
        Idle { left: 0, last: 0, ahead: 0.0, factor: 1.0 }
    }
}

impl Idle {
    /// The velocities are extrapolated by one more sweep.
    #[inline(always)]
    pub fn look_ahead(&mut self, beta: f64) {
        self.factor *= beta;
        self.ahead += self.factor;
    }
}

/// The properties of a contact needed for sorting, gathered on all threads: contacts are large, and
/// reading all of them takes long.
#[derive(Clone, Copy, Debug, Default)]
struct Summary {
    /// Rows of its two blocks; see [`row_of`].
    blocks: [u32; 2],
    /// It cannot be packed.
    single: bool,
    /// Warm or approaching.
    busy: bool,
    /// Blocks, frame and law are the same as those of the previous contact.
    goes_on: bool,
}

impl Summary {
    fn of(w: &Factored, problem: &ContactProblem, impulses: &[[f64; 3]], a: usize) -> Summary {
        let contacts = w.contacts();
        let c = &contacts[a];
        let even = c.blocks.iter().all(|b| {
            let m = w.masses().get(*b as usize).map_or([0.0; 3], |m| m.linear);
            m[0] == m[1] && m[1] == m[2]
        });
        Summary {
            blocks: row_of(c.blocks, w.n_blocks()),
            single: !matches!(problem.laws[a], Law::Coulomb { .. })
                || !even
                || c.has_sides()
                || c.is_locked(),
            busy: impulses[a][0] > 0.0 || problem.v_rel_free[a][0] < 0.0,
            goes_on: a.checked_sub(1).is_some_and(|b| {
                contacts[b].blocks == c.blocks
                    && contacts[b].frame == c.frame
                    && problem.laws[b] == problem.laws[a]
            }),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Manifold {
    first: u32,
    blocks: [u32; 2],
    length: u8,
    /// Warm or approaching: not expected to stay open.
    busy: bool,
    colour: u8,
    /// Its moment in [`ContactProblem::rolling`], or [`NO_MOMENT`].
    moment: u32,
}

/// A problem in packs.
#[derive(Clone, Debug, Default)]
pub(super) struct Packs {
    pub rows: Vec<Row>,
    pub packs: Vec<Pack>,
    pub idle: Vec<Idle>,
    /// Ranges of packs.
    pub chunks: Vec<[u32; 2]>,
    /// The chunks of each colour, ordered such that every contiguous part has a similar amount of
    /// work: each part gets a share of each kind of chunk, and nearly the same blocks in every
    /// colour, since chunks of a kind are ordered by block.
    pub shares: Vec<u32>,
    /// Ranges of chunks, one per colour.
    pub colours: Vec<[u32; 2]>,
    /// Ranges of chunks whose sums are added up by one member ([`SEGMENT`]), colour by colour.
    pub segments: Vec<[u32; 2]>,
    /// Ranges of segments, one per colour.
    pub segments_of: Vec<[u32; 2]>,
    /// Moments of each pack in [`ContactProblem::rolling`]; empty if there are none.
    pub moments: Vec<[u32; LANES]>,
    /// Contacts that are solved one by one after all colours: joints, contacts on mechanisms,
    /// locked directions, and those of blocks with more contacts than colours; then the moments of
    /// such contacts.
    pub single: Vec<u32>,
    summaries: Vec<Summary>,
    manifolds: Vec<Manifold>,
    order: Vec<u32>,
    used: Vec<u64>,
    starts: Vec<u32>,
    /// Position of each chunk of a colour among those with the same amount of work, from 0 to 1.
    places: Vec<f32>,
}

impl Packs {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        bytes_of(&self.rows)
            + bytes_of(&self.packs)
            + bytes_of(&self.idle)
            + bytes_of(&self.chunks)
            + bytes_of(&self.shares)
            + bytes_of(&self.moments)
            + bytes_of(&self.single)
            + bytes_of(&self.summaries)
            + bytes_of(&self.manifolds)
            + bytes_of(&self.order)
            + bytes_of(&self.used)
    }

    /// Examines all contacts, on all threads. The impulses indicate which contacts are expected to
    /// carry impulses.
    pub fn survey(&mut self, w: &Factored, problem: &ContactProblem, impulses: &[[f64; 3]]) {
        parallel::fill(&mut self.summaries, w.contacts().len(), |a| {
            Summary::of(w, problem, impulses, a)
        });
    }

    /// Sorts the contacts into manifolds, colours and packs, after a [`Packs::survey`].
    pub fn arrange(&mut self, n_blocks: usize, problem: &ContactProblem) {
        self.find_manifolds(problem);
        self.colour(n_blocks, problem);
        self.pack(n_blocks, problem);
    }

    fn find_manifolds(&mut self, problem: &ContactProblem) {
        self.manifolds.clear();
        self.single.clear();
        let first_moment = problem.first_rolling() as u32;
        let mut moments = (0..).zip(&problem.rolling).peekable();
        for (a, summary) in self.summaries.iter().enumerate() {
            let moment = moments.next_if(|(_, m)| m.contacts[0] as usize == a).map(|(k, _)| k);
            let Summary { blocks, single, busy, goes_on } = *summary;
            if single {
                self.single.push(a as u32);
                self.single.extend(moment.map(|k: u32| first_moment + k));
                continue;
            }
            if let Some(m) = self.manifolds.last_mut()
                && goes_on
                && m.first + u32::from(m.length) == a as u32
                && m.length < 4
                && moment.is_none()
            {
                m.length += 1;
                m.busy |= busy;
            } else {
                let (first, moment) = (a as u32, moment.unwrap_or(NO_MOMENT));
                self.manifolds.push(Manifold { first, blocks, length: 1, busy, colour: 0, moment });
            }
        }
    }

    /// Assigns to each manifold the first colour that neither of its blocks has yet.
    fn colour(&mut self, none: usize, problem: &ContactProblem) {
        self.used.clear();
        self.used.resize(none + 1, 0);
        let single = &mut self.single;
        let used = &mut self.used;
        self.manifolds.retain_mut(|m| {
            let [i, j] = m.blocks.map(|b| b as usize);
            let taken = (if i < none { used[i] } else { 0 }) | (if j < none { used[j] } else { 0 });
            let colour = taken.trailing_ones();
            if colour >= COLOURS {
                single.extend(m.first..m.first + u32::from(m.length));
                if m.moment != NO_MOMENT {
                    single.push(problem.first_rolling() as u32 + m.moment);
                }
                return false;
            }
            m.colour = colour as u8;
            used[i] |= 1 << colour;
            used[j] |= 1 << colour;
            true
        });
        single.sort_unstable();
    }

    /// Sorts by colour, then those expected to carry impulses first, then longer ones first: few
    /// lanes stay empty, and idle manifolds are grouped.
    fn pack(&mut self, none: usize, problem: &ContactProblem) {
        let class = |m: &Manifold| {
            8 * usize::from(m.colour) + 4 * usize::from(!m.busy) + usize::from(4 - m.length)
        };
        self.starts.clear();
        self.starts.resize(8 * COLOURS as usize + 1, 0);
        for m in &self.manifolds {
            self.starts[class(m) + 1] += 1;
        }
        for k in 1..self.starts.len() {
            self.starts[k] += self.starts[k - 1];
        }
        self.order.clear();
        self.order.resize(self.manifolds.len(), 0);
        let mut at = std::mem::take(&mut self.starts);
        for (k, m) in self.manifolds.iter().enumerate() {
            let slot = &mut at[class(m)];
            self.order[*slot as usize] = k as u32;
            *slot += 1;
        }
        self.starts = at;

        self.packs.clear();
        self.moments.clear();
        let has_moments = u32::from(!problem.rolling.is_empty());
        self.chunks.clear();
        self.shares.clear();
        self.colours.clear();
        self.segments.clear();
        self.segments_of.clear();
        let (mut rows, mut k) = (0, 0);
        while k < self.order.len() {
            let manifold = |k: usize| &self.manifolds[self.order[k] as usize];
            let colour = manifold(k).colour;
            let (first_chunk, first_pack) = (self.chunks.len(), self.packs.len());
            while k < self.order.len() && manifold(k).colour == colour {
                let mut pack = Pack { first: rows, ..Pack::default() };
                pack.blocks = [[none as u32; LANES]; 2];
                let mut moments = [NO_MOMENT; LANES];
                pack.moments = has_moments;
                // Idle manifolds start a new pack.
                let busy = manifold(k).busy;
                pack.busy = busy;
                for lane in 0..LANES {
                    if k == self.order.len() {
                        break;
                    }
                    let m = manifold(k);
                    if m.colour != colour || m.busy != busy {
                        break;
                    }
                    [pack.blocks[0][lane], pack.blocks[1][lane]] = m.blocks;
                    pack.contacts[lane] = m.first;
                    pack.lengths[lane] = m.length;
                    moments[lane] = m.moment;
                    pack.points = pack.points.max(u32::from(m.length));
                    k += 1;
                }
                rows += pack.n_rows() as u32;
                self.packs.push(pack);
                if has_moments > 0 {
                    self.moments.push(moments);
                }
            }
            let n = self.packs.len();
            for start in (first_pack..n).step_by(CHUNK) {
                self.chunks.push([start as u32, (start + CHUNK).min(n) as u32]);
            }
            let (end_chunk, first_segment) = (self.chunks.len(), self.segments.len() as u32);
            self.colours.push([first_chunk as u32, end_chunk as u32]);
            for start in (first_chunk..end_chunk).step_by(SEGMENT) {
                self.segments.push([start as u32, (start + SEGMENT).min(end_chunk) as u32]);
            }
            self.segments_of.push([first_segment, self.segments.len() as u32]);
            let work = |chunk: &[u32; 2]| {
                let pack = &self.packs[chunk[0] as usize];
                (pack.busy, pack.points)
            };
            self.places.clear();
            for alike in self.chunks[first_chunk..].chunk_by(|a, b| work(a) == work(b)) {
                let n = alike.len() as f32;
                self.places.extend((0..alike.len()).map(|k| (k as f32 + 0.5) / n));
            }
            let place = |chunk: &u32| self.places[*chunk as usize - first_chunk];
            self.shares.extend(first_chunk as u32..self.chunks.len() as u32);
            self.shares[first_chunk..].sort_by(|a, b| place(a).total_cmp(&place(b)));
        }
        // Every row is written by `fill`.
        let more = (rows as usize).saturating_sub(self.rows.len());
        make_room(&mut self.rows, more);
        self.rows.resize(rows as usize, Row::default());
        self.idle.clear();
        make_room(&mut self.idle, self.packs.len());
        self.idle.resize(self.packs.len(), Idle::default());
    }
}

impl Pack {
    /// Its contacts: lane, point and index.
    pub fn contacts(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        (0..LANES).flat_map(move |lane| {
            let first = self.contacts[lane] as usize;
            (0..usize::from(self.lengths[lane])).map(move |point| (lane, point, first + point))
        })
    }

    /// Its moments: lane, and index in [`ContactProblem::rolling`].
    pub fn moments(moments: &[u32; LANES]) -> impl Iterator<Item = (usize, usize)> + '_ {
        let there = moments.iter().enumerate().filter(|(_, k)| **k != NO_MOMENT);
        there.map(|(lane, k)| (lane, *k as usize))
    }

    /// First row of its moments.
    pub fn moment_row(&self) -> usize {
        HEADER + POINT * self.points as usize
    }

    /// Number of its rows.
    pub fn n_rows(&self) -> usize {
        HEADER + POINT * (self.points + self.moments) as usize
    }

    /// Writes the rows of the pack.
    pub fn fill(
        &self,
        w: &Factored,
        problem: &ContactProblem,
        impulses: &[[f64; 3]],
        moments: Option<&[u32; LANES]>,
        rows: &mut [Row],
    ) {
        rows.fill(Row::default());
        for (lane, point, a) in self.contacts() {
            let c = &w.contacts()[a];
            if point == 0 {
                for (k, x) in c.frame.as_flattened().iter().enumerate() {
                    rows[FRAME + k].0[lane] = *x;
                }
                rows[FRICTION].0[lane] = problem.laws[a].friction().unwrap_or(0.0);
            }
            let at = &mut rows[HEADER + POINT * point..][..POINT];
            let mut put = |row: usize, numbers: &[f64]| {
                for (k, x) in numbers.iter().enumerate() {
                    at[row + k].0[lane] = *x;
                }
            };
            put(ARM[0], &c.arms[0]);
            put(ARM[1], &c.arms[1]);
            put(FREE, &problem.v_rel_free[a]);
            put(IMPULSE, &impulses[a]);
            let wb = c.diagonal();
            let inverse = 1.0 / wb[0][0];
            let s = [wb[0][1] * inverse, wb[0][2] * inverse];
            let a11 = wb[1][1] - wb[1][0] * s[0];
            let a12 = wb[1][2] - wb[1][0] * s[1];
            let a22 = wb[2][2] - wb[2][0] * s[1];
            let block = [wb[0][0], inverse, s[0], s[1], a11, a12, a22];
            for (field, x) in block.into_iter().enumerate() {
                at[BLOCK + field / 2].put_single(LANES * (field % 2) + lane, x as f32);
            }
        }
        for (lane, k) in moments.into_iter().flat_map(Pack::moments) {
            let (turning, a) = (&w.turning()[k], problem.first_rolling() + k);
            let mobility = largest(&turning.w);
            if mobility <= 0.0 {
                continue;
            }
            let ratio = problem.rolling[k].ratio;
            let at = &mut rows[self.moment_row()..];
            let mut put = |row: usize, numbers: &[f64]| {
                for (k, x) in numbers.iter().enumerate() {
                    at[row + k].0[lane] = *x;
                }
            };
            put(LENGTH, &[turning.length, ratio, mobility, 1.0 / mobility]);
            put(FREE, &problem.v_rel_free[a]);
            put(IMPULSE, &impulses[a]);
        }
    }
}

/// The row of each block; the one after all others for an immovable side.
fn row_of(blocks: [u32; 2], none: usize) -> [u32; 2] {
    blocks.map(|b| if b == Factored::NONE { none as u32 } else { b })
}

#[cfg(test)]
mod tests;
