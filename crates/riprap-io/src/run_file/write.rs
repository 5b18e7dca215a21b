//! Writes a run file, one step at a time.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use riprap::math::{Pose, Vec3};

use super::layout::{Block, Column, Contents, LINES, Layout, POLYGONS, column_path};
use super::shapes::{Shapes, WALLS};
use crate::atomic;
use crate::error::Error;
use crate::hdf5_append::{Appender, Array, Reader, Store, Type, number_at};
use crate::output::{Link, Snapshot};
use crate::sealed::sha256;

/// Writes a run file. A step is complete in the file before the next one begins.
#[derive(Debug)]
pub(crate) struct RunFileWriter {
    path: PathBuf,
    /// The layout of a file that does not exist yet: that of the scene as described, which a resumed run knows too.
    layout: Option<Layout>,
    shapes: Shapes,
    /// Hash of the model in use, in hexadecimal digits, and its encoded form until it is written.
    hash: i64,
    open: Option<Open>,
}

/// A file with at least one step.
#[derive(Debug)]
pub(super) struct Open<S = File> {
    pub(super) file: Appender<S>,
    layout: Layout,
    n_steps: u64,
    /// Rows of the columns at the next step.
    values: Vec<Vec<u8>>,
    /// Hash of the last model of the file, if there is one.
    model: Option<i64>,
    /// Ropes of the last part of the block of ropes.
    ropes: Vec<usize>,
}

/// What is written at a step.
#[derive(Debug)]
pub(crate) struct Due<'a> {
    pub surfaces: bool,
    pub contacts: bool,
    /// Force chains and the size of a grain [m]; with the contacts.
    pub chains: Option<(&'a [Link], f64)>,
}

impl RunFileWriter {
    /// A writer of a file that is created with its first step.
    pub fn create(path: PathBuf, shapes: Shapes, contents: Contents) -> RunFileWriter {
        let (hash, layout) = (hash(&shapes), Some(Layout::new(&shapes, contents)));
        RunFileWriter { path, layout, shapes, hash, open: None }
    }

    /// A writer that continues a file after its first steps; all later ones are removed.
    pub fn resume(
        path: PathBuf,
        shapes: Shapes,
        contents: Contents,
        n_steps: usize,
    ) -> Result<RunFileWriter, Error> {
        let mut writer = RunFileWriter::create(path, shapes, contents);
        if n_steps == 0 {
            match fs::remove_file(&writer.path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", &writer.path)(error));
                }
                _ => return Ok(writer),
            }
        }
        writer.open = Some(Open::resume(&writer.path, &writer.shapes, contents, n_steps as u64)?);
        Ok(writer)
    }

    /// Uses other shapes from the next step on: stones have broken or worn.
    pub fn set_shapes(&mut self, shapes: Shapes) {
        self.hash = hash(&shapes);
        self.shapes = shapes;
    }

    /// Makes sure that all steps survive a power failure.
    pub fn sync(&self) -> Result<(), Error> {
        let sync = self.open.as_ref().map_or(Ok(()), |open| open.file.store().sync_data());
        sync.map_err(Error::io("write", &self.path))
    }

    /// Adds a step. The first one contains everything.
    pub fn write(&mut self, snapshot: &Snapshot, due: &Due) -> Result<(), Error> {
        let failed = Error::io("write", &self.path);
        let mut temporary = None;
        if self.open.is_none() {
            let (file, path) = match atomic::temporary(&self.path) {
                Ok(created) => created.into_parts(),
                Err(error) => return Err(failed(error)),
            };
            temporary = Some(path);
            let layout = self.layout.take().expect("the file is created once");
            self.open = Some(Open::new(file, layout));
        }
        let open = self.open.as_mut().expect("opened above");
        open.step(&self.shapes, self.hash, snapshot, due);
        let written = open.file.commit().and_then(|()| match temporary {
            // A file that others see is complete.
            Some(temporary) => temporary.persist(&self.path).map_err(|refused| refused.error),
            None => Ok(()),
        });
        written.map_err(failed)
    }
}

/// Identifies the content of a model.
pub(super) fn hash(shapes: &Shapes) -> i64 {
    let digits = sha256(&model_bytes(shapes));
    i64::from_str_radix(&digits[..15], 16).unwrap_or(0)
}

fn model_bytes(shapes: &Shapes) -> Vec<u8> {
    postcard::to_stdvec(&shapes.model).expect("a model can be encoded")
}

fn bytes_of<const N: usize, T>(values: &[T], encode: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    let mut out = Vec::with_capacity(N * values.len());
    for value in values {
        out.extend(encode(value));
    }
    out
}

fn reals(values: &[f32]) -> Vec<u8> {
    bytes_of(values, |x| x.to_le_bytes())
}

