//! Several contacts side by side: eight numbers of AVX-512, four of AVX2, or one. Every lane does the same plain additions,
//! multiplications, divisions and roots in the same order (no fused ones), so the width changes no bit of a result.

/// Eight numbers, one a lane, on a cache line of their own; also the six velocities of a block, padded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Row(pub [f64; 8]);

impl Row {
    /// Writes one of the sixteen single-precision numbers that fit into a row.
    pub fn put_single(&mut self, k: usize, x: f32) {
        let (word, high) = (&mut self.0[k / 2], k % 2 == 1);
        let bits = word.to_bits();
        let new = u64::from(x.to_bits());
        // As they lie in memory on a little-endian machine.
        *word = f64::from_bits(if high {
            bits & 0xffff_ffff | new << 32
        } else {
            bits & !0xffff_ffff | new
        });
    }
}

/// Lanes of a pack.
pub(super) const LANES: usize = 8;

/// A few lanes of numbers.
///
/// # Safety
/// Methods may be called only where the instructions of the type are available: the kernels are called through functions that
/// were chosen after asking the processor.
pub(super) trait Lanes: Copy {
    /// How many; divides [`LANES`].
    const N: usize;
    /// One truth value a lane.
    type Mask: Copy;

    unsafe fn splat(x: f64) -> Self;
    /// Reads `N` numbers from `at`.
    unsafe fn load(at: *const f64) -> Self;
    /// Reads `N` single-precision numbers from `at`.
    unsafe fn load_single(at: *const f32) -> Self;
    /// Writes `N` numbers to `at`.
    unsafe fn store(self, at: *mut f64);
    unsafe fn add(self, o: Self) -> Self;
    unsafe fn sub(self, o: Self) -> Self;
    unsafe fn mul(self, o: Self) -> Self;
    unsafe fn div(self, o: Self) -> Self;
    unsafe fn sqrt(self) -> Self;
    /// The larger; the second where they are equal or one is not a number.
    unsafe fn max(self, o: Self) -> Self;
    /// The smaller; the second where they are equal or one is not a number.
    unsafe fn min(self, o: Self) -> Self;
    unsafe fn lt(self, o: Self) -> Self::Mask;
    unsafe fn le(self, o: Self) -> Self::Mask;
    unsafe fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// `a` and not `b`.
    unsafe fn and_not(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    unsafe fn any(m: Self::Mask) -> bool;
    /// `a` where the mask is true, else `b`.
    unsafe fn select(m: Self::Mask, a: Self, b: Self) -> Self;
    /// The numbers of the rows that `at` names, one row a lane.
    unsafe fn gather(rows: *const Row, at: *const u32) -> [Self; 8];
    /// Writes the first six back, but for lanes that name the row `none`.
    unsafe fn scatter(v: [Self; 6], rows: *mut Row, at: *const u32, none: u32);

    #[inline(always)]
    unsafe fn neg(self) -> Self {
        unsafe { Self::splat(0.0).sub(self) }
    }
    #[inline(always)]
    unsafe fn abs(self) -> Self {
        unsafe { self.max(self.neg()) }
    }
    #[inline(always)]
    unsafe fn zero() -> Self {
        unsafe { Self::splat(0.0) }
    }
}

/// One lane: any processor.
impl Lanes for f64 {
    const N: usize = 1;
    type Mask = bool;

