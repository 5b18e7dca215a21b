//! `W = Hᵀ M⁻¹ H` in factored form, as used in simulations: columns of `H` per contact, inverse
//! masses per block.

use super::{BlockVelocities, Blocks, Law, Operator, ProblemArrays};
use crate::math::{bytes_of, parallel};

/// Inverse mass of one block of six velocities (three linear, three angular).
#[derive(Clone, Copy, Debug, Default)]
pub struct InverseMass {
    /// Inverse mass along x, y, z [1/kg]; 0 if the direction is locked.
    pub linear: [f64; 3],
    /// Inverse inertia tensor, xx, yy, zz, xy, xz, yz [1/(kg m²)].
    pub angular: [f64; 6],
}

impl InverseMass {
    #[inline]
    pub(super) fn turn(&self, t: [f64; 3]) -> [f64; 3] {
        let [xx, yy, zz, xy, xz, yz] = self.angular;
        [
            xx * t[0] + xy * t[1] + xz * t[2],
            xy * t[0] + yy * t[1] + yz * t[2],
            xz * t[0] + yz * t[1] + zz * t[2],
        ]
    }
}

/// One contact of the factored operator: its two columns of `H`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contact3 {
    /// The two velocity blocks that the contact connects; [`Factored::NONE`] for an immovable body,
    /// and for a side given as rows by [`Factored::push_rows`]. The impulse acts on the second
    /// block, the opposite impulse on the first.
    pub blocks: [u32; 2],
    /// Rows n, t1, t2.
    pub frame: [[f64; 3]; 3],
    /// Vectors from the centres of the two blocks to the contact point [m].
    pub arms: [[f64; 3]; 2],
    /// `W^αα`.
    w: [[f64; 3]; 3],
    /// Its first and last side in [`Factored::sides`].
    sides: [u32; 2],
}

impl Contact3 {
    /// Whether a side was given as rows.
    pub(super) fn has_sides(&self) -> bool {
        self.sides[0] != self.sides[1]
    }

    /// `W^αα`.
    pub(super) fn diagonal(&self) -> &[[f64; 3]; 3] {
        &self.w
    }

    /// Whether impulses cannot move the contact in some direction.
    pub(super) fn is_locked(&self) -> bool {
        let w = &self.w;
        let (s1, s2) = (w[0][1] / w[0][0], w[0][2] / w[0][0]);
        let (a11, a22) = (w[1][1] - w[1][0] * s1, w[2][2] - w[2][0] * s2);
        let a12 = w[1][2] - w[1][0] * s2;
        let trace = a11 + a22;
        // Also true if the block is NaN.
        !(w[0][0] > 0.0 && a11 * a22 - a12 * a12 > 1e-13 * trace * trace)
    }
}

/// One side of a contact given as rows: three rows of `Hᵀ` over the velocities of a group of blocks
/// (a mechanism), and the corresponding `M⁻¹ H`.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// First block, and number of blocks.
    first: u32,
    blocks: u32,
    /// Start of its values in [`Factored::rows`]: three rows of `Hᵀ`, then three of `(M⁻¹ H)ᵀ`, six
    /// numbers per block.
    rows: usize,
}

/// A moment between two blocks; moments follow all contacts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turning {
    /// The two blocks, as for a contact.
    pub blocks: [u32; 2],
    /// The length that converts a spin to a velocity and an impulse to a moment [m].
    pub length: f64,
    /// `W^αα`.
    pub w: [[f64; 3]; 3],
}

/// `W` in factored form, for blocks of six velocities. A mechanism takes as many blocks as its degrees of freedom fill.
#[derive(Clone, Debug, Default)]
pub struct Factored {
    masses: Vec<InverseMass>,
    contacts: Vec<Contact3>,
    turning: Vec<Turning>,
    sides: Vec<Side>,
    rows: Vec<f64>,
    trace: f64,
    /// Traces of the contacts' blocks, recorded while they are [`Factored::set`]: contacts are
    /// large, and a second pass over all of them takes long.
    traces: Vec<f64>,
}

impl Factored {
    /// No block: an immovable body.
    pub const NONE: u32 = u32::MAX;

    /// Removes all contacts and sets the inverse masses.
    pub fn reset(&mut self, masses: impl Iterator<Item = InverseMass>) {
        self.masses.clear();
        self.masses.extend(masses);
        self.contacts.clear();
        self.turning.clear();
        self.sides.clear();
        self.rows.clear();
        self.trace = 0.0;
    }

