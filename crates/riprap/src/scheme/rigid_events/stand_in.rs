//! Stand-in for `friction::Dantzig`.
use crate::friction::{Delassus, Scratch};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Friction { None, Static { mu: f64 }, Sliding { mu: f64, direction: [f64; 2] } }
pub struct ForceProblem<'a> { pub w: &'a Delassus, pub b: &'a [[f64; 3]], pub friction: &'a [Friction] }
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Class { #[default] Breaking, Static, Sliding }
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dantzig { pub facets: usize, pub max_pivots: usize }
impl Default for Dantzig { fn default() -> Self { Dantzig { facets: 8, max_pivots: 10_000 } } }
pub struct DantzigReport { pub outcome: Outcome, pub pivots: usize, pub degenerate: usize, pub residual: f64 }
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome { Solved, Inconsistent { contact: usize }, Limit }
impl Dantzig {
    pub fn solve(&self, problem: &ForceProblem, forces: &mut Vec<[f64; 3]>, classes: &mut Vec<Class>, _: &mut Scratch) -> DantzigReport {
        let mut velocity = Vec::new();
        let (outcome, sweeps, residual) = super::sweeps::solve(problem, forces, classes, &mut velocity, 20_000);
        DantzigReport { outcome, pivots: sweeps, degenerate: 0, residual }
    }
}
