//! What a sweep does to eight manifolds at once. Each lane follows the same algebra as the readable solver: the velocity
//! at a contact, the exact one-contact solve, and the impulse's effect on the two blocks.

use super::lanes::{LANES, Lanes, Row};
use super::packs::{
    ARM, BLOCK, COUPLING, DIRECTION, FRAME, FREE, FRICTION, HEADER, IMPULSE, INVERSE, Idle, LENGTH,
    MASS, MOBILITY, POINT, Pack, RATIO, SLIP, TANGENTIAL, W_NN,
};

/// The data that all threads work on.
///
/// Safety: a row of a pack, its `idle`, and the sums of its chunk belong to the thread that was given the chunk; a velocity
/// belongs to the one manifold of the current colour that touches its block. Threads meet between colours. Masses are written part by
/// part before the first meeting, and only read after it.
#[derive(Clone, Copy)]
pub(super) struct Shared {
    pub rows: *mut Row,
    pub packs: *const Pack,
    pub idle: *mut Idle,
    /// `M⁻¹ H I` of each block [m/s, rad/s], and a row of zeros for what does not move.
    pub velocity: *mut Row,
    /// Inverse inertia (xx, yy, zz, xy, xz, yz) and inverse mass of each, and a row of zeros.
    pub masses: *mut Row,
    pub none: u32,
    /// Sums of each chunk.
    pub sums: *mut [Row; 5],
}

unsafe impl Sync for Shared {}
unsafe impl Send for Shared {}

/// How a sweep goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep {
    /// Share of the last sweep's change that was added to the velocities since [–].
    pub beta: f64,
    /// Part of the way to go [–].
    pub relaxation: f64,
    /// Accuracy of a sliding contact's solve [–].
    pub local: f64,
    /// Visit idle packs too.
    pub all: bool,
    /// Squared change of velocity from which on a pack is not idle [m²/s²].
    pub stir: f64,
}

type V3<L> = [L; 3];

#[inline(always)]
unsafe fn dot<L: Lanes>(a: V3<L>, b: V3<L>) -> L {
    unsafe { a[0].mul(b[0]).add(a[1].mul(b[1])).add(a[2].mul(b[2])) }
}

#[inline(always)]
unsafe fn cross<L: Lanes>(a: V3<L>, b: V3<L>) -> V3<L> {
    unsafe {
        [
            a[1].mul(b[2]).sub(a[2].mul(b[1])),
            a[2].mul(b[0]).sub(a[0].mul(b[2])),
            a[0].mul(b[1]).sub(a[1].mul(b[0])),
        ]
    }
}

/// Reads lanes of consecutive rows.
#[derive(Clone, Copy)]
struct At(*mut f64);

impl At {
    #[inline(always)]
    unsafe fn one<L: Lanes>(self, row: usize) -> L {
        unsafe { L::load(self.0.add(row * LANES)) }
    }
    #[inline(always)]
    unsafe fn three<L: Lanes>(self, row: usize) -> V3<L> {
        unsafe { [self.one(row), self.one(row + 1), self.one(row + 2)] }
    }
    /// A field of the block of a point.
    #[inline(always)]
    unsafe fn single<L: Lanes>(self, lane: usize, field: usize) -> L {
        unsafe {
            let row = self.0.sub(lane).add(BLOCK * LANES).cast::<f32>();
            L::load_single(row.add(field * LANES + lane))
        }
    }
    #[inline(always)]
    unsafe fn put<L: Lanes>(self, row: usize, x: L) {
        unsafe { x.store(self.0.add(row * LANES)) }
    }
    #[inline(always)]
    unsafe fn put3<L: Lanes>(self, row: usize, x: V3<L>) {
        unsafe {
            self.put(row, x[0]);
            self.put(row + 1, x[1]);
            self.put(row + 2, x[2]);
        }
    }
}

/// Velocities, or inverse masses, of the two sides of a manifold.
type Sides<L> = [[L; 8]; 2];

