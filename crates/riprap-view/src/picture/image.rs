//! Pixels in memory and PNG files.

use std::io::{self, Write};

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// A picture: rows of red, green and blue bytes from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Width [px].
    pub width: usize,
    /// Height [px].
    pub height: usize,
    /// Bytes, 3 per pixel.
    pub pixels: Vec<u8>,
}

impl Image {
    /// A picture of one colour.
    pub fn filled(width: usize, height: usize, colour: [u8; 3]) -> Image {
        Image { width, height, pixels: colour.repeat(width * height) }
    }

    /// A pixel.
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        let at = 3 * (y * self.width + x);
        [self.pixels[at], self.pixels[at + 1], self.pixels[at + 2]]
    }

    /// Mixes a colour into a pixel; `part` from 0 to 1. Pixels outside of the picture are ignored.
    pub(super) fn blend(&mut self, x: i64, y: i64, colour: [u8; 3], part: f32) {
        let inside = (0..self.width as i64).contains(&x) && (0..self.height as i64).contains(&y);
        if !inside {
            return;
        }
        let at = 3 * (y as usize * self.width + x as usize);
        for (pixel, colour) in self.pixels[at..at + 3].iter_mut().zip(colour) {
            let old = f32::from(*pixel);
            *pixel = (old + part.clamp(0.0, 1.0) * (f32::from(colour) - old) + 0.5) as u8;
        }
    }

    /// The picture as a PNG file.
    pub fn to_png(&self) -> Vec<u8> {
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        let mut header = Vec::new();
        header.extend((self.width as u32).to_be_bytes());
        header.extend((self.height as u32).to_be_bytes());
        // 8 bits, red, green and blue; the only compression and filter method; not interlaced.
        header.extend([8, 2, 0, 0, 0]);
        chunk(&mut file, b"IHDR", &header);
        chunk(&mut file, b"sRGB", &[0]);
        chunk(&mut file, b"IDAT", &self.compressed().expect("written into memory"));
        chunk(&mut file, b"IEND", &[]);
        file
    }

    /// The rows, each after a filter that subtracts what its neighbours predict (Paeth's), compressed.
    fn compressed(&self) -> io::Result<Vec<u8>> {
        let row = 3 * self.width;
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
        let mut line = vec![0; row + 1];
        for y in 0..self.height {
            line[0] = 4;
            for x in 0..row {
                let at = |back: usize, up: usize| match x >= back && y >= up {
                    true => self.pixels[(y - up) * row + x - back],
                    false => 0,
                };
                line[x + 1] = at(0, 0).wrapping_sub(paeth(at(3, 0), at(0, 1), at(3, 1)));
            }
            encoder.write_all(&line)?;
        }
        encoder.finish()
    }
}

/// The neighbour (left, above, above left) that is nearest to left + above − above left.
fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, above, corner].map(i16::from);
    let (to_left, to_above, to_corner) = ((b - c).abs(), (a - c).abs(), (a + b - 2 * c).abs());
    if to_left <= to_above && to_left <= to_corner {
        left
    } else if to_above <= to_corner {
        above
    } else {
        corner
    }
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let mut sum = Crc::new();
    sum.update(kind);
    sum.update(data);
    file.extend(kind);
    file.extend(data);
    file.extend(sum.sum().to_be_bytes());
}

/// Reads a PNG file written by [`Image::to_png`], for comparisons in tests.
#[cfg(test)]
pub(crate) fn read_png(file: &[u8]) -> Image {
    use std::io::Read;
    let number = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let (width, height) = (number(16), number(20));
    let mut at = 8;
    let mut data = Vec::new();
    while at < file.len() {
        if &file[at + 4..at + 8] == b"IDAT" {
            data.extend(&file[at + 8..at + 8 + number(at)]);
        }
        at += number(at) + 12;
    }
    let mut lines = Vec::new();
    flate2::read::ZlibDecoder::new(&data[..]).read_to_end(&mut lines).unwrap();
    let row = 3 * width;
    let mut pixels = vec![0_u8; row * height];
    for y in 0..height {
        for x in 0..row {
            let at = |back: usize, up: usize| match x >= back && y >= up {
                true => pixels[(y - up) * row + x - back],
                false => 0,
            };
            let predicted = paeth(at(3, 0), at(0, 1), at(3, 1));
            pixels[y * row + x] = lines[y * (row + 1) + x + 1].wrapping_add(predicted);
        }
    }
    Image { width, height, pixels }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_png_file_is_read_back_unchanged() {
        let pixels = (0..5 * 4 * 3).map(|k| (k * k * 7 % 251) as u8).collect();
        let image = Image { width: 5, height: 4, pixels };
        assert_eq!(read_png(&image.to_png()), image);
    }

    #[test]
    fn blending_outside_of_the_picture_does_nothing() {
        let mut image = Image::filled(2, 2, [10, 20, 30]);
        for (x, y) in [(-1, 0), (0, -1), (2, 0), (0, 2)] {
            image.blend(x, y, [255; 3], 1.0);
        }
        assert_eq!(image, Image::filled(2, 2, [10, 20, 30]));
        image.blend(1, 1, [20, 20, 20], 0.5);
        assert_eq!(image.pixel(1, 1), [15, 20, 25]);
    }
}
