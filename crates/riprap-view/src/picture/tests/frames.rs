//! Models of frames: cuts, force chains, colours and the range of their scale.

use super::super::geometry::Primitive;
use super::super::scene::Drawing;
use super::*;

fn tubes(model: &Model3d) -> Vec<(f32, f32)> {
    let tube = |(primitive, _): &(Primitive, u32)| match primitive {
        Primitive::Tube { axis, radius, .. } => Some((axis.length(), *radius)),
        _ => None,
    };
    model.solids.iter().filter_map(tube).collect()
}

/// Total area of the triangles [m²].
fn area(list: &[(Primitive, u32)]) -> f32 {
    let of = |(primitive, _): &(Primitive, u32)| match primitive {
        Primitive::Triangle { a, b, .. } => 0.5 * a.cross(*b).length(),
        _ => 0.0,
    };
    list.iter().map(of).sum()
}

#[test]
fn a_cut_removes_exactly_one_side_of_a_turned_wall() {
    let (mut model, mut poses, _) = frame();
    model.kinds[..2].fill(Kind::Fixed);
    poses.rotation[2] = Quat::from_axis_angle(glam::Vec3::ONE.normalize(), 0.7).to_array();
    let frame = FrameData { model: &model, poses: &poses, contacts: None, first: None };
    let walls = |cut: Option<&str>| {
        let cut = cut.map(|text| Cut::parse(text).unwrap());
        // Only the turned wall.
        let hide = vec!["a".into(), "b".into(), "floor".into()];
        draw(frame, &Choice { cut, hide, ..Choice::default() }, None).model
    };
    assert!((area(&walls(None).walls) - 6.0).abs() < 1e-5);
    for (axis, at) in [("x", 1.9), ("y", 0.2), ("z", 0.35)] {
        let [above, below] = [">", "<"].map(|sign| walls(Some(&format!("{axis}{sign}{at}"))));
        let parts = [&above, &below].map(|model| area(&model.walls));
        assert!(parts.iter().all(|part| *part > 0.5), "{axis}: {parts:?}");
        assert!((parts[0] + parts[1] - 6.0).abs() < 1e-4, "{axis}: {parts:?}");
        let k = ["x", "y", "z"].iter().position(|name| *name == axis).unwrap();
        // Without `above` what is left is below, and the other way round.
        for (model, sign) in [(&above, 1.0), (&below, -1.0)] {
            for (primitive, _) in &model.walls {
                for (corner, _) in primitive.corners() {
                    let place = f64::from(corner[k]) + model.origin[k];
                    assert!(sign * (place - at) < 1e-5, "{axis}: {place} {at}");
                }
            }
        }
    }
    // A plane beside the wall removes nothing or everything.
    assert!((area(&walls(Some("x>9")).walls) - 6.0).abs() < 1e-5);
    assert_eq!(area(&walls(Some("x<9")).walls), 0.0);
}

#[test]
fn stones_are_cut_by_their_centres_and_chains_by_their_contacts() {
    let (model, poses, contacts) = frame();
    let frame = FrameData { model: &model, poses: &poses, contacts: Some(&contacts), first: None };
    // Stones at heights 0.5 and 1.5, contacts at 1 and 0.
    for (cut, stones, chains) in [
        ("z>2", 2, 2),
        ("z>1.5", 2, 2),
        ("z>1.4", 1, 2),
        ("z>0.9", 1, 1),
        ("z<0.5", 2, 1),
        ("z<1.1", 1, 0),
    ] {
        let cut = Some(Cut::parse(cut).unwrap());
        let solids = draw(frame, &Choice { cut, ..Choice::default() }, None).model.solids.len();
        assert_eq!(solids, 12 * stones, "{cut:?}");
        let choice = Choice { cut, chains: true, ..Choice::default() };
        assert_eq!(tubes(&draw(frame, &choice, None).model).len(), chains, "{cut:?}");
    }
}