fn integers(values: &[i32]) -> Vec<u8> {
    bytes_of(values, |x| x.to_le_bytes())
}

/// Components of vectors.
fn vectors(values: impl Iterator<Item = Vec3>) -> Vec<u8> {
    let mut out = Vec::with_capacity(12 * values.size_hint().0);
    for v in values {
        for x in [v.x, v.y, v.z] {
            out.extend((x as f32).to_le_bytes());
        }
    }
    out
}

impl Open {
    fn resume(path: &Path, shapes: &Shapes, contents: Contents, n: u64) -> Result<Open, Error> {
        let reader = Reader::open(path)?;
        let refuse = |message: &str| {
            let remedy = "start the run again without `--resume`";
            Err(Error::Data { path: path.to_owned(), message: format!("{message}; {remedy}") })
        };
        if reader.integer("riprap", "NSteps")? < n as i64 {
            return refuse("the file has fewer frames than the checkpoint");
        }
        let layout = Layout::new(shapes, contents);
        let mut values = Vec::new();
        for (k, (_, size)) in layout.columns.iter().enumerate() {
            let path = column_path(Column(k));
            let array = reader.find(&path).filter(|array| array.row_size() == *size);
            let Some(array) = array else {
                return refuse("the file is that of another scene or version");
            };
            values.push(reader.rows(array, n - 1, 1)?);
        }
        let number = |column: Column| number_at(&values[column.0], 0) as i64;
        let mut rows: Vec<(Array, u64)> = layout.columns.iter().map(|c| (c.0, n)).collect();
        rows.extend(layout.parts.iter().map(|(array, part)| (*array, number(*part) as u64 + 1)));
        rows.push((layout.ends, n));
        let end = reader.rows(reader.array("riprap/end", Type::I64, 0)?, n - 1, 1)?;
        let model_rows = reader.array("riprap/model_rows", Type::I64, 3)?;
        let model = number_at(&reader.rows(model_rows, number(layout.model) as u64, 1)?, 16) as i64;
        let ropes = match &layout.ropes {
            Some(ropes) => {
                let parts = reader.array("VTKHDF/ropes/Lines/NumberOfCells", Type::I64, 0)?;
                let part = number(ropes.block.part) as u64;
                let n = number_at(&reader.rows(parts, part, 1)?, 0);
                let array = reader.array("VTKHDF/ropes/CellData/rope", Type::I32, 0)?;
                let rows = reader.rows(array, number(ropes.first_static) as u64, n)?;
                rows.as_chunks::<4>().0.iter().map(|x| i32::from_le_bytes(*x) as usize).collect()
            }
            None => Vec::new(),
        };
        let counters: Vec<_> = layout.n_steps.iter().map(|c| (*c, n as i64)).collect();
        let store = OpenOptions::new().read(true).write(true).open(path);
        let store = store.map_err(Error::io("open", path))?;
        let end = number_at(&end, 0);
        let file = Appender::reopen(store, &layout.plan, end, &rows, &counters);
        let Some(file) = file.map_err(Error::io("write", path))? else {
            return refuse("the file is that of another scene or version");
        };
        Ok(Open { file, layout, n_steps: n, values, model: Some(model), ropes })
    }
}

impl<S: Store> Open<S> {
    pub(super) fn new(store: S, layout: Layout) -> Open<S> {
        let mut values: Vec<Vec<u8>> = layout.columns.iter().map(|c| vec![0; c.1]).collect();
        values[layout.one.0] = 1i64.to_le_bytes().into();
        let file = Appender::new(store, &layout.plan);
        Open { file, layout, n_steps: 0, values, model: None, ropes: Vec::new() }
    }

    /// Adds everything of a step to the file; it is to be committed.
    pub(super) fn step(&mut self, shapes: &Shapes, hash: i64, snapshot: &Snapshot, due: &Due) {
        let first = self.n_steps == 0;
        let new_model = self.model != Some(hash);
        if new_model {
            self.write_model(shapes, hash);
        }
        let (time, step) = snapshot.at;
        self.values[self.layout.time.0] = time.to_le_bytes().into();
        self.set(self.layout.step, 0, step as i64);
        self.write_centres(snapshot);
        if due.surfaces || first || new_model {
            self.values[self.layout.surface_time.0] = time.to_le_bytes().into();
            self.write_surfaces(shapes, snapshot);
            self.write_ropes(snapshot);
        }
        if due.contacts || first {
            self.values[self.layout.contact_time.0] = time.to_le_bytes().into();
            self.write_contacts(snapshot);
            self.write_chains(due.chains.unwrap_or((&[], 1.0)));
        }
        for ((array, _), value) in self.layout.columns.iter().zip(&self.values) {
            self.file.push(*array, value);
        }
        self.n_steps += 1;
        for counter in &self.layout.n_steps {
            self.file.set_counter(*counter, self.n_steps as i64);
        }
        self.file.push_end(self.layout.ends);
    }

