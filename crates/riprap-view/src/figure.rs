//! Line plots as SVG: panels with axes and curves, and a common legend.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A figure: panels arranged in rows.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Heading.
    pub title: String,
    /// Width and height [px].
    pub size: [u32; 2],
    /// Number of panels per row.
    pub columns: usize,
    /// The panels.
    pub panels: Vec<Panel>,
}

/// A pair of axes and its curves; later curves are drawn on top.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Heading; none if empty.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Quantity and unit, as in `time [s]`.
    pub label: String,
    /// Whether the scale is logarithmic; values that are not positive are omitted.
    pub logarithmic: bool,
    /// Lower and upper limit; by default those of the data. Points outside are clipped to the edge.
    pub range: Option<[f64; 2]>,
}

impl Axis {
    /// A linear axis over the range of the data.
    pub fn new(label: &str) -> Axis {
        Axis { label: label.to_owned(), logarithmic: false, range: None }
    }

    /// The axis with a logarithmic scale.
    pub fn logarithmic(mut self) -> Axis {
        self.logarithmic = true;
        self
    }

    /// The axis from `begin` to `end`.
    pub fn range(mut self, begin: f64, end: f64) -> Axis {
        self.range = Some([begin, end]);
        self
    }
}

/// A named line through points.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Name in the legend; curves with the same name are listed once.
    pub name: String,
    /// Points x, y.
    pub points: Vec<[f64; 2]>,
    /// Colour.
    pub colour: Colour,
    /// Width [px].
    pub width: f64,
    /// Line pattern.
    pub dash: Dash,
    /// Whether points are marked with discs.
    pub marks: bool,
}

impl Curve {
    /// A solid line, 1.5 px wide.
    pub fn new(name: &str, colour: Colour, points: Vec<[f64; 2]>) -> Curve {
        Curve { name: name.to_owned(), points, colour, width: 1.5, dash: Dash::Solid, marks: false }
    }

    /// The curve with another width [px].
    pub fn width(mut self, width: f64) -> Curve {
        self.width = width;
        self
    }

    /// The curve with another pattern.
    pub fn dash(mut self, dash: Dash) -> Curve {
        self.dash = dash;
        self
    }

    /// The curve with a disc at every point.
    pub fn marked(mut self) -> Curve {
        self.marks = true;
        self
    }
}

/// Line patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// Solid line.
    Solid,
    /// Dashes of 7 px.
    Dashed,
    /// Dots of 2 px.
    Dotted,
}

/// Colours that are distinguishable for colour-blind readers (Okabe and Ito 2008), and greys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Colour {
    Black,
    Grey,
    LightGrey,
    Blue,
    Orange,
    Green,
    Purple,
    Vermilion,
}

impl Colour {
    fn rgb(self) -> RGBColor {
        match self {
            Colour::Black => RGBColor(0, 0, 0),
            Colour::Grey => RGBColor(110, 110, 110),
            Colour::LightGrey => RGBColor(200, 200, 200),
            Colour::Blue => RGBColor(0, 114, 178),
            Colour::Orange => RGBColor(230, 159, 0),
            Colour::Green => RGBColor(0, 158, 115),
            Colour::Purple => RGBColor(204, 121, 167),
            Colour::Vermilion => RGBColor(213, 94, 0),
        }
    }
}

/// plotters draws at whole pixels, so the figure is drawn four times as large and scaled down by the viewer.
const FINE: f64 = 4.0;
/// Font sizes of headings and of other text [px].
const LETTERS: [f64; 2] = [15.0, 12.0];
const INK: RGBColor = RGBColor(40, 40, 40);

fn fine(pixels: f64) -> i32 {
    (FINE * pixels).round() as i32
}

/// Font of a size [px]; plotters scales sizes by 1/1.24.
fn font(size: f64) -> FontDesc<'static> {
    FontDesc::new(FontFamily::SansSerif, 1.24 * FINE * size, FontStyle::Normal)
}

