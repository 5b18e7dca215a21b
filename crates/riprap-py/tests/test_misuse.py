"""Misuse raises an exception and never ends the interpreter."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import subprocess
import sys
import textwrap
import threading
import weakref
from typing import Any, Callable

import numpy as np
import pytest
from conftest import pendulum

import riprap as rr

STEEL = rr.Material("steel", density=7800.0, friction=0.3)


def swing(law: object = None) -> rr.Simulation:
    scene = rr.SceneBuilder()
    scene.add_mechanism(pendulum(law)[0])
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))


BOX = ((0, 0, 0), (1, 1, 1))


def free_ball(use: Callable[[rr.SceneBuilder, rr.BodyHandle], object]) -> object:
    scene = rr.SceneBuilder()
    ball = scene.add(rr.Body(rr.Shape.sphere(0.1), STEEL))
    used = use(scene, ball)
    scene.build()
    return used


def in_subprocess(code: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


ARRAYS = [
    np.zeros(2), np.zeros((2, 3)), np.zeros((0, 3)), np.zeros((3, 3), dtype=complex), np.array(["a", "b", "c"]),
    np.zeros((1, 3), dtype=object), "text", None, 3.0, b"bytes", [[1, 2], [3]], object(), {"a": 1}, [np.nan, np.inf, 0.0],
]  # fmt: skip

CALLS: list[Callable[[Any], object]] = [
    lambda x: rr.Shape.hull(x),
    lambda x: rr.Shape.mesh(x, x),
    lambda x: rr.Shape.half_space(x),
    lambda x: rr.Shape.polygon(x),
    lambda x: rr.Shape.compound(x),
    lambda x: rr.Shape.cuboid(1, 1, 1).split(x, x),
    lambda x: rr.Shape.sphere(1).distance(x),
    lambda x: rr.Shape.sphere(1).manifold(rr.Shape.sphere(1), x),
    lambda x: rr.Body(rr.Shape.sphere(1), STEEL, position=x),
    lambda x: rr.Body(rr.Shape.sphere(1), STEEL, inertia=x),
    lambda x: rr.MassProperties(1.0, inertia=x),
    lambda x: rr.Rotation(x, 1.0),
    lambda x: rr.ContactProblem(x, x, x),
    lambda x: rr.ContactProblem.factored(x, x, x, x, x, x, x),
    lambda x: rr.solve(x),
    lambda x: rr.solve(rr.ContactProblem(np.eye(3), np.zeros((1, 3)), [0.5]), start=x) if x is not None else 1 / 0,
    lambda x: rr.dantzig(x, x, x),
    lambda x: rr.rest_forces(rr.ContactProblem(np.eye(3), np.zeros((1, 3)), [0.5]), x),
    lambda x: rr.Fabric(x),
    lambda x: rr.SieveCurve(x, x, x),
    lambda x: rr.Grains.lattice(x, x, material=STEEL, shape=rr.Shape.sphere(1)).bodies(),
    lambda x: rr.Grains.spheres(3, material=STEEL, inside=x, radius=x),
    lambda x: pendulum()[0].build().mass_matrix(x),
    lambda x: pendulum()[0].build().follow(x),
    lambda x: pendulum()[0].build().equilibrium(x, hold=x) if x is not None else 1 / 0,
    lambda x: rr.SceneBuilder().add_rope("rope", x).index,
    lambda x: rr.SceneBuilder().add_flexible(rr.Flexible.beam("rod", x, radius=x)),
    lambda x: swing().body(x),
    lambda x: rr.State.from_bytes(x),
    lambda x: rr.Simulation(x),
    lambda x: rr.Scene.from_toml(x),
    lambda x: rr.RigidEvents(dt=x),
    lambda x: rr.Shape.rounded(x, x),
    lambda x: rr.Shape.capsule(x, x),
    lambda x: rr.Shape.cylinder(x, 1.0),
    lambda x: rr.Shape.cone(1.0, x),
    lambda x: rr.Insertion("feed", material=STEEL, inside=x, spheres=x, rate=1.0),
    lambda x: rr.SceneBuilder().insert(rr.Insertion("feed", material=STEEL, inside=BOX, spheres=x, rate=1.0)) if x is not None else 1 / 0,
    lambda x: rr.SceneBuilder().insert(x),
    lambda x: rr.Removal(outside=x),
    lambda x: rr.SceneBuilder().remove(x),
    lambda x: free_ball(lambda scene, ball: scene.apply(ball, force=x, torque=x) if x is not None else 1 / 0),
    lambda x: free_ball(lambda scene, ball: scene.apply(ball, force=(0, 0, 1), sees=x)),
    lambda x: rr.SceneBuilder().add_servo(rr.Body(rr.Shape.sphere(1), STEEL), along=x, force=1.0),
    lambda x: rr.SceneBuilder().add_servo(rr.Body(rr.Shape.sphere(1), STEEL), along="z", force=x).index if x != 3.0 else 1 / 0,
    lambda x: rr.SceneBuilder().periodic(x=x) if x is not None else 1 / 0,
    lambda x: rr.SceneBuilder().periodic(x=(0, 1), y=(0, 1), shear_strain=x) if x is not None else 1 / 0,
    lambda x: rr.RunFile(x),
    lambda x: rr.FrameWriter(x, x),
    lambda x: rr.export(x, x),
    lambda x: rr.Flow(x, normal=x),
    lambda x: swing().measures(x) if x is not None else 1 / 0,
    lambda x: swing().impacts(x) if x != 3.0 else 1 / 0,
    lambda x: swing().until(0.0, stop=x) if x is not None else 1 / 0,
    lambda x: swing().scene.to_toml(rr.MoreauJean(dt=1e-3), until=1.0, run={"stop": x}),
    lambda x: swing().scene.to_toml(rr.MoreauJean(dt=1e-3), until=1.0, probes=[x]),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS, ids=lambda call: inspect.getsource(call).strip()[7:60])
def test_wrong_shapes_and_types_are_exceptions(call: Callable[[Any], object]) -> None:
    refused = 0
    for wrong in ARRAYS:
        try:
            call(wrong)
        except (TypeError, ValueError, LookupError, OSError, ArithmeticError, rr.Error):
            refused += 1
    # An empty array is a fine list of some things, and None a fine default.
    assert refused >= len(ARRAYS) - 4


def test_stale_and_foreign_handles_are_errors() -> None:
    first, second = rr.SceneBuilder(), rr.SceneBuilder()
    ball = first.add(rr.Body(rr.Shape.sphere(0.1), STEEL))
    second.add(rr.Body(rr.Shape.sphere(0.1), STEEL))
    built = first.build()
    # Added after the scene was built: the handle is not part of it.
    late = first.add(rr.Body(rr.Shape.sphere(0.1), STEEL, position=(0, 0, 1)))
    run = rr.Simulation(built, rr.MoreauJean(dt=1e-3))
    assert run.body(ball).mass > 0
    with pytest.raises(rr.HandleError):
        run.body(late)
    with pytest.raises(rr.HandleError):
        second.add_joint("ball", ball, None)
    with pytest.raises(rr.HandleError):
        rr.Simulation(second.build(), rr.MoreauJean(dt=1e-3)).body(ball)
    late_grains = first.add_grains(rr.Grains.lattice((2, 1, 1), (1, 1, 1), shape=rr.Shape.sphere(0.1), material=STEEL, origin=(3, 0, 0)))
    with pytest.raises(rr.HandleError):
        run.grains(late_grains)
    late_rope = first.add_rope("rope", [(None, (0, 0, 3)), (ball, (0, 0, 0.1))])
    with pytest.raises(rr.HandleError):
        run.tension(late_rope)
    mechanism, arm = pendulum()
    with pytest.raises(rr.HandleError):
        pendulum()[0].start(arm, 1.0)
    system = mechanism.build()
    late_link = mechanism.revolute(arm, axis="y", body=rr.Body.point(1.0))
    with pytest.raises(rr.HandleError):
        system.jacobian([0.0], late_link)
    scene = rr.SceneBuilder()
    handle = scene.add_mechanism(pendulum()[0])
    with pytest.raises(rr.HandleError):
        rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3)).joint(handle, late_link)


def test_one_simulation_is_used_by_several_threads_at_once() -> None:
    run = swing()
    errors: list[BaseException] = []
    stepped = [0] * 4

    def use(k: int) -> None:
        for _ in range(300):
            try:
                run.step()
                assert len(run.positions) == 1 and run.state and run.report and len(run.contacts()) == 0
                stepped[k] += 1
            except rr.BusyError:
                pass
            except BaseException as error:  # noqa: BLE001
                errors.append(error)

    threads = [threading.Thread(target=use, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # A thread that steps may find the simulation busy later in the same round.
    assert not errors and run.report.steps >= sum(stepped) > 0


def test_one_builder_is_used_by_several_threads_at_once() -> None:
    scene = rr.SceneBuilder()
    failed: list[BaseException] = []

    def add(k: int) -> None:
        for n in range(50):
            try:
                scene.add(rr.Body(rr.Shape.sphere(0.1), STEEL, position=(k, n, 0)))
            except RuntimeError:  # already borrowed
                failed.append(RuntimeError())

    threads = [threading.Thread(target=add, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert scene.build().n_bodies + len(failed) == 200


def test_states_can_be_pickled_and_live_things_cannot() -> None:
    run = swing()
    assert pickle.loads(pickle.dumps(run.state)) == run.state and copy.deepcopy(run.state) == run.state
    for item in (run, run.scene, rr.SceneBuilder(), pendulum()[0], rr.EnergyAccount(run), run.frames(until=1, every=1)):
        with pytest.raises(TypeError, match="pickle"):
            pickle.dumps(item)
    for wrong in (b"", b"riprapST", pickle.dumps(run.state)[:-40]):
        with pytest.raises(Exception):  # noqa: B017
            pickle.loads(wrong)


@pytest.mark.parametrize("error", [KeyError("law"), SystemExit(3), KeyboardInterrupt(), MemoryError(), RecursionError()])
def test_any_exception_of_a_law_is_raised_and_the_state_kept(error: BaseException) -> None:
    def law(t: float, q: tuple[float, ...], v: tuple[float, ...]) -> float:
        if t > 0.01:
            raise error
        return 0.0

    run = swing(law)
    with pytest.raises(type(error)):
        run.until(1.0)
    assert run.time == pytest.approx(0.01, abs=2e-3) and np.isfinite(run.mechanism("pendulum").q).all()


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_any_exception_of_an_observer_is_raised(error: BaseException) -> None:
    run = swing()

    def observe(frame: rr.Simulation) -> None:
        if frame.time > 0.01:
            raise error

    with pytest.raises(type(error)):
        run.until(1.0, observer=observe)
    run.until(0.05)


def test_an_observer_may_step_and_change_its_simulation() -> None:
    run = swing()
    start = run.state

    def observe(frame: rr.Simulation) -> None:
        if 0.01 < frame.time < 0.02:
            frame.step()
            frame.state = start if frame.report.steps > 100 else frame.state

    run.until(0.05, observer=observe)
    assert run.report.steps >= 50


def test_sys_exit_in_a_law_ends_the_process_with_its_code() -> None:
    done = in_subprocess(
        """
        import sys, riprap as rr
        arm = rr.Mechanism("arm")
        link = arm.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)))
        arm.actuate(link, lambda t, q, v: sys.exit(7) if t > 0.01 else 0.0)
        scene = rr.SceneBuilder()
        scene.add_mechanism(arm)
        rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3)).until(1.0)
        """
    )
    assert done.returncode == 7, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("large", [False, True])
def test_ctrl_c_during_a_run_is_a_keyboard_interrupt(large: bool) -> None:
    code = f"""
        import signal, sys, threading, os, time, riprap as rr
        # Programs started in the background of a shell script ignore the signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        steel = rr.Material("steel", density=7800.0, friction=0.5)
        scene = rr.SceneBuilder()
        scene.add_fixed(rr.Shape.half_space(), material=steel)
        n = {10 if large else 1}
        scene.add_grains(rr.Grains.lattice((n, n, n), (0.25, 0.25, 0.25), shape=rr.Shape.sphere(0.1), material=steel, origin=(0, 0, 0.2)))
        run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-4))
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        begin = time.monotonic()
        try:
            run.until(1e6)
        except KeyboardInterrupt:
            before = run.time
            run.step()
            print("interrupted", 0 < before < run.time, time.monotonic() - begin < 10)
        """
    done = in_subprocess(code)
    assert done.stdout.strip() == "interrupted True True", done.stdout + done.stderr


STEPPING = """
    import atexit, threading, time
    atexit.register(lambda: print(simulation(lambda t, q, v: 0.0).until(0.01).steps, "steps"))  # Called last.
    import riprap as rr
    def simulation(law):
        arm = rr.Mechanism("arm")
        link = arm.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)))
        arm.actuate(link, law)
        scene = rr.SceneBuilder()
        scene.add_mechanism(arm)
        return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-5))
    run = simulation(lambda t, q, v: 0.0)
