//! Motors and forces of mechanisms: laws and phases.

use pyo3::prelude::*;

use riprap::multibody::{JointMotion, Phase as CorePhase, Until};

use crate::errors;
use crate::handle::Link;
use crate::joint::{Motor, MotorKind, Phase, Slot};
use crate::law::{self, Names, Variable};
use crate::mechanism::Mechanism;
use crate::saving::{self, Saved, Table, list_of, number, numbers, text};

/// Phases as in a scene file.
fn saved_phases(py: Python, phases: &[Py<Phase>], n: usize) -> Saved {
    let mut list = Vec::new();
    for phase in phases {
        let phase = phase.get();
        let mut table = Table::default();
        if n == 1 {
            table.set("law", saving::law(phase.law.bind(py))?);
        } else {
            let laws: Vec<Bound<PyAny>> =
                phase.law.extract(py).map_err(|error: PyErr| error.to_string())?;
            let laws = laws.iter().map(saving::law).collect::<Result<Vec<_>, _>>()?;
            if laws.len() == 6 {
                table.set("force", list_of(laws[..3].to_vec()));
                table.set("torque", list_of(laws[3..].to_vec()));
            }
        }
        if let Some(until) = &phase.until {
            let until = until.bind(py);
            let time = until.extract::<f64>();
            table.set("until", time.map_or_else(|_| saving::law(until), |t| Ok(number(t)))?);
        }
        let mut latch = Table::default();
        for (slot, law) in &phase.latch {
            let name = match slot {
                Slot::Number(slot) => format!("latch_{slot}"),
                Slot::Name(name) => name.clone(),
            };
            latch.set(&name, saving::law(law.bind(py))?);
        }
        if !phase.latch.is_empty() {
            table.set("latch", latch.inline());
        }
        list.push(table.inline());
    }
    Ok(list_of(list))
}

impl Mechanism {
    /// Records a force.
    fn record_force(&mut self, name: &str, keys: Result<Table, String>) {
        match keys {
            Ok(keys) => self.record.tables.push(("[[mechanism.force]]", keys)),
            Err(reason) => self.record.problem(&format!("force `{name}`"), &reason),
        }
    }

    /// Phases with `n` components each.
    fn phases(&mut self, py: Python, given: &[Py<Phase>], n: usize) -> PyResult<Vec<CorePhase>> {
        let mut phases = Vec::new();
        // Values that are latched by name are known to the expressions that follow.
        let mut names = self.variables();
        for phase in given {
            let phase = phase.get();
            let mut latch = Vec::new();
            for (slot, law) in &phase.latch {
                let value = law::signal(law.bind(py), &names, true, &mut self.raised)?;
                latch.push((self.slot(slot, &mut names)?, value));
            }
            let mut signal = |law: &Bound<PyAny>| law::signal(law, &names, true, &mut self.raised);
            let values = match n {
                1 => vec![signal(phase.law.bind(py))?],
                _ => {
                    let laws: [Bound<PyAny>; 6] = phase.law.extract(py).map_err(|_| {
                        errors::value("six laws are needed: force [N] and torque [N m]")
                    })?;
                    laws.iter().map(&mut signal).collect::<PyResult<_>>()?
                }
            };
            let until = match phase.until.as_ref().map(|until| until.bind(py)) {
                None => None,
                Some(until) => Some(match until.extract::<f64>() {
                    Ok(time) => Until::Time(time),
                    Err(_) => Until::Condition(signal(until)?),
                }),
            };
            phases.push(CorePhase { latch, values, until });
        }
        if phases.is_empty() {
            return Err(errors::value("at least one phase is needed"));
        }
        Ok(phases)
    }

    /// The slot of a latched value. A new name gets the next one and becomes a variable; a known name keeps its slot.
    fn slot(&mut self, given: &Slot, names: &mut Names) -> PyResult<usize> {
        let name = match given {
            Slot::Number(slot) if *slot < self.core_slots() => return Ok(*slot),
            Slot::Number(slot) => {
                let message = format!("no slot {slot}: ask Mechanism.latch_slot() for one");
                return Err(errors::value(message));
            }
            Slot::Name(name) => name,
        };
        match names.iter().find(|(known, _)| known == name) {
            Some((_, Variable::Latched(slot))) => Ok(*slot),
            Some(_) => Err(errors::value(format!("`{name}` cannot be latched: it is a variable"))),
            None => {
                let slot = self.core.latch_slot();
                names.push((name.clone(), Variable::Latched(slot)));
                Ok(slot)
            }
        }
    }

    fn core_slots(&self) -> usize {
        // Slots are given out in order; a clone is asked for the next one.
        self.core.clone().latch_slot()
    }
}

