//! Locks that keep two processes from writing to the same place. The operating system holds the lock on a small file and releases it
//! when the process ends, so no cleanup is needed after a crash. The file names the process, for the error messages of others.
//!
//! On Linux the lock is `flock`, which NFS forwards to the server; on a file system without locks none is taken, and [`Lock::holds`] is false.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::Error;

/// A lock, released on drop.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// `None` if the file system has no locks.
    file: Option<File>,
}

impl Lock {
    /// Acquires the lock with the file `path`, in an existing folder. If another process has it, the error names that process and
    /// `what` it protects, a folder or a file.
    pub fn take(path: &Path, what: &Path) -> Result<Lock, Error> {
        loop {
            let mut open = OpenOptions::new();
            open.read(true).write(true).create(true).truncate(false);
            let mut file = open.open(path).map_err(Error::io("write", path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::InUse { path: what.to_owned(), holder: holder(&mut file) });
                }
                Err(TryLockError::Error(error)) if is_unsupported(&error) => {
                    let _ = fs::remove_file(path);
                    return Ok(Lock { path: path.to_owned(), file: None });
                }
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", path)(error)),
            }
            // The previous owner may have removed the file after we opened and before we locked it.
            if is_in_place(&file, path) {
                // The name is only informative; the lock is valid without it, for example if the disk is full.
                let _ = file.set_len(0).and_then(|()| file.write_all(own_name().as_bytes()));
                return Ok(Lock { path: path.to_owned(), file: Some(file) });
            }
        }
    }

    /// Whether it excludes other processes; `false` on a file system without locks.
    pub fn holds(&self) -> bool {
        self.file.is_some()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed before it is unlocked, while no other process may. Where an open file cannot be removed, it stays, unlocked.
        if self.file.is_some() && cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether a path still refers to an open file.
#[cfg(unix)]
fn is_in_place(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(there)) => (open.dev(), open.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_in_place(_: &File, _: &Path) -> bool {
    true
}

/// Whether an error means that the file system has no locks. Linux returns `ENOLCK`, which has no name in the standard library.
fn is_unsupported(error: &io::Error) -> bool {
    const ENOLCK: i32 = 37;
    error.kind() == io::ErrorKind::Unsupported
        || cfg!(target_os = "linux") && error.raw_os_error() == Some(ENOLCK)
}

/// The holder of the lock, as described in its file.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(1000).read_to_string(&mut text));
    match text.trim() {
        told if read.is_ok() && !told.is_empty() => told.replace(char::is_control, " "),
        _ => "another process".into(),
    }
}

/// A description of this process: `process 4711 on node12, since 2026-11-16 16:12:43 UTC`.
fn own_name() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let host = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = host.or_else(|| std::env::var("COMPUTERNAME").ok());
    let host = host.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
    let host = match host.trim() {
        "" => "this machine",
        name => name,
    };
    format!("process {} on {host}, since {} UTC\n", std::process::id(), date(seconds))
}

/// Date and time of day of a Unix time [s]; the calendar is Gregorian (Hinnant's algorithm, with years that start in March).
fn date(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + 400 * era + next;
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02}", second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_exclusive_and_names_its_holder() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("run.lock");
        let lock = Lock::take(&path, folder.path()).unwrap();
        if !lock.holds() {
            return;
        }
        // Locks belong to the open file, so a second one in the same process is rejected too.
        let told = Lock::take(&path, folder.path()).unwrap_err().to_string();
        assert!(told.contains(&format!("in use by process {} on ", std::process::id())), "{told}");
        assert!(told.contains(" UTC"), "{told}");
        drop(lock);
        assert_eq!(path.exists(), !cfg!(unix));
        Lock::take(&path, folder.path()).unwrap();
    }

    #[test]
    fn a_file_left_by_a_killed_process_is_not_a_lock() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("run.lock");
        fs::write(&path, "process 1 on nowhere, since ever").unwrap();
        let lock = Lock::take(&path, folder.path()).unwrap();
        let text = fs::read_to_string(&path).unwrap_or_default();
        assert!(!lock.holds() || text.contains(&std::process::id().to_string()), "{text}");
    }

    #[test]
    fn only_one_thread_holds_a_lock_at_a_time() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("run.lock");
        let (inside, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let Ok(lock) = Lock::take(&path, &path) else { continue };
                        if lock.holds() {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            taken.fetch_add(1, Ordering::SeqCst);
                            inside.fetch_sub(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        assert!(taken.load(Ordering::SeqCst) > 0 || cfg!(not(unix)));
    }

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00:00");
        assert_eq!(date(951_782_399), "2000-02-28 23:59:59");
        assert_eq!(date(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(date(1_794_845_563), "2026-11-16 16:12:43");
    }
}
