//! Text and colour bars over a picture.

use ab_glyph::{Font, FontRef, ScaleFont, point};

use super::colour::byte;
use super::{Image, Legend, Style, Theme, colour};

/// DejaVu Sans, reduced to Latin, Greek and a few mathematical characters; its licence is next to it.
const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");

/// Draws caption and colour bars.
pub(super) fn draw(image: &mut Image, style: &Style) {
    let Ok(font) = FontRef::try_from_slice(FONT) else { return };
    let ink = match style.theme {
        Theme::Light => [38, 42, 48],
        Theme::Dark => [226, 229, 233],
    };
    // Sizes grow with the picture.
    let size = (style.size[1] as f32 / 42.0).clamp(11.0, 40.0);
    let pen = Pen { font, size, ink };
    if let Some(caption) = &style.caption {
        pen.text(image, caption, [1.4 * size, 1.2 * size], Align::Left);
    }
    let mut right = style.size[0] as f32 - 1.4 * size;
    for legend in &style.legends {
        right -= pen.legend(image, legend, right) + 1.5 * size;
    }
}

enum Align {
    Left,
    Right,
}

struct Pen<'a> {
    font: FontRef<'a>,
    size: f32,
    ink: [u8; 3],
}

impl Pen<'_> {
    fn width(&self, text: &str) -> f32 {
        let scaled = self.font.as_scaled(self.size);
        text.chars().map(|c| scaled.h_advance(self.font.glyph_id(c))).sum()
    }

    /// Draws a line of text; `at` is its upper left or upper right corner.
    fn text(&self, image: &mut Image, text: &str, at: [f32; 2], align: Align) {
        let scaled = self.font.as_scaled(self.size);
        let mut x = match align {
            Align::Left => at[0],
            Align::Right => at[0] - self.width(text),
        };
        let base = at[1] + scaled.ascent();
        for letter in text.chars() {
            let id = self.font.glyph_id(letter);
            let glyph = id.with_scale_and_position(self.size, point(x, base));
            if let Some(outline) = self.font.outline_glyph(glyph) {
                let corner = outline.px_bounds().min;
                outline.draw(|dx, dy, part| {
                    let (x, y) = (corner.x as i64 + i64::from(dx), corner.y as i64 + i64::from(dy));
                    image.blend(x, y, self.ink, part);
                });
            }
            x += scaled.h_advance(id);
        }
    }

    /// Draws a colour bar in the lower right corner, to the left of `right` [px]; returns its width.
    fn legend(&self, image: &mut Image, legend: &Legend, right: f32) -> f32 {
        let size = self.size;
        let [low, high] = legend.range;
        let ticks = ticks(low, high);
        let label = |value: &f64| number(*value, high - low);
        let widest = ticks.iter().map(|v| self.width(&label(v))).fold(0.0, f32::max);
        let (bar, length) = (0.9 * size, (0.42 * image.height as f32).max(4.0 * size));
        let bottom = image.height as f32 - 1.6 * size;
        let top = bottom - length;
        let left = right - widest - 0.7 * size - bar;
        for y in top.round() as i64..bottom.round() as i64 {
            let fraction = f64::from((bottom - 0.5 - y as f32) / length);
            let colour = legend.map.at(fraction).map(|c| byte(colour::linear(c)));
            for x in left.round() as i64..(left + bar).round() as i64 {
                image.blend(x, y, colour, 1.0);
            }
        }
        for value in &ticks {
            let part = ((value - low) / (high - low)) as f32;
            let y = bottom - part.clamp(0.0, 1.0) * length;
            for x in 0..(0.35 * size) as i64 {
                image.blend((left + bar) as i64 + x, y.round() as i64, self.ink, 0.8);
            }
            self.text(image, &label(value), [right, y - 0.58 * size], Align::Right);
        }
        let width = self.width(&legend.title).max(right - left);
        self.text(image, &legend.title, [right, top - 1.9 * size], Align::Right);
        width
    }
}

/// Round values within a range, at most seven.
pub(crate) fn ticks(low: f64, high: f64) -> Vec<f64> {
    let range = high - low;
    if !(range.is_finite() && range > 0.0) {
        return vec![low];
    }
    let rough = range / 6.0;
    let power = 10.0_f64.powf(rough.log10().floor());
    let tick =
        power * [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= rough).unwrap_or(10.0);
    let (first, last) = ((low / tick - 1e-9).ceil() as i64, (high / tick + 1e-9).floor() as i64);
    (first..=last).map(|k| k as f64 * tick).collect()
}

