//! Files that are either old or new, never half-written: the content goes to a temporary file in the same folder,
//! which then takes the place of the old one. A run may be killed at any moment.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;

/// Numbers the temporary files of this process, so that threads do not share one.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Writes a file through `content`; on error the old file, if any, stays as it was.
pub(crate) fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Error> {
    replace(path, content, |_| Ok(()), || Ok(()))
}

/// The same, and the file is on the disk before it takes the place of the old one: not even a power failure leaves half of it.
pub(crate) fn write_durable(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Error> {
    // Folders cannot be opened as files everywhere; where they can, their entries are made safe too.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let sync_folder = || match File::open(folder) {
        Ok(folder) if cfg!(unix) => folder.sync_all(),
        _ => Ok(()),
    };
    replace(path, content, File::sync_all, sync_folder)
}

fn replace(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    sync: impl FnOnce(&File) -> io::Result<()>,
    sync_folder: impl FnOnce() -> io::Result<()>,
) -> Result<(), Error> {
    let temporary = temporary(path);
    let result = (|| {
        let mut writer = BufWriter::with_capacity(1 << 16, File::create(&temporary)?);
        content(&mut writer)?;
        sync(&writer.into_inner().map_err(io::IntoInnerError::into_error)?)?;
        fs::rename(&temporary, path)?;
        sync_folder()
    })();
    if result.is_err() {
        let _ = fs::remove_file(&temporary); // the first error is the one to report
    }
    result.map_err(Error::io("write", path))
}

/// Writes a file whole: nobody finds it half-written, and on error the old file, if any, stays as it was.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), Error> {
    write(path, |out| out.write_all(content))
}

/// A hidden name beside `path`.
fn temporary(path: &Path) -> PathBuf {
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()))
}

/// Removes what killed programs have left half-written in a folder.
pub(crate) fn sweep(folder: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::io("open the folder", folder))? {
        let entry = entry.map_err(Error::io("read", folder))?;
        if is_temporary(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path()).map_err(Error::io("remove", &entry.path()))?;
        }
    }
    Ok(())
}

/// Whether a name is one that [`temporary`] gives.
fn is_temporary(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    let numbers = inner.and_then(|name| name.rsplit_once('.')).map(|(_, numbers)| numbers);
    numbers.and_then(|n| n.split_once('-')).is_some_and(|(a, b)| digits(a) && digits(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("riprap-atomic-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("summary.json");
        write(&path, |out| out.write_all(b"old")).unwrap();
        let error = write(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("disk on fire"))
        });
        assert!(error.unwrap_err().to_string().contains("disk on fire"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_swept_away_is_ours() {
        assert!(is_temporary(
            &temporary(Path::new("out/run.pvd")).file_name().unwrap().to_string_lossy()
        ));
        for name in ["run.pvd", ".run.pvd", ".notes.tmp", ".a.1-x.tmp", "a.1-2.tmp", ".1-2.tmp"] {
            assert!(!is_temporary(name), "{name}");
        }
    }
}
