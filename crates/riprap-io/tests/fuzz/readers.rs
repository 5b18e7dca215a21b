//! The readers, one test each.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use riprap::friction::{
    Blocks, ContactProblem, ContactSolver, Delassus, GaussSeidel, GaussSeidelOptions, Law, Scratch,
};
use riprap::math::Vec3;
use riprap::shape::Shape;
use riprap::simulation::Frame;
use riprap_io::fclib::{self, Info};
use riprap_io::grain_table::GrainTable;
use riprap_io::mesh::Mesh;
use riprap_io::run::{Options, Phase, Run, Watch, settle};
use riprap_io::run_folder::Existing;
use riprap_io::scene_file::{Dimension, Expression, SceneFile, parse_quantity};
use tempfile::TempDir;

use super::{corpus, fuzz, lines};

const SCENE_WORDS: &[&str] = &[
    "[[body]]\n",
    "[[grains]]\n",
    "[[mechanism]]\n",
    "[[joint]]\n",
    "[[probe]]\n",
    "planar = true\n",
    "\"1 ms\"",
    "{ type = ",
    "\"polyhedron\"",
    "\"sphere\"",
    "\"mesh\"",
    "\"hull\"",
    "points = ",
    "settle = {}",
    "count = ",
    "law = \"",
    "motion = ",
    "urdf = \"arm.urdf\"",
    "scheme = \"dormand-prince\"",
    "size = [",
    "spring = {",
    "parts = [",
    "[parameters]\n",
];

/// A block that falls on a floor, and a weight on a rope.
const BLOCK: &str = r#"
run = { dt = "1 ms", until = "1 s", output_every = "5 ms", frames = false }
materials.rock = { density = 1000, friction = 0.5 }
[[body]]
kind = "fixed"
shape = { type = "half-space" }
material = "rock"
[[body]]
name = "block"
position = [0, 0, 0.5]
shape = { type = "box", size = [1, 1, 1] }
material = "rock"
[[mechanism]]
name = "pendulum"
[[mechanism.body]]
name = "rod"
mass = 1
inertia = 1
centre = [0, 0, -1]
[[mechanism.joint]]
name = "pivot"
type = "revolute"
child = "rod"
axis = "y"
start = 0.5
[[probe]]
body = "block"
quantities = ["position", "work"]
"#;

/// Grains that settle.
const BED: &str = r#"
run = { dt = "1 ms", until = "20 ms", output_every = "5 ms", frames = false }
materials.rock = { density = 2700, friction = 0.7 }
[[body]]
name = "box"
kind = "fixed"
material = "rock"
shape = { type = "open-box", size = [0.2, 0.2, 0.2], wall = 0.02 }
[[grains]]
name = "stones"
material = "rock"
generator = "rain"
stones = {}
grading = { uniform = ["30 mm", "50 mm"] }
count = 3
box = { min = [-0.1, -0.1, 0], max = [0.1, 0.1, 1] }
settle = { speed = "10 cm/s", at_most = "30 ms" }
"#;

/// A folder for inputs, in memory if the system has such a folder.
fn folder() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

#[test]
fn scenes_are_read_and_built_or_rejected() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut good = corpus("scene", &["toml"]);
    good.extend([BLOCK, BED].map(|text| text.as_bytes().to_vec()));
    fuzz("scene", good, SCENE_WORDS, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return false };
        match SceneFile::parse(text, &data) {
            // Large ones take their time.
            Ok(scene) => scene.n_bodies() > 100 || scene.build().is_ok(),
            Err(errors) => {
                assert!(!errors.to_string().is_empty());
                false
            }
        }
    });
}

#[test]
fn expressions_are_evaluated_or_rejected() {
    let words = ["sin(", "t", "+", "*", "^", "if(", ",", ")", "pi", "1e400", "<", "=="];
    fuzz("expression", lines("expression"), &words, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return false };
        match Expression::parse(text, &["t"]) {
            Ok(law) => {
                for t in [0.0, -1.0, 1e300, f64::NAN] {
                    let (value, rates) = (law.evaluate(&[t]), law.with_rates(&[t]));
                    assert!(
                        value.to_bits() == rates[0].to_bits()
                            || value.is_nan()
                            || value == rates[0]
                    );
                }
                true
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                false
            }
        }
    });
}

