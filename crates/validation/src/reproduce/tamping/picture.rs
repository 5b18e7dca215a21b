//! Bed and machine from the side, cut open along the middle (the paper's Fig. 9b).

use std::fmt::Write;

use riprap::prelude::*;
use riprap::shape::Polyhedron;

use crate::scenes::tamping::{SLEEPER, SLEEPER_BOTTOM, Settled, machine, tamping};
use crate::tamping::Run;

/// Pixels of a metre.
const SCALE: f64 = 560.0;
/// Height of the picture [m].
const TOP: f64 = 1.65;

/// The stones behind the middle and the machine when the squeeze ends, as an SVG file.
pub(super) fn picture(settled: &Settled, run: &Run) -> String {
    let unit = machine(run.case.frequency, run.schedule.start, Some(run.schedule), None, None);
    let (scene, stones, id) = tamping(settled, unit);
    let Ok(scene) = scene.build() else { return String::new() };
    let state = &run.squeezed;
    let [half, depth] = settled.bed.size.map(|w| 0.5 * w);
    let [width, height] = [2.0 * half + 0.1, TOP + 0.1].map(|x| (x * SCALE).round());
    let at = |p: Vec3| {
        [(p.x + half + 0.05) * SCALE, (TOP + 0.05 - p.z) * SCALE].map(|x| (10.0 * x).round() / 10.0)
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

    // Stones behind the middle, far ones first and darker.
    let mut behind: Vec<(Vec<Vec3>, f64)> = stones
        .iter()
        .zip(&settled.stones)
        .map(|(body, (stone, _))| {
            let pose = scene.shape_pose(state, *body);
            (outline(stone, &pose), pose.point(stone.centre()).y)
        })
        .filter(|(_, y)| *y > 0.0)
        .collect();
    behind.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (points, y) in &behind {
        let grey = (205.0 - 110.0 * y / depth) as u8;
        let fill = format!("rgb({grey},{},{})", grey - 5, grey - 14);
        polygon(points, &fill, "rgb(70,66,60)");
    }
    let x = 0.5 * SLEEPER[0];
    let sleeper = |x: f64, z: f64| Vec3::new(x, 0.0, SLEEPER_BOTTOM + z);
    let corners =
        [sleeper(-x, 0.0), sleeper(x, 0.0), sleeper(x, SLEEPER[1]), sleeper(-x, SLEEPER[1])];
    polygon(&corners, "rgb(228,226,220)", "rgb(40,40,40)");

    // The machine: tools as they touch, the other bodies as bars between their hinges.
    let system = &scene.mechanisms()[id.index()];
    let frame = |name: &str| {
        let link = system.link_named(name).expect("a body of the machine");
        scene.shape_pose(state, scene.link_body(id, link))
    };
    for name in ["phiL", "phiR"] {
        let link = system.link_named(name).expect("an arm of the machine");
        let own = system.shapes().iter().filter(|s| s.link == link);
        for shape in own {
            if let Shape::Polyhedron(tool) = &shape.shape {
                polygon(&outline(tool, &frame(name)), "rgb(213,94,0)", "rgb(60,30,0)");
            }
        }
    }
    let (support, chassis) = (frame("zs"), frame("thc"));
    let (left, right) = (frame("phiL"), frame("phiR"));
    let on = |pose: &Pose, x: f64, z: f64| pose.point(Vec3::new(x, 0.0, z));
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
    let wheel = frame("phif");
    for (centre, radius, fill) in
        [(on(&wheel, 0.0, 0.0), 0.1, "rgb(230,159,0)"), (on(&wheel, 0.02, 0.0), 0.012, "black")]
    {
        let [cx, cy] = at(centre);
        let r = radius * SCALE;
        let _ = writeln!(text, "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"{r:.1}\" fill=\"{fill}\"/>");
    }
    let walls = [[-half, 0.6], [-half, 0.0], [half, 0.0], [half, 0.6]];
    let walls = walls.map(|[x, z]| Vec3::new(x, 0.0, z));
    let _ = writeln!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"black\" stroke-width=\"3\"/>\n</svg>",
        path(&walls).trim_end()
    );
    text
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
