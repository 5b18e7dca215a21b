//! Polygons in perspective with a depth buffer, one light, transparent polygons and a colour bar.

use font8x8::UnicodeFonts;
use riprap::math::Vec3;

/// Red, green, blue from 0 to 1.
pub type Colour = [f32; 3];

/// YlGnBu of ColorBrewer, from slow to fast: pale to dark, suitable for colour-blind readers.
const MAP: [Colour; 9] = [
    [1.000, 1.000, 0.851],
    [0.929, 0.973, 0.694],
    [0.780, 0.914, 0.706],
    [0.498, 0.804, 0.733],
    [0.255, 0.714, 0.769],
    [0.114, 0.569, 0.753],
    [0.133, 0.369, 0.659],
    [0.145, 0.204, 0.580],
    [0.031, 0.114, 0.345],
];

/// Colour of a value from 0 to 1.
pub fn mapped(part: f64) -> Colour {
    let at = part.clamp(0.0, 1.0) * (MAP.len() - 1) as f64;
    let k = (at as usize).min(MAP.len() - 2);
    let share = (at - k as f64) as f32;
    [0, 1, 2].map(|c| (1.0 - share) * MAP[k][c] + share * MAP[k + 1][c])
}

/// The camera.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    /// Position of the eye and the point it looks at [m]; z is up.
    pub eye: Vec3,
    /// See `eye`.
    pub target: Vec3,
    /// Height of the visible area divided by its distance [–].
    pub view: f64,
}

/// A picture being drawn, with twice the pixels in each direction.
pub struct Canvas {
    size: [usize; 2],
    pixels: Vec<Colour>,
    depth: Vec<f32>,
}

/// The part of a convex polygon where a linear function is positive.
fn in_front(corners: &[Vec3], depth: impl Fn(&Vec3) -> f64) -> Vec<Vec3> {
    let mut seen = Vec::with_capacity(corners.len() + 1);
    for (k, a) in corners.iter().enumerate() {
        let b = &corners[(k + 1) % corners.len()];
        let (da, db) = (depth(a), depth(b));
        if da > 0.0 {
            seen.push(*a);
        }
        if (da > 0.0) != (db > 0.0) {
            seen.push(a + (b - a) * (da / (da - db)));
        }
    }
    seen
}

/// Oversampling factor in each direction.
const FINE: usize = 2;

impl Canvas {
    /// A white picture of a width and a height [px].
    pub fn new([width, height]: [usize; 2]) -> Canvas {
        let n = FINE * FINE * width * height;
        let size = [FINE * width, FINE * height];
        Canvas { size, pixels: vec![[1.0; 3]; n], depth: vec![f32::INFINITY; n] }
    }

    /// Draws a convex polygon with corners in world coordinates [m]; with an opacity below 1 the depth buffer is not changed.
    pub fn polygon(&mut self, camera: &Camera, corners: &[Vec3], colour: Colour, opacity: f32) {
        let normal = corners.windows(3).map(|w| (w[1] - w[0]).cross(&(w[2] - w[1])));
        let Some(normal) = normal.sum::<Vec3>().try_normalize(0.0) else { return };
        let forward = (camera.target - camera.eye).normalize();
        let right = forward.cross(&Vec3::z()).normalize();
        let up = right.cross(&forward);
        let facing = if normal.dot(&(camera.eye - corners[0])) < 0.0 { -normal } else { normal };
        let light = (up + 0.6 * right - 0.8 * forward).normalize();
        let shade = (0.45 + 0.6 * facing.dot(&light).max(0.0)) as f32;
        let colour = colour.map(|c| (c * shade).min(1.0));
        let scale = self.size[1] as f64 / camera.view;
        let middle = self.size.map(|n| 0.5 * n as f64);
        let place = |p: &Vec3| -> [f64; 3] {
            let r = p - camera.eye;
            let z = r.dot(&forward);
            [middle[0] + scale * r.dot(&right) / z, middle[1] - scale * r.dot(&up) / z, 1.0 / z]
        };
        let seen = in_front(corners, |p| (p - camera.eye).dot(&forward) - 1e-2);
        let places: Vec<_> = seen.iter().map(place).collect();
        for k in 1..places.len().saturating_sub(1) {
            self.triangle([places[0], places[k], places[k + 1]], colour, opacity);
        }
    }

    /// Fills a triangle given by pixels x, y and inverse depth, which is linear in the picture.
    fn triangle(&mut self, [a, b, c]: [[f64; 3]; 3], colour: Colour, opacity: f32) {
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
        if area.abs() < 1e-12 {
            return;
        }
        let range = |k: usize| {
            let low = a[k].min(b[k]).min(c[k]).max(0.0) as usize;
            let high = a[k].max(b[k]).max(c[k]).clamp(0.0, self.size[k] as f64).ceil() as usize;
            low..high.min(self.size[k])
        };
        for j in range(1) {
            for i in range(0) {
                let (x, y) = (i as f64 + 0.5, j as f64 + 0.5);
                let share = |p: [f64; 3], q: [f64; 3]| {
                    ((p[0] - x) * (q[1] - y) - (q[0] - x) * (p[1] - y)) / area
                };
                let [u, v, w] = [share(b, c), share(c, a), share(a, b)];
                if u < 0.0 || v < 0.0 || w < 0.0 {
                    continue;
                }
                let depth = (1.0 / (u * a[2] + v * b[2] + w * c[2])) as f32;
                let at = j * self.size[0] + i;
                if depth < self.depth[at] {
                    let old = self.pixels[at];
                    self.pixels[at] = [0, 1, 2].map(|k| old[k] + opacity * (colour[k] - old[k]));
                    if opacity >= 1.0 {
                        self.depth[at] = depth;
                    }
                }
            }
        }
    }

