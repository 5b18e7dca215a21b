//! Which contacts move a block: lists of contacts by block, made on all threads. [`Factored::velocity_change_in`] adds up
//! impulses with them, block by block, instead of contact by contact.

use super::{BlockVelocities, Factored};
use crate::math::{bytes_of, make_room, parallel};
use std::sync::atomic::{AtomicU32, Ordering};

/// The contacts that move each block, in ascending order. Buffers are kept from one step to the next.
#[derive(Debug, Default)]
pub struct Incidence {
    /// First entry of each block in `contacts`, and the end of the last one.
    starts: Vec<u32>,
    contacts: Vec<u32>,
    /// Next free entry of each block while the lists are filled.
    next: Vec<AtomicU32>,
    filled: Vec<AtomicU32>,
}

impl Clone for Incidence {
    /// Without contents, which are those of a moment.
    fn clone(&self) -> Incidence {
        Incidence::default()
    }
}

/// Blocks or contacts per task.
const PART: usize = 1024;

impl Incidence {
    /// Lists the unknowns (contacts, joints, moments) with an impulse.
    pub fn list(&mut self, w: &Factored, impulses: &[[f64; 3]]) {
        let (n, m) = (impulses.len(), w.n_blocks());
        let parts = |n: usize| 0..n.div_ceil(PART);
        let part = |k: usize, n: usize| k * PART..n.min((k + 1) * PART);
        let acting = |a: &usize| impulses[*a] != [0.0; 3];
        let more = m.saturating_sub(self.next.len());
        make_room(&mut self.next, more);
        self.next.resize_with(m, AtomicU32::default);
        self.next.iter_mut().for_each(|count| *count.get_mut() = 0);
        let next = &self.next;
        let each = |visit: &(dyn Fn(usize, usize) + Sync)| {
            parallel::for_each_index(parts(n), |k| {
                for a in part(k, n).filter(acting) {
                    w.moved_by(a).for_each(|block| visit(a, block as usize));
                }
            });
        };
        // The order within a block depends on the threads, until it is sorted.
        each(&|_, block| {
            next[block].fetch_add(1, Ordering::Relaxed);
        });
        self.starts.clear();
        make_room(&mut self.starts, m + 1);
        let mut sum = 0;
        for count in &mut self.next {
            self.starts.push(sum);
            sum += std::mem::replace(count.get_mut(), sum);
        }
        self.starts.push(sum);
        let sum = sum as usize;
        let more = sum.saturating_sub(self.filled.len());
        make_room(&mut self.filled, more);
        self.filled.resize_with(sum, AtomicU32::default);
        let (next, filled) = (&self.next, &self.filled);
        each(&|a, block| {
            let at = next[block].fetch_add(1, Ordering::Relaxed);
            filled[at as usize].store(a as u32, Ordering::Relaxed);
        });
        parallel::set_length(&mut self.contacts, sum);
        let starts = &self.starts;
        let length = |k: usize| {
            let blocks = part(k, m);
            (starts[blocks.end] - starts[blocks.start]) as usize
        };
        parallel::for_each_part(&mut self.contacts, parts(m), &length, &|k, mut rest| {
            for block in part(k, m) {
                let [first, end] = [starts[block], starts[block + 1]].map(|at| at as usize);
                let own = rest.split_off_mut(..end - first).expect("a part has its entries");
                for (own, filled) in own.iter_mut().zip(&filled[first..end]) {
                    *own = filled.load(Ordering::Relaxed);
                }
                own.sort_unstable();
            }
        });
    }

    /// The unknowns that move a block, in ascending order.
    pub fn of(&self, block: usize) -> &[u32] {
        &self.contacts[self.starts[block] as usize..self.starts[block + 1] as usize]
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        bytes_of(&self.starts)
            + bytes_of(&self.contacts)
            + bytes_of(&self.next)
            + bytes_of(&self.filled)
    }
}

impl Factored {
    /// `M⁻¹ H I`: the change of velocity due to all impulses [m/s, rad/s]; on one thread contact by contact, on several ones block
    /// by block, each block in the order of the contacts, so the result is bitwise the same.
    pub fn velocity_change_in(
        &self,
        impulses: &[[f64; 3]],
        incidence: &mut Incidence,
        velocity: &mut BlockVelocities,
    ) {
        /// Impulses above which lists pay off.
        const MANY: usize = 4096;
        if impulses.len() < MANY || parallel::n_threads() == 1 {
            return self.velocity_change(impulses, velocity);
        }
        incidence.list(self, impulses);
        parallel::fill(velocity, self.n_blocks(), |_| [0.0; 6]);
        parallel::for_each(velocity, |block, v| {
            let own = std::slice::from_mut(v);
            for &a in incidence.of(block) {
                self.push_impulse_from(block, a as usize, impulses[a as usize], own);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::fixtures::{add_moments, random_problem};

    #[test]
    fn lists_contain_every_contact_with_an_impulse_in_order() {
        let mut problem = random_problem(7, 40, 300);
        add_moments(&mut problem);
        let w = problem.w.make_factored();
        let n = w.contacts().len() + w.turning().len();
        let acting = |a: u32| !a.is_multiple_of(4);
        let value = |a: u32| if acting(a) { [1.0, 0.1, f64::from(a)] } else { [0.0; 3] };
        let impulses: Vec<[f64; 3]> = (0..n as u32).map(value).collect();
        let mut incidence = Incidence::default();
        // Twice: buffers are used again.
        for _ in 0..2 {
            incidence.list(w, &impulses);
            for block in 0..w.n_blocks() {
                let moves = |a: &u32| w.moved_by(*a as usize).any(|b| b as usize == block);
                let expected: Vec<u32> =
                    (0..n as u32).filter(|a| acting(*a)).filter(moves).collect();
                assert_eq!(incidence.of(block), expected);
            }
        }
    }
}
