//! Piles of stones shared with other engines: one JSON file that each of them reads, and state files by which one judge
//! compares them. Nothing here belongs to riprap's own scene files.
//!
//! A scene is an object with `density` [kg/m³], `mu`, `restitution`, `gravity` [m/s²], `dt` [s], `box` (`xmin`, `xmax`, `ymin`,
//! `ymax`, `zmin`, and optionally `height` [m]; open at the top) and `grains`. A grain has `verts` [m] in its principal axes at its centre of
//! mass, `faces` (triangles, counter-clockwise from outside), `volume` [m³], `mass` [kg], `inertia` [kg m²], `pos` [m] and
//! `quat` (w x y z), and optionally `vel` [m/s] and `omega` [rad/s, world frame]. Other keys are ignored.
//!
//! A state is a text file with one line a grain: `x y z qw qx qy qz vx vy vz wx wy wz`, in SI, the angular velocity in the world
//! frame.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use riprap::grains::{pick, seeded};
use riprap::math::Mat3;
use riprap::prelude::*;
use riprap::shape::Polyhedron;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Place};
use crate::unit_vector::unit;

/// Largest file that is read, unpacked [bytes].
const MAX_BYTES: u64 = 4 << 30;
/// Most corners of a grain.
const MAX_CORNERS: usize = 10_000;
/// Largest deviation of volume, mass, inertia and centre in the file from those of the hull, relative [–]: files may have been
/// written with few digits.
const AGREEMENT: f64 = 1e-4;

/// A pile of stones in an open box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerScene {
    /// The file it came from.
    #[serde(skip)]
    pub path: PathBuf,
    /// Number of grains as the file tells it, if it does.
    #[serde(rename = "N", default, skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// Density of the stones [kg/m³].
    pub density: f64,
    /// Coefficient of friction `μ`, between stones and against the box [–].
    #[serde(rename = "mu")]
    pub friction: f64,
    /// Coefficient of restitution `e` [–].
    pub restitution: f64,
    /// Acceleration of gravity [m/s²].
    pub gravity: [f64; 3],
    /// Time step [s].
    pub dt: f64,
    /// The box.
    #[serde(rename = "box")]
    pub container: Container,
    /// The stones.
    pub grains: Vec<PeerGrain>,
}

/// Five planes that hold the stones; the top is open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Container {
    /// Wall at the least x [m].
    pub xmin: f64,
    /// Wall at the largest x [m].
    pub xmax: f64,
    /// Wall at the least y [m].
    pub ymin: f64,
    /// Wall at the largest y [m].
    pub ymax: f64,
    /// Floor [m].
    pub zmin: f64,
    /// Height of the walls [m], for pictures: they count as endless.
    #[serde(default)]
    pub height: f64,
}

impl Container {
    /// The planes: inward unit normals and a point of each [m].
    pub fn planes(&self) -> [([f64; 3], [f64; 3]); 5] {
        [
            ([0.0, 0.0, 1.0], [0.0, 0.0, self.zmin]),
            ([1.0, 0.0, 0.0], [self.xmin, 0.0, 0.0]),
            ([-1.0, 0.0, 0.0], [self.xmax, 0.0, 0.0]),
            ([0.0, 1.0, 0.0], [0.0, self.ymin, 0.0]),
            ([0.0, -1.0, 0.0], [0.0, self.ymax, 0.0]),
        ]
    }
}

