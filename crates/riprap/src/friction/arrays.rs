//! A factored contact problem as a structure of plain arrays, for solvers in other crates or on
//! other devices.

use super::{ContactProblem, Delassus, Law};

/// The factored problem as a structure of arrays; every inner array is contiguous, so that a field
/// can be uploaded directly.
///
/// With block velocities `v_b = (linear, angular)` [m/s, rad/s], the relative velocity at contact
/// `a`, which connects the blocks `i` and `j`, is
///
/// ```text
/// u_a = F_a (v_j + ω_j × r_aj − v_i − ω_i × r_ai) + Σ_s rows_s v_s + V_free
/// ```
///
/// and an impulse `r_a` changes `v_j` by `M_j⁻¹ F_aᵀ r_a` and `ω_j` by `J_j⁻¹ (r_aj × F_aᵀ r_a)`,
/// `v_i` and `ω_i` by the opposite amounts, and the blocks of each side `s` by `solvedᵀ_s r_a`. A
/// moment `k` connects two blocks as well: its velocity is the relative spin times `moment_length`,
/// its impulse a moment over that length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProblemArrays {
    /// Inverse mass of each block along x, y, z [1/kg].
    pub inverse_mass: Vec<[f64; 3]>,
    /// Inverse inertia of each block, xx, yy, zz, xy, xz, yz [1/(kg m²)].
    pub inverse_inertia: Vec<[f64; 6]>,
    /// The two blocks of each contact; [`super::Factored::NONE`] if no impulse moves a side, or if
    /// it is given as rows.
    pub blocks: Vec<[u32; 2]>,
    /// Frame `F` of each contact: rows n, t1, t2 in the world frame.
    pub frames: Vec<[[f64; 3]; 3]>,
    /// Vectors from the centres of the two blocks to the contact point [m].
    pub arms: Vec<[[f64; 3]; 2]>,
    /// `W^αα` of each contact, then of each moment [1/kg].
    pub diagonal: Vec<[[f64; 3]; 3]>,
    /// First side of each contact in the next three lists, followed by the end of the last.
    pub side_start: Vec<u32>,
    /// First block of each side, and its number of blocks. A side belongs to a mechanism or to the
    /// torque of a joint.
    pub side_blocks: Vec<[u32; 2]>,
    /// Start of each side's values in `rows`: three rows of `Hᵀ`, then three of `(M⁻¹ H)ᵀ`, six
    /// numbers per block.
    pub side_rows: Vec<u32>,
    /// Values of the sides.
    pub rows: Vec<f64>,
    /// The two blocks of each moment of rolling resistance.
    pub moment_blocks: Vec<[u32; 2]>,
    /// Length of each moment [m].
    pub moment_length: Vec<f64>,
    /// The contacts that carry each moment, as a half-open range.
    pub moment_contacts: Vec<[u32; 2]>,
    /// Largest impulse of each moment relative to the sum of the normal impulses of its contacts
    /// [–].
    pub moment_ratio: Vec<f64>,
    /// Free velocities of contacts, joints and moments [m/s].
    pub v_rel_free: Vec<[f64; 3]>,
    /// Their laws.
    pub laws: Vec<Law>,
    /// Time step divided by grain size [s/m]; see [`ContactProblem::approach_scale`].
    pub approach_scale: f64,
}

