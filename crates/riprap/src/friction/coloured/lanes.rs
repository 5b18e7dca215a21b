//! Several contacts in SIMD lanes: eight numbers with AVX-512, four with AVX2, or one. Every lane
//! performs the same additions, multiplications, divisions and square roots in the same order
//! (never fused), so results are bitwise identical for every width.
//!
//! The instructions are used through the tokens of `pulp`: a token exists only if the processor
//! supports them, and every value carries one. So nothing here is unsafe.

use pulp::bytemuck::{self, Pod, Zeroable};
use std::ops::{Add, Div, Mul, Sub};

/// Eight numbers, one per lane, on their own cache line; also the six velocities of a block,
/// padded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Row(pub [f64; LANES]);

// SAFETY: eight numbers of eight bytes fill the 64 bytes of the alignment without padding, and zeros are numbers.
unsafe impl Zeroable for Row {}
// SAFETY: as above; any bit pattern is a valid number, and the type is `Copy` and holds no
// reference.
unsafe impl Pod for Row {}

/// Lanes of a pack.
pub(super) const LANES: usize = 8;

impl Row {
    /// A row viewed as two times eight single-precision numbers.
    #[inline(always)]
    fn singles(&self) -> &[[f32; LANES]; 2] {
        bytemuck::cast_ref(&self.0)
    }

    /// Writes one of the sixteen single-precision numbers that fit into a row.
    pub fn put_single(&mut self, k: usize, x: f32) {
        bytemuck::cast_mut::<_, [f32; 2 * LANES]>(&mut self.0)[k] = x;
    }
}

/// Several lanes of numbers.
pub(super) trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// Number of lanes; divides [`LANES`].
    const N: usize;
    /// Proof that the processor supports the instructions.
    type Simd: Copy;
    /// One truth value per lane.
    type Mask: Copy;

    fn splat(simd: Self::Simd, x: f64) -> Self;
    /// Loads the numbers of a row starting at `lane`, which is a multiple of `N`.
    fn load(simd: Self::Simd, row: &Row, lane: usize) -> Self;
    /// Loads the single-precision numbers of the first or second half of a row, starting at `lane`.
    fn load_single(simd: Self::Simd, row: &Row, half: usize, lane: usize) -> Self;
    /// Stores to a row starting at `lane`.
    fn store(self, row: &mut Row, lane: usize);
    /// `0 − x`: a zero has no sign.
    fn neg(self) -> Self;
    fn sqrt(self) -> Self;
    /// The larger; the second if they are equal or one is NaN.
    fn max(self, o: Self) -> Self;
    /// The smaller; the second if they are equal or one is NaN.
    fn min(self, o: Self) -> Self;
    fn lt(self, o: Self) -> Self::Mask;
    fn le(self, o: Self) -> Self::Mask;
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// `a` and not `b`.
    fn and_not(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn any(m: Self::Mask) -> bool;
    /// `a` where the mask is true, `b` elsewhere.
    fn select(m: Self::Mask, a: Self, b: Self) -> Self;
    /// The columns of the first `N` rows.
    fn columns(simd: Self::Simd, rows: &[Row; LANES]) -> [Self; 8];
    /// The inverse for six columns: `N` rows that end with two zeros.
    fn rows(columns: [Self; 6]) -> [Row; LANES];

    /// `|x|`.
    #[inline(always)]
    fn abs(self) -> Self {
        self.max(self.neg())
    }
}

/// One lane: any processor.
impl Lanes for f64 {
    const N: usize = 1;
    type Simd = ();
    type Mask = bool;

