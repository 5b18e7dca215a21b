//! Stones from a folder of scans: reading, reduction, scaling, and invalid input.

use std::f64::consts::{PI, TAU};
use std::path::{Path, PathBuf};

use riprap::grains::sieve_size;
use riprap::scene::Body;
use riprap::shape::Shape;
use riprap_io::scene_file::{GrainShape, SceneErrors, SceneFile};

/// A temporary folder.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("riprap-scans-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("scans")).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.0.join("scans").join(name), content).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Vertices and triangles of a bumpy ellipsoid on a grid of latitudes and longitudes, in
/// millimetres.
fn pebble(n: usize, bump: f64) -> (Vec<[f64; 3]>, Vec<[usize; 3]>) {
    let mut vertices = vec![[0.0, 0.0, 20.0], [0.0, 0.0, -20.0]];
    let mut triangles = Vec::new();
    let at = |i: usize, j: usize| 2 + (i - 1) * n + j % n;
    for i in 1..n {
        for j in 0..n {
            let (theta, phi) = (PI * i as f64 / n as f64, TAU * j as f64 / n as f64);
            let r = 1.0 + bump * (3.0 * theta).sin() * (4.0 * phi).cos();
            let (x, y) = (40.0 * theta.sin() * phi.cos(), 30.0 * theta.sin() * phi.sin());
            vertices.push([r * x + 100.0, r * y, r * 20.0 * theta.cos()]);
            if i + 1 < n {
                triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
                triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
            }
        }
    }
    for j in 0..n {
        triangles.push([0, at(1, j), at(1, j + 1)]);
        triangles.push([1, at(n - 1, j + 1), at(n - 1, j)]);
    }
    vertices[0][0] = 100.0;
    vertices[1][0] = 100.0;
    (vertices, triangles)
}