/// Relative velocity at a point in its frame, without the free part.
#[inline(always)]
unsafe fn to_local<L: Lanes>(head: At, point: At, v: &Sides<L>) -> V3<L> {
    unsafe {
        // No closures in kernels: they would be compiled without the wide instructions.
        let (a, b) = (&v[0], &v[1]);
        let spin_a = cross([a[3], a[4], a[5]], point.three(ARM[0]));
        let spin_b = cross([b[3], b[4], b[5]], point.three(ARM[1]));
        let dv = [
            b[0].add(spin_b[0]).sub(a[0].add(spin_a[0])),
            b[1].add(spin_b[1]).sub(a[1].add(spin_a[1])),
            b[2].add(spin_b[2]).sub(a[2].add(spin_a[2])),
        ];
        [dot(head.three(FRAME), dv), dot(head.three(FRAME + 3), dv), dot(head.three(FRAME + 6), dv)]
    }
}

/// Adds the effect of an impulse to the velocities of the two sides.
#[inline(always)]
unsafe fn push<L: Lanes>(head: At, point: At, r: V3<L>, masses: &Sides<L>, v: &mut Sides<L>) {
    unsafe {
        let [n, t1, t2]: [V3<L>; 3] =
            [head.three(FRAME), head.three(FRAME + 3), head.three(FRAME + 6)];
        let mut p = [L::zero(); 3];
        for i in 0..3 {
            p[i] = n[i].mul(r[0]).add(t1[i].mul(r[1])).add(t2[i].mul(r[2]));
        }
        for side in 0..2 {
            let moment = cross(point.three(ARM[side]), p);
            let [xx, yy, zz, xy, xz, yz, linear, _] = masses[side];
            let spin =
                [dot([xx, xy, xz], moment), dot([xy, yy, yz], moment), dot([xz, yz, zz], moment)];
            let v = &mut v[side];
            for i in 0..3 {
                let (dv, dw) = (linear.mul(p[i]), spin[i]);
                if side == 0 {
                    v[i] = v[i].sub(dv);
                    v[3 + i] = v[3 + i].sub(dw);
                } else {
                    v[i] = v[i].add(dv);
                    v[3 + i] = v[3 + i].add(dw);
                }
            }
        }
    }
}

/// Relative spin of the two sides as a velocity, without the free part.
#[inline(always)]
unsafe fn to_spin<L: Lanes>(moment: At, v: &Sides<L>) -> V3<L> {
    unsafe {
        let length: L = moment.one(LENGTH);
        let (a, b) = (&v[0], &v[1]);
        [length.mul(b[3].sub(a[3])), length.mul(b[4].sub(a[4])), length.mul(b[5].sub(a[5]))]
    }
}

/// Adds the effect of a moment to the velocities of the two sides.
#[inline(always)]
unsafe fn turn<L: Lanes>(moment: At, r: V3<L>, masses: &Sides<L>, v: &mut Sides<L>) {
    unsafe {
        let length: L = moment.one(LENGTH);
        let m = [length.mul(r[0]), length.mul(r[1]), length.mul(r[2])];
        for side in 0..2 {
            let [xx, yy, zz, xy, xz, yz, ..] = masses[side];
            let spin = [dot([xx, xy, xz], m), dot([xy, yy, yz], m), dot([xz, yz, zz], m)];
            let v = &mut v[side];
            for i in 0..3 {
                v[3 + i] = if side == 0 { v[3 + i].sub(spin[i]) } else { v[3 + i].add(spin[i]) };
            }
        }
    }
}

/// Back into the ball of a radius.
#[inline(always)]
unsafe fn into_ball<L: Lanes>(x: V3<L>, limit: L) -> V3<L> {
    unsafe {
        let length = squared(x).sqrt();
        let scale = L::select(limit.lt(length), limit.div(length), L::splat(1.0));
        [x[0].mul(scale), x[1].mul(scale), x[2].mul(scale)]
    }
}

/// `W^αα` of a point.
struct Block<L> {
    w_nn: L,
    inverse: L,
    coupling: [L; 2],
    tangential: V3<L>,
}

