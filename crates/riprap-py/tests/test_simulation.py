"""Simulations: stepping, observers, frames, arrays, states."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import riprap as rr

Ball = "tuple[rr.Scene, rr.BodyHandle]"
Heap = "tuple[rr.Scene, rr.GrainsHandle]"


def start(scene: rr.Scene, dt: float = 1e-3) -> rr.Simulation:
    return rr.Simulation(scene, rr.MoreauJean(dt=dt))


def test_a_ball_falls_as_in_free_flight(ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    scene, handle = ball
    run = start(scene)
    run.until(0.3)
    # The scheme is exact for a constant force.
    assert run.body(handle).position[2] == pytest.approx(1 - 9.81 * 0.3**2 / 2, abs=1e-12)
    assert run.body("ball").velocity[2] == pytest.approx(-9.81 * 0.3, abs=1e-12)
    assert np.array_equal(run.positions[handle.index], run.body(handle).position)


def test_arrays_have_a_row_per_body_and_are_copies(heap: tuple[rr.Scene, rr.GrainsHandle]) -> None:
    scene, rocks = heap
    run = start(scene)
    run.until(0.05)
    n = scene.n_bodies
    assert run.positions.shape == run.velocities.shape == run.angular_velocities.shape == (n, 3)
    assert run.rotations.shape == (n, 4) and run.positions.dtype == np.float64
    assert np.allclose(np.linalg.norm(run.rotations, axis=1), 1.0)
    before = run.positions
    kept = before.copy()
    run.step()
    assert np.array_equal(before, kept) and not np.array_equal(before, run.positions)
    grains = run.grains(rocks)
    assert len(grains) == len(rocks) == 40
    assert np.array_equal(grains.positions, run.positions[[rocks[k].index for k in range(40)]])


def test_contacts_carry_the_weight(heap: tuple[rr.Scene, rr.GrainsHandle]) -> None:
    scene, rocks = heap
    run = start(scene)
    run.drag(20.0)
    run.until(1.5)
    contacts = run.contacts()
    assert contacts.dtype.names == ("bodies", "point", "normal", "gap", "force")
    assert contacts["bodies"].shape == (len(contacts), 2)
    assert np.allclose(np.linalg.norm(contacts["normal"], axis=1), 1.0)
    on_box = contacts[contacts["bodies"][:, 0] == 0]["force"].sum(axis=0)
    weight = scene.masses[np.isfinite(scene.masses)].sum() * 9.81
    # At rest up to the remaining motion of the grains.
    assert on_box[2] == pytest.approx(weight, rel=0.02)
    assert run.contact_force("body-1")[2] == pytest.approx(-on_box[2])


def test_observers_see_every_step_and_can_end_the_run(ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    run = start(ball[0])
    times = []

    def observe(frame: rr.Simulation) -> bool:
        times.append(frame.time)
        return frame.time > 0.0095

    report = run.until(1.0, observer=observe)
    assert report.steps == 10 and times == pytest.approx(np.arange(11) * 1e-3)


def test_frames_are_equally_spaced(ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    run = start(ball[0])
    times = [frame.time for frame in run.frames(until=0.3, every=0.1)]
    assert times == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert [frame.time for frame in run.frames(until=0.4, every=0.1)] == pytest.approx([0.3, 0.4])


def test_energy_is_conserved_in_flight(ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    run = start(ball[0])
    first = run.balance()
    run.until(0.2)
    last = run.balance()
    assert last.kinetic + last.potential == pytest.approx(first.kinetic + first.potential, rel=1e-12)
    assert last.momentum[2] == pytest.approx(ball[0].masses[1] * -9.81 * 0.2)
    assert "steps              200" in str(run.report)


def test_a_restored_state_continues_with_the_same_bits(heap: tuple[rr.Scene, rr.GrainsHandle], tmp_path: Path) -> None:
    scene, _ = heap
    run = start(scene)
    run.until(0.2)
    state = run.state
    run.save(tmp_path / "state.bin")
    run.until(0.3)
    for stored in [state, pickle.loads(pickle.dumps(state)), rr.State.from_bytes(state.to_bytes())]:
        other = start(scene)
        other.state = stored
        other.until(0.3)
        assert other.state == run.state
    other = start(scene)
    other.load(tmp_path / "state.bin")
    assert other.time == state.time and other.state == state


def test_damaged_states_are_refused(ball: tuple[rr.Scene, rr.BodyHandle], tmp_path: Path) -> None:
    data = start(ball[0]).state.to_bytes()
    for wrong in [b"", data[:30], data[:-1], data[:-1] + bytes([data[-1] ^ 1]), b"x" * 100]:
        with pytest.raises(rr.FileError):
            rr.State.from_bytes(wrong)
    with pytest.raises(rr.FileError, match="missing.bin"):
        rr.State.load(tmp_path / "missing.bin")


def test_a_state_of_another_scene_is_refused(
    ball: tuple[rr.Scene, rr.BodyHandle], heap: tuple[rr.Scene, rr.GrainsHandle]
) -> None:
    run = start(ball[0])
    with pytest.raises(ValueError, match="another scene"):
        run.state = start(heap[0]).state
    assert run.time == 0.0


@pytest.mark.parametrize(
    "scheme",
    [
        rr.MoreauJean(1e-3, theta=0.6, solver="gauss-seidel", slips=False),
        rr.MoreauJean(1e-3, solver=rr.Solver("conjugate-gradient", tolerance=1e-6), position_correction=True),
        rr.GeneralizedAlpha(1e-3, rho=0.9),
        rr.ConeComplementarity(1e-3, recovery=1.0),
        rr.ConeComplementarity(1e-3, friction_law="coulomb"),
        rr.Penalty(1e-4, stiffness=1e7),
    ],
    ids=str,
)
def test_every_scheme_stops_the_ball_on_the_floor(scheme: rr.Scheme, ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    run = rr.Simulation(ball[0], scheme)
    run.until(0.8)
    # Inelastic: at rest on the floor after 0.43 s, up to the overlap of one step or of the spring.
    assert run.body("ball").position[2] == pytest.approx(0.1, abs=5e-3)
    assert np.abs(run.body("ball").velocity).max() < 5e-2


def test_other_threads_run_while_it_steps(heap: tuple[rr.Scene, rr.GrainsHandle]) -> None:
    run = start(heap[0], dt=1e-4)
    count, done, busy = 0, threading.Event(), 0

    def elsewhere() -> None:
        nonlocal count, busy
        while not done.is_set():
            count += 1
            try:
                assert run.positions.shape == (41, 3)
            except rr.BusyError:
                busy += 1
            time.sleep(1e-4)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    run.until(0.1)
    done.set()
    thread.join()
    assert count > 10


def test_two_simulations_in_two_threads_give_the_same_bits(heap: tuple[rr.Scene, rr.GrainsHandle]) -> None:
    runs = [start(heap[0]) for _ in range(2)]
    threads = [threading.Thread(target=run.until, args=(0.2,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert runs[0].state == runs[1].state and runs[0].time == pytest.approx(0.2)


def test_ctrl_c_ends_a_run_between_two_steps(ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    run = start(ball[0], dt=1e-6)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run.until(1e4)
    timer.join()
    assert 0 < run.time < 1e4
    before = run.time
    run.step()
    assert run.time > before


def test_forces_in_a_mechanism_carry_its_weight_and_its_drive() -> None:
    arm = rr.Mechanism("arm")
    upper = arm.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)), name="upper")
    lower = arm.revolute(upper, axis="y", at=(0, 0, -1), body=rr.Body.point(1.0, at=(0, 0, -1)), name="lower")
    arm.drive(upper, rr.Motor.velocity(0.0, start=0.5))
    arm.drive(lower, rr.Motor.velocity(0.0, start=-0.5))
    arm.point_spring(rr.GROUND, lower, at_a=(0, 0, -3), stiffness=10.0, length=0.5, name="tie")
    arm.actuate(upper, "3.0 + 0*t", name="motor")
    scene = rr.SceneBuilder()
    handle = scene.add_mechanism(arm)
    run = start(scene.build())
    run.step()
    forces = run.mechanism_forces(handle)
    knee = np.array([-np.sin(0.5), 0, -np.cos(0.5)])
    rope = np.array([0, 0, -3]) - knee
    tension = 10.0 * (np.linalg.norm(rope) - 0.5)
    assert forces.springs == {"tie": pytest.approx(tension)} and forces.laws["motor"] == pytest.approx([3.0])
    pull = tension * rope / np.linalg.norm(rope)
    assert forces.joints.shape == (2, 6) and forces.acceleration == pytest.approx([0, 0], abs=1e-9)
    # The base carries both masses and the spring.
    assert np.abs(forces.joints[0, :3]) == pytest.approx(np.abs(np.array([0, 0, 3 * 9.81]) - pull), rel=1e-6)
    assert set(forces.drives) == {"upper", "lower"} and abs(forces.drives["lower"]) < 1e-9
    assert run.mechanism_forces("arm").loops == {}


def test_a_run_stops_when_a_condition_has_held(steel: rr.Material) -> None:
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=steel)
    scene.add(rr.Body(rr.Shape.cuboid(0.1, 0.1, 0.1), steel, position=(0, 0, 0.05), velocity=(1, 0, 0), name="box"))
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    run.until(5.0, stop="speed < 1e-3 m/s for 0.1 s")
    # It slides for v/μg and rests for 0.1 s.
    assert run.time == pytest.approx(1 / (0.3 * 9.81) + 0.1, abs=3e-3)
    begin = run.time
    run.until(begin + 0.1, stop="box.x > 1 m")
    assert run.time == pytest.approx(begin + 0.1)
    run.until(begin + 1.0, stop="kinetic_energy < 1 mJ", observer=lambda _: None)
    assert run.time == pytest.approx(begin + 0.101)
    for wrong, told in [("box.q < 1", "column 1"), ("speed < 1 furlong", "unknown unit"), ("1 < 2", "never changes"), ("speed < 1 for x", "x")]:
        with pytest.raises(ValueError, match=told):
            run.until(10.0, stop=wrong)


def test_results_do_not_depend_on_threads(heap: tuple[rr.Scene, rr.GrainsHandle]) -> None:
    states = []
    for threads in (1, 2, 3, None):
        run = rr.Simulation(heap[0], rr.MoreauJean(dt=1e-3), threads=threads)
        assert threads is None or run.threads == threads
        run.until(0.2)
        run.step()
        states.append(run.state)
    assert states[0] == states[1] == states[2] == states[3]
    for wrong in (0, 5000):
        with pytest.raises(ValueError, match="threads"):
            rr.Simulation(heap[0], rr.MoreauJean(dt=1e-3), threads=wrong)


def test_reports_have_the_parts_of_steps_and_solves(heap: tuple[rr.Scene, rr.GrainsHandle]) -> None:
    run = rr.Simulation(heap[0], rr.MoreauJean(dt=1e-3))
    run.until(0.4)
    step, report = run.step(), run.report
    assert set(step.times) == {"free", "detect", "assemble", "solve", "update"} and step.halvings == 0
    assert sum(step.times.values()) == pytest.approx(step.wall) and step.solve.sweeps == step.sweeps
    assert step.solve.decided_by in ("tolerance", "approach_tolerance", "velocity_change_tolerance", "max_velocity_change_tolerance")
    assert 0 <= step.solve.velocity_change_rms <= step.solve.velocity_change_max and step.solve.approach >= 0
    assert report.deciding_criterion is not None and 0 < report.deciding_criterion[1] <= 1
    assert report.mean_newton == 0 and report.halved == 0 and sum(report.times.values()) <= report.wall
