//! Pictures of small models: what is seen, where it is dark, and that nothing depends on threads.

mod frames;
mod measured;

use super::image::read_png;
use super::scene::{Choice, ColourBy, Cut, FrameData, draw};
use super::shade::Seen;
use super::*;
use riprap_io::run_file::{ContactSet, FlexibleInfo, Kind, Model, Poses, Rope};

const CUBE: [[u32; 4]; 6] =
    [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
const RED: Colour = [0.8, 0.1, 0.1];
const BLUE: Colour = [0.1, 0.1, 0.8];
const STILL: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

fn corners(half: f32) -> Vec<[f32; 3]> {
    let side = |k: usize, bit: usize| if k >> bit & 1 == 1 { half } else { -half };
    (0..8).map(|k| [side(k, 0), side(k, 1), side(k, 2)]).collect()
}

fn add_cube(model: &mut Model3d, at: [f64; 3], half: f32, colour: Colour, surface: Surface) {
    let at = Placement { position: at, rotation: STILL };
    model.add_mesh(&corners(half), CUBE.iter().map(|f| &f[..]), at, colour, surface);
}

fn above(height: f64) -> Camera {
    let projection = Projection::Orthographic { height };
    Camera { eye: [0.0, 0.0, 50.0], target: [0.0; 3], up: [0.0, 1.0, 0.0], projection }
}

fn style(size: [usize; 2], samples: usize) -> Style {
    Style { size, samples, edges: false, ..Style::default() }
}

fn model() -> Model3d {
    Model3d::new([0.0; 3], [0.0, 0.0, 1.0])
}

/// A cube, a ball and a tube in an open box.
fn still_life() -> Image {
    let mut model = model();
    add_cube(&mut model, [0.0, 0.0, 0.3], 0.3, colour::category(0), Surface::Solid);
    model.add_sphere([0.8, 0.2, 0.4], 0.4, colour::machine(1), Surface::Solid);
    model.add_tube([-0.9, -0.6, 0.1], [-0.4, 0.8, 0.6], 0.08, colour::machine(0));
    add_cube(&mut model, [0.0, 0.0, 1.2], 1.3, colour::WALL, Surface::Wall);
    model.set_ground(-0.1);
    let [look, up] = View::Iso.directions([0.0, 0.0, 1.0]);
    let camera = Camera::fit(&model.extent(), look, up, 1.5, false);
    let title = "speed [m/s]".to_owned();
    let legends = vec![Legend { title, range: [0.0, 2.0], map: ColourMap::Sequential }];
    let caption = Some("t = 0.5 s".to_owned());
    render(
        &model,
        &camera,
        &Style { size: [180, 120], samples: 4, legends, caption, ..Style::default() },
    )
}

#[test]
fn the_picture_is_the_stored_one() {
    let image = still_life();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/still-life.png");
    if std::env::var_os("RIPRAP_UPDATE").is_some() {
        std::fs::write(&path, image.to_png()).unwrap();
    }
    let stored = read_png(&std::fs::read(path).expect("written with RIPRAP_UPDATE=1"));
    assert_eq!([image.width, image.height], [stored.width, stored.height]);
    let apart = image.pixels.iter().zip(&stored.pixels).map(|(a, b)| f64::from(a.abs_diff(*b)));
    let mean = apart.sum::<f64>() / image.pixels.len() as f64;
    // Functions such as `powf` differ in the last digit between platforms, which moves some rays past an edge.
    assert!(mean < 0.5, "mean difference of {mean} of 255");
}

#[test]
fn the_picture_does_not_depend_on_the_number_of_threads() {
    let with = |n: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(still_life)
    };
    assert_eq!(with(1).to_png(), with(3).to_png());
}

#[test]
fn the_nearest_body_is_seen() {
    let mut model = model();
    add_cube(&mut model, [0.0, 0.0, 0.0], 1.0, RED, Surface::Solid);
    model.add_sphere([0.0, 0.0, 2.0], 0.5, BLUE, Surface::Solid);
    let image = render(&model, &above(3.0), &style([60, 60], 1));
    let [middle, corner] = [image.pixel(30, 30), image.pixel(14, 46)];
    assert!(middle[2] > middle[0] && corner[0] > corner[2], "{middle:?} {corner:?}");
}

