use std::io;
use std::path::PathBuf;

use super::append::Store;
use super::*;

/// A file in memory that records what is written.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub bytes: Vec<u8>,
    pub writes: Vec<(u64, Vec<u8>)>,
}

/// Writes bytes at a position of a file, which grows as needed.
pub(crate) fn apply(bytes: &mut Vec<u8>, at: u64, written: &[u8]) {
    let end = at as usize + written.len();
    bytes.resize(bytes.len().max(end), 0);
    bytes[at as usize..end].copy_from_slice(written);
}

impl Store for Memory {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        apply(&mut self.bytes, at, bytes);
        self.writes.push((at, bytes.into()));
        Ok(())
    }

    fn read_at(&mut self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let found = self.bytes.get(at as usize..at as usize + bytes.len());
        bytes.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.bytes.truncate(length as usize);
        Ok(())
    }

    fn length(&mut self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }
}

/// A file with an array of each kind.
struct Sample {
    plan: Plan,
    steps: Counter,
    points: Array,
    names: Array,
    values: Array,
    ends: Array,
}

impl Sample {
    fn new() -> Sample {
        let mut plan = Plan::new();
        let group = plan.group(plan.root(), "run");
        plan.attribute(group, "Version", Attribute::Integers(&[2, 3]));
        plan.attribute(group, "Type", Attribute::Text("PolyData"));
        plan.attribute(group, "Index", Attribute::Integer(7));
        let steps = plan.counter(group, "NSteps");
        let points = plan.packed(group, "points", Type::F32, 3, 5);
        let names = plan.packed(group, "names", Type::Text, 0, 4);
        let values = plan.counted(group, "values", Type::F64);
        let ends = plan.column(group, "ends", Type::I64, 0);
        let other = plan.group(group, "other");
        plan.link(other, "same values", values);
        plan.soft_link(other, "points", "/run/points");
        Sample { plan, steps, points, names, values, ends }
    }

    /// Appends frame `k`: 7 points, two names at frame 0, a value.
    fn frame<S: Store>(&self, file: &mut Appender<S>, k: usize) {
        if k == 0 {
            let names = file.texts(&["stone".into(), "Größe".into()]);
            file.append(self.names, &names);
        }
        let data: Vec<u8> = points(k).iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(file.append(self.points, &data), 10 * k as u64);
        file.push(self.values, &(0.5 * k as f64).to_le_bytes());
        file.set_counter(self.steps, k as i64 + 1);
        file.push_end(self.ends);
        file.commit().unwrap();
    }
}

fn points(k: usize) -> Vec<f32> {
    (0..21).map(|i| (k * 100 + i) as f32 * 0.25).collect()
}