/// A stone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerGrain {
    /// Corners in the body frame: centre of mass and principal axes [m].
    #[serde(rename = "verts")]
    pub vertices: Vec<[f64; 3]>,
    /// Triangles of its surface, counter-clockwise from outside.
    pub faces: Vec<[u32; 3]>,
    /// Volume [m³].
    pub volume: f64,
    /// Mass [kg].
    pub mass: f64,
    /// Principal moments of inertia [kg m²].
    pub inertia: [f64; 3],
    /// Centre of mass at the begin [m].
    #[serde(rename = "pos")]
    pub position: [f64; 3],
    /// Rotation at the begin, a quaternion w, x, y, z.
    #[serde(rename = "quat")]
    pub rotation: [f64; 4],
    /// Velocity at the begin [m/s].
    #[serde(rename = "vel", default)]
    pub velocity: [f64; 3],
    /// Angular velocity at the begin, in the world frame [rad/s].
    #[serde(rename = "omega", default)]
    pub angular_velocity: [f64; 3],
}

/// Where a grain is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrainState {
    /// Centre of mass [m].
    pub position: [f64; 3],
    /// Rotation from the body frame to the world, a unit quaternion w, x, y, z.
    pub rotation: [f64; 4],
    /// Velocity of the centre of mass [m/s].
    pub velocity: [f64; 3],
    /// Angular velocity in the world frame [rad/s].
    pub angular_velocity: [f64; 3],
}

impl PeerScene {
    /// Reads a scene; packed by gzip where the name ends in `.gz`.
    pub fn read(path: &Path) -> Result<PeerScene, Error> {
        let wrong = |place, message: String| Error::format(path, place, message);
        let mut text = Vec::new();
        let read = regular(path)?;
        let result = match is_packed(path) {
            true => flate2::read::MultiGzDecoder::new(read).take(MAX_BYTES).read_to_end(&mut text),
            false => read.take(MAX_BYTES).read_to_end(&mut text),
        };
        result.map_err(Error::io("read", path))?;
        if text.len() as u64 == MAX_BYTES {
            let gib = MAX_BYTES >> 30;
            return Err(wrong(Place::Whole, format!("there are more than {gib} GiB of text")));
        }
        let mut scene: PeerScene = serde_json::from_slice(&text).map_err(|e| {
            let place = if e.line() > 0 { Place::Line(e.line()) } else { Place::Whole };
            wrong(place, e.to_string())
        })?;
        scene.path = path.to_owned();
        scene.check().map_err(|message| wrong(Place::Whole, message))?;
        Ok(scene)
    }

    /// Moves each grain by up to a nanometre along x, y and z, at random. What differs between runs with two seeds is chance.
    pub fn nudge(&mut self, seed: u64) {
        let mut rng = seeded(seed);
        for x in self.grains.iter_mut().flat_map(|g| &mut g.position) {
            *x += 1e-12 * (pick(2001, &mut rng) as f64 - 1000.0);
        }
    }

    /// Height of the topmost corner at the begin [m].
    pub fn top(&self) -> f64 {
        let height = |grain: &PeerGrain| {
            let [w, x, y, z] = grain.rotation;
            let up = Quat::new_unchecked([x, y, z, w].into()).inverse() * Vec3::z();
            let heights = grain.vertices.iter().map(|v| up.dot(&Vec3::from(*v)));
            grain.position[2] + heights.fold(f64::NEG_INFINITY, f64::max)
        };
        self.grains.iter().map(height).fold(self.container.zmin, f64::max)
    }

