//! `riprap render`: draws frames of a run as a picture or a film.

use std::path::{Path, PathBuf};

use riprap_io::run_file::RunFile;
use riprap_io::{Error, write_whole};
use riprap_view::picture::scene::{Choice, ColourBy, Cut};
use riprap_view::picture::shot::{Film, Position, Shot, frame_at};
use riprap_view::picture::{Style, Theme, View};
use riprap_view::video::{self, FilmWriter};

use crate::commands::{parse_positive, parse_threads, parse_time, set_threads};
use crate::failure::Failure;
use crate::text::{counted, number, print};

/// Arguments of `riprap render`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of a run, or its file run.vtkhdf
    run: PathBuf,
    /// Time of the frame; the last frame before it is drawn [default: the last frame]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<f64>,
    /// The PNG file to write [default: picture.png]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write a video of all frames: MP4 or WebM (with ffmpeg), or GIF
    #[arg(long, value_name = "FILE", conflicts_with_all = ["time", "out"])]
    video: Option<PathBuf>,
    /// Frames of the video per second
    #[arg(long, value_name = "NUMBER", default_value = "25", value_parser = parse_positive)]
    fps: f64,
    /// Simulated seconds per second of video: 0.1 is ten times slower
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = parse_positive)]
    speed: f64,
    #[command(flatten)]
    shot: ShotArguments,
}