#[test]
fn force_chains_reach_from_centre_to_centre_and_widen_with_the_root_of_the_force() {
    let (mut model, poses, contacts) = frame();
    model.size = vec![0.5, 0.5, 0.5, 0.5];
    let frame = FrameData { model: &model, poses: &poses, contacts: Some(&contacts), first: None };
    let Drawing { model: drawn, legends } =
        draw(frame, &Choice { chains: true, ..Choice::default() }, None);
    // From stone to stone 1 m; from a stone to the contact with the floor 0.5 m.
    let expected = [(1.0, 0.5 * (0.02 + 0.16 * 0.5_f32.sqrt())), (0.5, 0.5 * (0.02 + 0.16))];
    for ((length, radius), found) in expected.into_iter().zip(tubes(&drawn)) {
        assert!((found.0 - length).abs() < 1e-6 && (found.1 - radius).abs() < 1e-6, "{found:?}");
    }
    assert_eq!(legends[0].title, "normal force [N]");
    // Forces below a hundredth of the largest, and pulling ones, are not drawn.
    let weak = ContactSet { force: vec![[0.0, 0.0, 0.09], [0.0, 0.0, 10.0]], ..contacts.clone() };
    let chains = Choice { chains: true, ..Choice::default() };
    let of_weak = draw(FrameData { contacts: Some(&weak), ..frame }, &chains, None).model;
    assert_eq!(tubes(&of_weak).len(), 1);
    let pulling = ContactSet { force: vec![[0.0, 0.0, -3.0]; 2], ..contacts.clone() };
    for contacts in [Some(&pulling), None] {
        let drawing = draw(FrameData { contacts, ..frame }, &chains, None);
        assert!(drawing.legends.is_empty() && tubes(&drawing.model).is_empty());
    }
}

#[test]
fn bodies_are_hidden_by_name_pattern_or_as_walls() {
    let (model, poses, _) = frame();
    let frame = FrameData { model: &model, poses: &poses, contacts: None, first: None };
    for (hide, solids, walls) in [
        (&["a"][..], 12, 12),
        (&["*"], 0, 0),
        (&["w*"], 24, 0),
        (&["wall?"], 24, 12),
        (&["A"], 24, 12),
        (&["a", "b", "wall"], 0, 0),
        (&["walls", "b"], 12, 0),
        (&[""], 24, 12),
    ] {
        let hide = hide.iter().map(|name| (*name).to_owned()).collect();
        let drawn = draw(frame, &Choice { hide, ..Choice::default() }, None).model;
        assert_eq!((drawn.solids.len(), drawn.walls.len()), (solids, walls));
    }
}

/// Spheres in a row with these speeds.
fn spheres(speeds: &[f32]) -> (Model, Poses) {
    let n = speeds.len();
    let model = Model {
        names: (0..n).map(|k| format!("s{k}")).collect(),
        materials: vec!["rock".into(), "steel".into()],
        ids: (0..n as u32).collect(),
        kinds: vec![Kind::Free; n],
        material: (0..n as u32).collect(),
        mass: vec![1.0; n],
        size: vec![1.0; n],
        radius: vec![0.5; n],
        unbounded: vec![false; n],
        first_vertex: vec![0; n + 1],
        first_face: vec![0; n + 1],
        face_offsets: vec![0],
        gravity: [0.0, 0.0, -9.81],
        ..Model::default()
    };
    let position = (0..n).map(|k| [k as f64, 0.0, 0.0]).collect();
    let velocity = speeds.iter().map(|v| [0.0, *v, 0.0]).collect();
    (model, Poses { position, velocity, rotation: vec![STILL; n], ..Poses::default() })
}

#[test]
fn colours_follow_the_scale_and_its_ends() {
    let (model, poses) = spheres(&[0.0, 1.0, 2.0, -4.0]);
    let frame = FrameData { model: &model, poses: &poses, contacts: None, first: None };
    let choice = Choice { colour_by: ColourBy::Speed, ..Choice::default() };
    let colours = |range: Option<[f64; 2]>| -> Vec<Colour> {
        draw(frame, &choice, range).model.bodies.iter().map(|look| look.colour).collect()
    };
    let at = |fractions: [f64; 4]| fractions.map(|f| ColourMap::Sequential.at(f));
    assert_eq!(colours(None), at([0.0, 0.25, 0.5, 1.0]));
    // A range of the whole film; values outside have the colour of its end.
    assert_eq!(colours(Some([1.0, 2.0])), at([0.0, 0.0, 1.0, 1.0]));
    let legend = &draw(frame, &choice, Some([1.0, 2.0])).legends[0];
    assert_eq!((legend.title.as_str(), legend.range), ("speed [m/s]", [1.0, 2.0]));
    // Without a range, such as for equal values, the scale has a length all the same.
    assert_eq!(draw(frame, &choice, Some([3.0, 3.0])).legends[0].range, [3.0, 4.0]);
    let materials = Choice { colour_by: ColourBy::Material, ..Choice::default() };
    let drawing = draw(frame, &materials, None);
    assert!(drawing.legends.is_empty());
    let expected: Vec<Colour> = (0..4).map(colour::category).collect();
    assert_eq!(drawing.model.bodies.iter().map(|look| look.colour).collect::<Vec<_>>(), expected);
}

