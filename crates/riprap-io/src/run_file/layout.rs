//! The structure of a run file: blocks of VTKHDF with their arrays, and where each step finds its rows.
//!
//! VTKHDF describes a step by numbers: where its points, cells and data begin, and which part says how many there are. Each such number
//! is a column with one row per step; columns with the same content are one array with several names.

use crate::hdf5_append::{Array, Attribute, Counter, Group, Plan, Type};

use super::shapes::{BLOCKS, Shapes, WALLS};

/// Format of the group `riprap`.
pub(super) const FORMAT: i64 = 1;

/// Rows of a chunk of bytes of models.
const MODEL_CHUNK: usize = 1 << 16;

/// Maximum number of rows of a chunk of points and their data.
const MAX_ROWS: usize = 1 << 16;

/// Kinds of cells of VTK, in its order.
const TOPOLOGIES: [&str; 4] = ["Vertices", "Lines", "Polygons", "Strips"];
pub(super) const LINES: usize = 1;
pub(super) const POLYGONS: usize = 2;

/// A number (or several) per step: an index into [`Layout::columns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column(pub usize);

/// What a file contains besides bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contents {
    pub ropes: bool,
    pub chains: bool,
    /// Whether free bodies are inserted, even if there are none at first.
    pub insertions: bool,
}

/// Arrays and columns of a run file.
#[derive(Debug)]
pub(super) struct Layout {
    pub plan: Plan,
    /// Number of steps: one attribute per block, and one for our own reader.
    pub n_steps: Vec<Counter>,
    /// Arrays with a row per step, and the size of the row [bytes].
    pub columns: Vec<(Array, usize)>,
    /// Arrays with a row per part, and the column with the number of the part.
    pub parts: Vec<(Array, Column)>,
    pub time: Column,
    pub step: Column,
    pub one: Column,
    pub model: Column,
    pub surface_time: Column,
    pub contact_time: Column,
    /// End of the file after each step; not among the columns, since it is known last.
    pub ends: Array,
    pub model_bytes: Array,
    pub model_rows: Array,
    pub surfaces: [Option<SurfaceArrays>; 4],
    pub centres: Centres,
    pub contacts: Contacts,
    pub ropes: Option<Ropes>,
    pub chains: Option<Chains>,
}