    fn set(&mut self, column: Column, component: usize, value: i64) {
        self.values[column.0][8 * component..][..8].copy_from_slice(&value.to_le_bytes());
    }

    /// Appends rows to an array, and records where they begin.
    fn append(&mut self, array: Array, rows: &[u8], first: Column) {
        let begin = self.file.append(array, rows);
        self.set(first, 0, begin as i64);
    }

    /// A part of a block: number of its points, and its cells of a kind, if they are stored.
    fn part(&mut self, block: &Block, n_points: usize, cells: Option<(usize, &[i32], &[i32])>) {
        let n = n_points as i64;
        let part = self.file.push(block.n_points, &n.to_le_bytes());
        self.set(block.part, 0, part as i64);
        let Some((kind, offsets, connectivity)) = cells else {
            return self.vertices(block, n_points);
        };
        let counts = [(block.n_cells, offsets.len() - 1), (block.n_ids, connectivity.len())];
        for (array, n) in counts {
            self.file.push(array, &(n as i64).to_le_bytes());
        }
        let row = self.file.append(block.offsets, &integers(offsets)) as i64;
        let id = self.file.append(block.connectivity, &integers(connectivity)) as i64;
        // VTK reads offsets from the first cell plus the number of parts before.
        if block.first_cell != block.first_id {
            self.set(block.first_cell, kind, row - part as i64);
            self.set(block.first_id, kind, id);
        }
    }

    /// Each point is a vertex, whatever the part: a list of numbers, as long as the longest part.
    fn vertices(&mut self, block: &Block, n: usize) {
        for (array, n) in [(block.offsets, n as u64 + 1), (block.connectivity, n as u64)] {
            let (rows, chunk) = (self.file.rows(array), self.file.chunk_rows(array));
            let end = n.next_multiple_of(chunk);
            if end > rows {
                let more: Vec<i32> = (rows as i32..end as i32).collect();
                self.file.append(array, &integers(&more));
            }
        }
    }

    fn write_model(&mut self, shapes: &Shapes, hash: i64) {
        let (first, model) = (self.model.is_none(), &shapes.model);
        self.model = Some(hash);
        let encoded = model_bytes(shapes);
        let begin = self.file.append(self.layout.model_bytes, &encoded);
        let row = [begin as i64, encoded.len() as i64, hash].map(i64::to_le_bytes).concat();
        let number = self.file.push(self.layout.model_rows, &row);
        self.set(self.layout.model, 0, number as i64);

        let centres = self.layout.centres;
        let n = model.names.len();
        self.part(&centres.block, n, None);
        let numbers = |values: &[u32]| bytes_of(values, |x| (*x as i32).to_le_bytes());
        self.append(centres.id, &numbers(&model.ids), centres.first_static);
        self.append(centres.material, &numbers(&model.material), centres.first_static);
        self.append(centres.mass, &reals(&model.mass), centres.first_static);
        self.append(centres.size, &reals(&model.size), centres.first_static);
        for ((array, begin, size), names) in
            centres.names.into_iter().zip([&model.names, &model.materials])
        {
            let references = self.file.texts(names);
            self.append(array, &references, begin);
            self.set(size, 0, 1);
            self.set(size, 1, names.len() as i64);
        }
        for k in 0..self.layout.surfaces.len() {
            if let Some(arrays) = self.layout.surfaces[k]
                && (first || k == 0)
            {
                let surface = &shapes.surfaces[k];
                let cells = (POLYGONS, &surface.offsets[..], &surface.connectivity[..]);
                self.part(&arrays.block, surface.n_points(), Some(cells));
                let bodies = surface.per_face(|body| model.ids[body] as i32);
                let materials = surface.per_face(|body| model.material[body] as i32);
                self.append(arrays.body, &integers(&bodies), arrays.first_static);
                self.append(arrays.material, &integers(&materials), arrays.first_static);
            }
        }
    }

    fn write_centres(&mut self, snapshot: &Snapshot) {
        let centres = self.layout.centres;
        let mut points = Vec::with_capacity(24 * snapshot.q.len());
        let mut rotations = Vec::with_capacity(16 * snapshot.q.len());
        for Pose { position, rotation } in &snapshot.q {
            points.extend(position.iter().flat_map(|x| x.to_le_bytes()));
            rotations.extend(rotation.coords.iter().flat_map(|x| (*x as f32).to_le_bytes()));
        }
        let first = centres.block.first_point;
        self.append(centres.block.points, &points, first);
        self.append(centres.rotation, &rotations, first);
        self.append(centres.velocity, &vectors(snapshot.v.iter().map(|v| v.linear)), first);
        let spin = vectors(snapshot.v.iter().map(|v| v.angular));
        self.append(centres.angular_velocity, &spin, first);
    }

