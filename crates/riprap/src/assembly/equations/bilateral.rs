//! Bilateral constraints: joints between bodies and loops of mechanisms, each row an equation
//! between two frames, with gradient and second derivatives.

use super::rows::Rows;
use super::{Configuration, Equations};
use crate::math::{Mat3, Vec3};
use crate::multibody::{Cut, PointColumn, Row};
use crate::scene::{Hold, Scene, State};

/// What a frame is fixed to.
#[derive(Clone, Copy, Debug)]
enum Base {
    Body(usize),
    /// A mechanism and a node of its tree.
    Node(usize, u32),
}

/// One row.
#[derive(Clone, Debug)]
struct Equation {
    row: Row,
    length: f64,
    frames: [(Base, Mat3, Vec3); 2],
    /// Loop of a mechanism: mechanism and row among its equations.
    of_loop: Option<(usize, u32)>,
    /// Joint or loop, and the index of the row in it.
    source: (Source, usize),
}

/// Where a row comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// A joint between bodies, by index.
    Joint(usize),
    /// A loop of a mechanism: mechanism, loop.
    Loop(usize, usize),
}

/// Both frames of a row in the world.
struct Meeting {
    ra: Mat3,
    rb: Mat3,
    pa: Vec3,
    pb: Vec3,
}

/// All bilateral constraints of a scene; residuals and gradients at the last evaluation.
#[derive(Debug, Default)]
pub struct Bilateral {
    equations: Vec<Equation>,
    /// Rows in use: redundant rows of loops, and rows that nothing moves, are left out.
    active: Vec<usize>,
    /// Residual of each active row [m, –].
    pub residual: Vec<f64>,
    /// Gradients of the active rows.
    pub rows: Rows,
    columns: [Vec<PointColumn>; 2],
}

impl Bilateral {
    /// The constraints of a scene.
    pub fn new(scene: &Scene) -> Bilateral {
        let mut equations = Vec::new();
        for (k, joint) in scene.joints().iter().enumerate() {
            let cut = match joint.hold {
                Hold::Ball => Cut::Ball,
                Hold::Hinge => Cut::Hinge,
                Hold::Slider => Cut::Prismatic,
                Hold::Weld => Cut::Weld,
            };
            let frame = |i: usize| {
                let body = Base::Body(joint.bodies[i] as usize);
                (body, joint.rotations[i], joint.places[i])
            };
            for (r, row) in cut.rows().iter().enumerate() {
                let (frames, source) = ([frame(0), frame(1)], (Source::Joint(k), r));
                equations.push(Equation { row: *row, length: 1.0, frames, of_loop: None, source });
            }
        }
        for (m, system) in scene.mechanisms().iter().enumerate() {
            for (l, closure) in system.closures().iter().enumerate() {
                let length = if let Cut::Rod { length } = closure.cut { length } else { 1.0 };
                let frames =
                    [&closure.a, &closure.b].map(|a| (Base::Node(m, a.body), a.rotation, a.point));
                for (r, row) in closure.cut.rows().iter().enumerate() {
                    let of_loop = Some((m, (closure.first_row + r) as u32));
                    let source = (Source::Loop(m, l), r);
                    equations.push(Equation { row: *row, length, frames, of_loop, source });
                }
            }
        }
        Bilateral { equations, ..Bilateral::default() }
    }