impl<L: Lanes> Block<L> {
    #[inline(always)]
    unsafe fn load(point: At, lane: usize) -> Block<L> {
        unsafe {
            Block {
                w_nn: point.single(lane, W_NN),
                inverse: point.single(lane, INVERSE),
                coupling: [point.single(lane, COUPLING), point.single(lane, COUPLING + 1)],
                tangential: [
                    point.single(lane, TANGENTIAL),
                    point.single(lane, TANGENTIAL + 1),
                    point.single(lane, TANGENTIAL + 2),
                ],
            }
        }
    }
}

/// `W^αα x`.
#[inline(always)]
unsafe fn apply<L: Lanes>(b: &Block<L>, x: V3<L>) -> V3<L> {
    unsafe {
        let (s, [a11, a12, a22]) = (b.coupling, b.tangential);
        let n = b.w_nn.mul(x[0].add(s[0].mul(x[1])).add(s[1].mul(x[2])));
        [
            n,
            s[0].mul(n).add(a11.mul(x[1])).add(a12.mul(x[2])),
            s[1].mul(n).add(a12.mul(x[1])).add(a22.mul(x[2])),
        ]
    }
}

/// Slowest approach that counts, over `W_nn` [kg m/s].
const SLOWEST: f64 = 1e-150;

/// The exact one-contact solve of `local.rs`, lane by lane: the impulse for a velocity `u` that the impulse `r` made.
#[inline(always)]
unsafe fn solve<L: Lanes>(
    point: At,
    block: &Block<L>,
    mu: L,
    u: V3<L>,
    r: V3<L>,
    accuracy: L,
) -> V3<L> {
    unsafe {
        let (zero, one) = (L::zero(), L::splat(1.0));
        let (s, [a11, a12, a22]) = (block.coupling, block.tangential);
        // With the normal eliminated: r_n = −(s · r_t + d), A r_t = −b.
        let d = u[0].mul(block.inverse).sub(r[0].add(s[0].mul(r[1])).add(s[1].mul(r[2])));
        let b = [
            u[1].sub(s[0].mul(u[0])).sub(a11.mul(r[1])).sub(a12.mul(r[2])),
            u[2].sub(s[1].mul(u[0])).sub(a12.mul(r[1])).sub(a22.mul(r[2])),
        ];
        let closed = d.lt(L::splat(-SLOWEST));
        if !L::any(closed) {
            point.put(SLIP, zero);
            return [zero; 3];
        }
        let det = one.div(a11.mul(a22).sub(a12.mul(a12)));
        let t =
            [a12.mul(b[1]).sub(a22.mul(b[0])).mul(det), a12.mul(b[0]).sub(a11.mul(b[1])).mul(det)];
        let n = s[0].mul(t[0]).add(s[1].mul(t[1])).add(d).neg();
        let limit = mu.mul(n);
        let inside = t[0].mul(t[0]).add(t[1].mul(t[1])).le(limit.mul(limit));
        let sticks = L::and(inside, zero.le(n));
        // Without friction only the normal is left.
        let mut new = [
            L::select(sticks, n, d.neg()),
            L::select(sticks, t[0], zero),
            L::select(sticks, t[1], zero),
        ];
        let slides = L::and(L::and_not(closed, sticks), zero.lt(mu));
        let mut slip = zero;
        if L::any(slides) {
            let b_length = b[0].mul(b[0]).add(b[1].mul(b[1])).sqrt();
            let s_length = s[0].mul(s[0]).add(s[1].mul(s[1])).sqrt();
            let force = mu.mul(d).neg();
            let mut low = zero;
            let mut high = b_length.mul(one.add(mu.mul(s_length))).div(force);
            let mobility = L::splat(0.5).mul(a11.add(a22));
            let last: L = point.one(SLIP);
            let guess = L::select(zero.lt(last), last, b_length.div(force).sub(mobility));
            let mut lambda = guess.max(low).min(high);
            let mut active = slides;
            let (mut t, mut n) = ([zero; 2], zero);
            let mut norm = one;
            for _ in 0..40 {
                let (x11, x22) = (a11.add(lambda), a22.add(lambda));
                let inverse = one.div(x11.mul(x22).sub(a12.mul(a12)));
                t = [
                    a12.mul(b[1]).sub(x22.mul(b[0])).mul(inverse),
                    a12.mul(b[0]).sub(x11.mul(b[1])).mul(inverse),
                ];
                n = s[0].mul(t[0]).add(s[1].mul(t[1])).add(d).neg();
                let norm2 = t[0].mul(t[0]).add(t[1].mul(t[1]));
                norm = norm2.sqrt();
                let ratio = mu.div(norm);
                let value = n.mul(ratio).sub(one);
                active = L::and(active, accuracy.lt(value.abs()));
                if !L::any(active) {
                    break;
                }
                let short = value.lt(zero);
                low = L::select(short, lambda, low);
                high = L::select(short, high, lambda);
                let dt = [
                    x22.mul(t[0]).sub(a12.mul(t[1])).mul(inverse),
                    x11.mul(t[1]).sub(a12.mul(t[0])).mul(inverse),
                ];
                let along = t[0].mul(dt[0]).add(t[1].mul(dt[1])).div(norm2);
                let slope = ratio.mul(s[0].mul(dt[0]).add(s[1].mul(dt[1])).add(n.mul(along)));
                let newton = lambda.sub(value.div(slope));
                let within = L::and(low.lt(newton), newton.lt(high));
                let next = L::select(within, newton, L::splat(0.5).mul(low.add(high)));
                let least = L::splat(1e-15).mul(lambda.add(mobility));
                active = L::and(active, least.lt(next.sub(lambda).abs()));
                lambda = L::select(active, next, lambda);
            }
            // Exactly on the cone.
            n = n.max(zero);
            let scale = L::select(zero.lt(norm), mu.mul(n).div(norm), zero);
            new = [
                L::select(slides, n, new[0]),
                L::select(slides, t[0].mul(scale), new[1]),
                L::select(slides, t[1].mul(scale), new[2]),
            ];
            slip = L::select(slides, lambda, zero);
        }
        point.put(SLIP, slip);
        [
            L::select(closed, new[0], zero),
            L::select(closed, new[1], zero),
            L::select(closed, new[2], zero),
        ]
    }
}