"""

ENDINGS = {
    "law": "threading.Thread(target=run.until, args=(1e6,), daemon=True).start()",
    "law that takes time": """
        run = simulation(lambda t, q, v: float(sum(range(1000)) < 0))
        threading.Thread(target=run.until, args=(1e6,), daemon=True).start()
    """,
    "observer": "threading.Thread(target=run.until, args=(1e6, lambda run: None), daemon=True).start()",
    "steps": "threading.Thread(target=lambda: [run.step() for _ in iter(int, 1)], daemon=True).start()",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_run_that_is_still_stepping_does_not_crash_the_exit_of_the_interpreter(ending: str) -> None:
    code = textwrap.dedent(STEPPING) + textwrap.dedent(ENDINGS[ending]) + "\ntime.sleep(0.3)\n"
    done = in_subprocess(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1000 steps\n"


def test_arrays_outlive_what_they_came_from() -> None:
    run = swing()
    run.until(0.01)
    gone = weakref.ref(np.zeros(1))  # NumPy arrays are weakly referenceable; the simulation is not needed for them.
    arrays = [run.positions, run.rotations, run.contacts(), run.body(("pendulum", run.scene.link("pendulum", "arm"))).position]
    problem = run.contact_problem()
    arrays += [problem.w(), problem.h(), problem.v_free]
    kept = [array.copy() for array in arrays]
    del run, problem
    for _ in range(3):
        gc.collect()
    assert gone() is None
    for array, copy_ in zip(arrays, kept):
        assert np.array_equal(array, copy_) and array.flags.writeable


def test_handles_frames_and_views_keep_what_they_need() -> None:
    def frames() -> Any:
        return iter(swing().frames(until=0.02, every=0.01))

    iterator = frames()
    gc.collect()
    assert [round(frame.time, 2) for frame in iterator] == [0.0, 0.01, 0.02]
    with pytest.raises(StopIteration):
        next(iterator)


def test_a_law_may_create_and_run_another_simulation() -> None:
    def law(t: float, q: tuple[float, ...], v: tuple[float, ...]) -> float:
        inner = swing()
        inner.until(2e-3)
        return float(inner.mechanism("pendulum").q[0])

    run = swing(law)
    run.until(5e-3)
    assert run.time == pytest.approx(5e-3)


def test_the_garbage_collector_may_run_inside_a_law() -> None:
    run = swing(lambda t, q, v: float(gc.collect() * 0))
    run.until(0.01)
    assert run.report.steps == 10