#[test]
fn quantities_are_read_or_rejected() {
    let words = ["mm", "m", "kg", "/", "*", "^", "s", " ", "N", "rad", "deg", "µm"];
    fuzz("unit", lines("unit"), &words, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return false };
        [Dimension::TIME, Dimension::FREQUENCY, Dimension::PRESSURE]
            .into_iter()
            .any(|dimension| parse_quantity(text, dimension).is_ok_and(|value| value.is_finite()))
    });
}

/// Processes a mesh after reading.
fn use_mesh(mesh: Result<Mesh, impl Sized>) -> bool {
    let Ok(mesh) = mesh else { return false };
    let _ = (mesh.open_edges(), mesh.volume());
    let points: Vec<Vec3> = mesh.vertices.iter().take(500).map(|v| Vec3::from(*v)).collect();
    let _ = Shape::hull(&points);
    true
}

#[test]
fn stl_meshes_are_read_or_rejected() {
    let words = [
        "facet normal ",
        "outer loop\n",
        "vertex ",
        "endloop\n",
        "endfacet\n",
        "endsolid",
        "solid ",
    ];
    fuzz("stl", corpus("stl", &["stl"]), &words, |bytes| use_mesh(Mesh::parse_stl(bytes)));
}

#[test]
fn obj_meshes_are_read_or_rejected() {
    let words = ["v ", "f ", "vn ", "o a\n", "1//1", "-1", "\\\n"];
    fuzz("obj", corpus("obj", &["obj"]), &words, |bytes| use_mesh(Mesh::parse_obj(bytes)));
}

#[test]
fn ply_meshes_are_read_or_rejected() {
    let words = [
        "element vertex ",
        "element face ",
        "property list uchar int ",
        "property double x\n",
        "end_header\n",
        "ascii",
    ];
    fuzz("ply", corpus("ply", &["ply"]), &words, |bytes| use_mesh(Mesh::parse_ply(bytes)));
}

#[test]
fn urdf_files_are_read_or_rejected() {
    let folder = folder();
    let text = "run = { dt = \"1 ms\", until = \"1 s\" }\n[[mechanism]]\nname = \"arm\"\nurdf = \"a.urdf\"\n";
    let words = [
        "<link name=\"a\"/>",
        "<joint ",
        "</robot>",
        "<parent link=\"base\"/>",
        "<mimic joint=\"a\"/>",
        "<!--",
    ];
    fuzz("urdf", corpus("urdf", &["urdf"]), &words, |bytes| {
        fs::write(folder.path().join("a.urdf"), bytes).unwrap();
        SceneFile::parse(text, folder.path()).is_ok_and(|scene| scene.build().is_ok())
    });
}

#[test]
fn grain_tables_are_read_or_rejected() {
    let folder = folder();
    let path = folder.path().join("grains.csv");
    let words = ["x,y,z\n", "scale", ",", "qw,qx,qy,qz", "#", "\r\n", "\u{feff}"];
    fuzz("grain-table", corpus("csv", &["csv"]), &words, |bytes| {
        fs::write(&path, bytes).unwrap();
        GrainTable::read(&path).is_ok()
    });
}

/// A sealed file with other content and a matching length and checksum, as in a deliberate forgery.
fn sealed_again(file: &[u8], damaged: &[u8]) -> Vec<u8> {
    let mut bytes = file[..16].to_vec();
    bytes.extend_from_slice(&(damaged.len() as u64).to_le_bytes());
    bytes.extend_from_slice(damaged);
    let mut crc = flate2::Crc::new();
    crc.update(&bytes);
    bytes.extend_from_slice(&crc.sum().to_le_bytes());
    bytes
}

/// The content of a sealed file.
fn content(file: &[u8]) -> Vec<u8> {
    file[24..file.len() - 4].to_vec()
}