    /// Writes a text with its upper left corner at a pixel of the finished picture.
    pub fn text(&mut self, [left, top]: [usize; 2], text: &str) {
        for (n, letter) in text.chars().enumerate() {
            let Some(rows) = font8x8::BASIC_FONTS.get(letter) else { continue };
            for (row, bits) in rows.into_iter().enumerate() {
                for column in (0..8).filter(|k| bits >> k & 1 == 1) {
                    // Each pixel of a letter covers one and a half pixels of the finished picture.
                    let x = FINE * left + 3 * (8 * n + column);
                    self.fill([x, FINE * top + 3 * row], [3, 3], [0.15; 3]);
                }
            }
        }
    }

    fn fill(&mut self, [x, y]: [usize; 2], [width, height]: [usize; 2], colour: Colour) {
        for j in y..(y + height).min(self.size[1]) {
            for i in x..(x + width).min(self.size[0]) {
                self.pixels[j * self.size[0] + i] = colour;
            }
        }
    }

    /// Draws a colour bar for speeds from 0 to `largest` [m/s] at the right edge.
    pub fn speed_bar(&mut self, largest: f64) {
        let [width, height] = self.size.map(|n| n / FINE);
        let (left, top, tall) = (width.saturating_sub(96), height / 4, height / 2);
        self.text([width.saturating_sub(140), top.saturating_sub(28)], "speed [m/s]");
        for k in 0..FINE * tall {
            let part = 1.0 - k as f64 / (FINE * tall) as f64;
            self.fill([FINE * left, FINE * top + k], [FINE * 16, 1], mapped(part));
        }
        for k in 0..=4 {
            let label = format!("{:.2}", largest * f64::from(4 - k) / 4.0);
            self.text([left + 24, top + tall * k as usize / 4 - 6], &label);
        }
    }

    /// The finished picture: red, green and blue bytes by rows.
    pub fn finish(&self) -> Vec<u8> {
        let [width, height] = self.size.map(|n| n / FINE);
        let mut bytes = Vec::with_capacity(3 * width * height);
        for j in 0..height {
            for i in 0..width {
                let mut sum = [0.0_f32; 3];
                for (y, x) in (0..FINE).flat_map(|y| (0..FINE).map(move |x| (y, x))) {
                    let pixel = self.pixels[(FINE * j + y) * self.size[0] + FINE * i + x];
                    (0..3).for_each(|k| sum[k] += pixel[k]);
                }
                let n = (FINE * FINE) as f32;
                bytes.extend(sum.map(|x| (255.0 * x / n).round().clamp(0.0, 255.0) as u8));
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAMERA: Camera =
        Camera { eye: Vec3::new(0.0, -2.0, 0.0), target: Vec3::new(0.0, 0.0, 0.0), view: 1.0 };

    /// A square of 1 m facing the camera at a distance behind the target [m].
    fn square(y: f64) -> Vec<Vec3> {
        [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)].map(|(x, z)| Vec3::new(x, y, z)).into()
    }

    fn middle(canvas: &Canvas) -> [u8; 3] {
        let bytes = canvas.finish();
        let at = 3 * (10 * 20 + 10);
        [bytes[at], bytes[at + 1], bytes[at + 2]]
    }

    #[test]
    fn what_is_nearer_hides_what_is_behind_in_any_order_and_ghosts_hide_nothing() {
        let (red, blue) = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
        for order in [[0, 1], [1, 0]] {
            let mut canvas = Canvas::new([20, 20]);
            for k in order {
                let (colour, y) = [(red, 0.0), (blue, 0.5)][k];
                canvas.polygon(&CAMERA, &square(y), colour, 1.0);
            }
            let [r, _, b] = middle(&canvas);
            assert!(r > 100 && b == 0, "{order:?}: {r} {b}");
            canvas.polygon(&CAMERA, &square(-0.5), blue, 0.2);
            let [mixed, _, b] = middle(&canvas);
            assert!(mixed < r && mixed > r / 2 && b > 0);
        }
        // The square fills half of the picture: a corner stays white.
        let mut canvas = Canvas::new([20, 20]);
        canvas.polygon(&CAMERA, &square(0.0), red, 1.0);
        assert_eq!(canvas.finish()[..3], [255; 3]);
    }

    #[test]
    fn a_floor_that_reaches_behind_the_eye_is_drawn_as_far_as_it_is_in_front() {
        let floor = [(-9.0, -9.0), (9.0, -9.0), (9.0, 9.0), (-9.0, 9.0)]
            .map(|(x, y)| Vec3::new(x, y, -0.5));
        let mut canvas = Canvas::new([20, 20]);
        canvas.polygon(&CAMERA, &floor, [0.0, 0.0, 1.0], 1.0);
        let bytes = canvas.finish();
        // The lowest row is the floor, the highest is the sky.
        assert!(bytes[bytes.len() - 3] == 0 && bytes[..60].iter().all(|b| *b == 255));
    }

    #[test]
    fn colours_go_from_the_first_to_the_last_of_the_map() {
        assert_eq!((mapped(-1.0), mapped(2.0)), (MAP[0], MAP[8]));
        assert_eq!(mapped(0.5), MAP[4]);
    }
}
