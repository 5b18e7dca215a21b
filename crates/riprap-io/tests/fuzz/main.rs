//! File readers on damaged input: for any bytes, a reader returns a value or an error. It does not panic, does not hang, and does not
//! allocate memory out of proportion to the input.
//!
//! Each target takes valid inputs (`corpus/`, `../data`, or generated here) and mutates them at random, for a second by default; `cargo xtask fuzz
//! --minutes N` runs longer and with other seeds. An input that breaks a reader is saved, and its path is in the message;
//! `RIPRAP_FUZZ_INPUT=PATH` repeats it, with the name of its test.

mod memory;
mod mutate;
mod readers;

use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mutate::Random;

/// Maximum time for one input.
const PATIENCE: Duration = Duration::from_secs(30);

/// Fuzzes a reader, which returns whether it accepted an input.
fn fuzz(
    target: &'static str,
    corpus: Vec<Vec<u8>>,
    words: &[&str],
    mut read: impl FnMut(&[u8]) -> bool,
) {
    assert!(!corpus.is_empty(), "{target}: no corpus");
    let setting = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<f64>().ok());
    if let Some(path) = std::env::var_os("RIPRAP_FUZZ_INPUT") {
        read(&fs::read(path).unwrap());
        return;
    }
    let seconds = setting("RIPRAP_FUZZ_SECONDS").unwrap_or(1.0);
    let mut random = Random(setting("RIPRAP_FUZZ_SEED").unwrap_or(1.0) as u64);
    let watchdog = Watchdog::new(target);
    let begin = Instant::now();
    let (mut tried, mut accepted) = (0u64, 0u64);
    while begin.elapsed().as_secs_f64() < seconds {
        // The valid ones first.
        let input = match corpus.get(tried as usize) {
            Some(good) => good.clone(),
            None => mutate::input(&mut random, &corpus, words),
        };
        watchdog.starts(&input);
        memory::forget();
        let outcome = catch_unwind(AssertUnwindSafe(|| read(&input)));
        let asked = memory::largest();
        watchdog.ends();
        tried += 1;
        match outcome {
            Ok(good) => accepted += u64::from(good),
            Err(_) => panic!("{target}: a reader panicked, see {}", keep(target, &input).display()),
        }
        let fair = memory::FAIR + 4000 * input.len();
        assert!(
            asked <= fair,
            "{target}: a single allocation of {asked} bytes, see {}",
            keep(target, &input).display()
        );
    }
    // Bypasses the output capture of tests: the number of inputs is part of the result.
    let line = format!("fuzz {target}: {tried} inputs tried, {accepted} accepted\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Saves an input that broke a reader.
fn keep(target: &str, input: &[u8]) -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("broken-{target}-{}", input.len()));
    let _ = fs::write(&path, input);
    path
}

/// Ends the process if a reader hangs, because a thread cannot be killed.
struct Watchdog(Arc<Mutex<Current>>);

/// The current input, and its start time.
type Current = Option<(Instant, Vec<u8>)>;

impl Watchdog {
    fn new(target: &'static str) -> Watchdog {
        let current: Arc<Mutex<Current>> = Arc::default();
        let seen = Arc::downgrade(&current);
        std::thread::spawn(move || {
            while let Some(seen) = seen.upgrade() {
                if let Some((since, input)) = &*seen.lock().unwrap_or_else(PoisonError::into_inner)
                    && since.elapsed() > PATIENCE
                {
                    let line = format!(
                        "{target}: a reader hangs, see {}\n",
                        keep(target, input).display()
                    );
                    let _ = std::io::stderr().write_all(line.as_bytes());
                    std::process::abort();
                }
                drop(seen);
                std::thread::sleep(Duration::from_millis(500));
            }
        });
        Watchdog(current)
    }

    fn starts(&self, input: &[u8]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((Instant::now(), input.to_vec()));
    }

    fn ends(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The files of a folder of the corpus, or those of `../data` with a given extension.
fn corpus(kind: &str, endings: &[&str]) -> Vec<Vec<u8>> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut paths = Vec::new();
    for folder in [tests.join("fuzz/corpus").join(kind), tests.join("data")] {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        paths.extend(entries.map(|entry| entry.unwrap().path()));
    }
    paths.retain(|path| {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        endings.contains(&ending)
    });
    paths.sort();
    paths.into_iter().map(|path| fs::read(path).unwrap()).collect()
}

/// The lines of the files of a folder of the corpus.
fn lines(kind: &str) -> Vec<Vec<u8>> {
    let files = corpus(kind, &["txt"]);
    let lines = files.iter().flat_map(|file| file.split(|byte| *byte == b'\n'));
    lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}
