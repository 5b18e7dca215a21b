//! The algebra of a contact in SIMD lanes: the velocity at a point, the exact one-contact solve,
//! and the effect of an impulse on the two blocks. Each lane follows the reference solver.

use super::lanes::{LANES, Lanes, Row};
use super::packs::{
    ARM, BLOCK, COUPLING, FRAME, HEADER, INVERSE, LENGTH, POINT, SLIP, TANGENTIAL, W_NN,
};

/// Rows of a pack before its points.
pub(super) type Head = [Row; HEADER];
/// Rows of a point, or of a moment.
pub(super) type Point = [Row; POINT];

pub(super) type V3<L> = [L; 3];

/// Velocities, or inverse masses, of the two sides of a manifold.
pub(super) type Sides<L> = [[L; 8]; 2];

/// The lanes of a pack being processed.
#[derive(Clone, Copy)]
pub(super) struct At<L: Lanes> {
    pub simd: L::Simd,
    /// The first lane.
    pub lane: usize,
}

impl<L: Lanes> At<L> {
    #[inline(always)]
    pub fn splat(self, x: f64) -> L {
        L::splat(self.simd, x)
    }
    #[inline(always)]
    pub fn one<const N: usize>(self, rows: &[Row; N], row: usize) -> L {
        L::load(self.simd, &rows[row], self.lane)
    }
    #[inline(always)]
    pub fn three<const N: usize>(self, rows: &[Row; N], row: usize) -> V3<L> {
        [self.one(rows, row), self.one(rows, row + 1), self.one(rows, row + 2)]
    }
    /// A field of the block of a point.
    #[inline(always)]
    pub fn single(self, point: &Point, field: usize) -> L {
        L::load_single(self.simd, &point[BLOCK + field / 2], field % 2, self.lane)
    }
    #[inline(always)]
    pub fn put<const N: usize>(self, rows: &mut [Row; N], row: usize, x: L) {
        x.store(&mut rows[row], self.lane);
    }
    #[inline(always)]
    pub fn put3<const N: usize>(self, rows: &mut [Row; N], row: usize, x: V3<L>) {
        self.put(rows, row, x[0]);
        self.put(rows, row + 1, x[1]);
        self.put(rows, row + 2, x[2]);
    }
    /// Block index of the `k`-th of these lanes, out of those of all lanes.
    #[inline(always)]
    pub fn index(self, all: &[u32; LANES], k: usize) -> u32 {
        all[(self.lane + k) % LANES]
    }
}