#[test]
fn bodies_throw_shadows_on_others_and_on_the_ground() {
    let brightness = |with_ball: bool| {
        let mut model = model();
        add_cube(&mut model, [0.0; 3], 1.0, RED, Surface::Solid);
        if with_ball {
            model.add_sphere([0.0, 0.0, 1.8], 0.5, RED, Surface::Solid);
        }
        model.set_ground(-1.0);
        let image = render(&model, &above(4.0), &style([80, 80], 16));
        // Light comes from the upper left, so shadows fall to the lower right: on the cube and on the ground.
        [[52, 54], [66, 66]]
            .map(|[x, y]| image.pixel(x, y).iter().map(|b| u32::from(*b)).sum::<u32>())
    };
    let [bare, shaded] = [brightness(false), brightness(true)];
    assert!(2 * shaded[0] < bare[0] + shaded[0], "{bare:?} {shaded:?}");
    let white = 3 * 240;
    assert!(bare[1] < white - 60, "the cube throws a shadow: {bare:?}");
}

#[test]
fn walls_in_front_of_bodies_are_glass_and_those_behind_are_not() {
    let seen = |height: f64| {
        let mut model = model();
        model.add_sphere([0.0; 3], 0.5, RED, Surface::Solid);
        let at = Placement { position: [0.0, 0.0, height], rotation: STILL };
        let square: Vec<[f32; 3]> = corners(1.0)[..4].iter().map(|v| [v[0], v[1], 0.0]).collect();
        let face: &[u32] = &[0, 1, 3, 2];
        model.add_mesh(&square, std::iter::once(face), at, BLUE, Surface::Wall);
        render(&model, &above(3.0), &style([60, 60], 4))
    };
    let is_red = |p: [u8; 3]| p[0] > 2 * p[2];
    assert!(is_red(seen(1.0).pixel(30, 30)) && is_red(seen(-1.0).pixel(30, 30)));
    let [front, back] = [seen(1.0).pixel(15, 15), seen(-1.0).pixel(15, 15)];
    assert!(front[0] > 180 && back[2] > 2 * back[0], "{front:?} {back:?}");
}

#[test]
fn empty_models_and_bodies_without_a_position_give_the_background() {
    let plain = render(&model(), &above(1.0), &style([4, 4], 1));
    let mut lost = model();
    lost.add_sphere([f64::NAN; 3], 1.0, RED, Surface::Solid);
    lost.add_tube([0.0; 3], [f64::INFINITY; 3], 1.0, RED);
    let bad: &[u32] = &[0, 1, 99];
    let at = Placement { position: [0.0; 3], rotation: [0.0; 4] };
    lost.add_mesh(&corners(1.0), std::iter::once(bad), at, RED, Surface::Solid);
    assert_eq!(render(&lost, &above(1.0), &style([4, 4], 1)), plain);
}

/// Two cubes that touch, on a half-space, beside a wall.
fn frame() -> (Model, Poses, ContactSet) {
    let mut model = Model { gravity: [0.0, 0.0, -9.81], ..Model::default() };
    let bodies =
        [("a", Kind::Free), ("b", Kind::Free), ("wall", Kind::Fixed), ("floor", Kind::Fixed)];
    (model.first_vertex, model.first_face, model.face_offsets) = (vec![0], vec![0], vec![0]);
    for (k, (name, kind)) in bodies.into_iter().enumerate() {
        let first = model.vertices.len() as u32;
        model.vertices.extend(corners(0.5));
        // A half-space is shown by a square.
        let faces = if name == "floor" { &CUBE[1..2] } else { &CUBE[..] };
        for face in faces {
            model.face_vertices.extend(face.map(|v| v + first));
            model.face_offsets.push(model.face_vertices.len() as u32);
        }
        model.first_vertex.push(model.vertices.len() as u32);
        model.first_face.push(model.face_offsets.len() as u32 - 1);
        model.names.push(name.into());
        model.kinds.push(kind);
        model.ids.push(k as u32);
        model.unbounded.push(name == "floor");
        model.radius.push(0.0);
        model.size.push(1.0 + k as f32);
        model.material.push(0);
    }
    let position = vec![[0.0, 0.0, 0.5], [0.0, 0.0, 1.5], [2.0, 0.0, 0.5], [0.0, 0.0, -0.5]];
    let velocity = vec![[0.0; 3], [3.0, 4.0, 0.0], [0.0; 3], [0.0; 3]];
    let poses = Poses { position, rotation: vec![STILL; 4], velocity, ..Poses::default() };
    let contacts = ContactSet {
        point: vec![[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]],
        force: vec![[1.0, 0.0, 5.0], [0.0, 0.0, 10.0]],
        normal: vec![[0.0, 0.0, 1.0]; 2],
        gap: vec![0.0; 2],
        bodies: vec![[0, 1], [3, 0]],
        ..ContactSet::default()
    };
    (model, poses, contacts)
}

