//! Part 2: collisions as a complementarity problem for impulses, Eqs. (35) and (36), for all contacts of the islands in
//! which two bodies approach each other.

use super::forces::{Bodies, Equations, Row, Unsolved};
use super::touch::{Touch, frame};
use super::{CollisionFriction, RigidEvents};
use crate::friction::{Friction, Scratch};
use crate::math::Pose;
use crate::scene::Twist;

/// Velocities below which contacts are at rest.
#[derive(Clone, Copy, Debug)]
pub struct Velocities {
    /// Approach or sliding that counts as none [m/s].
    pub still: f64,
    /// Approach without rebound [m/s].
    pub rest: f64,
}

/// Energy dissipated [J].
#[derive(Clone, Copy, Debug, Default)]
pub struct Dissipated {
    pub impact: f64,
    pub friction: f64,
}

/// The relative velocity of each contact, with its frame and arms; `b` is the velocity itself.
fn velocities(touches: &[Touch], q: &[Pose], v: &[Twist], rows: &mut Vec<Row>) {
    rows.clear();
    rows.extend(touches.iter().map(|touch| {
        let place = touch.at(q, v);
        let s = touch.velocity(&place, q, v);
        let frame = frame(place.normal);
        let arms = touch.bodies.map(|b| place.point - q[b].position);
        Row { frame, arms, b: frame.map(|e| e.dot(&s)), friction: Friction::None }
    }));
}

/// Resolves all collisions at a configuration, and pushes where no force is consistent. Returns whether anything
/// collided.
pub fn collide(
    scheme: &RigidEvents,
    bodies: &Bodies,
    (q, v): (&[Pose], &mut [Twist]),
    touches: &mut [Touch],
    limits: &Velocities,
    (rows, equations, scratch): (&mut Vec<Row>, &mut Equations, &mut Scratch),
    spent: &mut Dissipated,
) -> Result<bool, Unsolved> {
    velocities(touches, q, v, rows);
    let collides = |(row, touch): (&Row, &Touch)| row.b[0] < -limits.still || touch.pushed;
    if !rows.iter().zip(touches.iter()).any(collides) {
        return Ok(false);
    }
    equations.islands.group(bodies.scene, touches, |_| true);
    let before: Vec<[f64; 3]> = rows.iter().map(|row| row.b).collect();
    for (row, touch) in rows.iter_mut().zip(touches.iter()) {
        let elastic = row.b[0] < -limits.rest;
        row.b[0] *= if elastic { 1.0 + touch.restitution } else { 1.0 };
        if touch.pushed {
            // With an approach, however slow, sliding on is no solution.
            row.b[0] = row.b[0].min(-1e-6 * (row.b[1].abs() + row.b[2].abs()));
        }
        row.friction = match scheme.collision_friction {
            CollisionFriction::Coulomb if touch.friction > 0.0 => {
                Friction::Static { mu: touch.friction }
            }
            _ if touch.pushed => Friction::Static { mu: touch.friction },
            _ => Friction::None,
        };
    }
    for island in 0..equations.islands.len {
        let hit = |&k: &u32| {
            let k = k as usize;
            before[k][0] < -limits.still || touches[k].pushed
        };
        if !equations.islands.members[island].iter().any(hit) {
            continue;
        }
        // Forces of the last step are no impulses to start from.
        let kept: Vec<[f64; 3]> = equations.islands.members[island]
            .iter()
            .map(|&k| std::mem::take(&mut touches[k as usize].force))
            .collect();
        equations.solve(scheme, bodies, island, rows, touches, scratch)?;
        equations.add_to(v);
        for (&k, force) in equations.islands.members[island].iter().zip(kept) {
            let (touch, row) = (&mut touches[k as usize], &rows[k as usize]);
            touch.pushed = false;
            let p = std::mem::replace(&mut touch.force, force);
            touch.impulse += row.frame[0] * p[0] + row.frame[1] * p[1] + row.frame[2] * p[2];
            let after = touch.velocity(&touch.at(q, v), q, v);
            let work = |i: usize| 0.5 * p[i] * (before[k as usize][i] + row.frame[i].dot(&after));
            spent.impact -= work(0);
            spent.friction -= work(1) + work(2);
        }
    }
    Ok(true)
}
