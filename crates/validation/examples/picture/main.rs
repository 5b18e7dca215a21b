//! Draws frames of a run folder, with their ropes, as a PNG picture or an animated GIF, without ParaView:
//!
//! ```sh
//! cargo run --release -p riprap-validation --example picture -- out/bucket picture.png time=1.73 eye=0.6,-2.4,0.9 at=0.35,0,0.35 \
//!     speed=1 max=1 ghost=1
//! ```
//!
//! | argument | meaning |
//! | --- | --- |
//! | `time=T` | time of the frame [s]; for a GIF, times of the first and last frame: `time=0,2` |
//! | `eye=X,Y,Z`, `at=X,Y,Z` | position of the camera and the point it looks at [m] |
//! | `view=F` | height of the visible area divided by the distance (0.7) |
//! | `size=W,H` | pixels (900,600) |
//! | `speed=M` | colours bodies of material number M by speed, with a colour bar |
//! | `max=V` | speed of the darkest colour [m/s] (1) |
//! | `ghost=B,…` | bodies that are transparent |
//! | `hide=B,…` | bodies that are not drawn |
//! | `paint=B:RRGGBB,…` | colours of bodies; others are grey, or stone-coloured for the materials in `stone=M` |
//! | `every=N` | every Nth frame of a GIF (1) |

mod draw;
mod frame;

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use draw::{Camera, Canvas, Colour, mapped};
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use frame::{Frame, index};
use riprap::math::Vec3;

type Failure = Box<dyn std::error::Error>;

/// The arguments `key=value`.
struct Options(HashMap<String, String>);

impl Options {
    /// The numbers given for a key, or a default.
    fn numbers(&self, key: &str, default: &[f64]) -> Result<Vec<f64>, Failure> {
        let Some(text) = self.0.get(key) else { return Ok(default.to_vec()) };
        let number =
            |x: &str| x.parse().map_err(|_| format!("{key}: `{x}` is not a number").into());
        text.split(',').map(number).collect()
    }

    fn whole(&self, key: &str) -> Result<Vec<usize>, Failure> {
        Ok(self.numbers(key, &[])?.into_iter().map(|x| x as usize).collect())
    }

    fn point(&self, key: &str, default: [f64; 3]) -> Result<Vec3, Failure> {
        let numbers = self.numbers(key, &default)?;
        let point: [f64; 3] =
            numbers.try_into().map_err(|_| format!("{key}: expected three numbers"))?;
        Ok(Vec3::from(point))
    }

    fn paint(&self) -> Result<HashMap<usize, Colour>, Failure> {
        let mut paint = HashMap::new();
        for item in self.0.get("paint").iter().flat_map(|text| text.split(',')) {
            let (body, colour) = item.split_once(':').ok_or("paint: expected BODY:RRGGBB")?;
            let rgb = u32::from_str_radix(colour, 16)?;
            let part = |shift: u32| (rgb >> shift & 255) as f32 / 255.0;
            paint.insert(body.parse()?, [part(16), part(8), part(0)]);
        }
        Ok(paint)
    }
}

/// How frames are drawn.
struct Style {
    size: [usize; 2],
    camera: Camera,
    speed: Vec<usize>,
    max: f64,
    stone: Vec<usize>,
    ghost: Vec<usize>,
    hide: Vec<usize>,
    paint: HashMap<usize, Colour>,
}

impl Style {
    fn of(options: &Options) -> Result<Style, Failure> {
        let size = options.numbers("size", &[900.0, 600.0])?;
        let [width, height] = size[..] else { return Err("size: expected two numbers".into()) };
        let one = |key: &str, default: f64| -> Result<f64, Failure> {
            Ok(options.numbers(key, &[default])?[0])
        };
        Ok(Style {
            size: [width as usize, height as usize],
            camera: Camera {
                eye: options.point("eye", [1.0, -2.0, 1.0])?,
                target: options.point("at", [0.0; 3])?,
                view: one("view", 0.7)?,
            },
            speed: options.whole("speed")?,
            max: one("max", 1.0)?,
            stone: options.whole("stone")?,
            ghost: options.whole("ghost")?,
            hide: options.whole("hide")?,
            paint: options.paint()?,
        })
    }

    /// Colour of a polygon. Stones differ slightly, so that neighbours can be distinguished.
    fn colour(&self, frame: &Frame, k: usize) -> Colour {
        let (body, material) = (frame.bodies[k], frame.materials[k]);
        if self.speed.contains(&material) && !self.paint.contains_key(&body) {
            return mapped(frame.speeds[k] / self.max);
        }
        if self.stone.contains(&material) && !self.paint.contains_key(&body) {
            let tone = 0.75 + 0.25 * ((body * 7919 % 97) as f32 / 97.0);
            return [0.78, 0.74, 0.68].map(|c| tone * c);
        }
        self.paint.get(&body).copied().unwrap_or([0.62, 0.66, 0.70])
    }

    /// Draws ropes as ribbons that face the eye.
    fn draw_ropes(&self, frame: &Frame, canvas: &mut Canvas) {
        let corner = |p: &[f32; 3]| Vec3::from(p.map(f64::from));
        let width = 0.002 * self.camera.view * (self.camera.target - self.camera.eye).norm();
        for pair in frame.ropes.iter().flat_map(|rope| rope.windows(2)) {
            let (a, b) = (corner(&pair[0]), corner(&pair[1]));
            let Some(side) = (b - a).cross(&(self.camera.eye - a)).try_normalize(0.0) else {
                continue;
            };
            let side = side * width;
            let ribbon = [a - side, b - side, b + side, a + side];
            canvas.polygon(&self.camera, &ribbon, [0.15; 3], 1.0);
        }
    }