#[test]
fn quantities_of_bodies_come_from_the_frame() {
    let (model, poses, contacts) = frame();
    let mut begin = poses.clone();
    begin.position[1][2] += 0.25;
    let first = Some((&model, &begin));
    let frame = FrameData { model: &model, poses: &poses, contacts: Some(&contacts), first };
    assert_eq!(frame.values(ColourBy::Speed), [0.0, 5.0, 0.0, 0.0]);
    assert_eq!(frame.values(ColourBy::Force), [15.0, 5.0, 0.0, 10.0]);
    assert_eq!(frame.values(ColourBy::Coordination), [2.0, 1.0, 0.0, 1.0]);
    assert_eq!(frame.values(ColourBy::Displacement), [0.0, 0.25, 0.0, 0.0]);
    assert_eq!(frame.range(ColourBy::Size), Some([1.0, 2.0]));
    assert_eq!(frame.range(ColourBy::Material), None);
}

#[test]
fn a_frame_is_drawn_without_what_is_hidden_or_cut() {
    let (model, poses, contacts) = frame();
    let frame = FrameData { model: &model, poses: &poses, contacts: Some(&contacts), first: None };
    let drawn = |choice: Choice| {
        let model = draw(frame, &choice, None).model;
        (model.solids.len(), model.walls.len())
    };
    // The level half-space is the ground and is not drawn.
    assert_eq!(drawn(Choice::default()), (24, 12));
    assert!((draw(frame, &Choice::default(), None).model.ground().unwrap()).abs() < 1e-6);
    assert_eq!(drawn(Choice { hide: vec!["walls".into()], ..Choice::default() }), (24, 0));
    assert_eq!(drawn(Choice { hide: vec!["?".into()], ..Choice::default() }), (0, 12));
    let cut = Some(Cut::parse("z > 1").unwrap());
    assert_eq!(drawn(Choice { cut, ..Choice::default() }).0, 12);
    // Half of the wall: four sides and the lower end.
    let cut = Some(Cut::parse("z>0.5").unwrap());
    assert_eq!(drawn(Choice { cut, ..Choice::default() }).1, 10);
    let chains = draw(frame, &Choice { chains: true, ..Choice::default() }, None);
    assert_eq!((chains.model.solids.len(), chains.model.walls.len()), (2, 36));
    assert_eq!(chains.legends[0].range, [0.0, 10.0]);
}

#[test]
fn cuts_that_cannot_be_read_say_what_is_expected() {
    for text in ["", "x", "w>1", "x>", "x>nan", "1<x"] {
        assert!(Cut::parse(text).unwrap_err().contains("such as `x>0.1`"), "{text}");
    }
}

#[test]
fn damaged_models_are_drawn_as_far_as_possible() {
    let (model, poses, _) = frame();
    let damaged = [
        Model { names: vec![], ..model.clone() },
        Model { first_vertex: vec![0, 900, 3, 7, 9], ..model.clone() },
        Model { face_vertices: vec![4_000_000_000; 3], ..model.clone() },
        Model { face_offsets: vec![], first_face: vec![7, 3, 0, 9, 1], ..model.clone() },
    ];
    for model in damaged {
        let frame = FrameData { model: &model, poses: &poses, contacts: None, first: None };
        let choice = Choice { chains: true, colour_by: ColourBy::Force, ..Choice::default() };
        let model = draw(frame, &choice, None).model;
        render(&model, &above(4.0), &style([8, 8], 1));
    }
}

#[test]
fn a_moving_container_is_drawn_like_a_wall_and_a_tool_is_not() {
    let (mut model, poses, _) = frame();
    model.kinds[2] = Kind::Driven;
    let count = |model: &Model, poses: &Poses| {
        let frame = FrameData { model, poses, contacts: None, first: None };
        draw(frame, &Choice::default(), None).model.walls.len()
    };
    assert_eq!(count(&model, &poses), 0);
    // Large enough to contain both cubes.
    for vertex in &mut model.vertices[16..24] {
        *vertex = vertex.map(|x| 10.0 * x);
    }
    assert_eq!(count(&model, &poses), 12);
}

