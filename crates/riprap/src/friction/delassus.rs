//! The Delassus operator `W = Hᵀ M⁻¹ H` [1/kg]: how an impulse at one contact changes the velocity
//! at another, in two forms.

use super::{Blocks, Contact3, Factored, Incidence};

/// `W`, factored (simulations) or as blocks (small or stored problems).
#[derive(Clone, Debug)]
pub enum Delassus {
    /// `Hᵀ M⁻¹ H`, never multiplied out: work and memory grow with the number of contacts.
    Factored(Factored),
    /// 3×3 blocks stored by rows.
    Blocks(Blocks),
}

impl Default for Delassus {
    fn default() -> Self {
        Delassus::Factored(Factored::default())
    }
}

impl Delassus {
    /// The factored form, for filling; another form is replaced by an empty one.
    pub fn make_factored(&mut self) -> &mut Factored {
        match self {
            Delassus::Factored(w) => w,
            other => {
                *other = Delassus::default();
                other.make_factored()
            }
        }
    }

    /// `M⁻¹ H I`: the change of velocity of every block due to all impulses [m/s, rad/s]. It cannot
    /// be computed from blocks of `W` alone: then the list is empty.
    pub fn velocity_change(&self, impulses: &[[f64; 3]], velocity: &mut BlockVelocities) {
        match self {
            Delassus::Factored(w) => w.velocity_change(impulses, velocity),
            Delassus::Blocks(_) => velocity.clear(),
        }
    }

    /// The same on all threads, bitwise equal, with buffers that are kept from step to step.
    pub fn velocity_change_in(
        &self,
        impulses: &[[f64; 3]],
        incidence: &mut Incidence,
        velocity: &mut BlockVelocities,
    ) {
        match self {
            Delassus::Factored(w) => w.velocity_change_in(impulses, incidence, velocity),
            Delassus::Blocks(_) => velocity.clear(),
        }
    }

    /// The block of an unknown on the diagonal.
    pub(super) fn diagonal(&self, a: usize) -> &[[f64; 3]; 3] {
        match self {
            Delassus::Factored(w) => w.diagonal(a),
            Delassus::Blocks(w) => w.diagonal(a),
        }
    }

    /// The contacts of a factored operator; empty if `W` is stored as blocks.
    pub fn contacts(&self) -> &[Contact3] {
        match self {
            Delassus::Factored(w) => w.contacts(),
            Delassus::Blocks(_) => &[],
        }
    }

    /// Bytes held by the buffers.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Delassus::Factored(w) => w.bytes(),
            Delassus::Blocks(_) => 0,
        }
    }
}

/// Velocities of the blocks of a factored operator [m/s, rad/s]: three linear, three angular. Those
/// of a mechanism are in the order of its independent coordinates, six per block.
pub type BlockVelocities = Vec<[f64; 6]>;

/// Operations on `W` that a solver needs. The block velocities hold whatever makes `velocity`
/// cheap: the velocity change `M⁻¹ H I` for the factored form; stored blocks do not use them.
pub trait Operator {
    /// The block `W^αα`.
    fn diagonal(&self, a: usize) -> &[[f64; 3]; 3];
    /// Sets the block velocities to those of `impulses`.
    fn start(&self, impulses: &[[f64; 3]], velocity: &mut BlockVelocities);
    /// `(W I)^α` [m/s].
    fn velocity(&self, a: usize, impulses: &[[f64; 3]], velocity: &BlockVelocities) -> [f64; 3];
    /// Updates the block velocities when the impulse at `a` changes by `change` [N s].
    fn add(&self, a: usize, change: [f64; 3], velocity: &mut BlockVelocities);
    /// Trace of `W` [1/kg].
    fn trace(&self) -> f64;
}
