//! Files that are damaged, cut, or not run files at all: an error with a remedy or the right frames, never a panic.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;

use riprap_io::run_file::{ContactSet, FILE, Model, Poses, RunFile, SurfaceSet};

use super::{frame, read, scene};

/// A small file: two stones in contact, a wall, a rope, three frames.
const SMALL: &str = r#"
run = { dt = "1 ms", until = "4 ms", output_every = "2 ms" }
materials.rock = { density = 2000, friction = 0.5 }
[[body]]
name = "wall"
kind = "fixed"
material = "rock"
position = [0, 0, -0.05]
shape = { type = "box", size = [1, 1, 0.1] }
[[body]]
name = "block"
material = "rock"
position = [0, 0, 0.1]
shape = { type = "box", size = [0.2, 0.2, 0.2] }
[[rope]]
points = [{ body = "block", position = [0, 0, 0.1] }, { body = "wall", position = [0.3, 0, 0.05] }]
"#;

type Content = (Vec<(Poses, ContactSet, SurfaceSet)>, Model);

fn small() -> (tempfile::TempDir, Content) {
    let (out, file) = read(&scene(SMALL));
    let frames = (0..3).map(|k| frame(&file, k).unwrap()).collect();
    let model = file.model(0).unwrap();
    (out, (frames, model))
}

/// Opens a damaged file and reads all of it; the number of frames that are right, and that of wrong ones.
fn read_damaged(path: &Path, expected: &Content) -> (usize, usize) {
    let Ok(file) = RunFile::open(path) else { return (0, 0) };
    let (mut right, mut wrong) = (0, 0);
    for k in 0..file.times().len().min(5) {
        match frame(&file, k) {
            Ok(found) if expected.0.get(k) == Some(&found) => right += 1,
            Ok((poses, contacts, surfaces)) => {
                wrong += 1;
                // Whatever it is, it is not larger than the file can contain.
                let most = 1 << 20;
                assert!(poses.position.len() < most && contacts.gap.len() < most);
                assert!(surfaces.points.len() < most && surfaces.corners.len() < most);
                assert!(surfaces.corners.iter().all(|k| (*k as usize) < surfaces.points.len()));
            }
            Err(_) => {}
        }
    }
    if let Ok(model) = file.model(0) {
        wrong += usize::from(model != expected.1 && right == 3);
    }
    (right, wrong)
}

/// Where the structure of a file ends and its rows begin: the smallest address of a chunk or node.
fn first_row(bytes: &[u8]) -> usize {
    bytes.windows(5).position(|window| window == b"TREE\x01").unwrap()
}

/// Changes a byte of a file and back again while a function looks at it.
fn with_byte(path: &Path, at: usize, [byte, before]: [u8; 2], look: impl FnOnce()) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    let mut set = |value: u8| {
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(&[value]).unwrap();
    };
    set(byte);
    look();
    set(before);
}

#[test]
fn a_byte_changed_anywhere_is_an_error_or_harmless_and_takes_no_time() {
    let (out, expected) = small();
    let path = out.path().join("run").join(FILE);
    let bytes = fs::read(&path).unwrap();
    let structure = first_row(&bytes);
    let (mut intact, mut slowest) = (0, 0.0f64);
    // A part of the rows, too, whose values have no redundancy.
    let places = (0..structure).step_by(11).chain((structure..bytes.len()).step_by(97));
    for (k, at) in places.enumerate() {
        let before = bytes[at];
        let changed = [before ^ 0xff, before ^ 1, before.wrapping_add(0x10)][k % 3];
        with_byte(&path, at, [changed, before], || {
            let begin = Instant::now();
            let (right, wrong) = read_damaged(&path, &expected);
            slowest = slowest.max(begin.elapsed().as_secs_f64());
            assert!(at >= structure || wrong == 0, "byte {at}: {wrong} frames are wrong");
            intact += usize::from(right == 3);
        });
    }
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert!(slowest < 5.0, "{slowest} s");
    assert!(intact > 300, "{intact}");
}

