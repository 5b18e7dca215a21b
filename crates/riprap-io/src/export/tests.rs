use super::*;
use crate::run::{Options, Run};
use crate::scene_file::SceneFile;
use tempfile::TempDir;

const BALLS: &str = r#"
    run = { dt = "1 ms", until = "50 ms", output_every = "10 ms" }
    materials.rock = { density = 1000, friction = 0.5 }
    [[body]]
    name = "floor"
    kind = "fixed"
    material = "rock"
    shape = { type = "half-space" }
    [[body]]
    name = "ball"
    material = "rock"
    position = [0, 0, 2]
    velocity = [0.3, 0, 0]
    angular_velocity = [0, 0, 2]
    shape = { type = "sphere", radius = 0.1 }
    [[body]]
    name = "stone-1"
    material = "rock"
    position = [1, 0, 2]
    shape = { type = "sphere", radius = 0.1 }
    [[body]]
    name = "stone-2"
    material = "rock"
    position = [2, 0, 2]
    shape = { type = "box", size = [0.1, 0.1, 0.1] }
"#;

/// A finished run; returns the folder and the final state.
fn ran() -> (TempDir, riprap::scene::State) {
    let folder = TempDir::new().unwrap();
    let scene = SceneFile::parse(BALLS, ".").unwrap();
    let summary =
        Run::new(&scene, Options::new(folder.path().join("run"))).unwrap().execute(&mut ());
    (folder, summary.unwrap().state.unwrap())
}

fn lines(folder: &TempDir, selection: &Selection) -> (Exported, Vec<String>) {
    let out = folder.path().join("bodies.csv");
    let exported = bodies(&folder.path().join("run"), selection, &out).unwrap();
    let text = std::fs::read_to_string(out).unwrap();
    (exported, text.lines().map(str::to_owned).collect())
}

#[test]
fn positions_are_exact_and_the_rest_has_single_precision() {
    let (folder, state) = ran();
    let (exported, lines) = lines(&folder, &Selection::default());
    assert_eq!(exported, Exported { frames: 6, bodies: 4, rows: 24 });
    assert_eq!(lines.len(), 25);
    assert!(lines[0].starts_with("time [s],name,id,x [m],y [m],z [m],q_w [-]"), "{}", lines[0]);
    for (k, name) in ["floor", "ball", "stone-1", "stone-2"].iter().enumerate() {
        let fields: Vec<&str> = lines[21 + k].split(',').collect();
        assert_eq!((fields[0], fields[1], fields[2]), ("0.05", *name, &*k.to_string()));
        let numbers: Vec<f64> = fields[3..].iter().map(|x| x.parse().unwrap()).collect();
        assert_eq!(numbers[..3], *state.q[k].position.as_slice());
        let q = state.q[k].rotation.coords;
        for (found, exact) in numbers[3..7].iter().zip([q.w, q.x, q.y, q.z]) {
            assert!((found - exact).abs() < 1e-7);
        }
        let (v, w) = (state.v[k].linear, state.v[k].angular);
        for (found, exact) in numbers[7..].iter().zip(v.iter().chain(w.iter())) {
            assert!((found - exact).abs() < 1e-6 * exact.abs().max(1e-3));
        }
    }
}

#[test]
fn bodies_and_times_are_chosen() {
    let (folder, _) = ran();
    let chosen = Selection { bodies: vec!["stone-*".into()], every: Some(0.02) };
    let (exported, lines) = lines(&folder, &chosen);
    assert_eq!(exported, Exported { frames: 3, bodies: 2, rows: 6 });
    let times: Vec<&str> = lines[1..].iter().map(|l| l.split(',').next().unwrap()).collect();
    assert_eq!(times, ["0", "0", "0.02", "0.02", "0.04", "0.04"]);
    assert!(lines[1].contains(",stone-1,") && lines[2].contains(",stone-2,"));
}

#[test]
fn wrong_choices_are_refused_before_anything_is_written() {
    let (folder, _) = ran();
    let (run, out) = (folder.path().join("run"), folder.path().join("bodies.csv"));
    let told = |names: &[&str], every: Option<f64>| {
        let names = names.iter().map(|n| (*n).to_owned()).collect();
        bodies(&run, &Selection { bodies: names, every }, &out).unwrap_err().to_string()
    };
    assert!(told(&["bal"], None).contains("the run has no body `bal`; did you mean `ball`?"));
    assert!(told(&["ball", "sand*"], None).contains("its bodies are floor, ball"));
    assert!(told(&[], Some(0.0)).contains("must be greater than 0"));
    assert!(told(&[], Some(f64::NAN)).contains("must be greater than 0"));
    assert!(!out.exists());
    let missing = bodies(&folder.path().join("none"), &Selection::default(), &out);
    assert!(missing.unwrap_err().to_string().contains("none"));
    let nowhere = folder.path().join("no/such/folder.csv");
    assert!(bodies(&run, &Selection::default(), &nowhere).is_err());
}

#[test]
fn patterns_match_as_in_a_shell() {
    for (pattern, name, same) in [
        ("stone-*", "stone-12", true),
        ("stone-?", "stone-12", false),
        ("*", "", true),
        ("s*n*-1*", "stone-12", true),
        ("*-12", "stone-12", true),
        ("*-1", "stone-12", false),
        ("arm/*", "arm/upper", true),
        ("ball", "balls", false),
        ("", "ball", false),
        ("**b", "aab", true),
    ] {
        assert_eq!(matches(pattern, name), same, "{pattern} {name}");
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_needs_its_feature() {
    let (folder, _) = ran();
    let out = folder.path().join("bodies.parquet");
    let told = bodies(&folder.path().join("run"), &Selection::default(), &out).unwrap_err();
    assert!(told.to_string().contains("--features parquet"), "{told}");
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_file_has_the_same_columns_and_numbers() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    let (folder, _) = ran();
    let out = folder.path().join("bodies.parquet");
    let exported = bodies(&folder.path().join("run"), &Selection::default(), &out).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(&out).unwrap()).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), exported.rows);
    assert_eq!(rows[1].get_string(0).unwrap(), "ball");
    assert_eq!((rows[1].get_double(1).unwrap(), rows[1].get_double(5).unwrap()), (0.0, 2.0));
}
