//! Reads a run file.

use std::collections::HashMap;
use std::path::Path;

use super::layout::FORMAT;
use super::shapes::{BLOCKS, WALLS};
use super::{ContactSet, FILE, Model, Poses, Rope, SurfaceSet};
use crate::Error;
use crate::hdf5_append::{Reader, Stored, Type, number_at};

/// Maximum number of frames.
const MAX_FRAMES: i64 = 1 << 28;

/// Names of all blocks.
const KNOWN: [&str; 8] =
    ["stones", "machines", "walls", "flexible", "centres", "contacts", "ropes", "chains"];

/// A run file opened for reading, also while a run adds frames to it.
#[derive(Debug)]
pub struct RunFile {
    file: Reader,
    times: Vec<f64>,
    steps: Vec<u64>,
    models: Vec<u32>,
    /// Times of the surfaces and contacts of each frame [s].
    part_times: [Vec<f64>; 2],
}

impl RunFile {
    /// Opens `run.vtkhdf` of a run folder, or a file by its path. Only the index is read.
    pub fn open(path: impl AsRef<Path>) -> Result<RunFile, Error> {
        let path = path.as_ref();
        let path = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        let file = Reader::open(&path)?;
        match file.integer("riprap", "Format")? {
            FORMAT => {}
            other => {
                let message = format!("its format {other} is unknown to this version of riprap");
                return Err(file.refuse(message));
            }
        }
        if let Some(other) = file.groups_of("VTKHDF").find(|name| !KNOWN.contains(name)) {
            return Err(file.refuse(format!("its block `{other}` is unknown")));
        }
        let (times, steps, models) = Default::default();
        let mut run = RunFile { file, times, steps, models, part_times: Default::default() };
        run.refresh()?;
        Ok(run)
    }

    /// Looks for frames that a running simulation has added since; whether there are any.
    pub fn refresh(&mut self) -> Result<bool, Error> {
        let n = self.file.integer("riprap", "NSteps")?;
        if !(0..=MAX_FRAMES).contains(&n) {
            return Err(self.file.refuse(format!("it claims to have {n} frames")));
        }
        let known = if self.has_last_frame(n as usize)? { self.times.len() as u64 } else { 0 };
        let more = n as u64 - known;
        let steps = "VTKHDF/centres/Steps";
        let times = self.reals(&format!("{steps}/Values"), known, more)?;
        let counts = self.integers("riprap/step", known, more)?;
        let models = self.integers("riprap/model", known, more)?;
        let surfaces = self.reals("riprap/surface_time", known, more)?;
        let contacts = self.reals("riprap/contact_time", known, more)?;
        for (times, more) in self.part_times.iter_mut().zip([surfaces, contacts]) {
            times.truncate(known as usize);
            times.extend(more);
        }
        self.times.truncate(known as usize);
        self.steps.truncate(known as usize);
        self.models.truncate(known as usize);
        self.times.extend(times);
        self.steps.extend(counts.iter().map(|step| *step as u64));
        self.models.extend(models.iter().map(|model| *model as u32));
        Ok(more > 0)
    }

    /// Whether the last known frame is still in a file of `n` frames. A resumed run removes that of its interruption and adds
    /// others.
    fn has_last_frame(&self, n: usize) -> Result<bool, Error> {
        let (Some(last), Some(step)) = (self.times.len().checked_sub(1), self.steps.last()) else {
            return Ok(true);
        };
        Ok(last < n && self.at("riprap/step", last)? == *step)
    }

    /// Times of the frames [s].
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Number of time steps before each frame.
    pub fn steps(&self) -> &[u64] {
        &self.steps
    }

    /// Number of the model of each frame.
    pub fn models(&self) -> &[u32] {
        &self.models
    }

    /// Time of the surfaces of each frame [s]: earlier than that of the frame if they are written less often.
    pub fn surface_times(&self) -> &[f64] {
        &self.part_times[0]
    }

    /// Time of the contacts of each frame [s]: earlier than that of the frame if they are written less often.
    pub fn contact_times(&self) -> &[f64] {
        &self.part_times[1]
    }

