//! Pictures against closed forms: areas of outlines, positions of shadows, light on faces, glass.

use super::super::colour::{byte, linear};
use super::*;

/// Which pixels differ from the picture of nothing, row by row.
fn mask(model: &Model3d, camera: &Camera, size: [usize; 2]) -> Vec<bool> {
    let style = style(size, 1);
    let bare = Model3d::new(model.origin, model.up);
    let [picture, empty] = [model, &bare].map(|m| render(m, camera, &style).pixels);
    picture.chunks_exact(3).zip(empty.chunks_exact(3)).map(|(a, b)| a != b).collect()
}

/// Area of the outline [m²] for a picture whose visible height is `height` [m].
fn area(model: &Model3d, height: f64, n: usize) -> f64 {
    let pixel = height / n as f64;
    mask(model, &above(height), [n, n]).iter().filter(|seen| **seen).count() as f64 * pixel * pixel
}

#[test]
fn outlines_have_the_area_of_the_projected_body() {
    let pi = std::f64::consts::PI;
    let mut sphere = model();
    sphere.add_sphere([0.1, -0.2, 3.0], 0.7, RED, Surface::Solid);
    let mut tube = model();
    tube.add_tube([-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], 0.2, RED);
    // Seen from above, a tilted tube is as long as the projection of its axis.
    let mut tilted = model();
    tilted.add_tube([-0.4, 0.1, -0.3], [0.4, 0.1, 0.3], 0.2, RED);
    let mut upright = model();
    upright.add_tube([0.0, 0.0, -0.5], [0.0, 0.0, 0.5], 0.4, RED);
    let mut cube = model();
    add_cube(&mut cube, [0.0; 3], 0.6, RED, Surface::Solid);
    // A cube seen along its diagonal is a hexagon of area √3 times that of a face.
    let mut diagonal = model();
    let turn = Quat::from_rotation_arc(glam::Vec3::ONE.normalize(), glam::Vec3::Z);
    let at = Placement { position: [0.0; 3], rotation: turn.to_array() };
    diagonal.add_mesh(&corners(0.5), CUBE.iter().map(|f| &f[..]), at, RED, Surface::Solid);
    let cap = pi * 0.2 * 0.2;
    for (name, model, expected) in [
        ("sphere", sphere, pi * 0.49),
        ("tube", tube, 2.0 * 0.2 * 1.0 + cap),
        ("tilted tube", tilted, 2.0 * 0.2 * 0.8 + cap),
        ("upright tube", upright, pi * 0.16),
        ("cube", cube, 1.44),
        ("cube along its diagonal", diagonal, 3.0_f64.sqrt()),
    ] {
        let found = area(&model, 2.0, 160);
        assert!((found / expected - 1.0).abs() < 0.01, "{name}: {found} {expected}");
    }
}

#[test]
fn outlines_of_symmetric_bodies_are_symmetric() {
    let mut model = model();
    model.add_sphere([0.0; 3], 0.31, RED, Surface::Solid);
    model.add_tube([-0.7, -0.7, 0.0], [0.7, 0.7, 0.0], 0.11, RED);
    model.add_tube([-0.7, 0.7, 0.0], [0.7, -0.7, 0.0], 0.11, RED);
    let n = 63;
    let mask = mask(&model, &above(2.0), [n, n]);
    let at = |x: usize, y: usize| mask[y * n + x];
    for y in 0..n {
        for x in 0..n {
            let mirrored = [at(n - 1 - x, y), at(x, n - 1 - y), at(y, x)];
            // Round-off may move a point of the outline past the middle of a pixel.
            let agree = mirrored.iter().filter(|m| **m == at(x, y)).count();
            assert!(agree >= 2, "{x} {y}: {} {mirrored:?}", at(x, y));
        }
    }
    assert!(at(31, 31) && !at(31, 2));
}

#[test]
fn a_sphere_in_perspective_is_seen_under_its_angle() {
    let (radius, distance, angle, n) = (0.5_f64, 4.0_f64, 0.6_f64, 201);
    let mut model = model();
    model.add_sphere([0.0; 3], radius as f32, RED, Surface::Solid);
    let projection = Projection::Perspective { angle };
    let camera = Camera { eye: [0.0, 0.0, distance], projection, ..above(1.0) };
    let mask = mask(&model, &camera, [n, n]);
    // The cone of tangents has the half angle asin(r / d), so the outline is larger than that of a disc at the centre.
    let expected = (radius / distance).asin().tan() / (0.5 * angle).tan() * 0.5 * n as f64;
    let row = mask[n * (n / 2)..n * (n / 2 + 1)].iter().filter(|seen| **seen).count() as f64;
    assert!((0.5 * row - expected).abs() < 1.0, "{row} {expected}");
}

