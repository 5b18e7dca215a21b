//! The motion of bodies by name as a table for other programs: positions, orientations and velocities from the run file.

use std::io::{self, Write};
use std::path::Path;

use crate::atomic;
use crate::error::{Error, Place};
use crate::run_file::{Model, Poses, RunFile};
use crate::scene_file::closest;

/// Headings of the numbers of a row, after time, name and id.
const NUMBERS: [&str; 13] = [
    "x [m]",
    "y [m]",
    "z [m]",
    "q_w [-]",
    "q_x [-]",
    "q_y [-]",
    "q_z [-]",
    "v_x [m/s]",
    "v_y [m/s]",
    "v_z [m/s]",
    "w_x [rad/s]",
    "w_y [rad/s]",
    "w_z [rad/s]",
];

/// Which bodies of a run are exported, and how often.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Names of bodies; `*` stands for any characters and `?` for one. Empty for all bodies.
    pub bodies: Vec<String>,
    /// Interval between the exported frames [s]; `None` for all frames of the run.
    pub every: Option<f64>,
}

/// What has been exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Number of frames.
    pub frames: usize,
    /// Number of different bodies.
    pub bodies: usize,
    /// Number of rows.
    pub rows: usize,
}

/// Writes a table with one row per frame and body: time, name, id, position [m] (of the centre of mass of a free body, of the origin of the
/// shape of others), orientation as a unit quaternion, velocity of the centre of mass [m/s] and angular velocity [rad/s], both in the world frame. A file
/// that ends in `.parquet` is a Parquet file, any other is CSV. `folder` is that of a run, which may still be going on.
///
/// ```
/// use riprap_io::export::{Selection, bodies};
/// use riprap_io::run::{Options, Run};
/// use riprap_io::scene_file::SceneFile;
///
/// let text = r#"
///     run = { dt = "1 ms", until = "20 ms", output_every = "10 ms" }
///     materials.rubber = { density = 1100 }
///     [[body]]
///     name = "ball"
///     material = "rubber"
///     shape = { type = "sphere", radius = "5 cm" }
/// "#;
/// # let out = std::env::temp_dir().join(format!("riprap-export-{}", std::process::id()));
/// Run::new(&SceneFile::parse(text, ".")?, Options::new(&out))?.execute(&mut ())?;
/// let ball = Selection { bodies: vec!["ba*".into()], every: None };
/// let exported = bodies(&out, &ball, &out.join("bodies.csv"))?;
/// assert_eq!((exported.frames, exported.bodies), (3, 1));
/// let table = std::fs::read_to_string(out.join("bodies.csv"))?;
/// assert_eq!(table.lines().nth(1), Some("0,ball,0,0,0,0,1,0,0,0,0,0,0,0,0,0"));
/// # std::fs::remove_dir_all(&out)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn bodies(folder: &Path, selection: &Selection, out: &Path) -> Result<Exported, Error> {
    let run = RunFile::open(folder)?;
    let mut reader = Reader { run, selection, model: None, chosen: Vec::new(), seen: Vec::new() };
    let frames = frames(reader.run.times(), selection.every);
    reader.check(folder, &frames)?;
    let columnar = out.extension().is_some_and(|ending| ending == "parquet");
    let rows = if columnar {
        parquet(&mut reader, &frames, out)?
    } else {
        // The first error of the run file, which the closure cannot return.
        let mut failed = None;
        let mut rows = 0;
        let written = atomic::write(out, |file| {
            writeln!(file, "time [s],name,id,{}", NUMBERS.join(","))?;
            for k in &frames {
                match reader.rows(*k) {
                    Ok(found) => {
                        rows += found.len();
                        found.iter().try_for_each(|row| row.write(file))?;
                    }
                    Err(error) => {
                        failed = Some(error);
                        return Err(io::Error::other("the run file cannot be read"));
                    }
                }
            }
            Ok(())
        });
        if let Some(error) = failed {
            return Err(error);
        }
        written?;
        rows
    };
    Ok(Exported { frames: frames.len(), bodies: reader.seen.len(), rows })
}

/// One row of the table.
struct Row {
    time: f64,
    name: String,
    id: u32,
    numbers: [f64; 13],
}

impl Row {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Row { time, name, id, numbers } = self;
        let name = name.replace([',', '"', '\n', '\r'], "_");
        write!(out, "{time},{name},{id}")?;
        numbers.iter().try_for_each(|x| write!(out, ",{x}"))?;
        writeln!(out)
    }
}