    /// Draws a frame at a time [s]; returns red, green and blue bytes.
    fn draw(&self, frame: &Frame, t: f64) -> Vec<u8> {
        let mut canvas = Canvas::new(self.size);
        // Transparent bodies last, on top of what is behind them.
        for ghosts in [false, true] {
            for (k, polygon) in frame.polygons.iter().enumerate() {
                let body = frame.bodies[k];
                if self.hide.contains(&body) || self.ghost.contains(&body) != ghosts {
                    continue;
                }
                let corner = |c: &usize| Vec3::from(frame.points[*c].map(f64::from));
                let corners: Vec<Vec3> = polygon.iter().map(corner).collect();
                let opacity = if ghosts { 0.18 } else { 1.0 };
                canvas.polygon(&self.camera, &corners, self.colour(frame, k), opacity);
            }
        }
        self.draw_ropes(frame, &mut canvas);
        canvas.text([14, self.size[1].saturating_sub(26)], &format!("t = {t:.2} s"));
        if !self.speed.is_empty() {
            canvas.speed_bar(self.max);
        }
        canvas.finish()
    }
}

/// Encodes red, green and blue bytes as a PNG file.
fn png([width, height]: [usize; 2], rgb: &[u8]) -> std::io::Result<Vec<u8>> {
    // Each row as the difference from the row above (filter 2), which compresses well.
    let row = 3 * width;
    let mut filtered = Vec::with_capacity(rgb.len() + height);
    for (k, byte) in rgb.iter().enumerate() {
        if k % row == 0 {
            filtered.push(2);
        }
        filtered.push(byte.wrapping_sub(if k < row { 0 } else { rgb[k - row] }));
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&filtered)?;
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |name: &[u8; 4], data: &[u8]| {
        let body = [name, data].concat();
        let mut crc = Crc::new();
        crc.update(&body);
        file.extend((data.len() as u32).to_be_bytes());
        file.extend(body);
        file.extend(crc.sum().to_be_bytes());
    };
    // Eight bits per channel, RGB, no interlacing.
    let sizes = [width as u32, height as u32].map(u32::to_be_bytes).concat();
    chunk(b"IHDR", &[&sizes[..], &[8, 2, 0, 0, 0]].concat());
    chunk(b"IDAT", &packed.finish()?);
    chunk(b"IEND", &[]);
    Ok(file)
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, output, options @ ..] = &arguments[..] else {
        return Err("expected: RUN_FOLDER PICTURE.png|ANIMATION.gif [key=value …]".into());
    };
    let pair = |text: &String| -> Result<(String, String), Failure> {
        let (key, value) = text.split_once('=').ok_or(format!("`{text}`: expected key=value"))?;
        Ok((key.to_owned(), value.to_owned()))
    };
    let options = Options(options.iter().map(pair).collect::<Result<_, _>>()?);
    let (style, frames) = (Style::of(&options)?, index(Path::new(folder))?);
    let times = options.numbers("time", &[0.0, f64::INFINITY])?;
    let (first, last) = (times[0], times[times.len() - 1]);
    if !output.ends_with(".gif") {
        let nearest =
            frames.iter().min_by(|a, b| (a.0 - last).abs().total_cmp(&(b.0 - last).abs()));
        // For an infinite time all distances are equal.
        let last_frame = frames.last().filter(|_| last.is_infinite());
        let Some((t, path)) = last_frame.or(nearest) else { return Ok(()) };
        let picture = png(style.size, &style.draw(&Frame::read(path)?, *t))?;
        return Ok(std::fs::write(output, picture)?);
    }
    let every = options.numbers("every", &[1.0])?[0].max(1.0) as usize;
    let shown: Vec<_> =
        frames.iter().filter(|(t, _)| *t >= first && *t <= last).step_by(every).collect();
    let [width, height] = style.size.map(|n| n as u16);
    let file = std::io::BufWriter::new(std::fs::File::create(output)?);
    let mut encoder = gif::Encoder::new(file, width, height, &[])?;
    encoder.set_repeat(gif::Repeat::Infinite)?;
    for (t, path) in shown {
        let mut bytes = style.draw(&Frame::read(path)?, *t);
        // Few shades compress well.
        bytes.iter_mut().for_each(|b| *b = *b & 0xf0 | *b >> 4);
        let mut image = gif::Frame::from_rgb_speed(width, height, &bytes, 10);
        image.delay = 6;
        encoder.write_frame(&image)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn the_pixels_of_a_png_are_those_of_the_picture() {
        let rgb: Vec<u8> = (0..2 * 3 * 3).map(|k| 40 * (k % 7)).collect();
        let file = png([2, 3], &rgb).unwrap();
        assert!(file.starts_with(b"\x89PNG\r\n\x1a\n") && file.ends_with(b"IEND\xaeB`\x82"));
        let at = file.windows(4).position(|w| w == b"IDAT").unwrap() + 4;
        let mut filtered = Vec::new();
        flate2::read::ZlibDecoder::new(&file[at..]).read_to_end(&mut filtered).unwrap();
        let mut found: Vec<u8> = Vec::new();
        for line in filtered.chunks(7) {
            assert_eq!(line[0], 2);
            let above = found.len().checked_sub(6);
            let row: Vec<u8> = (0..6)
                .map(|k| line[1 + k].wrapping_add(above.map_or(0, |a| found[a + k])))
                .collect();
            found.extend(row);
        }
        assert_eq!(found, rgb);
    }
}