#[test]
fn the_nearest_of_many_spheres_is_seen_from_both_sides() {
    let mut model = model();
    let colours: Vec<Colour> =
        (0..12).map(|k| ColourMap::Sequential.at(f64::from(k) / 11.0)).collect();
    for (k, colour) in colours.iter().enumerate() {
        // Behind each other, in an order that is not that of their depths.
        model.add_sphere([0.0, 0.0, (k * 5 % 12) as f64], 0.4, *colour, Surface::Solid);
    }
    let hue = |p: [f32; 3]| {
        let sum: f32 = p.iter().map(|c| linear(*c)).sum();
        p.map(|c| linear(c) / sum)
    };
    for (eye, front) in [(50.0, 11), (-50.0, 0)] {
        let camera = Camera { eye: [0.0, 0.0, eye], ..above(1.0) };
        let pixel = render(&model, &camera, &style([9, 9], 4)).pixel(4, 4);
        let seen = hue(pixel.map(|b| f32::from(b) / 255.0));
        let expected = hue(colours[(0..12).find(|k| k * 5 % 12 == front).unwrap()]);
        // The sun is slightly yellow and the sky slightly blue.
        assert!(
            seen.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.06),
            "{seen:?} {expected:?}"
        );
    }
}

#[test]
fn the_shadow_of_a_sphere_lies_where_the_sun_throws_it() {
    // From above the sun is at (−0.55, 0.45, 1): shadows move by (0.55, −0.45) per height.
    let n = 160;
    for height in [1.5_f64, 2.5] {
        let mut model = model();
        model.add_sphere([-0.6, 0.5, height], 0.3, RED, Surface::Solid);
        model.set_ground(0.0);
        let picture = render(&model, &above(4.0), &style([n, n], 16));
        let empty = render(&self::model(), &above(4.0), &style([n, n], 1));
        let (mut sum, mut place) = (0.0, [0.0; 2]);
        for y in 0..n {
            for x in 0..n {
                let dark = f64::from(empty.pixel(x, y)[1]) - f64::from(picture.pixel(x, y)[1]);
                let at = [x, n - 1 - y].map(|k| (k as f64 + 0.5) * 4.0 / n as f64 - 2.0);
                let on_ball = (at[0] + 0.6).hypot(at[1] - 0.5) < 0.33;
                if dark > 25.0 && !on_ball {
                    sum += dark;
                    place = [place[0] + dark * at[0], place[1] + dark * at[1]];
                }
            }
        }
        let found = place.map(|p| p / sum);
        let expected = [-0.6 + 0.55 * height, 0.5 - 0.45 * height];
        let apart = (found[0] - expected[0]).hypot(found[1] - expected[1]);
        assert!(apart < 0.05, "{height}: {found:?} {expected:?}");
    }
}

#[test]
fn a_face_towards_the_camera_has_the_light_of_sun_and_sky() {
    let colour = [0.6, 0.4, 0.2];
    let mut model = model();
    add_cube(&mut model, [0.0; 3], 1.0, colour, Surface::Solid);
    let picture = render(&model, &above(1.0), &style([24, 24], 64));
    // The cosine of the angle to the sun, and the mean brightness of the sky over the hemisphere, weighted with the cosine.
    let cosine = 1.0 / (0.55_f32 * 0.55 + 0.45 * 0.45 + 1.0).sqrt();
    let sky = 1.25 * (0.45 + 0.55 * (0.5 + 0.5 * 2.0 / 3.0));
    let (suns, skies) = ([0.95, 0.92, 0.85], [0.43, 0.45, 0.49]);
    for k in 0..3 {
        let light = cosine * suns[k] + sky * skies[k];
        let (found, expected) = (picture.pixel(12, 12)[k], byte(linear(colour[k]) * light));
        assert!(found.abs_diff(expected) <= 2, "component {k}: {found} {expected}");
    }
}

