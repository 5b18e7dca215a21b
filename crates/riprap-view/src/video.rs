//! Films of a run: MP4 and WebM through `ffmpeg`, GIF without it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use riprap_io::Error;

use crate::files::io;
use crate::picture::Image;

/// Where the pictures of a video go.
pub struct FilmWriter {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    Program(Child),
    Gif { encoder: Box<gif::Encoder<BufWriter<File>>>, delay: u16 },
}

impl FilmWriter {
    /// Begins a video of a size [px] with pictures per second. If it is not a GIF and `ffmpeg` is not found, a GIF with the same name is
    /// written instead: see [`FilmWriter::path`].
    pub fn create(path: &Path, size: [usize; 2], fps: f64) -> Result<FilmWriter, Error> {
        let gif = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gif"));
        if !gif && let Some(child) = ffmpeg(path, size, fps) {
            return Ok(FilmWriter { path: path.into(), sink: Sink::Program(child) });
        }
        let path = path.with_extension("gif");
        let Some((width, height)) = u16::try_from(size[0]).ok().zip(u16::try_from(size[1]).ok())
        else {
            let message = "a GIF has at most 65535 pixels in each direction; use a smaller size";
            return Err(Error::Data { path, message: message.into() });
        };
        let file = File::create(&path).map_err(io("write", &path))?;
        let encoder = gif::Encoder::new(BufWriter::new(file), width, height, &[]);
        let mut encoder = encoder.map_err(|e| encoding(&path, e))?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(|e| encoding(&path, e))?;
        // GIFs count hundredths of seconds.
        let delay = (100.0 / fps).round().clamp(2.0, 65535.0) as u16;
        Ok(FilmWriter { path, sink: Sink::Gif { encoder: Box::new(encoder), delay } })
    }

    /// The file that is written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a picture.
    pub fn add(&mut self, image: &Image) -> Result<(), Error> {
        match &mut self.sink {
            Sink::Program(child) => {
                let pipe = child.stdin.as_mut().ok_or_else(|| ended(&self.path))?;
                pipe.write_all(&image.pixels).map_err(|_| ended(&self.path))
            }
            Sink::Gif { encoder, delay } => {
                let size = [image.width, image.height].map(|n| n as u16);
                let mut frame = gif::Frame::from_rgb_speed(size[0], size[1], &image.pixels, 10);
                frame.delay = *delay;
                encoder.write_frame(&frame).map_err(|e| encoding(&self.path, e))
            }
        }
    }

    /// Ends the film.
    pub fn finish(self) -> Result<(), Error> {
        match self.sink {
            Sink::Program(mut child) => {
                drop(child.stdin.take());
                let status = child.wait().map_err(io("write", &self.path))?;
                if status.success() { Ok(()) } else { Err(ended(&self.path)) }
            }
            Sink::Gif { encoder, .. } => {
                let mut file = encoder.into_inner().map_err(|e| encoding(&self.path, e))?;
                file.flush().map_err(io("write", &self.path))
            }
        }
    }
}

fn encoding(path: &Path, error: gif::EncodingError) -> Error {
    Error::Data { path: path.into(), message: error.to_string() }
}

fn ended(path: &Path) -> Error {
    let message =
        "ffmpeg failed; its messages are above. Try the ending .gif, which does not need it".into();
    Error::Data { path: path.into(), message }
}

