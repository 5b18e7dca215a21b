//! Side view of bed and machine, cut open along the middle (Fig. 9b of the paper).

use std::collections::HashSet;
use std::fmt::Write;

use riprap::prelude::*;
use riprap::shape::Polyhedron;

use crate::scenes::tamping::{SLEEPER, SLEEPER_BOTTOM, Settled, machine, tamping};
use crate::tamping::Run;

/// Pixels per metre.
const SCALE: f64 = 560.0;
/// Margin [m].
const MARGIN: f64 = 0.05;

/// The stones behind the middle and the machine at the end of the squeeze, as an SVG file.
pub(super) fn picture(settled: &Settled, run: &Run) -> String {
    let unit = machine(run.case.frequency, run.schedule.start, Some(run.schedule), None, None);
    let (scene, stones, id) = tamping(settled, unit);
    let Ok(scene) = scene.build() else { return String::new() };
    let state = &run.squeezed;
    let system = &scene.mechanisms()[id.index()];
    let frame = |name: &str| {
        let link = system.link_named(name).expect("a body of the machine");
        scene.shape_pose(state, scene.link_body(id, link))
    };
    let pose = Unit {
        support: frame("zs"),
        chassis: frame("thc"),
        left: frame("phiL"),
        right: frame("phiR"),
        wheel: frame("phif"),
    };

    let tops = [on(&pose.left, 0.0, 0.3), on(&pose.right, 0.0, 0.3), on(&pose.support, 0.0, 0.25)];
    let top = tops.iter().map(|p| p.z).fold(0.0, f64::max) + MARGIN;
    let half = 0.5 * settled.bed.size[0];
    let mut drawing = Drawing::new(half, top);
    let poses: Vec<Pose> = stones.iter().map(|body| scene.shape_pose(state, *body)).collect();
    drawing.stones(settled, &poses);
    let x = 0.5 * SLEEPER[0];
    let sleeper = |x: f64, z: f64| Vec3::new(x, 0.0, SLEEPER_BOTTOM + z);
    let corners =
        [sleeper(-x, 0.0), sleeper(x, 0.0), sleeper(x, SLEEPER[1]), sleeper(-x, SLEEPER[1])];
    drawing.polygon(&corners, "rgb(228,226,220)", "rgb(40,40,40)");

    // The machine: tools by their contact shapes, the other bodies as bars between their hinges.
    for (name, pose) in [("phiL", &pose.left), ("phiR", &pose.right)] {
        let link = system.link_named(name).expect("an arm of the machine");
        let own = system.shapes().iter().filter(|s| s.link == link);
        for shape in own {
            if let Shape::Polyhedron(tool) = &shape.shape {
                drawing.polygon(&outline(tool, pose), "rgb(213,94,0)", "rgb(60,30,0)");
            }
        }
    }
    drawing.machine(&pose);
    let walls = [[-half, 0.6], [-half, 0.0], [half, 0.0], [half, 0.6]];
    let walls = walls.map(|[x, z]| Vec3::new(x, 0.0, z));
    drawing.polyline(&walls, "black", 3.0);
    drawing.text.push_str("</svg>\n");
    drawing.text
}

/// A point of a body in the x–z plane of its frame.
fn on(pose: &Pose, x: f64, z: f64) -> Vec3 {
    pose.point(Vec3::new(x, 0.0, z))
}

/// Poses of the bodies of the machine.
struct Unit {
    support: Pose,
    chassis: Pose,
    left: Pose,
    right: Pose,
    wheel: Pose,
}

/// An SVG file under construction.
struct Drawing {
    text: String,
    /// Half the width of the bed, and the height of the upper border [m].
    half: f64,
    top: f64,
}