#[test]
fn ghosts_blend_layer_by_layer_and_those_far_behind_are_clear() {
    let square: Vec<[f32; 3]> = corners(1.0)[..4].iter().map(|v| [v[0], v[1], 0.0]).collect();
    let face: &[u32] = &[0, 1, 3, 2];
    // Beside the diagonal, which belongs to both triangles of a square.
    let background = render(&model(), &above(1.0), &style([9, 9], 1)).pixel(6, 4);
    for layers in 0..9 {
        let mut model = model();
        for k in 0..layers {
            let at = Placement { position: [0.0, 0.0, f64::from(k)], rotation: STILL };
            model.add_mesh(&square, std::iter::once(face), at, BLUE, Surface::Ghost);
        }
        let found = render(&model, &above(1.0), &style([9, 9], 1)).pixel(6, 4);
        // Each layer takes 8 % of the light, up to the fifth.
        let clear = 0.92_f32.powi(layers.min(5));
        for k in 0..3 {
            let behind = linear(f32::from(background[k]) / 255.0);
            let expected = byte(clear * behind + (1.0 - clear) * 0.8 * linear(BLUE[k]));
            assert!(found[k].abs_diff(expected) <= 1, "{layers} layers: {found:?} {expected}");
        }
    }
}

#[test]
fn walls_do_not_darken_bodies_but_bodies_do() {
    let brightness = |surface: Surface| {
        let mut model = model();
        add_cube(&mut model, [0.0; 3], 1.0, [0.7; 3], Surface::Solid);
        // Between the cube and the sun, outside of the picture.
        add_cube(&mut model, [-2.75, 2.25, 5.0], 0.8, [0.7; 3], surface);
        u32::from(render(&model, &above(0.5), &style([9, 9], 16)).pixel(4, 4)[0])
    };
    let [wall, solid] = [brightness(Surface::Wall), brightness(Surface::Solid)];
    assert!(solid + 40 < wall, "{solid} {wall}");
}

/// A ball beside a turned cube on a tube, all sizes times a factor.
fn scaled(factor: f64) -> Image {
    let mut model = model();
    let size = |x: f64| (x * factor) as f32;
    let at = |p: [f64; 3]| p.map(|x| x * factor);
    model.add_sphere(at([0.75, 0.25, 0.5]), size(0.5), BLUE, Surface::Solid);
    add_cube(&mut model, at([-0.5, 0.0, 0.25]), size(0.25), RED, Surface::Solid);
    model.add_tube(at([-1.0, -0.5, 0.125]), at([1.0, -0.5, 0.25]), size(0.125), [0.5; 3]);
    add_cube(&mut model, at([0.0, 0.0, 0.75]), size(1.25), colour::WALL, Surface::Wall);
    model.set_ground(-0.5 * factor);
    let [look, up] = View::Iso.directions([0.0, 0.0, 1.0]);
    let camera = Camera::fit(&model.extent(), look, up, 1.25, false);
    render(&model, &camera, &Style { size: [50, 40], samples: 4, ..Style::default() })
}

#[test]
fn a_scene_of_micrometres_looks_like_one_of_kilometres() {
    let metres = scaled(1.0);
    for power in [-20, -13, 10, 20] {
        // Multiplication by a power of two is exact.
        let other = scaled(2.0_f64.powi(power));
        assert!(other == metres, "2^{power}");
    }
}

#[test]
fn a_scene_far_from_the_origin_looks_like_one_at_it() {
    let seen = |origin: [f64; 3]| {
        let mut model = Model3d::new(origin, [0.0, 0.0, 1.0]);
        let at = |p: [f64; 3]| std::array::from_fn(|k| origin[k] + p[k]);
        model.add_sphere(at([0.5, 0.25, 0.5]), 0.5, BLUE, Surface::Solid);
        add_cube(&mut model, at([-0.5, 0.0, 0.25]), 0.25, RED, Surface::Solid);
        model.set_ground(origin[2]);
        let [look, up] = View::Iso.directions([0.0, 0.0, 1.0]);
        let camera = Camera::fit(&model.extent(), look, up, 1.0, false);
        render(&model, &camera, &style([40, 40], 4))
    };
    let [here, there] = [seen([0.0; 3]), seen([1048576.0, -1048576.0, 4096.0])];
    let differing = here.pixels.iter().zip(&there.pixels).filter(|(a, b)| a.abs_diff(**b) > 3);
    assert!(differing.count() < 12);
}