fn on_disk(name: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("riprap-append-{}-{name}", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Checks all frames that a file claims to have, and returns their number.
fn check(name: &str, bytes: &[u8]) -> usize {
    let path = on_disk(name, bytes);
    let file = Reader::open(&path).unwrap();
    let n = file.integer("run", "NSteps").unwrap() as usize;
    assert_eq!(file.integer("run", "Index").unwrap(), 7);
    let array = file.array("run/points", Type::F32, 3).unwrap();
    let values = file.array("run/other/same values", Type::F64, 0).unwrap();
    for k in 0..n {
        let rows = file.rows(array, 10 * k as u64, 7).unwrap();
        let expected: Vec<u8> = points(k).iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(rows, expected);
        assert_eq!(file.rows(values, k as u64, 1).unwrap(), (0.5 * k as f64).to_le_bytes());
    }
    let names = file.array("run/names", Type::Text, 0).unwrap();
    assert_eq!(file.rows(names, 0, 2).unwrap()[..4], 5u32.to_le_bytes());
    std::fs::remove_file(path).unwrap();
    n
}

#[test]
fn a_file_cut_between_any_two_writes_is_readable_with_all_committed_frames() {
    let sample = Sample::new();
    let mut file = Appender::new(Memory::default(), &sample.plan);
    let mut commits = Vec::new();
    // Enough for three levels of a B-tree of 64 entries each: two chunks per frame.
    let n = 70;
    for k in 0..n {
        sample.frame(&mut file, k);
        commits.push(file.store().writes.len());
    }
    let mut bytes = Vec::new();
    for (k, (at, written)) in file.store().writes.iter().enumerate() {
        apply(&mut bytes, *at, written);
        let whole = commits.iter().filter(|commit| **commit <= k + 1).count();
        // All states around the growth of a tree, and some in between.
        if whole > 0 && (k % 7 == 0 || (30..36).contains(&whole) || (62..68).contains(&whole)) {
            assert_eq!(check("prefix", &bytes), whole, "after write {k}");
        }
    }
    assert_eq!(bytes, file.store().bytes);
}

#[test]
fn a_reopened_file_continues_as_if_it_had_not_been_interrupted() {
    let sample = Sample::new();
    let whole = |n: usize| {
        let mut file = Appender::new(Memory::default(), &sample.plan);
        (0..n).for_each(|k| sample.frame(&mut file, k));
        file
    };
    let reference = whole(150);
    for (kept, before) in [(1, 2), (31, 33), (32, 80), (64, 140), (129, 150), (128, 129)] {
        let mut bytes = whole(before).store().bytes.clone();
        // As left by a kill, with a partial frame.
        bytes.extend([1; 100]);
        let path = on_disk("reopened", &bytes);
        let ends = Reader::open(&path).unwrap();
        let array = ends.array("run/ends", Type::I64, 0).unwrap();
        let end = ends.rows(array, kept as u64 - 1, 1).unwrap();
        let end = u64::from_le_bytes(end.try_into().unwrap());
        let store = Memory { bytes, writes: Vec::new() };
        let rows = [(sample.values, kept as u64), (sample.ends, kept as u64)];
        let counters = [(sample.steps, kept as i64)];
        let mut file =
            Appender::reopen(store, &sample.plan, end, &rows, &counters).unwrap().unwrap();
        assert_eq!(check("cut", &file.store().bytes), kept);
        (kept..150).for_each(|k| sample.frame(&mut file, k));
        assert!(file.store().bytes == reference.store().bytes);
        assert_eq!(check("continued", &file.store().bytes), 150);
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_file_of_another_structure_is_not_continued() {
    let sample = Sample::new();
    let mut file = Appender::new(Memory::default(), &sample.plan);
    sample.frame(&mut file, 0);
    let mut other = Sample::new();
    other.plan.group(other.plan.root(), "more");
    let bytes = file.store().bytes.clone();
    for bytes in [bytes.clone(), bytes[..5000].to_vec(), Vec::new()] {
        let store = Memory { bytes, writes: Vec::new() };
        assert!(Appender::reopen(store, &other.plan, 1 << 20, &[], &[]).unwrap().is_none());
    }
}

#[test]
fn damaged_files_are_refused_without_panic() {
    let sample = Sample::new();
    let mut file = Appender::new(Memory::default(), &sample.plan);
    (0..40).for_each(|k| sample.frame(&mut file, k));
    let bytes = &file.store().bytes;
    let mut seed = 1u64;
    let mut random = move |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    for trial in 0..400 {
        let mut bytes = bytes.clone();
        if trial % 4 == 0 {
            bytes.truncate(random(bytes.len()));
        }
        for _ in 0..=random(4) {
            let n = if trial % 2 == 0 { bytes.len() } else { bytes.len().min(8192) };
            if n > 0 {
                bytes[random(n)] = [0, 1, 0xff, random(256) as u8][random(4)];
            }
        }
        let path = on_disk("damaged", &bytes);
        if let Ok(file) = Reader::open(&path) {
            for array in ["run/points", "run/values", "run/names"] {
                let Some(array) = file.find(array) else { continue };
                let n = file.integer("run", "NSteps").unwrap_or(0) as u64;
                for (first, n) in [(0, n), (n, 3), (u64::MAX, 2), (0, u64::MAX)] {
                    let _ = file.rows(array, first, n);
                }
            }
        }
        std::fs::remove_file(path).unwrap();
    }
}
