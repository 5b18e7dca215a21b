//! The work of a pass on a chunk of packs, compiled for each SIMD width: a visit to every contact,
//! the effect of all impulses, the residual.

use super::contact::{
    At, Block, Head, Point, Sides, V3, into_ball, natural_map, push, solve, squared, to_local,
    to_spin, turn,
};
use super::lanes::{LANES, Lanes, Row};
use super::packs::{DIRECTION, FREE, FRICTION, IMPULSE, Idle, MASS, MOBILITY, Pack, RATIO, W_NN};
use super::pointer::Pointer;

/// Some packs of one colour with all their data: the unit of work of a member.
pub(super) struct Chunk<'a> {
    /// Index of the first pack.
    pub first: usize,
    pub packs: &'a [Pack],
    pub idle: &'a mut [Idle],
    pub rows: &'a mut [Row],
    /// Sums of a pass over the chunk, per lane.
    pub sums: &'a mut [Row; 5],
}

impl<'a> Chunk<'a> {
    /// Each pack with its rows.
    pub fn packs(&mut self) -> impl Iterator<Item = (&Pack, &mut [Row])> {
        let mut rest = &mut *self.rows;
        self.packs.iter().map(move |pack| (pack, take(&mut rest, pack.n_rows())))
    }
}

#[inline(always)]
fn take<'a>(rows: &mut &'a mut [Row], n: usize) -> &'a mut [Row] {
    rows.split_off_mut(..n).expect("a chunk has the rows of its packs")
}

/// The rows of a pack: the header, the points, and the moment, if there is one.
#[inline(always)]
fn parts<'a>(
    pack: &Pack,
    rows: &'a mut [Row],
) -> (&'a Head, &'a mut [Point], Option<&'a mut Point>) {
    let (head, points) = rows.split_first_chunk_mut().expect("a pack has a header");
    let (points, _) = points.as_chunks_mut();
    let (points, moments) = points.split_at_mut(pack.points as usize);
    (head, points, moments.first_mut())
}

/// The blocks as seen by a pass.
///
/// A pass that writes velocities (`visit`, `start`) proceeds by colours: no two chunks processed at
/// the same time share a block. A pass that only reads them (`measure`) may take the chunks in any
/// order.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    /// `M⁻¹ H I` of each block [m/s, rad/s], and a row of zeros for immovable sides.
    pub velocity: Pointer<'a, Row>,
    /// Inverse inertia (xx, yy, zz, xy, xz, yz) and inverse mass of each block, and a row of zeros.
    pub masses: Pointer<'a, Row>,
    /// Index of the row of zeros.
    pub none: u32,
}

/// Blocks together with the guarantee given when the kernel was created: its own packs may gather,
/// and scatter if the kernel does.
#[derive(Clone, Copy)]
struct Promised<'a>(Blocks<'a>);

impl Promised<'_> {
    /// Velocities of the two sides of the manifolds in some lanes of a pack.
    #[inline(always)]
    fn velocities<L: Lanes>(&self, at: At<L>, pack: &Pack) -> Sides<L> {
        Self::gather(at, self.0.velocity, pack)
    }

    /// Inverse masses of the two sides.
    #[inline(always)]
    fn masses<L: Lanes>(&self, at: At<L>, pack: &Pack) -> Sides<L> {
        Self::gather(at, self.0.masses, pack)
    }

    #[inline(always)]
    fn gather<L: Lanes>(at: At<L>, list: Pointer<Row>, pack: &Pack) -> Sides<L> {
        let mut rows = [[Row::default(); LANES]; 2];
        for side in 0..2 {
            for k in 0..L::N {
                let block = at.index(&pack.blocks[side], k);
                // SAFETY: the blocks of a pack are in the list, and by the kernel's guarantee no
                // other thread writes to the rows of its blocks.
                rows[side][k] = unsafe { list.read(block as usize) };
            }
        }
        [L::columns(at.simd, &rows[0]), L::columns(at.simd, &rows[1])]
    }

    /// Writes the velocities of the two sides back, except for immovable ones. Only for kernels
    /// with exclusive access to them.
    #[inline(always)]
    fn scatter<L: Lanes>(&self, at: At<L>, v: &Sides<L>, pack: &Pack) {
        for side in 0..2 {
            let [a, b, c, d, e, f, ..] = v[side];
            let rows = L::rows([a, b, c, d, e, f]);
            for k in 0..L::N {
                let block = at.index(&pack.blocks[side], k);
                if block != self.0.none {
                    // SAFETY: the blocks of a pack are in the list, and by the kernel's guarantee
                    // no other thread accesses its blocks.
                    unsafe { self.0.velocity.write(block as usize, rows[k]) };
                }
            }
        }
    }
}