    /// Writes the scene; packed by gzip where the name ends in `.gz`.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        crate::atomic::write(path, |out| match is_packed(path) {
            true => {
                let mut packed = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                serde_json::to_writer(&mut packed, self)?;
                packed.finish().map(|_| ())
            }
            false => Ok(serde_json::to_writer(out, self)?),
        })
    }

    /// Checks numbers and tables, and brings quaternions to unit length. The hulls are checked by [`PeerScene::scene`].
    fn check(&mut self) -> Result<(), String> {
        for (name, value, least) in [
            ("density", self.density, f64::MIN_POSITIVE),
            ("mu", self.friction, 0.0),
            ("restitution", self.restitution, 0.0),
            ("dt", self.dt, f64::MIN_POSITIVE),
        ] {
            if !(value >= least && value.is_finite()) {
                let range = if least > 0.0 { "greater than 0" } else { "0 or more" };
                return Err(format!("`{name}` is {value}, but must be {range}"));
            }
        }
        if self.restitution > 1.0 {
            return Err(format!("`restitution` is {}, but must be 1 at most", self.restitution));
        }
        let c = &self.container;
        let sides = [c.xmin, c.xmax, c.ymin, c.ymax, c.zmin, c.height];
        if !(finite(&sides) && c.xmin < c.xmax && c.ymin < c.ymax) {
            return Err("`box` must have xmin below xmax and ymin below ymax".into());
        }
        if !finite(&self.gravity) {
            return Err("`gravity` must be three finite numbers".into());
        }
        let n = self.grains.len();
        if n == 0 {
            return Err("`grains` is empty; one stone at least is needed".into());
        }
        if self.n.is_some_and(|told| told != n) {
            let told = self.n.unwrap_or(n);
            return Err(format!("`N` is {told}, but there are {n} grains"));
        }
        for (i, grain) in self.grains.iter_mut().enumerate() {
            grain.check().map_err(|message| format!("grain {}: {message}", i + 1))?;
        }
        Ok(())
    }

    /// The scene as riprap builds it: floor and walls first, then the stones, whose handles come with it. Mass, centre and inertia are those of
    /// the file, once they are found to agree with the hull, so that the frame of a body is the frame of the file.
    pub fn scene(&self) -> Result<(SceneBuilder, Vec<Body>), Error> {
        let rock = Material::new("rock")
            .density(self.density)
            .friction(self.friction)
            .restitution(self.restitution);
        let mut scene = Scene::builder();
        scene.gravity(self.gravity);
        for ((normal, at), name) in
            self.container.planes().into_iter().zip(["floor", "-x", "+x", "-y", "+y"])
        {
            let plane = Shape::half_space(normal).expect("a unit normal");
            let wall = BodyDescription::new(plane, &rock).named(name).at(at).fixed();
            scene.add(wall, &rock);
        }
        let mut grains = Vec::with_capacity(self.grains.len());
        for (i, grain) in self.grains.iter().enumerate() {
            let wrong = |message: String| {
                let message = format!("grain {}: {message}", i + 1);
                Error::format(&self.path, Place::Whole, message)
            };
            let hull = grain.hull(self.density).map_err(wrong)?;
            let mut body = BodyDescription::new(Shape::Polyhedron(Arc::new(hull)), &rock)
                .named(&format!("grain-{}", i + 1))
                .at(grain.position)
                .velocity(grain.velocity)
                .spin(grain.angular_velocity)
                .mass(grain.mass);
            let [w, x, y, z] = grain.rotation;
            body.pose.rotation = Quat::new_unchecked([x, y, z, w].into());
            body.centre = Some(Vec3::zeros());
            body.inertia = Some(Mat3::from_diagonal(&Vec3::from(grain.inertia)));
            grains.push(scene.add(body, &rock));
        }
        Ok((scene, grains))
    }
}

impl PeerGrain {
    /// A stone whose own frame is that of its principal axes at its centre of mass, as those of
    /// [`riprap::grains::StoneGenerator`] are, at a pose and at rest.
    pub fn at_rest(stone: &Polyhedron, density: f64, pose: &Pose) -> PeerGrain {
        let m = stone.unit_mass();
        let r = pose.rotation;
        PeerGrain {
            vertices: stone.vertices().iter().map(|v| (*v).into()).collect(),
            faces: stone.triangles().collect(),
            volume: m.mass,
            mass: density * m.mass,
            inertia: (m.inertia.diagonal() * density).into(),
            position: pose.position.into(),
            rotation: [r.w, r.i, r.j, r.k],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
        }
    }