    /// A model by its number.
    pub fn model(&self, number: u32) -> Result<Model, Error> {
        if !self.models.contains(&number) {
            return Err(self.file.refuse(format!("there is no model {number}")));
        }
        let rows = self.file.array("riprap/model_rows", Type::I64, 3)?;
        let row = self.file.rows(rows, number.into(), 1)?;
        let [first, length] = [0, 8].map(|at| number_at(&row, at));
        let array = self.file.array("riprap/models", Type::U8, 0)?;
        let bytes = self.file.rows(array, first, length)?;
        let model: Result<Model, _> = postcard::from_bytes(&bytes);
        let model = model.map_err(|_| self.file.refuse(format!("model {number} is damaged")))?;
        match model.is_consistent() {
            true => Ok(model),
            false => Err(self.file.refuse(format!("model {number} contradicts itself"))),
        }
    }

    /// Number of bodies of a model.
    fn n_bodies(&self, model: u32) -> Result<u64, Error> {
        let path = "VTKHDF/centres/NumberOfPoints";
        Ok(self.integers(path, model.into(), 1)?[0] as u64)
    }

    /// Poses and velocities in a frame.
    pub fn frame(&self, k: usize) -> Result<Poses, Error> {
        let model = self.model_at(k)?;
        let n = self.n_bodies(model)?;
        let first = self.at("VTKHDF/centres/Steps/PointOffsets", k)?;
        let data = |name: &str, width: usize| {
            let path = format!("VTKHDF/centres/PointData/{name}");
            self.file.rows(self.file.array(&path, Type::F32, width)?, first, n)
        };
        let points = self.file.array("VTKHDF/centres/Points", Type::F64, 3)?;
        let position = self.file.rows(points, first, n)?;
        Ok(Poses {
            time: self.times[k],
            step: self.steps[k],
            model,
            position: rows_of(&position, f64::from_le_bytes),
            rotation: rows_of(&data("rotation", 4)?, f32::from_le_bytes),
            velocity: rows_of(&data("velocity [m s^-1]", 3)?, f32::from_le_bytes),
            angular_velocity: rows_of(&data("angular velocity [rad s^-1]", 3)?, f32::from_le_bytes),
            ropes: self.ropes(k)?,
        })
    }

    /// The contacts at the time of a frame, or the last ones before it. Contacts of bodies that have broken since are left out.
    pub fn contacts(&self, k: usize) -> Result<ContactSet, Error> {
        let model = self.model_at(k)?;
        let time = self.part_times[1][k];
        let part = self.at("VTKHDF/contacts/Steps/PartOffsets", k)?;
        let n = self.integers("VTKHDF/contacts/NumberOfPoints", part, 1)?[0] as u64;
        let first = self.at("VTKHDF/contacts/Steps/PointOffsets", k)?;
        let rows = |path: &str, kind: Type, width: usize| {
            let array = self.file.array(&format!("VTKHDF/contacts/{path}"), kind, width)?;
            self.file.rows(array, first, n)
        };
        let vectors = |path: &str| Ok(rows_of(&rows(path, Type::F32, 3)?, f32::from_le_bytes));
        let gap = rows("PointData/gap [m]", Type::F32, 0)?;
        let ids: Vec<[u32; 2]> =
            rows_of(&rows("PointData/bodies", Type::U32, 2)?, u32::from_le_bytes);
        let mut set = ContactSet {
            time,
            point: vectors("Points")?,
            force: vectors("PointData/force [N]")?,
            normal: vectors("PointData/normal")?,
            gap: gap.as_chunks::<4>().0.iter().map(|x| f32::from_le_bytes(*x)).collect(),
            bodies: ids,
        };
        self.name_rows(model, &mut set)?;
        Ok(set)
    }

    /// The surfaces at the time of a frame, or the last ones before it.
    pub fn surfaces(&self, k: usize) -> Result<SurfaceSet, Error> {
        self.model_at(k)?;
        let mut set = SurfaceSet { time: self.part_times[0][k], ..SurfaceSet::default() };
        for block in BLOCKS {
            if self.has_block(block) {
                self.add_surface(block, k, &mut set)?;
            }
        }
        Ok(set)
    }

