//! The correction of overlaps: poses are projected onto `g(q) ≥ 0` by the smallest displacement,
//! and velocities are left as they are ([ADR 22](../../../../docs/adr/0022-position-correction.md)).
//! Called by [`super::Stabilization`] at the end of each step, and before the contact problem is
//! assembled if the detection has found a deep overlap.

use super::contacts::{ActiveContact, Contacts, overlap_size};
use super::{GapRule, Interval, System, SystemError, assemble_joints, assemble_ropes};
use crate::friction::{
    BlockVelocities, Buffers, Coloured, ContactProblem, ContactSolver, Delassus, Factored,
    GaussSeidelOptions, Impulses, Incidence, Law, Scratch,
};
use crate::math::{Pose, Vec3, bytes_of, parallel, turn};
use crate::scene::{Scene, State};

/// Overlaps beyond this fraction of [`overlap_size`] are corrected at the end of a step.
const DEEP: f64 = 3e-4;
/// They are reduced to this fraction, not to zero: a contact that is left slightly closed carries
/// its load in the next step as well.
const LEFT: f64 = 2e-4;
/// Contacts with a gap of up to this fraction take part, so that the
/// displacement does not close them.
const NEAR: f64 = 2e-3;
/// Overlaps found by a detection that are deeper than this fraction are corrected at once.
const DEEPEST: f64 = 8e-4;
/// Detections of one step that are followed by such a correction, at most.
const ATTEMPTS: usize = 4;

/// Buffers of the projection.
#[derive(Default)]
pub(super) struct Projection {
    /// Gap of every contact, relative to [`overlap_size`] [–].
    gaps: Vec<f64>,
    /// Contacts, joints and ropes that take part.
    chosen: Vec<u32>,
    problem: ContactProblem,
    impulses: Impulses,
    /// Displacement of every block [m, rad].
    change: BlockVelocities,
    incidence: Incidence,
}

impl Buffers for Projection {
    fn bytes(&self) -> usize {
        bytes_of(&self.gaps)
            + bytes_of(&self.chosen)
            + self.problem.bytes()
            + bytes_of(&self.impulses)
            + bytes_of(&self.change)
    }
}

/// Scratch of the projection and of its solver.
pub type ProjectionScratch<'a> = (&'a mut Scratch, &'a mut Scratch);

/// At the end of the step: projects `q_{n+1}`. The contacts are those of the step, with their gaps
/// to first order at `q_{n+1}` and, if they are closing, at the next `q_m`.
#[expect(clippy::too_many_arguments)]
pub(super) fn at_end(
    scene: &Scene,
    system: &mut System,
    step: &Interval,
    contacts: &Contacts,
    problem: &ContactProblem,
    (buffers, solver): ProjectionScratch,
    state: &State,
    next: &mut State,
) -> Result<(), SystemError> {
    let projection = buffers.of::<Projection>();
    let (points, q) = (contacts.points(), &next.q[..]);
    let at_m = &*system;
    parallel::fill(&mut projection.gaps, contacts.active.len(), |k| {
        let c = points.contact(k);
        let opened = at_m.opening(&c, q);
        let later = opened.min(0.0) * (step.before / step.after);
        (c.point.gap + opened + later) / size(scene, &c)
    });
    if projection.solve(scene, contacts, problem, DEEP, solver) {
        displace(&system.bodies.block, &projection.change, &mut next.q);
        system.mechanisms.displace_end(scene, state, step, &projection.change, next)?;
    }
    Ok(())
}