#[test]
fn the_scale_ignores_values_that_are_not_numbers_and_the_largest_hundredth() {
    let mut speeds: Vec<f32> = (1..=200).map(|k| k as f32).collect();
    let range = |speeds: &[f32]| {
        let (model, poses) = spheres(speeds);
        let frame = FrameData { model: &model, poses: &poses, contacts: None, first: None };
        frame.range(ColourBy::Speed)
    };
    // The 99th of 100 parts of 200 values: 198 of them are at most this.
    assert_eq!(range(&speeds), Some([0.0, 199.0]));
    (speeds[7], speeds[199]) = (f32::NAN, 1e9);
    assert!(range(&speeds).unwrap()[1] <= 199.0);
    assert_eq!(range(&[f32::NAN]), None);
    assert_eq!(range(&[]), None);
}

#[test]
fn displacements_are_matched_by_id_when_bodies_come_and_go() {
    let (first, begin) = spheres(&[0.0; 3]);
    let (mut later, mut poses) = spheres(&[0.0; 3]);
    // Body 0 has gone, bodies 1 and 2 moved up a row, body 7 is from a break.
    later.ids = vec![1, 2, 7];
    poses.position = vec![[1.0, 0.0, 0.5], [2.0, 3.0, 4.0], [9.0, 9.0, 9.0]];
    let first = Some((&first, &begin));
    let frame = FrameData { model: &later, poses: &poses, contacts: None, first };
    assert_eq!(frame.values(ColourBy::Displacement), [0.5, 5.0, 0.0]);
    let frame = FrameData { first: None, ..frame };
    assert_eq!(frame.values(ColourBy::Displacement), [0.0; 3]);
}

#[test]
fn contacts_of_bodies_that_do_not_exist_are_ignored() {
    let (model, poses) = spheres(&[0.0; 2]);
    let contacts = ContactSet {
        point: vec![[0.5, 0.0, 0.0]; 3],
        force: vec![[2.0, 0.0, 0.0]; 3],
        normal: vec![[1.0, 0.0, 0.0]; 3],
        bodies: vec![[0, 1], [1, 77], [u32::MAX, 0]],
        ..ContactSet::default()
    };
    let frame = FrameData { model: &model, poses: &poses, contacts: Some(&contacts), first: None };
    assert_eq!(frame.values(ColourBy::Force), [4.0, 4.0]);
    assert_eq!(frame.values(ColourBy::Coordination), [1.0, 1.0]);
    let drawn = draw(frame, &Choice { chains: true, ..Choice::default() }, None).model;
    // From centre to centre, and from a centre to the contact point.
    assert_eq!(
        tubes(&drawn).iter().map(|(length, _)| *length).collect::<Vec<_>>(),
        [1.0, 0.5, 0.5]
    );
}

#[test]
fn up_is_against_gravity_and_without_it_the_usual_axis() {
    let (mut model, poses) = spheres(&[0.0]);
    for (gravity, planar, up) in [
        ([0.0, 0.0, -9.81], false, [0.0, 0.0, 1.0]),
        ([0.0, 2.0, 0.0], false, [0.0, -1.0, 0.0]),
        ([0.0; 3], false, [0.0, 0.0, 1.0]),
        ([0.0; 3], true, [0.0, 1.0, 0.0]),
        ([f64::NAN; 3], false, [0.0, 0.0, 1.0]),
    ] {
        (model.gravity, model.planar) = (gravity, planar);
        let frame = FrameData { model: &model, poses: &poses, contacts: None, first: None };
        assert_eq!(frame.up().map(|x| x + 0.0), up, "{gravity:?} {planar}");
    }
}

#[test]
fn a_run_without_bodies_is_drawn_as_background() {
    let (model, poses) = (Model::default(), Poses::default());
    let frame = FrameData { model: &model, poses: &poses, contacts: None, first: None };
    for colour_by in [ColourBy::Nothing, ColourBy::Speed, ColourBy::Size, ColourBy::Material] {
        let choice = Choice { colour_by, chains: true, ..Choice::default() };
        let drawing = draw(frame, &choice, None);
        assert!(drawing.legends.is_empty() && drawing.model.extent().is_empty());
        let picture = render(&drawing.model, &above(1.0), &style([6, 6], 1));
        assert_eq!(picture, render(&self::model(), &above(1.0), &style([6, 6], 1)));
    }
}