/// A value with as many digits as the range around it needs.
fn number(value: f64, range: f64) -> String {
    let size = value.abs().max(range.abs());
    if size >= 1e5 || (size > 0.0 && size < 1e-3) {
        // Digits down to the step between ticks.
        let digits = value.abs().log10().floor() - (range / 6.0).log10().floor();
        let digits = if digits.is_finite() { digits.clamp(1.0, 6.0) as usize } else { 1 };
        let text = format!("{value:.digits$e}").replace('-', "−");
        return if value == 0.0 { "0".into() } else { text };
    }
    let decimals = (1.0 - (range / 6.0).log10()).floor().clamp(0.0, 6.0) as usize;
    let text = format!("{:.decimals$}", value + 0.0);
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::ColourMap;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(0.0, 1.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks(0.013, 0.037).len(), 5);
        assert_eq!(ticks(2.0, 2.0), [2.0]);
        let texts: Vec<String> = ticks(-0.1, 0.25).iter().map(|v| number(*v, 0.35)).collect();
        assert_eq!(texts, ["−0.1", "0", "0.1", "0.2"]);
        assert_eq!([number(2e6, 3e6), number(0.0, 1e-9)], ["2.0e6", "0"]);
    }

    #[test]
    fn neighbouring_ticks_have_different_texts_whatever_the_range() {
        for (low, high) in [
            (0.0, 1.0),
            (0.0, 2.5e5),
            (-3.0, 3.0),
            (1e-4, 1.05e-4),
            (0.0501, 0.0502),
            (1e6, 1.001e6),
            (-2e-9, 1e-9),
            (99.0, 101.0),
        ] {
            let ticks = ticks(low, high);
            assert!((2..=7).contains(&ticks.len()), "{low} {high}: {ticks:?}");
            let slack = 1e-9 * (high - low);
            assert!(ticks.iter().all(|v| (low - slack..=high + slack).contains(v)), "{ticks:?}");
            let texts: Vec<String> = ticks.iter().map(|v| number(*v, high - low)).collect();
            assert!(texts.windows(2).all(|w| w[0] != w[1]), "{texts:?}");
            for (text, value) in texts.iter().zip(&ticks) {
                let read: f64 = text.replace('−', "-").parse().unwrap();
                assert!((read - value).abs() <= 0.1 * (high - low) / 6.0, "{text} {value}");
            }
        }
        for (low, high) in [(f64::NAN, 1.0), (0.0, f64::INFINITY), (2.0, 1.0)] {
            assert_eq!(ticks(low, high).len(), 1);
        }
    }

    #[test]
    fn a_colour_bar_runs_from_the_low_end_at_the_bottom_to_the_high_end_at_the_top() {
        let mut image = Image::filled(300, 400, [255; 3]);
        let legend = Legend { title: String::new(), range: [0.0, 1.0], map: ColourMap::Sequential };
        draw(&mut image, &Style { size: [300, 400], legends: vec![legend], ..Style::default() });
        let coloured = |p: [u8; 3]| p.iter().max().unwrap() - p.iter().min().unwrap() > 40;
        let column = (0..300).find(|x| (0..400).any(|y| coloured(image.pixel(*x, y)))).unwrap();
        let rows: Vec<usize> = (0..400).filter(|y| coloured(image.pixel(column, *y))).collect();
        // 42 % of the height.
        assert!(rows.len().abs_diff(168) <= 1, "{}", rows.len());
        let ends = [rows[rows.len() - 1], rows[0]].map(|y| image.pixel(column, y));
        for (end, fraction) in ends.into_iter().zip([0.0, 1.0]) {
            let expected = ColourMap::Sequential.at(fraction).map(|c| byte(colour::linear(c)));
            assert!(
                end.iter().zip(expected).all(|(a, b)| a.abs_diff(b) < 6),
                "{end:?} {expected:?}"
            );
        }
    }

    #[test]
    fn characters_that_the_font_lacks_and_long_texts_do_not_leave_the_picture() {
        for text in ["石 🪨 \u{202e}abc\u{0}\n", "", &"w".repeat(10_000)] {
            let mut image = Image::filled(60, 40, [255; 3]);
            let legend = Legend { title: text.into(), range: [f64::NAN; 2], map: ColourMap::Heat };
            let caption = Some(text.to_owned());
            let style =
                Style { size: [60, 40], legends: vec![legend], caption, ..Style::default() };
            draw(&mut image, &style);
            assert_eq!(image.pixels.len(), 3 * 60 * 40);
        }
    }

    #[test]
    fn a_legend_shows_its_colours_and_stays_in_the_picture() {
        let legend =
            Legend { title: "speed [m/s]".into(), range: [0.0, 2.0], map: ColourMap::Heat };
        let legends = vec![legend.clone(), legend];
        let style = Style {
            size: [300, 200],
            legends,
            caption: Some("t = 1 s".into()),
            ..Style::default()
        };
        let mut image = Image::filled(300, 200, [255; 3]);
        draw(&mut image, &style);
        let found = |wanted: [u8; 3]| image.pixels.chunks_exact(3).any(|p| p == wanted);
        assert!(found([38, 42, 48]), "ink");
        let reds = image.pixels.chunks_exact(3).filter(|p| p[0] > 120 && p[2] < 60 && p[1] < 60);
        assert!(reds.count() > 100);
        // A picture that is too small for it is not an error.
        draw(&mut Image::filled(8, 8, [255; 3]), &Style { size: [8, 8], ..style });
    }
}