    fn check(&mut self) -> Result<(), String> {
        let n = self.vertices.len();
        if n > MAX_CORNERS {
            return Err(format!("`verts` holds {n} corners, but {MAX_CORNERS} are the most"));
        }
        if !self.vertices.iter().all(|v| finite(v)) {
            return Err("`verts` holds a number that is not finite".into());
        }
        if let Some(face) = self.faces.iter().find(|f| f.iter().any(|&v| v as usize >= n)) {
            return Err(format!("`faces` holds {face:?}, but there are {n} corners"));
        }
        for (name, values) in [
            ("pos", &self.position[..]),
            ("vel", &self.velocity[..]),
            ("omega", &self.angular_velocity[..]),
        ] {
            if !finite(values) {
                return Err(format!("`{name}` holds a number that is not finite"));
            }
        }
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !(positive(self.volume)
            && positive(self.mass)
            && self.inertia.map(positive) == [true; 3])
        {
            return Err("`volume`, `mass` and `inertia` must be greater than 0".into());
        }
        self.rotation = unit(self.rotation).ok_or("`quat` has no direction")?;
        Ok(())
    }

    /// Its convex hull, which must have the volume, mass, inertia and centre that the file gives.
    fn hull(&self, density: f64) -> Result<Polyhedron, String> {
        let corners: Vec<Vec3> = self.vertices.iter().map(|v| Vec3::from(*v)).collect();
        let hull = Polyhedron::from_points(&corners).map_err(|e| format!("`verts`: {e}"))?;
        let found = hull.unit_mass();
        let differ = |name: &str, told: f64, found: f64| {
            format!("`{name}` is {told:.6e}, but that of the hull of `verts` is {found:.6e}")
        };
        for (name, told, found) in
            [("volume", self.volume, found.mass), ("mass", self.mass, density * found.mass)]
        {
            if (told - found).abs() > AGREEMENT * found {
                return Err(differ(name, told, found));
            }
        }
        if found.centre.norm() > AGREEMENT * hull.outer_radius() {
            let [x, y, z]: [f64; 3] = found.centre.into();
            return Err(format!(
                "`verts` must be given from the centre of mass, which is at {x:.3e}, {y:.3e}, {z:.3e} m"
            ));
        }
        let inertia = found.inertia * density;
        let told = Mat3::from_diagonal(&Vec3::from(self.inertia));
        if (inertia - told).amax() > AGREEMENT * inertia.amax() {
            return Err(format!(
                "`inertia` differs from that of the hull of `verts` by {:.1e} of it; give it for this density, about the \
                 principal axes in which `verts` are given",
                (inertia - told).amax() / inertia.amax()
            ));
        }
        Ok(hull)
    }
}

/// The grains of a run, in the frames of the file.
pub fn states(scene: &Scene, state: &State, grains: &[Body]) -> Vec<GrainState> {
    let grain = |body: &Body| {
        let slot = scene.slot(*body);
        let (q, v) = (&state.q[slot], &state.v[slot]);
        let r = q.rotation;
        GrainState {
            position: q.position.into(),
            rotation: [r.w, r.i, r.j, r.k],
            velocity: v.linear.into(),
            angular_velocity: v.angular.into(),
        }
    };
    grains.iter().map(grain).collect()
}

/// Writes a state file.
pub fn write_states(path: &Path, states: &[GrainState]) -> Result<(), Error> {
    crate::atomic::write(path, |out| {
        for s in states {
            let numbers = (s.position.iter().chain(&s.rotation))
                .chain(&s.velocity)
                .chain(&s.angular_velocity);
            let words: Vec<String> = numbers.map(|x| format!("{x:e}")).collect();
            writeln!(out, "{}", words.join(" "))?;
        }
        Ok(())
    })
}