#[inline(always)]
fn dot<L: Lanes>(a: V3<L>, b: V3<L>) -> L {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn cross<L: Lanes>(a: V3<L>, b: V3<L>) -> V3<L> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
pub(super) fn squared<L: Lanes>(x: V3<L>) -> L {
    dot(x, x)
}

/// Relative velocity at a point in its frame, without the free part.
#[inline(always)]
pub(super) fn to_local<L: Lanes>(at: At<L>, head: &Head, point: &Point, v: &Sides<L>) -> V3<L> {
    // No closures in kernels: they would be compiled without the wide instruction set.
    let (a, b) = (&v[0], &v[1]);
    let spin_a = cross([a[3], a[4], a[5]], at.three(point, ARM[0]));
    let spin_b = cross([b[3], b[4], b[5]], at.three(point, ARM[1]));
    let dv = [
        b[0] + spin_b[0] - (a[0] + spin_a[0]),
        b[1] + spin_b[1] - (a[1] + spin_a[1]),
        b[2] + spin_b[2] - (a[2] + spin_a[2]),
    ];
    [
        dot(at.three(head, FRAME), dv),
        dot(at.three(head, FRAME + 3), dv),
        dot(at.three(head, FRAME + 6), dv),
    ]
}

/// Adds the effect of an impulse to the velocities of the two sides.
#[inline(always)]
pub(super) fn push<L: Lanes>(
    at: At<L>,
    head: &Head,
    point: &Point,
    r: V3<L>,
    masses: &Sides<L>,
    v: &mut Sides<L>,
) {
    let [n, t1, t2] = [at.three(head, FRAME), at.three(head, FRAME + 3), at.three(head, FRAME + 6)];
    let mut p = [at.splat(0.0); 3];
    for i in 0..3 {
        p[i] = n[i] * r[0] + t1[i] * r[1] + t2[i] * r[2];
    }
    for side in 0..2 {
        let moment = cross(at.three(point, ARM[side]), p);
        let [xx, yy, zz, xy, xz, yz, linear, _] = masses[side];
        let spin =
            [dot([xx, xy, xz], moment), dot([xy, yy, yz], moment), dot([xz, yz, zz], moment)];
        let v = &mut v[side];
        for i in 0..3 {
            let (dv, dw) = (linear * p[i], spin[i]);
            if side == 0 {
                v[i] = v[i] - dv;
                v[3 + i] = v[3 + i] - dw;
            } else {
                v[i] = v[i] + dv;
                v[3 + i] = v[3 + i] + dw;
            }
        }
    }
}

/// Relative spin of the two sides as a velocity, without the free part.
#[inline(always)]
pub(super) fn to_spin<L: Lanes>(at: At<L>, moment: &Point, v: &Sides<L>) -> V3<L> {
    let length = at.one(moment, LENGTH);
    let (a, b) = (&v[0], &v[1]);
    [length * (b[3] - a[3]), length * (b[4] - a[4]), length * (b[5] - a[5])]
}

/// Adds the effect of a moment to the velocities of the two sides.
#[inline(always)]
pub(super) fn turn<L: Lanes>(
    at: At<L>,
    moment: &Point,
    r: V3<L>,
    masses: &Sides<L>,
    v: &mut Sides<L>,
) {
    let length = at.one(moment, LENGTH);
    let m = [length * r[0], length * r[1], length * r[2]];
    for side in 0..2 {
        let [xx, yy, zz, xy, xz, yz, ..] = masses[side];
        let spin = [dot([xx, xy, xz], m), dot([xy, yy, yz], m), dot([xz, yz, zz], m)];
        let v = &mut v[side];
        for i in 0..3 {
            v[3 + i] = if side == 0 { v[3 + i] - spin[i] } else { v[3 + i] + spin[i] };
        }
    }
}

/// Projects onto the ball of radius `limit`.
#[inline(always)]
pub(super) fn into_ball<L: Lanes>(at: At<L>, x: V3<L>, limit: L) -> V3<L> {
    let length = squared(x).sqrt();
    let scale = L::select(limit.lt(length), limit / length, at.splat(1.0));
    [x[0] * scale, x[1] * scale, x[2] * scale]
}

/// `W^αα` of a point.
pub(super) struct Block<L> {
    w_nn: L,
    inverse: L,
    coupling: [L; 2],
    tangential: V3<L>,
}

impl<L: Lanes> Block<L> {
    #[inline(always)]
    pub fn load(at: At<L>, point: &Point) -> Block<L> {
        Block {
            w_nn: at.single(point, W_NN),
            inverse: at.single(point, INVERSE),
            coupling: [at.single(point, COUPLING), at.single(point, COUPLING + 1)],
            tangential: [
                at.single(point, TANGENTIAL),
                at.single(point, TANGENTIAL + 1),
                at.single(point, TANGENTIAL + 2),
            ],
        }
    }

    /// `W^αα x`.
    #[inline(always)]
    pub fn apply(&self, x: V3<L>) -> V3<L> {
        let (s, [a11, a12, a22]) = (self.coupling, self.tangential);
        let n = self.w_nn * (x[0] + s[0] * x[1] + s[1] * x[2]);
        [n, s[0] * n + a11 * x[1] + a12 * x[2], s[1] * n + a12 * x[1] + a22 * x[2]]
    }
}

/// Slowest approach that counts, divided by `W_nn` [kg m/s].
const SLOWEST: f64 = 1e-150;

/// The exact one-contact solve of `local.rs`, in SIMD lanes: the impulse for the velocity `u`
/// produced by the impulse `r`.
#[inline(always)]
pub(super) fn solve<L: Lanes>(
    at: At<L>,
    point: &mut Point,
    block: &Block<L>,
    mu: L,
    u: V3<L>,
    r: V3<L>,
    accuracy: f64,
) -> V3<L> {
    let (zero, one) = (at.splat(0.0), at.splat(1.0));
    let (s, [a11, a12, a22]) = (block.coupling, block.tangential);
    // With the normal eliminated: r_n = −(s · r_t + d), A r_t = −b.
    let d = u[0] * block.inverse - (r[0] + s[0] * r[1] + s[1] * r[2]);
    let b = [
        u[1] - s[0] * u[0] - a11 * r[1] - a12 * r[2],
        u[2] - s[1] * u[0] - a12 * r[1] - a22 * r[2],
    ];
    let closed = d.lt(at.splat(-SLOWEST));
    if !L::any(closed) {
        at.put(point, SLIP, zero);
        return [zero; 3];
    }
    let det = one / (a11 * a22 - a12 * a12);
    let t = [(a12 * b[1] - a22 * b[0]) * det, (a12 * b[0] - a11 * b[1]) * det];
    let n = (s[0] * t[0] + s[1] * t[1] + d).neg();
    let limit = mu * n;
    let inside = (t[0] * t[0] + t[1] * t[1]).le(limit * limit);
    let sticks = L::and(inside, zero.le(n));
    // Without friction only the normal component remains.
    let mut new = [
        L::select(sticks, n, d.neg()),
        L::select(sticks, t[0], zero),
        L::select(sticks, t[1], zero),
    ];
    let slides = L::and(L::and_not(closed, sticks), zero.lt(mu));
    let mut slip = zero;
    if L::any(slides) {
        let b_length = (b[0] * b[0] + b[1] * b[1]).sqrt();
        let s_length = (s[0] * s[0] + s[1] * s[1]).sqrt();
        let force = (mu * d).neg();
        let mut low = zero;
        let mut high = b_length * (one + mu * s_length) / force;
        let mobility = at.splat(0.5) * (a11 + a22);
        let last = at.one(point, SLIP);
        let guess = L::select(zero.lt(last), last, b_length / force - mobility);
        let mut lambda = guess.max(low).min(high);
        let mut active = slides;
        let (mut t, mut n) = ([zero; 2], zero);
        let mut norm = one;
        for _ in 0..40 {
            let (x11, x22) = (a11 + lambda, a22 + lambda);
            let inverse = one / (x11 * x22 - a12 * a12);
            t = [(a12 * b[1] - x22 * b[0]) * inverse, (a12 * b[0] - x11 * b[1]) * inverse];
            n = (s[0] * t[0] + s[1] * t[1] + d).neg();
            let norm2 = t[0] * t[0] + t[1] * t[1];
            norm = norm2.sqrt();
            let ratio = mu / norm;
            let value = n * ratio - one;
            active = L::and(active, at.splat(accuracy).lt(value.abs()));
            if !L::any(active) {
                break;
            }
            let short = value.lt(zero);
            low = L::select(short, lambda, low);
            high = L::select(short, high, lambda);
            let dt = [(x22 * t[0] - a12 * t[1]) * inverse, (x11 * t[1] - a12 * t[0]) * inverse];
            let along = (t[0] * dt[0] + t[1] * dt[1]) / norm2;
            let slope = ratio * (s[0] * dt[0] + s[1] * dt[1] + n * along);
            let newton = lambda - value / slope;
            let within = L::and(low.lt(newton), newton.lt(high));
            let next = L::select(within, newton, at.splat(0.5) * (low + high));
            let least = at.splat(1e-15) * (lambda + mobility);
            active = L::and(active, least.lt((next - lambda).abs()));
            lambda = L::select(active, next, lambda);
        }
        // Exactly on the cone.
        n = n.max(zero);
        let scale = L::select(zero.lt(norm), mu * n / norm, zero);
        new = [
            L::select(slides, n, new[0]),
            L::select(slides, t[0] * scale, new[1]),
            L::select(slides, t[1] * scale, new[2]),
        ];
        slip = L::select(slides, lambda, zero);
    }
    at.put(point, SLIP, slip);
    [
        L::select(closed, new[0], zero),
        L::select(closed, new[1], zero),
        L::select(closed, new[2], zero),
    ]
}

/// `r − P_K(r − û)`, as in `residual.rs`.
#[inline(always)]
pub(super) fn natural_map<L: Lanes>(at: At<L>, r: V3<L>, u: V3<L>, mu: L) -> V3<L> {
    let zero = at.splat(0.0);
    let slide = mu * (u[1] * u[1] + u[2] * u[2]).sqrt();
    let x = [r[0] - u[0] - slide, r[1] - u[1], r[2] - u[2]];
    let t = (x[1] * x[1] + x[2] * x[2]).sqrt();
    let open = (mu * t).le(x[0].neg());
    let inside = t.le(mu * x[0]);
    let n = (mu * t + x[0]) / (at.splat(1.0) + mu * mu);
    let scale = L::select(zero.lt(t), mu * n / t, zero);
    let on = [n, scale * x[1], scale * x[2]];
    let mut f = r;
    for i in 0..3 {
        let p = L::select(open, zero, L::select(inside, x[i], on[i]));
        f[i] = r[i] - p;
    }
    f
}
