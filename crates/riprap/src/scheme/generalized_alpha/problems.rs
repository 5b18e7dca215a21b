//! The complementarity problems of an iteration: projections on position and velocity constraints,
//! with the rows of bilateral constraints and of the contacts that take part.

use super::newton::Newton;
use crate::assembly::equations::{Contact, Key, Rows, Start, Unilateral};
use crate::friction::{Condition, Mixed};
use crate::scene::Scene;

/// How the contacts that take part are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Near {
    /// `g(q̃) ≤ 0`, with the gap at the new `q̃` to first order. (29h)
    Predicted,
    /// The contacts that [`Newton::activate`] found at the start of the step. (50d)
    Prepared,
}

/// A contact that has taken part in this step.
#[derive(Clone, Copy, Debug)]
struct Memory {
    key: Key,
    nu: f64,
    impulse: [f64; 3],
}

/// A contact in the problems of this iteration.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Its index among the contacts.
    contact: usize,
    memory: usize,
    /// Its row along the normal; with friction two tangential ones follow.
    row: usize,
    /// Number of its rows.
    rows: usize,
    /// Gap at the new `q̃` [m].
    gap: f64,
    /// Whether it takes part at velocity level.
    active: bool,
    /// `e g_{q,n} v_n` if it does [m/s].
    impact: f64,
}

/// Rows, their responses `M⁻¹ Gᵀ` and the operator `D = G M⁻¹ Gᵀ`.
#[derive(Default)]
pub(super) struct Problems {
    rows: Rows,
    responses: Vec<Vec<f64>>,
    d: Vec<f64>,
    entries: Vec<Entry>,
    memory: Vec<Memory>,
    /// Multipliers `ν` and `Λ` of the bilateral rows.
    pub nu: Vec<f64>,
    pub impulse: Vec<f64>,
    prepared: Vec<Key>,
    positions: Mixed,
    velocities: Mixed,
    /// Which row each row of a problem is.
    places: Vec<usize>,
}

impl Problems {
    /// Forgets the contacts of the last step.
    pub(super) fn reset(&mut self) {
        self.memory.clear();
        self.entries.clear();
        self.nu.fill(0.0);
        self.impulse.fill(0.0);
    }

    /// Sets the contacts that take part.
    pub(super) fn prepare(&mut self, closed: impl Iterator<Item = Key>) {
        self.prepared.clear();
        self.prepared.extend(closed);
    }

    /// The contacts with an impulse in the last iteration.
    pub(super) fn impulses<'a>(
        &'a self,
        contacts: &'a Unilateral,
    ) -> impl Iterator<Item = (Key, [f64; 3])> + 'a {
        let active = self.entries.iter().filter(|e| e.active);
        active.map(|e| (contacts.contacts[e.contact].key, self.memory[e.memory].impulse))
    }

    /// Whether any contact takes part.
    pub(super) fn any_active(&self) -> bool {
        self.entries.iter().any(|e| e.active)
    }

    /// Multiplier `ν` and impulse `Λ` of a contact; zero if it did not take part.
    pub(super) fn multipliers(&self, key: Key) -> (f64, [f64; 3]) {
        let found = self.memory.iter().find(|m| m.key == key);
        found.map_or((0.0, [0.0; 3]), |m| (m.nu, m.impulse))
    }

    fn remember(&mut self, key: Key) -> usize {
        self.memory.iter().position(|m| m.key == key).unwrap_or_else(|| {
            self.memory.push(Memory { key, nu: 0.0, impulse: [0.0; 3] });
            self.memory.len() - 1
        })
    }

    /// Whether a contact takes part, given its gap at the new `q̃`: at position level and at velocity level.
    fn takes_part(&self, near: Near, contact: &Contact, gap: f64) -> (bool, bool) {
        match near {
            Near::Prepared => {
                let active = self.prepared.contains(&contact.key);
                (active, active)
            }
            Near::Predicted => {
                let known = self.memory.iter().any(|m| m.key == contact.key);
                // Corrections for other contacts may have pushed this one below zero.
                (gap <= 0.0 || contact.gap < 0.0 || known, gap <= 0.0)
            }
        }
    }

    /// `D` of the given responses, times a factor.
    fn operator(&mut self, factor: f64) {
        let m = self.rows.len();
        self.d.clear();
        for i in 0..m {
            for x in &self.responses[..m] {
                self.d.push(factor * self.rows.dot(i, x));
            }
        }
    }

    /// Fills a problem with the rows in `places`.
    fn fill(places: &[usize], rows: usize, d: &[f64], problem: &mut Mixed) {
        problem.reset(places.len());
        for (i, &a) in places.iter().enumerate() {
            for (j, &b) in places.iter().enumerate() {
                problem.d[i * places.len() + j] = d[a * rows + b];
            }
        }
    }

    /// Sets up the problem at position level, without start values: residuals of the bilateral rows and
    /// gaps after a displacement `dx`. Returns its rows.
    fn fill_positions(&mut self, residual: &[f64], dx: &[f64]) -> Vec<usize> {
        let m_b = residual.len();
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        places.extend(self.position_rows(m_b));
        Problems::fill(&places, self.rows.len(), &self.d, &mut self.positions);
        for (i, residual) in residual.iter().enumerate() {
            self.positions.b[i] = residual + self.rows.dot(i, dx);
        }
        for (k, entry) in self.entries.iter().enumerate() {
            self.positions.b[m_b + k] = entry.gap;
        }
        self.positions.conditions.resize(m_b, Condition::Bilateral);
        self.positions.conditions.resize(places.len(), Condition::Unilateral);
        places
    }

    /// Adds `Σ M⁻¹ G_iᵀ x_i` to a vector.
    fn respond(&self, places: &[usize], x: &[f64], out: &mut [f64]) {
        for (&place, x) in places.iter().zip(x).filter(|(_, x)| **x != 0.0) {
            for (out, y) in out.iter_mut().zip(&self.responses[place]) {
                *out += x * y;
            }
        }
    }
}

