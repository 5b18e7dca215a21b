//! Pictures of a run: which frame, from where, in which colours.

use std::path::Path;

use riprap_io::run_file::{ContactSet, Model, Poses, RunFile};
use riprap_io::{Error, Place};

use super::scene::{Choice, Drawing, FrameData, draw};
use super::{Camera, Image, Projection, Style, View, render};

/// Where the camera stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Position {
    /// A standard direction, at the distance at which everything is seen; planar scenes are seen from above.
    Standard(View),
    /// Given.
    At {
        /// Position of the camera [m].
        eye: [f64; 3],
        /// The point it looks at [m].
        target: [f64; 3],
    },
}

/// How the frames of a run are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Shot {
    /// What is drawn.
    pub choice: Choice,
    /// Where the camera stands.
    pub position: Position,
    /// Whether rays are parallel; always so in planar scenes.
    pub orthographic: bool,
    /// Size, samples, theme. Its legends and caption are replaced.
    pub style: Style,
    /// Whether colour bars and the time are drawn.
    pub labels: bool,
}

impl Default for Shot {
    fn default() -> Shot {
        Shot {
            choice: Choice::default(),
            position: Position::Standard(View::Iso),
            orthographic: false,
            style: Style::default(),
            labels: true,
        }
    }
}

/// Frames at which a film looks for the range of colours and for the extent of the scene.
const LOOKS: usize = 12;

/// Data of one frame.
struct Loaded {
    model: Model,
    poses: Poses,
    contacts: Option<ContactSet>,
}

/// A run with a camera and colours that are the same in all its pictures.
pub struct Film<'a> {
    run: &'a RunFile,
    shot: &'a Shot,
    camera: Camera,
    range: Option<[f64; 2]>,
    ground: Option<f64>,
    first: Loaded,
}

impl<'a> Film<'a> {
    /// Chooses camera and colours for these frames.
    pub fn new(run: &'a RunFile, shot: &'a Shot, frames: &[usize]) -> Result<Film<'a>, Error> {
        let first = load(run, 0)?;
        let mut film = Film { run, shot, camera: NOWHERE, range: None, ground: None, first };
        let step = frames.len().div_ceil(LOOKS).max(1);
        let mut looks: Vec<usize> = frames.iter().step_by(step).copied().collect();
        looks.extend(frames.last().filter(|k| !looks.contains(k)));
        let mut extent = Vec::new();
        let (mut range, mut ground): (Option<[f64; 2]>, Option<f64>) = (None, None);
        let mut view = ([0.0, 0.0, 1.0], false);
        for k in looks {
            let loaded = load(run, k)?;
            let frame = film.frame(&loaded);
            view = (frame.up(), frame.model.planar);
            if let Some([low, high]) = frame.range(shot.choice.colour_by) {
                range = Some(range.map_or([low, high], |[a, b]| [a.min(low), b.max(high)]));
            }
            let drawing = draw(frame, &shot.choice, None);
            ground = ground.into_iter().chain(drawing.model.ground()).reduce(f64::min);
            extent.extend(drawing.model.extent());
        }
        (film.range, film.ground) = (range, ground);
        film.camera = camera(shot, &extent, view.0, view.1);
        Ok(film)
    }

    /// The picture of a frame.
    pub fn picture(&self, k: usize) -> Result<Image, Error> {
        let loaded = load(self.run, k)?;
        let Drawing { mut model, legends } =
            draw(self.frame(&loaded), &self.shot.choice, self.range);
        if let Some(ground) = self.ground {
            model.set_ground(ground);
        }
        let mut style = self.shot.style.clone();
        if self.shot.labels {
            style.legends = legends;
            style.caption = Some(format!("t = {} s", crate::series::short(loaded.poses.time, 4)));
        }
        Ok(render(&model, &self.camera, &style))
    }

    fn frame<'b>(&'b self, loaded: &'b Loaded) -> FrameData<'b> {
        FrameData {
            model: &loaded.model,
            poses: &loaded.poses,
            contacts: loaded.contacts.as_ref(),
            first: Some((&self.first.model, &self.first.poses)),
        }
    }
}

const NOWHERE: Camera = Camera {
    eye: [0.0, -1.0, 0.0],
    target: [0.0; 3],
    up: [0.0, 0.0, 1.0],
    projection: Projection::Perspective { angle: 0.5 },
};

fn load(run: &RunFile, k: usize) -> Result<Loaded, Error> {
    let poses = run.frame(k)?;
    let model = run.model(poses.model)?;
    Ok(Loaded { model, poses, contacts: run.contacts(k).ok() })
}

/// The camera of a shot of things within spheres.
fn camera(shot: &Shot, extent: &[([f64; 3], f64)], up: [f64; 3], planar: bool) -> Camera {
    let aspect = shot.style.size[0] as f64 / shot.style.size[1].max(1) as f64;
    match shot.position {
        Position::Standard(_) if planar => Camera::fit(extent, [0.0, 0.0, -1.0], up, aspect, true),
        Position::Standard(view) => {
            let [look, above] = view.directions(up);
            Camera::fit(extent, look, above, aspect, shot.orthographic)
        }
        Position::At { eye, target } => {
            let mut camera = Camera { eye, target, up, ..NOWHERE };
            if shot.orthographic || planar {
                let height = 2.0 * camera.distance() * 0.25_f64.tan();
                camera.projection = Projection::Orthographic { height };
            }
            camera
        }
    }
}

/// The frame of a run at a time, the last one before it [s]; without a time the last frame.
pub fn frame_at(run: &RunFile, path: &Path, time: Option<f64>) -> Result<usize, Error> {
    let times = run.times();
    let fail = |message: String| Error::Format { path: path.into(), place: Place::Whole, message };
    let Some((first, last)) = times.first().zip(times.last()) else {
        return Err(fail(
            "the run has no frames; let it run further, or set `frames` in `[run]`".into(),
        ));
    };
    let Some(time) = time else { return Ok(times.len() - 1) };
    // Times are sums of steps: those meant to be equal differ by round-off.
    let slack = 1e-9 * last.abs().max(1e-9);
    if time < first - slack || time > last + slack {
        return Err(fail(format!(
            "there is no frame at {time} s; its frames are from {first} s to {last} s"
        )));
    }
    Ok(times.partition_point(|t| *t <= time + slack).saturating_sub(1))
}