/// Estimated width of a text in a font size [px], for a wide typeface; no font is available to measure it.
fn width_of(text: &str, size: f64) -> f64 {
    let letter = |c: char| match c {
        'i' | 'j' | 'l' | '\'' | '.' | ',' | ':' | ';' | '|' | ' ' | '-' | '(' | ')' => 0.36,
        'm' | 'w' | 'M' | 'W' | '±' | '=' | '<' | '>' | '–' => 0.88,
        _ => 0.62,
    };
    size * text.chars().map(letter).sum::<f64>()
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

impl Figure {
    /// The figure as an SVG file.
    pub fn svg(&self) -> String {
        let mut text = String::new();
        {
            let size = self.size.map(|n| fine(f64::from(n)) as u32);
            let area = SVGBackend::with_string(&mut text, size.into()).into_drawing_area();
            self.draw(&area).and_then(|()| area.present()).expect("drawn into memory");
        }
        // Replaces the drawn size with the displayed size and rounds the line joins.
        let [width, height] = self.size;
        let body = text.split_once(" viewBox").map_or("", |(_, rest)| rest);
        format!(
            "<svg width=\"{width}\" height=\"{height}\" stroke-linejoin=\"round\" viewBox{body}"
        )
    }

    fn draw(&self, area: &Area) -> Drawn {
        area.fill(&WHITE)?;
        let middle = Pos::new(HPos::Center, VPos::Center);
        let heading = font(LETTERS[0]).color(&INK).pos(middle);
        area.draw_text(&self.title, &heading, (fine(0.5 * f64::from(self.size[0])), fine(16.0)))?;
        let top = self.legend(area, 38.0)?;
        let (_, rest) = area.split_vertically(fine(top));
        let columns = self.columns.max(1);
        let cells = rest.split_evenly((self.panels.len().div_ceil(columns), columns));
        for (panel, cell) in self.panels.iter().zip(&cells) {
            panel.draw(cell)?;
        }
        Ok(())
    }

    /// Draws the legend in as many rows as it needs, the first at a height [px]; returns the height at which the panels start.
    fn legend(&self, area: &Area, mut y: f64) -> Drawn<f64> {
        const SAMPLE: f64 = 30.0;
        let mut names: Vec<&Curve> = Vec::new();
        for curve in self.panels.iter().flat_map(|panel| &panel.curves) {
            if !curve.name.is_empty() && names.iter().all(|c| c.name != curve.name) {
                names.push(curve);
            }
        }
        let style = font(LETTERS[1]).color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        let mut x = 16.0;
        for curve in names {
            let width = SAMPLE + 6.0 + width_of(&curve.name, LETTERS[1]);
            if x > 16.0 && x + width > f64::from(self.size[0]) - 8.0 {
                (x, y) = (16.0, y + 18.0);
            }
            let ends = [(fine(x), fine(y)), (fine(x + SAMPLE), fine(y))];
            stroke(curve, ends.to_vec(), |element| match element {
                Stroke::Solid(path) => area.draw(&path),
                Stroke::Dashed(path) => area.draw(&path),
            })?;
            if curve.marks {
                area.draw(&disc((fine(x + 0.5 * SAMPLE), fine(y)), curve))?;
            }
            area.draw_text(&curve.name, &style, (fine(x + SAMPLE + 6.0), fine(y)))?;
            x += width + 16.0;
        }
        Ok(y + 12.0)
    }
}

impl Panel {
    fn draw(&self, area: &Area) -> Drawn {
        let at = |k: usize| move |c: &Curve| c.points.iter().map(|p| p[k]).collect::<Vec<_>>();
        let x = Scale::over(&self.x, self.curves.iter().flat_map(at(0)), 0.0);
        let y = Scale::over(&self.y, self.curves.iter().flat_map(at(1)), 0.05);
        let mut chart = ChartBuilder::on(area);
        chart
            .margin_top(fine(6.0))
            .margin_right(fine(18.0))
            .margin_left(fine(4.0))
            .margin_bottom(fine(4.0))
            .x_label_area_size(fine(40.0))
            .y_label_area_size(fine(62.0));
        if !self.title.is_empty() {
            chart.caption(&self.title, font(LETTERS[1]).color(&INK));
        }
        let mut chart = chart.build_cartesian_2d(x.clone(), y.clone())?;
        chart
            .configure_mesh()
            .axis_style(INK.stroke_width(fine(1.0) as u32))
            .bold_line_style(RGBColor(225, 225, 225).stroke_width(fine(0.75) as u32))
            .light_line_style(RGBColor(240, 240, 240).stroke_width(fine(0.5) as u32))
            .label_style(font(LETTERS[1]).color(&INK))
            .axis_desc_style(font(LETTERS[1]).color(&INK))
            .set_all_tick_mark_size(fine(4.0))
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .x_label_formatter(&|value| x.text(*value))
            .y_label_formatter(&|value| y.text(*value))
            .draw()?;
        for curve in &self.curves {
            let seen = |p: &&[f64; 2]| x.shows(p[0]) && y.has(p[1]);
            let points: Vec<(f64, f64)> =
                curve.points.iter().filter(seen).map(|p| (p[0], p[1])).collect();
            let (width, height) = chart.plotting_area().dim_in_pixel();
            let places = points.iter().map(|p| {
                let y = y.part(p.1).clamp(0.0, 1.0);
                [x.part(p.0) * f64::from(width), y * f64::from(height)]
            });
            if curve.marks {
                chart.draw_series(points.iter().map(|p| disc(*p, curve)))?;
            }
            let corners = thinned(&places.collect::<Vec<_>>(), 0.1 * FINE);
            let points = corners.into_iter().map(|k| points[k]).collect();
            stroke(curve, points, |element| match element {
                Stroke::Solid(path) => chart.draw_series([path]).map(|_| ()),
                Stroke::Dashed(path) => chart.draw_series([path]).map(|_| ()),
            })?;
        }
        Ok(())
    }
}

/// Selects points of a line such that the simplified line stays within a distance of it (Douglas and Peucker 1973), in order.
fn thinned(line: &[[f64; 2]], distance: f64) -> Vec<usize> {
    let mut keep = vec![false; line.len()];
    let mut parts = Vec::new();
    if let Some(last) = line.len().checked_sub(1) {
        (keep[0], keep[last]) = (true, true);
        parts.push((0, last));
    }
    while let Some((a, b)) = parts.pop() {
        let (dx, dy) = (line[b][0] - line[a][0], line[b][1] - line[a][1]);
        let far = |k: usize| {
            let (x, y) = (line[k][0] - line[a][0], line[k][1] - line[a][1]);
            let along = ((x * dx + y * dy) / (dx * dx + dy * dy).max(1e-300)).clamp(0.0, 1.0);
            (x - along * dx).hypot(y - along * dy)
        };
        let farthest = (a + 1..b).map(|k| (far(k), k)).max_by(|m, n| m.0.total_cmp(&n.0));
        if let Some((_, k)) = farthest.filter(|(d, _)| *d > distance) {
            keep[k] = true;
            parts.extend([(a, k), (k, b)]);
        }
    }
    (0..line.len()).filter(|k| keep[*k]).collect()
}

enum Stroke<P: Clone> {
    Solid(PathElement<P>),
    Dashed(DashedPathElement<std::vec::IntoIter<P>, i32>),
}

/// The line of a curve through points, in the coordinates of the caller.
fn stroke<P: Clone, R>(curve: &Curve, points: Vec<P>, draw: impl FnOnce(Stroke<P>) -> R) -> R {
    let style = curve.colour.rgb().stroke_width(fine(curve.width) as u32);
    let dashed = |on: f64, off: f64| {
        Stroke::Dashed(DashedPathElement::new(points.clone(), fine(on), fine(off), style))
    };
    draw(match curve.dash {
        Dash::Solid => Stroke::Solid(PathElement::new(points, style)),
        Dash::Dashed => dashed(7.0, 4.0),
        Dash::Dotted => dashed(2.0, 2.5),
    })
}

fn disc<P>(at: P, curve: &Curve) -> Circle<P, i32> {
    Circle::new(at, fine(1.0 + 1.2 * curve.width), curve.colour.rgb().filled())
}

/// A linear or logarithmic scale with round ticks.
#[derive(Clone, Debug)]
struct Scale {
    begin: f64,
    end: f64,
    logarithmic: bool,
}

impl Scale {
    /// The scale of an axis over its data, with a margin at both ends (a fraction of the range).
    fn over(axis: &Axis, data: impl Iterator<Item = f64>, room: f64) -> Scale {
        let logarithmic = axis.logarithmic;
        if let Some([begin, end]) = axis.range {
            return Scale { begin, end, logarithmic };
        }
        let usable = |v: &f64| v.is_finite() && (!logarithmic || *v > 0.0);
        // Ranges that are finite, with ticks that are not zero.
        let [least, most] = if logarithmic { [1e-150, 1e150] } else { [-1e300, 1e300] };
        let (mut low, mut high) = data
            .filter(usable)
            .map(|v| v.clamp(least, most))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if low > high {
            (low, high) = if logarithmic { (0.1, 10.0) } else { (0.0, 1.0) };
        }
        if high - low < 1e-300 {
            let half = if low.abs() < 1e-290 { 1.0 } else { 0.5 * low.abs() };
            (low, high) = (low - half, high + half);
        }
        if logarithmic {
            let room = (high / low).powf(room.max(0.03));
            return Scale { begin: low / room, end: high * room, logarithmic };
        }
        let room = room * (high - low);
        Scale { begin: low - room, end: high + room, logarithmic }
    }

    /// Whether the scale can show a value.
    fn has(&self, value: f64) -> bool {
        value.is_finite() && (!self.logarithmic || value > 0.0)
    }

    /// Whether a value lies within the range, up to round-off.
    fn shows(&self, value: f64) -> bool {
        let part = self.part(value);
        self.has(value) && (-1e-9..=1.0 + 1e-9).contains(&part)
    }

    /// Position of a value on the axis, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        if self.logarithmic {
            (value / self.begin).ln() / (self.end / self.begin).ln()
        } else {
            (value - self.begin) / (self.end - self.begin)
        }
    }

    /// Spacing of the ticks of a linear scale: 1, 2 or 5 times a power of ten, with at most eight ticks.
    fn tick(&self) -> f64 {
        let rough = (self.end - self.begin) / 8.0;
        let power = 10.0_f64.powf(rough.log10().floor());
        power * [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= rough).unwrap_or(10.0)
    }

    /// Ticks with a number.
    fn ticks(&self) -> Vec<f64> {
        let within = |v: &f64| self.shows(*v);
        if self.logarithmic {
            let decades = self.begin.log10().floor() as i32..=self.end.log10().ceil() as i32;
            return decades.map(|k| 10.0_f64.powi(k)).filter(within).collect();
        }
        let tick = self.tick();
        let (first, last) = ((self.begin / tick).floor() as i64, (self.end / tick).ceil() as i64);
        (first..=last).map(|k| k as f64 * tick).filter(within).collect()
    }

    /// The number at a tick.
    fn text(&self, value: f64) -> String {
        if self.logarithmic {
            let exponent = (value.log10().round() as i32).to_string();
            let raised = exponent.chars().map(|c| match c {
                '-' => '⁻',
                '1' => '¹',
                '2' => '²',
                '3' => '³',
                digit => ('⁰'..='⁹').nth(digit as usize - '0' as usize).unwrap_or(digit),
            });
            return format!("10{}", raised.collect::<String>());
        }
        let decimals = (-self.tick().log10().floor()).max(0.0) as usize;
        // No minus sign at zero.
        let text = format!("{:.decimals$}", value + 0.0);
        text.replace('-', "−")
    }
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let (from, to) = (f64::from(limit.0), f64::from(limit.1));
        (from + self.part(*value).clamp(0.0, 1.0) * (to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let ticks = self.ticks();
        if !self.logarithmic || !hint.weight().allow_light_points() {
            return ticks;
        }
        let lowest = 10.0_f64.powf(self.begin.log10().floor());
        let decades = (0..).map(|k| lowest * 10.0_f64.powi(k)).take_while(|d| *d < self.end);
        let lines = decades.flat_map(|decade| (1..10).map(move |k| f64::from(k) * decade));
        lines.filter(|v| self.shows(*v)).collect()
    }

    fn range(&self) -> Range<f64> {
        self.begin..self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_range() {
        let scale = |begin, end, logarithmic| Scale { begin, end, logarithmic };
        let texts = |s: Scale| s.ticks().iter().map(|v| s.text(*v)).collect::<Vec<_>>();
        assert_eq!(texts(scale(-1.2, 1.2, false)), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(texts(scale(0.0, 0.137, false)).len(), 7);
        assert_eq!(texts(scale(9e-7, 1.1e-4, true)), ["10⁻⁶", "10⁻⁵", "10⁻⁴"]);
        assert_eq!(scale(1e-6, 1e-4, true).map(&1e-5, (0, 100)), 50);
    }

    #[test]
    fn thinned_lines_keep_ends_and_corners() {
        let corner = |k: i32| [f64::from(k), f64::from((k - 50).abs())];
        let line: Vec<[f64; 2]> = (0..=100).map(corner).collect();
        assert_eq!(thinned(&line, 0.1), [0, 50, 100]);
        assert_eq!(thinned(&line[..1], 0.1), [0]);
        assert!(thinned(&[], 0.1).is_empty());
    }

    #[test]
    fn names_are_escaped_and_listed_once() {
        let curve = || Curve::new("a < b & c", Colour::Blue, vec![[0.0, 1.0], [1.0, 2.0]]);
        let panel = Panel {
            title: String::new(),
            x: Axis::new("x [m]"),
            y: Axis::new("y [m]").logarithmic(),
            curves: vec![curve(), curve().dash(Dash::Dashed).marked()],
        };
        let figure = Figure {
            title: "two panels".into(),
            size: [400, 200],
            columns: 2,
            panels: vec![panel.clone(), panel],
        };
        let svg = figure.svg();
        assert!(svg.starts_with(
            "<svg width=\"400\" height=\"200\" stroke-linejoin=\"round\" viewBox=\"0 0 1600 800\""
        ));
        assert_eq!(svg.matches("a &lt; b &amp; c").count(), 1);
    }

    #[test]
    fn a_figure_without_data_can_be_drawn() {
        let panel = Panel {
            title: "empty".into(),
            x: Axis::new("x"),
            y: Axis::new("y").logarithmic(),
            curves: vec![Curve::new("none", Colour::Black, vec![[f64::NAN, 0.0]])],
        };
        let (size, columns) = ([200, 200], 1);
        let figure = Figure { title: String::new(), size, columns, panels: vec![panel] };
        assert!(figure.svg().ends_with("</svg>\n"));
    }

    #[test]
    fn extreme_values_are_drawn_with_few_ticks() {
        let cases: [&[f64]; 9] = [
            &[0.0, 5e-324],
            &[5e-324],
            &[1e-310, 1.0],
            &[-1.7e308, 1.7e308],
            &[5e-324, 1.7e308],
            &[1.0, 1.0 + f64::EPSILON],
            &[1e300],
            &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            &[-1.0, 0.0],
        ];
        for values in cases {
            for logarithmic in [false, true] {
                let mut axis = Axis::new("y");
                axis.logarithmic = logarithmic;
                let scale = Scale::over(&axis, values.iter().copied(), 0.05);
                assert!(scale.begin.is_finite() && scale.begin < scale.end, "{values:?}");
                let ticks = scale.ticks();
                let most = if logarithmic { 400 } else { 12 };
                assert!(ticks.len() <= most, "{values:?}: {}", ticks.len());
                let points = values.iter().enumerate().map(|(k, v)| [k as f64, *v]).collect();
                let curves = vec![Curve::new("a", Colour::Blue, points)];
                let panel = Panel { title: String::new(), x: Axis::new("x"), y: axis, curves };
                let size = [300, 200];
                let figure = Figure { title: String::new(), size, columns: 1, panels: vec![panel] };
                assert!(figure.svg().ends_with("</svg>\n"), "{values:?}");
            }
        }
    }

    #[test]
    fn equal_values_are_in_the_middle_of_their_axis() {
        for value in [0.0, 3.0, -2e-7, 1e9] {
            let scale = Scale::over(&Axis::new("y"), [value; 3].into_iter(), 0.05);
            assert!((scale.part(value) - 0.5).abs() < 1e-12, "{value}");
            assert!(scale.ticks().len() >= 2, "{value}");
        }
        let scale = Scale::over(&Axis::new("y").logarithmic(), [1e-9].into_iter(), 0.05);
        assert!((0.0..=1.0).contains(&scale.part(1e-9)));
    }
}