#[inline(always)]
fn six<L: Lanes>(v: [L; 8]) -> [L; 6] {
    [v[0], v[1], v[2], v[3], v[4], v[5]]
}

/// Sums of a chunk, in this order: squared changes of velocity, the largest of them, squared `W^αα I`, contacts that carry.
struct Change<L>([L; 4]);

#[inline(always)]
unsafe fn squared<L: Lanes>(x: V3<L>) -> L {
    unsafe { dot(x, x) }
}

/// One visit to each pack of a chunk.
#[inline(always)]
unsafe fn visit<L: Lanes>(shared: &Shared, chunk: usize, packs: [u32; 2], sweep: &Sweep) {
    unsafe {
        let sums = shared.sums.add(chunk);
        for row in 0..4 {
            (*sums)[row] = Row::default();
        }
        for k in packs[0] as usize..packs[1] as usize {
            let pack = &*shared.packs.add(k);
            let idle = &mut *shared.idle.add(k);
            let before = idle.ahead;
            idle.look_ahead(sweep.beta);
            if idle.left > 0 && !sweep.all {
                idle.left -= 1;
                continue;
            }
            let ahead = [before, idle.ahead];
            let mut stirs = false;
            for lane in (0..LANES).step_by(L::N) {
                let at = (*sums).as_mut_ptr().cast::<f64>().add(lane);
                let mut change =
                    Change::<L>([At(at).one(0), At(at).one(1), At(at).one(2), At(at).one(3)]);
                stirs |= visit_lanes(shared, pack, lane, sweep, ahead, &mut change);
                for row in 0..4 {
                    At(at).put(row, change.0[row]);
                }
            }
            // A pack that changes little, or has no impulse at all, is visited less and less often.
            let last = if stirs { 0 } else { (2 * idle.last + 1).min(7) };
            *idle = Idle { left: last, last, ..Idle::default() };
        }
    }
}

