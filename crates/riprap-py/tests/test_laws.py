"""Laws from Python: callables, expressions, and exceptions in them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import pendulum

import riprap as rr


def moving(steel: rr.Material, **motion: object) -> rr.Simulation:
    scene = rr.SceneBuilder()
    scene.add_moving(rr.Shape.cuboid(1, 1, 0.1), material=steel, name="table", **motion)  # type: ignore[arg-type]
    scene.add(rr.Body(rr.Shape.sphere(0.1), steel, position=(0, 0, 5)))
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))


def test_constants_expressions_and_callables_move_a_body_alike(steel: rr.Material) -> None:
    runs = [
        moving(steel, velocity=(1.0, 0.0, 0.0), angular_velocity=(0, 0, 0.5)),
        moving(steel, velocity=("1", "0*t", "0"), angular_velocity=("0", "0", "0.5")),
        moving(steel, velocity=lambda t: (1.0, 0.0, 0.0), angular_velocity=lambda t: np.array([0, 0, 0.5])),
    ]
    for run in runs:
        run.until(0.5)
    assert runs[0].body("table").position[0] == pytest.approx(0.5)
    assert runs[0].state == runs[1].state == runs[2].state


def test_a_path_is_followed(steel: rr.Material) -> None:
    run = moving(steel, path=lambda t: (0.1 * math.sin(t), 0.0, 0.0))
    run.until(1.0)
    assert run.body("table").position[0] == pytest.approx(0.1 * math.sin(1.0), abs=1e-6)


def build(mechanism: rr.Mechanism, dt: float = 1e-3) -> tuple[rr.Simulation, rr.MechanismHandle]:
    scene = rr.SceneBuilder()
    handle = scene.add_mechanism(mechanism)
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=dt)), handle


def test_forces_by_callable_and_expression_are_the_same() -> None:
    def law(t: float, q: tuple[float, ...], v: tuple[float, ...]) -> float:
        return 0.5 - 3.0 * v[0] - 2.0 * q[0]

    runs = []
    for force in [law, "0.5 - 3.0*v.arm - 2.0*q.arm"]:
        run, handle = build(pendulum(force)[0])
        run.until(1.0)
        runs.append(run)
    assert runs[0].state == runs[1].state
    alone, handle = build(pendulum()[0])
    alone.until(1.0)
    assert alone.mechanism(handle).q[0] != runs[0].mechanism("pendulum").q[0]


def test_motors_prescribe_a_coordinate() -> None:
    laws = [
        rr.Motor.motion("0.1*cos(3*t)"),
        rr.Motor.motion(lambda t: (0.1 * math.cos(3 * t), -0.3 * math.sin(3 * t), -0.9 * math.cos(3 * t))),
    ]
    for motor in laws:
        mechanism, arm = pendulum()
        mechanism.drive(arm, motor)
        run, handle = build(mechanism)
        run.until(0.7)
        joint = run.joint(handle, arm)
        assert joint.position == pytest.approx(0.1 * math.cos(2.1), abs=1e-12)
        assert joint.velocity == pytest.approx(-0.3 * math.sin(2.1), abs=1e-12)
    mechanism, arm = pendulum()
    mechanism.drive(arm, rr.Motor.velocity(15.0))
    run, handle = build(mechanism)
    run.until(0.2)
    assert run.joint(handle, arm).position == pytest.approx(0.1 + 3.0)


def test_phases_latch_values_and_end_by_time_and_condition() -> None:
    mechanism, arm = pendulum()
    slot = mechanism.latch_slot()
    seen = []

    def last(t: float, q: tuple[float, ...], v: tuple[float, ...], latched: tuple[float, ...]) -> float:
        seen.append(latched[slot])
        return 0.0

    phases = [
        rr.Phase(1.0, until=0.1),
        rr.Phase(0.0, until=lambda t, q, v, latched: float(t > 0.2)),
        rr.Phase(last, latch=[(slot, lambda t, q, v, latched: t)]),
    ]
    mechanism.actuate_in_phases(arm, phases, name="motor")
    run, _ = build(mechanism)
    run.until(0.5)
    assert len(set(seen)) == 1 and seen[0] == pytest.approx(0.201, abs=1.5e-3)


def test_expressions_use_values_latched_by_name() -> None:
    # A spring towards the angle that the arm has after 0.2 s: as an expression and as a callable.
    named, arm = pendulum()
    hold = rr.Phase("-500*(q.arm - angle) - 50*v.arm", latch={"angle": "q.arm"})
    named.actuate_in_phases(arm, [rr.Phase(0.0, until="t > 0.2"), hold], name="brake")
    numbered, arm = pendulum()
    slot = numbered.latch_slot()
    spring = rr.Phase(
        lambda t, q, v, latched: -500 * (q[0] - latched[slot]) - 50 * v[0],
        latch=[(slot, lambda t, q, v, latched: q[0])],
    )
    numbered.actuate_in_phases(arm, [rr.Phase(0.0, until="t > 0.2"), spring], name="brake")
    states = []
    for mechanism in (named, numbered):
        run, _ = build(mechanism)
        run.until(0.6)
        states.append(run.state)
    assert states[0] == states[1]
    with pytest.raises(ValueError, match="height"):
        named.actuate_in_phases("arm", [rr.Phase("height")], name="unknown")
    with pytest.raises(ValueError, match="cannot be latched"):
        named.actuate_in_phases("arm", [rr.Phase(0.0, latch={"t": 1.0})], name="clash")


def test_an_exception_in_a_law_is_raised_and_the_state_kept() -> None:
    def law(t: float, q: tuple[float, ...], v: tuple[float, ...]) -> float:
        if armed and t > 0.1:
            raise KeyError("broken law")
        return 0.0

    armed = True
    run, handle = build(pendulum(law)[0])
    with pytest.raises(KeyError, match="broken law"):
        run.until(1.0)
    time = run.time
    assert 0.09 < time < 0.11
    with pytest.raises(KeyError):
        run.step()
    assert run.time == time and np.isfinite(run.mechanism(handle).q).all()
    armed = False
    run.until(1.0)
    undisturbed, _ = build(pendulum(lambda t, q, v: 0.0)[0])
    undisturbed.until(1.0)
    assert run.state == undisturbed.state


@pytest.mark.parametrize("wrong", [None, "text", (1.0, 2.0)])
def test_a_law_must_return_a_number(wrong: object) -> None:
    with pytest.raises(TypeError):
        run, _ = build(pendulum(lambda t, q, v: wrong)[0])
        run.step()


def test_a_law_must_not_use_its_simulation() -> None:
    run: rr.Simulation | None = None

    def law(t: float, q: tuple[float, ...], v: tuple[float, ...]) -> float:
        return 0.0 if run is None else run.time

    run, _ = build(pendulum(law)[0])
    with pytest.raises(rr.BusyError):
        run.step()


def test_an_exception_in_an_observer_is_raised(ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    run = rr.Simulation(ball[0], rr.MoreauJean(dt=1e-3))
    with pytest.raises(ZeroDivisionError):
        run.until(1.0, observer=lambda frame: 1 / 0 if frame.time > 0.05 else None)
    assert run.time == pytest.approx(0.051)
    run.until(0.1)


def test_drives_can_be_changed_during_a_run() -> None:
    torque = 0.0
    mechanism, arm = pendulum(lambda t, q, v: torque)
    run, handle = build(mechanism)
    run.until(0.1)
    torque = 100.0
    run.until(0.2)
    assert run.joint(handle, arm).velocity > 3.0


def test_laws_work_in_large_scenes_on_several_threads(steel: rr.Material) -> None:
    scene = rr.SceneBuilder(gravity=(0, 0, 0))
    scene.add_moving(rr.Shape.cuboid(1, 1, 0.1), material=steel, velocity=lambda t: (t, 0, 0), name="table")
    shape = rr.Shape.sphere(0.1)
    scene.add_grains(rr.Grains.lattice((10, 10, 6), (0.3, 0.3, 0.3), shape=shape, material=steel, origin=(0, 0, 1)))
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-2))
    run.until(1.0)
    assert run.body("table").position[0] == pytest.approx(0.5, abs=1e-2)
