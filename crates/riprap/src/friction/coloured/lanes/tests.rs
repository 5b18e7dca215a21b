//! Every operation of every width against scalar operations, bitwise.

use super::super::kernel::{Kernel, Kernels, Width};
use super::*;

/// Numbers at which operations would differ.
const SPECIAL: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MIN_POSITIVE,
    -f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    f64::MAX,
    f64::MIN,
    0.1,
    3.5e-160,
    -7.25e200,
];

/// Runs a kernel with each width that this processor supports.
fn with_every_width(mut kernel: impl FnMut(Kernels)) {
    for width in [Width::One, Width::Four, Width::Eight] {
        kernel(Kernels::choose(width));
    }
}

/// All pairs of special numbers, eight at a time.
fn pairs() -> Vec<[Row; 2]> {
    let all: Vec<[f64; 2]> =
        SPECIAL.iter().flat_map(|a| SPECIAL.iter().map(|b| [*a, *b])).collect();
    let row = |k: usize, eight: &[[f64; 2]]| Row(std::array::from_fn(|lane| eight[lane][k]));
    all.chunks(LANES).map(|eight| [row(0, eight), row(1, eight)]).collect()
}

/// Bitwise equal, or both NaN, whose sign does not matter.
fn same(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}

const OPERATIONS: usize = 12;

/// The expected result of one lane.
fn expected(a: f64, b: f64) -> [f64; OPERATIONS] {
    let truth = |x: bool| if x { 1.0 } else { 2.0 };
    [
        a + b,
        a - b,
        a * b,
        a / b,
        0.0 - a,
        a.sqrt(),
        if a > b { a } else { b },
        if a < b { a } else { b },
        if a > 0.0 - a { a } else { 0.0 - a },
        truth(a < b),
        truth(a <= b),
        truth(a == b),
    ]
}

struct Operate<'a> {
    operands: &'a [Row; 2],
    results: &'a mut [Row; OPERATIONS],
}

impl Kernel for Operate<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, simd: L::Simd) {
        for lane in (0..LANES).step_by(L::N) {
            let a = L::load(simd, &self.operands[0], lane);
            let b = L::load(simd, &self.operands[1], lane);
            let (one, two) = (L::splat(simd, 1.0), L::splat(simd, 2.0));
            let equal = L::and_not(a.le(b), a.lt(b));
            let results = [
                a + b,
                a - b,
                a * b,
                a / b,
                a.neg(),
                a.sqrt(),
                a.max(b),
                a.min(b),
                a.abs(),
                L::select(a.lt(b), one, two),
                L::select(a.le(b), one, two),
                L::select(L::and(equal, a.le(b)), one, two),
            ];
            for (row, result) in self.results.iter_mut().zip(results) {
                result.store(row, lane);
            }
        }
    }
}

#[test]
fn every_operation_is_bitwise_equal_to_the_scalar_one() {
    with_every_width(|kernels| {
        for operands in &pairs() {
            let mut results = [Row::default(); OPERATIONS];
            kernels.run(Operate { operands, results: &mut results });
            for lane in 0..LANES {
                let (a, b) = (operands[0].0[lane], operands[1].0[lane]);
                for (k, right) in expected(a, b).into_iter().enumerate() {
                    let found = results[k].0[lane];
                    assert!(
                        same(found, right),
                        "{kernels:?}, {k}: {a:e} {b:e}: {found:e} {right:e}"
                    );
                }
            }
        }
    });
}

struct AnyBelow<'a> {
    row: &'a Row,
    limit: f64,
    found: &'a mut [bool; LANES],
}

impl Kernel for AnyBelow<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, simd: L::Simd) {
        for lane in (0..LANES).step_by(L::N) {
            let below = L::load(simd, self.row, lane).lt(L::splat(simd, self.limit));
            self.found[lane..lane + L::N].fill(L::any(below));
        }
    }
}