#[test]
fn numbers_of_the_structure_set_to_extremes_are_errors_or_harmless() {
    let (out, expected) = small();
    let path = out.path().join("run").join(FILE);
    let bytes = fs::read(&path).unwrap();
    let structure = first_row(&bytes);
    let extremes = [0, 1, u64::MAX, i64::MAX as u64, 1 << 32, bytes.len() as u64, 4096];
    let mut changed = bytes.clone();
    // Numbers of 8 bytes begin at multiples of 8, or, in layouts, 3 bytes later.
    for at in (0..structure - 16).step_by(40).flat_map(|at| [at, at + 11]) {
        let value = extremes[at / 40 % extremes.len()];
        changed[at..at + 8].copy_from_slice(&value.to_le_bytes());
        fs::write(&path, &changed).unwrap();
        let begin = Instant::now();
        let (_, wrong) = read_damaged(&path, &expected);
        assert_eq!(wrong, 0, "byte {at} set to {value}");
        assert!(begin.elapsed().as_secs_f64() < 5.0, "byte {at} set to {value}");
        changed[at..at + 8].copy_from_slice(&bytes[at..at + 8]);
    }
}

#[test]
fn a_file_cut_at_any_length_is_an_error_or_has_the_right_frames() {
    let (out, expected) = small();
    let path = out.path().join("run").join(FILE);
    let length = fs::metadata(&path).unwrap().len();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    let mut counts = Vec::new();
    for length in (0..length).rev().step_by(29) {
        file.set_len(length).unwrap();
        let (right, wrong) = read_damaged(&path, &expected);
        assert_eq!(wrong, 0, "{length} bytes");
        counts.push(right);
    }
    // The longer the file, the more frames.
    assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
    assert_eq!((counts[counts.len() - 1], counts.contains(&1)), (0, true));
}

#[test]
fn files_of_other_programs_are_refused_with_their_name_and_a_remedy() {
    let out = tempfile::tempdir().unwrap();
    let mut fclib = hdf5_pure::FileBuilder::new();
    let mut group = fclib.create_group("fclib_local");
    group.create_dataset("spacedim").with_i32_data(&[3]).with_shape(&[1]);
    fclib.add_group(group.finish());
    let mut old = hdf5_pure::FileBuilder::new();
    old.with_libver_bounds(hdf5_pure::LibVer::V18, hdf5_pure::LibVer::V18);
    let group = old.create_group("VTKHDF");
    old.add_group(group.finish());
    let superblock = b"\x89HDF\r\n\x1a\n\0".to_vec();
    let foreign: [(&str, Vec<u8>); 8] = [
        ("problem.hdf5", fclib.finish().unwrap()),
        ("polydata.vtkhdf", old.finish().unwrap()),
        ("empty.vtkhdf", Vec::new()),
        ("notes.txt", b"time [s],energy [J]\n0,1\n".repeat(1000)),
        ("zeros.vtkhdf", vec![0; 100_000]),
        ("ones.vtkhdf", vec![0xff; 100_000]),
        ("start.vtkhdf", superblock.clone()),
        ("start-and-zeros.vtkhdf", [superblock, vec![0; 100_000]].concat()),
    ];
    for (name, bytes) in foreign {
        let path = out.path().join(name);
        fs::write(&path, bytes).unwrap();
        let told = RunFile::open(&path).unwrap_err().to_string();
        assert!(told.contains(name) && told.contains("not a run file"), "{told}");
        assert!(told.contains("run the scene again"), "{told}");
    }
    // A folder without a run, a folder in place of the file, and nothing at all.
    let told = RunFile::open(out.path()).unwrap_err().to_string();
    assert!(told.contains("cannot open") && told.contains(FILE), "{told}");
    let folder = out.path().join("folder");
    fs::create_dir_all(folder.join(FILE)).unwrap();
    for path in [folder.join(FILE), folder, out.path().join("nowhere")] {
        let told = RunFile::open(&path).unwrap_err().to_string();
        assert!(told.contains("cannot open"), "{told}");
    }
}

#[test]
fn a_file_of_a_later_version_is_named_as_such() {
    let (out, _) = small();
    let path = out.path().join("run").join(FILE);
    let bytes = fs::read(&path).unwrap();
    let name = bytes.windows(7).position(|window| window == b"Format\0").unwrap();
    // After the name: its type, its dimensions, its value.
    let value = name + 8 + 16 + 8;
    assert_eq!(bytes[value..value + 8], 1i64.to_le_bytes());
    for version in [0u8, 2, 200] {
        with_byte(&path, value, [version, 1], || {
            let told = RunFile::open(&path).unwrap_err().to_string();
            let says = format!("its format {version} is unknown to this version");
            assert!(told.contains(&says), "{told}");
        });
    }
    RunFile::open(&path).unwrap();
}
