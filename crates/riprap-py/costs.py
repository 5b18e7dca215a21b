"""Measures what Python costs: stepping 5000 stones and solving a problem compared with the command `riprap`, callables as
laws, copies of arrays.

Python and the command do the same work on one thread, in turns; their processor times are compared, which other programs on the
machine disturb less than wall times. ``python costs.py [path of the command]``; ``--laws`` measures only callables.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

os.environ["RAYON_NUM_THREADS"] = "1"

import riprap as rr  # noqa: E402

GIVEN = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
COMMAND = GIVEN[0] if GIVEN else str(shutil.which("riprap", path=Path(sys.executable).parent))
SCHEME = rr.MoreauJean(dt=1e-3)


def best(action: Callable[[], object], repeat: int = 7) -> float:
    """Shortest wall time of an action [s]."""
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def stones(count: int) -> rr.Scene:
    rock = rr.Material("rock", density=2700.0, friction=0.6)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.open_box(1.0, 1.0, 0.8), material=rock)
    inside = ((-0.5, -0.5, 0.0), (0.5, 0.5, 4.0))
    settle = rr.Settle(speed=0.05, at_most=0.4, drag=10.0)
    scene.add_grains(rr.Grains.stones(count, grading=(0.03, 0.05), material=rock, seed=1, inside=inside, settle=settle))
    return scene.build()


def processor_time(arguments: list[str]) -> float:
    """Processor time of a command [s]."""
    before = os.times()
    subprocess.run([COMMAND, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def own_time(action: Callable[[], object]) -> float:
    """Processor time of an action [s]."""
    begin = time.process_time()
    action()
    return time.process_time() - begin


def stepping(scene: rr.Scene, run: rr.Simulation, folder: Path, steps: int, rounds: int) -> tuple[float, float]:
    """Processor time of a step from Python [s], and relative to that of the command [–].

    Both start from the settled stones. Python steps one by one and reads all positions after each. Two runs of different lengths
    leave out everything but the steps.
    """
    path, bed, start = folder / "stones.toml", folder / "bed", run.state
    path.write_text(scene.to_toml(SCHEME, until=1.0).replace("[run]", "[run]\nframes = false"))
    processor_time(["settle", str(path), "--out", str(bed), "--no-cache", "--threads", "1"])

    def python(n: int) -> None:
        run.state = start
        for _ in range(n):
            run.step()
            assert len(run.positions) == scene.n_bodies

    def command(n: int) -> float:
        until = ["--until", str(n * SCHEME.dt), "--out", str(folder / "out"), "--force", "--threads", "1"]
        return processor_time(["run", str(path), "--bed", str(bed), *until])

    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(own_time(lambda: python(2 * steps)) - own_time(lambda: python(steps)))
        theirs.append(command(2 * steps) - command(steps))
    print("  rounds:", " ".join(f"{100 * (a / b - 1):+.1f} %" for a, b in zip(ours, theirs)))
    return min(ours) / steps, min(ours) / min(theirs) - 1


def looping(run: rr.Simulation, steps: int, rounds: int) -> float:
    """Processor time of steps one by one from Python, relative to that of a loop in Rust in the same process [–]."""
    start, ours, theirs = run.state, 0.0, 0.0

    def python() -> None:
        for _ in range(steps):
            run.step()

    for _ in range(rounds):
        run.state = start
        ours += own_time(python)
        run.state = start
        theirs += own_time(lambda: run.until(start.time + steps * run.dt))
    run.state = start
    return ours / theirs - 1


def solving(problem: rr.ContactProblem, folder: Path, rounds: int) -> tuple[float, float]:
    """Processor time of reading and solving a stored problem from Python [s], and relative to that of the command [–]."""
    path = folder / "problem.hdf5"
    problem.write(path)

    def python() -> None:
        rr.solve(rr.ContactProblem.read(path), "anderson", tolerance=1e-6)

    command = ["solve", str(path), "--solver", "anderson", "--tol", "1e-6"]
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(own_time(python))
        theirs.append(processor_time(command))
    print("  rounds:", " ".join(f"{100 * (a / b - 1):+.1f} %" for a, b in zip(ours, theirs)))
    return min(ours), min(ours) / min(theirs) - 1


def driven(kind: str, law: object, bodies: int) -> rr.Simulation:
    """A pendulum or a ball with a law of a kind, beside some balls at rest."""
    steel = rr.Material("steel", density=7800.0)
    scene = rr.SceneBuilder(gravity=(0, 0, 0))
    ball = rr.Body(rr.Shape.sphere(0.1), steel, name="own", position=(0, 0, 5))
    if kind in ("drive", "actuate"):
        mechanism = rr.Mechanism("pendulum")
        arm = mechanism.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)), name="arm")
        if kind == "drive":
            mechanism.drive(arm, rr.Motor.motion(law))  # type: ignore[arg-type]
        else:
            mechanism.actuate(arm, law)  # type: ignore[arg-type]
        scene.add_mechanism(mechanism)
    elif kind == "apply":
        scene.apply(scene.add(ball), force=law)  # type: ignore[arg-type]
    else:
        scene.add_servo(ball, along="z", force=law, speed=1.0)  # type: ignore[arg-type]
    if bodies:
        scene.add_grains(rr.Grains.lattice((bodies, 1, 1), (1, 1, 1), shape=rr.Shape.sphere(0.1), material=steel))
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-5))


# The value of a callable of each kind, and the same as an expression.
LAWS: dict[str, tuple[object, object]] = {
    "drive": ((0.1, 0.0, 0.0), "0.1 + 0*t"),
    "actuate": (0.1, "0.1 + 0*t"),
    "apply": ((0.1, 0.0, 0.0), ("0.1 + 0*t", "0*t", "0*t")),
    "servo": (0.1, "0.1 + 0*t"),
}


def per_call(kind: str, bodies: int) -> tuple[float, int]:
    """Extra time per call of a callable compared with an expression [s], and calls per step."""
    calls = 0
    value, expression = LAWS[kind]

    def law(t: float, *state: object) -> object:
        nonlocal calls
        calls += 1
        return value

    python, plain = driven(kind, law, bodies), driven(kind, expression, bodies)
    steps = 1000
    times: list[tuple[float, float]] = []
    calls = 0
    for _ in range(60):
        pair = [best(lambda: run.until(run.time + steps * 1e-5), 1) for run in (python, plain)]
        times.append((pair[0], pair[1]))
    per_step = round(calls / (60 * steps))
    fastest = [min(column) for column in zip(*times)]
    return (fastest[0] - fastest[1]) / steps / per_step, per_step


def main() -> None:
    if "--laws" not in sys.argv:
        stepping_and_solving()
    for kind in LAWS:
        for bodies in (0, 600):
            cost, per_step = per_call(kind, bodies)
            print(f"callable as {kind} beside {bodies} balls {1e6 * cost:.2f} µs per call, {per_step} calls per step")


def stepping_and_solving() -> None:
    """Prints what steps, arrays and solves cost."""
    scene = stones(5000)
    run = rr.Simulation(scene, SCHEME)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"loop of steps in Python {100 * looping(run, 30, 6):+.1f} % compared with one in Rust")
        step, more = stepping(scene, run, folder, steps=100, rounds=5)
        print(f"step of 5000 stones {1e3 * step:.1f} ms, {100 * more:+.1f} % compared with `riprap run`")
        print(f"positions of 5001 bodies {1e6 * best(lambda: run.positions, 200):.1f} µs")
        print(f"contacts, {len(run.contacts())} of them {1e6 * best(lambda: run.contacts(), 50):.1f} µs")
        problem = run.contact_problem()
        solve, more = solving(problem, folder, rounds=3)
        print(f"read and solve {len(problem)} contacts {1e3 * solve:.0f} ms, {100 * more:+.1f} % compared with `riprap solve`")


if __name__ == "__main__":
    main()