#[pymethods]
impl Mechanism {
    /// Prescribes the motion of a coordinate.
    fn drive(&mut self, py: Python, coordinate: &Bound<PyAny>, motor: &Motor) -> PyResult<()> {
        let at = self.coordinate_of(coordinate)?;
        let motion = match &motor.kind {
            MotorKind::Speed { speed, start } => {
                let start = start.or_else(|| self.starts.get(&at.0).copied()).unwrap_or(0.0);
                self.record.clear(at.0, "motion");
                self.record.start(at.0, start, false);
                self.record.on_coordinate(at.0, "speed", Ok(number(*speed)));
                JointMotion::constant_speed(start, *speed)
            }
            MotorKind::Motion(law) => {
                self.record.clear(at.0, "speed");
                self.record.on_coordinate(at.0, "motion", saving::law(law.bind(py)));
                law::motion(law.bind(py), &mut self.raised)?
            }
        };
        self.core.drive(at, motion);
        Ok(())
    }

    /// Adds a force on a coordinate [N, N m]: a number, an expression of `t`, `q.name` and `v.name`, or a callable of
    /// (t, q, v), where q and v are tuples of all positions and velocities of the mechanism.
    #[pyo3(signature = (coordinate, law, *, name=None))]
    fn actuate(
        &mut self,
        coordinate: &Bound<PyAny>,
        law: &Bound<PyAny>,
        name: Option<String>,
    ) -> PyResult<()> {
        let at = self.coordinate_of(coordinate)?;
        let saved = saving::law(law);
        let law = law::signal(law, &self.variables(), false, &mut self.raised)?;
        let name = self.name_or(name, "force");
        let mut keys = Table::default();
        keys.set("name", text(&name)).set("coordinate", text(&self.names[at.0 as usize]));
        self.record_force(&name, saved.map(|law| keys.set("law", law).clone()));
        self.core.actuate(&name, at, law);
        Ok(())
    }

    /// Adds a servo to a coordinate of a prismatic or revolute joint: it pushes with exactly its force [N] or torque [N m], a law as
    /// in `actuate`, as long as it is slower than `speed` [m/s, rad/s] in either direction.
    ///
    /// >>> import riprap as rr
    /// >>> press = rr.Mechanism("press")
    /// >>> ram = press.prismatic(rr.GROUND, axis="z", body=rr.Body.point(3.0))
    /// >>> press.servo(ram, force="20 + 3*9.81", speed=0.1)  # its own weight and 20 N
    #[pyo3(signature = (coordinate, *, force, speed))]
    fn servo(
        &mut self,
        coordinate: &Bound<PyAny>,
        force: &Bound<PyAny>,
        speed: f64,
    ) -> PyResult<()> {
        let at = self.coordinate_of(coordinate)?;
        let saved = saving::law(force);
        let law = law::signal(force, &self.variables(), false, &mut self.raised)?;
        let turns = self.core.is_angle(at);
        let mut keys = Table::default();
        let target = if turns { "torque" } else { "force" };
        let saved = saved.map(|law| keys.set(target, law).set("speed", number(speed)).inline());
        self.record.on_coordinate(at.0, "servo", saved);
        let name = self.names[at.0 as usize].clone();
        self.core.actuate(&name, at, law);
        self.core.limit_speed(at, speed);
        Ok(())
    }

    /// Adds a force on a coordinate [N, N m] whose law has phases.
    #[pyo3(signature = (coordinate, phases, *, name=None))]
    fn actuate_in_phases(
        &mut self,
        py: Python,
        coordinate: &Bound<PyAny>,
        phases: Vec<Py<Phase>>,
        name: Option<String>,
    ) -> PyResult<()> {
        let at = self.coordinate_of(coordinate)?;
        let saved = saved_phases(py, &phases, 1);
        let phases = self.phases(py, &phases, 1)?;
        let name = self.name_or(name, "force");
        let mut keys = Table::default();
        keys.set("name", text(&name)).set("coordinate", text(&self.names[at.0 as usize]));
        self.record_force(&name, saved.map(|phases| keys.set("phases", phases).clone()));
        self.core.actuate_in_phases(&name, at, phases);
        Ok(())
    }

    /// Adds a wrench on a body at a point [m]: phases with six laws, force [N] and torque [N m], along the axes of the world,
    /// or of the body.
    #[pyo3(
        signature = (link, phases, *, point=[0.0; 3], in_body=false, name=None),
        text_signature = "($self, link, phases, *, point=(0.0, 0.0, 0.0), in_body=False, name=None)"
    )]
    fn push(
        &mut self,
        py: Python,
        link: &Link,
        phases: Vec<Py<Phase>>,
        point: [f64; 3],
        in_body: bool,
        name: Option<String>,
    ) -> PyResult<()> {
        let link = self.moving(link)?;
        let saved = saved_phases(py, &phases, 6);
        let phases = self.phases(py, &phases, 6)?;
        let name = self.name_or(name, "force");
        let mut keys = Table::default();
        keys.set("name", text(&name)).set("body", self.record.body(Some(link.0)));
        keys.set("point", numbers(&point));
        keys.set("frame", text(if in_body { "body" } else { "world" }));
        self.record_force(&name, saved.map(|phases| keys.set("phases", phases).clone()));
        self.core.push(&name, link, point, in_body, phases);
        Ok(())
    }

    /// A slot for a latched value, to be used in phases.
    fn latch_slot(&mut self) -> usize {
        self.core.latch_slot()
    }
}
