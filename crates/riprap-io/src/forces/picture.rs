//! Force chains as a picture: outlines of the bodies, and contacts as lines whose width shows the normal force.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use riprap::math::Vec3;
use riprap::simulation::Frame;

use crate::atomic;
use crate::error::Error;
use crate::output::{Link, Snapshot, Surfaces};

/// The direction along which a scene in space is seen; planar scenes are always seen along z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Along x: y to the right, z up.
    X,
    /// Along y: x to the right, z up.
    #[default]
    Y,
    /// From above: x to the right, y up.
    Z,
}

impl View {
    fn project(self, p: Vec3) -> [f64; 2] {
        match self {
            View::X => [p.y, p.z],
            View::Y => [p.x, p.z],
            View::Z => [p.x, p.y],
        }
    }
}

/// Width of the picture [px].
const WIDTH: f64 = 900.0;

/// Writes the picture.
pub(super) fn write(path: &Path, frame: &Frame, links: Vec<Link>, view: View) -> Result<(), Error> {
    let text = draw(frame, links, if frame.scene.is_planar() { View::Z } else { view });
    atomic::write(path, |out| out.write_all(text.as_bytes()))
}

/// The picture as SVG.
fn draw(frame: &Frame, mut links: Vec<Link>, view: View) -> String {
    let scene = frame.scene;
    let surfaces = Surfaces::new(scene);
    let parts = surfaces.outlines(&Snapshot::of(frame), |p| view.project(p));
    // The free bodies determine what is shown.
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for (_, outline) in parts.iter().filter(|(i, _)| scene.bodies().movable[*i]) {
        for k in 0..2 {
            low[k] = outline.iter().fold(low[k], |m, p| m.min(p[k]));
            high[k] = outline.iter().fold(high[k], |m, p| m.max(p[k]));
        }
    }
    if low[0] > high[0] {
        (low, high) = ([-1.0; 2], [1.0; 2]);
    }
    let margin = 0.03 * (high[0] - low[0]).max(high[1] - low[1]).max(1e-9);
    let low = low.map(|x| x - margin);
    let size = [high[0] + margin - low[0], high[1] + margin - low[1]];
    let scale = WIDTH / size[0];
    let height = size[1] * scale;
    let place = |[x, y]: [f64; 2]| [(x - low[0]) * scale, height - (y - low[1]) * scale];

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height:.1}\" viewBox=\"0 0 {WIDTH} {height:.1}\">\n\
         <title>Force chains at t = {} s</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        frame.state.t
    );
    for (i, outline) in &parts {
        let fill = if scene.bodies().movable[*i] { "#e8e4dc" } else { "#b8b8b8" };
        svg += "<polygon points=\"";
        for p in outline {
            let [x, y] = place(*p);
            let _ = write!(svg, "{x:.2},{y:.2} ");
        }
        let _ = writeln!(
            svg,
            "\" fill=\"{fill}\" fill-opacity=\"0.6\" stroke=\"#8a8578\" stroke-width=\"0.5\"/>"
        );
    }
    let mean = Link::mean(&links);
    // Large forces are drawn last.
    links.sort_by(|a, b| a.force.total_cmp(&b.force));
    svg +=
        "<g fill=\"none\" stroke=\"#a02020\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n";
    for link in &links {
        let width = 2.0 * scale * link.radius(mean, scene.grain_size());
        svg += "<polyline points=\"";
        for p in &link.points {
            let [x, y] = place(view.project(*p));
            let _ = write!(svg, "{x:.2},{y:.2} ");
        }
        let _ = writeln!(svg, "\" stroke-width=\"{width:.2}\"/>");
    }
    svg += "</g>\n</svg>\n";
    svg
}
