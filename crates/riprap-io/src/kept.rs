//! Stored results of a study: a value in a sealed file, together with the text of all settings that determine it. A file with
//! other settings, another numerics version, or damage is rejected with the reason.

use std::borrow::Cow;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::error::{Error, Place};
use crate::scene_file::first_difference;
use crate::sealed::{self, Kind};

pub use crate::scene_file::fingerprint;

const KIND: Kind = Kind {
    magic: *b"riprapKP",
    layout: 4,
    name: "stored result",
    advice: "it is ignored and will be overwritten",
};

/// The content of a file.
#[derive(Serialize, Deserialize)]
struct Kept<'a, T> {
    settings: Cow<'a, str>,
    value: T,
}

/// Writes a value atomically and syncs it to disk. `settings` lists everything that determines it, one item per line. The
/// folder is created if it is missing.
pub fn write(path: &Path, settings: &str, value: &impl Serialize) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
    }
    sealed::write(path, &KIND, &Kept { settings: settings.into(), value })
}

/// Reads a value that was written with the same settings; `None` if there is no file. Temporary files of killed processes next
/// to it are removed, so no other process may be writing there.
pub fn read<T: DeserializeOwned>(path: &Path, settings: &str) -> Result<Option<T>, Error> {
    if let Some(folder) = path.parent().filter(|folder| folder.is_dir()) {
        atomic::sweep(folder)?;
    }
    if !path.exists() {
        return Ok(None);
    }
    let kept: Kept<T> = sealed::read(path, &KIND)?;
    match first_difference(&kept.settings, settings) {
        None => Ok(Some(kept.value)),
        Some(what) => Err(Error::format(
            path,
            Place::Whole,
            format!("the {} was computed with other settings: {what}; {}", KIND.name, KIND.advice),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_with_its_own_settings_only() {
        let folder = std::env::temp_dir().join(format!("riprap-kept-{}", std::process::id()));
        let path = folder.join("deep/run.bin");
        let none: Option<Vec<f64>> = read(&path, "dt = 1").unwrap();
        assert_eq!(none, None);
        let value = vec![0.1_f64, -0.0, 1e-300];
        write(&path, "dt = 1\nseed = 2\n", &value).unwrap();
        let left = path.with_file_name(".run.bin.12-3.tmp");
        std::fs::write(&left, b"half").unwrap();
        assert_eq!(read(&path, "dt = 1\nseed = 2\n").unwrap(), Some(value));
        assert!(!left.exists());
        let refused = read::<Vec<f64>>(&path, "dt = 1\nseed = 3\n").unwrap_err().to_string();
        assert!(
            refused.contains("run.bin: the stored result was computed with other settings"),
            "{refused}"
        );
        assert!(refused.contains("`seed = 2`, now `seed = 3`"), "{refused}");

        // Bytes 12 to 15 are the numerics version.
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[12] ^= 0x40;
        std::fs::write(&path, bytes).unwrap();
        let refused = read::<Vec<f64>>(&path, "dt = 1\nseed = 2\n").unwrap_err().to_string();
        assert!(refused.contains("but this version of riprap has numerics version"), "{refused}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn damaged_files_are_rejected_and_will_be_overwritten() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("run.bin");
        write(&path, "seed = 1\n", &(0.25_f64, vec![1_u32, 2, 3], "text".to_owned())).unwrap();
        let good = std::fs::read(&path).unwrap();
        let message = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read::<(f64, Vec<u32>, String)>(&path, "seed = 1\n").unwrap_err().to_string()
        };
        for end in 0..good.len() {
            let told = message(&good[..end]);
            assert!(told.contains("run.bin: ") && told.contains("will be overwritten"), "{told}");
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] = !bad[at];
            assert!(message(&bad).contains("will be overwritten"), "byte {at}");
        }
        // A value of another type with the same settings, as if the layout version had not been increased.
        std::fs::write(&path, &good).unwrap();
        assert!(read::<Vec<String>>(&path, "seed = 1\n").is_err());
        // A checkpoint is not a stored result.
        assert!(
            message(&[b"riprapCP", &good[8..]].concat()).contains("not a riprap stored result")
        );
    }

    #[test]
    fn a_value_is_replaced_atomically_and_settings_may_be_long() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("study/depth.bin");
        let settings: String =
            (0..2000).map(|k| format!("key_{k} = {}\n", f64::from(k).sqrt())).collect();
        for value in [vec![1.0; 1000], vec![2.0]] {
            write(&path, &settings, &value).unwrap();
            assert_eq!(read::<Vec<f64>>(&path, &settings).unwrap(), Some(value));
        }
        let changed = settings.replace("key_1777 = ", "key_1777 = 0");
        let told = read::<Vec<f64>>(&path, &changed).unwrap_err().to_string();
        assert!(told.contains("`key_1777 = 42.15"), "{told}");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