    fn add_surface(&self, block: &str, k: usize, set: &mut SurfaceSet) -> Result<(), Error> {
        let path = |name: &str| format!("VTKHDF/{block}/{name}");
        let count = |name: &str, part| Ok(self.integers(&path(name), part, 1)?[0] as u64);
        let rows = |name: &str, kind: Type, width: usize, first: u64, n: u64| {
            self.file.rows(self.file.array(&path(name), kind, width)?, first, n)
        };
        // Of four kinds of cells, polygons are the third.
        let polygons = |name: &str| -> Result<u64, Error> {
            Ok(number_at(&rows(name, Type::I64, 4, k as u64, 1)?, 16))
        };
        let part = self.at(&path("Steps/PartOffsets"), k)?;
        let (n, points) = (count("Polygons/NumberOfCells", part)?, count("NumberOfPoints", part)?);
        let ids = count("Polygons/NumberOfConnectivityIds", part)?;
        let first = self.at(&path("Steps/PointOffsets"), k)?;
        let corner = set.points.len() as u32;
        let points = rows("Points", Type::F32, 3, first, points)?;
        set.points.extend(rows_of::<3, 4, f32>(&points, f32::from_le_bytes));

        let first = polygons("Steps/CellOffsets")?.wrapping_add(part);
        let ends = rows("Polygons/Offsets", Type::I32, 0, first, n.saturating_add(1))?;
        let end = set.corners.len() as u32;
        set.ends.extend(integers_of(&ends).iter().skip(1).map(|e| end.wrapping_add(*e as u32)));
        let first = polygons("Steps/ConnectivityIdOffsets")?;
        let corners = integers_of(&rows("Polygons/Connectivity", Type::I32, 0, first, ids)?);
        set.corners.extend(corners.iter().map(|c| corner.wrapping_add(*c as u32)));

        let first = self.at(&path("Steps/CellDataOffsets/body"), k)?;
        let bodies = integers_of(&rows("CellData/body", Type::I32, 0, first, n)?);
        set.bodies.extend(bodies.iter().map(|id| *id as u32));
        let materials = integers_of(&rows("CellData/material", Type::I32, 0, first, n)?);
        set.materials.extend(materials.iter().map(|material| *material as u32));
        let speed = "CellData/speed [m s^-1]";
        if block != BLOCKS[WALLS] {
            let first = self.at(&path("Steps/CellDataOffsets/speed [m s^-1]"), k)?;
            let speeds = rows(speed, Type::F32, 0, first, n)?;
            set.speeds.extend(speeds.as_chunks::<4>().0.iter().map(|x| f32::from_le_bytes(*x)));
        }
        // Walls do not move.
        set.speeds.resize(set.bodies.len(), 0.0);
        let inside = |values: &[u32], n: usize| values.iter().all(|value| (*value as usize) <= n);
        let n_points = set.points.len().saturating_sub(1);
        match inside(&set.ends, set.corners.len()) && inside(&set.corners, n_points) {
            true => Ok(()),
            false => Err(self.file.refuse(format!("the polygons of `{block}` are damaged"))),
        }
    }

    /// Replaces the ids of bodies by their rows in a model, and removes contacts of bodies that are not in it.
    fn name_rows(&self, model: u32, set: &mut ContactSet) -> Result<(), Error> {
        let ids = self.ids(model)?;
        if ids.iter().enumerate().all(|(row, id)| *id as usize == row)
            && set.bodies.iter().flatten().all(|id| (*id as usize) < ids.len())
        {
            return Ok(());
        }
        let rows: HashMap<u32, u32> = ids.iter().zip(0..).map(|(id, row)| (*id, row)).collect();
        let found: Vec<Option<[u32; 2]>> =
            set.bodies.iter().map(|[a, b]| Some([*rows.get(a)?, *rows.get(b)?])).collect();
        fn keep<T: Copy>(values: &mut Vec<T>, found: &[Option<[u32; 2]>]) {
            let kept = values.iter().zip(found).filter(|(_, found)| found.is_some());
            *values = kept.map(|(value, _)| *value).collect();
        }
        keep(&mut set.point, &found);
        keep(&mut set.force, &found);
        keep(&mut set.normal, &found);
        keep(&mut set.gap, &found);
        set.bodies = found.into_iter().flatten().collect();
        Ok(())
    }

    /// Ids of the bodies of a model.
    /// Ids of the bodies of a model.
    pub fn ids(&self, model: u32) -> Result<Vec<u32>, Error> {
        let k = self.models.iter().position(|m| *m == model).unwrap_or(0);
        let first = self.at("VTKHDF/centres/Steps/PointDataOffsets/id", k)?;
        let array = self.file.array("VTKHDF/centres/PointData/id", Type::I32, 0)?;
        let rows = self.file.rows(array, first, self.n_bodies(model)?)?;
        Ok(rows.as_chunks::<4>().0.iter().map(|x| u32::from_le_bytes(*x)).collect())
    }

