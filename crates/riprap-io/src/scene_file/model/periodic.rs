//! The periodic cell.

use riprap::scene::Cell;

use super::super::keys::{codec, table};
use super::super::units::Dimension;
use super::{Component, LENGTH};

table! {
    /// A periodic cell: what leaves it on one side enters on the other, and bodies meet the images of others across its
    /// boundaries. It must be longer than two of its largest bodies in each periodic direction. Only half-spaces parallel to
    /// the periods, free bodies, and small fixed or moving bodies can be in it, with the schemes `moreau-jean`, `cone-complementarity`
    /// and `penalty`. Positions in `series.csv` go on beyond the boundaries; frames show the image of each body in the cell.
    PERIODIC = "periodic", "[periodic]";
    pub struct Periodic {
        /// Start and end of the cell along x, if it is periodic along x.
        x: Option<[f64; 2]> = List { of: &LENGTH, min: 2, max: 2 }, Optional;
        /// Start and end along y.
        y: Option<[f64; 2]> = List { of: &LENGTH, min: 2, max: 2 }, Optional;
        /// Start and end along z.
        z: Option<[f64; 2]> = List { of: &LENGTH, min: 2, max: 2 }, Optional;
        /// Shear rate of the cell: a flow along x that grows with y, `v_x = shear_rate y` (Lees and Edwards).
        shear_rate: Option<f64> = Quantity(Dimension::FREQUENCY, Any), Optional;
        /// Shear strain of the cell as a function of the time `t`, instead of a constant rate.
        shear_strain: Option<Component> = Law(Dimension::NONE), Optional, with Strain;
        /// Whether free bodies of a sheared cell start with the velocity of the flow, in addition to their own.
        initial_flow: bool = Flag, Default("true");
    }
}

codec! {
    /// A strain that depends on time.
    Strain: Option<Component>,
    |from, entries, key| match entries.get(key) {
        None => Some(None),
        Some(node) => from.component(node, key).map(Some),
    },
    |strain, _| strain
}

impl Periodic {
    /// The cell of the simulator.
    pub fn cell(&self) -> Cell {
        let mut cell = Cell::new();
        if let Some(range) = self.x {
            cell = cell.x(range);
        }
        if let Some(range) = self.y {
            cell = cell.y(range);
        }
        if let Some(range) = self.z {
            cell = cell.z(range);
        }
        if let Some(rate) = self.shear_rate {
            cell = cell.shear_rate(rate);
        }
        if let Some(strain) = self.shear_strain.clone() {
            cell = cell.shear_strain(move |t| strain.at(t));
        }
        if self.initial_flow { cell } else { cell.starting_at_rest() }
    }

    /// Whether it bounds a volume; in planar scenes an area.
    pub(in super::super) fn is_bounded(&self, planar: bool) -> bool {
        self.x.is_some() && self.y.is_some() && (planar || self.z.is_some())
    }
}