    #[inline(always)]
    unsafe fn splat(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    unsafe fn load(at: *const f64) -> f64 {
        unsafe { *at }
    }
    #[inline(always)]
    unsafe fn load_single(at: *const f32) -> f64 {
        unsafe { f64::from(*at) }
    }
    #[inline(always)]
    unsafe fn store(self, at: *mut f64) {
        unsafe { *at = self }
    }
    #[inline(always)]
    unsafe fn add(self, o: f64) -> f64 {
        self + o
    }
    #[inline(always)]
    unsafe fn sub(self, o: f64) -> f64 {
        self - o
    }
    #[inline(always)]
    unsafe fn mul(self, o: f64) -> f64 {
        self * o
    }
    #[inline(always)]
    unsafe fn div(self, o: f64) -> f64 {
        self / o
    }
    #[inline(always)]
    unsafe fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    unsafe fn max(self, o: f64) -> f64 {
        if self > o { self } else { o }
    }
    #[inline(always)]
    unsafe fn min(self, o: f64) -> f64 {
        if self < o { self } else { o }
    }
    #[inline(always)]
    unsafe fn lt(self, o: f64) -> bool {
        self < o
    }
    #[inline(always)]
    unsafe fn le(self, o: f64) -> bool {
        self <= o
    }
    #[inline(always)]
    unsafe fn and(a: bool, b: bool) -> bool {
        a & b
    }
    #[inline(always)]
    unsafe fn and_not(a: bool, b: bool) -> bool {
        a & !b
    }
    #[inline(always)]
    unsafe fn any(m: bool) -> bool {
        m
    }
    #[inline(always)]
    unsafe fn select(m: bool, a: f64, b: f64) -> f64 {
        if m { a } else { b }
    }
    #[inline(always)]
    unsafe fn gather(rows: *const Row, at: *const u32) -> [f64; 8] {
        unsafe { (*rows.add(*at as usize)).0 }
    }
    #[inline(always)]
    unsafe fn scatter(v: [f64; 6], rows: *mut Row, at: *const u32, none: u32) {
        let k = unsafe { *at };
        if k != none {
            unsafe { (&mut (*rows.add(k as usize)).0)[..6].copy_from_slice(&v) }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Lanes, Row};
    use std::arch::x86_64::*;

    /// Eight lanes.
    #[derive(Clone, Copy)]
    pub struct Avx512(__m512d);

    /// Rows to columns, or columns to rows.
    #[inline(always)]
    unsafe fn transpose8(r: [__m512d; 8]) -> [__m512d; 8] {
        unsafe {
            let lo: [__m512d; 4] = [
                _mm512_unpacklo_pd(r[0], r[1]),
                _mm512_unpacklo_pd(r[2], r[3]),
                _mm512_unpacklo_pd(r[4], r[5]),
                _mm512_unpacklo_pd(r[6], r[7]),
            ];
            let hi: [__m512d; 4] = [
                _mm512_unpackhi_pd(r[0], r[1]),
                _mm512_unpackhi_pd(r[2], r[3]),
                _mm512_unpackhi_pd(r[4], r[5]),
                _mm512_unpackhi_pd(r[6], r[7]),
            ];
            let [c0, c2, c4, c6] = transpose_quarters(lo);
            let [c1, c3, c5, c7] = transpose_quarters(hi);
            [c0, c1, c2, c3, c4, c5, c6, c7]
        }
    }

    #[inline(always)]
    unsafe fn transpose_quarters(p: [__m512d; 4]) -> [__m512d; 4] {
        unsafe {
            let a = _mm512_shuffle_f64x2::<0x88>(p[0], p[1]);
            let b = _mm512_shuffle_f64x2::<0xdd>(p[0], p[1]);
            let c = _mm512_shuffle_f64x2::<0x88>(p[2], p[3]);
            let d = _mm512_shuffle_f64x2::<0xdd>(p[2], p[3]);
            [
                _mm512_shuffle_f64x2::<0x88>(a, c),
                _mm512_shuffle_f64x2::<0x88>(b, d),
                _mm512_shuffle_f64x2::<0xdd>(a, c),
                _mm512_shuffle_f64x2::<0xdd>(b, d),
            ]
        }
    }

    impl Lanes for Avx512 {
        const N: usize = 8;
        type Mask = __mmask8;

        #[inline(always)]
        unsafe fn splat(x: f64) -> Self {
            unsafe { Avx512(_mm512_set1_pd(x)) }
        }
        #[inline(always)]
        unsafe fn load(at: *const f64) -> Self {
            unsafe { Avx512(_mm512_load_pd(at)) }
        }
        #[inline(always)]
        unsafe fn load_single(at: *const f32) -> Self {
            unsafe { Avx512(_mm512_cvtps_pd(_mm256_load_ps(at))) }
        }
        #[inline(always)]
        unsafe fn store(self, at: *mut f64) {
            unsafe { _mm512_store_pd(at, self.0) }
        }
        #[inline(always)]
        unsafe fn add(self, o: Self) -> Self {
            unsafe { Avx512(_mm512_add_pd(self.0, o.0)) }
        }
        #[inline(always)]
        unsafe fn sub(self, o: Self) -> Self {
            unsafe { Avx512(_mm512_sub_pd(self.0, o.0)) }
        }
        #[inline(always)]
        unsafe fn mul(self, o: Self) -> Self {
            unsafe { Avx512(_mm512_mul_pd(self.0, o.0)) }
        }
        #[inline(always)]
        unsafe fn div(self, o: Self) -> Self {
            unsafe { Avx512(_mm512_div_pd(self.0, o.0)) }
        }
        #[inline(always)]
        unsafe fn sqrt(self) -> Self {
            unsafe { Avx512(_mm512_sqrt_pd(self.0)) }
        }
        #[inline(always)]
        unsafe fn max(self, o: Self) -> Self {
            unsafe { Avx512(_mm512_max_pd(self.0, o.0)) }
        }
        #[inline(always)]
        unsafe fn min(self, o: Self) -> Self {
            unsafe { Avx512(_mm512_min_pd(self.0, o.0)) }
        }
        #[inline(always)]
        unsafe fn lt(self, o: Self) -> __mmask8 {
            unsafe { _mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, o.0) }
        }
        #[inline(always)]
        unsafe fn le(self, o: Self) -> __mmask8 {
            unsafe { _mm512_cmp_pd_mask::<_CMP_LE_OQ>(self.0, o.0) }
        }
        #[inline(always)]
        unsafe fn and(a: __mmask8, b: __mmask8) -> __mmask8 {
            a & b
        }
        #[inline(always)]
        unsafe fn and_not(a: __mmask8, b: __mmask8) -> __mmask8 {
            a & !b
        }
        #[inline(always)]
        unsafe fn any(m: __mmask8) -> bool {
            m != 0
        }
        #[inline(always)]
        unsafe fn select(m: __mmask8, a: Self, b: Self) -> Self {
            unsafe { Avx512(_mm512_mask_blend_pd(m, b.0, a.0)) }
        }
        #[inline(always)]
        unsafe fn gather(rows: *const Row, at: *const u32) -> [Self; 8] {
            unsafe {
                let mut r = [_mm512_setzero_pd(); 8];
                for k in 0..8 {
                    r[k] = _mm512_load_pd(rows.add(*at.add(k) as usize).cast());
                }
                let c = transpose8(r);
                let low = [Avx512(c[0]), Avx512(c[1]), Avx512(c[2]), Avx512(c[3])];
                let high = [Avx512(c[4]), Avx512(c[5]), Avx512(c[6]), Avx512(c[7])];
                [low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]]
            }
        }
        #[inline(always)]
        unsafe fn scatter(v: [Self; 6], rows: *mut Row, at: *const u32, none: u32) {
            unsafe {
                let zero = _mm512_setzero_pd();
                let r = transpose8([v[0].0, v[1].0, v[2].0, v[3].0, v[4].0, v[5].0, zero, zero]);
                for k in 0..8 {
                    let to = *at.add(k);
                    if to != none {
                        _mm512_store_pd(rows.add(to as usize).cast(), r[k]);
                    }
                }
            }
        }
    }