/// Access for the coupled iteration.
impl Problems {
    /// All rows: bilateral ones, then those of the contacts that take part.
    pub(super) fn rows(&self) -> &Rows {
        &self.rows
    }

    /// `M⁻¹ Gᵀ` of a row.
    pub(super) fn response(&self, row: usize) -> &[f64] {
        &self.responses[row]
    }

    /// Rows at position level, with `m_b` bilateral ones.
    pub(super) fn position_rows(&self, m_b: usize) -> impl Iterator<Item = usize> + '_ {
        (0..m_b).chain(self.entries.iter().map(|e| e.row))
    }

    /// Rows at velocity level.
    pub(super) fn velocity_rows(&self, m_b: usize) -> impl Iterator<Item = usize> + '_ {
        let active = self.entries.iter().filter(|e| e.active);
        (0..m_b).chain(active.flat_map(|e| e.row..e.row + e.rows))
    }

    /// Whether a row is a tangential one.
    pub(super) fn is_tangential(&self, row: usize) -> bool {
        self.entry_of(row).is_some_and(|e| e.row != row)
    }

    fn entry_of(&self, row: usize) -> Option<&Entry> {
        self.entries.iter().find(|e| (e.row..e.row + e.rows).contains(&row))
    }

    /// Residual or gap of a row at the current positions.
    pub(super) fn gap(&self, row: usize, residual: &[f64], contacts: &Unilateral) -> f64 {
        let entry = self.entry_of(row);
        entry.map_or_else(|| residual[row], |e| contacts.contacts[e.contact].gap)
    }

    /// Contribution of the velocity before an impact to a row, `e g_{q,n} v_n`.
    pub(super) fn impact(&self, row: usize) -> f64 {
        self.entries.iter().find(|e| e.row == row).map_or(0.0, |e| e.impact)
    }

    /// Conditions and start values at position level.
    pub(super) fn position_conditions(&self, m_b: usize, mixed: &mut Mixed) {
        let first = mixed.conditions.len();
        mixed.x[first..first + m_b].copy_from_slice(&self.nu);
        mixed.conditions.resize(first + m_b, Condition::Bilateral);
        for entry in &self.entries {
            mixed.x[mixed.conditions.len()] = self.memory[entry.memory].nu;
            mixed.conditions.push(Condition::Unilateral);
        }
    }

    /// Conditions and start values at velocity level.
    pub(super) fn velocity_conditions(&self, m_b: usize, contacts: &Unilateral, mixed: &mut Mixed) {
        let mut i = 2 * m_b + self.entries.len();
        mixed.x[i..i + m_b].copy_from_slice(&self.impulse);
        mixed.conditions.extend(std::iter::repeat_n(Condition::Bilateral, m_b));
        i += m_b;
        for entry in self.entries.iter().filter(|e| e.active) {
            let impulse = &self.memory[entry.memory].impulse;
            mixed.x[i..i + entry.rows].copy_from_slice(&impulse[..entry.rows]);
            mixed.conditions.push(condition(&contacts.contacts[entry.contact]));
            i += entry.rows;
        }
    }

    /// Stores the multipliers `ν` and `Λ` of all rows.
    pub(super) fn store(&mut self, m_b: usize, x: &[f64]) {
        self.nu.copy_from_slice(&x[..m_b]);
        let mut i = m_b;
        for entry in &self.entries {
            self.memory[entry.memory].nu = x[i];
            i += 1;
        }
        self.impulse.copy_from_slice(&x[i..i + m_b]);
        i += m_b;
        for entry in &self.entries {
            let memory = &mut self.memory[entry.memory];
            memory.impulse = [0.0; 3];
            if entry.active {
                memory.impulse[..entry.rows].copy_from_slice(&x[i..i + entry.rows]);
                i += entry.rows;
            }
        }
    }
}

