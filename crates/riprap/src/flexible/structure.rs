//! A flexible body at a configuration: mass matrix, forces, their derivatives, energies and momenta.

use super::element::{BeamElement, NodeMatrix, NodeVelocity};
use super::logarithm::cross;
use crate::math::tridiagonal::Tridiagonal;
use crate::math::{Mat3, Pose, Twist, Vec3, turn};
use serde::{Deserialize, Serialize};

/// A flexible body: a chain of nodes, built from a [`Bar`](super::Bar) or a [`Beam`](super::Beam).
///
/// A node of a bar has one degree of freedom: its velocity along the axis [m/s]. A node of a beam has six: the
/// velocity in the world's axes [m/s], then the angular velocity in the axes of the section [rad/s].
#[derive(Clone, Debug, PartialEq)]
pub struct Structure {
    pub(super) name: String,
    pub(super) start: StructureState,
    pub(super) held: Vec<bool>,
    pub(super) mass: Tridiagonal,
    /// [m/s²].
    pub(super) gravity: Vec3,
    /// Mass of each node that gravity acts on [kg].
    pub(super) weight: Vec<f64>,
    /// Outline of the section [m].
    pub(super) outline: Vec<[f64; 2]>,
    pub(super) mechanics: Mechanics,
}

/// The elements of a structure.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mechanics {
    Bar {
        axis: Vec3,
        /// At rest [m].
        lengths: Vec<f64>,
        /// `E A / L` [N/m].
        stiffness: Vec<f64>,
        /// [s]
        damping: f64,
    },
    Beam {
        elements: Vec<BeamElement>,
    },
}

/// Positions and velocities of a flexible body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StructureState {
    /// Poses of the nodes: frames of the sections.
    pub q: Vec<Pose>,
    /// Velocities of all degrees of freedom [m/s, rad/s].
    pub v: Vec<f64>,
}