    fn ropes(&self, k: usize) -> Result<Vec<Rope>, Error> {
        if !self.has_block("ropes") {
            return Ok(Vec::new());
        }
        let part = self.at("VTKHDF/ropes/Steps/PartOffsets", k)?;
        let n = self.integers("VTKHDF/ropes/Lines/NumberOfCells", part, 1)?[0] as u64;
        let n_points = self.integers("VTKHDF/ropes/NumberOfPoints", part, 1)?[0] as u64;
        let row = |path: &str, width: usize, component: usize| -> Result<u64, Error> {
            let array = self.file.array(&format!("VTKHDF/ropes/Steps/{path}"), Type::I64, width)?;
            Ok(number_at(&self.file.rows(array, k as u64, 1)?, 8 * component))
        };
        let rows = |path: &str, kind: Type, width: usize, first: u64, n: u64| {
            let array = self.file.array(&format!("VTKHDF/ropes/{path}"), kind, width)?;
            self.file.rows(array, first, n)
        };
        let first = row("PointOffsets", 0, 0)?;
        let points: Vec<[f32; 3]> =
            rows_of(&rows("Points", Type::F32, 3, first, n_points)?, f32::from_le_bytes);
        // As VTK finds them: from the first cell plus the number of parts before.
        let first = row("CellOffsets", 4, 1)?.wrapping_add(part);
        let ends = integers_of(&rows("Lines/Offsets", Type::I32, 0, first, n.saturating_add(1))?);
        let numbers = row("CellDataOffsets/rope", 0, 0)?;
        let numbers = integers_of(&rows("CellData/rope", Type::I32, 0, numbers, n)?);
        let first = row("CellDataOffsets/tension [N]", 0, 0)?;
        let reals = |path: &str| -> Result<Vec<[f32; 1]>, Error> {
            Ok(rows_of(&rows(path, Type::F32, 0, first, n)?, f32::from_le_bytes))
        };
        let (tension, slack) = (reals("CellData/tension [N]")?, reals("CellData/slack [m]")?);
        let rope = |i: usize| {
            let range = ends[i].try_into().ok()?..ends[i + 1].try_into().ok()?;
            let points = points.get::<std::ops::Range<usize>>(range)?.to_vec();
            Some(Rope {
                rope: numbers[i] as u32,
                points,
                tension: tension[i][0],
                slack: slack[i][0],
            })
        };
        let ropes: Option<Vec<Rope>> = (0..n as usize).map(rope).collect();
        ropes.ok_or_else(|| self.file.refuse(format!("the ropes of frame {k} are damaged")))
    }

    fn has_block(&self, block: &str) -> bool {
        self.file.groups_of("VTKHDF").any(|name| name == block)
    }

    fn model_at(&self, k: usize) -> Result<u32, Error> {
        let n = self.models.len();
        let model = self.models.get(k).copied();
        model.ok_or_else(|| self.file.refuse(format!("there is no frame {k}: it has {n}")))
    }

    /// A number of a frame that says where its rows begin.
    fn at(&self, path: &str, k: usize) -> Result<u64, Error> {
        Ok(self.integers(path, k as u64, 1)?[0] as u64)
    }

    fn integers(&self, path: &str, first: u64, n: u64) -> Result<Vec<i64>, Error> {
        let rows = self.column(path, Type::I64, first, n)?;
        Ok(rows.as_chunks::<8>().0.iter().map(|x| i64::from_le_bytes(*x)).collect())
    }

    fn reals(&self, path: &str, first: u64, n: u64) -> Result<Vec<f64>, Error> {
        let rows = self.column(path, Type::F64, first, n)?;
        Ok(rows.as_chunks::<8>().0.iter().map(|x| f64::from_le_bytes(*x)).collect())
    }

    fn column(&self, path: &str, kind: Type, first: u64, n: u64) -> Result<Vec<u8>, Error> {
        let array: Stored = self.file.array(path, kind, 0)?;
        self.file.rows(array, first, n)
    }
}

fn integers_of(bytes: &[u8]) -> Vec<i32> {
    bytes.as_chunks::<4>().0.iter().map(|x| i32::from_le_bytes(*x)).collect()
}

/// Rows of numbers.
fn rows_of<const N: usize, const SIZE: usize, T: Copy + Default>(
    bytes: &[u8],
    decode: impl Fn([u8; SIZE]) -> T,
) -> Vec<[T; N]> {
    let numbers = bytes.as_chunks::<SIZE>().0;
    let rows = numbers.as_chunks::<N>().0;
    rows.iter().map(|row| row.map(&decode)).collect()
}
