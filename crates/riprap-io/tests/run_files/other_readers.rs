//! Run files as programs without riprap read them: with an independent HDF5 library, by the rules of VTKHDF.

use std::collections::BTreeMap;
use std::path::Path;

use hdf5_pure::{AttrValue, File, Group};
use riprap_io::run_file::{FILE, RunFile};
use riprap_io::scene_file::SceneFile;

use super::{example, read, scene};

/// A block of a time series of VTKHDF.
struct Block<'a>(&'a File, &'a str);

impl Block<'_> {
    fn group(&self, path: &str) -> Group {
        self.0.group(&format!("VTKHDF/{}{path}", self.1)).unwrap()
    }

    fn shape(&self, path: &str) -> Vec<u64> {
        let path = format!("VTKHDF/{}/{path}", self.1);
        self.0.dataset(&path).and_then(|d| d.shape()).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// A number of a row.
    fn number(&self, path: &str, row: u64, component: usize) -> u64 {
        let path = format!("VTKHDF/{}/{path}", self.1);
        let rows = self.0.dataset(&path).and_then(|d| d.read_i64_rows(row, 1));
        rows.unwrap_or_else(|e| panic!("{path}: {e}"))[component] as u64
    }

    fn reals(&self, path: &str, first: u64, n: u64) -> Vec<f32> {
        let path = format!("VTKHDF/{}/{path}", self.1);
        let rows = self.0.dataset(&path).and_then(|d| d.read_f32_rows(first, n));
        rows.unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    fn integers(&self, path: &str, first: u64, n: u64) -> Vec<i32> {
        let path = format!("VTKHDF/{}/{path}", self.1);
        let rows = self.0.dataset(&path).and_then(|d| d.read_i32_rows(first, n));
        rows.unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// Number of the part of a step.
    fn part(&self, k: u64) -> u64 {
        self.number("Steps/PartOffsets", k, 0)
    }

    /// Corners of the cells of a kind in a step, as VTK finds them.
    fn cells(&self, (kind, name): (usize, &str), k: u64) -> Vec<Vec<i32>> {
        let part = self.part(k);
        let count = |part: u64| self.number(&format!("{name}/NumberOfCells"), part, 0);
        let n = count(part);
        if n == 0 {
            return Vec::new();
        }
        let ids = self.number(&format!("{name}/NumberOfConnectivityIds"), part, 0);
        // VTK adds one row for each part before, as long as those have fewer cells than are before this one.
        let start = self.number("Steps/CellOffsets", k, kind);
        let (mut before, mut first) = (0, start);
        for part in 0..part {
            if before >= start {
                break;
            }
            first += 1;
            before += count(part);
        }
        let offsets = self.integers(&format!("{name}/Offsets"), first, n + 1);
        let first = self.number("Steps/ConnectivityIdOffsets", k, kind);
        let corners = self.integers(&format!("{name}/Connectivity"), first, ids);
        assert_eq!((offsets[0], *offsets.last().unwrap()), (0, ids as i32), "{name} of {}", self.1);
        offsets.windows(2).map(|p| corners[p[0] as usize..p[1] as usize].to_vec()).collect()
    }
}

const TOPOLOGIES: [&str; 4] = ["Vertices", "Lines", "Polygons", "Strips"];

/// Checks that every array of a file is as long as its steps require, and returns the names of the blocks.
fn check_rules(path: &Path, n_steps: usize) -> Vec<String> {
    let file = File::open(path).unwrap();
    let vtk = file.group("VTKHDF").unwrap();
    let attributes = vtk.attrs().unwrap();
    let text = |value: &AttrValue| format!("{value:?}");
    assert!(text(&attributes["Type"]).contains("PartitionedDataSetCollection"));
    assert!(matches!(&attributes["Version"], AttrValue::I64Array(v) if v == &[2, 3]));
    let mut blocks: BTreeMap<i64, String> = BTreeMap::new();
    for name in vtk.groups().unwrap().into_iter().filter(|name| name != "Assembly") {
        let block = Block(&file, &name);
        let attributes = block.group("").attrs().unwrap();
        assert!(text(&attributes["Type"]).contains("PolyData"), "{name}");
        let AttrValue::I64(index) = attributes["Index"] else { panic!("{name}") };
        check_block(&block, n_steps as u64);
        blocks.insert(index, name);
    }
    assert!(blocks.keys().copied().eq(0..blocks.len() as i64), "{blocks:?}");
    // The assembly has a node for each, in order.
    let nodes = file.group("VTKHDF/Assembly").unwrap().groups().unwrap();
    assert!(blocks.values().all(|name| nodes.contains(name)), "{nodes:?}");
    blocks.into_values().collect()
}

fn check_block(block: &Block, n_steps: u64) {
    let steps = block.group("/Steps").attrs().unwrap();
    assert!(matches!(steps["NSteps"], AttrValue::I64(n) if n as u64 == n_steps), "{}", block.1);
    assert_eq!(block.shape("Steps/Values"), [n_steps], "{}", block.1);
    for name in ["NumberOfParts", "PartOffsets", "PointOffsets"] {
        assert_eq!(block.shape(&format!("Steps/{name}")), [n_steps], "{} {name}", block.1);
    }
    for k in 0..n_steps {
        assert_eq!(block.number("Steps/NumberOfParts", k, 0), 1);
        let n_points = block.number("NumberOfPoints", block.part(k), 0);
        let end = block.number("Steps/PointOffsets", k, 0) + n_points;
        assert!(end <= block.shape("Points")[0], "{} at {k}", block.1);
        let mut n_cells = 0;
        for (kind, name) in TOPOLOGIES.into_iter().enumerate() {
            // The number of cells of a kind that a block does not have is in an array of zeros.
            let cells = block.cells((kind, name), k);
            n_cells += cells.len() as u64;
            let inside = |corner: &i32| (0..n_points as i32).contains(corner);
            assert!(cells.iter().flatten().all(inside), "{} at {k}", block.1);
        }
        for (data, offsets, n) in
            [("PointData", "PointDataOffsets", n_points), ("CellData", "CellDataOffsets", n_cells)]
        {
            let names = match block.0.group(&format!("VTKHDF/{}/{data}", block.1)) {
                Ok(group) => group.datasets().unwrap(),
                Err(_) => continue,
            };
            assert!(!names.is_empty());
            for name in names {
                let first = block.number(&format!("Steps/{offsets}/{name}"), k, 0);
                let rows = block.shape(&format!("{data}/{name}"))[0];
                assert!(first + n <= rows, "{}/{name} at {k}: {first} + {n} of {rows}", block.1);
            }
        }
    }
}

#[test]
fn every_kind_of_scene_follows_the_rules_of_vtkhdf() {
    let mut ropes = SceneFile::read("tests/data/ropes.toml").unwrap();
    (ropes.run.frames_every, ropes.run.contacts_every) = (0.03, 0.01);
    ropes.run.force_chains = true;
    let cases: [(SceneFile, &[&str]); 5] = [
        (ropes, &["stones", "walls", "centres", "contacts", "ropes", "chains"]),
        (scene(STONES), &["stones", "machines", "walls", "centres", "contacts"]),
        (example("four-bar", 0.1, 0.02), &["machines", "centres", "contacts"]),
        (example("cantilever", 0.01, 0.002), &["flexible", "centres", "contacts"]),
        (example("arch", 0.01, 0.002), &["stones", "walls", "centres", "contacts"]),
    ];
    for (scene, expected) in cases {
        let (out, file) = read(&scene);
        let blocks = check_rules(&out.path().join("run").join(FILE), file.times().len());
        assert_eq!(blocks, expected, "{:?}", scene.title);
    }
}

/// Stones that slide and collide in front of a pusher.
const STONES: &str = r#"
run = { dt = "1 ms", until = "30 ms", output_every = "5 ms", contacts_every = "10 ms" }
materials.rock = { density = 2700, friction = 0.4 }
materials.steel = { density = 7800, friction = 0.2 }
[[body]]
name = "floor"
kind = "fixed"
material = "rock"
shape = { type = "half-space" }
[[body]]
name = "pusher"
kind = "moving"
material = "steel"
position = [-0.151, 0, 0.1]
shape = { type = "box", size = [0.1, 0.4, 0.2] }
motion = { velocity = [1, 0, 0] }
[[body]]
name = "Größe-3"
material = "rock"
position = [0, 0, 0.1]
shape = { type = "box", size = [0.2, 0.2, 0.2] }
[[body]]
name = "ball"
material = "steel"
position = [0.22, 0, 0.1]
shape = { type = "sphere", radius = 0.1 }
"#;

#[test]
fn another_library_reads_what_our_reader_reads() {
    let (out, ours) = read(&scene(STONES));
    let path = out.path().join("run").join(FILE);
    let file = File::open(&path).unwrap();
    let model = ours.model(0).unwrap();
    for k in 0..ours.times().len() {
        let step = k as u64;
        let centres = Block(&file, "centres");
        let n = centres.number("NumberOfPoints", centres.part(step), 0);
        assert_eq!(n, 4);
        let first = centres.number("Steps/PointOffsets", step, 0);
        let poses = ours.frame(k).unwrap();
        let points =
            file.dataset("VTKHDF/centres/Points").unwrap().read_f64_rows(first, n).unwrap();
        assert_eq!(points, poses.position.concat());
        let data = |name: &str| centres.reals(&format!("PointData/{name}"), first, n);
        assert_eq!(data("rotation"), poses.rotation.concat());
        assert_eq!(data("velocity [m s^-1]"), poses.velocity.concat());
        assert_eq!(data("angular velocity [rad s^-1]"), poses.angular_velocity.concat());
        let first = centres.number("Steps/PointDataOffsets/mass [kg]", step, 0);
        assert_eq!(centres.reals("PointData/mass [kg]", first, n), model.mass);
        assert_eq!(centres.reals("PointData/size [m]", first, n), model.size);
        let ids = centres.integers("PointData/id", first, n);
        assert!(ids.iter().zip(&model.ids).all(|(a, b)| *a == *b as i32));
        for (name, expected) in [("names", &model.names), ("materials", &model.materials)] {
            let first = centres.number(&format!("Steps/FieldDataOffsets/{name}"), step, 0);
            let size = centres.number(&format!("Steps/FieldDataSizes/{name}"), step, 1);
            let dataset = file.dataset(&format!("VTKHDF/centres/FieldData/{name}")).unwrap();
            assert_eq!(&dataset.read_string_rows(first, size).unwrap(), expected);
        }
        compare_contacts(&file, &ours, k);
        compare_surfaces(&file, &ours, k);
    }
}

fn compare_contacts(file: &File, ours: &RunFile, k: usize) {
    let (block, step) = (Block(file, "contacts"), k as u64);
    let contacts = ours.contacts(k).unwrap();
    let n = block.number("NumberOfPoints", block.part(step), 0);
    let first = block.number("Steps/PointOffsets", step, 0);
    assert_eq!(n as usize, contacts.gap.len());
    let reals = |path: &str| block.reals(path, first, n);
    assert_eq!(reals("Points"), contacts.point.concat());
    assert_eq!(reals("PointData/force [N]"), contacts.force.concat());
    assert_eq!(reals("PointData/normal"), contacts.normal.concat());
    assert_eq!(reals("PointData/gap [m]"), contacts.gap);
    // The two parts of a force add up to it, one along the normal and one across.
    let parts = [reals("PointData/normal force [N]"), reals("PointData/tangential force [N]")];
    for c in 0..n as usize {
        let [along, across] = [0, 1].map(|p| &parts[p][3 * c..3 * c + 3]);
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let scale = dot(&contacts.force[c], &contacts.force[c]).sqrt().max(1.0);
        for i in 0..3 {
            assert!((along[i] + across[i] - contacts.force[c][i]).abs() < 1e-5 * scale);
        }
        assert!(dot(across, &contacts.normal[c]).abs() < 1e-4 * scale);
        assert!(dot(along, &contacts.normal[c]) >= -1e-5 * scale);
    }
}

fn compare_surfaces(file: &File, ours: &RunFile, k: usize) {
    let (surfaces, step) = (ours.surfaces(k).unwrap(), k as u64);
    let (mut points, mut bodies, mut speeds, mut corners) = (vec![], vec![], vec![], vec![]);
    for name in ["stones", "machines", "walls"] {
        let block = Block(file, name);
        let n = block.number("NumberOfPoints", block.part(step), 0);
        let before = points.len() as u32 / 3;
        points.extend(block.reals("Points", block.number("Steps/PointOffsets", step, 0), n));
        let cells = block.cells((2, "Polygons"), step);
        corners.extend(cells.iter().flatten().map(|corner| before + *corner as u32));
        let n = cells.len() as u64;
        let first = block.number("Steps/CellDataOffsets/body", step, 0);
        bodies.extend(block.integers("CellData/body", first, n).into_iter().map(|id| id as u32));
        if name == "walls" {
            speeds.extend(vec![0.0; n as usize]);
        } else {
            let first = block.number("Steps/CellDataOffsets/speed [m s^-1]", step, 0);
            speeds.extend(block.reals("CellData/speed [m s^-1]", first, n));
        }
    }
    assert_eq!(points, surfaces.points.concat());
    assert_eq!((bodies, corners), (surfaces.bodies, surfaces.corners));
    assert_eq!(speeds, surfaces.speeds);
}