/// A pass over one chunk.
pub(super) trait Kernel {
    /// Runs the pass for a SIMD width. Implementations must be inlined: other code is compiled
    /// without the wide instruction set.
    fn run<L: Lanes>(self, simd: L::Simd);
}

/// Parameters of a sweep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep {
    /// Fraction of the last sweep's change that has since been added to the velocities [–].
    pub beta: f64,
    /// Relaxation factor [–].
    pub relaxation: f64,
    /// Accuracy of a sliding contact's solve [–].
    pub local: f64,
    /// Visit idle packs too.
    pub all: bool,
    /// Squared change of velocity above which a pack is not idle [m²/s²].
    pub stir: f64,
}

/// One visit to each pack of a chunk. Sums, in this order: squared changes of velocity, the largest
/// of them, squared `W^αα I`, number of contacts with an impulse.
pub(super) struct Visit<'a> {
    chunk: Chunk<'a>,
    blocks: Promised<'a>,
    sweep: &'a Sweep,
}

impl<'a> Visit<'a> {
    /// A visit to be run.
    ///
    /// # Safety
    /// Until it has run, no other thread may access the velocities of the chunk's blocks or write
    /// to their masses.
    pub unsafe fn new(chunk: Chunk<'a>, blocks: Blocks<'a>, sweep: &'a Sweep) -> Visit<'a> {
        Visit { chunk, blocks: Promised(blocks), sweep }
    }
}

impl Kernel for Visit<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, simd: L::Simd) {
        let Visit { chunk, blocks, sweep } = self;
        let sums = chunk.sums;
        sums[..4].fill(Row::default());
        let mut rest = chunk.rows;
        for (pack, idle) in chunk.packs.iter().zip(chunk.idle) {
            let rows = take(&mut rest, pack.n_rows());
            let before = idle.ahead;
            idle.look_ahead(sweep.beta);
            if idle.left > 0 && !sweep.all {
                idle.left -= 1;
                continue;
            }
            let ahead = [before, idle.ahead];
            let mut stirs = false;
            for lane in (0..LANES).step_by(L::N) {
                let at = At::<L> { simd, lane };
                let mut change =
                    [at.one(sums, 0), at.one(sums, 1), at.one(sums, 2), at.one(sums, 3)];
                stirs |= visit(at, (pack, rows), &blocks, sweep, ahead, &mut change);
                for row in 0..4 {
                    at.put(sums, row, change[row]);
                }
            }
            // A pack that changes little, or has no impulses, is visited less and less often.
            let last = if stirs { 0 } else { (2 * idle.last + 1).min(7) };
            *idle = Idle { left: last, last, ..Idle::default() };
        }
    }
}