    #[inline(always)]
    fn splat((): (), x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn load((): (), row: &Row, lane: usize) -> f64 {
        row.0[lane % LANES]
    }
    #[inline(always)]
    fn load_single((): (), row: &Row, half: usize, lane: usize) -> f64 {
        f64::from(row.singles()[half][lane % LANES])
    }
    #[inline(always)]
    fn store(self, row: &mut Row, lane: usize) {
        row.0[lane % LANES] = self;
    }
    #[inline(always)]
    fn neg(self) -> f64 {
        0.0 - self
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn max(self, o: f64) -> f64 {
        if self > o { self } else { o }
    }
    #[inline(always)]
    fn min(self, o: f64) -> f64 {
        if self < o { self } else { o }
    }
    #[inline(always)]
    fn lt(self, o: f64) -> bool {
        self < o
    }
    #[inline(always)]
    fn le(self, o: f64) -> bool {
        self <= o
    }
    #[inline(always)]
    fn and(a: bool, b: bool) -> bool {
        a & b
    }
    #[inline(always)]
    fn and_not(a: bool, b: bool) -> bool {
        a & !b
    }
    #[inline(always)]
    fn any(m: bool) -> bool {
        m
    }
    #[inline(always)]
    fn select(m: bool, a: f64, b: f64) -> f64 {
        if m { a } else { b }
    }
    #[inline(always)]
    fn columns((): (), rows: &[Row; LANES]) -> [f64; 8] {
        rows[0].0
    }
    #[inline(always)]
    fn rows([a, b, c, d, e, f]: [f64; 6]) -> [Row; LANES] {
        let mut rows = [Row::default(); LANES];
        rows[0].0 = [a, b, c, d, e, f, 0.0, 0.0];
        rows
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Add, Div, LANES, Lanes, Mul, Row, Sub, bytemuck};
    use pulp::x86::{V3, V4};
    use std::arch::x86_64::*;

    /// Eight lanes.
    #[derive(Clone, Copy)]
    pub struct Avx512 {
        simd: V4,
        x: __m512d,
    }

    /// Four lanes.
    #[derive(Clone, Copy)]
    pub struct Avx2 {
        simd: V3,
        x: __m256d,
    }

    /// Operators with the instructions of a width.
    macro_rules! operators {
        ($lanes:ty, $set:ident, $($name:ident, $operator:ident, $instruction:ident;)*) => {
            $(impl $name for $lanes {
                type Output = Self;
                #[inline(always)]
                fn $operator(self, o: Self) -> Self {
                    Self { simd: self.simd, x: self.simd.$set.$instruction(self.x, o.x) }
                }
            })*
        };
    }

    operators! { Avx512, avx512f,
        Add, add, _mm512_add_pd;
        Sub, sub, _mm512_sub_pd;
        Mul, mul, _mm512_mul_pd;
        Div, div, _mm512_div_pd;
    }
    operators! { Avx2, avx,
        Add, add, _mm256_add_pd;
        Sub, sub, _mm256_sub_pd;
        Mul, mul, _mm256_mul_pd;
        Div, div, _mm256_div_pd;
    }

    /// Rows to columns, or columns to rows.
    #[inline(always)]
    fn transpose8(simd: V4, r: [__m512d; 8]) -> [__m512d; 8] {
        let i = simd.avx512f;
        let lo = [
            i._mm512_unpacklo_pd(r[0], r[1]),
            i._mm512_unpacklo_pd(r[2], r[3]),
            i._mm512_unpacklo_pd(r[4], r[5]),
            i._mm512_unpacklo_pd(r[6], r[7]),
        ];
        let hi = [
            i._mm512_unpackhi_pd(r[0], r[1]),
            i._mm512_unpackhi_pd(r[2], r[3]),
            i._mm512_unpackhi_pd(r[4], r[5]),
            i._mm512_unpackhi_pd(r[6], r[7]),
        ];
        let [c0, c2, c4, c6] = transpose_quarters(simd, lo);
        let [c1, c3, c5, c7] = transpose_quarters(simd, hi);
        [c0, c1, c2, c3, c4, c5, c6, c7]
    }

    #[inline(always)]
    fn transpose_quarters(simd: V4, p: [__m512d; 4]) -> [__m512d; 4] {
        let i = simd.avx512f;
        let a = i._mm512_shuffle_f64x2::<0x88>(p[0], p[1]);
        let b = i._mm512_shuffle_f64x2::<0xdd>(p[0], p[1]);
        let c = i._mm512_shuffle_f64x2::<0x88>(p[2], p[3]);
        let d = i._mm512_shuffle_f64x2::<0xdd>(p[2], p[3]);
        [
            i._mm512_shuffle_f64x2::<0x88>(a, c),
            i._mm512_shuffle_f64x2::<0x88>(b, d),
            i._mm512_shuffle_f64x2::<0xdd>(a, c),
            i._mm512_shuffle_f64x2::<0xdd>(b, d),
        ]
    }

    impl Avx512 {
        #[inline(always)]
        fn with(self, x: __m512d) -> Avx512 {
            Avx512 { x, ..self }
        }
    }

    impl Lanes for Avx512 {
        const N: usize = 8;
        type Simd = V4;
        type Mask = __mmask8;

        #[inline(always)]
        fn splat(simd: V4, x: f64) -> Self {
            Avx512 { simd, x: simd.avx512f._mm512_set1_pd(x) }
        }
        #[inline(always)]
        fn load(simd: V4, row: &Row, _lane: usize) -> Self {
            Avx512 { simd, x: bytemuck::cast(row.0) }
        }
        #[inline(always)]
        fn load_single(simd: V4, row: &Row, half: usize, _lane: usize) -> Self {
            let single = bytemuck::cast(row.singles()[half]);
            Avx512 { simd, x: simd.avx512f._mm512_cvtps_pd(single) }
        }
        #[inline(always)]
        fn store(self, row: &mut Row, _lane: usize) {
            row.0 = bytemuck::cast(self.x);
        }
        #[inline(always)]
        fn neg(self) -> Self {
            Self::splat(self.simd, 0.0) - self
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            self.with(self.simd.avx512f._mm512_sqrt_pd(self.x))
        }
        #[inline(always)]
        fn max(self, o: Self) -> Self {
            self.with(self.simd.avx512f._mm512_max_pd(self.x, o.x))
        }
        #[inline(always)]
        fn min(self, o: Self) -> Self {
            self.with(self.simd.avx512f._mm512_min_pd(self.x, o.x))
        }
        #[inline(always)]
        fn lt(self, o: Self) -> __mmask8 {
            self.simd.avx512f._mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.x, o.x)
        }
        #[inline(always)]
        fn le(self, o: Self) -> __mmask8 {
            self.simd.avx512f._mm512_cmp_pd_mask::<_CMP_LE_OQ>(self.x, o.x)
        }
        #[inline(always)]
        fn and(a: __mmask8, b: __mmask8) -> __mmask8 {
            a & b
        }
        #[inline(always)]
        fn and_not(a: __mmask8, b: __mmask8) -> __mmask8 {
            a & !b
        }
        #[inline(always)]
        fn any(m: __mmask8) -> bool {
            m != 0
        }
        #[inline(always)]
        fn select(m: __mmask8, a: Self, b: Self) -> Self {
            a.with(a.simd.avx512f._mm512_mask_blend_pd(m, b.x, a.x))
        }
        #[inline(always)]
        fn columns(simd: V4, rows: &[Row; LANES]) -> [Self; 8] {
            let [a, b, c, d, e, f, g, h] = *rows;
            let rows = [
                bytemuck::cast(a),
                bytemuck::cast(b),
                bytemuck::cast(c),
                bytemuck::cast(d),
                bytemuck::cast(e),
                bytemuck::cast(f),
                bytemuck::cast(g),
                bytemuck::cast(h),
            ];
            let [a, b, c, d, e, f, g, h] = transpose8(simd, rows);
            let of = Avx512 { simd, x: a };
            [of, of.with(b), of.with(c), of.with(d), of.with(e), of.with(f), of.with(g), of.with(h)]
        }
        #[inline(always)]
        fn rows([a, b, c, d, e, f]: [Self; 6]) -> [Row; LANES] {
            let (simd, zero) = (a.simd, Self::splat(a.simd, 0.0).x);
            let [a, b, c, d, e, f, g, h] =
                transpose8(simd, [a.x, b.x, c.x, d.x, e.x, f.x, zero, zero]);
            [
                bytemuck::cast(a),
                bytemuck::cast(b),
                bytemuck::cast(c),
                bytemuck::cast(d),
                bytemuck::cast(e),
                bytemuck::cast(f),
                bytemuck::cast(g),
                bytemuck::cast(h),
            ]
        }
    }

    /// Rows to columns, or columns to rows.
    #[inline(always)]
    fn transpose4(simd: V3, r: [__m256d; 4]) -> [__m256d; 4] {
        let i = simd.avx;
        let a = i._mm256_unpacklo_pd(r[0], r[1]);
        let b = i._mm256_unpackhi_pd(r[0], r[1]);
        let c = i._mm256_unpacklo_pd(r[2], r[3]);
        let d = i._mm256_unpackhi_pd(r[2], r[3]);
        [
            i._mm256_permute2f128_pd::<0x20>(a, c),
            i._mm256_permute2f128_pd::<0x20>(b, d),
            i._mm256_permute2f128_pd::<0x31>(a, c),
            i._mm256_permute2f128_pd::<0x31>(b, d),
        ]
    }

    impl Avx2 {
        #[inline(always)]
        fn with(self, x: __m256d) -> Avx2 {
            Avx2 { x, ..self }
        }
    }

    impl Lanes for Avx2 {
        const N: usize = 4;
        type Simd = V3;
        /// All bits of a lane are set if it is true.
        type Mask = Avx2;

        #[inline(always)]
        fn splat(simd: V3, x: f64) -> Self {
            Avx2 { simd, x: simd.avx._mm256_set1_pd(x) }
        }
        #[inline(always)]
        fn load(simd: V3, row: &Row, lane: usize) -> Self {
            let halves: &[[f64; 4]; 2] = bytemuck::cast_ref(&row.0);
            Avx2 { simd, x: bytemuck::cast(halves[lane / 4 % 2]) }
        }
        #[inline(always)]
        fn load_single(simd: V3, row: &Row, half: usize, lane: usize) -> Self {
            let quarters: &[[f32; 4]; 2] = bytemuck::cast_ref(&row.singles()[half]);
            let single = bytemuck::cast(quarters[lane / 4 % 2]);
            Avx2 { simd, x: simd.avx._mm256_cvtps_pd(single) }
        }
        #[inline(always)]
        fn store(self, row: &mut Row, lane: usize) {
            let halves: &mut [[f64; 4]; 2] = bytemuck::cast_mut(&mut row.0);
            halves[lane / 4 % 2] = bytemuck::cast(self.x);
        }
        #[inline(always)]
        fn neg(self) -> Self {
            Self::splat(self.simd, 0.0) - self
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            self.with(self.simd.avx._mm256_sqrt_pd(self.x))
        }
        #[inline(always)]
        fn max(self, o: Self) -> Self {
            self.with(self.simd.avx._mm256_max_pd(self.x, o.x))
        }
        #[inline(always)]
        fn min(self, o: Self) -> Self {
            self.with(self.simd.avx._mm256_min_pd(self.x, o.x))
        }
        #[inline(always)]
        fn lt(self, o: Self) -> Avx2 {
            self.with(self.simd.avx._mm256_cmp_pd::<_CMP_LT_OQ>(self.x, o.x))
        }
        #[inline(always)]
        fn le(self, o: Self) -> Avx2 {
            self.with(self.simd.avx._mm256_cmp_pd::<_CMP_LE_OQ>(self.x, o.x))
        }
        #[inline(always)]
        fn and(a: Avx2, b: Avx2) -> Avx2 {
            a.with(a.simd.avx._mm256_and_pd(a.x, b.x))
        }
        #[inline(always)]
        fn and_not(a: Avx2, b: Avx2) -> Avx2 {
            a.with(a.simd.avx._mm256_andnot_pd(b.x, a.x))
        }
        #[inline(always)]
        fn any(m: Avx2) -> bool {
            m.simd.avx._mm256_movemask_pd(m.x) != 0
        }
        #[inline(always)]
        fn select(m: Avx2, a: Self, b: Self) -> Self {
            a.with(a.simd.avx._mm256_blendv_pd(b.x, a.x, m.x))
        }
        #[inline(always)]
        fn columns(simd: V3, rows: &[Row; LANES]) -> [Self; 8] {
            let [a, b, c, d, ..] = *rows;
            let [a, b, c, d]: [[__m256d; 2]; 4] =
                [bytemuck::cast(a), bytemuck::cast(b), bytemuck::cast(c), bytemuck::cast(d)];
            let low = transpose4(simd, [a[0], b[0], c[0], d[0]]);
            let [e, f, g, h] = transpose4(simd, [a[1], b[1], c[1], d[1]]);
            let [a, b, c, d] = low;
            let of = Avx2 { simd, x: a };
            [of, of.with(b), of.with(c), of.with(d), of.with(e), of.with(f), of.with(g), of.with(h)]
        }
        #[inline(always)]
        fn rows([a, b, c, d, e, f]: [Self; 6]) -> [Row; LANES] {
            let (simd, zero) = (a.simd, Self::splat(a.simd, 0.0).x);
            let low = transpose4(simd, [a.x, b.x, c.x, d.x]);
            let high = transpose4(simd, [e.x, f.x, zero, zero]);
            let none = Row::default();
            [
                bytemuck::cast([low[0], high[0]]),
                bytemuck::cast([low[1], high[1]]),
                bytemuck::cast([low[2], high[2]]),
                bytemuck::cast([low[3], high[3]]),
                none,
                none,
                none,
                none,
            ]
        }
    }
}

#[cfg(test)]
mod tests;