/// Reads a state file of `n` grains.
pub fn read_states(path: &Path, n: usize) -> Result<Vec<GrainState>, Error> {
    let mut text = String::new();
    regular(path)?.take(MAX_BYTES).read_to_string(&mut text).map_err(Error::io("read", path))?;
    let mut states = Vec::with_capacity(n);
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |message: String| Error::format(path, Place::Line(i + 1), message);
        if states.len() == n {
            return Err(wrong(format!("there are more lines than the {n} grains of the scene")));
        }
        states.push(state_line(line).map_err(wrong)?);
    }
    if states.len() < n {
        let message = format!("there are {} lines, but the scene has {n} grains", states.len());
        return Err(Error::format(path, Place::Whole, message));
    }
    Ok(states)
}

fn state_line(line: &str) -> Result<GrainState, String> {
    let mut values = [0.0; 13];
    let mut words = line.split_ascii_whitespace();
    for (k, value) in values.iter_mut().enumerate() {
        let word = words.next().ok_or(format!("13 numbers are expected, but there are {k}"))?;
        *value = word.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| {
            let word: String = word.chars().take(40).collect();
            format!("`{word}` is not a number")
        })?;
    }
    if words.next().is_some() {
        return Err("there are more than 13 numbers".into());
    }
    let [x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz] = values;
    Ok(GrainState {
        position: [x, y, z],
        rotation: unit([qw, qx, qy, qz]).ok_or("the quaternion has no direction")?,
        velocity: [vx, vy, vz],
        angular_velocity: [wx, wy, wz],
    })
}

/// Opens a file that has an end.
fn regular(path: &Path) -> Result<BufReader<File>, Error> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    if !file.metadata().map_err(Error::io("read", path))?.is_file() {
        return Err(Error::format(path, Place::Whole, "this is not a regular file"));
    }
    Ok(BufReader::new(file))
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"))
}