/// Visits the contacts of some lanes of a pack; returns whether it is not idle.
#[inline(always)]
fn visit<L: Lanes>(
    at: At<L>,
    (pack, rows): (&Pack, &mut [Row]),
    blocks: &Promised,
    sweep: &Sweep,
    ahead: [f64; 2],
    change: &mut [L; 4],
) -> bool {
    let (zero, ahead) = (at.splat(0.0), [at.splat(ahead[0]), at.splat(ahead[1])]);
    let stir = at.splat(sweep.stir);
    let (head, points, moment) = parts(pack, rows);
    let (mut v, masses) = (blocks.velocities(at, pack), blocks.masses(at, pack));
    let mu = at.one(head, FRICTION);
    let (mut stirs, mut moved) = (false, false);
    let mut carried = zero;
    for point in points {
        let block = Block::load(at, point);
        let q = at.three(point, FREE);
        let wr = to_local(at, head, point, &v);
        let u = [wr[0] + q[0], wr[1] + q[1], wr[2] + q[2]];
        let Impulse { last, r } = Impulse::load(at, point, ahead);
        let new = solve(at, point, &block, mu, u, r, sweep.local);
        let (new, step) = relax(at, new, r, sweep.relaxation);
        at.put3(point, IMPULSE, new);
        carried = carried + new[0].max(zero);
        at.put3(point, DIRECTION, [new[0] - last[0], new[1] - last[1], new[2] - last[2]]);
        let active = zero.lt(new[0]);
        let dv = squared(block.apply(step));
        if L::any(zero.lt(dv)) {
            push(at, head, point, step, &masses, &mut v);
            moved = true;
            change[0] = change[0] + dv;
            change[1] = dv.max(change[1]);
            stirs |= L::any(stir.lt(dv));
        }
        if L::any(active) {
            let w = squared(block.apply(new));
            change[2] = change[2] + L::select(active, w, zero);
            change[3] = change[3] + L::select(active, at.splat(1.0), zero);
        }
    }
    if let Some(moment) = moment {
        let q = at.three(moment, FREE);
        let wr = to_spin(at, moment, &v);
        let mass = at.one(moment, MASS);
        let Impulse { last, r } = Impulse::load(at, moment, ahead);
        let mut new = r;
        for i in 0..3 {
            new[i] = r[i] - (wr[i] + q[i]) * mass;
        }
        let new = into_ball(at, new, carried * at.one(moment, RATIO));
        let (new, step) = relax(at, new, r, sweep.relaxation);
        at.put3(moment, IMPULSE, new);
        at.put3(moment, DIRECTION, [new[0] - last[0], new[1] - last[1], new[2] - last[2]]);
        let mobility = at.one(moment, MOBILITY);
        let dv = squared(step) * mobility * mobility;
        if L::any(zero.lt(dv)) {
            turn(at, moment, step, &masses, &mut v);
            moved = true;
            change[0] = change[0] + dv;
            change[1] = dv.max(change[1]);
            stirs |= L::any(stir.lt(dv));
        }
    }
    if moved {
        blocks.scatter(at, &v, pack);
    }
    stirs
}

/// The impulse to which the velocities are extrapolated, before this sweep and including it.
struct Impulse<L> {
    last: V3<L>,
    r: V3<L>,
}

impl<L: Lanes> Impulse<L> {
    #[inline(always)]
    fn load(at: At<L>, point: &Point, ahead: [L; 2]) -> Impulse<L> {
        let (old, p) = (at.three(point, IMPULSE), at.three(point, DIRECTION));
        let (mut last, mut r) = (old, old);
        for i in 0..3 {
            last[i] = last[i] + ahead[0] * p[i];
            r[i] = r[i] + ahead[1] * p[i];
        }
        Impulse { last, r }
    }
}

/// Moves a fraction of the way from `r` to `new`; returns the result and the step.
#[inline(always)]
fn relax<L: Lanes>(at: At<L>, mut new: V3<L>, r: V3<L>, part: f64) -> (V3<L>, V3<L>) {
    let mut step = [new[0] - r[0], new[1] - r[1], new[2] - r[2]];
    if part < 1.0 {
        for i in 0..3 {
            step[i] = step[i] * at.splat(part);
            new[i] = r[i] + step[i];
        }
    }
    (new, step)
}

/// Adds the effect of all impulses of a chunk to the velocities.
pub(super) struct Start<'a> {
    chunk: Chunk<'a>,
    blocks: Promised<'a>,
}

impl<'a> Start<'a> {
    /// A start to be run.
    ///
    /// # Safety
    /// As for [`Visit::new`].
    pub unsafe fn new(chunk: Chunk<'a>, blocks: Blocks<'a>) -> Start<'a> {
        Start { chunk, blocks: Promised(blocks) }
    }
}

impl Kernel for Start<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, simd: L::Simd) {
        let Start { chunk, blocks } = self;
        let mut rest = chunk.rows;
        for pack in chunk.packs {
            let (head, points, moment) = parts(pack, take(&mut rest, pack.n_rows()));
            for lane in (0..LANES).step_by(L::N) {
                let at = At::<L> { simd, lane };
                let (mut v, masses) = (blocks.velocities(at, pack), blocks.masses(at, pack));
                for point in &*points {
                    push(at, head, point, at.three(point, IMPULSE), &masses, &mut v);
                }
                if let Some(moment) = &moment {
                    turn(at, moment, at.three(moment, IMPULSE), &masses, &mut v);
                }
                blocks.scatter(at, &v, pack);
            }
        }
    }
}

/// The residual of a chunk: squares of the natural map, of impulses, free velocities and velocities, and the fastest approach.
pub(super) struct Measure<'a> {
    chunk: Chunk<'a>,
    blocks: Promised<'a>,
    /// Factor from impulses to velocities [1/kg].
    mobility: f64,
}