    /// Number of rows in use.
    pub fn len(&self) -> usize {
        self.active.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Chooses the rows in use at a state: of loops, those of the mechanism's partition.
    pub fn choose(&mut self, state: &State) {
        self.active.clear();
        for (i, e) in self.equations.iter().enumerate() {
            let needed = |(m, row): (usize, u32)| state.mechanisms[m].partition.rows.contains(&row);
            if e.of_loop.is_none_or(needed) {
                self.active.push(i);
            }
        }
    }

    /// Where a row in use comes from, and its index there.
    pub fn source(&self, i: usize) -> (Source, usize) {
        self.equations[self.active[i]].source
    }

    /// Direction of a row of a joint between bodies at given poses, and whether it is an axis of
    /// rotation.
    pub fn direction(&self, q: &[crate::math::Pose], i: usize) -> (Vec3, bool) {
        let eq = &self.equations[self.active[i]];
        let place = |(base, rotation, point): &(Base, Mat3, Vec3)| match *base {
            Base::Body(b) => {
                (q[b].rotation.to_rotation_matrix().matrix() * rotation, q[b].point(*point))
            }
            Base::Node(..) => (*rotation, *point),
        };
        let ((ra, pa), (rb, pb)) = (place(&eq.frames[0]), place(&eq.frames[1]));
        direction(eq, &Meeting { ra, rb, pa, pb })
    }

    /// Name of a row in use: joint or loop and its equation.
    pub fn name(&self, scene: &Scene, i: usize) -> String {
        let (source, k) = self.source(i);
        match source {
            Source::Joint(j) => format!("joint `{}`, equation {}", scene.joints()[j].name, k + 1),
            Source::Loop(m, l) => {
                let closure = &scene.mechanisms()[m].closures()[l];
                let equation = closure.cut.equation_names()[k];
                let name = scene.mechanisms()[m].name();
                format!("loop `{}` of mechanism `{name}`, equation `{equation}`", closure.name)
            }
        }
    }

    /// Residuals and gradients, after [`Equations::place`]. Rows that nothing moves are dropped the
    /// first time.
    pub fn evaluate(&mut self, scene: &Scene, at: &Configuration, e: &Equations, v: &[f64]) {
        let active = std::mem::take(&mut self.active);
        self.residual.clear();
        self.rows.clear();
        for &i in &active {
            let m = self.meet(scene, at, e, i);
            let before = self.rows.len();
            self.gradient(e, at, i, &m, v);
            if self.rows.row(before).is_empty() {
                self.rows.drop_last();
                continue;
            }
            self.residual.push(residual(&self.equations[i], &m));
            self.active.push(i);
        }
    }

    /// Both frames, and the columns at the points where their velocities are taken.
    fn meet(&mut self, scene: &Scene, at: &Configuration, e: &Equations, i: usize) -> Meeting {
        let eq = &self.equations[i];
        let place = |(base, rotation, point): &(Base, Mat3, Vec3)| match *base {
            Base::Body(b) => {
                let r = at.q[b].rotation.to_rotation_matrix();
                (r.matrix() * rotation, at.q[b].point(*point))
            }
            Base::Node(k, node) => {
                let (r, origin) = e.frame(scene, k, node);
                (r * rotation, origin + r * point)
            }
        };
        let ((ra, pa), (rb, pb)) = (place(&eq.frames[0]), place(&eq.frames[1]));
        // Along an axis of the first frame, both bodies' velocities are taken at the second point.
        let points = [if eq.row == Row::Distance { pa } else { pb }, pb];
        for side in 0..2 {
            let out = &mut self.columns[side];
            match eq.frames[side].0 {
                Base::Body(b) => e.columns(scene, at, b, points[side], out),
                Base::Node(k, node) => {
                    out.clear();
                    e.node_columns(scene, k, node, points[side], out);
                }
            }
        }
        Meeting { ra, rb, pa, pb }
    }

    fn gradient(&mut self, e: &Equations, at: &Configuration, i: usize, m: &Meeting, v: &[f64]) {
        let eq = &self.equations[i];
        let (direction, spin) = direction(eq, m);
        let mut moving = 0.0;
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            for c in &self.columns[side] {
                let value = sign * direction.dot(if spin { &c.angular } else { &c.linear });
                self.rows.add(c.index, value, e.prescribed[c.index], v[c.index]);
            }
            // Bodies with a prescribed motion.
            if let (Base::Body(b), true) = (eq.frames[side].0, self.columns[side].is_empty()) {
                let twist = &e.twists[b];
                let p = if side == 0 && eq.row == Row::Distance { m.pa } else { m.pb };
                let velocity = twist.linear + twist.angular.cross(&(p - at.q[b].position));
                moving += sign * direction.dot(if spin { &twist.angular } else { &velocity });
            }
        }
        self.rows.end(moving);
    }

    /// Derivative of the gradient of an active row: calls `out(k, l, ∂G_k/∂q_l)` for all pairs of
    /// columns. Prescribed columns are included.
    pub fn second(
        &mut self,
        scene: &Scene,
        at: &Configuration,
        e: &Equations,
        active: usize,
        mut out: impl FnMut(usize, usize, f64),
    ) {
        let i = self.active[active];
        let m = self.meet(scene, at, e, i);
        let eq = &self.equations[i];
        let (direction, spin) = direction(eq, &m);
        for (from, from_sign) in [(0, -1.0), (1, 1.0)] {
            for l in &self.columns[from] {
                let turned = direction_change(eq, &m, l, from == 1, from_sign);
                for (to, sign) in [(0, -1.0), (1, 1.0)] {
                    for k in &self.columns[to] {
                        let own = if spin { &k.angular } else { &k.linear };
                        let mut change = turned.dot(own);
                        let moved = match (spin, from == to) {
                            (true, true) => k.angular_change(l),
                            (true, false) => Vec3::zeros(),
                            // The point of the first body's velocity follows the second body.
                            (false, true) if to == 0 && eq.row != Row::Distance => k.change_here(l),
                            (false, true) => k.change(l),
                            (false, false) if to == 0 && eq.row != Row::Distance => {
                                k.angular.cross(&l.linear)
                            }
                            (false, false) => Vec3::zeros(),
                        };
                        change += direction.dot(&moved);
                        out(k.index, l.index, sign * change);
                    }
                }
            }
        }
    }
}

/// The direction of a row, and whether it is an axis of rotation.
fn direction(eq: &Equation, m: &Meeting) -> (Vec3, bool) {
    match eq.row {
        Row::Along(k) => (m.ra.column(k).into_owned(), false),
        Row::Distance => ((m.pb - m.pa) / eq.length, false),
        Row::Angle(i, j) => (m.rb.column(j).cross(&m.ra.column(i)), true),
    }
}

/// Change of the direction with a column of the first (`second` = false) or second body.
fn direction_change(eq: &Equation, m: &Meeting, l: &PointColumn, second: bool, sign: f64) -> Vec3 {
    match eq.row {
        Row::Along(k) if !second => l.angular.cross(&m.ra.column(k)),
        Row::Along(_) => Vec3::zeros(),
        Row::Distance => l.linear * (sign / eq.length),
        Row::Angle(i, j) => {
            let (x, y) = (m.ra.column(i).into_owned(), m.rb.column(j).into_owned());
            if second { l.angular.cross(&y).cross(&x) } else { y.cross(&l.angular.cross(&x)) }
        }
    }
}

fn residual(eq: &Equation, m: &Meeting) -> f64 {
    let d = m.pb - m.pa;
    match eq.row {
        Row::Along(k) => m.ra.column(k).dot(&d),
        Row::Angle(i, j) => m.ra.column(i).dot(&m.rb.column(j)),
        Row::Distance => 0.5 * (d.norm_squared() / eq.length - eq.length),
    }
}