    /// Four lanes.
    #[derive(Clone, Copy)]
    pub struct Avx2(__m256d);

    /// Rows to columns, or columns to rows.
    #[inline(always)]
    unsafe fn transpose4(r: [__m256d; 4]) -> [__m256d; 4] {
        unsafe {
            let a = _mm256_unpacklo_pd(r[0], r[1]);
            let b = _mm256_unpackhi_pd(r[0], r[1]);
            let c = _mm256_unpacklo_pd(r[2], r[3]);
            let d = _mm256_unpackhi_pd(r[2], r[3]);
            [
                _mm256_permute2f128_pd::<0x20>(a, c),
                _mm256_permute2f128_pd::<0x20>(b, d),
                _mm256_permute2f128_pd::<0x31>(a, c),
                _mm256_permute2f128_pd::<0x31>(b, d),
            ]
        }
    }

    impl Lanes for Avx2 {
        const N: usize = 4;
        type Mask = __m256d;

        #[inline(always)]
        unsafe fn splat(x: f64) -> Self {
            unsafe { Avx2(_mm256_set1_pd(x)) }
        }
        #[inline(always)]
        unsafe fn load(at: *const f64) -> Self {
            unsafe { Avx2(_mm256_load_pd(at)) }
        }
        #[inline(always)]
        unsafe fn load_single(at: *const f32) -> Self {
            unsafe { Avx2(_mm256_cvtps_pd(_mm_load_ps(at))) }
        }
        #[inline(always)]
        unsafe fn store(self, at: *mut f64) {
            unsafe { _mm256_store_pd(at, self.0) }
        }
        #[inline(always)]
        unsafe fn add(self, o: Self) -> Self {
            unsafe { Avx2(_mm256_add_pd(self.0, o.0)) }
        }
        #[inline(always)]
        unsafe fn sub(self, o: Self) -> Self {
            unsafe { Avx2(_mm256_sub_pd(self.0, o.0)) }
        }
        #[inline(always)]
        unsafe fn mul(self, o: Self) -> Self {
            unsafe { Avx2(_mm256_mul_pd(self.0, o.0)) }
        }
        #[inline(always)]
        unsafe fn div(self, o: Self) -> Self {
            unsafe { Avx2(_mm256_div_pd(self.0, o.0)) }
        }
        #[inline(always)]
        unsafe fn sqrt(self) -> Self {
            unsafe { Avx2(_mm256_sqrt_pd(self.0)) }
        }
        #[inline(always)]
        unsafe fn max(self, o: Self) -> Self {
            unsafe { Avx2(_mm256_max_pd(self.0, o.0)) }
        }
        #[inline(always)]
        unsafe fn min(self, o: Self) -> Self {
            unsafe { Avx2(_mm256_min_pd(self.0, o.0)) }
        }
        #[inline(always)]
        unsafe fn lt(self, o: Self) -> __m256d {
            unsafe { _mm256_cmp_pd::<_CMP_LT_OQ>(self.0, o.0) }
        }
        #[inline(always)]
        unsafe fn le(self, o: Self) -> __m256d {
            unsafe { _mm256_cmp_pd::<_CMP_LE_OQ>(self.0, o.0) }
        }
        #[inline(always)]
        unsafe fn and(a: __m256d, b: __m256d) -> __m256d {
            unsafe { _mm256_and_pd(a, b) }
        }
        #[inline(always)]
        unsafe fn and_not(a: __m256d, b: __m256d) -> __m256d {
            unsafe { _mm256_andnot_pd(b, a) }
        }
        #[inline(always)]
        unsafe fn any(m: __m256d) -> bool {
            unsafe { _mm256_movemask_pd(m) != 0 }
        }
        #[inline(always)]
        unsafe fn select(m: __m256d, a: Self, b: Self) -> Self {
            unsafe { Avx2(_mm256_blendv_pd(b.0, a.0, m)) }
        }
        #[inline(always)]
        unsafe fn gather(rows: *const Row, at: *const u32) -> [Self; 8] {
            unsafe {
                let (mut low, mut high) = ([_mm256_setzero_pd(); 4], [_mm256_setzero_pd(); 4]);
                for k in 0..4 {
                    let row = rows.add(*at.add(k) as usize).cast::<f64>();
                    low[k] = _mm256_load_pd(row);
                    high[k] = _mm256_load_pd(row.add(4));
                }
                let [a, b, c, d] = transpose4(low);
                let [e, f, g, h] = transpose4(high);
                [Avx2(a), Avx2(b), Avx2(c), Avx2(d), Avx2(e), Avx2(f), Avx2(g), Avx2(h)]
            }
        }
        #[inline(always)]
        unsafe fn scatter(v: [Self; 6], rows: *mut Row, at: *const u32, none: u32) {
            unsafe {
                let zero = _mm256_setzero_pd();
                let low = transpose4([v[0].0, v[1].0, v[2].0, v[3].0]);
                let high = transpose4([v[4].0, v[5].0, zero, zero]);
                for k in 0..4 {
                    let to = *at.add(k);
                    if to != none {
                        let row = rows.add(to as usize).cast::<f64>();
                        _mm256_store_pd(row, low[k]);
                        _mm256_store_pd(row.add(4), high[k]);
                    }
                }
            }
        }
    }
}