impl Drawing {
    fn new(half: f64, top: f64) -> Drawing {
        let [width, height] = [2.0 * (half + MARGIN), top + MARGIN].map(|x| (x * SCALE).round());
        let text = format!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
        );
        Drawing { text, half, top }
    }

    /// A point in pixels, rounded to a tenth.
    fn at(&self, p: Vec3) -> [f64; 2] {
        [(p.x + self.half + MARGIN) * SCALE, (self.top - p.z) * SCALE]
            .map(|x| (10.0 * x).round() / 10.0)
    }

    fn path(&self, points: &[Vec3]) -> String {
        let points = points.iter().map(|p| self.at(*p));
        points.map(|[x, y]| format!("{x},{y}")).collect::<Vec<_>>().join(" ")
    }

    fn polygon(&mut self, points: &[Vec3], fill: &str, stroke: &str) {
        let path = self.path(points);
        let _ = writeln!(
            self.text,
            "<polygon points=\"{path}\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"0.8\"/>",
        );
    }

    fn polyline(&mut self, points: &[Vec3], stroke: &str, width: f64) {
        let path = self.path(points);
        let _ = writeln!(
            self.text,
            "<polyline points=\"{path}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>",
        );
    }

    fn circle(&mut self, centre: Vec3, radius: f64, fill: &str) {
        let ([cx, cy], r) = (self.at(centre), radius * SCALE);
        let _ = writeln!(
            self.text,
            "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"{r:.1}\" fill=\"{fill}\" stroke=\"rgb(40,40,40)\"/>"
        );
    }

    /// Visible stones behind the middle, far ones first and darker, each drawn by the faces towards the viewer.
    fn stones(&mut self, settled: &Settled, poses: &[Pose]) {
        let depth = 0.5 * settled.bed.size[1];
        let mut behind: Vec<(usize, f64)> = settled
            .stones
            .iter()
            .zip(poses)
            .enumerate()
            .map(|(k, ((stone, _), pose))| (k, pose.point(stone.centre()).y))
            .filter(|(_, y)| *y > 0.0)
            .collect();
        behind.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut cover = Cover::default();
        behind.retain(|(k, _)| cover.add(&outline(&settled.stones[*k].0, &poses[*k])));
        for (k, y) in behind.iter().rev() {
            let (stone, pose) = (&settled.stones[*k].0, &poses[*k]);
            // Rock has many shades of grey.
            let tone = (1.0 - 0.5 * y / depth) * (0.92 + 0.02 * (k * 7 % 9) as f64);
            for (i, normal) in stone.face_normals().iter().enumerate() {
                let n = pose.vector(*normal);
                if n.y < 0.0 {
                    let light = 0.42 + 0.58 * n.dot(&LIGHT).max(0.0);
                    let [r, g, b] = [222.0, 215.0, 202.0].map(|c| (c * tone * light) as u8);
                    let colour = format!("rgb({r},{g},{b})");
                    let corner = |v: &u16| pose.point(stone.vertices()[usize::from(*v)]);
                    let face: Vec<Vec3> = stone.face(i).iter().map(corner).collect();
                    self.polygon(&face, &colour, &colour);
                }
            }
        }
    }

    /// Bars between the hinges, bushings between support and chassis, hinges, and the flywheel with its weight.
    fn machine(&mut self, unit: &Unit) {
        let Unit { support, chassis, left, right, wheel } = unit;
        let bars = [
            ([on(support, -0.35, 0.25), on(support, 0.35, 0.25)], 26.0, "rgb(90,90,90)"),
            ([on(chassis, -0.3, 0.25), on(chassis, 0.3, 0.25)], 8.0, "rgb(0,114,178)"),
            ([on(chassis, 0.0, 0.25), on(chassis, 0.0, -0.15)], 14.0, "rgb(0,114,178)"),
            ([on(chassis, -0.24, 0.0), on(chassis, 0.24, 0.0)], 14.0, "rgb(0,114,178)"),
            ([on(left, 0.0, 0.3), on(left, 0.0, -0.25)], 16.0, "rgb(213,94,0)"),
            ([on(right, 0.0, 0.3), on(right, 0.0, -0.25)], 16.0, "rgb(213,94,0)"),
            ([on(left, 0.0, 0.3), on(right, 0.0, 0.3)], 9.0, "rgb(0,158,115)"),
            ([on(left, 0.0, 0.12), on(right, 0.0, -0.12)], 6.0, "rgb(110,110,110)"),
        ];
        for (ends, width, colour) in bars {
            let [[x1, y1], [x2, y2]] = ends.map(|end| self.at(end));
            let _ = writeln!(
                self.text,
                "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
            );
        }
        for side in [-0.3, 0.3] {
            let ends = [on(support, side, 0.25), on(chassis, side, 0.25)];
            let turn = |k: u8| {
                let s = f64::from(k) / 8.0;
                let aside =
                    if k == 0 || k == 8 { 0.0 } else { 0.018 * f64::from(2 * (k % 2)) - 0.018 };
                ends[0] + (ends[1] - ends[0]) * s + Vec3::new(aside, 0.0, 0.0)
            };
            let spring: Vec<Vec3> = (0..=8).map(turn).collect();
            self.polyline(&spring, "rgb(40,40,40)", 2.5);
        }
        let hinges = [
            on(left, 0.0, 0.3),
            on(right, 0.0, 0.3),
            on(left, 0.0, 0.12),
            on(right, 0.0, -0.12),
            on(left, 0.0, 0.0),
            on(right, 0.0, 0.0),
        ];
        hinges.into_iter().for_each(|hinge| self.circle(hinge, 0.011, "white"));
        self.circle(on(wheel, 0.0, 0.0), 0.1, "rgb(230,159,0)");
        self.circle(on(wheel, 0.0, 0.0), 0.011, "white");
        self.circle(on(wheel, 0.05, 0.0), 0.025, "rgb(40,40,40)");
    }
}

