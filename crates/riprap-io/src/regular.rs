//! Opening of regular files for reading. A path may refer to anything: opening a FIFO blocks until
//! a writer opens it, and a device may be endless. So the file type is checked before a file
//! is opened, and its length before it is read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Error, Place};

/// Opens a regular file; anything else is rejected with its kind.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let refuse = |kind: &str| {
        let message = format!("this is {kind}, not a regular file");
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    };
    // Links are followed.
    let kind = fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return refuse("a folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return refuse("a FIFO");
        }
        if kind.is_char_device() || kind.is_block_device() {
            return refuse("a device");
        }
        if kind.is_socket() {
            return refuse("a socket");
        }
    }
    if !kind.is_file() {
        return refuse("something else");
    }
    File::open(path)
}

/// Reads a whole regular file, unless it is larger than `limit` bytes.
pub(crate) fn read_limited(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let file = open(path).map_err(Error::io("open", path))?;
    let length = file.metadata().map_err(Error::io("read", path))?.len();
    if length > limit {
        let message = format!("the file is larger than {} MiB", limit >> 20);
        return Err(Error::format(path, Place::Whole, message));
    }
    let mut content = Vec::new();
    file.take(limit).read_to_end(&mut content).map_err(Error::io("read", path))?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_devices_are_rejected_with_their_kind() {
        let folder = tempfile::TempDir::new().unwrap();
        let told = read_limited(folder.path(), 10).unwrap_err().to_string();
        assert!(told.contains("this is a folder, not a regular file"), "{told}");
        let file = folder.path().join("a.stl");
        fs::write(&file, "solid").unwrap();
        assert_eq!(read_limited(&file, 10).unwrap(), b"solid");
        assert!(read_limited(&folder.path().join("none"), 10).is_err());
        #[cfg(unix)]
        {
            let told = read_limited(Path::new("/dev/zero"), 10).unwrap_err().to_string();
            assert_eq!(told, "cannot open /dev/zero: this is a device, not a regular file");
            let link = folder.path().join("link.stl");
            std::os::unix::fs::symlink(&file, &link).unwrap();
            assert_eq!(read_limited(&link, 10).unwrap(), b"solid");
        }
    }
}