#[inline(always)]
unsafe fn visit_lanes<L: Lanes>(
    shared: &Shared,
    pack: &Pack,
    lane: usize,
    sweep: &Sweep,
    ahead: [f64; 2],
    change: &mut Change<L>,
) -> bool {
    unsafe {
        let (zero, ahead) = (L::zero(), [L::splat(ahead[0]), L::splat(ahead[1])]);
        let stir = L::splat(sweep.stir);
        let head = At(shared.rows.add(pack.first as usize).cast::<f64>().add(lane));
        let blocks = [pack.blocks[0].as_ptr().add(lane), pack.blocks[1].as_ptr().add(lane)];
        let mut v = [L::gather(shared.velocity, blocks[0]), L::gather(shared.velocity, blocks[1])];
        let masses = [L::gather(shared.masses, blocks[0]), L::gather(shared.masses, blocks[1])];
        let mu: L = head.one(FRICTION);
        let (mut stirs, mut moved) = (false, false);
        let mut carried = zero;
        for k in 0..pack.points as usize {
            let point = At(head.0.add((HEADER + POINT * k) * LANES));
            let block = Block::load(point, lane);
            // What the velocities already look ahead to.
            let (old, p): (V3<L>, V3<L>) = (point.three(IMPULSE), point.three(DIRECTION));
            let (mut last, mut r) = (old, old);
            for i in 0..3 {
                last[i] = last[i].add(ahead[0].mul(p[i]));
                r[i] = r[i].add(ahead[1].mul(p[i]));
            }
            let q: V3<L> = point.three(FREE);
            let wr = to_local(head, point, &v);
            let u = [wr[0].add(q[0]), wr[1].add(q[1]), wr[2].add(q[2])];
            let mut new = solve(point, &block, mu, u, r, L::splat(sweep.local));
            let mut step = [new[0].sub(r[0]), new[1].sub(r[1]), new[2].sub(r[2])];
            if sweep.relaxation < 1.0 {
                for i in 0..3 {
                    step[i] = step[i].mul(L::splat(sweep.relaxation));
                    new[i] = r[i].add(step[i]);
                }
            }
            point.put3(IMPULSE, new);
            carried = carried.add(new[0].max(zero));
            point.put3(DIRECTION, [new[0].sub(last[0]), new[1].sub(last[1]), new[2].sub(last[2])]);
            let active = zero.lt(new[0]);
            let dv = squared(apply(&block, step));
            if L::any(zero.lt(dv)) {
                push(head, point, step, &masses, &mut v);
                moved = true;
                change.0[0] = change.0[0].add(dv);
                change.0[1] = dv.max(change.0[1]);
                stirs |= L::any(stir.lt(dv));
            }
            if L::any(active) {
                let w = squared(apply(&block, new));
                change.0[2] = change.0[2].add(L::select(active, w, zero));
                change.0[3] = change.0[3].add(L::select(active, L::splat(1.0), zero));
            }
        }
        if pack.moments > 0 {
            let moment = At(head.0.add(pack.moment_row() * LANES));
            let (old, p): (V3<L>, V3<L>) = (moment.three(IMPULSE), moment.three(DIRECTION));
            let q: V3<L> = moment.three(FREE);
            let wr = to_spin(moment, &v);
            let mass: L = moment.one(MASS);
            let (mut last, mut r, mut new) = (old, old, old);
            for i in 0..3 {
                last[i] = last[i].add(ahead[0].mul(p[i]));
                r[i] = r[i].add(ahead[1].mul(p[i]));
                new[i] = r[i].sub(wr[i].add(q[i]).mul(mass));
            }
            new = into_ball(new, carried.mul(moment.one(RATIO)));
            let mut step = [new[0].sub(r[0]), new[1].sub(r[1]), new[2].sub(r[2])];
            if sweep.relaxation < 1.0 {
                for i in 0..3 {
                    step[i] = step[i].mul(L::splat(sweep.relaxation));
                    new[i] = r[i].add(step[i]);
                }
            }
            moment.put3(IMPULSE, new);
            moment.put3(DIRECTION, [new[0].sub(last[0]), new[1].sub(last[1]), new[2].sub(last[2])]);
            let mobility: L = moment.one(MOBILITY);
            let dv = squared(step).mul(mobility).mul(mobility);
            if L::any(zero.lt(dv)) {
                turn(moment, step, &masses, &mut v);
                moved = true;
                change.0[0] = change.0[0].add(dv);
                change.0[1] = dv.max(change.0[1]);
                stirs |= L::any(stir.lt(dv));
            }
        }
        if moved {
            L::scatter(six(v[0]), shared.velocity, blocks[0], shared.none);
            L::scatter(six(v[1]), shared.velocity, blocks[1], shared.none);
        }
        stirs
    }
}