/// Starts `ffmpeg`, which reads pictures from its standard input; `None` if there is no such program.
fn ffmpeg(path: &Path, size: [usize; 2], fps: f64) -> Option<Child> {
    let mut command = Command::new("ffmpeg");
    command.args(["-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]);
    command.args(["-s", &format!("{}x{}", size[0], size[1]), "-r", &fps.to_string(), "-i", "-"]);
    // The usual pixel format needs even sizes.
    command.args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"]);
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("mp4")) {
        command.args(["-crf", "18", "-movflags", "+faststart"]);
    }
    // A name may look like an option or an address.
    let mut target = std::ffi::OsString::from("file:");
    target.push(path);
    command.arg(target).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().ok()
}

/// Pictures of a video, at most: more than eleven hours at 25 per second.
const PICTURES: f64 = 1e6;

/// The frames of a video: the last one at or before each time, for pictures per second and a speed relative to the
/// simulated time. A video of more than a million pictures is refused with a message.
pub fn frames(times: &[f64], fps: f64, speed: f64) -> Result<Vec<usize>, String> {
    let Some((first, last)) = times.first().zip(times.last()) else { return Ok(Vec::new()) };
    let step = speed / fps;
    let slack = 1e-6 * step;
    let count = (last - first + slack) / step;
    if count >= PICTURES {
        return Err(format!(
            "the video would have {count:.0e} pictures, more than a million; choose fewer per second or a higher speed"
        ));
    }
    let count = count as usize + 1;
    let at = |k: usize| {
        let time = first + k as f64 * step + slack;
        times.partition_point(|t| *t <= time).saturating_sub(1)
    };
    Ok((0..count).map(at).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temporary(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("riprap-film-{}-{name}", std::process::id()))
    }

    #[test]
    fn a_film_keeps_the_pace_of_the_run() {
        let times: Vec<f64> = (0..=10).map(|k| 0.1 * f64::from(k)).collect();
        let frames = |fps, speed| frames(&times, fps, speed).unwrap();
        assert_eq!(frames(10.0, 1.0), (0..=10).collect::<Vec<_>>());
        assert_eq!(frames(10.0, 2.0), [0, 2, 4, 6, 8, 10]);
        assert_eq!(frames(20.0, 1.0)[..5], [0, 0, 1, 1, 2]);
        // Duration of the film times pictures per second, and the picture at time zero.
        for (fps, speed) in [(25.0, 1.0), (60.0, 0.1), (1.0, 0.5), (10.0, 0.25)] {
            let expected = (1.0_f64 / speed * fps + 1e-6) as usize + 1;
            let found = frames(fps, speed);
            assert_eq!((found.len(), found.is_sorted()), (expected, true), "{fps} {speed}");
            assert_eq!((found[0], *found.last().unwrap()), (0, 10), "{fps} {speed}");
        }
        // A film that is over before its second picture.
        assert_eq!(frames(1.0, 100.0), [0]);
    }

    #[test]
    fn a_film_of_uneven_frames_shows_the_last_one_before_each_time() {
        let times = [2.0, 2.05, 2.5, 2.55, 3.0];
        assert_eq!(frames(&times, 10.0, 1.0).unwrap(), [0, 1, 1, 1, 1, 2, 3, 3, 3, 3, 4]);
        assert!(frames(&[], 25.0, 1.0).unwrap().is_empty());
        assert_eq!(frames(&[0.5], 25.0, 1.0).unwrap(), [0]);
    }

    #[test]
    fn a_film_of_too_many_pictures_is_refused() {
        for (fps, speed) in [(1e7, 1.0), (25.0, 1e-9), (1e300, 1.0), (1e300, 1e-300)] {
            let message = frames(&[0.0, 1.0], fps, speed).unwrap_err();
            assert!(message.contains("fewer per second or a higher speed"), "{message}");
        }
        assert_eq!(frames(&[0.0, 1.0], 1e-300, 1e300).unwrap(), [0]);
    }

    #[test]
    fn a_gif_has_all_its_pictures_for_ever() {
        let path = temporary("all.gif");
        let mut film = FilmWriter::create(&path, [8, 6], 25.0).unwrap();
        let shades = [[0, 0, 0], [120, 60, 200], [250, 250, 10]];
        for shade in shades {
            film.add(&Image::filled(8, 6, shade)).unwrap();
        }
        film.finish().unwrap();
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut reader = options.read_info(File::open(&path).unwrap()).unwrap();
        assert_eq!((reader.width(), reader.height()), (8, 6));
        assert_eq!(reader.repeat(), gif::Repeat::Infinite);
        for shade in shades {
            let frame = reader.read_next_frame().unwrap().unwrap();
            assert_eq!((frame.delay, frame.buffer.len()), (4, 4 * 8 * 6));
            let same = |p: &[u8]| p[..3].iter().zip(shade).all(|(a, b)| a.abs_diff(b) <= 2);
            assert!(frame.buffer.chunks_exact(4).all(same), "{shade:?}: {:?}", &frame.buffer[..4]);
        }
        assert!(reader.read_next_frame().unwrap().is_none());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn delays_of_gifs_are_hundredths_of_seconds_that_players_obey() {
        for (fps, delay) in
            [(25.0, 4), (10.0, 10), (30.0, 3), (1000.0, 2), (0.5, 200), (1e-9, 65535)]
        {
            let path = temporary("delay.GIF");
            let film = FilmWriter::create(&path, [1, 1], fps).unwrap();
            assert!(matches!(film.sink, Sink::Gif { delay: found, .. } if found == delay), "{fps}");
        }
        let _ = std::fs::remove_file(temporary("delay.gif"));
        let _ = std::fs::remove_file(temporary("delay.GIF"));
    }

    #[test]
    fn films_that_cannot_be_written_name_the_file_and_the_remedy() {
        let path = temporary("nowhere").join("film.gif");
        let message = FilmWriter::create(&path, [8, 8], 25.0).err().unwrap().to_string();
        assert!(message.contains("film.gif"), "{message}");
        let message = FilmWriter::create(&temporary("wide.gif"), [70_000, 8], 25.0)
            .err()
            .unwrap()
            .to_string();
        assert!(message.contains("smaller size"), "{message}");
    }
}
