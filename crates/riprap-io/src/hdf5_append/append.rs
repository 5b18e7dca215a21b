//! Appends rows to the arrays of a file, and commits them.

use std::fs::File;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::encode::{self, Type, UNDEFINED};
use super::plan::{Array, ArrayPlan, Counter, Placed, Plan};
use super::{END_AT, ENTRIES, PAGE};

/// Something to write to at any position.
pub(crate) trait Store {
    /// Writes bytes at a position.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Reads bytes at a position; an error if there are fewer.
    fn read_at(&mut self, at: u64, bytes: &mut [u8]) -> io::Result<()>;
    /// Removes all bytes after a position.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Number of bytes.
    fn length(&mut self) -> io::Result<u64>;
}

impl Store for File {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        use io::Seek;
        self.seek(io::SeekFrom::Start(at))?;
        self.write_all(bytes)
    }

    fn read_at(&mut self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        use io::{Read, Seek};
        self.seek(io::SeekFrom::Start(at))?;
        self.read_exact(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn length(&mut self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

/// Appends to the arrays of a file. Rows become visible to readers with [`Appender::commit`].
#[derive(Debug)]
pub(crate) struct Appender<S> {
    store: S,
    /// The first page, as it is after the next commit.
    page: Vec<u8>,
    counters: Vec<u64>,
    arrays: Vec<State>,
    /// End of the file at the last commit.
    end: u64,
    /// What follows there.
    tail: Vec<u8>,
    /// What is to be changed before that, in this order: position and bytes.
    changes: Vec<(u64, Vec<u8>)>,
    scratch: Vec<u8>,
}

/// An array and its place in the file.
#[derive(Debug)]
struct State {
    plan: ArrayPlan,
    rows: u64,
    /// Where the number of rows and the address of the B-tree are.
    rows_at: u64,
    tree_at: u64,
    /// The last node of each level of the B-tree, from the leaf to the root: its address and number of entries.
    path: Vec<(u64, usize)>,
    /// Addresses of the chunks of an array that is filled row by row; of the last one only.
    last_chunk: u64,
}

impl<S: Store> Appender<S> {
    /// A new file in an empty store. Nothing is written before the first commit.
    pub fn new(store: S, plan: &Plan) -> Appender<S> {
        let Placed { mut bytes, arrays, counters } = plan.place();
        let tail = bytes.split_off(PAGE);
        let state = |(plan, (rows_at, tree_at)): (&ArrayPlan, (u64, u64))| State {
            plan: *plan,
            rows: 0,
            rows_at,
            tree_at,
            path: Vec::new(),
            last_chunk: UNDEFINED,
        };
        let arrays = plan.arrays.iter().zip(arrays).map(state).collect();
        let (end, changes, scratch) = (PAGE as u64, Vec::new(), Vec::new());
        Appender { store, page: bytes, counters, arrays, end, tail, changes, scratch }
    }

    /// Continues a file with the given plan as it was when it ended at `end`: everything later is removed. `rows` are the numbers of
    /// rows of arrays that are filled row by row, `counters` the values of the counters. `None` if the file does not have
    /// this plan.
    pub fn reopen(
        store: S,
        plan: &Plan,
        end: u64,
        rows: &[(Array, u64)],
        counters: &[(Counter, i64)],
    ) -> io::Result<Option<Appender<S>>> {
        let mut file = Appender::new(store, plan);
        let shortest = PAGE as u64 + file.tail.len() as u64;
        if !file.is_of_same_plan()? || end < shortest || file.store.length()? < end {
            return Ok(None);
        }
        file.end = end;
        file.tail.clear();
        for (counter, value) in counters {
            file.set_counter(*counter, *value);
        }
        // Counters first: from here on, readers use nothing that is removed below.
        for (array, rows) in rows {
            file.set_rows(*array, *rows);
        }
        let mut stored_end = [0; 8];
        file.store.read_at(END_AT, &mut stored_end)?;
        file.page[END_AT as usize..][..8].copy_from_slice(&stored_end);
        file.store.write_at(0, &file.page)?;
        for k in 0..file.arrays.len() {
            file.cut_tree(k)?;
        }
        file.write_changes()?;
        file.store.write_at(END_AT, &end.to_le_bytes())?;
        file.page[END_AT as usize..][..8].copy_from_slice(&end.to_le_bytes());
        file.store.cut(end)?;
        Ok(Some(file))
    }

    /// Whether the stored file has the same structure: all bytes before the first chunk, except for numbers that change.
    fn is_of_same_plan(&mut self) -> io::Result<bool> {
        let mut expected = self.page.clone();
        expected.extend(&self.tail);
        let mut found = vec![0; expected.len()];
        if let Err(error) = self.store.read_at(0, &mut found) {
            let short = error.kind() == io::ErrorKind::UnexpectedEof;
            return if short { Ok(false) } else { Err(error) };
        }
        let arrays = self.arrays.iter().flat_map(|a| [a.rows_at, a.tree_at]);
        for at in arrays.chain(self.counters.iter().copied()).chain([END_AT]) {
            let number = at as usize..at as usize + 8;
            found[number.clone()].copy_from_slice(&expected[number]);
        }
        Ok(found == expected)
    }

    /// Removes the entries of a B-tree that lead behind the end.
    fn cut_tree(&mut self, k: usize) -> io::Result<()> {
        let ArrayPlan { width, rows, packed, .. } = self.arrays[k].plan;
        let tree_at = self.arrays[k].tree_at;
        let mut address = self.read_number(tree_at)?;
        let before = address;
        // A root that is removed was placed above the one before.
        while address != UNDEFINED && address >= self.end {
            let level = self.read_byte(address + 5)?;
            let child_at = address + (encode::entry_at(width, 1) - 8) as u64;
            address = if level == 0 { UNDEFINED } else { self.read_number(child_at)? };
        }
        if address != before {
            self.changes.push((tree_at, address.to_le_bytes().into()));
        }
        let (mut path, mut last) = (Vec::new(), None);
        while address != UNDEFINED {
            let level = self.read_byte(address + 5)?;
            let (used, child, row) = self.kept_entries(address, width)?;
            path.push((address, used));
            last = (used > 0).then_some((child, row));
            if level == 0 || used == 0 || path.len() > 16 {
                break;
            }
            address = child;
        }
        path.reverse();
        let state = &mut self.arrays[k];
        state.path = path;
        state.last_chunk = last.map_or(UNDEFINED, |(chunk, _)| chunk);
        if packed {
            state.rows = last.map_or(0, |(_, row)| row + u64::from(rows));
            self.changes.push((state.rows_at, state.rows.to_le_bytes().into()));
        }
        Ok(())
    }

    /// Keeps the entries of a node that lead to a place before the end: their number, and child and first row of the last one.
    fn kept_entries(&mut self, address: u64, width: usize) -> io::Result<(usize, u64, u64)> {
        let mut node = vec![0; encode::node_length(width)];
        self.store.read_at(address, &mut node)?;
        let number = |at: usize| {
            let bytes: [u8; 8] = node[at..at + 8].try_into().expect("8 bytes");
            u64::from_le_bytes(bytes)
        };
        let child = |entry: usize| number(encode::entry_at(width, entry + 1) - 8);
        let stored = usize::from(u16::from_le_bytes([node[6], node[7]])).min(ENTRIES);
        let used = (0..stored).take_while(|entry| child(*entry) < self.end).count();
        if used < stored {
            self.changes.push((address + 6, (used as u16).to_le_bytes().into()));
        }
        let last = used.saturating_sub(1);
        Ok((used, child(last), number(encode::entry_at(width, last) + 8)))
    }

    fn read_number(&mut self, at: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.store.read_at(at, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn read_byte(&mut self, at: u64) -> io::Result<u8> {
        let mut byte = [0];
        self.store.read_at(at, &mut byte)?;
        Ok(byte[0])
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Number of rows of an array.
    pub fn rows(&self, array: Array) -> u64 {
        self.arrays[array.0].rows
    }

    /// Rows of a chunk of an array.
    pub fn chunk_rows(&self, array: Array) -> u64 {
        self.arrays[array.0].plan.rows.into()
    }

    /// Appends rows to an array in whole chunks, padded with zeros; returns the first row, 0 if there are none.
    pub fn append(&mut self, array: Array, data: &[u8]) -> u64 {
        let ArrayPlan { kind, rows, .. } = self.arrays[array.0].plan;
        let (first, size) = (self.rows(array), self.arrays[array.0].plan.chunk_size());
        for part in data.chunks(size) {
            shuffle(part, kind.size(), size, &mut self.scratch);
            let start = self.place();
            // Writing to memory does not fail.
            let mut encoder = ZlibEncoder::new(std::mem::take(&mut self.tail), Compression::new(1));
            let _ = encoder.write_all(&self.scratch);
            self.tail = encoder.finish().unwrap_or_default();
            let length = self.end + self.tail.len() as u64 - start;
            self.add_chunk(array.0, self.arrays[array.0].rows, start, length as u32);
            self.arrays[array.0].rows += u64::from(rows);
        }
        if data.is_empty() {
            return 0;
        }
        let State { rows_at, rows, .. } = self.arrays[array.0];
        self.changes.push((rows_at, rows.to_le_bytes().into()));
        first
    }

    /// Adds a row to an array that is filled row by row; returns its number.
    pub fn push(&mut self, array: Array, row: &[u8]) -> u64 {
        let State { plan, rows, .. } = self.arrays[array.0];
        debug_assert_eq!(row.len(), plan.row_size());
        let inside = rows % u64::from(plan.rows);
        if inside == 0 {
            let start = self.place();
            self.tail.resize(self.tail.len() + plan.chunk_size(), 0);
            self.add_chunk(array.0, rows, start, plan.chunk_size() as u32);
            self.arrays[array.0].last_chunk = start;
        }
        let at = self.arrays[array.0].last_chunk + inside * plan.row_size() as u64;
        self.changes.push((at, row.into()));
        self.set_rows(array, rows + 1);
        rows
    }

    /// Adds a row with the position at which the file ends after the next commit, before which nothing else may be added.
    pub fn push_end(&mut self, array: Array) {
        let row = self.push(array, &[0; 8]);
        let State { plan, last_chunk, .. } = self.arrays[array.0];
        let end = self.place();
        self.changes.push((last_chunk + row % u64::from(plan.rows) * 8, end.to_le_bytes().into()));
    }

    /// References to strings in a heap, as rows of an array of [`Type::Text`].
    pub fn texts(&mut self, texts: &[String]) -> Vec<u8> {
        let mut rows = Vec::with_capacity(texts.len() * Type::Text.size());
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for part in texts.chunks(1 << 12) {
            let start = self.place();
            self.tail.extend(encode::heap(part));
            for (k, text) in part.iter().enumerate() {
                rows.extend((text.len() as u32).to_le_bytes());
                rows.extend(start.to_le_bytes());
                rows.extend((k as u32 + 1).to_le_bytes());
            }
        }
        rows
    }

    /// Sets the value of a counter after the next commit.
    pub fn set_counter(&mut self, counter: Counter, value: i64) {
        let at = self.counters[counter.0] as usize;
        self.page[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// Writes everything appended since the last commit, and makes it visible.
    pub fn commit(&mut self) -> io::Result<()> {
        let end = self.place();
        let tail = std::mem::take(&mut self.tail);
        self.store.write_at(self.end, &tail)?;
        self.tail = tail;
        self.tail.clear();
        self.page[END_AT as usize..][..8].copy_from_slice(&end.to_le_bytes());
        // A file without the first page is not a file yet.
        if self.end > PAGE as u64 {
            self.store.write_at(END_AT, &end.to_le_bytes())?;
        }
        self.write_changes()?;
        self.store.write_at(0, &self.page)?;
        self.end = end;
        Ok(())
    }

    fn write_changes(&mut self) -> io::Result<()> {
        for (at, bytes) in std::mem::take(&mut self.changes) {
            self.store.write_at(at, &bytes)?;
        }
        Ok(())
    }

    /// Address of the next bytes of the tail.
    fn place(&mut self) -> u64 {
        encode::pad(&mut self.tail);
        self.end + self.tail.len() as u64
    }

    fn set_rows(&mut self, array: Array, rows: u64) {
        let state = &mut self.arrays[array.0];
        state.rows = rows;
        if state.plan.counted {
            self.page[state.rows_at as usize..][..8].copy_from_slice(&rows.to_le_bytes());
        } else {
            self.changes.push((state.rows_at, rows.to_le_bytes().into()));
        }
    }

    fn add_chunk(&mut self, k: usize, row: u64, address: u64, size: u32) {
        let ArrayPlan { width, rows, .. } = self.arrays[k].plan;
        let entry = |child: u64| encode::entry(width, rows, size, row, child);
        let mut child = address;
        let mut level = 0;
        loop {
            let Some(&(node, used)) = self.arrays[k].path.get(level) else {
                return self.add_root(k, level, row, size, child);
            };
            if used < ENTRIES {
                let at = node + encode::entry_at(width, used) as u64;
                self.changes.push((at, entry(child)));
                self.changes.push((node + 6, (used as u16 + 1).to_le_bytes().into()));
                self.arrays[k].path[level].1 = used + 1;
                return;
            }
            // The node is full: another one next to it, which the level above must know.
            let next = self.place();
            self.tail.extend(encode::node(width, level as u8, node, &[entry(child)]));
            self.changes.push((node + 16, next.to_le_bytes().into()));
            self.arrays[k].path[level] = (next, 1);
            child = next;
            level += 1;
            if self.arrays[k].path.len() == level {
                let root = self.place();
                let first = encode::entry(width, rows, size, 0, node);
                self.tail.extend(encode::node(
                    width,
                    level as u8,
                    UNDEFINED,
                    &[first, entry(child)],
                ));
                self.arrays[k].path.push((root, 2));
                self.changes.push((self.arrays[k].tree_at, root.to_le_bytes().into()));
                return;
            }
        }
    }

    /// The first node of a B-tree.
    fn add_root(&mut self, k: usize, level: usize, row: u64, size: u32, child: u64) {
        let ArrayPlan { width, rows, .. } = self.arrays[k].plan;
        let entry = encode::entry(width, rows, size, row, child);
        let root = self.place();
        self.tail.extend(encode::node(width, level as u8, UNDEFINED, &[entry]));
        self.arrays[k].path.push((root, 1));
        self.changes.push((self.arrays[k].tree_at, root.to_le_bytes().into()));
    }
}

/// The bytes of elements of a size by their position in the element, the rest of the chunk filled with zeros.
fn shuffle(data: &[u8], element: usize, chunk: usize, out: &mut Vec<u8>) {
    out.clear();
    out.resize(chunk, 0);
    let n = chunk / element;
    match element {
        4 => planes::<4>(data, n, out),
        8 => planes::<8>(data, n, out),
        16 => planes::<16>(data, n, out),
        _ => out[..data.len()].copy_from_slice(data),
    }
}

fn planes<const SIZE: usize>(data: &[u8], n: usize, out: &mut [u8]) {
    for (byte, plane) in out.chunks_exact_mut(n).enumerate() {
        for (value, element) in plane.iter_mut().zip(data.as_chunks::<SIZE>().0) {
            *value = element[byte];
        }
    }
}

/// The elements of a chunk from their shuffled bytes.
pub(super) fn unshuffle(data: &[u8], element: usize, out: &mut Vec<u8>) {
    out.clear();
    out.resize(data.len(), 0);
    let n = data.len() / element;
    for (byte, plane) in data.chunks_exact(n.max(1)).enumerate().take(element) {
        for (k, value) in plane.iter().enumerate() {
            out[k * element + byte] = *value;
        }
    }
}