/// Adds the effect of all impulses of a chunk to the velocities.
#[inline(always)]
unsafe fn start<L: Lanes>(shared: &Shared, packs: [u32; 2]) {
    unsafe {
        for k in packs[0] as usize..packs[1] as usize {
            let pack = &*shared.packs.add(k);
            for lane in (0..LANES).step_by(L::N) {
                let head = At(shared.rows.add(pack.first as usize).cast::<f64>().add(lane));
                let blocks = [pack.blocks[0].as_ptr().add(lane), pack.blocks[1].as_ptr().add(lane)];
                let mut v =
                    [L::gather(shared.velocity, blocks[0]), L::gather(shared.velocity, blocks[1])];
                let masses =
                    [L::gather(shared.masses, blocks[0]), L::gather(shared.masses, blocks[1])];
                for k in 0..pack.points as usize {
                    let point = At(head.0.add((HEADER + POINT * k) * LANES));
                    push(head, point, point.three(IMPULSE), &masses, &mut v);
                }
                if pack.moments > 0 {
                    let moment = At(head.0.add(pack.moment_row() * LANES));
                    turn(moment, moment.three(IMPULSE), &masses, &mut v);
                }
                L::scatter(six(v[0]), shared.velocity, blocks[0], shared.none);
                L::scatter(six(v[1]), shared.velocity, blocks[1], shared.none);
            }
        }
    }
}

/// The residual of a chunk: squares of the natural map, of impulses, free velocities and velocities, and the fastest approach.
#[inline(always)]
unsafe fn measure<L: Lanes>(shared: &Shared, chunk: usize, packs: [u32; 2], mobility: f64) {
    unsafe {
        let zero = L::zero();
        let sums = shared.sums.add(chunk);
        *sums = [Row::default(); 5];
        for k in packs[0] as usize..packs[1] as usize {
            let pack = &*shared.packs.add(k);
            for lane in (0..LANES).step_by(L::N) {
                let at = At((*sums).as_mut_ptr().cast::<f64>().add(lane));
                let head = At(shared.rows.add(pack.first as usize).cast::<f64>().add(lane));
                let blocks = [pack.blocks[0].as_ptr().add(lane), pack.blocks[1].as_ptr().add(lane)];
                let v =
                    [L::gather(shared.velocity, blocks[0]), L::gather(shared.velocity, blocks[1])];
                let mut carried = zero;
                for k in 0..pack.points as usize {
                    let point = At(head.0.add((HEADER + POINT * k) * LANES));
                    let q: V3<L> = point.three(FREE);
                    let wr = to_local(head, point, &v);
                    // A manifold may have fewer points than its pack.
                    let there = zero.lt(point.single(lane, W_NN));
                    let mut u = [zero; 3];
                    for i in 0..3 {
                        u[i] = L::select(there, wr[i].add(q[i]), zero);
                    }
                    let mut r: V3<L> = point.three(IMPULSE);
                    for i in 0..3 {
                        r[i] = r[i].mul(L::splat(mobility));
                    }
                    carried = carried.add(r[0].max(zero));
                    let f = natural_map(r, u, head.one(FRICTION));
                    at.put(0, at.one::<L>(0).add(squared(f)));
                    at.put(1, at.one::<L>(1).add(squared(r)));
                    at.put(2, at.one::<L>(2).add(squared(q)));
                    at.put(3, at.one::<L>(3).add(squared(u)));
                    at.put(4, u[0].neg().max(at.one(4)));
                }
                if pack.moments > 0 {
                    let moment = At(head.0.add(pack.moment_row() * LANES));
                    let q: V3<L> = moment.three(FREE);
                    let wr = to_spin(moment, &v);
                    let mut r: V3<L> = moment.three(IMPULSE);
                    let (mut u, mut x) = (wr, wr);
                    for i in 0..3 {
                        r[i] = r[i].mul(L::splat(mobility));
                        u[i] = wr[i].add(q[i]);
                        x[i] = r[i].sub(u[i]);
                    }
                    let p = into_ball(x, carried.mul(moment.one(RATIO)));
                    let f = [r[0].sub(p[0]), r[1].sub(p[1]), r[2].sub(p[2])];
                    at.put(0, at.one::<L>(0).add(squared(f)));
                    at.put(1, at.one::<L>(1).add(squared(r)));
                    at.put(2, at.one::<L>(2).add(squared(q)));
                    at.put(3, at.one::<L>(3).add(squared(u)));
                }
            }
        }
    }
}