#[test]
fn pictures_of_any_size_are_drawn_and_equal_on_any_number_of_threads() {
    let mut model = model();
    model.add_sphere([0.0; 3], 0.4, RED, Surface::Solid);
    model.set_ground(-0.5);
    for size in [[1, 1], [1, 7], [9, 1], [5, 3], [2, 33]] {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                render(&model, &above(1.0), &Style { size, samples: 3, ..Style::default() })
            })
        };
        let pictures = [1, 2, 3].map(with);
        assert_eq!(pictures[0].pixels.len(), 3 * size[0] * size[1]);
        assert!(pictures[0] == pictures[1] && pictures[0] == pictures[2], "{size:?}");
        assert_eq!(read_png(&pictures[0].to_png()), pictures[0], "{size:?}");
    }
}

#[test]
fn faces_without_area_and_vertices_without_a_place_do_not_spoil_a_picture() {
    let mut whole = model();
    add_cube(&mut whole, [0.0; 3], 0.5, RED, Surface::Solid);
    let mut damaged = model();
    let mut vertices = corners(0.5);
    vertices.extend([[0.5, 0.0, 0.0]; 2]);
    // A point, a line, a face with a corner twice, an empty one, one of two corners, one out of range.
    let faces: [&[u32]; 6] = [&[8, 9, 8], &[0, 8, 9], &[0, 0, 1], &[], &[0, 1], &[0, 1, 4_000_000]];
    let at = Placement { position: [0.0; 3], rotation: STILL };
    let all = CUBE.iter().map(|f| &f[..]).chain(faces);
    damaged.add_mesh(&vertices, all, at, RED, Surface::Solid);
    let draw = |model: &Model3d| render(model, &above(2.0), &style([30, 30], 4));
    assert_eq!(draw(&damaged), draw(&whole));
    for bad in [f32::NAN, f32::INFINITY] {
        let mut model = whole.clone();
        let mut vertices = corners(0.5);
        vertices[3][1] = bad;
        model.add_mesh(&vertices, CUBE.iter().map(|f| &f[..]), at, BLUE, Surface::Solid);
        let picture = draw(&model);
        let middle = picture.pixel(15, 15);
        assert!(middle[0] > 0 && picture.pixel(1, 1) == draw(&whole).pixel(1, 1), "{middle:?}");
    }
}

#[test]
fn bodies_of_radius_zero_and_cameras_at_their_target_are_drawn_without_a_panic() {
    let mut model = model();
    model.add_sphere([0.0; 3], 0.0, RED, Surface::Solid);
    model.add_tube([0.0; 3], [0.0; 3], 0.0, RED);
    model.add_tube([1.0; 3], [1.0; 3], 0.5, RED);
    let [look, up] = View::Top.directions([0.0, 0.0, 1.0]);
    let fitted = Camera::fit(&model.extent(), look, up, 1.0, true);
    let nowhere = Camera { eye: [1.0; 3], target: [1.0; 3], up: [0.0; 3], ..above(1.0) };
    let narrow = Camera { projection: Projection::Perspective { angle: 0.0 }, ..above(1.0) };
    for camera in [fitted, nowhere, narrow] {
        assert_eq!(render(&model, &camera, &style([6, 6], 2)).pixels.len(), 108);
    }
    // The tube without a length is a sphere.
    let camera = Camera { eye: [1.0, 1.0, 50.0], target: [1.0; 3], ..above(2.0) };
    let seen = mask(&model, &camera, [100, 100]).iter().filter(|seen| **seen).count() as f64;
    assert!((seen / 2500.0 - std::f64::consts::FRAC_PI_4).abs() < 0.01, "{seen}");
}

#[test]
fn themes_change_the_background_and_not_the_bodies() {
    let mut model = model();
    model.add_sphere([0.0; 3], 0.4, RED, Surface::Solid);
    let with = |theme: Theme| render(&model, &above(1.0), &Style { theme, ..style([20, 20], 4) });
    let [light, dark] = [with(Theme::Light), with(Theme::Dark)];
    assert_eq!(light.pixel(10, 10), dark.pixel(10, 10));
    assert!(light.pixel(0, 0)[0] > 200 && dark.pixel(0, 0)[0] < 60);
}