impl Structure {
    /// Name of the body.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.start.q.len()
    }

    /// Degrees of freedom of a node: 1 for bars, 6 for beams.
    pub fn node_dofs(&self) -> usize {
        self.mass.block
    }

    /// Degrees of freedom of all nodes, held ones included.
    pub fn n_v(&self) -> usize {
        self.start.v.len()
    }

    /// Positions and velocities at the start.
    pub fn start(&self) -> &StructureState {
        &self.start
    }

    /// Whether a state has the size of this body.
    pub fn fits(&self, state: &StructureState) -> bool {
        state.q.len() == self.n_nodes() && state.v.len() == self.n_v()
    }

    /// Degrees of freedom that supports hold: their velocity is zero. Forces and tangents are evaluated for all of
    /// them; callers leave these rows out, see [`Tridiagonal::hold`].
    pub fn held(&self) -> &[bool] {
        &self.held
    }

    /// `M`: the mass matrix, constant [kg, kg m²].
    pub fn mass(&self) -> &Tridiagonal {
        &self.mass
    }

    /// Whether stiffness and damping matrices do not depend on the state: true for bars.
    pub fn is_linear(&self) -> bool {
        matches!(self.mechanics, Mechanics::Bar { .. })
    }

    /// Corners `[y, z]` of the outline of the cross-section [m], to draw it.
    pub fn outline(&self) -> &[[f64; 2]] {
        &self.outline
    }

    /// Largest distance of a node from the first one, at the start [m].
    pub fn reach(&self) -> f64 {
        let first = self.start.q[0].position;
        self.start.q.iter().map(|q| (q.position - first).norm()).fold(0.0, f64::max)
    }

    /// Total mass [kg].
    pub fn total_mass(&self) -> f64 {
        self.weight.iter().sum()
    }

    /// Mass of the half-elements beside a node [kg].
    pub fn node_mass(&self, node: usize) -> f64 {
        self.weight[node]
    }

    /// `f = gravity − internal − gyroscopic − damping forces`, for all degrees of freedom [N, N m].
    pub fn force(&self, q: &[Pose], v: &[f64], out: &mut [f64]) {
        match &self.mechanics {
            Mechanics::Bar { axis, lengths, stiffness, damping } => {
                let pull = axis.dot(&self.gravity);
                for (f, m) in out.iter_mut().zip(&self.weight) {
                    *f = m * pull;
                }
                for (k, (length, stiffness)) in lengths.iter().zip(stiffness).enumerate() {
                    let stretch = axis.dot(&(q[k + 1].position - q[k].position)) - length;
                    let tension = stiffness * (stretch + damping * (v[k + 1] - v[k]));
                    out[k] += tension;
                    out[k + 1] -= tension;
                }
            }
            Mechanics::Beam { elements } => {
                for (k, m) in self.weight.iter().enumerate() {
                    let momentum = self.angular_momentum(v, k);
                    let gyroscopic = angular(v, k).cross(&momentum);
                    out[6 * k..6 * k + 3].copy_from_slice((self.gravity * *m).as_slice());
                    out[6 * k + 3..6 * k + 6].copy_from_slice((-gyroscopic).as_slice());
                }
                for (k, element) in elements.iter().enumerate() {
                    let (va, vb) = (velocity(v, k), velocity(v, k + 1));
                    let forces = element.forces(&q[k], &q[k + 1], &va, &vb);
                    for (f, part) in forces.iter().zip(out[6 * k..6 * k + 12].chunks_exact_mut(3)) {
                        part.iter_mut().zip(f).for_each(|(out, f)| *out += f);
                    }
                }
            }
        }
    }

    /// `k = −∂f/∂q`, per unit of the increments of [`Structure::integrate`], and `c = −∂f/∂v`. Both matrices must have the size of
    /// the mass matrix.
    pub fn tangents(&self, q: &[Pose], v: &[f64], k: &mut Tridiagonal, c: &mut Tridiagonal) {
        k.clear();
        c.clear();
        match &self.mechanics {
            Mechanics::Bar { stiffness, damping, .. } => {
                for (e, stiffness) in stiffness.iter().enumerate() {
                    for (matrix, s) in [(&mut *k, *stiffness), (&mut *c, stiffness * damping)] {
                        matrix.diagonal[e] += s;
                        matrix.diagonal[e + 1] += s;
                        matrix.upper[e] -= s;
                        matrix.lower[e] -= s;
                    }
                }
            }
            Mechanics::Beam { elements } => {
                for (e, element) in elements.iter().enumerate() {
                    let (va, vb) = (velocity(v, e), velocity(v, e + 1));
                    let (stiffness, damping) = element.tangents(&q[e], &q[e + 1], &va, &vb);
                    add_element(k, e, &stiffness);
                    if element.damping != 0.0 {
                        add_element(c, e, &damping);
                    }
                }
                self.add_gyroscopic(v, c);
            }
        }
    }

    /// Derivatives of `ω_i × (M v)_i` with respect to the angular velocities.
    fn add_gyroscopic(&self, v: &[f64], c: &mut Tridiagonal) {
        let turning =
            |band: &[f64], k: usize| Mat3::from_fn(|i, j| band[36 * k + 6 * (i + 3) + j + 3]);
        let n = self.n_nodes();
        for k in 0..n {
            let omega = cross(angular(v, k));
            let own = omega * turning(&self.mass.diagonal, k) - cross(self.angular_momentum(v, k));
            add_block(&mut c.diagonal, k, 1, 1, &own);
            if k > 0 {
                add_block(&mut c.lower, k - 1, 1, 1, &(omega * turning(&self.mass.lower, k - 1)));
            }
            if k + 1 < n {
                add_block(&mut c.upper, k, 1, 1, &(omega * turning(&self.mass.upper, k)));
            }
        }
    }

    /// The angular part of `M v` at a node, in the axes of its section.
    fn angular_momentum(&self, v: &[f64], k: usize) -> Vec3 {
        let at = |band: &[f64], block: usize, node: usize| {
            Vec3::from_fn(|i, _| band[36 * block + 7 * (i + 3)] * v[6 * node + 3 + i])
        };
        let mut momentum = at(&self.mass.diagonal, k, k);
        if k > 0 {
            momentum += at(&self.mass.lower, k - 1, k - 1);
        }
        if k + 1 < self.n_nodes() {
            momentum += at(&self.mass.upper, k, k + 1);
        }
        momentum
    }

    /// `out = q` moved by increments of all degrees of freedom: bars along their axis; beams `x + dx` in the world's
    /// axes and `R exp(dθ)` in those of the section [m, rad].
    pub fn integrate(&self, q: &[Pose], dx: &[f64], out: &mut Vec<Pose>) {
        out.clear();
        match &self.mechanics {
            Mechanics::Bar { axis, .. } => out.extend(
                q.iter().zip(dx).map(|(q, dx)| Pose { position: q.position + axis * *dx, ..*q }),
            ),
            Mechanics::Beam { .. } => out.extend(q.iter().enumerate().map(|(k, q)| {
                let [linear, angular] = velocity(dx, k);
                Pose {
                    position: q.position + linear,
                    rotation: turn(q.rotation, q.rotation * angular),
                }
            })),
        }
    }

    /// Velocity of a node, in the world.
    pub fn node_twist(&self, q: &[Pose], v: &[f64], node: usize) -> Twist {
        match &self.mechanics {
            Mechanics::Bar { axis, .. } => Twist { linear: axis * v[node], angular: Vec3::zeros() },
            Mechanics::Beam { .. } => {
                let [linear, angular] = velocity(v, node);
                Twist { linear, angular: q[node].rotation * angular }
            }
        }
    }

    /// The Jacobian of [`Structure::node_twist`]: for each degree of freedom of the node its place in `v`, and the velocity
    /// of the node per unit of it.
    pub fn node_columns(&self, q: &[Pose], node: usize) -> impl Iterator<Item = (usize, Twist)> {
        let dofs = self.node_dofs();
        let rotation = q[node].rotation;
        (0..dofs).map(move |d| {
            let mut twist = Twist::default();
            match &self.mechanics {
                Mechanics::Bar { axis, .. } => twist.linear = *axis,
                Mechanics::Beam { .. } if d < 3 => twist.linear[d] = 1.0,
                Mechanics::Beam { .. } => {
                    let mut axis = Vec3::zeros();
                    axis[d - 3] = 1.0;
                    twist.angular = rotation * axis;
                }
            }
            (node * dofs + d, twist)
        })
    }

    /// Kinetic and potential energy, the latter elastic and of gravity (zero at the origin of the world) [J].
    pub fn energy(&self, q: &[Pose], v: &[f64]) -> (f64, f64) {
        let mut momenta = vec![0.0; v.len()];
        self.mass.multiply_add(v, 1.0, &mut momenta);
        let kinetic = 0.5 * momenta.iter().zip(v).map(|(p, v)| p * v).sum::<f64>();
        let weight = |(q, m): (&Pose, &f64)| -m * self.gravity.dot(&q.position);
        let height: f64 = q.iter().zip(&self.weight).map(weight).sum();
        let elastic: f64 = match &self.mechanics {
            Mechanics::Bar { axis, lengths, stiffness, .. } => q
                .windows(2)
                .zip(lengths.iter().zip(stiffness))
                .map(|(q, (length, stiffness))| {
                    let stretch = axis.dot(&(q[1].position - q[0].position)) - length;
                    0.5 * stiffness * stretch * stretch
                })
                .sum(),
            Mechanics::Beam { elements } => {
                q.windows(2).zip(elements).map(|(q, element)| element.energy(&q[0], &q[1])).sum()
            }
        };
        (kinetic, elastic + height)
    }

    /// Momentum [kg m/s] and angular momentum about the origin of the world [kg m²/s].
    pub fn momentum(&self, q: &[Pose], v: &[f64]) -> (Vec3, Vec3) {
        let mut momenta = vec![0.0; v.len()];
        self.mass.multiply_add(v, 1.0, &mut momenta);
        let (mut linear, mut angular) = (Vec3::zeros(), Vec3::zeros());
        for (k, pose) in q.iter().enumerate() {
            // The dual of a velocity is mapped as the velocity: the columns are orthonormal.
            let part = self.node_twist(q, &momenta, k);
            linear += part.linear;
            angular += pose.position.cross(&part.linear) + part.angular;
        }
        (linear, angular)
    }
}

/// Linear and angular velocity of a node of a beam.
fn velocity(v: &[f64], node: usize) -> NodeVelocity {
    let v = &v[6 * node..6 * node + 6];
    [Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5])]
}

/// Angular velocity of a node of a beam.
fn angular(v: &[f64], node: usize) -> Vec3 {
    velocity(v, node)[1]
}

/// Adds a 3×3 block to the quarter (`row`, `column`) of the 6×6 block `k` of a band.
fn add_block(band: &mut [f64], k: usize, row: usize, column: usize, block: &Mat3) {
    for i in 0..3 {
        for j in 0..3 {
            band[36 * k + 6 * (3 * row + i) + 3 * column + j] += block[(i, j)];
        }
    }
}

/// Adds the matrix of the element between the nodes `e` and `e + 1`.
fn add_element(matrix: &mut Tridiagonal, e: usize, of: &NodeMatrix) {
    for row in 0..4 {
        for column in 0..4 {
            let (band, k) = match (row / 2, column / 2) {
                (0, 1) => (&mut matrix.upper, e),
                (1, 0) => (&mut matrix.lower, e),
                (node, _) => (&mut matrix.diagonal, e + node),
            };
            add_block(band, k, row % 2, column % 2, &of[row][column]);
        }
    }
}