/// The condition of a contact at velocity level.
fn condition(contact: &Contact) -> Condition {
    match contact.friction {
        friction if friction > 0.0 => Condition::Coulomb { friction },
        _ => Condition::Unilateral,
    }
}

impl Newton {
    /// Collects the rows of the bilateral constraints and of the contacts that take part, for a
    /// displacement `dx` from `q` to the new `q̃`.
    fn gather(&mut self, scene: &Scene, near: Near) {
        let Newton { e, bilateral, unilateral, problems: p, at, v, dx, .. } = self;
        let start = Start { q: &self.at_n.q, v: &self.twists_n };
        p.rows.clear();
        for i in 0..bilateral.len() {
            p.rows.copy(&bilateral.rows, i);
        }
        p.nu.resize(bilateral.len(), 0.0);
        p.impulse.resize(bilateral.len(), 0.0);
        p.entries.clear();
        for k in 0..unilateral.contacts.len() {
            let contact = unilateral.contacts[k];
            let row = p.rows.len();
            unilateral.push_rows(scene, at, e, v, k, false, &mut p.rows);
            let gap = contact.gap + p.rows.dot(row, dx);
            let (takes_part, active) = p.takes_part(near, &contact, gap);
            if !takes_part || p.rows.row(row).is_empty() {
                p.rows.drop_last();
                continue;
            }
            if contact.friction > 0.0 && active {
                p.rows.drop_last();
                unilateral.push_rows(scene, at, e, v, k, true, &mut p.rows);
            }
            let (memory, rows) = (p.remember(contact.key), p.rows.len() - row);
            let impact = match active && contact.restitution > 0.0 {
                true => contact.restitution * contact.velocity_before(&at.q, &start),
                false => 0.0,
            };
            p.entries.push(Entry { contact: k, memory, row, rows, gap, active, impact });
        }
        let (n, m) = (e.n_v(), p.rows.len());
        p.responses.resize_with(m.max(p.responses.len()), Vec::new);
        for i in 0..m {
            p.responses[i].clear();
            p.responses[i].resize(n, 0.0);
            p.rows.add_to(i, 1.0, &mut p.responses[i]);
        }
    }

    /// The rows of this iteration with `D = G M⁻¹ Gᵀ`.
    pub(super) fn assemble(&mut self, scene: &Scene, near: Near) {
        self.gather(scene, near);
        let Newton { e, groups, problems: p, .. } = self;
        for i in 0..p.rows.len() {
            groups.solve_mass(e, &mut p.responses[i]);
        }
        p.operator(1.0);
    }

    /// The rows of this iteration with responses of the smooth motion, and `D` for gaps per force.
    pub(super) fn assemble_smooth(&mut self, scene: &Scene, by_q: f64) {
        self.gather(scene, Near::Predicted);
        let Newton { e, groups, problems: p, .. } = self;
        for i in 0..p.rows.len() {
            groups.solve_smooth(e, &mut p.responses[i]);
        }
        p.operator(by_q);
    }