/// After the detection: projects `q_m` and detects again as long as there are deep overlaps. They
/// occur where points meet that the last detection did not report.
pub(super) fn at_middle(
    scene: &Scene,
    state: &State,
    system: &mut System,
    step: &Interval,
    contacts: &mut Contacts,
    problem: &mut ContactProblem,
    (buffers, solver): ProjectionScratch,
) -> Result<(), SystemError> {
    let projection = buffers.of::<Projection>();
    for _ in 0..ATTEMPTS {
        if !contacts.has_overlap(scene, DEEPEST) {
            break;
        }
        contacts.assemble(scene, state, system, step.dt, problem);
        assemble_joints(scene, system, problem);
        assemble_ropes(scene, state, system, GapRule::ByLaw, step.dt, problem);
        let points = contacts.points();
        parallel::fill(&mut projection.gaps, contacts.active.len(), |k| {
            let c = points.contact(k);
            c.point.gap / size(scene, &c)
        });
        if !projection.solve(scene, contacts, problem, DEEPEST, solver) {
            break;
        }
        displace(&system.bodies.block, &projection.change, &mut system.q_m);
        let System { mechanisms, q_m, .. } = system;
        mechanisms.displace_middle(scene, state, step, &projection.change, q_m)?;
        system.free_motion(scene, state, step)?;
        contacts.detect(scene, system, step.dt);
    }
    Ok(())
}

impl Projection {
    /// The smallest displacement, `min ½ uᵀ M u`, with `g + Hᵀ u ≥ −LEFT` wherever the overlap is
    /// deeper than `deep`, and `≥ −deep` elsewhere; joints keep their positions
    /// and ropes do not get longer. With `u = M⁻¹ H I`
    /// this is a contact problem without friction in which gaps take the place of velocities.
    /// Returns false if no overlap is deep.
    fn solve(
        &mut self,
        scene: &Scene,
        contacts: &Contacts,
        step: &ContactProblem,
        deep: f64,
        scratch: &mut Scratch,
    ) -> bool {
        let Projection { gaps, chosen, problem, impulses, change, incidence } = self;
        let Delassus::Factored(w) = &step.w else { return false };
        let n = gaps.len();
        if parallel::all(n, |k| gaps[k] >= -deep) {
            return false;
        }
        chosen.clear();
        chosen.extend((0..w.contacts().len() as u32).filter(|&k| {
            let k = k as usize;
            k >= n || gaps[k] < NEAR
        }));
        problem.w.make_factored().select(w, chosen);
        problem.approach_scale = 1.0 / scene.resolution();
        problem.v_rel_free.clear();
        problem.laws.clear();
        let points = contacts.points();
        for k in chosen.iter().map(|&k| k as usize) {
            let Some(gap) = gaps.get(k) else {
                problem.v_rel_free.push([0.0; 3]);
                problem.laws.push(step.laws[k]);
                continue;
            };
            let left = if *gap < -deep { LEFT } else { deep };
            let room = (gap + left) * size(scene, &points.contact(k));
            problem.v_rel_free.push([room, 0.0, 0.0]);
            problem.laws.push(Law::Coulomb { friction: 0.0 });
        }
        impulses.clear();
        solver(problem.len()).solve(problem, impulses, scratch);
        problem.w.velocity_change_in(impulses, incidence, change);
        true
    }
}

/// Problems with fewer contacts are solved accurately, so that a brick is lifted without being
/// tilted.
const FEW: usize = 100;

/// The solver of a projection with this number of contacts. A rough solution suffices for a pile:
/// the next step measures the gaps again.
fn solver(n: usize) -> Coloured {
    let options = GaussSeidelOptions {
        approach_tolerance: 2e-4,
        refined_tolerance: if n < FEW { 1e-6 } else { 0.1 },
        max_sweeps: 100,
        ..GaussSeidelOptions::tolerance(0.1)
    };
    Coloured { options, ..Coloured::default() }
}

/// Moves the free bodies by the displacements of their blocks.
fn displace(block: &[u32], change: &[[f64; 6]], q: &mut [Pose]) {
    parallel::for_each(q, |i, q| {
        if block[i] == Factored::NONE {
            return;
        }
        let u = &change[block[i] as usize];
        if *u != [0.0; 6] {
            q.position += Vec3::new(u[0], u[1], u[2]);
            q.rotation = turn(q.rotation, Vec3::new(u[3], u[4], u[5]));
        }
    });
}

/// The length that the overlap of a contact is relative to [m].
fn size(scene: &Scene, c: &ActiveContact) -> f64 {
    let [i, j] = c.bodies.map(|b| b as usize);
    overlap_size(scene, i, j)
}