/// Frames at which a multiple of the interval is reached, and the first one.
fn frames(times: &[f64], every: Option<f64>) -> Vec<usize> {
    let Some(every) = every else { return (0..times.len()).collect() };
    // Rounding of sums must not delay a frame.
    let reached = |t: f64| (t / every + 1e-9).floor();
    let due = |k: &usize| *k == 0 || reached(times[*k]) > reached(times[*k - 1]);
    (0..times.len()).filter(due).collect()
}

/// Reads the chosen bodies frame by frame.
struct Reader<'a> {
    run: RunFile,
    selection: &'a Selection,
    /// The last model, with its number.
    model: Option<(u32, Model)>,
    /// Its chosen bodies.
    chosen: Vec<usize>,
    /// Ids of all bodies that have been written.
    seen: Vec<u32>,
}

impl Reader<'_> {
    /// Checks the interval, and that every pattern matches a body of some frame.
    fn check(&mut self, folder: &Path, frames: &[usize]) -> Result<(), Error> {
        let refuse = |message: String| Err(Error::format(folder, Place::Whole, message));
        if self.selection.every.is_some_and(|every| !(every > 0.0 && every.is_finite())) {
            return refuse("the interval between exported frames must be greater than 0".into());
        }
        let mut models: Vec<u32> = frames.iter().map(|k| self.run.models()[*k]).collect();
        models.dedup();
        let mut open: Vec<&String> = self.selection.bodies.iter().collect();
        let mut names: Vec<String> = Vec::new();
        for model in models {
            if open.is_empty() {
                break;
            }
            let model = self.run.model(model)?;
            open.retain(|pattern| !model.names.iter().any(|name| matches(pattern, name)));
            names = model.names;
        }
        let Some(pattern) = open.first() else { return Ok(()) };
        let help = match closest(pattern, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                names.truncate(10);
                format!("its bodies are {}", names.join(", "))
            }
        };
        refuse(format!("the run has no body `{pattern}`; {help}"))
    }

    /// The rows of a frame.
    fn rows(&mut self, k: usize) -> Result<Vec<Row>, Error> {
        let poses = self.run.frame(k)?;
        if self.model.as_ref().is_none_or(|(number, _)| *number != poses.model) {
            let model = self.run.model(poses.model)?;
            let patterns = &self.selection.bodies;
            let wanted =
                |name: &str| patterns.is_empty() || patterns.iter().any(|p| matches(p, name));
            self.chosen = (0..model.names.len()).filter(|i| wanted(&model.names[*i])).collect();
            self.seen.extend(self.chosen.iter().map(|i| model.ids[*i]));
            self.seen.sort_unstable();
            self.seen.dedup();
            self.model = Some((poses.model, model));
        }
        let Some((_, model)) = &self.model else { return Ok(Vec::new()) };
        Ok(self.chosen.iter().map(|i| row(&poses, model, *i)).collect())
    }
}

fn row(poses: &Poses, model: &Model, i: usize) -> Row {
    let [x, y, z] = poses.position[i];
    let [qx, qy, qz, qw] = poses.rotation[i].map(f64::from);
    let [u, v, w] = poses.velocity[i].map(f64::from);
    let [a, b, c] = poses.angular_velocity[i].map(f64::from);
    let numbers = [x, y, z, qw, qx, qy, qz, u, v, w, a, b, c];
    Row { time: poses.time, name: model.names[i].clone(), id: model.ids[i], numbers }
}

/// Whether a name matches a pattern in which `*` stands for any characters and `?` for one.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    // Where to go on if the rest does not match: after the last star, one character further.
    let (mut p, mut n, mut again) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                again = Some((p + 1, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match again {
                Some((after, from)) => {
                    again = Some((after, from + 1));
                    (p, n) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(feature = "parquet")]
fn parquet(reader: &mut Reader<'_>, frames: &[usize], out: &Path) -> Result<usize, Error> {
    let mut names = Vec::new();
    let mut columns = vec![Vec::new(); 2 + NUMBERS.len()];
    for k in frames {
        for row in reader.rows(*k)? {
            names.push(row.name);
            columns[0].push(row.time);
            columns[1].push(f64::from(row.id));
            for (column, x) in columns[2..].iter_mut().zip(row.numbers) {
                column.push(x);
            }
        }
    }
    let headings = ["time [s]", "id"].into_iter().chain(NUMBERS).map(str::to_owned);
    let rows = names.len();
    let numbers: Vec<_> = headings.zip(columns).collect();
    crate::parquet::write(out, &[("name".to_owned(), names)], &numbers)?;
    Ok(rows)
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &mut Reader<'_>, _: &[usize], out: &Path) -> Result<usize, Error> {
    let path = out.to_owned();
    let message = "riprap was built without Parquet; build it with `--features parquet`, or write a .csv file";
    Err(Error::Data { path, message: message.into() })
}

#[cfg(test)]
mod tests;