fn obj((vertices, triangles): &(Vec<[f64; 3]>, Vec<[usize; 3]>)) -> String {
    let v = vertices.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    let f = triangles.iter().map(|t| format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    v.chain(f).collect()
}

fn ply((vertices, triangles): &(Vec<[f64; 3]>, Vec<[usize; 3]>)) -> String {
    let v = vertices.iter().map(|[x, y, z]| format!("{x} {y} {z}\n"));
    let f = triangles.iter().map(|[a, b, c]| format!("3 {a} {b} {c}\n"));
    let head = format!(
        "ply\nformat ascii 1.0\nelement vertex {}\nproperty double x\nproperty double y\nproperty double z\nelement face {}\n\
         property list uchar int vertex_indices\nend_header\n",
        vertices.len(),
        triangles.len()
    );
    std::iter::once(head).chain(v).chain(f).collect()
}

fn scene(stones: &str) -> String {
    format!(
        "seed = 4\n[run]\ndt = \"1 ms\"\nuntil = \"10 ms\"\n[materials.rock]\ndensity = 2700\nfriction = 0.6\n[[grains]]\n\
         name = \"ballast\"\nmaterial = \"rock\"\ngenerator = \"rain\"\nstones = {stones}\n\
         grading = {{ uniform = [\"30 mm\", \"50 mm\"] }}\ncount = 40\n\
         box = {{ min = [-0.2, -0.2, 0], max = [0.2, 0.2, 1] }}\n"
    )
}

fn read(folder: &Folder, stones: &str) -> Result<SceneFile, SceneErrors> {
    SceneFile::parse(&scene(stones), &folder.0)
}

#[test]
fn stones_have_reduced_vertices_and_the_sizes_of_the_grading() {
    let folder = Folder::new("sizes");
    folder.write("b.OBJ", obj(&pebble(24, 0.1)));
    folder.write("a.ply", ply(&pebble(30, 0.0)));
    folder.write("notes.txt", "not a stone");
    std::fs::create_dir(folder.0.join("scans/old.stl")).unwrap();
    let file = read(&folder, "{ folder = \"scans\", max_vertices = 20 }").unwrap();
    let GrainShape::Scans { scans, .. } = &file.grains[0].shape else { panic!() };
    let names: Vec<&str> = scans.iter().map(|scan| scan.file.as_str()).collect();
    assert_eq!(names, ["a.ply", "b.OBJ"]);
    for scan in scans.iter() {
        assert_eq!(scan.points.len(), 20);
        assert!(scan.n_hull > 100 && scan.n_vertices >= scan.n_hull, "{scan:?}");
        assert!((0.05..0.35).contains(&scan.volume_error()), "{}", scan.volume_error());
        let solidity = scan.volume.unwrap() / scan.hull_volume;
        assert!(solidity <= 1.0 + 1e-12 && solidity > 0.7, "{solidity}");
    }
    // The first is already convex.
    assert!((scans[0].volume.unwrap() / scans[0].hull_volume - 1.0).abs() < 1e-12);

    let built = file.build().unwrap();
    let sizes = &built.groups[0].sizes;
    let mut corners = std::collections::BTreeSet::new();
    for (i, size) in built.groups[0].bodies.clone().zip(sizes) {
        let shape = built.scene.shape(Body(i as u32));
        let Shape::Polyhedron(stone) = shape else { panic!("{shape:?}") };
        assert!((sieve_size(stone) / size - 1.0).abs() < 1e-6, "of {size}");
        assert!(stone.centre().norm() < 1e-9 * size);
        corners.insert(format!("{:.6}", stone.unit_mass().mass / size.powi(3)));
    }
    assert_eq!(corners.len(), 2, "both stones are drawn: {corners:?}");
}

#[test]
fn a_seed_and_the_resolved_scene_give_the_same_stones() {
    let folder = Folder::new("same");
    folder.write("a.obj", obj(&pebble(12, 0.0)));
    folder.write("b.obj", obj(&pebble(14, 0.1)));
    let file = read(&folder, "{ folder = \"scans\" }").unwrap();
    let again = SceneFile::parse(&file.to_toml(), Path::new("/")).unwrap();
    assert_eq!(file, again);
    let begin = |file: &SceneFile| file.build().unwrap().scene.initial_state();
    assert_eq!(begin(&file), begin(&again));

    // The scene is identified by the content of the files, wherever they are.
    let moved = Folder::new("moved");
    moved.write("a.obj", obj(&pebble(12, 0.0)));
    moved.write("b.obj", obj(&pebble(14, 0.1)));
    let other = read(&moved, "{ folder = \"scans\" }").unwrap();
    assert_eq!(file.identity(), other.identity());
    moved.write("b.obj", obj(&pebble(14, 0.11)));
    let other = read(&moved, "{ folder = \"scans\" }").unwrap();
    assert_ne!(file.identity(), other.identity());
}

#[test]
fn an_invalid_stone_is_rejected_with_its_file_name() {
    let folder = Folder::new("refused");
    let refused = |stones: &str, what: &str| {
        let errors = read(&folder, stones).unwrap_err();
        let all: Vec<&str> = errors.problems.iter().map(|p| p.message.as_str()).collect();
        assert!(all.iter().any(|message| message.contains(what)), "{what}: {all:?}");
    };
    refused("{ folder = \"none\" }", "none");
    refused("{ folder = \"scans\" }", "contains no .stl, .obj or .ply files");
    refused("{ max_vertices = 20 }", "`folder` is missing");
    folder.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
    refused("{ folder = \"scans\" }", "flat.obj");
    folder.write("flat.obj", "v 0 0 0\nv 1 0\n");
    refused("{ folder = \"scans\" }", "flat.obj, line 2");
    folder.write("flat.obj", obj(&pebble(12, 0.0)));
    refused(
        "{ folder = \"scans\", flatness = 0.5 }",
        "`folder` and `flatness` are mutually exclusive",
    );
    refused("{ folder = \"scans\", max_vertices = 3 }", "max_vertices");
    read(&folder, "{ folder = \"scans\", max_vertices = 4 }").unwrap();
}
