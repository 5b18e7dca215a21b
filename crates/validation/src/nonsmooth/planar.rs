//! One rigid body in the plane, read from a scene: its frictionless contacts with fixed planes and its pivot, as functions of
//! `q = (x, y, θ)`. The recorder evaluates gaps with it, and the event-driven reference integrates it.

use nalgebra::{Matrix2x3, Matrix3, RowVector3, Vector2, Vector3};
use riprap::prelude::*;
use riprap::scene::Hold;

/// Coordinates `(x, y, θ)` [m, rad] or their velocities.
pub type Q = Vector3<f64>;

/// A point of the body that must not cross a fixed line.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// Name of the point contact; `ground` for a disc on a half-space.
    pub name: String,
    /// The point, relative to the centre of mass in the body frame [m].
    pub point: Vector2<f64>,
    /// A point of the line [m].
    pub origin: Vector2<f64>,
    /// Normal of the line; it points to the side of the body.
    pub normal: Vector2<f64>,
    /// Restitution [–].
    pub restitution: f64,
}

/// A free body with contacts, and a pivot if it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Planar {
    /// Mass and inertia [kg, kg m²].
    pub mass: [f64; 2],
    /// Generalized force [N, N m].
    pub force: Q,
    /// The contacts, in the order of the scene.
    pub contacts: Vec<Contact>,
    /// The pivot: a point of the body, relative to its centre of mass [m], and its fixed place in the world [m].
    pub pivot: Option<[Vector2<f64>; 2]>,
    /// Initial position and velocity.
    pub start: [Q; 2],
}

fn plane(v: Vec3) -> Vector2<f64> {
    Vector2::new(v.x, v.y)
}

fn turned(p: &Vector2<f64>, angle: f64) -> Vector2<f64> {
    let (s, c) = angle.sin_cos();
    Vector2::new(c * p.x - s * p.y, s * p.x + c * p.y)
}

/// `(x, y, θ)` of a pose, with `-π < θ ≤ π`.
pub fn coordinates(pose: &Pose) -> Q {
    let x = pose.vector(Vec3::x());
    Q::new(pose.position.x, pose.position.y, x.y.atan2(x.x))
}

/// `(vx, vy, ω)` of a twist.
pub fn rates(twist: &riprap::math::Twist) -> Q {
    Q::new(twist.linear.x, twist.linear.y, twist.angular.z)
}

impl Planar {
    /// The only free body of a planar scene; an error if the scene is of another kind.
    pub fn of(scene: &Scene) -> Result<Planar, String> {
        let bodies = scene.bodies();
        let mut free = (0..bodies.len()).filter(|&i| bodies.movable[i]);
        let (Some(i), None, true) = (free.next(), free.next(), scene.is_planar()) else {
            return Err("the reference solution needs a planar scene with one free body".into());
        };
        let state = scene.initial_state();
        let weight = scene.gravity() * bodies.mass[i] + bodies.force[i];
        let mut contacts = Vec::new();
        for c in scene.point_contacts() {
            if c.law.friction > 0.0 {
                let name = &c.name;
                return Err(format!("`{name}` has friction; the reference solution has none"));
            }
            let [wall, point] = c.bodies.map(|b| b as usize);
            if point != i {
                return Err(format!("`{}` must be a point of the free body", c.name));
            }
            let at = &state.q[wall];
            contacts.push(Contact {
                name: c.name.clone(),
                point: plane(c.places[1]),
                origin: plane(at.point(c.places[0])),
                normal: plane(at.vector(c.normal)),
                restitution: c.law.restitution,
            });
        }
        if contacts.is_empty() {
            contacts.push(disc_on_ground(scene, i)?);
        }
        let mut pivots = scene.joints().iter().map(|j| {
            let [a, b] = j.bodies.map(|b| b as usize);
            let fixed = if a == i { 1 } else { 0 };
            let at = &state.q[if a == i { b } else { a }];
            match j.hold {
                Hold::Ball => Ok([plane(j.places[1 - fixed]), plane(at.point(j.places[fixed]))]),
                _ => Err(format!("joint `{}` must be of type ball", j.name)),
            }
        });
        let pivot = pivots.next().transpose()?;
        if pivots.next().is_some() {
            return Err("the reference solution allows one joint".into());
        }
        Ok(Planar {
            mass: [bodies.mass[i], bodies.inertia[i][(2, 2)]],
            force: Q::new(weight.x, weight.y, bodies.torque[i].z),
            contacts,
            pivot,
            start: [coordinates(&state.q[i]), rates(&state.v[i])],
        })
    }

    /// `M⁻¹`.
    pub fn inverse_mass(&self) -> Matrix3<f64> {
        let [m, j] = self.mass.map(f64::recip);
        Matrix3::from_diagonal(&Q::new(m, m, j))
    }

    /// Kinetic plus potential energy [J]; the potential is zero at the origin.
    pub fn energy(&self, q: &Q, v: &Q) -> f64 {
        let [m, j] = self.mass;
        0.5 * (m * (v.x * v.x + v.y * v.y) + j * v.z * v.z) - self.force.dot(q)
    }

    /// Gap of a contact [m].
    pub fn gap(&self, k: usize, q: &Q) -> f64 {
        let c = &self.contacts[k];
        c.normal.dot(&(q.xy() + turned(&c.point, q.z) - c.origin))
    }

    /// Gradient `g_q` of a gap.
    pub fn gradient(&self, k: usize, q: &Q) -> RowVector3<f64> {
        let c = &self.contacts[k];
        let arm = turned(&c.point, q.z);
        RowVector3::new(c.normal.x, c.normal.y, c.normal.y * arm.x - c.normal.x * arm.y)
    }