/// `r − P_K(r − û)`, as in `residual.rs`.
#[inline(always)]
unsafe fn natural_map<L: Lanes>(r: V3<L>, u: V3<L>, mu: L) -> V3<L> {
    unsafe {
        let zero = L::zero();
        let slide = mu.mul(u[1].mul(u[1]).add(u[2].mul(u[2])).sqrt());
        let x = [r[0].sub(u[0]).sub(slide), r[1].sub(u[1]), r[2].sub(u[2])];
        let t = x[1].mul(x[1]).add(x[2].mul(x[2])).sqrt();
        let open = mu.mul(t).le(x[0].neg());
        let inside = t.le(mu.mul(x[0]));
        let n = mu.mul(t).add(x[0]).div(L::splat(1.0).add(mu.mul(mu)));
        let scale = L::select(zero.lt(t), mu.mul(n).div(t), zero);
        let on = [n, scale.mul(x[1]), scale.mul(x[2])];
        let mut f = r;
        for i in 0..3 {
            let p = L::select(open, zero, L::select(inside, x[i], on[i]));
            f[i] = r[i].sub(p);
        }
        f
    }
}

/// The kernels for one width.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    pub visit: unsafe fn(&Shared, usize, [u32; 2], &Sweep),
    pub start: unsafe fn(&Shared, [u32; 2]),
    pub measure: unsafe fn(&Shared, usize, [u32; 2], f64),
}

macro_rules! kernels {
    ($name:ident, $lanes:ty $(, $feature:literal)?) => {
        mod $name {
            use super::*;
            $(#[target_feature(enable = $feature)])?
            pub(super) unsafe fn visit(s: &Shared, chunk: usize, packs: [u32; 2], sweep: &Sweep) {
                unsafe { super::visit::<$lanes>(s, chunk, packs, sweep) }
            }
            $(#[target_feature(enable = $feature)])?
            pub(super) unsafe fn start(s: &Shared, packs: [u32; 2]) {
                unsafe { super::start::<$lanes>(s, packs) }
            }
            $(#[target_feature(enable = $feature)])?
            pub(super) unsafe fn measure(s: &Shared, chunk: usize, packs: [u32; 2], mobility: f64) {
                unsafe { super::measure::<$lanes>(s, chunk, packs, mobility) }
            }
            pub(super) const KERNELS: Kernels = Kernels { visit, start, measure };
        }
    };
}

kernels!(one, f64);
#[cfg(target_arch = "x86_64")]
kernels!(four, super::super::lanes::Avx2, "avx2");
#[cfg(target_arch = "x86_64")]
kernels!(eight, super::super::lanes::Avx512, "avx512f");

/// How many contacts to take side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// As many as the processor can.
    #[default]
    Widest,
    /// Eight (AVX-512), or what there is.
    Eight,
    /// Four (AVX2), or what there is.
    Four,
    /// One.
    One,
}

impl Kernels {
    /// The widest that the processor has and `width` allows.
    pub fn choose(width: Width) -> Kernels {
        #[cfg(target_arch = "x86_64")]
        {
            if matches!(width, Width::Widest | Width::Eight) && is_x86_feature_detected!("avx512f")
            {
                return eight::KERNELS;
            }
            if width != Width::One && is_x86_feature_detected!("avx2") {
                return four::KERNELS;
            }
        }
        let _ = width;
        one::KERNELS
    }
}
