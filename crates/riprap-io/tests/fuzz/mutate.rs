//! Mutation of inputs: repeated small damage to valid ones.

/// Random numbers (SplitMix64): a seed gives the same inputs on every machine.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// A range in a text of `n` bytes, more often short than long.
    fn range(&mut self, n: usize) -> std::ops::Range<usize> {
        let start = self.below(n + 1);
        let longest = *self.of(&[1, 4, 16, 64, 1024]);
        start..(start + self.below(longest + 1)).min(n)
    }
}

/// Numbers at the limits of number types.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "3",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e-300",
    "1e300",
    "1e-100",
    "1e100",
    "1e400",
    "-1e308",
    "5e-324",
    "nan",
    "inf",
    "-inf",
    "0.1",
    "1e16",
    "1e-16",
    "0x10",
    "1_000",
    "١",
];
const BYTES: &[u8] = &[0, 1, 2, 3, 4, 8, 0x0a, 0x20, 0x22, 0x5b, 0x7f, 0x80, 0xbf, 0xc0, 0xff];

/// A new input derived from those of a corpus; `words` are tokens of their language.
pub fn input(random: &mut Random, corpus: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut bytes = random.of(corpus).clone();
    for _ in 0..1 + random.below(6) {
        damage(random, &mut bytes, corpus, words);
        bytes.truncate(1 << 16);
    }
    bytes
}

fn damage(random: &mut Random, bytes: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[&str]) {
    let n = bytes.len();
    // A file without words is binary: mutations that keep its length are accepted more often.
    let kind = match words.is_empty() && random.below(8) > 0 {
        true => *random.of(&[0, 1, 9, 9, 9]),
        false => random.below(12),
    };
    match kind {
        0 if n > 0 => {
            let at = random.below(n);
            bytes[at] ^= 1 << random.below(8);
        }
        1 if n > 0 => {
            let at = random.below(n);
            bytes[at] = *random.of(BYTES);
        }
        2 => {
            bytes.drain(random.range(n));
        }
        3 => {
            let copy = bytes[random.range(n)].to_vec();
            let at = random.below(n + 1);
            (0..1 + random.below(3)).for_each(|_| {
                bytes.splice(at..at, copy.iter().copied());
            });
        }
        4 if !words.is_empty() => {
            let (word, at) = (random.of(words).bytes(), random.range(n));
            bytes.splice(at, word);
        }
        5 | 6 => {
            let number = random.of(NUMBERS).bytes();
            let at = number_at(random, bytes);
            bytes.splice(at, number);
        }
        7 => {
            let other = random.of(corpus);
            let part = other[random.range(other.len())].to_vec();
            let at = random.range(n);
            bytes.splice(at, part);
        }
        8 => bytes.truncate(random.below(n + 1)),
        9 if n >= 8 => {
            // A length, an index or a number in a binary file.
            let size = *random.of(&[2, 4, 8]);
            let at = random.below(n - size + 1);
            let whole = [0, 1, u64::MAX, 1 << 31, 1 << 32, 1 << 62, 255, n as u64];
            let real = [f64::NAN, f64::INFINITY, 1e300, -1e-300, -1.0, 1e17].map(f64::to_bits);
            let value = *random.of(&[&whole[..], &real].concat());
            bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
        10 => {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            let (a, b) = (random.below(lines.len()), random.below(lines.len()));
            if !lines.is_empty() {
                lines.swap(a, b);
            }
            *bytes = lines.concat();
        }
        _ => {
            let at = random.below(n + 1);
            let nested =
                random.of(&["[", "(", "{", "<a>", "-", "\"", "\n"]).repeat(1 + random.below(300));
            bytes.splice(at..at, nested.bytes());
        }
    }
}

/// The range of a number in a text, or any range.
fn number_at(random: &mut Random, bytes: &[u8]) -> std::ops::Range<usize> {
    let from = random.below(bytes.len() + 1);
    let is_number = |byte: &u8| byte.is_ascii_digit() || b".e+-".contains(byte);
    match bytes[from..].iter().position(u8::is_ascii_digit) {
        None => from..from,
        Some(start) => {
            let start = from + start;
            start..start + bytes[start..].iter().take_while(|byte| is_number(byte)).count()
        }
    }
}