impl ProblemArrays {
    /// Copies a factored problem into the arrays, reusing their memory. Returns false if the
    /// problem is stored as blocks, which have no factors.
    pub fn fill(&mut self, problem: &ContactProblem) -> bool {
        let Delassus::Factored(w) = &problem.w else { return false };
        fn set<T>(list: &mut Vec<T>, items: impl Iterator<Item = T>) {
            list.clear();
            list.extend(items);
        }
        let (masses, contacts, moments) = (w.masses(), w.contacts(), w.turning());
        set(&mut self.inverse_mass, masses.iter().map(|m| m.linear));
        set(&mut self.inverse_inertia, masses.iter().map(|m| m.angular));
        set(&mut self.blocks, contacts.iter().map(|c| c.blocks));
        set(&mut self.frames, contacts.iter().map(|c| c.frame));
        set(&mut self.arms, contacts.iter().map(|c| c.arms));
        let diagonal = contacts.iter().map(|c| *c.diagonal()).chain(moments.iter().map(|m| m.w));
        set(&mut self.diagonal, diagonal);
        w.copy_sides(self);
        set(&mut self.moment_blocks, moments.iter().map(|m| m.blocks));
        set(&mut self.moment_length, moments.iter().map(|m| m.length));
        set(&mut self.moment_contacts, problem.rolling.iter().map(|m| m.contacts));
        set(&mut self.moment_ratio, problem.rolling.iter().map(|m| m.ratio));
        self.approach_scale = problem.approach_scale;
        self.v_rel_free.clone_from(&problem.v_rel_free);
        self.laws.clone_from(&problem.laws);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::{Factored, InverseMass, Operator};
    use crate::math::{Vec3, tangents};

    /// Two bodies and a mechanism of eight degrees of freedom: a contact between the bodies, one on the ground, one with rows, and
    /// a moment.
    fn problem() -> ContactProblem {
        let mut w = Factored::default();
        let mass =
            |m: f64| InverseMass { linear: [m; 3], angular: [3.0, 4.0, 5.0, 0.5, -0.3, 0.2] };
        w.reset([mass(0.5), mass(2.0), InverseMass::default(), InverseMass::default()].into_iter());
        let n = Vec3::new(0.3, -0.5, 0.8).normalize();
        let (t1, t2) = tangents(n);
        let frame = [n.into(), t1.into(), t2.into()];
        w.push([0, 1], frame, [[0.1, 0.2, -0.3], [-0.2, 0.1, 0.4]]);
        w.push([Factored::NONE, 1], frame, [[0.0; 3], [0.3, -0.1, 0.2]]);
        w.push([Factored::NONE, 0], frame, [[0.0; 3], [0.0, 0.1, 0.2]]);
        let rows: Vec<f64> = (0..36).map(|k| (k as f64 * 0.7).sin()).collect();
        let solved: Vec<f64> = rows.iter().map(|x| 0.5 * x).collect();
        w.push_rows(2, &rows, &solved);
        w.push_turning([0, 1], 0.25);
        ContactProblem {
            w: Delassus::Factored(w),
            v_rel_free: (0..4).map(|k| [0.1 * k as f64, -0.2, 0.3]).collect(),
            laws: vec![Law::Coulomb { friction: 0.5 }; 3]
                .into_iter()
                .chain([Law::Rolling])
                .collect(),
            rolling: Vec::new(),
            approach_scale: 1.0,
        }
    }

    /// `V_free + W I` by the documented formulas, from the arrays alone.
    fn velocities(p: &ProblemArrays, impulses: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let n = p.blocks.len();
        let mut v = vec![[0.0; 6]; p.inverse_mass.len()];
        let sides = |a: usize| p.side_start[a] as usize..p.side_start[a + 1] as usize;
        let turn = |b: usize, t: Vec3| {
            let [xx, yy, zz, xy, xz, yz] = p.inverse_inertia[b];
            nalgebra::Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) * t
        };
        let mut push = |b: u32, sign: f64, linear: Vec3, torque: Vec3| {
            if b != Factored::NONE {
                let b = b as usize;
                let spin = turn(b, torque);
                for i in 0..3 {
                    v[b][i] += sign * p.inverse_mass[b][i] * linear[i];
                    v[b][3 + i] += sign * spin[i];
                }
            }
        };
        for (a, r) in impulses.iter().enumerate() {
            if a >= n {
                let moment = Vec3::from(*r) * p.moment_length[a - n];
                push(p.moment_blocks[a - n][0], -1.0, Vec3::zeros(), moment);
                push(p.moment_blocks[a - n][1], 1.0, Vec3::zeros(), moment);
                continue;
            }
            let force: Vec3 = (0..3).map(|k| Vec3::from(p.frames[a][k]) * r[k]).sum();
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                let arm = Vec3::from(p.arms[a][side]);
                push(p.blocks[a][side], sign, force, arm.cross(&force));
            }
        }
        for a in 0..n {
            for s in sides(a) {
                let [first, count] = p.side_blocks[s].map(|x| x as usize);
                let solved = &p.rows[p.side_rows[s] as usize + 18 * count..];
                for j in 0..6 * count {
                    let change: f64 =
                        (0..3).map(|k| solved[k * 6 * count + j] * impulses[a][k]).sum();
                    v[first + j / 6][j % 6] += change;
                }
            }
        }
        let at = |b: u32, arm: Vec3| match b {
            Factored::NONE => Vec3::zeros(),
            b => {
                let [x, y, z, p, q, r] = v[b as usize];
                Vec3::new(x, y, z) + Vec3::new(p, q, r).cross(&arm)
            }
        };
        let spin = |b: u32| Vec3::from_column_slice(&v[b as usize][3..]);
        (0..impulses.len())
            .map(|a| {
                if a >= n {
                    let [i, j] = p.moment_blocks[a - n];
                    let u = (spin(j) - spin(i)) * p.moment_length[a - n];
                    return std::array::from_fn(|k| p.v_rel_free[a][k] + u[k]);
                }
                let [i, j] = p.blocks[a];
                let relative = at(j, p.arms[a][1].into()) - at(i, p.arms[a][0].into());
                std::array::from_fn(|k| {
                    let mut u = p.v_rel_free[a][k] + Vec3::from(p.frames[a][k]).dot(&relative);
                    for s in sides(a) {
                        let [first, count] = p.side_blocks[s].map(|x| x as usize);
                        let row = &p.rows[p.side_rows[s] as usize + k * 6 * count..];
                        u += (0..6 * count).map(|c| row[c] * v[first + c / 6][c % 6]).sum::<f64>();
                    }
                    u
                })
            })
            .collect()
    }

    #[test]
    fn the_arrays_represent_the_documented_operator() {
        let problem = problem();
        let mut arrays = ProblemArrays::default();
        assert!(arrays.fill(&problem));
        let impulses = [[1.0, 0.2, -0.3], [0.5, 0.0, 0.4], [0.3, -0.6, 0.1], [0.2, 0.3, -0.7]];
        let Delassus::Factored(w) = &problem.w else { panic!("the problem is factored") };
        let mut velocity = Vec::new();
        w.start(&impulses, &mut velocity);
        for (a, u) in velocities(&arrays, &impulses).into_iter().enumerate() {
            let wr = w.velocity(a, &impulses, &velocity);
            for k in 0..3 {
                let expected = problem.v_rel_free[a][k] + wr[k];
                assert!((u[k] - expected).abs() < 1e-14, "{a} {k}: {} {expected}", u[k]);
            }
        }
        // A unit impulse at a contact gives the columns of its own block.
        for a in 0..4 {
            for k in 0..3 {
                let mut unit = [[0.0; 3]; 4];
                unit[a][k] = 1.0;
                let u = velocities(&arrays, &unit)[a];
                for i in 0..3 {
                    let column = u[i] - arrays.v_rel_free[a][i];
                    assert!((column - arrays.diagonal[a][i][k]).abs() < 1e-14, "{a} {i} {k}");
                }
            }
        }
    }

    #[test]
    fn stored_blocks_have_no_factors() {
        let problem = ContactProblem { w: Delassus::Blocks(Default::default()), ..problem() };
        assert!(!ProblemArrays::default().fill(&problem));
    }
}