#[test]
fn flexible_bodies_and_ropes_are_drawn_along_their_nodes() {
    let (mut model, mut poses, _) = frame();
    model.kinds = vec![Kind::Node; 4];
    model.first_face = vec![0; 5];
    poses.position = (0..4).map(|k| [f64::from(k), 0.0, 0.0]).collect();
    let outline = vec![[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]];
    model.flexible = vec![FlexibleInfo { name: "beam".into(), first: 0, nodes: 4, outline }];
    let points = vec![[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, 2.0]];
    poses.ropes = vec![Rope { points, ..Rope::default() }];
    let frame = FrameData { model: &model, poses: &poses, contacts: None, first: None };
    let drawing = draw(frame, &Choice::default(), None);
    // Two ends of 2 triangles, 3 spans of 4 sides, 2 pieces of rope.
    assert_eq!(drawing.model.solids.len(), 2 * 2 + 3 * 4 * 2 + 2);
    let camera = Camera { eye: [1.5, 0.0, 50.0], target: [1.5, 0.0, 0.0], ..above(4.0) };
    let image = render(&drawing.model, &camera, &style([60, 40], 4));
    let [beam, beside] = [image.pixel(30, 20), image.pixel(30, 4)];
    assert!(
        beam[2].abs_diff(beam[0]) > 40 && beside[0].abs_diff(beside[2]) < 20,
        "{beam:?} {beside:?}"
    );
}

#[test]
fn planar_scenes_are_flat_on_a_ground_below_them() {
    let (mut model, mut poses, _) = frame();
    (model.planar, model.gravity) = (true, [0.0, -9.81, 0.0]);
    poses.position.iter_mut().for_each(|p| *p = [p[0], p[2], 0.0]);
    let frame = FrameData { model: &model, poses: &poses, contacts: None, first: None };
    assert_eq!(frame.up(), [0.0, 1.0, 0.0]);
    let drawing = draw(frame, &Choice::default(), None).model;
    assert!(drawing.ground().unwrap() < 0.0);
    // The half-space is not the ground but part of the picture.
    assert_eq!((drawing.solids.len(), drawing.walls.len()), (24, 14));
}

#[test]
fn unbounded_walls_do_not_count_for_the_camera_and_large_ones_neither() {
    let mut model = model();
    model.add_sphere([0.0; 3], 0.5, RED, Surface::Solid);
    add_cube(&mut model, [0.0; 3], 0.6, BLUE, Surface::Wall);
    let with_container = model.extent().len();
    add_cube(&mut model, [0.0; 3], 0.7, BLUE, Surface::Patch);
    add_cube(&mut model, [0.0; 3], 50.0, BLUE, Surface::Wall);
    assert_eq!((with_container, model.extent().len()), (37, 37));
    assert_eq!(model.lowest(), Some(-50.0));
}

#[test]
fn grain_of_the_light_is_removed_within_faces_but_not_across_edges() {
    let seen = |normal: Vec3A, light: f32| {
        let paint = Vec3A::splat(0.5);
        Seen { colour: light * paint, paint, point: Vec3A::ZERO, normal, pixel: 1.0 }
    };
    // Left half: light 0 and 2 in turns; right half: another face in the dark.
    let pixel = |k: usize| match k % 8 < 4 {
        true => seen(Vec3A::Z, if (k + k / 8).is_multiple_of(2) { 0.0 } else { 2.0 }),
        false => seen(Vec3A::X, 0.0),
    };
    let pixels: Vec<Seen> = (0..64).map(pixel).collect();
    for y in 0..8 {
        let left = smooth::colour(&pixels, [8, 8], [1, y]);
        assert!((left[0] - 0.5).abs() < 0.1, "{left:?}");
        assert_eq!(smooth::colour(&pixels, [8, 8], [4, y]), [0.0; 3]);
    }
    let sky = Seen { colour: Vec3A::ONE, ..Seen::default() };
    assert_eq!(smooth::colour(&[sky; 4], [2, 2], [0, 0]), [1.0; 3]);
}

#[test]
fn edges_are_lines_on_large_bodies_and_fade_on_small_ones() {
    let darkest = |height: f64| {
        let mut model = model();
        add_cube(&mut model, [0.0; 3], 1.0, [0.9; 3], Surface::Solid);
        let style = Style { edges: true, ..style([60, 60], 9) };
        let image = render(&model, &above(height), &style);
        image.pixels.iter().copied().min().unwrap()
    };
    let [large, small] = [darkest(2.5), darkest(30.0)];
    assert!(u32::from(large) + 20 < u32::from(small), "{large} {small}");
}