#[test]
fn forged_checkpoints_are_rejected_or_run() {
    let folder = folder();
    let run = folder.path().join("run");
    let scene = SceneFile::parse(BLOCK, ".").unwrap();
    let options = |until| Options {
        until: Some(until),
        checkpoint_every: Some(5e-3),
        existing: Existing::Overwrite,
        ..Options::new(&run)
    };
    Run::new(&scene, options(0.02)).unwrap().execute(&mut ()).unwrap();
    let checkpoint = run.join("checkpoint.bin");
    let file = fs::read(&checkpoint).unwrap();
    let series = fs::read(run.join("series.csv")).unwrap();
    fuzz("checkpoint", vec![content(&file)], &[], |bytes| {
        fs::write(&checkpoint, sealed_again(&file, bytes)).unwrap();
        fs::write(run.join("series.csv"), &series).unwrap();
        // Without the record of the run, so that the reader itself is tested.
        let _ = fs::remove_file(run.join("summary.json"));
        let resumed = Run::resume(&scene, options(0.03));
        // A forged time may leave any number of steps to the end: a few are enough.
        resumed.is_ok_and(few_steps)
    });
}

/// Runs for a few steps; returns whether that succeeded.
fn few_steps(run: Run) -> bool {
    let interrupt = run.interrupt();
    run.execute(&mut FewSteps(interrupt, 0)).is_ok()
}

/// Interrupts a run after a few steps.
struct FewSteps(Arc<AtomicBool>, usize);

impl Watch for FewSteps {
    fn step(&mut self, _: Phase, _: &Frame) {
        self.1 += 1;
        self.0.store(self.1 > 5, Ordering::Relaxed);
    }
}

#[test]
fn forged_beds_are_rejected_or_run() {
    let folder = folder();
    let scene = SceneFile::parse(BED, ".").unwrap();
    let mut built = scene.build().unwrap();
    let settling = built.settling.take().unwrap();
    let bed = settle(&scene, &built, &settling, None, &AtomicBool::new(false), &mut ()).unwrap();
    let path = folder.path().join("bed.bin");
    settling.write(&path, &scene, &bed).unwrap();
    let file = fs::read(&path).unwrap();
    let run = folder.path().join("run");
    fuzz("bed", vec![content(&file)], &[], |bytes| {
        fs::write(&path, sealed_again(&file, bytes)).unwrap();
        let options = Options {
            bed: Some(path.clone()),
            existing: Existing::Overwrite,
            ..Options::new(&run)
        };
        let begun = Run::new(&scene, options);
        begun.is_ok_and(few_steps)
    });
}

#[test]
fn contact_problems_are_solved_or_rejected() {
    let folder = folder();
    let path = folder.path().join("problem.hdf5");
    // Two contacts of one body.
    let block = |x: f64| [[2.0, x, 0.0], [x, 2.0, 0.0], [0.0, 0.0, 2.0]];
    let mut w = Blocks::default();
    for a in 0..2 {
        for b in 0..2 {
            w.push(b, block(if a == b { 0.1 } else { 0.5 }));
        }
        w.end_row();
    }
    let problem = ContactProblem {
        rolling: Vec::new(),
        w: Delassus::Blocks(w),
        v_rel_free: vec![[-1.0, 0.5, 0.0], [-0.5, 0.0, 0.2]],
        laws: vec![Law::Coulomb { friction: 0.5 }; 2],
        approach_scale: 1.0,
    };
    fclib::write(&path, &problem, &Info::default(), Some(&[[0.1, 0.0, 0.0]; 2])).unwrap();
    let mut options = GaussSeidelOptions::stored(1e-8);
    options.max_sweeps = 20;
    let solver = GaussSeidel { options };
    fuzz("fclib", vec![fs::read(&path).unwrap()], &["fclib_local", "W", "mu"], |bytes| {
        fs::write(&path, bytes).unwrap();
        let Ok(stored) = fclib::read(&path) else { return false };
        let mut impulses = Vec::new();
        let _ = solver.solve(&stored.problem, &mut impulses, &mut Scratch::default());
        true
    });
}