fn finite(values: &[f64]) -> bool {
    values.iter().all(|x| x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use riprap::grains::{StoneGenerator, seeded};

    fn three_stones() -> PeerScene {
        let mut rng = seeded(3);
        let grains = (0..3).map(|k| {
            let stone = StoneGenerator::default().generate(0.04, &mut rng).unwrap();
            let pose = Pose::at([0.0, 0.0, 0.05 + 0.1 * f64::from(k)]).turned([1.0, 2.0, 3.0], 1.0);
            PeerGrain::at_rest(&stone, 2700.0, &pose)
        });
        let container =
            Container { xmin: -0.1, xmax: 0.1, ymin: -0.1, ymax: 0.1, zmin: 0.0, height: 0.3 };
        PeerScene {
            path: PathBuf::new(),
            n: Some(3),
            density: 2700.0,
            friction: 0.7,
            restitution: 0.0,
            gravity: [0.0, 0.0, -9.81],
            dt: 5e-4,
            container,
            grains: grains.collect(),
        }
    }

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("riprap-peers-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_scene_is_read_back_unchanged_packed_or_not() {
        let (folder, scene) = (folder("round"), three_stones());
        for name in ["scene.json", "scene.json.gz"] {
            let path = folder.join(name);
            scene.write(&path).unwrap();
            let read = PeerScene::read(&path).unwrap();
            assert!(PeerScene { path: PathBuf::new(), ..read } == scene, "{name}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_frame_of_a_body_is_the_frame_of_the_file() {
        let scene = three_stones();
        let (builder, grains) = scene.scene().unwrap();
        let built = builder.build().unwrap();
        let state = built.initial_state();
        for (body, grain) in grains.iter().zip(&scene.grains) {
            assert_eq!(built.bodies().centre[built.slot(*body)], Vec3::zeros());
            assert_eq!(built.bodies().mass[built.slot(*body)], grain.mass);
            let pose = built.shape_pose(&state, *body);
            assert_eq!(<[f64; 3]>::from(pose.position), grain.position);
        }
        let top = scene.top();
        assert!(top > 0.25 + 0.01 && top < 0.25 + 0.04, "{top}");
        let states = states(&built, &state, &grains);
        assert_eq!(states[1].position, scene.grains[1].position);
        assert_eq!(states[1].rotation, scene.grains[1].rotation);
    }

    #[test]
    fn states_are_read_back_unchanged() {
        let folder = folder("states");
        let path = folder.join("state.txt");
        let (builder, grains) = three_stones().scene().unwrap();
        let mut run = Simulation::new(builder.build().unwrap(), MoreauJean::new(5e-4)).unwrap();
        run.until(0.02, &mut ()).unwrap();
        let written = states(run.scene(), run.state(), &grains);
        write_states(&path, &written).unwrap();
        assert_eq!(read_states(&path, 3).unwrap(), written);
        let message = |n| read_states(&path, n).unwrap_err().to_string();
        assert!(message(2).contains("line 3: there are more lines"), "{}", message(2));
        assert!(message(4).contains("there are 3 lines, but the scene has 4 grains"));
        for (text, told) in [
            ("1 2 3", "line 1: 13 numbers are expected, but there are 3"),
            ("0 0 0 1 0 0 0 0 0 x 0 0 0", "`x` is not a number"),
            ("0 0 0 1 0 0 0 0 0 nan 0 0 0", "`nan` is not a number"),
            ("0 0 0 0 0 0 0 0 0 0 0 0 0", "no direction"),
            ("0 0 0 1 0 0 0 0 0 0 0 0 0 0", "more than 13"),
        ] {
            std::fs::write(&path, text).unwrap();
            assert!(message(1).contains(told), "{}", message(1));
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn wrong_scenes_are_explained() {
        let folder = folder("wrong");
        let path = folder.join("scene.json");
        type Change = fn(&mut PeerScene);
        let cases: [(Change, &str); 14] = [
            (|s| s.density = 0.0, "`density` is 0, but must be greater than 0"),
            (|s| s.friction = -1.0, "`mu` is -1, but must be 0 or more"),
            (|s| s.restitution = 1.5, "`restitution`"),
            (|s| s.dt = 0.0, "`dt`"),
            (|s| s.container.xmax = -1.0, "xmin below xmax"),
            (|s| s.grains.clear(), "`grains` is empty"),
            (|s| s.n = Some(4), "`N` is 4, but there are 3 grains"),
            (|s| s.grains[1].faces[0][1] = 99, "grain 2: `faces`"),
            (|s| s.grains[1].rotation = [0.0; 4], "grain 2: `quat` has no direction"),
            (|s| s.grains[1].volume = 0.0, "grain 2: `volume`"),
            (|s| s.grains[2].mass *= 1.01, "grain 3: `mass` is"),
            (|s| s.grains[2].inertia[0] *= 1.1, "grain 3: `inertia` differs"),
            (|s| s.grains[2].vertices.iter_mut().for_each(|v| v[0] += 1e-3), "centre of mass"),
            (|s| s.grains[0].vertices.truncate(3), "grain 1: `faces`"),
        ];
        for (change, told) in cases {
            let mut scene = three_stones();
            change(&mut scene);
            scene.write(&path).unwrap();
            let result = PeerScene::read(&path).and_then(|s| s.scene().map(|_| ()));
            let message = result.unwrap_err().to_string();
            assert!(message.contains(told) && message.contains("scene.json"), "{message}");
        }
        for (text, told) in [
            ("", "line 1: EOF"),
            ("{\n\"density\": 1e999}", "line 2: number out of range"),
            ("{\"density\": \"heavy\"}", "invalid type"),
            ("{}", "missing field `density`"),
        ] {
            std::fs::write(&path, text).unwrap();
            let message = PeerScene::read(&path).unwrap_err().to_string();
            assert!(message.contains(told), "{message}");
        }
        let path = folder.join("scene.json.gz");
        std::fs::write(&path, b"not packed").unwrap();
        assert!(PeerScene::read(&path).unwrap_err().to_string().contains("gz"));
        assert!(PeerScene::read(&folder).unwrap_err().to_string().contains("regular file"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