#[test]
fn any_is_true_if_one_of_the_lanes_is_true() {
    let row = Row([3.0, 1.0, 4.0, 1.5, 5.0, f64::NAN, 2.0, 6.0]);
    with_every_width(|kernels| {
        let n = match kernels {
            Kernels::One => 1,
            #[cfg(target_arch = "x86_64")]
            Kernels::Four(_) => 4,
            #[cfg(target_arch = "x86_64")]
            Kernels::Eight(_) => 8,
        };
        for limit in [0.0, 1.2, 1.7, 2.5, 10.0] {
            let mut found = [false; LANES];
            kernels.run(AnyBelow { row: &row, limit, found: &mut found });
            for (group, found) in row.0.chunks(n).zip(found.chunks(n)) {
                let right = group.iter().any(|x| *x < limit);
                assert!(found.iter().all(|f| *f == right), "{n} lanes below {limit}");
            }
        }
    });
}

struct Singles<'a> {
    row: &'a Row,
    halves: &'a mut [Row; 2],
}

impl Kernel for Singles<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, simd: L::Simd) {
        for lane in (0..LANES).step_by(L::N) {
            for half in 0..2 {
                L::load_single(simd, self.row, half, lane).store(&mut self.halves[half], lane);
            }
        }
    }
}

#[test]
fn single_precision_numbers_are_read_back_unchanged() {
    let numbers: [f32; 16] = [
        0.0,
        -0.0,
        1.5,
        -2.25,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MIN_POSITIVE,
        1e-45,
        f32::MAX,
        f32::MIN,
        0.1,
        1.0 / 3.0,
        -7e20,
        3e-30,
        f32::EPSILON,
        65_537.0,
    ];
    let mut row = Row::default();
    numbers.iter().enumerate().for_each(|(k, x)| row.put_single(k, *x));
    with_every_width(|kernels| {
        let mut halves = [Row::default(); 2];
        kernels.run(Singles { row: &row, halves: &mut halves });
        for (k, x) in numbers.iter().enumerate() {
            let found = halves[k / LANES].0[k % LANES];
            assert_eq!(found.to_bits(), f64::from(*x).to_bits(), "{kernels:?}, {k}");
        }
    });
}

struct Turn<'a> {
    rows: &'a [Row; LANES],
    columns: &'a mut [Row; LANES],
    back: &'a mut [Row; LANES],
}

impl Kernel for Turn<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, simd: L::Simd) {
        for lane in (0..LANES).step_by(L::N) {
            let mut some = [Row::default(); LANES];
            some[..L::N].copy_from_slice(&self.rows[lane..lane + L::N]);
            let columns = L::columns(simd, &some);
            for (row, column) in self.columns.iter_mut().zip(columns) {
                column.store(row, lane);
            }
            let [a, b, c, d, e, f, ..] = columns;
            self.back[lane..lane + L::N].copy_from_slice(&L::rows([a, b, c, d, e, f])[..L::N]);
        }
    }
}

#[test]
fn rows_are_transposed_to_columns_and_back() {
    let rows: [Row; LANES] =
        std::array::from_fn(|i| Row(std::array::from_fn(|k| (10 * i + k) as f64)));
    with_every_width(|kernels| {
        let (mut columns, mut back) = ([Row::default(); LANES], [Row::default(); LANES]);
        kernels.run(Turn { rows: &rows, columns: &mut columns, back: &mut back });
        for i in 0..LANES {
            for k in 0..LANES {
                assert_eq!(columns[k].0[i], rows[i].0[k], "{kernels:?}");
                let kept = if k < 6 { rows[i].0[k] } else { 0.0 };
                assert_eq!(back[i].0[k], kept, "{kernels:?}: six velocities, and zeros");
            }
        }
    });
}

#[test]
fn an_unsupported_width_falls_back_to_the_widest_available() {
    assert!(matches!(Kernels::choose(Width::One), Kernels::One));
    let debug = |width| format!("{:?}", Kernels::choose(width));
    assert_eq!(debug(Width::Widest), debug(Width::Eight));
}
