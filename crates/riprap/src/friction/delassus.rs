//! The Delassus operator `W = Hᵀ M⁻¹ H` [1/kg]: how an impulse at one contact changes the velocity at
//! another, in the two forms in which it is needed.

use super::{Blocks, Contact3, Factored};

/// `W`, factored (simulations) or as blocks (small or stored problems).
#[derive(Clone, Debug)]
pub enum Delassus {
    /// `Hᵀ M⁻¹ H`, never multiplied out: work and memory grow with the number of contacts.
    Factored(Factored),
    /// 3×3 blocks by rows.
    Blocks(Blocks),
}

impl Default for Delassus {
    fn default() -> Self {
        Delassus::Factored(Factored::default())
    }
}

impl Delassus {
    /// The factored form, to be filled; another form gives way to an empty one.
    pub fn make_factored(&mut self) -> &mut Factored {
        match self {
            Delassus::Factored(w) => w,
            other => {
                *other = Delassus::default();
                other.make_factored()
            }
        }
    }

    /// `M⁻¹ H I`: the change of velocity of every block that all impulses make [m/s, rad/s]. Blocks of `W` alone do not know it:
    /// then the list is empty.
    pub fn velocity_change(&self, impulses: &[[f64; 3]], velocity: &mut BlockVelocities) {
        match self {
            Delassus::Factored(w) => w.velocity_change(impulses, velocity),
            Delassus::Blocks(_) => velocity.clear(),
        }
    }

    /// The contacts of a factored operator; none where `W` is stored as blocks.
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

/// Velocities of the blocks of a factored operator [m/s, rad/s]: three linear, three angular. Those of a mechanism are in the order
/// of its independent coordinates, six to a block.
pub type BlockVelocities = Vec<[f64; 6]>;

/// What a solver asks of `W`. The block velocities carry whatever makes `velocity` cheap: for the factored
/// form the velocity change `M⁻¹ H I`; stored blocks leave them alone.
pub trait Operator {
    /// The block `W^αα`.
    fn diagonal(&self, a: usize) -> &[[f64; 3]; 3];
    /// Makes the block velocities those of `impulses`.
    fn start(&self, impulses: &[[f64; 3]], velocity: &mut BlockVelocities);
    /// `(W I)^α` [m/s].
    fn velocity(&self, a: usize, impulses: &[[f64; 3]], velocity: &BlockVelocities) -> [f64; 3];
    /// Adds to the block velocities what follows when the impulse at `a` grows by `change` [N s].
    fn add(&self, a: usize, change: [f64; 3], velocity: &mut BlockVelocities);
    /// Trace of `W` [1/kg].
    fn trace(&self) -> f64;
}