    /// Rate of a gap [m/s].
    pub fn gap_rate(&self, k: usize, q: &Q, v: &Q) -> f64 {
        (self.gradient(k, q) * v).x
    }

    /// `ġ_q v` of a contact [m/s²].
    pub fn curvature(&self, k: usize, q: &Q, v: &Q) -> f64 {
        let c = &self.contacts[k];
        -c.normal.dot(&turned(&c.point, q.z)) * v.z * v.z
    }

    /// Residual of the pivot [m]; zero without one.
    pub fn pivot_error(&self, q: &Q) -> Vector2<f64> {
        self.pivot.map_or_else(Vector2::zeros, |[p, at]| q.xy() + turned(&p, q.z) - at)
    }

    /// Gradient of the pivot's equations.
    pub fn pivot_gradient(&self, q: &Q) -> Option<Matrix2x3<f64>> {
        self.pivot.map(|[p, _]| {
            let arm = turned(&p, q.z);
            Matrix2x3::new(1.0, 0.0, -arm.y, 0.0, 1.0, arm.x)
        })
    }

    /// `ġ_q v` of the pivot [m/s²].
    pub fn pivot_curvature(&self, q: &Q, v: &Q) -> Vector2<f64> {
        self.pivot.map_or_else(Vector2::zeros, |[p, _]| -turned(&p, q.z) * v.z * v.z)
    }
}

/// The lowest point of a disc above a fixed half-space.
fn disc_on_ground(scene: &Scene, ball: usize) -> Result<Contact, String> {
    let bodies = scene.bodies();
    let ground = (0..bodies.len()).find(|&i| i != ball && bodies.radius[i].is_infinite());
    let ground = ground.ok_or("the scene has neither point contacts nor a half-space")?;
    let (Shape::Disc { radius, .. }, Shape::HalfSpace { normal }) =
        (scene.shape(scene.body_at(ball)), scene.shape(scene.body_at(ground)))
    else {
        return Err("without point contacts, the free body must be a disc".into());
    };
    let state = scene.initial_state();
    let normal = plane(state.q[ground].vector(*normal));
    let material = |i: usize| {
        let collider = scene.colliders().iter().find(|c| c.body as usize == i);
        collider.map_or(0.0, |c| scene.materials()[c.material as usize].restitution)
    };
    let angle = coordinates(&state.q[ball]).z;
    Ok(Contact {
        name: "ground".into(),
        point: turned(&(-normal * *radius), -angle),
        origin: plane(state.q[ground].position),
        normal,
        restitution: material(ball).min(material(ground)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::scene_of;
    use super::*;

    #[test]
    fn gradients_and_curvatures_agree_with_finite_differences() {
        let block = Planar::of(&scene_of(super::super::ROCKING_BLOCK).unwrap()).unwrap();
        let pendulum = Planar::of(&scene_of(super::super::PENDULUM).unwrap()).unwrap();
        let (q, v, d) = (Q::new(0.1, 0.8, 0.3), Q::new(0.4, -0.2, 0.7), 1e-6);
        // Central differences of order one quantities with steps of 1e-6: errors of 1e-10.
        for k in 0..2 {
            let rate = (block.gap(k, &(q + v * d)) - block.gap(k, &(q - v * d))) / (2.0 * d);
            assert!((rate - block.gap_rate(k, &q, &v)).abs() < 1e-9);
            let at = |s: f64| block.gap_rate(k, &(q + v * s), &v);
            let curvature = (at(d) - at(-d)) / (2.0 * d);
            assert!((curvature - block.curvature(k, &q, &v)).abs() < 1e-9);
        }
        let (q, at) = (pendulum.start[0], |q: &Q| pendulum.pivot_error(q));
        let rate = (at(&(q + v * d)) - at(&(q - v * d))) / (2.0 * d);
        assert!((rate - pendulum.pivot_gradient(&q).unwrap() * v).norm() < 1e-9);
        let rate = |s: f64| pendulum.pivot_gradient(&(q + v * s)).unwrap() * v;
        let curvature = (rate(d) - rate(-d)) / (2.0 * d);
        assert!((curvature - pendulum.pivot_curvature(&q, &v)).norm() < 1e-9);
    }

    #[test]
    fn the_scenes_have_the_parameters_of_the_paper() {
        let ball = Planar::of(&scene_of(super::super::BALL).unwrap()).unwrap();
        assert_eq!((ball.mass[0], ball.force.y), (1.0, -10.0));
        assert!((ball.gap(0, &ball.start[0]) - 0.801).abs() < 1e-15);
        let pendulum = Planar::of(&scene_of(super::super::PENDULUM).unwrap()).unwrap();
        assert_eq!((pendulum.mass, pendulum.contacts[0].restitution), ([1.0, 0.1], 0.8));
        assert!(pendulum.pivot_error(&pendulum.start[0]).norm() < 1e-15);
        let block = Planar::of(&scene_of(super::super::ROCKING_BLOCK).unwrap()).unwrap();
        assert_eq!(block.contacts.len(), 2);
        // The reference: 0.36428473202 and 0.16561540122 m.
        assert!((block.gap(0, &block.start[0]) - 0.36428473202).abs() < 1e-11);
        assert!((block.gap(1, &block.start[0]) - 0.16561540122).abs() < 1e-11);
    }

    #[test]
    fn a_scene_of_another_kind_is_refused_with_a_reason() {
        let text = super::super::ROCKING_BLOCK.replace("restitution = 0.5", "friction = 0.3");
        let error = Planar::of(&scene_of(&text).unwrap()).unwrap_err();
        assert!(error.contains("`right` has friction"), "{error}");
    }
}