    fn write_surfaces(&mut self, shapes: &Shapes, snapshot: &Snapshot) {
        for k in 0..self.layout.surfaces.len() {
            let Some(arrays) = self.layout.surfaces[k] else { continue };
            if k == WALLS && self.n_steps > 0 {
                continue;
            }
            let surface = &shapes.surfaces[k];
            let points = surface.placed(&snapshot.q, shapes.grid);
            self.append(arrays.block.points, &reals(&points), arrays.block.first_point);
            if let Some((speed, first)) = arrays.speed {
                let speeds = surface.per_face(|body| snapshot.v[body].linear.norm() as f32);
                self.append(speed, &reals(&speeds), first);
            }
        }
    }

    fn write_contacts(&mut self, snapshot: &Snapshot) {
        let arrays = self.layout.contacts;
        let contacts = &snapshot.contacts;
        self.part(&arrays.block, contacts.len(), None);
        let normal_force =
            |k: usize| contacts[k].normal * contacts[k].normal.dot(&contacts[k].force);
        let all = || 0..contacts.len();
        let first = arrays.block.first_point;
        let mut vector = |array: Array, of: &dyn Fn(usize) -> Vec3| {
            self.append(array, &vectors(all().map(of)), first);
        };
        vector(arrays.block.points, &|k| contacts[k].point);
        vector(arrays.force, &|k| contacts[k].force);
        vector(arrays.normal_force, &normal_force);
        vector(arrays.tangential_force, &|k| contacts[k].force - normal_force(k));
        vector(arrays.normal, &|k| contacts[k].normal);
        let gaps: Vec<f32> = contacts.iter().map(|c| c.gap as f32).collect();
        self.append(arrays.gap, &reals(&gaps), first);
        let bodies: Vec<u32> = contacts.iter().flat_map(|c| c.bodies.map(|body| body.0)).collect();
        self.append(arrays.bodies, &bytes_of(&bodies, |x| x.to_le_bytes()), first);
    }

    fn write_ropes(&mut self, snapshot: &Snapshot) {
        let (Some(arrays), Some(ropes)) = (self.layout.ropes, &snapshot.ropes) else { return };
        let whole: Vec<usize> = ropes.iter().map(|rope| rope.rope).collect();
        if self.n_steps == 0 || whole != self.ropes {
            self.lines(&arrays.block, ropes.iter().map(|rope| rope.points.len()));
            let numbers: Vec<i32> = whole.iter().map(|rope| *rope as i32).collect();
            self.append(arrays.rope, &integers(&numbers), arrays.first_static);
            self.ropes = whole;
        }
        let points = ropes.iter().flat_map(|rope| rope.points.iter().copied());
        self.append(arrays.block.points, &vectors(points), arrays.block.first_point);
        let tension: Vec<f32> = ropes.iter().map(|rope| rope.tension as f32).collect();
        let slack: Vec<f32> = ropes.iter().map(|rope| rope.slack as f32).collect();
        self.append(arrays.tension, &reals(&tension), arrays.first_data);
        self.append(arrays.slack, &reals(&slack), arrays.first_data);
    }

    fn write_chains(&mut self, (links, size): (&[Link], f64)) {
        let Some(arrays) = self.layout.chains else { return };
        self.lines(&arrays.block, links.iter().map(|link| link.points.len()));
        let points = links.iter().flat_map(|link| link.points.iter().copied());
        let first = arrays.block.first_point;
        self.append(arrays.block.points, &vectors(points), first);
        let mean = Link::mean(links);
        let per_point = |value: &dyn Fn(&Link) -> f64| -> Vec<f32> {
            let repeated = |link: &Link| std::iter::repeat_n(value(link) as f32, link.points.len());
            links.iter().flat_map(repeated).collect()
        };
        self.append(arrays.force, &reals(&per_point(&|link| link.force)), first);
        self.append(arrays.radius, &reals(&per_point(&|link| link.radius(mean, size))), first);
        let bodies: Vec<u32> = links.iter().flat_map(|link| link.bodies.map(|b| b.0)).collect();
        let bodies = bytes_of(&bodies, |x| x.to_le_bytes());
        self.append(arrays.bodies, &bodies, arrays.first_bodies);
    }

    /// A part with lines through the given numbers of points.
    fn lines(&mut self, block: &Block, lengths: impl Iterator<Item = usize>) {
        let mut offsets = vec![0];
        for length in lengths {
            offsets.push(offsets.last().copied().unwrap_or(0) + length as i32);
        }
        let n = offsets.last().copied().unwrap_or(0);
        let connectivity: Vec<i32> = (0..n).collect();
        self.part(block, n as usize, Some((LINES, &offsets, &connectivity)));
    }
}
