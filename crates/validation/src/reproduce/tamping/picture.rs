//! Bed and machine from the side, cut open along the middle (the paper's Fig. 9b).

use std::collections::HashSet;
use std::fmt::Write;

use riprap::prelude::*;
use riprap::shape::Polyhedron;

use crate::scenes::tamping::{SLEEPER, SLEEPER_BOTTOM, Settled, machine, tamping};
use crate::tamping::Run;

/// Pixels of a metre.
const SCALE: f64 = 560.0;
/// Room around everything [m].
const MARGIN: f64 = 0.05;

/// The stones behind the middle and the machine when the squeeze ends, as an SVG file.
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
    let on = |pose: &Pose, x: f64, z: f64| pose.point(Vec3::new(x, 0.0, z));
    let (support, chassis) = (frame("zs"), frame("thc"));
    let (left, right, wheel) = (frame("phiL"), frame("phiR"), frame("phif"));

    let tops = [on(&left, 0.0, 0.3), on(&right, 0.0, 0.3), on(&support, 0.0, 0.25)];
    let top = tops.iter().map(|p| p.z).fold(0.0, f64::max) + MARGIN;
    let [half, depth] = settled.bed.size.map(|w| 0.5 * w);
    let [width, height] = [2.0 * (half + MARGIN), top + MARGIN].map(|x| (x * SCALE).round());
    let at = |p: Vec3| {
        [(p.x + half + MARGIN) * SCALE, (top - p.z) * SCALE].map(|x| (10.0 * x).round() / 10.0)
    };
    let path = |points: &[Vec3]| -> String {
        points.iter().map(|p| at(*p)).fold(String::new(), |mut text, [x, y]| {
            let _ = write!(text, "{x},{y} ");
            text
        })
    };
    let mut text = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let mut polygon = |points: &[Vec3], fill: &str, stroke: &str| {
        let _ = writeln!(
            text,
            "<polygon points=\"{}\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"0.8\"/>",
            path(points).trim_end()
        );
    };

    // Stones behind the middle that others do not hide, far ones first and darker, each by its faces towards us.
    let mut behind: Vec<(usize, Pose, f64)> = stones
        .iter()
        .zip(&settled.stones)
        .map(|(body, (stone, _))| (stone, scene.shape_pose(state, *body)))
        .enumerate()
        .map(|(k, (stone, pose))| (k, pose, pose.point(stone.centre()).y))
        .filter(|(.., y)| *y > 0.0)
        .collect();
    behind.sort_by(|a, b| a.2.total_cmp(&b.2));
    let mut cover = Cover::default();
    behind.retain(|(k, pose, _)| cover.add(&outline(&settled.stones[*k].0, pose)));
    for (k, pose, y) in behind.iter().rev() {
        let stone = &settled.stones[*k].0;
        // Rock has many greys.
        let tone = (1.0 - 0.5 * y / depth) * (0.92 + 0.02 * (k * 7 % 9) as f64);
        for (i, normal) in stone.face_normals().iter().enumerate() {
            let n = pose.vector(*normal);
            if n.y < 0.0 {
                let light = 0.42 + 0.58 * n.dot(&LIGHT).max(0.0);
                let [r, g, b] = [222.0, 215.0, 202.0].map(|c| (c * tone * light) as u8);
                let colour = format!("rgb({r},{g},{b})");
                let face = stone.face(i).iter().map(|v| pose.point(stone.vertices()[*v as usize]));
                polygon(&face.collect::<Vec<_>>(), &colour, &colour);
            }
        }
    }
    let x = 0.5 * SLEEPER[0];
    let sleeper = |x: f64, z: f64| Vec3::new(x, 0.0, SLEEPER_BOTTOM + z);
    let corners =
        [sleeper(-x, 0.0), sleeper(x, 0.0), sleeper(x, SLEEPER[1]), sleeper(-x, SLEEPER[1])];
    polygon(&corners, "rgb(228,226,220)", "rgb(40,40,40)");

    // The machine: tools as they touch, the other bodies as bars between their hinges.
    for name in ["phiL", "phiR"] {
        let link = system.link_named(name).expect("an arm of the machine");
        let own = system.shapes().iter().filter(|s| s.link == link);
        for shape in own {
            if let Shape::Polyhedron(tool) = &shape.shape {
                polygon(&outline(tool, &frame(name)), "rgb(213,94,0)", "rgb(60,30,0)");
            }
        }
    }
    let bars = [
        ([on(&support, -0.35, 0.25), on(&support, 0.35, 0.25)], 26.0, "rgb(90,90,90)"),
        ([on(&chassis, -0.3, 0.25), on(&chassis, 0.3, 0.25)], 8.0, "rgb(0,114,178)"),
        ([on(&chassis, 0.0, 0.25), on(&chassis, 0.0, -0.15)], 14.0, "rgb(0,114,178)"),
        ([on(&chassis, -0.24, 0.0), on(&chassis, 0.24, 0.0)], 14.0, "rgb(0,114,178)"),
        ([on(&left, 0.0, 0.3), on(&left, 0.0, -0.25)], 16.0, "rgb(213,94,0)"),
        ([on(&right, 0.0, 0.3), on(&right, 0.0, -0.25)], 16.0, "rgb(213,94,0)"),
        ([on(&left, 0.0, 0.3), on(&right, 0.0, 0.3)], 9.0, "rgb(0,158,115)"),
        ([on(&left, 0.0, 0.12), on(&right, 0.0, -0.12)], 6.0, "rgb(110,110,110)"),
    ];
    for (ends, width, colour) in bars {
        let [[x1, y1], [x2, y2]] = ends.map(at);
        let _ = writeln!(
            text,
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        );
    }
    // The bushings between support and chassis.
    for side in [-0.3, 0.3] {
        let ends = [on(&support, side, 0.25), on(&chassis, side, 0.25)];
        let turn = |k: u8| {
            let s = f64::from(k) / 8.0;
            let aside = if k == 0 || k == 8 { 0.0 } else { 0.018 * f64::from(2 * (k % 2)) - 0.018 };
            ends[0] + (ends[1] - ends[0]) * s + Vec3::new(aside, 0.0, 0.0)
        };
        let spring: Vec<Vec3> = (0..=8).map(turn).collect();
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"rgb(40,40,40)\" stroke-width=\"2.5\"/>",
            path(&spring).trim_end()
        );
    }
    let hinges = [
        on(&left, 0.0, 0.3),
        on(&right, 0.0, 0.3),
        on(&left, 0.0, 0.12),
        on(&right, 0.0, -0.12),
        on(&left, 0.0, 0.0),
        on(&right, 0.0, 0.0),
    ];
    let mut circle = |centre: Vec3, radius: f64, fill: &str| {
        let ([cx, cy], r) = (at(centre), radius * SCALE);
        let _ = writeln!(
            text,
            "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"{r:.1}\" fill=\"{fill}\" stroke=\"rgb(40,40,40)\"/>"
        );
    };
    hinges.into_iter().for_each(|hinge| circle(hinge, 0.011, "white"));
    circle(on(&wheel, 0.0, 0.0), 0.1, "rgb(230,159,0)");
    circle(on(&wheel, 0.0, 0.0), 0.011, "white");
    circle(on(&wheel, 0.05, 0.0), 0.025, "rgb(40,40,40)");
    let walls = [[-half, 0.6], [-half, 0.0], [half, 0.0], [half, 0.6]];
    let walls = walls.map(|[x, z]| Vec3::new(x, 0.0, z));
    let _ = writeln!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"black\" stroke-width=\"3\"/>\n</svg>",
        path(&walls).trim_end()
    );
    text
}

/// Where the light comes from: ahead, above and from the left.
const LIGHT: Vec3 = Vec3::new(-0.45, -0.6, 0.66);

/// What is drawn already, in small squares.
#[derive(Default)]
struct Cover(HashSet<(i32, i32)>);

impl Cover {
    /// Side of a square [m].
    const CELL: f64 = 5e-3;

    /// Adds a convex outline; tells whether some of it is in sight.
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

/// Outline of a solid seen along y: the convex hull of its corners in the plane x–z, counter-clockwise (Andrew 1979).
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
    fn a_stone_is_left_out_where_nearer_ones_hide_all_of_it() {
        let square = |x: f64, size: f64| {
            let solid = Polyhedron::cuboid([size; 3]).expect("positive");
            outline(&solid, &Pose::at([x, 0.0, 0.0]))
        };
        let mut cover = Cover::default();
        assert!(cover.add(&square(0.0, 0.2)) && !cover.add(&square(0.03, 0.1)));
        assert!(cover.add(&square(0.08, 0.1)) && !cover.add(&square(0.08, 0.1)));
    }
}