    /// Step 2 of Algorithm 1: `U = M⁻¹ g_qᵀ ν` such that `g(q) = 0` on bilateral constraints and
    /// `0 ≤ g(q) ⊥ ν ≥ 0` on contacts; `0 ≤ g(q) ⊥ ν − lift Λ ≥ 0` with a positive `lift` [s].
    ///
    /// Friction adds the displacement of its velocity jump, `U_t = h/2 M⁻¹ g_tᵀ Λ_t`: a contact that
    /// sticks does not creep by the smooth motion that friction undoes at the end of the step.
    pub(super) fn project_positions(&mut self, lift: f64, h: f64) {
        let Newton { bilateral, problems: p, dx, correction, .. } = self;
        let m_b = bilateral.len();
        let places = p.fill_positions(&bilateral.residual, dx);
        p.positions.x[..m_b].copy_from_slice(&p.nu);
        for (k, entry) in p.entries.iter().enumerate() {
            let memory = &p.memory[entry.memory];
            p.positions.x[m_b + k] = memory.nu - lift * memory.impulse[0];
        }
        let n = places.len();
        for i in (0..n).filter(|_| lift > 0.0) {
            for (j, entry) in p.entries.iter().enumerate() {
                let impulse = p.memory[entry.memory].impulse[0];
                p.positions.b[i] += p.positions.d[i * n + m_b + j] * lift * impulse;
            }
        }
        correction.fill(0.0);
        for entry in p.entries.iter().filter(|e| e.active && e.rows == 3) {
            let impulse = p.memory[entry.memory].impulse;
            let rows = [entry.row + 1, entry.row + 2];
            p.respond(&rows, &[0.5 * h * impulse[1], 0.5 * h * impulse[2]], correction);
        }
        if p.entries.iter().any(|e| e.rows == 3) {
            for (i, &row) in places.iter().enumerate() {
                p.positions.b[i] += p.rows.dot(row, correction);
            }
        }
        p.positions.solve();
        for (j, entry) in p.entries.iter().enumerate() {
            let memory = &mut p.memory[entry.memory];
            p.positions.x[m_b + j] += lift * memory.impulse[0];
            memory.nu = p.positions.x[m_b + j];
        }
        p.nu.copy_from_slice(&p.positions.x[..m_b]);
        p.respond(&places, &p.positions.x, correction);
        p.places = places;
    }

    /// Step 3 of Algorithm 1: `W = M⁻¹ g_qᵀ Λ` such that `g_q v = 0` on bilateral constraints, and
    /// Newton's impact law and Coulomb's law hold on contacts with `g(q̃) ≤ 0`.
    pub(super) fn project_velocities(&mut self) {
        let Newton { bilateral, unilateral, problems: p, v_smooth, jump, .. } = self;
        let m_b = bilateral.len();
        let mut places = std::mem::take(&mut p.places);
        places.clear();
        places.extend(0..m_b);
        for entry in p.entries.iter().filter(|e| e.active) {
            places.extend(entry.row..entry.row + entry.rows);
        }
        Problems::fill(&places, p.rows.len(), &p.d, &mut p.velocities);
        let Mixed { b, x, conditions, .. } = &mut p.velocities;
        for (i, &place) in places.iter().enumerate() {
            b[i] = p.rows.velocity(place, v_smooth);
        }
        x[..m_b].copy_from_slice(&p.impulse);
        conditions.resize(m_b, Condition::Bilateral);
        let mut i = m_b;
        for entry in p.entries.iter().filter(|e| e.active) {
            let contact = &unilateral.contacts[entry.contact];
            b[i] += entry.impact;
            let friction = contact.friction;
            let condition = if friction > 0.0 {
                Condition::Coulomb { friction }
            } else {
                Condition::Unilateral
            };
            let rows = condition.rows();
            x[i..i + rows].copy_from_slice(&p.memory[entry.memory].impulse[..rows]);
            conditions.push(condition);
            i += rows;
        }
        p.velocities.solve();
        p.impulse.copy_from_slice(&p.velocities.x[..m_b]);
        let mut i = m_b;
        for entry in &p.entries {
            let memory = &mut p.memory[entry.memory];
            memory.impulse = [0.0; 3];
            if entry.active {
                let rows = entry.rows;
                memory.impulse[..rows].copy_from_slice(&p.velocities.x[i..i + rows]);
                i += rows;
            }
        }
        jump.fill(0.0);
        p.respond(&places, &p.velocities.x, jump);
        p.places = places;
    }

    /// Forces `λ` of the smooth index-3 scheme over a step `h` [s]: `0 ≤ g(q) ⊥ λ ≥ 0` after the
    /// correction of velocities, which is completed here. (51)
    pub(super) fn solve_index_3(&mut self, h: f64) {
        let Newton { bilateral, problems: p, dx, dv, lambda, .. } = self;
        let m_b = bilateral.len();
        let places = p.fill_positions(&bilateral.residual, dx);
        p.positions.x[..m_b].copy_from_slice(lambda);
        for (k, entry) in p.entries.iter().enumerate() {
            p.positions.x[m_b + k] = p.memory[entry.memory].impulse[0] / h;
        }
        p.positions.solve();
        lambda.clear();
        lambda.extend_from_slice(&p.positions.x[..m_b]);
        for (k, entry) in p.entries.iter_mut().enumerate() {
            entry.active = true;
            p.memory[entry.memory].impulse[0] = h * p.positions.x[m_b + k];
        }
        p.respond(&places, &p.positions.x, dv);
        p.places = places;
    }
}