/// Arrays of a block: points and cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub points: Array,
    pub n_points: Array,
    pub n_cells: Array,
    pub n_ids: Array,
    pub offsets: Array,
    pub connectivity: Array,
    pub first_point: Column,
    pub part: Column,
    pub first_cell: Column,
    pub first_id: Column,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SurfaceArrays {
    pub block: Block,
    pub body: Array,
    pub material: Array,
    /// First row of `body` and `material`.
    pub first_static: Column,
    pub speed: Option<(Array, Column)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Centres {
    pub block: Block,
    pub rotation: Array,
    pub velocity: Array,
    pub angular_velocity: Array,
    pub id: Array,
    pub material: Array,
    pub mass: Array,
    pub size: Array,
    pub first_static: Column,
    /// Names of bodies and of materials: rows, first row and size.
    pub names: [(Array, Column, Column); 2],
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Contacts {
    pub block: Block,
    pub force: Array,
    pub normal_force: Array,
    pub tangential_force: Array,
    pub normal: Array,
    pub gap: Array,
    pub bodies: Array,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Ropes {
    pub block: Block,
    pub rope: Array,
    pub first_static: Column,
    pub tension: Array,
    pub slack: Array,
    pub first_data: Column,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Chains {
    pub block: Block,
    pub force: Array,
    pub radius: Array,
    pub bodies: Array,
    pub first_bodies: Column,
}

/// Rows for which arrays of inserted bodies are laid out at first, at least.
const GROWING: usize = 4096;

/// Rows of a chunk if `n` rows are appended at a time.
fn chunk_rows(n: usize) -> usize {
    n.max(1).div_ceil(n.div_ceil(MAX_ROWS).max(1)).max(8)
}

impl Layout {
    pub fn new(shapes: &Shapes, contents: Contents) -> Layout {
        let mut build = Builder::new();
        let own = build.plan.group(build.plan.root(), "riprap");
        build.plan.attribute(own, "Format", Attribute::Integer(FORMAT));
        let counter = build.plan.counter(own, "NSteps");
        build.n_steps.push(counter);
        let ends = build.plan.column(own, "end", Type::I64, 0);
        let model_bytes = build.plan.packed(own, "models", Type::U8, 0, MODEL_CHUNK);
        let model_rows = build.plan.column(own, "model_rows", Type::I64, 3);
        build.parts.push((model_rows, build.model));
        let columns = [
            ("step", build.step),
            ("model", build.model),
            ("surface_time", build.surface_time),
            ("contact_time", build.contact_time),
        ];
        for (name, column) in columns {
            build.link(own, name, column);
        }

        let surfaces = std::array::from_fn(|k| {
            let surface = &shapes.surfaces[k];
            let grows = k == 0 && contents.insertions;
            let least = if grows { GROWING } else { 0 };
            let some = surface.n_points() > 0 || grows;
            some.then(|| build.surface(BLOCKS[k], k, surface, least))
        });
        let (n, n_materials) = (shapes.model.names.len(), shapes.model.materials.len());
        let n = if contents.insertions { n.max(GROWING / 16) } else { n };
        let centres = build.centres(n, n_materials);
        let free = shapes.model.mass.iter().filter(|mass| **mass > 0.0).count();
        let rows = (4 * free).clamp(64, 1 << 14);
        let contacts = build.contacts(rows);
        let ropes = contents.ropes.then(|| build.ropes());
        let chains = contents.chains.then(|| build.chains(rows));
        build.assembly();
        let Builder { plan, n_steps, columns, parts, time, step, one, model, .. } = build;
        let (surface_time, contact_time) = (build.surface_time, build.contact_time);
        Layout {
            plan,
            n_steps,
            columns,
            parts,
            time,
            step,
            one,
            model,
            surface_time,
            contact_time,
            ends,
            model_bytes,
            model_rows,
            surfaces,
            centres,
            contacts,
            ropes,
            chains,
        }
    }
}

/// Path of a column, for reading.
pub(super) fn column_path(column: Column) -> String {
    format!("riprap columns/{}", column.0)
}

struct Builder {
    plan: Plan,
    /// The groups `VTKHDF` and `riprap columns`.
    vtk: Group,
    own: Group,
    n_steps: Vec<Counter>,
    columns: Vec<(Array, usize)>,
    parts: Vec<(Array, Column)>,
    zero: Column,
    zeros: Column,
    one: Column,
    time: Column,
    step: Column,
    model: Column,
    surface_time: Column,
    contact_time: Column,
    names: Vec<String>,
}

/// Groups of a block.
struct Groups {
    block: Group,
    steps: Group,
    point_data: Option<[Group; 2]>,
    cell_data: Option<[Group; 2]>,
}

impl Builder {
    fn new() -> Builder {
        let mut plan = Plan::new();
        let vtk = plan.group(plan.root(), "VTKHDF");
        plan.attribute(vtk, "Version", Attribute::Integers(&[2, 3]));
        plan.attribute(vtk, "Type", Attribute::Text("PartitionedDataSetCollection"));
        let own = plan.group(plan.root(), "riprap columns");
        let unset = Column(0);
        let mut build = Builder {
            plan,
            vtk,
            own,
            n_steps: Vec::new(),
            columns: Vec::new(),
            parts: Vec::new(),
            zero: unset,
            zeros: unset,
            one: unset,
            time: unset,
            step: unset,
            model: unset,
            surface_time: unset,
            contact_time: unset,
            names: Vec::new(),
        };
        let time = build.plan.counted(build.own, "0", Type::F64);
        build.columns.push((time, 8));
        build.zero = build.column(0);
        build.zeros = build.column(4);
        build.one = build.column(0);
        build.step = build.column(0);
        build.model = build.column(0);
        build.surface_time = build.typed_column(Type::F64, 0);
        build.contact_time = build.typed_column(Type::F64, 0);
        build
    }

    fn column(&mut self, width: usize) -> Column {
        self.typed_column(Type::I64, width)
    }

    fn typed_column(&mut self, kind: Type, width: usize) -> Column {
        let number = self.columns.len();
        let array = self.plan.column(self.own, &number.to_string(), kind, width);
        self.columns.push((array, 8 * width.max(1)));
        Column(number)
    }

    fn link(&mut self, group: Group, name: &str, column: Column) {
        self.plan.link(group, name, self.columns[column.0].0);
    }

    fn groups(&mut self, name: &str) -> Groups {
        let block = self.plan.group(self.vtk, name);
        self.plan.attribute(block, "Version", Attribute::Integers(&[2, 3]));
        self.plan.attribute(block, "Type", Attribute::Text("PolyData"));
        self.plan.attribute(block, "Index", Attribute::Integer(self.names.len() as i64));
        self.names.push(name.into());
        let steps = self.plan.group(block, "Steps");
        let counter = self.plan.counter(steps, "NSteps");
        self.n_steps.push(counter);
        self.link(steps, "Values", self.time);
        self.link(steps, "NumberOfParts", self.one);
        Groups { block, steps, point_data: None, cell_data: None }
    }

    /// A block with cells of one kind, `rows` points and `cells` cells with `ids` corners per chunk.
    fn block(
        &mut self,
        groups: &Groups,
        kind: usize,
        (points, cells, ids): (Type, usize, usize),
        rows: usize,
        part: Column,
    ) -> Block {
        let (block, steps) = (groups.block, groups.steps);
        let rows = chunk_rows(rows);
        let points = self.plan.packed(block, "Points", points, 3, rows);
        let n_points = self.plan.counted(block, "NumberOfPoints", Type::I64);
        self.parts.push((n_points, part));
        let mut arrays = None;
        for (k, name) in TOPOLOGIES.iter().enumerate() {
            let group = self.plan.group(block, name);
            if k != kind {
                for name in ["NumberOfCells", "NumberOfConnectivityIds", "Offsets", "Connectivity"]
                {
                    self.link(group, name, self.zero);
                }
                continue;
            }
            // Each point is a vertex: their number is that of the points.
            let (mut n_cells, mut n_ids) = (n_points, n_points);
            if kind == 0 {
                self.plan.link(group, "NumberOfCells", n_points);
                self.plan.link(group, "NumberOfConnectivityIds", n_points);
            } else {
                n_cells = self.plan.column(group, "NumberOfCells", Type::I64, 0);
                n_ids = self.plan.column(group, "NumberOfConnectivityIds", Type::I64, 0);
                self.parts.extend([(n_cells, part), (n_ids, part)]);
            }
            let offsets = self.plan.packed(group, "Offsets", Type::I32, 0, chunk_rows(cells + 1));
            let connectivity =
                self.plan.packed(group, "Connectivity", Type::I32, 0, chunk_rows(ids));
            arrays = Some((n_cells, n_ids, offsets, connectivity));
        }
        let (n_cells, n_ids, offsets, connectivity) =
            arrays.expect("one kind is that of the block");
        let first_point = self.column(0);
        self.link(steps, "PointOffsets", first_point);
        self.link(steps, "PartOffsets", part);
        Block {
            points,
            n_points,
            n_cells,
            n_ids,
            offsets,
            connectivity,
            first_point,
            part,
            first_cell: self.zeros,
            first_id: self.zeros,
        }
    }

    /// Columns that say where cells begin; shared zeros unless they change.
    fn cells(&mut self, groups: &Groups, block: &mut Block, changing: bool) {
        if changing {
            (block.first_cell, block.first_id) = (self.column(4), self.column(4));
        }
        self.link(groups.steps, "CellOffsets", block.first_cell);
        self.link(groups.steps, "ConnectivityIdOffsets", block.first_id);
    }

    fn point_data(
        &mut self,
        groups: &mut Groups,
        name: &str,
        kind: Type,
        width: usize,
        rows: usize,
        first: Column,
    ) -> Array {
        let plan = &mut self.plan;
        let [data, offsets] = *groups.point_data.get_or_insert_with(|| {
            [plan.group(groups.block, "PointData"), plan.group(groups.steps, "PointDataOffsets")]
        });
        self.link(offsets, name, first);
        self.plan.packed(data, name, kind, width, chunk_rows(rows))
    }

    fn cell_data(
        &mut self,
        groups: &mut Groups,
        name: &str,
        kind: Type,
        width: usize,
        rows: usize,
        first: Column,
    ) -> Array {
        let plan = &mut self.plan;
        let [data, offsets] = *groups.cell_data.get_or_insert_with(|| {
            [plan.group(groups.block, "CellData"), plan.group(groups.steps, "CellDataOffsets")]
        });
        self.link(offsets, name, first);
        self.plan.packed(data, name, kind, width, chunk_rows(rows))
    }

    fn surface(
        &mut self,
        name: &str,
        k: usize,
        surface: &super::shapes::Surface,
        least: usize,
    ) -> SurfaceArrays {
        let mut groups = self.groups(name);
        let (faces, ids) = (surface.n_faces().max(least), surface.connectivity.len().max(least));
        // Only stones break or wear, come or go.
        let part = if k == 0 { self.model } else { self.zero };
        let points = surface.n_points().max(least);
        let mut block = self.block(&groups, POLYGONS, (Type::F32, faces, ids), points, part);
        self.cells(&groups, &mut block, k == 0);
        let first_static = if k == 0 { self.column(0) } else { self.zero };
        let body = self.cell_data(&mut groups, "body", Type::I32, 0, faces, first_static);
        let material = self.cell_data(&mut groups, "material", Type::I32, 0, faces, first_static);
        let speed = (k != WALLS).then(|| {
            let first = self.column(0);
            (self.cell_data(&mut groups, "speed [m s^-1]", Type::F32, 0, faces, first), first)
        });
        SurfaceArrays { block, body, material, first_static, speed }
    }

    fn centres(&mut self, n: usize, n_materials: usize) -> Centres {
        let mut groups = self.groups("centres");
        let mut block = self.block(&groups, 0, (Type::F64, n, n), n, self.model);
        self.cells(&groups, &mut block, false);
        let (first, first_static) = (block.first_point, self.column(0));
        let mut data = |name: &str, kind, width, first| {
            self.point_data(&mut groups, name, kind, width, n, first)
        };
        let rotation = data("rotation", Type::F32, 4, first);
        let velocity = data("velocity [m s^-1]", Type::F32, 3, first);
        let angular_velocity = data("angular velocity [rad s^-1]", Type::F32, 3, first);
        let id = data("id", Type::I32, 0, first_static);
        let material = data("material", Type::I32, 0, first_static);
        let mass = data("mass [kg]", Type::F32, 0, first_static);
        let size = data("size [m]", Type::F32, 0, first_static);
        let field = self.plan.group(groups.block, "FieldData");
        let offsets = self.plan.group(groups.steps, "FieldDataOffsets");
        let sizes = self.plan.group(groups.steps, "FieldDataSizes");
        let names = [("names", n), ("materials", n_materials)].map(|(name, n)| {
            let array = self.plan.packed(field, name, Type::Text, 0, chunk_rows(n));
            let (first, size) = (self.column(0), self.column(2));
            self.link(offsets, name, first);
            self.link(sizes, name, size);
            (array, first, size)
        });
        Centres {
            block,
            rotation,
            velocity,
            angular_velocity,
            id,
            material,
            mass,
            size,
            first_static,
            names,
        }
    }

    fn contacts(&mut self, rows: usize) -> Contacts {
        let mut groups = self.groups("contacts");
        let part = self.column(0);
        let mut block = self.block(&groups, 0, (Type::F32, rows, rows), rows, part);
        self.cells(&groups, &mut block, false);
        let first = block.first_point;
        let mut data =
            |name: &str, kind, width| self.point_data(&mut groups, name, kind, width, rows, first);
        Contacts {
            block,
            force: data("force [N]", Type::F32, 3),
            normal_force: data("normal force [N]", Type::F32, 3),
            tangential_force: data("tangential force [N]", Type::F32, 3),
            normal: data("normal", Type::F32, 3),
            gap: data("gap [m]", Type::F32, 0),
            bodies: data("bodies", Type::U32, 2),
        }
    }

    fn ropes(&mut self) -> Ropes {
        let mut groups = self.groups("ropes");
        let part = self.column(0);
        let mut block = self.block(&groups, LINES, (Type::F32, 16, 64), 64, part);
        self.cells(&groups, &mut block, true);
        let (first_static, first_data) = (self.column(0), self.column(0));
        let mut data =
            |name: &str, kind, first| self.cell_data(&mut groups, name, kind, 0, 16, first);
        Ropes {
            block,
            rope: data("rope", Type::I32, first_static),
            first_static,
            tension: data("tension [N]", Type::F32, first_data),
            slack: data("slack [m]", Type::F32, first_data),
            first_data,
        }
    }

    fn chains(&mut self, rows: usize) -> Chains {
        let mut groups = self.groups("chains");
        let part = self.column(0);
        let mut block = self.block(&groups, LINES, (Type::F32, rows, 3 * rows), 3 * rows, part);
        self.cells(&groups, &mut block, true);
        let (first, first_bodies) = (block.first_point, self.column(0));
        let force = self.point_data(&mut groups, "force [N]", Type::F32, 0, 3 * rows, first);
        let radius = self.point_data(&mut groups, "radius [m]", Type::F32, 0, 3 * rows, first);
        let bodies = self.cell_data(&mut groups, "bodies", Type::U32, 2, rows, first_bodies);
        Chains { block, force, radius, bodies, first_bodies }
    }

    /// The tree of the blocks, which VTK needs.
    fn assembly(&mut self) {
        let assembly = self.plan.group(self.vtk, "Assembly");
        for name in &self.names {
            let node = self.plan.group(assembly, name);
            self.plan.soft_link(node, name, &format!("/VTKHDF/{name}"));
        }
    }
}