impl<'a> Measure<'a> {
    /// A measurement to be run.
    ///
    /// # Safety
    /// Until it has run, no thread may write to the velocities of the chunk's blocks.
    pub unsafe fn new(chunk: Chunk<'a>, blocks: Blocks<'a>, mobility: f64) -> Measure<'a> {
        Measure { chunk, blocks: Promised(blocks), mobility }
    }
}

impl Kernel for Measure<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, simd: L::Simd) {
        let Measure { chunk, blocks, mobility } = self;
        let sums = chunk.sums;
        *sums = [Row::default(); 5];
        let mut rest = chunk.rows;
        for pack in chunk.packs {
            let (head, points, moment) = parts(pack, take(&mut rest, pack.n_rows()));
            for lane in (0..LANES).step_by(L::N) {
                let at = At::<L> { simd, lane };
                let zero = at.splat(0.0);
                let v = blocks.velocities(at, pack);
                let mut carried = zero;
                for point in &*points {
                    let q = at.three(point, FREE);
                    let wr = to_local(at, head, point, &v);
                    // A manifold may have fewer points than its pack.
                    let there = zero.lt(at.single(point, W_NN));
                    let mut u = [zero; 3];
                    for i in 0..3 {
                        u[i] = L::select(there, wr[i] + q[i], zero);
                    }
                    let mut r = at.three(point, IMPULSE);
                    for i in 0..3 {
                        r[i] = r[i] * at.splat(mobility);
                    }
                    carried = carried + r[0].max(zero);
                    let f = natural_map(at, r, u, at.one(head, FRICTION));
                    note(at, sums, [f, r, q, u]);
                    at.put(sums, 4, u[0].neg().max(at.one(sums, 4)));
                }
                if let Some(moment) = &moment {
                    let q = at.three(moment, FREE);
                    let wr = to_spin(at, moment, &v);
                    let mut r = at.three(moment, IMPULSE);
                    let (mut u, mut x) = (wr, wr);
                    for i in 0..3 {
                        r[i] = r[i] * at.splat(mobility);
                        u[i] = wr[i] + q[i];
                        x[i] = r[i] - u[i];
                    }
                    let p = into_ball(at, x, carried * at.one(moment, RATIO));
                    note(at, sums, [[r[0] - p[0], r[1] - p[1], r[2] - p[2]], r, q, u]);
                }
            }
        }
    }
}

/// Adds squares to the first four sums.
#[inline(always)]
fn note<L: Lanes>(at: At<L>, sums: &mut [Row; 5], of: [V3<L>; 4]) {
    for row in 0..4 {
        at.put(sums, row, at.one(sums, row) + squared(of[row]));
    }
}

/// How many contacts to process in parallel SIMD lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// As many as the processor supports.
    #[default]
    Widest,
    /// Eight (AVX-512), or fewer if not supported.
    Eight,
    /// Four (AVX2), or fewer if not supported.
    Four,
    /// One.
    One,
}

/// The width of the kernels.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kernels {
    One,
    #[cfg(target_arch = "x86_64")]
    Four(pulp::x86::V3),
    #[cfg(target_arch = "x86_64")]
    Eight(pulp::x86::V4),
}

impl Kernels {
    /// The widest that the processor supports and `width` allows.
    pub fn choose(width: Width) -> Kernels {
        #[cfg(target_arch = "x86_64")]
        {
            if matches!(width, Width::Widest | Width::Eight)
                && let Some(simd) = pulp::x86::V4::try_new()
            {
                return Kernels::Eight(simd);
            }
            if width != Width::One
                && let Some(simd) = pulp::x86::V3::try_new()
            {
                return Kernels::Four(simd);
            }
        }
        let _ = width;
        Kernels::One
    }

    /// Runs a pass over a chunk.
    #[inline(always)]
    pub fn run(self, kernel: impl Kernel) {
        match self {
            Kernels::One => kernel.run::<f64>(()),
            #[cfg(target_arch = "x86_64")]
            Kernels::Four(simd) => simd.vectorize(wide::Run::<_, super::lanes::Avx2>(kernel, simd)),
            #[cfg(target_arch = "x86_64")]
            Kernels::Eight(simd) => {
                simd.vectorize(wide::Run::<_, super::lanes::Avx512>(kernel, simd));
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Kernel, Lanes};

    /// A kernel to be run with the instruction set of a token.
    pub struct Run<K, L: Lanes>(pub K, pub L::Simd);

    impl<K: Kernel, L: Lanes> pulp::NullaryFnOnce for Run<K, L> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            self.0.run::<L>(self.1);
        }
    }
}

#[cfg(test)]
mod tests;
