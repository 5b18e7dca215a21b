//! Piles of stones shared with other engines: one JSON file that all of them read, and state files
//! for comparing their results. This format is unrelated to riprap's own scene files.
//!
//! A scene is an object with `density` [kg/m³], `mu`, `restitution`, `gravity` [m/s²], `dt` [s],
//! `box` (`xmin`, `xmax`, `ymin`, `ymax`, `zmin`, and optionally `height` [m]; open at the top) and
//! `grains`. A grain has `verts` [m] along its principal axes about its centre of mass, `faces`
//! (triangles, counter-clockwise from outside), `volume` [m³], `mass` [kg], `inertia` [kg m²],
//! `pos` [m] and `quat` (w x y z), and optionally `vel` [m/s] and `omega` [rad/s, world frame].
//! Other keys are ignored.
//!
//! A state is a text file with one line per grain: `x y z qw qx qy qz vx vy vz wx wy wz`, in SI,
//! the angular velocity in the world frame.

mod states;
#[cfg(test)]
mod tests;

pub use states::{GrainState, read_states, states, write_states};

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use riprap::grains::{pick, seeded};
use riprap::math::Mat3;
use riprap::prelude::*;
use riprap::shape::Polyhedron;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Place};
use crate::unit_vector::unit;

/// Maximum uncompressed file size [bytes].
const MAX_BYTES: u64 = 4 << 30;
/// Maximum number of corners of a grain.
const MAX_CORNERS: usize = 10_000;
/// Largest relative deviation of volume, mass, inertia and centre in the file from those of the
/// hull [–]: files may have been written with few digits.
const AGREEMENT: f64 = 1e-4;

/// A pile of stones in an open box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerScene {
    /// The file it came from.
    #[serde(skip)]
    pub path: PathBuf,
    /// Number of grains as stated in the file, if given.
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
    /// Wall at the smallest x [m].
    pub xmin: f64,
    /// Wall at the largest x [m].
    pub xmax: f64,
    /// Wall at the smallest y [m].
    pub ymin: f64,
    /// Wall at the largest y [m].
    pub ymax: f64,
    /// Floor [m].
    pub zmin: f64,
    /// Height of the walls [m], for visualization only: they are treated as infinite.
    #[serde(default)]
    pub height: f64,
}

impl Container {
    /// The planes: inward unit normals and a point on each [m].
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
    /// Initial centre of mass [m].
    #[serde(rename = "pos")]
    pub position: [f64; 3],
    /// Initial rotation, a quaternion w, x, y, z.
    #[serde(rename = "quat")]
    pub rotation: [f64; 4],
    /// Initial velocity [m/s].
    #[serde(rename = "vel", default)]
    pub velocity: [f64; 3],
    /// Initial angular velocity, in the world frame [rad/s].
    #[serde(rename = "omega", default)]
    pub angular_velocity: [f64; 3],
}

impl PeerScene {
    /// Reads a scene, compressed with gzip if the name ends in `.gz`.
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

    /// Moves each grain by up to a nanometre along x, y and z, at random. Differences between runs
    /// with two seeds are due to chance.
    pub fn nudge(&mut self, seed: u64) {
        let mut rng = seeded(seed);
        for x in self.grains.iter_mut().flat_map(|g| &mut g.position) {
            *x += 1e-12 * (pick(2001, &mut rng) as f64 - 1000.0);
        }
    }

    /// Initial height of the topmost corner [m].
    pub fn top(&self) -> f64 {
        let height = |grain: &PeerGrain| {
            let [w, x, y, z] = grain.rotation;
            let up = Quat::new_unchecked([x, y, z, w].into()).inverse() * Vec3::z();
            let heights = grain.vertices.iter().map(|v| up.dot(&Vec3::from(*v)));
            grain.position[2] + heights.fold(f64::NEG_INFINITY, f64::max)
        };
        self.grains.iter().map(height).fold(self.container.zmin, f64::max)
    }

    /// Writes the scene, compressed with gzip if the name ends in `.gz`.
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

    /// Checks numbers and tables, and normalizes quaternions. The hulls are checked by
    /// [`PeerScene::scene`].
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
            return Err(format!("`restitution` is {}, but must be at most 1", self.restitution));
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
            return Err("`grains` is empty; at least one stone is needed".into());
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

    /// The scene as a riprap builder: floor and walls first, then the stones, whose handles are
    /// returned. Mass, centre and inertia are those of the file, after checking that they agree
    /// with the hull, so that the frame of a body is the frame of the file.
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
    /// A stone at rest at a pose, whose frame is that of its principal axes at its centre of mass,
    /// like those of [`riprap::grains::StoneGenerator`].
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
            return Err(format!("`verts` has {n} corners, but at most {MAX_CORNERS} are allowed"));
        }
        if !self.vertices.iter().all(|v| finite(v)) {
            return Err("`verts` contains a number that is not finite".into());
        }
        if let Some(face) = self.faces.iter().find(|f| f.iter().any(|&v| v as usize >= n)) {
            return Err(format!("`faces` contains {face:?}, but there are only {n} corners"));
        }
        for (name, values) in [
            ("pos", &self.position[..]),
            ("vel", &self.velocity[..]),
            ("omega", &self.angular_velocity[..]),
        ] {
            if !finite(values) {
                return Err(format!("`{name}` contains a number that is not finite"));
            }
        }
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !(positive(self.volume)
            && positive(self.mass)
            && self.inertia.map(positive) == [true; 3])
        {
            return Err("`volume`, `mass` and `inertia` must be greater than 0".into());
        }
        self.rotation = unit(self.rotation).ok_or("`quat` has zero length")?;
        Ok(())
    }

    /// Its convex hull, which must have the volume, mass, inertia and centre given in the file.
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
                "`verts` must be relative to the centre of mass, which is at {x:.3e}, {y:.3e}, {z:.3e} m"
            ));
        }
        let inertia = found.inertia * density;
        let told = Mat3::from_diagonal(&Vec3::from(self.inertia));
        if (inertia - told).amax() > AGREEMENT * inertia.amax() {
            return Err(format!(
                "`inertia` differs from that of the hull of `verts` by a fraction of {:.1e}; give it for this density, about the \
                 principal axes in which `verts` are given",
                (inertia - told).amax() / inertia.amax()
            ));
        }
        Ok(hull)
    }
}

/// Opens a regular file.
fn regular(path: &Path) -> Result<BufReader<File>, Error> {
    Ok(BufReader::new(crate::regular::open(path).map_err(Error::io("open", path))?))
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"))
}

fn finite(values: &[f64]) -> bool {
    values.iter().all(|x| x.is_finite())
}