    /// Bytes held by the buffers.
    pub(super) fn bytes(&self) -> usize {
        bytes_of(&self.masses)
            + bytes_of(&self.contacts)
            + bytes_of(&self.turning)
            + bytes_of(&self.sides)
            + bytes_of(&self.rows)
            + bytes_of(&self.traces)
    }

    /// Number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.masses.len()
    }

    /// Adds a contact between two blocks; returns its index.
    pub fn push(&mut self, blocks: [u32; 2], frame: [[f64; 3]; 3], arms: [[f64; 3]; 2]) -> usize {
        let none = self.sides.len() as u32;
        let mut contact = Contact3 { blocks, frame, arms, w: [[0.0; 3]; 3], sides: [none; 2] };
        contact.w = self.diagonal_of(&contact);
        self.trace += contact.w[0][0] + contact.w[1][1] + contact.w[2][2];
        self.contacts.push(contact);
        self.contacts.len() - 1
    }

    /// Sets the contacts to those returned by `contact`: blocks, frame and arms, as for
    /// [`Factored::push`]. Free velocities and laws are in separate lists, to be written by
    /// `contact`. Uses all threads.
    pub(crate) fn set(
        &mut self,
        (v_rel_free, laws): (&mut [[f64; 3]], &mut [Law]),
        contact: impl Fn(usize, &mut [f64; 3], &mut Law) -> ([u32; 2], [[f64; 3]; 3], [[f64; 3]; 2])
        + Sync,
    ) {
        let mut contacts = std::mem::take(&mut self.contacts);
        let mut traces = std::mem::take(&mut self.traces);
        self.sides.clear();
        self.rows.clear();
        parallel::set_length(&mut contacts, laws.len());
        parallel::set_length(&mut traces, laws.len());
        let lists = (&mut contacts[..], v_rel_free, laws, &mut traces[..]);
        parallel::for_each_four(lists, |a, c, v_rel_free, law, trace| {
            let (blocks, frame, arms) = contact(a, v_rel_free, law);
            *c = Contact3 { blocks, frame, arms, ..Contact3::default() };
            c.w = self.diagonal_of(c);
            *trace = c.w[0][0] + c.w[1][1] + c.w[2][2];
        });
        self.trace = traces.iter().sum();
        (self.contacts, self.traces) = (contacts, traces);
    }

    /// Sets the operator to the given contacts of another one, in their order.
    pub(crate) fn select(&mut self, from: &Factored, chosen: &[u32]) {
        self.reset(from.masses.iter().copied());
        for &a in chosen {
            let mut contact = from.contacts[a as usize];
            let first = self.sides.len() as u32;
            for side in from.sides_of(&contact) {
                let values = &from.rows[side.rows..side.rows + 36 * side.blocks as usize];
                self.sides.push(Side { rows: self.rows.len(), ..*side });
                self.rows.extend_from_slice(values);
            }
            contact.sides = [first, self.sides.len() as u32];
            self.trace += contact.w[0][0] + contact.w[1][1] + contact.w[2][2];
            self.contacts.push(contact);
        }
    }

    /// Sets the operator to the given contacts of another one, in their order, with the blocks that they move only.
    pub(super) fn select_island(&mut self, from: &Factored, chosen: &[u32]) {
        let mut used: Vec<u32> = chosen.iter().flat_map(|a| from.moved_by(*a as usize)).collect();
        used.sort_unstable();
        used.dedup();
        let place = |block: u32| match used.binary_search(&block) {
            Ok(place) => place as u32,
            Err(_) => Factored::NONE,
        };
        self.select(from, chosen);
        self.masses.clear();
        self.masses.extend(used.iter().map(|block| from.masses[*block as usize]));
        self.contacts.iter_mut().for_each(|c| c.blocks = c.blocks.map(place));
        // The blocks of a side are consecutive, before and after.
        self.sides.iter_mut().for_each(|side| side.first = place(side.first));
    }

    /// Adds a moment between two blocks, after all contacts: the impulse is a moment divided by a
    /// length [m], the velocity is the relative spin times that length, along x, y, z.
    pub fn push_turning(&mut self, blocks: [u32; 2], length: f64) {
        let mut w = [[0.0; 3]; 3];
        for block in blocks.into_iter().filter(|b| *b != Factored::NONE) {
            let m = &self.masses[block as usize];
            for k in 0..3 {
                let mut unit = [0.0; 3];
                unit[k] = length * length;
                let spin = m.turn(unit);
                for i in 0..3 {
                    w[i][k] += spin[i];
                }
            }
        }
        self.trace += w[0][0] + w[1][1] + w[2][2];
        self.turning.push(Turning { blocks, length, w });
    }

    pub(super) fn turning(&self) -> &[Turning] {
        &self.turning
    }

    /// Adds to the last contact a side over blocks `first`, `first + 1`, …, none of which the
    /// contact uses yet: `rows` holds three rows of `Hᵀ` with its sign (six numbers per block), and
    /// `solved` the same three of `(M⁻¹ H)ᵀ`.
    pub fn push_rows(&mut self, first: u32, rows: &[f64], solved: &[f64]) {
        debug_assert!(rows.len() == solved.len() && rows.len().is_multiple_of(18));
        if let Some(last) = self.contacts.len().checked_sub(1) {
            self.push_rows_to(last, first, rows, solved);
        }
    }

    /// Adds a side to contact `a`, as [`Factored::push_rows`] does to the last one; sides of a
    /// contact must be consecutive.
    pub(crate) fn push_rows_to(&mut self, a: usize, first: u32, rows: &[f64], solved: &[f64]) {
        let at = self.rows.len();
        if !self.contacts[a].has_sides() {
            self.contacts[a].sides = [self.sides.len() as u32; 2];
        }
        self.rows.extend_from_slice(rows);
        self.rows.extend_from_slice(solved);
        self.sides.push(Side { first, blocks: (rows.len() / 18) as u32, rows: at });
        self.add_side(a, rows, solved);
    }

    fn add_side(&mut self, a: usize, rows: &[f64], solved: &[f64]) {
        let n = rows.len() / 3;
        let contact = &mut self.contacts[a];
        contact.sides[1] = self.sides.len() as u32;
        for i in 0..3 {
            for k in 0..3 {
                let h = &rows[i * n..(i + 1) * n];
                let m = &solved[k * n..(k + 1) * n];
                let w: f64 = h.iter().zip(m).map(|(h, m)| h * m).sum();
                contact.w[i][k] += w;
                if i == k {
                    self.trace += w;
                }
            }
        }
    }

    /// Whether no impulse at contact `a` causes any motion.
    pub fn is_immovable(&self, a: usize) -> bool {
        self.contacts[a].w[0][0] <= 0.0
    }

    /// Removes the contacts for which `gone` is true.
    pub(crate) fn remove(&mut self, gone: &[bool]) {
        let mut gone = gone.iter();
        self.contacts.retain(|_| gone.next() != Some(&true));
        self.trace = self.contacts.iter().map(|c| c.w[0][0] + c.w[1][1] + c.w[2][2]).sum();
    }

    /// Inverse masses of the blocks.
    pub fn masses(&self) -> &[InverseMass] {
        &self.masses
    }

    /// The sides of all contacts as lists, contact by contact.
    pub(super) fn copy_sides(&self, out: &mut ProblemArrays) {
        out.side_start.clear();
        out.side_blocks.clear();
        out.side_rows.clear();
        for c in &self.contacts {
            out.side_start.push(out.side_blocks.len() as u32);
            for side in self.sides_of(c) {
                out.side_blocks.push([side.first, side.blocks]);
                out.side_rows.push(side.rows as u32);
            }
        }
        out.side_start.push(out.side_blocks.len() as u32);
        out.rows.clone_from(&self.rows);
    }

    /// The sides of contact `a` that were given as rows: first block, rows of `Hᵀ`, rows of
    /// `(M⁻¹ H)ᵀ`.
    pub(super) fn row_sides(&self, a: usize) -> impl Iterator<Item = (u32, &[f64], &[f64])> {
        self.sides_of(&self.contacts[a]).iter().map(|side| {
            let n = 18 * side.blocks as usize;
            let (rows, solved) = self.rows[side.rows..side.rows + 2 * n].split_at(n);
            (side.first, rows, solved)
        })
    }

    fn sides_of(&self, c: &Contact3) -> &[Side] {
        &self.sides[c.sides[0] as usize..c.sides[1] as usize]
    }

    /// The contacts.
    pub fn contacts(&self) -> &[Contact3] {
        &self.contacts
    }

    /// `W^αα` from the definition: column `k` is the velocity due to a unit impulse along `k`.
    fn diagonal_of(&self, c: &Contact3) -> [[f64; 3]; 3] {
        let mut w = [[0.0; 3]; 3];
        for k in 0..3 {
            let p = c.frame[k];
            let mut dv = [0.0; 3];
            for side in 0..2 {
                if c.blocks[side] == Factored::NONE {
                    continue;
                }
                let m = &self.masses[c.blocks[side] as usize];
                let spin = cross(m.turn(cross(c.arms[side], p)), c.arms[side]);
                for i in 0..3 {
                    dv[i] += m.linear[i] * p[i] + spin[i];
                }
            }
            for i in 0..3 {
                w[i][k] = dot(c.frame[i], dv);
            }
        }
        w
    }

    /// Adds `M⁻¹ H_α r` to the velocities of the two blocks.
    #[inline]
    pub(super) fn push_impulse<const N: usize>(
        &self,
        a: usize,
        r: [f64; 3],
        velocity: &mut [[f64; N]],
    ) {
        self.push_impulse_from(0, a, r, velocity);
    }

    /// The same for the velocities of some blocks, `first` and those after it; others are
    /// unchanged.
    pub(super) fn push_impulse_from<const N: usize>(
        &self,
        first: usize,
        a: usize,
        r: [f64; 3],
        velocity: &mut [[f64; N]],
    ) {
        let Some(c) = self.contacts.get(a) else {
            let Turning { blocks, length, .. } = self.turning[a - self.contacts.len()];
            let moment = r.map(|x| length * x);
            for (block, sign) in blocks.into_iter().zip([-1.0, 1.0]) {
                if let Some(v) = velocity.get_mut((block as usize).wrapping_sub(first)) {
                    let spin = self.masses[block as usize].turn(moment);
                    for i in 0..3 {
                        v[3 + i] += sign * spin[i];
                    }
                }
            }
            return;
        };
        let [n, t1, t2] = c.frame;
        let p: [f64; 3] = std::array::from_fn(|i| n[i] * r[0] + t1[i] * r[1] + t2[i] * r[2]);
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            // Out of range for an immovable side.
            let b = c.blocks[side] as usize;
            let Some(v) = velocity.get_mut(b.wrapping_sub(first)) else { continue };
            let m = &self.masses[b];
            let spin = m.turn(cross(c.arms[side], p));
            for i in 0..3 {
                v[i] += sign * m.linear[i] * p[i];
                v[3 + i] += sign * spin[i];
            }
        }
        for side in self.sides_of(c) {
            let n = 6 * side.blocks as usize;
            let solved = &self.rows[side.rows + 3 * n..side.rows + 6 * n];
            for block in 0..side.blocks as usize {
                let at = (side.first as usize + block).wrapping_sub(first);
                let Some(v) = velocity.get_mut(at) else { continue };
                for (j, v) in (6 * block..).zip(&mut v[..6]) {
                    *v += solved[j] * r[0] + solved[n + j] * r[1] + solved[2 * n + j] * r[2];
                }
            }
        }
    }

    /// `Hᵀ_α v`: the relative velocity of the two blocks at the contact, in its frame. A block's six velocities may be padded.
    #[inline]
    pub fn to_local<const N: usize>(&self, a: usize, velocity: &[[f64; N]]) -> [f64; 3] {
        let mut dv = [0.0; 3];
        let Some(c) = self.contacts.get(a) else {
            let Turning { blocks, length, .. } = self.turning[a - self.contacts.len()];
            for (block, sign) in blocks.into_iter().zip([-1.0, 1.0]) {
                if block != Factored::NONE {
                    let v = &velocity[block as usize];
                    for i in 0..3 {
                        dv[i] += sign * length * v[3 + i];
                    }
                }
            }
            return dv;
        };
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            if c.blocks[side] == Factored::NONE {
                continue;
            }
            let v = &velocity[c.blocks[side] as usize];
            let spin = cross([v[3], v[4], v[5]], c.arms[side]);
            for i in 0..3 {
                dv[i] += sign * (v[i] + spin[i]);
            }
        }
        let mut local = c.frame.map(|row| dot(row, dv));
        for side in self.sides_of(c) {
            let n = 6 * side.blocks as usize;
            let rows = &self.rows[side.rows..side.rows + 3 * n];
            let first = side.first as usize;
            let v = &velocity[first..first + side.blocks as usize];
            for (i, row) in rows.chunks_exact(n).enumerate() {
                let v = v.iter().flat_map(|v| &v[..6]);
                local[i] += row.iter().zip(v).map(|(h, v)| h * v).sum::<f64>();
            }
        }
        local
    }

    /// `M⁻¹ H I`: the change of velocity due to all impulses [m/s, rad/s].
    pub fn velocity_change(&self, impulses: &[[f64; 3]], velocity: &mut BlockVelocities) {
        velocity.clear();
        velocity.resize(self.masses.len(), [0.0; 6]);
        for (a, r) in impulses.iter().enumerate() {
            if *r != [0.0; 3] {
                self.push_impulse(a, *r, velocity);
            }
        }
    }

    /// The blocks that an unknown moves, each once: a contact, a joint, or a moment.
    pub(super) fn moved_by(&self, a: usize) -> impl Iterator<Item = u32> + '_ {
        let contact = self.contacts.get(a);
        let [i, j] = match contact {
            Some(c) => c.blocks,
            None => self.turning[a - self.contacts.len()].blocks,
        };
        let second = if j == i { Factored::NONE } else { j };
        let own = [i, second].into_iter().filter(|b| *b != Factored::NONE);
        let sides = contact.map_or(&[][..], |c| self.sides_of(c));
        own.chain(sides.iter().flat_map(|s| s.first..s.first + s.blocks))
    }

    /// The same operator multiplied out, without moments.
    pub fn to_blocks(&self) -> Blocks {
        let n = self.contacts.len();
        let mut on_block = vec![Vec::new(); self.masses.len()];
        for a in 0..n {
            self.moved_by(a).for_each(|block| on_block[block as usize].push(a as u32));
        }
        // Column by column: the velocities due to unit impulses at b, seen from all contacts that share a block with it.
        let mut rows: Vec<Vec<(u32, [[f64; 3]; 3])>> = vec![Vec::new(); n];
        let mut velocity = [0, 1, 2].map(|_| vec![[0.0; 6]; self.masses.len()]);
        let mut meeting: Vec<u32> = Vec::new();
        for b in 0..n {
            for (k, velocity) in velocity.iter_mut().enumerate() {
                let mut unit = [0.0; 3];
                unit[k] = 1.0;
                self.push_impulse(b, unit, velocity);
            }
            meeting.clear();
            meeting.extend(self.moved_by(b).flat_map(|block| &on_block[block as usize]));
            meeting.sort_unstable();
            meeting.dedup();
            for &a in &meeting {
                let columns = [0, 1, 2].map(|k| self.to_local(a as usize, &velocity[k]));
                let block = [0, 1, 2].map(|i| [0, 1, 2].map(|k: usize| columns[k][i]));
                rows[a as usize].push((b as u32, block));
            }
            for velocity in &mut velocity {
                self.moved_by(b).for_each(|block| velocity[block as usize] = [0.0; 6]);
            }
        }
        let mut blocks = Blocks::default();
        for row in rows {
            row.into_iter().for_each(|(b, block)| blocks.push(b as usize, block));
            blocks.end_row();
        }
        blocks
    }
}

impl Operator for Factored {
    #[inline]
    fn diagonal(&self, a: usize) -> &[[f64; 3]; 3] {
        match self.contacts.get(a) {
            Some(c) => &c.w,
            None => &self.turning[a - self.contacts.len()].w,
        }
    }

    fn start(&self, impulses: &[[f64; 3]], velocity: &mut BlockVelocities) {
        self.velocity_change(impulses, velocity);
    }

    #[inline]
    fn velocity(&self, a: usize, _impulses: &[[f64; 3]], velocity: &BlockVelocities) -> [f64; 3] {
        self.to_local(a, velocity)
    }

    #[inline]
    fn add(&self, a: usize, change: [f64; 3], velocity: &mut BlockVelocities) {
        self.push_impulse(a, change, velocity);
    }

    fn trace(&self) -> f64 {
        self.trace
    }
}

#[inline]
pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests;