/// Direction of the light: from the front, above and left.
const LIGHT: Vec3 = Vec3::new(-0.45, -0.6, 0.66);

/// The area already covered, in small squares.
#[derive(Default)]
struct Cover(HashSet<(i32, i32)>);

impl Cover {
    /// Side of a square [m].
    const CELL: f64 = 5e-3;

    /// Adds a convex outline; returns whether any part of it is visible.
    fn add(&mut self, outline: &[Vec3]) -> bool {
        let range = |of: fn(&Vec3) -> f64| {
            let ends = outline
                .iter()
                .map(of)
                .fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)]);
            let [low, high] = ends.map(|x| (x / Self::CELL).floor() as i32);
            low..=high
        };
        let inside = |x: f64, z: f64| {
            let next = outline.iter().cycle().skip(1);
            outline
                .iter()
                .zip(next)
                .all(|(a, b)| (b.x - a.x) * (z - a.z) >= (b.z - a.z) * (x - a.x))
        };
        let mut seen = false;
        for i in range(|p| p.x) {
            for k in range(|p| p.z) {
                let [x, z] = [i, k].map(|k| (f64::from(k) + 0.5) * Self::CELL);
                seen |= inside(x, z) && self.0.insert((i, k));
            }
        }
        seen
    }
}

/// Outline of a solid seen along y: the convex hull of its corners in the x–z plane, counter-clockwise (Andrew 1979).
fn outline(solid: &Polyhedron, pose: &Pose) -> Vec<Vec3> {
    let mut points: Vec<Vec3> = solid.vertices().iter().map(|v| pose.point(*v)).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.z.total_cmp(&b.z)));
    let half = |points: &mut dyn Iterator<Item = Vec3>| {
        let mut chain: Vec<Vec3> = Vec::new();
        for p in points {
            while let [.., a, b] = chain[..] {
                if (b.x - a.x) * (p.z - a.z) - (b.z - a.z) * (p.x - a.x) > 0.0 {
                    break;
                }
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut hull = half(&mut points.iter().copied());
    hull.extend(half(&mut points.iter().rev().copied()));
    hull
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stone_is_omitted_if_nearer_ones_hide_it_completely() {
        let square = |x: f64, size: f64| {
            let solid = Polyhedron::cuboid([size; 3]).expect("positive");
            outline(&solid, &Pose::at([x, 0.0, 0.0]))
        };
        let mut cover = Cover::default();
        assert!(cover.add(&square(0.0, 0.2)) && !cover.add(&square(0.03, 0.1)));
        assert!(cover.add(&square(0.08, 0.1)) && !cover.add(&square(0.08, 0.1)));
    }
}
