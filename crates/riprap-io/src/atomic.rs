//! Atomic file replacement: the content is written to a temporary file in the same folder, which then replaces the old
//! file. A run may be killed at any moment without leaving a partial file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::Error;

/// Suffix of the name of a temporary file, and the number of random characters before it.
const SUFFIX: &str = ".tmp";
const RANDOM: usize = 8;

/// Writes a file through `content`; on error the old file, if any, is unchanged.
pub(crate) fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Error> {
    replace(path, content, |_| Ok(()), || Ok(()))
}

/// As [`write()`], but the file is synced to disk before it replaces the old one, so that it survives a power failure.
pub(crate) fn write_durable(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Error> {
    // Where folders can be opened as files, their entries are synced too.
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
    let result = (|| {
        // The temporary file is removed on drop until it has been renamed.
        let (file, temporary) = temporary(path)?.into_parts();
        let mut writer = BufWriter::with_capacity(1 << 16, file);
        content(&mut writer)?;
        sync(&writer.into_inner().map_err(io::IntoInnerError::into_error)?)?;
        temporary.persist(path).map_err(|refused| refused.error)?;
        sync_folder()
    })();
    result.map_err(Error::io("write", path))
}

/// Writes a file atomically: readers never see a partial file, and on error the old file, if any, is unchanged.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), Error> {
    write(path, |out| out.write_all(content))
}

/// A new hidden file next to `path`.
pub(crate) fn temporary(path: &Path) -> io::Result<NamedTempFile<File>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.{}-", std::process::id());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(RANDOM);
    // Created here for default permissions and unmodified system errors.
    builder.make_in(folder.unwrap_or(Path::new(".")), |path| File::create_new(path))
}

/// Removes temporary files left in a folder by killed processes.
pub(crate) fn sweep(folder: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::io("open the folder", folder))? {
        let entry = entry.map_err(Error::io("read", folder))?;
        if is_temporary(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path()).map_err(Error::io("remove", &entry.path()))?;
        }
    }
    Ok(())
}

/// Whether a name is one that [`temporary`] creates, or that earlier versions created (with a number at the end).
fn is_temporary(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let random =
        |text: &str| text.len() == RANDOM && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(SUFFIX));
    let ends = inner.and_then(|name| name.rsplit_once('.')).map(|(_, ends)| ends);
    ends.and_then(|ends| ends.split_once('-'))
        .is_some_and(|(process, own)| digits(process) && (digits(own) || random(own)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("summary.json");
        write(&path, |out| out.write_all(b"old")).unwrap();
        let error = write(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("disk on fire"))
        });
        assert!(error.unwrap_err().to_string().contains("disk on fire"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_file_is_replaced_atomically_with_default_permissions() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("checkpoint.bin");
        fs::write(&path, "a longer old file").unwrap();
        let plain = fs::metadata(&path).unwrap().permissions();
        write_durable(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions(), plain);
        write_whole(&path, b"").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
    }

    #[test]
    fn a_failed_write_is_reported_with_the_path_of_the_target() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("no/such/folder/series.csv");
        let error = write_whole(&path, b"x").unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot write {}: ", path.display())), "{error}");
        assert!(!error.contains("at path"), "{error}");
        // A folder of the same name is not replaced, and no temporary file is left next to it.
        let path = folder.path().join("frames");
        fs::create_dir(&path).unwrap();
        assert!(write_whole(&path, b"x").is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn concurrent_writers_of_one_file_do_not_interfere() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("run.pvd");
        std::thread::scope(|scope| {
            for k in 0..4_u8 {
                let path = &path;
                scope.spawn(move || {
                    (0..20).for_each(|_| write_whole(path, &[k; 5000]).unwrap());
                });
            }
        });
        let content = fs::read(&path).unwrap();
        assert!(content.len() == 5000 && content.iter().all(|byte| *byte == content[0]));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn only_temporary_files_are_removed() {
        let folder = TempDir::new().unwrap();
        let left = temporary(&folder.path().join("run.pvd")).unwrap();
        let left = left.keep().unwrap().1; // as if the program had been killed
        assert!(is_temporary(&left.file_name().unwrap().to_string_lossy()), "{}", left.display());
        let old = folder.path().join(".run.pvd.12-3.tmp");
        let own = ["run.pvd", ".run.pvd", ".notes.tmp", ".a.1-x.tmp", "a.1-2.tmp", ".1-2.tmp"];
        for name in own {
            fs::write(folder.path().join(name), "mine").unwrap();
        }
        fs::write(&old, "half").unwrap();
        sweep(folder.path()).unwrap();
        assert!(!left.exists() && !old.exists());
        assert!(own.iter().all(|name| folder.path().join(name).exists()));
    }
}