/// Arguments that choose what is seen.
#[derive(clap::Args)]
pub struct ShotArguments {
    /// Direction of view; planar scenes are seen from above
    #[arg(long, value_enum, default_value = "iso")]
    view: ViewName,
    /// Position of the camera [m]
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_point, allow_hyphen_values = true, requires = "target")]
    eye: Option<[f64; 3]>,
    /// The point that the camera looks at [m]
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_point, allow_hyphen_values = true, requires = "eye")]
    target: Option<[f64; 3]>,
    /// Draw without perspective
    #[arg(long)]
    orthographic: bool,
    /// Width and height of the picture [px]
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = parse_size)]
    size: [usize; 2],
    /// Samples per pixel; more are smoother and slower
    #[arg(long, value_name = "NUMBER", default_value = "9", value_parser = clap::value_parser!(u16).range(1..=4096))]
    samples: u16,
    /// What the colours of stones show
    #[arg(long, value_enum)]
    color_by: Option<ColourName>,
    /// Draw contact forces as tubes between the centres of the stones
    #[arg(long)]
    chains: bool,
    /// Do not draw bodies with this name (`*` for any letters); `walls` are all fixed bodies
    #[arg(long, value_name = "NAME")]
    hide: Vec<String>,
    /// Leave out a half-space, such as `x>0.1` [m]
    #[arg(long, value_name = "CUT", value_parser = Cut::parse)]
    cut: Option<Cut>,
    /// Colours of background and text
    #[arg(long, value_enum, default_value = "light")]
    theme: ThemeName,
    /// Draw neither the time nor colour bars
    #[arg(long)]
    plain: bool,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "NUMBER", value_parser = parse_threads)]
    threads: Option<usize>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ViewName {
    Iso,
    Front,
    Back,
    Side,
    Top,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ColourName {
    /// Speed of the centre of mass
    Speed,
    /// Sum of the normal contact forces
    Force,
    /// Distance from the position in the first frame
    Displacement,
    /// Size
    Size,
    /// Material
    Material,
    /// Number of touching bodies
    Coordination,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ThemeName {
    Light,
    Dark,
}

impl ShotArguments {
    /// The shot that the arguments describe; also sets the number of threads.
    fn shot(&self) -> Result<Shot, Failure> {
        set_threads(self.threads)?;
        let view = match self.view {
            ViewName::Iso => View::Iso,
            ViewName::Front => View::Front,
            ViewName::Back => View::Back,
            ViewName::Side => View::Side,
            ViewName::Top => View::Top,
        };
        let colour_by = match self.color_by {
            None => ColourBy::Nothing,
            Some(ColourName::Speed) => ColourBy::Speed,
            Some(ColourName::Force) => ColourBy::Force,
            Some(ColourName::Displacement) => ColourBy::Displacement,
            Some(ColourName::Size) => ColourBy::Size,
            Some(ColourName::Material) => ColourBy::Material,
            Some(ColourName::Coordination) => ColourBy::Coordination,
        };
        let theme = match self.theme {
            ThemeName::Light => Theme::Light,
            ThemeName::Dark => Theme::Dark,
        };
        let position = match self.eye.zip(self.target) {
            Some((eye, target)) => Position::At { eye, target },
            None => Position::Standard(view),
        };
        let samples = usize::from(self.samples);
        Ok(Shot {
            choice: Choice {
                colour_by,
                chains: self.chains,
                hide: self.hide.clone(),
                cut: self.cut,
            },
            position,
            orthographic: self.orthographic,
            style: Style { size: self.size, samples, theme, ..Style::default() },
            labels: !self.plain,
        })
    }
}

/// Draws a picture or a film.
pub fn render(arguments: &Arguments) -> Result<(), Failure> {
    let shot = arguments.shot.shot()?;
    let run = RunFile::open(&arguments.run).map_err(input)?;
    match &arguments.video {
        Some(path) => film(&run, &shot, path, arguments),
        None => picture(&run, &shot, arguments),
    }
}

fn picture(run: &RunFile, shot: &Shot, arguments: &Arguments) -> Result<(), Failure> {
    let path = arguments.out.clone().unwrap_or_else(|| "picture.png".into());
    let frame = frame_at(run, &arguments.run, arguments.time).map_err(input)?;
    let film = Film::new(run, shot, &[frame]).map_err(input)?;
    let image = film.picture(frame).map_err(input)?;
    write_whole(&path, &image.to_png()).map_err(failed)?;
    let time = number(run.times()[frame]);
    print(&format!("{}: the frame at {time} s\n", path.display()));
    Ok(())
}

fn film(run: &RunFile, shot: &Shot, path: &Path, arguments: &Arguments) -> Result<(), Failure> {
    frame_at(run, &arguments.run, None).map_err(input)?;
    let frames =
        video::frames(run.times(), arguments.fps, arguments.speed).map_err(Failure::Input)?;
    let film = Film::new(run, shot, &frames).map_err(input)?;
    let mut writer = FilmWriter::create(path, shot.style.size, arguments.fps).map_err(failed)?;
    if writer.path() != path {
        eprintln!("note: ffmpeg was not found; writing {} instead", writer.path().display());
    }
    let mut last = None;
    for frame in &frames {
        // At low speed a frame is shown several times.
        let image = match last.take() {
            Some((shown, image)) if shown == *frame => image,
            _ => film.picture(*frame).map_err(input)?,
        };
        writer.add(&image).map_err(failed)?;
        last = Some((*frame, image));
    }
    let path = writer.path().to_owned();
    writer.finish().map_err(failed)?;
    print(&format!("{}: {}\n", path.display(), counted(frames.len(), "picture")));
    Ok(())
}

fn input(error: Error) -> Failure {
    Failure::Input(error.to_string())
}

fn failed(error: Error) -> Failure {
    Failure::Run(error.to_string())
}

/// Parses a point, three numbers.
fn parse_point(text: &str) -> Result<[f64; 3], String> {
    let numbers: Option<Vec<f64>> =
        text.split(',').map(|x| x.trim().parse().ok().filter(|x: &f64| x.is_finite())).collect();
    let point = numbers.and_then(|numbers| numbers.try_into().ok());
    point.ok_or_else(|| "expected three numbers, such as `1,-2,0.5`".into())
}

/// Parses the size of a picture.
fn parse_size(text: &str) -> Result<[usize; 2], String> {
    let side = |text: &str| text.parse().ok().filter(|n| (16..=16384).contains(n));
    let sides =
        text.split_once('x').and_then(|(width, height)| Some([side(width)?, side(height)?]));
    sides.ok_or_else(|| "expected width and height from 16 to 16384, such as `1280x720`".into())
}
